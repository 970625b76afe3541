import { codeBlock, codeSpan, counted, formatChange, formatChangeAndError, formatDifference, formatDuration, formatInterval, formatMetric, formatPercent, formatPps, formatProbability, formatRuns, formatShare, formatSigned, formatSize, formatSizeAndError, formatTick, formatTwoDigits, grouped, isCost, isJudged, metricName, metricNouns, outcomeName, pageUrl, parseJson, plainBlock, plainLine, reasonOf } from "./model/first-plain.js";
import { union } from "./vendor/zod.js";
import { callOnGithub, callOnPhabricator, cellName, commitId as commitId$1, comparedNames, flamegraphAnchor, isLoss, metricSchema, packetsText, patchName, resultSchema, shortId, systemOfTestbedKind, verdictsWorstFirst } from "./model/first.js";
import { giveNew } from "./system/give-to-caller.js";
import { frameBytesFor } from "./config/first.js";
import { mean, sum, sumNthPowerDeviations } from "./vendor/simple-statistics.js";
import { renderMinistat } from "./analysis/stats/plain.js";
import { countedRuns, median, moderated, noNoise, runCounts, sumOf } from "./analysis/stats/first.js";
import { escaped, remarkupAlt, remarkupBlock, remarkupCell, remarkupText, remarkupWords } from "./model/plain.js";
import { isOfOneCommit } from "./analysis/trend.js";
import { bisectConfidenceRatio, bisectResultSchema } from "./model.js";
import { buildNoise, interactionOf, runsApart } from "./analysis/stats.js";
import { confidencePercents, criticalT } from "./analysis/stats/first-plain.js";
import { Html, bothForms, clamped, colors, earlierGatesText, element, extentOf, gateNumberText, html, htmlDocument, isWithin, linearScale, paddedRates, path as path$1, pngOf, robustExtent, round, svgDocument, text, ticksOf } from "./report/plain.js";
import { flamegraph, layout, moduleName, samplesOf } from "./analysis/profile/plain.js";
import { ForeignFileError, placeBelow, readForeignText } from "./system/foreign-files.js";
import { readProfiles, withReasons } from "./analysis/profile.js";
const { basename, dirname, join } = globalThis.process.getBuiltinModule("node:path");
const { mkdir, realpath, rename, rm, stat, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/report/document.ts
const quoted = (text, most) => ({
	kind: "quoted",
	text,
	...most !== void 0 && { most }
});
const code = (text, most) => ({
	...quoted(text, most),
	kind: "code"
});
const commitId = (text) => ({
	kind: "code",
	text,
	is: "id"
});
const filePath = (text) => ({
	kind: "code",
	text,
	is: "path"
});
const name = (text) => ({
	kind: "name",
	text
});
const nameOf = (cell) => name(cellName(cell));
const strong = (text) => ({
	kind: "strong",
	text
});
const mark$1 = (verdict) => ({
	kind: "mark",
	verdict
});
const verdictWord = (verdict, text = verdict) => ({
	kind: "strong",
	text,
	verdict
});
/** `` words`${nameOf(cell)} is invalid: ${quoted(reason)}` `` */
const words = (own, ...pieces) => own.flatMap((part, index) => [part, pieces[index] ?? ""]);
const joined = (parts, separator) => parts.flatMap((part, index) => index === 0 ? [part] : [separator, part]);
/** `a, b and c`. */
const enumerated = (parts) => joined([...parts.length > 1 ? [joined(parts.slice(0, -1), ", ")] : [], ...parts.slice(-1)], " and ");
const heading$2 = (text) => ({
	kind: "heading",
	text
});
const paragraph = (text) => ({
	kind: "paragraph",
	text
});
const faint$2 = (text) => ({
	kind: "paragraph",
	text,
	isFaint: true
});
/** Empty without items. */
const list = (items, title) => items.length === 0 ? [] : [{
	kind: "list",
	items,
	...title !== void 0 && { title }
}];
/** The folds of a comment, in their order. */
const folds = [
	"runs",
	"environment",
	"statistics"
];
/** Empty without items. */
const detailList = (fold, title, items) => items.length === 0 ? [] : [{
	fold,
	title,
	blocks: list(items)
}];
function written(text, markup) {
	if (typeof text === "string") return markup.own(text);
	if (isSequence(text)) return text.map((one) => written(one, markup)).join("");
	const write = markup[text.kind];
	return write(text);
}
const isSequence = (text) => Array.isArray(text);
/** Renders without markup: for titles, logs and code blocks. */
const plainText = (text) => written(text, plain);
const plain = {
	own: (words) => words,
	quoted: ({ text, most }) => plainLine(text, most),
	code: ({ text, most }) => plainLine(text, most),
	name: ({ text }) => text,
	strong: ({ text }) => plainText(text),
	mark: ({ verdict }) => symbols[verdict],
	link: ({ text }) => text,
	graphs: () => "",
	styled: ({ text }) => plainText(text),
	lines: ({ lines }) => lines.map(plainText).join(", ")
};
const symbols = {
	regression: "🔴",
	improvement: "🟢",
	"no-regression": "🟢",
	inconclusive: "🟡",
	invalid: "⚪"
};

// src/report/headline.ts
/** `🔴 ppsgate: #7 loses 10.4 % (forwarding inet4)`; trusted plain text without markup. */
const headline = (result) => `${symbols[symbolOf(result)]} ppsgate: ${patchLabel(result)} ${plainText(sentence(result))}`;
/** Names a patch by the measured commits: a range begins at the merge base, even if its base branch has moved on. */
function patchLabel({ patch, variants }) {
	const base = variants.find(({ name }) => name === "base")?.commit;
	const { data: baseCommit } = commitId$1.safeParse(base);
	const isKnown = patch.kind === "range" && baseCommit !== void 0;
	return patchName(isKnown ? {
		...patch,
		baseCommit
	} : patch);
}
/** Without ppsgate's name: `🔴 #7 loses 10.4 % (forwarding inet4)`. */
const verdictLine = (result) => `${symbols[symbolOf(result)]} ${patchLabel(result)} ${plainText(sentence(result))}`;
/**
* Returns the verdict whose symbol is shown: a loss for an unmeasurable patch; none for a failed lab or an unchanged
* patch.
*/
function symbolOf({ outcome }) {
	switch (outcome.kind) {
		case "judged": return outcome.verdict;
		case "unchanged":
		case "out-of-disk": return "invalid";
		default: return "regression";
	}
}
/** Completes a sentence that begins with the patch's name. */
const sentence = (result) => [verdictText(result), gateNumberText(result)];
function verdictText({ outcome, policy }) {
	if (outcome.kind === "unchanged") return outcome.ignoredPaths ? "changes no code or rule that packets of this testbed pass" : "changes nothing that the testbed installs";
	if (outcome.kind !== "judged") return rejections[outcome.kind];
	const { cells, verdict } = outcome;
	const those = withVerdict(cells, verdict);
	switch (verdict) {
		case "regression": return changes(those, verdict, policy);
		case "improvement": return words`${changes(those, verdict, policy)}; no regression`;
		case "no-regression": return nothingThatMatters(cells, policy);
		case "inconclusive": {
			const open = cells.length === 1 ? "more runs would decide" : `open in ${partOf(those, cells)} until more runs decide`;
			return `may ${lossThatMatters(policy)} or not: ${open}`;
		}
		case "invalid": return `was not measured${those.length < cells.length ? ` in ${partOf(those, cells)}` : ""}: ${whyInvalid(those)}`;
	}
}
const partOf = (those, cells) => `${those.length} of ${cells.length} cells`;
const rejectionText = ({ kind }) => rejections[kind];
const rejections = {
	"does-not-apply": "does not apply",
	"build-failed": "does not build",
	"does-not-load": "does not load",
	"boot-failed": "does not boot",
	"panics-under-load": "panics under load",
	"out-of-disk": "was not measured: a disk of the lab is full"
};
const withVerdict = (cells, kind) => cells.filter((cell) => cell.verdict.kind === kind);
const stoppedCells = (cells) => cells.filter(({ verdict }) => verdict.kind === "inconclusive" && verdict.isStopped);
/** Changes equal to the margin of speed: 5.26 % more time or instructions per packet lose 5 % of the speed. */
function marginsOf({ metric, marginRatio }) {
	const [less, more] = [-marginRatio, 1 / (1 - marginRatio) - 1];
	return isCost(metric) ? {
		loss: more,
		gain: less
	} : {
		loss: less,
		gain: more
	};
}
/** `lose 2 %`, `take 5.26 % more CPU time per packet`. */
const lossThatMatters = (policy) => isCost(policy.metric) ? `take ${formatPercent(marginsOf(policy).loss)} more ${metricNouns[policy.metric]}` : `lose ${formatPercent(policy.marginRatio)}`;
const maxNamed$4 = 3;
/** `loses 10.4 % (forwarding inet4) and 9.10 % (…)`, `takes 11.6 % more CPU time per packet (forwarding inet4)`. */
function changes(cells, direction, { metric }) {
	const silent = cells.filter(isSilent);
	const moving = cells.filter((cell) => !isSilent(cell));
	const [verb, unit] = deeds$1[metric][direction];
	const sizes = moving.slice(0, maxNamed$4).map(({ cell, comparisons: [judged] }, index) => {
		const size = judged === void 0 ? "an unknown share" : formatSize(judged.interval.change);
		return words`${size}${index === 0 ? unit : ""} (${nameOf(cell)})`;
	});
	return joined([...silent.length > 0 ? [silentText(silent)] : [], ...moving.length > 0 ? [words`${verb} ${listed$1(sizes, moving.length)}`] : []], ", and ");
}
const deeds$1 = {
	pps: {
		regression: ["loses", ""],
		improvement: ["gains", ""]
	},
	nsPerPacket: {
		regression: ["takes", ` more ${metricNouns.nsPerPacket}`],
		improvement: ["takes", ` less ${metricNouns.nsPerPacket}`]
	},
	instructionsPerPacket: {
		regression: ["takes", ` more ${metricNouns.instructionsPerPacket}`],
		improvement: ["takes", ` fewer ${metricNouns.instructionsPerPacket}`]
	}
};
/** `a, b and 2 more` of four. */
function listed$1(parts, count) {
	const rest = count - parts.length;
	return enumerated(rest > 0 ? [...parts, `${rest} more`] : parts);
}
const isSilent = ({ comparisons: [judged] }) => judged?.metric === "pps" && judged.patched === 0;
/** `forwards nothing`, `forwards nothing in 2 of 5 runs`. */
function silenceOf({ runs, comparisons: [judged] }) {
	const valid = runs.filter((run) => run.variant === "patched" && run.validity.kind === "valid");
	const silent = judged?.patchedRuns ?? 0;
	return silent < valid.length ? `forwards nothing in ${silent} of ${valid.length} runs` : "forwards nothing";
}
/** Quotes the DUT: what dropped the packets of a variant that forwards none. */
const droppedBy = ({ runs }, variant = "patched") => runs.find((run) => run.variant === variant && run.pps === 0 && run.droppedBy !== void 0)?.droppedBy;
/** Names what drops the packets of silent cells; empty if unknown. */
function dropsText(cells) {
	const known = cells.filter(isSilent).flatMap((cell) => {
		const by = droppedBy(cell);
		return by === void 0 ? [] : [{
			by,
			name: nameOf(cell.cell)
		}];
	});
	return [...Map.groupBy(known, ({ by }) => by)].map(([by, those]) => {
		const names = those.slice(0, maxNamed$4).map(({ name }) => name);
		return words`${listed$1(names, those.length)}: the packets are dropped by ${quoted(by, 500)}.`;
	});
}
/** `forwards nothing (forwarding inet4 and pf-stateful inet4)`; partly silent cells come last. */
function silentText(cells) {
	const texts = [...Map.groupBy(cells, silenceOf)].toSorted(([one], [other]) => one < other ? -1 : 1).map(([silence, those]) => {
		const names = those.slice(0, maxNamed$4).map(({ cell }) => nameOf(cell));
		return words`${silence} (${listed$1(names, those.length)})`;
	});
	return joined(texts, ", and ");
}
/** Cells that pass despite a certain loss, which is smaller than the margin. */
const smallLosses = (cells, policy) => cells.filter(({ verdict, comparisons: [judged] }) => {
	if (verdict.kind !== "no-regression" || judged === void 0) return false;
	const { change, low, high } = judged.interval;
	return (isCost(judged.metric) ? low > 0 : high < 0) && Math.abs(change) < Math.abs(marginsOf(policy).loss);
});
/** `slower by 4.07 %, within the 5.26 % allowed`; describes the greatest of several losses. */
function smallLossText(losses, policy) {
	const changes = losses.flatMap(({ comparisons: [judged] }) => judged?.interval.change ?? []);
	const most = Math.max(...changes.map(Math.abs));
	const by = `${formatSize(most)}${policy.metric === "instructionsPerPacket" ? ` more ${metricNouns[policy.metric]}` : ""}`;
	const allowed = formatPercent(Math.abs(marginsOf(policy).loss));
	return `slower by ${losses.length > 1 ? "up to " : ""}${by}, within the ${allowed} allowed`;
}
/** Describes a proven loss, or the deciding bound of the cell nearest to the margin. */
function nothingThatMatters(cells, policy) {
	const { metric } = policy;
	const proven = smallLosses(cells, policy);
	if (proven.length > 0) {
		const where = cells.length > 1 ? ` in ${partOf(proven, cells)}` : "";
		return `is ${smallLossText(proven, policy)}${where}`;
	}
	const losses = cells.flatMap(({ comparisons: [judged] }) => judged === void 0 ? [] : isCost(metric) ? judged.interval.high : -judged.interval.low);
	const most = Math.max(0, ...losses);
	const matters = formatPercent(Math.abs(marginsOf(policy).loss));
	if (isCost(metric)) return most === 0 ? `takes no more ${metricNouns[metric]}` : `costs nothing that matters: ${formatSize(most)} more ${metricNouns[metric]} at most, where ${matters} would matter`;
	return most === 0 ? "loses nothing" : `loses nothing that matters: ${formatSize(most)} at most, where ${matters} would matter`;
}
/** Explains, in trusted words, why most runs of cells do not count. */
function whyInvalid(cells) {
	const [busy] = cells.flatMap(busyMachine);
	const invalid = cells.flatMap(({ runs }) => runs.filter(({ validity }) => validity.kind !== "valid"));
	if (invalid.filter(({ pps }) => pps === 0).length > invalid.length / 2) return "no packet was received";
	if (cells.flatMap(({ runs }) => runs.filter((run) => run.variant === "base" && run.validity.kind === "valid" && run.pps === 0)).length > invalid.length) return "base itself forwards nothing";
	const cause = causeOf(cells);
	return busy ?? (cause === void 0 ? "too few runs count" : causes[cause]);
}
/** The most frequent fault of invalid runs; undefined if trials failed without a run. */
function causeOf(cells) {
	const faults = cells.flatMap(({ runs }) => runs.flatMap(({ validity }) => validity.kind === "invalid" ? validity.cause : []));
	return [...Map.groupBy(faults, (cause) => cause).values()].toSorted((a, b) => b.length - a.length)[0]?.[0];
}
const causes = {
	"broken-log": "its logs are broken",
	"too-short": "its runs were too short",
	unsteady: "its rate was not steady",
	hole: "packets stopped coming through for a while",
	"generator-limited": "the generator was the limit",
	"receiver-limited": "the receiver was the limit",
	"machine-busy": "the machine was too busy"
};
/** Keeps only a reason's first words, which are trusted; the rest may quote a machine. */
const busyMachine = ({ verdict }) => verdict.kind === "invalid" && tooBusy.exec(verdict.reason)?.slice(0, 1) || [];
const tooBusy = /^machine too busy: the (?:sender|DUT) waited for a CPU \d{1,3} % of the time/;

// src/report/bisect-headline.ts
/** `f8f5b459d21e costs 55.9 ± 0.2 %, P > 0.999, 10 boots`; trusted plain text without markup. */
function bisectHeadline(result) {
	const { answer } = result;
	const boots = bootsText$1(result);
	switch (answer.kind) {
		case "culprit":
		case "group": return `${foundText(result, answer)}, ${probabilityText(answer.probability)}, ${boots}`;
		case "several": {
			const { found, open } = answer;
			const named = found.slice(0, maxNamed$3).map((one) => foundText(result, one));
			const rest = found.length - named.length;
			const all = rest > 0 ? [...named, `${rest} more`] : named;
			return `${counted(found.length, "change")}: ${all.join("; ")}${openText(open, searchedKind(result))}, ${boots}`;
		}
		case "not-reproduced": return `${notReproduced(result, answer)}, ${boots}`;
		case "slide": return `${`${bitByBit(answer.change, result.metric)}: ${changeText$2(answer.change)} over ${counted(answer.steps.length, "step")}`}, and no ${searchedKind(result)} stands out, ${boots}`;
		case "inconclusive": {
			const best = answer.best.slice(0, maxNamed$3).map(({ revision, probability }) => `${idOf$1(result, revision)} (${probabilityText(probability)})`);
			const candidates = best.length === 0 ? "" : `: ${best.join(", ")}`;
			return `no ${searchedKind(result)} is certain yet${candidates}, ${boots}, about ${answer.bootsExpected} more expected`;
		}
	}
}
/** Fits a plot, which is narrower, and names the metric. */
function bisectTitle(result) {
	const { answer, metric } = result;
	switch (answer.kind) {
		case "culprit": return `${idOf$1(result, answer.revision)} ${verbOf(answer.change, metric)} ${sizeOf(answer.change)}`;
		case "group": return `one of these ${answer.last - answer.after} ${verbOf(answer.change, metric)} ${sizeOf(answer.change)}`;
		case "several": return counted(answer.found.length, "change");
		case "not-reproduced": return answer.fault === void 0 ? "good and bad hardly differ" : faultOfEnd(result, answer);
		case "slide": return `${bitByBit(answer.change, metric)}: ${changeText$2(answer.change)}`;
		case "inconclusive": return `no ${searchedKind(result)} is certain yet`;
	}
}
function bisectLook({ answer, metric }) {
	switch (answer.kind) {
		case "culprit":
		case "group": return lookOf$1(answer.change, metric);
		case "several": return answer.found.some(({ change }) => isLoss({ metric }, change.change)) ? "regression" : "improvement";
		case "not-reproduced": return "invalid";
		case "slide":
		case "inconclusive": return "inconclusive";
	}
}
const bisectSymbol = (result) => symbols[bisectLook(result)];
const lookOf$1 = ({ change }, metric) => isLoss({ metric }, change) ? "regression" : "improvement";
const commandLine = {
	fixUp: (commit) => `\`--fix-up ${commit}\``,
	goOn: "`ppsgate bisect --resume DIR --max-boots N`",
	verifyRevert: "`--verify-revert`"
};
/** At least one sentence; backticks mark typed text. */
function bisectNextSteps(result, ways = commandLine) {
	const { answer } = result;
	switch (answer.kind) {
		case "culprit": return afterCulprit(result, answer, ways);
		case "group": return [afterGroup(result, answer, ways)];
		case "several": return [...answer.found.flatMap((one) => one.kind === "culprit" ? togetherLines(result, one) : [afterGroup(result, one, ways)]), ...answer.open.length > 0 ? [`Allow more ${unitOfRuns(result)}s for the open changes: ${ways.goOn}.`] : ["Check each of them separately."]].slice(0, maxSteps);
		case "not-reproduced": return [afterNothing(result, answer, ways)];
		case "slide": return [`Take the ends of one step as good and bad where a part of the range matters most, or allow more ${unitOfRuns(result)}s with ${ways.goOn}.`, `If every ${searchedKind(result)} costs a little, profiles of good and bad show more than any single commit.`];
		case "inconclusive": return [`Allow more ${unitOfRuns(result)}s with ${ways.goOn}, about ${answer.bootsExpected} are expected; a quieter cell or testbed needs fewer.`];
	}
}
const maxNamed$3 = 3;
const maxSteps = 5;
function afterCulprit(result, answer, ways) {
	const { revert, reason } = result;
	const where = reason === void 0 ? "See what it does for each packet" : "See below which functions changed";
	const look = isLoss(result, answer.change.change) ? `${where}, and make that cheaper; or keep it, and justify the loss.` : `Nothing needs to be fixed. ${where}.`;
	const verify = revert === void 0 ? `To confirm it, measure the bad commit without the culprit: ${ways.verifyRevert}.` : void 0;
	return [
		look,
		...togetherLines(result, answer),
		verify
	].filter((line) => line !== void 0);
}
/** Warns of a fix-up that was measured together with a revision, and may be the cause instead. */
function togetherLines(result, { measuredWith, revision }) {
	if (measuredWith.length === 0) return [];
	const names = listed(measuredWith.map(shortId));
	return [`${idOf$1(result, revision)} could only be measured with ${names} applied: a cost of ${measuredWith.length > 1 ? "theirs" : "that one"} would look the same, so check both.`];
}
function afterGroup({ revisions, isShared }, { likelyFix }, { fixUp, goOn }) {
	const fix = revisions.find(({ commit }) => commit === likelyFix);
	if (fix?.diff !== void 0) return `No commit between them could be measured; ${revisionId(fix)} probably made the later ones work.`;
	return likelyFix === void 0 ? `No commit between them could be measured: name a commit that makes them work with ${fixUp("COMMIT")}, or read them; more ${unitOfRuns({ isShared })}s (${goOn}) would not distinguish them.` : `No commit between them could be measured: bisect again with ${fixUp(shortId(likelyFix))}, which probably made the later ones work.`;
}
function afterNothing({ revisions, isShared }, { fault }, { fixUp, goOn }) {
	if (fault === void 0) return `Check good and bad, the scenario, and that the loss was seen on this testbed; if it is smaller, a quieter cell or more ${unitOfRuns({ isShared })}s (${goOn}) may show it.`;
	return `Name another ${endOf$1(fault.revision, revisions)} commit that works, or a fix-up that makes this one work with ${fixUp("COMMIT")}.`;
}
/** `f8f5b459d21e costs 55.9 ± 0.2 %`, `one of these 3 costs 55.9 ± 0.2 %: …`. */
function foundText(result, found) {
	const { metric } = result;
	const effectText = `${verbOf(found.change, metric)} ${sizeOf(found.change)}${unitOf(found.change, metric)}`;
	if (found.kind === "culprit") return `${idOf$1(result, found.revision)} ${effectText}`;
	const count = found.last - found.after;
	return `one of these ${count} ${effectText}: ${count <= maxNamed$3 ? Array.from({ length: count }, (_, index) => idOf$1(result, found.after + 1 + index)).join(", ") : `${idOf$1(result, found.after + 1)} … ${idOf$1(result, found.last)}`}`;
}
function wayOf({ change }, metric) {
	const isLost = isLoss({ metric }, change);
	if (!isCost(metric)) return [isLost ? "costs" : "brings", ""];
	const noun = metricNouns[metric];
	return isLost ? ["costs", ` more ${noun}`] : ["saves", ` of the ${noun}`];
}
const verbOf = (change, metric) => wayOf(change, metric)[0];
const unitOf = (change, metric) => wayOf(change, metric)[1];
/** The farther end of an interval that may be asymmetric. */
const errorOf = ({ change, low, high }) => Math.max(change - low, high - change, 0);
const sizeOf = (change) => formatSizeAndError(change.change, errorOf(change));
const changeText$2 = (change) => formatChangeAndError(change.change, errorOf(change));
const bitByBit = ({ change }, metric) => isLoss({ metric }, change) ? "lost gradually" : "gained gradually";
function notReproduced(result, answer) {
	const { change, fault } = answer;
	if (fault !== void 0) return faultOfEnd(result, answer);
	if (change === void 0) return "good and bad could not be distinguished";
	const most = Math.max(Math.abs(change.low), Math.abs(change.high));
	return `good and bad differ by less than ${formatSize(most)}: ${changeText$2(change)}`;
}
/** `the bad one cannot be measured: it forwards nothing`. */
function faultOfEnd({ revisions }, { fault }) {
	if (fault === void 0) return "one of them cannot be measured";
	return `the ${endOf$1(fault.revision, revisions)} one cannot be measured: it ${faultText(fault.fault)}`;
}
const endOf$1 = (revision, revisions) => revision === 0 ? "good" : revision === revisions.length - 1 ? "bad" : "middle";
/** `does not boot`, `forwards nothing`: the fault of a revision. */
const faultText = (fault) => fault.kind === "forwards-nothing" ? "forwards nothing" : rejectionText(fault);
function probabilityText(probability) {
	const shown = formatProbability(probability);
	return /^[<>]/.test(shown) ? `P ${shown}` : `P = ${shown}`;
}
const openText = (open, kind) => {
	const count = open.reduce((sum, { after, last }) => sum + last - after, 0);
	return count === 0 ? "" : `; ${counted(count, kind)} still open`;
};
const bootsText$1 = (result) => counted(result.boots, unitOfRuns(result));
const unitOfRuns = ({ isShared }) => isShared ? "trial" : "boot";
const listed = (parts) => [parts.slice(0, -1).join(", "), parts.at(-1)].filter(Boolean).join(" and ");
/** Name of a revision; an untrusted result may have an invalid index. */
const idOf$1 = ({ revisions }, index) => revisionId(revisions[index]) || "an unknown commit";
/** `f8f5b459d21e`, or `diff 32` of a commit that only ppsgate has; empty without a revision. */
const revisionId = (revision) => revision?.diff === void 0 ? shortId(revision?.commit ?? "") : `diff ${revision.diff}`;
/** The kind of thing that is searched: `diff` or `commit`. */
const searchedKind = ({ revisions }) => revisions.some(({ diff }) => diff !== void 0) ? "diff" : "commit";

// src/report/bisect-numbers.ts
const isMeasured = ({ values, fault }) => fault === void 0 && values.length > 0;
/** Rates of different trials drift apart, so shared trials are compared within each. */
function numbersOf(result) {
	if (!result.isShared) return (form) => isMeasured(form) ? form.values : [];
	const ratios = ratiosToGood(result);
	return (form) => isMeasured(form) ? ratios.get(form.variant) ?? [] : [];
}
function ratiosToGood({ runs, revisions, metric }) {
	const good = revisions[0]?.forms.find(isMeasured)?.variant ?? "";
	const counted = runs.filter(({ validity, pps }) => validity.kind === "valid" && pps > 0);
	const ratios = /* @__PURE__ */ new Map();
	for (const trial of Map.groupBy(counted, (run) => run.trial).values()) {
		const variants = Map.groupBy(trial, ({ variant }) => variant);
		const rateOf = (own) => median(own.flatMap((run) => run[metric] ?? []));
		const ofGood = rateOf(variants.get(good) ?? []);
		for (const [variant, own] of variants) {
			const ratio = rateOf(own) / ofGood;
			if (!Number.isFinite(ratio) || ratio <= 0) continue;
			const known = ratios.get(variant);
			if (known === void 0) ratios.set(variant, [ratio]);
			else known.push(ratio);
		}
	}
	return ratios;
}

// src/report/cell-rows.ts
/**
* Builds one row per cell, followed by its other variants. Change and interval come first as one column, as a phone
* shows three columns. Remarkup comments have four narrow columns: cell with verdict, and base with patched.
*/
function cellTable({ policy, patch }, cells, metric, isOnPage = false) {
	const isJudged = metric === policy.metric;
	const change = { head: `change (${formatPercent(policy.confidenceRatio)} interval)` };
	const names = headsOf(patch);
	const groups = cells.map((cell) => ({
		weight: weightOf(cell),
		rows: rowsOf$1(cell, metric, isJudged, isOnPage)
	}));
	return {
		kind: "table",
		caption: words`Change of ${names.patched} against ${names.base}, by ${metricName(metric)}`,
		isLimited: true,
		columns: [
			{ head: "cell" },
			...isJudged ? [{ head: "verdict" }] : [],
			change,
			...numberColumns(names.base, names.patched, "runs")
		],
		groups: groups.map(({ weight, rows }) => ({
			weight,
			rows: rows.map(({ name, verdict, change, base, patched, runs }) => isJudged ? [
				name,
				verdict,
				change,
				base,
				patched,
				runs
			] : [
				name,
				change,
				base,
				patched,
				runs
			])
		})),
		narrow: {
			columns: [
				{ head: isJudged ? "cell and verdict" : "cell" },
				change,
				{ head: `${names.base} → ${names.patched}` },
				{ head: "runs" }
			],
			groups: groups.map(({ weight, rows }) => ({
				weight,
				rows: rows.map(({ name, verdict, change, base, patched, runs }) => [
					isJudged ? words`${name} ${verdict}` : name,
					change,
					base === "–" && patched === "–" ? "–" : `${base} → ${patched}`,
					runs.replace("\xA0of", " of")
				])
			}))
		}
	};
}
/** Heads columns with a comparison's own names, cut at the beginning, as their ends differ. */
function headsOf(patch) {
	const { base, patched } = comparedNames(patch) ?? {
		base: "base",
		patched: "patched"
	};
	return {
		base: endOf(base),
		patched: endOf(patched)
	};
}
const maxHeadCharacters = 30;
const endOf = (text) => text.length > maxHeadCharacters ? `…${text.slice(-29)}` : text;
const numberColumns = (...heads) => heads.map((head) => ({
	head,
	isNumber: true
}));
function rowsOf$1(result, metric, isJudged, isOnPage) {
	const { comparisons, others } = result;
	const verdict = result.verdict.kind;
	const isQuiet = isSilent(result);
	const all = isQuiet ? comparisons.filter((one) => one.metric === "pps") : comparisons;
	const own = comparisonBy(metric, all, isJudged);
	const verified = verdict === "invalid" ? void 0 : own;
	const { counted, made } = runCounts(result, metric);
	return [{
		name: isOnPage ? linkTo$1(result) : nameOf(result.cell),
		verdict: isOnPage ? [verdictWord(verdict), remarkOf(result)] : words`${mark$1(verdict)} ${verdict}${remarkOf(result)}`,
		change: verified && !isQuiet ? changeOf$1(verified) : "–",
		...valuesOf$2(own),
		runs: unbroken(formatRuns(verified ? [verified.baseRuns, verified.patchedRuns] : counted, made))
	}, ...others.map((other) => {
		const its = comparisonBy(metric, other.comparisons, isJudged);
		return {
			name: {
				kind: "styled",
				style: "other",
				text: words`↳ ${quoted(other.variant)}`
			},
			verdict: "not judged",
			change: its ? changeOf$1(its) : "–",
			...valuesOf$2(its),
			runs: its ? unbroken(`${its.baseRuns} + ${its.patchedRuns}`) : "–"
		};
	})];
}
/** A DUT that forwards nothing has no time per packet, but a rate of 0. */
const comparisonBy = (metric, comparisons, isJudged) => comparisons.find((one) => one.metric === metric) ?? (isJudged ? comparisons[0] : void 0);
/** `−10.4 % (−11.2 … −9.60)`; bold if significant. */
function changeOf$1({ interval: { change, low, high } }) {
	const size = unbroken(formatChange(change));
	const interval = formatInterval(low, high).replace(" …", "\xA0…");
	return words`${low > 0 || high < 0 ? strong(size) : size} (${interval})`;
}
function valuesOf$2(comparison) {
	if (comparison === void 0) return {
		base: "–",
		patched: "–"
	};
	const format = (value) => unbroken(formatMetric(value, comparison.metric));
	return {
		base: format(comparison.base),
		patched: format(comparison.patched)
	};
}
/** `, forwards nothing` or `, ended early` after a cell's verdict; mostly empty. */
function remarkOf(cell) {
	if (isSilent(cell)) return `, ${silenceOf(cell)}`;
	return stoppedCells([cell]).length > 0 ? ", ended early" : "";
}
const linkTo$1 = (result) => words`${mark$1(result.verdict.kind)} ${{
	kind: "link",
	text: cellName(result.cell),
	address: `#${cellAnchor(result)}`
}}`;
const cellAnchor = ({ cell }) => `cell-${cellName(cell)}`.replace(/[^\w.-]+/g, "-");
const unbroken = (text) => text.replaceAll(" ", "\xA0");
const worstFirst = (cells) => cells.toSorted((a, b) => weightOf(a) - weightOf(b));
const weightOf = ({ verdict }) => verdictsWorstFirst.indexOf(verdict.kind);

// src/report/bisect-rows.ts
/**
* Returns listed revisions and ranges of others, in order. Lists good and bad, tried revisions, those in the answer,
* and their neighbours; beyond `most`, drops the least informative. Also lists a single revision between them.
*/
function rangesOf(result, most = 60) {
	const { revisions } = result;
	const listed = listedRevisions(result, most);
	const ranges = [];
	let next = 0;
	for (const index of [...listed, revisions.length]) {
		if (index - next === 1) ranges.push({
			first: next,
			last: next,
			isListed: true
		});
		if (index - next > 1) ranges.push({
			first: next,
			last: index - 1,
			isListed: false
		});
		if (index < revisions.length) ranges.push({
			first: index,
			last: index,
			isListed: true
		});
		next = index + 1;
	}
	return ranges;
}
/** Returns ascending indices, selected by relevance to the answer, then by probability and number of measurements. */
function listedRevisions(result, most) {
	const { revisions } = result;
	const named = namedRevisions(result);
	const isFew = named.members.size <= maxMembers;
	const weightOf = ({ probability, forms }, index) => (named.neighbours.has(index) ? 1e3 : 0) + (named.members.has(index) && (isFew || forms.length > 0) ? 100 : 0) + (probability >= minProbability ? 10 + probability : 0) + (forms.length > 0 ? 1 + Math.min(bootsOf(forms), 8) : 0);
	return revisions.map((revision, index) => ({
		index,
		weight: weightOf(revision, index)
	})).filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight).slice(0, most).map(({ index }) => index).toSorted((a, b) => a - b);
}
/** Size of the largest group listed in full; of a larger group, only the tried members are listed. */
const maxMembers = 30;
const minProbability = .01;
/** Each step ends at one of `members`; `neighbours` are good, bad and both sides of a step. */
function namedRevisions({ answer, revisions }) {
	const steps = stepsOf(answer);
	const within = (index) => index >= 0 && index < revisions.length;
	const members = steps.flatMap(({ after, last }) => revisions.flatMap((_, index) => index > after && index <= last ? index : []));
	const neighbours = [
		0,
		revisions.length - 1,
		...steps.flatMap(({ after, last }) => [after, last])
	];
	return {
		members: new Set(members),
		neighbours: new Set(neighbours.filter(within))
	};
}
/** Ranges with a certain or possible change: after one index, through another. */
function stepsOf(answer) {
	switch (answer.kind) {
		case "culprit": return [{
			after: answer.revision - 1,
			last: answer.revision
		}];
		case "group": return [{
			after: answer.after,
			last: answer.last
		}];
		case "several": return [...answer.found.flatMap(stepsOf), ...answer.open];
		case "not-reproduced": return [];
		case "slide": return answer.steps.map((last) => ({
			after: last - 1,
			last
		}));
		case "inconclusive": return answer.best.map(({ revision }) => ({
			after: revision - 1,
			last: revision
		}));
	}
}
const isNamed = (answer, index) => answer.kind !== "inconclusive" && stepsOf(answer).some(({ after, last }) => index > after && index <= last);
const bootsOf = (forms) => forms.reduce((sum, { values }) => sum + values.length, 0);
/**
* Returns one row for each form of a listed revision, and one for each range of others; an infinite `most` lists all.
*/
function bisectRows(result, most) {
	const { revisions } = result;
	const ranges = most === Number.POSITIVE_INFINITY ? revisions.map((_, index) => ({
		first: index,
		last: index,
		isListed: true
	})) : rangesOf(result, most);
	const numbers = numbersOf(result);
	return ranges.flatMap(({ first, last, isListed }) => isListed ? rowsOfRevision(result, first, numbers) : {
		kind: "folded",
		text: foldedText(revisions.slice(first, last + 1), variantNoun(result))
	});
}
const hasFixUps = (rows) => rows.some((row) => row.kind === "revision" && row.fixUps.length > 0);
/** No known range needs more: one fix-up for each of a few bugs. */
const maxFixUps = 4;
const maxForms = 4;
function rowsOfRevision(result, index, numbers) {
	const { revisions, answer, isShared } = result;
	const revision = revisions[index];
	if (revision === void 0) return [];
	const { subject, probability, forms } = revision;
	const end = index === 0 ? " good" : index === revisions.length - 1 ? " bad" : "";
	return (forms.length === 0 ? [void 0] : forms).slice(0, maxForms).map((form, nth) => ({
		kind: "revision",
		index,
		place: nth === 0 ? unbroken(`${placesText(revision)}${end}`) : "",
		id: revisionId(revision),
		subject,
		isNamed: isNamed(answer, index),
		isFurther: nth > 0,
		fixUps: (form?.fixUps ?? []).slice(0, maxFixUps).map(shortId),
		cells: {
			boots: bootsText(form, isShared, numbers),
			...!isShared && { median: medianText(result, form) },
			againstGood: index > 0 && form !== void 0 ? changeOf(result, form, numbers) : "–",
			outcome: outcomeText(result, revision, form, nth === 0),
			p: nth > 0 || probability <= 0 ? "–" : unbroken(formatProbability(probability))
		}
	}));
}
/** `12`, or `24–25` with later ones that have the same kernel or files. */
const placesText = ({ place, alike }) => alike === 0 ? String(place) : `${place}–${place + alike}`;
/** `2` boots, or `2 (48)` trials and their runs. */
function bootsText(form, isShared, numbers) {
	const runs = form?.values.length ?? 0;
	if (form === void 0 || runs === 0) return "–";
	return unbroken(isShared ? `${numbers(form).length} (${runs})` : String(runs));
}
const medianText = ({ metric }, form) => form !== void 0 && isMeasured(form) ? unbroken(formatMetric(median(form.values), metric)) : "–";
function changeOf({ revisions }, form, numbers) {
	const ofGood = median([...(revisions[0]?.forms ?? []).flatMap(numbers)]);
	const ratio = median([...numbers(form)]) / ofGood;
	return Number.isFinite(ratio) && ratio > 0 ? unbroken(formatChange(ratio - 1)) : "–";
}
/** Linux testbeds install files; others boot kernels. */
const variantNoun = ({ testbed: { kind }, isShared }) => (kind === void 0 ? isShared : systemOfTestbedKind(kind) === "linux") ? "files" : "kernel";
/** `measured`, `does not boot`, and the later commits with the same kernel or files, by name if bad is one. */
function outcomeText(result, revision, form, isFirst) {
	const own = ownOutcome(revision, form);
	const { alike } = revision;
	if (!isFirst || alike === 0) return own;
	const { badCommit, revisions } = result;
	const bad = badCommit !== void 0 && revision === revisions.at(-1) ? revisionId(badCommit) : "";
	const named = bad === "" ? `the next ${alike === 1 ? "one" : alike}` : `bad (${bad})`;
	return `${own}; ${bad !== "" && alike > 1 ? `the next ${alike}, up to ${named},` : named} ${alike === 1 ? "has" : "have"} the same ${variantNoun(result)}`;
}
function ownOutcome(revision, form) {
	if (form?.fault !== void 0) return faultText(form.fault);
	if (form !== void 0) return form.values.length > 0 ? "measured" : "not measured";
	if (revision.isSkipped) return "skipped";
	return revision.isAssumedFailed ? "untried between failures" : "untried";
}
/** `… 97 untried, 3 skipped; 12 more with the same kernel as the one before`. */
function foldedText(revisions, noun) {
	const groups = Map.groupBy(revisions, (revision) => revision.forms.length > 0 ? "tried" : ownOutcome(revision, void 0));
	const counts = [
		"tried",
		"untried",
		"untried between failures",
		"skipped"
	].flatMap((outcome) => {
		const count = groups.get(outcome)?.length ?? 0;
		return count > 0 ? `${count} ${outcome}` : [];
	});
	const alike = revisions.reduce((sum, revision) => sum + revision.alike, 0);
	const same = alike > 0 ? `; ${alike} more with the same ${noun} as the one before` : "";
	return `… ${counts.join(", ")}${same}`;
}
/** `25 commits after good, 24 with different files, 5 of these tried`; never counts good itself. */
function rangeText(result) {
	const { revisions } = result;
	const last = revisions.at(-1);
	const commits = (last?.place ?? 0) + (last?.alike ?? 0) - (revisions[0]?.place ?? 0);
	const { distinct, tried } = triedCounts(result);
	const after = `${counted(commits, searchedKind(result))} after good`;
	if (distinct >= commits) return `${after}, ${tried} tried`;
	return `${after}, ${distinct} with ${variantNoun(result) === "files" ? "different files" : "different kernels"}, ${tried} of these tried`;
}
/** Counts commits after good, without later ones of the same kernel or files. */
function triedCounts({ revisions }) {
	const after = revisions.slice(1);
	return {
		distinct: after.length,
		tried: after.filter(({ forms }) => forms.length > 0).length
	};
}

// src/report/bisect-levels.ts
/**
* Returns levels in the order of commits; without a change, those of good and bad. The interval is Student's, on
* natural logarithms, with a variance pooled over all levels and the history; without such a variance it has no width.
*/
function levelsOf(result) {
	const { revisions } = result;
	const numbers = numbersOf(result);
	const logsOf = (own) => own.flatMap(({ forms }) => forms.flatMap(numbers)).filter((value) => value > 0).map(Math.log);
	const groups = segmentsOf(result).map(([first, last]) => ({
		first,
		last,
		logs: logsOf(revisions.slice(first, last + 1))
	})).filter(({ logs }) => logs.length > 0);
	const own = {
		sumOfSquares: groups.reduce((sum, { logs }) => sum + sumNthPowerDeviations(logs, 2), 0),
		degreesOfFreedom: groups.reduce((sum, { logs }) => sum + logs.length - 1, 0)
	};
	const { sumOfSquares, degreesOfFreedom } = sumOf(own, result.isShared ? noNoise : moderated(result.history));
	const reachOfOne = degreesOfFreedom > 0 ? criticalT(degreesOfFreedom, (1 - bisectConfidenceRatio) / 2) * Math.sqrt(sumOfSquares / degreesOfFreedom) : 0;
	return groups.map(({ first, last, logs }) => {
		const [middle, reach] = [mean(logs), reachOfOne / Math.sqrt(logs.length)];
		return {
			first,
			last,
			value: Math.exp(middle),
			low: Math.exp(middle - reach),
			high: Math.exp(middle + reach)
		};
	});
}
function segmentsOf({ answer, revisions }) {
	const end = revisions.length - 1;
	if (![
		"culprit",
		"group",
		"several"
	].includes(answer.kind)) return [[0, 0], [end, end]];
	const steps = stepsOf(answer).toSorted((a, b) => a.after - b.after);
	const firsts = [0, ...steps.map(({ last }) => last)];
	const lasts = [...steps.map(({ after }) => after), end];
	return firsts.flatMap((first, index) => {
		const last = lasts[index] ?? end;
		return first <= last ? [[first, last]] : [];
	});
}

// src/report/bisect-plot.ts
/** SVG with its own light background; undefined without measurements. */
function bisectPlot(result, form = "wide") {
	const numbers = numbersOf(result);
	const dots = result.revisions.flatMap((revision) => dotsOf(revision, numbers));
	if (dots.length === 0) return void 0;
	const sizes = forms$1[form];
	const columns = columnsOf(result, sizes);
	const levels = levelsOf(result);
	const [values, kept] = [dots, levels].map((all) => all.map(({ value }) => value));
	const axis = paddedRates(robustExtent(values ?? [], kept), {
		spareRatio: .1,
		minRatio: .004
	});
	const scale = linearScale(axis, sizes.bottom, sizes.top);
	const heightOf = (value) => round(scale(value));
	const drawing = {
		result,
		numbers,
		sizes,
		columns,
		levels,
		axis,
		heightOf
	};
	const legend = legendPieces(drawing, dots);
	return svgDocument(sizes.width, legend.bottom + 10, [
		...heading$1(drawing),
		...gaps(drawing),
		...grid(drawing),
		...failures(drawing),
		...bands(drawing),
		...step(drawing),
		...columns.flatMap((column) => marks(column, drawing)),
		...outsideValues(drawing),
		...chances(drawing),
		...labels(drawing),
		...columns.flatMap((column) => tooltip(column, drawing)),
		...legend.pieces
	]);
}
/** Alternative text. */
function bisectPlotAlt(result) {
	const failed = result.revisions.filter(({ forms }) => forms.length > 0 && !forms.some(isMeasured)).length;
	const { distinct, tried } = triedCounts(result);
	const without = failed > 0 ? ` and ${failed} of them cannot be measured` : "";
	return `${result.isShared ? "The change against good in each trial" : "The rate of each boot"} along the ${searchedKind(result)}s: ${tried} of the ${distinct} after good were tried${without}; ${bisectTitle(result)}`;
}
const forms$1 = {
	wide: {
		width: 920,
		margin: 24,
		title: {
			y: 36,
			size: 17
		},
		subtitle: {
			y: 58,
			hasSetting: true,
			longest: 120
		},
		left: 104,
		right: 896,
		top: 92,
		bottom: 312,
		chanceTop: 326,
		chanceBottom: 370,
		radius: 4,
		maxRevisions: 60
	},
	narrow: {
		width: 360,
		margin: 14,
		title: {
			y: 24,
			size: 14
		},
		subtitle: {
			y: 43,
			hasSetting: false,
			longest: 46
		},
		left: 78,
		right: 348,
		top: 76,
		bottom: 250,
		chanceTop: 262,
		chanceBottom: 300,
		radius: 3.2,
		maxRevisions: 26
	}
};
const { paper: paper$1, ink: ink$1, faint: faint$1, pale: pale$1, red: red$1, green: green$1, amber: amber$1, grey: grey$1 } = colors;
function columnsOf(result, { left, right, maxRevisions }) {
	const { revisions } = result;
	const ranges = revisions.length <= maxRevisions ? revisions.map((_, index) => ({
		first: index,
		last: index,
		isListed: true
	})) : rangesOf(result, maxRevisions);
	const width = (right - left) / ranges.length;
	return ranges.map((one, nth) => ({
		...one,
		left: left + nth * width,
		width
	}));
}
const middleOf = ({ left, width }) => left + width / 2;
/** More marks in one column hide each other. */
const maxDots = 100;
function dotsOf({ forms }, numbers) {
	const dots = forms.flatMap((form) => numbers(form).map((value) => ({
		value,
		isPlain: form.fixUps.length === 0
	})));
	const every = Math.ceil(dots.length / maxDots);
	return dots.filter((_, index) => index % every === 0);
}
function heading$1(drawing) {
	const { result, sizes } = drawing;
	const { title, subtitle, margin: x } = sizes;
	const { metric, cell, testbed } = result;
	const rates = ratesText(drawing);
	const name = result.isShared ? `${metricName(metric)}, against good in each trial` : metricName(metric);
	const parts = subtitle.hasSetting ? [
		rates,
		name,
		cellName(cell),
		plainLine(testbed.name, 40)
	] : [rates, cellName(cell)];
	const below = plainLine(parts.filter(Boolean).join(" · "), subtitle.longest);
	return [
		element("title", {}, escaped(`${bisectHeadline(result)}. ${bisectPlotAlt(result)}`)),
		text(bisectTitle(result), {
			x,
			y: title.y,
			"font-size": title.size,
			"font-weight": 600
		}),
		text(below, {
			x,
			y: subtitle.y,
			fill: faint$1
		})
	];
}
/** `26.84 Mpps to 11.83 Mpps`: the answer's rates, or all levels. */
function ratesText({ result, levels }) {
	const { answer, metric } = result;
	const change = "change" in answer ? answer.change : void 0;
	return change ? [change.before, change.after].map((value) => formatMetric(value, metric)).join(" to ") : levels.map(({ value }) => valueText$1(result, value)).join(" to ");
}
/** `26.84 Mpps`, or with shared trials `−10.0 %`. */
const valueText$1 = ({ isShared, metric }, value) => isShared ? formatChange(value - 1) : formatMetric(value, metric);
const gaps = ({ columns, sizes: { top, bottom, chanceTop, chanceBottom } }) => columns.flatMap(({ isListed, left: x, width }) => isListed ? [] : [[top, bottom], [chanceTop, chanceBottom]].map(([y = 0, end = 0]) => element("rect", {
	x,
	y,
	width,
	height: end - y,
	fill: pale$1,
	"fill-opacity": "0.6"
})));
const small = {
	"font-size": 11,
	fill: faint$1
};
function grid(drawing) {
	const { result, sizes, axis } = drawing;
	const { left, right, bottom, chanceTop, chanceBottom } = sizes;
	const line = (y) => path$1(`M${left} ${y}H${right}`, { stroke: pale$1 });
	const label = (labelText, y) => text(labelText, {
		x: left - 8,
		y,
		...small,
		"text-anchor": "end"
	});
	return [
		...ticksOf(axis, 6).flatMap((tick) => {
			const y = drawing.heightOf(tick);
			const labelText = result.isShared ? formatSigned(tick - 1) : formatTick(tick, result.metric);
			return [line(y), label(labelText, y + 4)];
		}),
		path$1(`M${left} ${bottom}H${right}`, { stroke: grey$1 }),
		line(chanceTop),
		path$1(`M${left} ${chanceBottom}H${right}`, { stroke: grey$1 }),
		label("P", (chanceTop + chanceBottom) / 2 + 4)
	];
}
function failures(drawing) {
	const { sizes, columns, result } = drawing;
	const { top, bottom } = sizes;
	return [...failuresOf(drawing).flatMap((failure) => {
		const { kind, left, right } = failure;
		const area = {
			x: left,
			y: top,
			width: right - left,
			height: bottom - top
		};
		return [hatching(area, kind === "failed" ? grey$1 : pale$1), ...faultName(failure, area)];
	}), ...columns.flatMap(({ isListed, first, left: x, width }) => {
		const forms = result.revisions[first]?.forms ?? [];
		return isListed && forms.some(isMeasured) && forms.some(({ fault }) => fault) ? hatching({
			x,
			y: bottom - 14,
			width,
			height: 14
		}, grey$1) : [];
	})];
}
function failuresOf({ columns, result }) {
	const found = [];
	for (const { isListed, first, left, width } of columns) {
		const revision = result.revisions[first];
		const kind = isListed && revision ? failureOf(revision) : void 0;
		if (kind === void 0) continue;
		const faults = (revision?.forms ?? []).flatMap(({ fault }) => fault ? faultText(fault) : []);
		const before = found.at(-1);
		if (before?.kind === kind && Math.abs(before.right - left) < .01) {
			before.right = left + width;
			for (const fault of faults) before.faults.add(fault);
		} else found.push({
			kind,
			left,
			right: left + width,
			faults: new Set(faults)
		});
	}
	return found;
}
function failureOf({ forms, isAssumedFailed }) {
	if (forms.some(isMeasured)) return void 0;
	if (forms.some(({ fault }) => fault !== void 0)) return "failed";
	return isAssumedFailed ? "between" : void 0;
}
const hatchPixels = 8;
/** Lines continue across neighbouring areas. */
function hatching({ x, y, width, height }, stroke) {
	const start = hatchPixels - (x + y) % hatchPixels;
	const count = Math.ceil((width + height - start) / hatchPixels);
	const lines = Array.from({ length: Math.max(count, 0) }, (_, nth) => {
		const sum = start + nth * hatchPixels;
		const [from, to] = [Math.max(0, sum - height), Math.min(width, sum)];
		return `M${round(x + from)} ${round(y + sum - from)}L${round(x + to)} ${round(y + sum - to)}`;
	});
	const look = {
		stroke,
		"stroke-width": 1.2,
		"stroke-opacity": stroke === grey$1 ? "0.55" : "1"
	};
	return path$1(lines.join(""), {
		...look,
		fill: "none"
	});
}
/** Writes the name upright if it is longer than the line. */
function faultName({ faults }, area) {
	const [labelText = "", ...others] = faults;
	const name = others.length > 0 ? "cannot be measured" : labelText;
	const long = widthOf(name) + 10;
	const middle = {
		x: area.x + area.width / 2,
		y: area.y + area.height / 2
	};
	const isUpright = long > area.width;
	if (name === "" || isUpright && (area.width < 16 || long > area.height)) return [];
	const [width, height] = isUpright ? [16, long] : [long, 16];
	const turned = isUpright ? { transform: `rotate(-90 ${round(middle.x)} ${round(middle.y)})` } : void 0;
	return [element("rect", {
		x: middle.x - width / 2,
		y: middle.y - height / 2,
		width,
		height,
		fill: paper$1
	}), text(name, {
		x: middle.x,
		y: middle.y + 4,
		...small,
		"text-anchor": "middle",
		...turned
	})];
}
/** Approximates the width at 11 pixels. */
const widthOf = (labelText) => labelText.length * 5.9;
/** Draws each level over its revisions; without a change, good and bad over the whole width. */
function bands(drawing) {
	const { levels, columns, sizes } = drawing;
	const isSplit = hasSteps(drawing);
	return levels.flatMap((level, nth) => {
		const own = columns.filter(({ first, last }) => last >= level.first && first <= level.last);
		const [first, last] = [own[0], own.at(-1)];
		if (first === void 0 || last === void 0) return [];
		const x = isSplit ? first.left : sizes.left;
		const end = isSplit ? last.left + last.width : sizes.right;
		const color = colorOf(drawing, nth);
		const [high, low] = [drawing.heightOf(level.high), drawing.heightOf(level.low)];
		const y = drawing.heightOf(level.value);
		const height = Math.max(low - high, 1);
		return [element("rect", {
			x,
			y: high,
			width: end - x,
			height,
			fill: color,
			"fill-opacity": "0.16"
		}), path$1(`M${round(x)} ${y}H${round(end)}`, {
			stroke: color,
			"stroke-width": 1.2
		})];
	});
}
const hasSteps = ({ result }) => [
	"culprit",
	"group",
	"several"
].includes(result.answer.kind);
/** The first level is neutral; others are better or worse, if the answer distinguishes them. */
function colorOf(drawing, nth) {
	const { levels, result } = drawing;
	const [first, own] = [levels[0], levels[nth]];
	if (nth === 0 || first === void 0 || own === void 0) return grey$1;
	if (result.answer.kind === "not-reproduced") return ink$1;
	return isLoss(result, own.value - first.value) ? red$1 : green$1;
}
/** Marks the change by a vertical line, or both ends of a group, with the commit's name. */
function step(drawing) {
	const { result, columns, sizes } = drawing;
	const { answer, revisions } = result;
	const { top, chanceBottom, left, right } = sizes;
	if (answer.kind === "inconclusive" || answer.kind === "slide") return [];
	const steps = stepsOf(answer).flatMap(({ after, last }) => {
		const own = columns.filter((column) => column.last > after && column.first <= last);
		const [from, to] = [own[0], own.at(-1)];
		if (from === void 0 || to === void 0) return [];
		const isOne = last - after === 1;
		const many = answer.kind === "several" && answer.open.some((one) => one.last === last) ? `${last - after} open` : `one of ${last - after}`;
		const name = isOne ? revisionId(revisions[last]) : many;
		return {
			x: from.left,
			end: to.left + to.width,
			isOne,
			name
		};
	});
	const spans = [];
	return steps.flatMap(({ x, end, isOne, name }) => {
		const width = widthOf(name);
		const at = Math.min(Math.max(isOne ? x : (x + end) / 2, left + width / 2), right - width / 2);
		const span = {
			from: at - width / 2,
			to: at + width / 2
		};
		return [...(isOne ? [x] : [x, end]).map((one) => path$1(`M${round(one)} ${top - 4}V${chanceBottom}`, {
			stroke: amber$1,
			"stroke-dasharray": "4 3"
		})), ...claimed(spans, span) ? [text(name, {
			...small,
			x: at,
			y: top - 9,
			fill: amber$1,
			"text-anchor": "middle"
		})] : []];
	});
}
function claimed(spans, span) {
	if (spans.some(({ from, to }) => from < span.to + 5 && span.from - 5 < to)) return false;
	spans.push(span);
	return true;
}
function marks(column, drawing) {
	const { sizes, levels, result } = drawing;
	const revision = result.revisions[column.first];
	if (!column.isListed || revision === void 0) return [];
	const nth = levels.findIndex(({ first, last }) => column.first >= first && column.first <= last);
	const color = nth === 0 || nth === -1 ? ink$1 : colorOf(drawing, nth);
	return placedDots(column, revision, drawing).map(({ x, value, isPlain }) => {
		const look = {
			color,
			isPlain,
			radius: sizes.radius
		};
		const y = drawing.heightOf(value);
		return isWithin(value, drawing.axis) ? dot(x, y, look) : arrow(x, y, {
			...look,
			isUp: value > drawing.axis.high
		});
	});
}
function placedDots(column, revision, { sizes, numbers }) {
	const dots = dotsOf(revision, numbers);
	const available = Math.max(column.width - 2 * sizes.radius - 2, 0);
	const apart = Math.min(2 * sizes.radius + 2, available / Math.max(dots.length - 1, 1));
	return dots.map((one, index) => ({
		...one,
		x: middleOf(column) + (index - (dots.length - 1) / 2) * apart
	}));
}
/** Names outliers beyond the axis, as far as space allows. */
function outsideValues(drawing) {
	const { result, sizes, columns, axis } = drawing;
	const { left, right, radius } = sizes;
	const spans = {
		above: [],
		below: []
	};
	return columns.flatMap((column) => {
		const revision = result.revisions[column.first];
		if (!column.isListed || revision === void 0) return [];
		return placedDots(column, revision, drawing).flatMap(({ x, value }) => {
			if (isWithin(value, axis)) return [];
			const isUp = value > axis.high;
			const labelText = valueText$1(result, value);
			const half = widthOf(labelText) / 2;
			const at = Math.min(Math.max(x, left + half), right - half);
			const isFree = claimed(isUp ? spans.above : spans.below, {
				from: at - half,
				to: at + half
			});
			const y = drawing.heightOf(value) + (isUp ? radius + 15 : -radius - 8);
			return isFree ? [text(labelText, {
				...small,
				x: at,
				y,
				"text-anchor": "middle"
			})] : [];
		});
	});
}
/** Draws an arrow whose tip points to a value outside the plot. */
function arrow(x, y, { color, isPlain, radius: r, isUp }) {
	const [base, tip] = isUp ? [2 * r, -2 * r] : [-2 * r, 2 * r];
	const colors = isPlain ? {
		fill: color,
		stroke: paper$1
	} : {
		fill: paper$1,
		stroke: color
	};
	return path$1(`M${round(x - r)} ${round(y + base)}h${2 * r}l${-r} ${tip}Z`, colors);
}
const dot = (cx, cy, { color, isPlain, radius: r }) => element("circle", {
	cx,
	cy,
	r,
	...isPlain ? {
		fill: color,
		stroke: paper$1
	} : {
		fill: paper$1,
		stroke: color,
		"stroke-width": 1.6
	}
});
/** Draws a bar for each revision by probability, and labels the greatest. */
function chances({ result, sizes, columns }) {
	const { revisions, answer, metric } = result;
	const { chanceTop, chanceBottom } = sizes;
	const bars = columns.map((column) => {
		const chance = revisions.slice(column.first, column.last + 1).reduce((sum, { probability }) => sum + Math.max(probability, 0), 0);
		return {
			column,
			chance: Math.min(chance, 1)
		};
	});
	const greatest = bars.toSorted((a, b) => b.chance - a.chance)[0];
	const drawn = bars.filter(({ chance }) => chance > .002);
	const label = greatest && greatest.chance >= .05 && numberAt(greatest, sizes);
	return [...drawn.map(({ column, chance }) => {
		const width = Math.min(column.width * .7, 26);
		const height = chance * (chanceBottom - chanceTop);
		const fill = isNamed(answer, column.first) ? namedColor(answer, metric) : grey$1;
		const x = middleOf(column) - width / 2;
		return element("rect", {
			x,
			y: chanceBottom - height,
			width,
			height,
			fill
		});
	}), ...label ? [text(label.labelText, {
		...small,
		...label.at
	})] : []];
}
/** Places the number above its bar, or beside a tall one. */
function numberAt({ column, chance }, { left, right, chanceTop, chanceBottom }) {
	const labelText = formatProbability(chance);
	const [middle, long] = [middleOf(column), widthOf(labelText)];
	if (chance < .65) {
		const y = chanceBottom - chance * (chanceBottom - chanceTop) - 4;
		return {
			labelText,
			at: {
				x: Math.min(Math.max(middle, left + long / 2), right - long / 2),
				y,
				"text-anchor": "middle"
			}
		};
	}
	const [y, half] = [chanceTop + 12, Math.min(column.width * .7, 26) / 2 + 5];
	return middle + half + long <= right ? {
		labelText,
		at: {
			x: middle + half,
			y
		}
	} : {
		labelText,
		at: {
			x: middle - half,
			y,
			"text-anchor": "end"
		}
	};
}
function namedColor(answer, metric) {
	if (!("change" in answer) || answer.change === void 0) return amber$1;
	return isLoss({ metric }, answer.change.change) ? red$1 : green$1;
}
/** Labels revisions along the line by priority: the answer's first, then good and bad. */
function labels({ result, sizes, columns }) {
	const { revisions, answer } = result;
	const { chanceBottom, left, right } = sizes;
	const weightOf = ({ first }) => isNamed(answer, first) ? 0 : first === 0 || first === revisions.length - 1 ? 1 : 2;
	const spans = [];
	const shown = columns.toSorted((a, b) => weightOf(a) - weightOf(b)).flatMap((column) => {
		const { first, last, isListed } = column;
		const labelText = isListed ? String(revisions[first]?.place ?? "") : `…${last - first + 1}`;
		const [x, half] = [middleOf(column), widthOf(labelText) / 2];
		if (!claimed(spans, {
			from: x - half,
			to: x + half
		})) return [];
		return text(labelText, {
			...small,
			x,
			y: chanceBottom + 16,
			"text-anchor": "middle"
		});
	});
	const bad = result.badCommit ?? revisions.at(-1);
	const y = chanceBottom + 33;
	return [
		...shown,
		text(`good ${revisionId(revisions[0])}`, {
			...small,
			x: left,
			y
		}),
		text(`bad ${revisionId(bad)}`, {
			...small,
			x: right,
			y,
			"text-anchor": "end"
		})
	];
}
function tooltip({ isListed, first, left: x, width }, { result, sizes }) {
	const revision = result.revisions[first];
	if (!isListed || revision === void 0) return [];
	const { place, subject, probability } = revision;
	const labelText = `${place}: ${revisionId(revision)} ${plainLine(subject, 80)} (P ${formatProbability(probability)})`;
	const { top: y, chanceBottom } = sizes;
	return [element("rect", {
		x,
		y,
		width,
		height: chanceBottom - y,
		fill: "none",
		"pointer-events": "all"
	}, element("title", {}, escaped(labelText)))];
}
function legendPieces(drawing, dots) {
	const { sizes } = drawing;
	const { margin, width, chanceBottom } = sizes;
	let [x, y] = [margin, chanceBottom + 56];
	return {
		pieces: entriesOf(drawing, dots).flatMap(({ label, sample }) => {
			const long = 18 + widthOf(label);
			if (x > margin && x + long > width - margin) [x, y] = [margin, y + 18];
			const drawn = [sample(x, y), text(label, {
				...small,
				x: x + 17,
				y
			})];
			x += long + 18;
			return drawn;
		}),
		bottom: y
	};
}
function entriesOf(drawing, dots) {
	const { result, levels } = drawing;
	const kinds = new Set(failuresOf(drawing).map(({ kind }) => kind));
	const isMixed = result.revisions.some(({ forms }) => forms.some(isMeasured) && forms.some(({ fault }) => fault));
	const mark = (isPlain) => (x, y) => dot(x + 5, y - 4, {
		color: ink$1,
		isPlain,
		radius: 4
	});
	const box = (stroke) => (x, y) => hatching({
		x,
		y: y - 10,
		width: 12,
		height: 12
	}, stroke);
	const one = result.isShared ? "trial" : "boot";
	const percent = formatPercent(bisectConfidenceRatio);
	return [
		{
			isThere: dots.some(({ isPlain }) => isPlain),
			label: `a ${one}`,
			sample: mark(true)
		},
		{
			isThere: dots.some(({ isPlain }) => !isPlain),
			label: `a ${one} with fix-ups`,
			sample: mark(false)
		},
		{
			isThere: levels.length > 0,
			label: `a level and its ${percent} interval`,
			sample: (x, y) => [element("rect", {
				x,
				y: y - 9,
				width: 12,
				height: 10,
				fill: grey$1,
				"fill-opacity": "0.16"
			}), path$1(`M${x} ${y - 4}h12`, {
				stroke: grey$1,
				"stroke-width": 1.2
			})].join("")
		},
		{
			isThere: kinds.has("failed") || isMixed,
			label: "cannot be measured",
			sample: box(grey$1)
		},
		{
			isThere: kinds.has("between"),
			label: "untried between failures",
			sample: box(pale$1)
		},
		{
			isThere: result.revisions.some(({ probability }) => probability > 0),
			label: "P that it changed the rate",
			sample: (x, y) => element("rect", {
				x: x + 2,
				y: y - 9,
				width: 8,
				height: 10,
				fill: grey$1
			})
		}
	].filter(({ isThere }) => isThere);
}

// src/report/report-flamegraphs.ts
/** Covers every judged cell, and the difference of base and patched; in a bisection, the change's neighbours. */
function graphsOf(result, profiles) {
	if ("kind" in result) return graphsOfBisection(result, profiles);
	if (result.outcome.kind !== "judged") return [];
	const cells = new Map(result.outcome.cells.map((cell) => [cellName(cell.cell), cell]));
	return profiles.flatMap((data) => {
		const cell = cells.get(cellName(data.cell));
		return cell === void 0 || isSilent(cell) ? [] : graphsOfCell(cell, data);
	});
}
/** Names graphs by commit; `base` is the one before, `patched` the one after. */
function graphsOfBisection(result, [own]) {
	if (own === void 0) return [];
	const { cell, revisions, answer } = result;
	const id = revisionId(revisions[stepsOf(answer)[0]?.last ?? -1]) || "patched";
	const names = /* @__PURE__ */ new Map([
		["base", `before ${id}`],
		["patched", id],
		["difference", `${id} compared with the commit before it`]
	]);
	return graphsOfCell(result, own).map((graph) => {
		const which = names.get(graph.which) ?? graph.which;
		return {
			...graph,
			which,
			title: `${cellName(cell)}, ${which}`
		};
	});
}
/** Omits a graph that cannot be drawn, with the reason: a profile may exceed the limits of a picture. */
function drawGraph(graph, standalone = true) {
	const { title, subtitle, profile, base } = graph;
	try {
		return {
			kind: "drawn",
			svg: flamegraph(profile, {
				title,
				subtitle,
				base,
				standalone
			})
		};
	} catch (error) {
		return {
			kind: "left-out",
			why: `There is no flamegraph of ${title}: ${reasonOf(error)}`
		};
	}
}
function graphsOfCell({ cell, profiles }, { variants }) {
	const profiled = new Map(profiles.flatMap((one) => one.kind === "profiled" ? [[one.variant, one]] : []));
	const graphs = variants.map(({ variant, profile }) => ({
		...placed(cell, variant),
		title: `${cellName(cell)}, ${plainLine(variant)}`,
		subtitle: subtitleOf(profiled.get(variant), profile),
		profile
	}));
	const [base, patched] = ["base", "patched"].map((name) => graphs.find(({ which }) => which === name));
	if (base === void 0 || patched === void 0) return graphs;
	const difference = {
		...placed(cell, "difference"),
		title: `${cellName(cell)}, patched against base`,
		subtitle: `base: ${base.subtitle}; patched: ${patched.subtitle}`,
		profile: patched.profile,
		base: base.profile
	};
	return [...graphs, difference];
}
const placed = (cell, which) => ({
	cell,
	which,
	anchor: flamegraphAnchor(cell, which)
});
/** `FreeBSD 15.0-CURRENT n1234 GENERIC · cpu_clk_unhalted.thread_p · 48,210 samples`. */
function subtitleOf(profiled, profile) {
	const samples = `${grouped(profiled?.busySamples ?? samplesOf(profile.stacks))} samples`;
	return [...(profiled === void 0 ? [] : [profiled.kernel, profiled.event]).map((text) => plainLine(text)), samples].join(" · ");
}

// src/report/sections.ts
function setting(result) {
	const { testbed, trials } = result;
	const own = trials.some(({ kernel, kernels }) => kernel ?? kernels) ? void 0 : testbed.fingerprint.kernel;
	const [measured = own] = kernelsOf(result).get("base") ?? [];
	return settingOf(result, measured);
}
/** Accepts any measurement; `kernel` follows the CPU. */
function settingOf(result, kernel) {
	const { testbed, traffic, trials } = result;
	const hosts = [testbed.fingerprint.cpu, kernel].filter((one) => one !== void 0).map((one) => quoted(one));
	const testbedText = [quoted(testbed.name), hosts.length > 0 ? words` (${joined(hosts, ", ")})` : ""];
	if (trials.length === 0) return testbedText;
	const sent = trials.reduce((most, trial) => Math.max(most, trial.offeredPps), 0);
	const aim = traffic.offeredPps === void 0 ? "" : `the sender targeted ${formatPps(traffic.offeredPps)} and `;
	const size = traffic.packets?.sizes === void 0 ? `${frameSizes(result)} ` : "";
	const seconds = (Date.parse(result.finishedAt) - Date.parse(result.startedAt)) / 1e3;
	return [
		testbedText,
		` · ${grouped(traffic.flows)} flows of ${size}${packetsText(traffic.packets)} · ${aim || "the sender "}sent up to ${formatPps(sent)}, averaged over a trial with its pauses and all variants`,
		` · measured in ${formatDuration(seconds)}`
	];
}
/** `64- and 66-byte`: the actual sizes, as the smallest size does not fit every family. */
function frameSizes({ trials, traffic }) {
	const sizes = [...new Set(trials.map(({ cell }) => frameBytesFor(traffic, cell)))].toSorted((a, b) => a - b);
	const last = `${sizes.pop()}-byte`;
	if (sizes.length > 10) return `${sizes[0]}- to ${last}`;
	return [sizes.map((size) => `${size}-`).join(", "), last].filter(Boolean).join(" and ");
}
function rule(policy) {
	const { metric, marginRatio, falseAlarmRatio } = policy;
	const speed = isCost(metric) ? ` (a loss of ${formatPercent(marginRatio)} of its speed)` : "";
	return `Judged by ${metricName(metric)} · ${formatSigned(marginsOf(policy).loss)} or more matters${speed} · false alarms ≤ ${formatPercent(falseAlarmRatio)}`;
}
function failureOutput(outcome) {
	const panic = "panic" in outcome && outcome.panic !== void 0 ? `panic: ${outcome.panic}` : "";
	const log = guestConsoleOf(outcome) ?? "dut-console.log";
	const console = "console" in outcome && outcome.console ? `Its console${linesShown(outcome)}, whole in ${log}:\n${outcome.console}` : "";
	return [
		outcome.message,
		panic,
		console
	].filter(Boolean).join("\n");
}
function linesShown({ console = "", consoleLines }) {
	const shown = console.split("\n").length;
	return consoleLines === void 0 ? "" : ` (${grouped(shown)} of ${counted(consoleLines, "line")})`;
}
const guestConsoleOf = (outcome) => "guestConsole" in outcome ? outcome.guestConsole : void 0;
const leftOf = (outcome) => guestConsoleOf(outcome) === void 0 ? "The DUT is back on its own kernel" : "The guest was discarded, and base runs in a new one";
function failureText(outcome, patch) {
	switch (outcome.kind) {
		case "does-not-apply": return "The patch does not apply, and nothing was measured:";
		case "build-failed": return "The base builds, but the patched kernel does not; nothing was measured. First messages of the build:";
		case "out-of-disk": return "The patch is not to blame, and nothing was measured:";
		case "does-not-load": return words`${filesThatDoNotLoad(patch)} (${name(outcome.scenario)}); nothing was measured. Output of the DUT:`;
		case "boot-failed": return `The patched kernel does not boot, and nothing was measured with it. ${leftOf(outcome)}:`;
		case "panics-under-load": return `The patched kernel panicked twice in the same trial, and no verdict was reached. ${leftOf(outcome)}:`;
	}
}
function filesThatDoNotLoad(patch) {
	const names = comparedNames(patch);
	return names === void 0 ? "The base loads, but the patched files do not" : `${names.base} loads, but ${names.patched} does not`;
}
const otherMetrics = ({ metric }, cells) => metricSchema.options.filter((other) => other !== metric && cells.some((cell) => !isSilent(cell) && cell.comparisons.some((one) => one.metric === other)));
/** `packets per second (more is better), which is not judged`. */
const otherMetricTitle = (metric) => `${metricName(metric)}, which is not judged`;
/** Warns of costs outside the metric; empty for a metric that covers a packet's whole path. */
const unseenBy = (metric) => metric === "instructionsPerPacket" ? ["Cache misses, locks, other CPUs, and real NICs with their drivers are not part of an instruction count: trust it for code that every packet passes, such as an nftables rule or the forwarding path, and not for a driver."] : [];
const maxReasons = 20;
/** Explains, below the table, why cells are invalid. */
function invalidLines(cells) {
	const lines = cells.flatMap(({ cell, verdict }) => verdict.kind === "invalid" ? [words`${nameOf(cell)} is invalid: ${quoted(verdict.reason, 300)}`] : []);
	const rest = lines.length - maxReasons;
	return [...lines.slice(0, maxReasons), ...rest > 0 ? [`${counted(rest, "more cell")} ${rest === 1 ? "is" : "are"} invalid`] : []];
}
const uncountedLines = (cells) => cells.flatMap((result) => {
	const { cell, runs } = result;
	const spare = spareRuns(result);
	return [...invalidRunLines(runs), ...[...Map.groupBy(spare, (run) => whySpare(run, result))].map(([why, group]) => `${group.length} of ${counted(runs.length, "run")}, ${why}`)].map((line) => words`${nameOf(cell)}: ${line}`);
});
/** `2 of 8 runs, …`: one line for each cause. */
function invalidRunLines(runs) {
	const faults = runs.flatMap(({ validity }) => validity.kind === "invalid" ? validity : []);
	return [...Map.groupBy(faults, ({ cause }) => cause).values()].map((group) => {
		const [first, ...others] = group.map(({ reason }) => reason);
		const like = others.some((reason) => reason !== first) ? "the first of them: " : "";
		return words`${`${group.length} of ${counted(runs.length, "run")}, ${like}`}${quoted(first ?? "")}`;
	});
}
function spareRuns(cell) {
	const { base, patched } = countedRuns(cell, cell.pairs);
	const counted = /* @__PURE__ */ new Set([...base, ...patched]);
	return cell.runs.filter((run) => isOfVerdict(run) && run.validity.kind === "valid" && !counted.has(run));
}
/** Explains, after their number, why such a run, or several alike, are unused. */
function whySpare({ variant, pps }, cell) {
	if (pps === 0) return "with no packet forwarded; a single such run does not count";
	if (variant === "patched" && isSilent(cell)) return "with packets forwarded, while other runs forwarded none";
	return "whose paired run does not count, or that ended after the verdict";
}
/** Lists outliers: they count, and each was repeated once. */
const apartLines = (cells) => cells.flatMap(({ cell, design, runs }) => (design.method === "pooled" ? runsApart(runs.filter(isOfVerdict)) : []).map(({ number, variant, pps }) => words`${nameOf(cell)}: run ${String(number)} of ${quoted(variant)}, ${formatPps(pps)}`));
/** Compares the noise between builds with that between runs of one build, in a line per cell with several layouts. */
function buildNoiseLines({ outcome, policy, variants }) {
	const cells = outcome.kind === "judged" ? outcome.cells : [];
	const commits = new Set(variants.flatMap((variant) => isJudged(variant.name) ? variant.commit : []));
	return cells.flatMap((cell) => {
		const noise = buildNoise(cell, policy.metric, commits.size === 1);
		if (noise === void 0) return [];
		const { layouts, betweenLayouts, withinLayouts = 0, together } = noise;
		const text = betweenLayouts === void 0 ? `builds and runs together differ by ${formatPercent(together)}, because none of ${layouts} layouts was booted twice` : `builds differ by ${formatPercent(betweenLayouts)} (${layouts} layouts), and runs of one build by ${formatPercent(withinLayouts)}`;
		return [words`${nameOf(cell.cell)}: ${text} (standard deviations)`];
	});
}
const isOfVerdict = ({ variant }) => isJudged(variant);
const movedBaselineLines = (cells) => cells.flatMap(({ cell, baseline }) => {
	if (baseline.kind !== "moved") return [];
	const { change, low, high } = baseline.interval;
	return [words`${nameOf(cell)}: ${formatChange(change)} against its history (99 % interval ${formatInterval(low, high)})`];
});
function environmentLines$1(result) {
	const { variants, testbed, seed, generator } = result;
	const kernels = kernelsOf(result);
	return [
		...variants.map(({ name, commit }) => joined([words`${quoted(name)}: commit ${quoted(commit)}`, ...(kernels.get(name) ?? []).map((kernel) => quoted(kernel))], ", ")),
		...fingerprintLines(testbed),
		`order of runs: seed ${seed}`,
		words`${generator.name} ${quoted(generator.version)}`
	];
}
const fingerprintLines = ({ fingerprint }) => Object.entries(fingerprint).map(([key, value]) => words`${quoted(key)}: ${quoted(value)}`);
/** Empty if the variants share the DUT's own kernel. */
function kernelsOf({ trials, outcome }) {
	const runs = outcome.kind === "judged" ? outcome.cells.flatMap((cell) => cell.runs) : [];
	const variantOf = new Map(runs.map((run) => [run.trial, run.variant]));
	const found = trials.flatMap(({ number, kernel, kernels = {} }) => [...kernel === void 0 ? [] : [{
		variant: variantOf.get(number) ?? "",
		kernel
	}], ...Object.entries(kernels).map(([variant, kernelText]) => ({
		variant,
		kernel: kernelText
	}))]);
	return new Map([...Map.groupBy(found, ({ variant }) => variant)].map(([variant, group]) => [variant, [...new Set(group.map(({ kernel }) => kernel))]]));
}
const notesOf = (patch) => patch.kind === "revision" ? patch.notes : [];
const leftOutLines = ({ leftOut }) => leftOut.map(({ variant, rejection }) => {
	const panic = "panic" in rejection && rejection.panic ? words` (panic: ${quoted(rejection.panic)})` : "";
	return words`${quoted(variant)} ${rejectionText(rejection)}: ${quoted(rejection.message, 300)}${panic}`;
});
function readingParagraphs({ policy, variants, outcome }) {
	const { marginRatio, confidenceRatio, falseAlarmRatio, missRatio } = policy;
	const confidence = formatPercent(confidenceRatio);
	const alone = variants.every(({ name }) => isJudged(name));
	const runs = outcome.kind === "judged" ? outcome.cells.flatMap((cell) => cell.runs) : [];
	const layouts = new Set(runs.flatMap(({ variant, layout }) => variant === "base" ? layout ?? 1 : []));
	return [
		`Runs of base and patched alternate, and each cell ends as soon as its runs decide. The interval contains the true change in ${confidence} of experiments or more, however early they end; the patched value is base plus the change. At most ${formatPercent(falseAlarmRatio)} of patches that lose nothing are called a regression in any cell, and at most ${formatPercent(missRatio)} of cells that lose ${formatPercent(marginRatio)} pass.`,
		`If one patch in ten costs ${formatPercent(marginRatio)}, at most ${formatPercent(wrongRegressions(policy, .1))} of reported regressions are false; if one in a hundred does, at most ${formatPercent(wrongRegressions(policy, .01))}. A regression by less than ${formatPercent(marginRatio)} looks larger than it is on average, as only the clearest are reported.`,
		...layouts.size > 1 ? [`Each kernel was linked ${layouts.size} times with its code in a different order, and pairs boot these layouts in turn, so the spread of the runs includes the differences between builds. Runs of one layout count as one, by their mean.`] : [],
		...alone ? [] : [`Earlier diffs (↳) are measured in the same rounds, and each is compared with base; its value is in the column patched. They decide neither the verdict nor how many runs there are, so their ${confidence} intervals are those of a fixed number of runs, and contain the true change slightly less often where a cell ended early.`]
	];
}
/** Maximum share of false regressions if `lossRatio` of patches lose the margin. */
function wrongRegressions({ falseAlarmRatio, missRatio }, lossRatio) {
	const falseOnes = falseAlarmRatio * (1 - lossRatio);
	return falseOnes / (falseOnes + (1 - missRatio) * lossRatio);
}
function verdictMeanings({ marginRatio }) {
	const margin = formatPercent(marginRatio);
	return [
		["regression", `a loss beyond chance, and one of ${margin} is not excluded`],
		["improvement", `a gain beyond chance, and one that would make up for a loss of ${margin} is not excluded`],
		["no-regression", `a loss of ${margin} is excluded`],
		["inconclusive", "none of these: more runs would decide"],
		["invalid", "too few runs count for a verdict"]
	];
}

// src/report/bisect-sections.ts
/** `forwarding inet4, by packets per second (more is better): 12 commits, 5 of 13 tried`. */
const searchedText = (result) => words`${nameOf(result.cell)}, by ${metricName(result.metric)}: ${rangeText(result)}`;
/** The measurement of bad without the culprit, or the reason for its absence. */
function revertLines({ revert, metric }) {
	if (revert === void 0) return [];
	if (revert.kind === "impossible") return [words`It cannot be measured: ${quoted(revert.why, 300)}`];
	const { values, change } = revert;
	const rates = `${formatMetric(change.before, metric)} → ${formatMetric(change.after, metric)}`;
	return [`${changeText$2(change)} against the bad one (${rates}), ${counted(values.length, "run")}`];
}
/** In the order of their first commit. */
function faultGroups({ revisions }) {
	const failed = revisions.flatMap((revision) => revision.forms.flatMap(({ fault, fixUps }) => fault ? {
		revision,
		fault,
		fixUps
	} : []));
	return [...Map.groupBy(failed, ({ fault, fixUps }) => JSON.stringify([
		fault.kind,
		fault.message,
		fixUps
	])).values()].flatMap((group) => {
		const [first] = group;
		if (first === void 0) return [];
		return {
			...first,
			revisions: group.map(({ revision }) => revision)
		};
	});
}
/** `2 f8f5b459d21e, 6 6815909abda2 and 8 more`, `with 431980466ff0`. */
function failedRevisions({ revisions, fixUps }) {
	const named = revisions.slice(0, maxNamed$2).map((revision) => `${revision.place} (${revisionId(revision)})`);
	const rest = revisions.length - named.length;
	const who = [named.join(", "), ...rest > 0 ? [`${rest} more`] : []].join(" and ");
	return fixUps.length === 0 ? who : `${who}, with ${fixUps.slice(0, 4).map(shortId).join(", ")}`;
}
const maxNamed$2 = 3;
const maxGroups = 20;
function faultLines(result) {
	const groups = faultGroups(result);
	const lines = groups.slice(0, maxGroups).map((group) => {
		const { fault } = group;
		const panic = "panic" in fault && fault.panic ? words` (panic: ${quoted(fault.panic)})` : "";
		const describe = fault.message === "" ? "" : words`: ${quoted(fault.message, 300)}`;
		return words`${failedRevisions(group)}: ${faultText(fault)}${describe}${panic}`;
	});
	const rest = groups.length - lines.length;
	return rest > 0 ? [...lines, counted(rest, "more fault")] : lines;
}
const faultOutput = (fault) => fault.kind === "forwards-nothing" ? fault.message : failureOutput(fault);
const environmentLines = (result) => [
	...rangeFacts(result).map(([key, value]) => words`${key}: ${quoted(value)}`),
	...fingerprintLines(result.testbed),
	`seed ${result.seed}`,
	words`${result.generator.name} ${quoted(result.generator.version)}`
];
function rangeFacts(result) {
	const { good, bad, badCommit, fixUps, revisions } = result;
	const last = revisions.at(-1);
	const same = badCommit !== void 0 && badCommit.commit !== last?.commit ? `, with the same ${variantNoun(result)} as ${revisionId(last)}` : "";
	const describe = (typed, revision) => revision?.diff === void 0 ? `${typed} = ${revision?.commit ?? "unknown"}, ${revision?.subject ?? ""}, by ${revision?.author ?? ""}` : revisionId(revision);
	return [
		["good", describe(good, revisions[0])],
		["bad", `${describe(bad, badCommit ?? last)}${same}`],
		...fixUps.map((typed) => ["fix-up", typed])
	];
}
/** Explains the numbers briefly; docs/how-to/bisect.md has the details. */
function howDecided(result) {
	const { isShared, history, metric } = result;
	const number = isShared ? "The median of the runs of a commit in a trial, against the middle of good and bad in the same trial, is one number" : "Each boot of a commit that counts is one number";
	const percent = formatPercent(bisectConfidenceRatio);
	return [
		`${number}, and P is the probability that a commit is the one that changed the rate, given all numbers${history === void 0 ? "" : " and the noise of earlier experiments"}. No number is discarded: later ones correct an outlier.`,
		"The next measurement is always the one with the highest expected information per minute. The search ends once one commit, or a group of unmeasurable commits, has P ≥ 0.99 and both its neighbours have two numbers.",
		`A change compares geometric means: of all numbers before it and of all numbers after it, up to the next change; ± its ${percent} interval. Commits with the same ${variantNoun(result)} count as one.`,
		"A commit counts as unmeasurable after two failures, or after one if a neighbour failed the same way or no outcome depends on it. Commits between two that failed the same way are not tried, and are assumed to fail.",
		...unseenBy(metric),
		"Details are in docs/how-to/bisect.md."
	];
}
/** Feeds ministat(1), which needs three numbers: replaces a neighbour with fewer by its whole side. */
function neighbourMinistat(result) {
	const { answer, revisions, cell, isShared } = result;
	if (isShared) return void 0;
	const [step, ...others] = stepsOf(answer);
	if (!(answer.kind === "culprit" || answer.kind === "group") || step === void 0 || others.length > 0) return void 0;
	const sides = [{
		neighbour: step.after,
		all: revisions.slice(0, step.after + 1)
	}, {
		neighbour: step.last,
		all: revisions.slice(step.last)
	}].map(({ neighbour, all }) => {
		const own = valuesOf$1(revisions.slice(neighbour, neighbour + 1));
		const isAlone = own.length >= minValues;
		return {
			neighbour,
			isAlone,
			values: isAlone ? own : valuesOf$1(all)
		};
	});
	if (sides.some(({ values }) => values.length < minValues)) return void 0;
	const isAlone = sides.every((side) => side.isAlone);
	const sets = sides.map(({ neighbour, values, isAlone }, nth) => {
		const id = revisionId(revisions[neighbour]);
		const upTo = nth === 0 ? `up to ${id}` : `from ${id}`;
		return {
			name: `${isAlone ? id : upTo}, ${cellName(cell)}`,
			values: Float64Array.from(values)
		};
	});
	const text = renderMinistat(sets, {
		separateBars: true,
		confidencePercent: 95
	});
	return {
		title: "ministat of before and after",
		note: isAlone ? void 0 : "ministat needs three numbers on each side: if a neighbour has fewer, all numbers of its side are used.",
		text
	};
}
const minValues = 3;
const valuesOf$1 = (revisions) => revisions.flatMap(({ forms }) => forms.filter(isMeasured).flatMap(({ values }) => values));

// src/report/change-reason.ts
/** Explains the first cells in a line each, and counts the rest. */
function whyLines(cells, links) {
	const explained = order.flatMap((kind) => cells.filter((cell) => cell.verdict.kind === kind && deservesLine(cell)));
	const lines = explained.slice(0, maxLines$1).map((cell) => words`${strong(reasonTitle(cell))} (${nameOf(cell.cell)}): ${reasonText(cell, links)}`);
	const rest = explained.length - lines.length;
	return rest > 0 ? [...lines, words`${strong("Why")} of ${String(rest)} more ${rest === 1 ? "cell" : "cells"}: below`] : lines;
}
const maxLines$1 = 3;
const order = [
	"regression",
	"improvement",
	"inconclusive",
	"invalid",
	"no-regression"
];
const deservesLine = (cell) => isExplained(cell) && (isChanged(cell) || cell.reason?.changedFunctions[0] !== void 0);
/** A packet that is not forwarded has no time for a profile to explain. */
const isExplained = (cell) => isProfiled(cell) && !isSilent(cell);
const isChanged = ({ verdict: { kind } }) => kind === "regression" || kind === "improvement";
/** Promises no reason if nothing is known to have changed. */
const reasonTitle = (cell) => isChanged(cell) ? "Why" : "Changed functions";
const isProfiled = (cell) => judgedProfiles(cell).length > 0;
const judgedProfiles = ({ profiles }) => profiles.filter(({ variant }) => isJudged(variant));
const maxNamed$1 = 3;
/** Names the most changed functions, or the reason that none is known, with links to the flamegraphs. */
function reasonText(cell, links) {
	return [changesText(cell), flamegraphs(cell, links)];
}
function changesText(cell) {
	const { reason } = cell;
	if (reason === void 0) {
		const missing = missingTexts(cell);
		return missing.length > 0 ? joined(missing, ", ") : "not compared";
	}
	if (reason.changedFunctions.length === 0) return unmoved;
	const named = reason.changedFunctions.slice(0, maxNamed$1).map((one) => words`${code(one.function, 80)} ${changeText$1(one)}`);
	const rest = reason.moved - named.length;
	return joined([...named, ...rest > 0 ? [`${rest} more`] : []], ", ");
}
const unmoved = "no function changed beyond chance";
const missingTexts = (cell) => judgedProfiles(cell).flatMap((profile) => profile.kind === "missing" ? [words`there is no profile of ${profile.variant}: ${quoted(profile.reason, 300)}`] : []);
/**
* `+38 ns per packet (9.3 → 12.4 % of cycles)`, `+250 instructions per packet (9.3 → 12.4 % of them)`; without a cost
* per packet, `+3.1 points (9.3 → 12.4 % of cycles)`.
*/
function changeText$1(changedFunction) {
	const { baseRatio, patchedRatio, instructionsPerPacket } = changedFunction;
	const change = hasCost(changedFunction) ? `${costText(changedFunction)} per packet` : pointsText(changedFunction);
	const whole = instructionsPerPacket === void 0 ? "cycles" : "them";
	return `${change} (${formatShare(baseRatio)} → ${formatShare(patchedRatio)} % of ${whole})`;
}
/** `+3.1 points`: percentage points between the shares. */
const pointsText = ({ baseRatio, patchedRatio }) => `${formatDifference((patchedRatio - baseRatio) * 100)} points`;
const hasCost = ({ nsPerPacket, instructionsPerPacket }) => nsPerPacket !== void 0 || instructionsPerPacket !== void 0;
/** `+38 ns`, `+250 instructions`, `–` if not measured. */
function costText({ nsPerPacket, instructionsPerPacket }) {
	const cost = instructionsPerPacket ?? nsPerPacket;
	if (cost === void 0) return "–";
	const unit = instructionsPerPacket === void 0 ? "ns" : "instructions";
	return `${formatTwoDigits(cost.patched - cost.base)} ${unit}`;
}
function whyOfCell(cell, links) {
	const changed = cell.reason?.changedFunctions ?? [];
	return [paragraph(words`${nameOf(cell.cell)}: ${groundsText(cell)}${flamegraphs(cell, links)}`), ...changed.length > 0 ? [changedFunctionTable(changed)] : []];
}
const changedFunctionTable = (changed) => ({
	kind: "table",
	columns: changedColumns(true),
	groups: [{
		weight: 0,
		rows: changed.map((one) => changedRow(one, true))
	}],
	lines: changed.map((one) => {
		const module = one.module === void 0 ? "" : words` (${quoted(one.module, 80)})`;
		return words`  ${code(one.function, 80)}${module} ${changeText$1(one)}`;
	})
});
const changedColumns = (hasCosts) => [
	{ head: "function" },
	...numberColumns(...hasCosts ? ["per packet"] : [], "change", "base", "patched"),
	{ head: "module" }
];
const changedRow = (changed, hasCosts) => [
	code(changed.function, 80),
	...hasCosts ? [unbroken(costText(changed))] : [],
	unbroken(pointsText(changed)),
	unbroken(`${formatShare(changed.baseRatio)} %`),
	unbroken(`${formatShare(changed.patchedRatio)} %`),
	changed.module ? quoted(changed.module, 80) : "–"
];
/** `5,932 samples of base, 6,010 samples of patched, left out as idle: cpu_idle`. */
function groundsText(cell) {
	const { reason } = cell;
	const idle = reason?.idleFrames.map((frame) => code(frame, 80)) ?? [];
	const rest = reason === void 0 ? 0 : reason.moved - reason.changedFunctions.length;
	return joined([
		...judgedProfiles(cell).flatMap((profile) => profile.kind === "profiled" ? `${grouped(profile.busySamples)} samples of ${profile.variant}` : []),
		...missingTexts(cell),
		...idle.length > 0 ? [words`left out as idle: ${joined(idle, " ")}`] : [],
		...reason?.changedFunctions.length === 0 ? [unmoved] : [],
		...rest > 0 ? [counted(rest, "more function")] : []
	], ", ");
}
/** ` · flamegraphs: base · patched · difference`; empty without any. */
function flamegraphs(cell, links) {
	const linked = graphNames(cell).flatMap((which) => {
		const anchor = flamegraphAnchor(cell.cell, which);
		const address = links.graph?.(anchor) ?? (links.page && `${links.page}#${anchor}`);
		return address ? {
			text: which,
			address
		} : [];
	});
	return linked.length > 0 ? {
		kind: "graphs",
		before: " · flamegraphs: ",
		links: linked
	} : "";
}
function graphNames(cell) {
	const names = judgedProfiles(cell).flatMap(({ kind, variant }) => kind === "profiled" ? variant : []);
	return names.length > 1 ? [...names, "difference"] : names;
}

