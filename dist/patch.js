import { array, boolean, discriminatedUnion, int, literal, object, preprocess, record, string, union, unknown, url } from "./vendor/zod.js";
import { UsageError, didYouMean, excerpt, families, oneLine as oneLine$1, readSecret, reasonOf, shortened } from "./config.js";
import { require_fastest_levenshtein } from "./vendor/fastest-levenshtein.js";
import { execFile } from "node:child_process";
import { join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { setTimeout } from "node:timers/promises";

// src/patch/conduit.ts
/** What went wrong between us and a Phabricator, in a sentence that names the server and the method, and never the token. */
var ConduitError = class extends Error {
	name = "ConduitError";
	kind;
	/** Conduit's own, like ERR-CONDUIT-CORE; absent for what is not Conduit's. */
	code;
	constructor(kind, message, code) {
		super(message);
		this.kind = kind;
		if (code !== void 0) this.code = code;
	}
};
/** A map as PHP writes it, whose empty ones are empty lists. */
const mapOf = (value) => preprocess((map) => Array.isArray(map) && map.length === 0 ? {} : map, record(string(), value));
/** How long the first waits are, in seconds; after the last of them Conduit is given up. */
const pausesSeconds = [
	1,
	2,
	5,
	10,
	30
];
/** The longest that a server is waited for because it asks for it. */
const longestPauseSeconds = 120;
/** Throws a `ConduitError` where the token would be readable on its way, or is none. */
function openConduit(options) {
	const { url, token, log, signal = new AbortController().signal, pause = realPause } = options;
	refuseUnsafe(url, token);
	const call = async (method, params, schema) => {
		for (let tries = 0;; tries += 1) {
			const outcome = await ask({
				answerSeconds: 60,
				...options,
				signal
			}, method, params);
			if (outcome.kind === "answered") return parsed(schema, outcome.result, method, options);
			const seconds = Math.max(pausesSeconds[tries] ?? Number.POSITIVE_INFINITY, outcome.retryAfterSeconds ?? 0);
			if (!mayAskAgain(outcome, method) || seconds > longestPauseSeconds || signal.aborted) throw errorOf(outcome, method, options);
			if (seconds > 2) log.info(`${url} could not do ${method} (${said(outcome.why, token)}): trying again in ${seconds} s.`);
			await pause(seconds, signal);
		}
	};
	return {
		url,
		call,
		search: searchBy(call, url)
	};
}
/** Resolves, where node's own rejects, when the signal is aborted. */
const realPause = (seconds, signal) => setTimeout(seconds * 1e3, void 0, { signal }).catch(() => {});
function refuseUnsafe(url, token) {
	const { protocol, hostname } = new URL(url);
	if (protocol !== "https:" && !(protocol === "http:" && loopback.test(hostname))) throw new ConduitError("refused", `The Conduit token is not sent to ${url}, for everybody on the way could read it: use the server's https address.`);
	if (!/^[\w-]{1,200}$/.test(token)) throw new ConduitError("refused", `The Conduit token for ${url} is empty, or has more in it than letters, digits and hyphens: copy it from the bot's settings there, under Conduit API Tokens.`);
}
const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;
async function ask({ url, token, signal, answerSeconds }, method, params) {
	if (signal.aborted) return {
		kind: "busy",
		why: "it was cancelled"
	};
	try {
		const response = await fetch(`${url}/api/${method}`, {
			method: "POST",
			headers: {
				"content-type": "application/x-www-form-urlencoded",
				"user-agent": "ppsgate",
				connection: "close"
			},
			body: new URLSearchParams({ params: asJson({
				...params,
				__conduit__: { token }
			}) }),
			redirect: "manual",
			signal: AbortSignal.any([signal, AbortSignal.timeout(answerSeconds * 1e3)])
		});
		if (response.status === 200) return await readAnswer(response);
		await response.body?.cancel();
		return otherStatus(response);
	} catch (error) {
		if (signal.aborted) return {
			kind: "lost",
			why: "it was cancelled"
		};
		return noAnswer(error, answerSeconds);
	}
}
/** PHP takes no half of a surrogate pair, which a text that was cut somewhere may end in. */
const asJson = (params) => JSON.stringify(params, (_key, value) => typeof value === "string" ? value.toWellFormed() : value);
const mostBytes$1 = 32 * 1024 ** 2;
const envelope = object({
	result: unknown(),
	error_code: string().nullable(),
	error_info: string().nullable()
});
async function readAnswer(response) {
	const type = response.headers.get("content-type") ?? "no content type";
	if (!/^application\/json\b/i.test(type)) {
		await response.body?.cancel();
		return unreadable(`it answered ${type} instead of JSON`);
	}
	const bytes = await bytesOf(response);
	if (bytes === void 0) return {
		kind: "unreadable",
		why: `it answered with more than ${mostBytes$1} bytes`,
		advice: "nothing as large is taken"
	};
	const answer = envelope.safeParse(jsonIn(bytes));
	if (!answer.success) return unreadable("it answered JSON that is not from Conduit");
	const { result, error_code: code, error_info: info } = answer.data;
	return code === null ? {
		kind: "answered",
		result
	} : failureNamed(code, info ?? "no reason");
}
const unreadable = (why) => ({
	kind: "unreadable",
	why,
	advice: "look whether this is the address of a Phabricator, and whether a proxy answers for it"
});
/** Undefined for too many: the connection is then closed. */
async function bytesOf({ body }) {
	const chunks = [];
	let bytes = 0;
	for await (const chunk of body ?? []) {
		bytes += chunk.length;
		if (bytes > mostBytes$1) return void 0;
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}
function jsonIn(bytes) {
	try {
		return JSON.parse(bytes.toString());
	} catch {
		return;
	}
}
function failureNamed(code, info) {
	const why = `${code}: ${info}`;
	if (code === "ERR-CONDUIT-CORE" && /\bread-only mode\b/.test(info)) return {
		kind: "busy",
		why,
		code
	};
	return {
		kind: "refused",
		why,
		code,
		advice: adviceOn(code, info)
	};
}
function adviceOn(code, info) {
	if (["ERR-INVALID-AUTH", "ERR-INVALID-SESSION"].includes(code)) return "look whether the Conduit token is whole, and whether its account may use the API";
	if (["ERR_NOT_FOUND", "ERR-INVALID-OBJECT-PHID"].includes(code) || /does not identify a valid object|You Shall Not Pass/.test(info)) return "it is not there, or not for the account of the Conduit token to see or edit, which Phabricator does not tell apart";
	return code === "ERR-CONDUIT-CALL" ? otherVersion : void 0;
}
const otherVersion = "the server is of a version that ppsgate does not know";
function otherStatus({ status, statusText, headers }) {
	const why = `${status} ${statusText}`.trim();
	const retryAfter = /^\d{1,9}$/.exec(headers.get("retry-after") ?? "")?.[0];
	const patience = retryAfter === void 0 ? {} : { retryAfterSeconds: Number(retryAfter) };
	if (status === 429) return {
		kind: "busy",
		why,
		...patience
	};
	if (status === 500) return {
		kind: "lost",
		why: `${why}, as it also answers where it does not know the name that it is called by`,
		...patience
	};
	if (status > 500) return {
		kind: "lost",
		why,
		...patience
	};
	if (status >= 300 && status < 400) return {
		kind: "refused",
		why: `${why} to ${headers.get("location") ?? "nowhere"}`,
		advice: "the token is not sent after it, so write down the address that the server has now"
	};
	return {
		kind: "refused",
		why,
		advice: "look whether the address is right, and whether a proxy stands before it"
	};
}
function noAnswer(error, answerSeconds) {
	if (error instanceof Error && error.name === "TimeoutError") return {
		kind: "lost",
		why: `no whole answer within ${answerSeconds} s`
	};
	const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
	const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
	return {
		kind: beforeSending.test(code) ? "busy" : "lost",
		why: reasonOf(cause)
	};
}
/** Of node's errors, those where there was no connection yet, and those about the server's certificate. */
const beforeSending = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$|CERT|SELF_SIGNED|UNABLE_TO_VERIFY/;
/** What only reads can be asked for as often as one likes. */
const isRead = (method) => /\.(?:search|query\w*|get\w*|lookup|whoami|ping)$/.test(method);
const mayAskAgain = ({ kind }, method) => kind === "busy" || kind === "lost" && isRead(method);
function errorOf(outcome, method, server) {
	const kind = isRead(method) ? kinds[outcome.kind].ofRead : kinds[outcome.kind].ofWrite;
	const { did, otherwise } = words[kind];
	const { why, advice = otherwise, code } = outcome;
	const sentence = `${server.url} ${did} ${method} (${said(why, server.token)}): ${advice}.`;
	return new ConduitError(kind, sentence, code);
}
const kinds = {
	refused: {
		ofRead: "refused",
		ofWrite: "refused"
	},
	busy: {
		ofRead: "busy",
		ofWrite: "busy"
	},
	lost: {
		ofRead: "busy",
		ofWrite: "unsure"
	},
	unreadable: {
		ofRead: "refused",
		ofWrite: "unsure"
	}
};
const words = {
	refused: {
		did: "refused",
		otherwise: "correct what it names"
	},
	busy: {
		did: "could not do",
		otherwise: "try again later"
	},
	unsure: {
		did: "may or may not have done",
		otherwise: "look there before it is tried again"
	}
};
/** On one line, of a readable length. Whoever presents a token that is not valid gets to read it in the answer. */
function said(text, token) {
	const line = reasonOf(text.replaceAll(token, "(token)").replace(/\b(?:api|cli|clr)-\w+/gi, "(token)"));
	return line.length <= 300 ? line : `${line.slice(0, 300)}…`;
}
function parsed(schema, result, method, server) {
	const answer = schema.safeParse(result);
	if (answer.success) return answer.data;
	const [issue] = answer.error.issues;
	throw errorOf({
		kind: "unreadable",
		why: `it answered something else at ${issue?.path.join(".") || "the top"}: ${issue?.message}`,
		advice: otherVersion
	}, method, server);
}
/** What a page holds at most. */
const pageItems = 100;
const mostPages = 200;
const mostBeginnings = 4;
function searchBy(call, url) {
	return async (method, params, item, most = Number.POSITIVE_INFINITY) => {
		const page = object({
			data: array(item),
			cursor: object({ after: string().nullable() })
		});
		const limit = Math.min(pageItems, most);
		const pageAfter = (row) => call(method, {
			...params,
			limit,
			...row !== null && { after: row }
		}, page);
		let items = [];
		let after = null;
		let beginnings = 1;
		for (let pages = 0; pages < mostPages; pages += 1) {
			try {
				const { data, cursor } = await pageAfter(after);
				items.push(...data);
				after = cursor.after;
			} catch (error) {
				if (after === null || !isAboutCursor(error) || beginnings === mostBeginnings) throw error;
				beginnings += 1;
				items = [];
				after = null;
				continue;
			}
			if (after === null || items.length >= most) return items.slice(0, most);
		}
		throw new ConduitError("refused", `${url} has more than ${mostPages} pages for ${method}: nothing as large is taken.`);
	};
}
/** The first page was answered, so what is wrong with another is the row that it names: deleted, or hidden meanwhile. */
const isAboutCursor = (error) => error instanceof ConduitError && error.code === "ERR-CONDUIT-CORE" && error.kind === "refused";

// src/patch/patch.ts
const commitId = string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/, "a full commit id");
const pullRequest = object({
	kind: literal("pull-request"),
	/** `owner/name` of the repository that the pull request wants to change. */
	repository: string(),
	number: int().positive(),
	title: string(),
	author: string(),
	url: url(),
	/** The branch that it goes to; absent in results from before this was recorded. */
	baseBranch: string().optional(),
	baseCommit: commitId,
	headCommit: commitId
});
const revision = object({
	kind: literal("revision"),
	/** Of Phabricator, without a slash at its end. */
	server: url(),
	/** 27401 of D27401. */
	number: int().positive(),
	/** Its id, which is another one for whatever the author sends. */
	diff: int().positive(),
	title: string(),
	/** User name on Phabricator. */
	author: string(),
	url: url(),
	baseCommit: commitId,
	/** Made from the diff: the same from the same, see `commitDiff` of repository.ts. */
	headCommit: commitId,
	/** Diffs of the revision that are measured beside it for comparison, the oldest first. */
	earlier: array(object({
		diff: int().positive(),
		headCommit: commitId
	})),
	/** Sentences for the report: how the base was found, what was left out. */
	notes: array(string())
});
const range = object({
	kind: literal("range"),
	title: string(),
	author: string(),
	baseCommit: commitId,
	headCommit: commitId
});
const patchSchema = discriminatedUnion("kind", [
	pullRequest,
	revision,
	range
]);
/** How people call the patch: `#123`, `D27401`, or `1a2b3c4..5d6e7f8`. */
function patchName(patch) {
	switch (patch.kind) {
		case "pull-request": return `#${patch.number}`;
		case "revision": return `D${patch.number}`;
		case "range": return `${patch.baseCommit.slice(0, 7)}..${patch.headCommit.slice(0, 7)}`;
	}
}

// src/patch/github-error.ts
var import_fastest_levenshtein = require_fastest_levenshtein();
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

// src/patch/command.ts
const typed = string().max(500).optional();
/** What is asked of one gate instead of what ppsgate.yml says, as typed; see `Overrides`. */
const askSchema = object({
	scenarios: typed,
	families: typed,
	margin: typed,
	maxRuns: typed,
	/** `on`, `off` or a window; see `Overrides`. */
	profile: typed,
	/** A wish; see `parseWish`. */
	testbed: typed,
	/** Of a Phabricator revision; see `parseEarlier`. */
	earlier: typed
});
/** How comments call ppsgate on GitHub. */
const callOnGithub = "/ppsgate";
/** The same on Phabricator, where a line that begins with a slash is nothing special. */
const callOnPhabricator = "@ppsgate";
/**
* The command of a comment, which is its first line and begins with `call`; undefined where a comment is none. Whether
* there is such a scenario, testbed or margin is for the configuration to say.
*/
function parseCommand(comment, call = callOnGithub) {
	const [line = ""] = comment.trimStart().split(/\r?\n/, 1);
	const [first, ...words] = wordsOf(line.slice(0, longestCommand));
	if (first !== call) return void 0;
	const [verb = "help", ...rest] = words;
	const mistaken = (what, nearest) => ({
		kind: "mistaken",
		why: `${what}; write ${call} ${nearest}`
	});
	switch (verb) {
		case "help":
		case "cancel":
			if (rest.length === 0) return { kind: verb };
			return mistaken(`${verb} takes nothing more, found "${excerpt(rest.join(" "))}"`, verb);
		case "run":
		case "rerun":
		case "extend": {
			const read = readArguments(verb, rest, call);
			return read.kind === "mistaken" ? mistaken(read.what, read.nearest) : read;
		}
		default: return mistaken(`there is no command "${excerpt(verb)}"`, nearestVerb(verb));
	}
}
/** Two letters swapped are two edits. */
function nearestVerb(word) {
	const nearest = (0, import_fastest_levenshtein.closest)(word.toLowerCase(), verbs);
	return (0, import_fastest_levenshtein.distance)(word.toLowerCase(), nearest) <= 2 ? nearest : "help";
}
const verbs = [
	"run",
	"rerun",
	"extend",
	"cancel",
	"help"
];
/** Nobody types more, and nobody has to read more. */
const longestCommand = 500;
/** Separated by blanks, but for those in double quotes: `testbed="mellanox and 40G"` is one. */
const wordsOf = (line) => (line.match(/(?:"[^"]*"|\S)+/g) ?? []).map((word) => word.replaceAll("\"", ""));
/** What `run` is told as `key=value`, and what it becomes. */
const keys = {
	margin: "margin",
	runs: "maxRuns",
	profile: "profile",
	testbed: "testbed",
	earlier: "earlier"
};
const isKey = (text) => Object.hasOwn(keys, text);
const usual = {
	run: [
		"margin",
		"runs",
		"profile",
		"testbed"
	],
	rerun: [],
	extend: ["runs"]
};
/** Which of the keys a command takes, and how the head is named. */
const grammars = {
	[callOnGithub]: {
		keysOf: usual,
		head: /^[0-9a-f]{7,64}$/
	},
	[callOnPhabricator]: {
		keysOf: {
			...usual,
			run: [...usual.run, "earlier"]
		},
		head: /^[1-9]\d{0,8}$/
	}
};
function readArguments(verb, words, call) {
	const { keysOf, head } = grammars[call];
	const known = keysOf[verb];
	const values = {};
	const named = [];
	const found = [];
	let namedHead;
	const mistaken = (what, nearest = verb) => ({
		kind: "mistaken",
		what,
		nearest
	});
	for (const word of words) {
		const [, key, value = ""] = /^([^=]+)=(.*)$/.exec(word) ?? [];
		if (key !== void 0) {
			const [, meant] = /`(.+)`/.exec(didYouMean(key, known)) ?? [];
			const nearest = meant === void 0 ? verb : `${verb} ${meant}=${excerpt(value)}`;
			if (!known.includes(key) || !isKey(key)) return mistaken(`${verb} takes no "${excerpt(key)}"`, nearest);
			if (value === "") return mistaken(`${key} has no value`, `${verb} ${key}=${examples[key]}`);
			if (values[key] !== void 0) return mistaken(`${key} is there twice`);
			values[key] = value;
		} else if (head.test(word) && namedHead === void 0) namedHead = word;
		else if (verb !== "run" || !/^[a-z][\w.-]*$/i.test(word)) return mistaken(`${verb} takes no "${excerpt(word)}"`);
		else if (word === "profile") values.profile ??= "on";
		else if (families.some((family) => family === word)) named.push(word);
		else found.push(word);
	}
	const of = headNamed(namedHead, call);
	if (verb === "rerun") return {
		kind: verb,
		...of
	};
	const maxRuns = values.runs === void 0 ? {} : { maxRuns: values.runs };
	if (verb === "extend") return {
		kind: verb,
		...maxRuns,
		...of
	};
	return {
		kind: verb,
		ask: {
			...maxRuns,
			...found.length > 0 && { scenarios: found.join(",") },
			...named.length > 0 && { families: named.join(",") },
			...values.margin !== void 0 && { margin: values.margin },
			...values.profile !== void 0 && { profile: values.profile },
			...values.testbed !== void 0 && { testbed: values.testbed },
			...values.earlier !== void 0 && { earlier: values.earlier }
		},
		...of
	};
}
function headNamed(text, call) {
	if (text === void 0) return {};
	return call === "/ppsgate" ? { commit: text } : { diff: Number(text) };
}
const examples = {
	margin: "1%",
	runs: "20",
	profile: "on",
	testbed: "chelsio",
	earlier: "all"
};

// src/patch/phabricator-login.ts
const tokenVariable = "PPSGATE_CONDUIT_TOKEN";
/** Throws a `UsageError` where the configuration has none. */
function phabricatorOf({ phabricator }) {
	if (phabricator !== void 0) return phabricator;
	throw new UsageError("ppsgate.yml has no `phabricator`: write at least `phabricator: { url: https://reviews.example.org }` there.");
}
/** Throws a `UsageError` where there is no token. */
async function openPhabricator({ url, tokenPath }, options) {
	const place = {
		what: "The Conduit token",
		path: tokenPath,
		variable: tokenVariable
	};
	return openConduit({
		...options,
		url,
		token: await readSecret(place)
	});
}

// src/build/diff.ts
/**
* Reads a unified diff with the prefixes `a/` and `b/`, as git-diff(1) or diff(1) -u makes it, with or
* without a message before it. Bytes and not text, for sources may be in Latin-1.
*/
function checkDiff(diff) {
	try {
		return accept(diff);
	} catch (error) {
		if (error instanceof Refusal) return {
			kind: "refused",
			reason: error.message
		};
		throw error;
	}
}
/** What tells `isAsSaid` what git made of a diff, before the tree that it was applied to. */
const rawChanges = [
	"diff-index",
	"--cached",
	"--no-renames",
	"-z"
];
/** Whether git, once it had applied the diff, changed those files that it names, and nothing but plain ones. */
function isAsSaid(paths, raw) {
	const words = raw.split("\0");
	const changes = words.flatMap((word, at) => at % 2 === 0 && word !== "" ? {
		modes: word.slice(1).split(" ", 2),
		path: words[at + 1] ?? ""
	} : []);
	for (const { modes, path } of changes) {
		const mode = modes.find((mode) => mode !== noFile && !plainModes.includes(mode));
		if (mode !== void 0) return {
			kind: "refused",
			reason: notPlain(path, mode)
		};
	}
	const changed = changes.map(({ path }) => path);
	const others = [...paths.filter((path) => !changed.includes(path)), ...changed.filter((path) => !paths.includes(path))];
	if (others.length === 0) return { kind: "as-said" };
	return {
		kind: "refused",
		reason: `The diff does to ${others.slice(0, 5).join(", ")} something else than it says; send it as one diff of the whole change.`
	};
}
/** From what git-apply(1) wrote, which says the cause first: `error: patch failed: sys/net/if.c:12` and what follows. */
function whyGitRefuses(stderr, remarks) {
	return [`git cannot apply the diff: ${stderr.split("\n").flatMap((line) => /^(?:error|fatal): (.*)$/.exec(line)?.[1] ?? []).slice(0, 3).join("; ") || "it said nothing"}.`, ...remarks].join(" ");
}
const mostBytes = 5e6;
const mostFiles = 2e3;
/** Thrown and caught in this file only. */
var Refusal = class extends Error {};
function refuse(reason) {
	throw new Refusal(reason);
}
function accept(diff) {
	if (diff.length > mostBytes) refuse(`The diff has ${diff.length} bytes, and at most ${mostBytes} are taken; split it.`);
	const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
	const lines = bytes.toString("latin1").split("\n");
	const sections = readSections(lines);
	if (sections.length === 0) refuse("The diff changes no file; send one that git diff made.");
	if (sections.length > mostFiles) refuse(`The diff changes ${sections.length} files, and at most ${mostFiles} are taken; split it.`);
	const paths = sections.flatMap(pathsOf).toSorted();
	const twice = paths.find((path, index) => path === paths[index - 1]);
	if (twice !== void 0) refuse(`The diff changes ${twice} twice; send one diff of the whole change, as git diff makes it.`);
	return {
		kind: "accepted",
		paths,
		remarks: remarksOn$1(bytes, lines)
	};
}
function readSections(lines) {
	const sections = [];
	for (let index = 0; index < lines.length;) {
		const line = lines[index] ?? "";
		const current = sections.at(-1);
		if (opensSection(lines, index, current)) {
			sections.push({
				line: index + 1,
				header: [line],
				hunks: 0
			});
			index += 1;
		} else if (line.startsWith("@@ -")) index = afterHunk(lines, index, current);
		else {
			if (current?.hunks === 0) current.header.push(line);
			index += 1;
		}
	}
	return sections;
}
function opensSection(lines, index, current) {
	const line = lines[index] ?? "";
	if (line.startsWith("diff --git ")) return true;
	const follows = (offset, start) => lines[index + offset]?.startsWith(start);
	if (!line.startsWith("--- ") || !follows(1, "+++ ") || !follows(2, "@@ -")) return false;
	return current === void 0 || current.hunks > 0 || current.header.some(isNewName);
}
const isNewName = (line) => line.startsWith("+++ ");
/** The index of the first line after the hunk, by the line counts of its head (see POSIX, diff -u). */
function afterHunk(lines, start, section) {
	const head = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines[start] ?? "");
	if (head === null || !(section?.hunks || section?.header.some(isNewName))) refuse(`Line ${start + 1} of the diff starts a hunk of no file; send what git diff made.`);
	section.hunks += 1;
	let before = Number(head[1] ?? 1);
	let after = Number(head[2] ?? 1);
	let index = start + 1;
	for (; before > 0 || after > 0; index += 1) {
		const sign = lines[index]?.[0] ?? (index < lines.length - 1 ? " " : void 0);
		if (sign === void 0 || !" \r+-\\".includes(sign)) refuse(`The hunk at line ${start + 1} of the diff is cut off at line ${index + 1}.`);
		if (sign === " " || sign === "\r" || sign === "-") before -= 1;
		if (sign === " " || sign === "\r" || sign === "+") after -= 1;
	}
	return index;
}
function pathsOf(section) {
	if (section.header[0]?.endsWith("\r")) refuse("The lines of the diff end in CR LF; send it with the line ends that git wrote.");
	const copied = plainName(section, /^copy from (.*)$/);
	const from = plainName(section, /^rename from (.*)$/) ?? copied;
	const named = [
		prefixedName(section, valueIn(section, /^--- (.*)$/), "a/"),
		prefixedName(section, valueIn(section, /^\+\+\+ (.*)$/), "b/"),
		from,
		plainName(section, /^(?:rename|copy) to (.*)$/),
		nameInGitLine(section, from !== void 0)
	];
	const paths = [...new Set(named)].filter((name) => name !== void 0).map(decoded);
	const [path] = paths;
	if (path === void 0) refuse(`Line ${section.line} of the diff names no file.`);
	refuseKind(section, path);
	for (const each of paths) refusePath(each);
	if (paths.length > (from === void 0 ? 1 : 2)) refuse(`The diff calls one file by several names, ${paths.join(" and ")}; send what git diff made.`);
	return copied === void 0 ? paths : paths.filter((each) => each !== decoded(copied));
}
function plainName(section, pattern) {
	const value = valueIn(section, pattern);
	return value === void 0 ? void 0 : unquoted(value);
}
const valueIn = ({ header }, pattern) => header.map((line) => pattern.exec(line)?.[1]).find((value) => value !== void 0);
/** Of a name in `--- a/PATH` or `+++ b/PATH`; undefined where there is none, or no file on that side. */
function prefixedName(section, value, prefix) {
	const [written = ""] = value?.split("	") ?? [];
	if (value === void 0 || written === "/dev/null") return void 0;
	const name = unquoted(written);
	if (!name.startsWith(prefix)) refusePrefix(section);
	return name.slice(2);
}
/** `diff --git a/PATH b/PATH`: tells the name only where it is twice the same, as it is unless it changes. */
function nameInGitLine(section, renamed) {
	const [, rest] = /^diff --git (.*)$/.exec(section.header[0] ?? "") ?? [];
	if (rest === void 0) return void 0;
	if (!/^"?a\//.test(rest)) refusePrefix(section);
	if (renamed) return void 0;
	const quoted = /^("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")$/.exec(rest);
	const middle = (rest.length - 1) / 2;
	const [a, b] = (quoted?.slice(1) ?? [rest.slice(0, middle), rest.slice(middle + 1)]).map(unquoted);
	if (!(a?.startsWith("a/") && b?.startsWith("b/") && a.slice(2) === b.slice(2))) refuse(`Line ${section.line} of the diff names two files, but says of no rename.`);
	return a?.slice(2);
}
const refusePrefix = ({ line }) => refuse(`The diff at line ${line} has no prefixes a/ and b/; make it with git diff --src-prefix=a/ --dst-prefix=b/.`);
/** Git quotes a name as C quotes a string, with bytes in octal (see core.quotePath in git-config(1)). */
function unquoted(name) {
	if (!/^".*"$/.test(name)) return name;
	return name.slice(1, -1).replace(/\\([0-7]{3}|.)/g, (_, code) => {
		if (code.length === 3) return String.fromCharCode(Number.parseInt(code, 8) & 255);
		return escapes[code] ?? code;
	});
}
const escapes = {
	a: "\x07",
	b: "\b",
	f: "\f",
	n: "\n",
	r: "\r",
	t: "	",
	v: "\v"
};
function decoded(name) {
	const path = Buffer.from(name, "latin1").toString();
	if (path.includes("�")) refuse(`The name of the file ${path} is not UTF-8; rename it.`);
	return path;
}
function refuseKind({ header }, path) {
	if (header.some((line) => /^(?:GIT binary patch|Binary files .* differ)\r?$/.test(line))) refuse(`The diff changes the binary file ${path}; only text is taken.`);
	const mode = header.map((line) => /^(?:(?:old|new|new file|deleted file) mode|index \S+) (.+)$/s.exec(line)?.[1]).map((text) => text && modeAsGitReads(text)).find((mode) => mode !== void 0 && !plainModes.includes(mode));
	if (mode !== void 0) refuse(notPlain(path, mode));
}
/** strtoul(3) in octal, whatever comes after a blank. */
const modeAsGitReads = (text) => /^\s*\+?0*([0-7]+)(?:\s|$)/.exec(text)?.[1] ?? oneLine$1(text);
function notPlain(path, mode) {
	return `The diff changes ${path}, which is ${{
		12e4: "a symbolic link",
		16e4: "a submodule"
	}[mode] ?? `of mode ${mode}`}; only plain files are taken.`;
}
const plainModes = ["100644", "100755"];
/** Where a file is made or deleted, on its other side. */
const noFile = "000000";
function refusePath(path) {
	const segments = path.split("/");
	const isOutside = segments.some((segment) => [
		"",
		".",
		".."
	].includes(segment));
	const isGits = segments.some((segment) => segment.toLowerCase() === ".git");
	if (!isOutside && !isGits && !/\p{Cc}/u.test(path)) return;
	refuse(`The diff changes "${path.replace(/\p{Cc}/gu, "?")}", which is no file of the tree; name files below its root.`);
}
function remarksOn$1(bytes, lines) {
	const remarks = [];
	const text = bytes.toString();
	if (lines.some((line) => /^[ +-]/.test(line) && line.endsWith("\r"))) remarks.push("Some lines of the diff end in CR LF.");
	if (bytes.includes("�")) remarks.push("The diff holds U+FFFD where somebody could not read a letter.");
	else if (text.includes("�")) remarks.push("The diff is not UTF-8, Latin-1 perhaps.");
	return remarks;
}

// src/patch/repository.ts
/** What git could not do, in one sentence. */
var RepositoryError = class extends Error {
	name = "RepositoryError";
};
const run = promisify(execFile);
/** Of one file, and of one listing. */
const maxBytes = 4194304;
/** @param environment for git, where fetching what is missing needs more than the checkout has. */
function openRepository(directory, environment = {}) {
	const gitWith = async (more, ...args) => {
		const options = [
			"-C",
			directory,
			"-c",
			"safe.directory=*"
		];
		const env = {
			...process.env,
			...environment,
			...more
		};
		const { stdout } = await run("git", [...options, ...args], {
			env,
			maxBuffer: maxBytes
		});
		return stdout;
	};
	const git = (...args) => gitWith({}, ...args);
	const resolve$1 = async (name) => {
		if (!isCommitName(name)) throw new RepositoryError(`"${name}" is no name of a commit: write its id, a branch or a tag, like main, v1.2 or HEAD~2.`);
		const parse = () => git("rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`);
		return (await parse().catch((error) => {
			if (!isId(name)) throw error;
			return git("fetch", ...objectsAlone, "--end-of-options", "origin", name).then(parse);
		}).catch(() => {
			throw new RepositoryError(`The repository ${directory} has no commit ${name} and could not fetch it: check it out with its history (fetch-depth: 0).`);
		})).trim();
	};
	return {
		resolve: resolve$1,
		async mergeBase(first, second) {
			const ids = [await resolve$1(first), await resolve$1(second)];
			return (await git("merge-base", ...ids).catch(() => {
				throw new RepositoryError(`${first} and ${second} have no common ancestor in ${directory}: check it out with its history (fetch-depth: 0).`);
			})).trim();
		},
		async list(commit, folder) {
			const below = relative(directory, resolve(directory, folder));
			const prefixes = below === "" ? [] : [`${below}/`];
			const list = [
				"ls-tree",
				"-r",
				"-z",
				"--end-of-options",
				idOf(commit),
				...prefixes
			];
			const listing = await git("--literal-pathspecs", ...list).catch(() => {
				throw new RepositoryError(`git cannot list ${folder} at ${commit} in ${directory}: name a folder of the repository.`);
			});
			const [prefix = ""] = prefixes;
			return listing.split("\0").filter(Boolean).map(parseTreeEntry(prefix));
		},
		async read(object) {
			const [id = "", ...path] = object.split(":");
			const named = [idOf(id), ...path].join(":");
			return git("cat-file", "blob", named).catch(() => {
				throw new RepositoryError(`git cannot read the object ${object} in ${directory}: it must be a file of at most 4 MiB.`);
			});
		},
		async idAt(commit, path) {
			const named = `${idOf(commit)}:${path}`;
			return (await git("rev-parse", "--verify", "--quiet", "--end-of-options", named).catch((error) => {
				if (error.code === 1) return "";
				throw new RepositoryError(`git cannot look for ${path} at ${commit} in ${directory}.`);
			})).trim() || void 0;
		},
		async diff(first, second) {
			const plain = [
				"--no-color",
				"--no-ext-diff",
				"--no-textconv",
				"--no-renames",
				"--full-index"
			];
			const prefixes = ["--src-prefix=a/", "--dst-prefix=b/"];
			const range = [
				"--end-of-options",
				idOf(first),
				idOf(second)
			];
			const diff = [
				...[
					"-C",
					directory,
					"-c",
					"safe.directory=*"
				],
				"diff",
				...plain,
				...prefixes,
				...range
			];
			const { stdout } = await run("git", diff, {
				maxBuffer: maxBytes,
				encoding: "buffer"
			}).catch(() => {
				throw new RepositoryError(`git cannot compare ${first} with ${second} in ${directory}: their difference must be of at most 4 MiB.`);
			});
			return stdout;
		},
		async describe(commit) {
			const [subject = "", author = ""] = (await git("show", "--no-patch", "--format=%s%n%an", "--end-of-options", idOf(commit))).split("\n");
			return {
				subject,
				author
			};
		},
		async commitAt(branch, date) {
			const tip = await resolve$1(`origin/${branch}`).catch(() => resolve$1(branch));
			const before = `--before=${Math.floor(date.getTime() / 1e3)}`;
			const last = await git("rev-list", "--max-count=1", "--first-parent", before, tip);
			if (last !== "") return last.trim();
			throw new RepositoryError(`${branch} has no commit in ${directory} from before ${date.toISOString()}: check it out with its history (fetch-depth: 0).`);
		},
		async commitDiff(base, diff, { message, date }) {
			const checked = checkDiff(diff);
			if (checked.kind === "refused") return {
				kind: "does-not-apply",
				why: checked.reason
			};
			const parent = await resolve$1(base);
			const folder = await mkdtemp(join(tmpdir(), "ppsgate-diff-"));
			try {
				const patch = join(folder, "patch.diff");
				await writeFile(patch, diff);
				const environment = {
					GIT_DIR: (await git("rev-parse", "--absolute-git-dir")).trimEnd(),
					GIT_INDEX_FILE: join(folder, "index"),
					LC_ALL: "C"
				};
				const indexed = (...args) => gitWith(environment, ...plainly, ...args);
				await indexed("read-tree", parent);
				const refused = await indexed("apply", "--cached", "--whitespace=nowarn", patch).then(() => void 0, (error) => whyGitRefuses(error.stderr ?? "", checked.remarks));
				if (refused !== void 0) return {
					kind: "does-not-apply",
					why: refused
				};
				const asSaid = isAsSaid(checked.paths, await indexed(...rawChanges, parent));
				if (asSaid.kind === "refused") return {
					kind: "does-not-apply",
					why: asSaid.reason
				};
				const tree = (await indexed("write-tree")).trim();
				return {
					kind: "committed",
					commit: (await gitWith(signature(date), ...[
						...plainly,
						"commit-tree",
						"-p",
						parent,
						"-m",
						message,
						tree
					])).trim()
				};
			} finally {
				await rm(folder, { recursive: true });
			}
		}
	};
}
/**
* A name by the rules of git-check-ref-format(1) with what steps back from it, as in `HEAD~2`, `v1^{commit}` or
* `main@{upstream}`. What else git would read, like a refspec or a path, is nothing that people call a commit.
*/
const isCommitName = (name) => name.length <= 250 && /^(?![-/])[^\p{C}\s~^:?*[\\]+(?<![/.])(?:[~^]\d{0,6}|\^\{(?:commit)?\})*$/u.test(name) && !/\.\.|\/\/|\/\.|^\.|\.lock(?:[/~^]|$)|@\{(?![\w-]{1,30}\})/.test(name);
const isId = (name) => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(name);
/** Whoever asks for more than a name to be resolved has an id. */
function idOf(text) {
	if (isId(text)) return text;
	throw new RepositoryError(`"${text}" is no full id of an object: resolve it first.`);
}
/** For a fetch that writes no ref, whatever `remote.…` and `fetch` of git-config(1) say. */
const objectsAlone = [
	"--quiet",
	"--refmap=",
	"--no-tags",
	"--no-prune",
	"--no-write-fetch-head",
	"--no-recurse-submodules",
	"--no-auto-maintenance"
];
/** Without the settings of whoever runs it. */
const plainly = [
	"core.autocrlf=false",
	"core.splitIndex=false",
	"apply.ignoreWhitespace=no",
	"i18n.commitEncoding=UTF-8"
].flatMap((setting) => ["-c", setting]);
function signature(date) {
	const at = `${Math.floor(date.getTime() / 1e3)} +0000`;
	const [name, email] = ["ppsgate", "ppsgate@localhost.invalid"];
	return {
		GIT_AUTHOR_NAME: name,
		GIT_AUTHOR_EMAIL: email,
		GIT_AUTHOR_DATE: at,
		GIT_COMMITTER_NAME: name,
		GIT_COMMITTER_EMAIL: email,
		GIT_COMMITTER_DATE: at
	};
}
/** `MODE TYPE OBJECT<tab>PATH`, see git-ls-tree(1). */
const parseTreeEntry = (prefix) => (line) => {
	const tab = line.indexOf("	");
	const [mode = "", , object = ""] = line.slice(0, tab).split(" ");
	return {
		mode,
		object,
		path: line.slice(tab + 1 + prefix.length)
	};
};

// src/patch/github.ts
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
/** The open pull requests whose head is this very commit; throws where GitHub does not tell. */
async function pullRequestsWithHead(octokit, repository, headCommit) {
	const [owner = "", repo = ""] = repository.split("/");
	const list = () => octokit.paginate(octokit.rest.repos.listPullRequestsAssociatedWithCommit, {
		owner,
		repo,
		commit_sha: headCommit,
		per_page: 100
	});
	return openWithHead(await told(list, `which pull requests have ${headCommit}`), headCommit);
}
/** The same by the branch of a fork, which needs no such commit in the repository itself. */
async function pullRequestsOfBranch(octokit, repository, head) {
	const [owner = "", repo = ""] = repository.split("/");
	const list = () => octokit.paginate(octokit.rest.pulls.list, {
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
	const [owner = "", repo = ""] = repository.split("/");
	const ask = async () => {
		try {
			const { repos } = octokit.rest;
			const { data } = await repos.getCollaboratorPermissionLevel({
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
		throw new Error(`GitHub did not tell ${what} (${failure.said}): run the job again.`);
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

// src/patch/phabricator.ts
/** What cannot be found as it is named, in a sentence for the one who named it. */
var RevisionError = class extends Error {
	name = "RevisionError";
};
/**
* As people type it: `D27401`, `D27401:80677` (as of that diff), `diff:80677`, or the URL of a revision or a diff.
* Undefined for what is no such name; throws a `RevisionError` for a URL of another server.
*/
function parseRevisionName(text, server) {
	const written = text.trim();
	if (/^https?:\/\//i.test(written)) return nameInUrl(written, server);
	const [, revision, diff] = /^D([1-9]\d{0,8})(?::([1-9]\d{0,8}))?$/.exec(written) ?? [];
	if (revision !== void 0) return nameOf(revision, diff);
	const [, lone] = /^diff:([1-9]\d{0,8})$/.exec(written) ?? [];
	return lone === void 0 ? void 0 : { diff: Number(lone) };
}
const nameOf = (revision, diff) => ({
	revision: Number(revision),
	...diff !== void 0 && { diff: Number(diff) }
});
/** Also of links to a comment, or to the changes between two diffs: `id` is the later one. */
function nameInUrl(text, server) {
	const url = URL.parse(text);
	if (url === null) return void 0;
	if (url.host !== new URL(server).host) throw new RevisionError(`${url.host} is not the Phabricator that ppsgate is set up for: name a revision of ${server}.`);
	const [, lone] = /^\/differential\/diff\/([1-9]\d{0,8})\/?$/.exec(url.pathname) ?? [];
	if (lone !== void 0) return { diff: Number(lone) };
	const [, revision] = /^\/D([1-9]\d{0,8})\/?$/.exec(url.pathname) ?? [];
	const diff = url.searchParams.get("id") ?? void 0;
	const isDiff = diff === void 0 || /^[1-9]\d{0,8}$/.test(diff);
	return revision === void 0 || !isDiff ? void 0 : nameOf(revision, diff);
}
/** Throws a `RevisionError` where there is no such revision for the bot to see, or where the diff is none of it. */
async function findRevision(conduit, name) {
	const { id: number, phid, fields } = await revisionNamed(conduit, name);
	const constraints = { revisionPHIDs: [phid] };
	const diffs = (await conduit.search("differential.diff.search", { constraints }, diffItem)).toSorted((a, b) => a.id - b.id);
	const asked = diffs.find((diff) => diff.id === name.diff || name.diff === void 0 && diff.phid === fields.diffPHID);
	if (asked === void 0) {
		const known = diffs.map(({ id }) => id).join(", ") || "none";
		throw new RevisionError(name.diff === void 0 ? `The newest diff of D${number} is not for the bot to see on ${conduit.url}: let its account see it.` : `Diff ${name.diff} is none of D${number}, whose diffs are: ${known}.`);
	}
	const shown = diffs.filter(({ id }) => id <= asked.id);
	const names = await userNames(conduit, [fields.authorPHID, ...shown.map((diff) => diff.fields.authorPHID)]);
	const repository = await repositoryOf(conduit, fields.repositoryPHID);
	const earlier = shown.filter((diff) => diff !== asked);
	return {
		number,
		phid,
		title: fields.title,
		url: `${conduit.url}/D${number}`,
		author: personOf(fields.authorPHID, names),
		status: fields.status.value,
		isDraft: fields.isDraft,
		...repository !== void 0 && { repository },
		diff: foundDiff(asked, names),
		earlier: earlier.map((diff) => foundDiff(diff, names))
	};
}
const phid = string().regex(/^PHID-[\w-]{1,100}$/, "expected a PHID");
const id = int().positive();
const epoch = int().transform((seconds) => /* @__PURE__ */ new Date(seconds * 1e3));
const revisionItem = object({
	id,
	phid,
	fields: object({
		title: string(),
		authorPHID: phid,
		status: object({ value: string() }),
		repositoryPHID: phid.nullable(),
		diffPHID: phid,
		isDraft: boolean()
	})
});
const diffItem = object({
	id,
	phid,
	fields: object({
		revisionPHID: phid.nullable(),
		authorPHID: phid,
		dateCreated: epoch,
		refs: array(object({
			type: string(),
			/** Of a branch. */
			name: string().nullish(),
			/** Of a base. */
			identifier: string().nullish()
		}))
	})
});
async function revisionNamed(conduit, name) {
	const search = async (constraints) => (await conduit.search("differential.revision.search", { constraints }, revisionItem)).at(0);
	if (name.revision !== void 0) return await search({ ids: [name.revision] }) ?? notSeen(`D${name.revision}`, conduit);
	const called = `Diff ${name.diff}`;
	const constraints = { ids: [name.diff] };
	const [diff] = await conduit.search("differential.diff.search", { constraints }, diffItem);
	if (diff === void 0) return notSeen(called, conduit);
	if (diff.fields.revisionPHID === null) throw new RevisionError(`${called} is of no revision on ${conduit.url}: make a revision of it first.`);
	return await search({ phids: [diff.fields.revisionPHID] }) ?? notSeen(`The revision of diff ${name.diff}`, conduit);
}
function notSeen(what, { url }) {
	throw new RevisionError(`${what} is not on ${url}, or not for the bot to see, which Phabricator does not tell apart: look at its number, and at who may see it.`);
}
async function repositoryOf(conduit, phid) {
	if (phid === null) return void 0;
	const constraints = { phids: [phid] };
	const { callsign, shortName } = (await conduit.search("diffusion.repository.search", { constraints }, repositoryItem))[0]?.fields ?? {};
	return {
		phid,
		...callsign && { callsign },
		...shortName && { shortName }
	};
}
const repositoryItem = object({ fields: object({
	callsign: string().nullable(),
	shortName: string().nullable()
}) });
function foundDiff({ id, phid, fields }, names) {
	const ref = (type) => fields.refs.find((each) => each.type === type);
	const base = ref("base")?.identifier;
	const branch = ref("branch")?.name;
	return {
		id,
		phid,
		createdAt: fields.dateCreated,
		author: personOf(fields.authorPHID, names),
		...base && /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(base) && { baseCommit: base },
		...branch && { branch }
	};
}
const personOf = (phid, names) => ({
	phid,
	name: names.get(phid) ?? phid
});
/** User names by PHID, without those of users whom the bot may not see, and of what is no user. */
async function userNames(conduit, phids) {
	const users = [...new Set(phids)].filter((phid) => phid.startsWith("PHID-USER-"));
	if (users.length === 0) return /* @__PURE__ */ new Map();
	const found = await conduit.search("user.search", { constraints: { phids: users } }, userItem);
	return new Map(found.map(({ phid, fields }) => [phid, fields.username]));
}
const userItem = object({
	phid,
	fields: object({ username: string() })
});
/** Whose token it is. */
async function whoami(conduit) {
	const { phid, userName } = await conduit.call("user.whoami", {}, me);
	return {
		phid,
		name: userName
	};
}
const me = object({
	phid,
	userName: string()
});
/**
* The oldest first. Comments as they read now, without those that were removed.
*
* @param filter.phids only these, of which some may be of other kinds.
* @param filter.since id of a transaction: only later ones.
*/
async function transactionsOf(conduit, revisionPhid, filter) {
	const { phids, since = 0 } = filter;
	if (phids?.length === 0) return [];
	const params = {
		objectIdentifier: revisionPhid,
		...phids === void 0 ? {} : { constraints: { phids } }
	};
	return (await conduit.search("transaction.search", params, transactionItem)).flatMap((transaction) => transaction ?? []).filter(({ id }) => id > since).toSorted((a, b) => a.id - b.id);
}
const transaction = object({
	id,
	phid,
	authorPHID: phid,
	dateCreated: epoch
});
const update = transaction.extend({
	type: literal("update"),
	fields: object({ new: phid })
}).transform(({ id, phid, authorPHID: by, dateCreated: at, fields }) => {
	return {
		kind: "diff",
		id,
		phid,
		by,
		at,
		diffPhid: fields.new
	};
});
const version = object({
	version: int(),
	authorPHID: phid
});
const comment = transaction.extend({
	type: literal("comment"),
	comments: array(discriminatedUnion("removed", [version.extend({
		removed: literal(false),
		content: object({ raw: string() })
	}), version.extend({ removed: literal(true) })]))
}).transform(({ id, phid, dateCreated: at, comments }) => {
	const current = comments.toSorted((a, b) => a.version - b.version).at(-1);
	if (current === void 0 || current.removed) return void 0;
	return {
		kind: "comment",
		id,
		phid,
		by: current.authorPHID,
		at,
		text: current.content.raw
	};
});
const others = object({ type: string().nullable() }).refine(({ type }) => type !== "update" && type !== "comment", "expected a transaction").transform(() => void 0);
const transactionItem = union([
	update,
	comment,
	others
]);
/**
* Whether a user is a member of one of the projects, which are named by their hashtags.
*
* @returns `warning` is a sentence about projects that are not there, or not for the bot to see: nobody is their member.
*/
async function isMember(conduit, userPhid, slugs) {
	if (slugs.length === 0) return { isMember: false };
	const params = {
		constraints: { slugs },
		attachments: { members: true }
	};
	const { data, maps } = await conduit.call("project.search", params, projects);
	const unknown = slugs.filter((slug) => !Object.hasOwn(maps.slugMap, slug));
	return {
		isMember: data.flatMap(({ attachments }) => attachments.members.members).some(({ phid }) => phid === userPhid),
		...unknown.length > 0 && { warning: `${unknown.map((slug) => `#${slug}`).join(", ")}: no such project on ${conduit.url}, or not for the bot to see; look at phabricator.projects in ppsgate.yml.` }
	};
}
const projects = object({
	data: array(object({ attachments: object({ members: object({ members: array(object({ phid })) }) }) })),
	/** By hashtag, of which a project may have several. */
	maps: object({ slugMap: mapOf(unknown()) })
});

// src/patch/phabricator-diff.ts
/** Throws a `RevisionError` where there is no such diff, or not for the bot to see. */
async function fetchDiff(conduit, { id }) {
	const text = await rawDiff(conduit, id);
	const why = whyMisleading(text);
	if (why !== void 0) return {
		kind: "misleading",
		why
	};
	return {
		kind: "usable",
		bytes: Buffer.from(text),
		remarks: remarksOn(text)
	};
}
async function rawDiff(conduit, diffID) {
	try {
		return await conduit.call("differential.getrawdiff", { diffID }, string());
	} catch (error) {
		if (!(error instanceof ConduitError) || error.code !== "ERR_NOT_FOUND") throw error;
		throw new RevisionError(`Diff ${diffID} is not on ${conduit.url}, or not for the bot to see, which Phabricator does not tell apart: look at its id, and at who may see it.`);
	}
}
/** Undefined where Phabricator has kept the meaning, as far as a diff tells. */
function whyMisleading(diff) {
	const sections = diff.split(/(?<=^|\n)(?=diff --git )/);
	for (const section of sections.filter((each) => each.startsWith(gitLine))) {
		const [first = "", ...lines] = section.split("\n");
		const why = whySectionMisleads(first.slice(gitLine.length), lines);
		if (why !== void 0) return why;
	}
}
const gitLine = "diff --git ";
/** @param names as `diff --git` has them: `a/PATH b/PATH`. */
function whySectionMisleads(names, lines) {
	const file = shortened(names.slice(names.lastIndexOf(" b/") + 3));
	if (lines.some((line) => isBinary.test(line))) return `Phabricator gives back the binary file ${file} as an empty one: send the diff without it.`;
	if (names.includes("	")) return `Phabricator does not quote the tab in the name of ${file}, so git cannot read it: rename the file.`;
	if (lines.some((line) => /^(?:rename|copy) from /.test(line)) || !names.startsWith("a/") || namesOne(names)) return void 0;
	return `Phabricator gives back one file by two names, "${shortened(names)}", as it does where the prefixes a/ and b/ were not sent: send the diff with arc diff, or make it with git diff --src-prefix=a/ --dst-prefix=b/.`;
}
/** Lines of a file's text begin with a sign in a diff, so these are never one. */
const isBinary = /^(?:GIT binary patch|Binary files .* differ)$/;
/** Whether it is `a/PATH b/PATH`; any other way to tell takes long where PATH is made for that. */
function namesOne(names) {
	const path = names.slice(2, (names.length - 1) / 2);
	return names === `a/${path} b/${path}`;
}
function remarksOn(diff) {
	if (!/^(?!--- )[ -].*[^\p{ASCII}]/mu.test(diff)) return [];
	return ["Phabricator gives diffs in UTF-8, and this one has other letters than ASCII in lines that are there already: files in Latin-1 it cannot change."];
}

// src/patch/revision.ts
/** A diff of which no patch can be made, for the reason that its author is told. */
var PatchError = class extends Error {
	name = "PatchError";
};
/** As people type it: `all`, `none`, or ids like `80345,80654`. Throws a `UsageError` for anything else. */
function parseEarlier(text) {
	if (text === "all" || text === "none") return text;
	const ids = text.split(",").map((id) => id.trim());
	if (ids.every((id) => /^[1-9]\d{0,8}$/.test(id))) return ids.map(Number);
	throw new UsageError(`earlier: expected all, none or ids of diffs like 80345,80654, found "${text}".`);
}
/**
* Throws a `PatchError` where the diff does not apply, a `UsageError` or `RevisionError` where there is no such diff or
* it is none of ours. An earlier diff that does not apply is left out, which the notes tell.
*/
async function patchOfRevision(name, earlier, world) {
	const found = await findRevision(world.conduit, name);
	refuseForeign(found, world.config);
	const { diff, number } = found;
	const notes = [];
	const base = await baseOf(diff, world);
	notes.push(...base.notes);
	const head = await commitOf(number, diff, base.commit, world);
	if (head.kind === "does-not-apply") throw new PatchError(doesNotApply(number, diff, head.why));
	const others = [];
	for (const one of chosen(found, earlier)) {
		const commit = await commitOf(number, one, base.commit, world);
		if (commit.kind === "committed") others.push({
			diff: one.id,
			headCommit: commit.commit
		});
		else notes.push(`Diff ${one.id} is left out: ${commit.why}`);
	}
	return {
		kind: "revision",
		server: world.conduit.url,
		number,
		diff: diff.id,
		title: found.title,
		author: found.author.name,
		url: found.url,
		baseCommit: base.commit,
		headCommit: head.commit,
		earlier: others,
		notes
	};
}
/**
* Makes the commits of a revision again where another machine made them first; throws a `PatchError` where they are not
* the same, for then the diff is not what there was leave for.
*/
async function restoreRevision(patch, world) {
	const { number, baseCommit, earlier } = patch;
	const judged = {
		diff: patch.diff,
		headCommit: patch.headCommit
	};
	for (const { diff: id, headCommit } of [judged, ...earlier]) {
		if (await world.repository.resolve(headCommit).then(() => true, () => false)) continue;
		const { diff } = await findRevision(world.conduit, {
			revision: number,
			diff: id
		});
		const made = await commitOf(number, diff, baseCommit, world);
		if (made.kind === "committed" && made.commit === headCommit) continue;
		throw new PatchError(`Diff ${id} of D${number} is not what it was: ask for it once more.`);
	}
}
function refuseForeign({ number, repository }, { repositories }) {
	if (repositories === void 0) return;
	const names = [repository?.callsign, repository?.shortName].filter((name) => name !== void 0);
	if (names.some((name) => repositories.includes(name))) return;
	const which = names[0] === void 0 ? "of no repository" : `of the repository ${names[0]}`;
	throw new UsageError(`D${number} is ${which}, and only those of ${repositories.join(", ")} are measured: see phabricator.repositories in ppsgate.yml.`);
}
function chosen({ diff, earlier }, which) {
	if (which === "none") return [];
	if (which === "all") return earlier;
	const stranger = which.find((id) => !earlier.some((one) => one.id === id));
	if (stranger !== void 0) {
		const known = earlier.map(({ id }) => id).join(", ") || "none";
		throw new UsageError(`earlier: ${stranger} is no diff of the revision from before ${diff.id}; those are: ${known}.`);
	}
	return earlier.filter(({ id }) => which.includes(id));
}
/** What the diff was made for; what its branch was on the day, where it does not tell or nobody here has that commit. */
async function baseOf({ id, baseCommit, createdAt }, { repository, config }) {
	const told = baseCommit && await repository.resolve(baseCommit).catch(() => void 0);
	if (told) return {
		commit: told,
		notes: []
	};
	const commit = await repository.commitAt(config.branch, createdAt);
	const day = createdAt.toISOString().slice(0, 10);
	return {
		commit,
		notes: [`Diff ${id} ${baseCommit ? `says that it was made for ${baseCommit.slice(0, 12)}, which is not in the repository` : "does not say what it was made for"}: it is measured against ${config.branch} as of ${day}, ${commit.slice(0, 12)}.`]
	};
}
async function commitOf(number, diff, base, { conduit, repository }) {
	const raw = await fetchDiff(conduit, diff);
	if (raw.kind === "misleading") return {
		kind: "does-not-apply",
		why: raw.why
	};
	const about = {
		message: `D${number} diff ${diff.id}`,
		date: diff.createdAt
	};
	const made = await repository.commitDiff(base, raw.bytes, about);
	if (made.kind === "committed") return made;
	return {
		...made,
		why: [made.why, ...raw.remarks].join(" ")
	};
}
const doesNotApply = (number, { id }, why) => `Diff ${id} of D${number} does not apply: ${why}`;

// src/patch/authorize.ts
/**
* Decides for the head as `found` has it, and for no other: a later push needs leave again. What somebody does at the
* pull request of a fork is leave for what he can have seen: the commit that he names, or a head that was known before.
*/
async function authorize(occasion, found, rules) {
	const { number, repository, headCommit, author } = found.pullRequest;
	const { by } = occasion;
	const isKnown = async (login) => rules.people.some((person) => person.toLowerCase() === login.toLowerCase()) || await rules.mayWrite(login);
	const isOurs = found.headRepository === repository;
	switch (occasion.kind) {
		case "labelled":
			if (occasion.label !== rules.label) return {
				kind: "ignored",
				why: `The label is not "${rules.label}".`
			};
			if (!await rules.mayWrite(by)) return stranger$1(by, found);
			if (!isOurs && !isSeen(occasion.at, headCommit, rules.seen)) return {
				kind: "refused",
				why: unseenLabel(headCommit)
			};
			return {
				kind: "allowed",
				why: `${by}, who may write to ${repository}, put the label ${rules.label} on #${number} at ${short(headCommit)}.`
			};
		case "pushed":
		case "revived":
			if (isOurs) return {
				kind: "allowed",
				why: `The head of #${number} is in ${repository} itself, where only people with write permission can push.`
			};
			for (const login of /* @__PURE__ */ new Set([author, by])) if (!await isKnown(login)) return fromElsewhere(found, rules.label);
			if (occasion.kind === "revived" && !rules.measured.includes(headCommit)) return fromElsewhere(found, rules.label);
			return {
				kind: "allowed",
				why: `${author}, the author of #${number}, may have patches measured in ${repository}.`
			};
		case "commanded": {
			if (!await isKnown(by)) return stranger$1(by, found);
			if (occasion.isOtherwise && !await rules.mayWrite(by)) return asConfigured(by, found);
			const gap = isOurs ? void 0 : whyUnseen(occasion, headCommit, rules.seen);
			if (gap !== void 0) return {
				kind: "refused",
				why: gap
			};
			return {
				kind: "allowed",
				why: `${by}, who may have patches measured in ${repository}, asked for #${number} at ${short(headCommit)}.`
			};
		}
		case "pressed":
		case "dispatched": {
			const { kind, commit } = occasion;
			if (commit !== void 0 && commit !== headCommit) return {
				kind: "refused",
				why: isOlder(commit, headCommit)
			};
			if (kind === "pressed" && !await isKnown(by)) return stranger$1(by, found);
			if (commit === void 0 && !isOurs) return {
				kind: "refused",
				why: unnamed(number, headCommit)
			};
			return {
				kind: "allowed",
				why: `${by}, who may have patches measured in ${repository}, started it for #${number} at ${short(headCommit)}.`
			};
		}
	}
}
/** The clocks of GitHub and of a runner may differ by so much. */
const clockSeconds = 10;
function whyUnseen({ at, commit }, headCommit, seen) {
	if (commit !== void 0) return headCommit.startsWith(commit) ? void 0 : isOlder(commit, headCommit);
	if (isSeen(at, headCommit, seen)) return void 0;
	return `The head is ${short(headCommit)}, and may have been pushed after the command was written: read it, and write /ppsgate run ${short(headCommit)}.`;
}
const isSeen = (at, headCommit, seen) => seen?.headCommit === headCommit && Date.parse(seen.since) + clockSeconds * 1e3 < Date.parse(at);
const unseenLabel = (headCommit) => `The head is ${short(headCommit)}, and may have been pushed after the label was put: read it, and then write /ppsgate run ${short(headCommit)}, or take the label off and put it on again.`;
/** When a run was started GitHub does not tell it. */
const unnamed = (number, headCommit) => `The head of #${number} is ${short(headCommit)}, and may have been pushed after the run was started: read it, and start one with ${headCommit} in place of #${number}.`;
const isOlder = (commit, headCommit) => `The head is ${short(headCommit)} and no longer ${short(commit)}: read it, and ask again.`;
const stranger$1 = (by, { pullRequest: { number, repository } }) => ({
	kind: "refused",
	why: `Thank you, ${by}: #${number} runs on the testbed when somebody who may write to ${repository} asks for it.`
});
/** A wide margin passes any patch, and who may not write may not let his own be merged by it. */
const asConfigured = (by, { pullRequest: { number, repository } }) => ({
	kind: "refused",
	why: `Thank you, ${by}: you can have #${number} measured as ppsgate.yml says; a margin, scenarios, families or a testbed of one's own are for those who may write to ${repository}.`
});
function fromElsewhere({ pullRequest, headRepository }, label) {
	const { number, repository, headCommit } = pullRequest;
	const from = headRepository ?? "a repository that was deleted";
	const commit = short(headCommit);
	return {
		kind: "refused",
		why: `Thank you for #${number}: because it comes from ${from}, it runs on the testbed only after a maintainer of ${repository} has read ${commit}, and then put the label ${label} on it or written /ppsgate run ${commit}.`
	};
}
const short = (commit) => commit.slice(0, 12);

// src/patch/range.ts
/** The last commit of the range names the patch. Throws a `RepositoryError` for what is no range. */
async function patchOfRange(repository, text) {
	const [, base, head] = /^(.+?)\.\.(.+)$/.exec(text) ?? [];
	if (base === void 0 || head === void 0) throw new RepositoryError(`"${text}" is no range of commits: write BASE..HEAD, like main..my-branch.`);
	const [baseCommit, headCommit] = [await repository.resolve(base), await repository.resolve(head)];
	const { subject, author } = await repository.describe(headCommit);
	return {
		kind: "range",
		title: subject,
		author,
		baseCommit,
		headCommit
	};
}

// src/patch/authorize-revision.ts
/**
* Decides for one diff, for good: a later one needs leave again. A command is leave for what the commander can have
* read: the diff that he names, or one that was there for a while before he wrote.
*/
async function authorizeRevision({ number, diff }, occasion, rules) {
	const isKnown = async ({ phid, name }) => rules.people.includes(name) || rules.projects.length > 0 && await rules.isMember(phid);
	switch (occasion.kind) {
		case "sent":
			for (const person of occasion.by) if (!await isKnown(person)) return stranger(person, {
				number,
				diff
			}, rules);
			return {
				kind: "allowed",
				why: `${[...new Set(occasion.by.map(({ name }) => name))].join(" and ")} may have diffs measured.`
			};
		case "commanded": {
			const { by, at, sentAt, isNamed } = occasion;
			if (!await isKnown(by)) return stranger(by, {
				number,
				diff
			}, rules);
			if (!isNamed && at.getTime() - sentAt.getTime() < readingSeconds * 1e3) return {
				kind: "refused",
				why: `Diff ${diff} came just before the command was written: read it, and write @ppsgate run ${diff}.`
			};
			return {
				kind: "allowed",
				why: `${by.name}, who may have diffs measured, asked for it.`
			};
		}
	}
}
/** Whoever began to write before the diff came has written by then. */
const readingSeconds = 60;
function stranger({ name }, { number, diff }, { people, projects }) {
	const who = [...projects.length > 0 ? [`a member of ${projects.join(" or ")}`] : [], ...people.length > 0 ? ["somebody of the list in ppsgate.yml"] : []];
	const asks = who.length === 0 ? "nobody may ask for it: `people` and `projects` in ppsgate.yml are empty" : `${who.join(" or ")} has read diff ${diff} and written @ppsgate run ${diff}`;
	return {
		kind: "refused",
		why: `Thank you, ${name}: D${number} is not measured yet; ${who.length === 0 ? "" : "it runs on the testbed when "}${asks}.`
	};
}

export { ConduitError, RepositoryError, RevisionError, askSchema, authorize, authorizeRevision, callOnGithub, callOnPhabricator, checkDiff, commitId, fetchDiff, fetchPullRequest, findRevision, githubFailure, isAsSaid, isBreakdown, isMember, mapOf, mayWrite, numbersOf, objectsAlone, openConduit, openPhabricator, openRepository, parseCommand, parseEarlier, parseRevisionName, patchName, patchOfRange, patchOfRevision, patchSchema, phabricatorOf, pullRequestFromEvent, pullRequestNumber, pullRequestsOfBranch, pullRequestsWithHead, rawChanges, restoreRevision, tokenVariable, transactionsOf, userNames, whoami, whyGitRefuses };