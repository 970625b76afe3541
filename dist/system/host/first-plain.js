import { __toESM } from "../../rolldown-runtime.js";
import { lastLine, reasonOf, shortened } from "../../model/first-plain.js";
import { commandText, lineForAnyShell, shell } from "../shell.js";
import { semaphore } from "../semaphore.js";
const { once } = globalThis.process.getBuiltinModule("node:events");
const { createReadStream } = globalThis.process.getBuiltinModule("node:fs");
const { createConnection } = globalThis.process.getBuiltinModule("node:net");
const { Readable } = globalThis.process.getBuiltinModule("node:stream");
const { createHash, createHmac, randomUUID } = globalThis.process.getBuiltinModule("node:crypto");
const { stat } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/system/host/host-error.ts
const hostFailures = [
	"unreachable",
	"host-key",
	"login",
	"login-refused",
	"lost",
	"timeout",
	"aborted",
	"session-refused",
	"too-much-output",
	"command-failed",
	"upload-failed"
];
/** The message is a sentence that names the host and the operation. */
var HostError = class extends Error {
	name = "HostError";
	kind;
	constructor(kind, message, options) {
		super(message, options);
		this.kind = kind;
	}
};

// src/system/host/connection.ts
/** `client` may still be logging in. */
function connectionOn(name, client, socket) {
	return {
		name,
		client,
		socket,
		over: new AbortController(),
		inTurn: semaphore(sessionsAtOnce)
	};
}
const sessionsAtOnce = 5;
function inSession({ name, what, stop }, open, use) {
	stop.throwIfAborted();
	return new Promise((resolve, reject) => {
		const refuse = (error) => reject(new HostError("session-refused", `${name} refuses a session for ${what}: ${reasonOf(error)}; check MaxSessions and the processes still running there.`, { cause: error }));
		try {
			open((error, channel) => error ? refuse(error) : resolve(use(channel)));
		} catch (error) {
			refuse(error);
		}
	});
}
/** Also ends running sessions. */
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

// src/system/host/limits.ts
/** Rejects on the time limit, the caller's abort or the connection's end, and aborts `stop`. */
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
		return await Promise.race([rejectionOf(stop.signal), work(stop)]);
	} finally {
		clearTimeout(timer);
		finished.abort("finished");
	}
}
function whenAborted(signal, until, act) {
	if (signal?.aborted) act(signal.reason);
	signal?.addEventListener("abort", () => act(signal.reason), {
		once: true,
		signal: until
	});
}
function rejectionOf(signal) {
	return new Promise((_, reject) => {
		if (signal.aborted) reject(signal.reason);
		signal.addEventListener("abort", () => reject(signal.reason), { once: true });
	});
}

// src/system/host/execute.ts
function run(connection, command, options) {
	const text = lineForAnyShell(command);
	return withinRun(connection, command, options, (execution) => connection.inTurn(() => execute(connection.client, text, execution)));
}
/** Applies a run's limits to any way of running a command. */
function withinRun({ name, over }, command, options, work) {
	const shown = commandText(options.shownAs ?? command);
	const task = {
		...options,
		name,
		what: `"${shortened(shown)}"`
	};
	return withinLimits({
		...task,
		over: over.signal
	}, (stop) => {
		stopWhenTorn(options.stdin, stop);
		return work({
			...task,
			stop: stop.signal
		});
	});
}
async function output(connection, command, options) {
	return stdoutOf(await run(connection, command, options), connection.name, command);
}
/** Throws a HostError for any exit status but 0. */
function stdoutOf(outcome, name, command) {
	if (outcome.kind === "exited" && outcome.code === 0) return outcome.stdout;
	const exit = outcome.kind === "exited" ? `exited with ${outcome.code}` : `was ended by ${outcome.signal}`;
	const reason = lastLine(outcome.stderr) ?? "stderr is empty";
	throw new HostError("command-failed", `"${shortened(commandText(command))}" on ${name} ${exit}: ${reason}`);
}
/** Stops the command when its input breaks, even before the command starts. */
function stopWhenTorn(stdin, stop) {
	if (!(stdin instanceof Readable)) return;
	if (stdin.errored) stop.abort(stdin.errored);
	stdin.on("error", (error) => stop.abort(error));
}
function execute(client, text, execution) {
	return inSession(execution, (opened) => client.exec(text, opened), (channel) => follow(ofChannel(channel), execution));
}
const ofChannel = (channel) => ({
	stdin: channel,
	stdout: channel,
	stderr: channel.stderr,
	ended: endOf(channel),
	leave: () => channel.close()
});
async function follow(running, execution) {
	const { stop, stdin, onStdout, onStderr, maxOutputBytes = 16 * 1024 ** 2 } = execution;
	const stopped = rejectionOf(stop);
	try {
		const ended = Promise.all([
			running.ended,
			onStdout ? passOn(running.stdout, onStdout) : collect(running.stdout, "stdout", maxOutputBytes, execution),
			onStderr ? passOn(running.stderr, onStderr) : collect(running.stderr, "stderr", maxOutputBytes, execution)
		]);
		feed(running.stdin, stdin);
		const [exit, stdout, stderr] = await Promise.race([ended, stopped]);
		if (exit.signal !== void 0) return {
			kind: "signaled",
			signal: exit.signal,
			stdout,
			stderr
		};
		if (exit.code !== void 0) return {
			kind: "exited",
			code: exit.code,
			stdout,
			stderr
		};
		throw new HostError("lost", `${execution.name} ended ${execution.what} without saying how; check sshd's log there.`);
	} finally {
		if (stdin instanceof Readable) stdin.unpipe(running.stdin);
		running.leave();
	}
}
function feed(to, stdin) {
	if (stdin instanceof Readable) stdin.pipe(to);
	else to.end(stdin);
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
			else reject(new HostError("too-much-output", `${what} on ${name} wrote more than ${maxBytes} bytes to ${streamName}; make it write less, or write to a file.`));
		});
	});
}

