import { openHttpClient } from "../../system/http.js";
import { boolean, number, object, union } from "../../vendor/zod.js";
import { readAccount, readCertificates } from "./store/plain.js";
import { document, list, prose, word } from "../../model/first.js";
import { parseJson, shortened } from "../../model/first-plain.js";
import { StoreError } from "./store/first-plain.js";
const { setTimeout: setTimeout$1 } = globalThis.process.getBuiltinModule("node:timers/promises");

// src/gate/reserve/store/etcd-response.ts
/** Exceeds all reservations of a lab. */
const maxResponseBytes = 16 * 1024 ** 2;
/** Removes secrets, which a response may echo. */
function readResponse(url, response, schema, secrets) {
	if (response.kind === "no-answer") return failureOf(url, response);
	const withoutSecrets = (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "…"), text);
	const { status, headers, body } = response;
	if (body === void 0) return {
		kind: "failed",
		problem: "slow",
		why: `a response of more than ${maxResponseBytes} bytes`,
		maybeDone: true
	};
	const json = parseJson(body.toString());
	const error = errorDocument.safeParse(json);
	if (error.success) return errorOf(status, withoutSecrets(error.data.message));
	const value = schema.safeParse(json);
	if (status === 200 && value.success) return {
		kind: "ok",
		value: value.data
	};
	const why = shortened(withoutSecrets(`it responds with ${status} ${headers.get("content-type") ?? ""}`));
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
const errorStatus = object({ message: prose() });
/** On streams, the message is within `error`. */
const errorDocument = union([object({ error: errorStatus }).transform(({ error }) => error), errorStatus]);
function errorOf(status, message) {
	const hasAny = (...texts) => texts.some((text) => message.includes(text));
	if (hasAny("invalid auth token", "revision of auth store is old")) return { kind: "stale-token" };
	const why = shortened(message);
	if (hasAny("no leader")) return {
		kind: "failed",
		problem: "no leader",
		why,
		maybeDone: false
	};
	if (hasAny("too many requests")) return {
		kind: "failed",
		problem: "slow",
		why,
		maybeDone: false
	};
	if (status < 500 && !(status === 408) || hasAny("database space exceeded")) return {
		kind: "refused",
		message,
		isLeaseGone: hasAny("requested lease not found")
	};
	return {
		kind: "failed",
		problem: "slow",
		why,
		maybeDone: true
	};
}
function failureOf(url, noResponse) {
	const { code, lateSeconds, wasSent, distrust } = noResponse;
	const why = lateSeconds === void 0 ? noResponse.why : `no response within ${lateSeconds} s`;
	const failed = (problem, reason, maybeDone = false) => ({
		kind: "failed",
		problem,
		why: shortened(reason),
		maybeDone
	});
	if (distrust?.fault === "name") return failed("wrong name", `it is for ${distrust.names}, not for ${url.hostname}`);
	if (distrust !== void 0) return failed("untrusted", distrust.reason.replace(/;.*/, ""));
	if (/ALERT.*(?:CERTIFICATE|UNKNOWN_CA)/.test(code)) return failed("unwelcome", "it refuses this client's certificate, or requires one");
	if (code === "ECONNREFUSED") return failed("unreachable", "connection refused");
	if (code === "ENOTFOUND") return failed("unreachable", "no such host name");
	if (code === "ECONNRESET" && (url.protocol === "http:" || !wasSent)) return failed("unreachable", `it closed the connection, as a server of ${url.protocol === "http:" ? "https" : "plain http"} does`, wasSent);
	return failed(wasSent ? "slow" : "unreachable", why, wasSent);
}
/** Most specific first. A permanent one needs a fix. */
const problems = {
	"no leader": {
		summary: "etcd has no leader: more than half of its members must run and reach each other",
		advice: "start or reconnect the others",
		isPermanent: false
	},
	"wrong name": {
		summary: "etcd's certificate is for another host name",
		advice: "use a name of the certificate in `endpoints`, or issue that member a certificate for this name",
		isPermanent: true
	},
	untrusted: {
		summary: "etcd's certificate is not trusted",
		advice: "set `ca` to the PEM of the authority that signed it, or renew the certificate",
		isPermanent: true
	},
	unwelcome: {
		summary: "etcd refuses this client",
		advice: "set `certificate` and `key` to a pair signed by the authority in etcd's --trusted-ca-file",
		isPermanent: true
	},
	"not etcd": {
		summary: "etcd cannot be used: another server responds",
		advice: "check `endpoints`, and that the JSON gateway of etcd is on (--enable-grpc-gateway)",
		isPermanent: true
	},
	slow: {
		summary: "etcd did not execute the request",
		advice: "check the load and the log of its members, and the network between them",
		isPermanent: false
	},
	unreachable: {
		summary: "etcd cannot be reached",
		advice: "check that it runs, `endpoints` (http or https, name, port), and the network to it",
		isPermanent: false
	}
};
const isPermanent = ({ problem }) => problems[problem].isPermanent;
/** `failures` has the last one of each endpoint. */
function failureSentence(failures) {
	const all = [...failures].map(([endpoint, { why }]) => `${endpoint}: ${why}`).join("; ");
	const occurred = new Set(failures.values().map(({ problem }) => problem));
	const worst = Object.keys(problems).find((problem) => occurred.has(problem));
	const { summary, advice } = problems[worst ?? "unreachable"];
	return `${summary} (${all}); ${advice}.`;
}
const unconfirmedSentence = (endpoint, { why }) => `etcd did not confirm a change (${endpoint}: ${why}), which may nevertheless have been made; check the reservations before you repeat it.`;
/** `user` is undefined without a login. */
function refusalSentence(endpoint, message, { user, prefix }) {
	const who = user === void 0 ? "one without a name" : `the user ${user}`;
	const [, summary = "refuses a request", advice = "check its version (3.4 or later) and its log"] = refusals(who, prefix).find(([part]) => message.includes(part)) ?? [];
	return `etcd at ${endpoint} ${summary} (${shortened(message)}); ${advice}.`;
}
const refusals = (who, prefix) => [
	[
		"authentication failed",
		`refuses the login of ${who}`,
		"correct `user`, or the password in `passwordFile`"
	],
	[
		"user name is empty",
		"requires a user",
		"set `user` and `passwordFile`"
	],
	[
		"permission denied",
		`does not let ${who} read and write keys that begin with ${prefix}`,
		`allow it with: etcdctl role grant-permission ROLE --prefix=true readwrite ${prefix}`
	],
	[
		"authentication is not enabled",
		"does not require passwords",
		"enable authentication (etcdctl auth enable), or remove `user` and `passwordFile`"
	],
	[
		"database space exceeded",
		"is full",
		"compact and defragment it, then disarm the alarm: etcdctl compact, defrag, alarm disarm"
	]
];

