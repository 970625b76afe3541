import { r as reasonOf } from "./one-line.js";
import { i as graphsOf, r as drawGraph, t as renderHtml } from "./html.js";
import { n as intervalPlot } from "./interval-plot.js";
import { t as cellName } from "./scenario.js";
import { t as escaped } from "./xml.js";
import { c as plainLine, s as plainBlock } from "./variant-name.js";
import { c as formatPercent, f as metricName, o as formatInterval, r as formatChange, s as formatMetric } from "./format.js";
import { B as headline, H as rejectionText, V as outcomeName, g as renderMarkdown } from "./markdown.js";
import { t as pngOf } from "./png.js";
import { dirname, join } from "node:path";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";

// src/report/junit.ts
/** JUnit XML as the `junit` step of Jenkins reads it; see junit-10.xsd of its xUnit plugin. Times are seconds of traffic. */
function renderJunit(result) {
	const { outcome, testbed, startedAt } = result;
	const cases = outcome.kind === "judged" ? judgedCases(result, outcome.cells) : [refusal(outcome)];
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
function endingOf({ verdict, comparisons: [judged] }, policy) {
	const margin = formatPercent(policy.marginRatio);
	switch (verdict.kind) {
		case "regression": return {
			ending: "failure",
			message: `${judged ? changeText(judged, policy) : "regression"}; a loss of ${margin} or more matters`
		};
		case "invalid": return {
			ending: "error",
			message: verdict.reason
		};
		case "inconclusive": return {
			ending: "skipped",
			message: `may lose ${margin} or not: more runs would tell`
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
		outcome.message
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
	for (const graph of graphsOf(result, profiles)) {
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

export { writeResult as n, replaceFile as t };