import { oneLine } from "../../model/first-plain.js";
import { callerOwning } from "../../system/give-to-caller.js";
const { once } = globalThis.process.getBuiltinModule("node:events");
const { dirname, resolve } = globalThis.process.getBuiltinModule("node:path");
const { statSync } = globalThis.process.getBuiltinModule("node:fs");
const { promisify } = globalThis.process.getBuiltinModule("node:util");
const { chown } = globalThis.process.getBuiltinModule("node:fs/promises");
const { execFile, spawn } = globalThis.process.getBuiltinModule("node:child_process");
const { pipeline } = globalThis.process.getBuiltinModule("node:stream/promises");

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
function changesAsListed(paths, raw) {
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
		reason: `The effect of the diff on ${others.slice(0, 5).join(", ")} differs from its own header; send it as one diff of the whole change.`
	};
}
/** Explains the output of git-apply(1). Its first lines are the cause: `error: patch failed: sys/net/if.c:12`. */
function whyGitRefuses(stderr, remarks) {
	return [`git cannot apply the diff: ${stderr.split("\n").flatMap((line) => /^(?:error|fatal): (.*)$/.exec(line)?.[1] ?? []).slice(0, 3).join("; ") || "it said nothing"}.`, ...remarks].join(" ");
}
const maxBytes$1 = 5e6;
const maxFiles = 2e3;
/** Thrown and caught in this file only. */
var Refusal = class extends Error {};
function refuse(reason) {
	throw new Refusal(reason);
}
function accept(diff) {
	if (diff.length > maxBytes$1) refuse(`The diff has ${diff.length} bytes, but at most ${maxBytes$1} are accepted; split it.`);
	const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
	const lines = bytes.toString("latin1").split("\n");
	const sections = readSections(lines);
	if (sections.length === 0) refuse("The diff changes no file; send the output of git diff.");
	if (sections.length > maxFiles) refuse(`The diff changes ${sections.length} files, but at most ${maxFiles} are accepted; split it.`);
	const paths = sections.flatMap(pathsOf).toSorted();
	const twice = paths.find((path, index) => path === paths[index - 1]);
	if (twice !== void 0) refuse(`The diff changes ${twice} twice; send one diff of the whole change, as git diff makes it.`);
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
	if (head === null || !(section?.hunks || section?.header.some(isNewName))) refuse(`Line ${start + 1} of the diff starts a hunk without a file; send the output of git diff.`);
	section.hunks += 1;
	let before = Number(head[1] ?? 1);
	let after = Number(head[2] ?? 1);
	let index = start + 1;
	for (; before > 0 || after > 0; index += 1) {
		const sign = lines[index]?.[0] ?? (index < lines.length - 1 ? " " : void 0);
		if (sign === void 0 || !" \r+-\\".includes(sign)) refuse(`The hunk at line ${start + 1} of the diff is cut off at line ${index + 1}.`);
		if (sign === " " || sign === "\r" || sign === "-") before -= 1;
		if (sign === " " || sign === "\r" || sign === "+") after -= 1;
	}
	return index;
}
function pathsOf(section) {
	if (section.header[0]?.endsWith("\r")) refuse("The lines of the diff end in CR LF; send it with the line endings that git wrote.");
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
	if (path === void 0) refuse(`Line ${section.line} of the diff names no file.`);
	refuseKind(section, path);
	for (const each of paths) refusePath(each);
	if (paths.length > (from === void 0 ? 1 : 2)) refuse(`The diff uses several names for one file, ${paths.join(" and ")}; send the output of git diff.`);
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
	if (!(a?.startsWith("a/") && b?.startsWith("b/") && a.slice(2) === b.slice(2))) refuse(`Line ${section.line} of the diff names two files without a rename.`);
	return a?.slice(2);
}
const refusePrefix = ({ line }) => refuse(`The diff at line ${line} has no prefixes a/ and b/; make it with git diff --src-prefix=a/ --dst-prefix=b/.`);
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
	if (path.includes("�")) refuse(`The name of the file ${path} is not UTF-8; rename it.`);
	return path;
}
function refuseKind({ header }, path) {
	if (header.some((line) => /^(?:GIT binary patch|Binary files .* differ)\r?$/.test(line))) refuse(`The diff changes the binary file ${path}; only text files are accepted.`);
	const mode = header.map((line) => /^(?:(?:old|new|new file|deleted file) mode|index \S+) (.+)$/s.exec(line)?.[1]).map((text) => text && modeAsGitReads(text)).find((mode) => mode !== void 0 && !plainModes.includes(mode));
	if (mode !== void 0) refuse(notPlain(path, mode));
}
/** Parses octal like strtoul(3), ignoring everything after a blank. */
const modeAsGitReads = (text) => /^\s*\+?0*([0-7]+)(?:\s|$)/.exec(text)?.[1] ?? oneLine(text);
function notPlain(path, mode) {
	return `The diff changes ${path}, which is ${{
		12e4: "a symbolic link",
		16e4: "a submodule"
	}[mode] ?? `of mode ${mode}`}; only regular files are accepted.`;
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
	refuse(`The diff changes "${path.replace(/\p{Cc}/gu, "?")}", which is not a file of the tree; name files below its root.`);
}
function remarksOn(bytes, lines) {
	const remarks = [];
	const text = bytes.toString();
	if (lines.some((line) => /^[ +-]/.test(line) && line.endsWith("\r"))) remarks.push("Some lines of the diff end in CR LF.");
	if (bytes.includes("�")) remarks.push("The diff contains U+FFFD, which replaced an unreadable character.");
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
/** Returns the caller of sudo if the checkout is theirs, and git reaches it without their supplementary groups. */
function callerReaching(directory) {
	const caller = callerOwning(directory);
	if (caller === void 0) return void 0;
	for (let folder = directory;; folder = dirname(folder)) {
		const { uid, gid, mode } = statSync(folder);
		if ((mode & (uid === caller.uid ? 64 : gid === caller.gid ? 8 : 1)) === 0) return void 0;
		if (folder === dirname(folder)) return caller;
	}
}
/** Returns an error with advice if git cannot create an object. */
function whyNotWritten(directory, error) {
	const { stderr } = error;
	const [line] = /(?:insufficient permission for adding an object|unable to create temporary file)[^\n]*/.exec(typeof stderr === "string" ? stderr : "") ?? [];
	if (line === void 0) return void 0;
	return new RepositoryError(`git cannot write in the repository ${directory} (${line}): make its .git writable for this user, for example with chown -R.`);
}
const isId = (name) => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(name);
/** Throws for a name that is not resolved. */
function idOf(text) {
	if (isId(text)) return text;
	throw new RepositoryError(`"${text}" is not a full object ID: resolve it first.`);
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
const failed = (what, { directory }) => new RepositoryError(`git cannot ${what} in ${directory}: check it with git fsck.`);
async function contains(git, commit, other) {
	const ids = [idOf(other), idOf(commit)];
	return git.run("merge-base", "--is-ancestor", ...ids).then(() => true, (error) => {
		if (error.code === 1) return false;
		throw failed(`check whether ${other} is an ancestor of ${commit}`, git);
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
		throw failed(`list the branches with ${commit}`, git);
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
	throw failed(`find ${path || "the files"} of ${commits.length} commits`, git);
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
			throw new RepositoryError(`git cannot apply ${id} to other commits in ${directory}: this user needs write access there.`);
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
			throw new RepositoryError(`git cannot apply ${id} to ${onto.commit} in ${directory}: this needs git 2.38 or later.`);
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

// src/forge/patch/patch-error.ts
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

export { PatchError, RepositoryError, changesAsListed, checkDiff, gitIn, idOf, isId, linearHistoryOf, newestUpTo, plainPatch, plainly, rawChanges, signature, svnLog, whyGitRefuses };