import { isOfGate, namingStyles, parameter, parametersThat } from "../../config.js";
import { conclusionOfResult, exitCodes, worstConclusion } from "../../model.js";
import { combineReporters } from "../../publish/reporters.js";
import { earlierGatesText, headline, terminalRows } from "../../report.js";
import { columns } from "./columns.js";
import { judgeAndAnswer } from "./gate-revision.js";
import { gatesOf, judgeAll } from "./judge-gate.js";
import { hasColours, printJson } from "./table.js";
import { styleText } from "node:util";

// src/cli/commands/run-gates.ts
/** Adds the options of a gate that `has` accepts by the parameter's name. */
function addGateOptions(command, has) {
	const all = parametersThat((one) => isOfGate(one) && one.option !== void 0);
	for (const name of all.filter(has)) {
		const { flags = namingStyles.flag(name), value, help = "", default: usual } = parameter(name).option ?? {};
		command.option(value === void 0 ? flags : `${flags} <${value}>`, help, usual);
	}
}
/** Prints each result; returns the exit code of the worst one, or throws its error. */
async function runGates(call) {
	const { options } = call;
	const ended = options.answer ? await judgeAndAnswer(call) : await judgeAll(await gatesOf(call), call, () => combineReporters([]));
	const judged = ended.flatMap((one) => one.status === "fulfilled" ? one.value : []);
	if (options.json) {
		const results = judged.map(({ result }) => result);
		const printed = ended.length === 1 ? results[0] : results;
		if (printed !== void 0) printJson(printed);
	} else for (const { result, directory } of judged) {
		const lines = [
			...verdictRows(result),
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

export { addGateOptions, runGates };