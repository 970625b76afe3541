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
function inSession({ name, what, stop }, open, use) {
	stop.throwIfAborted();
	return new Promise((resolve, reject) => {
		const refuse = (error) => {
			const why = `${name} refuses a session for ${what}: ${reasonOf(error)}.`;
			reject(new HostError("session-refused", why, { cause: error }));
		};
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
	const timeUp = () => stopWith("timeout", `Gave up on ${what} on ${name} after ${timeoutSeconds} s.`);
	whenAborted(task.over, finished.signal, (why) => stopWith("lost", `Lost ${name} during ${what}: ${reasonOf(why)}.`, why));
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
const isGood = (outcome) => outcome.kind === "exited" && outcome.code === 0;
function run(connection, command, options) {
	const text = lineForAnyShell(command);
	return withinRun(connection, command, options, (execution) => connection.inTurn(() => inSession(execution, (opened) => connection.client.exec(text, opened), (channel) => follow({
		stdin: channel,
		stdout: channel,
		stderr: channel.stderr,
		ended: new Promise((resolve, reject) => {
			channel.on("error", reject);
			channel.on("close", (code, signal) => resolve({
				code: code ?? void 0,
				signal
			}));
		}),
		leave: () => channel.close()
	}, execution))));
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
		const { stdin } = options;
		if (stdin instanceof Readable) {
			if (stdin.errored) stop.abort(stdin.errored);
			stdin.on("error", (error) => stop.abort(error));
		}
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
async function follow(running, execution) {
	const { stop, stdin, onStdout, onStderr, maxOutputBytes = 16 * 1024 ** 2 } = execution;
	const stopped = rejectionOf(stop);
	try {
		const ended = Promise.all([
			running.ended,
			onStdout ? passOn(running.stdout, onStdout) : collect(running.stdout, "stdout", maxOutputBytes, execution),
			onStderr ? passOn(running.stderr, onStderr) : collect(running.stderr, "stderr", maxOutputBytes, execution)
		]);
		if (stdin instanceof Readable) stdin.pipe(running.stdin);
		else running.stdin.end(stdin);
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
		throw new HostError("lost", `${execution.name} ended ${execution.what} without saying how.`);
	} finally {
		if (stdin instanceof Readable) stdin.unpipe(running.stdin);
		running.leave();
	}
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
			else reject(new HostError("too-much-output", `${what} on ${name} wrote more than ${maxBytes} bytes to ${streamName}.`));
		});
	});
}

