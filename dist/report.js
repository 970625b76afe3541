import { bisectConfidenceRatio, bisectResultSchema, cellName, codeBlock, codeSpan, escaped, flamegraphAnchor, formatChange, formatChangeAndError, formatDifference, formatDuration, formatInterval, formatMetric, formatPercent, formatPps, formatProbability, formatRuns, formatShare, formatSigned, formatSize, formatSizeAndError, formatTick, formatTwoDigits, fromJson, grouped, isCost, isJudged, isLoss, metricName, metricNouns, metricSchema, pageUrl, patchName, plain, plainBlock, plainLine, reasonOf, remarkup, remarkupBlock, remarkupCell, remarkupText, remarkupWords, resultSchema, shortId, verdictsWorstFirst } from "./words.js";
import { union } from "./vendor/zod.js";
import { frameBytesFor } from "./config.js";
import { mean, sumNthPowerDeviations } from "./vendor/simple-statistics.js";
import { buildNoise, confidencePercents, countedRuns, criticalT, median, pooledNoise, renderMinistat, runCounts, runsApart } from "./stats.js";
import { embedded, embeddedScript } from "./embedded.js";
import { flamegraph, flamegraphScript, flamegraphStyle, layout, readProfiles, samplesOf, withReasons } from "./profile.js";
import { dirname, join, posix } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";

// src/report/markup.ts
/** Markup of our own making. */
var Html = class {
	markup;
	/** Takes the text as markup: nothing of others may be in it that is not escaped. */
	constructor(markup) {
		this.markup = markup;
	}
};
/** `` html`<p title="${text}">${texts.map((one) => html`<b>${one}</b>`)}</p>` ``; attributes stand in double quotes. */
const html = (own, ...pieces) => new Html(String.raw({ raw: own }, ...pieces.map(markupOf)));
function markupOf(piece) {
	if (piece === void 0 || piece === false) return "";
	if (piece instanceof Html) return piece.markup;
	if (typeof piece === "object") return piece.map(markupOf).join("");
	return escaped(String(piece));
}

// src/report/badge.ts
/** What a cell, or the whole patch before any cell, was last found to be. */
const badgeVerdicts = [
	"regression",
	"no-regression",
	"improvement",
	"inconclusive",
	"invalid",
	"does-not-apply",
	"build-failed",
	"does-not-load",
	"boot-failed",
	"panics-under-load"
];
/** `no-regression · 4.980 Mpps`, or `no data` where the last verdict is older than `staleSeconds`. */
function renderBadge({ label, last }, { now, staleSeconds }) {
	const isStale = last !== void 0 && now.getTime() - last.at.getTime() > staleSeconds * 1e3;
	return badgeOf(label, last === void 0 || isStale ? noData : {
		message: messageOf(last),
		color: colorOf$1(last)
	});
}
/** A badge that says `message`. */
function badgeOf(label, { message, color }) {
	const shown = {
		label: readable(label),
		message,
		color
	};
	return {
		endpoint: {
			schemaVersion: 1,
			...shown
		},
		svg: pictureOf(shown)
	};
}
const noData = {
	message: "no data",
	color: "lightgrey"
};
const messageOf = ({ verdict, pps }) => pps === void 0 ? verdict : `${verdict} · ${formatPps(pps)}`;
function colorOf$1({ verdict }) {
	switch (verdict) {
		case "no-regression":
		case "improvement": return "brightgreen";
		case "inconclusive": return "yellow";
		case "invalid": return "lightgrey";
		default: return "red";
	}
}
const mostCharacters$1 = 100;
/** A file of the data branch is named in lists and on terminals, too: no line breaks, nothing that does not print. */
const readable = (text) => [...text.replace(/[\s\p{C}]+/gu, " ").trim()].slice(0, mostCharacters$1).join("");
/** The colors, by the names that shields.io has for them. */
const colors$1 = {
	brightgreen: "#4c1",
	yellow: "#dfb317",
	lightgrey: "#9f9f9f",
	red: "#e05d44"
};
const height$2 = 20;
const baseline = 14;
const corner = 3;
const arc = `a${corner} ${corner} 0 0 1`;
const padding = 6;
const fontSize = 11;
/** Light text on grey, and then dark text on the color, which has enough contrast on each color. */
function pictureOf({ label, message, color }) {
	const [left, right] = [partWidth(label), partWidth(message)];
	const text = (shown, x, fill) => html`<text x="${x + padding}" y="${baseline}" fill="${fill}" textLength="${widthOf$1(shown)}" lengthAdjust="spacingAndGlyphs">${shown}</text>`;
	const { markup } = html`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${height$2}" role="img" aria-label="${label}: ${message}"><title>${label}: ${message}</title>
<rect width="${left + corner}" height="${height$2}" rx="${corner}" fill="#555"/>
<path d="M${left} 0h${right - corner}${arc} ${corner} ${corner}v${14}${arc} ${-3} ${corner}h${corner - right}z" fill="${colors$1[color]}"/>
<g font-family="Verdana,DejaVu Sans,sans-serif" font-size="${fontSize}">${text(label, 0, "#fff")}${text(message, left, "#111")}</g>
</svg>
`;
	return markup;
}
const partWidth = (text) => Math.ceil(widthOf$1(text)) + 12;
/** The width of a text, roughly: `textLength` makes it so in any font. */
const widthOf$1 = (text) => [...text].reduce((sum, character) => sum + characterWidth(character), 0);
function characterWidth(character) {
	const known = widths.get(character);
	if (known !== void 0) return known;
	if (/\p{M}/u.test(character)) return 0;
	return wide.test(character) ? fontSize : 7;
}
/** Characters that are as wide as high. */
const wide = /[\p{sc=Han}\p{sc=Hang}\p{Emoji_Presentation}\u3000-\u30ff\uff01-\uff60]/u;
/** The widths that Chromium measures of DejaVu Sans at 11 px, which is about as wide as Verdana, rounded to half a pixel. */
const widths = new Map(Object.entries({
	"3": "'ijlIJ",
	"3.5": " ,.·/:;\\|",
	"4": "f-",
	"4.5": "()[]t!r",
	"5": "\"",
	"5.5": "*_`s",
	"6": "?czL",
	"6.5": "kvxyaoFPTY",
	"7": "$0123456789{}bdeghnpquEKS",
	"7.5": "ABCRVXZ",
	"8": "NU",
	"8.5": "&DGHOQ",
	"9": "#+<=>^~w",
	"9.5": "M",
	"10.5": "%m",
	"11": "@W"
}).flatMap(([width, characters]) => [...characters].map((one) => [one, Number(width)])));

