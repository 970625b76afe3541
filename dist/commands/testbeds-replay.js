import { runToExit } from "../exit.js";
import { _enum, array, boolean, discriminatedUnion, literal, looseObject, number$1 as number, object, partialRecord, record, string, unknown } from "../vendor/zod.js";
import { UsageError, exitCodes, families, fromJson, oneLine, reasonOf, shortened } from "../words.js";
import { entrySchema, headSchema, recordingFormat } from "../recording/entry.js";
import { checkFreebsdTestbed } from "../checkup.js";
import { ConsoleError } from "../console.js";
import { HostError, commandText, stdoutOf } from "../host.js";
import { PowerError } from "../power.js";
import { fencedWorld, openFreebsdTestbed } from "../testbed.js";
import { parseArp, parseCpuTimes, parseIfconfig, parseInterfaceCounters, parseNdp, parseRoutes } from "../dut.js";
import { parsePktGenLog } from "../traffic.js";
import { findingText } from "./findings.js";
import { hasColours, oneLine as oneLine$1, print, printJson } from "./table.js";
import { join } from "node:path";
import { createReadStream, readFileSync } from "node:fs";
import { constants as constants$1, gunzipSync } from "node:zlib";
import { createHash } from "node:crypto";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { pipeline } from "node:stream/promises";

// src/recording/read.ts
/** Throws a UsageError where the file is no recording that can be read here. */
function readRecording(path) {
	const [first = "", ...lines] = unpacked(path).split("\n");
	const recording = {
		head: headOf(path, first),
		questions: [],
		marks: [],
		isTorn: lines.at(-1) !== ""
	};
	const byId = /* @__PURE__ */ new Map();
	for (const [index, line] of lines.entries()) {
		if (line === "") continue;
		const { data: entry, error } = entrySchema.safeParse(fromJson(line));
		if (entry !== void 0) add(recording, byId, entry);
		else if (error !== void 0 && index < lines.length - 1) throw new UsageError(`${path} is damaged in its line ${index + 2}: have it recorded again, or send it as it came.`);
	}
	return recording;
}
/** Far more than a recorder writes. */
const mostBytes$1 = 256 * 1024 ** 2;
/** As far as it goes: whoever recorded may have been killed. */
function unpacked(path) {
	let packed;
	try {
		packed = readFileSync(path);
	} catch (error) {
		throw new UsageError(`The recording ${path} cannot be read (${reasonOf(error)}).`);
	}
	const { Z_SYNC_FLUSH: finishFlush } = constants$1;
	try {
		return gunzipSync(packed, {
			finishFlush,
			maxOutputLength: mostBytes$1
		}).toString();
	} catch (error) {
		throw error instanceof RangeError ? new UsageError(`${path} is more than ${mostBytes$1 / 1024 ** 2} MiB once it is unpacked, and no recording is so big: it is not opened.`) : noRecording(path);
	}
}
const noRecording = (path) => new UsageError(`${path} is no recording: expected a file that \`--record\` has written.`);
function headOf(path, line) {
	const written = fromJson(line);
	const { data: head } = headSchema.safeParse(written);
	if (head !== void 0) return head;
	const { format, version } = written ?? {};
	if (format === "ppsgate recording" && typeof version === "number" && version > 1) throw new UsageError(`${path} is of a newer ppsgate (its format is ${version}, and this one reads ${1}): replay it with that one.`);
	throw noRecording(path);
}
function add(recording, byId, entry) {
	const { questions, marks } = recording;
	switch (entry.kind) {
		case "begins":
		case "tells": {
			const { kind, part } = entry;
			const value = kind === "begins" ? entry.request : entry.outcome;
			marks.push({
				kind,
				part,
				value,
				after: questions.length
			});
			return;
		}
		case "asks": {
			const { host, asked, at } = entry;
			const question = {
				number: questions.length + 1,
				host,
				asked,
				at,
				pieces: [],
				cut: /* @__PURE__ */ new Set()
			};
			questions.push(question);
			byId.set(entry.id, question);
			return;
		}
		case "hears":
			byId.get(entry.id)?.pieces.push(entry);
			return;
		case "cut":
			byId.get(entry.id)?.cut.add(entry.stream);
			return;
		case "ends": {
			const question = byId.get(entry.id);
			if (question !== void 0) question.ended ??= {
				at: entry.at,
				answer: entry.answer
			};
			return;
		}
		case "console": return;
	}
}
/** All that a stream of a command wrote, as far as it was kept. */
const writtenTo = ({ pieces }, stream) => pieces.filter((piece) => piece.stream === stream).map(({ text }) => text).join("");
/** ``the recording's 57th command, `netstat -rn -f inet` on the DUT`` without its first words. */
function questionText({ host, asked }) {
	switch (asked.what) {
		case "run": return `\`${(asked.shown ?? asked.command).replace(/'([\w@%+=:,./-]+)'/g, "$1")}\` on the ${host}`;
		case "connect": return `the login to the ${host}`;
		case "upload": return `the upload of ${asked.path} to the ${host}`;
		case "power": return `the power's ${asked.order}`;
		case "sleep": return `a sleep of ${asked.seconds} s`;
	}
}

