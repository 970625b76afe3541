import { f as sumNthPowerDeviations, n as criticalT, s as mean } from "./student.js";
import { t as median } from "./summary.js";

// node_modules/pure-rand/lib/esm/distribution/uniformInt.js
/**
* Uniformly generate number in range [0 ; rangeSize[
* With rangeSize <= 0x100000000
* @internal
*/
function uniformIntInternal(rng, rangeSize) {
	const MaxAllowed = rangeSize > 2 ? ~~(4294967296 / rangeSize) * rangeSize : 4294967296;
	let deltaV = rng.next() + 2147483648;
	while (deltaV >= MaxAllowed) deltaV = rng.next() + 2147483648;
	return deltaV % rangeSize;
}
/**
* We only accept safe integers here
* @internal
*/
function fromNumberToArrayInt64(out, n) {
	if (n < 0) {
		const posN = -n;
		out.sign = -1;
		out.data[0] = ~~(posN / 4294967296);
		out.data[1] = posN >>> 0;
	} else {
		out.sign = 1;
		out.data[0] = ~~(n / 4294967296);
		out.data[1] = n >>> 0;
	}
	return out;
}
/**
* Substract two ArrayInt of 64 bits on 64 bits.
* With arrayIntA - arrayIntB >= 0
* @internal
*/
function substractArrayInt64(out, arrayIntA, arrayIntB) {
	const lowA = arrayIntA.data[1];
	const highA = arrayIntA.data[0];
	const signA = arrayIntA.sign;
	const lowB = arrayIntB.data[1];
	const highB = arrayIntB.data[0];
	const signB = arrayIntB.sign;
	out.sign = 1;
	if (signA === 1 && signB === -1) {
		const low = lowA + lowB;
		const high = highA + highB + (low > 4294967295 ? 1 : 0);
		out.data[0] = high >>> 0;
		out.data[1] = low >>> 0;
		return out;
	}
	let lowFirst = lowA;
	let highFirst = highA;
	let lowSecond = lowB;
	let highSecond = highB;
	if (signA === -1) {
		lowFirst = lowB;
		highFirst = highB;
		lowSecond = lowA;
		highSecond = highA;
	}
	let reminderLow = 0;
	let low = lowFirst - lowSecond;
	if (low < 0) {
		reminderLow = 1;
		low = low >>> 0;
	}
	out.data[0] = highFirst - highSecond - reminderLow;
	out.data[1] = low;
	return out;
}
/**
* Uniformly generate ArrayInt64 in range [0 ; rangeSize[
*
* @remarks
* In the worst case scenario it may discard half of the randomly generated value.
* Worst case being: most significant number is 1 and remaining part evaluates to 0.
*
* @internal
*/
function uniformArrayIntInternal(rng, out, rangeSize) {
	const maxIndex0 = rangeSize[0] + 1;
	out[0] = uniformIntInternal(rng, maxIndex0);
	out[1] = uniformIntInternal(rng, 4294967296);
	while (out[0] >= rangeSize[0] && (out[0] !== rangeSize[0] || out[1] >= rangeSize[1])) {
		out[0] = uniformIntInternal(rng, maxIndex0);
		out[1] = uniformIntInternal(rng, 4294967296);
	}
	return out;
}
const safeNumberMaxSafeInteger = Number.MAX_SAFE_INTEGER;
const sharedA = {
	sign: 1,
	data: [0, 0]
};
const sharedB = {
	sign: 1,
	data: [0, 0]
};
const sharedC = {
	sign: 1,
	data: [0, 0]
};
const sharedData = [0, 0];
function uniformLargeIntInternal(rng, from, to, rangeSize) {
	const rangeSizeArrayIntValue = rangeSize <= safeNumberMaxSafeInteger ? fromNumberToArrayInt64(sharedC, rangeSize) : substractArrayInt64(sharedC, fromNumberToArrayInt64(sharedA, to), fromNumberToArrayInt64(sharedB, from));
	if (rangeSizeArrayIntValue.data[1] === 4294967295) {
		rangeSizeArrayIntValue.data[0] += 1;
		rangeSizeArrayIntValue.data[1] = 0;
	} else rangeSizeArrayIntValue.data[1] += 1;
	uniformArrayIntInternal(rng, sharedData, rangeSizeArrayIntValue.data);
	return sharedData[0] * 4294967296 + sharedData[1] + from;
}
/**
* Uniformly generate random integer values between `from` (included) and `to` (included)
*
* @param rng - Instance of RandomGenerator to extract random values from
* @param from - Lower bound of the range (included)
* @param to - Upper bound of the range (included)
*
* @public
*/
function uniformInt(rng, from, to) {
	const rangeSize = to - from;
	if (rangeSize <= 4294967295) return uniformIntInternal(rng, rangeSize + 1) + from;
	return uniformLargeIntInternal(rng, from, to, rangeSize);
}

// node_modules/pure-rand/lib/esm/generator/xoroshiro128plus.js
const jumps = [
	3639956645,
	3750757012,
	1261568508,
	386426335
];
var XoroShiro128Plus = class XoroShiro128Plus {
	constructor(s01, s00, s11, s10) {
		this.s01 = s01;
		this.s00 = s00;
		this.s11 = s11;
		this.s10 = s10;
	}
	clone() {
		return new XoroShiro128Plus(this.s01, this.s00, this.s11, this.s10);
	}
	next() {
		const out = this.s00 + this.s10 | 0;
		const a0 = this.s10 ^ this.s00;
		const a1 = this.s11 ^ this.s01;
		const s00 = this.s00;
		const s01 = this.s01;
		this.s00 = s00 << 24 ^ s01 >>> 8 ^ a0 ^ a0 << 16;
		this.s01 = s01 << 24 ^ s00 >>> 8 ^ a1 ^ (a1 << 16 | a0 >>> 16);
		this.s10 = a1 << 5 ^ a0 >>> 27;
		this.s11 = a0 << 5 ^ a1 >>> 27;
		return out;
	}
	jump() {
		let ns01 = 0;
		let ns00 = 0;
		let ns11 = 0;
		let ns10 = 0;
		let s01 = this.s01;
		let s00 = this.s00;
		let s11 = this.s11;
		let s10 = this.s10;
		for (let i = 0; i !== 4; ++i) {
			const ji = jumps[i];
			for (let mask = 1; mask; mask <<= 1) {
				if (ji & mask) {
					ns01 ^= s01;
					ns00 ^= s00;
					ns11 ^= s11;
					ns10 ^= s10;
				}
				const a0 = s10 ^ s00;
				const a1 = s11 ^ s01;
				const s00_ = s00;
				const s01_ = s01;
				s00 = s00_ << 24 ^ s01_ >>> 8 ^ a0 ^ a0 << 16;
				s01 = s01_ << 24 ^ s00_ >>> 8 ^ a1 ^ (a1 << 16 | a0 >>> 16);
				s10 = a1 << 5 ^ a0 >>> 27;
				s11 = a0 << 5 ^ a1 >>> 27;
			}
		}
		this.s01 = ns01;
		this.s00 = ns00;
		this.s11 = ns11;
		this.s10 = ns10;
	}
	getState() {
		return [
			this.s01,
			this.s00,
			this.s11,
			this.s10
		];
	}
};
function xoroshiro128plus(seed) {
	return new XoroShiro128Plus(-1, ~seed, seed | 0, 0);
}

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

export { pairedEvidence as a, uniformInt as c, boundsOf as i, judgeInOrder as n, pooledEvidence as o, judgeLook as r, xoroshiro128plus as s, standardNormal as t };