import { UsageError, fileReasonOf, reasonOf, shortened } from "../model/first-plain.js";
import { familySchema } from "../model/first.js";
import { limitsOf, parseColumn } from "../analysis/stats/plain.js";
import { interimResults, median } from "../analysis/stats/first.js";
import { cellVerdict, compare } from "../analysis/stats.js";
import { ForeignFileError, readForeignFile, readForeignText } from "../system/foreign-files.js";
import { parsePktGenLog } from "../lab/traffic/plain.js";
import { pktGenRun } from "../lab/traffic.js";
const { join } = globalThis.process.getBuiltinModule("node:path");
const { readFile, readdir, stat } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/cli/netbenches/analyze-netbenches.ts
/**
* Compares sets with the base by image, or of one image by configuration. All runs exist, so each cell gets a single
* analysis.
*/
function analyzeBenches(benches, options) {
	const sets = benches.map((set) => analyzed(set, options));
	const policy = {
		...options.policy,
		metric: "pps"
	};
	const pairs = pairsOf(sets, options.base);
	return {
		sets,
		comparisons: interimResults(pairs.map(cellOf), policy).map((interim) => {
			const [comparison] = compare(interim, "pps", policy);
			const { base, patched } = interim.input;
			return {
				base,
				patched,
				verdict: verdictOf(interim, policy),
				comparison
			};
		})
	};
}
function analyzed({ runs, ...set }, { netbenchesTrim }) {
	return {
		...set,
		runs: runs.map(({ receiver, sender }) => ({
			file: receiver.path,
			...pktGenRun(receiver.log, sender?.log, { netbenchesTrim })
		}))
	};
}
function pairsOf(sets, wanted) {
	const byImage = new Set(sets.map(({ image }) => image)).size > 1;
	const rest = ({ config, family }) => `${byImage ? config : ""}|${family}`;
	return [...Map.groupBy(sets, rest).values()].flatMap((group) => {
		const base = group.find(({ image, label }) => image === wanted || label === wanted) ?? group[0];
		return group.flatMap((patched) => base === void 0 || patched === base ? [] : {
			base,
			patched
		});
	});
}
/** Pooled runs do not depend on how they are paired. */
function cellOf({ base, patched }) {
	const all = [...runsOf$1(base, "base"), ...runsOf$1(patched, "patched")];
	const runs = all.map(limitsOf(all));
	const counted = (variant) => runs.filter((run) => run.variant === variant && run.validity.kind === "valid").length;
	const pairs = Math.max(minPairs, Math.min(counted("base"), counted("patched")));
	return {
		base,
		patched,
		design: {
			name: "fixed",
			budgets: [pairs],
			pairsPerStep: 1,
			method: "pooled"
		},
		runs,
		closedPairs: pairs,
		failures: []
	};
}
const minPairs = 3;
const runsOf$1 = (set, variant) => set.runs.map(({ medianPps, validity }, index) => ({
	number: index + 1,
	trial: index + 1,
	attempt: 1,
	pair: 1,
	variant,
	pps: medianPps,
	samples: [],
	validity
}));
/** A generator that limited half the runs of either set limited the cell. */
function verdictOf(interim, policy) {
	const { base, patched } = interim.input;
	const reason = [base, patched].map(({ runs }) => {
		const reasons = runs.flatMap(({ validity }) => validity.kind === "invalid" && validity.cause === "generator-limited" ? validity.reason : []);
		return reasons.length >= runs.length / 2 ? reasons[0] : void 0;
	}).find((text) => text !== void 0);
	return reason === void 0 ? cellVerdict(interim, policy) : {
		kind: "invalid",
		reason
	};
}

