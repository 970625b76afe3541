import { readRecording, replay } from "../../gate/recording.js";
import { exitCodes } from "../../model.js";
import { runToExit } from "../../system/exit.js";
import { diagnosticText } from "./diagnostics-text.js";
import { hasColours, oneLine, print, printJson } from "./table.js";

// src/cli/commands/testbeds-replay.ts
function define(command) {
	command.argument("<file>", "what `--record` has written").option("--json", "print what is found as JSON").addHelpText("after", `
Example:
  ppsgate testbeds replay hp-t540.rec.gz

No machine is asked anything. What checks and gates ask and hear is recorded
with --record FILE; to look into a recording: zcat FILE | less

Exits 0 when all is understood as it was then, 2 for what is no recording, 4
when something is not.`).action(async (file, options) => {
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
	const many = questions === 1 ? "One question" : `${questions} questions`;
	print(oneLine(`\`ppsgate ${command}\` of ${date.slice(0, 10)} with ppsgate ${ppsgate}: ${many} to ${hosts.join(", ") || "no machine"}.`));
	for (const diagnostic of diagnostics) print(diagnosticText(diagnostic, hasColours(process.stdout)));
	if (isTorn) print("It breaks off: the recording process was ended.");
	for (const { sentence } of differences) print(`✗ ${sentence}.`);
	if (differences.length === 0) print("All is understood as it was then.");
}

export { define };