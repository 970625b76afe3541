import { n as graphsOf, r as svgOf, t as renderHtml } from "./html.js";
import { n as intervalPlot } from "./interval-plot.js";
import { _ as renderMarkdown } from "./markdown.js";
import { dirname, join } from "node:path";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";

// src/report/write.ts
/**
* Writes `result.json` and `report.md`, and into `report/` the page, the plot of all intervals as SVG and PNG, and a
* flamegraph of each profile under its anchor's name; each file whole or not at all.
*/
async function writeResult(directory, result, profiles = []) {
	await replaceFile(join(directory, "result.json"), `${JSON.stringify(result, null, 2)}\n`);
	await replaceFile(join(directory, "report.md"), renderMarkdown(result));
	const report = join(directory, "report");
	await replaceFile(join(report, "index.html"), renderHtml(result, profiles));
	await writeIntervals(report, result);
	for (const graph of graphsOf(result, profiles)) await replaceFile(join(report, `${graph.anchor}.svg`), svgOf(graph));
}
/** What an earlier result has left would be wrong where nothing is drawn. */
async function writeIntervals(report, result) {
	const svgFile = join(report, "intervals.svg");
	const pngFile = join(report, "intervals.png");
	const plot = intervalPlot(result);
	if (plot === void 0) {
		await rm(svgFile, { force: true });
		await rm(pngFile, { force: true });
		return;
	}
	const { pngOf } = await import("./png.js");
	await replaceFile(svgFile, plot);
	await replaceFile(pngFile, await pngOf(plot));
}
/** Writes a file whole or not at all, in a folder that need not be there yet. */
async function replaceFile(path, content) {
	await mkdir(dirname(path), { recursive: true });
	const draft = `${path}.part`;
	await writeFile(draft, content, { flush: true });
	await rename(draft, path);
}

export { writeResult as n, replaceFile as t };