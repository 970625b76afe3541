import { conclusionOfError, exitCodes, reasonOf } from "./model.js";
import { int, object, string } from "./vendor/zod.js";
import { once } from "node:events";
import { execFile } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { promisify } from "node:util";
import { isIP } from "node:net";
import { Agent, request } from "node:http";
import { TLSSocket, connect as connect$1 } from "node:tls";
import { Agent as Agent$1, request as request$1 } from "node:https";
import { readFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";

// src/system/certificate.ts
var PinError = class extends Error {
	certificate;
	constructor(certificate) {
		super("not the one that is pinned");
		this.certificate = certificate;
	}
};
/** Returns the error if the socket's certificate is another one, and closes the socket then. */
function verifyPin(socket, sha256) {
	const certificate = socket.getPeerX509Certificate();
	if (sha256Of(certificate) === sha256) return void 0;
	socket.destroy();
	return new PinError(certificate);
}
const sha256Of = (certificate) => certificate?.fingerprint256.replaceAll(":", "").toLowerCase() ?? "";
/** Accepts every certificate: the caller verifies it before sending anything. */
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
/** Describes the certificate that `error` is about; Node has dropped most of it by then, so a second connection reads it. */
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
	if (unsigned.test(code)) return found("authority", `${"ca" in trust && trust.ca !== void 0 ? "that the authority of `ca` has not signed" : "that is signed by nobody whom this machine trusts"} (${code})`);
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
/** Reads the certificate that the server shows, and sends nothing. */
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
/** Sends one request over a connection of its own. Never rejects. Does not follow redirects, which would pass credentials on. */
const sendRequest = (url, request) => exchange(url, request, { trust: request.trust ?? {} });
function openHttpClient(certificates) {
	const http = new Agent({ keepAlive: true });
	const https = new Agent$1({
		keepAlive: true,
		...certificates
	});
	return {
		send: (url, request) => exchange(url, request, {
			trust: certificates,
			http,
			https
		}),
		close() {
			http.destroy();
			https.destroy();
		}
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
		end.throwIfAborted();
		const target = new URL(url);
		sent = begin(target, request, connections, end);
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
function begin(url, request$2, connections, end) {
	const { method, headers, body, connectSeconds = 10 } = request$2;
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
	const sent = isSecure ? request$1(url, {
		...options,
		...trustOptions(url, trust, end)
	}) : request(url, options);
	sent.on("error", () => {});
	if (!("pinnedSha256" in trust) && connectSeconds < request$2.answerSeconds) limitConnecting(sent, connectSeconds);
	return sent.end(body?.toString());
}
function trustOptions(url, trust, end) {
	if (!("pinnedSha256" in trust)) return trust;
	return { 
	/** Hands the connection over once the certificate is verified; Node sends nothing before. */
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
/** The code if no connection was made in time. */
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
/** Nothing of a request leaves before its connection stands and, by HTTPS, the certificate is verified. */
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
/** Undefined for more than so many bytes: the stream is then closed, whatever length it announced. */
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
* Node's fetch with the whole response within so many seconds. The body is read here: octokit takes one that was cut
* short for an empty one, and a list of comments without ours would make it write a second comment.
*/
const fetchWithin = (seconds) => async (input, init) => {
	const response = await fetch(input, {
		...init,
		signal: AbortSignal.timeout(seconds * 1e3)
	});
	await response.clone().arrayBuffer();
	return response;
};

// src/system/embedded-assets.ts
/** Without what only a reader of the file needs: indentation, and comments on lines of their own. */
const embedded = (file) => readFileSync(file, "utf8").replaceAll(/^\s*(?:\/\/.*|\/\*(?:[^*]|\*(?!\/))*\*\/)\n|^\s+/gm, "");
/** For any `<script>`: strict and with names of its own, as the file is for who checks it as a module. */
const embeddedScript = (file) => `\n(() => {\n'use strict';\n${embedded(file)}})();\n`;

// src/system/sqlite.ts
/** The file is another program's, or has another `format` of ours. */
var ForeignFileError = class extends Error {
	format;
	constructor(format) {
		super("another SQLite file than was asked for");
		this.format = format;
	}
};
/**
* Opens a file with this header; `fill` arranges one that is empty, and without it an empty one is another program's.
* What is committed survives a power cut. `blockingMilliseconds` is how long a call may hold up this process while
* another has the file locked. Throws a ForeignFileError, or what SQLite throws.
*/
function openDatabase(path, header, blockingMilliseconds, fill) {
	const database = new DatabaseSync(path, { timeout: blockingMilliseconds });
	try {
		if (isEmpty(database, header)) {
			if (fill === void 0) throw new ForeignFileError();
			fill(database);
		}
		database.exec("PRAGMA synchronous = FULL");
		return database;
	} catch (error) {
		database.close();
		throw error;
	}
}
/** False for a file with this header; throws a ForeignFileError for one with another. */
function isEmpty(database, { applicationId, format }) {
	const { id, version, tables } = database.prepare(`SELECT application_id AS id, user_version AS version, (SELECT count(*) FROM sqlite_schema) AS tables
       FROM pragma_application_id, pragma_user_version`).get() ?? {};
	if (id === applicationId && version === format) return false;
	if (id === applicationId) throw new ForeignFileError(Number(version));
	if (id === 0 && version === 0 && tables === 0) return true;
	throw new ForeignFileError();
}
/** Tells whether the file that is at the path now is still there. */
function watchPlace(path) {
	const opened = statSync(path);
	return () => {
		const { ino, dev } = statSync(path, { throwIfNoEntry: false }) ?? {};
		return ino === opened.ino && dev === opened.dev;
	};
}
const isSqliteError = (error) => error instanceof Error && "errcode" in error && typeof error.errcode === "number";
/** By the codes of sqlite.org/rescode.html. */
function failureOf({ errcode }) {
	return errcode === sharedMemorySize ? "full" : failures.get(errcode & 255) ?? "other";
}
const failures = /* @__PURE__ */ new Map([
	[5, "busy"],
	[8, "read-only"],
	[10, "input-output"],
	[11, "corrupt"],
	[13, "full"],
	[14, "cannot-open"],
	[26, "not-a-database"]
]);
/** The memory that processes share is a file, which must grow. */
const sharedMemorySize = 4874;
/** Locks of this process: one that nobody refers to any more would be closed, and its lock go with it. */
const locks = /* @__PURE__ */ new Set();
/**
* Undefined while somebody else has the lock, which the kernel takes back from a process that ends, however it ends.
* The file stays, for a lock on a file that was removed keeps nobody out.
*/
function lockIfFree(path) {
	const lock = new DatabaseSync(path, { timeout: 0 });
	try {
		lock.exec("BEGIN EXCLUSIVE");
	} catch (error) {
		lock.close();
		if (isSqliteError(error) && failureOf(error) === "busy") return void 0;
		throw error;
	}
	locks.add(lock);
	return { [Symbol.dispose]() {
		if (locks.delete(lock)) lock.close();
	} };
}

// src/system/shell.ts
const line = Symbol("command line");
/**
* A command line with each interpolated value as data: a string or number becomes one quoted word,
* an array as many words as it has, a `Command` is inserted as it is.
*
*     shell`ip netns exec ${name} nft -f ${path}`
*     shell`${prepare} && ip netns exec ${name} sh -c ${commandText(measure)}`
*
* Throws a TypeError for a value that no program can receive (a NUL, half a surrogate pair, NaN), and
* for a template in which quoting could not protect: a value inside quotes, a comment, a here-document,
* backquotes or arithmetic.
*/
function shell(template, ...values) {
	for (const text of template) refuseUnsafe(text);
	const words = values.map(quoted);
	return { [line]: template.map((text, index) => text + (words[index] ?? "")).join("") };
}
/** The text for `sh -c`, or for an eye. */
const commandText = (command) => command[line];
/**
* The same for whatever login shell a machine has. csh, which is root's up to FreeBSD 13, breaks at a line break and at
* `!` even inside single quotes, and knows neither `2>&1` nor `$(…)`: it gets one simple command, of an sh that puts the
* text together again.
*/
function lineForAnyShell(command) {
	const text = commandText(command);
	const bare = text.replace(/'[^'\n\r!]*'|\\'/g, "_");
	if (/^[\w@%+:,./-][\w@%+:,./ -]*$/.test(bare.replaceAll("=", "_")) && !/^\s*\w+=/.test(bare)) return text;
	const encoded = text.replace(/[\\\n\r!]/g, (letter) => escapes[letter] ?? letter);
	return commandText(shell`sh -c ${putTogether} sh ${encoded}`);
}
/** How characters are written for `%b` of printf(1). */
const escapes = {
	"\\": "\\\\",
	"\n": "\\n",
	"\r": "\\r",
	"!": "\\0041"
};
const putTogether = "text=$(printf %b \"$1\"); shift; eval \"$text\"";
/** Each piece of a template has to leave the shell in the state that the quotes of the next value rely on. */
function refuseUnsafe(text) {
	const bare = text.replace(closed, "_");
	const hazard = hazards.find(([pattern]) => pattern.test(bare));
	if (hazard === void 0) return;
	const [, name, instead] = hazard;
	throw new TypeError(`The command template "${text.trim()}" holds ${name}, where the value after it could not be quoted; ${instead}.`);
}
/** An escaped character, '…', or "…" with no more in it than simple substitutions: these are complete in themselves. */
const closed = /\\.|(?<!\$)'[^']*'|(?<!\$)"(?:\\.|\$\([^()"'`\\]*\)|\$\{[^{}"'`\\]*\}|\$(?![({])|[^"\\`$])*"/gs;
const hazards = [
	[
		/['"]/,
		"an open quote (or a substitution too deep inside quotes)",
		"write values without quotes around them, they get their own"
	],
	[
		/\\/,
		"a backslash at its end",
		"leave it out"
	],
	[
		/\$$/,
		"a dollar sign at its end",
		"leave it out"
	],
	[
		/`/,
		"backquotes",
		"use $(…)"
	],
	[
		/<</,
		"a here-document",
		"send that text as standard input"
	],
	[
		/\(\(|\$\[/,
		"arithmetic",
		"calculate before the command is made"
	],
	[
		/(?<![^\s;&|()])#/,
		"a comment",
		"write it beside the template"
	]
];
function quoted(value) {
	if (typeof value === "object" && line in value) return value[line];
	return [value].flat().map(quotedWord).join(" ");
}
/** Always in quotes: a bare `if`, `a=b` or `2` before `>` would be more to the shell than a word. */
function quotedWord(word) {
	const text = String(word);
	const wrong = whyUnfit(word, text);
	if (wrong !== void 0) throw new TypeError(`The shell word ${JSON.stringify(text.slice(0, 60))} ${wrong}, which no program can receive; correct the value.`);
	return `'${text.replaceAll("'", "'\\''")}'`;
}
function whyUnfit(word, text) {
	if (typeof word !== "string" && !Number.isFinite(word)) return "is neither text nor a finite number";
	if (text.includes("\0")) return "holds a NUL byte";
	if (!text.isWellFormed()) return "holds half a surrogate pair";
}

// src/system/exit.ts
/**
* Does a command's work and ends the program as it went: `work` gets a signal that a first Ctrl-C or
* SIGTERM aborts, so that it can clean up; a second one ends it at once.
*/
async function runToExit(work, { debug = false, notify = sayOnStderr, lastWords = [] } = {}) {
	const cancel = new AbortController();
	const onSignal = () => {
		if (cancel.signal.aborted) process.exit(exitCodes.cancelled);
		process.stderr.write("\nppsgate: cancelled, cleaning up …\n");
		cancel.abort(/* @__PURE__ */ new Error("cancelled"));
	};
	process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
	try {
		process.exitCode = await work(cancel.signal);
	} catch (error) {
		process.exitCode = cancel.signal.aborted ? exitCodes.cancelled : exitCodes[conclusionOfError(error)];
		if (!cancel.signal.aborted) notify(told(error, debug));
		for (const sentence of lastWords) notify(sentence);
	} finally {
		process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
	}
}
const sayOnStderr = (sentence) => void process.stderr.write(`ppsgate: ${sentence}\n`);
function told(error, debug) {
	if (!(error instanceof Error)) return String(error);
	return debug ? error.stack ?? error.message : error.message;
}

// src/system/semaphore.ts
/** Lets so many pieces of work go on at once; the others wait, first come, first served. */
function semaphore(atOnce) {
	let free = atOnce;
	const waiting = [];
	return async (work) => {
		if (free === 0) await new Promise((resolve) => waiting.push(resolve));
		else free -= 1;
		try {
			return await work();
		} finally {
			const next = waiting.shift();
			if (next === void 0) free += 1;
			else next();
		}
	};
}

// src/system/clock-ticks.ts
/** /proc/stat's ticks are a hundredth of a second whatever the kernel's own are: proc_stat(5), USER_HZ. */
const nsPerTick = 1e7;

// src/system/process.ts
/** The leader of a process group, and when it started as this machine tells it. */
const leaderSchema = object({
	pid: int().positive(),
	started: string()
});
/** False also for one that has ended, and that nobody has asked how. */
const isRunning = async ({ pid, started }) => await startOf(pid) === started;
/** Sends its whole group a signal; false where it does not run any more. */
async function signalGroup(leader, name) {
	if (!await isRunning(leader)) return false;
	try {
		return process.kill(-leader.pid, name);
	} catch {
		return false;
	}
}
/** When the process of this number started, in the words of `platform`; undefined where none runs. */
function startOf(pid, platform = process.platform) {
	return platform === "linux" ? startInProc(pid) : startByPs(pid);
}
/** Reads the kernel's own clock: ps(1) calculates with the time of day there, which may be set meanwhile. */
async function startInProc(pid) {
	const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => void 0);
	if (stat === void 0) return void 0;
	const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
	const [state = "", ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
	return "ZX".includes(state) ? void 0 : `${rest[18]} after boot ${boot.trim()}`;
}
async function startByPs(pid) {
	const { stdout } = await promisify(execFile)("ps", [
		"-o",
		"stat=,lstart=",
		"-p",
		String(pid)
	]).catch(() => ({ stdout: "" }));
	const [, state = "Z", started] = /^\s*(\S)\S*\s+(.+?)\s*$/.exec(stdout) ?? [];
	return state === "Z" ? void 0 : started;
}

export { ForeignFileError, commandText, embedded, embeddedScript, failureOf, fetchWithin, isEmpty, isRunning, isSqliteError, leaderSchema, lineForAnyShell, lockIfFree, noConnection, nsPerTick, openDatabase, openHttpClient, runToExit, semaphore, sendRequest, shell, signalGroup, startOf, watchPlace };