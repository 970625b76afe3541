import { UsageError, fileReasonOf } from "../model/first-plain.js";
const { open } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/config/secret.ts
/** Returns one line of text; throws a `UsageError` with the place but without the content. */
async function readSecret({ what, path, variable }) {
	const secret = (path === void 0 ? process.env[variable ?? ""] ?? "" : await readText(what, path)).replace(/\r?\n$/, "");
	if (/^\P{Cc}+$/u.test(secret)) return secret;
	const where = path === void 0 ? `${variable} in the environment` : `the file ${path}`;
	throw new UsageError(`${what} is missing: ${where} ${secret === "" ? "is empty" : "has more than a line"}; write it there and nothing else.`);
}
const readText = (what, path) => readGuarded(path).catch((error) => {
	if (error instanceof ExposedError) throw new UsageError(`${what} is refused: ${error.message}.`);
	throw new UsageError(`${what} is missing: ${path} cannot be read (${fileReasonOf(error)}).`);
});
/** Reports a secret's file that others can read; the message is a sentence without its full stop. */
var ExposedError = class extends Error {
	name = "ExposedError";
	constructor(path, mode) {
		super(`${path} has the mode ${mode.toString(8)}, by which others than its owner can get at it: run 'chmod 600 ${path}'`);
	}
};
/** Throws an ExposedError if others can read the file, as ssh(1) rejects a key. */
async function readGuarded(path) {
	await using file = await open(path);
	const stat = await file.stat();
	if (isExposed(stat)) throw new ExposedError(path, stat.mode & 511);
	return await file.readFile("utf8");
}
/** Root may let a group read a file installed for a service. */
const isExposed = (stat) => stat.isFile() && (stat.mode & (stat.uid === 0 ? 31 : 63)) !== 0;

export { isExposed, readGuarded, readSecret };