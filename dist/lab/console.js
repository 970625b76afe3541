import { lastLine, reasonOf, shortened } from "../model/first-plain.js";
import { realPowerDeps, requestBmc, sessionEnvironment, sessionWords } from "./power/plain.js";
import "./power.js";
import { PowerError, readPassword } from "./power/first-plain.js";
import { openPacedPipe } from "../system/paced-pipe.js";
import { ConsoleTape, describeScreen, lastWords } from "./console/plain.js";
const { join } = globalThis.process.getBuiltinModule("node:path");
const { mkdtempSync, rmSync } = globalThis.process.getBuiltinModule("node:fs");
const { tmpdir } = globalThis.process.getBuiltinModule("node:os");
const { spawn } = globalThis.process.getBuiltinModule("node:child_process");
const { setTimeout } = globalThis.process.getBuiltinModule("node:timers/promises");

// src/lab/console/console-deps.ts
const realConsoleDeps = {
	...realPowerDeps,
	start,
	wait
};
function wait(seconds) {
	return setTimeout(seconds * 1e3, void 0, { ref: false });
}
const secondsToEnd = 3;
function openOutput(onOutput) {
	const folder = mkdtempSync(join(tmpdir(), "ppsgate-console-"));
	try {
		return openPacedPipe(join(folder, "output"), onOutput);
	} finally {
		rmSync(folder, { recursive: true });
	}
}
function start(program, args, { env, onOutput, endInput }) {
	const output = openOutput(onOutput);
	const child = spawn(program, args, {
		env: {
			...process.env,
			...env
		},
		detached: true,
		stdio: [
			"pipe",
			output.descriptor,
			"pipe"
		]
	});
	let errors = "";
	child.stderr?.on("data", (chunk) => {
		errors = (errors + chunk.toString()).slice(-4096);
	});
	child.stdin?.on("error", () => {});
	const ended = new Promise((resolve) => {
		child.on("error", (error) => {
			output.close();
			resolve({
				how: `cannot be started: ${reasonOf(error)}`,
				lastError: void 0
			});
		});
		child.on("close", (code, signal) => {
			output.close();
			resolve({
				how: code === null ? `was ended by ${signal}` : `ended with ${code}`,
				lastError: lastLine(errors)
			});
		});
	});
	const kill = (signal) => {
		if (child.pid === void 0) return;
		try {
			process.kill(-child.pid, signal);
		} catch {}
	};
	return {
		ended,
		async close() {
			child.stdin?.end(endInput);
			if (endInput === void 0) kill("SIGTERM");
			await Promise.race([ended, wait(secondsToEnd)]);
			kill("SIGKILL");
			await ended;
		}
	};
}

// src/lab/console/console.ts
var ConsoleError = class extends Error {
	name = "ConsoleError";
};
/** `name` names the machine to people. Throws a ConsoleError if the console does not open within seconds. */
async function openConsole(name, config, onOutput, deps) {
	const label = labelOf(name, config);
	const consoleProgram = await programOf(label, config, deps);
	const { program, args, env, opens, endInput } = consoleProgram;
	const isOpen = Promise.withResolvers();
	let head = "";
	const started = deps.start(program, args, {
		env,
		...endInput !== void 0 && { endInput },
		onOutput(chunk) {
			onOutput(chunk);
			if (head.length > maxHeadCharacters) return;
			head += chunk.toString("latin1");
			if (opens === void 0 || opens.test(head)) isOpen.resolve(void 0);
		}
	});
	const failure = await Promise.race([
		isOpen.promise,
		started.ended,
		silence(consoleProgram, deps)
	]);
	if (failure === void 0) return {
		ended: started.ended.then((how) => `${label} is no longer recorded: ${sentence(program, how)}.`),
		close: started.close
	};
	await started.close();
	throw new ConsoleError(`${label} cannot be opened: ${sentence(program, {
		...failure,
		lastError: failure.lastError ?? lastLine(head)
	})}.`);
}
const maxHeadCharacters = 4096;
/** Accepts silence as an idle machine, unless the program prints a message on opening. */
async function silence({ opens, openSeconds }, deps) {
	await deps.wait(openSeconds);
	if (opens === void 0) return void 0;
	return {
		how: `did not open within ${openSeconds} s`,
		lastError: void 0
	};
}
/** Names only the program: an argument may be a password. */
const sentence = (program, { how, lastError }) => [`${shortened(program)} ${how}`, lastError && `and wrote "${shortened(lastError)}"`].filter(Boolean).join(" ");
function labelOf(name, config) {
	switch (config.kind) {
		case "ipmi": return `The console of ${name} (IPMI at ${config.host}:${config.port})`;
		case "conserver": return `The console of ${name} (${config.console} of conserver)`;
		case "command": return `The console of ${name} (by a command)`;
	}
}
async function programOf(label, config, deps) {
	switch (config.kind) {
		case "ipmi": return overLan(label, config, deps);
		case "conserver": return spyOn(config);
		case "command": {
			const [program = "", ...args] = config.command;
			return {
				program,
				args,
				env: {},
				openSeconds: 1
			};
		}
	}
}
/** A BMC has one session; a leftover one is ended first. */
async function overLan(label, config, deps) {
	try {
		const password = await readPassword(label, config.passwordPath, deps);
		await requestBmc({
			label,
			config,
			password,
			order: ["sol", "deactivate"],
			deps
		});
		return {
			program: "ipmitool",
			args: [
				...sessionWords(config),
				"sol",
				"activate"
			],
			env: sessionEnvironment(password),
			openSeconds: 3,
			endInput: "~."
		};
	} catch (error) {
		if (error instanceof PowerError) throw new ConsoleError(error.message, { cause: error });
		throw error;
	}
}
/** `-s` only reads, and disturbs no other user. `-k` exits if the server has lost the console. */
const spyOn = ({ console, host, port }) => ({
	program: "console",
	args: [
		...host === void 0 ? [] : ["-M", host],
		...port === void 0 ? [] : ["-p", `${port}`],
		"-k",
		"-s",
		console
	],
	env: { LC_ALL: "C" },
	opens: /^\[spying\]/m,
	openSeconds: 20,
	endInput: "c."
});

