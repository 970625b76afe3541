import { systemOf } from "../config/first.js";
import { _enum, base64, discriminatedUnion, literal, object } from "../vendor/zod.js";
import { UsageError, diffName, fileReasonOf, interfaceRoles, isLoaded, isPlain, overlayFiles } from "../model/first-plain.js";
import { RepositoryError } from "../forge/patch/first-plain.js";
import { mayChangeKernel, placeLeftAlone } from "./first-plain.js";
import "../forge/patch/first.js";
import { byName, commitId, document, list, maxDocument, name, ordinal, path as path$1, variant } from "../model/first.js";
const { resolve } = globalThis.process.getBuiltinModule("node:path");
const { createReadStream } = globalThis.process.getBuiltinModule("node:fs");
const { createHash } = globalThis.process.getBuiltinModule("node:crypto");
const { stat } = globalThis.process.getBuiltinModule("node:fs/promises");
const { pipeline } = globalThis.process.getBuiltinModule("node:stream/promises");

// src/kernel/overlay.ts
const overlaySchema = object({
	/** `base`, `patched`, `diff 80345`. */
	variant,
	commit: name,
	/** Path of the files' folder in the repository, empty for its top; absent without one. */
	folder: path$1.optional(),
	/** Interfaces that the files name, and the ports that they stand for. */
	interfaces: byName(_enum(interfaceRoles)).exactOptional(),
	files: list(object({
		path: path$1,
		/** Path in the repository, if the overlay is no folder. */
		source: path$1.exactOptional(),
		/** Git's mode: `100644` for a plain file. The DUT's system determines which modes it can load. */
		mode: name,
		content: document,
		sha256: name
	}))
});
/**
* Reads the overlay at the patch's merge base, at its head and at earlier diffs, so that later changes of the branch do
* not count. Throws a `RepositoryError` if neither base nor patched has a file: comparing nothing would pass.
*/
async function buildOverlays(patch, place, repository) {
	const [source, { base, changed }] = await Promise.all([sourceOf(place, repository), commitsOf(patch, repository)]);
	const overlays = await Promise.all([base, ...changed].map((variant) => readOverlay(repository, variant, source)));
	const missing = missingIn(overlays.slice(0, 2), source);
	if (missing !== void 0) throw new RepositoryError(`${missing} at ${base.commit} or ${patch.headCommit}: correct \`overlay\` in ppsgate.yml.`);
	return overlays;
}
/** Finds the patch's merge base and orders the variants: patched comes before diffs that are only shown. */
async function commitsOf(patch, repository) {
	const commit = await repository.mergeBase(patch.baseCommit, patch.headCommit);
	const earlier = patch.kind === "revision" ? patch.earlier : [];
	return {
		base: {
			variant: "base",
			commit
		},
		changed: [{
			variant: "patched",
			commit: patch.headCommit
		}, ...earlier.map(({ diff, headCommit }) => ({
			variant: diffName(diff),
			commit: headCommit
		}))]
	};
}
async function readOverlay(repository, { variant, commit }, source) {
	const entries = await entriesOf(repository, commit, source);
	if (entries.length > maxFiles) throw new RepositoryError(`The folder ${pathsIn(source).join() || "."} holds ${entries.length} files at ${commit}, but an overlay may have at most ${maxFiles}: move other files elsewhere.`);
	const files = await Promise.all(entries.map(async ({ object, ...entry }) => {
		const content = entry.mode === "160000" ? "" : await repository.read(object);
		const bytes = Buffer.byteLength(content);
		if (bytes > maxOverlayFileBytes) throw new RepositoryError(`The file ${entry.source ?? entry.path} holds ${bytes} bytes at ${commit}, but a file of an overlay may have at most ${maxOverlayFileBytes / 1024 ** 2} MiB: make it smaller.`);
		return {
			...entry,
			content,
			sha256: createHash("sha256").update(content).digest("hex")
		};
	}));
	const { interfaces } = source;
	return {
		variant,
		commit,
		...source.kind === "folder" && { folder: source.folder },
		...interfaces !== void 0 && { interfaces },
		files
	};
}
/** Throws a `RepositoryError` for a path outside the repository. */
async function sourceOf(place, repository) {
	const { interfaces } = place;
	if ("path" in place) return {
		kind: "folder",
		folder: await repository.pathOf(place),
		interfaces
	};
	const { files, beside } = place;
	const found = Object.entries(files).map(async ([name, path]) => [name, await repository.pathOf({
		path,
		beside
	})]);
	return {
		kind: "files",
		files: new Map(await Promise.all(found)),
		interfaces
	};
}
const pathsIn = (source) => source.kind === "folder" ? [source.folder] : [...source.files.values()];
/** Files with their paths in the overlay. */
async function entriesOf(repository, commit, source) {
	if (source.kind === "folder") return repository.list(commit, source.folder);
	const found = await repository.entriesAt(commit, pathsIn(source));
	return [...source.files].flatMap(([name, path]) => found.filter((entry) => entry.path === path).map((entry) => ({
		...entry,
		path: name,
		source: path
	})));
}
/** Begins a sentence about files that both base and patched lack. */
function missingIn(overlays, source) {
	const has = (name) => overlays.some(({ files }) => files.some(({ path }) => path === name));
	if (source.kind === "files") {
		const missing = [...source.files].find(([name]) => !has(name));
		return missing && `There is no file ${missing[1]}`;
	}
	if (overlays.some(({ files }) => files.length > 0)) return void 0;
	return `The folder ${source.folder || "."} holds no file`;
}
const maxFiles = 100;
/** Node may need up to 16 bytes of its 64 MiB of stack for each character that a regular expression repeats. */
const maxOverlayFileBytes = 2 * 1024 ** 2;
/** Mode of a submodule: a commit of another repository, whose content is not read. */
const submodule = "160000";

