import { cellName, changeStates, codeBlock, codeSpan, expectedly, formatChange, formatInterval, formatMetric, formatPercent, fromJson, isCost, metricNouns, pageUrl, patchName, plain as plain$1, plainBlock, plainLine, realPause, reasonOf, remarkupText, shortId, upshotOfBisection, upshotOfError, upshotOfResult, withoutPaths } from "./words.js";
import { _enum, array, boolean, datetime, int, number$1 as number, object, record, string, unknown } from "./vendor/zod.js";
import "./config.js";
import { annotationsOf, bisectHeadline, bisectPlot, bisectSymbol, intervalPlot, invalidLines, outcomeName, pngOf, remarkOf, renderBisectMarkdown, renderBisectRemarkup, renderMarkdown, renderRemarkup, renderRemarkupFailure, sentence, unchangedMeaning, verdictLine } from "./report.js";
import { isOpen, lossesOf, seriesKey, worstOf } from "./trend.js";
import { askSchema, bisectWords, callOnGithub, callOnPhabricator } from "./patch.js";
import { ConduitError, mayPass as mayPass$1 } from "./phabricator.js";
import { createIssue, findIssue, githubFailure, isGone, makeLabel, mayPassSoon, mergedAs, ownLogin, placeOf, publishComment, pullRequestsWithHead, replaceLabel, updateIssue, whyNotDone } from "./github.js";
import { createHash } from "node:crypto";

// src/answer/ending.ts
const failureSchema = _enum([
	"cancelled",
	"usage",
	"patchAtFault",
	"infrastructure",
	"waits-for-leave",
	"left-to-queue"
]);
const cutShort = "The job was cancelled before there was a verdict: run it again for one.";
const cancelled = {
	kind: "unmeasured",
	why: "cancelled",
	said: cutShort
};
const endingOfResult = (result, links) => ({
	kind: "measured",
	result,
	links
});
function endingOfError(error) {
	const said = error instanceof Error ? error.message : String(error);
	const upshot = upshotOfError(error);
	return endingOfFailure(upshot === "usage" || upshot === "patchAtFault" ? upshot : "infrastructure", said);
}
/** `sentence` is that of an error, which may hold anybody's text; the paths in it are for the log alone. */
const endingOfFailure = (why, sentence) => ({
	kind: "unmeasured",
	why,
	said: withoutPaths(sentence)
});
function upshotOf(ending) {
	switch (ending.kind) {
		case "measured": return upshotOfResult(ending.result);
		case "bisected": return upshotOfBisection(ending.result);
		case "unmeasured": return upshots[ending.why];
		case "uncounted": return "usage";
	}
}
const upshots = {
	cancelled: "cancelled",
	usage: "usage",
	patchAtFault: "patchAtFault",
	infrastructure: "infrastructure",
	"waits-for-leave": "usage",
	"left-to-queue": "pass"
};
/** That of a gate; undefined where there is none. */
function resultOf$1(ending) {
	switch (ending.kind) {
		case "measured": return ending.result;
		case "bisected":
		case "unmeasured": return;
		case "uncounted": return ending.measured.result;
	}
}
/** One line of plain text of our own making: `🔴 #7 loses 10.4 % (forwarding inet4)`, `⚪ not measured: cancelled`. */
function titleOf(ending) {
	switch (ending.kind) {
		case "measured": return verdictLine(ending.result);
		case "bisected": return `${bisectSymbol(ending.result)} ${bisectHeadline(ending.result)}`;
		case "unmeasured": {
			const { symbol, text } = failures[ending.why];
			return `${symbol} ${text}`;
		}
		case "uncounted": return `⚪ does not count: ${ending.title}`;
	}
}
/** What came of a gate, in Markdown. */
function summaryOf(ending) {
	switch (ending.kind) {
		case "measured": return renderMarkdown(ending.result, ending.links);
		case "bisected": {
			const { result, asked, links } = ending;
			return renderBisectMarkdown(result, {
				...links,
				ways: waysOf(callOnGithub, asked)
			});
		}
		case "unmeasured": return ending.why === "cancelled" ? ending.said : codeBlock(ending.said);
		case "uncounted": return `${ending.why}\n\n${summaryOf(ending.measured)}`;
	}
}
/** How a comment asks for what a bisection proposes. */
function waysOf(call, asked) {
	const command = (more) => `\`${call} ${bisectWords({
		...asked,
		...more
	})}\``;
	const { fixUp, maxBoots = 60 } = asked;
	return {
		fixUp: (commit) => command({ fixUp: [fixUp, commit].filter(Boolean).join(",") }),
		goOn: command({ maxBoots: String(2 * Number(maxBoots)) }),
		verifyRevert: command({ verifyRevert: "true" })
	};
}
/** What stands in a heading where there is no verdict. */
const failures = {
	cancelled: {
		symbol: "⚪",
		text: "not measured: cancelled"
	},
	usage: {
		symbol: "⚪",
		text: "not measured: what was asked for cannot be done"
	},
	patchAtFault: {
		symbol: "🔴",
		text: "not measured: the patch does not apply"
	},
	infrastructure: {
		symbol: "⚪",
		text: "not measured: something failed that is not the patch"
	},
	"waits-for-leave": {
		symbol: "⏸️",
		text: "waits for a maintainer"
	},
	"left-to-queue": {
		symbol: "⏸️",
		text: "not measured yet: the merge queue does that"
	}
};

