import { version } from "./package.js";
import { UsageError, blastSchema, byMetric, cellName, cellProfileSchema, cellSchema, designSchema, diffName, expectedly, formatPercent, historySchema, isArmName, isJudged, lastLine, linkOfPair, ownRulesSchema, patchSchema, pathName, plainLine, plannedBlastSchema, policySchema, reasonOf, rejectionSchema, roughly, runSchema, shortened, upshotOfResult, withoutPaths } from "./words.js";
import { array, base64, boolean, datetime, discriminatedUnion, int, literal, number$1 as number, object, record, string } from "./vendor/zod.js";
import { mean, quantile, sumNthPowerDeviations } from "./vendor/simple-statistics.js";
import { blastNumbers, cellResult, cellVerdict, evidenceAt, forecast, isCounted, isEnough, lookSizes, median, runCounts, runsApart, standings, validPairs, worstVerdict } from "./stats.js";
import { isPlaceLeftAlone, variantSchema } from "./build.js";
import { uniformInt, xoroshiro128plus } from "./vendor/pure-rand.js";
import { freebsdLogNames, logNames, pairsOf as pairsOf$1, readFreebsdLogs, readLinuxLogs, readVirtualLogs, windowsLogName } from "./testbed.js";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { gunzipSync, gzipSync } from "node:zlib";
import { createHash, randomInt } from "node:crypto";
import { access, appendFile, mkdir, open, readFile, rename, truncate, writeFile } from "node:fs/promises";

// src/experiment/took.ts
const seconds = number().nonnegative();
/** What one gate tells, in seconds. */
const whole = object({
	/** From the end of a blast to the next one in another boot; 0 where variants need none. */
	bootSeconds: seconds,
	/** From the rules to the end: links that settle and packets that flow. */
	blastSeconds: seconds,
	/** Seconds of a blast in which packets flowed. */
	trafficSeconds: seconds,
	/** Seconds for which it waited for kernels, and for all else before the first boot. */
	buildSeconds: seconds
});
/** A rehearsal builds nothing that a gate would. */
const tookSchema = whole.partial({
	trafficSeconds: true,
	buildSeconds: true
});
/** `gates` told; 0: none has, and it is what such a testbed usually takes. */
const timesSchema = whole.extend({ gates: int().nonnegative() });
/**
* The median of blasts, and of boots the lower quartile: waits for kernels, profiles and a night in between only ever add
* to some of few. Undefined of fewer than two blasts. Where each boot has one blast, what is not traffic counts to the boot.
*/
function tookOf(result) {
	const bootOf = bootsIn(result);
	const blasts = result.blasts.toSorted((a, b) => a.startedAt.localeCompare(b.startedAt));
	const [first, ...later] = blasts;
	if (first === void 0 || later.length === 0) return void 0;
	const steps = later.map((blast, index) => {
		const before = blasts[index] ?? first;
		return {
			seconds: secondsBetween(before.startedAt, blast.startedAt),
			isBoot: bootOf(before) !== bootOf(blast)
		};
	});
	const within = steps.filter(({ isBoot }) => !isBoot);
	const boots = steps.filter(({ isBoot }) => isBoot);
	const trafficSeconds = median(blasts.map((blast) => blast.trafficSeconds));
	const blastSeconds = Math.max(trafficSeconds, quantileOf(within, .5) ?? 0);
	const bootSeconds = Math.max(0, (quantileOf(boots, .25) ?? blastSeconds) - blastSeconds);
	const usual = bootSeconds + blastSeconds;
	return {
		bootSeconds,
		blastSeconds,
		trafficSeconds,
		buildSeconds: Math.max(0, secondsBetween(result.startedAt, first.startedAt) - bootSeconds) + Math.max(0, (boots[0]?.seconds ?? usual) - usual)
	};
}
/** Tells boots apart: a blast of one run is of one variant and pair, and several runs share a blast where none boots. */
function bootsIn({ outcome }) {
	const runs = outcome.kind === "judged" ? outcome.cells.flatMap((cell) => cell.runs) : [];
	const byBlast = Map.groupBy(runs, ({ blast, attempt }) => `${blast}.${attempt}`);
	return ({ number, attempt }) => {
		const [run, ...others] = byBlast.get(`${number}.${attempt}`) ?? [];
		return run === void 0 || others.length > 0 ? "" : `${run.variant} ${run.pair}`;
	};
}
const quantileOf = (steps, share) => steps.length === 0 ? void 0 : quantile(steps.map((step) => step.seconds), share);
const secondsBetween = (from, to) => Math.max(0, (Date.parse(to) - Date.parse(from)) / 1e3);
/** Medians of the latest gates on the testbed that tell; `entries` are lines of its history, of which a gate has several. */
function timesOn(entries, testbed, config) {
	const latest = [...new Map(entries.flatMap(({ at, testbed: name, took }) => name === testbed && took !== void 0 ? [[at, took]] : []))].toSorted(([a], [b]) => a.localeCompare(b)).slice(-mostGates).map(([, took]) => took);
	const usual = usualTimes(config, testbed);
	const medianBy = (part) => {
		const known = latest.flatMap((took) => took[part] ?? []);
		return known.length === 0 ? usual[part] : median(known);
	};
	const blastSeconds = medianBy("blastSeconds");
	return {
		bootSeconds: medianBy("bootSeconds"),
		blastSeconds,
		trafficSeconds: Math.min(blastSeconds, medianBy("trafficSeconds")),
		buildSeconds: medianBy("buildSeconds"),
		gates: latest.length
	};
}
const mostGates = 10;
/** A boot of a server and a kernel that is not in the cache, as docs/lab.md has them. */
const assumed = {
	bootSeconds: 240,
	buildSeconds: 600,
	laySeconds: 2
};
function usualTimes({ testbeds, traffic }, name) {
	const { warmUpSeconds, settleSeconds, measureAtLeastSeconds, runsPerBlast } = traffic;
	const testbed = testbeds[name];
	if (testbed?.kind !== "freebsd") {
		const trafficSeconds = warmUpSeconds + runsPerBlast * (settleSeconds + measureAtLeastSeconds);
		return {
			bootSeconds: 0,
			buildSeconds: 0,
			trafficSeconds,
			blastSeconds: trafficSeconds + assumed.laySeconds
		};
	}
	const trafficSeconds = warmUpSeconds + runsPerBlast * measureAtLeastSeconds;
	return {
		bootSeconds: Math.min(assumed.bootSeconds, testbed.dut.boot.limitSeconds) + settleSeconds,
		buildSeconds: testbed.builder === void 0 ? 0 : assumed.buildSeconds,
		trafficSeconds,
		blastSeconds: trafficSeconds + assumed.laySeconds
	};
}

