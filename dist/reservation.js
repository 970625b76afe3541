import { fromJson, isCarriedThrough, priorities, reasonOf, shortened } from "./words.js";
import { _enum, array, boolean, custom, datetime, int, number, number$1, object, string, tuple, union } from "./vendor/zod.js";
import { ExposedError, readGuarded } from "./config.js";
import { median } from "./stats.js";
import { bytesWithin } from "./http.js";
import { ForeignFileError, failureOf, isEmpty, isSqliteError, openDatabase, watchPlace } from "./sqlite.js";
import { once } from "node:events";
import { basename, dirname, join, resolve } from "node:path";
import { accessSync, closeSync, constants, mkdirSync, openSync, realpathSync, statSync, utimesSync, watch } from "node:fs";
import { Agent, request } from "node:http";
import { TLSSocket, createSecureContext } from "node:tls";
import { X509Certificate, randomUUID } from "node:crypto";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { Agent as Agent$1, request as request$1 } from "node:https";
import { setTimeout as setTimeout$1 } from "node:timers/promises";

// src/reservation/etcd-answer.ts
/** Whoever answers may send back what it was sent: no secret gets into what is said to people. */
function readAnswer(reply, schema, secrets) {
	if (reply.kind === "no-answer") return unanswered(reply);
	const withoutSecrets = (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "…"), text);
	const { status, type, body } = reply;
	const json = fromJson(body);
	const error = errorDocument.safeParse(json);
	if (error.success) return errorOf(status, withoutSecrets(error.data.message));
	const value = schema.safeParse(json);
	if (status === 200 && value.success) return {
		kind: "said",
		value: value.data
	};
	const why = shortened(withoutSecrets(`it answers ${status} ${type}`));
	if (status >= 500) return {
		kind: "failed",
		problem: "slow",
		why,
		maybeDone: true
	};
	return {
		kind: "failed",
		problem: "not etcd",
		why,
		maybeDone: false
	};
}
const errorStatus = object({ message: string() });
/** A message of etcd's about an error, which on streams is within `error`. */
const errorDocument = union([object({ error: errorStatus }).transform(({ error }) => error), errorStatus]);
function errorOf(status, message) {
	const says = (...texts) => texts.some((text) => message.includes(text));
	if (says("invalid auth token", "revision of auth store is old")) return { kind: "stale-token" };
	const why = shortened(message);
	if (says("no leader")) return {
		kind: "failed",
		problem: "no leader",
		why,
		maybeDone: false
	};
	if (says("too many requests")) return {
		kind: "failed",
		problem: "slow",
		why,
		maybeDone: false
	};
	if (status < 500 && !(status === 408) || says("database space exceeded")) return {
		kind: "refused",
		message,
		isLeaseGone: says("requested lease not found")
	};
	return {
		kind: "failed",
		problem: "slow",
		why,
		maybeDone: true
	};
}
function unanswered(reply) {
	const { url, code, why, wasSent, isDistrusted } = reply;
	const failed = (problem, reason, maybeDone = false) => ({
		kind: "failed",
		problem,
		why: shortened(reason),
		maybeDone
	});
	if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return failed("wrong name", `it is for ${reply.certificateNames}, not for ${url.hostname}`);
	if (isDistrusted) return failed("untrusted", why.replace(/;.*/, ""));
	if (/ALERT.*(?:CERTIFICATE|UNKNOWN_CA)/.test(code)) return failed("unwelcome", "it refuses the certificate of this client, or that there is none");
	if (code === "ECONNREFUSED") return failed("unreachable", "connection refused");
	if (code === "ENOTFOUND") return failed("unreachable", "no such host name");
	if (code === "ECONNRESET" && (url.protocol === "http:" || !wasSent)) return failed("unreachable", `it hung up, as one does that speaks ${url.protocol === "http:" ? "https" : "plain http"}`, wasSent);
	return failed(wasSent ? "slow" : "unreachable", why, wasSent);
}
/** The most telling first; a lasting one does not go away by itself. */
const problems = {
	"no leader": {
		says: "etcd has no leader: more than half of its members have to run and reach each other",
		advice: "start or connect the others",
		isLasting: false
	},
	"wrong name": {
		says: "etcd's certificate is for another host name",
		advice: "write a name of the certificate in `endpoints`, or give that member a certificate for this one",
		isLasting: true
	},
	untrusted: {
		says: "etcd's certificate is not trusted",
		advice: "set `ca` to the PEM of the authority that signed it, or have it renewed",
		isLasting: true
	},
	unwelcome: {
		says: "etcd does not let this client in",
		advice: "set `certificate` and `key` to a pair signed by the authority that etcd has as --trusted-ca-file",
		isLasting: true
	},
	"not etcd": {
		says: "etcd cannot be used, something else answers",
		advice: "check `endpoints`, and that the JSON gateway of etcd is on (--enable-grpc-gateway)",
		isLasting: true
	},
	slow: {
		says: "etcd did not do what was asked",
		advice: "check the load and the log of its members, and the network between them",
		isLasting: false
	},
	unreachable: {
		says: "etcd cannot be reached",
		advice: "check that it runs, `endpoints` (http or https, name, port), and the network to there",
		isLasting: false
	}
};
const isLasting = ({ problem }) => problems[problem].isLasting;
/** A sentence for people, of the last failure of each endpoint. */
function failureSentence(failures) {
	const all = [...failures].map(([endpoint, { why }]) => `${endpoint}: ${why}`).join("; ");
	const met = new Set(failures.values().map(({ problem }) => problem));
	const worst = Object.keys(problems).find((problem) => met.has(problem));
	const { says, advice } = problems[worst ?? "unreachable"];
	return `${says} (${all}); ${advice}.`;
}
const unconfirmedSentence = (endpoint, { why }) => `etcd did not confirm a change (${endpoint}: ${why}), which may have been made all the same; look at the reservations before it is made again.`;
/** A sentence for people. `user` is undefined for one who has not said a name. */
function refusalSentence(endpoint, message, { user, prefix }) {
	const who = user === void 0 ? "one without a name" : `the user ${user}`;
	const [, says = "refuses a request", advice = "check its version (3.4 or later) and its log"] = refusals(who, prefix).find(([part]) => message.includes(part)) ?? [];
	return `etcd at ${endpoint} ${says} (${shortened(message)}); ${advice}.`;
}
const refusals = (who, prefix) => [
	[
		"authentication failed",
		`does not let ${who} in`,
		"correct `user`, or the password in `passwordFile`"
	],
	[
		"user name is empty",
		"asks for a user",
		"set `user` and `passwordFile`"
	],
	[
		"permission denied",
		`does not let ${who} read and write what begins with ${prefix}`,
		`allow it there: etcdctl role grant-permission ROLE --prefix=true readwrite ${prefix}`
	],
	[
		"authentication is not enabled",
		"asks nobody for a password",
		"turn that on there (etcdctl auth enable), or leave out `user` and `passwordFile`"
	],
	[
		"database space exceeded",
		"is full",
		"compact and defragment it, then disarm the alarm: etcdctl compact, defrag, alarm disarm"
	]
];

// src/reservation/store.ts
/** The store cannot be used: one sentence that says which, why, and what to do. */
var StoreError = class extends Error {
	name = "StoreError";
};

// src/reservation/etcd-files.ts
/** Throws a StoreError that names the file. */
async function readCertificates(config) {
	const { caPath, certificatePath, keyPath } = config;
	const ca = caPath === void 0 ? {} : { ca: await readText("authority", caPath) };
	const cert = certificatePath === void 0 ? {} : { cert: await readText("certificate", certificatePath) };
	const key = keyPath === void 0 ? {} : { key: await readText("key", keyPath, readGuarded) };
	refuseUnfit(`the authority file ${caPath}`, () => ca.ca && new X509Certificate(ca.ca));
	refuseUnfit(`the certificate ${certificatePath} and the key ${keyPath}`, () => createSecureContext({
		...cert,
		...key
	}));
	return {
		...ca,
		...cert,
		...key
	};
}
/** Undefined where etcd is to be asked without a password; throws a StoreError that names the file and nothing in it. */
async function readAccount({ user, passwordPath }) {
	if (user === void 0 || passwordPath === void 0) return void 0;
	const password = (await readText("password", passwordPath, readGuarded)).replace(/\r?\n$/, "");
	if (/^\P{Cc}+$/u.test(password)) return {
		user,
		password
	};
	throw new StoreError(`etcd cannot be used with the password file ${passwordPath}: it is empty or has more than a line; write the password there and nothing else.`);
}
async function readText(what, path, read = (path) => readFile(path, "utf8")) {
	try {
		return await read(path);
	} catch (error) {
		if (error instanceof ExposedError) throw new StoreError(`etcd cannot be used: ${error.message}.`);
		throw new StoreError(`etcd cannot be used without its ${what} file: ${reasonOf(error)}; check the path, and that you may read it.`, { cause: error });
	}
}
function refuseUnfit(what, use) {
	try {
		use();
	} catch (error) {
		throw new StoreError(`etcd cannot be used with ${what} (${reasonOf(error)}); they have to be PEM, and a key has to fit its certificate.`, { cause: error });
	}
}

