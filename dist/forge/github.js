import { reasonOf } from "../model/first-plain.js";
import { literal, object, string, union } from "../vendor/zod.js";
import { id, line, list, patchName, prose, resultSchema, url, word } from "../model/first.js";
import { fetchWithin, sendRequest } from "../system/http.js";
import { profiledCells, readProfiles } from "../analysis/profile.js";
import { require_yauzl } from "../vendor/yauzl.js";
const { isUtf8 } = globalThis.process.getBuiltinModule("node:buffer");
const { crc32, inflateRawSync } = globalThis.process.getBuiltinModule("node:zlib");
const { setTimeout } = globalThis.process.getBuiltinModule("node:timers/promises");

// src/forge/github/client.ts
/** Longest wait for a rate limit, in seconds, and number of waits per request. */
const longestWait = 60;
const maxWaits = 2;
/**
* Creates a client that retries failed requests and waits for short rate limits, by octokit's own plugins.
*
* @param settings.apiUrl as in `GITHUB_API_URL`.
* @param settings.log never gets the token.
* @param settings.answerSeconds time limit of one response, including its body.
* @param settings.plugins overrides settings of the plugins; tests use it to wait less.
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
* True for GitHub's own hosts, for which octokit's plugin leaves a second between two writes and three between two
* comments. A GitHub Enterprise Server has only the limits that its administrator switched on, and reports when one is
* reached:
* https://docs.github.com/enterprise-server/admin/configuration/configuring-your-enterprise/configuring-rate-limits.
*/
function keepsPace(apiUrl) {
	const { hostname } = new URL(apiUrl);
	return hostname === "api.github.com" || hostname.endsWith(".ghe.com");
}
const atOnce = { key: () => ({ schedule: (_options, job) => job() }) };
/** The plugin also accepts these groups, which its types omit. */
const unpaced = {
	write: atOnce,
	notifications: atOnce
};
/** Called when GitHub requests a wait. Returning true waits, and then sends the request again. */
function waitWhenShort(log) {
	return (seconds, _request, _octokit, waits) => {
		if (seconds > longestWait || waits >= maxWaits) return false;
		log.info(`GitHub's rate limit is reached: continuing in ${seconds} s.`);
		return true;
	};
}
const viewer = object({ viewer: object({ login: word }) });
/** GET /user fails for apps; GraphQL works for people and apps. */
async function ownLogin(octokit) {
	return viewer.parse(await octokit.graphql("{ viewer { login } }")).viewer.login;
}
function placeOf(repository) {
	const [owner = "", repo = ""] = repository.split("/");
	return {
		owner,
		repo
	};
}