// src/answer/answer.ts
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
		const given = await Promise.all(answers.map((answer) => answer.ended(ending)));
		return worstFirst.find((one) => given.includes(one)) ?? "given";
	},
	async linked(ending) {
		await Promise.all(answers.map((answer) => answer.linked(ending)));
	},
	async left() {
		await Promise.all(answers.map((answer) => answer.left()));
	}
});
const worstFirst = ["untaken", "refused"];
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
	return linkedNow(answer, ending, make, warn);
}
/** The same for an ending that was told already. */
async function linkedNow(answer, ending, make, warn) {
	try {
		const linked = {
			...ending,
			links: await make()
		};
		await answer.linked(linked);
		return linked;
	} catch (error) {
		warn(`The answer has no links, because the report was not kept (${reasonOf(error)}).`);
		return ending;
	}
}
/**
* How long an end is tried: a job that is cancelled is killed soon, and one that does nothing but answer has `patience`.
*/
const secondsFor = (ending, patienceSeconds) => patienceSeconds ?? (upshotOf(ending) === "cancelled" ? 30 : 300);
/** `2 of 3 in line, some 40 min`. */
function placeInLine({ place, of, expectedSeconds }) {
	const line = `${place} of ${of} in line`;
	return expectedSeconds === void 0 ? line : `${line}, ${expectedly(expectedSeconds)}`;
}
/** Tells by the clock when it begins, for that is read later than it is written. */
function expectation({ expectedSeconds }, now) {
	const asOf = `as of ${timeText(now)}`;
	if (expectedSeconds === void 0) return `Nobody can say when it begins, ${asOf}: nothing that would do is healthy.`;
	const begin = new Date(now.getTime() + expectedSeconds * 1e3);
	return `Expected to begin at about ${timeText(begin)}, ${asOf}.`;
}
const timeText = (date) => `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;

// src/answer/newer-diff.ts
/**
* A sentence that names the revision's newest diff, and its build of the same plan, if any; undefined where none is
* newer. Throws a ConduitError.
*
* @param build the PHID of that of the older diff
*/
async function newerDiff(conduit, build, { number, diff }) {
	const ofRevision = { constraints: { ids: [number] } };
	const [revision] = await conduit.search("differential.revision.search", ofRevision, revisions$1);
	if (revision === void 0) return void 0;
	const { diffPHID } = revision.fields;
	const ofDiff = { constraints: { phids: [diffPHID] } };
	const [newest] = await conduit.search("differential.diff.search", ofDiff, diffs);
	if (newest === void 0 || newest.id <= diff) return void 0;
	const said = `Diff ${newest.id} is newer and has taken its place`;
	const its = await buildableOf(conduit, diffPHID, build).catch(() => void 0);
	if (its === void 0) return `${said}: what is measured is that one.`;
	return `${said}: see its build, B${its.id} (${its.fields.uri}).`;
}
const revisions$1 = object({ fields: object({ diffPHID: string() }) });
const diffs = object({ id: int() });
/** The page of the newest build of that diff by the plan of ours. */
async function buildableOf(conduit, diffPHID, build) {
	const ofOurs = { constraints: { phids: [build] } };
	const [ours] = await conduit.search("harbormaster.build.search", ofOurs, builds$1);
	const ofDiff = { constraints: { objectPHIDs: [diffPHID] } };
	const found = await conduit.search("harbormaster.buildable.search", ofDiff, buildables);
	if (ours === void 0 || found.length === 0) return void 0;
	const plans = [ours.fields.buildPlanPHID];
	const ofPlan = { constraints: {
		buildables: found.map(({ phid }) => phid),
		plans
	} };
	const [its] = await conduit.search("harbormaster.build.search", ofPlan, builds$1);
	return found.find(({ phid }) => phid === its?.fields.buildablePHID);
}
const buildables = object({
	id: int(),
	phid: string(),
	fields: object({ uri: string() })
});
const builds$1 = object({ fields: object({
	buildPlanPHID: string(),
	buildablePHID: string()
}) });

// src/answer/teller.ts
/** The pauses between tries, ever longer, all of them together no longer than that. */
function* pausesWithin(mostSeconds) {
	for (let tries = 1, waited = 0;; tries++) {
		const seconds = Math.min(tries ** 2, longestPauseSeconds);
		waited += seconds;
		if (waited > mostSeconds) return;
		yield seconds;
	}
}
const longestPauseSeconds = 60;
/**
* Tells one view at a time, and never waits for an answer but at the end. Where the forge refuses, that is said once and
* not tried again; the last view is tried again, ever later, for at most as long as is said with it.
*/
function newestTeller(put, { log, secondsBetween, tooSlow, pause = realPause }) {
	const end = new AbortController();
	const gaveUp = new AbortController();
	const over = AbortSignal.any([end.signal, gaveUp.signal]);
	let untold;
	let telling;
	let ending;
	let isRefused = false;
	let whyUntold = "";
	const giveUp = (say, why) => {
		if (!gaveUp.signal.aborted) say(why);
		gaveUp.abort();
	};
	const refuse = (why) => {
		giveUp(log.info, why);
		isRefused = true;
		return "refused";
	};
	const keepTelling = async () => {
		while (untold !== void 0 && !over.aborted) {
			const view = untold;
			const told = await put(view);
			if (told.kind === "refused") refuse(told.why);
			if (told.kind === "told" && untold === view) untold = void 0;
			await pause(secondsBetween, over);
		}
		telling = void 0;
	};
	const tellEnd = async (view, mostSeconds) => {
		await telling;
		for (const seconds of [0, ...pausesWithin(mostSeconds)]) {
			if (seconds > 0) await pause(seconds, gaveUp.signal);
			if (gaveUp.signal.aborted) break;
			const told = await put(view);
			if (told.kind === "told") return "given";
			if (told.kind === "refused") return refuse(told.why);
			whyUntold = told.why;
		}
		if (isRefused) return "refused";
		giveUp(log.warn, whyUntold);
		return "untaken";
	};
	const tellEndInTime = async (view, mostSeconds) => {
		end.abort();
		whyUntold = tooSlow(mostSeconds);
		const isTold = new AbortController();
		const tooLate = pause(mostSeconds, isTold.signal).then(() => "too late");
		const first = await Promise.race([tellEnd(view, mostSeconds), tooLate]);
		isTold.abort();
		if (first !== "too late") return first;
		giveUp(log.warn, whyUntold);
		return "untaken";
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
		/** Tells a view in the place of the last one, once that is told; nothing where the last could not be. */
		async tellInstead(view, mostSeconds) {
			if (ending === void 0) return;
			await ending;
			if (!gaveUp.signal.aborted) await tellEndInTime(view, mostSeconds);
		}
	};
}

// src/answer/build.ts
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
	const teller = newestTeller(tellBuild(conduit, build, revision, {
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
		ended: (ending) => teller.tellLast(ending, secondsFor(ending, options.patienceSeconds)),
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
	const isPassing = error instanceof ConduitError && mayPass$1(error);
	const why = reasonOf(error).replace(/\.$/, "");
	return {
		kind: isPassing ? "failed" : "refused",
		why: sentence(why)
	};
}
/**
* Tells `work` and an end, each once to a target, for Harbormaster adds up the units of all messages. It obeys a second
* or two after it has answered, or never: so the end is told when the target shows it. Never throws.
*/
function tellBuild(conduit, build, revision, { run, details, undecided, pause = realPause, ...options }) {
	const log = {
		info: eachOnce(options.log.info),
		warn: eachOnce(options.log.warn)
	};
	const workedOn = /* @__PURE__ */ new Set();
	const linked = /* @__PURE__ */ new Set();
	const ends = /* @__PURE__ */ new Map();
	const what = buildName(revision);
	let newer;
	const put = async (view) => {
		for (const seconds of [
			0,
			1,
			2,
			4,
			8
		]) {
			if (seconds > 0) await pause(seconds, never$2);
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
			kind: "not-yet",
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
		const message = view === "working" ? { type: "work" } : endOf(await withReason(view), undecided);
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
	/** To say of a cancelled gate what took its place: asked once, and not for long, for its job is killed soon. */
	const withReason = async (ending) => {
		if (ending.kind !== "unmeasured" || ending.why !== "cancelled") return ending;
		newer ??= knownSoon(newerDiff(conduit, build, revision), pause);
		const said = await newer;
		return said === void 0 ? ending : {
			...ending,
			said
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
const never$2 = new AbortController().signal;
const mostSecondsToKnow = 3;
/** Undefined where it is not known soon, or not at all. */
async function knownSoon(asked, pause) {
	const isKnown = new AbortController();
	const tooLate = pause(mostSecondsToKnow, isKnown.signal).then(() => void 0);
	const known = await Promise.race([asked.catch(() => void 0), tooLate]);
	isKnown.abort();
	return known;
}
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
const notTaken = (revision, why) => `${buildName(revision)} may not show how the gate stands (${why}).`;
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
	const upshot = upshotOf(ending);
	return {
		type: upshot === "pass" || upshot === "undecided" && undecided === "neutral" ? "pass" : "fail",
		unit: unitsOf(ending)
	};
}
function unitsOf(ending) {
	if (ending.kind === "unmeasured") return [aUnit("gate", resultsWithout.get(ending.why) ?? "broken", ending.said)];
	if (ending.kind === "bisected") {
		const blame = upshotOf(ending) === "pass" ? "pass" : "unsound";
		return [aUnit("bisection", blame, bisectHeadline(ending.result))];
	}
	const { result } = ending.kind === "measured" ? ending : ending.measured;
	const { outcome } = result;
	if (outcome.kind === "judged") return unitsOfCells(outcome.cells, result);
	if (outcome.kind === "unchanged") return [aUnit("unchanged", "skip", unchangedMeaning(outcome))];
	const blame = outcome.kind === "out-of-disk" ? "broken" : "fail";
	return [aUnit(outcomeName(result), blame, outcome.message)];
}
const resultsWithout = /* @__PURE__ */ new Map([["patchAtFault", "fail"], ["cancelled", "skip"]]);
/** Where nothing was measured one tells of all, for of many Harbormaster shows five. */
function unitsOfCells(cells, result) {
	if (cells.some(({ verdict }) => verdict.kind !== "invalid") || cells.length === 1) return cells.map((cell) => unitOf(cell, result));
	const lines = [`invalid: ${sentence(result).text}`, ...invalidLines(cells, plain$1)];
	return [aUnit("gate", resultOf.invalid, lines.join("\n"))];
}
function unitOf(cell, { blasts, policy }) {
	const name = cellName(cell.cell);
	const seconds = blasts.filter((blast) => cellName(blast.cell) === name).reduce((sum, { trafficSeconds }) => sum + trafficSeconds, 0);
	const [comparison] = cell.comparisons;
	const confidence = formatPercent(policy.confidenceRatio);
	const details = [cell.verdict.kind === "invalid" ? `invalid: ${cell.verdict.reason}` : `${cell.verdict.kind}${remarkOf(cell)}`, comparison && changeText(comparison, confidence)].filter(Boolean).join("\n");
	return {
		...aUnit(name, resultOf[cell.verdict.kind], details),
		duration: seconds
	};
}
/** `805.3 kpps → 721.5 kpps: −10.4 %, 95 % interval −11.2 … −9.60 %`. */
const changeText = ({ metric, base, patched, interval }, confidence) => [`${formatMetric(base, metric)} → ${formatMetric(patched, metric)}: ${formatChange(interval.change)}`, `${confidence} interval ${formatInterval(interval.low, interval.high)} %`].join(", ");
/**
* `unsound` is measured without an answer, `broken` could not be measured, by what these words mean to Harbormaster. It
* would call that `skip`, too, and then shows neither unit nor reason on the revision, as of all that passes.
*/
const resultOf = {
	"no-regression": "pass",
	improvement: "pass",
	regression: "fail",
	inconclusive: "unsound",
	invalid: "broken"
};
const aUnit = (name, result, details) => ({
	engine: "ppsgate",
	format: "text",
	name,
	result,
	details: plainBlock(details, 2e3)
});

// src/answer/check-run.ts
/**
* One check run on the head of the patch, created with the first thing there is to show. What is shown next is sent at
* most every 10 s, but the end at once. Where GitHub refuses, as it does a token without `checks: write`, that is said
* once and not tried again.
*/
function openCheckRun(octokit, subject, options) {
	const { detailsUrl, now, undecided, isOwnApp, patienceSeconds } = options;
	const teller = newestTeller(checkRunOf(octokit, subject, options), {
		...options,
		secondsBetween: 10,
		tooSlow: tooSlow$2
	});
	const withJob = (summary) => isOwnApp ? summary : `${summary}\n\n[The job](${detailsUrl})`;
	let since;
	return {
		queued(text) {
			teller.tell({
				status: "queued",
				output: {
					title: text,
					summary: withJob(text)
				}
			});
		},
		waiting(outlook, text) {
			const summary = withJob(`${codeSpan(text, 1e3)}\n\n${expectation(outlook, now())}`);
			teller.tell({
				status: "queued",
				output: {
					title: placeInLine(outlook),
					summary
				}
			});
		},
		measuring(testbed, line = "") {
			since ??= now();
			const where = `On ${codeSpan(testbed)}, since ${timeText(since)}.`;
			const summary = withJob([where, codeSpan(line)].filter(Boolean).join("\n\n"));
			teller.tell({
				status: "in_progress",
				output: {
					title: `measuring on ${testbed}`,
					summary
				}
			});
		},
		ended(ending) {
			const result = resultOf$1(ending);
			const annotations = result === void 0 ? [] : annotationsOf(result);
			const output = {
				title: titleOf(ending),
				summary: withJob(summaryOf(ending)),
				annotations
			};
			const conclusion = conclusionOf(ending, undecided);
			const actions = isOwnApp ? buttonsFor(ending) : [];
			return teller.tellLast({
				status: "completed",
				conclusion,
				output,
				actions
			}, secondsFor(ending, patienceSeconds));
		},
		linked: (ending) => teller.tellInstead({
			status: "linked",
			output: {
				title: titleOf(ending),
				summary: withJob(summaryOf(ending))
			}
		}, secondsFor(ending, patienceSeconds)),
		left: teller.left
	};
}
/**
* Completes what a killed job left open, which may have known of its check or not; answers, in a sentence for people,
* why that failed.
*/
async function closeLeftCheckRun(octokit, { repository, patch }, { name, detailsUrl }) {
	const { owner, repo } = placeOf(repository);
	try {
		const found = await octokit.request(checksOfCommit, {
			owner,
			repo,
			ref: patch.headCommit,
			check_name: name,
			filter: "all",
			per_page: 100
		});
		const ours = externalIdOf(patch, detailsUrl);
		for (const { id: check_run_id, external_id, status } of found.data.check_runs) {
			if (external_id !== ours || status === "completed") continue;
			const ending = {
				status: "completed",
				conclusion: "cancelled",
				output: {
					title: titleOf(cancelled),
					summary: summaryOf(cancelled)
				}
			};
			await octokit.request(updateCheck, {
				owner,
				repo,
				check_run_id,
				...ending
			});
		}
		return;
	} catch (error) {
		return `A check of ppsgate on ${repository} may stay open, because the job ended early and GitHub could not be told (${githubFailure(error)?.said ?? reasonOf(error)}): run the job again.`;
	}
}
/**
* Whether the newest check of this name on the head was passed, or left open, for another pull request or another base:
* a check stands on a commit, and speaks for whatever has that commit. True as well where GitHub does not tell.
*/
async function standsForAnother(octokit, { repository, patch }, name) {
	try {
		const newest = await newestCheckRun(octokit, {
			repository,
			patch
		}, name);
		return (newest?.conclusion === "success" || newest?.conclusion === "neutral") && !newest.external_id?.startsWith(externalIdOf(patch, ""));
	} catch {
		return true;
	}
}
/** Whether there is a check of this name on the head, whatever it says. True as well where GitHub does not tell. */
const hasCheckRun = (octokit, subject, name) => newestCheckRun(octokit, subject, name).then((newest) => newest !== void 0, () => true);
async function newestCheckRun(octokit, { repository, patch }, name) {
	const { owner, repo } = placeOf(repository);
	return (await octokit.request(checksOfCommit, {
		owner,
		repo,
		ref: patch.headCommit,
		check_name: name,
		filter: "all",
		per_page: 100
	})).data.check_runs.toSorted((a, b) => Number(b.id) - Number(a.id))[0];
}
/** `#7 main https://…`: what a check was made for. No branch has a space in its name. */
const externalIdOf = (patch, detailsUrl) => patch.kind === "pull-request" ? `#${patch.number} ${patch.baseBranch ?? "?"} ${detailsUrl}` : detailsUrl;
/** The number of the pull request that a check was made for, by its `external_id`. */
function pullRequestOfCheckRun(externalId) {
	const [, digits] = /^#([1-9]\d{0,9}) /.exec(externalId) ?? [];
	return digits === void 0 ? void 0 : Number(digits);
}
const checksOfCommit = "GET /repos/{owner}/{repo}/commits/{ref}/check-runs";
const updateCheck = "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}";
/**
* What makes the job red makes the check red, and only a pass makes it green. `neutral` would be fair where nobody can
* say, but a branch rule that requires the check takes it for a pass, so a site has to ask for it; where something kept
* the patch from being measured it is never given. A patch that need not be measured, or not yet, is to pass such a rule,
* and did not earn green. Whose fault it is stands in the title.
*/
function conclusionOf(ending, undecided) {
	switch (upshotOf(ending)) {
		case "pass": return resultOf$1(ending)?.outcome.kind === "judged" ? "success" : "neutral";
		case "cancelled": return "cancelled";
		case "undecided": return undecided;
		case "patchAtFault":
		case "usage":
		case "infrastructure": return "failure";
	}
}
/** Within the 20, 40 and 20 characters that GitHub allows. */
const rerun = {
	label: "Re-run",
	description: "Measure this commit again",
	identifier: "rerun"
};
const extend = {
	label: "Extend",
	description: "Go on with more runs",
	identifier: "extend"
};
const buttonsFor = (ending) => upshotOf(ending) === "undecided" && !resultOf$1(ending)?.isSplit ? [extend, rerun] : [rerun];
const tooSlow$2 = (seconds) => `The check on the commit may not show how the gate ended, because GitHub did not answer within ${seconds} s: run the job again where the check is required.`;
/** Shows views in one check run, the first by creating it. */
function checkRunOf(octokit, subject, { name, detailsUrl, isOwnApp, isOpen = false }) {
	const { owner, repo } = placeOf(subject.repository);
	const { headCommit } = subject.patch;
	const request = { retries: 0 };
	const external_id = externalIdOf(subject.patch, detailsUrl);
	let id;
	let mayExist = isOpen;
	let mayBeComplete = false;
	const create = async (view) => {
		const about = {
			name,
			head_sha: headCommit,
			...isOwnApp ? { details_url: detailsUrl } : {}
		};
		const { data } = await octokit.request("POST /repos/{owner}/{repo}/check-runs", {
			owner,
			repo,
			...about,
			external_id,
			request,
			...view
		});
		return data.id;
	};
	const update = (check_run_id, changes) => octokit.request(updateCheck, {
		owner,
		repo,
		check_run_id,
		request,
		...changes
	});
	/** The answer may be lost after GitHub did what was asked. What an earlier attempt of this run completed is not it. */
	const find = async (view) => {
		return (await octokit.request(checksOfCommit, {
			owner,
			repo,
			ref: headCommit,
			check_name: name,
			filter: "all",
			per_page: 100
		})).data.check_runs.find((run) => {
			if (id !== void 0) return run.id === id;
			if (run.external_id !== external_id) return false;
			return run.status !== "completed" || hasEnded(run, view);
		});
	};
	return async (view) => {
		try {
			if (view.status === "linked") {
				if (id === void 0) return { kind: "told" };
				await update(id, { output: view.output });
				return { kind: "told" };
			}
			if (id === void 0 ? mayExist : mayBeComplete) {
				const found = await find(view);
				id ??= found?.id;
				if (found?.status === "completed") return { kind: "told" };
			}
			mayExist = true;
			mayBeComplete = view.status === "completed";
			if (id === void 0) id = await create(view);
			else await update(id, view);
			return { kind: "told" };
		} catch (error) {
			return notTold$1(error, name, subject);
		}
	};
}
const hasEnded = ({ conclusion, output }, view) => view.status === "completed" && conclusion === view.conclusion && output.title === view.output.title;
function notTold$1(error, name, { repository, patch }) {
	const what = `The check ${name} on ${patchName(patch)} of ${repository} does not show how things stand`;
	const failure = githubFailure(error);
	if (failure === void 0) return {
		kind: "refused",
		why: `${what} (${reasonOf(error)}).`
	};
	if (failure.kind !== "answered" || failure.status >= 500) return {
		kind: "failed",
		why: `${what} because GitHub could not be told (${failure.said}): run the job again where the check is required.`
	};
	return {
		kind: "refused",
		why: whyNotDone(what, failure, {
			again: "run the job",
			permission: "give the job `permissions: checks: write`; the gate goes on without",
			otherwise: "; the gate goes on without"
		})
	};
}

