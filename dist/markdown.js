import { r as frameBytesFor } from "./schema.js";
import { i as cellName } from "./design.js";
import { r as renderMinistat } from "./ministat.js";
import { a as formatInterval, c as formatPps, i as formatDuration, l as grouped, o as formatMetric, r as formatChange, s as formatPercent, t as median, u as metricName } from "./summary.js";
import { t as confidencePercents } from "./student.js";
import { t as patchName } from "./patch.js";

// src/report/escape.ts
/** A code span, cut to `mostCharacters`: no mention, link, reference, markup or line break in it can take effect. */
function codeSpan(text, mostCharacters = 200) {
	const line = cut(withoutControls(text).replace(/\s+/g, " ").trim(), mostCharacters);
	if (line === "") return "";
	const fence = fenceFor(line, 1);
	const padding = line.startsWith("`") || line.endsWith("`") ? " " : "";
	return `${fence}${padding}${line}${padding}${fence}`;
}
/** A fenced code block, shortened in the middle to `mostCharacters`. */
function codeBlock(text, mostCharacters = 4e3) {
	const block = shortened(withoutControls(text).trimEnd(), mostCharacters);
	const fence = fenceFor(block, 3);
	return `${fence}\n${block}\n${fence}`;
}
/** Longer than any run of backticks inside. */
function fenceFor(text, least) {
	const runs = text.match(/`+/g) ?? [];
	return "`".repeat(Math.max(least, ...runs.map((run) => run.length + 1)));
}
/** Control and format characters colour terminals, turn the direction of text or hide it; tabs and line ends stay. */
function withoutControls(text) {
	return text.replace(sequences, "").replace(/(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}]/gu, "");
}
/**
* What a terminal obeys by ECMA-48: control sequences, strings that end, and a character set's choice. Node's own
* stripVTControlCharacters takes hours for a megabyte of strings that do not end; here no part can begin in another.
*/
const sequences = new RegExp([
	"(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]",
	"(?:\\x1b\\]|\\x9d)[^\\x07\\x1b\\x9c\\x9d]*(?:\\x07|\\x1b\\\\|\\x9c)",
	"\\x1b[()#]?[0-9A-PR-TZcf-nq-uy=><~]"
].join("|"), "g");
function shortened(text, mostCharacters) {
	if (text.length <= mostCharacters) return text;
	const half = Math.floor(mostCharacters / 2);
	const left = text.length - 2 * half;
	const [first, last] = [text.slice(0, half), text.slice(-half)].map(withoutHalves);
	return `${first}\n… ${left} characters left out …\n${last}`;
}
function cut(text, mostCharacters) {
	if (text.length <= mostCharacters) return text;
	return `${withoutHalves(text.slice(0, mostCharacters - 1)).trimEnd()}…`;
}
/** A cut may go through a surrogate pair. */
const withoutHalves = (text) => text.replace(/\p{Cs}/gu, "");

// src/report/headline.ts
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
function sentence({ outcome, policy }) {
	if (outcome.kind !== "judged") return rejections[outcome.kind];
	const { cells, verdict } = outcome;
	const margin = formatPercent(policy.marginRatio);
	switch (verdict) {
		case "regression": return {
			symbol: "🔴",
			text: changes("loses", withVerdict(cells, "regression"))
		};
		case "improvement": return {
			symbol: "🟢",
			text: `${changes("gains", withVerdict(cells, "improvement"))}; no regression`
		};
		case "no-regression": return {
			symbol: "🟢",
			text: `loses nothing that matters (less than ${margin})`
		};
		case "inconclusive": return {
			symbol: "🟡",
			text: `may lose ${margin} or not: ${withVerdict(cells, "inconclusive").length} of ${cells.length} cells need more runs`
		};
		case "invalid": return {
			symbol: "⚪",
			text: `was not measured: ${withVerdict(cells, "invalid").length} of ${cells.length} cells are invalid`
		};
	}
}
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
const mostNamed = 3;
/** `loses 10.4 % (forwarding inet4) and 9.1 % (forwarding inet6)`, in packets per second whatever was judged. */
function changes(verb, cells) {
	const named = cells.slice(0, mostNamed).map((cell) => `${speedChange(cell)} (${cellName(cell.cell)})`);
	const rest = cells.length - named.length;
	if (rest > 0) named.push(`${rest} more`);
	const last = named.pop();
	return `${verb} ${[named.join(", "), last].filter(Boolean).join(" and ")}`;
}
/** Half the time per packet is twice the speed. */
function speedChange({ comparisons }) {
	const [comparison] = comparisons;
	if (comparison === void 0) return "an unknown share";
	const { metric, interval } = comparison;
	const ratio = metric === "pps" ? interval.change : 1 / (1 + interval.change) - 1;
	return `${(Math.abs(ratio) * 100).toFixed(1)} %`;
}

