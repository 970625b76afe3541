import { plainLine } from "../../model/first-plain.js";
import { shortId } from "../../model/first.js";
import { excerpt } from "../../model/excerpt.js";
import { didYouMean } from "../../config/did-you-mean.js";
import { RepositoryError, changesAsListed, checkDiff, gitIn, idOf, isId, linearHistoryOf, newestUpTo, plainPatch, plainly, rawChanges, signature, svnLog, whyGitRefuses } from "./first-plain.js";
const { once } = globalThis.process.getBuiltinModule("node:events");
const { join, relative, resolve } = globalThis.process.getBuiltinModule("node:path");
const { copyFile, mkdtemp, rm, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");
const { tmpdir } = globalThis.process.getBuiltinModule("node:os");

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
	if (!isCommitName(name)) throw new NoCommitError(`"${name}" is not the name of a commit: write an ID, a branch or a tag, like main, v1.2 or HEAD~2.`);
	const parse = () => commitNamed(git, name);
	return parse().catch((error) => {
		if (!isId(name)) throw error;
		return git.run("fetch", ...objectsAlone, "--end-of-options", "origin", name).then(parse);
	}).catch(() => refuse(git, name));
}
/** Throws git's own error if there is no such commit. */
async function commitNamed(git, name) {
	const named = [
		"--verify",
		"--quiet",
		"--end-of-options",
		`${name}^{commit}`
	];
	return (await git.run("rev-parse", ...named)).trim();
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
			throw new NoCommitError(`"${excerpt(name)}" is not a commit of a branch or a tag; ${id} may abbreviate several commits, so write the full ID if you mean one.`);
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
		if (error.syscall === "spawn git") throw new Error(`git cannot be started (${error.code}), and patches cannot be read without it: install it, on Debian and Ubuntu with 'apt-get install git'.`);
		throw new NoRepositoryError(`${directory} is not a git repository: name the repository with the commits.`);
	});
	const history = "check it out with its history (fetch-depth: 0)";
	if (isId(name)) throw new NoCommitError(`"${name}" is not a commit of ${directory}, and could not be fetched: ${history}.`);
	const [, descendant, steps] = /^(.+)~(\d+)$/.exec(name) ?? [];
	const first = descendant && await git.run("rev-list", "--count", "--first-parent", "--end-of-options", descendant, "--").catch(() => "");
	if (first && Number(steps) >= Number(first)) throw new NoCommitError(`"${name}" would be older than ${descendant}~${Number(first) - 1}, the first commit: name that or a later one, or ${history}.`);
	const names = await git.run("for-each-ref", "--format=%(refname:short)", ...[
		"refs/heads",
		"refs/tags",
		"refs/remotes"
	]).catch(() => "");
	const hint = didYouMean(name, names.split("\n").filter(Boolean));
	throw new NoCommitError(`"${name}" is not a commit, branch or tag of ${directory}${hint || `: name an existing one, or ${history}.`}`);
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
		const isAsListed = changesAsListed(checked.paths, await indexed(...rawChanges, parent));
		if (isAsListed.kind === "refused") return {
			kind: "does-not-apply",
			why: isAsListed.reason,
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

// src/forge/patch/dated-commits.ts
/** Several times the need of FreeBSD's 280,000 commits. */
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
	throw new RepositoryError(`${branch} has no commit in ${git.directory} before ${date.toISOString()}: check it out with its history (fetch-depth: 0).`);
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
	throw new RepositoryError(`git cannot read the history of ${branch} in ${git.directory}: check it with git fsck.`);
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
			const known = isId(first) && isId(second) ? await run("merge-base", first, second).catch(() => "") : "";
			if (known !== "") return known.trim();
			const ids = [await resolve(first), await resolve(second)];
			const why = `${first} and ${second} have no common ancestor in ${directory}: check it out with its history (fetch-depth: 0).`;
			return (await run("merge-base", ...ids).catch(failed(why))).trim();
		},
		async read(object) {
			const [id = "", ...path] = object.split(":");
			const why = `git cannot read the object ${object} in ${directory}: it must be a file of at most 4 MiB.`;
			return run("cat-file", "blob", [idOf(id), ...path].join(":")).catch(failed(why));
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
			const why = `git cannot list the differences between ${first} and ${second} in ${directory}: check it out with both commits; the list may have at most 4 MiB.`;
			return (await run(...compare, idOf(first), idOf(second)).catch(failed(why))).split("\0").filter(Boolean);
		},
		async diff(first, second) {
			const range = [
				"--end-of-options",
				idOf(first),
				idOf(second)
			];
			const why = `git cannot compare ${first} with ${second} in ${directory}: their difference may have at most 4 MiB.`;
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
	throw new RepositoryError(`The overlay ${path} of ppsgate.yml is ${folder}, outside the repository ${top}: name a folder in it.`);
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

// src/forge/patch/commit-range.ts
/** Names the patch after the range's last commit. Throws a `RepositoryError` for a text that is no range. */
async function patchOfRange(repository, text) {
	const { base, head } = await endsIn(text, repository);
	const [baseCommit, headCommit] = [await repository.resolve(base).catch(isWrong("base")), await repository.resolve(head).catch(isWrong("head"))];
	return patchOfCommits(repository, baseCommit, headCommit);
}
/** The commits are full ids. */
async function patchOfCommits(repository, baseCommit, headCommit) {
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
	if (await repository.contains(baseCommit, headCommit)) throw new RepositoryError(`${base}..${head} is reversed, because ${head} is older than ${base}: write ${head}..${base}.`);
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
	throw new RepositoryError(`"${excerpt(text)}" is not a range of commits: write BASE..HEAD, like ${await rangeLike(repository, text)}.`);
}
/**
* Throws a `RepositoryError` unless the commits are on the line of first parents of `tip`. Other commits of a
* repository, or those that can be fetched by id, may never have been merged.
*/
async function expectOnLine(commits, tip, repository) {
	for (const commit of commits) {
		if (await repository.stepsSince(commit, tip).then((steps) => repository.resolve(`${tip}~${steps}`)).catch(() => void 0) === commit) continue;
		throw new RepositoryError(`${shortId(commit)} is not on the first-parent line of ${shortId(tip)}: if it should be, check it out with its full history (fetch-depth: 0).`);
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

// src/forge/patch/own-changes.ts
/** Touches only objects, neither the index nor a branch. Throws a `RepositoryError` if nothing was changed. */
async function ownChanges(directory) {
	const git = gitIn(directory, {});
	const head = await resolveCommit(git, "HEAD").catch((error) => {
		if (!(error instanceof NoCommitError)) throw error;
		throw new RepositoryError("the repository has no commits: commit the base, then your change.");
	});
	const [{ since, baseCommit }, [uncommitted, untracked]] = await Promise.all([mainBranch(git, head), statusOf(git)]);
	if (baseCommit === head && uncommitted.length === 0) {
		const more = untracked.length === 0 ? "" : `; git does not track ${named(untracked)}`;
		throw new RepositoryError(`there are no changes since ${since}${more}: commit some, or name a patch, like HEAD~1..HEAD.`);
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
		const tip = await commitNamed(git, since).catch(() => void 0);
		if (tip === void 0) continue;
		const base = await git.run("merge-base", tip, head).catch(() => "");
		if (base !== "") return {
			since,
			baseCommit: base.trim()
		};
	}
	throw new RepositoryError("these commits have no main branch (origin/HEAD, main or master) as their base: name the patch as BASE..HEAD.");
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
		const message = `${(await git.run("show", "--no-patch", "--format=%s", head)).trimEnd()}, with uncommitted changes`;
		return await commitTree(git, tree, head, {
			message,
			date: /* @__PURE__ */ new Date(seconds * 1e3)
		});
	} finally {
		await rm(folder, { recursive: true });
	}
}
const maxNamed = 3;
/** `a, b, c and 4 more`. */
function named(paths) {
	const rest = paths.length - maxNamed;
	const first = paths.slice(0, maxNamed).map((path) => plainLine(path)).join(", ");
	return rest > 0 ? `${first} and ${rest} more` : first;
}

export { NoCommitError, NoRepositoryError, commitTree, expectOnLine, isCommitName, named, objectsAlone, openRepository, ownChanges, patchOfCommits, patchOfRange, patchOfTypedRange, rangeLike, rootCommit, withoutShortIds };