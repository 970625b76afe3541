// src/host/one-line.ts
/** Of an error, or of whatever else was thrown. */
function reasonOf(error) {
	if (!(error instanceof Error)) return oneLine(String(error));
	if (error.message === "" && "code" in error) return String(error.code);
	return oneLine(error.message);
}
/** A command as a message names it. */
function shortened(text) {
	const line = oneLine(text);
	return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
}
/** The last that is not blank; undefined where all are. */
const lastLine = (text) => text.split("\n").map(oneLine).findLast(Boolean);
const oneLine = (text) => text.replace(/[\s\p{Cc}]+/gu, " ").trim();

export { shortened as i, oneLine as n, reasonOf as r, lastLine as t };