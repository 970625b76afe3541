import { namingStyles, parameter } from "../../config/parameters.js";
import { runToExit } from "../../system/exit.js";

// src/cli/commands/plan.ts
const planOptions = [
	...[
		"patch",
		"repository",
		"config",
		"testbed",
		"each",
		"scenarios",
		"families"
	],
	...[
		"metric",
		"margin",
		"falseAlarms",
		"power",
		"design",
		"maxRuns",
		"profile"
	],
	...[
		"measureAnyway",
		"earlier",
		"stopAtFirst"
	]
];
function define(command) {
	for (const name of planOptions) {
		const { flags = namingStyles.flag(name), value, help = "", default: usual } = parameter(name).option ?? {};
		command.option(value === void 0 ? flags : `${flags} <${value}>`, help, usual);
	}
	command.option("--json", "print the estimate as JSON, in seconds").addHelpText("after", `
Example:
  ppsgate plan --testbed chelsio --scenarios forwarding --margin 1%

Accepts the options of \`ppsgate gate\` that change its duration. Reserves
nothing, and contacts no machine. Estimates minutes from earlier gates on the
testbed, and runs from the noise of its history. With --patch it also lists
testbeds that need no measurement, as the patch changes nothing installed there.`).action(async (options) => {
		await runToExit(async (signal) => {
			const { plan } = await import("./run-plan.js");
			return plan(options, signal);
		}, command.optsWithGlobals());
	});
}

export { define };