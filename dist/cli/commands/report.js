import { exitCodes } from "../../model/plain.js";
import { explained, readAnyResult, renderMarkdown, writeResult } from "../../report.js";
import { runToExit } from "../../system/exit.js";
import { printJson } from "../init/plain.js";
import { join } from "node:path";

// src/cli/commands/report.ts
function define(command) {
	command.argument("<dir>", "work directory of a gate or a bisection, or its result.json").option("--json", "print result.json").option("--page", "write the page, its plots and flamegraphs again, and print its path").addHelpText("after", "\nExample:\n  ppsgate report ppsgate-gate-20261120-231655").action(async (path, options) => {
		const exit = {
			...command.optsWithGlobals(),
			endsAtOnce: true
		};
		await runToExit(() => runReport(path, options), exit);
	});
}
async function runReport(path, options) {
	const { directory, result } = await readAnyResult(path);
	if (options.json) printJson(result);
	else process.stdout.write(await reported(directory, result, options));
	return exitCodes.pass;
}
async function reported(directory, written, { page }) {
	if (!page) return renderMarkdown(written);
	const warn = (text) => process.stderr.write(`ppsgate: ${text}\n`);
	const { result, profiles } = await explained(written, directory, warn);
	await writeResult(directory, result, profiles, warn);
	return `${join(directory, "report", "index.html")}\n`;
}

export { define };