// src/answer/comment-text.ts
const mostEarlier = 10;
const longestTitle = 160;
const verdict = object({
	/** Id of the workflow run that has its journal. */
	run: int().nonnegative(),
	headCommit: string().max(64),
	at: datetime(),
	/** `🔴 #7 loses 10.4 % (forwarding inet4)`. */
	title: string().max(longestTitle)
});
/** Kept in the comment itself, where readers do not see it. */
const memorySchema = object({
	/** Id of the workflow run that wrote last: a later one has a greater. */
	run: int().nonnegative(),
	headCommit: string().max(64),
	/** Since when the comment has named this head. */
	since: datetime(),
	/** What was asked of the gate last. */
	ask: askSchema,
	last: verdict.optional(),
	/** Newest first. */
	earlier: array(verdict).max(mostEarlier)
});
/** The first line of the comment, by which it is found again. */
const markerOf = (name) => `<!-- ${name.replace(/[^\w :.,-]/g, "")} -->`;
/**
* The whole comment around `body`, which is Markdown; undefined where a later run has written meanwhile, and so must not
* be overwritten.
*/
function composeComment(before, body, writing) {
	const known = before === void 0 ? void 0 : readMemory(before);
	if (known !== void 0 && known.run > writing.run) return void 0;
	return fitted(writing.name, body.trimEnd(), nextMemory(known, writing));
}
/**
* What a comment of ours remembers; undefined where somebody has taken that out, or put something else there. It stands
* at the very end, where no text of others ever does.
*/
function readMemory(comment) {
	const start = comment.lastIndexOf(opening);
	if (start < 0) return void 0;
	const [, encoded] = /^([\w-]+) -->\s*$/.exec(comment.slice(start + opening.length)) ?? [];
	if (encoded === void 0) return void 0;
	try {
		return memorySchema.parse(JSON.parse(Buffer.from(encoded, "base64url").toString()));
	} catch {
		return;
	}
}
const opening = "<!-- ppsgate remembers: ";
function nextMemory(known, writing) {
	const { run, headCommit, ask, at, title } = writing;
	const { last, earlier = [] } = known ?? {};
	const now = at.toISOString();
	const head = {
		run,
		headCommit,
		since: known?.headCommit === headCommit ? known.since : now,
		ask: ask ?? known?.ask ?? {}
	};
	if (title === void 0) return {
		...head,
		...last && { last },
		earlier
	};
	const before = last === void 0 || last.run === run ? earlier : [last, ...earlier];
	return {
		...head,
		last: {
			run,
			headCommit,
			at: now,
			title: plainLine(title, longestTitle)
		},
		earlier: before.slice(0, mostEarlier)
	};
}
/** GitHub's own limit for a comment. */
const mostCharacters$1 = 65536;
/** The oldest verdicts are forgotten where there is no room for all. */
function fitted(name, body, memory) {
	const remembered = Buffer.from(JSON.stringify(memory)).toString("base64url");
	const comment = [
		markerOf(name),
		body,
		...earlierVerdicts(memory),
		`${opening}${remembered} -->`
	].join("\n\n");
	const { earlier } = memory;
	if (comment.length <= mostCharacters$1 || earlier.length === 0) return comment;
	return fitted(name, body, {
		...memory,
		earlier: earlier.slice(0, -1)
	});
}
/** All but the one that the comment shows: those of earlier pushes, and of this commit before a rerun. */
function earlierVerdicts({ run, last, earlier }) {
	const all = last === void 0 || last.run === run ? earlier : [last, ...earlier];
	if (all.length === 0) return [];
	return [`<details><summary>earlier verdicts</summary>\n\n${[
		"| commit | judged | |",
		"|---|---|---|",
		...all.map(({ headCommit, at, title }) => {
			return `| ${[
				shortId(headCommit),
				at.slice(0, 10),
				title
			].map((cell) => codeSpan(cell).replaceAll("|", "\\|")).join(" | ")} |`;
		})
	].join("\n")}\n\n</details>`];
}

