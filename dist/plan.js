import { t as UsageError } from "./overrides.js";
import { r as reasonOf } from "./one-line.js";
import { F as policySchema, G as commitId, N as designSchema, P as historySchema, q as patchSchema } from "./markdown.js";
import { t as RepositoryError } from "./repository.js";
import { t as diffName } from "./variant-name.js";
import { C as object, E as string, S as number, T as record, b as literal, h as base64, m as array, n as cellSchema, o as ownRulesSchema, v as discriminatedUnion, y as int } from "./scenario.js";
import { o as historyOf } from "./history.js";
import { n as uniformInt, t as xoroshiro128plus } from "./xoroshiro128plus.js";
import { join, resolve } from "node:path";
import { createReadStream } from "node:fs";
import { createHash, randomInt } from "node:crypto";
import { access, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

// src/build/overlay.ts
const overlaySchema = object({
	/** `base`, `patched`, `diff 80345`. */
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
* The overlay where the patch parted from its base, the one at its head, and those of earlier diffs: what others
* changed on the branch meanwhile is neither blamed on the patch nor thanked to it. Throws a `RepositoryError`
* where neither base nor patched has a file: nothing would be compared with nothing, and pass.
*/
async function buildOverlays(patch, folder, repository) {
	const { base, changed } = await commitsOf(patch, repository);
	const overlays = await Promise.all([base, ...changed].map((variant) => readOverlay(repository, variant, folder)));
	if (overlays.slice(0, 2).every(({ files }) => files.length === 0)) throw new RepositoryError(`The folder ${folder} holds no file at ${base.commit} nor at ${patch.headCommit}: correct \`overlay\` in ppsgate.yml.`);
	return overlays;
}
/** Where the patch parted from its base, and what is measured against that: patched comes before what is only shown. */
async function commitsOf(patch, repository) {
	const commit = await repository.mergeBase(patch.baseCommit, patch.headCommit);
	const earlier = patch.kind === "revision" ? patch.earlier : [];
	return {
		base: {
			variant: "base",
			commit
		},
		changed: [{
			variant: "patched",
			commit: patch.headCommit
		}, ...earlier.map(({ diff, headCommit }) => ({
			variant: diffName(diff),
			commit: headCommit
		}))]
	};
}
async function readOverlay(repository, { variant, commit }, folder) {
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
	baseCommit: commitId,
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
* The base where the patch parted from it, the patch on top, and earlier diffs of its revision on the same base: on
* Linux the files of the overlay folder, on FreeBSD kernels. Throws a `RepositoryError` where the repository lacks what
* they are made of, a `UsageError` for a kernel that cannot be read, or that is lacking.
*/
async function buildVariants({ patch, system, overlayFolder, kernels }, repository) {
	if (system === "linux") return buildOverlays(patch, overlayFolder, repository);
	const { base, changed } = await commitsOf(patch, repository);
	if (kernels === void 0) return [{
		...base,
		files: [],
		kernel: {
			kind: "tree",
			baseCommit: base.commit
		}
	}, ...await Promise.all(changed.map((variant) => onBase(base.commit, variant, repository)))];
	const [patched, lacking] = changed;
	if (lacking !== void 0) throw new UsageError(`Kernels are given of base and patched, and none of ${lacking.variant}: leave earlier diffs out, or let them all be built.`);
	return [{
		...base,
		files: [],
		kernel: await given(kernels.base)
	}, {
		...patched,
		files: [],
		kernel: await given(kernels.patched)
	}];
}
async function onBase(baseCommit, { variant, commit }, repository) {
	return {
		variant,
		commit,
		files: [],
		kernel: {
			kind: "tree",
			baseCommit,
			diff: (await repository.diff(baseCommit, commit)).toString("base64")
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
	/** Of every variant in every cell, once that is decided; absent: none are taken. */
	profile: object({
		seconds: number(),
		event: string().optional()
	}).optional(),
	seed: int(),
	/** Every blast that may be needed, in their order; most cells are decided before their last. */
	blasts: array(plannedBlastSchema).min(1)
});
/** Every scenario with every family is a cell; its history picks its design, and the seed the order of everything. */
function makePlan(request, variants, history) {
	const { patch, config, testbed, seed, rules = {} } = request;
	const { traffic, profile } = config;
	const policy = policyOf(config);
	const cells = cellsOf(config).map((cell) => {
		const query = {
			testbed,
			cell,
			traffic,
			metric: policy.metric
		};
		const known = historyOf(history, query);
		return {
			cell,
			design: designOf(config, variants.length, known),
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
		...profile !== void 0 && { profile },
		seed,
		blasts: blastsFor(cells, variants, traffic.runsPerBlast, seed)
	};
}
/** What a configuration asks to be measured, in its order. */
function cellsOf({ scenarios, families, frameSizes }) {
	const sizes = frameSizes === void 0 ? [{}] : frameSizes.map((frameBytes) => ({ frameBytes }));
	return scenarios.flatMap((scenario) => families.flatMap((family) => sizes.map((size) => ({
		scenario,
		family,
		...size
	}))));
}
/** What it holds a verdict to. */
function policyOf({ gate }) {
	const { design: _, maxRunsPerVariant: __, ...policy } = gate;
	return policy;
}
/** How it has a cell looked at, of which so much is known from earlier experiments. */
function designOf({ traffic, gate }, variants, known) {
	const pairsPerStep = pairsPerBlast(traffic.runsPerBlast, variants);
	const method = pairsPerStep > 1 ? "paired" : "pooled";
	const usualRuns = method === "pooled" ? usualSingleRuns : usualPairs(traffic.runsPerBlast, variants);
	const budget = wholeSteps(gate.maxRunsPerVariant ?? usualRuns, pairsPerStep);
	const usual = method === "pooled" && (known?.runs ?? 0) >= 10 ? "glr" : "group-sequential";
	return {
		name: gate.design ?? usual,
		budgets: [budget],
		pairsPerStep,
		method
	};
}
const usualSingleRuns = 20;
/** Of five blasts, and of as many pairs where more than two variants share them: the verdict is as sure as without them. */
const usualPairs = (runsPerBlast, variants) => 5 * Math.max(pairsPerBlast(runsPerBlast, variants), pairsPerBlast(runsPerBlast, 2));
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

export { makePlan as a, readPlan as c, writePlan as d, buildVariants as f, hasPlan as i, refuseUsed as l, designOf as n, policyOf as o, extendPlan as r, randomSeed as s, cellsOf as t, replacePlan as u };