// src/reservation/etcd-http.ts
function openHttp(certificates) {
	const http = new Agent({ keepAlive: true });
	const https = new Agent$1({
		keepAlive: true,
		...certificates
	});
	return {
		post(question) {
			const { url, headers, signal } = question;
			const options = {
				method: "POST",
				headers,
				...signal !== void 0 && { signal }
			};
			return exchange(url.protocol === "https:" ? request$1(url, {
				...options,
				agent: https
			}) : request(url, {
				...options,
				agent: http
			}), question);
		},
		close() {
			http.destroy();
			https.destroy();
		}
	};
}
async function exchange(asked, question) {
	const { body, answerSeconds, onLine } = question;
	asked.on("error", () => {});
	const wasSent = watchSending(asked, question.url);
	let isOver = false;
	let isLate = false;
	const giveUp = () => {
		if (isOver) return;
		isLate = true;
		asked.destroy();
	};
	const timer = setTimeout(() => setImmediate(giveUp), answerSeconds * 1e3);
	try {
		asked.end(JSON.stringify(body));
		const response = (await once(asked, "response"))[0];
		const { statusCode: status = 0, headers } = response;
		const answered = {
			kind: "answered",
			status,
			type: headers["content-type"] ?? ""
		};
		if (onLine === void 0 || status !== 200) return {
			...answered,
			body: await read(response)
		};
		isOver = true;
		for await (const line of linesOf$1(response)) onLine(line);
		return {
			...answered,
			body: ""
		};
	} catch (error) {
		const { socket } = asked;
		const code = error instanceof Error && "code" in error ? String(error.code) : "";
		return {
			kind: "no-answer",
			url: question.url,
			...isLate ? {
				why: `no answer within ${answerSeconds} s`,
				code: "ETIMEDOUT"
			} : {
				why: reasonOf(error),
				code
			},
			wasSent: wasSent(),
			isDistrusted: socket instanceof TLSSocket && Boolean(socket.authorizationError),
			certificateNames: certificateNames(error)
		};
	} finally {
		isOver = true;
		clearTimeout(timer);
	}
}
const certificateNames = (error) => error.cert?.subjectaltname ?? "no name at all";
/** Nothing of a question leaves before its connection stands and, by HTTPS, the certificate was found good. */
function watchSending(asked, { protocol }) {
	let wasSent = false;
	asked.once("socket", (socket) => {
		const send = () => {
			wasSent = true;
		};
		if (asked.reusedSocket) send();
		else socket.once(protocol === "https:" ? "secureConnect" : "connect", send);
	});
	return () => wasSent;
}
/** Far more than all reservations of a lab. */
const mostBytes = 16 * 1024 ** 2;
async function read(response) {
	const body = await bytesWithin(mostBytes, response);
	if (body === void 0) throw new Error(`more than ${mostBytes} bytes in an answer`);
	return body.toString();
}
async function* linesOf$1(response) {
	let rest = "";
	for await (const chunk of response.setEncoding("utf8")) {
		const lines = (rest + chunk).split("\n");
		rest = lines.pop() ?? "";
		if (rest.length > mostBytes) throw new Error(`more than ${mostBytes} bytes in a line`);
		yield* lines;
	}
}

// src/reservation/etcd-schema.ts
/** Decimal, in a string. */
const int64 = number().int();
const base64 = string().transform((text) => Buffer.from(text, "base64").toString());
const header$1 = object({ revision: int64 });
const authenticated = object({ token: string() });
/** The id stays as it is written: it may be more than a number can hold. */
const granted = object({ ID: string() });
/** A lease that has expired has no time left to live. */
const keepAliveAnswer = object({ result: object({ TTL: int64.default(0) }) });
const revoked = object({});
const range = object({
	header: header$1,
	kvs: array(object({
		key: base64,
		value: base64.default(""),
		mod_revision: int64
	})).default([])
});
const committed = object({
	header: header$1,
	succeeded: boolean().default(false)
});
/** One line of many. */
const watched = object({ result: object({
	created: boolean().default(false),
	canceled: boolean().default(false),
	/** The oldest that can still be watched, where the one asked for is gone. */
	compact_revision: int64.default(0),
	events: array(object({ kv: object({
		key: base64,
		mod_revision: int64
	}) })).default([])
}) });

// src/reservation/etcd-gateway.ts
var UnconfirmedError = class extends StoreError {};
/**
* How long one endpoint has for an answer: others may be faster where nothing is lost by asking them. Once all have failed it
* has longer, or slow ones would never be heard.
*/
const answerSeconds = {
	repeatable: 2,
	again: 5,
	single: 5
};
/** After this no further endpoint is asked, unless one was not asked at all. */
const patienceSeconds$1 = 10;
/** Between questions once all endpoints have failed. */
const pauseSeconds$1 = .1;
const onlyWithLeader = { "grpc-metadata-hasleader": "true" };
async function openGateway(config, now) {
	const { endpoints, user, prefix } = config;
	const http = openHttp(await readCertificates(config));
	const account = await readAccount(config);
	const streams = /* @__PURE__ */ new Map();
	let [preferred = ""] = endpoints;
	let token;
	let isClosed = false;
	async function ask(question) {
		const { isRepeatable, ifLeaseIsGone } = question;
		const failures = /* @__PURE__ */ new Map();
		const until = now() + patienceSeconds$1;
		for (let endpoint = preferred;; endpoint = moveOn(endpoint)) {
			if (isClosed) throw new StoreError("etcd was asked over a connection that is closed.");
			const isAgain = failures.size === endpoints.length;
			const answer = await askAt(endpoint, question, isAgain);
			if (answer.kind === "said") return answer.value;
			if (answer.kind === "refused") {
				if (answer.isLeaseGone && ifLeaseIsGone !== void 0) return ifLeaseIsGone;
				throw new StoreError(refusalSentence(endpoint, answer.message, {
					user,
					prefix
				}));
			}
			failures.set(endpoint, answer);
			if (answer.maybeDone && !isRepeatable) {
				moveOn(endpoint);
				throw new UnconfirmedError(unconfirmedSentence(endpoint, answer));
			}
			if (failures.size < endpoints.length) continue;
			if (now() >= until || failures.values().every(isLasting)) throw new StoreError(failureSentence(failures));
			await setTimeout$1(pauseSeconds$1 * 1e3);
		}
	}
	async function askAt(endpoint, question, isAgain) {
		for (let attempt = 1;; attempt += 1) {
			const answer = await logIn(endpoint, isAgain) ?? await post(endpoint, question, isAgain);
			if (answer.kind !== "stale-token") return answer;
			token = void 0;
			const why = "it does not know the token that etcd gave out";
			if (attempt === 2) return {
				kind: "failed",
				problem: "slow",
				why,
				maybeDone: false
			};
		}
	}
	/** Undefined where it went well, or there is nothing to say. */
	async function logIn(endpoint, isAgain) {
		if (account === void 0 || token !== void 0) return void 0;
		const answer = await post(endpoint, {
			path: "/v3/auth/authenticate",
			body: {
				name: account.user,
				password: account.password
			},
			answer: authenticated,
			isRepeatable: true
		}, isAgain);
		if (answer.kind === "failed") return {
			...answer,
			maybeDone: false
		};
		if (answer.kind !== "said") return answer;
		token = answer.value.token;
	}
	async function post(endpoint, question, isAgain) {
		const { path, body, answer, isRepeatable } = question;
		const repeatable = isAgain ? answerSeconds.again : answerSeconds.repeatable;
		const reply = await http.post({
			url: new URL(path, endpoint),
			headers: headers(),
			body,
			answerSeconds: isRepeatable ? repeatable : answerSeconds.single
		});
		const secrets = [account?.password, token].filter((secret) => secret !== void 0);
		return readAnswer(reply, answer, secrets);
	}
	const headers = () => ({
		...onlyWithLeader,
		"content-type": "application/json",
		...token !== void 0 && { authorization: token }
	});
	/** Goes over to the endpoint after that one; streams that are there go along, for they may never notice. */
	function moveOn(endpoint) {
		const next = endpoints[(endpoints.indexOf(endpoint) + 1) % endpoints.length] ?? endpoint;
		if (preferred === endpoint) preferred = next;
		for (const [stream, place] of streams) if (place === endpoint) stream.abort();
		return next;
	}
	async function follow(path, body, { onLine, signal }) {
		const endpoint = preferred;
		const stream = new AbortController();
		streams.set(stream, endpoint);
		if (await logIn(endpoint, false) === void 0) await http.post({
			url: new URL(path, endpoint),
			headers: headers(),
			body,
			answerSeconds: answerSeconds.repeatable,
			onLine,
			signal: AbortSignal.any([signal, stream.signal])
		});
		streams.delete(stream);
		if (!signal.aborted) moveOn(endpoint);
	}
	return {
		ask,
		follow,
		close() {
			isClosed = true;
			http.close();
		}
	};
}

