import { n as isJudged } from "./variant-name.js";
import { a as studentTail, c as mean, m as sumNthPowerDeviations, n as criticalT } from "./student.js";
import { t as xoroshiro128plus } from "./xoroshiro128plus.js";
import { i as boundsOf, r as judgeLook, t as standardNormal } from "./normal.js";
import { a as evidenceOf, d as valuesOf, i as evidenceAt, n as countOf, o as isDecided, r as countedRuns, s as isEnough, t as allLost } from "./standing.js";
import { t as median } from "./summary.js";

// src/stats/baseline.ts
/** A base that stayed is called moved in one experiment of a hundred. */
const level = .005;
/**
* Student's test of the base's numbers (one a blast) against the runs since it last moved, on logarithms and with
* the pooled noise of both; unknown where there are too few of either.
*/
function baselineOf(base, history) {
	if (history === void 0 || history.typicalRuns < 3 || base.length < 2) return { kind: "unknown" };
	const logs = base.map(Math.log);
	const degreesOfFreedom = history.degreesOfFreedom + base.length - 1;
	const variance = (history.sumOfSquares + sumNthPowerDeviations(logs, 2)) / degreesOfFreedom;
	const effect = mean(logs) - Math.log(history.typical);
	const error = Math.sqrt(variance * (1 / base.length + 1 / history.typicalRuns));
	const reach = criticalT(degreesOfFreedom, level) * error;
	const interval = {
		change: Math.expm1(effect),
		low: Math.expm1(effect - reach),
		high: Math.expm1(effect + reach)
	};
	return {
		kind: Math.abs(effect) > reach + rounding ? "moved" : "steady",
		interval
	};
}
/** Where all runs agree to the last packet the reach is zero, but not what logarithms have lost of their digits. */
const rounding = 1e-12;

// src/stats/estimate.ts
/**
* The effect less the bias that stopping gave it: an experiment ends when its data happen to look clear, so that a
* loss is shown too large on average. The bias is that of experiments whose true effect is the one seen (Whitehead,
* Biometrika 73, 1986), here of 4,000 that are simulated in antithetic pairs with a known normal noise.
*/
function unbiasedEffect({ evidence, look }, looks, rule) {
	const { effect, method } = evidence;
	const deviation = standardErrorOf(evidence) * Math.sqrt(look.pairs);
	if (looks.length === 1 || !Number.isFinite(effect) || !Number.isFinite(deviation)) return effect;
	const random = xoroshiro128plus(1);
	let bias = 0;
	for (let path = 0; path < 2e3; path++) {
		const steps = looks.map(() => standardNormal(random));
		const negated = steps.map((step) => -step);
		for (const way of [steps, negated]) bias += (stoppedEffect(way, {
			method,
			effect,
			deviation
		}, looks, rule) - effect) / 4e3;
	}
	const { low, high } = boundsOf(evidence, look.levels.outside);
	return Math.min(high, Math.max(low, effect - bias));
}
/**
* What an experiment sees when it stops; `steps` are its standard normal increments from look to look. Of ranks, a
* look of few pairs decides nothing: that all n lie on one side happens by chance with 2⁻ⁿ.
*/
function stoppedEffect(steps, { method, effect, deviation }, looks, rule) {
	let sum = 0;
	let pairs = 0;
	let seen = effect;
	for (const [index, look] of looks.entries()) {
		sum += (steps[index] ?? 0) * Math.sqrt(look.pairs - pairs);
		pairs = look.pairs;
		seen = effect + deviation * sum / pairs;
		const error = deviation / Math.sqrt(pairs);
		const canBeSure = (level) => method === "pooled" || level >= .5 ** look.pairs;
		const boundsAt = (level) => canBeSure(level) ? around(seen, criticalT(Infinity, level) * error) : around(seen, Infinity);
		if (judgeLook(boundsAt, look.levels, rule) !== "inconclusive") break;
	}
	return seen;
}
const around = (center, reach) => ({
	low: center - reach,
	high: center + reach
});
/** Of ranks: half the interval that would be one standard error to each side, were they normal. */
function standardErrorOf(evidence) {
	if (evidence.method === "pooled") return evidence.standardError;
	const { low, high } = boundsOf(evidence, studentTail(1, Infinity));
	return (high - low) / 2;
}

