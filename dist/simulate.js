import { n as uniformInt, t as xoroshiro128plus } from "./xoroshiro128plus.js";
import { c as mean, d as quantileSorted, m as sumNthPowerDeviations } from "./student.js";
import { C as looksOf } from "./schema.js";
import { n as judgeInOrder, o as pooledEvidence, t as standardNormal } from "./normal.js";

// src/stats/simulate.ts
/** Draws runs and judges them as an experiment would; the same request gives the same row. */
function simulate(request) {
	const { noise, historyRuns, rates, cells, marginRatio, effect, experiments, seed } = request;
	const drawCell = cellSource(noise, xoroshiro128plus(seed));
	const design = {
		...request.design,
		method: "pooled",
		pairsPerStep: 1,
		earlierDegreesOfFreedom: Math.max(0, historyRuns - 1)
	};
	const looks = looksOf(design, {
		falseAlarms: rates.falseAlarms / cells,
		misses: rates.misses,
		outside: rates.misses
	});
	const rule = {
		metric: "pps",
		marginRatio
	};
	const verdicts = [];
	const runs = [];
	for (let experiment = 0; experiment < experiments; experiment++) {
		const draw = drawCell();
		const earlier = earlierNoise(take(historyRuns, draw));
		const base = [];
		const patched = [];
		const judgement = judgeInOrder(looks, (pairs) => {
			base.push(...take(pairs - base.length, draw));
			patched.push(...take(pairs - patched.length, draw).map((value) => value * (1 + effect)));
			return pooledEvidence(base, patched, earlier);
		}, rule);
		verdicts.push(judgement?.verdict ?? "inconclusive");
		runs.push(base.length + patched.length);
	}
	return rowOf(verdicts, runs, cells);
}
/** Picks a cell, and answers what draws its runs, around 1. */
function cellSource(noise, random) {
	if (noise.kind === "normal") return () => () => Math.exp(noise.cv * standardNormal(random));
	const cells = noise.sets.map(residuals);
	return () => {
		const cell = cells[uniformInt(random, 0, cells.length - 1)] ?? [1];
		return () => cell[uniformInt(random, 0, cell.length - 1)] ?? 1;
	};
}
/**
* The runs of a set around 1, to be drawn again and again. They are spread a little, as the runs of a set lie closer
* to their own mean than to the true one: by √(n / (n − 1)) their variance is right.
*/
function residuals(set) {
	const logs = set.map(Math.log);
	const center = mean(logs);
	const stretch = Math.sqrt(set.length / (set.length - 1));
	return logs.map((value) => Math.exp((value - center) * stretch));
}
const take = (count, draw) => Array.from({ length: count }, draw);
function earlierNoise(runs) {
	if (runs.length < 2) return void 0;
	return {
		sumOfSquares: sumNthPowerDeviations(runs.map(Math.log), 2),
		degreesOfFreedom: runs.length - 1
	};
}
function rowOf(verdicts, runs, cells) {
	const share = (kind) => verdicts.filter((verdict) => verdict === kind).length / verdicts.length;
	const patches = Array.from({ length: Math.floor(verdicts.length / cells) }, (_, index) => verdicts.slice(index * cells, (index + 1) * cells));
	const alarmed = patches.filter((patch) => patch.includes("regression"));
	return {
		regression: share("regression"),
		noRegression: share("no-regression"),
		improvement: share("improvement"),
		inconclusive: share("inconclusive"),
		patchRegression: alarmed.length / patches.length,
		meanRuns: mean(runs),
		p95Runs: quantileSorted(runs.toSorted((a, b) => a - b), .95)
	};
}

export { simulate as t };