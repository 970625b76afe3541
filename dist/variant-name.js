// src/report/escape.ts
/** As text, for what can say more only by markup of its own. */
const plain = {
	code: (text, mostCharacters) => plainLine(text, mostCharacters),
	name: (name) => name
};
/** A code span, cut to `mostCharacters`: no mention, link, reference, markup or line break in it can take effect. */
function codeSpan(text, mostCharacters = 200) {
	const line = plainLine(text, mostCharacters);
	if (line === "") return "";
	const fence = fenceFor(line, 1);
	const padding = line.startsWith("`") || line.endsWith("`") ? " " : "";
	return `${fence}${padding}${line}${padding}${fence}`;
}
/** A fenced code block, shortened in the middle to `mostCharacters`. */
function codeBlock(text, mostCharacters = 4e3) {
	const block = plainBlock(text, mostCharacters);
	const fence = fenceFor(block, 3);
	return `${fence}\n${block}\n${fence}`;
}
/** One line without control and format characters, cut to `mostCharacters`: markup in it is still markup. */
const plainLine = (text, mostCharacters = 200) => cut(withoutControls(text).replace(/\s+/g, " ").trim(), mostCharacters);
/** The same of many lines, shortened in the middle. */
const plainBlock = (text, mostCharacters = 4e3) => shortened(withoutControls(text).trimEnd(), mostCharacters);
/** Longer than any run of backticks inside. */
function fenceFor(text, least) {
	const runs = text.match(/`+/g) ?? [];
	return "`".repeat(Math.max(least, ...runs.map((run) => run.length + 1)));
}
/** Control and format characters colour terminals, turn the direction of text or hide it; tabs and line ends stay. */
function withoutControls(text) {
	return withoutSequences(text).replace(/(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}]/gu, "");
}
/** Without what a terminal obeys; control characters that stand alone stay. */
const withoutSequences = (text) => text.replace(sequences, "");
/**
* What a terminal obeys by ECMA-48: control sequences, strings that end, and a character set's choice. Node's own
* stripVTControlCharacters takes hours for a megabyte of strings that do not end; here no part can begin in another.
*/
const sequences = new RegExp([
	"(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]",
	"(?:\\x1b\\]|\\x9d)[^\\x07\\x1b\\x9c\\x9d]*(?:\\x07|\\x1b\\\\|\\x9c)",
	"\\x1b[()#]?[0-9A-PR-TZcf-nq-uy=><~]"
].join("|"), "g");
function shortened(text, mostCharacters) {
	if (text.length <= mostCharacters) return text;
	const half = Math.floor(mostCharacters / 2);
	const left = text.length - 2 * half;
	const [first, last] = [text.slice(0, half), text.slice(-half)].map(withoutHalves);
	return `${first}\n… ${left} characters left out …\n${last}`;
}
function cut(text, mostCharacters) {
	if (text.length <= mostCharacters) return text;
	return `${withoutHalves(text.slice(0, mostCharacters - 1)).trimEnd()}…`;
}
/** A cut may go through a surrogate pair. */
const withoutHalves = (text) => text.replace(/\p{Cs}/gu, "");

// src/build/variant-name.ts
/** Base and patched, of which a verdict is given; all others are shown beside them. */
const isJudged = (variant) => variant === "base" || variant === "patched";
/** Of an earlier diff of a revision: `diff 80345`. */
const diffName = (diff) => `diff ${diff}`;
/** As a part of a path, or of the name of a boot environment: `diff-80345`. */
const pathName = (variant) => variant.replaceAll(" ", "-");

export { codeSpan as a, plainLine as c, codeBlock as i, withoutSequences as l, isJudged as n, plain as o, pathName as r, plainBlock as s, diffName as t };