// src/report/headline.ts
const symbols = {
	regression: "🔴",
	improvement: "🟢",
	"no-regression": "🟢",
	inconclusive: "🟡",
	invalid: "⚪"
};
/** `🔴 ppsgate: #7 loses 10.4 % (forwarding inet4)`; plain text of our own making, without markup. */
function headline(result) {
	const { symbol, text } = sentence(result);
	return `${symbol} ppsgate: ${patchName(result.patch)} ${text}`;
}
/** The same where it stands under ppsgate's name already: `🔴 #7 loses 10.4 % (forwarding inet4)`. */
function verdictLine(result) {
	const { symbol, text } = sentence(result);
	return `${symbol} ${patchName(result.patch)} ${text}`;
}
/** `regression`, `boot-failed`: the verdict, or what kept a patch from one. */
const outcomeName = ({ outcome }) => outcome.kind === "judged" ? outcome.verdict : outcome.kind;
/** What is said of the patch; `named` writes the names of cells, where they could be taken for markup. */
function sentence({ outcome, policy }, named = (name) => name) {
	if (outcome.kind === "unchanged") return outcome.leftAlone ? leftAlone : unchanged$1;
	if (outcome.kind !== "judged") return rejections[outcome.kind];
	const { cells, verdict } = outcome;
	return {
		symbol: symbols[verdict],
		text: judgedText(verdict, cells, policy, named)
	};
}
const leftAlone = {
	symbol: "⚪",
	text: "changes nothing that packets of this testbed pass"
};
const unchanged$1 = {
	symbol: "⚪",
	text: "changes nothing that the testbed lays"
};
function judgedText(verdict, cells, policy, named) {
	const those = withVerdict(cells, verdict);
	switch (verdict) {
		case "regression": return changes(those, verdict, policy, named);
		case "improvement": return `${changes(those, verdict, policy, named)}; no regression`;
		case "no-regression": return nothingThatMatters(cells, policy);
		case "inconclusive": {
			const open = cells.length === 1 ? "more runs would tell" : `open in ${partOf(those, cells)} until more runs tell`;
			return `may ${lossThatMatters(policy)} or not: ${open}`;
		}
		case "invalid": return `was not measured${those.length < cells.length ? ` in ${partOf(those, cells)}` : ""}: ${whyInvalid(those)}`;
	}
}
const partOf = (those, cells) => `${those.length} of ${cells.length} cells`;
/** `does not boot`: what is said of a variant with which nothing can be measured. */
const rejectionText = ({ kind }) => rejections[kind].text;
const rejections = {
	"does-not-apply": {
		symbol: "🔴",
		text: "does not apply"
	},
	"build-failed": {
		symbol: "🔴",
		text: "does not build"
	},
	"does-not-load": {
		symbol: "🔴",
		text: "does not load"
	},
	"boot-failed": {
		symbol: "🔴",
		text: "does not boot"
	},
	"panics-under-load": {
		symbol: "🔴",
		text: "panics under load"
	},
	"out-of-disk": {
		symbol: "⚪",
		text: "was not measured: a disk of the lab is full"
	}
};
const withVerdict = (cells, kind) => cells.filter((cell) => cell.verdict.kind === kind);
/** Cells that were open when another one ended the experiment. */
const stoppedCells = (cells) => cells.filter(({ verdict }) => verdict.kind === "inconclusive" && verdict.isStopped);
/**
* The changes of the judged metric that are a loss of the margin, and its mirror image: the margin is one of speed, and
* what takes 5.26 % more time, or instructions, for each packet has lost 5 % of its speed.
*/
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
/** `lose 2 %`, `take 5.26 % more CPU time per packet`: in the metric that is judged. */
const lossThatMatters = (policy) => isCost(policy.metric) ? `take ${formatPercent(marginsOf(policy).loss)} more ${metricNouns[policy.metric]}` : `lose ${formatPercent(policy.marginRatio)}`;
const mostNamed$4 = 3;
/**
* `loses 10.4 % (forwarding inet4) and 9.10 % (forwarding inet6)`, `takes 11.6 % more CPU time per packet (forwarding
* inet4)`: the changes of the table, with a word for their sign.
*/
function changes(cells, way, { metric }, named) {
	const silent = cells.filter(isSilent);
	const moving = cells.filter((cell) => !isSilent(cell));
	const [verb, what] = ways[metric][way];
	const sizes = moving.slice(0, mostNamed$4).map(({ cell, comparisons: [judged] }, index) => {
		return `${judged === void 0 ? "an unknown share" : formatSize(judged.interval.change)}${index === 0 ? what : ""} (${named(cellName(cell))})`;
	});
	return [...silent.length > 0 ? [silentText(silent, named)] : [], ...moving.length > 0 ? [`${verb} ${listed$1(sizes, moving.length)}`] : []].join(", and ");
}
const ways = {
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
const namesOf = (cells, named) => listed$1(cells.slice(0, mostNamed$4).map(({ cell }) => named(cellName(cell))), cells.length);
/** `a, b and 2 more` of four. */
function listed$1(parts, count) {
	const rest = count - parts.length;
	const all = rest > 0 ? [...parts, `${rest} more`] : parts;
	return [all.slice(0, -1).join(", "), all.at(-1)].filter(Boolean).join(" and ");
}
/** Nothing came through with patched, whatever was judged. */
const isSilent = ({ comparisons: [judged] }) => judged?.metric === "pps" && judged.patched === 0;
/** `forwards nothing`, `forwards nothing in 2 of 5 runs`: of a cell that is silent. */
function silenceOf({ runs, comparisons: [judged] }) {
	const valid = runs.filter((run) => run.variant === "patched" && run.validity.kind === "valid");
	const silent = judged?.patchedRuns ?? 0;
	return silent < valid.length ? `forwards nothing in ${silent} of ${valid.length} runs` : "forwards nothing";
}
/** `forwards nothing (forwarding inet4 and pf-stateful inet4)`; those that do so now and then come after the others. */
function silentText(cells, named) {
	return [...Map.groupBy(cells, silenceOf)].toSorted(([one], [other]) => one < other ? -1 : 1).map(([said, those]) => `${said} (${namesOf(those, named)})`).join(", and ");
}
/** The bound that the verdict rests on, of the cell that comes nearest to the loss that matters. */
function nothingThatMatters(cells, policy) {
	const { metric } = policy;
	const losses = cells.flatMap(({ comparisons: [judged] }) => judged === void 0 ? [] : isCost(metric) ? judged.interval.high : -judged.interval.low);
	const most = Math.max(0, ...losses);
	const matters = formatPercent(Math.abs(marginsOf(policy).loss));
	if (isCost(metric)) return most === 0 ? `takes no more ${metricNouns[metric]}` : `costs nothing that matters: ${formatSize(most)} more ${metricNouns[metric]} at most, where ${matters} would matter`;
	return most === 0 ? "loses nothing" : `loses nothing that matters: ${formatSize(most)} at most, where ${matters} would matter`;
}
/** Why most runs of cells do not count, in words of our own. */
function whyInvalid(cells) {
	const [busy] = cells.flatMap(busyMachine);
	const invalid = cells.flatMap(({ runs }) => runs.filter(({ validity }) => validity.kind !== "valid"));
	if (invalid.filter(({ pps }) => pps === 0).length > invalid.length / 2) return "not one packet came through";
	if (cells.flatMap(({ runs }) => runs.filter((run) => run.variant === "base" && run.validity.kind === "valid" && run.pps === 0)).length > invalid.length) return "base itself forwards nothing";
	const cause = causeOf(cells);
	return busy ?? (cause === void 0 ? "too few runs count" : causes[cause]);
}
/** The fault that most invalid runs of these cells have; undefined where blasts failed without a run. */
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
/** The first words of a reason, which are ours; the rest may hold what a machine said. */
const busyMachine = ({ verdict }) => verdict.kind === "invalid" && tooBusy.exec(verdict.reason)?.slice(0, 1) || [];
const tooBusy = /^machine too busy: the (?:sender|DUT) waited for a CPU \d{1,3} % of the time/;

// src/report/bisect-headline.ts
/** `f8f5b459d21e costs 55.9 ± 0.2 %, P > 0.999, 10 boots`; plain text of our own making, without markup. */
function bisectHeadline(result) {
	const { answer } = result;
	const boots = bootsText(result);
	switch (answer.kind) {
		case "culprit":
		case "group": return `${foundText(result, answer)}, ${probabilityText(answer.probability)}, ${boots}`;
		case "several": {
			const { found, open } = answer;
			const named = found.slice(0, mostNamed$3).map((one) => foundText(result, one));
			const rest = found.length - named.length;
			const all = rest > 0 ? [...named, `${rest} more`] : named;
			return `${counted(found.length, "change")}: ${all.join("; ")}${openText(open)}, ${boots}`;
		}
		case "not-reproduced": return `${notReproduced(result, answer)}, ${boots}`;
		case "slide": return `${`${bitByBit(answer.change, result.metric)}: ${changeText$2(answer.change)} over ${counted(answer.steps.length, "step")}`}, and no commit stands out, ${boots}`;
		case "inconclusive": {
			const best = answer.best.slice(0, mostNamed$3).map(({ revision, probability }) => `${idOf(result, revision)} (${probabilityText(probability)})`);
			return `no commit is sure yet${best.length === 0 ? "" : `: ${best.join(", ")}`}, ${boots}, some ${answer.bootsExpected} more expected`;
		}
	}
}
/** The same above a plot, where there is less room and the metric is told. */
function bisectTitle(result) {
	const { answer, metric } = result;
	switch (answer.kind) {
		case "culprit": return `${idOf(result, answer.revision)} ${verbOf(answer.change, metric)} ${sizeOf(answer.change)}`;
		case "group": return `one of these ${answer.last - answer.after} ${verbOf(answer.change, metric)} ${sizeOf(answer.change)}`;
		case "several": return counted(answer.found.length, "change");
		case "not-reproduced": return answer.fault === void 0 ? "good and bad hardly differ" : faultOfEnd(result, answer);
		case "slide": return `${bitByBit(answer.change, metric)}: ${changeText$2(answer.change)}`;
		case "inconclusive": return "no commit is sure yet";
	}
}
/** Which verdict of a gate an answer looks like: a loss, a gain, open, or nothing to be said. */
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
/** What to do now, in sentences, one at least; between backticks stands what is typed. */
function bisectNextSteps(result, ways = commandLine) {
	const { answer } = result;
	switch (answer.kind) {
		case "culprit": return afterCulprit(result, answer, ways);
		case "group": return [afterGroup(answer, ways)];
		case "several": return [...answer.found.flatMap((one) => one.kind === "culprit" ? togetherLines(result, one) : [afterGroup(one, ways)]), ...answer.open.length > 0 ? [`What is still open takes more boots: ${ways.goOn}.`] : ["Look at each of them by itself: each was found beside the others."]].slice(0, mostSteps);
		case "not-reproduced": return [afterNothing(result, answer, ways)];
		case "slide": return [`Take the ends of one step as good and bad where a part of the range matters most, or allow more boots with ${ways.goOn}.`, "Where every commit costs a little, a profile of good beside one of bad tells more than any single commit."];
		case "inconclusive": return [`Allow more boots with ${ways.goOn}, some ${answer.bootsExpected} are expected; a quieter cell or testbed needs fewer.`];
	}
}
const mostNamed$3 = 3;
const mostSteps = 5;
function afterCulprit(result, answer, ways) {
	const { revert, reason } = result;
	const where = reason === void 0 ? "See what it does for each packet" : "See below which functions moved";
	const look = isLoss(result, answer.change.change) ? `${where}, and make that cheaper; or keep it, and tell what the loss is for.` : `Nothing has to be mended. ${where}.`;
	const verify = revert === void 0 ? `To be surer, have the bad one measured without it: ${ways.verifyRevert}.` : void 0;
	return [
		look,
		...togetherLines(result, answer),
		verify
	].filter((line) => line !== void 0);
}
/** That a fix-up was on top, so the change could be of either. */
function togetherLines(result, { measuredWith, revision }) {
	if (measuredWith.length === 0) return [];
	const names = listed(measuredWith.map(shortId));
	return [`${idOf(result, revision)} could be measured with ${names} on top only: a cost of ${measuredWith.length > 1 ? "theirs" : "that one"} would look the same, so read both.`];
}
function afterGroup({ likelyFix }, { fixUp, goOn }) {
	return likelyFix === void 0 ? `None between them could be measured: name a commit that makes them work, as with ${fixUp("COMMIT")}, or read them; more boots (${goOn}) would not tell them apart.` : `None between them could be measured: bisect again with ${fixUp(shortId(likelyFix))}, which seems to be what made the later ones work.`;
}
function afterNothing({ revisions }, { fault }, { fixUp, goOn }) {
	if (fault === void 0) return `Check good and bad, the scenario, and that the loss was seen on this testbed; where it is smaller than that, a quieter cell or more boots (${goOn}) may show it.`;
	return `Name another ${endOf(fault.revision, revisions)} commit that works, or a fix-up that makes this one work, as with ${fixUp("COMMIT")}.`;
}
/** `f8f5b459d21e costs 55.9 ± 0.2 %`, `one of these 3 costs 55.9 ± 0.2 %: …`. */
function foundText(result, found) {
	const { metric } = result;
	const said = `${verbOf(found.change, metric)} ${sizeOf(found.change)}${unitOf(found.change, metric)}`;
	if (found.kind === "culprit") return `${idOf(result, found.revision)} ${said}`;
	const count = found.last - found.after;
	return `one of these ${count} ${said}: ${count <= mostNamed$3 ? Array.from({ length: count }, (_, index) => idOf(result, found.after + 1 + index)).join(", ") : `${idOf(result, found.after + 1)} … ${idOf(result, found.last)}`}`;
}
function wayOf({ change }, metric) {
	const isLost = isLoss({ metric }, change);
	if (!isCost(metric)) return [isLost ? "costs" : "brings", ""];
	const noun = metricNouns[metric];
	return isLost ? ["costs", ` more ${noun}`] : ["saves", ` of the ${noun}`];
}
const verbOf = (change, metric) => wayOf(change, metric)[0];
const unitOf = (change, metric) => wayOf(change, metric)[1];
/** The further end of an interval that may be longer on one side. */
const errorOf = ({ change, low, high }) => Math.max(change - low, high - change, 0);
const sizeOf = (change) => formatSizeAndError(change.change, errorOf(change));
/** `+0.1 ± 0.3 %`. */
const changeText$2 = (change) => formatChangeAndError(change.change, errorOf(change));
const bitByBit = ({ change }, metric) => isLoss({ metric }, change) ? "lost bit by bit" : "gained bit by bit";
function notReproduced(result, answer) {
	const { change, fault } = answer;
	if (fault !== void 0) return faultOfEnd(result, answer);
	if (change === void 0) return "good and bad could not be told apart";
	const most = Math.max(Math.abs(change.low), Math.abs(change.high));
	return `good and bad differ by less than ${formatSize(most)}: ${changeText$2(change)}`;
}
/** `the bad one cannot be measured: it forwards nothing`. */
function faultOfEnd({ revisions }, { fault }) {
	if (fault === void 0) return "one of them cannot be measured";
	return `the ${endOf(fault.revision, revisions)} one cannot be measured: it ${faultText(fault.fault)}`;
}
const endOf = (revision, revisions) => revision === 0 ? "good" : revision === revisions.length - 1 ? "bad" : "middle";
/** `does not boot`, `forwards nothing`: what is the matter with a revision. */
const faultText = (fault) => fault.kind === "forwards-nothing" ? "forwards nothing" : rejectionText(fault);
/** `P > 0.999`, `P = 0.987`. */
function probabilityText(probability) {
	const shown = formatProbability(probability);
	return /^[<>]/.test(shown) ? `P ${shown}` : `P = ${shown}`;
}
const openText = (open) => {
	const count = open.reduce((sum, { after, last }) => sum + last - after, 0);
	return count === 0 ? "" : `; ${counted(count, "commit")} still open`;
};
const bootsText = ({ boots, isShared }) => counted(boots, isShared ? "blast" : "boot");
/** `1 boot`, `2 boots`. */
const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;
const listed = (parts) => [parts.slice(0, -1).join(", "), parts.at(-1)].filter(Boolean).join(" and ");
/** The short id of a revision by its index, which may come from a result that somebody else made. */
const idOf = ({ revisions }, index) => shortId(revisions[index]?.commit ?? "an unknown commit");

// src/report/cell-rows.ts
/**
* The columns of a table by one metric. What is asked first stands in front, the change and its interval as one: a
* phone has room for three columns, and the others are out of sight.
*/
const cellColumns = ({ metric, confidenceRatio }, shown) => [
	{ head: "cell" },
	...shown === metric ? [{ head: "verdict" }] : [],
	{ head: `change (${formatPercent(confidenceRatio)} interval)` },
	{
		head: "base",
		isNumber: true
	},
	{
		head: "patched",
		isNumber: true
	},
	{
		head: "runs",
		isNumber: true
	}
];
/** A cell's row, and below it those of its other variants; a change that is surely one is written by `bold`. */
function cellRows(result, metric, policy, bold = (text) => text) {
	const isJudged = metric === policy.metric;
	const { comparisons, others } = result;
	const verdict = result.verdict.kind;
	const own = comparisonBy(metric, comparisons, isJudged);
	const believed = verdict === "invalid" ? void 0 : own;
	const { counted, made } = runCounts(result, metric);
	return [{
		kind: "cell",
		result,
		numbers: [
			believed ? changeOf(believed, bold) : "–",
			...valuesOf$2(own),
			unbroken(formatRuns(believed ? [believed.baseRuns, believed.patchedRuns] : counted, made))
		],
		verdict: isJudged ? verdict : void 0
	}, ...others.map((other) => {
		const its = comparisonBy(metric, other.comparisons, isJudged);
		const runs = its ? unbroken(`${its.baseRuns} + ${its.patchedRuns}`) : "–";
		return {
			kind: "variant",
			variant: other.variant,
			numbers: [
				its ? changeOf(its, bold) : "–",
				...valuesOf$2(its),
				runs
			],
			verdict: isJudged ? "not judged" : void 0
		};
	})];
}
/** A DUT that forwards nothing has no time per packet, but it has packets per second: none. */
const comparisonBy = (metric, comparisons, isJudged) => comparisons.find((one) => one.metric === metric) ?? (isJudged ? comparisons[0] : void 0);
/** `−10.4 % (−11.2 … −9.60)`. */
function changeOf({ interval: { change, low, high } }, bold) {
	const isClear = low > 0 || high < 0;
	const shown = unbroken(formatChange(change));
	const interval = formatInterval(low, high).replace(" …", "\xA0…");
	return `${isClear ? bold(shown) : shown} (${interval})`;
}
const valuesOf$2 = (shown) => shown === void 0 ? ["–", "–"] : [shown.base, shown.patched].map((value) => unbroken(formatMetric(value, shown.metric)));
/** `🔴 regression`, as a cell of a table; nothing where the table is not the one that was judged. */
function verdictTexts(row) {
	if (row.verdict === void 0) return [];
	if (row.kind === "variant") return [row.verdict];
	return [`${symbols[row.verdict]} ${row.verdict}${remarkOf(row.result)}`];
}
/** `, forwards nothing` or `, ended early`: what stands behind a cell's verdict; mostly empty. */
function remarkOf(cell) {
	if (isSilent(cell)) return `, ${silenceOf(cell)}`;
	return stoppedCells([cell]).length > 0 ? ", ended early" : "";
}
/** With spaces at which no line breaks. */
const unbroken = (text) => text.replaceAll(" ", "\xA0");
const worstFirst = (cells) => cells.toSorted((a, b) => weightOf(a) - weightOf(b));
const weightOf = ({ verdict }) => verdictsWorstFirst.indexOf(verdict.kind);

// src/report/bisect-rows.ts
/**
* The revisions in their order, as told ones and stretches of others. Told are good and bad, what was tried, what the
* answer names and its neighbours; where these are more than `most`, those that say least are not. A lone one is told.
*/
function stretchesOf(result, most = 60) {
	const { revisions } = result;
	const told = toldRevisions(result, most);
	const stretches = [];
	let next = 0;
	for (const index of [...told, revisions.length]) {
		if (index - next === 1) stretches.push({
			first: next,
			last: next,
			isTold: true
		});
		if (index - next > 1) stretches.push({
			first: next,
			last: index - 1,
			isTold: false
		});
		if (index < revisions.length) stretches.push({
			first: index,
			last: index,
			isTold: true
		});
		next = index + 1;
	}
	return stretches;
}
/** Ascending indices; what the answer is about first, then by their chance and by how often they were measured. */
function toldRevisions(result, most) {
	const { revisions } = result;
	const named = namedRevisions(result);
	const isFew = named.members.size <= mostMembers;
	const weightOf = ({ probability, forms }, index) => (named.neighbours.has(index) ? 1e3 : 0) + (named.members.has(index) && (isFew || forms.length > 0) ? 100 : 0) + (probability >= leastProbability ? 10 + probability : 0) + (forms.length > 0 ? 1 + Math.min(bootsOf(forms), 8) : 0);
	return revisions.map((revision, index) => ({
		index,
		weight: weightOf(revision, index)
	})).filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight).slice(0, most).map(({ index }) => index).toSorted((a, b) => a - b);
}
/** How many members of a group are told in full; in a larger one those that were tried say enough. */
const mostMembers = 30;
/** A commit that is less likely than this and was never tried says nothing. */
const leastProbability = .01;
/** Between two steps of the answer, of which each ends at one of `members`; `neighbours` are good, bad and both sides of a step. */
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
/** The stretches in which the answer says that the rate changed, or may have: after one index, up to another. */
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
/** Whether an answer says that the change is at this index, or may be. */
const isNamed = (answer, index) => answer.kind !== "inconclusive" && stepsOf(answer).some(({ after, last }) => index > after && index <= last);
const bootsOf = (forms) => forms.reduce((sum, { values }) => sum + values.length, 0);
/** A row of each form of what is told, and one for each stretch that is not; all revisions where `most` is infinite. */
function bisectRows(result, most) {
	const { revisions } = result;
	const stretches = most === Number.POSITIVE_INFINITY ? revisions.map((_, index) => ({
		first: index,
		last: index,
		isTold: true
	})) : stretchesOf(result, most);
	const good = median(revisions[0]?.forms.find(isMeasured)?.values ?? []);
	return stretches.flatMap(({ first, last, isTold }) => isTold ? rowsOfRevision(result, first, good) : {
		kind: "folded",
		text: foldedText(revisions.slice(first, last + 1))
	});
}
/** Whether any of the rows tells of a fix-up. */
const hasFixUps = (rows) => rows.some((row) => row.kind === "revision" && row.fixUps.length > 0);
/** More than a fix-up for each of a few bugs nobody has. */
const mostFixUps = 4;
const mostForms = 4;
function rowsOfRevision(result, index, good) {
	const { revisions, answer } = result;
	const revision = revisions[index];
	if (revision === void 0) return [];
	const { place, commit, subject, probability, forms } = revision;
	const end = index === 0 ? " good" : index === revisions.length - 1 ? " bad" : "";
	return (forms.length === 0 ? [void 0] : forms).slice(0, mostForms).map((form, nth) => ({
		kind: "revision",
		index,
		place: nth === 0 ? unbroken(`${place}${end}`) : "",
		commit: shortId(commit),
		subject,
		isNamed: isNamed(answer, index),
		isFurther: nth > 0,
		fixUps: (form?.fixUps ?? []).slice(0, mostFixUps).map(shortId),
		cells: {
			boots: form === void 0 || form.values.length === 0 ? "–" : String(form.values.length),
			...rateTexts(result, index, form, good),
			outcome: outcomeText(revision, form, nth === 0),
			p: nth > 0 || probability <= 0 ? "–" : unbroken(formatProbability(probability))
		}
	}));
}
function rateTexts({ metric }, index, form, good) {
	if (form === void 0 || !isMeasured(form)) return {
		median: "–",
		againstGood: "–"
	};
	const value = median(form.values);
	const isCompared = index > 0 && good > 0;
	return {
		median: unbroken(formatMetric(value, metric)),
		againstGood: isCompared ? unbroken(formatChange(value / good - 1)) : "–"
	};
}
/** Whether a form has been measured: it works, and has at least one number. */
const isMeasured = ({ values, fault }) => fault === void 0 && values.length > 0;
/** `measured`, `does not boot`, and how many after it are the same kernel. */
function outcomeText(revision, form, isFirst) {
	const { alike } = revision;
	const after = isFirst && alike > 0 ? `; the next ${alike === 1 ? "is" : `${alike} are`} the same kernel` : "";
	return `${ownOutcome(revision, form)}${after}`;
}
function ownOutcome(revision, form) {
	if (form?.fault !== void 0) return faultText(form.fault);
	if (form !== void 0) return form.values.length > 0 ? "measured" : "not measured";
	if (revision.isSkipped) return "skipped";
	return revision.isTakenForFailed ? "untried between failures" : "untried";
}
/** `… 97 untried, 3 skipped, and 12 more that are the same kernel as the one before`. */
function foldedText(revisions) {
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
	const same = alike > 0 ? `, and ${alike} more that change nothing of the kernel` : "";
	return `… ${counts.join(", ")}${same}`;
}
/** How many commits lie after good, up to and with bad, and how many of their kernels differ. */
function rangeText({ revisions }) {
	const first = revisions[0]?.place ?? 0;
	const last = revisions.at(-1);
	const commits = (last?.place ?? 0) + (last?.alike ?? 0) - first;
	const kernels = revisions.length - 1;
	const tried = revisions.filter(({ forms }) => forms.length > 0).length;
	const differ = kernels < commits ? `, ${counted(kernels, "kernel")} that differ` : "";
	return `${counted(commits, "commit")}${differ}, ${tried} of ${revisions.length} tried`;
}

