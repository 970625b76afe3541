import { cellName, formatPps, isCost, isJudged, layoutOfPair, metricSchema, mostChange, verdictsWorstFirst } from "../model.js";
import { errorFunction, gammaln, mean, median as median$1, medianAbsoluteDeviation, quantileSorted, standardDeviation, sum as sum$1, sumNthPowerDeviations } from "../vendor/simple-statistics.js";
import { uniformFloat64, uniformInt, xoroshiro128plus } from "../vendor/pure-rand.js";

// src/analysis/stats/student.ts
const confidencePercents = [
	80,
	90,
	95,
	98,
	99,
	99.5
];
/**
* The critical value that ministat(1) uses: its table has three decimals and rows for 1 to 100 degrees of freedom, then
* the normal distribution.
*
* The table is the NIST handbook's of one-sided values, and ministat's last column is that of 0.999: its 99.5 % is 99.8
* % two-sided. Kept, so that our errors equal its errors.
*/
function studentT(degreesOfFreedom, confidencePercent) {
	const misprint = confidencePercent === 99.5 ? misprints.get(degreesOfFreedom) : void 0;
	if (misprint !== void 0) return misprint;
	const confidence = confidencePercent === 99.5 ? .998 : confidencePercent / 100;
	return Math.round(studentTExact(degreesOfFreedom > 100 ? Infinity : degreesOfFreedom, confidence) * 1e3) / 1e3;
}
/**
* The t with P(|T| ≤ t) = confidence, to a relative 1e-9 or better. `degreesOfFreedom` is positive (Welch's are
* fractions; infinity is the normal distribution), `confidence` a ratio in (0, 1).
*/
function studentTExact(degreesOfFreedom, confidence) {
	expectDegreesOfFreedom(degreesOfFreedom);
	if (!(confidence > 0 && confidence < 1)) throw new RangeError(`A confidence lies between 0 and 1, not at ${confidence}.`);
	if (degreesOfFreedom <= million) return quantile(degreesOfFreedom, confidence);
	const atMillion = quantile(million, confidence);
	const atInfinity = 2 * atMillion - quantile(million / 2, confidence);
	return atInfinity + (atMillion - atInfinity) * (million / degreesOfFreedom);
}
function expectDegreesOfFreedom(degreesOfFreedom) {
	if (degreesOfFreedom > 0) return;
	throw new RangeError(`Degrees of freedom are a positive number, not ${degreesOfFreedom}.`);
}
/** The t with P(T > t) = `level`; cached, as few values are needed very often. */
function criticalT(degreesOfFreedom, level) {
	const values = criticalValues.get(level) ?? /* @__PURE__ */ new Map();
	const known = values.get(degreesOfFreedom);
	if (known !== void 0) return known;
	const t = studentTExact(degreesOfFreedom, 1 - 2 * level);
	if (criticalValues.size >= mostCached) criticalValues.clear();
	if (values.size >= mostCached) values.clear();
	criticalValues.set(level, values.set(degreesOfFreedom, t));
	return t;
}
/** By level, then by degrees of freedom. */
const criticalValues = /* @__PURE__ */ new Map();
const mostCached = 1e4;
/** P(T > t) for `t` ≥ 0. The normal distribution (infinite degrees) has a relative error below 2e-7. */
function studentTail(t, degreesOfFreedom) {
	if (degreesOfFreedom === Infinity) return (1 - errorFunction(t / Math.SQRT2)) / 2;
	expectDegreesOfFreedom(degreesOfFreedom);
	const { inTails, within } = twoSided(t, degreesOfFreedom, gammaRatio(degreesOfFreedom / 2));
	return (inTails ?? 1 - within) / 2;
}
/** Degrees of freedom at which the published last column is not the rounded quantile. */
const misprints = /* @__PURE__ */ new Map([
	[1, 318.313],
	[7, 4.782],
	[8, 4.499],
	[9, 4.296],
	[10, 4.143],
	[11, 4.024],
	[12, 3.929]
]);
const million = 1e6;
/** Newton's method from below, as the tail is convex; then bisection down to neighbouring doubles, which cannot diverge. */
function quantile(degreesOfFreedom, confidence) {
	const ratio = gammaRatio(degreesOfFreedom / 2);
	const excessAt = (t) => excess(twoSided(t, degreesOfFreedom, ratio), confidence);
	let high = 1;
	while (excessAt(high) > 0) high *= 2;
	let low = high === 1 ? 0 : high / 2;
	let t = low;
	for (let step = Infinity, count = 0; step > 1e-9 * t && count < 50; count += 1) {
		step = excessAt(t) / (2 * density(t, degreesOfFreedom, ratio));
		t += step;
	}
	const [below, above] = [t * (1 - 1e-14), t * (1 + 1e-14)];
	if (below > low && below < high && excessAt(below) > 0) low = below;
	if (above > low && above < high && excessAt(above) <= 0) high = above;
	for (;;) {
		const middle = (low + high) / 2;
		if (middle <= low || middle >= high) return high;
		if (excessAt(middle) > 0) low = middle;
		else high = middle;
	}
}
/** By how much P(|T| > t) exceeds that of the quantile. */
const excess = ({ inTails, within }, confidence) => inTails === void 0 ? confidence - within : inTails - (1 - confidence);
/** `ratio` is `gammaRatio` of half the degrees of freedom. */
const density = (t, degreesOfFreedom, ratio) => ratio / Math.sqrt(Math.PI * degreesOfFreedom) * Math.exp(-(degreesOfFreedom + 1) / 2 * Math.log1p(t * t / degreesOfFreedom));
/**
* P(|T| > t) or P(|T| ≤ t), the one without loss of digits: a regularized incomplete beta function of ν/2 and 1/2,
* whose continued fraction converges fast on one side of the mean. `ratio` is `gammaRatio` of half the degrees of freedom.
*/
function twoSided(t, degreesOfFreedom, ratio) {
	const a = degreesOfFreedom / 2;
	const square = t * t;
	const beyond = degreesOfFreedom / (degreesOfFreedom + square);
	const within = square / (degreesOfFreedom + square);
	const factor = Math.exp(-a * Math.log1p(square / degreesOfFreedom)) * Math.sqrt(within / Math.PI) * ratio;
	return beyond < (a + 1) / (a + 2.5) ? { inTails: factor / a * betaFraction(beyond, a, .5) } : { within: 2 * factor * betaFraction(within, .5, a) };
}
/** Γ(a + 1/2) / Γ(a), by its asymptotic series (DLMF 5.11.13) after stepping up to its exact range. */
function gammaRatio(a) {
	let stepped = a;
	let correction = 1;
	for (; stepped < 40; stepped += 1) correction *= stepped / (stepped + .5);
	const x = 1 / stepped;
	const series = 1 + x * (-1 / 8 + x * (1 / 128 + x * (5 / 1024 + x * (-21 / 32768 - 399 / 262144 * x))));
	return correction * Math.sqrt(stepped) * series;
}
/** The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method. */
function betaFraction(x, a, b) {
	const tiny = 1e-300;
	let c = 1;
	let d = 1 / (1 - (a + b) * x / (a + 1) || tiny);
	let fraction = d;
	for (let m = 1; m < 1e5; m += 1) {
		const before = fraction;
		const even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		const odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		for (const term of [even, odd]) {
			d = 1 / (1 + term * d || tiny);
			c = 1 + term / c || tiny;
			fraction *= c * d;
		}
		if (!(Math.abs(fraction - before) > 1e-15 * fraction)) return fraction;
	}
	return fraction;
}

// src/analysis/stats/signed-rank.ts
/** Hodges' and Lehmann's estimate of the centre: the median of all pairwise averages. */
function hodgesLehmann(sorted) {
	const averages = averagesOf(sorted.length);
	return (walshAverage(sorted, Math.floor((averages + 1) / 2)) + walshAverage(sorted, Math.floor((averages + 2) / 2))) / 2;
}
/** Each bound is beyond the centre with a probability of at most `level`; undefined with too few numbers for it. */
function signedRankBounds(sorted, level) {
	const outside = averagesOutside(sorted.length, level);
	if (outside < 0) return void 0;
	return {
		low: walshAverage(sorted, outside + 1),
		high: walshAverage(sorted, averagesOf(sorted.length) - outside)
	};
}
const averagesOf = (n) => n * (n + 1) / 2;
/**
* Number of the n (n + 1) / 2 averages outside the interval at each end: the greatest value that Wilcoxon's statistic
* stays within with a probability of at most `level`; below 0 if n is too small.
*/
function averagesOutside(n, level) {
	if (n > mostExact) {
		const mean = n * (n + 1) / 4;
		const deviation = Math.sqrt(n * (n + 1) * (2 * n + 1) / 24);
		return Math.floor(mean - .5 - criticalT(Infinity, level) * deviation);
	}
	let cumulated = 0;
	for (const [statistic, probability] of signedRankDistribution(n).entries()) {
		cumulated += probability;
		if (cumulated > level) return statistic - 1;
	}
	return 0;
}
/** Beyond this the normal approximation is as good, and the exact distribution costs n³. */
const mostExact = 50;
/** Distribution of the sum of ranks if every rank from 1 to n counts by the flip of a coin. */
function signedRankDistribution(n) {
	let probabilities = [1];
	for (let rank = 1; rank <= n; rank++) {
		const next = new Array(probabilities.length + rank).fill(0);
		for (const [sum, probability] of probabilities.entries()) {
			next[sum] = (next[sum] ?? 0) + probability / 2;
			next[sum + rank] = (next[sum + rank] ?? 0) + probability / 2;
		}
		probabilities = next;
	}
	return probabilities;
}
/** The Walsh average (xᵢ + xⱼ) / 2, i ≤ j, of a rank from 1. Bisects: there are n², but counting takes n steps. */
function walshAverage(sorted, rank) {
	let [low = 0] = sorted;
	let high = sorted.at(-1) ?? 0;
	for (;;) {
		const middle = (low + high) / 2;
		if (!(middle > low && middle < high)) return averagesUpTo(sorted, low) >= rank ? low : high;
		if (averagesUpTo(sorted, middle) >= rank) high = middle;
		else low = middle;
	}
}
function averagesUpTo(sorted, limit) {
	let count = 0;
	let last = sorted.length - 1;
	for (let first = 0; first <= last; first++) {
		while (last >= first && ((sorted[first] ?? 0) + (sorted[last] ?? 0)) / 2 > limit) last--;
		count += Math.max(0, last - first + 1);
	}
	return count;
}

