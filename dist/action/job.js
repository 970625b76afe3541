import { namingStyles } from "../config/parameters.js";
import { selectorsOf } from "../config/first.js";
import { PatchError } from "../forge/patch/first-plain.js";
import { lineOfDiffs, restoreRevision } from "../forge/patch.js";
import { openConduit, phabricatorOf, withPatience } from "../forge/phabricator.js";
import { patchName } from "../model/first.js";
import { UsageError } from "../model/first-plain.js";
import { isBisection } from "./approved-request.js";
import { log } from "./log.js";

// src/action/job.ts
/** Reads it at the base for commits to judge, and at the job's own commit for a revision or a bisection of commits. */
function readConfigFor(request, { inputs, readConfig }) {
	const { patch } = request;
	return readConfig((isBisection(request) ? patch.kind === "pull-request" : patch.kind !== "revision") ? patch.baseCommit : inputs.job.commit);
}
/** Recreates another machine's commits. Throws a `PatchError` if they differ from the approved ones. */
async function restoreCommits(request, config, context) {
	const { patch } = request;
	if (patch.kind !== "revision" || isBisection(request) && !request.isOwn) return;
	await restoreRevision(patch, revisionDepsOf(context, config));
	if (!isBisection(request)) return;
	if ((await lineOfDiffs(patch, context.repository)).bad === request.bad) return;
	throw new PatchError(`The diffs of ${patchName(patch)} have changed: request it again.`);
}
/** Connects to Phabricator as the bot of the job's token. Throws a `UsageError` without a token. */
function revisionDepsOf({ inputs: { conduitToken: token }, repository }, configuration) {
	const config = phabricatorOf(configuration);
	if (token === "") throw new UsageError("conduit-token: a revision needs the token of a bot on Phabricator: pass it from a secret.");
	const conduit = openConduit({
		url: config.url,
		token,
		log
	});
	const patience = {
		log,
		signal: new AbortController().signal,
		maxSeconds: secondsOfRead
	};
	return {
		conduit: withPatience(conduit, patience),
		repository,
		config
	};
}
/** The shortest job, which admits a patch, lasts at most ten minutes. */
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

export { bisectName, bisectSelector, gateNames, readConfigFor, reporterNames, restoreCommits, revisionDepsOf, selectorsFor };