import { bisectOverrideNames, kebabCase, overrideNames, parameter } from "../config/parameters.js";
import { UsageError } from "../model/first-plain.js";
import { object, string } from "../vendor/zod.js";
import { callOnGithub, callOnPhabricator, diffPhids, families, id, patchName, scenarios, shortId, text } from "../model/first.js";
import { excerpt } from "../model/excerpt.js";
import { require_fastest_levenshtein } from "../vendor/fastest-levenshtein.js";
import { meantBy } from "../config/did-you-mean.js";
import { PatchError, RepositoryError } from "./patch/first-plain.js";
import "./patch/first.js";
import { fetchDiff, findRevision, isNamed, isSameName, phidsOf } from "./phabricator.js";
const { createHash } = globalThis.process.getBuiltinModule("node:crypto");

// src/forge/patch/command-words.ts
/** Splits at blanks outside of double quotes: `testbed="mellanox and 40G"` is one word. */
const wordsOf = (line) => (line.match(/(?:"[^"]*"|\S)+/g) ?? []).map((word) => word.replaceAll("\"", ""));
function pairIn(word) {
	const [, key, value = ""] = /^([^=]+)=(.*)$/.exec(word) ?? [];
	return key === void 0 ? void 0 : {
		key,
		value
	};
}
const keysOf = (names) => new Map(names.flatMap((name) => {
	const { comment, kind } = parameter(name);
	return comment === void 0 ? [] : [[comment.key, {
		...comment,
		kind,
		name
	}]];
}));
/** Reports an unknown key as a mistake, with the nearest command. */
function keyFor({ key, value }, of) {
	const { verb, allowed, keyed } = of;
	const parameter = keyed.get(key);
	if (!allowed.includes(key) || parameter === void 0) {
		const [meant] = meantBy(key, allowed);
		const nearest = meant === void 0 ? verb : `${verb} ${meant}=${excerpt(value)}`;
		return {
			kind: "mistaken",
			what: `${verb} takes no "${excerpt(key)}"`,
			nearest
		};
	}
	if (value !== "") return {
		kind: "found",
		parameter
	};
	const nearest = `${verb} ${key}=${parameter.example}`;
	return {
		kind: "mistaken",
		what: `${key} has no value`,
		nearest
	};
}

