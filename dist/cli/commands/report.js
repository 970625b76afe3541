import { runToExit } from "../../system/exit.js";

// src/cli/commands/report.ts
function define(command) {
	command.argument("<dir>", "work directory of a gate or a bisection, or its result.json").option("--json", "print result.json").option("--page", "write the page, its plots and flamegraphs again, and print its path").addHelpText("after", "\nExample:\n  ppsgate report ppsgate-gate-20261120-231655").action(async (path, options) => {
		const exit = {
			...command.optsWithGlobals(),
			endsAtOnce: true
		};
		await runToExit(async () => {
			const { runReport } = await import("./run-report.js");
			return runReport(path, options);
		}, exit);
	});
}

export { define };