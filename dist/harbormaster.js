import { i as exitCodes, n as exitCodeOfResult, t as exitCodeOfError } from "./exit.js";
import { C as object, E as string, T as record, g as boolean, k as unknown, r as families, t as cellName, y as int } from "./scenario.js";
import { r as reasonOf } from "./one-line.js";
import { t as ConduitError } from "./conduit.js";
import { i as codeBlock, s as plainBlock } from "./variant-name.js";
import { c as formatPercent, o as formatInterval, r as formatChange, s as formatMetric, t as expectedly } from "./format.js";
import { V as outcomeName, W as verdictLine, g as renderMarkdown } from "./markdown.js";
import { A as require_fastest_levenshtein, D as excerpt, w as didYouMean } from "./schema.js";
import { t as withoutPaths } from "./without-paths.js";
import { setTimeout } from "node:timers/promises";

// src/publish/answer.ts
var import_fastest_levenshtein = require_fastest_levenshtein();
/** Several answers as one: a comment, a check, a status. What they are told of the log is told without its paths. */
const together = (answers) => ({
	queued(text) {
		for (const answer of answers) answer.queued(withoutPaths(text));
	},
	waiting(outlook, text) {
		for (const answer of answers) answer.waiting(outlook, withoutPaths(text));
	},
	measuring(testbed, line) {
		const shown = line === void 0 ? [] : [withoutPaths(line)];
		for (const answer of answers) answer.measuring(testbed, ...shown);
	},
	async ended(ending) {
		await Promise.all(answers.map((answer) => answer.ended(ending)));
	},
	async linked(ending) {
		await Promise.all(answers.map((answer) => answer.linked(ending)));
	},
	async left() {
		await Promise.all(answers.map((answer) => answer.left()));
	}
});
/**
* Does the work of a gate and completes its answer as it ends, also where it throws. When it is cancelled the answer
* says so at once, because a job that is cancelled has only seconds left and a testbed may need minutes to be given back.
*/
async function answering(answer, signal, work) {
	const onCancelled = () => void answer.ended(cancelled);
	signal.addEventListener("abort", onCancelled, { once: true });
	try {
		const ending = await work();
		await answer.ended(ending);
		return ending;
	} catch (error) {
		await answer.ended(signal.aborted ? cancelled : endingOfError(error));
		throw error;
	} finally {
		signal.removeEventListener("abort", onCancelled);
	}
}
/**
* Answers with the result, and only then has made what there is to be linked to: whatever becomes of that, the verdict
* is known. Never throws for it; `warn` hears why there are no links.
*/
async function linkedAfterwards(answer, ending, make, warn) {
	await answer.ended(ending);
	try {
		const linked = endingOfResult(ending.result, await make());
		await answer.linked(linked);
		return linked;
	} catch (error) {
		warn(`The answer has no links, because the report was not kept (${reasonOf(error)}).`);
		return ending;
	}
}
/** A job that is cancelled is killed soon. */
const secondsFor = ({ exitCode }) => exitCode === exitCodes.cancelled ? 30 : 300;
const cutShort = "The job was cancelled before there was a verdict: run it again for one.";
const cancelled = {
	exitCode: exitCodes.cancelled,
	title: "⚪ not measured: cancelled",
	summary: cutShort,
	said: cutShort
};
const endingOfResult = (result, links) => ({
	exitCode: exitCodeOfResult(result),
	title: verdictLine(result),
	summary: renderMarkdown(result, links),
	result
});
function endingOfError(error) {
	const said = error instanceof Error ? error.message : String(error);
	return endingOfFailure(exitCodeOfError(error), said);
}
/** `sentence` is that of an error, which may hold anybody's text; the paths in it are for the log alone. */
function endingOfFailure(exitCode, sentence) {
	const said = withoutPaths(sentence);
	return {
		exitCode,
		title: failureTitles.get(exitCode) ?? "⚪ not measured: something failed that is not the patch",
		summary: codeBlock(said),
		said
	};
}
const failureTitles = /* @__PURE__ */ new Map([[exitCodes.usage, "⚪ not measured: what was asked for cannot be done"], [exitCodes.patchAtFault, "🔴 not measured: the patch does not apply"]]);
/** `2 of 3 in line, some 40 min`. */
function placeInLine({ place, of, expectedSeconds }) {
	const line = `${place} of ${of} in line`;
	return expectedSeconds === void 0 ? line : `${line}, ${expectedly(expectedSeconds)}`;
}
/** By the clock, for it is read later than it is written. */
function expectation({ expectedSeconds }, now) {
	const asOf = `as of ${timeText(now)}`;
	if (expectedSeconds === void 0) return `Nobody can say when it begins, ${asOf}: nothing that would do is healthy.`;
	const begin = new Date(now.getTime() + expectedSeconds * 1e3);
	return `Expected to begin at about ${timeText(begin)}, ${asOf}.`;
}
const timeText = (date) => `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;

// src/publish/teller.ts
const mostTriesAtEnd = 6;
/**
* Tells one view at a time, and never waits for an answer but at the end. Where GitHub refuses, that is said once and
* not tried again; the last view is tried several times, for at most as long as is said with it.
*/
function newestTeller(put, { log, secondsBetween, tooSlow, pause = realPause$1 }) {
	const end = new AbortController();
	const gaveUp = new AbortController();
	const over = AbortSignal.any([end.signal, gaveUp.signal]);
	let untold;
	let telling;
	let ending;
	const giveUp = (say, why) => {
		if (!gaveUp.signal.aborted) say(why);
		gaveUp.abort();
	};
	const keepTelling = async () => {
		while (untold !== void 0 && !over.aborted) {
			const view = untold;
			const told = await put(view);
			if (told.kind === "refused") giveUp(log.info, told.why);
			if (told.kind === "told" && untold === view) untold = void 0;
			await pause(secondsBetween, over);
		}
		telling = void 0;
	};
	const tellEnd = async (view) => {
		await telling;
		for (let tries = 1; !gaveUp.signal.aborted; tries++) {
			const told = await put(view);
			if (told.kind === "told") return;
			if (told.kind === "refused") return giveUp(log.info, told.why);
			if (tries === mostTriesAtEnd) return giveUp(log.warn, told.why);
			await pause(tries ** 2, gaveUp.signal);
		}
	};
	const tellEndInTime = async (view, mostSeconds) => {
		end.abort();
		const isTold = new AbortController();
		const tooLate = pause(mostSeconds, isTold.signal).then(() => "too late");
		const first = await Promise.race([tellEnd(view), tooLate]);
		isTold.abort();
		if (first === "too late") giveUp(log.warn, tooSlow(mostSeconds));
	};
	return {
		tell(view) {
			untold = view;
			telling ??= keepTelling();
		},
		/** Stops, and resolves when what is being told is. */
		async left() {
			end.abort();
			await telling;
		},
		/** Only the first call counts. */
		tellLast(view, mostSeconds) {
			ending ??= tellEndInTime(view, mostSeconds);
			return ending;
		},
		/** In the place of the last view, once that is told; nothing where it could not be. */
		async tellInstead(view, mostSeconds) {
			if (ending === void 0) return;
			await ending;
			if (!gaveUp.signal.aborted) await tellEndInTime(view, mostSeconds);
		}
	};
}
/** Resolves, where node's own rejects, when the signal is aborted. */
const realPause$1 = (seconds, signal) => setTimeout(seconds * 1e3, void 0, { signal }).catch(() => {});

// src/patch/command.ts
const typed = string().max(500).optional();
/** What is asked of one gate instead of what ppsgate.yml says, as typed; see `Overrides`. */
const askSchema = object({
	scenarios: typed,
	families: typed,
	margin: typed,
	maxRuns: typed,
	/** `on`, `off` or a window; see `Overrides`. */
	profile: typed,
	/** A wish; see `parseWish`. */
	testbed: typed,
	/** Of a Phabricator revision; see `parseEarlier`. */
	earlier: typed
});
/** How comments call ppsgate on GitHub. */
const callOnGithub = "/ppsgate";
/** The same on Phabricator, where a line that begins with a slash is nothing special. */
const callOnPhabricator = "@ppsgate";
/**
* The command of a comment, which is its first line and begins with `call`; undefined where a comment is none. Whether
* there is such a scenario, testbed or margin is for the configuration to say.
*/
function parseCommand(comment, call = callOnGithub) {
	const [line = ""] = comment.trimStart().split(/\r?\n/, 1);
	const [first, ...words] = wordsOf(line.slice(0, longestCommand));
	if (first !== call) return void 0;
	const [verb = "help", ...rest] = words;
	const mistaken = (what, nearest) => ({
		kind: "mistaken",
		why: `${what}; write ${call} ${nearest}`
	});
	switch (verb) {
		case "help":
		case "cancel":
			if (rest.length === 0) return { kind: verb };
			return mistaken(`${verb} takes nothing more, found "${excerpt(rest.join(" "))}"`, verb);
		case "run":
		case "rerun":
		case "extend": {
			const read = readArguments(verb, rest, call);
			return read.kind === "mistaken" ? mistaken(read.what, read.nearest) : read;
		}
		default: return mistaken(`there is no command "${excerpt(verb)}"`, nearestVerb(verb));
	}
}
/** Two letters swapped are two edits. */
function nearestVerb(word) {
	const nearest = (0, import_fastest_levenshtein.closest)(word.toLowerCase(), verbs);
	return (0, import_fastest_levenshtein.distance)(word.toLowerCase(), nearest) <= 2 ? nearest : "help";
}
const verbs = [
	"run",
	"rerun",
	"extend",
	"cancel",
	"help"
];
/** Nobody types more, and nobody has to read more. */
const longestCommand = 500;
/** Separated by blanks, but for those in double quotes: `testbed="mellanox and 40G"` is one. */
const wordsOf = (line) => (line.match(/(?:"[^"]*"|\S)+/g) ?? []).map((word) => word.replaceAll("\"", ""));
/** What `run` is told as `key=value`, and what it becomes. */
const keys = {
	margin: "margin",
	runs: "maxRuns",
	profile: "profile",
	testbed: "testbed",
	earlier: "earlier"
};
const isKey = (text) => Object.hasOwn(keys, text);
const usual = {
	run: [
		"margin",
		"runs",
		"profile",
		"testbed"
	],
	rerun: [],
	extend: ["runs"]
};
/** Which of the keys a command takes, and how the head is named. */
const grammars = {
	[callOnGithub]: {
		keysOf: usual,
		head: /^[0-9a-f]{7,64}$/
	},
	[callOnPhabricator]: {
		keysOf: {
			...usual,
			run: [...usual.run, "earlier"]
		},
		head: /^[1-9]\d{0,8}$/
	}
};
function readArguments(verb, words, call) {
	const { keysOf, head } = grammars[call];
	const known = keysOf[verb];
	const values = {};
	const named = [];
	const found = [];
	let namedHead;
	const mistaken = (what, nearest = verb) => ({
		kind: "mistaken",
		what,
		nearest
	});
	for (const word of words) {
		const [, key, value = ""] = /^([^=]+)=(.*)$/.exec(word) ?? [];
		if (key !== void 0) {
			const [, meant] = /`(.+)`/.exec(didYouMean(key, known)) ?? [];
			const nearest = meant === void 0 ? verb : `${verb} ${meant}=${excerpt(value)}`;
			if (!known.includes(key) || !isKey(key)) return mistaken(`${verb} takes no "${excerpt(key)}"`, nearest);
			if (value === "") return mistaken(`${key} has no value`, `${verb} ${key}=${examples[key]}`);
			if (values[key] !== void 0) return mistaken(`${key} is there twice`);
			values[key] = value;
		} else if (head.test(word) && namedHead === void 0) namedHead = word;
		else if (verb !== "run" || !/^[a-z][\w.-]*$/i.test(word)) return mistaken(`${verb} takes no "${excerpt(word)}"`);
		else if (word === "profile") values.profile ??= "on";
		else if (families.some((family) => family === word)) named.push(word);
		else found.push(word);
	}
	const of = headNamed(namedHead, call);
	if (verb === "rerun") return {
		kind: verb,
		...of
	};
	const maxRuns = values.runs === void 0 ? {} : { maxRuns: values.runs };
	if (verb === "extend") return {
		kind: verb,
		...maxRuns,
		...of
	};
	return {
		kind: verb,
		ask: {
			...maxRuns,
			...found.length > 0 && { scenarios: found.join(",") },
			...named.length > 0 && { families: named.join(",") },
			...values.margin !== void 0 && { margin: values.margin },
			...values.profile !== void 0 && { profile: values.profile },
			...values.testbed !== void 0 && { testbed: values.testbed },
			...values.earlier !== void 0 && { earlier: values.earlier }
		},
		...of
	};
}
function headNamed(text, call) {
	if (text === void 0) return {};
	return call === "/ppsgate" ? { commit: text } : { diff: Number(text) };
}
const examples = {
	margin: "1%",
	runs: "20",
	profile: "on",
	testbed: "chelsio",
	earlier: "all"
};

// src/publish/harbormaster.ts
/**
* Answers the target of the build that waits: a restart makes a new one, and Harbormaster takes messages to the old
* one without a word. A build that is over is told nothing more.
*
* @param build its PHID: PHID-HMBD-…
*/
function openBuild(conduit, build, revision, options) {
	const log = {
		info: eachOnce(options.log.info),
		warn: eachOnce(options.log.warn)
	};
	const teller = newestTeller(messagesTo(conduit, build, revision, {
		...options,
		log
	}), {
		...options,
		log,
		secondsBetween: 60,
		tooSlow: (seconds) => notTaken(revision, `Phabricator did not answer within ${seconds} s`)
	});
	const working = () => teller.tell("working");
	return {
		queued: working,
		waiting: working,
		measuring: working,
		ended: (ending) => teller.tellLast(ending, secondsFor(ending)),
		linked: async () => {},
		left: teller.left
	};
}
/**
* A sentence where the build keeps the revision from its reviewers while it lasts, or would send it back to its author
* by failing: a benchmark should do neither. Throws a ConduitError.
*/
async function draftWarning(conduit, build, revision) {
	const constraints = { ids: [revision.number] };
	const [found] = await conduit.search("differential.revision.search", { constraints }, revisions);
	if (found?.fields.status.value !== "draft" || found.fields.holdAsDraft) return void 0;
	const plan = await planOf(conduit, build);
	if (plan?.behaviors["hold-drafts"]?.value === "never") return void 0;
	const named = plan === void 0 ? "its build plan" : `the build plan "${plan.name}"`;
	return `D${revision.number} is a draft until its builds have passed, so this one passes whatever comes of it: set "Hold Drafts" of ${named} to "Never" to have it tell the result.`;
}
const revisions = object({ fields: object({
	status: object({ value: string() }),
	holdAsDraft: boolean()
}) });
const plans = object({ fields: object({
	name: string(),
	behaviors: record(string(), object({ value: string() }))
}) });
async function planOf(conduit, build) {
	const found = await buildOf(conduit, build);
	if (found === void 0) return void 0;
	const constraints = { phids: [found.buildPlanPHID] };
	const [plan] = await conduit.search("harbormaster.buildplan.search", { constraints }, plans);
	return plan?.fields;
}
const builds = object({ fields: object({
	buildPlanPHID: string(),
	buildStatus: object({ value: string() })
}) });
async function buildOf(conduit, build) {
	const constraints = { phids: [build] };
	const [found] = await conduit.search("harbormaster.build.search", { constraints }, builds);
	return found?.fields;
}
/** What a server that is busy, or whose answer was lost, may yet be told. */
function failureOf(error, sentence) {
	const isPassing = error instanceof ConduitError && error.kind !== "refused";
	const why = reasonOf(error).replace(/\.$/, "");
	return {
		kind: isPassing ? "failed" : "refused",
		why: sentence(why)
	};
}
/**
* `work` and an end, each once to a target, for Harbormaster adds up the units of all messages. It obeys a second or two
* after it has answered, or never: so the end is told when the target shows it.
*/
function messagesTo(conduit, build, revision, { run, details, undecided, log, pause = realPause }) {
	const workedOn = /* @__PURE__ */ new Set();
	const linked = /* @__PURE__ */ new Set();
	const ends = /* @__PURE__ */ new Map();
	const what = buildName(revision);
	const put = async (view) => {
		for (const seconds of [
			0,
			1,
			2,
			4,
			8
		]) {
			if (seconds > 0) await pause(seconds, never);
			const standing = await standingOf(conduit, build);
			if (standing === void 0) return {
				kind: "refused",
				why: unseen(revision)
			};
			const { status, targets } = standing;
			const answered = targets.find(({ phid }) => ends.has(phid));
			const end = answered && ends.get(answered.phid);
			if (answered !== void 0 && answered.status !== waiting) {
				if (answered.status !== end?.shows) log.info(answeredElse(revision, answered.status));
				return { kind: "told" };
			}
			if (over.has(status)) {
				log.info(`${what} is ${status}: it is told nothing more.`);
				return { kind: "told" };
			}
			const isTold = end !== void 0 && (end.isSure || seconds > 0);
			const target = targets.find(({ status }) => status === waiting);
			if (!isTold && target !== void 0) await tell(target.phid, view);
			if (view === "working") return { kind: "told" };
		}
		return {
			kind: "failed",
			why: notTaken(revision, "none of its targets has taken it")
		};
	};
	const tell = async (target, view) => {
		await link(target);
		if (view === "working" && workedOn.has(target)) return;
		const message = await messageFor(view);
		const isSure = await send(conduit, target, message);
		if (message.type === "work") workedOn.add(target);
		else ends.set(target, {
			shows: `target/${message.type}ed`,
			isSure
		});
	};
	const messageFor = async (view) => {
		const message = view === "working" ? { type: "work" } : endOf(view, undecided);
		if (message.type === "pass") return message;
		const warning = await draftWarning(conduit, build, revision);
		if (warning === void 0) return message;
		log.warn(warning);
		const { unit = [] } = message;
		return {
			type: "pass",
			unit: [aUnit(view === "working" ? "result comes as a comment" : "passed for the draft", "skip", warning), ...unit]
		};
	};
	/** A convenience: the comment has the link as well. */
	const link = async (target) => {
		if (details === void 0 || linked.has(target)) return;
		try {
			await conduit.call("harbormaster.createartifact", linkTo(target, run, details), unknown());
			linked.add(target);
		} catch (error) {
			const why = reasonOf(error);
			if (/duplicate entry/i.test(why)) linked.add(target);
			else log.info(`${what} does not show the link to ${details} (${why}).`);
		}
	};
	return async (view) => {
		const told = await put(view).catch((error) => failureOf(error, (why) => notTaken(revision, why)));
		if (view !== "working" || told.kind !== "refused") return told;
		log.info(told.why);
		return { kind: "told" };
	};
}
const never = new AbortController().signal;
const realPause = (seconds) => setTimeout(seconds * 1e3);
function eachOnce(say) {
	const said = /* @__PURE__ */ new Set();
	return (sentence) => {
		if (!said.has(sentence)) say(sentence);
		said.add(sentence);
	};
}
const buildName = (revision) => `The build of D${revision.number} on Harbormaster`;
const unseen = (revision) => `${buildName(revision)} is told nothing because it is not there, or not for the bot to see.`;
const answeredElse = (revision, status) => `${buildName(revision)} shows ${status}, which somebody else has told it.`;
const notTaken = (revision, why) => `${buildName(revision)} may not show how the gate stands (${why}): look at it, and restart or abort it there.`;
/** Resolves to whether it has surely got there: false where the answer was lost. */
async function send(conduit, receiver, message) {
	try {
		await conduit.call("harbormaster.sendmessage", {
			receiver,
			...message
		}, unknown());
		return true;
	} catch (error) {
		if (error instanceof ConduitError && error.kind === "unsure") return false;
		throw error;
	}
}
const waiting = "target/waiting";
/** A build that is `paused` goes on. */
const over = /* @__PURE__ */ new Set([
	"passed",
	"failed",
	"aborted",
	"error",
	"deadlocked"
]);
const targetSchema = object({
	phid: string(),
	fields: object({
		buildGeneration: int(),
		status: object({ value: string() })
	})
});
/**
* How the build stands, with the targets since its last start, the oldest first; those from before it stay `waiting` for ever.
* Undefined where the bot sees no such build.
*/
async function standingOf(conduit, build) {
	const found = await buildOf(conduit, build);
	if (found === void 0) return void 0;
	const constraints = { buildPHIDs: [build] };
	const all = await conduit.search("harbormaster.target.search", { constraints }, targetSchema);
	const newest = Math.max(...all.map(({ fields }) => fields.buildGeneration));
	const targets = all.filter(({ fields }) => fields.buildGeneration === newest).map(({ phid, fields }) => ({
		phid,
		status: fields.status.value
	})).toReversed();
	return {
		status: found.buildStatus.value,
		targets
	};
}
/** In this encoding `ui.external` has to be a boolean; the key is a target's own. */
const linkTo = (target, run, uri) => ({
	buildTargetPHID: target,
	artifactKey: `ppsgate-${run}`,
	artifactType: "uri",
	artifactData: {
		uri,
		name: "ppsgate",
		"ui.external": true
	}
});
/**
* Only a pass is one, unless a site wants those passed of which nobody can say anything. A gate that is cancelled fails
* as well, and says so: the build would wait for ever, `abort` leaves no word of why, and whoever wants it to go on can
* restart it either way.
*/
function endOf(ending, undecided) {
	const { exitCode } = ending;
	return {
		type: exitCode === exitCodes.pass || exitCode === exitCodes.undecided && undecided === "neutral" ? "pass" : "fail",
		unit: unitsOf(ending)
	};
}
function unitsOf({ exitCode, title, said = title, result }) {
	if (result === void 0) return [aUnit("gate", resultsWithout.get(exitCode) ?? "broken", said)];
	const { outcome } = result;
	if (outcome.kind === "judged") return outcome.cells.map((cell) => unitOf(cell, result));
	const blame = outcome.kind === "out-of-disk" ? "broken" : "fail";
	return [aUnit(outcomeName(result), blame, outcome.message)];
}
const resultsWithout = /* @__PURE__ */ new Map([[exitCodes.patchAtFault, "fail"], [exitCodes.cancelled, "skip"]]);
function unitOf(cell, { blasts, policy }) {
	const name = cellName(cell.cell);
	const seconds = blasts.filter((blast) => cellName(blast.cell) === name).reduce((sum, { trafficSeconds }) => sum + trafficSeconds, 0);
	const [comparison] = cell.comparisons;
	const confidence = formatPercent(policy.confidenceRatio);
	const details = [cell.verdict.kind === "invalid" ? `invalid: ${cell.verdict.reason}` : cell.verdict.kind, comparison && changeText(comparison, confidence)].filter(Boolean).join("\n");
	return {
		...aUnit(name, resultOf[cell.verdict.kind], details),
		duration: seconds
	};
}
/** `805.3 kpps → 721.5 kpps: −10.4 %, 95 % interval −11.2 … −9.60 %`. */
const changeText = ({ metric, base, patched, interval }, confidence) => [`${formatMetric(base, metric)} → ${formatMetric(patched, metric)}: ${formatChange(interval.change)}`, `${confidence} interval ${formatInterval(interval.low, interval.high)} %`].join(", ");
/** `unsound` is measured without an answer, `skip` is not measured, by what these words mean to Harbormaster. */
const resultOf = {
	"no-regression": "pass",
	improvement: "pass",
	regression: "fail",
	inconclusive: "unsound",
	invalid: "skip"
};
const aUnit = (name, result, details) => ({
	engine: "ppsgate",
	format: "text",
	name,
	result,
	details: plainBlock(details, 2e3)
});

export { timeText as _, callOnPhabricator as a, answering as c, endingOfFailure as d, endingOfResult as f, secondsFor as g, placeInLine as h, callOnGithub as i, cancelled as l, linkedAfterwards as m, openBuild as n, parseCommand as o, expectation as p, askSchema as r, newestTeller as s, failureOf as t, endingOfError as u, together as v };