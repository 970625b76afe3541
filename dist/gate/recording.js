import { version } from "../package.js";
import { UsageError, fileReasonOf, formatShortOrdinal, oneLine, parseJson, reasonOf, shortened } from "../model/first-plain.js";
import { _enum, array, boolean, discriminatedUnion, literal, looseObject, number$1 as number, object, partialRecord, union, unknown } from "../vendor/zod.js";
import { byName, count, document, facts, families, list, name, packetsSchema, path as path$1, seconds, share, total, variant } from "../model/first.js";
import { giveNew } from "../system/give-to-caller.js";
import { commandText } from "../system/shell.js";
import { HostError, hostFailures, stdoutOf } from "../system/host/first-plain.js";
import { fencedDeps } from "../lab/lease/first.js";
import { PowerError } from "../lab/power/first-plain.js";
import { isRecordable } from "./recording/first-plain.js";
import { KernelFilesError, wireAddress } from "../lab/qemu/vm/plain.js";
import { GzipLog, OutputLines, endStream, failureOf, fromVersion1, guestHost, learnFrom, logged, maskFor, maskSummary, recordedGuests, sensitiveTermsOf, thisMachine } from "./recording/plain.js";
import "../lab/power.js";
import { checkFreebsdTestbed, unquoted } from "../lab/check.js";
import { parseArp, parseIfconfig, parseNdp, parseRoutes } from "../lab/freebsd/plain.js";
import { openFreebsdTestbed, parseCpuTimes, parseInterfaceCounters } from "../lab/freebsd.js";
import { ConsoleError } from "../lab/console.js";
import { parsePktGenLog } from "../lab/traffic/plain.js";
import { ConsoleTape } from "../lab/console/plain.js";
import { openVirtualTestbed } from "../lab/qemu.js";
import { portOf } from "../lab/qemu/vm.js";
import { selfTestParts } from "./self-test/plain.js";
import { journalIn, resumeJournal, runSelfTest } from "./self-test.js";
const { basename, join } = globalThis.process.getBuiltinModule("node:path");
const { createReadStream, readFileSync, statSync } = globalThis.process.getBuiltinModule("node:fs");
const { tmpdir } = globalThis.process.getBuiltinModule("node:os");
const { constants: constants$2, gunzipSync } = globalThis.process.getBuiltinModule("node:zlib");
const { createHash } = globalThis.process.getBuiltinModule("node:crypto");
const { mkdtemp, open, rm, stat, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");
const { pipeline } = globalThis.process.getBuiltinModule("node:stream/promises");

// src/gate/recording/recording-entry.ts
const recordingVersion = 2;
const recordingFormat = "ppsgate recording";
const headSchema = object({
	kind: literal("head"),
	format: literal(recordingFormat),
	version: literal([1, 2]),
	ppsgate: name,
	command: document,
	date: name
});
/** Bounds an exit code, or an error of the system. */
const maxExitCode = 2 ** 32;
const at = number().min(-0xe8d4a51000).max(0xe8d4a51000);
const stream = _enum(["stdout", "stderr"]);
const callSchema = discriminatedUnion("what", [
	object({ what: literal("connect") }),
	object({
		what: literal("run"),
		command: document,
		shown: document.optional()
	}),
	object({
		what: literal("upload"),
		path: path$1,
		mode: count,
		bytes: total,
		sha256: name
	}),
	object({
		what: literal("power"),
		order: _enum([
			"open",
			"state",
			"cycle"
		])
	}),
	object({
		what: literal("console"),
		order: _enum(["open", "hear"])
	}),
	object({
		what: literal("sleep"),
		seconds
	}),
	object({
		what: literal("guest"),
		order: _enum([
			"boot",
			"up",
			"kernel",
			"facts",
			"windows",
			"interrupt",
			"reset"
		])
	})
]);
const answer = discriminatedUnion("kind", [
	object({
		kind: literal("exited"),
		code: number().min(-maxExitCode).max(maxExitCode)
	}),
	object({
		kind: literal("signaled"),
		signal: name
	}),
	object({
		kind: literal("done"),
		said: document.optional()
	}),
	object({
		kind: literal("failed"),
		failure: name,
		message: document
	})
]);
/** Times are in seconds since 1970, by the clock of the machine that recorded. */
const entrySchema = discriminatedUnion("kind", [
	object({
		kind: literal("begins"),
		at,
		part: name,
		request: unknown()
	}),
	object({
		kind: literal("tells"),
		at,
		part: name,
		outcome: unknown()
	}),
	object({
		kind: literal("asks"),
		at,
		id: total,
		host: name,
		asked: callSchema
	}),
	object({
		kind: literal("hears"),
		at,
		id: total,
		stream,
		text: document,
		isOfSameTurn: literal(true).exactOptional()
	}),
	object({
		kind: literal("cut"),
		at,
		id: total,
		stream,
		bytes: total,
		sha256: name
	}),
	object({
		kind: literal("ends"),
		at,
		id: total,
		answer
	})
]);

// src/gate/recording/recorder.ts
/**
* Begins a recording; throws a UsageError if the file exists or cannot be written. Each entry is written before anything
* else happens, so that a killed process leaves all of them.
*/
function startRecording(path, options) {
	const { command, ppsgate, now, report } = options;
	const file = new RecordingFile(logAt(path), options);
	file.append({
		kind: "head",
		format: recordingFormat,
		version: 2,
		ppsgate,
		command,
		date: (/* @__PURE__ */ new Date(now() * 1e3)).toISOString()
	});
	return {
		deps: (deps) => recordedDeps(deps, file),
		guests: (lab) => recordedGuests(lab, file),
		begin: (part, request) => file.append({
			kind: "begins",
			at: now(),
			part,
			request
		}),
		log: (part, outcome) => file.append({
			kind: "tells",
			at: now(),
			part,
			outcome
		}),
		[Symbol.dispose]() {
			file.close();
			report(maskSummary(path, file.mask.counts()));
		}
	};
}
function logAt(path) {
	try {
		return new GzipLog(path);
	} catch (error) {
		throw new UsageError(`--record: ${path} cannot be written (${reasonOf(error)}); name a file that does not exist yet.`);
	}
}
/** Limit of a whole recording, before compression: it ends there. */
const maxBytes$2 = 192 * 1024 ** 2;
var RecordingFile = class {
	#log;
	mask;
	now;
	#bytes = 0;
	#isOver = false;
	#lastId = 0;
	#learnt = /* @__PURE__ */ new Set();
	/** True from some output until the next microtask: promises have not continued since. */
	#isInTurn = false;
	constructor(log, { sensitive, now }) {
		this.#log = log;
		this.mask = maskFor(sensitive);
		this.now = now;
	}
	append(entry) {
		const line = `${JSON.stringify(masked(entry, this.mask))}\n`;
		this.#bytes += line.length;
		if (this.#isOver || this.#bytes > maxBytes$2) return;
		try {
			this.#log.append(line);
		} catch (error) {
			this.#isOver = true;
			process.stderr.write(`warning: the recording ends here: ${reasonOf(error)}\n`);
		}
	}
	close() {
		this.#isOver = true;
		this.#log.close();
	}
	/** Masks the machine's own names, serial numbers and secrets from here on; queries each machine once. */
	async learn(host, label) {
		if (this.#learnt.has(label)) return;
		this.#learnt.add(label);
		this.mask.learn(await learnFrom(host));
	}
	request(host, call) {
		this.#lastId += 1;
		const id = this.#lastId;
		this.append({
			kind: "asks",
			at: this.now(),
			id,
			host,
			asked: call
		});
		const common = () => ({
			at: this.now(),
			id
		});
		return {
			output: (stream, text) => this.append({
				kind: "hears",
				...common(),
				stream,
				text,
				...this.#turn()
			}),
			omit: (stream, omitted) => this.append({
				kind: "cut",
				...common(),
				stream,
				...omitted
			}),
			end: (answer) => this.append({
				kind: "ends",
				...common(),
				answer
			})
		};
	}
	#turn() {
		const isSame = this.#isInTurn;
		this.#isInTurn = true;
		queueMicrotask(() => {
			this.#isInTurn = false;
		});
		return isSame ? { isOfSameTurn: true } : {};
	}
};
function masked(value, mask) {
	if (typeof value === "string") return mask(value);
	if (Array.isArray(value)) return value.map((one) => masked(one, mask));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, one]) => [mask(key), masked(one, mask)]));
}
function recordedDeps(deps, file) {
	return {
		...deps,
		async connect(config, label, options) {
			const log = file.request(label, { what: "connect" });
			const host = await logged(log, () => deps.connect(config, label, options));
			await file.learn(host, label);
			return recordedHost(host, label, file);
		},
		async openPower(name, config) {
			const power = (order, work) => logged(file.request("power", {
				what: "power",
				order
			}), work);
			const opened = await power("open", () => deps.openPower(name, config));
			return {
				state: () => power("state", () => opened.state()),
				cycle: () => power("cycle", () => opened.cycle())
			};
		},
		openConsole: (name, config, onOutput) => recordedConsole(file, onOutput, (receive) => deps.openConsole(name, config, receive)),
		sleep: (seconds) => logged(file.request("clock", {
			what: "sleep",
			seconds
		}), () => deps.sleep(seconds))
	};
}
async function recordedConsole(file, onOutput, open) {
	const log = file.request("console", {
		what: "console",
		order: "hear"
	});
	const lines = new OutputLines();
	let isClosed = false;
	const end = (reason) => {
		if (isClosed) return;
		isClosed = true;
		endStream(log, "stdout", lines);
		log.end({
			kind: "done",
			...reason !== void 0 && { said: reason }
		});
	};
	const receive = (chunk) => {
		const text = lines.add(chunk);
		if (text !== "") log.output("stdout", text);
		onOutput(chunk);
	};
	try {
		const opening = file.request("console", {
			what: "console",
			order: "open"
		});
		const opened = await logged(opening, () => open(receive));
		opened.ended.then(end);
		return {
			...opened,
			async close() {
				await opened.close();
				end();
			}
		};
	} catch (error) {
		end();
		throw error;
	}
}
function recordedHost(host, label, file) {
	const run = async (command, options = {}) => {
		const text = commandText(command);
		const shown = options.shownAs === void 0 ? text : commandText(options.shownAs);
		const log = file.request(label, {
			what: "run",
			command: text,
			...shown !== text && { shown }
		});
		const lines = {
			stdout: new OutputLines(),
			stderr: new OutputLines()
		};
		const receive = (stream, chunk) => {
			const whole = lines[stream].add(chunk);
			if (whole !== "") log.output(stream, whole);
		};
		const end = (outcome) => {
			endStream(log, "stdout", lines.stdout);
			endStream(log, "stderr", lines.stderr);
			log.end(outcome);
		};
		try {
			const outcome = await host.run(command, tapped(options, receive));
			receive("stdout", Buffer.from(outcome.stdout));
			receive("stderr", Buffer.from(outcome.stderr));
			end(outcome.kind === "exited" ? {
				kind: "exited",
				code: outcome.code
			} : {
				kind: "signaled",
				signal: outcome.signal
			});
			return outcome;
		} catch (error) {
			end(failureOf(error));
			throw error;
		}
	};
	return {
		...host,
		run,
		output: async (command, options) => stdoutOf(await run(command, options), host.name, command),
		async upload(source, path, mode, options) {
			const content = await sizeAndSum(source);
			const log = file.request(label, {
				what: "upload",
				path,
				mode,
				...content
			});
			await logged(log, () => host.upload(source, path, mode, options));
		}
	};
}
/** Records the streams that the caller follows as they arrive; the others come with the outcome. */
function tapped(options, receive) {
	const { onStdout, onStderr } = options;
	const tap = (stream, onChunk) => (chunk) => {
		receive(stream, chunk);
		onChunk(chunk);
	};
	return {
		...options,
		...onStdout !== void 0 && { onStdout: tap("stdout", onStdout) },
		...onStderr !== void 0 && { onStderr: tap("stderr", onStderr) }
	};
}
/** Returns zero and no sum for an unreadable file: the upload itself reports it. */
async function sizeAndSum(source) {
	const hash = createHash("sha256");
	if (typeof source !== "string") return {
		bytes: source.byteLength,
		sha256: hash.update(source).digest("hex")
	};
	try {
		await pipeline(createReadStream(source), hash);
		return {
			bytes: (await stat(source)).size,
			sha256: hash.digest("hex")
		};
	} catch {
		return {
			bytes: 0,
			sha256: ""
		};
	}
}

