import { runToExit } from "../../system/exit.js";

// src/cli/commands/testbeds-check.ts
function define(command) {
	command.argument("<name>", "testbed of the configuration").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--no-traffic", "send no packets").option("--power", "turn the DUT off and on, and wait until it is up again").option("--record <file>", "record all commands and replies of the machines, for replay").option("--json", "print the diagnostics as JSON, at the end").addHelpText("after", `
Example:
  ppsgate testbeds check hp-t540 --no-traffic

Exits 0 if all is well, 2 for an unknown name, and 4 if something is wrong.`).action(async (name, options) => {
		await runToExit(async (signal) => {
			const { checkTestbed } = await import("./run-testbeds-check.js");
			return checkTestbed(name, options, signal);
		}, command.optsWithGlobals());
	});
}

export { define };