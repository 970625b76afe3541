import { applyOverrides, loadConfig } from "../../config/first.js";
import { namingStyles } from "../../config/parameters.js";
import { WorkDirectory } from "../../gate/first-plain.js";
import { configPath } from "../find-config.js";
import { stderrLog } from "./gate-call.js";
import { runGates } from "./run-gates.js";

// src/cli/gate/gate.ts
/** Returns the exit code of the worst verdict; `closingLines` say after an error how to resume. */
async function run(options, { signal, closingLines }) {
	const path = configPath(options.config);
	const optionName = process.env.PPSGATE_WORDS === void 0 ? namingStyles.flag : namingStyles.step;
	const config = applyOverrides(await loadConfig(path), options, optionName);
	const { record } = options;
	using flightLog = record === void 0 ? void 0 : await (await import("../../gate/flight-log.js")).openFlightLog(record, config);
	await using work = new WorkDirectory("ppsgate-gate", stderrLog.warn);
	return await runGates({
		config,
		options,
		optionName,
		signal,
		work,
		closingLines,
		flightLog
	});
}

export { run };