// src/gate/recording/record.ts
/** Masks the secrets of all these testbeds; `command` is like `testbeds check`. Throws a UsageError. */
async function recordTo(path, command, testbeds, now = () => Date.now() / 1e3, report = (summary) => void process.stderr.write(summary)) {
	const some = testbeds.filter((testbed) => isRecorded(testbed, command));
	if (some.length === 0) throw new UsageError(`--record: \`ppsgate ${command}\` records testbeds of ${command === "gate" ? "`kind: freebsd` or `kind: virtual`" : "`kind: freebsd`"} only; leave it out.`);
	const terms = await Promise.all(some.map((testbed) => sensitiveTermsOf(testbed)));
	const recorder = startRecording(path, {
		command,
		now,
		report,
		ppsgate: version,
		sensitive: {
			secrets: terms.flatMap(({ secrets }) => secrets),
			hosts: terms.flatMap(({ hosts }) => hosts),
			users: terms.flatMap(({ users }) => users),
			serials: terms.flatMap(({ serials = [] }) => serials),
			others: new Map(terms.flatMap(({ others }) => [...others ?? []]))
		}
	});
	await giveNew(path);
	return recorder;
}
/** Excludes a check of virtual machines, which makes its own recording. */
const isRecorded = (testbed, command) => isRecordable(testbed) && (testbed.kind === "freebsd" || command === "gate");
/** Removes the credentials of power control and console, which may hold a password. */
const recordable = (request) => {
	const { testbed } = request;
	if (testbed.kind === "virtual") return request;
	const { power, console, ...dut } = testbed.dut;
	const kept = {
		...dut,
		...power !== void 0 && { power: { kind: power.kind } },
		...console !== void 0 && { console: { kind: console.kind } }
	};
	return {
		...request,
		testbed: {
			...testbed,
			dut: kept
		}
	};
};

