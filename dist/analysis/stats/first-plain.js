import { errorFunction, mean, sum } from "../../vendor/simple-statistics.js";

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
/** Returns the t with P(T > t) = `level`; cached, as few values are needed very often. */
function criticalT(degreesOfFreedom, level) {
	const values = criticalValues.get(level) ?? /* @__PURE__ */ new Map();
	const known = values.get(degreesOfFreedom);
	if (known !== void 0) return known;
	const t = studentTExact(degreesOfFreedom, 1 - 2 * level);
	if (criticalValues.size >= maxCached) criticalValues.clear();
	if (values.size >= maxCached) values.clear();
	criticalValues.set(level, values.set(degreesOfFreedom, t));
	return t;
}
/** Cached by level, then by degrees of freedom. */
const criticalValues = /* @__PURE__ */ new Map();
const maxCached = 1e4;
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
/** Returns by how much P(|T| > t) exceeds that of the quantile. */
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
	if (n > maxExactPairs) {
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
const maxExactPairs = 50;
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

// src/analysis/stats/sessions.ts
/** Fewer sessions say too little about the differences of their variances. */
const minSessions = 10;
/** The next session may be noisier, however alike the sessions have been. */
const maxDegreesOfFreedom = 16;
/**
* Degrees of freedom of the variances of sessions around that of their cell: with few, sessions differ much. Uses the
* moments of log variances (Smyth, Statistical Applications in Genetics and Molecular Biology 3, 2004, section 6.2),
* here within cells, and adds one standard error to their spread, as a few sessions may agree by chance. `cells` has
* the noise of each session of each cell; undefined for fewer than ten sessions of cells that have two or more.
*/
function sessionDegreesOfFreedom(cells) {
	const usable = cells.map((sessions) => sessions.filter(hasSpread)).filter((sessions) => sessions.length > 1);
	const sessions = usable.flat();
	if (sessions.length < 10) return void 0;
	const compared = sessions.length - usable.length;
	const spread = sum(usable.map(squaresOfLogVariances)) / compared;
	const standardError = spread * Math.sqrt(2 / compared);
	const within = mean(sessions.map(({ degreesOfFreedom }) => trigamma(degreesOfFreedom / 2)));
	return degreesOfFreedomWith(spread + standardError - within);
}
const hasSpread = ({ sumOfSquares, degreesOfFreedom }) => degreesOfFreedom > 0 && sumOfSquares > 0;
function squaresOfLogVariances(sessions) {
	const logs = sessions.map(({ sumOfSquares, degreesOfFreedom }) => Math.log(sumOfSquares / 2) - digamma(degreesOfFreedom / 2));
	const center = mean(logs);
	return sum(logs.map((log) => (log - center) ** 2));
}
/** Solves trigamma(d/2) = `spread` for d by halving; trigamma falls. */
function degreesOfFreedomWith(spread) {
	let [low, high] = [.01, maxDegreesOfFreedom];
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

// src/analysis/stats/boundary.ts
/**
* Returns the single nominal one-sided level of all interim analyses, by Pocock (Biometrika 64, 1977): data without any
* effect cross the boundary in any of them with probability `rate`. `sizes` are the pairs at each, ascending. 0 for a
* rate beyond the range of this method: such data never cross.
*/
function pocockLevel(sizes, rate) {
	if (Number.isNaN(rate)) throw new RangeError("The rate of an error is a number.");
	if (rate < minLevel) return 0;
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
* Probability that data without an effect exceed a nominal one-sided level in any interim analysis: the recursion of
* Armitage, McPherson and Rowe (J. R. Stat. Soc. A 132, 1969) over the sum of independent normal steps.
* With an estimated variance, as in Student's test, the levels nearly hold (Jennison and Turnbull, Group Sequential
* Methods, 4.4): in simulations the sum is up to a fifth larger if the first analysis has two degrees of freedom, and
* less than a tenth larger from four on.
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
		total += sumOver(inside, ({ at, mass }) => mass * upperTail((limit - at) / deviation));
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
/** Limits the nodes of a quadrature, which grow with the root of the pairs. */
const maxPairs = 1e6;
function expectSizes(sizes) {
	if (sizes.every((size, index) => size >= (sizes[index - 1] ?? 0) + 1) && (sizes.at(-1) ?? 0) <= maxPairs) return;
	throw new RangeError(`Interim analyses are of ascending numbers of pairs, up to ${maxPairs}.`);
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
const minLevel = 1e-12;
/** Levels beyond the range of a double are practically never crossed; one half is the maximum. */
const criticalZ = (level) => level < minLevel ? 7 : level >= 1 / 2 ? 0 : criticalT(Infinity, level);
const upperTail = (z) => studentTail(z, Infinity);
/** Skips small terms: most nodes are too far apart to contribute to a double, and exponentials are slow. */
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
* Returns the interim analyses of a design, in order, all of one nominal level (Pocock, Biometrika 64, 1977). The error
* rates hold over all of them, extensions included: the planned budget spends nine tenths of each rate, and every
* extension half of the rest.
*/
function analysesOf(design, rates) {
	const key = JSON.stringify([design, rates]);
	const analyses = knownAnalyses.get(key) ?? computeAnalyses(design, rates);
	knownAnalyses.set(key, analyses);
	return analyses;
}
/** Cached, as computing one takes a tenth of a second, and each is read after every trial. */
const knownAnalyses = /* @__PURE__ */ new Map();
function computeAnalyses(design, rates) {
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
const analysisSizes = (design) => design.budgets.flatMap((budget, stage) => sizesUpTo(budget, design.budgets[stage - 1] ?? 0, design));
function sizesUpTo(budget, after, { name, pairsPerStep }) {
	if (!(pairsPerStep >= 1)) throw new RangeError(`A step has at least one pair, not ${pairsPerStep}.`);
	if (name === "fixed") return [budget];
	const sizes = [];
	const sizeAfter = pairsPerStep === 1 ? sizeOfSinglesAfter : sizeOfStepsAfter(pairsPerStep);
	for (let size = sizeAfter(0); size < budget; size = sizeAfter(size)) if (size > after) sizes.push(size);
	return [...sizes, budget];
}
/** The first analysis has a whole ABBA: otherwise a first run that differs from all others would pass for a change. */
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

export { analysesOf, analysisSizes, betaFraction, confidencePercents, criticalT, hodgesLehmann, sessionDegreesOfFreedom, signedRankBounds, studentT, studentTail };