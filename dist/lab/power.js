import { openCommand, openIpmi, readFileFor, readPassword, switchOf } from "./power/plain.js";
import { _enum, object } from "../vendor/zod.js";
import { list, prose, word } from "../model/first.js";
import { parseJson, shortened } from "../model/first-plain.js";
import { PowerError } from "./power/first-plain.js";

// src/lab/power/redfish.ts
async function openRedfish(name, config, deps) {
	const url = new URL(config.url);
	const label = `The BMC of ${name} (Redfish at ${url.host})`;
	const { user } = config;
	const server = {
		label,
		user,
		password: await readPassword(label, config.passwordPath, deps),
		trust: await trustOf(label, config, deps),
		deps
	};
	return {
		label,
		check: "the machine, and the BMC's event log",
		state: async () => readingOf(await readSystem(server, url), label),
		turn: (to) => reset(server, url, resetTypes[to]),
		cycle: () => reset(server, url, ["PowerCycle"])
	};
}
async function trustOf(label, config, deps) {
	const { certificateSha256, caPath } = config;
	if (certificateSha256 !== void 0) return { pinnedSha256: certificateSha256 };
	return caPath === void 0 ? {} : { ca: await readFileFor(label, "CA", caPath, deps) };
}
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
function readingOf({ PowerState }, label) {
	switch (PowerState) {
		case "On": return "on";
		case "Off": return "off";
		case "Paused": throw new PowerError(`${label} reports that the machine is paused; continue or reset it there.`);
		default: return "changing";
	}
}
async function reset(server, url, types) {
	const { Actions } = await readSystem(server, url);
	const action = Actions?.["#ComputerSystem.Reset"];
	if (action === void 0) return {
		kind: "refused",
		why: `its system offers no reset action to ${server.user}`
	};
	const allowed = action["ResetType@Redfish.AllowableValues"];
	const type = types.find((one) => allowed === void 0 || allowed.includes(one));
	if (type === void 0) return {
		kind: "refused",
		why: shortened(`it offers no ${types.join(" or ")}, only ${allowed?.join(", ")}`)
	};
	const { status, body } = await requestJson(server, onSameServer(server, url, action.target, "its reset action is at"), { ResetType: type });
	return status < 300 ? { kind: "accepted" } : {
		kind: "refused",
		why: errorText(server, status, body)
	};
}
const maxRedirects = 3;
async function readSystem(server, url, redirects = 0) {
	const { label } = server;
	const { status, headers, body } = await requestJson(server, url);
	if (status >= 300 && status < 400 && redirects < maxRedirects) return readSystem(server, onSameServer(server, url, headers.get("location") ?? "", "it redirects to"), redirects + 1);
	if (status !== 200) throw new PowerError(`${label} reports no system at ${url.pathname} (${errorText(server, status, body)}); compare \`url\` with the list in /redfish/v1/Systems.`);
	const document = systemDocument.safeParse(parseJson(body));
	if (document.success) return document.data;
	throw new PowerError(`${label} answers at ${url.pathname} with ${shortened(headers.get("content-type") ?? "something")} that describes no system; compare \`url\` with the list in /redfish/v1/Systems.`);
}
/** Throws for any other server: it must not receive the credentials. */
function onSameServer({ label }, url, location, how) {
	const target = URL.parse(location, url.href);
	if (target?.origin === url.origin) return target;
	throw new PowerError(`${label} is not followed: ${how} "${shortened(location)}", but the password is only for ${url.host}; check \`url\`.`);
}
const tries = 4;
/** Sends GET, or POST of a `payload`, and retries, as any reset may be requested twice. Throws without a response. */
async function requestJson(server, url, payload) {
	const { label, deps } = server;
	let reply = await tryOnce(server, url, payload);
	for (let attempt = 1; attempt < tries && isTransient(reply); attempt += 1) {
		await deps.sleep(secondsToWait(reply));
		reply = await tryOnce(server, url, payload);
	}
	if (reply.kind === "answered") return acceptedResponse(server, reply);
	if (reply.distrust !== void 0) throw new PowerError(distrusted(label, reply.code, reply.distrust));
	throw new PowerError(`${label} cannot be queried: the last of ${tries} tries ended with "${shortened(reply.why)}"; check that it has power and network, and \`url\`.`);
}
/** A system's document has about 10 kB. */
const maxBytes = 1024 ** 2;
const answerSeconds = 30;
async function tryOnce(server, url, payload) {
	const { trust, deps } = server;
	const request = requestOf(server, payload);
	const reply = await deps.sendRequest(url, {
		...request,
		trust
	});
	if (reply.kind === "no-answer") return reply;
	if (reply.body !== void 0) return {
		...reply,
		body: reply.body.toString()
	};
	return {
		kind: "no-answer",
		why: `a response of more than ${maxBytes} bytes`,
		code: "",
		wasSent: true
	};
}
/**
* Uses basic authentication: every Redfish service supports it (DSP0266, "Authentication"), and it leaves no session.
*/
function requestOf({ user, password }, payload) {
	const headers = {
		accept: "application/json",
		"odata-version": "4.0",
		authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`
	};
	const limits = {
		answerSeconds,
		connectSeconds: answerSeconds,
		maxBytes
	};
	if (payload === void 0) return {
		...limits,
		method: "GET",
		headers
	};
	const withType = {
		...headers,
		"content-type": "application/json"
	};
	return {
		...limits,
		method: "POST",
		headers: withType,
		body: JSON.stringify(payload)
	};
}
/** Never true for a refused password, as a BMC locks out a user after several. */
function isTransient(reply) {
	if (reply.kind === "no-answer") return reply.distrust === void 0;
	return reply.status === 429 || reply.status >= 500 && reply.status !== 501;
}
/** Reads `Retry-After` in seconds, at most 60. BMCs send no dates (RFC 9110, section 10.2.3). */
function secondsToWait(reply) {
	const after = reply.kind === "answered" ? reply.headers.get("retry-after") : void 0;
	return /^\d+$/.test(after ?? "") ? Math.min(Number(after), 60) : 3;
}
function acceptedResponse(server, reply) {
	const { label, user } = server;
	const { status, body } = reply;
	if (status === 401 || status === 403) throw new PowerError(`${label} refuses the login of the user ${user} (${errorText(server, status, body)}); check \`user\`, its password file, and its permission to control power.`);
	if (!isTransient(reply)) return reply;
	throw new PowerError(`${label} refused ${tries} attempts, the last with "${errorText(server, status, body)}"; wait until it is ready, or restart the BMC.`);
}
function distrusted(label, code, { sha256, fault, reason }) {
	const why = fault === "pin" ? reason : code;
	return `${label} shows ${sha256 === "" ? "no certificate" : `the certificate with SHA-256 ${sha256}`}, which is not trusted (${why}); compare the fingerprint on the BMC itself, then set \`certificateSha256\` to it, or \`ca\` to its authority.`;
}
/** Error response of DSP0266: the first of its messages, or the summary. */
const errorDocument = object({ error: object({
	message: prose().optional(),
	"@Message.ExtendedInfo": list(object({ Message: prose().optional() })).optional().catch(void 0)
}) });
/** Masks our credentials, in case a BMC repeats them. */
function errorText({ user, password }, status, body) {
	const { data } = errorDocument.safeParse(parseJson(body));
	const message = data?.error["@Message.ExtendedInfo"]?.[0]?.Message ?? data?.error.message ?? body.trim();
	if (message === "") return String(status);
	const encoded = Buffer.from(`${user}:${password}`).toString("base64");
	return `${status} ${shortened(message.replaceAll(encoded, "…").replaceAll(password, "…"))}`;
}

// src/lab/power/power.ts
/** `name` names the machine to people. Throws a PowerError for an unusable password or CA file. Sends nothing yet. */
async function openPower(name, config, deps) {
	return switchOf(await openController(name, config, deps), deps.sleep);
}
function openController(name, config, deps) {
	switch (config.kind) {
		case "ipmi": return openIpmi(name, config, deps);
		case "redfish": return openRedfish(name, config, deps);
		case "command": return openCommand(name, config, deps);
	}
}

export { openPower };