// src/gate/recording/read-recording.ts
/** Throws a UsageError if the file is no recording that can be read here. */
function readRecording(path) {
	const bytes = unpacked(path);
	const headEnd = endOfLine(bytes, 0);
	const head = headOf(path, textOf$2(path, bytes, 0, headEnd));
	const recording = {
		head,
		requests: [],
		events: [],
		isTorn: bytes.at(-1) !== newline
	};
	const byId = /* @__PURE__ */ new Map();
	let turn = 0;
	let line = 1;
	let parts = 0;
	for (let start = headEnd + 1, end = headEnd; start < bytes.length; start = end + 1) {
		end = endOfLine(bytes, start);
		line += 1;
		if (line > maxLines) throw tooMuch(path, maxLines, "lines");
		if (end === start) continue;
		const { data: entry } = entrySchema.safeParse(entryOf(textOf$2(path, bytes, start, end), head));
		if (entry !== void 0) {
			if (entry.kind !== "hears" || entry.isOfSameTurn === void 0) turn += 1;
			add(recording, byId, entry, {
				at: entry.at,
				line,
				turn
			});
			if (recording.requests.length > maxRequests) throw tooMuch(path, maxRequests, "requests");
			if (entry.kind === "begins") parts += 1;
			if (parts > maxParts) throw tooMuch(path, maxParts, "parts");
		} else if (end < bytes.length) throw new UsageError(`${path} is damaged in line ${line}: record it again, or copy it unchanged.`);
	}
	return recording;
}
/** Exceeds what a recorder writes: its lines have a hundred bytes or more. */
const maxLines = 2e6;
const maxRequests = 2e5;
const maxParts = 1e3;
/** Output comes in pieces of a few lines, of at most a mebibyte each, and six characters escape one. */
const maxLineBytes = 16 * 1024 ** 2;
const newline = 10;
function endOfLine(bytes, start) {
	const end = bytes.indexOf(newline, start);
	return end === -1 ? bytes.length : end;
}
/** Decodes line by line: one text of the whole would be split into as many texts as there are lines. */
function textOf$2(path, bytes, start, end) {
	if (end - start > maxLineBytes) throw tooMuch(path, maxLineBytes, "bytes in a line");
	return bytes.toString("utf8", start, end);
}
const tooMuch = (path, most, what) => new UsageError(`${path} has more than ${most.toLocaleString("en-US")} ${what}, more than any recording: it is not opened.`);
function entryOf(line, { version }) {
	const entry = parseJson(line);
	const isOfPart = typeof entry === "object" && entry !== null && "part" in entry;
	return version === 1 && isOfPart ? fromVersion1(entry) : entry;
}
/** Exceeds what a recorder writes. */
const maxBytes$1 = 256 * 1024 ** 2;
/** Unpacks a recording up to its end, where a kill may have truncated it. */
function unpacked(path) {
	let packed;
	try {
		const stats = statSync(path);
		if (!stats.isFile()) throw new Error("it is not a regular file");
		if (stats.size > maxBytes$1) throw tooMuch(path, maxBytes$1, "bytes");
		packed = readFileSync(path);
	} catch (error) {
		if (error instanceof UsageError) throw error;
		throw new UsageError(`The recording ${path} cannot be read (${fileReasonOf(error)}): name a file written by --record.`);
	}
	try {
		return gunzipSync(packed, {
			finishFlush: constants$2.Z_SYNC_FLUSH,
			maxOutputLength: maxBytes$1
		});
	} catch (error) {
		throw error instanceof RangeError ? new UsageError(`${path} has more than ${maxBytes$1 / 1024 ** 2} MiB once unpacked, more than any recording: it is not opened.`) : noRecording(path);
	}
}
const noRecording = (path) => new UsageError(`${path} is not a recording: expected a file written by \`--record\`.`);
function headOf(path, line) {
	const written = parseJson(line);
	const { data: head } = headSchema.safeParse(written);
	if (head !== void 0) return head;
	const { format, version } = written ?? {};
	if (format === "ppsgate recording" && typeof version === "number" && version > 2) throw new UsageError(`${path} is from a newer ppsgate (format ${version}; this version reads ${2}): replay it with that version.`);
	throw noRecording(path);
}
function add({ requests, events }, byId, entry, moment) {
	switch (entry.kind) {
		case "begins":
		case "tells": {
			const { kind, part } = entry;
			const value = kind === "begins" ? entry.request : entry.outcome;
			events.push({
				kind,
				part,
				value,
				after: requests.length
			});
			return;
		}
		case "asks": {
			const { host, asked: call, at } = entry;
			const request = {
				number: requests.length + 1,
				host,
				call,
				at,
				output: [],
				cut: /* @__PURE__ */ new Set()
			};
			requests.push(request);
			byId.set(entry.id, request);
			return;
		}
		case "hears":
			byId.get(entry.id)?.output.push({
				...moment,
				stream: entry.stream,
				text: entry.text
			});
			return;
		case "cut":
			byId.get(entry.id)?.cut.add(entry.stream);
			return;
		case "ends": {
			const request = byId.get(entry.id);
			if (request !== void 0) request.ended ??= {
				...moment,
				outcome: entry.answer
			};
			return;
		}
	}
}
const outputOf = ({ output }, stream) => output.filter((chunk) => chunk.stream === stream).map(({ text }) => text).join("");
/** `netstat -rn -f inet` on the DUT, to follow "the recording's 57th question, ". */
function requestText({ host, call }) {
	switch (call.what) {
		case "run": return `\`${unquoted(call.shown ?? call.command)}\` on the ${host}`;
		case "connect": return `the login to the ${host}`;
		case "upload": return `the upload of ${call.path} to the ${host}`;
		case "power": return `the power's ${call.order}`;
		case "console": return call.order === "open" ? "the opening of the console" : "what the console printed";
		case "guest": return `${guestRequests[call.order]} of ${host}`;
		case "sleep": return `a sleep of ${call.seconds} s`;
	}
}
const guestRequests = {
	boot: "the start",
	up: "the boot",
	kernel: "the unpacking of a kernel",
	facts: "the facts",
	windows: "the windows of packets",
	interrupt: "the interrupt",
	reset: "the reset"
};

