import { readRecording, replay } from "../../gate/recording.js";
import { exitCodes } from "../../model/first-plain.js";
import { hasColours, oneLine, print, printJson } from "../table.js";
import { diagnosticText } from "./diagnostics-text.js";

// src/cli/lab/replay.ts
async function run(file, { json }) {
	const replayed = await replay(readRecording(file));
	if (json) printJson(replayed);
	else printReplay(replayed);
	return replayed.differences.length === 0 ? exitCodes.pass : exitCodes.infrastructure;
}
function printReplay({ head, questions, hosts, differences, diagnostics, isTorn }) {
	const { command, date, ppsgate } = head;
	const many = questions === 1 ? "One command" : `${questions} commands`;
	print(oneLine(`\`ppsgate ${command}\` of ${date.slice(0, 10)} with ppsgate ${ppsgate}: ${many} to ${hosts.join(", ") || "no machine"}.`));
	for (const diagnostic of diagnostics) print(diagnosticText(diagnostic, hasColours(process.stdout)));
	if (isTorn) print("It is incomplete: the recording process was stopped.");
	for (const { sentence } of differences) print(`✗ ${sentence}.`);
	if (differences.length === 0) print("All replies are understood as before.");
}

export { run };