import { fromJson, lastLine, reasonOf, shortened } from "./words.js";
import { _enum, array, object, string } from "./vendor/zod.js";
import { ExposedError, readGuarded } from "./config.js";
import { bytesWithin } from "./http.js";
import { once } from "node:events";
import { spawn } from "node:child_process";
import { isIP } from "node:net";
import { request } from "node:http";
import { connect as connect$1 } from "node:tls";
import { readFile } from "node:fs/promises";
import { setTimeout as setTimeout$1 } from "node:timers/promises";

// src/power/power-controller.ts
/** A controller that cannot be asked, or does not do as told: which, what it said and what to check, in one sentence. */
var PowerError = class extends Error {
	name = "PowerError";
};

// src/power/files.ts
/** The one line of the file, or without one the world's; throws a PowerError that says where it was looked for, and nothing of it. */
async function readPassword(label, path, world) {
	const password = (path === void 0 ? world.password() ?? "" : await readFileFor(label, "password", path, { readFile: world.readSecret })).replace(/\r?\n$/, "");
	if (/^\P{Cc}+$/u.test(password)) return password;
	const place = path === void 0 ? "PPSGATE_BMC_PASSWORD of the environment, for no `passwordFile` is named" : `the password file ${path}`;
	throw new PowerError(`${label} cannot be opened with ${place}: it is empty or has more than a line; write the password there and nothing else.`);
}
/** Throws a PowerError that names the file. */
async function readFileFor(label, what, path, world) {
	try {
		return await world.readFile(path);
	} catch (error) {
		if (error instanceof ExposedError) throw new PowerError(`${label} cannot be opened: ${error.message}.`);
		throw new PowerError(`${label} cannot be opened without its ${what} file: ${reasonOf(error)}; check the path, and that you may read it.`, { cause: error });
	}
}