// src/forge/patch/bisect-command.ts
const typed$1 = text(500).optional();
/** Settings of one bisection, as typed. Without good and bad, it searches the patch's own commits. */
const bisectOverridesSchema = object(Object.fromEntries(bisectOverrideNames.map((name) => [name, typed$1])));
const keyed$1 = keysOf(bisectOverrideNames);
const allowed = [...keyed$1.keys()];
const verifyRevert = kebabCase("verifyRevert");
/** Reads the words after `bisect`: good precedes bad; other words may be anywhere. */
function readBisect(words, isHead) {
	const overrides = {};
	const others = [];
	let list;
	for (const word of words) {
		const pair = pairIn(word);
		if (pair?.key === "commits") {
			if (!isDigest(pair.value)) return mistaken(`${listKey} is the digest of a list, as shown in a reply`);
			list = pair.value;
		} else if (pair !== void 0) {
			const match = keyFor(pair, {
				verb: "bisect",
				allowed,
				keyed: keyed$1
			});
			if (match.kind === "mistaken") return match;
			const { name, kind, example } = match.parameter;
			const { key, value } = pair;
			const looksRight = shapes[name];
			const wrong = looksRight && value.split(",").find((part) => !looksRight(part));
			if (wrong !== void 0) return mistaken(`${key} cannot be "${excerpt(wrong)}"`, `${key}=${example}`);
			const before = overrides[name];
			if (before !== void 0 && kind !== "list") return mistaken(`${key} is given twice`);
			overrides[name] = before === void 0 ? value : `${before},${value}`;
		} else if (word.includes("..")) {
			const ends = word.split(/\.{2,}/).map((end) => excerpt(end));
			return mistaken("bisect takes a good commit and a bad commit, not a range", ends.filter(Boolean).join(" "));
		} else if (families.some((family) => family === word)) {
			if (overrides.families !== void 0) return mistaken("bisect takes one family", word);
			overrides.families = word;
		} else if (scenarios.includes(word)) {
			if (overrides.scenarios !== void 0) return mistaken("bisect takes one scenario", word);
			overrides.scenarios = word;
		} else if (word === verifyRevert) overrides.verifyRevert = "true";
		else if (isCommitLike(word)) others.push(word);
		else return mistaken(`bisect takes no "${excerpt(word)}"`);
	}
	const read = withOthers(overrides, others, isHead);
	return read.kind === "read" && list !== void 0 ? {
		...read,
		list
	} : read;
}
/** `commits=…` approves a list of commits by its digest. */
const listKey = "commits";
const isDigest = (text) => /^[0-9a-f]{64}$/.test(text);
/** Inverse of `readBisect`. Without named ends, `head` is the diff or commit at the end of the search. */
function bisectWords(overrides, head) {
	const { good, bad, families: family, scenarios: scenario, verifyRevert: isVerified } = overrides;
	const pairs = [...keyed$1].flatMap(([key, { name }]) => {
		const value = overrides[name];
		return value ? [`${key}=${/\s/.test(value) ? `"${value}"` : value}`] : [];
	});
	return ["bisect", ...[
		...good ? [good, bad] : [head],
		scenario,
		family,
		isVerified === "true" && verifyRevert,
		...pairs
	]].filter(Boolean).join(" ");
}
const mistaken = (what, nearest = "") => ({
	kind: "mistaken",
	what,
	nearest: `bisect ${nearest}`.trim()
});
function withOthers(overrides, others, isHead) {
	const [first = "", bad = "", own = "", ...more] = others;
	if (others.length === 0) return {
		kind: "read",
		overrides
	};
	if (others.length === 1 && isHead(first)) return {
		kind: "read",
		overrides,
		head: first
	};
	const hasScenario = overrides.scenarios !== void 0;
	if (others.length === 1 && !hasScenario) return {
		kind: "read",
		overrides: {
			...overrides,
			scenarios: first
		}
	};
	if (others.length === 1) {
		const what = `bisect takes a good commit and a bad commit, found "${excerpt(first)}" only`;
		return mistaken(what, `${excerpt(first)} HEAD`);
	}
	const commits = {
		...overrides,
		good: first,
		bad
	};
	if (others.length === 2) return {
		kind: "read",
		overrides: commits
	};
	if (others.length === 3 && !hasScenario) return {
		kind: "read",
		overrides: {
			...commits,
			scenarios: own
		}
	};
	const what = `bisect takes two commits, found "${excerpt(more[0] ?? own)}" too`;
	return mistaken(what, `${excerpt(first)} ${excerpt(bad)}`);
}
/** True for texts that git could read as the name of one commit; git decides later. */
const isCommitLike = (text) => /^\w[\w./@~^{}+-]{0,249}$/.test(text) && !text.includes("..");
const oneOrTwo = (between) => (text) => {
	const parts = text.split(between);
	return parts.length <= 2 && parts.every(isCommitLike);
};
/** Syntax of the parts of a value, as far as it can be checked without a repository. */
const shapes = {
	fixUp: oneOrTwo(":"),
	skip: oneOrTwo(".."),
	maxBoots: (text) => /^[1-9]\d{0,5}$/.test(text),
	earlier: (text) => /^(?:all|none|[1-9]\d{0,8})$/.test(text)
};

