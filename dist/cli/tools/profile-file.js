import { ProfileError, readProfile } from "../../analysis/profile/plain.js";
const { createReadStream } = globalThis.process.getBuiltinModule("node:fs");
const { getSystemErrorMessage } = globalThis.process.getBuiltinModule("node:util");

// src/cli/tools/profile-file.ts
/** `-` is standard input. Throws a `ProfileError` for an unreadable or invalid file. */
async function readProfileFile(file, sink) {
	const isStandardInput = file === "-";
	const input = isStandardInput ? process.stdin : createReadStream(file, { highWaterMark: 1048576 });
	const name = isStandardInput ? "standard input" : file;
	return readProfile(shown(piecesOf(input, name), name), name, sink);
}
/** On a terminal, shows progress from the third second on. */
async function* shown(pieces, name) {
	const { stderr } = process;
	let bytes = 0;
	let shownAt = performance.now() + 1e3;
	for await (const piece of pieces) {
		yield piece;
		bytes += piece.length;
		if (!stderr.isTTY || performance.now() - shownAt < 1e3) continue;
		shownAt = performance.now();
		stderr.write(`\r\x1b[2Kreading ${name}: ${Math.round(bytes / 1e6)} MB`);
	}
	if (stderr.isTTY) stderr.write("\r\x1B[2K");
}
async function* piecesOf(input, name) {
	try {
		for await (const piece of input) yield piece;
	} catch (error) {
		if (!(error instanceof Error && "errno" in error && typeof error.errno === "number")) throw error;
		throw new ProfileError(`Cannot read ${name}: ${getSystemErrorMessage(error.errno)}; name a profile.`);
	}
}

export { readProfileFile };