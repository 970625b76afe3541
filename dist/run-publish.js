import { c as summary, n as log } from "./log.js";
import { n as applyOverrides, t as UsageError } from "./overrides.js";
import { i as exitCodes } from "./exit.js";
import { n as isJudged, t as diffName } from "./variant-name.js";
import { c as formatPercent } from "./format.js";
import { C as object, E as string, t as cellName, y as int } from "./scenario.js";
import { S as lookSizes } from "./schema.js";
import { i as evidenceAt, l as standings, s as isEnough } from "./standing.js";
import { i as worstVerdict, t as cellResult } from "./verdict.js";
import { t as baseNumbers } from "./history.js";
import { n as designOf, o as policyOf, t as cellsOf } from "./plan.js";
import { a as answerFor, d as numbersOf, f as pullRequestsOfBranch, i as tellRefusal, o as configCommitOf, s as gateNames, u as wishesFor } from "./run-admit.js";
import { B as headline, K as patchName } from "./markdown.js";
import { d as endingOfFailure, f as endingOfResult, l as cancelled, m as linkedAfterwards } from "./harbormaster.js";
import { a as agreesWith, c as profilesIn, l as readEntries, n as artifactName, o as fetchArtifact, s as parseResult, t as publishData, u as withPatch } from "./publish-data.js";
import { n as withReasons } from "./profiles.js";
import { i as testbedsFor } from "./inventory.js";
import { t as readEvent } from "./inputs.js";
import { i as readRequest, n as failureSchema, r as fileOf } from "./request.js";
import { relative } from "node:path";