// src/analysis/stats/summary.ts
/** The middle value, or the mean of the two in the middle; 0 for none. */
const median = (values) => values.length === 0 ? 0 : median$1(values);
/** Takes positive numbers, at least one; NaN if one is negative. A product of many rates is beyond a double. */
const geometricMean = (values) => Math.exp(mean(values.map(Math.log)));
/** Change of an effect on logarithms, within what a result can hold: a huge change is as good as a larger one. */
const changeOf = (effect) => Math.min(Math.expm1(effect), mostChange);

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
		base: Math.exp(mean(base.map(logOf$1))),
		effect,
		standardError: Math.sqrt(noise.sumOfSquares / noise.degreesOfFreedom * factor),
		degreesOfFreedom: noise.degreesOfFreedom
	};
}
const logOf$1 = ({ value }) => Math.log(value);
function fitOf(base, patched) {
	const [baseLogs, patchedLogs] = [base.map(logOf$1), patched.map(logOf$1)];
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
	const square = sum$1(trials.map((own) => sumNthPowerDeviations(own, 2)));
	const product = sum$1(trials.map((own, index) => sumOfProducts(own, logs[index] ?? [])));
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
	return sum$1(xs.map((value, index) => (value - x) * ((ys[index] ?? y) - y)));
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
* Returns the changes under which data this far off have a probability of more than `level`, to each side. Both bounds
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

// src/analysis/stats/boundary.ts
/**
* The one nominal one-sided level of all interim analyses, by Pocock (Biometrika 64, 1977): data without any effect
* cross the boundary at one of them with probability `rate`. `sizes` are the pairs at each, ascending. 0 for a rate
* beyond the range of this method: such data never cross.
*/
function pocockLevel(sizes, rate) {
	if (Number.isNaN(rate)) throw new RangeError("The rate of an error is a number.");
	if (rate < leastLevel) return 0;
	const levelAt = (z) => studentTail(z, Infinity);
	const spends = (z) => crossingProbability(sizes, sizes.map(() => levelAt(z)));
	let low = 0;
	let high = 1;
	for (; spends(high) > rate; high *= 2) low = high;
	while (high - low > 1e-4 * high) {
		const middle = (low + high) / 2;
		if (spends(middle) > rate) low = middle;
		else high = middle;
	}
	return levelAt(high);
}
/**
* Probability that data without an effect exceed a nominal one-sided level at some look: the recursion of Armitage,
* McPherson and Rowe (J. R. Stat. Soc. A 132, 1969) over the sum of independent normal steps. With an estimated
* variance, as in Student's test, the levels nearly hold (Jennison and Turnbull, Group Sequential Methods, 4.4): in
* simulations the sum is up to a fifth larger if the first look has two degrees of freedom, and below a tenth from four on.
*/
function crossingProbability(sizes, levels) {
	expectSizes(sizes);
	let total = 0;
	let inside = [{
		at: 0,
		mass: 1
	}];
	let reached = 0;
	for (const [index, size] of sizes.entries()) {
		const deviation = Math.sqrt(size - reached);
		const limit = criticalZ(levels[index] ?? 0) * Math.sqrt(size);
		total += sumOver(inside, ({ at, mass }) => mass * upperTail$1((limit - at) / deviation));
		const next = sizes[index + 1];
		if (next === void 0) break;
		const range = {
			low: -farthest * Math.sqrt(size),
			high: limit
		};
		const nextDeviation = Math.sqrt(next - size);
		inside = spread(inside, deviation, range, nodesFor(range, deviation, nextDeviation));
		reached = size;
	}
	return total;
}
/** The nodes of a quadrature grow with the root of the pairs. */
const mostPairs = 1e6;
function expectSizes(sizes) {
	if (sizes.every((size, index) => size >= (sizes[index - 1] ?? 0) + 1) && (sizes.at(-1) ?? 0) <= mostPairs) return;
	throw new RangeError(`Interim analyses are of ascending numbers of pairs, up to ${mostPairs}.`);
}
/** Density after one more step, at `count` nodes of the range. */
function spread(from, deviation, { low, high }, count) {
	return gaussLegendre(count).map(({ at, weight }) => {
		const place = low + (high - low) * (at + 1) / 2;
		return {
			at: place,
			mass: sumOver(from, ({ at: start, mass }) => mass * normalDensity((place - start) / deviation)) / deviation * weight * (high - low) / 2
		};
	});
}
/**
* The integrand is a density smoothed by one step, times the bell of the next: no sharper than a bell of their joint
* `sharpness`. n Gauss nodes in a range of n/f such deviations miss about exp(−8 f²), by the bound for entire functions
* (Trefethen, Approximation Theory and Approximation Practice, theorem 19.3) in the best ellipse: 2e-8 with f = 1.5.
*/
function nodesFor({ low, high }, deviation, nextDeviation) {
	const sharpness = Math.hypot(1 / deviation, 1 / nextDeviation);
	return 16 * Math.ceil(Math.max(2, 1.5 * (high - low) * sharpness / 16));
}
/** Deviations below the mean beyond which the density is negligible. */
const farthest = 6;
const leastLevel = 1e-12;
/** Levels beyond the range of a double are practically never crossed; one half is the maximum. */
const criticalZ = (level) => level < leastLevel ? 7 : level >= 1 / 2 ? 0 : criticalT(Infinity, level);
const upperTail$1 = (z) => studentTail(z, Infinity);
/** Most nodes are too far apart to contribute to a double, and exponentials are slow. */
const normalDensity = (z) => z * z > 80 ? 0 : Math.exp(-z * z / 2) / Math.sqrt(2 * Math.PI);
function sumOver(nodes, value) {
	let sum = 0;
	for (const node of nodes) sum += value(node);
	return sum;
}
/** Gauss–Legendre nodes on −1 … 1, by Newton's method on the recurrence (Abramowitz and Stegun, 25.4.29). */
function gaussLegendre(count) {
	const known = quadratures.get(count);
	if (known !== void 0) return known;
	const nodes = Array.from({ length: count }, (_, index) => quadratureNode(count, index));
	quadratures.set(count, nodes);
	return nodes;
}
const quadratures = /* @__PURE__ */ new Map();
function quadratureNode(count, index) {
	let at = Math.cos(Math.PI * (index + .75) / (count + .5));
	let slope = 1;
	for (let step = 0; step < 8; step++) {
		let [before, value] = [0, 1];
		for (let degree = 0; degree < count; degree++) [before, value] = [value, ((2 * degree + 1) * at * value - degree * before) / (degree + 1)];
		slope = count * (at * value - before) / (at * at - 1);
		at -= value / slope;
	}
	return {
		at,
		weight: 2 / ((1 - at * at) * slope * slope)
	};
}

// src/analysis/stats/design.ts
/**
* The interim analyses of a design, in order, all of one nominal level (Pocock, Biometrika 64, 1977). The error rates
* hold over all of them, extensions included: the planned budget spends nine tenths of each, and every extension half of
* the rest.
*/
function looksOf(design, rates) {
	const key = JSON.stringify([design, rates]);
	const looks = knownLooks.get(key) ?? computeLooks(design, rates);
	knownLooks.set(key, looks);
	return looks;
}
/** Takes a tenth of a second to compute, and is read after every trial. */
const knownLooks = /* @__PURE__ */ new Map();
function computeLooks(design, rates) {
	return design.budgets.flatMap((budget, stage) => {
		const sizes = sizesUpTo(budget, design.budgets[stage - 1] ?? 0, design);
		const levels = {
			falseAlarms: pocockLevel(sizes, rates.falseAlarms * shareOf(stage, .9)),
			misses: pocockLevel(sizes, rates.misses * shareOf(stage, .8)),
			outside: pocockLevel(sizes, rates.outside * shareOf(stage, .9))
		};
		return sizes.map((pairs) => ({
			pairs,
			levels
		}));
	});
}
/** The planned budget spends `first`, and every extension half of the rest. */
const shareOf = (stage, first) => stage === 0 ? first : (1 - first) * .5 ** stage;
/** The pairs at each interim analysis. */
const lookSizes = (design) => design.budgets.flatMap((budget, stage) => sizesUpTo(budget, design.budgets[stage - 1] ?? 0, design));
function sizesUpTo(budget, after, { name, pairsPerStep }) {
	if (!(pairsPerStep >= 1)) throw new RangeError(`A step has at least one pair, not ${pairsPerStep}.`);
	if (name === "fixed") return [budget];
	const sizes = [];
	const sizeAfter = pairsPerStep === 1 ? sizeOfSinglesAfter : sizeOfStepsAfter(pairsPerStep);
	for (let size = sizeAfter(0); size < budget; size = sizeAfter(size)) if (size > after) sizes.push(size);
	return [...sizes, budget];
}
/** The first has a whole ABBA: a first run that differs from all others would pass for a change before it. */
const singleSizes = [
	2,
	3,
	4,
	6,
	8,
	11,
	15,
	20
];
const sizeOfSinglesAfter = (size) => singleSizes.find((next) => next > size) ?? Math.round(size * 4 / 3);
/** Sizes after every step or, once there are many steps, after every twentieth part more. */
const sizeOfStepsAfter = (pairsPerStep) => (size) => size + pairsPerStep * Math.max(1, Math.round(size / 20 / pairsPerStep));

// src/analysis/stats/judge.ts
/**
* Judges looks in order until one decides; looks without evidence are skipped. Before the last one, a cell that seems to
* gain the margin is not passed yet: a loss is excluded sooner than a gain is certain.
*/
function judgeInOrder(looks, evidenceAt, rule) {
	let last;
	for (const look of looks) {
		const evidence = evidenceAt(look.pairs);
		if (evidence === void 0) continue;
		const verdict = verdictAt(look, evidence, rule);
		last = {
			verdict: verdict === "no-regression" && look !== looks.at(-1) && gainsMargin(evidence, rule) ? "inconclusive" : verdict,
			look,
			evidence
		};
		if (last.verdict !== "inconclusive") break;
	}
	return last;
}
const gainsMargin = ({ effect }, { metric, marginRatio }) => (isCost(metric) ? -effect : effect) >= -Math.log1p(-marginRatio);
/** Verdict of one interim analysis. */
const verdictAt = ({ levels }, evidence, rule) => judgeLook((level) => boundsOf(evidence, level), levels, rule);
/**
* Regression: a significant loss, and a loss of the margin is not excluded. Improvement: the mirror image, with base as
* a patch of patched. No regression: a loss of the margin is excluded. Inconclusive: none of these.
*
* These are the two rejections of a generalized likelihood ratio test with a zone of indifference between its
* hypotheses, no loss and a loss of the margin, each against the best fit. Testing each against the other, as a
* composite ratio, stays open for any truth between them: at half the margin it takes twice the runs.
*/
function judgeLook(boundsAt, levels, { metric, marginRatio }) {
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
* Judges every cell at its looks. The false alarms of a patch are split evenly. As in Holm's procedure (Scandinavian
* Journal of Statistics 6, 1979), a losing cell passes its share to the open cells, which are judged with it at their
* last look; so the rate holds over the patch, however many cells lose.
*/
function interimResults(inputs, policy) {
	const all = relaxed(inputs.map((input) => {
		const looks = looksSharedBy(inputs.length, input, policy);
		const lost = lostAt(input, looks);
		if (lost !== void 0) return {
			input,
			looks,
			judgement: lost,
			closed: true
		};
		const evidence = (pairs) => evidenceAt(input, pairs, policy);
		const judgement = judgeInOrder(looks, evidence, policy);
		const isDead = looks.filter(({ pairs }) => pairs <= input.closedPairs).some(({ pairs }) => evidence(pairs) === void 0);
		return {
			input,
			looks,
			judgement,
			closed: isDecided(judgement) || isDead
		};
	}), policy);
	return policy.stopsAtFirst ? stoppedAtFirst(all) : all;
}
/** A cell stopped early by another's loss gets no verdict, so no error rate grows. */
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
/** Judges an open cell at its last look with its remaining share, if only verdicts of that kind are counted. */
function rejudged(interim, kind, sharers, policy) {
	const { input, judgement } = interim;
	if (judgement?.evidence === void 0 || interim.closed || sharers < 1) return interim;
	const looks = looksSharedBy(sharers, input, policy);
	const look = looks.find(({ pairs }) => pairs === judgement.look.pairs) ?? judgement.look;
	const { evidence } = judgement;
	if (verdictAt(look, evidence, policy) !== kind) return interim;
	return {
		...interim,
		looks,
		judgement: {
			verdict: kind,
			look,
			evidence
		},
		closed: true
	};
}
/** Looks of a cell that shares the false alarms of its patch with this many cells, itself included. */
function looksSharedBy(sharers, { design }, policy) {
	return looksOf(design, {
		falseAlarms: Math.min(policy.falseAlarmRatio / sharers, policy.missRatio),
		misses: policy.missRatio,
		outside: (1 - policy.confidenceRatio) / 2
	});
}
/** Decided at once, before any planned look. */
function lostAt(input, looks) {
	if (!forwardsNothing(input)) return void 0;
	return {
		verdict: "regression",
		look: {
			pairs: input.runs.filter(({ validity }) => validity.kind === "valid").reduce((last, { pair }) => Math.max(last, pair), 0),
			levels: looks[0]?.levels ?? {
				falseAlarms: 0,
				misses: 0,
				outside: 0
			}
		}
	};
}
/**
* True if patched forwards nothing in at least some runs. As with panics, a patch is blamed only if it happens twice
* more than to a base that has forwarded twice here. Of runs that share a trial, one in ten may be lost to a stall of a
* shared machine.
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
/** A tenth of the pairs may be lost to stalls of a shared machine: the interval widens accordingly. */
const isEnough = (counted, asked) => counted >= .9 * asked;
/**
* Valid runs of the first `pairs` pairs whose base forwards; of paired ones only if both runs are. For a patch that
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

// src/analysis/stats/columns.ts
/** Invalid input of `ppsgate ministat`; the message is one sentence for the user. */
var MinistatInputError = class extends Error {
	name = "MinistatInputError";
};
/**
* Returns the numbers in file order. Skips empty lines, lines that end before the column, and lines with a field that
* begins with `#` at or before it. A trailing carriage return is white space.
*
* @throws MinistatInputError if the column holds anything but a finite number.
*/
function parseColumn(text, options) {
	const { name, column = 1, delimiters = " 	" } = options;
	const separates = byteSet(delimiters);
	let values = /* @__PURE__ */ new Float64Array(1024);
	let count = 0;
	let line = 0;
	for (let start = 0; start < text.length;) {
		const lineStart = start;
		const lineEnd = endOfLine(text, start);
		start = lineEnd + 1;
		line += 1;
		const end = withoutTrailingSpace(text, lineStart, lineEnd);
		const from = startOfField(text, lineStart, end, column, separates);
		if (from === end) continue;
		const to = endOfField(text, from, end, separates);
		const value = parseNumber(text, skip(text, from, to, isSpace), to);
		if (!Number.isFinite(value)) throw refusal(value, text.toString("utf8", from, to), line, name);
		if (count === values.length) values = doubled(values);
		values[count] = value;
		count += 1;
	}
	return values.subarray(0, count);
}
const newline = 10;
const hash = 35;
const plus = 43;
const minus = 45;
const dot = 46;
const zero = 48;
const capitalE = 69;
const letterE = 101;
function byteSet(characters) {
	const set = /* @__PURE__ */ new Uint8Array(256);
	for (const byte of Buffer.from(characters)) set[byte] = 1;
	return set;
}
const isSpace = byteSet(" 	\n\v\f\r");
function endOfLine(text, start) {
	let at = start;
	while (at < text.length && text[at] !== newline) at += 1;
	return at;
}
function withoutTrailingSpace(text, start, end) {
	let at = end;
	while (at > start && isSpace[text[at - 1] ?? 0] === 1) at -= 1;
	return at;
}
/** Returns the start of the field, or `end` if the line lacks it or a comment comes first. */
function startOfField(text, start, end, column, separates) {
	let at = skip(text, start, end, separates);
	for (let field = 1; field < column && at < end && text[at] !== hash; field += 1) at = skip(text, endOfField(text, at, end, separates), end, separates);
	return at < end && text[at] === hash ? end : at;
}
function skip(text, start, end, bytes) {
	let at = start;
	while (at < end && bytes[text[at] ?? 0] === 1) at += 1;
	return at;
}
function endOfField(text, start, end, separates) {
	let at = start;
	while (at < end && separates[text[at] ?? 0] === 0) at += 1;
	return at;
}
/**
* Exact without a string: 15 digits and a power of ten up to 22 are exact doubles, so one operation rounds correctly.
*/
function parseNumber(text, start, end) {
	const sign = text[start];
	let at = sign === minus || sign === plus ? start + 1 : start;
	let digits = 0;
	let mantissa = 0;
	let point = -1;
	for (; at < end; at += 1) {
		const digit = (text[at] ?? 0) - zero;
		if (digit >= 0 && digit <= 9) {
			mantissa = mantissa * 10 + digit;
			digits += 1;
		} else if (text[at] === dot && point < 0) point = at;
		else break;
	}
	const exponent = at === end ? 0 : parseExponent(text, at, end);
	if (digits === 0 || Number.isNaN(exponent)) return parseRareNumber(text.toString("latin1", start, end));
	const power = point < 0 ? exponent : exponent - (at - point - 1);
	if (digits > 15 || power < -22 || power > 22) return Number(text.toString("latin1", start, end));
	const scale = powersOfTen[Math.abs(power)] ?? 1;
	const magnitude = power < 0 ? mantissa / scale : mantissa * scale;
	return sign === minus ? -magnitude : magnitude;
}
const powersOfTen = Float64Array.from({ length: 23 }, (_, power) => Number(`1e${power}`));
/** `e±ddd`; NaN for anything else. */
function parseExponent(text, start, end) {
	if (text[start] !== letterE && text[start] !== capitalE) return NaN;
	const sign = text[start + 1];
	const first = sign === minus || sign === plus ? start + 2 : start + 1;
	if (first >= end) return NaN;
	let exponent = 0;
	for (let at = first; at < end; at += 1) {
		const digit = (text[at] ?? 0) - zero;
		if (digit < 0 || digit > 9) return NaN;
		exponent = exponent * 10 + digit;
	}
	return sign === minus ? -exponent : exponent;
}
/** Reads the other forms of strtod(3), infinities and hexadecimals; NaN for anything else. */
function parseRareNumber(text) {
	if (/^[+-]?inf(inity)?$/i.test(text)) return Infinity;
	const hexadecimal = /^([+-]?)0x(?=\.?[\da-f])([\da-f]*)\.?([\da-f]*)(p([+-]?\d+))?$/i.exec(text);
	if (hexadecimal === null) return NaN;
	const [, sign, whole = "", fraction = "", , exponent = "0"] = hexadecimal;
	const magnitude = Number(`0x${whole}${fraction}`) * 2 ** (Number(exponent) - 4 * fraction.length);
	return sign === "-" ? -magnitude : magnitude;
}
function refusal(value, field, line, name) {
	const shown = JSON.stringify(field.length > 40 ? `${field.slice(0, 40)}…` : field);
	const problem = Number.isNaN(value) ? `${shown} where a number belongs` : `${shown}, which no statistic can use`;
	return new MinistatInputError(`Line ${line} of ${name} holds ${problem}: correct it, begin the line with #, or choose another column with -C.`);
}
function doubled(values) {
	const larger = new Float64Array(values.length * 2);
	larger.set(values);
	return larger;
}

// src/analysis/stats/ministat-plot.ts
/** Yields lines in pieces of at most about a megabyte. Sets and summaries are in the same order, at most seven each. */
function* plot(sets, summaries, options) {
	const { width = 74, separateBars = false } = options;
	const axis = spanAxis(summaries, width);
	if (axis.span === 0) {
		yield "[no plot, span is zero width]\n";
		return;
	}
	const border = `+${"-".repeat(width)}+\n`;
	yield border;
	yield* pileLines(sets, axis);
	yield barLines(summaries, axis, separateBars);
	yield border;
}
/** Sets that share a spot are or'ed to one symbol, as in ministat. */
const symbol = (bits) => " x+*%#@O".charAt(bits);
function spanAxis(summaries, width) {
	let low = 999e99;
	let high = -999e99;
	for (const { min, max, average, stddev } of summaries) for (const value of [
		min,
		max,
		average - stddev,
		average + stddev
	]) {
		if (value < low) low = value;
		if (value > high) high = value;
	}
	const span = high - low;
	const step = span / (width - 1);
	const origin = low - .5 * step;
	return {
		width,
		span,
		columnOf: (value) => Math.trunc((value - origin) / step)
	};
}
/** Yields the dots, top line first. Equal lines are one piece: a pile may be millions high, but has few shapes. */
function* pileLines(sets, axis) {
	const piles = sets.map(({ values }) => pileHeights(values, axis));
	const tops = piles.map((heights) => Math.max(1, ...heights));
	const cleared = sets.map((_, index) => clearedAbove(tops, index));
	const last = tops.at(-1) ?? 0;
	const changes = [.../* @__PURE__ */ new Set([
		last,
		...cleared,
		...piles.flatMap((heights) => [...heights])
	])].filter((level) => level > 0 && level <= last).sort((a, b) => b - a);
	for (const [index, level] of changes.entries()) yield* repeated(pileLine(piles, cleared, level, axis.width), level - (changes[index + 1] ?? 0));
}
function pileHeights(values, axis) {
	const heights = new Uint32Array(axis.width);
	for (let index = 0; index < values.length; index += 1) {
		const column = axis.columnOf(values[index] ?? NaN);
		heights[column] = (heights[column] ?? 0) + 1;
	}
	return heights;
}
/**
* Highest line that set `index` keeps. A quirk of published plots: the height is that of the last set drawn, and a set
* higher than the one before it first wipes everything above that one's top.
*/
function clearedAbove(tops, index) {
	const wiped = tops.slice(index, -1).filter((top, at) => (tops[index + at + 1] ?? 0) > top);
	return Math.min(...wiped, Infinity);
}
function pileLine(piles, cleared, level, width) {
	const bits = new Uint8Array(width);
	for (const [index, heights] of piles.entries()) {
		if (level > (cleared[index] ?? Infinity)) continue;
		for (const [column, height] of heights.entries()) if (height >= level) bits[column] = (bits[column] ?? 0) | index + 1;
	}
	return framed(Array.from(bits, symbol));
}
function* repeated(line, times) {
	const together = Math.ceil(1e6 / line.length);
	for (let left = times; left > 0; left -= together) yield line.repeat(Math.min(left, together));
}
/** `|___A___|` spans the average ± the standard deviation; M is the median, and A, drawn last, the average. */
function barLines(summaries, axis, separateBars) {
	const bars = summaries.map(() => Array(axis.width).fill(" "));
	const [shared = []] = bars;
	for (const [index, summary] of summaries.entries()) drawBar(separateBars ? bars[index] ?? shared : shared, summary, axis);
	return separateBars ? bars.map(framed).join("") : framed(shared);
}
function drawBar(bar, { median, average, stddev }, axis) {
	const left = axis.columnOf(average - stddev);
	const right = axis.columnOf(average + stddev);
	for (let column = Math.max(0, left + 1); column < Math.min(right, axis.width); column += 1) if (bar[column] === " ") bar[column] = "_";
	const put = (column, mark) => {
		if (column >= 0 && column < axis.width) bar[column] = mark;
	};
	put(right, "|");
	put(left, "|");
	put(axis.columnOf(median), "M");
	put(axis.columnOf(average), "A");
}
const framed = (characters) => `|${characters.join("")}|\n`;

// src/analysis/stats/printf.ts
/** `%.{digits}g`: the exact value rounded half to even, at least two digits. */
function formatGeneral(value, digits) {
	if (Number.isNaN(value)) return "nan";
	const sign = value < 0 || Object.is(value, -0) ? "-" : "";
	if (!Number.isFinite(value)) return `${sign}inf`;
	const [mantissa = "", power = ""] = roundHalfToEven(Math.abs(value), digits).split("e");
	const exponent = Number(power);
	if (exponent < -4 || exponent >= digits) {
		const twoDigits = String(Math.abs(exponent)).padStart(2, "0");
		return `${sign}${withoutTrailingZeros(mantissa)}e${exponent < 0 ? "-" : "+"}${twoDigits}`;
	}
	const figures = "0".repeat(Math.max(0, -exponent)) + mantissa.replace(".", "");
	const whole = Math.max(0, exponent) + 1;
	return sign + withoutTrailingZeros(`${figures.slice(0, whole)}.${figures.slice(whole)}`);
}
/** `d.ddde±x`. JavaScript rounds an exact half up and C to even; a hundred decimals identify an exact half. */
function roundHalfToEven(magnitude, digits) {
	const exact = magnitude.toExponential(100);
	const kept = exact.slice(0, digits + 1);
	return /^50*e/.test(exact.slice(digits + 1)) && /[02468]$/.test(kept) ? kept + exact.slice(exact.indexOf("e")) : magnitude.toExponential(digits - 1);
}
const withoutTrailingZeros = (decimal) => decimal.replace(/\.?0*$/, "");

// src/analysis/stats/ministat.ts
/**
* Computes the numbers, including those that ministat omits with `-n`, `-P` or an unproven difference.
*
* @throws MinistatInputError for no sets, more than seven, or a set of fewer than three values.
*/
function compare$1(sets, options = {}) {
	const { confidencePercent = 95, population = false } = options;
	refuseUnusable(sets);
	const samples = sets.map(measure);
	const [reference, ...others] = samples;
	return {
		confidencePercent,
		summaries: samples.map((sample) => summarize(sample, population)),
		differences: others.map((other) => differ(reference ?? other, other, confidencePercent))
	};
}
/** Renders ministat's output; `renderMinistat(sets, { separateBars: true })` is the form common in mail. */
function renderMinistat(sets, options = {}) {
	return [...ministatPieces(sets, options)].join("");
}
/** Yields the text in pieces of about a megabyte: the plot of ten million values exceeds the maximum string length. */
function* ministatPieces(sets, options = {}) {
	const { summariesOnly = false, withoutPlot = false, quiet = false, population = false } = options;
	const { summaries, differences, confidencePercent } = compare$1(sets, options);
	if (!quiet) yield sets.map(({ name }, index) => `${symbol(index + 1)} ${name}\n`).join("");
	if (!summariesOnly && !withoutPlot) yield* plot(sets, summaries, options);
	if (!quiet) yield heads;
	for (const [index, summary] of summaries.entries()) {
		yield summaryRow(summary, symbol(index + 1));
		const difference = differences[index - 1];
		if (difference === void 0 || summariesOnly || population) continue;
		yield differenceLines(difference, confidencePercent);
	}
}
const mostSets = 7;
const fewestValues = 3;
function refuseUnusable(sets) {
	if (sets.length === 0) throw new MinistatInputError("There is nothing to compare: name at least one file of numbers.");
	if (sets.length > mostSets) throw new MinistatInputError(`There are ${sets.length} sets and symbols for ${mostSets} only: leave out ${sets.length - mostSets}.`);
	const short = sets.find(({ values }) => values.length < fewestValues);
	if (short === void 0) return;
	throw new MinistatInputError(`${short.name} holds ${short.values.length} of the at least ${fewestValues} numbers that a standard deviation needs: measure more often.`);
}
function measure({ name, values }) {
	let sum = 0;
	for (let index = 0; index < values.length; index += 1) sum += values[index] ?? NaN;
	const average = sum / values.length;
	const sorted = sortedCopy(values);
	let squares = 0;
	for (let index = 0; index < sorted.length; index += 1) {
		const deviation = (sorted[index] ?? NaN) - average;
		squares += deviation * deviation;
	}
	return {
		name,
		sorted,
		average,
		variance: squares / (values.length - 1)
	};
}
function sortedCopy(values) {
	const copy = values.slice();
	if (!values.every((value) => value >= 0)) return copy.sort();
	new BigInt64Array(copy.buffer).sort();
	return copy;
}
function summarize({ name, sorted, average, variance }, population) {
	const n = sorted.length;
	const shrink = population ? Math.sqrt((n - 1) / n) : 1;
	return {
		name,
		n,
		min: sorted[0] ?? NaN,
		max: sorted[n - 1] ?? NaN,
		median: middle(sorted),
		average,
		stddev: Math.sqrt(variance) * shrink
	};
}
function middle(sorted) {
	const half = Math.floor(sorted.length / 2);
	const upper = sorted[half] ?? NaN;
	return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? NaN)) / 2;
}
/** Student's t with pooled variance. The relative error is that of a ratio, as in the current ministat. */
function differ(first, other, confidencePercent) {
	const [n1, n2] = [first.sorted.length, other.sorted.length];
	const degreesOfFreedom = n1 + n2 - 2;
	const t = studentT(degreesOfFreedom, confidencePercent);
	const squares1 = (n1 - 1) * first.variance;
	const squares2 = (n2 - 1) * other.variance;
	const pooledStddev = Math.sqrt((squares2 + squares1) / degreesOfFreedom);
	const difference = other.average - first.average;
	const error = t * (pooledStddev * Math.sqrt(1 / n2 + 1 / n1));
	const ratioSquares = squares2 + squares1 * (other.average * other.average) / (first.average * first.average);
	const ratioError = t * Math.sqrt(ratioSquares * ((n2 + n1) / (n2 * n1 * degreesOfFreedom)));
	return {
		name: other.name,
		difference,
		error,
		relativeDifferencePercent: difference * 100 / first.average,
		relativeErrorPercent: ratioError * 100 / first.average,
		pooledStddev,
		significant: Math.abs(difference) > error
	};
}
const heads = "    N           Min           Max        Median           Avg        Stddev\n";
function summaryRow(summary, mark) {
	const { n, min, max, median, average, stddev } = summary;
	const cells = [
		min,
		max,
		median,
		average,
		stddev
	].map((cell) => formatGeneral(cell, 8).padStart(13));
	return `${mark} ${[String(n).padStart(3), ...cells].join(" ")}\n`;
}
function differenceLines(difference, confidencePercent) {
	const confidence = `${confidencePercent.toFixed(1)}% confidence`;
	if (!difference.significant) return `No difference proven at ${confidence}\n`;
	const g = (value) => formatGeneral(value, 6);
	return [
		`Difference at ${confidence}\n`,
		`\t${g(difference.difference)} +/- ${g(difference.error)}\n`,
		`\t${g(difference.relativeDifferencePercent)}% +/- ${g(difference.relativeErrorPercent)}%\n`,
		`\t(Student's t, pooled s = ${g(difference.pooledStddev)})\n`
	].join("");
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
	const deviation = Math.max(median(distances.slice(variants.size)), leastDeviation$1);
	return counted.filter((run) => (variants.get(run.variant)?.length ?? 0) >= 3 && .6745 * distanceOf(run) > 3.5 * deviation);
}
const logOf = (run) => Math.log(run.pps);
/** Lower limit: if runs agree to the packet, a run that differs by 0.1 % is no outlier. */
const leastDeviation$1 = 5e-4;

