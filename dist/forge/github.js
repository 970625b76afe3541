import { patchName, reasonOf, resultSchema } from "../model.js";
import { ZodError, array, int, literal, object, string, union, url } from "../vendor/zod.js";
import { fetchWithin, sendRequest } from "../system.js";
import { profiledCells, readProfiles } from "../analysis/profile.js";
import { require_yauzl } from "../vendor/yauzl.js";
import { isUtf8 } from "node:buffer";
import { crc32, inflateRawSync } from "node:zlib";
import { setTimeout } from "node:timers/promises";

// src/forge/github/client.ts
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
	const { Client } = await import("./github/octokit.js");
	return new Client({
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
			...!keepsPace(apiUrl) && unpaced,
			...plugins?.throttle
		}
	});
}
/**
* Whether a second has to lie between two writes and three between two comments, as octokit's plugin has it: GitHub's
* own hosts ask for that. A GitHub Enterprise Server has no limits but those that its administrator switched on
* (https://docs.github.com/enterprise-server/admin/configuration/configuring-your-enterprise/configuring-rate-limits),
* and tells when one is reached.
*/
function keepsPace(apiUrl) {
	const { hostname } = new URL(apiUrl);
	return hostname === "api.github.com" || hostname.endsWith(".ghe.com");
}
const atOnce = { key: () => ({ schedule: (_options, job) => job() }) };
/** The plugin takes other groups than its own for what is to be paced; its types do not say so. */
const unpaced = {
	write: atOnce,
	notifications: atOnce
};
/** GitHub asks to wait some seconds; true is for doing so, and then sending the request again. */
function waitWhenShort(log) {
	return (seconds, _request, _octokit, waits) => {
		if (seconds > longestWait || waits >= mostWaits) return false;
		log.info(`GitHub's rate limit is reached: going on in ${seconds} s.`);
		return true;
	};
}
const viewer = object({ viewer: object({ login: string() }) });
/** Whose the token is: GET /user tells only people, and GraphQL apps too. */
async function ownLogin(octokit) {
	return viewer.parse(await octokit.graphql("{ viewer { login } }")).viewer.login;
}
/** Of the `owner/name` of a repository, as the API takes them. */
function placeOf(repository) {
	const [owner = "", repo = ""] = repository.split("/");
	return {
		owner,
		repo
	};
}

// src/forge/github/failure.ts
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
/** The same, or that of a rate limit: what is worth another try by whoever has an hour. */
const mayPassSoon = (failure) => isBreakdown(failure) || failure?.kind === "rate-limited";
/** One sentence for people: what was not done, why, and what helps. */
function whyNotDone(what, failure, { again, permission, otherwise }) {
	const { kind, said } = failure;
	switch (kind) {
		case "no-answer": return `${what} because GitHub cannot be reached (${said}): ${again} again later.`;
		case "rate-limited": return `${what} because GitHub's rate limit shuts this token out ${failure.until}: ${again} again then.`;
	}
	switch (failure.status) {
		case 401: return `${what} because GitHub does not know the token (${said}): check the input that holds it.`;
		case 403: return `${what} because the token may not (${said}): ${permission}.`;
		default: return `${what} because GitHub answered ${said}${otherwise}.`;
	}
}
/** Knows it by its name and not its class, for which all of octokit would have to be loaded. */
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

