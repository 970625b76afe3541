import { C as object, E as string, S as number, b as literal, m as array, n as cellSchema, p as _enum, t as cellName, y as int } from "./scenario.js";
import { t as datetime } from "./iso.js";
import { r as reasonOf } from "./one-line.js";
import { a as codeSpan } from "./variant-name.js";
import { l as formatPps } from "./format.js";
import { K as patchName, V as outcomeName, g as renderMarkdown } from "./markdown.js";
import { i as historyEntrySchema, n as earlierEntries, r as historyEntries } from "./history.js";
import { i as graphsOf, n as html, r as drawGraph, t as renderHtml } from "./html.js";
import { createHash } from "node:crypto";

// src/report/badge.ts
/** What a cell, or the whole patch before any cell, was last found to be. */
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
/** `no-regression · 4.980 Mpps`, or `no data` where the last verdict is older than `staleSeconds`. */
function renderBadge({ label, last }, { now, staleSeconds }) {
	const isStale = last !== void 0 && now.getTime() - last.at.getTime() > staleSeconds * 1e3;
	const shown = {
		label: readable(label),
		...last === void 0 || isStale ? noData : {
			message: messageOf(last),
			color: colorOf(last)
		}
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
const mostCharacters = 100;
/** A file of the data branch is named in lists and on terminals, too: no line breaks, nothing that does not print. */
const readable = (text) => [...text.replace(/[\s\p{C}]+/gu, " ").trim()].slice(0, mostCharacters).join("");
/** By the names that shields.io has for them. */
const colors = {
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
/** Light on grey, and then dark on the color, which has enough contrast on each of them. */
function pictureOf({ label, message, color }) {
	const [left, right] = [partWidth(label), partWidth(message)];
	const text = (shown, x, fill) => html`<text x="${x + padding}" y="${baseline}" fill="${fill}" textLength="${widthOf(shown)}" lengthAdjust="spacingAndGlyphs">${shown}</text>`;
	const { markup } = html`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${height}" role="img" aria-label="${label}: ${message}"><title>${label}: ${message}</title>
<rect width="${left + corner}" height="${height}" rx="${corner}" fill="#555"/>
<path d="M${left} 0h${right - corner}${arc} ${corner} ${corner}v${14}${arc} ${-3} ${corner}h${corner - right}z" fill="${colors[color]}"/>
<g font-family="Verdana,DejaVu Sans,sans-serif" font-size="${fontSize}">${text(label, 0, "#fff")}${text(message, left, "#111")}</g>
</svg>
`;
	return markup;
}
const partWidth = (text) => Math.ceil(widthOf(text)) + 12;
/** About: `textLength` makes the text as wide in any font. */
const widthOf = (text) => [...text].reduce((sum, character) => sum + characterWidth(character), 0);
function characterWidth(character) {
	const known = widths.get(character);
	if (known !== void 0) return known;
	if (/\p{M}/u.test(character)) return 0;
	return wide.test(character) ? fontSize : 7;
}
/** As wide as high. */
const wide = /[\p{sc=Han}\p{sc=Hang}\p{Emoji_Presentation}\u3000-\u30ff\uff01-\uff60]/u;
/** As Chromium measures DejaVu Sans at 11 px, which is about as wide as Verdana, rounded to half a pixel. */
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

// src/publish/data-layout.ts
const indexPath = "index.json";
const historyPath = "history.jsonl";
const keptResultSchema = object({
	/** Folder of `result.json` and `report.md`, and of what else is named below. */
	path: string().regex(/^results\/\d{4}\/\w[\w.-]*$/),
	/** When the experiment began, or was published where it says that it began later. */
	at: datetime(),
	testbed: string(),
	patch: string(),
	outcome: string(),
	/** Flamegraphs, and the report as a page. */
	others: array(string().regex(/^\w[\w.-]*$/)).default([]),
	/** Of all its files. */
	bytes: int().nonnegative()
});
const badgeSchema = object({
	testbed: string(),
	cell: cellSchema,
	verdict: _enum(badgeVerdicts),
	pps: number().nonnegative().optional(),
	at: datetime(),
	/** Folder of the result that it tells of, which may be gone already. */
	result: keptResultSchema.shape.path
});
/** The base against itself: whatever it is called but the same is a false alarm of the testbed. */
const nightSchema = object({
	testbed: string(),
	at: datetime(),
	judged: int().nonnegative(),
	regressions: int().nonnegative(),
	improvements: int().nonnegative()
});
const indexSchema = object({
	schemaVersion: literal(1),
	/** Oldest first. */
	results: array(keptResultSchema),
	/** The last of each cell on the default branch. */
	badges: array(badgeSchema),
	/** Oldest first. */
	nights: array(nightSchema)
});
const emptyIndex = {
	schemaVersion: 1,
	results: [],
	badges: [],
	nights: []
};
/**
* The files that have to be written and removed to publish these results, or with none to bring the badges up to
* date. What results and badges are is decided by the index: other files in their folders go, and entries whose
* files are missing are forgotten. The same publication again changes nothing.
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
		badges: publications.reduce(withBadgesOf(rules), before.index.badges),
		nights: publications.reduce(withNight(rules), before.index.nights)
	};
	const learnt = publications.flatMap(({ result, isTrusted }) => isTrusted ? historyEntries(result) : []);
	const history = boundedHistory(earlierEntries([...before.history, ...learnt], rules.now));
	const kept = new Set(results.map(({ path }) => path));
	const write = new Map([
		...fresh.flatMap(({ entry, files }) => kept.has(entry.path) ? files : []),
		...index.badges.flatMap((badge) => filesOfBadge(badge, rules)),
		["README.md", readme(index)],
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
/** Those lines of a history that can be read: people can edit a branch, and one bad line must not stop a gate. */
function parseHistory(text) {
	return text.split("\n").flatMap((line) => {
		if (!line.startsWith("{")) return [];
		const entry = historyEntrySchema.safeParse(parsedJson(line));
		return entry.success ? entry.data : [];
	});
}
/** Undefined where it is none of this version's. */
const parseIndex = (text) => indexSchema.safeParse(parsedJson(text)).data;
function parsedJson(text) {
	try {
		return JSON.parse(text);
	} catch {
		return;
	}
}
/**
* A time is a stranger's word, and whatever is of the future would outlive all that is honest: what an index has of it
* is no newer than what comes now, which are `times`.
*/
function withoutFuture(index, times, now) {
	const [latest = ""] = [now.toISOString(), ...times].toSorted(compare);
	const settled = (entry) => isFuture(entry.at, now) ? {
		...entry,
		at: latest
	} : entry;
	return {
		...index,
		results: index.results.map(settled),
		badges: index.badges.map(settled),
		nights: index.nights.filter(({ at }) => !isFuture(at, now))
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
const pathsOfResult = ({ path, others }) => [
	jsonName,
	reportName,
	...others
].map((name) => `${path}/${name}`);
function filesOfResult(publication, { isSite, now }) {
	const { result } = publication;
	const at = timeOf(result, now);
	const path = folderOf(result);
	const graphs = graphFiles(publication);
	const others = [...graphs, ...isSite ? pageFile(publication) : []];
	const graph = (anchor) => graphs.has(`${anchor}.svg`) ? `${anchor}.svg` : void 0;
	const links = {
		rawData: `[\`${jsonName}\`](${jsonName})`,
		graph
	};
	const named = [
		[jsonName, `${JSON.stringify(result)}\n`],
		[reportName, renderMarkdown(result, links)],
		...others
	];
	const bytes = named.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0);
	const { testbed, patch } = result;
	return {
		entry: {
			path,
			at,
			testbed: testbed.name,
			patch: patchName(patch),
			outcome: outcomeName(result),
			others: others.map(([name]) => name),
			bytes
		},
		files: named.map(([name, text]) => [`${path}/${name}`, text])
	};
}
/** Of all flamegraphs of one result: some hundred as those of kernels are, or whatever a hostile profile makes of one. */
const mostGraphBytes = 64 * 1024 ** 2;
function graphFiles({ result, profiles, leftOut = () => {} }) {
	const files = /* @__PURE__ */ new Map();
	let room = mostGraphBytes;
	for (const graph of graphsOf(result, profiles)) {
		const drawn = drawGraph(graph);
		if (drawn.kind === "left-out") {
			leftOut(drawn.why);
			continue;
		}
		room -= Buffer.byteLength(drawn.svg);
		if (room < 0) {
			leftOut(`Flamegraphs from that of ${graph.title} on are not kept: those of one result may have ${mostGraphBytes} bytes together.`);
			return files;
		}
		files.set(`${graph.anchor}.svg`, drawn.svg);
	}
	return files;
}
/** None where it cannot be made: the rest of the result is kept all the same. */
function pageFile({ result, profiles, leftOut = () => {} }) {
	try {
		return [[pageName, renderHtml(result, profiles)]];
	} catch (error) {
		leftOut(`The report is kept without its page (${reasonOf(error)}).`);
		return [];
	}
}
/** When the experiment began, as far as that is to be believed. */
const timeOf = ({ startedAt }, now) => isFuture(startedAt, now) ? now.toISOString() : isoTime(startedAt);
/** Times that are compared as texts have to be written alike. */
const isoTime = (text) => new Date(text).toISOString();
/** By the time it tells, with a name that is told apart by all that makes the experiment what it is. */
function folderOf({ startedAt, testbed, patch }) {
	const at = isoTime(startedAt);
	const time = at.slice(0, 19).replaceAll(/[-:]/g, "");
	const identity = shortHash(JSON.stringify([
		startedAt,
		testbed.name,
		patch
	]));
	const words = [
		time,
		plain(testbed.name),
		plain(patchName(patch)),
		identity
	];
	return `results/${at.slice(0, 4)}/${words.filter(Boolean).join("-")}`;
}
const shortHash = (text) => createHash("sha256").update(text).digest("hex").slice(0, 10);
const plain = (text) => text.replaceAll(/[^a-z0-9._-]+/gi, "-").slice(0, 63).replaceAll(/^[^a-z0-9]+|[^a-z0-9]+$/gi, "");
/** Oldest first; the newest is always kept, and before it as many as no bound forbids. */
function retained(entries, keep, now) {
	const newestFirst = [...new Map(entries.map((entry) => [entry.path, entry])).values()].toReversed().toSorted((a, b) => compare(b.at, a.at));
	const oldest = (/* @__PURE__ */ new Date(now.getTime() - keep.seconds * 1e3)).toISOString();
	let bytes = 0;
	const end = newestFirst.findIndex((entry, place) => {
		bytes += entry.bytes;
		return place > 0 && (place >= keep.results || bytes > keep.bytes || entry.at < oldest);
	});
	return newestFirst.slice(0, end === -1 ? newestFirst.length : end).toReversed();
}
const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;
const withBadgesOf = ({ now }) => (badges, { result, isDefaultBranch }) => {
	const newer = (isDefaultBranch ? lastOfCells(result, badges, now) : []).filter((badge) => !badges.some((known) => isOfSameCell(known, badge) && known.at > badge.at));
	return [...badges.filter((known) => !newer.some((badge) => isOfSameCell(known, badge))), ...newer].toSorted((a, b) => compare(badgePath(a), badgePath(b)));
};
/** A patch of which no cell was measured speaks for all cells that its testbed has badges of. */
function lastOfCells(result, known, now) {
	const { outcome, testbed } = result;
	const about = {
		testbed: testbed.name,
		at: timeOf(result, now),
		result: folderOf(result)
	};
	if (outcome.kind === "judged") return outcome.cells.map(({ cell, verdict, comparisons }) => ({
		...about,
		cell,
		verdict: verdict.kind,
		...patchedPps(comparisons)
	}));
	if (outcome.kind === "out-of-disk") return [];
	const verdict = outcome.kind;
	return known.flatMap(({ testbed: name, cell }) => name === testbed.name ? {
		...about,
		cell,
		verdict
	} : []);
}
const withNight = ({ now }) => (nights, { result }) => {
	const { patch, outcome, testbed, startedAt } = result;
	if (!(patch.baseCommit === patch.headCommit && !isFuture(startedAt, now)) || outcome.kind !== "judged") return [...nights];
	const called = (kind) => outcome.cells.filter(({ verdict }) => verdict.kind === kind).length;
	const night = {
		testbed: testbed.name,
		at: isoTime(startedAt),
		judged: outcome.cells.length - called("invalid"),
		regressions: called("regression"),
		improvements: called("improvement")
	};
	return [...nights.filter(({ at, testbed }) => at !== night.at || testbed !== night.testbed), night].toSorted((a, b) => compare(a.at, b.at)).slice(-1e3);
};
function patchedPps(comparisons) {
	const comparison = comparisons.find(({ metric }) => metric === "pps");
	return comparison === void 0 ? {} : { pps: comparison.patched };
}
const isOfSameCell = (a, b) => badgePath(a) === badgePath(b);
/** `badges/hp-t540/forwarding-inet4`, to which `.svg` or `.json` is added. */
function badgePath({ testbed, cell }) {
	const word = plain(testbed);
	return `badges/${word !== "" && word === testbed ? word : [word, shortHash(testbed)].filter(Boolean).join("-")}/${cellName(cell).replace(/ B$/, "B").replaceAll(" ", "-")}`;
}
/** `hp-t540 forwarding inet4`. */
const badgeLabel = ({ testbed, cell }) => `${testbed} ${cellName(cell)}`;
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
/** With no entry the result was not kept. */
function publishedPaths({ result, isDefaultBranch }, entry) {
	const { outcome, testbed } = result;
	const badges = (isDefaultBranch && outcome.kind === "judged" ? outcome.cells : []).map(({ cell }) => `${badgePath({
		testbed: testbed.name,
		cell
	})}.svg`);
	if (entry === void 0) return {
		graphs: /* @__PURE__ */ new Map(),
		badges
	};
	const at = (name) => `${entry.path}/${name}`;
	const graphs = entry.others.filter((name) => name.endsWith(".svg"));
	return {
		result: at(jsonName),
		report: at(reportName),
		...entry.others.includes(pageName) && { page: at(pageName) },
		graphs: new Map(graphs.map((name) => [name.slice(0, -4), at(name)])),
		badges
	};
}
/** Twice what `historyOf` asks for. */
const enoughRuns = 60;
const metrics = ["pps", "nsPerPacket"];
/** The latest entries of each cell under each traffic, oldest first, as many as hold `enoughRuns` of every metric. */
function boundedHistory(entries) {
	return [...Map.groupBy(entries, ({ testbed, cell, traffic }) => JSON.stringify([
		testbed,
		cellName(cell),
		[
			traffic.flows,
			traffic.frameBytes,
			traffic.offeredPps ?? null
		]
	]))].toSorted(([a], [b]) => compare(a, b)).flatMap(([, group]) => latest(group)).toSorted((a, b) => compare(a.at, b.at));
}
function latest(group) {
	const byTime = new Map(group.map((entry) => [entry.at, entry]));
	const runs = {
		pps: 0,
		nsPerPacket: 0
	};
	return [...byTime.values()].toSorted((a, b) => compare(b.at, a.at)).filter((entry) => {
		const isWanted = metrics.some((metric) => entry[metric].length > 0 && runs[metric] < enoughRuns);
		for (const metric of metrics) runs[metric] += entry[metric].length;
		return isWanted;
	}).toReversed();
}
/** For people who find the branch. */
function readme({ results, badges, nights }) {
	const newest = results.slice(-20).toReversed();
	return `${[
		"# Results of ppsgate",
		"What ppsgate measured of patches to this repository. This branch is written by it: every publication replaces the one commit there is, so what is changed here by hand does not last.",
		...section("Default branch", badges.map(badgeLine)),
		...section("The base against itself", falseAlarms(nights)),
		...section("Newest results", newest.map(resultLine)),
		"## Files",
		[
			"- `results/YEAR/…/report.md` and `result.json`: what was found, for people and for programs; beside them flamegraphs",
			"- `badges/TESTBED/SCENARIO-FAMILY.svg` and `.json`: an image, and an endpoint for shields.io",
			"- `history.jsonl`: what the base did in earlier experiments, from which later ones learn",
			"- `index.json`: what there is"
		].join("\n")
	].join("\n\n")}\n`;
}
const section = (title, lines) => lines.length === 0 ? [] : [`## ${title}`, lines.join("\n")];
const badgeLine = (badge) => `- ![${cellName(badge.cell)}](${badgePath(badge)}.svg)`;
/** What each testbed takes for a change where there is none. */
const falseAlarms = (nights) => [...Map.groupBy(nights, ({ testbed }) => testbed)].map(([testbed, own]) => {
	const sum = (of) => own.reduce((total, night) => total + night[of], 0);
	return `- ${codeSpan(testbed)}: of ${sum("judged")} cells in ${own.length} experiments ${sum("regressions")} were called a regression and ${sum("improvements")} an improvement`;
});
function resultLine({ path, at, testbed, patch, outcome }) {
	return `- [${at.slice(0, 16).replace("T", " ")}](${path}/report.md) ${`${codeSpan(patch)} on ${codeSpan(testbed)}: ${codeSpan(outcome)}`}`;
}

// src/publish/data-links.ts
/** The URL of a file of the branch: a page of GitHub's for reports and flamegraphs, the file itself for all else. */
function linkTo({ repository, branch, serverUrl, pages }, path) {
	const isMarkdown = path.endsWith(".md");
	if (pages !== void 0 && !isMarkdown) return `${pages}/${path}`;
	const isGraph = path.startsWith("results/") && path.endsWith(".svg");
	return `${serverUrl}/${repository}/${isMarkdown || isGraph ? "blob" : "raw"}/${branch}/${path}`;
}

export { historyPath as a, parseHistory as c, emptyIndex as i, parseIndex as l, badgeLabel as n, indexPath as o, badgePath as r, nextFiles as s, linkTo as t };