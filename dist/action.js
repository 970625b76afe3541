import { a as getInput, c as setOutput, d as summary, i as error, l as setSecret, n as labState, o as info, r as debug, s as saveState, u as warning } from "./clean-up.js";
import { g as object, p as int, v as string, y as url } from "./patch.js";
import { a as gate, c as randomSeed, d as UsageError, f as applyOverrides, h as parseConfig, i as showProgress, n as chooseTestbed, r as openTestbed, t as timestampedDirectory, u as openRepository } from "./work-directory.js";
import { i as runToExit, n as exitCodeOfResult } from "./exit2.js";
import { r as readyMachine } from "./requirements.js";
import { n as renderMarkdown, r as headline } from "./markdown.js";
import { join } from "node:path";
import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

// src/patch/authorize.ts
/** `why` is one sentence for the one who opened the pull request. */
function authorize(trigger, { pullRequest, headRepository }) {
	const { number, repository } = pullRequest;
	if (trigger === "workflow_dispatch") return {
		kind: "allowed",
		why: `Somebody with write permission to ${repository} dispatched #${number}.`
	};
	if (headRepository === repository) return {
		kind: "allowed",
		why: `The head of #${number} is in ${repository} itself, where only people with write permission can push.`
	};
	return {
		kind: "refused",
		why: `Thank you for #${number}: because it comes from ${headRepository ?? "a repository that was deleted"}, it runs on the testbed only after a maintainer of ${repository} has read it and started ppsgate by workflow_dispatch with patch \`#${number}\`.`
	};
}

// src/patch/github-error.ts
/** Undefined where the error is none of octokit's, and so a defect of ours rather than an answer. */
function githubFailure(error) {
	if (!isRequestError(error)) return void 0;
	const said = oneLine(error.message);
	if (error.response === void 0) return {
		kind: "no-answer",
		said
	};
	const until = endOfRateLimit(error);
	if (until !== void 0) return {
		kind: "rate-limited",
		until,
		said
	};
	return {
		kind: "answered",
		status: error.status,
		said: `${error.status} ${said}`
	};
}
/** By its name and not its class, for which all of octokit would have to be loaded. */
function isRequestError(error) {
	return error instanceof Error && error.name === "HttpError" && "request" in error;
}
function oneLine(message) {
	const line = message.replaceAll(/\p{Cc}+/gu, " ").trim();
	return line.length <= 300 ? line : `${line.slice(0, 300)}…`;
}
/**
* A used-up quota says when it is given again in `x-ratelimit-reset` (seconds since 1970), a secondary
* limit how long to wait in `retry-after` (seconds), if at all: "Rate limits for the REST API" at
* docs.github.com.
*/
function endOfRateLimit({ status, message, response }) {
	if (status !== 403 && status !== 429) return void 0;
	const headers = response?.headers ?? {};
	if (headers["x-ratelimit-remaining"] === "0") return `until ${(/* @__PURE__ */ new Date(Number(headers["x-ratelimit-reset"]) * 1e3)).toISOString()}`;
	if (status !== 429 && !/\bsecondary rate\b/i.test(message)) return void 0;
	return `for ${headers["retry-after"] ?? "60"} s`;
}

