import { version } from "../package.js";
import { UsageError, diffName, fileReasonOf, formatPercent, isJudged, reasonOf, withoutPaths } from "../model/plain.js";
import { boolean, discriminatedUnion, int, literal, number$1 as number, object, string } from "../vendor/zod.js";
import { byMetric, byName, cellName, cellProfileSchema, cellSchema, commitId, count, designSchema, document, earlierGatesSchema, facts, historySchema, isSameTraffic, layoutOfPair, line, list, maxEarlierGates, maxTrials, maxVariants, measured, metricSchema, name, offeredTraffic, offeredTrafficSchema, ownRulesSchema, packetsText, patchSchema, plannedTrialSchema, policySchema, rejectionSchema, runSchema, seconds, systemOfScenario, systemOfTestbedKind, testbedKindSchema, time, total, trialSchema, variant } from "../model.js";
import { giveNew, makeFolders } from "../system/give-to-caller.js";
import { testbedKindOf } from "../config.js";
import { mean, sum, sumNthPowerDeviations } from "../vendor/simple-statistics.js";
import { analysisSizes, limitsOf, sessionDegreesOfFreedom } from "../analysis/stats/plain.js";
import { cellResult, cellVerdict, evidenceAt, interimResults, isCounted, isEnough, runCounts, runsApart, sumOf, trialNumbers, validPairs, withLimits, worstVerdict } from "../analysis/stats.js";
import { ExposedPlaceError, checkNotOpen } from "../system/own-file.js";
import { durationsOf, durationsSchema, expectedDurationsOn, expectedDurationsSchema } from "./estimate.js";
import { ForeignFileError, readForeignText } from "../system/foreign-files.js";
import { isPlaceLeftAlone } from "../kernel/plain.js";
import { variantSchema } from "../kernel.js";
import { uniformInt, xoroshiro128plus } from "../vendor/pure-rand.js";
import { mapOwnRules, portNames } from "../lab/linux/plain.js";
import { BaseRejectedError, beginPlanFile, faultOf, hasPlanFile, readPlanFile, replacePlanFile } from "./experiment/plain.js";
import { logNames, readLinuxLogs } from "../lab/netns.js";
import { freebsdLogNames, readFreebsdLogs } from "../lab/freebsd.js";
import { pairsOf as pairsOf$1, readVirtualLogs, windowsLogName } from "../lab/qemu.js";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { createHash, randomInt } from "node:crypto";
import { appendFile, glob, mkdir, open, readFile, truncate, writeFile } from "node:fs/promises";

// src/gate/experiment/earlier-gates.ts
const ratio = number().positive().lt(1);
/** The gate that wrote a line of history. */
const gateOfLineSchema = object({
	/** Equal for a gate that was resumed, extended or published again. */
	id: string().regex(/^[0-9a-f]{64}$/),
	head: commitId,
	metric: metricSchema,
	marginRatio: ratio,
	missRatio: ratio,
	isRegression: boolean()
});
/** Returns undefined for an A/A run, which passes no patch. */
function gateOfLine({ startedAt, variants, policy }, { runs, verdict }) {
	const commitOf = (name) => variants.find((variant) => variant.name === name)?.commit;
	const [base, head] = [commitOf("base"), commitOf("patched")];
	if (head === base || !commitId.safeParse(base).success) return void 0;
	const { metric, marginRatio, missRatio } = policy;
	const id = createHash("sha256").update(JSON.stringify([startedAt, numbersOf$1(runs[0])]));
	return gateOfLineSchema.safeParse({
		id: id.digest("hex"),
		head,
		metric,
		marginRatio,
		missRatio,
		isRegression: verdict.kind === "regression"
	}).data;
}
const numbersOf$1 = (run) => [run?.pps, run?.samples.map(({ receivedPackets, forwardedPackets }) => [receivedPackets, forwardedPackets])];
/** Gates of the same commits in the same cell, with the same margin and rate of misses; undefined if there are none. */
function earlierGates(entries, gate) {
	if (gate.base === gate.head) return void 0;
	const gates = entries.flatMap((entry) => isSame(entry, gate) && entry.gate ? entry.gate : []);
	const others = Map.groupBy(gates, ({ id }) => id);
	if (gate.id !== void 0) others.delete(gate.id);
	if (others.size === 0) return void 0;
	const regressions = [...others.values()].filter((lines) => lines.some(({ isRegression }) => isRegression));
	return {
		count: Math.min(others.size, maxEarlierGates),
		regressions: Math.min(regressions.length, maxEarlierGates)
	};
}
function isSame(entry, { testbed, cell, traffic, base, head, policy }) {
	const { gate } = entry;
	return gate?.head === head && (base === void 0 || entry.commit === base) && entry.testbed === testbed && cellName(entry.cell) === cellName(cell) && isSameTraffic(entry.traffic, traffic) && gate.metric === policy.metric && gate.marginRatio === policy.marginRatio && gate.missRatio === policy.missRatio;
}

