import { codeSpan, formatChange, formatPercent, isCost, jsonLines, metricNouns, outcomeName, parseJson, reasonOf } from "../model/first-plain.js";
import { _enum, literal, object } from "../vendor/zod.js";
import { byMetric, cellName, cellSchema, level, list, metricSchema, name, offeredTraffic, patchName, shortId, time, total, word } from "../model/first.js";
import { median } from "../analysis/stats/first.js";
import { byCommit, changesToBisect, changesToGate, countsOf, emptyTrend, isOfOneCommit, isOff, isOpen, judgeTrend, layoutNoise, lossesOf, nightlyRunsOf, parseNightlyRuns, sameSummary, sameText, seriesKey, withBisection, withFingerprint, withGate, withNightlyRun, withSameGate, worstOf } from "../analysis/trend.js";
import { trendIndexSchema } from "../model.js";
import { earlierEntries, historyEntries, historyEntrySchema, withoutNumbers } from "../gate/experiment/first.js";
import { badgeOf, badgeVerdicts, renderBadge } from "../report/plain.js";
import { bisectPlot, drawGraph, graphsOf, renderHtml, renderMarkdown, replaceFile, sparklineSheet, stoppedCells } from "../report.js";
import { githubFailure, isBreakdown, placeOf, whyNotDone } from "../forge/github.js";
import { lockIfFree } from "../system/sqlite.js";
import { linkTo, linkToImage } from "./data-branch/plain.js";
import { placeBelow, readForeignText } from "../system/foreign-files.js";
const { dirname, join, relative, sep } = globalThis.process.getBuiltinModule("node:path");
const { createHash } = globalThis.process.getBuiltinModule("node:crypto");
const { mkdir, readdir, rm, rmdir } = globalThis.process.getBuiltinModule("node:fs/promises");
const { setTimeout } = globalThis.process.getBuiltinModule("node:timers/promises");

// src/publish/data-branch/paths.ts
/** Omits the extension: `badges/hp-t540/forwarding-inet4`. */
const badgePath = ({ testbed, cell }) => `badges/${folderOf$1(testbed)}/${fileOf(cell)}`;
/** `hp-t540 forwarding inet4`. */
const badgeLabel = ({ testbed, cell }) => `${testbed} ${cellName(cell)}`;
/** The A/A badge, without its extension: `badges/hp-t540/same`. */
const samePath = (testbed) => `badges/${folderOf$1(testbed)}/same`;
/** `trend/hp-t540/forwarding-inet4/2026.jsonl`. */
const nightlyRunsPath = ({ testbed, cell }, year) => `trend/${folderOf$1(testbed)}/${fileOf(cell)}/${year}.jsonl`;
/** `trend/hp-t540/sparklines.svg`. */
const sparklinesPath = (testbed) => `trend/${folderOf$1(testbed)}/sparklines.svg`;
const fileOf = (cell) => cellName(cell).replace(/ B$/, "B").replaceAll(" ", "-");
/** Keeps names from ppsgate.yml as they are. Other names in results must not collide with them. */
function folderOf$1(testbed) {
	const word = plain(testbed);
	return word !== "" && word === testbed ? word : [word, nameHash(testbed)].filter(Boolean).join("-");
}
/** Forty digits, like a git id, so that texts with equal digits cannot be constructed. */
const nameHash = (text) => createHash("sha256").update(text).digest("hex").slice(0, 40);
const plain = (text) => text.replaceAll(/[^a-z0-9._-]+/gi, "-").slice(0, 63).replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/gi, "");

// src/publish/data-branch/readme.ts
function renderReadme(index, trend) {
	const newest = index.results.slice(-maxListed).toReversed();
	const kept = new Set(index.results.map(({ path }) => path));
	const open = trend.changes.filter(isOpenLoss).toReversed();
	const testbeds = [...new Set(trend.cells.map(({ testbed }) => testbed))];
	return `${[
		"# Results of ppsgate",
		"Results of ppsgate for patches to this repository. ppsgate writes this branch: each publication replaces its only commit, so manual changes are lost.",
		...section("Open changes", atMost(open.map(changeLine(kept)))),
		...section("Default branch", index.badges.map(badgeLine)),
		...section("Nightly runs", testbeds.map(sparklines)),
		...section("A/A runs", countsOf(trend).flatMap(({ current, earlier }) => [`- ${nameOf$1(current)}: ${countLine(current, kept)}`, ...atMost(earlier.map((count) => `  - earlier: ${countLine(count, kept)}`))])),
		...section("Newest results", newest.map(resultLine)),
		"## Files",
		[
			"- `results/YEAR/…/report.md` and `result.json`: the result, for people and for programs; with flamegraphs, and for a bisection the plot over its commits",
			"- `badges/TESTBED/SCENARIO-FAMILY.svg` and `.json`: an image, and an endpoint for shields.io; `same.svg`: the A/A runs",
			"- `trend/TESTBED/SCENARIO-FAMILY/YEAR.jsonl`: a line for each nightly run and push of the default branch; `trend/index.json`: their changes",
			"- `history.jsonl`: the base's numbers in earlier experiments, used to plan later ones",
			"- `index.json`: the list of all results"
		].join("\n")
	].join("\n\n")}\n`;
}
const maxListed = 20;
const section = (title, lines) => lines.length === 0 ? [] : [`## ${title}`, lines.join("\n")];
function atMost(lines) {
	const left = lines.length - maxListed;
	const rest = `${/^ */.exec(lines[0] ?? "")?.[0] ?? ""}- and ${left} more, in \`trend/index.json\``;
	return left > 0 ? [...lines.slice(0, maxListed), rest] : [...lines];
}
/** A gain needs no action. */
const isOpenLoss = (change) => isOpen(change) && lossesOf(change).length > 0;
const changeLine = (kept) => (change) => {
	const { testbed, good, bad, cells, state, gates, alert } = change;
	const { cell, changeRatio } = worstOf(change);
	const size = `${cellName(cell)} ${formatChange(changeRatio)}`;
	const others = cells.length > 1 ? ` (${cells.length} cells)` : "";
	const range = good === bad ? shortId(bad) : `${shortId(good)}..${shortId(bad)}`;
	const gate = gates.at(-1);
	const more = [gate && `[gate](${reportOf(gate.result)})`, alert.issue !== void 0 && `issue ${alert.issue}`];
	const last = (kept.has(gate?.result ?? "") ? more : more.slice(1)).filter(Boolean).map((one) => `, ${one}`);
	return `- ${size}${others} on ${codeSpan(testbed)} in \`${range}\`: ${state}${last.join("")}`;
};
const badgeLine = (badge) => `- ![${cellName(badge.cell)}](${badgePath(badge)}.svg)`;
const sparklines = (testbed) => `- ${codeSpan(testbed)}\n\n  ![packets per second, run by run](${sparklinesPath(testbed)})\n`;
const nameOf$1 = ({ kind, testbed }) => kind === "same-build" ? `![A/A](${samePath(testbed)}.svg) ${codeSpan(testbed)}` : `${codeSpan(testbed)}, two layouts of one tree`;
function countLine(count, kept) {
	const { cells, cellAlarms, inconclusive, invalid, falseAlarmRatio, alarmed } = count;
	const noise = layoutNoise(count);
	const alarms = alarmed.map(({ at, result }) => kept.has(result) ? `[${dayOf(at)}](${reportOf(result)})` : dayOf(at));
	return [
		`called a regression in ${sameText(count)} (${verdictOf(count)} ${formatPercent(falseAlarmRatio)})`,
		`in ${cellAlarms} of ${cells} cells; ${inconclusive} inconclusive, ${invalid} invalid`,
		`margin ${formatPercent(count.marginRatio)} of ${metricWord(count)}, ${count.design}, since ${dayOf(count.since)}`,
		...noise === void 0 ? [] : [`layouts scatter by ${formatPercent(noise)}`],
		...alarms.length > 0 ? [`alarms: ${alarms.join(", ")}`] : []
	].join("; ");
}
const metricWord = ({ metric }) => isCost(metric) ? metricNouns[metric] : metric;
function verdictOf(count) {
	switch (sameSummary(count).promise) {
		case "kept": return "within the promised";
		case "broken": return "beyond the promised";
		case "open": return "too few to decide whether within the promised";
	}
}
function resultLine({ path, at, testbed, patch, outcome }) {
	const when = at.slice(0, 16).replace("T", " ");
	const what = `${codeSpan(patch)} on ${codeSpan(testbed)}: ${codeSpan(outcome)}`;
	return `- [${when}](${reportOf(path)}) ${what}`;
}
const reportOf = (folder) => `${folder}/report.md`;
const dayOf = (time) => time.slice(0, 10);