// src/forge/github/failure.ts
/** Returns undefined for errors that are not octokit's, which are bugs of ppsgate. */
function githubFailure(error) {
	if (!isRequestError(error)) return graphqlFailure(error);
	const detail = oneLine(error.message);
	if (error.response === void 0) return {
		kind: "no-answer",
		detail
	};
	const until = endOfRateLimit(error);
	if (until !== void 0) return {
		kind: "rate-limited",
		until,
		detail
	};
	return {
		kind: "answered",
		status: error.status,
		detail: `${error.status} ${detail}`
	};
}
/** GitHub or the network failed: the request may have been carried out, and a retry may help. */
const isBreakdown = (failure) => failure?.kind === "no-answer" || failure?.kind === "answered" && failure.status >= 500;
/** True for a failure of GitHub or the network, or a rate limit: each may end within an hour. */
const mayPassSoon = (failure) => isBreakdown(failure) || failure?.kind === "rate-limited";
function whyNotDone(what, failure, { again, permission, otherwise }) {
	const { kind, detail } = failure;
	switch (kind) {
		case "no-answer": return `${what} because GitHub cannot be reached (${detail}): ${again} again later.`;
		case "rate-limited": return `${what} because GitHub's rate limit blocks this token ${failure.until}: ${again} again then.`;
	}
	switch (failure.status) {
		case 401: return `${what} because GitHub rejects the token (${detail}): check the input that holds it.`;
		case 403: return `${what} because the token lacks the permission (${detail}): ${permission}.`;
		default: return `${what} because GitHub answered ${detail}${otherwise}.`;
	}
}
/** Checks the name instead of the class, for which it would have to load all of octokit. */
function isRequestError(error) {
	return error instanceof Error && error.name === "HttpError" && "request" in error;
}
const errors = list(object({
	message: prose(),
	type: word.optional()
}));
const graphqlError = union([object({
	name: literal("GraphqlResponseError"),
	errors
}), object({
	message: literal("GraphQL Rate Limit Exceeded"),
	data: object({ errors })
}).transform(({ data }) => data)]);
/** GraphQL reports errors with status 200. */
function graphqlFailure(error) {
	const parsed = graphqlError.safeParse(error);
	if (!parsed.success) return void 0;
	const { errors } = parsed.data;
	const detail = oneLine(errors.map(({ message }) => message).join(" "));
	if (!errors.some(({ type }) => type === "RATE_LIMITED")) return {
		kind: "answered",
		status: 200,
		detail
	};
	return {
		kind: "rate-limited",
		until: "for up to an hour",
		detail
	};
}
function oneLine(message) {
	const line = message.replaceAll(/\p{Cc}+/gu, " ").trim();
	return line.length <= 300 ? line : `${line.slice(0, 300)}…`;
}
/**
* Reads the end of a used-up quota from `x-ratelimit-reset` (seconds since 1970), and a secondary limit's wait from
* `retry-after` (seconds, optional): "Rate limits for the REST API" at docs.github.com.
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
* Makes the text of `compose` our only comment with this marker on the pull request or issue. Keeps the oldest of
* several and deletes the others; never touches comments of other authors. Returns errors of GitHub or the network as
* the sentence `why`.
*
* @param compose receives the present comment, if any, and returns Markdown that begins with the marker; undefined
*   leaves it unchanged.
* @param options.marker an HTML comment, invisible to readers: `<!-- ppsgate -->`.
* @param options.pause waits before another try.
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
async function findComment(octokit, { repository, number }, marker) {
	const { owner, repo } = placeOf(repository);
	const login = await ownLogin(octokit);
	const [comment] = await ownComments({
		octokit,
		owner,
		repo,
		number,
		marker
	}, login);
	return comment?.body;
}
const maxTries = 4;
/**
* A write must not simply be repeated: GitHub may have done it and its response was lost, and a later run may have
* written meanwhile. So octokit's retries are off here, and each further try reads the comments first.
*
* @param again.lost text that the last try may have written.
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
		if (tries === maxTries || !isBreakdown(githubFailure(error))) throw error;
		await thread.pause(tries ** 2);
	}
	return putComment(thread, compose, {
		tries: tries + 1,
		lost: kind
	});
}
/** Returns false if another gate was faster: its comment becomes ours. */
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
/** A failed deletion only leaves a duplicate; the first comment is published. */
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
		octokit.log.warn(`An older comment of ppsgate could not be deleted (${failure.detail}).`);
	}
}
function whyNot$1(failure, { repository, number }) {
	const what = `The comment on #${number} of ${repository} was not written`;
	if (failure.kind === "answered" && failure.status === 403 && isLocked.test(failure.detail)) return `${what} because the conversation is locked (${failure.detail}): the result is in the job's summary.`;
	if (failure.kind === "answered" && [404, 410].includes(failure.status)) return `${what} because the pull request no longer exists on GitHub (${failure.detail}); the result itself is kept.`;
	return whyNotDone(what, failure, {
		again: "publish the result",
		permission: "give the job `permissions: pull-requests: write`, or, for a pull request from a fork, publish from a workflow_run job",
		otherwise: "; the result itself is kept"
	});
}
const isLocked = /\block(?:ed)?\b/i;