// src/gate/experiment/history.ts
const rates = list(measured);
const historyEntrySchema = object({
	/** Start of the experiment. An extended one writes again, and its last line counts. */
	at: time,
	testbed: name,
	/** Absent in older lines. */
	kind: testbedKindSchema.exactOptional(),
	cell: cellSchema,
	traffic: offeredTrafficSchema,
	commit: name,
	/** Holds one rate per trial, in order. */
	pps: rates,
	nsPerPacket: rates,
	/** Absent in older lines. */
	instructionsPerPacket: rates.default([]),
	/** Numbers of patched; absent in older lines, and if none of its runs count. */
	patched: object({
		pps: rates,
		nsPerPacket: rates,
		instructionsPerPacket: rates
	}).optional(),
	/** True if base had changed against the earlier history. */
	moved: boolean(),
	/** Layouts of base's kernel that were booted, if several: the spread then includes the noise of builds. */
	layouts: count.min(2).optional(),
	/** Equal for all cells of a gate; absent in older lines. */
	durations: durationsSchema.optional(),
	/** Absent in older lines, and in lines not written by a gate of two commits. */
	gate: gateOfLineSchema.optional()
});
/** Reports an unusable history; nothing is measured until it is fixed. */
var HistoryError = class extends Error {
	name = "HistoryError";
	conclusion = "usage";
};
/**
* Opens the history at `path`, which need not exist yet. `read` throws a `HistoryError` that names the first bad line.
*/
function historyFile(path) {
	return {
		async read() {
			const text = await readFile(path, "utf8").catch(ifMissing(path));
			refuseIfOpen(path);
			return text.split("\n").flatMap((line, index) => line ? parseLine$1(line, path, index) : []);
		},
		async append(entries) {
			if (entries.length === 0) return;
			const made = await mkdir(dirname(path), {
				recursive: true,
				mode: 493
			});
			const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
			await appendFile(path, lines, { mode: 420 });
			await giveNew(made ?? path);
		}
	};
}
/** Refuses a file that any user may write, as it could give the gate any noise. */
function refuseIfOpen(path) {
	try {
		checkNotOpen(path);
	} catch (error) {
		if (!(error instanceof ExposedPlaceError)) throw error;
		throw new HistoryError(`The history ${path} is refused: ${error.message}.`);
	}
}
const ifMissing = (path) => (error) => {
	if (error.code === "ENOENT") return "";
	throw new HistoryError(`The history ${path} cannot be read (${error.code}): name a file by \`history\` in ppsgate.yml.`);
};
function parseLine$1(line, path, index) {
	try {
		return historyEntrySchema.parse(JSON.parse(line));
	} catch {
		throw new HistoryError(`${path}:${index + 1} is not a valid line of a history: remove it, or name another file.`);
	}
}
/** Drops entries from the future, which would stay the newest forever. */
const earlierEntries = (entries, now) => entries.filter(({ at }) => Date.parse(at) <= now.getTime());
/**
* Returns the lines of a testbed, except those from when its name stood for another kind. A line without a kind has
* that of its gate's scenarios and metrics; if they do not show one, it counts for every kind.
*/
function entriesOf(entries, { testbed, kind }) {
	const own = entries.filter((entry) => entry.testbed === testbed);
	if (kind === void 0) return own;
	const gates = Map.groupBy(own, ({ at }) => at);
	return own.filter((entry) => entry.kind === void 0 ? mayBeOf(gates.get(entry.at) ?? [], kind) : entry.kind === kind);
}
function mayBeOf(gate, kind) {
	const systems = new Set(gate.flatMap(({ cell }) => systemOfScenario(cell.scenario) ?? []));
	const isCounted = gate.some(({ instructionsPerPacket }) => instructionsPerPacket.length > 0);
	return (systems.size === 0 || systems.has(systemOfTestbedKind(kind))) && (!isCounted || kind.startsWith("virtual"));
}
/**
* Describes the latest sessions of a cell. Noise is the spread within sessions, so a moving base does not look noisy.
*/
function historyOf(entries, { testbed, cell, traffic, metric, hasLayouts = false }) {
	const own = entries.filter((entry) => entry.testbed === testbed && cellName(entry.cell) === cellName(cell) && isSameTraffic(entry.traffic, traffic) && entry.layouts !== void 0 === hasLayouts && entry[metric].length > 0);
	const sessions = lastLines(own).toSorted((a, b) => a.at.localeCompare(b.at)).slice(-maxSessionsOfCell);
	const levels = levelsOf(sessions).map((level) => level.map((entry) => entry[metric].map(Math.log)));
	const last = levels.at(-1);
	if (last === void 0) return void 0;
	const latest = newest(sessions, metric);
	const ofSessions = sessionDegreesOfFreedom(sessionsOn(entries, testbed, metric));
	return {
		runs: latest.flatMap((entry) => entry[metric]).length,
		typical: Math.exp(mean(last.flat())),
		typicalRuns: last.flat().length,
		sessionMeans: {
			sinceMove: last.length,
			sumOfSquares: sum(levels.map((level) => sumNthPowerDeviations(level.map(mean), 2))),
			degreesOfFreedom: sum(levels.map((level) => level.length - 1))
		},
		...latest.map((entry) => noiseOf(entry, metric)).reduce(sumOf),
		...ofSessions !== void 0 && { sessionDegreesOfFreedom: ofSessions }
	};
}
/** Splits sessions where base changed. */
function levelsOf(sessions) {
	const levels = [];
	for (const entry of sessions) {
		const level = levels.at(-1);
		if (level === void 0 || entry.moved) levels.push([entry]);
		else level.push(entry);
	}
	return levels;
}
/** An extended experiment has several lines. */
const lastLines = (entries) => [...new Map(entries.map((entry) => [entry.at, entry])).values()];
/** Spread of the runs of base and patched within a session, each around its own mean. */
function noiseOf(entry, metric) {
	const variants = [entry[metric], entry.patched?.[metric] ?? []].filter(({ length }) => length > 0);
	return {
		sumOfSquares: sum(variants.map((values) => sumNthPowerDeviations(values.map(Math.log), 2))),
		degreesOfFreedom: sum(variants.map(({ length }) => length - 1))
	};
}
function sessionsOn(entries, testbed, metric) {
	const own = entries.filter((entry) => entry.testbed === testbed && entry[metric].length > 0).slice(-500);
	return [...Map.groupBy(own, ({ cell, traffic, layouts }) => JSON.stringify([
		cellName(cell),
		traffic,
		layouts !== void 0
	])).values()].map((lines) => lastLines(lines).map((line) => noiseOf(line, metric)));
}
/** Exceeds what a prior keeps, so that the variance itself is well known. */
const enoughDegreesOfFreedom = 24;
/** Sessions with one number have no degree of freedom, and a possibly outdated level. */
const maxSessionsOfCell = 30;
/** Counts degrees of freedom instead of lines, as gates that end early have few runs. */
function newest(sessions, metric) {
	let degreesOfFreedom = 0;
	const first = sessions.findLastIndex((entry) => {
		degreesOfFreedom += noiseOf(entry, metric).degreesOfFreedom;
		return degreesOfFreedom >= enoughDegreesOfFreedom;
	});
	return sessions.slice(Math.max(0, first));
}
const baseNumbers = (runs, metric) => numbersOf("base", runs, metric);
/** Keeps a line that only counts its gate. */
const withoutNumbers = ({ patched: _, durations: __, layouts: ___, ...entry }) => ({
	...entry,
	...byMetric(() => []),
	moved: false
});
/** Counts only the first boot of each layout, if there are several: repeats would understate the spread. */
function numbersOf(variant, runs, metric) {
	const counted = runs.filter((run) => run.variant === variant && isCounted(run));
	const firstOf = new Map(counted.toReversed().map((run) => [run.layout, run]));
	const kept = firstOf.size > 1 ? counted.filter((run) => firstOf.get(run.layout) === run) : counted;
	return trialNumbers(kept, metric);
}
function historyEntries(experiment) {
	const { startedAt: at, testbed, variants, outcome } = experiment;
	if (outcome.kind !== "judged") return [];
	const traffic = offeredTraffic(experiment.traffic);
	const durations = durationsOf(experiment);
	const commit = variants.find((variant) => variant.name === "base")?.commit ?? "";
	return outcome.cells.flatMap((result) => {
		const { cell, runs, baseline } = result;
		const gate = gateOfLine(experiment, result);
		const numbers = byMetric((metric) => baseNumbers(runs, metric));
		const patched = byMetric((metric) => numbersOf("patched", runs, metric));
		if (numbers.pps.length === 0) return [];
		const layouts = new Set(runs.flatMap(({ variant, layout }) => variant === "base" ? layout ?? 1 : []));
		return {
			at,
			testbed: testbed.name,
			...testbed.kind !== void 0 && { kind: testbed.kind },
			cell,
			traffic,
			commit,
			...numbers,
			...patched.pps.length > 0 && { patched },
			moved: baseline.kind === "moved",
			...layouts.size > 1 && { layouts: layouts.size },
			...durations && { durations },
			...gate && { gate }
		};
	});
}

// src/gate/experiment/journal.ts
const at = time;
const entrySchema = discriminatedUnion("kind", [
	object({
		kind: literal("started"),
		at,
		fingerprint: facts,
		warnings: list(line, 1e3)
	}),
	object({
		kind: literal("rejected"),
		at,
		variant,
		rejection: rejectionSchema
	}),
	object({
		kind: literal("measured"),
		at,
		summary: trialSchema,
		runs: list(runSchema)
	}),
	object({
		kind: literal("failed"),
		at,
		trial: count,
		reason: line,
		/** Variants to measure; absent if the plan has them. */
		variants: list(variant, 1e3).optional(),
		/** See `TrialOutcome`. */
		lacksControl: literal(true).optional()
	}),
	object({
		kind: literal("profiled"),
		at,
		cell: cellSchema,
		profile: cellProfileSchema,
		isFinal: boolean()
	}),
	object({
		kind: literal("warned"),
		at,
		text: line
	}),
	object({
		kind: literal("finished"),
		at
	})
]);
/** Drops a last line that a kill truncated. Throws a `JournalError` for any other bad line. */
async function openJournal(path) {
	const { entries, text, whole } = await read(path);
	if (whole.length < text.length) await truncate(path, Buffer.byteLength(whole));
	const file = await open(path, "a");
	return {
		entries,
		async append(entry) {
			await file.appendFile(`${JSON.stringify(entry)}\n`);
			await file.datasync();
			entries.push(entry);
		},
		close: () => file.close()
	};
}
const file$1 = "journal.jsonl";
const journalIn = (directory) => join(directory, file$1);
/** Reads without changing the file. Empty if there is no journal. */
const readJournal = async (path) => (await read(path)).entries;
/** True if deleting the directory would lose a trial, of it or of a gate in a folder below. */
async function hasMeasured(directory) {
	for await (const name of glob([file$1, `*/${file$1}`], { cwd: directory })) {
		const entries = await readJournal(join(directory, name)).catch(() => void 0);
		if (entries === void 0 || entries.some(({ kind }) => kind === "measured")) return true;
	}
	return false;
}
/** A trial needs a few kilobytes. */
const maxBytes = 256 * 1024 ** 2;
/** `whole` is the text up to its last newline. */
async function read(path) {
	const text = await readForeignText(dirname(path), basename(path), maxBytes) ?? "";
	const whole = text.slice(0, text.lastIndexOf("\n") + 1);
	return {
		entries: whole.split("\n").filter(Boolean).map(parseLine(path)),
		text,
		whole
	};
}
var JournalError = class extends Error {
	name = "JournalError";
	conclusion = "usage";
};
const parseLine = (path) => (line, index) => {
	try {
		return entrySchema.parse(JSON.parse(line));
	} catch {
		throw new JournalError(`${path}:${index + 1} is not a valid line of an experiment's journal: the directory cannot be resumed; start a new experiment.`);
	}
};

