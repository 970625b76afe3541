import { ownLogin } from "../forge/github.js";
import { UsageError, list, patchName, shortId, word } from "../model.js";
import { object } from "../vendor/zod.js";
import { combineReporters, failingOnSharedHead, openCheckRun, openComment, openRevisionComment, openRevisionReporter, openStatus } from "../publish/reporters.js";
import { approvedRequestSchema, isBisection } from "./approved-request.js";
import { namingStyles, selectorsOf } from "../config.js";
import { PatchError, lineOfDiffs, restoreRevision } from "../forge/patch.js";
import { openConduit, phabricatorOf, withPatience } from "../forge/phabricator.js";
import { log, saveState } from "./log.js";

// src/action/job.ts
/** Reads it at the base for commits to judge, at the job's own commit for a revision or a bisection of commits. */
function readConfigFor(request, { inputs, readConfig }) {
	const { patch } = request;
	return readConfig((isBisection(request) ? patch.kind === "pull-request" : patch.kind !== "revision") ? patch.baseCommit : inputs.job.commit);
}
/** Repeats another machine's commits; throws a `PatchError` where they differ from the approved ones. */
async function restoreCommits(request, config, context) {
	const { patch } = request;
	if (patch.kind !== "revision" || isBisection(request) && !request.isOwn) return;
	await restoreRevision(patch, revisionDepsOf(context, config));
	if (!isBisection(request)) return;
	if ((await lineOfDiffs(patch, context.repository)).bad === request.bad) return;
	throw new PatchError(`The diffs of ${patchName(patch)} are not what they were: ask once more.`);
}
/** Connects to Phabricator as the bot of the job's token; throws a `UsageError` without one. */
function revisionDepsOf({ inputs: { conduitToken: token }, repository }, configuration) {
	const config = phabricatorOf(configuration);
	if (token === "") throw new UsageError("conduit-token: a revision needs the token of a bot on Phabricator: give it as a secret.");
	const conduit = openConduit({
		url: config.url,
		token,
		log
	});
	const patience = {
		log,
		signal: new AbortController().signal,
		mostSeconds: secondsOfRead
	};
	return {
		conduit: withPatience(conduit, patience),
		repository,
		config
	};
}
/** The shortest job, which admits a patch, has ten minutes. */
const secondsOfRead = 240;
/** Precedence: the comment, the inputs, the configuration. */
const selectorsFor = (config, overrides, inputs) => selectorsOf(config, overrides.testbed ? { testbed: overrides.testbed } : {
	testbed: inputs.overrides.testbed,
	each: inputs.each
}, namingStyles.input);
const bisectSelector = (config, { testbed }, inputs) => selectorsFor(config, testbed ? { testbed } : {}, inputs)[0];
const gateNames = (selectors) => selectors.length === 1 ? ["ppsgate"] : selectors.map((selector) => `ppsgate: ${selector}`);
const reporterNames = (request, config, inputs) => isBisection(request) ? [bisectName] : gateNames(selectorsFor(config, request.overrides, inputs));
const bisectName = "ppsgate bisect";

// src/action/reporters.ts
/** Opens what people see of a gate or of a bisection; nothing for a nightly run. */
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
/** Opens a separate comment. A bisection passes no judgement on the head, so there is no check. */
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

export { bisectName, bisectSelector, gateNames, openBisectComment, openMarks, openReporter, readConfigFor, readOpenReporters, reporterNames, restoreCommits, revisionDepsOf, revisionReporter, saveOpenReporters, selectorsFor };