// src/report/comment-links.ts
const correctionsOf = ({ corrections = [] }) => detailList("runs", "Not verified: the measuring job reports otherwise", corrections.map((sentence) => quoted(sentence, 500)));

// src/report/ministat-blocks.ts
const ministatFold = ({ title, note, text }) => ({
	kind: "fold",
	title,
	blocks: blocksOf(title, text, note)
});
const ministatDetail = ({ title, note, text }) => ({
	fold: "statistics",
	title,
	blocks: blocksOf(title, text, note)
});
/** Consecutive cells share an equal note. */
const ministatDetails = (policy, cells) => ministats(policy, cells).map(({ note, ...own }, index, all) => ministatDetail(note === all[index - 1]?.note ? own : {
	...own,
	note
}));
const blocksOf = (name, text, note) => [...note === void 0 ? [] : [paragraph(note)], {
	kind: "code",
	name,
	text
}];
const ministats = (policy, cells) => [...cells.flatMap((cell) => ministatOfPatched(policy, cell)), ...cells.flatMap((cell) => ministatOfOthers(policy, cell))];
function ministatOfPatched(policy, cell) {
	if (isSilent(cell)) return [];
	const [base, patched] = ministatSets(cell, ["base", "patched"], policy.metric);
	if (base === void 0 || patched === void 0) return [];
	const text = ministat([base, patched], policy);
	return [{
		title: `ministat: ${cellName(cell.cell)}`,
		note: ministatNote(cell),
		text
	}];
}
function ministatOfOthers(policy, cell) {
	const names = cell.others.slice(0, maxOthers$1).map(({ variant }) => variant);
	const [base, ...others] = ministatSets(cell, ["base", ...names], policy.metric);
	if (base?.variant !== "base" || others.length === 0) return [];
	return [{
		title: `ministat of earlier diffs: ${cellName(cell.cell)}`,
		text: ministat([base, ...others], policy)
	}];
}
/** ministat has symbols for this many sets and base. */
const maxOthers$1 = 6;
const ministatSets = (cell, variants, metric) => variants.map((variant) => ({
	variant,
	name: `${variant}, ${cellName(cell.cell)}`,
	values: valuesOf(cell, variant, metric)
})).filter(({ values }) => values.length >= 3);
function ministat(sets, { confidenceRatio }) {
	const confidencePercent = ministatConfidence(confidenceRatio);
	return renderMinistat(sets, {
		separateBars: true,
		confidencePercent
	});
}
function ministatNote({ design }) {
	return `ministat assumes that runs are independent${design.name === "fixed" ? "" : " and that their number was planned, so its error is too small where the experiment stopped early"}${design.method === "paired" ? "; the table compares neighbouring runs, so that common disturbances cancel out" : ""}.`;
}
function valuesOf(cell, variant, metric) {
	const { base, patched } = countedRuns(cell, cell.pairs);
	const counted = isJudged(variant) ? [...base, ...patched] : cell.runs.filter(isValid);
	return Float64Array.from(counted.filter((run) => run.variant === variant).flatMap((run) => run[metric] ?? []));
}
const isValid = ({ validity }) => validity.kind === "valid";
const ministatConfidence = (ratio) => confidencePercents.find((percent) => Math.abs(percent / 100 - ratio) < 1e-9) ?? 95;

