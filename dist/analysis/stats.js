import { formatPps, isJudged } from "../model/first-plain.js";
import { cellName, metricSchema, verdictsWorstFirst } from "../model/first.js";
import { gammaln, mean, medianAbsoluteDeviation, quantileSorted, sum as sum$1, sumNthPowerDeviations } from "../vendor/simple-statistics.js";
import { boundsOf, changeOf, countOf, countedRuns, evidenceAt, evidenceOf, isDecided, isEnough, median, priorNoise, validPairs, valuesOf } from "./stats/first.js";
import { betaFraction, criticalT } from "./stats/first-plain.js";

// src/analysis/stats/change-points.ts
/** Smaller changes are ignored, as a ratio; half the default margin of gates. */
const minChangeRatio = .01;
/**
* Finds changes up to the last nightly run, except those `known`. Values are above 0; only the last 120 are considered.
*/
function changePoints(values, known = [], minRatio = minChangeRatio) {
	const from = Math.max(0, values.length - nightlyRunsInSight);
	const logs = values.slice(from).map(Math.log);
	if (logs.length < minNightlyRuns) return [];
	const sigma = sigmaOf(logs) * correlationFactor(logs);
	const bounds = partition(logs, sigma);
	return bounds.slice(1, -1).flatMap((place, number) => {
		const [start = 0, end = logs.length] = [bounds[number], bounds[number + 2]];
		const index = from + place;
		const step = median(logs.slice(place, end)) - median(logs.slice(start, place));
		if (known.some((other) => Math.abs(other - index) <= nightlyRunsApart) || Math.abs(Math.expm1(step)) < minRatio) return [];
		const { earliest, latest } = placesOf(logs.slice(start, end), place - start, sigma);
		const offset = from + start;
		return [{
			index,
			earliest: offset + earliest,
			latest: offset + latest
		}];
	});
}
/** Runs `changePoints` after every nightly run; `foundAt` is the run that first showed a change. */
function changesRunByRun(values, minRatio) {
	const found = [];
	for (let nightlyRun = 0; nightlyRun < values.length; nightlyRun += 1) {
		const known = found.map(({ index }) => index);
		const fresh = changePoints(values.slice(0, nightlyRun + 1), known, minRatio);
		found.push(...fresh.map((change) => ({
			...change,
			foundAt: nightlyRun
		})));
	}
	return found.toSorted((a, b) => a.index - b.index);
}
/** Level of the last eight or more values, and the scatter of single nightly runs around it; undefined for fewer. */
function lastLevel(values) {
	const logs = values.slice(-nightlyRunsInSight).map(Math.log);
	if (logs.length < minNightlyRuns) return void 0;
	const sigma = sigmaOf(logs);
	const start = partition(logs, sigma * correlationFactor(logs)).at(-2) ?? 0;
	return {
		typical: Math.exp(median(logs.slice(start))),
		sigmaRatio: sigma
	};
}
/** Scatter of single nightly runs around their level, as a ratio; `values` may hold changes and bad nightly runs. */
const nightlySigmaRatio = (values) => sigmaOf(values.map(Math.log));
/** Enough for slow habits of a machine; the time grows with the cube. */
const nightlyRunsInSight = 120;
const minNightlyRuns = 8;
const minNightlyRunsOfLevel = 2;
/** A change that moves by no more than this, as nightly runs are added, is the known one. */
const nightlyRunsApart = 3;
/** Maximum cost of a nightly run, in squared deviations: beyond three deviations all are equally bad. */
const costliestNightlyRun = 9;
/** Cost of another level: more than two of the worst nightly runs. */
const costOfLevel = 22;
/** Excludes positions that are 20 times less likely than the best one: twice the logarithm of that. */
const costOfOtherPlace = 6;
/** Lower limit of the noise of real testbeds, as a ratio. */
const quietestSigma = 3e-4;
/**
* Estimates the scatter of nightly runs around their level from differences of neighbours, in which a change of level
* counts once.
*/
function sigmaOf(logs) {
	const scale = differenceScale(logs);
	const forFewNightlyRuns = 1 + 3 / (logs.length - 1);
	return Math.max(quietestSigma, scale / Math.SQRT2 * forFewNightlyRuns);
}
/**
* Deviation of differences of neighbours, 0 for fewer than two values. Their median is the usual noise; if one in five
* differs, as on machines with two habits, the upper quantile is greater.
*/
function differenceScale(logs) {
	const differences = absoluteDifferences(logs, 1).toSorted((a, b) => a - b);
	if (differences.length === 0) return 0;
	return Math.max(...normalQuantiles.map(([share, deviations]) => quantileSorted(differences, share) / deviations));
}
/** Shares of a normal distribution's absolute values, and the deviations that contain them. */
const normalQuantiles = [[.5, .6745], [.8, 1.2816]];
/**
* Corrects for nightly runs that resemble their neighbours, and so say less about their level. Multiplied by this
* factor, the deviation of neighbours gives levels the scatter of a first-order autoregression: the variance of a
* difference is 2 (1 − r) times that of a nightly run, and a level's is (1 + r)/(1 − r) times that of independent ones.
*/
function correlationFactor(logs) {
	const correlation = correlationOf(logs);
	return Math.sqrt(1 + correlation) / (1 - correlation);
}
/**
* Lag-1 correlation within levels: differences over three nightly runs have 1 + r + r² times the variance of those over
* one. Adds three quarters of a standard error, as too low an estimate finds false changes. Omits large differences,
* which are changes of level and bad nightly runs.
*/
function correlationOf(logs) {
	const most = cutAt * differenceScale(logs);
	const [one, three] = [1, 3].map((lag) => meanSquare(absoluteDifferences(logs, lag).filter((difference) => difference <= most)));
	if (!one || !three) return 0;
	const estimate = (Math.sqrt(Math.max(4 * three / one - 3, 1)) - 1) / 2;
	return Math.min(estimate + .75 / Math.sqrt(logs.length), maxCorrelation);
}
/** Measured in deviations of a difference of neighbours. */
const cutAt = 4;
/** A greater one would hide every change. */
const maxCorrelation = .9;
const absoluteDifferences = (values, lag) => values.slice(lag).map((value, index) => Math.abs(value - (values[index] ?? value)));
const meanSquare = (values) => values.reduce((sum, value) => sum + value ** 2, 0) / values.length;
/** Returns the bounds of the levels, from 0 to the number of values, that cost least in total. */
function partition(logs, sigma) {
	const count = logs.length;
	const least = new Float64Array(count + 1).fill(Number.POSITIVE_INFINITY);
	least[0] = -22;
	const startOf = new Int32Array(count + 1);
	const sorted = new Float64Array(count);
	for (let start = 0; start + minNightlyRunsOfLevel <= count; start += 1) {
		const before = (least[start] ?? 0) + costOfLevel;
		if (before === Number.POSITIVE_INFINITY) continue;
		for (let end = start + 1; end <= count; end += 1) {
			insert(sorted, end - start - 1, logs[end - 1] ?? 0);
			if (end - start < minNightlyRunsOfLevel) continue;
			const most = (least[end] ?? 0) - before;
			const cost = costOfSorted(sorted, end - start, sigma, most);
			if (cost >= most) continue;
			least[end] = before + cost;
			startOf[end] = start;
		}
	}
	const bounds = [count];
	for (let end = count; end > 0; end = startOf[end] ?? 0) bounds.unshift(startOf[end] ?? 0);
	return bounds;
}
function insert(sorted, count, value) {
	let place = count;
	for (; place > 0 && (sorted[place - 1] ?? 0) > value; place -= 1) sorted[place] = sorted[place - 1] ?? 0;
	sorted[place] = value;
}
/** Cost of the first `count` as one level; stops at `most`. */
function costOfSorted(sorted, count, sigma, most) {
	const half = count >> 1;
	const upper = sorted[half] ?? 0;
	const level = count % 2 === 1 ? upper : ((sorted[half - 1] ?? 0) + upper) / 2;
	let cost = 0;
	for (let place = 0; place < count && cost < most; place += 1) {
		const deviations = ((sorted[place] ?? 0) - level) / sigma;
		cost += Math.min(deviations * deviations, costliestNightlyRun);
	}
	return cost;
}
/** Range of equally plausible steps between two consecutive levels; `best` costs least. */
function placesOf(logs, best, sigma) {
	const cost = (values) => costOfSorted(Float64Array.from(values).toSorted(), values.length, sigma, Number.POSITIVE_INFINITY);
	const costAt = (place) => cost(logs.slice(0, place)) + cost(logs.slice(place));
	const most = costAt(best) + costOfOtherPlace;
	const isLikely = (place) => place >= minNightlyRunsOfLevel && place <= logs.length - minNightlyRunsOfLevel && costAt(place) < most;
	let [earliest, latest] = [best, best];
	while (isLikely(earliest - 1)) earliest -= 1;
	while (isLikely(latest + 1)) latest += 1;
	return {
		earliest,
		latest
	};
}