// src/recording/replay-world.ts
/** Of one kind, and in their order: questions of one host by the same text, however they overlap with others. */
function replayWorld(questions) {
	const time = replayTime(questions[0]?.at ?? 0);
	const waiting = Map.groupBy(questions, (question) => keyOf(question));
	const replay = {
		strangers: [],
		unanswered: []
	};
	let before;
	const find = (question) => {
		const found = waiting.get(keyOf(question))?.shift();
		if (found === void 0) {
			const text = questionText({ ...question });
			replay.strangers.push({
				text,
				after: before
			});
			throw new HostError("command-failed", `The recording has no answer to ${text}.`);
		}
		before = found;
		if (found.ended === void 0 || found.cut.size > 0) replay.unanswered.push(found);
		if (found.ended === void 0) throw new HostError("lost", `The recording ends before ${questionText(found)} did.`);
		return found;
	};
	/** Answers at the time of then. */
	const answered = async (question) => {
		const { ended } = find(question);
		await time.until(ended?.at ?? 0);
		return saidBy(ended?.answer);
	};
	const run = async (host, command, shown, { onStdout, onStderr }) => {
		const found = find({
			host,
			asked: {
				what: "run",
				command,
				shown
			}
		});
		for (const { at, stream, text } of found.pieces) {
			const hear = stream === "stdout" ? onStdout : onStderr;
			if (hear === void 0) continue;
			await time.until(at);
			hear(Buffer.from(text));
		}
		const { ended } = found;
		await time.until(ended?.at ?? 0);
		const streams = {
			stdout: onStdout === void 0 ? writtenTo(found, "stdout") : "",
			stderr: onStderr === void 0 ? writtenTo(found, "stderr") : ""
		};
		const answer = ended?.answer;
		if (answer?.kind === "exited") return {
			kind: "exited",
			code: answer.code,
			...streams
		};
		if (answer?.kind === "signaled") return {
			...answer,
			...streams
		};
		saidBy(answer);
		throw new TypeError("A command was done without having ended.");
	};
	return {
		world: {
			async connect({ host, port }, label) {
				await answered({
					host: label,
					asked: { what: "connect" }
				});
				const name = `${label} (${host}:${port})`;
				const close = async () => {};
				const runHere = (command, options = {}) => {
					const text = commandText(command);
					const shown = options.shownAs === void 0 ? text : commandText(options.shownAs);
					return run(label, text, shown, options);
				};
				return {
					name,
					run: runHere,
					output: async (command, options) => stdoutOf(await runHere(command, options), name, command),
					async upload(_, path, mode) {
						await answered({
							host: label,
							asked: {
								what: "upload",
								path,
								mode,
								bytes: 0,
								sha256: ""
							}
						});
					},
					close,
					[Symbol.asyncDispose]: close
				};
			},
			async openPower() {
				const ask = (order) => answered({
					host: "power",
					asked: {
						what: "power",
						order
					}
				});
				await ask("open");
				return {
					state: async () => await ask("state") === "off" ? "off" : "on",
					cycle: async () => void await ask("cycle")
				};
			},
			async openConsole(name) {
				throw new ConsoleError(`The console of ${name} is in no recording.`);
			},
			sleep: (seconds) => time.until(time.now() + seconds),
			now: time.now
		},
		...replay
	};
}
/** Random parts of paths are not the same twice, and how long is slept is no question to anybody. */
function keyOf({ host, asked }) {
	const text = textOf$1(asked).replace(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/gi, "…");
	return `${host}\n${asked.what}\n${text}`;
}
function textOf$1(asked) {
	switch (asked.what) {
		case "run": return asked.command;
		case "upload": return asked.path;
		case "power": return asked.order;
		default: return "";
	}
}
/** Throws what was thrown then. */
function saidBy(answer) {
	if (answer?.kind === "done") return answer.said ?? "";
	if (answer?.kind !== "failed") return "";
	const { failure, message } = answer;
	if (failure === "PowerError") throw new PowerError(message);
	if (failures.has(failure)) throw new HostError(failure, message);
	throw new Error(message);
}
const failures = /* @__PURE__ */ new Set([...[
	"unreachable",
	"host-key",
	"login",
	"lost",
	"timeout",
	"aborted"
], ...[
	"session-refused",
	"too-much-output",
	"command-failed",
	"upload-failed"
]]);
/**
* Whatever happens next happens when all that came before has been taken in: what the code does about it is asked before,
* as it was then. Time never runs back.
*/
function replayTime(start) {
	let now = start;
	let isRunning = false;
	const events = [];
	let planned = 0;
	const runOn = async () => {
		if (isRunning) return;
		isRunning = true;
		while (events.length > 0) {
			for (let turn = 0; turn < turnsToSettle; turn += 1) await nextTurn();
			events.sort((one, other) => one.at - other.at || one.order - other.order);
			const next = events.shift();
			now = Math.max(now, next?.at ?? now);
			next?.act();
		}
		isRunning = false;
	};
	return {
		now: () => now,
		until: (at) => new Promise((resolve) => {
			planned += 1;
			events.push({
				at,
				order: planned,
				act: resolve
			});
			runOn();
		})
	};
}
/** Promises that wait for promises are through by then. */
const turnsToSettle = 4;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