// src/kernel/variant.ts
const kernelSourceSchema = discriminatedUnion("kind", [object({
	kind: literal("tree"),
	baseCommit: commitId,
	/** Applied to the base commit; in base64, as it may hold any bytes. Absent: the base itself. */
	diff: base64().max(maxDocument).optional(),
	/** Layout variants to boot, ascending. Absent: linked once. */
	layouts: list(ordinal).min(1).optional()
}), object({
	kind: literal("archive"),
	path: path$1,
	sha256: name
})]);
const variantSchema = overlaySchema.extend({ kernel: kernelSourceSchema.optional() });
/** Returns kernels on FreeBSD, and on virtual machines that are given or build some; otherwise files. */
function makingOf(config, testbed, kernels) {
	const one = config.testbeds[testbed];
	if (one?.kind === "freebsd") return "kernel";
	if (one?.kind !== "virtual") return "overlay";
	return kernels === void 0 && one.builder === void 0 ? "overlay" : "kernel";
}
/**
* Creates base at the patch's merge base, patched, and earlier diffs of its revision on the same base. Throws a
* `RepositoryError` if the repository lacks a commit, and a `UsageError` for a missing or unreadable kernel.
*/
async function buildVariants({ patch, making, overlayFolder, kernels }, repository) {
	if (making === "overlay") return buildOverlays(patch, overlayFolder, repository);
	const { base, changed } = await commitsOf(patch, repository);
	if (kernels === void 0) return [{
		...base,
		files: [],
		kernel: {
			kind: "tree",
			baseCommit: base.commit
		}
	}, ...await Promise.all(changed.map((variant) => onBase(base.commit, variant, repository)))];
	const [patched, lacking] = changed;
	if (lacking !== void 0) throw new UsageError(`Kernels were supplied for base and patched, but none for ${lacking.variant}: leave out earlier diffs, or have all kernels built.`);
	return [{
		...base,
		files: [],
		kernel: await givenKernel(kernels.base)
	}, {
		...patched,
		files: [],
		kernel: await givenKernel(kernels.patched)
	}];
}
async function variantsByMaking({ patch, config, kernels, testbeds }, repository) {
	const built = [...new Set(testbeds.map((name) => makingOf(config, name, kernels)))].map(async (making) => {
		return [making, await buildVariants({
			patch,
			making,
			overlayFolder: config.overlay,
			kernels
		}, repository)];
	});
	const byMaking = new Map(await Promise.all(built));
	for (const name of testbeds) {
		if (makingOf(config, name, kernels) !== "overlay") continue;
		requireLoaded(byMaking.get("overlay") ?? [], {
			name,
			system: systemOf(config, name)
		});
	}
	return byMaking;
}
/** Throws a UsageError for overlays of which the testbed loads no file: comparing nothing would pass. */
function requireLoaded(variants, { name, system }) {
	const paths = variants.flatMap(({ files }) => files.map(({ path }) => path));
	if (paths.some((path) => isLoaded(system, path))) return;
	throw new UsageError(`The overlay has ${[...new Set(paths)].slice(0, maxPathsShown).join(", ")}, and ${name} loads ${overlayFiles[system].join(" and ")}: correct \`overlay\` in ppsgate.yml.`);
}
const maxPathsShown = 5;
async function onBase(baseCommit, { variant, commit }, repository) {
	const diff = (await repository.diff(baseCommit, commit)).toString("base64");
	return {
		variant,
		commit,
		files: [],
		kernel: {
			kind: "tree",
			baseCommit,
			...diff === "" ? {} : { diff }
		}
	};
}
/** Size limit of a kernel with its modules, or of a whole image of nanobsd(8). */
const maxKernelBytes = 8 * 1024 ** 3;
/** Includes the file's current checksum. Throws a UsageError if the file cannot be read. */
async function givenKernel(path) {
	const hash = createHash("sha256");
	try {
		const stats = await stat(path);
		if (!stats.isFile()) throw new Error("it is not a regular file");
		const { size } = stats;
		if (size > maxKernelBytes) throw new Error(`it has ${size} bytes, but a kernel may have at most ${maxKernelBytes}`);
		await pipeline(createReadStream(path), hash);
	} catch (error) {
		throw new UsageError(`The kernel ${path} cannot be read (${fileReasonOf(error)}).`);
	}
	return {
		kind: "archive",
		path: resolve(path),
		sha256: hash.digest("hex")
	};
}

