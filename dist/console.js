import { PowerError, askBmc, readPassword, realPowerWorld, sessionEnvironment, sessionWords } from "./power.js";
import { lastLine, plainLine, reasonOf, shortened } from "./words.js";
import { spawn } from "node:child_process";
import { setTimeout } from "node:timers/promises";

// src/console/world.ts
const realConsoleWorld = {
	...realPowerWorld,
	start,
	wait
};
function wait(seconds) {
	return setTimeout(seconds * 1e3, void 0, { ref: false });
}
const secondsToLeave = 3;
function start(program, args, { env, hears, farewell }) {
	const child = spawn(program, args, {
		env: {
			...process.env,
			...env
		},
		detached: true
	});
	let errors = "";
	child.stdout.on("data", hears);
	child.stderr.on("data", (chunk) => {
		errors = (errors + chunk.toString()).slice(-4096);
	});
	child.stdin.on("error", () => {});
	const ended = new Promise((resolve) => {
		child.on("error", (error) => resolve({
			how: `cannot be started: ${reasonOf(error)}`,
			said: void 0
		}));
		child.on("close", (code, signal) => {
			resolve({
				how: code === null ? `was ended by ${signal}` : `ended with ${code}`,
				said: lastLine(errors)
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
			child.stdin.end(farewell);
			if (farewell === void 0) kill("SIGTERM");
			await Promise.race([ended, wait(secondsToLeave)]);
			kill("SIGKILL");
			await ended;
		}
	};
}

// src/console/console.ts
/** A console that cannot be opened, or has ended: which, and what was said, in one sentence. */
var ConsoleError = class extends Error {
	name = "ConsoleError";
};
/**
* The console of the machine that people call `name`, when it says that it is open. Throws a ConsoleError where it is not
* within some seconds.
*/
async function openConsole(name, config, hears, world) {
	const label = labelOf(name, config);
	const ways = await waysOf(label, config, world);
	const { program, args, env, opens, farewell } = ways;
	const isOpen = Promise.withResolvers();
	let head = "";
	const started = world.start(program, args, {
		env,
		...farewell !== void 0 && { farewell },
		hears(chunk) {
			hears(chunk);
			if (head.length > mostOfHead) return;
			head += chunk.toString("latin1");
			if (opens === void 0 || opens.test(head)) isOpen.resolve(void 0);
		}
	});
	const failure = await Promise.race([
		isOpen.promise,
		started.ended,
		silence(ways, world)
	]);
	if (failure === void 0) return opened(label, program, started);
	await started.close();
	throw new ConsoleError(`${label} cannot be opened: ${sentence(program, {
		...failure,
		said: failure.said ?? lastLine(head)
	})}.`);
}
const mostOfHead = 4096;
/** One that is silent is a machine that prints nothing, unless it has a word to say first. */
async function silence({ opens, patienceSeconds }, world) {
	await world.wait(patienceSeconds);
	if (opens === void 0) return void 0;
	return {
		how: `did not open it within ${patienceSeconds} s`,
		said: void 0
	};
}
const opened = (label, program, { ended, close }) => ({
	ended: ended.then((how) => `${label} is not recorded any more: ${sentence(program, how)}.`),
	close
});
/** Only the program is named: an argument may be a password. */
const sentence = (program, { how, said }) => [`${shortened(program)} ${how}`, said && `and said "${shortened(said)}"`].filter(Boolean).join(" ");
function labelOf(name, config) {
	switch (config.kind) {
		case "ipmi": return `The console of ${name} (IPMI at ${config.host}:${config.port})`;
		case "conserver": return `The console of ${name} (${config.console} of conserver)`;
		case "command": return `The console of ${name} (by a command)`;
	}
}
async function waysOf(label, config, world) {
	switch (config.kind) {
		case "ipmi": return overLan(label, config, world);
		case "conserver": return spying(config);
		case "command": {
			const [program = "", ...args] = config.command;
			return {
				program,
				args,
				env: {},
				patienceSeconds: 1
			};
		}
	}
}
/** A BMC has one session for it: what somebody has left open is ended first. */
async function overLan(label, config, world) {
	try {
		const password = await readPassword(label, config.passwordPath, world);
		await askBmc({
			label,
			config,
			password,
			order: ["sol", "deactivate"],
			world
		});
		return {
			program: "ipmitool",
			args: [
				...sessionWords(config),
				"sol",
				"activate"
			],
			env: sessionEnvironment(password),
			patienceSeconds: 3,
			farewell: "~."
		};
	} catch (error) {
		if (error instanceof PowerError) throw new ConsoleError(error.message, { cause: error });
		throw error;
	}
}
/** `-s` reads alone, and disturbs nobody who types there; `-k` ends where the server itself has lost the console. */
const spying = ({ console, host, port }) => ({
	program: "console",
	args: [
		...host === void 0 ? [] : ["-M", host],
		...port === void 0 ? [] : ["-p", `${port}`],
		...[
			"-k",
			"-s",
			console
		]
	],
	env: { LC_ALL: "C" },
	opens: /^\[spying\]/m,
	patienceSeconds: 20,
	farewell: "c."
});

// src/console/shown.ts
/** A boot after a panic prints some 100 KB. */
const mostCharacters = 1024 ** 2;
const mostLines = 20;
const mostOfLine = 200;
/**
* Where the machine has come up since by itself (`isUp`), and no panic is there, the lines before that boot are told:
* those of the loader say why.
*/
function lastWords(text, isUp) {
	const lines = linesOf(text);
	const panic = panicIn(lines);
	if (panic !== void 0) {
		const after = lines.slice(panic.line, panic.line + mostLines);
		const boot = after.indexOf(bootLine);
		const shown = boot === -1 ? after : after.slice(0, boot);
		return {
			panic: panic.message,
			console: shown.join("\n")
		};
	}
	const boot = isUp ? lines.lastIndexOf(bootLine) : -1;
	const before = boot > 0 ? lines.slice(0, boot) : lines;
	return before.length === 0 ? {} : { console: before.slice(-20).join("\n") };
}
/** The kernel's first line of every boot. */
const bootLine = "---<<BOOT>>---";
/** Completes "its console …": what it waits at, and how it ends. */
function whatItShows(text) {
	const lines = linesOf(text);
	const last = lines.at(-1);
	if (last === void 0) return "shows nothing";
	const ended = `ends with "${lines.slice(-3).map(shortened).join(" | ")}"`;
	const prompt = prompts.find(({ is }) => is.test(last));
	return prompt === void 0 ? ended : `shows ${prompt.name}, and ${ended}`;
}
/** Prompts of the kernel's debugger, of its search for a root, of init(8), getty(8) and the loaders. */
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
		name: "a login prompt, so its network is to be looked at"
	}
];
function panicIn(lines) {
	for (const pattern of panics) for (const [line, text] of lines.entries()) {
		const message = pattern.exec(text)?.[1];
		if (message !== void 0) return {
			line,
			message
		};
	}
}
/**
* The kernel knows nothing of the line it begins on: before it may stand a prompt or what rc(8) was about to say. What
* savecore(8) says of a panic before, "reboot after panic: …", is none. The others stand in where the message is lost.
*/
const panics = [
	/(?:^|[:.>#$%\]] ?)panic: (\S.*)$/,
	/^(Fatal (?:trap \d+: |double fault).*)$/,
	/^(KDB: enter: panic)$/,
	/^(?:\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? )?(BUG: (?!sleeping function|scheduling while)\S.*)$/,
	/^(?:\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? )?((?:Oops|general protection fault|kernel BUG at)\b.*)$/,
	/^(?:\[ *\d+\.\d+\](?:\[ *[TC]\d+\])? )?Kernel panic - not syncing: (\S.*)$/
];
/** Those that are not empty, each as it may be told. */
function linesOf(text) {
	return text.slice(-mostCharacters).split(/[\r\n]+/).map((line) => plainLine(line.replace(/[^\b][\b]/g, ""), mostOfLine)).filter(Boolean);
}

// src/console/recorder.ts
/** A console at 115200 baud prints so much in half an hour. */
const mostBytes = 16 * 1024 ** 2;
/** `name` is what people call the machine. */
function recordConsole(name, open) {
	const tape = tapeOf(mostBytes);
	let console;
	let bootAt;
	let takenAt = 0;
	/** Where the power was cycled since the boot: the first time, and the last. */
	let [endAt, shownFrom] = [void 0, 0];
	const troubles = /* @__PURE__ */ new Set();
	const told = /* @__PURE__ */ new Set();
	const trouble = (sentence) => void (told.has(sentence) || troubles.add(sentence));
	const reopen = async () => {
		if (console !== void 0) return;
		try {
			const opened = await open(tape.write);
			console = opened;
			opened.ended.then((sentence) => {
				if (console !== opened) return;
				console = void 0;
				trouble(sentence);
			});
		} catch (error) {
			if (!(error instanceof ConsoleError)) throw error;
			trouble(error.message);
		}
	};
	const close = async () => {
		const opened = console;
		console = void 0;
		await opened?.close();
	};
	return {
		open: reopen,
		async beginBoot() {
			if (console !== void 0 && tape.length() === bootAt) {
				trouble(`The console of ${name} showed nothing of a whole boot; look at it with "ppsgate testbeds check".`);
				await close();
			}
			await reopen();
			bootAt = tape.length();
			shownFrom = bootAt;
			endAt = void 0;
		},
		endBoot() {
			endAt ??= tape.length();
			shownFrom = tape.length();
		},
		lastWords: () => lastWords(tape.read(bootAt ?? 0, endAt).toString(), endAt === void 0),
		shows: () => console === void 0 ? void 0 : whatItShows(tape.read(shownFrom).toString()),
		takeLog() {
			const log = tape.read(takenAt);
			takenAt = tape.length();
			return log;
		},
		takeTroubles() {
			const sentences = [...troubles];
			for (const sentence of sentences) told.add(sentence);
			troubles.clear();
			return sentences;
		},
		close
	};
}
/** The newest of what was written, by its place in all of it. */
function tapeOf(size) {
	let ring = Buffer.alloc(0);
	let length = 0;
	return {
		length: () => length,
		write(chunk) {
			if (ring.length === 0) ring = Buffer.alloc(size);
			const kept = chunk.subarray(-size);
			length += chunk.length;
			const start = (length - kept.length) % size;
			const written = kept.copy(ring, start);
			kept.copy(ring, 0, written);
		},
		read(from, to = length) {
			const first = Math.max(from, length - size);
			if (first >= to) return Buffer.alloc(0);
			const [start, end] = [first % size, first % size + (to - first)];
			return Buffer.concat([ring.subarray(start, end), ring.subarray(0, Math.max(0, end - size))]);
		}
	};
}

export { ConsoleError, lastWords, openConsole, realConsoleWorld, recordConsole, whatItShows };