// src/lab/console/recorder.ts
/** Output of a console at 115200 baud in half an hour. */
const maxBytes = 16 * 1024 ** 2;
/** Size limit of all logs together; later logs have only the newest 64 KiB. */
const maxLogBytes = 128 * 1024 ** 2;
const minLogBytes = 65536;
/** Never throws for a fault of the console, which `takeProblems` reports. */
var ConsoleRecorder = class {
	#name;
	#open;
	#tape = new ConsoleTape(maxBytes);
	#problems = /* @__PURE__ */ new Set();
	#reported = /* @__PURE__ */ new Set();
	#console;
	#takenAt = 0;
	#loggedBytes = 0;
	#bootAt;
	#endAt;
	/** Offset of the last power cycle since the boot, or of the boot. */
	#shownFrom = 0;
	/** The program that reads a virtual machine's console ends with the machine. */
	#mayEnd = "no";
	constructor(name, open) {
		this.#name = name;
		this.#open = open;
	}
	async open() {
		if (this.#console !== void 0) return;
		try {
			const opened = await this.#open((chunk) => this.#tape.write(chunk));
			this.#console = opened;
			opened.ended.then((sentence) => {
				if (this.#console !== opened) return;
				this.#console = void 0;
				this.#ended(sentence);
			});
		} catch (error) {
			if (!(error instanceof ConsoleError)) throw error;
			this.#report(error.message);
		}
	}
	/**
	* Call it before a boot. Reopens a console that was silent in the last boot, as another client may have the session.
	*/
	async beginBoot() {
		if (this.#console !== void 0 && this.#tape.length === this.#bootAt) {
			this.#report(`The console of ${this.#name} showed nothing during a whole boot; check it with "ppsgate testbeds check".`);
			await this.close();
		}
		await this.open();
		this.#mayEnd = "no";
		this.#tape.forgetPanic();
		this.#bootAt = this.#tape.length;
		this.#shownFrom = this.#bootAt;
		this.#endAt = void 0;
	}
	/** Cycles the power, and reopens a console that this ended. */
	async whileCycled(cycle) {
		this.endBoot();
		this.#mayEnd = "while cycled";
		try {
			await cycle();
		} finally {
			this.#mayEnd = "once";
		}
		await this.open();
	}
	/** Call it before the power is cycled: later output belongs to the next boot. */
	endBoot() {
		this.#endAt ??= this.#tape.length;
		this.#shownFrom = this.#tape.length;
	}
	/** Reads the end of the output of the last boot that was begun. */
	lastWords() {
		const text = this.#tape.text(this.#bootAt, this.#endAt);
		return lastWords(text, this.#endAt === void 0);
	}
	/**
	* Screen since the boot or the last power cycle; completes "its console …". Undefined while the console is closed.
	*/
	describe() {
		if (this.#console === void 0) return void 0;
		return describeScreen(this.#tape.text(this.#shownFrom));
	}
	takeLog() {
		const most = Math.max(minLogBytes, maxLogBytes - this.#loggedBytes);
		const log = this.#tape.read(Math.max(this.#takenAt, this.#tape.length - most));
		this.#takenAt = this.#tape.length;
		this.#loggedBytes += log.length;
		return log;
	}
	/** Returns new sentences on faults of the console, each once. */
	takeProblems() {
		const sentences = [...this.#problems];
		for (const sentence of sentences) this.#reported.add(sentence);
		this.#problems.clear();
		return sentences;
	}
	async close() {
		const opened = this.#console;
		this.#console = void 0;
		await opened?.close();
	}
	#ended(sentence) {
		if (this.#mayEnd === "no") this.#report(sentence);
		else if (this.#mayEnd === "once") {
			this.#mayEnd = "no";
			this.open().catch(() => {});
		}
	}
	#report(sentence) {
		if (!this.#reported.has(sentence)) this.#problems.add(sentence);
	}
};

export { ConsoleError, ConsoleRecorder, openConsole, realConsoleDeps };