import { admit, readerOn } from "../../action/pull-request-reader.js";
import { gateNames, selectorsFor } from "../../action/job.js";
import { applyOverrides, selectorCalled, testbedsFor } from "../../config/first.js";
import { namingStyles } from "../../config/parameters.js";
import { createOctokit } from "../../forge/github.js";
import { RepositoryError } from "../../forge/patch/first-plain.js";
import { parseCommand } from "../../forge/patch.js";
import { openRepository } from "../../forge/patch/first.js";
import { cellsOf } from "../../gate/experiment/first.js";
import { UsageError, exitCodes } from "../../model/first-plain.js";
import { cellName, patchName, shortId } from "../../model/first.js";
import { excerpt, expected } from "../../model/excerpt.js";
import { print } from "../table.js";
const { resolve } = globalThis.process.getBuiltinModule("node:path");

// src/cli/gate/comment.ts
async function run(text, options) {
	if (options.dryRun !== true) throw new UsageError("comment: add --dry-run: this command only tries comments; to measure a patch, comment on the pull request.");
	if (!["write", "read"].includes(options.role)) throw new UsageError(`--role: ${expected("write or read")({ input: options.role })}.`);
	if (parseCommand(text) === void 0) throw new UsageError(`"${excerpt(text)}" is not a command, so the workflow ignores it: begin with /ppsgate, like /ppsgate run.`);
	const deps = await depsFor(options);
	const [, number = "1"] = options.pullRequest?.split("#") ?? [];
	const at = (/* @__PURE__ */ new Date()).toISOString();
	const admission = await admit({
		kind: "comment",
		number: Number(number),
		id: 0,
		by: options.by,
		at,
		text
	}, deps);
	print(admissionText(admission));
	return [
		"refused",
		"mistaken",
		"nothing"
	].includes(admission.kind) ? exitCodes.usage : exitCodes.pass;
}
async function depsFor(options) {
	const repository = openRepository(resolve(options.repository));
	const nameOf = (config, overrides) => {
		const selectors = selectorsFor(config, overrides, {
			overrides: {},
			each: ""
		});
		const changed = applyOverrides(config, overrides, namingStyles.comment);
		const called = selectorCalled(overrides, namingStyles.comment);
		for (const selector of selectors) testbedsFor(changed, selector, called);
		return gateNames(selectors)[0] ?? "ppsgate";
	};
	return {
		pullRequests: await readerFor(options, repository),
		repository,
		readConfig: async (commit) => (await import("../../action/open-job.js")).configAt(commit, options.config, repository),
		commit: await resolved("--base", options.base, repository),
		readRevision() {
			throw new UsageError("Only a pull request takes comments: it cannot name a revision.");
		},
		nameOf,
		checkBisection(config, overrides) {
			const changed = applyOverrides(config, overrides, namingStyles.comment);
			testbedsFor(changed, overrides.testbed, namingStyles.comment("testbed"));
		},
		naming: namingStyles.comment,
		priority: void 0
	};
}
/** Reads GitHub only for a named pull request; otherwise the options replace one. */
async function readerFor(options, repository) {
	const { pullRequest: named, by, role, fork, base, head } = options;
	if (named !== void 0) return githubReader(named);
	const [baseCommit, headCommit] = [await resolved("--base", base, repository), await resolved("--head", head, repository)];
	const { subject, author } = await repository.describe(headCommit);
	const name = "this/repository";
	const find = async () => ({
		kind: "found",
		pullRequest: {
			kind: "pull-request",
			repository: name,
			number: 1,
			title: subject,
			author,
			url: "https://github.com/this/repository/pull/1",
			baseCommit,
			headCommit
		},
		headRepository: fork ? "a-fork/repository" : name
	});
	return {
		find,
		withHead: async () => [await find()],
		mayWrite: async (login) => login === by && role === "write",
		commentOf: async () => void 0
	};
}
const resolved = (option, name, repository) => repository.resolve(name).catch((error) => {
	if (!(error instanceof RepositoryError)) throw error;
	throw new UsageError(`${option}: ${error.message}`);
});
async function githubReader(named) {
	const [, repository = ""] = /^([\w.-]+\/[\w.-]+)#[1-9]\d{0,9}$/.exec(named) ?? [];
	if (repository === "") throw new UsageError(`--pull-request: ${expected("a name like example/router#7")({ input: named })}.`);
	const token = process.env.GITHUB_TOKEN ?? "";
	if (token === "") throw new UsageError("--pull-request: GITHUB_TOKEN is not set: set it to a token that may read pull requests, or drop the option.");
	const apiUrl = process.env.GITHUB_API_URL ?? "https://api.github.com";
	const quiet = () => {};
	return readerOn(await createOctokit({
		token,
		apiUrl,
		log: {
			debug: quiet,
			info: quiet,
			warn: quiet,
			error: quiet
		}
	}), repository);
}
/** Describes the decision, what would be measured, and why. */
function admissionText(admission) {
	const { kind, why } = admission;
	switch (kind) {
		case "gate": {
			const { config, request } = admission;
			const { patch, overrides, priority } = request;
			const changed = applyOverrides(config, overrides, namingStyles.comment);
			const testbeds = selectorsFor(config, overrides, {
				overrides: {},
				each: ""
			}).map((selector) => testbedsFor(changed, selector).join(" or "));
			const cells = cellsOf(changed).map(cellName).join(", ");
			const range = `${shortId(patch.baseCommit)}..${shortId(patch.headCommit)}`;
			return [
				"approved",
				`would measure: ${cells}, on ${testbeds.join(" and on ")}, with priority ${priority}`,
				`patch: ${patchName(patch)}, ${range}, ${patch.title}`,
				`why: ${why}`
			].join("\n");
		}
		case "bisect": {
			const { good, bad, cell } = admission.request;
			return [
				"approved",
				`would bisect: ${shortId(good)}..${shortId(bad)}, with ${cellName(cell)}`,
				`why: ${why}`
			].join("\n");
		}
		case "refused": return `not approved\nwhy: ${why}`;
		case "mistaken": return `not understood\nwhy: ${why}`;
		case "nothing": return `ignored, without a reply\nwhy: ${why}`;
		case "cancel": return `approved\nwould cancel all gates of the pull request\nwhy: ${why}`;
		case "help": return "would reply with the list of commands, and measure nothing";
	}
}

export { run };