// src/publish/data-branch/trend-files.ts
const trendIndexPath = "trend/index.json";
/** Undefined for another version's index. */
const parseTrendIndex = (text) => trendIndexSchema.safeParse(parseJson(text)).data;
const trendIndexText = (index) => `${JSON.stringify(index)}\n`;
/** Reads the nightly runs of the selected years; `read` returns an empty text for a missing file. */
async function readNightlyRuns(read, index, isWanted) {
	const nightlyRuns = /* @__PURE__ */ new Map();
	for (const series of index.cells) {
		const years = series.years.filter((year) => isWanted(series, year));
		if (years.length === 0) continue;
		const all = [];
		for (const year of years) all.push(...parseNightlyRuns(await read(nightlyRunsPath(series, year))));
		nightlyRuns.set(seriesKey(series), all.toSorted(byCommit));
	}
	return nightlyRuns;
}
/** Selects the newest two years of a series, enough for its level and for small charts. */
const isRecent = ({ years }, year) => year >= (years.at(-1) ?? year) - 1;
/** Selects the years to read before these updates can be published. */
const isNeeded = (updates) => (series, year) => {
	const own = updates.filter(({ result }) => result.testbed.name === series.testbed);
	return own.map(({ result }) => yearOf(result.startedAt)).includes(year) || own.length > 0 && isRecent(series, year);
};
/** Applies the updates in order. `trend` must include the years that `isNeeded` selects. */
const nextTrend = (trend, updates, now) => updates.reduce((before, one) => one.isTrusted ? withUpdate(before, one, now) : before, trend);
function withUpdate(trend, updates, now) {
	const { result, path, isDefaultBranch, releases, compareUrl } = updates;
	if (Date.parse(result.startedAt) > now.getTime()) return trend;
	if ("kind" in result) return {
		...trend,
		index: withBisection(trend.index, result, path)
	};
	const index = withGate(trend.index, result, path);
	const isKept = isDefaultBranch || isOfOneCommit(result);
	if (result.outcome.kind !== "judged" || !isKept) return {
		...trend,
		index
	};
	const known = withSameGate(withFingerprint(index, result), result, path);
	if (!isDefaultBranch) return {
		...trend,
		index: known
	};
	const next = withNightlyRuns({
		index: {
			...known,
			releases: withReleases(known.releases, releases ?? []),
			...compareUrl !== void 0 && { compareUrl }
		},
		nightlyRuns: trend.nightlyRuns
	}, nightlyRunsOfUpdate(updates, result));
	const { name } = result.testbed;
	const own = next.index.cells.filter(({ testbed }) => testbed === name).map(seriesKey);
	const nightlyRuns = new Map(own.map((key) => [key, next.nightlyRuns.get(key) ?? []]));
	const { metric, marginRatio } = result.policy;
	return {
		...next,
		index: judgeTrend(next.index, nightlyRuns, {
			metric,
			marginRatio
		}, now)
	};
}
function nightlyRunsOfUpdate({ path, commits = {}, occasion }, result) {
	const usual = isOfOneCommit(result) ? "nightly" : "push";
	const committedAt = (commit) => commits[commit];
	return nightlyRunsOf(result, occasion ?? usual, committedAt, path).map((one) => ({
		testbed: result.testbed.name,
		...one
	}));
}
function withNightlyRuns(trend, added) {
	const cells = new Map(trend.index.cells.map((series) => [seriesKey(series), series]));
	const nightlyRuns = new Map(trend.nightlyRuns);
	for (const { testbed, cell, nightlyRun } of added) {
		const key = seriesKey({
			testbed,
			cell
		});
		const years = /* @__PURE__ */ new Set([...cells.get(key)?.years ?? [], yearOf(nightlyRun.at)]);
		cells.set(key, {
			testbed,
			cell,
			years: [...years].toSorted((a, b) => a - b)
		});
		nightlyRuns.set(key, withNightlyRun(nightlyRuns.get(key) ?? [], nightlyRun));
	}
	const sorted = [...cells].toSorted(([a], [b]) => a < b ? -1 : 1).map(([, series]) => series);
	return {
		index: {
			...trend.index,
			cells: sorted
		},
		nightlyRuns
	};
}
const withReleases = (known, updates) => {
	return [...new Map([...known, ...updates].map((release) => [release.name, release])).values()].toSorted((a, b) => a.at < b.at ? -1 : 1);
};
/** Text by path: the index, and those years of nightly runs that differ from `before`. */
function trendFiles(before, after) {
	const files = /* @__PURE__ */ new Map([[trendIndexPath, trendIndexText(after.index)]]);
	const drawn = /* @__PURE__ */ new Set();
	for (const series of after.index.cells) {
		const nightlyRuns = after.nightlyRuns.get(seriesKey(series));
		const known = before?.nightlyRuns.get(seriesKey(series));
		if (nightlyRuns === void 0 || nightlyRuns === known) continue;
		const yearsBefore = yearFiles(series, known ?? []);
		for (const [path, text] of yearFiles(series, nightlyRuns)) if (yearsBefore.get(path) !== text) files.set(path, text);
		drawn.add(series.testbed);
	}
	for (const testbed of drawn) files.set(sparklinesPath(testbed), sheetOf(after, testbed));
	return files;
}
const yearFiles = (series, nightlyRuns) => new Map([...Map.groupBy(nightlyRuns, ({ at }) => yearOf(at))].map(([year, own]) => [nightlyRunsPath(series, year), own.map((nightlyRun) => `${JSON.stringify(nightlyRun)}\n`).join("")]));
function sheetOf({ index, nightlyRuns }, testbed) {
	const rows = index.cells.filter((series) => series.testbed === testbed).map((series) => {
		const newest = (nightlyRuns.get(seriesKey(series)) ?? []).slice(-90);
		const firsts = changesOf(index, series);
		return {
			cell: series.cell,
			values: newest.map(({ pps }) => median(pps)),
			changes: newest.flatMap(({ at }, place) => firsts.has(at) ? [place] : [])
		};
	});
	return sparklineSheet(rows, "pps");
}
const changesOf = ({ changes }, series) => new Set(changes.filter(({ testbed }) => testbed === series.testbed).flatMap(({ cells }) => cells).filter(({ cell }) => cellName(cell) === cellName(series.cell)).map(({ firstAt }) => firstAt));
const yearOf = (time) => new Date(time).getUTCFullYear();

