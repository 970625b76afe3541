import { lastLine, reasonOf, shortened } from "../../model/first-plain.js";
import { sendRequest } from "../../system/http.js";
import { readGuarded } from "../../config/plain.js";
import { PowerError, readPassword } from "./first-plain.js";
const { readFile } = globalThis.process.getBuiltinModule("node:fs/promises");
const { spawn } = globalThis.process.getBuiltinModule("node:child_process");
const { setTimeout } = globalThis.process.getBuiltinModule("node:timers/promises");

// src/lab/power/command.ts
function openCommand(name, config, deps) {
	const label = `The power of ${name} (by commands)`;
	const run = ([program = "", ...args]) => deps.run(program, args, { timeoutSeconds: 120 });
	const { cycle } = config;
	return {
		label,
		check: "what its commands do",
		state: async () => readingOf(await run(config.state), config.state, label),
		turn: async (to) => replyOf(await run(config[to]), config[to]),
		...cycle !== void 0 && { cycle: async () => replyOf(await run(cycle), cycle) }
	};
}
function readingOf(ran, argv, label) {
	const word = ran.kind === "exited" && ran.code === 0 ? ran.stdout.trim().toLowerCase() : "";
	if (word === "on" || word === "off") return word;
	throw new PowerError(`${label} is unknown: ${ended(ran, argv)}; its \`state\` must print "on" or "off" and exit with 0.`);
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
	const message = line === void 0 ? "and printed nothing" : `and printed "${shortened(line)}"`;
	return `${shortened(program)} exited with ${ran.code} ${message}`;
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
	const turn = async (order) => {
		const { code, stderr } = await request(order);
		return code === 0 ? { kind: "accepted" } : {
			kind: "refused",
			why: lastMessage(stderr)
		};
	};
	return {
		label,
		check: "the machine, and the BMC's event log",
		async state() {
			const { code, stdout, stderr } = await request("status");
			const [, state] = /^Chassis Power is (on|off)$/m.exec(stdout) ?? [];
			if (code === 0 && (state === "on" || state === "off")) return state;
			const said = shortened(lastLine(stdout) ?? lastMessage(stderr));
			throw new PowerError(`${label} does not report whether the machine is on: ${said}.`);
		},
		turn,
		cycle: () => turn("cycle")
	};
}
const tries = 3;
const secondsBetweenTries = 2;
/** Retries only after silence: a BMC locks out a user after wrong passwords. Throws a PowerError. */
async function requestBmc({ label, config, password, order, deps }) {
	let silence = "";
	for (let attempt = 0; attempt < tries; attempt += 1) {
		if (attempt > 0) await deps.sleep(secondsBetweenTries);
		const ran = await deps.run("ipmitool", [
			"-v",
			...sessionWords(config),
			...order
		], {
			env: sessionEnvironment(password),
			timeoutSeconds: 60
		});
		if (ran.kind === "failed") throw new PowerError(`${label} cannot be queried: ipmitool ${ran.why}.`);
		if (ran.code === 0) return ran;
		const refusal = ran.stderr.split("\n").filter((line) => !/completion code received/i.test(line)).find((line) => refusals.test(line));
		if (refusal !== void 0) throw new PowerError(`${label} refuses the user ${config.user}: ${shortened(refusal.replace(/^> /, ""))}.`);
		if (!silent.test(ran.stderr)) return ran;
		silence = lastMessage(ran.stderr);
	}
	throw new PowerError(`${label} cannot be queried: the last of ${tries} tries ended with "${silence}".`);
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
* Messages of ipmitool 1.8.19, most of them seen with ipmi_sim: a missing privilege, a wrong user or password, a cipher
* suite that the BMC lacks, or another RMCP+ status code (IPMI 2.0, table 13-15).
*/
const refusals = new RegExp([
	"privilege|(?:invalid|unauthorized) (?:role|name|user name|GUID)|HMAC is invalid|password is longer",
	"invalid integrity check value|password verification|integrity|confidentiality|cipher suite",
	"authentication (?:algorithm|payload|type)|message indicates an error|error in open session response",
	"Activate Session|insufficient resources"
].join("|"), "i");
/** Returns the last specific line: neither the fixed conclusion, nor a note on late replies. */
function lastMessage(stderr) {
	const lines = stderr.split("\n").filter((line) => !/^Error: Unable to|^Loading IANA|^IPMI Request Match NOT|^Close Session command failed/.test(line));
	return shortened(lastLine(lines.join("\n"))?.replace(/^> /, "") ?? "no output from ipmitool");
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
		async state() {
			const seen = await watch(controller, (state) => state !== "changing", secondsToObey, sleep);
			if (seen !== "changing") return seen;
			throw new PowerError(`${controller.label} has reported for ${secondsToObey} s that the machine is turning on or off; check ${controller.check}.`);
		},
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
/** Sends the order in any state, as the reported one may lag behind, or be about to change. */
async function turn(controller, to, sleep) {
	let disobedience = "";
	for (let attempt = 0; attempt < attempts; attempt += 1) {
		const reply = await controller.turn(to);
		const seen = await watch(controller, (state) => state === to, reply.kind === "refused" ? secondsAfterRefusal : secondsToObey, sleep);
		if (seen === to) return;
		disobedience = reply.kind === "refused" ? `refuses to turn the machine ${to}: ${reply.why}` : `accepted the command to turn the machine ${to} ${attempts} times, but ${secondsToObey} s after the last one still reports that it is ${seen}`;
	}
	throw new PowerError(`${controller.label} ${disobedience}; check ${controller.check}.`);
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
const maxBytes = 1024 ** 2;
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
		if (bytes <= maxBytes) chunks.push(chunk);
		else giveUp(`wrote more than ${maxBytes} bytes`);
	});
	return () => Buffer.concat(chunks).toString();
}

export { openCommand, openIpmi, realPowerDeps, requestBmc, sessionEnvironment, sessionWords, switchOf };