import { summary } from "../vendor/actions-core.js";
import { cancelled, endingOfFailure, endingOfResult, linkedAfterwards, linkedNow, pausesWithin, summaryOf, titleOf } from "../answer.js";
import { testbedsThatDiffer, variantsByMaking } from "../build.js";
import { int, object, string } from "../vendor/zod.js";
import { applyOverrides, calledAs } from "../config.js";
import { cellsAmong, cellsOf, policyOf, recompute, shareOf, together } from "../experiment.js";
import { agreesWith, fetchArtifact, numbersOf, parseResult, profilesIn, pullRequestsOfBranch, readEntries, withPatch } from "../github.js";
import { chosenFor } from "../inventory.js";
import { expectOnLine, patchOfRange, restoreRevision } from "../patch.js";
import { withReasons } from "../profile.js";
import { headline } from "../report.js";
import { UsageError, bisectResultSchema, cellName, commitId, exitCodes, fromJson, patchName, realPause, reasonOf, shortId } from "../words.js";
import { folderOf, toldOf } from "../night.js";
import { log } from "./log.js";
import { askedOf, heldTo, readBisectConfig, restoreCommits } from "./bisection.js";
import { artifactName } from "./extend.js";
import { answerFor, bisectAnswerFor, configCommitOf, failureOfText, fileOf, gateFolder, gateNames, heldBy, isBisection, isMeasuredAnyway, partName, readRequest, revisionWorldOf, wishesFor } from "./request.js";
import { linksOfParts, publishData } from "./publish-data.js";
import { readEvent } from "./inputs.js";
import { tellRefusal } from "./run-admit.js";
import { relative } from "node:path";

// src/action/patience.ts
const inAnHour = () => new Date(Date.now() + 36e5);
/** A minute where all is used up, for GitHub may be well again just now. */
const leftOf = ({ until, now, pause }) => ({
	patienceSeconds: Math.max(60, Math.round((until.getTime() - now().getTime()) / 1e3)),
	pause
});
const anHour = () => ({
	until: inAnHour(),
	now: () => /* @__PURE__ */ new Date(),
	pause: realPause
});
/** Asks again while GitHub is not well. */
async function fetchPatiently(octokit, place, patience) {
	const { until, now, pause } = patience;
	for (const seconds of pausesWithin(leftOf(patience).patienceSeconds)) {
		const artifact = await fetchArtifact(octokit, place);
		if (artifact.kind !== "failed" || !artifact.mayPass || now() > until) return artifact;
		await pause(seconds, new AbortController().signal);
	}
	return fetchArtifact(octokit, place);
}
/** The exit code of a job that has answered, or could not. */
function exitCodeIf(isGiven) {
	if (isGiven) return exitCodes.pass;
	log.error("The answer is not there, or not the right one, because GitHub or Phabricator was not well: run this job again, which measures nothing.");
	return exitCodes.infrastructure;
}