// src/analysis/stats/build-noise.ts
/**
* Variance components of a one-way random model, by the method of moments (Searle, Casella & McCulloch, Variance
* Components, 1992, section 3.6): layouts sample all orders of sections, runs sample boots. Undefined if each tree has
* one layout only. Base and patched are one tree if they are the same commit.
*/
function buildNoise(cell, metric, isSameTree) {
	const { base, patched } = countedRuns(cell, cell.pairs);
	const linked = [...base, ...patched].filter(({ layout }) => layout !== void 0);
	const trees = [...Map.groupBy(linked, ({ variant }) => isSameTree ? "" : variant).values()].map((runs) => layoutsOf(runs, metric)).filter((layouts) => layouts.length > 1);
	const layouts = trees.flat();
	if (layouts.length === 0) return void 0;
	const all = trees.map((tree) => tree.flat());
	const runs = all.flat().length;
	const sumWithin = sum(layouts.map((values) => sumNthPowerDeviations(values, 2)));
	const sumAll = sum(all.map((values) => sumNthPowerDeviations(values, 2)));
	const [freeWithin, freeBetween] = [runs - layouts.length, layouts.length - trees.length];
	const together = Math.sqrt(sumAll / (runs - trees.length));
	if (freeWithin === 0) return {
		layouts: layouts.length,
		withinLayouts: void 0,
		betweenLayouts: void 0,
		together
	};
	const within = sumWithin / freeWithin;
	const between = (sumAll - sumWithin) / freeBetween;
	const runsPerLayout = sum(trees.map((tree) => effectiveRuns(tree.map(({ length }) => length)))) / freeBetween;
	return {
		layouts: layouts.length,
		withinLayouts: Math.sqrt(within),
		betweenLayouts: Math.sqrt(Math.max(0, between - within) / runsPerLayout),
		together
	};
}
function layoutsOf(runs, metric) {
	return [...Map.groupBy(runs, ({ layout }) => layout).values()].map((group) => group.flatMap(({ [metric]: value }) => value ? Math.log(value) : [])).filter(({ length }) => length > 0);
}
const effectiveRuns = (counts) => sum(counts) - sum(counts.map((count) => count ** 2)) / sum(counts);
const sum = (values) => values.length === 0 ? 0 : mean([...values]) * values.length;

