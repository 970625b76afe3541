import { document, list, prose, word } from "../../model/first.js";
import { boolean, number, object, union } from "../../vendor/zod.js";
import { readGuarded, readSecret } from "../../config/plain.js";
import { parseJson, reasonOf, shortened } from "../../model/first-plain.js";
import { openHttpClient } from "../../system/http.js";
import { StoreError } from "./store/first-plain.js";
const { createSecureContext } = globalThis.process.getBuiltinModule("node:tls");
const { X509Certificate } = globalThis.process.getBuiltinModule("node:crypto");
const { readFile } = globalThis.process.getBuiltinModule("node:fs/promises");
const { setTimeout: setTimeout$1 } = globalThis.process.getBuiltinModule("node:timers/promises");

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
/** Exceeds all reservations of a lab. */
const maxResponseBytes = 16 * 1024 ** 2;
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
				const who = `${user === void 0 ? "no user" : `the user ${user}`} and the prefix ${prefix}`;
				throw new StoreError(`etcd at ${endpoint} refuses a request with ${who}: ${shortened(message)}.`);
			}
			failures.set(endpoint, response);
			if (response.maybeDone && !request.isRepeatable) {
				this.#moveOn(endpoint);
				throw new UnconfirmedError(`etcd did not confirm a change (${endpoint}: ${response.why}), which may nevertheless have been made; check the reservations before you repeat it.`);
			}
			if (failures.size < endpoints.length) continue;
			if (this.#now() >= until || failures.values().every(({ isPermanent }) => isPermanent)) {
				const all = [...failures].map(([each, { why }]) => `${each}: ${why}`).join("; ");
				throw new StoreError(`etcd cannot be used (${all}).`);
			}
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
			if (attempt === 2) return failed("it does not accept the token that etcd issued");
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
			schema: object({ token: word }),
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
		return readResponse(url, await this.#http.send(url, {
			method: "POST",
			headers: this.#headers(),
			body: JSON.stringify(body),
			answerSeconds: isRepeatable ? repeatable : responseSeconds.single,
			maxBytes: maxResponseBytes
		}), schema, [this.#account?.password, this.#token].filter((secret) => secret !== void 0));
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
/** Reads the files that the configuration names. Throws a StoreError or a UsageError with the path. */
async function openGateway(config, now) {
	const { user, passwordPath: path } = config;
	const http = openHttpClient(await readCertificates(config));
	const account = user !== void 0 && path !== void 0 ? {
		user,
		password: await readSecret({
			what: "The password of etcd",
			path
		})
	} : void 0;
	return new EtcdGateway(config, http, account, now);
}
async function readCertificates({ caPath, certificatePath, keyPath }) {
	try {
		const ca = caPath === void 0 ? {} : { ca: await readFile(caPath, "utf8") };
		const cert = certificatePath === void 0 ? {} : { cert: await readFile(certificatePath, "utf8") };
		const key = keyPath === void 0 ? {} : { key: await readGuarded(keyPath) };
		if (ca.ca !== void 0) new X509Certificate(ca.ca);
		createSecureContext({
			...cert,
			...key
		});
		return {
			...ca,
			...cert,
			...key
		};
	} catch (error) {
		const paths = [
			caPath,
			certificatePath,
			keyPath
		].filter((path) => path !== void 0).join(", ");
		throw new StoreError(`etcd cannot be used with ${paths}: ${reasonOf(error)}.`, { cause: error });
	}
}
const failed = (why, { isPermanent = false, maybeDone = false } = {}) => ({
	kind: "failed",
	why: shortened(why),
	isPermanent,
	maybeDone
});
/** Removes secrets, which a response may echo. */
function readResponse(url, response, schema, secrets) {
	if (response.kind === "no-answer") return failureOf(url, response);
	const withoutSecrets = (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, "…"), text);
	const { status, headers, body } = response;
	if (body === void 0) return failed(`a response of more than ${maxResponseBytes} bytes`, { maybeDone: true });
	const json = parseJson(body.toString());
	const error = errorDocument.safeParse(json);
	if (error.success) return errorOf(status, withoutSecrets(error.data.message));
	const value = schema.safeParse(json);
	if (status === 200 && value.success) return {
		kind: "ok",
		value: value.data
	};
	const why = withoutSecrets(`it responds with ${status} ${headers.get("content-type") ?? ""}`);
	return status >= 500 ? failed(why, { maybeDone: true }) : failed(why, { isPermanent: true });
}
/** On streams, the message is within `error`. */
const errorStatus = object({ message: prose() });
const errorDocument = union([object({ error: errorStatus }).transform(({ error }) => error), errorStatus]);
function errorOf(status, message) {
	const hasAny = (...texts) => texts.some((text) => message.includes(text));
	if (hasAny("invalid auth token", "revision of auth store is old")) return { kind: "stale-token" };
	if (hasAny("no leader", "too many requests")) return failed(message);
	if (status < 500 && !(status === 408) || hasAny("database space exceeded")) return {
		kind: "refused",
		message,
		isLeaseGone: hasAny("requested lease not found")
	};
	return failed(message, { maybeDone: true });
}
function failureOf(url, { code, why, lateSeconds, wasSent, distrust }) {
	const isPermanent = true;
	if (distrust?.fault === "name") return failed(`its certificate is for ${distrust.names}, not for ${url.hostname}`, { isPermanent });
	if (distrust !== void 0) return failed(`its certificate is not trusted: ${distrust.reason.replace(/;.*/, "")}`, { isPermanent });
	if (/ALERT.*(?:CERTIFICATE|UNKNOWN_CA)/.test(code)) return failed("it refuses this client's certificate, or requires one", { isPermanent });
	if (code === "ECONNREFUSED" || code === "ENOTFOUND") return failed(why);
	if (code === "ECONNRESET" && (url.protocol === "http:" || !wasSent)) {
		const other = url.protocol === "http:" ? "https" : "plain http";
		return failed(`it closed the connection, as a server of ${other} does`, { maybeDone: wasSent });
	}
	return failed(lateSeconds === void 0 ? why : `no response within ${lateSeconds} s`, { maybeDone: wasSent });
}

// src/gate/reserve/store/etcd-watch.ts
const maxEntries = 1e5;
/** A decimal number, in a string. */
const int64 = number().int();
const base64 = document.transform((text) => Buffer.from(text, "base64").toString());
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
const header = object({ revision: int64 });
const commitSchema = object({
	header,
	succeeded: boolean().default(false)
});
const rangeSchema = object({
	header,
	kvs: list(object({
		key: base64,
		value: base64.default(""),
		mod_revision: int64
	}), maxEntries).default([])
});
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
			schema: object({ ID: word }),
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
			schema: object({}),
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
			schema: object({ result: object({ TTL: int64.default(0) }) }),
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