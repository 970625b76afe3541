import { getState, saveState as saveState$1, setOutput as setOutput$1 } from "../vendor/actions-core.js";
import { exitCodes } from "../model/first-plain.js";
const { inspect } = globalThis.process.getBuiltinModule("node:util");
const { StringDecoder } = globalThis.process.getBuiltinModule("node:string_decoder");

// src/action/log.ts
/** Guards all output of the process. Call it before anything is printed. */
function guardOutput() {
	writeCommand = guard(process.stdout);
	guard(process.stderr);
	process.on("uncaughtException", (error) => {
		process.stderr.write(`${inspect(error)}\n`);
		process.exit(exitCodes.infrastructure);
	});
}
/** Errors and warnings become annotations. */
const log = {
	debug: (message) => command("debug", harmless(message)),
	info: (message) => void process.stdout.write(`${message}\n`),
	warn: (message) => command("warning", harmless(String(message))),
	error: (message) => command("error", harmless(String(message)))
};
const mask = (secret) => command("add-mask", secret);
function setOutput(name, value) {
	requireFile("GITHUB_OUTPUT");
	setOutput$1(name, value);
}
const readState = (name) => getState(name);
function saveState(name, value) {
	requireFile("GITHUB_STATE");
	saveState$1(name, value);
}
/** Without the file, `core` would print a command. */
function requireFile(variable) {
	if (process.env[variable]) return;
	throw new Error(`The runner sets no file in ${variable}: use a runner with node24.`);
}
function command(name, data) {
	const escaped = data.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
	writeCommand(`::${name}::${escaped}\n`);
}
/** Bypasses the guard, once it is installed. */
let writeCommand = (line) => process.stdout.write(line);
/** Passes only complete lines, so that two pieces never form a command. Returns a function that bypasses the guard. */
function guard(stream) {
	const write = stream.write.bind(stream);
	const decoder = new StringDecoder();
	let begun = "";
	stream.write = (chunk, encodingOrDone, last) => {
		const [encoding, done] = typeof encodingOrDone === "string" ? [encodingOrDone, last] : [void 0, encodingOrDone];
		const bytes = typeof chunk === "string" ? Buffer.from(chunk, encoding) : Buffer.from(chunk);
		const text = decoder.write(bytes);
		const end = Math.max(text.lastIndexOf("\n"), text.lastIndexOf("\r")) + 1;
		const lines = end === 0 ? "" : begun + text.slice(0, end);
		begun = end === 0 ? begun + text : text.slice(end);
		return write(harmless(lines), done);
	};
	stream.end = () => {
		throw new Error("Only the end of the process ends what it prints.");
	};
	process.on("exit", () => {
		begun += decoder.end();
		if (begun !== "") write(`${harmless(begun)}\n`);
	});
	return write;
}
/** Inserts a blank into each beginning of a command. */
const harmless = (text) => text.replace(/[^\r\n]+/g, (line) => line.replace(/^[^\p{L}\p{N}\p{P}\p{S}]*:(?=:)/u, "$& ").replace(/#(?=#\[)/g, "# "));

export { guardOutput, log, mask, readState, saveState, setOutput };