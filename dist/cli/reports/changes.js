import { quantile } from "../../vendor/simple-statistics.js";
import { changesRunByRun } from "../../analysis/stats.js";
import { sentence } from "../../model/excerpt.js";
import { median } from "../../analysis/stats/first.js";
import { UsageError, exitCodes, formatChange, grouped } from "../../model/first-plain.js";
import { ratio } from "../../model/first.js";
import { columns } from "../init/plain.js";
import { readSeries } from "../netbenches.js";
import { oneLine, print, printJson } from "../table.js";

// src/cli/reports/changes.ts
const minAllowed = {
	description: "a percentage from 0.1% to 50%",
	holds: (value) => value >= .001 && value <= .5
};
async function run(file, options) {
	const least = ratio(minAllowed).safeParse(options.least);
	if (!least.success) throw new UsageError(`--least: ${sentence(least.error.issues[0]?.message ?? "")}`);
	const minRatio = least.data;
	const found = (await readSeries(file)).map((series) => ({
		series,
		changes: changesOf(series, minRatio)
	}));
	if (options.json) printJson({ changes: found.flatMap(({ changes }) => changes) });
	else for (const one of found) printSeries(one);
	return exitCodes.pass;
}
function changesOf({ name: series, nightlyRuns }, minRatio) {
	const values = nightlyRuns.map(({ value }) => value);
	return lastingChanges(values, changesRunByRun(values, minRatio).map(({ index }) => index), minRatio).map((change) => ({
		series,
		name: nightlyRuns[change.index]?.name ?? "",
		...change
	}));
}
/**
* A change that was found early may shrink as runs are added: removes the smallest until each is at least `minRatio`.
*/
function lastingChanges(values, indexes, minRatio) {
	const changes = indexes.map((index, place) => {
		const before = median(values.slice(indexes[place - 1] ?? 0, index));
		const after = median(values.slice(index, indexes[place + 1]));
		return {
			index,
			before,
			after,
			changeRatio: after / before - 1
		};
	});
	const sizes = changes.map(({ changeRatio }) => Math.abs(changeRatio));
	const smallest = Math.min(...sizes);
	if (!(smallest < minRatio)) return changes;
	const dropped = sizes.indexOf(smallest);
	return lastingChanges(values, indexes.filter((_, place) => place !== dropped), minRatio);
}
function printSeries({ series, changes }) {
	const { name, nightlyRuns, skipped } = series;
	const [first, last] = [nightlyRuns[0], nightlyRuns.at(-1)].map((nightlyRun) => oneLine(nightlyRun?.name ?? ""));
	print(`${oneLine(name)}: ${grouped(nightlyRuns.length)} nightly runs, ${first} to ${last}`);
	print(`  ${sparkline(nightlyRuns.map(({ value }) => value))}`);
	if (skipped.length > 0) print(`  skipped without a value: ${grouped(skipped.length)}, the first ${oneLine(skipped[0] ?? "")}`);
	if (changes.length === 0) print("  no lasting change");
	const rows = changes.map((change) => [
		`  ${oneLine(change.name)}`,
		formatChange(change.changeRatio),
		`${numberText(change.before)} → ${numberText(change.after)}`
	]);
	for (const row of columns(rows)) print(row);
}
const numberText = (value) => grouped(Number(value.toPrecision(6)));
const steps = "▁▂▃▄▅▆▇█";
const maxBars = 72;
/** Draws medians of neighbours if there are too many values; single outliers do not flatten the others. */
function sparkline(values) {
	const nightlyRunsABar = Math.ceil(values.length / maxBars);
	const bars = Array.from({ length: Math.ceil(values.length / nightlyRunsABar) }, (_, bar) => median(values.slice(bar * nightlyRunsABar, (bar + 1) * nightlyRunsABar)));
	const [low = 0, high = 0] = [.02, .98].map((share) => quantile(bars, share));
	const stepOf = (value) => high > low ? Math.floor((value - low) / (high - low) * 8) : 4;
	return bars.map((value) => steps[Math.min(Math.max(stepOf(value), 0), 7)]).join("");
}

export { run };