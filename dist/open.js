import { r as __toESM } from "./rolldown-runtime.js";
import { r as labUp, t as labDown } from "./lab.js";
import { C as object, E as string, S as number, a as isLinuxScenario, b as literal } from "./scenario.js";
import { i as shortened, r as reasonOf, t as lastLine } from "./one-line.js";
import { l as withoutSequences, n as isJudged, r as pathName } from "./variant-name.js";
import { c as formatPercent } from "./format.js";
import { _ as commandText, c as flowRanges, d as isReady, f as netmapPort, g as tellingProcessId, h as senderCommand, l as flowSlices, m as receiverCommand, p as processIdIn, r as frameBytesFor, u as interruptCommand, v as shell } from "./schema.js";
import { a as isAsSaid, i as checkDiff, n as objectsAlone, o as rawChanges, s as whyGitRefuses } from "./repository.js";
import { r as rolesOf, t as generatorsOf } from "./inventory.js";
import { a as parseKnownHosts, c as PowerError, i as keyType, n as checkHostKey, o as HostError, r as fingerprint$2, s as openPower$1, t as algorithmsFor } from "./known-hosts.js";
import { t as turns } from "./turns.js";
import { a as linuxDutScript, c as samplesAsTheyCome, d as pktGenRun, f as parsePktGenLog, i as senderScript, l as freebsdLogNames, m as isSteady, n as readLinuxLogs, o as observeCommand, p as defaultBounds, r as senderCommand$1, s as parseObservation, t as logNames, u as readFreebsdLogs } from "./linux-logs.js";
import { t as foldedLines } from "./fold.js";
import { n as samplesOf, t as ProfileError } from "./profile-error.js";
import { i as withoutIdle, r as foreignBounds, t as parseProfile } from "./read.js";
import { once } from "node:events";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { closeSync, createReadStream, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { createConnection, isIP } from "node:net";
import { request } from "node:http";
import { PassThrough, Readable } from "node:stream";
import { connect as connect$1 } from "node:tls";
import { gzipSync } from "node:zlib";
import { createHash, randomUUID } from "node:crypto";
import { mkdtemp, open, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { setTimeout as setTimeout$1 } from "node:timers/promises";
import { basename as basename$1, dirname as dirname$1 } from "node:path/posix";
import { pipeline } from "node:stream/promises";

// src/power/https.ts
/** Never rejects; redirects are answers like others. */
async function request$1(question) {
	const socket = dial$1(question.url, question.trust);
	const timer = setTimeout(() => socket.destroy(/* @__PURE__ */ new Error(`no whole answer within ${question.timeoutSeconds} s`)), question.timeoutSeconds * 1e3);
	try {
		await once(socket, "secureConnect");
		return distrust(socket, question.trust) ?? await exchange(socket, question);
	} catch (error) {
		return {
			kind: "no-answer",
			why: reasonOf(error)
		};
	} finally {
		clearTimeout(timer);
		socket.destroy();
	}
}
function dial$1({ hostname, port }, trust) {
	const host = hostname.replace(/^\[|\]$/g, "");
	return connect$1({
		host,
		port: Number(port || 443),
		...isIP(host) === 0 && { servername: host },
		...trust.kind === "authority" && trust.pem !== void 0 && { ca: trust.pem },
		rejectUnauthorized: false
	}).on("error", () => {});
}
/** Undefined where the certificate is good. */
function distrust(socket, trust) {
	const sha256 = socket.getPeerX509Certificate()?.fingerprint256.replaceAll(":", "").toLowerCase() ?? "";
	if (trust.kind === "pinned") return sha256 === trust.sha256 ? void 0 : {
		kind: "untrusted",
		sha256,
		why: "not the one that is pinned"
	};
	if (socket.authorized) return void 0;
	return {
		kind: "untrusted",
		sha256,
		why: reasonOf(socket.authorizationError)
	};
}
function exchange(socket, { method, url, headers, body }) {
	const { promise, resolve, reject } = Promise.withResolvers();
	const asked = request({
		method,
		path: url.pathname + url.search,
		headers: {
			host: url.host,
			connection: "close",
			...headers
		},
		createConnection: () => socket
	}, (response) => read(response).then(resolve, reject));
	asked.on("error", reject);
	asked.end(body);
	return promise;
}
/** A system's document is some 10 kB. */
const mostBytes$1 = 1024 ** 2;
async function read(response) {
	const chunks = [];
	let bytes = 0;
	for await (const chunk of response) {
		bytes += chunk.length;
		if (bytes > mostBytes$1) throw new Error(`more than ${mostBytes$1} bytes in an answer`);
		chunks.push(chunk);
	}
	const { statusCode: status = 0, headers } = response;
	return {
		kind: "answered",
		status,
		headers,
		body: Buffer.concat(chunks).toString()
	};
}

// src/power/world.ts
const realPowerWorld = {
	request: request$1,
	run: run$1,
	sleep: (seconds) => setTimeout$1(seconds * 1e3),
	readFile: (path) => readFile(path, "utf8"),
	password: () => process.env.PPSGATE_BMC_PASSWORD
};
const mostBytes = 1024 ** 2;
function run$1(program, args, options) {
	const { stdin = "", env, timeoutSeconds } = options;
	const child = spawn(program, args, {
		env: {
			...process.env,
			...env
		},
		detached: true
	});
	const { promise, resolve } = Promise.withResolvers();
	const giveUp = (why) => {
		resolve({
			kind: "failed",
			why
		});
		if (child.pid !== void 0) killGroup(child.pid);
	};
	const timer = globalThis.setTimeout(() => giveUp(`did not end within ${timeoutSeconds} s`), timeoutSeconds * 1e3);
	const stdout = collect$1(child.stdout, giveUp);
	const stderr = collect$1(child.stderr, giveUp);
	child.stdin.on("error", () => {});
	child.stdin.end(stdin);
	child.on("error", (error) => giveUp(`cannot be started: ${reasonOf(error)}`));
	child.on("close", (code, signal) => {
		clearTimeout(timer);
		if (code === null) giveUp(`was ended by ${signal}`);
		else resolve({
			kind: "exited",
			code,
			stdout: stdout(),
			stderr: stderr()
		});
	});
	return promise;
}
function killGroup(pid) {
	try {
		process.kill(-pid, "SIGKILL");
	} catch {}
}
/** What came so far. */
function collect$1(stream, giveUp) {
	const chunks = [];
	let bytes = 0;
	stream.on("data", (chunk) => {
		bytes += chunk.length;
		if (bytes <= mostBytes) chunks.push(chunk);
		else giveUp(`wrote more than ${mostBytes} bytes`);
	});
	return () => Buffer.concat(chunks).toString();
}

// src/host/connection.ts
/** `client` may have its login still before it. */
function connectionOn(name, client, socket) {
	return {
		name,
		client,
		socket,
		over: new AbortController(),
		inTurn: turns(sessionsAtOnce)
	};
}
const sessionsAtOnce = 5;
/** Opens a session and uses it; throws a HostError where the host gives none. */
function inSession({ name, what, stop }, open, use) {
	stop.throwIfAborted();
	return new Promise((resolve, reject) => {
		const refuse = (error) => reject(new HostError("session-refused", `${name} gives no session for ${what}: ${reasonOf(error)}; check MaxSessions and what still runs there.`, { cause: error }));
		try {
			open((error, channel) => error ? refuse(error) : resolve(use(channel)));
		} catch (error) {
			refuse(error);
		}
	});
}
/** Ends what still runs over it, too. */
async function closeConnection({ client, socket, over }) {
	over.abort(/* @__PURE__ */ new Error("this side closed the connection"));
	if (socket.closed) return;
	const closed = new Promise((resolve) => socket.once("close", resolve));
	const impatience = setTimeout(() => socket.destroy(), 1e3);
	client.end();
	socket.destroySoon();
	await closed;
	clearTimeout(impatience);
}

// src/host/limits.ts
/** Rejects as soon as the time is up, the caller aborts or the connection is over; `work` learns it by `stop`, and may stop itself. */
async function withinLimits(task, work) {
	const { name, what, timeoutSeconds } = task;
	const stop = new AbortController();
	const finished = new AbortController();
	const stopWith = (kind, message, cause) => stop.abort(new HostError(kind, message, { cause }));
	const timeUp = () => stopWith("timeout", `Gave up on ${what} on ${name} after ${timeoutSeconds} s; check the machine, or allow more time.`);
	whenAborted(task.over, finished.signal, (why) => stopWith("lost", `Lost ${name} during ${what}: ${reasonOf(why)}; check that it is up.`, why));
	whenAborted(task.signal, finished.signal, (why) => stopWith("aborted", `Cancelled ${what} on ${name}.`, why));
	const timer = timeoutSeconds === void 0 ? void 0 : setTimeout(timeUp, timeoutSeconds * 1e3);
	try {
		stop.signal.throwIfAborted();
		return await Promise.race([rejectionOf$1(stop.signal), work(stop)]);
	} finally {
		clearTimeout(timer);
		finished.abort();
	}
}
function whenAborted(signal, until, act) {
	if (signal?.aborted) act(signal.reason);
	signal?.addEventListener("abort", () => act(signal.reason), {
		once: true,
		signal: until
	});
}
/** Never resolves. */
function rejectionOf$1(signal) {
	return new Promise((_, reject) => {
		if (signal.aborted) reject(signal.reason);
		signal.addEventListener("abort", () => reject(signal.reason), { once: true });
	});
}

// src/host/execute.ts
/** Answers how the command ended; throws a HostError when that cannot be known. */
function run(connection, command, options) {
	const text = commandText(command);
	const shown = commandText(options.shownAs ?? command);
	const task = {
		...options,
		name: connection.name,
		what: `"${shortened(shown)}"`
	};
	return withinLimits({
		...task,
		over: connection.over.signal
	}, (stop) => {
		stopWhenTorn(options.stdin, stop);
		const execution = {
			...task,
			stop: stop.signal
		};
		return connection.inTurn(() => execute(connection.client, text, execution));
	});
}
/** The stdout of a command that exits with 0; throws a HostError for any other. */
async function output(connection, command, options) {
	return stdoutOf(await run(connection, command, options), connection.name, command);
}
/** Throws a HostError for a command that did not exit with 0 on the host of that name. */
function stdoutOf(outcome, name, command) {
	if (outcome.kind === "exited" && outcome.code === 0) return outcome.stdout;
	const ending = outcome.kind === "exited" ? `exited with ${outcome.code}` : `was ended by ${outcome.signal}`;
	const said = lastLine(outcome.stderr) ?? "it said nothing on stderr";
	throw new HostError("command-failed", `"${shortened(commandText(command))}" on ${name} ${ending}: ${said}`);
}
/** From the start, while the command may still wait for its turn. */
function stopWhenTorn(stdin, stop) {
	if (!(stdin instanceof Readable)) return;
	if (stdin.errored) stop.abort(stdin.errored);
	stdin.on("error", (error) => stop.abort(error));
}
function execute(client, text, execution) {
	return inSession(execution, (opened) => client.exec(text, opened), (channel) => follow(channel, execution));
}
async function follow(channel, execution) {
	const { stop, stdin, onStdout, onStderr, maxOutputBytes = 16 * 1024 ** 2 } = execution;
	const stopped = rejectionOf$1(stop);
	try {
		const ended = Promise.all([
			endOf(channel),
			onStdout ? passOn(channel, onStdout) : collect(channel, "stdout", maxOutputBytes, execution),
			onStderr ? passOn(channel.stderr, onStderr) : collect(channel.stderr, "stderr", maxOutputBytes, execution)
		]);
		feed(channel, stdin);
		const [ending, stdout, stderr] = await Promise.race([ended, stopped]);
		if (ending.signal !== void 0) return {
			kind: "signaled",
			signal: ending.signal,
			stdout,
			stderr
		};
		if (ending.code !== void 0) return {
			kind: "exited",
			code: ending.code,
			stdout,
			stderr
		};
		throw new HostError("lost", `${execution.name} ended ${execution.what} without saying how; check sshd's log there.`);
	} finally {
		if (stdin instanceof Readable) stdin.unpipe(channel);
		channel.close();
	}
}
function feed(channel, stdin) {
	if (stdin instanceof Readable) stdin.pipe(channel);
	else channel.end(stdin);
}
function endOf(channel) {
	return new Promise((resolve, reject) => {
		channel.on("error", reject);
		channel.on("close", (code, signal) => resolve({
			code: code ?? void 0,
			signal
		}));
	});
}
function passOn(stream, receive) {
	return new Promise((resolve, reject) => {
		stream.on("end", () => resolve(""));
		const take = (chunk) => {
			try {
				receive(chunk);
			} catch (error) {
				stream.off("data", take).resume();
				reject(error);
			}
		};
		stream.on("data", take);
	});
}
function collect(stream, streamName, maxBytes, { name, what }) {
	const chunks = [];
	let bytes = 0;
	return new Promise((resolve, reject) => {
		stream.on("end", () => resolve(Buffer.concat(chunks).toString()));
		stream.on("data", (chunk) => {
			bytes += chunk.length;
			if (bytes <= maxBytes) chunks.push(chunk);
			else reject(new HostError("too-much-output", `${what} on ${name} wrote more than ${maxBytes} bytes to ${streamName}; let it write less, or to a file.`));
		});
	});
}

// src/host/login-error.ts
/** What is wrong with the key that a host shows; undefined where it is known. */
function hostKeyError(verdict, key, ignored, { host, port }, name) {
	const shown = `${name} shows the ${keyType(key)} key ${fingerprint$2(key)}`;
	switch (verdict.kind) {
		case "known": return;
		case "unknown": {
			const unused = ignored.map(({ line, reason }) => ` (line ${line} is ignored: ${reason})`);
			return new HostError("host-key", `${shown}, but its known hosts have no line for it${unused.join("")}; compare the fingerprint on the machine itself, then add what "ssh-keyscan -p ${port} ${host}" prints.`);
		}
		case "changed": {
			const expected = verdict.expected.map((one) => `${one.fingerprint} (line ${one.line})`);
			return new HostError("host-key", `${shown}, but its known hosts have ${expected.join(" and ")}; another machine may be answering, so replace the line only when you know why the key changed.`);
		}
		case "revoked": return new HostError("host-key", `${shown}, which line ${verdict.line} of its known hosts revokes; give the machine a new host key.`);
	}
}
/** What ssh2 says instead of letting `user` in; its `level` tells where in the login that was. */
function loginError(error, name, user) {
	if (error.level === "agent") return new HostError("login", `Cannot log in to ${name} with the agent: ${reasonOf(error)}; check that it runs at SSH_AUTH_SOCK and holds the key.`, { cause: error });
	if (error.level === "client-authentication") return new HostError("login", `${name} refuses to let ${user} in with the key given; add its public half to the authorized_keys of ${user} there.`, { cause: error });
	if (error.message.includes("no matching host key format")) return new HostError("host-key", `${name} has no key of a type that its known hosts have; find out why it changed before you add the new one.`, { cause: error });
	return new HostError("lost", `${name} ended the login: ${reasonOf(error)}; check that sshd answers there, and its log.`, { cause: error });
}

// src/host/login.ts
/** Throws a HostError where the host is not reached, its key is not known, or it does not let us in. */
async function logIn(target, options) {
	const name = nameOf(target);
	const { default: ssh2 } = await import("./lib.js").then((m) => /* @__PURE__ */ __toESM(m.default, 1));
	const credentials = credentialsOf(target, name, ssh2.utils.parseKey);
	const task = {
		name,
		what: "the login",
		timeoutSeconds: 20,
		...options
	};
	return await withinLimits(task, async (stop) => {
		const socket = await dial(target, name, stop.signal);
		return await authenticate(connectionOn(name, new ssh2.Client(), socket), target, {
			...credentials,
			...keepaliveOf(options)
		});
	});
}
function nameOf({ host, port, label }) {
	return label === void 0 ? `${host}:${port}` : `${label} (${host}:${port})`;
}
function credentialsOf({ user, privateKey, agent }, name, parseKey) {
	const agentSocket = agent === true ? process.env.SSH_AUTH_SOCK : void 0;
	if (privateKey === void 0 && agentSocket === void 0) throw new HostError("login", `Cannot log in to ${name} because ${agent === true ? "the environment has no SSH_AUTH_SOCK" : "there is no key"}; give a private key or start an agent.`);
	const wrong = privateKey === void 0 ? void 0 : whyUnfit(parseKey(privateKey));
	if (wrong !== void 0) throw new HostError("login", `The private key for ${name} cannot be used (${wrong}); give the whole text of an unencrypted one.`);
	return {
		username: user,
		...privateKey === void 0 ? {} : { privateKey },
		...agentSocket === void 0 ? {} : { agent: agentSocket }
	};
}
function whyUnfit(key) {
	if (key instanceof Error) return key.message;
	return key.isPrivateKey() ? void 0 : "it is a public key";
}
function keepaliveOf({ keepaliveSeconds = .5, keepaliveCount = 3 }) {
	return {
		keepaliveInterval: keepaliveSeconds * 1e3,
		keepaliveCountMax: keepaliveCount
	};
}
async function dial({ host, port }, name, stop) {
	const socket = createConnection({
		host,
		port,
		noDelay: true
	});
	stop.addEventListener("abort", () => socket.destroy(), { once: true });
	try {
		await once(socket, "connect", { signal: stop });
		return socket;
	} catch (error) {
		throw new HostError("unreachable", `Cannot reach ${name}: ${reasonOf(error)}; check its address, that it is up, and that sshd listens there.`, { cause: error });
	}
}
function authenticate(connection, target, config) {
	const { name, client, socket, over } = connection;
	const known = parseKnownHosts(target.knownHosts);
	const algorithms = algorithmsFor(known.entries, target);
	let refusal;
	let agentFailure;
	return new Promise((resolve, reject) => {
		const end = (error) => {
			over.abort(error);
			reject(refusal ?? loginError(error, name, target.user));
			socket.destroy();
		};
		client.on("ready", () => resolve(connection));
		client.on("error", (error) => {
			if (error.level === "agent") agentFailure = error;
			else end(error.level === "client-authentication" ? agentFailure ?? error : error);
		});
		client.on("close", () => end(/* @__PURE__ */ new Error("the other side closed the connection")));
		client.connect({
			...config,
			sock: socket,
			readyTimeout: 0,
			...algorithms.length > 0 ? { algorithms: { serverHostKey: algorithms } } : {},
			hostVerifier: (key) => {
				const verdict = checkHostKey(known.entries, target, key);
				refusal = hostKeyError(verdict, key, known.ignored, target, name);
				return verdict.kind === "known";
			}
		});
	});
}

// src/host/upload.ts
/**
* Lays bytes, or the local file at a path, on the host with the given permissions; throws a HostError
* where that does not succeed.
*/
function upload$1(connection, source, remotePath, mode, { resume = false, ...limits }) {
	const what = `the upload of ${remotePath}`;
	const task = {
		...limits,
		name: connection.name,
		what
	};
	const way = typeof source === "string" && resume ? resumed(source, remotePath) : whole(source, remotePath);
	return withinLimits({
		...task,
		over: connection.over.signal
	}, ({ signal: stop }) => connection.inTurn(() => inSession({
		...task,
		stop
	}, (opened) => connection.client.sftp(opened), (sftp) => lay$1(sftp, way, remotePath, mode, stop)))).catch((error) => {
		if (error instanceof HostError) throw error;
		const from = typeof source === "string" ? ` from ${source}` : "";
		throw new HostError("upload-failed", `Cannot lay ${remotePath}${from} on ${connection.name}: ${reasonOf(error)}; check that both folders exist and that ours there can be written.`, { cause: error });
	});
}
const connectionsAtMost = 5;
/**
* Lays a local file on a host over up to five connections, each of which goes on where the one before was
* lost. Where the sum is wrong in the end it is sent once more from the start; throws a HostError after that.
*/
async function uploadOverBreaks(host, upload) {
	const { path, remotePath, mode, sha256, sumOf, reconnect } = upload;
	let wrongSums = 0;
	for (let connections = 1, to = host; wrongSums < 2;) try {
		await to.upload(path, remotePath, mode, { resume: true });
		if (await sumOf(to, remotePath) === sha256) return;
		wrongSums += 1;
	} catch (error) {
		if (!(error instanceof HostError && error.kind === "lost") || connections === connectionsAtMost) throw error;
		connections += 1;
		to = await reconnect();
	}
	throw new HostError("upload-failed", `${remotePath} on ${host.name} was sent twice and still has another SHA-256 than ${sha256}; check ${path} here and the disk there.`);
}
function whole(source, remotePath) {
	const partial = `${remotePath}.${randomUUID()}.part`;
	return {
		partial,
		keepsPartial: false,
		send: (sftp) => done((callback) => sendAll(sftp, source, partial, callback))
	};
}
function resumed(path, remotePath) {
	const partial = `${remotePath}.part`;
	return {
		partial,
		keepsPartial: true,
		send: (sftp, stop) => sendRest(sftp, path, partial, stop)
	};
}
async function lay$1(sftp, { partial, keepsPartial, send }, remotePath, mode, stop) {
	const stopped = rejectionOf$1(stop);
	const broken = new Promise((_, reject) => {
		sftp.on("error", reject);
		sftp.on("close", () => reject(/* @__PURE__ */ new Error("the sftp session was closed")));
	});
	try {
		const steps = async () => {
			await send(sftp, stop);
			await done((callback) => sftp.chmod(partial, mode, callback));
			await done((callback) => sftp.ext_openssh_rename(partial, remotePath, callback));
		};
		await Promise.race([
			steps(),
			stopped,
			broken
		]);
	} catch (error) {
		if (keepsPartial) throw error;
		const removed = done((callback) => sftp.unlink(partial, callback));
		await Promise.race([removed, broken]).catch(() => {});
		throw error;
	} finally {
		sftp.end();
	}
}
function sendAll(sftp, source, remotePath, callback) {
	if (typeof source === "string") {
		sftp.fastPut(source, remotePath, { mode: 384 }, callback);
		return;
	}
	const bytes = Buffer.from(source.buffer, source.byteOffset, source.byteLength);
	sftp.writeFile(remotePath, bytes, { mode: 384 }, callback);
}
const chunkBytes = 32768;
const chunksAtOnce = 32;
/** A partial file that is longer than ours is begun anew. */
async function sendRest(sftp, path, partial, stop) {
	const { size } = await stat(path);
	const sizeThere = await sizeOf(sftp, partial);
	let position = sizeThere <= size ? sizeThere : 0;
	const flags = position > 0 ? "r+" : "w";
	const handle = await answer((callback) => sftp.open(partial, flags, { mode: 384 }, callback));
	const rest = createReadStream(path, {
		start: position,
		highWaterMark: chunkBytes,
		signal: stop
	});
	const underway = [];
	for await (const chunk of rest) {
		const at = position;
		const written = done((callback) => sftp.write(handle, chunk, 0, chunk.length, at, callback));
		written.catch(() => {});
		underway.push(written);
		position += chunk.length;
		if (underway.length === chunksAtOnce) await underway.shift();
	}
	await Promise.all(underway);
	await done((callback) => sftp.close(handle, callback));
}
/** In bytes; 0 where there is no such file. */
async function sizeOf(sftp, path) {
	try {
		return (await answer((callback) => sftp.stat(path, callback))).size;
	} catch (error) {
		if (error instanceof Error && "code" in error && error.code === noSuchFile) return 0;
		throw error;
	}
}
/** SSH_FX_NO_SUCH_FILE. */
const noSuchFile = 2;
const done = (start) => answer((callback) => start((error) => callback(error, void 0)));
function answer(start) {
	return new Promise((resolve, reject) => {
		start((error, value) => error ? reject(error) : resolve(value));
	});
}

// src/host/ssh.ts
/** Logs in to a host whose key is known; throws a HostError when that does not succeed. */
async function connect$2(target, options = {}) {
	const connection = await logIn(target, options);
	const close = () => closeConnection(connection);
	return {
		name: connection.name,
		run: (command, options = {}) => run(connection, command, options),
		output: (command, options = {}) => output(connection, command, options),
		upload: (source, remotePath, mode, options = {}) => upload$1(connection, source, remotePath, mode, options),
		close,
		[Symbol.asyncDispose]: close
	};
}

// src/testbed/connect.ts
/** `label` is how people call the machine. Throws a HostError where that does not succeed. */
async function connectTo(config, label, options = { keepaliveSeconds: 5 }) {
	const { host, port, user, privateKeyPath, knownHostsPath } = config;
	const knownHosts = await readFile(knownHostsPath, "utf8");
	const identity = privateKeyPath === void 0 ? { agent: true } : { privateKey: await readFile(privateKeyPath, "utf8") };
	return connect$2({
		host,
		port,
		user,
		knownHosts,
		label,
		...identity
	}, options);
}

// src/host/own-folder.ts
/**
* Makes the folder, or takes the one of an earlier time, so that nobody but its user gets into it; fails where it is
* somebody else's, a link, or was open to others: root would follow a link in it to whatever file they chose.
*/
const ownFolder = (folder) => shell`sh -c ${ownFolderScript} ppsgate ${folder}`;
/**
* One look at type, mode and owner, without following a link, is enough: in a sticky folder nobody else can take away
* what is ours. One line without `!`, as root's login shell may be csh; ls(1), for stat(1) is another on each system.
*/
const ownFolderScript = "[ -h \"$1\" ] || mkdir -p -m 700 \"$1\" || exit 1; set -- \"$1\" $(ls -ldn \"$1\"); case \"$2/$4\" in d????-??-*/\"$(id -u)\") exec chmod 700 \"$1\";; esac; echo \"ppsgate: $1 could be written by others than its user: see who made it, and remove it\" >&2; exit 1";

// src/host/fence.ts
/** Where a machine keeps the tokens that it has seen, each as the name of an empty file: it outlives a reboot on most. */
const tokenFolder = "/var/tmp/ppsgate-tokens";
/**
* The same machine, whose every task throws a FencedError where a higher token was seen there; nothing is then done.
* An upload asks before it begins, and not again at its end.
*/
function fencedHost(host, fence, folder = tokenFolder) {
	const word = tokenWord(fence.token);
	const guarded = (command) => shell`sh -c ${guardIn(folder)} ppsgate ${word} ${commandText(command)}`;
	const run = async (command, options = {}) => {
		fence.assertHeld();
		const outcome = await host.run(guarded(command), {
			...options,
			shownAs: command
		});
		if (outcome.kind !== "exited" || outcome.code !== refusalCode) return outcome;
		refuse(host, options.onStderr === void 0 ? outcome.stderr : await askAgain(options), fence.token, folder);
		return outcome;
	};
	const askAgain = async ({ signal, timeoutSeconds }) => {
		const limits = {
			...signal !== void 0 && { signal },
			...timeoutSeconds !== void 0 && { timeoutSeconds }
		};
		return (await host.run(guarded(shell`:`), {
			...limits,
			shownAs: shell`:`
		})).stderr;
	};
	const output = async (command, options) => stdoutOf(await run(command, options), host.name, command);
	return {
		...host,
		run,
		output,
		async upload(source, remotePath, mode, options) {
			await output(shell`: upload ${remotePath}`, options);
			fence.assertHeld();
			await host.upload(source, remotePath, mode, options);
		}
	};
}
/**
* From now on the machine refuses lower tokens. Throws a FencedError where it has seen a higher one, and a HostError
* where it cannot be told.
*/
async function raiseFence(host, token, folder = tokenFolder) {
	const raising = shell`sh -c ${raiseIn(folder)} ppsgate ${tokenWord(token)}`;
	const shownAs = shell`touch ${`${folder}/${token}`}`;
	const outcome = await host.run(raising, {
		timeoutSeconds: raiseSeconds,
		shownAs
	});
	refuse(host, outcome.stderr, token, folder);
	stdoutOf(outcome, host.name, shownAs);
}
/** A later lease has taken a machine over: nothing was done there, and nothing is to be tried again. */
var FencedError = class extends Error {
	name = "FencedError";
};
/** Of a machine that died right after the login. */
const raiseSeconds = 60;
/** Of no program that is run here; one that does exit so is told apart by what the guard says. */
const refusalCode = 213;
/**
* The script that runs the command in its second argument unless the folder has a higher token than its first one.
* One line without `!`: root's login shell may be csh, which both would break.
*/
const guardIn = (folder) => commandText(shell`${refuseHigherIn(folder)}; exec sh -c "$2"`);
/** Lays its own token before it looks for a higher one: of two that race, the lower always meets the higher. */
const raiseIn = (folder) => commandText(shell`${ownFolder(folder)} && : >${folder}/"$1" || exit 1; ${refuseHigherIn(folder)}; for file in ${folder}/[0-9]*; do if test "\${file##*/}" -lt "$1" 2>/dev/null; then rm -f "$file"; fi; done`);
/** test(1) fails for a name that is no number. */
const refuseHigherIn = (folder) => shell`for file in ${folder}/[0-9]*; do seen=\${file##*/}; if test "$seen" -gt "$1" 2>/dev/null; then echo "ppsgate: token $seen refuses $1" >&2; exit ${refusalCode}; fi; done`;
function refuse(host, stderr, token, folder) {
	const [, seen, refused] = /^ppsgate: token (\d+) refuses (\d+)$/m.exec(stderr) ?? [];
	if (seen === void 0 || refused !== String(token)) return;
	throw new FencedError(`Nothing was done on ${host.name}: a later lease (its token is ${seen}) has taken the testbed over from ours (token ${token}); if the reservation store was made anew, with lower tokens, remove ${folder} there.`);
}
/** A fraction or `1e+21` is no number to test(1), and would pass every guard. */
function tokenWord(token) {
	if (Number.isSafeInteger(token) && token >= 0) return String(token);
	throw new TypeError(`${token} is no fencing token: it has to be a whole number.`);
}

// src/testbed/fence.ts
/**
* The world of one testbed, of which only its own machines are fenced: a builder serves many leases at once.
* Tasks and power cycles throw a FencedError where a later lease has the testbed.
*/
function fencedWorld(world, testbed, lease) {
	const connect = fencedConnect(world.connect, lease);
	return {
		...world,
		connect: (config, label, options) => config === testbed.builder ? world.connect(config, label, options) : connect(config, label, options),
		async openPower(name, config) {
			const power = await world.openPower(name, config);
			return {
				state: () => power.state(),
				async cycle() {
					await lease.prove();
					await askGenerators(world, testbed, lease);
					lease.assertHeld();
					await power.cycle();
				}
			};
		}
	};
}
/** Each login raises the fence anew: an appliance keeps /var in memory, and has forgotten its tokens after a boot. */
function fencedConnect(connect, fence) {
	return async (config, label, options) => {
		fence.assertHeld();
		const host = await connect(config, label, options);
		try {
			await raiseFence(host, fence.token);
		} catch (error) {
			await host.close();
			throw error;
		}
		return fencedHost(host, fence);
	};
}
/**
* Makes all machines of a testbed refuse whoever held it before; the embedded one has none of its own. Throws a
* FencedError where one has seen a higher token, and a HostError where one cannot be reached.
*/
async function raiseFences(testbed, fence, connect) {
	const raise = fencedConnect(connect, fence);
	const failure = (await Promise.allSettled(rolesOf(testbed).map(async ({ config, label }) => (await raise(config, label)).close()))).find(({ status }) => status === "rejected");
	if (failure?.status === "rejected") throw failure.reason;
}
/** Of all of them together, as the DUT waits. */
const askSeconds = 20;
/** The DUT itself may hang; nobody who has a testbed goes past its generators. */
async function askGenerators(world, testbed, lease) {
	const signal = AbortSignal.timeout(askSeconds * 1e3);
	await Promise.all(generatorsOf(testbed).map(async ({ config, label }) => {
		try {
			await using host = await world.connect(config, label, { signal });
			await fencedHost(host, lease).output(shell`:`, { signal });
		} catch (error) {
			if (!(error instanceof HostError)) throw error;
		}
	}));
}

// src/dut/freebsd-boot-system.ts
/** What runs now. */
async function runningSystem(host) {
	const kernel = (await host.output(shell`sysctl -n kern.bootfile`)).trim();
	const [root] = await fileSystemsOf(host, ["/"]);
	return {
		root: root?.device ?? "",
		kernel,
		sha256: await sha256Of(host, kernel)
	};
}
/** Why a running system is not the wanted one; undefined where it is. */
function whyOther(running, wanted) {
	const name = ({ root, kernel }) => running.root === wanted.root ? kernel : `${kernel} of ${root}`;
	if (!isSamePlace(running, wanted)) return `${name(running)} came up instead of ${name(wanted)}`;
	if (running.sha256 === wanted.sha256) return void 0;
	return `${name(running)} has another checksum than before the boot`;
}
/** Laid by an experiment: by nextboot(8) in a folder, by bectl(8) in an environment of that name. */
const isOurs = ({ root, kernel }) => kernel.startsWith("/boot/ppsgate.") || basename$1(root).startsWith("ppsgate.");
const isSamePlace = (one, other) => one.root === other.root && one.kernel === other.kernel;
const sha256Of = async (host, file) => (await host.output(shell`sha256 -q ${file}`)).trim();
/** Those that the given paths lie on, in their order. */
async function fileSystemsOf(host, paths) {
	const [, ...rows] = (await host.output(shell`df -k ${paths}`)).trim().split("\n");
	return rows.map((row) => {
		const [device = "", , , kibibytes] = row.split(/\s+/);
		return {
			device,
			availableBytes: Number(kibibytes) * 1024
		};
	});
}

// src/dut/freebsd-boot-archive.ts
/** Half an archive stays here when the machine is lost: who lays the same again goes on from there. */
const archiveFolder = "/var/tmp/ppsgate";
/** Uploads an archive where there is space for it and what is in it, and takes it away after its use. */
async function withArchive(machine, kernel, use) {
	const reason = await tooLittleSpace(machine.host(), kernel);
	if (reason !== void 0) return {
		kind: "no-space",
		reason
	};
	const archive = `${archiveFolder}/${kernel.sha256}.tar`;
	await machine.host().output(ownFolder(archiveFolder));
	await uploadOverBreaks(machine.host(), {
		path: kernel.path,
		remotePath: archive,
		mode: 384,
		sha256: kernel.sha256,
		sumOf: sha256Of,
		reconnect: machine.reconnect
	});
	const outcome = await use(archive);
	await machine.host().output(shell`rm -rf ${archive}`);
	return outcome;
}
/** Into a folder that is there; throws a HostError for an archive that tar(1) cannot read. */
async function unpack(host, archive, folder) {
	const unpacked = await host.run(shell`tar -x -p -f ${archive} -C ${folder}`);
	if (unpacked.kind === "exited" && unpacked.code === 0) return { kind: "laid" };
	const said = lastLine(unpacked.stderr) ?? "it said nothing";
	const lacking = /^.*No space left on device.*$/m.exec(unpacked.stderr)?.[0];
	if (lacking !== void 0) return {
		kind: "no-space",
		reason: lacking
	};
	throw new HostError("command-failed", `tar cannot unpack ${archive} on ${host.name}: ${said}`);
}
async function tooLittleSpace(host, kernel) {
	const [boot, temporary] = await fileSystemsOf(host, ["/boot", "/var/tmp"]);
	if (boot === void 0 || temporary === void 0) return void 0;
	const archiveBytes = (await stat(kernel.path)).size;
	const isShared = diskOf(boot.device) === diskOf(temporary.device);
	const bootBytes = kernel.unpackedBytes + (isShared ? archiveBytes : 0);
	return lackOf("/boot", boot.availableBytes, bootBytes) ?? lackOf("/var/tmp", temporary.availableBytes, archiveBytes);
}
/** The datasets of a pool share its space. */
const diskOf = (device) => device.startsWith("/") ? device : device.split("/")[0];
function lackOf(folder, availableBytes, neededBytes) {
	if (availableBytes >= neededBytes) return void 0;
	const mebibytes = (bytes) => `${Math.ceil(bytes / 2 ** 20)} MiB`;
	return `${folder} has ${mebibytes(availableBytes)} left and a kernel needs ${mebibytes(neededBytes)}`;
}

// src/dut/freebsd-boot-environment.ts
function bootEnvironment(machine) {
	const { own, host } = machine;
	/** By variant, with the archive that it came from. */
	const laid = /* @__PURE__ */ new Map();
	return {
		armsFromOwn: false,
		async lay({ variant, ...kernel }) {
			if (laid.get(variant)?.archive === kernel.sha256) return { kind: "laid" };
			const name = environmentOf(variant);
			return withArchive(machine, {
				variant,
				...kernel
			}, async (archive) => {
				laid.delete(variant);
				if ((await environmentsOn(host())).includes(name)) await destroy(host(), name);
				await host().output(shell`bectl create -e ${basename$1(own.root)} ${name}`);
				const filled = await fill(host(), name, dirname$1(own.kernel), archive);
				if (filled.kind === "no-space") {
					await destroy(host(), name);
					return filled;
				}
				const system = {
					...own,
					root: `${dirname$1(own.root)}/${name}`,
					sha256: filled.sha256
				};
				laid.set(variant, {
					archive: kernel.sha256,
					system
				});
				return { kind: "laid" };
			});
		},
		async arm(variant) {
			if (variant === void 0) {
				await host().output(shell`bectl activate -T`);
				return own;
			}
			const system = laid.get(variant)?.system;
			if (system === void 0) throw new TypeError(`The variant ${variant} was never laid.`);
			await host().output(shell`bectl activate -t ${basename$1(system.root)}`);
			return system;
		},
		async clear() {
			const names = await environmentsOn(host());
			for (const name of names) if (name.startsWith(prefix$1)) await destroy(host(), name);
			await host().output(shell`rm -rf ${archiveFolder}`);
			laid.clear();
		}
	};
}
const prefix$1 = "ppsgate.";
const environmentOf = (variant) => `${prefix$1}${pathName(variant)}`;
async function environmentsOn(host) {
	return (await host.output(shell`bectl list -H`)).split("\n").flatMap((row) => row.split("	")[0] || []);
}
/** With the snapshot that it was cloned from; mounted or not. */
async function destroy(host, name) {
	await host.output(shell`bectl destroy -F -o ${name}`);
}
/** The kernel takes the place of the machine's own, as both have the same loader.conf. */
async function fill(host, name, folder, archive) {
	const place = (await host.output(shell`bectl mount ${name}`)).trim();
	const target = `${place}${folder}`;
	try {
		await host.output(shell`rm -rf ${target}`);
		await host.output(shell`mkdir -p ${target}`);
		const outcome = await unpack(host, archive, target);
		if (outcome.kind === "no-space") return outcome;
		return {
			kind: "filled",
			sha256: await sha256Of(host, `${target}/kernel`)
		};
	} finally {
		await host.output(shell`bectl unmount ${name}`);
		await host.output(shell`rmdir ${place}`);
	}
}

// src/dut/freebsd-boot-nanobsd.ts
/**
* The other slice holds the image that was booted last, and is what boots until its own is active again:
* nothing falls back by itself, and a kernel that never lets ssh in needs somebody at the boot menu.
* The configuration is never saved.
*/
function nanobsd({ own, host }) {
	const images = /* @__PURE__ */ new Map();
	return {
		armsFromOwn: true,
		async lay(image) {
			await refuseTorn(image);
			images.set(image.variant, image);
			return { kind: "laid" };
		},
		async arm(variant) {
			if (variant === void 0) {
				await goBack(host(), own.root);
				return own;
			}
			const image = images.get(variant);
			if (image === void 0) throw new TypeError(`The variant ${variant} was never laid.`);
			await upgrade(host(), image.path);
			const root = await nextRoot(host());
			return {
				root,
				kernel: own.kernel,
				sha256: await sumOn(host(), root, own.kernel)
			};
		},
		async clear() {
			images.clear();
		}
	};
}
async function refuseTorn({ path, sha256 }) {
	const hash = createHash("sha256");
	await pipeline(createReadStream(path), hash);
	const found = hash.digest("hex");
	if (found === sha256) return;
	throw new Error(`The image ${path} has the SHA-256 ${found} and not ${sha256}; build it again.`);
}
async function upgrade(host, path) {
	const image = Readable.from(decompressed(path), { objectMode: false });
	try {
		await host.output(shell`upgrade`, { stdin: image });
	} finally {
		image.destroy();
	}
}
/** Node has no xz. Fails before its end where xz(1) does, so that no half image counts as a whole one. */
async function* decompressed(path) {
	const xz = spawn("xz", [
		"-d",
		"-c",
		"--",
		path
	], { stdio: [
		"ignore",
		"pipe",
		"ignore"
	] });
	const ended = once(xz, "close").then(([code]) => code === 0 ? void 0 : `it exited with ${code}`, reasonOf);
	try {
		for await (const chunk of xz.stdout) yield chunk;
		const failure = await ended;
		if (failure === void 0) return;
		throw new Error(`xz cannot decompress ${path}: ${failure}; install xz here or build the image again.`);
	} finally {
		xz.kill();
	}
}
/** Only the appliance's own commands know all that belongs to a change of slices. */
async function goBack(host, ownRoot) {
	const [root] = await fileSystemsOf(host, ["/"]);
	if (root?.device !== ownRoot) await host.output(shell`system rollback`, { stdin: "y\n" });
	const next = await nextRoot(host);
	if (next === ownRoot) return;
	throw new HostError("command-failed", `${host.name} would boot from ${next} and not from its own ${ownRoot}: make that slice active by hand.`);
}
/** Both `upgrade` and `system rollback` write into fstab(5) what the slice that is active now has as its root. */
async function nextRoot(host) {
	const [device] = (await host.output(shell`cat /etc/fstab`)).split("\n").map((row) => row.split(/\s+/)).find(([, place]) => place === "/") ?? [];
	if (device !== void 0) return device;
	throw new HostError("command-failed", `/etc/fstab on ${host.name} names no root: it is no appliance that nanobsd(8) made; choose another boot method.`);
}
async function sumOn(host, device, file) {
	await host.output(shell`mount -t ufs -o ro ${device} /mnt`);
	try {
		return await sha256Of(host, `/mnt${file}`);
	} finally {
		await host.output(shell`umount /mnt`);
	}
}

// src/dut/freebsd-boot-nextboot.ts
function nextboot(machine) {
	const { own, host } = machine;
	const laid = /* @__PURE__ */ new Map();
	return {
		armsFromOwn: false,
		async lay(kernel) {
			const outcome = await layFolder(machine, kernel);
			if (outcome.kind === "no-space") return outcome;
			const file = `${folderOf$1(kernel.variant)}/kernel`;
			const sha256 = await sha256Of(host(), file);
			laid.set(kernel.variant, {
				root: own.root,
				kernel: file,
				sha256
			});
			return outcome;
		},
		async arm(variant) {
			if (variant === void 0) {
				await cancelNextBoot(host());
				return own;
			}
			const system = laid.get(variant);
			if (system === void 0) throw new TypeError(`The variant ${variant} was never laid.`);
			await host().output(shell`nextboot -k ${dirname$1(system.kernel).replace("/boot/", "")}`);
			return system;
		},
		async clear() {
			const ours = (await host().output(shell`ls -1 /boot`)).split("\n").filter((name) => name.startsWith(prefix));
			await host().output(shell`rm -rf ${[archiveFolder, ...ours.map((name) => `/boot/${name}`)]}`);
			laid.clear();
		}
	};
}
const prefix = "ppsgate.";
const folderOf$1 = (variant) => `/boot/${prefix}${pathName(variant)}`;
async function layFolder(machine, kernel) {
	const folder = folderOf$1(kernel.variant);
	const mark = `${folder}/ppsgate.sha256`;
	if ((await machine.host().run(shell`cat ${mark}`)).stdout === kernel.sha256) return { kind: "laid" };
	return withArchive(machine, kernel, async (archive) => {
		const host = machine.host();
		const part = `${folder}.part`;
		await host.output(shell`rm -rf ${part} ${folder}`);
		await host.output(shell`mkdir -p ${part}`);
		const outcome = await unpack(host, archive, part);
		if (outcome.kind === "no-space") {
			await host.output(shell`rm -rf ${part}`);
			return outcome;
		}
		await host.output(shell`mv -f ${part} ${folder}`);
		await host.upload(Buffer.from(kernel.sha256), mark, 384);
		return outcome;
	});
}
/** Where there is nothing to cancel, nextboot(8) fails or not, by its age. */
async function cancelNextBoot(host) {
	await host.run(shell`nextboot -D`);
	const left = await host.run(shell`test -e ${"/boot/nextboot.conf"}`);
	if (left.kind === "exited" && left.code !== 0) return;
	throw new HostError("command-failed", `"nextboot -D" on ${host.name} leaves /boot/nextboot.conf behind: remove it, or the next boot is not its own.`);
}

// src/dut/freebsd.ts
const methods = {
	/** A folder in /boot; the boot after the next is the machine's own again. */
	nextboot,
	/** A clone of its own environment on ZFS; likewise for one boot. */
	"boot-environment": bootEnvironment,
	/** A whole image in the other slice of an appliance, where nothing falls back by itself. */
	nanobsd
};
/** The machine does not come back: nothing can be measured on it until somebody has looked. */
var DutLostError = class extends Error {
	name = "DutLostError";
};
/**
* Connects to a machine, whose own kernel is the one that runs: `restore` goes back to it. One of ours, left running by
* a controller that died, is rebooted first.
*/
async function openFreebsdDut(options) {
	await using opened = new AsyncDisposableStack();
	let host = await leaveOurs(await options.connect(), options);
	opened.defer(() => host.close());
	const own = await runningSystem(host);
	/** Of panics before what runs now. */
	let traces = await tracesOf(host);
	const reconnect = async () => {
		await host.close();
		host = (await waitForUp(void 0, options)).host;
		return host;
	};
	const method = methods[options.method]({
		own,
		host: () => host,
		reconnect
	});
	const boot = async (variant) => {
		if (variant !== void 0 && method.armsFromOwn) await goHome();
		const wanted = await method.arm(variant);
		const timeBefore = await bootTime(host);
		traces = await tracesOf(host);
		const toldAt = options.now();
		await tellToReboot(host);
		const up = await waitForUp(timeBefore, options);
		const seconds = options.now() - toldAt;
		host = up.host;
		const proof = await prove$1(host, wanted);
		if (variant === void 0) return {
			...proof,
			seconds
		};
		if (up.wasCycled) return {
			kind: "boot-failed",
			reason: `it was not up after ${options.bootSeconds} s, and was power-cycled`,
			seconds,
			...await recover()
		};
		if (proof.kind === "booted") return {
			...proof,
			seconds
		};
		return {
			...proof,
			seconds,
			...await recover()
		};
	};
	const goHome = async () => {
		if (isSamePlace(await runningSystem(host), own)) return;
		const outcome = await boot(void 0);
		if (outcome.kind === "boot-failed") throw new DutLostError(outcome.reason);
	};
	/** The same connection where it still carries a command, or a new one. */
	const reach = async () => {
		try {
			await host.output(shell`uname`, { timeoutSeconds: answerSeconds$1 });
		} catch {
			await reconnect();
		}
	};
	const recover = async () => {
		await reach();
		const tracesNow = await tracesOf(host);
		const panic = panicSince(traces, tracesNow);
		traces = tracesNow;
		await goHome();
		return panic === void 0 ? {} : { panic };
	};
	opened.move();
	return {
		lay: (kernel) => method.lay(kernel),
		boot,
		host: () => host,
		recover,
		async restore() {
			await reach();
			await goHome();
			await method.arm(void 0);
			await method.clear();
		}
	};
}
/** A kernel may well panic when the machine is just up. */
async function prove$1(host, wanted) {
	try {
		const reason = whyOther(await runningSystem(host), wanted);
		if (reason !== void 0) return {
			kind: "boot-failed",
			reason
		};
		return {
			kind: "booted",
			version: (await host.output(shell`uname -v`)).trim()
		};
	} catch (error) {
		ifNotUp(error);
		return {
			kind: "boot-failed",
			reason: "it was lost again as soon as it was up"
		};
	}
}
/** Answers when the machine does; one that boots is waited for, and one that stays away is power-cycled. */
async function wakeFreebsdDut(options) {
	await (await options.connect().catch(ifNotUp) ?? (await waitForUp(void 0, options)).host).close();
}
/** Whoever died may have ordered another one while one of ours ran; each was ordered for one boot only. */
const mostBootsOfOurs = 2;
/** The boot after those of ours is the machine's own. */
async function leaveOurs(first, options) {
	let host = first;
	for (let boots = 0;; boots += 1) {
		const running = await runningSystem(host);
		if (!isOurs(running)) return host;
		if (boots === mostBootsOfOurs) {
			await host.close();
			throw new DutLostError(`The DUT runs ${running.kernel} of an earlier experiment, after two reboots too; boot its own kernel.`);
		}
		const timeBefore = await bootTime(host);
		await tellToReboot(host);
		host = (await waitForUp(timeBefore, options)).host;
	}
}
const answerSeconds$1 = 10;
/** `{ sec = 1700000000, usec = 123456 } Tue Nov 14 …`: after a boot it says something else. */
const bootTime = async (host) => (await host.output(shell`sysctl -n kern.boottime`)).trim();
/** The connection mostly breaks before the command has said that it succeeded. */
async function tellToReboot(host) {
	try {
		await host.output(shell`shutdown -r now`);
	} catch (error) {
		if (!(error instanceof HostError) || error.kind === "command-failed") throw error;
	}
	await host.close();
}
const secondsBetweenLooks = 2;
/** Up is a machine that answers and has booted since then; one that is late is power-cycled, twice if need be. */
async function waitForUp(bootTimeBefore, { connect, power, bootSeconds, sleep, now }) {
	let powerFailure;
	for (const cycles of [
		0,
		1,
		2
	]) {
		if (cycles > 0 && power === void 0) break;
		if (cycles > 0) powerFailure = await power?.cycle().then(noFailure, asFailure);
		const deadline = now() + bootSeconds;
		while (powerFailure === void 0 && now() < deadline) {
			await sleep(secondsBetweenLooks);
			const host = await connectOnceUp(connect, bootTimeBefore).catch(ifNotUp);
			if (host !== void 0) return {
				host,
				wasCycled: cycles > 0
			};
		}
	}
	throw new DutLostError(`The DUT was not up after ${bootSeconds} s, ${whatWasTried(power, powerFailure)}; look at its console.`);
}
const noFailure = () => void 0;
/** Whoever may not touch the power any more may not go on either. */
const asFailure = (error) => {
	if (error instanceof PowerError) return error;
	throw error;
};
function whatWasTried(power, failure) {
	if (power === void 0) return "and has no power control";
	return failure === void 0 ? "not even power-cycled twice" : `and could not be power-cycled in two tries (${reasonOf(failure)})`;
}
/** Undefined while the machine still shuts down. */
async function connectOnceUp(connect, bootTimeBefore) {
	const host = await connect();
	try {
		if (bootTimeBefore === void 0 || await bootTime(host) !== bootTimeBefore) return host;
	} catch (error) {
		await host.close();
		throw error;
	}
	await host.close();
}
function ifNotUp(error) {
	if (error instanceof HostError && [
		"unreachable",
		"lost",
		"timeout"
	].includes(error.kind)) return;
	throw error;
}
async function tracesOf(host) {
	const messages = await host.output(shell`dmesg -a`);
	const dump = await host.run(shell`cat ${"/var/crash/info.last"}`);
	return {
		dump: dump.kind === "exited" && dump.code === 0 ? dump.stdout.trim() : void 0,
		panics: [...messages.matchAll(/^panic: (.+)$/gm)].map(([, panic = ""]) => panic)
	};
}
function panicSince(before, now) {
	const dumped = /^[ \t]*Panic String: (.+)$/m.exec(now.dump ?? "")?.[1];
	if (now.dump !== before.dump && dumped !== void 0) return dumped;
	return now.panics.length > before.panics.length ? now.panics.at(-1) : void 0;
}

// src/dut/freebsd-counters.ts
const interfaceCounters = shell`netstat -i -b -n -W`;
const cpuTimes = shell`sysctl -n kern.cp_times`;
/** What is read of a host; cards whose driver keeps no statistics that are known here have none of their own. */
function countersCommands(interfaces) {
	return [
		interfaceCounters,
		shell`netstat -s`,
		cpuTimes,
		shell`vmstat -i`,
		...interfaces.flatMap(cardStatistics)
	];
}
/** The nodes that hold what the card itself counts, by the name of the driver's interfaces. */
const statisticsNodes = {
	cc: ["stats"],
	cxgbe: ["stats"],
	cxl: ["stats"],
	em: ["mac_stats"],
	igb: ["mac_stats"],
	igc: ["mac_stats"],
	ix: ["mac_stats"],
	ixl: ["mac"],
	mce: ["pstats", "vstats"]
};
function cardStatistics(name) {
	const [, driver = "", unit] = /^([a-z]+)(\d+)$/.exec(name) ?? [];
	return (statisticsNodes[driver] ?? []).map((node) => shell`sysctl ${`dev.${driver}.${unit}.${node}`}`);
}
/** Both readings as text, for people: each command with its output before and after the blast. */
function countersLog(before, after) {
	return [.../* @__PURE__ */ new Set([...before.keys(), ...after.keys()])].flatMap((command) => [section(`before: ${command}`, before.get(command)), section(`after: ${command}`, after.get(command))]).join("\n");
}
const section = (title, output = "failed") => `==> ${title}\n${output.trimEnd()}\n`;
/**
* The share of the CPUs' time between two readings that was not idle; undefined where either is missing, or the host
* has booted between them. What lies between the readings and the packets is in it: a DUT that is busy throughout a
* blast of 60 s, and idle for 10 s around it, has 0.86.
*/
function busyShare(before, after) {
	const earlier = parseCpuTimes(before.get(commandText(cpuTimes)) ?? "");
	const spent = parseCpuTimes(after.get(commandText(cpuTimes)) ?? "").map((cpu, index) => difference(cpu, earlier[index]));
	if (spent.length !== earlier.length || spent.some(({ busy, idle }) => busy < 0 || idle < 0)) return;
	const running = spent.filter(({ busy, idle }) => busy + idle > 0);
	if (running.length === 0) return void 0;
	return {
		overallRatio: shareOf(sumOf(running)),
		busiestCpuRatio: running.reduce((most, cpu) => Math.max(most, shareOf(cpu)), 0)
	};
}
/** In user mode, niced, in the kernel, in interrupts, idle: see `CPUSTATES` in FreeBSD's sys/resource.h. */
const cpuStates = 5;
/** Reads `sysctl -n kern.cp_times`, CPU by CPU; none where the text is none of it. */
function parseCpuTimes(text) {
	const ticks = text.trim().split(/\s+/).map(Number);
	if (text.trim() === "" || ticks.length % cpuStates !== 0 || !ticks.every(Number.isFinite)) return [];
	return Array.from({ length: ticks.length / cpuStates }, (_, cpu) => {
		const states = ticks.slice(cpu * cpuStates, (cpu + 1) * cpuStates);
		const idle = states.at(-1) ?? 0;
		return {
			busy: states.reduce((total, state) => total + state, 0) - idle,
			idle
		};
	});
}
const difference = (after, before = {
	busy: 0,
	idle: 0
}) => ({
	busy: after.busy - before.busy,
	idle: after.idle - before.idle
});
const sumOf = (times) => ({
	busy: times.reduce((total, { busy }) => total + busy, 0),
	idle: times.reduce((total, { idle }) => total + idle, 0)
});
const shareOf = ({ busy, idle }) => busy / (busy + idle);
/** Reads `netstat -i -b -n -W`: what it says of the interfaces themselves, not of their addresses. */
function parseInterfaceCounters(text) {
	const [head = "", ...lines] = text.split("\n");
	const columns = words$1(head);
	const [ipkts = 0, ierrs = 0, idrop = 0, opkts = 0, oerrs = 0] = [
		"Ipkts",
		"Ierrs",
		"Idrop",
		"Opkts",
		"Oerrs"
	].map((column) => columns.indexOf(column) - columns.length);
	const counters = /* @__PURE__ */ new Map();
	for (const line of lines) {
		if (!line.includes("<Link#")) continue;
		const row = words$1(line);
		const [name = "", , network = ""] = row;
		if (!network.startsWith("<Link#")) continue;
		const values = {
			received: Number(row.at(ipkts)),
			receiveErrors: Number(row.at(ierrs)),
			receiveDrops: Number(row.at(idrop)),
			sent: Number(row.at(opkts)),
			sendErrors: Number(row.at(oerrs))
		};
		if (Object.values(values).every(Number.isFinite)) counters.set(name.replace(/\*$/, ""), values);
	}
	return counters;
}
const words$1 = (line) => line.trim().split(/\s+/);

// src/dut/freebsd-network.ts
/** Reads `ifconfig INTERFACE`; undefined where the text is none of it. */
function parseIfconfig(text) {
	const [, name, flags = "", mtu] = /^(\S+): flags=[0-9a-f]+<([^>]*)>.* mtu (\d+)/m.exec(text) ?? [];
	if (name === void 0) return void 0;
	const options = /^[ \t]+options=[0-9a-f]+<([^>]*)>/m.exec(text)?.[1] ?? "";
	const mac = /^[ \t]+ether (\S+)/m.exec(text)?.[1];
	const media = /^[ \t]+media: (.*\S)/m.exec(text)?.[1];
	const gigabits = gigabitsOf(media ?? "");
	return {
		name,
		flags: listed(flags),
		options: listed(options),
		mtu: Number(mtu),
		...mac !== void 0 && { mac: mac.toLowerCase() },
		...media !== void 0 && { media },
		...gigabits !== void 0 && { gigabits },
		isActive: /^[ \t]+status: active$/m.test(text)
	};
}
const listed = (names) => names.split(",").filter(Boolean);
/** What was negotiated stands in parentheses where it is not what was chosen. The names are those of ifmedia(4). */
function gigabitsOf(media) {
	const [start, end] = [media.indexOf("("), media.lastIndexOf(")")];
	const active = start !== -1 && start < end ? media.slice(start + 1, end) : media;
	const [, digits, giga] = /\b(\d+)(G?)base/i.exec(active) ?? [];
	if (digits === void 0) return void 0;
	return giga === "" ? Number(digits) / 1e3 : Number(digits);
}
/** Reads `netstat -rn -f FAMILY`; the columns are those of its header. */
function parseRoutes(text) {
	const rows = filledLines(text).map(words);
	const head = rows.findIndex(([first]) => first === "Destination");
	const [destination = -1, gateway = -1, flags = -1, netif = -1] = [
		"Destination",
		"Gateway",
		"Flags",
		"Netif"
	].map((column) => (rows[head] ?? []).indexOf(column));
	return rows.slice(head + 1).filter((row) => head !== -1 && row.length > netif).map((row) => ({
		destination: row[destination] ?? "",
		gateway: row[gateway] ?? "",
		flags: row[flags] ?? "",
		interface: row[netif] ?? ""
	}));
}
/** Reads `arp -an`. */
function parseArp(text) {
	return [...text.matchAll(/^\S+ \((\S+)\) at (\S+) on (\S+)( permanent)?/gm)].map(([, address = "", mac = "", name = "", permanent]) => neighbour(address, mac, name, permanent !== void 0));
}
/** Reads `ndp -an`. */
function parseNdp(text) {
	return filledLines(text).map(words).filter(([first = ""]) => first.includes(":")).map(([address = "", mac = "", name = "", expires]) => neighbour(address, mac, name, expires === "permanent"));
}
/** One that is being resolved is `(incomplete)`. */
const neighbour = (address, mac, name, isPermanent) => ({
	address,
	...mac.includes(":") && { mac: mac.toLowerCase() },
	interface: name,
	isPermanent
});
/** A table of words is made of them, which of megabytes of empty lines would be gigabytes. */
const filledLines = (text) => text.split("\n").filter(Boolean);
const words = (line) => line.trim().split(/\s+/);

// src/dut/freebsd-setting.ts
/** Nothing, or the one problem of a setting. */
function problemOf(setting, said) {
	const { name, why } = setting;
	const fault = faultOf(setting, said);
	if (fault === void 0) return [];
	return [{
		setting: name,
		message: `${name} ${fault.is}, and ${why}: ${advice(fault.mend)}.`,
		mend: fault.mend
	}];
}
function faultOf({ reads, check, isOptional = false }, said) {
	const texts = reads.map(commandText);
	const failed = texts.find((text) => !said.has(text));
	if (failed === void 0) return check(...texts.map((text) => (said.get(text) ?? "").trim()));
	if (isOptional) return void 0;
	return {
		is: "cannot be read",
		mend: {
			kind: "person",
			what: `see why \`${failed}\` fails on the DUT`
		}
	};
}
function advice(mend) {
	switch (mend.kind) {
		case "command": return `run \`${commandText(mend.command)}\` on the DUT`;
		case "loader": return `put \`${mend.line}\` into its /boot/loader.conf and reboot it`;
		case "wait": return `wait ${mend.seconds} s`;
		case "person": return mend.what;
	}
}
/** One value only, which can be set at any time. */
const sysctl = (name, wanted, why) => oneValue(name, wanted, why, {
	kind: "command",
	command: shell`sysctl ${`${name}=${wanted}`}`
});
/** One value only, which the loader hands to the kernel. */
const tunable = (name, wanted, why, loaderName = name) => oneValue(name, wanted, why, {
	kind: "loader",
	line: `${loaderName}="${wanted}"`
});
const oneValue = (name, wanted, why, mend) => ({
	name,
	why,
	reads: [readSysctl(name)],
	check: (value) => unless(value === String(wanted), {
		is: `is ${value} instead of ${wanted}`,
		mend
	})
});
/** Reads one value of the kernel's. */
const readSysctl = (name) => shell`sysctl -n ${name}`;
const unless = (isRight, fault) => isRight ? void 0 : fault;

// src/dut/freebsd-fingerprint.ts
/** The commands whose output `fingerprintOf` needs; any may fail, and is then left out. */
const fingerprintCommands = (request) => factsOf(request).map(({ reads }) => reads);
function fingerprintOf(said, request) {
	const entries = factsOf(request).flatMap(({ reads, entries }) => {
		const output = said.get(commandText(reads))?.trim() ?? "";
		return output === "" ? [] : entries(output);
	});
	return Object.fromEntries(entries.map(([name, value]) => [name, value.slice(0, longestValue)]));
}
/** In characters; a result holds them all, and the longest are the names of cards. */
const longestValue = 2e3;
/** One line for each fact that differs without the kernel's being the reason; empty where base and the variant are comparable. */
function differences(base, other, variant = "patched") {
	return [.../* @__PURE__ */ new Set([...Object.keys(base), ...Object.keys(other)])].filter((name) => !explainedByKernel.has(name) && base[name] !== other[name]).map((name) => `${name}: ${shown$1(base[name])} on base, ${shown$1(other[name])} on ${variant}`);
}
/** What is the machine's, whichever kernel runs. */
const withoutKernel = (fingerprint) => Object.fromEntries(Object.entries(fingerprint).filter(([name]) => !explainedByKernel.has(name) && !kernelFacts.has(name)));
const kernelFacts = /* @__PURE__ */ new Set([
	"ident",
	"RSS",
	"release"
]);
const explainedByKernel = /* @__PURE__ */ new Set([
	"kernel",
	"kern.bootfile",
	"kern.boottime",
	"kernel sha256"
]);
const shown$1 = (value) => value === void 0 ? "nothing" : `"${value}"`;
const factsOf = ({ interfaces, bootFile }) => [
	fact("kernel", shell`uname -v`),
	fact("cpu", readSysctl("hw.model")),
	fact("machine", shell`kenv -q smbios.system.product`),
	fact("kernel sha256", shell`sha256 -q ${bootFile}`),
	{
		reads: readSysctl("kern.conftxt"),
		entries: configuration
	},
	fact("release", shell`uname -r`),
	fact("architecture", shell`uname -p`),
	{
		reads: shell`pciconf -lv`,
		entries: networkCards
	},
	...interfaces.map((name) => ({
		reads: shell`ifconfig ${name}`,
		entries: port$1
	})),
	...[...recorded, ...interfaces.flatMap(queueCounts)].map((name) => fact(name, readSysctl(name)))
];
const fact = (name, reads) => ({
	reads,
	entries: (output) => [[name, output.slice(0, longestValue).replace(/\s+/g, " ")]]
});
const recorded = [
	"kern.hostname",
	"kern.bootfile",
	"kern.boottime",
	"hw.ncpu",
	"machdep.hyperthreading_allowed",
	"kern.random.harvest.mask",
	"net.inet.ip.forwarding",
	"net.inet.ip.redirect",
	"net.inet6.ip6.forwarding",
	"net.inet6.ip6.redirect",
	"net.isr.maxthreads",
	"net.isr.bindthreads",
	"hw.cxgbe.pause_settings",
	"hw.cxgbe.toecaps_allowed"
];
/** Of the drivers cxgbe(4) and mlx5en(4); other hosts and drivers have none of these. */
function queueCounts(name) {
	const unit = name.replace(/^(\D+)(\d+)$/, "dev.$1.$2");
	if (name.startsWith("mce")) return [`${unit}.conf.channels`];
	return [`${unit}.nrxq`, `${unit}.ntxq`];
}
/** config(5)'s text as `options INCLUDE_CONFIG_FILE` keeps it. */
function configuration(text) {
	const ident = /^ident\s+(\S+)/m.exec(text)?.[1];
	const rss = /^options\s+RSS\s*$/m.test(text) ? "yes" : "no";
	return [["ident", ident ?? "unknown"], ["RSS", rss]];
}
/** `DRIVER@pciN:…: class=0x02….. …`, followed by indented `vendor = '…'` and `device = '…'`. */
function networkCards(text) {
	return text.split(/\n(?=\S)/).filter((card) => /\sclass=0x02/.test(card)).map((card) => {
		const driver = card.replace(/@.*/s, "");
		const names = [...card.matchAll(/^[ \t]+(?:vendor|device)[ \t]+= '(.*)'$/gm)];
		return [`NIC ${driver}`, names.map(([, name]) => name).join(" ")];
	});
}
function port$1(text) {
	const found = parseIfconfig(text);
	if (found === void 0) return [];
	const { name, options, media, mtu } = found;
	return [
		[`${name} options`, options.toSorted().join(" ")],
		[`${name} media`, media ?? "unknown"],
		[`${name} MTU`, String(mtu)]
	];
}

// src/scenario/freebsd.ts
/** How a scenario is laid on a DUT from which all others were taken away; its files go to `folder`, an absolute path. */
function layScenario(scenario, folder, own = {}) {
	const rules = rulesFor(scenario, own);
	if (rules === void 0) return {
		files: [],
		commands: []
	};
	const path = `${folder}/${scenario}.rules`;
	return {
		files: [{
			path,
			text: rules.text
		}],
		commands: layCommands[rules.firewall](path)
	};
}
/**
* Takes every scenario away, in two rounds, each all at once. A command fails where there is nothing to take: that all is
* gone is proven as `forwarding` is. ipfw is switched off before it is flushed, or its last rule would cut the connection.
*/
const takeAwayCommands = [[
	shell`pfctl -d`,
	shell`sysctl net.inet.ip.fw.enable=0`,
	shell`sysctl net.inet6.ip6.fw.enable=0`
], [shell`pfctl -F all`, shell`ipfw -q -f flush`]];
const firewalls = ["pf", "ipfw"];
/** One accepting rule each, see pf.conf(5) and ipfw(8). */
const usualRules = {
	forwarding: void 0,
	"pf-stateless": {
		firewall: "pf",
		text: "set skip on lo0\npass no state\n",
		printed: "pass all no state",
		keepsStates: false
	},
	"pf-stateful": {
		firewall: "pf",
		text: "set skip on lo0\npass\n",
		printed: "pass all flags S/SA keep state",
		keepsStates: true
	},
	"ipfw-stateless": {
		firewall: "ipfw",
		text: "add 3000 allow ip from any to any\n",
		printed: "03000 allow ip from any to any",
		keepsStates: false
	},
	"ipfw-stateful": {
		firewall: "ipfw",
		text: "add 3000 allow ip from any to any keep-state\n",
		printed: "03000 allow ip from any to any keep-state",
		keepsStates: true
	}
};
/** Undefined where a scenario has none. */
const rulesFor = (scenario, own) => own[scenario] ?? usualRules[scenario];
/** ipfw.ko refuses every packet from the moment it is loaded, unless the kernel's environment says otherwise. */
const layCommands = {
	pf: (path) => [
		shell`kldload -n pf`,
		shell`pfctl -f ${path}`,
		shell`pfctl -e`
	],
	ipfw: (path) => [
		shell`kenv net.inet.ip.fw.default_to_accept=1`,
		shell`kldload -n ipfw`,
		shell`ipfw -q ${path}`,
		shell`sysctl net.inet.ip.fw.enable=1`,
		shell`sysctl net.inet6.ip6.fw.enable=1`
	]
};
/** What is asked for a proof. Those of a firewall that is not loaded fail. */
const proofCommands = {
	pfInfo: shell`pfctl -si`,
	pfRules: shell`pfctl -sr`,
	ipfwEnabled: shell`sysctl -n net.inet.ip.fw.enable`,
	ipfw6Enabled: shell`sysctl -n net.inet6.ip6.fw.enable`,
	ipfwRules: shell`ipfw list`,
	ipfwStates: shell`sysctl -n net.inet.ip.fw.dyn_count`
};
/**
* Whether this scenario, and no other firewall beside it, is in force. With `blast` the outputs are of right
* after one, and a stateful scenario must have made a state for each of its flows: one or two states are those
* of our own connection. ipfw drops a UDP flow's state after 10 s of silence.
*/
function provesScenario(scenario, outputs, { blast, own = {} } = {}) {
	const found = {
		pf: pfIn(outputs),
		ipfw: ipfwIn(outputs)
	};
	const wanted = rulesFor(scenario, own);
	const stranger = firewalls.find((name) => name !== wanted?.firewall && found[name].sees !== "nothing");
	if (stranger !== void 0) return notInForce(`${stranger} is enabled`);
	if (wanted === void 0) return { kind: "in-force" };
	const { sees, rules, states } = found[wanted.firewall];
	if (sees !== "everything") {
		const lack = sees === "nothing" ? "enabled" : "enabled for both families";
		return notInForce(`${wanted.firewall} is not ${lack}`);
	}
	if (wanted.printed === void 0 && rules === "") return notInForce(`${wanted.firewall} has no rules`);
	if (wanted.printed !== void 0 && rules !== wanted.printed) return notInForce(`${wanted.firewall} has the rules "${rules}" instead of "${wanted.printed}"`);
	if (blast === void 0 || !wanted.keepsStates || states >= blast.flows) return { kind: "in-force" };
	return notInForce(`${wanted.firewall} has made ${states} of the ${blast.flows} states that the flows need`);
}
const notInForce = (reason) => ({
	kind: "not-in-force",
	reason
});
/** Of pf's states all that were made since its counters were flushed, as some may have expired. */
function pfIn({ pfInfo = "", pfRules = "" }) {
	return {
		sees: /^Status: Enabled\b/m.test(pfInfo) ? "everything" : "nothing",
		rules: onOneLine(pfRules),
		states: Number(/^[ \t]+inserts[ \t]+(\d+)/m.exec(pfInfo)?.[1] ?? 0)
	};
}
/** A kernel without a family lacks its switch. */
function ipfwIn(outputs) {
	const { ipfwEnabled, ipfw6Enabled, ipfwRules = "", ipfwStates = "0" } = outputs;
	const switches = [ipfwEnabled, ipfw6Enabled].filter((said) => said !== void 0);
	return {
		sees: amount(switches.filter((said) => said.trim() === "1").length, switches.length),
		rules: onOneLine(ipfwRules.replace(lastRule, "").replaceAll(" :default", "")),
		states: Number(ipfwStates)
	};
}
function amount(some, all) {
	if (some === 0) return "nothing";
	return some < all ? "something" : "everything";
}
/** Accepts or refuses what no rule took; ours takes everything. */
const lastRule = /^65535 .*$/m;
const onOneLine = (rules) => rules.split("\n").map((line) => line.trim()).filter(Boolean).join("; ");

// src/traffic/pkt-gen-blast.ts
/** Until the senders were started, and after they have ended. */
const spareSeconds$1 = 20;
/**
* However the blast ends, every generator is told to, and has ended when this answers. Throws the signal's reason
* where that aborted it; a HostError where a connection is lost, over which a generator ends by its own time; a
* RangeError for flows that the senders cannot share, or a frame that cannot be.
*/
async function pktGenBlast(hosts, request, signal) {
	const blast = planned(hosts, request);
	const over = new AbortController();
	const cancelled = aborted(signal, over.signal);
	const receiver = start(hosts.receiver.host, blast.receive);
	const senders = [];
	try {
		if (await Promise.race([receiver.until(isReady), cancelled]) && !signal.aborted) {
			senders.push(...blast.sends.map(({ host, command }) => start(host, command)));
			const enough = enoughFor$1(request);
			const steady = enough === void 0 ? [] : [receiver.until(enough)];
			const ended = [receiver, ...senders].map((generator) => generator.log);
			await Promise.race([
				...ended,
				...steady,
				cancelled
			]);
		}
	} finally {
		await end(senders);
		if (senders.length > 0) await receiver.until(anotherRate(receiver.said()));
		await end([receiver]);
		over.abort();
	}
	signal.throwIfAborted();
	const logs = {
		receiver: await receiver.log,
		senders: await Promise.all(senders.map(({ log }) => log))
	};
	const reason = whyNotStarted(hosts, logs, senders);
	if (reason !== void 0) return {
		kind: "failed",
		logs,
		reason
	};
	return {
		kind: "measured",
		logs,
		run: pktGenRun(parsePktGenLog(logs.receiver), logs.senders.map((log) => parsePktGenLog(log)), {
			netbenchesTrim: false,
			askedPps: blast.askedPps
		})
	};
}
function planned({ senders, receiver }, request) {
	const { flows, ratePps, settleSeconds, trafficSeconds } = request;
	const seconds = settleSeconds + trafficSeconds;
	const slices = flowSlices(flows, senders.length);
	const shares = ratePps === void 0 ? [] : slices.map(({ sources }) => ratePps * sources / flows.sources);
	return {
		receive: receiverCommand({
			interface: receiver.interface,
			settleSeconds,
			seconds: settleSeconds + seconds + spareSeconds$1
		}),
		sends: senders.map(({ host, ...port }, index) => {
			const slice = {
				flows: slices[index] ?? flows,
				ratePps: shares[index]
			};
			return {
				host,
				command: senderCommand({
					...request,
					...port,
					...slice,
					seconds
				})
			};
		}),
		askedPps: shares
	};
}
/** Resolves to false. */
const aborted = (signal, until) => new Promise((resolve) => {
	if (signal.aborted) resolve(false);
	signal.addEventListener("abort", () => resolve(false), {
		once: true,
		signal: until
	});
});
/** In characters; a second has some hundred. */
const mostSaid = 16 * 1024 ** 2;
/** pkt-gen's rates and messages go to stderr, its summary to stdout. */
function start(host, command) {
	const lookers = /* @__PURE__ */ new Set();
	let said = "";
	let isOver = false;
	let isUntouched = true;
	const onStderr = (chunk) => {
		if (said.length < mostSaid) said += Buffer.from(chunk).toString();
		for (const look of lookers) look();
	};
	const log = host.run(tellingProcessId(command), { onStderr }).then(({ stdout }) => said + stdout).finally(() => {
		isOver = true;
		for (const look of lookers) look();
	});
	log.catch(() => {});
	const until = (holds) => new Promise((resolve) => {
		const look = () => {
			const isSo = holds(said);
			if (!isSo && !isOver) return;
			lookers.delete(look);
			resolve(isSo);
		};
		lookers.add(look);
		look();
	});
	return {
		log,
		said: () => said,
		until,
		async interrupt() {
			await until((text) => processIdIn(text) !== void 0);
			const processId = processIdIn(said);
			if (processId === void 0 || isOver) return;
			isUntouched = false;
			await host.run(interruptCommand(processId));
		},
		isUntouched: () => isUntouched
	};
}
/** Never rejected: where a connection is lost, the log says so. */
async function end(generators) {
	await Promise.allSettled(generators.map((generator) => generator.interrupt()));
	await Promise.allSettled(generators.map(({ log }) => log));
}
/** Undefined where the blast has a fixed length. */
function enoughFor$1({ atLeastSeconds, trafficSeconds }) {
	if (atLeastSeconds === void 0 || atLeastSeconds >= trafficSeconds) return void 0;
	const atLeast = Math.max(10, Math.ceil(atLeastSeconds));
	const bounds = {
		...defaultBounds,
		atLeast
	};
	return (said) => isSteady(ratesIn(said), bounds);
}
const ratesIn = (said) => parsePktGenLog(said).rates.map(({ pps }) => pps);
/** The receiver's next one: what was still under way when the senders ended has come by then. */
function anotherRate(saidBefore) {
	const before = ratesIn(saidBefore).length;
	return (said) => ratesIn(said).length > before;
}
/** A sender that was ended before it was ready is not the one to blame. */
function whyNotStarted(hosts, logs, senders) {
	const { receiver } = hosts;
	if (!isReady(logs.receiver)) return `the receiver on ${receiver.interface} of ${receiver.host.name} did not get ready: ${lastWords(logs.receiver)}`;
	const index = logs.senders.findIndex((log, at) => !isReady(log) && senders[at]?.isUntouched());
	const sender = hosts.senders[index];
	if (sender === void 0) return void 0;
	const why = lastWords(logs.senders[index] ?? "");
	return `the sender on ${sender.interface} of ${sender.host.name} did not start: ${why}`;
}
/** What pkt-gen complains of stands before its usage; what the shell or timeout(1) does stands alone. */
function lastWords(log) {
	const said = log.replace(/^process \d+\r?\n/m, "");
	const complaints = [...said.matchAll(/^\d+\.\d+ \w+ \[\d+\] (.*\S)/gm)].map(([, words = ""]) => words).filter((words) => words !== "aborting");
	return lastLine(complaints.at(-1) ?? said) ?? "it said nothing";
}

// src/testbed/freebsd-blame.ts
/** Of a variant; one that is new gets an empty one, to be counted up. */
function tallyOf(tallies, variant) {
	const tally = tallies.get(variant) ?? {
		hasBooted: false,
		bootFailures: 0,
		hasStoodBlast: false,
		deaths: 0,
		refusals: 0
	};
	tallies.set(variant, tally);
	return tally;
}
/**
* Nobody is blamed for what happened once. A patch is only for what base has shown to be possible here, and what
* happened to it twice more than to base: what befalls both is the laboratory's.
*/
function isToBlame(tallies, variant, fault, proof) {
	const [own, base] = [tallyOf(tallies, variant), tallyOf(tallies, "base")];
	if (variant === "base") return own[fault] >= 2;
	return base[proof] && own[fault] >= 2 + base[fault];
}

// src/build/builder-error.ts
/** What the builder lacks or did wrong, in one sentence that says what to do. */
var BuilderError = class extends Error {
	name = "BuilderError";
};

// src/build/fetch-kernel.ts
/** Writes the archive to a local path, all of it or nothing; throws a BuilderError where it is not what was built. */
async function fetchKernel(host, { archive, sha256 }, path, signal) {
	const partial = `${path}.part`;
	const file = openSync(partial, "w");
	const hash = createHash("sha256");
	try {
		const onStdout = (chunk) => {
			hash.update(chunk);
			writeWhole(file, chunk);
		};
		await host.run(shell`cat ${archive}`, {
			onStdout,
			signal
		});
		if (hash.digest("hex") !== sha256) throw new BuilderError(`${archive} on ${host.name} came with another SHA-256 than ${sha256}; check its disk, and build it again.`);
		renameSync(partial, path);
	} finally {
		closeSync(file);
		rmSync(partial, { force: true });
	}
}
function writeWhole(file, chunk) {
	for (let written = 0; written < chunk.length;) written += writeSync(file, chunk, written);
}

// src/build/kernel-cache.ts
const noteSchema = object({
	schemaVersion: literal(1),
	/** Of the archive. */
	sha256: string(),
	/** Of the archive. */
	bytes: number(),
	/** Of all that is in it. */
	unpackedBytes: number(),
	/** The build, without the time it waited. */
	seconds: number(),
	/** How `uname -v` begins where it runs. */
	uname: string().optional()
});
function kernelCache(host, folder) {
	const archive = (key) => `${folder}/${key}${archiveEnding}`;
	const note = (key) => `${folder}/${key}${noteEnding}`;
	return {
		archive,
		async find(key, signal) {
			const written = parseNote(await textOf(host, shell`cat ${note(key)}`, signal));
			if (written === void 0) return void 0;
			if ((await textOf(host, shell`sha256 -q ${archive(key)}`, signal)).trim() !== written.sha256) return void 0;
			await host.run(shell`touch ${note(key)}`, { signal });
			return written;
		},
		async keep(key, built, content) {
			await host.output(shell`mv -f ${built} ${archive(key)}`);
			const text = JSON.stringify({
				schemaVersion: 1,
				...content
			});
			await host.upload(Buffer.from(`${text}\n`), note(key), 420);
		},
		async prune(key, bounds) {
			const names = (await host.output(shell`ls -1t ${folder}`)).split("\n").filter(Boolean);
			const kept = keptNames(key, names, parseSizes(await host.output(shell`du -a -k ${folder}`), folder), bounds);
			const rubbish = names.filter((name) => !kept.has(name));
			for (const name of rubbish) await host.output(shell`rm -f ${`${folder}/${name}`}`);
		}
	};
}
const archiveEnding = ".tar.zst";
const noteEnding = ".json";
async function textOf(host, command, signal) {
	const outcome = await host.run(command, { signal });
	return outcome.kind === "exited" && outcome.code === 0 ? outcome.stdout : "";
}
function parseNote(text) {
	try {
		const { schemaVersion: _, ...note } = noteSchema.parse(JSON.parse(text));
		return note;
	} catch {
		return;
	}
}
/** Bytes by file name, from `du -a -k`: kilobytes, a tab, the path. */
function parseSizes(text, folder) {
	const sizes = /* @__PURE__ */ new Map();
	for (const line of text.split("\n")) {
		const [kilobytes, path] = line.split("	");
		if (path?.startsWith(`${folder}/`)) sizes.set(path.slice(folder.length + 1), Number(kilobytes) * 1024);
	}
	return sizes;
}
/** `names` has what was used last first. */
function keptNames(key, names, sizes, { mostKernels, mostBytes }) {
	const keys = names.filter((name) => name.endsWith(noteEnding)).map((name) => name.slice(0, -5));
	const kept = /* @__PURE__ */ new Set();
	let kernels = 0;
	let bytes = 0;
	for (const each of /* @__PURE__ */ new Set([key, ...keys])) {
		const size = sizes.get(each + archiveEnding);
		if (size === void 0) continue;
		kernels += 1;
		bytes += size;
		if (each !== key && (kernels > mostKernels || bytes > mostBytes)) break;
		kept.add(each + archiveEnding).add(each + noteEnding);
	}
	return kept;
}

// src/build/build-log.ts
/** Knows what clang, ld.lld, config(8) and make(1) write, and falls back on the last lines. `source` is the tree's folder. */
function readBuildFailure(log, source) {
	const lines = log.split("\n").map((line) => plain(line).replaceAll(`${source}/`, ""));
	if (lines.some((line) => line.includes("No space left on device"))) return { kind: "out-of-disk" };
	const errors = [ofTools, ofMake].map((pattern) => lines.filter((line) => pattern.test(line))).find((errors) => errors.length > 0) ?? lines.filter((line) => line !== "").slice(-3);
	return {
		kind: "errors",
		errors: [...new Set(errors)].slice(0, mostErrors)
	};
}
const mostErrors = 10;
const mostLetters = 300;
/** One line without colours and other control characters. */
function plain(line) {
	if (line === "") return line;
	const text = withoutSequences(line).replace(/[\p{Cc}\s]+/gu, " ").trim();
	return text.length > mostLetters ? `${text.slice(0, 299)}…` : text;
}
/** `FILE:LINE:COLUMN: error: …`, `ld: error: …`, `clang: error: …`, `config: FILE:LINE: …`. */
const ofTools = /^(?:\S+:\d+:\d+: (?:fatal )?error: |(?:\S*\/)?(?:[\w.]*ld(?:\.\w+)?|cc|clang|\S+-ld): (?:fatal )?error: |config: )/;
/** `make: "FILE" line N: …`, `make[2]: don't know how to make …`, `*** Error code 1`, `ERROR: …`. */
const ofMake = /^(?:\S*make(?:\[\d+\])?: (?:"[^"]*" line \d+: |don't know how to make )|\*\*\* |(?:\*\*\* )?ERROR: )/i;

// src/build/guard.ts
/**
* Returns only when nothing of the command is left; throws the signal's reason where it was cancelled,
* and a HostError where the connection is lost: the command is then ended on the builder all the same.
*/
async function runGuarded(host, command, { limitSeconds, signal, onLine }) {
	signal.throwIfAborted();
	const stdin = new PassThrough();
	const cancel = () => stdin.end();
	signal.addEventListener("abort", cancel, { once: true });
	const log = collectLines(onLine);
	try {
		const outcome = await host.run(shell`sh -c ${guardScript} guard ${limitSeconds} ${command}`, {
			stdin,
			onStdout: log.take,
			timeoutSeconds: limitSeconds + killSeconds + 60
		});
		signal.throwIfAborted();
		const code = outcome.kind === "exited" ? outcome.code : signaled;
		return timedOut.includes(code) ? {
			kind: "timed-out",
			log: log.end()
		} : {
			kind: "exited",
			code,
			log: log.end()
		};
	} finally {
		signal.removeEventListener("abort", cancel);
		stdin.end();
	}
}
const killSeconds = 10;
/** As a shell reports a command that a signal ended. */
const signaled = 128;
/** See timeout(1): the time was up, and it had to be killed. */
const timedOut = [124, 137];
/**
* timeout(1) passes SIGTERM on and kills what is left; on FreeBSD it reaps all descendants, among them the
* jobs of make(1), which have process groups of their own.
*/
const guardScript = `
limit=$1
shift
exec 3<&0
timeout -k ${killSeconds} "$limit" "$@" </dev/null 3<&- 2>&1 &
command=$!
{ read -r _; kill -TERM "$command"; } <&3 >/dev/null 2>&1 &
watch=$!
wait "$command"
code=$?
kill "$watch" 2>/dev/null
exit "$code"
`;
const mostLogLetters = 32 * 1024 ** 2;
const mostLineLetters = 65536;
function collectLines(onLine) {
	const decoder = new TextDecoder();
	let log = "";
	let line = "";
	const give = (text) => {
		onLine(text);
		if (log.length < mostLogLetters) log += `${text}\n`;
	};
	const split = (text) => {
		const lines = (line + text).split("\n");
		line = lines.pop() ?? "";
		for (const each of lines) give(each);
		if (line.length > mostLineLetters) line = line.slice(0, mostLineLetters);
	};
	return {
		take: (chunk) => split(decoder.decode(chunk, { stream: true })),
		end: () => {
			split(decoder.decode());
			if (line !== "") give(line);
			return log;
		}
	};
}

// src/build/kernel-tree.ts
/** Writes objects to the repository, and nothing else; throws a BuilderError where it lacks the base and cannot fetch it. */
async function kernelTree(host, { baseCommit, diff }, { repository, remote, work, signal }) {
	const checked = diff === void 0 ? void 0 : checkDiff(diff);
	if (checked?.kind === "refused") return {
		kind: "does-not-apply",
		reason: checked.reason
	};
	await fetchIfMissing(host, repository, remote, baseCommit, signal);
	if (diff === void 0 || checked === void 0) return {
		kind: "tree",
		id: (await host.output(gitIn(repository, shell`rev-parse ${`${baseCommit}^{tree}`}`), { signal })).trim()
	};
	const diffPath = `${work}/patch.diff`;
	const indexed = (command) => shell`env GIT_INDEX_FILE=${`${work}/index`} ${gitIn(repository, command)}`;
	await host.upload(diff, diffPath, 420, { signal });
	await host.output(indexed(shell`read-tree ${baseCommit}`), { signal });
	const applied = await host.run(indexed(shell`apply --cached --whitespace=nowarn ${diffPath}`), { signal });
	if (applied.kind !== "exited" || applied.code !== 0) return {
		kind: "does-not-apply",
		reason: whyGitRefuses(applied.stderr, checked.remarks)
	};
	const changed = await host.output(indexed(shell`${rawChanges} ${baseCommit}`), { signal });
	const asSaid = isAsSaid(checked.paths, changed);
	if (asSaid.kind === "refused") return {
		kind: "does-not-apply",
		reason: asSaid.reason
	};
	return {
		kind: "tree",
		id: (await host.output(indexed(shell`write-tree`), { signal })).trim(),
		diffPath
	};
}
/** git with nothing of its user's settings that would change or run something. */
const gitIn = (folder, command) => shell`env LC_ALL=C git -C ${folder} ${settings} ${command}`;
const settings = [
	"safe.directory=*",
	"core.hooksPath=/dev/null",
	"core.autocrlf=false",
	"apply.ignoreWhitespace=no",
	"gc.auto=0"
].flatMap((setting) => ["-c", setting]);
async function fetchIfMissing(host, repository, remote, commit, signal) {
	const has = gitIn(repository, shell`cat-file -e ${`${commit}^{commit}`}`);
	if (await succeeds(host, has, signal)) return;
	const fetch = gitIn(repository, shell`fetch ${objectsAlone} --end-of-options ${remote} ${commit}`);
	const fetched = await host.run(fetch, {
		signal,
		timeoutSeconds: fetchSeconds
	});
	if (await succeeds(host, has, signal)) return;
	throw new BuilderError(`${repository} on ${host.name} lacks the commit ${commit} and cannot fetch it from ${remote} (${lastLine(fetched.stderr) ?? "git said nothing"}); check the clone and its remote.`);
}
const fetchSeconds = 1800;
async function succeeds(host, command, signal) {
	const outcome = await host.run(command, { signal });
	return outcome.kind === "exited" && outcome.code === 0;
}

// src/build/kernel-recipe.ts
/** Only in turn: all builds use the same folders, for a kernel holds their names, and those are not to differ between variants. */
function cook(host, config, request, guard) {
	const { recipe, folder } = config;
	return recipe.kind === "make" ? cookByMake(host, recipe, {
		...request,
		repository: config.repository,
		folder
	}, guard) : cookByCommand(host, recipe, {
		...request,
		folder
	}, guard);
}
async function cookByMake(host, recipe, request, guard) {
	const tree = `${request.folder}/tree`;
	await requireFilemon(host, recipe);
	let isGood = false;
	try {
		const isFresh = await layTree(host, recipe, request, tree);
		const cooked = await makeKernel(host, recipe, request, tree, guard);
		isGood = cooked.kind === "built";
		if (isGood || isFresh || cooked.kind === "out-of-disk") return cooked;
		await removeTree(host, request.repository, tree);
		await layTree(host, recipe, request, tree);
		const again = await makeKernel(host, recipe, request, tree, guard);
		isGood = again.kind === "built";
		return again;
	} finally {
		if (recipe.clean || !isGood) await removeTree(host, request.repository, tree);
		else await host.run(shell`rm -rf ${`${tree}/stage`}`);
	}
}
async function requireFilemon(host, { metaMode }) {
	if (!metaMode) return;
	const outcome = await host.run(shell`kldstat -q -m filemon`);
	if (outcome.kind === "exited" && outcome.code === 0) return;
	throw new BuilderError(`${host.name} has no filemon(4) loaded, which meta mode needs; run "kldload filemon" there, or set \`metaMode: false\`.`);
}
/**
* Checks the tree out, over the one that was left where builds are not clean: only files that differ are
* written then, and make(1) goes by their times. Answers whether it started from nothing.
*/
async function layTree(host, recipe, { repository, baseCommit, tree: id, toolchain }, tree) {
	const source = `${tree}/src`;
	const stamp = await host.run(shell`cat ${`${tree}/toolchain`}`);
	const checkOut = gitIn(source, shell`read-tree --reset -u ${id}`);
	if (!recipe.clean && stamp.stdout === toolchain) {
		const head = gitIn(source, shell`update-ref --no-deref HEAD ${baseCommit}`);
		const reset = await host.run(shell`${head} && ${checkOut} && ${gitIn(source, shell`clean -ffdxq`)} && rm -rf ${`${tree}/stage`}`);
		if (reset.kind === "exited" && reset.code === 0) return false;
	}
	await removeTree(host, repository, tree);
	await host.output(shell`mkdir -p ${`${tree}/obj`}`);
	const add = shell`worktree add --quiet --detach --no-checkout ${source} ${baseCommit}`;
	await host.output(gitIn(repository, add));
	await host.output(checkOut);
	await host.upload(Buffer.from(toolchain), `${tree}/toolchain`, 420);
	return true;
}
async function removeTree(host, repository, tree) {
	await host.run(shell`rm -rf ${tree}`);
	await host.run(gitIn(repository, shell`worktree prune`));
}
async function makeKernel(host, recipe, request, tree, guard) {
	const jobs = recipe.jobs ?? Number(await host.output(shell`sysctl -n hw.ncpu`));
	const stage = `${tree}/stage`;
	const install = [`DESTDIR=${stage}`, ...[
		"NO_ROOT",
		"DB_FROM_SRC",
		"WITHOUT_KERNEL_SYMBOLS"
	].map((name) => `-D${name}`)];
	const steps = [
		...recipe.toolchain ? [make(recipe, tree, jobs, "kernel-toolchain")] : [],
		make(recipe, tree, jobs, "buildkernel"),
		make(recipe, tree, 1, "installkernel", install)
	];
	let log = "";
	for (const step of steps) {
		const done = await runGuarded(host, step, guard);
		log += done.log;
		const failed = failureOf(done, log, `${tree}/src`, guard);
		if (failed !== void 0) return failed;
	}
	const kernel = `${stage}/boot/kernel`;
	await host.output(shell`tar --zstd --uid 0 --gid 0 -cf ${request.output} -C ${kernel} .`);
	return {
		kind: "built",
		log,
		uname: await unameOf(host, `${kernel}/kernel`)
	};
}
/**
* The switches are those of build(7), src.conf(5) and Makefile.inc1: NO_ROOT lets anybody install, and
* MAKEOBJDIRPREFIX counts only in the environment. The builder's own make.conf and src.conf do not count,
* so that what was built is known from ppsgate.yml.
*/
function make(recipe, tree, jobs, target, more = []) {
	const { kernelConfig, kernelConfigFolder, clean, metaMode, options } = recipe;
	const words = [
		...[
			"__MAKE_CONF",
			"SRCCONF",
			"SRC_ENV_CONF"
		].map((name) => `${name}=/dev/null`),
		"-DWITH_REPRODUCIBLE_BUILD",
		`KERNCONF=${kernelConfig}`,
		...kernelConfigFolder === void 0 ? [] : [`KERNCONFDIR=${kernelConfigFolder}`],
		...clean ? [] : ["-DNO_CLEAN"],
		...metaMode ? ["-DWITH_META_MODE"] : [],
		...options,
		...more,
		target
	];
	const variables = [`MAKEOBJDIRPREFIX=${tree}/obj`];
	return shell`${cleanEnvironment} ${variables} make -C ${`${tree}/src`} -j ${jobs} ${words}`;
}
const cleanEnvironment = shell`env -i PATH="$PATH" HOME="$HOME" LC_ALL=C`;
function failureOf(done, log, source, { limitSeconds }) {
	if (done.kind === "timed-out") return {
		kind: "build-failed",
		log,
		errors: [`The build did not end within ${limitSeconds} s.`]
	};
	if (done.code === 0) return void 0;
	const failure = readBuildFailure(done.log, source);
	return failure.kind === "out-of-disk" ? {
		kind: "out-of-disk",
		log
	} : {
		kind: "build-failed",
		log,
		errors: failure.errors
	};
}
/** what(1) finds the version that newvers.sh laid into the kernel; not every kernel has it. */
async function unameOf(host, kernel) {
	const outcome = await host.run(shell`what -q -s ${kernel}`);
	const [line = ""] = outcome.stdout.trim().split("\n");
	return outcome.kind === "exited" && outcome.code === 0 && line !== "" ? line : void 0;
}
async function cookByCommand(host, recipe, { baseCommit, diffPath, output, folder }, guard) {
	const variables = [
		`BASE_COMMIT=${baseCommit}`,
		`DIFF=${diffPath ?? ""}`,
		`KERNCONF=${recipe.kernelConfig}`,
		`OUTPUT=${output}`
	];
	const command = shell`${cleanEnvironment} ${variables} ${recipe.argv}`;
	const done = await runGuarded(host, command, guard);
	const failed = failureOf(done, done.log, folder, guard);
	if (failed !== void 0) return failed;
	const written = await host.run(shell`test -s ${output}`);
	if (written.kind === "exited" && written.code === 0) return {
		kind: "built",
		log: done.log,
		uname: void 0
	};
	throw new BuilderError(`"${recipe.argv[0]}" on ${host.name} succeeded without a kernel at $OUTPUT; let it write a tar archive of the kernel and its modules there.`);
}

// src/build/turn.ts
/**
* Does the work when no other build goes on. The lock is lockf(1)'s: it ends with the connection that
* holds it. Throws a BuilderError when it was not to be had in time.
*/
async function inTurn(host, turn, work) {
	const stdin = new PassThrough();
	const holding = hold(host, turn, stdin);
	try {
		await Promise.race([holding.held, holding.ended]);
		return await work();
	} finally {
		stdin.end("done\n");
		await holding.ended.catch(() => {});
	}
}
function hold(host, turn, stdin) {
	const { lock, owner, waitSeconds, signal } = turn;
	const held = Promise.withResolvers();
	const waiting = new AbortController();
	const give = () => waiting.abort(signal.reason);
	signal.addEventListener("abort", give, { once: true });
	if (signal.aborted) give();
	const ended = host.run(shell`lockf -k -s -t ${Math.ceil(waitSeconds)} ${lock} sh -c ${holdScript} hold ${lock}.owner ${owner}`, {
		stdin,
		signal: waiting.signal,
		onStdout: () => {
			signal.removeEventListener("abort", give);
			held.resolve();
		}
	}).then(async (outcome) => {
		if (outcome.kind === "exited" && outcome.code === 0) return;
		throw await whyNot$1(host, turn, outcome.kind === "exited" ? outcome.code : -1, outcome.stderr);
	});
	ended.catch(() => {});
	return {
		held: held.promise,
		ended
	};
}
/**
* A connection that ends without a word may have left a build that is being ended: the lock outlives it by
* more than a guarded command does.
*/
const holdScript = `
printf '%s\\n' "$2" >"$1"
echo held
read -r word || sleep 15
`;
/** EX_TEMPFAIL of sysexits(3): somebody else holds the lock. */
const heldByOthers = 75;
async function whyNot$1(host, { lock, waitSeconds }, code, stderr) {
	if (code !== heldByOthers) return new BuilderError(`${host.name} cannot lock ${lock}: lockf exited with ${code} ("${reasonOf(stderr)}"); check that the folder can be written.`);
	const owner = await host.run(shell`cat ${lock}.owner`, { timeoutSeconds: 20 });
	return new BuilderError(`Another build on ${host.name} did not end within ${Math.round(waitSeconds / 60)} min (${reasonOf(owner.stdout) || "it left no name"}); wait for it, or allow more time for a turn.`);
}

// src/build/kernel.ts
/**
* What is wrong with the patch is an outcome; what is wrong with the builder throws a BuilderError or a
* HostError. Leaves nothing on the builder but the cache, and where builds are not clean the tree and
* objects of the last good one; what a lost connection leaves is removed by a later build.
*/
async function buildKernel(host, config, request, options) {
	if (request.kind === "archive") return prebuilt(host, request, options.signal);
	const { folder, repository, remote } = config;
	const { signal } = options;
	const work = `${folder}/builds/${randomUUID()}`;
	await host.output(shell`mkdir -p ${`${folder}/cache`} ${work}`, { signal });
	try {
		const tree = await kernelTree(host, request, {
			repository,
			remote,
			work,
			signal
		});
		if (tree.kind === "does-not-apply") return tree;
		const toolchain = await host.output(shell`cc --version`, { signal });
		const build = {
			key: await keyOf(host, config, tree.id, toolchain, signal),
			cache: kernelCache(host, `${folder}/cache`),
			recipe: {
				baseCommit: request.baseCommit,
				tree: tree.id,
				diffPath: tree.diffPath,
				toolchain,
				output: `${work}/kernel`
			}
		};
		const turn = {
			lock: `${folder}/lock`,
			owner: options.owner,
			waitSeconds: config.turnSeconds,
			signal
		};
		return await cached(build, signal) ?? await inTurn(host, turn, async () => await cached(build, signal) ?? await buildNow(host, config, build, options));
	} finally {
		await host.run(shell`rm -rf ${work}`, { timeoutSeconds: 60 }).catch(() => {});
	}
}
async function prebuilt(host, { path, sha256 }, signal) {
	const found = await host.run(shell`sha256 -q ${path}`, { signal });
	if (!(found.kind === "exited" && found.code === 0 && found.stdout.trim() === sha256)) throw new BuilderError(`${path} on ${host.name} is not the kernel with the SHA-256 ${sha256}; correct the path or the sum.`);
	return {
		kind: "built",
		key: sha256,
		archive: path,
		sha256,
		...await sizesOf(host, path),
		cached: true,
		seconds: 0
	};
}
/** All that a kernel depends on; the tree's id is that of every file in it, patched or not. */
async function keyOf(host, { recipe }, tree, toolchain, signal) {
	const machine = await host.output(shell`uname -m -r`, { signal });
	const siteConfigs = recipe.kind === "make" && recipe.kernelConfigFolder !== void 0 ? await configsIn(host, recipe.kernelConfigFolder, signal) : [];
	const parts = [
		keyVersion,
		tree,
		toolchain,
		machine,
		ingredientsOf(recipe),
		siteConfigs
	];
	return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
/** Another number where the same words make another kernel. */
const keyVersion = 1;
/** How many work at it is no part of what comes out. */
function ingredientsOf(recipe) {
	if (recipe.kind === "command") return [
		recipe.kind,
		recipe.kernelConfig,
		recipe.argv
	];
	const { kind, kernelConfig, clean, metaMode, toolchain, options } = recipe;
	return [
		kind,
		kernelConfig,
		clean,
		metaMode,
		toolchain,
		options
	];
}
/** A configuration may include any other of its folder, so all of them count. */
async function configsIn(host, folder, signal) {
	return (await host.output(shell`find -H ${folder} -maxdepth 1 -type f -exec sha256 -r {} +`, { signal })).split("\n").filter(Boolean).toSorted();
}
async function cached({ key, cache }, signal) {
	const note = await cache.find(key, signal);
	return note && {
		kind: "built",
		key,
		archive: cache.archive(key),
		...note,
		cached: true
	};
}
async function buildNow(host, config, { key, cache, recipe }, { signal, keepLog, onProgress, now }) {
	await sweep(host, config.folder);
	const freeBytes = await freeBytesOf(host, config.folder);
	if (freeBytes < config.leastFreeBytes) return outOfDisk(host, config, freeBytes);
	const startedAt = now();
	const cooked = await cook(host, config, recipe, {
		limitSeconds: config.limitSeconds,
		signal,
		onLine: (line) => {
			if (/^(?:>>>|===>) /.test(line)) onProgress(line);
		}
	}).catch(fullDisk);
	const log = `kernel-${key.slice(0, 12)}.log`;
	await keepLog(log, cooked.log);
	if (cooked.kind === "out-of-disk") return outOfDisk(host, config, await freeBytesOf(host, config.folder));
	if (cooked.kind === "build-failed") return {
		kind: "build-failed",
		errors: cooked.errors,
		log
	};
	const note = {
		sha256: (await host.output(shell`sha256 -q ${recipe.output}`)).trim(),
		...await sizesOf(host, recipe.output),
		seconds: now() - startedAt,
		...cooked.uname !== void 0 && { uname: cooked.uname }
	};
	await cache.keep(key, recipe.output, note);
	await cache.prune(key, config.cache);
	return {
		kind: "built",
		key,
		archive: cache.archive(key),
		...note,
		cached: false
	};
}
/** git and tar say it where they fail; make's log is read elsewhere. */
function fullDisk(error) {
	if (error instanceof HostError && error.message.includes("No space left on device")) return {
		kind: "out-of-disk",
		log: ""
	};
	throw error;
}
/** What connections that were lost have left: no build, and no wait for its turn, takes days. */
async function sweep(host, folder) {
	await host.output(shell`find ${`${folder}/builds`} -mindepth 1 -maxdepth 1 -mtime +3 -exec rm -rf {} +`);
}
/** From `df -k -P`: the fourth column of its last line (see POSIX, df). */
async function freeBytesOf(host, folder) {
	const line = (await host.output(shell`df -k -P ${folder}`)).trim().split("\n").at(-1) ?? "";
	return Number(line.split(/\s+/)[3]) * 1024;
}
function outOfDisk(host, { folder, leastFreeBytes }, freeBytes) {
	const gigabytes = (bytes) => `${(bytes / 1e9).toFixed(1)} GB`;
	return {
		kind: "out-of-disk",
		reason: `${folder} on ${host.name} has ${gigabytes(freeBytes)} free, and a build is to have ${gigabytes(leastFreeBytes)}; make room there.`
	};
}
/** Reads the archive through, so that one that cannot be read is found here. */
async function sizesOf(host, archive) {
	const unpacked = shell`tar -tf ${archive} > /dev/null && tar -xOf ${archive} | wc -c`;
	return {
		bytes: Number(await host.output(shell`wc -c < ${archive}`)),
		unpackedBytes: Number(await host.output(unpacked))
	};
}

// src/testbed/freebsd-kernels.ts
/** Begins with all of them, one after the other; archives go to `folder`. */
function startKernels({ variants, keepLog, tell, signal }, builder, folder) {
	let before = Promise.resolve();
	const kernels = new Map(variants.map((variant) => {
		const kernel = before.then(() => kernelOf(variant, builder, folder));
		before = kernel.catch(() => {});
		return [variant.variant, kernel];
	}));
	return { get: (variant) => kernels.get(variant) ?? Promise.resolve({ kind: "own" }) };
	async function kernelOf({ variant, kernel }, builder, folder) {
		if (kernel === void 0) return { kind: "own" };
		if (kernel.kind === "archive") return {
			kind: "archive",
			archive: await givenArchive(variant, kernel)
		};
		if (builder === void 0) throw new BuilderError("The testbed has no builder: give it one in ppsgate.yml, or kernels that are built already.");
		signal.throwIfAborted();
		tell(`building the kernel of ${variant}`);
		await using host = await builder.connect();
		const built = await buildKernel(host, builder.config, requestFor(kernel), {
			signal,
			keepLog: (name, text) => keepLog(`${pathName(variant)}-${name}`, text),
			onProgress: (line) => tell(`${variant}: ${line}`),
			now: builder.now,
			owner: `${builder.owner} (${variant})`
		});
		if (built.kind !== "built") return {
			kind: "rejected",
			rejection: rejectionOf(built)
		};
		const path = join(folder, `${pathName(variant)}.tar`);
		await fetchKernel(host, built, path, signal);
		const { sha256, unpackedBytes } = built;
		return {
			kind: "archive",
			archive: {
				variant,
				path,
				sha256,
				unpackedBytes
			}
		};
	}
}
const requestFor = ({ baseCommit, diff }) => ({
	kind: "tree",
	baseCommit,
	...diff !== void 0 && { diff: Buffer.from(diff, "base64") }
});
function rejectionOf(unbuilt) {
	return unbuilt.kind === "build-failed" ? {
		kind: "build-failed",
		message: unbuilt.errors.join("\n")
	} : {
		kind: unbuilt.kind,
		message: unbuilt.reason
	};
}
async function givenArchive(variant, { path, sha256 }) {
	const hash = createHash("sha256");
	await pipeline(createReadStream(path), hash);
	if (hash.digest("hex") !== sha256) throw new BuilderError(`${path} is not the kernel with the SHA-256 ${sha256}: it was changed.`);
	const { size } = await stat(path);
	return {
		variant,
		path,
		sha256,
		unpackedBytes: await isPlainTar(path) ? size : 4 * size
	};
}
/** A plain one is as big as what is in it; a compressed kernel has at least a quarter of its size. */
async function isPlainTar(path) {
	await using file = await open(path);
	const magic = Buffer.alloc(5);
	await file.read(magic, 0, 5, 257);
	return magic.toString() === "ustar";
}

// src/dut/freebsd-ports.ts
const portSettings = ({ ingress, egress }) => {
	const ports = [ingress, egress];
	return [...ports.some(isChelsio) ? chelsio : [], ...ports.flatMap((port) => [
		noOffloads(port),
		link(port),
		...queues(port)
	])];
};
/** T4, T5 and T6 of cxgbe(4). */
const isChelsio = (port) => /^(?:cxgbe|cxl|cc)\d+$/.test(port.interface);
const chelsio = [tunable("hw.cxgbe.pause_settings", 0, "a DUT that is full then holds the sender back"), tunable("hw.cxgbe.toecaps_allowed", 0, "the card then keeps resources for TCP offload")];
const routersOffloads = [
	"TSO4",
	"TSO6",
	"LRO",
	"VLAN_HWTSO"
];
const noOffloads = ({ interface: name }) => ({
	name: `${name}'s LRO and TSO`,
	why: "a router must neither join packets nor split them",
	reads: [shell`ifconfig ${name}`],
	check: onInterface((port) => {
		const on = port.options.filter((option) => routersOffloads.includes(option));
		return unless(on.length === 0, {
			is: `are on (${on.join(", ")})`,
			mend: {
				kind: "command",
				command: shell`ifconfig ${name} -tso4 -tso6 -lro -vlanhwtso`
			}
		});
	})
});
const link = ({ interface: name, gigabits }) => ({
	name: `${name}'s link`,
	why: "the blast needs all of it",
	reads: [shell`ifconfig ${name}`],
	check: onInterface((port) => {
		const look = {
			kind: "person",
			what: `check its cable, its module and "ifconfig ${name}"`
		};
		if (!port.flags.includes("UP")) return {
			is: "is down",
			mend: {
				kind: "command",
				command: shell`ifconfig ${name} up`
			}
		};
		if (!port.isActive) return {
			is: "is not active",
			mend: look
		};
		const isFast = gigabits === void 0 || port.gigabits === gigabits;
		return unless(isFast, {
			is: `is "${port.media}" instead of ${gigabits} Gbit/s`,
			mend: look
		});
	})
});
function onInterface(check) {
	return (output) => {
		const port = parseIfconfig(output);
		if (port !== void 0) return check(port);
		return {
			is: "cannot be read",
			mend: {
				kind: "person",
				what: "see what ifconfig says of it"
			}
		};
	};
}
/** Only of drivers that tell. `hw.cxgbe.nrxq10g` is not asked: it is one number for all ports, and no sysctl since FreeBSD 12. */
function queues(port) {
	const { interface: name, queues: wanted } = port;
	if (wanted === void 0) return [];
	const why = "the queues decide how many CPUs forward";
	const unit = name.replace(/^(\D+)(\d+)$/, "dev.$1.$2");
	if (name.startsWith("mce")) return [sysctl(`${unit}.conf.channels`, wanted, why)];
	if (!isChelsio(port)) return [];
	return [tunable(`${unit}.nrxq`, wanted, why, "hw.cxgbe.nrxq10g"), tunable(`${unit}.ntxq`, wanted, why, "hw.cxgbe.ntxq10g")];
}
/** Both ways: a DUT that finds no way back to a sender may refuse its packets. */
function pathSettings(family, { ingress, egress }) {
	const [sources, destinations] = benchmarkingNetworks[family];
	return [
		route(family, sources, ingress),
		staticNeighbour(family, ingress),
		route(family, destinations, egress),
		staticNeighbour(family, egress)
	];
}
/** Of the senders and of the receivers: RFC 2544 and RFC 5180, in halves. */
const benchmarkingNetworks = {
	inet4: ["198.18.0.0/16", "198.19.0.0/16"],
	inet6: ["2001:2::/49", "2001:2:0:8000::/49"]
};
const tools = {
	inet4: {
		netstat: shell`netstat -rn -f inet`,
		flag: shell`-inet`,
		neighbours: shell`arp -an`
	},
	inet6: {
		netstat: shell`netstat -rn -f inet6`,
		flag: shell`-inet6`,
		neighbours: shell`ndp -an`
	}
};
function route(family, network, port) {
	const { netstat, flag } = tools[family];
	const gateway = port.neighbour.addresses[family];
	return {
		name: `The route to ${network}`,
		why: "the blast follows it",
		reads: [netstat],
		check: (output) => {
			const found = parseRoutes(output).find(({ destination }) => destination === network);
			const isRight = found?.gateway === gateway && found.interface === port.interface;
			const change = found === void 0 ? shell`add` : shell`change`;
			return unless(isRight, {
				is: found === void 0 ? "is missing" : `goes to ${found.gateway} by ${found.interface}`,
				mend: {
					kind: "command",
					command: shell`route ${change} ${flag} ${network} ${gateway}`
				}
			});
		}
	};
}
/** A DUT that is saturated resolves nothing. */
function staticNeighbour(family, port) {
	const { mac, addresses } = port.neighbour;
	const address = addresses[family];
	const parse = family === "inet4" ? parseArp : parseNdp;
	const set = family === "inet4" ? shell`arp -S ${address} ${mac}` : shell`ndp -s ${address} ${mac}`;
	return {
		name: `The MAC address of ${address}`,
		why: "one that is asked for during a blast is not found",
		reads: [tools[family].neighbours],
		check: (output) => {
			const isRight = parse(output).filter((entry) => entry.address === address).some((entry) => isStatic(entry, port));
			return unless(isRight, {
				is: `is not set to ${mac} for good on ${port.interface}`,
				mend: {
					kind: "command",
					command: set
				}
			});
		}
	};
}
const isStatic = (entry, { interface: name, neighbour }) => entry.isPermanent && entry.interface === name && entry.mac === neighbour.mac.toLowerCase();

// src/dut/freebsd-settings.ts
/** The commands whose output `checkSettings` needs, each once. */
function settingsCommands(context) {
	const commands = settingsOf(context).flatMap(({ reads }) => reads);
	return [...new Map(commands.map((command) => [commandText(command), command])).values()];
}
/** What does not hold, in the order in which it is best mended. */
function checkSettings(said, context) {
	return settingsOf(context).flatMap((setting) => problemOf(setting, said));
}
function settingsOf(context) {
	const { families, nowSeconds } = context;
	return [
		harvestMask,
		hyperthreading,
		...netisr,
		...families.flatMap((family) => kernelForwards[family]),
		...portSettings(context),
		...families.flatMap((family) => pathSettings(family, context)),
		load,
		timeSinceBoot(nowSeconds)
	];
}
/** Bits of sys/random.h's sources. Others are a machine's own: those of hardware cannot even be cleared. */
const perPacketSources = 160;
const harvestMask = {
	name: "kern.random.harvest.mask",
	why: "entropy is then gathered from each frame or interrupt",
	reads: [readSysctl("kern.random.harvest.mask")],
	check: (value) => unless(isWhole(value) && (Number(value) & perPacketSources) === 0, {
		is: `is ${value}`,
		mend: {
			kind: "command",
			command: shell`sysctl kern.random.harvest.mask=351`
		}
	})
};
/** Only x86 has it. */
const hyperthreading = {
	...tunable("machdep.hyperthreading_allowed", 0, "queues that land on two threads of one core share it"),
	isOptional: true
};
/**
* With `options RSS` packets are spread over netisr's threads, of which there is one unless told otherwise.
* A kernel without its configuration in it may have been built with that option.
*/
const netisr = [{
	name: "net.isr.maxthreads",
	why: "with options RSS that many threads carry all traffic",
	reads: [
		"kern.conftxt",
		"net.isr.maxthreads",
		"hw.ncpu"
	].map(readSysctl),
	check: (configuration, threads, cpus) => unless(!mayHaveRss(configuration) || threads === "-1" || threads === cpus, {
		is: `is ${threads} on ${cpus} CPUs`,
		mend: {
			kind: "loader",
			line: "net.isr.maxthreads=\"-1\""
		}
	})
}, {
	name: "net.isr.bindthreads",
	why: "with options RSS a thread must stay on the CPU of its queue",
	reads: ["kern.conftxt", "net.isr.bindthreads"].map(readSysctl),
	check: (configuration, bound) => unless(!mayHaveRss(configuration) || bound === "1", {
		is: `is ${bound} instead of 1`,
		mend: {
			kind: "loader",
			line: "net.isr.bindthreads=\"1\""
		}
	})
}];
const mayHaveRss = (configuration) => configuration === "" || /^options\s+RSS\s*$/m.test(configuration);
const kernelForwards = {
	inet4: [sysctl("net.inet.ip.forwarding", 1, "the DUT then forwards nothing"), sysctl("net.inet.ip.redirect", 0, "packets are then looked at for redirects")],
	inet6: [sysctl("net.inet6.ip6.forwarding", 1, "the DUT then forwards nothing"), sysctl("net.inet6.ip6.redirect", 0, "packets are then looked at for redirects")]
};
/** One process that never sleeps makes 1. */
const mostLoad = .5;
const load = {
	name: "vm.loadavg",
	why: "what else runs takes time from forwarding",
	reads: [readSysctl("vm.loadavg")],
	check: (value) => {
		const lastMinute = Number(/^\{ (\d+[.,]\d+) /.exec(value)?.[1]?.replace(",", ".") ?? NaN);
		return unless(lastMinute <= mostLoad, {
			is: `is ${value}, more than ${mostLoad} for the last minute`,
			mend: {
				kind: "wait",
				seconds: 60
			}
		});
	}
};
/** Daemons are started, and entropy and crash dumps saved, for a while after the first login is possible. */
const leastSecondsUp = 60;
const timeSinceBoot = (nowSeconds) => ({
	name: "kern.boottime",
	why: "what starts at boot still runs",
	reads: [readSysctl("kern.boottime")],
	check: (value) => {
		const up = nowSeconds - Number(/^\{ sec = (\d+),/.exec(value)?.[1] ?? NaN);
		if (up < 0 || Number.isNaN(up)) return {
			is: `is ${value}`,
			mend: clockIsOff
		};
		const seconds = Math.ceil(leastSecondsUp - up);
		return unless(seconds <= 0, {
			is: `is ${Math.round(up)} s ago`,
			mend: {
				kind: "wait",
				seconds
			}
		});
	}
});
const clockIsOff = {
	kind: "person",
	what: "set the clock of the DUT or of this machine"
};
const isWhole = (value) => /^\d+$/.test(value);

// src/testbed/freebsd-preflight.ts
/** The DUT is not as it must be; nothing is measured until somebody has mended it. */
var PreflightError = class extends Error {
	name = "PreflightError";
	constructor(testbed, problems) {
		super([`${testbed} is not fit to measure on; mend this, or set \`preflight\` to fix or warn:`, ...problems.map(({ message }) => `- ${message}`)].join("\n"));
	}
};
/** What must hold on a testbed's DUT: with several senders its way back is to the first. */
function settingsContext({ dut, senders, receiver }, families) {
	const port = (own, far = receiver) => ({
		...own,
		neighbour: {
			addresses: {
				inet4: far.addresses.inet4 ?? "",
				inet6: far.addresses.inet6 ?? ""
			},
			mac: far.mac
		}
	});
	return {
		ingress: port(dut.ingress, senders[0]),
		egress: port(dut.egress),
		families
	};
}
/** The problems that are left: what only needs time has been waited for, and with `fix` commands have been run. */
async function preflight(host, { mode, context, now, sleep }) {
	const look = async () => {
		const settings = {
			...context,
			nowSeconds: now()
		};
		return checkSettings(await readAll(host, settingsCommands(settings)), settings);
	};
	let problems = await look();
	const waits = problems.flatMap(({ mend }) => mend.kind === "wait" ? mend.seconds : []);
	const commands = problems.flatMap(({ mend }) => mend.kind === "command" ? mend.command : []);
	if (waits.length > 0) await sleep(Math.max(...waits));
	if (mode === "fix") for (const command of commands) await host.run(command);
	if (waits.length > 0 || mode === "fix" && commands.length > 0) problems = await look();
	return problems;
}
/** What the DUT says of itself, as it runs. */
async function fingerprint$1(host, interfaces) {
	const request = {
		interfaces,
		bootFile: (await host.output(shell`sysctl -n kern.bootfile`)).trim()
	};
	return fingerprintOf(await readAll(host, fingerprintCommands(request)), request);
}
/** What the commands write, without those that fail. */
async function readAll(host, commands) {
	const said = await Promise.all(commands.map(async (command) => {
		const outcome = await host.run(command);
		return outcome.kind === "exited" && outcome.code === 0 ? [[commandText(command), outcome.stdout]] : [];
	}));
	return new Map(said.flat());
}

// src/dut/freebsd-profile.ts
/** Both lie in the folder that is given. */
const sampleFile = (folder) => `${folder}/pmc.out`;
const graphFile = (folder) => `${folder}/pmc.graph`;
/**
* Loads hwpmc(4), for call chains that reach from the card's interrupt to the far end of a firewall, and finds the event
* that counts cycles on this CPU by trying; `asked` is the only one tried where it is given.
*/
async function readySampling(host, folder, asked) {
	await host.output(ownFolder(folder));
	await host.run(shell`kenv ${`kern.hwpmc.callchaindepth=${mostFrames}`}`);
	const loaded = await host.run(shell`kldload -n hwpmc`);
	if (loaded.kind !== "exited" || loaded.code !== 0) return impossible$1(`hwpmc does not load on the DUT: ${lastLine(loaded.stderr) ?? "it said nothing"}`);
	let said = "";
	for (const event of asked === void 0 ? cycleEvents : [asked]) {
		const tried = await host.run(samplingOnly(event, 1, folder));
		if (tried.kind === "exited" && tried.code === 0) return {
			kind: "ready",
			event
		};
		said ||= lastLine(tried.stderr) ?? "";
	}
	return impossible$1(`the DUT's CPU samples ${asked ?? "none of the events that count cycles elsewhere"} (${said}): name one of \`pmccontrol -L\` as \`profile.event\``);
}
const impossible$1 = (reason) => ({
	kind: "impossible",
	reason
});
/** What hwpmc(4) keeps of a stack when told so before it is loaded, and what pmcstat prints of it. */
const mostFrames = 100;
/** Intel, AMD since Zen, AMD before, Arm; and what older systems call it on all of x86: see pmc(3) and its relatives. */
const cycleEvents = [
	"cpu_clk_unhalted.thread_p",
	"ls_not_halted_cyc",
	"BU_CPU_CLK_UNHALTED",
	"CPU_CYCLES",
	"unhalted-cycles"
];
const samplingOnly = (event, seconds, folder) => shell`pmcstat -S ${event} -l ${seconds} -O ${sampleFile(folder)}`;
/** Waits, reads the counters of the interfaces, runs the words behind, and reads the counters again. */
const windowScript = "sleep \"$1\"; shift; netstat -i -b -n -W; \"$@\" || exit; netstat -i -b -n -W";
/** Takes the samples; under load its answer comes when that has ended. */
const windowCommand = ({ event, delaySeconds, seconds }, folder) => shell`sh -c ${windowScript} sh ${delaySeconds} ${samplingOnly(event, seconds, folder)}`;
/** Packets that an interface sent within the window; undefined where the log does not tell. */
function sentWithin(log, interfaceName) {
	const [before, after] = log.split(/^(?=Name\s)/m).map((text) => parseInterfaceCounters(text).get(interfaceName)?.sent);
	return before === void 0 || after === void 0 ? void 0 : after - before;
}
/** The call graph of the samples, with the kernel that runs at its head. */
async function collectSamples(host, folder) {
	const graph = graphFile(folder);
	const kernel = (await host.output(shell`uname -v`)).trim();
	await host.output(shell`pmcstat -R ${sampleFile(folder)} -z ${mostFrames} -G ${graph}`);
	const text = await host.output(shell`cat ${graph}`, { maxOutputBytes: mostGraphBytes });
	return `# kernel: ${kernel.replace(/\s+/g, " ")}\n${text}`;
}
/** Nothing of it stays on the DUT; a host that was lost has a boot before it that takes the module away. */
async function endSampling(host, folder) {
	const commands = [shell`kldunload hwpmc`, shell`rm -f ${[sampleFile(folder), graphFile(folder)]}`];
	const limits = { timeoutSeconds: secondsToEnd };
	await Promise.allSettled(commands.map((command) => host.run(command, limits)));
}
const secondsToEnd = 60;
const mostGraphBytes = 256 * 1024 ** 2;

// src/testbed/profile.ts
/** Among the logs of the profile's blast: what the DUT gave, and what of it is read again. */
const rawName = "profile.txt.gz";
const stacksName = "stacks.txt";
/** A function with a twentieth of them is known to a fifth of its share. */
const fewestSamples = 500;
/** A DUT with many CPUs may forward with few of them; one that only idles was not under load. */
const mostIdleRatio = .9;
/** Judges the text that the DUT gave, and keeps it; `told` is what else it said, where the text itself does not tell. */
async function judgeProfile(text, told, keepLog) {
	await keepLog(rawName, gzipSync(text));
	const all = parsed(text);
	if (typeof all === "string") return missed(all);
	const { event = told.event, kernel = told.kernel } = all;
	await keepLog(stacksName, stacksText(all, kernel));
	const { profile, idleSamples } = withoutIdle(all);
	const busySamples = samplesOf(profile.stacks);
	const idleRatio = idleSamples / (busySamples + idleSamples);
	if (idleRatio > mostIdleRatio) return missed(`the DUT idled in ${formatPercent(idleRatio)} of the samples: no load was on it`);
	if (busySamples < fewestSamples) return missed(`only ${busySamples} samples fell into work, at least ${fewestSamples} are needed`);
	return {
		kind: "profiled",
		event,
		kernel,
		busySamples,
		idleSamples,
		log: stacksName
	};
}
const stacksText = (profile, kernel) => [
	`# kernel: ${kernel}`,
	...foldedLines(profile, { modules: true }),
	""
].join("\n");
function parsed(text) {
	try {
		return parseProfile(text, "the profile", foreignBounds);
	} catch (error) {
		if (!(error instanceof ProfileError)) throw error;
		return error.message;
	}
}
const missed = (reason) => ({
	kind: "missed",
	reason
});
const impossible = (reason) => ({
	kind: "impossible",
	reason
});

// src/testbed/freebsd-profile.ts
/** From the word to go until packets flow, beyond what is waited for on purpose; as much is left at the window's end. */
const spareSeconds = 6;
/** Of what the receiver got in as many seconds, so much has to have left the DUT while samples were taken. */
const leastForwardedRatio = .9;
/**
* A window that opens by itself while packets flow; where that was missed, one that is open before they do: some DUTs
* leave a program no time at all to begin under load, and what they sample before is idle.
*/
async function sampleUnderLoad(request, around, keepLog) {
	try {
		return await sampled(request, around, keepLog);
	} finally {
		await endSampling(around.dut, around.folder);
	}
}
async function sampled({ seconds, event: asked, attempt }, { dut, folder, egress, settleSeconds, send }, keepLog) {
	const sampling = await readySampling(dut, folder, asked);
	if (sampling.kind === "impossible") return sampling;
	const { event } = sampling;
	const untilLoad = 2 * settleSeconds + spareSeconds;
	const window = attempt === 1 ? {
		event,
		delaySeconds: untilLoad,
		seconds
	} : {
		event,
		delaySeconds: 0,
		seconds: untilLoad + seconds
	};
	const [taken, blast] = await Promise.all([dut.run(windowCommand(window, folder)), send(seconds + 12)]);
	const { receiver, senders } = blast.logs;
	await keepLog(freebsdLogNames.receiver, receiver);
	for (const [index, log] of senders.entries()) await keepLog(freebsdLogNames.sender(index), log);
	await keepLog(freebsdLogNames.counters, taken.stdout + taken.stderr);
	if (blast.kind === "failed") return missed(blast.reason);
	if (taken.kind !== "exited" || taken.code !== 0) return missed(`pmcstat failed on the DUT: ${lastLine(taken.stderr) ?? "it said nothing"}`);
	const text = await collectSamples(dut, folder);
	const forwarded = sentWithin(taken.stdout, egress) ?? 0;
	const expected = blast.run.medianPps * seconds;
	if (forwarded < leastForwardedRatio * expected) {
		const share = formatPercent(forwarded / expected);
		return missed(`the window missed the blast: ${share} of its packets were forwarded meanwhile`);
	}
	return judgeProfile(text, {
		event,
		kernel: "an unknown kernel"
	}, keepLog);
}

// src/testbed/freebsd.ts
/** Connects to all machines, and ends what a lost controller left sending; one that cannot be reached is a `HostError`. */
async function openFreebsdTestbed(name, config, traffic, world) {
	await using opened = new AsyncDisposableStack();
	const cycles = { done: 0 };
	const generators = await connectGenerators(config, world);
	opened.defer(() => closeGenerators(generators));
	const dut = await openFreebsdDut(await dutOptions(name, config, world, cycles));
	opened.defer(() => dut.host().close());
	const dutMac = await macOf(dut.host(), config.dut.ingress.interface);
	const folder = await mkdtemp(join(tmpdir(), "ppsgate-kernels-"));
	const lab = {
		name,
		config,
		traffic,
		world,
		dut,
		generators,
		folder,
		dutMac,
		kernels: void 0,
		rules: {},
		variants: [],
		families: ["inet4"],
		booted: void 0,
		unfit: void 0,
		told: /* @__PURE__ */ new Set(),
		reference: void 0,
		tallies: /* @__PURE__ */ new Map(),
		losses: 0,
		cycles,
		over: new AbortController()
	};
	opened.move();
	return {
		name,
		inspect: (cells) => inspect(lab, cells),
		async prepare(request) {
			const signal = AbortSignal.any([request.signal, lab.over.signal]);
			lab.rules = request.rules;
			lab.kernels = startKernels({
				...request,
				signal
			}, builderOf(lab), folder);
			lab.variants = request.variants.map(({ variant }) => variant);
			return { kind: "ready" };
		},
		blast: (planned, keepLog, signal) => blast$1(lab, planned, keepLog, signal),
		profile: (request, keepLog, signal) => profile$1(lab, request, keepLog, signal),
		restore: () => restore$1(lab)
	};
}
/**
* What opening needs after a controller that died: a DUT that answers. Generators are ended first; a DUT that stays away
* longer than a boot takes is power-cycled. Throws a HostError or a DutLostError where it does not come back.
*/
async function wakeFreebsdTestbed(name, config, world) {
	await closeGenerators(await connectGenerators(config, world));
	await wakeFreebsdDut(await dutOptions(name, config, world, { done: 0 }));
}
async function dutOptions(name, { dut }, world, cycles) {
	return {
		connect: async () => bounded(await world.connect(dut, "DUT", { keepaliveSeconds: 0 })),
		power: dut.power && await openPower(name, dut.power, world, cycles),
		method: dut.boot.method,
		bootSeconds: dut.boot.limitSeconds,
		sleep: world.sleep,
		now: world.now
	};
}
/** Counts what it does. */
async function openPower(name, config, world, cycles) {
	const power = await world.openPower(`the DUT of ${name}`, config);
	return { async cycle() {
		await power.cycle();
		cycles.done += 1;
	} };
}
/** No command takes so long, but one that a kernel has locked up. */
const stuckSeconds = 900;
/** A machine on which no command takes longer than that, where nothing else was said. */
const bounded = (host, timeoutSeconds = stuckSeconds) => ({
	...host,
	run: (command, options) => host.run(command, {
		timeoutSeconds,
		...options
	}),
	output: (command, options) => host.output(command, {
		timeoutSeconds,
		...options
	})
});
/** All of them or none, and none with a pkt-gen that runs. */
async function connectGenerators(config, world) {
	await using opened = new AsyncDisposableStack();
	const connect = async (host, label) => opened.use(await world.connect(host, label));
	const receiver = await connect(config.receiver, "receiver");
	const senders = [];
	for (const [index, sender] of config.senders.entries()) {
		const label = config.senders.length === 1 ? "sender" : `sender ${index + 1}`;
		senders.push(await connect(sender, label));
	}
	await Promise.all([...senders, receiver].map((host) => endPktGen(host, world)));
	opened.move();
	return {
		senders,
		receiver
	};
}
const secondsToSignal$1 = 60;
const timesToInterrupt = 5;
const timesToEnd$1 = 10;
/** The machines are leased as one, so whatever pkt-gen runs there is ours. Its own summary, and its port, need a moment. */
async function endPktGen(host, { sleep }) {
	for (let time = 0; time < timesToEnd$1; time += 1) {
		const signal = time < timesToInterrupt ? shell`-INT` : shell`-KILL`;
		const command = shell`pkill ${signal} -x pkt-gen`;
		const outcome = await host.run(command, { timeoutSeconds: secondsToSignal$1 });
		if (outcome.kind === "exited" && outcome.code === 1) return;
		stdoutOf(outcome, host.name, command);
		await sleep(1);
	}
	throw new HostError("command-failed", `A pkt-gen on ${host.name} does not end: see what it waits for, or reboot that machine.`);
}
const closeGenerators = async ({ senders, receiver }) => {
	await Promise.all([...senders, receiver].map((host) => host.close()));
};
async function macOf(host, name) {
	const mac = parseIfconfig(await host.output(shell`ifconfig ${name}`))?.mac;
	if (mac !== void 0) return mac;
	throw new HostError("command-failed", `${name} on ${host.name} has no MAC address.`);
}
function builderOf({ config, world, name }) {
	const { builder } = config;
	if (builder === void 0) return void 0;
	return {
		config: builder,
		connect: () => world.connect(builder, "builder"),
		now: world.now,
		owner: `ppsgate on ${name}`
	};
}
const portsOf = ({ config }) => [config.dut.ingress.interface, config.dut.egress.interface];
async function inspect(lab, cells) {
	lab.families = [...new Set(cells.map(({ family }) => family))];
	const { dut, config, generators } = lab;
	const problems = await preflight(dut.host(), preflightOf(lab));
	if (problems.length > 0 && config.preflight === "fail") throw new PreflightError(lab.name, problems);
	lab.told = new Set(problems.map(({ setting }) => setting));
	const around = await Promise.all([...config.senders.map((sender, index) => generatorFacts(`sender ${index + 1}`, sender, generators.senders[index])), generatorFacts("receiver", config.receiver, generators.receiver)]);
	return {
		fingerprint: {
			...withoutKernel(await fingerprint$1(dut.host(), portsOf(lab))),
			...Object.fromEntries(around)
		},
		warnings: problems.map(({ message }) => message)
	};
}
async function generatorFacts(label, generator, host) {
	const port = netmapPort(generator.interface);
	const [version, ifconfig] = [shell`uname -s -r`, shell`ifconfig ${port}`];
	const said = host === void 0 ? /* @__PURE__ */ new Map() : await readAll(host, [version, ifconfig]);
	const media = parseIfconfig(said.get(commandText(ifconfig)) ?? "")?.media ?? "unknown media";
	return [label, `${(said.get(commandText(version)) ?? "").trim()}, ${port} ${media}`];
}
const preflightOf = ({ config, families, world }) => ({
	mode: config.preflight,
	context: settingsContext(config, families),
	now: world.now,
	sleep: world.sleep
});
const failed = (reason) => ({
	kind: "failed",
	reason
});
const rejected = (variant, rejection) => ({
	kind: "rejected",
	variant,
	rejection
});
async function blast$1(lab, planned, keepLog, signal) {
	const [run] = planned.runs;
	const { scenario } = planned.cell;
	if (run === void 0) return failed("nothing was planned");
	const { variant } = run;
	const kernel = await lab.kernels?.get(variant) ?? { kind: "own" };
	if (kernel.kind === "rejected") return rejected(variant, kernel.rejection);
	let when = "after its boot";
	try {
		const ready = await bootFor(lab, planned, run, kernel);
		if (ready.kind !== "ready") return ready;
		signal.throwIfAborted();
		when = "at the rules";
		const refusal = await lay(lab, scenario);
		if (refusal !== void 0) return afterRefusal(lab, variant, scenario, refusal);
		when = "under load";
		const outcome = await measure(lab, planned, {
			scenario,
			boot: ready.boot
		}, keepLog, signal);
		if (outcome.kind === "measured") tallyOf(lab.tallies, variant).hasStoodBlast = true;
		lab.losses = 0;
		return outcome;
	} catch (error) {
		if (!(error instanceof HostError) || signal.aborted) throw error;
		return afterLoss(lab, {
			variant,
			scenario,
			when,
			signal
		}, error);
	}
}
/** One boot serves all cells of a pair's variant; what boots badly is tried once more before it is told. */
async function bootFor(lab, planned, { variant, pair }, kernel) {
	const { dut, config } = lab;
	if (lab.booted?.variant === variant && lab.booted.pair === pair) return {
		kind: "ready",
		boot: lab.booted
	};
	const known = lab.unfit;
	if (known?.variant === variant && known.pair === pair && !known.blasts.has(planned.number)) {
		known.blasts.add(planned.number);
		return failed(known.reason);
	}
	lab.booted = void 0;
	if (kernel.kind === "archive") {
		const laid = await dut.lay(kernel.archive);
		if (laid.kind === "no-space") return rejected(variant, {
			kind: "out-of-disk",
			message: `DUT: ${laid.reason}.`
		});
	}
	const outcome = await dut.boot(kernel.kind === "own" ? void 0 : variant);
	if (outcome.kind === "boot-failed") return afterBootFailure(lab, variant, outcome);
	const tally = tallyOf(lab.tallies, variant);
	tally.hasBooted = true;
	tally.bootFailures = 0;
	const problem = (await preflight(dut.host(), preflightOf(lab))).find(({ setting }) => config.preflight === "fail" || !lab.told.has(setting));
	if (problem !== void 0) return unfit(lab, planned, problem.message);
	const boot = {
		variant,
		pair,
		kernel: outcome.version,
		fingerprint: await fingerprint$1(dut.host(), portsOf(lab))
	};
	const [difference] = differencesBetween(lab.reference ?? boot, boot);
	if (difference !== void 0) return unfit(lab, planned, `the DUT is not the same in more than its kernel: ${difference}`);
	lab.booted = boot;
	return {
		kind: "ready",
		boot
	};
}
/** Whoever is to be measured in that boot hears of it; who comes again gets another boot. */
function unfit(lab, { number, runs }, reason) {
	const [run] = runs;
	if (run !== void 0) lab.unfit = {
		variant: run.variant,
		pair: run.pair,
		reason,
		blasts: /* @__PURE__ */ new Set([number])
	};
	return failed(reason);
}
const differencesBetween = (reference, boot) => boot.variant === "base" ? differences(boot.fingerprint, reference.fingerprint) : differences(reference.fingerprint, boot.fingerprint, boot.variant);
function afterBootFailure(lab, variant, { reason, panic }) {
	tallyOf(lab.tallies, variant).bootFailures += 1;
	const died = panic === void 0 ? "" : ` (panic: ${panic})`;
	return isToBlame(lab.tallies, variant, "bootFailures", "hasBooted") ? rejected(variant, {
		kind: "boot-failed",
		message: `Twice in a row: ${reason}.`,
		...panic !== void 0 && { panic }
	}) : failed(`${variant} did not boot: ${reason}${died}`);
}
function afterRefusal(lab, variant, scenario, refusal) {
	tallyOf(lab.tallies, variant).refusals += 1;
	return isToBlame(lab.tallies, variant, "refusals", "hasStoodBlast") ? rejected(variant, {
		kind: "does-not-load",
		scenario,
		message: `Twice: ${refusal}.`
	}) : failed(refusal);
}
/** On the DUT. */
const rulesFolder = "/var/tmp/ppsgate";
/** Anew for every blast, so that no state of the one before is left; undefined where the scenario is in force. */
async function lay({ dut, rules: own }, scenario) {
	const host = dut.host();
	await takeAway(host);
	const { files, commands } = layScenario(scenario, rulesFolder, own);
	if (files.length > 0) await host.output(ownFolder(rulesFolder));
	for (const { path, text } of files) await host.upload(Buffer.from(text), path, 384);
	for (const command of commands) {
		const outcome = await host.run(command);
		if (outcome.kind === "exited" && outcome.code === 0) continue;
		const said = lastLine(outcome.stderr) ?? "it said nothing";
		return `\`${commandText(command)}\` failed on the DUT: ${said}`;
	}
	const proof = provesScenario(scenario, await proofOf(host), { own });
	return proof.kind === "in-force" ? void 0 : `${scenario} is not in force: ${proof.reason}`;
}
async function takeAway(host) {
	for (const round of takeAwayCommands) await Promise.all(round.map((command) => host.run(command)));
}
/** What the DUT says of its firewalls. */
async function proofOf(host) {
	const said = await readAll(host, Object.values(proofCommands));
	const entries = Object.entries(proofCommands).map(([key, command]) => [key, said.get(commandText(command))]);
	return Object.fromEntries(entries);
}
async function measure(lab, planned, { scenario, boot }, keepLog, signal) {
	const { traffic, dut, world } = lab;
	const ports = portsOf(lab);
	const before = await readAll(dut.host(), countersCommands(ports));
	const startedAt = (/* @__PURE__ */ new Date(world.now() * 1e3)).toISOString();
	const { measureSeconds: trafficSeconds, measureAtLeastSeconds: atLeastSeconds } = traffic;
	const outcome = await send(lab, planned.cell, {
		trafficSeconds,
		atLeastSeconds
	}, signal);
	const { logs } = outcome;
	await keepLog(freebsdLogNames.receiver, logs.receiver);
	for (const [index, log] of logs.senders.entries()) await keepLog(freebsdLogNames.sender(index), log);
	const [proofs, after] = await Promise.all([proofOf(dut.host()), readAll(dut.host(), countersCommands(ports))]);
	const proof = provesScenario(scenario, proofs, {
		blast: { flows: traffic.flows },
		own: lab.rules
	});
	await keepLog(freebsdLogNames.counters, countersLog(before, after));
	const busy = busyShare(before, after);
	if (outcome.kind === "failed") return failed(outcome.reason);
	const measured = readFreebsdLogs(planned, logs, {
		startedAt,
		traffic,
		told: {
			kernel: boot.kernel,
			...busy && { busiestCpuRatio: busy.busiestCpuRatio }
		}
	});
	if (!isValid(measured)) return measured;
	if (proof.kind !== "in-force") return failed(`${scenario} was not in force: ${proof.reason}`);
	if (isJudged(boot.variant)) lab.reference ??= boot;
	return measured;
}
/** On whichever boot of the variant there is. */
async function profile$1(lab, request, keepLog, signal) {
	const { cell, variant } = request;
	const { scenario } = cell;
	const kernel = await lab.kernels?.get(variant) ?? { kind: "own" };
	if (kernel.kind === "rejected") return impossible(kernel.rejection.message);
	let when = "after its boot";
	try {
		if (lab.booted?.variant !== variant) {
			const run = {
				number: 0,
				variant,
				pair: 0
			};
			const ready = await bootFor(lab, {
				number: 0,
				cell,
				runs: [run]
			}, run, kernel);
			if (ready.kind !== "ready") return missed(whyNot(ready));
		}
		signal.throwIfAborted();
		when = "at the rules";
		const refusal = await lay(lab, scenario);
		if (refusal !== void 0) return missed(refusal);
		when = "under load";
		const { config, traffic } = lab;
		return await sampleUnderLoad(request, {
			dut: lab.dut.host(),
			folder: rulesFolder,
			egress: config.dut.egress.interface,
			settleSeconds: traffic.settleSeconds,
			send: (trafficSeconds) => send(lab, cell, { trafficSeconds }, signal)
		}, keepLog);
	} catch (error) {
		if (!(error instanceof HostError) || signal.aborted) throw error;
		return missed(whyNot(await afterLoss(lab, {
			variant,
			scenario,
			when,
			signal
		}, error)));
	}
}
function whyNot(outcome) {
	if (outcome.kind === "rejected") return outcome.rejection.message;
	return outcome.kind === "failed" ? outcome.reason : "nothing was sampled";
}
async function send(lab, cell, howLong, signal) {
	const { config, traffic } = lab;
	const { family } = cell;
	const split = flowRanges(traffic.flows, family, config.senders.length);
	if (split.kind === "refused") return {
		kind: "failed",
		logs: {
			receiver: "",
			senders: []
		},
		reason: split.message
	};
	const request = {
		family,
		frameBytes: frameBytesFor(traffic, cell),
		flows: split.flows,
		ratePps: traffic.offeredPps,
		threads: config.senders[0]?.threads ?? 1,
		settleSeconds: traffic.settleSeconds,
		...howLong
	};
	return pktGenBlast(hostsOf(lab), request, signal);
}
const isValid = (outcome) => outcome.kind === "measured" && outcome.runs.every(({ validity }) => validity.kind === "valid");
function hostsOf({ config, generators, dutMac }) {
	return {
		senders: config.senders.flatMap(({ interface: name, mac }, index) => {
			const host = generators.senders[index];
			return host === void 0 ? [] : {
				host,
				interface: name,
				sourceMac: mac,
				destinationMac: dutMac
			};
		}),
		receiver: {
			host: generators.receiver,
			interface: config.receiver.interface
		}
	};
}
/** Finds out who was lost, and has all back; throws where somebody does not come back, or somebody is lost time and again. */
async function afterLoss(lab, loss, error) {
	await reconnectGenerators(lab, loss.signal);
	const isStuck = error.kind === "timeout";
	if (!isStuck && await answers(lab.dut.host())) return afterGlitch(lab, error);
	lab.booted = void 0;
	const cyclesBefore = lab.cycles.done;
	const { panic } = await lab.dut.recover();
	if (panic !== void 0) return afterDeath(lab, loss, `it panicked: ${panic}`, panic);
	if (isStuck) return afterDeath(lab, loss, error.message);
	if (lab.cycles.done === cyclesBefore) return afterGlitch(lab, error);
	return afterDeath(lab, loss, "it did not answer any more, and was power-cycled");
}
const lossesInARow = 3;
function afterGlitch(lab, error) {
	lab.losses += 1;
	if (lab.losses >= lossesInARow) throw error;
	return failed(error.message);
}
function afterDeath(lab, { variant, scenario, when }, how, panic) {
	tallyOf(lab.tallies, variant).deaths += 1;
	const where = circumstances(lab, scenario, when);
	if (!isToBlame(lab.tallies, variant, "deaths", "hasStoodBlast")) return failed(`the DUT with ${variant} died ${where}: ${how}`);
	return rejected(variant, {
		kind: when === "after its boot" ? "boot-failed" : "panics-under-load",
		message: `Twice, ${where}${panic === void 0 ? `: ${how}` : ""}.`,
		...panic !== void 0 && { panic }
	});
}
function circumstances({ traffic }, scenario, when) {
	switch (when) {
		case "after its boot": return "right after it had booted";
		case "at the rules": return `while ${scenario} was laid`;
		case "under load": return `under ${traffic.flows} flows`;
	}
}
/** As long as a machine takes to boot. */
const generatorSeconds = 600;
const secondsBetweenTries = 10;
async function reconnectGenerators(lab, signal) {
	const { config, world } = lab;
	await closeGenerators(lab.generators);
	const deadline = world.now() + generatorSeconds;
	for (;;) {
		try {
			lab.generators = await connectGenerators(config, world);
			return;
		} catch (error) {
			if (!(isAbsence(error) && world.now() < deadline && !signal.aborted)) throw error;
		}
		await world.sleep(secondsBetweenTries);
	}
}
const isAbsence = (error) => error instanceof HostError && [
	"unreachable",
	"lost",
	"timeout"
].includes(error.kind);
const answers = (host) => host.output(shell`sysctl -n kern.boottime`, { timeoutSeconds: answerSeconds }).then(() => true, () => false);
const answerSeconds = 10;
/** The DUT on its own kernel, with nothing of ours on it or around it; throws where it cannot be brought back. */
async function restore$1(lab) {
	const { dut, kernels, variants } = lab;
	lab.over.abort(/* @__PURE__ */ new Error("the testbed is given back"));
	try {
		await silence(lab);
		await giveBack(lab);
	} finally {
		await Promise.allSettled([
			dut.host().close(),
			closeGenerators(lab.generators),
			...variants.map((variant) => kernels?.get(variant))
		]);
		await rm(lab.folder, {
			recursive: true,
			force: true
		});
	}
}
/** The DUT comes first: a generator that is out of reach ends by its own time, or by whoever opens the testbed next. */
async function silence(lab) {
	const { world, config, generators } = lab;
	const hosts = [...generators.senders, generators.receiver];
	if ((await Promise.allSettled(hosts.map((host) => endPktGen(host, world)))).every(({ status }) => status === "fulfilled")) return;
	await closeGenerators(generators);
	lab.generators = await connectGenerators(config, world).catch(() => generators);
}
const timesToGiveBack = 3;
/** A connection that breaks here costs a repetition, and not the DUT. */
async function giveBack({ dut, name }) {
	for (let time = 1;; time += 1) try {
		await dut.restore();
		await takeAway(dut.host());
		await dut.host().output(shell`rm -rf ${rulesFolder}`);
		return;
	} catch (error) {
		if (!(error instanceof HostError)) throw error;
		if (time < timesToGiveBack) continue;
		throw new DutLostError(`The DUT of ${name} may still run a kernel of ours: ${time} times it could not be restored, at last for this: ${error.message}`, { cause: error });
	}
}

// src/scenario/nftables.ts
/** The rules of a scenario, in a table of their own; one accepting rule, as the FreeBSD scenarios have one `pass`. */
function scenarioRules(scenario) {
	switch (scenario) {
		case "forwarding": return "";
		case "nftables-stateless": return forwardChain(["meta l4proto udp accept"]);
		case "nftables-stateful": return forwardChain(["ct state established,related accept", "ct state new accept"]);
	}
}
const forwardChain = (rules) => `table inet ppsgate {
  chain forward {
    type filter hook forward priority filter; policy drop;
${rules.map((rule) => `    ${rule}`).join("\n")}
  }
}
`;

// src/dut/linux-profile.ts
/** The command that samples a variant, ahead of the packets but on whichever CPU has time. */
function samplingCommand(request) {
	const { script, ingress, cpu, scenario, warmUpSeconds, seconds, event, variant } = request;
	const chosen = event === void 0 ? [] : ["--event", event];
	const perSecond = Math.min(mostPerSecond, Math.ceil(wantedSamples / seconds));
	return shell`chrt -f 20 bash ${script} profile ${ingress} ${cpu} ${scenario} ${warmUpSeconds} ${seconds} ${variant} --freq ${perSecond} ${chosen}`;
}
/** Enough to tell a function that a patch made a tenth dearer, and some 20 MB as perf prints them. */
const wantedSamples = 8e3;
/** More would slow the DUT down by more than some percent. */
const mostPerSecond = 3999;
/** Prints what was sampled, with what it was sampled on at its head. */
const printingCommand = (folder) => shell`perf script --header --input ${`${folder}/perf.data`}`;
/** Packets that arrived per second while samples were taken, and right after: undefined where the log does not tell. */
function arrivalsAround(log) {
	const [start, end, after] = [...log.matchAll(/^mark (\d+\.\d+) (\d+)$/gm)].map(([, seconds, packets]) => ({
		seconds: Number(seconds),
		packets: Number(packets)
	}));
	if (start === void 0 || end === void 0 || after === void 0) return void 0;
	return {
		withinPps: rate(start, end),
		afterPps: rate(end, after)
	};
}
const rate = (from, to) => (to.packets - from.packets) / (to.seconds - from.seconds);

// src/dut/linux-refusal.ts
/**
* nft's words for places in the variant's own rules, with their lines as the overlay has them. The lines that nft itself
* shows are left out, because they could be of any file of the DUT, and so are the names of folders there.
*/
function loadRefusal({ folder, scenario, nftables, stderr, ending }) {
	const [, reason, setting] = failedSetting.exec(stderr) ?? [];
	if (setting !== void 0) return `The DUT does not take the setting ${setting}: ${reason}.`;
	const sources = nftables.split("\n");
	const errors = stderr.split("\n").flatMap((line) => {
		if (!line.startsWith(`${folder}/`)) return unplaced.exec(line)?.[1] ?? [];
		const [, file, number, first, last, words] = placed.exec(line.slice(folder.length + 1)) ?? [];
		if (file === `${scenario}.nft`) return `${file}:${number}: ${words}`;
		if (file !== "nftables.conf") return [];
		const columns = {
			first: Number(first),
			last: Number(last ?? first)
		};
		const source = shown(sources[Number(number) - 1] ?? "", columns);
		return [`${file}:${number}:${first}${last === void 0 ? "" : `-${last}`}: ${words}`, ...source];
	});
	if (errors.length > 0) return errors.slice(0, mostLines).join("\n");
	return `nft does not load nftables.conf, and names no line of it: it ${ending}.`;
}
/** What bash or cat(1) says of the system's error, and then the DUT's program of the setting. */
const failedSetting = /: ([\w ,'()/-]{1,100})\nsetting (net\/[\w./-]{1,200})$/m;
const placed = /^([\w.-]{1,100}):(\d{1,7}):(\d{1,7})(?:-(\d{1,7}))?: (Error: .{1,300})/;
/** Of a command that nft gave the kernel without a line to it. */
const unplaced = /^(?:internal:0:0-0|netlink): (Error: .{1,300})/;
/** nft gives up after ten errors. */
const mostLines = 30;
/** The source line, and where it can be told a line below that points at the columns. */
function shown(source, { first, last }) {
	const line = source.slice(0, mostShown$1);
	if (last > line.length || first < 1 || last < first || /[^\t -~]/.test(line)) return [line];
	return [line, line.slice(0, first - 1).replace(/[^\t]/g, " ") + "^".repeat(last - first + 1)];
}
const mostShown$1 = 200;

// src/dut/nft-tokens.ts
/**
* Why nft must not get to read these rules, with their line; nothing where it may. What counts is what nft takes for the
* word `include`, and it is the same to nft whether a blank, a comment or a continued line comes before the path:
* therefore the word alone is refused, wherever it is neither in a comment nor in a quoted string.
*/
function whyUnsafe(text, file) {
	const control = controlCharacter.exec(text);
	if (control !== null) {
		const why = `a control character (U+${control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}) stands here, which no rule needs: leave it out`;
		return at(file, text, control.index, why);
	}
	for (const { 0: token, index } of text.matchAll(tokens)) {
		if (token === "\"") return at(file, text, index, "this quote has no end: write the other one");
		if (mayBeInclude(token, text[index - 1])) return at(file, text, index, noInclude);
	}
}
/** A line may end as on Windows: some versions of nft take that, others say themselves that they do not. */
const controlCharacter = /(?!\r\n)[^\P{Cc}\t\n]/u;
/**
* nft's longest matches, as far as they tell where a comment, a quoted string and a word begin. A comment ends with its
* line, even after a backslash; a quoted string goes over any number of lines.
*/
const tokens = /#[^\n]*|"[^"]*"|[\w./-]+|./gs;
/**
* To nft a word that begins with a letter goes as far as it can: `my-include` and `include.x` are others. What begins
* otherwise may be a number (`1include`), a sign (`-include`) or, after a colon, the end of an address
* (`fe80::cinclude`), after which nft begins anew.
*/
function mayBeInclude(token, before) {
	if (!/^[\w./-]*include$/.test(token)) return false;
	return token === "include" || before === ":" || !/^[a-z]/i.test(token);
}
const noInclude = "the word include would have nft read another file, which could be any of the DUT: write the rules of that file here, and names that are or end with this word in quotes or otherwise";
const at = (file, text, index, why) => `${file}:${text.slice(0, index).split("\n").length}: Error: ${why}.`;

// src/dut/sysctl.ts
/** Reads `key = value` lines, see sysctl.conf(5); `file` is the name that messages give it. */
function parseSysctl(text, file) {
	const settings = /* @__PURE__ */ new Map();
	for (const [index, line] of text.split("\n").entries()) {
		const content = line.trim();
		if (content === "" || /^[#;]/.test(content)) continue;
		const refused = (why) => ({
			kind: "refused",
			message: `${file} line ${index + 1}: ${why}.`
		});
		const [, key, value] = keyAndValue.exec(line) ?? [];
		if (key === void 0 || value === void 0) return refused(`expected "key = value", found "${content.slice(0, mostShown)}"`);
		const path = pathOf(key);
		if (!networkSetting.test(path)) return refused(whyStrange(key, path));
		if (value.length > mostCharacters) return refused(`the value of ${key} has more than ${mostCharacters} characters`);
		settings.delete(path);
		settings.set(path, value);
	}
	return {
		kind: "read",
		settings
	};
}
/** Nothing but ASCII: what else looks like a blank is none to sysctl(8). */
const keyAndValue = /^[\t ]*([\w./-]+)[\t ]*=[\t ]*([!-~](?:[\t -~]*[!-~])?)[\t\r ]*$/;
const mostShown = 100;
/** The kernel takes no more than a page. */
const mostCharacters = 4e3;
/** The first separator says which of the two is the other's place holder: sysctl(8), whose own this is. */
function pathOf(key) {
	if (/[./]/.exec(key)?.[0] !== ".") return key;
	return key.replace(/[./]/g, (found) => found === "." ? "/" : ".");
}
/** Below /proc/sys/net; a star is the name of an interface, `all` or `default`. */
const folders = [
	"core",
	"unix",
	"ipv4",
	"ipv4/conf/*",
	"ipv4/neigh/*",
	"ipv4/route",
	"ipv4/vs",
	"ipv6",
	"ipv6/conf/*",
	"ipv6/neigh/*",
	"ipv6/route",
	"ipv6/icmp",
	"netfilter",
	"netfilter/nf_log",
	"bridge",
	"mpls",
	"mpls/conf/*",
	"mptcp",
	"sctp",
	"vrf"
];
const setting = String.raw`[a-zA-Z0-9][\w-]{0,63}`;
/** As long as the kernel has them at most, and no `.` or `..`, which would be other folders. */
const interfaceName = String.raw`(?!\.{1,2}/)[\w.-]{1,15}`;
const networkSetting = new RegExp(`^net/(?:nf_conntrack_max|(?:${folders.join("|").replaceAll("*", interfaceName)})/${setting})$`);
function whyStrange(key, path) {
	const shown = key.slice(0, mostShown);
	if (!path.startsWith("net/") || path.split("/").includes("..")) return `${shown} is no setting of the network (net.…)`;
	return `${shown} is none of the settings of a router's network, which lie in ${folders.map((folder) => `net.${folder.replaceAll("/", ".")}`).join(", ")}; a dot in the name of an interface is written as a slash (net.ipv4.conf.eth0/1.rp_filter)`;
}
/** A line for each setting, in the form that the DUT's program reads and writes. */
const formatSettings = (settings) => [...settings].map(([path, value]) => `${path} = ${value}\n`).join("");
/** Reads what `formatSettings`, or the DUT's program, has written: a value may be empty there. */
const readSettings = (text) => new Map(text.split("\n").flatMap((line) => {
	const [, path, value] = /^(\S+) = (.*)$/.exec(line) ?? [];
	return path === void 0 || value === void 0 ? [] : [[path, value]];
}));

// src/dut/linux.ts
const folder = "/run/ppsgate/dut";
const script = `${folder}/dut.bash`;
function linuxDut(host) {
	return {
		async prepare(overlays, scenarios) {
			await restore(host);
			await install(host);
			const variants = overlays.map(loadable);
			const refused = variants.find((overlay) => overlay.kind === "refused");
			if (refused?.kind === "refused") {
				const { variant, message } = refused;
				return doesNotLoad(variant, scenarios[0] ?? "forwarding", message);
			}
			const read = variants.filter((overlay) => overlay.kind === "loadable");
			const before = await remember(host, new Set(read.flatMap(({ sysctl }) => [...sysctl.keys()])));
			for (const overlay of read) await upload(host, overlay, before, scenarios);
			return prove(host, read, scenarios);
		},
		async observe(request, { isEnough, ...limits }) {
			const stdin = new PassThrough();
			const samplesWith = samplesAsTheyCome();
			let log = "";
			let asked = 0;
			const onStdout = (chunk) => {
				if (log.length > mostLogCharacters) return;
				const piece = Buffer.from(chunk).toString();
				log += piece;
				if (isEnough === void 0) return;
				const samples = samplesWith(piece);
				if (samples.length === asked || samples.length > request.slices) return;
				asked = samples.length;
				if (isEnough(samples)) stdin.write("\n");
			};
			const variants = request.variants.map(pathName);
			const live = isEnough !== void 0;
			const command = observeCommand({
				...request,
				variants,
				script,
				live
			});
			const outcome = await host.run(command, {
				...limits,
				stdin,
				onStdout
			});
			stdin.end();
			if (log.length > mostLogCharacters) {
				const reason = `the DUT wrote more than ${mostLogCharacters} characters where it was to sample`;
				return {
					log,
					observation: {
						kind: "failed",
						reason
					}
				};
			}
			const observation = outcome.kind === "exited" && outcome.code === 0 ? parseObservation(log) : {
				kind: "failed",
				reason: outcome.stderr.trim() || "the DUT’s sampler was ended"
			};
			return {
				log,
				observation
			};
		},
		async sample(request, limits) {
			const stdin = new PassThrough();
			const variant = pathName(request.variant);
			try {
				return await host.run(samplingCommand({
					...request,
					variant,
					script
				}), {
					...limits,
					stdin
				});
			} finally {
				stdin.end();
			}
		},
		async printSamples() {
			const text = await host.output(printingCommand(folder), { maxOutputBytes: mostProfileBytes });
			await host.output(shell`rm -f ${`${folder}/perf.data`}`);
			return text;
		},
		fingerprint: () => fingerprint(host),
		restore: () => restore(host)
	};
}
/** A line has some 80, and a blast at most tens of thousands of lines. */
const mostLogCharacters = 16 * 1024 ** 2;
/** More than ten times what the samples that are wanted take. */
const mostProfileBytes = 256 * 1024 ** 2;
async function install(host) {
	await host.output(shell`mkdir -p ${folder}`);
	await host.upload(Buffer.from(linuxDutScript), script, 493);
}
/** What an earlier experiment left is laid back too, which is why the script is put there anew. */
async function restore(host) {
	await install(host);
	await host.output(shell`bash ${script} restore`);
	await host.output(shell`rm -rf ${folder} ${`${folder}.lock`}`);
}
/** What a Linux DUT loads of an overlay; anything else in it would be ignored, and so measured wrongly. */
function loadable(overlay) {
	const { variant, files } = overlay;
	const refused = (message) => ({
		kind: "refused",
		variant,
		message
	});
	const stranger = files.find((file) => file.mode !== "100644" || !loadedFiles.has(file.path));
	if (stranger !== void 0) {
		const names = [...loadedFiles].join(" and ");
		return refused(`${stranger.path} is nothing that a Linux DUT loads: an overlay holds ${names}, as plain files.`);
	}
	const content = (path) => files.find((file) => file.path === path)?.content ?? "";
	const sysctl = parseSysctl(content("sysctl.conf"), "sysctl.conf");
	if (sysctl.kind === "refused") return refused(sysctl.message);
	const nftables = `${content("nftables.conf")}\n`;
	const unsafe = whyUnsafe(nftables, "nftables.conf");
	if (unsafe !== void 0) return refused(unsafe);
	return {
		kind: "loadable",
		variant,
		sysctl: sysctl.settings,
		nftables
	};
}
const loadedFiles = /* @__PURE__ */ new Set(["sysctl.conf", "nftables.conf"]);
/** The DUT's own values of the settings that some variant changes: the other variants need them too. */
async function remember(host, paths) {
	await host.output(shell`bash ${script} remember`, { stdin: [...paths, ""].join("\n") });
	return readSettings(await host.output(shell`cat ${`${folder}/before/sysctl.conf`}`));
}
async function upload(host, { variant, sysctl, nftables }, before, scenarios) {
	const target = folderOf(variant);
	const ofOthers = [...before].filter(([path]) => !sysctl.has(path));
	await host.output(shell`mkdir -p ${target}`);
	const files = new Map([
		["sysctl.conf", formatSettings(new Map([...ofOthers, ...sysctl]))],
		["nftables.conf", nftables],
		...scenarios.map((scenario) => [`${scenario}.nft`, ruleset(target, scenario)])
	]);
	await Promise.all([...files].map(([name, text]) => host.upload(Buffer.from(text), `${target}/${name}`, 384)));
}
const folderOf = (variant) => `${folder}/${pathName(variant)}`;
const ruleset = (target, scenario) => `flush ruleset\ninclude "${target}/nftables.conf"\n${scenarioRules(scenario)}`;
async function prove(host, variants, scenarios) {
	for (const { variant, nftables } of variants) for (const scenario of scenarios) {
		const target = folderOf(variant);
		const lay = shell`timeout --kill-after=5 ${laySeconds} bash ${script} lay ${target} ${scenario}`;
		const outcome = await host.run(lay);
		if (outcome.kind === "exited" && outcome.code === 0) continue;
		const { stderr } = outcome;
		const ending = endingOf(outcome);
		const message = loadRefusal({
			folder: target,
			scenario,
			nftables,
			stderr,
			ending
		});
		return doesNotLoad(variant, scenario, message);
	}
	return { kind: "ready" };
}
/** Rules may hold a command that never ends, like `monitor`; a set of a million addresses loads in seconds. */
const laySeconds = 120;
function endingOf(outcome) {
	if (outcome.kind === "signaled") return `was ended by ${outcome.signal}`;
	return outcome.code === 124 ? `took more than ${laySeconds} s` : `exited with ${outcome.code}`;
}
const doesNotLoad = (variant, scenario, message) => ({
	kind: "rejected",
	variant,
	rejection: {
		kind: "does-not-load",
		scenario,
		message
	}
});
async function fingerprint(host) {
	const [kernel, build, architecture, models, cpus, nftables, ...settings] = await Promise.all([
		host.output(shell`uname -sr`),
		host.output(shell`uname -v`),
		host.output(shell`uname -m`),
		host.output(shell`sed -n 's/^model name[^:]*: //p' /proc/cpuinfo`),
		host.output(shell`nproc`),
		host.output(shell`nft --version`),
		...recordedSettings.map((key) => host.output(shell`sysctl -n ${key}`))
	]);
	return {
		kernel: kernel.trim(),
		build: build.trim(),
		cpu: `${models.split("\n")[0] || architecture.trim()} × ${cpus.trim()}`,
		nftables: nftables.trim(),
		...Object.fromEntries(recordedSettings.map((key, index) => [key, settings[index]?.trim() ?? ""]))
	};
}
const recordedSettings = [
	"net.ipv4.ip_forward",
	"net.ipv6.conf.all.forwarding",
	"net.ipv4.conf.all.send_redirects"
];

// src/traffic/flows.ts
const destinationsPerSource = 100;
const port = 2e3;
const crcBytes = 4;
const udpHeaderBytes = 8;
/** Addresses out of RFC 2544's networks (RFC 5180's for IPv6), counted up from .10.1; the family's smallest frame is the least. */
function trafgenFlows(request) {
	const packets = [];
	for (let flow = 0; flow < request.flows; flow++) {
		const source = Math.floor(flow / destinationsPerSource);
		const destination = flow % destinationsPerSource;
		packets.push(`{ ${frame(request, source, destination).join(",")} }`);
	}
	return `${packets.join("\n")}\n`;
}
function frame(request, source, destination) {
	const ethernet = [...macBytes(request.destinationMac), ...macBytes(request.sourceMac)];
	const payloadBytes = request.frameBytes - crcBytes - ethernet.length - 2;
	return request.family === "inet4" ? [
		...ethernet,
		8,
		0,
		...ipv4(payloadBytes, source, destination)
	] : [
		...ethernet,
		134,
		221,
		...ipv6(payloadBytes, source, destination)
	];
}
/** RFC 791. */
function ipv4(totalBytes, source, destination) {
	const addresses = [...ipv4Address(18, source), ...ipv4Address(19, destination)];
	const udp = udpDatagram(totalBytes - 20, addresses);
	const header = (checksum) => [
		...[
			69,
			0,
			...word(20 + udp.length)
		],
		...[
			0,
			0,
			0,
			0
		],
		...[
			64,
			17,
			...word(checksum)
		],
		...addresses
	];
	const withChecksum = [...header(internetChecksum(header(0))), ...udp];
	return padded(withChecksum, totalBytes);
}
/** RFC 8200. */
function ipv6(totalBytes, source, destination) {
	const addresses = [...ipv6Address(0, source), ...ipv6Address(32768, destination)];
	const udp = udpDatagram(totalBytes - 40, addresses);
	return [
		96,
		0,
		0,
		0,
		...word(udp.length),
		17,
		64,
		...addresses,
		...udp
	];
}
/** RFC 768; the pseudo header of both families comes to the same sum. */
function udpDatagram(bytes, addresses) {
	const length = Math.max(bytes, udpHeaderBytes);
	const datagram = (checksum) => [
		...[...word(port), ...word(port)],
		...[...word(length), ...word(checksum)],
		...new Array(length - udpHeaderBytes).fill(0)
	];
	const checksum = internetChecksum([
		...addresses,
		0,
		17,
		...word(length),
		...datagram(0)
	]);
	return datagram(checksum === 0 ? 65535 : checksum);
}
/** RFC 1071: the ones' complement of the ones' complement sum of 16-bit words. */
function internetChecksum(bytes) {
	let sum = 0;
	for (let index = 0; index < bytes.length; index += 2) sum += (bytes[index] ?? 0) << 8 | (bytes[index + 1] ?? 0);
	while (sum > 65535) sum = (sum & 65535) + (sum >>> 16);
	return ~sum & 65535;
}
/** 198.18.10.1 and up, or 198.19.10.1 and up. */
function ipv4Address(network, index) {
	const low = 2561 + index;
	return [
		198,
		network,
		...word(low)
	];
}
/** 2001:2::a:1 and up, or 2001:2:0:8000::a:1 and up. */
function ipv6Address(network, index) {
	return [...[
		8193,
		2,
		0,
		network,
		0,
		0,
		10,
		1 + index
	].flatMap(word)];
}
const word = (value) => [value >>> 8, value & 255];
const macBytes = (mac) => mac.split(":").map((byte) => Number.parseInt(byte, 16));
const padded = (bytes, length) => [...bytes, ...new Array(Math.max(0, length - bytes.length)).fill(0)];

// src/testbed/linux.ts
/** All that is laid on the hosts lies below it. */
const ourFolder = "/run/ppsgate";
const senderFolder = `${ourFolder}/sender`;
const slicesPerRun = 3;
/** Beyond any card's: trafgen then sends as fast as it can. */
const mostPps = 1e9;
/** Laying a variant takes some 20 ms; a busy machine may need many times that. */
const secondsToLay = .5;
/** Connects to all three hosts, and ends what a lost controller left running; a host that cannot be reached is a `HostError`. */
async function openLinuxTestbed(name, config, traffic, connect = connectTo) {
	await using opened = new AsyncDisposableStack();
	const sender = opened.use(await connect(config.sender, "sender"));
	await endPrograms(sender);
	const dutHost = opened.use(await connect(config.dut, "DUT"));
	await endPrograms(dutHost);
	const receiver = opened.use(await connect(config.receiver, "receiver"));
	const dut = linuxDut(dutHost);
	const lab = {
		config,
		traffic,
		sender,
		dutHost,
		receiver,
		dut
	};
	const connections = opened.move();
	return {
		name,
		inspect: async () => ({
			fingerprint: await dut.fingerprint(),
			warnings: []
		}),
		async prepare({ variants, cells, tell }) {
			tell("laying every variant once");
			await uploadSender(lab, cells);
			const scenarios = [...new Set(cells.map((cell) => cell.scenario))].filter(isLinuxScenario);
			return dut.prepare(variants, scenarios);
		},
		blast: (planned, keepLog, signal) => blast(lab, planned, keepLog, signal),
		profile: (request, keepLog, signal) => profile(lab, request, keepLog, signal),
		async restore() {
			if (connections.disposed) return;
			await using _closed = connections;
			await endPrograms(sender);
			await endPrograms(dutHost);
			await dut.restore();
			await sender.output(shell`rm -rf ${senderFolder}`);
		}
	};
}
/**
* What pgrep and pkill take for them, as the hosts are leased as one. Those of another network are not ours: the hosts
* of the embedded lab are one machine.
*/
const ourPrograms = shell`--ns $$ --nslist net -f ${`^(bash ${ourFolder}/|trafgen )`}`;
const timesToTerminate = 20;
const timesToEnd = 50;
const secondsBetweenTimes = .1;
const secondsToSignal = 60;
/** A generator's script ends with the connection, which a controller that lost its power never closed. */
async function endPrograms(host) {
	for (let time = 0; time < timesToEnd; time += 1) {
		const signal = time < timesToTerminate ? shell`-TERM` : shell`-KILL`;
		const command = shell`pkill ${signal} ${ourPrograms}`;
		const outcome = await host.run(command, { timeoutSeconds: secondsToSignal });
		if (outcome.kind === "exited" && outcome.code === 1) return;
		stdoutOf(outcome, host.name, command);
		await setTimeout$1(secondsBetweenTimes * 1e3);
	}
	throw new HostError("command-failed", `Programs of an experiment on ${host.name} do not end: see what they wait for, or reboot it.`);
}
const flowsPath = (cell, traffic) => `${senderFolder}/${cell.family}.${frameBytesFor(traffic, cell)}.flows`;
const senderScriptPath = `${senderFolder}/send.bash`;
async function uploadSender(lab, cells) {
	const { sender, dutHost, config, traffic } = lab;
	await sender.output(shell`mkdir -p ${senderFolder}`);
	await sender.upload(Buffer.from(senderScript), senderScriptPath, 493);
	const [sourceMac, destinationMac] = await Promise.all([macAddress(sender, config.sender.interface), macAddress(dutHost, config.dut.ingress)]);
	const { flows } = traffic;
	const byPath = new Map(cells.map((cell) => [flowsPath(cell, traffic), cell]));
	for (const [path, cell] of byPath) {
		const frameBytes = frameBytesFor(traffic, cell);
		const { family } = cell;
		const packets = trafgenFlows({
			family,
			flows,
			frameBytes,
			sourceMac,
			destinationMac
		});
		await sender.upload(Buffer.from(packets), path, 384);
	}
}
async function macAddress(host, name) {
	return (await host.output(shell`cat ${`/sys/class/net/${name}/address`}`)).trim();
}
async function blast(lab, planned, keepLog, signal) {
	const { traffic, config } = lab;
	const secondsPerRun = secondsToLay + traffic.settleSeconds + traffic.measureSeconds;
	const limitSeconds = Math.ceil(30 + traffic.warmUpSeconds + planned.runs.length * secondsPerRun);
	const before = await counters(lab);
	const startedAt = (/* @__PURE__ */ new Date()).toISOString();
	const sending = startSender(lab, planned.cell, limitSeconds, signal);
	const { log, observation } = await lab.dut.observe({
		ingress: config.dut.ingress,
		egress: config.dut.egress,
		cpu: config.dut.cpu,
		scenario: planned.cell.scenario,
		warmUpSeconds: traffic.warmUpSeconds,
		settleSeconds: traffic.settleSeconds,
		...slicesOf(traffic),
		variants: planned.runs.map((run) => run.variant)
	}, {
		timeoutSeconds: limitSeconds,
		signal,
		isEnough: enoughFor(traffic)
	}).finally(() => sending.stop());
	const senderLog = await sending.log;
	const after = await counters(lab);
	const logs = {
		dut: log,
		sender: senderLog,
		counters: `${JSON.stringify({
			before,
			after
		}, null, 2)}\n`
	};
	for (const which of [
		"dut",
		"sender",
		"counters"
	]) await keepLog(logNames[which], logs[which]);
	return readLinuxLogs(planned, startedAt, logs, observation);
}
async function profile(lab, { cell, variant, seconds, event }, keepLog, signal) {
	const why = await whyNoPerf(lab.dutHost);
	if (why !== void 0) return impossible(why);
	const { ingress, cpu } = lab.config.dut;
	const { warmUpSeconds } = lab.traffic;
	const timeoutSeconds = Math.ceil(30 + warmUpSeconds + seconds);
	const { scenario } = cell;
	const sending = startSender(lab, cell, timeoutSeconds, signal);
	const sampled = await lab.dut.sample({
		ingress,
		cpu,
		scenario,
		warmUpSeconds,
		seconds,
		event,
		variant
	}, {
		timeoutSeconds,
		signal
	}).finally(() => sending.stop());
	await keepLog(logNames.sender, await sending.log);
	await keepLog(logNames.dut, sampled.stdout + sampled.stderr);
	if (sampled.kind === "signaled" || sampled.code !== 0) return missed(`the DUT could not be sampled: ${lastLine(sampled.stderr) ?? "it said nothing"}`);
	const arrivals = arrivalsAround(sampled.stdout);
	if (arrivals === void 0 || !(arrivals.withinPps > 0 && arrivals.afterPps > 0)) return missed("packets did not flow throughout the window in which samples were taken");
	const text = await lab.dut.printSamples();
	return judgeProfile(text, {
		event: event ?? "cycles",
		kernel: "an unknown kernel"
	}, keepLog);
}
async function whyNoPerf(dut) {
	const outcome = await dut.run(shell`perf --version`);
	if (outcome.kind === "exited" && outcome.code === 0) return void 0;
	return `perf does not run on the DUT (${lastLine(outcome.stderr) ?? "it said nothing"}): install what your system calls it, linux-perf or linux-tools`;
}
/** A run of several seconds is sampled by the second, as pkt-gen does. */
function slicesOf({ measureSeconds }) {
	const slices = Math.max(slicesPerRun, Math.floor(measureSeconds));
	return {
		sliceSeconds: measureSeconds / slices,
		slices
	};
}
/** Undefined where a run has a fixed length. */
function enoughFor({ measureAtLeastSeconds, measureSeconds }) {
	if (measureAtLeastSeconds >= measureSeconds) return void 0;
	const bounds = {
		atLeast: Math.ceil(measureAtLeastSeconds),
		toleranceRatio: .005
	};
	return (samples) => isSteady(samples.map(({ forwardedPackets, seconds }) => forwardedPackets / seconds), bounds);
}
function startSender(lab, cell, limitSeconds, signal) {
	const stdin = new PassThrough();
	const command = senderCommand$1({
		script: senderScriptPath,
		interface: lab.config.sender.interface,
		cpu: lab.config.sender.cpu,
		offeredPps: lab.traffic.offeredPps ?? mostPps,
		flows: flowsPath(cell, lab.traffic),
		limitSeconds
	});
	const log = lab.sender.output(command, {
		stdin,
		timeoutSeconds: limitSeconds + 10,
		signal
	});
	log.catch(() => {});
	return {
		log,
		stop: () => stdin.end()
	};
}
async function counters(lab) {
	const { dutHost, receiver, config } = lab;
	const [forwarded, received] = await Promise.all([counter(dutHost, config.dut.egress, "tx_packets"), counter(receiver, config.receiver.interface, "rx_packets")]);
	return {
		forwarded,
		received
	};
}
async function counter(host, name, kind) {
	return Number(await host.output(shell`cat ${`/sys/class/net/${name}/statistics/${kind}`}`));
}

// src/testbed/open.ts
/** Connects to a testbed of the configuration; an embedded one is brought up first, and taken down by `restore`. */
async function openTestbed(name, traffic, config, { lease, machines }) {
	const testbed = config.testbeds[name];
	switch (testbed?.kind) {
		case "linux": return openLinuxTestbed(name, testbed, traffic, fencedConnect(machines.connect, lease));
		case "freebsd": return openFreebsdTestbed(name, testbed, traffic, fencedWorld(machines, testbed, lease));
		default: return openEmbedded(name, traffic);
	}
}
/** Nobody but this machine reaches the lab, so it knows no leases: one process has it. */
async function openEmbedded(name, traffic) {
	const lab = await labUp();
	const embedded = await openLinuxTestbed(name, lab, traffic).catch(async (error) => {
		await labDown();
		throw error;
	});
	return {
		...embedded,
		async restore() {
			await embedded.restore().finally(labDown);
		}
	};
}
const realWorld = {
	connect: connectTo,
	openPower: (machine, config) => openPower$1(machine, config, realPowerWorld),
	sleep: (seconds) => setTimeout$1(seconds * 1e3),
	now: () => Date.now() / 1e3
};

export { nextRoot as C, fencedWorld as D, runningSystem as E, raiseFences as O, DutLostError as S, isOurs as T, provesScenario as _, ourPrograms as a, problemOf as b, rulesFolder as c, settingsContext as d, checkSettings as f, pktGenBlast as g, gitIn as h, ourFolder as i, FencedError as k, wakeFreebsdTestbed as l, pathSettings as m, openTestbed as n, bounded as o, settingsCommands as p, realWorld as r, proofOf as s, openEmbedded as t, readAll as u, takeAwayCommands as v, fileSystemsOf as w, parseIfconfig as x, advice as y };