// src/forge/patch/bisect-target.ts
/** Resolves commits, and branches of the origin, to full ids. Throws a `UsageError` for a name that is no commit. */
async function pinned(overrides, repository, calledAs) {
	const idOf = async (name, called) => {
		const elsewhere = () => repository.resolve(`origin/${name}`);
		return repository.resolve(name).catch((error) => elsewhere().catch(() => {
			if (!(error instanceof RepositoryError)) throw error;
			throw new UsageError(`${called}: ${error.message}`);
		}));
	};
	const pinnedList = async (name, between) => {
		const ids = (overrides[name]?.split(",").map((part) => part.trim().split(between)) ?? []).map((names) => Promise.all(names.map((one) => idOf(one, calledAs(name)))).then((all) => all.join(between)));
		return (await Promise.all(ids)).join(",");
	};
	const { good, bad } = overrides;
	return {
		...overrides,
		...good && { good: await idOf(good, calledAs("good")) },
		...bad && { bad: await idOf(bad, calledAs("bad")) },
		...overrides.fixUp && { fixUp: await pinnedList("fixUp", ":") },
		...overrides.skip && { skip: await pinnedList("skip", "..") }
	};
}
/** Exceeding it would be too many to read, and for a comment. */
const maxListedCommits = 100;
/**
* Lists the commits, oldest first, that the bisection may build although perhaps no person with write permission has
* read them. `line` selects among those after the good commit; of the others (fix-ups), those on no branch and no tag
* count. Throws a `UsageError` for too many to approve.
*/
async function unreadCommits({ good, bad, fixUp = "" }, line, repository) {
	const scope = line === "none" ? void 0 : {
		of: line,
		most: 101
	};
	const between = scope === void 0 ? [] : await repository.commitsBetween(good, bad, scope);
	const fixUps = fixUp.split(",").flatMap((text) => text.split(":")[0] || []);
	const isUnread = async (commit) => !between.includes(commit) && !await repository.isOnBranch(commit);
	const commits = [...line === "off-branches" && await isUnread(good) ? [good] : [], ...between];
	for (const commit of new Set(fixUps)) if (await isUnread(commit)) commits.push(commit);
	if (commits.length <= 100) return commits;
	throw new UsageError(`This bisection may build and run more than ${100} commits that are on no branch here, too many to read and approve: name a shorter range as GOOD BAD.`);
}
/** Digest of an ordered list of full ids, by which a command approves exactly that list. */
const digestOf = (commits) => createHash("sha256").update(commits.join("\n")).digest("hex");
async function ownEnds(patch, repository) {
	const { baseCommit, headCommit: bad } = patch;
	const good = await repository.mergeBase(baseCommit, bad);
	const steps = await repository.stepsSince(good, bad);
	if (steps > 1) return {
		good,
		bad
	};
	const count = steps === 1 ? "one commit" : "no commit of its own";
	throw new UsageError(`${patchName(patch)} has ${count}, so there is nothing to bisect: write /ppsgate run, or /ppsgate bisect GOOD BAD to choose commits.`);
}

