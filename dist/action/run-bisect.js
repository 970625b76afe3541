import { answering, endingOfError, linkedNow, together, upshotOf } from "../answer.js";
import { bisect } from "../bisect.js";
import { randomSeed } from "../experiment.js";
import { bisectHeadline, explained } from "../report.js";
import { inSession } from "../session.js";
import { UsageError, exitCodes, patchName } from "../words.js";
import { askedOf, heldTo, readBisectConfig, restoreCommits } from "./bisection.js";
import { bisectAnswerFor, failureOf, fileOf, isBisection, readRequest, subjectOf } from "./request.js";
import { answerState, openAnswersText } from "./left.js";
import { log, saveState, setOutput } from "./log.js";
import { jobLog, keepRefusal, newFolder, orElsewhere, readyLab, sharedHistory, summarized } from "./measuring.js";
import { publishData } from "./publish-data.js";
import { admitEvent, exitCodeOf } from "./run-admit.js";
import { join } from "node:path";
import { writeFile } from "node:fs/promises";

// src/action/run-bisect.ts
/**
* Answers the exit code of what was found; throws for what kept it from an answer.
*
* @param within has the testbeds.
*/
async function runBisect(context, signal, within = inSession) {
	const { request: handed } = context.inputs;
	if (handed !== "") {
		const request = readRequest(handed);
		if (!isBisection(request)) throw new UsageError(noGate);
		const config = await readBisectConfig(request, context);
		await restoreCommits(request, config, context);
		return search(request, config, {
			context,
			isAlone: false,
			within,
			signal
		});
	}
	const admission = await admitEvent(context, bisectionsAlone);
	if (admission.kind === "refused") await keepRefusal(admission.why, context);
	if (admission.kind !== "bisect") return exitCodeOf(admission);
	return search(admission.request, admission.config, {
		context,
		isAlone: true,
		within,
		signal
	});
}
const noGate = "A job with `command: bisect` judges no patch: that is for one with `command: gate`.";
/** Another job judges patches, and carries out all other commands. */
const bisectionsAlone = (admission) => admission.kind === "go" || admission.kind === "cancel" ? {
	kind: "nothing",
	why: noGate
} : admission;
async function search(request, written, job) {
	const { context, isAlone, signal } = job;
	const { runId } = context.inputs.job;
	const answer = isAlone ? orElsewhere(bisectAnswerFor(context, request, written, {
		runId,
		keepComment: (url) => setOutput("comment-url", url)
	}), request) : together([]);
	const held = await answeredIfWrong(answer, () => heldTo(request, written, context));
	const exitCode = await readyLab(held.config, held.testbeds);
	if (exitCode !== void 0) return exitCode;
	const folder = await newFolder(context);
	if (isAlone) saveState(answerState, openAnswersText([{
		name: "",
		request
	}]));
	const work = async () => {
		const result = await found(request, held, folder, answer, job);
		const links = { rawData: `the [job](${context.inputs.job.runUrl})` };
		return {
			kind: "bisected",
			result,
			asked: askedOf(request),
			links
		};
	};
	const ending = await answering(answer, signal, work).catch(async (error) => {
		await writeFile(join(folder, fileOf("failure", 0, 1)), JSON.stringify(failureOf(error)));
		throw error;
	}).finally(() => saveState(answerState, ""));
	log.info(bisectHeadline(ending.result));
	const told = isAlone ? await keptAndLinked(answer, ending, folder, held.config, context) : ending;
	setOutput("verdict", ending.result.answer.kind);
	setOutput("result-path", join(folder, "result.json"));
	setOutput("report-path", join(folder, "report.md"));
	await summarized(told);
	return exitCodes[upshotOf(ending)];
}
/** Keeps it on the data branch where no other job does. */
function keptAndLinked(answer, ending, folder, config, context) {
	const make = async () => {
		const { result, profiles } = await explained(ending.result, folder, log.warn);
		const [links = {}] = await publishData(context, config, [{
			result,
			profiles,
			isDefaultBranch: false,
			isTrusted: true
		}]);
		return links;
	};
	return linkedNow(answer, ending, make, log.warn);
}
/** What cannot be carried out as it is configured is told before anything is reserved, and not in the log alone. */
async function answeredIfWrong(answer, read) {
	try {
		return read();
	} catch (error) {
		await answer.ended(endingOfError(error));
		throw error;
	}
}
function found(request, { config, testbeds, mostBoots, isVerified }, folder, answer, { context, within, signal }) {
	const { repository, inputs } = context;
	const { job } = inputs;
	const { good, bad, ask, patch, priority } = request;
	const session = {
		config,
		repository,
		answer,
		signal,
		history: sharedHistory(config, context),
		output: jobLog,
		requestFor: () => ({
			priority,
			holder: {
				who: job.who,
				purpose: "bisect",
				patch: patchName(patch),
				url: job.runUrl
			},
			subject: `${job.repository}${subjectOf(request)} bisected by ${job.workflow}`
		}),
		leaseFolder: folder
	};
	const listed = (text = "") => text.split(",").filter(Boolean);
	const wanted = {
		good,
		bad,
		fixUps: listed(ask.fixUp),
		skips: listed(ask.skip),
		config,
		testbeds,
		mostBoots,
		isVerified,
		seed: randomSeed()
	};
	return within(session, (world) => bisect(wanted, folder, {
		...world,
		repository
	}));
}

export { runBisect };