// src/gate/experiment/schedule.ts
/**
* A pair has one run of each variant, even for more than two. Pairs alternate as ABBA or BAAB (or ABCCBA), so that a
* drift within two pairs cancels. Each round draws a new order of cells. Deterministic by request: one with more runs
* continues the schedule.
*/
function schedule(request) {
	const random = xoroshiro128plus(request.seed);
	const next = request.runsPerTrial > 1 ? sharedTrials : singleRuns;
	let runNumber = 0;
	return next(request, random).map(({ cell, runs }, index) => ({
		number: index + 1,
		cell,
		runs: runs.map((run) => ({
			number: ++runNumber,
			...run,
			...layoutOf(run, request)
		}))
	}));
}
function layoutOf({ variant, pair }, { layouts }) {
	const own = layouts?.get(variant);
	const layout = own?.[layoutOfPair(pair, own.length) - 1];
	return layout === void 0 ? {} : { layout };
}
/** Each trial has one cell's share of a round, with alternating variants. */
function sharedTrials(request, random) {
	const { cells, variants, runsPerVariant } = request;
	const pairsPerRound = pairsPerTrial(request.runsPerTrial, variants.length);
	const orders = new Map(cells.map((cell) => [cell, variants]));
	const trials = [];
	for (let done = 0; done < runsPerVariant; done += pairsPerRound) for (const cell of inOrder(cells, request, random)) {
		const runs = [];
		for (let pair = done + 1; pair <= done + pairsPerRound; pair++) {
			const order = nextOrder(pair, orders.get(cell) ?? [], random);
			orders.set(cell, order);
			runs.push(...order.map((variant) => ({
				variant,
				pair
			})));
		}
		trials.push({
			cell,
			runs
		});
	}
	return trials;
}
/**
* Gives every run its own trial, and boots a variant once for all cells. The order of the first pair is random, too, as
* a first run that differs from all others must not always be base's.
*/
function singleRuns(request, random) {
	const { cells, variants, runsPerVariant } = request;
	const trials = [];
	let order = variants;
	for (let pair = 1; pair <= runsPerVariant; pair++) {
		order = nextOrder(pair, order, random);
		for (const variant of order) for (const cell of inOrder(cells, request, random)) trials.push({
			cell,
			runs: [{
				variant,
				pair
			}]
		});
	}
	return trials;
}
/**
* Returns the pairs in a step, at least one; several trials may share a step. With more than two variants in a trial
* the number is even, so that a pair shares the step with its mirror image: one random draw instead of two.
*/
function pairsPerTrial(runsPerTrial, variants) {
	const fitting = Math.floor(runsPerTrial / variants);
	if (variants === 2 || runsPerTrial === 1) return Math.max(1, fitting);
	return Math.max(2, fitting - fitting % 2);
}
/** Mirrors the previous pair in every second pair. */
const nextOrder = (pair, last, random) => pair % 2 === 1 ? shuffled(last, random) : last.toReversed();
function inOrder(cells, { first = /* @__PURE__ */ new Set() }, random) {
	const [ones, others] = [true, false].map((is) => cells.filter((cell) => first.has(cell) === is));
	return [...shuffled(ones ?? [], random), ...shuffled(others ?? [], random)];
}
function shuffled(items, random) {
	const rest = [...items];
	const taken = [];
	while (rest.length > 0) taken.push(...rest.splice(uniformInt(random, 0, rest.length - 1), 1));
	return taken;
}

// src/gate/experiment/plan.ts
const plannedCellSchema = object({
	cell: cellSchema,
	design: designSchema,
	history: historySchema.optional(),
	/** Kept by an extension, which is not a gate of its own. */
	earlierGates: earlierGatesSchema.exactOptional(),
	/** The patch affects this cell but not all others, so it comes first in each round. */
	isFirst: literal(true).exactOptional()
});
const plannedTraffic = offeredTrafficSchema.extend({
	captured: document.optional(),
	warmUpSeconds: seconds,
	settleSeconds: seconds,
	measureSeconds: seconds,
	measureAtLeastSeconds: seconds,
	runsPerTrial: count,
	windows: object({
		count,
		packets: total
	}).optional()
});
const plannedProfile = object({
	seconds,
	event: name.optional()
});
const planSchema = object({
	schemaVersion: literal(1),
	patch: patchSchema,
	testbed: name,
	/** Absent in older plans. */
	kind: testbedKindSchema.exactOptional(),
	variants: list(variantSchema, maxVariants).min(2),
	rules: byName(ownRulesSchema),
	cells: list(plannedCellSchema, 1e3).min(1),
	policy: policySchema,
	traffic: plannedTraffic,
	/** Profiles of every variant in every decided cell; absent: none. */
	profile: plannedProfile.optional(),
	/** Absent in older plans. */
	durations: expectedDurationsSchema.optional(),
	seed: int(),
	/** Every trial that may be needed, in order. Most cells are decided before their last trial. */
	trials: list(plannedTrialSchema, maxTrials).min(1)
});
/** Orders everything by the seed; a cell's history is its prior. */
function makePlan(request, unlinked, entries) {
	const variants = withLayouts(unlinked, request);
	const { patch, config, testbed, seed, rules = {}, cells: wanted = cellsOf(config) } = request;
	const kind = testbedKindOf(config, testbed);
	const history = entriesOf(entries, {
		testbed,
		kind
	});
	const { traffic, profile } = config;
	const policy = policyOf(config);
	const hasLayouts = variants.some((variant) => layoutsOf(variant).length > 1);
	const place = {
		testbed,
		cells: wanted,
		variants: variants.length,
		hasLayouts
	};
	const commitOf = (name) => variants.find(({ variant }) => variant === name)?.commit;
	const first = new Set(request.first?.map(cellName));
	const cells = planCells(config, place, history).map((planned) => {
		const isFirst = first.has(cellName(planned.cell)) && first.size < wanted.length;
		const commits = {
			base: commitOf("base"),
			head: commitOf("patched") ?? patch.headCommit
		};
		const { cell } = planned;
		const earlier = earlierGates(history, {
			...commits,
			testbed,
			cell,
			traffic,
			policy
		});
		return {
			...planned,
			...earlier && { earlierGates: earlier },
			...isFirst && { isFirst }
		};
	});
	return {
		schemaVersion: 1,
		patch,
		testbed,
		...kind !== void 0 && { kind },
		variants,
		rules: rulesOn(testbed, config, rules),
		cells,
		policy,
		traffic,
		...profile !== void 0 && { profile },
		durations: expectedDurationsOn(history, testbed, config),
		seed,
		trials: trialsFor(cells, variants, traffic.runsPerTrial, seed)
	};
}
function planCells(config, { testbed, cells, variants, hasLayouts = false }, history) {
	const { traffic, gate } = config;
	return cells.map((cell) => {
		const query = {
			testbed,
			cell,
			traffic,
			metric: gate.metric,
			hasLayouts
		};
		const known = historyOf(history, query);
		return {
			cell,
			design: designOf(config, variants),
			...known && { history: known }
		};
	});
}
/**
* Chooses the layouts of each kernel to boot. A gate for layout noise has exactly two, drawn by the seed: their
* difference beyond that of the runs is the noise of builds, which several layouts would hide in the spread.
*/
function withLayouts(variants, { config, testbed, seed, measuresLayoutNoise = false }) {
	const often = layoutsOn(config, testbed);
	if (often === 1 && !measuresLayoutNoise) return [...variants];
	const all = Array.from({ length: often }, (_, index) => index + 1);
	return variants.map((variant) => {
		const { kernel } = variant;
		if (kernel?.kind !== "tree") return variant;
		const another = [2 + seed % 2 ** 30];
		const ofTwo = variant.variant === "patched" ? another : [1];
		return {
			...variant,
			kernel: {
				...kernel,
				layouts: measuresLayoutNoise ? ofTwo : all
			}
		};
	});
}
function layoutsOn({ testbeds }, name) {
	const testbed = testbeds[name];
	return testbed?.kind === "freebsd" && testbed.builder?.layoutVariants || 1;
}
const layoutsOf = ({ kernel }) => kernel?.kind === "tree" && kernel.layouts || [];
/** Puts a FreeBSD DUT's interfaces into rules that name those of a router; guests know theirs later. */
function rulesOn(testbed, { testbeds, overlay: { interfaces } }, rules) {
	const one = testbeds[testbed];
	if (one?.kind !== "freebsd" || interfaces === void 0) return rules;
	const { ingress, egress } = one.dut;
	const ports = {
		ingress: ingress.interface,
		egress: egress.interface
	};
	return mapOwnRules(rules, portNames(interfaces, ports));
}
/** Texts of the site's own rules to be measured; throws a `UsageError` for an unreadable one. */
async function readRules({ rules, scenarios }) {
	const read = Object.entries(rules).filter(([name]) => scenarios.includes(name)).map(async ([name, { path, ...rest }]) => {
		const text = await readFile(path, "utf8").catch((error) => {
			throw new UsageError(`rules: ${name}: ${path} cannot be read (${fileReasonOf(error)}).`);
		});
		return [name, {
			...rest,
			text
		}];
	});
	return Object.fromEntries(await Promise.all(read));
}
function cellsOf({ scenarios, families, frameSizes }) {
	const sizes = frameSizes === void 0 ? [{}] : frameSizes.map((frameBytes) => ({ frameBytes }));
	return scenarios.flatMap((scenario) => families.flatMap((family) => sizes.map((size) => ({
		scenario,
		family,
		...size
	}))));
}
/** Returns the given cells that the configuration still has, in its order. */
function cellsAmong(config, some) {
	const names = new Set(some.map(cellName));
	return cellsOf(config).filter((cell) => names.has(cellName(cell)));
}
function policyOf({ gate }) {
	const { design: _, maxRunsPerVariant: __, ...policy } = gate;
	return policy;
}
/** An extended experiment decides every cell. */
function policyOfExtended({ stopsAtFirst: _, ...policy }) {
	return policy;
}
function designOf({ traffic, gate }, variants) {
	const pairsPerStep = pairsPerTrial(traffic.runsPerTrial, variants);
	const method = pairsPerStep > 1 ? "paired" : "pooled";
	const usualRuns = method === "pooled" ? usualSingleRuns : usualPairs(traffic.runsPerTrial, variants);
	const budget = wholeSteps(gate.maxRunsPerVariant ?? usualRuns, pairsPerStep);
	return {
		name: gate.design ?? "group-sequential",
		budgets: [budget],
		pairsPerStep,
		method
	};
}
const usualSingleRuns = 20;
/**
* Equals the pairs of five trials of two variants, also if more variants share them, so the verdict keeps its
* certainty.
*/
const usualPairs = (runsPerTrial, variants) => 5 * Math.max(pairsPerTrial(runsPerTrial, variants), pairsPerTrial(runsPerTrial, 2));
const wholeSteps = (pairs, pairsPerStep) => Math.ceil(pairs / pairsPerStep) * pairsPerStep;
/** Measures each cell to its own end. Throws a `UsageError` if the plan already has as many runs. */
function extendPlan(plan, maxRunsPerVariant) {
	const cells = plan.cells.map(({ design, ...cell }) => {
		const budget = wholeSteps(maxRunsPerVariant, design.pairsPerStep);
		const last = design.budgets.at(-1) ?? 0;
		if (budget <= last) throw new UsageError(`--max-runs: expected more than the ${last} runs of each variant that the experiment already allows, found ${maxRunsPerVariant}.`);
		return {
			...cell,
			design: {
				...design,
				budgets: [...design.budgets, budget]
			}
		};
	});
	const trials = trialsFor(cells, plan.variants, plan.traffic.runsPerTrial, plan.seed);
	return {
		...plan,
		policy: policyOfExtended(plan.policy),
		cells,
		trials
	};
}
const trialsFor = (cells, variants, runsPerTrial, seed) => schedule({
	cells: cells.map(({ cell }) => cell),
	first: new Set(cells.flatMap(({ cell, isFirst }) => isFirst ? cell : [])),
	variants: variants.map(({ variant }) => variant),
	runsPerVariant: Math.max(...cells.map(({ design }) => design.budgets.at(-1) ?? 0)),
	runsPerTrial,
	seed,
	layouts: new Map(variants.flatMap((variant) => {
		const layouts = layoutsOf(variant);
		return layouts.length === 0 ? [] : [[variant.variant, layouts]];
	}))
});
/** Unpredictable, and stored in the plan. */
const randomSeed = () => randomInt(2 ** 31);
const file = "experiment.json";
/** Writes the plan atomically. Throws a `PlanError` if the directory already has one. */
const writePlan = (directory, plan) => beginPlanFile(directory, file, plan);
const replacePlan = (directory, plan) => replacePlanFile(directory, file, plan);
const readPlan = (directory) => readPlanFile(directory, file, planSchema);
const resumeAdvice = (directory, command) => `The measurements are in ${directory}: continue with '${command} --resume ${directory}'.`;
const hasPlan = (directory) => hasPlanFile(directory, file);