// src/patch/github.ts
/** The pull request of a `pull_request` event: `payload` is the JSON in the file `GITHUB_EVENT_PATH`. */
function pullRequestFromEvent(eventName, payload) {
	if (eventName !== "pull_request") return {
		kind: "not-found",
		why: `The event ${eventName} names no pull request to gate: run ppsgate on pull_request, or on workflow_dispatch with a number.`
	};
	const event = object({ pull_request: pullRequestDocument }).safeParse(payload);
	if (event.success) return found(event.data.pull_request);
	return {
		kind: "not-found",
		why: misread("The payload of the pull_request event", event.error)
	};
}
/** The pull request that a person typed as `#123` or `123`, or undefined where it is neither. */
function pullRequestNumber(input) {
	const [, digits] = /^#?([1-9]\d{0,9})$/.exec(input.trim()) ?? [];
	return digits === void 0 ? void 0 : Number(digits);
}
/** Pull request `number` as it is at this moment in `repository`, an `owner/name`. */
async function fetchPullRequest(octokit, repository, number) {
	const [owner = "", repo = ""] = repository.split("/");
	try {
		const { data } = await octokit.rest.pulls.get({
			owner,
			repo,
			pull_number: number
		});
		const document = pullRequestDocument.safeParse(data);
		if (document.success) return found(document.data);
		return {
			kind: "failed",
			why: misread(`GitHub's answer for #${number}`, document.error)
		};
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		return notFetched(failure, `#${number} of ${repository}`);
	}
}
/** Forty digits, or 64 in a repository that uses SHA-256. */
const commit = string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "expected a full commit id");
/** What is used of the JSON that events and the REST API have in common. */
const pullRequestDocument = object({
	number: int().positive(),
	title: string(),
	html_url: url(),
	/** Null where the account was deleted, which GitHub then calls "ghost". */
	user: object({ login: string() }).nullable(),
	base: object({
		sha: commit,
		repo: object({ full_name: string() })
	}),
	head: object({
		sha: commit,
		repo: object({ full_name: string() }).nullable()
	})
});
function found(document) {
	return {
		kind: "found",
		pullRequest: {
			kind: "pull-request",
			repository: document.base.repo.full_name,
			number: document.number,
			title: document.title,
			author: document.user?.login ?? "ghost",
			url: document.html_url,
			baseCommit: document.base.sha,
			headCommit: document.head.sha
		},
		headRepository: document.head.repo?.full_name ?? null
	};
}
function misread(what, error) {
	const [issue] = error.issues;
	return `${what} is not as GitHub describes it, at ${issue?.path.join(".") || "its top"}: ${issue?.message}.`;
}
function notFetched(failure, pullRequest) {
	if (failure.kind === "answered" && failure.status === 404) return {
		kind: "not-found",
		why: `There is no pull request ${pullRequest}, or the token may not see it: check the number, and that the job has \`pull-requests: read\`.`
	};
	return {
		kind: "failed",
		why: `GitHub did not tell what pull request ${pullRequest} is (${failure.said}): run the job again.`
	};
}

