import { agreesWith, fetchArtifact, numbersOf, parseResult, profilesIn, pullRequestsOfBranch, readEntries, withPatch } from "../forge/github.js";
import { cellName, commitId, id, patchName, word } from "../model/first.js";
import { summary } from "../vendor/actions-core.js";
import { UsageError, exitCodes, parseJson, realPause, reasonOf } from "../model/first-plain.js";
import { object } from "../vendor/zod.js";
import { addReportLinks, cancelledOutcome, outcomeOfFailure, outcomeOfResult } from "../publish/reporters/first.js";
import { outcomeMarkdown, outcomeTitle } from "../publish/reporters.js";
import { headline } from "../report.js";
import { reportRefusal } from "./admission-replies.js";
import { gateFolder, isBisection, isMeasuredAnyway, nightlyPart, outputFile, readFailure, readRequest } from "./approved-request.js";
import { withReasons } from "../analysis/profile.js";
import { applyOverrides, testbedsFor } from "../config/first.js";
import { namingStyles } from "../config/parameters.js";
import { recompute } from "../gate/experiment.js";
import { bisectResultSchema } from "../model.js";
import { bisectPlan, requestedOf } from "./bisect-plan.js";
import { artifactName } from "./extend.js";
import { readConfigFor, reporterNames, restoreCommits, selectorsFor } from "./job.js";
import { log } from "./log.js";
import { pausesWithin } from "../publish/reporters/plain.js";
import { publishData, readSharedHistory } from "./shared-history.js";
import { testbedsThatDiffer, variantsByMaking } from "../kernel/first.js";
import { expectOnLine, patchOfRange } from "../forge/patch/first.js";
import { cellsAmong } from "../gate/experiment/first.js";
import { nightlyFolder, trendUpdateOf } from "../publish.js";
import { readEvent } from "./inputs.js";
import { openReporter } from "./reporters.js";
const { relative } = globalThis.process.getBuiltinModule("node:path");

// src/action/gate-code.ts
/** Returns a changed path of the workflows, or of an action's code within the repository. */
async function changedOfGate({ baseCommit, headCommit }, repository, { isOwnAction, workspace }, code = import.meta.dirname) {
	const base = await repository.mergeBase(baseCommit, headCommit);
	for (const path of [".github/", ...isOwnAction ? pathsOfAction(relative(workspace, code)) : []]) {
		const [before, after] = await Promise.all([base, headCommit].map((commit) => repository.idAt(commit, path.replace(/\/$/, ""))));
		if (before !== after) return path;
	}
}
/** Node searches modules and package.json next to the code, and in all parent folders. */
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

// src/action/publish-retry.ts
/** Allows a minute even after the budget: GitHub may have recovered. */
const remaining = ({ until, now, pause }) => ({
	patienceSeconds: Math.max(60, Math.round((until.getTime() - now().getTime()) / 1e3)),
	pause
});
const retryForAnHour = () => ({
	until: new Date(Date.now() + 36e5),
	now: () => /* @__PURE__ */ new Date(),
	pause: realPause
});
async function fetchArtifactWithRetries(octokit, place, retry) {
	const { until, now, pause } = retry;
	for (const seconds of pausesWithin(remaining(retry).patienceSeconds)) {
		const artifact = await fetchArtifact(octokit, place);
		if (artifact.kind !== "failed" || !artifact.mayPass || now() > until) return artifact;
		await pause(seconds, new AbortController().signal);
	}
	return fetchArtifact(octokit, place);
}

// src/action/unchanged-claim.ts
/** Compares the approved commits again. Returns the reason of a refusal. */
async function whyNotUnchanged(request, { config, selector, context }) {
	const { patch } = request;
	const { repository, inputs } = context;
	const claim = `The result says that ${patchName(patch)} changes nothing that the testbed installs`;
	if (isMeasuredAnyway(request, inputs.overrides)) return `${claim}, but a measurement was requested anyway: judge the patch again.`;
	try {
		await restoreCommits(request, config, context);
		const question = {
			patch,
			config,
			testbeds: testbedsFor(config, selector)
		};
		const variants = await variantsByMaking(question, repository);
		const differ = await testbedsThatDiffer({
			...question,
			variants
		}, repository);
		if (differ.length === 0) return void 0;
		return `${claim}, but it does on ${differ.join(" and ")}: judge the patch again.`;
	} catch (error) {
		return `${claim}, but that cannot be proven (${reasonOf(error)}): judge the patch again.`;
	}
}

