import { UsageError, formatChange, formatEstimate, formatInterval, formatMetric, formatPercent, formatRoughly, grouped, isCost, metricName, metricNouns, pageUrl, plainLine, reasonOf } from "../model/first-plain.js";
import { _enum, discriminatedUnion, literal, object } from "../vendor/zod.js";
import { cellName, isLoss, line, list as list$1, metricSchema, name, prose, seconds, shortId, time } from "../model/first.js";
import { median } from "../analysis/stats/first.js";
import { countsOf, isOpen, levelsOf, lossesOf, sameSummary, sameText, seriesKey, worstOf } from "../analysis/trend.js";
import { _taggedTemplateLiteral, html, linearScale, round } from "../report/plain.js";
import { bisectPlot, bullets, fold, isBisectResult, readResultBelow, renderHtml, replaceFile, table } from "../report.js";
import { keptFlamegraph } from "../analysis/profile/plain.js";
import { badgePath, plotName } from "./data-branch.js";
import { ForeignFileError, readForeignText } from "../system/foreign-files.js";
import { stateNames } from "../gate/reserve.js";
import { files } from "./site/plain.js";
const { join, resolve } = globalThis.process.getBuiltinModule("node:path");
const { readdir, rename, rm } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/publish/site/site-source.ts
/** The lab's state, as `ppsgate testbeds --json` and `ppsgate testbeds health --json` print it. */
const holderSchema = object({
	who: line,
	purpose: line,
	patch: line.optional(),
	since: time
});
const testbedSchema = object({
	name,
	state: _enum([
		"free",
		"held",
		"quarantine",
		"left-behind"
	]),
	held: holderSchema.extend({ expectedUntil: time }).optional(),
	quarantine: object({
		reason: prose(),
		by: line,
		since: time
	}).optional(),
	leftBy: list$1(holderSchema, 1e3).default([])
});
const overviewSchema = object({
	at: time,
	testbeds: list$1(testbedSchema, 1e3),
	queue: list$1(holderSchema.extend({
		wants: list$1(line, 1e3),
		expectedSeconds: seconds.optional()
	}))
});
const findingSchema = object({
	kind: name,
	what: line,
	why: prose()
});
const healthSchema = list$1(discriminatedUnion("kind", [object({
	testbed: name,
	kind: _enum(["well", "wrong"]),
	findings: list$1(findingSchema, 1e3)
}), object({
	testbed: name,
	kind: literal("in-use"),
	why: prose()
})]));

// src/publish/site/page-paths.ts
/** Path without its extension: `testbeds/hp-t540/forwarding-inet4`. */
const seriesPath = (series) => `testbeds/${badgePath(series).slice(7)}`;
const testbedPath = (series) => seriesPath(series).split("/").slice(0, 2).join("/");
const linkFrom = (from, path) => `${"../".repeat(from === "" ? 0 : from.split("/").length)}${path}`;
/** Page of the commits after `good` up to `bad`; undefined if the index has no such URL. */
const compareLink = ({ compareUrl }, { good, bad }) => compareUrl === void 0 || good === bad ? void 0 : pageUrl(decoded(compareUrl).replaceAll("{from}", good).replaceAll("{to}", bad));
/** A URL's braces may have been rewritten as `%7B`. */
const decoded = (url) => url.replaceAll(/%7b/gi, "{").replaceAll(/%7d/gi, "}");
function issueLink({ compareUrl }, issue) {
	const repository = /^(https:\/\/[^/]+\/[^/]+\/[^/]+)\/compare\//.exec(compareUrl ?? "")?.[1];
	return repository === void 0 ? void 0 : pageUrl(`${repository}/issues/${issue}`);
}

// src/publish/site/document.ts
var _templateObject;
var _templateObject2;
const folderOf = (path) => path.split("/").slice(0, -1).join("/");
/** Loads nothing from other sites, and allows no inline style or script. A `file:` page accepts files as its own. */
function documentOf({ path, title, body, scripts = [] }, menu) {
	const at = (target) => linkFrom(folderOf(path), target);
	const charts = scripts.length > 0 && [html`<link rel="stylesheet" href="${at("uplot.css")}">\n`, [...scripts, "uplot.js"].map((one) => html(_templateObject || (_templateObject = _taggedTemplateLiteral(["<script defer src=\"", "\"><\/script>\n"], ["<script defer src=\"", "\"><\/script>\\n"])), at(one)))];
	return html(_templateObject2 || (_templateObject2 = _taggedTemplateLiteral([
		"<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
		" · ppsgate</title>\n<link rel=\"icon\" href=\"",
		"\">\n<link rel=\"stylesheet\" href=\"",
		"\">\n",
		"<script defer src=\"",
		"\"><\/script>\n</head>\n<body>\n<nav class=\"menu\" aria-label=\"Pages\"><a class=\"brand\" href=\"",
		"\">ppsgate</a><ul>\n",
		"</ul></nav>\n",
		"<footer>Made by <code>ppsgate site</code> of the nightly runs that are kept.</footer>\n</body>\n</html>\n"
	])), title, at("icon.svg"), at("site.css"), charts, at("site.js"), at("index.html"), menu.map((one) => menuEntry(one, path, at)), body).markup;
}
const menuEntry = (place, path, at) => html`<li><a href="${at(place.path)}"${place.path === path && html` aria-current="page"`}>${place.name}</a></li>\n`;
/** A date; the script adds its age. */
const moment = (at) => {
	const iso = new Date(at).toISOString();
	return html`<time datetime="${iso}">${iso.slice(0, 10)}</time>`;
};
/** A date with hours; the script adds its age. */
const hourOf = (at) => {
	const iso = new Date(at).toISOString();
	return html`<time datetime="${iso}">${iso.slice(0, 16).replace("T", " ")} UTC</time>`;
};