// src/gate/experiment/cells.ts
const leftOutIn = (entries) => entries.flatMap((entry) => entry.kind === "rejected" && !isJudged(entry.variant) ? {
	variant: entry.variant,
	rejection: entry.rejection
} : []);
function variantsLeft({ variants }, entries) {
	const out = new Set(leftOutIn(entries).map(({ variant }) => variant));
	return variants.filter(({ variant }) => !out.has(variant));
}
function cellsSoFar(plan, entries) {
	const byTrial = Map.groupBy(entries, numberOf);
	const out = new Set(leftOutIn(entries).map(({ variant }) => variant));
	return plan.cells.map((planned) => {
		const own = plan.trials.filter((trial) => isSameCell(trial.cell, planned.cell));
		const triesAt = ({ number }) => byTrial.get(number) ?? [];
		const decided = limitsOf(own.flatMap(triesAt).flatMap(runsOf));
		const all = own.map((trial) => {
			const tries = triesAt(trial).map((entry) => entry.kind === "measured" ? {
				...entry,
				runs: entry.runs.map(decided)
			} : entry);
			return triesOf$1(without(out, trial), tries);
		});
		const entriesOf = (trials) => trials.flatMap(({ tries }) => tries);
		return {
			...planned,
			...reached(planned, all.filter(isOfVerdict)),
			trials: all.filter(({ trial }) => trial.runs.length > 0),
			runs: entriesOf(all).flatMap(runsOf),
			failures: entriesOf(all.filter(isOfVerdict)).flatMap((entry) => entry.kind === "failed" ? entry.reason : [])
		};
	});
}
const runsOf = (entry) => entry.kind === "measured" ? entry.runs : [];
const without = (out, trial) => ({
	...trial,
	runs: trial.runs.filter(({ variant }) => !out.has(variant))
});
/** True for trials with base or patched: other variants do not decide the number of runs. */
const isOfVerdict = ({ trial }) => trial.runs.some(({ variant }) => isJudged(variant));
function triesOf$1(trial, tries) {
	const most = isOfVerdict({ trial }) ? maxTriesOf(tries) : 1;
	return {
		trial,
		tries,
		needed: tries.length < most && !tries.some(isWhole(trial))
	};
}
/** Accepts a limit of sender or receiver after two tries. */
const maxTriesOf = (tries) => tries.length > 0 && tries.every(isLimited) ? 2 : 3;
const isLimited = (entry) => entry.kind === "measured" && entry.runs.filter(({ variant }) => isJudged(variant)).every(({ validity }) => validity.kind === "invalid" && limits.has(validity.cause));
const limits = /* @__PURE__ */ new Set(["generator-limited", "receiver-limited"]);
const isSameCell = (a, b) => cellName(a) === cellName(b);
function numberOf(entry) {
	if (entry.kind === "measured") return entry.summary.number;
	return entry.kind === "failed" ? entry.trial : void 0;
}
const isWhole = ({ runs }) => (entry) => {
	if (entry.kind !== "measured") return false;
	const pairs = pairsOf(runs);
	return pairs === 1 ? entry.runs.every((run) => run.validity.kind === "valid" && run.pps > 0) : isEnough(validPairs(entry.runs).length, pairs);
};
const pairsOf = (runs) => new Set(runs.map(({ pair }) => pair)).size;
/**
* Returns the last interim analysis that has all its trials, and the trials that the next one lacks. Repeats outliers
* once.
*/
function reached({ design }, trials) {
	let closedPairs = 0;
	for (const size of analysisSizes(design)) {
		const inLook = trials.filter(({ trial }) => trial.runs.every((run) => run.pair <= size));
		if (!isEnough(size - lostPairs(inLook), size)) return {
			closedPairs: size,
			nextPairs: size,
			open: []
		};
		const missing = inLook.filter(({ needed }) => needed);
		const open = missing.length > 0 ? missing : interimApart(inLook);
		if (open.length > 0) return {
			closedPairs,
			nextPairs: size,
			open
		};
		closedPairs = size;
	}
	return {
		closedPairs,
		nextPairs: closedPairs,
		open: []
	};
}
/** Counts lost pairs in trials of at most one pair, which is measured whole or not at all. */
function lostPairs(trials) {
	const lost = trials.filter(({ trial, tries, needed }) => pairsOf(trial.runs) === 1 && !needed && !tries.some(isWhole(trial)));
	return new Set(lost.flatMap(({ trial }) => trial.runs.map((run) => run.pair))).size;
}
/** Returns outlying single runs that were tried only once. */
function interimApart(trials) {
	const single = trials.flatMap((one) => {
		const run = one.tries.flatMap(runsOf).find(({ validity }) => validity.kind === "valid");
		return one.trial.runs.length === 1 && run !== void 0 ? {
			one,
			run
		} : [];
	});
	const apart = new Set(runsApart(single.map(({ run }) => run)));
	return single.flatMap(({ one, run }) => apart.has(run) && one.tries.length === 1 ? one : []);
}