// src/action/verified-bisection.ts
/** Reads commits' descriptions from git. A job that forges numbers can blame another commit, but not pass one. */
async function verifiedBisection(result, request, written, context) {
	const refused = (why) => ({
		kind: "refused",
		why: `The result is ${why}.`
	});
	const { config, testbeds } = bisectPlan(request, written, context);
	const [frameBytes] = config.frameSizes ?? [];
	const cell = {
		...request.cell,
		...frameBytes !== void 0 && { frameBytes }
	};
	if (result.good !== request.good || result.bad !== request.bad) return refused("of commits other than the requested ones");
	if (!testbeds.includes(result.testbed.name)) return refused("of another testbed");
	if (cellName(result.cell) !== cellName(cell) || result.metric !== config.gate.metric) return refused("of another cell or metric");
	if (indicesIn(result.answer).some((index) => index >= result.revisions.length)) return refused("of commits that it does not contain");
	try {
		await restoreCommits(request, written, context);
		const commits = await commitsOf(request, context);
		const revisions = result.revisions.flatMap((revision) => {
			const { place, ...rest } = commits.get(revision.commit) ?? {};
			return place === revision.place ? [{
				...revision,
				...rest
			}] : [];
		});
		const isAscending = revisions.every(({ place }, index) => place > (revisions[index - 1]?.place ?? -1));
		if (revisions.length < result.revisions.length || !isAscending) return refused("of commits of another range");
		return {
			kind: "verified",
			result: {
				...result,
				revisions
			}
		};
	} catch (error) {
		return refused(`of commits that cannot be read here (${reasonOf(error)})`);
	}
}
async function commitsOf({ good, bad }, { repository }) {
	await repository.resolve(bad);
	const commits = /* @__PURE__ */ new Map([[good, {
		place: 0,
		...await repository.describe(good)
	}]]);
	for await (const { commit, subject, author } of repository.firstParents(good, bad)) commits.set(commit, {
		place: commits.size,
		subject,
		author
	});
	return commits;
}
function indicesIn(answer) {
	switch (answer.kind) {
		case "culprit": return [answer.revision];
		case "group": return [answer.after, answer.last];
		case "several": return [...answer.found.flatMap(indicesIn), ...answer.open.flatMap(({ after, last }) => [after, last])];
		case "not-reproduced": return answer.fault === void 0 ? [] : [answer.fault.revision];
		case "slide": return answer.steps;
		case "inconclusive": return answer.best.map(({ revision }) => revision);
	}
}