// src/analysis/stats/outlier.ts
/**
* Counted runs with a modified z-score, 0.6745 · distance from the median / MAD, above 3.5 (Iglewicz and Hoaglin, How
* to Detect and Handle Outliers, 1993). Distances are of logarithms from the median of the run's variant. The MAD spans
* all variants, without one distance each, as the median of few runs is mostly one of them. Variants with fewer than
* three runs have no outliers.
*/
function runsApart(runs) {
	const counted = runs.filter((run) => run.validity.kind === "valid" && run.pps > 0);
	const variants = Map.groupBy(counted, (run) => run.variant);
	const centers = new Map([...variants].map(([name, group]) => [name, median(group.map(logOf))]));
	const distanceOf = (run) => Math.abs(logOf(run) - (centers.get(run.variant) ?? 0));
	const distances = counted.map(distanceOf).toSorted((a, b) => a - b);
	const deviation = Math.max(median(distances.slice(variants.size)), minDeviation);
	return counted.filter((run) => (variants.get(run.variant)?.length ?? 0) >= 3 && .6745 * distanceOf(run) > 3.5 * deviation);
}
const logOf = (run) => Math.log(run.pps);
/** Lower limit: if runs agree to the packet, a run that differs by 0.1 % is no outlier. */
const minDeviation = 5e-4;