// src/report/bisect-comment.ts
function bisectComment(result, links) {
	const why = isProfiled(result) ? [{
		fold: "runs",
		title: "Changed functions",
		blocks: whyOfCell(result, links)
	}] : [];
	return {
		headline: words`${mark$1(bisectLook(result))} ppsgate: ${bisectHeadline(result)}`,
		main: [
			paragraph(searchedText(result)),
			...whatNow(bisectNextSteps(result, links.ways), links),
			table$3(result),
			...isProfiled(result) ? [paragraph(words`${strong("Why")}: ${reasonText(result, links)}`)] : [],
			...links.image === void 0 ? [] : [{
				kind: "picture",
				image: links.image,
				alt: bisectPlotAlt(result)
			}],
			paragraph(settingOf(result))
		],
		remarks: list(revertLines(result), "The bad commit without the culprit:"),
		details: [
			...correctionsOf(links),
			...details$1(result),
			...why
		],
		footer: links.footer
	};
}
function whatNow(steps, { isOnRevision }) {
	if (isOnRevision) return list(steps);
	const title = strong("What now:");
	return steps.length === 1 ? [paragraph(words`${title} ${steps}`)] : list(steps, title);
}
const details$1 = (result) => [
	...detailList("runs", "Commits that cannot be measured", faultLines(result)),
	...detailList("runs", "Excluded runs", invalidRunLines(result.runs)),
	...detailList("environment", "Testbed notes", result.testbed.warnings.map((warning) => quoted(warning, 300))),
	...detailList("environment", "Range and testbed", environmentLines(result)),
	...detailList("statistics", "How it was decided", howDecided(result)),
	...[neighbourMinistat(result)].filter((one) => one !== void 0).map(ministatDetail)
];
function table$3(result) {
	const rows = bisectRows(result);
	const withFixUps = hasFixUps(rows);
	const numbers = result.isShared ? ["trials (runs)"] : ["boots", "median"];
	const against = "against good";
	return {
		kind: "table",
		columns: [
			...numberColumns("n"),
			{ head: searchedKind(result) },
			{ head: "subject" },
			...withFixUps ? [{ head: "with" }] : [],
			...numberColumns(...numbers, against),
			{ head: "outcome" },
			...numberColumns("P")
		],
		groups: rows.map((row) => ({
			weight: 0,
			rows: [wideRow(row, withFixUps, result)]
		})),
		narrow: {
			columns: [
				`${searchedKind(result)} and outcome`,
				...result.isShared ? [...numbers, against] : numbers,
				"P"
			].map((head) => ({ head })),
			groups: rows.map((row) => ({
				weight: 0,
				rows: [narrowRow(row)]
			}))
		}
	};
}
function wideRow(row, withFixUps, { isShared }) {
	if (row.kind === "folded") {
		const others = 4 + (isShared ? 0 : 1) + (withFixUps ? 1 : 0);
		return [
			"",
			"",
			row.text,
			...new Array(others).fill("")
		];
	}
	const { place, subject, isFurther, fixUps, cells } = row;
	return [
		place,
		isFurther ? "↳" : idOf(row),
		isFurther ? "" : quoted(subject, 72),
		...withFixUps ? [fixUps.length > 0 ? joined(fixUps.map(commitId), " ") : "–"] : [],
		cells.boots,
		...cells.median === void 0 ? [] : [cells.median],
		cells.againstGood,
		cells.outcome,
		cells.p
	];
}
function narrowRow(row) {
	if (row.kind === "folded") return [
		row.text,
		"–",
		"–",
		"–"
	];
	const { place, subject, isFurther, fixUps, cells } = row;
	const commit = isFurther ? ["↳"] : [
		place,
		idOf(row),
		quoted(subject, 72)
	];
	const on = fixUps.length > 0 ? ["with", ...fixUps.map(commitId)] : [];
	const against = cells.againstGood === "–" ? "" : ` (${cells.againstGood})`;
	const first = joined([
		...commit,
		...on,
		"–",
		cells.outcome
	].filter(Boolean), " ");
	const change = cells.median === void 0 ? cells.againstGood : `${cells.median}${against}`;
	return [
		first,
		cells.boots,
		change,
		cells.p
	];
}
const idOf = ({ id, isNamed }) => isNamed ? strong(commitId(id)) : commitId(id);