// src/publish/site/picture.ts
const [width, height, margin] = [
	300,
	64,
	5
];
/** Draws the newest `most` nightly runs, or those around the index `around`. */
function picture(series, most = 250, around = series.points.length) {
	const end = Math.min(around + Math.floor(most / 2), series.points.length);
	const skipped = Math.max(end - most, 0);
	const points = series.points.slice(skipped, end);
	const levels = series.levels.filter(({ from, to }) => to > skipped && from < end);
	const axis = axisOf(points.map(({ value }) => value), levels.map(({ typical }) => typical));
	const began = points[0]?.time ?? 0;
	const span = Math.max((points.at(-1)?.time ?? 0) - began, 1);
	const along = linearScale({
		low: began,
		high: began + span
	}, margin, width - margin);
	const up = linearScale(axis, height - margin, margin);
	const x = (time) => round(along(time));
	const y = (value) => round(up(value));
	const dots = points.map(({ time, value }) => `M${x(time)} ${y(value)}h0`).join("");
	const steps = levels.flatMap(({ from, to, typical }) => {
		const [first, last] = [points[Math.max(from - skipped, 0)], points[Math.min(to, end) - 1 - skipped]];
		return first && last ? `M${x(first.time)} ${y(typical)}H${x(last.time)}` : [];
	});
	const marks = series.changes.flatMap(({ change, level }) => {
		const point = points.find(({ nightlyRun }) => nightlyRun.at === level.firstAt);
		if (point === void 0) return [];
		const look = isLoss(change, level.changeRatio) ? "loss" : "gain";
		const open = isOpen(change) ? " open" : "";
		return html`<path class="${look}${open}" d="M${x(point.time)} 0v${height}"/>`;
	});
	return html`<svg class="picture" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" aria-hidden="true">${marks}<path class="dots" d="${dots}"/><path class="steps" d="${steps.join("")}"/></svg>`;
}
/** Clips a far outlier to the edge, unless it begins a level, and keeps noise of a thousandth small. */
function axisOf(values, levels) {
	const sorted = values.toSorted((a, b) => a - b);
	const at = (part) => sorted[Math.floor(part * (sorted.length - 1))] ?? 1;
	const reach = Math.max(3 * (at(.9) - at(.1)), at(.5) * .01);
	const low = Math.min(Math.max(at(0), at(.1) - reach), ...levels);
	const high = Math.max(Math.min(at(1), at(.9) + reach), ...levels);
	const spare = Math.max(0, at(.5) * .02 - (high - low)) / 2;
	return {
		low: low - spare,
		high: high + spare
	};
}

// src/publish/site/change-html.ts
/** States that may need action, most urgent first. */
const openStates = [
	"code",
	"confirming",
	"candidate",
	"testbed"
];
/** Losses that are neither accepted nor over: code changes first, then by size. */
const openLosses = ({ changes }) => changes.filter((change) => isOpen(change) && lossesOf(change).length > 0).toSorted((a, b) => urgencyOf(a) - urgencyOf(b) || sizeOf(b) - sizeOf(a));
const urgencyOf = ({ state }) => openStates.indexOf(state);
const sizeOf = (change) => Math.abs(worstOf(change).changeRatio);
const stateMeanings = {
	candidate: "seen in nightly runs; no gate has checked it yet",
	confirming: "a gate of both commits was undecided",
	code: "a gate of both commits confirms it",
	testbed: "a gate of both commits finds no loss of the margin, or there was no commit in between: the machine or chance",
	accepted: "a maintainer has accepted the new level",
	recovered: "the old level is back"
};
const stateTag = ({ state }) => html`<span class="state ${state}" title="${stateMeanings[state]}">${state}</span>`;
/** Shows a change by one of its cells; absent: the worst one. */
function changeCard(change, around, level = worstOf(change)) {
	const { folder, index } = around;
	const look = isLoss(change, level.changeRatio) ? "loss" : "gain";
	const settled = [
		"code",
		"confirming",
		"candidate"
	].includes(change.state) ? "" : " settled";
	const own = around.series.find((one) => one.testbed === change.testbed && one.name === cellName(level.cell));
	const others = change.cells.filter((one) => one !== level);
	return html`<article class="change ${look}${settled}" id="change-${change.id}">
<div class="told">
<h3><span class="size">${formatChange(level.changeRatio)}</span> <a href="${cellLink(change, level, folder)}">${cellName(level.cell)}</a></h3>
<p class="where">${plainLine(change.testbed)}${look === "loss" && [" ", stateTag(change)]}</p>
<p>${formatMetric(level.before, change.metric)} → ${formatMetric(level.after, change.metric)}, since ${moment(level.firstAt)}</p>
<p>${commitsText(index, change)}</p>
${others.length > 0 && html`<p class="faint">also ${list(others.map((one) => cellPiece(change, one, folder)))}</p>\n`}${gatesPiece(change, level, around)}</div>
${own && html`<a class="glance" href="${cellLink(change, level, folder)}" tabindex="-1" aria-hidden="true">${picture(own, 120, placeOf(own, level))}</a>\n`}</article>
`;
}
const placeOf = ({ points }, { firstAt }) => points.findIndex(({ nightlyRun }) => nightlyRun.at === firstAt);
const cellPiece = (change, level, folder) => html`<a href="${cellLink(change, level, folder)}">${cellName(level.cell)}</a> ${formatChange(level.changeRatio)}`;
const cellLink = ({ testbed, good, bad }, { cell }, folder) => `${linkFrom(folder, `${seriesPath({
	testbed,
	cell
})}.html`)}#a=${shortId(good)}&b=${shortId(bad)}`;
/** Links a page that compares the commits of `1a2b3c4d5e6f..7a8b9c0d1e2f`, if there is one. */
function commitsText(index, change) {
	const { good, bad, bisection } = change;
	if (good === bad) return html`no commit between: <code>${shortId(bad)}</code> before and after`;
	const range = html`<code>${shortId(good)}..${shortId(bad)}</code>`;
	const link = compareLink(index, change);
	const culprit = bisection?.culprit;
	return [
		"commits ",
		link === void 0 ? range : html`<a href="${link}">${range}</a>`,
		culprit !== void 0 && html`, bisected to <code>${shortId(culprit)}</code>`
	];
}
/** Interval and result of the last gate, result of the bisection, and issue. */
function gatesPiece(change, level, { folder, index, results }) {
	const { gates, bisection, alert } = change;
	const gate = gates.at(-1);
	const cell = cellName(level.cell);
	const interval = gate?.cells.find((one) => cellName(one.cell) === cell)?.interval;
	const issue = alert.issue === void 0 ? void 0 : issueLink(index, alert.issue);
	const parts = [
		gate && html`${resultLink(gate.result, `gate of both: ${gate.verdict}`, {
			folder,
			results
		})}${interval && ` (${formatChange(interval.change)}, ${formatInterval(interval.low, interval.high)})`}`,
		bisection && resultLink(bisection.result, "bisection", {
			folder,
			results
		}),
		alert.issue !== void 0 && (issue === void 0 ? html`issue #${alert.issue}` : html`<a href="${issue}">issue #${alert.issue}</a>`)
	].filter((part) => part instanceof Object);
	return parts.length > 0 && html`<p class="faint">${joined(parts, " · ")}</p>\n`;
}
const resultLink = (path, content, { folder, results }) => results.some((kept) => kept.path === path) ? html`<a href="${linkFrom(folder, `${path}/report.html`)}">${content}</a>` : html`<span title="its result was deleted">${content}</span>`;
const joined = (pieces, between) => pieces.map((piece, place) => place === 0 ? piece : [between, piece]);
const list = (pieces) => joined(pieces, ", ");

