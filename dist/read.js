import { n as samplesOf, t as ProfileError } from "./profile-error.js";

// src/profile/idle.ts
/**
* What a processor runs in while it waits for work, on FreeBSD (kern/sched_ule.c, sched_4bsd.c and each machine's
* cpu_idle) and on Linux (kernel/sched/idle.c, drivers/cpuidle and each machine's arch_cpu_idle).
*/
const idleLoops = /* @__PURE__ */ new Set([
	"sched_idletd",
	"cpu_idle",
	"cpu_idle_acpi",
	"cpu_idle_hlt",
	"cpu_idle_mwait",
	"cpu_idle_spin",
	"cpu_idle_default",
	"cpu_idle_60x",
	"cpu_idle_booke",
	"cpu_idle_e500mc",
	"cpu_idle_powerx",
	"cpu_idle_power9",
	"powernv_cpu_idle",
	"phyp_cpu_idle",
	"ps3_cpu_idle",
	"cpu_idleclock",
	"cpu_activeclock",
	"acpi_cpu_idle",
	"acpi_cpu_idle_mwait",
	"acpi_cpu_c1",
	"do_idle",
	"cpu_idle_loop",
	"cpu_idle_poll",
	"cpu_startup_entry",
	"cpuidle_idle_call",
	"call_cpuidle",
	"cpuidle_enter",
	"cpuidle_enter_state",
	"cpuidle_enter_s2idle",
	"arch_cpu_idle",
	"default_idle",
	"default_idle_call",
	"default_enter_idle",
	"poll_idle",
	"mwait_idle",
	"amd_e400_idle",
	"intel_idle",
	"intel_idle_ibrs",
	"intel_idle_irq",
	"intel_idle_xstate",
	"intel_idle_hlt",
	"intel_idle_s2idle",
	"acpi_idle_enter",
	"acpi_idle_enter_bm",
	"acpi_idle_enter_s2idle",
	"acpi_idle_enter_simple",
	"acpi_idle_do_entry",
	"acpi_safe_halt",
	"cpu_do_idle",
	"arm_cpuidle_suspend",
	"psci_enter_idle_state",
	"psci_cpu_suspend_enter",
	"sbi_cpuidle_enter_state",
	"snooze_loop",
	"shared_cede_loop",
	"dedicated_cede_loop",
	"nap_loop",
	"stop_loop"
]);
/** What stops a processor until an interrupt; a virtual one also waits for a lock so, which is no idling. */
const halts = /* @__PURE__ */ new Set([
	"safe_halt",
	"native_halt",
	"native_safe_halt",
	"pv_native_safe_halt",
	"xen_safe_halt",
	"xen_hypercall_sched_op",
	"tdx_safe_halt",
	"mwait_idle_with_hints"
]);
/**
* The profile without its idle stacks, how many samples those have, and which frames told, as they were met. A stack is
* idle where the function that was sampled is an idle loop, or halts for one: whatever else stands above an idle loop is
* an interrupt that was taken while idle, and its work.
*/
function withoutIdle(profile) {
	const kindOf = kinds$1();
	const isIdle = ({ frames }) => idles(frames, kindOf);
	const idle = profile.stacks.filter(isIdle);
	const told = idle.flatMap(({ frames }) => frames.filter((frame) => kindOf(frame) !== "other"));
	return {
		profile: {
			...profile,
			stacks: profile.stacks.filter((stack) => !isIdle(stack))
		},
		idleSamples: samplesOf(idle),
		idleFrames: [...new Set(told.map(({ name }) => bareName(name)))]
	};
}
function idles(frames, kindOf) {
	const halting = frames.findLastIndex((frame) => kindOf(frame) !== "halt");
	const caller = frames[halting];
	if (caller === void 0 || kindOf(caller) === "loop") return true;
	return halting === 0 && frames.length > 1 && /^swapper(\/\d+)?$/.test(caller.name);
}
function kinds$1() {
	const known = /* @__PURE__ */ new Map();
	return (frame) => {
		const kind = known.get(frame) ?? kindOfName(bareName(frame.name));
		known.set(frame, kind);
		return kind;
	};
}
function kindOfName(name) {
	if (idleLoops.has(name)) return "loop";
	return halts.has(name) ? "halt" : "other";
}
/** Without what compilers (`.constprop.0`), collapsers (`_[k]`) and --modules (``kernel` ``) add to it. */
const bareName = (name) => name.replace(/^.*`/, "").replace(/_\[[a-z]\]$/, "").replace(/\.(?:constprop|isra|part|cold|lto_priv|llvm)\..*$/s, "");

// src/profile/parser.ts
/**
* For files that somebody names at a shell. 100 MB of a kernel's call graph have thousands of functions and some ten
* million frames; these bounds are where a process of 4 GB comes to its end.
*/
const ownBounds = {
	depth: 16384,
	functions: 2e6,
	frames: 6e7
};
/**
* For what a machine with a stranger's kernel says, or a stranger's artifact. hwpmc(4) is told to keep 100 frames of a
* stack, and Linux keeps 127; published profiles of forwarding have less than 2,000 functions, 100,000 frames and 2 MB
* as folded text. All of this is drawn in a few seconds.
*/
const foreignBounds = {
	depth: 1024,
	functions: 1e5,
	frames: 2e6,
	characters: 64 * 1024 ** 2
};
/** Answers one and the same object for the same name and module; throws a ProfileError for too many. */
function frameTable(file, bounds) {
	const byModule = /* @__PURE__ */ new Map();
	let functions = 0;
	return (name, module) => {
		const byName = byModule.get(module) ?? /* @__PURE__ */ new Map();
		const known = byName.get(name);
		if (known !== void 0) return known;
		functions += 1;
		if (functions > bounds.functions) throw tooMuch(file, bounds.functions, "different functions");
		const frame = module === void 0 ? { name } : {
			name,
			module
		};
		byModule.set(module, byName.set(name, frame));
		return frame;
	};
}
/** Gathers the stacks of one profile; throws a ProfileError where they come to more than the bounds. */
function stackList(file, bounds) {
	const all = [];
	let frames = 0;
	return {
		all,
		add(stack) {
			checkDepth(stack.frames.length, file, bounds);
			frames += stack.frames.length;
			if (frames > bounds.frames) throw tooMuch(file, bounds.frames, "frames in all its stacks");
			all.push(stack);
		}
	};
}
/** A call graph of pmcstat names a function once for any number of stacks. */
function checkCharacters(stacks, file, bounds) {
	const { characters: most } = bounds;
	if (most === void 0) return;
	let characters = 0;
	for (const { frames } of stacks) for (const { name, module = "" } of frames) characters += name.length + module.length + 2;
	if (characters > most) throw tooMuch(file, most, "characters in the names of all its stacks");
}
/** As soon as it is known: a stack need not be built to be refused. */
function checkDepth(depth, file, bounds) {
	if (depth > bounds.depth) throw tooMuch(file, bounds.depth, "frames in one stack");
}
const tooMuch = (file, most, what) => new ProfileError(`${file} has more than ${grouping.format(most)} ${what}, and at most so many are read; profile for a shorter time.`);
const grouping = new Intl.NumberFormat("en-US");
/** A stack of the deepest kind that is read, with long names, is some hundred thousand. */
const longestLineBytes = 1024 ** 2;
/** Throws a ProfileError for a line that no profile has. */
function checkLine(bytes, file) {
	if (bytes <= longestLineBytes) return;
	throw new ProfileError(`${file} has a line of more than ${grouping.format(longestLineBytes)} bytes, which no profile has; give what pmcstat -G or perf script printed.`);
}
/** Each of its own memory: a slice of a larger text would keep all of it. */
function* linesOf(bytes, file) {
	for (let start = 0; start < bytes.length;) {
		const end = bytes.indexOf("\n", start);
		checkLine(end - start, file);
		yield bytes.toString("utf8", start, end);
		start = end + 1;
	}
}
const isBlank = (line) => line.trim() === "";
const isComment = (line) => /^#(?:\s|$)/.test(line);
/** Of a line `# kernel: TEXT`, as ppsgate writes it at the head of the profiles that it keeps, or perf's `# os release`. */
function kernelIn(comment) {
	const text = /^# (?:kernel|os release)\s*:\s*(\S.*)/s.exec(comment)?.[1];
	return text && oneLine(text);
}
const oneLine = (text) => text.replace(/[\s\p{Cc}]+/gu, " ").trim();
/** Whole and exact, or refused. */
function sampleCount(digits, place) {
	const count = Number(digits);
	if (Number.isSafeInteger(count)) return count;
	throw new ProfileError(`${place}: ${digits.slice(0, 40)} samples are more than can be counted exactly; profile for a shorter time.`);
}
const cutNote = (name, how) => `${name} looks cut short, ${how}: what there is of it is read.`;
const lastLineCut = "its last line has no end";
/** The events of a file as one text, and a note where there are several. */
function eventsOf(events, name) {
	const event = oneLine([...events].join(", "));
	return {
		about: event === "" ? {} : { event },
		notes: events.size > 1 ? [`${name} counts several events (${event}), here added up.`] : []
	};
}

// src/profile/folded.ts
/** The last space parts a stack from its count, so that names may have spaces; `# ` begins a comment. */
const isFoldedLine = (line) => (partsOf(line)?.frames ?? "").trim() !== "";
/** Undefined where no count ends the line. From its end: a pattern that may begin anywhere tries that at every letter. */
function partsOf(line) {
	const text = line.trimEnd();
	let start = text.length;
	while (isDigit(text.charCodeAt(start - 1))) start -= 1;
	return start < text.length && /[ \t]/.test(text.charAt(start - 1)) ? {
		frames: text.slice(0, start - 1),
		count: text.slice(start)
	} : void 0;
}
const isDigit = (code) => code >= 48 && code <= 57;
/**
* Every line is a stack, blank ones and comments aside. A frame may have its module before it as DTrace writes it,
* if_cxgbe.ko`t4_eth_rx; names stay as they are, annotations like `_[k]` with them.
*
* @throws ProfileError for another line, for a count that is not whole, or too large.
*/
function foldedParser(name, bounds) {
	const frameOf = frameTable(name, bounds);
	const stacks = stackList(name, bounds);
	let kernel;
	let lines = 0;
	function framed(label) {
		const [, module, own] = /^([^`\s]+)`(.+)$/s.exec(label) ?? [];
		return own === void 0 ? frameOf(label) : frameOf(own, module);
	}
	function takeLine(line) {
		lines += 1;
		if (isBlank(line)) return;
		if (isComment(line)) {
			if (stacks.all.length === 0) kernel ??= kernelIn(line);
			return;
		}
		const place = `${name}, line ${lines}`;
		const { frames, count } = partsOf(line) ?? refuse(line, place);
		stacks.add({
			frames: frames.split(";").map(framed),
			samples: sampleCount(count, place)
		});
	}
	return {
		take(bytes) {
			for (const line of linesOf(bytes, name)) takeLine(line);
		},
		end(unfinished) {
			const rest = unfinished?.toString() ?? "";
			if (isFoldedLine(rest)) takeLine(rest);
			return {
				profile: {
					format: "folded",
					...kernel !== void 0 && { kernel },
					stacks: stacks.all
				},
				notes: unfinished === void 0 ? [] : [cutNote(name, lastLineCut)]
			};
		}
	};
}
function refuse(line, place) {
	const fraction = /[ \t](\d*\.\d+)$/.exec(line.trimEnd())?.[1];
	throw new ProfileError(fraction === void 0 ? `${place}: this is no folded stack like "main;read 12", unlike what is above it; remove it, or fold the profile again.` : `${place}: ${fraction} is no whole number of samples; fold with samples rather than with shares or seconds.`);
}

// src/profile/perf-script.ts
/** Nothing else looks like a sample's head line, a frame with its address, or perf's own comments. */
const isPerfScriptLine = (line) => isComment(line) ? /^# (?:perf version|captured on)\b/.test(line) : headIn(line)?.isSure === true || isFrameOfModule(line) || /^\t[ \da-f]{16} \S/.test(line);
const isFrameOfModule = (line) => line.endsWith(")") && /^\s+[\da-f]+ \S.* \(./.test(line.slice(0, -1));
/**
* One stack for each set of equal ones, each with the command's name as its outermost frame, where perf tells it; a
* sample counts as one, whatever its period. Offsets into functions are dropped; lines of no known shape (sources,
* branches) are passed over.
*
* @throws ProfileError where there is no sample.
*/
function perfScriptParser(name, bounds) {
	const frameOf = frameTable(name, bounds);
	const stacks = stackTable(name, bounds);
	const events = /* @__PURE__ */ new Set();
	let kernel;
	/** Its frames in perf's order. */
	let sample;
	function takeLine(line) {
		if (isBlank(line)) endSample();
		else if (isComment(line)) takeComment(line);
		else takeWords(line);
	}
	function takeWords(line) {
		const head = line.startsWith("	") ? void 0 : headIn(line);
		if (head?.isSure === true) takeHead(head);
		else if (/^\s/.test(line)) takeFrame(line);
		else if (head !== void 0 && sample === void 0) takeHead(head);
	}
	function takeComment(line) {
		if (stacks.all.length === 0) kernel ??= kernelIn(line);
	}
	function takeHead(head) {
		endSample();
		sample = {
			head,
			frames: frameIn(head.rest, frameOf)
		};
	}
	function takeFrame(line) {
		sample ??= { frames: [] };
		sample.frames.push(...frameIn(line, frameOf));
		checkDepth(sample.frames.length, name, bounds);
	}
	function endSample() {
		const { head, frames = [] } = sample ?? {};
		sample = void 0;
		if (frames.length === 0 && head?.isSure !== true) return;
		if (head?.event !== void 0) events.add(head.event);
		stacks.add(head === void 0 ? frames : [...frames, frameOf(head.command)]);
	}
	return {
		take(bytes) {
			for (const line of linesOf(bytes, name)) takeLine(line);
		},
		end(unfinished) {
			const rest = unfinished?.toString().trimEnd() ?? "";
			if (/^\s/.test(rest)) takeLine(rest);
			endSample();
			if (stacks.all.length === 0) throw new ProfileError(`${name} is of perf but holds no sample; record again, for longer, and print it with perf script.`);
			const { about, notes } = eventsOf(events, name);
			return {
				profile: {
					format: "perf",
					...about,
					...kernel !== void 0 && { kernel },
					stacks: stacks.all
				},
				notes: unfinished === void 0 ? notes : [...notes, cutNote(name, lastLineCut)]
			};
		}
	};
}
/**
* `COMMAND PID[/TID] [CPU] TIME: PERIOD EVENT:`, of which perf's -F leaves out what it is told to, but never the order.
* Commands may have spaces and numbers of their own.
*/
function headIn(line) {
	const text = line.trimEnd();
	const withPid = numbered.exec(text);
	const found = withPid ?? unnumbered.exec(text);
	if (found === null || / PERF_RECORD_/.test(line)) return void 0;
	const [, command = "", cpu, time, event, rest = ""] = found;
	return {
		command,
		rest,
		isSure: (cpu ?? time) !== void 0 || withPid !== null && event !== void 0,
		...event !== void 0 && { event }
	};
}
const blanks = String.raw`\s{1,64}`;
const number = String.raw`\d{1,20}`;
const command = String.raw`^\s*(\S.{0,63}?)`;
const [pid, cpu, time, period] = [
	`${blanks}-?${number}(?:/-?${number})?`,
	String.raw`(?:${blanks}\[(${number})\])?`,
	String.raw`(?:${blanks}(${number}\.${number}):)?`,
	`(?:${blanks}${number})?`
];
const event = String.raw`(?:${blanks}(\S{1,512}):(\s.*)?)?$`;
const numbered = new RegExp(`${command}${pid}${cpu}${time}${period}${event}`);
const unnumbered = new RegExp(`${command}${cpu}${time}${period}${event}`);
/** `ADDRESS NAME+0xOFFSET (MODULE)`; none where a line is something else. */
function frameIn(line, frameOf) {
	const text = /^\s+[0-9a-f]+\s+(\S.*)$/.exec(line.trimEnd())?.[1];
	if (text === void 0) return [];
	const [symbol, module] = modulePart(text);
	return [frameOf(symbol.replace(offset, ""), module?.replace(offset, ""))];
}
const offset = /\+0x[0-9a-f]+$/;
/** Names of C++ have parentheses too, but none before which there is a space and which ends the line. */
function modulePart(text) {
	if (!text.endsWith(")")) return [text];
	const end = text.endsWith(" (deleted))") ? text.length - 11 : text.length;
	const start = text.lastIndexOf(" (", end - 1);
	if (start < 1) return [text];
	const module = text.slice(start + 2, -1);
	return module === "inlined" ? [text.slice(0, start)] : [text.slice(0, start), module];
}
/** Of stacks with the same frames the samples are added up, in the order of the first of them. */
function stackTable(name, bounds) {
	const numbers = /* @__PURE__ */ new Map();
	const known = /* @__PURE__ */ new Map();
	const stacks = stackList(name, bounds);
	function numberOf(frame) {
		const number = numbers.get(frame) ?? numbers.size;
		if (number === numbers.size) numbers.set(frame, number);
		return number;
	}
	return {
		all: stacks.all,
		add(innermostFirst) {
			const key = innermostFirst.map(numberOf).join(" ");
			const stack = known.get(key) ?? {
				frames: innermostFirst.toReversed(),
				samples: 0
			};
			if (stack.samples === 0) {
				known.set(key, stack);
				stacks.add(stack);
			}
			stack.samples += 1;
		}
	};
}

// src/profile/pmcstat-graph.ts
/**
* One stack for each line without callers, with the samples of that line, as stackcollapse-pmc.pl folds them; lines
* that are no samples are passed over, as it does. pmcstat names a module where it differs from the line before.
*
* @throws ProfileError where no line is a sample, or a number is too large.
*/
function pmcstatGraphParser(name, bounds) {
	const frames = frameCache(name, bounds);
	const moduleIn = moduleCache();
	const nameless = { name: "" };
	const stacks = stackList(name, bounds);
	const events = /* @__PURE__ */ new Set();
	/** From the function that was sampled to the caller in the line read last, by indent. */
	const branch = [];
	let depth = -1;
	let samples = 0;
	let module;
	let kernel;
	let lines = 0;
	let announced = 0;
	let held = 0;
	const place = () => `${name}, line ${lines}`;
	const endBranch = () => stacks.add({
		frames: branch.slice(0, depth + 1).reverse(),
		samples
	});
	function countIn(bytes, start, end) {
		if (end - start > exactDigits) return sampleCount(bytes.toString("latin1", start, end), place());
		let count = 0;
		for (let at = start; at < end; at += 1) count = count * 10 + (bytes[at] ?? 0) - zero;
		return count;
	}
	function takeSample(bytes, line, lineEnd) {
		const { countStart, countEnd, nameStart, nameEnd } = line;
		if (line.depth <= depth) endBranch();
		depth = line.depth;
		if (depth === 0) module = void 0;
		if (nameEnd < lineEnd) module = moduleIn(bytes.toString("utf8", nameEnd, lineEnd)) ?? module;
		checkDepth(depth + 1, name, bounds);
		while (branch.length < depth) branch.push(nameless);
		branch[depth] = frames(bytes, nameStart, nameEnd, module);
		samples = countIn(bytes, countStart, countEnd);
		if (depth === 0) held += samples;
	}
	function takeOther(text) {
		const [, event, count] = /^@ (\S.*) \[(\d+) samples\]/.exec(text) ?? [];
		if (event !== void 0 && count !== void 0) {
			events.add(event);
			announced += sampleCount(count, place());
		}
		if (depth === -1) kernel ??= kernelIn(text);
	}
	function take(bytes) {
		for (let start = 0; start < bytes.length;) {
			lines += 1;
			const line = sampleAt(bytes, start);
			const end = lineEndAfter(bytes, line?.nameEnd ?? start);
			checkLine(end - start, name);
			if (line !== void 0) takeSample(bytes, line, end);
			else if (isNotice(bytes[start])) takeOther(bytes.toString("utf8", start, end));
			start = end + 1;
		}
	}
	return {
		take,
		end(unfinished) {
			if (unfinished !== void 0) take(unfinished);
			if (depth === -1) throw new ProfileError(`${name} is a call graph of pmcstat without a sample in it; profile again, for longer and while there is traffic.`);
			endBranch();
			const { about, notes } = eventsOf(events, name);
			const how = announced > held ? `with ${held} of the ${announced} samples that it announces` : unfinished && "its last line has no end";
			return {
				profile: {
					format: "pmcstat",
					...about,
					...kernel !== void 0 && { kernel },
					stacks: stacks.all
				},
				notes: [...notes, ...how === void 0 ? [] : [cutNote(name, how)]]
			};
		}
	};
}
/** `INDENT SHARE%  [SAMPLES]   NAME`: shares and names are whatever stands there, but in this order. */
function sampleAt(bytes, start) {
	const indentEnd = skipSpaces(bytes, start);
	const shareEnd = skip(bytes, indentEnd, share);
	if (shareEnd === indentEnd) return void 0;
	if (!startsCount(bytes, shareEnd)) return void 0;
	const countStart = shareEnd + 4;
	const countEnd = skip(bytes, countStart, digit);
	if (countEnd === countStart || bytes[countEnd] !== closingBracket) return void 0;
	const nameStart = skip(bytes, skipSpaces(bytes, countEnd + 1), blank);
	const nameEnd = skip(bytes, nameStart, inName);
	if (nameEnd === nameStart) return void 0;
	return {
		depth: indentEnd - start,
		countStart,
		countEnd,
		nameStart,
		nameEnd
	};
}
const startsCount = (bytes, at) => bytes[at] === percent && bytes[at + 1] === space && bytes[at + 2] === space && bytes[at + 3] === openingBracket;
const percent = 37;
const space = 32;
const openingBracket = 91;
const closingBracket = 93;
const newline = 10;
const zero = 48;
/** So many always fit a number. */
const exactDigits = 15;
const [digit, share, blank, inName] = [
	1,
	2,
	4,
	8
];
/** What a byte can be part of; a line's end is part of nothing, so that no scan leaves its line. */
const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
	const character = String.fromCharCode(byte);
	const isSpacing = /[ \t\n\v\f\r]/.test(character);
	return (/\d/.test(character) ? digit : 0) | (/[\d.]/.test(character) ? share : 0) | (isSpacing && byte !== newline ? blank : 0) | (isSpacing ? 0 : inName);
});
function skipSpaces(bytes, from) {
	let at = from;
	while (bytes[at] === space) at += 1;
	return at;
}
function skip(bytes, from, kind) {
	let at = from;
	while (((kinds[bytes[at] ?? newline] ?? 0) & kind) !== 0) at += 1;
	return at;
}
const lineEndAfter = (bytes, at) => bytes[at] === newline ? at : bytes.indexOf(newline, at);
/** A line that tells of the samples below it: `@ EVENT [N samples]`, or a comment. */
const isNotice = (byte) => byte === 64 || byte === 35;
/** Of what stands behind a name; one and the same text for the same module, which is quickly compared. */
function moduleCache() {
	const known = /* @__PURE__ */ new Map();
	return (afterName) => {
		if (known.has(afterName)) return known.get(afterName);
		const module = / @ (.*\S)/.exec(afterName)?.[1];
		known.set(afterName, module);
		return module;
	};
}
/**
* Finds the frame of a name's bytes without making a text of them where they were met before: each slot of the table
* remembers the name met last whose bytes add up to it.
*/
function frameCache(name, bounds) {
	const frameOf = frameTable(name, bounds);
	const slots = Array.from({ length: 4096 });
	return (bytes, start, end, module) => {
		const slot = hashOf(bytes, start, end) & slots.length - 1;
		const met = slots[slot];
		if (met !== void 0 && met.module === module && isSame(met.bytes, bytes, start, end)) return met.frame;
		const frame = frameOf(bytes.toString("utf8", start, end), module);
		slots[slot] = {
			bytes: Uint8Array.from(bytes.subarray(start, end)),
			module,
			frame
		};
		return frame;
	};
}
function hashOf(bytes, start, end) {
	let hash = 0;
	for (let at = start; at < end; at += 1) hash = Math.imul(hash, 31) + (bytes[at] ?? 0) | 0;
	return hash ^ hash >>> 12;
}
function isSame(known, bytes, start, end) {
	if (known.length !== end - start) return false;
	for (let at = 0; at < known.length; at += 1) if (known[at] !== bytes[start + at]) return false;
	return true;
}

// src/profile/read.ts
/**
* Reads a file's bytes in pieces of any size; `name` is what errors and notes call it.
*
* @throws ProfileError where they are no profile, or one that cannot be counted.
*/
async function readProfile(pieces, name) {
	const reading = startReading(name, ownBounds);
	for await (const piece of pieces) reading.take(piece);
	return reading.end();
}
/** @throws ProfileError as readProfile does. */
function parseProfile(text, name = "the profile", bounds = ownBounds) {
	const reading = startReading(name, bounds);
	reading.take(Buffer.from(text));
	return reading.end().profile;
}
/** By this many bytes it is known what a file is. */
const headBytes = 65536;
function startReading(givenName, bounds) {
	const name = givenName.replace(/\p{Cc}/gu, "?");
	let parser;
	let unread = Buffer.alloc(0);
	/** All of it but a last line that has not ended yet. */
	function takeLines(bytes) {
		parser ??= parserFor(bytes, name, bounds);
		const end = bytes.lastIndexOf("\n") + 1;
		parser.take(bytes.subarray(0, end));
		unread = bytes.subarray(end);
		checkLine(unread.length, name);
	}
	return {
		take(piece) {
			const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length);
			const end = bytes.indexOf("\n") + 1;
			if (parser === void 0 || end === 0) {
				unread = Buffer.concat([unread, bytes]);
				if (unread.length >= headBytes) takeLines(unread);
				return;
			}
			takeLines(Buffer.concat([unread, bytes.subarray(0, end)]));
			takeLines(bytes.subarray(end));
		},
		end() {
			if (unread.length > 0) takeLines(unread);
			const unfinished = unread.length === 0 ? void 0 : Buffer.concat([unread, lineEnd]);
			if (parser === void 0) throw empty(name);
			const read = parser.end(unfinished);
			if (read.profile.stacks.length === 0) throw noProfile(name);
			checkCharacters(read.profile.stacks, name, bounds);
			if (Number.isSafeInteger(samplesOf(read.profile.stacks))) return read;
			throw new ProfileError(`The samples of ${name} add up to more than can be counted exactly; profile for a shorter time.`);
		}
	};
}
const lineEnd = Buffer.from("\n");
function parserFor(head, name, bounds) {
	refuseBinary(head, name);
	const lines = head.toString("utf8", 0, headBytes).split("\n");
	if (lines.every(isBlank)) throw empty(name);
	if (lines.some(isCallGraphLine)) return pmcstatGraphParser(name, bounds);
	if (lines.some(isPerfScriptLine)) return perfScriptParser(name, bounds);
	const first = lines.find((line) => !isBlank(line) && !isComment(line));
	if (first !== void 0 && isFoldedLine(first)) return foldedParser(name, bounds);
	throw noProfile(name);
}
const isCallGraphLine = (line) => /^@ \S.* \[\d+ samples\]/.test(line) || /^ *[\d.]+% {2}\[\d+\]/.test(line);
function refuseBinary(head, name) {
	if (head.subarray(0, 4).equals(Buffer.from("PERF"))) throw new ProfileError(`${name} is a recording of perf; print it with perf script -i ${name} and read that.`);
	const known = compressions.find(({ magic }) => head.subarray(0, magic.length).equals(Buffer.from(magic)));
	if (known !== void 0) throw new ProfileError(`${name} is compressed; unpack it with ${known.program} -dc ${name}.`);
	if (head[3] === 238) throw new ProfileError(`${name} is a raw log of hwpmc; print its call graph with pmcstat -R ${name} -z 100 -G FILE, on FreeBSD, and read FILE.`);
	if (head.subarray(0, headBytes).includes(0)) throw new ProfileError(`${name} is binary and no profile that is known here; ${expectation}.`);
}
const compressions = [
	{
		magic: [31, 139],
		program: "gzip"
	},
	{
		magic: [
			253,
			55,
			122,
			88,
			90
		],
		program: "xz"
	},
	{
		magic: [
			40,
			181,
			47,
			253
		],
		program: "zstd"
	}
];
const expectation = "give what pmcstat -G or perf script printed, or folded stacks like \"main;read 12\"";
const empty = (name) => new ProfileError(`${name} is empty; ${expectation}.`);
const noProfile = (name) => new ProfileError(`${name} is not a profile that is known here; ${expectation}.`);

export { withoutIdle as i, readProfile as n, foreignBounds as r, parseProfile as t };