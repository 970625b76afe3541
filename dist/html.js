import { B as headline, C as verdictMeanings, K as patchName, S as uncountedLines, U as sentence, a as howToReadTexts, b as standingApartLines, c as leftOutLines, f as notesOf, h as pageUrl, l as ministats, m as otherMetricsOf, n as failureSaid, o as kernelsOf, p as numbers, r as failureText, u as movedBaselineLines, v as rule, w as worstFirst, y as setting } from "./markdown.js";
import { i as layout, n as flamegraphStyle, r as flamegraphScript, t as flamegraph } from "./flamegraph.js";
import { t as cellName } from "./scenario.js";
import { c as plainLine, n as isJudged, o as plain, s as plainBlock } from "./variant-name.js";
import { c as formatPercent, d as grouped, f as metricName, i as formatDifference, n as flamegraphAnchor, o as formatInterval, r as formatChange, s as formatMetric, u as formatShare } from "./format.js";
import { r as reasonOf } from "./one-line.js";
import { n as samplesOf } from "./profile-error.js";
import { t as escaped } from "./xml.js";
import { n as intervalPlot, r as looks, t as colors } from "./interval-plot.js";
import { t as median } from "./summary.js";
import { createHash } from "node:crypto";

// src/report/graphs.ts
/** Of every cell that was judged all variants, and the difference of base and patched, as far as there are profiles. */
function graphsOf({ outcome }, profiles) {
	if (outcome.kind !== "judged") return [];
	const cells = new Map(outcome.cells.map((cell) => [cellName(cell.cell), cell]));
	return profiles.flatMap((data) => {
		const cell = cells.get(cellName(data.cell));
		return cell === void 0 ? [] : graphsOfCell(cell, data);
	});
}
/**
* As a file that is its own viewer, or else as an element for a page that brings flamegraphs' style and script. Left out
* where it cannot be drawn, for a profile may say more than a picture can show: a report goes without it.
*/
function drawGraph(graph, standalone = true) {
	const { title, subtitle, profile, base } = graph;
	try {
		return {
			kind: "drawn",
			svg: flamegraph(profile, {
				title,
				subtitle,
				base,
				standalone
			})
		};
	} catch (error) {
		return {
			kind: "left-out",
			why: `There is no flamegraph of ${title}: ${reasonOf(error)}`
		};
	}
}
function graphsOfCell({ cell, profiles }, { variants }) {
	const told = new Map(profiles.flatMap((one) => one.kind === "profiled" ? [[one.variant, one]] : []));
	const graphs = variants.map(({ variant, profile }) => ({
		...placed(cell, variant),
		title: `${cellName(cell)}, ${plainLine(variant)}`,
		subtitle: subtitleOf(told.get(variant), profile),
		profile
	}));
	const [base, patched] = ["base", "patched"].map((name) => graphs.find(({ which }) => which === name));
	if (base === void 0 || patched === void 0) return graphs;
	const difference = {
		...placed(cell, "difference"),
		title: `${cellName(cell)}, patched against base`,
		subtitle: `base: ${base.subtitle}; patched: ${patched.subtitle}`,
		profile: patched.profile,
		base: base.profile
	};
	return [...graphs, difference];
}
const placed = (cell, which) => ({
	cell,
	which,
	anchor: flamegraphAnchor(cell, which)
});
/** `FreeBSD 15.0-CURRENT n1234 GENERIC · cpu_clk_unhalted.thread_p · 48,210 samples`. */
function subtitleOf(told, profile) {
	const samples = `${grouped(told?.busySamples ?? samplesOf(profile.stacks))} samples`;
	return [...(told === void 0 ? [] : [told.kernel, told.event]).map((text) => plainLine(text)), samples].join(" · ");
}

// src/report/markup.ts
/** Markup of our own making. */
var Html = class {
	markup;
	/** Takes the text as markup: nothing of others may be in it that is not escaped. */
	constructor(markup) {
		this.markup = markup;
	}
};
/** `` html`<p title="${text}">${texts.map((one) => html`<b>${one}</b>`)}</p>` ``; attributes stand in double quotes. */
const html = (own, ...pieces) => new Html(String.raw({ raw: own }, ...pieces.map(markupOf)));
function markupOf(piece) {
	if (piece === void 0 || piece === false) return "";
	if (piece instanceof Html) return piece.markup;
	if (typeof piece === "object") return piece.map(markupOf).join("");
	return escaped(String(piece));
}