// src/report/graph-folds.ts
/** Kernel graphs have about 50,000 characters each; a page of more than a few million is slow on a phone. */
const maxGraphCharacters = 5e6;
/** Omits the last graphs of a full page. */
function picturesThatFit(graphs) {
	let free = maxGraphCharacters;
	return graphs.map((graph) => {
		const drawn = drawGraph(graph, false);
		if (drawn.kind === "left-out") return {
			graph,
			why: drawn.why
		};
		const { svg } = drawn;
		if (svg.length > free) return { graph };
		free -= svg.length;
		return {
			graph,
			svg
		};
	});
}
const graphFolds = (pictures) => pictures.length === 0 ? [] : [heading$2("Flamegraphs"), {
	kind: "drawing",
	drawing: html`<div class="graphs">\n${pictures.map(graphFold)}</div>\n`
}];
/** Browsers open a fold for a link or search hit inside. */
function graphFold({ graph, svg, why }) {
	const { anchor, which } = graph;
	if (why !== void 0) return html`<p id="${anchor}">${plainLine(why, 500)}</p>\n`;
	const elsewhere = html`<p>It is too large for this page; see <code>${anchor}.svg</code>.</p>`;
	return html`<details class="graph">
<summary>${plainLine(which)}${graphPreview(graph)}</summary>
<div id="${anchor}">${svg === void 0 ? elsewhere : new Html(svg)}</div>
</details>
`;
}
/** Shows shape and colours without names, sized by the page's style; undefined without samples. */
function graphPreview({ profile, base }) {
	const stacks = {
		profile: profile.stacks,
		base: base?.stacks ?? []
	};
	const totals = {
		profile: samplesOf(stacks.profile),
		base: samplesOf(stacks.base)
	};
	if (totals.profile === 0) return void 0;
	const pixelsPerSample = width$2 / totals.profile;
	const { rows } = layout(stacks, "profile", {
		pixelsPerSample,
		minPixels: .7
	});
	const boxes = rows.flatMap((row, depth) => row.map((box) => ({
		look: base === void 0 ? moduleLook(box) : changeLook(box, totals),
		path: `M${tenths(box.x)} ${rows.length - depth - 1}h${tenths(box.width)}v1h-${tenths(box.width)}z`
	})));
	const paths = [...Map.groupBy(boxes, ({ look }) => look)].map(([look, own]) => html`<path class="${look}" d="${own.map(({ path }) => path).join("")}"/>`);
	return html`<svg class="preview" viewBox="0 0 ${width$2} ${rows.length}" preserveAspectRatio="none" aria-hidden="true">${paths}</svg>`;
}
/** Page width in pixels, approximate. Rows have height 1 and are scaled. */
const width$2 = 340;
const tenths = (pixels) => Math.round(pixels * 10) / 10;
function moduleLook({ frame }) {
	const module = moduleName(frame);
	return module === void 0 || /^kernel/.test(module) ? "of-kernel" : "of-module";
}
/** Colours a box by its path's share, including callees, before and now. */
function changeLook({ samples }, totals) {
	const change = samples.profile / totals.profile - samples.base / totals.base;
	if (Math.abs(change) < .003) return "same";
	return `${change > 0 ? "more" : "less"}${Math.abs(change) < .03 ? "" : " much"}`;
}

