import { runToExit } from "../../system/exit.js";

// src/cli/commands/testbeds-replay.ts
function define(command) {
	command.argument("<file>", "recording written by `--record`").option("--json", "print the findings as JSON").addHelpText("after", `
Example:
  ppsgate testbeds replay hp-t540.rec.gz

Contacts no machine. Checks and gates record all commands and replies with
--record FILE; to read a recording: zcat FILE | less

Exits 0 if all replies are understood as before, 2 for a file that is no
recording, and 4 if one is not understood.`).action(async (file, options) => {
		const exit = {
			...command.optsWithGlobals(),
			endsAtOnce: true
		};
		await runToExit(async () => {
			const { replayFile } = await import("./run-testbeds-replay.js");
			return replayFile(file, options);
		}, exit);
	});
}

export { define };