import { overrideGate, parseSeed } from "../../config/first.js";
import { namingStyles } from "../../config/parameters.js";
import { hasMeasured, randomSeed, resumeAdvice } from "../../gate/experiment/first.js";
import { showProgress } from "../../gate/first.js";
import { WorkDirectory } from "../../gate/first-plain.js";
import { expectKernel } from "../../lab/plain.js";
import { readyMachine } from "../../lab/netns/plain.js";
import { UsageError, exitCodes, fileReasonOf, formatDuration, formatPercent, outcomeName } from "../../model/first-plain.js";
import { excerpt } from "../../model/excerpt.js";
import { bisectHeadline, headline } from "../../report.js";
import { bisectCommits, busyWarning, culpritSubject, fetchKernels } from "../demo/plain.js";
import { bisectNames, demoNames, embeddedDemo, freebsdDemo, runBisectDemo, runDemo, trafficSeconds, virtualDemo } from "../demo.js";
import { printJson } from "../table.js";
const { join, resolve } = globalThis.process.getBuiltinModule("node:path");
const { constants } = globalThis.process.getBuiltinModule("node:fs");
const { styleText } = globalThis.process.getBuiltinModule("node:util");
const { access } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/cli/gate/demo.ts
/** Returns 0 if all outcomes are as expected, else 1; throws if this machine cannot run the lab. */
async function run(options, { signal, closingLines }) {
	const print = (line) => void process.stderr.write(`${line}\n`);
	const seed = options.seed === void 0 ? randomSeed() : parseSeed(options.seed, "--seed");
	overrideGate(void 0, { design: options.design }, namingStyles.flag);
	if (options.bisect && options.design !== void 0) throw new UsageError("--design: applies to judging patches; drop it, or --bisect.");
	if (options.bisect && options.kernels !== void 0) throw new UsageError("--kernels: virtual machines judge patches; drop it, or --bisect.");
	if (options.bisect && options.freebsd !== void 0) throw new UsageError("--freebsd: virtual machines judge patches; drop it, or --bisect.");
	await requireImage(options);
	await requireKernels(options);
	const isVirtual = options.kernels !== void 0 || options.freebsd !== void 0;
	const exitCode = await readyMachine(print, [isVirtual ? "virtual" : "embedded-linux"]);
	if (exitCode !== void 0) return exitCode;
	const warn = (sentence) => print(`warning: ${sentence}`);
	await using work = new WorkDirectory("ppsgate-demo", warn, demoNames);
	const directory = resolve(await work.open(options));
	print(`${whatOf(options)} on this machine; all files are in ${directory}`);
	const warning = await busyWarning();
	if (warning !== void 0) warn(warning);
	const { isAsExpected } = await (options.bisect ? bisectNow : judgeNow)({
		directory,
		seed,
		options,
		signal
	}, print).catch(async (error) => {
		const command = options.bisect ? "ppsgate demo --bisect" : "ppsgate demo";
		if (await hasMeasured(directory)) closingLines.push(resumeAdvice(directory, command));
		throw error;
	});
	return isAsExpected ? exitCodes.pass : exitCodes.patchAtFault;
}
/** Throws a UsageError before anything is installed. */
async function requireImage({ freebsd, kernels }) {
	if (freebsd === void 0) return;
	if (freebsd === true) throw new UsageError("--freebsd: name an image of FreeBSD for amd64, such as FreeBSD-14.3-RELEASE-amd64-BASIC-CI-ufs.raw.xz of its VM images (https://www.freebsd.org/where/), as downloaded.");
	if (kernels === true) throw new UsageError("--kernels: with --freebsd, name two kernels of FreeBSD, base first, separated by a comma.");
	await access(freebsd, constants.R_OK).catch((error) => {
		throw new UsageError(`--freebsd: ${freebsd} cannot be read (${fileReasonOf(error)}): name an existing image.`);
	});
}
/** Throws a UsageError before anything is installed. */
async function requireKernels({ freebsd, kernels }) {
	if (typeof kernels !== "string") return;
	const { base, patched } = twoKernels(kernels);
	for (const path of [base, patched]) await expectKernel("--kernels", path, freebsd === void 0 ? "linux" : "freebsd");
}
function whatOf({ bisect, kernels, freebsd }) {
	if (freebsd !== void 0) return `${kernels === void 0 ? "A rule set of pf" : "A rule set of pf and a kernel"}, judged on FreeBSD with real boots and packets`;
	if (kernels) return "A rule and a kernel, judged with real boots and packets";
	if (!bisect) return "Three patches, judged with real packets";
	return `${bisectCommits.length} commits, one of which lost performance: ppsgate finds it with real packets`;
}
/** Two files separated by a comma, or apt's newest kernels. */
async function subjectOf({ kernels, freebsd }, directory, print) {
	if (typeof freebsd === "string") {
		const given = typeof kernels === "string" ? twoKernels(kernels) : void 0;
		return freebsdDemo(resolve(freebsd), given);
	}
	if (kernels === void 0) return embeddedDemo;
	if (kernels === true) return virtualDemo(await fetchKernels(join(directory, "kernels"), print));
	return virtualDemo(twoKernels(kernels));
}
function twoKernels(kernels) {
	const [base, patched, ...more] = kernels.split(",");
	if (!base || !patched || more.length > 0) throw new UsageError(`--kernels: expected two files separated by a comma, found "${excerpt(kernels)}".`);
	return {
		base: resolve(base),
		patched: resolve(patched)
	};
}
async function judgeNow({ directory, seed, options, signal }, print) {
	const startedAt = performance.now();
	const subject = await subjectOf(options, directory, print);
	const { patches, metric } = subject;
	const judged = await runDemo({
		directory,
		subject,
		seed,
		design: options.design,
		onPatch(patch, index) {
			const title = `${index + 1} of ${patches.length}  ${patch.title}`;
			print(styleText("bold", title, { stream: process.stderr }));
			return showProgress(process.stderr, metric, () => performance.now());
		},
		signal
	});
	const seconds = (performance.now() - startedAt) / 1e3;
	if (options.json) printJson(summaries(judged));
	else process.stdout.write(`\n${table(judged)}\n\n${closing(judged, directory, seconds)}\n`);
	return { isAsExpected: judged.every((one) => one.asExpected) };
}
async function bisectNow({ directory, seed, options, signal }) {
	const startedAt = performance.now();
	const { onEvent, end } = showProgress(process.stderr, "nsPerPacket", () => performance.now());
	const demo = await runBisectDemo({
		directory,
		seed,
		onEvent,
		signal
	}).finally(end);
	const seconds = (performance.now() - startedAt) / 1e3;
	if (options.json) printJson(demo.result);
	else process.stdout.write(`\n${bisectionText(demo)}\n\n${where(demo, directory, seconds)}\n`);
	return { isAsExpected: demo.asExpected };
}
function bisectionText({ result, asExpected }) {
	const must = `${asExpected ? "as expected" : "but expected"}: "${culpritSubject}"`;
	const color = asExpected ? "green" : "red";
	return `${bisectHeadline(result)}\n${styleText(color, `  ${must}`, { stream: process.stdout })}`;
}
const where = ({ directory: work }, directory, seconds) => [
	`${formatDuration(seconds)}.`,
	`Report: ${work}/report/index.html`,
	`The repository of the commits: ${directory}/${bisectNames.repository}`
].join("\n");
const summaries = (judged) => judged.map(({ patch, directory, result, asExpected }) => ({
	branch: patch.branch,
	expected: patch.expected,
	verdict: outcomeName(result),
	asExpected,
	headline: headline(result),
	...runCounts(result),
	directory
}));
/** Counts measured runs, and those of five trials per cell: the lab's 5 + 5. */
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
		const { expected = "reported, with any outcome" } = patch;
		const must = asExpected ? `as expected: ${expected}` : `but expected ${expected}`;
		const verdict = styleText(asExpected ? "green" : "red", `  ${must}`, { stream: process.stdout });
		const { runs, fixedRuns } = runCounts(result);
		const counts = fixedRuns > 0 ? `, after ${runs} runs; a fixed 5 + 5 needs ${fixedRuns}` : "";
		return `${patch.branch}\n  ${headline(result)}\n${verdict}${counts}`;
	}).join("\n");
}
function closing(judged, directory, seconds) {
	const traffic = sum(judged.map(({ result }) => trafficSeconds(result)));
	return [
		`${formatDuration(seconds)}, in ${formatPercent(traffic / seconds)} of which was traffic.`,
		...judged.map((one) => `Report: ${one.directory}/report/index.html`),
		`The repository of the patches: ${directory}/repository`,
		"Next, in a git repository with rules of your own: `ppsgate init`, then `ppsgate gate`."
	].join("\n");
}

export { run };