// src/action/verified-nightly.ts
/** Logs the reason for each part that it omits. */
async function verifiedParts(texts, claim) {
	const publications = [];
	for (const [index, text] of texts.entries()) try {
		const part = trendUpdateOf(await verified(text, claim));
		const folder = `${claim.folder}${nightlyFolder(part)}/`;
		const profiles = await profilesIn(claim.bytes, part.result, folder, log.warn);
		publications.push({
			...part,
			result: withReasons(part.result, profiles),
			profiles
		});
	} catch (error) {
		log.warn(`Part ${index + 1} of the nightly run is not verified: ${reasonOf(error)}`);
	}
	return publications;
}
async function verified(text, claim) {
	const read = parseResult(text);
	return read.kind === "read" ? verifiedGate(read.result, claim) : verifiedSearch(text, claim);
}
async function verifiedGate(claimed, claim) {
	const { own, config } = claim;
	const { baseCommit, headCommit } = claimed.patch;
	const patch = await patchBetween(baseCommit, headCommit, claim);
	const why = agreesWith(claimed, patch);
	if (why !== void 0) throw new Error(why);
	const { outcome } = claimed;
	const measured = outcome.kind === "judged" ? outcome.cells.map(({ cell }) => cell) : [];
	const cells = cellsAmong(config, measured);
	if (outcome.kind === "judged" && cells.length === 0) throw new Error("It has none of the cells.");
	const request = {
		patch,
		config,
		cells,
		testbeds: [own.testbed.name],
		isExtended: false
	};
	const computed = recompute(withPatch(claimed, patch), request);
	if (computed.kind === "refused") throw new Error(computed.why);
	if (outcome.kind === "unchanged") {
		const changed = await claim.whyNotUnchanged(patch, own.testbed.name);
		if (changed !== void 0) throw new Error(changed);
	}
	for (const sentence of computed.refused) log.warn(`The artifact is not verified: ${sentence}`);
	return computed.result;
}
/** Accepts only commits of the nightly run's branch, described by git. */
async function patchBetween(good, bad, { own, context }) {
	const { repository } = context;
	await expectOnLine([good, bad], own.patch.headCommit, repository);
	if (good === bad && bad !== own.patch.headCommit) throw new Error("It is of another commit.");
	return patchOfRange(repository, `${good}..${bad}`);
}
async function verifiedSearch(text, claim) {
	const { data } = bisectResultSchema.safeParse(parseJson(text));
	if (data === void 0) throw new Error("It is not a result of this version of ppsgate.");
	const [good, bad] = [commitId.parse(data.good), commitId.parse(data.bad)];
	const patch = await patchBetween(good, bad, claim);
	const { own, config, context } = claim;
	if (data.testbed.name !== own.testbed.name) throw new Error("It is of another testbed.");
	const request = {
		command: "bisect",
		patch,
		good,
		bad,
		isOwn: false,
		cell: data.cell,
		overrides: { testbed: own.testbed.name },
		priority: "rerun"
	};
	const verified = await verifiedBisection(data, request, config, context);
	if (verified.kind === "refused") throw new Error(verified.why);
	return verified.result;
}

