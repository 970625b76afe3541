import { c as mean, m as sumNthPowerDeviations, n as criticalT } from "./student.js";
import { t as median } from "./summary.js";

// src/stats/signed-rank.ts
/** Hodges' and Lehmann's estimate of the centre: the median of the averages of all pairs of numbers. */
function hodgesLehmann(sorted) {
	const averages = averagesOf(sorted.length);
	return (walshAverage(sorted, Math.floor((averages + 1) / 2)) + walshAverage(sorted, Math.floor((averages + 2) / 2))) / 2;
}
/** Each bound is beyond the centre with a probability of at most `level`; undefined where so few numbers cannot be so sure. */
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
* How many of the n (n + 1) / 2 averages lie outside the interval at each end: the greatest number that
* Wilcoxon's statistic is at most with a probability of at most `level`; below 0 where n is too small for it.
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
/** Beyond so many the normal approximation is as good, and the exact distribution costs n³. */
const mostExact = 50;
/** Probability of each sum of ranks when every rank from 1 to n counts or not by the flip of a coin. */
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
/**
* The Walsh average, (xᵢ + xⱼ) / 2 with i ≤ j, of a rank counted from 1. Found by halving: there are n²
* of them, but how many lie below a number is counted in n steps.
*/
function walshAverage(sorted, rank) {
	let [low = 0] = sorted;
	let high = sorted.at(-1) ?? 0;
	for (;;) {
		const middle = (low + high) / 2;
		if (middle <= low || middle >= high) return averagesUpTo(sorted, low) >= rank ? low : high;
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

// src/stats/evidence.ts
/**
* Of pairs measured side by side: what slows both runs of a pair alike cancels. Hodges' and Lehmann's estimate with
* the interval of Wilcoxon's signed-rank test, on the logarithms of the ratios. It asks for nothing but symmetry, which
* the order gives that chance drew for each; a few wild pairs hardly move it, where they would double Student's interval.
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
* Of runs that have nothing in common, like boots: Student's test with a pooled variance, on the logarithms of the
* numbers, to which earlier runs of the cell add what they told of it. Where the cell has become much noisier than
* it was, they are left aside, or its noise would pass for a change.
*
* Takes positive numbers, at least one of each variant and three in all (two where there is earlier noise).
*/
function pooledEvidence(base, patched, earlier = {
	sumOfSquares: 0,
	degreesOfFreedom: 0
}) {
	const [baseLogs, patchedLogs] = [base.map(Math.log), patched.map(Math.log)];
	const own = {
		sumOfSquares: sumNthPowerDeviations(baseLogs, 2) + sumNthPowerDeviations(patchedLogs, 2),
		degreesOfFreedom: base.length + patched.length - 2
	};
	const noise = isNoisier(own, earlier) ? own : sumOf(own, earlier);
	const variance = noise.sumOfSquares / noise.degreesOfFreedom;
	return {
		method: "pooled",
		base: Math.exp(mean(baseLogs)),
		effect: mean(patchedLogs) - mean(baseLogs),
		standardError: Math.sqrt(variance * (1 / base.length + 1 / patched.length)),
		degreesOfFreedom: noise.degreesOfFreedom
	};
}
/**
* The changes that data so far from them would show with a probability of more than `level`, to each side. Of
* fewer pairs than can be so sure, and of no degree of freedom, nothing is known: both bounds are infinite.
*/
function boundsOf(evidence, level) {
	if (evidence.method === "pooled") {
		const { effect, standardError, degreesOfFreedom } = evidence;
		if (degreesOfFreedom <= 0) return unbounded;
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
/** More than three times the deviation that it had. */
function isNoisier(own, earlier) {
	const varianceOf = ({ sumOfSquares, degreesOfFreedom }) => sumOfSquares / degreesOfFreedom;
	return varianceOf(own) > 9 * varianceOf(earlier);
}
const sumOf = (a, b) => ({
	sumOfSquares: a.sumOfSquares + b.sumOfSquares,
	degreesOfFreedom: a.degreesOfFreedom + b.degreesOfFreedom
});

// src/stats/judge.ts
/** Looks in order until one decides; a look that has no evidence yet is passed over. */
function judgeInOrder(looks, evidenceAt, rule) {
	let last;
	for (const look of looks) {
		const evidence = evidenceAt(look.pairs);
		if (evidence === void 0) continue;
		const boundsAt = (level) => boundsOf(evidence, level);
		last = {
			verdict: judgeLook(boundsAt, look.levels, rule),
			look,
			evidence
		};
		if (last.verdict !== "inconclusive") break;
	}
	return last;
}
/**
* Regression: surely a loss, and a loss of the margin is not excluded. Improvement: its mirror image, what base would
* be told as a patch of patched. No regression: a loss of the margin is excluded. Inconclusive: none of these.
*
* These are the two rejections of a generalized likelihood ratio test with a zone of indifference between its
* hypotheses, no loss and a loss of the margin, each against the best fit. Each against the other, as a composite
* ratio, would stay open wherever the truth lies between them: at half the margin it takes twice the runs.
*/
function judgeLook(boundsAt, levels, { metric, marginRatio }) {
	const asSpeed = metric === "pps" ? same : mirrored;
	const alarm = asSpeed(boundsAt(levels.falseAlarms));
	const pass = asSpeed(boundsAt(levels.misses));
	const margin = -Math.log1p(-marginRatio);
	const isLoss = (sure, likely) => sure.high < 0 && likely.low <= -margin;
	if (isLoss(alarm, pass)) return "regression";
	if (isLoss(mirrored(alarm), mirrored(pass))) return "improvement";
	return pass.low > -margin ? "no-regression" : "inconclusive";
}
const same = (bounds) => bounds;
/** The speed of base against patched, or speed from time per packet: logarithms only change their sign. */
const mirrored = ({ low, high }) => ({
	low: -high,
	high: -low
});

// node_modules/pure-rand/lib/esm/distribution/uniformFloat64.js
const scale26 = 1.4901161193847656e-8;
const scale53 = 11102230246251565e-32;
const mask1 = 67108863;
const mask2 = 134217727;
/**
* Uniformly generate random 64-bit floating point values between 0 (included) and 1 (excluded)
*
* @remarks Generated values are multiples of 2**-53, providing 53 bits of randomness.
*
* @param rng - Instance of RandomGenerator to extract random values from
*
* @public
*/
function uniformFloat64(rng) {
	const value1 = rng.next() & mask1;
	const value2 = rng.next() & mask2;
	return value1 * scale26 + value2 * scale53;
}

// src/stats/normal.ts
/** Of mean 0 and deviation 1, by Box and Muller (Annals of Mathematical Statistics 29, 1958). */
function standardNormal(random) {
	return Math.sqrt(-2 * Math.log(1 - uniformFloat64(random))) * Math.cos(2 * Math.PI * uniformFloat64(random));
}

export { pairedEvidence as a, boundsOf as i, judgeInOrder as n, pooledEvidence as o, judgeLook as r, standardNormal as t };