// src/reservation/etcd-watch.ts
/** Between streams that end: the more in a row, the longer. */
const pauseSeconds = {
	least: .1,
	most: 5
};
/** So many changes are remembered for those who begin to wait after them. */
const mostRecent = 1e3;
/**
* Watches the keys of that prefix, and range as etcd has it, from the first who waits until it is closed. Whoever was told
* nothing for `wakeSeconds` is woken to look: a stream may be dead.
*/
function openWatch(gateway, prefix, range, wakeSeconds) {
	const waiters = /* @__PURE__ */ new Set();
	const closing = new AbortController();
	let isFollowing = false;
	/** All changes from this revision on are told. */
	let from = 0;
	/** The last that was told. */
	let latest = 0;
	let recent = [];
	function wakeUpTo(revision) {
		for (const waiter of waiters) if (waiter.since < revision) waiter.wake();
	}
	function hear(events) {
		if (events.length === 0) return;
		latest = Math.max(latest, ...events.map(({ revision }) => revision));
		recent = [...recent, ...events];
		if (recent.length > mostRecent) {
			from = Math.max(from, (recent.at(-1e3)?.revision ?? 0) + 1);
			recent = recent.filter(({ revision }) => revision >= from);
		}
		for (const waiter of waiters) if (events.some((event) => concerns(event, waiter))) waiter.wake();
	}
	async function follow() {
		let pause = pauseSeconds.least;
		while (!closing.signal.aborted) {
			const start = Math.max(from, latest + 1);
			const body = { create_request: {
				...range,
				start_revision: String(start)
			} };
			const ending = new AbortController();
			const signal = AbortSignal.any([closing.signal, ending.signal]);
			await gateway.follow("/v3/watch", body, {
				signal,
				onLine(line) {
					if (take(line)) pause = pauseSeconds.least;
					else ending.abort();
				}
			});
			await setTimeout$1(pause * 1e3, void 0, { signal: closing.signal }).catch(() => {});
			pause = Math.min(2 * pause, pauseSeconds.most);
		}
	}
	/** False where nothing more will come. */
	function take(line) {
		const told = watched.safeParse(fromJson(line)).data?.result;
		if (told === void 0) return false;
		hear(told.events.map(({ kv }) => ({
			key: kv.key,
			revision: kv.mod_revision
		})));
		if (!told.canceled) return true;
		if (told.compact_revision > 0) {
			from = told.compact_revision;
			wakeUpTo(from - 1);
		}
		return false;
	}
	return {
		async changed(since, signal, begin = "") {
			signal.throwIfAborted();
			if (!isFollowing) {
				isFollowing = true;
				from = since + 1;
				follow();
			}
			const wanted = {
				since,
				begin: prefix + begin
			};
			if (since + 1 < from || closing.signal.aborted) return;
			if (recent.some((event) => concerns(event, wanted))) return;
			await waitIn(waiters, wanted, wakeSeconds, signal);
		},
		close() {
			closing.abort();
			wakeUpTo(Number.POSITIVE_INFINITY);
		}
	};
}
const concerns = ({ key, revision }, { since, begin }) => revision > since && key.startsWith(begin);
function waitIn(waiters, wanted, wakeSeconds, signal) {
	return new Promise((resolve, reject) => {
		const end = (settle) => {
			waiters.delete(waiter);
			clearTimeout(timer);
			signal.removeEventListener("abort", abort);
			settle();
		};
		const abort = () => end(() => reject(signal.reason));
		const waiter = {
			...wanted,
			wake: () => end(resolve)
		};
		const timer = setTimeout(waiter.wake, wakeSeconds * 1e3);
		signal.addEventListener("abort", abort);
		waiters.add(waiter);
	});
}

// src/reservation/etcd.ts
/**
* Reads the files that the config names, and asks nobody yet. What can be tried again is tried for 10 s, and at every
* endpoint. A key cannot be both put and removed in one change, and a change that finds nothing to do answers the
* revision that the store has already.
*/
async function openEtcd(config, { now, wakeSeconds = 5 }) {
	const { prefix } = config;
	const gateway = await openGateway(config, now);
	const watch = openWatch(gateway, prefix, rangeOf(prefix), wakeSeconds);
	/** Linearizable, as etcd's ranges are unless one asks for less. */
	const read = (keys) => gateway.ask({
		path: "/v3/kv/range",
		body: keys,
		answer: range,
		isRepeatable: true
	});
	async function keepAlive(ID) {
		const { result } = await gateway.ask({
			path: "/v3/lease/keepalive",
			body: { ID },
			answer: keepAliveAnswer,
			isRepeatable: true
		});
		return result.TTL > 0;
	}
	async function commit(change) {
		const { succeeded, header } = await gateway.ask({
			path: "/v3/kv/txn",
			body: transactionOf(change, prefix),
			answer: committed,
			isRepeatable: false,
			ifLeaseIsGone: {
				succeeded: false,
				header: { revision: 0 }
			}
		});
		return succeeded ? header.revision : void 0;
	}
	return {
		async openSession(seconds) {
			const { ID } = await gateway.ask({
				path: "/v3/lease/grant",
				body: { TTL: String(Math.ceil(seconds)) },
				answer: granted,
				isRepeatable: true
			});
			return ID;
		},
		async renew(session) {
			if (await keepAlive(session)) return true;
			await read({ key: encode(prefix) });
			return keepAlive(session);
		},
		async endSession(session) {
			await gateway.ask({
				path: "/v3/lease/revoke",
				body: { ID: session },
				answer: revoked,
				isRepeatable: true,
				ifLeaseIsGone: {}
			});
		},
		async read(begin) {
			const { kvs, header } = await read(rangeOf(prefix + begin));
			return {
				entries: kvs.map(({ key, value, mod_revision: revision }) => ({
					key: key.slice(prefix.length),
					value,
					revision
				})),
				revision: header.revision
			};
		},
		async commit(change) {
			try {
				return await commit(change);
			} catch (error) {
				if (!(error instanceof UnconfirmedError) || !canBeMadeOnlyOnce(change)) throw error;
				const revision = await commit(change);
				if (revision === void 0) throw error;
				return revision;
			}
		},
		changed: watch.changed,
		async close() {
			watch.close();
			gateway.close();
		}
	};
}
const encode = (text) => Buffer.from(text).toString("base64");
/** All keys that begin so; etcd has them in the order of their bytes. */
function rangeOf(begin) {
	const end = Buffer.from(begin);
	end[end.length - 1] = (end.at(-1) ?? 0) + 1;
	return {
		key: encode(begin),
		range_end: end.toString("base64")
	};
}
function transactionOf({ conditions, put, remove }, prefix) {
	const keyOf = (key) => encode(prefix + key);
	return {
		compare: conditions.map(({ key, revision }) => ({
			key: keyOf(key),
			target: "MOD",
			result: "EQUAL",
			mod_revision: String(revision)
		})),
		success: [...put.map(({ key, value, session }) => ({ request_put: {
			key: keyOf(key),
			value: encode(value),
			...session !== void 0 && { lease: session }
		} })), ...remove.map((key) => ({ request_delete_range: { key: keyOf(key) } }))]
	};
}
/** It takes the revision away that is its own condition. A key that must not exist could be gone again. */
function canBeMadeOnlyOnce({ conditions, put, remove }) {
	const changed = /* @__PURE__ */ new Set([...put.map(({ key }) => key), ...remove]);
	return conditions.some(({ key, revision }) => revision > 0 && changed.has(key));
}

// src/reservation/sqlite-file.ts
/** Makes it where it is missing; a StoreError says why it cannot be used. */
async function openFile(givenPath, firstRevision) {
	const path = makeSure(resolve(givenPath));
	const isInPlace = watchPlace(path);
	const database = await inTurn(path, () => connect$1(path, firstRevision));
	return {
		database,
		path,
		use: (work) => inTurn(path, () => {
			if (!database.isOpen) throw new StoreError(`The reservation store ${path} was closed.`);
			if (!isInPlace()) throw new StoreError(moved(path));
			return work();
		}),
		close() {
			if (database.isOpen) database.close();
		}
	};
}
/** The real path of a file that this user may read and write, in a folder where it may make others. */
function makeSure(path) {
	try {
		mkdirSync(dirname(path), {
			recursive: true,
			mode: 448
		});
		createIfMissing(path);
		const real = realpathSync(path);
		if (!statSync(real).isFile()) throw new StoreError(`The reservation store cannot be ${path}, which is not a file: name a file in it or another path.`);
		accessSync(real, constants.R_OK | constants.W_OK);
		accessSync(dirname(real), constants.W_OK | constants.X_OK);
		return real;
	} catch (error) {
		if (error instanceof StoreError) throw error;
		throw new StoreError(`The reservation store ${path} cannot be opened (${reasonOf(error)}): let this user write the file and its folder, or name another path.`, { cause: error });
	}
}
function createIfMissing(path) {
	try {
		closeSync(openSync(path, "wx", 384));
	} catch (error) {
		if (error instanceof Error && "code" in error && error.code === "EEXIST") return;
		throw error;
	}
}
/** Spells "ppsg". */
const header = {
	applicationId: 1886417767,
	format: 1
};
function connect$1(path, firstRevision) {
	try {
		return openDatabase(path, header, blockingMilliseconds, (database) => fill(database, path, firstRevision));
	} catch (error) {
		if (!(error instanceof ForeignFileError)) throw error;
		throw new StoreError(error.format === void 0 ? `The reservation store cannot be ${path}, which is the SQLite database of another program: name another path.` : `The reservation store ${path} has format ${error.format}, and this ppsgate knows format ${header.format}: use the version of ppsgate that made it, or name another path.`);
	}
}
function fill(database, path, firstRevision) {
	const { journal_mode: mode } = database.prepare("PRAGMA journal_mode = WAL").get() ?? {};
	if (mode !== "wal") throw new StoreError(`The reservation store ${path} is on a file system where processes cannot share memory: name a path on a local disk.`);
	database.exec("BEGIN IMMEDIATE");
	if (isEmpty(database, header)) {
		database.exec(schema$1);
		database.prepare("INSERT INTO store (revision) VALUES (?)").run(firstRevision);
	}
	database.exec("COMMIT");
}
/** Text compares as its bytes of UTF-8. */
const schema$1 = `
  CREATE TABLE store (revision INTEGER NOT NULL) STRICT;
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    seconds REAL NOT NULL,
    expires_at REAL NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE entries (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    revision INTEGER NOT NULL,
    session TEXT REFERENCES sessions
  ) STRICT;
  CREATE INDEX entries_by_session ON entries (session) WHERE session IS NOT NULL;
  PRAGMA application_id = ${header.applicationId};
  PRAGMA user_version = ${header.format};
`;
const moved = (path) => `The reservation store ${path} was moved away or replaced while it was in use: start this process again, which then uses what is there now.`;
/**
* SQLite by itself would hold up all of this process for as long as it waits, and ask ever more seldom: among many who
* come and go, one that has waited for long would get no turn. So it gives up soon, and is asked again.
*/
const blockingMilliseconds = 3;
const pauseMilliseconds = 20;
/**
* How long to wait for one and the same lock. A queue of others, who commit one after the other, may take longer than
* that.
*/
const patienceSeconds = 5;
/** Asks and not time: a process that was not let run has waited for nobody. */
const mostAsks = patienceSeconds * 1e3 / 23;
async function inTurn(path, work) {
	let lastSeen;
	for (let asks = 1;; asks += 1) {
		try {
			return work();
		} catch (error) {
			if (!isSqliteError(error)) throw error;
			if (failureOf(error) !== "busy" || asks > mostAsks) throw new StoreError(sentence(path, error), { cause: error });
		}
		const written = statSync(`${path}-wal`, { throwIfNoEntry: false })?.mtimeMs;
		if (written !== lastSeen) asks = 1;
		lastSeen = written;
		await setTimeout$1(pauseMilliseconds);
	}
}
function sentence(path, error) {
	const subject = `The reservation store ${path}`;
	const said = `${reasonOf(error)}, SQLite's code ${error.errcode}`;
	switch (failureOf(error)) {
		case "busy": return `${subject} was locked by another process for more than ${patienceSeconds} s: see which with "fuser -v ${path}", and try again once it is done.`;
		case "read-only":
		case "cannot-open": return `${subject} cannot be written (${said}): let this user write the file, those beside it and its folder, or name another path.`;
		case "input-output": return `${subject} cannot be read or written (${said}): see whether its disk is broken, and what the kernel's log says.`;
		case "corrupt": return `${subject} is damaged (${said}): while nobody uses it, move it away together with ${path}-wal; the new one that is then made knows of no reservations.`;
		case "full": return `${subject} cannot be written because its disk is full: free some space there and try again.`;
		case "not-a-database": return `${subject} is damaged or not an SQLite database: move it away while nobody uses it, if it is ppsgate's, or name another path; a new one knows of no reservations.`;
		case "other": return `${subject} cannot be used (${said}): try again, and if that does not help, move it away while nobody uses it; a new one knows of no reservations.`;
	}
}

