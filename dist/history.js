import { c as mean, m as sumNthPowerDeviations } from "./student.js";
import { t as datetime } from "./iso.js";
import { C as object, E as string, S as number, g as boolean, m as array, n as cellSchema, t as cellName, y as int } from "./scenario.js";
import { t as median } from "./summary.js";
import { dirname } from "node:path";
import { appendFile, mkdir, readFile } from "node:fs/promises";

// src/experiment/history.ts
const rates = array(number().positive());
const historyEntrySchema = object({
	/** When the experiment began. An experiment that was extended writes again, and its last line counts. */
	at: datetime(),
	testbed: string(),
	cell: cellSchema,
	traffic: object({
		flows: int(),
		frameBytes: int(),
		offeredPps: number().optional()
	}),
	/** The commit of the base. */
	commit: string(),
	/** One number a blast, in the order in which they were measured. */
	pps: rates,
	nsPerPacket: rates,
	/** The base had moved against what was known before. */
	moved: boolean()
});
/** A history that cannot be used: nothing is measured until it is mended. */
var HistoryError = class extends Error {
	name = "HistoryError";
};
/** The history at `path`, which need not exist yet; `read` throws a `HistoryError` that names the first bad line. */
function historyFile(path) {
	return {
		async read() {
			return (await readFile(path, "utf8").catch(ifMissing(path))).split("\n").flatMap((line, index) => line ? parseLine(line, path, index) : []);
		},
		async append(entries) {
			if (entries.length === 0) return;
			await mkdir(dirname(path), { recursive: true });
			await appendFile(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
		}
	};
}
const ifMissing = (path) => (error) => {
	if (error.code === "ENOENT") return "";
	throw new HistoryError(`The history ${path} cannot be read (${error.code}).`);
};
function parseLine(line, path, index) {
	try {
		return historyEntrySchema.parse(JSON.parse(line));
	} catch {
		throw new HistoryError(`${path}:${index + 1} is no line of a history of runs: remove the line, or name another file.`);
	}
}
/** What claims to be of a later experiment is not learnt from: no honest one could ever be newer. */
const earlierEntries = (entries, now) => entries.filter(({ at }) => Date.parse(at) <= now.getTime());
/**
* What the latest thirty or so runs of a cell's base tell, under the same traffic on the same testbed. Its noise is
* the spread within experiments, so that a base which moved between them does not look noisy.
*/
function historyOf(entries, { testbed, cell, traffic, metric }) {
	const own = entries.filter((entry) => entry.testbed === testbed && cellName(entry.cell) === cellName(cell) && isSame(entry.traffic, traffic) && entry[metric].length > 0);
	const latest = newest([...new Map(own.map((entry) => [entry.at, entry])).values()], metric);
	const logs = latest.map((entry) => entry[metric].map(Math.log));
	const lastMove = latest.findLastIndex((entry) => entry.moved);
	const sinceMove = logs.slice(Math.max(0, lastMove)).flat();
	if (sinceMove.length === 0) return void 0;
	return {
		runs: logs.flat().length,
		typical: Math.exp(mean(sinceMove)),
		typicalRuns: sinceMove.length,
		sumOfSquares: logs.reduce((sum, set) => sum + sumNthPowerDeviations(set, 2), 0),
		degreesOfFreedom: logs.flat().length - logs.length
	};
}
const enoughRuns = 30;
function newest(entries, metric) {
	const byAge = entries.toSorted((a, b) => a.at.localeCompare(b.at));
	let runs = 0;
	const first = byAge.findLastIndex((entry) => {
		runs += entry[metric].length;
		return runs >= enoughRuns;
	});
	return byAge.slice(Math.max(0, first));
}
const isSame = (a, b) => a.flows === b.flows && a.frameBytes === b.frameBytes && a.offeredPps === b.offeredPps;
/** One number a blast of the runs of base that count: the median of those that share it. */
function baseNumbers(runs, metric) {
	const counted = runs.filter((run) => run.variant === "base" && run.validity.kind === "valid" && run.pps > 0);
	return [...Map.groupBy(counted, (run) => `${run.blast}.${run.attempt}`).values()].flatMap((group) => {
		const values = group.flatMap((run) => run[metric] ?? []);
		return values.length > 0 ? [median(values)] : [];
	});
}
/** What a result adds to the history: a line for each cell of which some run of base counts. */
function historyEntries(result) {
	const { startedAt: at, testbed, variants, outcome } = result;
	if (outcome.kind !== "judged") return [];
	const { measureSeconds: _, ...traffic } = result.traffic;
	const commit = variants.find((variant) => variant.name === "base")?.commit ?? "";
	return outcome.cells.flatMap(({ cell, runs, baseline }) => {
		const pps = baseNumbers(runs, "pps");
		if (pps.length === 0) return [];
		return {
			at,
			testbed: testbed.name,
			cell,
			traffic,
			commit,
			pps,
			nsPerPacket: baseNumbers(runs, "nsPerPacket"),
			moved: baseline.kind === "moved"
		};
	});
}

export { historyFile as a, historyEntrySchema as i, earlierEntries as n, historyOf as o, historyEntries as r, baseNumbers as t };