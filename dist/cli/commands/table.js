import { stringWidth } from "../../vendor/string-width.js";

// src/cli/commands/table.ts
/** Rows of texts, each column as wide as its widest; `paint` gets what is padded already. */
function columns(rows, paint = (text) => text) {
	const count = Math.max(0, ...rows.map(({ length }) => length));
	const widths = Array.from({ length: count }, (_, column) => Math.max(...rows.map((row) => stringWidth(row[column] ?? ""))));
	return rows.map((row, at) => row.map((text, column) => paint(padded(text, widths[column] ?? 0), at, column)).join("  ").trimEnd());
}
/** A terminal gives two columns to a letter of Chinese, and to most emoji. */
const padded = (text, width) => text + " ".repeat(width - stringWidth(text));
/** Text of a host or a store. */
const oneLine = (text) => text.replace(/[\s\p{Cc}]+/gu, " ").trim();
const hasColours = ({ isTTY }) => isTTY === true && !process.env.NO_COLOR;
const print = (text) => void process.stdout.write(`${text}\n`);
/** In bytes, because a program reads it: the same in every locale. */
const printJson = (value) => void process.stdout.write(Buffer.from(`${JSON.stringify(value, null, 2)}\n`));
/** `14:02` of today, `2026-11-20 14:02` of any other day, where this machine is. */
function clockText(iso, now) {
	const [then, today] = [new Date(iso), now].map((date) => date.toLocaleString("sv-SE"));
	const [day, time = ""] = (then ?? "").split(" ");
	const minute = time.slice(0, 5);
	return today?.split(" ")[0] === day ? minute : `${day} ${minute}`;
}

export { clockText, columns, hasColours, oneLine, print, printJson };