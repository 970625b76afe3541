import { reasonOf } from "../model/first-plain.js";
import { log } from "./log.js";
import { isOfGate, publishToBranch, publishToDirectory, readHistory } from "../publish/data-branch.js";
import { reportTrend } from "./report-trend.js";
import { commitFacts } from "../publish.js";

// src/action/publish-data.ts
/** Without a publication, updates only the badges. A failure is a warning: the verdict stands. */
async function publishData(context, config, publications) {
	const links = await publish(context, config, publications);
	const nightlyRuns = publications.filter(({ isDefaultBranch }) => isDefaultBranch);
	await reportTrend(context, config, nightlyRuns.map(({ result }) => result.testbed.name));
	return links;
}
async function publish({ octokit, repository, inputs: { job } }, { github, trend }, publications) {
	const warned = /* @__PURE__ */ new Set();
	const leftOut = (why) => {
		if (!warned.has(why)) log.warn(why);
		warned.add(why);
	};
	const run = `[run this job again](${job.runUrl})`;
	const ofJob = { rawData: `the [job](${job.runUrl})` };
	const ofGate = {
		rerun: `comment \`/ppsgate rerun\`, or ${run}`,
		goOn: "`/ppsgate extend`",
		...ofJob
	};
	const compareUrl = trend.compare ?? `${job.serverUrl}/${job.repository}/compare/{from}...{to}`;
	const complete = await Promise.all(publications.map(async (publication) => {
		const facts = publication.isDefaultBranch ? await gitFacts(publication, repository) : {};
		return {
			...publication,
			...facts,
			compareUrl,
			leftOut
		};
	}));
	const usual = complete.map(({ result }) => isOfGate(result) ? ofGate : ofJob);
	const { branch, directory, pages, keep, staleSeconds } = github.data;
	if (directory !== void 0) await publishToDirectory(directory, complete, {
		keep,
		staleSeconds,
		now: /* @__PURE__ */ new Date()
	}).catch((error) => log.warn(`${directory} did not receive the result (${reasonOf(error)}).`));
	if (branch === void 0) return usual;
	const published = await publishToBranch(octokit, {
		repository: job.repository,
		branch,
		serverUrl: job.serverUrl,
		...pages && { pages }
	}, complete, {
		keep,
		staleSeconds,
		now: () => /* @__PURE__ */ new Date()
	});
	if (published.kind === "not-published") {
		log.warn(published.why);
		return usual;
	}
	return published.links.map(({ result, report, page, image, graphs }, index) => {
		const shared = usual[index] ?? ofJob;
		const rawData = [
			report && `[report](${report})`,
			result && `[result](${result})`,
			shared.rawData
		].filter(Boolean).join(", ");
		const shown = {
			...page && { page },
			...image && { image }
		};
		return {
			...shared,
			rawData,
			...shown,
			graph: (anchor) => graphs.get(anchor)
		};
	});
}
/** Without facts from git, the trend orders the commit by the time of its measurement. */
async function gitFacts({ result }, repository) {
	if (!isOfGate(result)) return {};
	return commitFacts(result.patch.headCommit, repository).catch((error) => {
		log.warn(`The date of the commit is unknown (${reasonOf(error)}).`);
		return {};
	});
}

// src/action/shared-history.ts
/** Empty without a branch. Logs a warning if it cannot be read. */
async function readSharedHistory(config, { octokit, inputs: { job } }) {
	const { branch } = config.github.data;
	if (branch === void 0) return [];
	return readHistory(octokit, {
		repository: job.repository,
		branch
	}).catch((error) => {
		log.warn(reasonOf(error));
		return [];
	});
}

export { publishData, readSharedHistory };