import { stringWidth } from "../../vendor/string-width.js";

// src/cli/commands/columns.ts
/** Pads columns to their widest cell; `paint` receives padded text. */
function columns(rows, paint = (text) => text) {
	const count = Math.max(0, ...rows.map(({ length }) => length));
	const widths = Array.from({ length: count }, (_, column) => Math.max(...rows.map((row) => stringWidth(row[column] ?? ""))));
	return rows.map((row, at) => row.map((text, column) => paint(padded(text, widths[column] ?? 0), at, column)).join("  ").trimEnd());
}
/** Terminals use two columns for Chinese characters and most emoji. */
const padded = (text, width) => text + " ".repeat(width - stringWidth(text));

export { columns };