// src/kernel/unchanged.ts
/** Returns the testbeds on which a variant may differ from base, as far as is known before a build. */
async function testbedsThatDiffer({ testbeds, config, variants, kernels }, repository) {
	const differ = await Promise.all(testbeds.map(async (name) => {
		const [base, ...others] = variants.get(makingOf(config, name, kernels)) ?? [];
		if (base === void 0) return true;
		const on = {
			config,
			testbed: name
		};
		const each = others.map((variant) => differs(base, variant, on, repository));
		return (await Promise.all(each)).includes(true);
	}));
	return testbeds.filter((_, index) => differ[index]);
}
/** Places of changed kernel files that have no effect on testbeds without a difference; empty if no kernel differs. */
async function placesLeftAlone(testbed, { config, variants, kernels }, repository) {
	const [base, ...others] = variants.get(makingOf(config, testbed, kernels)) ?? [];
	if (base?.kernel?.kind !== "tree") return [];
	const all = others.map(async ({ commit }) => {
		return (await repository.changedPaths(base.commit, commit)).flatMap((path) => placeLeftAlone(path, {
			config,
			testbed
		}) ?? []);
	});
	return [...new Set((await Promise.all(all)).flat())].toSorted();
}
/** Undefined if the DUT boots more than a kernel, too: an image of nanobsd(8) has a userland. */
function builderOf({ testbeds }, name) {
	const testbed = testbeds[name];
	if (testbed?.kind === "virtual") return testbed.builder;
	if (testbed?.kind !== "freebsd" || testbed.dut.boot.method === "nanobsd") return void 0;
	return testbed.builder;
}
async function differs(base, variant, on, repository) {
	if (!isSameOverlay(base, variant, systemOf(on.config, on.testbed))) return true;
	if (base.kernel === void 0 || variant.kernel === void 0) return base.kernel !== variant.kernel;
	if (base.kernel.kind === "archive" || variant.kernel.kind === "archive") return sumOf(base) !== sumOf(variant);
	return (await pathsThatCount(base, variant, on, repository)).length > 0;
}
/** Paths that differ between two variants' trees, without files that cannot affect the testbed. */
async function pathsThatCount(base, variant, on, repository) {
	const paths = (await repository.changedPaths(base.commit, variant.commit)).filter((path) => placeLeftAlone(path, on) === void 0);
	const builder = builderOf(on.config, on.testbed);
	if (paths.length === 0 || builder === void 0) return paths;
	const makefile = await repository.read(`${base.commit}:Makefile.inc1`).catch(() => void 0);
	return paths.filter((path) => mayChangeKernel(path, builder, makefile));
}
/** Compares the loaded files. A submodule counts as changed, as its content is not read. */
function isSameOverlay(base, other, system) {
	const ofBase = base.files.filter(({ path }) => isLoaded(system, path));
	const others = other.files.filter(({ path }) => isLoaded(system, path));
	return ofBase.length === others.length && ofBase.every(({ path, mode, sha256 }) => {
		const same = others.find((file) => file.path === path);
		if (same === void 0 || mode === "160000") return false;
		return (same.mode === mode || isPlain(same.mode) && isPlain(mode)) && same.sha256 === sha256;
	});
}
const sumOf = ({ kernel }) => kernel?.kind === "archive" ? kernel.sha256 : void 0;

export { builderOf, entriesOf, givenKernel, makingOf, pathsIn, pathsThatCount, placesLeftAlone, readOverlay, sourceOf, submodule, testbedsThatDiffer, variantSchema, variantsByMaking };