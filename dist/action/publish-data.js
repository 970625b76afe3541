import { isOfGate, publishToBranch, publishToDirectory } from "../data-branch.js";
import { factsOf } from "../night.js";
import { codeSpan, reasonOf } from "../words.js";
import { log } from "./log.js";
import { tellTrend } from "./tell-trend.js";

// src/action/publish-data.ts
/**
* With no publication the badges are brought up to date; after one of the default branch people are told what has changed
* on it. What cannot be kept is a warning: the verdict stands.
*/
async function publishData(context, config, asked) {
	const links = await keptData(context, config, asked);
	const nights = asked.filter(({ isDefaultBranch }) => isDefaultBranch);
	await tellTrend(context, config, nights.map(({ result }) => result.testbed.name));
	return links;
}
/** The places where people find what was published of one gate, whose cells may have been split. */
function linksOfParts(parts, links) {
	const [first = {}] = links;
	if (parts.length === 1) return first;
	const { rerun } = first;
	const rawData = parts.map(({ result: { testbed } }, index) => {
		const { rawData } = links[index] ?? {};
		return rawData && `${codeSpan(testbed.name)}: ${rawData}`;
	}).filter(Boolean).join("; ");
	const graph = (anchor) => links.map((one) => one.graph?.(anchor)).find((found) => found !== void 0);
	return {
		...rerun && { rerun },
		...rawData && { rawData },
		graph
	};
}
async function keptData({ octokit, repository, inputs: { job } }, { github, trend }, asked) {
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
	const publications = await Promise.all(asked.map(async (publication) => {
		const facts = publication.isDefaultBranch ? await knownFacts(publication, repository) : {};
		return {
			...publication,
			...facts,
			compareUrl,
			leftOut
		};
	}));
	const all = publications.map(({ result }) => isOfGate(result) ? ofGate : ofJob);
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
	return published.links.map(({ result, report, page, image, graphs }, index) => {
		const usual = all[index] ?? ofJob;
		const rawData = [
			report && `[report](${report})`,
			result && `[result](${result})`,
			usual.rawData
		].filter(Boolean).join(", ");
		const shown = {
			...page && { page },
			...image && { image }
		};
		return {
			...usual,
			rawData,
			...shown,
			graph: (anchor) => graphs.get(anchor)
		};
	});
}
/** A commit of the branch of which git tells nothing has its place among others by when it was measured. */
async function knownFacts({ result }, repository) {
	if (!isOfGate(result)) return {};
	return factsOf(result.patch.headCommit, repository).catch((error) => {
		log.warn(`Nobody knows when the commit was made (${reasonOf(error)}).`);
		return {};
	});
}

export { linksOfParts, publishData };