import { exitCodes } from "../../model/first-plain.js";
import { explained, readAnyResult, renderMarkdown, writeResult } from "../../report.js";
import { printJson } from "../table.js";
const { join } = globalThis.process.getBuiltinModule("node:path");

// src/cli/reports/report.ts
async function run(path, options) {
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

export { run };