import { accepted } from "../analysis/trend.js";
import { landedRevision } from "../forge/phabricator.js";
import { UsageError, reasonOf } from "../model/first-plain.js";
import { publishTrend, publishTrendToDirectory, readBranchTrend, readDirectoryTrend } from "../publish/data-branch.js";
import { linkTo } from "../publish/data-branch/plain.js";
import { postReply, reportChanges } from "../publish/reporters.js";
import { revisionDepsOf } from "./job.js";
import { log } from "./log.js";

// src/action/report-trend.ts
async function reportTrend(context, config, testbeds) {
	const store = trendStore(context, config);
	if (!config.trend.issues || store === void 0) return;
	try {
		for (const testbed of new Set(testbeds)) {
			const trend = await store.read(testbed);
			const changes = trend.index.changes.filter((change) => change.testbed === testbed);
			await reportChanges(changes, depsOf(context, config, store, trend));
		}
	} catch (error) {
		log.warn(`Changes of the default branch were not reported (${reasonOf(error)}).`);
	}
}
/** Also closes its issue. Throws an Error for a failed write, and a `UsageError` without a branch or directory. */
async function acceptLevel(context, config, id) {
	const store = trendStore(context, config);
	if (store === void 0) throw new UsageError("Changes of the default branch are not stored: name a branch in `github.data.branch` of ppsgate.yml.");
	const now = /* @__PURE__ */ new Date();
	const change = (await store.edit((before) => accepted(before, id, now) ?? before)).changes.find((one) => one.id === id);
	if (change?.state !== "accepted") {
		log.warn(`The change ${id} is not open, so there is nothing to accept.`);
		return;
	}
	if (!config.trend.issues) return;
	const trend = await store.read(change.testbed);
	await reportChanges([change], depsOf(context, config, store, trend));
}
function trendStore({ octokit, inputs: { job } }, { github }) {
	const { branch, directory, pages } = github.data;
	if (branch !== void 0) {
		const { repository, serverUrl } = job;
		const place = {
			repository,
			branch,
			serverUrl,
			...pages && { pages }
		};
		return {
			read: (testbed) => readBranchTrend(octokit, place, testbed),
			edit: (change) => publishTrend(octokit, place, change),
			result: (path) => linkTo(place, `${path}/report.md`)
		};
	}
	if (directory === void 0) return void 0;
	return {
		read: () => readDirectoryTrend(directory),
		edit: (change) => publishTrendToDirectory(directory, change)
	};
}
function depsOf(context, config, store, { index, nightlyRuns }) {
	const { octokit, inputs } = context;
	const { repository, serverUrl } = inputs.job;
	const commentRevision = commentOnRevision(context, config);
	return {
		octokit,
		repository,
		serverUrl,
		nightlyRuns,
		log,
		marginRatio: config.gate.marginRatio,
		links: {
			compareUrl: index.compareUrl,
			result: store.result
		},
		edit: store.edit,
		onlyCommitOf: (change) => onlyCommitOf(change, context),
		...commentRevision && { commentOnRevision: commentRevision }
	};
}
/** Returns the only commit of the range along first parents, as nightly runs measure only those. */
async function onlyCommitOf({ good, bad }, { repository }) {
	if (good === bad) return void 0;
	await repository.resolve(good);
	await repository.resolve(bad);
	let only;
	for await (const { commit } of repository.firstParents(good, bad)) {
		if (only !== void 0) return void 0;
		only = commit;
	}
	return only;
}
/** Comments only on the configured server: commit messages may name others. */
function commentOnRevision(context, config) {
	if (config.phabricator === void 0 || context.inputs.conduitToken === "") return void 0;
	const { conduit } = revisionDepsOf(context, config);
	return async (commit, text, key) => {
		const message = await context.repository.message(await context.repository.resolve(commit));
		const number = landedRevision(message, conduit.url);
		if (number === void 0) return void 0;
		return {
			attempt: await postReply(conduit, number, text, key),
			name: `D${number}`
		};
	};
}

export { acceptLevel, reportTrend };