// src/forge/patch/command.ts
var import_fastest_levenshtein = require_fastest_levenshtein();
const typed = text(500).optional();
/** Overrides of ppsgate.yml for one gate, as typed. */
const gateOverridesSchema = object(Object.fromEntries(overrideNames.map((name) => [name, typed])));
/**
* Parses the first line of a comment, which must begin with `call`; undefined for other comments. Does not check
* scenarios, testbeds and margins against the configuration.
*/
function parseCommand(comment, call = callOnGithub) {
	const [line = ""] = comment.trimStart().split(/\r?\n/, 1);
	const [first, ...words] = wordsOf(line.slice(0, 500));
	if (first !== call) return void 0;
	const [verb = "help", ...rest] = words;
	const mistaken = (what, nearest) => ({
		kind: "mistaken",
		why: `${what}; write ${call} ${nearest}`
	});
	switch (verb) {
		case "help":
		case "cancel":
			if (rest.length === 0) return { kind: verb };
			return mistaken(`${verb} takes no arguments, found "${excerpt(rest.join(" "))}"`, verb);
		case "run":
		case "rerun":
		case "extend": {
			const read = readArguments(verb, rest, call);
			return read.kind === "mistaken" ? mistaken(read.what, read.nearest) : read;
		}
		case "accept":
			if (call !== "/ppsgate") return mistaken(noVerb(verb), nearestVerb(verb));
			return mistaken("accept works only in an issue that ppsgate opened for a change", "help");
		case "bisect": {
			const read = readBisect(rest, (word) => heads[call].test(word));
			if (read.kind === "mistaken") return mistaken(read.what, read.nearest);
			const { overrides, head, list } = read;
			return {
				kind: verb,
				overrides,
				...list && { list },
				...headNamed(head, call)
			};
		}
		default: return mistaken(noVerb(verb), nearestVerb(verb));
	}
}
function isAcceptCommand(comment) {
	const [line = ""] = comment.trimStart().split(/\r?\n/, 1);
	return /^\/ppsgate\s+accept\s*$/.test(line);
}
const noVerb = (word) => `there is no command "${excerpt(word)}"`;
function nearestVerb(word) {
	const nearest = (0, import_fastest_levenshtein.closest)(word.toLowerCase(), verbs);
	return (0, import_fastest_levenshtein.distance)(word.toLowerCase(), nearest) <= 2 ? nearest : "help";
}
const verbs = [
	"run",
	"rerun",
	"extend",
	"bisect",
	"cancel",
	"help"
];
function commandsFor(call) {
	const isOnGithub = call === callOnGithub;
	const all = {
		run: [
			["run", isOnGithub ? "measure the current head of the pull request" : "measure the newest diff"],
			isOnGithub ? ["run 1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d", "the same if this is the head; for a patch from a fork"] : ["run 80677", "measure that diff; for a diff by an unapproved person"],
			["run forwarding inet6 margin=1% runs=20 testbed=chelsio", "the same with other scenarios, families, margin, maximum runs or testbed"],
			["run metric=nsPerPacket", "the same with another metric than the configured one"],
			["run profile", "the same with profiles; profile=off for none, profile=30s for longer ones"],
			["run stop-at-first=on", "the same, but the first cell with a loss ends all runs"],
			["run measure-anyway", "the same, even if nothing installed on the testbed differs"],
			...isOnGithub ? [] : [["run earlier=80345,80654", "also measure those earlier diffs; all means every earlier one"]]
		],
		rerun: [["rerun", "repeat the last request"]],
		extend: [["extend runs=40", "continue an inconclusive experiment"]],
		bisect: [
			["bisect", isOnGithub ? "find the commit of the pull request that lost performance" : "find the diff of the revision that lost performance"],
			isOnGithub ? ["bisect 1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d", "the same for a patch from a fork if this is the head; lists its commits first"] : ["bisect 80677 earlier=80345,80654", "the same among those diffs; each is built and run"],
			["bisect v1.2 main forwarding inet4", "the same between two chosen commits, good and bad, in one scenario and family"],
			["bisect fix-up=3c4d5e6f7a8b skip=1a2b3c4..5d6e7f8", "the same with a fix applied where it is missing, and without some commits"],
			["bisect testbed=chelsio verify-revert", "the same on another testbed; also measures the bad commit without the culprit"],
			["bisect metric=pps max-boots=60 profile=off", "the same with another metric, more boots, or no profiles"]
		],
		cancel: [["cancel", "cancel running and waiting gates"]],
		help: [["help", "show this list"]]
	};
	return verbs.flatMap((verb) => all[verb].map(([rest, to]) => ({
		write: `${call} ${rest}`,
		to
	})));
}
const longestCommand = 500;
const keyed = keysOf(overrideNames);
const switches = new Map(overrideNames.flatMap((name) => parameter(name).kind === "switch" ? [[kebabCase(name), name]] : []));
const heads = {
	[callOnGithub]: /^[0-9a-f]{7,64}$/,
	[callOnPhabricator]: /^[1-9]\d{0,8}$/
};
function keysFor(verb, call) {
	if (verb === "rerun") return [];
	return [...keyed.values()].filter(({ isOfRevision = false }) => !isOfRevision || call === "@ppsgate").map(({ key }) => key).filter((key) => verb === "run" || key === "runs");
}
function readArguments(verb, words, call) {
	const allowed = keysFor(verb, call);
	const overrides = {};
	const familyWords = [];
	const scenarioWords = [];
	let namedHead;
	const mistaken = (what, nearest = verb) => ({
		kind: "mistaken",
		what,
		nearest
	});
	for (const word of words) {
		const pair = pairIn(word);
		const switchNamed = switches.get(word);
		if (pair !== void 0) {
			const match = keyFor(pair, {
				verb,
				allowed,
				keyed
			});
			if (match.kind === "mistaken") return match;
			const { name } = match.parameter;
			if (overrides[name] !== void 0) return mistaken(`${pair.key} is given twice`);
			overrides[name] = pair.value;
		} else if (heads[call].test(word) && namedHead === void 0) namedHead = word;
		else if (verb !== "run" || !/^[a-z][\w.-]*$/i.test(word)) return mistaken(`${verb} takes no "${excerpt(word)}"`);
		else if (word === "profile") overrides.profile ??= "on";
		else if (switchNamed !== void 0) overrides[switchNamed] = "true";
		else if (families.some((family) => family === word)) familyWords.push(word);
		else scenarioWords.push(word);
	}
	const of = headNamed(namedHead, call);
	if (verb === "rerun") return {
		kind: verb,
		...of
	};
	if (verb === "extend") return {
		kind: verb,
		...overrides.maxRuns !== void 0 && { maxRuns: overrides.maxRuns },
		...of
	};
	if (scenarioWords.length > 0) overrides.scenarios = scenarioWords.join(",");
	if (familyWords.length > 0) overrides.families = familyWords.join(",");
	return {
		kind: verb,
		overrides,
		...of
	};
}
function headNamed(text, call) {
	if (text === void 0) return {};
	return call === "/ppsgate" ? { commit: text } : { diff: Number(text) };
}

