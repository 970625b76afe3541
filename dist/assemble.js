import { n as version } from "./package.js";
import { a as studentTail, f as sumNthPowerDeviations, n as criticalT, s as mean } from "./student.js";
import { C as number, E as string, S as literal, T as record, _ as base64, a as cellSchema, b as discriminatedUnion, g as array, i as cellName, l as ownRulesSchema, n as lookSizes, w as object, x as int } from "./design.js";
import { t as datetime } from "./iso.js";
import { t as UsageError } from "./overrides.js";
import { r as runsApart } from "./markdown.js";
import { t as median } from "./summary.js";
import { n as patchSchema } from "./patch.js";
import { n as reasonOf } from "./one-line.js";
import { a as historyOf, t as baseNumbers } from "./history.js";
import { a as rejectionSchema, i as policySchema, n as designSchema, r as historySchema, s as runSchema, t as blastSchema } from "./result.js";
import { c as uniformInt, i as boundsOf, r as judgeLook, s as xoroshiro128plus, t as standardNormal } from "./normal.js";
import { a as evidenceOf, d as valuesOf, i as evidenceAt, l as standings, n as countOf, o as isDecided, r as countedRuns, s as isEnough, t as allLost, u as validPairs } from "./standing.js";
import { execFile } from "node:child_process";
import { join, relative, resolve } from "node:path";
import { createReadStream } from "node:fs";
import { promisify } from "node:util";
import { pipeline } from "node:stream/promises";
import { createHash, randomInt } from "node:crypto";
import { access, mkdir, open, readFile, rename, truncate, writeFile } from "node:fs/promises";

