import { lastLine, plainLine, reasonOf, shortened } from "../model.js";
import { PowerError, readPassword, realPowerDeps, requestBmc, sessionEnvironment, sessionWords } from "./power.js";
import { execFileSync, spawn } from "node:child_process";
import { join } from "node:path";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { setTimeout } from "node:timers/promises";

// src/system/paced-pipe.ts
const intervalMilliseconds = 50;
/** Capacity of a pipe, see pipe(7). A program that writes more within an interval has to wait. */
const mostBytes$1 = 65536;
/** Creates a named pipe at an unused path; throws if it cannot. */
function openPacedPipe(path, onOutput) {
	execFileSync("mkfifo", [
		"-m",
		"600",
		path
	]);
	const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
	const writing = openSync(path, "w");
	const read = () => {
		const piece = readIfAny(reading);
		if (piece !== void 0) onOutput(piece);
	};
	const timer = setInterval(read, intervalMilliseconds).unref();
	let isOpen = true;
	return {
		descriptor: writing,
		read() {
			if (isOpen) read();
		},
		close() {
			if (!isOpen) return;
			isOpen = false;
			clearInterval(timer);
			read();
			closeSync(writing);
			closeSync(reading);
		}
	};
}
function readIfAny(descriptor) {
	const buffer = Buffer.allocUnsafe(mostBytes$1);
	try {
		const bytes = readSync(descriptor, buffer);
		return bytes === 0 ? void 0 : Buffer.from(buffer.subarray(0, bytes));
	} catch (error) {
		if (error instanceof Error && "code" in error && error.code === "EAGAIN") return void 0;
		throw error;
	}
}

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
			if (head.length > mostOfHead) return;
			head += chunk.toString("latin1");
			if (opens === void 0 || opens.test(head)) isOpen.resolve(void 0);
		}
	});
	const failure = await Promise.race([
		isOpen.promise,
		started.ended,
		silence(consoleProgram, deps)
	]);
	if (failure === void 0) return opened(label, program, started);
	await started.close();
	throw new ConsoleError(`${label} cannot be opened: ${sentence(program, {
		...failure,
		lastError: failure.lastError ?? lastLine(head)
	})}.`);
}
const mostOfHead = 4096;
/** Accepts silence as an idle machine, unless the program prints a message on opening. */
async function silence({ opens, openSeconds }, deps) {
	await deps.wait(openSeconds);
	if (opens === void 0) return void 0;
	return {
		how: `did not open it within ${openSeconds} s`,
		lastError: void 0
	};
}
const opened = (label, program, { ended, close }) => ({
	ended: ended.then((how) => `${label} is not recorded any more: ${sentence(program, how)}.`),
	close
});
/** Names only the program: an argument may be a password. */
const sentence = (program, { how, lastError }) => [`${shortened(program)} ${how}`, lastError && `and said "${shortened(lastError)}"`].filter(Boolean).join(" ");
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
		case "conserver": return spying(config);
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
const spying = ({ console, host, port }) => ({
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

// src/lab/console/console-text.ts
/** A boot after a panic prints about 100 KB. */
const mostCharacters = 1024 ** 2;
const mostLines = 20;
const mostOfLine = 200;
/** Without a panic, returns the lines before the next boot if the machine came up without a power cycle (`isUp`). */
function lastWords(text, isUp) {
	const { lines, unread } = readLines(text);
	const panic = panicIn(lines);
	if (panic !== void 0) {
		const after = lines.slice(panic.line, panic.line + mostLines);
		const boot = after.indexOf(bootLine);
		const shown = boot === -1 ? after : after.slice(0, boot);
		return {
			panic: panic.message,
			...shownOf(shown, lines.length + unread)
		};
	}
	const boot = isUp ? lines.lastIndexOf(bootLine) : -1;
	const before = boot > 0 ? lines.slice(0, boot) : lines;
	return before.length === 0 ? {} : shownOf(before.slice(-20), lines.length + unread);
}
const shownOf = (shown, all) => ({
	console: shown.join("\n"),
	...shown.length < all && { consoleLines: all }
});
const bootLine = "---<<BOOT>>---";
/** Completes "its console …": the prompt, and the last lines. */
function describeScreen(text) {
	const { lines } = readLines(text);
	const last = lines.at(-1);
	if (last === void 0) return "shows nothing";
	const ended = `ends with "${lines.slice(-3).map(shortened).join(" | ")}"`;
	const prompt = prompts.find(({ is }) => is.test(last));
	return prompt === void 0 ? ended : `shows ${prompt.name}, and ${ended}`;
}
/** Prompts of the kernel's debugger, its search for a root, init(8), getty(8) and the loaders. */
const prompts = [
	{
		is: /^db(?:\{\d+\})?>/,
		name: "the prompt of the kernel's debugger"
	},
	{
		is: /^mountroot>/,
		name: "that the kernel found no root file system"
	},
	{
		is: /^Enter (?:full pathname of shell|root password)/,
		name: "single user mode, as after a file system check that failed"
	},
	{
		is: /^OK$/,
		name: "the loader's prompt, as where there is no kernel"
	},
	{
		is: /^boot:$/,
		name: "the prompt of boot2, as where there is no loader"
	},
	{
		is: /\blogin:$/,
		name: "a login prompt, so check its network"
	}
];
function panicIn(lines) {
	for (const group of panics) {
		const found = firstOf(group, lines);
		if (found !== void 0) return warningBehind(found, lines) ?? found;
	}
}
function firstOf(patterns, lines) {
	for (const [line, text] of lines.entries()) {
		const message = messageIn(patterns, text);
		if (message !== void 0) return {
			line,
			message
		};
	}
}
function messageIn(patterns, line) {
	const text = line.replace(stamp, "");
	for (const pattern of patterns) {
		const message = pattern.exec(text)?.[1];
		if (message !== void 0) return message;
	}
}
/** `[383490] ` on FreeBSD, `<4>[   12.345678][  T31] ` on Linux. */
const stamp = /^(?:<\d{1,3}>)?(?:\[ *\d+(?:\.\d+)?\](?:\[ *[TC]\d+\])? ?)?/;
/** A warning alone stops nothing. If the kernel is set to panic after one, the warning is the cause. */
function warningBehind(found, lines) {
	const warning = warnings.find(({ panic }) => panic.test(found.message));
	return warning && firstOf([warning.is], lines.slice(0, found.line));
}
const warnings = [{
	panic: /^(?:kernel: )?panic_on_warn set/,
	is: /^(WARNING: \S.*)$/
}, {
	panic: /^hung_task: blocked tasks/,
	is: /^(INFO: task \S+ blocked for .*)$/
}];
/**
* Takes the first matching line of the first matching group. A panic may begin within a line, after a prompt or output
* of rc(8). savecore(8)'s "reboot after panic: …" and the sysctl `debug.kdb.panic: 0` are no panics. Later groups match
* if the message itself is lost.
*/
const panics = [
	[/(?:^|(?<!\b\w+\.\w+)[:.>#$%\]] ?)panic: (?!\d+$)(\S.*)$/],
	[/^(Fatal (?:trap \d+: |double fault|data abort).*)$/],
	[/^(KDB: enter: panic)$/],
	[
		/^(?:(?:NMI )?watchdog: )?(BUG: (?!sleeping function|scheduling while|workqueue lockup)\S.*)$/,
		/^(?:(?:NMI )?watchdog: )?(Watchdog detected hard LOCKUP.*)$/,
		/^(?:rcu: )?(INFO: rcu_\w+ (?:self-)?detected (?:expedited )?stalls? on .*)$/,
		/^(?:traps: )?(PANIC: .*)$/,
		/^((?:Internal error: )?Oops\b.*)$/,
		/^(Internal error: .*)$/,
		/^(?:CPU \d+ )?(Unable to handle kernel .*)$/,
		/^((?:divide error|invalid opcode|double fault|stack segment|segment not present|alignment check|int3|bounds|overflow|coprocessor segment overrun|invalid TSS|control protection fault|machine check|general protection fault)\b.*)$/,
		/^(kernel BUG at\b.*)$/,
		/^((?:Bad mode in|SError Interrupt on CPU\d*|Unhandled (?:fault|exception|prefetch abort)|Insufficient stack space|Kernel stack overflow|kernel stack overflow|Kernel mode fault)\b.*)$/,
		/^Kernel panic - not syncing: (\S.*)$/
	]
];
const showsPanic = (line) => {
	const text = asShown(line);
	return panics.some((group) => messageIn(group, text) !== void 0);
};
/** `unread` counts the lines before the newest megabyte. */
function readLines(text) {
	const cut = text.length - mostCharacters;
	const start = cut > 0 ? text.indexOf("\n", cut) + 1 || cut : 0;
	const unread = text.slice(0, start).match(/[^\r\n]+/g)?.length ?? 0;
	return {
		lines: text.slice(start).split(/[\r\n]+/).map(asShown).filter(Boolean),
		unread
	};
}
const asShown = (line) => plainLine(line.replace(/[^\b][\b]/g, ""), mostOfLine);

// src/lab/console/console-tape.ts
/** Size limit of a stored panic, from its line on. */
const mostPanicBytes = 16384;
/** Longest beginning of a line that is searched. */
const mostLineBytes = 4096;
/** Limits the work per write on lines that only contain words of a panic. */
const mostSearchedLines = 64;
/** A boot after a panic prints about 100 KB. */
const mostTextBytes = 1024 ** 2;
/** A ring buffer, addressed by offsets in the whole output so far. */
var ConsoleTape = class {
	#size;
	#ring = Buffer.alloc(0);
	#length = 0;
	/** Beginning of the unfinished line, one character per byte. */
	#line = {
		at: 0,
		text: ""
	};
	#panic;
	constructor(size) {
		this.#size = size;
	}
	get length() {
		return this.#length;
	}
	write(chunk) {
		this.#watch(chunk.toString("latin1"));
		if (this.#ring.length === 0) this.#ring = Buffer.alloc(this.#size);
		const kept = chunk.subarray(-this.#size);
		this.#length += chunk.length;
		const start = (this.#length - kept.length) % this.#size;
		const written = kept.copy(this.#ring, start);
		kept.copy(this.#ring, 0, written);
	}
	read(from, to = this.#length) {
		const first = Math.max(from, this.#length - this.#size);
		if (first >= to) return Buffer.alloc(0);
		const start = first % this.#size;
		const end = start + (to - first);
		return Buffer.concat([this.#ring.subarray(start, end), this.#ring.subarray(0, Math.max(0, end - this.#size))]);
	}
	/**
	* Returns at most a mebibyte: the newest output, preceded by the beginning of the first panic if that came earlier.
	*/
	text(from = 0, to = this.#length) {
		const panic = this.#panic;
		const newest = Math.max(from, to - mostTextBytes, this.#length - this.#size);
		if (panic === void 0 || panic.at < from || panic.at >= newest) return this.read(newest, to).toString();
		const rest = Math.max(newest + mostPanicBytes + 1, panic.at + panic.text.length);
		return `${Buffer.from(panic.text, "latin1")}\n${this.read(rest, to)}`;
	}
	/** Watches for the next panic, for example when another boot begins. */
	forgetPanic() {
		this.#panic = void 0;
		this.#line = {
			at: this.#length,
			text: ""
		};
	}
	#watch(piece) {
		if (this.#panic !== void 0) {
			const { at, text } = this.#panic;
			if (text.length < mostPanicBytes) this.#panic = {
				at,
				text: (text + piece).slice(0, mostPanicBytes)
			};
			return;
		}
		const { at, text: begun } = this.#line;
		const text = begun + piece;
		const offsetOf = (index) => index === 0 ? at : this.#length + index - begun.length;
		const found = panicAt(text);
		if (found !== void 0) this.#panic = {
			at: offsetOf(found),
			text: text.slice(found, found + mostPanicBytes)
		};
		const last = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
		this.#line = {
			at: offsetOf(last),
			text: text.slice(last, last + mostLineBytes)
		};
	}
};
/** Index of the first line that shows a panic. */
function panicAt(text) {
	if (!panicWords.test(text)) return void 0;
	let searched = 0;
	for (const { index, 0: line } of text.matchAll(/[^\r\n]+/g)) {
		const start = line.slice(0, mostLineBytes);
		if (!panicWords.test(start)) continue;
		if (showsPanic(start)) return index;
		searched += 1;
		if (searched === mostSearchedLines) return void 0;
	}
}
/** Each panic has one of these words, which are cheap to find in a flood. */
const panicWords = /panic|Fatal |BUG: |Oops|general protection fault|kernel BUG at/;

// src/lab/console/recorder.ts
/** Output of a console at 115200 baud in half an hour. */
const mostBytes = 16 * 1024 ** 2;
/** Size limit of all logs together; later logs have only the newest 64 KiB. */
const mostLogBytes = 128 * 1024 ** 2;
const leastLogBytes = 65536;
/** Never throws for a fault of the console, which `takeProblems` reports. */
var ConsoleRecorder = class {
	#name;
	#open;
	#tape = new ConsoleTape(mostBytes);
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
			this.#report(`The console of ${this.#name} showed nothing of a whole boot; look at it with "ppsgate testbeds check".`);
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
	/** End of the output of the last boot that was begun. */
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
		const most = Math.max(leastLogBytes, mostLogBytes - this.#loggedBytes);
		const log = this.#tape.read(Math.max(this.#takenAt, this.#tape.length - most));
		this.#takenAt = this.#tape.length;
		this.#loggedBytes += log.length;
		return log;
	}
	/** Sentences on faults of the console; each is returned once. */
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

export { ConsoleError, ConsoleRecorder, ConsoleTape, describeScreen, lastWords, openConsole, openPacedPipe, realConsoleDeps };