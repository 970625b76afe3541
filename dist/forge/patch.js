import { UsageError, callOnGithub, callOnPhabricator, diffPhids, families, id, oneLine, patchName, plainLine, scenarios, shortId, text } from "../model.js";
import { object, string } from "../vendor/zod.js";
import { bisectOverrideNames, kebabCase, overrideNames, parameter } from "../config.js";
import { excerpt } from "../model/excerpt.js";
import { require_fastest_levenshtein } from "../vendor/fastest-levenshtein.js";
import { didYouMean, meantBy } from "../config/did-you-mean.js";
import { callerOwning } from "../report.js";
import { fetchDiff, findRevision, isNamed, isSameName, phidsOf } from "./phabricator.js";
import { once } from "node:events";
import { execFile, spawn } from "node:child_process";
import { dirname, join, relative, resolve } from "node:path";
import { statSync } from "node:fs";
import { promisify } from "node:util";
import { createHash } from "node:crypto";
import { chown, copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { pipeline } from "node:stream/promises";

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
			if (!isDigest(pair.value)) return mistaken(`${listKey} is the digest of a list, as an answer has it`);
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
			if (before !== void 0 && kind !== "list") return mistaken(`${key} is there twice`);
			overrides[name] = before === void 0 ? value : `${before},${value}`;
		} else if (word.includes("..")) {
			const ends = word.split(/\.{2,}/).map((end) => excerpt(end));
			return mistaken("bisect takes a good commit and a bad one, not a range", ends.filter(Boolean).join(" "));
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
		const what = `bisect takes a good commit and a bad one, found "${excerpt(first)}" alone`;
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
	const what = `bisect takes two commits, found "${excerpt(more[0] ?? own)}" as well`;
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

// src/forge/patch/diff.ts
/** Reads the output of git-diff(1) or diff(1) -u with prefixes `a/` and `b/`, as bytes: sources may be in Latin-1. */
function checkDiff(diff) {
	try {
		return accept(diff);
	} catch (error) {
		if (error instanceof Refusal) return {
			kind: "refused",
			reason: error.message
		};
		throw error;
	}
}
/** Arguments of git, followed by a tree; `isAsSaid` reads the output. */
const rawChanges = [
	"diff-index",
	"--cached",
	"--no-renames",
	"-z"
];
/** Checks that git, in applying the diff, changed exactly the files that the diff names, and that all are plain. */
function isAsSaid(paths, raw) {
	const words = raw.split("\0");
	const changes = words.flatMap((word, at) => at % 2 === 0 && word !== "" ? {
		modes: word.slice(1).split(" ", 2),
		path: words[at + 1] ?? ""
	} : []);
	for (const { modes, path } of changes) {
		const mode = modes.find((mode) => mode !== noFile && !plainModes.includes(mode));
		if (mode !== void 0) return {
			kind: "refused",
			reason: notPlain(path, mode)
		};
	}
	const changed = changes.map(({ path }) => path);
	const others = [...paths.filter((path) => !changed.includes(path)), ...changed.filter((path) => !paths.includes(path))];
	if (others.length === 0) return { kind: "as-said" };
	return {
		kind: "refused",
		reason: `The diff does to ${others.slice(0, 5).join(", ")} something else than it says; send it as one diff of the whole change.`
	};
}
/** Explains the output of git-apply(1). Its first lines are the cause: `error: patch failed: sys/net/if.c:12`. */
function whyGitRefuses(stderr, remarks) {
	return [`git cannot apply the diff: ${stderr.split("\n").flatMap((line) => /^(?:error|fatal): (.*)$/.exec(line)?.[1] ?? []).slice(0, 3).join("; ") || "it said nothing"}.`, ...remarks].join(" ");
}
const mostBytes = 5e6;
const mostFiles = 2e3;
/** Thrown and caught in this file only. */
var Refusal = class extends Error {};
function refuse$1(reason) {
	throw new Refusal(reason);
}
function accept(diff) {
	if (diff.length > mostBytes) refuse$1(`The diff has ${diff.length} bytes, and at most ${mostBytes} are taken; split it.`);
	const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
	const lines = bytes.toString("latin1").split("\n");
	const sections = readSections(lines);
	if (sections.length === 0) refuse$1("The diff changes no file; send one that git diff made.");
	if (sections.length > mostFiles) refuse$1(`The diff changes ${sections.length} files, and at most ${mostFiles} are taken; split it.`);
	const paths = sections.flatMap(pathsOf).toSorted();
	const twice = paths.find((path, index) => path === paths[index - 1]);
	if (twice !== void 0) refuse$1(`The diff changes ${twice} twice; send one diff of the whole change, as git diff makes it.`);
	return {
		kind: "accepted",
		paths,
		remarks: remarksOn(bytes, lines)
	};
}
function readSections(lines) {
	const sections = [];
	for (let index = 0; index < lines.length;) {
		const line = lines[index] ?? "";
		const current = sections.at(-1);
		if (opensSection(lines, index, current)) {
			sections.push({
				line: index + 1,
				header: [line],
				hunks: 0
			});
			index += 1;
		} else if (line.startsWith("@@ -")) index = afterHunk(lines, index, current);
		else {
			if (current?.hunks === 0) current.header.push(line);
			index += 1;
		}
	}
	return sections;
}
function opensSection(lines, index, current) {
	const line = lines[index] ?? "";
	if (line.startsWith("diff --git ")) return true;
	const follows = (offset, start) => lines[index + offset]?.startsWith(start);
	if (!line.startsWith("--- ") || !follows(1, "+++ ") || !follows(2, "@@ -")) return false;
	return current === void 0 || current.hunks > 0 || current.header.some(isNewName);
}
const isNewName = (line) => line.startsWith("+++ ");
/** Returns the index of the first line after the hunk, by its line counts (POSIX, diff -u). */
function afterHunk(lines, start, section) {
	const head = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines[start] ?? "");
	if (head === null || !(section?.hunks || section?.header.some(isNewName))) refuse$1(`Line ${start + 1} of the diff starts a hunk of no file; send what git diff made.`);
	section.hunks += 1;
	let before = Number(head[1] ?? 1);
	let after = Number(head[2] ?? 1);
	let index = start + 1;
	for (; before > 0 || after > 0; index += 1) {
		const sign = lines[index]?.[0] ?? (index < lines.length - 1 ? " " : void 0);
		if (sign === void 0 || !" \r+-\\".includes(sign)) refuse$1(`The hunk at line ${start + 1} of the diff is cut off at line ${index + 1}.`);
		if (sign === " " || sign === "\r" || sign === "-") before -= 1;
		if (sign === " " || sign === "\r" || sign === "+") after -= 1;
	}
	return index;
}
function pathsOf(section) {
	if (section.header[0]?.endsWith("\r")) refuse$1("The lines of the diff end in CR LF; send it with the line ends that git wrote.");
	const copied = plainName(section, /^copy from (.*)$/);
	const from = plainName(section, /^rename from (.*)$/) ?? copied;
	const named = [
		prefixedName(section, valueIn(section, /^--- (.*)$/), "a/"),
		prefixedName(section, valueIn(section, /^\+\+\+ (.*)$/), "b/"),
		from,
		plainName(section, /^(?:rename|copy) to (.*)$/),
		nameInGitLine(section, from !== void 0)
	];
	const paths = [...new Set(named)].filter((name) => name !== void 0).map(decoded);
	const [path] = paths;
	if (path === void 0) refuse$1(`Line ${section.line} of the diff names no file.`);
	refuseKind(section, path);
	for (const each of paths) refusePath(each);
	if (paths.length > (from === void 0 ? 1 : 2)) refuse$1(`The diff calls one file by several names, ${paths.join(" and ")}; send what git diff made.`);
	return copied === void 0 ? paths : paths.filter((each) => each !== decoded(copied));
}
function plainName(section, pattern) {
	const value = valueIn(section, pattern);
	return value === void 0 ? void 0 : unquoted(value);
}
const valueIn = ({ header }, pattern) => header.map((line) => pattern.exec(line)?.[1]).find((value) => value !== void 0);
/** The name in `--- a/PATH` or `+++ b/PATH`; undefined if the line is missing or that side has no file. */
function prefixedName(section, value, prefix) {
	const [written = ""] = value?.split("	") ?? [];
	if (value === void 0 || written === "/dev/null") return void 0;
	const name = unquoted(written);
	if (!name.startsWith(prefix)) refusePrefix(section);
	return name.slice(2);
}
/** Both names are equal unless the name changes. */
function nameInGitLine(section, renamed) {
	const [, rest] = /^diff --git (.*)$/.exec(section.header[0] ?? "") ?? [];
	if (rest === void 0) return void 0;
	if (!/^"?a\//.test(rest)) refusePrefix(section);
	if (renamed) return void 0;
	const quoted = /^("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")$/.exec(rest);
	const middle = (rest.length - 1) / 2;
	const [a, b] = (quoted?.slice(1) ?? [rest.slice(0, middle), rest.slice(middle + 1)]).map(unquoted);
	if (!(a?.startsWith("a/") && b?.startsWith("b/") && a.slice(2) === b.slice(2))) refuse$1(`Line ${section.line} of the diff names two files, but says of no rename.`);
	return a?.slice(2);
}
const refusePrefix = ({ line }) => refuse$1(`The diff at line ${line} has no prefixes a/ and b/; make it with git diff --src-prefix=a/ --dst-prefix=b/.`);
/** Git quotes a name like a string in C, with bytes in octal; see core.quotePath in git-config(1). */
function unquoted(name) {
	if (!/^".*"$/.test(name)) return name;
	return name.slice(1, -1).replace(/\\([0-7]{3}|.)/g, (_, code) => {
		if (code.length === 3) return String.fromCharCode(Number.parseInt(code, 8) & 255);
		return escapes[code] ?? code;
	});
}
const escapes = {
	a: "\x07",
	b: "\b",
	f: "\f",
	n: "\n",
	r: "\r",
	t: "	",
	v: "\v"
};
function decoded(name) {
	const path = Buffer.from(name, "latin1").toString();
	if (path.includes("�")) refuse$1(`The name of the file ${path} is not UTF-8; rename it.`);
	return path;
}
function refuseKind({ header }, path) {
	if (header.some((line) => /^(?:GIT binary patch|Binary files .* differ)\r?$/.test(line))) refuse$1(`The diff changes the binary file ${path}; only text is taken.`);
	const mode = header.map((line) => /^(?:(?:old|new|new file|deleted file) mode|index \S+) (.+)$/s.exec(line)?.[1]).map((text) => text && modeAsGitReads(text)).find((mode) => mode !== void 0 && !plainModes.includes(mode));
	if (mode !== void 0) refuse$1(notPlain(path, mode));
}
/** Parses octal like strtoul(3), ignoring everything after a blank. */
const modeAsGitReads = (text) => /^\s*\+?0*([0-7]+)(?:\s|$)/.exec(text)?.[1] ?? oneLine(text);
function notPlain(path, mode) {
	return `The diff changes ${path}, which is ${{
		12e4: "a symbolic link",
		16e4: "a submodule"
	}[mode] ?? `of mode ${mode}`}; only plain files are taken.`;
}
const plainModes = ["100644", "100755"];
const noFile = "000000";
function refusePath(path) {
	const segments = path.split("/");
	const isOutside = segments.some((segment) => [
		"",
		".",
		".."
	].includes(segment));
	const isGits = segments.some((segment) => segment.toLowerCase() === ".git");
	if (!isOutside && !isGits && !/\p{Cc}/u.test(path)) return;
	refuse$1(`The diff changes "${path.replace(/\p{Cc}/gu, "?")}", which is no file of the tree; name files below its root.`);
}
function remarksOn(bytes, lines) {
	const remarks = [];
	const text = bytes.toString();
	if (lines.some((line) => /^[ +-]/.test(line) && line.endsWith("\r"))) remarks.push("Some lines of the diff end in CR LF.");
	if (bytes.includes("�")) remarks.push("The diff holds U+FFFD, which replaced an unreadable letter.");
	else if (text.includes("�")) remarks.push("The diff is not UTF-8.");
	return remarks;
}

// src/forge/patch/git.ts
var RepositoryError = class extends Error {
	name = "RepositoryError";
	conclusion = "usage";
};
const run = promisify(execFile);
const maxBytes = 4194304;
/** @param environment for git, if fetching missing objects needs more than the checkout has. */
function gitIn(directory, environment) {
	const options = [
		"-C",
		directory,
		"-c",
		"safe.directory=*"
	];
	const caller = callerReaching(resolve(directory));
	const home = caller && { HOME: process.env.SUDO_HOME ?? "/" };
	const runWith = async (more, ...args) => {
		const bounds = {
			env: {
				...process.env,
				...home,
				...environment,
				...more
			},
			maxBuffer: maxBytes,
			...caller
		};
		try {
			return (await run("git", [...options, ...args], bounds)).stdout;
		} catch (error) {
			throw whyNotWritten(directory, error) ?? error;
		}
	};
	return {
		directory,
		run: (...args) => runWith({}, ...args),
		runWith,
		async bytes(...args) {
			const bounds = {
				env: {
					...process.env,
					...home
				},
				maxBuffer: maxBytes,
				encoding: "buffer",
				...caller
			};
			return (await run("git", [...options, ...args], bounds)).stdout;
		},
		start: (args, more) => spawn("git", [...options, ...args], {
			env: {
				...process.env,
				...home,
				...environment
			},
			stdio: [
				"pipe",
				"pipe",
				"ignore"
			],
			...caller,
			...more
		}),
		async share(...paths) {
			if (caller === void 0) return;
			for (const path of paths) await chown(path, caller.uid, caller.gid);
		}
	};
}
/** The caller of sudo where the checkout is theirs, and git reaches it without their supplementary groups. */
function callerReaching(directory) {
	const caller = callerOwning(directory);
	if (caller === void 0) return void 0;
	for (let folder = directory;; folder = dirname(folder)) {
		const { uid, gid, mode } = statSync(folder);
		if ((mode & (uid === caller.uid ? 64 : gid === caller.gid ? 8 : 1)) === 0) return void 0;
		if (folder === dirname(folder)) return caller;
	}
}
/** Returns an error with advice where git cannot make an object. */
function whyNotWritten(directory, error) {
	const { stderr } = error;
	const [line] = /(?:insufficient permission for adding an object|unable to create temporary file)[^\n]*/.exec(typeof stderr === "string" ? stderr : "") ?? [];
	if (line === void 0) return void 0;
	return new RepositoryError(`git cannot write in the repository ${directory} (${line}): make its .git writable for the user who runs this, as with chown -R.`);
}
const isId = (name) => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(name);
/** Throws for a name that is not resolved. */
function idOf(text) {
	if (isId(text)) return text;
	throw new RepositoryError(`"${text}" is no full id of an object: resolve it first.`);
}
const plainPatch = [
	"--no-color",
	"--no-ext-diff",
	"--no-textconv",
	"--no-renames",
	"--full-index",
	"--src-prefix=a/",
	"--dst-prefix=b/"
];
const plainly = [
	"core.autocrlf=false",
	"core.splitIndex=false",
	"apply.ignoreWhitespace=no",
	"i18n.commitEncoding=UTF-8"
].flatMap((setting) => ["-c", setting]);
/** Dates author and committer, so that equal content yields equal commits. */
function signature(date) {
	const at = `@${Math.floor(date.getTime() / 1e3)} +0000`;
	const [name, email] = ["ppsgate", "ppsgate@localhost.invalid"];
	return {
		GIT_AUTHOR_NAME: name,
		GIT_AUTHOR_EMAIL: email,
		GIT_AUTHOR_DATE: at,
		GIT_COMMITTER_NAME: name,
		GIT_COMMITTER_EMAIL: email,
		GIT_COMMITTER_DATE: at
	};
}
/** Yields the fields of an output that end in NUL, each shortened by `short`, as one may exceed our memory. */
async function* fieldsOf(output, short) {
	let field = "";
	for await (const chunk of output) {
		const [rest = "", ...begun] = chunk.split("\0");
		field = short(field + rest);
		for (const next of begun) {
			yield field;
			field = short(next);
		}
	}
}

// src/forge/patch/resolve-commit.ts
var NoRepositoryError = class extends RepositoryError {
	name = "NoRepositoryError";
};
/** The message begins with the name. */
var NoCommitError = class extends RepositoryError {
	name = "NoCommitError";
};
/** Throws a `RepositoryError` if there is no such commit. */
async function resolveCommit(git, name) {
	if (!isCommitName(name)) throw new NoCommitError(`"${name}" is no name of a commit: write its id, a branch or a tag, like main, v1.2 or HEAD~2.`);
	const parse = () => git.run("rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`);
	return (await parse().catch((error) => {
		if (!isId(name)) throw error;
		return git.run("fetch", ...objectsAlone, "--end-of-options", "origin", name).then(parse);
	}).catch(() => refuse(git, name))).trim();
}
/**
* Resolves names in commands. Abbreviated ids count only for commits of branches and tags: another object may come from
* a patch, whose author can choose its id.
*/
function withoutShortIds(repository) {
	return {
		...repository,
		async resolve(name) {
			const resolved = await repository.resolve(name);
			const [word = ""] = name.split(/[~^]/, 1);
			const digits = shortIdIn(word);
			if (digits === void 0) return resolved;
			const id = word === name ? resolved : await repository.resolve(word);
			if (!id.startsWith(digits) || await repository.isOnBranch(id)) return resolved;
			throw new NoCommitError(`"${excerpt(name)}" is no commit of a branch or a tag; another one may begin like ${id}, so write that in full if you mean it.`);
		}
	};
}
/** Abbreviated id that git reads in `1a2b3c4`, or in `v1.2-3-g1a2b3c4` of git-describe(1). */
function shortIdIn(word) {
	const [, digits] = /(?:^|-g)([0-9a-f]{4,})$/i.exec(word) ?? [];
	return isId(word) ? void 0 : digits?.toLowerCase();
}
async function refuse(git, name) {
	const { directory } = git;
	await git.run("rev-parse", "--git-dir").catch((error) => {
		if (error.syscall === "spawn git") throw new Error(`git cannot be started (${error.code}), and without it no patch can be read: install it, on Debian and Ubuntu by 'apt-get install git'.`);
		throw new NoRepositoryError(`${directory} is no git repository: name the one that has the commits.`);
	});
	const history = "check it out with its history (fetch-depth: 0)";
	if (isId(name)) throw new NoCommitError(`"${name}" is no commit of ${directory}, and could not be fetched: ${history}.`);
	const [, descendant, steps] = /^(.+)~(\d+)$/.exec(name) ?? [];
	const first = descendant && await git.run("rev-list", "--count", "--first-parent", "--end-of-options", descendant, "--").catch(() => "");
	if (first && Number(steps) >= Number(first)) throw new NoCommitError(`"${name}" would come before ${descendant}~${Number(first) - 1}, the first commit: name that or a later one, or ${history}.`);
	const names = await git.run("for-each-ref", "--format=%(refname:short)", ...[
		"refs/heads",
		"refs/tags",
		"refs/remotes"
	]).catch(() => "");
	const hint = didYouMean(name, names.split("\n").filter(Boolean));
	throw new NoCommitError(`"${name}" is no commit, branch or tag of ${directory}${hint || `: name one that is there, or ${history}.`}`);
}
/**
* Accepts names by the rules of git-check-ref-format(1), and their ancestors, such as `HEAD~2`, `v1^{commit}` or
* `main@{upstream}`. Refuses everything else that git would read, such as a refspec or a path.
*/
const isCommitName = (name) => name.length <= 250 && /^(?![-/])[^\p{C}\s~^:?*[\\]+(?<![/.])(?:[~^]\d{0,6}|\^\{(?:commit)?\})*$/u.test(name) && !/\.\.|\/\/|\/\.|^\.|\.lock(?:[/~^]|$)|@\{(?![\w-]{1,30}\})/.test(name);
/** Options of a fetch that writes no ref, overriding `remote.…` and `fetch` of git-config(1). */
const objectsAlone = [
	"--quiet",
	"--refmap=",
	"--no-tags",
	"--no-prune",
	"--no-write-fetch-head",
	"--no-recurse-submodules",
	"--no-auto-maintenance"
];

// src/forge/patch/commit-diff.ts
async function commitTree(git, tree, parent, about) {
	return committed(git, tree, ["-p", parent], about);
}
const rootCommit = (git, tree, about) => committed(git, tree, [], about);
async function committed(git, tree, parents, { message, date }) {
	const made = [
		...plainly,
		"commit-tree",
		...parents,
		"-m",
		message,
		tree
	];
	return (await git.runWith(signature(date), ...made)).trim();
}
async function commitDiff(git, base, diff, about) {
	const checked = checkDiff(diff);
	if (checked.kind === "refused") return {
		kind: "does-not-apply",
		why: checked.reason,
		isRefused: true
	};
	const parent = await resolveCommit(git, base);
	const folder = await mkdtemp(join(tmpdir(), "ppsgate-diff-"));
	try {
		const patch = join(folder, "patch.diff");
		await writeFile(patch, diff);
		await git.share(folder, patch);
		const environment = {
			GIT_DIR: (await git.run("rev-parse", "--absolute-git-dir")).trimEnd(),
			GIT_INDEX_FILE: join(folder, "index"),
			LC_ALL: "C"
		};
		const indexed = (...args) => git.runWith(environment, ...plainly, ...args);
		await indexed("read-tree", parent);
		const refused = await indexed("apply", "--cached", "--whitespace=nowarn", patch).then(() => void 0, (error) => whyGitRefuses(error.stderr ?? "", checked.remarks));
		if (refused !== void 0) return {
			kind: "does-not-apply",
			why: refused
		};
		const asSaid = isAsSaid(checked.paths, await indexed(...rawChanges, parent));
		if (asSaid.kind === "refused") return {
			kind: "does-not-apply",
			why: asSaid.reason,
			isRefused: true
		};
		return {
			kind: "committed",
			commit: await commitTree(git, (await indexed("write-tree")).trim(), parent, about)
		};
	} finally {
		await rm(folder, { recursive: true });
	}
}

// src/forge/patch/svn-commit.ts
/** Options of git-log(1): three fields per commit, with notes of this name only. */
const svnLog = [
	"-z",
	"--no-show-signature",
	"--notes=refs/notes/commits",
	"--format=%H%x00%N%x00%B"
];
/**
* Reads the output of `svnLog`, newest first, as far as needed. Numbers count the changes of a whole Subversion
* repository, most of them on other branches. So a working copy had the newest revision that is not later.
*/
async function newestUpTo(revision, output) {
	let hasRevisions = false;
	let done = [];
	for await (const field of fieldsOf(output, endOf)) {
		done.push(field);
		const [commit, note, message] = done;
		if (commit === void 0 || note === void 0 || message === void 0) continue;
		done = [];
		const named = revisionIn(note, message);
		if (named === void 0) continue;
		if (named <= revision) return {
			kind: "found",
			commit,
			revision: named
		};
		hasRevisions = true;
	}
	return { kind: hasRevisions ? "only-later" : "no-revisions" };
}
const endOf = (text) => text.slice(-4096);
/**
* Reads the last line of a message, as git-svn writes it, or a note of svn2git, as in FreeBSD. Later commits have
* neither. A forged last line only makes its own commit, already on the branch, the base of a later diff.
*/
function revisionIn(note, message) {
	const revision = [...message.trimEnd().split("\n").slice(-1), ...note.split("\n")].map((line) => svnRevision.exec(line)?.[1]).findLast(Boolean);
	return revision === void 0 ? void 0 : Number(revision);
}
const svnRevision = /^(?:git-svn-id: \S+@|svn path=[^;]*; revision=)(\d{1,9})(?![^ ;])/;

// src/forge/patch/dated-commits.ts
/** Several times what FreeBSD's 280,000 commits need. */
const svnLogMilliseconds = 6e4;
/** Arguments for git-rev-list(1): a branch, without the commits merged into it. */
async function branchBefore(git, branch, date) {
	const tip = await resolveCommit(git, `origin/${branch}`).catch(() => resolveCommit(git, branch));
	return [
		"--first-parent",
		`--before=${Math.floor(date.getTime() / 1e3)}`,
		tip
	];
}
async function commitAt(git, branch, date) {
	const range = await branchBefore(git, branch, date);
	const last = await git.run("rev-list", "--max-count=1", ...range);
	if (last !== "") return last.trim();
	throw new RepositoryError(`${branch} has no commit in ${git.directory} from before ${date.toISOString()}: check it out with its history (fetch-depth: 0).`);
}
async function commitOfSvn(git, branch, revision, date) {
	const log = [
		"log",
		...svnLog,
		...await branchBefore(git, branch, date)
	];
	const child = git.start(log, { timeout: svnLogMilliseconds });
	const ended = once(child, "close");
	const found = await newestUpTo(revision, child.stdout.setEncoding("latin1"));
	if (found.kind === "found") child.kill();
	const [code, signal] = await ended;
	if (found.kind === "found" || code === 0) return found;
	if (signal !== null) return { kind: "not-in-time" };
	throw new RepositoryError(`git cannot read the history of ${branch} in ${git.directory}: look at it with git fsck.`);
}
async function branchOfPath(git, path) {
	const parts = path.split("/").filter(Boolean);
	const ends = parts.map((_, index) => parts.slice(index).join("/"));
	const folders = ["refs/remotes/origin", "refs/heads"];
	const named = ends.flatMap((end) => folders.map((folder) => `${folder}/${end}`));
	if (!named.every(isCommitName)) return void 0;
	const existing = (await git.run("for-each-ref", "--format=%(refname)", ...named)).split("\n");
	return ends.find((end) => folders.some((folder) => existing.includes(`${folder}/${end}`)));
}

// src/forge/patch/linear-history.ts
function linearHistoryOf(git) {
	return {
		isShallow: async () => (await git.run("rev-parse", "--is-shallow-repository")).trim() === "true",
		contains: (commit, other) => contains(git, commit, other),
		isOnBranch: (commit) => isOnBranch(git, commit),
		async stepsSince(commit, tip) {
			const range = [idOf(tip), `^${idOf(commit)}`];
			return Number(await git.run("rev-list", "--count", "--first-parent", ...range));
		},
		async commitsBetween(after, upTo, { of, most }) {
			const read = [
				"rev-list",
				...[
					"--first-parent",
					`--max-count=${most}`,
					idOf(upTo),
					`^${idOf(after)}`
				],
				...of === "all" ? [] : notOnBranches
			];
			return (await git.run(...read).catch(() => {
				throw failed(`list the commits after ${after} up to ${upTo}`, git);
			})).split("\n").filter(Boolean).toReversed();
		},
		firstParents: (after, upTo) => firstParents(git, after, upTo),
		committedAt: (commit) => committedAt(git, commit),
		releaseBefore: (commit) => releaseBefore(git, commit),
		idsAt: (commits, path) => idsAt(git, commits, path),
		sameChanges: (commit, range) => sameChanges(git, commit, range),
		picker: (commit, isReverse = false) => pickerOf(git, commit, isReverse)
	};
}
const failed = (what, { directory }) => new RepositoryError(`git cannot ${what} in ${directory}: look at it with git fsck.`);
async function contains(git, commit, other) {
	const ids = [idOf(other), idOf(commit)];
	return git.run("merge-base", "--is-ancestor", ...ids).then(() => true, (error) => {
		if (error.code === 1) return false;
		throw failed(`tell whether ${other} came before ${commit}`, git);
	});
}
/** Excludes all that `isOnBranch` finds. */
const notOnBranches = ["--not", ...[
	"--branches",
	"--tags",
	"--remotes"
].flatMap((refs) => [
	"--exclude=pull/*",
	"--exclude=*/pull/*",
	refs
])];
async function isOnBranch(git, commit) {
	const found = [
		"for-each-ref",
		"--format=%(refname)",
		"--contains",
		idOf(commit),
		...[
			"refs/heads",
			"refs/tags",
			"refs/remotes"
		]
	];
	return (await git.run(...found).catch(() => {
		throw failed(`tell which branches have ${commit}`, git);
	})).split("\n").some((name) => name !== "" && !name.includes("/pull/"));
}
async function committedAt(git, commit) {
	const seconds = [
		"--no-patch",
		"--format=%ct",
		"--end-of-options",
		idOf(commit)
	];
	return (/* @__PURE__ */ new Date(Number(await git.run("show", ...seconds)) * 1e3)).toISOString();
}
async function releaseBefore(git, commit) {
	const describe = [
		"describe",
		"--tags",
		"--first-parent",
		"--abbrev=0",
		idOf(commit)
	];
	const name = (await git.run(...describe).catch(() => "")).trim();
	if (name === "") return void 0;
	const tagged = (await git.run("rev-parse", "--verify", `refs/tags/${name}^{commit}`)).trim();
	return {
		name,
		commit: tagged,
		at: await committedAt(git, tagged)
	};
}
async function* firstParents(git, after, upTo) {
	const form = [
		"-z",
		"--encoding=UTF-8",
		"--format=tformat:%H%x00%T%x00%s%x00%an"
	];
	const own = [
		"--no-show-signature",
		"--no-notes",
		"--no-mailmap",
		"--no-relative"
	];
	const line = [
		"--reverse",
		"--first-parent",
		"--diff-merges=first-parent"
	];
	const changes = [
		"--raw",
		"--no-abbrev",
		"--no-renames",
		"--ignore-submodules=none"
	];
	const range = [
		idOf(upTo),
		`^${idOf(after)}`,
		"--"
	];
	const child = git.start([
		"log",
		...form,
		...own,
		...line,
		...changes,
		...range
	]);
	const isWell = endsWell(child);
	let isRead = false;
	try {
		yield* commitsOf(child.stdout.setEncoding("utf8"));
		isRead = true;
	} finally {
		if (!isRead) child.kill();
	}
	if (!await isWell) throw failed(`read the commits after ${after} up to ${upTo}`, git);
}
/**
* Parses four fields per commit, then two per change: `:MODE MODE ID ID STATUS`, see git-diff-tree(1), and its path.
*/
async function* commitsOf(output) {
	let head = [];
	let changes = [];
	let change;
	const parsed = () => {
		const [commit = "", tree = "", subject = "", author = ""] = head;
		return {
			commit,
			tree,
			subject,
			author,
			changes
		};
	};
	for await (const field of fieldsOf(output, (text) => text.slice(0, 8192))) if (change !== void 0) {
		changes.push({
			path: field,
			isSubmodule: change.includes("160000 ")
		});
		change = void 0;
	} else if (head.length < 4) head.push(field);
	else if (/^\n?:/.test(field)) change = field;
	else {
		yield parsed();
		[head, changes] = [[field], []];
	}
	if (head.length === 4) yield parsed();
}
async function idsAt(git, commits, path) {
	const child = git.start(["cat-file", "--batch-check=%(objectname)"]);
	const isWell = endsWell(child);
	const names = commits.map((commit) => `${idOf(commit)}:${path}\n`).join("");
	child.stdin.on("error", () => void 0).end(names);
	const ids = (await textOf(child)).split("\n").slice(0, -1);
	if (await isWell && ids.length === commits.length) return ids.map((id) => isId(id) ? id : void 0);
	throw failed(`look for ${path || "the files"} of ${commits.length} commits`, git);
}
async function sameChanges(git, commit, { after, upTo }) {
	const id = idOf(commit);
	const parent = `${id}^1`;
	const compare = [
		"diff-tree",
		"-p",
		...plainPatch
	];
	const [[same] = []] = await patchIds(git, [
		...compare,
		parent,
		id
	]);
	const [[reverse] = []] = await patchIds(git, [
		...compare,
		id,
		parent
	]);
	const names = [
		"diff-tree",
		"-r",
		"-z",
		"--name-only",
		"--no-renames",
		parent,
		id
	];
	const [path = ""] = (await git.run(...names)).split("\0");
	const range = [idOf(upTo), ...after === void 0 ? [] : [`^${idOf(after)}`]];
	const all = [
		"--full-history",
		"--full-diff",
		"--no-merges",
		"--topo-order",
		"--reverse"
	];
	const form = [
		"--format=tformat:commit %H",
		"--no-show-signature",
		"--no-notes"
	];
	return (await patchIds(git, [
		...[
			"--literal-pathspecs",
			"log",
			"-p",
			...plainPatch,
			...form,
			...all
		],
		...range,
		"--",
		path
	])).filter(([change]) => change === same || change === reverse).map(([change, twin]) => ({
		commit: twin,
		isReverse: change === reverse
	}));
}
/** Returns the id of each change in git's patch output, with its commit. */
async function patchIds(git, command) {
	const [from, to] = [git.start(command), git.start(["patch-id", "--stable"])];
	const piped = pipeline(from.stdout, to.stdin).then(isDone, isNot);
	const ended = [
		endsWell(from),
		endsWell(to),
		piped
	];
	const text = await textOf(to);
	if ((await Promise.all(ended)).includes(false)) throw failed("compare changes", git);
	return text.split("\n").filter(Boolean).map((line) => {
		const [id = "", commit = ""] = line.split(" ");
		return [id, commit];
	});
}
async function pickerOf(git, commit, isReverse) {
	const { directory } = git;
	const id = idOf(commit);
	const commitOf = async (tree, message, parents) => {
		const made = [
			"commit-tree",
			...parents.flatMap((parent) => ["-p", parent]),
			"-m",
			message
		];
		return (await git.runWith(signature(/* @__PURE__ */ new Date(0)), ...plainly, ...made, tree).catch(() => {
			throw new RepositoryError(`git cannot put ${id} on top of others in ${directory}: its user must be able to write there.`);
		})).trim();
	};
	const trees = [`${id}^1^{tree}`, `${id}^{tree}`];
	const [from = "", to = ""] = isReverse ? trees.toReversed() : trees;
	const before = await commitOf(from, "Before", []);
	const theirs = await commitOf(to, "Theirs", [before]);
	return async (onto) => {
		const ours = await commitOf(`${idOf(onto.commit)}^{tree}`, "Ours", [before]);
		const merge = [
			...asUsual,
			"merge-tree",
			"--write-tree",
			"--name-only",
			"-z"
		];
		const { isClean, text } = await git.run(...merge, "--no-messages", ours, theirs).then((text) => ({
			isClean: true,
			text
		}), (error) => {
			if (error.code === 1) return {
				isClean: false,
				text: error.stdout ?? ""
			};
			throw new RepositoryError(`git cannot put ${id} on top of ${onto.commit} in ${directory}: that needs git 2.38 or later.`);
		});
		const [tree = "", ...paths] = text.split("\0").filter(Boolean);
		if (!isClean) return {
			kind: "conflict",
			paths
		};
		if (tree === onto.tree) return { kind: "nothing-to-do" };
		const how = isReverse ? "without" : "with";
		return {
			kind: "picked",
			tip: {
				commit: await commitOf(tree, `${onto.commit} ${how} ${id}`, [onto.commit]),
				tree
			}
		};
	};
}
const asUsual = [
	"merge.renames=true",
	"merge.directoryRenames=conflict",
	"merge.renormalize=false"
].flatMap((setting) => ["-c", setting]);
const endsWell = (child) => once(child, "close").then(([code]) => code === 0, isNot);
const isDone = () => true;
const isNot = () => false;
async function textOf({ stdout }) {
	let text = "";
	for await (const chunk of stdout.setEncoding("utf8")) text += chunk;
	return text;
}

// src/forge/patch/repository.ts
/** @param environment for git, if fetching missing objects needs more than the checkout has. */
function openRepository(directory, environment = {}) {
	const git = gitIn(directory, environment);
	return {
		...readerOf(git),
		...linearHistoryOf(git),
		commitAt: (branch, date) => commitAt(git, branch, date),
		commitOfSvn: (branch, revision, date) => commitOfSvn(git, branch, revision, date),
		branchOfPath: (path) => branchOfPath(git, path),
		commitDiff: (base, diff, about) => commitDiff(git, base, diff, about),
		commitOnTop: (commit, parent, about) => commitTree(git, `${idOf(commit)}^{tree}`, idOf(parent), about)
	};
}
function readerOf(git) {
	const { directory, run } = git;
	const resolve = (name) => resolveCommit(git, name);
	const failed = (sentence) => () => {
		throw new RepositoryError(sentence);
	};
	return {
		resolve,
		pathOf: (overlay) => pathOf(git, overlay),
		list: (commit, folder) => list(git, commit, folder),
		entriesAt: (commit, paths) => entriesAt(git, commit, paths),
		async mergeBase(first, second) {
			const ids = [await resolve(first), await resolve(second)];
			const why = `${first} and ${second} have no common ancestor in ${directory}: check it out with its history (fetch-depth: 0).`;
			return (await run("merge-base", ...ids).catch(failed(why))).trim();
		},
		async read(object) {
			const [id = "", ...path] = object.split(":");
			const why = `git cannot read the object ${object} in ${directory}: it must be a file of at most 4 MiB.`;
			return run("cat-file", "blob", [idOf(id), ...path].join(":")).catch(failed(why));
		},
		async readBytes(object) {
			const [id = "", ...path] = object.split(":");
			const why = `git cannot read the object ${object} in ${directory}: it must be a file of at most 4 MiB.`;
			return git.bytes("cat-file", "blob", [idOf(id), ...path].join(":")).catch(failed(why));
		},
		async idAt(commit, path) {
			const named = `${idOf(commit)}:${path}`;
			return (await run("rev-parse", "--verify", "--quiet", "--end-of-options", named).catch((error) => {
				if (error.code === 1) return "";
				throw new RepositoryError(`git cannot look for ${path} at ${commit} in ${directory}.`);
			})).trim() || void 0;
		},
		async changedPaths(first, second) {
			const compare = [
				"diff-tree",
				"--name-only",
				...[
					"-r",
					"-z",
					"--no-renames",
					"--ignore-submodules=none"
				],
				"--end-of-options"
			];
			const why = `git cannot tell what differs between ${first} and ${second} in ${directory}: check it out with both commits, which may differ in paths of at most 4 MiB.`;
			return (await run(...compare, idOf(first), idOf(second)).catch(failed(why))).split("\0").filter(Boolean);
		},
		async diff(first, second) {
			const range = [
				"--end-of-options",
				idOf(first),
				idOf(second)
			];
			const why = `git cannot compare ${first} with ${second} in ${directory}: their difference must be of at most 4 MiB.`;
			return git.bytes("diff", ...plainPatch, ...range).catch(failed(why));
		},
		message: (commit) => run("show", "--no-patch", "--format=%B", "--end-of-options", idOf(commit)),
		async describe(commit) {
			const shown = [
				"--no-patch",
				"--format=%s%n%an",
				"--end-of-options",
				idOf(commit)
			];
			const [subject = "", author = ""] = (await run("show", ...shown)).split("\n");
			return {
				subject,
				author
			};
		}
	};
}
async function pathOf({ directory, run }, { path, beside }) {
	const up = await run("rev-parse", "--show-cdup").catch(() => "");
	const top = resolve(directory, up.trim());
	const origin = resolve(top, beside);
	const folder = resolve(isOutside(relative(top, origin)) ? top : origin, path);
	const inside = relative(top, folder);
	if (!isOutside(inside)) return inside;
	throw new RepositoryError(`The overlay ${path} of ppsgate.yml was looked for at ${folder}, which is outside of the repository ${top}: name a folder in it.`);
}
const isOutside = (path) => /^\.\.(?:\/|$)/.test(path);
async function list({ directory, run }, commit, folder) {
	const below = relative(directory, resolve(directory, folder));
	const prefix = below === "" ? "" : `${below}/`;
	const tree = [
		"ls-tree",
		"-r",
		"-z",
		"--full-tree",
		"--end-of-options",
		idOf(commit)
	];
	const paths = prefix === "" ? [] : [prefix];
	return (await run("--literal-pathspecs", ...tree, ...paths).catch(() => {
		throw new RepositoryError(`git cannot list ${folder} at ${commit} in ${directory}: name a folder of the repository.`);
	})).split("\0").filter(Boolean).map((line) => treeEntry(line, prefix));
}
async function entriesAt({ directory, run }, commit, paths) {
	return (await run("--literal-pathspecs", ...[
		"ls-tree",
		"-z",
		"--full-tree",
		"--end-of-options",
		idOf(commit)
	], ...paths).catch(() => {
		throw new RepositoryError(`git cannot find ${paths.join(", ")} at ${commit} in ${directory}: name files of the repository.`);
	})).split("\0").filter(Boolean).map((line) => treeEntry(line, "")).filter(({ mode }) => mode !== folderMode);
}
const folderMode = "040000";
/** Reads `MODE TYPE OBJECT<tab>PATH`, see git-ls-tree(1). */
function treeEntry(line, prefix) {
	const tab = line.indexOf("	");
	const [mode = "", , object = ""] = line.slice(0, tab).split(" ");
	return {
		mode,
		object,
		path: line.slice(tab + 1 + prefix.length)
	};
}

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
/** More would be too many to read, and for a comment. */
const mostListedCommits = 100;
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
	throw new UsageError(`A bisection may build and run more than ${100} commits that are on no branch here, too many to be read and approved: name a shorter range, by GOOD BAD.`);
}
/** Digest of an ordered list of full ids, unique to it, by which a command approves the list. */
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
	throw new UsageError(`${patchName(patch)} has ${count}, so there is nothing to choose from: write /ppsgate run, or /ppsgate bisect GOOD BAD for commits of your own.`);
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
			return mistaken(`${verb} takes nothing more, found "${excerpt(rest.join(" "))}"`, verb);
		case "run":
		case "rerun":
		case "extend": {
			const read = readArguments(verb, rest, call);
			return read.kind === "mistaken" ? mistaken(read.what, read.nearest) : read;
		}
		case "accept":
			if (call !== "/ppsgate") return mistaken(noVerb(verb), nearestVerb(verb));
			return mistaken("accept is for the issue that ppsgate has opened on a change", "help");
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
function asksToAccept(comment) {
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
			["run", isOnGithub ? "measure the pull request as it stands" : "measure the newest diff"],
			isOnGithub ? ["run 1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d", "the same, if that is the head: for a patch from a fork"] : ["run 80677", "measure that diff: for one by an unknown person"],
			["run forwarding inet6 margin=1% runs=20 testbed=chelsio", "the same with scenarios, families, margin, most runs or testbed of your own"],
			["run metric=nsPerPacket", "the same by another metric than the configured one"],
			["run profile", "the same with profiles; profile=off without, profile=30s with longer ones"],
			["run stop-at-first=on", "the same, and a cell that loses ends the runs of all others"],
			["run measure-anyway", "the same, also where nothing differs that the testbed installs"],
			...isOnGithub ? [] : [["run earlier=80345,80654", "measure those diffs beside it; all is each one before it"]]
		],
		rerun: [["rerun", "measure again what was asked for last"]],
		extend: [["extend runs=40", "go on with an experiment that was inconclusive"]],
		bisect: [
			["bisect", isOnGithub ? "find the commit of the pull request that costs the packets" : "find the diff of the revision that costs the packets"],
			isOnGithub ? ["bisect 1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d", "the same for a patch from a fork, if that is the head: its commits are listed first"] : ["bisect 80677 earlier=80345,80654", "the same among those diffs, each of which is built and run"],
			["bisect v1.2 main forwarding inet4", "the same between a good commit and a bad one of your own, in one scenario and family"],
			["bisect fix-up=3c4d5e6f7a8b skip=1a2b3c4..5d6e7f8", "the same with a fix on top where it is missing, and without some commits"],
			["bisect testbed=chelsio verify-revert", "the same elsewhere, and with the bad one measured without the culprit, too"],
			["bisect metric=pps max-boots=60 profile=off", "the same by a metric of your own, with more boots, or without profiles"]
		],
		cancel: [["cancel", "end what runs and what waits"]],
		help: [["help", "see this list"]]
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
			if (overrides[name] !== void 0) return mistaken(`${pair.key} is there twice`);
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

// src/forge/patch/commit-range.ts
/** Names the patch after the range's last commit. Throws a `RepositoryError` for a text that is no range. */
async function patchOfRange(repository, text) {
	const { base, head } = await endsIn(text, repository);
	const [baseCommit, headCommit] = [await repository.resolve(base).catch(isWrong("base")), await repository.resolve(head).catch(isWrong("head"))];
	const { subject, author } = await repository.describe(headCommit);
	return {
		kind: "range",
		title: subject,
		author,
		baseCommit,
		headCommit
	};
}
/**
* Creates the patch of a range that a person typed. Throws a `RepositoryError` for a reversed range, and for one commit
* named twice unless `isOneAllowed`: both would be judged as unchanged. The title counts several commits, as any of
* them may be at fault.
*/
async function patchOfTypedRange(repository, text, isOneAllowed = false) {
	const patch = await patchOfRange(repository, text);
	const { baseCommit, headCommit } = patch;
	const { base, head } = await endsIn(text, repository);
	if (baseCommit === headCommit) {
		if (isOneAllowed) return patch;
		throw new RepositoryError(`${base} and ${head} are one commit, ${shortId(headCommit)}: write BASE..HEAD with a HEAD that has the patch.`);
	}
	if (await repository.contains(baseCommit, headCommit)) throw new RepositoryError(`${base}..${head} is in reversed order, as ${head} came before ${base}: write ${head}..${base}.`);
	const commits = await repository.stepsSince(baseCommit, headCommit);
	return commits > 1 ? {
		...patch,
		title: `${patch.title} (last of ${commits} commits)`
	} : patch;
}
async function endsIn(text, repository) {
	const [, base, head] = /^(.+?)(?<!\.)\.\.(?!\.)(.+)$/.exec(text) ?? [];
	if (base !== void 0 && head !== void 0) return {
		base,
		head
	};
	throw new RepositoryError(`"${excerpt(text)}" is no range of commits: write BASE..HEAD, like ${await rangeLike(repository, text)}.`);
}
/**
* Throws a `RepositoryError` unless the commits are on the line of first parents of `tip`. Other commits of a
* repository, or those that can be fetched by id, may never have been merged.
*/
async function expectOnLine(commits, tip, repository) {
	for (const commit of commits) {
		if (await repository.stepsSince(commit, tip).then((steps) => repository.resolve(`${tip}~${steps}`)).catch(() => void 0) === commit) continue;
		throw new RepositoryError(`${shortId(commit)} is not on the line of first parents of ${shortId(tip)}: where it should be, check it out with its history (fetch-depth: 0).`);
	}
}
const isWrong = (end) => (error) => {
	throw error instanceof NoCommitError ? new RepositoryError(`the ${end} ${error.message}`) : error;
};
/** Suggests a range for a mistyped one like `my-branch` or `main.my-branch`. */
async function rangeLike(repository, text) {
	const isThere = (name) => repository.resolve(name).then(() => true, () => false);
	const [first = "", second = "", ...more] = text.split(/\.+/);
	if (more.length === 0 && await isThere(second) && await isThere(first)) return `${first}..${second}`;
	const base = await isThere("main") || !await isThere("master") ? "main" : "master";
	return `${base}..${text !== base && await isThere(text) ? text : "HEAD"}`;
}

// src/forge/patch/revision.ts
/** The message is for the diff's author. */
var PatchError = class extends Error {
	name = "PatchError";
	conclusion = "patchAtFault";
	fault;
	constructor(message, fault = "unusable-diff") {
		super(message);
		this.fault = fault;
	}
};
/** Parses `all`, `none`, or ids like `80345,80654`. Throws a `UsageError` for anything else. */
function parseEarlier(text, called) {
	if (text === "all" || text === "none") return text;
	const ids = text.split(",").map((id) => id.trim());
	if (ids.every((id) => /^[1-9]\d{0,8}$/.test(id))) return ids.map(Number);
	throw new UsageError(`${called}: expected all, none or ids of diffs like 80345,80654, found "${text}".`);
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
		throw new PatchError(`Diff ${id} of D${number} is not what it was: ask for it once more.`);
	}
}
/**
* Creates a line of commits from a revision's diffs, as a bisection follows first parents but diffs are siblings on one
* base. Each commit has all files of its diff. Throws a `UsageError` for a single diff.
*/
async function lineOfDiffs({ number, diff, baseCommit, headCommit, earlier }, repository) {
	if (earlier.length === 0) throw new UsageError(`D${number} has no diff before ${diff} that applies, so there is nothing to choose from: name a good commit and a bad one.`);
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
	throw new UsageError(`D${number} is ${which}, and only those of ${repositories.join(", ")} are measured: see phabricator.repositories in ppsgate.yml.`);
}
/** Throws a `UsageError` for an id that is none of the earlier diffs. */
function chosenDiffs({ diff, earlier }, which) {
	if (which === "none") return [];
	if (which === "all") return earlier;
	const stranger = which.find((id) => !earlier.some((one) => one.id === id));
	if (stranger !== void 0) {
		const ids = earlier.map(({ id }) => id).join(", ") || "none";
		throw new UsageError(`earlier: ${stranger} is no diff of the revision from before ${diff.id}; those are: ${ids}.`);
	}
	return earlier.filter(({ id }) => which.includes(id));
}
/** The base that the diff names, or its branch's commit of that day. */
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
		case "none": return asOfDay("does not say what it was made for");
		case "other": return asOfDay(`says that it was made for "${base.text}", which is no full id of a commit`);
		case "commit": {
			const commit = await repository.resolve(base.id).catch(() => void 0);
			if (commit !== void 0) return {
				commit,
				notes: []
			};
			const called = shortId(base.id);
			const taken = await asOfDay(`says that it was made for ${called}, which is not in the repository`);
			const missing = `Diff ${id} was made on ${called}, which is not in the repository, and was measured on ${shortId(taken.commit)} of ${config.branch} instead: changes of a parent revision are not in it.`;
			return {
				...taken,
				missing
			};
		}
		case "svn-path": {
			const { branch, called } = await branchOf(base.path, deps);
			return asOfDay(`says that it was made for ${called}, without a revision`, branch);
		}
		case "svn-revision": {
			const { path, revision } = base;
			const { branch, called } = await branchOf(path, deps);
			const number = `r${revision}${called && ` of ${called}`}`;
			const found = await repository.commitOfSvn(branch, revision, createdAt);
			if (found.kind !== "found") {
				const why = whyNotFound[found.kind];
				return asOfDay(`says that it was made for ${number}, ${why}`, branch);
			}
			const last = ` (r${found.revision} is the last change of ${branch} before it)`;
			const note = `Diff ${id} was made for ${number}, which is ${`${shortId(found.commit)}${found.revision === revision ? "" : last}`}.`;
			return {
				commit: found.commit,
				notes: [note]
			};
		}
	}
}
const whyNotFound = {
	"no-revisions": "and the repository has neither git-svn-id lines nor the notes of a conversion (git fetch origin refs/notes/commits:refs/notes/commits)",
	"only-later": "which is older than all that the branch has here",
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
		called: `${path} (which is no branch here, so ${own} is taken)`
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

// src/forge/patch/authorize.ts
/**
* Decides only for the head of `found`: a later push needs its own approval. On a fork's pull request, a command or
* button approves a head that its author can have read: the commit with its full id, or a head shown before. First
* digits do not count, as another commit with the same ones takes seconds to make.
*/
async function authorize(occasion, found, rules) {
	const { number, repository, headCommit, author } = found.pullRequest;
	const { by } = occasion;
	const isAuthorized = async (login) => rules.people.some((person) => person.toLowerCase() === login.toLowerCase()) || await rules.mayWrite(login);
	const isOurs = found.headRepository === repository;
	switch (occasion.kind) {
		case "labelled":
			if (occasion.label !== rules.label) return {
				kind: "ignored",
				why: `The label is not "${rules.label}".`
			};
			if (!await rules.mayWrite(by)) return stranger$1(by, found);
			if (!isOurs && !isSeen(occasion.at, headCommit, rules.seen)) return {
				kind: "refused",
				why: unseenLabel(headCommit)
			};
			return {
				kind: "allowed",
				why: `${by}, who may write to ${repository}, put the label ${rules.label} on #${number} at ${headCommit}.`
			};
		case "pushed":
		case "revived":
			if (isOurs) return {
				kind: "allowed",
				why: `The head of #${number} is in ${repository} itself, where only people with write permission can push.`
			};
			for (const login of /* @__PURE__ */ new Set([author, by])) if (!await isAuthorized(login)) return fromElsewhere(found, rules.label);
			if (occasion.kind === "revived" && !rules.measured.includes(headCommit)) return fromElsewhere(found, rules.label);
			return {
				kind: "allowed",
				why: `${author}, the author of #${number}, may have patches measured in ${repository}.`
			};
		case "commanded": {
			if (!await isAuthorized(by)) return stranger$1(by, found);
			if (occasion.isOtherwise && !await rules.mayWrite(by)) return asConfigured(by, found);
			const gap = isOurs ? void 0 : whyUnseen(occasion, occasion.verb ?? "run", headCommit, rules.seen);
			if (gap !== void 0) return {
				kind: "refused",
				why: gap
			};
			return {
				kind: "allowed",
				why: `${by}, who may have patches measured in ${repository}, asked for #${number} at ${headCommit}.`
			};
		}
		case "bisected": {
			if (!await rules.mayWrite(by)) return notBisected(by, found);
			const gap = isOurs || occasion.areNamed ? void 0 : whyUnseen(occasion, "bisect", headCommit, rules.seen);
			if (gap !== void 0) return {
				kind: "refused",
				why: gap
			};
			return {
				kind: "allowed",
				why: `${by}, who may write to ${repository}, asked for a bisection at #${number}.`
			};
		}
		case "cancelled":
			if (await isAuthorized(by)) return {
				kind: "allowed",
				why: `${by} has cancelled it.`
			};
			return {
				kind: "refused",
				why: `Thank you, ${by}: what runs for #${number} is not cancelled; who may write to ${repository}, and who is among \`github.people\` of its ppsgate.yml, may do that, by /ppsgate cancel.`
			};
		case "pressed":
		case "dispatched": {
			const { kind, commit } = occasion;
			if (commit !== void 0 && !headCommit.startsWith(commit)) return {
				kind: "refused",
				why: isOlder(commit, headCommit)
			};
			if (kind === "pressed" && !await isAuthorized(by)) return stranger$1(by, found);
			if (commit !== headCommit && !isOurs) return {
				kind: "refused",
				why: unnamed(number, headCommit)
			};
			return {
				kind: "allowed",
				why: `${by}, who may have patches measured in ${repository}, started it for #${number} at ${headCommit}.`
			};
		}
	}
}
/** Greatest difference between the clocks of GitHub and a runner. */
const clockSeconds = 10;
function whyUnseen({ at, commit }, verb, headCommit, seen) {
	if (commit === headCommit) return void 0;
	if (commit !== void 0 && !headCommit.startsWith(commit)) return isOlder(commit, headCommit);
	if (commit === void 0) {
		if (isSeen(at, headCommit, seen)) return void 0;
		return `The head is ${headCommit}, and may have been pushed after the command was written: read it, and write /ppsgate ${verb} ${headCommit}.`;
	}
	const hasTwin = seen?.before?.some((one) => one !== headCommit && one.startsWith(commit));
	if (isSeen(at, headCommit, seen) && !hasTwin) return void 0;
	return `The head is ${headCommit}, and ${commit} may be the beginning of another commit, too: read it, and write /ppsgate ${verb} ${headCommit}.`;
}
const isSeen = (at, headCommit, seen) => seen?.headCommit === headCommit && Date.parse(seen.since) + clockSeconds * 1e3 < Date.parse(at);
const unseenLabel = (headCommit) => `The head is ${headCommit}, and may have been pushed after the label was put: read it, and then write /ppsgate run ${headCommit}, or take the label off and put it on again.`;
/** GitHub does not report when a run was started, so the head must be named. */
const unnamed = (number, headCommit) => `The head of #${number} is ${headCommit}, and may have been pushed after the run was started: read it, and start one with ${headCommit} in place of #${number}.`;
const isOlder = (commit, headCommit) => `The head is ${headCommit} and no longer ${commit}: read it, and ask again.`;
const stranger$1 = (by, { pullRequest: { number, repository } }) => ({
	kind: "refused",
	why: `Thank you, ${by}: #${number} runs on the testbed when a person who may write to ${repository} asks for it.`
});
const notBisected = (by, { pullRequest: { number, repository } }) => ({
	kind: "refused",
	why: `Thank you, ${by}: no bisection begins at #${number}; who may write to ${repository} can ask for one, by /ppsgate bisect.`
});
/** A wide margin passes any patch, so its author could merge it without write permission. */
const asConfigured = (by, { pullRequest: { number, repository } }) => ({
	kind: "refused",
	why: `Thank you, ${by}: you can have #${number} measured as ppsgate.yml says; a margin, scenarios, families or a testbed of one's own are for those who may write to ${repository}.`
});
function fromElsewhere({ pullRequest, headRepository }, label) {
	const { number, repository, headCommit } = pullRequest;
	return {
		kind: "refused",
		why: `Thank you for #${number}: because it comes from ${headRepository ?? "a repository that was deleted"}, it runs on the testbed only after a maintainer of ${repository} has read ${headCommit}, and then put the label ${label} on it or written /ppsgate run ${headCommit}.`
	};
}

// src/forge/patch/own-changes.ts
/** Touches only objects, neither the index nor a branch. Throws a `RepositoryError` if nothing was changed. */
async function ownChanges(directory) {
	const git = gitIn(directory, {});
	const head = await resolveCommit(git, "HEAD");
	const { since, baseCommit } = await mainBranch(git, head);
	const [uncommitted, untracked] = await statusOf(git);
	if (baseCommit === head && uncommitted.length === 0) {
		const more = untracked.length === 0 ? "" : `; git does not track ${named(untracked)}`;
		throw new RepositoryError(`nothing was changed since ${since}${more}: commit something, or name a patch, like HEAD~1..HEAD.`);
	}
	return {
		since,
		baseCommit,
		headCommit: uncommitted.length === 0 ? head : await commitOfFiles(git, head),
		uncommitted,
		untracked
	};
}
/** Prefers the remote's branch, as the local one may already have the changes. */
async function mainBranch(git, head) {
	for (const since of [
		"origin/HEAD",
		"origin/main",
		"origin/master",
		"@{upstream}",
		"main",
		"master"
	]) {
		const tip = await resolveCommit(git, since).catch(() => void 0);
		if (tip === void 0) continue;
		const base = await git.run("merge-base", tip, head).catch(() => "");
		if (base !== "") return {
			since,
			baseCommit: base.trim()
		};
	}
	throw new RepositoryError("there is no main branch that these commits began at (origin/HEAD, main or master): name the patch as BASE..HEAD.");
}
async function statusOf(git) {
	const lines = (await git.runWith({ GIT_OPTIONAL_LOCKS: "0" }, ...[
		"-c",
		"core.fsmonitor=false",
		"status",
		"--porcelain=v1",
		"-z",
		"--no-renames",
		"--ignore-submodules=dirty"
	])).split("\0").filter(Boolean);
	const [untracked, uncommitted] = [lines.filter((line) => line.startsWith("??")), lines.filter((line) => !line.startsWith("??"))].map((some) => some.map((line) => line.slice(3)));
	return [uncommitted ?? [], untracked ?? []];
}
/** Dated like its parent, so that equal files yield an equal commit. */
async function commitOfFiles(git, head) {
	const folder = await mkdtemp(join(tmpdir(), "ppsgate-index-"));
	try {
		const index = join(folder, "index");
		const own = (await git.run("rev-parse", "--git-path", "index")).trimEnd();
		await copyFile(resolve(git.directory, own), index);
		await git.share(folder, index);
		const indexed = (...args) => git.runWith({ GIT_INDEX_FILE: index }, ...plainly, ...args);
		await indexed("-C", (await git.run("rev-parse", "--show-toplevel")).trimEnd(), "add", "--update", ".");
		const tree = (await indexed("write-tree")).trim();
		const seconds = Number(await git.run("show", "--no-patch", "--format=%ct", head));
		const message = `${(await git.run("show", "--no-patch", "--format=%s", head)).trimEnd()}, with what is not committed`;
		return await commitTree(git, tree, head, {
			message,
			date: /* @__PURE__ */ new Date(seconds * 1e3)
		});
	} finally {
		await rm(folder, { recursive: true });
	}
}
const mostNamed = 3;
/** `a, b, c and 4 more`. */
function named(paths) {
	const rest = paths.length - mostNamed;
	const first = paths.slice(0, mostNamed).map((path) => plainLine(path)).join(", ");
	return rest > 0 ? `${first} and ${rest} more` : first;
}

// src/forge/patch/authorize-revision.ts
/**
* Decides for one diff only: a later one needs its own approval. A command approves a diff that its author can have
* read, either the one that it names or one that existed for a while before.
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
				why: `Diff ${diff} came just before the command was written: read it, and write @ppsgate ${verb} ${diff}.`
			};
			return {
				kind: "allowed",
				why: `${by.name}, who may have diffs measured, asked for it.`
			};
		}
		case "cancelled": {
			const { by } = occasion;
			if (await isAuthorized(by)) return {
				kind: "allowed",
				why: `${by.name}, who may have diffs measured, asked for it.`
			};
			const who = oursIn(rules);
			const may = who === void 0 ? noPerson("do that") : `${who} may do that, by @ppsgate cancel`;
			return {
				kind: "refused",
				why: `Thank you, ${by.name}: what runs for D${number} is not cancelled; ${may}.`
			};
		}
	}
}
/** A comment that was begun before the diff arrived is posted within this time. */
const readingSeconds = 60;
const waits = {
	run: "is not measured yet",
	rerun: "is not measured again yet",
	extend: "is not measured any further yet",
	bisect: "is not bisected yet"
};
function stranger({ name }, verb, { number, diff, isMeasured }, rules) {
	const who = oursIn(rules);
	if (isMeasured && verb === "run") return {
		kind: "refused",
		why: `Thank you, ${name}: diff ${diff} of D${number} is measured, as the comment of ppsgate says; ${who === void 0 ? noPerson("ask for that again") : `${who} can have it measured again, by @ppsgate rerun ${diff}`}.`
	};
	const asks = who === void 0 ? noPerson("ask for it") : `it runs on the testbed when ${who} has read diff ${diff} and written @ppsgate ${verb} ${diff}`;
	return {
		kind: "refused",
		why: `Thank you, ${name}: D${number} ${waits[verb]}; ${asks}.`
	};
}
function oursIn({ people, projects }) {
	const who = [...projects.length > 0 ? [`a member of ${projects.join(" or ")}`] : [], ...people.length > 0 ? ["a person of the list in ppsgate.yml"] : []];
	return who.length === 0 ? void 0 : who.join(" or ");
}
const noPerson = (what) => `no person may ${what}: \`people\` and \`projects\` in ppsgate.yml are empty`;

export { NoCommitError, NoRepositoryError, PatchError, RepositoryError, asksToAccept, authorize, authorizeRevision, bisectOverridesSchema, bisectWords, checkDiff, chosenDiffs, commandsFor, commitTree, digestOf, expectOnLine, gateOverridesSchema, gitIn, isAsSaid, isCommitName, jobSchema, lineOfDiffs, listKey, named, objectsAlone, openRepository, ownChanges, ownEnds, parseCommand, parseEarlier, patchOf, patchOfRange, patchOfRevision, patchOfTypedRange, pinned, plainly, rangeLike, rawChanges, restoreRevision, rootCommit, unreadCommits, whyGitRefuses, withoutShortIds, workOf };