// src/patch/repository.ts
/** What git could not do, in one sentence. */
var RepositoryError = class extends Error {
	name = "RepositoryError";
};
const run = promisify(execFile);
/** Of one file, and of one listing. */
const maxBytes = 4194304;
/** @param environment for git, where fetching what is missing needs more than the checkout has. */
function openRepository(directory, environment = {}) {
	const git = async (...args) => {
		const options = [
			"-C",
			directory,
			"-c",
			"safe.directory=*"
		];
		const env = {
			...process.env,
			...environment
		};
		const { stdout } = await run("git", [...options, ...args], {
			env,
			maxBuffer: maxBytes
		});
		return stdout;
	};
	const resolve$1 = async (name) => {
		const parse = () => git("rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`);
		return (await parse().catch(() => git("fetch", "--quiet", "origin", "--", name).then(parse)).catch(() => {
			throw new RepositoryError(`The repository ${directory} has no commit ${name} and could not fetch it: check it out with its history (fetch-depth: 0).`);
		})).trim();
	};
	return {
		resolve: resolve$1,
		async mergeBase(first, second) {
			const ids = [await resolve$1(first), await resolve$1(second)];
			return (await git("merge-base", ...ids).catch(() => {
				throw new RepositoryError(`${first} and ${second} have no common ancestor in ${directory}: check it out with its history (fetch-depth: 0).`);
			})).trim();
		},
		async list(commit, folder) {
			const below = relative(directory, resolve(directory, folder));
			const prefixes = below === "" ? [] : [`${below}/`];
			const list = [
				"ls-tree",
				"-r",
				"-z",
				"--end-of-options",
				commit,
				...prefixes
			];
			const listing = await git(...list).catch(() => {
				throw new RepositoryError(`git cannot list ${folder} at ${commit} in ${directory}: name a folder of the repository.`);
			});
			const [prefix = ""] = prefixes;
			return listing.split("\0").filter(Boolean).map(parseTreeEntry(prefix));
		},
		read: (object) => git("cat-file", "blob", object).catch(() => {
			throw new RepositoryError(`git cannot read the object ${object} in ${directory}: it must be a file of at most 4 MiB.`);
		}),
		async diff(first, second) {
			const plain = [
				"--no-color",
				"--no-ext-diff",
				"--no-textconv",
				"--no-renames",
				"--full-index"
			];
			const prefixes = ["--src-prefix=a/", "--dst-prefix=b/"];
			const range = [
				"--end-of-options",
				first,
				second
			];
			const diff = [
				...[
					"-C",
					directory,
					"-c",
					"safe.directory=*"
				],
				"diff",
				...plain,
				...prefixes,
				...range
			];
			const { stdout } = await run("git", diff, {
				maxBuffer: maxBytes,
				encoding: "buffer"
			}).catch(() => {
				throw new RepositoryError(`git cannot compare ${first} with ${second} in ${directory}: their difference must be of at most 4 MiB.`);
			});
			return stdout;
		},
		async describe(commit) {
			const [subject = "", author = ""] = (await git("show", "--no-patch", "--format=%s%n%an", "--end-of-options", commit)).split("\n");
			return {
				subject,
				author
			};
		}
	};
}
/** `MODE TYPE OBJECT<tab>PATH`, see git-ls-tree(1). */
const parseTreeEntry = (prefix) => (line) => {
	const tab = line.indexOf("	");
	const [mode = "", , object = ""] = line.slice(0, tab).split(" ");
	return {
		mode,
		object,
		path: line.slice(tab + 1 + prefix.length)
	};
};

// src/build/overlay.ts
const overlaySchema = object({
	/** `base`, `patched`. */
	variant: string(),
	commit: string(),
	files: array(object({
		path: string(),
		/** As git says it: `100644` for a plain file. The DUT decides what it can load. */
		mode: string(),
		content: string(),
		sha256: string()
	}))
});
/**
* The overlay where the patch parted from its base, and the one at its head: what others changed on the
* branch meanwhile is neither blamed on the patch nor thanked to it. Throws a `RepositoryError` where
* neither has a file: nothing would be compared with nothing, and pass.
*/
async function buildOverlays(patch, folder, repository) {
	const base = await repository.mergeBase(patch.baseCommit, patch.headCommit);
	const overlays = await Promise.all([readOverlay(repository, base, folder, "base"), readOverlay(repository, patch.headCommit, folder, "patched")]);
	if (overlays.every(({ files }) => files.length === 0)) throw new RepositoryError(`The folder ${folder} holds no file at ${base} nor at ${patch.headCommit}: correct \`overlay\` in ppsgate.yml.`);
	return overlays;
}
async function readOverlay(repository, commit, folder, variant) {
	const entries = await repository.list(commit, folder);
	if (entries.length > mostFiles) throw new RepositoryError(`The folder ${folder} holds ${entries.length} files at ${commit}, and an overlay at most ${mostFiles}: keep other files elsewhere.`);
	return {
		variant,
		commit,
		files: await Promise.all(entries.map(async ({ path, mode, object }) => {
			const content = mode === submodule ? "" : await repository.read(object);
			return {
				path,
				mode,
				content,
				sha256: createHash("sha256").update(content).digest("hex")
			};
		}))
	};
}
const mostFiles = 100;
/** A commit of another repository: there is nothing to read. */
const submodule = "160000";

// src/build/variant.ts
const kernelSourceSchema = discriminatedUnion("kind", [object({
	kind: literal("tree"),
	baseCommit: string(),
	/** What is applied to it, in base64, as a diff's bytes need be no text; absent: the base itself. */
	diff: base64().optional()
}), object({
	kind: literal("archive"),
	path: string(),
	sha256: string()
})]);
const variantSchema = overlaySchema.extend({ 
/** Absent: the DUT's own. */
kernel: kernelSourceSchema.optional() });
/**
* The base where the patch parted from it, and the patch on top: on Linux the files of the overlay folder, on FreeBSD
* kernels. Throws a `RepositoryError` where the repository lacks what they are made of, a `UsageError` for a kernel
* that cannot be read.
*/
async function buildVariants({ patch, system, overlayFolder, kernels }, repository) {
	if (system === "linux") return buildOverlays(patch, overlayFolder, repository);
	const baseCommit = await repository.mergeBase(patch.baseCommit, patch.headCommit);
	const sources = kernels ? {
		base: await given(kernels.base),
		patched: await given(kernels.patched)
	} : await sourcesOf(baseCommit, patch.headCommit, repository);
	return [{
		variant: "base",
		commit: baseCommit,
		files: [],
		kernel: sources.base
	}, {
		variant: "patched",
		commit: patch.headCommit,
		files: [],
		kernel: sources.patched
	}];
}
async function sourcesOf(baseCommit, headCommit, repository) {
	const diff = (await repository.diff(baseCommit, headCommit)).toString("base64");
	return {
		base: {
			kind: "tree",
			baseCommit
		},
		patched: {
			kind: "tree",
			baseCommit,
			diff
		}
	};
}
async function given(path) {
	const hash = createHash("sha256");
	try {
		await pipeline(createReadStream(path), hash);
	} catch (error) {
		throw new UsageError(`The kernel ${path} cannot be read (${reasonOf(error)}).`);
	}
	return {
		kind: "archive",
		path: resolve(path),
		sha256: hash.digest("hex")
	};
}

// src/experiment/schedule.ts
const plannedRunSchema = object({
	number: int().positive(),
	variant: string(),
	pair: int().positive()
});
const plannedBlastSchema = object({
	number: int().positive(),
	cell: cellSchema,
	runs: array(plannedRunSchema).min(1)
});
/**
* Pairs come as ABBA or BAAB, so that a drift within four runs cancels; cells come in an order drawn anew for each
* round. The same request gives the same schedule, and one with more runs goes on where it ends.
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
			...run
		}))
	}));
}
/** Every cell gets its share of a round in one blast, in which the variants alternate. */
function sharedBlasts(request, random) {
	const { cells, variants, runsPerVariant } = request;
	const pairsPerRound = pairsPerBlast(request.runsPerBlast, variants.length);
	const orders = new Map(cells.map((cell) => [cell, variants]));
	const blasts = [];
	for (let done = 0; done < runsPerVariant; done += pairsPerRound) for (const cell of shuffled(cells, random)) {
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
		for (const variant of order) for (const cell of shuffled(cells, random)) blasts.push({
			cell,
			runs: [{
				variant,
				pair
			}]
		});
	}
	return blasts;
}
/** How many pairs come at once; at least one, which then takes several blasts. */
const pairsPerBlast = (runsPerBlast, variants) => Math.max(1, Math.floor(runsPerBlast / variants));
/** Every second pair mirrors the one before. */
const nextOrder = (pair, last, random) => pair % 2 === 1 ? shuffled(last, random) : last.toReversed();
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
	history: historySchema.optional()
});
const planSchema = object({
	schemaVersion: literal(1),
	patch: patchSchema,
	testbed: string(),
	variants: array(variantSchema).min(2),
	/** Of the scenarios that are a site's own. */
	rules: record(string(), ownRulesSchema),
	cells: array(plannedCellSchema).min(1),
	policy: policySchema,
	traffic: object({
		flows: int(),
		frameBytes: int(),
		offeredPps: number().optional(),
		warmUpSeconds: number(),
		settleSeconds: number(),
		measureSeconds: number(),
		measureAtLeastSeconds: number(),
		runsPerBlast: int()
	}),
	seed: int(),
	/** Every blast that may be needed, in their order; most cells are decided before their last. */
	blasts: array(plannedBlastSchema).min(1)
});
/** Every scenario with every family is a cell; its history picks its design, and the seed the order of everything. */
function makePlan(request, variants, history) {
	const { patch, config, testbed, seed, rules = {} } = request;
	const { scenarios, families, traffic, frameSizes } = config;
	const { design: asked, maxRunsPerVariant, ...policy } = config.gate;
	const pairsPerStep = pairsPerBlast(traffic.runsPerBlast, variants.length);
	const method = pairsPerStep > 1 ? "paired" : "pooled";
	const budget = wholeSteps(maxRunsPerVariant ?? defaultSteps[method] * pairsPerStep, pairsPerStep);
	const sizes = frameSizes === void 0 ? [{}] : frameSizes.map((frameBytes) => ({ frameBytes }));
	const cells = scenarios.flatMap((scenario) => families.flatMap((family) => sizes.map((size) => ({
		scenario,
		family,
		...size
	})))).map((cell) => {
		const query = {
			testbed,
			cell,
			traffic,
			metric: policy.metric
		};
		const known = historyOf(history, query);
		const usual = method === "pooled" && (known?.runs ?? 0) >= 10 ? "glr" : "group-sequential";
		return {
			cell,
			design: {
				name: asked ?? usual,
				budgets: [budget],
				pairsPerStep,
				method
			},
			...known && { history: known }
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
		seed,
		blasts: blastsFor(cells, variants, traffic.runsPerBlast, seed)
	};
}
/** Blasts of many runs, or pairs of single runs. */
const defaultSteps = {
	paired: 5,
	pooled: 20
};
const wholeSteps = (pairs, pairsPerStep) => Math.ceil(pairs / pairsPerStep) * pairsPerStep;
/** The same plan with a further budget for its cells; throws a `UsageError` where it has as many runs already. */
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
		cells,
		blasts
	};
}
const blastsFor = (cells, variants, runsPerBlast, seed) => schedule({
	cells: cells.map(({ cell }) => cell),
	variants: variants.map(({ variant }) => variant),
	runsPerVariant: Math.max(...cells.map(({ design }) => design.budgets.at(-1) ?? 0)),
	runsPerBlast,
	seed
});
/** For an order that nobody could have known; the plan keeps it. */
const randomSeed = () => randomInt(2 ** 31);
const fileName = "experiment.json";
/** Writes the plan so that it is there whole or not at all; a directory that holds one already is a `PlanError`. */
async function writePlan(directory, plan) {
	await refuseUsed(directory);
	await mkdir(directory, { recursive: true });
	await replacePlan(directory, plan);
}
/** Throws a PlanError where the directory has an experiment already. */
async function refuseUsed(directory) {
	if (await hasPlan(directory)) throw new PlanError(`${directory} holds an experiment already: resume it with 'ppsgate gate --resume ${directory}', or name another directory.`);
}
/** Writes a plan over the one that is there. */
async function replacePlan(directory, plan) {
	const draft = join(directory, `.${fileName}`);
	await writeFile(draft, `${JSON.stringify(plan, null, 2)}\n`, { flush: true });
	await rename(draft, join(directory, fileName));
}
/** Reads the plan of an earlier process; throws a `PlanError` where there is none. */
async function readPlan(directory) {
	const path = join(directory, fileName);
	try {
		return planSchema.parse(JSON.parse(await readFile(path, "utf8")));
	} catch {
		throw new PlanError(`${path} holds no plan of an experiment: name the directory of an earlier 'ppsgate gate'.`);
	}
}
const hasPlan = (directory) => access(join(directory, fileName)).then(() => true, () => false);
var PlanError = class extends Error {
	name = "PlanError";
};

