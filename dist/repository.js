import { n as isAsSaid, r as whyGitRefuses, t as checkDiff } from "./diff.js";
import { execFile } from "node:child_process";
import { join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";

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
		const parse = () => git("rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`);
		return (await parse().catch(() => git("fetch", "--quiet", "origin", "--", name).then(parse)).catch(() => {
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
				commit,
				...prefixes
			];
			const listing = await git(...list).catch(() => {
				throw new RepositoryError(`git cannot list ${folder} at ${commit} in ${directory}: name a folder of the repository.`);
			});
			const [prefix = ""] = prefixes;
			return listing.split("\0").filter(Boolean).map(parseTreeEntry(prefix));
		},
		read: (object) => git("cat-file", "blob", object).catch(() => {
			throw new RepositoryError(`git cannot read the object ${object} in ${directory}: it must be a file of at most 4 MiB.`);
		}),
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
				first,
				second
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
			const [subject = "", author = ""] = (await git("show", "--no-patch", "--format=%s%n%an", "--end-of-options", commit)).split("\n");
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
				const changed = (await indexed(...[
					"diff-index",
					"--cached",
					"--no-renames",
					"--name-only",
					"-z",
					parent
				])).split("\0").filter(Boolean);
				const asSaid = isAsSaid(checked.paths, changed);
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

export { openRepository as n, RepositoryError as t };