// src/reservation/sqlite.ts
/** Makes the file where it is missing; it must be on a local disk. */
async function openSqlite(givenPath, { now, pollSeconds = 1, firstRevision = Date.now() }) {
	const { database, path, use, close } = await openFile(givenPath, firstRevision);
	const sql = await use(() => prepare(database));
	let isBellDue = false;
	/** Nobody else writes meanwhile, and what has expired is gone when the work begins. */
	const write = (work) => use(() => {
		const outcome = transaction(database, sql.beginWrite, sql.commit, () => {
			const time = now();
			if (isAnyOver(time)) removeOver(time);
			return work(time);
		});
		if (isBellDue) ring(path);
		isBellDue = false;
		return outcome;
	});
	/** As of one moment at which nothing had expired; without a lock, unless something has to go first. */
	async function look(take) {
		const seen = await use(() => transaction(database, sql.beginRead, sql.commit, () => {
			const revision = currentRevision();
			return isAnyOver(now()) ? void 0 : { taken: take(revision) };
		}));
		return seen === void 0 ? write(() => take(currentRevision())) : seen.taken;
	}
	const currentRevision = () => revisionOf(sql.revision.get()) ?? 0;
	function nextRevision() {
		isBellDue = true;
		return revisionOf(sql.nextRevision.get()) ?? 0;
	}
	const isAnyOver = (time) => sql.anyOver.get(time) !== void 0;
	function removeOver(time) {
		if (sql.removeEntriesOver.run(time).changes > 0) nextRevision();
		sql.removeSessionsOver.run(time);
	}
	const mayCommit = ({ conditions, put }) => conditions.every(({ key, revision }) => (revisionOf(sql.find.get(key)) ?? 0) === revision) && put.every(({ session }) => session === void 0 || sql.session.get(session) !== void 0);
	return {
		async openSession(seconds) {
			const session = randomUUID();
			await write((time) => sql.openSession.run(session, seconds, time));
			return session;
		},
		async renew(session) {
			return write((time) => sql.renew.run(session, time).changes > 0);
		},
		async endSession(session) {
			await write(() => {
				if (sql.removeEntriesOf.run(session).changes > 0) nextRevision();
				sql.endSession.run(session);
			});
		},
		async read(prefix) {
			return look((revision) => ({
				entries: sql.read.all(prefix).map(entryOf$1),
				revision
			}));
		},
		async commit(change) {
			return write(() => {
				if (!mayCommit(change)) return void 0;
				const revision = nextRevision();
				for (const key of change.remove) sql.remove.run(key);
				for (const { key, value, session } of change.put) sql.put.run(key, value, revision, session ?? null);
				return revision;
			});
		},
		async changed(since, signal) {
			const bell = listen(path, pollSeconds, signal);
			try {
				for (;;) {
					const rung = bell.next();
					signal.throwIfAborted();
					if (await look((revision) => revision) > since) return;
					await rung;
				}
			} finally {
				bell.close();
			}
		},
		async close() {
			close();
		}
	};
}
function prepare(database) {
	const isAlive = "expires_at > ?1 AND expires_at <= ?1 + seconds";
	const one = (text) => database.prepare(text);
	return {
		beginRead: one("BEGIN"),
		beginWrite: one("BEGIN IMMEDIATE"),
		commit: one("COMMIT"),
		revision: one("SELECT revision FROM store"),
		nextRevision: one("UPDATE store SET revision = revision + 1 RETURNING revision"),
		anyOver: one(`SELECT 1 FROM sessions WHERE NOT (${isAlive}) LIMIT 1`),
		removeEntriesOver: one(`DELETE FROM entries WHERE session IN (SELECT id FROM sessions WHERE NOT (${isAlive}))`),
		removeSessionsOver: one(`DELETE FROM sessions WHERE NOT (${isAlive})`),
		session: one("SELECT 1 FROM sessions WHERE id = ?"),
		openSession: one("INSERT INTO sessions (id, seconds, expires_at) VALUES (?1, ?2, ?3 + ?2)"),
		renew: one("UPDATE sessions SET expires_at = ?2 + seconds WHERE id = ?1"),
		removeEntriesOf: one("DELETE FROM entries WHERE session = ?"),
		endSession: one("DELETE FROM sessions WHERE id = ?"),
		find: one("SELECT revision FROM entries WHERE key = ?"),
		read: one(`SELECT key, value, revision FROM entries
       WHERE key >= ?1 AND key < ?1 || CAST(x'ff' AS TEXT) ORDER BY key`),
		put: one(`INSERT INTO entries (key, value, revision, session) VALUES (?, ?, ?, ?) ON CONFLICT (key)
       DO UPDATE SET value = excluded.value, revision = excluded.revision, session = excluded.session`),
		remove: one("DELETE FROM entries WHERE key = ?")
	};
}
function transaction(database, begin, commit, work) {
	begin.run();
	try {
		const outcome = work();
		commit.run();
		return outcome;
	} finally {
		if (database.isTransaction) database.exec("ROLLBACK");
	}
}
const withRevision = object({ revision: int() });
const revisionOf = (row) => row === void 0 ? void 0 : withRevision.parse(row).revision;
const entry = object({
	key: string(),
	value: string(),
	revision: int()
});
const entryOf$1 = (row) => entry.parse(row);
/**
* Wakes those who wait for the file. Its log tells them nothing: SQLite writes there before a commit is done, and then
* makes it known in shared memory.
*/
function ring(path) {
	try {
		const now = /* @__PURE__ */ new Date();
		utimesSync(path, now, now);
	} catch {}
}
/** `next` resolves when the file is rung, every so many seconds, and when the signal aborts. */
function listen(path, pollSeconds, signal) {
	let rung = Promise.withResolvers();
	const hear = () => rung.resolve();
	const watcher = watchIfPossible(path, hear);
	const timer = setInterval(hear, pollSeconds * 1e3);
	signal.addEventListener("abort", hear);
	return {
		next() {
			rung = Promise.withResolvers();
			return rung.promise;
		},
		close() {
			watcher?.close();
			clearInterval(timer);
			signal.removeEventListener("abort", hear);
		}
	};
}
/** Undefined where the host has no watches left. */
function watchIfPossible(path, onChange) {
	try {
		return watch(path, onChange).on("error", () => {});
	} catch {
		return;
	}
}

// src/reservation/open.ts
/** Throws a StoreError where it cannot be used. */
const openStore = (config) => config.store === "etcd" ? openEtcd(config, { now: steadySeconds }) : openSqlite(config.path, { now: steadySeconds });
/** The same for all processes of this machine, whatever is done to its clock. */
const steadySeconds = () => Number(process.hrtime.bigint()) / 1e9;

