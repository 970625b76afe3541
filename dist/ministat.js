import { t as MinistatInputError } from "./columns.js";
import { t as formatGeneral } from "./printf.js";
import { r as studentT } from "./student.js";

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

export { ministatPieces as n, renderMinistat as r, compare as t };