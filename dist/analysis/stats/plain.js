import { UsageError, isJudged } from "../../model/first-plain.js";
import { gammaln } from "../../vendor/simple-statistics.js";
import { studentT } from "./first-plain.js";

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
* @throws UsageError for no sets, more than seven, or a set of fewer than three values.
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
	if (sets.length === 0) throw new UsageError("There is nothing to compare: name at least one file of numbers.");
	if (sets.length > maxSets) throw new UsageError(`There are ${sets.length} sets and symbols for ${maxSets} only: leave out ${sets.length - maxSets}.`);
	const short = sets.find(({ values }) => values.length < minValues);
	if (short === void 0) return;
	throw new UsageError(`${short.name} holds ${short.values.length} of the at least ${minValues} numbers that a standard deviation needs: measure more often.`);
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

// src/analysis/stats/columns.ts
/**
* Returns the numbers in file order. Skips empty lines, lines that end before the column, and lines with a field that
* begins with `#` at or before it. A trailing carriage return is white space.
*
* @throws UsageError if the column holds anything but a finite number.
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
	return new UsageError(`Line ${line} of ${name} holds ${problem}: correct it, begin the line with #, or choose another column with -C.`);
}
function doubled(values) {
	const larger = new Float64Array(values.length * 2);
	larger.set(values);
	return larger;
}

export { chanceOf, compare, formatGeneral, limitsOf, lowerBound, ministatPieces, parseColumn, renderMinistat, unlikely, upperBound };