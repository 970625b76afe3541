import { n as oneLine } from "./one-line.js";
import { execFile } from "node:child_process";
import { join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";

// src/build/diff.ts
/**
* Reads a unified diff with the prefixes `a/` and `b/`, as git-diff(1) or diff(1) -u makes it, with or
* without a message before it. Bytes and not text, for sources may be in Latin-1.
*/
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
/** What tells `isAsSaid` what git made of a diff, before the tree that it was applied to. */
const rawChanges = [
	"diff-index",
	"--cached",
	"--no-renames",
	"-z"
];
/** Whether git, once it had applied the diff, changed those files that it names, and nothing but plain ones. */
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
/** From what git-apply(1) wrote, which says the cause first: `error: patch failed: sys/net/if.c:12` and what follows. */
function whyGitRefuses(stderr, remarks) {
	return [`git cannot apply the diff: ${stderr.split("\n").flatMap((line) => /^(?:error|fatal): (.*)$/.exec(line)?.[1] ?? []).slice(0, 3).join("; ") || "it said nothing"}.`, ...remarks].join(" ");
}
const mostBytes = 5e6;
const mostFiles = 2e3;
/** Thrown and caught in this file only. */
var Refusal = class extends Error {};
function refuse(reason) {
	throw new Refusal(reason);
}
function accept(diff) {
	if (diff.length > mostBytes) refuse(`The diff has ${diff.length} bytes, and at most ${mostBytes} are taken; split it.`);
	const bytes = Buffer.from(diff.buffer, diff.byteOffset, diff.byteLength);
	const lines = bytes.toString("latin1").split("\n");
	const sections = readSections(lines);
	if (sections.length === 0) refuse("The diff changes no file; send one that git diff made.");
	if (sections.length > mostFiles) refuse(`The diff changes ${sections.length} files, and at most ${mostFiles} are taken; split it.`);
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
/** The index of the first line after the hunk, by the line counts of its head (see POSIX, diff -u). */
function afterHunk(lines, start, section) {
	const head = /^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(lines[start] ?? "");
	if (head === null || !(section?.hunks || section?.header.some(isNewName))) refuse(`Line ${start + 1} of the diff starts a hunk of no file; send what git diff made.`);
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
	if (section.header[0]?.endsWith("\r")) refuse("The lines of the diff end in CR LF; send it with the line ends that git wrote.");
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
	if (paths.length > (from === void 0 ? 1 : 2)) refuse(`The diff calls one file by several names, ${paths.join(" and ")}; send what git diff made.`);
	return copied === void 0 ? paths : paths.filter((each) => each !== decoded(copied));
}
function plainName(section, pattern) {
	const value = valueIn(section, pattern);
	return value === void 0 ? void 0 : unquoted(value);
}
const valueIn = ({ header }, pattern) => header.map((line) => pattern.exec(line)?.[1]).find((value) => value !== void 0);
/** Of a name in `--- a/PATH` or `+++ b/PATH`; undefined where there is none, or no file on that side. */
function prefixedName(section, value, prefix) {
	const [written = ""] = value?.split("	") ?? [];
	if (value === void 0 || written === "/dev/null") return void 0;
	const name = unquoted(written);
	if (!name.startsWith(prefix)) refusePrefix(section);
	return name.slice(2);
}
/** `diff --git a/PATH b/PATH`: tells the name only where it is twice the same, as it is unless it changes. */
function nameInGitLine(section, renamed) {
	const [, rest] = /^diff --git (.*)$/.exec(section.header[0] ?? "") ?? [];
	if (rest === void 0) return void 0;
	if (!/^"?a\//.test(rest)) refusePrefix(section);
	if (renamed) return void 0;
	const quoted = /^("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*")$/.exec(rest);
	const middle = (rest.length - 1) / 2;
	const [a, b] = (quoted?.slice(1) ?? [rest.slice(0, middle), rest.slice(middle + 1)]).map(unquoted);
	if (!(a?.startsWith("a/") && b?.startsWith("b/") && a.slice(2) === b.slice(2))) refuse(`Line ${section.line} of the diff names two files, but says of no rename.`);
	return a?.slice(2);
}
const refusePrefix = ({ line }) => refuse(`The diff at line ${line} has no prefixes a/ and b/; make it with git diff --src-prefix=a/ --dst-prefix=b/.`);
/** Git quotes a name as C quotes a string, with bytes in octal (see core.quotePath in git-config(1)). */
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
	if (header.some((line) => /^(?:GIT binary patch|Binary files .* differ)\r?$/.test(line))) refuse(`The diff changes the binary file ${path}; only text is taken.`);
	const mode = header.map((line) => /^(?:(?:old|new|new file|deleted file) mode|index \S+) (.+)$/s.exec(line)?.[1]).map((text) => text && modeAsGitReads(text)).find((mode) => mode !== void 0 && !plainModes.includes(mode));
	if (mode !== void 0) refuse(notPlain(path, mode));
}
/** strtoul(3) in octal, whatever comes after a blank. */
const modeAsGitReads = (text) => /^\s*\+?0*([0-7]+)(?:\s|$)/.exec(text)?.[1] ?? oneLine(text);
function notPlain(path, mode) {
	return `The diff changes ${path}, which is ${{
		12e4: "a symbolic link",
		16e4: "a submodule"
	}[mode] ?? `of mode ${mode}`}; only plain files are taken.`;
}
const plainModes = ["100644", "100755"];
/** Where a file is made or deleted, on its other side. */
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
	refuse(`The diff changes "${path.replace(/\p{Cc}/gu, "?")}", which is no file of the tree; name files below its root.`);
}
function remarksOn(bytes, lines) {
	const remarks = [];
	const text = bytes.toString();
	if (lines.some((line) => /^[ +-]/.test(line) && line.endsWith("\r"))) remarks.push("Some lines of the diff end in CR LF.");
	if (bytes.includes("�")) remarks.push("The diff holds U+FFFD where somebody could not read a letter.");
	else if (text.includes("�")) remarks.push("The diff is not UTF-8, Latin-1 perhaps.");
	return remarks;
}

// src/patch/repository.ts
/** What git could not do, in one sentence. */
var RepositoryError = class extends Error {
	name = "RepositoryError";
};
const run = promisify(execFile);
/** Of one file, and of one listing. */
const maxBytes = 4194304;
/** @param environment for git, where fetching what is missing needs more than the checkout has. */
function openRepository(directory, environment = {}) {
	const gitWith = async (more, ...args) => {
		const options = [
			"-C",
			directory,
			"-c",
			"safe.directory=*"
		];
		const env = {
			...process.env,
			...environment,
			...more
		};
		const { stdout } = await run("git", [...options, ...args], {
			env,
			maxBuffer: maxBytes
		});
		return stdout;
	};
	const git = (...args) => gitWith({}, ...args);
	const resolve$1 = async (name) => {
		if (!isCommitName(name)) throw new RepositoryError(`"${name}" is no name of a commit: write its id, a branch or a tag, like main, v1.2 or HEAD~2.`);
		const parse = () => git("rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`);
		return (await parse().catch((error) => {
			if (!isId(name)) throw error;
			return git("fetch", ...objectsAlone, "--end-of-options", "origin", name).then(parse);
		}).catch(() => {
			throw new RepositoryError(`The repository ${directory} has no commit ${name} and could not fetch it: check it out with its history (fetch-depth: 0).`);
		})).trim();
	};
	return {
		resolve: resolve$1,
		async mergeBase(first, second) {
			const ids = [await resolve$1(first), await resolve$1(second)];
			return (await git("merge-base", ...ids).catch(() => {
				throw new RepositoryError(`${first} and ${second} have no common ancestor in ${directory}: check it out with its history (fetch-depth: 0).`);
			})).trim();
		},
		async list(commit, folder) {
			const below = relative(directory, resolve(directory, folder));
			const prefixes = below === "" ? [] : [`${below}/`];
			const list = [
				"ls-tree",
				"-r",
				"-z",
				"--end-of-options",
				idOf(commit),
				...prefixes
			];
			const listing = await git("--literal-pathspecs", ...list).catch(() => {
				throw new RepositoryError(`git cannot list ${folder} at ${commit} in ${directory}: name a folder of the repository.`);
			});
			const [prefix = ""] = prefixes;
			return listing.split("\0").filter(Boolean).map(parseTreeEntry(prefix));
		},
		async read(object) {
			const [id = "", ...path] = object.split(":");
			const named = [idOf(id), ...path].join(":");
			return git("cat-file", "blob", named).catch(() => {
				throw new RepositoryError(`git cannot read the object ${object} in ${directory}: it must be a file of at most 4 MiB.`);
			});
		},
		async idAt(commit, path) {
			const named = `${idOf(commit)}:${path}`;
			return (await git("rev-parse", "--verify", "--quiet", "--end-of-options", named).catch((error) => {
				if (error.code === 1) return "";
				throw new RepositoryError(`git cannot look for ${path} at ${commit} in ${directory}.`);
			})).trim() || void 0;
		},
		async diff(first, second) {
			const plain = [
				"--no-color",
				"--no-ext-diff",
				"--no-textconv",
				"--no-renames",
				"--full-index"
			];
			const prefixes = ["--src-prefix=a/", "--dst-prefix=b/"];
			const range = [
				"--end-of-options",
				idOf(first),
				idOf(second)
			];
			const diff = [
				...[
					"-C",
					directory,
					"-c",
					"safe.directory=*"
				],
				"diff",
				...plain,
				...prefixes,
				...range
			];
			const { stdout } = await run("git", diff, {
				maxBuffer: maxBytes,
				encoding: "buffer"
			}).catch(() => {
				throw new RepositoryError(`git cannot compare ${first} with ${second} in ${directory}: their difference must be of at most 4 MiB.`);
			});
			return stdout;
		},
		async describe(commit) {
			const [subject = "", author = ""] = (await git("show", "--no-patch", "--format=%s%n%an", "--end-of-options", idOf(commit))).split("\n");
			return {
				subject,
				author
			};
		},
		async commitAt(branch, date) {
			const tip = await resolve$1(`origin/${branch}`).catch(() => resolve$1(branch));
			const before = `--before=${Math.floor(date.getTime() / 1e3)}`;
			const last = await git("rev-list", "--max-count=1", "--first-parent", before, tip);
			if (last !== "") return last.trim();
			throw new RepositoryError(`${branch} has no commit in ${directory} from before ${date.toISOString()}: check it out with its history (fetch-depth: 0).`);
		},
		async commitDiff(base, diff, { message, date }) {
			const checked = checkDiff(diff);
			if (checked.kind === "refused") return {
				kind: "does-not-apply",
				why: checked.reason
			};
			const parent = await resolve$1(base);
			const folder = await mkdtemp(join(tmpdir(), "ppsgate-diff-"));
			try {
				const patch = join(folder, "patch.diff");
				await writeFile(patch, diff);
				const environment = {
					GIT_DIR: (await git("rev-parse", "--absolute-git-dir")).trimEnd(),
					GIT_INDEX_FILE: join(folder, "index"),
					LC_ALL: "C"
				};
				const indexed = (...args) => gitWith(environment, ...plainly, ...args);
				await indexed("read-tree", parent);
				const refused = await indexed("apply", "--cached", "--whitespace=nowarn", patch).then(() => void 0, (error) => whyGitRefuses(error.stderr ?? "", checked.remarks));
				if (refused !== void 0) return {
					kind: "does-not-apply",
					why: refused
				};
				const asSaid = isAsSaid(checked.paths, await indexed(...rawChanges, parent));
				if (asSaid.kind === "refused") return {
					kind: "does-not-apply",
					why: asSaid.reason
				};
				const tree = (await indexed("write-tree")).trim();
				return {
					kind: "committed",
					commit: (await gitWith(signature(date), ...[
						...plainly,
						"commit-tree",
						"-p",
						parent,
						"-m",
						message,
						tree
					])).trim()
				};
			} finally {
				await rm(folder, { recursive: true });
			}
		}
	};
}
/**
* A name by the rules of git-check-ref-format(1) with what steps back from it, as in `HEAD~2`, `v1^{commit}` or
* `main@{upstream}`. What else git would read, like a refspec or a path, is nothing that people call a commit.
*/
const isCommitName = (name) => name.length <= 250 && /^(?![-/])[^\p{C}\s~^:?*[\\]+(?<![/.])(?:[~^]\d{0,6}|\^\{(?:commit)?\})*$/u.test(name) && !/\.\.|\/\/|\/\.|^\.|\.lock(?:[/~^]|$)|@\{(?![\w-]{1,30}\})/.test(name);
const isId = (name) => /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/.test(name);
/** Whoever asks for more than a name to be resolved has an id. */
function idOf(text) {
	if (isId(text)) return text;
	throw new RepositoryError(`"${text}" is no full id of an object: resolve it first.`);
}
/** For a fetch that writes no ref, whatever `remote.…` and `fetch` of git-config(1) say. */
const objectsAlone = [
	"--quiet",
	"--refmap=",
	"--no-tags",
	"--no-prune",
	"--no-write-fetch-head",
	"--no-recurse-submodules",
	"--no-auto-maintenance"
];
/** Without the settings of whoever runs it. */
const plainly = [
	"core.autocrlf=false",
	"core.splitIndex=false",
	"apply.ignoreWhitespace=no",
	"i18n.commitEncoding=UTF-8"
].flatMap((setting) => ["-c", setting]);
function signature(date) {
	const at = `${Math.floor(date.getTime() / 1e3)} +0000`;
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
/** `MODE TYPE OBJECT<tab>PATH`, see git-ls-tree(1). */
const parseTreeEntry = (prefix) => (line) => {
	const tab = line.indexOf("	");
	const [mode = "", , object = ""] = line.slice(0, tab).split(" ");
	return {
		mode,
		object,
		path: line.slice(tab + 1 + prefix.length)
	};
};

export { isAsSaid as a, checkDiff as i, objectsAlone as n, rawChanges as o, openRepository as r, whyGitRefuses as s, RepositoryError as t };