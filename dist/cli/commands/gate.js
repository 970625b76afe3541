import { addGateOptions } from "./gate-options.js";

// src/cli/commands/gate.ts
function define(command) {
	addGateOptions(command, () => true);
	command.addHelpText("after", `
Examples:
  ppsgate gate
  ppsgate gate --patch main..my-branch --scenarios forwarding --margin 2%

Without --patch it judges your changes since the main branch, committed or not.

Exits 0 on a pass, 1 if the patch is at fault, 2 on wrong usage, 3 if undecided,
and 4 if the lab failed.`).action(async (options) => {
		const { runGate } = await import("./run-gate.js");
		await runGate(options, command.optsWithGlobals());
	});
}

export { define };