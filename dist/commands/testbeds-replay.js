import { runToExit } from "../exit.js";
import { readRecording, replay } from "../recording.js";
import { exitCodes } from "../words.js";
import { findingText } from "./findings.js";
import { hasColours, oneLine, print, printJson } from "./table.js";

// src/commands/testbeds-replay.ts
function define(command) {
	command.argument("<file>", "what `--record` has written").option("--json", "print what is found as JSON").addHelpText("after", `
Example:
  ppsgate testbeds replay hp-t540.rec.gz

No machine is asked anything. What checks and gates ask and hear is recorded
with --record FILE; to look into a recording: zcat FILE | less

Exits 0 when all is understood as it was then, 2 for what is no recording, 4
when something is not.`).action(async (file, options) => {
		await runToExit(() => replayFile(file, options), command.optsWithGlobals());
	});
}
async function replayFile(file, { json }) {
	const replayed = await replay(readRecording(file));
	if (json) printJson(replayed);
	else printReplay(replayed);
	return replayed.differences.length === 0 ? exitCodes.pass : exitCodes.infrastructure;
}
function printReplay({ head, questions, hosts, differences, findings, isTorn }) {
	const { command, date, ppsgate } = head;
	const many = questions === 1 ? "One question" : `${questions} questions`;
	print(oneLine(`\`ppsgate ${command}\` of ${date.slice(0, 10)} with ppsgate ${ppsgate}: ${many} to ${hosts.join(", ") || "nobody"}.`));
	for (const finding of findings) print(findingText(finding, hasColours(process.stdout)));
	if (isTorn) print("It breaks off: whoever recorded it was ended.");
	for (const { sentence } of differences) print(`✗ ${sentence}.`);
	if (differences.length === 0) print("All is understood as it was then.");
}

export { define };