// src/publish/site/aa-page.ts
function samePage({ index, results }) {
	const counts = countsOf(index);
	const earlier = counts.flatMap((one) => one.earlier);
	const all = index.aaRuns.toReversed();
	const known = {
		folder: "",
		results: results.results
	};
	return {
		path: "same.html",
		title: "A/A runs",
		body: html`<header>
<h1>A/A runs</h1>
<p>A gate of a commit against itself measures no change, so every regression that it reports is a false alarm. The bound is the highest rate compatible with these gates; it holds at all times simultaneously with 95 % confidence. Another design, margin or machine starts a new count.</p>
</header>
<main>
<section id="counts">
<h2>Gates</h2>
${counts.length === 0 ? html`<p>No gate has compared a commit with itself yet.</p>\n` : countTable(counts.map(({ current }) => current))}${earlier.length > 0 && fold("Earlier counts", countTable(earlier))}</section>
${alarms(all, known)}${scatter(all)}</main>
`
	};
}
const looks$2 = {
	kept: "no-regression",
	open: "invalid",
	broken: "regression"
};
const countTable = (counts) => table({
	caption: "The promise is the error rate required of a gate of a patch",
	heads: [
		{ text: "testbed" },
		{ text: "builds" },
		{ text: "alarms" },
		{
			text: "promise",
			isNumber: true
		},
		{
			text: "cells",
			isNumber: true
		},
		{
			text: "undecided, invalid",
			isNumber: true
		},
		{ text: "design, margin" },
		{ text: "since" },
		{ text: "last" }
	],
	rows: counts.map((one) => [
		plainLine(one.testbed),
		one.kind === "same-build" ? "one" : "two layouts",
		html`<b class="${looks$2[sameSummary(one).promise]}">${sameText(one)}</b>`,
		formatPercent(one.falseAlarmRatio),
		`${one.cellAlarms} of ${one.cells}`,
		`${one.inconclusive}, ${one.invalid}`,
		`${one.design}, ${formatPercent(one.marginRatio)}`,
		moment(one.since),
		moment(one.last)
	])
});
function alarms(counts, known) {
	const all = counts.flatMap(({ testbed, alarmed }) => alarmed.map((alarm) => ({
		testbed,
		...alarm
	})));
	if (all.length === 0) return void 0;
	return html`<section id="alarms">
<h2>Alarms</h2>
${table({
		caption: "Gates of a commit against itself that reported a regression",
		heads: [
			{ text: "gate" },
			{ text: "testbed" },
			{ text: "cells" }
		],
		rows: all.toSorted((a, b) => b.at.localeCompare(a.at)).map((one) => [
			resultLink(one.result, one.at.slice(0, 10), known),
			plainLine(one.testbed),
			one.cells.map(cellName).join(", ")
		])
	})}</section>
`;
}
/** Layout variants of one tree differ by more than their runs if performance depends on the order of the code. */
function scatter(counts) {
	const rows = counts.flatMap(({ testbed, scatter: cells }) => cells.map(({ cell, gates, sumOfSquares, runSumOfSquares }) => [
		html`${cellName(cell)}`,
		plainLine(testbed),
		gates,
		`${percentOf(sumOfSquares / gates)} %`,
		`${percentOf(runSumOfSquares / gates)} %`,
		`${percentOf(Math.max(sumOfSquares - runSumOfSquares, 0) / gates / 2)} %`
	]));
	if (rows.length === 0) return void 0;
	return html`<section id="scatter">
<h2>Build noise</h2>
${fold(`${rows.length} cells`, table({
		caption: "One tree linked twice: root mean squares of the changes that were found",
		heads: [
			{ text: "cell" },
			{ text: "testbed" },
			...[
				"gates",
				"standard deviation of changes",
				"explained by runs",
				"deviation of a layout"
			].map((text) => ({
				text,
				isNumber: true
			}))
		],
		rows
	}))}</section>
`;
}
const percentOf = (square) => (Math.sqrt(square) * 100).toFixed(2);

