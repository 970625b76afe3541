import { openJob } from "./request.js";
import { runAdmit } from "./run-admit.js";

// src/action/run-command.ts
async function runCommand(inputs, signal) {
	const context = await openJob(inputs);
	switch (inputs.command) {
		case "admit": return runAdmit(context);
		case "accept": {
			const { runAccept } = await import("./run-accept.js");
			return runAccept(context);
		}
		case "gate": {
			const { runGate } = await import("./run-gate.js");
			return runGate(context, signal);
		}
		case "bisect": {
			const { runBisect } = await import("./run-bisect.js");
			return runBisect(context, signal);
		}
		case "publish": {
			const { runPublish } = await import("./run-publish.js");
			return runPublish(context);
		}
	}
}

export { runCommand };