// src/experiment/history.ts
const rates = array(number().positive());
const historyEntrySchema = object({
	/** When the experiment began. An experiment that was extended writes again, and its last line counts. */
	at: datetime(),
	testbed: string(),
	cell: cellSchema,
	traffic: object({
		flows: int(),
		frameBytes: int(),
		offeredPps: number().optional()
	}),
	/** The commit of the base. */
	commit: string(),
	/** One number a blast, in the order in which they were measured. */
	pps: rates,
	nsPerPacket: rates,
	/** Absent from lines of before it was counted. */
	instructionsPerPacket: rates.default([]),
	/** The base had moved against what was known before. */
	moved: boolean(),
	/** Links of the base's kernel that were booted, where they were several: then what builds differ in is in the spread. */
	links: int().min(2).optional(),
	/** How long its parts took, the same for all cells of a gate; absent in lines from before this was kept. */
	took: tookSchema.optional()
});
/** A history that cannot be used: nothing is measured until it is mended. */
var HistoryError = class extends Error {
	name = "HistoryError";
	upshot = "usage";
};
/** The history at `path`, which need not exist yet; `read` throws a `HistoryError` that names the first bad line. */
function historyFile(path) {
	return {
		async read() {
			return (await readFile(path, "utf8").catch(ifMissing$1(path))).split("\n").flatMap((line, index) => line ? parseLine$1(line, path, index) : []);
		},
		async append(entries) {
			if (entries.length === 0) return;
			await mkdir(dirname(path), { recursive: true });
			await appendFile(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
		}
	};
}
const ifMissing$1 = (path) => (error) => {
	if (error.code === "ENOENT") return "";
	throw new HistoryError(`The history ${path} cannot be read (${error.code}).`);
};
function parseLine$1(line, path, index) {
	try {
		return historyEntrySchema.parse(JSON.parse(line));
	} catch {
		throw new HistoryError(`${path}:${index + 1} is no line of a history of runs: remove the line, or name another file.`);
	}
}
/** What claims to be of a later experiment is not learnt from: no honest one could ever be newer. */
const earlierEntries = (entries, now) => entries.filter(({ at }) => Date.parse(at) <= now.getTime());
/**
* What the latest thirty or so runs of a cell's base tell, under the same traffic on the same testbed. Its noise is
* the spread within experiments, so that a base which moved between them does not look noisy.
*/
function historyOf(entries, { testbed, cell, traffic, metric, isLinkedOften = false }) {
	const own = entries.filter((entry) => entry.testbed === testbed && cellName(entry.cell) === cellName(cell) && isSameTraffic(entry.traffic, traffic) && entry.links !== void 0 === isLinkedOften && entry[metric].length > 0);
	const latest = newest([...new Map(own.map((entry) => [entry.at, entry])).values()], metric);
	const logs = latest.map((entry) => entry[metric].map(Math.log));
	const lastMove = latest.findLastIndex((entry) => entry.moved);
	const sinceMove = logs.slice(Math.max(0, lastMove)).flat();
	if (sinceMove.length === 0) return void 0;
	return {
		runs: logs.flat().length,
		typical: Math.exp(mean(sinceMove)),
		typicalRuns: sinceMove.length,
		sumOfSquares: logs.reduce((sum, set) => sum + sumNthPowerDeviations(set, 2), 0),
		degreesOfFreedom: logs.flat().length - logs.length
	};
}
const enoughRuns = 30;
function newest(entries, metric) {
	const byAge = entries.toSorted((a, b) => a.at.localeCompare(b.at));
	let runs = 0;
	const first = byAge.findLastIndex((entry) => {
		runs += entry[metric].length;
		return runs >= enoughRuns;
	});
	return byAge.slice(Math.max(0, first));
}
const isSameTraffic = (a, b) => a.flows === b.flows && a.frameBytes === b.frameBytes && a.offeredPps === b.offeredPps;
/**
* One number a blast of the runs of base that count. Where base has several links, only those that booted one for the
* first time: the others tell less than they seem to of how far runs are apart.
*/
function baseNumbers(runs, metric) {
	const counted = runs.filter((run) => run.variant === "base" && isCounted(run));
	const firstOf = new Map(counted.toReversed().map((run) => [run.link, run]));
	const taken = firstOf.size > 1 ? counted.filter((run) => firstOf.get(run.link) === run) : counted;
	return blastNumbers(taken, metric);
}
/**
* What a result adds to the history: a line for each cell of which some run of base counts. A run that several patches
* shared is in the line of one of them: it tells its noise but once.
*/
function historyEntries(result) {
	const { startedAt: at, testbed, variants, outcome, blasts } = result;
	if (outcome.kind !== "judged") return [];
	const { measureSeconds: _, ...traffic } = result.traffic;
	const took = tookOf(result);
	const commit = variants.find((variant) => variant.name === "base")?.commit ?? "";
	const tryOf = ({ number, attempt }) => `${number}.${attempt}`;
	const shared = new Set(blasts.flatMap((blast) => blast.isShared ? tryOf(blast) : []));
	return outcome.cells.flatMap(({ cell, runs: all, baseline }) => {
		const runs = all.filter(({ blast, attempt }) => !shared.has(tryOf({
			number: blast,
			attempt
		})));
		const numbers = byMetric((metric) => baseNumbers(runs, metric));
		if (numbers.pps.length === 0) return [];
		const links = new Set(runs.flatMap(({ variant, link }) => variant === "base" ? link ?? 1 : []));
		return {
			at,
			testbed: testbed.name,
			cell,
			traffic,
			commit,
			...numbers,
			moved: baseline.kind === "moved",
			...links.size > 1 && { links: links.size },
			...took && { took }
		};
	});
}

// src/experiment/journal.ts
const at = datetime();
const entrySchema = discriminatedUnion("kind", [
	object({
		kind: literal("started"),
		at,
		fingerprint: record(string(), string()),
		warnings: array(string())
	}),
	object({
		kind: literal("rejected"),
		at,
		variant: string(),
		rejection: rejectionSchema
	}),
	object({
		kind: literal("measured"),
		at,
		summary: blastSchema,
		runs: array(runSchema)
	}),
	object({
		kind: literal("failed"),
		at,
		blast: int(),
		reason: string(),
		/** Variants that were to be measured; absent where the plan tells. */
		variants: array(string()).optional(),
		/** See `BlastOutcome`. */
		lacksControl: literal(true).optional()
	}),
	object({
		kind: literal("profiled"),
		at,
		cell: cellSchema,
		profile: cellProfileSchema,
		/** Nothing would come of another try. */
		isFinal: boolean()
	}),
	object({
		kind: literal("warned"),
		at,
		text: string()
	}),
	object({
		kind: literal("finished"),
		at
	})
]);
/** Opens or begins a journal; a last line that a kill cut short is dropped, any other bad line is a `JournalError`. */
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
/** Where the journal of a work directory is. */
const journalIn = (directory) => join(directory, "journal.jsonl");
/** The entries of a journal, which is left as it is; none where there is no journal. */
const readJournal = async (path) => (await read(path)).entries;
/** `whole` is the text up to its last newline: what a kill cut short is no entry. */
async function read(path) {
	const text = await readFile(path, "utf8").catch(ifMissing);
	const whole = text.slice(0, text.lastIndexOf("\n") + 1);
	return {
		entries: whole.split("\n").filter(Boolean).map(parseLine(path)),
		text,
		whole
	};
}
var JournalError = class extends Error {
	name = "JournalError";
	upshot = "usage";
};
const parseLine = (path) => (line, index) => {
	try {
		return entrySchema.parse(JSON.parse(line));
	} catch {
		throw new JournalError(`${path}:${index + 1} is no line of an experiment's journal: the directory cannot be resumed; start anew.`);
	}
};
function ifMissing(error) {
	if (error.code === "ENOENT") return "";
	throw error;
}

// src/experiment/plan-file.ts
/** What the plan in a file is of, and the command that goes on with it. */
const planFiles = {
	"experiment.json": {
		of: "an experiment",
		command: "ppsgate gate"
	},
	"bisect.json": {
		of: "a bisection",
		command: "ppsgate bisect"
	}
};
/** Writes the plan so that it is there whole or not at all; a directory that holds one already is a `PlanError`. */
async function beginPlanFile(directory, file, plan) {
	await refuseUsed(directory);
	await mkdir(directory, { recursive: true });
	await replacePlanFile(directory, file, plan);
}
/** Throws a PlanError where the directory has an experiment or a bisection already. */
async function refuseUsed(directory) {
	for (const [file, { of, command }] of Object.entries(planFiles)) if (await isThere$1(join(directory, file))) throw new PlanError(`${directory} holds ${of} already: resume it with '${command} --resume ${directory}', or name another directory.`);
}
/** Writes a plan over the one that is there. */
async function replacePlanFile(directory, file, plan) {
	const draft = join(directory, `.${file}`);
	await writeFile(draft, `${JSON.stringify(plan, null, 2)}\n`, { flush: true });
	await rename(draft, join(directory, file));
}
/** Reads the plan of an earlier process; throws a `PlanError` where there is none, or one of the other command. */
async function readPlanFile(directory, file, schema) {
	const path = join(directory, file);
	try {
		return schema.parse(JSON.parse(await readFile(path, "utf8")));
	} catch {
		const { of, command } = planFiles[file];
		if (!await isThere$1(path)) await refuseUsed(directory);
		throw new PlanError(`${path} holds no plan of ${of}: name the directory of an earlier '${command}'.`);
	}
}
const hasPlanFile = (directory, file) => isThere$1(join(directory, file));
const isThere$1 = (path) => access(path).then(() => true, () => false);
var PlanError = class extends Error {
	name = "PlanError";
	upshot = "usage";
};

// src/experiment/schedule.ts
/**
* Pairs hold one run of each variant, of more than two too. They come as ABBA or BAAB (as ABCCBA and the like), so that
* a drift within two pairs cancels; cells come in an order drawn anew for each round. The same request gives the same
* schedule, and one with more runs goes on where it ends.
*/
function schedule(request) {
	const random = xoroshiro128plus(request.seed);
	const next = request.runsPerBlast > 1 ? sharedBlasts : singleRuns;
	let runNumber = 0;
	return next(request, random).map(({ cell, runs }, index) => ({
		number: index + 1,
		cell,
		runs: runs.map((run) => ({
			number: ++runNumber,
			...run,
			...linkOf(run, request)
		}))
	}));
}
function linkOf({ variant, pair }, { links }) {
	const own = links?.get(variant);
	const link = own?.[linkOfPair(pair, own.length) - 1];
	return link === void 0 ? {} : { link };
}
/** Every cell gets its share of a round in one blast, in which the variants alternate. */
function sharedBlasts(request, random) {
	const { cells, variants, runsPerVariant } = request;
	const pairsPerRound = pairsPerBlast(request.runsPerBlast, variants.length);
	const orders = new Map(cells.map((cell) => [cell, variants]));
	const blasts = [];
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
		blasts.push({
			cell,
			runs
		});
	}
	return blasts;
}
/**
* Every run has a blast of its own, those of all cells side by side: where a variant must be booted, once for all. The
* first pair begins with base, whose kernel is mostly there while the patched one is still being built.
*/
function singleRuns(request, random) {
	const { cells, variants, runsPerVariant } = request;
	const blasts = [];
	let order = variants;
	for (let pair = 1; pair <= runsPerVariant; pair++) {
		order = pair === 1 ? variants : nextOrder(pair, order, random);
		for (const variant of order) for (const cell of inOrder(cells, request, random)) blasts.push({
			cell,
			runs: [{
				variant,
				pair
			}]
		});
	}
	return blasts;
}
/**
* How many pairs come at once; at least one, which then takes several blasts. Of more than two variants it is an even
* number where they share a blast, so that a pair shares it with its mirror image: one draw of chance, and not two.
*/
function pairsPerBlast(runsPerBlast, variants) {
	const fitting = Math.floor(runsPerBlast / variants);
	if (variants === 2 || runsPerBlast === 1) return Math.max(1, fitting);
	return Math.max(2, fitting - fitting % 2);
}
/** Every second pair mirrors the one before. */
const nextOrder = (pair, last, random) => pair % 2 === 1 ? shuffled(last, random) : last.toReversed();
/** Cells in an order by chance, but for those that come first. */
function inOrder(cells, { first = /* @__PURE__ */ new Set() }, random) {
	const [ones, others] = [true, false].map((is) => cells.filter((cell) => first.has(cell) === is));
	return [...shuffled(ones ?? [], random), ...shuffled(others ?? [], random)];
}
/** Fisher and Yates' shuffle, of a copy. */
function shuffled(items, random) {
	const rest = [...items];
	const taken = [];
	while (rest.length > 0) taken.push(...rest.splice(uniformInt(random, 0, rest.length - 1), 1));
	return taken;
}

