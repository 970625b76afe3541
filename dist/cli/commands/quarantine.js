import { runToExit } from "../../system/exit.js";

// src/cli/commands/quarantine.ts
function define(command) {
	command.argument("<name>", "testbed of the configuration").option("--reason <text>", "reason, visible to all").option("--lift", "lift the quarantine").option("-c, --config <file>", "configuration", "ppsgate.yml").addHelpText("after", `
Examples:
  ppsgate quarantine hp-t540 --reason "port 1 loses its link"
  ppsgate quarantine hp-t540 --lift

Exits 0 even if there was none to lift, 2 on wrong usage, and 4 if the store
cannot be used.`).action(async (name, options) => {
		await runToExit(async () => {
			const { runQuarantine } = await import("./run-quarantine.js");
			return runQuarantine(name, options);
		}, command.optsWithGlobals());
	});
}

export { define };