// src/forge/github/pull-request.ts
/** @param payload JSON of the file `GITHUB_EVENT_PATH`, for a `pull_request` or `pull_request_target` event */
function pullRequestFromEvent(eventName, payload) {
	const event = object({ pull_request: pullRequestDocument }).safeParse(payload);
	if (event.success) return found(event.data.pull_request);
	return {
		kind: "not-found",
		why: misread(`The payload of the ${eventName} event`, event.error)
	};
}
function pullRequestNumber(input) {
	const [, digits] = /^#?([1-9]\d{0,9})$/.exec(input.trim()) ?? [];
	return digits === void 0 ? void 0 : Number(digits);
}
/** @param repository `owner/name` */
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
async function pullRequestsWithHead(octokit, repository, headCommit) {
	const { owner, repo } = placeOf(repository);
	const list = () => octokit.paginate("GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls", {
		owner,
		repo,
		commit_sha: headCommit,
		per_page: 100
	});
	return openWithHead(await answered(list, `the pull requests with the head ${headCommit}`), headCommit);
}
/** Returns the pull request that merged a commit, if any. Throws if GitHub does not reply. */
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
	const documents = await answered(list, `the pull request of ${commit}`);
	const isHere = (name) => name.toLowerCase() === repository.toLowerCase();
	return documents.find(({ merged_at, base }) => merged_at !== null && isHere(base.repo.full_name))?.number;
}
/** Searches by the branch of a fork, as the repository itself may lack its commits. */
async function pullRequestsOfBranch(octokit, repository, head) {
	const { owner, repo } = placeOf(repository);
	const list = () => octokit.paginate("GET /repos/{owner}/{repo}/pulls", {
		owner,
		repo,
		state: "open",
		head: `${head.owner}:${head.branch}`,
		per_page: 100
	});
	return openWithHead(await answered(list, `the pull requests of ${head.owner}:${head.branch}`), head.commit);
}
function openWithHead(documents, headCommit) {
	return documents.filter(({ state }) => state === "open").flatMap((document) => pullRequestDocument.safeParse(document).data ?? []).map(found).filter(({ pullRequest }) => pullRequest.headCommit === headCommit);
}
/** `#7 and #9`. */
const numbersOf = (all) => all.map(({ pullRequest }) => `#${pullRequest.number}`).join(" and ");
async function mayWrite(octokit, repository, login) {
	const { owner, repo } = placeOf(repository);
	const permission = async () => {
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
	return ["admin", "write"].includes(await answered(permission, `the permissions of ${login}`));
}
async function answered(request, what) {
	try {
		return await request();
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		const why = `GitHub did not return ${what} (${failure.detail}): run the job again.`;
		throw new Error(why, { cause: error });
	}
}
/** Forty digits, or 64 in a repository that uses SHA-256. */
const commit = string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "expected a full commit ID");
/** Properties that events and the REST API have in common. */
const pullRequestDocument = object({
	number: id,
	title: line,
	html_url: url,
	/** Null if the account was deleted; GitHub then shows "ghost". */
	user: object({ login: word }).nullable(),
	base: object({
		ref: word,
		sha: commit,
		repo: object({ full_name: word })
	}),
	head: object({
		sha: commit,
		repo: object({ full_name: word }).nullable()
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
	return `${what} has an unexpected value at ${issue?.path.join(".") || "its top"}: ${issue?.message}.`;
}
function notFetched(failure, pullRequest) {
	if (failure.kind === "answered" && failure.status === 404) return {
		kind: "not-found",
		why: `There is no pull request ${pullRequest}, or the token cannot see it: check the number, and that the job has \`pull-requests: read\`.`
	};
	return {
		kind: "failed",
		why: `GitHub did not return the pull request ${pullRequest} (${failure.detail}): run the job again.`
	};
}

// src/forge/github/issue.ts
/** Without octokit's retries: after a lost response, GitHub would create a second one. Throws octokit's errors. */
async function createIssue({ octokit, repository }, { title, body, label }) {
	const { owner, repo } = placeOf(repository);
	const { data } = await octokit.request("POST /repos/{owner}/{repo}/issues", {
		owner,
		repo,
		title,
		body,
		labels: [label],
		request: { retries: 0 }
	});
	return id.parse(data.number);
}
/**
* Lists the open issues by `creator`, oldest first. GitHub lists a new one only after a while. Throws octokit's errors.
*/
async function openIssues({ octokit, repository }, creator) {
	return (await octokit.paginate("GET /repos/{owner}/{repo}/issues", {
		...placeOf(repository),
		creator,
		sort: "created",
		direction: "asc",
		per_page: 100
	})).filter((issue) => isOurs(issue, creator)).map(({ number, body }) => ({
		number,
		body: body ?? ""
	}));
}
async function readIssue({ octokit, repository }, number, creator) {
	const { owner, repo } = placeOf(repository);
	try {
		const { data } = await octokit.request("GET /repos/{owner}/{repo}/issues/{issue_number}", {
			owner,
			repo,
			issue_number: number
		});
		return isOurs(data, creator) ? data.body ?? "" : void 0;
	} catch (error) {
		if (isGone(githubFailure(error))) return void 0;
		throw error;
	}
}
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
/** True if the issue was deleted, or moved to a repository that the token cannot read. */
const isGone = (failure) => failure?.kind === "answered" && [404, 410].includes(failure.status);
/** Keeps the colour of an existing label. Throws octokit's errors. */
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
/** GitHub returns 422 for any invalid request; the code gives the reason. */
const isThereAlready = (error) => error instanceof Error && error.message.includes("already_exists");
/** Excludes pull requests, which are issues too, but never ours. */
const isOurs = ({ user, pull_request }, creator) => pull_request === void 0 && user?.login === creator;

// src/forge/github/artifact.ts
var import_yauzl = require_yauzl();
const artifactLimits = {
	zipBytes: 200 * 1024 ** 2,
	fileBytes: 16 * 1024 ** 2,
	files: 2e4,
	seconds: 300
};
/**
* Downloads a workflow run's newest artifact of this name; a re-run of its job adds another. Needs a token with
* `actions: read`. GitHub gets the token; the host that it redirects to does not.
*/
async function fetchArtifact(octokit, wanted, limits = artifactLimits) {
	try {
		const artifact = await newestArtifact(octokit, wanted);
		if (artifact === void 0) return none(`${called(wanted)} does not exist: check that the job that uploads it has run.`);
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
const tooLarge = (wanted, { zipBytes }) => `${called(wanted)} has more than ${zipBytes} bytes and was not fetched: upload only the work directory.`;
async function newestArtifact(octokit, wanted) {
	return (await octokit.paginate("GET /repos/{owner}/{repo}/actions/runs/{run_id}/artifacts", {
		...placeOf(wanted.repository),
		run_id: wanted.runId,
		name: wanted.name,
		per_page: 100
	})).filter(({ name }) => name === wanted.name).toSorted((a, b) => b.id - a.id).at(0);
}
/** Requests only the redirect: Octokit would follow it, and read a response of any size into memory. */
async function addressOf(octokit, wanted, id) {
	const { headers } = await octokit.request("GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}", {
		...placeOf(wanted.repository),
		artifact_id: id,
		archive_format: "zip",
		request: { redirect: "manual" }
	});
	return URL.parse(headers.location ?? "");
}
/** The address is itself a secret for a minute, so it is not logged in full. */
async function download(place, wanted, limits) {
	if (place === null || !isTrusted(place)) return refused(`${called(wanted)} was not fetched because GitHub returned no https address for it: check the address of the API.`);
	const again = "run the job again";
	const answer = await sendRequest(place, {
		answerSeconds: limits.seconds,
		maxBytes: limits.zipBytes
	});
	if (answer.kind === "no-answer") return failed(`${called(wanted)} was not fetched from ${place.host} (${answer.why}): ${again}.`);
	const { status, body } = answer;
	if (status !== 200) return failed(`${called(wanted)} was not fetched because ${place.host} answered ${status}: ${again}.`);
	return body === void 0 ? refused(tooLarge(wanted, limits)) : {
		kind: "fetched",
		bytes: body
	};
}
/** Allows plain HTTP only from this machine, for tests. */
const isTrusted = ({ protocol, hostname, username, password }) => (protocol === "https:" || protocol === "http:" && loopback.has(hostname)) && username === "" && password === "";
const loopback = /* @__PURE__ */ new Set(["127.0.0.1", "localhost"]);
const whyNot = (failure, wanted) => whyNotDone(`${called(wanted)} was not fetched`, failure, {
	again: "run the job",
	permission: "give the job `permissions: actions: read`",
	otherwise: ": check that the run and its artifact still exist"
});
function parseResult(text) {
	try {
		if (commas(text) > maxCommas) throw new RangeError(`more than ${maxCommas} values`);
		return {
			kind: "read",
			result: resultSchema.parse(JSON.parse(text))
		};
	} catch {
		return refused("The result.json of the artifact is not a result of this version of ppsgate: judge the patch again.");
	}
}
/** Exceeds any result of 16 MiB by ppsgate. */
const maxCommas = 5e5;
function commas(text) {
	let count = 0;
	for (const character of text) if (character === ",") count += 1;
	return count;
}
/**
* Reads the named files from a zip, as text; skips missing ones. They are at the top or in one folder; names with
* folders are relative to that. Reads only the names of all other entries. Writes nothing.
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
	const [reason] = reasonOf(error).split(/[.:]/);
	return refused(`The artifact is not a readable zip (${reason}): run its job again.`);
}
/** Size limit of all profiles of one result; the rest get no flamegraph. */
const maxProfileBytes = 64 * 1024 ** 2;
/** Profiles of each variant in each cell: about a hundred in the longest experiments. */
const maxProfiles = 500;
const tooManyBytes = `The profiles of the artifact have more than ${maxProfileBytes} bytes together: no flamegraphs are drawn for the rest.`;
/** Reads profiles below `folder`, in one pass over the zip. Reports each unreadable one to `leftOut`. */
async function profilesIn(zip, result, folder, leftOut = () => {}) {
	const paths = profilePaths(result);
	if (paths.length > maxProfiles) {
		leftOut(`The result names ${paths.length} profiles, but at most ${maxProfiles} are read: no flamegraphs are drawn.`);
		return [];
	}
	try {
		const archive = await (0, import_yauzl.fromBufferPromise)(zip, { decodeStrings: false });
		const entries = await entriesOf(archive, new Set(paths.map((path) => folder + path)), artifactLimits);
		let left = maxProfileBytes;
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
	if (archive.entryCount > files) throw new Refusal(`The artifact has ${archive.entryCount} files, but at most ${files} are read: upload only the work directory.`);
	const found = /* @__PURE__ */ new Map();
	for await (const entry of archive.eachEntry()) {
		const path = entry.fileNameRaw.toString();
		const name = names.has(path) ? path : nameOf(path);
		if (name === void 0 || !names.has(name)) continue;
		if (found.has(name)) throw new Refusal(`The artifact has several files ${name}, and it is unclear which one counts: upload one work directory.`);
		found.set(name, entry);
	}
	return found;
}
/** Drops the folder; undefined for a path that is deeper, or outside. */
function nameOf(path) {
	const parts = path.split("/");
	const [folder, name] = parts.length === 1 ? ["top", ...parts] : parts;
	return parts.length > 2 || [
		"",
		".",
		".."
	].includes(folder ?? "") ? void 0 : name;
}
async function textOf(member, maxBytes) {
	const { name, entry } = member;
	if (!isRegularFile(entry)) throw new Refusal(`The artifact's ${name} is not a regular file: upload the work directory unchanged.`);
	if (!entry.canDecodeFileData()) throw new Refusal(`The artifact's ${name} is encrypted, or not compressed with deflate: upload it with actions/upload-artifact.`);
	const content = await contentOf(member, maxBytes);
	if (content.length !== entry.uncompressedSize || crc32(content) !== entry.crc32) throw new Refusal(`The artifact's ${name} is damaged: run the job that uploads it again.`);
	if (!isUtf8(content)) throw new Refusal(`The artifact's ${name} is not UTF-8 text: judge the patch again.`);
	return content.toString();
}
/** Reads the type in st_mode(2), which zips made on Unix keep in the upper half; others keep nothing there. */
function isRegularFile({ externalFileAttributes }) {
	const type = externalFileAttributes >>> 16 & 61440;
	return type === 0 || type === 32768;
}
/** The entry claims its size, so inflating stops at the limit. */
async function contentOf({ archive, zip, name, entry }, maxBytes) {
	const { fileDataStart } = await archive.readLocalFileHeaderPromise(entry, { minimal: true });
	const packed = zip.subarray(fileDataStart, fileDataStart + entry.compressedSize);
	const tooMuch = `The artifact's ${name} has more than ${maxBytes} bytes, more than any result: it was not read.`;
	if (entry.compressionMethod === 0) {
		if (packed.length > maxBytes) throw new Refusal(tooMuch);
		return packed;
	}
	try {
		return inflateRawSync(packed, { maxOutputLength: maxBytes });
	} catch (error) {
		const isTooMuch = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
		throw new Refusal(isTooMuch ? tooMuch : `The artifact's ${name} is damaged: run the job that uploads it again.`);
	}
}
function agreesWith({ patch }, meant) {
	const place = meant.kind === "pull-request" ? ` of ${meant.repository}` : "";
	const called = meant.kind === "revision" ? `D${meant.number}:${meant.diff}` : `${patchName(meant)}${place}`;
	const isOf = (other) => `The result is of ${other}, not of ${called}: judge the patch again.`;
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
		return `The result of ${called} has ${judged} as its ${side} instead of ${current}: judge it again.`;
	}
}
const kindNames = {
	"pull-request": "a pull request",
	revision: "a revision",
	range: "a range of commits"
};
const withPatch = (result, patch) => ({
	...result,
	patch
});

export { agreesWith, createIssue, createOctokit, fetchArtifact, fetchPullRequest, findComment, githubFailure, isBreakdown, isGone, makeLabel, mayPassSoon, mayWrite, mergedAs, numbersOf, openIssues, ownLogin, parseResult, placeOf, profilesIn, publishComment, pullRequestFromEvent, pullRequestNumber, pullRequestsOfBranch, pullRequestsWithHead, readEntries, readIssue, replaceLabel, updateIssue, whyNotDone, withPatch };