import { runToExit } from "../exit.js";
import { explained, readResult, renderMarkdown, writeResult } from "../report.js";
import { exitCodes } from "../words.js";
import { printJson } from "./table.js";
import { join } from "node:path";

// src/commands/report.ts
function define(command) {
	command.argument("<dir>", "work directory that holds a result.json").option("--json", "print the result itself").option("--page", "write the page, its plots and flamegraphs again, and print where it is").addHelpText("after", "\nExample:\n  ppsgate report ppsgate-gate-20261120-231655").action(async (directory, options) => {
		await runToExit(() => runReport(directory, options), command.optsWithGlobals());
	});
}
async function runReport(directory, options) {
	const written = await readResult(directory);
	if (options.json) printJson(written);
	else process.stdout.write(await reported(directory, written, options));
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