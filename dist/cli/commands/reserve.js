import { runToExit } from "../../system/exit.js";

// src/cli/commands/reserve.ts
function define(reserve) {
	reserve.argument("<selector>", "name, or required properties like \"mellanox and 40G\"").argument("[command...]", "after two dashes").option("--purpose <text>", "purpose, visible to others", "by hand").option("--priority <name>", "priority in the queue: release, patch or rerun", "patch").option("-c, --config <file>", "configuration", "ppsgate.yml").addHelpText("after", details).action(async (selector, command, options) => {
		await runToExit(async (signal) => {
			const { runReserve } = await import("./run-reserve.js");
			return runReserve(selector, command, options, signal);
		}, reserve.optsWithGlobals());
	});
}
const details = `
Examples:
  ppsgate reserve hp-t540 --purpose "new cables" -- ssh root@192.0.2.11
  ppsgate reserve "chelsio and 10G" -- \\
    sh -c 'ssh "root@$PPSGATE_DUT" pmcstat -T'

The command has these in its environment:
  PPSGATE_TESTBED  name of the testbed
  PPSGATE_DUT      host of its DUT; not set for the embedded lab
  PPSGATE_TOKEN    number of the reservation: higher than of any before

After any end of the command, the testbed's base is restored, and the testbed is
released. If the testbed is lost, the command gets SIGTERM, and SIGKILL 10 s
later.

Exits with the code of the command, 4 if no testbed was reserved or it was lost,
and 2 on wrong usage.`;

export { define };