// src/analysis/stats/interaction.ts
/**
* F of the interaction of variant and trial: one-way analysis of variance of the logarithms of patched over base, by
* trial. Undefined for single runs per trial, which say nothing about it, and if all pairs of a trial are equal.
*/
function interactionOf({ runs }, metric) {
	const pairs = validPairs(runs).flatMap(({ base, patched }) => {
		const [from, to] = [base[metric], patched[metric]];
		return from && to ? {
			trial: base.trial,
			log: Math.log(to / from)
		} : [];
	});
	const trials = [...Map.groupBy(pairs, ({ trial }) => trial).values()].map((own) => own.map(({ log }) => log));
	const between = trials.length - 1;
	const within = pairs.length - trials.length;
	if (between < 1 || within < 1) return void 0;
	const center = mean(pairs.map(({ log }) => log));
	const squares = sum$1(trials.map((own) => own.length * (mean(own) - center) ** 2));
	const error = sum$1(trials.map((own) => sumNthPowerDeviations(own, 2)));
	if (error === 0) return void 0;
	const f = squares / between / (error / within);
	return {
		f,
		degreesOfFreedom: [between, within],
		probability: fTail(f, between, within)
	};
}
/** P(F > f): a regularized incomplete beta function (DLMF 8.17), by the fraction that converges fast. */
function fTail(f, between, within) {
	const [a, b] = [within / 2, between / 2];
	const x = within / (within + between * f);
	const logBeta = gammaln(a) + gammaln(b) - gammaln(a + b);
	const factor = Math.exp(a * Math.log(x) + b * Math.log1p(-x) - logBeta);
	return x < (a + 1) / (a + b + 2) ? factor / a * betaFraction(x, a, b) : 1 - factor / b * betaFraction(1 - x, b, a);
}

// src/analysis/stats/baseline.ts
/**
* Returns the level for one false alarm in a hundred experiments. A single run needs a stricter level, as noise has
* heavy tails.
*/
const levelOf = (runs) => runs === 1 ? .001 : .005;
/**
* Applies Student's test to the base's numbers (one per trial) and the sessions since its last change, on logarithms.
* Sessions of one base differ by more than their runs explain, so the error has the variance of their means. Unknown
* with fewer than three sessions (ten for a single run).
*/
function baselineOf(base, history) {
	const means = history?.sessionMeans;
	const enough = base.length === 1 ? 9 : 2;
	if (!history || !means || means.degreesOfFreedom < enough || base.length === 0) return { kind: "unknown" };
	const logs = base.map(Math.log);
	const effect = mean(logs) - Math.log(history.typical);
	const ofRuns = varianceOf(history.sumOfSquares + sumNthPowerDeviations(logs, 2), history.degreesOfFreedom + base.length - 1);
	const ofMeans = varianceOf(means.sumOfSquares, means.degreesOfFreedom);
	const runsPerSession = history.typicalRuns / means.sinceMove;
	const ofSessions = Math.max(0, ofMeans - ofRuns / runsPerSession);
	const error = Math.sqrt(ofSessions * (1 + 1 / means.sinceMove) + ofRuns * (1 / base.length + 1 / history.typicalRuns));
	const reach = criticalT(means.degreesOfFreedom, levelOf(base.length)) * error;
	const interval = {
		change: changeOf(effect),
		low: changeOf(effect - reach),
		high: changeOf(effect + reach)
	};
	return {
		kind: Math.abs(effect) > reach + rounding ? "moved" : "steady",
		interval
	};
}
const varianceOf = (sumOfSquares, degreesOfFreedom) => degreesOfFreedom === 0 ? 0 : sumOfSquares / degreesOfFreedom;
/** If all runs agree to the packet, the reach is zero, except for the rounding of logarithms. */
const rounding = 1e-12;

