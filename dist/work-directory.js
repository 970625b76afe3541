import { i as cellName } from "./design.js";
import { a as systemOf } from "./schema.js";
import { t as UsageError } from "./overrides.js";
import { _ as RepositoryError, a as openJournal, c as extendPlan, f as readPlan, g as buildVariants, h as writePlan, m as replacePlan, p as refuseUsed, s as cellsSoFar, t as assembleResult, u as makePlan } from "./assemble.js";
import { a as outcomeName, n as renderMarkdown } from "./markdown.js";
import { n as reasonOf } from "./one-line.js";
import { n as historyEntries } from "./history.js";
import { l as standings } from "./standing.js";
import { dirname, join } from "node:path";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";

// src/patch/range.ts
/** The last commit of the range names the patch. Throws a `RepositoryError` for what is no range. */
async function patchOfRange(repository, text) {
	const [, base, head] = /^(.+?)\.\.(.+)$/.exec(text) ?? [];
	if (base === void 0 || head === void 0) throw new RepositoryError(`"${text}" is no range of commits: write BASE..HEAD, like main..my-branch.`);
	const [baseCommit, headCommit] = [await repository.resolve(base), await repository.resolve(head)];
	const { subject, author } = await repository.describe(headCommit);
	return {
		kind: "range",
		title: subject,
		author,
		baseCommit,
		headCommit
	};
}

// src/experiment/experiment.ts
/** Runs every blast that the journal lacks; ends early when nothing can be measured with a variant. Answers the whole journal. */
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
		const prepared = await testbed.prepare({
			variants: plan.variants,
			rules: plan.rules,
			cells,
			keepLog: (name, text) => writeLog(join(directory, "builds"), name, text),
			tell: (text) => onEvent({
				kind: "preparing",
				text
			}),
			signal
		});
		if (prepared.kind === "rejected") {
			await journal.append(rejectionEntry(prepared, at()));
			return journal.entries;
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
			const keepLog = (name, text) => writeLog(join(directory, logs), name, text);
			const outcome = await testbed.blast(blast, keepLog, signal);
			if (outcome.kind === "rejected") {
				await journal.append(rejectionEntry(outcome, at()));
				return journal.entries;
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
		await journal.append({
			kind: "finished",
			at: at()
		});
		return journal.entries;
	} finally {
		await journal.close();
	}
}
/** Nothing can be said of a patch whose base does not work. */
var BaseRejectedError = class extends Error {
	name = "BaseRejectedError";
	constructor(rejection) {
		const { kind, message } = rejection;
		const panic = "panic" in rejection && rejection.panic ? ` It panicked: ${rejection.panic}.` : "";
		super(`The base itself ${baseFaults[kind]}, so nothing was measured: ${message}${panic}`);
	}
};
const baseFaults = {
	"does-not-apply": "does not apply",
	"build-failed": "does not build",
	"out-of-disk": "finds no room",
	"does-not-load": "does not load",
	"boot-failed": "does not boot",
	"panics-under-load": "panics under load"
};
function rejectionEntry({ variant, rejection }, at) {
	if (variant === "base") throw new BaseRejectedError(rejection);
	return {
		kind: "rejected",
		at,
		variant,
		rejection
	};
}
/**
* The next blast that an undecided cell needs for its next look; one that failed comes again after all others.
* Nothing but the journal decides, so a resumed experiment goes the same way.
*/
function nextBlast(plan, entries) {
	const cells = cellsSoFar(plan, entries);
	const undecided = standings(cells, plan.policy).filter(({ closed }) => !closed);
	const [next] = undecided.flatMap(({ input }) => input.open).toSorted((a, b) => a.tries.length - b.tries.length || a.blast.number - b.blast.number);
	if (next === void 0) return void 0;
	return {
		blast: next.blast,
		attempt: next.tries.length + 1,
		...blastCount(plan, cells, undecided)
	};
}
function closedCells(plan, entries) {
	return standings(cellsSoFar(plan, entries), plan.policy).filter((one) => one.closed).map(({ input, judgement }) => ({
		cell: input.cell,
		verdict: judgement?.verdict === "inconclusive" ? void 0 : judgement?.verdict,
		pairs: judgement?.look.pairs ?? input.closedPairs
	}));
}
/** How many blasts were measured, and how many there will be at most. */
function blastCount(plan, cells, undecided) {
	const names = new Set(undecided.map(({ input }) => cellName(input.cell)));
	const open = new Set(cells.flatMap((cell) => cell.open.map(({ blast }) => blast.number)));
	const measured = new Set(cells.flatMap(({ runs }) => runs.map((run) => run.blast)));
	const isDone = (number) => measured.has(number) && !open.has(number);
	const done = plan.blasts.filter(({ number }) => isDone(number)).length;
	return {
		done,
		of: done + plan.blasts.filter(({ number, cell }) => names.has(cellName(cell)) && !isDone(number)).length
	};
}
/** `003-forwarding-inet4`, and `003-forwarding-inet4.2` for a second attempt. */
function logFolder(blast, attempt) {
	const name = `${String(blast.number).padStart(3, "0")}-${cellName(blast.cell).replaceAll(" ", "-")}`;
	return attempt === 1 ? name : `${name}.${attempt}`;
}
async function writeLog(folder, name, text) {
	await mkdir(folder, { recursive: true });
	await writeFile(join(folder, name), text);
}

// src/report/write.ts
/** Writes `result.json` and `report.md`, each whole or not at all. */
async function writeResult(directory, result) {
	await replaceFile(join(directory, "result.json"), `${JSON.stringify(result, null, 2)}\n`);
	await replaceFile(join(directory, "report.md"), renderMarkdown(result));
}
/** Writes a file whole or not at all, in a folder that need not be there yet. */
async function replaceFile(path, text) {
	await mkdir(dirname(path), { recursive: true });
	const draft = `${path}.part`;
	await writeFile(draft, text, { flush: true });
	await rename(draft, path);
}

// src/gate.ts
/** Judges a patch; leaves the plan, the journal, raw logs, `result.json` and `report.md` in the work directory. */
async function gate(request, directory, world) {
	const { patch, config, testbeds } = request;
	await refuseUsed(directory);
	const rules = await readRules(config);
	const history = await world.history.read();
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
		const result = assembleResult(plan, journal);
		await writeResult(directory, result);
		await world.history.append(historyEntries(result));
		return result;
	} finally {
		await testbed.restore();
	}
}

// src/work-directory.ts
/** `ppsgate-demo-20261120-231655`, in the current directory. */
function timestampedDirectory(prefix, now = /* @__PURE__ */ new Date()) {
	const digits = now.toISOString().replace(/\D/g, "");
	return `${prefix}-${digits.slice(0, 8)}-${digits.slice(8, 14)}`;
}

export { patchOfRange as a, replaceFile as i, gate as n, resumeGate as r, timestampedDirectory as t };