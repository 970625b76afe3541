import { t as loadConfig } from "./load.js";
import { a as parseMaxRuns, n as applyOverrides, o as parsePriority, s as parseSeed, t as UsageError } from "./overrides.js";
import { n as whoami, t as openReservations } from "./controller.js";
import { n as exitCodeOfResult, o as worstExitCode } from "./exit2.js";
import { i as historyFile } from "./history.js";
import { d as randomSeed, v as openRepository } from "./assemble.js";
import { a as patchOfRange, n as gate, r as resumeGate, t as timestampedDirectory } from "./work-directory.js";
import { t as patchName } from "./patch.js";
import { n as showProgress, t as labelled } from "./progress.js";
import { i as headline } from "./markdown.js";
import { a as wishesOf, i as testbedsFor } from "./inventory.js";
import { join, resolve } from "node:path";

// src/commands/run-gate.ts
/** Answers the exit code of the worst verdict; throws for what kept it from one. */
async function runGate(options, signal) {
	const config = applyOverrides(await loadConfig(resolve(options.config ?? "ppsgate.yml")), options);
	const gates = await gatesOf(config, options);
	const ended = await Promise.allSettled(gates.map(async (one) => ({
		...one,
		result: await judge(one, config, options, signal)
	})));
	const judged = ended.flatMap((one) => one.status === "fulfilled" ? one.value : []);
	if (options.json) {
		const results = judged.map(({ result }) => result);
		const printed = gates.length === 1 ? results[0] : results;
		if (printed !== void 0) process.stdout.write(`${JSON.stringify(printed, null, 2)}\n`);
	} else for (const { result, directory } of judged) process.stdout.write(`${headline(result)}\nReport: ${directory}/report.md\n`);
	const failure = ended.find(({ status }) => status === "rejected");
	if (failure?.status === "rejected") throw failure.reason;
	return worstExitCode(judged.map(({ result }) => exitCodeOfResult(result)));
}
async function gatesOf(config, options) {
	const { resume, maxRuns } = options;
	if (resume !== void 0) {
		const most = maxRuns === void 0 ? void 0 : parseMaxRuns(maxRuns);
		return [{
			name: "",
			directory: resume,
			start: (world) => resumeGate(resume, world, most)
		}];
	}
	const repository = repositoryOf(options);
	const patch = await patchOfRange(repository, required("--patch", options.patch));
	const seed = options.seed === void 0 ? randomSeed() : parseSeed(options.seed);
	const kernels = givenKernels(options);
	const folder = options.directory ?? timestampedDirectory("ppsgate-gate");
	const wishes = wishesOf(config, options);
	return wishes.map((wish) => {
		const isOnly = wishes.length === 1;
		const directory = isOnly ? folder : join(folder, wish.replace(/[^\w.-]+/g, "-"));
		const request = {
			patch,
			config,
			testbeds: testbedsFor(config, wish),
			seed,
			kernels
		};
		return {
			name: isOnly ? "" : wish,
			directory,
			start: (world) => gate(request, directory, world)
		};
	});
}
const repositoryOf = ({ repository }) => openRepository(resolve(repository ?? "."));
async function judge({ name, directory, start }, config, options, signal) {
	const priority = parsePriority(options.priority);
	const output = labelled(process.stderr, name);
	const progress = showProgress(output, config.gate.metric, () => performance.now());
	const tell = (text) => progress.onEvent({
		kind: "preparing",
		text
	});
	await using reservations = await openReservations(config, {
		signal,
		tell,
		onWait: (_, text) => tell(text)
	});
	return await start({
		repository: repositoryOf(options),
		reserve: (testbeds, patch) => {
			const holder = {
				who: whoami(),
				purpose: "gate",
				patch: patchName(patch)
			};
			return reservations.reserve(testbeds, {
				priority,
				holder
			}, directory);
		},
		history: historyFile(config.history),
		now: () => /* @__PURE__ */ new Date(),
		onEvent: progress.onEvent,
		signal
	}).finally(progress.end);
}
function givenKernels({ baseKernel: base, patchedKernel: patched }) {
	if (base === void 0 && patched === void 0) return void 0;
	return {
		base: required("--base-kernel", base),
		patched: required("--patched-kernel", patched)
	};
}
function required(name, value) {
	if (value !== void 0) return value;
	throw new UsageError(`${name} is missing: see 'ppsgate gate --help'.`);
}

export { runGate };