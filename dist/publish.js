import { isOfOneCommit, measuresLayoutNoise } from "./analysis/trend.js";
import "./config/parameters.js";
import { expectOnLine, patchOfRange } from "./forge/patch/first.js";
import { bisect, gateFindingOf, hasBisectPlan, resumeBisection } from "./gate/bisect.js";
import { cellsAmong, hasPlan, readPlan } from "./gate/experiment/first.js";
import { refuseUsed } from "./gate/experiment/first-plain.js";
import { gate } from "./gate/first.js";
import { gateLayoutNoise, resumeGate } from "./gate.js";
import { thenReleased } from "./gate/first-plain.js";
import { conclusionOfError, outcomeName, reasonOf } from "./model/first-plain.js";
import { cellName, patchName, shortId } from "./model/first.js";
import { isOfGate } from "./publish/data-branch.js";
const { join } = globalThis.process.getBuiltinModule("node:path");

// src/publish/nightly.ts
/**
* Measures a commit against itself under one lease of one testbed. Measures cells off their level again. Each possible
* change gets a gate of its last good and first bad commit and, with `trend.bisect`, a bisection of a confirmed loss.
* On Sundays it measures another layout variant, if the testbed builds several. Returns the A/A result; follow-ups have
* their own folders, and a failure of one is only a warning.
*/
async function nightlyRun(request, directory, deps) {
	await refuseUsed(directory);
	return runOnOneLease(request, directory, deps);
}
/** Resumes a nightly run; returns finished parts without a testbed. Throws a `PlanError` if nothing was planned. */
async function resumeNightly(request, directory, deps) {
	const { patch, testbed } = await readPlan(directory);
	return runOnOneLease({
		...request,
		patch,
		testbeds: [testbed]
	}, directory, deps);
}
/** The first part with something to measure reserves the testbed for all parts. */
async function runOnOneLease(request, directory, deps) {
	let lease;
	const leased = {
		...deps,
		async reserve(testbeds, patch) {
			lease ??= await deps.reserve(testbeds, patch);
			return {
				...lease,
				giveBack: async () => void 0
			};
		}
	};
	return thenReleased(() => lease, deps, outcomeName, async () => {
		const config = {
			...request.config,
			gate: withoutEarlyStop(request.config.gate)
		};
		const aaRequest = {
			...request,
			config,
			isMeasuredAnyway: true
		};
		const result = await gateOrResume(aaRequest, directory, leased);
		await deps.keep(trendUpdateOf(result, "nightly"));
		await runFollowUps(result, {
			request: {
				...aaRequest,
				testbeds: [result.testbed.name]
			},
			directory,
			deps: leased
		}).catch((error) => {
			deps.signal.throwIfAborted();
			const text = `The rest of this nightly run is skipped: ${reasonOf(error)}`;
			deps.onEvent({
				kind: "warning",
				text
			});
		});
		return result;
	});
}
/** A nightly run needs every cell's level, even after an alarm in one of them. */
const withoutEarlyStop = ({ stopsAtFirst: _, ...rest }) => rest;
const gateOrResume = async (request, directory, deps, begin = gate) => await hasPlan(directory) ? resumeGate(directory, deps) : begin(request, directory, deps);
/** An A/A result of a single commit is a nightly run of the branch. Any other result follows up an earlier change. */
function trendUpdateOf(result, occasion = "again") {
	const isOfOne = isOfGate(result) && isOfOneCommit(result);
	return {
		result,
		isTrusted: true,
		isDefaultBranch: isOfOne,
		...isOfOne && { occasion }
	};
}
function nightlyFolder({ result, occasion }) {
	if (!isOfGate(result)) return bisectFolder(result.good, result.bad);
	const { baseCommit, headCommit } = result.patch;
	if (occasion === void 0) return gateFolder(baseCommit, headCommit);
	if (occasion === "nightly") return "";
	return measuresLayoutNoise(result) ? layoutNoise : again;
}
const again = "again";
const layoutNoise = "layout-noise";
const gateFolder = (good, bad) => `gate-${good}-${bad}`;
const bisectFolder = (good, bad) => `bisect-${good}-${bad}`;
async function commitFacts(commit, repository) {
	const release = await repository.releaseBefore(commit);
	return {
		commits: { [commit]: await repository.committedAt(commit) },
		releases: release === void 0 ? [] : [release]
	};
}
async function runFollowUps(result, context) {
	const { request, directory, deps } = context;
	const { config, patch } = request;
	const [testbed = ""] = request.testbeds;
	const plan = await deps.trend(testbed, patch);
	if (plan === void 0) return;
	const updates = [trendUpdateOf(result, "nightly")];
	const keep = async (measured) => {
		const update = trendUpdateOf(measured);
		updates.push(update);
		await deps.keep(update);
	};
	const cells = plan.cellsOffLevel(result);
	if (cells.length > 0) {
		notify(deps, `These cells differ from earlier nightly runs and are measured again: ${cells.map(cellName).join(", ")}.`);
		await keep(await gateOrResume({
			...request,
			cells
		}, join(directory, again), deps));
	}
	const each = async (changes, measure) => {
		for (const change of changes) {
			const { good, bad, metric } = change;
			if (metric !== config.gate.metric || cellsIn(change, config).length === 0) continue;
			await expectOnLine([good, bad], patch.headCommit, deps.repository).then(() => measure(change)).catch(warnOfMissingCommits(change, deps));
		}
	};
	await each(plan.changesToGate(updates), async (change) => keep(await gateChange(change, context)));
	if (config.trend.bisect) await each(plan.changesToBisect(updates), async (change) => {
		if (await deps.repository.stepsSince(change.good, change.bad) < 2) return;
		await keep(await bisectChange(change, updates, context));
	});
	if (deps.now().getUTCDay() === sunday && hasLayoutVariants(config, testbed)) {
		notify(deps, "Measuring another layout variant of the same tree, as every Sunday.");
		await keep(await gateOrResume(request, join(directory, layoutNoise), withoutHistory(deps), gateLayoutNoise));
	}
}
const sunday = 0;
function hasLayoutVariants({ testbeds }, name) {
	const testbed = testbeds[name];
	return testbed?.kind === "freebsd" && (testbed.builder?.layoutVariants ?? 1) > 1;
}
/** Runs of other commits must not enter the history that patches are compared with. */
const withoutHistory = (deps) => ({
	...deps,
	history: {
		...deps.history,
		append: async () => {}
	}
});
const cellsIn = ({ cells }, config) => cellsAmong(config, cells.map(({ cell }) => cell));
async function gateChange(change, { request, directory, deps }) {
	const { good, bad } = change;
	const patch = await patchOfRange(deps.repository, `${good}..${bad}`);
	const cells = cellsIn(change, request.config);
	notify(deps, `${patchName(patch)} may have changed ${cells.map(cellName).join(", ")}: a gate compares both commits.`);
	const gateRequest = {
		...request,
		patch,
		cells,
		isMeasuredAnyway: false
	};
	return gateOrResume(gateRequest, join(directory, gateFolder(good, bad)), withoutHistory(deps));
}
/** Bisects in the worst cell of the gate of both ends. */
async function bisectChange(change, updates, { request, directory, deps }) {
	const { good, bad } = change;
	notify(deps, `Bisecting the commits after ${shortId(good)} up to ${shortId(bad)}.`);
	const [gated] = updates.flatMap(({ result }) => isOfGate(result) && isOf(change, result) ? result : []);
	const from = gated && gateFindingOf(gated);
	const config = withOneCell(request.config, from?.cell ?? worstCell(change, request.config));
	const ends = {
		good,
		bad,
		fixUps: [],
		skips: [],
		from
	};
	const bounds = {
		mostBoots: 60,
		isVerified: false
	};
	const bisectRequest = {
		...request,
		...ends,
		...bounds,
		config
	};
	const folder = join(directory, bisectFolder(good, bad));
	return await hasBisectPlan(folder) ? resumeBisection(folder, withoutHistory(deps)) : bisect(bisectRequest, folder, withoutHistory(deps));
}
const isOf = ({ good, bad }, { patch }) => patch.baseCommit === good && patch.headCommit === bad;
function worstCell(change, config) {
	const names = cellsIn(change, config).map(cellName);
	return change.cells.filter(({ cell }) => names.includes(cellName(cell))).toSorted((a, b) => Math.abs(b.changeRatio) - Math.abs(a.changeRatio))[0]?.cell;
}
function withOneCell(config, cell) {
	if (cell === void 0) return config;
	const { scenario, family, frameBytes } = cell;
	const size = frameBytes === void 0 ? {} : { frameSizes: [frameBytes] };
	return {
		...config,
		scenarios: [scenario],
		families: [family],
		...size
	};
}
/** Skips a change whose commits are gone, for example after a forced push, so that it does not stop the others. */
const warnOfMissingCommits = ({ good, bad }, deps) => (error) => {
	if (conclusionOfError(error) !== "usage") throw error;
	const text = `The change after ${shortId(good)} up to ${shortId(bad)} cannot be measured: ${reasonOf(error)}`;
	deps.onEvent({
		kind: "warning",
		text
	});
};
const notify = ({ onEvent }, text) => onEvent({
	kind: "note",
	text
});

export { commitFacts, nightlyFolder, nightlyRun, resumeNightly, trendUpdateOf };