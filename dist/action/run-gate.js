import { applyOverrides, testbedsFor } from "../config/first.js";
import { namingStyles } from "../config/parameters.js";
import { randomSeed } from "../gate/experiment/first.js";
import { gate, inSession } from "../gate/first.js";
import { resumeGate } from "../gate.js";
import { UsageError } from "../model/first-plain.js";
import { commitFacts, nightlyFolder, nightlyRun } from "../publish.js";
import { outcomeOfResult } from "../publish/reporters/first.js";
import { isBisection, isMeasuredAnyway, nightlyPart } from "./approved-request.js";
import { fetchExperiment, runsToExtend } from "./extend.js";
import { gateNames, selectorsFor } from "./job.js";
import { planFollowUps, readBranchTrend, readDirectoryTrend } from "../publish/data-branch.js";
import { explained } from "../report.js";
import { log } from "./log.js";
import { publishData } from "./shared-history.js";
import { reportTrend } from "./report-trend.js";
import { runMeasuringJob } from "./measuring-job.js";
const { join } = globalThis.process.getBuiltinModule("node:path");
const { copyFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/action/measured-nightly.ts
function nightlyDeps(deps, job) {
	const { context, config, isAlone, directory, file } = job;
	let parts = 0;
	return {
		...deps,
		repository: context.repository,
		trend: (testbed, { headCommit }) => nightlyPlanOf(testbed, headCommit, job),
		async keep(part) {
			const folder = join(directory, nightlyFolder(part));
			if (isAlone) {
				const { profiles } = await explained(part.result, folder, log.warn);
				await publishData(context, config, [{
					...part,
					profiles
				}]);
				if (!part.isDefaultBranch) await reportTrend(context, config, [part.result.testbed.name]);
			}
			const name = part.occasion === "nightly" ? "result" : nightlyPart(++parts);
			const written = join(folder, "result.json");
			if (parts <= 20 && file(name) !== written) await copyFile(written, file(name));
		}
	};
}
async function nightlyPlanOf(testbed, commit, { context: { octokit, repository, inputs }, config }) {
	const { branch, directory } = config.github.data;
	const { repository: name } = inputs.job;
	const trend = branch !== void 0 ? await readBranchTrend(octokit, {
		repository: name,
		branch
	}, testbed) : directory && await readDirectoryTrend(directory);
	if (!trend) return void 0;
	const { commits } = await commitFacts(commit, repository);
	return planFollowUps(trend, {
		testbed,
		commits,
		now: () => /* @__PURE__ */ new Date()
	});
}

// src/action/run-gate.ts
const runGate = (context, signal, within = inSession) => runMeasuringJob({
	command: "gate",
	onAdmission: withoutBisection,
	plan
}, context, {
	within,
	signal
});
/** Workflows older than bisections have no job for them. */
function withoutBisection(admission) {
	if (admission.kind !== "bisect") return admission;
	const { patch } = admission.request;
	if (patch.kind !== "pull-request") throw new UsageError(noBisection);
	return {
		kind: "mistaken",
		pullRequest: patch,
		why: noBisection
	};
}
const noBisection = "A job with `command: gate` runs no bisection: add a job with `command: bisect` to the workflow, as `ppsgate init` writes it.";
function plan(request, written, { inputs }) {
	if (isBisection(request)) throw new UsageError(noBisection);
	const configured = applyOverrides(written, inputs.overrides, namingStyles.input);
	const config = applyOverrides(configured, request.overrides, namingStyles.comment);
	const selectors = selectorsFor(config, request.overrides, inputs);
	const isAnyway = isMeasuredAnyway(request, inputs.overrides);
	return {
		config,
		targets: gateNames(selectors).map((name, index, { length }) => ({
			name,
			selector: length === 1 ? "" : selectors[index] ?? "",
			testbeds: testbedsFor(config, selectors[index])
		})),
		measure: async (measurement, deps) => outcomeOfResult(await measure(request, isAnyway, measurement, deps), {})
	};
}
async function measure(request, isMeasuredAnyway, measurement, deps) {
	const { patch, extend, purpose } = request;
	const { context, plan, testbeds, folder, directory } = measurement;
	const { octokit, inputs } = context;
	if (extend !== void 0) {
		const experiment = {
			...extend,
			patch,
			folder
		};
		await fetchExperiment(octokit, inputs.job.repository, experiment, directory);
		return resumeGate(directory, deps, await runsToExtend(directory, extend.maxRuns));
	}
	const { config } = plan;
	const question = {
		patch,
		config,
		testbeds: [...testbeds],
		seed: randomSeed(),
		isMeasuredAnyway
	};
	return purpose === "nightly" ? nightlyRun(question, directory, nightlyDeps(deps, {
		...measurement,
		config
	})) : gate(question, directory, deps);
}

export { runGate };