// src/experiment/recompute.ts
/**
* The same result, with the policy, cells, designs and traffic of the configuration and all that follows from the runs
* under these. What earlier experiments told of a cell's noise is taken for numbers, as the runs are; so is that a cell
* is invalid, which lets nothing pass. The profiles keep their place, and reasons have to be found again.
*/
function recompute(claimed, asked) {
	const { config, testbeds } = asked;
	if (!testbeds.includes(claimed.testbed.name)) return {
		kind: "refused",
		why: `The result is of the testbed ${claimed.testbed.name}, and not of ${testbeds.join(" or ")}: judge the patch again.`
	};
	const { flows, frameBytes, offeredPps, measureSeconds } = config.traffic;
	const result = {
		...claimed,
		policy: policyOf(config),
		traffic: {
			flows,
			frameBytes,
			measureSeconds,
			...offeredPps !== void 0 && { offeredPps }
		},
		variants: variantsOf(claimed, asked.patch),
		leftOut: claimed.leftOut.filter(({ variant }) => othersOf(asked.patch).includes(variant)),
		outcome: outcomeOf(claimed, asked)
	};
	return {
		kind: "computed",
		result,
		refused: differences(claimed, result).slice(0, mostTold)
	};
}
/** A result that lies may do so of any number of cells. */
const mostTold = 20;
/** The commits are those that leave was given for; where the patch parted from its base only its history tells. */
function variantsOf({ variants }, patch) {
	const earlier = patch.kind === "revision" ? patch.earlier : [];
	const commits = [{
		name: "patched",
		commit: patch.headCommit
	}, ...earlier.map(({ diff, headCommit }) => ({
		name: diffName(diff),
		commit: headCommit
	}))];
	const claimOf = (name) => variants.find((one) => one.name === name);
	return [claimOf("base") ?? {
		name: "base",
		commit: patch.baseCommit,
		files: []
	}, ...commits.map((one) => ({
		files: [],
		...claimOf(one.name),
		...one
	}))];
}
const othersOf = (patch) => patch.kind === "revision" ? patch.earlier.map(({ diff }) => diffName(diff)) : [];
function outcomeOf({ outcome }, asked) {
	if (outcome.kind !== "judged") return outcome;
	const policy = policyOf(asked.config);
	const claims = new Map(outcome.cells.map((claim) => [cellName(claim.cell), claim]));
	const inputs = cellsOf(asked.config).map((cell) => inputOf(cell, claims, asked));
	const cells = standings(inputs, policy).map((standing) => {
		const { claim, runs } = standing.input;
		const ofBase = baseNumbers(runs, policy.metric);
		const computed = cellResult(standing, policy, ofBase, othersOf(asked.patch));
		const stays = claim?.verdict.kind === "invalid" && computed.verdict.kind !== "regression";
		return {
			...computed,
			...stays && { verdict: claim.verdict },
			...claim === void 0 && { verdict: notMeasured },
			profiles: profilesOf(claim, asked.patch)
		};
	});
	return {
		kind: "judged",
		verdict: worstVerdict(cells),
		cells
	};
}
const notMeasured = {
	kind: "invalid",
	reason: "the result has no such cell"
};
function inputOf(cell, claims, { patch, config, isExtended }) {
	const claim = claims.get(cellName(cell));
	const others = othersOf(patch);
	const history = claim?.history;
	const planned = designOf(config, 2 + others.length, history);
	const budgets = isExtended ? extended(planned, claim?.design.budgets ?? []) : planned.budgets;
	const design = {
		...planned,
		budgets
	};
	const isOurs = ({ variant }) => isJudged(variant) || others.includes(variant);
	const runs = claim?.runs.filter(isOurs) ?? [];
	const input = {
		cell,
		claim,
		design,
		...history && { history },
		runs,
		failures: []
	};
	return {
		...input,
		closedPairs: closedPairsOf(input, policyOf(config))
	};
}
/**
* Pairs of the last look that has its runs. Where all looks up to there tell something, but the result says that the
* cell is invalid, the experiment ended with the next one, whose runs were lost for good.
*/
function closedPairsOf(input, { metric }) {
	const { claim, design, history, runs } = input;
	const earlierDegreesOfFreedom = history?.degreesOfFreedom ?? 0;
	const sizes = lookSizes({
		...design,
		earlierDegreesOfFreedom
	});
	const lacking = sizes.findIndex((size) => !isThere(runs, size));
	if (lacking === -1) return sizes.at(-1) ?? 0;
	const closedPairs = sizes[lacking - 1] ?? 0;
	const tells = (size) => evidenceAt({
		...input,
		closedPairs
	}, size, metric) !== void 0;
	return claim?.verdict.kind === "invalid" && sizes.slice(0, lacking).every(tells) ? sizes[lacking] ?? 0 : closedPairs;
}
/** As many as `parseMaxRuns` lets anybody ask for. */
const mostRuns = 1e4;
/** Doubled each time, ten reach those runs; each has half the error rate of the one before, which soon is no number. */
const mostBudgets = 20;
/** The budgets that extensions have added to the one that was planned, where they can be such. */
function extended({ budgets: planned, pairsPerStep }, claimed) {
	return claimed.every((budget, stage) => (stage === 0 ? budget === planned[0] : budget > (claimed[stage - 1] ?? 0)) && budget % pairsPerStep === 0 && budget < mostRuns + pairsPerStep) && claimed.length > 0 && claimed.length <= mostBudgets ? claimed : planned;
}
/** Whether a look has its runs; it can do without some. */
function isThere(runs, size) {
	const pairsOf = (name) => new Set(runs.flatMap(({ variant, pair }) => variant === name && pair <= size ? pair : []));
	return isEnough(pairsOf("base").intersection(pairsOf("patched")).size, size);
}
/** One of each variant, so that their number is bounded. */
function profilesOf(claim, patch) {
	return [
		"base",
		"patched",
		...othersOf(patch)
	].flatMap((name) => claim?.profiles.find(({ variant }) => variant === name) ?? []);
}
/** What the result says otherwise, in sentences. */
const differences = (claimed, result) => [
	...ofPolicy(claimed.policy, result.policy),
	...ofTraffic(claimed.traffic, result.traffic),
	...ofOutcome(claimed.outcome, result.outcome)
];
function ofPolicy(claimed, asked) {
	const metric = [claimed.metric, asked.metric];
	const ratios = ratioNames.map(([key, name]) => {
		const [said, wanted] = [claimed[key], asked[key]];
		return said === wanted ? [] : `It was held to ${name} of ${formatPercent(said)}, and ${formatPercent(wanted)} is asked for.`;
	});
	return [metric[0] === metric[1] ? [] : `It was judged by ${metric[0]}, and ${metric[1]} is asked for.`, ...ratios].flat();
}
const ratioNames = [
	["marginRatio", "a margin"],
	["confidenceRatio", "a confidence"],
	["falseAlarmRatio", "a rate of false alarms"],
	["missRatio", "a rate of misses"]
];
function ofTraffic(claimed, asked) {
	return [
		"flows",
		"frameBytes",
		"offeredPps",
		"measureSeconds"
	].flatMap((key) => claimed[key] === asked[key] ? [] : `Its traffic has ${key} ${claimed[key] ?? "unbounded"}, and ${asked[key] ?? "unbounded"} is asked for.`);
}
function ofOutcome(claimed, computed) {
	if (claimed.kind !== "judged" || computed.kind !== "judged") return [];
	const asked = new Map(computed.cells.map((cell) => [cellName(cell.cell), cell]));
	const unasked = claimed.cells.filter(({ cell }) => !asked.has(cellName(cell)));
	const claims = new Map(claimed.cells.map((claim) => [cellName(claim.cell), claim]));
	return [
		...unasked.map(({ cell }) => `It has the cell ${cellName(cell)}, which is not asked for.`),
		...computed.cells.flatMap((cell) => ofCell(claims.get(cellName(cell.cell)), cell)),
		...claimed.verdict === computed.verdict ? [] : [`It says ${claimed.verdict} of the patch, and its cells say ${computed.verdict}.`]
	];
}
function ofCell(claim, { cell, verdict, comparisons }) {
	const name = cellName(cell);
	if (claim === void 0) return [`It has no cell ${name}, which is asked for.`];
	if (claim.verdict.kind !== verdict.kind) return [`It says ${claim.verdict.kind} of ${name}, and its runs say ${verdict.kind}.`];
	return comparisons.every((one) => claim.comparisons.some((other) => other.metric === one.metric && isAlmost(one, other))) ? [] : [`Its numbers of ${name} are not those of its runs.`];
}
/** Another machine may round otherwise. */
const isAlmost = (a, b) => [
	[a.base, b.base],
	[a.patched, b.patched],
	...[
		"change",
		"low",
		"high"
	].map((key) => [a.interval[key], b.interval[key]])
].every(([one = 0, other = 0]) => Math.abs(one - other) <= 1e-9 + 1e-6 * Math.abs(one));

