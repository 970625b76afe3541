import { say, tellChanges } from "../answer.js";
import { linkTo, publishTrend, publishTrendToDirectory, readBranchTrend, readDirectoryTrend } from "../data-branch.js";
import { landedRevision } from "../phabricator.js";
import { accepted } from "../trend.js";
import { UsageError, reasonOf } from "../words.js";
import { revisionWorldOf } from "./request.js";
import { log } from "./log.js";
import { randomUUID } from "node:crypto";

// src/action/tell-trend.ts
/** Brings the issues of these testbeds' changes up to date. Never throws: what could not be told is a warning. */
async function tellTrend(context, config, testbeds) {
	const kept = keptIn(context, config);
	if (!config.trend.issues || kept === void 0) return;
	try {
		for (const testbed of new Set(testbeds)) {
			const trend = await kept.read(testbed);
			const changes = trend.index.changes.filter((change) => change.testbed === testbed);
			await tellChanges(changes, worldOf(context, config, kept, trend));
		}
	} catch (error) {
		log.warn(`Changes of the default branch were not told (${reasonOf(error)}).`);
	}
}
/**
* Takes the new level of a change for good, and ends its issue. Throws an Error of one sentence where it is not written,
* and a `UsageError` where nothing keeps changes.
*/
async function acceptLevel(context, config, id) {
	const kept = keptIn(context, config);
	if (kept === void 0) throw new UsageError("Nothing keeps the changes of the default branch: name a branch in `github.data.branch` of ppsgate.yml.");
	const now = /* @__PURE__ */ new Date();
	const change = (await kept.edit((before) => accepted(before, id, now) ?? before)).changes.find((one) => one.id === id);
	if (change?.state !== "accepted") {
		log.warn(`The change ${id} is not open, so there is nothing to accept.`);
		return;
	}
	if (!config.trend.issues) return;
	const trend = await kept.read(change.testbed);
	await tellChanges([change], worldOf(context, config, kept, trend));
}
function keptIn({ octokit, inputs: { job } }, { github }) {
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
function worldOf(context, config, kept, { index, nights }) {
	const { octokit, inputs } = context;
	const { repository, serverUrl } = inputs.job;
	const tellRevision = revisionTeller(context, config);
	return {
		octokit,
		repository,
		serverUrl,
		nights,
		log,
		marginRatio: config.gate.marginRatio,
		links: {
			compareUrl: index.compareUrl,
			result: kept.result
		},
		edit: kept.edit,
		onlyCommitOf: (change) => onlyCommitOf(change, context),
		...tellRevision && { tellRevision },
		now: () => /* @__PURE__ */ new Date(),
		drawName: randomUUID
	};
}
/** Along first parents, which is how a branch is measured. */
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
/** Only the server of the configuration is told, whatever a commit's message names. */
function revisionTeller(context, config) {
	if (config.phabricator === void 0 || context.inputs.conduitToken === "") return void 0;
	const { conduit } = revisionWorldOf(context, config);
	return async (commit, text, key) => {
		const message = await context.repository.message(await context.repository.resolve(commit));
		const number = landedRevision(message, conduit.url);
		if (number === void 0) return void 0;
		return {
			told: await say(conduit, number, text, key),
			name: `D${number}`
		};
	};
}

export { acceptLevel, tellTrend };