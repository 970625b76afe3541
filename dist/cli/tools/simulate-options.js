import { kebabCase } from "../../config/parameters.js";
import { UsageError, formatPercent, grouped } from "../../model/first-plain.js";
import { NEVER, array, looseObject, number$1 as number, object, string } from "../../vendor/zod.js";
import { duration, maxRuns, measured, ratio } from "../../model/first.js";
import { mean, sampleStandardDeviation } from "../../vendor/simple-statistics.js";
import { keyName } from "../../config/first.js";
import { expected, sentence } from "../../model/excerpt.js";
const { readFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/cli/tools/noise-file.ts
/**
* Reads the runs of a file of JSON lines, each with a list `pps` of numbers above 0 and any other keys, like ppsgate's
* history. Returns the sets of each cell, one for each session. Lines of one cell agree in testbed, cell, traffic,
* label and the like. Skips lines of a single run, which have no spread; `lines` counts them, too. Throws a
* `UsageError` that names the first bad line.
*/
async function readNoiseFile(path) {
	const all = (await readFile(path, "utf8").catch(cannotRead(path))).split("\n").flatMap((line, index) => line.trim() ? [parseLine(line, `--noise: ${path}:${index + 1}`)] : []);
	const cells = Map.groupBy(all.filter(({ pps }) => pps.length >= 2), ({ key }) => key);
	if (cells.size > 0) return {
		cells: [...cells.values()].map((lines) => lines.map(({ pps }) => pps)),
		lines: all.length
	};
	const found = all.length === 0 ? "nothing" : `${all.length} with fewer`;
	throw new UsageError(`--noise: ${path}: expected JSON lines with the pps of at least ${2} runs, found ${found}.`);
}
/** A single run has no spread. */
const minRuns = 2;
const cannotRead = (path) => (error) => {
	const why = error.code === "ENOENT" ? "there is no such file" : `cannot be read (${error.code})`;
	throw new UsageError(`--noise: ${path}: ${why}; name a file of JSON lines, or a CV like 1%.`);
};
const rateError = expected("a number above 0");
/** Keys that distinguish cells, of ppsgate's history and of the results of netbenches. */
const cellKeys = [
	"testbed",
	"cell",
	"traffic",
	"cpu",
	"nic",
	"topic",
	"label"
];
const lineSchema = looseObject({ pps: array(number({ error: rateError }).refine((pps) => measured.safeParse(pps).success, { error: rateError }), { error: expected("a list of numbers above 0") }).max(maxRuns) }, { error: expected("an object with pps, a list of numbers above 0") });
function parseLine(line, place) {
	const parsed = lineSchema.safeParse(parseJson(line, place));
	if (parsed.success) {
		const { data } = parsed;
		return {
			key: JSON.stringify(cellKeys.map((name) => data[name])),
			pps: data.pps
		};
	}
	const [{ path, message } = {
		path: [],
		message: "cannot be used"
	}] = parsed.error.issues;
	throw new UsageError([
		place,
		keyName(path),
		`${message}.`
	].filter(Boolean).join(": "));
}
function parseJson(line, place) {
	try {
		return JSON.parse(line);
	} catch {
		throw new UsageError(`${place}: expected JSON like {"pps": [980100, 979500, 981200]}.`);
	}
}
/** Sample standard deviation over mean. */
const cvOf = (set) => sampleStandardDeviation(set) / mean(set);

// src/cli/tools/simulate-options.ts
/** Throws a `UsageError` that names the first wrong option. */
function parse(schema, options) {
	const parsed = schema.safeParse(options);
	if (parsed.success) return parsed.data;
	const [{ path, message } = {
		path: [],
		message: "cannot be used"
	}] = parsed.error.issues;
	throw new UsageError(`--${kebabCase(String(path[0]))}: ${sentence(message)}`);
}
const listOf = (text) => text.split(",").map((item) => item.trim());
const largestCv = {
	description: "a percentage above 0% and up to 100%",
	holds: (value) => value > 0 && value <= 1
};
const largestChange = {
	description: "a change from -99% to +99%",
	holds: (value) => value <= .99
};
const atMostADay = {
	description: "a duration of up to 1440 min",
	holds: (value) => value <= 86400
};
const wrongNoise = expected("a file of JSON lines with pps, or a CV like 1%");
const sharedOptions = object({
	noise: string({ error: wrongNoise }).min(1, { error: wrongNoise }),
	maxCv: ratio(largestCv).optional(),
	effects: string().transform(listOf).pipe(array(string().transform(parseChange))).optional(),
	history: count(0, 1e3).prefault("0"),
	seed: count(0, 2 ** 31 - 1).prefault("1"),
	reboot: duration(atMostADay).prefault("4 min"),
	traffic: duration(atMostADay).prefault("68 s")
});
function count(least, most) {
	const error = expected(`a whole number from ${least} to ${most}`);
	return string().regex(/^\d{1,10}$/, {
		error,
		abort: true
	}).refine((text) => Number(text) >= least && Number(text) <= most, { error }).transform(Number);
}
/** `0`, `-1.5%`, `+2%`; also accepts the minus sign of our reports. */
function parseChange(text, context) {
	if (text === "0") return 0;
	const size = ratio(largestChange).safeParse(text.replace(/^[-−+]/, ""));
	if (size.success) return /^[-−]/.test(text) && size.data > 0 ? -size.data : size.data;
	const message = expected(`0, or ${largestChange.description}`)({ input: text });
	context.addIssue({
		code: "custom",
		message
	});
	return NEVER;
}
async function readNoise({ noise, maxCv }) {
	if (noise.endsWith("%")) {
		if (maxCv !== void 0) throw new UsageError("--max-cv: leaves out lines of a file, but --noise is a CV: drop one of them.");
		const { noise: cv } = parse(object({ noise: ratio(largestCv) }), { noise });
		return {
			source: {
				kind: "normal",
				cv
			},
			noiseText: `normal noise, CV ${formatPercent(cv)}`
		};
	}
	const { cells, lines } = await readNoiseFile(noise);
	const kept = cells.map((sets) => sets.filter((set) => cvOf(set) <= (maxCv ?? Infinity))).filter((sets) => sets.length > 0);
	if (kept.length === 0) throw new UsageError(nothingLeft(noise, cells.flat(), maxCv));
	const limit = maxCv === void 0 ? "" : ` and a CV of at most ${formatPercent(maxCv)}`;
	return {
		source: {
			kind: "sets",
			cells: kept
		},
		noiseText: `${noise}: ${grouped(kept.flat().length)} of ${grouped(lines)} sets of runs, those with at least ${2} runs${limit}, of ${grouped(kept.length)} ${kept.length === 1 ? "cell" : "cells"}`
	};
}
function nothingLeft(path, sets, maxCv = Infinity) {
	const quietest = formatPercent(Math.min(...sets.map(cvOf)));
	return `--max-cv: ${path} has no set of runs with a CV of at most ${formatPercent(maxCv)}; its quietest has ${quietest}.`;
}
/** The first column is left-aligned, numbers are right-aligned. */
function aligned(lines) {
	const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
	const cell = (text, column) => column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0);
	return lines.map((line) => line.map(cell).join("  ")).join("\n");
}

export { aligned, count, listOf, parse, readNoise, sharedOptions };