// src/analysis/stats/spread.ts
/** A CPU with less than this share of the busiest one's work has other work, as that of a timer. */
const leastOfBusiest = .5;
/** Below it, no CPU was a limit. */
const leastBusyRatio = .2;
/** By packets of each CPU, as it may be busy with others' work; without them by busy shares. */
function cpusAtWork({ cpuBusyRatios, queues }) {
	const packets = queues.filter(({ device }) => device === "softnet").map(({ ratio }) => ratio);
	const shares = packets.length > 0 ? packets : cpuBusyRatios;
	const busiest = shares.reduce((most, share) => Math.max(most, share), 0);
	const least = packets.length > 0 ? Number.MIN_VALUE : leastBusyRatio;
	if (shares.length < 2 || busiest < least) return void 0;
	return {
		used: shares.filter((share) => share >= busiest * leastOfBusiest).length,
		all: shares.length
	};
}
/** A queue with less than this part of its even share got no flows of the test. */
const leastOfEven = .1;
/** Receive queues of cards, with at least two. */
function queuesReached({ queues }) {
	const received = queues.filter(({ device, direction }) => direction === "receive" && device !== "softnet");
	return [...Map.groupBy(received, ({ device }) => device)].flatMap(([device, own]) => {
		const all = own.length;
		const used = own.filter(({ ratio }) => ratio >= leastOfEven / all).length;
		return all < 2 || used === 0 ? [] : {
			device,
			used,
			all
		};
	});
}
/** A test that reaches fewer than half leaves most of the DUT idle: its numbers are of a few queues. */
const reachesFew = ({ used, all }) => used * 2 < all;
const adviceToReachMore = "offer more `flows`, change the RSS key of the card, or give it fewer queues";

