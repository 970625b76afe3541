import { oneLine } from "../table.js";

// src/cli/lab/diagnostics-text.ts
/** `✗ WHAT: WHY`, with the fix on its own line. */
function diagnosticText(diagnostic, isColoured) {
	const { kind, what, why } = diagnostic;
	const line = `${isColoured ? `\x1b[${colours[kind]}m${signs[kind]}\x1b[0m` : signs[kind]} ${oneLine(`${what}: ${why}`)}`;
	return kind === "wrong" ? `${line}\n    fix: ${oneLine(diagnostic.fix)}` : line;
}
function summary(diagnostics) {
	const count = diagnostics.filter(({ kind }) => kind === "wrong").length;
	if (count === 0) return "All checks passed.";
	return count === 1 ? "One check failed." : `${count} checks failed.`;
}
const signs = {
	ok: "✓",
	wrong: "✗",
	skipped: "–"
};
/** ECMA-48 select graphic rendition: green, red, faint. */
const colours = {
	ok: 32,
	wrong: 31,
	skipped: 2
};

export { diagnosticText, summary };