// src/publish/site/series.ts
const allSeries = (source) => source.index.cells.map(({ testbed, cell }) => seriesOf(source, {
	testbed,
	cell
}));
function seriesOf({ index, nightlyRuns }, { testbed, cell }) {
	const metric = metricOf(index, testbed);
	const counted = (nightlyRuns.get(seriesKey({
		testbed,
		cell
	})) ?? []).filter((nightlyRun) => nightlyRun[metric].length > 0);
	const times = timesOf$1(counted);
	const points = counted.map((nightlyRun, place) => ({
		nightlyRun,
		time: times[place] ?? 0,
		value: median([...nightlyRun[metric]])
	}));
	const name = cellName(cell);
	return {
		testbed,
		cell,
		name,
		metric,
		points,
		levels: levelsOf(index, {
			testbed,
			cell
		}, counted, metric),
		changes: index.changes.filter((change) => change.testbed === testbed && change.metric === metric).flatMap((change) => {
			const level = change.cells.find((one) => cellName(one.cell) === name);
			return level === void 0 ? [] : {
				change,
				level
			};
		}),
		releases: index.releases.map((release) => ({
			time: timeOfCommit(points, release.commit) ?? Date.parse(release.at),
			text: release.name
		})),
		fingerprints: fingerprintsOf(index, points)
	};
}
/** Metric by which the testbed is judged; packets per second if there is none yet. */
function metricOf({ changes, aaRuns }, testbed) {
	const isOwn = (one) => one.testbed === testbed;
	return (changes.findLast(isOwn) ?? aaRuns.findLast(isOwn))?.metric ?? "pps";
}
/**
* Orders commits by times that never decrease: a session's start, but no later than the next measured commit's date. A
* commit that was measured long afterwards is placed where it was the newest.
*/
function timesOf$1(nightlyRuns) {
	let latest = Number.POSITIVE_INFINITY;
	let next;
	return nightlyRuns.toReversed().map((nightlyRun) => {
		if (next !== void 0 && next.commit !== nightlyRun.commit && next?.committedAt !== void 0) latest = Math.min(latest, Date.parse(next.committedAt));
		latest = Math.min(latest, Date.parse(nightlyRun.at));
		next = nightlyRun;
		return latest;
	}).toReversed();
}
const timeOfCommit = (points, commit) => points.find(({ nightlyRun }) => nightlyRun.commit === commit)?.time;
/** Returns the first nightly run of each fingerprint except the first one. */
function fingerprintsOf({ fingerprints }, points) {
	const texts = new Map(fingerprints.map(({ id, differs }) => [id, differs.join("; ")]));
	return points.flatMap(({ nightlyRun, time }, place) => {
		const before = points[place - 1]?.nightlyRun.fingerprint;
		if (before === void 0 || before === nightlyRun.fingerprint) return [];
		return {
			time,
			text: texts.get(nightlyRun.fingerprint) || "The testbed was replaced."
		};
	});
}
const nightlyRunsTogether = 5;
const bestSeconds = 7776e3;
function seriesSummary({ points, metric, releases }) {
	const last = points.at(-1);
	if (last === void 0) return void 0;
	const together = (end) => median(points.slice(Math.max(end - nightlyRunsTogether, 0), end).map(({ value }) => value));
	const now = together(points.length);
	const first = points.findIndex(({ time }) => time >= last.time - bestSeconds * 1e3);
	const recent = points.slice(first).map((_, place) => together(first + place + 1));
	const best = isCost(metric) ? Math.min(...recent) : Math.max(...recent);
	const release = releases.findLast(({ time }) => points.some((point) => point.time <= time));
	const released = release && points.filter(({ time }) => time <= release.time).length;
	return {
		now,
		bestRatio: now / best - 1,
		...release && released && { release: {
			name: release.text,
			ratio: now / together(released) - 1
		} }
	};
}
/** Start of the newest session, in milliseconds since 1970; undefined without a nightly run. */
function lastBegun(series) {
	const times = series.flatMap(({ points }) => points.map(({ nightlyRun }) => Date.parse(nightlyRun.at)));
	return times.length === 0 ? void 0 : times.reduce((a, b) => Math.max(a, b));
}
const day = 864e5;
/** Periods of more than three days without a nightly run, newest first. */
function gapsOf(series) {
	const all = series.flatMap(({ points }) => points.map(({ nightlyRun }) => Date.parse(nightlyRun.at)));
	const times = [...new Set(all)].toSorted((a, b) => a - b);
	return times.flatMap((to, place) => {
		const from = times[place - 1];
		return from !== void 0 && to - from > 3 * day ? {
			from,
			to
		} : [];
	}).toReversed();
}