// src/answer/comment.ts
/** Where GitHub refuses, as it does a token that may only read, that is said once and not tried again. */
function openComment(octokit, pullRequest, options) {
	const { name, run, ask, detailsUrl, log, now, pause, patienceSeconds, keep = () => {} } = options;
	const { headCommit } = pullRequest;
	const { subject = patchName(pullRequest) } = options;
	const put = async ({ body, title }) => {
		const writing = {
			name,
			run,
			headCommit,
			ask,
			at: now(),
			...title && { title }
		};
		try {
			const published = await publishComment(octokit, pullRequest, (before) => composeComment(before, body, writing), {
				marker: markerOf(name),
				...pause && { pause: (seconds) => pause(seconds, never$1) }
			});
			if (published.kind === "left") return {
				kind: "refused",
				why: superseded
			};
			if (published.kind !== "not-published") {
				keep(published.url);
				return { kind: "told" };
			}
			return {
				kind: published.isFinal ? "refused" : "failed",
				why: published.why
			};
		} catch (error) {
			return {
				kind: "refused",
				why: `The comment on ${patchName(pullRequest)} was not written (${reasonOf(error)}).`
			};
		}
	};
	const teller = newestTeller(put, {
		log: {
			...log,
			info: (sentence) => (sentence === superseded ? log.info : log.warn)(sentence)
		},
		secondsBetween: 60,
		tooSlow: tooSlow$1,
		...pause && { pause }
	});
	const heading = (text) => `### ⏳ ppsgate: ${subject} ${text}`;
	const job = `<sub>[the job](${detailsUrl}) · commit ${codeSpan(headCommit)}</sub>`;
	const said = (...parts) => ({ body: parts.filter(Boolean).join("\n\n") });
	const ended = (ending) => ending.kind === "unmeasured" ? said(unmeasured(subject, ending), job) : {
		body: summaryOf(ending),
		title: titleOf(ending)
	};
	let since;
	return {
		queued(text) {
			teller.tell(said(heading(text), job));
		},
		waiting(outlook, text) {
			const title = heading(`waits for a testbed: ${placeInLine(outlook)}`);
			teller.tell(said(title, `${codeSpan(text, 1e3)}\n\n${expectation(outlook, now())}`, job));
		},
		measuring(testbed, line = "") {
			since ??= now();
			const where = `On ${codeSpan(testbed)}, since ${timeText(since)}.`;
			teller.tell(said(heading("is being measured"), where, codeSpan(line), job));
		},
		ended: (ending) => teller.tellLast(ended(ending), secondsFor(ending, patienceSeconds)),
		linked: (ending) => teller.tellInstead(ended(ending), secondsFor(ending, patienceSeconds)),
		left: teller.left
	};
}
const never$1 = new AbortController().signal;
const superseded = "The comment is left to a later run for the same pull request.";
const tooSlow$1 = (seconds) => `The comment on the pull request may not show how the gate ended, because GitHub did not answer within ${seconds} s; the result is in the job's summary.`;
function unmeasured(subject, ending) {
	const { symbol, text } = failures[ending.why];
	return `### ${symbol} ppsgate: ${subject} ${text}\n\n${summaryOf(ending)}`;
}