// src/reservation/queue.ts
const byTurn = (a, b) => priorities.indexOf(a.priority) - priorities.indexOf(b.priority) || a.order - b.order || (a.id < b.id ? -1 : 1);
/**
* What the free testbeds are to be given to, now, in the order of turns. Who must wait also keeps all that come later
* from the machines that he waits for, or testbeds that share one could be given past him for ever.
* Takes time by the lines and the free testbeds, not by those who wait.
*/
function assign(lines, free) {
	const open = new Map(free);
	const openMachines = new Set([...open.values()].flat());
	const heads = lines.filter(({ wants }) => !indexOf(wants).machines.isDisjointFrom(openMachines)).flatMap((line) => headOf(line, 0)).sort(lastInTurn);
	const grants = [];
	while (open.size > 0) {
		const head = heads.pop();
		if (head === void 0) break;
		const { line, index, place } = head;
		const testbed = bestOf(line.wants, open);
		if (testbed === void 0) close(open, indexOf(line.wants).machines);
		else {
			grants.push({
				place,
				testbed
			});
			close(open, new Set(open.get(testbed)));
			for (const next of headOf(line, index + 1)) insertInOrder(heads, next, lastInTurn);
		}
	}
	return grants;
}
function headOf(line, index) {
	const place = line.waiting[index];
	return place === void 0 ? [] : [{
		line,
		index,
		place
	}];
}
const lastInTurn = (a, b) => byTurn(b.place, a.place);
/** Into a list that is in that order, before what equals it. */
function insertInOrder(list, item, order) {
	let [low, high] = [0, list.length];
	while (low < high) {
		const middle = low + high >>> 1;
		const other = list[middle];
		if (other !== void 0 && order(other, item) < 0) low = middle + 1;
		else high = middle;
	}
	list.splice(low, 0, item);
}
/** All that somebody waits for. Where two know of different machines of one testbed, it takes the machines of both. */
function testbedsOf(lines) {
	const testbeds = /* @__PURE__ */ new Map();
	for (const [testbed, machines] of lines.flatMap(({ wants }) => [...wants])) {
		const known = testbeds.get(testbed) ?? [];
		testbeds.set(testbed, [.../* @__PURE__ */ new Set([...known, ...machines])]);
	}
	return testbeds;
}
/** Looks through the fewer of the two: few are open while many wait. */
function bestOf(wants, open) {
	if (wants.size <= open.size) return wants.keys().find((testbed) => open.has(testbed));
	const { rank } = indexOf(wants);
	const rankOf = (testbed) => rank.get(testbed) ?? Number.POSITIVE_INFINITY;
	let best;
	for (const testbed of open.keys()) if ((best === void 0 || rankOf(testbed) < rankOf(best)) && rank.has(testbed)) best = testbed;
	return best;
}
function close(open, machines) {
	for (const [testbed, own] of open) if (own.some((machine) => machines.has(machine))) open.delete(testbed);
}
const indexes = /* @__PURE__ */ new WeakMap();
/** Made once for all who want the same. */
function indexOf(wants) {
	const known = indexes.get(wants);
	if (known !== void 0) return known;
	const index = {
		rank: new Map([...wants.keys()].map((testbed, rank) => [testbed, rank])),
		machines: new Set([...wants.values()].flat())
	};
	indexes.set(wants, index);
	return index;
}

// src/reservation/records.ts
const holder = object({
	/** A person or a job, as people know it. */
	who: string(),
	purpose: string(),
	/** What is judged, like `o/r#12 at 1a2b3c4`. */
	patch: string().optional(),
	/** Page of the job. */
	url: string().optional()
});
const priority = _enum(priorities);
const time = datetime();
const ticket = object({
	priority,
	/** Order of the one whose place was taken over; absent: its own revision. */
	order: number$1().optional(),
	/** Only the newest of one subject waits. */
	subject: string().optional(),
	holder,
	since: time,
	/** Testbeds, the first best, each with its machines. */
	wants: array(tuple([string(), array(string())])),
	/** The testbed on which somebody else has measured for it: what it still lacks is measured there, too. */
	aboard: string().optional()
});
const use = object({
	id: string(),
	testbed: string(),
	holder,
	since: time
});
const holding = object({
	id: string(),
	testbed: string(),
	machines: array(string()),
	priority,
	order: number$1(),
	holder,
	waitingSince: time,
	since: time,
	/** Those who did not bring its machines back to their base. */
	leftBy: array(use)
});
const quarantine = object({
	reason: string(),
	by: string(),
	since: time
});
const logged = object({
	testbed: string(),
	holder,
	priority,
	waitingSince: time,
	since: time.optional(),
	until: time.optional(),
	/** Absent while it is held. */
	outcome: string().optional()
});
const offered = object({
	/** Session of the ticket. */
	session: string(),
	/** What is to be measured, in the words of those who measure. */
	text: string()
});
const ride$1 = object({
	testbed: string(),
	by: holder
});
const folders = {
	ticket: "lab/wait/",
	held: "lab/held/",
	used: "lab/used/",
	log: "log/"
};
const quarantines = "lab/quarantine/";
const keys = {
	ticket: (id) => folders.ticket + id,
	held: (machine) => folders.held + machine,
	used: (machine) => folders.used + machine,
	quarantine: (testbed) => quarantines + testbed,
	log: (id) => folders.log + id,
	/** Under which all offers of one base on one testbed lie, by their tickets. */
	offers: (testbed, base) => `offer/${testbed}/${base}/`,
	/** That somebody measures for a ticket, and under it what was measured. */
	ride: (id) => `ride/${id}/`
};
const text = (record) => JSON.stringify(record);
const putTicket = (id, record, session) => ({
	key: keys.ticket(id),
	value: text(record),
	session
});
const putHolding = (record, session) => record.machines.map((machine) => ({
	key: keys.held(machine),
	value: text(record),
	session
}));
const putUse = (record, machines) => machines.map((machine) => ({
	key: keys.used(machine),
	value: text(record)
}));
/** The ticket of one who was taken aboard. */
const putAboard = ({ id, priority, order, subject, holder, since, asked }, aboard, session) => {
	const record = {
		priority,
		order,
		holder,
		since,
		wants: [...asked].map(([name, machines]) => [name, [...machines]]),
		aboard
	};
	return putTicket(id, {
		...record,
		...subject !== void 0 && { subject }
	}, session);
};
const putOffer = (key, record, session) => ({
	key,
	value: text(record),
	session
});
const putRide = (id, record, session) => ({
	key: keys.ride(id),
	value: text(record),
	session
});
const putQuarantine = (testbed, record) => ({
	key: keys.quarantine(testbed),
	value: text(record)
});
const putLogged = ({ id, ...record }) => ({
	key: keys.log(id),
	value: text(record)
});
async function readLab(store) {
	const { entries, revision } = await store.read("lab/");
	const under = (folder) => entries.filter(({ key }) => key.startsWith(folder));
	return {
		revision,
		tickets: under(folders.ticket).map(ticketOf).toSorted(byTurn),
		held: byName(under(folders.held), folders.held, holdingIn),
		used: byName(under(folders.used), folders.used, (entry) => parsed(use, entry)),
		quarantines: byName(under(quarantines), quarantines, (entry) => parsed(quarantine, entry))
	};
}
/** Who holds a machine, and the revision of the store as of which that is so. */
async function readHolding(store, machine) {
	const key = keys.held(machine);
	const { entries, revision } = await store.read(key);
	const entry = entries.find((one) => one.key === key);
	return {
		holding: entry && holdingIn(entry),
		revision
	};
}
/** The reservations that were made, the oldest first; those of one id where it is given. */
async function readLog(store, id = "") {
	const { entries } = await store.read(keys.log(id));
	return entries.map((entry) => ({
		id: entry.key.slice(folders.log.length),
		...parsed(logged, entry)
	}));
}
const holdingIn = (entry) => ({
	...parsed(holding, entry),
	token: entry.revision
});
function ticketOf(entry) {
	const { order, wants, subject, aboard, ...rest } = parsed(ticket, entry);
	const asked = new Map(wants);
	return {
		...rest,
		id: entry.key.slice(folders.ticket.length),
		order: order ?? entry.revision,
		subject,
		wants: aboard === void 0 ? asked : new Map(wants.filter(([name]) => name === aboard)),
		asked,
		revision: entry.revision
	};
}
function byName(entries, folder, read) {
	return new Map(entries.map((entry) => [entry.key.slice(folder.length), read(entry)]));
}
function parsed(schema, { key, value }) {
	const record = schema.safeParse(fromJson(value));
	if (record.success) return record.data;
	throw new StoreError(`The reservation store holds something under "${key}" that this ppsgate cannot read; use one version of it for one store, or remove that key.`);
}
/** What is offered to whoever has a testbed with that base, by ticket. */
async function readOffers(store, testbed, base) {
	const folder = keys.offers(testbed, base);
	const { entries } = await store.read(folder);
	return byName(entries, folder, (entry) => {
		const { key, revision } = entry;
		return {
			...parsed(offered, entry),
			key,
			revision
		};
	});
}
/** Who measures for a ticket, if anybody does, and what has come of it that was not taken yet, in its order. */
async function readRide(store, id) {
	const key = keys.ride(id);
	const { entries, revision } = await store.read(key);
	const found = entries.find((entry) => entry.key === key);
	const items = entries.filter((entry) => entry !== found);
	return {
		ride: found && parsed(ride$1, found),
		items,
		revision
	};
}
/** All who wait for a machine that the ticket's owner waits for, he himself too, in the order of their turns. */
function rivalsOf({ tickets }, { wants }) {
	const machines = new Set([...wants.values()].flat());
	return tickets.filter((other) => [...other.wants.values()].flat().some((machine) => machines.has(machine)));
}
/** The queue of those who wait, without testbeds that are in quarantine. */
function linesOf({ tickets, quarantines }) {
	const isHealthy = ([testbed]) => !quarantines.has(testbed);
	const healthy = tickets.map((one) => ({
		...one,
		wants: [...one.wants].filter(isHealthy)
	}));
	return [...Map.groupBy(healthy, ({ wants }) => JSON.stringify(wants)).values()].map((waiting) => ({
		wants: new Map(waiting[0]?.wants),
		waiting
	}));
}

