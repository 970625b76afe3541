import { namingStyles } from "../config/parameters.js";
import { outcomeName } from "../model/first-plain.js";
import { openRepository, patchOfRange } from "../forge/patch/first.js";
import { applyOverrides, parseConfig } from "../config/first.js";
import { sum } from "../vendor/simple-statistics.js";
import { hasPlan, historyFile } from "../gate/experiment/first.js";
import { readResult } from "../report.js";
import { bisect, hasBisectPlan, resumeBisection } from "../gate/bisect.js";
import { gate } from "../gate/first.js";
import { openHere, realDeps } from "../gate/testbeds/first.js";
import { resumeGate } from "../gate.js";
import { unshared } from "../lab/plain.js";
import { baseBranch, bisectCommits, culpritSubject, demoConfig, demoPatches, freebsdDemoConfig, freebsdDemoPatches, makeBisectRepository, makeDemoRepository, makeFreebsdDemoRepository, makeVirtualDemoRepository, virtualDemoConfig, virtualDemoPatches } from "./demo/plain.js";
const { join } = globalThis.process.getBuiltinModule("node:path");
const { access } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/cli/demo/demo.ts
const embeddedDemo = {
	patches: demoPatches,
	config: demoConfig,
	metric: "nsPerPacket",
	makeRepository: makeDemoRepository
};
const virtualDemo = (kernels) => ({
	patches: virtualDemoPatches,
	config: virtualDemoConfig(kernels.base),
	metric: "instructionsPerPacket",
	makeRepository: makeVirtualDemoRepository,
	kernels
});
/** Judges a ruleset of pf, and kernels if some are given. */
const freebsdDemo = (image, kernels) => ({
	patches: freebsdDemoPatches.filter(({ boots }) => !boots || kernels !== void 0),
	config: freebsdDemoConfig(image),
	metric: "instructionsPerPacket",
	makeRepository: makeFreebsdDemoRepository,
	...kernels !== void 0 && { kernels }
});
async function runDemo(options) {
	const { directory, subject, seed, design, onPatch, signal } = options;
	const repositoryDirectory = join(directory, "repository");
	if (!await exists(repositoryDirectory)) await subject.makeRepository(repositoryDirectory);
	const repository = openRepository(repositoryDirectory);
	const path = join(repositoryDirectory, "ppsgate.yml");
	const written = parseConfig(subject.config, {
		path,
		home: "/nonexistent"
	});
	const config = applyOverrides(written, { design }, namingStyles.flag);
	const [testbed = ""] = Object.keys(config.testbeds);
	const judged = [];
	for (const [index, demoPatch] of subject.patches.entries()) {
		const work = join(directory, demoPatch.branch);
		const progress = onPatch(demoPatch, index);
		const notify = (text) => progress.onEvent({
			kind: "preparing",
			text
		});
		const machines = {
			...realDeps,
			notify,
			signal
		};
		const deps = {
			repository,
			reserve: async () => unshared(testbed, (traffic) => openHere(testbed, traffic, config, machines)),
			history: historyFile(config.history),
			now: () => /* @__PURE__ */ new Date(),
			onEvent: progress.onEvent,
			signal
		};
		const patch = await patchOfRange(repository, `${baseBranch}..${demoPatch.branch}`);
		const kernels = demoPatch.boots && subject.kernels;
		const result = await judge({
			patch,
			config,
			testbeds: [testbed],
			seed,
			kernels
		}, work, deps).finally(progress.end);
		judged.push({
			patch: demoPatch,
			directory: work,
			result,
			asExpected: isExpected(demoPatch, result)
		});
	}
	return judged;
}
/** Skips a patch that an earlier process finished, and resumes one that it began. */
async function judge(request, directory, deps) {
	if (await exists(join(directory, "result.json"))) return readResult(directory);
	return await hasPlan(directory) ? resumeGate(directory, deps) : gate(request, directory, deps);
}
/** Includes traffic for profiles. */
function trafficSeconds({ trials, outcome }) {
	const profiles = (outcome.kind === "judged" ? outcome.cells : []).flatMap((cell) => cell.profiles);
	return sum([...trials.map((trial) => trial.trafficSeconds), ...profiles.map((profile) => profile.kind === "profiled" ? profile.seconds : 0)]);
}
function isExpected({ expected }, result) {
	const outcome = outcomeName(result);
	return expected === void 0 ? decidedVerdicts.has(outcome) : outcome === expected;
}
const decidedVerdicts = /* @__PURE__ */ new Set([
	"regression",
	"no-regression",
	"improvement"
]);
const exists = (path) => access(path).then(() => true, () => false);

// src/cli/demo/demo-bisection.ts
const bisectNames = {
	repository: "commits",
	work: "bisect"
};
async function runBisectDemo(options) {
	const { directory, seed, onEvent, signal } = options;
	const repositoryDirectory = join(directory, bisectNames.repository);
	const work = join(directory, bisectNames.work);
	if (!await access(repositoryDirectory).then(() => true, () => false)) await makeBisectRepository(repositoryDirectory);
	const path = join(repositoryDirectory, "ppsgate.yml");
	const written = parseConfig(demoConfig, {
		path,
		home: "/nonexistent"
	});
	const config = applyOverrides(written, {
		scenarios: "forwarding",
		families: "inet4"
	}, namingStyles.flag);
	const [testbed = ""] = Object.keys(config.testbeds);
	const deps = {
		repository: openRepository(repositoryDirectory),
		reserve: async () => unshared(testbed, (traffic) => openHere(testbed, traffic, config)),
		history: historyFile(config.history),
		now: () => /* @__PURE__ */ new Date(),
		onEvent,
		signal
	};
	const request = {
		good: `${baseBranch}~${bisectCommits.length}`,
		bad: baseBranch,
		fixUps: [],
		skips: [],
		config,
		testbeds: [testbed],
		seed,
		mostBoots: 60,
		isVerified: false
	};
	const result = await hasBisectPlan(work) ? await resumeBisection(work, deps) : await bisect(request, work, deps);
	return {
		directory: work,
		result,
		asExpected: namesCulprit(result)
	};
}
function namesCulprit({ answer, revisions }) {
	return answer.kind === "culprit" && revisions[answer.revision]?.subject === "Look sixteen times more for protocol 254";
}

// src/cli/demo/demo-names.ts
const works = [...demoPatches.map(({ branch }) => branch), bisectNames.work];
const repositories = ["repository", bisectNames.repository];
const demoNames = {
	names: [
		...repositories,
		...repositories.map((name) => `${name}.part`),
		"history.jsonl",
		...works
	],
	marks: works
};

export { bisectNames, demoNames, embeddedDemo, freebsdDemo, runBisectDemo, runDemo, trafficSeconds, virtualDemo };