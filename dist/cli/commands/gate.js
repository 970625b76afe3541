import { applyOverrides, loadConfig, namingStyles } from "../../config.js";
import { recordTo } from "../../gate/recording.js";
import { WorkDirectory } from "../../gate.js";
import { runToExit } from "../../system/exit.js";
import { stderrLog } from "./judge-gate.js";
import { configPath } from "./named-testbed.js";
import { addGateOptions, runGates } from "./run-gates.js";

// src/cli/commands/gate.ts
function define(command) {
	addGateOptions(command, () => true);
	command.addHelpText("after", `
Examples:
  ppsgate gate
  ppsgate gate --patch main..my-branch --scenarios forwarding --margin 2%

Without --patch it judges your changes since the main branch, committed or not.

Exits 0 on a pass, 1 if the patch is at fault, 2 on wrong usage, 3 if undecided,
and 4 if the lab failed.`).action(async (options) => {
		const lastWords = [];
		await runToExit((signal) => runGate(options, signal, lastWords), {
			...command.optsWithGlobals(),
			lastWords
		});
	});
}
/** Returns the exit code of the worst verdict; on errors throws, and puts into `lastWords` how to resume. */
async function runGate(options, signal, lastWords) {
	const path = configPath(options.config);
	const called = process.env.PPSGATE_WORDS === void 0 ? namingStyles.flag : namingStyles.step;
	const config = applyOverrides(await loadConfig(path), options, called);
	const { record } = options;
	using recorder = record === void 0 ? void 0 : await recordTo(record, "gate", Object.values(config.testbeds));
	await using work = new WorkDirectory("ppsgate-gate", stderrLog.warn);
	return await runGates({
		config,
		options,
		called,
		signal,
		work,
		lastWords,
		recorder
	});
}

export { define };