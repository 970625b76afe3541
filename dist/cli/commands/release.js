import { runToExit } from "../../system/exit.js";
import { askOnTerminal } from "./prompt.js";

// src/cli/commands/release.ts
function define(command) {
	command.argument("[name]", "testbed of the configuration").option("--force", "take it from its holder, and so end the measurement").option("--by <name>", "your name, for the log (default: prompts for it)").option("--yes", "do not ask").option("-d, --directory <dir>", "work directory of an ended gate: release its testbed").option("-c, --config <file>", "configuration", "ppsgate.yml").addHelpText("after", `
Examples:
  ppsgate release hp-t540 --force
  ppsgate release --directory ppsgate-gate-20261120-231655

Exits 0 even if it was free, 2 on wrong usage, and 4 if the store cannot be
used.`).action(async (name, options) => {
		await runToExit(async (signal) => {
			const { runRelease } = await import("./run-release.js");
			return runRelease(name, options, askOnTerminal(signal));
		}, command.optsWithGlobals());
	});
}

export { define };