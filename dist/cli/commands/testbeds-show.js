import { runToExit } from "../../system/exit.js";
import { overviewDetails } from "./overview-details.js";

// src/cli/commands/testbeds-show.ts
function define(command) {
	command.option("-c, --config <file>", "configuration", "ppsgate.yml").option("-w, --watch", "show it again at each change, until Ctrl-C").option("--json", "print it as JSON; with --watch, one line per change").addHelpText("after", overviewDetails).action(async (options) => {
		await runToExit(async (signal) => {
			const { showTestbeds } = await import("./run-testbeds-show.js");
			return showTestbeds(options, signal);
		}, command.optsWithGlobals());
	});
}

export { define };