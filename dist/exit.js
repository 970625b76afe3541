// src/exit.ts
const exitCodes = {
	pass: 0,
	patchAtFault: 1,
	usage: 2,
	undecided: 3,
	infrastructure: 4,
	cancelled: 130
};
/** 0 where the patch passes, 1 where it is at fault, 3 where nobody can say, 4 where the lab kept it from being said. */
function exitCodeOfResult({ outcome }) {
	if (outcome.kind === "judged") return exitCodeOfVerdict(outcome.verdict);
	return outcome.kind === "out-of-disk" ? exitCodes.infrastructure : exitCodes.patchAtFault;
}
/** Of several gates of one patch: the patch's own fault weighs most, a pass least. */
const worstExitCode = (codes) => byWeight.find((code) => codes.includes(code)) ?? exitCodes.pass;
const byWeight = [
	exitCodes.patchAtFault,
	exitCodes.infrastructure,
	exitCodes.undecided
];
function exitCodeOfVerdict(verdict) {
	switch (verdict) {
		case "no-regression":
		case "improvement": return exitCodes.pass;
		case "regression": return exitCodes.patchAtFault;
		case "inconclusive":
		case "invalid": return exitCodes.undecided;
	}
}
const usageErrors = /* @__PURE__ */ new Set([
	"ConfigError",
	"UsageError",
	"PlanError",
	"RepositoryError",
	"ResultError",
	"JournalError",
	"HistoryError",
	"BenchesError",
	"DataDirectoryError",
	"RevisionError",
	"ProfileError"
]);
function exitCodeOfError(error) {
	const name = error instanceof Error ? error.name : "";
	if (name === "PatchError") return exitCodes.patchAtFault;
	return usageErrors.has(name) ? exitCodes.usage : exitCodes.infrastructure;
}
/**
* Does a command's work and ends the program as it went: `work` gets a signal that a first Ctrl-C or
* SIGTERM aborts, so that it can clean up; a second one ends it at once.
*/
async function runToExit(work, { debug = false, tell = sayOnStderr } = {}) {
	const cancel = new AbortController();
	const onSignal = () => {
		if (cancel.signal.aborted) process.exit(exitCodes.cancelled);
		process.stderr.write("\nppsgate: cancelled, cleaning up …\n");
		cancel.abort(/* @__PURE__ */ new Error("cancelled"));
	};
	process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
	try {
		process.exitCode = await work(cancel.signal);
	} catch (error) {
		process.exitCode = cancel.signal.aborted ? exitCodes.cancelled : exitCodeOfError(error);
		if (!cancel.signal.aborted) tell(told(error, debug));
	} finally {
		process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
	}
}
const sayOnStderr = (sentence) => void process.stderr.write(`ppsgate: ${sentence}\n`);
function told(error, debug) {
	if (!(error instanceof Error)) return String(error);
	return debug ? error.stack ?? error.message : error.message;
}

export { exitCodeOfError, exitCodeOfResult, exitCodeOfVerdict, exitCodes, runToExit, worstExitCode };