import { runToExit } from "../../system/exit.js";

// src/cli/commands/testbeds-list.ts
function define(command) {
	command.option("-c, --config <file>", "configuration", "ppsgate.yml").option("--json", "print them as JSON").addHelpText("after", "\nExample:\n  ppsgate testbeds list").action(async (options) => {
		await runToExit(async () => {
			const { listTestbeds } = await import("./run-testbeds-list.js");
			return listTestbeds(options);
		}, command.optsWithGlobals());
	});
}

export { define };