// src/system/host/known-hosts.ts
/** See "SSH_KNOWN_HOSTS FILE FORMAT" in sshd(8). Returns unusable lines with the reason. */
function parseKnownHosts(text) {
	const entries = [];
	const ignored = [];
	for (const [index, content] of text.split("\n").entries()) {
		const parsed = parseLine(content.trim(), index + 1);
		if (parsed.kind === "entry") entries.push(parsed.entry);
		if (parsed.kind === "ignored") ignored.push({
			line: index + 1,
			reason: parsed.reason
		});
	}
	return {
		entries,
		ignored
	};
}
/**
* Compares `key`, in wire format, with the known keys of `address`. Stricter than ssh(1) in two points: a host known
* only by keys of another type is `changed`, and an entry without a port means port 22 only.
*/
function checkHostKey(entries, address, key) {
	const ours = entries.filter((entry) => isFor(entry, address));
	const same = ours.filter((entry) => entry.key.equals(key));
	const revoked = same.find((entry) => entry.revoked);
	if (revoked !== void 0) return {
		kind: "revoked",
		line: revoked.line
	};
	if (same.length > 0) return { kind: "known" };
	const expected = ours.filter((entry) => !entry.revoked).map(expectedKey);
	return expected.length > 0 ? {
		kind: "changed",
		expected
	} : { kind: "unknown" };
}
/**
* Requests the key types that are known for the host; empty for an unknown host. RSA keys sign with SHA-2 only (RFC
* 8332).
*/
function algorithmsFor(entries, address) {
	const pinned = entries.filter((entry) => !entry.revoked && isFor(entry, address));
	const types = new Set(pinned.map((entry) => keyType(entry.key)));
	return signatures.filter(({ type }) => types.has(type)).map(({ algorithm }) => algorithm);
}
/** By key type, in order of preference. */
const signatures = [
	{
		type: "ssh-ed25519",
		algorithm: "ssh-ed25519"
	},
	{
		type: "ecdsa-sha2-nistp256",
		algorithm: "ecdsa-sha2-nistp256"
	},
	{
		type: "ecdsa-sha2-nistp384",
		algorithm: "ecdsa-sha2-nistp384"
	},
	{
		type: "ecdsa-sha2-nistp521",
		algorithm: "ecdsa-sha2-nistp521"
	},
	{
		type: "ssh-rsa",
		algorithm: "rsa-sha2-512"
	},
	{
		type: "ssh-rsa",
		algorithm: "rsa-sha2-256"
	}
];
/** `SHA256:…`, as printed by ssh-keygen -l. */
const fingerprint = (key) => `SHA256:${createHash("sha256").update(key).digest("base64").replace(/=+$/, "")}`;
/** The name at the start of a key, such as `ssh-ed25519`; empty for other bytes. */
function keyType(key) {
	const length = key.length < 4 ? 0 : key.readUInt32BE(0);
	return key.subarray(4, 4 + length).toString("latin1");
}
function parseLine(content, line) {
	if (content === "" || content.startsWith("#")) return { kind: "empty" };
	const fields = content.split(/[ \t]+/);
	const marker = content.startsWith("@") ? fields.shift() : void 0;
	const [hosts = "", type = "", base64 = ""] = fields;
	if (marker === "@cert-authority") return ignore("host certificates are not supported");
	if (marker !== void 0 && marker !== "@revoked") return ignore(`unknown marker ${marker}`);
	const patterns = parseHosts(hosts);
	if (patterns === void 0) return ignore("the hashed host name is malformed");
	const key = Buffer.from(base64, "base64");
	if (type === "" || keyType(key) !== type) return ignore("its key is missing, or not of the type that it names");
	return {
		kind: "entry",
		entry: {
			line,
			hosts: patterns,
			key,
			revoked: marker === "@revoked"
		}
	};
}
const ignore = (reason) => ({
	kind: "ignored",
	reason
});
function parseHosts(field) {
	if (!field.startsWith("|")) return {
		kind: "plain",
		patterns: field.toLowerCase().split(",")
	};
	const [, salt, hash] = /^\|1\|([^|]+)\|([^|]+)$/.exec(field) ?? [];
	if (salt === void 0 || hash === void 0) return void 0;
	return {
		kind: "hashed",
		salt: Buffer.from(salt, "base64"),
		hash: Buffer.from(hash, "base64")
	};
}
function isFor({ hosts }, address) {
	const name = nameInFile(address);
	if (hosts.kind === "hashed") return createHmac("sha1", hosts.salt).update(name).digest().equals(hosts.hash);
	const [refusing, accepting] = splitBy(hosts.patterns, (pattern) => pattern.startsWith("!"));
	if (refusing.some((pattern) => matches(pattern.slice(1), name))) return false;
	return accepting.some((pattern) => matches(pattern, name));
}
/** `host`, or `[host]:port` for any port but 22. */
function nameInFile({ host, port }) {
	const name = host.toLowerCase();
	return port === 22 ? name : `[${name}]:${port}`;
}
function splitBy(all, chosen) {
	return [all.filter(chosen), all.filter((one) => !chosen(one))];
}
/** `*` matches any characters, `?` exactly one. A regular expression would need exponential time for many `*`. */
function matches(pattern, name) {
	let [at, inName, afterStar, resumeAt] = [
		0,
		0,
		-1,
		0
	];
	while (inName < name.length) if (pattern[at] === "*") {
		at += 1;
		[afterStar, resumeAt] = [at, inName];
	} else if (pattern[at] === "?" || pattern[at] === name[inName]) {
		at += 1;
		inName += 1;
	} else if (afterStar === -1) return false;
	else {
		resumeAt += 1;
		[at, inName] = [afterStar, resumeAt];
	}
	return /^\**$/.test(pattern.slice(at));
}
function expectedKey({ line, key }) {
	return {
		line,
		type: keyType(key),
		fingerprint: fingerprint(key)
	};
}

