import { plainLine, shortened } from "../../model/first-plain.js";

// src/lab/console/console-text.ts
/** A boot after a panic prints about 100 KB. */
const maxCharacters = 1024 ** 2;
const maxLines = 20;
const maxLineCharacters = 200;
/** Without a panic, returns the lines before the next boot if the machine came up without a power cycle (`isUp`). */
function lastWords(text, isUp) {
	const { lines, unread } = readLines(text);
	const panic = panicIn(lines);
	if (panic !== void 0) {
		const after = lines.slice(panic.line, panic.line + maxLines);
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
	if (last === void 0) return "shows no output";
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
		name: "the loader's prompt, as without a kernel"
	},
	{
		is: /^boot:$/,
		name: "the prompt of boot2, as without a loader"
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
	const cut = text.length - maxCharacters;
	const start = cut > 0 ? text.indexOf("\n", cut) + 1 || cut : 0;
	const unread = text.slice(0, start).match(/[^\r\n]+/g)?.length ?? 0;
	return {
		lines: text.slice(start).split(/[\r\n]+/).map(asShown).filter(Boolean),
		unread
	};
}
const asShown = (line) => plainLine(line.replace(/[^\b][\b]/g, ""), maxLineCharacters);

// src/lab/console/console-tape.ts
/** Size limit of a stored panic, from its first line on. */
const maxPanicBytes = 16384;
/** Longest beginning of a line that is searched. */
const maxLineBytes = 4096;
/** Limits the work per write on lines that only contain words of a panic. */
const maxSearchedLines = 64;
/** A boot after a panic prints about 100 KB. */
const maxTextBytes = 1024 ** 2;
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
		const newest = Math.max(from, to - maxTextBytes, this.#length - this.#size);
		if (panic === void 0 || panic.at < from || panic.at >= newest) return this.read(newest, to).toString();
		const rest = Math.max(newest + maxPanicBytes + 1, panic.at + panic.text.length);
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
			if (text.length < maxPanicBytes) this.#panic = {
				at,
				text: (text + piece).slice(0, maxPanicBytes)
			};
			return;
		}
		const { at, text: begun } = this.#line;
		const text = begun + piece;
		const offsetOf = (index) => index === 0 ? at : this.#length + index - begun.length;
		const found = panicAt(text);
		if (found !== void 0) this.#panic = {
			at: offsetOf(found),
			text: text.slice(found, found + maxPanicBytes)
		};
		const last = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
		this.#line = {
			at: offsetOf(last),
			text: text.slice(last, last + maxLineBytes)
		};
	}
};
/** Index of the first line that shows a panic. */
function panicAt(text) {
	if (!panicWords.test(text)) return void 0;
	let searched = 0;
	for (const { index, 0: line } of text.matchAll(/[^\r\n]+/g)) {
		const start = line.slice(0, maxLineBytes);
		if (!panicWords.test(start)) continue;
		if (showsPanic(start)) return index;
		searched += 1;
		if (searched === maxSearchedLines) return void 0;
	}
}
/** Each panic has one of these words, which are cheap to find in a flood. */
const panicWords = /panic|Fatal |BUG: |Oops|general protection fault|kernel BUG at/;

export { ConsoleTape, describeScreen, lastWords };