// src/publish/github.ts
/**
* Makes `body` our only comment with this marker on the pull request. Of several the oldest is kept and the
* others are deleted; a comment of anybody else is left alone, whatever it holds. Never throws for what
* GitHub or the network did: the result is then in `why`, one sentence.
*
* @param body Markdown without the marker, which becomes the first line of the comment.
* @param options.marker an HTML comment, which readers do not see: `<!-- ppsgate:testbed -->`.
* @param options.pause how to wait before a lost creation is tried again.
*/
async function publishComment(octokit, pullRequest, body, options) {
	const [owner = "", repo = ""] = pullRequest.repository.split("/");
	const { marker, pause = (seconds) => setTimeout(seconds * 1e3) } = options;
	const thread = {
		octokit,
		owner,
		repo,
		number: pullRequest.number,
		marker,
		pause
	};
	try {
		return await putComment(thread, `${marker}\n${body}`);
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		return {
			kind: "not-published",
			why: whyNot(failure, pullRequest)
		};
	}
}
async function putComment(thread, body) {
	const login = await ownLogin(thread.octokit);
	const [kept, ...others] = await ownComments(thread, login);
	if (kept === void 0) return createComment(thread, login, body, 1);
	const { octokit, owner, repo } = thread;
	const { data } = await octokit.rest.issues.updateComment({
		owner,
		repo,
		comment_id: kept.id,
		body
	});
	for (const { id } of others) await deleteComment(thread, id);
	return {
		kind: "updated",
		url: data.html_url
	};
}
/** GET /user is for tokens of people; to a workflow's own token GitHub refuses it. */
async function ownLogin(octokit) {
	try {
		const { data } = await octokit.rest.users.getAuthenticated();
		return data.login;
	} catch (error) {
		const failure = githubFailure(error);
		if (failure?.kind === "answered" && failure.status === 403) return "github-actions[bot]";
		throw error;
	}
}
/** Oldest first, as GitHub lists them. */
async function ownComments(thread, login) {
	const { octokit, owner, repo, number, marker } = thread;
	return (await octokit.paginate(octokit.rest.issues.listComments, {
		owner,
		repo,
		issue_number: number,
		per_page: 100
	})).filter(({ user, body }) => user?.login === login && body?.startsWith(marker)).map(({ id, html_url }) => ({
		id,
		url: html_url
	}));
}
const mostCreations = 4;
/**
* Creating is the one request that must not simply be sent again: the answer may be lost after GitHub did
* what was asked. So octokit's own retries are off here, and before each further try we look.
*/
async function createComment(thread, login, body, tries) {
	const { octokit, owner, repo, number, pause } = thread;
	try {
		const { data } = await octokit.rest.issues.createComment({
			owner,
			repo,
			issue_number: number,
			body,
			request: { retries: 0 }
		});
		return {
			kind: "created",
			url: data.html_url
		};
	} catch (error) {
		if (tries === mostCreations || !mayHaveHappened(githubFailure(error))) throw error;
	}
	await pause(tries ** 2);
	const [created] = await ownComments(thread, login);
	if (created !== void 0) return {
		kind: "created",
		url: created.url
	};
	return createComment(thread, login, body, tries + 1);
}
function mayHaveHappened(failure) {
	return failure?.kind === "no-answer" || failure?.kind === "answered" && failure.status >= 500;
}
/** A second comment that stays is a blemish, not a reason to call the first one unpublished. */
async function deleteComment({ octokit, owner, repo }, comment_id) {
	try {
		await octokit.rest.issues.deleteComment({
			owner,
			repo,
			comment_id
		});
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		octokit.log.warn(`An older comment of ppsgate's own could not be deleted (${failure.said}).`);
	}
}
function whyNot(failure, { repository, number }) {
	const what = `The comment on #${number} of ${repository} was not written`;
	if (failure.kind === "no-answer") return `${what} because GitHub cannot be reached (${failure.said}): publish the result again later.`;
	if (failure.kind === "rate-limited") return `${what} because GitHub's rate limit shuts this token out ${failure.until}: publish the result again then.`;
	if (failure.status === 403) return `${what} because the token may not (${failure.said}): give the job \`permissions: pull-requests: write\`, or, for a pull request from a fork, publish from a workflow_run job.`;
	if (failure.status === 401) return `${what} because GitHub does not know the token (${failure.said}): check the input that holds it.`;
	return `${what} because GitHub answered ${failure.said}; the result itself is kept.`;
}
/** The longest that a rate limit is waited for, in seconds, and how often in one request. */
const longestWait = 60;
const mostWaits = 2;
/**
* A client that tries a failed request again and waits for a short rate limit, by octokit's own plugins.
*
* @param settings.apiUrl as in `GITHUB_API_URL`.
* @param settings.log never gets to see the token.
* @param settings.answerSeconds how long one answer may take, its body included.
* @param settings.plugins replaces single settings of the plugins; tests wait less with it.
*/
async function createOctokit(settings) {
	const { token, apiUrl, log, answerSeconds = 30, plugins } = settings;
	const { Octokit } = await import("./dist-bundle.js");
	return new Octokit({
		auth: token,
		baseUrl: apiUrl,
		userAgent: "ppsgate",
		log,
		request: { fetch: fetchWithin(answerSeconds) },
		retry: {
			doNotRetry: [
				400,
				401,
				403,
				404,
				410,
				422,
				429,
				451
			],
			...plugins?.retry
		},
		throttle: {
			onRateLimit: waitWhenShort(log),
			onSecondaryRateLimit: waitWhenShort(log),
			...plugins?.throttle
		}
	});
}
/**
* The whole answer within so many seconds. Its body is read here because octokit takes one that was cut
* short for an empty one, and a list of comments without ours would make us write a second comment.
*/
function fetchWithin(seconds) {
	return async (input, init) => {
		const signal = AbortSignal.timeout(seconds * 1e3);
		const response = await fetch(input, {
			...init,
			signal
		});
		await response.clone().arrayBuffer();
		return response;
	};
}
/** GitHub asks to wait some seconds; true is for doing so, and then sending the request again. */
function waitWhenShort(log) {
	return (seconds, _request, _octokit, waits) => {
		if (seconds > longestWait || waits >= mostWaits) return false;
		log.info(`GitHub's rate limit is reached: going on in ${seconds} s.`);
		return true;
	};
}

// src/action/inputs.ts
/** See "Variables reference" in GitHub's documentation of Actions. */
const jobSchema = object({
	GITHUB_API_URL: url(),
	GITHUB_SERVER_URL: url(),
	GITHUB_REPOSITORY: string().regex(/^[^/]+\/[^/]+$/),
	GITHUB_WORKSPACE: string(),
	GITHUB_EVENT_NAME: string(),
	GITHUB_EVENT_PATH: string(),
	GITHUB_RUN_ID: string(),
	RUNNER_TEMP: string()
}).transform((variables) => ({
	apiUrl: variables.GITHUB_API_URL,
	repository: variables.GITHUB_REPOSITORY,
	workspace: variables.GITHUB_WORKSPACE,
	eventName: variables.GITHUB_EVENT_NAME,
	eventPath: variables.GITHUB_EVENT_PATH,
	temporary: variables.RUNNER_TEMP,
	runUrl: `${variables.GITHUB_SERVER_URL}/${variables.GITHUB_REPOSITORY}/actions/runs/${variables.GITHUB_RUN_ID}`
}));
function readInputs(environment) {
	const token = getInput("token", { required: true });
	setSecret(token);
	return {
		patch: getInput("patch"),
		config: getInput("config", { required: true }),
		testbed: getInput("testbed"),
		overrides: {
			scenarios: getInput("scenarios"),
			families: getInput("families"),
			runs: getInput("runs"),
			margin: getInput("margin")
		},
		token,
		job: jobSchema.parse(environment)
	};
}
/** The payload of the event that started the job. */
const readEvent = async ({ eventPath }) => JSON.parse(await readFile(eventPath, "utf8"));