// src/recording/request.ts
/** Nothing that a recording names is opened here. */
const host = looseObject({
	host: string(),
	port: number(),
	user: string(),
	privateKeyPath: string().optional(),
	knownHostsPath: literal("/dev/null")
});
const port = looseObject({ interface: string() });
const generator = host.extend({
	interface: string(),
	mac: string(),
	addresses: partialRecord(_enum(families), string()),
	threads: number()
});
const testbed = looseObject({
	kind: literal("freebsd"),
	dut: host.extend({
		ingress: port,
		egress: port,
		boot: looseObject({
			method: string(),
			limitSeconds: number()
		}),
		power: looseObject({ kind: string() }).optional()
	}),
	senders: array(generator).min(1).max(4),
	receiver: generator,
	builder: host.extend({
		folder: string(),
		repository: string(),
		recipe: looseObject({ kind: string() })
	}).optional(),
	preflight: string()
});
const traffic = looseObject({
	flows: number(),
	settleSeconds: number(),
	measureSeconds: number()
});
/** The shapes of another day may have more in them, and are given on as they are. */
const as = (schema) => schema;
const checkRequest = object({
	name: string(),
	testbed: as(testbed),
	families: array(_enum(families)),
	traffic: as(traffic),
	sends: boolean(),
	cycles: boolean()
});
const testbedRequest = object({
	name: string(),
	testbed: as(testbed),
	traffic: as(traffic),
	/** Of the lease, which stands in every command. */
	token: number().optional()
});
const cell = looseObject({
	scenario: string(),
	family: _enum(families)
});
const planned = looseObject({
	number: number(),
	cell,
	runs: array(looseObject({
		number: number(),
		variant: string(),
		pair: number()
	}))
});
/** What a testbed was asked for, one after the other, and what came of it. */
const testbedCall = discriminatedUnion("call", [
	object({
		call: literal("inspect"),
		cells: array(as(cell)),
		outcome: unknown()
	}),
	object({
		call: literal("prepare"),
		/** How each variant's kernel comes to the DUT. */
		variants: array(object({
			variant: string(),
			boots: _enum(["own", "archive"])
		})),
		rules: record(string(), unknown()),
		outcome: unknown()
	}),
	object({
		call: literal("blast"),
		planned: as(planned),
		outcome: unknown()
	}),
	object({
		call: literal("profile"),
		request: as(looseObject({
			cell,
			variant: string(),
			seconds: number(),
			attempt: number()
		})),
		outcome: unknown()
	}),
	object({
		call: literal("restore"),
		outcome: unknown()
	})
]);
/** What is recorded of a call that threw. */
const thrown = (error) => ({ threw: reasonOf(error) });

