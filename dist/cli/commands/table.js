import { stringWidth } from "../../vendor/string-width.js";

// src/cli/commands/table.ts
/** Pads columns to their widest cell; `paint` receives padded text. */
function columns(rows, paint = (text) => text) {
	const count = Math.max(0, ...rows.map(({ length }) => length));
	const widths = Array.from({ length: count }, (_, column) => Math.max(...rows.map((row) => stringWidth(row[column] ?? ""))));
	return rows.map((row, at) => row.map((text, column) => paint(padded(text, widths[column] ?? 0), at, column)).join("  ").trimEnd());
}
/** Terminals use two columns for Chinese characters and most emoji. */
const padded = (text, width) => text + " ".repeat(width - stringWidth(text));
const oneLine = (text) => text.replace(/[\s\p{Cc}]+/gu, " ").trim();
const hasColours = ({ isTTY }) => isTTY === true && !process.env.NO_COLOR;
const print = (text) => void process.stdout.write(`${text}\n`);
/** Writes bytes, for programs, independent of the locale. */
const printJson = (value) => void process.stdout.write(Buffer.from(`${JSON.stringify(value, null, 2)}\n`));
/** `14:02` today, `2026-11-20 14:02` on any other day, in local time. */
function clockText(iso, now) {
	const [then, today] = [new Date(iso), now].map((date) => date.toLocaleString("sv-SE"));
	const [day, time = ""] = (then ?? "").split(" ");
	const minute = time.slice(0, 5);
	return today?.split(" ")[0] === day ? minute : `${day} ${minute}`;
}

export { clockText, columns, hasColours, oneLine, print, printJson };