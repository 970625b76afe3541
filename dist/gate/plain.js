import { UsageError, reasonOf } from "../model/first-plain.js";
import { giveNew } from "../system/give-to-caller.js";
import { HostError, stdoutOf } from "../system/host/first-plain.js";
import { commandText } from "../system/shell.js";
const { closeSync, openSync, writeSync } = globalThis.process.getBuiltinModule("node:fs");
const { StringDecoder } = globalThis.process.getBuiltinModule("node:string_decoder");
const { constants: constants$1, crc32, deflateRawSync } = globalThis.process.getBuiltinModule("node:zlib");
const { readFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/gate/flight-log.ts
/**
* Creates the log of `--record FILE`; throws a UsageError if the file exists or cannot be written. Each entry is on
* disk before anything else happens, so that a killed process leaves all of them.
*/
async function openFlightLog(path, config, now = () => Date.now() / 1e3, report = (sentence) => void process.stderr.write(`${sentence}\n`)) {
	const mask = maskFor(await secretsOf(config));
	const log = new Entries(gzipLogAt(path), mask, now);
	await giveNew(path);
	return {
		wrap: (deps) => ({
			...deps,
			connect: async (machine, label, options) => {
				const name = `${label} (${machine.host}:${machine.port})`;
				return loggedHost(await log.during(name, ": log in", () => deps.connect(machine, label, options)), log);
			},
			openConsole: async (name, console, onOutput) => {
				const lines = new ConsoleLines((text) => log.append({
					at: now(),
					console: name,
					text
				}));
				const opened = await deps.openConsole(name, console, (chunk) => {
					lines.add(chunk);
					onOutput(chunk);
				});
				opened.ended.then(() => lines.end());
				return {
					...opened,
					close: () => opened.close().finally(() => lines.end())
				};
			}
		}),
		[Symbol.dispose]() {
			log.close();
			report(`${path} is written. Read it before you send it, as it names your machines: zcat ${path} | less`);
		}
	};
}
function gzipLogAt(path) {
	try {
		return new GzipLog(path);
	} catch (error) {
		throw new UsageError(`--record: ${path} cannot be written (${reasonOf(error)}); name a file that does not exist yet.`);
	}
}
/** Limit of a whole log, before compression: it ends there. */
const maxLogBytes = 192 * 1024 ** 2;
var Entries = class {
	#file;
	#mask;
	#now;
	#bytes = 0;
	#isOver = false;
	#lastId = 0;
	constructor(file, mask, now) {
		this.#file = file;
		this.#mask = mask;
		this.#now = now;
	}
	append(entry) {
		const line = `${JSON.stringify(entry, (_, value) => typeof value === "string" ? this.#mask(value) : value)}\n`;
		this.#bytes += line.length;
		if (this.#isOver || this.#bytes > maxLogBytes) return;
		try {
			this.#file.append(line);
		} catch (error) {
			this.#isOver = true;
			process.stderr.write(`warning: the log of --record ends here: ${reasonOf(error)}\n`);
		}
	}
	/** Returns the function that logs the end. */
	begin(host, command) {
		this.#lastId += 1;
		const id = this.#lastId;
		this.append({
			at: this.#now(),
			id,
			host,
			command
		});
		return (outcome) => this.append({
			at: this.#now(),
			id,
			...outcome
		});
	}
	async during(host, command, work) {
		const end = this.begin(host, command);
		try {
			const result = await work();
			end({
				kind: "exited",
				code: 0,
				stdout: "",
				stderr: ""
			});
			return result;
		} catch (error) {
			end(failureOf(error));
			throw error;
		}
	}
	close() {
		this.#isOver = true;
		this.#file.close();
	}
};
function failureOf(error, output = {
	stdout: "",
	stderr: ""
}) {
	return {
		kind: "failed",
		failure: error instanceof HostError ? error.kind : String(error?.name),
		message: reasonOf(error),
		...output
	};
}
function loggedHost(host, log) {
	const run = async (command, options = {}) => {
		const end = log.begin(host.name, commandText(options.shownAs ?? command));
		const { tapped, output } = tap(options);
		try {
			const outcome = await host.run(command, tapped);
			end({
				...outcome,
				...output(outcome)
			});
			return outcome;
		} catch (error) {
			end(failureOf(error, output()));
			throw error;
		}
	};
	return {
		...host,
		run,
		output: async (command, options) => stdoutOf(await run(command, options), host.name, command),
		upload: (source, path, mode, options) => log.during(host.name, `: upload ${path}`, () => host.upload(source, path, mode, options))
	};
}
/** Limit per stream of a command: exceeds the graph of a profile. */
const maxOutputBytes = 16 * 1024 ** 2;
/** Copies the streams that the caller follows as they arrive; the others come with the outcome. */
function tap(options) {
	const copies = {
		stdout: [],
		stderr: []
	};
	const copying = (copy, receive) => {
		let bytes = 0;
		return (chunk) => {
			bytes += chunk.byteLength;
			if (bytes <= maxOutputBytes) copy.push(chunk);
			receive(chunk);
		};
	};
	const { onStdout, onStderr } = options;
	const textOf = (stream, rest = "") => {
		const text = Buffer.concat(copies[stream]).toString() + rest;
		return text.includes("\0") ? `(binary, ${text.length} characters)` : text;
	};
	return {
		tapped: {
			...options,
			...onStdout !== void 0 && { onStdout: copying(copies.stdout, onStdout) },
			...onStderr !== void 0 && { onStderr: copying(copies.stderr, onStderr) }
		},
		output: (rest) => ({
			stdout: textOf("stdout", rest?.stdout),
			stderr: textOf("stderr", rest?.stderr)
		})
	};
}
/** Passes on whole lines, as half a line may end in half a secret. */
var ConsoleLines = class {
	#decoder = new StringDecoder("utf8");
	#receive;
	#pending = "";
	constructor(receive) {
		this.#receive = receive;
	}
	add(chunk) {
		this.#pending += this.#decoder.write(Buffer.from(chunk));
		const end = this.#pending.lastIndexOf("\n") + 1;
		if (end > 0) this.#receive(this.#pending.slice(0, end));
		this.#pending = this.#pending.slice(end);
		if (this.#pending.length > maxLineLength) this.end();
	}
	end() {
		if (this.#pending !== "") this.#receive(this.#pending);
		this.#pending = "";
	}
};
const maxLineLength = 65536;
/** Reads the files that the configuration names for secrets, skipping unreadable ones, and the environment. */
async function secretsOf(config) {
	const paths = [];
	const secrets = Object.entries(process.env).flatMap(([name, value = ""]) => {
		return /pass|secret|token|key|auth|cred|cookie/i.test(name) && !/^(?:[./]|https?:|true$|false$)/.test(value) ? [value] : [];
	});
	const search = (key, value, isOfCommand) => {
		if (Array.isArray(value) && isOfCommand) secrets.push(...secretWords(value.map(String)));
		else if (typeof value === "object" && value !== null) {
			const isCommand = "kind" in value && value.kind === "command";
			for (const [name, one] of Object.entries(value)) search(name, one, isCommand);
		} else if (typeof value === "string" && /pass(?:word|phrase)|secret|token|privateKey|community/i.test(key)) (key.endsWith("Path") ? paths : secrets).push(value);
	};
	search("", config, false);
	const files = await Promise.all([...new Set(paths)].map((path) => readFile(path, "utf8").catch(() => "")));
	return [...secrets, ...files];
}
/** Arguments of a program that may be passwords or, after -c, a community of SNMP; plain words occur everywhere. */
const secretWords = (words) => words.filter((word, index) => index > 0 && (words[index - 1] === "-c" || !/^(?:[a-z]+|-.*|\/.*)$/.test(word)));
/** Shorter secrets occur in ordinary words. */
const shortestSecret = 5;
function maskFor(secrets) {
	const forms = secrets.flatMap((secret) => [secret.trim(), ...secret.split(/\r?\n/).map((line) => line.trim())]).filter((line) => line.length >= shortestSecret && !/^-----.*-----$/.test(line)).flatMap(formsOf);
	const ordered = [...new Set(forms)].sort((one, other) => other.length - one.length);
	return (text) => ordered.reduce((masked, form) => masked.replaceAll(form, "<secret>"), text);
}
/** Returns a secret plain, and quoted and encoded as in a command. */
function formsOf(secret) {
	const bytes = Buffer.from(secret);
	const hex = bytes.toString("hex");
	const percent = encodeURIComponent(secret.toWellFormed());
	const inner = [
		0,
		1,
		2
	].map((offset) => {
		return Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64").slice(Math.ceil(8 * offset / 6), Math.floor(8 * (offset + bytes.length) / 6));
	});
	return [
		...[
			secret,
			JSON.stringify(secret).slice(1, -1),
			secret.replaceAll("'", `'\\''`)
		],
		...[
			hex,
			hex.toUpperCase(),
			percent,
			percent.replace(/%../g, (code) => code.toLowerCase())
		],
		...inner.flatMap((form) => [form, form.replaceAll("+", "-").replaceAll("/", "_")])
	];
}
/** RFC 1952: the deflate method, no name, no time, Unix. */
const header = Buffer.from([
	31,
	139,
	8,
	0,
	0,
	0,
	0,
	0,
	0,
	3
]);
/**
* Writes one stream of deflate, whose blocks refer to earlier texts: with a member for each text, logs were four to
* five times as large. The next text replaces the trailer in one write, so that a killed process leaves all earlier
* texts in a complete file.
*/
var GzipLog = class {
	#file;
	/** Offset of the trailer. */
	#end = 0;
	#window = Buffer.alloc(0);
	#sum = 0;
	#bytes = 0;
	/** Throws if the file exists or cannot be written. */
	constructor(path) {
		this.#file = openSync(path, "wx", 384);
		this.#write(header);
	}
	append(text) {
		const bytes = Buffer.from(text);
		const block = deflateRawSync(bytes, {
			level: constants$1.Z_BEST_COMPRESSION,
			memLevel: constants$1.Z_MAX_MEMLEVEL,
			finishFlush: constants$1.Z_SYNC_FLUSH,
			...this.#window.length > 0 && { dictionary: this.#window }
		});
		this.#window = Buffer.concat([this.#window, bytes]).subarray(-32768);
		this.#sum = crc32(bytes, this.#sum);
		this.#bytes += bytes.length;
		this.#write(block);
	}
	close() {
		closeSync(this.#file);
	}
	#write(piece) {
		const whole = Buffer.concat([piece, this.#trailer()]);
		for (let done = 0; done < whole.length;) done += writeSync(this.#file, whole, done, whole.length - done, this.#end + done);
		this.#end += piece.length;
	}
	/** Returns an empty last block, the checksum and the size. */
	#trailer() {
		const trailer = Buffer.alloc(10);
		trailer.writeUInt16LE(3, 0);
		trailer.writeUInt32LE(this.#sum, 2);
		trailer.writeUInt32LE(this.#bytes % 2 ** 32, 6);
		return trailer;
	}
};

export { maskFor, openFlightLog };