// src/forge/patch/revision.ts
/** Parses `all`, `none`, or ids like `80345,80654`. Throws a `UsageError` for anything else. */
function parseEarlier(text, called) {
	if (text === "all" || text === "none") return text;
	const ids = text.split(",").map((id) => id.trim());
	if (ids.every((id) => /^[1-9]\d{0,8}$/.test(id))) return ids.map(Number);
	throw new UsageError(`${called}: expected all, none or diff IDs like 80345,80654, found "${text}".`);
}
/**
* Throws a `PatchError` if the diff does not apply, and a `UsageError` or `RevisionError` if it does not exist or
* belongs to another repository. Omits an earlier diff that does not apply, with a note.
*/
async function patchOfRevision(name, earlier, deps) {
	const found = await findRevision(deps.conduit, name);
	refuseForeign(found, deps.config);
	const { diff, number } = found;
	const notes = [];
	const base = await baseOf(diff, deps);
	notes.push(...base.notes);
	const head = await commitOf(number, diff, base.commit, deps);
	if (head.kind === "does-not-apply") throw unusable(number, diff, head);
	const others = [];
	for (const one of chosenDiffs(found, earlier)) {
		const commit = await commitOf(number, one, base.commit, deps);
		if (commit.kind === "committed") others.push({
			diff: one.id,
			headCommit: commit.commit
		});
		else notes.push(`Diff ${one.id} is left out: ${commit.why}`);
	}
	return {
		kind: "revision",
		server: deps.conduit.url,
		number,
		diff: diff.id,
		phids: phidsOf(found),
		title: found.title,
		author: found.author.name,
		url: found.url,
		baseCommit: base.commit,
		headCommit: head.commit,
		earlier: others,
		...base.missing !== void 0 && { missingBase: base.missing },
		notes
	};
}
/** Throws a `PatchError` if the commits differ: the diff is then not the approved one. */
async function restoreRevision(patch, deps) {
	const { number, baseCommit, earlier, phids } = patch;
	const judged = {
		diff: patch.diff,
		headCommit: patch.headCommit,
		...phids && { phids }
	};
	for (const { diff: id, headCommit, ...own } of [judged, ...earlier]) {
		if (await deps.repository.resolve(headCommit).then(() => true, () => false)) continue;
		const { diff } = await findRevision(deps.conduit, {
			revision: number,
			diff: id,
			...own
		});
		const made = await commitOf(number, diff, baseCommit, deps);
		if (made.kind === "committed" && made.commit === headCommit) continue;
		throw new PatchError(`Diff ${id} of D${number} has changed: request it again.`);
	}
}
/**
* Creates a line of commits from a revision's diffs, as a bisection follows first parents but diffs are siblings on one
* base. Each commit has all files of its diff. Throws a `UsageError` for a single diff.
*/
async function lineOfDiffs({ number, diff, baseCommit, headCommit, earlier }, repository) {
	if (earlier.length === 0) throw new UsageError(`D${number} has no earlier diff than ${diff} that applies, so there is nothing to bisect: name a good commit and a bad commit.`);
	const diffs = /* @__PURE__ */ new Map();
	let bad = baseCommit;
	for (const one of [...earlier, {
		diff,
		headCommit
	}]) {
		const about = {
			message: `D${number} diff ${one.diff}`,
			date: /* @__PURE__ */ new Date(0)
		};
		bad = await repository.commitOnTop(one.headCommit, bad, about);
		diffs.set(bad, one.diff);
	}
	return {
		good: baseCommit,
		bad,
		diffs
	};
}
function refuseForeign({ number, repository }, { repositories }) {
	if (repositories === void 0) return;
	if (isNamed(repository, repositories)) return;
	const name = repository?.callsign ?? repository?.shortName;
	const which = name === void 0 ? "of no repository" : `of the repository ${name}`;
	throw new UsageError(`D${number} is ${which}, but only revisions of ${repositories.join(", ")} are measured: see phabricator.repositories in ppsgate.yml.`);
}
/** Throws a `UsageError` for an id that is none of the earlier diffs. */
function chosenDiffs({ diff, earlier }, which) {
	if (which === "none") return [];
	if (which === "all") return earlier;
	const stranger = which.find((id) => !earlier.some((one) => one.id === id));
	if (stranger !== void 0) {
		const ids = earlier.map(({ id }) => id).join(", ") || "none";
		throw new UsageError(`earlier: ${stranger} is not an earlier diff of the revision than ${diff.id}; the earlier diffs are: ${ids}.`);
	}
	return earlier.filter(({ id }) => which.includes(id));
}
/** Returns the base that the diff names, or its branch's commit of that day. */
async function baseOf({ id, base, createdAt }, deps) {
	const { repository, config } = deps;
	const asOfDay = async (why, branch = config.branch) => {
		const commit = await repository.commitAt(branch, createdAt);
		return {
			commit,
			notes: [`Diff ${id} ${why}: ${`it is measured against ${branch} as of ${createdAt.toISOString().slice(0, 10)}, ${shortId(commit)}`}.`]
		};
	};
	switch (base.kind) {
		case "none": return asOfDay("does not name its base");
		case "other": return asOfDay(`names its base "${base.text}", which is not a full commit ID`);
		case "commit": {
			const commit = await repository.resolve(base.id).catch(() => void 0);
			if (commit !== void 0) return {
				commit,
				notes: []
			};
			const called = shortId(base.id);
			const taken = await asOfDay(`names its base ${called}, which is not in the repository`);
			const missing = `Diff ${id} is based on ${called}, which is not in the repository; it was measured on ${shortId(taken.commit)} of ${config.branch} instead, without changes of a parent revision.`;
			return {
				...taken,
				missing
			};
		}
		case "svn-path": {
			const { branch, called } = await branchOf(base.path, deps);
			return asOfDay(`names its base ${called}, without a revision`, branch);
		}
		case "svn-revision": {
			const { path, revision } = base;
			const { branch, called } = await branchOf(path, deps);
			const number = `r${revision}${called && ` of ${called}`}`;
			const found = await repository.commitOfSvn(branch, revision, createdAt);
			if (found.kind !== "found") {
				const why = whyNotFound[found.kind];
				return asOfDay(`names its base ${number}, ${why}`, branch);
			}
			const last = ` (r${found.revision} is the last change of ${branch} before it)`;
			const note = `Diff ${id} is based on ${number}, which is ${`${shortId(found.commit)}${found.revision === revision ? "" : last}`}.`;
			return {
				commit: found.commit,
				notes: [note]
			};
		}
	}
}
const whyNotFound = {
	"no-revisions": "and the repository has neither git-svn-id lines nor notes of a conversion (git fetch origin refs/notes/commits:refs/notes/commits)",
	"only-later": "which is older than every commit of the branch here",
	"not-in-time": "which was not found within a minute"
};
async function branchOf(path, { repository, config: { branch: own } }) {
	if (path === void 0) return {
		branch: own,
		called: ""
	};
	if (/(?:^|\/)(?:head|trunk)$/.test(path)) return {
		branch: own,
		called: path
	};
	const branch = await repository.branchOfPath(path);
	if (branch !== void 0) return {
		branch,
		called: path
	};
	return {
		branch: own,
		called: `${path} (which is not a branch here, so ${own} is used)`
	};
}
async function commitOf(number, diff, base, { conduit, repository }) {
	const raw = await fetchDiff(conduit, diff);
	if (raw.kind === "misleading") return {
		kind: "does-not-apply",
		why: raw.why,
		fault: raw.fault
	};
	const about = {
		message: `D${number} diff ${diff.id}`,
		date: diff.createdAt
	};
	const made = await repository.commitDiff(base, raw.bytes, about);
	if (made.kind === "committed") return made;
	const fault = made.isRefused ? "unusable-diff" : "does-not-apply";
	return {
		...made,
		fault,
		why: [made.why, ...raw.remarks].join(" ")
	};
}
function unusable(number, { id }, { fault, why }) {
	return new PatchError(`Diff ${id} of D${number} ${fault === "does-not-apply" ? "does not apply" : "cannot be used"}: ${why}`, fault);
}

