import { fileReasonOf, lastLine, pathName } from "./model/first-plain.js";
import { literal, object } from "./vendor/zod.js";
import { thisMachine } from "./system/host/plain.js";
import { BuilderError, bmakeTests, buildFolder, crossMake, crossToolsOf, inJail, jailProblem, keyOf, keyOfLayout, toolsOf, whyNotLoadable } from "./kernel/first-plain.js";
import { shell } from "./system/shell.js";
import { HostError, isGood } from "./system/host/first-plain.js";
import { cleanEnvironment, commandsOf, inTurn, stepsOf, sumIn, take } from "./kernel/plain.js";
import { line, name, seconds, total } from "./model/first.js";
import { changesAsListed, checkDiff, rawChanges, whyGitRefuses } from "./forge/patch/first-plain.js";
import { objectsAlone } from "./forge/patch/first.js";
const { closeSync, openSync, renameSync, rmSync, writeSync } = globalThis.process.getBuiltinModule("node:fs");
const { createHash, randomUUID } = globalThis.process.getBuiltinModule("node:crypto");
const { readFile } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/kernel/kernel-tree.ts
/** Writes only objects to the repository. Throws a BuilderError if the base is missing and cannot be fetched. */
async function kernelTree(host, { baseCommit, diff }, { repository, remote, work, signal }) {
	const checked = diff === void 0 ? void 0 : checkDiff(diff);
	if (checked?.kind === "refused") return {
		kind: "does-not-apply",
		reason: checked.reason
	};
	await fetchIfMissing(host, repository, remote, baseCommit, signal);
	if (diff === void 0 || checked === void 0) return {
		kind: "tree",
		id: (await host.output(gitIn(repository, shell`rev-parse ${`${baseCommit}^{tree}`}`), { signal })).trim()
	};
	const diffPath = `${work}/patch.diff`;
	const indexed = (command) => shell`env GIT_INDEX_FILE=${`${work}/index`} ${gitIn(repository, command)}`;
	await host.upload(diff, diffPath, 420, { signal });
	await host.output(indexed(shell`read-tree ${baseCommit}`), { signal });
	const applied = await host.run(indexed(shell`apply --cached --whitespace=nowarn ${diffPath}`), { signal });
	if (!isGood(applied)) return {
		kind: "does-not-apply",
		reason: whyGitRefuses(applied.stderr, checked.remarks)
	};
	const changed = await host.output(indexed(shell`${rawChanges} ${baseCommit}`), { signal });
	const isAsListed = changesAsListed(checked.paths, changed);
	if (isAsListed.kind === "refused") return {
		kind: "does-not-apply",
		reason: isAsListed.reason
	};
	return {
		kind: "tree",
		id: (await host.output(indexed(shell`write-tree`), { signal })).trim(),
		diffPath
	};
}
/** Runs git without those user settings that could change its result or run a program. */
const gitIn = (folder, command) => shell`env LC_ALL=C git -C ${folder} ${settings} ${command}`;
const settings = [
	"safe.directory=*",
	"core.hooksPath=/dev/null",
	"core.autocrlf=false",
	"apply.ignoreWhitespace=no",
	"gc.auto=0"
].flatMap((setting) => ["-c", setting]);
async function fetchIfMissing(host, repository, remote, commit, signal) {
	const has = gitIn(repository, shell`cat-file -e ${`${commit}^{commit}`}`);
	if (isGood(await host.run(has, { signal }))) return;
	const fetch = gitIn(repository, shell`fetch ${objectsAlone} --end-of-options ${remote} ${commit}`);
	const fetched = await host.run(fetch, {
		signal,
		timeoutSeconds: fetchSeconds
	});
	if (isGood(await host.run(has, { signal }))) return;
	const why = lastLine(fetched.stderr) ?? "git said nothing";
	throw new BuilderError(`${repository} on ${host.name} cannot fetch the commit ${commit} from ${remote}: ${why}.`);
}
const fetchSeconds = 1800;