// src/stats/outlier.ts
/**
* Runs that count and whose modified z-score, 0.6745 · distance from the median / MAD, is above 3.5 (Iglewicz and
* Hoaglin, How to Detect and Handle Outliers, 1993). Distances are taken on logarithms from the median of the run's
* own variant, their MAD over all variants, without one distance for each: a median of a few runs is mostly one of them,
* at no distance. A variant with fewer than three runs has no run that stands apart.
*/
function runsApart(runs) {
	const counted = runs.filter((run) => run.validity.kind === "valid" && run.pps > 0);
	const variants = Map.groupBy(counted, (run) => run.variant);
	const centers = new Map([...variants].map(([name, group]) => [name, median(group.map(logOf))]));
	const distanceOf = (run) => Math.abs(logOf(run) - (centers.get(run.variant) ?? 0));
	const distances = counted.map(distanceOf).toSorted((a, b) => a - b);
	const deviation = Math.max(median(distances.slice(variants.size)), leastDeviation);
	return counted.filter((run) => (variants.get(run.variant)?.length ?? 0) >= 3 && .6745 * distanceOf(run) > 3.5 * deviation);
}
const logOf = (run) => Math.log(run.pps);
/** Runs that agree to the last packet do not make one that differs by 0.1 % stand apart. */
const leastDeviation = 5e-4;