// src/report/limits.ts
/** Returns a line for each of the first cells with a limit to name, for a comment. */
function limitLines(cells) {
	const lines = cells.flatMap((cell) => {
		const sentences = limitSentences(cell);
		return sentences.length === 0 ? [] : [words`${strong("Limit")} (${nameOf(cell.cell)}): ${joined(sentences, "; ")}`];
	});
	const rest = lines.length - maxLines;
	return [...lines.slice(0, maxLines), ...rest > 0 ? [words`${strong("Limit")} of ${String(rest)} more cells: on the page`] : []];
}
const maxLines = 3;
/** Losses at these places are faults of the test's set-up, also on base; elsewhere they show a router's limit. */
const faultPlaces = /* @__PURE__ */ new Set([
	"ip",
	"firewall",
	"state-table"
]);
/** A smaller loss, or change of one, explains nothing. */
const minLostRatio = .01;
/** Share of all losses above which the rest is not mentioned. */
const nearlyAllRatio = .95;
const maxDropsNamed = 3;
/** Returns only losses that explain a regression, or make the test itself doubtful. */
function limitSentences(cell) {
	const { limits, verdict } = cell;
	const isNamed = isSilent(cell) && droppedBy(cell) !== void 0 || verdict.kind === "invalid" && droppedBy(cell, "base") !== void 0;
	if (limits === void 0 || isNamed) return [];
	const { base, patched } = limits;
	const isLoss = verdict.kind === "regression";
	const [largest] = patched.drops;
	const least = Math.max(minLostRatio, patched.lostRatio * nearlyAllRatio);
	if (isLoss && largest !== void 0 && largest.ratio >= least) {
		const shares = `${formatPercent(largest.ratio)} of the packets, base ${formatPercent(ratioOf(base, largest))}`;
		return [words`all losses of patched (${shares}) are in ${dropText(largest)}`];
	}
	return unionOfDrops(limits).filter((drop) => {
		const change = ratioOf(patched, drop) - ratioOf(base, drop);
		return isLoss && change >= minLostRatio || faultPlaces.has(drop.place) && drop.ratio >= minLostRatio;
	}).slice(0, maxDropsNamed).map((drop) => words`patched loses ${formatPercent(ratioOf(patched, drop))} of the packets in ${dropText(drop)} (base ${formatPercent(ratioOf(base, drop))})`);
}
/** Returns each drop once, with its larger share; the largest first. */
function unionOfDrops({ base, patched }) {
	return [...Map.groupBy([...base.drops, ...patched.drops], ({ place, cause }) => JSON.stringify([place, cause])).values()].flatMap((own) => own.toSorted((a, b) => b.ratio - a.ratio).slice(0, 1)).toSorted((a, b) => b.ratio - a.ratio);
}
const ratioOf = ({ drops }, { place, cause }) => drops.find((one) => one.place === place && one.cause === cause)?.ratio ?? 0;
/** `firewall, inet filter forward: … drop`. */
const dropText = ({ place, cause }) => words`${placeNames[place]}, ${quoted(cause, 120)}`;
const placeNames = {
	"before-dut": "before the DUT",
	card: "card",
	driver: "driver",
	backlog: "backlog",
	ip: "IP",
	firewall: "firewall",
	"state-table": "state table",
	"output-queue": "output queue",
	"after-dut": "behind the DUT"
};
/** Fills the page's table of the busiest CPU, and of drops by place; empty without readings. */
function limitBlocks(cell) {
	const { limits } = cell;
	if (limits === void 0) return [];
	const row = (place, cause, of) => [
		place,
		cause,
		...[limits.base, limits.patched].map((variant) => {
			const ratio = of(variant);
			return ratio === void 0 ? "–" : unbroken(formatPercent(ratio));
		})
	];
	const drops = unionOfDrops(limits);
	const rest = drops.slice(maxRows$1);
	const rows = [
		...[limits.base, limits.patched].some(({ busiestCpuRatio }) => busiestCpuRatio !== void 0) ? [row("busiest CPU", "busy", ({ busiestCpuRatio }) => busiestCpuRatio)] : [],
		...drops.slice(0, maxRows$1).map((drop) => row(placeNames[drop.place], quoted(plainLine(drop.cause), 200), (one) => ratioOf(one, drop))),
		...rest.length === 0 ? [] : [row(`${rest.length} more`, "", (one) => sum(rest.map((drop) => ratioOf(one, drop))))],
		row("unaccounted", "in no counter", (one) => one.lostRatio - sum(one.drops.map(({ ratio }) => ratio))),
		row("lost in total", "offered, but not received", ({ lostRatio }) => lostRatio)
	];
	const caption = "Packets lost, as shares of those offered to the DUT; medians over the trials";
	const columns = [
		{ head: "place" },
		{ head: "cause" },
		...numberColumns("base", "patched")
	];
	return [
		heading$2("Where the limit was"),
		...list(limitSentences(cell)),
		{
			kind: "table",
			caption,
			columns,
			groups: [{
				weight: 0,
				rows
			}]
		}
	];
}
const maxRows$1 = 20;

// src/report/interval-plot.ts
/**
* Returns SVG with its own light background; undefined without judged cells. Beyond `maxCells`, draws only the worst.
*/
function intervalPlot(result, { maxCells = 40, form = "wide" } = {}) {
	const { outcome, policy } = result;
	if (outcome.kind !== "judged") return void 0;
	const { cells } = outcome;
	const shown = cells.length > maxCells ? worstFirst(cells).slice(0, maxCells) : cells;
	const rows = shown.flatMap((cell) => rowsOf(cell, policy));
	if (rows.every(({ interval }) => interval === void 0)) return void 0;
	const sizes = forms[form];
	const { top, rowHeight } = sizes;
	const axis = axisOf$1(rows, policy);
	const end = top + rows.length * rowHeight;
	const tops = rows.map((_, index) => top + index * rowHeight);
	const hidden = cells.length - shown.length;
	return svgDocument(sizes.width, end + sizes.legend + (hidden > 0 ? 37 : 19), [
		...heading(result, sizes),
		...rows.flatMap((row, index) => separator(row, tops[index] ?? top, sizes)),
		...scale(axis, tops, policy, sizes),
		...rows.flatMap((row, index) => rowPieces(row, axis, tops[index] ?? top, sizes)),
		...legend$1(end + sizes.legend, policy, hidden, sizes)
	]);
}
const maxOthers = 10;
function rowsOf(result, { metric }) {
	const { cell, verdict, comparisons, others } = result;
	const intervalOf = (all) => all.find((one) => one.metric === metric)?.interval;
	const interval = verdict.kind !== "invalid" && !isSilent(result) ? intervalOf(comparisons) : void 0;
	const note = isSilent(result) ? { note: "forwards nothing" } : {};
	return [{
		label: cellName(cell),
		verdict: verdict.kind,
		interval,
		...note
	}, ...others.slice(0, maxOthers).map((other) => ({
		label: other.variant,
		interval: intervalOf(other.comparisons)
	}))];
}
const forms = {
	wide: {
		width: 920,
		margin: 24,
		top: 92,
		rowHeight: 30,
		title: {
			y: 36,
			size: 17
		},
		subtitle: {
			y: 58,
			hasTestbed: true
		},
		hasHeads: true,
		plot: {
			left: 240,
			right: 590,
			middle: 15,
			reach: 15
		},
		label: {
			x: 24,
			y: 19.5
		},
		change: {
			x: 664,
			y: 19.5
		},
		interval: {
			x: 778,
			y: 19.5
		},
		symbol: {
			x: 798,
			y: 15
		},
		verdict: {
			x: 812,
			y: 19.5
		},
		legend: 17
	},
	narrow: {
		width: 360,
		margin: 14,
		top: 76,
		rowHeight: 70,
		title: {
			y: 24,
			size: 14
		},
		subtitle: {
			y: 44,
			hasTestbed: false
		},
		hasHeads: false,
		plot: {
			left: 14,
			right: 346,
			middle: 53,
			reach: 11
		},
		label: {
			x: 34,
			y: 20
		},
		change: {
			x: 346,
			y: 20
		},
		interval: {
			x: 346,
			y: 36
		},
		symbol: {
			x: 21,
			y: 15.5
		},
		verdict: {
			x: 34,
			y: 36
		},
		legend: 38
	}
};
const { paper, ink, faint, pale, red, green, amber, grey } = colors;
/** No change is below −100 %; one beyond the other end leaves the plot, so that the rest stays legible. */
const widest = {
	low: -1,
	high: 1
};
/** Includes zero, both margins and all intervals, with padding. */
function axisOf$1(rows, policy) {
	const { loss, gain } = marginsOf(policy);
	const ends = rows.flatMap(({ interval }) => interval ? [interval.low, interval.high] : []);
	const { low, high } = extentOf([
		0,
		loss,
		gain,
		...ends
	].map((change) => clamped(change, widest)));
	const spare = Math.max(high - low, 1e-6) * .06;
	return {
		low: low - spare,
		high: high + spare
	};
}
const placeOf$1 = (change, axis, { left, right }) => linearScale(axis, left, right)(change);
function heading(result, form) {
	const { patch, policy, testbed } = result;
	const { margin: x, title: head, subtitle: below } = form;
	const diff = patch.kind === "revision" ? `, diff ${patch.diff}` : "";
	const title = `${patchLabel(result)}${diff}: change against base`;
	const where = below.hasTestbed ? ` · ${plainLine(testbed.name, 40)}` : "";
	const subtitle = `${metricName(policy.metric)}${where}`;
	return [
		element("title", {}, escaped(`${title}: ${subtitle}`)),
		text(title, {
			x,
			y: head.y,
			"font-size": head.size,
			"font-weight": 600
		}),
		text(subtitle, {
			x,
			y: below.y,
			fill: faint
		}),
		...form.hasHeads ? heads(policy, form) : []
	];
}
function heads({ confidenceRatio }, { top, change, interval, verdict }) {
	const head = {
		y: top - 8,
		"font-size": 11,
		fill: faint
	};
	return [
		text("change", {
			x: change.x,
			...head,
			"text-anchor": "end"
		}),
		text(`${formatPercent(confidenceRatio)} interval`, {
			x: interval.x,
			...head,
			"text-anchor": "end"
		}),
		text("verdict", {
			x: verdict.x,
			...head
		})
	];
}
/** Keeps earlier diffs with their cell. */
const separator = ({ verdict }, y, { margin, width }) => verdict === void 0 ? [] : [path$1(`M${margin} ${y}H${width - margin}`, { stroke: pale })];
/** Draws the background: the margin's loss, round numbers, the margins, and zero. */
function scale(axis, tops, policy, form) {
	const { plot, top, rowHeight, margin, width } = form;
	const { loss, gain } = marginsOf(policy);
	const lossAt = placeOf$1(loss, axis, plot);
	const [from, to] = loss < gain ? [plot.left, lossAt] : [lossAt, plot.right];
	const [left, right] = loss < gain ? ["loss", "gain"] : ["gain", "loss"];
	const bands = bandsOf(tops, form);
	const upright = (change, attributes) => bands.map(([first, last]) => path$1(`M${round(placeOf$1(change, axis, plot))} ${first}V${last}`, attributes));
	const small = {
		"font-size": 11,
		fill: faint
	};
	const ticks = ticksOf(axis);
	const end = top + tops.length * rowHeight;
	return [
		...bands.map(([y, last]) => element("rect", {
			x: from,
			y,
			width: to - from,
			height: last - y,
			...shade
		})),
		...ticks.flatMap((tick) => upright(tick, { stroke: pale })),
		...upright(loss, {
			stroke: red,
			"stroke-dasharray": "4 3"
		}),
		...upright(gain, {
			stroke: grey,
			"stroke-dasharray": "4 3"
		}),
		...upright(0, {
			stroke: ink,
			"stroke-width": 1.5
		}),
		text(left, {
			x: plot.left,
			y: top - 8,
			...small
		}),
		text(right, {
			x: plot.right,
			y: top - 8,
			...small,
			"text-anchor": "end"
		}),
		...ticks.map((tick) => {
			const x = placeOf$1(tick, axis, plot);
			return text(formatSigned(tick), {
				x,
				y: end + 17,
				...small,
				"text-anchor": "middle"
			});
		}),
		path$1(`M${margin} ${end}H${width - margin}`, { stroke: pale })
	];
}
/** Shades one band for touching rows, else one per row, so that no line crosses text. */
function bandsOf(tops, { plot, rowHeight, top }) {
	if (2 * plot.reach === rowHeight) return [[top, top + tops.length * rowHeight]];
	return tops.map((y) => [y + plot.middle - plot.reach, y + plot.middle + plot.reach]);
}
const shade = {
	fill: red,
	"fill-opacity": "0.08"
};
function rowPieces({ label, note, verdict, interval }, axis, top, form) {
	const look = verdict === void 0 ? unjudged : looks[verdict];
	const at = ({ x, y }) => ({
		x,
		y: top + y
	});
	const middle = top + form.plot.middle;
	const small = {
		"font-size": 12,
		fill: faint
	};
	const toEnd = { "text-anchor": "end" };
	const weight = verdict === void 0 ? 400 : 600;
	const change = interval ? formatChange(interval.change) : note === void 0 ? "–" : "";
	const silence = note === void 0 ? [] : [text(note, {
		...at(form.interval),
		...small,
		...toEnd
	})];
	const drawn = interval && [
		drawnInterval(interval, axis, middle, look.color, form.plot),
		symbolAt({
			x: placeOf$1(interval.change, axis, form.plot),
			y: middle
		}, look),
		text(formatInterval(interval.low, interval.high), {
			...at(form.interval),
			...small,
			...toEnd
		})
	];
	const place = at(form.label);
	return [
		...verdict === void 0 ? [text(labelOf(label), {
			...place,
			x: place.x + 18,
			...small
		}), text("not judged", {
			...at(form.verdict),
			...small
		})] : [
			text(labelOf(label), place),
			symbolAt(at(form.symbol), look),
			text(verdict, {
				...at(form.verdict),
				...small,
				fill: look.color
			})
		],
		...drawn ?? silence,
		text(change, {
			...at(form.change),
			...toEnd,
			"font-weight": weight
		})
	];
}
const longestLabel = 30;
/** Shortens a name before its family, which ends it. */
function labelOf(name) {
	const label = plainLine(name);
	if (label.length <= longestLabel) return label;
	return `${label.slice(0, 17).trimEnd()}…${label.slice(-12)}`;
}
/** Draws bars at the ends, or arrows where the interval leaves the plot. */
function drawnInterval({ low, high }, axis, y, color, plot) {
	const [left, right] = [round(placeOf$1(low, axis, plot)), round(placeOf$1(high, axis, plot))];
	const bar = (x) => right - left > 18 ? `M${x} ${y - 5}v10` : "";
	const arrow = (x, tip) => `M${x} ${y - 5}l${tip} 5l${-tip} 5`;
	const ends = [low < axis.low ? arrow(left - 9, -5) : bar(left), high > axis.high ? arrow(right + 9, 5) : bar(right)];
	const attributes = {
		stroke: color,
		"stroke-width": 2,
		fill: "none"
	};
	return path$1(`M${left} ${y}H${right}${ends.join("")}`, attributes);
}
const disc = "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z";
const looks = {
	regression: {
		color: red,
		symbol: "M-7 -5H7L0 7Z"
	},
	improvement: {
		color: green,
		symbol: "M-7 5H7L0 -7Z"
	},
	"no-regression": {
		color: green,
		symbol: disc
	},
	inconclusive: {
		color: amber,
		symbol: "M0 -7L7 0L0 7L-7 0Z"
	},
	invalid: {
		color: grey,
		symbol: "M-6 -4L-4 -6L0 -2L4 -6L6 -4L2 0L6 4L4 6L0 2L-4 6L-6 4L-2 0Z"
	}
};
const unjudged = {
	color: grey,
	symbol: disc
};
const symbolAt = ({ x, y }, { color, symbol }) => path$1(symbol, {
	transform: `translate(${round(x)} ${y})`,
	fill: color,
	stroke: paper
});
function legend$1(y, policy, hidden, { margin: x }) {
	const small = {
		y,
		"font-size": 11,
		fill: faint
	};
	const box = {
		y: y - 9,
		width: 10,
		height: 10,
		stroke: red,
		"stroke-dasharray": "2 1.5"
	};
	const { loss } = marginsOf(policy);
	return [
		element("rect", {
			x,
			...box,
			...shade
		}),
		text(`${formatSigned(loss)} or more matters`, {
			x: x + 16,
			...small
		}),
		...hidden > 0 ? [text(`${counted(hidden, "more cell")}, ${hidden === 1 ? "which is not" : "none of them"} worse`, {
			x,
			...small,
			y: y + 18
		})] : []
	];
}