// src/kernel/needed-modules.ts
/**
* Adds MODULES_OVERRIDE for the modules that the DUT has loaded, and those for measuring. Changes nothing unless both
* are certain: a kernel without a needed module may hang before a login is possible.
*/
async function withNeededModules(host, { recipe, repository }, tree, loaded, notify) {
	if (recipe.kind !== "make" || recipe.modules === "all") return recipe;
	const choice = loaded === void 0 ? {
		kind: "all",
		why: "the modules loaded on the DUT are unknown"
	} : choose(await treeOfModules(host, repository, tree), loaded);
	if (choice.kind === "all") {
		notify(`all modules are built: ${choice.why}`);
		return recipe;
	}
	notify(`only these modules are built: ${choice.folders.join(" ")}`);
	return {
		...recipe,
		options: [...recipe.options, `MODULES_OVERRIDE=${choice.folders.join(" ")}`]
	};
}
/** Explains why a kernel of this recipe would not find its root; undefined if it would. */
function whyNoRoot(recipe, loaded) {
	if (recipe.kind !== "make" || !loaded.isRootOnZfs || !loaded.names.includes("zfs")) return;
	const without = recipe.options.find((option) => {
		const [, name, value = ""] = /^(?:-D)?(\w+)(?:=(.*))?$/s.exec(option) ?? [];
		const folders = value.split(/\s+/);
		if (name === "MODULES_OVERRIDE") return !folders.includes("zfs");
		return name === "NO_MODULES" || name === "WITHOUT_MODULES" && folders.includes("zfs");
	});
	return without && `the root of the DUT is on ZFS, and \`${without}\` leaves zfs.ko out`;
}
async function treeOfModules(host, repository, tree) {
	const names = shell`grep -E ${"^KMOD[[:space:]]*[?]?="} ${tree} -- sys/modules`;
	const version = shell`grep -h -E ${"^REVISION="} ${tree} -- sys/conf/newvers.sh`;
	const [kmods, revision] = await Promise.all([names, version].map(async (command) => (await host.run(gitIn(repository, command))).stdout));
	const folders = /* @__PURE__ */ new Map();
	for (const line of (kmods ?? "").split("\n")) {
		const [, folder = "", name = ""] = /:sys\/modules\/([\w-]+)\/[^:]*:KMOD\s*\??=\s*([\w-]+)\s*$/.exec(line) ?? [];
		if (name !== "") folders.set(name, (folders.get(name) ?? /* @__PURE__ */ new Set()).add(folder));
	}
	return {
		major: /^REVISION="(\d+)/.exec(revision ?? "")?.[1],
		folders
	};
}
/** Modules that a gate loads, or a site's own rules of pf and ipfw, if the tree has them. */
const measuring = [
	"pf",
	"pflog",
	"pfsync",
	"ipfw",
	"ipfw_nat",
	"libalias",
	"dummynet",
	"hwpmc",
	"ksyms"
];
/** Dependencies of zfs.ko in all releases. */
const ofZfs = [
	"opensolaris",
	"acl_nfs4",
	"crypto",
	"cryptodev",
	"krpc",
	"xdr",
	"zlib"
];
/** kldstat(8) omits firmware that drivers load briefly. It is in the driver's folder, or in one of these. */
const ofFirmware = (folder) => [
	`${folder}fw`,
	`${folder}_fw`,
	`${folder}_ddp`
];
function choose({ major, folders }, loaded) {
	const { names, release, isRootOnZfs } = loaded;
	if (major === void 0 || Number.parseInt(release, 10) !== Number(major)) return {
		kind: "all",
		why: `the DUT runs FreeBSD ${release}, and the tree is of FreeBSD ${major ?? "?"}, whose modules may depend on others`
	};
	if (isRootOnZfs && !names.includes("zfs")) return {
		kind: "all",
		why: "the DUT's own kernel has ZFS built in, and other kernels may not"
	};
	const unknown = names.find((name) => folders.get(name)?.size !== 1);
	if (unknown !== void 0) return {
		kind: "all",
		why: `the tree has no known folder that builds ${unknown}.ko`
	};
	const selected = [...measuring, ...names.includes("zfs") ? ofZfs : []];
	const chosen = new Set([...names, ...selected.filter((name) => folders.get(name)?.size === 1)].flatMap((name) => [...folders.get(name) ?? []]));
	const all = new Set([...folders.values()].flatMap((each) => [...each]));
	const firmware = [...chosen].flatMap(ofFirmware).filter((folder) => all.has(folder));
	return {
		kind: "some",
		folders: [...chosen.union(new Set(firmware))].toSorted()
	};
}