// src/publish/site/index-page.ts
const maxClosed = 30;
function indexPage({ index, results }, series, now) {
	const around = {
		folder: "",
		index,
		series,
		results: results.results
	};
	const losses = openLosses(index);
	const others = index.changes.filter((change) => !losses.includes(change)).toReversed();
	const [gains, closed] = [others.filter(isOpen), others.filter((change) => !isOpen(change))];
	return {
		path: "index.html",
		title: "The branch over time",
		body: html`<header class="${losses.length > 0 ? "regression" : "no-regression"}">
<h1>${headline(losses.length)}</h1>
<p class="faint">${extent(series)} As of ${hourOf(now.toISOString())}.</p>
</header>
<main>
${cards("open", "Open changes", losses, around)}${cards("gains", "Gains", gains.slice(0, maxClosed), around)}${byTestbed(series)}${closed.length > 0 && html`<section id="closed">
<h2>Accepted and recovered</h2>
${fold(`${closed.length === 1 ? "one change" : `${grouped(closed.length)} changes`}`, html`<div class="changes">${closed.slice(0, maxClosed).map((one) => changeCard(one, around))}</div>\n`)}</section>
`}</main>
`
	};
}
const headline = (open) => open === 0 ? "No change is open" : `${open} ${open === 1 ? "change is" : "changes are"} open`;
function extent(series) {
	const nightlyRuns = series.reduce((sum, { points }) => sum + points.length, 0);
	const testbeds = new Set(series.map(({ testbed }) => testbed)).size;
	return `${grouped(nightlyRuns)} nightly runs of ${grouped(series.length)} cells on ${testbeds} ${testbeds === 1 ? "testbed" : "testbeds"}.`;
}
const cards = (id, title, changes, around) => changes.length > 0 && html`<section id="${id}">
<h2>${title}</h2>
<div class="changes">
${changes.map((change) => changeCard(change, around))}</div>
</section>
`;
const byTestbed = (series) => [...Map.groupBy(series, ({ testbed }) => testbed)].map(([testbed, own]) => {
	const [first] = own;
	return first && html`<section>
<h2><a href="${testbedPath(first)}/index.html">${plainLine(testbed)}</a></h2>
<p class="faint">${lastNightlyRun(own)}. Each cell with its current level, compared with its best of 90 days.</p>
${glances(own, "")}</section>
`;
});
/** `Last night 2026-11-20`, of the newest session. */
function lastNightlyRun(series) {
	const last = lastBegun(series);
	if (last === void 0) return "There is no nightly run yet";
	return html`Last night <span class="late-matters">${moment(last)}</span>`;
}
const glances = (series, toTop) => html`<ul class="glances">
${series.map((one) => glance(one, toTop))}</ul>
`;
function glance(series, toTop) {
	const interim = seriesSummary(series);
	const { metric, name } = series;
	const open = series.changes.filter(({ change, level }) => isOpen(change) && isLoss(change, level.changeRatio));
	return html`<li><a href="${toTop}${seriesPath(series)}.html"><span class="name">${name}</span>
${interim === void 0 ? html`<span class="faint">no nightly run yet</span>` : html`<b>${formatMetric(interim.now, metric)}</b> <span class="${ratioLook(series, interim.bestRatio)}">${formatChange(interim.bestRatio)}<span class="unseen"> of its best of 90 days</span></span>
${picture(series)}`}${open.map(({ change, level }) => html`<span class="state ${change.state}">${change.state} ${formatChange(level.changeRatio)}</span>`)}</a></li>
`;
}
/** A change below 1 % in five nightly runs is not reliable. */
const ratioLook = ({ metric }, ratio) => Math.abs(ratio) < .01 ? "faint" : isLoss({ metric }, ratio) ? "loss" : "gain";

// src/publish/site/lab-page.ts
const labPage = (lab, series) => ({
	path: "lab.html",
	title: "The lab",
	body: html`<header>
<h1>The lab</h1>
<p class="faint">As of ${hourOf(lab.overview.at)}</p>
</header>
<main>
<section id="testbeds">
<h2>Testbeds</h2>
${testbeds(lab, series)}</section>
<section id="queue">
<h2>Queue</h2>
${queue(lab.overview)}</section>
</main>
`
});
const testbeds = ({ overview, health }, series) => table({
	caption: "Testbeds, in the order of the configuration",
	heads: [
		"testbed",
		"state",
		"holder and purpose",
		"until about",
		"health",
		"last night"
	].map((text) => ({ text })),
	rows: overview.testbeds.map((one) => [
		plainLine(one.name),
		html`<b class="${looks$1[one.state]}">${stateNames[one.state]}</b>`,
		usedBy(one),
		one.held ? hourOf(one.held.expectedUntil) : "–",
		healthText(health?.find(({ testbed }) => testbed === one.name)),
		lastOf$1(series.filter(({ testbed }) => testbed === one.name))
	])
});
const looks$1 = {
	free: "no-regression",
	held: "invalid",
	quarantine: "regression",
	"left-behind": "inconclusive"
};
function usedBy({ held, quarantine, leftBy }) {
	const user = held ?? leftBy[0];
	const parts = [user && html`${plainLine(user.who)}: ${aimText(user)}, since ${hourOf(user.since)}`, quarantine && html`${plainLine(quarantine.reason, 300)} (${plainLine(quarantine.by)}, ${moment(quarantine.since)})`].filter((part) => part !== void 0);
	return parts.length === 0 ? "–" : parts.map((part) => html`<div>${part}</div>`);
}
const aimText = ({ purpose, patch }) => plainLine(patch === void 0 ? purpose : `${purpose} of ${patch}`);
function healthText(health) {
	switch (health?.kind) {
		case void 0: return "–";
		case "well": return html`<b class="no-regression">well</b>`;
		case "in-use": return html`not checked: ${plainLine(health.why, 300)}`;
		case "wrong": {
			const first = health.findings.find(({ kind }) => kind === "wrong");
			return html`<b class="regression">wrong</b>${first && `: ${plainLine(first.what)}, ${plainLine(first.why, 300)}`}`;
		}
	}
}
function lastOf$1(series) {
	const last = lastBegun(series);
	return last === void 0 ? "–" : moment(last);
}
const queue = ({ queue: waiting }) => waiting.length === 0 ? html`<p>No gate is waiting.</p>\n` : table({
	caption: "In the order of the queue",
	heads: [
		"who",
		"purpose",
		"on",
		"since",
		"turn in"
	].map((text) => ({ text })),
	rows: waiting.map((one) => [
		plainLine(one.who),
		aimText(one),
		one.wants.map((name) => plainLine(name)).join(", "),
		hourOf(one.since),
		one.expectedSeconds === void 0 ? "unknown" : formatEstimate(one.expectedSeconds)
	])
});

