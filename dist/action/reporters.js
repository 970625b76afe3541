import { ownLogin } from "../forge/github.js";
import { object } from "../vendor/zod.js";
import { list, patchName, shortId, word } from "../model/first.js";
import { failingOnSharedHead, openCheckRun, openComment, openRevisionComment, openRevisionReporter, openStatus } from "../publish/reporters.js";
import { combineReporters } from "../publish/reporters/first.js";
import { approvedRequestSchema, isBisection } from "./approved-request.js";
import { bisectName, revisionDepsOf } from "./job.js";
import { log, saveState } from "./log.js";

// src/action/reporters.ts
/** Opens the reporters of a gate or a bisection; a nightly run has none. */
async function openReporter(context, request, config, options) {
	const { patch } = request;
	if (isBisection(request)) return bisectReporter(context, request, config, options);
	if (request.purpose === "nightly") return combineReporters([]);
	return patch.kind === "revision" ? revisionReporter(context, config, patch, {
		...options,
		...request.relay
	}) : githubReporter(context, {
		...request,
		patch
	}, config, options);
}
async function githubReporter(context, { patch, overrides, purpose }, { github }, options) {
	const undecided = purpose === "history" ? "neutral" : github.undecided;
	const marks = await openMarks(context, patch, {
		...github,
		undecided
	}, options);
	if (patch.kind !== "pull-request") return marks;
	const shared = commentOptions(context, options);
	return combineReporters([marks, openComment(context.octokit, patch, {
		...shared,
		name: options.name,
		overrides
	})]);
}
const commentOptions = ({ inputs }, { runId, keepComment, retry }) => ({
	run: runId,
	detailsUrl: runUrl(inputs.job, runId),
	log,
	now: () => /* @__PURE__ */ new Date(),
	...keepComment && { keep: keepComment },
	...retry
});
async function openMarks({ octokit, inputs: { job } }, patch, { undecided, status }, { name, runId, isOpen = false, retry }) {
	const subject = {
		repository: patch.kind === "pull-request" ? patch.repository : job.repository,
		patch
	};
	const shared = {
		name,
		detailsUrl: runUrl(job, runId),
		log,
		now: () => /* @__PURE__ */ new Date(),
		...retry
	};
	const isOwnApp = await ownLogin(octokit).catch(() => workflowLogin) !== workflowLogin;
	const check = openCheckRun(octokit, subject, {
		...shared,
		undecided,
		isOpen,
		isOwnApp
	});
	if (patch.kind !== "pull-request") return combineReporters([check]);
	const marks = [check, ...status ? [openStatus(octokit, subject, shared)] : []];
	return failingOnSharedHead(octokit, patch, combineReporters(marks), retry);
}
const workflowLogin = "github-actions[bot]";
function revisionReporter(context, config, revision, { name, runId, key, build, retry }) {
	const { conduit, config: phabricator } = revisionDepsOf(context, config);
	const run = key ?? `${runId}`;
	return openRevisionReporter(conduit, revision, {
		run: name === "ppsgate" ? run : `${run} ${name.replace(/^ppsgate: /, "")}`,
		takesCommands: key !== void 0,
		details: runUrl(context.inputs.job, runId),
		undecided: phabricator.undecided,
		log,
		...retry,
		...build !== void 0 && { build }
	});
}
/** Opens a separate comment. A bisection does not judge the head, so there is no check. */
function bisectReporter(context, request, config, options) {
	const { patch, relay } = request;
	if (patch.kind !== "revision") {
		const shared = commentOptions(context, options);
		return openBisectComment(context.octokit, request, shared) ?? combineReporters([]);
	}
	const { runId, retry } = options;
	return openRevisionComment(revisionDepsOf(context, config).conduit, patch, {
		run: relay?.key ?? `${runId}`,
		details: runUrl(context.inputs.job, runId),
		takesCommands: relay?.key !== void 0,
		log,
		...retry
	});
}
function openBisectComment(octokit, { patch, isOwn, good, bad }, options) {
	if (patch.kind !== "pull-request") return void 0;
	const subject = `the bisection of ${isOwn ? patchName(patch) : `${shortId(good)}..${shortId(bad)}`}`;
	return combineReporters([openComment(octokit, patch, {
		...options,
		name: bisectName,
		subject,
		overrides: {}
	})]);
}
const runUrl = ({ serverUrl, repository }, runId) => `${serverUrl}/${repository}/actions/runs/${runId}`;
const openReporterSchema = object({
	name: word,
	request: approvedRequestSchema
});
const saveOpenReporters = (reporters) => saveState("open-reporters", JSON.stringify(reporters));
const readOpenReporters = (text) => text === "" ? [] : list(openReporterSchema).parse(JSON.parse(text));

export { openBisectComment, openMarks, openReporter, readOpenReporters, revisionReporter, saveOpenReporters };