// src/kernel/kernel-cache.ts
const noteSchema = object({
	schemaVersion: literal(1),
	sha256: name,
	bytes: total,
	unpackedBytes: total,
	seconds,
	uname: line.optional()
});
function kernelCache(host, folder, system) {
	const archive = (key) => `${folder}/${key}${archiveSuffix}`;
	const note = (key) => `${folder}/${key}${noteSuffix}`;
	return {
		archive,
		async find(key, signal) {
			const written = parseNote(await textOf(host, shell`cat ${note(key)}`, signal));
			if (written === void 0) return void 0;
			const sha256 = await textOf(host, commandsOf[system].sha256(archive(key)), signal);
			if (sumIn(sha256) !== written.sha256) return void 0;
			await host.run(shell`touch ${note(key)}`, { signal });
			return written;
		},
		async keep(key, built, content) {
			await host.output(shell`mv -f ${built} ${archive(key)}`);
			const text = JSON.stringify({
				schemaVersion: 1,
				...content
			});
			await host.upload(Buffer.from(`${text}\n`), note(key), 420);
		},
		async prune(own, bounds) {
			const names = (await host.output(shell`ls -1t ${folder}`)).split("\n").filter(Boolean);
			const lines = (await host.output(shell`du -a -k ${folder}`)).split("\n").map((line) => line.split("	"));
			const kept = keptNames(own, names, new Map(lines.map(([kilobytes, path = ""]) => [path.slice(folder.length + 1), Number(kilobytes) * 1024])), bounds);
			const rubbish = names.filter((name) => !kept.has(name));
			for (const name of rubbish) await host.output(shell`rm -f ${`${folder}/${name}`}`);
		}
	};
}
const archiveSuffix = ".tar.zst";
const noteSuffix = ".json";
async function textOf(host, command, signal) {
	const outcome = await host.run(command, { signal });
	return isGood(outcome) ? outcome.stdout : "";
}
function parseNote(text) {
	try {
		const { schemaVersion: _, ...note } = noteSchema.parse(JSON.parse(text));
		return note;
	} catch {
		return;
	}
}
/** `names` are sorted by last use, most recent first. */
function keptNames(own, names, sizes, { maxKernels, maxBytes }) {
	const keys = names.filter((name) => name.endsWith(noteSuffix)).map((name) => name.slice(0, -5));
	const kept = /* @__PURE__ */ new Set();
	let kernels = 0;
	let bytes = 0;
	for (const each of own.union(new Set(keys))) {
		const size = sizes.get(each + archiveSuffix);
		if (size === void 0) continue;
		kernels += 1;
		bytes += size;
		if (!own.has(each) && (kernels > maxKernels || bytes > maxBytes)) break;
		kept.add(each + archiveSuffix).add(each + noteSuffix);
	}
	return kept;
}

// src/kernel/build-tree.ts
/**
* Builds in a folder with sources in `src`. The build may write to `obj` and `stage` and, with `mayReuse`, use objects
* of earlier builds. Old objects can cause a failure, so only a build without them blames the patch.
*/
async function inTree(host, { clean }, request, build) {
	const tree = `${request.folder}/tree`;
	let isBuilt = false;
	try {
		const isNew = await checkOutTree(host, clean, request, tree);
		const { built, isOfOld } = await build(tree, true);
		isBuilt = built.kind === "built";
		if (isBuilt || isNew && !isOfOld || built.kind === "out-of-disk") return built;
		await removeTree(host, request.repository, tree);
		await checkOutTree(host, clean, request, tree);
		const again = await build(tree, false);
		isBuilt = again.built.kind === "built";
		return again.built;
	} finally {
		if (clean || !isBuilt) await removeTree(host, request.repository, tree);
		else await host.run(shell`rm -rf ${`${tree}/stage`}`);
	}
}
/**
* Writes only files that differ from the previous tree, as make(1) compares times. Returns whether the folder was
* empty.
*/
async function checkOutTree(host, clean, { repository, baseCommit, tree: id, tools }, tree) {
	const source = `${tree}/src`;
	const stamp = await host.run(shell`cat ${`${tree}/tools`}`);
	const checkOut = gitIn(source, shell`read-tree --reset -u ${id}`);
	if (!clean && stamp.stdout === tools) {
		const head = gitIn(source, shell`update-ref --no-deref HEAD ${baseCommit}`);
		const reset = await host.run(shell`${head} && ${checkOut} && ${gitIn(source, shell`clean -ffdxq`)} && rm -rf ${`${tree}/stage`}`);
		if (isGood(reset)) return false;
	}
	await removeTree(host, repository, tree);
	await host.output(shell`mkdir -p ${`${tree}/obj`}`);
	const add = shell`worktree add --quiet --detach --no-checkout ${source} ${baseCommit}`;
	await host.output(gitIn(repository, add));
	await host.output(checkOut);
	await host.upload(Buffer.from(tools), `${tree}/tools`, 420);
	return true;
}
async function removeTree(host, repository, tree) {
	await host.run(shell`rm -rf ${tree}`);
	await host.run(gitIn(repository, shell`worktree prune`));
}

