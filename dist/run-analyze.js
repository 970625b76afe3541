import { r as overrideGate, t as UsageError } from "./overrides.js";
import { n as exitCodeOfResult, r as exitCodeOfVerdict } from "./exit.js";
import { c as readPlan, i as hasPlan } from "./plan.js";
import { d as pktGenRun, f as parsePktGenLog, l as freebsdLogNames, n as readLinuxLogs, t as logNames, u as readFreebsdLogs } from "./linux-logs.js";
import { i as readJournal, t as assembleResult } from "./assemble.js";
import { l as standings } from "./standing.js";
import { i as worstVerdict, n as cellVerdict, r as compare } from "./verdict.js";
import { i as shortened, r as reasonOf } from "./one-line.js";
import { i as familySchema } from "./scenario.js";
import { l as formatPps, o as formatInterval, r as formatChange } from "./format.js";
import { r as renderMinistat, t as compare$1 } from "./ministat.js";
import { g as renderMarkdown } from "./markdown.js";
import { t as explained } from "./read2.js";
import { join } from "node:path";
import { access, lstat, readFile, readdir } from "node:fs/promises";

// src/experiment/reread.ts
/** The journal of a work directory, with the runs of every blast read from its logs anew. */
async function reread(directory, plan) {
	const entries = [];
	let unread = 0;
	for (const entry of await readJournal(join(directory, "journal.jsonl"))) {
		const again = entry.kind === "measured" ? await measureAgain(directory, plan, entry) : entry;
		if (again === void 0) unread += 1;
		entries.push(again ?? entry);
	}
	return {
		entries,
		unread
	};
}
async function measureAgain(directory, plan, entry) {
	const { summary } = entry;
	const blast = plan.blasts.find(({ number }) => number === summary.number);
	if (blast === void 0) return void 0;
	const numbers = new Set(entry.runs.map(({ number }) => number));
	const planned = {
		...blast,
		runs: blast.runs.filter(({ number }) => numbers.has(number))
	};
	const { attempt, startedAt } = summary;
	const folder = join(directory, summary.logs);
	const [linux, freebsd] = [await readLinux(folder), await readFreebsd(folder)];
	const outcome = linux ? readLinuxLogs(planned, startedAt, linux) : freebsd && readFreebsdLogs(planned, freebsd, {
		startedAt,
		traffic: plan.traffic
	});
	if (outcome?.kind !== "measured") return void 0;
	return {
		...entry,
		summary: {
			...summary,
			...outcome.summary
		},
		runs: outcome.runs.map((run) => ({
			...run,
			attempt
		}))
	};
}
async function readLinux(folder) {
	const text = (name) => readFile(join(folder, name), "utf8");
	try {
		const [dut, sender, counters] = await Promise.all([
			text(logNames.dut),
			text(logNames.sender),
			text(logNames.counters)
		]);
		return {
			dut,
			sender,
			counters
		};
	} catch {
		return;
	}
}
async function readFreebsd(folder) {
	try {
		const receiver = await readFile(join(folder, freebsdLogNames.receiver), "utf8");
		const senders = [];
		while (await exists(join(folder, freebsdLogNames.sender(senders.length)))) senders.push(await readFile(join(folder, freebsdLogNames.sender(senders.length)), "utf8"));
		return {
			receiver,
			senders
		};
	} catch {
		return;
	}
}
const exists = (path) => access(path).then(() => true, () => false);

