import { lastLine, pathName, reasonOf, shortened } from "../../../model/first-plain.js";
import { shell } from "../../../system/shell.js";
import { HostError, isGood, ownFolder, stdoutOf, uploadOverBreaks } from "../../../system/host/first-plain.js";
import { fieldsOf, nextRoot, slicesOf } from "../dut/first-plain.js";
import { BootMethodError, fileSystemsOf, sha256Of } from "./first-plain.js";
import { resetsAtPanic } from "../plain.js";
const { once } = globalThis.process.getBuiltinModule("node:events");
const { createReadStream } = globalThis.process.getBuiltinModule("node:fs");
const { Readable } = globalThis.process.getBuiltinModule("node:stream");
const { createHash } = globalThis.process.getBuiltinModule("node:crypto");
const { stat } = globalThis.process.getBuiltinModule("node:fs/promises");
const { spawn } = globalThis.process.getBuiltinModule("node:child_process");
const { pipeline } = globalThis.process.getBuiltinModule("node:stream/promises");
const { basename, dirname } = globalThis.process.getBuiltinModule("node:path/posix");

// src/lab/freebsd/boot/boot-modules.ts
/** Files loaded in addition to the running kernel: `zfs.ko`, `if_cxgbe.ko`. */
async function loadedFiles(host) {
	const names = (await host.output(shell`kldstat`)).split("\n").map((row) => row.split(/\s+/).at(-1));
	return new Set(names.flatMap((name) => name?.endsWith(".ko") ? name : []));
}
/** Call while the DUT runs its own kernel. Includes modules of loader.conf and rc.conf, and dependencies. */
async function loadedModules(host) {
	const listed = await host.run(shell`ls ${"/boot/modules"}`);
	const elsewhere = new Set(listed.stdout.split("\n"));
	const files = [...await loadedFiles(host)].filter((file) => !elsewhere.has(file));
	const [root] = await fileSystemsOf(host, ["/"]);
	return {
		names: files.map((file) => file.replace(/\.ko$/, "")),
		release: (await host.output(shell`uname -r`)).trim(),
		isRootOnZfs: root?.type === "zfs"
	};
}
/**
* Returns a clause on the first missing module; ignores modules that the machine's own kernel lacks, or has built in.
*/
async function missingModule(host, folder, { loaded, rootType }) {
	const files = [...await loadedByLoader(host), ...rootType === "zfs" ? ["zfs.ko"] : []];
	for (const file of new Set(files)) {
		if (!loaded.has(file) || await isThere(host, file, [folder, "/boot/modules"])) continue;
		if (await isInKernel(host, `${folder}/kernel`, file)) continue;
		return `${file} is neither in ${folder} nor in /boot/modules, but the loader needs it before the kernel starts: build it with the kernel, or install it in /boot/modules`;
	}
}
async function loadedByLoader(host) {
	const folder = "/boot/loader.conf.d";
	const more = (await textOf(host, shell`ls -1 ${folder}`)).split("\n").filter((name) => name.endsWith(".conf")).map((name) => `${folder}/${name}`);
	const settings = /* @__PURE__ */ new Map();
	for (const path of [
		"/boot/loader.conf",
		...more,
		"/boot/loader.conf.local"
	]) {
		const text = await textOf(host, shell`cat ${path}`);
		for (const [, name = "", value = ""] of text.matchAll(/^\s*([\w.-]+)\s*=\s*"?([^"\s#]*)/gm)) settings.set(name, value);
	}
	return [...settings].flatMap(([setting, value]) => {
		const name = /^(.+)_load$/.exec(setting)?.[1];
		if (name === void 0 || settings.has(`${name}_type`) || !/^yes$/i.test(value)) return [];
		return `${(settings.get(`${name}_name`) ?? name).replace(/\.ko$/, "")}.ko`;
	});
}
async function textOf(host, command) {
	const outcome = await host.run(command);
	return isGood(outcome) ? outcome.stdout : "";
}
async function isThere(host, file, folders) {
	for (const folder of folders) {
		const outcome = await host.run(shell`test -e ${`${folder}/${file}`}`);
		if (isGood(outcome)) return true;
	}
	return false;
}
/** The configuration is known only if the kernel was built to include it. */
async function isInKernel(host, kernel, file) {
	const name = file.replace(/^if_|\.ko$/g, "").toLowerCase();
	return (await textOf(host, shell`config -x ${kernel}`)).split("\n").some((line) => {
		const [kind = "", option, more] = line.trim().split(/\s+/);
		return /^(?:device|options)$/.test(kind) && option?.toLowerCase() === name && more === void 0;
	});
}

// src/lab/freebsd/boot/boot-archive.ts
/** Keeps a partial archive when the machine is lost: the next upload of the same archive resumes it. */
const archiveFolder = "/var/tmp/ppsgate";
async function withArchive(machine, kernel, use) {
	const reason = await tooLittleSpace(machine.host(), kernel);
	if (reason !== void 0) return {
		kind: "no-space",
		reason
	};
	const archive = `${archiveFolder}/${kernel.sha256}.tar`;
	await machine.host().output(ownFolder(archiveFolder));
	await uploadOverBreaks(machine.host(), {
		path: kernel.path,
		remotePath: archive,
		mode: 384,
		sha256: kernel.sha256,
		sumOf: sha256Of,
		reconnect: machine.reconnect
	});
	const outcome = await use(archive);
	await machine.host().output(shell`rm -rf ${archive}`);
	return outcome;
}
/** Unpacks into an existing folder; throws a HostError for an archive that tar(1) cannot read. */
async function unpack(host, archive, folder) {
	const unpacked = await host.run(shell`tar -x -p -f ${archive} -C ${folder}`);
	if (isGood(unpacked)) return { kind: "installed" };
	const noSpace = /^.*No space left on device.*$/m.exec(unpacked.stderr)?.[0];
	if (noSpace !== void 0) return {
		kind: "no-space",
		reason: noSpace
	};
	throw new HostError("command-failed", `tar cannot unpack ${archive} on ${host.name}: ${lastLine(unpacked.stderr) ?? "it said nothing"}`);
}
async function tooLittleSpace(host, kernel) {
	const [boot, temporary] = await fileSystemsOf(host, ["/boot", "/var/tmp"]);
	if (boot === void 0 || temporary === void 0) return void 0;
	const archiveBytes = (await stat(kernel.path)).size;
	const isShared = diskOf(boot.device) === diskOf(temporary.device);
	const bootBytes = kernel.unpackedBytes + (isShared ? archiveBytes : 0);
	return lackOf("/boot", boot.availableBytes, bootBytes) ?? lackOf("/var/tmp", temporary.availableBytes, archiveBytes);
}
/** A pool's datasets share its space. */
const diskOf = (device) => device.startsWith("/") ? device : device.split("/")[0];
function lackOf(folder, availableBytes, neededBytes) {
	if (availableBytes >= neededBytes) return void 0;
	const mebibytes = (bytes) => `${Math.ceil(bytes / 2 ** 20)} MiB`;
	return `${folder} has ${mebibytes(availableBytes)} left and a kernel needs ${mebibytes(neededBytes)}`;
}

// src/lab/freebsd/boot/boot-environment.ts
function bootEnvironment(machine) {
	const { own, host } = machine;
	/** By variant; `archive` is the SHA-256 of the archive. */
	const installed = /* @__PURE__ */ new Map();
	return {
		async install({ variant, ...kernel }, kept) {
			if (installed.get(variant)?.archive === kernel.sha256) return { kind: "installed" };
			if (kept !== void 0) await destroyOthers([variant, ...kept]);
			const name = environmentOf(variant);
			return withArchive(machine, {
				variant,
				...kernel
			}, async (archive) => {
				installed.delete(variant);
				if ((await ourEnvironments(host())).includes(name)) await destroy(host(), name);
				await host().output(shell`bectl create -e ${basename(own.root)} ${name}`);
				const filled = await fill(machine, name, archive);
				if (filled.kind !== "filled") {
					await destroy(host(), name);
					return filled;
				}
				const system = {
					...own,
					root: `${dirname(own.root)}/${name}`,
					sha256: filled.sha256
				};
				installed.set(variant, {
					archive: kernel.sha256,
					system
				});
				return { kind: "installed" };
			});
		},
		async arm(variant) {
			if (variant === void 0) {
				await host().output(shell`bectl activate -T`);
				return own;
			}
			const system = installed.get(variant)?.system;
			if (system === void 0) throw new TypeError(`The variant ${variant} was never installed.`);
			await host().output(shell`bectl activate -t ${basename(system.root)}`);
			return system;
		},
		async clear() {
			for (const name of await ourEnvironments(host())) await destroy(host(), name);
			await host().output(shell`rm -rf ${archiveFolder}`);
			installed.clear();
		}
	};
	async function destroyOthers(variants) {
		const kept = new Set(variants.map(environmentOf));
		const others = (await ourEnvironments(host())).filter((name) => !kept.has(name));
		if (others.length === 0) return;
		const [root] = await fileSystemsOf(host(), ["/"]);
		const gone = others.filter((name) => name !== basename(root?.device ?? ""));
		for (const name of gone) await destroy(host(), name);
		for (const variant of installed.keys()) if (gone.includes(environmentOf(variant))) installed.delete(variant);
	}
}
const prefix$1 = "ppsgate.";
const environmentOf = (variant) => `${prefix$1}${pathName(variant)}`;
async function ourEnvironments(host) {
	return (await host.output(shell`bectl list -H`)).split("\n").map((row) => row.split("	")[0] ?? "").filter((name) => name.startsWith(prefix$1));
}
async function destroy(host, name) {
	await host.output(shell`bectl destroy -F -o ${name}`);
}
/** Replaces the machine's own kernel in the clone, as both have the same loader.conf. */
async function fill(machine, name, archive) {
	const { own, modules } = machine;
	const host = machine.host();
	const mounted = await mount(host, own, name);
	const target = `${mounted}${dirname(own.kernel)}`;
	try {
		await host.output(shell`rm -rf ${target}`);
		await host.output(shell`mkdir -p ${target}`);
		const outcome = await unpack(host, archive, target);
		if (outcome.kind !== "installed") return outcome;
		const reason = await missingModule(host, target, {
			loaded: modules,
			rootType: "zfs"
		});
		if (reason !== void 0) return {
			kind: "lacks-module",
			reason: reason.replace(target, dirname(own.kernel))
		};
		await addLoaderLine(host, `${mounted}/boot/loader.conf.local`);
		return {
			kind: "filled",
			sha256: await sha256Of(host, `${target}/kernel`)
		};
	} finally {
		await host.output(shell`bectl unmount ${name}`);
		await host.output(shell`rmdir ${mounted}`);
	}
}
/** Checks the mount point with df(1): `fill` removes a folder there, which elsewhere could be the running kernel. */
async function mount(host, own, name) {
	const path = (await host.output(shell`bectl mount ${name}`)).trim();
	const dataset = `${dirname(own.root)}/${name}`;
	const [fileSystem] = /^\/[\w./-]+$/.test(path) ? await fileSystemsOf(host, [path]) : [];
	if (fileSystem?.device === dataset && fileSystem.mountedOn === path) return path;
	throw new HostError("command-failed", `"bectl mount ${name}" on ${host.name} prints ${JSON.stringify(shortened(path))}, where ${dataset} is not mounted, so nothing was installed: check the output of \`mount\` there.`);
}
async function addLoaderLine(host, file) {
	const there = await host.run(shell`cat ${file}`);
	const text = [
		isGood(there) ? there.stdout.trimEnd() : "",
		resetsAtPanic.line,
		""
	].filter((line, at) => at > 0 || line !== "");
	await host.upload(Buffer.from(text.join("\n")), file, 420);
}

// src/lab/freebsd/boot/boot-nanobsd.ts
/**
* The other slice holds the image booted last, and boots until the machine's own is active again. Nothing falls back
* automatically: after a kernel without ssh, a person must use the boot menu. Never saves the configuration.
*/
function nanobsd({ own, host }) {
	const images = /* @__PURE__ */ new Map();
	let other;
	return {
		needsOwn: (variant, running) => other?.sha256 !== images.get(variant)?.sha256 || other?.system.root !== running.root,
		async install(image) {
			const hash = createHash("sha256");
			await pipeline(createReadStream(image.path), hash);
			const actual = hash.digest("hex");
			if (actual !== image.sha256) throw new Error(`The image ${image.path} has the SHA-256 ${actual} instead of ${image.sha256}.`);
			images.set(image.variant, image);
			return { kind: "installed" };
		},
		async arm(variant) {
			if (variant === void 0) {
				await goBack(host(), own.root);
				return own;
			}
			const image = images.get(variant);
			if (image === void 0) throw new TypeError(`The variant ${variant} was never installed.`);
			const [running] = await fileSystemsOf(host(), ["/"]);
			if (running?.device !== own.root) {
				if (other?.sha256 === image.sha256 && await nextRoot(host()) === running?.device) return other.system;
				throw new TypeError("An upgrade from there would overwrite its own slice.");
			}
			other = void 0;
			await nextRoot(host());
			const stdin = Readable.from(decompressed(image.path), { objectMode: false });
			try {
				await host().output(shell`upgrade`, { stdin });
			} finally {
				stdin.destroy();
			}
			const root = await nextRoot(host());
			const sha256 = await sumOn(host(), root, own.kernel);
			other = {
				sha256: image.sha256,
				system: {
					root,
					kernel: own.kernel,
					sha256
				}
			};
			return other.system;
		},
		async clear() {
			images.clear();
			other = void 0;
		}
	};
}
/** Runs xz(1), which Node lacks. Throws before the end of the stream if xz fails, so that no partial image counts. */
async function* decompressed(path) {
	const xz = spawn("xz", [
		"-d",
		"-c",
		"--",
		path
	], { stdio: [
		"ignore",
		"pipe",
		"ignore"
	] });
	const ended = once(xz, "close").then(([code]) => code === 0 ? void 0 : `it exited with ${code}`, reasonOf);
	try {
		for await (const chunk of xz.stdout) yield chunk;
		const failure = await ended;
		if (failure === void 0) return;
		throw new Error(`xz cannot decompress ${path}: ${failure}.`);
	} finally {
		xz.kill();
	}
}
/** On an MBR, only the appliance's own command changes everything that belongs to a slice. */
async function goBack(host, ownRoot) {
	const slices = await slicesOf(host);
	const [root] = await fileSystemsOf(host, ["/"]);
	if (slices.scheme === "GPT") await makeActive(host, slices, ownRoot);
	else if (root?.device !== ownRoot && slices.root !== ownRoot) await host.output(shell`system rollback`, { stdin: "y\n" });
	const next = await nextRoot(host);
	if (next === ownRoot) return;
	throw new HostError("command-failed", `${host.name} would boot from ${next} instead of its own ${ownRoot}: make that slice active manually.`);
}
/** Replaces `system rollback` on a GPT, which dies with both slices active. Each step may be repeated. */
async function makeActive(host, slices, ownRoot) {
	const { providers, active, disk } = slices;
	const own = providers.get(ownRoot) ?? "";
	if (slices.root === ownRoot && active.length === 1 && active[0] === own) return;
	const pair = [...providers].filter(([device]) => stemOf(device) === stemOf(ownRoot));
	const [ownIndex, otherIndex] = [pair.find(([device]) => device === ownRoot), pair.find(([device]) => device !== ownRoot)].map((slice) => /p(\d+)$/.exec(slice?.[1] ?? "")?.[1]);
	const isPair = pair.length === 2 && ownIndex !== void 0 && otherIndex !== void 0;
	const isOfPair = active.every((provider) => pair.some(([, one]) => one === provider));
	if (!isPair || !isOfPair) throw new HostError("command-failed", `${host.name} does not have exactly its two slices, or another slice is active: check \`gpart show -p ${disk}\` there, and make ${ownRoot} active manually.`);
	await writeFstab(host, slices.fstab, ownRoot);
	await host.output(shell`gpart set -a bootme -i ${ownIndex} ${disk}`);
	if (active.some((provider) => provider !== own)) await host.output(shell`gpart unset -a bootme -i ${otherIndex} ${disk}`);
}
const stemOf = (device) => device.replace(/[12]$/, "");
/** Every boot recreates /etc, and copies /cfg over it. */
async function writeFstab(host, fstab, root) {
	const lines = fstab.split("\n").map((line) => {
		const [device = "", path] = fieldsOf(line);
		return path === "/" ? line.replace(device, () => root) : line;
	});
	const bytes = Buffer.from(lines.join("\n"));
	await host.upload(bytes, "/etc/fstab", 420);
	const [cfg] = await fileSystemsOf(host, ["/cfg"]);
	const wasMounted = cfg?.mountedOn === "/cfg";
	if (!wasMounted) await host.output(shell`mount /cfg`);
	try {
		await host.upload(bytes, "/cfg/fstab", 420);
	} finally {
		if (!wasMounted) await host.output(shell`umount /cfg`);
	}
}
async function sumOn(host, device, file) {
	await host.output(shell`mount -t ufs -o ro ${device} /mnt`);
	try {
		return await sha256Of(host, `/mnt${file}`);
	} finally {
		await host.output(shell`umount /mnt`);
	}
}

// src/lab/freebsd/boot/boot-nextboot.ts
function nextboot(machine) {
	const { own, host } = machine;
	const installed = /* @__PURE__ */ new Map();
	return {
		async install(kernel, kept) {
			if (!await isInstalled(host(), kernel)) {
				if (kept !== void 0) await removeOthers([kernel.variant, ...kept]);
				const outcome = await installFolder(machine, kernel);
				if (outcome.kind !== "installed") return outcome;
			}
			const file = `${folderOf(kernel.variant)}/kernel`;
			const sha256 = await sha256Of(host(), file);
			installed.set(kernel.variant, {
				root: own.root,
				kernel: file,
				sha256
			});
			return { kind: "installed" };
		},
		async arm(variant) {
			if (variant === void 0) {
				await cancelNextBoot(host());
				return own;
			}
			const system = installed.get(variant);
			if (system === void 0) throw new TypeError(`The variant ${variant} was never installed.`);
			const name = dirname(system.kernel).replace("/boot/", "");
			await order(host(), name);
			return system;
		},
		async clear() {
			await host().output(shell`rm -rf ${[archiveFolder, ...await ourFolders(host())]}`);
			installed.clear();
		}
	};
	/** Keeps the running kernel's folder, as modules may yet be loaded from it. */
	async function removeOthers(variants) {
		const kept = new Set(variants.map(folderOf));
		const others = (await ourFolders(host())).filter((folder) => !kept.has(folder));
		if (others.length === 0) return;
		const running = dirname((await host().output(shell`sysctl -n kern.bootfile`)).trim());
		const gone = others.filter((folder) => folder !== running);
		for (const folder of gone) await host().output(shell`rm -rf ${[markIn(folder), folder]}`);
		for (const variant of installed.keys()) if (gone.includes(folderOf(variant))) installed.delete(variant);
	}
}
const prefix = "ppsgate.";
const folderOf = (variant) => `/boot/${prefix}${pathName(variant)}`;
async function ourFolders(host) {
	return (await host.output(shell`ls -1 /boot`)).split("\n").filter((name) => name.startsWith(prefix)).map((name) => `/boot/${name}`);
}
const markIn = (folder) => `${folder}/ppsgate.sha256`;
async function isInstalled(host, { variant, sha256 }) {
	return (await host.run(shell`cat ${markIn(folderOf(variant))}`)).stdout === sha256;
}
async function installFolder(machine, kernel) {
	const folder = folderOf(kernel.variant);
	return withArchive(machine, kernel, async (archive) => {
		const host = machine.host();
		const part = `${folder}.part`;
		await host.output(shell`rm -rf ${part} ${folder}`);
		await host.output(shell`mkdir -p ${part}`);
		const unpacked = await unpack(host, archive, part);
		const outcome = unpacked.kind === "installed" ? await checkedModules(machine, part, folder) : unpacked;
		if (outcome.kind !== "installed") {
			await host.output(shell`rm -rf ${part}`);
			return outcome;
		}
		await host.output(shell`mv -f ${part} ${folder}`);
		await host.upload(Buffer.from(kernel.sha256), markIn(folder), 384);
		return outcome;
	});
}
async function checkedModules(machine, part, folder) {
	const host = machine.host();
	const [root] = await fileSystemsOf(host, ["/"]);
	const needs = {
		loaded: machine.modules,
		rootType: root?.type ?? ""
	};
	const reason = await missingModule(host, part, needs);
	if (reason === void 0) return { kind: "installed" };
	return {
		kind: "lacks-module",
		reason: reason.replace(part, folder)
	};
}
async function order(host, name) {
	const command = shell`nextboot -k ${name} -e ${resetsAtPanic.line}`;
	const outcome = await host.run(command);
	const failure = /^.*zfsbootcfg.*$/m.exec(outcome.stderr)?.[0];
	if (outcome.kind === "exited" && outcome.code !== 0 && failure !== void 0) throw new BootMethodError(`The nextboot(8) of ${host.name} cannot select a kernel on ZFS (${failure}): choose \`boot.method: boot-environment\` in ppsgate.yml, or update the FreeBSD there.`);
	stdoutOf(outcome, host.name, command);
}
/**
* Ignores failures, as nextboot(8) may fail without an order. On ZFS it removes the file, but leaves the loader's order
* in the pool.
*/
async function cancelNextBoot(host) {
	await host.run(shell`nextboot -D`);
	const [boot] = await fileSystemsOf(host, ["/boot"]);
	const pool = boot?.type === "zfs" ? boot.device.split("/")[0] : void 0;
	if (pool !== void 0 && await isOrderedIn(host, pool)) await host.output(shell`zfsbootcfg ${inPool(pool)} -k nextboot_enable -v NO`);
	const test = await host.run(shell`test -e ${"/boot/nextboot.conf"}`);
	const hasFile = test.kind !== "exited" || test.code === 0;
	if (!hasFile && (pool === void 0 || !await isOrderedIn(host, pool))) return;
	const remains = hasFile ? "/boot/nextboot.conf" : `nextboot_enable in the pool ${pool}`;
	throw new HostError("command-failed", `"nextboot -D" on ${host.name} leaves ${remains} behind: remove it, or the next boot uses another kernel.`);
}
/** The command fails if the pool never had an order. */
async function isOrderedIn(host, pool) {
	const outcome = await host.run(shell`zfsbootcfg ${inPool(pool)} -p`);
	return /\bnextboot_enable\b.*\bYES\b/.test(outcome.stdout);
}
const inPool = (pool) => [
	"-z",
	pool,
	"-n",
	"freebsd:nvstore"
];

export { bootEnvironment, loadedFiles, loadedModules, nanobsd, nextboot };