import { isCost } from "../../model/first-plain.js";
import { maxChange } from "../../model/first.js";
import { mean, median as median$1, sum, sumNthPowerDeviations } from "../../vendor/simple-statistics.js";
import { analysesOf, criticalT, hodgesLehmann, signedRankBounds } from "./first-plain.js";

// src/analysis/stats/summary.ts
/** The middle value, or the mean of the two in the middle; 0 for none. */
const median = (values) => values.length === 0 ? 0 : median$1(values);
/** Takes positive numbers, at least one; NaN if one is negative. A product of many rates is beyond a double. */
const geometricMean = (values) => Math.exp(mean(values.map(Math.log)));
/** Change of an effect on logarithms, limited to the range of a result: a huge change is as good as a larger one. */
const changeOf = (effect) => Math.min(Math.expm1(effect), maxChange);

// src/analysis/stats/trial-numbers.ts
const isCounted = ({ validity, pps }) => validity.kind === "valid" && pps > 0;
function trialNumbers(runs, metric) {
	const counted = runs.filter(isCounted);
	return [...Map.groupBy(counted, (run) => `${run.trial}.${run.attempt}`).values()].flatMap((group) => {
		const values = group.flatMap((run) => run[metric] ?? []);
		return values.length > 0 ? [median(values)] : [];
	});
}

// src/analysis/stats/evidence.ts
/**
* Evaluates pairs measured side by side: what slows both runs alike cancels. Hodges' and Lehmann's estimate with the
* interval of Wilcoxon's signed-rank test, on the logarithms of the ratios. It requires only symmetry, which the random
* order provides; a few outliers barely move it, where they would double Student's interval.
*
* Assumes that variant and trial do not interact: base and patched differ alike in every trial.
*
* Takes positive numbers, at least one pair.
*/
function pairedEvidence(pairs) {
	const ratios = Float64Array.from(pairs, ({ base, patched }) => Math.log(patched / base)).sort();
	return {
		method: "paired",
		base: median(pairs.map((pair) => pair.base)),
		effect: hodgesLehmann(ratios),
		ratios
	};
}
/**
* Evaluates independent runs, like boots: least squares of the logarithms on the variant and, from three runs of each
* variant on, on the trial, so that a drift costs one degree of freedom instead of the verdict. Earlier sessions moderate
* the variance (Smyth, Statistical Applications in Genetics and Molecular Biology 3, 2004).
*
* Assumes that variant and trial do not interact: base and patched drift alike.
*
* Takes positive numbers, at least one of each variant and three in all (two where there is a prior).
*/
function pooledEvidence(base, patched, prior = noNoise) {
	if (base.length === 0 || patched.length === 0) throw new RangeError("Each variant needs at least one run.");
	const { effect, sumOfSquares, degreesOfFreedom, factor } = fitOf(base, patched);
	const noise = sumOf({
		sumOfSquares,
		degreesOfFreedom
	}, prior);
	return {
		method: "pooled",
		base: Math.exp(mean(base.map(logOf))),
		effect,
		standardError: Math.sqrt(noise.sumOfSquares / noise.degreesOfFreedom * factor),
		degreesOfFreedom: noise.degreesOfFreedom
	};
}
const logOf = ({ value }) => Math.log(value);
function fitOf(base, patched) {
	const [baseLogs, patchedLogs] = [base.map(logOf), patched.map(logOf)];
	const plain = {
		effect: mean(patchedLogs) - mean(baseLogs),
		sumOfSquares: sumNthPowerDeviations(baseLogs, 2) + sumNthPowerDeviations(patchedLogs, 2),
		degreesOfFreedom: base.length + patched.length - 2,
		factor: 1 / base.length + 1 / patched.length
	};
	if (Math.min(base.length, patched.length) < 3) return plain;
	return adjusted(plain, [base, patched], [baseLogs, patchedLogs]) ?? plain;
}
/** Analysis of covariance with the trial; undefined if the trial separates the variants, or is unknown. */
function adjusted(plain, variants, logs) {
	const trials = variants.map((runs) => runs.map(({ trial = NaN }) => trial));
	const square = sum(trials.map((own) => sumNthPowerDeviations(own, 2)));
	const product = sum(trials.map((own, index) => sumOfProducts(own, logs[index] ?? [])));
	const [baseTrial = 0, patchedTrial = 0] = trials.map((own) => mean(own));
	const apart = patchedTrial - baseTrial;
	if (!(square > apart ** 2)) return void 0;
	const slope = product / square;
	return {
		effect: plain.effect - slope * apart,
		sumOfSquares: Math.max(0, plain.sumOfSquares - slope * product),
		degreesOfFreedom: plain.degreesOfFreedom - 1,
		factor: plain.factor + apart ** 2 / square
	};
}
function sumOfProducts(xs, ys) {
	const [x, y] = [mean(xs), mean(ys)];
	return sum(xs.map((value, index) => (value - x) * ((ys[index] ?? y) - y)));
}
/**
* Reduces a variant with several layouts to one number per layout, the geometric mean of its runs: runs of one layout
* share the effect of its section order, so they are one draw of it. With a single layout every run counts, and the
* effect of other layouts stays unknown.
*
* Takes positive numbers.
*/
function onePerLayout(runs) {
	const layouts = Map.groupBy(runs, ({ layout }) => layout);
	if (layouts.size === 1) return [...runs];
	return [...layouts.values()].map((group) => ({
		value: geometricMean(group.map(({ value }) => value)),
		trial: mean(group.map(({ trial = NaN }) => trial))
	}));
}
/**
* Returns the changes under which data this far off have a probability of more than `level`, on each side. Both bounds
* are infinite with too few pairs for the level, or without a degree of freedom.
*/
function boundsOf(evidence, level) {
	if (evidence.method === "pooled") {
		const { effect, standardError, degreesOfFreedom } = evidence;
		if (degreesOfFreedom <= 0 || level === 0) return unbounded;
		const reach = criticalT(degreesOfFreedom, level) * standardError;
		return {
			low: effect - reach,
			high: effect + reach
		};
	}
	return signedRankBounds(evidence.ratios, level) ?? unbounded;
}
const unbounded = {
	low: -Infinity,
	high: Infinity
};
/** Applies until ten sessions of a testbed are known. */
const usualSessionDegreesOfFreedom = 4;
/** Prior noise of a session: the pooled variance of earlier ones, with as many degrees of freedom as they agree. */
function moderated(earlier = noNoise) {
	const { sumOfSquares, degreesOfFreedom } = earlier;
	const most = earlier.sessionDegreesOfFreedom ?? usualSessionDegreesOfFreedom;
	if (degreesOfFreedom <= most) return {
		sumOfSquares,
		degreesOfFreedom
	};
	return {
		sumOfSquares: sumOfSquares * most / degreesOfFreedom,
		degreesOfFreedom: most
	};
}
/** Prior noise of a test. Below four degrees of freedom, adds a tenth of the margin: four runs may agree by chance. */
function priorNoise(earlier, marginRatio) {
	const prior = moderated(earlier);
	if (prior.degreesOfFreedom >= 4) return prior;
	return {
		...prior,
		sumOfSquares: prior.sumOfSquares + 2 * (marginRatio / 10) ** 2
	};
}
const noNoise = {
	sumOfSquares: 0,
	degreesOfFreedom: 0
};
const sumOf = (a, b) => ({
	sumOfSquares: a.sumOfSquares + b.sumOfSquares,
	degreesOfFreedom: a.degreesOfFreedom + b.degreesOfFreedom
});

