import { UsageError, outcomeName } from "./model/first-plain.js";
import { shortId } from "./model/first.js";
import { extendPlan, hasPlan, historyEntries, journalIn, readJournal, readPlan, replacePlan } from "./gate/experiment/first.js";
import { explained, readResult, writeResult } from "./report.js";
import { onTestbed } from "./gate/first-plain.js";
import { assembleResult, finishedAt, runExperiment } from "./gate/experiment.js";
import { gate } from "./gate/first.js";

// src/gate/layout-noise-gate.ts
/** Throws a `UsageError` if patched is not base, or if no kernel is built that could be linked again. */
async function gateLayoutNoise(request, directory, deps) {
	refuseUnlinkable(request);
	return gate({
		...request,
		measuresLayoutNoise: true,
		isMeasuredAnyway: true
	}, directory, deps);
}
function refuseUnlinkable({ patch, config, testbeds, kernels }) {
	if (patch.baseCommit !== patch.headCommit) throw new UsageError(`Another layout variant needs a single commit, found ${shortId(patch.baseCommit)} and ${shortId(patch.headCommit)}: name the same commit twice, like main..main.`);
	const unlinkable = testbeds.find((name) => {
		const testbed = config.testbeds[name];
		return testbed?.kind !== "freebsd" || testbed.builder === void 0;
	});
	if (kernels === void 0 && unlinkable === void 0) return;
	throw new UsageError(`Another layout variant needs a kernel build, but ${unlinkable ?? "this gate"} ${unlinkable ? "has no builder" : "was given kernels"}: select a FreeBSD testbed with a \`builder\`, and supply no kernels.`);
}

// src/gate/measure.ts
async function measure(plan, directory, reserved, deps) {
	const { now, onEvent } = deps;
	const signal = AbortSignal.any([deps.signal, reserved.signal]);
	const testbed = await reserved.open(plan.traffic);
	try {
		return await conclude(plan, await runExperiment({
			plan,
			testbed,
			directory,
			now,
			onEvent,
			signal
		}), directory, deps);
	} finally {
		await testbed.restore();
	}
}
/** Appends to the history first, so that an existing result implies it. */
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

// src/gate/resume-gate.ts
/**
* Measures what the work directory's journal lacks; with `maxRunsPerVariant`, up to that many runs. A gate that
* finished, or had nothing to measure, returns its result and needs no testbed.
*/
async function resumeGate(directory, deps, maxRunsPerVariant) {
	const unplanned = await unplannedResult(directory);
	if (unplanned !== void 0) return unplanned;
	const written = await readPlan(directory);
	const plan = maxRunsPerVariant === void 0 ? written : extendPlan(written, maxRunsPerVariant);
	const journal = await readJournal(journalIn(directory));
	const finished = finishedAt(plan, journal);
	if (finished !== void 0) {
		deps.onEvent({
			kind: "finished-before",
			at: finished
		});
		const kept = await readResult(directory).catch(() => void 0);
		return kept?.finishedAt === finished ? kept : conclude(plan, journal, directory, deps);
	}
	return onTestbed([plan.testbed], plan.patch, deps, outcomeName, async (reserved) => {
		if (plan !== written) await replacePlan(directory, plan);
		return measure(plan, directory, reserved, deps);
	});
}
/** Returns a result without a plan; undefined if there is a plan, or no result. */
async function unplannedResult(directory) {
	if (await hasPlan(directory)) return void 0;
	const kept = await readResult(directory).catch(() => void 0);
	return kept?.outcome.kind === "unchanged" ? kept : void 0;
}

export { conclude, gateLayoutNoise, measure, resumeGate };