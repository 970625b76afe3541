const { createInterface } = globalThis.process.getBuiltinModule("node:readline/promises");

// src/cli/prompt.ts
/** Returns an empty reply at the end of input. */
function askOnTerminal(signal) {
	if (!process.stdin.isTTY || !process.stderr.isTTY) return void 0;
	return async (question) => {
		if (process.stdin.readableEnded) return "";
		using lines = createInterface({
			input: process.stdin,
			output: process.stderr,
			terminal: false
		});
		const ended = new Promise((resolve) => lines.once("close", () => resolve("")));
		return (await Promise.race([lines.question(question, { signal }), ended])).trim();
	};
}

export { askOnTerminal };