// src/publish/site/page-data.ts
function seriesData(series, index) {
	const { points, testbed, name, metric, levels } = series;
	const nightlyRuns = points.map(({ nightlyRun }) => nightlyRun);
	const compare = compareLink(index, {
		good: placeholders.from,
		bad: placeholders.to
	});
	return {
		name,
		metric,
		testbed: plainLine(testbed),
		times: timesOf(series),
		at: nightlyRuns.map(({ at }) => Date.parse(at) / 1e3),
		commits: nightlyRuns.map(({ commit }) => commit),
		occasions: nightlyRuns.map(({ occasion }) => occasion),
		pps: numbersOf(nightlyRuns.map(({ pps }) => pps)),
		...costNumbers(nightlyRuns, "nsPerPacket"),
		...costNumbers(nightlyRuns, "instructionsPerPacket"),
		levels: levels.map(({ from, to, typical, sigmaRatio }) => ({
			from,
			to,
			typical,
			sigmaRatio
		})),
		changes: changesOf(series),
		releases: series.releases.map(momentOf),
		fingerprints: series.fingerprints.map(momentOf),
		...compare !== void 0 && { compare }
	};
}
/** Placeholders for two commits in a URL; no commit has such an id. */
const placeholders = {
	from: "F".repeat(40),
	to: "T".repeat(40)
};
function smallData(series) {
	return {
		metric: series.metric,
		times: timesOf(series),
		values: series.points.map(({ value }) => value),
		commits: series.points.map(({ nightlyRun }) => shortId(nightlyRun.commit)),
		levels: series.levels.map(({ from, to, typical }) => ({
			from,
			to,
			typical
		})),
		changes: changesOf(series).map(({ place, ratio, isOpen }) => ({
			place,
			ratio,
			isOpen
		}))
	};
}
const timesOf = ({ points }) => points.map(({ time }) => time / 1e3);
const changesOf = ({ changes, points }) => changes.flatMap(({ change, level }) => {
	const place = points.findIndex(({ nightlyRun }) => nightlyRun.at === level.firstAt);
	if (place < 0) return [];
	return {
		place,
		ratio: level.changeRatio,
		state: change.state,
		isOpen: isOpen(change)
	};
});
const momentOf = ({ time, text }) => ({
	time: time / 1e3,
	text: plainLine(text, 300)
});
const costNumbers = (nightlyRuns, cost) => nightlyRuns.some((nightlyRun) => nightlyRun[cost].length > 0) ? { [cost]: numbersOf(nightlyRuns.map((nightlyRun) => nightlyRun[cost])) } : {};
const numbersOf = (nightlyRuns) => ({
	typical: nightlyRuns.map((values) => values.length === 0 ? null : median([...values])),
	least: nightlyRuns.map((values) => values.length === 0 ? null : Math.min(...values)),
	most: nightlyRuns.map((values) => values.length === 0 ? null : Math.max(...values))
});
/** Assigns data to a global name. JSON is JavaScript since ECMAScript 2019, and a script file needs no HTML escapes. */
const dataScript = (name, data) => `globalThis.${name} = ${JSON.stringify(data)};\n`;

// src/publish/site/results-page.ts
function resultsPage({ results: { results } }) {
	return {
		path: "results.html",
		title: "Results",
		body: html`<header>
<h1>Results</h1>
<p class="faint">Stored results, the newest first</p>
</header>
<main>
<section id="results">
<h2 class="unseen">List</h2>
${results.length === 0 ? html`<p>No result is stored.</p>\n` : table({
			caption: `${results.length} results of gates and bisections`,
			heads: [
				"patch",
				"outcome",
				"testbed",
				"began",
				"pictures"
			].map((text) => ({ text })),
			rows: results.toReversed().map(({ path, at, testbed, patch, outcome, others }) => [
				html`<a href="${path}/report.html">${plainLine(patch) || "unnamed"}</a>`,
				html`<b class="${lookOf(outcome)}">${plainLine(outcome)}</b>`,
				plainLine(testbed),
				hourOf(at),
				pictures(path, others)
			])
		})}</section>
</main>
`
	};
}
function pictures(path, others) {
	const names = others.filter((name) => name.endsWith(".svg"));
	if (names.length === 0) return "–";
	const links = names.map((name) => html`<a href="${path}/${name}">${name.slice(0, -4)}</a>`);
	return fold(`${names.length}`, bullets(links));
}
const looks = [
	"regression",
	"improvement",
	"no-regression",
	"inconclusive"
];
const lookOf = (outcome) => looks.includes(outcome) ? outcome : "invalid";

// src/publish/site/testbed-page.ts
const toTop = "../../";
/** `series` are those of one testbed; at least one. */
function testbedPage({ index, results }, series) {
	const [first] = series;
	const path = testbedPath(first);
	const open = openLosses(index).filter(({ testbed }) => testbed === first.testbed);
	const around = {
		folder: path,
		index,
		series,
		results: results.results
	};
	const body = html`<header>
<h1>${plainLine(first.testbed)}</h1>
<p class="faint">${lastNightlyRun(series)}</p>
</header>
<main>
${openCards(open, (change) => changeCard(change, around))}<section id="cells">
<h2>Cells</h2>
<div class="small-multiples" id="small-multiples">
${series.map(smallFigure)}</div>
${interimResults(series)}</section>
${gaps(series)}${fingerprints(index, first)}</main>
`;
	const title = plainLine(first.testbed);
	return {
		path: `${path}/index.html`,
		title,
		body,
		scripts: [`${path}/cells.js`]
	};
}
const openCards = (open, card) => open.length > 0 && html`<section id="open">
<h2>Open changes</h2>
<div class="changes">
${open.map(card)}</div>
</section>
`;
const smallFigure = (series) => html`<figure>
<figcaption><a href="${toTop}${seriesPath(series)}.html">${series.name}</a> <span class="value"></span></figcaption>
<div class="small">${picture(series, 1e3)}</div>
</figure>
`;
const interimResults = (series) => table({
	caption: "Current levels of the cells: medians of five consecutive nightly runs",
	heads: [
		{ text: "cell" },
		{
			text: "now",
			isNumber: true
		},
		{
			text: "against the last release",
			isNumber: true
		},
		{
			text: "against its best of 90 days",
			isNumber: true
		},
		{
			text: "nightlyRuns",
			isNumber: true
		},
		{ text: "last night" }
	],
	rows: series.map((one) => {
		const interim = seriesSummary(one);
		const last = one.points.at(-1);
		return [
			html`<a href="${toTop}${seriesPath(one)}.html">${one.name}</a>`,
			interim ? formatMetric(interim.now, one.metric) : "–",
			interim?.release ? ratioPiece(one, interim.release.ratio, interim.release.name) : "–",
			interim ? ratioPiece(one, interim.bestRatio) : "–",
			one.points.length,
			last ? moment(last.nightlyRun.at) : "–"
		];
	})
});
/** A ratio in the colour of its meaning, preceded by the release's name, if any. */
const ratioPiece = (series, ratio, than) => html`${than !== void 0 && html`<span class="faint">${plainLine(than, 40)}</span> `}<span class="${ratioLook(series, ratio)}">${formatChange(ratio)}</span>`;
const maxGaps = 20;
function gaps(series) {
	const found = gapsOf(series);
	if (found.length === 0) return void 0;
	return html`<section id="gaps">
<h2>Without a nightly run</h2>
${bullets(found.slice(0, maxGaps).map(({ from, to }) => html`${formatRoughly((to - from) / 1e3)} from ${moment(from)} to ${moment(to)}`))}</section>
`;
}
function fingerprints({ fingerprints: all }, { testbed }) {
	const own = all.filter((one) => one.testbed === testbed && one.differs.length > 0).toReversed();
	if (own.length === 0) return void 0;
	return html`<section id="fingerprints">
<h2>Changes of the testbed</h2>
${bullets(own.map(({ since, differs }) => html`${moment(since)}: ${plainLine(differs.join("; "), 500)}`))}</section>
`;
}