// src/experiment/plan.ts
const plannedCellSchema = object({
	cell: cellSchema,
	design: designSchema,
	history: historySchema.optional(),
	/** The patch touches it and not all others, so that it comes before those in each round. */
	isFirst: literal(true).exactOptional()
});
const plannedTraffic = object({
	flows: int(),
	frameBytes: int(),
	offeredPps: number().optional(),
	warmUpSeconds: number(),
	settleSeconds: number(),
	measureSeconds: number(),
	measureAtLeastSeconds: number(),
	runsPerBlast: int(),
	windows: object({
		count: int(),
		packets: int()
	}).optional()
});
const plannedProfile = object({
	seconds: number(),
	event: string().optional()
});
const planSchema = object({
	schemaVersion: literal(1),
	patch: patchSchema,
	testbed: string(),
	variants: array(variantSchema).min(2),
	/** Rules of the scenarios that are a site's own, by their names. */
	rules: record(string(), ownRulesSchema),
	cells: array(plannedCellSchema).min(1),
	policy: policySchema,
	traffic: plannedTraffic,
	/** How profiles are taken of every variant in every cell, once that is decided; absent: none are taken. */
	profile: plannedProfile.optional(),
	/** How long its parts take here, by earlier gates; absent in plans from before this was known. */
	times: timesSchema.optional(),
	seed: int(),
	/** Every blast that may be needed, in their order; most cells are decided before their last. */
	blasts: array(plannedBlastSchema).min(1)
});
/** The history of a cell tells when it is looked at first, and the seed the order of everything. */
function makePlan(request, unlinked, history) {
	const variants = withLinks(unlinked, request);
	const { patch, config, testbed, seed, rules = {}, cells: wanted = cellsOf$1(config) } = request;
	const { traffic, profile } = config;
	const policy = policyOf(config);
	const isLinkedOften = variants.some((variant) => linksOf(variant).length > 1);
	const place = {
		testbed,
		cells: wanted,
		variants: variants.length,
		isLinkedOften
	};
	const first = new Set(request.first?.map(cellName));
	const cells = planCells(config, place, history).map((planned) => {
		const isFirst = first.has(cellName(planned.cell)) && first.size < wanted.length;
		return {
			...planned,
			...isFirst && { isFirst }
		};
	});
	return {
		schemaVersion: 1,
		patch,
		testbed,
		variants,
		rules,
		cells,
		policy,
		traffic,
		...profile !== void 0 && { profile },
		times: timesOn(history, testbed, config),
		seed,
		blasts: blastsFor(cells, variants, traffic.runsPerBlast, seed)
	};
}
/** How each cell is looked at, by what its history tells. */
function planCells(config, { testbed, cells, variants, isLinkedOften = false }, history) {
	const { traffic, gate } = config;
	return cells.map((cell) => {
		const query = {
			testbed,
			cell,
			traffic,
			metric: gate.metric,
			isLinkedOften
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
* Which links of each kernel are booted. A gate of one tree against itself, relinked, has two links alone: then what they
* differ in beyond their runs is what builds differ in, where several would hide it in the spread. The seed draws the
* other link, so that it is another one each time.
*/
function withLinks(variants, { config, testbed, seed, isRelinked = false }) {
	const often = linksOn(config, testbed);
	if (often === 1 && !isRelinked) return [...variants];
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
				links: isRelinked ? ofTwo : all
			}
		};
	});
}
/** How many links are made of each kernel that is built for a testbed. */
function linksOn({ testbeds }, name) {
	const testbed = testbeds[name];
	return testbed?.kind === "freebsd" && testbed.builder?.relink || 1;
}
const linksOf = ({ kernel }) => kernel?.kind === "tree" && kernel.links || [];
/** The texts of the site's own rules that are to be measured; throws a `UsageError` for one that cannot be read. */
async function readRules({ rules, scenarios }) {
	const read = Object.entries(rules).filter(([name]) => scenarios.includes(name)).map(async ([name, { path, ...rest }]) => {
		const text = await readFile(path, "utf8").catch((error) => {
			throw new UsageError(`rules: ${name}: ${path} cannot be read (${reasonOf(error)}).`);
		});
		return [name, {
			...rest,
			text
		}];
	});
	return Object.fromEntries(await Promise.all(read));
}
/** What a configuration asks to be measured, in its order. */
function cellsOf$1({ scenarios, families, frameSizes }) {
	const sizes = frameSizes === void 0 ? [{}] : frameSizes.map((frameBytes) => ({ frameBytes }));
	return scenarios.flatMap((scenario) => families.flatMap((family) => sizes.map((size) => ({
		scenario,
		family,
		...size
	}))));
}
/** The cells among some that the configuration still has, in its order. */
function cellsAmong(config, some) {
	const names = new Set(some.map(cellName));
	return cellsOf$1(config).filter((cell) => names.has(cellName(cell)));
}
/** What it holds a verdict to. */
function policyOf({ gate }) {
	const { design: _, maxRunsPerVariant: __, ...policy } = gate;
	return policy;
}
/** The policy of an experiment that goes on for more runs: whoever asks for them wants to know of every cell. */
function policyOfExtended({ stopsAtFirst: _, ...policy }) {
	return policy;
}
/** How it has a cell looked at. */
function designOf({ traffic, gate }, variants) {
	const pairsPerStep = pairsPerBlast(traffic.runsPerBlast, variants);
	const method = pairsPerStep > 1 ? "paired" : "pooled";
	const usualRuns = method === "pooled" ? usualSingleRuns : usualPairs(traffic.runsPerBlast, variants);
	const budget = wholeSteps(gate.maxRunsPerVariant ?? usualRuns, pairsPerStep);
	const usual = method === "pooled" ? "glr" : "group-sequential";
	return {
		name: gate.design ?? usual,
		budgets: [budget],
		pairsPerStep,
		method
	};
}
const usualSingleRuns = 20;
/**
* As many pairs as five blasts of two variants give, also where more variants share them: the verdict is as sure as
* without them.
*/
const usualPairs = (runsPerBlast, variants) => 5 * Math.max(pairsPerBlast(runsPerBlast, variants), pairsPerBlast(runsPerBlast, 2));
const wholeSteps = (pairs, pairsPerStep) => Math.ceil(pairs / pairsPerStep) * pairsPerStep;
/** A plan with a further budget for its cells, each of which is then measured to its own end; throws a `UsageError` where it has as many runs already. */
function extendPlan(plan, maxRunsPerVariant) {
	const cells = plan.cells.map(({ design, ...cell }) => {
		const budget = wholeSteps(maxRunsPerVariant, design.pairsPerStep);
		const last = design.budgets.at(-1) ?? 0;
		if (budget <= last) throw new UsageError(`--max-runs: the experiment has up to ${last} runs of each variant already, found ${maxRunsPerVariant}.`);
		return {
			...cell,
			design: {
				...design,
				budgets: [...design.budgets, budget]
			}
		};
	});
	const blasts = blastsFor(cells, plan.variants, plan.traffic.runsPerBlast, plan.seed);
	return {
		...plan,
		policy: policyOfExtended(plan.policy),
		cells,
		blasts
	};
}
const blastsFor = (cells, variants, runsPerBlast, seed) => schedule({
	cells: cells.map(({ cell }) => cell),
	first: new Set(cells.flatMap(({ cell, isFirst }) => isFirst ? cell : [])),
	variants: variants.map(({ variant }) => variant),
	runsPerVariant: Math.max(...cells.map(({ design }) => design.budgets.at(-1) ?? 0)),
	runsPerBlast,
	seed,
	links: new Map(variants.flatMap((variant) => {
		const links = linksOf(variant);
		return links.length === 0 ? [] : [[variant.variant, links]];
	}))
});
/** A seed for an order that nobody could have known; the plan keeps it. */
const randomSeed = () => randomInt(2 ** 31);
const file = "experiment.json";
/** Writes the plan so that it is there whole or not at all; a directory that holds one already is a `PlanError`. */
const writePlan = (directory, plan) => beginPlanFile(directory, file, plan);
/** Writes a plan over the one that is there. */
const replacePlan = (directory, plan) => replacePlanFile(directory, file, plan);
/** Reads the plan of an earlier process; throws a `PlanError` where there is none. */
const readPlan = (directory) => readPlanFile(directory, file, planSchema);
/** How what was cut short goes on. */
const goingOn = (directory, command) => `What was measured is in ${directory}: go on with '${command} --resume ${directory}'.`;
const hasPlan = (directory) => hasPlanFile(directory, file);

