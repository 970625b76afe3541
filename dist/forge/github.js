import { id, line, list, patchName, prose, reasonOf, resultSchema, url, word } from "../model.js";
import { ZodError, literal, object, string, union } from "../vendor/zod.js";
import { profiledCells, readProfiles } from "../analysis/profile.js";
import { require_yauzl } from "../vendor/yauzl.js";
import { once } from "node:events";
import { isIP } from "node:net";
import { isUtf8 } from "node:buffer";
import { TLSSocket, connect as connect$1 } from "node:tls";
import { crc32, inflateRawSync } from "node:zlib";
import { setTimeout as setTimeout$1 } from "node:timers/promises";

// src/system/certificate.ts
var PinError = class extends Error {
	certificate;
	constructor(certificate) {
		super("not the one that is pinned");
		this.certificate = certificate;
	}
};
/** Closes the socket and returns the error for any other certificate. */
function verifyPin(socket, sha256) {
	const certificate = socket.getPeerX509Certificate();
	if (sha256Of(certificate) === sha256) return void 0;
	socket.destroy();
	return new PinError(certificate);
}
const sha256Of = (certificate) => certificate?.fingerprint256.replaceAll(":", "").toLowerCase() ?? "";
/** Accepts every certificate. The caller must verify it before it sends anything. */
function connectUnverified({ hostname, port }, certificates, signal) {
	const host = hostname.replace(/^\[|\]$/g, "");
	const socket = connect$1({
		...certificates,
		host,
		port: Number(port || 443),
		...isIP(host) === 0 && { servername: host },
		rejectUnauthorized: false
	});
	const stop = () => socket.destroy(signal.reason);
	signal.addEventListener("abort", stop);
	socket.once("close", () => signal.removeEventListener("abort", stop));
	return socket.on("error", () => {});
}
/**
* Describes the certificate that `error` refers to. Opens a second connection to read it: Node has dropped most of it
* by then.
*/
async function describeDistrust(error, url, trust, signal) {
	const certificate = error instanceof PinError ? error.certificate : await readCertificate(url, trust, signal);
	const names = namesOf(error);
	const found = (fault, what) => ({
		fault,
		shown: `a certificate ${what}`,
		reason: reasonOf(error),
		names,
		sha256: sha256Of(certificate)
	});
	if (error instanceof PinError) return found("pin", "that is not the one that is pinned");
	const code = error instanceof Error && "code" in error ? String(error.code) : "";
	if (unsigned.test(code)) return found("authority", `${"ca" in trust && trust.ca !== void 0 ? "that the authority of `ca` has not signed" : "that no authority trusted by this machine has signed"} (${code})`);
	if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return found("name", `for ${names.replace(/\b(?:DNS|IP Address):/g, "").slice(0, mostNamesLength)}, and not for ${url.hostname} (${code})`);
	if (code === "CERT_HAS_EXPIRED" || code === "CERT_NOT_YET_VALID") return found("time", `${goodWhen(certificate)} (${code})`);
	return found("other", `that is no good: ${reasonOf(error)} (${code})`);
}
const unsigned = /^(?:UNABLE_TO_(?:GET_ISSUER|VERIFY)|DEPTH_ZERO_SELF|SELF_SIGNED|CERT_UNTRUSTED)/;
const mostNamesLength = 200;
const namesOf = (error) => error.cert?.subjectaltname || "no name at all";
function goodWhen(certificate) {
	const now = /* @__PURE__ */ new Date();
	if (certificate !== void 0) {
		const [from, until] = [new Date(certificate.validFrom), new Date(certificate.validTo)];
		if (until < now) return `that was good until ${dayOf(until)}`;
		if (from > now) return `that is good from ${dayOf(from)} on`;
	}
	return "whose authority’s is not good today";
}
const dayOf = (date) => date.toISOString().replace(/T(.{5}).*/, " $1 UTC");
async function readCertificate(url, trust, signal) {
	const socket = connectUnverified(url, "pinnedSha256" in trust ? {} : trust, signal);
	try {
		await once(socket, "secureConnect", { signal });
		return socket.getPeerX509Certificate();
	} catch {
		return;
	} finally {
		socket.destroy();
	}
}