// src/analysis/stats/verdict.ts
/** `baseNumbers` are base's, one per trial; `others` are shown next to patched. */
function cellResult(interim, policy, baseNumbers, others) {
	const { input, judgement } = interim;
	const { cell, design, history, runs } = input;
	const metrics = metricsInOrder(policy.metric);
	return {
		cell,
		verdict: cellVerdict(interim, policy),
		design,
		...history && { history },
		baseline: baselineOf(baseNumbers, history),
		pairs: judgement?.analysis.pairs ?? input.closedPairs,
		comparisons: metrics.flatMap((metric) => compare(interim, metric, policy)),
		others: others.map((variant) => ({
			variant,
			comparisons: metrics.flatMap((metric) => compareOther(interim, variant, metric, policy))
		})),
		runs,
		profiles: []
	};
}
/**
* Returns invalid if the cell closed without a decision, or if no interim analysis was possible, unless it was stopped
* before.
*/
function cellVerdict(interim, policy) {
	const { judgement, closed, stopped } = interim;
	if (stopped) return {
		kind: "inconclusive",
		isStopped: true
	};
	if (judgement !== void 0 && (isDecided(judgement) || !closed)) return { kind: judgement.verdict };
	return {
		kind: "invalid",
		reason: tooFew(interim, policy)
	};
}
const metricsInOrder = (first) => [first, ...metricSchema.options.filter((other) => other !== first)];
/** Compares one metric over the judged runs, or, without any, over all counted ones; undefined without evidence. */
function compare({ input, analyses, judgement }, metric, policy) {
	const counted = countedRuns(input, judgement?.analysis.pairs ?? input.closedPairs);
	if (judgement !== void 0 && judgement.evidence === void 0) return metric === "pps" ? [nothingLeft(counted)] : [];
	return comparison(counted, input, {
		metric,
		policy,
		level: (judgement?.analysis ?? analyses[0])?.levels.outside ?? 0
	});
}
/**
* Compares another variant over the same pairs as patched. Its interval has the plain confidence level, which holds for
* a number of runs fixed in advance. Otherwise base and patched ended them regardless of this variant; but as both are
* compared with base, a 95 % interval then misses in up to 7 % of simulated experiments. There is no correction for the
* number of variants shown.
*/
function compareOther({ input, judgement }, variant, metric, policy) {
	const asPatched = {
		...input,
		runs: inPlaceOfPatched(variant, input.runs)
	};
	const pairs = judgement?.analysis.pairs ?? input.closedPairs;
	const counted = countedRuns(asPatched, pairs);
	const own = asPatched.runs.filter((run) => run.variant === "patched" && run.validity.kind === "valid" && run.pair <= pairs);
	const moving = own.filter(({ pps }) => pps > 0);
	if (counted.base.length === 0 || counted.patched.length === 0) return [];
	if (moving.length === 0) return metric === "pps" ? [nothingLeft(counted)] : [];
	if (!isEnough(moving.length, own.length)) return [];
	return comparison(counted, asPatched, {
		metric,
		policy,
		level: (1 - policy.confidenceRatio) / 2
	});
}
const inPlaceOfPatched = (variant, runs) => runs.filter((run) => run.variant === "base" || run.variant === variant).map((run) => run.variant === variant ? {
	...run,
	variant: "patched"
} : run);
function comparison(counted, { design, history }, { metric, policy, level }) {
	const values = {
		base: valuesOf(counted.base, metric),
		patched: valuesOf(counted.patched, metric)
	};
	if (values.base.length === 0 || values.patched.length === 0) return [];
	const earlier = metric === policy.metric ? priorNoise(history, policy.marginRatio) : void 0;
	const evidence = evidenceOf(counted, metric, design.method, earlier);
	const { low, high } = boundsOf(evidence, level);
	if (!Number.isFinite(low + high)) return [];
	const { effect } = evidence;
	return [{
		metric,
		base: evidence.base,
		patched: evidence.base * Math.exp(effect),
		baseRuns: values.base.length,
		patchedRuns: values.patched.length,
		interval: {
			change: changeOf(effect),
			low: changeOf(low),
			high: changeOf(high)
		}
	}];
}
function nothingLeft({ base, patched }) {
	return {
		metric: "pps",
		base: median(base.map((run) => run.pps)),
		patched: 0,
		baseRuns: base.length,
		patchedRuns: patched.length,
		interval: {
			change: -1,
			low: -1,
			high: -1
		}
	};
}
/** Explains why no interim analysis was possible: how many pairs count, and the main cause among the others. */
function tooFew({ input, analyses }, policy) {
	const { metric } = policy;
	const { failures } = input;
	const runs = input.runs.filter(({ variant }) => isJudged(variant));
	const wanted = analyses.find(({ pairs }) => evidenceAt(input, pairs, policy) === void 0)?.pairs ?? 0;
	const count = `${Math.min(wanted, countOf(countedRuns(input, wanted), metric))} of ${wanted} pairs of runs count`;
	const why = mostFrequent([...failures.map((reason) => ({
		cause: reason,
		reason
	})), ...runs.flatMap((run) => whyNot(run, metric))]);
	if (why === void 0) return count;
	return causesOfAll.has(why.cause) ? `${why.reason}; ${count}` : `${count}: ${why.reason}`;
}
/** These causes hold for the whole experiment, and are not random. */
const causesOfAll = /* @__PURE__ */ new Set([
	"generator-limited",
	"receiver-limited",
	"machine-busy"
]);
function whyNot(run, metric) {
	if (run.validity.kind === "invalid") return run.validity;
	if (run.pps === 0) {
		const by = run.droppedBy === void 0 ? "" : `: its packets were dropped by ${run.droppedBy}`;
		return {
			cause: run.variant,
			reason: `${run.variant} forwarded nothing${by}`
		};
	}
	return run[metric] === void 0 ? {
		cause: metric,
		reason: `the DUT has no value of ${metric}`
	} : [];
}
function mostFrequent(faults) {
	return [...Map.groupBy(faults, ({ cause }) => cause).values()].toSorted((a, b) => b.length - a.length)[0]?.[0];
}
/** Returns the worst verdict of a patch's cells; a gain requires that nothing is lost or unknown. */
function worstVerdict(cells) {
	const kinds = cells.map(({ verdict }) => verdict.kind);
	return verdictsWorstFirst.find((kind) => kinds.includes(kind)) ?? "no-regression";
}