// src/cli/netbenches/directory.ts
/** Reports a directory that cannot be analyzed; the message is one sentence for the user. */
var BenchesError = class extends Error {
	name = "BenchesError";
	conclusion = "usage";
};
/**
* Reads all sets of a directory in natural order. Skips a sender without its receiver, and unrelated files.
*
* @throws BenchesError if the directory or any receiver's log is missing.
*/
async function readBenches(directory) {
	const names = new Set(await namesIn(directory));
	const receivers = [...names].flatMap(receiverOf).toSorted(byRun);
	if (receivers.length === 0) throw new BenchesError(`There is no receiver's log in ${directory}: expected files named bench.IMAGE[.CONFIG][.FAMILY].RUN.receiver, like bench.r325006.inet4.1.receiver.`);
	const labels = Map.groupBy(receivers, ({ label }) => label);
	const sets = [];
	for (const [label, files] of labels) {
		const info = `bench.${label}.info`;
		const about = aboutOf(label, names.has(info) ? await readText(directory, info).catch(() => "") : "");
		sets.push({
			label,
			...about,
			runs: await runsOf(directory, files, names)
		});
	}
	return sets;
}
async function namesIn(directory) {
	try {
		return await readdir(directory);
	} catch (error) {
		throw new BenchesError(`The benches in ${directory} cannot be read (${fileReasonOf(error)}): name the directory that holds their logs.`, { cause: error });
	}
}
function receiverOf(path) {
	const [, label, number] = /^bench\.([^.].*)\.(\d{1,9})\.receiver$/.exec(path) ?? [];
	return label === void 0 ? [] : [{
		label,
		number: Number(number),
		path
	}];
}
/** 10 after 9, in labels too. */
const natural = new Intl.Collator("en", { numeric: true });
const byRun = (a, b) => natural.compare(a.label, b.label) || a.number - b.number;
function aboutOf(label, info) {
	const assigned = assignments(info);
	const family = familyOf(assigned.get("PKTGEN")) ?? familyOf(label.split(".").at(-1));
	const rest = family === void 0 ? label : withoutSuffix(label, `.${family}`);
	const image = assigned.get("IMAGE") ?? rest.replace(/\..*$/s, "");
	const config = assigned.get("CFG") ?? (rest.startsWith(`${image}.`) ? rest.slice(image.length + 1) : void 0);
	const kernel = assigned.get("UNAME");
	return {
		image,
		...config === void 0 ? {} : { config },
		...family === void 0 ? {} : { family },
		...kernel === void 0 ? {} : { kernel }
	};
}
/** Parses `NAME="value"` lines of a shell file; skips empty values. */
function assignments(shellText) {
	const pairs = [...shellText.matchAll(/^([A-Z]+)=(?:"([^"\n]*)"|'([^'\n]*)'|(\S*))\r?$/gm)].map(([, name = "", ...values]) => [name, values.join("").trim()]);
	return new Map(pairs.filter(([, value]) => value !== ""));
}
function familyOf(word) {
	const { data } = familySchema.safeParse(word);
	return data;
}
const withoutSuffix = (text, suffix) => text.endsWith(suffix) ? text.slice(0, -suffix.length) : text;
async function runsOf(directory, receivers, names) {
	const runs = [];
	for (const { number, path } of receivers) {
		const sender = path.replace(/receiver$/, "sender");
		runs.push({
			number,
			receiver: await readLog(directory, path),
			...names.has(sender) ? { sender: await readLog(directory, sender) } : {}
		});
	}
	return runs;
}
async function readLog(directory, path) {
	try {
		return {
			path,
			log: parsePktGenLog(await readText(directory, path))
		};
	} catch (error) {
		return {
			path,
			log: {
				rates: [],
				lines: 0,
				skipped: 0,
				faults: [{
					kind: "unreadable",
					message: `${path} cannot be read: ${error instanceof ForeignFileError ? error.why : reasonOf(error)}`
				}]
			}
		};
	}
}
/** Enough for a line each second. */
const maxLogBytes = 64 * 1024 ** 2;
const readText = async (directory, path) => await readForeignText(directory, path, maxLogBytes) ?? "";

// src/cli/netbenches/series.ts
/**
* Reads a file as one series, with one nightly run per line: a name and its values, separated by white space or commas.
* Skips empty lines, comments after `#` and, by name, lines without a value. A folder has one series per CONFIG of its
* files `REV[.CONFIG].pps`, with the REVs in natural order. Throws a `UsageError` that names the first bad line.
*/
async function readSeries(path) {
	try {
		return (await stat(path)).isDirectory() ? await ofFolder(path) : [await ofFile(path)];
	} catch (error) {
		if (error instanceof UsageError) throw error;
		throw new UsageError(`The series ${path} cannot be read (${fileReasonOf(error)}): name a file with a line a nightly run, or a folder of REV.CONFIG.pps files.`, { cause: error });
	}
}
/** A nightly run has only a few numbers. */
const maxBytes = 64 * 1024 ** 2;
async function ofFile(path) {
	const lines = (await readFile(path, "utf8")).replace(/^\uFEFF/, "").split("\n");
	const series = {
		name: path,
		nightlyRuns: [],
		skipped: []
	};
	for (const [index, line] of lines.entries()) {
		const text = line.replace(/(^|\s)#.*/, "").trim();
		const where = `${path}:${index + 1}`;
		refuseGrouped(text, where);
		const [name = "", ...words] = text.split(/[\s,;]+/).filter(Boolean);
		if (words.length > 0) series.nightlyRuns.push({
			name,
			value: typical(words, where)
		});
		else if (name !== "") series.skipped.push(name);
	}
	someOf(series.nightlyRuns, path);
	return series;
}
/** A comma separates values, but `1,040,702` and `989,002 989,202` are numbers with thousands. */
function refuseGrouped(text, where) {
	const grouped = text.match(/(?<=[\s;])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?=[\s;]|$)/g) ?? [];
	const [first = ""] = grouped;
	if (grouped.length < 2 && first.split(",").length < 3) return;
	throw new UsageError(`${where}: "${shortened(first)}" may be one number or several; write numbers without thousands separators, and blanks between them.`);
}
async function ofFolder(path) {
	const files = (await readdir(path)).filter((name) => /^[^.].*\.pps$/.test(name)).map((name) => {
		const [revision = "", ...config] = name.slice(0, -4).split(".");
		return {
			name,
			revision,
			config: config.join(".")
		};
	});
	const configs = Map.groupBy(someOf(files, path), ({ config }) => config);
	const series = [];
	for (const [config, own] of [...configs].toSorted(([a], [b]) => natural.compare(a, b))) {
		const nightlyRuns = [];
		const skipped = [];
		for (const { name, revision } of own.toSorted((a, b) => natural.compare(a.revision, b.revision))) {
			const file = join(path, name);
			const bytes = await readForeignFile(path, name, maxBytes) ?? Buffer.alloc(0);
			const values = [...parseColumn(bytes, { name: file })].map(String);
			if (values.length > 0) nightlyRuns.push({
				name: revision,
				value: typical(values, file)
			});
			else skipped.push(name);
		}
		series.push({
			name: config || path,
			nightlyRuns,
			skipped
		});
	}
	return series;
}
function typical(words, where) {
	const values = words.map(Number);
	const bad = values.findIndex((value, at) => !isValue(value) || /^0\d/.test(words[at] ?? ""));
	if (bad === -1) return median(values);
	throw new UsageError(`${where}: expected a name and values above 0, found "${shortened(words[bad] ?? "")}"; remove a header, and write plain numbers without a unit.`);
}
const isValue = (value) => value > 0 && Number.isFinite(value);
function someOf(found, path) {
	if (found.length > 0) return found;
	throw new UsageError(`There is no nightly run in ${path}: expected lines with a name and its values, or files named REV.CONFIG.pps.`);
}

export { analyzeBenches, readBenches, readSeries };