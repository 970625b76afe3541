import { UsageError, fileReasonOf, overlayFiles, whyNotText } from "../model/first-plain.js";
import { comparisonName } from "../model/first.js";
import { gitIn, plainly } from "../forge/patch/first-plain.js";
import { commitTree, rootCommit } from "../forge/patch/first.js";
import { headOf } from "../system/decompress.js";
const { basename, join } = globalThis.process.getBuiltinModule("node:path");
const { readFile, readdir, rm, stat, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/cli/compare/compare-repository.ts
/** Creates the repository in an empty folder, with the files at its top, and returns the patch. */
async function makeCompareRepository(directory, compared, name) {
	const git = gitIn(directory, {});
	await git.run("init", "--quiet", "--initial-branch=main");
	const date = /* @__PURE__ */ new Date();
	const treeOf = async (files) => {
		for (const [file, text] of files) await writeFile(join(directory, file), text);
		await git.run(...plainly, "add", "--all", "--force", ".");
		const tree = (await git.run("write-tree")).trim();
		for (const file of files.keys()) await rm(join(directory, file));
		return tree;
	};
	const none = /* @__PURE__ */ new Map();
	const [old, other] = compared.kind === "files" ? [compared.old, compared.new] : [none, none];
	const baseCommit = await rootCommit(git, await treeOf(old), {
		message: "old",
		date
	});
	const headCommit = await commitTree(git, await treeOf(other), baseCommit, {
		message: name,
		date
	});
	await git.run("update-ref", "refs/heads/main", headCommit);
	return {
		kind: "range",
		name,
		title: compared.kind === "files" ? compared.what : "two kernels",
		author: "ppsgate compare",
		baseCommit,
		headCommit
	};
}
/** Takes the files from the repository, with the configured names of interfaces. */
const overlayIn = (directory, { interfaces }) => ({
	path: ".",
	beside: directory,
	...interfaces !== void 0 && { interfaces }
});

// src/cli/compare/compared.ts
const allNames = Object.values(overlayFiles).flat();
const maxBytes = 1024 ** 2;
/** Throws a UsageError that names both if they are not of one kind, or of none. */
async function readCompared(oldPath, newPath) {
	const [one, other] = [await sideOf(oldPath), await sideOf(newPath)];
	if (one.kind === "kernel" && other.kind === "kernel") return {
		kind: "kernels",
		old: oldPath,
		new: newPath
	};
	if (one.kind !== other.kind || one.kind === "kernel" || other.kind === "kernel") throw differ(oldPath, wordsFor(one), newPath, wordsFor(other));
	if (one.kind === "overlay") return {
		kind: "files",
		what: "two overlays",
		old: one.files,
		new: other.files
	};
	const [[name] = [""], [otherName] = [""]] = [[...one.files.keys()], [...other.files.keys()]];
	if (name !== otherName) throw differ(oldPath, wordsFor(one), newPath, wordsFor(other));
	return {
		kind: "files",
		what: `two files like ${name}`,
		old: one.files,
		new: other.files
	};
}
const differ = (oldPath, one, newPath, other) => new UsageError(`${oldPath} is ${one}, and ${newPath} is ${other}: name two rule files of one firewall, two overlay folders or two kernels.`);
/** True if a DUT of the system loads one of the files. */
const isLoadedBy = (system, { old, new: other }) => overlayFiles[system].some((name) => old.has(name) || other.has(name));
/** `old.conf → new.conf`, by their paths if the names are equal; see `name` of a range in model/patch.ts. */
function labelOf(oldPath, newPath) {
	const names = [oldPath, newPath].map((path) => basename(path));
	const [one = "", other = ""] = names[0] === names[1] ? [oldPath, newPath] : names;
	const plain = (text) => text.replace(/[^\w./ +-]/g, "_").slice(-90);
	return comparisonName(plain(one), plain(other));
}
function wordsFor(side) {
	if (side.kind === "kernel") return "a kernel or another binary file";
	const names = [...side.files.keys()].join(" and ");
	return side.kind === "overlay" ? `an overlay with ${names}` : `a file like ${names}`;
}
async function sideOf(path) {
	const stats = await stat(path).catch((error) => {
		throw new UsageError(`${path} cannot be read (${fileReasonOf(error)}): name a file or a folder.`);
	});
	if (stats.isDirectory()) return {
		kind: "overlay",
		files: await filesIn(path)
	};
	if (!stats.isFile()) throw new UsageError(`${path} is neither a regular file nor a folder: name one of these.`);
	const head = await headOf(path, 0, 4096);
	const why = whyNotText(head.subarray(0, 2));
	if (why !== void 0) throw new UsageError(`${path} ${why}.`);
	if (head.includes(0) || head.toString("latin1", 0, 7) === "!<arch>") return { kind: "kernel" };
	const text = await textOf(path, stats.size);
	const name = nameOfRules(path, text);
	if (name === void 0) throw new UsageError(`${path} is a text file other than rules of nftables, pf or ipfw, or settings of sysctl.conf: give it a DUT's file name, like ${allNames.join(" or ")}.`);
	return {
		kind: "rules",
		files: /* @__PURE__ */ new Map([[name, text]])
	};
}
async function filesIn(folder) {
	const names = (await readdir(folder)).filter((name) => allNames.includes(name));
	if (names.length === 0) throw new UsageError(`The folder ${folder} is no overlay, because it has none of ${allNames.join(", ")}: name a folder that has one.`);
	const read = names.map(async (name) => {
		const path = join(folder, name);
		const stats = await stat(path);
		if (!stats.isFile()) throw new UsageError(`${path} is not a file: put rules or settings there.`);
		return [name, await textOf(path, stats.size)];
	});
	return new Map(await Promise.all(read));
}
async function textOf(path, bytes) {
	if (bytes > maxBytes) throw new UsageError(`${path} has ${bytes} bytes, but rules have at most ${maxBytes}: shorten it.`);
	return readFile(path, "utf8");
}
/** Finds the name by the file's name, otherwise by words that only one of the syntaxes has. */
function nameOfRules(path, text) {
	const file = basename(path);
	return allNames.find((name) => file === name) ?? byExtension(file) ?? syntaxes.find(({ pattern }) => pattern.test(text))?.name;
}
const byExtension = (file) => extensions.find(([extension]) => file.endsWith(extension))?.[1];
const extensions = [
	[".nft", "nftables.conf"],
	[".pf", "pf.conf"],
	[".ipfw", "ipfw.rules"]
];
const syntaxes = [
	{
		name: "nftables.conf",
		pattern: /^\s*(?:flush ruleset\b|(?:add |create )?table (?:(?:ip6?|inet|arp|bridge|netdev) )?[\w-]+ *\{)/m
	},
	{
		name: "pf.conf",
		pattern: /^\s*(?:(?:pass|block|match)\b|set (?:skip|limit|timeout)\b)/m
	},
	{
		name: "ipfw.rules",
		pattern: /^\s*(?:ipfw )?(?:-\w+ )*add (?:\d+ )?(?:allow|pass|deny|count)\b/m
	},
	{
		name: "sysctl.conf",
		pattern: /^\s*[a-z]\w*(?:[./][\w-]+)+ *= *\S/m
	}
];

export { isLoadedBy, labelOf, makeCompareRepository, overlayIn, readCompared };