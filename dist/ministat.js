import { t as formatGeneral } from "./printf.js";
import { r as studentT } from "./student.js";

// src/stats/columns.ts
/** What a person gave to `ppsgate ministat` and it refuses; the message is one sentence to show as it is. */
var MinistatInputError = class extends Error {
	name = "MinistatInputError";
};
/**
* The numbers in file order. Skipped are empty lines, lines that end before the column, and lines
* with a field that begins with `#` at or before it. A trailing carriage return is white space.
*
* @throws MinistatInputError where the column holds anything but a finite number.
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
/** Where the field begins, or `end` where the line has no such field or a comment comes first. */
function startOfField(text, start, end, column, separates) {
	let at = skip(text, start, end, separates);
	for (let field = 1; field < column && text[at] !== hash; field += 1) at = skip(text, endOfField(text, at, end, separates), end, separates);
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
* A decimal of up to 15 digits and a power of ten up to 22 are read without making a string of them:
* both are exact as doubles, so the one multiplication or division rounds correctly.
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
/** What else strtod(3) reads, infinities and hexadecimals; NaN for what it does not. */
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

// src/stats/ministat-plot.ts
/**
* The lines of the plot, in pieces of at most about a megabyte. Sets and their summaries come in the same
* order, at most seven of each.
*/
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
/** Where sets fall on the same spot their numbers are or'ed, and the result's symbol is shown, as ministat does. */
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
/** The dots, top line first. Equal lines come as one piece: a pile may be millions high, but has few shapes. */
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
* A quirk that published plots show: the plot is as high as the set drawn last, and a set higher
* than the one before it first wipes all above that one's top. So the highest line that set `index` keeps.
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
	for (let column = left + 1; column < right; column += 1) if (bar[column] === " ") bar[column] = "_";
	bar[right] = "|";
	bar[left] = "|";
	bar[axis.columnOf(median)] = "M";
	bar[axis.columnOf(average)] = "A";
}
const framed = (characters) => `|${characters.join("")}|\n`;

// src/stats/ministat.ts
/**
* The numbers that ministat prints, and with `-n`, `-P` or an unproven difference would not.
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
/** What ministat prints; `renderMinistat(sets, { separateBars: true })` is what people paste into mail. */
function renderMinistat(sets, options = {}) {
	return [...ministatPieces(sets, options)].join("");
}
/** The same text in pieces of at most about a megabyte: the plot of ten million values is longer than a string can be. */
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
/**
* Student's t test with a pooled variance. The relative error is that of a ratio of two averages
* (the first's own noise counts), as the current ministat prints it; older ones divided the error.
*/
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

export { parseColumn as a, MinistatInputError as i, ministatPieces as n, renderMinistat as r, compare as t };