// src/kernel/kept-toolchain.ts
/**
* Returns the folder of this toolchain's objects. Undefined without a jail, as a patch's build could change them, and
* for builds that are not clean, which keep their own objects.
*/
async function keptToolchain(host, recipe, request) {
	const { repository, folder, jail, tree, tools } = request;
	if (jail === void 0 || !recipe.clean || !recipe.toolchain) return void 0;
	const list = (path) => host.output(gitIn(repository, shell`ls-tree ${tree} -- ${path}`));
	const [top, sys, assembler] = await Promise.all([
		host.output(gitIn(repository, shell`ls-tree ${tree}`)),
		list("sys/"),
		list("sys/dev/aic7xxx/")
	]);
	const sources = [
		...top.split("\n").filter((line) => !line.endsWith("	sys")),
		...sys.split("\n").filter((line) => !kernelAlone.test(line)),
		assembler
	];
	const { kernelConfig, metaMode, options } = recipe;
	const parts = [
		sources,
		tools,
		jail,
		kernelConfig,
		metaMode,
		options
	];
	return `${folder}/toolchains/${createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`;
}
/** Folders that contribute to no program of the build; all other folders count. */
const kernelAlone = /\tsys\/(?:dev|net|netgraph|netinet|netinet6|netipsec|netlink|netpfil)$/;
/** Returns false if none is cached. The jail's user still owns the files, but cannot enter the folder around them. */
async function installToolchain(host, kept, objects) {
	return isGood(await host.run(shell`test -d ${kept} && rm -rf ${objects} && cp -a ${kept} ${objects}`));
}
/** Caches only the toolchain of a base, as a patch may have changed its makefiles. Atomic. */
async function keepToolchain(host, { folder }, kept, objects) {
	const around = `${folder}/toolchains`;
	const partial = `${around}/partial`;
	await host.run(shell`mkdir -p ${around} && chmod 700 ${around} && rm -rf ${partial} && cp -a ${objects} ${partial} && rm -rf ${kept} && mv ${partial} ${kept} && touch ${kept}`);
	const rubbish = (await host.run(shell`ls -1t ${around}`)).stdout.split("\n").filter(Boolean).filter((name) => name !== "partial").slice(maxKept);
	for (const name of ["partial", ...rubbish]) await host.run(shell`rm -rf ${`${around}/${name}`}`);
}
/** Few: one with a compiler needs several gigabytes. */
const maxKept = 2;

// src/kernel/kernel-recipe-linux.ts
/** Packs `boot/vmlinuz-RELEASE`, its System.map and config, and `lib/modules/RELEASE` for depmod(8). */
function buildLinux(host, recipe, request, guard) {
	return inTree(host, recipe, request, async (tree) => ({
		built: await makeKernel$1(host, recipe, request, tree, guard),
		isOfOld: false
	}));
}
async function makeKernel$1(host, recipe, request, tree, guard) {
	const jobs = recipe.jobs ?? Number(await host.output(commandsOf.linux.cpus));
	const [objects, stage] = [`${tree}/obj`, `${tree}/stage`];
	for (const path of [objects, stage]) await host.output(buildFolder(request, path));
	const config = `${tree}/config`;
	await host.upload(Buffer.from(recipe.kernelConfig + nameless), config, 420);
	const steps = stepsOf(host, request, `${tree}/src`, guard);
	const modules = [
		`INSTALL_MOD_PATH=${stage}/root`,
		"INSTALL_MOD_STRIP=1",
		"DEPMOD=true"
	];
	for (const [heading, command] of [
		["configuration", shell`cp ${config} ${`${objects}/.config`}`],
		["make olddefconfig", make(recipe, tree, 1, ["olddefconfig"])],
		["make bzImage modules", make(recipe, tree, jobs, ["bzImage", "modules"])],
		["make modules_install", make(recipe, tree, 1, [...modules, "modules_install"])],
		["archive", shell`sh -c ${packScript} pack ${objects} ${stage}`]
	]) {
		guard.onLine(`>>> ${heading}`);
		const failed = await steps.run(command);
		if (failed !== void 0) return failed;
	}
	for (const { output } of request.layouts) await take(host, request, `${stage}/packed`, output);
	return {
		kind: "built",
		log: steps.log,
		uname: void 0
	};
}
/** A commit in the release would give each variant its own folders, and different bytes to equal kernels. */
const nameless = "\n# CONFIG_LOCALVERSION_AUTO is not set\n";
/** Pins the builder, time and build number that a kernel contains. The last option wins, over the site's. */
const make = ({ options }, tree, jobs, words) => shell`${cleanEnvironment} make -C ${`${tree}/src`} -j ${jobs} ${[
	...options,
	`O=${tree}/obj`,
	"KBUILD_BUILD_TIMESTAMP=Thu Jan 1 00:00:00 UTC 1970",
	"KBUILD_BUILD_USER=ppsgate",
	"KBUILD_BUILD_HOST=ppsgate",
	"KBUILD_BUILD_VERSION=1",
	"LOCALVERSION=",
	...words
]}`;
/** The links `build` and `source` lead to folders of the builder. */
const packScript = `
set -e
objects=$1
stage=$2
release=$(cat "$objects/include/config/kernel.release")
mkdir -p "$stage/root/boot"
cd "$stage/root"
cp "$objects/arch/x86/boot/bzImage" "boot/vmlinuz-$release"
cp "$objects/System.map" "boot/System.map-$release"
cp "$objects/.config" "boot/config-$release"
rm -f "lib/modules/$release/build" "lib/modules/$release/source"
rm -rf "$stage/packed"
tar --zstd --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -cf "$stage/packed" .
`;