// src/action/artifact-outcomes.ts
const concludedAs = (reportedOutcome) => ({
	kind: "concluded",
	reportedOutcome,
	publications: [],
	corrections: []
});
/** Returns one outcome per gate, in the order of their selectors, or that of the bisection. */
async function readOutcomes(source, task) {
	const { config, context, judge = recompute } = task;
	const { request } = source;
	const selectors = isBisection(request) ? [void 0] : selectorsFor(config, request.overrides, context.inputs);
	const files = selectors.map((_, index) => filesOf(request, index, selectors.length));
	const artifact = await readArtifact(source, files, task);
	if (artifact.kind === "concluded") return selectors.map(() => artifact);
	const history = isBisection(request) ? [] : await readSharedHistory(config, context);
	const settings = isBisection(request) ? config : overridden(config, request, context);
	return Promise.all(files.map((files, index) => {
		const text = artifact.texts.get(files.result);
		if (text === void 0) return concludedOrRefused(artifact.texts.get(files.failure));
		const claim = {
			...source,
			text,
			context,
			files,
			artifact,
			config: settings,
			judge
		};
		return (isBisection(request) ? bisectOutcome({
			...claim,
			request
		}) : gateOutcome({
			...claim,
			request,
			history,
			selector: selectors[index]
		})).catch(outcomeOfError);
	}));
}
/**
* Other gates of the job have their own outcomes. A computation fails every time, but a read of git may succeed later.
*/
function outcomeOfError(error) {
	if (error instanceof UsageError) throw error;
	const why = `The result cannot be verified (${reasonOf(error)}): judge the patch again.`;
	return {
		...notVerified(why),
		mayPass: !(error instanceof RangeError)
	};
}
function overridden(config, request, { inputs }) {
	const configured = applyOverrides(config, inputs.overrides, namingStyles.input);
	return applyOverrides(configured, request.overrides, namingStyles.comment);
}
function filesOf(request, index, count) {
	const isNightly = !isBisection(request) && request.purpose === "nightly";
	return {
		result: outputFile("result", index, count),
		failure: outputFile("failure", index, count),
		parts: Array.from({ length: isNightly ? 20 : 0 }, (_, part) => outputFile(nightlyPart(part + 1), index, count)),
		folder: gateFolder(index, count)
	};
}
/** Fetches the artifact and reads these files. Without it, all gates have the returned outcome. */
async function readArtifact({ request: { patch }, runId, isTrusted }, files, { context, retry }) {
	const { octokit, repository, inputs } = context;
	const { job } = inputs;
	if (!isTrusted) {
		const changed = await changedOfGate(patch, repository, job);
		if (changed !== void 0) return concludedAs(outcomeOfFailure("usage", selfMade(patch, changed)));
	}
	const place = {
		repository: job.repository,
		runId,
		name: artifactName
	};
	const fetched = await fetchArtifactWithRetries(octokit, place, retry);
	if (fetched.kind === "none") return concludedAs(cancelledOutcome);
	if (fetched.kind !== "fetched") {
		const mayPass = fetched.kind === "failed" && fetched.mayPass;
		return {
			...notVerified(fetched.why),
			mayPass
		};
	}
	const { bytes } = fetched;
	const paths = files.flatMap(({ result, failure, parts }) => [
		result,
		failure,
		...parts
	]);
	const entries = await readEntries(bytes, paths);
	if (entries.kind === "refused") return notVerified(entries.why);
	return {
		kind: "read",
		bytes,
		texts: entries.texts
	};
}
const notVerified = (why) => concludedAs(outcomeOfFailure("infrastructure", why));
const selfMade = (patch, path) => `${patchName(patch)} changes ${path}, so its result cannot be trusted: a maintainer who has read it can write /ppsgate run ${patch.headCommit}.`;
/** An interrupted job left neither a result nor a failure. */
function concludedOrRefused(text) {
	const failure = readFailure(text);
	if (failure === void 0) return concludedAs(cancelledOutcome);
	const { exitCode, said, isRefused } = failure;
	if (isRefused) return {
		kind: "refused",
		why: said
	};
	const why = exitCode === exitCodes.usage ? "usage" : "infrastructure";
	return concludedAs(outcomeOfFailure(why, said));
}
async function gateOutcome(claim) {
	const { request, files, artifact, isTrusted } = claim;
	const read = await recomputed(claim);
	if (read.kind === "refused") return notVerified(read.why);
	if (read.result.outcome.kind === "unchanged") {
		const why = await whyNotUnchanged(request, claim);
		if (why !== void 0) return notVerified(why);
	}
	const { refused: corrections } = read;
	for (const sentence of corrections) log.warn(`The artifact is not verified: ${sentence}`);
	const profiles = await profilesIn(artifact.bytes, read.result, files.folder, log.warn);
	const result = withReasons(read.result, profiles);
	const own = {
		result,
		profiles,
		isDefaultBranch: request.purpose !== "patch",
		isTrusted
	};
	return {
		kind: "concluded",
		reportedOutcome: outcomeOfResult(result, { corrections }),
		publications: [own, ...await partsOfNightly(result, claim)],
		corrections
	};
}
/** Recomputes everything that follows from the raw numbers. */
async function recomputed({ text, request, config, selector, history, context, judge }) {
	const { patch } = request;
	const read = parseResult(text);
	if (read.kind === "refused") return read;
	const why = agreesWith(read.result, patch);
	if (why !== void 0) return {
		kind: "refused",
		why
	};
	const settings = {
		patch,
		config,
		testbeds: testbedsFor(config, selector),
		isExtended: request.extend !== void 0,
		history,
		mergeBase: await context.repository.mergeBase(patch.baseCommit, patch.headCommit).catch(() => void 0)
	};
	return judge(withPatch(read.result, patch), settings);
}
/** Returns a nightly run's results other than the A/A run; none for other gates. */
const partsOfNightly = (own, claim) => {
	const { request, config, context, files, artifact } = claim;
	return verifiedParts(files.parts.flatMap((name) => artifact.texts.get(name) ?? []), {
		own,
		config,
		context,
		bytes: artifact.bytes,
		folder: files.folder,
		whyNotUnchanged: (patch, selector) => whyNotUnchanged({
			...request,
			patch,
			purpose: "patch"
		}, {
			config,
			selector,
			context
		})
	});
};
async function bisectOutcome({ text, request, config, context, artifact }) {
	const { data } = bisectResultSchema.safeParse(parseJson(text));
	if (data === void 0) return notVerified("The result is not of a bisection, or from another version.");
	const verified = await verifiedBisection(data, request, config, context);
	if (verified.kind === "refused") return notVerified(verified.why);
	const profiles = await profilesIn(artifact.bytes, verified.result, "", log.warn);
	const result = withReasons(verified.result, profiles);
	const links = { rawData: `the [job](${context.inputs.job.runUrl})` };
	return {
		kind: "concluded",
		reportedOutcome: {
			kind: "bisected",
			result,
			request: requestedOf(request),
			links
		},
		publications: [{
			result,
			profiles,
			isDefaultBranch: false,
			isTrusted: false
		}],
		corrections: []
	};
}