// src/system/host/login-error.ts
function hostKeyError(verdict, key, ignored, { host, port }, name) {
	const shown = `${name} shows the ${keyType(key)} key ${fingerprint(key)}`;
	switch (verdict.kind) {
		case "known": return;
		case "unknown": {
			const unused = ignored.map(({ line, reason }) => ` (line ${line} is ignored: ${reason})`);
			return new HostError("host-key", `${shown}, but its known hosts file has no line for it${unused.join("")}; compare the fingerprint on the machine itself, then add what "ssh-keyscan -p ${port} ${host}" prints.`);
		}
		case "changed": {
			const expected = verdict.expected.map((one) => `${one.fingerprint} (line ${one.line})`);
			return new HostError("host-key", `${shown}, but its known hosts file has ${expected.join(" and ")}; another machine may be answering, so replace the line only once you know why the key changed.`);
		}
		case "revoked": return new HostError("host-key", `${shown}, which line ${verdict.line} of its known hosts file revokes; give the machine a new host key.`);
	}
}
/** Explains ssh2's error; its `level` names the stage of the login. */
function loginError(error, name, user) {
	if (error.level === "agent") return new HostError("login", `Cannot log in to ${name} with the agent: ${reasonOf(error)}; check that it runs at SSH_AUTH_SOCK and holds the key.`, { cause: error });
	if (error.level === "client-authentication") return new HostError("login-refused", `${name} refused the login of ${user} with this key; add its public half to the authorized_keys of ${user} there.`, { cause: error });
	if (error.message.includes("no matching host key format")) return new HostError("host-key", `${name} has no key of a type in its known hosts file; find out why it changed before you add the new one.`, { cause: error });
	return new HostError("lost", `${name} ended the login: ${reasonOf(error)}; check that sshd answers there, and its log.`, { cause: error });
}

