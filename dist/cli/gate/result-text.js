import { earlierGatesText } from "../../report/plain.js";
import { headline, nextStep, terminalRows } from "../../report.js";
import { columns } from "../init/plain.js";
import { hasColours } from "../table.js";
const { styleText } = globalThis.process.getBuiltinModule("node:util");

// src/cli/gate/result-text.ts
function resultText(result, directory) {
	return `${[
		...verdictRows(result),
		whatNow(result),
		earlierGatesText(result),
		headline(result),
		`Report: ${directory}/report/index.html`
	].filter((line) => line !== void 0).join("\n")}\n`;
}
/** Undefined where a verdict says enough. */
function whatNow(result) {
	const { outcome } = result;
	return outcome.kind === "judged" && outcome.verdict !== "invalid" || outcome.kind === "unchanged" ? void 0 : `What now: ${nextStep(result)}`;
}
/** Draws each cell's verdict and change, coloured at a terminal. */
function verdictRows(result) {
	const { heads, rows } = terminalRows(result);
	if (rows.length === 0) return [];
	const isColoured = hasColours(process.stdout);
	const texts = [heads, ...rows.map((row) => row.texts)];
	return columns(texts, (text, row, column) => {
		const verdict = rows[row - 1]?.verdict;
		if (!isColoured || column !== 1 || verdict === void 0) return text;
		return styleText(verdictColours[verdict], text, { validateStream: false });
	});
}
const verdictColours = {
	regression: "red",
	improvement: "green",
	"no-regression": "green",
	inconclusive: "yellow",
	invalid: "gray"
};

export { resultText };