// src/recording/replay-check.ts
async function replayCheck({ request, questions, told }) {
	const { data: check } = checkRequest.safeParse(request);
	if (check === void 0) return {
		findings: [],
		differences: [unreadable("check")]
	};
	const replayed = replayWorld(questions);
	const findings = [];
	const differences = [];
	const world = {
		...replayed.world,
		tell() {},
		signal: new AbortController().signal
	};
	try {
		for await (const finding of checkFreebsdTestbed(check, world)) findings.push(finding);
	} catch (error) {
		differences.push(broken(error));
	}
	return {
		findings,
		differences: [
			...differences,
			...differencesOf(replayed),
			...changes(told, findings)
		]
	};
}
const unreadable = (part) => ({
	kind: "incomplete",
	sentence: `what the recording says of its ${part} cannot be read here, so that it is not done again`
});
const broken = (error) => ({
	kind: "made-otherwise",
	sentence: oneLine(`the code of today breaks on it: ${reasonOf(error)}`)
});
/** What was asked otherwise, or cannot be answered whole. */
function differencesOf({ strangers, unanswered }) {
	return [...strangers.map(({ text, after }) => {
		const place = after === void 0 ? "first of all" : `after the recording's ${ordinal(after.number)} question`;
		return {
			kind: "asked-otherwise",
			...after !== void 0 && { number: after.number },
			sentence: oneLine(`${place} the code of today asks what the recording has not: ${text}`)
		};
	}), ...unanswered.map((question) => differenceAt("incomplete", question, question.ended === void 0 ? "the recording ends before it did" : "a part of what it wrote is not in the recording"))];
}
/** Of each thing that was looked at, once for each time. */
function changes(then, now) {
	const left = [...now];
	return then.flatMap((finding) => {
		const index = left.findIndex(({ what }) => what === finding.what);
		const [found] = index === -1 ? [] : left.splice(index, 1);
		if (found !== void 0 && wordsOf(found) === wordsOf(finding)) return [];
		const is = found === void 0 ? "not looked at" : wordsOf(found);
		return [{
			kind: "made-otherwise",
			sentence: oneLine(`${finding.what} was ${wordsOf(finding)} then, and is ${is} now`)
		}];
	});
}
const wordsOf = ({ kind, why }) => `${kind} (${why})`;