// src/forge/github/comment.ts
/**
* Makes what `compose` answers our only comment with this marker on the pull request, or on an issue. Of several the oldest is kept and
* the others are deleted; a comment of anybody else is left alone, whatever it holds. Never throws for what GitHub or
* the network did: the result is then in `why`, one sentence.
*
* @param compose gets the comment as it is, if there is one, and answers Markdown that begins with the marker;
*   undefined leaves it as it is.
* @param options.marker an HTML comment, which readers do not see: `<!-- ppsgate -->`.
* @param options.pause how to wait before another try.
*/
async function publishComment(octokit, pullRequest, compose, options) {
	const { owner, repo } = placeOf(pullRequest.repository);
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
			why: whyNot$1(failure, pullRequest),
			isFinal
		};
	}
}
/** Our comment with this marker as it stands, if there is one; throws what octokit throws. */
async function findComment(octokit, { repository, number }, marker) {
	const { owner, repo } = placeOf(repository);
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
	const writing = {
		owner,
		repo,
		body,
		request: { retries: 0 }
	};
	const { data } = comment_id === void 0 ? await octokit.request("POST /repos/{owner}/{repo}/issues/{issue_number}/comments", {
		...writing,
		issue_number: number
	}) : await octokit.request("PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}", {
		...writing,
		comment_id
	});
	return data.html_url;
}
/** Oldest first, as GitHub lists them. */
async function ownComments({ octokit, owner, repo, number, marker }, login) {
	return (await octokit.paginate("GET /repos/{owner}/{repo}/issues/{issue_number}/comments", {
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
		await octokit.request("DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}", {
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
function whyNot$1(failure, { repository, number }) {
	const what = `The comment on #${number} of ${repository} was not written`;
	if (failure.kind === "answered" && failure.status === 403 && isLocked.test(failure.said)) return `${what} because the conversation is locked (${failure.said}): the result is in the job's summary.`;
	if (failure.kind === "answered" && [404, 410].includes(failure.status)) return `${what} because GitHub has no such pull request any more (${failure.said}); the result itself is kept.`;
	return whyNotDone(what, failure, {
		again: "publish the result",
		permission: "give the job `permissions: pull-requests: write`, or, for a pull request from a fork, publish from a workflow_run job",
		otherwise: "; the result itself is kept"
	});
}
const isLocked = /\block(?:ed)?\b/i;

// src/forge/github/pull-request.ts
/** The pull request of a `pull_request` or `pull_request_target` event: `payload` is the JSON in the file `GITHUB_EVENT_PATH`. */
function pullRequestFromEvent(eventName, payload) {
	const event = object({ pull_request: pullRequestDocument }).safeParse(payload);
	if (event.success) return found(event.data.pull_request);
	return {
		kind: "not-found",
		why: misread(`The payload of the ${eventName} event`, event.error)
	};
}
/** The pull request that a person typed as `#123` or `123`, or undefined where it is neither. */
function pullRequestNumber(input) {
	const [, digits] = /^#?([1-9]\d{0,9})$/.exec(input.trim()) ?? [];
	return digits === void 0 ? void 0 : Number(digits);
}
/** Pull request `number` as it is at this moment in `repository`, an `owner/name`. */
async function fetchPullRequest(octokit, repository, number) {
	const { owner, repo } = placeOf(repository);
	try {
		const { data } = await octokit.request("GET /repos/{owner}/{repo}/pulls/{pull_number}", {
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
/** The open pull requests whose head is this very commit; throws where GitHub does not tell. */
async function pullRequestsWithHead(octokit, repository, headCommit) {
	const { owner, repo } = placeOf(repository);
	const list = () => octokit.paginate("GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls", {
		owner,
		repo,
		commit_sha: headCommit,
		per_page: 100
	});
	return openWithHead(await told(list, `which pull requests have ${headCommit}`), headCommit);
}
/**
* The number of the pull request that a commit of a branch was merged by, if it was, and GitHub has the commit; throws
* where it does not tell.
*/
async function mergedAs(octokit, repository, commit) {
	const list = async () => {
		try {
			return await octokit.paginate("GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls", {
				...placeOf(repository),
				commit_sha: commit,
				per_page: 100
			});
		} catch (error) {
			const failure = githubFailure(error);
			if (failure?.kind === "answered" && [404, 422].includes(failure.status)) return [];
			throw error;
		}
	};
	const documents = await told(list, `which pull request ${commit} was`);
	const isHere = (name) => name.toLowerCase() === repository.toLowerCase();
	return documents.find(({ merged_at, base }) => merged_at !== null && isHere(base.repo.full_name))?.number;
}
/** The same by the branch of a fork, which needs no such commit in the repository itself. */
async function pullRequestsOfBranch(octokit, repository, head) {
	const { owner, repo } = placeOf(repository);
	const list = () => octokit.paginate("GET /repos/{owner}/{repo}/pulls", {
		owner,
		repo,
		state: "open",
		head: `${head.owner}:${head.branch}`,
		per_page: 100
	});
	return openWithHead(await told(list, `which pull requests ${head.owner}:${head.branch} has`), head.commit);
}
function openWithHead(documents, headCommit) {
	return documents.filter(({ state }) => state === "open").flatMap((document) => pullRequestDocument.safeParse(document).data ?? []).map(found).filter(({ pullRequest }) => pullRequest.headCommit === headCommit);
}
/** `#7 and #9`, for a message that asks which of them is meant. */
const numbersOf = (all) => all.map(({ pullRequest }) => `#${pullRequest.number}`).join(" and ");
/** Whether GitHub lets this person write to the repository; throws where GitHub does not tell. */
async function mayWrite(octokit, repository, login) {
	const { owner, repo } = placeOf(repository);
	const ask = async () => {
		try {
			const { data } = await octokit.request("GET /repos/{owner}/{repo}/collaborators/{username}/permission", {
				owner,
				repo,
				username: login
			});
			return data.permission;
		} catch (error) {
			const failure = githubFailure(error);
			if (failure?.kind === "answered" && failure.status === 404) return "none";
			throw error;
		}
	};
	return ["admin", "write"].includes(await told(ask, `what ${login} may do`));
}
async function told(ask, what) {
	try {
		return await ask();
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		const why = `GitHub did not tell ${what} (${failure.said}): run the job again.`;
		throw new Error(why, { cause: error });
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
		ref: string(),
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
			baseBranch: document.base.ref,
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

// src/forge/github/issue.ts
/**
* Makes an issue, and asks no second time where the answer is lost: GitHub would make a second one. Octokit's own retries
* are off, but for those of a rate limit, by which GitHub says that it did nothing.
*/
async function createIssue({ octokit, repository }, { title, body, label }) {
	const { owner, repo } = placeOf(repository);
	try {
		const { data } = await octokit.request("POST /repos/{owner}/{repo}/issues", {
			owner,
			repo,
			title,
			body,
			labels: [label],
			request: { retries: 0 }
		});
		return {
			kind: "made",
			number: int().positive().parse(data.number)
		};
	} catch (error) {
		if (error instanceof ZodError) return {
			kind: "unsure",
			failure: {
				kind: "no-answer",
				said: "GitHub's answer has no number of an issue"
			}
		};
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		return {
			kind: isRefusal(failure) ? "refused" : "unsure",
			failure
		};
	}
}
/** A proxy that waited too long answers 408, whatever GitHub did. */
const isRefusal = (failure) => failure.kind === "rate-limited" || failure.kind === "answered" && failure.status >= 400 && failure.status < 500 && failure.status !== 408;
/**
* The number of the oldest issue by `creator` whose text begins with the marker, be it open or closed; undefined where
* GitHub lists none, which it does some time after one was made. Throws what octokit throws.
*
* @param search.since when it was made at the earliest.
*/
async function findIssue({ octokit, repository }, { creator, marker, since }) {
	const { owner, repo } = placeOf(repository);
	return (await octokit.paginate("GET /repos/{owner}/{repo}/issues", {
		owner,
		repo,
		creator,
		state: "all",
		since: isoSeconds(since),
		sort: "created",
		direction: "asc",
		per_page: 100
	})).find((issue) => isOurs(issue, creator, marker))?.number;
}
/** GitHub takes no fractions of seconds. */
const isoSeconds = (date) => date.toISOString().replace(/\.\d+/, "");
/** The text of an issue that `creator` made, and undefined where there is none; throws what octokit throws. */
async function readIssue({ octokit, repository }, number, creator) {
	const { owner, repo } = placeOf(repository);
	try {
		const { data } = await octokit.request("GET /repos/{owner}/{repo}/issues/{issue_number}", {
			owner,
			repo,
			issue_number: number
		});
		return isOurs(data, creator, "") ? data.body ?? "" : void 0;
	} catch (error) {
		if (isGone(githubFailure(error))) return void 0;
		throw error;
	}
}
/** Changes title, text and, where `closedAs` says how, the state; throws what octokit throws. */
async function updateIssue({ octokit, repository }, number, { closedAs, ...text }) {
	const { owner, repo } = placeOf(repository);
	await octokit.request("PATCH /repos/{owner}/{repo}/issues/{issue_number}", {
		owner,
		repo,
		issue_number: number,
		...text,
		...closedAs && {
			state: "closed",
			state_reason: closedAs
		}
	});
}
/** Puts one label in the place of another; throws what octokit throws. */
async function replaceLabel(place, number, { old, label }) {
	const { octokit, repository } = place;
	const { owner, repo } = placeOf(repository);
	await makeLabel(place, label);
	const issue = {
		owner,
		repo,
		issue_number: number
	};
	await octokit.request("POST /repos/{owner}/{repo}/issues/{issue_number}/labels", {
		...issue,
		labels: [label.name]
	});
	try {
		await octokit.request("DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}", {
			...issue,
			name: old
		});
	} catch (error) {
		if (!isGone(githubFailure(error))) throw error;
	}
}
/** The issue was deleted, or transferred to where the token sees nothing. */
const isGone = (failure) => failure?.kind === "answered" && [404, 410].includes(failure.status);
/** A repository whose label has another colour keeps it. Throws what octokit throws. */
async function makeLabel({ octokit, repository }, label) {
	try {
		await octokit.request("POST /repos/{owner}/{repo}/labels", {
			...placeOf(repository),
			...label
		});
		return "made";
	} catch (error) {
		if (isThereAlready(error)) return "was there";
		throw error;
	}
}
/** GitHub answers 422 for whatever it does not like, and says which by a code. */
const isThereAlready = (error) => error instanceof Error && error.message.includes("already_exists");
/** A pull request is an issue, too, and none of ours. */
const isOurs = ({ user, body, pull_request }, creator, marker) => pull_request === void 0 && user?.login === creator && (body ?? "").startsWith(marker);

// src/forge/github/artifact.ts
var import_yauzl = require_yauzl();
const artifactLimits = {
	zipBytes: 200 * 1024 ** 2,
	fileBytes: 16 * 1024 ** 2,
	files: 2e4,
	seconds: 300
};
/**
* Downloads the newest artifact of this name of a workflow run: a re-run of its job leaves another one. Needs a token
* with `actions: read`, which GitHub gets to see and the host that it points to never does.
*/
async function fetchArtifact(octokit, wanted, limits = artifactLimits) {
	try {
		const artifact = await newestArtifact(octokit, wanted);
		if (artifact === void 0) return none(`${called(wanted)} does not exist: look whether the job that uploads it has run.`);
		if (artifact.expired) return none(`${called(wanted)} has expired: judge the patch again.`);
		if (artifact.size_in_bytes > limits.zipBytes) return refused(tooLarge(wanted, limits));
		return await download(await addressOf(octokit, wanted, artifact.id), wanted, limits);
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		return failed(whyNot(failure, wanted), mayPassSoon(failure));
	}
}
const none = (why) => ({
	kind: "none",
	why
});
const refused = (why) => ({
	kind: "refused",
	why
});
const failed = (why, mayPass = true) => ({
	kind: "failed",
	why,
	mayPass
});
const called = ({ repository, runId, name }) => `The artifact ${name} of run ${runId} of ${repository}`;
const tooLarge = (wanted, { zipBytes }) => `${called(wanted)} has more than ${zipBytes} bytes and was left alone: upload the work directory only.`;
async function newestArtifact(octokit, wanted) {
	return (await octokit.paginate("GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts", {
		...placeOf(wanted.repository),
		run_id: wanted.runId,
		name: wanted.name,
		per_page: 100
	})).filter(({ name }) => name === wanted.name).toSorted((a, b) => b.id - a.id).at(0);
}
/** Octokit would follow the redirect and read whatever comes into memory; so it is told not to. */
async function addressOf(octokit, wanted, id) {
	const { headers } = await octokit.request("GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}", {
		...placeOf(wanted.repository),
		artifact_id: id,
		archive_format: "zip",
		request: { redirect: "manual" }
	});
	return URL.parse(headers.location ?? "");
}
/** The place is a secret of its own for a minute, and is not named in full. */
async function download(place, wanted, limits) {
	if (place === null || !isTrusted(place)) return refused(`${called(wanted)} was not fetched because GitHub points to no https address for it: look whether the API's address is right.`);
	const again = "run the job again";
	const answer = await sendRequest(place, {
		answerSeconds: limits.seconds,
		mostBytes: limits.zipBytes
	});
	if (answer.kind === "no-answer") return failed(`${called(wanted)} was not fetched from ${place.host} (${answer.why}): ${again}.`);
	const { status, body } = answer;
	if (status !== 200) return failed(`${called(wanted)} was not fetched because ${place.host} answered ${status}: ${again}.`);
	return body === void 0 ? refused(tooLarge(wanted, limits)) : {
		kind: "fetched",
		bytes: body
	};
}
/** Without TLS only from this machine, where tests serve it. */
const isTrusted = ({ protocol, hostname, username, password }) => (protocol === "https:" || protocol === "http:" && loopback.has(hostname)) && username === "" && password === "";
const loopback = /* @__PURE__ */ new Set(["127.0.0.1", "localhost"]);
const whyNot = (failure, wanted) => whyNotDone(`${called(wanted)} was not fetched`, failure, {
	again: "run the job",
	permission: "give the job `permissions: actions: read`",
	otherwise: ": look whether the run and its artifact are still there"
});
/** The result in the text of a `result.json` that a stranger may have written. */
function parseResult(text) {
	try {
		if (commas(text) > mostCommas) throw new RangeError(`more than ${mostCommas} values`);
		return {
			kind: "read",
			result: resultSchema.parse(JSON.parse(text))
		};
	} catch {
		return refused("The result.json of the artifact is no result of this version of ppsgate: judge the patch again.");
	}
}
/** A result of 16 MiB as ppsgate writes it has fewer. */
const mostCommas = 5e5;
function commas(text) {
	let count = 0;
	for (const character of text) if (character === ",") count += 1;
	return count;
}
/**
* The files of these names out of a zip, as text, those that are there. They stand at the top or in one folder, those
* whose names have folders just there; of all other entries only the names are looked at. Nothing is written anywhere.
*/
async function readEntries(zip, names, limits = artifactLimits) {
	try {
		const archive = await (0, import_yauzl.fromBufferPromise)(zip, { decodeStrings: false });
		const entries = await entriesOf(archive, new Set(names), limits);
		const texts = /* @__PURE__ */ new Map();
		for (const [name, entry] of entries) texts.set(name, await textOf({
			archive,
			zip,
			name,
			entry
		}, limits.fileBytes));
		return {
			kind: "read",
			texts
		};
	} catch (error) {
		return refusalOf(error);
	}
}
var Refusal = class extends Error {};
function refusalOf(error) {
	if (error instanceof Refusal) return refused(error.message);
	const [said] = reasonOf(error).split(/[.:]/);
	return refused(`The artifact is no zip that can be read (${said}): run its job again.`);
}
/** Size of all profiles of one result; flamegraphs of more are not drawn. */
const mostProfileBytes = 64 * 1024 ** 2;
/** One of each variant in each cell: the longest experiments have some hundred. */
const mostProfiles = 500;
const tooManyBytes = `The profiles of the artifact have more than ${mostProfileBytes} bytes together: of the rest no flamegraphs are drawn.`;
/**
* The profiles that a result of the artifact tells of, which lie below `folder`; what cannot be read is left out, and
* `leftOut` hears why. The zip is gone through once, however many files are named.
*/
async function profilesIn(zip, result, folder, leftOut = () => {}) {
	const paths = profilePaths(result);
	if (paths.length > mostProfiles) {
		leftOut(`The result names ${paths.length} profiles, and at most ${mostProfiles} are read: no flamegraphs are drawn.`);
		return [];
	}
	try {
		const archive = await (0, import_yauzl.fromBufferPromise)(zip, { decodeStrings: false });
		const entries = await entriesOf(archive, new Set(paths.map((path) => folder + path)), artifactLimits);
		let left = mostProfileBytes;
		const textAt = async (path) => {
			const name = folder + path;
			const entry = entries.get(name);
			if (entry === void 0) return void 0;
			const bytes = Math.min(left, artifactLimits.fileBytes);
			left -= bytes;
			try {
				if (bytes === 0) throw new Refusal(tooManyBytes);
				const text = await textOf({
					archive,
					zip,
					name,
					entry
				}, bytes);
				left += bytes - Math.min(bytes, text.length);
				return text;
			} catch (error) {
				leftOut(refusalOf(error).why);
				return;
			}
		};
		return await readProfiles(result, textAt, leftOut);
	} catch (error) {
		leftOut(refusalOf(error).why);
		return [];
	}
}
function profilePaths(result) {
	return profiledCells(result).flatMap(({ profiles }) => profiles.flatMap((one) => one.kind === "profiled" ? one.file : []));
}
async function entriesOf(archive, names, { files }) {
	if (archive.entryCount > files) throw new Refusal(`The artifact says that it holds ${archive.entryCount} files, and at most ${files} are looked at: upload the work directory only.`);
	const found = /* @__PURE__ */ new Map();
	for await (const entry of archive.eachEntry()) {
		const path = entry.fileNameRaw.toString();
		const name = names.has(path) ? path : nameOf(path);
		if (name === void 0 || !names.has(name)) continue;
		if (found.has(name)) throw new Refusal(`The artifact holds more than one ${name}, and it is not told which one counts: upload one work directory.`);
		found.set(name, entry);
	}
	return found;
}
/** Without its folder; undefined for what lies deeper, or outside. */
function nameOf(path) {
	const parts = path.split("/");
	const [folder, name] = parts.length === 1 ? ["top", ...parts] : parts;
	return parts.length > 2 || [
		"",
		".",
		".."
	].includes(folder ?? "") ? void 0 : name;
}
async function textOf(found, mostBytes) {
	const { name, entry } = found;
	if (!isRegularFile(entry)) throw new Refusal(`The artifact's ${name} is no regular file: upload the work directory as it is.`);
	if (!entry.canDecodeFileData()) throw new Refusal(`The artifact's ${name} is encrypted, or packed in a way other than deflate: upload it with actions/upload-artifact.`);
	const content = await contentOf(found, mostBytes);
	if (content.length !== entry.uncompressedSize || crc32(content) !== entry.crc32) throw new Refusal(`The artifact's ${name} is damaged: run the job that uploads it again.`);
	if (!isUtf8(content)) throw new Refusal(`The artifact's ${name} is no UTF-8 text: judge the patch again.`);
	return content.toString();
}
/** Looks at the type in st_mode(2), which Unix zips keep in the upper half; others keep nothing there. */
function isRegularFile({ externalFileAttributes }) {
	const type = externalFileAttributes >>> 16 & 61440;
	return type === 0 || type === 32768;
}
/** What the entry says of its size is not verified: inflating stops at the bound. */
async function contentOf({ archive, zip, name, entry }, mostBytes) {
	const { fileDataStart } = await archive.readLocalFileHeaderPromise(entry, { minimal: true });
	const packed = zip.subarray(fileDataStart, fileDataStart + entry.compressedSize);
	const tooMuch = `The artifact's ${name} has more than ${mostBytes} bytes: nothing of that size is a result.`;
	if (entry.compressionMethod === 0) {
		if (packed.length > mostBytes) throw new Refusal(tooMuch);
		return packed;
	}
	try {
		return inflateRawSync(packed, { maxOutputLength: mostBytes });
	} catch (error) {
		const isTooMuch = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
		throw new Refusal(isTooMuch ? tooMuch : `The artifact's ${name} is damaged: run the job that uploads it again.`);
	}
}
/** What the result is of that GitHub does not say of the patch, as a sentence; undefined where they agree. */
function agreesWith({ patch }, meant) {
	const place = meant.kind === "pull-request" ? ` of ${meant.repository}` : "";
	const called = meant.kind === "revision" ? `D${meant.number}:${meant.diff}` : `${patchName(meant)}${place}`;
	const isOf = (other) => `The result is of ${other}, not of ${called}: judge that again.`;
	if (patch.kind !== meant.kind) return isOf(kindNames[patch.kind]);
	if (patch.kind === "pull-request" && meant.kind === "pull-request") {
		if (patch.repository.toLowerCase() !== meant.repository.toLowerCase()) return isOf("another repository");
		if (patch.number !== meant.number) return isOf(patchName(patch));
	}
	if (patch.kind === "revision" && meant.kind === "revision") {
		if (!(patch.number === meant.number && patch.diff === meant.diff)) return isOf(`D${patch.number}:${patch.diff}`);
	}
	for (const side of ["base", "head"]) {
		const [judged, current] = [patch[`${side}Commit`], meant[`${side}Commit`]];
		if (judged === current) continue;
		return `The result is of ${called} with ${judged} as its ${side}, which is ${current} on GitHub: judge it again.`;
	}
}
const kindNames = {
	"pull-request": "a pull request",
	revision: "a revision",
	range: "a range of commits"
};
/** Title, author, links and names as GitHub has them, not as the artifact. */
const withPatch = (result, patch) => ({
	...result,
	patch
});

export { agreesWith, createIssue, createOctokit, fetchArtifact, fetchPullRequest, findComment, findIssue, githubFailure, isBreakdown, isGone, makeLabel, mayPassSoon, mayWrite, mergedAs, numbersOf, ownLogin, parseResult, placeOf, profilesIn, publishComment, pullRequestFromEvent, pullRequestNumber, pullRequestsOfBranch, pullRequestsWithHead, readEntries, readIssue, replaceLabel, updateIssue, whyNotDone, withPatch };