// src/report/html-pieces.ts
function table$2({ caption, heads, rows }) {
	const classAt = (index) => heads[index]?.isNumber === true && html` class="number"`;
	const head = heads.map(({ text }, index) => html`<th scope="col"${classAt(index)}>${text}</th>`);
	const body = rows.map(([first, ...others]) => html`<tr><th scope="row"${classAt(0)}>${first}</th>${others.map((piece, index) => html`<td${classAt(index + 1)}>${piece}</td>`)}</tr>\n`);
	return scrolling(html`<table><caption><span>${caption}</span></caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody></table>`);
}
/** Focusable, for scrolling by keyboard. */
const scrolling = (piece) => html`<div class="scroll" tabindex="0">${piece}</div>\n`;
const bullets = (items) => items.length === 0 ? void 0 : html`<ul>${items.map((one) => html`<li>${one}</li>`)}</ul>\n`;
const fold = (summary, body) => html`<details><summary>${summary}</summary>\n${body}</details>\n`;
const preformatted = (text) => scrolling(html`<pre>${text.split("\n").map((line) => html`${line}\n`)}</pre>`);
/** Untrusted names and values. */
const factList = (facts) => html`<dl>
${facts.map(([key, value]) => html`<div><dt>${breakable(plainLine(key))}</dt><dd>${plainLine(value, 500)}</dd></div>\n`)}</dl>
`;
/** `2026-11-20 12:00:00 UTC`. */
const timeText = (at) => `${at.slice(0, 19).replace("T", " ")} UTC`;
/** Trusted text with backticks around code. */
const withCode = (text) => text.split("`").map((part, index) => index % 2 === 1 ? html`<code>${part}</code>` : part);
/** Wraps a long name after dots and slashes, and within a word only if that is too long. */
const breakable = (name) => name.split(/(?<=[./])/).map((part, index) => index === 0 ? part : html`<wbr>${part}`);
const mark = (verdict) => html`<svg class="mark ${verdict}" viewBox="-8 -8 16 16" aria-hidden="true"><path d="${looks[verdict].symbol}"/></svg>`;

// src/report/run-plot.ts
/** Uses the colours of the page's style; undefined without numbers. */
function runPlot(inOrder, metric) {
	const points = inOrder.flatMap((run, index) => {
		const value = run[metric];
		const x = Math.round((left + (index + .5) * stepOf(inOrder)) * 10) / 10;
		return value === void 0 ? [] : {
			run,
			value,
			x
		};
	});
	if (points.length === 0) return void 0;
	const axis = axisOf(points);
	const variants = [...Map.groupBy(points, ({ run }) => run.variant)];
	return scrolling(html`<svg class="runs" viewBox="0 0 ${width$1} ${height$1}" role="img" aria-label="${described$1(points)}">
${[axis.high, axis.low].map((value) => edge(value, placeOf(value, axis), metric))}
${variants.map(([variant, own]) => drawn$1(lookOf(variant), own, axis))}
${drawnOutside(points, axis, metric)}
${legend(variants.map(([variant]) => variant), points)}
</svg>`);
}
const [width$1, height$1] = [920, 210];
const [left, right, top, bottom] = [
	96,
	900,
	44,
	184
];
const stepOf = (runs) => (right - left) / runs.length;
/** Includes the median of each variant; outliers and uncounted runs may lie outside. */
function axisOf(points) {
	const valid = points.filter(({ run }) => run.validity.kind === "valid");
	const shown = valid.length > 0 ? valid : points;
	const medians = [...Map.groupBy(shown, ({ run }) => run.variant).values()].map((own) => median(own.map(({ value }) => value)));
	const values = shown.map(({ value }) => value);
	return paddedRates(robustExtent(values, medians), {
		spareRatio: .08,
		minRatio: .005
	});
}
/** Draws points outside the axis at its edge, each with its value if space allows. */
function drawnOutside(points, axis, metric) {
	const outside = points.filter(({ value }) => !isWithin(value, axis));
	return [true, false].map((isUp) => {
		const own = outside.filter(({ value }) => value > axis.high === isUp);
		const [tip, down] = isUp ? ["m-4 -6h8l-4 -7Z", -6] : ["m-4 6h8l-4 7Z", 14];
		const edgeAt = placeOf(isUp ? axis.high : axis.low, axis);
		const arrows = own.map(({ x }) => `M${x} ${edgeAt}${tip}`).join("");
		let free = 0;
		const labels = own.flatMap(({ value, x }) => {
			const label = formatMetric(value, metric);
			const length = label.length * 6.5;
			const isLeft = x + 8 + length > width$1;
			const from = isLeft ? x - 8 - length : x + 8;
			if (from < free) return [];
			free = from + length + 12;
			return html`<text x="${isLeft ? x - 8 : x + 8}" y="${edgeAt + down}" text-anchor="${isLeft ? "end" : "start"}">${label}</text>\n`;
		});
		return own.length === 0 ? [] : [html`<path class="outside" d="${arrows}"/>\n`, ...labels];
	});
}
const placeOf = (value, axis) => Math.round(linearScale(axis, bottom, top)(value) * 10) / 10;
const edge = (value, y, metric) => html`<path class="edge" d="M${left} ${y}H${right}"/><text x="${left - 10}" y="${y + 4}" text-anchor="end">${formatTick(value, metric)}</text>\n`;
function drawn$1(look, points, axis) {
	const [valid, invalid] = [true, false].map((isValid) => points.filter(({ run }) => run.validity.kind === "valid" === isValid));
	const marks = (shape, some = []) => some.map(({ value, x }) => `M${x} ${placeOf(value, axis)}${shape}`).join("");
	const middle = valid?.length ? html`<path class="middle ${look.name}" d="M${left} ${placeOf(median(valid.map(({ value }) => value)), axis)}H${right}"/>\n` : void 0;
	return html`${middle}<path class="${look.name}" d="${marks(look.shape, valid)}"/>
<path class="uncounted" d="${marks(cross, invalid)}"/>\n`;
}
const cross = "m-3.5 -3.5l7 7m0 -7l-7 7";
const shapes = {
	base: "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0",
	patched: "m-4 3.2h8l-4 -7Z",
	other: "m0 -4l4 4l-4 4l-4 -4Z"
};
function lookOf(variant) {
	const name = !isJudged(variant) ? "other" : variant === "base" ? "base" : "patched";
	return {
		name,
		shape: shapes[name]
	};
}
function legend(variants, points) {
	const hasInvalid = points.some(({ run }) => run.validity.kind === "invalid");
	return [...variants.slice(0, maxNamed).map((variant) => ({
		label: plainLine(variant, 16),
		...lookOf(variant)
	})), ...hasInvalid ? [{
		label: "does not count",
		name: "uncounted",
		shape: cross
	}] : []].map(({ label, name, shape }, index) => {
		const x = left + index * 120;
		return html`<path class="${name}" d="M${x + 6} 14${shape}"/><text x="${x + 16}" y="18">${label}</text>\n`;
	});
}
const maxNamed = 5;
const described$1 = (points) => `${counted(points.length, "run")} in order; the table below has their numbers`;

// src/report/cell-section.ts
const cellSection = (policy, result, pictures) => ({
	id: cellAnchor(result),
	heading: words`${mark$1(result.verdict.kind)} ${nameOf(result.cell)}`,
	blocks: [
		...conclusion(policy, result),
		...isSilent(result) ? [] : whyBlocks(result, reasonTitle(result)),
		...graphFolds(pictures),
		...limitBlocks(result),
		...runs(policy, result),
		...ministats(policy, [result]).map(ministatFold)
	]
});
/** `regression: −10.4 % (95 % interval −11.2 … −9.60)`. */
function conclusion(policy, cell) {
	const { confidenceRatio } = policy;
	const { verdict, comparisons } = cell;
	const word = verdictWord(verdict.kind);
	if (isSilent(cell)) return [words`${word}: ${strong(silenceOf(cell))}`, ...dropsText([cell])].map(paragraph);
	if (verdict.kind === "invalid") return [paragraph([word, remarkOf(cell)]), paragraph(quoted(verdict.reason, 1e3))];
	const { interval } = comparisons[0] ?? {};
	const numbers = interval && words`: ${strong(formatChange(interval.change))} (${formatPercent(confidenceRatio)} interval ${formatInterval(interval.low, interval.high)})`;
	const small = smallLosses([cell], policy).length > 0 ? `, ${smallLossText([cell], policy)}` : "";
	return [paragraph([
		word,
		small,
		remarkOf(cell),
		numbers ?? ""
	])];
}
function whyBlocks({ reason, profiles }, title = "Why") {
	const missing = profiles.flatMap((one) => one.kind === "missing" ? [words`${quoted(one.variant)}: ${quoted(one.reason, 500)}`] : []);
	if (reason === void 0 && missing.length === 0) return [];
	return [
		heading$2(title),
		...reason ? [changedFunctions$1(reason)] : [],
		...list(missing, "There is no profile of")
	];
}
function changedFunctions$1({ changedFunctions: changed, moved, idleFrames }) {
	const names = joined(idleFrames.map((name) => quoted(name)), ", ");
	const idle = idleFrames.length > 0 ? words` Stacks with ${names} are left out, because the CPU idled in them.` : "";
	if (changed.length === 0) return paragraph(words`No function’s share of the samples changed beyond chance.${idle}`);
	const rest = moved - changed.length;
	const others = rest > 0 ? `; ${rest} more changed less` : "";
	const hasCosts = changed.some(hasCost);
	return {
		kind: "table",
		caption: words`Functions whose own share of the samples changed beyond chance${others}.${idle}`,
		columns: changedColumns(hasCosts),
		groups: [{
			weight: 0,
			rows: changed.map((one) => changedRow(one, hasCosts))
		}]
	};
}
function runs(policy, cell) {
	const inOrder = cell.runs.toSorted((a, b) => a.number - b.number);
	if (inOrder.length === 0) return [];
	const drawing = isSilent(cell) ? void 0 : runPlot(inOrder, policy.metric);
	return [
		heading$2("Runs"),
		...drawing ? [{
			kind: "drawing",
			drawing
		}] : [],
		...list(uncountedLines([cell]), "Excluded runs:"),
		...list(apartLines([cell]), "Included outliers:"),
		{
			kind: "fold",
			title: `${counted(inOrder.length, "run")} in order`,
			blocks: [runTable(inOrder, cell)]
		}
	];
}
/** Accepts runs of a bisection, which has neither pairs nor cells. */
function runTable(inOrder, cell) {
	const spare = new Map(cell && spareRuns(cell).map((run) => [run, whySpare(run, cell)]));
	const hasCosts = cell === void 0 || !isSilent(cell);
	const metrics = metricSchema.options.filter((metric) => metric === "pps" || hasCosts && inOrder.some((run) => run[metric] !== void 0));
	const rows = inOrder.map((run) => [
		String(run.number),
		...cell ? [String(run.pair)] : [],
		quoted(run.variant),
		...metrics.map((metric) => valueText(run[metric], metric)),
		validityText(run, spare)
	]);
	return {
		kind: "table",
		caption: `All runs in order${cell ? "; the runs of one pair are compared" : ""}`,
		columns: [
			...numberColumns("run", ...cell ? ["pair"] : []),
			{ head: "variant" },
			...numberColumns(...metrics.map((metric) => metricNouns[metric])),
			{ head: "counts" }
		],
		groups: [{
			weight: 0,
			rows
		}]
	};
}
const valueText = (value, metric) => value === void 0 ? "–" : formatMetric(value, metric);
function validityText(run, spare) {
	const { validity } = run;
	const why = spare.get(run);
	if (why !== void 0) return `no, ${why}`;
	if (validity.kind === "valid") return "yes";
	return words`${verdictWord("invalid", "no")}, ${validity.cause}: ${quoted(validity.reason, 500)}`;
}

// src/report/bisect-page.ts
function bisectPage(result, profiles) {
	const graphs = graphsOf(result, profiles);
	const verdict = bisectLook(result);
	const [first = "", ...others] = bisectNextSteps(result);
	return {
		title: `${symbols[verdict]} ppsgate: ${bisectHeadline(result)}`,
		verdict,
		headline: bisectHeadline(result),
		head: [
			paragraph(searchedText(result)),
			paragraph(words`${strong("What now:")} ${first}`),
			...list(others),
			faint$2(settingOf(result))
		],
		contents: [],
		sections: [
			revisions(result),
			section("revert", "The bad commit without the culprit", list(revertLines(result))),
			section("why", "Before and after", [...whyBlocks(result), ...graphFolds(picturesThatFit(graphs))]),
			section("faults", "What cannot be measured", faults(result)),
			section("remarks", "Testbed notes", warnings(result)),
			section("numbers", "Numbers", numbers(result)),
			section("environment", "Environment", [environment$1(result)]),
			section("reading", "How it was decided", howDecided(result).map(paragraph))
		].filter(({ blocks }) => blocks.length > 0),
		version: result.generator.version,
		hasGraphs: graphs.length > 0
	};
}
const section = (id, heading, blocks) => ({
	id,
	heading,
	blocks
});
function revisions(result) {
	const rows = bisectRows(result);
	const isFolded = rows.some(({ kind }) => kind === "folded");
	const all = isFolded ? bisectRows(result, Number.POSITIVE_INFINITY) : [];
	const caption = result.isShared ? "Good first, bad last; each is compared with good in the same trial" : "Good first, bad last";
	return section("revisions", "The commits", [
		...bothForms((form) => bisectPlot(result, form)),
		revisionTable(result, rows, `${caption}; P is the probability that a commit is the one`),
		...isFolded ? [{
			kind: "fold",
			title: `good and all ${result.revisions.length - 1} after it`,
			blocks: [revisionTable(result, all, caption)]
		}] : []
	]);
}
/** A phone shows three columns. */
function revisionTable(result, rows, caption) {
	const withFixUps = hasFixUps(rows);
	return {
		kind: "table",
		caption,
		columns: [
			...numberColumns("n"),
			{ head: searchedKind(result) },
			{ head: "outcome" },
			...numberColumns(...result.isShared ? [] : ["median"], "against good", "P", result.isShared ? "trials (runs)" : "boots"),
			...withFixUps ? [{ head: "with" }] : []
		],
		groups: [{
			weight: 0,
			rows: rows.map((row) => rowOf(row, withFixUps, result))
		}]
	};
}
function rowOf(row, withFixUps, result) {
	if (row.kind === "folded") {
		const others = 4 + (result.isShared ? 0 : 1) + (withFixUps ? 1 : 0);
		const empty = new Array(others).fill("");
		return [
			"",
			{
				kind: "styled",
				style: "faint",
				text: row.text
			},
			...empty
		];
	}
	const { place, subject, isFurther, fixUps, cells } = row;
	const id = commitId(row.id);
	const named = row.isNamed ? verdictWord(bisectLook(result), id) : id;
	return [
		place,
		isFurther ? "↳" : [named, {
			kind: "styled",
			style: "subject",
			text: quoted(subject, 120)
		}],
		cells.outcome,
		...cells.median === void 0 ? [] : [cells.median],
		cells.againstGood,
		cells.p,
		cells.boots,
		...withFixUps ? [fixUps.length > 0 ? joined(fixUps.map(commitId), " ") : "–"] : []
	];
}
const maxFaults = 50;
function faults(result) {
	const groups = faultGroups(result);
	const rest = groups.length - maxFaults;
	return [...groups.slice(0, maxFaults).map((group) => ({
		kind: "fold",
		title: `${failedRevisions(group)}: ${faultText(group.fault)}`,
		blocks: [{
			kind: "code",
			name: "output",
			text: faultOutput(group.fault)
		}]
	})), ...rest > 0 ? [paragraph(counted(rest, "more fault"))] : []];
}
const warnings = ({ testbed }) => list(testbed.warnings.map((text) => quoted(text, 500)));
function numbers(result) {
	const inOrder = result.runs.toSorted((a, b) => a.number - b.number);
	return [
		...[neighbourMinistat(result)].filter((one) => one !== void 0).map(ministatFold),
		...list(invalidRunLines(inOrder)),
		...inOrder.length > 0 ? [{
			kind: "fold",
			title: `${counted(inOrder.length, "run")} in order`,
			blocks: [runTable(inOrder)]
		}] : []
	];
}
const environment$1 = (result) => ({
	kind: "facts",
	facts: [
		...rangeFacts(result),
		["testbed", result.testbed.name],
		...Object.entries(result.testbed.fingerprint),
		["began", timeText(result.startedAt)],
		["ended", timeText(result.finishedAt)],
		["seed", String(result.seed)]
	]
});

// src/report/next-steps.ts
/** A trusted plain sentence; undefined if a rejection explains itself. */
function meaningOf({ outcome, policy, patch }) {
	const names = namesOf(patch);
	if (outcome.kind === "unchanged") return unchangedMeaning(outcome, names);
	if (outcome.kind !== "judged") return void 0;
	const { cells, verdict } = outcome;
	const those = withVerdict(cells, verdict);
	const where = whereText(those, cells);
	const did = deeds[policy.metric];
	const margin = formatPercent(Math.abs(marginsOf(policy).loss));
	switch (verdict) {
		case "regression": return `${lossText(those, cells, did.loss, names)}${stopText(cells)}`;
		case "improvement": return `${names.router} ${did.gain} than ${names.base}${where}, beyond what chance explains, and nowhere does it ${lossThatMatters(policy)}.`;
		case "no-regression": return passText(cells, policy, margin, names);
		case "inconclusive": return `The runs differ too much among themselves${where} to decide whether ${names.patch} costs ${margin} or nothing.`;
		case "invalid": return `Too few runs can be used${where} for a verdict, which is not held against ${names.patch}.`;
	}
}
const usualNames = {
	router: "The patched router",
	base: "base",
	patch: "the patch",
	both: "base and patched",
	again: "update the patch",
	excuse: "; or justify the loss in it",
	use: "merging the patch"
};
function namesOf(patch) {
	const names = comparedNames(patch);
	if (names === void 0) return usualNames;
	return {
		router: `The router with ${names.patched}`,
		base: `that with ${names.base}`,
		patch: names.patched,
		both: `${names.base} and ${names.patched}`,
		again: "compare again",
		excuse: "",
		use: `using ${names.patched}`
	};
}
function lossText(losing, cells, loss, names) {
	const silent = losing.filter(isSilent);
	const moving = losing.filter((cell) => !isSilent(cell));
	const slower = moving.length === 0 ? "" : `${names.router} ${loss} than ${names.base}${whereText(moving, cells)}, beyond what chance explains.`;
	return [silenceText(silent, cells, names), slower].filter(Boolean).join(" ");
}
/** Counts what the silent runs received, which excludes a sender that was not heard. */
function silenceText(silent, cells, { router, base }) {
	if (silent.length === 0) return "";
	const runs = silent.flatMap((cell) => cell.runs.filter(({ variant, validity, pps }) => variant === "patched" && validity.kind === "valid" && pps === 0));
	const received = runs.flatMap(({ samples }) => samples).reduce((sum, { receivedPackets }) => sum + receivedPackets, 0);
	const those = runs.length === 1 ? "the run" : `the ${runs.length} runs`;
	const counted = received > 0 ? `: in ${those} without a packet forwarded, ${grouped(received)} were received` : "";
	return `${router} forwards no packet${whereText(silent, cells)}, where ${base} forwards them${counted}.`;
}
function passText(cells, policy, margin, { router }) {
	const losses = smallLosses(cells, policy);
	if (losses.length === 0) return `No loss was found${whereText(cells, cells)}, and a loss of ${margin} or more is excluded.`;
	return `${router} is ${smallLossText(losses, policy)}${whereText(losses, cells)}: a small loss, beyond what chance explains.`;
}
const deeds = {
	pps: {
		loss: "forwards fewer packets per second",
		gain: "forwards more packets per second"
	},
	nsPerPacket: {
		loss: "takes more CPU time for each packet",
		gain: "takes less CPU time for each packet"
	},
	instructionsPerPacket: {
		loss: "takes more instructions for each packet",
		gain: "takes fewer instructions for each packet"
	}
};
function stopText(cells) {
	const stopped = stoppedCells(cells).length;
	if (stopped === 0) return "";
	return ` That ended the experiment, as requested: ${stopped} of ${cells.length} cells ${stopped === 1 ? "is" : "are"} not decided yet.`;
}
function unchangedMeaning({ ignoredPaths }, names = usualNames) {
	if (ignoredPaths === void 0) return `Nothing was measured: nothing installed on this testbed differs between ${names.both}.`;
	return `Nothing was measured: no packet of this testbed passes the changed code. The patch changes ${ignoredPaths.join(", ").replaceAll("*", "…")}: drivers of other ports, files of other machines, or what ppsgate.yml leaves out.`;
}
/** ` in 1 of 4 cells`; empty with a single cell. */
function whereText(those, cells) {
	if (cells.length === 1) return "";
	return those.length === cells.length ? ` in all ${cells.length} cells` : ` in ${those.length} of ${cells.length} cells`;
}
/** Backticks mark typed text. `goOn` requests more runs at the place of the report. */
function nextStep(result, goOn = "`ppsgate gate --resume DIR --max-runs N`") {
	const { outcome, patch } = result;
	if (outcome.kind === "unchanged") return afterUnchanged(outcome, patch);
	const names = namesOf(patch);
	if (outcome.kind !== "judged") return afterRejection(outcome, names);
	switch (outcome.verdict) {
		case "regression": {
			const losing = withVerdict(outcome.cells, "regression");
			if (losing.every(isSilent)) return afterSilence(losing, names);
			const where = outcome.cells.some((cell) => isProfiled(cell) && !isSilent(cell)) ? "See below which functions cost more" : `See what ${names.patch} does for each packet`;
			const others = stoppedCells(outcome.cells).length > 0 ? ` To decide the other cells too, use ${goOn}.` : "";
			return `${where}, make that cheaper, and ${names.again}${names.excuse}.${others}`;
		}
		case "improvement": return "Nothing. The numbers below can go into the commit message.";
		case "no-regression": return `Nothing: forwarding speed is no obstacle to ${names.use}.`;
		case "inconclusive": return `Allow more runs with ${goOn}; a quieter testbed or a wider margin needs fewer.`;
		case "invalid": return afterInvalid(outcome.cells, result);
	}
}
function afterSilence(silent, { patch, again }) {
	if (silent.every((cell) => droppedBy(cell) !== void 0)) return `Correct the rule or setting named above, and ${again}.`;
	const [family = ""] = silent.flatMap(({ cell }) => cell.scenario.split("-")[0] ?? []);
	return `Load ${patch} on a test router, send it packets, and check which rule, chain or hook counts them (${dropCounters[family] ?? "`nft list ruleset`, `pfctl -vs rules`, `ipfw -a list`"}, and \`netstat -s\`). Correct that rule, and ${again}.`;
}
/** Commands that show the counters of rules, by the first word of a scenario. */
const dropCounters = {
	nftables: "`nft list ruleset`",
	pf: "`pfctl -vs rules`",
	ipfw: "`ipfw -a list`"
};
function afterUnchanged({ ignoredPaths }, { kind }) {
	const call = calls[kind];
	const way = `run the gate with \`--measure-anyway\`${call === void 0 ? "" : `, or write \`${call} run measure-anyway\` in a comment`}`;
	return ignoredPaths === void 0 ? `Nothing: packets are forwarded as before. To measure it anyway, ${way}.` : `Select a testbed that has such ports, if there is one. To measure it here anyway, ${way}.`;
}
/** First words of commands, by the patch's forge. */
const calls = {
	"pull-request": callOnGithub,
	revision: callOnPhabricator
};
/** Suggests to fix the main cause of invalid runs first; if unknown, to check the testbed. */
function afterInvalid(cells, { testbed, traffic }) {
	if (withVerdict(cells, "invalid").some((cell) => droppedBy(cell, "base") !== void 0)) {
		const { packets } = traffic;
		return `Let the rules of base pass the test traffic: map the names of their interfaces with \`overlay.interfaces\`, and let them accept ${packets === void 0 ? "UDP to port 2000" : packetsText(packets)}, as docs/how-to/overlay.md describes it. Or send packets that they accept, with \`traffic.addresses\` and \`traffic.ports\`: see docs/how-to/traffic.md.`;
	}
	const cause = causeOf(withVerdict(cells, "invalid"));
	const check = `\`ppsgate testbeds check${/^[\w.-]{1,64}$/.test(testbed.name) ? ` ${testbed.name}` : ""}\``;
	return `${(cause === void 0 ? void 0 : fixes[cause]) ?? `Fix what ${check} finds wrong`}, and run it again.`;
}
/** Fixes by the main cause of invalid runs; for other causes the testbed is checked. */
const fixes = {
	"generator-limited": "Offer the DUT more than it can forward: a higher `traffic.rate`, a second sender, or fewer cores of the DUT",
	"receiver-limited": "Give the receiver a faster card or CPU, or a machine of its own, until it counts everything that the DUT sends",
	"machine-busy": "Stop other programs on that machine, or wait until they end",
	"too-short": "Measure for longer, with `traffic.measure`"
};
function afterRejection({ kind }, { again }) {
	switch (kind) {
		case "does-not-apply": return "Rebase the patch onto the head of its branch, and update it.";
		case "build-failed": return "Build the patched kernel, fix the first error, and update the patch. The full log is in `builds/`, beside `result.json`.";
		case "out-of-disk": return "Ask a maintainer of the lab to free space on the disk named above, then run the same patch again.";
		case "does-not-load": return `Load the files on a test machine, for example with \`pfctl -nf\`, \`nft -c -f\` or \`ipfw -n\`, fix the error above, and ${again}.`;
		case "boot-failed": return `Boot the patched kernel on a machine with a console, fix the cause, and ${again}.`;
		case "panics-under-load": return `Send packets through the patched kernel on a machine with a console: the same trial crashes it each time. Fix the panic, and ${again}.`;
	}
}