// src/recording/replay-testbed.ts
async function replayTestbed({ request, questions, told }) {
	const { data: opened } = testbedRequest.safeParse(request);
	if (opened === void 0) return {
		findings: [],
		differences: [unreadable("testbed")]
	};
	const calls = told.flatMap((value) => testbedCall.safeParse(value).data ?? []);
	const folder = await mkdtemp(join(tmpdir(), "ppsgate-replay-"));
	const differences = [];
	try {
		const kernels = await standInKernels(questions, calls, folder);
		const replayed = replayWorld(renamed(questions, kernels));
		const { name, testbed, traffic, token } = opened;
		const lease = {
			token: token ?? 0,
			assertHeld() {},
			prove: async () => {}
		};
		const world = token === void 0 ? replayed.world : fencedWorld(replayed.world, testbed, lease);
		try {
			const again = await openFreebsdTestbed(name, testbed, traffic, world);
			for (const call of calls) {
				const change = changed(call, await outcomeOf(again, call, kernels), kernels);
				if (change !== void 0) differences.push(change);
			}
		} catch (error) {
			differences.push(broken(error));
		}
		differences.push(...differencesOf(replayed));
	} finally {
		await rm(folder, {
			recursive: true,
			force: true
		});
	}
	return {
		findings: [],
		differences
	};
}
/** Kernels are not in a recording; the sum of each is in the name under which it was laid. */
async function standInKernels(questions, calls, folder) {
	const variants = calls.flatMap((call) => call.call === "prepare" ? call.variants : []);
	const kernels = [];
	for (const { variant, boots } of variants) {
		if (boots === "own") continue;
		const laid = laidFor(variant, questions);
		const path = join(folder, `${kernels.length}.tar`);
		await using file = await open(path, "w");
		await file.write(`${kernels.length}`);
		await file.truncate(Math.min(laid.bytes, mostBytes));
		const hash = createHash("sha256");
		await pipeline(createReadStream(path), hash);
		kernels.push({
			variant,
			path,
			sha256: hash.digest("hex"),
			was: laid.sha256
		});
	}
	return kernels;
}
/** More than any kernel, and no more than is read in a moment. */
const mostBytes = 1024 ** 3;
/** By the mark that says which is in its folder, or by the environment that it is unpacked in. */
function laidFor(variant, questions) {
	const place = `ppsgate.${variant.replace(/[^\w.-]+/g, "-")}`;
	return questions.flatMap(({ asked }, index) => {
		const sha256 = asked.what === "upload" ? kernelPath.exec(asked.path)?.[1] : void 0;
		return sha256 === void 0 || asked.what !== "upload" ? [] : [{
			sha256,
			index,
			bytes: asked.bytes
		}];
	}).find(({ index, sha256 }) => questions.slice(index).some(({ asked }) => asked.what === "run" && textOf(asked).includes(sha256) && textOf(asked).includes(place))) ?? {
		sha256: "",
		bytes: 1
	};
}
const kernelPath = /\/([0-9a-f]{64})\.tar$/;
const textOf = ({ command, shown }) => shown ?? command;
/** The sums of the stand-ins in the place of those of then, wherever they stand. */
function renamed(questions, kernels) {
	const to = (text) => kernels.reduce((now, { was, sha256 }) => was === "" ? now : now.replaceAll(was, sha256), text);
	return questions.map((question) => ({
		...question,
		asked: JSON.parse(to(JSON.stringify(question.asked))),
		pieces: question.pieces.map((piece) => ({
			...piece,
			text: to(piece.text)
		}))
	}));
}
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
					cells: [],
					rules,
					keepLog,
					tell() {},
					signal
				});
			}
			case "blast": return await testbed.blast(call.planned, keepLog, signal);
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
function changed({ call, outcome: then }, now, kernels) {
	const text = (value) => JSON.stringify(value ?? null);
	const before = kernels.reduce((words, { was, sha256 }) => was === "" ? words : words.replaceAll(was, sha256), text(then));
	const after = text(JSON.parse(text(now)));
	if (before === after) return void 0;
	const at = firstDifference(before, after);
	const piece = (words) => shortened(words.slice(Math.max(0, at - 30), at + 50));
	return {
		kind: "made-otherwise",
		sentence: oneLine(`what came of \`${call}\` was "…${piece(before)}" then, and is "…${piece(after)}" now`)
	};
}
function firstDifference(one, other) {
	let at = 0;
	while (at < one.length && one[at] === other[at]) at += 1;
	return at;
}

