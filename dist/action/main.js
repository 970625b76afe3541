import { runToExit } from "../exit.js";
import { readInputs } from "./inputs.js";
import { log } from "./log.js";

// src/action/main.ts
/** Ends the process with the verdict's exit code; what kept it from a verdict becomes an annotation. */
async function runAction() {
	await runToExit(async (signal) => {
		const inputs = readInputs(process.env);
		const { runCommand } = await import("./run-command.js");
		return runCommand(inputs, signal);
	}, { tell: log.error });
}

export { runAction };