// src/report/gate-comment.ts
const gateComment = (result, links) => ({
	headline: words`${mark$1(symbolOf(result))} ppsgate: ${patchText(result, links)} ${sentence(result)}`,
	main: [...mainBlocks(result, links), paragraph(setting(result))],
	remarks: remarks$1(result),
	details: [...correctionsOf(links), ...details(result, links)],
	footer: links.footer
});
/** Readers of a revision know its number, but not the diff's. */
const patchText = (result, { isOnRevision }) => {
	const { patch } = result;
	if (!isOnRevision) return patchLabel(result);
	return quoted(patch.kind === "revision" ? `diff ${patch.diff}` : patchLabel(result));
};
function mainBlocks(result, links) {
	const { outcome, policy } = result;
	const next = paragraph(words`${strong("What now:")} ${nextStep(result, links.goOn)}`);
	const meaning = meaningOf(result);
	const before = earlierGatesText(result);
	const meant = [
		missingBaseText(result.patch),
		meaning,
		...outcome.kind === "judged" ? dropsText(outcome.cells) : [],
		before
	].filter((text) => text !== void 0).map(paragraph);
	switch (outcome.kind) {
		case "judged": return [
			...meant,
			next,
			cellTable(result, outcome.cells, policy.metric),
			...list(invalidLines(outcome.cells)),
			...whyLines(outcome.cells, links).map(paragraph),
			...limitLines(outcome.cells).map(paragraph),
			...links.image === void 0 ? [] : [{
				kind: "picture",
				image: links.image,
				alt: "the changes of all cells and their intervals"
			}],
			paragraph(rule(policy))
		];
		case "unchanged": return [...meant, next];
		default: return [
			paragraph(failureText(outcome, result.patch)),
			{
				kind: "code",
				name: "output",
				text: failureOutput(outcome)
			},
			next
		];
	}
}
/**
* Shows a missing parent openly, not in a fold: without it, a stacked revision may behave unlike its author expects.
*/
const missingBaseText = (patch) => patch.kind !== "revision" || patch.missingBase === void 0 ? void 0 : words`⚠️ ${strong("Measured without its base:")} ${quoted(patch.missingBase, 300)}`;
/** Lists easily missed facts that do not count against the patch. */
function remarks$1(result) {
	const { outcome, policy } = result;
	const cells = outcome.kind === "judged" ? outcome.cells : [];
	return [
		...list(movedBaselineLines(cells), words`⚠️ ${strong("baseline shifted")}, which does not count against the patch:`),
		...list(leftOutLines(result), "Left out of the comparison, which does not count against the patch:"),
		...list(outcome.kind === "judged" ? unseenBy(policy.metric) : [], "What this metric does not cover:")
	];
}
function details(result, links) {
	const { outcome, policy, testbed, patch } = result;
	const cells = outcome.kind === "judged" ? outcome.cells : [];
	const inLines = (texts) => texts.map((text) => quoted(text, 300));
	return [
		...otherMetrics(policy, cells).map((metric) => ({
			fold: "runs",
			title: otherMetricTitle(metric),
			blocks: [cellTable(result, cells, metric)]
		})),
		...detailList("runs", "Excluded runs", uncountedLines(cells)),
		...detailList("runs", "Included outliers", apartLines(cells)),
		...detailList("statistics", "Noise of builds", buildNoiseLines(result)),
		...detailList("environment", "Testbed notes", inLines(testbed.warnings)),
		...detailList("environment", "Notes on the revision", inLines(notesOf(patch))),
		...detailList("environment", "Patch, variants and testbed", [patchLine(result, links), ...environmentLines$1(result)]),
		...outcome.kind === "judged" ? [howToRead$1(result)] : [],
		...changedFunctions(cells.filter(isExplained), links),
		...ministatDetails(policy, cells)
	];
}
function patchLine({ patch }, { isOnRevision }) {
	const [title, author] = [quoted(patch.title), quoted(patch.author)];
	if (isOnRevision) {
		const diff = patch.kind === "revision" ? ` diff ${patch.diff}` : "";
		return words`patch: ${patchName(patch)}${diff}, ${title}, by ${author}`;
	}
	if (patch.kind !== "revision") return words`patch: ${title} by ${author}`;
	const link = {
		kind: "link",
		text: patchName(patch),
		address: patch.url
	};
	return words`patch: ${link} diff ${String(patch.diff)}, ${title} by ${author}`;
}
const howToRead$1 = (result) => ({
	fold: "statistics",
	title: "How to read this",
	blocks: [...readingParagraphs(result).map(paragraph), ...list(verdictMeanings(result.policy).map(([verdict, meaning]) => words`${strong(verdict)}: ${meaning}`))]
});
function changedFunctions(cells, links) {
	if (cells.length === 0) return [];
	return [{
		fold: "runs",
		title: "Changed functions",
		blocks: [{
			kind: "cells",
			cells: cells.map((cell) => ({
				weight: weightOf(cell),
				blocks: whyOfCell(cell, links)
			}))
		}]
	}];
}

// src/report/gate-page.ts
function gatePage(result, profiles) {
	const { outcome, patch, policy, generator } = result;
	const graphs = graphsOf(result, profiles);
	const meaning = meaningOf(result);
	const next = words`${strong("What now:")} ${nextStep(result)}`;
	const before = [...outcome.kind === "judged" ? dropsText(outcome.cells) : [], earlierGatesText(result)].filter((text) => text !== void 0).map(paragraph);
	return {
		title: headline(result),
		verdict: symbolOf(result),
		headline: words`${patchLabel(result)} ${sentence(result)}`,
		head: [
			...meaning === void 0 ? [] : [
				paragraph(meaning),
				...before,
				paragraph(next)
			],
			paragraph(words`${patchLink(result)}: ${quoted(patch.title)}, by ${quoted(patch.author)}`),
			faint$2(setting(result)),
			...outcome.kind === "judged" ? [faint$2(rule(policy))] : []
		],
		contents: outcome.kind === "judged" ? contentsOf(outcome.cells) : [],
		sections: sectionsOf(result, graphs),
		version: generator.version,
		hasGraphs: graphs.length > 0
	};
}
function patchLink(result) {
	const { patch } = result;
	const text = patch.kind === "revision" ? `${patchName(patch)} diff ${patch.diff}` : patchLabel(result);
	return patch.kind === "range" ? text : {
		kind: "link",
		text,
		address: patch.url
	};
}
/** Omits the contents if there are only a few cells. */
const contentsOf = (cells) => cells.length <= 3 ? [] : [
	...cells.map(linkTo$1),
	{
		kind: "link",
		text: "environment",
		address: "#environment"
	},
	{
		kind: "link",
		text: "how to read this",
		address: "#reading"
	}
];
function sectionsOf(result, graphs) {
	const { outcome, policy } = result;
	switch (outcome.kind) {
		case "judged": {
			const { cells } = outcome;
			const pictures = picturesOfCells(cells, graphs);
			return [
				verdicts(result, cells),
				...remarks(result, cells),
				...cells.map((cell) => cellSection(policy, cell, pictures.get(cellName(cell.cell)) ?? [])),
				environment(result),
				howToRead(result)
			];
		}
		case "unchanged": return [...remarks(result), environment(result)];
		default: {
			const output = {
				kind: "code",
				name: "output",
				text: failureOutput(outcome)
			};
			return [
				{
					id: "verdict",
					heading: "What happened",
					blocks: [paragraph(failureText(outcome, result.patch)), output]
				},
				{
					id: "next",
					heading: "What now",
					blocks: [paragraph(nextStep(result))]
				},
				...remarks(result),
				environment(result)
			];
		}
	}
}
/** Draws the worst cells first, as space is limited. */
function picturesOfCells(cells, graphs) {
	const ofCell = Map.groupBy(graphs, ({ cell }) => cellName(cell));
	const inOrder = worstFirst(cells).flatMap(({ cell }) => ofCell.get(cellName(cell)) ?? []);
	return Map.groupBy(picturesThatFit(inOrder), ({ graph }) => cellName(graph.cell));
}
function verdicts(result, cells) {
	const { policy } = result;
	const tableBy = (metric) => cellTable(result, cells, metric, true);
	return {
		id: "verdict",
		heading: "Verdict",
		blocks: [
			tableBy(policy.metric),
			...otherMetrics(policy, cells).map((metric) => ({
				kind: "fold",
				title: otherMetricTitle(metric),
				blocks: [tableBy(metric)]
			})),
			...bothForms((form) => intervalPlot(result, {
				maxCells: cells.length,
				form
			}))
		]
	};
}
/** Lists easily missed facts that do not count against the patch. */
function remarks(result, cells = []) {
	const inLines = (texts) => texts.map((text) => quoted(text, 500));
	const blocks = [
		["The baseline shifted, which does not count against the patch", movedBaselineLines(cells)],
		["Left out of the comparison, which does not count against the patch", leftOutLines(result)],
		["What this metric does not cover", cells.length > 0 ? unseenBy(result.policy.metric) : []],
		["Interaction of variant and trial", interactionLines(result, cells)],
		["Testbed notes", inLines(result.testbed.warnings)],
		["Notes on the revision", inLines(notesOf(result.patch))]
	].flatMap(([title, lines]) => lines.length > 0 ? [heading$2(title), ...list(lines)] : []);
	return blocks.length > 0 ? [{
		id: "remarks",
		heading: "Notes",
		blocks
	}] : [];
}
/** A/A runs show whether the assumption of the paired method holds on the testbed. */
function interactionLines(result, cells) {
	if (!isOfOneCommit(result)) return [];
	return cells.flatMap((cell) => {
		const interaction = interactionOf(cell, result.policy.metric);
		if (interaction === void 0) return [];
		const { f, degreesOfFreedom, probability } = interaction;
		const numbers = `F(${degreesOfFreedom.join(", ")}) = ${f.toFixed(2)}, P = ${formatProbability(probability)}`;
		return [words`${nameOf(cell.cell)}: ${numbers}`];
	});
}
function environment(result) {
	const { testbed, seed, startedAt, finishedAt } = result;
	return {
		id: "environment",
		heading: "Environment",
		blocks: [variantTable(result), {
			kind: "facts",
			facts: [
				["testbed", testbed.name],
				...Object.entries(testbed.fingerprint),
				["began", timeText(startedAt)],
				["ended", timeText(finishedAt)],
				["order of runs", `seed ${seed}`]
			]
		}]
	};
}
function variantTable(result) {
	const { variants } = result;
	const kernels = kernelsOf(result);
	const base = variants.find(({ name }) => name === "base");
	const heads = [
		"variant",
		"commit",
		...kernels.size > 0 ? ["kernel"] : [],
		"files installed on the DUT"
	];
	const rows = variants.map((variant) => [
		variantText(result.patch, variant.name),
		code(variant.commit, 64),
		...kernels.size > 0 ? [quoted(kernels.get(variant.name)?.join(", ") ?? "–", 1e3)] : [],
		variant === base || base === void 0 ? ownFiles(variant) : changedFiles(base, variant)
	]);
	return {
		kind: "table",
		caption: "Differences between the variants",
		columns: heads.map((head) => ({ head })),
		groups: [{
			weight: 0,
			rows
		}]
	};
}
/** `base`, or `base, which is old.conf` in a comparison. */
function variantText(patch, name) {
	const names = comparedNames(patch);
	if (names === void 0 || !(name === "base" || name === "patched")) return quoted(name);
	return words`${name}, which is ${quoted(names[name])}`;
}
const ownFiles = ({ files }) => files.length === 0 ? "none" : {
	kind: "lines",
	lines: files.map(({ path }) => filePath(path))
};
function changedFiles(base, { files }) {
	const before = new Map(base.files.map(({ path, sha256 }) => [path, sha256]));
	const after = new Set(files.map(({ path }) => path));
	const lines = [...files.filter(({ path, sha256 }) => before.get(path) !== sha256).map(({ path }) => words`${before.has(path) ? "changed" : "added"} ${filePath(path)}`), ...base.files.filter(({ path }) => !after.has(path)).map(({ path }) => words`removed ${filePath(path)}`)];
	return lines.length === 0 ? "the same as base" : {
		kind: "lines",
		lines
	};
}
const howToRead = (result) => ({
	id: "reading",
	heading: "How to read this",
	blocks: [...readingParagraphs(result).map(paragraph), ...list(verdictMeanings(result.policy).map(([verdict, meaning]) => words`${mark$1(verdict)} ${verdictWord(verdict)}: ${meaning}`))]
});

// src/report/html.ts
/** About twice the page of the longest experiments, with flamegraphs. */
const maxCharacters$1 = 16 * 1024 ** 2;
/** Throws a RangeError for a page that is too large for a browser. */
function writeHtml(page) {
	const { title, sections, version, hasGraphs } = page;
	const body = html`${header(page)}<main>
${sections.map(sectionOf)}</main>
<footer>ppsgate ${plainLine(version)}, from <code>result.json</code></footer>
`;
	const text = htmlDocument({
		title,
		body,
		hasGraphs
	});
	if (text.length <= maxCharacters$1) return text;
	throw new RangeError(`a page of ${text.length} characters is not written, the limit is ${maxCharacters$1}`);
}
const header = ({ verdict, headline, head, contents }) => html`<header class="${verdict}">
<p class="name">ppsgate</p>
<h1>${mark(verdict)} ${line$2(headline)}</h1>
${head.map(block$2)}${contents.length > 0 && html`<nav aria-label="Contents">${bullets(contents.map(line$2))}</nav>\n`}</header>
`;
const sectionOf = ({ id, heading, blocks }) => html`<section id="${id}">
<h2>${line$2(heading)}</h2>
${blocks.map(block$2)}</section>
`;
const line$2 = (text) => new Html(written(text, markup$2));
const markup$2 = {
	own: (words) => html`${withCode(words)}`.markup,
	quoted: ({ text, most }) => html`${plainLine(text, most)}`.markup,
	code: ({ text, most, is }) => html`<code${is === "id" && html` class="id"`}>${is === "path" ? breakable(plainLine(text)) : plainLine(text, most)}</code>`.markup,
	name: ({ text }) => html`${text}`.markup,
	strong: ({ text, verdict }) => verdict === void 0 ? html`<strong>${line$2(text)}</strong>`.markup : html`<b class="${verdict}">${line$2(text)}</b>`.markup,
	mark: ({ verdict }) => mark(verdict).markup,
	link: ({ text, address }) => link$2(text, address).markup,
	graphs: ({ before, links }) => html`${before}${links.map(({ text, address }) => html`${link$2(text, address)} `)}`.markup,
	styled: ({ style, text }) => html`<span class="${style}">${line$2(text)}</span>`.markup,
	lines: ({ lines }) => html`${lines.map((one) => html`<div>${line$2(one)}</div>`)}`.markup
};
function link$2(text, address) {
	const url = /^#[\w.-]+$/.test(address) ? address : pageUrl(address);
	return url === void 0 ? html`${text}` : html`<a href="${url}">${text}</a>`;
}
function block$2(one) {
	switch (one.kind) {
		case "heading": return html`<h3>${line$2(one.text)}</h3>\n`;
		case "paragraph": return html`<p${one.isFaint && html` class="faint"`}>${line$2(one.text)}</p>\n`;
		case "list": return html`${one.title && html`<p>${line$2(one.title)}</p>\n`}${bullets(one.items.map(line$2))}`;
		case "table": return tableOf(one);
		case "code": return preformatted(plainBlock(one.text, 2e4));
		case "fold": return fold(line$2(one.title), one.blocks.map(block$2));
		case "cells": return html`${one.cells.map(({ blocks }) => blocks.map(block$2))}`;
		case "drawing": return one.drawing;
		case "facts": return factList(one.facts);
		case "picture": return html``;
	}
}
const tableOf = ({ caption = "", columns, groups }) => table$2({
	caption: line$2(caption),
	heads: columns.map(({ head, ...rest }) => ({
		text: head,
		...rest
	})),
	rows: groups.flatMap(({ rows }) => rows.map((row) => row.map(line$2)))
});

// src/report/fit-to-limit.ts
const maxRows = 100;
/** A reason of 100 backticks needs 300 characters. */
const maxRowCharacters = 4e4;
/** Keeps the order if all cells fit; otherwise the worst come first, with a count of the omitted ones. */
function rowsThatFit(cells, toRow) {
	const inOrder = fittingRows(cells, toRow);
	if (inOrder.length === cells.length) return inOrder;
	const worst = fittingRows(cells.toSorted((a, b) => a.weight - b.weight), toRow);
	const rest = cells.length - worst.length;
	return [
		...worst,
		"",
		omittedText(rest)
	];
}
const omittedText = (count) => `${count === 1 ? "1 more cell, which is not worse, is" : `${count} more cells, none of them worse, are`} in \`result.json\`.`;
function fittingRows(cells, toRow) {
	const rows = [];
	let free = maxRowCharacters;
	for (const cell of cells.slice(0, maxRows)) {
		const next = toRow(cell);
		free -= next.length + 1;
		if (free < 0) break;
		rows.push(next);
	}
	return rows;
}
/** Space for the notice and the frames of all folds. */
const spare = 500;
/** Keeps the remarks and details that fit, in order, and counts the rest. */
function fitted({ main, remarks, details, toFold, end }, { most, sizeOf }) {
	let free = most - sizeOf([...main, end].join("\n\n")) - spare;
	const fits = (text) => {
		const size = sizeOf(text) + 2;
		if (size > free) return false;
		free -= size;
		return true;
	};
	const open = remarks.filter(fits);
	const kept = details.filter(({ text }) => fits(text));
	const folded = folds.flatMap((name) => {
		const own = kept.flatMap(({ fold, text }) => fold === name ? text : []);
		return own.length === 0 ? [] : toFold(name, own);
	});
	const missing = remarks.length + details.length - open.length - kept.length;
	return `${[
		...main,
		...open,
		...folded,
		missingText(missing),
		end
	].filter(Boolean).join("\n\n")}\n`;
}
function missingText(count) {
	if (count === 0) return "";
	return `${count === 1 ? "1 more part is" : `${count} more parts are`} in the full report beside \`result.json\`.`;
}