// src/report/graphs.ts
/**
* Graphs of all variants in every cell that was judged, and of the difference of base and patched, as far as there are
* profiles.
*/
function graphsOf({ outcome }, profiles) {
	if (outcome.kind !== "judged") return [];
	const cells = new Map(outcome.cells.map((cell) => [cellName(cell.cell), cell]));
	return profiles.flatMap((data) => {
		const cell = cells.get(cellName(data.cell));
		return cell === void 0 ? [] : graphsOfCell(cell, data);
	});
}
/**
* As a file that is its own viewer, or else as an element for a page that brings flamegraphs' style and script. Left out
* where it cannot be drawn, for a profile may say more than a picture can show: a report goes without it.
*/
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
/** The same of a cell by itself. */
function graphsOfCell({ cell, profiles }, { variants }) {
	const told = new Map(profiles.flatMap((one) => one.kind === "profiled" ? [[one.variant, one]] : []));
	const graphs = variants.map(({ variant, profile }) => ({
		...placed(cell, variant),
		title: `${cellName(cell)}, ${plainLine(variant)}`,
		subtitle: subtitleOf(told.get(variant), profile),
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
function subtitleOf(told, profile) {
	const samples = `${grouped(told?.busySamples ?? samplesOf(profile.stacks))} samples`;
	return [...(told === void 0 ? [] : [told.kernel, told.event]).map((text) => plainLine(text)), samples].join(" · ");
}

// src/report/bisect-graphs.ts
/** Named by the commits; `base` is the one before, and `patched` the one after. */
function bisectGraphs(result, profiles) {
	const [own] = profiles;
	if (own === void 0) return [];
	const { cell, revisions, answer } = result;
	const id = shortId(revisions[stepsOf(answer)[0]?.last ?? -1]?.commit ?? "") || "patched";
	const names = /* @__PURE__ */ new Map([
		["base", `before ${id}`],
		["patched", id],
		["difference", `${id} against before it`]
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

// src/report/bisect-levels.ts
/**
* The levels in the order of commits; of an answer without a step good's and bad's own. Their interval is Student's, of natural
* logarithms, with a variance pooled over all levels and the history; without any it has no width.
*/
function levelsOf(result) {
	const groups = segmentsOf(result).map(([first, last]) => ({
		first,
		last,
		logs: logsOf(result, first, last)
	})).filter(({ logs }) => logs.length > 0);
	const own = {
		sumOfSquares: groups.reduce((sum, { logs }) => sum + sumNthPowerDeviations(logs, 2), 0),
		degreesOfFreedom: groups.reduce((sum, { logs }) => sum + logs.length - 1, 0)
	};
	const { history = {
		sumOfSquares: 0,
		degreesOfFreedom: 0
	} } = result;
	const { sumOfSquares, degreesOfFreedom } = pooledNoise(own, history);
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
const logsOf = ({ revisions }, first, last) => revisions.slice(first, last + 1).flatMap(({ forms }) => forms.filter(isMeasured).flatMap(({ values }) => values)).filter((value) => value > 0).map(Math.log);

// src/report/svg.ts
/** No two are the same, so that a page can put its own in their place. */
const colors = {
	paper: "#ffffff",
	ink: "#1f2328",
	faint: "#59636e",
	pale: "#e3e7eb",
	red: "#c62f2f",
	green: "#1a7f4b",
	amber: "#a86200",
	grey: "#6e7781"
};
/** A picture of `width` × `height` pixels on paper of its own; the first of its pieces is its title. */
function svgDocument(width, height, pieces) {
	const attributes = {
		xmlns: "http://www.w3.org/2000/svg",
		width,
		height,
		viewBox: `0 0 ${width} ${height}`,
		role: "img",
		"font-family": "'Open Sans', 'Segoe UI', 'Helvetica Neue', Arial, sans-serif",
		"font-size": 13,
		fill: colors.ink
	};
	const [title, ...rest] = pieces;
	return `${element("svg", attributes, [
		"",
		title,
		element("rect", {
			width,
			height,
			rx: 6,
			fill: colors.paper
		}),
		...rest,
		""
	].join("\n"))}\n`;
}
/** Round numbers within an axis that is no point, some six of them, or `most` at most. */
function ticksOf({ low, high }, most = 8) {
	const least = (high - low) / most;
	const power = 10 ** Math.floor(Math.log10(least));
	const step = power * ([
		1,
		2,
		5
	].find((factor) => factor * power >= least) ?? 10);
	const [first, last] = [Math.ceil(low / step), Math.floor(high / step)];
	return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}
function element(name, attributes, inside) {
	const start = `<${name}${Object.entries(attributes).map(([key, value]) => ` ${key}="${typeof value === "number" ? round(value) : escaped(value)}"`).join("")}`;
	return inside === void 0 ? `${start}/>` : `${start}>${inside}</${name}>`;
}
const path$1 = (d, attributes) => element("path", {
	d,
	...attributes
});
const text = (said, attributes) => element("text", attributes, escaped(said));
const round = (pixels) => Math.round(pixels * 100) / 100;

// src/report/bisect-plot.ts
/** An SVG document with a light background of its own; undefined where nothing was measured. */
function bisectPlot(result, form = "wide") {
	const dots = result.revisions.flatMap(dotsOf);
	if (dots.length === 0) return void 0;
	const places = forms$1[form];
	const columns = columnsOf$1(result, places);
	const levels = levelsOf(result);
	const drawing = {
		result,
		places,
		columns,
		levels,
		axis: axisOf$2([...dots.map(({ value }) => value), ...levels.map(({ value }) => value)])
	};
	const legend = legendPieces(drawing, dots);
	return svgDocument(places.width, legend.bottom + 10, [
		...heading$1(drawing),
		...gaps(drawing),
		...scale$1(drawing),
		...failures(drawing),
		...bands(drawing),
		...step(drawing),
		...columns.flatMap((column) => marks(column, drawing)),
		...chances(drawing),
		...labels(drawing),
		...columns.flatMap((column) => told(column, drawing)),
		...legend.pieces
	]);
}
/** What the picture shows, for who does not see it: in words, and without a comma. */
function bisectPlotAlt(result) {
	const { revisions } = result;
	const tried = revisions.filter(({ forms }) => forms.length > 0);
	const failed = tried.filter(({ forms }) => !forms.some(isMeasured)).length;
	const without = failed > 0 ? ` and ${failed} of them cannot be measured` : "";
	return `The rate of each boot along the commits: ${tried.length} of ${revisions.length} were tried${without}; ${bisectTitle(result)}`;
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
		mostRevisions: 60
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
		mostRevisions: 26
	}
};
const { paper: paper$1, ink: ink$1, faint: faint$1, pale: pale$1, red: red$1, green: green$1, amber: amber$1, grey: grey$1 } = colors;
function columnsOf$1(result, { left, right, mostRevisions }) {
	const { revisions } = result;
	const stretches = revisions.length <= mostRevisions ? revisions.map((_, index) => ({
		first: index,
		last: index,
		isTold: true
	})) : stretchesOf(result, mostRevisions);
	const width = (right - left) / stretches.length;
	return stretches.map((one, nth) => ({
		...one,
		left: left + nth * width,
		width
	}));
}
const middleOf = ({ left, width }) => left + width / 2;
const dotsOf = ({ forms }) => forms.filter(isMeasured).flatMap(({ values, fixUps }) => values.map((value) => ({
	value,
	isPlain: fixUps.length === 0
})));
/** Holds all values, with some room beside them; noise of a thousandth should not look like an abyss. */
function axisOf$2(values) {
	const [least, most] = values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Number.POSITIVE_INFINITY, 0]);
	const room = Math.max((most - least) * .1, most * .004, Number.MIN_VALUE);
	return {
		low: Math.max(least - room, 0),
		high: most + room
	};
}
function heightOf(value, { axis, places }) {
	const { top, bottom } = places;
	const inside = Math.min(Math.max(value, axis.low), axis.high);
	return round(bottom - (inside - axis.low) / (axis.high - axis.low) * (bottom - top));
}
function heading$1(drawing) {
	const { result, places } = drawing;
	const { title, subtitle, margin: x } = places;
	const { metric, cell, testbed } = result;
	const rates = ratesText(drawing);
	const parts = subtitle.hasSetting ? [
		rates,
		metricName(metric),
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
/** `26.84 Mpps to 11.83 Mpps`: as the answer has it, or all levels. */
function ratesText({ result: { answer, metric }, levels }) {
	const change = "change" in answer ? answer.change : void 0;
	return (change ? [change.before, change.after] : levels.map(({ value }) => value)).map((value) => formatMetric(value, metric)).join(" to ");
}
/** What lies behind revisions of which nothing is drawn. */
const gaps = ({ columns, places: { top, bottom, chanceTop, chanceBottom } }) => columns.flatMap(({ isTold, left: x, width }) => isTold ? [] : [[top, bottom], [chanceTop, chanceBottom]].map(([y = 0, end = 0]) => element("rect", {
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
function scale$1(drawing) {
	const { result, places, axis } = drawing;
	const { left, right, bottom, chanceTop, chanceBottom } = places;
	const line = (y) => path$1(`M${left} ${y}H${right}`, { stroke: pale$1 });
	const label = (said, y) => text(said, {
		x: left - 8,
		y,
		...small,
		"text-anchor": "end"
	});
	return [
		...ticksOf(axis, 6).flatMap((tick) => {
			const y = heightOf(tick, drawing);
			return [line(y), label(formatTick(tick, result.metric), y + 4)];
		}),
		path$1(`M${left} ${bottom}H${right}`, { stroke: grey$1 }),
		line(chanceTop),
		path$1(`M${left} ${chanceBottom}H${right}`, { stroke: grey$1 }),
		label("P", (chanceTop + chanceBottom) / 2 + 4)
	];
}
function failures(drawing) {
	const { places, columns, result } = drawing;
	const { top, bottom } = places;
	return [...failuresOf(drawing).flatMap((failure) => {
		const { kind, left, right } = failure;
		const area = {
			x: left,
			y: top,
			width: right - left,
			height: bottom - top
		};
		return [hatching(area, kind === "failed" ? grey$1 : pale$1), ...faultName(failure, area)];
	}), ...columns.flatMap(({ isTold, first, left: x, width }) => {
		const forms = result.revisions[first]?.forms ?? [];
		return isTold && forms.some(isMeasured) && forms.some(({ fault }) => fault) ? hatching({
			x,
			y: bottom - 14,
			width,
			height: 14
		}, grey$1) : [];
	})];
}
/** Neighbours that failed alike are one. */
function failuresOf({ columns, result }) {
	const found = [];
	for (const { isTold, first, left, width } of columns) {
		const revision = result.revisions[first];
		const kind = isTold && revision ? failureOf(revision) : void 0;
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
function failureOf({ forms, isTakenForFailed }) {
	if (forms.some(isMeasured)) return void 0;
	if (forms.some(({ fault }) => fault !== void 0)) return "failed";
	return isTakenForFailed ? "between" : void 0;
}
const hatchPixels = 8;
/** Lines that go on in a neighbouring area. */
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
/** What is the matter, upright where there is no room for it along the line. */
function faultName({ faults }, area) {
	const [said = "", ...others] = faults;
	const name = others.length > 0 ? "cannot be measured" : said;
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
/** About, of text of 11 pixels. */
const widthOf = (said) => said.length * 5.9;
/** Each level as far as its revisions go; where there is no step, good's and bad's over all. */
function bands(drawing) {
	const { levels, columns, places } = drawing;
	const isSplit = hasSteps(drawing);
	return levels.flatMap((level, nth) => {
		const own = columns.filter(({ first, last }) => last >= level.first && first <= level.last);
		const [first, last] = [own[0], own.at(-1)];
		if (first === void 0 || last === void 0) return [];
		const x = isSplit ? first.left : places.left;
		const end = isSplit ? last.left + last.width : places.right;
		const color = colorOf(drawing, nth);
		const [high, low] = [heightOf(level.high, drawing), heightOf(level.low, drawing)];
		const y = heightOf(level.value, drawing);
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
/** The first is what it was; another one is better or worse, where the answer tells them apart. */
function colorOf(drawing, nth) {
	const { levels, result } = drawing;
	const [first, own] = [levels[0], levels[nth]];
	if (nth === 0 || first === void 0 || own === void 0) return grey$1;
	if (result.answer.kind === "not-reproduced") return ink$1;
	return isLoss(result, own.value - first.value) ? red$1 : green$1;
}
/** Where it changed: an upright line, or all of a group, with the commit's name. */
function step(drawing) {
	const { result, columns, places } = drawing;
	const { answer, revisions } = result;
	const { top, chanceBottom, left, right } = places;
	if (answer.kind === "inconclusive" || answer.kind === "slide") return [];
	const steps = stepsOf(answer).flatMap(({ after, last }) => {
		const own = columns.filter((column) => column.last > after && column.first <= last);
		const [from, to] = [own[0], own.at(-1)];
		if (from === void 0 || to === void 0) return [];
		const isOne = last - after === 1;
		const many = answer.kind === "several" && answer.open.some((one) => one.last === last) ? `${last - after} open` : `one of ${last - after}`;
		const name = isOne ? shortId(revisions[last]?.commit ?? "") : many;
		return {
			x: from.left,
			end: to.left + to.width,
			isOne,
			name
		};
	});
	const taken = [];
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
		})), ...claimed(taken, span) ? [text(name, {
			...small,
			x: at,
			y: top - 9,
			fill: amber$1,
			"text-anchor": "middle"
		})] : []];
	});
}
/** Whether there was room, which is then taken. */
function claimed(taken, span) {
	if (taken.some(({ from, to }) => from < span.to + 5 && span.from - 5 < to)) return false;
	taken.push(span);
	return true;
}
/** A mark for each boot of a revision, side by side. */
function marks(column, drawing) {
	const { places, levels, result } = drawing;
	const revision = result.revisions[column.first];
	if (!column.isTold || revision === void 0) return [];
	const nth = levels.findIndex(({ first, last }) => column.first >= first && column.first <= last);
	const color = nth === 0 || nth === -1 ? ink$1 : colorOf(drawing, nth);
	const dots = dotsOf(revision);
	const room = Math.max(column.width - 2 * places.radius - 2, 0);
	const apart = Math.min(2 * places.radius + 2, room / Math.max(dots.length - 1, 1));
	return dots.map(({ value, isPlain }, index) => dot(middleOf(column) + (index - (dots.length - 1) / 2) * apart, heightOf(value, drawing), {
		color,
		isPlain,
		radius: places.radius
	}));
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
/** A bar for each revision, as high as its chance; the greatest has its number. */
function chances({ result, places, columns }) {
	const { revisions, answer, metric } = result;
	const { chanceTop, chanceBottom } = places;
	const bars = columns.map((column) => {
		const chance = revisions.slice(column.first, column.last + 1).reduce((sum, { probability }) => sum + Math.max(probability, 0), 0);
		return {
			column,
			chance: Math.min(chance, 1)
		};
	});
	const greatest = bars.toSorted((a, b) => b.chance - a.chance)[0];
	const drawn = bars.filter(({ chance }) => chance > .002);
	const label = greatest && greatest.chance >= .05 && numberAt(greatest, places);
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
	}), ...label ? [text(label.said, {
		...small,
		...label.at
	})] : []];
}
/** Above its bar, or beside one that leaves no room there. */
function numberAt({ column, chance }, { left, right, chanceTop, chanceBottom }) {
	const said = formatProbability(chance);
	const [middle, long] = [middleOf(column), widthOf(said)];
	if (chance < .65) {
		const y = chanceBottom - chance * (chanceBottom - chanceTop) - 4;
		return {
			said,
			at: {
				x: Math.min(Math.max(middle, left + long / 2), right - long / 2),
				y,
				"text-anchor": "middle"
			}
		};
	}
	const [y, half] = [chanceTop + 12, Math.min(column.width * .7, 26) / 2 + 5];
	return middle + half + long <= right ? {
		said,
		at: {
			x: middle + half,
			y
		}
	} : {
		said,
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
/** Places along the line as far as there is room, the answer's first, and what good and bad are. */
function labels({ result, places, columns }) {
	const { revisions, answer } = result;
	const { chanceBottom, left, right } = places;
	const weightOf = ({ first }) => isNamed(answer, first) ? 0 : first === 0 || first === revisions.length - 1 ? 1 : 2;
	const taken = [];
	const shown = columns.toSorted((a, b) => weightOf(a) - weightOf(b)).flatMap((column) => {
		const { first, last, isTold } = column;
		const said = isTold ? String(revisions[first]?.place ?? "") : `…${last - first + 1}`;
		const [x, half] = [middleOf(column), widthOf(said) / 2];
		if (!claimed(taken, {
			from: x - half,
			to: x + half
		})) return [];
		return text(said, {
			...small,
			x,
			y: chanceBottom + 16,
			"text-anchor": "middle"
		});
	});
	const [good, bad] = [revisions[0], revisions.at(-1)].map((one) => shortId(one?.commit ?? ""));
	const y = chanceBottom + 33;
	return [
		...shown,
		text(`good ${good}`, {
			...small,
			x: left,
			y
		}),
		text(`bad ${bad}`, {
			...small,
			x: right,
			y,
			"text-anchor": "end"
		})
	];
}
/** What a pointer that rests on a revision is told. */
function told({ isTold, first, left: x, width }, { result, places }) {
	const revision = result.revisions[first];
	if (!isTold || revision === void 0) return [];
	const { place, commit, subject, probability } = revision;
	const said = `${place}: ${shortId(commit)} ${plainLine(subject, 80)} (P ${formatProbability(probability)})`;
	const { top: y, chanceBottom } = places;
	return [element("rect", {
		x,
		y,
		width,
		height: chanceBottom - y,
		fill: "none",
		"pointer-events": "all"
	}, element("title", {}, escaped(said)))];
}
/** The legend of what there is in the picture, in lines that are as long as there is room. */
function legendPieces(drawing, dots) {
	const { places } = drawing;
	const { margin, width, chanceBottom } = places;
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
	const one = result.isShared ? "run" : "boot";
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

// src/report/ministats.ts
/** Patched of each cell against base, and then its earlier diffs against base. */
const ministats = (policy, cells) => [...cells.flatMap((cell) => ministatOfPatched(policy, cell)), ...cells.flatMap((cell) => ministatOfOthers(policy, cell))];
function ministatOfPatched(policy, cell) {
	const [base, patched] = ministatSets(cell, ["base", "patched"], policy.metric);
	if (base === void 0 || patched === void 0) return [];
	const text = ministat([base, patched], policy);
	return [{
		name: `ministat: ${cellName(cell.cell)}`,
		note: ministatNote(cell),
		text
	}];
}
/** Each of them against base. */
function ministatOfOthers(policy, cell) {
	const names = cell.others.slice(0, mostOthers$1).map(({ variant }) => variant);
	const [base, ...others] = ministatSets(cell, ["base", ...names], policy.metric);
	if (base?.variant !== "base" || others.length === 0) return [];
	return [{
		name: `ministat of earlier diffs: ${cellName(cell.cell)}`,
		text: ministat([base, ...others], policy)
	}];
}
/** ministat has symbols for so many sets and base. */
const mostOthers$1 = 6;
/** Those of enough runs for a spread. */
const ministatSets = (cell, variants, metric) => variants.map((variant) => ({
	variant,
	name: `${variant}, ${cellName(cell.cell)}`,
	values: valuesOf$1(cell, variant, metric)
})).filter(({ values }) => values.length >= 3);
function ministat(sets, { confidenceRatio }) {
	const confidencePercent = ministatConfidence(confidenceRatio);
	return renderMinistat(sets, {
		separateBars: true,
		confidencePercent
	});
}
/** What tells the classic block from the table above it. */
function ministatNote({ design }) {
	return `ministat takes the runs to be independent${design.name === "fixed" ? "" : " and to be as many as were planned, so its error is too small where the experiment stopped early"}${design.method === "paired" ? ", while the table compares neighbouring runs, so that what slows both alike cancels" : ""}.`;
}
/** Of base and patched those runs that the table counts. */
function valuesOf$1(cell, variant, metric) {
	const { base, patched } = countedRuns(cell, cell.pairs);
	const counted = isJudged(variant) ? [...base, ...patched] : cell.runs.filter(isValid);
	return Float64Array.from(counted.filter((run) => run.variant === variant).flatMap((run) => run[metric] ?? []));
}
const isValid = ({ validity }) => validity.kind === "valid";
const ministatConfidence = (ratio) => confidencePercents.find((percent) => Math.abs(percent / 100 - ratio) < 1e-9) ?? 95;

// src/report/why.ts
/** A line for each of the first cells that changed, or in which functions did, and one for how many more there are. */
function whyLines(cells, quoting, flamegraphs = () => "") {
	const told = order.flatMap((kind) => cells.filter((cell) => cell.verdict.kind === kind && deservesLine(cell)));
	const lines = told.slice(0, mostTold).map((cell) => {
		return [`**Why** (${quoting.name(cellName(cell.cell))}): ${reasonText(cell, quoting)}`, flamegraphs(cell)].filter(Boolean).join(" · ");
	});
	const rest = told.length - lines.length;
	return rest > 0 ? [...lines, `**Why** of ${rest} more cells: below`] : lines;
}
const mostTold = 3;
const order = [
	"regression",
	"improvement",
	"inconclusive",
	"invalid",
	"no-regression"
];
function deservesLine(cell) {
	if (!isProfiled(cell)) return false;
	const { kind } = cell.verdict;
	return kind === "regression" || kind === "improvement" || cell.reason?.movers[0] !== void 0;
}
/** Whether base or patched was to be profiled, whatever came of it. */
const isProfiled = (cell) => judgedProfiles(cell).length > 0;
const judgedProfiles = ({ profiles }) => profiles.filter(({ variant }) => isJudged(variant));
const mostNamed$2 = 3;
/** The functions that moved most, or why nobody knows them. */
function reasonText(cell, quoting) {
	const { reason } = cell;
	if (reason === void 0) return missingTexts(cell, quoting).join(", ") || "not compared";
	if (reason.movers.length === 0) return unmoved;
	const named = reason.movers.slice(0, mostNamed$2).map((mover) => `${functionName(mover, quoting)} ${changeText$1(mover)}`);
	const rest = reason.moved - named.length;
	return [...named, ...rest > 0 ? [`${rest} more`] : []].join(", ");
}
const unmoved = "no function changed beyond chance";
const missingTexts = (cell, { code }) => judgedProfiles(cell).flatMap((profile) => profile.kind === "missing" ? `there is no profile of ${profile.variant}: ${code(profile.reason, 300)}` : []);
/** How long names of functions are cut. */
const functionName = (mover, { code }) => code(mover.function, 80);
/**
* `+38 ns per packet (9.3 → 12.4 % of cycles)`, `+250 instructions per packet (9.3 → 12.4 % of them)`; where nothing tells
* what a packet takes, `+3.1 points (9.3 → 12.4 % of cycles)`.
*/
function changeText$1(mover) {
	const { baseRatio, patchedRatio, instructionsPerPacket } = mover;
	const change = hasCost(mover) ? `${costText(mover)} per packet` : pointsText(mover);
	const whole = instructionsPerPacket === void 0 ? "cycles" : "them";
	return `${change} (${formatShare(baseRatio)} → ${formatShare(patchedRatio)} % of ${whole})`;
}
/** `+3.1 points`: percentage points between the shares. */
const pointsText = ({ baseRatio, patchedRatio }) => `${formatDifference((patchedRatio - baseRatio) * 100)} points`;
/** Whether something was measured that tells what a packet takes of the function. */
const hasCost = ({ nsPerPacket, instructionsPerPacket }) => nsPerPacket !== void 0 || instructionsPerPacket !== void 0;
/** `+38 ns`, `+250 instructions`, `–` where nothing was measured that tells it. */
function costText({ nsPerPacket, instructionsPerPacket }) {
	const cost = instructionsPerPacket ?? nsPerPacket;
	if (cost === void 0) return "–";
	const unit = instructionsPerPacket === void 0 ? "ns" : "instructions";
	return `${formatTwoDigits(cost.patched - cost.base)} ${unit}`;
}
/** What the reason of a cell rests on: `5,932 samples of base, 6,010 samples of patched, left out as idle: cpu_idle`. */
function groundsText(cell, quoting) {
	const { reason } = cell;
	const idle = reason?.idleFrames.map((frame) => quoting.code(frame, 80)) ?? [];
	const rest = reason === void 0 ? 0 : reason.moved - reason.movers.length;
	return [
		...judgedProfiles(cell).flatMap((profile) => profile.kind === "profiled" ? `${grouped(profile.busySamples)} samples of ${profile.variant}` : []),
		...missingTexts(cell, quoting),
		...idle.length > 0 ? [`left out as idle: ${idle.join(" ")}`] : [],
		...reason?.movers.length === 0 ? [unmoved] : [],
		...rest > 0 ? [`${rest} functions more than are named`] : []
	].join(", ");
}
/** `flamegraphs: base · patched · difference`, each linked, as far as there are such; empty where there is none. */
function flamegraphsText(cell, links, link) {
	const linked = graphNames(cell).flatMap((which) => {
		const anchor = flamegraphAnchor(cell.cell, which);
		const address = links.graph?.(anchor) ?? (links.page && `${links.page}#${anchor}`);
		return address ? link(which, address) : [];
	});
	return linked.length > 0 ? `flamegraphs: ${linked.join(" · ")}` : "";
}
function graphNames(cell) {
	const names = judgedProfiles(cell).flatMap(({ kind, variant }) => kind === "profiled" ? variant : []);
	return names.length > 1 ? [...names, "difference"] : names;
}

// src/report/sections.ts
/**
* The sections of a comment in their order, from the end of which is left out what finds no room. Notices are quoted
* as what stands `open`, the other lines as what stands `folded`.
*/
function sectionsOf(result, open, folded) {
	const { outcome, policy, testbed, patch } = result;
	const cells = outcome.kind === "judged" ? outcome.cells : [];
	const profiled = cells.filter(isProfiled);
	const quoted = (texts) => texts.map((text) => folded.code(text, 300));
	return [
		{
			kind: "notice",
			title: "⚠️ **baseline moved**, which is not held against the patch:",
			lines: movedBaselineLines(cells, open)
		},
		{
			kind: "notice",
			title: "Left out of the comparison, which is not held against the patch:",
			lines: leftOutLines(result, open)
		},
		{
			kind: "notice",
			title: "What this metric does not see:",
			lines: outcome.kind === "judged" ? unseenBy(policy.metric) : []
		},
		...otherMetrics(policy, cells).map((metric) => ({
			kind: "other-metric",
			metric,
			cells
		})),
		{
			kind: "lines",
			title: "runs that do not count",
			lines: uncountedLines(cells, folded)
		},
		{
			kind: "lines",
			title: "runs that stand apart, and count",
			lines: standingApartLines(cells, folded)
		},
		{
			kind: "lines",
			title: "what builds differ in",
			lines: buildNoiseLines(result, folded)
		},
		{
			kind: "lines",
			title: "what is to be known of the testbed",
			lines: quoted(testbed.warnings)
		},
		{
			kind: "lines",
			title: "notes on the revision",
			lines: quoted(notesOf(patch))
		},
		{
			kind: "environment",
			lines: environmentLines$1(result, folded)
		},
		...outcome.kind === "judged" ? [reading(result)] : [],
		...profiled.length > 0 ? [{
			kind: "why",
			cells: profiled
		}] : [],
		...ministats(policy, cells).map((one) => ({
			kind: "ministat",
			...one
		}))
	].filter((section) => !("lines" in section) || section.lines.length > 0);
}
const reading = (result) => ({
	kind: "reading",
	paragraphs: readingParagraphs(result),
	meanings: verdictMeanings(result.policy)
});
/** Where and how it was measured, on one line. */
function setting(result, quoting) {
	const { testbed, blasts } = result;
	const own = blasts.some(({ kernel, kernels }) => kernel ?? kernels) ? void 0 : testbed.fingerprint.kernel;
	const [measured = own && quoting.code(own)] = kernelsOf(result, quoting).get("base") ?? [];
	return settingOf(result, quoting, measured);
}
/** The same of whatever was measured; `kernel` is the one to name beside the CPU, quoted already. */
function settingOf(result, quoting, kernel) {
	const { testbed, traffic, blasts } = result;
	const { cpu } = testbed.fingerprint;
	const hardware = [cpu && quoting.code(cpu), kernel].filter((text) => text !== void 0);
	const parts = [quoting.code(testbed.name) + (hardware.length ? ` (${hardware.join(", ")})` : "")];
	if (blasts.length > 0) {
		const sent = blasts.reduce((most, blast) => Math.max(most, blast.offeredPps), 0);
		const asked = traffic.offeredPps === void 0 ? "" : `${formatPps(traffic.offeredPps)} asked for, `;
		const seconds = (Date.parse(result.finishedAt) - Date.parse(result.startedAt)) / 1e3;
		parts.push(`${grouped(traffic.flows)} flows of ${frameSizes(result)} UDP, ${asked}up to ${formatPps(sent)} sent over a blast`, `${formatDuration(seconds)}`);
	}
	return parts.join(" · ");
}
/** `64- and 66-byte`: as they were sent, for not every family fits the smallest. */
function frameSizes({ blasts, traffic }) {
	const sizes = [...new Set(blasts.map(({ cell }) => frameBytesFor(traffic, cell)))].toSorted((a, b) => a - b);
	const last = `${sizes.pop()}-byte`;
	if (sizes.length > 10) return `${sizes[0]}- to ${last}`;
	return [sizes.map((size) => `${size}-`).join(", "), last].filter(Boolean).join(" and ");
}
/** What the cells are judged by. */
function rule(policy) {
	const { metric, marginRatio, falseAlarmRatio } = policy;
	const speed = isCost(metric) ? ` (a loss of ${formatPercent(marginRatio)} of its speed)` : "";
	return `Judged by ${metricName(metric)} · ${formatSigned(marginsOf(policy).loss)} or more matters${speed} · false alarms ≤ ${formatPercent(falseAlarmRatio)}`;
}
/** The message, what the kernel died of, and what was on its console. */
function failureSaid(outcome) {
	const panic = "panic" in outcome && outcome.panic !== void 0 ? `panic: ${outcome.panic}` : "";
	const console = "console" in outcome && outcome.console ? `Its console, which is whole in dut-console.log:\n${outcome.console}` : "";
	return [
		outcome.message,
		panic,
		console
	].filter(Boolean).join("\n");
}
function failureText(outcome, { name }) {
	switch (outcome.kind) {
		case "does-not-apply": return "The patch does not apply, and nothing was measured:";
		case "build-failed": return "The base builds, the patched kernel does not; nothing was measured. The build says first:";
		case "out-of-disk": return "The patch is not to blame; free some space and run again:";
		case "does-not-load": return `The base loads, the patched files do not (${name(outcome.scenario)}); nothing was measured. The DUT says:`;
		case "boot-failed": return "The patched kernel does not come up, and nothing was measured with it. The DUT is back on its own kernel:";
		case "panics-under-load": return "The patched kernel panicked twice in the same blast, and no verdict was reached. The DUT is back on its own kernel:";
	}
}
/** What was measured beside what was judged. */
const otherMetrics = ({ metric }, cells) => metricSchema.options.filter((other) => other !== metric && cells.some(({ comparisons }) => comparisons.some((one) => one.metric === other)));
/** `packets per second (more is better), which is not judged`. */
const otherMetricTitle = (metric) => `${metricName(metric)}, which is not judged`;
/** What a metric cannot tell, in a sentence, lest somebody takes it for measured; none where a packet's whole way is in it. */
const unseenBy = (metric) => metric === "instructionsPerPacket" ? ["Cache misses, locks, other CPUs, and real NICs with their drivers are not in the number of instructions: believe it of code that every packet passes, as an nftables rule or the forwarding path, and not of a driver."] : [];
const mostReasons = 20;
/** Why cells are invalid, in lines of their own: there is no room for sentences in a table. */
function invalidLines(cells, { code, name }) {
	const lines = cells.flatMap(({ cell, verdict }) => verdict.kind === "invalid" ? `${name(cellName(cell))} is invalid: ${code(verdict.reason, 300)}` : []);
	const rest = lines.length - mostReasons;
	return [...lines.slice(0, mostReasons), ...rest > 0 ? [`${rest} more cells are invalid`] : []];
}
/** Runs that were measured and do not count, by cause. */
const uncountedLines = (cells, { code, name }) => cells.flatMap((result) => {
	const { cell, runs } = result;
	const spare = spareRuns(result);
	return [...invalidRunLines(runs, code), ...[...Map.groupBy(spare, (run) => whySpare(run, result))].map(([why, group]) => `${group.length} of ${runs.length} runs, ${why}`)].map((line) => `${name(cellName(cell))}: ${line}`);
});
/** `2 of 8 runs, …`: a line for each cause. */
function invalidRunLines(runs, code) {
	const faults = runs.flatMap(({ validity }) => validity.kind === "invalid" ? validity : []);
	return [...Map.groupBy(faults, ({ cause }) => cause).values()].map((group) => {
		const [first, ...others] = group.map(({ reason }) => reason);
		const like = others.some((reason) => reason !== first) ? "the first of them: " : "";
		return `${group.length} of ${runs.length} runs, ${like}${code(first ?? "")}`;
	});
}
/** Good runs that the verdict does without. */
function spareRuns(cell) {
	const { base, patched } = countedRuns(cell, cell.pairs);
	const counted = /* @__PURE__ */ new Set([...base, ...patched]);
	return cell.runs.filter((run) => isOfVerdict(run) && run.validity.kind === "valid" && !counted.has(run));
}
/** Why a good run, or several alike, say nothing in the verdict, after their number. */
function whySpare({ variant, pps }, cell) {
	if (pps === 0) return "with no packet forwarded, which does not count by itself";
	if (variant === "patched" && isSilent(cell)) return "with packets forwarded, as in others none are";
	return "of which the neighbour does not count, or that came after the verdict";
}
/** Single runs far from the others: they count, and each was repeated once. */
const standingApartLines = (cells, { code, name }) => cells.flatMap(({ cell, design, runs }) => (design.method === "pooled" ? runsApart(runs.filter(isOfVerdict)) : []).map(({ number, variant, pps }) => `${name(cellName(cell))}: run ${number} of ${code(variant)}, ${formatPps(pps)}`));
/** A line for each cell whose kernels have several links: how far builds lie apart, beside runs of one build. */
function buildNoiseLines({ outcome, policy, variants }, { name }) {
	const cells = outcome.kind === "judged" ? outcome.cells : [];
	const commits = new Set(variants.flatMap((variant) => isJudged(variant.name) ? variant.commit : []));
	return cells.flatMap((cell) => {
		const noise = buildNoise(cell, policy.metric, commits.size === 1);
		if (noise === void 0) return [];
		const { links, betweenLinks, withinLinks = 0, together } = noise;
		const text = betweenLinks === void 0 ? `builds and runs together by ${formatPercent(together)}, as none of ${links} links was booted twice` : `builds by ${formatPercent(betweenLinks)}, as ${links} links tell, and runs of one build by ${formatPercent(withinLinks)}`;
		return `${name(cellName(cell.cell))}: ${text} (standard deviations)`;
	});
}
const isOfVerdict = ({ variant }) => isJudged(variant);
/** A line for every cell whose base is not what it was. */
const movedBaselineLines = (cells, { name }) => cells.flatMap(({ cell, baseline }) => {
	if (baseline.kind !== "moved") return [];
	const { change, low, high } = baseline.interval;
	return `${name(cellName(cell))}: ${formatChange(change)} against its history (99 % interval ${formatInterval(low, high)})`;
});
/** What was run, on what, and in which order. */
function environmentLines$1(result, quoting) {
	const { variants, testbed, seed, generator } = result;
	const { code } = quoting;
	const kernels = kernelsOf(result, quoting);
	return [
		...variants.map(({ name, commit }) => [`${code(name)}: commit ${code(commit)}`, ...kernels.get(name) ?? []].join(", ")),
		...Object.entries(testbed.fingerprint).map(([key, value]) => `${code(key)}: ${code(value)}`),
		`order of runs: seed ${seed}`,
		`${generator.name} ${code(generator.version)}`
	];
}
/** What ran where variants are kernels of their own, which a report had better not get wrong. */
function kernelsOf({ blasts, outcome }, { code }) {
	const runs = outcome.kind === "judged" ? outcome.cells.flatMap((cell) => cell.runs) : [];
	const variantOf = new Map(runs.map((run) => [run.blast, run.variant]));
	const found = blasts.flatMap(({ number, kernel, kernels = {} }) => [...kernel === void 0 ? [] : [{
		variant: variantOf.get(number) ?? "",
		kernel
	}], ...Object.entries(kernels).map(([variant, told]) => ({
		variant,
		kernel: told
	}))]);
	return new Map([...Map.groupBy(found, ({ variant }) => variant)].map(([variant, group]) => [variant, [...new Set(group.map(({ kernel }) => code(kernel)))]]));
}
/** What is told of a revision: how its base was found, and what of it was not taken. */
const notesOf = (patch) => patch.kind === "revision" ? patch.notes : [];
/** A line for every variant that could not be measured beside base and patched. */
const leftOutLines = ({ leftOut }, { code }) => leftOut.map(({ variant, rejection }) => {
	const panic = "panic" in rejection && rejection.panic ? ` (panic: ${code(rejection.panic)})` : "";
	return `${code(variant)} ${rejectionText(rejection)}: ${code(rejection.message, 300)}${panic}`;
});
/** How the numbers came about, a paragraph each. */
function readingParagraphs({ policy, variants, outcome }) {
	const { marginRatio, confidenceRatio, falseAlarmRatio, missRatio } = policy;
	const confidence = formatPercent(confidenceRatio);
	const alone = variants.every(({ name }) => isJudged(name));
	const runs = outcome.kind === "judged" ? outcome.cells.flatMap((cell) => cell.runs) : [];
	const links = new Set(runs.flatMap(({ variant, link }) => variant === "base" ? link ?? 1 : []));
	return [
		`Runs of base and patched alternate, and each cell ends as soon as its runs tell. The interval holds the true change in ${confidence} of experiments or more, wherever they end; patched is base with the change. Of patches that lose nothing at most ${formatPercent(falseAlarmRatio)} are called a regression in any cell, and of cells that lose ${formatPercent(marginRatio)} at most ${formatPercent(missRatio)} are passed.`,
		...links.size > 1 ? [`Each kernel was linked ${links.size} times, its code in another order each time, and pairs boot the links in turn: what builds of one source differ in is in the spread of the runs. Runs of one link count as one, by their mean.`] : [],
		...alone ? [] : [`Earlier diffs (↳) are measured in the same rounds and compared with base, each by itself; its number stands in the column of patched. They decide neither the verdict nor how many runs there are, so their ${confidence} intervals are those of a fixed number of runs, and hold a little less often where a cell ended early.`]
	];
}
function verdictMeanings({ marginRatio }) {
	const margin = formatPercent(marginRatio);
	return [
		["regression", `surely a loss, and one of ${margin} is not excluded`],
		["improvement", "the mirror image"],
		["no-regression", `a loss of ${margin} is excluded`],
		["inconclusive", "neither: more runs would tell"],
		["invalid", "too few runs count, so nothing is said"]
	];
}

// src/report/bisect-sections.ts
/** The sections below a comment in their order; what finds no room is left out from the end. Text is quoted for what stands `open`, or `folded`. */
function bisectSections(result, open, folded) {
	return [
		{
			kind: "notice",
			title: "The bad one without it:",
			lines: revertLines(result, open)
		},
		{
			kind: "lines",
			title: "what cannot be measured",
			lines: faultLines(result, folded)
		},
		{
			kind: "lines",
			title: "runs that do not count",
			lines: invalidRunLines(result.runs, folded.code)
		},
		{
			kind: "lines",
			title: "what is to be known of the testbed",
			lines: result.testbed.warnings.map((warning) => folded.code(warning, 300))
		},
		{
			kind: "lines",
			title: "environment",
			lines: environmentLines(result, folded)
		},
		{
			kind: "lines",
			title: "how it was decided",
			lines: howDecided(result)
		},
		...neighbourMinistat(result).map((one) => ({
			kind: "ministat",
			...one
		}))
	].filter((section) => !("lines" in section) || section.lines.length > 0);
}
/** `forwarding inet4, by packets per second (more is better): 12 commits, 5 of 13 tried`. */
const searchedText = (result, { name }) => `${name(cellName(result.cell))}, by ${metricName(result.metric)}: ${rangeText(result)}`;
/** What was measured of bad without the culprit, or why it was not. */
function revertLines({ revert, metric }, { code }) {
	if (revert === void 0) return [];
	if (revert.kind === "impossible") return [`It cannot be measured: ${code(revert.why, 300)}`];
	const { values, change } = revert;
	const rates = `${formatMetric(change.before, metric)} → ${formatMetric(change.after, metric)}`;
	return [`${changeText$2(change)} against the bad one (${rates}), ${counted(values.length, "run")}`];
}
/** What was wrong with commits, each fault with those that have it, in the order in which they come first. */
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
function whoFailed({ revisions, fixUps }) {
	const named = revisions.slice(0, mostNamed$1).map(({ place, commit }) => `${place} (${shortId(commit)})`);
	const rest = revisions.length - named.length;
	const who = [named.join(", "), ...rest > 0 ? [`${rest} more`] : []].join(" and ");
	return fixUps.length === 0 ? who : `${who}, with ${fixUps.slice(0, 4).map(shortId).join(", ")}`;
}
const mostNamed$1 = 3;
const mostGroups = 20;
function faultLines(result, { code }) {
	const groups = faultGroups(result);
	const lines = groups.slice(0, mostGroups).map((group) => {
		const { fault } = group;
		const panic = "panic" in fault && fault.panic ? ` (panic: ${code(fault.panic)})` : "";
		const said = fault.message === "" ? "" : `: ${code(fault.message, 300)}`;
		return `${whoFailed(group)}: ${faultText(fault)}${said}${panic}`;
	});
	const rest = groups.length - lines.length;
	return rest > 0 ? [...lines, `${rest} more faults`] : lines;
}
/** The fault's message, what the kernel died of, and what was on its console. */
const faultSaid = (fault) => fault.kind === "forwards-nothing" ? fault.message : failureSaid(fault);
/** What was asked for, on what it ran, and in which order. */
function environmentLines(result, { code }) {
	const { testbed, generator, seed } = result;
	return [
		...rangeFacts(result).map(([key, value]) => `${key}: ${code(value)}`),
		...Object.entries(testbed.fingerprint).map(([key, value]) => `${code(key)}: ${code(value)}`),
		`seed ${seed}`,
		`${generator.name} ${code(generator.version)}`
	];
}
/** Good, bad and fix-ups as they were typed, and what they are. */
function rangeFacts({ good, bad, fixUps, revisions }) {
	const said = (typed, revision) => `${typed} = ${revision?.commit ?? "unknown"}, ${revision?.subject ?? ""}, by ${revision?.author ?? ""}`;
	return [
		["good", said(good, revisions[0])],
		["bad", said(bad, revisions.at(-1))],
		...fixUps.map((typed) => ["fix-up", typed])
	];
}
/** How the numbers came about, a sentence or two each; docs/bisect.md is the whole of it. */
function howDecided({ isShared, history, metric }) {
	const number = isShared ? "The median of its runs in a blast, against the middle of good and bad in the same blast, is one number of a commit" : "Each boot of a commit that counts is one number";
	const percent = formatPercent(bisectConfidenceRatio);
	return [
		`${number}, and P is the chance that a commit is the one that changed it, given all of them${history === void 0 ? "" : " and the noise of earlier experiments"}. None is thrown away, so one that is off is corrected by later ones.`,
		"Measured next is always what is expected to tell most for its minutes. It ends where one commit, or a stretch of which nothing between can be measured, has P ≥ 0.99 and both its neighbours have two numbers.",
		`A change is one of the geometric mean, from all that was measured before it to all that was measured after it, as far as the next change; ± its ${percent} interval. Commits that make the same kernel are told as one.`,
		"What cannot be measured failed twice, or once like a neighbour; or once, where no answer depends on it. Commits between two that failed alike are not tried, and taken for failed.",
		...unseenBy(metric),
		"The whole of it is in docs/bisect.md."
	];
}
/**
* The revisions before and after the change, as ministat(1) has them. It asks for three numbers of each: where a
* neighbour has fewer, all that was measured on its side stands for it.
*/
function neighbourMinistat(result) {
	const { answer, revisions, cell } = result;
	const [step, ...others] = stepsOf(answer);
	if (!(answer.kind === "culprit" || answer.kind === "group") || step === void 0 || others.length > 0) return [];
	const sides = [{
		neighbour: step.after,
		all: revisions.slice(0, step.after + 1)
	}, {
		neighbour: step.last,
		all: revisions.slice(step.last)
	}].map(({ neighbour, all }) => {
		const own = valuesOf(revisions.slice(neighbour, neighbour + 1));
		const isAlone = own.length >= leastValues;
		return {
			neighbour,
			isAlone,
			values: isAlone ? own : valuesOf(all)
		};
	});
	if (sides.some(({ values }) => values.length < leastValues)) return [];
	const isAlone = sides.every((side) => side.isAlone);
	const sets = sides.map(({ neighbour, values, isAlone }, nth) => {
		const id = shortId(revisions[neighbour]?.commit ?? "");
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
	const note = isAlone ? void 0 : "ministat asks for three numbers of each: where a neighbour has fewer, all that was measured on its side stands for it.";
	return [{
		name: "ministat of before and after",
		...note !== void 0 && { note },
		text
	}];
}
const leastValues = 3;
const valuesOf = (revisions) => revisions.flatMap(({ forms }) => forms.filter(isMeasured).flatMap(({ values }) => values));

// src/report/graph-preview.ts
/** A small picture for a page, whose style has its size and colours; nothing where there are no samples. */
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
		leastPixels: .7
	});
	const boxes = rows.flatMap((row, depth) => row.map((box) => ({
		look: base === void 0 ? moduleLook(box) : changeLook(box, totals),
		path: `M${tenths(box.x)} ${rows.length - depth - 1}h${tenths(box.width)}v1h-${tenths(box.width)}z`
	})));
	const paths = [...Map.groupBy(boxes, ({ look }) => look)].map(([look, own]) => html`<path class="${look}" d="${own.map(({ path }) => path).join("")}"/>`);
	return html`<svg class="preview" viewBox="0 0 ${width$2} ${rows.length}" preserveAspectRatio="none" aria-hidden="true">${paths}</svg>`;
}
/** Width in pixels of the page, about. A row is of one unit, and as high as there is room. */
const width$2 = 340;
const tenths = (pixels) => Math.round(pixels * 10) / 10;
const moduleLook = ({ module }) => module === void 0 || /^kernel/.test(module) ? "of-kernel" : "of-module";
/** How a path looks, by the share of all samples that it has with all that it calls, before and now. */
function changeLook({ samples }, totals) {
	const change = samples.profile / totals.profile - samples.base / totals.base;
	if (Math.abs(change) < .003) return "same";
	return `${change > 0 ? "more" : "less"}${Math.abs(change) < .03 ? "" : " much"}`;
}

// src/report/interval-plot.ts
/** An SVG document with a light background of its own; undefined where nothing was judged. Of more than `mostCells` the worst are drawn. */
function intervalPlot(result, { mostCells = 40, form = "wide" } = {}) {
	const { outcome, policy } = result;
	if (outcome.kind !== "judged") return void 0;
	const { cells } = outcome;
	const shown = cells.length > mostCells ? worstFirst(cells).slice(0, mostCells) : cells;
	const rows = shown.flatMap((cell) => rowsOf(cell, policy));
	if (rows.every(({ interval }) => interval === void 0)) return void 0;
	const places = forms[form];
	const { top, rowHeight } = places;
	const axis = axisOf$1(rows, policy);
	const end = top + rows.length * rowHeight;
	const tops = rows.map((_, index) => top + index * rowHeight);
	const hidden = cells.length - shown.length;
	return svgDocument(places.width, end + places.legend + (hidden > 0 ? 37 : 19), [
		...heading(result, places),
		...rows.flatMap((row, index) => separator(row, tops[index] ?? top, places)),
		...scale(axis, tops, policy, places),
		...rows.flatMap((row, index) => rowPieces$2(row, axis, tops[index] ?? top, places)),
		...legend$1(end + places.legend, policy, hidden, places)
	]);
}
const mostOthers = 10;
function rowsOf({ cell, verdict, comparisons, others }, { metric }) {
	const intervalOf = (all) => all.find((one) => one.metric === metric)?.interval;
	const interval = verdict.kind === "invalid" ? void 0 : intervalOf(comparisons);
	return [{
		label: cellName(cell),
		verdict: verdict.kind,
		interval
	}, ...others.slice(0, mostOthers).map((other) => ({
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
/** No change is less than −100 %; one that is more than the other end leaves the plot, for the rest to be seen. */
const widest = {
	low: -1,
	high: 1
};
const inside = ({ low, high }, change) => Math.min(Math.max(change, low), high);
/** Holds no change, both margins and all intervals, with some room beside them. */
function axisOf$1(rows, policy) {
	const { loss, gain } = marginsOf(policy);
	const held = [
		0,
		loss,
		gain,
		...rows.flatMap(({ interval }) => interval ? [interval.low, interval.high] : [])
	].map((change) => inside(widest, change));
	const [least, most] = [Math.min(...held), Math.max(...held)];
	const room = Math.max(most - least, 1e-6) * .06;
	return {
		low: least - room,
		high: most + room
	};
}
function placeOf$1(change, axis, { left, right }) {
	return left + (inside(axis, change) - axis.low) / (axis.high - axis.low) * (right - left);
}
function heading({ patch, policy, testbed }, form) {
	const { margin: x, title: head, subtitle: below } = form;
	const diff = patch.kind === "revision" ? `, diff ${patch.diff}` : "";
	const title = `${patchName(patch)}${diff}: change against base`;
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
/** Earlier diffs stand with their cell. */
const separator = ({ verdict }, y, { margin, width }) => verdict === void 0 ? [] : [path$1(`M${margin} ${y}H${width - margin}`, { stroke: pale })];
/** What lies behind the rows: the loss that matters, round numbers, the margins, and no change. */
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
/** One where the rows' plots touch, else one for each row, so that no line runs through words. */
function bandsOf(tops, { plot, rowHeight, top }) {
	if (2 * plot.reach === rowHeight) return [[top, top + tops.length * rowHeight]];
	return tops.map((y) => [y + plot.middle - plot.reach, y + plot.middle + plot.reach]);
}
const shade = {
	fill: red,
	"fill-opacity": "0.08"
};
/** What was found of one row: drawn, in numbers, and in a word. */
function rowPieces$2({ label, verdict, interval }, axis, top, form) {
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
	const change = interval ? formatChange(interval.change) : "–";
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
		...drawn ?? [],
		text(change, {
			...at(form.change),
			...toEnd,
			"font-weight": weight
		})
	];
}
const longestLabel = 30;
/** The family stands at the end of a cell's name, so what does not fit is left out before it. */
function labelOf(name) {
	const label = plainLine(name);
	if (label.length <= longestLabel) return label;
	return `${label.slice(0, 17).trimEnd()}…${label.slice(-12)}`;
}
/** An interval with bars at its ends where there is room, or arrows where it goes on beyond the plot. */
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
/** The look of each verdict, here and wherever else it is drawn. */
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
		...hidden > 0 ? [text(`${hidden} more cells, none of them worse`, {
			x,
			...small,
			y: y + 18
		})] : []
	];
}

// src/report/html-pieces.ts
/** Scrolls by itself where it is wider than the page. */
function table$4({ caption, heads, rows }) {
	const classAt = (index) => heads[index]?.isNumber === true && html` class="number"`;
	const head = heads.map(({ text }, index) => html`<th scope="col"${classAt(index)}>${text}</th>`);
	const body = rows.map(([first, ...others]) => html`<tr><th scope="row"${classAt(0)}>${first}</th>${others.map((piece, index) => html`<td${classAt(index + 1)}>${piece}</td>`)}</tr>\n`);
	return scrolling(html`<table><caption><span>${caption}</span></caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody></table>`);
}
/** Reached by the keyboard, as it may have to be scrolled by it. */
const scrolling = (piece) => html`<div class="scroll" tabindex="0">${piece}</div>\n`;
/** Nothing where there are no items. */
const bullets$1 = (items) => items.length === 0 ? void 0 : html`<ul>${items.map((one) => html`<li>${one}</li>`)}</ul>\n`;
const fold = (summary, body) => html`<details><summary>${summary}</summary>\n${body}</details>\n`;
/** A block of text as it is, line ends included. */
const preformatted = (text) => scrolling(html`<pre>${text.split("\n").map((line) => html`${line}\n`)}</pre>`);
/** Names with what there is to say of each: texts of anybody. */
const factList = (facts) => html`<dl>
${facts.map(([key, value]) => html`<div><dt>${breakable(plainLine(key))}</dt><dd>${plainLine(value, 500)}</dd></div>\n`)}</dl>
`;
/** `2026-11-20 12:00:00 UTC`. */
const timeText = (at) => `${at.slice(0, 19).replace("T", " ")} UTC`;
/** Text of our own in which backticks stand around code. */
const withCode = (text) => text.split("`").map((part, index) => index % 2 === 1 ? html`<code>${part}</code>` : part);
/** A long name breaks after its dots and slashes, and within a word only where a word alone is too long. */
const breakable = (name) => name.split(/(?<=[./])/).map((part, index) => index === 0 ? part : html`<wbr>${part}`);
/** The same symbol as in the plot. */
const mark = (verdict) => html`<svg class="mark ${verdict}" viewBox="-8 -8 16 16" aria-hidden="true"><path d="${looks[verdict].symbol}"/></svg>`;

// src/report/run-plot.ts
/** A plot for a page, whose style has its colours; nothing where no run has a number. */
function runPlot(inOrder, metric) {
	const points = inOrder.flatMap((run, index) => {
		const value = run[metric];
		return value === void 0 ? [] : {
			run,
			value,
			x: left + (index + .5) * stepOf(inOrder)
		};
	});
	if (points.length === 0) return void 0;
	const axis = axisOf(points);
	const variants = [...Map.groupBy(points, ({ run }) => run.variant)];
	return scrolling(html`<svg class="runs" viewBox="0 0 ${width$1} ${height$1}" role="img" aria-label="${described$1(points)}">
${[axis.high, axis.low].map((value) => edge(value, placeOf(value, axis), metric))}
${variants.map(([variant, own]) => drawn$1(lookOf(variant), own, axis))}
${legend(variants.map(([variant]) => variant), points)}
</svg>`);
}
const [width$1, height$1] = [920, 190];
const [left, right, top, bottom] = [
	96,
	900,
	34,
	170
];
const stepOf = (runs) => (right - left) / runs.length;
/** Runs that do not count may lie far away: they are drawn at the edge, where the others are seen apart. */
function axisOf(points) {
	const valid = points.filter(({ run }) => run.validity.kind === "valid");
	const [least, most] = (valid.length > 0 ? valid : points).map(({ value }) => value).reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Number.POSITIVE_INFINITY, 0]);
	const room = Math.max((most - least) * .08, most * .005, Number.MIN_VALUE);
	return {
		low: Math.max(least - room, 0),
		high: most + room
	};
}
function placeOf(value, { low, high }) {
	const share = (Math.min(Math.max(value, low), high) - low) / (high - low);
	return Math.round((bottom - share * (bottom - top)) * 10) / 10;
}
const edge = (value, y, metric) => html`<path class="edge" d="M${left} ${y}H${right}"/><text x="${left - 10}" y="${y + 4}" text-anchor="end">${formatTick(value, metric)}</text>\n`;
/** Their median, and a mark for each. */
function drawn$1(look, points, axis) {
	const [valid, invalid] = [true, false].map((isValid) => points.filter(({ run }) => run.validity.kind === "valid" === isValid));
	const marks = (shape, some = []) => some.map(({ value, x }) => `M${Math.round(x * 10) / 10} ${placeOf(value, axis)}${shape}`).join("");
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
	return [...variants.slice(0, mostNamed).map((variant) => ({
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
const mostNamed = 5;
const described$1 = (points) => `${points.length} runs in order; the table below has their numbers`;

// src/report/html-cell.ts
/** Graphs of kernels have some 50,000 each; a page of more than a few million is slow on a phone. */
const mostGraphCharacters = 5e6;
/** The flamegraphs of a page, drawn; those behind are left out where there is no room for all. */
function picturesThatFit(graphs) {
	let room = mostGraphCharacters;
	return graphs.map((graph) => {
		const drawn = drawGraph(graph, false);
		if (drawn.kind === "left-out") return {
			graph,
			why: drawn.why
		};
		const { svg } = drawn;
		if (svg.length > room) return { graph };
		room -= svg.length;
		return {
			graph,
			svg
		};
	});
}
/** The section of a cell, with the pictures of this cell alone. */
const cellSection = (policy, result, pictures) => html`<section id="${cellAnchor(result)}">
<h2>${mark(result.verdict.kind)} ${cellName(result.cell)}</h2>
${finding(policy, result)}${whyPieces(result)}${graphFolds(pictures)}${runs(policy, result)}${ministatFolds(policy, result)}</section>
`;
/** Where on the page a cell stands. */
const cellAnchor = ({ cell }) => `cell-${cellName(cell)}`.replace(/[^\w.-]+/g, "-");
/** `regression: −10.4 % (95 % interval −11.2 … −9.60)`, and what is to be known beside it. */
function finding({ confidenceRatio }, cell) {
	const { verdict, comparisons } = cell;
	if (isSilent(cell)) return html`<p><b class="${verdict.kind}">${verdict.kind}</b>: <strong>${silenceOf(cell)}</strong></p>\n`;
	const { interval } = comparisons[0] ?? {};
	const numbers = interval && verdict.kind !== "invalid" && [html`: <strong>${formatChange(interval.change)}</strong> `, `(${formatPercent(confidenceRatio)} interval ${formatInterval(interval.low, interval.high)})`];
	return html`<p><b class="${verdict.kind}">${verdict.kind}</b>${remarkOf(cell)}${numbers}</p>
${verdict.kind === "invalid" && html`<p>${plainLine(verdict.reason, 1e3)}</p>\n`}`;
}
/** The functions that moved, and the profiles that there are not. */
function whyPieces({ reason, profiles }) {
	const missing = profiles.flatMap((one) => one.kind === "missing" ? `${plainLine(one.variant)}: ${plainLine(one.reason, 500)}` : []);
	if (reason === void 0 && missing.length === 0) return void 0;
	return html`<h3>Why</h3>
${reason && moved(reason)}${missing.length > 0 && html`<p>There is no profile of</p>\n${bullets$1(missing)}`}`;
}
function moved({ movers, moved, idleFrames }) {
	const idle = idleFrames.length > 0 && ` Stacks with ${idleFrames.map((name) => plainLine(name)).join(", ")} are left out, as the CPU idled in them.`;
	if (movers.length === 0) return html`<p>No function’s share of the samples moved beyond chance.${idle}</p>\n`;
	const rest = moved - movers.length;
	const others = rest > 0 && `; ${rest} more moved less`;
	const isTold = movers.some(hasCost);
	const numbers = [
		...isTold ? ["per packet"] : [],
		"change",
		"base",
		"patched"
	];
	return table$4({
		caption: html`Functions whose own share of the samples moved beyond chance${others}.${idle}`,
		heads: [
			{ text: "function" },
			...numbers.map((text) => ({
				text,
				isNumber: true
			})),
			{ text: "module" }
		],
		rows: movers.map((mover) => moverRow$1(mover, isTold))
	});
}
const moverRow$1 = (mover, isTold) => [
	html`<code>${plainLine(mover.function)}</code>`,
	...isTold ? [unbroken(costText(mover))] : [],
	unbroken(pointsText(mover)),
	unbroken(`${formatShare(mover.baseRatio)} %`),
	unbroken(`${formatShare(mover.patchedRatio)} %`),
	plainLine(mover.module ?? "–")
];
const graphFolds = (pictures) => pictures.length > 0 && html`<h3>Flamegraphs</h3>
<div class="graphs">
${pictures.map(graphFold)}</div>
`;
/** The browser itself opens a fold for what a link or a search finds in it. */
function graphFold({ graph, svg, why }) {
	const { anchor, which } = graph;
	if (why !== void 0) return html`<p id="${anchor}">${plainLine(why, 500)}</p>\n`;
	const elsewhere = html`<p>It is too large for this page, and drawn in <code>${anchor}.svg</code>.</p>`;
	return html`<details class="graph">
<summary>${plainLine(which)}${graphPreview(graph)}</summary>
<div id="${anchor}">${svg === void 0 ? elsewhere : new Html(svg)}</div>
</details>
`;
}
/** A cell's runs in their order. */
function runs(policy, cell) {
	const inOrder = cell.runs.toSorted((a, b) => a.number - b.number);
	if (inOrder.length === 0) return void 0;
	const remarks = [["Runs that do not count:", uncountedLines([cell], plain)], ["Runs that stand apart, and count:", standingApartLines([cell], plain)]];
	return html`<h3>Runs</h3>
${runPlot(inOrder, policy.metric)}${remarks.map(([said, lines]) => lines.length > 0 && html`<p>${said}</p>\n${bullets$1(lines)}`)}${fold(`${inOrder.length} runs in order`, runTable(inOrder, cell))}`;
}
/** Runs of a cell, or of a bisection, which compares no pairs and has no cell. */
function runTable(inOrder, cell) {
	const spare = new Map(cell && spareRuns(cell).map((run) => [run, whySpare(run, cell)]));
	const told = metricSchema.options.filter((metric) => metric === "pps" || inOrder.some((run) => run[metric] !== void 0));
	return table$4({
		caption: `All runs, as they followed each other${cell ? "; those of one pair are compared" : ""}`,
		heads: [
			{
				text: "run",
				isNumber: true
			},
			...cell ? [{
				text: "pair",
				isNumber: true
			}] : [],
			{ text: "variant" },
			...told.map((metric) => ({
				text: metricNouns[metric],
				isNumber: true
			})),
			{ text: "counts" }
		],
		rows: inOrder.map((run) => [
			run.number,
			...cell ? [run.pair] : [],
			plainLine(run.variant),
			...told.map((metric) => valueText(run[metric], metric)),
			validityText(run, spare)
		])
	});
}
const valueText = (value, metric) => value === void 0 ? "–" : formatMetric(value, metric);
function validityText(run, spare) {
	const { validity } = run;
	const why = spare.get(run);
	if (why !== void 0) return html`no, ${why}`;
	if (validity.kind === "valid") return "yes";
	return html`<b class="invalid">no</b>, ${validity.cause}: ${plainLine(validity.reason, 500)}`;
}
const ministatFolds = (policy, cell) => ministats(policy, [cell]).map(({ name, note, text }) => fold(name, [note !== void 0 && html`<p>${note}</p>\n`, preformatted(text)]));

// src/report/html-style.ts
const light = {
	...colors,
	page: colors.paper,
	desk: "#f5f7f9",
	blue: "#0b62b8",
	shade: "#eef1f4",
	kernel: "#f0b46c",
	module: "#7fc4b4"
};
const dark = {
	desk: "#0f1419",
	paper: "#171d24",
	page: "#171d24",
	ink: "#e3e8ee",
	faint: "#98a3af",
	pale: "#2c343d",
	red: "#ff8078",
	green: "#5bc98a",
	amber: "#e0a94a",
	grey: "#98a3af",
	blue: "#79b8ff",
	shade: "#1f262e",
	kernel: "#a8692a",
	module: "#3a8071"
};
const properties = (scheme) => Object.entries(scheme).map(([name, color]) => `--${name}:${color};`).join("");
/** The plot names its colours itself; here each becomes the page's own. */
const plotColors = Object.entries(colors).flatMap(([name, color]) => ["fill", "stroke"].map((which) => `.intervals [${which}="${color}"]{${which}:var(--${name})}\n`)).join("");
/** Paper is light by night, too. */
const pageStyle = () => `
:root{color-scheme:light dark;${properties(light)}}
@media screen and (prefers-color-scheme:dark){:root{${properties(dark)}}}
${plotColors}${embedded(new URL("html-style.css", import.meta.url))}`;

// \0@oxc-project+runtime@0.156.0/helpers/esm/taggedTemplateLiteral.js
function _taggedTemplateLiteral(e, t) {
	return t || (t = e.slice(0)), Object.freeze(Object.defineProperties(e, { raw: { value: Object.freeze(t) } }));
}

// src/report/html-document.ts
var _templateObject;
/**
* A whole document that loads nothing and runs no script but its own: its Content-Security-Policy (W3C, level 3) names
* style and scripts by their hash.
*/
function htmlDocument({ title, body, hasGraphs }) {
	const style = hasGraphs ? `${pageStyle()}${flamegraphStyle()}` : pageStyle();
	const scripts = hasGraphs ? [flamegraphScript(), openTarget()] : [];
	const policy = [
		"default-src 'none'",
		"img-src data:",
		`style-src ${hashOf(style)}`,
		...scripts.length > 0 ? [`script-src ${scripts.map(hashOf).join(" ")}`] : [],
		"base-uri 'none'",
		"form-action 'none'"
	].join("; ");
	return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${new Html(style)}</style>
</head>
<body>
${body}${scripts.map((script) => html(_templateObject || (_templateObject = _taggedTemplateLiteral(["<script>", "<\/script>\n"], ["<script>", "<\/script>\\n"])), new Html(script)))}</body>
</html>
`.markup;
}
const openTarget = () => embeddedScript(new URL("open-target.js", import.meta.url));
const hashOf = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// src/report/bisect-html.ts
/** A whole page; the change's neighbours have flamegraphs as far as there are profiles. */
function renderBisectHtml(result, profiles = []) {
	const { generator } = result;
	const graphs = bisectGraphs(result, profiles);
	const body = html`${header$1(result)}<main>
${revisions(result)}${verified(result)}${why(result, graphs)}${faults(result)}${remarks$1(result)}${numbers(result)}${environment$1(result)}${decided(result)}</main>
<footer>${generator.name} ${plainLine(generator.version)}, from <code>result.json</code></footer>
`;
	const title = `${bisectSymbol(result)} ppsgate: ${bisectHeadline(result)}`;
	return htmlDocument({
		title,
		body,
		hasGraphs: graphs.length > 0
	});
}
function header$1(result) {
	const look = bisectLook(result);
	const [first = "", ...others] = bisectNextSteps(result);
	return html`<header class="${look}">
<p class="name">ppsgate</p>
<h1>${mark(look)} ${bisectHeadline(result)}</h1>
<p>${searchedText(result, plain)}</p>
<p><b>What now:</b> ${withCode(first)}</p>
${bullets$1(others.map(withCode))}<p class="faint">${settingOf(result, plain)}</p>
</header>
`;
}
function revisions(result) {
	const rows = bisectRows(result);
	const all = rows.some(({ kind }) => kind === "folded") && bisectRows(result, Number.POSITIVE_INFINITY);
	return html`<section id="revisions">
<h2>The commits</h2>
${plots(result)}${revisionTable(result, rows, "Good first, bad last; P is the chance that a commit is the one")}${all && fold(`all ${result.revisions.length} revisions`, revisionTable(result, all, "Good first, bad last"))}</section>
`;
}
/** The plot in both its forms: the page shows the one for which it is wide enough, in its own colours. */
function plots(result) {
	const drawn = ["wide", "narrow"].flatMap((form) => {
		const plot = bisectPlot(result, form);
		return plot === void 0 ? [] : html`<div class="${form}">${new Html(plot)}</div>\n`;
	});
	return drawn.length > 0 && html`<div class="intervals">${drawn}</div>\n`;
}
/** What is asked first stands in front: a phone has room for three columns, and the others are out of sight. */
function revisionTable(result, rows, caption) {
	const withFixUps = hasFixUps(rows);
	const look = bisectLook(result);
	const numbers = [
		"median",
		"against good",
		"P",
		result.isShared ? "runs" : "boots"
	];
	return table$4({
		caption,
		heads: [
			{
				text: "n",
				isNumber: true
			},
			{ text: "commit" },
			{ text: "outcome" },
			...numbers.map((text) => ({
				text,
				isNumber: true
			})),
			...withFixUps ? [{ text: "with" }] : []
		],
		rows: rows.map((row) => rowPieces$1(row, withFixUps, look))
	});
}
function rowPieces$1(row, withFixUps, look) {
	const empty = new Array(withFixUps ? 6 : 5).fill("");
	if (row.kind === "folded") return [
		"",
		html`<span class="faint">${row.text}</span>`,
		...empty
	];
	const { place, commit, subject, isFurther, fixUps, cells } = row;
	const id = html`<code class="id">${commit}</code>`;
	const named = row.isNamed ? html`<b class="${look}">${id}</b>` : id;
	return [
		place,
		isFurther ? "↳" : html`${named}<span class="subject">${plainLine(subject, 120)}</span>`,
		...[
			cells.outcome,
			cells.median,
			cells.againstGood,
			cells.p,
			cells.boots
		],
		...withFixUps ? [fixUps.length === 0 ? "–" : fixUps.map((one) => html`<code class="id">${one}</code> `)] : []
	];
}
function verified(result) {
	const lines = revertLines(result, plain);
	return lines.length > 0 && html`<section id="revert">
<h2>The bad one without it</h2>
${bullets$1(lines)}</section>
`;
}
function why(result, graphs) {
	const pieces = [whyPieces(result), graphFolds(picturesThatFit(graphs))];
	return pieces.some((piece) => piece !== void 0 && piece !== false) && html`<section id="why">
<h2>Before and after</h2>
${pieces}</section>
`;
}
const mostFaults = 50;
function faults(result) {
	const groups = faultGroups(result);
	const rest = groups.length - mostFaults;
	return groups.length > 0 && html`<section id="faults">
<h2>What cannot be measured</h2>
${groups.slice(0, mostFaults).map(faultFold)}${rest > 0 && html`<p>${rest} more faults</p>\n`}</section>
`;
}
const faultFold = (group) => fold(html`${whoFailed(group)}: ${faultText(group.fault)}`, preformatted(plainBlock(faultSaid(group.fault), 2e4)));
/** What a reader may miss. */
function remarks$1({ testbed: { warnings } }) {
	return warnings.length > 0 && html`<section id="remarks">
<h2>What is to be known of the testbed</h2>
${bullets$1(warnings.map((text) => plainLine(text, 500)))}</section>
`;
}
/** The neighbours' numbers to paste into mail, and all runs. */
function numbers(result) {
	const inOrder = result.runs.toSorted((a, b) => a.number - b.number);
	const pieces = [
		...neighbourMinistat(result).map(({ name, note, text }) => fold(name, [note !== void 0 && html`<p>${note}</p>\n`, preformatted(text)])),
		bullets$1(invalidRunLines(inOrder, plain.code)),
		inOrder.length > 0 && fold(`${inOrder.length} runs in order`, runTable(inOrder))
	].filter(Boolean);
	return pieces.length > 0 && html`<section id="numbers">
<h2>Numbers</h2>
${pieces}</section>
`;
}
const environment$1 = (result) => html`<section id="environment">
<h2>Environment</h2>
${factList([
	...rangeFacts(result),
	["testbed", result.testbed.name],
	...Object.entries(result.testbed.fingerprint),
	["began", timeText(result.startedAt)],
	["ended", timeText(result.finishedAt)],
	["seed", String(result.seed)]
])}</section>
`;
const decided = (result) => html`<section id="reading">
<h2>How it was decided</h2>
${howDecided(result).map((text) => html`<p>${text}</p>\n`)}</section>
`;

// src/report/fitting.ts
/** The worst cells first when there is no room for all, and below them how many are left out. */
function rowsThatFit(cells, toRow) {
	const inOrder = fittingRows(cells, toRow);
	if (inOrder.length === cells.length) return inOrder;
	const worst = fittingRows(worstFirst(cells), toRow);
	const rest = cells.length - worst.length;
	return [
		...worst,
		"",
		`${rest} more cells, none of them worse, are in \`result.json\`.`
	];
}
const mostRows = 100;
/** A reason of a hundred backticks needs three hundred characters. */
const mostRowCharacters = 4e4;
function fittingRows(cells, toRow) {
	const rows = [];
	let room = mostRowCharacters;
	for (const cell of cells.slice(0, mostRows)) {
		const next = toRow(cell);
		room -= next.length + 1;
		if (room < 0) break;
		rows.push(next);
	}
	return rows;
}
/** Keeps what fits of the parts, in their order, and says how many there was no room for. */
function fitted(main, parts, end, { most, sizeOf }) {
	const kept = [];
	let room = most - sizeOf([...main, end].join("\n\n")) - 200;
	for (const part of parts) {
		const size = sizeOf(part) + 2;
		if (size > room) continue;
		room -= size;
		kept.push(part);
	}
	const missing = parts.length - kept.length;
	const notice = missing > 0 ? [`${missing} more parts are in the full report beside \`result.json\`.`] : [];
	return `${[
		...main,
		...kept,
		...notice,
		end
	].filter(Boolean).join("\n\n")}\n`;
}

// src/report/next-steps.ts
/** What was found, in a sentence; undefined where a rejection tells it. Plain text of our own making. */
function meaningOf({ outcome, policy }) {
	if (outcome.kind === "unchanged") return unchangedMeaning(outcome);
	if (outcome.kind !== "judged") return void 0;
	const { cells, verdict } = outcome;
	const where = whereText(withVerdict(cells, verdict), cells);
	const did = deeds[policy.metric];
	const margin = formatPercent(Math.abs(marginsOf(policy).loss));
	switch (verdict) {
		case "regression": return `The patched router ${did.loss} than base${where}, beyond what chance explains.${stopText(cells)}`;
		case "improvement": return `The patched router ${did.gain} than base${where}, beyond what chance explains, and nowhere does it ${lossThatMatters(policy)}.`;
		case "no-regression": return `If the patch costs anything at all${where}, it is less than the ${margin} that would matter.`;
		case "inconclusive": return `The runs differ too much among themselves${where} to tell whether the patch costs ${margin} or nothing.`;
		case "invalid": return `Too few runs can be used${where}, which is not held against the patch: nothing is known of it.`;
	}
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
	return ` That ended the experiment, as was asked for: of ${stopped} of ${cells.length} cells nothing is known yet.`;
}
/** Why there are no numbers of a patch that need not be measured. */
function unchangedMeaning({ leftAlone }) {
	if (leftAlone === void 0) return "Nothing was measured: nothing that this testbed lays differs between base and patched.";
	return `Nothing was measured: no packet of this testbed passes what the patch changes. That lies in ${leftAlone.join(", ").replaceAll("*", "…")}: drivers of other ports, files of other machines, or what ppsgate.yml leaves out.`;
}
/** ` in 1 of 4 cells`; a patch that has one cell alone needs no such words. */
function whereText(those, cells) {
	if (cells.length === 1) return "";
	return those.length === cells.length ? ` in all ${cells.length} cells` : ` in ${those.length} of ${cells.length} cells`;
}
/** What to do now; between backticks stands what is typed. `usualGoOn` is how more runs are asked for where the report stands. */
function nextStep({ outcome, testbed, isSplit }, usualGoOn = "`ppsgate gate --resume DIR --max-runs N`") {
	const goOn = isSplit ? anotherGate : usualGoOn;
	if (outcome.kind === "unchanged") return outcome.leftAlone ? afterLeftAlone : afterUnchanged;
	if (outcome.kind !== "judged") return afterRejection[outcome.kind];
	switch (outcome.verdict) {
		case "regression": return `${outcome.cells.some(isProfiled) ? "See below which functions cost more" : "See what the patch does for each packet"}, make that cheaper, and send the patch again; or tell in it what the loss is for.${stoppedCells(outcome.cells).length > 0 ? ` The cells that are not decided are measured to their end with ${goOn}.` : ""}`;
		case "improvement": return "Nothing; the numbers below are for the commit message.";
		case "no-regression": return "Nothing: as far as forwarding goes, the patch can go in.";
		case "inconclusive": return `Allow more runs with ${goOn}; a quieter testbed or a wider margin needs fewer.`;
		case "invalid": return afterInvalid(outcome.cells, testbed.name);
	}
}
/** What asks for more runs where cells were split, as such a gate cannot be gone on with. */
const anotherGate = "another gate: `--max-runs N`, and `--stop-at-first off` where the first loss ended this one";
const afterUnchanged = "Nothing: packets are forwarded as before. To have that measured all the same, run the gate with `--measure-anyway`, or write `run measure-anyway` in a comment.";
const afterLeftAlone = "Ask for a testbed that has such ports, if there is one. To have it measured here all the same, run the gate with `--measure-anyway`, or write `run measure-anyway` in a comment.";
/** What most runs suffered from is mended first; where that is nothing known, the testbed is to be looked at. */
function afterInvalid(cells, testbed) {
	const cause = causeOf(withVerdict(cells, "invalid"));
	const check = `\`ppsgate testbeds check${/^[\w.-]{1,64}$/.test(testbed) ? ` ${testbed}` : ""}\``;
	return `${(cause === void 0 ? void 0 : mendings[cause]) ?? `Mend what ${check} finds wrong`}, and run it again.`;
}
/** By what made most runs invalid; for other causes the testbed is to be looked at. */
const mendings = {
	"generator-limited": "Give the DUT more to do than it can: a higher `traffic.rate`, a second sender, or fewer cores of the DUT",
	"receiver-limited": "Give the receiver a faster card or CPU, or a machine of its own, until it counts all that the DUT sends",
	"machine-busy": "End what else runs on that machine, or wait until it has ended",
	"too-short": "Measure for longer, with `traffic.measure`"
};
const afterRejection = {
	"does-not-apply": "Rebase the patch onto the head of its branch, and send it again.",
	"build-failed": "Build the kernel with the patch yourself, mend what the build says first, and send the patch again. The whole log is in `builds/`, beside `result.json`.",
	"out-of-disk": "Whoever looks after the lab frees some space on the disk that is named above; then the same patch can be judged again as it is.",
	"does-not-load": "Load the files on a machine of your own, as with `pfctl -nf`, `nft -c -f` or `ipfw -n`, mend what is said above, and send the patch again.",
	"boot-failed": "Boot the patched kernel on a machine whose console you see, mend what it dies of, and send the patch again.",
	"panics-under-load": "Send packets through the patched kernel on a machine whose console you see: the same blast kills it each time. Mend what it dies of, and send the patch again."
};

// src/report/markdown.ts
/** GitHub refuses a comment of more characters; what ours remembers of earlier pushes needs some. */
const mostCharacters = 53248;
/** Renders at most `mostCharacters`: what does not fit is left out from the end, and said. */
function renderMarkdown(result, links = {}) {
	const sections = sectionsOf(result, markdown, markdown);
	return fitted([
		`### ${headline(result)}`,
		...mainParts$1(result, links),
		setting(result, markdown)
	], [...corrections(links), ...sections.map((section) => sectionText$1(section, result, links))], footer(links), {
		most: mostCharacters,
		sizeOf: (text) => text.length
	});
}
function mainParts$1(result, links) {
	const { outcome, policy } = result;
	const next = `**What now:** ${nextStep(result, links.goOn)}`;
	const meaning = [meaningOf(result), next].filter((line) => line !== void 0);
	switch (outcome.kind) {
		case "judged": return [
			...meaning,
			table$3(policy, outcome.cells, policy.metric),
			...invalidLines(outcome.cells, markdown).map((line) => `- ${line}`),
			...whyLines(outcome.cells, markdown, (cell) => flamegraphsText(cell, links, graphLink)),
			rule(policy)
		];
		case "unchanged": return meaning;
		default: return [`${failureText(outcome, markdown)}\n\n${codeBlock(failureSaid(outcome))}`, next];
	}
}
const markdown = {
	code: codeSpan,
	name: (name) => name
};
function table$3(policy, cells, metric) {
	const columns = cellColumns(policy, metric);
	return [
		tableRow$1(columns.map(({ head }) => head)),
		`|${columns.map(({ isNumber }) => isNumber ? "--:" : "---").join("|")}|`,
		...rowsThatFit(cells, (cell) => cellRows(cell, metric, policy, bold$1).map(rowText$3).join("\n"))
	].join("\n");
}
const bold$1 = (text) => `**${text}**`;
function rowText$3(row) {
	const name = row.kind === "variant" ? `↳ ${codeSpan(row.variant)}` : cellName(row.result.cell);
	return tableRow$1([
		name,
		...verdictTexts(row),
		...row.numbers
	]);
}
const tableRow$1 = (columns) => `| ${columns.map((column) => column.replaceAll("|", "\\|")).join(" | ")} |`;
const corrections = ({ corrections = [] }) => corrections.length === 0 ? [] : [details("said otherwise where it was measured, and not believed", bullets(corrections.map((sentence) => codeSpan(sentence, 500))))];
/** Folded, but for what no reader may miss; each ministat by itself, so that it can be left out alone. */
function sectionText$1(section, { policy, patch }, links) {
	switch (section.kind) {
		case "other-metric": return details(otherMetricTitle(section.metric), table$3(policy, section.cells, section.metric));
		case "environment": return details("environment", bullets([patchLine$1(patch), ...section.lines]));
		case "reading": {
			const meanings = section.meanings.map(([verdict, meaning]) => `${bold$1(verdict)}: ${meaning}`);
			return details("how to read this", [...section.paragraphs, bullets(meanings)].join("\n\n"));
		}
		case "why": {
			const cells = rowsThatFit(section.cells, (cell) => `${whyOfCell$1(cell, links)}\n`);
			return details("why", cells.join("\n").trimEnd());
		}
		default: return commonSection$1(section);
	}
}
/** A section that a report of anything may have. */
function commonSection$1(section) {
	switch (section.kind) {
		case "notice": return `${section.title}\n${bullets(section.lines)}`;
		case "lines": return details(section.title, bullets(section.lines));
		case "ministat": {
			const { name, note, text } = section;
			const block = codeBlock(text, 6e3);
			return details(name, note === void 0 ? block : `${note}\n\n${block}`);
		}
	}
}
/** All functions that moved, and what tells so. */
function whyOfCell$1(cell, links) {
	const head = [`${cellName(cell.cell)}: ${groundsText(cell, markdown)}`, flamegraphsText(cell, links, graphLink)].filter(Boolean).join(" · ");
	const movers = cell.reason?.movers ?? [];
	return movers.length === 0 ? head : `${head}\n\n${moverTable(movers)}`;
}
const moverTable = (movers) => [
	"| function | per packet | change | base | patched | module |",
	"|---|--:|--:|--:|--:|---|",
	...movers.map(moverRow)
].join("\n");
function moverRow(mover) {
	const { module, baseRatio, patchedRatio } = mover;
	const numbers = [
		costText(mover),
		pointsText(mover),
		`${formatShare(baseRatio)} %`,
		`${formatShare(patchedRatio)} %`
	].map(unbroken);
	return tableRow$1([
		functionName(mover, markdown),
		...numbers,
		module ? codeSpan(module, 80) : "–"
	]);
}
function patchLine$1(patch) {
	const title = codeSpan(patch.title);
	const by = `by ${codeSpan(patch.author)}`;
	if (patch.kind !== "revision") return `patch: ${title} ${by}`;
	return `patch: ${link$1(patchName(patch), patch.url)} diff ${patch.diff}, ${title} ${by}`;
}
/** The text alone where the address is none of a page. */
function link$1(text, address) {
	const url = pageUrl(address);
	return url === void 0 ? text : `[${text}](${url})`;
}
/** A link to a page, or to a file beside the report. */
const graphLink = (text, address) => /^\w[\w./-]*$/.test(address) ? `[${text}](${address})` : link$1(text, address);
/** What is told below a report. */
function footer({ rerun, rawData, page }) {
	const parts = [
		rerun && `Rerun: ${rerun}`,
		rawData && `Raw data: ${rawData}`,
		page && link$1("the whole report", page)
	].filter(Boolean);
	return parts.length > 0 ? `<sub>${parts.join(" · ")}</sub>` : "";
}
const details = (summary, body) => `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`;
const bullets = (lines) => lines.map((line) => `- ${line}`).join("\n");

// src/report/bisect-markdown.ts
/** Renders at most as much as a comment may have: what does not fit is left out from the end, and said. */
function renderBisectMarkdown(result, links = {}) {
	const sections = bisectSections(result, markdown, markdown);
	const why = isProfiled(result) ? [details("why", whyOfCell$1(result, links))] : [];
	return fitted([
		`### ${bisectSymbol(result)} ppsgate: ${bisectHeadline(result)}`,
		searchedText(result, markdown),
		whatNow(bisectNextSteps(result, links.ways)),
		table$2(result),
		...whyLine$1(result, links),
		...plot$2(result, links),
		settingOf(result, markdown)
	], [
		...corrections(links),
		...sections.map(commonSection$1),
		...why
	], footer(links), {
		most: mostCharacters,
		sizeOf: (text) => text.length
	});
}
const whatNow = (steps) => steps.length === 1 ? `**What now:** ${steps[0]}` : `**What now:**\n${bullets(steps)}`;
function table$2(result) {
	const rows = bisectRows(result);
	const withFixUps = hasFixUps(rows);
	const columns = columnsOf(result, withFixUps);
	return [
		tableRow$1(columns.map(({ head }) => head)),
		`|${columns.map(({ isNumber }) => isNumber ? "--:" : "---").join("|")}|`,
		...rows.map((row) => rowText$2(row, columns.length, withFixUps))
	].join("\n");
}
const columnsOf = ({ isShared }, withFixUps) => [
	{
		head: "n",
		isNumber: true
	},
	{ head: "commit" },
	{ head: "subject" },
	...withFixUps ? [{ head: "with" }] : [],
	{
		head: isShared ? "runs" : "boots",
		isNumber: true
	},
	{
		head: "median",
		isNumber: true
	},
	{
		head: "against good",
		isNumber: true
	},
	{ head: "outcome" },
	{
		head: "P",
		isNumber: true
	}
];
function rowText$2(row, columns, withFixUps) {
	if (row.kind === "folded") return tableRow$1([
		"",
		"",
		row.text,
		...new Array(columns - 3).fill("")
	]);
	const { place, commit, subject, isFurther, fixUps, cells } = row;
	const id = row.isNamed ? bold$1(codeSpan(commit)) : codeSpan(commit);
	return tableRow$1([
		place,
		isFurther ? "↳" : id,
		isFurther ? "" : codeSpan(subject, 72),
		...withFixUps ? [fixUps.map((one) => codeSpan(one)).join(" ") || "–"] : [],
		...[
			cells.boots,
			cells.median,
			cells.againstGood,
			cells.outcome,
			cells.p
		]
	]);
}
/** Nothing where nothing was profiled. */
function whyLine$1(result, links) {
	if (!isProfiled(result)) return [];
	return [[`**Why**: ${reasonText(result, markdown)}`, flamegraphsText(result, links, graphLink)].filter(Boolean).join(" · ")];
}
function plot$2(result, { image }) {
	const url = image !== void 0 && /^\w[\w.-]*$/.test(image) ? image : pageUrl(image ?? "");
	return url === void 0 ? [] : [`![${bisectPlotAlt(result)}](${url})`];
}

// src/report/html.ts
/** A whole page; cells have flamegraphs as far as there are profiles. */
function renderHtml(result, profiles) {
	const { generator } = result;
	const graphs = graphsOf(result, profiles);
	const body = html`${header(result)}<main>
${mainPieces(result, graphs)}</main>
<footer>${generator.name} ${plainLine(generator.version)}, from <code>result.json</code></footer>
`;
	return htmlDocument({
		title: headline(result),
		body,
		hasGraphs: graphs.length > 0
	});
}
function mainPieces(result, graphs) {
	const { outcome } = result;
	switch (outcome.kind) {
		case "judged": return judged$1(result, outcome.cells, graphs);
		case "unchanged": return [remarks(result), environment(result)];
		default: return [
			rejected(result, outcome),
			remarks(result),
			environment(result)
		];
	}
}
/**
* A patch that cannot be measured has the symbol of a loss; a lab that cannot measure has that of no verdict, as has a
* patch that need not be measured.
*/
function verdictOf({ outcome }) {
	switch (outcome.kind) {
		case "judged": return outcome.verdict;
		case "unchanged":
		case "out-of-disk": return "invalid";
		default: return "regression";
	}
}
function header(result) {
	const { patch, policy, outcome } = result;
	const verdict = verdictOf(result);
	const meaning = meaningOf(result);
	const diff = patch.kind === "revision" && ` diff ${patch.diff}`;
	const url = patch.kind === "range" ? void 0 : pageUrl(patch.url);
	const name = html`${patchName(patch)}${diff}`;
	return html`<header class="${verdict}">
<p class="name">ppsgate</p>
<h1>${mark(verdict)} ${patchName(patch)} ${sentence(result).text}</h1>
${meaning !== void 0 && html`<p>${meaning}</p>\n<p><b>What now:</b> ${withCode(nextStep(result))}</p>\n`}<p>${url === void 0 ? name : html`<a href="${url}">${name}</a>`}: ${plainLine(patch.title)}, by ${plainLine(patch.author)}</p>
<p class="faint">${setting(result, plain)}</p>
${outcome.kind === "judged" && [html`<p class="faint">${rule(policy)}</p>\n`, contents(outcome.cells)]}</header>
`;
}
function judged$1(result, cells, graphs) {
	const pictures = picturesOfCells(cells, graphs);
	return [
		verdicts(result, cells),
		remarks(result, cells),
		cells.map((cell) => cellSection(result.policy, cell, pictures.get(cellName(cell.cell)) ?? [])),
		environment(result),
		howToRead(result)
	];
}
/** The worst cells first where there is no room for all. */
function picturesOfCells(cells, graphs) {
	const ofCell = Map.groupBy(graphs, ({ cell }) => cellName(cell));
	const inOrder = worstFirst(cells).flatMap(({ cell }) => ofCell.get(cellName(cell)) ?? []);
	return Map.groupBy(picturesThatFit(inOrder), ({ graph }) => cellName(graph.cell));
}
/** A few cells are found without. */
const contents = (cells) => cells.length > 3 && html`<nav aria-label="Contents"><ul>
${cells.map((cell) => html`<li>${linkTo(cell)}</li>\n`)}<li><a href="#environment">environment</a></li>
<li><a href="#reading">how to read this</a></li>
</ul></nav>
`;
const linkTo = (result) => html`${mark(result.verdict.kind)} <a href="#${cellAnchor(result)}">${cellName(result.cell)}</a>`;
function verdicts(result, cells) {
	const { policy } = result;
	const others = otherMetrics(policy, cells).map((metric) => fold(otherMetricTitle(metric), cellTable(result, cells, metric)));
	return html`<section id="verdict">
<h2>Verdict</h2>
${cellTable(result, cells, policy.metric)}${others}${intervals(result, cells.length)}</section>
`;
}
/** Of its two forms the page shows the one for which it is wide enough, in its own colours. */
function intervals(result, mostCells) {
	const drawn = ["wide", "narrow"].flatMap((form) => {
		const plot = intervalPlot(result, {
			mostCells,
			form
		});
		return plot === void 0 ? [] : html`<div class="${form}">${new Html(plot)}</div>\n`;
	});
	return drawn.length > 0 && html`<div class="intervals">${drawn}</div>\n`;
}
function cellTable({ policy }, cells, metric) {
	return table$4({
		caption: `Change of patched against base, by ${metricName(metric)}`,
		heads: cellColumns(policy, metric).map(({ head, ...rest }) => ({
			text: head,
			...rest
		})),
		rows: cells.flatMap((cell) => cellRows(cell, metric, policy).map(rowPieces))
	});
}
function rowPieces(row) {
	const { numbers } = row;
	if (row.kind === "variant") return [
		html`<span class="other">↳ ${plainLine(row.variant)}</span>`,
		...row.verdict ? [row.verdict] : [],
		...numbers
	];
	const verdict = row.verdict && html`<b class="${row.verdict}">${row.verdict}</b>${remarkOf(row.result)}`;
	return [
		linkTo(row.result),
		...verdict ? [verdict] : [],
		...numbers
	];
}
function rejected(result, outcome) {
	return html`<section id="verdict">
<h2>What happened</h2>
<p>${failureText(outcome, plain)}</p>
${preformatted(plainBlock(failureSaid(outcome), 2e4))}<h2>What now</h2>
<p>${withCode(nextStep(result))}</p>
</section>
`;
}
/** What a reader may miss, and does not count against the patch. */
function remarks(result, cells = []) {
	const parts = [
		["The baseline moved, which is not held against the patch", movedBaselineLines(cells, plain)],
		["Left out of the comparison, which is not held against the patch", leftOutLines(result, plain)],
		["What this metric does not see", cells.length > 0 ? unseenBy(result.policy.metric) : []],
		["What is to be known of the testbed", inLines(result.testbed.warnings)],
		["Notes on the revision", inLines(notesOf(result.patch))]
	].filter(([, lines]) => lines.length > 0);
	if (parts.length === 0) return void 0;
	return html`<section id="remarks">
<h2>To be known</h2>
${parts.map(([title, lines]) => html`<h3>${title}</h3>\n${bullets$1(lines)}`)}</section>
`;
}
const inLines = (texts) => texts.map((text) => plainLine(text, 500));
function environment(result) {
	const { testbed, seed, startedAt, finishedAt } = result;
	return html`<section id="environment">
<h2>Environment</h2>
${variantTable(result)}${factList([
		["testbed", testbed.name],
		...Object.entries(testbed.fingerprint),
		["began", timeText(startedAt)],
		["ended", timeText(finishedAt)],
		["order of runs", `seed ${seed}`]
	])}</section>
`;
}
function variantTable(result) {
	const { variants } = result;
	const kernels = kernelsOf(result, plain);
	const base = variants.find(({ name }) => name === "base");
	const heads = [
		"variant",
		"commit",
		...kernels.size > 0 ? ["kernel as it ran"] : [],
		"files laid over the DUT"
	];
	return table$4({
		caption: "What differs between the variants",
		heads: heads.map((text) => ({ text })),
		rows: variants.map((variant) => [
			plainLine(variant.name),
			html`<code>${plainLine(variant.commit, 64)}</code>`,
			...kernels.size > 0 ? [kernels.get(variant.name)?.join(", ") ?? "–"] : [],
			variant === base || base === void 0 ? ownFiles(variant) : changedFiles(base, variant)
		])
	});
}
const ownFiles = ({ files }) => files.length === 0 ? "none" : files.map(({ path }) => fileLine("", path));
const fileLine = (sign, path) => html`<div>${sign}<code>${breakable(plainLine(path))}</code></div>`;
function changedFiles(base, { files }) {
	const before = new Map(base.files.map(({ path, sha256 }) => [path, sha256]));
	const after = new Set(files.map(({ path }) => path));
	const lines = [...files.flatMap(({ path, sha256 }) => {
		if (before.get(path) === sha256) return [];
		return fileLine(before.has(path) ? "changed " : "added ", path);
	}), ...base.files.filter(({ path }) => !after.has(path)).map(({ path }) => fileLine("removed ", path))];
	return lines.length === 0 ? "as those of base" : lines;
}
const howToRead = (result) => html`<section id="reading">
<h2>How to read this</h2>
${readingParagraphs(result).map((text) => html`<p>${text}</p>\n`)}${bullets$1(verdictMeanings(result.policy).map(([verdict, meaning]) => html`${mark(verdict)} <b class="${verdict}">${verdict}</b>: ${withCode(meaning)}`))}</section>
`;

// src/report/sparkline.ts
/** A picture of its own: a line for each cell, with what it did in its last night. */
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
			element("g", { transform: `translate(${sparkLeft} ${top + (rowHeight - height) / 2})` }, drawn(values, changes, colors.ink)),
			text(last === void 0 ? "no night" : formatMetric(last, metric), {
				x: numberLeft,
				y: line,
				fill: colors.faint
			})
		];
	});
	const said = rows.map(({ cell, values, changes }) => `${cellName(cell)}: ${described(values, changes)}`);
	const title = element("title", {}, said.join("; "));
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
/** A change of less than this fills no picture: noise should not look like an abyss. */
const leastRangeRatio = .02;
function drawn(values, changes, ink) {
	if (values.length === 0) return "";
	const { low, high } = rangeOf(values);
	const step = (width - 6) / Math.max(values.length - 1, 1);
	const x = (index) => round(inset + index * step);
	const y = (value) => {
		const share = (Math.min(Math.max(value, low), high) - low) / (high - low);
		return round(height - inset - share * (height - 6));
	};
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
			stroke: ink,
			"stroke-width": 1.2
		}),
		element("circle", {
			cx: x(values.length - 1),
			cy: y(newest),
			r: 2,
			fill: ink
		})
	].filter(Boolean).join("");
}
/** One bad night in thirty lies at the edge, where the others are seen apart. */
function rangeOf(values) {
	const sorted = values.toSorted((a, b) => a - b);
	const off = Math.floor(sorted.length / 30);
	const [least = 0, most = 0] = [sorted[off], sorted[sorted.length - 1 - off]];
	const room = Math.max((leastRangeRatio * most - (most - least)) / 2, Number.MIN_VALUE);
	return {
		low: least - room,
		high: most + room
	};
}
function described(values, changes) {
	const last = values.at(-1);
	if (last === void 0) return "no night";
	const off = formatChange(last / median([...values]) - 1);
	const steps = changes.length === 1 ? "1 change" : `${changes.length} changes`;
	return `${values.length} nights, ${steps}, the last ${off} off their median`;
}

// src/report/annotations.ts
const mostAnnotations = 20;
/** Made of the lines of compilers, `git apply` and rule parsers, which begin with a file's path and a line's number. */
function annotationsOf({ outcome, variants }) {
	if (!("message" in outcome)) return [];
	const patched = variants.find(({ name }) => name === "patched");
	return outcome.message.split("\n").flatMap((line) => annotation(line, patched) ?? []).slice(0, mostAnnotations);
}
/** `/usr/src/sys/netinet/ip.c:12:3: error: …`, `error: patch failed: sys/netinet/ip.c:12`, `nftables.conf:3:1: Error: …`. */
function annotation(line, patched) {
	const text = line.replace(/[\p{Cc}\p{Cf}]+/gu, " ").trim();
	const [, ofGit, found = "", digits] = /^(error: patch failed: )?([\w./+-]{1,300}):(\d{1,7})(?::|$|\s)/.exec(text) ?? [];
	if (digits === void 0 || !/error/i.test(text)) return void 0;
	const path = ofGit === void 0 ? pathOf(found, patched) : found;
	if (path === void 0 || !isPlain(path)) return void 0;
	const number = Math.max(1, Number(digits));
	return {
		path,
		start_line: number,
		end_line: number,
		annotation_level: "failure",
		message: text.slice(0, 1e3).replace(/\p{Cs}/gu, "")
	};
}
/** Undefined for what is no file of the repository: GitHub would show such a line nowhere. */
function pathOf(found, patched) {
	if (patched?.folder === void 0) return kernelPath(found);
	const file = patched.files.find(({ path }) => path === found);
	return file && [patched.folder, file.path].filter(Boolean).join("/");
}
/**
* A builder's tree lies anywhere, and its kernel's sources in `sys/` of it, whose modules name them by way of their own
* folder. What a build makes lies in folders like `obj/usr/src/amd64.amd64/sys/GENERIC`; where that is
* `sys/amd64/compile/GENERIC`, `../../..` is `sys`.
*/
function kernelPath(found) {
	const [, before = "", source] = /^(|.*?\/)(sys\/.+)$/.exec(found.replace(/^(?:\.\.\/){3}(?!\.\.\/)/, "sys/")) ?? [];
	if (source === void 0 || objectFolder.test(before)) return void 0;
	const path = posix.normalize(source);
	return path.startsWith("sys/") ? path : void 0;
}
const objectFolder = /(?:^|\/)(?:obj\/|(?:amd64|arm|arm64|i386|powerpc|riscv)\.\w+\/$)/;
/** Whoever wrote it: a compiler says what a patch has it say, and a result may come from a job that lies. */
const isPlain = (path) => path.length <= 500 && /^(?:[^\p{C}/\\]+\/)*[^\p{C}/\\]+$/u.test(path) && path.split("/").every((part) => /[^.]/.test(part));

// src/report/remarkup.ts
/** Most bytes in UTF-8. Phabricator takes more, and sends it to everybody by mail. */
const mostBytes = 1e5;
/** Renders at most 100 kB: what does not fit is left out from the end, ministat first, and said. */
function renderRemarkup(result, links = {}) {
	const { patch } = result;
	const { symbol, text } = sentence(result, remarkupText);
	const name = patch.kind === "revision" ? `diff ${patch.diff}` : patchName(patch);
	const verdict = `**${symbol} ppsgate: ${remarkupText(name)} ${text}**`;
	const parts = sectionsOf(result, remarkup, plain).map((section, index, all) => sectionText(section, result, all[index - 1]));
	return within([
		verdict,
		...mainParts(result, links),
		setting(result, remarkup)
	], parts, links);
}
/** Symbol and text are of our own making, like `⚪` and `not measured: cancelled`; `said` is the sentence behind it. */
function renderRemarkupFailure({ symbol, text, said }, links = {}) {
	return within([`**${remarkupWords(symbol)} ppsgate: ${remarkupWords(text)}**`, remarkupBlock("what was said", said, 20)], [], links);
}
function mainParts(result, links) {
	const { outcome } = result;
	switch (outcome.kind) {
		case "judged": return judged(result, outcome.cells, links);
		case "unchanged": return meaning(result, links);
		default: return [
			failureText(outcome, remarkup),
			remarkupBlock("what was said", failureSaid(outcome), 20),
			nextLine(result, links)
		];
	}
}
const meaning = (result, links) => [meaningOf(result), nextLine(result, links)].filter((line) => line !== void 0);
function judged(result, cells, links) {
	const { policy } = result;
	const invalid = invalidLines(cells, remarkup).map((line) => `- ${line}`);
	return [
		...meaning(result, links),
		table$1(policy, cells, policy.metric),
		...invalid.length > 0 ? [invalid.join("\n")] : [],
		...whyLines(cells, remarkup, (cell) => flamegraphsText(cell, links, link)),
		...plot$1(links),
		rule(policy)
	];
}
const nextLine = (result, { goOn }) => `**What now:** ${nextStep(result, goOn && remarkupText(goOn))}`;
/**
* The worst cells first when there is no room for all. A phone has room for four narrow columns: a cell and its verdict
* share one, and so do base and patched. Colons for alignment would make the heads plain cells.
*/
function table$1(policy, cells, metric) {
	const columns = cellColumns(policy, metric).map(({ head }) => head);
	const heads = [metric === policy.metric ? "cell and verdict" : "cell", ...narrowed(columns.slice(-4))];
	return [
		tableRow(heads),
		tableRow(heads.map(() => "---")),
		...rowsThatFit(cells, (cell) => cellRows(cell, metric, policy, bold).map(rowText$1).join("\n"))
	].join("\n");
}
/** Change, base, patched and runs, with base and patched as one. */
function narrowed([change = "", base = "", patched = "", runs = ""]) {
	const isNothing = base === "–" && patched === "–";
	const counts = runs.replace("\xA0of", " of");
	return [
		change,
		isNothing ? "–" : `${base} → ${patched}`,
		counts
	];
}
const bold = (text) => `**${text}**`;
function rowText$1(row) {
	const name = row.kind === "variant" ? `↳ ${remarkupCell(row.variant)}` : remarkupCell(cellName(row.result.cell));
	return tableRow([[name, ...verdictTexts(row)].join(" "), ...narrowed(row.numbers)]);
}
const tableRow = (columns) => `| ${columns.join(" | ")} |`;
const plot$1 = ({ image }) => image === void 0 ? [] : [`{${image}, size=full, alt=the changes of all cells and their intervals}`];
function patchLine({ patch }) {
	const diff = patch.kind === "revision" ? ` diff ${patch.diff}` : "";
	return `patch: ${patchName(patch)}${diff}, ${plainLine(patch.title)}, by ${plainLine(patch.author)}`;
}
/** In blocks that scroll, but for what no reader may miss and for tables; a block of code does not break lines. */
function sectionText(section, result, previous) {
	switch (section.kind) {
		case "other-metric": {
			const { metric, cells } = section;
			return `By ${otherMetricTitle(metric)}:\n\n${table$1(result.policy, cells, metric)}`;
		}
		case "environment": return scrolled("environment", [patchLine(result), ...section.lines]);
		case "reading": {
			const sentences = section.paragraphs.flatMap((text) => text.split(/(?<=[.;]) /));
			const meanings = section.meanings.map(([verdict, meaning]) => `${verdict}: ${meaning}`);
			return scrolled("how to read this", [...sentences, ...meanings]);
		}
		case "why": return scrolled("why", section.cells.flatMap(whyOfCell));
		default: return commonSection(section, previous);
	}
}
/** A section that a report of anything may have. */
function commonSection(section, previous) {
	switch (section.kind) {
		case "notice": return [section.title, ...section.lines.map((line) => `- ${line}`)].join("\n");
		case "lines": return scrolled(section.title, section.lines);
		case "ministat": {
			const { name, note, text } = section;
			const block = remarkupBlock(name, text);
			const isSaid = previous?.kind === "ministat" && previous.note === note;
			return note === void 0 || isSaid ? block : `${note}\n\n${block}`;
		}
	}
}
/** All functions that moved. */
const whyOfCell = (cell) => [`${cellName(cell.cell)}: ${groundsText(cell, plain)}`, ...(cell.reason?.movers ?? []).map((mover) => {
	const module = mover.module === void 0 ? "" : ` (${plain.code(mover.module, 80)})`;
	return `  ${functionName(mover, plain)}${module} ${changeText$1(mover)}`;
})];
const scrolled = (name, lines) => remarkupBlock(name, lines.join("\n"), 8);
/** At most what a comment may have, with what is told below it. */
function within(main, parts, links) {
	const { rerun, details, history, page } = links;
	const end = [
		rerun && `Rerun: ${remarkupText(rerun)}`,
		page && link("the whole report", page),
		details && link("details", details),
		history && link("history", history)
	].filter(Boolean);
	const sizeOf = (text) => Buffer.byteLength(text);
	return fitted(main, parts, end.join(" · "), {
		most: mostBytes,
		sizeOf
	});
}
/** The address in code where it is none of a page. */
function link(text, address) {
	const url = pageUrl(address);
	return url === void 0 ? remarkupText(address) : `[[ ${url} | ${text} ]]`;
}

// src/report/bisect-remarkup.ts
/** Renders at most 100 kB: what does not fit is left out from the end, and said. */
function renderBisectRemarkup(result, links = {}) {
	const why = isProfiled(result) ? [scrolled("why", whyOfCell(result))] : [];
	return within([
		bold(`${bisectSymbol(result)} ppsgate: ${remarkupIds(bisectHeadline(result))}`),
		searchedText(result, remarkup),
		bisectNextSteps(result, links.ways).map((step) => `- ${remarkupIds(step)}`).join("\n"),
		table(result),
		...whyLine(result, links),
		...plot(result, links),
		settingOf(result, remarkup)
	], [...bisectSections(result, remarkup, plain).map((one) => commonSection(one)), ...why], links);
}
/** Ids of commits in a text of our own stand in code, as far as they do not already. */
const remarkupIds = (text) => text.split("`").map((part, index) => index % 2 === 1 ? remarkupText(part) : part.replace(/\b[0-9a-f]{12,64}\b/g, (id) => remarkupText(id))).join("");
/** A phone has room for four narrow columns: what a commit is and what came of it share one. */
const table = (result) => [
	tableRow([
		"commit and outcome",
		result.isShared ? "runs" : "boots",
		"median",
		"P"
	]),
	tableRow([
		"---",
		"---",
		"---",
		"---"
	]),
	...bisectRows(result).map(rowText)
].join("\n");
function rowText(row) {
	if (row.kind === "folded") return tableRow([
		row.text,
		"–",
		"–",
		"–"
	]);
	const { place, commit, subject, isFurther, fixUps, cells } = row;
	const id = remarkupCell(commit);
	const what = isFurther ? ["↳"] : [
		place,
		row.isNamed ? bold(id) : id,
		remarkupCell(plainLine(subject, 72))
	];
	const on = fixUps.length > 0 ? ["with", ...fixUps.map((one) => remarkupCell(one))] : [];
	const against = cells.againstGood === "–" ? "" : ` (${cells.againstGood})`;
	const first = [
		...what,
		...on,
		"–",
		cells.outcome
	].filter(Boolean).join(" ");
	return tableRow([
		first,
		cells.boots,
		`${cells.median}${against}`,
		cells.p
	]);
}
/** Nothing where nothing was profiled. */
function whyLine(result, links) {
	if (!isProfiled(result)) return [];
	return [[`**Why**: ${reasonText(result, remarkup)}`, flamegraphsText(result, links, link)].filter(Boolean).join(" · ")];
}
const plot = (result, { image }) => image === void 0 ? [] : [`{${image}, size=full, alt=${bisectPlotAlt(result)}}`];

// src/report/png.ts
/**
* Draws two pixels for each of the picture's, for dense screens; the same bytes for the same picture. Throws for what
* is no SVG.
*/
async function pngOf(svg) {
	loading ??= load();
	const { Resvg, fontBuffers } = await loading;
	const picture = new Resvg(svg, {
		fitTo: {
			mode: "zoom",
			value: 2
		},
		font: {
			fontBuffers,
			defaultFontFamily: "Open Sans"
		}
	});
	try {
		const image = picture.render();
		const png = image.asPng();
		image.free();
		return png;
	} finally {
		picture.free();
	}
}
/** WebAssembly is initialized once in a process. */
let loading;
async function load() {
	const [{ initWasm, Resvg }, wasm, ...fontBuffers] = await Promise.all([
		import("./vendor/resvg-resvg-wasm.js"),
		readFile(wasmFile),
		...fontFiles.map((file) => readFile(file))
	]);
	await initWasm(isWebAssembly(wasm) ? wasm : brotliDecompressSync(wasm));
	return {
		Resvg,
		fontBuffers
	};
}
const isWebAssembly = (bytes) => bytes.subarray(0, 4).toString() === "\0asm";
const wasmFile = new URL("index_bg.wasm", import.meta.url);
const fontFiles = [new URL("open-sans-latin-400-normal.woff2", import.meta.url), new URL("open-sans-latin-600-normal.woff2", import.meta.url)];

// src/report/junit.ts
/** JUnit XML as the `junit` step of Jenkins reads it; see junit-10.xsd of its xUnit plugin. Times are seconds of traffic. */
function renderJunit(result) {
	const { testbed, startedAt } = result;
	const cases = casesOf(result);
	const count = (ending) => String(cases.filter((one) => one.ending === ending).length);
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
	ending: "skipped",
	type: "unchanged",
	message,
	text: ""
});
function judgedCases({ policy, blasts }, cells) {
	const blastsOf = Map.groupBy(blasts, ({ cell }) => cellName(cell));
	return cells.map((cell) => {
		const name = cellName(cell.cell);
		return {
			name,
			seconds: (blastsOf.get(name) ?? []).reduce((sum, { trafficSeconds }) => sum + trafficSeconds, 0),
			type: cell.verdict.kind,
			...endingOf(cell, policy),
			text: cell.comparisons.map((one) => comparisonText(one, policy)).join("\n")
		};
	});
}
function endingOf(cell, policy) {
	const { verdict, comparisons: [judged] } = cell;
	const margin = formatSigned(marginsOf(policy).loss);
	switch (verdict.kind) {
		case "regression": return {
			ending: "failure",
			message: isSilent(cell) ? silenceOf(cell) : `${judged ? changeText(judged, policy) : "regression"}; ${margin} or more matters`
		};
		case "invalid": return {
			ending: "error",
			message: verdict.reason
		};
		case "inconclusive": return {
			ending: "skipped",
			message: verdict.isStopped ? "not decided: the loss of another cell ended the experiment" : `may ${lossThatMatters(policy)} or not: more runs would tell`
		};
		default: return {
			ending: "passed",
			message: ""
		};
	}
}
/** `packets per second (more is better): base 805.3 kpps, patched 721.5 kpps, −10.4 % (…), 8 + 8 runs`. */
function comparisonText(comparison, policy) {
	const { metric, base, patched, baseRuns, patchedRuns } = comparison;
	const values = `base ${formatMetric(base, metric)}, patched ${formatMetric(patched, metric)}`;
	const runs = `${baseRuns} + ${patchedRuns} runs`;
	return `${metricName(metric)}: ${values}, ${changeText(comparison, policy)}, ${runs}`;
}
const changeText = ({ interval: { change, low, high } }, policy) => `${formatChange(change)} (${formatPercent(policy.confidenceRatio)} interval ${formatInterval(low, high)})`;
/** Nothing was measured, and the one case that there is says why. */
const refusal = (outcome) => ({
	name: outcomeName({ outcome }),
	seconds: 0,
	ending: outcome.kind === "out-of-disk" ? "error" : "failure",
	type: outcome.kind,
	message: rejectionText(outcome),
	text: [
		"scenario" in outcome ? outcome.scenario : "",
		"panic" in outcome ? outcome.panic ?? "" : "",
		outcome.message,
		"console" in outcome ? outcome.console ?? "" : ""
	].filter(Boolean).join("\n")
});
function caseElement({ name, seconds, ending, ...told }, classname) {
	return `${`<testcase${attributes({
		classname,
		name,
		time: seconds.toFixed(3)
	})}>`}${endingElement(ending, told)}</testcase>`;
}
/** Jenkins shows the text of a failure or an error; of what was skipped, only the message. */
function endingElement(ending, { type, message, text }) {
	switch (ending) {
		case "passed": return systemOut(text);
		case "skipped": return `<skipped${attributes({ message })}/>${systemOut(text)}`;
		default: return `<${ending}${attributes({
			message,
			type
		})}>${lines(text)}</${ending}>`;
	}
}
const systemOut = (text) => `<system-out>${lines(text)}</system-out>`;
/** Text of others ends no line but its own. */
const lines = (text) => plainBlock(text).split("\n").map(escaped).join("\n");
const attributes = (all) => Object.entries(all).map(([name, value]) => ` ${name}="${escaped(plainLine(value, 1e3))}"`).join("");

// src/report/write.ts
/**
* Writes `result.json` and `report.md`, and into `report/` the page, JUnit XML, the plot of all intervals as SVG and
* PNG, and a flamegraph of each profile under its anchor's name; each file whole or not at all. What cannot be drawn
* costs that drawing alone, and `leftOut` hears why, in a sentence.
*/
async function writeResult(directory, result, profiles = [], leftOut = () => {}) {
	await replaceFile(join(directory, "result.json"), `${JSON.stringify(result, null, 2)}\n`);
	await replaceFile(join(directory, "report.md"), renderMarkdown(result));
	const report = join(directory, "report");
	await replaceFile(join(report, "junit.xml"), renderJunit(result));
	const drawn = async (name, what, draw) => replaceDrawing(join(report, name), await drawing(what, draw, leftOut));
	await drawn("index.html", "page", () => renderHtml(result, profiles));
	await drawn("intervals.svg", "plot of the intervals", () => intervalPlot(result));
	await drawn("intervals.png", "picture of the intervals", () => intervalsInPixels(result));
	await writeGraphs(report, graphsOf(result, profiles), leftOut);
}
/** Each under its anchor's name. */
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
		leftOut(`The report goes without its ${what} (${reasonOf(error)}).`);
		return;
	}
}
/** What an earlier result has left would be wrong where nothing is drawn. */
const replaceDrawing = (path, content) => content === void 0 ? rm(path, { force: true }) : replaceFile(path, content);
async function intervalsInPixels(result) {
	const plot = intervalPlot(result);
	if (plot === void 0) return void 0;
	return pngOf(plot);
}
/** Writes a file whole or not at all, in a folder that need not be there yet. */
async function replaceFile(path, content) {
	await mkdir(dirname(path), { recursive: true });
	const draft = `${path}.part`;
	await writeFile(draft, content, { flush: true });
	await rename(draft, path);
}

// src/report/read.ts
/** A directory without a result that this version can read. */
var ResultError = class extends Error {
	name = "ResultError";
	upshot = "usage";
};
/** The `result.json` of a gate's work directory, checked against its schema. */
const readResult = (directory) => parsedFile(join(directory, "result.json"), resultSchema);
/** The result of a gate or of a bisection: that of a work directory, or a file, with the directory that it is in. */
async function readAnyResult(path) {
	const isFile = (await stat(path).catch(() => void 0))?.isFile() === true;
	const directory = isFile ? dirname(path) : path;
	return {
		directory,
		result: await parsedFile(isFile ? path : join(directory, "result.json"), union([bisectResultSchema, resultSchema]))
	};
}
async function parsedFile(path, schema) {
	const text = await readFile(path, "utf8").catch(() => {
		throw new ResultError(`${path} cannot be read: name the work directory of a gate or a bisection that has finished.`);
	});
	const { success, data } = schema.safeParse(fromJson(text));
	if (success) return data;
	throw new ResultError(`${path} is no result of this version of ppsgate: measure again with this version.`);
}
/**
* A result of a work directory with the profiles that lie there, and what they say of the reason. They tell what a
* patch's kernel had to say of itself: whatever is wrong with them, the result stands without, and `leftOut` hears why.
*/
async function explained(result, directory, leftOut = () => {}) {
	const read = (path) => readFile(join(directory, path), "utf8").catch(ifMissing);
	try {
		const profiles = await readProfiles(result, read, leftOut);
		return {
			result: withReasons(result, profiles),
			profiles
		};
	} catch (error) {
		leftOut(`The report goes without its profiles (${reasonOf(error)}).`);
		return {
			result: withReasons(result, []),
			profiles: []
		};
	}
}
function ifMissing(error) {
	if (error.code !== "ENOENT") throw error;
}

// src/report/bisect-write.ts
/**
* Writes `result.json` and `report.md`, and into `report/` the page, the plot over the commits as `bisect.svg` and
* `bisect.png`, and a flamegraph of each profile; each file whole or not at all. What cannot be drawn costs that drawing
* alone, and `leftOut` hears why, in a sentence.
*/
async function writeBisect(directory, result, profiles = [], leftOut = () => {}) {
	await replaceFile(join(directory, "result.json"), `${JSON.stringify(result, null, 2)}\n`);
	await replaceFile(join(directory, "report.md"), renderBisectMarkdown(result));
	const report = join(directory, "report");
	const drawn = async (name, what, draw) => replaceDrawing(join(report, name), await drawing(what, draw, leftOut));
	await drawn("index.html", "page", () => renderBisectHtml(result, profiles));
	await drawn("bisect.svg", "plot over the commits", () => bisectPlot(result));
	await drawn("bisect.png", "picture over the commits", async () => {
		const plot = bisectPlot(result);
		return plot === void 0 ? void 0 : pngOf(plot);
	});
	await writeGraphs(report, bisectGraphs(result, profiles), leftOut);
}

export { _taggedTemplateLiteral, annotationsOf, badgeOf, badgeVerdicts, bisectGraphs, bisectHeadline, bisectPlot, bisectSymbol, bullets$1 as bullets, colors, drawGraph, explained, fold, graphsOf, headline, html, intervalPlot, invalidLines, outcomeName, pageStyle, pngOf, readAnyResult, readResult, remarkOf, renderBadge, renderBisectHtml, renderBisectMarkdown, renderBisectRemarkup, renderHtml, renderMarkdown, renderRemarkup, renderRemarkupFailure, replaceFile, round, sentence, sparklineSheet, stoppedCells, table$4 as table, unchangedMeaning, verdictLine, worstFirst, writeBisect, writeResult };