import { answering, endingOfError, endingOfResult, linkedAfterwards, together, upshotOf } from "../answer.js";
import { applyOverrides, calledAs } from "../config.js";
import { randomSeed } from "../experiment.js";
import { gate, resumeGate } from "../gate.js";
import { chosenFor } from "../inventory.js";
import { factsOf, folderOf, night } from "../night.js";
import { restoreRevision } from "../patch.js";
import { labelled } from "../progress.js";
import { explained, headline, outcomeName, readResult } from "../report.js";
import { inSession } from "../session.js";
import { splitGate } from "../split.js";
import { UsageError, exitCodes, patchName, realPause, reasonOf, worstUpshot } from "../words.js";
import { fetchExperiment, runsToExtend } from "./extend.js";
import { answerFor, configCommitOf, failureOf, fileOf, gateFolder, gateNames, heldBy, isBisection, isMeasuredAnyway, partName, readRequest, revisionWorldOf, subjectOf, wishesFor } from "./request.js";
import { answerState, openAnswersText } from "./left.js";
import { log, saveState, setOutput } from "./log.js";
import { readBranchTrend, readDirectoryTrend, tonight } from "../data-branch.js";
import { linksOfParts, publishData } from "./publish-data.js";
import { tellTrend } from "./tell-trend.js";
import { jobLog, keepRefusal, newFolder, orElsewhere, readyLab, sharedHistory, summarized } from "./measuring.js";
import { githubFailure, placeOf } from "../github.js";
import { admitEvent, exitCodeOf } from "./run-admit.js";
import { join, resolve } from "node:path";
import { copyFile, writeFile } from "node:fs/promises";

// src/action/measured-night.ts
/** All that a night touches of the world, in a job. */
function nightWorld(world, place) {
	const { context, config, isAlone, directory, file } = place;
	let parts = 0;
	return {
		...world,
		repository: context.repository,
		trend: (testbed, { headCommit }) => tonightOf(testbed, headCommit, place),
		async keep(told) {
			const folder = join(directory, folderOf(told));
			if (isAlone) {
				const { profiles } = await explained(told.result, folder, log.warn);
				await publishData(context, config, [{
					...told,
					profiles
				}]);
				if (!told.isDefaultBranch) await tellTrend(context, config, [told.result.testbed.name]);
			}
			const name = told.occasion === "night" ? "result" : partName(++parts);
			const written = join(folder, "result.json");
			if (parts <= 20 && file(name) !== written) await copyFile(written, file(name));
		}
	};
}
async function tonightOf(testbed, commit, { context: { octokit, repository, inputs }, config }) {
	const { branch, directory } = config.github.data;
	const { repository: name } = inputs.job;
	const trend = branch !== void 0 ? await readBranchTrend(octokit, {
		repository: name,
		branch
	}, testbed) : directory && await readDirectoryTrend(directory);
	if (!trend) return void 0;
	const { commits } = await factsOf(commit, repository);
	return tonight(trend, {
		testbed,
		commits,
		now: () => /* @__PURE__ */ new Date()
	});
}

// src/action/queued.ts
/**
* Does the work with a signal that is aborted as `signal` is, and when the queue has let go of its branch; with `signal`
* itself where no queue waits.
*/
async function whileQueued(branch, { octokit, repository, pause = realPause }, signal, work) {
	if (branch === void 0) return work(signal);
	const ended = new AbortController();
	const dropped = new AbortController();
	const watch = async () => {
		while (await hasBranch(octokit, repository, branch)) {
			await pause(secondsBetween, ended.signal);
			if (ended.signal.aborted) return;
		}
		dropped.abort(new DroppedError(branch));
	};
	const watched = watch();
	try {
		return await work(AbortSignal.any([signal, dropped.signal]));
	} catch (error) {
		dropped.signal.throwIfAborted();
		throw error;
	} finally {
		ended.abort();
		await watched;
	}
}
/** Well within the thousand questions an hour that a job's token has. */
const secondsBetween = 60;
var DroppedError = class extends Error {
	name = "DroppedError";
	upshot = "cancelled";
	constructor(branch) {
		super(`The merge queue has let go of ${branch}: nobody waits for its measurement any more.`);
	}
};
/** Only GitHub's word that there is none counts: it may be down. */
async function hasBranch(octokit, repository, branch) {
	try {
		const { owner, repo } = placeOf(repository);
		const ref = `heads/${branch}`;
		await octokit.request("GET /repos/{owner}/{repo}/git/ref/{ref}", {
			owner,
			repo,
			ref
		});
		return true;
	} catch (error) {
		const failure = githubFailure(error);
		return !(failure?.kind === "answered" && failure.status === 404);
	}
}