// src/action/run-publish.ts
/**
* Passes once the patch has its report, with any verdict, as the check shows that. After an hour without delivery, the
* job can be run again: the artifact keeps the measurements.
*/
async function runPublish(context, retry = retryForAnHour()) {
	const source = await sourceOf(context);
	if (source === void 0) return exitCodes.pass;
	const { request, runId } = source;
	const config = await readConfigFor(request, context);
	const outcomes = await readOutcomes(source, {
		config,
		context,
		retry
	});
	const reported = [];
	let isDelivered = outcomes.every((outcome) => outcome.kind === "refused" || !outcome.mayPass);
	for (const [index, name] of reporterNames(request, config, context.inputs).entries()) {
		const read = outcomes[index];
		if (read === void 0) continue;
		const { patch } = request;
		if (read.kind === "refused" && patch.kind === "pull-request" && !isBisection(request)) {
			await reportRefusal(context, {
				pullRequest: patch,
				config,
				name,
				why: read.why,
				runId
			});
			continue;
		}
		const outcome = read.kind === "refused" ? concludedAs(outcomeOfFailure("usage", read.why)) : read;
		const options = {
			name,
			runId,
			isOpen: runId === context.inputs.job.runId,
			retry: remaining(retry)
		};
		try {
			const reporter = await openReporter(context, request, config, options);
			if (!await isReported(outcome, reporter)) isDelivered = false;
			reported.push({
				reporter,
				outcome
			});
		} catch (error) {
			if (error instanceof UsageError) throw error;
			log.error(`${name} is not reported (${reasonOf(error)}).`);
			isDelivered = false;
		}
	}
	for (const { reporter, outcome } of reported) {
		if (isBisection(request) && outcome.reportedOutcome.kind !== "bisected") continue;
		await publishAndLink(reporter, outcome, config, context);
	}
	if (isDelivered) return exitCodes.pass;
	log.error("Some reports were not delivered, see above: run this job again; it measures nothing.");
	return exitCodes.infrastructure;
}
async function isReported({ reportedOutcome }, reporter) {
	const isDelivered = await reporter.conclude(reportedOutcome) !== "undelivered";
	if (reportedOutcome.kind === "unmeasured") log.info(outcomeTitle(reportedOutcome));
	else await summary.addRaw(outcomeMarkdown(reportedOutcome)).write();
	return isDelivered;
}
/** Returns the request of an earlier job of this run, or that of a fork's own run, whose patch GitHub identifies. */
async function sourceOf(context) {
	const { request: text, job } = context.inputs;
	if (text !== "") return {
		request: readRequest(text),
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
	if (more.length > 0) throw new UsageError(`${numbersOf(all)} have the head ${run.head_sha}, and GitHub does not report which of them was measured: write /ppsgate run ${run.head_sha} in the intended one.`);
	if (found === void 0) {
		log.info(`No open pull request has ${run.head_sha} as its head anymore: nothing is reported.`);
		return;
	}
	const { pullRequest: patch } = found;
	return {
		request: {
			patch,
			overrides: {},
			priority: "patch",
			purpose: "patch"
		},
		runId: run.id,
		isTrusted: false
	};
}
const workflowRun = object({ workflow_run: object({
	id,
	head_sha: word,
	head_branch: word,
	head_repository: object({ owner: object({ login: word }) })
}) });
async function publishAndLink(reporter, { reportedOutcome, publications, corrections }, config, context) {
	if (reportedOutcome.kind === "measured") log.info(headline(reportedOutcome.result));
	if (reportedOutcome.kind !== "measured" && reportedOutcome.kind !== "bisected") {
		await publishData(context, config, publications);
		return;
	}
	const publish = async () => {
		const [links = {}] = await publishData(context, config, publications);
		return {
			...links,
			corrections
		};
	};
	await addReportLinks(reporter, reportedOutcome, publish, log.warn);
}

export { runPublish };