import { parseMaxRuns } from "../config/first.js";
import { namingStyles } from "../config/parameters.js";
import { fetchArtifact, githubFailure, placeOf, readEntries } from "../forge/github.js";
import { readPlan } from "../gate/experiment/first.js";
import { patchName } from "../model/first.js";
import { UsageError } from "../model/first-plain.js";
const { join } = globalThis.process.getBuiltinModule("node:path");
const { mkdir, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/action/extend.ts
const artifactName = "ppsgate-result";
/**
* Writes plan and journal to the work directory. The plan decides what the DUT boots, so the run must be of the
* repository's own workflow: a fork's pull request brings its own. Throws a `UsageError` for an unusable experiment.
*
* @param folder of the gate in the artifact: empty, or `1/`, `2/` for several gates
*/
async function fetchExperiment(octokit, repository, { run, patch, folder }, directory) {
	const again = `write /ppsgate run to measure ${patchName(patch)} from the start.`;
	await refuseForeign(octokit, repository, run, again);
	const artifact = await fetchArtifact(octokit, {
		repository,
		runId: run,
		name: artifactName
	});
	if (artifact.kind !== "fetched") throw new UsageError(`${artifact.why} Else ${again}`);
	const names = ["experiment.json", "journal.jsonl"];
	const entries = await readEntries(artifact.bytes, names.map((name) => folder + name));
	if (entries.kind === "refused") throw new UsageError(`${entries.why} Else ${again}`);
	await mkdir(directory, { recursive: true });
	for (const name of names) {
		const text = entries.texts.get(folder + name);
		if (text === void 0) throw new UsageError(`The experiment to extend has no ${name}: ${again}`);
		await writeFile(join(directory, name), text);
	}
	const { patch: judged, variants } = await readPlan(directory);
	if (variants.some(({ kernel }) => kernel?.kind === "archive")) throw new UsageError(`The experiment to extend boots a kernel from a file: ${again}`);
	if (judged.headCommit !== patch.headCommit || judged.baseCommit !== patch.baseCommit) throw new UsageError(`The commits of the experiment to extend differ from the current ones: ${again}`);
}
/** Defaults to twice the earlier maximum. */
async function runsToExtend(directory, maxRuns) {
	if (maxRuns !== void 0) return parseMaxRuns(maxRuns, namingStyles.comment("maxRuns"));
	const { cells } = await readPlan(directory);
	return 2 * Math.max(...cells.flatMap(({ design }) => design.budgets));
}
async function refuseForeign(octokit, repository, run_id, again) {
	const { owner, repo } = placeOf(repository);
	const { data } = await octokit.request("GET /repos/{owner}/{repo}/actions/runs/{run_id}", {
		owner,
		repo,
		run_id
	}).catch((error) => {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		if (failure.kind === "answered" && failure.status === 404) throw new UsageError(`The experiment to extend no longer exists on GitHub: ${again}`);
		throw new Error(`GitHub did not return the run of the experiment to extend (${failure.detail}): run the job again.`);
	});
	if (data.event === "pull_request_target" || data.head_repository?.full_name === data.repository.full_name) return;
	throw new UsageError(`The experiment to extend was run by the workflow of a fork: ${again}`);
}

export { artifactName, fetchExperiment, runsToExtend };