// src/kernel/kernel-recipe.ts
/** Requires the build slot: all builds use the same folders, as kernels contain the folders' names. */
function buildByRecipe(host, config, request, guard) {
	const { recipe, system, repository, folder, jail } = config;
	const inHouse = {
		...request,
		system,
		repository,
		folder,
		...jail !== void 0 && { jail }
	};
	switch (recipe.kind) {
		case "make": return buildByMake(host, recipe, inHouse, guard);
		case "linux": return buildLinux(host, recipe, inHouse, guard);
		case "command": return buildByCommand(host, recipe, inHouse, guard);
	}
}
async function buildByMake(host, recipe, request, guard) {
	if (recipe.metaMode && !isGood(await host.run(shell`kldstat -q -m filemon`))) throw new BuilderError(`${host.name} has not loaded filemon(4), which meta mode needs: run "kldload filemon" there.`);
	const kept = await keptToolchain(host, recipe, request);
	return inTree(host, recipe, request, async (tree, mayReuse) => {
		const isKept = mayReuse && kept !== void 0 && await installToolchain(host, kept, `${tree}/obj`);
		return {
			built: await makeKernel(host, recipe, {
				...request,
				kept,
				isKept
			}, tree, guard),
			isOfOld: isKept
		};
	});
}
async function makeKernel(host, recipe, request, tree, guard) {
	const { sha256, cpus, rootArchive } = commandsOf[request.system];
	const jobs = recipe.jobs ?? Number(await host.output(cpus));
	const stage = `${tree}/stage`;
	const ofTests = recipe.cross === void 0 ? [] : [`${tree}/src/${bmakeTests}`];
	for (const path of [
		`${tree}/obj`,
		stage,
		...ofTests
	]) await host.output(buildFolder(request, path));
	const install = [`DESTDIR=${stage}`, ...[
		"NO_ROOT",
		"DB_FROM_SRC",
		"WITHOUT_KERNEL_SYMBOLS"
	].map((name) => `-D${name}`)];
	const { kept, isKept, diffPath } = request;
	const make = await makeFor(host, recipe, tree);
	const heading = isKept ? "The kernel-toolchain of an earlier base with the same sources is reused.\n" : "";
	const steps = stepsOf(host, request, `${tree}/src`, guard, heading);
	if (recipe.toolchain && !isKept) {
		const failed = await steps.run(make(jobs, "kernel-toolchain"));
		if (failed !== void 0) return failed;
		if (diffPath === void 0 && kept !== void 0) await keepToolchain(host, request, kept, `${tree}/obj`);
	}
	const failed = await steps.run(make(jobs, "buildkernel"));
	if (failed !== void 0) return failed;
	const kernel = `${stage}/boot/kernel`;
	const kernelsSeen = [];
	for (const [index, { number, output }] of request.layouts.entries()) {
		if (number !== 1) {
			await removeLinked(host, recipe, request, tree);
			const notLinked = await steps.run(linkAgain(make, jobs, number));
			if (notLinked?.kind === "out-of-disk") return notLinked;
			requireLinked(notLinked, host);
		}
		if (index > 0) await host.output(inJail(request, shell`rm -rf ${`${stage}/boot`}`));
		const notInstalled = await steps.run(make(1, "installkernel", install));
		if (notInstalled !== void 0) return notInstalled;
		kernelsSeen.push(await host.output(inJail(request, sha256(`${kernel}/kernel`))));
		const packed = `${stage}/packed`;
		if (recipe.cross !== void 0) {
			const unloadable = await whyNotLoadable(host, request, kernel);
			if (unloadable.length > 0) return {
				kind: "build-failed",
				log: steps.log,
				errors: unloadable
			};
		}
		await host.output(inJail(request, rootArchive(packed, kernel)));
		await take(host, request, packed, output);
	}
	requireDistinct(kernelsSeen, host);
	if (request.layouts.some(({ number }) => number !== 1)) await removeLinked(host, recipe, request, tree);
	const found = await host.run(inJail(request, shell`what -q -s ${`${kernel}/kernel`}`));
	const [uname = ""] = found.stdout.trim().split("\n");
	return {
		kind: "built",
		log: steps.log,
		uname: isGood(found) && uname !== "" ? uname : void 0
	};
}
/**
* Links a kernel again from its objects. sys.mk passes LDFLAGS to ld(1) without `-Wl,`, and KERNFAST of build(7) skips
* configuration and cleaning. Only code is reordered. Linker sets, such as those of SYSINIT(9), keep their order. So do
* modules: they are linked with -r, for which ld.lld keeps the order.
*/
const linkAgain = (make, jobs, seed) => make(jobs, "buildkernel", ["-DKERNFAST", "-DNO_MODULES"], [`LDFLAGS=-Wl,--shuffle-sections=.text*=${seed}`]);
/** Removes files that make(1) would consider already linked. */
async function removeLinked(host, { kernelConfig }, request, tree) {
	const where = [
		"-type",
		"f",
		"-path",
		`*/sys/${kernelConfig}/kernel*`
	];
	const names = [
		"(",
		"-name",
		"kernel",
		"-o",
		"-name",
		"kernel.full",
		")"
	];
	await host.output(inJail(request, shell`find ${`${tree}/obj`} ${[...where, ...names]} -delete`));
}
/** The kernel was linked once before, so the patch is not to blame for a failure. */
function requireLinked(failed, host) {
	if (failed === void 0) return;
	const why = failed.kind === "build-failed" ? failed.errors.join("; ") : failed.kind;
	throw new BuilderError(`A kernel could not be relinked on ${host.name} (${why}): fix that, or set \`layoutVariants: 1\`.`);
}
function requireDistinct(kernels, host) {
	if (new Set(kernels).size === kernels.length) return;
	throw new BuilderError(`A kernel relinked on ${host.name} is identical to the first one: its build must reorder code by $LAYOUT, or set \`layoutVariants: 1\`.`);
}
/**
* Switches: build(7), src.conf(5) and Makefile.inc1. NO_ROOT lets any user install. MAKEOBJDIRPREFIX counts only in the
* environment. Excludes the builder's make.conf, src.conf and modules of ports, so that ppsgate.yml alone defines a
* build.
*/
async function makeFor(host, recipe, tree) {
	const { kernelConfig, kernelConfigFolder, clean, metaMode, options, cross } = recipe;
	const program = cross === void 0 ? shell`make -C ${`${tree}/src`}` : crossMake(`${tree}/src`, await crossToolsOf(host, cross));
	return (jobs, target, more = [], environment = []) => {
		const words = [
			...[
				"__MAKE_CONF",
				"SRCCONF",
				"SRC_ENV_CONF"
			].map((name) => `${name}=/dev/null`),
			"LOCAL_MODULES=",
			"-DWITH_REPRODUCIBLE_BUILD",
			`KERNCONF=${kernelConfig}`,
			...kernelConfigFolder === void 0 ? [] : [`KERNCONFDIR=${kernelConfigFolder}`],
			...clean && cross === void 0 ? [] : ["-DNO_CLEAN"],
			...metaMode ? ["-DWITH_META_MODE"] : [],
			...options,
			...more,
			target
		];
		const variables = [`MAKEOBJDIRPREFIX=${tree}/obj`, ...environment];
		return shell`${cleanEnvironment} ${variables} ${program} -j ${jobs} ${words}`;
	};
}
async function buildByCommand(host, recipe, request, guard) {
	const { work, folder, system } = request;
	const written = `${work}/out/kernel`;
	await host.output(buildFolder(request, `${work}/out`));
	const steps = stepsOf(host, request, folder, guard);
	const archives = [];
	for (const [index, { number, output }] of request.layouts.entries()) {
		await host.run(inJail(request, shell`rm -f ${written}`));
		const variables = [
			`BASE_COMMIT=${request.baseCommit}`,
			`DIFF=${request.diffPath ?? ""}`,
			`KERNCONF=${recipe.kernelConfig}`,
			`LAYOUT=${number}`,
			`OUTPUT=${written}`
		];
		const command = shell`${cleanEnvironment} ${variables} ${recipe.argv}`;
		const failed = await steps.run(command);
		if (failed?.kind === "out-of-disk") return failed;
		if (index > 0) requireLinked(failed, host);
		if (failed !== void 0) return failed;
		if (!isGood(await host.run(inJail(request, shell`test -s ${written}`)))) throw new BuilderError(`"${recipe.argv[0]}" on ${host.name} succeeded but wrote no kernel to $OUTPUT.`);
		await take(host, request, written, output);
		archives.push(await host.output(commandsOf[system].sha256(output)));
	}
	requireDistinct(archives, host);
	return {
		kind: "built",
		log: steps.log,
		uname: void 0
	};
}

