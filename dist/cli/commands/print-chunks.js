import { pipeline } from "node:stream/promises";

// src/cli/commands/print-chunks.ts
/** As fast as the reader takes them; `ppsgate … | head` closes the pipe when it has seen enough. */
async function printPieces(pieces) {
	try {
		await pipeline(gathered(pieces), process.stdout, { end: false });
	} catch (error) {
		if (!(error instanceof Error && "code" in error && error.code === "EPIPE")) throw error;
	}
}
/** A write for each line would take longer than making the lines. */
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

export { printPieces };