// src/action/publish-bisect.ts
/** Passes when whoever asked is answered, whatever was found. */
async function publishBisection(request, context, patience) {
	const config = await readBisectConfig(request, context);
	const { runId } = context.inputs.job;
	const { ending, profiles = [], mayPass } = await endingOf(request, config, context, patience);
	const answer = bisectAnswerFor(context, request, config, {
		runId,
		patience: leftOf(patience)
	});
	const given = await answer.ended(ending);
	if (ending.kind === "unmeasured") log.info(titleOf(ending));
	else await summary.addRaw(summaryOf(ending)).write();
	if (ending.kind === "bisected") {
		const publication = {
			result: ending.result,
			profiles,
			...kept
		};
		const make = async () => (await publishData(context, config, [publication]))[0] ?? {};
		await linkedNow(answer, ending, make, log.warn);
	}
	return exitCodeIf(given !== "untaken" && !mayPass);
}
/** A bisection tells the branch's badges nothing, and nobody computes its numbers again. */
const kept = {
	isDefaultBranch: false,
	isTrusted: false
};
async function endingOf(request, config, context, patience) {
	const { octokit, inputs } = context;
	const { repository, runId, runUrl } = inputs.job;
	const artifact = await fetchPatiently(octokit, {
		repository,
		runId,
		name: artifactName
	}, patience);
	if (artifact.kind === "none") return { ending: cancelled };
	if (artifact.kind !== "fetched") {
		const mayPass = artifact.kind === "failed" && artifact.mayPass;
		return {
			ending: endingOfFailure("infrastructure", artifact.why),
			mayPass
		};
	}
	const [result, failure] = [fileOf("result", 0, 1), fileOf("failure", 0, 1)];
	const entries = await readEntries(artifact.bytes, [result, failure]);
	if (entries.kind === "refused") return { ending: endingOfFailure("infrastructure", entries.why) };
	const text = entries.texts.get(result);
	if (text === void 0) return { ending: endingOfText$1(entries.texts.get(failure)) };
	const read = bisectResultSchema.safeParse(fromJson(text));
	const found = read.success ? await believedBisection(read.data, request, config, context) : {
		kind: "refused",
		why: "The result is none of a bisection, or of another version."
	};
	if (found.kind === "refused") return { ending: endingOfFailure("infrastructure", found.why) };
	const links = { rawData: `the [job](${runUrl})` };
	const asked = askedOf(request);
	const profiles = await profilesIn(artifact.bytes, found.result, "", log.warn);
	return {
		ending: {
			kind: "bisected",
			result: withReasons(found.result, profiles),
			asked,
			links
		},
		profiles
	};
}
function endingOfText$1(text) {
	const failure = failureOfText(text);
	return failure === void 0 ? cancelled : endingOfFailure(failure.why, failure.said);
}
/**
* Believes the numbers of what was measured, and of commits what git says of them here: whoever lies about the numbers
* blames another commit, and passes none.
*/
async function believedBisection(result, request, written, context) {
	const refused = (why) => ({
		kind: "refused",
		why: `The result is ${why}.`
	});
	const { config, testbeds } = heldTo(request, written, context);
	const [frameBytes] = config.frameSizes ?? [];
	const cell = {
		...request.cell,
		...frameBytes !== void 0 && { frameBytes }
	};
	if (result.good !== request.good || result.bad !== request.bad) return refused("of other commits than were asked for");
	if (!testbeds.includes(result.testbed.name)) return refused("of another testbed");
	if (cellName(result.cell) !== cellName(cell) || result.metric !== config.gate.metric) return refused("of another cell, or by another metric");
	if (indicesIn(result.answer).some((index) => index >= result.revisions.length)) return refused("of commits that it does not have");
	try {
		await restoreCommits(request, written, context);
		const known = await commitsOf(request, context);
		const revisions = result.revisions.flatMap((revision) => {
			const { place, ...rest } = known.get(revision.commit) ?? {};
			return place === revision.place ? [{
				...revision,
				...rest
			}] : [];
		});
		if (revisions.length < result.revisions.length) return refused("of commits of another range");
		return {
			kind: "believed",
			result: {
				...result,
				revisions
			}
		};
	} catch (error) {
		return refused(`of commits that cannot be read here (${reasonOf(error)})`);
	}
}
/** What git knows of the good commit and of those after it along first parents, by their ids. */
async function commitsOf({ good, bad }, { repository }) {
	await repository.resolve(bad);
	const known = /* @__PURE__ */ new Map([[good, {
		place: 0,
		...await repository.describe(good)
	}]]);
	for await (const { commit, subject, author } of repository.firstParents(good, bad)) known.set(commit, {
		place: known.size,
		subject,
		author
	});
	return known;
}
/** All that an answer has of revisions, by their indices. */
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

// src/action/believed-night.ts
/** The parts that can be believed, of these texts; of the others the log says why not. */
async function believedParts(texts, asked) {
	const publications = [];
	for (const [index, text] of texts.entries()) try {
		const told = toldOf(await believed$1(text, asked));
		const folder = `${asked.folder}${folderOf(told)}/`;
		const profiles = await profilesIn(asked.bytes, told.result, folder, log.warn);
		publications.push({
			...told,
			result: withReasons(told.result, profiles),
			profiles
		});
	} catch (error) {
		log.warn(`Part ${index + 1} of the night is not believed: ${reasonOf(error)}`);
	}
	return publications;
}
async function believed$1(text, asked) {
	const read = parseResult(text);
	return read.kind === "read" ? believedGate(read.result, asked) : believedSearch(text, asked);
}
async function believedGate(claimed, asked) {
	const { own, config } = asked;
	const { baseCommit, headCommit } = claimed.patch;
	const patch = await patchBetween(baseCommit, headCommit, asked);
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
		const changed = await asked.whyNotUnchanged(patch, own.testbed.name);
		if (changed !== void 0) throw new Error(changed);
	}
	for (const sentence of computed.refused) log.warn(`The artifact is not believed: ${sentence}`);
	return computed.result;
}
/** The commits are of the branch that the night is of, and all else is as git has it. */
async function patchBetween(good, bad, { own, context }) {
	const { repository } = context;
	await expectOnLine([good, bad], own.patch.headCommit, repository);
	if (good === bad && bad !== own.patch.headCommit) throw new Error("It is of another commit.");
	return patchOfRange(repository, `${good}..${bad}`);
}
async function believedSearch(text, asked) {
	const { data } = bisectResultSchema.safeParse(fromJson(text));
	if (data === void 0) throw new Error("It is no result of this version of ppsgate.");
	const [good, bad] = [commitId.parse(data.good), commitId.parse(data.bad)];
	const patch = await patchBetween(good, bad, asked);
	const { own, config, context } = asked;
	if (data.testbed.name !== own.testbed.name) throw new Error("It is of another testbed.");
	const request = {
		command: "bisect",
		patch,
		good,
		bad,
		isOwn: false,
		cell: data.cell,
		ask: { testbed: own.testbed.name },
		priority: "rerun"
	};
	const found = await believedBisection(data, request, config, context);
	if (found.kind === "refused") throw new Error(found.why);
	return found.result;
}

