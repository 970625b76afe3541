import { UsageError, fileReasonOf } from "../../model/first-plain.js";
import { boolean, discriminatedUnion, int, literal, number$1 as number, object, string } from "../../vendor/zod.js";
import { byMetric, byName, cellName, cellProfileSchema, cellSchema, commitId, count, designSchema, earlierGatesSchema, facts, historySchema, isSameTraffic, layoutOfPair, line, list, maxEarlierGates, maxTrials, maxVariants, measured, metricSchema, name, offeredTraffic, offeredTrafficSchema, ownRulesSchema, patchSchema, plannedTrialSchema, policySchema, rejectionSchema, runSchema, seconds, testbedKindSchema, time, total, trialSchema, variant } from "../../model/first.js";
import { giveNew } from "../../system/give-to-caller.js";
import { testbedKindOf } from "../../config/first.js";
import { mean, sum, sumNthPowerDeviations } from "../../vendor/simple-statistics.js";
import { isCounted, sumOf, trialNumbers } from "../../analysis/stats/first.js";
import { sessionDegreesOfFreedom } from "../../analysis/stats/first-plain.js";
import { ExposedPlaceError, checkNotOpen } from "../../system/own-file.js";
import { durationsOf, durationsSchema, expectedDurationsOn, expectedDurationsSchema } from "../estimate/first.js";
import { readForeignText } from "../../system/foreign-files.js";
import { variantSchema } from "../../kernel/first.js";
import { mapOwnRules, portNames } from "../../lab/first-plain.js";
import { beginPlanFile, hasPlanFile, readPlanFile, replacePlanFile } from "./first-plain.js";
import { uniformInt, xoroshiro128plus } from "../../vendor/pure-rand.js";
const { basename, dirname, join } = globalThis.process.getBuiltinModule("node:path");
const { createHash, randomInt } = globalThis.process.getBuiltinModule("node:crypto");
const { appendFile, glob, mkdir, open, readFile, truncate } = globalThis.process.getBuiltinModule("node:fs/promises");

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
	/** Absent in lines of imported results. */
	kind: testbedKindSchema.exactOptional(),
	cell: cellSchema,
	traffic: offeredTrafficSchema,
	commit: name,
	/** Holds one rate per trial, in order. */
	pps: rates,
	nsPerPacket: rates,
	instructionsPerPacket: rates,
	/** Numbers of patched; absent if none of its runs count. */
	patched: object({
		pps: rates,
		nsPerPacket: rates,
		instructionsPerPacket: rates
	}).optional(),
	/** True if base had changed against the earlier history. */
	moved: boolean(),
	/** Layouts of base's kernel that were booted, if several: the spread then includes the noise of builds. */
	layouts: count.min(2).optional(),
	/** Equal for all cells of a gate; absent for fewer than two trials. */
	durations: durationsSchema.optional(),
	/** Absent in lines not written by a gate of two commits. */
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
/** Returns the lines of a testbed, except those from when its name stood for another kind. */
function entriesOf(entries, { testbed, kind }) {
	const isOfKind = (entry) => [entry.kind, kind].includes(void 0) || entry.kind === kind;
	return entries.filter((entry) => entry.testbed === testbed && isOfKind(entry));
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
	kind: testbedKindSchema.exactOptional(),
	variants: list(variantSchema, maxVariants).min(2),
	rules: byName(ownRulesSchema),
	cells: list(plannedCellSchema, 1e3).min(1),
	policy: policySchema,
	traffic: plannedTraffic,
	/** Profiles of every variant in every decided cell; absent: none. */
	profile: plannedProfile.optional(),
	durations: expectedDurationsSchema,
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

export { baseNumbers, cellsAmong, cellsOf, designOf, earlierEntries, earlierGates, entriesOf, extendPlan, gateOfLine, hasMeasured, hasPlan, historyEntries, historyEntrySchema, historyFile, historyOf, journalIn, layoutsOn, makePlan, openJournal, planCells, plannedProfile, plannedTraffic, policyOf, policyOfExtended, randomSeed, readJournal, readPlan, readRules, replacePlan, resumeAdvice, rulesOn, withoutNumbers, writePlan };