// src/answer/one-base.ts
/**
* The same answer on the head commit, which fails instead of passing where an open pull request with this head goes to
* another branch than the one that the patch was measured for; its own too, when it was sent elsewhere meanwhile.
*/
function forOneBase(octokit, patch, answer, { patienceSeconds, pause = realPause } = {}) {
	let elsewhere;
	const bound = (ending) => {
		if (elsewhere === void 0) return ending;
		if (ending.kind === "measured") return {
			kind: "uncounted",
			measured: ending,
			...elsewhere
		};
		return isLeft(ending) ? {
			...ending,
			why: "waits-for-leave"
		} : ending;
	};
	return {
		...answer,
		async ended(ending) {
			if (mayPass(ending)) elsewhere = await goesElsewhere(octokit, patch, {
				most: secondsFor(ending, patienceSeconds),
				pause
			});
			return answer.ended(bound(ending));
		},
		linked: (ending) => answer.linked(bound(ending))
	};
}
const isLeft = (ending) => ending.kind === "unmeasured" && ending.why === "left-to-queue";
/** A branch rule takes a check that is neutral for a pass. */
const mayPass = (ending) => ["pass", "undecided"].includes(upshotOf(ending));
async function goesElsewhere(octokit, patch, { most, pause }) {
	const { repository, headCommit, baseBranch } = patch;
	try {
		const elsewhere = (await whenWell(() => pullRequestsWithHead(octokit, repository, headCommit), [...pausesWithin(most)], pause)).find(({ pullRequest }) => pullRequest.baseBranch !== baseBranch);
		if (elsewhere === void 0) return void 0;
		const { number, baseBranch: branch = "" } = elsewhere.pullRequest;
		const goes = number === patch.number ? "goes" : "has the same head and goes";
		return {
			title: "this commit goes to another branch",
			why: `${patchName(patch)} was measured for ${codeSpan(baseBranch ?? "another branch")}, and #${number} ${goes} to ${codeSpan(branch)}: a commit has one check for all of them. Close the other, or push to one of them, and write \`/ppsgate rerun\` at the one that is to be merged.`
		};
	} catch (error) {
		return {
			title: "GitHub did not tell where this commit goes",
			why: `Nobody can say whether another pull request has this commit: ${codeSpan(reasonOf(error), 500)} Write \`/ppsgate rerun\`.`
		};
	}
}
/** Asks again, after each of the pauses, while GitHub is not well. */
async function whenWell(ask, [seconds, ...later], pause) {
	try {
		return await ask();
	} catch (error) {
		const cause = error instanceof Error ? error.cause : void 0;
		if (seconds === void 0 || !mayPassSoon(githubFailure(cause))) throw error;
		await pause(seconds, never);
		return whenWell(ask, later, pause);
	}
}
const never = new AbortController().signal;

// src/answer/revision-comment.ts
const openRevisionAnswer = (conduit, revision, { build, ...options }) => together([...build === void 0 ? [] : [openBuild(conduit, build, revision, options)], openRevisionComment(conduit, revision, options)]);
/** One comment when the gate has ended, with its plot where that can be uploaded; everybody who follows gets mail of it. */
function openRevisionComment(conduit, revision, options) {
	const { log, pause, patienceSeconds } = options;
	const teller = newestTeller(tellRevision(conduit, revision, options), {
		log: {
			info: log.warn,
			warn: log.warn
		},
		secondsBetween: 60,
		tooSlow: (seconds) => unsaid(revision.number, `Phabricator did not answer within ${seconds} s`),
		...pause && { pause }
	});
	const nothing = () => {};
	return {
		queued: nothing,
		waiting: nothing,
		measuring: nothing,
		ended: (ending) => teller.tellLast(ending, secondsFor(ending, patienceSeconds)),
		linked: async () => {},
		left: teller.left
	};
}
/** Posts the comment, once for each run, however often it is called. Never throws. */
function tellRevision(conduit, revision, { run, details, page, takesCommands, log }) {
	const { number, diff } = revision;
	const marker = `ppsgate D${number}:${diff} run ${run}`;
	const plot = plotOf(conduit, revision);
	return async (ending) => {
		if (upshotOf(ending) === "cancelled") return { kind: "told" };
		const links = {
			...details !== void 0 && { details },
			...page !== void 0 && { page },
			...takesCommands && {
				rerun: `${"@ppsgate"} rerun`,
				goOn: `${"@ppsgate"} extend`
			}
		};
		let missing;
		const told = await postOnce(conduit, number, marker, async () => {
			if (ending.kind === "unmeasured") return renderRemarkupFailure({
				...failures[ending.why],
				said: ending.said
			}, links);
			const { image, why } = await plot(() => ending.kind === "bisected" ? bisectPlot(ending.result) : intervalPlot(measuredIn(ending)));
			missing = why;
			const shown = {
				...links,
				...image && { image }
			};
			if (ending.kind !== "bisected") return renderRemarkup(measuredIn(ending), shown);
			const ways = waysOf(callOnPhabricator, ending.asked);
			return renderBisectRemarkup(ending.result, {
				...shown,
				...takesCommands && { ways }
			});
		});
		if (told.kind === "told" && missing !== void 0) log.info(missing);
		return told;
	};
}
const measuredIn = (ending) => (ending.kind === "measured" ? ending : ending.measured).result;
/**
* Posts a short reply, once for each key. `text` is Remarkup of our own making: what others have written is in it only
* as remarkupText leaves it. Never throws.
*
* @param revision 27401 of D27401
*/
const say = (conduit, revision, text, key) => postOnce(conduit, revision, `ppsgate D${revision} reply ${key}`, async () => text);
/**
* Looks first whether it is there already, for Phabricator takes the same comment twice, and an answer can be lost after
* it was taken. Remarkup hides nothing, so the marker is the comment's last line for all to see.
*/
async function postOnce(conduit, revision, marker, compose) {
	const objectIdentifier = `D${revision}`;
	const ending = `\`${marker}\``;
	try {
		if (await isPosted(conduit, objectIdentifier, ending)) return { kind: "told" };
		const comment = {
			objectIdentifier,
			transactions: [{
				type: "comment",
				value: `${await compose()}\n\n${ending}`
			}]
		};
		await conduit.call("differential.revision.edit", comment, unknown());
		return { kind: "told" };
	} catch (error) {
		return failureOf(error, (why) => unsaid(revision, why));
	}
}
const unsaid = (revision, why) => `The comment on D${revision} may not be there (${why}).`;
const mostTransactions = 500;
/**
* Looks at comments of our own account alone, and at their ends: elsewhere the marker may be what others have written.
*/
async function isPosted(conduit, objectIdentifier, ending) {
	const { phid } = await conduit.call("user.whoami", {}, object({ phid: string() }));
	const asked = {
		objectIdentifier,
		constraints: { authorPHIDs: [phid] }
	};
	return (await conduit.search("transaction.search", asked, commentSchema, mostTransactions)).flatMap(({ comments }) => comments.map(({ content }) => content.raw)).some((text) => text.trimEnd().endsWith(ending));
}
const commentSchema = object({ comments: array(object({ content: object({ raw: string() }) })) });
/** Uploads it once: a comment only shows what the server has, and of pictures only pixels. */
function plotOf(conduit, { number, diff }) {
	let uploaded;
	return async (draw) => {
		if (uploaded !== void 0) return uploaded;
		try {
			const svg = draw();
			if (svg === void 0) return {};
			const png = Buffer.from(await pngOf(svg));
			uploaded = { image: await upload(conduit, `ppsgate-D${number}-${diff}.png`, png) };
			return uploaded;
		} catch (error) {
			return { why: `The comment on D${number} goes without its plot (${reasonOf(error)}).` };
		}
	};
}
/**
* Uploads a file for all to see: a comment by Conduit does not make one visible that is not. Answers its name, like
* `F123`.
*/
async function upload(conduit, name, bytes) {
	const file = {
		name,
		data_base64: bytes.toString("base64"),
		viewPolicy: "public"
	};
	const constraints = { phids: [await conduit.call("file.upload", file, string())] };
	const ids = object({ id: int() });
	const [found] = await conduit.search("file.search", { constraints }, ids);
	if (found === void 0) throw new Error(`${conduit.url} does not show ${name} that it has taken`);
	return `F${found.id}`;
}