// src/report/graph-preview.ts
/** For a page, whose style has its size and colours; nothing where there are no samples. */
function graphPreview({ profile, base }) {
	const stacks = {
		profile: profile.stacks,
		base: base?.stacks ?? []
	};
	const totals = {
		profile: samplesOf(stacks.profile),
		base: samplesOf(stacks.base)
	};
	if (totals.profile === 0) return void 0;
	const pixelsPerSample = width$1 / totals.profile;
	const { rows } = layout(stacks, "profile", {
		pixelsPerSample,
		leastPixels: .7
	});
	const boxes = rows.flatMap((row, depth) => row.map((box) => ({
		look: base === void 0 ? moduleLook(box) : changeLook(box, totals),
		path: `M${tenths(box.x)} ${rows.length - depth - 1}h${tenths(box.width)}v1h-${tenths(box.width)}z`
	})));
	const paths = [...Map.groupBy(boxes, ({ look }) => look)].map(([look, own]) => html`<path class="${look}" d="${own.map(({ path }) => path).join("")}"/>`);
	return html`<svg class="preview" viewBox="0 0 ${width$1} ${rows.length}" preserveAspectRatio="none" aria-hidden="true">${paths}</svg>`;
}
/** Of the page's pixels, about. A row is of one unit, and as high as there is room. */
const width$1 = 340;
const tenths = (pixels) => Math.round(pixels * 10) / 10;
const moduleLook = ({ module }) => module === void 0 || /^kernel/.test(module) ? "of-kernel" : "of-module";
/** By the share of all samples that a path with all that it calls has, before and now. */
function changeLook({ samples }, totals) {
	const change = samples.profile / totals.profile - samples.base / totals.base;
	if (Math.abs(change) < .003) return "same";
	return `${change > 0 ? "more" : "less"}${Math.abs(change) < .03 ? "" : " much"}`;
}

// src/report/html-pieces.ts
/** Scrolls by itself where it is wider than the page. */
function table({ caption, heads, rows }) {
	const classAt = (index) => heads[index]?.isNumber === true && html` class="number"`;
	const head = heads.map(({ text }, index) => html`<th scope="col"${classAt(index)}>${text}</th>`);
	const body = rows.map(([first, ...others]) => html`<tr><th scope="row"${classAt(0)}>${first}</th>${others.map((piece, index) => html`<td${classAt(index + 1)}>${piece}</td>`)}</tr>\n`);
	return scrolling(html`<table><caption><span>${caption}</span></caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody></table>`);
}
/** Reached by the keyboard, as it may have to be scrolled by it. */
const scrolling = (piece) => html`<div class="scroll" tabindex="0">${piece}</div>\n`;
/** Nothing where there are no items. */
const bullets = (items) => items.length === 0 ? void 0 : html`<ul>${items.map((one) => html`<li>${one}</li>`)}</ul>\n`;
const fold = (summary, body) => html`<details><summary>${summary}</summary>\n${body}</details>\n`;
/** A block of text as it is, line ends included. */
const preformatted = (text) => scrolling(html`<pre>${text.split("\n").map((line) => html`${line}\n`)}</pre>`);
/** Text of our own in which backticks stand around code. */
const withCode = (text) => text.split("`").map((part, index) => index % 2 === 1 ? html`<code>${part}</code>` : part);
/** The same symbol as in the plot. */
const mark = (verdict) => html`<svg class="mark ${verdict}" viewBox="-8 -8 16 16" aria-hidden="true"><path d="${looks[verdict].symbol}"/></svg>`;