// src/kernel/kernel.ts
/**
* Returns faults of the patch as an outcome. Throws a BuilderError or a HostError for faults of the builder. Leaves
* only the cache on the builder and, if builds are not clean, the tree and objects of the last good one. A later build
* removes leftovers of a lost connection.
*/
async function buildKernel(host, written, request, options) {
	if (request.kind === "archive") return prebuilt(host, written.system, request, options.signal);
	const { system, folder, repository, remote } = written;
	const { signal, onProgress } = options;
	const { loaded } = request;
	const noRoot = loaded && whyNoRoot(written.recipe, loaded);
	if (noRoot !== void 0) throw new BuilderError(`No kernel is built: ${noRoot}.`);
	const work = `${folder}/builds/${randomUUID()}`;
	signal.throwIfAborted();
	await host.output(shell`mkdir -p ${`${folder}/cache`} ${work}`, { timeoutSeconds: 60 });
	try {
		const tree = await kernelTree(host, request, {
			repository,
			remote,
			work,
			signal
		});
		if (tree.kind === "does-not-apply") return tree;
		const recipe = await withNeededModules(host, written, tree.id, loaded, onProgress);
		const config = {
			...written,
			recipe
		};
		const tools = await toolsOf(host, config, signal);
		const key = await keyOf(host, config, tree.id, tools, signal);
		const cache = kernelCache(host, `${folder}/cache`, system);
		const sumName = (layout) => `${config.host ?? ""}:${config.port}${folder} ${layout.key}`;
		const layouts = (request.layouts ?? [1]).map((number) => {
			return {
				number,
				key: keyOfLayout(key, number),
				output: `${work}/kernel-${number}`
			};
		});
		const build = {
			key,
			cache,
			remember: (layout, sha256) => options.sums.set(sumName(layout), sha256),
			isTrusted: (layout, { sha256 }) => config.jail !== void 0 || options.sums.get(sumName(layout)) === sha256,
			recipe: {
				baseCommit: request.baseCommit,
				tree: tree.id,
				diffPath: tree.diffPath,
				work,
				tools,
				layouts
			}
		};
		const turn = {
			system,
			lock: `${folder}/lock`,
			owner: options.owner,
			waitSeconds: written.turnSeconds,
			signal
		};
		return await cached(build, signal) ?? await inTurn(host, turn, async () => await cached(build, signal) ?? await buildNow(host, config, build, options));
	} finally {
		await host.run(shell`rm -rf ${work}`, { timeoutSeconds: 60 }).catch(() => {});
	}
}
async function prebuilt(host, system, { path, sha256 }, signal) {
	const found = await host.run(commandsOf[system].sha256(path), { signal });
	if (!isGood(found) || sumIn(found.stdout) !== sha256) throw new BuilderError(`${path} on ${host.name} does not have the SHA-256 ${sha256}.`);
	return {
		kind: "built",
		key: sha256,
		archive: path,
		sha256,
		...await sizesOf(host, path),
		cached: true,
		seconds: 0,
		further: []
	};
}
/** Returns all layout variants or none: compiling is the slow part, and even one missing variant needs it. */
async function cached({ cache, isTrusted, recipe: { layouts } }, signal) {
	const found = [];
	for (const layout of layouts) {
		const note = await cache.find(layout.key, signal);
		if (note === void 0 || !isTrusted(layout, note)) return void 0;
		found.push({
			key: layout.key,
			archive: cache.archive(layout.key),
			...note
		});
	}
	return asBuild(found, true);
}
function asBuild([first, ...further], isCached) {
	if (first === void 0) throw new TypeError("No layout of a kernel was requested.");
	return {
		kind: "built",
		...first,
		cached: isCached,
		further
	};
}
async function buildNow(host, config, { key, cache, recipe, remember }, { signal, keepLog, onProgress, now }) {
	await host.output(shell`find ${`${config.folder}/builds`} -mindepth 1 -maxdepth 1 -mtime +3 -exec rm -rf {} +`);
	const problem = await jailProblem(host, config);
	if (problem !== void 0) throw new BuilderError(`${host.name}: ${problem.why}; ${problem.fix}.`);
	const freeBytes = await freeBytesOf(host, config.folder);
	if (freeBytes < config.minFreeBytes) return outOfDisk(host, config, freeBytes);
	const startedAt = now();
	const buildOutput = await buildByRecipe(host, config, recipe, {
		limitSeconds: config.limitSeconds,
		signal,
		onLine: (line) => {
			if (/^(?:>>>|===>) /.test(line)) onProgress(line);
		}
	}).catch((error) => {
		if (error instanceof HostError && error.message.includes("No space left on device")) return {
			kind: "out-of-disk",
			log: ""
		};
		throw error;
	});
	const log = `kernel-${key}.log`;
	await keepLog(log, buildOutput.log);
	if (buildOutput.kind === "out-of-disk") return outOfDisk(host, config, await freeBytesOf(host, config.folder));
	if (buildOutput.kind === "build-failed") return {
		kind: "build-failed",
		errors: buildOutput.errors,
		log
	};
	const seconds = now() - startedAt;
	const built = [];
	for (const layout of recipe.layouts) {
		const sha256 = sumIn(await host.output(commandsOf[config.system].sha256(layout.output)));
		const note = {
			sha256,
			...await sizesOf(host, layout.output),
			seconds,
			...buildOutput.uname !== void 0 && { uname: buildOutput.uname }
		};
		remember(layout, sha256);
		await cache.keep(layout.key, layout.output, note);
		built.push({
			key: layout.key,
			archive: cache.archive(layout.key),
			...note
		});
	}
	await cache.prune(new Set(recipe.layouts.map((layout) => layout.key)), config.cache);
	return asBuild(built, false);
}
/** Column 4 of the last line of `df -k -P`, in KiB (POSIX, df). */
async function freeBytesOf(host, folder) {
	const line = (await host.output(shell`df -k -P ${folder}`)).trim().split("\n").at(-1) ?? "";
	return Number(line.split(/\s+/)[3]) * 1024;
}
function outOfDisk(host, { folder, minFreeBytes }, freeBytes) {
	const gigabytes = (bytes) => `${(bytes / 1e9).toFixed(1)} GB`;
	return {
		kind: "out-of-disk",
		reason: `${folder} on ${host.name} has ${gigabytes(freeBytes)} free, and a build needs ${gigabytes(minFreeBytes)}.`
	};
}
/** Reads the whole archive, and so detects a damaged one. */
async function sizesOf(host, archive) {
	const unpacked = shell`tar -tf ${archive} > /dev/null && tar -xOf ${archive} | wc -c`;
	return {
		bytes: Number(await host.output(shell`wc -c < ${archive}`)),
		unpackedBytes: Number(await host.output(unpacked))
	};
}