// src/publish/site/series-page.ts
function seriesPage({ index, results }, series) {
	const path = seriesPath(series);
	const folder = folderOf(path);
	const around = {
		folder,
		index,
		series: [series],
		results: results.results
	};
	const testbed = plainLine(series.testbed);
	const newest = series.changes.toReversed();
	const body = html`<header>
<p class="name"><a class="up" href="${linkFrom(folder, `${testbedPath(series)}/index.html`)}">${testbed}</a></p>
<h1>${series.name}</h1>
${summaryLine(series)}</header>
<main>
<section id="series">
<h2 class="unseen">Nightly runs</h2>
<div class="chart" id="chart">${picture(series, 1e3)}</div>
<p class="faint legend"><span class="key dot"></span> a nightly run <span class="key step"></span> level, and four deviations to each side of it <span class="key loss"></span> confirmed loss <span class="key candidate"></span> candidate <span class="key gain"></span> gain <span class="key machine"></span> another testbed <span class="key release"></span> release</p>
<p>By ${metricName(series.metric)}. <a href="${lastOf(path)}.csv" download>CSV of all nightly runs</a></p>
${nightlyTable(series, {
		folder,
		results: results.results
	})}</section>
${newest.length > 0 && html`<section id="changes">
<h2>Changes</h2>
<div class="changes">
${newest.map(({ change, level }) => changeCard(change, around, level))}</div>
</section>
`}</main>
`;
	return {
		path: `${path}.html`,
		title: `${series.name} on ${testbed}`,
		body,
		scripts: [`${path}.js`]
	};
}
const lastOf = (path) => path.split("/").at(-1) ?? "";
function summaryLine(series) {
	const summary = seriesSummary(series);
	const last = series.points.at(-1);
	if (summary === void 0 || last === void 0) return html`<p>There is no nightly run yet.</p>\n`;
	const { release, bestRatio } = summary;
	return html`<dl class="position">
<div><dt>now</dt><dd>${formatMetric(summary.now, series.metric)}</dd></div>
${release && html`<div><dt>against ${plainLine(release.name, 40)}</dt><dd>${ratioPiece(series, release.ratio)}</dd></div>\n`}<div><dt>against its best of 90 days</dt><dd>${ratioPiece(series, bestRatio)}</dd></div>
<div><dt>last night</dt><dd>${moment(last.nightlyRun.at)}</dd></div>
</dl>
`;
}
/** Newest first. The script hides rows outside the drawn range. */
function nightlyTable(series, known) {
	const { points, metric } = series;
	const costs = metricSchema.options.filter(isCost).filter((cost) => points.some(({ nightlyRun }) => nightlyRun[cost].length > 0));
	const kept = new Set(known.results.map(({ path }) => path));
	return fold(html`<span id="run-count">${points.length === 1 ? "one nightly run" : `${points.length} nightly runs`}</span> as a table`, table({
		caption: "Medians of the trials, with minimum and maximum; the newest nightly run first",
		heads: [
			{ text: "nightly" },
			{ text: "commit" },
			{
				text: "packets per second",
				isNumber: true
			},
			{
				text: "min … max",
				isNumber: true
			},
			...costs.map((cost) => ({
				text: metricNouns[cost],
				isNumber: true
			})),
			{ text: "for" }
		],
		rows: points.toReversed().map(({ nightlyRun, value }) => [
			html`<span class="id">${dayText(nightlyRun.at)}</span>`,
			html`<code class="id">${shortId(nightlyRun.commit)}</code>`,
			formatMetric(metric === "pps" ? value : median([...nightlyRun.pps]), "pps"),
			rangeText(nightlyRun.pps),
			...costs.map((cost) => costText(nightlyRun[cost], cost)),
			nightlyRun.result !== void 0 && kept.has(nightlyRun.result) ? resultLink(nightlyRun.result, occasions[nightlyRun.occasion], known) : occasions[nightlyRun.occasion]
		])
	}));
}
const dayText = (at) => at.slice(0, 16).replace("T", " ");
const rangeText = (pps) => {
	if (pps.length === 0) return "–";
	const [low, high] = [Math.min(...pps), Math.max(...pps)];
	return `${formatMetric(low, "pps")} … ${formatMetric(high, "pps")}`;
};
const costText = (values, cost) => values.length === 0 ? "–" : formatMetric(median([...values]), cost);
const occasions = {
	nightly: "a nightly run",
	push: "a push",
	again: "once more"
};
/** All nightly runs for spreadsheets. No value begins with a character that starts a formula. */
const seriesCsv = ({ points }) => [
	"at,commit,occasion,pps_median,pps_least,pps_most,ns_per_packet_median,instructions_per_packet_median,fingerprint",
	...points.map(({ nightlyRun }) => [
		nightlyRun.at,
		nightlyRun.commit,
		nightlyRun.occasion,
		...summaryOf(nightlyRun.pps),
		medianOf(nightlyRun.nsPerPacket),
		medianOf(nightlyRun.instructionsPerPacket),
		idOf(nightlyRun)
	].join(",")),
	""
].join("\n");
const summaryOf = (values) => values.length === 0 ? [
	"",
	"",
	""
] : [
	medianOf(values),
	Math.min(...values),
	Math.max(...values)
];
const medianOf = (values) => values.length === 0 ? "" : median([...values]);
/** Strips characters that no id of the index has. */
const idOf = ({ fingerprint }) => /^[0-9a-f]{12}$/.test(fingerprint) ? fingerprint : "";

