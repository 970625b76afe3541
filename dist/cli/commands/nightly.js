import { runToExit } from "../../system/exit.js";
import { usualConfig } from "./find-config.js";

// src/cli/commands/nightly.ts
function define(command) {
	command.option("--commit <name>", "commit to measure against itself", "HEAD").option("-r, --repository <dir>", "git repository with the commit", ".").option("-c, --config <file>", "configuration", usualConfig).option("-t, --testbed <selector>", "name, or required properties like \"mellanox and 40G\"").option("--data <dir>", "folder of nightly runs and results (default: as configured)").option("--priority <name>", "priority in the queue: release, patch or rerun", "rerun").option("-d, --directory <dir>", "work directory (default: a new ppsgate-nightly-…)").option("--resume <dir>", "continue an interrupted one in its work directory").option("--json", "print the result of the A/A run as JSON").addHelpText("after", details).action(async (options) => {
		const closingLines = [];
		const exit = {
			...command.optsWithGlobals(),
			closingLines
		};
		await runToExit(async (signal) => {
			const { runNightly } = await import("./run-nightly.js");
			return runNightly(options, signal, closingLines);
		}, exit);
	});
}
const details = `
Cells that differ from earlier nightly runs are measured again at once. If a
change lasts, a gate compares its last good commit with its first bad one; with
\`trend: { bisect: true }\` in ppsgate.yml, a confirmed change is bisected.

Example:
  ppsgate nightly --commit origin/main --data /srv/www/ppsgate

Exits 0 if it was measured, 2 on wrong usage, and 4 if the lab failed.`;

export { define };