import { C as object, E as string, O as union, b as literal, m as array } from "./scenario.js";
import { setTimeout } from "node:timers/promises";

// src/patch/github-error.ts
/** Undefined where the error is none of octokit's, and so a defect of ours rather than an answer. */
function githubFailure(error) {
	if (!isRequestError(error)) return graphqlFailure(error);
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
/** GitHub or the network broke down: what was asked for may have been done all the same, and another try may help. */
const isBreakdown = (failure) => failure?.kind === "no-answer" || failure?.kind === "answered" && failure.status >= 500;
/** By its name and not its class, for which all of octokit would have to be loaded. */
function isRequestError(error) {
	return error instanceof Error && error.name === "HttpError" && "request" in error;
}
const errors = array(object({
	message: string(),
	type: string().optional()
}));
const graphqlError = union([object({
	name: literal("GraphqlResponseError"),
	errors
}), object({
	message: literal("GraphQL Rate Limit Exceeded"),
	data: object({ errors })
}).transform(({ data }) => data)]);
/** GraphQL answers 200 whatever it says. */
function graphqlFailure(error) {
	const parsed = graphqlError.safeParse(error);
	if (!parsed.success) return void 0;
	const { errors } = parsed.data;
	const said = oneLine(errors.map(({ message }) => message).join(" "));
	if (!errors.some(({ type }) => type === "RATE_LIMITED")) return {
		kind: "answered",
		status: 200,
		said
	};
	return {
		kind: "rate-limited",
		until: "for up to an hour",
		said
	};
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

// src/publish/github.ts
/**
* Makes what `compose` answers our only comment with this marker on the pull request. Of several the oldest is kept and
* the others are deleted; a comment of anybody else is left alone, whatever it holds. Never throws for what GitHub or
* the network did: the result is then in `why`, one sentence.
*
* @param compose gets the comment as it is, if there is one, and answers Markdown that begins with the marker;
*   undefined leaves it as it is.
* @param options.marker an HTML comment, which readers do not see: `<!-- ppsgate -->`.
* @param options.pause how to wait before another try.
*/
async function publishComment(octokit, pullRequest, compose, options) {
	const [owner = "", repo = ""] = pullRequest.repository.split("/");
	const { marker, pause = (seconds) => setTimeout(seconds * 1e3) } = options;
	const place = {
		octokit,
		owner,
		repo,
		number: pullRequest.number,
		marker
	};
	try {
		const login = await ownLogin(octokit);
		return await putComment({
			...place,
			login,
			pause
		}, compose);
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		const isFinal = failure.kind === "answered" && failure.status < 500;
		return {
			kind: "not-published",
			why: whyNot(failure, pullRequest),
			isFinal
		};
	}
}
/** Our comment with this marker as it stands, if there is one; throws what octokit throws. */
async function findComment(octokit, { repository, number }, marker) {
	const [owner = "", repo = ""] = repository.split("/");
	const login = await ownLogin(octokit);
	const [found] = await ownComments({
		octokit,
		owner,
		repo,
		number,
		marker
	}, login);
	return found?.body;
}
const mostTries = 4;
/**
* Writing must not simply be sent again: the answer may be lost after GitHub did what was asked, and a later run may
* have written meanwhile. So octokit's own retries are off here, and before each further try we look.
*
* @param again.lost what was written, perhaps, by the try before.
*/
async function putComment(thread, compose, again = { tries: 1 }) {
	const [kept, ...others] = await ownComments(thread, thread.login);
	const body = compose(kept?.body);
	if (body === void 0 || body === kept?.body) {
		await deleteComments(thread, others);
		return {
			kind: body === void 0 ? "left" : again.lost ?? "updated",
			url: kept?.url ?? ""
		};
	}
	const { tries } = again;
	const kind = kept === void 0 ? "created" : "updated";
	try {
		const url = await writeComment(thread, kept?.id, body);
		await deleteComments(thread, others);
		if (kind === "updated" || await isOnly(thread, url)) return {
			kind,
			url
		};
	} catch (error) {
		if (tries === mostTries || !isBreakdown(githubFailure(error))) throw error;
		await thread.pause(tries ** 2);
	}
	return putComment(thread, compose, {
		tries: tries + 1,
		lost: kind
	});
}
/** Not where another gate found none as well, and was faster: then that comment becomes ours. */
async function isOnly(thread, url) {
	const [oldest] = await ownComments(thread, thread.login);
	return oldest === void 0 || oldest.url === url;
}
async function writeComment({ octokit, owner, repo, number }, comment_id, body) {
	const { issues } = octokit.rest;
	const writing = {
		owner,
		repo,
		body,
		request: { retries: 0 }
	};
	const { data } = comment_id === void 0 ? await issues.createComment({
		...writing,
		issue_number: number
	}) : await issues.updateComment({
		...writing,
		comment_id
	});
	return data.html_url;
}
const viewer = object({ viewer: object({ login: string() }) });
/** Whose the token is: GET /user tells only people, and GraphQL apps too. */
async function ownLogin(octokit) {
	return viewer.parse(await octokit.graphql("{ viewer { login } }")).viewer.login;
}
/** Oldest first, as GitHub lists them. */
async function ownComments({ octokit, owner, repo, number, marker }, login) {
	return (await octokit.paginate(octokit.rest.issues.listComments, {
		owner,
		repo,
		issue_number: number,
		per_page: 100
	})).filter(({ user, body }) => user?.login === login && body?.startsWith(marker)).map(({ id, html_url, body = "" }) => ({
		id,
		url: html_url,
		body
	}));
}
/** A second comment that stays is a blemish, not a reason to call the first one unpublished. */
async function deleteComments({ octokit, owner, repo }, comments) {
	for (const { id } of comments) try {
		await octokit.rest.issues.deleteComment({
			owner,
			repo,
			comment_id: id
		});
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		if (failure.kind === "answered" && failure.status === 404) continue;
		octokit.log.warn(`An older comment of ppsgate's own could not be deleted (${failure.said}).`);
	}
}
function whyNot(failure, { repository, number }) {
	const what = `The comment on #${number} of ${repository} was not written`;
	if (failure.kind === "no-answer") return `${what} because GitHub cannot be reached (${failure.said}): publish the result again later.`;
	if (failure.kind === "rate-limited") return `${what} because GitHub's rate limit shuts this token out ${failure.until}: publish the result again then.`;
	if (failure.status === 403 && /\block(?:ed)?\b/i.test(failure.said)) return `${what} because the conversation is locked (${failure.said}): the result is in the job's summary.`;
	if (failure.status === 404 || failure.status === 410) return `${what} because GitHub has no such pull request any more (${failure.said}); the result itself is kept.`;
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

export { githubFailure as a, publishComment as i, findComment as n, isBreakdown as o, ownLogin as r, createOctokit as t };