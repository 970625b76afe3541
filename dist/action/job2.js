import { namingStyles, parseConfig, selectorsOf } from "../config.js";
import { createOctokit } from "../forge/github.js";
import { PatchError, lineOfDiffs, openRepository, restoreRevision } from "../forge/patch.js";
import { openConduit, phabricatorOf } from "../forge/phabricator.js";
import { UsageError, patchName } from "../model.js";
import { isBisection } from "./approved-request.js";
import { log, mask } from "./log.js";

// src/action/job.ts
async function openJob(inputs) {
	const { job, token, config: path } = inputs;
	const octokit = await createOctokit({
		token,
		apiUrl: job.apiUrl,
		log
	});
	const repository = openRepository(job.workspace, withToken(token, job.serverUrl));
	return {
		inputs,
		octokit,
		repository,
		async readConfig(base) {
			const commit = await repository.resolve(base);
			const text = await repository.read(`${commit}:${path}`).catch(() => {
				throw new UsageError(`The base ${base} has no ${path}: add one to the base branch first.`);
			});
			return parseConfig(text, {
				path,
				home: process.env.HOME ?? "/"
			});
		}
	};
}
/**
* Passes the token to git in the environment, which other users cannot read (`GIT_CONFIG_COUNT` in git-config(1)): the
* checkout of a private repository leaves no credentials behind. GitHub takes a token as the password of any user.
*/
function withToken(token, serverUrl) {
	const credentials = Buffer.from(`x-access-token:${token}`).toString("base64");
	mask(credentials);
	return {
		GIT_CONFIG_COUNT: "1",
		GIT_CONFIG_KEY_0: `http.${serverUrl}/.extraheader`,
		GIT_CONFIG_VALUE_0: `AUTHORIZATION: basic ${credentials}`
	};
}
/**
* Reads the configuration for a request: of the base for a pull request and for commits to judge; of the job's own commit
* for a revision, which may be based on any commit, and for a bisection of commits alone.
*/
function readConfigFor(request, { inputs, readConfig }) {
	const { patch } = request;
	return readConfig((isBisection(request) ? patch.kind === "pull-request" : patch.kind !== "revision") ? patch.baseCommit : inputs.job.commit);
}
/**
* Makes again the commits that another machine made of a revision's diffs; throws a `PatchError` where they differ from
* the approved ones.
*/
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
	return {
		conduit: openConduit({
			url: config.url,
			token,
			log
		}),
		repository,
		config
	};
}
/** Returns testbed selectors: of a comment before those of the inputs, and those before the configuration. */
const selectorsFor = (config, ask, inputs) => selectorsOf(config, ask.testbed ? { testbed: ask.testbed } : {
	testbed: inputs.ask.testbed,
	each: inputs.each
}, namingStyles.input);
/** Returns the one selector of a bisection. */
const bisectSelector = (config, { testbed }, inputs) => selectorsFor(config, testbed ? { testbed } : {}, inputs)[0];
/** Names of the comment and check of each gate. */
const gateNames = (selectors) => selectors.length === 1 ? ["ppsgate"] : selectors.map((selector) => `ppsgate: ${selector}`);
/** Names of what people see of a request: one for each gate, or that of the bisection. */
const reporterNames = (request, config, inputs) => isBisection(request) ? [bisectName] : gateNames(selectorsFor(config, request.ask, inputs));
const bisectName = "ppsgate bisect";

export { bisectName, bisectSelector, gateNames, openJob, readConfigFor, reporterNames, restoreCommits, revisionDepsOf, selectorsFor };