// src/experiment/cells.ts
function cellsSoFar(plan, entries) {
	const byBlast = Map.groupBy(entries, numberOf);
	return plan.cells.map((planned) => {
		const blasts = plan.blasts.filter((blast) => isSameCell(blast.cell, planned.cell)).map((blast) => {
			const tries = byBlast.get(blast.number) ?? [];
			return {
				blast,
				tries,
				needed: tries.length < mostTriesOf(tries) && !tries.some(isWhole(blast))
			};
		});
		const tries = blasts.flatMap((blast) => blast.tries);
		return {
			...planned,
			...reached(planned, blasts),
			runs: tries.flatMap((entry) => entry.kind === "measured" ? entry.runs : []),
			failures: tries.flatMap((entry) => entry.kind === "failed" ? entry.reason : [])
		};
	});
}
/** A generator that was the limit twice is the limit. */
const mostTriesOf = (tries) => tries.length > 0 && tries.every(isGeneratorLimited) ? 2 : 3;
const isGeneratorLimited = (entry) => entry.kind === "measured" && entry.runs.every(({ validity }) => validity.kind === "invalid" && validity.cause === "generator-limited");
const isSameCell = (a, b) => cellName(a) === cellName(b);
function numberOf(entry) {
	if (entry.kind === "measured") return entry.summary.number;
	return entry.kind === "failed" ? entry.blast : void 0;
}
const isWhole = ({ runs }) => (entry) => {
	if (entry.kind !== "measured") return false;
	const pairs = new Set(runs.map((run) => run.pair)).size;
	return runs.length === 1 ? entry.runs.every((run) => run.validity.kind === "valid") : isEnough(validPairs(entry.runs).length, pairs);
};
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
			open: []
		};
		const missing = inLook.filter(({ needed }) => needed);
		const open = missing.length > 0 ? missing : standingApart(inLook);
		if (open.length > 0) return {
			closedPairs,
			open
		};
		closedPairs = size;
	}
	return {
		closedPairs,
		open: []
	};
}
/** Of single runs, which a blast either gives or not. */
function lostPairs(blasts) {
	const lost = blasts.filter(({ blast, tries, needed }) => blast.runs.length === 1 && !needed && !tries.some(isWhole(blast)));
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
		reason: string()
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

// src/stats/baseline.ts
/** A base that stayed is called moved in one experiment of a hundred. */
const level = .005;
/**
* Student's test of the base's numbers (one a blast) against the runs since it last moved, on logarithms and with
* the pooled noise of both; unknown where there are too few of either.
*/
function baselineOf(base, history) {
	if (history === void 0 || history.typicalRuns < 3 || base.length < 2) return { kind: "unknown" };
	const logs = base.map(Math.log);
	const degreesOfFreedom = history.degreesOfFreedom + base.length - 1;
	const variance = (history.sumOfSquares + sumNthPowerDeviations(logs, 2)) / degreesOfFreedom;
	const effect = mean(logs) - Math.log(history.typical);
	const error = Math.sqrt(variance * (1 / base.length + 1 / history.typicalRuns));
	const reach = criticalT(degreesOfFreedom, level) * error;
	const interval = {
		change: Math.expm1(effect),
		low: Math.expm1(effect - reach),
		high: Math.expm1(effect + reach)
	};
	return {
		kind: Math.abs(effect) > reach + rounding ? "moved" : "steady",
		interval
	};
}
/** Where all runs agree to the last packet the reach is zero, but not what logarithms have lost of their digits. */
const rounding = 1e-12;

// src/stats/estimate.ts
/**
* The effect less the bias that stopping gave it: an experiment ends when its data happen to look clear, so that a
* loss is shown too large on average. The bias is that of experiments whose true effect is the one seen (Whitehead,
* Biometrika 73, 1986), here of 4,000 that are simulated in antithetic pairs with a known normal noise.
*/
function unbiasedEffect({ evidence, look }, looks, rule) {
	const { effect, method } = evidence;
	const deviation = standardErrorOf(evidence) * Math.sqrt(look.pairs);
	if (looks.length === 1 || !Number.isFinite(effect) || !Number.isFinite(deviation)) return effect;
	const random = xoroshiro128plus(1);
	let bias = 0;
	for (let path = 0; path < 2e3; path++) {
		const steps = looks.map(() => standardNormal(random));
		const negated = steps.map((step) => -step);
		for (const way of [steps, negated]) bias += (stoppedEffect(way, {
			method,
			effect,
			deviation
		}, looks, rule) - effect) / 4e3;
	}
	const { low, high } = boundsOf(evidence, look.levels.outside);
	return Math.min(high, Math.max(low, effect - bias));
}
/**
* What an experiment sees when it stops; `steps` are its standard normal increments from look to look. Of ranks, a
* look of few pairs decides nothing: that all n lie on one side happens by chance with 2⁻ⁿ.
*/
function stoppedEffect(steps, { method, effect, deviation }, looks, rule) {
	let sum = 0;
	let pairs = 0;
	let seen = effect;
	for (const [index, look] of looks.entries()) {
		sum += (steps[index] ?? 0) * Math.sqrt(look.pairs - pairs);
		pairs = look.pairs;
		seen = effect + deviation * sum / pairs;
		const error = deviation / Math.sqrt(pairs);
		const canBeSure = (level) => method === "pooled" || level >= .5 ** look.pairs;
		const boundsAt = (level) => canBeSure(level) ? around(seen, criticalT(Infinity, level) * error) : around(seen, Infinity);
		if (judgeLook(boundsAt, look.levels, rule) !== "inconclusive") break;
	}
	return seen;
}
const around = (center, reach) => ({
	low: center - reach,
	high: center + reach
});
/** Of ranks: half the interval that would be one standard error to each side, were they normal. */
function standardErrorOf(evidence) {
	if (evidence.method === "pooled") return evidence.standardError;
	const { low, high } = boundsOf(evidence, studentTail(1, Infinity));
	return (high - low) / 2;
}

// src/stats/verdict.ts
/** A cell that has ended, or what it is worth so far. `baseNumbers` are the base's, one a blast. */
function cellResult(standing, policy, baseNumbers) {
	const { input, judgement } = standing;
	const { cell, design, history, runs } = input;
	return {
		cell,
		verdict: cellVerdict(standing, policy),
		design,
		...history && { history },
		baseline: baselineOf(baseNumbers, history),
		pairs: judgement?.look.pairs ?? input.closedPairs,
		comparisons: metricsInOrder(policy.metric).flatMap((metric) => compare(standing, metric, policy)),
		runs
	};
}
/** Invalid where it is closed without a decision, or no look could be made. */
function cellVerdict(standing, policy) {
	const { judgement, closed } = standing;
	if (judgement !== void 0 && (isDecided(judgement) || !closed)) return { kind: judgement.verdict };
	return {
		kind: "invalid",
		reason: tooFew(standing, policy.metric)
	};
}
const metricsInOrder = (first) => first === "pps" ? ["pps", "nsPerPacket"] : ["nsPerPacket", "pps"];
/** One metric by the runs that were judged, or where none were by all that count; nothing where they tell nothing. */
function compare({ input, looks, judgement }, metric, policy) {
	const counted = countedRuns(input, judgement?.look.pairs ?? input.closedPairs);
	if (judgement?.evidence.effect === allLost(policy.metric).effect) return metric === "pps" ? [nothingLeft(counted)] : [];
	const values = {
		base: valuesOf(counted.base, metric),
		patched: valuesOf(counted.patched, metric)
	};
	if (values.base.length === 0 || values.patched.length === 0) return [];
	const look = judgement?.look ?? looks[0];
	const isJudged = metric === policy.metric;
	const earlier = isJudged ? input.history : void 0;
	const evidence = evidenceOf(counted, metric, input.design.method, earlier);
	const { low, high } = boundsOf(evidence, look?.levels.outside ?? 0);
	if (!Number.isFinite(low + high)) return [];
	const effect = judgement !== void 0 && isJudged ? unbiasedEffect(judgement, looks, policy) : evidence.effect;
	return [{
		metric,
		base: evidence.base,
		patched: evidence.base * Math.exp(effect),
		baseRuns: values.base.length,
		patchedRuns: values.patched.length,
		interval: {
			change: Math.expm1(effect),
			low: Math.expm1(low),
			high: Math.expm1(high)
		}
	}];
}
function nothingLeft({ base, patched }) {
	return {
		metric: "pps",
		base: median(base.map((run) => run.pps)),
		patched: 0,
		baseRuns: base.length,
		patchedRuns: patched.length,
		interval: {
			change: -1,
			low: -1,
			high: -1
		}
	};
}
/** Why no look could be made: how many pairs count, and what is the matter with most of those that do not. */
function tooFew({ input, looks }, metric) {
	const { runs, failures } = input;
	const asked = looks.find(({ pairs }) => evidenceAt(input, pairs, metric) === void 0)?.pairs ?? 0;
	const count = `${Math.min(asked, countOf(countedRuns(input, asked), metric))} of ${asked} pairs of runs count`;
	const why = mostFrequent([...failures.map((reason) => ({
		cause: reason,
		reason
	})), ...runs.flatMap((run) => whyNot(run, metric))]);
	if (why === void 0) return count;
	return why.cause === "generator-limited" ? `${why.reason}; ${count}` : `${count}: ${why.reason}`;
}
function whyNot(run, metric) {
	if (run.validity.kind === "invalid") return run.validity;
	if (run.pps === 0) return {
		cause: run.variant,
		reason: `${run.variant} forwarded nothing`
	};
	return run[metric] === void 0 ? {
		cause: metric,
		reason: `the DUT tells no ${metric}`
	} : [];
}
function mostFrequent(faults) {
	return [...Map.groupBy(faults, ({ cause }) => cause).values()].toSorted((a, b) => b.length - a.length)[0]?.[0];
}
/** The verdict of a patch is the worst of its cells; it gains only where nothing is lost or unknown. */
function worstVerdict(cells) {
	const kinds = cells.map(({ verdict }) => verdict.kind);
	return [
		"regression",
		"invalid",
		"inconclusive",
		"improvement"
	].find((kind) => kinds.includes(kind)) ?? "no-regression";
}

// src/report/assemble.ts
/** The result of an experiment that has ended; of one that has not, what its journal is worth so far. */
function assembleResult(plan, journal) {
	const { flows, frameBytes, offeredPps, measureSeconds } = plan.traffic;
	const started = journal.findLast((entry) => entry.kind === "started");
	return {
		schemaVersion: 1,
		generator: {
			name: "ppsgate",
			version
		},
		patch: plan.patch,
		variants: plan.variants.map(({ variant, commit, files }) => ({
			name: variant,
			commit,
			files: files.map(({ path, sha256 }) => ({
				path,
				sha256
			}))
		})),
		testbed: {
			name: plan.testbed,
			fingerprint: started?.fingerprint ?? {},
			warnings: started?.warnings ?? []
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
		outcome: outcomeOf(plan, journal)
	};
}
const epoch = (/* @__PURE__ */ new Date(0)).toISOString();
function outcomeOf(plan, journal) {
	const last = journal.findLast((entry) => entry.kind !== "started");
	if (last?.kind === "rejected") return last.rejection;
	const cells = standings(cellsSoFar(plan, journal), plan.policy).map((standing) => {
		const ofBase = baseNumbers(standing.input.runs, plan.policy.metric);
		return cellResult(standing, plan.policy, ofBase);
	});
	return {
		kind: "judged",
		verdict: worstVerdict(cells),
		cells
	};
}

export { RepositoryError as _, openJournal as a, extendPlan as c, randomSeed as d, readPlan as f, buildVariants as g, writePlan as h, worstVerdict as i, hasPlan as l, replacePlan as m, cellVerdict as n, readJournal as o, refuseUsed as p, compare as r, cellsSoFar as s, assembleResult as t, makePlan as u, openRepository as v };