// src/forge/patch/job-key.ts
const jobSchema = object({
	/**
	* Identifies the request, so that it runs once. Consists of letters, digits and `.:-`, so that it can name a folder
	* or run.
	*/
	key: string().regex(/^\w[\w.:-]{0,119}$/),
	revision: id,
	/** Fixed at approval. */
	diff: id,
	/** Absent in jobs of older versions. */
	phids: diffPhids.optional(),
	overrides: gateOverridesSchema,
	/** Bisects instead: the named commits, or the revision's diffs up to this one. */
	bisect: bisectOverridesSchema.optional(),
	/** PHID of the Harbormaster build that waits for the outcome. */
	build: string().regex(/^PHID-HMBD-\w{1,40}$/).optional(),
	/** The requester's user name, or `Harbormaster`. */
	by: text(100),
	/** Extends that job's experiment, which was inconclusive. */
	extend: object({
		key: text(120),
		maxRuns: text(20).optional()
	}).optional()
});
/** Names the diff of a job by numbers and by PHIDs, as a restored server may reuse the numbers. */
const patchOf = ({ revision, diff, phids }) => [`D${revision}:${diff}`, ...phids === void 0 ? [] : [phids.revision, phids.diff]].join(":");
const workOf = ({ bisect }) => bisect === void 0 ? "gate" : "bisection";