// src/report/run-plot.ts
/** For a page, whose style has its colours; nothing where no run has a number. */
function runPlot(inOrder, metric) {
	const points = inOrder.flatMap((run, index) => {
		const value = run[metric];
		return value === void 0 ? [] : {
			run,
			value,
			x: left + (index + .5) * stepOf(inOrder)
		};
	});
	if (points.length === 0) return void 0;
	const axis = axisOf(points);
	const variants = [...Map.groupBy(points, ({ run }) => run.variant)];
	return scrolling(html`<svg class="runs" viewBox="0 0 ${width} ${height}" role="img" aria-label="${described(points)}">
${[axis.high, axis.low].map((value) => edge(value, placeOf(value, axis), metric))}
${variants.map(([variant, own]) => drawn$1(lookOf(variant), own, axis))}
${legend(variants.map(([variant]) => variant), points)}
</svg>`);
}
const [width, height] = [920, 190];
const [left, right, top, bottom] = [
	96,
	900,
	34,
	170
];
const stepOf = (runs) => (right - left) / runs.length;
/** Runs that do not count may lie far away: they are drawn at the edge, where the others are seen apart. */
function axisOf(points) {
	const valid = points.filter(({ run }) => run.validity.kind === "valid");
	const [least, most] = (valid.length > 0 ? valid : points).map(({ value }) => value).reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Number.POSITIVE_INFINITY, 0]);
	const room = Math.max((most - least) * .08, most * .005, Number.MIN_VALUE);
	return {
		low: Math.max(least - room, 0),
		high: most + room
	};
}
function placeOf(value, { low, high }) {
	const share = (Math.min(Math.max(value, low), high) - low) / (high - low);
	return Math.round((bottom - share * (bottom - top)) * 10) / 10;
}
const edge = (value, y, metric) => html`<path class="edge" d="M${left} ${y}H${right}"/><text x="${left - 10}" y="${y + 4}" text-anchor="end">${formatMetric(value, metric)}</text>\n`;
/** Their median, and a mark for each. */
function drawn$1(look, points, axis) {
	const [valid, invalid] = [true, false].map((isValid) => points.filter(({ run }) => run.validity.kind === "valid" === isValid));
	const marks = (shape, some = []) => some.map(({ value, x }) => `M${Math.round(x * 10) / 10} ${placeOf(value, axis)}${shape}`).join("");
	const middle = valid?.length ? html`<path class="middle ${look.name}" d="M${left} ${placeOf(median(valid.map(({ value }) => value)), axis)}H${right}"/>\n` : void 0;
	return html`${middle}<path class="${look.name}" d="${marks(look.shape, valid)}"/>
<path class="uncounted" d="${marks(cross, invalid)}"/>\n`;
}
const cross = "m-3.5 -3.5l7 7m0 -7l-7 7";
const shapes = {
	base: "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0",
	patched: "m-4 3.2h8l-4 -7Z",
	other: "m0 -4l4 4l-4 4l-4 -4Z"
};
function lookOf(variant) {
	const name = !isJudged(variant) ? "other" : variant === "base" ? "base" : "patched";
	return {
		name,
		shape: shapes[name]
	};
}
function legend(variants, points) {
	const hasInvalid = points.some(({ run }) => run.validity.kind === "invalid");
	return [...variants.slice(0, mostNamed).map((variant) => ({
		label: plainLine(variant, 16),
		...lookOf(variant)
	})), ...hasInvalid ? [{
		label: "does not count",
		name: "uncounted",
		shape: cross
	}] : []].map(({ label, name, shape }, index) => {
		const x = left + index * 120;
		return html`<path class="${name}" d="M${x + 6} 14${shape}"/><text x="${x + 16}" y="18">${label}</text>\n`;
	});
}
const mostNamed = 5;
const described = (points) => `${points.length} runs in order; the table below has their numbers`;

