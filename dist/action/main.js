import { runToExit } from "../system/exit.js";
import { readInputs } from "./inputs.js";
import { log } from "./log.js";

// src/action/main.ts
/** An error without a verdict becomes an annotation. */
async function runAction() {
	await runToExit(async (signal) => {
		const inputs = readInputs(process.env);
		const [{ openJob }, run] = await Promise.all([import("./open-job.js"), jobs[inputs.command]()]);
		return run(await openJob(inputs), signal);
	}, { notify: log.error });
}
/** Imports only the modules of the job. */
const jobs = {
	admit: async () => (await import("./run-admit.js")).runAdmit,
	accept: async () => (await import("./run-accept.js")).runAccept,
	gate: async () => (await import("./run-gate.js")).runGate,
	bisect: async () => (await import("./run-bisect.js")).runBisect,
	publish: async () => {
		const { runPublish } = await import("./run-publish.js");
		return (context) => runPublish(context);
	}
};

export { runAction };