// src/answer/status.ts
/** A status knows no neutral: where nobody can say, it fails. */
function openStatus(octokit, subject, options) {
	const { name, detailsUrl, patienceSeconds } = options;
	const { owner, repo } = placeOf(subject.repository);
	const put = async ({ state, description }) => {
		try {
			await octokit.request("POST /repos/{owner}/{repo}/statuses/{sha}", {
				owner,
				repo,
				sha: subject.patch.headCommit,
				state,
				description: plain(description),
				context: name,
				target_url: detailsUrl
			});
			return { kind: "told" };
		} catch (error) {
			return notTold(error);
		}
	};
	const teller = newestTeller(put, {
		...options,
		secondsBetween: 60,
		tooSlow
	});
	return {
		waiting: (outlook) => teller.tell({
			state: "pending",
			description: placeInLine(outlook)
		}),
		queued: (text) => teller.tell({
			state: "pending",
			description: text
		}),
		measuring: (testbed) => teller.tell({
			state: "pending",
			description: `measuring on ${testbed}`
		}),
		ended(ending) {
			const state = states[upshotOf(ending)];
			return teller.tellLast({
				state,
				description: titleOf(ending)
			}, secondsFor(ending, patienceSeconds));
		},
		linked: async () => {},
		left: teller.left
	};
}
/** GitHub's own limit for a description. */
const mostCharacters = 140;
/** GitHub refuses a description with characters of four bytes, as most emoji are; the state has a colour of its own. */
const plain = (description) => description.replace(/[\u{10000}-\u{10ffff}]/gu, "").trim().slice(0, mostCharacters);
const states = {
	pass: "success",
	patchAtFault: "failure",
	undecided: "failure",
	usage: "error",
	infrastructure: "error",
	cancelled: "error"
};
const tooSlow = (seconds) => `The commit status may not show how the gate ended, because GitHub did not answer within ${seconds} s: run the job again where the status is required.`;
function notTold(error) {
	const what = "The commit status does not show how things stand";
	const failure = githubFailure(error);
	if (failure === void 0) return {
		kind: "refused",
		why: `${what} (${reasonOf(error)}).`
	};
	const why = `${what} (${failure.said}): give the job \`permissions: statuses: write\`, or set github.status to false.`;
	return {
		kind: failure.kind === "answered" && failure.status < 500 ? "refused" : "failed",
		why
	};
}