// src/action/believed-split.ts
/**
* The result of each part, with the share of the false alarms that its cells have. A cell is of the first part that has
* it, and one that no part has is an invalid one of the first.
*
* @param texts of the parts, by the names of their testbeds; at least one
*/
function believedSplit(texts, asked) {
	const cells = cellsOf(asked.config);
	const claims = [];
	const taken = /* @__PURE__ */ new Set();
	for (const [name, text] of texts) {
		const read = parseResult(text);
		if (read.kind === "refused") return read;
		const why = whyNot(read.result, asked);
		if (why !== void 0) return {
			kind: "refused",
			why
		};
		const { outcome } = read.result;
		const has = new Set(outcome.kind === "judged" ? outcome.cells.map(({ cell }) => cellName(cell)) : []);
		const own = cells.filter((cell) => has.has(cellName(cell)) && !taken.has(cellName(cell)));
		for (const cell of own) taken.add(cellName(cell));
		const claimed = withPatch(read.result, asked.patch);
		if (own.length > 0 || outcome.kind !== "judged") claims.push({
			name,
			claimed,
			own
		});
	}
	const areJudged = claims.every(({ own }) => own.length > 0);
	const lacking = cells.filter((cell) => areJudged && !taken.has(cellName(cell)));
	const computed = claims.map(({ name, claimed, own }, index) => {
		const measured = index === 0 ? [...own, ...lacking] : own;
		const share = shareOf(asked.config, own.length, cells.length);
		const { falseAlarmRatio } = claimed.policy;
		const gate = own.length > 0 ? share.gate : {
			...share.gate,
			falseAlarmRatio
		};
		const of = {
			...asked,
			config: {
				...share,
				gate
			},
			cells: measured,
			testbeds: [name]
		};
		return recompute(claimed, of);
	});
	const refused = computed.find((one) => one.kind === "refused");
	if (refused !== void 0) return refused;
	const parts = computed.flatMap((one) => one.kind === "computed" ? one : []);
	if (parts.length === 0) return {
		kind: "refused",
		why: "No part has any of the cells."
	};
	return {
		kind: "believed",
		parts: parts.map(({ result }) => result),
		corrections: parts.flatMap(({ refused }) => refused)
	};
}
/** What need not be measured is never split. */
const whyNot = (claimed, { patch }) => claimed.outcome.kind === "unchanged" ? "A part says that there was nothing to measure, where others have measured." : agreesWith(claimed, patch);

