import { bisect, gateRunsOf, hasBisectPlan, resumeBisection } from "./bisect.js";
import "./config.js";
import { isOfGate } from "./data-branch.js";
import { cellsAmong, hasPlan, readPlan, refuseUsed } from "./experiment.js";
import { gate, resumeGate, thenGivenBack } from "./gate.js";
import { expectOnLine, patchOfRange } from "./patch.js";
import { outcomeName } from "./report.js";
import { isOfOneCommit, isRelinked } from "./trend.js";
import { cellName, patchName, reasonOf, shortId, upshotOfError } from "./words.js";
import { join } from "node:path";

// src/night.ts
/**
* Measures a commit against itself, in one lease of one testbed: once more where it is off, then the last good commit of
* each change that may be one against the first bad one, and where `trend.bisect` is on the commits between, where that
* has lost; on Sundays, where kernels are linked often, another link of the same tree. Answers the result of the commit against itself. What is measured besides, each in a folder of its own, may
* fail, which is a warning.
*/
async function night(request, directory, world) {
	await refuseUsed(directory);
	return wholeNight(request, directory, world);
}
/**
* Goes on with a night that was cut short: what is measured of it already is told again, and needs no testbed. Throws a
* `PlanError` where nothing was planned yet.
*/
async function resumeNight(request, directory, world) {
	const { patch, testbed } = await readPlan(directory);
	return wholeNight({
		...request,
		patch,
		testbeds: [testbed]
	}, directory, world);
}
/** The first part that has something to measure reserves the testbed, and the others have it, too. */
async function wholeNight(request, directory, world) {
	let lease;
	const within = {
		...world,
		board: void 0,
		async reserve(testbeds, patch) {
			lease ??= await world.reserve(testbeds, patch);
			return {
				...lease,
				giveBack: async () => void 0
			};
		}
	};
	return thenGivenBack(() => lease, world, outcomeName, async () => {
		const config = {
			...request.config,
			gate: measuredToTheEnd(request.config.gate)
		};
		const own = {
			...request,
			config,
			isMeasuredAnyway: true
		};
		const result = await judged(own, directory, within);
		await world.keep(toldOf(result, "night"));
		await followUp(result, {
			request: {
				...own,
				testbeds: [result.testbed.name]
			},
			directory,
			world: within
		}).catch((error) => {
			world.signal.throwIfAborted();
			const text = `No more is measured of this night: ${reasonOf(error)}`;
			world.onEvent({
				kind: "warning",
				text
			});
		});
		return result;
	});
}
/** A night is asked for the level of every cell, and an alarm in one of them tells nothing of the others. */
const measuredToTheEnd = ({ stopsAtFirst: _, ...rest }) => rest;
const judged = async (request, directory, world) => await hasPlan(directory) ? resumeGate(directory, world) : gate(request, directory, world);
/**
* What a result of a night tells of the branch: one of a single commit is a night of its own, all others are of a change
* that was seen before.
*/
function toldOf(result, occasion = "again") {
	const isOfOne = isOfGate(result) && isOfOneCommit(result);
	return {
		result,
		isTrusted: true,
		isDefaultBranch: isOfOne,
		...isOfOne && { occasion }
	};
}
/** Where a part of a night lies, below the work directory of the night. */
function folderOf({ result, occasion }) {
	if (!isOfGate(result)) return bisectFolder(result.good, result.bad);
	const { baseCommit, headCommit } = result.patch;
	if (occasion === void 0) return gateFolder(baseCommit, headCommit);
	if (occasion === "night") return "";
	return isRelinked(result) ? relinked : again;
}
const again = "again";
const relinked = "relinked";
const gateFolder = (good, bad) => `gate-${shortId(good)}-${shortId(bad)}`;
const bisectFolder = (good, bad) => `bisect-${shortId(good)}-${shortId(bad)}`;
/** What git tells of a commit of the branch whose numbers are kept. */
async function factsOf(commit, repository) {
	const release = await repository.releaseBefore(commit);
	return {
		commits: { [commit]: await repository.committedAt(commit) },
		releases: release === void 0 ? [] : [release]
	};
}
/** Whatever the numbers of a commit against itself ask for. */
async function followUp(result, step) {
	const { request, directory, world } = step;
	const { config, patch } = request;
	const [testbed = ""] = request.testbeds;
	const tonight = await world.trend(testbed, patch);
	if (tonight === void 0) return;
	const all = [toldOf(result, "night")];
	const keep = async (measured) => {
		const told = toldOf(measured);
		all.push(told);
		await world.keep(told);
	};
	const cells = tonight.cellsOff(result);
	if (cells.length > 0) {
		tell(world, `Not where it was in the nights before: ${cells.map(cellName).join(", ")}. It is measured again.`);
		await keep(await judged({
			...request,
			cells
		}, join(directory, again), world));
	}
	const each = async (changes, answer) => {
		for (const change of changes) {
			const { good, bad, metric } = change;
			if (metric !== config.gate.metric || cellsIn(change, config).length === 0) continue;
			await expectOnLine([good, bad], patch.headCommit, world.repository).then(() => answer(change)).catch(unlessOfThis(change, world));
		}
	};
	await each(tonight.wantedGates(all), async (change) => keep(await confirmed(change, step)));
	if (config.trend.bisect) await each(tonight.wantedBisections(all), async (change) => {
		if (await world.repository.stepsSince(change.good, change.bad) < 2) return;
		await keep(await searched(change, all, step));
	});
	if (world.now().getUTCDay() === sunday && isLinkedOften(config, testbed)) {
		tell(world, "Another link of the same tree is measured, as every Sunday: what builds differ in.");
		const asked = {
			...request,
			isRelinked: true
		};
		await keep(await judged(asked, join(directory, relinked), untaught(world)));
	}
}
const sunday = 0;
function isLinkedOften({ testbeds }, name) {
	const testbed = testbeds[name];
	return testbed?.kind === "freebsd" && (testbed.builder?.relink ?? 1) > 1;
}
/** What commits of other days do is nothing to hold against the next patch. */
const untaught = (world) => ({
	...world,
	history: {
		...world.history,
		append: async () => {}
	}
});
const cellsIn = ({ cells }, config) => cellsAmong(config, cells.map(({ cell }) => cell));
/** The last good commit against the first bad one, in the cells that have changed. */
async function confirmed(change, { request, directory, world }) {
	const { good, bad } = change;
	const patch = await patchOfRange(world.repository, `${good}..${bad}`);
	const cells = cellsIn(change, request.config);
	tell(world, `${patchName(patch)} may have changed ${cells.map(cellName).join(", ")}: a gate looks.`);
	const asked = {
		...request,
		patch,
		cells,
		isMeasuredAnyway: false
	};
	return judged(asked, join(directory, gateFolder(good, bad)), untaught(world));
}
/** The commits of a change, in its worst cell, with what the gate of both ends has measured there. */
async function searched(change, all, { request, directory, world }) {
	const { good, bad } = change;
	tell(world, `The commits after ${shortId(good)} up to ${shortId(bad)} are bisected.`);
	const [gated] = all.flatMap(({ result }) => isOfGate(result) && isOf(change, result) ? result : []);
	const from = gated && gateRunsOf(gated);
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
	const asked = {
		...request,
		...ends,
		...bounds,
		config
	};
	const folder = join(directory, bisectFolder(good, bad));
	return await hasBisectPlan(folder) ? resumeBisection(folder, untaught(world)) : bisect(asked, folder, untaught(world));
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
/** A change whose commits are gone, as after a forced push, must not keep the others from being looked at. */
const unlessOfThis = ({ good, bad }, world) => (error) => {
	if (upshotOfError(error) !== "usage") throw error;
	const text = `What changed after ${shortId(good)} up to ${shortId(bad)} cannot be looked at: ${reasonOf(error)}`;
	world.onEvent({
		kind: "warning",
		text
	});
};
const tell = ({ onEvent }, text) => onEvent({
	kind: "told",
	text
});

export { factsOf, folderOf, night, resumeNight, toldOf };