import { selfTestParts } from "../../gate/self-test/plain.js";
import { runToExit } from "../../system/exit.js";

// src/cli/commands/testbeds-self-test.ts
function define(command) {
	command.argument("<name>", "testbed of the configuration").option("-c, --config <file>", "configuration", "ppsgate.yml").option("--yes", "cause the accidents without asking").option("--skip <parts>", `parts to leave out, separated by commas: ${selfTestParts.join(", ")}`).option("--base-kernel <file>", "archive of the kernel to try, for nanobsd an image (default: the builder's, or the DUT's own)").option("--resume <dir>", "continue an interrupted self-test").option("--record <file>", "record all commands and replies of the machines").option("--json", "print the diagnostics as JSON, at the end").addHelpText("after", `
Boots a kernel under another name, installs each scenario, measures each cell,
takes a profile, makes the DUT panic and hang (each only after asking), measures
the noise of six boots, and undoes all of it.

Example:
  ppsgate testbeds self-test hp-t540
  ppsgate testbeds self-test hp-t540 --yes --skip hang,noise

Exits 0 if all is well, 2 on wrong usage, and 4 if something is wrong.`).action(async (name, options) => {
		const closingLines = [];
		const work = async (signal) => {
			const { selfTestOf } = await import("./run-testbeds-self-test.js");
			return selfTestOf(name, options, signal, closingLines);
		};
		await runToExit(work, {
			...command.optsWithGlobals(),
			closingLines
		});
	});
}

export { define };