// src/action/run-gate.ts
/**
* Answers the exit code of the worst verdict; throws for what kept it from one.
*
* @param within has the testbeds.
*/
async function runGate(context, signal, within = inSession) {
	const { request: handed } = context.inputs;
	if (handed !== "") {
		const request = readRequest(handed);
		if (isBisection(request)) throw new UsageError(noBisection);
		const config = await context.readConfig(configCommitOf(request.patch, context.inputs));
		if (request.patch.kind === "revision") await restoreRevision(request.patch, revisionWorldOf(context, config));
		return measure(request, config, {
			context,
			isAlone: false,
			within,
			signal
		});
	}
	const admission = await admitEvent(context, refuseBisection);
	if (admission.kind === "refused") await keepRefusal(admission.why, context);
	if (admission.kind !== "go") return exitCodeOf(admission);
	const job = {
		context,
		isAlone: true,
		within,
		signal
	};
	return measure(admission.request, admission.config, job);
}
/** A workflow from before there were bisections has no job for them. */
function refuseBisection(admission) {
	if (admission.kind !== "bisect") return admission;
	const { patch } = admission.request;
	if (patch.kind !== "pull-request") throw new UsageError(noBisection);
	return {
		kind: "mistaken",
		pullRequest: patch,
		why: noBisection
	};
}
const noBisection = "A job with `command: gate` bisects nothing: give the workflow one with `command: bisect`, as `ppsgate init` writes it.";
/** Measures for as long as anybody waits for the answer. */
const measure = (request, written, job) => {
	const { octokit, inputs } = job.context;
	const place = {
		octokit,
		repository: inputs.job.repository
	};
	return whileQueued(request.queue, place, job.signal, (signal) => measureAll(request, written, {
		...job,
		signal
	}));
};
async function measureAll(request, written, job) {
	const { config, wishes, chosen, ...rest } = await planned(request, written, job);
	const all = chosen.flatMap(({ testbeds }) => testbeds);
	const exitCode = await readyLab(config, all);
	if (exitCode !== void 0) return exitCode;
	const folder = await newFolder(job.context);
	const names = gateNames(wishes);
	const open = new Set(names);
	const keepOpen = () => {
		const answers = [...open].map((name) => ({
			name,
			request
		}));
		if (job.isAlone) saveState(answerState, openAnswersText(answers));
	};
	keepOpen();
	const done = [];
	const judgeOn = async (name, index) => {
		const [wish = ""] = names.length === 1 ? [] : wishes.slice(index);
		const own = gateFolder(index, names.length);
		const place = {
			...job,
			wish,
			own,
			directory: resolve(folder, own),
			file: (base) => join(folder, fileOf(base, index, names.length))
		};
		const answer = await openAnswer(request, config, name, place);
		const ending = await answering(answer, job.signal, () => judge({
			request,
			config,
			...nothing,
			...chosen[index],
			...rest
		}, place, answer)).catch(async (error) => {
			if (!job.signal.aborted) await keepFailure(error, place);
			throw error;
		});
		done.push({
			ending,
			directory: place.directory
		});
		tellOutputs(worstOf(done));
	};
	const [failure, ...more] = (await Promise.allSettled(names.map((name, index) => judgeOn(name, index).finally(() => {
		open.delete(name);
		keepOpen();
	})))).filter((one) => one.status === "rejected");
	for (const { reason } of more) log.error(reasonOf(reason));
	if (failure !== void 0) throw failure.reason;
	return exitCodeFor(request.purpose, done.map(({ ending }) => upshotOf(ending)));
}
const nothing = {
	testbeds: [],
	leftOut: []
};
/** A job that nobody waits for need not be red because noise had its way: that is what it is there to learn. */
function exitCodeFor(purpose, upshots) {
	const upshot = worstUpshot(upshots);
	return exitCodes[purpose !== "patch" && upshot === "undecided" || purpose === "nightly" && upshot === "patchAtFault" ? "pass" : upshot];
}
/** What cannot be carried out as it is configured is told before anything is reserved, and not in the log alone. */
async function planned(request, written, { context, isAlone }) {
	const { inputs } = context;
	try {
		const configured = applyOverrides(written, inputs.ask, calledAs.input);
		const config = heldBy(request, applyOverrides(configured, request.ask, calledAs.comment));
		const wishes = wishesFor(config, request.ask, inputs);
		return {
			config,
			wishes,
			chosen: wishes.map((wish) => chosenFor(config, wish)),
			isMeasuredAnyway: isMeasuredAnyway(request, inputs.ask)
		};
	} catch (error) {
		if (isAlone) {
			const place = {
				name: "ppsgate",
				runId: inputs.job.runId
			};
			await (await answerFor(context, request, written, place)).ended(endingOfError(error));
		}
		throw error;
	}
}
async function openAnswer(request, config, name, { context, isAlone }) {
	if (!isAlone) return together([]);
	const answer = await answerFor(context, request, config, {
		name,
		runId: context.inputs.job.runId,
		keepComment: (url) => setOutput("comment-url", url)
	});
	return orElsewhere(answer, request);
}
async function judge(task, place, answer) {
	const { context, isAlone, wish, directory } = place;
	const { request, config } = task;
	const result = await measured(task, place, answer);
	log.info([wish, headline(result)].filter(Boolean).join(": "));
	const written = join(directory, "result.json");
	if (place.file("result") !== written) await copyFile(written, place.file("result"));
	const ending = endingOfResult(result, {});
	if (!isAlone) return summarized(ending);
	const make = async () => {
		const parts = await partsIn(directory, result, task);
		const shared = {
			isDefaultBranch: request.purpose !== "patch",
			isTrusted: true
		};
		const publications = parts.map((part) => ({
			...part,
			...shared
		}));
		return linksOfParts(publications, await publishData(context, config, publications));
	};
	return summarized(await linkedAfterwards(answer, ending, make, log.warn));
}
/** What is published of a gate, with its profiles: its result, or where its cells were split that of each part. */
async function partsIn(directory, whole, { config, testbeds }) {
	if (config.split !== true) return [await explained(whole, directory, log.warn)];
	const folders = testbeds.map((name) => join(directory, name));
	const parts = (await Promise.all(folders.map(async (folder) => ({
		folder,
		result: await readResult(folder).catch(() => void 0)
	})))).flatMap(({ folder, result }) => result ? [{
		folder,
		result
	}] : []);
	const own = parts.length === 0 ? [{
		folder: directory,
		result: whole
	}] : parts;
	return Promise.all(own.map(({ folder, result }) => explained(result, folder, log.warn)));
}
function measured({ request, config, testbeds, leftOut, isMeasuredAnyway }, place, answer) {
	const { context, wish, own, directory, within, signal } = place;
	const { inputs, octokit, repository } = context;
	const { job } = inputs;
	const { patch, extend, priority } = request;
	return within({
		config,
		repository,
		answer,
		signal,
		history: sharedHistory(config, context),
		output: labelled(jobLog, wish),
		requestFor: (patch) => ({
			priority,
			holder: {
				who: job.who,
				purpose: "gate",
				patch: patchName(patch),
				url: job.runUrl
			},
			subject: [
				job.repository + subjectOf(request),
				"by",
				job.workflow,
				wish
			].join(" ").trim()
		}),
		leaseFolder: directory
	}, async (world) => {
		if (extend === void 0) {
			const seed = randomSeed();
			const wanted = {
				patch,
				config,
				testbeds: [...testbeds],
				seed,
				isMeasuredAnyway
			};
			if (request.purpose === "nightly") return night(wanted, directory, nightWorld(world, {
				...place,
				config
			}));
			return config.split === true ? splitGate({
				...wanted,
				leftOut
			}, directory, world) : gate(wanted, directory, world);
		}
		await fetchExperiment(octokit, job.repository, {
			...extend,
			patch,
			folder: own
		}, directory);
		return resumeGate(directory, world, await runsToExtend(directory, extend.maxRuns));
	});
}
/**
* Keeps the failure for the job that publishes, which may follow also where this one answers: a fork's token may only
* read.
*/
async function keepFailure(error, { file }) {
	await writeFile(file("failure"), JSON.stringify(failureOf(error)));
}
function worstOf(done) {
	const upshots = done.map(({ ending }) => upshotOf(ending));
	return done[upshots.indexOf(worstUpshot(upshots))];
}
function tellOutputs(done) {
	if (done?.ending.kind !== "measured") return;
	setOutput("verdict", outcomeName(done.ending.result));
	setOutput("result-path", join(done.directory, "result.json"));
	setOutput("report-path", join(done.directory, "report.md"));
}

export { runGate };