// src/netbenches/analyze.ts
/**
* Sets that share their family and configuration are compared by their images, or those of one image by their
* configurations; each with the base among them. All runs are there already, so each cell gets one look.
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
		comparisons: standings(pairs.map(cellOf), policy).map((standing) => {
			const [comparison] = compare(standing, "pps", policy);
			const { base, patched } = standing.input;
			return {
				base,
				patched,
				verdict: verdictOf(standing, policy),
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
function pairsOf(sets, asked) {
	const byImage = new Set(sets.map(({ image }) => image)).size > 1;
	const rest = ({ config, family }) => `${byImage ? config : ""}|${family}`;
	return [...Map.groupBy(sets, rest).values()].flatMap((group) => {
		const base = group.find(({ image, label }) => image === asked || label === asked) ?? group[0];
		return group.flatMap((patched) => base === void 0 || patched === base ? [] : {
			base,
			patched
		});
	});
}
/** The pairs that were measured; which run is called a pair of which means nothing to pooled runs. */
function cellOf({ base, patched }) {
	const runs = [...runsOf$1(base, "base"), ...runsOf$1(patched, "patched")];
	const counted = (variant) => runs.filter((run) => run.variant === variant && run.validity.kind === "valid").length;
	const pairs = Math.max(fewestPairs, Math.min(counted("base"), counted("patched")));
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
/** As ministat has it. */
const fewestPairs = 3;
const runsOf$1 = (set, variant) => set.runs.map(({ medianPps, validity }, index) => ({
	number: index + 1,
	blast: index + 1,
	attempt: 1,
	pair: 1,
	variant,
	pps: medianPps,
	samples: [],
	validity
}));
/** A generator that was the limit of half the runs of either set was the limit of the cell. */
function verdictOf(standing, policy) {
	const { base, patched } = standing.input;
	const reason = [base, patched].map(({ runs }) => {
		const reasons = runs.flatMap(({ validity }) => validity.kind === "invalid" && validity.cause === "generator-limited" ? validity.reason : []);
		return reasons.length >= runs.length / 2 ? reasons[0] : void 0;
	}).find((text) => text !== void 0);
	return reason === void 0 ? cellVerdict(standing, policy) : {
		kind: "invalid",
		reason
	};
}

// src/netbenches/directory.ts
/** A directory that cannot be analyzed; the message is one sentence to show as it is. */
var BenchesError = class extends Error {
	name = "BenchesError";
};
/**
* All sets of a directory in natural order, their logs read and parsed. A sender without its receiver measured
* nothing and is passed over, like files of other names.
*
* @throws BenchesError where there is no such directory, or no receiver's log in it.
*/
async function readBenches(directory) {
	const names = new Set(await namesIn(directory));
	const receivers = [...names].flatMap(receiverOf).toSorted(byRun);
	if (receivers.length === 0) throw new BenchesError(`There is no receiver's log in ${directory}: expected are files named bench.IMAGE[.CONFIG][.FAMILY].RUN.receiver, like bench.r325006.inet4.1.receiver.`);
	const labels = Map.groupBy(receivers, ({ label }) => label);
	const sets = [];
	for (const [label, files] of labels) {
		const info = `bench.${label}.info`;
		const about = aboutOf(label, names.has(info) ? await textOf(join(directory, info)) : "");
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
		throw new BenchesError(`The benches in ${directory} cannot be read (${reasonOf(error)}): name the directory that holds their logs.`, { cause: error });
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
/** What the set's .info says, and of what it leaves out what the label says. */
function aboutOf(label, info) {
	const said = assignments(info);
	const family = familyOf(said.get("PKTGEN")) ?? familyOf(label.split(".").at(-1));
	const rest = family === void 0 ? label : withoutSuffix(label, `.${family}`);
	const image = said.get("IMAGE") ?? rest.replace(/\..*$/s, "");
	const config = said.get("CFG") ?? (rest.startsWith(`${image}.`) ? rest.slice(image.length + 1) : void 0);
	const kernel = said.get("UNAME");
	return {
		image,
		...config === void 0 ? {} : { config },
		...family === void 0 ? {} : { family },
		...kernel === void 0 ? {} : { kernel }
	};
}
/** `NAME="value"` lines of a shell file, read and never run; an empty value says nothing. */
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
			log: parsePktGenLog(await readRegularFile(join(directory, path)))
		};
	} catch (error) {
		return {
			path,
			log: {
				rates: [],
				lines: 0,
				faults: [{
					kind: "unreadable",
					message: `${path} cannot be read: ${reasonOf(error)}`
				}]
			}
		};
	}
}
/** Links are not followed: a directory that somebody sent may point anywhere, also at what never ends. */
async function readRegularFile(path) {
	if (!(await lstat(path)).isFile()) throw new Error("it is no regular file");
	return await readFile(path, "utf8");
}
const textOf = (path) => readRegularFile(path).catch(() => "");