// src/answer/alert-text.ts
/** The hidden first line of an issue, by which it is known to be that of a change. */
const alertMarker = (id) => `<!-- ppsgate change ${id} -->`;
/** The id of the change that an issue's text is of. */
const changeIdIn = (body) => /^<!-- ppsgate change ([0-9a-f]{12}) -->/.exec(body)?.[1];
/** Where nothing else tells news from what was said before, the same news is said once. */
const newsMarker = ({ id }, said) => `<!-- ppsgate change ${id} news ${createHash("sha256").update(said).digest("hex").slice(0, 12)} -->`;
const alertLabels = {
	code: {
		name: "ppsgate-regression",
		color: "d73a4a",
		description: "A commit made the branch slower, as a gate has confirmed"
	},
	testbed: {
		name: "ppsgate-testbed",
		color: "fbca04",
		description: "A testbed measures less than before, and no commit is why"
	}
};
/** What an issue said last. */
const saidSchema = object({
	state: _enum(changeStates),
	cells: int().positive(),
	/** The worst cell's `changeRatio`. */
	worstRatio: number(),
	culprit: string().optional()
});
/** What is kept on the data branch of what an issue says. */
const saidOf = (change) => JSON.stringify({
	state: change.state,
	cells: losses(change).length,
	worstRatio: worstOf(change).changeRatio,
	...change.bisection?.culprit !== void 0 && { culprit: change.bisection.culprit }
});
/** Undefined for what `saidOf` did not write. */
const readSaid = (text) => saidSchema.safeParse(fromJson(text ?? "")).data;
/**
* Sentences, in Markdown, of what people who read the issue do not know yet: another state, more cells, a loss that is
* half a margin worse, the commit. Without `before` nobody knows what they know: then only an end is news.
*/
function newsOf(before, change, marginRatio) {
	const { state, bisection } = change;
	if (state !== before?.state && !isOpen(change)) return [stateNews(change)].flatMap((one) => one ?? []);
	if (before === void 0 || !isOpen(change)) return [];
	const { changeRatio, cell } = worstOf(change);
	const cells = losses(change);
	const culprit = bisection?.culprit;
	const isWorse = Math.abs(changeRatio) >= Math.abs(before.worstRatio) + marginRatio / 2;
	return [
		state === before.state ? void 0 : stateNews(change),
		culprit === void 0 || culprit === before.culprit ? void 0 : `A bisection names the commit: ${shortId(culprit)}.`,
		cells.length > before.cells ? `More cells have lost: ${cells.map((level) => sizeIn(level)).join(", ")}.` : void 0,
		isWorse ? `It is worse by now: ${cellName(cell)} ${formatChange(changeRatio)}, after ${formatChange(before.worstRatio)}.` : void 0
	].flatMap((one) => one ?? []);
}
/** Nobody is told of a change that is looked into. */
function stateNews({ state, good, bad }) {
	switch (state) {
		case "code": return "A gate of both commits on the same testbed has lost it, too: it is the code.";
		case "testbed": return good === bad ? "The same commit was measured before and after: it is the testbed, or chance." : "A gate of both commits on the same testbed finds no loss of the margin: it is the testbed, or chance.";
		case "accepted": return "The new level is accepted: from now on nights are held against it.";
		case "recovered": return "The old level is back.";
		default: return;
	}
}
const sizeIn = ({ cell, changeRatio }) => `${cellName(cell)} ${formatChange(changeRatio)}`;
/** `ipfw-stateful inet4 −4.10 % in 1a2b3c4d5e6f..5d6e7f8a9b0c (3 cells, hp-t540)`, of the worst cell. */
function alertTitle(change) {
	const count = losses(change).length;
	const of = isCost(change.metric) ? ` ${metricNouns[change.metric]}` : "";
	const cells = count === 1 ? "1 cell" : `${count} cells`;
	return `${sizeIn(worstOf(change))}${of} in ${commitsOf(change)} (${cells}, ${plainLine(change.testbed, 60)})`;
}
/** All that is known of it now, in Markdown; no text of a commit is in it. */
function alertBody(change, links) {
	const { id, metric, gates, bisection } = change;
	const result = ({ path, text }) => links.result === void 0 ? text : `[${text}](${links.result(path)})`;
	const asked = gates.map(({ at, verdict, result: path }) => result({
		path,
		text: `${verdict} on ${at.slice(0, 10)}`
	}));
	const culprit = bisection?.culprit;
	const found = [
		`- Commits: ${commitsLink(change, links)}`,
		...culprit === void 0 ? [] : [`- The commit, as a bisection found: ${culprit}`],
		...bisection === void 0 ? [] : [`- ${result({
			path: bisection.result,
			text: "The bisection"
		})}`],
		...asked.length === 0 ? [] : [`- Gates of the two commits: ${asked.join(", ")}`]
	];
	return [
		alertMarker(id),
		`On ${codeSpan(change.testbed)} ${metricNouns[metric]} of the default branch changed, and stayed so. ${stateNews(change) ?? ""}`.trim(),
		tableOf(change),
		found.join("\n"),
		`<sub>Who may write here can take the new level for good: comment \`${callOnGithub} accept\`. This issue is closed by itself when the old level comes back.</sub>`
	].join("\n\n");
}
function tableOf(change) {
	const { metric, cells, gates } = change;
	const judged = gates.at(-1)?.cells ?? [];
	return [
		"| cell | before | after | change | in the gate |",
		"|---|--:|--:|--:|--:|",
		...cells.map(({ cell, before, after, changeRatio }) => {
			const interval = judged.find((one) => cellName(one.cell) === cellName(cell))?.interval;
			const inGate = interval === void 0 ? "" : `${formatInterval(interval.low, interval.high)} %`;
			const levels = [before, after].map((level) => formatMetric(level, metric));
			return `| ${[
				cellName(cell),
				...levels,
				formatChange(changeRatio),
				inGate
			].join(" | ")} |`;
		})
	].join("\n");
}
/** A word for the pull request of the one commit that it was, in Markdown. */
const pullRequestText = (change, issue) => [
	alertMarker(change.id),
	`### 🔴 ppsgate: ${alertTitle(change)}`,
	`This was merged as ${change.bisection?.culprit ?? change.bad}, and a gate of the commits on ${codeSpan(change.testbed)} confirms the loss. #${issue} has the rest.`,
	tableOf(change)
].join("\n\n");
/** The same for the revision that landed as it, in Remarkup. */
const revisionText = (change, issueUrl) => [
	`This landed as ${remarkupText(change.bisection?.culprit ?? change.bad)} and lost packets per second, or costs more for each, on ${remarkupText(change.testbed)}; a gate of the commits confirms it.`,
	losses(change).map((level) => `- ${remarkupText(sizeIn(level))}`).join("\n"),
	issueUrl
].join("\n\n");
/** The cells that have lost, the worst first; a change that is none of a loss has all of its cells here. */
function losses(change) {
	const lost = lossesOf(change);
	return (lost.length > 0 ? lost : change.cells).toSorted((a, b) => Math.abs(b.changeRatio) - Math.abs(a.changeRatio));
}
function commitsOf({ good, bad, bisection }) {
	if (bisection?.culprit !== void 0) return shortId(bisection.culprit);
	return good === bad ? shortId(bad) : `${shortId(good)}..${shortId(bad)}`;
}
function commitsLink(change, { compareUrl }) {
	const { good, bad } = change;
	if (good === bad) return `${bad} in both nights: none came between`;
	const filled = compareUrl?.replaceAll("{from}", good).replaceAll("{to}", bad);
	const url = filled && pageUrl(filled);
	const text = `${shortId(good)}..${shortId(bad)}`;
	return url === void 0 || url === "" ? text : `[${text}](${url})`;
}

