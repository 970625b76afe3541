import { composeComment, endingOfError, endingOfFailure, hasCheckRun, markerOf, readMemory, standsForAnother } from "../answer.js";
import { applyOverrides, calledAs, parsePriority } from "../config.js";
import { placeOf, publishComment } from "../github.js";
import { chosenFor, testbedsFor } from "../inventory.js";
import { callOnGithub, commandsFor, parseEarlier, patchOfRevision } from "../patch.js";
import { findRevision, parseRevisionName } from "../phabricator.js";
import { UsageError, codeSpan, exitCodes, withoutPaths } from "../words.js";
import { admit, noticeName, triggerOf } from "./trigger.js";
import { readEvent } from "./inputs.js";
import { answerFor, answerOnPhabricator, bisectAnswerFor, bisectWish, gateNames, marksFor, requestText, revisionWorldOf, subjectOf, wishesFor } from "./request.js";
import { log, setOutput } from "./log.js";

// src/action/run-admit.ts
/** Hands what may be measured to the next job, by outputs; the exit code is that of a refusal where there is one. */
async function runAdmit(context) {
	const admission = await admitEvent(context);
	setOutput("go", admission.kind === "go");
	setOutput("bisect", admission.kind === "bisect");
	setOutput("cancel", admission.kind === "cancel");
	if (admission.kind === "cancel") setOutput("subject", `#${admission.pullRequest.number}`);
	if (admission.kind === "bisect") {
		const { request, config } = admission;
		setOutput("request", requestText(request));
		setOutput("subject", subjectOf(request));
		await begin(bisectAnswerFor(context, request, config, { runId: context.inputs.job.runId }));
	}
	if (admission.kind !== "go") return exitCodeOf(admission);
	const { request, config } = admission;
	const { runId } = context.inputs.job;
	setOutput("request", requestText(request));
	setOutput("subject", subjectOf(request));
	for (const name of gateNames(wishesFor(config, request.ask, context.inputs))) await begin(await answerFor(context, request, config, {
		name,
		runId
	}));
	return exitCodes.pass;
}
async function begin(answer) {
	answer.queued("waits for a runner of the lab");
	await answer.left();
}
/**
* What the event asks for; people are answered where that is nothing to measure. `here` makes something else of what is
* not for this job.
*/
async function admitEvent(context, here = (admission) => admission) {
	const { inputs, octokit, repository, readConfig } = context;
	const { job, patch, priority } = inputs;
	const { testbed: _, ...ask } = inputs.ask;
	const { testbed: __, ...bisectAsk } = inputs.bisectAsk;
	const event = {
		name: job.eventName,
		payload: await readEvent(job),
		commit: job.commit
	};
	const trigger = triggerOf(event, {
		patch,
		ask,
		bisectAsk
	});
	await acknowledge(trigger, context);
	const calledByAsker = trigger.kind === "dispatched" ? calledAs.input : calledAs.comment;
	const asked = priority || (job.isRerun ? "rerun" : "");
	const admission = here(await admit(trigger, {
		octokit,
		repositoryName: job.repository,
		repository,
		readConfig,
		commit: job.commit,
		readRevision: (asked) => readRevision(asked, context),
		nameOf(config, ask) {
			const wishes = wishesFor(config, ask, inputs);
			const asked = applyOverrides(config, ask, calledByAsker);
			for (const wish of wishes) chosenFor(asked, wish);
			return gateNames(wishes)[0] ?? "ppsgate";
		},
		checkBisection(config, ask) {
			testbedsFor(applyOverrides(config, ask, calledByAsker), bisectWish(config, ask, inputs));
		},
		calledAs: calledByAsker,
		priority: asked === "" ? void 0 : parsePriority(asked, calledAs.input("priority"))
	}));
	if (admission.kind !== "refused") log.info(admission.why);
	else log.error(admission.why);
	await tell(admission, context);
	return admission;
}
/** What keeps it from being a patch is for its author, too. */
async function readRevision({ patch: text, ask, key, build }, context) {
	const config = await context.readConfig(context.inputs.job.commit);
	const world = revisionWorldOf(context, config);
	const name = parseRevisionName(text, world.conduit.url);
	if (name === void 0) throw new UsageError(`patch: expected a revision like D27401 or D27401:80677, found "${text}".`);
	const { number, diff } = await findRevision(world.conduit, name);
	try {
		const which = parseEarlier(ask.earlier || "none", calledAs.input("earlier"));
		return {
			patch: await patchOfRevision({
				revision: number,
				diff: diff.id
			}, which, world),
			config
		};
	} catch (error) {
		const place = {
			name: "ppsgate",
			runId: context.inputs.job.runId,
			...key && { key },
			...build && { build }
		};
		await answerOnPhabricator(context, config, {
			number,
			diff: diff.id
		}, place).ended(endingOfError(error));
		throw error;
	}
}
const exitCodeOf = ({ kind }) => kind === "refused" ? exitCodes.usage : exitCodes.pass;
/** Reacts to the comment of a command at once, and whatever comes of it. */
async function acknowledge(trigger, { octokit, inputs }) {
	if (trigger.kind !== "comment") return;
	const { owner, repo } = placeOf(inputs.job.repository);
	const { id: comment_id } = trigger;
	await octokit.request("POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions", {
		owner,
		repo,
		comment_id,
		content: "eyes"
	}).catch((error) => log.info(`The command got no reaction (${error.message}).`));
}
/** A refusal takes the place of what the comment told of an earlier push; the answer to a command has one of its own. */
async function tell(admission, context) {
	if (admission.kind === "go" || admission.kind === "bisect" || admission.kind === "nothing") return;
	const { octokit, inputs } = context;
	if (admission.kind === "refused") {
		await tellRefusal(context, {
			...admission,
			runId: inputs.job.runId
		});
		return;
	}
	const compose = () => answerTo(admission);
	const { pullRequest } = admission;
	const published = await publishComment(octokit, pullRequest, compose, { marker: notice });
	if (published.kind === "not-published") log.warn(published.why);
}
/**
* Also in the name of a job whose token may only read. A check on the head that was passed for another base, or another
* pull request, fails from now on; where a merge queue measures what nobody has asked for, a head has a neutral one.
*/
async function tellRefusal(context, refusal) {
	const { pullRequest, config, name, why, what, runId: run } = refusal;
	const { octokit, inputs } = context;
	const { number, headCommit } = pullRequest;
	const body = `### ⏸️ ppsgate: ${what ?? `#${number} waits for a maintainer`}\n\n${codeSpan(withoutPaths(why), 1e3)}`;
	const writing = {
		name,
		run,
		headCommit,
		at: /* @__PURE__ */ new Date()
	};
	const compose = (before) => name !== "ppsgate notice" && isTold(before, headCommit) ? void 0 : composeComment(before, body, writing);
	const published = await publishComment(octokit, pullRequest, compose, { marker: markerOf(name) });
	if (published.kind === "not-published") log.warn(published.why);
	if (name === "ppsgate notice") return;
	const subject = {
		repository: pullRequest.repository,
		patch: pullRequest
	};
	const failureFor = async (gate) => {
		if (await standsForAnother(octokit, subject, gate)) return "waits-for-leave";
		return config.github.unasked === "neutral" && !await hasCheckRun(octokit, subject, gate) ? "left-to-queue" : void 0;
	};
	for (const gate of gateNames(wishesFor(config, {}, inputs))) {
		const failure = await failureFor(gate);
		if (failure === void 0) continue;
		await (await marksFor(context, pullRequest, config.github, {
			name: gate,
			runId: run
		})).ended(endingOfFailure(failure, why));
	}
}
/** Or whoever opens it again would wipe out what was measured of the same head. */
const isTold = (comment, headCommit) => comment !== void 0 && readMemory(comment)?.headCommit === headCommit;
const notice = markerOf(noticeName);
function answerTo({ kind, why }) {
	const said = codeSpan(withoutPaths(why), 1e3);
	return [notice, ...{
		cancel: ["### ⏹️ ppsgate: cancelled", said],
		mistaken: [
			"### 🤔 ppsgate did not understand",
			said,
			help
		],
		help: ["### ppsgate", help]
	}[kind]].join("\n\n");
}
const help = [
	"| write | to |",
	"|---|---|",
	...commandsFor(callOnGithub).map(({ write, to }) => `| \`${write}\` | ${to} |`)
].join("\n");

export { admitEvent, exitCodeOf, runAdmit, tellRefusal };