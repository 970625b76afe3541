import { conclusionOfResult, exitCodes, worstConclusion } from "../../model/plain.js";
import { combineReporters } from "../../publish/reporters.js";
import { earlierGatesText } from "../../report/plain.js";
import { headline, nextStep, terminalRows } from "../../report.js";
import { columns, hasColours, printJson } from "../init/plain.js";
import { gatesOf, judgeAll } from "./judge-gate.js";
import { styleText } from "node:util";

// src/cli/commands/run-gates.ts
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
		const lines = [
			...verdictRows(result),
			whatNow(result),
			earlierGatesText(result),
			headline(result),
			`Report: ${directory}/report/index.html`
		];
		process.stdout.write(`${lines.filter((line) => line !== void 0).join("\n")}\n`);
	}
	const failure = ended.find(({ status }) => status === "rejected");
	if (failure?.status === "rejected") throw failure.reason;
	return exitCodes[worstConclusion(judged.map(({ result }) => conclusionOfResult(result)))];
}
/** Undefined where a verdict says enough. */
function whatNow(result) {
	const { outcome } = result;
	return outcome.kind === "judged" && outcome.verdict !== "invalid" || outcome.kind === "unchanged" ? void 0 : `What now: ${nextStep(result)}`;
}
/** Draws each cell's verdict and change, coloured at a terminal. */
function verdictRows(result) {
	const { heads, rows } = terminalRows(result);
	if (rows.length === 0) return [];
	const isColoured = hasColours(process.stdout);
	const texts = [heads, ...rows.map((row) => row.texts)];
	return columns(texts, (text, row, column) => {
		const verdict = rows[row - 1]?.verdict;
		if (!isColoured || column !== 1 || verdict === void 0) return text;
		return styleText(verdictColours[verdict], text, { validateStream: false });
	});
}
const verdictColours = {
	regression: "red",
	improvement: "green",
	"no-regression": "green",
	inconclusive: "yellow",
	invalid: "gray"
};

export { runGates };