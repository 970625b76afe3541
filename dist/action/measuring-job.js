import { isOnThisMachine } from "../config/first.js";
import { summary } from "../vendor/actions-core.js";
import { historyFile } from "../gate/experiment/first.js";
import { labelled } from "../gate/first.js";
import { readyMachine } from "../lab/netns/plain.js";
import { exitCodes, outcomeName, realPause, reasonOf, withoutPaths, worstConclusion } from "../model/first-plain.js";
import { patchName } from "../model/first.js";
import { combineReporters, conclusionOf, outcomeOfError, reportOutcome, reportThenLink } from "../publish/reporters/first.js";
import { outcomeMarkdown } from "../publish/reporters.js";
import { bisectHeadline, explained, headline } from "../report.js";
import { admitEvent, exitCodeOf } from "./admit-event.js";
import { failureOf, gateFolder, isBisection, outputFile, readRequest, requestText, subjectOf } from "./approved-request.js";
import { bisectName, readConfigFor, restoreCommits } from "./job.js";
import { log, saveState, setOutput } from "./log.js";
import { githubFailure, placeOf } from "../forge/github.js";
import { publishData, readSharedHistory } from "./shared-history.js";
import { openReporter, saveOpenReporters } from "./reporters.js";
const { join, resolve } = globalThis.process.getBuiltinModule("node:path");
const { copyFile, mkdir, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/action/merge-queue.ts
/** Also aborts when the queue has dropped the branch. Without a queue, aborts only with `signal`. */
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
/** Well below the thousand requests per hour of a job's token. */
const secondsBetween = 60;
var DroppedError = class extends Error {
	name = "DroppedError";
	conclusion = "cancelled";
	constructor(branch) {
		super(`The merge queue removed ${branch}: its measurement is no longer needed.`);
	}
};
/** Returns false only for GitHub's 404, as GitHub may be down. */
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

// src/action/measuring-job.ts
/** Returns the exit code of the worst verdict. Throws if there is none. */
async function runMeasuringJob(kind, context, { within, signal }) {
	const isAlone = context.inputs.request === "";
	const admission = isAlone ? await admitEvent(context, kind.onAdmission) : await handedOver(context);
	if (admission.kind === "refused") await keepRefusal(admission.why, context);
	if (!("request" in admission)) return exitCodeOf(admission);
	const { request, config } = admission;
	const work = (signal) => measureAll(request, config, {
		kind,
		context,
		isAlone,
		within,
		signal
	});
	const queue = isBisection(request) ? void 0 : request.queue;
	const place = {
		octokit: context.octokit,
		repository: context.inputs.job.repository
	};
	return whileQueued(queue, place, signal, work);
}
async function handedOver(context) {
	const request = readRequest(context.inputs.request);
	const config = await readConfigFor(request, context);
	await restoreCommits(request, config, context);
	return {
		kind: "handed-over",
		request,
		config
	};
}
async function measureAll(request, written, job) {
	const { context, isAlone } = job;
	const plan = await planned(request, written, job);
	const { config, targets } = plan;
	const exitCode = await readyLab(config, targets.flatMap(({ testbeds }) => testbeds));
	if (exitCode !== void 0) return exitCode;
	const artifact = await newFolder(context);
	const open = new Set(targets.map(({ name }) => name));
	const saveOpen = () => {
		if (isAlone) saveOpenReporters([...open].map((name) => ({
			name,
			request
		})));
	};
	saveOpen();
	const done = [];
	const [failure, ...more] = (await Promise.allSettled(targets.map(async (target, index) => {
		const folder = gateFolder(index, targets.length);
		const directory = resolve(artifact, folder);
		const file = (base) => join(artifact, outputFile(base, index, targets.length));
		try {
			const measurement = {
				...job,
				...target,
				request,
				plan,
				folder,
				directory,
				file
			};
			done.push({
				reportedOutcome: await concluded(measurement),
				directory
			});
			setOutputs(done);
		} finally {
			open.delete(target.name);
			saveOpen();
		}
	}))).filter((one) => one.status === "rejected");
	for (const { reason } of more) log.error(reasonOf(reason));
	if (failure !== void 0) throw failure.reason;
	return exitCodeFor(request, done);
}
/** Reports a request that cannot be carried out before anything is reserved, not only in the log. */
async function planned(request, written, { kind, context, isAlone }) {
	try {
		return kind.plan(request, written, context);
	} catch (error) {
		if (isAlone) await (await reporterOf(isBisection(request) ? bisectName : "ppsgate", request, written, context)).conclude(outcomeOfError(error));
		throw error;
	}
}
/** Sets the output `request` for another job if the conclusion was not delivered. */
async function reporterOf(name, request, config, context) {
	const reporter = await openReporter(context, request, config, {
		name,
		runId: context.inputs.job.runId,
		keepComment: (url) => setOutput("comment-url", url)
	});
	return {
		...reporter,
		async conclude(reportedOutcome) {
			const delivery = await reporter.conclude(reportedOutcome);
			if (delivery === "undelivered") setOutput("request", requestText(request));
			return delivery;
		}
	};
}
/** Prepares this machine if it is the lab. Returns an exit code if another process has done so. */
async function readyLab(config, testbeds) {
	const kinds = testbeds.flatMap((name) => {
		const testbed = config.testbeds[name];
		return isOnThisMachine(testbed) ? testbed.kind : [];
	});
	if (kinds.length === 0) return void 0;
	const exitCode = await readyMachine(log.info, kinds);
	if (exitCode === void 0) saveState("embedded-lab", "up");
	return exitCode;
}
/** Creates the folder that workflows upload. The end of the job releases the leases in it. */
async function newFolder({ inputs: { job } }) {
	const folder = await makeFirst(join(job.temporary, "ppsgate"));
	setOutput("directory", folder);
	saveState("lease", folder);
	return folder;
}
/** Creates the path or, if an earlier step has created it, `path-2`, `path-3` and so on. */
async function makeFirst(path, number = 1) {
	const folder = number === 1 ? path : `${path}-${number}`;
	try {
		await mkdir(folder);
		return folder;
	} catch (error) {
		if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
		return makeFirst(path, number + 1);
	}
}
async function concluded(measurement) {
	const { context, request, plan, name, isAlone, within, signal } = measurement;
	const reporter = isAlone ? await reporterOf(name, request, plan.config, context) : combineReporters([]);
	const work = async () => {
		const session = sessionOf(measurement, reporter);
		const reportedOutcome = await within(session, (deps) => plan.measure(measurement, deps));
		log.info([measurement.selector, headlineOf(reportedOutcome)].filter(Boolean).join(": "));
		await keepResult(measurement);
		if (!isAlone) return summarized(reportedOutcome);
		const publish = () => published(reportedOutcome, measurement);
		return summarized(await reportThenLink(reporter, reportedOutcome, publish, log.warn));
	};
	return reportOutcome(reporter, signal, work).catch(async (error) => {
		if (!signal.aborted) await writeFailure(measurement.file("failure"), failureOf(error));
		throw error;
	});
}
function sessionOf({ kind, context, request, plan, selector, directory, signal }, observer) {
	const { repository, inputs } = context;
	const { job } = inputs;
	const { priority } = request;
	const purpose = kind.command;
	const by = purpose === "bisect" ? "bisected by" : "by";
	const subject = [
		job.repository + subjectOf(request),
		by,
		job.workflow,
		selector
	].join(" ");
	return {
		config: plan.config,
		repository,
		observer,
		signal,
		history: sharedHistory(plan.config, context),
		output: labelled(jobLog, selector),
		requestFor: (patch) => ({
			priority,
			holder: {
				who: job.who,
				purpose,
				patch: patchName(patch),
				url: job.runUrl
			},
			subject: subject.trim()
		}),
		leaseFolder: directory
	};
}
/** Writes only to the log: a runner like act may offer a terminal, but workflow commands must begin a line. */
const jobLog = { write: (text) => process.stdout.write(text) };
/** Joins this machine's history with that of the data branch, as a fresh runner has none. */
function sharedHistory(config, context) {
	const file = historyFile(config.history);
	return {
		async read() {
			return [...await readSharedHistory(config, context), ...await file.read()];
		},
		append: file.append
	};
}
const headlineOf = (reportedOutcome) => reportedOutcome.kind === "measured" ? headline(reportedOutcome.result) : bisectHeadline(reportedOutcome.result);
async function keepResult({ directory, file }) {
	const written = join(directory, "result.json");
	if (file("result") !== written) await copyFile(written, file("result"));
}
async function published({ result }, { context, request, plan, directory }) {
	const publication = {
		...await explained(result, directory, log.warn),
		isDefaultBranch: !isBisection(request) && request.purpose !== "patch",
		isTrusted: true
	};
	const [links = {}] = await publishData(context, plan.config, [publication]);
	return links;
}
/** The job's summary is the only place that every job can write to. */
async function summarized(reportedOutcome) {
	const write = async () => void await summary.addRaw(outcomeMarkdown(reportedOutcome)).write();
	summaries = summaries.then(write, write);
	await summaries;
	return reportedOutcome;
}
/** Concurrent gates alternate, as the runner's toolkit has one buffer. */
let summaries = Promise.resolve();
async function keepRefusal(why, context) {
	const path = join(await newFolder(context), outputFile("failure", 0, 1));
	const publicReason = withoutPaths(why);
	await writeFailure(path, {
		exitCode: exitCodes.usage,
		said: publicReason,
		isRefused: true
	});
}
const writeFailure = (path, failure) => writeFile(path, JSON.stringify(failure));
function setOutputs(done) {
	const conclusions = done.map(({ reportedOutcome }) => conclusionOf(reportedOutcome));
	const worst = done[conclusions.indexOf(worstConclusion(conclusions))];
	if (worst === void 0) return;
	const { reportedOutcome, directory } = worst;
	const isGate = reportedOutcome.kind === "measured";
	setOutput("verdict", isGate ? outcomeName(reportedOutcome.result) : reportedOutcome.result.answer.kind);
	setOutput("result-path", join(directory, "result.json"));
	setOutput("report-path", join(directory, "report.md"));
}
/** Passes a push or a nightly run despite noise, and a nightly run despite a regression, which its issue reports. */
function exitCodeFor(request, done) {
	const conclusion = worstConclusion(done.map(({ reportedOutcome }) => conclusionOf(reportedOutcome)));
	const purpose = isBisection(request) ? "patch" : request.purpose;
	return exitCodes[purpose !== "patch" && conclusion === "undecided" || purpose === "nightly" && conclusion === "patchAtFault" ? "pass" : conclusion];
}

export { runMeasuringJob };