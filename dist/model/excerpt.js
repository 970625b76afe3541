// src/model/excerpt.ts
/** Adds a full stop unless it ends in a question. */
const sentence = (message) => message.endsWith("?") ? message : `${message}.`;
/** At most 40 characters of untrusted text on one line: it may be a secret, or control a terminal. */
function excerpt(text) {
	return (text.length > 40 ? `${text.slice(0, 39)}…` : text).replace(/[\p{C}\p{Zl}\p{Zp}"`]/gu, "?");
}
/** Message of a zod issue: `expected a percentage like 2%, found 2`. */
const expected = (what) => ({ input }) => input === void 0 ? `missing; expected ${what}` : `expected ${what}, found ${shown(input)}`;
function shown(value) {
	if (value === null) return "nothing";
	if (Number.isNaN(value)) return "no number";
	if (typeof value === "string") return `"${excerpt(value)}"`;
	if (Array.isArray(value)) return "a list";
	if (typeof value === "object") return "keys and values";
	return String(value);
}

export { excerpt, expected, sentence };