// src/kernel/variant-kernel.ts
/** Returns faults of the variant as an outcome. Throws like `buildKernel`. */
async function buildVariant(host, builder, { variant, kernel, loaded, owner, now, sums, keepLog, notify, signal }) {
	const { baseCommit, diff, layouts } = kernel;
	const request = {
		kind: "tree",
		baseCommit,
		...layouts !== void 0 && { layouts },
		...loaded !== void 0 && { loaded },
		...diff !== void 0 && { diff: Buffer.from(diff, "base64") }
	};
	const built = await buildKernel(host, builder, request, {
		signal,
		keepLog: (name, text) => keepLog(`${pathName(variant)}-${name}`, text),
		onProgress: (line) => notify(`${variant}: ${line}`),
		now,
		sums,
		owner: `${owner} (${variant})`
	});
	if (built.kind === "built") return built;
	return {
		kind: "rejected",
		rejection: built.kind === "build-failed" ? {
			kind: "build-failed",
			message: built.errors.join("\n")
		} : {
			kind: built.kind,
			message: built.reason
		}
	};
}
/** Writes the archive atomically. Throws a BuilderError for a wrong checksum. */
async function fetchKernel(host, { archive, sha256 }, path, signal) {
	const partial = `${path}.part`;
	const file = openSync(partial, "w");
	const hash = createHash("sha256");
	try {
		const onStdout = (chunk) => {
			hash.update(chunk);
			for (let written = 0; written < chunk.length;) written += writeSync(file, chunk, written);
		};
		await host.run(shell`cat ${archive}`, {
			onStdout,
			signal
		});
		if (hash.digest("hex") !== sha256) throw new BuilderError(`${archive} on ${host.name} arrived with a SHA-256 other than ${sha256}.`);
		renameSync(partial, path);
	} finally {
		closeSync(file);
		rmSync(partial, { force: true });
	}
}