// src/report/html-cell.ts
/** With the pictures of this cell alone. */
const cellSection = (policy, result, pictures) => html`<section id="${cellAnchor(result)}">
<h2>${mark(result.verdict.kind)} ${cellName(result.cell)}</h2>
${finding(policy, result)}${why(result)}${drawn(pictures)}${runs(policy, result)}${ministatFolds(policy, result)}</section>
`;
/** Where on the page a cell stands. */
const cellAnchor = ({ cell }) => `cell-${cellName(cell)}`.replace(/[^\w.-]+/g, "-");
/** `regression: −10.4 % (95 % interval −11.2 … −9.60)`, and what is to be known beside it. */
function finding({ confidenceRatio }, { verdict, comparisons }) {
	const { interval } = comparisons[0] ?? {};
	const numbers = interval && [html`: <strong>${formatChange(interval.change)}</strong> `, `(${formatPercent(confidenceRatio)} interval ${formatInterval(interval.low, interval.high)})`];
	return html`<p><b class="${verdict.kind}">${verdict.kind}</b>${numbers}</p>
${verdict.kind === "invalid" && html`<p>${plainLine(verdict.reason, 1e3)}</p>\n`}${verdict.kind === "inconclusive" && html`<p>More runs would tell: <code>ppsgate gate --resume DIR --max-runs N</code></p>\n`}`;
}
function why({ reason, profiles }) {
	const missing = profiles.flatMap((one) => one.kind === "missing" ? `${plainLine(one.variant)}: ${plainLine(one.reason, 500)}` : []);
	if (reason === void 0 && missing.length === 0) return void 0;
	return html`<h3>Why</h3>
${reason && moved(reason)}${missing.length > 0 && html`<p>There is no profile of</p>\n${bullets(missing)}`}`;
}
function moved({ movers, moved, idleFrames }) {
	const idle = idleFrames.length > 0 && ` Stacks with ${idleFrames.map((name) => plainLine(name)).join(", ")} are left out, as the CPU idled in them.`;
	if (movers.length === 0) return html`<p>No function’s share of the samples moved beyond chance.${idle}</p>\n`;
	const rest = moved - movers.length;
	const others = rest > 0 && `; ${rest} more moved less`;
	const hasTime = movers.some(({ nsPerPacket }) => nsPerPacket !== void 0);
	const numbers = [
		"base",
		"patched",
		"change",
		...hasTime ? ["change per packet"] : []
	];
	return table({
		caption: html`Functions whose own share of the samples, in percent, moved beyond chance${others}.${idle}`,
		heads: [
			{ text: "function" },
			{ text: "module" },
			...numbers.map((text) => ({
				text,
				isNumber: true
			}))
		],
		rows: movers.map((mover) => [...moverRow(mover), ...hasTime ? [timeText$1(mover)] : []])
	});
}
const moverRow = (mover) => [
	html`<code>${plainLine(mover.function)}</code>`,
	plainLine(mover.module ?? "–"),
	formatShare(mover.baseRatio),
	formatShare(mover.patchedRatio),
	formatDifference((mover.patchedRatio - mover.baseRatio) * 100)
];
const timeText$1 = ({ nsPerPacket }) => nsPerPacket === void 0 ? "–" : `${formatDifference(nsPerPacket.patched - nsPerPacket.base)} ns`;
const drawn = (pictures) => pictures.length > 0 && html`<h3>Flamegraphs</h3>
<div class="graphs">
${pictures.map(graphFold)}</div>
`;
/** The browser itself opens a fold for what a link or a search finds in it. */
function graphFold({ graph, svg, why }) {
	const { anchor, which } = graph;
	if (why !== void 0) return html`<p id="${anchor}">${plainLine(why, 500)}</p>\n`;
	const elsewhere = html`<p>It is too large for this page, and drawn in <code>${anchor}.svg</code>.</p>`;
	return html`<details class="graph">
<summary>${plainLine(which)}${graphPreview(graph)}</summary>
<div id="${anchor}">${svg === void 0 ? elsewhere : new Html(svg)}</div>
</details>
`;
}
/** In their order. */
function runs(policy, cell) {
	const inOrder = cell.runs.toSorted((a, b) => a.number - b.number);
	if (inOrder.length === 0) return void 0;
	const remarks = [["Runs that do not count:", uncountedLines([cell], plain)], ["Runs that stand apart, and count:", standingApartLines([cell], plain)]];
	return html`<h3>Runs</h3>
${runPlot(inOrder, policy.metric)}${remarks.map(([said, lines]) => lines.length > 0 && html`<p>${said}</p>\n${bullets(lines)}`)}${fold(`${inOrder.length} runs in order`, runTable(inOrder))}`;
}
function runTable(inOrder) {
	const hasTime = inOrder.some(({ nsPerPacket }) => nsPerPacket !== void 0);
	return table({
		caption: "All runs of the cell, as they followed each other; those of one pair are compared",
		heads: [
			{
				text: "run",
				isNumber: true
			},
			{
				text: "pair",
				isNumber: true
			},
			{ text: "variant" },
			{
				text: "packets per second",
				isNumber: true
			},
			...hasTime ? [{
				text: "CPU time per packet",
				isNumber: true
			}] : [],
			{ text: "counts" }
		],
		rows: inOrder.map((run) => [
			run.number,
			run.pair,
			plainLine(run.variant),
			formatMetric(run.pps, "pps"),
			...hasTime ? [timeOf(run)] : [],
			validityText(run)
		])
	});
}
const timeOf = ({ nsPerPacket }) => nsPerPacket === void 0 ? "–" : formatMetric(nsPerPacket, "nsPerPacket");
function validityText({ validity }) {
	if (validity.kind === "valid") return "yes";
	return html`<b class="invalid">no</b>, ${validity.cause}: ${plainLine(validity.reason, 500)}`;
}
const ministatFolds = (policy, cell) => ministats(policy, [cell]).map(({ name, note, text }) => fold(name, [note !== void 0 && html`<p>${note}</p>\n`, preformatted(text)]));

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
/** The plot names its colours itself; here each becomes the page's own. */
const plotColors = Object.entries(colors).flatMap(([name, color]) => ["fill", "stroke"].map((which) => `.intervals [${which}="${color}"]{${which}:var(--${name})}\n`)).join("");
const pageStyle = `
:root{color-scheme:light dark;${properties(light)}}
@media (prefers-color-scheme:dark){:root{${properties(dark)}}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem;-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--desk);color:var(--ink);font:15px/1.55 system-ui,-apple-system,'Segoe UI','Open Sans','Helvetica Neue',Arial,sans-serif}
header,section,footer{width:min(72rem,100% - 2rem);margin:0 auto 1.25rem;padding:1.25rem 1.75rem;background:var(--paper);border:1px solid var(--pale);border-radius:10px;overflow-wrap:break-word}
header{margin-top:1.5rem;border-top:5px solid var(--grey)}
header.regression{border-top-color:var(--red)}
header.improvement,header.no-regression{border-top-color:var(--green)}
header.inconclusive{border-top-color:var(--amber)}
footer{background:none;border:0;padding-block:0;color:var(--faint);font-size:13px}
main{min-width:0}
h1{margin:.1rem 0 .5rem;font-size:1.6rem;line-height:1.3;font-weight:650;text-wrap:balance}
h2{margin:0 0 .6rem;font-size:1.2rem;line-height:1.3}
p+h2,.scroll+h2{margin-top:1.5rem}
h3{margin:1.6rem 0 .4rem;font-size:1rem}
p{margin:.35rem 0}
ul{margin:.35rem 0;padding-left:1.2rem}
a{color:var(--blue);text-underline-offset:.15em}
.name{margin:0;color:var(--faint);font-weight:600;letter-spacing:.02em}
.faint,caption,dt{color:var(--faint)}
code,pre,.other{font-family:ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:.88em}
code{overflow-wrap:anywhere}
pre{margin:0;padding:.8rem 1rem;line-height:1.4;background:var(--shade);border-radius:6px;width:max-content;min-width:100%}
.mark{width:.85em;height:.85em;vertical-align:-.04em;fill:currentColor}
.regression{--verdict:var(--red)}
.improvement,.no-regression{--verdict:var(--green)}
.inconclusive{--verdict:var(--amber)}
.invalid{--verdict:var(--grey)}
.mark,b[class]{color:var(--verdict)}
.scroll{overflow-x:auto;max-width:100%;margin:.5rem 0}
:focus-visible{outline:2px solid var(--blue);outline-offset:2px;border-radius:3px}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
caption{text-align:left;padding-bottom:.4rem;font-size:13px}
caption span{display:inline-block;position:sticky;left:0;max-width:min(100%,calc(100vw - 2.2rem))}
th,td{padding:.4rem .9rem .4rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--pale)}
th{font-weight:inherit}
thead th{color:var(--faint);font-size:13px;white-space:nowrap;vertical-align:bottom}
tbody th{white-space:nowrap}
tbody tr:last-child>*{border-bottom:0}
.number{text-align:right}
th a{text-decoration:none}
th a:hover{text-decoration:underline}
.other{padding-left:1.2rem;color:var(--faint)}
nav{margin-top:1rem;padding-top:.8rem;border-top:1px solid var(--pale)}
nav ul{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.6rem}
nav li{white-space:nowrap}
details{margin:.6rem 0}
summary{cursor:pointer;padding:.2rem 0;width:fit-content}
summary:hover{color:var(--blue)}
.intervals{margin-inline:-1.75rem}
.intervals svg,.runs{display:block;width:100%;height:auto;min-width:44rem}
.runs{font-size:12px;fill:var(--faint)}
.runs path{fill:none;stroke:var(--faint)}
.runs .edge{stroke:var(--pale)}
.runs .middle{stroke-dasharray:5 4;opacity:.7}
.runs path.base{stroke:var(--faint);stroke-width:1.4}
.runs path.patched{stroke:var(--blue);fill:var(--blue)}
.runs path.other{stroke:var(--amber)}
.runs path.middle{fill:none}
.runs path.uncounted{stroke:var(--red);stroke-width:1.6}
.graphs{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(17rem,100%),1fr));gap:.8rem}
.graph{margin:0;min-width:0;border:1px solid var(--pale);border-radius:8px;overflow:hidden}
.graph[open]{grid-column:1/-1}
.graph summary{width:auto;padding:.5rem .8rem}
.preview{display:block;width:100%;height:7.5rem;margin-top:.5rem}
.preview path{stroke:var(--paper);vector-effect:non-scaling-stroke;stroke-width:.7}
.preview .of-kernel{fill:var(--kernel)}
.preview .of-module{fill:var(--module)}
.preview .same{fill:var(--pale)}
.preview .more{fill:var(--red)}
.preview .less{fill:var(--blue)}
.preview :is(.more,.less):not(.much){opacity:.45}
.graph[open]>summary .preview{display:none}
.graph .ppsgate-flamegraph{--paper:var(--page)}
dl{margin:1rem 0 0;display:grid;grid-template-columns:repeat(auto-fill,minmax(min(28rem,100%),1fr));gap:.1rem 2rem}
dl div{display:flex;gap:.8rem;padding:.3rem 0;border-bottom:1px solid var(--pale);min-width:0}
dt{flex:0 0 38%;overflow-wrap:anywhere}
dd{margin:0;min-width:0;overflow-wrap:anywhere}
${plotColors}
@media (max-width:40rem){
body{font-size:14.5px}
header,section,footer{width:auto;padding:1rem;border-radius:0;border-inline:0;margin-bottom:.8rem}
header{margin-top:0}
.intervals{margin-inline:-1rem}
h1{font-size:1.3rem}
tbody th:first-child{position:sticky;left:0;background:var(--paper)}
}
@media print{
:root{${properties(light)}}
body{background:none;font-size:11px}
header,section{border-inline:0;border-bottom:0;border-radius:0;padding-inline:0;width:auto}
.scroll{overflow:visible}
.intervals svg,.runs{min-width:0}
h2,h3{break-after:avoid}
tr,.graph{break-inside:avoid}
}
`;