// src/action/main.ts
/** Ends the process with the verdict's exit code; what kept it from a verdict becomes an annotation. */
async function runAction() {
	await runToExit(judgeAndAnswer, { tell: error });
}
const log = {
	debug,
	info,
	warn: warning,
	error
};
/** Plain lines even where a runner offers a terminal, as act does: what it is told must begin a line. */
const jobLog = { write: process.stdout.write.bind(process.stdout) };
async function judgeAndAnswer(signal) {
	const inputs = readInputs(process.env);
	const { job } = inputs;
	const octokit = await createOctokit({
		token: inputs.token,
		apiUrl: job.apiUrl,
		log
	});
	const pullRequest = await findAllowed(inputs, octokit);
	const repository = openRepository(job.workspace);
	const config = await readConfig(inputs, repository, pullRequest);
	const testbed = chooseTestbed(config, inputs.testbed);
	if (config.testbeds[testbed]?.kind === "embedded-linux") {
		const exitCode = await readyMachine(info);
		if (exitCode !== void 0) return exitCode;
		saveState(labState, "up");
	}
	const directory = join(job.temporary, timestampedDirectory("ppsgate"));
	const progress = showProgress(jobLog, config.gate.metric, () => performance.now());
	const request = {
		patch: pullRequest,
		config,
		testbed,
		seed: randomSeed()
	};
	const result = await gate(request, directory, {
		repository,
		openTestbed: (name, traffic) => openTestbed(name, traffic, config),
		now: () => /* @__PURE__ */ new Date(),
		onEvent: progress.onEvent,
		signal
	}).finally(progress.end);
	await answer(result, pullRequest, directory, octokit, inputs);
	return exitCodeOfResult(result);
}
/** The pull request that is meant, once its author may use the testbed. */
async function findAllowed(inputs, octokit) {
	const { patch, job } = inputs;
	const isDispatched = job.eventName === "workflow_dispatch";
	const found = isDispatched ? await fetchDispatched(patch, job.repository, octokit) : pullRequestFromEvent(job.eventName, await readEvent(job));
	if (found.kind === "failed") throw new Error(found.why);
	if (found.kind === "not-found") throw new UsageError(found.why);
	const leave = authorize(isDispatched ? "workflow_dispatch" : "pull_request", found);
	if (leave.kind === "refused") throw new UsageError(leave.why);
	info(leave.why);
	return found.pullRequest;
}
async function fetchDispatched(patch, repository, octokit) {
	const number = pullRequestNumber(patch);
	if (number !== void 0) return fetchPullRequest(octokit, repository, number);
	throw new UsageError(`patch: expected a pull request like #123, found "${patch}".`);
}
/** From the base: a patch must not change what it is held to. */
async function readConfig({ config: path, overrides }, repository, { baseCommit }) {
	const commit = await repository.resolve(baseCommit);
	const text = await repository.read(`${commit}:${path}`).catch(() => {
		throw new UsageError(`The base ${baseCommit} has no ${path}: add one to the base branch first.`);
	});
	return applyOverrides(parseConfig(text, {
		path,
		home: process.env.HOME ?? "/"
	}), overrides);
}
/** Summary and outputs come first: they hold the result also where no comment can be written. */
async function answer(result, pullRequest, directory, octokit, { job }) {
	const links = {
		rerun: `push again, or [run this job again](${job.runUrl})`,
		rawData: `the [job](${job.runUrl})`
	};
	const markdown = renderMarkdown(result, links);
	const { outcome } = result;
	setOutput("verdict", outcome.kind === "judged" ? outcome.verdict : outcome.kind);
	setOutput("result-path", join(directory, "result.json"));
	setOutput("report-path", join(directory, "report.md"));
	await summary.addRaw(markdown).write();
	info(headline(result));
	const marker = `<!-- ppsgate:${result.testbed.name} -->`;
	const published = await publishComment(octokit, pullRequest, markdown, { marker });
	if (published.kind === "not-published") warning(published.why);
	else setOutput("comment-url", published.url);
}

// src/action.ts
await runAction();

export {  };