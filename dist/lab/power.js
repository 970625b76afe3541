import { openCommand, openIpmi, switchOf } from "./power/plain.js";
import { _enum, object } from "../vendor/zod.js";
import { list, prose, word } from "../model/first.js";
import { parseJson, shortened } from "../model/first-plain.js";
import { PowerError, readFileFor, readPassword } from "./power/first-plain.js";

// src/lab/power/redfish.ts
/** Values of `ResetType` in DMTF's Resource schema, preferred first. */
const resetTypes = {
	on: ["On", "ForceOn"],
	off: ["ForceOff"]
};
/** The properties in use of DMTF's ComputerSystem schema. While a BMC starts, the state is null. */
const systemDocument = object({
	PowerState: _enum([
		"On",
		"Off",
		"PoweringOn",
		"PoweringOff",
		"Paused"
	]).nullable(),
	Actions: object({ "#ComputerSystem.Reset": object({
		target: word,
		"ResetType@Redfish.AllowableValues": list(word).optional()
	}).optional() }).optional()
});
/** Error response of DSP0266: the first of its messages, or the summary. */
const errorDocument = object({ error: object({
	message: prose().optional(),
	"@Message.ExtendedInfo": list(object({ Message: prose().optional() })).optional().catch(void 0)
}) });
const tries = 4;
const maxRedirects = 3;
/** A system's document has about 10 kB. */
const maxBytes = 1024 ** 2;
const answerSeconds = 30;
async function openRedfish(name, config, deps) {
	const systemUrl = new URL(config.url);
	const label = `The BMC of ${name} (Redfish at ${systemUrl.host})`;
	const { user, certificateSha256, caPath } = config;
	const password = await readPassword(label, config.passwordPath, deps);
	const credentials = Buffer.from(`${user}:${password}`).toString("base64");
	const ca = caPath === void 0 ? {} : { ca: await readFileFor(label, caPath, deps) };
	const trust = certificateSha256 === void 0 ? ca : { pinnedSha256: certificateSha256 };
	/** Masks our credentials, in case a BMC repeats them. */
	const errorText = (status, body) => {
		const { data } = errorDocument.safeParse(parseJson(body));
		const message = data?.error["@Message.ExtendedInfo"]?.[0]?.Message ?? data?.error.message ?? body.trim();
		if (message === "") return String(status);
		return `${status} ${shortened(message.replaceAll(credentials, "…").replaceAll(password, "…"))}`;
	};
	/** Sends GET, or POST of a `payload`, and retries, as any reset may be requested twice. Throws without a response. */
	const request = async (url, payload) => {
		let trouble = "";
		for (let attempt = 1; attempt <= tries; attempt += 1) {
			const reply = await deps.sendRequest(url, {
				method: payload === void 0 ? "GET" : "POST",
				headers: {
					accept: "application/json",
					"odata-version": "4.0",
					authorization: `Basic ${credentials}`,
					...payload !== void 0 && { "content-type": "application/json" }
				},
				...payload !== void 0 && { body: JSON.stringify(payload) },
				answerSeconds,
				connectSeconds: answerSeconds,
				maxBytes,
				trust
			});
			let secondsToWait = 3;
			if (reply.kind === "no-answer") {
				if (reply.distrust !== void 0) {
					const { sha256, fault, reason } = reply.distrust;
					const shown = sha256 === "" ? "no certificate" : `the certificate with SHA-256 ${sha256}`;
					const why = fault === "pin" ? reason : reply.code;
					throw new PowerError(`${label} shows ${shown}, which is not trusted (${why}); compare the fingerprint on the BMC itself, then set \`certificateSha256\` to it, or \`ca\` to its authority.`);
				}
				trouble = shortened(reply.why);
			} else if (reply.body === void 0) trouble = `a response of more than ${maxBytes} bytes`;
			else {
				const { status, headers } = reply;
				const body = reply.body.toString();
				if (status === 401 || status === 403) throw new PowerError(`${label} refuses the login of the user ${user} (${errorText(status, body)}).`);
				if (status !== 429 && (status < 500 || status === 501)) return {
					status,
					headers,
					body
				};
				trouble = errorText(status, body);
				const after = headers.get("retry-after") ?? "";
				if (/^\d+$/.test(after)) secondsToWait = Math.min(Number(after), 60);
			}
			if (attempt < tries) await deps.sleep(secondsToWait);
		}
		throw new PowerError(`${label} cannot be queried: the last of ${tries} tries ended with "${trouble}".`);
	};
	/** Throws for any other server: it must not receive the credentials. */
	const onSameServer = (url, location) => {
		const target = URL.parse(location, url.href);
		if (target?.origin === url.origin) return target;
		throw new PowerError(`${label} refers to "${shortened(location)}", but the password is only for ${url.host}.`);
	};
	const readSystem = async () => {
		let url = systemUrl;
		let reply = await request(url);
		for (let redirects = 0; reply.status >= 300 && reply.status < 400 && redirects < maxRedirects; redirects += 1) {
			url = onSameServer(url, reply.headers.get("location") ?? "");
			reply = await request(url);
		}
		const document = systemDocument.safeParse(parseJson(reply.body));
		if (reply.status === 200 && document.success) return {
			url,
			...document.data
		};
		const why = reply.status === 200 ? `its ${reply.headers.get("content-type")}` : errorText(reply.status, reply.body);
		throw new PowerError(`${label} reports no system at ${url.pathname} (${shortened(why)}); compare \`url\` with the list in /redfish/v1/Systems.`);
	};
	const reset = async (types) => {
		const { url, Actions } = await readSystem();
		const action = Actions?.["#ComputerSystem.Reset"];
		if (action === void 0) return {
			kind: "refused",
			why: `its system offers no reset action to ${user}`
		};
		const allowed = action["ResetType@Redfish.AllowableValues"];
		const type = types.find((one) => allowed === void 0 || allowed.includes(one));
		if (type === void 0) return {
			kind: "refused",
			why: shortened(`it offers no ${types.join(" or ")}, only ${allowed?.join(", ")}`)
		};
		const { status, body } = await request(onSameServer(url, action.target), { ResetType: type });
		return status < 300 ? { kind: "accepted" } : {
			kind: "refused",
			why: errorText(status, body)
		};
	};
	return {
		label,
		check: "the machine, and the BMC's event log",
		async state() {
			const { PowerState } = await readSystem();
			if (PowerState === "On") return "on";
			if (PowerState === "Off") return "off";
			if (PowerState === "Paused") throw new PowerError(`${label} reports that the machine is paused.`);
			return "changing";
		},
		turn: (to) => reset(resetTypes[to]),
		cycle: () => reset(["PowerCycle"])
	};
}

// src/lab/power/power.ts
/** `name` names the machine to people. Throws a PowerError for an unusable password or CA file. Sends nothing yet. */
async function openPower(name, config, deps) {
	switch (config.kind) {
		case "ipmi": return switchOf(await openIpmi(name, config, deps), deps.sleep);
		case "redfish": return switchOf(await openRedfish(name, config, deps), deps.sleep);
		case "command": return switchOf(openCommand(name, config, deps), deps.sleep);
	}
}

export { openPower };