// src/system/http.ts
/** Sends one request over a new connection; never rejects. Follows no redirect, which could pass credentials on. */
const sendRequest = (url, request) => exchange(url, request, { trust: request.trust ?? {} });
function openHttpClient(certificates) {
	let agents;
	return {
		async send(url, request) {
			agents ??= openAgents(certificates);
			return exchange(url, request, {
				trust: certificates,
				...await agents
			});
		},
		close() {
			agents?.then(({ http, https }) => {
				http.destroy();
				https.destroy();
			});
		}
	};
}
async function openAgents(certificates) {
	const { http, https } = await modules();
	return {
		http: new http.Agent({ keepAlive: true }),
		https: new https.Agent({
			keepAlive: true,
			...certificates
		})
	};
}
/** Imported by the first request: it loads Node's whole fetch, a tenth of a command's start-up time. */
async function modules() {
	const [http, https] = await Promise.all([import("node:http"), import("node:https")]);
	return {
		http: http.default,
		https: https.default
	};
}
async function exchange(url, request, connections) {
	const { answerSeconds, mostBytes, onLine, signal } = request;
	const limit = startLimit(answerSeconds);
	const end = AbortSignal.any([limit.signal, ...signal === void 0 ? [] : [signal]]);
	let sent;
	let wasSent = () => false;
	const stop = () => sent?.destroy();
	try {
		const target = new URL(url);
		const loaded = await modules();
		end.throwIfAborted();
		sent = begin(loaded, target, request, connections, end);
		end.addEventListener("abort", stop);
		wasSent = watchSending(sent, target, connections);
		const response = (await once(sent, "response", { signal: end }))[0];
		const { statusCode: status = 0, statusMessage: statusText = "", headersDistinct } = response;
		const headers = /* @__PURE__ */ new Map();
		for (const [name, values = []] of Object.entries(headersDistinct)) headers.set(name, values.join(", "));
		const answered = {
			kind: "answered",
			status,
			statusText,
			headers
		};
		if (onLine === void 0 || status !== 200) return {
			...answered,
			body: await bytesWithin(mostBytes, response)
		};
		limit.clear();
		for await (const line of linesOf(response, mostBytes)) onLine(line);
		return {
			...answered,
			body: Buffer.of()
		};
	} catch (error) {
		const failed = {
			kind: "no-answer",
			code: codeOf(error),
			wasSent: wasSent()
		};
		if (limit.signal.aborted && signal?.aborted !== true) {
			const why = `no whole answer within ${answerSeconds} s`;
			return {
				...failed,
				why,
				code: "",
				lateSeconds: answerSeconds
			};
		}
		if (!isDistrust(sent, error)) return {
			...failed,
			why: reasonOf(error)
		};
		const distrust = await describeDistrust(error, new URL(url), connections.trust, end);
		return {
			...failed,
			why: `it shows ${distrust.shown}`,
			distrust
		};
	} finally {
		end.removeEventListener("abort", stop);
		limit.clear();
	}
}
function startLimit(seconds) {
	const limit = new AbortController();
	let isCleared = false;
	const abort = () => isCleared || limit.abort();
	const timer = setTimeout(() => setImmediate(abort), seconds * 1e3);
	return {
		signal: limit.signal,
		clear() {
			isCleared = true;
			clearTimeout(timer);
		}
	};
}
const codeOf = (error) => error instanceof Error && "code" in error ? String(error.code) : "";
const isDistrust = (sent, error) => error instanceof PinError || sent?.socket instanceof TLSSocket && Boolean(sent.socket.authorizationError);
function begin(loaded, url, request, connections, end) {
	const { method, headers, body, connectSeconds = 10 } = request;
	const { trust, http, https } = connections;
	const isSecure = url.protocol === "https:" || "pinnedSha256" in trust;
	const agent = isSecure ? https : http;
	const options = {
		method,
		agent,
		headers: {
			"user-agent": "ppsgate",
			...body instanceof URLSearchParams && { "content-type": "application/x-www-form-urlencoded" },
			...headers,
			...agent === void 0 && { connection: "close" }
		}
	};
	const sent = isSecure ? loaded.https.request(url, {
		...options,
		...trustOptions(url, trust, end)
	}) : loaded.http.request(url, options);
	sent.on("error", () => {});
	if (!("pinnedSha256" in trust) && connectSeconds < request.answerSeconds) limitConnecting(sent, connectSeconds);
	return sent.end(body?.toString());
}
function trustOptions(url, trust, end) {
	if (!("pinnedSha256" in trust)) return trust;
	return { 
	/** Returns the connection once its certificate is verified; Node sends nothing earlier. */
createConnection(_, created) {
		const socket = connectUnverified(url, {}, end);
		const settle = (error) => created(error ?? null, socket);
		socket.once("error", settle);
		socket.once("secureConnect", () => {
			socket.off("error", settle);
			settle(verifyPin(socket, trust.pinnedSha256));
		});
	} };
}
const noConnection = "NO_CONNECTION";
function limitConnecting(sent, seconds) {
	const late = Object.assign(/* @__PURE__ */ new Error(`no connection within ${seconds} s`), { code: noConnection });
	const timer = setTimeout(() => sent.destroy(late), seconds * 1e3);
	const stop = () => clearTimeout(timer);
	sent.once("close", stop);
	sent.once("socket", (socket) => {
		if (socket.connecting) socket.once("connect", stop);
		else stop();
	});
}
/** The request is sent only after the connection is open and, for HTTPS, its certificate verified. */
function watchSending(sent, { protocol }, { trust }) {
	let wasSent = false;
	const send = () => {
		wasSent = true;
	};
	sent.once("socket", (socket) => {
		if (sent.reusedSocket || "pinnedSha256" in trust) send();
		else socket.once(protocol === "https:" ? "secureConnect" : "connect", send);
	});
	return () => wasSent;
}
/** Returns undefined and closes the stream beyond that many bytes, even if the server announced fewer. */
async function bytesWithin(mostBytes, stream) {
	const chunks = [];
	let bytes = 0;
	for await (const chunk of stream) {
		bytes += chunk.length;
		if (bytes > mostBytes) return void 0;
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}
async function* linesOf(response, mostBytes) {
	let rest = "";
	for await (const chunk of response.setEncoding("utf8")) {
		const lines = (rest + chunk).split("\n");
		rest = lines.pop() ?? "";
		if (rest.length > mostBytes) throw new Error(`more than ${mostBytes} bytes in a line`);
		yield* lines;
	}
}
/**
* Limits the time of Node's fetch for the whole response, and reads the body itself. Octokit treats a truncated body as
* empty, and an empty list of comments would make it write a second comment.
*/
const fetchWithin = (seconds) => async (input, init) => {
	const response = await fetch(input, {
		...init,
		signal: AbortSignal.timeout(seconds * 1e3)
	});
	await response.clone().arrayBuffer();
	return response;
};

// src/forge/github/client.ts
/** Longest wait for a rate limit, in seconds, and number of waits per request. */
const longestWait = 60;
const mostWaits = 2;
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
		if (seconds > longestWait || waits >= mostWaits) return false;
		log.info(`GitHub's rate limit is reached: going on in ${seconds} s.`);
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
/** Undefined for errors that are not octokit's, which are bugs of ppsgate. */
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
/** GitHub or the network failed: the request may have been carried out, and a retry may help. */
const isBreakdown = (failure) => failure?.kind === "no-answer" || failure?.kind === "answered" && failure.status >= 500;
/** True for a failure of GitHub or the network, or a rate limit: each may end within an hour. */
const mayPassSoon = (failure) => isBreakdown(failure) || failure?.kind === "rate-limited";
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
	const { marker, pause = (seconds) => setTimeout$1(seconds * 1e3) } = options;
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
const mostTries = 4;
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
		if (tries === mostTries || !isBreakdown(githubFailure(error))) throw error;
		await thread.pause(tries ** 2);
	}
	return putComment(thread, compose, {
		tries: tries + 1,
		lost: kind
	});
}
/** False if another gate was faster: its comment becomes ours. */
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
	return openWithHead(await answered(list, `which pull requests have ${headCommit}`), headCommit);
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
	const documents = await answered(list, `which pull request ${commit} was`);
	const isHere = (name) => name.toLowerCase() === repository.toLowerCase();
	return documents.find(({ merged_at, base }) => merged_at !== null && isHere(base.repo.full_name))?.number;
}
/** Searches by the branch of a fork: the repository itself may lack its commits. */
async function pullRequestsOfBranch(octokit, repository, head) {
	const { owner, repo } = placeOf(repository);
	const list = () => octokit.paginate("GET /repos/{owner}/{repo}/pulls", {
		owner,
		repo,
		state: "open",
		head: `${head.owner}:${head.branch}`,
		per_page: 100
	});
	return openWithHead(await answered(list, `which pull requests ${head.owner}:${head.branch} has`), head.commit);
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
	return ["admin", "write"].includes(await answered(permission, `what ${login} may do`));
}
async function answered(request, what) {
	try {
		return await request();
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		const why = `GitHub did not tell ${what} (${failure.said}): run the job again.`;
		throw new Error(why, { cause: error });
	}
}
/** Forty digits, or 64 in a repository that uses SHA-256. */
const commit = string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "expected a full commit id");
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
* Creates an issue, without a second try if the response is lost: GitHub would create a second one. So octokit's
* retries are off, except for a rate limit, after which GitHub has done nothing.
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
			number: id.parse(data.number)
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
/** A proxy's 408 leaves open if GitHub carried out the request. */
const isRefusal = (failure) => failure.kind === "rate-limited" || failure.kind === "answered" && failure.status >= 400 && failure.status < 500 && failure.status !== 408;
/**
* Returns the number of the oldest issue, open or closed, by `creator` whose text begins with the marker. Undefined if
* GitHub lists none, as for some time after its creation. Throws octokit's errors.
*
* @param search.since earliest time of its creation.
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
/** GitHub rejects fractions of seconds. */
const isoSeconds = (date) => date.toISOString().replace(/\.\d+/, "");
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
/** Deleted, or moved to a repository that the token cannot read. */
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
/** Pull requests are issues too, but never ours. */
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
* Downloads a workflow run's newest artifact of this name; a re-run of its job adds another. Needs a token with
* `actions: read`. GitHub gets the token; the host that it redirects to does not.
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
/** Allows plain HTTP only from this machine, for tests. */
const isTrusted = ({ protocol, hostname, username, password }) => (protocol === "https:" || protocol === "http:" && loopback.has(hostname)) && username === "" && password === "";
const loopback = /* @__PURE__ */ new Set(["127.0.0.1", "localhost"]);
const whyNot = (failure, wanted) => whyNotDone(`${called(wanted)} was not fetched`, failure, {
	again: "run the job",
	permission: "give the job `permissions: actions: read`",
	otherwise: ": look whether the run and its artifact are still there"
});
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
/** More than any result of 16 MiB by ppsgate has. */
const mostCommas = 5e5;
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
	const [said] = reasonOf(error).split(/[.:]/);
	return refused(`The artifact is no zip that can be read (${said}): run its job again.`);
}
/** Size limit of all profiles of one result; further ones get no flamegraph. */
const mostProfileBytes = 64 * 1024 ** 2;
/** Profiles of each variant in each cell: about a hundred in the longest experiments. */
const mostProfiles = 500;
const tooManyBytes = `The profiles of the artifact have more than ${mostProfileBytes} bytes together: of the rest no flamegraphs are drawn.`;
/** Reads profiles below `folder`, in one pass over the zip. Reports each unreadable one to `leftOut`. */
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
async function textOf(member, mostBytes) {
	const { name, entry } = member;
	if (!isRegularFile(entry)) throw new Refusal(`The artifact's ${name} is no regular file: upload the work directory as it is.`);
	if (!entry.canDecodeFileData()) throw new Refusal(`The artifact's ${name} is encrypted, or packed in a way other than deflate: upload it with actions/upload-artifact.`);
	const content = await contentOf(member, mostBytes);
	if (content.length !== entry.uncompressedSize || crc32(content) !== entry.crc32) throw new Refusal(`The artifact's ${name} is damaged: run the job that uploads it again.`);
	if (!isUtf8(content)) throw new Refusal(`The artifact's ${name} is no UTF-8 text: judge the patch again.`);
	return content.toString();
}
/** Reads the type in st_mode(2), which zips made on Unix keep in the upper half; others keep nothing there. */
function isRegularFile({ externalFileAttributes }) {
	const type = externalFileAttributes >>> 16 & 61440;
	return type === 0 || type === 32768;
}
/** The entry claims its size, so inflating stops at the limit. */
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
const withPatch = (result, patch) => ({
	...result,
	patch
});

export { agreesWith, createIssue, createOctokit, fetchArtifact, fetchPullRequest, findComment, findIssue, githubFailure, isBreakdown, isGone, makeLabel, mayPassSoon, mayWrite, mergedAs, noConnection, numbersOf, openHttpClient, ownLogin, parseResult, placeOf, profilesIn, publishComment, pullRequestFromEvent, pullRequestNumber, pullRequestsOfBranch, pullRequestsWithHead, readEntries, readIssue, replaceLabel, sendRequest, updateIssue, whyNotDone, withPatch };