// src/gate/recording/output-formats.ts
/** Returns a clause for output that the parsers would misread; undefined for good output, or output that is never read. */
function unexpectedOutput(request) {
	const { call, ended, cut } = request;
	if (call.what !== "run" || cut.size > 0) return void 0;
	const command = unquoted(call.shown ?? call.command);
	if (isPktGen.test(command)) return pktGen(request);
	if (!(ended?.outcome.kind === "exited" && ended.outcome.code === 0)) return void 0;
	const text = outputOf(request, "stdout");
	const reader = readers.find(([pattern]) => pattern.test(command));
	if (reader === void 0) return void 0;
	if (text !== "" && !text.endsWith("\n")) return "its output ends in the middle of a line";
	return reader[1](text, command);
}
const isPktGen = /\bpkt-gen -N\b/;
const readers = [
	[/^ifconfig -l$/, (text) => unlessLines(text, /^\w+(?: \w+)*$/, "a list of interfaces")],
	[/^ifconfig (?!lo)[a-z]+\d+$/, ifconfig],
	[/^netstat -rn -f inet6?$/, routes],
	[/^netstat -i -b -n -W$/, counters],
	[/^netstat -s$/, (text) => unlessFound(text, /^ip6?:$\n^\t+\d+ /m, "a protocol and its counters")],
	[/^vmstat -i$/, (text) => unlessFound(text, /^interrupt +total +rate\n(?:.*\d+ +\d+\n)*Total /, "its header and interrupts")],
	[/^arp -an$/, (text) => neighbours(text, parseArp, /./)],
	[/^ndp -an$/, (text) => neighbours(text, parseNdp, /:\S* +\S+ +\S+/)],
	[/^sysctl -n kern\.cp_times$/, (text) => parseCpuTimes(text).length > 0 ? void 0 : no("five ticks for each CPU", text)],
	[/^sysctl -n kern\.vm_guest kern\.clockrate$/, (text) => unlessFound(text, /^\w+\n\{ hz = \d+, .*stathz = \d+ \}$/m, "a guest or none, and its clock")],
	[/^sysctl -n kern\.boottime$/, (text) => unlessLines(text, boottime, "{ sec = …, usec = … } and an English date")],
	[/^sysctl -n vm\.loadavg$/, (text) => unlessLines(text, /^\{ \d+[.,]\d+ \d+[.,]\d+ \d+[.,]\d+ \}$/, "three loads in braces")],
	[/^sh -c 'sysctl -n kern\.cp_time /, (text) => unlessLines(text, /^\d+(?: \d+){4}$/, "five ticks, two times")],
	[/^date \+%s$/, (text) => unlessLines(text, /^\d+$/, "seconds since 1970")],
	[/^kenv -N$/, (text) => unlessLines(text, /^[^\s=]+$/, "names of the environment")],
	[/^uuidgen$/, (text) => unlessLines(text, /^[0-9a-f-]{36}$/i, "a UUID")],
	[/^kldstat$/, (text) => unlessFound(text, /^Id Refs Address +Size +Name$/m, "the header of Id, Refs, Address, Size and Name")],
	[/^gpart show -p \S+$/, (text) => unlessFound(text, /^=>\s+\d+\s+\d+\s+\S+\s+\S+/m, "a disk and its scheme")],
	[/^glabel status -s$/, (text) => unlessLines(text, /^\s*\S+\s+\S+\s+\S+\s*$/, "labels and their providers")],
	[/^sysctl -n kern\.bootfile$/, (text) => unlessLines(text, /^\/\S+$/, "the path of a kernel")],
	[/^sysctl -n kern\.conftxt$/, (text) => text.trim() === "" ? void 0 : unlessFound(text, /^ident\s+\S+$/m, "the line of `ident`")],
	[/^sysctl -n (?:kern\.hostname|hw\.model)$/, (text) => unlessLines(text, /^\S.*$/, "a name")],
	[/^sysctl -n [a-z][\w.]*$/, (text, command) => isNumber(command) ? unlessLines(text, /^-?\d+$/, "a whole number") : void 0],
	[/^sysctl dev\.\S+$/, (text) => unlessLines(text, /^dev\.[\w.%]+: .*$/, "lines of names and values")],
	[/^df -k -T /, fileSystems],
	[/^uname -s -r$/, (text) => unlessLines(text, /^FreeBSD \d+\.\d+-\S+$/, "FreeBSD and its release")],
	[/^uname -r$/, (text) => unlessLines(text, /^\d+\.\d+-\S+$/, "a release")],
	[/^uname -v$/, (text) => unlessLines(text, /^FreeBSD \S+.*$/, "the version of a kernel")],
	[/^uname -p$/, (text) => unlessLines(text, /^\w+$/, "an architecture")],
	[/^sha256 -q /, (text) => unlessLines(text, /^[0-9a-f]{64}$/, "a sum of 64 digits")],
	[/^pciconf -lv$/, (text) => unlessFound(text, /^\w+@pci\d+:\d+:\d+:\d+:\s+class=0x[0-9a-f]{6} /, "cards with their places and classes")],
	[/^pfctl -si$/, (text) => unlessFound(text, /^Status: (?:Enabled|Disabled)\b[\s\S]*^[ \t]+inserts[ \t]+\d+/m, "Status and inserts")],
	[/^pfctl -sr$/, (text) => text === "" ? void 0 : unlessLines(text, /^(?:scrub|block|pass|match|anchor|antispoof)\b.*$/, "rules")],
	[/^ipfw list$/, (text) => unlessLines(text, /^\d{5} .+$/, "numbered rules")],
	[/^bectl list -H$/, (text) => unlessLines(text, /^[^\t]+(?:\t[^\t]*){4,}$/, "environments in columns with tabs")],
	[/^cat \/etc\/fstab$/, (text) => unlessFound(text, /^\S+\s+\/\s+\S+/m, "the root")],
	[/^ls -1 \/boot$/, (text) => unlessFound(text, /^kernel$/m, "kernel")]
];
const no = (expected, text) => {
	const found = shortened(text);
	return `expected ${expected}, found ${found === "" ? "nothing" : `"${found}"`}`;
};
function unlessFound(text, pattern, expected) {
	return pattern.test(text) ? void 0 : no(expected, text);
}
/** Requires at least one line, and all lines to match. */
function unlessLines(text, pattern, expected) {
	const lines = text.split("\n").filter((line) => line.trim() !== "");
	if (lines.length === 0) return no(expected, "");
	const other = lines.find((line) => !pattern.test(line.trimEnd()));
	return other === void 0 ? void 0 : no(expected, other);
}
const boottime = /^\{ sec = \d+, usec = \d+ \} (?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d \d{4}$/;
const texts = [
	"kern.version",
	"kern.ident",
	"kern.osrelease",
	"dispatch",
	"algo",
	"firmware",
	"fw_version"
];
/** True for sysctls that are known to be whole numbers. */
const isNumber = (command) => /^sysctl -n (?:net\.inet6?\.|net\.isr\.(?:max|bind)threads|hw\.ncpu|hw\.cxgbe\.|machdep\.|kern\.random\.harvest\.mask|dev\.\w+\.\d+\.(?:n[rt]xq|conf\.channels))/.test(command) && !texts.some((name) => command.includes(name));
/** Expects an Ethernet port; no others are read. */
function ifconfig(text, command) {
	const port = parseIfconfig(text);
	const [, name] = command.split(" ");
	if (port === void 0 || port.name !== name) return no(`${name}, its flags and its mtu`, text);
	const lacking = [
		port.mac === void 0 && "ether",
		port.media === void 0 && "media",
		!/^[ \t]+status: (?:active|no carrier|associated|no network|inserted)$/m.test(text) && "status"
	].filter((field) => field !== false);
	return lacking.length === 0 ? void 0 : `it has no ${lacking.join(", ")}`;
}
function routes(text) {
	const rows = text.split("\n").filter((line) => /\S/.test(line));
	const head = rows.findIndex((line) => /^Destination\s+Gateway\s+Flags\s+Netif(?:\s+Expire)?\s*$/.test(line) || /^Destination\s+Gateway\s+Flags\s.*\bNetif\b/.test(line));
	if (head === -1) return no("the header of Destination, Gateway, Flags and Netif", text);
	const found = parseRoutes(text);
	if (found.length < rows.length - head - 1) return no("as many columns in each row as in the header", rows.at(-1) ?? "");
	const odd = found.find(({ destination, flags, interface: name }) => !/^(?:default|[0-9a-f.:]+(?:%\w+)?(?:\/\d+)?)$/i.test(destination) || !/^[A-Z][A-Za-z0-9]*$/.test(flags) || !/^[a-z]\w*$/.test(name));
	return odd === void 0 ? void 0 : no("a destination, flags and an interface", Object.values(odd).join(" "));
}
function counters(text) {
	const [head = ""] = text.split("\n");
	const lacking = [
		"Name",
		"Mtu",
		"Network",
		"Address",
		"Ipkts",
		"Ierrs",
		"Idrop",
		"Opkts",
		"Oerrs"
	].filter((column) => !head.split(/\s+/).includes(column));
	if (lacking.length > 0) return no(`a header with ${lacking.join(", ")}`, head);
	const links = text.split("\n").filter((line) => line.includes("<Link#"));
	const read = parseInterfaceCounters(text).size;
	return read === links.length && read > 0 ? void 0 : no("numbers in each row of a link", links.find((line) => /[^\d\s]\s*\d*$/.test(line)) ?? links.at(-1) ?? "");
}
function neighbours(text, parse, isRow) {
	const odd = text.split("\n").filter((line) => line.trim() !== "" && isRow.test(line)).find((row) => {
		const [found] = parse(`${row}\n`);
		if (found === void 0) return true;
		const { address, mac, interface: name } = found;
		return !(mac === void 0 ? row.includes("(incomplete)") : macAddress.test(mac)) || !/^[a-z]\w*$/.test(name) || !/^[0-9a-f.:]+(?:%\w+)?$/i.test(address);
	});
	return odd === void 0 ? void 0 : no("an address, a MAC address and an interface in each line", odd);
}
const macAddress = /^(?:[0-9a-f]{1,2}:){5}[0-9a-f]{1,2}$/;
function fileSystems(text, command) {
	const [head = "", ...rows] = text.trim().split("\n");
	if (!/^Filesystem\s+Type\s+(?:1024|1K)-blocks\s+Used\s+Avail\S*\s+Capacity\s+Mounted on$/.test(head)) return no("the header of Filesystem, Type, 1024-blocks, Used and Avail", head);
	const paths = command.split(" ").filter((word) => word.startsWith("/")).length;
	const odd = rows.find((row) => !/^\S+\s+\w+\s+\d+\s+-?\d+\s+-?\d+\s+\d+%\s+\/\S*$/.test(row.trim()));
	if (odd !== void 0) return no("numbers in columns", odd);
	return rows.length === paths ? void 0 : no("a row for each path", text);
}
/** Accepts the log of a generator that died. */
function pktGen(request) {
	const text = outputOf(request, "stderr") + outputOf(request, "stdout");
	if (text.replace(/^process \d+\n/, "").trim() === "") return void 0;
	const log = parsePktGenLog(text);
	const strange = log.faults.find(({ kind }) => kind === "not-pkt-gen" || kind === "unread-rate" || kind === "cut" || kind === "unreadable");
	if (strange !== void 0) return strange.message;
	const lines = text.split("\n");
	const rates = lines.filter((line) => /\bmain_thread\b.*\bpps\b/.test(line));
	if (rates.length > log.rates.length) return no("rates as pkt-gen writes them", rates.find((line) => parsePktGenLog(`${line}\n`).rates.length === 0) ?? "");
	const summary = lines.find((line) => /^(?:Sent|Received) \S+ packets/.test(line));
	const isRead = log.summary !== void 0 || log.faults.length > 0;
	if (summary !== void 0 && !isRead && !/ in 0\.0+ seconds/.test(summary)) return no("its summary", summary);
}

// src/gate/recording/recording-schemas.ts
/** A replay opens no file that a recording names. */
const host = looseObject({
	host: name,
	port: count,
	user: name,
	privateKeyPath: path$1.optional(),
	knownHostsPath: literal("/dev/null")
});
const port = looseObject({ interface: name });
const generator = host.extend({
	interface: name,
	mac: name,
	addresses: partialRecord(_enum(families), name),
	threads: count
});
const testbed = looseObject({
	kind: literal("freebsd"),
	dut: host.extend({
		ingress: port,
		egress: port,
		boot: looseObject({
			method: name,
			limitSeconds: seconds
		}),
		power: looseObject({ kind: name }).optional()
	}),
	senders: array(generator).min(1).max(4),
	receiver: generator,
	builder: host.extend({
		folder: path$1,
		repository: path$1,
		recipe: looseObject({ kind: name })
	}).optional(),
	preflight: document
});
const traffic = looseObject({
	flows: count,
	frameBytes: count.optional(),
	packets: packetsSchema.optional(),
	windows: object({
		count,
		packets: total
	}).optional(),
	settleSeconds: seconds,
	measureSeconds: seconds
});
/** Keeps properties of other versions. */
const as = (schema) => schema;
const checkRequest = object({
	name,
	testbed: as(testbed),
	families: list(_enum(families), 10),
	traffic: as(traffic),
	sends: boolean(),
	cycles: boolean()
});
/** A replay opens no file that a recording names. */
const virtualTestbed = looseObject({
	kind: literal("virtual"),
	system: _enum(["linux", "freebsd"]),
	accelerator: name,
	memoryMebibytes: count,
	image: looseObject({
		path: literal("/dev/null"),
		privateKeyPath: literal("/dev/null").optional(),
		/** Absent for an official image, which a replay does not prepare. */
		hostKey: document.default(""),
		bootSeconds: seconds
	}).optional(),
	kernelPath: literal("/dev/null").optional()
});
const testbedRequest = object({
	name,
	testbed: union([as(testbed), as(virtualTestbed)]),
	traffic: as(traffic),
	/** Token of the lease, which is part of every command. */
	token: total.optional()
});
const cell = looseObject({
	scenario: name,
	family: _enum(families),
	frameBytes: count.optional()
});
const planned = looseObject({
	number: count,
	cell,
	runs: list(looseObject({
		number: count,
		variant,
		pair: count
	}))
});
const testbedCall = discriminatedUnion("call", [
	object({
		call: literal("inspect"),
		cells: list(as(cell)),
		outcome: unknown()
	}),
	object({
		call: literal("prepare"),
		variants: list(object({
			variant,
			boots: _enum(["own", "archive"])
		})),
		/** Absent in older recordings. */
		cells: list(as(cell)).default([]),
		rules: byName(unknown()),
		outcome: unknown()
	}),
	object({
		call: literal("trial"),
		planned: as(planned),
		outcome: unknown()
	}),
	object({
		call: literal("profile"),
		request: as(looseObject({
			cell,
			variant,
			seconds,
			attempt: count
		})),
		outcome: unknown()
	}),
	object({
		call: literal("restore"),
		outcome: unknown()
	})
]);
const selfTestRequest = object({
	name,
	testbed: as(testbed),
	config: as(looseObject({
		scenarios: list(name, 1e3),
		families: list(_enum(families), 10),
		traffic,
		gate: looseObject({
			metric: name,
			marginRatio: share
		})
	})),
	rules: byName(as(looseObject({ text: document }))),
	skip: list(_enum(selfTestParts), 100),
	journal: list(document),
	token: total.optional()
});
const selfTestReport = union([object({ diagnostic: looseObject({
	kind: name,
	what: document,
	why: document
}) }), object({ agreed: boolean() })]);
const thrown = (error) => ({ threw: reasonOf(error) });

// src/gate/recording/replay-difference.ts
const differenceAt = (kind, request, why) => ({
	kind,
	number: request.number,
	sentence: oneLine(`the recording's ${formatShortOrdinal(request.number)} question, ${requestText(request)}: ${why}`)
});
const unreadable = (part) => ({
	diagnostics: [],
	differences: [{
		kind: "incomplete",
		sentence: `the recorded ${part} cannot be read, so it is not repeated`
	}]
});
const broken = (error) => ({
	kind: "made-otherwise",
	sentence: oneLine(`the current code fails on it: ${reasonOf(error)}`)
});
function requestDifferences({ unrecorded, incomplete }) {
	return [...unrecorded.map(({ text, after }) => {
		const position = after === void 0 ? "at the start" : `after the recording's ${formatShortOrdinal(after.number)} question`;
		return {
			kind: "asked-otherwise",
			...after !== void 0 && { number: after.number },
			sentence: oneLine(`${position} the current code asks a question that is not in the recording: ${text}`)
		};
	}), ...incomplete.map((request) => differenceAt("incomplete", request, request.ended === void 0 ? "the recording ends before its reply" : "a part of its output is not in the recording"))];
}
/** Compares diagnostics in their order for each `what`; `normalized` removes texts that may differ. */
function diagnosticDifferences(then, now, normalized = (text) => text) {
	const unmatched = [...now];
	return then.flatMap((recorded) => {
		const index = unmatched.findIndex(({ what }) => what === recorded.what);
		const [replayed] = index === -1 ? [] : unmatched.splice(index, 1);
		const before = textOf$1(recorded);
		const after = replayed === void 0 ? "not compared" : textOf$1(replayed);
		if (normalized(before) === normalized(after)) return [];
		return [{
			kind: "made-otherwise",
			sentence: oneLine(`${recorded.what} was ${before} when recorded, but is ${after} now`)
		}];
	});
}
const textOf$1 = ({ kind, why }) => `${kind} (${why})`;

// src/gate/recording/replay-machines.ts
/** Equal requests to one host are served in their order, even if they overlap with others. */
var ReplayedMachines = class {
	deps;
	/** Requests that the recording lacks, each with the recorded one before it. */
	unrecorded = [];
	/** Requests with an incomplete recorded outcome or output. */
	incomplete = [];
	#clock;
	#pending;
	#last;
	constructor(requests) {
		const clock = new ReplayClock(requests[0]?.at ?? 0);
		this.#clock = clock;
		this.#pending = Map.groupBy(requests, keyOf);
		this.deps = {
			connect: ({ host, port }, label) => this.#connect(label, `${label} (${host}:${port})`),
			openPower: () => this.#openPower(),
			openConsole: async (_name, _config, onOutput) => {
				const ended = this.hear("console", onOutput);
				await this.#result("console", {
					what: "console",
					order: "open"
				});
				return {
					ended,
					close: async () => {}
				};
			},
			sleep: (seconds) => clock.until({
				at: clock.now + seconds,
				line: Number.MAX_SAFE_INTEGER,
				turn: NaN
			}),
			now: () => clock.now
		};
	}
	/** Drops the requests up to this number that were not made, except the builder's, which works ahead of trials. */
	skipTo(number) {
		for (const [key, requests] of this.#pending) this.#pending.set(key, requests.filter((request) => request.number > number || request.host === "builder"));
	}
	#take(request) {
		const recorded = this.#pending.get(keyOf(request))?.shift();
		const text = requestText(request);
		if (recorded === void 0) {
			this.unrecorded.push({
				text,
				after: this.#last
			});
			throw new HostError("command-failed", `The recording has no reply to ${text}.`);
		}
		this.#last = recorded;
		const { ended, cut } = recorded;
		if (ended === void 0 || cut.size > 0) this.incomplete.push(recorded);
		if (ended === void 0) throw new HostError("lost", `The recording ends before ${requestText(recorded)} has ended.`);
		return {
			...recorded,
			ended
		};
	}
	async #result(host, call) {
		const { ended } = this.#take({
			host,
			call
		});
		await this.#clock.until(ended);
		return resultOf(ended.outcome);
	}
	async #run(host, command, options) {
		const { onStdout, onStderr, shownAs = command } = options;
		const call = {
			what: "run",
			command: commandText(command),
			shown: commandText(shownAs)
		};
		const request = this.#take({
			host,
			call
		});
		for (const chunk of request.output) {
			const receive = chunk.stream === "stdout" ? onStdout : onStderr;
			if (receive !== void 0) this.#clock.at(chunk, () => receive(Buffer.from(chunk.text)));
		}
		await this.#clock.until(request.ended);
		const streams = {
			stdout: onStdout === void 0 ? outputOf(request, "stdout") : "",
			stderr: onStderr === void 0 ? outputOf(request, "stderr") : ""
		};
		const { outcome } = request.ended;
		if (outcome.kind === "exited" || outcome.kind === "signaled") return {
			...outcome,
			...streams
		};
		resultOf(outcome);
		throw new TypeError("A command was done without having ended.");
	}
	async #connect(label, name) {
		await this.#result(label, { what: "connect" });
		const run = (command, options = {}) => this.#run(label, command, options);
		const close = async () => {};
		return {
			name,
			run,
			output: async (command, options) => stdoutOf(await run(command, options), name, command),
			upload: async (_, path, mode) => {
				await this.#result(label, {
					what: "upload",
					path,
					mode,
					bytes: 0,
					sha256: ""
				});
			},
			close,
			[Symbol.asyncDispose]: close
		};
	}
	async #openPower() {
		const power = (order) => this.#result("power", {
			what: "power",
			order
		});
		await power("open");
		return {
			state: async () => await power("state") === "off" ? "off" : "on",
			cycle: async () => void await power("cycle")
		};
	}
	/** Returns the result of a request about guests. */
	async ofGuest(host, order) {
		return parseJson(await this.#result(host, {
			what: "guest",
			order
		}));
	}
	/** Passes on a recorded console at its time; resolves with the reason of its end. */
	hear(host, onOutput) {
		const output = {
			host,
			call: {
				what: "console",
				order: "hear"
			}
		};
		const printed = this.#pending.get(keyOf(output))?.shift();
		const chunks = [...printed?.output ?? []];
		const ended = Promise.withResolvers();
		this.#clock.watch((now) => {
			while (chunks[0] !== void 0 && chunks[0].at <= now) onOutput(Buffer.from(chunks.shift()?.text ?? ""));
			if (printed?.ended !== void 0 && printed.ended.at <= now) ended.resolve(resultOf(printed.ended.outcome));
		});
		return ended.promise;
	}
};
/** Ignores the random parts of paths, and the length of sleeps. */
function keyOf({ host, call }) {
	const text = textOf(call).replace(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi, "…");
	return `${host}\n${call.what}\n${text}`;
}
function textOf(call) {
	switch (call.what) {
		case "run": return call.command;
		case "upload": return call.path;
		case "power":
		case "console":
		case "guest": return call.order;
		default: return "";
	}
}
function resultOf(outcome) {
	if (outcome.kind === "done") return outcome.said ?? "";
	if (outcome.kind !== "failed") return "";
	const { failure, message } = outcome;
	if (failure === "PowerError") throw new PowerError(message);
	if (failure === "ConsoleError") throw new ConsoleError(message);
	if (failure === "KernelFilesError") throw new KernelFilesError(message);
	const kind = hostFailures.find((one) => one === failure);
	throw kind === void 0 ? new Error(message) : new HostError(kind, message);
}
/** Runs each event once the code has reacted to the previous one; keeps turns together. Time never runs backwards. */
var ReplayClock = class {
	now;
	#isRunning = false;
	#events = [];
	#watchers = [];
	constructor(start) {
		this.now = start;
	}
	/** Calls `onTime` before each event. */
	watch(onTime) {
		this.#watchers.push(onTime);
	}
	until(moment) {
		return new Promise((resolve) => this.at(moment, resolve));
	}
	at(moment, act) {
		this.#events.push({
			...moment,
			act
		});
		this.#run();
	}
	async #run() {
		if (this.#isRunning) return;
		this.#isRunning = true;
		while (this.#events.length > 0) {
			for (let turn = 0; turn < turnsToSettle; turn += 1) await nextTurn();
			this.#events.sort((one, other) => one.at - other.at || one.line - other.line);
			const turn = this.#events[0]?.turn;
			do {
				const next = this.#events.shift();
				if (next === void 0) break;
				this.now = Math.max(this.now, next.at);
				for (const onTime of this.#watchers) onTime(this.now);
				next.act();
			} while (this.#events[0]?.turn === turn && turn !== void 0);
		}
		this.#isRunning = false;
	}
};
/** Chained promises have settled by then. */
const turnsToSettle = 4;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

// src/gate/recording/stand-in-kernels.ts
/** Runs `work` on the recorded machines, and returns how its requests differ from the recorded ones. */
async function replayWork(requests, { testbed, token }, variants, work) {
	const folder = await mkdtemp(join(tmpdir(), "ppsgate-replay-"));
	try {
		if (variants.length > maxVariants) throw new UsageError(`The recording has kernels of ${variants.length} variants, but an experiment has at most ${maxVariants}: it is not replayed.`);
		const kernels = [];
		let freeBytes = maxBytesOfAll;
		for (const variant of variants) {
			const uploaded = uploadedKernel(variant, requests);
			const same = kernels.find(({ recordedSha256 }) => recordedSha256 !== "" && recordedSha256 === uploaded.sha256);
			if (same !== void 0) {
				kernels.push({
					...same,
					variant
				});
				continue;
			}
			const path = join(folder, `${kernels.length}.tar`);
			const sha256 = await makeStandIn(path, Math.min(uploaded.bytes, freeBytes, maxBytes));
			kernels.push({
				variant,
				path,
				sha256,
				recordedSha256: uploaded.sha256
			});
			freeBytes -= (await stat(path)).size;
		}
		const machines = new ReplayedMachines(withStandInSums(requests, kernels));
		const lease = {
			token: token ?? 0,
			assertHeld() {},
			prove: async () => {}
		};
		const deps = token === void 0 || testbed.kind === "virtual" ? machines.deps : fencedDeps(machines.deps, testbed, lease);
		const differences = [];
		try {
			await work({
				machines,
				deps,
				kernels,
				folder
			});
		} catch (error) {
			differences.push(broken(error));
		}
		return [...differences, ...requestDifferences(machines)];
	} finally {
		await rm(folder, {
			recursive: true,
			force: true
		});
	}
}
/** Writes the file's name into it, which makes its checksum unique; returns the checksum. */
async function makeStandIn(path, bytes) {
	await using file = await open(path, "w");
	await file.write(basename(path));
	await file.truncate(bytes);
	const hash = createHash("sha256");
	await pipeline(createReadStream(path), hash);
	return hash.digest("hex");
}
/** Stand-ins are sparse, but must be hashed. */
const maxBytes = 1024 ** 3;
const maxBytesOfAll = 2 * maxBytes;
const maxVariants = 100;
/** Recognizes a kernel's upload by the folder or boot environment that its machine's next command names. */
function uploadedKernel(variant, requests) {
	const name = `ppsgate.${variant.replace(/[^\w.-]+/g, "-")}`;
	const isNamed = new RegExp(`${name.replaceAll(".", "\\.")}(?![\\w-])`);
	/** By host, as machines are prepared concurrently. */
	const next = /* @__PURE__ */ new Map();
	let found = {
		sha256: "",
		bytes: 1
	};
	for (const { host, call } of requests.toReversed()) {
		const text = commandOf(call);
		if (/\bppsgate\.(?!sha256)/.test(text)) next.set(host, text);
		const sha256 = call.what === "upload" ? kernelPath.exec(call.path)?.[1] : void 0;
		if (sha256 === void 0 || call.what !== "upload") continue;
		if (isNamed.test(next.get(host) ?? "")) found = {
			sha256,
			bytes: call.bytes
		};
	}
	return found;
}
const kernelPath = /\/([0-9a-f]{64})\.tar$/;
const commandOf = (call) => call.what === "run" ? call.shown ?? call.command : "";
/** Replaces the sums of recorded kernels by those of their stand-ins. */
const replaceSums = (text, kernels) => kernels.reduce((replaced, { recordedSha256: recorded, sha256 }) => recorded === "" ? replaced : replaced.replaceAll(recorded, sha256), text);
const withStandInSums = (requests, kernels) => requests.map((request) => ({
	...request,
	call: JSON.parse(replaceSums(JSON.stringify(request.call), kernels)),
	output: request.output.map((chunk) => ({
		...chunk,
		text: replaceSums(chunk.text, kernels)
	}))
}));

// src/gate/recording/replay-check.ts
async function replayCheck({ request, requests, outcomes }) {
	const { data: check } = checkRequest.safeParse(request);
	if (check === void 0) return unreadable("check");
	const diagnostics = [];
	const differences = await replayWork(requests, { testbed: check.testbed }, [], async ({ deps }) => {
		const checkDeps = {
			...deps,
			notify() {},
			signal: new AbortController().signal
		};
		for await (const diagnostic of checkFreebsdTestbed(check, checkDeps)) diagnostics.push(diagnostic);
	});
	const recorded = outcomes.map(({ value }) => value);
	differences.push(...diagnosticDifferences(recorded, diagnostics));
	return {
		diagnostics,
		differences
	};
}

// src/gate/recording/replay-self-test.ts
async function replaySelfTest({ request, requests, outcomes }) {
	const { data: selfTest } = selfTestRequest.safeParse(request);
	if (selfTest === void 0) return unreadable("self-test");
	const reports = outcomes.flatMap(({ value, after }) => {
		const { data } = selfTestReport.safeParse(value);
		return data === void 0 ? [] : [{
			...data,
			after
		}];
	});
	const consents = reports.flatMap((report) => "agreed" in report ? report.agreed : []);
	const recorded = reports.flatMap((report) => "diagnostic" in report ? report : []);
	const diagnostics = [];
	const differences = await replayWork(requests, selfTest, ["base"], async (run) => {
		const { machines, deps, kernels, folder } = run;
		const { name, testbed, config, rules, skip, journal } = selfTest;
		await writeFile(journalIn(folder), journal.join("\n"));
		const replayed = runSelfTest({
			name,
			testbed,
			config,
			rules,
			directory: folder,
			baseKernel: kernels[0]?.path,
			skip: new Set(skip),
			journal: resumeJournal(folder, name)
		}, {
			...deps,
			agrees: async () => consents.shift() ?? false,
			notify() {},
			keepLog: async () => {},
			history: { append: async () => {} },
			signal: new AbortController().signal
		});
		for await (const diagnostic of replayed) {
			diagnostics.push(diagnostic);
			const same = recorded.find(({ diagnostic: { what } }) => what === diagnostic.what);
			if (same !== void 0) machines.skipTo(same.after);
		}
	});
	const then = recorded.map(({ diagnostic }) => diagnostic);
	const isReplayed = ({ what }) => what !== "the kernel of base";
	differences.push(...diagnosticDifferences(then.filter(isReplayed), diagnostics.filter(isReplayed), withoutDurations));
	return {
		diagnostics,
		differences
	};
}
/** A replay does not keep the time between two requests. */
const withoutDurations = (text) => text.replace(/\b(?:under )?\d+ (?:min|s|h|days)\b/g, "…");

// src/gate/recording/replay-guests.ts
const kernelFiles = object({
	image: path$1,
	modules: path$1,
	atBoot: list(name, 1e3),
	version: document
});
const windowsOutcome = discriminatedUnion("kind", [object({
	kind: literal("sent"),
	log: document
}), object({
	kind: literal("broken"),
	log: document,
	lastLine: document
})]);
const booted = object({ commandLine: document });
const maxConsoleBytes = 1024 ** 2;
function replayedGuests(machines) {
	const guestOf = (number) => {
		const host = guestHost(number);
		const tape = new ConsoleTape(maxConsoleBytes);
		const listeners = /* @__PURE__ */ new Set();
		const ended = machines.hear(host, (piece) => {
			tape.write(piece);
			for (const onOutput of listeners) onOutput(piece);
		});
		return {
			number,
			address: {
				host: wireAddress,
				port: portOf(number)
			},
			interfaces: {
				sender: "",
				receiver: ""
			},
			counts: void 0,
			consoleInput: void 0,
			cpuThread: "",
			ended,
			console: () => tape.text(),
			listen(onOutput) {
				listeners.add(onOutput);
				return () => void listeners.delete(onOutput);
			},
			async pinTo() {},
			async interrupt() {
				await machines.ofGuest(host, "interrupt");
			},
			async reset() {
				await machines.ofGuest(host, "reset");
			},
			async stop() {}
		};
	};
	const lab = {
		folder: "",
		kernel: async () => kernelFiles.parse(await machines.ofGuest(thisMachine, "kernel")),
		async boot(number) {
			const answer = await machines.ofGuest(guestHost(number), "boot");
			const { commandLine } = booted.parse(answer);
			const up = machines.ofGuest(guestHost(number), "up").then(() => {});
			up.catch(() => {});
			return {
				...guestOf(number),
				commandLine,
				up
			};
		},
		async bootImage(number) {
			await machines.ofGuest(guestHost(number), "boot");
			return guestOf(number);
		},
		login: ({ address }) => ({
			...address,
			...access$1
		}),
		loginTo: async (_, { address }) => ({
			...address,
			...access$1
		}),
		async down() {}
	};
	return {
		up: async () => lab,
		facts: async () => facts.parse(await machines.ofGuest(thisMachine, "facts")),
		sendWindows: async () => windowsOutcome.parse(await machines.ofGuest(thisMachine, "windows"))
	};
}
const access$1 = {
	user: "root",
	knownHostsPath: "/dev/null"
};

// src/gate/recording/replay-testbed.ts
async function replayTestbed({ request, requests, outcomes }) {
	const { data: opened } = testbedRequest.safeParse(request);
	if (opened === void 0) return unreadable("testbed");
	const calls = outcomes.flatMap(({ value, after }) => {
		const { data: call } = testbedCall.safeParse(value);
		return call === void 0 ? [] : [{
			call,
			after
		}];
	});
	const variants = new Set(calls.flatMap(({ call }) => archivesOf(call)));
	const differences = [];
	const work = await replayWork(requests, opened, [...variants], async (run) => {
		const { machines, deps, kernels } = run;
		const { name, testbed, traffic } = opened;
		const replayed = testbed.kind === "virtual" ? await openVirtualTestbed(name, testbed, traffic, deps, replayedGuests(machines)) : await openFreebsdTestbed(name, testbed, traffic, deps);
		for (const { call, after } of calls) {
			if (testbed.kind === "virtual" && call.call === "profile") {
				machines.skipTo(after);
				continue;
			}
			const outcome = await outcomeOf(replayed, call, kernels);
			differences.push(...outcomeDifference(call, outcome, kernels));
			const isAhead = call.call === "inspect" || call.call === "prepare";
			if (testbed.kind !== "virtual" || !isAhead) machines.skipTo(after);
		}
	});
	return {
		diagnostics: [],
		differences: [...differences, ...work]
	};
}
const archivesOf = (call) => call.call === "prepare" ? call.variants.flatMap(({ variant, boots }) => boots === "archive" ? variant : []) : [];
const signal = new AbortController().signal;
const keepLog = async () => {};
async function outcomeOf(testbed, call, kernels) {
	try {
		switch (call.call) {
			case "inspect": return await testbed.inspect(call.cells);
			case "prepare": {
				const variants = call.variants.map(({ variant }) => variantOf(variant, kernels));
				const rules = call.rules;
				return await testbed.prepare({
					variants,
					cells: call.cells,
					rules,
					keepLog,
					notify() {},
					signal
				});
			}
			case "trial": return await testbed.trial(call.planned, keepLog, signal);
			case "profile": return await testbed.profile(call.request, keepLog, signal);
			case "restore": return await testbed.restore();
		}
	} catch (error) {
		return thrown(error);
	}
}
function variantOf(variant, kernels) {
	const kernel = kernels.find((one) => one.variant === variant);
	const common = {
		variant,
		commit: "",
		files: []
	};
	if (kernel === void 0) return common;
	return {
		...common,
		kernel: {
			kind: "archive",
			path: kernel.path,
			sha256: kernel.sha256
		}
	};
}
function outcomeDifference({ call, outcome: then }, now, kernels) {
	const text = (value) => JSON.stringify(value ?? null, (key, one) => key === "startedAt" || key === "bootSeconds" ? void 0 : one);
	const before = replaceSums(text(then), kernels);
	const after = text(JSON.parse(text(now)));
	if (before === after) return [];
	const at = firstDifference(before, after);
	const excerpt = (json) => shortened(json.slice(Math.max(0, at - 30), at + 50));
	return [{
		kind: "made-otherwise",
		sentence: oneLine(`what came of \`${call}\` was "…${excerpt(before)}" then, and is "…${excerpt(after)}" now`)
	}];
}
function firstDifference(one, other) {
	let at = 0;
	while (at < one.length && one[at] === other[at]) at += 1;
	return at;
}

// src/gate/recording/replay.ts
async function replay(recording) {
	const { head, isTorn, requests } = recording;
	const differences = requests.flatMap((request) => {
		const why = unexpectedOutput(request);
		return why === void 0 ? [] : [differenceAt("not-understood", request, why)];
	});
	const diagnostics = [];
	for (const part of partsOf(recording)) {
		const replayed = await replayPart(part);
		diagnostics.push(...replayed.diagnostics);
		differences.push(...replayed.differences);
	}
	return {
		head,
		isTorn,
		diagnostics,
		questions: requests.filter(({ call }) => call.what !== "sleep").length,
		hosts: [...new Set(requests.map(({ host }) => host))].filter((host) => host !== "clock"),
		differences: differences.toSorted((one, other) => (one.number ?? Number.MAX_VALUE) - (other.number ?? Number.MAX_VALUE))
	};
}
async function replayPart(part) {
	switch (part.name) {
		case "check": return replayCheck(part);
		case "self-test": return replaySelfTest(part);
		case "testbed": return replayTestbed(part);
		default: return {
			diagnostics: [],
			differences: []
		};
	}
}
/** Outcomes of a part come before the next part begins; its requests may come until it begins again. */
function partsOf({ events, requests }) {
	return events.flatMap(({ kind, part, value, after }, index) => {
		if (kind !== "begins") return [];
		const later = events.slice(index + 1);
		const next = later.findIndex((event) => event.kind === "begins");
		const own = next === -1 ? later : later.slice(0, next);
		const again = later.find((event) => event.kind === "begins" && event.part === part);
		return [{
			name: part,
			request: value,
			outcomes: own.filter((event) => event.part === part),
			requests: requests.slice(after, again?.after)
		}];
	});
}

// src/gate/recording/recorded-self-test.ts
/** Runs the self-test; `deps` are the recorder's, `token` is that of the lease. */
async function* recordedSelfTest(recorder, request, deps, token) {
	const { name, testbed, config, rules, skip, journal } = request;
	const { scenarios, families, frameSizes, traffic, profile, gate } = config;
	recorder.begin("self-test", {
		...recordable({
			name,
			testbed
		}),
		config: {
			scenarios,
			families,
			frameSizes,
			traffic,
			profile,
			gate
		},
		rules,
		skip: [...skip],
		journal: journal.lines(),
		token
	});
	const agrees = async (question) => {
		const agreed = await deps.agrees(question);
		recorder.log("self-test", { agreed });
		return agreed;
	};
	for await (const diagnostic of runSelfTest(request, {
		...deps,
		agrees
	})) {
		recorder.log("self-test", { diagnostic });
		yield diagnostic;
	}
}

// src/gate/recording/recorded-testbed.ts
async function recordedTestbed(recorder, request, open) {
	recorder.begin("testbed", recordable(request));
	const opened = await open();
	const logged = async (call, work) => {
		try {
			const outcome = await work();
			recorder.log("testbed", {
				...call,
				outcome: outcome ?? null
			});
			return outcome;
		} catch (error) {
			recorder.log("testbed", {
				...call,
				outcome: thrown(error)
			});
			throw error;
		}
	};
	return {
		...opened,
		inspect: (cells) => logged({
			call: "inspect",
			cells
		}, () => opened.inspect(cells)),
		prepare(prepare) {
			const variants = prepare.variants.map(({ variant, kernel }) => ({
				variant,
				boots: kernel === void 0 ? "own" : "archive"
			}));
			const { cells, rules } = prepare;
			return logged({
				call: "prepare",
				variants,
				cells,
				rules
			}, () => opened.prepare(prepare));
		},
		trial: (planned, ...rest) => logged({
			call: "trial",
			planned
		}, () => opened.trial(planned, ...rest)),
		profile: (profile, ...rest) => logged({
			call: "profile",
			request: profile
		}, () => opened.profile(profile, ...rest)),
		restore: () => logged({ call: "restore" }, () => opened.restore())
	};
}

export { readRecording, recordTo, recordable, recordedSelfTest, recordedTestbed, replay };