// src/analysis/stats/cell-limits.ts
/** Adds the limits of every judged cell, and replaces existing ones. */
function withLimits(result) {
	const { outcome, trials } = result;
	if (outcome.kind !== "judged") return result;
	const byCell = Map.groupBy(trials, ({ cell }) => cellName(cell));
	const cells = outcome.cells.map(({ limits: _, ...cell }) => {
		const limits = cellLimits(byCell.get(cellName(cell.cell)) ?? []);
		return {
			...cell,
			...limits && { limits }
		};
	});
	return {
		...result,
		outcome: {
			...outcome,
			cells
		}
	};
}
/** Returns undefined unless both base and patched have readings in `trials`, which are of one cell. */
function cellLimits(trials) {
	const [base, patched] = ["base", "patched"].map((variant) => {
		return variantLimits(trials.flatMap(({ limits }) => limits?.[variant] ?? []).filter(({ offeredPackets }) => offeredPackets > 0));
	});
	return base && patched && {
		base,
		patched
	};
}
function variantLimits(readings) {
	if (readings.length === 0) return void 0;
	const busiest = readings.flatMap(({ busiestCpuRatio }) => busiestCpuRatio ?? []);
	const drops = Map.groupBy(readings.flatMap((one) => one.drops), ({ place, cause }) => JSON.stringify([place, cause]));
	return {
		lostRatio: Math.max(-1e3, median(readings.map(({ offeredPackets, receivedPackets }) => 1 - receivedPackets / offeredPackets))),
		...busiest.length > 0 && { busiestCpuRatio: median(busiest) },
		drops: [...drops.values()].flatMap(([drop]) => {
			if (drop === void 0) return [];
			const { place, cause } = drop;
			const ratios = readings.map((one) => {
				const own = one.drops.filter((other) => other.place === place && other.cause === cause);
				return sum$1(own.map(({ packets }) => packets)) / one.offeredPackets;
			});
			return {
				place,
				cause,
				ratio: median(ratios)
			};
		}).filter(({ ratio }) => ratio > 0).toSorted((a, b) => b.ratio - a.ratio).slice(0, 200)
	};
}