// src/action/run-publish.ts
/**
* Passes when the patch is answered, whatever the verdict: that is for the check to say. Where that could not be done
* within an hour, the job can be run again: what was measured lies in the artifact.
*/
async function runPublish(context, patience = anHour()) {
	const { request: handed } = context.inputs;
	const given = handed === "" ? void 0 : readRequest(handed);
	if (given !== void 0 && isBisection(given)) return publishBisection(given, context, patience);
	const source = await sourceOf(context, given);
	if (source === void 0) return exitCodes.pass;
	const { request, isTrusted } = source;
	const config = await context.readConfig(configCommitOf(request.patch, context.inputs));
	const wishes = wishesFor(config, request.ask, context.inputs);
	const names = gateNames(wishes);
	const endings = await endingsOf(source, {
		config,
		wishes,
		context,
		patience
	});
	const { runId } = source;
	const isOpen = runId === context.inputs.job.runId;
	const answered = [];
	let isGiven = endings.every((left) => left.kind === "refused" || !left.mayPass);
	for (const [index, name] of names.entries()) {
		const left = endings[index] ?? ended(cancelled);
		if (left.kind === "refused" && request.patch.kind === "pull-request") {
			const refusal = {
				pullRequest: request.patch,
				config,
				name,
				why: left.why,
				runId
			};
			await tellRefusal(context, refusal);
			continue;
		}
		const known = left.kind === "refused" ? ended(endingOfFailure("usage", left.why)) : left;
		const { ending } = known;
		const place = {
			name,
			runId,
			isOpen,
			patience: leftOf(patience)
		};
		const answer = await answerFor(context, request, config, place);
		if (await answer.ended(ending) === "untaken") isGiven = false;
		answered.push({
			answer,
			left: known
		});
		if (ending.kind === "unmeasured") log.info(titleOf(ending));
		else await summary.addRaw(summaryOf(ending)).write();
	}
	for (const { answer, left } of answered) await withLinks(answer, left, {
		request,
		isTrusted
	}, config, context);
	return exitCodeIf(isGiven);
}
const ended = (ending) => ({
	kind: "ended",
	ending,
	own: [],
	parts: [],
	corrections: []
});
/** The patch as an earlier job of this run fixed it, or as GitHub says that a fork's own run was for. */
async function sourceOf(context, given) {
	const { job } = context.inputs;
	if (given !== void 0) return {
		request: given,
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
	if (more.length > 0) throw new UsageError(`${numbersOf(all)} have the head ${run.head_sha}, and GitHub does not tell which of them was measured: write /ppsgate run ${shortId(run.head_sha)} at the one that is meant.`);
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
async function endingsOf({ request, runId, isTrusted }, { config, wishes, context, patience }) {
	const { octokit, repository, inputs } = context;
	const { job } = inputs;
	const of = wishes.length;
	const everywhere = (ending) => new Array(of).fill(ended(ending));
	const { patch } = request;
	if (!isTrusted) {
		const own = await changedOfGate(patch, repository, job);
		if (own !== void 0) return everywhere(endingOfFailure("usage", selfMade(patch, own)));
	}
	const place = {
		repository: job.repository,
		runId,
		name: artifactName
	};
	const artifact = await fetchPatiently(octokit, place, patience);
	if (artifact.kind === "none") return everywhere(cancelled);
	if (artifact.kind !== "fetched") {
		const mayPass = artifact.kind === "failed" && artifact.mayPass;
		const failed = ended(endingOfFailure("infrastructure", artifact.why));
		return new Array(of).fill({
			...failed,
			mayPass
		});
	}
	const configured = applyOverrides(config, inputs.ask, calledAs.input);
	const asked = heldBy(request, applyOverrides(configured, request.ask, calledAs.comment));
	/** The results of the parts that there may be. */
	const splitOf = (index) => asked.split !== true ? [] : chosenFor(asked, wishes[index]).testbeds.map((name) => ({
		name,
		path: `${gateFolder(index, of)}${name}/result.json`
	}));
	const files = Array.from({ length: of }, (_, index) => ({
		result: fileOf("result", index, of),
		failure: fileOf("failure", index, of),
		parts: Array.from({ length: request.purpose === "nightly" ? 20 : 0 }, (_, part) => fileOf(partName(part + 1), index, of)),
		split: splitOf(index)
	}));
	const wanted = files.flatMap(({ result, failure, parts, split }) => [...[
		result,
		failure,
		...parts
	], ...split.map(({ path }) => path)]);
	const entries = await readEntries(artifact.bytes, wanted);
	if (entries.kind === "refused") return everywhere(endingOfFailure("infrastructure", entries.why));
	return Promise.all(files.map(async ({ result, failure, parts: names, split }, index) => {
		const measured = entries.texts.get(result);
		if (measured === void 0) return endingOfText(entries.texts.get(failure));
		const { testbeds } = chosenFor(asked, wishes[index]);
		const isExtended = request.extend !== void 0;
		const question = {
			patch,
			config: asked,
			testbeds,
			isExtended
		};
		const folder = gateFolder(index, of);
		const texts = split.flatMap(({ name, path }) => {
			const text = entries.texts.get(path);
			return text === void 0 ? [] : [[name, text]];
		});
		if (texts.length > 0 && !isExtended) return endedInParts(new Map(texts), question, {
			bytes: artifact.bytes,
			folder
		});
		const read = believed(measured, question);
		if (read.kind === "refused") return ended(endingOfFailure("infrastructure", read.why));
		if (read.result.outcome.kind === "unchanged") {
			const why = await whyNotUnchanged(request, {
				config: asked,
				wish: wishes[index],
				context
			});
			if (why !== void 0) return ended(endingOfFailure("infrastructure", why));
		}
		for (const sentence of read.refused) log.warn(`The artifact is not believed: ${sentence}`);
		const profiles = await profilesIn(artifact.bytes, read.result, folder, log.warn);
		const explained = withReasons(read.result, profiles);
		const corrections = read.refused;
		const parts = await believedParts(names.flatMap((name) => entries.texts.get(name) ?? []), {
			own: explained,
			config: asked,
			context,
			bytes: artifact.bytes,
			folder,
			whyNotUnchanged: (patch, wish) => whyNotUnchanged({
				...request,
				patch,
				purpose: "patch"
			}, {
				config: asked,
				wish,
				context
			})
		});
		return {
			kind: "ended",
			ending: endingOfResult(explained, { corrections }),
			own: [{
				result: explained,
				profiles
			}],
			parts,
			corrections
		};
	}));
}
/** One ending for the parts of a gate whose cells were split. */
async function endedInParts(texts, asked, { bytes, folder }) {
	const read = believedSplit(texts, asked);
	if (read.kind === "refused") return ended(endingOfFailure("infrastructure", read.why));
	const { corrections } = read;
	for (const sentence of corrections) log.warn(`The artifact is not believed: ${sentence}`);
	const own = [];
	for (const result of read.parts) {
		const below = `${folder}${result.testbed.name}/`;
		const profiles = await profilesIn(bytes, result, below, log.warn);
		own.push({
			result: withReasons(result, profiles),
			profiles
		});
	}
	const parts = own.map(({ result }) => ({
		result,
		folder: result.testbed.name
	}));
	const whole = together(parts, policyOf(asked.config), cellsOf(asked.config));
	return {
		kind: "ended",
		ending: endingOfResult(whole, { corrections }),
		own,
		parts: [],
		corrections
	};
}
/** Believes only the numbers of all that the artifact says: what follows from them is computed again. */
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
/**
* Why it is not believed that a patch changes nothing which is laid: such a result passes branch rules without a number,
* so what the gate has found is found here again, between the commits that there was leave for.
*/
async function whyNotUnchanged(request, { config, wish, context }) {
	const { patch } = request;
	const { repository, inputs } = context;
	const claim = `The result says that ${patchName(patch)} changes nothing which the testbed lays`;
	if (isMeasuredAnyway(request, inputs.ask)) return `${claim}, which was to be measured anyway: judge the patch again.`;
	try {
		if (patch.kind === "revision") await restoreRevision(patch, revisionWorldOf(context, config));
		const question = {
			patch,
			config,
			testbeds: chosenFor(config, wish).testbeds
		};
		const variants = await variantsByMaking(question, repository);
		const differ = await testbedsThatDiffer({
			...question,
			variants
		}, repository);
		if (differ.length === 0) return void 0;
		return `${claim}, and on ${differ.join(" and ")} it does: judge the patch again.`;
	} catch (error) {
		return `${claim}, and nobody can prove it (${reasonOf(error)}): judge the patch again.`;
	}
}
/** A gate that was cut short has left neither a result nor a word. */
function endingOfText(text) {
	const failure = failureOfText(text);
	if (failure === void 0) return ended(cancelled);
	const { why, said, isRefused } = failure;
	return isRefused ? {
		kind: "refused",
		why: said
	} : ended(endingOfFailure(why, said));
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
const selfMade = (patch, path) => `${patchName(patch)} changes ${path}, and so could say anything of itself: a maintainer who has read it can write /ppsgate run ${shortId(patch.headCommit)}.`;
async function withLinks(answer, { ending, own, parts, corrections }, { request, isTrusted }, config, context) {
	const isDefaultBranch = request.purpose !== "patch";
	if (ending.kind !== "measured") {
		await publishData(context, config, []);
		return;
	}
	const { result } = ending;
	log.info(headline(result));
	const make = async () => {
		const publications = own.map((one) => ({
			...one,
			isDefaultBranch,
			isTrusted
		}));
		const links = await publishData(context, config, [...publications, ...parts]);
		return {
			...linksOfParts(own, links.slice(0, own.length)),
			corrections
		};
	};
	await linkedAfterwards(answer, ending, make, log.warn);
}

export { runPublish };