// src/gate/experiment/profiles.ts
const takeProfiles = (plan, deps) => takeProfilesOf(deps, (entries) => nextProfile(plan, entries));
/** Takes profiles until none is missing. If the testbed fails, skips the rest: the measurements stay valid. */
async function takeProfilesOf(deps, nextOf) {
	const { journal, warn } = deps;
	for (;;) {
		const next = nextOf(journal.entries);
		if (next === void 0) return;
		const failure = await take(next, deps);
		if (failure !== void 0) {
			warn(`profiling is switched off: ${failure}`);
			return;
		}
	}
}
/** Runs at the end of a variant's boot. Missed profiles get another chance in a later boot, or at the end. */
async function takeProfilesOfBoot(plan, deps) {
	const { testbed, journal, warn } = deps;
	const variant = testbed.booted();
	if (variant === void 0) return;
	for (const next of missingProfiles(plan, journal.entries, measuredCells(plan, journal.entries, variant), variant)) {
		if (testbed.booted() !== variant) return;
		const failure = await take(next, deps);
		if (failure !== void 0) {
			warn(`no profile in this boot of ${variant}: ${failure}`);
			return;
		}
	}
}
/** Journals the outcome. Returns the reason if the testbed failed. */
async function take(next, { profile: wanted, testbed, journal, keepLogIn, at, onNext, signal }) {
	signal.throwIfAborted();
	if (wanted === void 0) return void 0;
	onNext(next);
	const { cell, variant } = next;
	const folder = folderOf(next);
	try {
		const request = {
			...next,
			...wanted
		};
		const outcome = await testbed.profile(request, keepLogIn(folder), signal);
		const profile = outcome.kind === "profiled" ? {
			...withoutLog(outcome),
			variant,
			seconds: wanted.seconds,
			file: `${folder}/${outcome.log}`
		} : {
			kind: "missing",
			variant,
			reason: outcome.reason
		};
		const isFinal = outcome.kind !== "missed";
		await journal.append({
			kind: "profiled",
			at: at(),
			cell,
			profile,
			isFinal
		});
		return;
	} catch (error) {
		signal.throwIfAborted();
		const reason = reasonOf(error);
		const profile = {
			kind: "missing",
			variant,
			reason: withoutPaths(reason)
		};
		await journal.append({
			kind: "profiled",
			at: at(),
			cell,
			profile,
			isFinal: false
		});
		return reason;
	}
}
function withoutLog({ log: _, ...rest }) {
	return rest;
}
const maxAttempts = 3;
/** Proceeds by variant, as each may need a boot; starts with the variant that ran last. */
function nextProfile(plan, entries) {
	const cells = interimResults(cellsSoFar(plan, entries), plan.policy).flatMap(({ judgement, stopped, input }) => stopped || !isTimed(judgement) ? [] : input.cell);
	return variantsInOrder(plan, entries).flatMap((variant) => missingProfiles(plan, entries, cells, variant)).at(0);
}
/** Missing profiles of the variant, except those tried often enough, or impossible on this machine. */
function missingProfiles({ profile }, entries, cells, variant) {
	if (profile === void 0 || impossibleOf(entries, variant) !== void 0) return [];
	return cells.flatMap((cell) => {
		const tries = triesOf(entries, cell, variant);
		return tries.length >= maxAttempts || tries.some(({ isFinal }) => isFinal) ? [] : {
			cell,
			variant,
			attempt: tries.length + 1
		};
	});
}
/** None unless profiles were requested. */
function profilesOf$1(plan, entries, cell) {
	const isJudged = judgedCells(plan, entries).some((one) => cellName(one) === cellName(cell));
	if (plan.profile === void 0 || !isJudged) return [];
	return variantsLeft(plan, entries).map(({ variant }) => profileOf(entries, cell, variant));
}
const profileOf = (entries, cell, variant) => triesOf(entries, cell, variant).at(-1)?.profile ?? impossibleOf(entries, variant)?.profile ?? {
	kind: "missing",
	variant,
	reason: "the experiment ended before"
};
/** Profiles explain nothing about packets that are not forwarded. */
const isTimed = (judgement) => judgement?.evidence !== void 0;
const judgedCells = (plan, entries) => interimResults(cellsSoFar(plan, entries), plan.policy).flatMap(({ judgement, input }) => isTimed(judgement) ? input.cell : []);
/** Cells with a valid run of the variant that have, or will have, a verdict. */
const measuredCells = (plan, entries, variant) => interimResults(cellsSoFar(plan, entries), plan.policy).flatMap((interim) => {
	const { judgement, closed, stopped, input } = interim;
	const isMeasured = input.runs.some((run) => run.variant === variant && run.validity.kind === "valid");
	const isWanted = !stopped && (isTimed(judgement) || !closed);
	return isMeasured && isWanted ? input.cell : [];
});
function variantsInOrder(plan, entries) {
	const last = entries.flatMap((entry) => entry.kind === "measured" ? entry.runs : []).at(-1)?.variant;
	const left = variantsLeft(plan, entries).map(({ variant }) => variant);
	return [...left.filter((one) => one === last), ...left.filter((one) => one !== last)];
}
const triesOf = (entries, cell, variant) => entries.flatMap((entry) => entry.kind === "profiled" && entry.profile.variant === variant && cellName(entry.cell) === cellName(cell) ? entry : []);
/** Returns the reason why a machine can take no profile, which is the same for all cells. */
const impossibleOf = (entries, variant) => entries.filter((entry) => entry.kind === "profiled").find(({ profile, isFinal }) => profile.kind === "missing" && profile.variant === variant && isFinal);
/** `profiles/forwarding-inet4-base`; for a second attempt, `profiles/forwarding-inet4-base.2`. */
function folderOf({ cell, variant, attempt }) {
	const name = `${cellName(cell)}-${variant}`.replaceAll(" ", "-");
	return join("profiles", attempt === 1 ? name : `${name}.${attempt}`);
}

// src/gate/experiment/log-folders.ts
/** `trials/003-forwarding-inet4`; for a second attempt, `trials/003-forwarding-inet4.2`. */
function trialFolder(trial, attempt) {
	const name = `${String(trial.number).padStart(3, "0")}-${cellName(trial.cell).replaceAll(" ", "-")}`;
	return join("trials", attempt === 1 ? name : `${name}.${attempt}`);
}
function keepLogIn(directory, folder) {
	return async (name, content) => {
		await makeFolders(join(directory, folder));
		await writeFile(join(directory, folder, name), content);
	};
}

