import { conclusionOfError, exitCodes } from "../model/first-plain.js";

// src/system/exit.ts
/** The first Ctrl-C or SIGTERM aborts `work`'s signal, so that it can clean up. A second one ends the process. */
async function runToExit(work, { debug = false, endsAtOnce = false, notify = writeToStderr, closingLines = [] } = {}) {
	const cancel = new AbortController();
	const onSignal = () => {
		if (cancel.signal.aborted) process.exit(exitCodes.cancelled);
		process.stderr.write("\nppsgate: cancelled, cleaning up …\n");
		cancel.abort(/* @__PURE__ */ new Error("cancelled"));
	};
	if (!endsAtOnce) process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
	try {
		process.exitCode = await work(cancel.signal);
	} catch (error) {
		process.exitCode = cancel.signal.aborted ? exitCodes.cancelled : exitCodes[conclusionOfError(error)];
		if (!cancel.signal.aborted) notify(error instanceof Error ? debug && error.stack || error.message : String(error));
		for (const sentence of closingLines) notify(sentence);
	} finally {
		process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
	}
}
const writeToStderr = (sentence) => void process.stderr.write(`ppsgate: ${sentence}\n`);

export { runToExit };