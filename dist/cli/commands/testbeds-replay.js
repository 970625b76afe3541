import { readRecording, replay } from "../../gate/recording.js";
import { exitCodes } from "../../model/plain.js";
import { runToExit } from "../../system/exit.js";
import { diagnosticText } from "./diagnostics-text.js";
import { hasColours, oneLine, print, printJson } from "../init/plain.js";

// src/cli/commands/testbeds-replay.ts
function define(command) {
	command.argument("<file>", "recording written by `--record`").option("--json", "print the findings as JSON").addHelpText("after", `
Example:
  ppsgate testbeds replay hp-t540.rec.gz

Contacts no machine. Checks and gates record all commands and replies with
--record FILE; to read a recording: zcat FILE | less

Exits 0 if all replies are understood as before, 2 for a file that is no
recording, and 4 if one is not understood.`).action(async (file, options) => {
		const exit = {
			...command.optsWithGlobals(),
			endsAtOnce: true
		};
		await runToExit(() => replayFile(file, options), exit);
	});
}
async function replayFile(file, { json }) {
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

export { define };