import { UsageError, patchName, reasonOf } from "../words.js";
import { log } from "./log.js";
import { calledAs, parseMaxRuns } from "../config.js";
import { fetchArtifact, githubFailure, placeOf, readEntries } from "../github.js";
import { readPlan } from "../experiment.js";
import { publishToBranch, publishToDirectory } from "../data-branch.js";
import { join } from "node:path";
import { mkdir, writeFile } from "node:fs/promises";

// src/action/extend.ts
const artifactName = "ppsgate-result";
/**
* Lays plan and journal into the work directory. What they say is laid on the DUT, so only those of a run count whose
* workflow is the repository's own: a fork's pull request brings its own. Throws a `UsageError` for what cannot go on.
*/
async function fetchExperiment(octokit, repository, { run, patch }, directory) {
	const again = `write /ppsgate run to measure ${patchName(patch)} from the start.`;
	await refuseForeign(octokit, repository, run, again);
	const artifact = await fetchArtifact(octokit, {
		repository,
		runId: run,
		name: artifactName
	});
	if (artifact.kind !== "fetched") throw new UsageError(`${artifact.why} Else ${again}`);
	const names = ["experiment.json", "journal.jsonl"];
	const entries = await readEntries(artifact.bytes, names);
	if (entries.kind === "refused") throw new UsageError(`${entries.why} Else ${again}`);
	await mkdir(directory, { recursive: true });
	for (const name of names) {
		const text = entries.texts.get(name);
		if (text === void 0) throw new UsageError(`The experiment to extend has no ${name}: ${again}`);
		await writeFile(join(directory, name), text);
	}
	const { patch: judged, variants } = await readPlan(directory);
	if (variants.some(({ kernel }) => kernel?.kind === "archive")) throw new UsageError(`The experiment to extend boots a kernel from a file: ${again}`);
	if (judged.headCommit !== patch.headCommit || judged.baseCommit !== patch.baseCommit) throw new UsageError(`The experiment to extend is of other commits than are there now: ${again}`);
}
/** As many as are asked for, or twice as many as there may have been. */
async function runsToExtend(directory, asked) {
	if (asked !== void 0) return parseMaxRuns(asked, calledAs.comment("maxRuns"));
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
		if (failure.kind === "answered" && failure.status === 404) throw new UsageError(`The experiment to extend is gone from GitHub: ${again}`);
		throw new Error(`GitHub did not tell which run the experiment to extend is of (${failure.said}): run the job again.`);
	});
	if (data.event === "pull_request_target" || data.head_repository?.full_name === data.repository.full_name) return;
	throw new UsageError(`The experiment to extend was run by the workflow of a fork: ${again}`);
}

// src/action/publish-data.ts
/** With no publication the badges are brought up to date. What cannot be kept is a warning: the verdict stands. */
async function publishData({ octokit, inputs: { job } }, { github }, asked) {
	const warned = /* @__PURE__ */ new Set();
	const leftOut = (why) => {
		if (!warned.has(why)) log.warn(why);
		warned.add(why);
	};
	const usual = {
		rerun: `comment \`/ppsgate rerun\`, or ${`[run this job again](${job.runUrl})`}`,
		goOn: "`/ppsgate extend`",
		rawData: `the [job](${job.runUrl})`
	};
	const publications = asked.map((publication) => ({
		...publication,
		leftOut
	}));
	const all = publications.map(() => usual);
	const { branch, directory, pages, keep, staleSeconds } = github.data;
	if (directory !== void 0) await publishToDirectory(directory, publications, {
		keep,
		staleSeconds,
		now: /* @__PURE__ */ new Date()
	}).catch((error) => log.warn(`${directory} did not get the result (${reasonOf(error)}).`));
	if (branch === void 0) return all;
	const published = await publishToBranch(octokit, {
		repository: job.repository,
		branch,
		serverUrl: job.serverUrl,
		...pages && { pages }
	}, publications, {
		keep,
		staleSeconds,
		now: () => /* @__PURE__ */ new Date()
	});
	if (published.kind === "not-published") {
		log.warn(published.why);
		return all;
	}
	return published.links.map(({ result, report, page, graphs }) => {
		const rawData = [
			report && `[report](${report})`,
			result && `[result](${result})`,
			usual.rawData
		].filter(Boolean).join(", ");
		return {
			...usual,
			rawData,
			...page && { page },
			graph: (anchor) => graphs.get(anchor)
		};
	});
}

export { artifactName, fetchExperiment, publishData, runsToExtend };