// src/gate/reserve/store/etcd-schema.ts
const maxEntries = 1e5;
/** A decimal number, in a string. */
const int64 = number().int();
const base64 = document.transform((text) => Buffer.from(text, "base64").toString());
const header = object({ revision: int64 });
const loginSchema = object({ token: word });
/** The ID stays a string, as it may exceed a number's precision. */
const grantSchema = object({ ID: word });
/** An expired lease has no TTL. */
const keepAliveSchema = object({ result: object({ TTL: int64.default(0) }) });
const revokeSchema = object({});
const rangeSchema = object({
	header,
	kvs: list(object({
		key: base64,
		value: base64.default(""),
		mod_revision: int64
	}), maxEntries).default([])
});
const commitSchema = object({
	header,
	succeeded: boolean().default(false)
});
const watchSchema = object({ result: object({
	created: boolean().default(false),
	canceled: boolean().default(false),
	/** Oldest revision that can be watched, if the requested one was compacted. */
	compact_revision: int64.default(0),
	events: list(object({ kv: object({
		key: base64,
		mod_revision: int64
	}) }), maxEntries).default([])
}) });

// src/gate/reserve/store/etcd-gateway.ts
/** Reports a change that may have been made. */
var UnconfirmedError = class extends StoreError {};
/** Seconds until a repeatable request tries the next endpoint; `again` applies after all have failed, for slow ones. */
const responseSeconds = {
	repeatable: 2,
	again: 5,
	single: 5
};
/** After this time, no endpoint is tried again. */
const giveUpSeconds = 10;
/** Between requests, once all endpoints have failed. */
const pauseSeconds$1 = .1;
/** Makes a member without a leader fail at once; streams would wait for a leader. */
const requireLeader = { "grpc-metadata-hasleader": "true" };
var EtcdGateway = class {
	#config;
	#http;
	#account;
	#now;
	#streams = /* @__PURE__ */ new Map();
	#preferred;
	#token;
	#isClosed = false;
	constructor(config, http, account, now) {
		this.#config = config;
		this.#http = http;
		this.#account = account;
		this.#now = now;
		this.#preferred = config.endpoints[0] ?? "";
	}
	/** Throws a StoreError, or an UnconfirmedError if a request that is not repeatable may have been executed. */
	async send(request) {
		const { endpoints, user, prefix } = this.#config;
		const failures = /* @__PURE__ */ new Map();
		const until = this.#now() + giveUpSeconds;
		for (let endpoint = this.#preferred;; endpoint = this.#moveOn(endpoint)) {
			if (this.#isClosed) throw new StoreError("The connection to etcd is closed.");
			const isAgain = failures.size === endpoints.length;
			const response = await this.#sendTo(endpoint, request, isAgain);
			if (response.kind === "ok") return response.value;
			if (response.kind === "refused") {
				const { isLeaseGone, message } = response;
				if (isLeaseGone && request.ifLeaseIsGone !== void 0) return request.ifLeaseIsGone;
				throw new StoreError(refusalSentence(endpoint, message, {
					user,
					prefix
				}));
			}
			failures.set(endpoint, response);
			if (response.maybeDone && !request.isRepeatable) {
				this.#moveOn(endpoint);
				throw new UnconfirmedError(unconfirmedSentence(endpoint, response));
			}
			if (failures.size < endpoints.length) continue;
			if (this.#now() >= until || failures.values().every(isPermanent)) throw new StoreError(failureSentence(failures));
			await setTimeout$1(pauseSeconds$1 * 1e3);
		}
	}
	/** Passes on the lines of a streamed response until it ends. Never rejects. */
	async follow(path, body, { onLine, signal }) {
		const endpoint = this.#preferred;
		const stream = new AbortController();
		this.#streams.set(stream, endpoint);
		if (await this.#logIn(endpoint, false) === void 0) await this.#http.send(new URL(path, endpoint), {
			method: "POST",
			headers: this.#headers(),
			body: JSON.stringify(body),
			answerSeconds: responseSeconds.repeatable,
			maxBytes: maxResponseBytes,
			onLine,
			signal: AbortSignal.any([signal, stream.signal])
		});
		this.#streams.delete(stream);
		if (!signal.aborted) this.#moveOn(endpoint);
	}
	close() {
		this.#isClosed = true;
		this.#http.close();
	}
	async #sendTo(endpoint, request, isAgain) {
		for (let attempt = 1;; attempt += 1) {
			const response = await this.#logIn(endpoint, isAgain) ?? await this.#post(endpoint, request, isAgain);
			if (response.kind !== "stale-token") return response;
			this.#token = void 0;
			const why = "it does not accept the token that etcd issued";
			if (attempt === 2) return {
				kind: "failed",
				problem: "slow",
				why,
				maybeDone: false
			};
		}
	}
	/** Returns undefined after success, and if no login is needed. */
	async #logIn(endpoint, isAgain) {
		if (this.#account === void 0 || this.#token !== void 0) return void 0;
		const login = {
			path: "/v3/auth/authenticate",
			body: {
				name: this.#account.user,
				password: this.#account.password
			},
			schema: loginSchema,
			isRepeatable: true
		};
		const response = await this.#post(endpoint, login, isAgain);
		if (response.kind === "failed") return {
			...response,
			maybeDone: false
		};
		if (response.kind !== "ok") return response;
		this.#token = response.value.token;
	}
	async #post(endpoint, { path, body, schema, isRepeatable }, isAgain) {
		const repeatable = isAgain ? responseSeconds.again : responseSeconds.repeatable;
		const url = new URL(path, endpoint);
		const response = await this.#http.send(url, {
			method: "POST",
			headers: this.#headers(),
			body: JSON.stringify(body),
			answerSeconds: isRepeatable ? repeatable : responseSeconds.single,
			maxBytes: maxResponseBytes
		});
		const secrets = [this.#account?.password, this.#token].filter((secret) => secret !== void 0);
		return readResponse(url, response, schema, secrets);
	}
	#headers() {
		return {
			...requireLeader,
			"content-type": "application/json",
			...this.#token !== void 0 && { authorization: this.#token }
		};
	}
	/** Prefers the endpoint after this one, and aborts streams from this one, which may never notice. */
	#moveOn(endpoint) {
		const { endpoints } = this.#config;
		const next = endpoints[(endpoints.indexOf(endpoint) + 1) % endpoints.length] ?? endpoint;
		if (this.#preferred === endpoint) this.#preferred = next;
		for (const [stream, from] of this.#streams) if (from === endpoint) stream.abort();
		return next;
	}
};
async function openGateway(config, now) {
	const http = openHttpClient(await readCertificates(config));
	return new EtcdGateway(config, http, await readAccount(config), now);
}