// src/analysis/stats/judge.ts
/**
* Judges interim analyses in order until one decides; skips those without evidence. Before the last one, does not yet
* pass a cell that seems to gain the margin: a loss is excluded sooner than a gain is certain.
*/
function judgeInOrder(analyses, evidenceAt, rule) {
	let last;
	for (const analysis of analyses) {
		const evidence = evidenceAt(analysis.pairs);
		if (evidence === void 0) continue;
		const verdict = verdictAt(analysis, evidence, rule);
		last = {
			verdict: verdict === "no-regression" && analysis !== analyses.at(-1) && gainsMargin(evidence, rule) ? "inconclusive" : verdict,
			analysis,
			evidence
		};
		if (last.verdict !== "inconclusive") break;
	}
	return last;
}
const gainsMargin = ({ effect }, { metric, marginRatio }) => (isCost(metric) ? -effect : effect) >= -Math.log1p(-marginRatio);
/** Verdict of one interim analysis. */
const verdictAt = ({ levels }, evidence, rule) => judgeAnalysis((level) => boundsOf(evidence, level), levels, rule);
/**
* Regression: a significant loss, and a loss of the margin is not excluded. Improvement: the mirror image, with base as
* a patch of patched. No regression: a loss of the margin is excluded. Inconclusive: none of these.
* These are the two rejections of a generalized likelihood ratio test with a zone of indifference between its
* hypotheses, no loss and a loss of the margin, each against the best fit. A test of each against the other, as a
* composite ratio, stays open for any truth between them: at half the margin it needs twice the runs.
*/
function judgeAnalysis(boundsAt, levels, { metric, marginRatio }) {
	const asSpeed = isCost(metric) ? mirrored : same;
	const alarm = asSpeed(boundsAt(levels.falseAlarms));
	const pass = asSpeed(boundsAt(levels.misses));
	const margin = -Math.log1p(-marginRatio);
	const isLoss = (sure, likely) => sure.high < 0 && likely.low <= -margin;
	if (isLoss(alarm, pass)) return "regression";
	if (isLoss(mirrored(alarm), mirrored(pass))) return "improvement";
	return pass.low > -margin ? "no-regression" : "inconclusive";
}
const same = (bounds) => bounds;
/** Swaps base and patched, or cost and speed: logarithms only change their sign. */
const mirrored = ({ low, high }) => ({
	low: -high,
	high: -low
});

