import { applyOverrides, isOfGate, loadConfig, namingStyles, parameter, parametersThat } from "./config.js";
import { recordTo } from "./gate/recording.js";
import { WorkDirectory } from "./gate.js";
import { conclusionOfResult, exitCodes, worstConclusion } from "./model.js";
import { combineReporters } from "./publish/reporters.js";
import { earlierGatesText, headline, terminalRows } from "./report.js";
import { runToExit } from "./system/exit.js";
import { columns } from "./cli/commands/columns.js";
import { judgeAndAnswer } from "./cli/commands/gate-revision.js";
import { gatesOf, judgeAll, stderrLog } from "./cli/commands/judge-gate.js";
import { configPath } from "./cli/commands/named-testbed.js";
import { hasColours, printJson } from "./cli/commands/table.js";
import { styleText } from "node:util";

// src/cli/commands/gate.ts
/** Adds the options of a gate that `has` accepts by the parameter's name. */
function addGateOptions(command, has) {
	const all = parametersThat((one) => isOfGate(one) && one.option !== void 0);
	for (const name of all.filter(has)) {
		const { flags = namingStyles.flag(name), value, help = "", default: usual } = parameter(name).option ?? {};
		command.option(value === void 0 ? flags : `${flags} <${value}>`, help, usual);
	}
}
function define(command) {
	addGateOptions(command, () => true);
	command.addHelpText("after", `
Examples:
  ppsgate gate
  ppsgate gate --patch main..my-branch --scenarios forwarding --margin 2%

Without --patch it judges what you have changed since the main branch,
committed or not.

Exits 0 on a pass, 1 when the patch is at fault, 2 on wrong usage, 3 when
it stays undecided, 4 when the lab failed.`).action(async (options) => {
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

export { addGateOptions, define, runGates };