const { pipeline } = globalThis.process.getBuiltinModule("node:stream/promises");

// src/cli/tools/print-chunks.ts
/** Prints text like `printBytes`. */
const printPieces = (pieces) => printBytes(gathered(pieces));
/** Waits for the reader; `ppsgate … | head` may close the pipe early. */
async function printBytes(pieces) {
	try {
		await pipeline(pieces, process.stdout, { end: false });
	} catch (error) {
		if (!(error instanceof Error && "code" in error && error.code === "EPIPE")) throw error;
	}
}
/** Batches lines: single writes would dominate the time. */
function* gathered(pieces) {
	let text = "";
	for (const piece of pieces) {
		text += piece;
		if (text.length < 65536) continue;
		yield Buffer.from(text);
		text = "";
	}
	yield Buffer.from(text);
}

export { printBytes, printPieces };