// src/gate/reserve/store/etcd-watch.ts
/** Seconds between streams that end; doubles for each in a row. */
const pauseSeconds = {
	min: .1,
	max: 5
};
/** A stream ends after this time without a caller, as it would wake this process for each change. */
const idleSeconds = 1;
/** Opens the stream for the first caller. It may die unnoticed, so each caller wakes after `wakeSeconds`. */
var EtcdWatch = class {
	#gateway;
	#range;
	#wakeSeconds;
	#callers = /* @__PURE__ */ new Set();
	#stream;
	#idleTimer;
	#isClosed = false;
	/** The stream reports all changes from this revision on. */
	#from = 0;
	#latest = 0;
	constructor(gateway, range, wakeSeconds) {
		this.#gateway = gateway;
		this.#range = range;
		this.#wakeSeconds = wakeSeconds;
	}
	/** See Store. */
	async changed(since, signal) {
		signal.throwIfAborted();
		if (this.#isClosed || this.#latest > since) return;
		if (this.#stream === void 0) {
			this.#stream = new AbortController();
			this.#from = since + 1;
			this.#follow(this.#stream.signal);
		}
		if (!(since + 1 < this.#from)) await this.#waitFor(since, signal);
	}
	close() {
		this.#isClosed = true;
		this.#wakeUpTo(Number.POSITIVE_INFINITY);
		this.#end();
	}
	#end() {
		clearTimeout(this.#idleTimer);
		this.#stream?.abort();
		this.#stream = void 0;
	}
	async #follow(signal) {
		let pause = pauseSeconds.min;
		while (!signal.aborted) {
			const start = Math.max(this.#from, this.#latest + 1);
			const body = { create_request: {
				...this.#range,
				start_revision: String(start)
			} };
			const ending = new AbortController();
			await this.#gateway.follow("/v3/watch", body, {
				signal: AbortSignal.any([signal, ending.signal]),
				onLine: (line) => {
					if (signal.aborted) return;
					if (this.#read(line)) pause = pauseSeconds.min;
					else ending.abort();
				}
			});
			await setTimeout$1(pause * 1e3, void 0, { signal }).catch(() => {});
			pause = Math.min(2 * pause, pauseSeconds.max);
		}
	}
	/** Returns false at the end of the stream. */
	#read(line) {
		const result = watchSchema.safeParse(parseJson(line)).data?.result;
		if (result === void 0) return false;
		this.#latest = Math.max(this.#latest, ...result.events.map(({ kv }) => kv.mod_revision));
		this.#wakeUpTo(this.#latest);
		if (!result.canceled) return true;
		if (result.compact_revision > 0) {
			this.#from = result.compact_revision;
			this.#wakeUpTo(this.#from - 1);
		}
		return false;
	}
	#wakeUpTo(revision) {
		for (const caller of this.#callers) if (caller.since < revision) caller.wake();
	}
	#waitFor(since, signal) {
		clearTimeout(this.#idleTimer);
		return new Promise((resolve, reject) => {
			const end = (settle) => {
				this.#callers.delete(caller);
				clearTimeout(timer);
				signal.removeEventListener("abort", abort);
				if (this.#callers.size === 0) this.#idleTimer = setTimeout(() => this.#end(), idleSeconds * 1e3);
				settle();
			};
			const abort = () => end(() => reject(signal.reason));
			const caller = {
				since,
				wake: () => end(resolve)
			};
			const timer = setTimeout(caller.wake, this.#wakeSeconds * 1e3);
			signal.addEventListener("abort", abort);
			this.#callers.add(caller);
		});
	}
};

// src/gate/reserve/store/etcd.ts
/**
* Reads the files that the configuration names, and sends no request yet. Tries repeatable requests for 10 s and at
* every endpoint. A change cannot both put and remove a key; one without effect returns the current revision.
*/
async function openEtcd(config, { now, wakeSeconds = 5 }) {
	return new EtcdStore(config.prefix, await openGateway(config, now), wakeSeconds);
}
var EtcdStore = class {
	#prefix;
	#gateway;
	#wakeSeconds;
	/** By prefix: etcd then wakes no process for changes of other keys. */
	#watches = /* @__PURE__ */ new Map();
	constructor(prefix, gateway, wakeSeconds) {
		this.#prefix = prefix;
		this.#gateway = gateway;
		this.#wakeSeconds = wakeSeconds;
	}
	async openSession(seconds) {
		const { ID } = await this.#gateway.send({
			path: "/v3/lease/grant",
			body: { TTL: String(Math.ceil(seconds)) },
			schema: grantSchema,
			isRepeatable: true
		});
		return ID;
	}
	async renew(session) {
		if (await this.#keepAlive(session)) return true;
		await this.#read({ key: encode(this.#prefix) });
		return this.#keepAlive(session);
	}
	async endSession(session) {
		await this.#gateway.send({
			path: "/v3/lease/revoke",
			body: { ID: session },
			schema: revokeSchema,
			isRepeatable: true,
			ifLeaseIsGone: {}
		});
	}
	async read(prefix) {
		const { kvs, header } = await this.#read(rangeOf(this.#prefix + prefix));
		return {
			entries: kvs.map(({ key, value, mod_revision: revision }) => ({
				key: key.slice(this.#prefix.length),
				value,
				revision
			})),
			revision: header.revision
		};
	}
	async commit(change) {
		try {
			return await this.#commit(change);
		} catch (error) {
			if (!(error instanceof UnconfirmedError) || !appliesOnce(change)) throw error;
			const revision = await this.#commit(change);
			if (revision === void 0) throw error;
			return revision;
		}
	}
	changed(since, signal, prefix = "") {
		const range = rangeOf(this.#prefix + prefix);
		const watch = this.#watches.get(prefix) ?? new EtcdWatch(this.#gateway, range, this.#wakeSeconds);
		this.#watches.set(prefix, watch);
		return watch.changed(since, signal);
	}
	async close() {
		for (const watch of this.#watches.values()) watch.close();
		this.#gateway.close();
	}
	/** Linearizable, which is etcd's default. */
	#read(keys) {
		return this.#gateway.send({
			path: "/v3/kv/range",
			body: keys,
			schema: rangeSchema,
			isRepeatable: true
		});
	}
	async #keepAlive(ID) {
		const { result } = await this.#gateway.send({
			path: "/v3/lease/keepalive",
			body: { ID },
			schema: keepAliveSchema,
			isRepeatable: true
		});
		return result.TTL > 0;
	}
	async #commit(change) {
		const { succeeded, header } = await this.#gateway.send({
			path: "/v3/kv/txn",
			body: transactionOf(change, this.#prefix),
			schema: commitSchema,
			isRepeatable: false,
			ifLeaseIsGone: {
				succeeded: false,
				header: { revision: 0 }
			}
		});
		return succeeded ? header.revision : void 0;
	}
};
const encode = (text) => Buffer.from(text).toString("base64");
/** Selects all keys with a prefix, in the order of their bytes. */
function rangeOf(prefix) {
	const end = Buffer.from(prefix);
	end[end.length - 1] = (end.at(-1) ?? 0) + 1;
	return {
		key: encode(prefix),
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
/** True if the change invalidates its own condition; a key that must not exist could be gone again. */
function appliesOnce({ conditions, put, remove }) {
	const changed = /* @__PURE__ */ new Set([...put.map(({ key }) => key), ...remove]);
	return conditions.some(({ key, revision }) => revision > 0 && changed.has(key));
}

export { openEtcd };