// src/analysis/stats/interaction.ts
/**
* F of the interaction of variant and trial: one-way analysis of variance of the logarithms of patched over base, by
* trial. Undefined for single runs a trial, which say nothing of it, and where all pairs of a trial are equal.
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

// src/analysis/stats/binomial.ts
/** Chance that a bound is ever wrong, however often it is looked at. */
const everWrongRatio = .05;
/** Beta prior of the share, expected near 1 %. It decides where the bounds are tightest, not whether they hold. */
const prior = {
	events: .5,
	others: 50
};
/**
* Highest share compatible with `events` among `tries`, 1 for no tries. Holds at every number of tries together with the
* lower bound: a beta-binomial mixture martingale (Robbins, Annals of Mathematical Statistics 41, 1970; Howard, Ramdas,
* McAuliffe & Sekhon, Annals of Statistics 49, 2021) exceeds 1/α anywhere with probability α at most.
*/
const upperBound = (events, tries) => events >= tries ? 1 : crossing(events, tries, events / tries, 1);
/** Lowest compatible share, 0 without events. */
const lowerBound = (events, tries) => events === 0 ? 0 : crossing(events, tries, events / tries, 0);
/** Finds by halving the share beyond which the martingale is above its limit, from `inside` to `outside`. */
function crossing(events, tries, inside, outside) {
	let [kept, left] = [inside, outside];
	for (let step = 0; step < 60; step += 1) {
		const middle = (kept + left) / 2;
		if (logMartingale(events, tries, middle) > -Math.log(everWrongRatio)) left = middle;
		else kept = middle;
	}
	return left;
}
/** Logarithm of the likelihood of the mixture over that of `share`. */
const logMartingale = (events, tries, share) => logBeta(prior.events + events, prior.others + tries - events) - logBeta(prior.events, prior.others) - events * Math.log(share) - (tries - events) * Math.log1p(-share);
const logBeta = (a, b) => gammaln(a) + gammaln(b) - gammaln(a + b);