// src/reservation/reservation.ts
/** Enters the queue. */
async function enter(store, request, entrance) {
	const { id, session, order } = entrance;
	for (let isIn = false;;) {
		const lab = await readLab(store);
		const own = lab.tickets.find((ticket) => ticket.id === id);
		const older = olderOf(lab, request, own);
		if (isIn && (own === void 0 || older === void 0)) return { kind: "waiting" };
		if (order !== void 0 && older !== void 0) return {
			kind: "gone",
			why: gaveWayTo(older.holder)
		};
		if (await store.commit(entryOf(request, entrance, own, older)) !== void 0) {
			if (request.subject === void 0) return { kind: "waiting" };
			isIn = true;
		} else if (!await store.renew(session)) return {
			kind: "gone",
			why: void 0
		};
	}
}
/** One of the same subject that has come before, and still waits for the same. */
function olderOf({ tickets }, { subject, testbeds }, own) {
	if (subject === void 0) return void 0;
	const names = [...testbeds.keys()].join();
	return tickets.find((ticket) => ticket.subject === subject && [...ticket.asked.keys()].join() === names && (own === void 0 || ticket.revision < own.revision));
}
function entryOf(request, entrance, own, older) {
	const { testbeds, priority, holder, subject } = request;
	const { id, session, at } = entrance;
	const order = (older && Math.min(older.order, own?.order ?? older.order)) ?? entrance.order;
	const ticket = {
		priority,
		...order !== void 0 && { order },
		...subject !== void 0 && { subject },
		holder,
		since: at.toISOString(),
		wants: [...testbeds].map(([name, machines]) => [name, [...machines]])
	};
	const replaced = older === void 0 ? [] : [older];
	return {
		conditions: [{
			id,
			revision: own?.revision ?? 0
		}, ...replaced].map(({ id, revision }) => ({
			key: keys.ticket(id),
			revision
		})),
		put: [putTicket(id, ticket, session), ...replaced.map((one) => putLogged(superseded(one, holder, at)))],
		remove: replaced.map((one) => keys.ticket(one.id))
	};
}
const superseded = (ticket, by, at) => ({
	id: ticket.id,
	testbed: "",
	holder: ticket.holder,
	priority: ticket.priority,
	waitingSince: ticket.since,
	until: at.toISOString(),
	outcome: gaveWayTo(by)
});
const gaveWayTo = (by) => `its place in the queue went to ${by.patch ?? by.purpose}`;
/** Takes a testbed if it is one's turn. */
async function tryTake(store, id, session, at) {
	for (;;) {
		const lab = await readLab(store);
		const ticket = lab.tickets.find((one) => one.id === id);
		if (ticket === void 0) return withoutTicket(store, lab, id);
		const sick = [...lab.quarantines].filter(([testbed]) => ticket.wants.has(testbed));
		if (sick.length === ticket.wants.size) return {
			kind: "none-healthy",
			quarantines: new Map(sick)
		};
		const lines = linesOf(lab);
		const grant = assign(lines, freeIn(lab, lines)).find(({ place }) => place.id === id);
		if (grant === void 0) return {
			kind: "waiting",
			ticket,
			lab
		};
		const taking = takingOf(lab, ticket, grant.testbed, at);
		const lost = await lostUses(store, taking.holding.leftBy, at);
		const token = await store.commit({
			conditions: [
				{
					key: keys.ticket(id),
					revision: ticket.revision
				},
				{
					key: keys.quarantine(grant.testbed),
					revision: 0
				},
				...taking.holding.machines.map((machine) => ({
					key: keys.held(machine),
					revision: 0
				}))
			],
			put: [
				...putHolding(taking.holding, session),
				...putUse(taking.use, taking.holding.machines),
				putLogged(taking.logged),
				...lost.map(putLogged)
			],
			remove: [keys.ticket(id)]
		});
		if (token === void 0) continue;
		return {
			kind: "taken",
			holding: {
				...taking.holding,
				token
			}
		};
	}
}
/** A commit whose answer was lost may have been done. */
async function withoutTicket(store, lab, id) {
	const holding = holdingOf(lab, id);
	if (holding !== void 0) return {
		kind: "taken",
		holding
	};
	const [logged] = await readLog(store, id);
	return {
		kind: "gone",
		why: logged?.outcome
	};
}
/** The testbeds somebody waits for that could be taken now. */
function freeIn({ held }, lines) {
	const isFree = ([, machines]) => !machines.some((machine) => held.has(machine));
	return new Map([...testbedsOf(lines)].filter(isFree));
}
function takingOf(lab, ticket, testbed, at) {
	const { id, priority, order, holder, wants } = ticket;
	const machines = [...wants.get(testbed) ?? []];
	const [waitingSince, since] = [ticket.since, at.toISOString()];
	const left = machines.flatMap((machine) => lab.used.get(machine) ?? []);
	return {
		holding: {
			id,
			testbed,
			machines,
			priority,
			order,
			holder,
			waitingSince,
			since,
			leftBy: [...new Map(left.map((one) => [one.id, one])).values()]
		},
		use: {
			id,
			testbed,
			holder,
			since
		},
		logged: {
			id,
			testbed,
			holder,
			priority,
			waitingSince,
			since
		}
	};
}
/** Its `until` is when that was found out. */
const lostOutcome = "it was not renewed in time";
/** Whose sessions ended before they could say how it went. */
async function lostUses(store, uses, at) {
	const open = (await Promise.all(uses.map(({ id }) => readLog(store, id)))).flat().filter(({ outcome }) => outcome === void 0);
	const until = at.toISOString();
	return open.map((logged) => ({
		...logged,
		until,
		outcome: lostOutcome
	}));
}
function holdingOf({ held }, id) {
	return held.values().find((holding) => holding.id === id);
}
/** Gives a testbed back; false where it was not held any more, which changes nothing. */
async function giveBack(store, holding, { outcome, isClean, quarantine }, at) {
	const { id, testbed, machines, token, holder, priority, waitingSince, since } = holding;
	const logged = {
		id,
		testbed,
		holder,
		priority,
		waitingSince,
		since
	};
	const isNew = quarantine !== void 0 && !(await readLab(store)).quarantines.has(testbed);
	return await store.commit({
		conditions: machines.map((machine) => ({
			key: keys.held(machine),
			revision: token
		})),
		put: [putLogged({
			...logged,
			until: at.toISOString(),
			outcome
		}), ...isNew ? [putQuarantine(testbed, quarantine)] : []],
		remove: [...machines.map(keys.held), ...isClean ? machines.map(keys.used) : []]
	}) !== void 0;
}
/** Nobody gets the testbed from now on; who holds it keeps it. */
async function setQuarantine(store, testbed, quarantine) {
	await store.commit({
		conditions: [],
		put: [putQuarantine(testbed, quarantine)],
		remove: []
	});
}
/** False where there was none. */
async function liftQuarantine(store, testbed) {
	const { quarantines } = await readLab(store);
	if (!quarantines.has(testbed)) return false;
	await store.commit({
		conditions: [],
		put: [],
		remove: [keys.quarantine(testbed)]
	});
	return true;
}

// src/reservation/lease-file.ts
const fileName = "lease.json";
const schema = object({
	id: string(),
	session: string(),
	testbed: string(),
	reservations: custom((value) => typeof value === "object")
});
/** Writes it into the directory of a gate, where it stays as long as the testbed is held. */
async function keepLease(directory, { holding, session, testbed }, reservations) {
	await mkdir(directory, { recursive: true });
	const left = {
		id: holding.id,
		session,
		testbed,
		reservations
	};
	await writeFile(join(directory, fileName), `${JSON.stringify(left, null, 2)}\n`);
}
const forgetLease = (directory) => rm(join(directory, fileName), { force: true });
/** The directories with a lease, among this one and all below it: several gates of one process have one each. */
async function directoriesWithLease(top) {
	return (await readdir(top, { recursive: true }).catch(() => [])).filter((name) => basename(name) === fileName).map((name) => dirname(join(top, name))).toSorted();
}
/**
* Gives back what a process that has ended still held; its next holder brings it to its base. Answers the testbed's
* name; undefined where nothing was held any more. Throws a StoreError.
*/
async function releaseLeft(directory, now) {
	const text = await readFile(join(directory, fileName), "utf8").catch(() => void 0);
	if (text === void 0) return void 0;
	const left = leaseIn(text);
	if (left === void 0) throw new StoreError(`The lease in ${directory} cannot be read: it ends by itself where its process has ended.`);
	const store = await openStore(left.reservations);
	try {
		const holding = holdingOf(await readLab(store), left.id);
		const ending = {
			outcome: "its process had ended",
			isClean: false
		};
		if (holding !== void 0) await giveBack(store, holding, ending, now);
		await store.endSession(left.session);
		await forgetLease(directory);
		return holding?.testbed;
	} finally {
		await store.close();
	}
}
function leaseIn(text) {
	try {
		return schema.parse(JSON.parse(text));
	} catch {
		return;
	}
}