// src/action/run-publish.ts
/** Passes when the patch is answered, whatever the verdict: that is for the check to say. */
async function runPublish(context) {
	const source = await sourceOf(context);
	if (source === void 0) return exitCodes.pass;
	const { request, isTrusted } = source;
	const config = await context.readConfig(configCommitOf(request.patch, context.inputs));
	const wishes = wishesFor(config, request.ask, context.inputs);
	const names = gateNames(wishes);
	const endings = await endingsOf(source, {
		config,
		wishes,
		context
	});
	const { runId } = source;
	const isOpen = runId === context.inputs.job.runId;
	const answered = [];
	for (const [index, name] of names.entries()) {
		const ending = endings[index] ?? cancelled;
		if (ending.refused !== void 0 && request.patch.kind === "pull-request") {
			const refusal = {
				pullRequest: request.patch,
				config,
				name,
				why: ending.refused,
				runId
			};
			await tellRefusal(context, refusal);
			continue;
		}
		const answer = await answerFor(context, request, config, {
			name,
			runId,
			isOpen
		});
		await answer.ended(ending);
		answered.push({
			answer,
			ending
		});
		if (ending.result === void 0) log.info(ending.title);
		if (ending.result !== void 0) await summary.addRaw(ending.summary).write();
	}
	for (const { answer, ending } of answered) await withLinks(answer, ending, {
		request,
		isTrusted
	}, config, context);
	return exitCodes.pass;
}
/** The patch as an earlier job of this run fixed it, or as GitHub says that a fork's own run was for. */
async function sourceOf(context) {
	const { inputs } = context;
	const { job } = inputs;
	if (inputs.request !== "") return {
		request: readRequest(inputs.request),
		runId: job.runId,
		isTrusted: true
	};
	if (job.eventName !== "workflow_run") throw new UsageError("publish: expected the input `request` of an earlier job, or the event workflow_run.");
	const { workflow_run: run } = workflowRun.parse(await readEvent(job));
	const all = await pullRequestsOfBranch(context.octokit, job.repository, {
		owner: run.head_repository.owner.login,
		branch: run.head_branch,
		commit: run.head_sha
	});
	const [found, ...more] = all;
	if (more.length > 0) throw new UsageError(`${numbersOf(all)} have the head ${run.head_sha}, and GitHub does not tell which of them was measured: write /ppsgate run ${run.head_sha.slice(0, 12)} at the one that is meant.`);
	if (found === void 0) {
		log.info(`No open pull request has ${run.head_sha} as its head any more: nobody is answered.`);
		return;
	}
	const { pullRequest: patch } = found;
	return {
		request: {
			patch,
			ask: {},
			priority: "patch",
			purpose: "patch"
		},
		runId: run.id,
		isTrusted: false
	};
}
const workflowRun = object({ workflow_run: object({
	id: int().positive(),
	head_sha: string(),
	head_branch: string(),
	head_repository: object({ owner: object({ login: string() }) })
}) });
/** How each gate ended, one for each wish, as far as the artifact can be believed. */
async function endingsOf({ request, runId, isTrusted }, { config, wishes, context }) {
	const { octokit, repository, inputs } = context;
	const { job, overrides } = inputs;
	const of = wishes.length;
	const everywhere = (ending) => new Array(of).fill(ending);
	const { patch } = request;
	if (!isTrusted) {
		const own = await changedOfGate(patch, repository, job);
		if (own !== void 0) return everywhere(endingOfFailure(exitCodes.usage, selfMade(patch, own)));
	}
	const artifact = await fetchArtifact(octokit, {
		repository: job.repository,
		runId,
		name: artifactName
	});
	if (artifact.kind === "none") return everywhere(cancelled);
	if (artifact.kind !== "fetched") return everywhere(endingOfFailure(exitCodes.infrastructure, artifact.why));
	const files = Array.from({ length: of }, (_, index) => ({
		result: fileOf("result", index, of),
		failure: fileOf("failure", index, of)
	}));
	const wanted = files.flatMap(({ result, failure }) => [result, failure]);
	const entries = await readEntries(artifact.bytes, wanted);
	if (entries.kind === "refused") return everywhere(endingOfFailure(exitCodes.infrastructure, entries.why));
	const asked = applyOverrides(applyOverrides(config, overrides), request.ask);
	return Promise.all(files.map(async ({ result, failure }, index) => {
		const measured = entries.texts.get(result);
		if (measured === void 0) return endingOfText(entries.texts.get(failure));
		const read = believed(measured, {
			patch,
			config: asked,
			testbeds: testbedsFor(asked, wishes[index]),
			isExtended: request.extend !== void 0
		});
		if (read.kind === "refused") return endingOfFailure(exitCodes.infrastructure, read.why);
		for (const sentence of read.refused) log.warn(`The artifact is not believed: ${sentence}`);
		const folder = of === 1 ? "" : `${index + 1}/`;
		const profiles = await profilesIn(artifact.bytes, read.result, folder, log.warn);
		const explained = withReasons(read.result, profiles);
		const corrections = read.refused;
		return {
			...endingOfResult(explained, { corrections }),
			profiles,
			corrections
		};
	}));
}
/** Of all that the artifact says only the numbers: what follows from them is computed again. */
function believed(text, asked) {
	const read = parseResult(text);
	if (read.kind === "refused") return read;
	const why = agreesWith(read.result, asked.patch);
	if (why !== void 0) return {
		kind: "refused",
		why
	};
	return recompute(withPatch(read.result, asked.patch), asked);
}
/** A gate that was cut short has left neither a result nor a word. */
function endingOfText(text) {
	if (text === void 0) return cancelled;
	try {
		const { exitCode, said, isRefused } = failureSchema.parse(JSON.parse(text));
		const isUsage = exitCode === exitCodes.usage;
		const ending = endingOfFailure(isUsage ? exitCode : exitCodes.infrastructure, said);
		return isRefused ? {
			...ending,
			refused: said
		} : ending;
	} catch {
		return cancelled;
	}
}
/**
* What the patch changes of that which measures it, which could then write any result: the workflows, and where the
* action lies in the repository all that runs with it.
*/
async function changedOfGate({ baseCommit, headCommit }, repository, { isOwnAction, workspace }, code = import.meta.dirname) {
	const base = await repository.mergeBase(baseCommit, headCommit);
	for (const path of [".github/", ...isOwnAction ? pathsOfAction(relative(workspace, code)) : []]) {
		const [before, after] = await Promise.all([base, headCommit].map((commit) => repository.idAt(commit, path.replace(/\/$/, ""))));
		if (before !== after) return path;
	}
}
/** Node looks for modules and for package.json beside what it runs, and in every folder above. */
function pathsOfAction(code) {
	const isInside = code !== "" && !code.startsWith("..");
	const folders = isInside ? code.split("/").map((_, end, names) => names.slice(0, end)) : [[]];
	const beside = [
		"dist/",
		"action.yml",
		"action.yaml",
		"package.json",
		"node_modules/"
	];
	return [...isInside ? [`${code}/`] : [], ...folders.flatMap((names) => beside.map((name) => [...names, name].join("/")))];
}
const selfMade = (patch, path) => `${patchName(patch)} changes ${path}, and so could say anything of itself: a maintainer who has read it can write /ppsgate run ${patch.headCommit.slice(0, 12)}.`;
async function withLinks(answer, ending, { request, isTrusted }, config, context) {
	const { result, profiles = [], corrections = [] } = ending;
	const isDefaultBranch = request.purpose !== "patch";
	if (result === void 0) {
		await publishData(context, config, []);
		return;
	}
	log.info(headline(result));
	const make = async () => {
		const [links = {}] = await publishData(context, config, [{
			result,
			profiles,
			isDefaultBranch,
			isTrusted
		}]);
		return {
			...links,
			corrections
		};
	};
	await linkedAfterwards(answer, {
		...ending,
		result
	}, make, log.warn);
}

export { runPublish };