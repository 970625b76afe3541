import { isJudged } from "../../model/plain.js";
import { errorFunction, gammaln, mean, sum } from "../../vendor/simple-statistics.js";
import { uniformFloat64 } from "../../vendor/pure-rand.js";

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
const upperTail$1 = (z) => studentTail(z, Infinity);
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

// src/analysis/stats/columns.ts
/** Reports invalid input of `ppsgate ministat`; the message is one sentence for the user. */
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
* Parses exactly without a string: 15 digits and a power of ten up to 22 are exact doubles, so one operation rounds
* correctly.
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
/**
* Yields the dots, top line first. Merges equal lines into one piece: a pile may be millions high, but has few shapes.
*/
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
function compare(sets, options = {}) {
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
	const { summaries, differences, confidencePercent } = compare(sets, options);
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
const maxSets = 7;
const minValues = 3;
function refuseUnusable(sets) {
	if (sets.length === 0) throw new MinistatInputError("There is nothing to compare: name at least one file of numbers.");
	if (sets.length > maxSets) throw new MinistatInputError(`There are ${sets.length} sets and symbols for ${maxSets} only: leave out ${sets.length - maxSets}.`);
	const short = sets.find(({ values }) => values.length < minValues);
	if (short === void 0) return;
	throw new MinistatInputError(`${short.name} holds ${short.values.length} of the at least ${minValues} numbers that a standard deviation needs: measure more often.`);
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

// src/analysis/stats/spread.ts
/** A CPU below this share of the busiest one's work does other work, such as a timer's. */
const minBusiestShare = .5;
/** Below this share, no CPU was a limit. */
const minBusyRatio = .2;
/** Counts by packets of each CPU, which other work may keep busy; without packets, by busy shares. */
function cpusAtWork({ cpuBusyRatios, queues }) {
	const packets = queues.filter(({ device }) => device === "softnet").map(({ ratio }) => ratio);
	const shares = packets.length > 0 ? packets : cpuBusyRatios;
	const busiest = shares.reduce((most, share) => Math.max(most, share), 0);
	const least = packets.length > 0 ? Number.MIN_VALUE : minBusyRatio;
	if (shares.length < 2 || busiest < least) return void 0;
	return {
		used: shares.filter((share) => share >= busiest * minBusiestShare).length,
		all: shares.length
	};
}
/** A queue with less than this share of its even part got none of the test's flows. */
const minEvenShare = .1;
/** Receive queues of cards with at least two. */
function queuesReached({ queues }) {
	const received = queues.filter(({ device, direction }) => direction === "receive" && device !== "softnet");
	return [...Map.groupBy(received, ({ device }) => device)].flatMap(([device, own]) => {
		const all = own.length;
		const used = own.filter(({ ratio }) => ratio >= minEvenShare / all).length;
		return all < 2 || used === 0 ? [] : {
			device,
			used,
			all
		};
	});
}
/** A test that reaches less than half of the queues leaves most of the DUT idle: its numbers are of a few queues. */
const reachesFew = ({ used, all }) => used * 2 < all;
const adviceToReachMore = "offer more `flows`, change the RSS key of the card, or give it fewer queues";

// src/analysis/stats/binomial.ts
/** Chance that a bound is ever wrong, however often it is used. */
const everWrongRatio = .05;
/** Beta prior of the share, expected near 1 %. It determines where the bounds are tightest; they hold for any prior. */
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
/** Finds by bisection the share beyond which the martingale is above its limit, from `inside` to `outside`. */
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
	const perCount = Math.max(samplesPerBurst, (samples.base + samples.patched) / maxCounted);
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
const maxCounted = 1e5;
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

// src/analysis/stats/limited.ts
/**
* Decides from all `runs` of a cell, and returns each as it counts. Runs that the generator limited are valid, unless
* half of the runs of base or of patched were limited: omitting single ones would omit the fastest runs of a variant,
* and hide a loss. A limited run slower than all valid ones of its variant had a slow sender, and stays invalid.
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

export { MinistatInputError, adviceToReachMore, analysesOf, analysisSizes, betaFraction, chanceOf, compare, confidencePercents, cpusAtWork, criticalT, formatGeneral, hodgesLehmann, limitsOf, lowerBound, ministatPieces, parseColumn, queuesReached, reachesFew, renderMinistat, sessionDegreesOfFreedom, signedRankBounds, standardNormal, unlikely, upperBound };