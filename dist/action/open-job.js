import { parseConfig } from "../config/first.js";
import { createOctokit } from "../forge/github.js";
import { openRepository } from "../forge/patch/first.js";
import { UsageError } from "../model/first-plain.js";
import { log, mask } from "./log.js";

// src/action/open-job.ts
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
		readConfig: (base) => configAt(base, path, repository)
	};
}
/**
* Passes the token to git in the environment, which other users cannot read (`GIT_CONFIG_COUNT` in git-config(1)), so
* that no credentials remain in the checkout. GitHub accepts a token as any user's password.
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
/** @param path in the repository. Throws a UsageError if the commit has no such file. */
async function configAt(base, path, repository) {
	const commit = await repository.resolve(base);
	const text = await repository.read(`${commit}:${path}`).catch(() => {
		throw new UsageError(`The base ${base} has no ${path}: add one to the base branch first.`);
	});
	return parseConfig(text, {
		path,
		home: process.env.HOME ?? "/"
	});
}

export { configAt, openJob };