// src/power/ipmi.ts
async function openIpmi(name, config, world) {
	const label = `The BMC of ${name} (IPMI at ${config.host}:${config.port})`;
	const password = await readPassword(label, config.passwordPath, world);
	const ask = (order) => askBmc({
		label,
		config,
		password,
		order: [
			"chassis",
			"power",
			order
		],
		world
	});
	return {
		label,
		check: "the machine, and the BMC's event log",
		state: async () => reading$2(await ask("status"), label),
		turn: async (to) => answer$1(await ask(to)),
		cycle: async () => answer$1(await ask("cycle"))
	};
}
const tries$1 = 3;
const secondsBetweenTries = 2;
/**
* What ipmitool said when it ended. Throws a PowerError where the BMC stays silent or lets nobody in. Only silence is
* tried again: a BMC that is given a wrong password too often locks its user out.
*/
async function askBmc({ label, config, password, order, world }) {
	let silence = "";
	for (let attempt = 0; attempt < tries$1; attempt += 1) {
		if (attempt > 0) await world.sleep(secondsBetweenTries);
		const ran = await world.run("ipmitool", [
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
		silence = lastTold(ran.stderr);
	}
	throw new PowerError(`${label} did not answer in ${tries$1} tries: ${silence}; check that it has power and network, its address, and that IPMI over LAN is enabled.`);
}
/**
* `-E` for the password from the environment, `-N` and `-R` for 10 s of silence; power is an operator's to switch (IPMI
* 2.0, Appendix G), so no more is asked for. Before it, `-v` has ipmitool say the reason of a refusal.
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
/** Also of a BMC that lets us in, and then has not answered. */
const silent = /Unable to establish IPMI|Could not open socket|no response|Unable to get Chassis Power Status/i;
/** In the words of ipmitool 1.8.19, most of them heard before ipmi_sim; some name an RMCP+ status code (IPMI 2.0, table 13-15). */
function refusalOf(stderr, user) {
	if (/HMAC is invalid|unauthorized name|invalid role|password is longer/i.test(stderr)) return `does not let in the user ${user} (${lastTold(stderr)}); check \`user\`, its password file (20 bytes at most), and that it may be an operator over LAN`;
	if (/cipher suite|authentication algorithm|integrity algorithm|confidentiality/i.test(stderr)) return `does not take the cipher suite (${lastTold(stderr)}); set \`cipherSuite\` to one that it has, such as 17 or 3`;
}
/** The last of its lines but for the conclusion, which is the same whatever happened, and for what it says of late answers. */
function lastTold(stderr) {
	const lines = stderr.split("\n").filter((line) => !/^Error: Unable to|^Loading IANA|^IPMI Request Match NOT/.test(line));
	return shortened(lastLine(lines.join("\n"))?.replace(/^> /, "") ?? "no answer");
}
function reading$2({ code, stdout, stderr }, label) {
	const [, state] = /^Chassis Power is (on|off)$/m.exec(stdout) ?? [];
	if (code === 0 && (state === "on" || state === "off")) return state;
	throw new PowerError(`${label} does not tell whether the machine is on: ${shortened(lastLine(stdout) ?? lastTold(stderr))}; check with "ipmitool chassis power status".`);
}
/** ipmitool exits with 0 when the BMC's completion code is 0: it will obey, or says so. */
function answer$1({ code, stderr }) {
	return code === 0 ? { kind: "taken" } : {
		kind: "refused",
		why: lastTold(stderr)
	};
}

// src/power/command.ts
function openCommand(name, config, world) {
	const label = `The power of ${name} (by commands)`;
	const run = ([program = "", ...args]) => world.run(program, args, { timeoutSeconds: 120 });
	const { cycle } = config;
	return {
		label,
		check: "what its commands do",
		state: async () => reading$1(await run(config.state), config.state, label),
		turn: async (to) => answer(await run(config[to]), config[to]),
		...cycle !== void 0 && { cycle: async () => answer(await run(cycle), cycle) }
	};
}
function reading$1(ran, argv, label) {
	const word = ran.kind === "exited" && ran.code === 0 ? ran.stdout.trim().toLowerCase() : "";
	if (word === "on" || word === "off") return word;
	throw new PowerError(`${label} is not known: ${ended(ran, argv)}; its \`state\` has to print "on" or "off" and exit with 0.`);
}
function answer(ran, argv) {
	if (ran.kind === "exited" && ran.code === 0) return { kind: "done" };
	return {
		kind: "refused",
		why: ended(ran, argv)
	};
}
/** Only the program is named: an argument may be a password. */
function ended(ran, [program = ""]) {
	if (ran.kind === "failed") return `${shortened(program)} ${ran.why}`;
	const said = lastLine(ran.stderr) ?? lastLine(ran.stdout);
	const words = said === void 0 ? "and said nothing" : `and said "${shortened(said)}"`;
	return `${shortened(program)} exited with ${ran.code} ${words}`;
}

// src/power/redfish.ts
async function openRedfish(name, config, world) {
	const url = new URL(config.url);
	const label = `The BMC of ${name} (Redfish at ${url.host})`;
	const { user } = config;
	const server = {
		label,
		user,
		password: await readPassword(label, config.passwordPath, world),
		trust: await trustOf(label, config, world),
		world
	};
	return {
		label,
		check: "the machine, and the BMC's event log",
		state: async () => reading(await readSystem(server, url), label),
		turn: (to) => reset(server, url, resetTypes[to]),
		cycle: () => reset(server, url, ["PowerCycle"])
	};
}
async function trustOf(label, config, world) {
	const { certificateSha256, caPath } = config;
	if (certificateSha256 !== void 0) return {
		kind: "pinned",
		sha256: certificateSha256
	};
	if (caPath === void 0) return { kind: "authority" };
	return {
		kind: "authority",
		pem: await readFileFor(label, "CA", caPath, world)
	};
}
/** The best first, of `ResetType` in DMTF's Resource schema. */
const resetTypes = {
	on: ["On", "ForceOn"],
	off: ["ForceOff"]
};
/** What is used of DMTF's ComputerSystem schema; BMCs that start have null for the state. */
const systemDocument = object({
	PowerState: _enum([
		"On",
		"Off",
		"PoweringOn",
		"PoweringOff",
		"Paused"
	]).nullable(),
	Actions: object({ "#ComputerSystem.Reset": object({
		target: string(),
		"ResetType@Redfish.AllowableValues": array(string()).optional()
	}).optional() }).optional()
});
function reading({ PowerState }, label) {
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
	const { status, body } = await ask(server, onSameServer(server, url, action.target, "its reset action is at"), { ResetType: type });
	return status < 300 ? { kind: "taken" } : {
		kind: "refused",
		why: said(server, status, body)
	};
}
const mostRedirects = 3;
async function readSystem(server, url, redirects = 0) {
	const { label } = server;
	const { status, headers, body } = await ask(server, url);
	if (status >= 300 && status < 400 && redirects < mostRedirects) return readSystem(server, onSameServer(server, url, headers.location ?? "", "it redirects to"), redirects + 1);
	if (status !== 200) throw new PowerError(`${label} has no system at ${url.pathname} (${said(server, status, body)}); check \`url\` against what /redfish/v1/Systems lists.`);
	const document = systemDocument.safeParse(fromJson(body));
	if (document.success) return document.data;
	throw new PowerError(`${label} answers at ${url.pathname} with ${shortened(headers["content-type"] ?? "something")} that describes no system; check \`url\` against what /redfish/v1/Systems lists.`);
}
/** The credentials go nowhere else. */
function onSameServer({ label }, url, place, how) {
	const target = URL.parse(place, url.href);
	if (target?.origin === url.origin) return target;
	throw new PowerError(`${label} is not followed: ${how} "${shortened(place)}", and the password is for ${url.host} alone; check \`url\`.`);
}
const tries = 4;
/** GET, or POST of what is to be `sent`; every reset may be asked for twice. Throws where there is nobody to talk to. */
async function ask(server, url, sent) {
	const { label, world } = server;
	const question = questionOf(server, url, sent);
	let reply = await world.request(question);
	for (let attempt = 1; attempt < tries && isPassing(reply); attempt += 1) {
		await world.sleep(secondsToWait(reply));
		reply = await world.request(question);
	}
	if (reply.kind === "answered") return judged(server, reply);
	if (reply.kind === "untrusted") throw new PowerError(distrusted(label, reply));
	throw new PowerError(`${label} did not answer in ${tries} tries: ${reply.why}; check that it has power and network, and \`url\`.`);
}
/** Basic authentication, which every Redfish service has (DSP0266, "Authentication") and which leaves no session behind. */
function questionOf({ user, password, trust }, url, sent) {
	const headers = {
		accept: "application/json",
		"odata-version": "4.0",
		authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`
	};
	const common = {
		url,
		trust,
		timeoutSeconds: 30
	};
	if (sent === void 0) return {
		...common,
		method: "GET",
		headers
	};
	const body = JSON.stringify(sent);
	const described = {
		"content-type": "application/json",
		"content-length": String(Buffer.byteLength(body))
	};
	return {
		...common,
		method: "POST",
		headers: {
			...headers,
			...described
		},
		body
	};
}
/** Never a refused password: a BMC that is given one too often locks its user out. */
function isPassing(reply) {
	if (reply.kind !== "answered") return reply.kind === "no-answer";
	return reply.status === 429 || reply.status >= 500 && reply.status !== 501;
}
/** `Retry-After` in seconds, as BMCs write it (RFC 9110, section 10.2.3, also has dates), in bounds. */
function secondsToWait(reply) {
	const after = reply.kind === "answered" ? reply.headers["retry-after"] : void 0;
	return /^\d+$/.test(after ?? "") ? Math.min(Number(after), 60) : 3;
}
function judged(server, reply) {
	const { label, user } = server;
	const { status, body } = reply;
	if (status === 401 || status === 403) throw new PowerError(`${label} does not let in the user ${user} (${said(server, status, body)}); check \`user\`, its password file, and that it may control power.`);
	if (!isPassing(reply)) return reply;
	throw new PowerError(`${label} could not answer in ${tries} tries (${said(server, status, body)}); wait until it is ready, or restart the BMC.`);
}
function distrusted(label, { sha256, why }) {
	return `${label} shows ${sha256 === "" ? "no certificate" : `the certificate with SHA-256 ${sha256}`}, which is not trusted (${why}); compare the fingerprint on the BMC itself, then set \`certificateSha256\` to it, or \`ca\` to its authority.`;
}
/** Of the error response that DSP0266 describes: the first of the messages, or the sum of them. */
const errorDocument = object({ error: object({
	message: string().optional(),
	"@Message.ExtendedInfo": array(object({ Message: string().optional() })).optional().catch(void 0)
}) });
/** What a BMC repeats of our credentials goes no further. */
function said({ user, password }, status, body) {
	const { data } = errorDocument.safeParse(fromJson(body));
	const message = data?.error["@Message.ExtendedInfo"]?.[0]?.Message ?? data?.error.message;
	if (message === void 0) return String(status);
	const encoded = Buffer.from(`${user}:${password}`).toString("base64");
	return `${status} ${shortened(message.replaceAll(encoded, "…").replaceAll(password, "…"))}`;
}

// src/power/switch.ts
const times = 3;
/** Real machines take up to 10 s to go off, emulated ones 11. */
const secondsToObey = 30;
/** Between looks. The least that a cycle has to keep a machine off is 1 s (IPMI 2.0, section 28.3), which is not to be missed. */
const pace = {
	usual: 1,
	cycle: .25
};
/** A refusal may be that of a controller which has not ended something else. */
const secondsAfterRefusal = 5;
/** Until the power supply's capacitors are empty; some BMCs also lose what they are told right after. */
const secondsOff = 5;
function switchOf(controller, sleep) {
	return {
		state: () => settledState(controller, sleep),
		on: () => turn(controller, "on", sleep),
		off: () => turn(controller, "off", sleep),
		async cycle() {
			if (await cycledByItself(controller, sleep)) return;
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
/** Always tells, whatever the state was before: it may lag behind, or be about to change. */
async function turn(controller, to, sleep) {
	let disobedience = "";
	for (let time = 0; time < times; time += 1) {
		const answer = await controller.turn(to);
		const seen = await watch(controller, (state) => state === to, answer.kind === "refused" ? secondsAfterRefusal : secondsToObey, sleep);
		if (seen === to) return;
		disobedience = described(answer, to, seen);
	}
	throw new PowerError(`${controller.label} ${disobedience}; check ${controller.check}.`);
}
function described(answer, to, seen) {
	if (answer.kind === "refused") return `refuses to turn the machine ${to}: ${answer.why}`;
	return `took the order to turn the machine ${to} ${times} times, but still says ${secondsToObey} s after the last that it is ${seen}`;
}
/** The controller's own cycle leaves the machine on even where we end halfway. It counts where it was seen. */
async function cycledByItself(controller, sleep) {
	if (controller.cycle === void 0 || await controller.state() !== "on") return false;
	const answer = await controller.cycle();
	if (answer.kind === "refused") return false;
	const leftOn = (state) => state !== "on";
	const seenOff = () => watch(controller, leftOn, secondsToObey, sleep, pace.cycle);
	if (answer.kind === "taken" && !leftOn(await seenOff())) return false;
	return await watch(controller, (state) => state === "on", secondsToObey, sleep) === "on";
}
/** The first state that is as wanted, or else the last of so many seconds. */
async function watch(controller, isWanted, seconds, sleep, secondsBetween = pace.usual) {
	let state = await controller.state();
	for (let waited = 0; waited < seconds && !isWanted(state); waited += secondsBetween) {
		await sleep(secondsBetween);
		state = await controller.state();
	}
	return state;
}

// src/power/https.ts
/** Never rejects; redirects are answers like others. */
async function request$1(question) {
	const socket = dial(question.url, question.trust);
	const timer = setTimeout(() => socket.destroy(/* @__PURE__ */ new Error(`no whole answer within ${question.timeoutSeconds} s`)), question.timeoutSeconds * 1e3);
	try {
		await once(socket, "secureConnect");
		return distrust(socket, question.trust) ?? await exchange(socket, question);
	} catch (error) {
		return {
			kind: "no-answer",
			why: reasonOf(error)
		};
	} finally {
		clearTimeout(timer);
		socket.destroy();
	}
}
function dial({ hostname, port }, trust) {
	const host = hostname.replace(/^\[|\]$/g, "");
	return connect$1({
		host,
		port: Number(port || 443),
		...isIP(host) === 0 && { servername: host },
		...trust.kind === "authority" && trust.pem !== void 0 && { ca: trust.pem },
		rejectUnauthorized: false
	}).on("error", () => {});
}
/** Undefined where the certificate is good. */
function distrust(socket, trust) {
	const sha256 = socket.getPeerX509Certificate()?.fingerprint256.replaceAll(":", "").toLowerCase() ?? "";
	if (trust.kind === "pinned") return sha256 === trust.sha256 ? void 0 : {
		kind: "untrusted",
		sha256,
		why: "not the one that is pinned"
	};
	if (socket.authorized) return void 0;
	return {
		kind: "untrusted",
		sha256,
		why: reasonOf(socket.authorizationError)
	};
}
function exchange(socket, { method, url, headers, body }) {
	const { promise, resolve, reject } = Promise.withResolvers();
	const asked = request({
		method,
		path: url.pathname + url.search,
		headers: {
			host: url.host,
			connection: "close",
			...headers
		},
		createConnection: () => socket
	}, (response) => read(response).then(resolve, reject));
	asked.on("error", reject);
	asked.end(body);
	return promise;
}
/** A system's document is some 10 kB. */
const mostBytes$1 = 1024 ** 2;
async function read(response) {
	const body = await bytesWithin(mostBytes$1, response);
	if (body === void 0) throw new Error(`more than ${mostBytes$1} bytes in an answer`);
	const { statusCode: status = 0, headers } = response;
	return {
		kind: "answered",
		status,
		headers,
		body: body.toString()
	};
}

// src/power/world.ts
const realPowerWorld = {
	request: request$1,
	run,
	sleep: (seconds) => setTimeout$1(seconds * 1e3),
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
/** What came so far. */
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

// src/power/power.ts
/**
* The power of the machine that people call `name`.
* Throws a PowerError for a password or CA file that cannot be used; the controller is not asked anything yet.
*/
async function openPower(name, config, world) {
	return switchOf(await openController(name, config, world), world.sleep);
}
function openController(name, config, world) {
	switch (config.kind) {
		case "ipmi": return openIpmi(name, config, world);
		case "redfish": return openRedfish(name, config, world);
		case "command": return openCommand(name, config, world);
	}
}

export { PowerError, askBmc, openPower, readPassword, realPowerWorld, sessionEnvironment, sessionWords };