// src/netbenches/render.ts
/** The sets with their runs, then for each comparison its verdict and the classic block below it. */
function renderAnalysis({ sets, comparisons }) {
	return [...sets.map(renderSet), ...comparisons.map(renderComparison)].join("\n");
}
function renderSet({ label, kernel, runs }) {
	const counted = runs.filter(({ validity }) => validity.kind === "valid").length;
	return `${[
		`${shortened(label)}: ${counted} of ${runs.length} runs count`,
		...kernel === void 0 ? [] : [`  ${shortened(kernel)}`],
		...runs.map(renderRun)
	].join("\n")}\n`;
}
function renderRun({ file, medianPps, offeredPps, seconds, steadyAfterSeconds, validity }) {
	const parts = [
		formatPps(medianPps),
		offeredPps !== void 0 && `${formatPps(offeredPps)} offered`,
		`${seconds.toFixed(0)} s`,
		steadyAfterSeconds !== void 0 && `known to 0.5 % after ${steadyAfterSeconds} s`,
		validity.kind === "invalid" && `invalid: ${validity.reason}`
	];
	return `  ${shortened(file)}  ${parts.filter(Boolean).join(", ")}`;
}
function renderComparison(compared) {
	const { base, patched } = compared;
	const head = `${`${shortened(patched.label)} against ${shortened(base.label)}`}: ${verdictText(compared)}`;
	const sets = [minimalSet(base), minimalSet(patched)];
	if (sets.some(({ values }) => values.length < 3)) return `${head}\n`;
	return `${head}\n\n${renderMinistat(sets, { separateBars: true })}`;
}
function verdictText({ verdict, comparison }) {
	const reason = verdict.kind === "invalid" ? `: ${verdict.reason}` : "";
	if (comparison === void 0) return `${verdict.kind}${reason}`;
	const { change, low, high } = comparison.interval;
	return `${verdict.kind}, ${formatChange(change)} (95 % interval ${formatInterval(low, high)})${reason}`;
}
/** All runs that have a number, also those that do not count: what ministat would have been fed. */
const minimalSet = ({ label, runs }) => ({
	name: shortened(label),
	values: Float64Array.from(runs.map(({ medianPps }) => medianPps).filter((pps) => pps > 0))
});
/** Ratios, and packets per second; `reason` is null where there is nothing to say. */
function analysisAsJson({ sets, comparisons }) {
	return {
		sets: sets.map(({ label, image, config, family, kernel, runs }) => ({
			label,
			image,
			config,
			family,
			kernel,
			runs: runs.map(({ validity, ...run }) => ({
				...run,
				validity: validity.kind,
				reason: validity.kind === "invalid" ? validity.reason : null
			}))
		})),
		comparisons: comparisons.map((compared) => ({
			base: compared.base.label,
			patched: compared.patched.label,
			verdict: compared.verdict.kind,
			reason: compared.verdict.kind === "invalid" ? compared.verdict.reason : null,
			...compared.comparison?.interval,
			ministat: ministatOf(compared)
		}))
	};
}
/** Null where a set has fewer than ministat's three numbers. */
function ministatOf({ base, patched }) {
	const sets = [minimalSet(base), minimalSet(patched)];
	if (sets.some(({ values }) => values.length < 3)) return null;
	const { confidencePercent, differences } = compare$1(sets);
	return {
		confidencePercent,
		...differences[0]
	};
}

// src/commands/run-analyze.ts
/** Answers the exit code of the worst verdict; throws where there is nothing to compare. */
async function runAnalyze(directory, options) {
	return await hasPlan(directory) ? analyzeWork(directory, options) : analyzeNetbenches(directory, options);
}
async function analyzeNetbenches(directory, options) {
	const { netbenchesTrim = false, base, json } = options;
	const policy = overrideGate(void 0, options);
	const analysis = analyzeBenches(await readBenches(directory), {
		netbenchesTrim,
		base,
		policy
	});
	print(json ? JSON.stringify(analysisAsJson(analysis), null, 2) : renderAnalysis(analysis));
	const { sets, comparisons } = analysis;
	if (base !== void 0 && !sets.some(({ image, label }) => image === base || label === base)) throw new UsageError(`--base: there is no set of ${base} in ${directory}.`);
	if (comparisons.length === 0) {
		const labels = sets.map(({ label }) => label).join(", ");
		throw new UsageError(`There is nothing to compare in ${directory}: it holds one variant only (${labels}).`);
	}
	return exitCodeOfVerdict(worstVerdict(comparisons));
}
/** The policy is the plan's own: what was asked before the first run is what a verdict is held to. */
async function analyzeWork(directory, { json }) {
	const plan = await readPlan(directory);
	const { entries, unread } = await reread(directory, plan);
	const { result } = await explained(assembleResult(plan, entries), directory);
	print(json ? JSON.stringify(analysisAsJson(analysisOf(result)), null, 2) : renderMarkdown(result));
	if (unread > 0) process.stderr.write(`ppsgate: the logs of ${unread} blasts cannot be read again; their runs are those of the journal.\n`);
	return exitCodeOfResult(result);
}
/** A variant is the image, a scenario the configuration. */
function analysisOf({ outcome }) {
	const compared = (outcome.kind === "judged" ? outcome.cells : []).map(({ cell, runs, verdict, comparisons: [comparison] }) => ({
		base: setOf(cell, "base", runs),
		patched: setOf(cell, "patched", runs),
		verdict,
		comparison
	}));
	return {
		sets: compared.flatMap(({ base, patched }) => [base, patched]),
		comparisons: compared
	};
}
const setOf = ({ scenario, family }, variant, runs) => ({
	label: `${variant}.${scenario}.${family}`,
	image: variant,
	config: scenario,
	family,
	runs: runs.filter((run) => run.variant === variant).map(({ number, blast, attempt, pps, samples, validity }) => ({
		file: `blast ${blast}.${attempt}, run ${number}`,
		medianPps: pps,
		seconds: samples.reduce((sum, sample) => sum + sample.seconds, 0),
		validity
	}))
});
const print = (text) => void process.stdout.write(`${text.trimEnd()}\n`);

export { runAnalyze };