import { publishComment } from "../forge/github.js";
import { commandsFor } from "../forge/patch.js";
import { codeSpan, pageUrl, withoutPaths } from "../model/first-plain.js";
import { callOnGithub } from "../model/first.js";
import { checkIsForAnother, composeComment, hasCheckRun, markerOf, readMemory } from "../publish/reporters.js";
import { outcomeOfFailure } from "../publish/reporters/first.js";
import { noticeName } from "./admission.js";
import { gateNames, selectorsFor } from "./job.js";
import { log } from "./log.js";
import { openMarks } from "./reporters.js";

// src/action/admission-replies.ts
const reply = (context, admission) => admission.kind === "refused" ? reportRefusal(context, {
	...admission,
	runId: context.inputs.job.runId
}) : replyToCommand(context, admission);
/**
* Comments on the refusal, even for a job whose token can only read. A check that passed the head for another base or
* pull request fails from now on; a head that waits for the merge queue has a neutral check.
*/
async function reportRefusal(context, refusal) {
	const { pullRequest, config, name, why, what, commits = [], runId } = refusal;
	const { octokit, inputs } = context;
	const { number, headCommit } = pullRequest;
	const heading = what ?? `#${number} waits for a maintainer`;
	for (const id of commits) log.info(id);
	const list = commits.map((id) => commitLine(pullRequest, id)).join("\n");
	const body = `### ⏸️ ppsgate: ${heading}\n\n${quoted(why)}\n\n${list}`;
	const writing = {
		name,
		run: runId,
		headCommit,
		at: /* @__PURE__ */ new Date()
	};
	await comment(context, pullRequest, name, (before) => name !== "ppsgate notice" && isReported(before, headCommit) ? void 0 : composeComment(before, body, writing));
	if (name === "ppsgate notice") return;
	const subject = {
		repository: pullRequest.repository,
		patch: pullRequest
	};
	for (const gate of gateNames(selectorsFor(config, {}, inputs))) {
		const isForAnother = await checkIsForAnother(octokit, subject, gate);
		const isQueued = config.github.unasked === "neutral";
		if (!isForAnother && (!isQueued || await hasCheckRun(octokit, subject, gate))) continue;
		await (await openMarks(context, pullRequest, config.github, {
			name: gate,
			runId
		})).conclude(outcomeOfFailure(isForAnother ? "waits-for-approval" : "left-to-merge-queue", why));
	}
}
/** A pull request reopened at the same head keeps the comment with its measurements. */
const isReported = (comment, headCommit) => comment !== void 0 && readMemory(comment)?.headCommit === headCommit;
function replyToCommand(context, { kind, pullRequest, why }) {
	const parts = {
		cancel: ["### ⏹️ ppsgate: cancelled", quoted(why)],
		mistaken: [
			"### 🤔 ppsgate did not understand",
			quoted(why),
			help
		],
		help: ["### ppsgate", help]
	};
	const text = [markerOf(noticeName), ...parts[kind]].join("\n\n");
	return comment(context, pullRequest, noticeName, () => text);
}
async function comment({ octokit }, pullRequest, name, compose) {
	const marker = markerOf(name);
	const published = await publishComment(octokit, pullRequest, compose, { marker });
	if (published.kind === "not-published") log.warn(published.why);
}
function commitLine({ url }, id) {
	const page = pageUrl(`${url}/commits/${id}`);
	return page === void 0 ? `- ${codeSpan(id)}` : `- [${codeSpan(id)}](${page})`;
}
const quoted = (why) => codeSpan(withoutPaths(why), 1e3);
const help = [
	"| write | to |",
	"|---|---|",
	...commandsFor(callOnGithub).map(({ write, to }) => `| \`${write}\` | ${to} |`)
].join("\n");

export { reply, reportRefusal };