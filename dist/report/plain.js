import { formatNumeral, formatOrdinal, formatPercent, formatPps } from "../model/first-plain.js";
import { escaped } from "../model/plain.js";
import { embedded, embeddedScript } from "../system/embedded-assets.js";
import { flamegraphScript, flamegraphStyle } from "../analysis/profile/plain.js";
const { posix } = globalThis.process.getBuiltinModule("node:path");
const { brotliDecompressSync } = globalThis.process.getBuiltinModule("node:zlib");
const { createHash } = globalThis.process.getBuiltinModule("node:crypto");
const { readFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/report/markup.ts
var Html = class {
	markup;
	/** Takes trusted markup: untrusted text must be escaped already. */
	constructor(markup) {
		this.markup = markup;
	}
};
/** `` html`<p title="${text}">${texts.map((one) => html`<b>${one}</b>`)}</p>` ``; attributes need double quotes. */
const html = (own, ...pieces) => new Html(String.raw({ raw: own }, ...pieces.map(markupOf)));
function markupOf(piece) {
	if (piece === void 0 || piece === false) return "";
	if (piece instanceof Html) return piece.markup;
	if (typeof piece === "object") return piece.map(markupOf).join("");
	return escaped(String(piece));
}

// src/report/badge.ts
const badgeVerdicts = [
	"regression",
	"no-regression",
	"improvement",
	"inconclusive",
	"invalid",
	"does-not-apply",
	"build-failed",
	"does-not-load",
	"boot-failed",
	"panics-under-load"
];
/** `no-regression · 4.980 Mpps`, or `no data` after `staleSeconds`. */
function renderBadge({ label, last }, { now, staleSeconds }) {
	const isStale = last !== void 0 && now.getTime() - last.at.getTime() > staleSeconds * 1e3;
	return badgeOf(label, last === void 0 || isStale ? noData : {
		message: messageOf(last),
		color: colorOf(last)
	});
}
function badgeOf(label, { message, color }) {
	const shown = {
		label: readable(label),
		message,
		color
	};
	return {
		endpoint: {
			schemaVersion: 1,
			...shown
		},
		svg: pictureOf(shown)
	};
}
const noData = {
	message: "no data",
	color: "lightgrey"
};
const messageOf = ({ verdict, pps }) => pps === void 0 ? verdict : `${verdict} · ${formatPps(pps)}`;
function colorOf({ verdict }) {
	switch (verdict) {
		case "no-regression":
		case "improvement": return "brightgreen";
		case "inconclusive": return "yellow";
		case "invalid": return "lightgrey";
		default: return "red";
	}
}
const maxCharacters$1 = 100;
/** Shown in lists and on terminals: no line breaks or unprintable characters. */
const readable = (text) => [...text.replace(/[\s\p{C}]+/gu, " ").trim()].slice(0, maxCharacters$1).join("");
/** Colours by their shields.io names. */
const colors$1 = {
	brightgreen: "#4c1",
	yellow: "#dfb317",
	lightgrey: "#9f9f9f",
	red: "#e05d44"
};
const height = 20;
const baseline = 14;
const corner = 3;
const arc = `a${corner} ${corner} 0 0 1`;
const padding = 6;
const fontSize = 11;
/** Light text on grey, then dark text on the color, for contrast on every color. */
function pictureOf({ label, message, color }) {
	const [left, right] = [partWidth(label), partWidth(message)];
	const text = (shown, x, fill) => html`<text x="${x + padding}" y="${baseline}" fill="${fill}" textLength="${widthOf(shown)}" lengthAdjust="spacingAndGlyphs">${shown}</text>`;
	const { markup } = html`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${height}" role="img" aria-label="${label}: ${message}"><title>${label}: ${message}</title>
<rect width="${left + corner}" height="${height}" rx="${corner}" fill="#555"/>
<path d="M${left} 0h${right - corner}${arc} ${corner} ${corner}v${14}${arc} ${-3} ${corner}h${corner - right}z" fill="${colors$1[color]}"/>
<g font-family="Verdana,DejaVu Sans,sans-serif" font-size="${fontSize}">${text(label, 0, "#fff")}${text(message, left, "#111")}</g>
</svg>
`;
	return markup;
}
const partWidth = (text) => Math.ceil(widthOf(text)) + 12;
/** Returns an approximate width; `textLength` enforces it in any font. */
const widthOf = (text) => [...text].reduce((sum, character) => sum + characterWidth(character), 0);
function characterWidth(character) {
	const known = widths.get(character);
	if (known !== void 0) return known;
	if (/\p{M}/u.test(character)) return 0;
	return wide.test(character) ? fontSize : 7;
}
const wide = /[\p{sc=Han}\p{sc=Hang}\p{Emoji_Presentation}\u3000-\u30ff\uff01-\uff60]/u;
/** Measured in Chromium with DejaVu Sans at 11 px, about as wide as Verdana, rounded to half a pixel. */
const widths = new Map(Object.entries({
	"3": "'ijlIJ",
	"3.5": " ,.·/:;\\|",
	"4": "f-",
	"4.5": "()[]t!r",
	"5": "\"",
	"5.5": "*_`s",
	"6": "?czL",
	"6.5": "kvxyaoFPTY",
	"7": "$0123456789{}bdeghnpquEKS",
	"7.5": "ABCRVXZ",
	"8": "NU",
	"8.5": "&DGHOQ",
	"9": "#+<=>^~w",
	"9.5": "M",
	"10.5": "%m",
	"11": "@W"
}).flatMap(([width, characters]) => [...characters].map((one) => [one, Number(width)])));

// src/report/earlier-gates-text.ts
/** `; third gate of this commit, an earlier one red`; empty for a first gate. */
function gateNumberText(result) {
	const earlier = greaterOf(cellsOf(result));
	if (earlier === void 0) return "";
	const isUndone = verdictOf(result) !== "regression" && earlier.regressions > 0;
	return `; ${gateOf(earlier)}${isUndone ? ", an earlier one red" : ""}`;
}
/** Trusted plain sentences; undefined for a first gate. */
function earlierGatesText(result) {
	const cells = cellsOf(result);
	const earlier = greaterOf(cells);
	if (earlier === void 0) return void 0;
	const again = cells.filter((cell) => cell.earlierGates?.count === earlier.count);
	const where = again.length < cells.length ? ` in ${again.length} of ${cells.length} cells` : "";
	const gate = capitalized(gateOf(earlier));
	const verdict = verdictOf(result);
	return `${gate} on this testbed${where}: ${worthOf(result, earlier)}.${earlierRedText(earlier, verdict)}`;
}
const cellsOf = ({ outcome }) => outcome.kind === "judged" ? outcome.cells : [];
const verdictOf = ({ outcome }) => outcome.kind === "judged" ? outcome.verdict : void 0;
/** Returns the largest numbers of all cells. */
function greaterOf(cells) {
	const all = cells.flatMap(({ earlierGates }) => earlierGates ?? []);
	if (all.length === 0) return void 0;
	return {
		count: Math.max(...all.map(({ count }) => count)),
		regressions: Math.max(...all.map(({ regressions }) => regressions))
	};
}
const gateOf = ({ count }) => `${formatOrdinal(count + 1)} gate of this commit`;
/** Probability over independent gates: 1 − (1 − rate)ⁿ. */
const inAny = (rate, gates) => formatPercent(-Math.expm1(gates * Math.log1p(-rate)));
function worthOf({ outcome, policy }, { count }) {
	const { marginRatio, missRatio, falseAlarmRatio } = policy;
	const gates = count + 1;
	const so = `${formatNumeral(gates)} gates`;
	switch (verdictOf({ outcome })) {
		case "improvement":
		case "no-regression": return `${so} pass a true loss of ${formatPercent(marginRatio)} in up to ${inAny(missRatio, gates)}`;
		case "regression": return `${so} of a patch that loses nothing find a regression in up to ${inAny(falseAlarmRatio, gates)}`;
		default: return "to extend a gate keeps its error rates, another gate does not";
	}
}
function earlierRedText({ count, regressions }, verdict) {
	if (regressions === 0) return "";
	const subject = count === 1 ? "The earlier one" : `${capitalized(formatNumeral(regressions))} of the earlier ones`;
	return verdict === "regression" ? ` ${subject} found a regression as well.` : ` ${subject} found a regression, which this verdict does not undo.`;
}
const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// src/report/scale.ts
function linearScale(extent, from, to) {
	const { low, high } = extent;
	return (value) => from + (clamped(value, extent) - low) / (high - low) * (to - from);
}
const clamped = (value, { low, high }) => Math.min(Math.max(value, low), high);
/** Pads rates of zero or more, so that noise of a thousandth does not look dramatic. */
function paddedRates({ low, high }, { spareRatio, minRatio }) {
	const spare = Math.max((high - low) * spareRatio, high * minRatio, Number.MIN_VALUE);
	return {
		low: Math.max(low - spare, 0),
		high: high + spare
	};
}
/** Returns how many values may be outliers: a tenth, but one of four and two of twelve. */
function maxOutliers(count) {
	if (count < 4) return 0;
	return count < 12 ? 1 : Math.max(2, Math.floor(count / 10));
}
/**
* Excludes outliers, so that they do not flatten the plot: the middle of the values and `kept` take at least three
* fifths.
*/
function robustExtent(values, kept = []) {
	const { low, high } = extentOf([...middleOf(values), ...kept]);
	const reach = (high - low) / 3;
	const near = values.filter((value) => value >= low - reach && value <= high + reach);
	return extentOf([
		low,
		high,
		...near
	]);
}
/** Returns the values in the shortest range that holds all but the outliers. */
function middleOf(values) {
	const sorted = values.toSorted((a, b) => a - b);
	const count = sorted.length - maxOutliers(sorted.length);
	const widthFrom = (first) => (sorted[first + count - 1] ?? 0) - (sorted[first] ?? 0);
	const first = Array.from({ length: sorted.length - count + 1 }, (_, first) => first).reduce((best, one) => widthFrom(one) < widthFrom(best) ? one : best, 0);
	return sorted.slice(first, first + count);
}
const isWithin = (value, { low, high }) => value >= low && value <= high;
/** Avoids spreading into Math.min, which has too many arguments for some plots. */
const extentOf = (values) => values.reduce(({ low, high }, value) => ({
	low: Math.min(low, value),
	high: Math.max(high, value)
}), {
	low: Number.POSITIVE_INFINITY,
	high: Number.NEGATIVE_INFINITY
});
/** Returns about six round numbers within a non-empty axis, at most `most`. */
function ticksOf({ low, high }, most = 8) {
	const least = (high - low) / most;
	const power = 10 ** Math.floor(Math.log10(least));
	const step = power * ([
		1,
		2,
		5
	].find((factor) => factor * power >= least) ?? 10);
	const [first, last] = [Math.ceil(low / step), Math.floor(high / step)];
	return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

// src/report/svg.ts
/** Draws both forms; a page shows the one that fits its width, in its own colours. */
function bothForms(draw) {
	const drawn = ["wide", "narrow"].flatMap((form) => {
		const plot = draw(form);
		return plot === void 0 ? [] : html`<div class="${form}">${new Html(plot)}</div>\n`;
	});
	if (drawn.length === 0) return [];
	return [{
		kind: "drawing",
		drawing: html`<div class="intervals">${drawn}</div>\n`
	}];
}
/** All distinct, so that a page can replace each. */
const colors = {
	paper: "#ffffff",
	ink: "#1f2328",
	faint: "#59636e",
	pale: "#e3e7eb",
	red: "#c62f2f",
	green: "#1a7f4b",
	amber: "#a86200",
	grey: "#6e7781"
};
/** Draws its own background; the first piece is its title. */
/** Beyond this, browsers and mail readers give up. Throws a RangeError for a larger plot. */
const maxCharacters = 2e6;
function svgDocument(width, height, pieces) {
	const attributes = {
		xmlns: "http://www.w3.org/2000/svg",
		width,
		height,
		viewBox: `0 0 ${width} ${height}`,
		role: "img",
		"font-family": "'Open Sans', 'Segoe UI', 'Helvetica Neue', Arial, sans-serif",
		"font-size": 13,
		fill: colors.ink
	};
	const [title, ...rest] = pieces;
	const svg = `${element("svg", attributes, [
		"",
		title,
		element("rect", {
			width,
			height,
			rx: 6,
			fill: colors.paper
		}),
		...rest,
		""
	].join("\n"))}\n`;
	if (svg.length <= maxCharacters) return svg;
	throw new RangeError(`a plot of ${svg.length} characters is not drawn, the limit is ${maxCharacters}`);
}
function element(name, attributes, inside) {
	const start = `<${name}${Object.entries(attributes).map(([key, value]) => ` ${key}="${typeof value === "number" ? round(value) : escaped(value)}"`).join("")}`;
	return inside === void 0 ? `${start}/>` : `${start}>${inside}</${name}>`;
}
const path$1 = (d, attributes) => element("path", {
	d,
	...attributes
});
const text = (content, attributes) => element("text", attributes, escaped(content));
const round = (pixels) => Math.round(pixels * 100) / 100;

// src/report/html-style.ts
const light = {
	...colors,
	page: colors.paper,
	desk: "#f5f7f9",
	blue: "#0b62b8",
	shade: "#eef1f4",
	kernel: "#f0b46c",
	module: "#7fc4b4"
};
const dark = {
	desk: "#0f1419",
	paper: "#171d24",
	page: "#171d24",
	ink: "#e3e8ee",
	faint: "#98a3af",
	pale: "#2c343d",
	red: "#ff8078",
	green: "#5bc98a",
	amber: "#e0a94a",
	grey: "#98a3af",
	blue: "#79b8ff",
	shade: "#1f262e",
	kernel: "#a8692a",
	module: "#3a8071"
};
const properties = (scheme) => Object.entries(scheme).map(([name, color]) => `--${name}:${color};`).join("");
const plotColors = Object.entries(colors).flatMap(([name, color]) => ["fill", "stroke"].map((which) => `.intervals [${which}="${color}"]{${which}:var(--${name})}\n`)).join("");
/** Print is always light. */
const pageStyle = () => `
:root{color-scheme:light dark;${properties(light)}}
@media screen and (prefers-color-scheme:dark){:root{${properties(dark)}}}
${plotColors}${embedded(new URL("../html-style.css", import.meta.url))}`;

// \0@oxc-project+runtime@0.156.0/helpers/esm/taggedTemplateLiteral.js
function _taggedTemplateLiteral(e, t) {
	return t || (t = e.slice(0)), Object.freeze(Object.defineProperties(e, { raw: { value: Object.freeze(t) } }));
}

// src/report/html-document.ts
var _templateObject;
/** Loads nothing; the Content-Security-Policy (W3C, level 3) permits only its own style and scripts, by hash. */
function htmlDocument({ title, body, hasGraphs }) {
	const style = hasGraphs ? `${pageStyle()}${flamegraphStyle()}` : pageStyle();
	const scripts = hasGraphs ? [flamegraphScript(), openTarget()] : [];
	const policy = [
		"default-src 'none'",
		"img-src data:",
		`style-src ${hashOf(style)}`,
		...scripts.length > 0 ? [`script-src ${scripts.map(hashOf).join(" ")}`] : [],
		"base-uri 'none'",
		"form-action 'none'"
	].join("; ");
	return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${new Html(style)}</style>
</head>
<body>
${body}${scripts.map((script) => html(_templateObject || (_templateObject = _taggedTemplateLiteral(["<script>", "<\/script>\n"], ["<script>", "<\/script>\\n"])), new Html(script)))}</body>
</html>
`.markup;
}
const openTarget = () => embeddedScript(new URL("../open-target.js", import.meta.url));
const hashOf = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

// src/report/annotations.ts
const maxAnnotations = 20;
/** Parses output of compilers, `git apply` and rule parsers with a path and a line number. */
function annotationsOf({ outcome, variants }) {
	if (!("message" in outcome)) return [];
	const patched = variants.find(({ name }) => name === "patched");
	return outcome.message.split("\n").flatMap((line) => annotation(line, patched) ?? []).slice(0, maxAnnotations);
}
/**
* Matches `/usr/src/sys/netinet/ip.c:12:3: error: …`, `error: patch failed: sys/netinet/ip.c:12`, `nftables.conf:3:1:
* Error: …`.
*/
function annotation(line, patched) {
	const text = line.replace(/[\p{Cc}\p{Cf}]+/gu, " ").trim();
	const [, ofGit, found = "", digits] = /^(error: patch failed: )?([\w./+-]{1,300}):(\d{1,7})(?::|$|\s)/.exec(text) ?? [];
	if (digits === void 0 || !/error/i.test(text)) return void 0;
	const path = ofGit === void 0 ? pathOf(found, patched) : found;
	if (path === void 0 || !isPlain(path)) return void 0;
	const number = Math.max(1, Number(digits));
	return {
		path,
		start_line: number,
		end_line: number,
		annotation_level: "failure",
		message: text.slice(0, 1e3).replace(/\p{Cs}/gu, "")
	};
}
/** Returns undefined outside the repository: GitHub would not show the annotation. */
function pathOf(found, patched) {
	const file = patched?.files.find(({ path }) => path === found);
	if (file?.source !== void 0) return file.source;
	if (patched?.folder === void 0) return kernelPath(found);
	return file && [patched.folder, file.path].filter(Boolean).join("/");
}
/**
* Kernel sources are in `sys/` of a builder's tree, anywhere on disk; modules name them relative to their own folder.
* Build products are in folders like `obj/usr/src/amd64.amd64/sys/GENERIC`; if that is `sys/amd64/compile/GENERIC`,
* `../../..` is `sys`.
*/
function kernelPath(found) {
	const [, before = "", source] = /^(|.*?\/)(sys\/.+)$/.exec(found.replace(/^(?:\.\.\/){3}(?!\.\.\/)/, "sys/")) ?? [];
	if (source === void 0 || objectFolder.test(before)) return void 0;
	const path = posix.normalize(source);
	return path.startsWith("sys/") ? path : void 0;
}
const objectFolder = /(?:^|\/)(?:obj\/|(?:amd64|arm|arm64|i386|powerpc|riscv)\.\w+\/$)/;
/** Accepts plain paths only: a patch can make a compiler print anything, and a job may forge its result. */
const isPlain = (path) => path.length <= 500 && /^(?:[^\p{C}/\\]+\/)*[^\p{C}/\\]+$/u.test(path) && path.split("/").every((part) => /[^.]/.test(part));

// src/report/png.ts
/** Doubles the resolution for dense screens; deterministic. Throws for an invalid SVG. */
async function pngOf(svg) {
	loading ??= load();
	const { Resvg, fontBuffers } = await loading;
	const picture = new Resvg(svg, {
		fitTo: {
			mode: "zoom",
			value: 2
		},
		font: {
			fontBuffers,
			defaultFontFamily: "Open Sans"
		}
	});
	try {
		const image = picture.render();
		const png = image.asPng();
		image.free();
		return png;
	} finally {
		picture.free();
	}
}
/** WebAssembly is initialized once per process. */
let loading;
async function load() {
	const [{ initWasm, Resvg }, wasm, ...fontBuffers] = await Promise.all([
		import("../vendor/resvg-resvg-wasm.js"),
		readFile(wasmFile),
		...fontFiles.map((file) => readFile(file))
	]);
	await initWasm(isWebAssembly(wasm) ? wasm : brotliDecompressSync(wasm));
	return {
		Resvg,
		fontBuffers
	};
}
const isWebAssembly = (bytes) => bytes.subarray(0, 4).toString() === "\0asm";
const wasmFile = new URL("../index_bg.wasm", import.meta.url);
const fontFiles = [new URL("../open-sans-latin-400-normal.woff2", import.meta.url), new URL("../open-sans-latin-600-normal.woff2", import.meta.url)];

export { Html, _taggedTemplateLiteral, annotationsOf, badgeOf, badgeVerdicts, bothForms, clamped, colors, earlierGatesText, element, extentOf, gateNumberText, html, htmlDocument, isWithin, linearScale, paddedRates, pageStyle, path$1 as path, pngOf, renderBadge, robustExtent, round, svgDocument, text, ticksOf };