// src/analysis/stats/steady.ts
const minTolerance = .02;
const toleranceInDeviations = 5;
/** A series has no level if half of its seconds are further away than this. */
const maxDeviation = .1;
/** Ramp and tail together may take at most the rest of the traffic's whole seconds. */
const minShare = .75;
/** The generator starts and ends within a second of the receiver's. */
const partialSeconds = 2;
/** Maximum drift between the medians of the first and last third, as a ratio to the median. */
const maxDrift = .05;
/**
* Cuts off the ends of a series: zeros before and after the traffic, the ramp, the sender's last partial second. The
* level is the median of the middle half of the traffic, and both ends are cut back to the first second near it: within
* 2 % or five median absolute deviations. Medians are robust to outliers; a single second of real logs scatters by 0.2
* %, so the bounds are wide. A series without a level (two levels, a drift, a fall half-way) is unsteady, with a
* reason.
*/
function steadyStretch(pps) {
	const traffic = ends(pps, (rate) => rate > 0);
	if (traffic === void 0) return unsteady("not one packet was counted");
	const middle = middleHalf(pps.slice(traffic.from, traffic.to));
	const level = median(middle);
	const deviation = medianAbsoluteDeviation(middle);
	if (level === 0) return unsteady("most of the time no packet was counted");
	if (deviation > maxDeviation * level) return unsteady(`half of its rates are more than 10 % away from ${formatPps(level)}`);
	const tolerance = Math.max(minTolerance * level, toleranceInDeviations * deviation);
	const stretch = ends(pps, (rate) => Math.abs(rate - level) <= tolerance) ?? traffic;
	if (length(stretch) < minShare * (length(traffic) - partialSeconds)) {
		const share = `${length(stretch)} of ${length(traffic)}`;
		return unsteady(`only ${share} rates lie between the ramp and the tail`);
	}
	return withoutDrift(pps, stretch);
}
function ends(pps, belongs) {
	const from = pps.findIndex(belongs);
	return from === -1 ? void 0 : {
		from,
		to: pps.findLastIndex(belongs) + 1
	};
}
function middleHalf(pps) {
	const quarter = Math.floor(pps.length / 4);
	return pps.slice(quarter, pps.length - quarter);
}
const length = ({ from, to }) => to - from;
function withoutDrift(pps, { from, to }) {
	const medianPps = median(pps.slice(from, to));
	const third = Math.ceil((to - from) / 3);
	const first = median(pps.slice(from, from + third));
	const last = median(pps.slice(to - third, to));
	if (Math.abs(last - first) > maxDrift * medianPps) return unsteady(`it drifts from ${formatPps(first)} to ${formatPps(last)}`);
	return {
		kind: "steady",
		from,
		to,
		medianPps
	};
}
const unsteady = (reason) => ({
	kind: "unsteady",
	reason
});
const collapse = .1;
/** Gaps of a steady stretch below a tenth of its median, in order. */
function holes(pps, { from, to }, medianPps) {
	const found = [];
	const end = Math.min(to, pps.length);
	for (let index = Math.max(0, from); index < end; index++) {
		if ((pps[index] ?? 0) >= collapse * medianPps) continue;
		const open = found.at(-1);
		if (open?.to === index) open.to = index + 1;
		else found.push({
			from: index,
			to: index + 1
		});
	}
	return found;
}
const defaultBounds = {
	atLeast: 10,
	toleranceRatio: .005
};
/**
* True if the median is known well enough to end a trial now, using only the seconds so far. Requires a steady stretch
* of at least `atLeast` seconds, with the distribution-free 95 % confidence interval of its median within the
* tolerance. From ten seconds on, that interval also covers the median of five seconds ago, so watching the running
* median adds nothing. Seconds of one boot do not predict the next: this ends a run, not an experiment.
*/
function isSteady(pps, { atLeast, toleranceRatio } = defaultBounds) {
	const stretch = steadyStretch(pps);
	if (stretch.kind === "unsteady") return false;
	const sorted = pps.slice(stretch.from).sort((a, b) => a - b);
	if (sorted.length < atLeast) return false;
	const rank = lowRank(sorted.length);
	const [low, high] = [sorted[rank - 1], sorted[sorted.length - rank]];
	if (low === void 0 || high === void 0) return false;
	const middle = median(sorted);
	return Math.max(middle - low, high - middle) <= toleranceRatio * middle;
}
/**
* The interval from the rank-th smallest to the rank-th largest value holds the median in 95 % of all samples: the
* normal approximation of the sign test's rank, which equals the exact one or is one less. 0 for fewer than six values.
*/
const lowRank = (n) => Math.max(0, Math.round(n / 2 - .98 * Math.sqrt(n)));
/** Seconds after which `isSteady` first held; undefined if it never did within `atMost`. */
function secondsUntilSteady(pps, { atMost = 600, ...bounds } = defaultBounds) {
	const last = Math.min(pps.length, atMost);
	for (let seconds = Math.max(0, bounds.atLeast); seconds <= last; seconds++) if (isSteady(pps.slice(0, seconds), bounds)) return seconds;
}

export { baselineOf, buildNoise, cellResult, cellVerdict, changePoints, changesRunByRun, compare, defaultBounds, holes, interactionOf, isSteady, lastLevel, minChangeRatio, nightlySigmaRatio, runsApart, secondsUntilSteady, steadyStretch, withLimits, worstVerdict };