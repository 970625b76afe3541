import { cellName, cellSchema, codeSpan, fromJson, patchName, reasonOf } from "./words.js";
import { _enum, array, datetime, int, literal, number$1 as number, object, string } from "./vendor/zod.js";
import { earlierEntries, historyEntries, historyEntrySchema } from "./experiment.js";
import { badgeVerdicts, bisectGraphs, bisectPlot, drawGraph, graphsOf, outcomeName, renderBadge, renderBisectHtml, renderBisectMarkdown, renderHtml, renderMarkdown, replaceFile } from "./report.js";
import { githubFailure, isBreakdown, placeOf, whyNotDone } from "./github.js";
import { lockIfFree } from "./sqlite.js";
import { dirname, join, relative, sep } from "node:path";
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rm, rmdir } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

// src/data-branch/layout.ts
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
	/** Size of all its files together. */
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
	const learnt = publications.flatMap(({ result, isTrusted }) => isTrusted && isOfGate(result) ? historyEntries(result) : []);
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
		const entry = historyEntrySchema.safeParse(fromJson(line));
		return entry.success ? entry.data : [];
	});
}
/** Undefined where it is none of this version's. */
const parseIndex = (text) => indexSchema.safeParse(fromJson(text)).data;
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
const plotName = "bisect.svg";
/** A bisection's result says what it is. */
const isOfGate = (result) => !("kind" in result);
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
		[reportName, isOfGate(result) ? renderMarkdown(result, links) : renderBisectMarkdown(result, {
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
			bytes
		},
		files: named.map(([name, text]) => [`${path}/${name}`, text])
	};
}
/** The most bytes of all flamegraphs of one result: some hundred as those of kernels are, or whatever a hostile profile makes of one. */
const mostGraphBytes = 64 * 1024 ** 2;
function graphFiles({ result, profiles, leftOut = () => {} }) {
	const files = /* @__PURE__ */ new Map();
	let room = mostGraphBytes;
	const graphs = isOfGate(result) ? graphsOf(result, profiles) : bisectGraphs(result, profiles);
	for (const graph of graphs) {
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
/** The plot of a bisection, where there is something to draw. */
function plotFile({ result, leftOut = () => {} }) {
	if (isOfGate(result)) return [];
	try {
		const svg = bisectPlot(result);
		return svg === void 0 ? [] : [[plotName, svg]];
	} catch (error) {
		leftOut(`The report is kept without its plot (${reasonOf(error)}).`);
		return [];
	}
}
/** None where it cannot be made: the rest of the result is kept all the same. */
function pageFile({ result, profiles, leftOut = () => {} }) {
	try {
		const render = isOfGate(result) ? () => renderHtml(result, profiles) : () => renderBisectHtml(result, profiles);
		return [[pageName, render()]];
	} catch (error) {
		leftOut(`The report is kept without its page (${reasonOf(error)}).`);
		return [];
	}
}
/** When the experiment began, as far as that is to be believed. */
const timeOf = ({ startedAt }, now) => isFuture(startedAt, now) ? now.toISOString() : isoTime(startedAt);
/** Times that are compared as texts have to be written alike. */
const isoTime = (text) => new Date(text).toISOString();
/** The path of a result: by the time that it tells, with a name that differs with all that makes the experiment what it is. */
function folderOf(result) {
	const { startedAt, testbed } = result;
	const at = isoTime(startedAt);
	const time = at.slice(0, 19).replaceAll(/[-:]/g, "");
	const subject = isOfGate(result) ? result.patch : [
		result.good,
		result.bad,
		result.cell
	];
	const identity = shortHash(JSON.stringify([
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
/** `#123`, or `bisect 1a2b3c4..5d6e7f8`. */
const nameOf = (result) => isOfGate(result) ? patchName(result.patch) : `bisect ${[result.revisions.at(0), result.revisions.at(-1)].map((end) => end?.commit.slice(0, 7)).join("..")}`;
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
	const newer = (isDefaultBranch && isOfGate(result) ? lastOfCells(result, badges, now) : []).filter((badge) => !badges.some((known) => isOfSameCell(known, badge) && known.at > badge.at));
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
	if (outcome.kind === "out-of-disk" || outcome.kind === "unchanged") return [];
	const verdict = outcome.kind;
	return known.flatMap(({ testbed: name, cell }) => name === testbed.name ? {
		...about,
		cell,
		verdict
	} : []);
}
const withNight = ({ now }) => (nights, { result }) => {
	if (!isOfGate(result)) return [...nights];
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
/** Where a publication's files lie; with no entry the result was not kept. */
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
	const graphs = entry.others.filter((name) => name.endsWith(".svg") && name !== plotName);
	return {
		result: at(jsonName),
		report: at(reportName),
		...entry.others.includes(pageName) && { page: at(pageName) },
		...entry.others.includes(plotName) && { image: at(plotName) },
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
/** A page for people who find the branch. */
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
			"- `results/YEAR/…/report.md` and `result.json`: what was found, for people and for programs; beside them flamegraphs, and of a bisection the plot over its commits",
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

// src/data-branch/links.ts
/** The URL of a file of the branch: a page of GitHub's for reports and flamegraphs, the file itself for all else. */
function linkTo(place, path) {
	return linkBy(path.endsWith(".md") || path.startsWith("results/") && path.endsWith(".svg") ? "blob" : "raw", place, path);
}
/** The URL of a picture of the branch, for pages that show it. */
const linkToImage = (place, path) => linkBy("raw", place, path);
function linkBy(view, { repository, branch, serverUrl, pages }, path) {
	const isMarkdown = path.endsWith(".md");
	if (pages !== void 0 && !isMarkdown) return `${pages}/${path}`;
	return `${serverUrl}/${repository}/${view}/${branch}/${path}`;
}

// src/data-branch/branch.ts
/**
* Puts results into the branch in one commit, or with none brings its badges up to date; makes the branch where there
* is none. What others publish meanwhile is kept, and the same result again replaces itself. Never throws for what
* GitHub or the network did: the result is then in `why`, one sentence.
*/
async function publishToBranch(octokit, place, publications, options) {
	try {
		const { commit, published } = await publishPatiently(branchOf(octokit, place), publications, {
			...options,
			isSite: place.pages !== void 0
		});
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
* The history in the branch, for which a token needs `contents: read` alone; empty where there is no such branch.
* Throws an Error of one sentence where GitHub cannot be asked.
*/
async function readHistory(octokit, place) {
	const branch = branchOf(octokit, place);
	try {
		const tip = await readTip(branch);
		return tip === void 0 ? [] : parseHistory(await readText$1(branch, tip, historyPath));
	} catch (error) {
		const failure = githubFailure(error);
		if (failure === void 0) throw error;
		throw new Error(`The history in the branch ${place.branch} of ${place.repository} cannot be read (${failure.said}): run the job again, and check that it has \`permissions: contents: read\`.`);
	}
}
/** Something about the branch that has to be put right first, in one sentence. */
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
const mostFailures = 3;
/** Octokit itself has then tried each request several times. */
async function publishPatiently(branch, publications, options, failures = 1) {
	const { pause = realPause, random = Math.random } = options;
	try {
		return await publishInTurn(branch, publications, options);
	} catch (error) {
		if (failures === mostFailures || !isBreakdown(githubFailure(error))) throw error;
	}
	await pause((failures + random()) * 10);
	return publishPatiently(branch, publications, options, failures + 1);
}
const mostTries$1 = 10;
const longestPauseSeconds = 30;
/** Reads, computes and writes, until nobody else wrote meanwhile. */
async function publishInTurn(branch, publications, { now, pause = realPause, random = Math.random, ...options }) {
	const rules = {
		...options,
		now: now()
	};
	const repositoryId = await repositoryIdOf(branch);
	let refused;
	for (let tries = 1; tries <= mostTries$1; tries++) {
		const tip = await readTip(branch, "1");
		if (refused !== void 0 && refused.at === tip?.commit) throw refused.error;
		const { published, ...next } = nextFiles(await readStored$1(branch, tip), publications, rules);
		const tree = await writeTree(branch, tip, next);
		if (tip?.tree === tree) return {
			commit: tip.commit,
			published
		};
		const commit = await writeCommit(branch, tree);
		const move = await moveBranch(branch, repositoryId, {
			from: tip?.commit,
			to: commit
		});
		if (move.kind === "moved") return {
			commit,
			published
		};
		refused = {
			at: tip?.commit,
			error: move.error
		};
		await pause(random() * Math.min(2 ** tries, longestPauseSeconds));
	}
	throw new BranchError(`${nothing(branch)} because others changed it ${mostTries$1} times meanwhile: publish the result again later.`);
}
const realPause = (seconds) => setTimeout(seconds * 1e3);
async function repositoryIdOf(branch) {
	const { octokit, owner, repo } = branch;
	const query = "query ($owner: String!, $repo: String!) { repository(owner: $owner, name: $repo) { id } }";
	try {
		const answer = await octokit.graphql(query, {
			owner,
			repo
		});
		return object({ repository: object({ id: string() }) }).parse(answer).repository.id;
	} catch (error) {
		const failure = githubFailure(error);
		if (failure?.kind !== "answered" || failure.status !== refusedByGraphql) throw error;
		throw new BranchError(`${nothing(branch)} because the token sees no such repository (${failure.said}): check its name, and what the token may read.`);
	}
}
/** GraphQL answers it whatever it says. */
const refusedByGraphql = 200;
/** Undefined where there is no such branch. With `recursive` files in folders are told, too. */
async function readTip(branch, recursive) {
	const commit = await readRef(branch);
	if (commit === void 0) return void 0;
	const { octokit, owner, repo } = branch;
	const { data } = await octokit.request("GET /repos/{owner}/{repo}/git/commits/{commit_sha}", {
		owner,
		repo,
		commit_sha: commit
	});
	const tree_sha = data.tree.sha;
	const listed = await octokit.request("GET /repos/{owner}/{repo}/git/trees/{tree_sha}", {
		owner,
		repo,
		tree_sha,
		...recursive && { recursive }
	});
	return {
		commit,
		tree: tree_sha,
		files: new Map(listed.data.tree.flatMap(({ type, path, sha }) => type === "blob" ? [[path, sha]] : [])),
		isWhole: !listed.data.truncated
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
/** Throws a BranchError where the branch is somebody else's: it would lose its history. */
async function readStored$1(branch, tip) {
	if (tip === void 0) return {
		index: emptyIndex,
		history: []
	};
	const index = parseIndex(await readText$1(branch, tip, indexPath));
	if (index === void 0) throw new BranchError(`${nothing(branch)} because it has no ${indexPath} of this version of ppsgate: name another branch in \`github.data.branch\`, or delete this one.`);
	return {
		index,
		history: parseHistory(await readText$1(branch, tip, historyPath)),
		...tip.isWhole && { paths: new Set(tip.files.keys()) }
	};
}
/** Empty where there is no such file. */
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
/** Longer files are sent one by one, so that no request grows with the number of results. */
const mostInlineCharacters = 1e5;
async function writeTree(branch, tip, { write, remove }) {
	const { octokit, owner, repo } = branch;
	const file = {
		mode: "100644",
		type: "blob"
	};
	const written = [];
	for (const [path, content] of write) {
		const held = content.length <= mostInlineCharacters ? { content } : { sha: await writeBlob(branch, content) };
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
/** Without parents: what is not in the branch any more shall not be in a clone of it. */
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
* Moves the branch if it is still where it was read, which the REST API cannot be asked for. GitHub does not document
* how it words that it is not, so every refusal is taken for that until the branch is seen not to have moved.
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
	if (status === refusedByGraphql || status === 422) return `${what} because GitHub refused it (${failure.said}): where rules protect the branch, let the token pass them, or name another one in \`github.data.branch\`.`;
	const known = status === 404 ? {
		...failure,
		kind: "answered",
		status: 403
	} : failure;
	return whyNotDone(what, known, {
		again: "publish the result",
		permission: "give the job `permissions: contents: write`, or, for a pull request from a fork, publish from a workflow_run job; where rules protect the branch, let the token pass them",
		otherwise: "; the result itself is kept"
	});
}

// src/data-branch/directory.ts
/** A directory that cannot be published in. */
var DataDirectoryError = class extends Error {
	name = "DataDirectoryError";
	upshot = "usage";
};
/**
* Puts results into the directory, which need not exist yet, or with none brings its badges up to date; answers the
* paths of each in it. Each file is there whole or not at all, and the index never tells of one that is not. Others
* who publish there are waited for, up to a minute. Throws a DataDirectoryError where there is something else.
*/
async function publishToDirectory(directory, publications, { pause = (seconds) => setTimeout(seconds * 1e3), ...rules }) {
	await mkdir(directory, { recursive: true });
	return inTurn(directory, pause, async () => {
		const { write, remove, published } = nextFiles(await readStored(directory), publications, {
			...rules,
			isSite: true
		});
		for (const [path, text] of write) await replaceFile(join(directory, path), text);
		for (const path of remove) await removeFile(join(directory, path));
		return published;
	});
}
const mostTries = 60;
async function inTurn(directory, pause, work) {
	for (let tries = 1; tries <= mostTries; tries++) {
		using lock = lockIfFree(join(directory, ".lock"));
		if (lock !== void 0) return await work();
		if (tries < mostTries) await pause(1);
	}
	throw new DataDirectoryError(`${directory} was written to by somebody else for a minute: publish the result again later.`);
}
async function readStored(directory) {
	const text = await readText(join(directory, indexPath));
	if (text === void 0) return {
		index: emptyIndex,
		history: [],
		paths: /* @__PURE__ */ new Set()
	};
	const index = parseIndex(text);
	if (index === void 0) throw new DataDirectoryError(`${join(directory, indexPath)} is no index of this version of ppsgate: name another directory, or remove this one.`);
	return {
		index,
		history: parseHistory(await readText(join(directory, "history.jsonl")) ?? ""),
		paths: await pathsIn(directory)
	};
}
const readText = (path) => readFile(path, "utf8").catch((error) => {
	if (error.code === "ENOENT") return void 0;
	throw new DataDirectoryError(`${path} cannot be read (${error.code}): check who may read it.`);
});
async function pathsIn(directory) {
	const files = (await readdir(directory, {
		recursive: true,
		withFileTypes: true
	})).filter((entry) => !entry.isDirectory());
	return new Set(files.map(({ parentPath, name }) => relative(directory, join(parentPath, name)).replaceAll(sep, "/")));
}
/** And its folder, when that is empty then. */
async function removeFile(path) {
	await rm(path, { force: true });
	await rmdir(dirname(path)).catch(() => {});
}

export { badgeLabel, badgePath, indexPath, isOfGate, linkTo, parseIndex, publishToBranch, publishToDirectory, readHistory };