// src/gate/experiment/assemble.ts
/** Returns the interim result of an unfinished experiment. */
function assembleResult(plan, journal) {
	const started = journal.findLast((entry) => entry.kind === "started");
	const warned = journal.flatMap((entry) => entry.kind === "warned" ? entry.text : []);
	return withLimits({
		schemaVersion: 1,
		generator: {
			name: "ppsgate",
			version
		},
		patch: plan.patch,
		variants: plan.variants.map(({ variant, commit, folder, files }) => ({
			name: variant,
			commit,
			...folder !== void 0 && { folder },
			files: files.map(({ path, source, sha256 }) => ({
				path,
				...source !== void 0 && { source },
				sha256
			}))
		})),
		testbed: {
			name: plan.testbed,
			...plan.kind !== void 0 && { kind: plan.kind },
			fingerprint: started?.fingerprint ?? {},
			warnings: [.../* @__PURE__ */ new Set([...started?.warnings ?? [], ...warned])]
		},
		policy: plan.policy,
		traffic: {
			...offeredTraffic(plan.traffic),
			measureSeconds: plan.traffic.measureSeconds
		},
		seed: plan.seed,
		startedAt: journal.at(0)?.at ?? epoch,
		finishedAt: journal.at(-1)?.at ?? epoch,
		trials: journal.flatMap((entry) => entry.kind === "measured" ? entry.summary : []),
		leftOut: leftOutIn(journal),
		outcome: outcomeOf$1(plan, journal)
	});
}
/** Returns the result of an experiment that is not needed. `ignoredPaths` are files without effect on the testbed. */
function unchangedResult(plan, ignoredPaths, now) {
	const at = now.toISOString();
	const outcome = {
		kind: "unchanged",
		...ignoredPaths.length > 0 && { ignoredPaths: ignoredPaths.slice(0, 20) }
	};
	return {
		...assembleResult(plan, []),
		startedAt: at,
		finishedAt: at,
		outcome
	};
}
const epoch = (/* @__PURE__ */ new Date(0)).toISOString();
function outcomeOf$1(plan, journal) {
	const last = journal.findLast((entry) => entry.kind !== "started" && entry.kind !== "warned" && !leavesOut(entry));
	if (last?.kind === "rejected") return last.rejection;
	const others = plan.variants.map(({ variant }) => variant).filter((name) => !isJudged(name));
	const cells = interimResults(cellsSoFar(plan, journal), plan.policy).map((interim) => {
		const ofBase = baseNumbers(interim.input.runs, plan.policy.metric);
		const result = cellResult(interim, plan.policy, ofBase, others);
		const { earlierGates } = interim.input;
		return {
			...result,
			...earlierGates && { earlierGates },
			profiles: profilesOf$1(plan, journal, result.cell)
		};
	});
	return {
		kind: "judged",
		verdict: worstVerdict(cells),
		cells
	};
}
const leavesOut = (entry) => entry.kind === "rejected" && !isJudged(entry.variant);

// src/gate/experiment/next-trial.ts
/**
* Serves undecided cells, then other variants of decided ones. Repeats an invalid run at once while its variant is
* booted, and other failed trials last.
*/
function nextTrial(plan, entries) {
	const cells = interimResults(cellsSoFar(plan, entries), plan.policy);
	const open = cells.flatMap(openTrials).toSorted((a, b) => a.tries.length - b.tries.length || a.trial.number - b.trial.number);
	const next = open.find((one) => isStillBooted(one, entries.at(-1))) ?? open[0];
	if (next === void 0) return void 0;
	const { trial, tries } = next;
	return {
		trial,
		attempt: tries.length + 1,
		...trialCount(cells),
		...whyAgain(tries)
	};
}
/**
* Another boot costs more than a trial, but this boot may have caused a second invalid run. A boot has no effect on a
* limit of sender or receiver.
*/
const isStillBooted = ({ trial, tries }, last) => last?.kind === "measured" && last.summary.number === trial.number && trial.runs.length === 1 && tries.length === 1 && !isLimited(last) && last.runs.some(({ validity }) => validity.kind === "invalid");
function whyAgain(tries) {
	const last = tries.at(-1);
	if (last?.kind === "failed") return { why: last.reason };
	if (last?.kind !== "measured") return {};
	const faults = last.runs.flatMap(({ validity }) => validity.kind === "invalid" ? validity.reason : []);
	const [fault] = faults;
	const silent = last.runs.find(({ pps }) => pps === 0);
	if (fault === void 0) return { why: silent ? `${silent.variant} forwarded nothing` : "it was an outlier" };
	return { why: `${faults.length} of ${last.runs.length} runs do not count: ${fault}` };
}
/** Undefined while work remains. */
function finishedAt(plan, entries) {
	const last = entries.at(-1);
	return last?.kind === "finished" && nextTrial(plan, entries) === void 0 ? last.at : void 0;
}
/** Other variants are measured in as many pairs as patched, and no more. */
function openTrials({ input, judgement, closed, stopped }) {
	if (stopped) return [];
	const pairs = closed ? judgement?.analysis.pairs ?? 0 : input.nextPairs;
	const beside = input.trials.filter((one) => one.needed && !isOfVerdict(one) && one.trial.runs.every((run) => run.pair <= pairs));
	return closed ? beside : [...input.open, ...beside];
}
function decidedCells(plan, entries) {
	return interimResults(cellsSoFar(plan, entries), plan.policy).filter((one) => one.closed && openTrials(one).length === 0).map((interim) => ({
		cell: interim.input.cell,
		verdict: cellVerdict(interim, plan.policy),
		counts: runCounts({
			...interim.input,
			pairs: interim.judgement?.analysis.pairs ?? interim.input.closedPairs
		}, plan.policy.metric)
	}));
}
function trialCount(cells) {
	const trials = cells.flatMap((cell) => {
		const due = new Set(openTrials(cell));
		const open = /* @__PURE__ */ new Set([...cell.input.open, ...due]);
		return cell.input.trials.map((one) => {
			const isDone = !open.has(one) && one.tries.some(({ kind }) => kind === "measured");
			return {
				isDone,
				isAhead: (cell.closed ? due.has(one) : isOfVerdict(one) || one.needed) && !isDone
			};
		});
	});
	const done = trials.filter(({ isDone }) => isDone).length;
	return {
		done,
		of: done + trials.filter(({ isAhead }) => isAhead).length
	};
}

// src/gate/experiment/experiment.ts
/** Returns the whole journal. Ends early if patched cannot be measured; omits any other such variant. */
async function runExperiment(options) {
	const journal = await openJournal(journalIn(options.directory));
	const at = () => options.now().toISOString();
	const experiment = {
		...options,
		journal,
		at,
		decided: /* @__PURE__ */ new Set()
	};
	try {
		await inspect$1(experiment);
		if (await prepare(experiment) && await measureAll(experiment)) await finish(experiment);
		return journal.entries;
	} finally {
		await journal.close();
	}
}
async function inspect$1({ plan, testbed, journal, at, onEvent }) {
	onEvent({
		kind: "planned",
		plan
	});
	const inspection = await testbed.inspect(plan.cells.map(({ cell }) => cell));
	await journal.append({
		kind: "started",
		at: at(),
		...inspection
	});
	for (const text of inspection.warnings) onEvent({
		kind: "warning",
		text
	});
}
/** Prepares all remaining variants. False if patched is rejected. */
async function prepare(experiment) {
	const { directory, plan, testbed, journal, onEvent, signal } = experiment;
	for (;;) {
		signal.throwIfAborted();
		const prepared = await testbed.prepare({
			variants: variantsLeft(plan, journal.entries),
			rules: plan.rules,
			cells: plan.cells.map(({ cell }) => cell),
			keepLog: keepLogIn(directory, "builds"),
			notify: (text) => onEvent({
				kind: "preparing",
				text
			}),
			signal
		});
		if (prepared.kind === "ready") return true;
		if (!await goesOnWithout(prepared, experiment)) return false;
	}
}
/** Measures until no cell needs a trial. False if patched is rejected. */
async function measureAll(experiment) {
	const { plan, journal, signal } = experiment;
	let boot;
	for (;;) {
		signal.throwIfAborted();
		const next = nextTrial(plan, journal.entries);
		if (next === void 0) return true;
		if (boot !== void 0 && boot !== bootOf(next.trial)) await takeProfilesOfBoot(plan, profilesDeps(experiment));
		boot = bootOf(next.trial);
		if (!await measure(next, experiment)) return false;
	}
}
/** Identifies a boot: booted variants run one per trial, and a boot serves all cells of a pair. */
const bootOf = ({ runs: [run] }) => `${run?.variant} ${run?.pair}`;
/** False if patched is rejected. */
async function measure(next, experiment) {
	const { directory, testbed, journal, at, onEvent, signal } = experiment;
	const { trial, attempt } = next;
	const logs = trialFolder(trial, attempt);
	onEvent({
		kind: "trial",
		...next
	});
	const outcome = await testbed.trial(trial, keepLogIn(directory, logs), signal);
	for (const text of outcome.warnings ?? []) {
		await journal.append({
			kind: "warned",
			at: at(),
			text
		});
		onEvent({
			kind: "warning",
			text
		});
	}
	if (outcome.kind === "rejected") return goesOnWithout(outcome, experiment);
	const entry = outcome.kind === "measured" ? {
		kind: "measured",
		at: at(),
		...measuredAs(trial, outcome, {
			attempt,
			logs
		})
	} : {
		kind: "failed",
		at: at(),
		trial: trial.number,
		reason: outcome.reason
	};
	await journal.append(entry);
	onEvent({
		kind: "ended",
		trial,
		entry
	});
	reportDecided(experiment);
	return true;
}
function reportDecided({ plan, journal, decided, onEvent }) {
	for (const one of decidedCells(plan, journal.entries)) {
		const name = cellName(one.cell);
		if (!decided.has(name)) onEvent({
			kind: "decided",
			...one
		});
		decided.add(name);
	}
}
async function finish(experiment) {
	await takeProfiles(experiment.plan, profilesDeps(experiment));
	await experiment.journal.append({
		kind: "finished",
		at: experiment.at()
	});
}
/** Journals the rejection of a variant. False if it is patched; throws if it is base. */
async function goesOnWithout({ variant, rejection }, { journal, at, onEvent }) {
	if (variant === "base") throw new BaseRejectedError(rejection);
	await journal.append({
		kind: "rejected",
		at: at(),
		variant,
		rejection
	});
	if (variant === "patched") return false;
	onEvent({
		kind: "warning",
		text: `${variant} ${faultOf(rejection)} and is left out: ${reasonOf(rejection.message)}`
	});
	return true;
}
const profilesDeps = (experiment) => {
	const { directory, plan, testbed, journal, at, onEvent, signal } = experiment;
	return {
		profile: plan.profile,
		testbed,
		journal,
		at,
		signal,
		keepLogIn: (folder) => keepLogIn(directory, folder),
		onNext: (next) => onEvent({
			kind: "profile",
			...next
		}),
		warn: (text) => onEvent({
			kind: "warning",
			text
		})
	};
};
const measuredAs = ({ number, runs: planned }, { summary, runs }, { attempt, logs }) => ({
	summary: {
		...summary,
		number,
		attempt,
		logs
	},
	runs: runs.map((run) => ({
		...run,
		...planned.length === 1 && planned[0],
		trial: number,
		attempt
	}))
});