// src/system/host/known-hosts.ts
/** See "SSH_KNOWN_HOSTS FILE FORMAT" in sshd(8). Leaves out unusable lines, as their hosts are then unknown. */
const parseKnownHosts = (text) => text.split("\n").flatMap((line) => hostIn(line.trim()) ?? []);
/**
* Compares `key`, in wire format, with the known keys of `address`. Stricter than ssh(1) in two points: a host known
* only by keys of another type is `changed`, and an entry without a port means port 22 only.
*/
function checkHostKey(entries, address, key) {
	const ours = entries.filter((entry) => isFor(entry, address));
	const same = ours.filter((entry) => entry.key.equals(key));
	if (same.some((entry) => entry.revoked)) return { kind: "revoked" };
	if (same.length > 0) return { kind: "known" };
	const expected = ours.filter((entry) => !entry.revoked).map((entry) => fingerprint(entry.key));
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
function hostIn(line) {
	if (line.startsWith("#")) return void 0;
	const words = line.split(/\s+/);
	const revoked = words[0] === "@revoked";
	const [names = "", type = "", base64 = ""] = revoked ? words.slice(1) : words;
	const hosts = parseHosts(names);
	const key = Buffer.from(base64, "base64");
	if (hosts === void 0 || names.startsWith("@") || type === "" || keyType(key) !== type) return void 0;
	return {
		hosts,
		key,
		revoked
	};
}
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
function isFor({ hosts }, { host, port }) {
	const name = port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;
	if (hosts.kind === "hashed") return createHmac("sha1", hosts.salt).update(name).digest().equals(hosts.hash);
	const isOne = (pattern) => matches(pattern, name);
	return !hosts.patterns.some((pattern) => pattern.startsWith("!") && isOne(pattern.slice(1))) && hosts.patterns.some((pattern) => !pattern.startsWith("!") && isOne(pattern));
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
	const { keepaliveSeconds = .5, keepaliveCount = 3 } = options;
	const keepalive = {
		keepaliveInterval: keepaliveSeconds * 1e3,
		keepaliveCountMax: keepaliveCount
	};
	return await withinLimits(task, async (stop) => {
		const socket = await dial(target, name, stop.signal);
		const inTurn = semaphore(5);
		return await authenticate({
			name,
			client: new ssh2.Client(),
			socket,
			over: new AbortController(),
			inTurn
		}, target, {
			...credentials,
			...keepalive
		});
	});
}
function nameOf({ host, port, label }) {
	return label === void 0 ? `${host}:${port}` : `${label} (${host}:${port})`;
}
function credentialsOf({ user, privateKey, agent }, name, parseKey) {
	const agentSocket = agent === true ? process.env.SSH_AUTH_SOCK : void 0;
	if (privateKey === void 0 && agentSocket === void 0) throw new HostError("login", `Cannot log in to ${name}: ${agent === true ? "the environment has no SSH_AUTH_SOCK" : "there is no key"}.`);
	const key = privateKey === void 0 ? void 0 : parseKey(privateKey);
	if (key instanceof Error || key?.isPrivateKey() === false) {
		const why = key instanceof Error ? key.message : "it is a public key";
		throw new HostError("login", `The private key for ${name} cannot be used: ${why}.`);
	}
	return {
		username: user,
		...privateKey === void 0 ? {} : { privateKey },
		...agentSocket === void 0 ? {} : { agent: agentSocket }
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
		throw new HostError("unreachable", `Cannot reach ${name}: ${reasonOf(error)}.`, { cause: error });
	}
}
function authenticate(connection, target, config) {
	const { name, client, socket, over } = connection;
	const known = parseKnownHosts(target.knownHosts);
	const algorithms = algorithmsFor(known, target);
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
				const verdict = checkHostKey(known, target, key);
				refusal = hostKeyError(verdict, key, name);
				return verdict.kind === "known";
			}
		});
	});
}
function hostKeyError(verdict, key, name) {
	const shown = `${name} shows the ${keyType(key)} key ${fingerprint(key)}`;
	switch (verdict.kind) {
		case "known": return;
		case "unknown": return new HostError("host-key", `${shown}, which its known hosts file lacks: compare it on the machine itself.`);
		case "changed": return new HostError("host-key", `${shown}, but its known hosts file has ${verdict.expected.join(" and ")}.`);
		case "revoked": return new HostError("host-key", `${shown}, which its known hosts file revokes.`);
	}
}
/** The `level` of ssh2's error names the stage of the login. */
function loginError(error, name, user) {
	const cause = { cause: error };
	if (error.level === "agent") return new HostError("login", `Cannot log in to ${name} with the agent at SSH_AUTH_SOCK: ${reasonOf(error)}.`, cause);
	if (error.level === "client-authentication") {
		const advice = `add its public half to the authorized_keys of ${user} there`;
		return new HostError("login-refused", `${name} refused the login of ${user} with this key: ${advice}.`, cause);
	}
	if (error.message.includes("no matching host key format")) return new HostError("host-key", `${name} has no key of a type in its known hosts file.`, cause);
	return new HostError("lost", `${name} ended the login: ${reasonOf(error)}.`, cause);
}

// src/system/host/upload.ts
function upload(connection, source, remotePath, mode, { resume = false, ...limits }) {
	const what = `the upload of ${remotePath}`;
	const task = {
		...limits,
		name: connection.name,
		what
	};
	const random = `${remotePath}.${randomUUID()}.part`;
	const way = typeof source === "string" && resume ? {
		partial: `${remotePath}.part`,
		keepsPartial: true,
		send: (sftp, partial, stop) => sendRest(sftp, source, partial, stop)
	} : {
		partial: random,
		keepsPartial: false,
		send: (sftp, partial) => done((callback) => sendAll(sftp, source, partial, callback))
	};
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
	throw new HostError("upload-failed", `Cannot upload ${remotePath}${from} to ${name}: ${reasonOf(error)}.`, { cause: error });
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
	throw new HostError("upload-failed", `${path} was sent to ${remotePath} on ${host.name} twice, and its SHA-256 there is still not ${sha256}.`);
}
async function install(sftp, { partial, keepsPartial, send }, remotePath, mode, stop) {
	const stopped = rejectionOf(stop);
	const broken = new Promise((_, reject) => {
		sftp.on("error", reject);
		sftp.on("close", () => reject(/* @__PURE__ */ new Error("the sftp session was closed")));
	});
	try {
		const steps = async () => {
			await send(sftp, partial, stop);
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

export { HostError, connect$1 as connect, failUpload, follow, isGood, ownFolder, stdoutOf, uploadOverBreaks, withinLimits, withinRun };