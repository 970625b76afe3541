import { compare, ministatPieces, parseColumn } from "../../analysis/stats/plain.js";
import { confidencePercents } from "../../analysis/stats/first-plain.js";
import { UsageError, exitCodes, whyNotText, withoutMark } from "../../model/first-plain.js";
import { expected } from "../../model/excerpt.js";
import { printPieces } from "./print-chunks.js";
const { readFileSync } = globalThis.process.getBuiltinModule("node:fs");
const { getSystemErrorMessage } = globalThis.process.getBuiltinModule("node:util");
const { buffer } = globalThis.process.getBuiltinModule("node:stream/consumers");

// src/cli/tools/ministat.ts
async function run(files, flags) {
	const options = readOptions(flags);
	const sets = await readSets(files, flags);
	await printPieces(flags.json ? [`${JSON.stringify(compare(sets, options), null, 2)}\n`] : ministatPieces(sets, options));
	return exitCodes.pass;
}
function readOptions(flags) {
	return {
		confidencePercent: readConfidence(flags.c),
		population: flags.P === true,
		summariesOnly: flags.n === true,
		withoutPlot: flags.A === true,
		quiet: flags.q === true,
		separateBars: flags.s === true,
		width: flags.w === void 0 ? usualWidth() : readCount("-w", flags.w, 2, 1e4)
	};
}
function readConfidence(text) {
	const known = confidencePercents.find((percent) => percent === Number(text));
	if (known !== void 0) return known;
	const what = `one of ${confidencePercents.join(", ")} percent`;
	throw new UsageError(`-c: ${expected(what)({ input: text })}.`);
}
function readCount(flag, text, from, to) {
	const count = Number(text);
	if (/^\d+$/.test(text) && count >= from && count <= to) return count;
	const what = `a whole number from ${from} to ${to}`;
	throw new UsageError(`${flag}: ${expected(what)({ input: text })}.`);
}
/** On a terminal, `COLUMNS` sets the width of the plot itself, as in ministat. */
function usualWidth() {
	if (!process.stdout.isTTY) return 74;
	const columns = Number.parseInt(process.env.COLUMNS ?? "", 10);
	return Math.max(2, columns > 0 ? columns : process.stdout.columns - 2);
}
async function readSets(files, flags) {
	const column = readCount("-C", flags.C, 1, 1e6);
	const { d: delimiters = " 	" } = flags;
	if (delimiters === "") throw new UsageError("-d: expected at least one character, found none.");
	const sets = [];
	for (const name of files.length === 0 ? ["<stdin>"] : files) {
		const text = await readText(name, files.length === 0 || name === "-");
		const values = parseColumn(text, {
			name,
			column,
			delimiters
		});
		const why = whyNoNumber(text, values, column);
		if (why !== void 0) throw new UsageError(`${name} ${why}.`);
		sets.push({
			name,
			values
		});
	}
	return sets;
}
function whyNoNumber(text, values, column) {
	if (values.length > 0) return void 0;
	return text.length === 0 ? "is empty: give at least 3 numbers, in a file or through a pipe" : `holds no number in column ${column}: choose another with -C, or other delimiters with -d`;
}
async function readText(name, isStandardInput) {
	const bytes = isStandardInput ? await buffer(process.stdin) : readBytes(name);
	const why = whyNotText(bytes.subarray(0, 2));
	if (why !== void 0) throw new UsageError(`${name} ${why}.`);
	return withoutMark(bytes);
}
function readBytes(name) {
	try {
		return readFileSync(name);
	} catch (error) {
		throw new UsageError(`Cannot read ${name}: ${reason(error)}; name a file of numbers.`);
	}
}
function reason(error) {
	if (!(error instanceof Error)) return String(error);
	return "errno" in error && typeof error.errno === "number" ? getSystemErrorMessage(error.errno) : error.message;
}

export { run };