// src/analysis/stats/trial-numbers.ts
const isCounted = ({ validity, pps }) => validity.kind === "valid" && pps > 0;
function trialNumbers(runs, metric) {
	const counted = runs.filter(isCounted);
	return [...Map.groupBy(counted, (run) => `${run.trial}.${run.attempt}`).values()].flatMap((group) => {
		const values = group.flatMap((run) => run[metric] ?? []);
		return values.length > 0 ? [median(values)] : [];
	});
}

// src/analysis/stats/sessions.ts
/** Fewer sessions say too little of how far their variances differ. */
const fewestSessions = 10;
/** However alike sessions have been, the next one may be noisier. */
const mostDegreesOfFreedom = 16;
/**
* Degrees of freedom of the variances of sessions around that of their cell: with few, sessions differ much. By the
* moments of log variances (Smyth, Statistical Applications in Genetics and Molecular Biology 3, 2004, section 6.2), here
* within cells, with one standard error added to their spread: what few sessions have in common is little trusted. `cells`
* has the noise of each session of each cell; undefined for fewer than ten sessions of cells that have two or more.
*/
function sessionDegreesOfFreedom(cells) {
	const usable = cells.map((sessions) => sessions.filter(hasSpread)).filter((sessions) => sessions.length > 1);
	const sessions = usable.flat();
	if (sessions.length < 10) return void 0;
	const compared = sessions.length - usable.length;
	const spread = sum$1(usable.map(squaresOfLogVariances)) / compared;
	const standardError = spread * Math.sqrt(2 / compared);
	const within = mean(sessions.map(({ degreesOfFreedom }) => trigamma(degreesOfFreedom / 2)));
	return degreesOfFreedomWith(spread + standardError - within);
}
const hasSpread = ({ sumOfSquares, degreesOfFreedom }) => degreesOfFreedom > 0 && sumOfSquares > 0;
function squaresOfLogVariances(sessions) {
	const logs = sessions.map(({ sumOfSquares, degreesOfFreedom }) => Math.log(sumOfSquares / 2) - digamma(degreesOfFreedom / 2));
	const center = mean(logs);
	return sum$1(logs.map((log) => (log - center) ** 2));
}
/** Solves trigamma(d/2) = `spread` for d by halving; trigamma falls. */
function degreesOfFreedomWith(spread) {
	let [low, high] = [.01, mostDegreesOfFreedom];
	if (spread <= trigamma(high / 2)) return high;
	for (let step = 0; step < 60; step += 1) {
		const middle = (low + high) / 2;
		if (trigamma(middle / 2) > spread) low = middle;
		else high = middle;
	}
	return (low + high) / 2;
}
/** The second derivative of log Γ at x > 0: recurrence, then the asymptotic series (Abramowitz and Stegun, 6.4.12). */
function trigamma(x) {
	let stepped = x;
	let value = 0;
	for (; stepped < 10; stepped += 1) value += 1 / stepped ** 2;
	const y = 1 / stepped ** 2;
	return value + 1 / stepped + y / 2 + y / stepped * (1 / 6 - y * (1 / 30 - y / 42));
}
/** The derivative of log Γ at x > 0 (Abramowitz and Stegun, 6.3.18). */
function digamma(x) {
	let stepped = x;
	let value = 0;
	for (; stepped < 10; stepped += 1) value -= 1 / stepped;
	const y = 1 / stepped ** 2;
	return value + Math.log(stepped) - 1 / (2 * stepped) - y * (1 / 12 - y * (1 / 120 - y / 252));
}