// src/gate/experiment/recompute.ts
/**
* Applies the configuration's policy, cells, designs and traffic to the raw runs. Trusts the numbers on earlier noise
* as much as the runs, and an invalid cell, which passes nothing. Counts earlier gates again, and keeps the larger
* number. Keeps profiles, and recomputes reasons. The caller must check an unchanged patch against the repository.
*/
function recompute(claimed, requested) {
	const { config, testbeds } = requested;
	if (!testbeds.includes(claimed.testbed.name)) return {
		kind: "refused",
		why: `The result is of the testbed ${claimed.testbed.name} instead of ${testbeds.join(" or ")}: judge the patch again.`
	};
	const { kind: _, ...testbed } = claimed.testbed;
	const kind = testbedKindOf(config, testbed.name);
	const computed = {
		...claimed,
		testbed: {
			...testbed,
			...kind !== void 0 && { kind }
		},
		policy: requestedPolicy(requested),
		traffic: {
			...offeredTraffic(config.traffic),
			measureSeconds: config.traffic.measureSeconds
		},
		variants: variantsOf(claimed, requested),
		leftOut: claimed.leftOut.filter(({ variant }) => othersOf(requested.patch).includes(variant)),
		...claimed.outcome.kind === "unchanged" && { trials: [] },
		outcome: outcomeOf(claimed, requested)
	};
	const result = withLimits(withEarlierGates(computed, requested));
	return {
		kind: "computed",
		result,
		refused: differences(claimed, result).slice(0, maxDifferences)
	};
}
const requestedPolicy = ({ config, isExtended }) => isExtended ? policyOfExtended(policyOf(config)) : policyOf(config);
/** A forged result may have any number of such cells. */
const maxDifferences = 20;
/** Takes the approved commits. Without git, the fork point depends on the patch's history. */
function variantsOf({ variants }, { patch, mergeBase }) {
	const earlier = patch.kind === "revision" ? patch.earlier : [];
	const commits = [{
		name: "patched",
		commit: patch.headCommit
	}, ...earlier.map(({ diff, headCommit }) => ({
		name: diffName(diff),
		commit: headCommit
	}))];
	const claimOf = (name) => variants.find((one) => one.name === name);
	const claimed = claimOf("base") ?? {
		name: "base",
		commit: patch.baseCommit,
		files: []
	};
	return [{
		...claimed,
		commit: mergeBase ?? claimed.commit
	}, ...commits.map((one) => ({
		files: [],
		...claimOf(one.name),
		...one
	}))];
}
/** Accepts claims of gates that the trusted side does not know, but restores any that a claim hides. */
function withEarlierGates(result, { patch, history = [], mergeBase }) {
	const { outcome, testbed, policy } = result;
	if (outcome.kind !== "judged") return result;
	const { measureSeconds: _, ...traffic } = result.traffic;
	const { baseCommit, headCommit: head } = patch;
	const base = baseCommit === head ? head : mergeBase;
	const own = entriesOf(history, {
		testbed: testbed.name,
		kind: testbed.kind
	});
	const cells = outcome.cells.map((one) => {
		const { earlierGates: claimed, ...rest } = one;
		const id = gateOfLine(result, one)?.id;
		const gate = {
			testbed: testbed.name,
			cell: one.cell,
			traffic,
			policy,
			base,
			head,
			id
		};
		const most = base === head ? void 0 : greaterOf(claimed, earlierGates(own, gate));
		return {
			...rest,
			...most && { earlierGates: most }
		};
	});
	return {
		...result,
		outcome: {
			...outcome,
			cells
		}
	};
}
function greaterOf(a, b) {
	if (a === void 0 || b === void 0) return a ?? b;
	return {
		count: Math.max(a.count, b.count),
		regressions: Math.max(a.regressions, b.regressions)
	};
}
const othersOf = (patch) => patch.kind === "revision" ? patch.earlier.map(({ diff }) => diffName(diff)) : [];
function outcomeOf({ outcome, testbed }, requested) {
	if (outcome.kind === "unchanged") {
		const { ignoredPaths: claimed = [] } = outcome;
		const on = {
			config: requested.config,
			testbed: testbed.name
		};
		const ignoredPaths = claimed.filter((place) => isPlaceLeftAlone(place, on));
		return {
			kind: "unchanged",
			...ignoredPaths.length > 0 && { ignoredPaths }
		};
	}
	if (outcome.kind !== "judged") return outcome;
	const policy = requestedPolicy(requested);
	const claims = new Map(outcome.cells.map((claim) => [cellName(claim.cell), claim]));
	const { cells: wanted = cellsOf(requested.config) } = requested;
	const inputs = wanted.map((cell) => inputOf(cell, claims, requested));
	const cells = interimResults(inputs, policy).map((interim) => {
		const { claim, runs } = interim.input;
		const ofBase = baseNumbers(runs, policy.metric);
		const computed = cellResult(interim, policy, ofBase, othersOf(requested.patch));
		const stays = claim?.verdict.kind === "invalid" && computed.verdict.kind !== "regression";
		return {
			...computed,
			...stays && { verdict: claim.verdict },
			...claim === void 0 && { verdict: notMeasured },
			...claim?.earlierGates && { earlierGates: claim.earlierGates },
			profiles: profilesOf(claim, requested.patch)
		};
	});
	return {
		kind: "judged",
		verdict: worstVerdict(cells),
		cells
	};
}
const notMeasured = {
	kind: "invalid",
	reason: "the result has no such cell"
};
function inputOf(cell, claims, { patch, config, isExtended }) {
	const claim = claims.get(cellName(cell));
	const others = othersOf(patch);
	const history = claim?.history;
	const planned = designOf(config, 2 + others.length);
	const budgets = isExtended ? extended(planned, claim?.design.budgets ?? []) : planned.budgets;
	const design = {
		...planned,
		budgets
	};
	const isOurs = ({ variant }) => isJudged(variant) || others.includes(variant);
	const runs = claim?.runs.filter(isOurs) ?? [];
	const input = {
		cell,
		claim,
		design,
		...history && { history },
		runs,
		failures: []
	};
	return {
		...input,
		closedPairs: closedPairsOf(input, policyOf(config))
	};
}
/**
* Counts pairs of the last analysis that has all its runs. If every analysis so far has evidence but the result claims
* an invalid cell, the experiment ended with the next one, whose runs were lost.
*/
function closedPairsOf(input, policy) {
	const { claim, design, runs } = input;
	const sizes = analysisSizes(design);
	const lacking = sizes.findIndex((size) => !isThere(runs, size));
	if (lacking === -1) return sizes.at(-1) ?? 0;
	const closedPairs = sizes[lacking - 1] ?? 0;
	const hasEvidence = (size) => evidenceAt({
		...input,
		closedPairs
	}, size, policy) !== void 0;
	return claim?.verdict.kind === "invalid" && sizes.slice(0, lacking).every(hasEvidence) ? sizes[lacking] ?? 0 : closedPairs;
}
/** The maximum of `parseMaxRuns`. */
const maxRuns = 1e4;
/** Doubling reaches the maximum in ten steps. Each halves the error rate, which soon underflows. */
const maxBudgets = 20;
/** Returns budgets that extensions added, if they are plausible. */
function extended({ budgets: planned, pairsPerStep }, claimed) {
	return claimed.every((budget, stage) => (stage === 0 ? budget === planned[0] : budget > (claimed[stage - 1] ?? 0)) && budget % pairsPerStep === 0 && budget < maxRuns + pairsPerStep) && claimed.length > 0 && claimed.length <= maxBudgets ? claimed : planned;
}
function isThere(runs, size) {
	const pairsOf = (name) => new Set(runs.flatMap(({ variant, pair }) => variant === name && pair <= size ? pair : []));
	return isEnough(pairsOf("base").intersection(pairsOf("patched")).size, size);
}
/** Keeps only known variants, which bounds their number. */
function profilesOf(claim, patch) {
	return [
		"base",
		"patched",
		...othersOf(patch)
	].flatMap((name) => claim?.profiles.find(({ variant }) => variant === name) ?? []);
}
/** Lists, in sentences, claims that the recomputed result contradicts. */
const differences = (claimed, result) => [
	...ofPolicy(claimed.policy, result.policy),
	...ofTraffic(claimed.traffic, result.traffic),
	...ofOutcome(claimed.outcome, result.outcome)
];
function ofPolicy(claimed, requested) {
	const metric = [claimed.metric, requested.metric];
	const ratios = ratioNames.map(([key, name]) => {
		const [found, wanted] = [claimed[key], requested[key]];
		return found === wanted ? [] : `It used ${name} of ${formatPercent(found)}, but ${formatPercent(wanted)} was requested.`;
	});
	return [metric[0] === metric[1] ? [] : `It was judged by ${metric[0]}, but ${metric[1]} was requested.`, ...ratios].flat();
}
const ratioNames = [
	["marginRatio", "a margin"],
	["confidenceRatio", "a confidence"],
	["falseAlarmRatio", "a rate of false alarms"],
	["missRatio", "a rate of misses"]
];
function ofTraffic(claimed, requested) {
	const numbers = [
		"flows",
		"frameBytes",
		"offeredPps",
		"measureSeconds"
	].flatMap((key) => claimed[key] === requested[key] ? [] : `Its traffic has ${key} ${claimed[key] ?? "unbounded"}, and ${requested[key] ?? "unbounded"} was requested.`);
	if (isDeepStrictEqual(claimed.packets, requested.packets)) return numbers;
	const [found, wanted] = [claimed, requested].map(({ packets }) => packetsText(packets));
	return [...numbers, `Its packets are ${found} instead of ${wanted}.`];
}
function ofOutcome(claimed, computed) {
	if (claimed.kind !== "judged" || computed.kind !== "judged") return [];
	const requested = new Map(computed.cells.map((cell) => [cellName(cell.cell), cell]));
	const unasked = claimed.cells.filter(({ cell }) => !requested.has(cellName(cell)));
	const claims = new Map(claimed.cells.map((claim) => [cellName(claim.cell), claim]));
	return [
		...unasked.map(({ cell }) => `It has the cell ${cellName(cell)}, which was not requested.`),
		...computed.cells.flatMap((cell) => ofCell(claims.get(cellName(cell.cell)), cell)),
		...claimed.verdict === computed.verdict ? [] : [`It reports ${claimed.verdict} for the patch, but its cells yield ${computed.verdict}.`]
	];
}
function ofCell(claim, { cell, verdict, comparisons }) {
	const name = cellName(cell);
	if (claim === void 0) return [`It has no cell ${name}, which was requested.`];
	if (claim.verdict.kind !== verdict.kind) return [`It reports ${claim.verdict.kind} for ${name}, but its runs yield ${verdict.kind}.`];
	return comparisons.every((one) => claim.comparisons.some((other) => other.metric === one.metric && isAlmost(one, other))) ? [] : [`Its numbers for ${name} do not match its runs.`];
}
/** Another machine may round differently. */
const isAlmost = (a, b) => [
	[a.base, b.base],
	[a.patched, b.patched],
	...[
		"change",
		"low",
		"high"
	].map((key) => [a.interval[key], b.interval[key]])
].every(([one = 0, other = 0]) => Math.abs(one - other) <= 1e-9 + 1e-6 * Math.abs(one));

