import { n as readProfile, r as ProfileError } from "./read.js";
import { createReadStream } from "node:fs";
import { getSystemErrorMessage } from "node:util";
import { addAbortSignal } from "node:stream";

// src/commands/profile-file.ts
/** `-` is standard input. Throws a `ProfileError` where the file cannot be read, or is no profile. */
async function readProfileFile(file, signal) {
	const isStandardInput = file === "-";
	const input = isStandardInput ? process.stdin : createReadStream(file, { highWaterMark: 1048576 });
	const name = isStandardInput ? "standard input" : file;
	return readProfile(piecesOf(addAbortSignal(signal, input), name), name);
}
async function* piecesOf(input, name) {
	try {
		for await (const piece of input) yield piece;
	} catch (error) {
		if (!(error instanceof Error && "errno" in error && typeof error.errno === "number")) throw error;
		throw new ProfileError(`Cannot read ${name}: ${getSystemErrorMessage(error.errno)}; name a profile.`);
	}
}

export { readProfileFile as t };