// src/report/markdown.ts
/** GitHub refuses a comment of more characters; what ours remembers of earlier pushes needs some. */
const mostCharacters = 53248;
/** Renders at most `mostCharacters`: what does not fit is left out from the end, and said. */
function renderMarkdown(result, links = {}) {
	const { outcome } = result;
	const main = outcome.kind === "judged" ? [setting(result), ...verdictTable(result, outcome.cells)] : [setting(result), failure(outcome)];
	const folded = outcome.kind === "judged" ? [
		...movedBaselines(outcome.cells),
		...otherMetrics(result, outcome.cells),
		...uncounted(outcome.cells),
		...standingApart(outcome.cells),
		...warnings(result),
		environment(result),
		howToRead(result),
		...ministatBlocks(result, outcome.cells)
	] : [...warnings(result), environment(result)];
	return fitted([`### ${headline(result)}`, ...main], folded, footer(links));
}
/** Where and how it was measured, on one line. */
function setting(result) {
	const { testbed, traffic, blasts } = result;
	const { cpu, kernel } = testbed.fingerprint;
	const [own, cpuName] = [kernel, cpu].map((text) => text && codeSpan(text));
	const hasKernels = blasts.some((blast) => blast.kernel !== void 0);
	const [measured = hasKernels ? void 0 : own] = kernelsOf(result).get("base") ?? [];
	const hardware = [cpuName, measured].filter((text) => text !== void 0);
	const parts = [codeSpan(testbed.name) + (hardware.length ? ` (${hardware.join(", ")})` : "")];
	if (blasts.length > 0) {
		const sent = blasts.reduce((most, blast) => Math.max(most, blast.offeredPps), 0);
		const asked = traffic.offeredPps === void 0 ? "" : `${formatPps(traffic.offeredPps)} asked for, `;
		const seconds = (Date.parse(result.finishedAt) - Date.parse(result.startedAt)) / 1e3;
		parts.push(`${grouped(traffic.flows)} flows of ${frameSizes(result)} UDP, ${asked}up to ${formatPps(sent)} sent`, `${formatDuration(seconds)}`);
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
function verdictTable(result, cells) {
	const { metric, marginRatio, falseAlarmRatio } = result.policy;
	return [`Judged by ${metricName(metric)} · a loss of ${formatPercent(marginRatio)} or more matters · false alarms ≤ ${formatPercent(falseAlarmRatio)}`, table(result, cells, metric)];
}
/** The worst cells first when there is no room for all. */
function table(result, cells, metric) {
	const confidence = formatPercent(result.policy.confidenceRatio);
	const judged = metric === result.policy.metric;
	const columns = [
		"cell",
		"base",
		"patched",
		"change",
		`${confidence} interval`,
		"runs"
	];
	const header = judged ? [`| ${columns.join(" | ")} | verdict |`, "|---|--:|--:|--:|:-:|--:|---|"] : [`| ${columns.join(" | ")} |`, "|---|--:|--:|--:|:-:|--:|"];
	const rowsOf = (all) => fittingRows(all, (cell) => row(cell, metric, judged));
	const inOrder = rowsOf(cells);
	const rows = inOrder.length === cells.length ? inOrder : rowsOf(worstFirst(cells));
	const rest = cells.length - rows.length;
	if (rest > 0) rows.push("", `${rest} more cells, none of them worse, are in \`result.json\`.`);
	return [...header, ...rows].join("\n");
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
const severity = [
	"regression",
	"invalid",
	"inconclusive",
	"improvement",
	"no-regression"
];
const worstFirst = (cells) => cells.toSorted((a, b) => severity.indexOf(a.verdict.kind) - severity.indexOf(b.verdict.kind));
/** The symbol stands first, and numbers keep to one line: on a phone the last columns are out of sight. */
function row({ cell, verdict, comparisons }, metric, judged) {
	const unbroken = numbers(comparisons.find((one) => one.metric === metric) ?? (judged ? comparisons[0] : void 0)).map((text) => text.replaceAll(" ", "\xA0"));
	return `| ${(judged ? [
		`${symbols[verdict.kind]} ${cellName(cell)}`,
		...unbroken,
		verdictText(verdict)
	] : [cellName(cell), ...unbroken]).map((column) => column.replaceAll("|", "\\|")).join(" | ")} |`;
}
function numbers(comparison) {
	if (comparison === void 0) return [
		"–",
		"–",
		"–",
		"–",
		"–"
	];
	const { metric, base, patched, interval, baseRuns, patchedRuns } = comparison;
	const clear = interval.low > 0 || interval.high < 0;
	const change = formatChange(interval.change);
	return [
		formatMetric(base, metric),
		formatMetric(patched, metric),
		clear ? `**${change}**` : change,
		formatInterval(interval.low, interval.high),
		`${baseRuns} + ${patchedRuns}`
	];
}
const symbols = {
	regression: "🔴",
	improvement: "🟢",
	"no-regression": "🟢",
	inconclusive: "🟡",
	invalid: "⚪"
};
function verdictText(verdict) {
	const reason = verdict.kind === "invalid" ? `: ${codeSpan(verdict.reason, 200)}` : "";
	return `${verdict.kind}${reason}`;
}
function failure(outcome) {
	const panic = "panic" in outcome && outcome.panic !== void 0 ? `panic: ${outcome.panic}` : "";
	const said = [outcome.message, panic].filter(Boolean).join("\n");
	return `${failureText(outcome)}\n\n${codeBlock(said)}`;
}
function failureText(outcome) {
	switch (outcome.kind) {
		case "does-not-apply": return "The patch does not apply, and nothing was measured:";
		case "build-failed": return "The base builds, the patched kernel does not; nothing was measured. The build says first:";
		case "out-of-disk": return "The patch is not to blame; free some space and run again:";
		case "does-not-load": return `The base loads, the patched files do not (${outcome.scenario}); nothing was measured. The DUT says:`;
		case "boot-failed": return "The patched kernel does not come up, and nothing was measured with it. The DUT is back on its own kernel:";
		case "panics-under-load": return "The patched kernel panicked twice in the same blast, and no verdict was reached. The DUT is back on its own kernel:";
	}
}
function otherMetrics(result, cells) {
	const metric = result.policy.metric === "pps" ? "nsPerPacket" : "pps";
	return cells.some((cell) => cell.comparisons.some((one) => one.metric === metric)) ? [details(metricName(metric), table(result, cells, metric))] : [];
}
/** One fold a cell, so that each can be left out alone. */
function ministatBlocks(result, cells) {
	const { metric, confidenceRatio } = result.policy;
	return cells.flatMap((cell) => {
		const base = valuesOf(cell, "base", metric);
		const patched = valuesOf(cell, "patched", metric);
		if (base.length < 3 || patched.length < 3) return [];
		const sets = [{
			name: `base, ${cellName(cell.cell)}`,
			values: base
		}, {
			name: `patched, ${cellName(cell.cell)}`,
			values: patched
		}];
		const options = {
			separateBars: true,
			confidencePercent: ministatConfidence(confidenceRatio)
		};
		const block = codeBlock(renderMinistat(sets, options), 6e3);
		return [details(`ministat: ${cellName(cell.cell)}`, `${ministatNote(cell)}\n\n${block}`)];
	});
}
/** What tells the classic block from the table above it. */
function ministatNote({ design }) {
	return `ministat takes the runs to be independent${design.name === "fixed" ? "" : " and to be as many as were planned, so its error is too small where the experiment stopped early"}${design.method === "paired" ? ", while the table compares neighbouring runs, so that what slows both alike cancels" : ""}.`;
}
function valuesOf(cell, variant, metric) {
	const counted = cell.runs.filter((run) => run.variant === variant && run.validity.kind === "valid");
	return Float64Array.from(counted.flatMap((run) => run[metric] ?? []));
}
const ministatConfidence = (ratio) => confidencePercents.find((percent) => Math.abs(percent / 100 - ratio) < 1e-9) ?? 95;
/** Runs that were measured and do not count, by cause. */
function uncounted(cells) {
	const lines = cells.flatMap(({ cell, runs }) => {
		const faults = runs.flatMap(({ validity }) => validity.kind === "invalid" ? validity : []);
		return [...Map.groupBy(faults, ({ cause }) => cause).values()].map((group) => {
			const [first, ...others] = group.map(({ reason }) => reason);
			const like = others.some((reason) => reason !== first) ? "the first of them: " : "";
			const count = `${group.length} of ${runs.length} runs`;
			return `- ${cellName(cell)}: ${count}, ${like}${codeSpan(first ?? "")}`;
		});
	});
	return lines.length > 0 ? [details("runs that do not count", lines.join("\n"))] : [];
}
/** Single runs far from the others: they count, and each was repeated once. */
function standingApart(cells) {
	const lines = cells.flatMap(({ cell, design, runs }) => (design.method === "pooled" ? runsApart(runs) : []).map(({ number, variant, pps }) => `- ${cellName(cell)}: run ${number} of ${codeSpan(variant)}, ${formatPps(pps)}`));
	return lines.length > 0 ? [details("runs that stand apart, and count", lines.join("\n"))] : [];
}
/** Not the patch's doing: whoever looks after the testbed or the branch wants to know. */
function movedBaselines(cells) {
	const lines = cells.flatMap(({ cell, baseline }) => {
		if (baseline.kind !== "moved") return [];
		const { change, low, high } = baseline.interval;
		return `- ${cellName(cell)}: ${formatChange(change)} against its history (99 % interval ${formatInterval(low, high)})`;
	});
	if (lines.length === 0) return [];
	return [["⚠️ **baseline moved**, which is not held against the patch:", ...lines].join("\n")];
}
function environment(result) {
	const { patch, variants, testbed, seed, generator } = result;
	const kernels = kernelsOf(result);
	const lines = [
		`patch: ${codeSpan(patch.title)} by ${codeSpan(patch.author)}`,
		...variants.map(({ name, commit }) => [`${codeSpan(name)}: commit ${codeSpan(commit)}`, ...kernels.get(name) ?? []].join(", ")),
		...Object.entries(testbed.fingerprint).map(([key, value]) => `${codeSpan(key)}: ${codeSpan(value)}`),
		`order of runs: seed ${seed}`,
		`${generator.name} ${codeSpan(generator.version)}`
	];
	return details("environment", lines.map((line) => `- ${line}`).join("\n"));
}
/** What ran where variants are kernels of their own, which a report had better not get wrong. */
function kernelsOf({ blasts, outcome }) {
	const runs = outcome.kind === "judged" ? outcome.cells.flatMap((cell) => cell.runs) : [];
	const variantOf = new Map(runs.map((run) => [run.blast, run.variant]));
	const found = blasts.flatMap(({ number, kernel }) => kernel === void 0 ? [] : {
		variant: variantOf.get(number) ?? "",
		kernel
	});
	return new Map([...Map.groupBy(found, ({ variant }) => variant)].map(([variant, group]) => [variant, [...new Set(group.map(({ kernel }) => codeSpan(kernel)))]]));
}
function warnings({ testbed }) {
	if (testbed.warnings.length === 0) return [];
	const lines = testbed.warnings.map((warning) => `- ${codeSpan(warning, 300)}`);
	return [details("settings of the DUT that do not hold", lines.join("\n"))];
}
function howToRead(result) {
	const { marginRatio, confidenceRatio, falseAlarmRatio, missRatio } = result.policy;
	const margin = formatPercent(marginRatio);
	return details("how to read this", [
		`Runs of base and patched alternate, and each cell ends as soon as its runs tell. The interval holds the true change in ${formatPercent(confidenceRatio)} of experiments or more, wherever they end; patched is base with the change. Of patches that lose nothing at most ${formatPercent(falseAlarmRatio)} are called a regression in any cell, and of cells that lose ${margin} at most ${formatPercent(missRatio)} are passed.`,
		"",
		`- **regression**: surely a loss, and ${margin} is not excluded`,
		"- **improvement**: the mirror image",
		`- **no-regression**: a loss of ${margin} is excluded`,
		"- **inconclusive**: neither; more runs would tell, with `ppsgate gate --resume DIR --max-runs N`",
		"- **invalid**: too few runs count, so nothing is said"
	].join("\n"));
}
function footer({ rerun, rawData }) {
	const parts = [rerun && `Rerun: ${rerun}`, rawData && `Raw data: ${rawData}`].filter(Boolean);
	return parts.length > 0 ? `<sub>${parts.join(" · ")}</sub>` : "";
}
const details = (summary, body) => `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`;
/** Keeps what fits of the folded parts, in their order, and says how many there was no room for. */
function fitted(main, folded, end) {
	const kept = [];
	let room = mostCharacters - [...main, end].join("\n\n").length - 200;
	for (const part of folded) {
		if (part.length + 2 > room) continue;
		room -= part.length + 2;
		kept.push(part);
	}
	const missing = folded.length - kept.length;
	const notice = missing > 0 ? [`${missing} more parts are in the full report beside \`result.json\`.`] : [];
	return `${[
		...main,
		...kept,
		...notice,
		end
	].filter(Boolean).join("\n\n")}\n`;
}

export { outcomeName as a, codeSpan as c, headline as i, renderMarkdown as n, verdictLine as o, runsApart as r, codeBlock as s, mostCharacters as t };