// src/gate/experiment/reread.ts
async function reread(directory, plan) {
	const entries = [];
	let unread = 0;
	for (const entry of await readJournal(journalIn(directory))) {
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
	const trial = plan.trials.find(({ number }) => number === summary.number);
	if (trial === void 0) return void 0;
	const numbers = new Set(entry.runs.map(({ number }) => number));
	const planned = {
		...trial,
		runs: trial.runs.filter(({ number }) => numbers.has(number))
	};
	const { attempt, startedAt, egressPackets, ingressPackets, lineGigabits } = summary;
	const { starvation, limits } = summary;
	const counted = {
		...egressPackets !== void 0 && { egressPackets },
		...ingressPackets !== void 0 && { ingressPackets },
		...lineGigabits !== void 0 && { lineGigabits },
		...starvation !== void 0 && { starvation },
		...limits !== void 0 && { limits }
	};
	const outcome = await outcomeIn(logsIn(directory, summary.logs)).catch((error) => {
		if (error instanceof ForeignFileError) return void 0;
		throw error;
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
	async function outcomeIn(log) {
		const { traffic } = plan;
		if (traffic.windows !== void 0) {
			const virtual = await readVirtual(log, planned);
			return virtual && readVirtualLogs(planned, startedAt, traffic.windows.packets, virtual);
		}
		const linux = await readLinux(log);
		if (linux !== void 0) return readLinuxLogs(planned, startedAt, linux);
		const freebsd = await readFreebsd(log);
		return freebsd && readFreebsdLogs(planned, freebsd, {
			startedAt,
			traffic,
			summary: counted
		});
	}
}
/** A log has a few kilobytes for each second of its trial. */
const maxLogBytes = 64 * 1024 ** 2;
const logsIn = (directory, folder) => (name) => readForeignText(directory, `${folder}/${name}`, maxLogBytes);
async function readVirtual(log, planned) {
	const logs = /* @__PURE__ */ new Map();
	for (const [pair] of pairsOf$1(planned)) {
		const text = await log(windowsLogName(pair));
		if (text === void 0) return void 0;
		logs.set(pair, text);
	}
	return logs;
}
async function readLinux(log) {
	const [dut, sender, counters] = [
		await log(logNames.dut),
		await log(logNames.sender),
		await log(logNames.counters)
	];
	if (dut === void 0 || sender === void 0 || counters === void 0) return void 0;
	return {
		dut,
		sender,
		counters
	};
}
async function readFreebsd(log) {
	const receiver = await log(freebsdLogNames.receiver);
	if (receiver === void 0) return void 0;
	const senders = [];
	for (;;) {
		const sender = await log(freebsdLogNames.sender(senders.length));
		if (sender === void 0) return {
			receiver,
			senders
		};
		senders.push(sender);
	}
}

export { assembleResult, baseNumbers, cellsAmong, cellsOf, designOf, earlierEntries, entriesOf, extendPlan, finishedAt, hasMeasured, hasPlan, historyEntries, historyEntrySchema, historyFile, historyOf, journalIn, keepLogIn, layoutsOn, makePlan, missingProfiles, openJournal, planCells, plannedProfile, plannedTraffic, policyOf, profileOf, randomSeed, readJournal, readPlan, readRules, recompute, replacePlan, reread, resumeAdvice, rulesOn, runExperiment, takeProfilesOf, unchangedResult, withoutNumbers, writePlan };