// src/kernel/linux-kernels.ts
/**
* The archive contains `boot/vmlinuz-RELEASE`, `boot/System.map-RELEASE` and `lib/modules/RELEASE`, or the output of a
* site's own command. It is untrusted, and may contain anything. Faults of the patch are outcomes; faults of the
* builder throw a BuilderError or a HostError.
*/
async function buildLinuxKernel(config, request) {
	const { variant, path, connect, notify, signal } = request;
	const builder = await withKernelConfig(config);
	signal.throwIfAborted();
	notify(`building the kernel of ${variant}`);
	const { host: name } = config;
	await using host = name === void 0 ? thisMachine() : await connect({
		...config,
		host: name
	}, "builder");
	const built = await buildVariant(host, builder, request);
	if (built.kind === "rejected") return built;
	await fetchKernel(host, built, path, signal);
	return {
		kind: "archive",
		path,
		sha256: built.sha256,
		cached: built.cached
	};
}
async function withKernelConfig({ recipe, ...place }) {
	if (recipe.kind === "command") return {
		...place,
		recipe
	};
	const kernelConfig = await readFile(recipe.configPath, "utf8").catch((error) => {
		throw new BuilderError(`The kernel's configuration ${recipe.configPath} cannot be read (${fileReasonOf(error)}).`);
	});
	return {
		...place,
		recipe: {
			...recipe,
			kernelConfig
		}
	};
}

export { buildLinuxKernel, buildVariant, fetchKernel, gitIn, whyNoRoot };