import { runToExit } from "../../system/exit.js";

// src/cli/commands/testbeds-health.ts
function define(command) {
	command.argument("[names...]", "testbeds of the configuration (default: all)").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--json", "print the diagnostics as JSON, at the end").addHelpText("after", details).action(async (names, options) => {
		await runToExit(async (signal) => {
			const { checkHealth } = await import("./run-testbeds-health.js");
			return checkHealth(names, options, signal);
		}, command.optsWithGlobals());
	});
}
const details = `
Example:
  ppsgate testbeds health hp-t540 --json

Reserves each testbed for its check, and skips one that is held or waited for.
Puts a faulty testbed into quarantine. Lifts a quarantine if all is well and
ppsgate itself had set it; one set by a person stays.

As JSON:
  [{ "testbed", "kind": "well" | "wrong", "diagnostics": […],
     "quarantine": { "kind": "none" | "lifted" | "stands" } }]
Or "kind": "in-use" with "why".

Exits 0 if every checked testbed is well, 2 for an unknown name, and 4 if
something is wrong.`;

export { define };