// src/publish/site/build-site.ts
/** All files by path. Pages of results are at `PATH/report.html` of each, and not included. */
function siteFiles(source, now) {
	const series = allSeries(source);
	const testbeds = [...Map.groupBy(series, ({ testbed }) => testbed).values()].filter(isSome);
	const pages = [
		indexPage(source, series, now),
		...testbeds.map((own) => testbedPage(source, own)),
		...series.map((one) => seriesPage(source, one)),
		samePage(source),
		...source.lab ? [labPage(source.lab, series)] : [],
		resultsPage(source)
	];
	const menu = [
		...testbeds.map(([first]) => ({
			path: `${testbedPath(first)}/index.html`,
			name: plainLine(first.testbed, 40)
		})),
		{
			path: "same.html",
			name: "A/A"
		},
		...source.lab ? [{
			path: "lab.html",
			name: "Lab"
		}] : [],
		{
			path: "results.html",
			name: "Results"
		}
	];
	return new Map([
		...pages.map((page) => [page.path, documentOf(page, menu)]),
		...testbeds.map((own) => [`${testbedPath(own[0])}/cells.js`, dataScript("ppsgateCells", own.map(smallData))]),
		...series.flatMap((one) => {
			const path = seriesPath(one);
			const data = seriesData(one, source.index);
			return [[`${path}.js`, dataScript("ppsgateSeries", data)], [`${path}.csv`, seriesCsv(one)]];
		}),
		...files()
	]);
}
const isSome = (series) => series.length > 0;

// src/publish/site/write-site.ts
const markName = ".ppsgate-site";
/**
* Renders all pages from the data, and copies no file. Returns the number of pages. Throws a UsageError for a folder
* with other content.
*/
async function writeSite(source, { from, to, now, leftOut }) {
	const directory = resolve(to);
	await refuseOthers(directory);
	const draft = `${directory}.part`;
	await refuseOthers(draft);
	await rm(draft, {
		recursive: true,
		force: true
	});
	await replaceFile(join(draft, markName), "ppsgate site replaces this folder.\n");
	const withPages = [];
	for (const result of source.results.results) {
		const kept = await writeResultPage(result, {
			from,
			draft,
			leftOut
		}).catch(async (error) => {
			await rm(join(draft, result.path), {
				recursive: true,
				force: true
			});
			leftOut(`${result.path} has no page (${reasonOf(error)}).`);
		});
		if (kept !== void 0) withPages.push(kept);
	}
	const files = siteFiles({
		...source,
		results: { results: withPages }
	}, now);
	for (const [path, text] of files) await replaceFile(join(draft, path), text);
	await rm(directory, {
		recursive: true,
		force: true
	});
	await rename(draft, directory);
	return [...files.keys()].filter((path) => path.endsWith(".html")).length + withPages.length;
}
async function refuseOthers(directory) {
	const names = await readdir(directory).catch((error) => {
		if (error.code === "ENOENT") return [];
		throw new UsageError(`--to: ${directory} is not a folder (${error.code}): name another one.`);
	});
	if (names.length === 0 || names.includes(markName)) return;
	throw new UsageError(`--to: ${directory} has content other than a site: name an empty or new folder.`);
}
const pageName = "report.html";
/** Size limit of a drawing by `flamegraph`, in UTF-8. */
const maxPictureBytes = 64 * 1024 ** 2;
/** Returns the result with the pictures on its page. Throws if the result cannot be read. */
async function writeResultPage(kept, { from, draft, leftOut }) {
	const { path } = kept;
	const result = await readResultBelow(from, `${path}/result.json`);
	const pictures = [];
	for (const name of kept.others.filter((one) => one.endsWith(".svg"))) {
		const place = `${path}/${name}`;
		const picture = name === "bisect.svg" && isBisectResult(result) ? bisectPlot(result) : await graphIn(from, place);
		if (picture === void 0) leftOut(`${place} is left out: it is not a picture drawn by ppsgate.`);
		else {
			await replaceFile(join(draft, place), picture);
			pictures.push(name);
		}
	}
	const graphs = pictures.filter((name) => name !== plotName);
	await replaceFile(join(draft, path, pageName), renderHtml(result, [], graphs));
	return {
		...kept,
		others: pictures
	};
}
async function graphIn(from, place) {
	try {
		const svg = await readForeignText(from, place, maxPictureBytes);
		return svg && keptFlamegraph(svg);
	} catch (error) {
		if (error instanceof ForeignFileError) return void 0;
		throw error;
	}
}

export { healthSchema, overviewSchema, writeSite };