// src/analysis/stats/change-points.ts
/** Smaller changes are ignored, as a ratio; half the default margin of gates. */
const leastChangeRatio = .01;
/**
* Finds changes at the last nightly run, except those `known`. Values are above 0; only the last 120 are considered.
*/
function changePoints(values, known = [], leastRatio = leastChangeRatio) {
	const from = Math.max(0, values.length - nightlyRunsInSight);
	const logs = values.slice(from).map(Math.log);
	if (logs.length < fewestNightlyRuns) return [];
	const sigma = sigmaOf(logs) * correlationFactor(logs);
	const bounds = partition(logs, sigma);
	return bounds.slice(1, -1).flatMap((place, number) => {
		const [start = 0, end = logs.length] = [bounds[number], bounds[number + 2]];
		const index = from + place;
		const step = median(logs.slice(place, end)) - median(logs.slice(start, place));
		if (known.some((other) => Math.abs(other - index) <= nightlyRunsApart) || Math.abs(Math.expm1(step)) < leastRatio) return [];
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
function changesRunByRun(values, leastRatio) {
	const found = [];
	for (let nightlyRun = 0; nightlyRun < values.length; nightlyRun += 1) {
		const known = found.map(({ index }) => index);
		const fresh = changePoints(values.slice(0, nightlyRun + 1), known, leastRatio);
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
	if (logs.length < fewestNightlyRuns) return void 0;
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
const fewestNightlyRuns = 8;
const fewestNightlyRunsOfLevel = 2;
/** A change that moves this little as nightly runs are added is the known one. */
const nightlyRunsApart = 3;
/** Maximum cost of a nightly run, in squared deviations: beyond three deviations all are equally bad. */
const costliestNightlyRun = 9;
/** Cost of another level: more than two of the worst nightly runs. */
const costOfLevel = 22;
/** Rules out places that are 20 times less likely than the best one: twice the logarithm of that. */
const costOfOtherPlace = 6;
/** Lower limit of the noise of real testbeds, as a ratio. */
const quietestSigma = 3e-4;
/** Scatter of nightly runs around their level, from differences of neighbours: a change of level counts once. */
function sigmaOf(logs) {
	const scale = differenceScale(logs);
	const forFewNightlyRuns = 1 + 3 / (logs.length - 1);
	return Math.max(quietestSigma, scale / Math.SQRT2 * forFewNightlyRuns);
}
/**
* Deviation of differences of neighbours, 0 for fewer than two values. Their median is the usual noise; where one in
* five differs, as on machines with two habits, the upper quantile is greater.
*/
function differenceScale(logs) {
	const differences = absoluteDifferences(logs, 1).toSorted((a, b) => a - b);
	if (differences.length === 0) return 0;
	return Math.max(...normalQuantiles.map(([share, deviations]) => quantileSorted(differences, share) / deviations));
}
/** Shares of a normal distribution's absolute values, and the deviations that contain them. */
const normalQuantiles = [[.5, .6745], [.8, 1.2816]];
/**
* Nightly runs that resemble their neighbours say less of their level. The deviation of neighbours, multiplied by this,
* gives levels the scatter that a first-order autoregression has: the variance of a difference is 2 (1 − r) times that
* of a nightly run, and a level's is (1 + r)/(1 − r) times that of independent ones.
*/
function correlationFactor(logs) {
	const correlation = correlationOf(logs);
	return Math.sqrt(1 + correlation) / (1 - correlation);
}
/**
* Lag-1 correlation within levels: differences over three nightly runs have 1 + r + r² times the variance of those over
* one. Three quarters of a standard error are added, as an estimate too low finds changes that are none. Great differences are
* changes of level and bad nightly runs, and left out.
*/
function correlationOf(logs) {
	const most = cutAt * differenceScale(logs);
	const [one, three] = [1, 3].map((lag) => meanSquare(absoluteDifferences(logs, lag).filter((difference) => difference <= most)));
	if (!one || !three) return 0;
	const estimate = (Math.sqrt(Math.max(4 * three / one - 3, 1)) - 1) / 2;
	return Math.min(estimate + .75 / Math.sqrt(logs.length), mostCorrelation);
}
/** In deviations of a difference of neighbours. */
const cutAt = 4;
/** A greater one would leave no change to be found. */
const mostCorrelation = .9;
const absoluteDifferences = (values, lag) => values.slice(lag).map((value, index) => Math.abs(value - (values[index] ?? value)));
const meanSquare = (values) => values.reduce((sum, value) => sum + value ** 2, 0) / values.length;
/** Returns the bounds of the levels, from 0 to the number of values, that cost least in total. */
function partition(logs, sigma) {
	const count = logs.length;
	const least = new Float64Array(count + 1).fill(Number.POSITIVE_INFINITY);
	least[0] = -22;
	const startOf = new Int32Array(count + 1);
	const sorted = new Float64Array(count);
	for (let start = 0; start + fewestNightlyRunsOfLevel <= count; start += 1) {
		const before = (least[start] ?? 0) + costOfLevel;
		if (before === Number.POSITIVE_INFINITY) continue;
		for (let end = start + 1; end <= count; end += 1) {
			insert(sorted, end - start - 1, logs[end - 1] ?? 0);
			if (end - start < fewestNightlyRunsOfLevel) continue;
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
	const isLikely = (place) => place >= fewestNightlyRunsOfLevel && place <= logs.length - fewestNightlyRunsOfLevel && costAt(place) < most;
	let [earliest, latest] = [best, best];
	while (isLikely(earliest - 1)) earliest -= 1;
	while (isLikely(latest + 1)) latest += 1;
	return {
		earliest,
		latest
	};
}

// src/analysis/stats/baseline.ts
/** False alarms: one experiment in a hundred. A single run needs a stricter level, as noise has heavy tails. */
const levelOf = (runs) => runs === 1 ? .001 : .005;
/**
* Student's test of the base's numbers (one per trial) against the sessions since its last move, on logarithms. Sessions
* of one base differ by more than their runs explain, so the error has the variance of their means. Unknown with fewer
* than three sessions (ten for a single run).
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
		kind: Math.abs(effect) > reach + rounding$1 ? "moved" : "steady",
		interval
	};
}
const varianceOf = (sumOfSquares, degreesOfFreedom) => degreesOfFreedom === 0 ? 0 : sumOfSquares / degreesOfFreedom;
/** If all runs agree to the packet, the reach is zero except for the rounding of logarithms. */
const rounding$1 = 1e-12;

// src/analysis/stats/share-test.ts
/**
* Two-sided chance of such a split of samples between base and patched, if a packet takes `slowdown` times as long in
* patched with no change in this function. Poisson counts of a known sum are binomial (Przyborowski and Wilenski,
* Biometrika 31, 1940), exactly so if one of them is 0; differing boots make them beta-binomial.
*/
function chanceOf(samples, totals, slowdown, { bootDeviation }) {
	const packets = {
		base: totals.base,
		patched: totals.patched / slowdown
	};
	const base = packets.base / (packets.base + packets.patched);
	const patched = 1 - base;
	const variance = 2 * (bootDeviation * base * patched) ** 2;
	const weight = base * patched / variance - 1;
	const perCount = Math.max(samplesPerBurst, (samples.base + samples.patched) / mostCounted);
	const baseSide = {
		count: Math.round(samples.base / perCount),
		weight: weight * base
	};
	const patchedSide = {
		count: Math.round(samples.patched / perCount),
		weight: weight * patched
	};
	const tail = patchedSide.count * base > baseSide.count * patched ? upperTail(patchedSide, baseSide) : upperTail(baseSide, patchedSide);
	return Math.min(1, 2 * tail);
}
/** Correlated samples count as one independent sample per this many. */
const samplesPerBurst = 2;
/** Beyond this the difference between boots dominates, and the sum is slow. */
const mostCounted = 1e5;
/** Probability of a beta-binomial count of at least `own.count`; the weights are the distribution's α and β. */
function upperTail(own, other) {
	const logBeta = (a, b) => gammaln(a) + gammaln(b) - gammaln(a + b);
	const all = own.count + other.count;
	const ways = gammaln(all + 1) - gammaln(own.count + 1) - gammaln(other.count + 1);
	const parting = logBeta(own.count + own.weight, other.count + other.weight);
	let term = Math.exp(ways + parting - logBeta(own.weight, other.weight));
	let tail = term;
	for (let count = own.count; count < all && term > tail * rounding; count += 1) {
		const left = all - count;
		term *= left / (count + 1) * ((count + own.weight) / (left - 1 + other.weight));
		tail += term;
	}
	return tail;
}
const rounding = 1e-16;
/** Holm's step-down: the least chance meets the strictest bound, until one exceeds its own. */
function unlikely(all, chances, falseAlarm) {
	const inOrder = all.map((one, index) => ({
		one,
		chance: chances[index] ?? 1
	})).toSorted((a, b) => a.chance - b.chance);
	const end = inOrder.findIndex(({ chance }, index) => chance > falseAlarm / (inOrder.length - index));
	return inOrder.slice(0, end < 0 ? inOrder.length : end).map(({ one }) => one);
}

// src/analysis/stats/normal.ts
/** Mean 0, deviation 1; Box and Muller (Annals of Mathematical Statistics 29, 1958). */
function standardNormal(random) {
	return Math.sqrt(-2 * Math.log(1 - uniformFloat64(random))) * Math.cos(2 * Math.PI * uniformFloat64(random));
}

// src/analysis/stats/simulate.ts
/** Draws runs and judges them as an experiment would; deterministic by request. */
function simulate(request) {
	const { noise, historyRuns, sessionDegreesOfFreedom: known, rates, cells } = request;
	const { marginRatio, effect, experiments, seed } = request;
	expectAtMost(mostExperiments, experiments);
	if (!(cells >= 1 && experiments >= cells)) throw new RangeError("A simulation has at least one cell, and an experiment for each.");
	const { builds = {
		cv: 0,
		layouts: 1
	} } = request;
	const random = xoroshiro128plus(seed);
	const drawCell = cellSource(noise, random);
	const drawBuild = () => builds.cv === 0 ? 1 : Math.exp(builds.cv * standardNormal(random));
	const looks = looksOf({
		...request.design,
		method: "pooled",
		pairsPerStep: 1
	}, {
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
		const drawSession = drawCell();
		const variantRuns = (layouts, change, drawRun) => runsOfLayouts(layouts, drawBuild, drawRun, change);
		const earlierLayouts = builds.layouts > 1 ? Infinity : 1;
		const history = earlierNoise(historyRuns, () => {
			const draw = variantRuns(earlierLayouts, 0, drawSession());
			return (count) => draw(count).map(({ value }) => value);
		});
		const earlier = priorNoise(known === void 0 || history === void 0 ? history : {
			...history,
			sessionDegreesOfFreedom: known
		}, marginRatio);
		const drawRun = drawSession();
		const base = growing(variantRuns(builds.layouts, 0, drawRun), false);
		const patched = growing(variantRuns(builds.layouts, effect, drawRun), true);
		let pairsMeasured = 0;
		const judgement = judgeInOrder(looks, (pairs) => {
			pairsMeasured = pairs;
			return pooledEvidence(onePerLayout(base(pairs)), onePerLayout(patched(pairs)), earlier);
		}, rule);
		verdicts.push(judgement?.verdict ?? "inconclusive");
		runs.push(2 * pairsMeasured);
	}
	return rowOf(verdicts, runs, cells);
}
/** Returns the runs of a variant up to a pair; each is drawn once. */
function growing(draw, isPatched) {
	const runs = [];
	return (pairs) => {
		for (const run of draw(pairs - runs.length)) runs.push({
			...run,
			trial: trialOf(runs.length + 1, isPatched)
		});
		return runs;
	};
}
/** Trial of a run in the order ABBA ABBA …, with base as A. */
const trialOf = (pair, isPatched) => 2 * pair - (pair % 2 === 1 === isPatched ? 0 : 1);
/** Draws more runs of one variant at each call: every kernel has its own speed, and they are booted in turn. */
function runsOfLayouts(layouts, drawBuild, drawRun, change) {
	const speeds = /* @__PURE__ */ new Map();
	let runs = 0;
	return (count) => take(count, () => {
		runs += 1;
		const layout = layoutOfPair(runs, layouts);
		const speed = speeds.get(layout) ?? drawBuild();
		speeds.set(layout, speed);
		return {
			value: drawRun() * speed * (1 + change),
			...layouts > 1 && { layout }
		};
	});
}
/** Picks a cell at each call, and returns a function that opens a session of it, which draws runs around 1. */
function cellSource(noise, random) {
	if (noise.kind === "normal") {
		const { cv, sessionDegreesOfFreedom: degrees } = noise;
		return () => () => {
			const session = degrees === void 0 ? cv : cv * sessionFactor(degrees, random);
			return () => Math.exp(session * standardNormal(random));
		};
	}
	const cells = noise.cells.map((sessions) => sessions.map(residuals));
	const pick = (items) => items[uniformInt(random, 0, items.length - 1)];
	return () => {
		const sessions = pick(cells) ?? [];
		return () => {
			const session = pick(sessions) ?? [1];
			return () => pick(session) ?? 1;
		};
	};
}
/** Deviation of a session over that of its cell: √(d/χ²) of whole degrees of freedom. */
function sessionFactor(degreesOfFreedom, random) {
	expectAtMost(mostEarlierRuns, degreesOfFreedom);
	const squares = take(degreesOfFreedom, () => standardNormal(random) ** 2);
	return Math.sqrt(degreesOfFreedom / sum$1(squares));
}
/** Centres a set around 1 and spreads it by √(n / (n − 1)): runs are closer to their own mean than to the true one. */
function residuals(set) {
	if (set.length < 2) throw new RangeError("A set has at least two runs.");
	const logs = set.map(Math.log);
	const center = mean(logs);
	const stretch = Math.sqrt(set.length / (set.length - 1));
	return logs.map((value) => Math.exp((value - center) * stretch));
}
/** As Array.from would, in a third of the time. */
function take(count, draw) {
	const drawn = [];
	for (let index = 0; index < count; index += 1) drawn.push(draw());
	return drawn;
}
const mostExperiments = 1e7;
const mostEarlierRuns = 1e3;
function expectAtMost(most, count) {
	if (count <= most) return;
	throw new RangeError(`A simulation has at most ${most}, not ${count}.`);
}
const runsPerSession = 5;
/** Noise of earlier runs, in sessions of five; undefined for fewer than two runs. */
function earlierNoise(runs, openSession) {
	expectAtMost(mostEarlierRuns, runs);
	const sessions = [];
	for (let left = runs; left > 1; left -= runsPerSession) {
		const count = Math.min(left, runsPerSession);
		const logs = openSession()(count).map(Math.log);
		sessions.push({
			sumOfSquares: sumNthPowerDeviations(logs, 2),
			degreesOfFreedom: count - 1
		});
	}
	if (sessions.length === 0) return void 0;
	const degrees = sessionDegreesOfFreedom([sessions]);
	return {
		...sessions.reduce(sumOf),
		...degrees !== void 0 && { sessionDegreesOfFreedom: degrees }
	};
}
function rowOf(verdicts, runs, cells) {
	const share = (kind) => verdicts.filter((verdict) => verdict === kind).length / verdicts.length;
	const byPatch = (items) => Array.from({ length: Math.floor(items.length / cells) }, (_, index) => items.slice(index * cells, (index + 1) * cells));
	const patches = byPatch(verdicts);
	const alarmed = patches.filter((patch) => patch.includes("regression"));
	return {
		regression: share("regression"),
		noRegression: share("no-regression"),
		improvement: share("improvement"),
		inconclusive: share("inconclusive"),
		patchRegression: alarmed.length / patches.length,
		meanRuns: mean(runs),
		meanMostRuns: mean(byPatch(runs).map((patch) => Math.max(...patch))),
		p95Runs: quantileSorted(runs.toSorted((a, b) => a - b), .95)
	};
}

// src/analysis/stats/limited.ts
/**
* Decides from all `runs` of a cell, and returns each as it counts: runs that the generator limited are valid, unless half of the runs of base or of patched are: leaving out single ones
* would leave out the fastest runs of a variant, and hide a loss. A limited run slower than all valid ones of its variant
* had a slow sender, and stays invalid.
*/
function limitsOf(runs) {
	const variants = Map.groupBy(runs, ({ variant }) => variant);
	if ([...variants].some(([variant, own]) => isJudged(variant) && own.filter(isLimited).length >= own.filter(isValid).length)) return (run) => run;
	const slowest = new Map([...variants].map(([variant, own]) => [variant, own.filter(isValid).reduce((least, { pps }) => Math.min(least, pps), Infinity)]));
	return (run) => isLimited(run) && run.pps >= (slowest.get(run.variant) ?? Number.POSITIVE_INFINITY) ? {
		...run,
		validity: { kind: "valid" }
	} : run;
}
const isValid = ({ validity }) => validity.kind === "valid";
const isLimited = ({ validity }) => validity.kind === "invalid" && validity.cause === "generator-limited";

// src/analysis/stats/steady.ts
const leastTolerance = .02;
const toleranceInDeviations = 5;
/** A series has no level if half of its seconds are further away than this. */
const mostDeviation$1 = .1;
/** Ramp and tail together may take at most the rest of the traffic's whole seconds. */
const leastShare = .75;
/** The generator starts and ends within a second of the receiver's. */
const partialSeconds = 2;
/** Maximum drift between the medians of the first and last third, as a ratio to the median. */
const mostDrift = .05;
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
	if (deviation > mostDeviation$1 * level) return unsteady(`half of its rates are more than 10 % away from ${formatPps(level)}`);
	const tolerance = Math.max(leastTolerance * level, toleranceInDeviations * deviation);
	const stretch = ends(pps, (rate) => Math.abs(rate - level) <= tolerance) ?? traffic;
	if (length(stretch) < leastShare * (length(traffic) - partialSeconds)) {
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
	if (Math.abs(last - first) > mostDrift * medianPps) return unsteady(`it drifts from ${formatPps(first)} to ${formatPps(last)}`);
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
* True if the median is known well enough to end a trial now, using only the seconds so far: a steady stretch of at
* least `atLeast` seconds, with the distribution-free 95 % confidence interval of its median within the tolerance. From
* ten seconds on that interval also covers the median of five seconds ago, so watching the running median adds nothing.
* Seconds of one boot do not predict the next: this ends a run, not an experiment.
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

// src/analysis/stats/cell-limits.ts
/** Adds the limits of every judged cell, and replaces those that it has. */
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
/** Undefined unless both base and patched have readings in `trials`, which are of one cell. */
function cellLimits(trials) {
	const base = readingsOf(trials, "base");
	const patched = readingsOf(trials, "patched");
	if (base.length === 0 || patched.length === 0) return void 0;
	return {
		base: variantLimits(base),
		patched: variantLimits(patched),
		differing: differing({
			base,
			patched
		})
	};
}
/** Without those that no packet reached. */
const readingsOf = (trials, variant) => trials.flatMap(({ limits }) => {
	const own = limits?.[variant];
	return own !== void 0 && own.offeredPackets > 0 ? [own] : [];
});
const sharesOf = (readings) => [
	...cpuShares(readings),
	...queueShares(readings),
	...dropShares(readings)
];
/** Clock ticks of such a stretch, in which shares have this resolution. */
const ticks = 1e3;
function cpuShares(readings) {
	const known = readings.map((one) => one.cpuBusyRatios).filter((ratios) => ratios.length > 0);
	const most = known.reduce((length, ratios) => Math.max(length, ratios.length), 0);
	return Array.from({ length: most }, (_, number) => ({
		limit: {
			kind: "cpu",
			number
		},
		counts: known.map((ratios) => Math.min(1, Math.max(0, ratios[number] ?? 0)) * ticks),
		totals: known.map(() => ticks)
	}));
}
function queueShares(readings) {
	return [...Map.groupBy(readings.flatMap(({ queues }, trial) => queues.map((queue) => ({
		...queue,
		trial
	}))), ({ device, direction }) => JSON.stringify([device, direction])).values()].flatMap((own) => {
		const totals = sumsByTrial(own, readings.length);
		return [...Map.groupBy(own, ({ number }) => number)].flatMap(([number, queue]) => {
			const [one] = queue;
			if (one === void 0) return [];
			const { device, direction } = one;
			return {
				limit: {
					kind: "queue",
					device,
					direction,
					number
				},
				counts: sumsByTrial(queue, readings.length),
				totals
			};
		});
	});
}
function dropShares(readings) {
	return [...Map.groupBy(readings.flatMap(({ drops }, trial) => drops.map((drop) => ({
		...drop,
		trial
	}))), ({ place, cause }) => JSON.stringify([place, cause])).values()].flatMap((own) => {
		const [one] = own;
		if (one === void 0) return [];
		const { place, cause } = one;
		return {
			limit: {
				kind: "drop",
				place,
				cause
			},
			counts: sumsByTrial(own, readings.length),
			totals: readings.map(({ offeredPackets }) => offeredPackets)
		};
	});
}
function sumsByTrial(counted, trials) {
	const sums = new Array(trials).fill(0);
	for (const { trial, packets } of counted) sums[trial] = (sums[trial] ?? 0) + packets;
	return sums;
}
const ratiosOf = ({ counts, totals }) => counts.flatMap((count, trial) => {
	const total = totals[trial] ?? 0;
	return total > 0 ? [count / total] : [];
});
function variantLimits(readings) {
	const shares = sharesOf(readings).map((one) => ({
		...one,
		ratio: median(ratiosOf(one))
	}));
	return {
		trials: readings.length,
		lostRatio: Math.max(-1e3, median(readings.map(({ offeredPackets: all, receivedPackets }) => 1 - receivedPackets / all))),
		cpuBusyRatios: shares.flatMap(({ limit, ratio }) => limit.kind === "cpu" ? ratio : []),
		queues: shares.flatMap(({ limit, ratio }) => {
			if (limit.kind !== "queue") return [];
			const { kind: _, ...queue } = limit;
			return {
				...queue,
				ratio
			};
		}),
		drops: shares.flatMap(({ limit, ratio }) => {
			if (limit.kind !== "drop" || ratio === 0) return [];
			const { kind: _, ...drop } = limit;
			return {
				...drop,
				ratio
			};
		}).toSorted((a, b) => b.ratio - a.ratio).slice(0, 200),
		stateTables: fullestTables(readings),
		notUnderstood: [...new Set(readings.flatMap(({ notUnderstood }) => notUnderstood))].slice(0, 50)
	};
}
function fullestTables(readings) {
	return [...Map.groupBy(readings.flatMap(({ stateTables }) => stateTables), ({ name }) => name).values()].flatMap((own) => own.toSorted((a, b) => b.states - a.states).slice(0, 1)).slice(0, 20);
}
/** Chance of any wrong name in a cell. */
const falseAlarm = .01;
/**
* Changes below these are not worth a word: busy shares follow the load of the moment, and flows in flight move between
* queues.
*/
const leastChanges = {
	cpu: .05,
	queue: .05,
	drop: .0075
};
/** Uses the test of changed functions, with the deviation that the trials themselves show. */
function differing(readings) {
	const base = new Map(sharesOf(readings.base).map((one) => [JSON.stringify(one.limit), one]));
	const patched = new Map(sharesOf(readings.patched).map((one) => [JSON.stringify(one.limit), one]));
	const compared = [.../* @__PURE__ */ new Set([...base.keys(), ...patched.keys()])].flatMap((key) => {
		const own = {
			base: base.get(key),
			patched: patched.get(key)
		};
		const limit = (own.base ?? own.patched)?.limit;
		return limit === void 0 ? [] : comparedOf(limit, own, readings);
	});
	const chances = compared.map(({ chance }) => chance);
	return unlikely(compared, chances, falseAlarm).filter(({ limit, change }) => change >= leastChanges[limit.kind]).map(({ limit }) => limit);
}
/** Empty where one variant has no reading of such a limit. */
function comparedOf(limit, own, readings) {
	const whole = (of) => {
		const none = readings[of].map(() => 0);
		const offered = readings[of].map(({ offeredPackets }) => offeredPackets);
		return own[of] ?? {
			limit,
			counts: none,
			totals: limit.kind === "drop" ? offered : none
		};
	};
	const sides = {
		base: whole("base"),
		patched: whole("patched")
	};
	const samples = {
		base: sum$1(sides.base.counts),
		patched: sum$1(sides.patched.counts)
	};
	const totals = {
		base: sum$1(sides.base.totals),
		patched: sum$1(sides.patched.totals)
	};
	if (totals.base === 0 || totals.patched === 0) return [];
	const bootDeviation = Math.max(deviationOf(sides.base), deviationOf(sides.patched));
	return [{
		limit,
		change: Math.abs(samples.patched / totals.patched - samples.base / totals.base),
		chance: chanceOf(samples, totals, 1, { bootDeviation })
	}];
}
/** Equals that of a function on several CPUs; one trial has no deviation. */
const leastDeviation = .05;
/** Beyond it the distribution of the test has no sense. */
const mostDeviation = .5;
/** Relative deviation of a share between trials. */
function deviationOf(share) {
	const ratios = ratiosOf(share);
	const middle = ratios.length < 2 ? 0 : mean(ratios);
	if (middle === 0) return leastDeviation;
	return Math.min(mostDeviation, Math.max(leastDeviation, standardDeviation(ratios) / middle));
}

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
		pairs: judgement?.look.pairs ?? input.closedPairs,
		comparisons: metrics.flatMap((metric) => compare(interim, metric, policy)),
		others: others.map((variant) => ({
			variant,
			comparisons: metrics.flatMap((metric) => compareOther(interim, variant, metric, policy))
		})),
		runs,
		profiles: []
	};
}
/** Invalid if closed without a decision, or if no look was possible, unless it was stopped before. */
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
/** Compares one metric over the judged runs, or without any over all counted ones; undefined without evidence. */
function compare({ input, looks, judgement }, metric, policy) {
	const counted = countedRuns(input, judgement?.look.pairs ?? input.closedPairs);
	if (judgement !== void 0 && judgement.evidence === void 0) return metric === "pps" ? [nothingLeft(counted)] : [];
	return comparison(counted, input, {
		metric,
		policy,
		level: (judgement?.look ?? looks[0])?.levels.outside ?? 0
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
	const pairs = judgement?.look.pairs ?? input.closedPairs;
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
/** Explains why no look was possible: how many pairs count, and the main cause among the others. */
function tooFew({ input, looks }, policy) {
	const { metric } = policy;
	const { failures } = input;
	const runs = input.runs.filter(({ variant }) => isJudged(variant));
	const asked = looks.find(({ pairs }) => evidenceAt(input, pairs, policy) === void 0)?.pairs ?? 0;
	const count = `${Math.min(asked, countOf(countedRuns(input, asked), metric))} of ${asked} pairs of runs count`;
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
		reason: `the DUT tells no ${metric}`
	} : [];
}
function mostFrequent(faults) {
	return [...Map.groupBy(faults, ({ cause }) => cause).values()].toSorted((a, b) => b.length - a.length)[0]?.[0];
}
/** The verdict of a patch is the worst of its cells; a gain requires that nothing is lost or unknown. */
function worstVerdict(cells) {
	const kinds = cells.map(({ verdict }) => verdict.kind);
	return verdictsWorstFirst.find((kind) => kinds.includes(kind)) ?? "no-regression";
}

export { MinistatInputError, adviceToReachMore, baselineOf, boundsOf, buildNoise, cellResult, cellSource, cellVerdict, chanceOf, changeOf, changePoints, changesRunByRun, compare, compare$1, confidencePercents, countedRuns, cpusAtWork, criticalT, defaultBounds, earlierNoise, evidenceAt, formatGeneral, holes, interactionOf, interimResults, isCounted, isEnough, isSteady, lastLevel, leastChangeRatio, limitsOf, lookSizes, looksSharedBy, lowerBound, median, ministatPieces, moderated, mostEarlierRuns, nightlySigmaRatio, noNoise, parseColumn, pooledEvidence, queuesReached, reachesFew, renderMinistat, runCounts, runsApart, secondsUntilSteady, sessionDegreesOfFreedom, simulate, steadyStretch, sumOf, trialNumbers, unlikely, upperBound, validPairs, withLimits, worstVerdict };