// src/report/markdown.ts
/** GitHub's limit, minus space for our record of earlier pushes. */
const maxCharacters = 53248;
const writeMarkdown = ({ headline, main, remarks, details, footer }) => fitted({
	main: [`### ${line$1(headline)}`, ...main.map(block$1)],
	remarks: remarks.map(block$1),
	details: details.map(({ fold, title, blocks }) => ({
		fold,
		text: [`**${title}**`, ...blocks.map(block$1)].join("\n\n")
	})),
	toFold: (name, texts) => `<details><summary>${name}</summary>\n\n${texts.join("\n\n")}\n\n</details>`,
	end: footer.length > 0 ? `<sub>${footer.map(line$1).join(" · ")}</sub>` : ""
}, {
	most: maxCharacters,
	sizeOf: (text) => text.length
});
const line$1 = (text) => written(text, markup$1);
const markup$1 = {
	own: (words) => words,
	quoted: ({ text, most }) => codeSpan(text, most),
	code: ({ text, most }) => codeSpan(text, most),
	name: ({ text }) => text,
	strong: ({ text }) => `**${line$1(text)}**`,
	mark: ({ verdict }) => symbols[verdict],
	link: ({ text, address }) => link$1(text, pageUrl(address)),
	graphs: ({ before, links }) => `${before}${links.map(({ text, address }) => link$1(text, fileOrPage(address))).join(" · ")}`,
	styled: ({ text }) => line$1(text),
	lines: ({ lines }) => lines.map(line$1).join(", ")
};
/** Returns only the text if the address is invalid. */
const link$1 = (text, url) => url === void 0 ? text : `[${text}](${url})`;
const fileOrPage = (address) => /^\w[\w./-]*$/.test(address) ? address : pageUrl(address);
function block$1(one) {
	switch (one.kind) {
		case "paragraph": return line$1(one.text);
		case "list": return [...one.title ? [line$1(one.title)] : [], ...one.items.map((item) => `- ${line$1(item)}`)].join("\n");
		case "table": return table$1(one);
		case "code": return codeBlock(one.text);
		case "cells": return rowsThatFit(one.cells, ({ blocks }) => `${blocks.map(block$1).join("\n\n")}\n`).join("\n").trimEnd();
		case "picture": {
			const url = fileOrPage(one.image);
			return url === void 0 ? "" : `![${one.alt}](${url})`;
		}
		case "heading":
		case "fold":
		case "drawing":
		case "facts": return "";
	}
}
function table$1({ columns, groups, isLimited }) {
	const toRows = ({ rows }) => rows.map((row) => tableRow$1(row.map(line$1))).join("\n");
	return [
		tableRow$1(columns.map(({ head }) => head)),
		`|${columns.map(({ isNumber }) => isNumber ? "--:" : "---").join("|")}|`,
		...isLimited ? rowsThatFit(groups, toRows) : groups.map(toRows)
	].join("\n");
}
const tableRow$1 = (cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;

// src/report/remarkup.ts
/** In bytes of UTF-8. Phabricator accepts more, but mails it to every subscriber. */
const maxBytes = 1e5;
const writeRemarkup = ({ headline, main, remarks, details, footer }) => within({
	main: [`**${line(headline)}**`, ...main.map(block)],
	remarks,
	details,
	footer
});
/** Symbol and text are trusted, like `⚪` and `not measured: cancelled`; `message` is the sentence behind it. */
const remarkupFailure = ({ symbol, text, message }, footer) => {
	const main = [`**${remarkupWords(symbol)} ppsgate: ${remarkupWords(text)}**`, remarkupBlock("output", message, 20)];
	return within({
		main,
		remarks: [],
		details: [],
		footer
	});
};
const within = ({ main, remarks, details, footer }) => fitted({
	main,
	remarks: remarks.map(block),
	details: details.map(({ fold, title, blocks }) => ({
		fold,
		text: plainBlock([title, ...blocks.flatMap(linesOf).map(indented)].join("\n"), 12e3)
	})),
	toFold: (name, texts) => remarkupBlock(name, texts.join("\n\n"), 8, maxBytes),
	end: footer.map(line).join(" · ")
}, {
	most: maxBytes,
	sizeOf: (text) => Buffer.byteLength(text)
});
const indented = (text) => `  ${text}`.trimEnd();
const line = (text) => written(text, markup);
const markup = {
	own: ownWords,
	quoted: ({ text, most }) => remarkupText(text, most),
	code: ({ text, most }) => remarkupText(text, most),
	name: ({ text }) => remarkupText(text),
	strong: ({ text }) => `**${line(text)}**`,
	mark: ({ verdict }) => symbols[verdict],
	link: ({ text, address }) => link(text, address),
	graphs: ({ before, links }) => `${before}${links.map(({ text, address }) => link(text, address)).join(" · ")}`,
	styled: ({ text }) => line(text),
	lines: ({ lines }) => lines.map(line).join(", ")
};
const inCell = {
	...markup,
	quoted: ({ text, most }) => remarkupCell(text, most),
	code: ({ text, most }) => remarkupCell(text, most),
	name: ({ text }) => remarkupCell(text),
	strong: ({ text }) => `**${written(text, inCell)}**`,
	styled: ({ text }) => written(text, inCell)
};
/** A plain commit id would become a link to any commit with that prefix. */
function ownWords(words) {
	return words.split("`").map((part, index) => index % 2 === 1 ? remarkupText(part) : part.replace(/\b[0-9a-f]{12,64}\b/g, (id) => remarkupText(id))).join("");
}
function link(text, address) {
	const url = pageUrl(address);
	return url === void 0 ? remarkupText(address) : `[[ ${url} | ${text} ]]`;
}
function block(one) {
	switch (one.kind) {
		case "paragraph": return line(one.text);
		case "list": return [...one.title ? [line(one.title)] : [], ...one.items.map((item) => `- ${line(item)}`)].join("\n");
		case "table": return table({
			...one,
			...one.narrow
		});
		case "code": return remarkupBlock(one.name, one.text, 20);
		case "cells": return one.cells.flatMap(({ blocks }) => blocks.map((inner) => block(inner))).join("\n\n");
		case "picture": return `{${one.image}, size=full, alt=${remarkupAlt(one.alt)}}`;
		case "heading":
		case "fold":
		case "drawing":
		case "facts": return "";
	}
}
/** Colons for alignment would turn the heads into plain cells. */
function table({ columns, groups, isLimited }) {
	const toRows = ({ rows }) => rows.map((row) => tableRow(row.map((cell) => written(cell, inCell)))).join("\n");
	return [
		tableRow(columns.map(({ head }) => head)),
		tableRow(columns.map(() => "---")),
		...isLimited ? rowsThatFit(groups, toRows) : groups.map(toRows)
	].join("\n");
}
const tableRow = (cells) => `| ${cells.join(" | ")} |`;
/** Uses plain lines, as a scrolling code block holds no markup. It does not wrap, so each sentence gets a line. */
function linesOf(one) {
	switch (one.kind) {
		case "paragraph": return plainText(one.text).split(/(?<=[.;]) /);
		case "list": return one.items.map(plainText);
		case "table": return one.lines?.map(plainText) ?? alignedRows(one);
		case "code": return one.text.split("\n");
		case "cells": return one.cells.flatMap(({ blocks }) => blocks.flatMap(linesOf));
		default: return [];
	}
}
/** Columns of equal width, numbers to the right. */
function alignedRows({ columns, groups, isLimited }) {
	const toRow = (row) => row.map((cell) => plainText(cell).replaceAll("\xA0", " "));
	const heads = columns.map(({ head }) => head);
	const all = groups.map(({ weight, rows }) => ({
		weight,
		rows: rows.map(toRow)
	}));
	const widths = [heads, ...all.flatMap(({ rows }) => rows)].reduce((most, row) => row.map((text, index) => Math.max(text.length, most[index] ?? 0)), []);
	const toLine = (row) => row.map((text, index) => columns[index]?.isNumber ? text.padStart(widths[index] ?? 0) : text.padEnd(widths[index] ?? 0)).join("  ").trimEnd();
	const toLines = ({ rows }) => rows.map(toLine).join("\n");
	const lines = isLimited ? rowsThatFit(all, toLines) : all.map(toLines);
	return [toLine(heads), ...lines.flatMap((line) => line.split("\n"))];
}

// src/report/reports.ts
/** Renders at most `maxCharacters`; parts at the end that do not fit are dropped and counted. */
function renderMarkdown(result, links = {}) {
	const { rerun, rawData, page } = links;
	const footer = [
		...rerun ? [`Rerun: ${rerun}`] : [],
		...rawData ? [`Raw data: ${rawData}`] : [],
		...linkTo("the whole report", page)
	];
	return writeMarkdown(commentOn(result, {
		...links,
		footer
	}));
}
/** Renders at most 100 kB; parts at the end, ministat first, are dropped and counted. */
function renderRemarkup(result, links = {}) {
	const goOn = links.goOn && `\`${links.goOn.replaceAll("`", "'")}\``;
	const footer = remarkupFooter(links);
	return writeRemarkup(commentOn(result, {
		...links,
		goOn,
		footer,
		isOnRevision: true
	}));
}
const commentOn = (result, links) => isBisectResult(result) ? bisectComment(result, links) : gateComment(result, links);
/** Symbol and text are trusted, like `⚪` and `not measured: cancelled`; `message` is the sentence behind it. */
const renderRemarkupFailure = (failure, links = {}) => remarkupFailure(failure, remarkupFooter(links));
const remarkupFooter = ({ rerun, page, details, history }) => [
	...rerun ? [words`Rerun: ${quoted(rerun)}`] : [],
	...linkTo("the whole report", page),
	...linkTo("details", details),
	...linkTo("history", history)
];
const linkTo = (text, address) => address ? [{
	kind: "link",
	text,
	address
}] : [];
/** `graphFiles` are names of flamegraphs beside the page, which it links. */
function renderHtml(result, profiles = [], graphFiles = []) {
	const page = isBisectResult(result) ? bisectPage(result, profiles) : gatePage(result, profiles);
	return writeHtml(withGraphFiles(page, graphFiles));
}
function withGraphFiles(page, names) {
	if (names.length === 0) return page;
	const links = names.map((name) => html`<a href="${name}">${name.replace(/\.svg$/, "")}</a>`);
	const section = {
		id: "graphs",
		heading: "Flamegraphs",
		blocks: [{
			kind: "drawing",
			drawing: html`${bullets(links)}`
		}]
	};
	return {
		...page,
		sections: [...page.sections, section]
	};
}
const isBisectResult = (result) => "kind" in result;

// src/report/sparkline.ts
/** Draws a standalone picture: one line per cell, with its latest rate. */
function sparklineSheet(rows, metric) {
	const pieces = rows.flatMap(({ cell, values, changes }, index) => {
		const top = margin + index * rowHeight;
		const last = values.at(-1);
		const line = top + rowHeight / 2 + 4;
		return [
			text(cellName(cell), {
				x: margin,
				y: line
			}),
			element("g", { transform: `translate(${sparkLeft} ${top + (rowHeight - height) / 2})` }, drawn(values, changes)),
			text(last === void 0 ? "no nightly run" : formatMetric(last, metric), {
				x: numberLeft,
				y: line,
				fill: colors.faint
			})
		];
	});
	const descriptions = rows.map(({ cell, values, changes }) => `${cellName(cell)}: ${described(values, changes)}`);
	const title = element("title", {}, descriptions.join("; "));
	return svgDocument(sheetWidth, 2 * margin + rows.length * rowHeight, [title, ...pieces]);
}
const [width, height] = [240, 24];
const inset = 3;
const margin = 12;
const rowHeight = 30;
const [sparkLeft, numberLeft, sheetWidth] = [
	230,
	490,
	600
];
/** Minimum range: noise should not look dramatic. */
const minRangeRatio = .02;
function drawn(values, changes) {
	if (values.length === 0) return "";
	const along = linearScale({
		low: 0,
		high: Math.max(values.length - 1, 1)
	}, inset, width - inset);
	const up = linearScale(rangeOf(values, changes), height - inset, inset);
	const x = (index) => round(along(index));
	const y = (value) => round(up(value));
	const [newest = 0] = values.slice(-1);
	const line = values.map((value, index) => `${index === 0 ? "M" : "L"}${x(index)} ${y(value)}`);
	const marks = changes.filter((place) => place > 0 && place < values.length).map((place) => `M${round((x(place - 1) + x(place)) / 2)} 0V${height}`);
	return [
		marks.length > 0 && path$1(marks.join(""), {
			class: "change",
			fill: "none",
			stroke: colors.red
		}),
		path$1(line.join(""), {
			fill: "none",
			stroke: colors.ink,
			"stroke-width": 1.2
		}),
		element("circle", {
			cx: x(values.length - 1),
			cy: y(newest),
			r: 2,
			fill: colors.ink
		})
	].filter(Boolean).join("");
}
/** Clips outliers to the edge, so that the others stay distinct; keeps the level after each change. */
function rangeOf(values, changes) {
	const inside = changes.filter((place) => place > 0 && place < values.length);
	const starts = [.../* @__PURE__ */ new Set([0, ...inside])].toSorted((a, b) => a - b);
	const medians = starts.map((from, nth) => median(values.slice(from, starts[nth + 1])));
	const { low, high } = robustExtent(values, medians);
	const padding = Math.max((minRangeRatio * high - (high - low)) / 2, Number.MIN_VALUE);
	return {
		low: low - padding,
		high: high + padding
	};
}
function described(values, changes) {
	const last = values.at(-1);
	if (last === void 0) return "no nightly run";
	const off = formatChange(last / median([...values]) - 1);
	const steps = changes.length === 1 ? "1 change" : `${changes.length} changes`;
	return `${values.length} nightly runs, ${steps}, the last ${off} off their median`;
}

// src/report/junit.ts
/** JUnit XML for Jenkins' `junit` step; see junit-10.xsd of its xUnit plugin. Times are seconds of traffic. */
function renderJunit(result) {
	const { testbed, startedAt } = result;
	const cases = casesOf(result);
	const count = (conclusion) => String(cases.filter((one) => one.conclusion === conclusion).length);
	const seconds = cases.reduce((sum, one) => sum + one.seconds, 0);
	return [
		`<testsuite${attributes({
			name: `ppsgate ${testbed.name}`,
			timestamp: startedAt,
			hostname: testbed.name,
			tests: String(cases.length),
			failures: count("failure"),
			errors: count("error"),
			skipped: count("skipped"),
			time: seconds.toFixed(3)
		})}>`,
		...cases.map((one) => caseElement(one, `ppsgate.${testbed.name}`)),
		systemOut(headline(result)),
		"</testsuite>",
		""
	].join("\n");
}
function casesOf(result) {
	const { outcome } = result;
	switch (outcome.kind) {
		case "judged": return judgedCases(result, outcome.cells);
		case "unchanged": return [unchanged(unchangedMeaning(outcome))];
		default: return [refusal(outcome)];
	}
}
const unchanged = (message) => ({
	name: "unchanged",
	seconds: 0,
	conclusion: "skipped",
	type: "unchanged",
	message,
	text: ""
});
function judgedCases({ policy, trials }, cells) {
	const trialsOf = Map.groupBy(trials, ({ cell }) => cellName(cell));
	return cells.map((cell) => {
		const name = cellName(cell.cell);
		return {
			name,
			seconds: (trialsOf.get(name) ?? []).reduce((sum, { trafficSeconds }) => sum + trafficSeconds, 0),
			type: cell.verdict.kind,
			...caseOutcome(cell, policy),
			text: comparisonLines(cell, policy).join("\n")
		};
	});
}
function caseOutcome(cell, policy) {
	const { verdict, comparisons: [judged] } = cell;
	const margin = formatSigned(marginsOf(policy).loss);
	switch (verdict.kind) {
		case "regression": return {
			conclusion: "failure",
			message: isSilent(cell) ? silenceOf(cell) : `${judged ? changeText(judged, policy) : "regression"}; ${margin} or more matters`
		};
		case "invalid": return {
			conclusion: "error",
			message: verdict.reason
		};
		case "inconclusive": return {
			conclusion: "skipped",
			message: verdict.isStopped ? "not decided: the loss of another cell ended the experiment" : `may ${lossThatMatters(policy)} or not: more runs would decide`
		};
		default: return {
			conclusion: "passed",
			message: ""
		};
	}
}
/** Omits changes and the costs of packets for a patch that forwards no packets. */
const comparisonLines = (cell, policy) => isSilent(cell) ? cell.comparisons.filter(({ metric }) => metric === "pps").map(({ base, baseRuns, patchedRuns }) => `base ${formatMetric(base, "pps")}, patched nothing, ${baseRuns} + ${patchedRuns} runs`) : cell.comparisons.map((one) => comparisonText(one, policy));
/** `packets per second (more is better): base 805.3 kpps, patched 721.5 kpps, −10.4 % (…), 8 + 8 runs`. */
function comparisonText(comparison, policy) {
	const { metric, base, patched, baseRuns, patchedRuns } = comparison;
	const values = `base ${formatMetric(base, metric)}, patched ${formatMetric(patched, metric)}`;
	const runs = `${baseRuns} + ${patchedRuns} runs`;
	return `${metricName(metric)}: ${values}, ${changeText(comparison, policy)}, ${runs}`;
}
const changeText = ({ interval: { change, low, high } }, policy) => `${formatChange(change)} (${formatPercent(policy.confidenceRatio)} interval ${formatInterval(low, high)})`;
/** The single test case explains why nothing was measured. */
const refusal = (outcome) => ({
	name: outcomeName({ outcome }),
	seconds: 0,
	conclusion: outcome.kind === "out-of-disk" ? "error" : "failure",
	type: outcome.kind,
	message: rejectionText(outcome),
	text: [
		"scenario" in outcome ? outcome.scenario : "",
		"panic" in outcome ? outcome.panic ?? "" : "",
		outcome.message,
		"console" in outcome ? outcome.console ?? "" : ""
	].filter(Boolean).join("\n")
});
function caseElement({ name, seconds, conclusion, ...details }, classname) {
	return `${`<testcase${attributes({
		classname,
		name,
		time: seconds.toFixed(3)
	})}>`}${outcomeElement(conclusion, details)}</testcase>`;
}
/** Jenkins shows the text of failures and errors, but only the message of skipped cases. */
function outcomeElement(conclusion, { type, message, text }) {
	switch (conclusion) {
		case "passed": return systemOut(text);
		case "skipped": return `<skipped${attributes({ message })}/>${systemOut(text)}`;
		default: return `<${conclusion}${attributes({
			message,
			type
		})}>${lines(text)}</${conclusion}>`;
	}
}
const systemOut = (text) => `<system-out>${lines(text)}</system-out>`;
/** Keeps untrusted text within its line. */
const lines = (text) => plainBlock(text).split("\n").map(escaped).join("\n");
const attributes = (all) => Object.entries(all).map(([name, value]) => ` ${name}="${escaped(plainLine(value, 1e3))}"`).join("");

// src/report/write-reports.ts
/**
* Writes `result.json` and `report.md`, and into `report/` the page, the plot as SVG and PNG, a flamegraph of each
* profile by its anchor, and a gate's JUnit XML; each file atomically. Skips a drawing that fails, and calls `leftOut`
* with a sentence.
*/
async function writeResult(directory, result, profiles = [], leftOut = () => {}) {
	await replaceFile(join(directory, "result.json"), `${JSON.stringify(result, null, 2)}\n`);
	await replaceFile(join(directory, "report.md"), renderMarkdown(result));
	const report = dirname(await placeBelow(directory, "report/index.html"));
	const draw = async (name, what, make) => replaceDrawing(join(report, name), await drawing(what, make, leftOut));
	const plot = isBisectResult(result) ? {
		name: "bisect",
		what: "over the commits",
		draw: () => bisectPlot(result)
	} : {
		name: "intervals",
		what: "of the intervals",
		draw: () => intervalPlot(result)
	};
	if (!isBisectResult(result)) await replaceFile(join(report, "junit.xml"), renderJunit(result));
	await draw("index.html", "page", () => renderHtml(result, profiles));
	await draw(`${plot.name}.svg`, `plot ${plot.what}`, plot.draw);
	await draw(`${plot.name}.png`, `picture ${plot.what}`, async () => {
		const svg = plot.draw();
		return svg === void 0 ? void 0 : pngOf(svg);
	});
	await writeGraphs(report, graphsOf(result, profiles), leftOut);
}
async function writeGraphs(report, graphs, leftOut) {
	for (const graph of graphs) {
		const graphic = drawGraph(graph);
		if (graphic.kind === "left-out") leftOut(graphic.why);
		const svg = graphic.kind === "drawn" ? graphic.svg : void 0;
		await replaceDrawing(join(report, `${graph.anchor}.svg`), svg);
	}
}
async function drawing(what, draw, leftOut) {
	try {
		return await draw();
	} catch (error) {
		leftOut(`The report is written without its ${what} (${reasonOf(error)}).`);
		return;
	}
}
/** Removes an earlier result's drawing if there is none now. */
const replaceDrawing = (path, content) => content === void 0 ? rm(path, { force: true }) : replaceFile(path, content);
/** Writes atomically, and creates the folder if needed; follows no link at the path of the file or its draft. */
async function replaceFile(path, content) {
	const made = await mkdir(dirname(path), { recursive: true });
	const draft = `${path}.part`;
	await rm(draft, { force: true });
	await writeFile(draft, content, {
		flag: "wx",
		flush: true
	});
	await rename(draft, path);
	await giveNew(made ?? path);
}

// src/report/read-result.ts
var ResultError = class extends Error {
	name = "ResultError";
	conclusion = "usage";
};
const readResult = (directory) => parsedFile(directory, "result.json", resultSchema);
/** Returns the result of a gate or bisection from a work directory or a file, with its directory. */
async function readAnyResult(path) {
	if (!((await stat(path).catch(() => void 0))?.isFile() === true)) return {
		directory: path,
		result: await readResultBelow(path, "result.json")
	};
	const file = await realpath(path);
	return {
		directory: dirname(path),
		result: await readResultBelow(dirname(file), basename(file))
	};
}
/** Follows no link below the folder. */
const readResultBelow = (folder, path) => parsedFile(folder, path, union([bisectResultSchema, resultSchema]));
/** A gate of 100 cells with 100 runs of 100 samples each needs a tenth of it. */
const maxResultBytes = 256 * 1024 ** 2;
async function parsedFile(folder, path, schema) {
	const text = await readForeignText(folder, path, maxResultBytes).catch((error) => {
		throw new ResultError(`${reasonOf(error).replace(/\.$/, "")}: name the work directory of a gate or a bisection.`);
	});
	if (text === void 0) throw new ResultError(`${join(folder, path)} cannot be read: name the work directory of a gate or a bisection that has finished.`);
	const value = parseJson(text);
	const { success, data } = schema.safeParse(value);
	if (success) return data;
	const why = value === void 0 ? `, because it is ${text.trim() === "" ? "empty" : "incomplete JSON"}: copy it again, or resume its gate` : ": measure again with this version";
	throw new ResultError(`${join(folder, path)} is not a result of this version of ppsgate${why}.`);
}
/** A kernel's call graph by pmcstat has up to 100 MiB. */
const maxProfileBytes = 256 * 1024 ** 2;
/** Adds profiles, which come from a patch's kernel: omits an invalid one, and calls `leftOut` with the reason. */
async function explained(result, directory, leftOut = () => {}) {
	const read = (path) => readForeignText(directory, path, maxProfileBytes).catch((error) => {
		if (!(error instanceof ForeignFileError)) throw error;
		leftOut(error.message);
	});
	try {
		const profiles = await readProfiles(result, read, leftOut);
		return {
			result: withReasons(result, profiles),
			profiles
		};
	} catch (error) {
		leftOut(`The report is written without its profiles (${reasonOf(error)}).`);
		return {
			result: withReasons(result, []),
			profiles: []
		};
	}
}

// src/report/terminal-table.ts
/** Returns one row per cell, worst first, with its other variants below; none if no cell was judged. */
function terminalRows(result) {
	const { outcome, policy } = result;
	if (outcome.kind !== "judged") return {
		heads: [],
		rows: []
	};
	const cells = worstFirst(outcome.cells);
	const table = cellTable(result, cells, policy.metric);
	if (table.kind !== "table") return {
		heads: [],
		rows: []
	};
	const rows = cells.flatMap(({ verdict }, index) => (table.groups[index]?.rows ?? []).map((row) => ({
		verdict: verdict.kind,
		texts: row.map((text) => plainText(text).replaceAll("\xA0", " "))
	})));
	return {
		heads: table.columns.map(({ head }) => head),
		rows
	};
}

export { bisectHeadline, bisectPlot, bisectSymbol, bullets, drawGraph, explained, fold, graphsOf, headline, intervalPlot, invalidLines, isBisectResult, nextStep, plainText, readAnyResult, readResult, readResultBelow, remarkOf, renderHtml, renderMarkdown, renderRemarkup, renderRemarkupFailure, replaceFile, sentence, sparklineSheet, stoppedCells, table$2 as table, terminalRows, unchangedMeaning, verdictLine, worstFirst, writeResult };