// src/analysis/stats/interim-result.ts
/**
* Judges every cell at its interim analyses. Splits the false alarms of a patch evenly. As in Holm's procedure
* (Scandinavian Journal of Statistics 6, 1979), a losing cell passes its share to the open cells, which are judged with
* it at their last analysis. So the rate holds for the patch, however many cells lose.
*/
function interimResults(inputs, policy) {
	const all = relaxed(inputs.map((input) => {
		const analyses = analysesSharedBy(inputs.length, input, policy);
		const lost = lostAt(input, analyses);
		if (lost !== void 0) return {
			input,
			analyses,
			judgement: lost,
			closed: true
		};
		const evidence = (pairs) => evidenceAt(input, pairs, policy);
		const judgement = judgeInOrder(analyses, evidence, policy);
		const isDead = analyses.filter(({ pairs }) => pairs <= input.closedPairs).some(({ pairs }) => evidence(pairs) === void 0);
		return {
			input,
			analyses,
			judgement,
			closed: isDecided(judgement) || isDead
		};
	}), policy);
	return policy.stopsAtFirst ? stoppedAtFirst(all) : all;
}
/** Gives a cell no verdict if another's loss stopped it early, so no error rate grows. */
function stoppedAtFirst(all) {
	if (!all.some(({ judgement }) => judgement?.verdict === "regression")) return all;
	return all.map((interim) => {
		const { design, closedPairs } = interim.input;
		const isUsedUp = closedPairs >= (design.budgets.at(-1) ?? 0);
		return interim.closed || isUsedUp ? interim : {
			...interim,
			closed: true,
			stopped: true
		};
	});
}
const isDecided = (judgement) => judgement !== void 0 && judgement.verdict !== "inconclusive";
function relaxed(before, policy) {
	const count = (kind) => before.filter(({ judgement }) => judgement?.verdict === kind).length;
	const after = before.map((interim) => ["regression", "improvement"].reduce((now, kind) => rejudged(now, kind, before.length - count(kind), policy), interim));
	return after.every(({ closed }, index) => closed === before[index]?.closed) ? after : relaxed(after, policy);
}
/** Judges an open cell at its last interim analysis with its remaining share, if only verdicts of that kind count. */
function rejudged(interim, kind, sharers, policy) {
	const { input, judgement } = interim;
	if (judgement?.evidence === void 0 || interim.closed || sharers < 1) return interim;
	const analyses = analysesSharedBy(sharers, input, policy);
	const analysis = analyses.find(({ pairs }) => pairs === judgement.analysis.pairs) ?? judgement.analysis;
	const { evidence } = judgement;
	if (verdictAt(analysis, evidence, policy) !== kind) return interim;
	return {
		...interim,
		analyses,
		judgement: {
			verdict: kind,
			analysis,
			evidence
		},
		closed: true
	};
}
/** Interim analyses of a cell that shares the false alarms of its patch with this many cells, including itself. */
function analysesSharedBy(sharers, { design }, policy) {
	return analysesOf(design, {
		falseAlarms: Math.min(policy.falseAlarmRatio / sharers, policy.missRatio),
		misses: policy.missRatio,
		outside: (1 - policy.confidenceRatio) / 2
	});
}
/** A loss that is decided at once, before any planned interim analysis. */
function lostAt(input, analyses) {
	if (!forwardsNothing(input)) return void 0;
	return {
		verdict: "regression",
		analysis: {
			pairs: input.runs.filter(({ validity }) => validity.kind === "valid").reduce((last, { pair }) => Math.max(last, pair), 0),
			levels: analyses[0]?.levels ?? {
				falseAlarms: 0,
				misses: 0,
				outside: 0
			}
		}
	};
}
/**
* True if patched forwards nothing in at least some runs. As with panics, blames a patch only if this happens twice
* more than to a base that has forwarded twice here. Of runs that share a trial, a stall of a shared machine may cost
* one in ten.
*/
function forwardsNothing({ runs, design }) {
	const valid = runs.filter(({ validity }) => validity.kind === "valid");
	const countsOf = (name) => {
		const own = valid.filter(({ variant }) => variant === name);
		const moving = own.filter(({ pps }) => pps > 0).length;
		return {
			moving,
			silent: own.length - moving,
			all: own.length
		};
	};
	const [base, patched] = [countsOf("base"), countsOf("patched")];
	const isStall = design.method === "paired" && isEnough(patched.moving, patched.all);
	return base.moving >= 2 && patched.silent >= 2 + base.silent && !isStall;
}
/** Undefined if some of these pairs are missing, or too few count. */
function evidenceAt(input, pairs, { metric, marginRatio }) {
	if (pairs > input.closedPairs) return void 0;
	const counted = countedRuns(input, pairs);
	const moving = {
		base: counted.base,
		patched: counted.patched.filter(({ pps }) => pps > 0)
	};
	if (!isEnough(moving.patched.length, counted.patched.length)) return void 0;
	if (!isEnough(countOf(moving, metric), pairs)) return void 0;
	return evidenceOf(moving, metric, input.design.method, priorNoise(input.history, marginRatio));
}
/** Stalls of a shared machine may cost a tenth of the pairs: the interval widens accordingly. */
const isEnough = (counted, wanted) => counted >= .9 * wanted;
/**
* Valid runs of the first `pairs` pairs whose base forwards; for paired runs, only if both are valid. For a patch that
* forwards nothing, only its silent runs; otherwise a silent run with its own trial was repeated and does not count.
*/
function countedRuns({ runs, design }, pairs) {
	const valid = runs.filter((run) => run.pair <= pairs && run.validity.kind === "valid");
	const whole = design.method === "pooled" ? valid : validPairs(valid).flatMap(({ base, patched }) => base.pps > 0 ? [base, patched] : []);
	const patched = whole.filter((run) => run.variant === "patched");
	const isLost = forwardsNothing({
		runs: valid,
		design
	});
	const isCounted = ({ pps }) => isLost ? pps === 0 : pps > 0 || design.method === "paired";
	return {
		base: whole.filter((run) => run.variant === "base" && run.pps > 0),
		patched: patched.filter(isCounted)
	};
}
function runCounts({ runs, design, pairs }, metric) {
	const { base, patched } = countedRuns({
		runs,
		design
	}, pairs);
	const madeOf = (name) => runs.filter(({ variant }) => variant === name).length;
	return {
		counted: [valuesOf(base, metric).length, valuesOf(patched, metric).length],
		made: [madeOf("base"), madeOf("patched")]
	};
}
const countOf = ({ base, patched }, metric) => Math.min(valuesOf(base, metric).length, valuesOf(patched, metric).length);
const valuesOf = (runs, metric) => runs.flatMap((run) => run[metric] || []);
function evidenceOf(counted, metric, method, prior) {
	if (method === "pooled") {
		const drawn = (runs) => onePerLayout(runs.flatMap(({ trial, layout, [metric]: value }) => value ? {
			value,
			trial,
			layout
		} : []));
		return pooledEvidence(drawn(counted.base), drawn(counted.patched), prior);
	}
	return pairedEvidence(drawnPairs(counted, metric));
}
/**
* Averages each pair with the next one, which mirrors its order, for one pair per random order. A disturbance of the
* two middle runs bends both pairs alike, so they are not independent; the four favour either variant by chance, and
* Wilcoxon's test holds exactly.
*/
function drawnPairs({ base, patched }, metric) {
	const pairs = validPairs([...base, ...patched]).filter((pair) => pair.base[metric] && pair.patched[metric]);
	return [...Map.groupBy(pairs, (pair) => `${pair.base.trial}.${pair.base.attempt}/${Math.ceil(pair.base.pair / 2)}`).values()].map((mirrored) => ({
		base: geometricMean(mirrored.map((pair) => pair.base[metric] ?? 0)),
		patched: geometricMean(mirrored.map((pair) => pair.patched[metric] ?? 0))
	}));
}
/** Pairs in which both runs count and come from the same try of the same trial. */
function validPairs(runs) {
	return [...Map.groupBy(runs, (run) => `${run.trial}.${run.attempt}/${run.pair}`).values()].flatMap((group) => {
		const valid = group.filter((run) => run.validity.kind === "valid");
		const base = valid.find((run) => run.variant === "base");
		const patched = valid.find((run) => run.variant === "patched");
		return base && patched ? [{
			base,
			patched
		}] : [];
	});
}

export { analysesSharedBy, boundsOf, changeOf, countOf, countedRuns, evidenceAt, evidenceOf, interimResults, isCounted, isDecided, isEnough, median, moderated, noNoise, pooledEvidence, priorNoise, runCounts, sumOf, trialNumbers, validPairs, valuesOf };