// src/recording/understood.ts
/** Why a machine's answer is not understood, as a clause; undefined where it is, or where nobody reads it. */
function whyNotUnderstood(question) {
	const { asked, ended, cut } = question;
	if (asked.what !== "run" || cut.size > 0) return void 0;
	const command = plain(asked.shown ?? asked.command);
	if (isPktGen.test(command)) return pktGen(question);
	if (!(ended?.answer.kind === "exited" && ended.answer.code === 0)) return void 0;
	const text = writtenTo(question, "stdout");
	const reader = readers.find(([pattern]) => pattern.test(command));
	if (reader === void 0) return void 0;
	if (text !== "" && !text.endsWith("\n")) return "what it wrote breaks off in the middle of a line";
	return reader[1](text, command);
}
/** Without the quotes that no shell needs. */
const plain = (command) => command.replace(/'([\w@%+=:,./-]+)'/g, "$1");
const isPktGen = /\bpkt-gen -N\b/;
const readers = [
	[/^ifconfig -l$/, (text) => unlessLines(text, /^\w+(?: \w+)*$/, "a list of interfaces")],
	[/^ifconfig [a-z]+\d+$/, ifconfig],
	[/^netstat -rn -f inet6?$/, routes],
	[/^netstat -i -b -n -W$/, counters],
	[/^netstat -s$/, (text) => unlessFound(text, /^ip6?:$\n^\t+\d+ /m, "a protocol and its counters")],
	[/^vmstat -i$/, (text) => unlessFound(text, /^interrupt +total +rate\n(?:.*\d+ +\d+\n)*Total /, "its header and interrupts")],
	[/^arp -an$/, (text) => neighbours(text, parseArp, /./)],
	[/^ndp -an$/, (text) => neighbours(text, parseNdp, /:\S* +\S+ +\S+/)],
	[/^sysctl -n kern\.cp_times$/, (text) => parseCpuTimes(text).length > 0 ? void 0 : no("five ticks for each CPU", text)],
	[/^sysctl -n kern\.boottime$/, (text) => unlessLines(text, boottime, "{ sec = …, usec = … } and an English date")],
	[/^sysctl -n vm\.loadavg$/, (text) => unlessLines(text, /^\{ \d+[.,]\d+ \d+[.,]\d+ \d+[.,]\d+ \}$/, "three loads in braces")],
	[/^sysctl -n kern\.bootfile$/, (text) => unlessLines(text, /^\/\S+$/, "the path of a kernel")],
	[/^sysctl -n kern\.conftxt$/, (text) => text.trim() === "" ? void 0 : unlessFound(text, /^ident\s+\S+$/m, "the line of `ident`")],
	[/^sysctl -n (?:kern\.hostname|hw\.model)$/, (text) => unlessLines(text, /^\S.*$/, "a name")],
	[/^sysctl -n [a-z][\w.]*$/, (text, command) => isNumber(command) ? unlessLines(text, /^-?\d+$/, "a whole number") : void 0],
	[/^sysctl dev\.\S+$/, (text) => unlessLines(text, /^dev\.[\w.%]+: .*$/, "lines of names and values")],
	[/^df -k /, fileSystems],
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
/** Every line is as it has to be, and there is one. */
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
/** Of others nobody here knows of what kind they are. */
const isNumber = (command) => /^sysctl -n (?:net\.inet6?\.|net\.isr\.(?:max|bind)threads|hw\.ncpu|hw\.cxgbe\.|machdep\.|kern\.random\.harvest\.mask|dev\.\w+\.\d+\.(?:n[rt]xq|conf\.channels))/.test(command) && !texts.some((name) => command.includes(name));
/** A port of Ethernet, which is all that is looked at. */
function ifconfig(text, command) {
	const port = parseIfconfig(text);
	const [, name] = command.split(" ");
	if (port === void 0 || port.name !== name) return no(`${name}, its flags and its mtu`, text);
	const lacking = [
		port.mac === void 0 && "ether",
		port.media === void 0 && "media",
		!/^[ \t]+status: (?:active|no carrier|associated|no network|inserted)$/m.test(text) && "status"
	].filter((what) => what !== false);
	return lacking.length === 0 ? void 0 : `nothing is known in it of ${lacking.join(", ")}`;
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
	if (!/^Filesystem\s+(?:1024|1K)-blocks\s+Used\s+Avail\S*\s+Capacity\s+Mounted on$/.test(head)) return no("the header of Filesystem, 1024-blocks, Used and Avail", head);
	const paths = command.split(" ").filter((word) => word.startsWith("/")).length;
	const odd = rows.find((row) => !/^\S+\s+\d+\s+-?\d+\s+-?\d+\s+\d+%\s+\/\S*$/.test(row.trim()));
	if (odd !== void 0) return no("numbers in columns", odd);
	return rows.length === paths ? void 0 : no("a row for each path", text);
}
/** What its own lines must say; a generator that dies is understood. */
function pktGen(question) {
	const text = writtenTo(question, "stderr") + writtenTo(question, "stdout");
	if (text.replace(/^process \d+\n/, "").trim() === "") return void 0;
	const log = parsePktGenLog(text);
	const strange = log.faults.find(({ kind }) => kind === "not-pkt-gen" || kind === "cut" || kind === "unreadable");
	if (strange !== void 0) return strange.message;
	const lines = text.split("\n");
	const rates = lines.filter((line) => /\bmain_thread\b.*\bpps\b/.test(line));
	if (rates.length > log.rates.length) return no("rates as pkt-gen writes them", rates.find((line) => parsePktGenLog(`${line}\n`).rates.length === 0) ?? "");
	const summary = lines.find((line) => /^(?:Sent|Received) \S+ packets/.test(line));
	const isRead = log.summary !== void 0 || log.faults.length > 0;
	if (summary !== void 0 && !isRead && !/ in 0\.0+ seconds/.test(summary)) return no("its summary", summary);
}

// src/recording/replay.ts
/** Does again what was recorded, part by part. */
async function replay(recording) {
	const { head, isTorn, questions } = recording;
	const differences = questions.flatMap((question) => {
		const why = whyNotUnderstood(question);
		return why === void 0 ? [] : [differenceAt("not-understood", question, why)];
	});
	const findings = [];
	for (const part of partsOf(recording)) {
		const again = await partAgain(part);
		findings.push(...again.findings);
		differences.push(...again.differences);
	}
	return {
		head,
		isTorn,
		findings,
		questions: questions.filter(({ asked }) => asked.what !== "sleep").length,
		hosts: [...new Set(questions.map(({ host }) => host))].filter((host) => host !== "clock"),
		differences: differences.toSorted((one, other) => (one.number ?? 1e9) - (other.number ?? 1e9))
	};
}
const differenceAt = (kind, question, why) => ({
	kind,
	number: question.number,
	sentence: oneLine(`the recording's ${ordinal(question.number)} question, ${questionText(question)}: ${why}`)
});
function ordinal(number) {
	return `${number}${(number % 100 > 10 && number % 100 < 14 ? void 0 : [
		"th",
		"st",
		"nd",
		"rd"
	][number % 10]) ?? "th"}`;
}
function partAgain(part) {
	switch (part.name) {
		case "check": return replayCheck(part);
		case "testbed": return replayTestbed(part);
		default: return {
			findings: [],
			differences: []
		};
	}
}
/** A part lasts until its last word, or until the next one begins. */
function partsOf({ marks, questions }) {
	return marks.filter(({ kind }) => kind === "begins").map((mark) => {
		const own = marks.slice(marks.indexOf(mark) + 1);
		const next = own.findIndex(({ kind }) => kind === "begins");
		const mine = (next === -1 ? own : own.slice(0, next)).filter(({ part }) => part === mark.part);
		const end = ends(mark, own, questions.length);
		return {
			name: mark.part,
			request: mark.value,
			told: mine.map(({ value }) => value),
			questions: questions.slice(mark.after, end)
		};
	});
}
const ends = (mark, own, last) => own.find(({ kind, part }) => kind === "begins" && part === mark.part)?.after ?? last;

// src/commands/testbeds-replay.ts
function define(command) {
	command.argument("<file>", "what `--record` has written").option("--json", "print what is found as JSON").addHelpText("after", `
Example:
  ppsgate testbeds replay hp-t540.rec

No machine is asked anything. What checks and gates ask and hear is recorded
with --record FILE; to look into a recording: zcat FILE | less

Exits 0 when all is understood as it was then, 2 for what is no recording, 4
when something is not.`).action(async (file, options) => {
		await runToExit(() => replayFile(file, options), command.optsWithGlobals());
	});
}
async function replayFile(file, { json }) {
	const replayed = await replay(readRecording(file));
	if (json) printJson(replayed);
	else printReplay(replayed);
	return replayed.differences.length === 0 ? exitCodes.pass : exitCodes.infrastructure;
}
function printReplay({ head, questions, hosts, differences, findings, isTorn }) {
	const { command, date, ppsgate } = head;
	const many = questions === 1 ? "One question" : `${questions} questions`;
	print(oneLine$1(`\`ppsgate ${command}\` of ${date.slice(0, 10)} with ppsgate ${ppsgate}: ${many} to ${hosts.join(", ") || "nobody"}.`));
	for (const finding of findings) print(findingText(finding, hasColours(process.stdout)));
	if (isTorn) print("It breaks off: whoever recorded it was ended.");
	for (const { sentence } of differences) print(`✗ ${sentence}.`);
	if (differences.length === 0) print("All is understood as it was then.");
}

export { define };