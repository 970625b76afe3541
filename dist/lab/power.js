import { lastLine, list, parseJson, prose, reasonOf, shortened, word } from "../model.js";
import { _enum, object } from "../vendor/zod.js";
import { ExposedError, readGuarded } from "../config.js";
import { sendRequest } from "../forge/github.js";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

// src/lab/power/power-controller.ts
var PowerError = class extends Error {
	name = "PowerError";
};

// src/lab/power/secret-files.ts
/**
* Reads one line of the file, or else the environment. Throws a PowerError that names the source, never the content.
*/
async function readPassword(label, path, deps) {
	const password = (path === void 0 ? deps.password() ?? "" : await readFileFor(label, "password", path, { readFile: deps.readSecret })).replace(/\r?\n$/, "");
	if (/^\P{Cc}+$/u.test(password)) return password;
	const source = path === void 0 ? "PPSGATE_BMC_PASSWORD of the environment, for no `passwordFile` is named" : `the password file ${path}`;
	throw new PowerError(`${label} cannot be opened with ${source}: it is empty or has more than a line; write the password there and nothing else.`);
}
async function readFileFor(label, what, path, deps) {
	try {
		return await deps.readFile(path);
	} catch (error) {
		if (error instanceof ExposedError) throw new PowerError(`${label} cannot be opened: ${error.message}.`);
		throw new PowerError(`${label} cannot be opened without its ${what} file: ${reasonOf(error)}; check the path, and that you may read it.`, { cause: error });
	}
}

