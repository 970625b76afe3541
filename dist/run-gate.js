import { a as gate, c as randomSeed, d as UsageError, f as applyOverrides, i as showProgress, m as loadConfig, n as chooseTestbed, o as resumeGate, p as parseSeed, r as openTestbed, t as timestampedDirectory, u as openRepository } from "./work-directory.js";
import { n as exitCodeOfResult } from "./exit2.js";
import { t as patchOfRange } from "./range.js";
import { r as headline } from "./markdown.js";
import { resolve } from "node:path";

// src/commands/run-gate.ts
/** Answers the exit code of the verdict; throws for what kept it from one. */
async function runGate(options, signal) {
	const config = applyOverrides(await loadConfig(resolve(options.config ?? "ppsgate.yml")), options);
	const testbed = chooseTestbed(config, options.testbed);
	const directory = options.resume ?? options.directory ?? timestampedDirectory("ppsgate-gate");
	const progress = showProgress(process.stderr, config.gate.metric, () => performance.now());
	const repository = openRepository(resolve(options.repository ?? "."));
	const world = {
		repository,
		openTestbed: (name, traffic) => openTestbed(name, traffic, config),
		now: () => /* @__PURE__ */ new Date(),
		onEvent: progress.onEvent,
		signal
	};
	const judge = async () => {
		if (options.resume !== void 0) return resumeGate(directory, world);
		const patch = await patchOfRange(repository, required("--patch", options.patch));
		const seed = options.seed === void 0 ? randomSeed() : parseSeed(options.seed);
		return gate({
			patch,
			config,
			testbed,
			seed
		}, directory, world);
	};
	const result = await judge().finally(progress.end);
	if (options.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
	else process.stdout.write(`${headline(result)}\nReport: ${directory}/report.md\n`);
	return exitCodeOfResult(result);
}
function required(name, value) {
	if (value !== void 0) return value;
	throw new UsageError(`${name} is missing: see 'ppsgate gate --help'.`);
}

export { runGate };