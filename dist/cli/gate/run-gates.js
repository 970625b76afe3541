import { conclusionOfResult, exitCodes, worstConclusion } from "../../model/first-plain.js";
import { combineReporters } from "../../publish/reporters/first.js";
import { printJson } from "../table.js";
import { gatesOf, judgeAll } from "./judge-gate.js";

// src/cli/gate/run-gates.ts
/** Prints each result; returns the exit code of the worst one, or throws its error. */
async function runGates(call) {
	const { options } = call;
	const ended = options.answer ? await (await import("./gate-revision.js")).judgeAndAnswer(call) : await judgeAll(await gatesOf(call), call, () => combineReporters([]));
	const judged = ended.flatMap((one) => one.status === "fulfilled" ? one.value : []);
	if (options.json) {
		const results = judged.map(({ result }) => result);
		const printed = ended.length === 1 ? results[0] : results;
		if (printed !== void 0) printJson(printed);
	} else for (const { result, directory } of judged) {
		const { resultText } = await import("./result-text.js");
		process.stdout.write(resultText(result, directory));
	}
	const failure = ended.find(({ status }) => status === "rejected");
	if (failure?.status === "rejected") throw failure.reason;
	return exitCodes[worstConclusion(judged.map(({ result }) => conclusionOfResult(result)))];
}

export { runGates };