// src/lab/power/ipmi.ts
async function openIpmi(name, config, deps) {
	const label = `The BMC of ${name} (IPMI at ${config.host}:${config.port})`;
	const password = await readPassword(label, config.passwordPath, deps);
	const request = (order) => requestBmc({
		label,
		config,
		password,
		order: [
			"chassis",
			"power",
			order
		],
		deps
	});
	return {
		label,
		check: "the machine, and the BMC's event log",
		state: async () => readingOf$2(await request("status"), label),
		turn: async (to) => replyOf$1(await request(to)),
		cycle: async () => replyOf$1(await request("cycle"))
	};
}
const tries$1 = 3;
const secondsBetweenTries = 2;
/** Retries only after silence: a BMC locks out a user after wrong passwords. Throws a PowerError. */
async function requestBmc({ label, config, password, order, deps }) {
	let silence = "";
	for (let attempt = 0; attempt < tries$1; attempt += 1) {
		if (attempt > 0) await deps.sleep(secondsBetweenTries);
		const ran = await deps.run("ipmitool", [
			"-v",
			...sessionWords(config),
			...order
		], {
			env: sessionEnvironment(password),
			timeoutSeconds: 60
		});
		if (ran.kind === "failed") throw new PowerError(`${label} cannot be asked: ipmitool ${ran.why}; check that ipmitool is installed and works here.`);
		if (ran.code === 0) return ran;
		const refusal = refusalOf(ran.stderr, config.user);
		if (refusal !== void 0) throw new PowerError(`${label} ${refusal}.`);
		if (!silent.test(ran.stderr)) return ran;
		silence = lastMessage(ran.stderr);
	}
	throw new PowerError(`${label} cannot be asked: the last of ${tries$1} tries ended with "${silence}"; check that it has power and network, its address, and that IPMI over LAN is enabled.`);
}
/**
* `-E` reads the password from the environment, `-N` and `-R` allow 10 s of silence, and `-L` requests the rights of an
* operator, who may switch power (IPMI 2.0, Appendix G). The caller's `-v` prints the reason of a refusal.
*/
function sessionWords({ host, port, user, cipherSuite }) {
	return [
		...`-E -I lanplus -L OPERATOR -C ${cipherSuite} -p ${port} -N 2 -R 2`.split(" "),
		"-H",
		host,
		"-U",
		user
	];
}
const sessionEnvironment = (password) => ({
	IPMI_PASSWORD: password,
	LC_ALL: "C"
});
/** Includes a BMC that stops responding after the login. */
const silent = /Unable to establish IPMI|Could not open socket|no response|Unable to get Chassis Power Status/i;
/**
* Messages of ipmitool 1.8.19, most of them seen with ipmi_sim. Some name an RMCP+ status code (IPMI 2.0, table 13-15).
*/
function refusalOf(stderr, user) {
	const lines = stderr.split("\n").filter((line) => !/completion code received/i.test(line));
	const refusal = refusals.find(({ is }) => lines.some((line) => is.test(line)));
	if (refusal === void 0) return void 0;
	const line = lines.find((one) => refusal.is.test(one)) ?? stderr;
	return `${refusal.what(user)} (${shortened(line.replace(/^> /, ""))}); ${refusal.fix}`;
}
const refusals = [
	{
		is: /Set Session Privilege Level|privilege level|insufficient privilege|invalid role|unauthorized role/i,
		what: (user) => `refuses the user ${user} the privilege level of an operator`,
		fix: "raise it on the channel of its network, for example with \"ipmitool channel setaccess\""
	},
	{
		is: /HMAC is invalid|unauthorized name|invalid (?:user )?name|password is longer|invalid integrity check value|password verification|unauthorized GUID/i,
		what: (user) => `does not let in the user ${user}`,
		fix: "check `user`, its password file (20 bytes at most), and that it may be an operator over LAN"
	},
	{
		is: /cipher suite|authentication (?:algorithm|payload|type)|integrity (?:algorithm|payload)|confidentiality/i,
		what: () => "does not take the cipher suite",
		fix: "set `cipherSuite` to one that it has, such as 17 or 3"
	},
	{
		is: /message indicates an error|error in open session response|Activate Session|insufficient resources/i,
		what: () => "opens no session",
		fix: "look the reason up, end other sessions of it, or restart it"
	}
];
/** Returns the last specific line: neither the fixed conclusion, nor a note on late replies. */
function lastMessage(stderr) {
	const lines = stderr.split("\n").filter((line) => !/^Error: Unable to|^Loading IANA|^IPMI Request Match NOT|^Close Session command failed/.test(line));
	return shortened(lastLine(lines.join("\n"))?.replace(/^> /, "") ?? "no word of ipmitool");
}
function readingOf$2({ code, stdout, stderr }, label) {
	const [, state] = /^Chassis Power is (on|off)$/m.exec(stdout) ?? [];
	if (code === 0 && (state === "on" || state === "off")) return state;
	throw new PowerError(`${label} does not tell whether the machine is on: ${shortened(lastLine(stdout) ?? lastMessage(stderr))}; check with "ipmitool chassis power status".`);
}
/** ipmitool exits with 0 if the BMC's completion code is 0. */
function replyOf$1({ code, stderr }) {
	return code === 0 ? { kind: "accepted" } : {
		kind: "refused",
		why: lastMessage(stderr)
	};
}