// \0@oxc-project+runtime@0.156.0/helpers/esm/taggedTemplateLiteral.js
function _taggedTemplateLiteral(e, t) {
	return t || (t = e.slice(0)), Object.freeze(Object.defineProperties(e, { raw: { value: Object.freeze(t) } }));
}

// src/report/html.ts
var _templateObject;
/**
* A whole document that loads nothing and runs no script but its own: its Content-Security-Policy (W3C, level 3) names
* style and scripts by their hash. Cells have flamegraphs as far as there are profiles.
*/
function renderHtml(result, profiles) {
	const { outcome, generator } = result;
	const graphs = graphsOf(result, profiles);
	const main = outcome.kind === "judged" ? judged(result, outcome.cells, graphs) : [
		rejected(outcome),
		remarks(result),
		environment(result)
	];
	const body = html`${header(result)}<main>
${main}</main>
<footer>${generator.name} ${plainLine(generator.version)}, from <code>result.json</code></footer>
`;
	const isDrawn = graphs.length > 0;
	return document({
		title: headline(result),
		style: isDrawn ? `${pageStyle}${flamegraphStyle}` : pageStyle,
		scripts: isDrawn ? [flamegraphScript, openTarget] : [],
		body
	});
}
function document({ title, body, style, scripts }) {
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
const hashOf = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
/** For browsers that open no fold for a link by themselves. */
const openTarget = `
function openTarget() {
  const target = document.getElementById(location.hash.slice(1));
  const fold = target?.closest('details');
  if (!fold || fold.open) return;
  fold.open = true;
  target.scrollIntoView();
}
addEventListener('hashchange', openTarget);
openTarget();
`;
/** A patch that cannot be measured has the symbol of a loss; a lab that cannot measure has that of no verdict. */
function verdictOf({ outcome }) {
	if (outcome.kind === "judged") return outcome.verdict;
	return outcome.kind === "out-of-disk" ? "invalid" : "regression";
}
function header(result) {
	const { patch, policy, outcome } = result;
	const verdict = verdictOf(result);
	const diff = patch.kind === "revision" && ` diff ${patch.diff}`;
	const url = patch.kind === "range" ? void 0 : pageUrl(patch.url);
	const name = html`${patchName(patch)}${diff}`;
	return html`<header class="${verdict}">
<p class="name">ppsgate</p>
<h1>${mark(verdict)} ${patchName(patch)} ${sentence(result).text}</h1>
<p>${url === void 0 ? name : html`<a href="${url}">${name}</a>`}: ${plainLine(patch.title)}, by ${plainLine(patch.author)}</p>
<p class="faint">${setting(result, plain)}</p>
${outcome.kind === "judged" && [html`<p class="faint">${rule(policy)}</p>\n`, contents(outcome.cells)]}</header>
`;
}
function judged(result, cells, graphs) {
	const pictures = picturesThatFit(cells, graphs);
	return [
		verdicts(result, cells),
		remarks(result, cells),
		cells.map((cell) => cellSection(result.policy, cell, pictures.get(cell) ?? [])),
		environment(result),
		howToRead(result)
	];
}
/** Graphs of kernels have some 50,000 each; a page of more than a few million is slow on a phone. */
const mostGraphCharacters = 5e6;
/** The worst cells first where there is no room for all. */
function picturesThatFit(cells, graphs) {
	let room = mostGraphCharacters;
	const pictureOf = (graph) => {
		const drawn = drawGraph(graph, false);
		if (drawn.kind === "left-out") return {
			graph,
			why: drawn.why
		};
		const { svg } = drawn;
		if (svg.length > room) return { graph };
		room -= svg.length;
		return {
			graph,
			svg
		};
	};
	const ofCell = Map.groupBy(graphs, ({ cell }) => cellName(cell));
	return new Map(worstFirst(cells).map((cell) => [cell, (ofCell.get(cellName(cell.cell)) ?? []).map(pictureOf)]));
}
/** A few cells are found without. */
const contents = (cells) => cells.length > 3 && html`<nav aria-label="Contents"><ul>
${cells.map((cell) => html`<li>${linkTo(cell)}</li>\n`)}<li><a href="#environment">environment</a></li>
<li><a href="#reading">how to read this</a></li>
</ul></nav>
`;
const linkTo = (result) => html`${mark(result.verdict.kind)} <a href="#${cellAnchor(result)}">${cellName(result.cell)}</a>`;
function verdicts(result, cells) {
	const { policy } = result;
	const plot = intervalPlot(result, cells.length);
	const others = otherMetricsOf(policy, cells).map((metric) => fold(metricName(metric), cellTable(result, cells, metric)));
	return html`<section id="verdict">
<h2>Verdict</h2>
${cellTable(result, cells, policy.metric)}${others}${plot !== void 0 && intervals(plot)}</section>
`;
}
/** Its colours are those of the page. */
const intervals = (plot) => html`<div class="intervals">${scrolling(new Html(plot))}</div>\n`;
function cellTable(result, cells, metric) {
	const { policy } = result;
	const isJudged = metric === policy.metric;
	return table({
		caption: `Change of patched against base, by ${metricName(metric)}`,
		heads: [
			{ text: "cell" },
			...[
				"base",
				"patched",
				"change"
			].map((text) => ({
				text,
				isNumber: true
			})),
			{
				text: `${formatPercent(policy.confidenceRatio)} interval`,
				isNumber: true
			},
			{
				text: "runs",
				isNumber: true
			},
			...isJudged ? [{ text: "verdict" }] : []
		],
		rows: cells.flatMap((cell) => cellRows(cell, metric, isJudged))
	});
}
/** Below a cell stand its other variants. */
function cellRows(cell, metric, isJudged) {
	const { verdict, comparisons, others } = cell;
	const reason = verdict.kind === "invalid" && `: ${plainLine(verdict.reason)}`;
	return [[
		linkTo(cell),
		...numbers(comparisons, metric, isJudged, (text) => text),
		...isJudged ? [html`<b class="${verdict.kind}">${verdict.kind}</b>${reason}`] : []
	], ...others.map((other) => [
		html`<span class="other">↳ ${plainLine(other.variant)}</span>`,
		...numbers(other.comparisons, metric, isJudged, (text) => text),
		...isJudged ? ["not judged"] : []
	])];
}
function rejected(outcome) {
	return html`<section id="verdict">
<h2>What happened</h2>
<p>${failureText(outcome, plain)}</p>
${preformatted(plainBlock(failureSaid(outcome), 2e4))}<h2>What now</h2>
<p>${withCode(nextSteps[outcome.kind])}</p>
</section>
`;
}
const nextSteps = {
	"does-not-apply": "Rebase the patch onto the head of its branch, and send it again.",
	"build-failed": "Build the kernel with the patch yourself, mend what the build says first, and send the patch again. The whole log is in `builds/`, beside `result.json`.",
	"out-of-disk": "Whoever looks after the lab frees some space on the disk that is named above; then the same patch can be judged again as it is.",
	"does-not-load": "Load the files on a machine of your own, as with `pfctl -nf`, `nft -c -f` or `ipfw -n`, mend what is said above, and send the patch again.",
	"boot-failed": "Boot the patched kernel on a machine whose console you see, mend what it dies of, and send the patch again.",
	"panics-under-load": "Send packets through the patched kernel on a machine whose console you see: the same blast kills it each time. Mend what it dies of, and send the patch again."
};
/** What a reader may miss, and does not count against the patch. */
function remarks(result, cells = []) {
	const parts = [
		["The baseline moved, which is not held against the patch", movedBaselineLines(cells, plain)],
		["Left out of the comparison, which is not held against the patch", leftOutLines(result, plain)],
		["Settings of the DUT that do not hold", inLines(result.testbed.warnings)],
		["Notes on the revision", inLines(notesOf(result.patch))]
	].filter(([, lines]) => lines.length > 0);
	if (parts.length === 0) return void 0;
	return html`<section id="remarks">
<h2>To be known</h2>
${parts.map(([title, lines]) => html`<h3>${title}</h3>\n${bullets(lines)}`)}</section>
`;
}
const inLines = (texts) => texts.map((text) => plainLine(text, 500));
function environment(result) {
	const { testbed, seed, startedAt, finishedAt } = result;
	const facts = [
		["testbed", testbed.name],
		...Object.entries(testbed.fingerprint),
		["began", timeText(startedAt)],
		["ended", timeText(finishedAt)],
		["order of runs", `seed ${seed}`]
	];
	return html`<section id="environment">
<h2>Environment</h2>
${variantTable(result)}<dl>
${facts.map(([key, value]) => html`<div><dt>${plainLine(key)}</dt><dd>${plainLine(value, 500)}</dd></div>\n`)}</dl>
</section>
`;
}
/** `2026-11-20 12:00:00 UTC`. */
const timeText = (at) => `${at.slice(0, 19).replace("T", " ")} UTC`;
function variantTable(result) {
	const { variants } = result;
	const kernels = kernelsOf(result, plain);
	const base = variants.find(({ name }) => name === "base");
	const heads = [
		"variant",
		"commit",
		...kernels.size > 0 ? ["kernel as it ran"] : [],
		"files laid over the DUT"
	];
	return table({
		caption: "What differs between the variants",
		heads: heads.map((text) => ({ text })),
		rows: variants.map((variant) => [
			plainLine(variant.name),
			html`<code>${plainLine(variant.commit, 64)}</code>`,
			...kernels.size > 0 ? [kernels.get(variant.name)?.join(", ") ?? "–"] : [],
			variant === base || base === void 0 ? ownFiles(variant) : changedFiles(base, variant)
		])
	});
}
const ownFiles = ({ files }) => files.length === 0 ? "none" : files.map(({ path }) => fileLine("", path));
const fileLine = (sign, path) => html`<div>${sign}<code>${plainLine(path)}</code></div>`;
function changedFiles(base, { files }) {
	const before = new Map(base.files.map(({ path, sha256 }) => [path, sha256]));
	const after = new Set(files.map(({ path }) => path));
	const lines = [...files.flatMap(({ path, sha256 }) => {
		if (before.get(path) === sha256) return [];
		return fileLine(before.has(path) ? "changed " : "added ", path);
	}), ...base.files.filter(({ path }) => !after.has(path)).map(({ path }) => fileLine("removed ", path))];
	return lines.length === 0 ? "as those of base" : lines;
}
const howToRead = (result) => html`<section id="reading">
<h2>How to read this</h2>
${howToReadTexts(result).map((text) => html`<p>${text}</p>\n`)}${bullets(verdictMeanings(result.policy).map(([verdict, meaning]) => html`${mark(verdict)} <b class="${verdict}">${verdict}</b>: ${withCode(meaning)}`))}</section>
`;

export { graphsOf as i, html as n, drawGraph as r, renderHtml as t };