// src/reservation/batch.ts
/** The most bytes of an offer as it is written: etcd takes requests of 1.5 MiB, in which they are in base64. */
const mostOfferBytes = 2 ** 20;
/** Offers what a ticket waits for on each of its testbeds, to whoever has it. */
async function offer(store, ticket, session, passenger) {
	const offers = [...passenger.offers()].filter(([testbed]) => ticket.wants.has(testbed)).map(([testbed, { base, text }]) => putOffer(keys.offers(testbed, base) + ticket.id, {
		session,
		text
	}, session));
	for (const one of offers.filter(({ value }) => Buffer.byteLength(value) < mostOfferBytes)) await store.commit({
		conditions: [],
		put: [one],
		remove: []
	});
}
/**
* Takes what somebody measures for a ticket, for as long as he does. Answers whether that was all of it; the ticket
* has its place in the queue if not.
*/
async function ride(store, ticket, passenger, received, { date, signal }) {
	const { id } = ticket;
	let isAboard = false;
	for (;;) {
		const { ride, items, revision } = await readRide(store, id);
		if (ride === void 0) return received.isAll;
		if (!isAboard) await passenger.boarded(ride.testbed, ride.by);
		isAboard = true;
		for (const { key, value, revision } of items) {
			if (revision > received.revision) {
				received.isAll = await passenger.receive(value);
				received.revision = revision;
			}
			const put = received.isAll ? [putLogged(riddenOf(ticket, ride, date()))] : [];
			await store.commit({
				conditions: [],
				put,
				remove: [key]
			});
			if (received.isAll) return true;
		}
		if ((await readLab(store)).tickets.every((one) => one.id !== id)) return false;
		await store.changed(revision, signal).catch((error) => {
			if (!signal.aborted) throw error;
		});
		if (signal.aborted) return false;
	}
}
/** A passenger has never held the testbed, so that there is no time since which it did. */
const riddenOf = ({ id, holder, priority, since }, { testbed, by }, at) => ({
	id,
	testbed,
	holder,
	priority,
	waitingSince: since,
	until: at.toISOString(),
	outcome: `measured together with ${by.patch ?? by.purpose}`
});
/**
* Takes at most so many more of those aboard who offer what has this base, in the order of their turns; `except` are ids
* of tickets that are left where they are.
*/
async function takeAboard(lease, { base, most, except }, world) {
	const { store } = world;
	const { testbed, holding, session } = lease;
	const taken = [];
	if (most < 1) return taken;
	const offers = await readOffers(store, testbed, base);
	if (offers.size === 0) return taken;
	const lab = await readLab(store);
	if (lab.quarantines.has(testbed)) return taken;
	for (const ticket of mayBoard(lab, holding)) {
		const offered = offers.get(ticket.id);
		if (offered === void 0 || except.has(ticket.id) || taken.length === most) continue;
		const revision = await boarded(ticket, offered);
		if (revision === void 0) continue;
		taken.push(aboard({
			...ticket,
			revision
		}, offered.text, lease, world));
	}
	return taken;
	async function boarded(ticket, offered) {
		try {
			return await store.commit({
				conditions: [{
					key: keys.ticket(ticket.id),
					revision: ticket.revision
				}, {
					key: offered.key,
					revision: offered.revision
				}],
				put: [putAboard(ticket, testbed, offered.session), putRide(ticket.id, {
					testbed,
					by: holding.holder
				}, session)],
				remove: [offered.key]
			});
		} catch (error) {
			if (!(error instanceof StoreError)) throw error;
			const remove = [keys.ride(ticket.id)];
			await store.commit({
				conditions: [],
				put: [],
				remove
			}).catch(() => {});
			return;
		}
	}
}
/** Nobody of a higher priority is made to wait longer; those of the same who came before are, by as many as are taken. */
function mayBoard({ tickets }, { testbed, machines }) {
	const first = tickets.find(({ wants }) => [...wants.values()].flat().some((machine) => machines.includes(machine)));
	return tickets.filter(({ wants, priority }) => wants.has(testbed) && priority === first?.priority);
}
function aboard({ id, holder, revision }, text, lease, { store, leaseSeconds, sleep }) {
	const { session } = lease;
	const left = new AbortController();
	const over = AbortSignal.any([lease.over, left.signal]);
	let sent = 0;
	const watch = async () => {
		for (let seen = revision; !over.aborted;) try {
			await store.changed(seen, over, keys.ticket(id));
			const found = await store.read(keys.ticket(id));
			if (found.entries.length === 0) left.abort(/* @__PURE__ */ new Error(`nobody waits for ${id} any more`));
			seen = found.revision;
		} catch {
			await sleep(leaseSeconds / 10, over);
		}
	};
	watch().catch(() => {});
	return {
		id,
		holder,
		text,
		signal: left.signal,
		async send(item) {
			over.throwIfAborted();
			const key = `${keys.ride(id)}${String(sent).padStart(9, "0")}`;
			sent += 1;
			const put = [{
				key,
				value: item,
				session
			}];
			if (await store.commit({
				conditions: [],
				put,
				remove: []
			}) === void 0) throw new StoreError(`What was measured for ${holder.who} cannot be sent any more.`);
		},
		async kept() {
			const done = new AbortController();
			const until = AbortSignal.any([over, done.signal]);
			const taken = async () => {
				for (;;) try {
					const { items, revision } = await readRide(store, id);
					if (items.length === 0) return;
					await store.changed(revision, until, keys.ride(id));
				} catch (error) {
					if (!(error instanceof StoreError)) throw error;
					await sleep(leaseSeconds / 10, until);
				}
			};
			const late = async () => {
				await sleep(patienceInLeases * leaseSeconds, until);
				throw new StoreError(`${holder.who} does not take what was measured for it.`);
			};
			try {
				await Promise.race([taken(), late()]);
			} catch (error) {
				const hasTaken = async () => (await readRide(store, id)).items.length === 0;
				if (!left.signal.aborted || !await hasTaken()) throw error;
			} finally {
				done.abort();
			}
		},
		async putAshore() {
			const { entries } = await store.read(keys.ride(id));
			await store.commit({
				conditions: [],
				put: [],
				remove: entries.map(({ key }) => key)
			});
		}
	};
}
/** A process that renews its session, and takes nothing for so many leases, is stuck: the DUT stands still meanwhile. */
const patienceInLeases = 1;

// src/reservation/session.ts
/** Opens a session and renews it until it ends. */
async function openSession(world) {
	const { store, leaseSeconds, now, sleep } = world;
	const stopped = new AbortController();
	const over = new AbortController();
	let aliveUntil = now() + leaseSeconds;
	let trouble;
	const id = await store.openSession(leaseSeconds);
	const end = (why) => {
		stopped.abort();
		over.abort(new Error(why));
	};
	const assertAlive = () => {
		if (now() >= aliveUntil) end(whyNotRenewed(leaseSeconds, trouble));
		over.signal.throwIfAborted();
	};
	const renew = async () => {
		for (;;) {
			await sleep(leaseSeconds / (trouble === void 0 ? 3 : 10), stopped.signal);
			const askedAt = now();
			try {
				if (!await store.renew(id)) return end(endedByStore(leaseSeconds));
				aliveUntil = askedAt + leaseSeconds;
				trouble = void 0;
			} catch (error) {
				trouble = error;
			}
		}
	};
	const watchTime = async () => {
		for (let left = aliveUntil - now(); left > 0; left = aliveUntil - now()) await sleep(left, stopped.signal);
		end(whyNotRenewed(leaseSeconds, trouble));
	};
	for (const loop of [renew, watchTime]) loop().catch(ifStopped(stopped.signal, end));
	return {
		id,
		signal: over.signal,
		assertAlive,
		async end() {
			stopped.abort();
			await store.endSession(id);
		}
	};
}
const endedByStore = (leaseSeconds) => `the store had ended it, as for all it knew it was not renewed for ${leaseSeconds} s`;
function whyNotRenewed(leaseSeconds, trouble) {
	return `it was not renewed for ${leaseSeconds} s (${trouble === void 0 ? "this process was stopped, or very slow" : reasonOf(trouble)})`;
}
const ifStopped = (stopped, end) => (error) => {
	if (!stopped.aborted) end(reasonOf(error));
};

