import { compare, renderMinistat } from "../../analysis/stats/plain.js";
import { formatChange, formatInterval, formatPps, shortened } from "../../model/first-plain.js";

// src/cli/netbenches/render.ts
/** Lists the sets with their runs, then each comparison's verdict and ministat block. */
function renderAnalysis({ sets, comparisons }) {
	return [...sets.map(renderSet), ...comparisons.map(renderComparison)].join("\n");
}
function renderSet({ label, kernel, runs }) {
	const counted = runs.filter(({ validity }) => validity.kind === "valid").length;
	return `${[
		`${shortened(label)}: ${counted} of ${runs.length} runs count`,
		...kernel === void 0 ? [] : [`  ${shortened(kernel)}`],
		...runs.map(renderRun)
	].join("\n")}\n`;
}
function renderRun({ file, medianPps, offeredPps, seconds, steadyAfterSeconds, validity }) {
	const parts = [
		formatPps(medianPps),
		offeredPps !== void 0 && `${formatPps(offeredPps)} offered`,
		`${seconds.toFixed(0)} s`,
		steadyAfterSeconds !== void 0 && `known to 0.5 % after ${steadyAfterSeconds} s`,
		validity.kind === "invalid" && `invalid: ${validity.reason}`
	];
	return `  ${shortened(file)}  ${parts.filter(Boolean).join(", ")}`;
}
function renderComparison(compared) {
	const { base, patched } = compared;
	const head = `${`${shortened(patched.label)} against ${shortened(base.label)}`}: ${verdictText(compared)}`;
	const sets = [minimalSet(base), minimalSet(patched)];
	if (sets.some(({ values }) => values.length < 3)) return `${head}\n`;
	return `${head}\n\n${renderMinistat(sets, { separateBars: true })}`;
}
function verdictText({ verdict, comparison }) {
	const reason = verdict.kind === "invalid" ? `: ${verdict.reason}` : "";
	if (comparison === void 0) return `${verdict.kind}${reason}`;
	const { change, low, high } = comparison.interval;
	return `${verdict.kind}, ${formatChange(change)} (95 % interval ${formatInterval(low, high)})${reason}`;
}
/** All runs with a number, even uncounted ones, as ministat would get them. */
const minimalSet = ({ label, runs }) => ({
	name: shortened(label),
	values: Float64Array.from(runs.map(({ medianPps }) => medianPps).filter((pps) => pps > 0))
});
/** Ratios, and packets per second; `reason` is null if empty. */
function analysisAsJson({ sets, comparisons }) {
	return {
		sets: sets.map(({ label, image, config, family, kernel, runs }) => ({
			label,
			image,
			config,
			family,
			kernel,
			runs: runs.map(({ validity, ...run }) => ({
				...run,
				validity: validity.kind,
				reason: validity.kind === "invalid" ? validity.reason : null
			}))
		})),
		comparisons: comparisons.map((compared) => ({
			base: compared.base.label,
			patched: compared.patched.label,
			verdict: compared.verdict.kind,
			reason: compared.verdict.kind === "invalid" ? compared.verdict.reason : null,
			...compared.comparison?.interval,
			ministat: ministatOf(compared)
		}))
	};
}
/** Null if a set has fewer than ministat's three numbers. */
function ministatOf({ base, patched }) {
	const sets = [minimalSet(base), minimalSet(patched)];
	if (sets.some(({ values }) => values.length < 3)) return null;
	const { confidencePercent, differences } = compare(sets);
	return {
		confidencePercent,
		...differences[0]
	};
}

export { analysisAsJson, renderAnalysis };