// src/publish/data-branch/layout.ts
const indexPath = "index.json";
const historyPath = "history.jsonl";
const readmePath = "README.md";
const keptResultSchema = object({
	/** Folder of `result.json`, `report.md` and the files below. */
	path: name.regex(/^results\/\d{4}\/\w[\w.-]*$/),
	/** Start of the experiment; the time of publication if the result claims a later one. */
	at: time,
	testbed: name,
	patch: name,
	outcome: name,
	/** Flamegraphs, and the report as a page. */
	others: list(name.regex(/^\w[\w.-]*$/)),
	bytes: total,
	/** From a fork's own job, or with numbers that were not recomputed; has a smaller budget. */
	isUntrusted: literal(true).exactOptional()
});
const badgeSchema = object({
	testbed: name,
	cell: cellSchema,
	verdict: _enum(badgeVerdicts),
	pps: level.optional(),
	at: time,
	result: keptResultSchema.shape.path
});
const indexSchema = object({
	schemaVersion: literal(1),
	/** Oldest first. */
	results: list(keptResultSchema, 1e5),
	badges: list(badgeSchema)
});
const emptyIndex = {
	schemaVersion: 1,
	results: [],
	badges: []
};
/**
* Returns the files to write and to remove to publish these results, or without results to update the badges. Only what
* the index names is kept: other files in its folders are removed, and entries with missing files are dropped.
* Idempotent.
*/
function nextFiles(stored, publications, rules) {
	const fresh = publications.map((publication) => filesOfResult(publication, rules));
	const times = fresh.map(({ entry }) => entry.at);
	const before = {
		...stored,
		index: withoutFuture(stored.index, times, rules.now)
	};
	const results = retained([...withFiles(before), ...fresh.map(({ entry }) => entry)], rules.keep, rules.now);
	const index = {
		schemaVersion: 1,
		results,
		badges: publications.reduce(withBadgesOf(rules), before.index.badges)
	};
	const learnt = publications.flatMap(({ result, isTrusted }) => {
		if (!isOfGate(result)) return [];
		const entries = historyEntries(result);
		return isTrusted ? entries : entries.map((entry) => onlyCounted(entry, rules.now));
	});
	const history = boundedHistory(earlierEntries([...before.history, ...learnt], rules.now));
	const kept = new Set(results.map(({ path }) => path));
	const updates = publications.map((publication) => ({
		...publication,
		path: folderOf(publication.result)
	}));
	const trend = nextTrend(stored.trend ?? emptyTrend, updates, rules.now);
	const write = new Map([
		...fresh.flatMap(({ entry, files }) => kept.has(entry.path) ? files : []),
		...index.badges.flatMap((badge) => filesOfBadge(badge, rules)),
		...trendFiles(stored.trend, trend),
		...sameBadges(trend.index),
		[readmePath, renderReadme(index, trend.index)],
		[".nojekyll", ""],
		[historyPath, history.map((entry) => `${JSON.stringify(entry)}\n`).join("")],
		[indexPath, `${JSON.stringify(index)}\n`]
	]);
	const stays = /* @__PURE__ */ new Set([...write.keys(), ...results.flatMap(pathsOfResult)]);
	return {
		write,
		remove: [...before.paths ?? before.index.results.flatMap(pathsOfResult)].filter((path) => /^(results|badges)\//.test(path) && !stays.has(path)),
		published: publications.map((publication, at) => {
			const entry = fresh[at]?.entry;
			return publishedPaths(publication, entry && kept.has(entry.path) ? entry : void 0);
		})
	};
}
function editedFiles(stored, edit) {
	const before = stored.trend ?? emptyTrend;
	const index = edit(before.index);
	return {
		index,
		write: trendFiles(stored.trend, {
			...before,
			index
		}).set(readmePath, renderReadme(stored.index, index))
	};
}
/** Limit of all lines; `boundedHistory` keeps some for each cell and traffic. */
const maxHistoryLines = 1e5;
/** Omits a result that was too old to keep. */
function parseHistory(text) {
	const entries = [];
	for (const line of jsonLines(text, maxHistoryLines)) {
		const { data } = historyEntrySchema.safeParse(line);
		if (data !== void 0) entries.push(data);
	}
	return entries;
}
/** Undefined for another version's index. */
const parseIndex = (text) => indexSchema.safeParse(parseJson(text)).data;
/** Replaces future times in the index by the newest of `times`: entries from the future would outlive all others. */
function withoutFuture(index, times, now) {
	const [latest = ""] = [now.toISOString(), ...times].toSorted(compare);
	const settled = (entry) => isFuture(entry.at, now) ? {
		...entry,
		at: latest
	} : entry;
	return {
		...index,
		results: index.results.map(settled),
		badges: index.badges.map(settled)
	};
}
const isFuture = (at, now) => Date.parse(at) > now.getTime();
function withFiles({ index, paths }) {
	if (paths === void 0) return index.results;
	return index.results.filter((entry) => pathsOfResult(entry).every((file) => paths.has(file)));
}
const jsonName = "result.json";
const reportName = "report.md";
const pageName = "report.html";
const plotName = "bisect.svg";
const isOfGate = (result) => !("kind" in result);
const pathsOfResult = ({ path, others }) => [
	jsonName,
	reportName,
	...others
].map((name) => `${path}/${name}`);
function filesOfResult(publication, { isSite, now, keep }) {
	const { result, isTrusted } = publication;
	const at = timeOf(result, now);
	const path = folderOf(result);
	const graphs = graphFiles(publication, isTrusted ? maxGraphBytes : Math.min(maxGraphBytes, untrusted(keep).bytes / 2));
	const others = [
		...graphs,
		...plotFile(publication),
		...isSite ? pageFile(publication) : []
	];
	const graph = (anchor) => graphs.has(`${anchor}.svg`) ? `${anchor}.svg` : void 0;
	const links = {
		rawData: `[\`${jsonName}\`](${jsonName})`,
		graph
	};
	const named = [
		[jsonName, `${JSON.stringify(result)}\n`],
		[reportName, renderMarkdown(result, isOfGate(result) ? links : {
			...links,
			image: plotName
		})],
		...others
	];
	const bytes = named.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
	const entry = {
		path,
		at,
		testbed: result.testbed.name,
		patch: nameOf(result)
	};
	const outcome = isOfGate(result) ? outcomeName(result) : result.answer.kind;
	return {
		entry: {
			...entry,
			outcome,
			others: others.map(([name]) => name),
			bytes,
			...!isTrusted && { isUntrusted: true }
		},
		files: named.map(([name, text]) => [`${path}/${name}`, text])
	};
}
/** Size limit of all flamegraphs of one result: about a hundred of a kernel, and any of a hostile profile. */
const maxGraphBytes = 64 * 1024 ** 2;
function graphFiles({ result, profiles, leftOut = () => {} }, maxBytes) {
	const files = /* @__PURE__ */ new Map();
	let spareBytes = maxBytes;
	for (const graph of graphsOf(result, profiles)) {
		const drawn = drawGraph(graph);
		if (drawn.kind === "left-out") {
			leftOut(drawn.why);
			continue;
		}
		spareBytes -= Buffer.byteLength(drawn.svg);
		if (spareBytes < 0) {
			leftOut(`Flamegraphs from ${graph.title} onwards are not kept: the limit is ${maxBytes} bytes for each result.`);
			return files;
		}
		files.set(`${graph.anchor}.svg`, drawn.svg);
	}
	return files;
}
function plotFile({ result, leftOut = () => {} }) {
	if (isOfGate(result)) return [];
	try {
		const svg = bisectPlot(result);
		return svg === void 0 ? [] : [[plotName, svg]];
	} catch (error) {
		leftOut(`The report is stored without its plot (${reasonOf(error)}).`);
		return [];
	}
}
/** Empty if it cannot be rendered; the rest of the result is kept. */
function pageFile({ result, profiles, leftOut = () => {} }) {
	try {
		return [[pageName, renderHtml(result, profiles)]];
	} catch (error) {
		leftOut(`The report is stored without its page (${reasonOf(error)}).`);
		return [];
	}
}
const timeOf = ({ startedAt }, now) => isFuture(startedAt, now) ? now.toISOString() : isoTime(startedAt);
/** Converts to one format, as times are compared as texts. */
const isoTime = (text) => new Date(text).toISOString();
/** Path of a result: its start, and a hash of everything that identifies the experiment. */
function folderOf(result) {
	const { startedAt, testbed } = result;
	const at = isoTime(startedAt);
	const time = at.slice(0, 19).replaceAll(/[-:]/g, "");
	const subject = isOfGate(result) ? result.patch : [
		result.good,
		result.bad,
		result.cell
	];
	const identity = nameHash(JSON.stringify([
		startedAt,
		testbed.name,
		subject
	]));
	const words = [
		time,
		plain(testbed.name),
		plain(nameOf(result)),
		identity
	];
	return `results/${at.slice(0, 4)}/${words.filter(Boolean).join("-")}`;
}
const nameOf = (result) => isOfGate(result) ? patchName(result.patch) : `bisect ${[result.revisions.at(0), result.revisions.at(-1)].map((end) => end?.commit.slice(0, 7)).join("..")}`;
/** Returns the kept results, oldest first. Untrusted ones have a separate budget, so that they displace no others. */
function retained(entries, keep, now) {
	const all = [...new Map(entries.map((entry) => [entry.path, entry])).values()];
	const isOurs = ({ isUntrusted }) => isUntrusted === void 0;
	const kept = /* @__PURE__ */ new Set([...newestWithin(all.filter(isOurs), keep, now), ...newestWithin(all.filter((entry) => !isOurs(entry)), untrusted(keep), now)]);
	return newestFirst(all.filter((entry) => kept.has(entry))).toReversed();
}
/** A quarter of the others' budget, in addition to it. */
const untrusted = ({ results, seconds, bytes }) => ({
	results: Math.ceil(results / 4),
	seconds,
	bytes: bytes / 4
});
/** Keeps the newest results, and as many earlier ones as all limits allow. */
function newestWithin(entries, keep, now) {
	const oldest = (/* @__PURE__ */ new Date(now.getTime() - keep.seconds * 1e3)).toISOString();
	const inOrder = newestFirst(entries);
	let bytes = 0;
	const end = inOrder.findIndex((entry, place) => {
		bytes += entry.bytes;
		return place > 0 && (place >= keep.results || bytes > keep.bytes || entry.at < oldest);
	});
	return inOrder.slice(0, end === -1 ? inOrder.length : end);
}
/** Among results of the same time, the one published last comes first. */
const newestFirst = (entries) => entries.toReversed().toSorted((a, b) => compare(b.at, a.at));
const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
const withBadgesOf = ({ now }) => (badges, { result, isDefaultBranch }) => {
	const newer = (isDefaultBranch && isOfGate(result) ? lastOfCells(result, badges, now) : []).filter((badge) => !badges.some((known) => isOfSameCell(known, badge) && known.at > badge.at));
	return [...badges.filter((known) => !newer.some((badge) => isOfSameCell(known, badge))), ...newer].toSorted((a, b) => compare(badgePath(a), badgePath(b)));
};
/** A patch without a measured cell represents all cells for which its testbed has badges. */
function lastOfCells(result, known, now) {
	const { outcome, testbed } = result;
	const about = {
		testbed: testbed.name,
		at: timeOf(result, now),
		result: folderOf(result)
	};
	if (outcome.kind === "judged") {
		const stopped = new Set(stoppedCells(outcome.cells));
		return outcome.cells.flatMap((one) => {
			const { cell, verdict, comparisons } = one;
			if (stopped.has(one)) return [];
			return {
				...about,
				cell,
				verdict: verdict.kind,
				...patchedPps(comparisons)
			};
		});
	}
	if (outcome.kind === "out-of-disk" || outcome.kind === "unchanged") return [];
	const verdict = outcome.kind;
	return known.flatMap(({ testbed: name, cell }) => name === testbed.name ? {
		...about,
		cell,
		verdict
	} : []);
}
function patchedPps(comparisons) {
	const comparison = comparisons.find(({ metric }) => metric === "pps");
	return comparison === void 0 ? {} : { pps: comparison.patched };
}
const isOfSameCell = (a, b) => badgePath(a) === badgePath(b);
function filesOfBadge(badge, rules) {
	const { verdict, pps, at } = badge;
	const last = {
		verdict,
		pps,
		at: new Date(at)
	};
	const { endpoint, svg } = renderBadge({
		label: badgeLabel(badge),
		last
	}, rules);
	const path = badgePath(badge);
	return [[`${path}.svg`, svg], [`${path}.json`, `${JSON.stringify(endpoint)}\n`]];
}
const sameBadges = (index) => countsOf(index).flatMap(({ current }) => {
	if (current.kind !== "same-build") return [];
	const color = sameColors[sameSummary(current).promise];
	const { endpoint, svg } = badgeOf("A/A", {
		message: sameText(current),
		color
	});
	const path = samePath(current.testbed);
	return [[`${path}.svg`, svg], [`${path}.json`, `${JSON.stringify(endpoint)}\n`]];
});
const sameColors = {
	open: "lightgrey",
	kept: "brightgreen",
	broken: "red"
};
/** Without an entry, the result was not kept. */
function publishedPaths({ result, isDefaultBranch }, entry) {
	const outcome = isDefaultBranch && isOfGate(result) ? result.outcome : void 0;
	const cells = outcome?.kind === "judged" ? outcome.cells : [];
	const testbed = result.testbed.name;
	const badges = cells.map(({ cell }) => `${badgePath({
		testbed,
		cell
	})}.svg`);
	if (entry === void 0) return {
		graphs: /* @__PURE__ */ new Map(),
		badges
	};
	const at = (name) => `${entry.path}/${name}`;
	const graphs = entry.others.filter((name) => name.endsWith(".svg") && name !== "bisect.svg");
	return {
		result: at(jsonName),
		report: at(reportName),
		...entry.others.includes(pageName) && { page: at(pageName) },
		...entry.others.includes("bisect.svg") && { image: at("bisect.svg") },
		graphs: new Map(graphs.map((name) => [name.slice(0, -4), at(name)])),
		badges
	};
}
/** Counts an untrusted gate without its numbers and its time. */
const onlyCounted = (entry, now) => ({
	...withoutNumbers(entry),
	at: now.toISOString()
});
/** Twice the number that `historyOf` requires. */
const enoughRuns = 60;
/**
* Keeps the latest entries of each cell under each traffic, oldest first, until every metric has `enoughRuns`. Earlier
* gates are kept without their numbers.
*/
function boundedHistory(entries) {
	return [...Map.groupBy(entries, ({ testbed, kind, cell, traffic }) => JSON.stringify([
		testbed,
		kind ?? null,
		cellName(cell),
		offeredTraffic(traffic)
	]))].toSorted(([a], [b]) => compare(a, b)).flatMap(([, group]) => {
		const kept = latest(group.filter(hasNumbers));
		return [...counted(group, kept), ...kept];
	}).toSorted((a, b) => compare(a.at, b.at));
}
const hasNumbers = (entry) => metricSchema.options.some((metric) => entry[metric].length > 0);
function counted(group, kept) {
	const known = new Set(kept.map(({ gate }) => gate?.id));
	const ofGates = group.filter(({ gate }) => gate !== void 0 && !known.has(gate.id));
	return [...new Map(ofGates.toReversed().map((entry) => [entry.gate?.id, entry])).values()].map(withoutNumbers).toSorted((a, b) => compare(a.at, b.at)).slice(-50);
}
function latest(group) {
	const byTime = new Map(group.map((entry) => [entry.at, entry]));
	const runs = byMetric(() => 0);
	return [...byTime.values()].toSorted((a, b) => compare(b.at, a.at)).filter((entry) => {
		const isWanted = metricSchema.options.some((metric) => entry[metric].length > 0 && runs[metric] < enoughRuns);
		for (const metric of metricSchema.options) runs[metric] += entry[metric].length;
		return isWanted;
	}).toReversed();
}

// src/publish/data-branch/branch.ts
/**
* Adds results to the branch in one commit, or without results updates its badges; creates a missing branch. Keeps
* concurrent publications; publishing a result again replaces it. Never throws for a failure of GitHub or the network:
* `why` is then a sentence on it.
*/
async function publishToBranch(octokit, place, publications, options) {
	const isSite = place.pages !== void 0;
	const work = {
		isWanted: isNeeded(publications),
		next(stored) {
			const rules = {
				...options,
				isSite,
				now: options.now()
			};
			const { published, ...files } = nextFiles(stored, publications, rules);
			return {
				...files,
				answer: published
			};
		}
	};
	try {
		const { commit, answer: published } = await publishPatiently(branchOf(octokit, place), work, patient(options));
		return {
			kind: "published",
			commit,
			links: published.map((paths) => linksOf(place, paths))
		};
	} catch (error) {
		if (error instanceof BranchError) return {
			kind: "not-published",
			why: error.message
		};
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		return {
			kind: "not-published",
			why: whyNot(failure, branchOf(octokit, place))
		};
	}
}
/**
* Returns an empty history if there is no branch. Needs `contents: read`. Throws an Error of one sentence if GitHub
* does not reply.
*/
async function readHistory(octokit, place) {
	const branch = branchOf(octokit, place);
	return readable("history", place, async () => {
		const tip = await readTip(branch, "top");
		return tip === void 0 ? [] : parseHistory(await readText$1(branch, tip, historyPath));
	});
}
/**
* Reads the branch's trend, with the nightly runs of `testbed` in the newest two years; empty if there is no branch.
* Needs `contents: read`. Throws an Error of one sentence if GitHub does not reply, or the trend is unreadable.
*/
async function readBranchTrend(octokit, place, testbed) {
	const branch = branchOf(octokit, place);
	return readable("trend", place, async () => {
		const tip = await readTip(branch, "trend");
		if (tip === void 0) return emptyTrend;
		const isWanted = (series, year) => series.testbed === testbed && isRecent(series, year);
		return await readTrend$1(branch, tip, isWanted, unreadable("trend", place)) ?? emptyTrend;
	});
}
async function readable(what, place, read) {
	try {
		return await read();
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		throw new Error(`${unreadable(what, place)} (${failure.detail}): run the job again, and check that it has \`permissions: contents: read\`.`);
	}
}
const unreadable = (what, place) => `The ${what} in the branch ${place.branch} of ${place.repository} cannot be read`;
/** Calls `edit` again with the current index if another publisher was faster. Throws an Error of one sentence. */
async function publishTrend(octokit, place, edit, options = {}) {
	const branch = branchOf(octokit, place);
	const work = {
		isWanted: () => false,
		next(stored) {
			const { write, index } = editedFiles(stored, edit);
			return {
				write,
				remove: [],
				answer: index
			};
		}
	};
	try {
		return (await publishPatiently(branch, work, patient(options))).answer;
	} catch (error) {
		const failure = githubFailure(error);
		throw failure === void 0 ? error : new BranchError(whyNot(failure, branch));
	}
}
var BranchError = class extends Error {};
function branchOf(octokit, { repository, branch }) {
	const { owner, repo } = placeOf(repository);
	return {
		octokit,
		owner,
		repo,
		name: branch
	};
}
function linksOf(place, paths) {
	const { result, report, page, image, graphs, badges } = paths;
	const link = (path) => linkTo(place, path);
	return {
		...result !== void 0 && { result: link(result) },
		...report !== void 0 && { report: link(report) },
		...page !== void 0 && { page: link(page) },
		...image !== void 0 && { image: linkToImage(place, image) },
		graphs: new Map([...graphs].map(([anchor, path]) => [anchor, link(path)])),
		badges: badges.map(link)
	};
}
const patient = ({ pause, random }) => ({
	pause: pause ?? ((seconds) => setTimeout(seconds * 1e3)),
	random: random ?? Math.random
});
const maxFailures = 3;
/** Octokit has already tried each request several times. */
async function publishPatiently(branch, work, patience, failures = 1) {
	try {
		return await publishInTurn(branch, work, patience);
	} catch (error) {
		if (failures === maxFailures || !isBreakdown(githubFailure(error))) throw error;
	}
	await patience.pause((failures + patience.random()) * 10);
	return publishPatiently(branch, work, patience, failures + 1);
}
const maxTries$1 = 10;
const longestPauseSeconds = 30;
async function publishInTurn(branch, { isWanted, next }, { pause, random }) {
	const repositoryId = await repositoryIdOf(branch);
	let refused;
	for (let tries = 1; tries <= maxTries$1; tries++) {
		const tip = await readTip(branch, "all");
		if (refused !== void 0 && refused.at === tip?.commit) throw refused.error;
		const { answer, ...files } = next(await readStored$1(branch, tip, isWanted));
		const tree = await writeTree(branch, tip, files);
		if (tip?.tree === tree) return {
			commit: tip.commit,
			answer
		};
		const commit = await writeCommit(branch, tree);
		const move = await moveBranch(branch, repositoryId, {
			from: tip?.commit,
			to: commit
		});
		if (move.kind === "moved") return {
			commit,
			answer
		};
		refused = {
			at: tip?.commit,
			error: move.error
		};
		await pause(random() * Math.min(2 ** tries, longestPauseSeconds));
	}
	throw new BranchError(`${nothing(branch)} because it changed during all ${maxTries$1} attempts: publish the result again later.`);
}
async function repositoryIdOf(branch) {
	const { octokit, owner, repo } = branch;
	const query = "query ($owner: String!, $repo: String!) { repository(owner: $owner, name: $repo) { id } }";
	try {
		const answer = await octokit.graphql(query, {
			owner,
			repo
		});
		return object({ repository: object({ id: word }) }).parse(answer).repository.id;
	} catch (error) {
		const failure = githubFailure(error);
		if (failure?.kind !== "answered" || failure.status !== refusedByGraphql) throw error;
		throw new BranchError(`${nothing(branch)} because the token cannot see the repository (${failure.detail}): check its name, and the permissions of the token.`);
	}
}
/** GraphQL uses this status for refusals, too. */
const refusedByGraphql = 200;
/** Lists the top-level files and those of the trend, or of all folders. Undefined if there is no branch. */
async function readTip(branch, which) {
	const commit = await readRef(branch);
	if (commit === void 0) return void 0;
	const { octokit, owner, repo } = branch;
	const { data } = await octokit.request("GET /repos/{owner}/{repo}/git/commits/{commit_sha}", {
		owner,
		repo,
		commit_sha: commit
	});
	const tree = data.tree.sha;
	const all = which === "all" ? await listTree(branch, tree, "recursive") : void 0;
	if (all?.isWhole) return {
		commit,
		tree,
		...all
	};
	const top = await listTree(branch, tree);
	const folder = top.folders.get("trend");
	const nightlyRuns = which === "top" || folder === void 0 ? [] : (await listTree(branch, folder, "recursive")).files;
	return {
		commit,
		tree,
		files: new Map([
			...all?.files ?? [],
			...top.files,
			...[...nightlyRuns].map(([path, id]) => [`trend/${path}`, id])
		]),
		isWhole: false
	};
}
/** GitHub lists at most 100,000 files. */
async function listTree({ octokit, owner, repo }, tree_sha, recursive) {
	const { data } = await octokit.request("GET /repos/{owner}/{repo}/git/trees/{tree_sha}", {
		owner,
		repo,
		tree_sha,
		...recursive && { recursive: "1" }
	});
	const idsOf = (wanted) => new Map(data.tree.flatMap(({ type, path, sha }) => type === wanted ? [[path, sha]] : []));
	return {
		files: idsOf("blob"),
		folders: idsOf("tree"),
		isWhole: !data.truncated
	};
}
async function readRef({ octokit, owner, repo, name }) {
	try {
		const { data } = await octokit.request("GET /repos/{owner}/{repo}/git/ref/{ref}", {
			owner,
			repo,
			ref: `heads/${name}`
		});
		return data.object.sha;
	} catch (error) {
		const failure = githubFailure(error);
		if (failure?.kind === "answered" && failure.status === 404) return void 0;
		throw error;
	}
}
/** Throws a BranchError if the branch is not ppsgate's: replacing it would destroy its history. */
async function readStored$1(branch, tip, isWanted) {
	if (tip === void 0) return {
		index: emptyIndex,
		history: []
	};
	const index = parseIndex(await readText$1(branch, tip, indexPath));
	if (index === void 0) throw foreign$1(nothing(branch), indexPath);
	const history = parseHistory(await readText$1(branch, tip, historyPath));
	const trend = await readTrend$1(branch, tip, isWanted, nothing(branch));
	return {
		index,
		history,
		...tip.isWhole && { paths: new Set(tip.files.keys()) },
		...trend && { trend }
	};
}
async function readTrend$1(branch, tip, isWanted, without) {
	if (!tip.files.has("trend/index.json")) return void 0;
	const index = parseTrendIndex(await readText$1(branch, tip, trendIndexPath));
	if (index === void 0) throw foreign$1(without, trendIndexPath);
	const read = (path) => readText$1(branch, tip, path);
	return {
		index,
		nightlyRuns: await readNightlyRuns(read, index, isWanted)
	};
}
/** `without` names the act that was impossible. */
const foreign$1 = (without, path) => new BranchError(`${without} because its ${path} is not of this version of ppsgate: name another branch in \`github.data.branch\`, or delete this one.`);
async function readText$1({ octokit, owner, repo }, tip, path) {
	const file_sha = tip.files.get(path);
	if (file_sha === void 0) return "";
	const { data } = await octokit.request("GET /repos/{owner}/{repo}/git/blobs/{file_sha}", {
		owner,
		repo,
		file_sha
	});
	return Buffer.from(data.content, "base64").toString();
}
/** Longer files are uploaded separately, so that no request grows with the number of results. */
const maxInlineCharacters = 1e5;
async function writeTree(branch, tip, { write, remove }) {
	const { octokit, owner, repo } = branch;
	const file = {
		mode: "100644",
		type: "blob"
	};
	const written = [];
	for (const [path, content] of write) {
		const held = content.length <= maxInlineCharacters ? { content } : { sha: await writeBlob(branch, content) };
		written.push({
			...file,
			path,
			...held
		});
	}
	const { data } = await octokit.request("POST /repos/{owner}/{repo}/git/trees", {
		owner,
		repo,
		...tip && { base_tree: tip.tree },
		tree: [...written, ...remove.map((path) => ({
			...file,
			path,
			sha: null
		}))]
	});
	return data.sha;
}
async function writeBlob({ octokit, owner, repo }, content) {
	const { data } = await octokit.request("POST /repos/{owner}/{repo}/git/blobs", {
		owner,
		repo,
		content,
		encoding: "utf-8"
	});
	return data.sha;
}
/** Has no parents, so that no clone contains removed files. */
async function writeCommit({ octokit, owner, repo }, tree) {
	const { data } = await octokit.request("POST /repos/{owner}/{repo}/git/commits", {
		owner,
		repo,
		message: "Results of ppsgate",
		tree,
		parents: []
	});
	return data.sha;
}
const noCommit = "0".repeat(40);
/**
* Moves the branch if it has not moved since it was read; the REST API has no such condition. GitHub does not document
* its message for a moved branch. So every refusal counts as one until a read shows that the branch has not moved.
*/
async function moveBranch({ octokit, name }, repositoryId, { from = noCommit, to }) {
	const mutation = "mutation ($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }";
	const update = {
		name: `refs/heads/${name}`,
		beforeOid: from,
		afterOid: to,
		force: true
	};
	try {
		await octokit.graphql(mutation, { input: {
			repositoryId,
			refUpdates: [update]
		} });
		return { kind: "moved" };
	} catch (error) {
		if (githubFailure(error) === void 0) throw error;
		return {
			kind: "refused",
			error
		};
	}
}
const nothing = ({ owner, repo, name }) => `Nothing was published in the branch ${name} of ${owner}/${repo}`;
function whyNot(failure, branch) {
	const what = nothing(branch);
	const status = failure.kind === "answered" ? failure.status : void 0;
	if (status === refusedByGraphql || status === 422) return `${what} because GitHub refused it (${failure.detail}): if rules protect the branch, exempt the token, or name another branch in \`github.data.branch\`.`;
	const known = status === 404 ? {
		...failure,
		kind: "answered",
		status: 403
	} : failure;
	return whyNotDone(what, known, {
		again: "publish the result",
		permission: "give the job `permissions: contents: write`, or, for a pull request from a fork, publish from a workflow_run job; if rules protect the branch, exempt the token",
		otherwise: "; the result itself is kept"
	});
}

// src/publish/data-branch/directory.ts
var DataDirectoryError = class extends Error {
	name = "DataDirectoryError";
	conclusion = "usage";
};
/**
* Adds results to the directory, or without results updates its badges; returns the paths of each. Creates the
* directory. Writes files atomically, and indexes only files that exist. Waits up to a minute for other publishers.
* Throws a DataDirectoryError if the path holds anything else, and a ForeignFileError for a link within it.
*/
async function publishToDirectory(directory, publications, { pause = realPause, ...rules }) {
	await mkdir(directory, { recursive: true });
	return inTurn(directory, pause, async () => {
		const stored = await readStored(directory, isNeeded(publications));
		const { write, remove, published } = nextFiles(stored, publications, {
			...rules,
			isSite: true
		});
		await writeFiles(directory, write);
		for (const path of remove) await removeFile(await placeBelow(directory, path));
		return published;
	});
}
async function readDirectoryTrend(directory) {
	const { index, trend } = await readStored(directory, () => true);
	return {
		...trend ?? emptyTrend,
		results: index
	};
}
/** Lets no other publisher write during `edit`. Throws like `publishToDirectory`. */
async function publishTrendToDirectory(directory, edit, pause = realPause) {
	await mkdir(directory, { recursive: true });
	return inTurn(directory, pause, async () => {
		const stored = await readStored(directory, () => false);
		const { write, index } = editedFiles(stored, edit);
		await writeFiles(directory, write);
		return index;
	});
}
async function writeFiles(directory, files) {
	for (const [path, text] of files) await replaceFile(await placeBelow(directory, path), text);
}
const realPause = (seconds) => setTimeout(seconds * 1e3);
const maxTries = 60;
async function inTurn(directory, pause, work) {
	for (let tries = 1; tries <= maxTries; tries++) {
		using lock = lockIfFree(join(directory, ".lock"));
		if (lock !== void 0) return await work();
		if (tries < maxTries) await pause(1);
	}
	throw new DataDirectoryError(`${directory} was locked by another publisher for a minute: publish the result again later.`);
}
async function readStored(directory, isWanted) {
	const text = await readText(directory, indexPath);
	if (text === void 0) return {
		index: emptyIndex,
		history: [],
		paths: /* @__PURE__ */ new Set()
	};
	const index = parseIndex(text);
	if (index === void 0) throw foreign(directory, indexPath);
	const history = parseHistory(await readText(directory, "history.jsonl") ?? "");
	const trend = await readTrend(directory, isWanted);
	return {
		index,
		history,
		paths: await pathsIn(directory),
		...trend && { trend }
	};
}
async function readTrend(directory, isWanted) {
	const text = await readText(directory, trendIndexPath);
	if (text === void 0) return void 0;
	const index = parseTrendIndex(text);
	if (index === void 0) throw foreign(directory, trendIndexPath);
	const read = async (path) => await readText(directory, path) ?? "";
	return {
		index,
		nightlyRuns: await readNightlyRuns(read, index, isWanted)
	};
}
const foreign = (directory, path) => new DataDirectoryError(`${join(directory, path)} is not an index of this version of ppsgate: name another directory, or remove this one.`);
/** A cell's nightly run has about a kilobyte, and the index about one per result. */
const maxBytes = 128 * 1024 ** 2;
const readText = (directory, path) => readForeignText(directory, path, maxBytes);
async function pathsIn(directory) {
	const files = (await readdir(directory, {
		recursive: true,
		withFileTypes: true
	})).filter((entry) => !entry.isDirectory());
	return new Set(files.map(({ parentPath, name }) => relative(directory, join(parentPath, name)).replaceAll(sep, "/")));
}
/** Also removes its folder if that is then empty. */
async function removeFile(path) {
	await rm(path, { force: true });
	await rmdir(dirname(path)).catch(() => {});
}

// src/publish/data-branch/nightly-plan.ts
/** Treats the updates of the current nightly run as if published. */
function planFollowUps(trend, { testbed, commits, now }) {
	const indexWith = (updates) => nextTrend(trend, updates.map((update) => ({
		...update,
		commits,
		path: notPublished
	})), now()).index;
	return {
		cellsOffLevel: (result) => nightlyRunsOf(result, "nightly", (commit) => commits[commit], notPublished).flatMap(({ cell, nightlyRun }) => {
			const before = (trend.nightlyRuns.get(seriesKey({
				testbed,
				cell
			})) ?? []).filter((one) => byCommit(one, nightlyRun) < 0);
			return isOff(before, nightlyRun, result.policy.metric) ? [cell] : [];
		}),
		changesToGate: (updates) => changesToGate(indexWith(updates), testbed),
		changesToBisect: (updates) => changesToBisect(indexWith(updates), testbed)
	};
}
const notPublished = "results/0000/in this nightly run";

export { badgeLabel, badgePath, indexPath, isOfGate, parseIndex, planFollowUps, plotName, publishToBranch, publishToDirectory, publishTrend, publishTrendToDirectory, readBranchTrend, readDirectoryTrend, readHistory, samePath };