// src/system/host/login.ts
/** Throws a HostError if the host is unreachable, its key is unknown, or it refuses the login. */
async function logIn(target, options) {
	const name = nameOf(target);
	const { default: ssh2 } = await import("../../vendor/ssh2.js").then((m) => /* @__PURE__ */ __toESM(m.default, 1));
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
	if (privateKey === void 0 && agentSocket === void 0) throw new HostError("login", `Cannot log in to ${name} because ${agent === true ? "the environment has no SSH_AUTH_SOCK" : "there is no key"}; supply a private key or start an agent.`);
	const wrong = privateKey === void 0 ? void 0 : whyUnfit(parseKey(privateKey));
	if (wrong !== void 0) throw new HostError("login", `The private key for ${name} cannot be used (${wrong}); supply the whole text of an unencrypted one.`);
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

// src/system/host/upload.ts
function upload(connection, source, remotePath, mode, { resume = false, ...limits }) {
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
	}, (opened) => connection.client.sftp(opened), (sftp) => install(sftp, way, remotePath, mode, stop)))).catch((error) => failUpload(error, source, remotePath, connection));
}
function failUpload(error, source, remotePath, { name }) {
	if (error instanceof HostError) throw error;
	const from = typeof source === "string" ? ` from ${source}` : "";
	throw new HostError("upload-failed", `Cannot upload ${remotePath}${from} to ${name}: ${reasonOf(error)}; check that both folders exist and that the one there is writable.`, { cause: error });
}
const connectionsAtMost = 5;
/**
* Installs a local file over up to five connections, each resuming where the last one broke. After a wrong checksum it
* sends the file once more from the start, then throws a HostError.
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
	throw new HostError("upload-failed", `${remotePath} on ${host.name} was sent twice and its SHA-256 is still not ${sha256}; check ${path} here and the disk there.`);
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
async function install(sftp, { partial, keepsPartial, send }, remotePath, mode, stop) {
	const stopped = rejectionOf(stop);
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
/** Restarts if the partial file is longer than ours. */
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
/** Zero for a missing file. */
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

// src/system/host/ssh.ts
async function connect$1(target, options = {}) {
	const connection = await logIn(target, options);
	const close = () => closeConnection(connection);
	return {
		name: connection.name,
		run: (command, options = {}) => run(connection, command, options),
		output: (command, options = {}) => output(connection, command, options),
		upload: (source, remotePath, mode, options = {}) => upload(connection, source, remotePath, mode, options),
		close,
		[Symbol.asyncDispose]: close
	};
}

// src/system/host/own-folder.ts
/**
* Creates the folder, or reuses it, closed to other users. Fails if it belongs to another user, is a link, or was open
* to others: root would follow a link in it to any file of their choice.
*/
const ownFolder = (folder) => shell`sh -c ${ownFolderScript} ppsgate ${folder}`;
/**
* Checks type, mode and owner once, without following a link: other users cannot move our files in a sticky folder. One
* line without `!`, as root's login shell may be csh. Uses ls(1), as stat(1) differs between systems.
*/
const ownFolderScript = "[ -h \"$1\" ] || mkdir -p -m 700 \"$1\" || exit 1; set -- \"$1\" $(ls -ldn \"$1\"); case \"$2/$4\" in d????-??-*/\"$(id -u)\") exec chmod 700 \"$1\";; esac; echo \"ppsgate: $1 could be written by others than its user: see who made it, and remove it\" >&2; exit 1";

export { HostError, algorithmsFor, connect$1 as connect, failUpload, follow, hostFailures, ownFolder, parseKnownHosts, stdoutOf, uploadOverBreaks, withinLimits, withinRun };