import { makingOf, pathsThatCount, placesLeftAlone, testbedsThatDiffer, touchedCells, variantsByMaking } from "./build.js";
import { assembleResult, cellsOf, earlierEntries, extendPlan, finishedAt, gatePassenger, hasPlan, historyEntries, journalIn, makePlan, readJournal, readPlan, readRules, refuseUsed, replacePlan, runExperiment, unchangedResult, writePlan } from "./experiment.js";
import { explained, outcomeName, readResult, writeResult } from "./report.js";
import { UsageError, brokenOff, cellName, reasonOf, shortId } from "./words.js";

// src/gate.ts
/**
* Judges a patch; leaves the plan, the journal, raw logs, `result.json` and `report.md` in the work directory. Where it
* changes nothing that any of the testbeds would lay there is no plan: nothing is reserved, and that is the result.
*/
async function gate(request, directory, world) {
	const { patch, config } = request;
	if (request.isRelinked) refuseUnlinkable(request);
	await refuseUsed(directory);
	const rules = await readRules(config);
	const history = earlierEntries(await world.history.read(), world.now());
	const variants = await variantsByMaking(request, world.repository);
	const testbeds = request.isMeasuredAnyway || request.isRelinked ? request.testbeds : await testbedsThatDiffer({
		...request,
		variants
	}, world.repository);
	const plans = /* @__PURE__ */ new Map();
	const planOn = (testbed) => {
		const plan = plans.get(testbed) ?? planFor(testbed);
		plans.set(testbed, plan);
		return plan;
	};
	const planFor = async (testbed) => {
		const ours = variants.get(makingOf(config, testbed, request.kernels)) ?? [];
		const first = await cellsTouched(testbed, ours, request, world.repository);
		return makePlan({
			...request,
			testbed,
			rules,
			first
		}, ours, history);
	};
	if (testbeds.length === 0) {
		const [first = ""] = request.testbeds;
		const leftAlone = await placesLeftAlone(first, {
			...request,
			variants
		}, world.repository);
		const result = unchangedResult(await planOn(first), leftAlone, world.now());
		await writeResult(directory, result);
		return result;
	}
	return measure({
		testbeds,
		patch,
		planOn,
		directory
	}, world, async (testbed) => {
		const plan = await planOn(testbed);
		if (!await hasPlan(directory)) await writePlan(directory, plan);
		tellFirst(plan, world);
		return plan;
	});
}
/** Measures by itself or together with others, whichever testbed is free; `begin` writes down what is planned there. */
async function measure({ testbeds, patch, directory, planOn }, world, begin) {
	if (world.board === void 0) return onTestbed(testbeds, patch, world, outcomeName, async (reserved) => carryOut(await begin(reserved.name), directory, reserved, world));
	const { onEvent } = world;
	const passenger = await gatePassenger({
		directory,
		testbeds,
		planOn,
		begin,
		onEvent
	});
	const reserved = await world.board(testbeds, patch, passenger);
	if (reserved === void 0) {
		const journal = await readJournal(journalIn(directory));
		return conclude(await readPlan(directory), journal, directory, world);
	}
	return thenGivenBack(() => reserved, world, outcomeName, async () => {
		const plan = await begin(reserved.name);
		return carryOut(plan, directory, reserved, world, reserved.company?.(plan));
	});
}
/** The cells that come first; none where git cannot list what differs, as between trees far apart. */
async function cellsTouched(testbed, [base, patched], { config, cells = cellsOf(config) }, repository) {
	if (base === void 0 || patched === void 0) return [];
	const on = {
		config,
		testbed
	};
	const changed = await pathsThatCount(base, patched, on, repository).catch(() => []);
	return touchedCells(changed, cells, on);
}
function tellFirst({ cells }, { onEvent }) {
	const first = cells.flatMap(({ cell, isFirst }) => isFirst ? cellName(cell) : []);
	if (first.length === 0) return;
	onEvent({
		kind: "told",
		text: `Of the files that the patch changes these cells depend most, and come first: ${first.join(", ")}.`
	});
}
/** Throws a `UsageError` where patched is not base, or no kernel is built of which another link could be made. */
function refuseUnlinkable({ patch, config, testbeds, kernels }) {
	if (patch.baseCommit !== patch.headCommit) throw new UsageError(`Another link is measured of one commit, found ${shortId(patch.baseCommit)} and ${shortId(patch.headCommit)}: name the same commit twice, like main..main.`);
	const unlinkable = testbeds.find((name) => {
		const testbed = config.testbeds[name];
		return testbed?.kind !== "freebsd" || testbed.builder === void 0;
	});
	if (kernels === void 0 && unlinkable === void 0) return;
	throw new UsageError(`Another link is made of kernels that are built, and ${unlinkable ?? "this gate"} ${unlinkable ? "has no builder" : "was given kernels"}: ask for a FreeBSD testbed with a \`builder\`, without kernels of your own.`);
}
/**
* Goes on with a gate that was cut short: the plan of its work directory, less what its journal holds; with
* `maxRunsPerVariant` also with one that stayed inconclusive, for so many runs. One that has finished, or had nothing to
* measure, is told again, and needs no testbed.
*/
async function resumeGate(directory, world, maxRunsPerVariant) {
	const unplanned = await unplannedResult(directory);
	if (unplanned !== void 0) return unplanned;
	const written = await readPlan(directory);
	const plan = maxRunsPerVariant === void 0 ? written : extendPlan(written, maxRunsPerVariant);
	const journal = await readJournal(journalIn(directory));
	const finished = finishedAt(plan, journal);
	if (finished !== void 0) {
		world.onEvent({
			kind: "finished-before",
			at: finished
		});
		const kept = await readResult(directory).catch(() => void 0);
		return kept?.finishedAt === finished ? kept : conclude(plan, journal, directory, world);
	}
	const { patch, testbed } = plan;
	return measure({
		testbeds: [testbed],
		patch,
		directory,
		planOn: async () => plan
	}, world, async () => {
		if (plan !== written) await replacePlan(directory, plan);
		return plan;
	});
}
/** What was found before there was anything to plan; undefined where there is a plan, or nothing at all. */
async function unplannedResult(directory) {
	if (await hasPlan(directory)) return void 0;
	const kept = await readResult(directory).catch(() => void 0);
	return kept?.outcome.kind === "unchanged" ? kept : void 0;
}
/**
* Does the work on a testbed that is ours meanwhile, and gives it back whatever came of it; `nameOf` says that for the
* log of reservations.
*/
async function onTestbed(testbeds, patch, world, nameOf, work) {
	const reserved = await world.reserve(testbeds, patch);
	return thenGivenBack(() => reserved, world, nameOf, () => work(reserved));
}
/** Does the work, and gives back whatever testbed it has by then. */
async function thenGivenBack(ours, { onEvent }, nameOf, work) {
	let outcome = "ended";
	try {
		const result = await work();
		outcome = nameOf(result);
		return result;
	} catch (error) {
		outcome = brokenOff(reasonOf(error));
		ours()?.signal.throwIfAborted();
		throw error;
	} finally {
		const trouble = await ours()?.giveBack(outcome);
		if (trouble !== void 0) onEvent({
			kind: "warning",
			text: trouble
		});
	}
}
async function carryOut(plan, directory, reserved, world, company) {
	const { now, onEvent } = world;
	const signal = AbortSignal.any([world.signal, reserved.signal]);
	const testbed = await reserved.open(plan.traffic);
	try {
		const options = {
			plan,
			testbed,
			directory,
			now,
			onEvent,
			signal
		};
		if (company === void 0) return await conclude(plan, await runExperiment(options), directory, world);
		let early;
		const ownEnded = async (entries) => {
			early = conclude(plan, entries, directory, world);
			if (!await early.then(() => true, () => false)) return;
			const text = `The result is in ${directory}; the others are measured to their end.`;
			onEvent({
				kind: "told",
				text
			});
		};
		const journal = await runExperiment({
			...options,
			company: {
				...company,
				ownEnded
			}
		});
		return await (early ?? conclude(plan, journal, directory, world));
	} finally {
		await testbed.restore();
	}
}
/** The history first: a result that is there has taught it. */
async function conclude(plan, journal, directory, { history, onEvent }) {
	const warn = (text) => onEvent({
		kind: "warning",
		text
	});
	const { result, profiles } = await explained(assembleResult(plan, journal), directory, warn);
	await history.append(historyEntries(result));
	await writeResult(directory, result, profiles, warn);
	return result;
}

export { gate, onTestbed, resumeGate, thenGivenBack };