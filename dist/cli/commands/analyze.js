import { runToExit } from "../../system/exit.js";

// src/cli/commands/analyze.ts
function define(command) {
	command.argument("<dir>", "work directory of a gate, or one with bench.IMAGE[.CONFIG][.FAMILY].RUN.receiver logs of pkt-gen").option("--netbenches-trim", "use medians, as in the .pps files of the netbenches archive").option("--base <image>", "set to compare the others with (default: the first)").option("--margin <percent>", "the loss that matters", "2%").option("--false-alarms <percent>", "false alarms over all sets, if nothing was lost", "1%").option("--power <percent>", "share of losses of the margin to detect", "95%").option("--json", "print the numbers as JSON").addHelpText("after", `
Example:
  ppsgate analyze --netbenches-trim results/fbsd12-r325006-D12685

Exits as gate does: 0 on a pass, 1 on a regression, 2 on wrong usage, 3 when
undecided.`).action(async (directory, options) => {
		const exit = {
			...command.optsWithGlobals(),
			endsAtOnce: true
		};
		await runToExit(async () => {
			const { runAnalyze } = await import("./run-analyze.js");
			return runAnalyze(directory, options);
		}, exit);
	});
}

export { define };