// src/lab/power/command.ts
function openCommand(name, config, deps) {
	const label = `The power of ${name} (by commands)`;
	const run = ([program = "", ...args]) => deps.run(program, args, { timeoutSeconds: 120 });
	const { cycle } = config;
	return {
		label,
		check: "what its commands do",
		state: async () => readingOf$1(await run(config.state), config.state, label),
		turn: async (to) => replyOf(await run(config[to]), config[to]),
		...cycle !== void 0 && { cycle: async () => replyOf(await run(cycle), cycle) }
	};
}
function readingOf$1(ran, argv, label) {
	const word = ran.kind === "exited" && ran.code === 0 ? ran.stdout.trim().toLowerCase() : "";
	if (word === "on" || word === "off") return word;
	throw new PowerError(`${label} is not known: ${ended(ran, argv)}; its \`state\` has to print "on" or "off" and exit with 0.`);
}
function replyOf(ran, argv) {
	if (ran.kind === "exited" && ran.code === 0) return { kind: "done" };
	return {
		kind: "refused",
		why: ended(ran, argv)
	};
}
/** Names only the program: an argument may be a password. */
function ended(ran, [program = ""]) {
	if (ran.kind === "failed") return `${shortened(program)} ${ran.why}`;
	const line = lastLine(ran.stderr) ?? lastLine(ran.stdout);
	const message = line === void 0 ? "and said nothing" : `and said "${shortened(line)}"`;
	return `${shortened(program)} exited with ${ran.code} ${message}`;
}

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
		case "Paused": throw new PowerError(`${label} says that the machine is paused; continue or reset it there.`);
		default: return "changing";
	}
}
async function reset(server, url, types) {
	const { Actions } = await readSystem(server, url);
	const action = Actions?.["#ComputerSystem.Reset"];
	if (action === void 0) return {
		kind: "refused",
		why: `its system offers ${server.user} no reset action`
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
const mostRedirects = 3;
async function readSystem(server, url, redirects = 0) {
	const { label } = server;
	const { status, headers, body } = await requestJson(server, url);
	if (status >= 300 && status < 400 && redirects < mostRedirects) return readSystem(server, onSameServer(server, url, headers.get("location") ?? "", "it redirects to"), redirects + 1);
	if (status !== 200) throw new PowerError(`${label} shows no system at ${url.pathname} (${errorText(server, status, body)}); check \`url\` against what /redfish/v1/Systems lists.`);
	const document = systemDocument.safeParse(parseJson(body));
	if (document.success) return document.data;
	throw new PowerError(`${label} answers at ${url.pathname} with ${shortened(headers.get("content-type") ?? "something")} that describes no system; check \`url\` against what /redfish/v1/Systems lists.`);
}
/** Throws for any other server: it must not receive the credentials. */
function onSameServer({ label }, url, location, how) {
	const target = URL.parse(location, url.href);
	if (target?.origin === url.origin) return target;
	throw new PowerError(`${label} is not followed: ${how} "${shortened(location)}", and the password is for ${url.host} alone; check \`url\`.`);
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
	throw new PowerError(`${label} cannot be asked: the last of ${tries} tries ended with "${shortened(reply.why)}"; check that it has power and network, and \`url\`.`);
}
/** A system's document has about 10 kB. */
const mostBytes$1 = 1024 ** 2;
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
		why: `an answer of more than ${mostBytes$1} bytes`,
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
		mostBytes: mostBytes$1
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
	if (status === 401 || status === 403) throw new PowerError(`${label} does not let in the user ${user} (${errorText(server, status, body)}); check \`user\`, its password file, and that it may control power.`);
	if (!isTransient(reply)) return reply;
	throw new PowerError(`${label} refuses ${tries} tries, the last with "${errorText(server, status, body)}"; wait until it is ready, or restart the BMC.`);
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

// src/lab/power/switch.ts
const attempts = 3;
/** Real machines need up to 10 s to turn off, emulated ones 11. */
const secondsToObey = 30;
/** Seconds between polls. A cycle may keep a machine off for only 1 s (IPMI 2.0, section 28.3). */
const pollSeconds = {
	usual: 1,
	cycle: .25
};
/** A controller may refuse an order while it carries out another. */
const secondsAfterRefusal = 5;
/** Empties the power supply's capacitors. Some BMCs also lose an order that follows at once. */
const secondsOff = 5;
function switchOf(controller, sleep) {
	return {
		state: () => settledState(controller, sleep),
		on: () => turn(controller, "on", sleep),
		off: () => turn(controller, "off", sleep),
		async cycle() {
			if (await cycledByController(controller, sleep)) return;
			await turn(controller, "off", sleep);
			await sleep(secondsOff);
			await turn(controller, "on", sleep);
		}
	};
}
async function settledState(controller, sleep) {
	const seen = await watch(controller, (state) => state !== "changing", secondsToObey, sleep);
	if (seen !== "changing") return seen;
	throw new PowerError(`${controller.label} says for ${secondsToObey} s that the machine is on its way on or off; check ${controller.check}.`);
}
/** Sends the order in any state, as the reported one may lag behind, or be about to change. */
async function turn(controller, to, sleep) {
	let disobedience = "";
	for (let attempt = 0; attempt < attempts; attempt += 1) {
		const reply = await controller.turn(to);
		const seen = await watch(controller, (state) => state === to, reply.kind === "refused" ? secondsAfterRefusal : secondsToObey, sleep);
		if (seen === to) return;
		disobedience = described(reply, to, seen);
	}
	throw new PowerError(`${controller.label} ${disobedience}; check ${controller.check}.`);
}
function described(reply, to, seen) {
	if (reply.kind === "refused") return `refuses to turn the machine ${to}: ${reply.why}`;
	return `accepted the order to turn the machine ${to} ${attempts} times, but still says ${secondsToObey} s after the last that it is ${seen}`;
}
/**
* Prefers the controller's own cycle, which leaves the machine on even if this process dies. It counts once the machine
* was seen off.
*/
async function cycledByController(controller, sleep) {
	if (controller.cycle === void 0 || await controller.state() !== "on") return false;
	const reply = await controller.cycle();
	if (reply.kind === "refused") return false;
	const isOff = (state) => state !== "on";
	const seenOff = () => watch(controller, isOff, secondsToObey, sleep, pollSeconds.cycle);
	if (reply.kind === "accepted" && !isOff(await seenOff())) return false;
	return await watch(controller, (state) => state === "on", secondsToObey, sleep) === "on";
}
async function watch(controller, matches, seconds, sleep, secondsBetween = pollSeconds.usual) {
	let state = await controller.state();
	for (let waited = 0; waited < seconds && !matches(state); waited += secondsBetween) {
		await sleep(secondsBetween);
		state = await controller.state();
	}
	return state;
}

// src/lab/power/power-deps.ts
const realPowerDeps = {
	sendRequest,
	run,
	sleep: (seconds) => setTimeout(seconds * 1e3),
	readFile: (path) => readFile(path, "utf8"),
	readSecret: readGuarded,
	password: () => process.env.PPSGATE_BMC_PASSWORD
};
const mostBytes = 1024 ** 2;
function run(program, args, options) {
	const { stdin = "", env, timeoutSeconds } = options;
	const child = spawn(program, args, {
		env: {
			...process.env,
			...env
		},
		detached: true
	});
	const { promise, resolve } = Promise.withResolvers();
	const giveUp = (why) => {
		resolve({
			kind: "failed",
			why
		});
		if (child.pid !== void 0) killGroup(child.pid);
	};
	const timer = globalThis.setTimeout(() => giveUp(`did not end within ${timeoutSeconds} s`), timeoutSeconds * 1e3);
	const stdout = collect(child.stdout, giveUp);
	const stderr = collect(child.stderr, giveUp);
	child.stdin.on("error", () => {});
	child.stdin.end(stdin);
	child.on("error", (error) => giveUp(`cannot be started: ${reasonOf(error)}`));
	child.on("close", (code, signal) => {
		clearTimeout(timer);
		if (code === null) giveUp(`was ended by ${signal}`);
		else resolve({
			kind: "exited",
			code,
			stdout: stdout(),
			stderr: stderr()
		});
	});
	return promise;
}
function killGroup(pid) {
	try {
		process.kill(-pid, "SIGKILL");
	} catch {}
}
function collect(stream, giveUp) {
	const chunks = [];
	let bytes = 0;
	stream.on("data", (chunk) => {
		bytes += chunk.length;
		if (bytes <= mostBytes) chunks.push(chunk);
		else giveUp(`wrote more than ${mostBytes} bytes`);
	});
	return () => Buffer.concat(chunks).toString();
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

export { PowerError, openPower, readPassword, realPowerDeps, requestBmc, sessionEnvironment, sessionWords };