// src/stats/verdict.ts
/** A cell that has ended, or what it is worth so far. `baseNumbers` are the base's, one a blast; `others` are shown beside patched. */
function cellResult(standing, policy, baseNumbers, others) {
	const { input, judgement } = standing;
	const { cell, design, history, runs } = input;
	const metrics = metricsInOrder(policy.metric);
	return {
		cell,
		verdict: cellVerdict(standing, policy),
		design,
		...history && { history },
		baseline: baselineOf(baseNumbers, history),
		pairs: judgement?.look.pairs ?? input.closedPairs,
		comparisons: metrics.flatMap((metric) => compare(standing, metric, policy)),
		others: others.map((variant) => ({
			variant,
			comparisons: metrics.flatMap((metric) => compareOther(standing, variant, metric, policy))
		})),
		runs,
		profiles: []
	};
}
/** Invalid where it is closed without a decision, or no look could be made. */
function cellVerdict(standing, policy) {
	const { judgement, closed } = standing;
	if (judgement !== void 0 && (isDecided(judgement) || !closed)) return { kind: judgement.verdict };
	return {
		kind: "invalid",
		reason: tooFew(standing, policy.metric)
	};
}
const metricsInOrder = (first) => first === "pps" ? ["pps", "nsPerPacket"] : ["nsPerPacket", "pps"];
/** One metric by the runs that were judged, or where none were by all that count; nothing where they tell nothing. */
function compare({ input, looks, judgement }, metric, policy) {
	const counted = countedRuns(input, judgement?.look.pairs ?? input.closedPairs);
	if (judgement?.evidence.effect === allLost(policy.metric).effect) return metric === "pps" ? [nothingLeft(counted)] : [];
	const look = judgement?.look ?? looks[0];
	const isOfVerdict = judgement !== void 0 && metric === policy.metric;
	return comparison(counted, input, {
		metric,
		policy,
		level: look?.levels.outside ?? 0
	}, (evidence) => isOfVerdict ? unbiasedEffect(judgement, looks, policy) : evidence.effect);
}
/**
* The same of another variant, in the pairs that patched was judged by. Its interval has the plain confidence level: it
* holds that often where the number of runs was fixed beforehand. Where it was not, base and patched ended them whatever
* this variant did; but as base is what both are compared with, a 95 % interval then misses in up to 7 % of simulated
* experiments. Nothing is allowed for the number of variants that are shown.
*/
function compareOther({ input, judgement }, variant, metric, policy) {
	const asPatched = {
		...input,
		runs: inPlaceOfPatched(variant, input.runs)
	};
	const counted = countedRuns(asPatched, judgement?.look.pairs ?? input.closedPairs);
	const moving = counted.patched.filter(({ pps }) => pps > 0);
	if (counted.base.length === 0 || counted.patched.length === 0) return [];
	if (moving.length === 0) return metric === "pps" ? [nothingLeft(counted)] : [];
	if (!isEnough(moving.length, counted.patched.length)) return [];
	return comparison(counted, asPatched, {
		metric,
		policy,
		level: (1 - policy.confidenceRatio) / 2
	}, ({ effect }) => effect);
}
const inPlaceOfPatched = (variant, runs) => runs.filter((run) => run.variant === "base" || run.variant === variant).map((run) => run.variant === variant ? {
	...run,
	variant: "patched"
} : run);
function comparison(counted, { design, history }, { metric, policy, level }, effectOf) {
	const values = {
		base: valuesOf(counted.base, metric),
		patched: valuesOf(counted.patched, metric)
	};
	if (values.base.length === 0 || values.patched.length === 0) return [];
	const earlier = metric === policy.metric ? history : void 0;
	const evidence = evidenceOf(counted, metric, design.method, earlier);
	const { low, high } = boundsOf(evidence, level);
	if (!Number.isFinite(low + high)) return [];
	const effect = effectOf(evidence);
	return [{
		metric,
		base: evidence.base,
		patched: evidence.base * Math.exp(effect),
		baseRuns: values.base.length,
		patchedRuns: values.patched.length,
		interval: {
			change: Math.expm1(effect),
			low: Math.expm1(low),
			high: Math.expm1(high)
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
/** Why no look could be made: how many pairs count, and what is the matter with most of those that do not. */
function tooFew({ input, looks }, metric) {
	const { failures } = input;
	const runs = input.runs.filter(({ variant }) => isJudged(variant));
	const asked = looks.find(({ pairs }) => evidenceAt(input, pairs, metric) === void 0)?.pairs ?? 0;
	const count = `${Math.min(asked, countOf(countedRuns(input, asked), metric))} of ${asked} pairs of runs count`;
	const why = mostFrequent([...failures.map((reason) => ({
		cause: reason,
		reason
	})), ...runs.flatMap((run) => whyNot(run, metric))]);
	if (why === void 0) return count;
	return why.cause === "generator-limited" ? `${why.reason}; ${count}` : `${count}: ${why.reason}`;
}
function whyNot(run, metric) {
	if (run.validity.kind === "invalid") return run.validity;
	if (run.pps === 0) return {
		cause: run.variant,
		reason: `${run.variant} forwarded nothing`
	};
	return run[metric] === void 0 ? {
		cause: metric,
		reason: `the DUT tells no ${metric}`
	} : [];
}
function mostFrequent(faults) {
	return [...Map.groupBy(faults, ({ cause }) => cause).values()].toSorted((a, b) => b.length - a.length)[0]?.[0];
}
/** The verdict of a patch is the worst of its cells; it gains only where nothing is lost or unknown. */
function worstVerdict(cells) {
	const kinds = cells.map(({ verdict }) => verdict.kind);
	return [
		"regression",
		"invalid",
		"inconclusive",
		"improvement"
	].find((kind) => kinds.includes(kind)) ?? "no-regression";
}

export { worstVerdict as i, cellVerdict as n, compare as r, cellResult as t };