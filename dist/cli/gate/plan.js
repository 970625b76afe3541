import { applyOverrides, loadConfig, selectorCalled, selectorsOf, testbedKindOf, testbedsFor } from "../../config/first.js";
import { namingStyles } from "../../config/parameters.js";
import { openRepository } from "../../forge/patch/first.js";
import { basisText, estimateExperiment, estimateStart, expectedDurationsOn, readUsualSeconds } from "../../gate/estimate/first.js";
import { cellsOf, earlierEntries, entriesOf, historyFile, layoutsOn, planCells, policyOf } from "../../gate/experiment/first.js";
import { readLab } from "../../gate/reserve/first.js";
import { openStore } from "../../gate/reserve/store/first.js";
import { StoreError } from "../../gate/reserve/store/first-plain.js";
import { makingOf, testbedsThatDiffer, variantsByMaking } from "../../kernel/first.js";
import { machinesOf } from "../../lab/first.js";
import { exitCodes, formatDuration, formatEstimate, formatPercent } from "../../model/first-plain.js";
import { cellName, patchName } from "../../model/first.js";
import { columns } from "../init/plain.js";
import { configPath } from "../find-config.js";
import { print, printJson } from "../table.js";
import { patchOf } from "./judge-gate.js";

// src/cli/gate/plan.ts
async function run(options, { signal }) {
	const written = await loadConfig(configPath(options.config));
	const config = applyOverrides(written, options, namingStyles.flag);
	const call = {
		config,
		options,
		optionName: namingStyles.flag,
		signal,
		closingLines: []
	};
	const selectors = selectorsOf(config, options, namingStyles.flag).map((selector) => testbedsFor(config, selector, selectorCalled(options, namingStyles.flag)));
	const patch = options.patch ? await patchOf(call) : void 0;
	const entries = earlierEntries(await historyFile(config.history).read(), /* @__PURE__ */ new Date());
	const starts = await startsOf(config, selectors);
	const planned = [];
	for (const [index, testbeds] of selectors.entries()) {
		const start = starts?.[index];
		const change = await changeOf(config, start === void 0 ? testbeds : [start.testbed], patch, options);
		const testbed = change.testbed;
		planned.push({
			testbed,
			...start !== void 0 && { waitSeconds: start.afterSeconds },
			isUnchanged: change.isUnchanged,
			...outlined(config, {
				testbed,
				variants: change.variants
			}, entries)
		});
	}
	if (options.json) printJson(planned.map(printable));
	else print(planned.map((one) => textOf(one, patch)).join("\n\n"));
	return exitCodes.pass;
}
/** Returns the first available testbed of each selector, with the wait; undefined if the store is unreachable. */
async function startsOf(config, selectors) {
	try {
		const store = await openStore(config.reservations);
		try {
			const [lab, now] = [await readLab(store), /* @__PURE__ */ new Date()];
			const usualSeconds = await readUsualSeconds(store, now);
			return selectors.map((names) => {
				const testbeds = new Map(names.flatMap((name) => {
					const testbed = config.testbeds[name];
					return testbed === void 0 ? [] : [[name, machinesOf(testbed)]];
				}));
				return estimateStart(lab, {
					priority: "patch",
					testbeds
				}, usualSeconds, now);
			});
		} finally {
			await store.close();
		}
	} catch (error) {
		if (!(error instanceof StoreError)) throw error;
		process.stderr.write(`The wait for a testbed is unknown: ${error.message}\n`);
		return;
	}
}
async function changeOf(config, testbeds, patch, { repository: path = ".", measureAnyway }) {
	const [first = ""] = testbeds;
	if (patch === void 0) return {
		testbed: first,
		variants: 2,
		isUnchanged: false
	};
	const repository = openRepository(path);
	const question = {
		patch,
		config,
		testbeds
	};
	const variants = await variantsByMaking(question, repository);
	const differ = measureAnyway ? testbeds : await testbedsThatDiffer({
		...question,
		variants
	}, repository);
	const testbed = differ[0] ?? first;
	return {
		testbed,
		variants: variants.get(makingOf(config, testbed))?.length ?? 2,
		isUnchanged: differ.length === 0
	};
}
function outlined(config, { testbed, variants }, entries) {
	const { traffic, profile } = config;
	const history = entriesOf(entries, {
		testbed,
		kind: testbedKindOf(config, testbed)
	});
	const hasLayouts = layoutsOn(config, testbed) > 1;
	const place = {
		testbed,
		cells: cellsOf(config),
		variants,
		hasLayouts
	};
	const outlined = {
		cells: planCells(config, place, history),
		policy: policyOf(config),
		traffic,
		...profile !== void 0 && { profile },
		variants,
		durations: expectedDurationsOn(history, testbed, config)
	};
	return {
		outlined,
		estimate: estimateExperiment(outlined)
	};
}
function printable({ testbed, waitSeconds, isUnchanged, outlined, estimate }) {
	const { durations, variants } = outlined;
	return {
		testbed,
		...waitSeconds !== void 0 && { waitSeconds },
		isUnchanged,
		variants,
		durations,
		...estimate
	};
}
function textOf({ testbed, waitSeconds, isUnchanged, outlined, estimate }, patch) {
	if (isUnchanged && patch !== void 0) return `${patchName(patch)} changes nothing that ${testbed} would install or boot: nothing is reserved or measured (--measure-anyway).`;
	return [
		`${testbed}: ${waitSeconds === void 0 ? "the time until it is free is unknown" : waitSeconds < 1 ? "free now" : `${formatEstimate(waitSeconds)} until it is free`}`,
		coursesText(estimate, outlined),
		cellsText(estimate, outlined),
		durationsText(outlined)
	].join("\n\n");
}
function coursesText({ ifUnchanged, ifLost, cells }, { policy }) {
	const isLeast = cells.some(({ basis }) => basis === "least");
	const row = (name, of) => [
		name,
		of(ifUnchanged),
		of(ifLost)
	];
	return columns([
		[
			"",
			"if nothing is lost",
			`if ${formatPercent(policy.marginRatio)} is`
		],
		row(isLeast ? "together, at least" : "together", ({ totalSeconds }) => amount(totalSeconds)),
		...ifLost.boots > 0 ? [row("boots", ({ boots }) => boots.toFixed(1))] : [],
		row("trials", ({ trials }) => trials.toFixed(1))
	]).join("\n");
}
/** Includes seconds for labs that finish in minutes. */
const amount = (seconds) => seconds < 600 ? formatDuration(seconds) : `${Math.round(seconds / 60)} min`;
function cellsText({ cells }, { cells: planned, policy }) {
	const rows = cells.map(({ cell, basis, noiseRatio, ...runs }, index) => {
		const { design, history } = planned[index] ?? {};
		const noise = basis === "history" ? `${formatPercent(noiseRatio ?? 0)} (${history?.runs} earlier runs)` : basis === "assumed" ? `${formatPercent(noiseRatio ?? 0)}, assumed` : "unknown";
		const least = basis === "least" ? "from " : "";
		return [
			cellName(cell),
			design?.name ?? "",
			noise,
			`${least}${runs.runsIfUnchanged.toFixed(1)}`,
			`${least}${runs.runsIfLost.toFixed(1)}`,
			`${runs.maxRuns}`
		];
	});
	const lost = `if ${formatPercent(policy.marginRatio)} is lost`;
	return columns([[
		"cell",
		"design",
		"noise",
		"runs",
		lost,
		"at most"
	], ...rows]).join("\n");
}
function durationsText({ durations }) {
	const { buildSeconds, bootSeconds, trialSeconds } = durations;
	const parts = [
		...buildSeconds > 0 ? [`builds ${formatDuration(buildSeconds)}`] : [],
		...bootSeconds > 0 ? [`a boot ${formatDuration(bootSeconds)}`] : [],
		`a trial ${formatDuration(trialSeconds)}`
	];
	return `Estimated ${basisText(durations)}: ${parts.join(", ")}.`;
}

export { run };