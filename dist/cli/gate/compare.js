import { applyOverrides, loadConfig, selectorCalled, selectorsOf, systemOf, testbedsFor } from "../../config/first.js";
import { namingStyles } from "../../config/parameters.js";
import { WorkDirectory } from "../../gate/first-plain.js";
import { makingOf } from "../../kernel/first.js";
import { UsageError } from "../../model/first-plain.js";
import { isLoadedBy, labelOf, makeCompareRepository, overlayIn, readCompared } from "../compare.js";
import { configPath } from "../find-config.js";
import { stderrLog } from "./gate-call.js";
import { runGates } from "./run-gates.js";
const { join, resolve } = globalThis.process.getBuiltinModule("node:path");
const { mkdtemp, rm } = globalThis.process.getBuiltinModule("node:fs/promises");
const { tmpdir } = globalThis.process.getBuiltinModule("node:os");

// src/cli/gate/compare.ts
async function run(oldPath, newPath, options, { signal, closingLines }) {
	const compared = await readCompared(oldPath, newPath);
	const written = applyOverrides(await loadConfig(configPath(options.config)), options, namingStyles.flag);
	const config = compared.kind === "files" ? withLoading(compared, [oldPath, newPath], written, options) : written;
	const repository = await mkdtemp(join(tmpdir(), "ppsgate-compare-"));
	try {
		const patch = await makeCompareRepository(repository, compared, labelOf(oldPath, newPath));
		await using work = new WorkDirectory("ppsgate-compare", stderrLog.warn);
		return await runGates({
			config: {
				...config,
				overlay: overlayIn(repository, config.overlay)
			},
			options: {
				...options,
				repository,
				...compared.kind === "kernels" && {
					baseKernel: resolve(oldPath),
					patchedKernel: resolve(newPath)
				}
			},
			optionName: calledHere,
			signal,
			work,
			closingLines,
			patch
		});
	} finally {
		await rm(repository, {
			recursive: true,
			force: true
		});
	}
}
const calledHere = (name) => {
	if (name === "baseKernel") return "OLD";
	return name === "patchedKernel" ? "NEW" : namingStyles.flag(name);
};
/** Excludes testbeds that would boot kernels, or load none of the files; throws if a selector has no other. */
function withLoading(compared, paths, config, options) {
	const loads = (name) => makingOf(config, name) === "overlay" && isLoadedBy(systemOf(config, name), compared);
	for (const selector of selectorsOf(config, options, namingStyles.flag)) {
		const names = testbedsFor(config, selector, selectorCalled(options, namingStyles.flag));
		if (names.some(loads)) continue;
		const others = Object.keys(config.testbeds).filter(loads);
		const advice = others.length > 0 ? `name one that does with --testbed, like ${others.join(" or ")}` : "add one that does to ppsgate.yml, like `lab: { kind: embedded-linux }` for Linux";
		throw new UsageError(`${names.join(" and ")} does not load ${paths.join(" and ")}, which are ${compared.what}: ${advice}.`);
	}
	const testbeds = Object.entries(config.testbeds).filter(([name]) => loads(name));
	return {
		...config,
		testbeds: Object.fromEntries(testbeds)
	};
}

export { run };