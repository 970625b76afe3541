import { calledAs, overrideGate, parseSeed } from "../config.js";
import { timestampedDirectory } from "../controller.js";
import { busyWarning, callerThroughSudo, demoPatches, placeAt, runDemo, trafficSeconds } from "../demo.js";
import { runToExit } from "../exit.js";
import { goingOn, randomSeed } from "../experiment.js";
import { readyMachine } from "../linux-lab.js";
import { showProgress } from "../progress.js";
import { headline, outcomeName } from "../report.js";
import { exitCodes, formatDuration, formatPercent, reasonOf } from "../words.js";
import { printJson } from "./table.js";
import { resolve } from "node:path";
import { styleText } from "node:util";

// src/commands/demo.ts
function define(command) {
	command.option("-d, --directory <dir>", "where the work directories go (default: a new ppsgate-demo-…)").option("--resume <dir>", "go on with a demo that was cut short").option("--seed <number>", "of the order of runs (default: by chance)").option("--design <name>", "fixed takes all runs: to compare with the usual group-sequential").option("--json", "print the results as JSON").addHelpText("after", `
Example:
  sudo ppsgate demo

Needs root on Linux. Takes about three minutes. Exits 0 when all three patches
come out as they must.`).action(async (options) => {
		const lastWords = [];
		await runToExit((signal) => runDemoCommand(options, signal, lastWords), {
			...command.optsWithGlobals(),
			lastWords
		});
	});
}
/** Answers 0 when all patches came out as they must, else 1; throws where this machine cannot carry the lab. */
async function runDemoCommand(options, signal, lastWords) {
	const say = (line) => void process.stderr.write(`${line}\n`);
	const seed = options.seed === void 0 ? randomSeed() : parseSeed(options.seed, "--seed");
	overrideGate(void 0, { design: options.design }, calledAs.flag);
	const exitCode = await readyMachine(say);
	if (exitCode !== void 0) return exitCode;
	const directory = resolve(options.resume ?? options.directory ?? timestampedDirectory("ppsgate-demo"));
	say(`Three patches, judged with real packets on this machine; everything is kept in ${directory}`);
	const warning = await busyWarning();
	if (warning !== void 0) say(`warning: ${warning}`);
	await using cleaning = new AsyncDisposableStack();
	const caller = callerThroughSudo(process.env, process.getuid?.());
	if (caller !== void 0) {
		const place = cleaning.use(await placeAt(directory));
		cleaning.defer(() => place.giveTo(caller).catch((error) => {
			say(`warning: what is in ${directory} stays root's: ${reasonOf(error)}`);
		}));
	}
	const startedAt = performance.now();
	const judged = await runDemo({
		directory,
		seed,
		design: options.design,
		onPatch(patch, index) {
			const title = `${index + 1} of ${demoPatches.length}  ${patch.title}`;
			say(styleText("bold", title, { stream: process.stderr }));
			return showProgress(process.stderr, "nsPerPacket", () => performance.now());
		},
		signal
	}).catch((error) => {
		lastWords.push(goingOn(directory, "ppsgate demo"));
		throw error;
	});
	const seconds = (performance.now() - startedAt) / 1e3;
	if (options.json) printJson(summaries(judged));
	else process.stdout.write(`\n${table(judged)}\n\n${closing(judged, directory, seconds)}\n`);
	return judged.every((one) => one.asExpected) ? exitCodes.pass : exitCodes.patchAtFault;
}
/** Without the runs: these are in the result of each directory. */
const summaries = (judged) => judged.map(({ patch, directory, result, asExpected }) => ({
	branch: patch.branch,
	expected: patch.expected,
	verdict: outcomeName(result),
	asExpected,
	headline: headline(result),
	...runCounts(result),
	directory
}));
/** Runs that were measured, and those that five blasts of each cell would have taken: the lab's 5 + 5. */
function runCounts({ outcome }) {
	const cells = outcome.kind === "judged" ? outcome.cells : [];
	return {
		runs: sum(cells.map((cell) => cell.runs.length)),
		fixedRuns: sum(cells.map((cell) => 2 * (cell.design.budgets.at(-1) ?? 0)))
	};
}
const sum = (values) => values.reduce((total, value) => total + value, 0);
function table(judged) {
	return judged.map(({ patch, result, asExpected }) => {
		const must = asExpected ? `as it must: ${patch.expected}` : `but must be ${patch.expected}`;
		const verdict = styleText(asExpected ? "green" : "red", `  ${must}`, { stream: process.stdout });
		const { runs, fixedRuns } = runCounts(result);
		const counts = fixedRuns > 0 ? `, after ${runs} runs; a fixed 5 + 5 takes ${fixedRuns}` : "";
		return `${patch.branch}\n  ${headline(result)}\n${verdict}${counts}`;
	}).join("\n");
}
function closing(judged, directory, seconds) {
	const traffic = sum(judged.map(({ result }) => trafficSeconds(result)));
	return [
		`${formatDuration(seconds)}, in ${formatPercent(traffic / seconds)} of which packets flowed.`,
		...judged.map((one) => `Report: ${one.directory}/report/index.html`),
		`The repository of the patches: ${directory}/repository`
	].join("\n");
}

export { define };