import { worstVerdict } from "../../analysis/stats.js";
import { overrideGate } from "../../config/first.js";
import { namingStyles } from "../../config/parameters.js";
import { assembleResult, reread } from "../../gate/experiment.js";
import { hasPlan, readPlan } from "../../gate/experiment/first.js";
import { UsageError, conclusionOfResult, conclusionOfVerdict, exitCodes } from "../../model/first-plain.js";
import { explained, renderMarkdown } from "../../report.js";
import { analyzeBenches, readBenches } from "../netbenches.js";
import { analysisAsJson, renderAnalysis } from "../netbenches/plain.js";
import { printJson } from "../table.js";

// src/cli/reports/analyze.ts
/** Returns the exit code of the worst verdict; throws if there is nothing to compare. */
async function run(directory, options) {
	return await hasPlan(directory) ? analyzeWork(directory, options) : analyzeNetbenches(directory, options);
}
async function analyzeNetbenches(directory, options) {
	const { netbenchesTrim = false, base, json } = options;
	const policy = overrideGate(void 0, options, namingStyles.flag);
	const analysis = analyzeBenches(await readBenches(directory), {
		netbenchesTrim,
		base,
		policy
	});
	if (json) printJson(analysisAsJson(analysis));
	else print(renderAnalysis(analysis));
	const { sets, comparisons } = analysis;
	if (base !== void 0 && !sets.some(({ image, label }) => image === base || label === base)) throw new UsageError(`--base: ${directory} has no set ${base}.`);
	if (comparisons.length === 0) {
		const labels = sets.map(({ label }) => label).join(", ");
		throw new UsageError(`There is nothing to compare in ${directory}: it has only one variant (${labels}).`);
	}
	return exitCodes[conclusionOfVerdict(worstVerdict(comparisons))];
}
/** Uses the policy of the plan, fixed before the first run. */
async function analyzeWork(directory, { json }) {
	const plan = await readPlan(directory);
	const { entries, unread } = await reread(directory, plan);
	const { result } = await explained(assembleResult(plan, entries), directory);
	if (json) printJson(analysisAsJson(analysisOf(result)));
	else print(renderMarkdown(result));
	if (unread > 0) process.stderr.write(`ppsgate: the logs of ${unread} trials cannot be read again; their runs come from the journal.\n`);
	return exitCodes[conclusionOfResult(result)];
}
function analysisOf({ outcome }) {
	const compared = (outcome.kind === "judged" ? outcome.cells : []).map(({ cell, runs, verdict, comparisons: [comparison] }) => ({
		base: setOf(cell, "base", runs),
		patched: setOf(cell, "patched", runs),
		verdict,
		comparison
	}));
	return {
		sets: compared.flatMap(({ base, patched }) => [base, patched]),
		comparisons: compared
	};
}
const setOf = ({ scenario, family }, variant, runs) => ({
	label: `${variant}.${scenario}.${family}`,
	image: variant,
	config: scenario,
	family,
	runs: runs.filter((run) => run.variant === variant).map(({ number, trial, attempt, pps, samples, validity }) => ({
		file: `trial ${trial}.${attempt}, run ${number}`,
		medianPps: pps,
		seconds: samples.reduce((sum, sample) => sum + sample.seconds, 0),
		validity
	}))
});
const print = (text) => void process.stdout.write(`${text.trimEnd()}\n`);

export { run };