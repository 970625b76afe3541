import { runToExit } from "../../system/exit.js";

// src/cli/commands/testbeds-log.ts
function define(command) {
	command.argument("[name]", "one testbed alone").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--json", "print it as JSON").addHelpText("after", "\nExample:\n  ppsgate testbeds log hp-t540 | tail").action(async (name, options) => {
		await runToExit(async () => {
			const { showLog } = await import("./run-testbeds-log.js");
			return showLog(name, options);
		}, command.optsWithGlobals());
	});
}

export { define };