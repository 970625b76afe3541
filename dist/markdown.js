import { r as cellName, t as patchName } from "./patch.js";
import { r as renderMinistat } from "./ministat.js";
import { t as confidencePercents } from "./student.js";
import { stripVTControlCharacters } from "node:util";

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
	return stripVTControlCharacters(text).replace(/(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}]/gu, "");
}
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

// src/report/format.ts
/** `4.982 Mpps`, `805.3 kpps`. */
function formatPps(pps) {
	if (pps >= 1e6) return `${fourDigits(pps / 1e6)} Mpps`;
	return pps >= 1e3 ? `${fourDigits(pps / 1e3)} kpps` : `${fourDigits(pps)} pps`;
}
/** `1,057 ns`. */
const formatNanoseconds = (ns) => `${grouped(Number(ns.toPrecision(4)))} ns`;
const formatMetric = (value, metric) => metric === "pps" ? formatPps(value) : formatNanoseconds(value);
/** What a metric is called, and which way is better. */
const metricName = (metric) => metric === "pps" ? "packets per second (more is better)" : "CPU time per packet (less is better)";
/** A ratio as a signed percentage with three digits: `+8.33 %`, `−26.4 %`. */
const formatChange = (ratio) => `${signedPercent(ratio)} %`;
/** `+6.79 … +9.86`, in percent. */
const formatInterval = (low, high) => `${signedPercent(low)} … ${signedPercent(high)}`;
/** `2 %`. */
const formatPercent = (ratio) => `${Number((ratio * 100).toPrecision(3))} %`;
/** `2,000`. */
const grouped = (value) => value.toLocaleString("en-US");
/** `41 s`, `2 min 5 s`. */
function formatDuration(seconds) {
	const whole = Math.round(seconds);
	return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
function signedPercent(ratio) {
	const percent = Math.abs(ratio * 100);
	const digits = percent < 10 ? 2 : percent < 100 ? 1 : 0;
	const shown = percent.toFixed(digits);
	if (Number(shown) === 0) return `±${shown}`;
	return `${ratio < 0 ? "−" : "+"}${shown}`;
}
function fourDigits(value) {
	if (value === 0) return "0";
	return value < 1e3 ? value.toPrecision(4) : value.toFixed(0);
}

// src/report/headline.ts
/** `🔴 ppsgate: #7 loses 10.4 % (forwarding inet4)`; plain text of our own making, without markup. */
function headline(result) {
	const { symbol, text } = sentence(result);
	return `${symbol} ppsgate: ${patchName(result.patch)} ${text}`;
}
function sentence({ outcome, policy }) {
	if (outcome.kind === "does-not-load") return {
		symbol: "🔴",
		text: "does not load"
	};
	if (outcome.kind === "does-not-apply") return {
		symbol: "🔴",
		text: "does not apply"
	};
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

// src/report/markdown.ts
/** GitHub refuses a comment of more characters; the marker in front of ours needs some. */
const mostCharacters = 65024;
/** Renders at most `mostCharacters`: what does not fit is left out from the end, and said. */
function renderMarkdown(result, links = {}) {
	const { outcome } = result;
	const main = outcome.kind === "judged" ? [setting(result), ...verdictTable(result, outcome.cells)] : [setting(result), failure(outcome)];
	const folded = outcome.kind === "judged" ? [
		...otherMetrics(result, outcome.cells),
		...uncounted(outcome.cells),
		environment(result),
		howToRead(result),
		...ministatBlocks(result, outcome.cells)
	] : [environment(result)];
	return fitted([`### ${headline(result)}`, ...main], folded, footer(links));
}
/** Where and how it was measured, on one line. */
function setting(result) {
	const { testbed, traffic, blasts } = result;
	const { cpu, kernel } = testbed.fingerprint;
	const hardware = [cpu, kernel].filter((text) => text !== void 0).map((text) => codeSpan(text));
	const parts = [codeSpan(testbed.name) + (hardware.length ? ` (${hardware.join(", ")})` : "")];
	if (blasts.length > 0) {
		const sent = blasts.reduce((most, blast) => Math.max(most, blast.offeredPps), 0);
		const seconds = (Date.parse(result.finishedAt) - Date.parse(result.startedAt)) / 1e3;
		parts.push(`${grouped(traffic.flows)} flows of ${traffic.frameBytes}-byte UDP, ${formatPps(traffic.offeredPps)} asked for, up to ${formatPps(sent)} sent`, `${formatDuration(seconds)}`);
	}
	return parts.join(" · ");
}
function verdictTable(result, cells) {
	const { metric, marginRatio, runsPerVariant } = result.policy;
	return [`Judged by ${metricName(metric)}, ${runsPerVariant} runs of each variant and cell; a loss of ${formatPercent(marginRatio)} or more matters.`, table(result, cells, metric)];
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
		`${confidence} interval`
	];
	const header = judged ? [`| ${columns.join(" | ")} | verdict |`, "|---|--:|--:|--:|:-:|---|"] : [`| ${columns.join(" | ")} |`, "|---|--:|--:|--:|:-:|"];
	const shown = cells.length <= mostRows ? cells : worstFirst(cells).slice(0, mostRows);
	const rows = shown.map((cell) => row(cell, metric, judged));
	const rest = cells.length - shown.length;
	if (rest > 0) rows.push("", `${rest} more cells, none of them worse, are in \`result.json\`.`);
	return [...header, ...rows].join("\n");
}
const mostRows = 100;
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
		"–"
	];
	const { metric, base, patched, interval } = comparison;
	const clear = interval.low > 0 || interval.high < 0;
	const change = formatChange(interval.change);
	return [
		formatMetric(base, metric),
		formatMetric(patched, metric),
		clear ? `**${change}**` : change,
		formatInterval(interval.low, interval.high)
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
	const reason = verdict.kind === "invalid" ? `: ${codeSpan(verdict.reason, 120)}` : "";
	return `${verdict.kind}${reason}`;
}
function failure(outcome) {
	return `${outcome.kind === "does-not-load" ? `The base loads, the patched files do not (${outcome.scenario}); nothing was measured. The DUT says:` : "The patch does not apply, and nothing was measured:"}\n\n${codeBlock(outcome.message)}`;
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
		const note = "ministat takes all runs as independent; the table compares neighbouring runs, so that what slows both alike cancels.";
		const block = codeBlock(renderMinistat(sets, options), 6e3);
		return [details(`ministat: ${cellName(cell.cell)}`, `${note}\n\n${block}`)];
	});
}
function valuesOf(cell, variant, metric) {
	const counted = cell.runs.filter((run) => run.variant === variant && run.validity.kind === "valid");
	return Float64Array.from(counted.flatMap((run) => run[metric] ?? []));
}
const ministatConfidence = (ratio) => confidencePercents.find((percent) => Math.abs(percent / 100 - ratio) < 1e-9) ?? 95;
/** Runs that were measured and do not count, by reason. */
function uncounted(cells) {
	const lines = cells.flatMap(({ cell, runs }) => {
		const reasons = runs.flatMap(({ validity }) => validity.kind === "invalid" ? validity.reason : []);
		return [...Map.groupBy(reasons, (reason) => reason)].map(([reason, { length }]) => `- ${cellName(cell)}: ${length} of ${runs.length} runs, ${codeSpan(reason)}`);
	});
	return lines.length > 0 ? [details("runs that do not count", lines.join("\n"))] : [];
}
function environment(result) {
	const { patch, variants, testbed, seed, generator } = result;
	const lines = [
		`patch: ${codeSpan(patch.title)} by ${codeSpan(patch.author)}`,
		...variants.map(({ name, commit }) => `${codeSpan(name)}: commit ${codeSpan(commit)}`),
		...Object.entries(testbed.fingerprint).map(([key, value]) => `${codeSpan(key)}: ${codeSpan(value)}`),
		`order of runs: seed ${seed}`,
		`${generator.name} ${codeSpan(generator.version)}`
	];
	return details("environment", lines.map((line) => `- ${line}`).join("\n"));
}
function howToRead(result) {
	const { marginRatio, confidenceRatio } = result.policy;
	const margin = formatPercent(marginRatio);
	return details("how to read this", [
		`Runs of base and patched alternate, and each is compared with its neighbour. The interval, by Wilcoxon's signed-rank test, holds the true change in ${formatPercent(confidenceRatio)} of experiments; patched is base with the change.`,
		"",
		`- **regression**: it lies wholly on the slow side of 0 and does not exclude a loss of ${margin}`,
		"- **improvement**: the mirror image",
		`- **no-regression**: it excludes a loss of ${margin}`,
		"- **inconclusive**: it excludes neither; more runs would tell",
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

export { formatMetric as a, formatDuration as i, renderMarkdown as n, formatPercent as o, headline as r, mostCharacters as t };