// src/forge/patch/authorize-revision.ts
/**
* Decides for one diff only: a later one needs its own approval. A command approves a diff that its author can have
* read: either the one that it names, or one that existed for some time before.
*/
async function authorizeRevision({ number, diff }, occasion, rules) {
	const isAuthorized = async ({ phid, name }) => rules.people.some((one) => isSameName(one, name)) || rules.projects.length > 0 && await rules.isMember(phid);
	switch (occasion.kind) {
		case "sent":
			for (const person of occasion.by) if (!await isAuthorized(person)) return stranger(person, "run", {
				number,
				diff
			}, rules);
			return {
				kind: "allowed",
				why: `${[...new Set(occasion.by.map(({ name }) => name))].join(" and ")} may have diffs measured.`
			};
		case "commanded": {
			const { verb, by, at, sentAt, isNamed, isMeasured = false } = occasion;
			if (!await isAuthorized(by)) return stranger(by, verb, {
				number,
				diff,
				isMeasured
			}, rules);
			if (!isNamed && at.getTime() - sentAt.getTime() < readingSeconds * 1e3) return {
				kind: "refused",
				why: `Diff ${diff} was uploaded just before the command: read it, and write @ppsgate ${verb} ${diff}.`
			};
			return {
				kind: "allowed",
				why: `${by.name}, who may have diffs measured, requested it.`
			};
		}
		case "cancelled": {
			const { by } = occasion;
			if (await isAuthorized(by)) return {
				kind: "allowed",
				why: `${by.name}, who may have diffs measured, requested it.`
			};
			const who = oursIn(rules);
			const may = who === void 0 ? noPerson("do that") : `${who} may do that with @ppsgate cancel`;
			return {
				kind: "refused",
				why: `Thank you, ${by.name}: runs for D${number} are not cancelled; ${may}.`
			};
		}
	}
}
/** Time within which a comment is posted that was begun before the diff arrived. */
const readingSeconds = 60;
const waits = {
	run: "is not measured yet",
	rerun: "is not measured again yet",
	extend: "is not extended yet",
	bisect: "is not bisected yet"
};
function stranger({ name }, verb, { number, diff, isMeasured }, rules) {
	const who = oursIn(rules);
	if (isMeasured && verb === "run") return {
		kind: "refused",
		why: `Thank you, ${name}: diff ${diff} of D${number} is being measured, see the comment of ppsgate; ${who === void 0 ? noPerson("request it again") : `${who} can have it measured again with @ppsgate rerun ${diff}`}.`
	};
	const verbText = who === void 0 ? noPerson("request it") : `it runs on the testbed once ${who} has read diff ${diff} and written @ppsgate ${verb} ${diff}`;
	return {
		kind: "refused",
		why: `Thank you, ${name}: D${number} ${waits[verb]}; ${verbText}.`
	};
}
function oursIn({ people, projects }) {
	const who = [...projects.length > 0 ? [`a member of ${projects.join(" or ")}`] : [], ...people.length > 0 ? ["a person listed in ppsgate.yml"] : []];
	return who.length === 0 ? void 0 : who.join(" or ");
}
const noPerson = (what) => `no person may ${what}: \`people\` and \`projects\` in ppsgate.yml are empty`;

export { authorizeRevision, bisectOverridesSchema, bisectWords, chosenDiffs, commandsFor, digestOf, gateOverridesSchema, isAcceptCommand, jobSchema, lineOfDiffs, listKey, ownEnds, parseCommand, parseEarlier, patchOf, patchOfRevision, pinned, restoreRevision, unreadCommits, workOf };