// src/reservation/lease.ts
/** The testbed is somebody else's by now, or may be. */
var LeaseLostError = class extends Error {
	name = "LeaseLostError";
	constructor(testbed, why) {
		super(`The lease of ${testbed} was lost: ${why}; nothing more is done on it, and a gate that was cut short goes on with --resume.`);
	}
};
/** Nothing was reserved, and waiting on would not change that. */
var NotReservedError = class extends Error {
	name = "NotReservedError";
};
async function reserve(request, world, order, passenger) {
	const { store, date } = world;
	const session = await openSession(world);
	try {
		const at = date();
		const id = `${at.toISOString()}-${world.randomId()}`;
		const entrance = {
			id,
			session: session.id,
			at,
			...order !== void 0 && { order }
		};
		const entry = await enter(store, request, entrance);
		if (entry.kind === "gone") throw new NotReservedError(whyNone(entry));
		const holding = await waitForTurn(id, session, world, passenger);
		if (holding !== void 0) return leaseOf(holding, session, world);
		await session.end().catch(() => {});
		return;
	} catch (error) {
		await session.end().catch(() => {});
		throw error;
	}
}
const tooSlow = "Nothing was reserved: this process was stopped, or cut off from the reservation store, for longer than a lease lasts; start it again.";
async function waitForTurn(id, session, world, passenger) {
	const { store, leaseSeconds, now, sleep, date, onWait } = world;
	const signal = AbortSignal.any([world.signal, session.signal]);
	let troubledSince;
	let isOffered = false;
	const received = {
		revision: 0,
		isAll: false
	};
	for (;;) {
		world.signal.throwIfAborted();
		if (session.signal.aborted) throw new NotReservedError(tooSlow);
		try {
			const attempt = await tryTake(store, id, session.id, date());
			troubledSince = void 0;
			if (attempt.kind === "taken") return attempt.holding;
			if (attempt.kind !== "waiting") throw new NotReservedError(whyNone(attempt));
			onWait(attempt);
			if (passenger !== void 0) {
				const { ticket } = attempt;
				const { ride: riding } = await readRide(store, id);
				if (riding !== void 0) {
					isOffered = false;
					if (await ride(store, ticket, passenger, received, {
						date,
						signal
					})) return void 0;
					continue;
				}
				if (!isOffered) await offer(store, ticket, session.id, passenger);
				isOffered = true;
			}
			await store.changed(attempt.lab.revision, signal).catch(unlessAborted(signal));
			await sleep(secondsToYield(attempt), signal).catch(unlessAborted(signal));
		} catch (error) {
			if (!(error instanceof StoreError)) throw error;
			troubledSince ??= now();
			if (now() - troubledSince >= mostLeasesOfTrouble * leaseSeconds) throw error;
			await sleep(leaseSeconds / 10, signal).catch(unlessAborted(signal));
		}
	}
}
/** Trouble with the store is borne for so many leases: it may renew a session, and answer nothing else. */
const mostLeasesOfTrouble = 5;
/** Whoever is next looks at once; the others not all in the same moment, which would only hold him up. */
const secondsToYield = ({ lab, ticket }) => Math.min(rivalsOf(lab, ticket).indexOf(ticket) / 10, mostSecondsToYield);
const mostSecondsToYield = 5;
/** Who aborted is looked for where that is told. */
const unlessAborted = (signal) => (error) => {
	if (!signal.aborted) throw error;
};
function whyNone(attempt) {
	if (attempt.kind === "gone") return attempt.why === void 0 ? tooSlow : `Nothing was reserved: ${attempt.why}.`;
	return `Nothing was reserved: all that would do is in quarantine, ${[...attempt.quarantines].map(([testbed, { reason, since }]) => `${testbed} since ${since} (${reason})`).join(", ")}; once it is mended, lift it with \`ppsgate quarantine NAME --lift\`.`;
}
function leaseOf(holding, session, world) {
	const { store, leaseSeconds, date, sleep } = world;
	const { testbed, token, machines } = holding;
	const [machine = ""] = machines;
	const lost = new AbortController();
	const ended = new AbortController();
	const lose = (why) => {
		if (ended.signal.aborted) return;
		lost.abort(new LeaseLostError(testbed, why));
		ended.abort();
		session.end().catch(() => {});
	};
	const assertHeld = () => {
		try {
			session.assertAlive();
		} catch (error) {
			lose(reasonOf(error));
		}
		lost.signal.throwIfAborted();
		if (ended.signal.aborted) throw new LeaseLostError(testbed, "it was given back");
	};
	const look = async () => {
		const { holding: found, revision } = await readHolding(store, machine);
		if (found?.id !== holding.id) lose(await whyTaken());
		return revision;
	};
	const whyTaken = async () => {
		const [logged] = await readLog(store, holding.id);
		return logged?.outcome ?? `it was not renewed for ${leaseSeconds} s`;
	};
	const watch = async () => {
		for (let revision = token; !ended.signal.aborted;) try {
			await store.changed(revision, ended.signal, keys.held(machine));
			revision = await look();
		} catch {
			await sleep(leaseSeconds / 10, ended.signal);
		}
	};
	const onOver = () => lose(reasonOf(session.signal.reason));
	session.signal.addEventListener("abort", onOver, { signal: ended.signal });
	if (session.signal.aborted) onOver();
	watch().catch(() => {});
	return {
		testbed,
		token,
		holding,
		session: session.id,
		signal: lost.signal,
		over: ended.signal,
		assertHeld,
		async prove() {
			assertHeld();
			await look();
			assertHeld();
		},
		async release(ending) {
			if (ended.signal.aborted) return;
			ended.abort();
			try {
				await giveBack(store, holding, ending, date());
			} finally {
				await session.end().catch(() => {});
			}
		}
	};
}

// src/reservation/forecast.ts
/** Who starts where and when, in that order; ends where nobody waits any more, or nobody who does can be served. */
function* simulate({ lines, held, testbeds, usualSeconds }) {
	const queue = lines.map(({ wants, waiting }) => ({
		wants,
		waiting: [...waiting]
	}));
	const lineOf = new Map(queue.flatMap((line) => line.waiting.map((place) => [place, line])));
	const machines = openMachines(testbeds);
	const ends = held.map((one) => ({
		machines: one.machines,
		at: one.secondsLeft
	}));
	ends.sort(lastToEnd);
	for (const one of ends) machines.take(one.machines);
	for (let now = 0;;) {
		for (const grant of assign(queue, machines.free)) {
			yield {
				...grant,
				afterSeconds: now
			};
			lineOf.get(grant.place)?.waiting.shift();
			const taken = testbeds.get(grant.testbed) ?? [];
			machines.take(taken);
			insertInOrder(ends, {
				machines: taken,
				at: now + usualSeconds(grant.testbed)
			}, lastToEnd);
		}
		let next = ends.at(-1);
		if (next === void 0) return;
		now = Math.max(now, next.at);
		for (; next !== void 0 && next.at <= now; next = ends.at(-1)) {
			machines.giveBack(next.machines);
			ends.pop();
		}
	}
}
const lastToEnd = (a, b) => b.at - a.at;
/** Seconds until it is one's turn; undefined where it never comes. */
function expectedWait(load, id) {
	return simulate(load).find(({ place }) => place.id === id)?.afterSeconds;
}
/** Which testbeds are free while machines are taken and given back. */
function openMachines(testbeds) {
	const uses = [...testbeds].flatMap(([testbed, machines]) => machines.map((machine) => ({
		testbed,
		machine
	})));
	const users = Map.groupBy(uses, ({ machine }) => machine);
	const testbedsOn = (machine) => (users.get(machine) ?? []).map(({ testbed }) => testbed);
	const taken = /* @__PURE__ */ new Set();
	const free = new Map(testbeds);
	return {
		free,
		take(machines) {
			for (const machine of machines) {
				taken.add(machine);
				for (const testbed of testbedsOn(machine)) free.delete(testbed);
			}
		},
		giveBack(machines) {
			for (const machine of machines) taken.delete(machine);
			for (const testbed of new Set(machines.flatMap(testbedsOn))) {
				const own = testbeds.get(testbed) ?? [];
				if (!own.some((machine) => taken.has(machine))) free.set(testbed, own);
			}
		}
	};
}

// src/reservation/outlook.ts
/** Purpose of one who only looks whether a testbed is well, which is over in moments. */
const lookPurpose = "health";
function outlookOf(lab, ticket, usualSeconds, now) {
	const expectedSeconds = expectedWait(loadOf(lab, usualSeconds, now), ticket.id);
	return {
		...placeOf(lab, ticket),
		...expectedSeconds !== void 0 && { expectedSeconds }
	};
}
/** The same of all who wait, by the ids of their tickets, with the queue played on only once. */
function outlooksOf(lab, usualSeconds, now) {
	const starts = [...simulate(loadOf(lab, usualSeconds, now))];
	const waits = new Map(starts.map(({ place, afterSeconds }) => [place.id, afterSeconds]));
	return new Map(lab.tickets.map((ticket) => {
		const expectedSeconds = waits.get(ticket.id);
		const expected = expectedSeconds !== void 0 && { expectedSeconds };
		return [ticket.id, {
			...placeOf(lab, ticket),
			...expected
		}];
	}));
}
/** Which testbed somebody would get who came now, and after how many seconds; undefined where nothing that would do is healthy. */
function startOf(lab, { priority, testbeds }, usualSeconds, now) {
	const newcomer = {
		id: "",
		order: Number.POSITIVE_INFINITY,
		priority,
		revision: 0,
		wants: testbeds,
		asked: testbeds,
		holder: {
			who: "",
			purpose: ""
		},
		since: now.toISOString(),
		subject: void 0
	};
	const tickets = [...lab.tickets, newcomer].toSorted(byTurn);
	const start = simulate(loadOf({
		...lab,
		tickets
	}, usualSeconds, now)).find(({ place }) => place.id === newcomer.id);
	return start && {
		testbed: start.testbed,
		afterSeconds: start.afterSeconds
	};
}
function placeOf(lab, ticket) {
	const rivals = rivalsOf(lab, ticket);
	return {
		place: rivals.indexOf(ticket) + 1,
		of: rivals.length
	};
}
function loadOf(lab, usualSeconds, now) {
	const lines = linesOf(lab);
	const holdings = new Map([...lab.held.values()].map((holding) => [holding.id, holding]));
	return {
		lines,
		testbeds: testbedsOf(lines),
		held: [...holdings.values()].map(({ machines, testbed, since }) => {
			const elapsed = Math.max(0, (now.getTime() - Date.parse(since)) / 1e3);
			return {
				machines,
				secondsLeft: Math.max(usualSeconds(testbed) - elapsed, leastSeconds)
			};
		}),
		usualSeconds
	};
}
/** Nobody knows more of a holder that has been there longer than usual. */
const leastSeconds = 60;
/** Where nothing is known yet: a cell or two. */
const firstGuessSeconds = 1800;
/** Goes by what the log has of this month and the last one. */
async function readUsualSeconds(store, now) {
	const months = [new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1)), now].map((date) => date.toISOString().slice(0, 7));
	return usualSecondsOf((await Promise.all(months.map((month) => readLog(store, month)))).flat());
}
function usualSecondsOf(log) {
	const held = log.flatMap(({ testbed, holder, since, until, outcome }) => since === void 0 || until === void 0 || outcome === "it was not renewed in time" || !isCarriedThrough(outcome) || holder.purpose === "health" ? [] : [{
		testbed,
		seconds: (Date.parse(until) - Date.parse(since)) / 1e3
	}]);
	const byTestbed = Map.groupBy(held, ({ testbed }) => testbed);
	return (testbed) => {
		const known = (byTestbed.get(testbed) ?? held).slice(-20).map(({ seconds }) => seconds);
		return known.length === 0 ? firstGuessSeconds : median(known);
	};
}

export { NotReservedError, StoreError, directoriesWithLease, forgetLease, giveBack, holdingOf, keepLease, liftQuarantine, lookPurpose, openStore, outlookOf, outlooksOf, readLab, readLog, readUsualSeconds, releaseLeft, reserve, setQuarantine, startOf, steadySeconds, takeAboard };