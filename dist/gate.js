import { a as makePlan, c as readPlan, d as writePlan, f as buildVariants, l as refuseUsed, r as extendPlan, u as replacePlan } from "./plan.js";
import { t as UsageError } from "./overrides.js";
import { a as systemOf } from "./schema.js";
import { n as isJudged } from "./variant-name.js";
import { r as reasonOf } from "./one-line.js";
import { t as cellName } from "./scenario.js";
import { l as standings } from "./standing.js";
import { a as cellsSoFar, n as takeProfiles, o as isOfVerdict, r as openJournal, s as leftOutIn, t as assembleResult } from "./assemble.js";
import { n as earlierEntries, r as historyEntries } from "./history.js";
import { V as outcomeName } from "./markdown.js";
import { t as explained } from "./read2.js";
import { n as writeResult } from "./write.js";
import { join } from "node:path";
import { mkdir, readFile, writeFile } from "node:fs/promises";

// src/experiment/experiment.ts
/**
* Runs every blast that the journal lacks; ends early when nothing can be measured with patched. Any other variant of
* which that is so is left out from then on. Answers the whole journal.
*/
async function runExperiment(options) {
	const { directory, plan, testbed, now, onEvent, signal } = options;
	const journal = await openJournal(join(directory, "journal.jsonl"));
	const at = () => now().toISOString();
	const told = /* @__PURE__ */ new Set();
	try {
		onEvent({
			kind: "planned",
			plan
		});
		const cells = plan.cells.map(({ cell }) => cell);
		const inspection = await testbed.inspect(cells);
		await journal.append({
			kind: "started",
			at: at(),
			...inspection
		});
		for (const warning of inspection.warnings) onEvent({
			kind: "warning",
			text: warning
		});
		signal.throwIfAborted();
		for (;;) {
			const prepared = await testbed.prepare({
				variants: variantsLeft(plan, journal.entries),
				rules: plan.rules,
				cells,
				keepLog: (name, text) => writeLog(join(directory, "builds"), name, text),
				tell: (text) => onEvent({
					kind: "preparing",
					text
				}),
				signal
			});
			if (prepared.kind === "ready") break;
			await reject(prepared);
			if (isJudged(prepared.variant)) return journal.entries;
			signal.throwIfAborted();
		}
		for (;;) {
			signal.throwIfAborted();
			const next = nextBlast(plan, journal.entries);
			if (next === void 0) break;
			const { blast, attempt, done, of } = next;
			onEvent({
				kind: "blast",
				blast,
				attempt,
				done,
				of
			});
			const logs = join("blasts", logFolder(blast, attempt));
			const keepLog = (name, content) => writeLog(join(directory, logs), name, content);
			const outcome = await testbed.blast(blast, keepLog, signal);
			if (outcome.kind === "rejected") {
				await reject(outcome);
				if (isJudged(outcome.variant)) return journal.entries;
				continue;
			}
			const entry = outcome.kind === "measured" ? {
				kind: "measured",
				at: at(),
				summary: {
					...outcome.summary,
					attempt,
					logs
				},
				runs: outcome.runs.map((run) => ({
					...run,
					attempt
				}))
			} : {
				kind: "failed",
				at: at(),
				blast: blast.number,
				reason: outcome.reason
			};
			await journal.append(entry);
			onEvent({
				kind: "ended",
				blast,
				entry
			});
			for (const decided of closedCells(plan, journal.entries)) {
				const name = cellName(decided.cell);
				if (!told.has(name)) onEvent({
					kind: "decided",
					...decided
				});
				told.add(name);
			}
		}
		await takeProfiles({
			plan,
			testbed,
			journal,
			at,
			signal,
			keepLogIn: (folder) => (name, text) => writeLog(join(directory, folder), name, text),
			onNext: (next) => onEvent({
				kind: "profile",
				...next
			}),
			warn: (text) => onEvent({
				kind: "warning",
				text
			})
		});
		await journal.append({
			kind: "finished",
			at: at()
		});
		return journal.entries;
	} finally {
		await journal.close();
	}
	async function reject({ variant, rejection }) {
		if (variant === "base") throw new BaseRejectedError(rejection);
		await journal.append({
			kind: "rejected",
			at: at(),
			variant,
			rejection
		});
		if (isJudged(variant)) return;
		const text = `${variant} ${faults[rejection.kind]} and is left out: ${reasonOf(rejection.message)}`;
		onEvent({
			kind: "warning",
			text
		});
	}
}
function variantsLeft({ variants }, entries) {
	const out = new Set(leftOutIn(entries).map(({ variant }) => variant));
	return variants.filter(({ variant }) => !out.has(variant));
}
/** Nothing can be said of a patch whose base does not work. */
var BaseRejectedError = class extends Error {
	name = "BaseRejectedError";
	constructor(rejection) {
		const { kind, message } = rejection;
		const panic = "panic" in rejection && rejection.panic ? ` It panicked: ${rejection.panic}.` : "";
		super(`The base itself ${faults[kind]}, so nothing was measured: ${message}${panic}`);
	}
};
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
	const cells = standings(cellsSoFar(plan, entries), plan.policy);
	const [next] = cells.flatMap(openBlasts).toSorted((a, b) => a.tries.length - b.tries.length || a.blast.number - b.blast.number);
	if (next === void 0) return void 0;
	return {
		blast: next.blast,
		attempt: next.tries.length + 1,
		...blastCount(cells)
	};
}
/** Other variants are measured in as many pairs as patched is, and no more. */
function openBlasts({ input, judgement, closed }) {
	const pairs = closed ? judgement?.look.pairs ?? 0 : input.nextPairs;
	const beside = input.blasts.filter((one) => one.needed && !isOfVerdict(one) && one.blast.runs.every((run) => run.pair <= pairs));
	return closed ? beside : [...input.open, ...beside];
}
function closedCells(plan, entries) {
	return standings(cellsSoFar(plan, entries), plan.policy).filter((one) => one.closed && openBlasts(one).length === 0).map(({ input, judgement }) => ({
		cell: input.cell,
		verdict: judgement?.verdict === "inconclusive" ? void 0 : judgement?.verdict,
		pairs: judgement?.look.pairs ?? input.closedPairs
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
async function writeLog(folder, name, content) {
	await mkdir(folder, { recursive: true });
	await writeFile(join(folder, name), content);
}

// src/gate.ts
/** Judges a patch; leaves the plan, the journal, raw logs, `result.json` and `report.md` in the work directory. */
async function gate(request, directory, world) {
	const { patch, config, testbeds } = request;
	await refuseUsed(directory);
	const rules = await readRules(config);
	const history = earlierEntries(await world.history.read(), world.now());
	const variants = await variantsBySystem(request, world.repository);
	return onTestbed(testbeds, patch, world, async (reserved) => {
		const { name: testbed } = reserved;
		const ours = variants.get(systemOf(config, testbed)) ?? [];
		const plan = makePlan({
			...request,
			testbed,
			rules
		}, ours, history);
		await writePlan(directory, plan);
		return carryOut(plan, directory, reserved, world);
	});
}
/**
* Goes on with a gate that was cut short: the plan of its work directory, less what its journal holds; with
* `maxRunsPerVariant` also with one that stayed inconclusive, for so many runs.
*/
async function resumeGate(directory, world, maxRunsPerVariant) {
	const written = await readPlan(directory);
	const plan = maxRunsPerVariant === void 0 ? written : extendPlan(written, maxRunsPerVariant);
	return onTestbed([plan.testbed], plan.patch, world, async (reserved) => {
		if (plan !== written) await replacePlan(directory, plan);
		return carryOut(plan, directory, reserved, world);
	});
}
/** What a variant is depends on what the testbed boots or lays. */
async function variantsBySystem({ patch, config, kernels, testbeds }, repository) {
	const built = [...new Set(testbeds.map((name) => systemOf(config, name)))].map(async (system) => {
		const request = {
			patch,
			system,
			overlayFolder: config.overlay,
			kernels
		};
		return [system, await buildVariants(request, repository)];
	});
	return new Map(await Promise.all(built));
}
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
/** Does the work on a testbed that is ours meanwhile, and gives it back whatever came of it. */
async function onTestbed(testbeds, patch, world, work) {
	const reserved = await world.reserve(testbeds, patch);
	let outcome = "ended";
	try {
		const result = await work(reserved);
		outcome = outcomeName(result);
		return result;
	} catch (error) {
		outcome = `ended: ${reasonOf(error)}`;
		reserved.signal.throwIfAborted();
		throw error;
	} finally {
		const trouble = await reserved.giveBack(outcome);
		if (trouble !== void 0) world.onEvent({
			kind: "warning",
			text: trouble
		});
	}
}
async function carryOut(plan, directory, reserved, world) {
	const { now, onEvent } = world;
	const signal = AbortSignal.any([world.signal, reserved.signal]);
	const testbed = await reserved.open(plan.traffic);
	try {
		const journal = await runExperiment({
			plan,
			testbed,
			directory,
			now,
			onEvent,
			signal
		});
		const warn = (text) => onEvent({
			kind: "warning",
			text
		});
		const { result, profiles } = await explained(assembleResult(plan, journal), directory, warn);
		await writeResult(directory, result, profiles, warn);
		await world.history.append(historyEntries(result));
		return result;
	} finally {
		await testbed.restore();
	}
}

export { resumeGate as n, gate as t };