// src/experiment/cells.ts
/** Variants that were left out, in the order in which it turned out. */
const leftOutIn = (entries) => entries.flatMap((entry) => entry.kind === "rejected" && !isJudged(entry.variant) ? {
	variant: entry.variant,
	rejection: entry.rejection
} : []);
function cellsSoFar(plan, entries) {
	const byBlast = Map.groupBy(entries, numberOf);
	const out = new Set(leftOutIn(entries).map(({ variant }) => variant));
	return plan.cells.map((planned) => {
		const all = plan.blasts.filter((blast) => isSameCell(blast.cell, planned.cell)).map((blast) => triesOf$1(without(out, blast), byBlast.get(blast.number) ?? []));
		const entriesOf = (blasts) => blasts.flatMap(({ tries }) => tries);
		return {
			...planned,
			...reached(planned, all.filter(isOfVerdict)),
			blasts: all.filter(({ blast }) => blast.runs.length > 0),
			runs: entriesOf(all).flatMap((entry) => entry.kind === "measured" ? entry.runs : []),
			failures: entriesOf(all.filter(isOfVerdict)).flatMap((entry) => entry.kind === "failed" ? entry.reason : [])
		};
	});
}
const without = (out, blast) => ({
	...blast,
	runs: blast.runs.filter(({ variant }) => !out.has(variant))
});
/** Whether base or patched is in it: what is only shown beside them has no say in how many runs there are. */
const isOfVerdict = ({ blast }) => blast.runs.some(({ variant }) => isJudged(variant));
function triesOf$1(blast, tries) {
	const most = isOfVerdict({ blast }) ? mostTriesOf(tries) : 1;
	return {
		blast,
		tries,
		needed: tries.length < most && !tries.some(isWhole(blast))
	};
}
/** A sender or a receiver that was the limit twice is the limit. */
const mostTriesOf = (tries) => tries.length > 0 && tries.every(isLimited) ? 2 : 3;
const isLimited = (entry) => entry.kind === "measured" && entry.runs.filter(({ variant }) => isJudged(variant)).every(({ validity }) => validity.kind === "invalid" && limits.has(validity.cause));
const limits = /* @__PURE__ */ new Set(["generator-limited", "receiver-limited"]);
const isSameCell = (a, b) => cellName(a) === cellName(b);
/** The blast that it is of, if it is of one. */
function numberOf(entry) {
	if (entry.kind === "measured") return entry.summary.number;
	return entry.kind === "failed" ? entry.blast : void 0;
}
const isWhole = ({ runs }) => (entry) => {
	if (entry.kind !== "measured") return false;
	const pairs = pairsOf(runs);
	return pairs === 1 ? entry.runs.every((run) => run.validity.kind === "valid" && run.pps > 0) : isEnough(validPairs(entry.runs).length, pairs);
};
const pairsOf = (runs) => new Set(runs.map(({ pair }) => pair)).size;
/** The last look that has all its blasts, and those that the next one lacks; runs that stand apart come once more. */
function reached({ design, history }, blasts) {
	const earlierDegreesOfFreedom = history?.degreesOfFreedom ?? 0;
	let closedPairs = 0;
	for (const size of lookSizes({
		...design,
		earlierDegreesOfFreedom
	})) {
		const inLook = blasts.filter(({ blast }) => blast.runs.every((run) => run.pair <= size));
		if (!isEnough(size - lostPairs(inLook), size)) return {
			closedPairs: size,
			nextPairs: size,
			open: []
		};
		const missing = inLook.filter(({ needed }) => needed);
		const open = missing.length > 0 ? missing : standingApart(inLook);
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
/** Counts pairs that are lost of blasts that have one pair or a part of it, which they either give or not. */
function lostPairs(blasts) {
	const lost = blasts.filter(({ blast, tries, needed }) => pairsOf(blast.runs) === 1 && !needed && !tries.some(isWhole(blast)));
	return new Set(lost.flatMap(({ blast }) => blast.runs.map((run) => run.pair))).size;
}
/** Single runs beyond the rest of their variant, where they have been tried but once. */
function standingApart(blasts) {
	const single = blasts.flatMap((one) => {
		const run = one.tries.flatMap((entry) => entry.kind === "measured" ? entry.runs : []).find(({ validity }) => validity.kind === "valid");
		return one.blast.runs.length === 1 && run !== void 0 ? {
			one,
			run
		} : [];
	});
	const apart = new Set(runsApart(single.map(({ run }) => run)));
	return single.flatMap(({ one, run }) => apart.has(run) && one.tries.length === 1 ? one : []);
}

// src/experiment/profiles.ts
/** Takes every profile of an experiment that the journal lacks. */
const takeProfiles = (plan, world) => takeProfilesOf(world, (entries) => nextProfile(plan, entries));
/**
* Takes profiles until there is no next one. Where the testbed fails the rest are not taken: what was measured stands.
*/
async function takeProfilesOf(world, nextOf) {
	const { journal, warn } = world;
	for (;;) {
		const next = nextOf(journal.entries);
		if (next === void 0) return;
		const failure = await take(next, world);
		if (failure !== void 0) {
			warn(`no more profiles are taken: ${failure}`);
			return;
		}
	}
}
/**
* Takes those that the journal lacks of the variant that is booted, each once, as the boot is over. Where the DUT goes
* down meanwhile, and for one that is missed, there is a later boot, or the end.
*/
async function takeProfilesOfBoot(plan, world) {
	const { testbed, journal, warn } = world;
	const variant = testbed.booted();
	if (variant === void 0) return;
	for (const next of lackingOf(plan, journal.entries, measuredCells(plan, journal.entries, variant), variant)) {
		if (testbed.booted() !== variant) return;
		const failure = await take(next, world);
		if (failure !== void 0) {
			warn(`no profile is taken in this boot of ${variant}: ${failure}`);
			return;
		}
	}
}
/** Writes down what came of it; answers why where the testbed failed. */
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
const mostAttempts = 3;
/** Variant by variant, as each may have to be booted; the one that ran last comes first. */
function nextProfile(plan, entries) {
	const cells = standings(cellsSoFar(plan, entries), plan.policy).flatMap(({ judgement, stopped, input }) => judgement === void 0 || stopped ? [] : input.cell);
	return variantsInOrder(plan, entries).flatMap((variant) => lackingOf(plan, entries, cells, variant)).at(0);
}
/** A profile of the variant in each of the cells where it was not taken, nor tried often enough. */
function lackingOf({ profile }, entries, cells, variant) {
	if (profile === void 0) return [];
	return cells.flatMap((cell) => {
		const tries = triesOf(entries, cell, variant);
		return tries.length >= mostAttempts || tries.some(({ isFinal }) => isFinal) ? [] : {
			cell,
			variant,
			attempt: tries.length + 1
		};
	});
}
/** What came of each variant's profile in a cell; none where none were to be taken. */
function profilesOf$1(plan, entries, cell) {
	const isJudged = judgedCells(plan, entries).some((one) => cellName(one) === cellName(cell));
	if (plan.profile === void 0 || !isJudged) return [];
	return variantsLeft$1(plan, entries).map((variant) => profileOf(entries, cell, variant));
}
/** What came of a variant's profile in a cell. */
const profileOf = (entries, cell, variant) => triesOf(entries, cell, variant).at(-1)?.profile ?? {
	kind: "missing",
	variant,
	reason: "the experiment ended before"
};
const judgedCells = (plan, entries) => standings(cellsSoFar(plan, entries), plan.policy).flatMap(({ judgement, input }) => judgement === void 0 ? [] : input.cell);
/** Where the variant has a run that counts, and there is a verdict or will be one. */
const measuredCells = (plan, entries, variant) => standings(cellsSoFar(plan, entries), plan.policy).flatMap((standing) => {
	const { judgement, closed, stopped, input } = standing;
	return input.runs.some((run) => run.variant === variant && run.validity.kind === "valid") && !stopped && (judgement !== void 0 || !closed) ? input.cell : [];
});
function variantsLeft$1({ variants }, entries) {
	const out = new Set(leftOutIn(entries).map(({ variant }) => variant));
	return variants.map(({ variant }) => variant).filter((variant) => !out.has(variant));
}
function variantsInOrder(plan, entries) {
	const last = entries.flatMap((entry) => entry.kind === "measured" ? entry.runs : []).at(-1)?.variant;
	const left = variantsLeft$1(plan, entries);
	return [...left.filter((one) => one === last), ...left.filter((one) => one !== last)];
}
const triesOf = (entries, cell, variant) => entries.flatMap((entry) => entry.kind === "profiled" && entry.profile.variant === variant && cellName(entry.cell) === cellName(cell) ? entry : []);
/** `profiles/forwarding-inet4-base`, and `profiles/forwarding-inet4-base.2` for a second attempt. */
function folderOf({ cell, variant, attempt }) {
	const name = `${cellName(cell)}-${variant}`.replaceAll(" ", "-");
	return join("profiles", attempt === 1 ? name : `${name}.${attempt}`);
}

// src/experiment/assemble.ts
/** The result of an experiment that has ended; of one that has not, what its journal is worth so far. */
function assembleResult(plan, journal) {
	const { flows, frameBytes, offeredPps, measureSeconds } = plan.traffic;
	const started = journal.findLast((entry) => entry.kind === "started");
	const warned = journal.flatMap((entry) => entry.kind === "warned" ? entry.text : []);
	return {
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
			files: files.map(({ path, sha256 }) => ({
				path,
				sha256
			}))
		})),
		testbed: {
			name: plan.testbed,
			fingerprint: started?.fingerprint ?? {},
			warnings: [...started?.warnings ?? [], ...warned]
		},
		policy: plan.policy,
		traffic: {
			flows,
			frameBytes,
			measureSeconds,
			...offeredPps !== void 0 && { offeredPps }
		},
		seed: plan.seed,
		startedAt: journal.at(0)?.at ?? epoch,
		finishedAt: journal.at(-1)?.at ?? epoch,
		blasts: journal.flatMap((entry) => entry.kind === "measured" ? entry.summary : []),
		leftOut: leftOutIn(journal),
		outcome: outcomeOf$2(plan, journal)
	};
}
/** The result of an experiment that need not be made; `leftAlone` are places of files that count for nothing there. */
function unchangedResult(plan, leftAlone, now) {
	const at = now.toISOString();
	const outcome = {
		kind: "unchanged",
		...leftAlone.length > 0 && { leftAlone: leftAlone.slice(0, 20) }
	};
	return {
		...assembleResult(plan, []),
		startedAt: at,
		finishedAt: at,
		outcome
	};
}
const epoch = (/* @__PURE__ */ new Date(0)).toISOString();
function outcomeOf$2(plan, journal) {
	const last = journal.findLast((entry) => entry.kind !== "started" && entry.kind !== "warned" && !leavesOut(entry));
	if (last?.kind === "rejected") return last.rejection;
	const others = plan.variants.map(({ variant }) => variant).filter((name) => !isJudged(name));
	const cells = standings(cellsSoFar(plan, journal), plan.policy).map((standing) => {
		const ofBase = baseNumbers(standing.input.runs, plan.policy.metric);
		const result = cellResult(standing, plan.policy, ofBase, others);
		return {
			...result,
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

// src/experiment/arms.ts
/** Whether runs of base of the one plan tell the same as those of the other, so that both can be measured together. */
function mayShareBase(own, other) {
	const baseOf = ({ variants }) => {
		const { kernel, files } = variants.find(({ variant }) => variant === "base") ?? {};
		return {
			kernel,
			files
		};
	};
	const packets = new Set(own.cells.map(packetsOf));
	return [own, other].every(isShareable) && own.testbed === other.testbed && isDeepStrictEqual(baseOf(own), baseOf(other)) && isDeepStrictEqual(own.traffic, other.traffic) && Object.entries(other.rules).every(([name, rules]) => isDeepStrictEqual(own.rules[name], rules)) && other.cells.every((cell) => packets.has(packetsOf(cell)));
}
const packetsOf = ({ cell: { family, frameBytes } }) => `${family} ${frameBytes}`;
/** Base and patched alone, each run a blast of its own, and of one link of each kernel. */
const isShareable = ({ variants, blasts }) => variants.length === 2 && blasts.every(({ runs }) => runs.length === 1 && runs[0]?.link === void 0);
/**
* The next run. One that needs no other boot comes first, then the patched kernel of the first claim that has its turn with
* it, and base is booted when all lack it. Its run is for everyone who lacks one in that cell for the pair that it is at, so
* that k arms take k + 1 boots a pair, and not 2 k. A claim that is alone goes through its blasts in their order.
*/
function nextTurn(claims, boot) {
	const due = claims.flatMap((claim) => dueOf(claim, claims.length > 1).map((next) => ({
		arm: claim.arm,
		next
	})));
	const isSame = (one) => boot !== void 0 && sharesBoot(one, boot);
	const turn = due.find(isSame) ?? due.find((one) => variantOf(one) !== "base") ?? due[0];
	if (turn === void 0) return void 0;
	const isSameBoot = isSame(turn);
	const variant = variantOf(turn);
	return {
		variant,
		served: [turn, ...due.filter((one) => one.arm !== turn.arm && variant === "base" && variantOf(one) === "base" && cellName(one.next.blast.cell) === cellName(turn.next.blast.cell) && (!isSameBoot || isSame(one)))],
		isSameBoot
	};
}
/** The next blast of an arm, and the runs of base that it lacks for the same pair and has tried as often. */
function dueOf({ open }, isTogether) {
	const [first] = open;
	if (first === void 0) return [];
	const further = open.filter((one) => one !== first && runOf(one.blast)?.variant === "base" && runOf(one.blast)?.pair === runOf(first.blast)?.pair && one.tries.length === first.tries.length);
	return isTogether ? [first, ...further] : [first];
}
function sharesBoot({ arm, next }, boot) {
	if (variantOf({
		arm,
		next
	}) !== boot.variant) return false;
	const known = boot.pairs.get(arm);
	return known === void 0 ? boot.variant === "base" : known === runOf(next.blast)?.pair;
}
/** Blasts have one run each where a testbed boots its variants. */
const runOf = ({ runs: [run] }) => run;
function variantOf({ arm, next }) {
	const variant = runOf(next.blast)?.variant ?? "";
	return variant === "patched" ? arm.name : variant;
}
function sharedBoots({ blasts }) {
	let boot;
	let isShared = false;
	let boots = Math.max(...blasts.map((blast) => runOf(blast)?.pair ?? 0));
	let sent = Math.max(...blasts.map(({ number }) => number));
	/** A blast that is sent again in the same boot has the same number. */
	const numbers = /* @__PURE__ */ new Map();
	return {
		running: () => boot,
		end() {
			boot = void 0;
		},
		share() {
			isShared = true;
		},
		planned({ variant, served, isSameBoot }) {
			const [{ next }] = served;
			const { blast } = next;
			if (boot === void 0 || !isSameBoot) boot = {
				variant,
				number: isShared ? ++boots : runOf(blast)?.pair ?? 0,
				pairs: /* @__PURE__ */ new Map()
			};
			for (const { arm, next } of served) boot.pairs.set(arm, runOf(next.blast)?.pair ?? 0);
			if (!isShared) return blast;
			const key = `${boot.number} ${cellName(blast.cell)}`;
			const number = numbers.get(key) ?? ++sent;
			numbers.set(key, number);
			return {
				number,
				cell: blast.cell,
				runs: [{
					number,
					variant,
					pair: boot.number
				}]
			};
		}
	};
}
/** What the testbed says of an arm, in which that is `patched` as in its own plan. */
const inWordsOf = ({ name }, text) => name === "patched" ? text : text.replaceAll(wholeWords(name), "patched");
/** Also where the name is a part of a path. An `armName` has no character that means something else. */
const wholeWords = (name) => new RegExp(`\\b${name.replaceAll(" ", "[ -]")}\\b`, "g");
/** The words of an arm for all that is told of why nothing can be measured with its kernel. */
function rejectionOf(arm, rejection) {
	const console = "console" in rejection ? rejection.console : void 0;
	return {
		...rejection,
		message: inWordsOf(arm, rejection.message),
		...console !== void 0 && { console: inWordsOf(arm, console) }
	};
}
/** Whom a text of the testbed concerns: those that it names, and all where it names none. */
function heardBy(text, arms) {
	const others = arms.filter(({ name }) => name !== "patched");
	const named = others.filter(({ name }) => wholeWords(name).test(text));
	if (named.length > 0) return named;
	return wholeWords("patched").test(text) ? arms.filter((arm) => !others.includes(arm)) : arms;
}
/** Whose kernel the log of a build is of, and what it is called in that one's own folder; undefined where it is of no other's. */
function buildLogOf(file, arms) {
	const arm = arms.find(({ name }) => isArmName(name) && file.startsWith(`${pathName(name)}-`));
	return arm && {
		arm,
		name: file.replace(pathName(arm.name), "patched")
	};
}
/** The testbed as an arm would see it alone, for its profiles. */
function testbedOf(arm, testbed) {
	if (arm.name === "patched") return testbed;
	return {
		...testbed,
		booted() {
			const variant = testbed.booted();
			if (variant === arm.name) return "patched";
			return variant === "base" ? variant : void 0;
		},
		async profile(request, keepLog, signal) {
			const variant = request.variant === "patched" ? arm.name : request.variant;
			const outcome = await testbed.profile({
				...request,
				variant
			}, keepLog, signal);
			return outcome.kind === "profiled" ? outcome : {
				...outcome,
				reason: inWordsOf(arm, outcome.reason)
			};
		}
	};
}

// src/experiment/experiment.ts
/**
* Runs every blast that the journal lacks; ends early when nothing can be measured with patched. Any other variant of
* which that is so is left out from then on. Whoever has come beside is served to the end as well, and what goes wrong
* there leaves the own patch alone; what goes wrong once that has ended is told and not thrown. Answers the whole journal.
*/
async function runExperiment(options) {
	const { directory, plan, testbed, now, onEvent, signal, company } = options;
	const journal = await openJournal(journalIn(directory));
	const at = () => now().toISOString();
	const own = {
		name: "patched",
		plan,
		journal,
		onEvent,
		signal,
		keepLogIn: (folder) => keepLogIn(directory, folder)
	};
	/** Arms that are measured: who has waited longest since it came, or its patched kernel was booted, comes first. */
	let aboard = [own];
	let isPrepared = false;
	let isOwnEndTold = false;
	const boots = sharedBoots(plan);
	const base = plan.variants.find(({ variant }) => variant === "base");
	const told = /* @__PURE__ */ new Set();
	try {
		onEvent({
			kind: "planned",
			plan
		});
		const inspection = await testbed.inspect(cellsOf([plan]));
		await begin(own, inspection);
		while (aboard.length > 0) {
			await welcome(inspection);
			await tellOwnEnd();
			signal.throwIfAborted();
			aboard.filter((arm) => arm.signal.aborted).forEach(leave);
			if (!isPrepared) await prepare();
			signal.throwIfAborted();
			const turn = nextTurn(claims(), boots.running());
			const isBootOver = turn?.isSameBoot !== true;
			if (isBootOver && turn !== void 0 && boots.running() !== void 0) for (const arm of aboard) await guarded(arm, () => takeProfilesOfBoot(arm.plan, profilesWorld(arm)));
			if (isBootOver) boots.end();
			await endThoseDone(isBootOver);
			if (turn !== void 0 && isPrepared) await measure(turn);
		}
		return journal.entries;
	} catch (error) {
		if (aboard.includes(own)) throw error;
		onEvent({
			kind: "told",
			text: `The others are measured no more: ${reasonOf(error)}`
		});
		return journal.entries;
	} finally {
		await journal.close();
	}
	async function begin({ journal, onEvent }, inspection) {
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
	async function welcome(inspection) {
		if (company === void 0 || !lacksSomething(own)) return;
		const come = await company.joined().catch((error) => {
			onEvent({
				kind: "told",
				text: `Nobody else is measured beside: ${reasonOf(error)}`
			});
			return [];
		});
		for (const arm of come) {
			if (!(isArmName(arm.name) && aboard.every(({ name }) => name !== arm.name)) || !mayShareBase(plan, arm.plan)) {
				onEvent({
					kind: "told",
					text: `${arm.name} cannot be measured beside this patch.`
				});
				continue;
			}
			boots.share();
			aboard = [...aboard, arm];
			isPrepared = false;
			await guarded(arm, async () => {
				arm.onEvent({
					kind: "planned",
					plan: arm.plan
				});
				await begin(arm, inspection);
			});
		}
	}
	async function tellOwnEnd() {
		if (isOwnEndTold || aboard.includes(own)) return;
		isOwnEndTold = true;
		await company?.ownEnded?.(journal.entries);
	}
	/** Asked again without what is rejected. */
	async function prepare() {
		while (!isPrepared && aboard.length > 0) {
			signal.throwIfAborted();
			isPrepared = true;
			const prepared = await testbed.prepare({
				variants: variantsOf$1(base, aboard),
				rules: Object.assign({}, ...aboard.map((arm) => arm.plan.rules)),
				cells: cellsOf(aboard.map((arm) => arm.plan)),
				keepLog: keepBuildLog,
				tell,
				signal
			});
			if (prepared.kind === "ready") return;
			isPrepared = false;
			await reject(prepared);
		}
	}
	async function keepBuildLog(name, content) {
		const { arm, name: ownName } = buildLogOf(name, aboard) ?? {
			arm: own,
			name
		};
		await guarded(arm, () => arm.keepLogIn("builds")(ownName, content));
	}
	function tell(text) {
		for (const arm of heardBy(text, aboard)) {
			const event = {
				kind: "preparing",
				text: inWordsOf(arm, text)
			};
			if (arm === own) onEvent(event);
			else guarded(arm, () => arm.onEvent(event)).catch(() => {});
		}
	}
	/** Nobody waits for the kernel of another while there is something to measure. */
	function claims() {
		const lacking = aboard.map((arm) => ({
			arm,
			open: openIn(arm.plan, arm.journal.entries).open
		})).filter(({ open }) => open.length > 0);
		const built = testbed.ready();
		const ready = lacking.filter(({ arm }) => built.has(arm.name));
		return ready.length > 0 ? ready : lacking;
	}
	function lacksSomething(arm) {
		return aboard.includes(arm) && openIn(arm.plan, arm.journal.entries).open.length > 0;
	}
	/** One whose profiles are taken waits with that for the end of a boot, which others may need yet. */
	async function endThoseDone(isBootOver) {
		for (const arm of aboard) {
			const isWaiting = arm.plan.profile !== void 0 && !isBootOver;
			if (lacksSomething(arm) || isWaiting) continue;
			await guarded(arm, async () => {
				await takeProfiles(arm.plan, profilesWorld(arm));
				await arm.journal.append({
					kind: "finished",
					at: at()
				});
			});
			leave(arm);
		}
	}
	async function measure(turn) {
		const { variant, isSameBoot, served } = turn;
		const [{ arm: first }] = served;
		if (variant === first.name && !isSameBoot) aboard = [...aboard.filter((one) => one !== first), first];
		const tries = served.map(({ arm, next }) => {
			const { cells } = openIn(arm.plan, arm.journal.entries);
			const blast = announcedAs(cells, next);
			return {
				arm,
				...blast,
				logs: join("blasts", logFolder(blast.blast, blast.attempt))
			};
		});
		for (const { arm, logs: _, ...next } of tries) await guarded(arm, () => arm.onEvent({
			kind: "blast",
			...next
		}));
		const keepLog = async (name, content) => {
			for (const { arm, logs } of tries) await guarded(arm, () => arm.keepLogIn(logs)(name, content));
		};
		const outcome = await testbed.blast(boots.planned(turn), keepLog, signal);
		for (const { arm } of tries) for (const warning of outcome.warnings ?? []) {
			const text = inWordsOf(arm, warning);
			await guarded(arm, async () => {
				await arm.journal.append({
					kind: "warned",
					at: at(),
					text
				});
				arm.onEvent({
					kind: "warning",
					text
				});
			});
		}
		if (outcome.kind === "rejected") return reject(outcome);
		for (const { arm, blast, attempt, logs } of tries) {
			const isShared = arm !== first;
			const entry = outcome.kind === "measured" ? {
				kind: "measured",
				at: at(),
				...measuredAs(blast, outcome, {
					attempt,
					logs,
					isShared
				})
			} : {
				kind: "failed",
				at: at(),
				blast: blast.number,
				reason: inWordsOf(arm, outcome.reason)
			};
			await guarded(arm, async () => {
				await arm.journal.append(entry);
				arm.onEvent({
					kind: "ended",
					blast,
					entry
				});
				tellDecided(arm);
			});
		}
	}
	function tellDecided({ name, plan, journal, onEvent }) {
		for (const decided of closedCells(plan, journal.entries)) {
			const key = `${name}: ${cellName(decided.cell)}`;
			if (!told.has(key)) onEvent({
				kind: "decided",
				...decided
			});
			told.add(key);
		}
	}
	async function reject({ variant, rejection }) {
		if (variant === "base") throw new BaseRejectedError(rejection);
		const arm = aboard.find(({ name }) => name === variant);
		if (arm !== void 0) {
			const entry = {
				kind: "rejected",
				at: at(),
				variant: "patched",
				rejection: rejectionOf(arm, rejection)
			};
			await guarded(arm, () => arm.journal.append(entry));
			leave(arm);
		} else if (!isArmName(variant)) {
			await journal.append({
				kind: "rejected",
				at: at(),
				variant,
				rejection
			});
			const text = `${variant} ${faults[rejection.kind]} and is left out: ${reasonOf(rejection.message)}`;
			onEvent({
				kind: "warning",
				text
			});
		}
	}
	function profilesWorld(arm) {
		return {
			profile: arm.plan.profile,
			testbed: testbedOf(arm, testbed),
			journal: arm.journal,
			at,
			signal,
			keepLogIn: (folder) => (name, content) => guarded(arm, () => arm.keepLogIn(folder)(name, content)),
			onNext(next) {
				arm.signal.throwIfAborted();
				arm.onEvent({
					kind: "profile",
					...next
				});
			},
			warn: (text) => arm.onEvent({
				kind: "warning",
				text: inWordsOf(arm, text)
			})
		};
	}
	/** Another patch than the own is left out where its process cannot take what it is given. */
	async function guarded(arm, work) {
		if (!aboard.includes(arm)) return;
		try {
			await work();
		} catch (error) {
			if (arm === own || signal.aborted) throw error;
			leave(arm);
			onEvent({
				kind: "told",
				text: `${arm.name} is measured no more: ${reasonOf(error)}`
			});
		}
	}
	function leave(arm) {
		aboard = aboard.filter((one) => one !== arm);
		isPrepared = false;
	}
}
/** What a testbed measured, as an arm's own blast. */
const measuredAs = ({ number, runs: planned }, { summary, runs }, { attempt, logs, isShared }) => ({
	summary: {
		...summary,
		number,
		attempt,
		logs,
		...isShared && { isShared: true }
	},
	runs: runs.map((run) => ({
		...run,
		...planned.length === 1 && planned[0],
		blast: number,
		attempt
	}))
});
/** One base for all, and of each arm the others that are left. */
function variantsOf$1(base, aboard) {
	const others = aboard.flatMap(({ name, plan, journal }) => variantsLeft(plan, journal.entries).filter(({ variant }) => variant !== "base").map((one) => one.variant === "patched" ? {
		...one,
		variant: name
	} : one));
	return [...base ? [base] : [], ...others];
}
/** Each once. */
const cellsOf = (plans) => {
	const cells = plans.flatMap((plan) => plan.cells.map(({ cell }) => cell));
	return [...new Map(cells.map((cell) => [cellName(cell), cell])).values()];
};
function variantsLeft({ variants }, entries) {
	const out = new Set(leftOutIn(entries).map(({ variant }) => variant));
	return variants.filter(({ variant }) => !out.has(variant));
}
/** Nothing can be said of a patch whose base does not work. */
var BaseRejectedError = class extends Error {
	name = "BaseRejectedError";
	constructor(rejection) {
		super(`The base itself ${faults[rejection.kind]}, so nothing was measured: ${whyRejected(rejection)}`);
	}
};
/** The message of a rejection, with what the kernel died of. */
function whyRejected(rejection) {
	const { message } = rejection;
	const panic = "panic" in rejection && rejection.panic ? ` It panicked: ${rejection.panic}.` : "";
	const shown = "console" in rejection ? lastLine(rejection.console ?? "") : void 0;
	return `${message}${panic}${panic || !shown ? "" : ` The last on its console: "${shortened(shown)}".`}`;
}
/** What is the matter with a variant, after its name: `does not boot: …`. */
const rejectionText = (rejection) => `${faults[rejection.kind]}: ${whyRejected(rejection)}`;
const faults = {
	"does-not-apply": "does not apply",
	"build-failed": "does not build",
	"out-of-disk": "finds no room",
	"does-not-load": "does not load",
	"boot-failed": "does not boot",
	"panics-under-load": "panics under load"
};
/**
* The next blast that an undecided cell needs for its next look, or that is lacking beside what decided a cell; one that
* failed comes again after all others. Nothing but the journal decides, so a resumed experiment goes the same way.
*/
function nextBlast(plan, entries) {
	const { cells, open } = openIn(plan, entries);
	const [next] = open;
	return next === void 0 ? void 0 : announcedAs(cells, next);
}
/** All that is lacking by then, the next one first. */
function openIn(plan, entries) {
	const cells = standings(cellsSoFar(plan, entries), plan.policy);
	return {
		cells,
		open: cells.flatMap(openBlasts).toSorted((a, b) => a.tries.length - b.tries.length || a.blast.number - b.blast.number)
	};
}
const announcedAs = (cells, { blast, tries }) => ({
	blast,
	attempt: tries.length + 1,
	...blastCount(cells),
	...whyAgain(tries)
});
function whyAgain(tries) {
	const last = tries.at(-1);
	if (last?.kind === "failed") return { why: last.reason };
	if (last?.kind !== "measured") return {};
	const faults = last.runs.flatMap(({ validity }) => validity.kind === "invalid" ? validity.reason : []);
	const [fault] = faults;
	const silent = last.runs.find(({ pps }) => pps === 0);
	if (fault === void 0) return { why: silent ? `${silent.variant} forwarded nothing` : "it stood apart from the others" };
	return { why: `${faults.length} of ${last.runs.length} runs do not count: ${fault}` };
}
/** When nothing was left to do; undefined where something is. */
function finishedAt(plan, entries) {
	const last = entries.at(-1);
	return last?.kind === "finished" && nextBlast(plan, entries) === void 0 ? last.at : void 0;
}
/** Other variants are measured in as many pairs as patched is, and no more. */
function openBlasts({ input, judgement, closed, stopped }) {
	if (stopped) return [];
	const pairs = closed ? judgement?.look.pairs ?? 0 : input.nextPairs;
	const beside = input.blasts.filter((one) => one.needed && !isOfVerdict(one) && one.blast.runs.every((run) => run.pair <= pairs));
	return closed ? beside : [...input.open, ...beside];
}
function closedCells(plan, entries) {
	return standings(cellsSoFar(plan, entries), plan.policy).filter((one) => one.closed && openBlasts(one).length === 0).map((standing) => ({
		cell: standing.input.cell,
		verdict: cellVerdict(standing, plan.policy),
		counts: runCounts({
			...standing.input,
			pairs: standing.judgement?.look.pairs ?? standing.input.closedPairs
		}, plan.policy.metric)
	}));
}
/** How many blasts were measured, and how many there will be at most. */
function blastCount(cells) {
	const blasts = cells.flatMap((cell) => {
		const due = new Set(openBlasts(cell));
		const open = /* @__PURE__ */ new Set([...cell.input.open, ...due]);
		return cell.input.blasts.map((one) => {
			const isDone = !open.has(one) && one.tries.some(({ kind }) => kind === "measured");
			return {
				isDone,
				isAhead: (cell.closed ? due.has(one) : isOfVerdict(one) || one.needed) && !isDone
			};
		});
	});
	const done = blasts.filter(({ isDone }) => isDone).length;
	return {
		done,
		of: done + blasts.filter(({ isAhead }) => isAhead).length
	};
}
/** `003-forwarding-inet4`, and `003-forwarding-inet4.2` for a second attempt. */
function logFolder(blast, attempt) {
	const name = `${String(blast.number).padStart(3, "0")}-${cellName(blast.cell).replaceAll(" ", "-")}`;
	return attempt === 1 ? name : `${name}.${attempt}`;
}
/** What keeps logs in a folder of the work directory. */
function keepLogIn(directory, folder) {
	return async (name, content) => {
		await mkdir(join(directory, folder), { recursive: true });
		await writeFile(join(directory, folder, name), content);
	};
}

// src/experiment/passenger.ts
const offerSchema = object({
	plan: planSchema,
	entries: array(entrySchema)
});
/** Throws where the text is none. */
const readOffer = (text) => offerSchema.parse(JSON.parse(text));
/**
* A name for what plans have in common that may be measured together, as `mayShareBase` has it; undefined for one that is
* measured by itself.
*/
function baseOf(plan) {
	const base = plan.variants.find(({ variant }) => variant === "base")?.kernel;
	if (base === void 0 || !mayShareBase(plan, plan)) return void 0;
	const { testbed, traffic, rules } = planSchema.parse(plan);
	const cells = plan.cells.map(({ cell }) => cellName(cell)).toSorted();
	const common = [
		version,
		testbed,
		contentOf(base),
		cells,
		traffic,
		rules
	];
	return createHash("sha256").update(JSON.stringify(common)).digest("hex");
}
const contentOf = (kernel) => kernel.kind === "tree" ? kernel.baseCommit : `${kernel.sha256} ${kernel.path}`;
/** Files of a machine are none for others. */
const isOfOneMachine = ({ variants }) => variants.some(({ kernel }) => kernel?.kind === "archive");
const parcelSchema = discriminatedUnion("kind", [object({
	kind: literal("entry"),
	entry: entrySchema
}), object({
	kind: literal("log"),
	/** Below the work directory. */
	folder: string(),
	name: string(),
	/** A part of it, compressed, in base64. */
	piece: base64(),
	isLast: boolean()
})]);
const packed = (parcel) => JSON.stringify(parcel);
const packedEntry = (entry) => packed({
	kind: "entry",
	entry
});
/** The most characters of a piece, so that etcd takes it in one request. */
const mostPieceCharacters = 2 ** 19;
function packedLog(folder, name, content) {
	const text = gzipSync(content).toString("base64");
	const pieces = Math.ceil(text.length / mostPieceCharacters);
	return Array.from({ length: pieces }, (_, index) => {
		const [from, isLast] = [index * mostPieceCharacters, index === pieces - 1];
		const piece = text.slice(from, from + mostPieceCharacters);
		return packed({
			kind: "log",
			folder,
			name,
			piece,
			isLast
		});
	});
}
/** The most bytes of a log: what is kept of a generator, and more than any other log has. */
const mostLogBytes = 2 ** 26;
/** Keeps what is measured in the work directory, as if this process had. */
async function gatePassenger(options) {
	const { directory, testbeds, planOn, begin, onEvent } = options;
	const pieces = /* @__PURE__ */ new Map();
	const plans = await Promise.all(testbeds.map(planOn));
	let plan;
	let entries = await readJournal(journalIn(directory));
	if (await hasPlan(directory)) [plan] = plans;
	return {
		/** That a part of it was measured on already. */
		boundTo: () => plan?.testbed,
		/** Offers by testbed; none where the patch is to be measured by itself. */
		offers(isFarAway) {
			return new Map((plan === void 0 ? plans : [plan]).flatMap((one) => {
				const base = baseOf(one);
				if (base === void 0 || isFarAway && isOfOneMachine(one)) return [];
				const offer = {
					plan: one,
					entries
				};
				return [[one.testbed, {
					base,
					text: JSON.stringify(offer)
				}]];
			}));
		},
		async boarded(testbed, by) {
			plan = await begin(testbed);
			const whose = plainLine(by.patch === void 0 ? by.who : `${by.who} (${by.patch})`, 120);
			onEvent({
				kind: "told",
				text: `This patch is measured on ${testbed} by ${whose}, together with its own.`
			});
			onEvent({
				kind: "planned",
				plan
			});
		},
		/** Answers whether nothing is lacking any more. */
		async receive(item) {
			const parcel = parcelSchema.parse(JSON.parse(item));
			if (parcel.kind === "log") {
				const { folder, name, piece, isLast } = parcel;
				requirePath(folder, name);
				const path = `${folder}/${name}`;
				const text = (pieces.get(path) ?? "") + piece;
				pieces.set(path, text);
				if (!isLast) return false;
				pieces.delete(path);
				await keepLogIn(directory, folder)(name, gunzipSync(Buffer.from(text, "base64"), { maxOutputLength: mostLogBytes }));
				return false;
			}
			const { entry } = parcel;
			await using journal = await openedJournal(directory);
			await journal.append(entry);
			entries = journal.entries;
			const blast = plan?.blasts.find(({ number }) => number === numberOf(entry));
			if (blast !== void 0) onEvent({
				kind: "ended",
				blast,
				entry
			});
			return isEnd(entry);
		}
	};
}
async function openedJournal(directory) {
	const journal = await openJournal(journalIn(directory));
	return {
		...journal,
		[Symbol.asyncDispose]: () => journal.close()
	};
}
/** Nothing comes after it. */
const isEnd = (entry) => entry.kind === "finished" || entry.kind === "rejected" && isJudged(entry.variant);
/** What another process names is a path below the work directory, and nothing else. */
function requirePath(folder, name) {
	if ([...folder.split("/"), name].every((part) => /^\w[\w.-]*$/.test(part))) return;
	throw new RangeError("Whoever measured has sent a log with a name that is no path below here.");
}

// src/experiment/outlook.ts
/** Parts of a gate's time, in the order in which people are told. */
const parts = [
	"building",
	"booting",
	"traffic",
	"settling",
	"profiles",
	"givingBack"
];
/** The noise that many cells have, taken for one of which nothing is known; docs/virtual.md has that of guests. */
const assumedNoiseRatios = {
	pps: .01,
	nsPerPacket: .01,
	instructionsPerPacket: .002
};
/** Always the same for the same plan; the minutes are those of the testbed alone, without the wait for it. */
function outlookOf(outlined) {
	const { policy, cells } = outlined;
	const known = cells.map((planned) => {
		const assumed = assumedNoiseRatios[policy.metric];
		return {
			planned,
			expected: forecast(planned, policy, cells.length, assumed)
		};
	});
	const course = (of) => courseOf(outlined, known.map(({ planned, expected }) => ({
		planned,
		pairs: (expected?.[`runsIf${of}`] ?? leastRuns(planned)) / 2,
		mostPairs: (expected?.[`mostRunsIf${of}`] ?? leastRuns(planned)) / 2
	})));
	return {
		cells: known.map(({ planned, expected }) => cellOutlook(planned, expected)),
		ifUnchanged: course("Unchanged"),
		ifLost: course("Lost")
	};
}
function cellOutlook(planned, expected) {
	const { cell, design } = planned;
	const mostRuns = 2 * (design.budgets.at(-1) ?? 0);
	if (expected === void 0) {
		const least = leastRuns(planned);
		return {
			cell,
			basis: "least",
			runsIfUnchanged: least,
			runsIfLost: least,
			mostRuns
		};
	}
	const { noiseRatio, runsIfUnchanged, runsIfLost, reachableMarginRatio, isAssumed } = expected;
	return {
		cell,
		noiseRatio,
		basis: isAssumed ? "assumed" : "history",
		runsIfUnchanged,
		runsIfLost,
		mostRuns,
		reachableMarginRatio
	};
}
/** Runs of both variants for the first look. */
const leastRuns = ({ design, history }) => 2 * (lookSizes({
	...design,
	earlierDegreesOfFreedom: history?.degreesOfFreedom ?? 0
})[0] ?? 0);
/** A boot serves all cells, and so many are needed as the slowest cell takes. */
function courseOf({ traffic, profile, variants, times }, cells) {
	const isShared = traffic.runsPerBlast > 1;
	const blasts = sum(cells.map(({ planned, pairs }) => isShared ? pairs / planned.design.pairsPerStep : pairs * variants));
	const boots = times.bootSeconds === 0 || isShared ? 0 : variants * Math.max(...cells.map(({ mostPairs }) => mostPairs));
	const besideSeconds = times.blastSeconds - times.trafficSeconds;
	const profiles = profile === void 0 ? 0 : cells.length * variants;
	const seconds = {
		building: times.buildSeconds,
		booting: boots * times.bootSeconds,
		traffic: blasts * times.trafficSeconds,
		settling: blasts * besideSeconds,
		profiles: profiles * ((profile?.seconds ?? 0) + besideSeconds),
		givingBack: boots === 0 ? 0 : times.bootSeconds
	};
	return {
		boots,
		blasts,
		seconds,
		totalSeconds: sum(Object.values(seconds))
	};
}
/** Both courses in one line for people, and what that rests on. */
function outlookLine({ cells, ifUnchanged, ifLost }, { policy, times }) {
	const { boots, blasts, totalSeconds } = ifUnchanged;
	const isLeast = cells.some(({ basis }) => basis === "least");
	const isAssumed = cells.some(({ basis }) => basis === "assumed");
	const least = isLeast ? `at least ${roughly(totalSeconds)}` : expectedly(totalSeconds);
	const many = [...boots > 0 ? [`${Math.round(boots)} boots`] : [], `${Math.round(blasts)} blasts`];
	const lost = `${roughly(ifLost.totalSeconds)} if ${formatPercent(policy.marginRatio)} is`;
	const noise = `, as if unknown runs differed by ${formatPercent(assumedNoiseRatios[policy.metric])}`;
	return `${least} if nothing is lost (${many.join(" and ")}), ${lost}; ${basisText(times)}${isAssumed ? noise : ""}`;
}
/** `as the last 6 gates here took`. */
function basisText({ gates }) {
	if (gates === 0) return "by what such testbeds usually take, as no gate here has told yet";
	return gates === 1 ? "as the last gate here took" : `as the last ${gates} gates here took`;
}
const sum = (values) => values.reduce((total, value) => total + value, 0);
/** What would make it shorter, what saves most first. */
function shorterWays(outlined) {
	const now = outlookOf(outlined);
	return ways.flatMap((way) => way(outlined, now)).map(({ how, instead }) => ({
		how,
		savedSeconds: now.ifUnchanged.totalSeconds - outlookOf({
			...outlined,
			...instead
		}).ifUnchanged.totalSeconds
	})).filter(({ savedSeconds }) => savedSeconds >= leastSaved * now.ifUnchanged.totalSeconds).toSorted((a, b) => b.savedSeconds - a.savedSeconds);
}
/** Less is not worth a line. */
const leastSaved = .03;
/** Each is tried by what the same forecast says of it; a new way to be shorter is another of them. */
const ways = [
	function withHistory({ cells, policy }) {
		const noiseRatio = assumedNoiseRatios[policy.metric];
		const isKnown = ({ history }) => (history?.runs ?? 0) >= historyRuns;
		if (cells.every((cell) => isKnown(cell) || cell.design.method === "paired")) return [];
		return [{
			how: `${historyRuns} earlier runs of each cell: the next gates have them from this one, or after a night or \`ppsgate testbeds rehearse\``,
			instead: { cells: cells.map((cell) => isKnown(cell) ? cell : known(cell, noiseRatio)) }
		}];
	},
	function withoutNoisiest({ cells }, now) {
		const noise = (one) => one.basis === "history" ? one.noiseRatio ?? 0 : 0;
		const [noisiest] = now.cells.toSorted((a, b) => noise(b) - noise(a));
		if (noisiest === void 0 || noise(noisiest) === 0 || cells.length < 2) return [];
		const name = cellName(noisiest.cell);
		return [{
			how: `without ${name}, the noisiest cell with ${formatPercent(noise(noisiest))}: --scenarios, --families, or see what disturbs it`,
			instead: { cells: cells.filter(({ cell }) => cellName(cell) !== name) }
		}];
	},
	function oneCell({ cells }, now) {
		const [quickest] = now.cells.toSorted((a, b) => a.runsIfUnchanged - b.runsIfUnchanged);
		const only = cells.find(({ cell }) => cell === quickest?.cell);
		if (only === void 0 || cells.length < 2) return [];
		return [{
			how: `${cellName(only.cell)} alone: --scenarios ${only.cell.scenario} --families ${only.cell.family}`,
			instead: { cells: [only] }
		}];
	},
	function widerMargin({ policy }) {
		const marginRatio = 2 * policy.marginRatio;
		if (marginRatio >= .5) return [];
		return [{
			how: `a margin of ${formatPercent(marginRatio)}: --margin ${formatPercent(marginRatio).replace(" ", "")}`,
			instead: { policy: {
				...policy,
				marginRatio
			} }
		}];
	},
	function splitOver({ cells, policy, alike = 1 }) {
		const parts = Math.min(alike, cells.length);
		if (parts < 2) return [];
		const own = cells.slice(0, Math.ceil(cells.length / parts));
		const falseAlarmRatio = policy.falseAlarmRatio * own.length / cells.length;
		return [{
			how: `cells split over ${parts} testbeds that are the same: --split`,
			instead: {
				cells: own,
				policy: {
					...policy,
					falseAlarmRatio
				}
			}
		}];
	},
	function together({ isAlone, times }) {
		if (!isAlone || times.bootSeconds === 0) return [];
		const of = (seconds) => seconds * 3 / 4;
		const { bootSeconds, blastSeconds, trafficSeconds } = times;
		const each = {
			bootSeconds: of(bootSeconds),
			blastSeconds: of(blastSeconds),
			trafficSeconds: of(trafficSeconds)
		};
		return [{
			how: "a second patch of the same base measured with it, each: `reservations: { batch: 2 }`",
			instead: { times: {
				...times,
				...each
			} }
		}];
	},
	function withoutProfiles({ profile }) {
		return profile === void 0 ? [] : [{
			how: "no profiles: --profile off",
			instead: { profile: void 0 }
		}];
	},
	function fromCache({ times }) {
		return [{
			how: "kernels that the builder has: of a base that was gated before, or the same patch",
			instead: { times: {
				...times,
				buildSeconds: 0
			} }
		}];
	}
];
const historyRuns = 10;
/** The cell as such a history would have it judged; a design that is configured is not told from the usual one. */
function known({ design, history, ...cell }, assumedNoiseRatio) {
	const degreesOfFreedom = 9;
	const variance = history === void 0 || history.degreesOfFreedom === 0 ? assumedNoiseRatio ** 2 : history.sumOfSquares / history.degreesOfFreedom;
	return {
		...cell,
		design: {
			...design,
			name: design.name === "fixed" ? "fixed" : "glr"
		},
		history: {
			runs: historyRuns,
			typical: history?.typical ?? 1,
			typicalRuns: historyRuns,
			sumOfSquares: variance * degreesOfFreedom,
			degreesOfFreedom
		}
	};
}

// src/experiment/parts.ts
/** The cells of each of so many parts, at most as many as there are cells: numbers of cells differ by one at most. */
const dealt = (cells, parts) => Array.from({ length: Math.min(parts, cells.length) }, (_, part) => cells.filter((_, index) => index % parts === part));
/**
* What a part of the cells is held to. Each has a share of the false alarms by its cells, so that all together have what
* is promised of the patch (Boole's inequality); misses are promised of each cell.
*/
const shareOf = (config, own, of) => ({
	...config,
	gate: {
		...config.gate,
		falseAlarmRatio: config.gate.falseAlarmRatio * own / of
	}
});
/**
* The result of all parts, at least one, as of one experiment; nothing in it compares one testbed with another. A patch
* that cannot run is that wherever it turned out.
*
* @param cells all that was asked for, in their order
*/
function together(parts, policy, cells) {
	const results = parts.map(({ result }) => result);
	const [first] = results;
	if (first === void 0) throw new TypeError("There is no part to put together.");
	const { fingerprint } = first.testbed;
	const isShared = ([name, value]) => results.every(({ testbed }) => testbed.fingerprint[name] === value);
	const order = cells.map(cellName);
	const place = ({ cell }) => order.indexOf(cellName(cell));
	return {
		...first,
		isSplit: true,
		policy,
		testbed: {
			name: results.map(({ testbed }) => testbed.name).join(" and "),
			fingerprint: Object.fromEntries(Object.entries(fingerprint).filter(isShared)),
			warnings: results.flatMap(({ testbed }) => testbed.warnings.map((warning) => `${testbed.name}: ${warning}`))
		},
		startedAt: results.map(({ startedAt }) => startedAt).toSorted()[0] ?? first.startedAt,
		finishedAt: results.map(({ finishedAt }) => finishedAt).toSorted().at(-1) ?? first.finishedAt,
		blasts: parts.flatMap(({ result, folder }) => result.blasts.map((blast) => ({
			...blast,
			logs: below(folder, blast.logs)
		}))),
		leftOut: [...new Map(results.flatMap(({ leftOut }) => leftOut).map((one) => [one.variant, one])).values()],
		outcome: outcomeOf$1(parts, (all) => all.toSorted((a, b) => place(a) - place(b)))
	};
}
function outcomeOf$1(parts, ordered) {
	const cells = ordered(parts.flatMap(({ result: { outcome }, folder }) => outcome.kind === "judged" ? outcome.cells.map((cell) => movedBelow(folder, cell)) : []));
	const verdict = worstVerdict(cells);
	const others = parts.map(({ result }) => result).filter(({ outcome }) => outcome.kind !== "judged");
	return (others.find((result) => upshotOfResult(result) === "patchAtFault") ?? (verdict === "regression" ? void 0 : others[0]))?.outcome ?? {
		kind: "judged",
		verdict,
		cells
	};
}
const movedBelow = (folder, cell) => ({
	...cell,
	profiles: cell.profiles.map((profile) => profile.kind === "profiled" ? {
		...profile,
		file: below(folder, profile.file)
	} : profile)
});
const below = (folder, path) => folder === "" ? path : `${folder}/${path}`;

// src/experiment/recompute.ts
/**
* The same result, with the policy, cells, designs and traffic of the configuration and all that follows from the runs
* under these. What earlier experiments told of a cell's noise is taken for numbers, as the runs are; so is that a cell
* is invalid, which lets nothing pass. The profiles keep their place, and reasons have to be found again; that a patch is
* unchanged is for the repository to tell.
*/
function recompute(claimed, asked) {
	const { config, testbeds } = asked;
	if (!testbeds.includes(claimed.testbed.name)) return {
		kind: "refused",
		why: `The result is of the testbed ${claimed.testbed.name}, and not of ${testbeds.join(" or ")}: judge the patch again.`
	};
	const { flows, frameBytes, offeredPps, measureSeconds } = config.traffic;
	const result = {
		...claimed,
		policy: policyAsked(asked),
		traffic: {
			flows,
			frameBytes,
			measureSeconds,
			...offeredPps !== void 0 && { offeredPps }
		},
		variants: variantsOf(claimed, asked.patch),
		leftOut: claimed.leftOut.filter(({ variant }) => othersOf(asked.patch).includes(variant)),
		...claimed.outcome.kind === "unchanged" && { blasts: [] },
		outcome: outcomeOf(claimed, asked)
	};
	return {
		kind: "computed",
		result,
		refused: differences(claimed, result).slice(0, mostTold)
	};
}
const policyAsked = ({ config, isExtended }) => isExtended ? policyOfExtended(policyOf(config)) : policyOf(config);
/** A result that lies may do so of any number of cells. */
const mostTold = 20;
/** The commits are those that leave was given for; where the patch parted from its base only its history tells. */
function variantsOf({ variants }, patch) {
	const earlier = patch.kind === "revision" ? patch.earlier : [];
	const commits = [{
		name: "patched",
		commit: patch.headCommit
	}, ...earlier.map(({ diff, headCommit }) => ({
		name: diffName(diff),
		commit: headCommit
	}))];
	const claimOf = (name) => variants.find((one) => one.name === name);
	return [claimOf("base") ?? {
		name: "base",
		commit: patch.baseCommit,
		files: []
	}, ...commits.map((one) => ({
		files: [],
		...claimOf(one.name),
		...one
	}))];
}
const othersOf = (patch) => patch.kind === "revision" ? patch.earlier.map(({ diff }) => diffName(diff)) : [];
function outcomeOf({ outcome, testbed }, asked) {
	if (outcome.kind === "unchanged") {
		const { leftAlone: claimed = [] } = outcome;
		const on = {
			config: asked.config,
			testbed: testbed.name
		};
		const leftAlone = claimed.filter((place) => isPlaceLeftAlone(place, on));
		return {
			kind: "unchanged",
			...leftAlone.length > 0 && { leftAlone }
		};
	}
	if (outcome.kind !== "judged") return outcome;
	const policy = policyAsked(asked);
	const claims = new Map(outcome.cells.map((claim) => [cellName(claim.cell), claim]));
	const { cells: wanted = cellsOf$1(asked.config) } = asked;
	const inputs = wanted.map((cell) => inputOf(cell, claims, asked));
	const cells = standings(inputs, policy).map((standing) => {
		const { claim, runs } = standing.input;
		const ofBase = baseNumbers(runs, policy.metric);
		const computed = cellResult(standing, policy, ofBase, othersOf(asked.patch));
		const stays = claim?.verdict.kind === "invalid" && computed.verdict.kind !== "regression";
		return {
			...computed,
			...stays && { verdict: claim.verdict },
			...claim === void 0 && { verdict: notMeasured },
			profiles: profilesOf(claim, asked.patch)
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
* Pairs of the last look that has its runs. Where all looks up to there tell something, but the result says that the
* cell is invalid, the experiment ended with the next one, whose runs were lost for good.
*/
function closedPairsOf(input, policy) {
	const { claim, design, history, runs } = input;
	const earlierDegreesOfFreedom = history?.degreesOfFreedom ?? 0;
	const sizes = lookSizes({
		...design,
		earlierDegreesOfFreedom
	});
	const lacking = sizes.findIndex((size) => !isThere(runs, size));
	if (lacking === -1) return sizes.at(-1) ?? 0;
	const closedPairs = sizes[lacking - 1] ?? 0;
	const tells = (size) => evidenceAt({
		...input,
		closedPairs
	}, size, policy) !== void 0;
	return claim?.verdict.kind === "invalid" && sizes.slice(0, lacking).every(tells) ? sizes[lacking] ?? 0 : closedPairs;
}
/** As many as `parseMaxRuns` lets anybody ask for. */
const mostRuns = 1e4;
/** Doubled each time, ten reach those runs; each has half the error rate of the one before, which soon is no number. */
const mostBudgets = 20;
/** The budgets that extensions have added to the one that was planned, where they can be such. */
function extended({ budgets: planned, pairsPerStep }, claimed) {
	return claimed.every((budget, stage) => (stage === 0 ? budget === planned[0] : budget > (claimed[stage - 1] ?? 0)) && budget % pairsPerStep === 0 && budget < mostRuns + pairsPerStep) && claimed.length > 0 && claimed.length <= mostBudgets ? claimed : planned;
}
/** Whether a look has its runs; it can do without some. */
function isThere(runs, size) {
	const pairsOf = (name) => new Set(runs.flatMap(({ variant, pair }) => variant === name && pair <= size ? pair : []));
	return isEnough(pairsOf("base").intersection(pairsOf("patched")).size, size);
}
/** One of each variant, so that their number is bounded. */
function profilesOf(claim, patch) {
	return [
		"base",
		"patched",
		...othersOf(patch)
	].flatMap((name) => claim?.profiles.find(({ variant }) => variant === name) ?? []);
}
/** What the result says otherwise, in sentences. */
const differences = (claimed, result) => [
	...ofPolicy(claimed.policy, result.policy),
	...ofTraffic(claimed.traffic, result.traffic),
	...ofOutcome(claimed.outcome, result.outcome)
];
function ofPolicy(claimed, asked) {
	const metric = [claimed.metric, asked.metric];
	const ratios = ratioNames.map(([key, name]) => {
		const [said, wanted] = [claimed[key], asked[key]];
		return said === wanted ? [] : `It was held to ${name} of ${formatPercent(said)}, and ${formatPercent(wanted)} is asked for.`;
	});
	return [metric[0] === metric[1] ? [] : `It was judged by ${metric[0]}, and ${metric[1]} is asked for.`, ...ratios].flat();
}
const ratioNames = [
	["marginRatio", "a margin"],
	["confidenceRatio", "a confidence"],
	["falseAlarmRatio", "a rate of false alarms"],
	["missRatio", "a rate of misses"]
];
function ofTraffic(claimed, asked) {
	return [
		"flows",
		"frameBytes",
		"offeredPps",
		"measureSeconds"
	].flatMap((key) => claimed[key] === asked[key] ? [] : `Its traffic has ${key} ${claimed[key] ?? "unbounded"}, and ${asked[key] ?? "unbounded"} is asked for.`);
}
function ofOutcome(claimed, computed) {
	if (claimed.kind !== "judged" || computed.kind !== "judged") return [];
	const asked = new Map(computed.cells.map((cell) => [cellName(cell.cell), cell]));
	const unasked = claimed.cells.filter(({ cell }) => !asked.has(cellName(cell)));
	const claims = new Map(claimed.cells.map((claim) => [cellName(claim.cell), claim]));
	return [
		...unasked.map(({ cell }) => `It has the cell ${cellName(cell)}, which is not asked for.`),
		...computed.cells.flatMap((cell) => ofCell(claims.get(cellName(cell.cell)), cell)),
		...claimed.verdict === computed.verdict ? [] : [`It says ${claimed.verdict} of the patch, and its cells say ${computed.verdict}.`]
	];
}
function ofCell(claim, { cell, verdict, comparisons }) {
	const name = cellName(cell);
	if (claim === void 0) return [`It has no cell ${name}, which is asked for.`];
	if (claim.verdict.kind !== verdict.kind) return [`It says ${claim.verdict.kind} of ${name}, and its runs say ${verdict.kind}.`];
	return comparisons.every((one) => claim.comparisons.some((other) => other.metric === one.metric && isAlmost(one, other))) ? [] : [`Its numbers of ${name} are not those of its runs.`];
}
/** Another machine may round otherwise. */
const isAlmost = (a, b) => [
	[a.base, b.base],
	[a.patched, b.patched],
	...[
		"change",
		"low",
		"high"
	].map((key) => [a.interval[key], b.interval[key]])
].every(([one = 0, other = 0]) => Math.abs(one - other) <= 1e-9 + 1e-6 * Math.abs(one));

// src/experiment/reread.ts
/** The journal of a work directory, with the runs of every blast read from its logs anew. */
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
	const blast = plan.blasts.find(({ number }) => number === summary.number);
	if (blast === void 0) return void 0;
	const numbers = new Set(entry.runs.map(({ number }) => number));
	const planned = {
		...blast,
		runs: blast.runs.filter(({ number }) => numbers.has(number))
	};
	const { attempt, startedAt, egressPackets, ingressPackets } = summary;
	const told = {
		...egressPackets !== void 0 && { egressPackets },
		...ingressPackets !== void 0 && { ingressPackets }
	};
	const outcome = await outcomeIn(join(directory, summary.logs));
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
	async function outcomeIn(folder) {
		const { traffic } = plan;
		if (traffic.windows !== void 0) {
			const virtual = await readVirtual(folder, planned);
			return virtual && readVirtualLogs(planned, startedAt, traffic.windows.packets, virtual);
		}
		const linux = await readLinux(folder);
		if (linux !== void 0) return readLinuxLogs(planned, startedAt, linux);
		const freebsd = await readFreebsd(folder);
		return freebsd && readFreebsdLogs(planned, freebsd, {
			startedAt,
			traffic,
			told
		});
	}
}
async function readVirtual(folder, planned) {
	try {
		const logs = pairsOf$1(planned).map(async ([pair]) => {
			return [pair, await readFile(join(folder, windowsLogName(pair)), "utf8")];
		});
		return new Map(await Promise.all(logs));
	} catch {
		return;
	}
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

export { assembleResult, baseNumbers, baseOf, basisText, beginPlanFile, cellsAmong, cellsOf$1 as cellsOf, dealt, designOf, earlierEntries, extendPlan, finishedAt, gatePassenger, goingOn, hasPlan, hasPlanFile, historyEntries, historyEntrySchema, historyFile, historyOf, isEnd, isSameTraffic, journalIn, keepLogIn, lackingOf, linksOn, makePlan, mayShareBase, openJournal, outlookLine, outlookOf, packedEntry, packedLog, parts, planCells, plannedProfile, plannedTraffic, policyOf, profileOf, randomSeed, readJournal, readOffer, readPlan, readPlanFile, readRules, recompute, refuseUsed, rejectionText, replacePlan, replacePlanFile, reread, runExperiment, shareOf, shorterWays, takeProfilesOf, timesOn, together, unchangedResult, writePlan };