// src/answer/alerts.ts
/**
* Brings issues and comments up to date with these changes, and answers them with what is known of that afterwards.
* Whatever is not told now is told when this is called again. Never throws for what GitHub, Phabricator or the network
* did: that is a warning.
*/
async function tellChanges(changes, world) {
	const { log, octokit, edit, now } = world;
	const wanted = /* @__PURE__ */ new Map();
	for (const change of changes) {
		const one = await wantedOf(change, world);
		if (one !== void 0) wanted.set(change.id, one);
	}
	if (wanted.size === 0) return [...changes];
	const teller = world.drawName();
	const unsure = /* @__PURE__ */ new Set();
	let known = changes;
	try {
		const login = await ownLogin(octokit);
		const begun = now();
		known = (await edit(claiming(wanted, {
			teller,
			begun,
			unsure
		}))).changes;
		const told = await tellEach(known.filter(({ alert }) => alert.teller === teller), {
			...world,
			login,
			begun,
			wanted,
			unsure
		});
		if (told.size > 0) known = (await edit(recording(told, teller))).changes;
	} catch (error) {
		log.warn(`Changes of the branch may not have been told (${reasonOf(error)}): that is made up for when the next night is published.`);
	}
	return changes.map((change) => known.find(({ id }) => id === change.id) ?? change);
}
/** An issue that was made is listed after so long, and nobody who began to tell goes on. */
const settledSeconds = 600;
/** Whoever has told others for so long begins no further issue: its names there may be replaced soon. */
const mostSeconds = 240;
/** A testbed's level has to stay so many nights before people are told of it. */
const leastNights = 5;
/** What is to be told of a change, which is cheap to ask; undefined for nothing. */
async function wantedOf(change, world) {
	const { alert } = change;
	if (isBegun(alert, world.now())) return void 0;
	const isWorthy = isAlert(change, world);
	const culprit = isWorthy && change.state === "code" ? await culpritOf(change, world) : void 0;
	const reviewed = culprit === void 0 || culprit === alert.toldOf ? {} : { culprit };
	const isLost = alert.issue === void 0 && alert.intended !== void 0;
	const isUnread = alert.issue !== void 0 && isNews(change, world.marginRatio);
	const isNew = alert.issue === void 0 && isWorthy;
	return isLost || isUnread || isNew || "culprit" in reviewed ? reviewed : void 0;
}
/** Somebody else tells of it, or has just tried. A clock that is far ahead must not keep all others from it for ever. */
const isBegun = ({ intended }, now) => intended !== void 0 && Math.abs(now.getTime() - Date.parse(intended)) < settledSeconds * 1e3;
/**
* Only losses that a gate has confirmed, and levels of a testbed that stay. A gate finds no loss of code that is smaller
* than the margin, either, so such a one is nobody's.
*/
function isAlert(change, { nights, marginRatio }) {
	const { state } = change;
	const lost = lossesOf(change);
	if (lost.length === 0) return false;
	if (state === "code") return true;
	const isLarge = lost.some(({ changeRatio }) => Math.abs(changeRatio) >= marginRatio);
	return state === "testbed" && isLarge && nightsSince(change, nights) >= leastNights;
}
function nightsSince({ testbed, cells, changedAt }, nights) {
	const counts = cells.map(({ cell }) => {
		return (nights.get(seriesKey({
			testbed,
			cell
		})) ?? []).filter(({ at, occasion }) => at >= changedAt && occasion !== "again").length;
	});
	return Math.max(...counts);
}
async function culpritOf(change, world) {
	const named = change.bisection?.culprit;
	if (named !== void 0) return named;
	return world.onlyCommitOf(change).catch((error) => {
		world.log.info(`Who reviewed the change ${change.id} is not looked for, because git does not tell its commits (${reasonOf(error)}).`);
	});
}
const isNews = (change, marginRatio) => {
	const said = readSaid(change.alert.said);
	return newsOf(said, change, marginRatio).length > 0 || said === void 0 && isOpen(change);
};
/** Puts our name to all that nobody else has begun; `unsure` hears which of them somebody began before, and did not end. */
const claiming = (wanted, { teller, begun, unsure }) => (index) => withAlerts(index, (change) => {
	const { id, alert } = change;
	if (!wanted.has(id) || alert.teller === teller || isBegun(alert, begun)) return alert;
	if (alert.intended !== void 0 && alert.issue === void 0) unsure.add(id);
	return {
		...alert,
		teller,
		intended: begun.toISOString()
	};
});
/** Puts down what was told; where our name was replaced meanwhile, nothing but the number of an issue. */
const recording = (told, teller) => (index) => withAlerts(index, ({ id, alert }) => {
	const ours = told.get(id);
	if (ours === void 0) return alert;
	if (alert.teller === teller) return ours;
	return alert.issue === void 0 && ours.issue !== void 0 ? {
		...alert,
		issue: ours.issue
	} : alert;
});
const withAlerts = (index, alertOf) => ({
	...index,
	changes: index.changes.map((change) => ({
		...change,
		alert: alertOf(change)
	}))
});
/** One after another; what is left out for want of time is given back. */
async function tellEach(changes, telling) {
	const told = /* @__PURE__ */ new Map();
	const warned = /* @__PURE__ */ new Set();
	const warn = (sentence) => {
		if (!warned.has(sentence)) telling.log.warn(sentence);
		warned.add(sentence);
	};
	const log = {
		...telling.log,
		warn
	};
	for (const change of changes) {
		const alert = isLate(telling) ? unmade(change, telling) : await tellOne(change, {
			...telling,
			log
		});
		told.set(change.id, alert);
	}
	return told;
}
const isLate = ({ now, begun }) => now().getTime() - begun.getTime() > mostSeconds * 1e3;
/** The alert where we have made no issue: as we have found it, for whoever began before us may have made one. */
const unmade = ({ id, alert }, { unsure }) => unsure.has(id) ? alert : ended(alert);
/** Nobody tells of it any more, and how that ended is known. */
const ended = ({ intended: _, teller: __, ...alert }) => alert;
/** Answers what is known of the alert then. */
async function tellOne(change, telling) {
	const before = change.alert;
	const place = telling;
	try {
		const found = before.issue === void 0 && telling.unsure.has(change.id) ? await lookedUp(change, telling) : before.issue;
		if (found === void 0 && !isAlert(change, telling)) return ended(before);
		const alert = found === void 0 ? await withIssue(change, telling) : await withNews({
			...change,
			alert: {
				...before,
				issue: found
			}
		}, place, telling);
		if (alert.intended !== void 0 || alert.issue === void 0) return alert;
		return await withReviewers({
			...change,
			alert
		}, alert.issue, telling);
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		telling.log.warn(whyNotDone(`The issue of the change ${change.id} was not looked up`, failure, mends));
		return before;
	}
}
const mends = {
	again: "publish a night",
	permission: "give the job `permissions: issues: write`, or write `trend: { issues: false }` in ppsgate.yml",
	otherwise: "; the change itself is on the data branch"
};
/** The clocks of GitHub and of a runner may differ by less. */
const dayMilliseconds = 864e5;
const lookedUp = (change, { login, ...place }) => findIssue(place, {
	creator: login,
	marker: alertMarker(change.id),
	since: /* @__PURE__ */ new Date(Date.parse(change.foundAt) - dayMilliseconds)
});
/** Makes the issue; where nobody knows whether it was made our name stays. */
async function withIssue(change, telling) {
	const { links, log, ...place } = telling;
	const { alert } = change;
	const label = alertLabels[change.state === "testbed" ? "testbed" : "code"];
	const text = {
		title: alertTitle(change),
		body: alertBody(change, links),
		label: label.name
	};
	const notMade = "The issue of a change was not made";
	try {
		await makeLabel(place, label);
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		log.warn(whyNotDone(notMade, failure, mends));
		return unmade(change, telling);
	}
	if (isLate(telling)) return unmade(change, telling);
	const made = await createIssue(place, text);
	switch (made.kind) {
		case "made": return {
			...ended(alert),
			issue: made.number,
			said: saidOf(change)
		};
		case "refused":
			log.warn(whyNotDone(notMade, made.failure, mends));
			return ended(alert);
		case "unsure":
			log.warn(whyNotDone("Nobody knows whether the issue of a change was made", made.failure, mends));
			return alert;
	}
}
/** Brings the issue up to date, and says what is news; `said` stays as it was where that failed. */
async function withNews(change, place, { links, marginRatio, log, repository, octokit, pause }) {
	const alert = ended(change.alert);
	const { issue: number = 0 } = alert;
	const before = readSaid(alert.said);
	if (!isNews(change, marginRatio)) return alert;
	const said = saidOf(change);
	const news = newsOf(before, change, marginRatio);
	try {
		await updateIssue(place, number, {
			title: alertTitle(change),
			body: alertBody(change, links),
			closedAs: closings[change.state]
		});
		await relabelled(place, number, before, change);
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		if (isGone(failure)) return {
			...alert,
			said
		};
		log.warn(whyNotDone(`The issue #${number} was not brought up to date`, failure, mends));
		return alert;
	}
	if (news.length === 0) return {
		...alert,
		said
	};
	const marker = newsMarker(change, said);
	const compose = (written) => written ?? [marker, ...news].join("\n\n");
	const published = await publishComment(octokit, {
		repository,
		number
	}, compose, {
		marker,
		...pause && { pause }
	});
	if (published.kind !== "not-published") return {
		...alert,
		said
	};
	log.warn(published.why);
	return published.isFinal ? {
		...alert,
		said
	} : alert;
}
const closings = {
	recovered: "completed",
	accepted: "not_planned"
};
async function relabelled(place, number, before, { state }) {
	const [old, label] = [before?.state, state].map((one) => one === "code" || one === "testbed" ? alertLabels[one] : void 0);
	if (old === void 0 || label === void 0 || old === label) return;
	await replaceLabel(place, number, {
		old: old.name,
		label
	});
}
/** Tells those who reviewed the one commit that it was; not tried again where that is refused. */
async function withReviewers(change, issue, { wanted, octokit, repository, serverUrl, tellRevision, log, pause }) {
	const { alert } = change;
	const { culprit } = wanted.get(change.id) ?? {};
	if (culprit === void 0) return alert;
	const told = new Set(alert.told);
	try {
		const number = await mergedAs(octokit, repository, culprit);
		if (number !== void 0 && !told.has(`#${number}`)) {
			const published = await publishComment(octokit, {
				repository,
				number
			}, (written) => written ?? pullRequestText(change, issue), {
				marker: alertMarker(change.id),
				...pause && { pause }
			});
			if (published.kind !== "not-published") told.add(`#${number}`);
			else {
				log.warn(published.why);
				if (!published.isFinal) return alert;
			}
		}
		const text = revisionText(change, `${serverUrl}/${repository}/issues/${issue}`);
		const revision = await tellRevision?.(culprit, text, `change ${change.id}`);
		if (revision?.told.kind === "told") told.add(revision.name);
		else if (revision !== void 0) {
			log.warn(revision.told.why);
			if (revision.told.kind !== "refused") return {
				...alert,
				told: [...told]
			};
		}
		return {
			...alert,
			told: [...told],
			toldOf: culprit
		};
	} catch (error) {
		log.warn(`Who reviewed ${culprit} was not told (${reasonOf(error)}): that is tried again.`);
		return {
			...alert,
			told: [...told]
		};
	}
}

export { answering, cancelled, changeIdIn, closeLeftCheckRun, composeComment, endingOfError, endingOfFailure, endingOfResult, failureSchema, forOneBase, hasCheckRun, linkedAfterwards, linkedNow, markerOf, openBuild, openCheckRun, openComment, openRevisionAnswer, openRevisionComment, openStatus, pausesWithin, pullRequestOfCheckRun, readMemory, say, secondsFor, standsForAnother, summaryOf, tellBuild, tellChanges, tellRevision, titleOf, together, upshotOf };