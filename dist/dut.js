import { driverSettingsOf, explainedByKernel, firmwareNames, lastLine, movesByItself, pathName, reasonOf, shortened } from "./words.js";
import { HostError, commandText, nsPerTick, ownFolder, shell, stdoutOf, uploadOverBreaks } from "./host.js";
import { PowerError } from "./power.js";
import { scenarioRules } from "./scenario.js";
import { once } from "node:events";
import { spawn } from "node:child_process";
import { createReadStream, readFileSync } from "node:fs";
import { BlockList, isIPv4, isIPv6 } from "node:net";
import { PassThrough, Readable } from "node:stream";
import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { basename, dirname } from "node:path/posix";

// src/dut/freebsd-boot-system.ts
/** What runs now. */
async function runningSystem(host) {
	const [bootfile, [root]] = await Promise.all([host.output(shell`sysctl -n kern.bootfile`), fileSystemsOf(host, ["/"])]);
	const kernel = bootfile.trim();
	return {
		root: root?.device ?? "",
		kernel,
		sha256: await sha256Of(host, kernel)
	};
}
/** Why a running system is not the wanted one; undefined where it is. */
function whyOther(running, wanted) {
	const name = ({ root, kernel }) => running.root === wanted.root ? kernel : `${kernel} of ${root}`;
	if (!isSamePlace(running, wanted)) return `${name(running)} came up instead of ${name(wanted)}`;
	if (running.sha256 === wanted.sha256) return void 0;
	return `${name(running)} has another checksum than before the boot`;
}
/** Laid by an experiment: by nextboot(8) in a folder, by bectl(8) in an environment of that name. */
const isOurs = ({ root, kernel }) => kernel.startsWith("/boot/ppsgate.") || basename(root).startsWith("ppsgate.");
const isSamePlace = (one, other) => one.root === other.root && one.kernel === other.kernel;
const sha256Of = async (host, file) => (await host.output(shell`sha256 -q ${file}`)).trim();
/** Those that the given paths lie on, in their order. */
async function fileSystemsOf(host, paths) {
	const [, ...rows] = (await host.output(shell`df -k -T ${paths}`)).trim().split("\n");
	return rows.map((row) => {
		const [device = "", type = "", , , kibibytes, , ...place] = row.split(/\s+/);
		return {
			device,
			type,
			availableBytes: Number(kibibytes) * 1024,
			mountedOn: place.join(" ")
		};
	});
}
/** Name of a variable in the kernel's environment, which every boot makes anew. */
const mark = "ppsgate.boot";
/**
* Before a reboot, which is proven by the loss of this: kern.boottime will not do, as it moves whenever the clock is set,
* and kern.boot_id is not in FreeBSD 12.
*/
const markBoot = async (host) => {
	await host.output(shell`kenv ${`${mark}=1`}`);
};
/** An environment that cannot be read, or is empty, proves nothing. */
async function hasBootedSinceMark(host) {
	const names = (await host.output(shell`kenv -N`)).split("\n").filter(Boolean);
	return names.length > 0 && !names.includes(mark);
}

// src/dut/freebsd-boot-archive.ts
/** Half an archive stays here when the machine is lost: who lays the same again goes on from there. */
const archiveFolder = "/var/tmp/ppsgate";
/** Uploads an archive where there is space for it and what is in it, and takes it away after its use. */
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
/** Into a folder that is there; throws a HostError for an archive that tar(1) cannot read. */
async function unpack(host, archive, folder) {
	const unpacked = await host.run(shell`tar -x -p -f ${archive} -C ${folder}`);
	if (unpacked.kind === "exited" && unpacked.code === 0) return { kind: "laid" };
	const said = lastLine(unpacked.stderr) ?? "it said nothing";
	const lacking = /^.*No space left on device.*$/m.exec(unpacked.stderr)?.[0];
	if (lacking !== void 0) return {
		kind: "no-space",
		reason: lacking
	};
	throw new HostError("command-failed", `tar cannot unpack ${archive} on ${host.name}: ${said}`);
}
async function tooLittleSpace(host, kernel) {
	const [boot, temporary] = await fileSystemsOf(host, ["/boot", "/var/tmp"]);
	if (boot === void 0 || temporary === void 0) return void 0;
	const archiveBytes = (await stat(kernel.path)).size;
	const isShared = diskOf(boot.device) === diskOf(temporary.device);
	const bootBytes = kernel.unpackedBytes + (isShared ? archiveBytes : 0);
	return lackOf("/boot", boot.availableBytes, bootBytes) ?? lackOf("/var/tmp", temporary.availableBytes, archiveBytes);
}
/** The datasets of a pool share its space. */
const diskOf = (device) => device.startsWith("/") ? device : device.split("/")[0];
function lackOf(folder, availableBytes, neededBytes) {
	if (availableBytes >= neededBytes) return void 0;
	const mebibytes = (bytes) => `${Math.ceil(bytes / 2 ** 20)} MiB`;
	return `${folder} has ${mebibytes(availableBytes)} left and a kernel needs ${mebibytes(neededBytes)}`;
}

// src/dut/freebsd-boot-modules.ts
/** The files that are loaded beside the kernel that runs: `zfs.ko`, `if_cxgbe.ko`. */
async function loadedFiles$1(host) {
	const names = (await host.output(shell`kldstat`)).split("\n").map((row) => row.split(/\s+/).at(-1));
	return new Set(names.flatMap((name) => name?.endsWith(".ko") ? name : []));
}
/**
* The first that a kernel's folder lacks, as a clause; undefined where none does. What loader.conf names and the own kernel
* runs without is not needed, nor what the kernel has in itself.
*/
async function lackingModule(host, folder, { loaded, rootType }) {
	const files = [...await loadedByLoader(host), ...rootType === "zfs" ? ["zfs.ko"] : []];
	for (const file of new Set(files)) {
		if (!loaded.has(file) || await isThere(host, file, [folder, "/boot/modules"])) continue;
		if (await isInKernel(host, `${folder}/kernel`, file)) continue;
		return `${file} is neither in ${folder} nor in /boot/modules, and the loader needs it before the kernel is up: build it with the kernel, or lay it in /boot/modules`;
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
	return outcome.kind === "exited" && outcome.code === 0 ? outcome.stdout : "";
}
async function isThere(host, file, folders) {
	for (const folder of folders) {
		const found = await host.run(shell`test -e ${`${folder}/${file}`}`);
		if (found.kind === "exited" && found.code === 0) return true;
	}
	return false;
}
/** Where it was built with its configuration in it. */
async function isInKernel(host, kernel, file) {
	const name = file.replace(/^if_|\.ko$/g, "").toLowerCase();
	return (await textOf(host, shell`config -x ${kernel}`)).split("\n").some((line) => {
		const [kind = "", what, more] = line.trim().split(/\s+/);
		return /^(?:device|options)$/.test(kind) && what?.toLowerCase() === name && more === void 0;
	});
}

// src/dut/freebsd-panic.ts
/** A kernel with the debugger in it stops at its prompt otherwise, and nobody learns what it panicked of. */
const resetsAtPanic = {
	name: "debug.debugger_on_panic",
	value: 0,
	/** The same setting as a line for the loader, or for nextboot(8). */
	line: "debug.debugger_on_panic=0"
};
async function tracesOf(host) {
	const [messages, dump] = await Promise.all([host.output(shell`dmesg -a`), host.run(shell`cat ${"/var/crash/info.last"}`)]);
	return {
		dump: dump.kind === "exited" && dump.code === 0 ? dump.stdout.trim() : void 0,
		messages: messages.trimEnd().split("\n")
	};
}
/** Time limit: a site may have no savecore(8) at boot, and what it never saves tells nothing. */
const mostSaveSeconds = 300;
const secondsBetweenLooks$1 = 5;
/**
* savecore(8) is not ordered against sshd: the first login may come before a dump is saved. `-C` succeeds while there is
* one that is not.
*/
async function waitForDump(host, sleep) {
	for (let seconds = 0; seconds < mostSaveSeconds; seconds += secondsBetweenLooks$1) {
		const unsaved = await host.run(shell`savecore -C`);
		if (unsaved.kind !== "exited" || unsaved.code !== 0) return;
		await sleep(secondsBetweenLooks$1);
	}
}
/** The first panic is the cause of all that follow. */
function panicSince(before, now) {
	const dumped = /^[ \t]*Panic String: (.+)$/m.exec(now.dump ?? "")?.[1];
	if (now.dump !== before.dump && dumped !== void 0) return dumped;
	for (const line of newLines(before.messages, now.messages)) {
		const panic = /^(?:\[\d+(?:\.\d+)?\] )?panic: (.+)$/.exec(line)?.[1];
		if (panic !== void 0) return panic;
	}
}
/** What is left of the old lines is at the beginning; where nothing is, all are new. */
function newLines(before, now) {
	const isLeft = (first) => before.slice(first).every((line, index) => line === now[index]);
	const first = before.findIndex((_, index) => isLeft(index));
	return first === -1 ? now : now.slice(before.length - first);
}

// src/dut/freebsd-boot-environment.ts
function bootEnvironment(machine) {
	const { own, host } = machine;
	/** What was laid, by variant, with the SHA-256 of the archive that it came from. */
	const laid = /* @__PURE__ */ new Map();
	return {
		async lay({ variant, ...kernel }, wanted) {
			if (laid.get(variant)?.archive === kernel.sha256) return { kind: "laid" };
			if (wanted !== void 0) await destroyOthers([variant, ...wanted]);
			const name = environmentOf(variant);
			return withArchive(machine, {
				variant,
				...kernel
			}, async (archive) => {
				laid.delete(variant);
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
				laid.set(variant, {
					archive: kernel.sha256,
					system
				});
				return { kind: "laid" };
			});
		},
		async arm(variant) {
			if (variant === void 0) {
				await host().output(shell`bectl activate -T`);
				return own;
			}
			const system = laid.get(variant)?.system;
			if (system === void 0) throw new TypeError(`The variant ${variant} was never laid.`);
			await host().output(shell`bectl activate -t ${basename(system.root)}`);
			return system;
		},
		async clear() {
			for (const name of await ourEnvironments(host())) await destroy(host(), name);
			await host().output(shell`rm -rf ${archiveFolder}`);
			laid.clear();
		}
	};
	/** But for the one that runs. */
	async function destroyOthers(variants) {
		const kept = new Set(variants.map(environmentOf));
		const others = (await ourEnvironments(host())).filter((name) => !kept.has(name));
		if (others.length === 0) return;
		const [root] = await fileSystemsOf(host(), ["/"]);
		const gone = others.filter((name) => name !== basename(root?.device ?? ""));
		for (const name of gone) await destroy(host(), name);
		for (const variant of laid.keys()) if (gone.includes(environmentOf(variant))) laid.delete(variant);
	}
}
const prefix$1 = "ppsgate.";
const environmentOf = (variant) => `${prefix$1}${pathName(variant)}`;
async function ourEnvironments(host) {
	return (await host.output(shell`bectl list -H`)).split("\n").map((row) => row.split("	")[0] ?? "").filter((name) => name.startsWith(prefix$1));
}
/** Destroys an environment, mounted or not, with the snapshot that it was cloned from. */
async function destroy(host, name) {
	await host.output(shell`bectl destroy -F -o ${name}`);
}
/** The kernel takes the place of the machine's own, as both have the same loader.conf. */
async function fill(machine, name, archive) {
	const { own, modules } = machine;
	const host = machine.host();
	const place = await mount(host, own, name);
	const target = `${place}${dirname(own.kernel)}`;
	try {
		await host.output(shell`rm -rf ${target}`);
		await host.output(shell`mkdir -p ${target}`);
		const outcome = await unpack(host, archive, target);
		if (outcome.kind !== "laid") return outcome;
		const reason = await lackingModule(host, target, {
			loaded: modules,
			rootType: "zfs"
		});
		if (reason !== void 0) return {
			kind: "lacks-module",
			reason: reason.replace(target, dirname(own.kernel))
		};
		await addLoaderLine(host, `${place}/boot/loader.conf.local`);
		return {
			kind: "filled",
			sha256: await sha256Of(host, `${target}/kernel`)
		};
	} finally {
		await host.output(shell`bectl unmount ${name}`);
		await host.output(shell`rmdir ${place}`);
	}
}
/**
* Where it is mounted, as df(1) proves: a folder below is removed, and below another place, or below none, that would be
* the kernel that runs.
*/
async function mount(host, own, name) {
	const said = (await host.output(shell`bectl mount ${name}`)).trim();
	const dataset = `${dirname(own.root)}/${name}`;
	const [found] = /^\/[\w./-]+$/.test(said) ? await fileSystemsOf(host, [said]) : [];
	if (found?.device === dataset && found.mountedOn === said) return said;
	throw new HostError("command-failed", `"bectl mount ${name}" on ${host.name} says ${JSON.stringify(shortened(said))}, where ${dataset} is not mounted, so nothing was laid: see what \`mount\` tells there.`);
}
async function addLoaderLine(host, file) {
	const there = await host.run(shell`cat ${file}`);
	const text = [
		there.kind === "exited" && there.code === 0 ? there.stdout.trimEnd() : "",
		resetsAtPanic.line,
		""
	].filter((line, at) => at > 0 || line !== "");
	await host.upload(Buffer.from(text.join("\n")), file, 420);
}

// src/dut/freebsd-slices.ts
/** What marks the slice that boots. */
const attributes = {
	MBR: "active",
	GPT: "bootme"
};
/** What boots next: both have to agree on it. */
async function nextRoot(host) {
	const slices = await slicesOf(host);
	const wanted = slices.providers.get(slices.root);
	const [active, ...more] = slices.active;
	if (active === wanted && more.length === 0) return slices.root;
	const marked = slices.active.join(" and ") || "none";
	throw refusal(host, `/etc/fstab has its root on ${slices.root} (${wanted}), and ${attributes[slices.scheme]} on ${slices.disk} is ${marked}`, "see `gpart show -p` there, and make one slice the active one by hand");
}
/** Throws for whatever is not an appliance's disk as BSDRP lays it. */
async function slicesOf(host) {
	const fstab = await host.output(shell`cat /etc/fstab`);
	const root = fstab.split("\n").map(fieldsOf).find(([, place]) => place === "/")?.[0];
	if (root === void 0) throw noAppliance(host, "/etc/fstab names no root");
	const providers = providersOf(await host.output(shell`glabel status -s`));
	const [, disk] = /^([a-z]+\d+)[ps]\d+$/.exec(providers.get(root) ?? "") ?? [];
	if (disk === void 0) throw noAppliance(host, `glabel(8) knows no slice by the name of its root, ${root}`);
	const table = readTable(await host.output(shell`gpart show -p ${disk}`));
	if (table === void 0) throw noAppliance(host, `${disk} has neither an MBR nor a GPT whose attributes are known`);
	return {
		disk,
		root,
		fstab,
		providers,
		...table
	};
}
const fieldsOf = (line) => line.trim().split(/\s+/);
/** `gpt/BSDRP1  N/A  ada0p3`; of a slice with partitions in it the first is the root. */
const providersOf = (status) => new Map(status.split("\n").map(fieldsOf).flatMap(([label, , provider]) => provider === void 0 ? [] : [[`/dev/${label}`, provider.replace(/(s\d+)a$/, "$1")]]));
/** `=> 40 31277152 ada0 GPT (15G)`, and rows like `3223 4194304 ada0p3 freebsd-ufs [bootme] (2.0G)`. */
function readTable(text) {
	const [, scheme] = /^=>\s+\d+\s+\d+\s+\S+\s+(\S+)/m.exec(text) ?? [];
	if (scheme !== "MBR" && scheme !== "GPT") return void 0;
	const marks = [...text.matchAll(/^ +\d+ +\d+ +(\S+) .*\[([^\]]*)\]/gm)].map(([, provider = "", words = ""]) => ({
		provider,
		words: words.split(",")
	}));
	return marks.every(({ words }) => words.every((word) => word === attributes[scheme])) ? {
		scheme,
		active: marks.map(({ provider }) => provider)
	} : void 0;
}
const noAppliance = (host, why) => refusal(host, why, "it is no appliance that nanobsd(8) or poudriere-image(8) made, so choose another boot method");
const refusal = (host, why, mend) => new HostError("command-failed", `${host.name} would boot nobody knows what: ${why}; ${mend}.`);

// src/dut/freebsd-boot-fit.ts
/** Before, nextboot(8) leaves word on ZFS that the loader cannot take back. */
const oldestOnZfs = 13;
/** Undefined where it can; throws a HostError for an appliance that is none. Nothing is changed. */
async function whyUnfit(host, method) {
	if (method === "nanobsd") {
		await slicesOf(host);
		return;
	}
	const other = "choose another `boot.method` in ppsgate.yml";
	const [root, boot] = await fileSystemsOf(host, ["/", "/boot"]);
	if (method === "boot-environment" && root?.type !== "zfs") return {
		why: `its root is on ${root?.device}, not on ZFS`,
		mend: other
	};
	if (boot?.type !== "ufs" && boot?.type !== "zfs") return {
		why: `/boot is on ${boot?.type} (${boot?.device}), where no loader can take an order back: a kernel that panics would be booted for ever`,
		mend: `boot it from UFS or ZFS, as nextboot(8) wants`
	};
	const major = Number.parseInt(await host.output(shell`uname -r`), 10);
	if (boot.type === "zfs" && major < oldestOnZfs) return {
		why: `on ZFS it needs FreeBSD ${oldestOnZfs} or later, and the DUT runs ${major}`,
		mend: `install FreeBSD ${oldestOnZfs} or later on the DUT`
	};
}

// src/dut/freebsd-boot-nanobsd.ts
/**
* The other slice holds the image that was booted last, and is what boots until its own is active again:
* nothing falls back by itself, and a kernel that never lets ssh in needs somebody at the boot menu.
* The configuration is never saved.
*/
function nanobsd({ own, host }) {
	const images = /* @__PURE__ */ new Map();
	/** The image in the other slice, and what it boots. */
	let other;
	return {
		needsOwn: (variant, running) => other?.sha256 !== images.get(variant)?.sha256 || other?.system.root !== running.root,
		async lay(image) {
			await refuseTorn(image);
			images.set(image.variant, image);
			return { kind: "laid" };
		},
		async arm(variant) {
			if (variant === void 0) {
				await goBack(host(), own.root);
				return own;
			}
			const image = images.get(variant);
			if (image === void 0) throw new TypeError(`The variant ${variant} was never laid.`);
			const [running] = await fileSystemsOf(host(), ["/"]);
			if (running?.device !== own.root) {
				if (other?.sha256 === image.sha256 && await nextRoot(host()) === running?.device) return other.system;
				throw new TypeError("An upgrade from there would write over its own slice.");
			}
			other = void 0;
			await nextRoot(host());
			await upgrade(host(), image.path);
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
async function refuseTorn({ path, sha256 }) {
	const hash = createHash("sha256");
	await pipeline(createReadStream(path), hash);
	const found = hash.digest("hex");
	if (found === sha256) return;
	throw new Error(`The image ${path} has the SHA-256 ${found} and not ${sha256}; build it again.`);
}
async function upgrade(host, path) {
	const image = Readable.from(decompressed(path), { objectMode: false });
	try {
		await host.output(shell`upgrade`, { stdin: image });
	} finally {
		image.destroy();
	}
}
/** Node has no xz. Fails before its end where xz(1) does, so that no half image counts as a whole one. */
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
		throw new Error(`xz cannot decompress ${path}: ${failure}; install xz here or build the image again.`);
	} finally {
		xz.kill();
	}
}
/** On an MBR only the appliance's own commands know all that belongs to a change of slices. */
async function goBack(host, ownRoot) {
	const slices = await slicesOf(host);
	const [root] = await fileSystemsOf(host, ["/"]);
	if (slices.scheme === "GPT") await makeActive(host, slices, ownRoot);
	else if (root?.device !== ownRoot && slices.root !== ownRoot) await host.output(shell`system rollback`, { stdin: "y\n" });
	const next = await nextRoot(host);
	if (next === ownRoot) return;
	throw new HostError("command-failed", `${host.name} would boot from ${next} and not from its own ${ownRoot}: make that slice active by hand.`);
}
/**
* What `system rollback` does on a GPT, of which it leaves out the end: it dies with both slices active. Each step may be
* repeated, and the slices' own files are left alone.
*/
async function makeActive(host, slices, ownRoot) {
	const { providers, active, disk } = slices;
	const own = providers.get(ownRoot) ?? "";
	if (slices.root === ownRoot && active.length === 1 && active[0] === own) return;
	const pair = [...providers].filter(([device]) => stemOf(device) === stemOf(ownRoot));
	const [ownIndex, otherIndex] = [pair.find(([device]) => device === ownRoot), pair.find(([device]) => device !== ownRoot)].map((slice) => /p(\d+)$/.exec(slice?.[1] ?? "")?.[1]);
	const isPair = pair.length === 2 && ownIndex !== void 0 && otherIndex !== void 0;
	const isOfPair = active.every((provider) => pair.some(([, one]) => one === provider));
	if (!isPair || !isOfPair) throw new HostError("command-failed", `${host.name} has other slices than two of its own, or others are active: make ${ownRoot} active by hand, see \`gpart show -p ${disk}\` there.`);
	await writeFstab(host, slices.fstab, ownRoot);
	await host.output(shell`gpart set -a bootme -i ${ownIndex} ${disk}`);
	if (active.some((provider) => provider !== own)) await host.output(shell`gpart unset -a bootme -i ${otherIndex} ${disk}`);
}
const stemOf = (device) => device.replace(/[12]$/, "");
/** /etc is made anew at every boot, with what /cfg keeps laid over it. */
async function writeFstab(host, fstab, root) {
	const lines = fstab.split("\n").map((line) => {
		const [device = "", place] = fieldsOf(line);
		return place === "/" ? line.replace(device, () => root) : line;
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

// src/dut/freebsd-boot.ts
/** The machine's own tools cannot do what a method asks of them: no kernel can be booted, whose it may be. */
var BootMethodError = class extends Error {
	name = "BootMethodError";
};

// src/dut/freebsd-boot-nextboot.ts
function nextboot(machine) {
	const { own, host } = machine;
	const laid = /* @__PURE__ */ new Map();
	return {
		async lay(kernel, wanted) {
			if (!await isLaid(host(), kernel)) {
				if (wanted !== void 0) await removeOthers([kernel.variant, ...wanted]);
				const outcome = await layFolder(machine, kernel);
				if (outcome.kind !== "laid") return outcome;
			}
			const file = `${folderOf$1(kernel.variant)}/kernel`;
			const sha256 = await sha256Of(host(), file);
			laid.set(kernel.variant, {
				root: own.root,
				kernel: file,
				sha256
			});
			return { kind: "laid" };
		},
		async arm(variant) {
			if (variant === void 0) {
				await cancelNextBoot(host());
				return own;
			}
			const system = laid.get(variant);
			if (system === void 0) throw new TypeError(`The variant ${variant} was never laid.`);
			const name = dirname(system.kernel).replace("/boot/", "");
			await order(host(), name);
			return system;
		},
		async clear() {
			await host().output(shell`rm -rf ${[archiveFolder, ...await ourFolders(host())]}`);
			laid.clear();
		}
	};
	/** Modules of the kernel that runs may yet be loaded from its folder, which stays. */
	async function removeOthers(variants) {
		const kept = new Set(variants.map(folderOf$1));
		const others = (await ourFolders(host())).filter((folder) => !kept.has(folder));
		if (others.length === 0) return;
		const running = dirname((await host().output(shell`sysctl -n kern.bootfile`)).trim());
		const gone = others.filter((folder) => folder !== running);
		for (const folder of gone) await host().output(shell`rm -rf ${[markIn(folder), folder]}`);
		for (const variant of laid.keys()) if (gone.includes(folderOf$1(variant))) laid.delete(variant);
	}
}
const prefix = "ppsgate.";
const folderOf$1 = (variant) => `/boot/${prefix}${pathName(variant)}`;
async function ourFolders(host) {
	return (await host.output(shell`ls -1 /boot`)).split("\n").filter((name) => name.startsWith(prefix)).map((name) => `/boot/${name}`);
}
const markIn = (folder) => `${folder}/ppsgate.sha256`;
async function isLaid(host, { variant, sha256 }) {
	return (await host.run(shell`cat ${markIn(folderOf$1(variant))}`)).stdout === sha256;
}
async function layFolder(machine, kernel) {
	const folder = folderOf$1(kernel.variant);
	return withArchive(machine, kernel, async (archive) => {
		const host = machine.host();
		const part = `${folder}.part`;
		await host.output(shell`rm -rf ${part} ${folder}`);
		await host.output(shell`mkdir -p ${part}`);
		const unpacked = await unpack(host, archive, part);
		const outcome = unpacked.kind === "laid" ? await foundWhole(machine, part, folder) : unpacked;
		if (outcome.kind !== "laid") {
			await host.output(shell`rm -rf ${part}`);
			return outcome;
		}
		await host.output(shell`mv -f ${part} ${folder}`);
		await host.upload(Buffer.from(kernel.sha256), markIn(folder), 384);
		return outcome;
	});
}
async function foundWhole(machine, part, folder) {
	const host = machine.host();
	const [root] = await fileSystemsOf(host, ["/"]);
	const wanted = {
		loaded: machine.modules,
		rootType: root?.type ?? ""
	};
	const reason = await lackingModule(host, part, wanted);
	if (reason === void 0) return { kind: "laid" };
	return {
		kind: "lacks-module",
		reason: reason.replace(part, folder)
	};
}
async function order(host, name) {
	const command = shell`nextboot -k ${name} -e ${resetsAtPanic.line}`;
	const outcome = await host.run(command);
	const failure = /^.*zfsbootcfg.*$/m.exec(outcome.stderr)?.[0];
	if (outcome.kind === "exited" && outcome.code !== 0 && failure !== void 0) throw new BootMethodError(`The nextboot(8) of ${host.name} cannot order a boot on ZFS (${failure}): choose \`boot.method: boot-environment\` in ppsgate.yml, or update the FreeBSD there.`);
	stdoutOf(outcome, host.name, command);
}
/**
* Where there is nothing to cancel, nextboot(8) fails or not, by its age. On ZFS it takes the file away, and leaves the
* word for the loader in the pool.
*/
async function cancelNextBoot(host) {
	await host.run(shell`nextboot -D`);
	const [boot] = await fileSystemsOf(host, ["/boot"]);
	const pool = boot?.type === "zfs" ? boot.device.split("/")[0] : void 0;
	if (pool !== void 0 && await isOrderedIn(host, pool)) await host.output(shell`zfsbootcfg ${inPool(pool)} -k nextboot_enable -v NO`);
	const left = await host.run(shell`test -e ${"/boot/nextboot.conf"}`);
	const isLeft = left.kind !== "exited" || left.code === 0;
	if (!isLeft && (pool === void 0 || !await isOrderedIn(host, pool))) return;
	const what = isLeft ? "/boot/nextboot.conf" : `nextboot_enable in the pool ${pool}`;
	throw new HostError("command-failed", `"nextboot -D" on ${host.name} leaves ${what} behind: remove it, or the next boot is not its own.`);
}
/** It fails where nothing was ever left there. */
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

// src/dut/freebsd.ts
const methods = {
	/** A folder in /boot; the boot after the next is the machine's own again. */
	nextboot,
	/** A clone of its own environment on ZFS; likewise for one boot. */
	"boot-environment": bootEnvironment,
	/** A whole image in the other slice of an appliance, where nothing falls back by itself. */
	nanobsd
};
/** The machine does not come back: nothing can be measured on it until somebody has looked. */
var DutLostError = class extends Error {
	name = "DutLostError";
};
/**
* Connects to a machine, whose own kernel is the one that runs: `restore` goes back to it. One of ours, left running by
* a controller that died, is rebooted first.
*/
async function openFreebsdDut(options) {
	await using opened = new AsyncDisposableStack();
	let host = await leaveOurs(await options.connect(), options);
	opened.defer(() => host.close());
	const unfit = await whyUnfit(host, options.method);
	if (unfit !== void 0) throw new HostError("command-failed", `${host.name} is not to be booted by the method ${options.method}: ${unfit.why}; ${unfit.mend}.`);
	const own = await runningSystem(host);
	const modules = await loadedFiles$1(host);
	/** Traces of panics before what runs now. */
	let traces = await tracesOf(host);
	const reconnect = async () => {
		await host.close();
		host = (await waitForUp("answers", options)).host;
		return host;
	};
	const method = methods[options.method]({
		own,
		modules,
		host: () => host,
		reconnect
	});
	const boot = async (variant) => {
		if (variant !== void 0 && method.needsOwn?.(variant, await runningSystem(host))) await goHome();
		const wanted = await method.arm(variant);
		return rebootTo(wanted, variant === void 0);
	};
	/** What fails to come up is followed by the machine's own, unless that is what failed. */
	const rebootTo = async (wanted, isOwn) => {
		traces = await tracesOf(host);
		await options.console?.beginBoot();
		const toldAt = options.now();
		await tellToReboot(host);
		const up = await waitForUp("has booted", options);
		const seconds = options.now() - toldAt;
		host = up.host;
		const proof = await prove$1(host, wanted);
		if (isOwn) return {
			...proof,
			seconds
		};
		if (up.wasCycled) return {
			kind: "boot-failed",
			reason: `it was not up after ${options.bootSeconds} s, and was power-cycled`,
			seconds,
			...await recover()
		};
		if (proof.kind === "booted") return {
			...proof,
			seconds
		};
		return {
			...proof,
			seconds,
			...await recover()
		};
	};
	const goHome = async () => {
		if (isSamePlace(await runningSystem(host), own)) return;
		const outcome = await boot(void 0);
		if (outcome.kind === "boot-failed") throw new DutLostError(outcome.reason);
	};
	/** The same connection where it still carries a command, or a new one. */
	const reach = async () => {
		try {
			await host.output(shell`uname`, { timeoutSeconds: answerSeconds });
		} catch {
			await reconnect();
		}
	};
	const recover = async () => {
		await reach();
		await waitForDump(host, options.sleep);
		const tracesNow = await tracesOf(host);
		const shown = options.console?.lastWords() ?? {};
		const panic = panicSince(traces, tracesNow) ?? shown.panic;
		traces = tracesNow;
		await goHome();
		return {
			...shown,
			...panic !== void 0 && { panic }
		};
	};
	opened.move();
	return {
		lay: (kernel, wanted) => method.lay(kernel, wanted),
		boot,
		bootUnasked: () => rebootTo(own, true),
		host: () => host,
		recover,
		async restore() {
			await reach();
			await goHome();
			await method.arm(void 0);
			await method.clear();
		}
	};
}
/** A kernel may well panic when the machine is just up. */
async function prove$1(host, wanted) {
	try {
		const [running, version] = await Promise.all([runningSystem(host), host.output(shell`uname -v`)]);
		const reason = whyOther(running, wanted);
		if (reason !== void 0) return {
			kind: "boot-failed",
			reason
		};
		return {
			kind: "booted",
			version: version.trim()
		};
	} catch (error) {
		ifNotUp(error);
		return {
			kind: "boot-failed",
			reason: "it was lost again as soon as it was up"
		};
	}
}
/** Answers when the machine does; one that boots is waited for, and one that stays away is power-cycled. */
async function wakeFreebsdDut(options) {
	const host = await options.connect().catch(ifNotUp);
	if (host === void 0) await options.console?.beginBoot();
	await (host ?? (await waitForUp("answers", options)).host).close();
}
/** Whoever died may have ordered another one while one of ours ran; each was ordered for one boot only. */
const mostBootsOfOurs = 2;
/** The boot after those of ours is the machine's own. */
async function leaveOurs(first, options) {
	let host = first;
	for (let boots = 0;; boots += 1) {
		const running = await runningSystem(host);
		if (!isOurs(running)) return host;
		if (boots === mostBootsOfOurs) {
			await host.close();
			throw new DutLostError(`The DUT runs ${running.kernel} of an earlier experiment, after two reboots too; boot its own kernel.`);
		}
		await options.console?.beginBoot();
		await tellToReboot(host);
		host = (await waitForUp("has booted", options)).host;
	}
}
const answerSeconds = 10;
/** The connection mostly breaks before the command has said that it succeeded. */
async function tellToReboot(host) {
	await markBoot(host);
	try {
		await host.output(shell`shutdown -r now`);
	} catch (error) {
		if (!(error instanceof HostError) || error.kind === "command-failed") throw error;
	}
	await host.close();
}
const secondsBetweenLooks = 2;
/** One that is late is power-cycled, twice if need be. */
async function waitForUp(wanted, { connect, power, console, bootSeconds, sleep, now }) {
	let powerFailure;
	for (const cycles of [
		0,
		1,
		2
	]) {
		if (cycles > 0 && power === void 0) break;
		if (cycles > 0) powerFailure = await power?.cycle().then(noFailure, asFailure);
		const deadline = now() + bootSeconds;
		while (powerFailure === void 0 && now() < deadline) {
			await sleep(secondsBetweenLooks);
			const host = await connectOnceUp(connect, wanted).catch(ifNotUp);
			if (host !== void 0) return {
				host,
				wasCycled: cycles > 0
			};
		}
	}
	const shown = console?.shows();
	throw new DutLostError(`The DUT was not up after ${bootSeconds} s, ${whatWasTried(power, powerFailure)}; ${shown === void 0 ? "look at its console" : `its console ${shown}`}.`);
}
const noFailure = () => void 0;
/** Whoever may not touch the power any more may not go on either. */
const asFailure = (error) => {
	if (error instanceof PowerError) return error;
	throw error;
};
function whatWasTried(power, failure) {
	if (power === void 0) return "and has no power control";
	return failure === void 0 ? "not even power-cycled twice" : `and could not be power-cycled in two tries (${reasonOf(failure)})`;
}
/** Undefined while the machine still shuts down. */
async function connectOnceUp(connect, wanted) {
	const host = await connect();
	try {
		if (wanted === "answers" || await hasBootedSinceMark(host)) return host;
	} catch (error) {
		await host.close();
		throw error;
	}
	await host.close();
}
function ifNotUp(error) {
	if (error instanceof HostError && [
		"unreachable",
		"lost",
		"timeout"
	].includes(error.kind)) return;
	throw error;
}

// src/dut/freebsd-network.ts
/** Reads `ifconfig INTERFACE`; undefined where the text is none of it. */
function parseIfconfig(text) {
	const [, name, flags = "", mtu] = /^(\S+): flags=[0-9a-f]+<([^>]*)>.* mtu (\d+)/m.exec(text) ?? [];
	if (name === void 0) return void 0;
	const options = /^[ \t]+options=[0-9a-f]+<([^>]*)>/m.exec(text)?.[1] ?? "";
	const mac = /^[ \t]+ether (\S+)/m.exec(text)?.[1];
	const media = /^[ \t]+media: (.*\S)/m.exec(text)?.[1];
	const gigabits = gigabitsOf(media ?? "");
	return {
		name,
		flags: listed(flags),
		options: listed(options),
		mtu: Number(mtu),
		...mac !== void 0 && { mac: mac.toLowerCase() },
		...media !== void 0 && { media },
		...gigabits !== void 0 && { gigabits },
		isActive: /^[ \t]+status: active$/m.test(text)
	};
}
const listed = (names) => names.split(",").filter(Boolean);
/** What was negotiated stands in parentheses where it is not what was chosen. The names are those of ifmedia(4). */
function gigabitsOf(media) {
	const [start, end] = [media.indexOf("("), media.lastIndexOf(")")];
	const active = start !== -1 && start < end ? media.slice(start + 1, end) : media;
	const [, digits, giga] = /\b(\d+)(G?)base/i.exec(active) ?? [];
	if (digits === void 0) return void 0;
	return giga === "" ? Number(digits) / 1e3 : Number(digits);
}
/** Reads `netstat -rn -f FAMILY`; the columns are those of its header. */
function parseRoutes(text) {
	const rows = filledLines(text).map(words$1);
	const head = rows.findIndex(([first]) => first === "Destination");
	const [destination = -1, gateway = -1, flags = -1, netif = -1] = [
		"Destination",
		"Gateway",
		"Flags",
		"Netif"
	].map((column) => (rows[head] ?? []).indexOf(column));
	return rows.slice(head + 1).filter((row) => head !== -1 && row.length > netif).map((row) => ({
		destination: row[destination] ?? "",
		gateway: row[gateway] ?? "",
		flags: row[flags] ?? "",
		interface: row[netif] ?? ""
	}));
}
/** Reads `arp -an`. */
function parseArp(text) {
	return [...text.matchAll(/^\S+ \((\S+)\) at (\S+) on (\S+)( permanent)?/gm)].map(([, address = "", mac = "", name = "", permanent]) => neighbour(address, mac, name, permanent !== void 0));
}
/** Reads `ndp -an`. */
function parseNdp(text) {
	return filledLines(text).map(words$1).filter(([first = ""]) => first.includes(":")).map(([address = "", mac = "", name = "", expires]) => neighbour(address, mac, name, expires === "permanent"));
}
/** One that is being resolved is `(incomplete)`. */
const neighbour = (address, mac, name, isPermanent) => ({
	address,
	...mac.includes(":") && { mac: mac.toLowerCase() },
	interface: name,
	isPermanent
});
/** A table of words is made of them, which of megabytes of empty lines would be gigabytes. */
const filledLines = (text) => text.split("\n").filter(Boolean);
const words$1 = (line) => line.trim().split(/\s+/);

// src/dut/freebsd-counters.ts
const interfaceCounters = shell`netstat -i -b -n -W`;
const cpuTimes = shell`sysctl -n kern.cp_times`;
/** What is read of a host; cards whose driver keeps no statistics that are known here have none of their own. */
function countersCommands(interfaces) {
	return [
		interfaceCounters,
		shell`netstat -s`,
		cpuTimes,
		shell`vmstat -i`,
		...interfaces.flatMap(cardStatistics)
	];
}
/** The nodes that hold what the card itself counts, by the name of the driver's interfaces. */
const statisticsNodes = {
	cc: ["stats"],
	cxgbe: ["stats"],
	cxl: ["stats"],
	em: ["mac_stats"],
	igb: ["mac_stats"],
	igc: ["mac_stats"],
	ix: ["mac_stats"],
	ixl: ["mac"],
	mce: ["pstats", "vstats"]
};
function cardStatistics(name) {
	const [, driver = "", unit] = /^([a-z]+)(\d+)$/.exec(name) ?? [];
	return (statisticsNodes[driver] ?? []).map((node) => shell`sysctl ${`dev.${driver}.${unit}.${node}`}`);
}
/** Both readings as text, for people: each command with its output before and after the blast. */
function countersLog(before, after) {
	return [.../* @__PURE__ */ new Set([...before.keys(), ...after.keys()])].flatMap((command) => [section(`before: ${command}`, before.get(command)), section(`after: ${command}`, after.get(command))]).join("\n");
}
const section = (title, output = "failed") => `==> ${title}\n${output.trimEnd()}\n`;
/**
* The share of the CPUs' time between two readings that was not idle; undefined where either is missing, or the host
* has booted between them. What lies between the readings and the packets is in it: a DUT that is busy throughout a
* blast of 60 s, and idle for 10 s around it, has 0.86.
*/
function busyShare(before, after) {
	const earlier = parseCpuTimes(before.get(commandText(cpuTimes)) ?? "");
	const spent = parseCpuTimes(after.get(commandText(cpuTimes)) ?? "").map((cpu, index) => difference$1(cpu, earlier[index]));
	if (spent.length !== earlier.length || spent.some(({ busy, idle }) => busy < 0 || idle < 0)) return;
	const running = spent.filter(({ busy, idle }) => busy + idle > 0);
	if (running.length === 0) return void 0;
	return {
		overallRatio: shareOf(sumOf(running)),
		busiestCpuRatio: running.reduce((most, cpu) => Math.max(most, shareOf(cpu)), 0)
	};
}
/** A CPU is in user mode, niced, in the kernel, in interrupts or idle: see `CPUSTATES` in FreeBSD's sys/resource.h. */
const cpuStates = 5;
/** Reads `sysctl -n kern.cp_times`, CPU by CPU; none where the text is none of it. */
function parseCpuTimes(text) {
	const ticks = text.trim().split(/\s+/).map(Number);
	if (text.trim() === "" || ticks.length % cpuStates !== 0 || !ticks.every(Number.isFinite)) return [];
	return Array.from({ length: ticks.length / cpuStates }, (_, cpu) => {
		const states = ticks.slice(cpu * cpuStates, (cpu + 1) * cpuStates);
		const idle = states.at(-1) ?? 0;
		return {
			busy: states.reduce((total, state) => total + state, 0) - idle,
			idle
		};
	});
}
const difference$1 = (after, before = {
	busy: 0,
	idle: 0
}) => ({
	busy: after.busy - before.busy,
	idle: after.idle - before.idle
});
const sumOf = (times) => ({
	busy: times.reduce((total, { busy }) => total + busy, 0),
	idle: times.reduce((total, { idle }) => total + idle, 0)
});
const shareOf = ({ busy, idle }) => busy / (busy + idle);
/** Packets that left by an interface between two readings; undefined where either is missing, or it was reset. */
const sentBetween = (before, after, name) => countedBetween([before, after], name, ({ sent }) => sent);
/** Packets that came to an interface between two readings, those too that it had no room for; undefined as above. */
const arrivedBetween = (before, after, name) => countedBetween([before, after], name, ({ received, receiveErrors, receiveDrops }) => received + receiveErrors + receiveDrops);
function countedBetween(readings, name, countOf) {
	const [first, last] = readings.map((said) => {
		const counters = parseInterfaceCounters(said.get(commandText(interfaceCounters)) ?? "").get(name);
		return counters && countOf(counters);
	});
	return first === void 0 || last === void 0 || last < first ? void 0 : last - first;
}
/** Reads `netstat -i -b -n -W`: what it says of the interfaces themselves, not of their addresses. */
function parseInterfaceCounters(text) {
	const [head = "", ...lines] = text.split("\n");
	const columns = words(head);
	const [ipkts = 0, ierrs = 0, idrop = 0, opkts = 0, oerrs = 0] = [
		"Ipkts",
		"Ierrs",
		"Idrop",
		"Opkts",
		"Oerrs"
	].map((column) => columns.indexOf(column) - columns.length);
	const counters = /* @__PURE__ */ new Map();
	for (const line of lines) {
		if (!line.includes("<Link#")) continue;
		const row = words(line);
		const [name = "", , network = ""] = row;
		if (!network.startsWith("<Link#")) continue;
		const values = {
			received: Number(row.at(ipkts)),
			receiveErrors: Number(row.at(ierrs)),
			receiveDrops: Number(row.at(idrop)),
			sent: Number(row.at(opkts)),
			sendErrors: Number(row.at(oerrs))
		};
		if (Object.values(values).every(Number.isFinite)) counters.set(name.replace(/\*$/, ""), values);
	}
	return counters;
}
const words = (line) => line.trim().split(/\s+/);

// src/dut/freebsd-setting.ts
/** What has to be asked to know whether they hold, each once. */
function readsOf(settings) {
	const commands = settings.flatMap(({ reads }) => reads);
	return [...new Map(commands.map((command) => [commandText(command), command])).values()];
}
/** Nothing, or the one problem of a setting on the machine that people call so. */
function problemOf(setting, said, where = "the DUT") {
	const { name, why, isVital = false } = setting;
	const fault = faultOf(setting, said, where);
	if (fault === void 0) return [];
	const { is } = fault;
	return [{
		setting: name,
		message: `${name} ${is}, and ${why}: ${advice(fault.mend, where)}.`,
		mend: fault.mend,
		isVital,
		is
	}];
}
function faultOf({ reads, check, isOptional = false }, said, where) {
	const texts = reads.map(commandText);
	const failed = texts.find((text) => !said.has(text));
	if (failed === void 0) return check(...texts.map((text) => (said.get(text) ?? "").trim()));
	if (isOptional) return void 0;
	return {
		is: "cannot be read",
		mend: {
			kind: "person",
			what: `see why \`${failed}\` fails on ${where}`
		}
	};
}
/** Those that are waived say why, and ask for nothing. */
const waived = (problems, waive = {}) => problems.map((problem) => {
	const { setting, is, isVital } = problem;
	const reason = Object.hasOwn(waive, setting) && !isVital ? waive[setting] : void 0;
	if (reason === void 0) return problem;
	const message = `${setting} ${is}: waived, because ${reason.replace(/\.$/, "")}.`;
	return {
		...problem,
		message,
		isWaived: true
	};
});
function advice(mend, where = "the DUT") {
	switch (mend.kind) {
		case "command": return `run \`${commandText(mend.command)}\` on ${where}`;
		case "loader": return `put \`${mend.line}\` into its /boot/loader.conf and reboot it`;
		case "wait": return `wait ${mend.seconds} s`;
		case "person": return mend.what;
	}
}
/** One value only, which can be set at any time. */
const sysctl = (name, wanted, why) => oneValue(name, wanted, why, {
	kind: "command",
	command: shell`sysctl ${`${name}=${wanted}`}`
});
/** One value only, which the loader hands to the kernel. */
const tunable = (name, wanted, why, loaderName = name) => oneValue(name, wanted, why, {
	kind: "loader",
	line: `${loaderName}="${wanted}"`
});
const oneValue = (name, wanted, why, mend) => ({
	name,
	why,
	reads: [readSysctl(name)],
	check: (value) => unless(value === String(wanted), {
		is: `is ${value} instead of ${wanted}`,
		mend
	})
});
/** Reads one value of the kernel's. */
const readSysctl = (name) => shell`sysctl -n ${name}`;
const unless = (isRight, fault) => isRight ? void 0 : fault;

// src/dut/freebsd-fingerprint.ts
/** The commands whose output `fingerprintOf` needs; any may fail, and is then left out. */
const fingerprintCommands = (request) => factsOf(request).map(({ reads }) => reads);
function fingerprintOf(said, request) {
	const entries = factsOf(request).flatMap(({ reads, entries }) => {
		const output = said.get(commandText(reads))?.trim() ?? "";
		return output === "" ? [] : entries(output);
	});
	return Object.fromEntries(entries.map(([name, value]) => [name, value.slice(0, longestValue)]));
}
/** The most characters of one value; a result holds all values, and the longest are the names of cards. */
const longestValue = 2e3;
/** One line for each fact that differs without the kernel's being the reason; empty where base and the variant are comparable. */
function differences$1(base, other, variant = "patched") {
	return [.../* @__PURE__ */ new Set([...Object.keys(base), ...Object.keys(other)])].filter((name) => !explainedByKernel.has(name) && !movesByItself.has(name)).filter((name) => base[name] !== other[name]).map((name) => `${name}: ${shown$1(base[name])} on base, ${shown$1(other[name])} on ${variant}`);
}
/** One line for each card whose firmware is another than it was: whoever booted in between has flashed it, for good. */
function flashed(before, now) {
	return Object.entries(before).filter(([name, value]) => isFirmware(name) && now[name] !== void 0 && now[name] !== value).map(([name, value]) => `${name} was ${shown$1(value)} and is ${shown$1(now[name])}`);
}
const isFirmware = (name) => /^dev\..*\.(?:firmware|fw)_version$/.test(name);
const shown$1 = (value) => value === void 0 ? "nothing" : `"${value}"`;
const factsOf = ({ interfaces, bootFile }) => [
	fact("kernel", shell`uname -v`),
	fact("cpu", readSysctl("hw.model")),
	fact("machine", shell`kenv -q smbios.system.product`),
	fact("kernel sha256", shell`sha256 -q ${bootFile}`),
	{
		reads: readSysctl("kern.conftxt"),
		entries: configuration
	},
	fact("release", shell`uname -r`),
	fact("architecture", shell`uname -p`),
	{
		reads: shell`pciconf -lv`,
		entries: networkCards
	},
	...interfaces.map((name) => ({
		reads: shell`ifconfig ${name}`,
		entries: port
	})),
	...[...sysctlNames(interfaces)].map((name) => fact(name, readSysctl(name)))
];
const sysctlNames = (interfaces) => /* @__PURE__ */ new Set([...recorded, ...interfaces.flatMap((port) => [...driverSettingsOf(port).map(({ name }) => name), ...firmwareNames(port)])]);
const fact = (name, reads) => ({
	reads,
	entries: (output) => [[name, output.slice(0, longestValue).replace(/\s+/g, " ")]]
});
const recorded = [
	"kern.hostname",
	"kern.bootfile",
	"kern.boottime",
	"hw.ncpu",
	"machdep.hyperthreading_allowed",
	"kern.random.harvest.mask",
	"net.inet.ip.forwarding",
	"net.inet.ip.redirect",
	"net.inet6.ip6.forwarding",
	"net.inet6.ip6.redirect",
	"net.isr.maxthreads",
	"net.isr.bindthreads",
	"net.isr.dispatch",
	"net.route.algo.inet.algo",
	"net.route.algo.inet6.algo",
	"vm.pmap.pti",
	"hw.ibrs_active",
	"dev.cpu.0.freq"
];
/** config(5)'s text as `options INCLUDE_CONFIG_FILE` keeps it. */
function configuration(text) {
	const ident = /^ident\s+(\S+)/m.exec(text)?.[1];
	const rss = /^options\s+RSS\s*$/m.test(text) ? "yes" : "no";
	return [["ident", ident ?? "unknown"], ["RSS", rss]];
}
/** `DRIVER@pciN:…: class=0x02….. …`, followed by indented `vendor = '…'` and `device = '…'`. */
function networkCards(text) {
	return text.split(/\n(?=\S)/).filter((card) => /\sclass=0x02/.test(card)).map((card) => {
		const driver = card.replace(/@.*/s, "");
		const names = [...card.matchAll(/^[ \t]+(?:vendor|device)[ \t]+= '(.*)'$/gm)];
		return [`NIC ${driver}`, names.map(([, name]) => name).join(" ")];
	});
}
function port(text) {
	const found = parseIfconfig(text);
	if (found === void 0) return [];
	const { name, options, media, mtu } = found;
	return [
		[`${name} options`, options.toSorted().join(" ")],
		[`${name} media`, media ?? "unknown"],
		[`${name} MTU`, String(mtu)]
	];
}

// src/dut/freebsd-ports.ts
const portSettings = ({ ingress, egress }) => {
	const ports = [ingress, egress];
	return [...ports.flatMap((port) => [noOffloads(port), link(port)]), ...onceEach(ports.flatMap(ofDriver))];
};
/** What is wrong for packets on a port of a sender or a receiver. */
const generatorPortSettings = (name) => driverSettingsOf(name).filter(({ isOfGenerators }) => isOfGenerators).flatMap((setting) => driverSetting(setting, void 0));
const ofDriver = ({ interface: name, queues }) => driverSettingsOf(name).flatMap((setting) => driverSetting(setting, queues));
function driverSetting(setting, queues) {
	const { name, why, mend, alias, isOptional = false } = setting;
	const wanted = setting.wanted === "queues" ? queues : Number(setting.wanted);
	if (wanted === void 0) return [];
	const made = mend === "sysctl" ? sysctl(name, wanted, why) : tunable(name, wanted, why, mend.loader);
	const check = (value = "") => value === alias ? void 0 : made.check(value);
	return [{
		...made,
		check,
		isOptional
	}];
}
/** Some of a driver's settings are those of all its ports. */
const onceEach = (settings) => [...new Map(settings.map((setting) => [setting.name, setting])).values()];
const routersOffloads = [
	"TSO4",
	"TSO6",
	"LRO",
	"VLAN_HWTSO"
];
const noOffloads = ({ interface: name }) => ({
	name: `${name}'s LRO and TSO`,
	why: "a router must neither join packets nor split them",
	reads: [shell`ifconfig ${name}`],
	check: onInterface((port) => {
		const on = port.options.filter((option) => routersOffloads.includes(option));
		return unless(on.length === 0, {
			is: `are on (${on.join(", ")})`,
			mend: {
				kind: "command",
				command: shell`ifconfig ${name} -tso4 -tso6 -lro -vlanhwtso`
			}
		});
	})
});
const link = ({ interface: name, gigabits }) => ({
	name: `${name}'s link`,
	why: "the blast needs all of it",
	reads: [shell`ifconfig ${name}`],
	check: onInterface((port) => {
		const look = {
			kind: "person",
			what: `check its cable, its module and "ifconfig ${name}"`
		};
		if (!port.flags.includes("UP")) return {
			is: "is down",
			mend: {
				kind: "command",
				command: shell`ifconfig ${name} up`
			}
		};
		if (!port.isActive) return {
			is: "is not active",
			mend: look
		};
		const isFast = gigabits === void 0 || port.gigabits === gigabits;
		return unless(isFast, {
			is: `is "${port.media}" instead of ${gigabits} Gbit/s`,
			mend: look
		});
	})
});
function onInterface(check) {
	return (output) => {
		const port = parseIfconfig(output);
		if (port !== void 0) return check(port);
		return {
			is: "cannot be read",
			mend: {
				kind: "person",
				what: "see what ifconfig says of it"
			}
		};
	};
}
/** Both ways: a DUT that finds no way back to a sender may refuse its packets. */
function pathSettings(family, ports) {
	const { ingress, egress } = ports;
	const { sources, destinations } = benchmarkingNetworks[family];
	return [
		blackhole(family, ports),
		route(family, sources, ingress),
		staticNeighbour(family, ingress),
		route(family, destinations, egress),
		staticNeighbour(family, egress)
	].map((setting) => ({
		...setting,
		isVital: true
	}));
}
/** RFC 2544 and RFC 5180, and their halves for the senders and the receivers. */
const benchmarkingNetworks = {
	inet4: {
		whole: "198.18.0.0/15",
		sources: "198.18.0.0/16",
		destinations: "198.19.0.0/16"
	},
	inet6: {
		whole: "2001:2::/48",
		sources: "2001:2::/49",
		destinations: "2001:2:0:8000::/49"
	}
};
const tools = {
	inet4: {
		netstat: shell`netstat -rn -f inet`,
		flag: shell`-inet`,
		loopback: "127.0.0.1",
		neighbours: shell`arp -an`
	},
	inet6: {
		netstat: shell`netstat -rn -f inet6`,
		flag: shell`-inet6`,
		loopback: "::1",
		neighbours: shell`ndp -an`
	}
};
/**
* A boot that loses a route must not send the blast to the site's router, at line rate: whatever leads past the two ports
* has to be wider than a blackhole, which takes what the routes to the neighbours leave.
*/
function blackhole(family, { ingress, egress }) {
	const { netstat, flag, loopback } = tools[family];
	const { whole, sources, destinations } = benchmarkingNetworks[family];
	const leadsPast = (found) => ![ingress.interface, egress.interface].includes(found.interface) && ![sources, destinations].includes(found.destination) && !isLoopback(found) && !discards(found);
	return {
		name: `The blackhole route for ${whole}`,
		why: "what no other route takes of the blast would leave by the admin network",
		reads: [netstat],
		check: (output) => {
			const routes = parseRoutes(output);
			const past = routes.filter(leadsPast);
			const inside = past.find(({ destination }) => isWithin(destination, whole, family));
			if (inside !== void 0) {
				const { destination, interface: name } = inside;
				const what = `take that route away with \`${commandText(shell`route delete ${flag} ${destination}`)}\` on the DUT`;
				return {
					is: `does not hold what goes to ${destination} by ${name}`,
					mend: {
						kind: "person",
						what
					}
				};
			}
			const around = past.find(({ destination }) => isWithin(whole, destination, family));
			const wider = around?.destination === "default" ? "the default route" : `the route to ${around?.destination}`;
			const isHeld = routes.some((found) => found.destination === whole && discards(found));
			return unless(around === void 0 || isHeld, {
				is: `is missing beside ${wider} by ${around?.interface}`,
				mend: {
					kind: "command",
					command: shell`route add ${flag} ${whole} ${loopback} -blackhole`
				}
			});
		}
	};
}
const isLoopback = ({ interface: name }) => /^lo\d/.test(name);
/** Whether a route is one that route(8) makes with -reject or -blackhole. */
const discards = ({ flags }) => /[RB]/.test(flags);
/** Whether every address of the one destination is of the other, too; both are netstat(1)'s words. */
function isWithin(inner, outer, family) {
	const [one, other] = [prefixOf(inner, family), prefixOf(outer, family)];
	if (one === void 0 || other === void 0 || one.bits < other.bits) return false;
	const list = new BlockList();
	const version = family === "inet4" ? "ipv4" : "ipv6";
	list.addSubnet(other.address, other.bits, version);
	return list.check(one.address, version);
}
/** A destination's address and length: one host where none is written, undefined where it is no address. */
function prefixOf(destination, family) {
	const [any, isAddress, longest] = family === "inet4" ? [
		"0.0.0.0",
		isIPv4,
		32
	] : [
		"::",
		isIPv6,
		128
	];
	if (destination === "default") return {
		address: any,
		bits: 0
	};
	const [written = "", length = String(longest)] = destination.split("/");
	const address = written.replace(/%.*$/, "");
	const bits = /^\d{1,3}$/.test(length) ? Number(length) : NaN;
	return isAddress(address) && bits <= longest ? {
		address,
		bits
	} : void 0;
}
function route(family, network, port) {
	const { netstat, flag } = tools[family];
	const gateway = port.neighbour.addresses[family];
	return {
		name: `The route to ${network}`,
		why: "the blast follows it",
		reads: [netstat],
		check: (output) => {
			const found = parseRoutes(output).find(({ destination }) => destination === network);
			const isRight = found?.gateway === gateway && found.interface === port.interface && !discards(found);
			const change = found === void 0 ? shell`add` : shell`change`;
			return unless(isRight, {
				is: found === void 0 ? "is missing" : `goes to ${found.gateway} by ${found.interface}`,
				mend: {
					kind: "command",
					command: shell`route ${change} ${flag} ${network} ${gateway}`
				}
			});
		}
	};
}
/** A DUT that is saturated resolves nothing. */
function staticNeighbour(family, port) {
	const { mac, addresses } = port.neighbour;
	const address = addresses[family];
	const parse = family === "inet4" ? parseArp : parseNdp;
	const set = family === "inet4" ? shell`arp -S ${address} ${mac}` : shell`ndp -s ${address} ${mac}`;
	return {
		name: `The MAC address of ${address}`,
		why: "one that is asked for during a blast is not found",
		reads: [tools[family].neighbours],
		check: (output) => {
			const isRight = parse(output).filter((entry) => entry.address === address).some((entry) => isStatic(entry, port));
			return unless(isRight, {
				is: `is not set to ${mac} for good on ${port.interface}`,
				mend: {
					kind: "command",
					command: set
				}
			});
		}
	};
}
const isStatic = (entry, { interface: name, neighbour }) => entry.isPermanent && entry.interface === name && entry.mac === neighbour.mac.toLowerCase();

// src/dut/freebsd-settings.ts
/** The commands whose output `checkSettings` needs, each once. */
function settingsCommands(context) {
	return readsOf(settingsOf(context));
}
/** What does not hold, in the order in which it is best mended. */
function checkSettings(said, context) {
	return settingsOf(context).flatMap((setting) => problemOf(setting, said));
}
function settingsOf(context) {
	const { families } = context;
	return [
		debuggerOnPanic,
		dumpDevice,
		harvestMask,
		hyperthreading,
		...netisr,
		...families.flatMap((family) => kernelForwards[family]),
		...portSettings(context),
		...families.flatMap((family) => pathSettings(family, context)),
		idleness,
		timeSinceBoot
	];
}
/** Kernels without `options KDB` have it not. */
const debuggerOnPanic = {
	...sysctl(resetsAtPanic.name, resetsAtPanic.value, "a kernel with the debugger in it then stops at its prompt where it panics"),
	isOptional: true
};
const dumpDevice = {
	name: "kern.shutdown.dumpdevname",
	why: "nobody then learns what a kernel panicked of",
	reads: [readSysctl("kern.shutdown.dumpdevname")],
	check: (device) => unless(device !== "" && device !== "/dev/null", {
		is: "names no dump device",
		mend: {
			kind: "person",
			what: "put `dumpdev=\"AUTO\"` into the /etc/rc.conf of the DUT, which needs swap for it, and run `service dumpon start`"
		}
	}),
	isOptional: true
};
/** Bits of sys/random.h's sources. Others are a machine's own: those of hardware cannot even be cleared. */
const perPacketSources = 160;
const harvestMask = {
	name: "kern.random.harvest.mask",
	why: "entropy is then gathered from each frame or interrupt",
	reads: [readSysctl("kern.random.harvest.mask")],
	check: (value) => unless(isWhole(value) && (Number(value) & perPacketSources) === 0, {
		is: `is ${value}`,
		mend: {
			kind: "command",
			command: shell`sysctl kern.random.harvest.mask=351`
		}
	})
};
/** Only x86 has it. */
const hyperthreading = {
	...tunable("machdep.hyperthreading_allowed", 0, "queues that land on two threads of one core share it"),
	isOptional: true
};
/**
* With `options RSS` packets are spread over netisr's threads, of which there is one unless told otherwise.
* A kernel without its configuration in it may have been built with that option.
*/
const netisr = [{
	name: "net.isr.maxthreads",
	why: "with options RSS that many threads carry all traffic",
	reads: [
		"kern.conftxt",
		"net.isr.maxthreads",
		"hw.ncpu"
	].map(readSysctl),
	check: (configuration, threads, cpus) => unless(!mayHaveRss(configuration) || threads === "-1" || threads === cpus, {
		is: `is ${threads} on ${cpus} CPUs`,
		mend: {
			kind: "loader",
			line: "net.isr.maxthreads=\"-1\""
		}
	})
}, {
	name: "net.isr.bindthreads",
	why: "with options RSS a thread must stay on the CPU of its queue",
	reads: ["kern.conftxt", "net.isr.bindthreads"].map(readSysctl),
	check: (configuration, bound) => unless(!mayHaveRss(configuration) || bound === "1", {
		is: `is ${bound} instead of 1`,
		mend: {
			kind: "loader",
			line: "net.isr.bindthreads=\"1\""
		}
	})
}];
const mayHaveRss = (configuration) => configuration === "" || /^options\s+RSS\s*$/m.test(configuration);
const kernelForwards = {
	inet4: [sysctl("net.inet.ip.forwarding", 1, "the DUT then forwards nothing"), sysctl("net.inet.ip.redirect", 0, "packets are then looked at for redirects")],
	inet6: [sysctl("net.inet6.ip6.forwarding", 1, "the DUT then forwards nothing"), sysctl("net.inet6.ip6.redirect", 0, "packets are then looked at for redirects")]
};
/** One process that never sleeps makes 1. */
const mostBusyCpus = .5;
/** A load average below 0.5 says enough; but it takes minutes to fall after a boot, and says nothing of now until then. */
const idleScript = "case $(sysctl -n vm.loadavg) in \"{ 0\"[.,][0-4]*) ;; *) sysctl -n kern.cp_time && sleep 5 && sysctl -n kern.cp_time;; esac";
const idleness = {
	name: "kern.cp_time",
	why: "what else runs takes time from forwarding",
	reads: [shell`sh -c ${idleScript}`, readSysctl("hw.ncpu")],
	check: (samples, cpus) => {
		if (samples === "") return void 0;
		const busy = busyCpus(samples, Number(cpus));
		return unless(busy <= mostBusyCpus, {
			is: Number.isNaN(busy) ? "cannot be made out" : `shows ${busy.toFixed(1)} busy CPUs, more than ${mostBusyCpus}`,
			mend: {
				kind: "wait",
				seconds: 60
			}
		});
	}
};
/** Two lines of ticks since boot, of all CPUs together: user, nice, system, interrupt and idle; NaN for anything else. */
function busyCpus(samples, cpus) {
	const [before, after] = samples.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
	if (before?.length !== 5 || after?.length !== 5) return NaN;
	const ticks = after.map((tick, state) => tick - (before[state] ?? NaN));
	const all = ticks.reduce((sum, some) => sum + some, 0);
	return (1 - (ticks[4] ?? NaN) / all) * cpus;
}
/** Daemons are started, and entropy and crash dumps saved, for a while after the first login is possible. */
const leastSecondsUp = 60;
/** The DUT's own clock alone is asked: it need not agree with any other, and both values move when it is set. */
const timeSinceBoot = {
	name: "kern.boottime",
	why: "what starts at boot still runs",
	reads: [readSysctl("kern.boottime"), shell`date +%s`],
	check: (boot, now) => {
		const bootSeconds = Number(/^\{ sec = (\d+),/.exec(boot)?.[1] ?? NaN);
		const up = Number(now) - bootSeconds;
		if (up < 0) return {
			is: "is yet to come",
			mend: {
				kind: "wait",
				seconds: leastSecondsUp
			}
		};
		const seconds = Math.ceil(leastSecondsUp - up);
		return unless(seconds <= 0, {
			is: Number.isNaN(up) ? `is ${boot}` : `is ${up} s ago`,
			mend: Number.isNaN(up) ? unreadable : {
				kind: "wait",
				seconds
			}
		});
	}
};
const unreadable = {
	kind: "person",
	what: "see what `sysctl -n kern.boottime` and `date +%s` say on the DUT"
};
const isWhole = (value) => /^\d+$/.test(value);

// src/dut/freebsd-profile.ts
/** Both lie in the folder that is given. */
const sampleFile = (folder) => `${folder}/pmc.out`;
const graphFile = (folder) => `${folder}/pmc.graph`;
/**
* Loads hwpmc(4), for call chains that reach from the card's interrupt to the far end of a firewall, and finds the event
* that counts cycles on this CPU by trying; `asked` is the only one tried where it is given.
*/
async function readySampling(host, folder, asked) {
	await host.output(ownFolder(folder));
	await host.run(shell`kenv ${`kern.hwpmc.callchaindepth=${mostFrames}`}`);
	const loaded = await host.run(shell`kldload -n hwpmc`);
	if (loaded.kind !== "exited" || loaded.code !== 0) return impossible(`hwpmc does not load on the DUT: ${lastLine(loaded.stderr) ?? "it said nothing"}`);
	let said = "";
	for (const event of asked === void 0 ? cycleEvents : [asked]) {
		const tried = await host.run(samplingOnly(event, 1, folder));
		if (tried.kind === "exited" && tried.code === 0) return {
			kind: "ready",
			event
		};
		said ||= lastLine(tried.stderr) ?? "";
	}
	return impossible(`the DUT's CPU samples ${asked ?? "none of the events that count cycles elsewhere"} (${said}): name one of \`pmccontrol -L\` as \`profile.event\``);
}
const impossible = (reason) => ({
	kind: "impossible",
	reason
});
/** What hwpmc(4) keeps of a stack when told so before it is loaded, and what pmcstat prints of it. */
const mostFrames = 100;
/**
* Intel, Intel's Atoms, AMD since Zen, AMD before, Arm; and what older systems call it on all of x86: see pmc(3), its
* relatives, and what libpmc knows of each CPU. An Atom has no threads, and what `unhalted-cycles` stands for is of one.
*/
const cycleEvents = [
	"cpu_clk_unhalted.thread_p",
	"cpu_clk_unhalted.core_p",
	"ls_not_halted_cyc",
	"BU_CPU_CLK_UNHALTED",
	"CPU_CYCLES",
	"unhalted-cycles"
];
const samplingOnly = (event, seconds, folder) => shell`pmcstat -S ${event} -l ${seconds} -O ${sampleFile(folder)}`;
/** Waits, reads the counters of the interfaces, runs the words behind, and reads the counters again. */
const windowScript = "sleep \"$1\"; shift; netstat -i -b -n -W; \"$@\" || exit; netstat -i -b -n -W";
/** Takes the samples; under load its answer comes when that has ended. */
const windowCommand = ({ event, delaySeconds, seconds }, folder) => shell`sh -c ${windowScript} sh ${delaySeconds} ${samplingOnly(event, seconds, folder)}`;
/** Packets that an interface sent within the window; undefined where the log does not tell. */
function sentWithin(log, interfaceName) {
	const [before, after] = log.split(/^(?=Name\s)/m).map((text) => parseInterfaceCounters(text).get(interfaceName)?.sent);
	return before === void 0 || after === void 0 ? void 0 : after - before;
}
/** The call graph of the samples, with the kernel that runs at its head. */
async function collectSamples(host, folder) {
	const graph = graphFile(folder);
	const kernel = (await host.output(shell`uname -v`)).trim();
	await host.output(shell`pmcstat -R ${sampleFile(folder)} -z ${mostFrames} -G ${graph}`);
	const text = await host.output(shell`cat ${graph}`, { maxOutputBytes: mostGraphBytes });
	return `# kernel: ${kernel.replace(/\s+/g, " ")}\n${text}`;
}
/** Nothing of it stays on the DUT; a host that was lost has a boot before it that takes the module away. */
async function endSampling(host, folder) {
	const commands = [shell`kldunload hwpmc`, shell`rm -f ${[sampleFile(folder), graphFile(folder)]}`];
	const limits = { timeoutSeconds: secondsToEnd };
	await Promise.allSettled(commands.map((command) => host.run(command, limits)));
}
const secondsToEnd = 60;
const mostGraphBytes = 256 * 1024 ** 2;

// src/dut/linux-profile.ts
/** The command that samples a variant, ahead of the packets but on whichever CPU has time. */
function samplingCommand(request) {
	const { script, ingress, cpu, scenario, warmUpSeconds, seconds, event, variant } = request;
	const chosen = event === void 0 ? [] : ["--event", event];
	const perSecond = Math.min(mostPerSecond, Math.ceil(wantedSamples / seconds));
	return shell`chrt -f 20 bash ${script} profile ${ingress} ${cpu} ${scenario} ${warmUpSeconds} ${seconds} ${variant} --freq ${perSecond} ${chosen}`;
}
/** Enough to tell a function that a patch made a tenth dearer, and some 20 MB as perf prints them. */
const wantedSamples = 8e3;
/** More would slow the DUT down by more than some percent. */
const mostPerSecond = 3999;
/** Prints what was sampled, with what it was sampled on at its head. */
const printingCommand = (folder) => shell`perf script --header --input ${`${folder}/perf.data`}`;
/** Packets that arrived per second while samples were taken, and right after: undefined where the log does not tell. */
function arrivalsAround(log) {
	const [start, end, after] = [...log.matchAll(/^mark (\d+\.\d+) (\d+)$/gm)].map(([, seconds, packets]) => ({
		seconds: Number(seconds),
		packets: Number(packets)
	}));
	if (start === void 0 || end === void 0 || after === void 0) return void 0;
	return {
		withinPps: rate(start, end),
		afterPps: rate(end, after)
	};
}
const rate = (from, to) => (to.packets - from.packets) / (to.seconds - from.seconds);

// src/dut/linux-refusal.ts
/**
* nft's words for places in the variant's own rules, with their lines as the overlay has them. The lines that nft itself
* shows are left out, because they could be of any file of the DUT, and so are the names of folders there.
*/
function loadRefusal({ folder, scenario, nftables, stderr, ending }) {
	const [, reason, setting] = failedSetting.exec(stderr) ?? [];
	if (setting !== void 0) return `The DUT does not take the setting ${setting}: ${reason}.`;
	const sources = nftables.split("\n");
	const errors = stderr.split("\n").flatMap((line) => {
		if (!line.startsWith(`${folder}/`)) return unplaced.exec(line)?.[1] ?? [];
		const [, file, number, first, last, words] = placed.exec(line.slice(folder.length + 1)) ?? [];
		if (file === `${scenario}.nft`) return `${file}:${number}: ${words}`;
		if (file !== "nftables.conf") return [];
		const columns = {
			first: Number(first),
			last: Number(last ?? first)
		};
		const source = shown(sources[Number(number) - 1] ?? "", columns);
		return [`${file}:${number}:${first}${last === void 0 ? "" : `-${last}`}: ${words}`, ...source];
	});
	if (errors.length > 0) return errors.slice(0, mostLines).join("\n");
	return `nft does not load nftables.conf, and names no line of it: it ${ending}.`;
}
/** What bash or cat(1) says of the system's error, and then the DUT's program of the setting. */
const failedSetting = /: ([\w ,'()/-]{1,100})\nsetting (net\/[\w./-]{1,200})$/m;
const placed = /^([\w.-]{1,100}):(\d{1,7}):(\d{1,7})(?:-(\d{1,7}))?: (Error: .{1,300})/;
/** The message for a command that nft gave the kernel without a line to it. */
const unplaced = /^(?:internal:0:0-0|netlink): (Error: .{1,300})/;
/** nft gives up after ten errors. */
const mostLines = 30;
/** The source line, and where it can be told a line below that points at the columns. */
function shown(source, { first, last }) {
	const line = source.slice(0, mostShown$1);
	if (last > line.length || first < 1 || last < first || /[^\t -~]/.test(line)) return [line];
	return [line, line.slice(0, first - 1).replace(/[^\t]/g, " ") + "^".repeat(last - first + 1)];
}
const mostShown$1 = 200;

// src/dut/linux-script.ts
/** Read at once: a gate lays its DUT back by it hours later, when the file may be gone. */
const linuxDutScript = readFileSync(new URL("linux-script.sh", import.meta.url));
/** The command that samples a blast's runs, ahead of everything else on the DUT's CPU. */
function observeCommand(request) {
	const { script, ingress, egress, cpu, scenario, variants, slices } = request;
	const live = request.live ? 1 : 0;
	const times = [
		request.warmUpSeconds,
		request.settleSeconds,
		request.sliceSeconds
	];
	return shell`chrt -f 20 taskset -c ${cpu} bash ${script} observe ${ingress} ${egress} ${cpu} ${scenario} ${times} ${slices} ${live} ${variants}`;
}
/** Reads what `observe` printed: counters at points of time, turned into what happened between them. */
function parseObservation(log) {
	const lines = log.trimEnd().split("\n");
	if (lines.at(-1) !== "end") return {
		kind: "failed",
		reason: "the DUT stopped sampling before the end of the blast"
	};
	const points = lines.filter((line) => line.startsWith("sample ")).map(parsePoint);
	const samplesPerRun = [...Map.groupBy(points, (point) => point.run).values()].map(differences);
	return samplesPerRun.flat().every(goesForward) ? {
		kind: "observed",
		samplesPerRun
	} : {
		kind: "failed",
		reason: "the DUT’s clock or a counter went backwards, or is unreadable"
	};
}
/** Takes the log of one run in pieces of any size, as it is written, and answers the samples of its whole lines so far. */
function samplesAsTheyCome() {
	const samples = [];
	let unfinished = "";
	let before;
	return (piece) => {
		unfinished += piece;
		if (!piece.includes("\n")) return samples;
		const lines = unfinished.split("\n");
		unfinished = lines.pop() ?? "";
		for (const point of lines.filter((line) => line.startsWith("sample ")).map(parsePoint)) {
			if (before !== void 0) samples.push(difference(before, point));
			before = point;
		}
		return samples;
	};
}
function parsePoint(line) {
	const [, run = "", time, received, forwarded, busyNs, delayNs, stolenTicks] = line.split(" ");
	return {
		run,
		time: Number(time),
		received: Number(received),
		forwarded: Number(forwarded),
		busyNs: Number(busyNs),
		deniedNs: Number(delayNs) + Number(stolenTicks) * nsPerTick
	};
}
const differences = (points) => points.slice(1).map((point, index) => difference(points[index], point));
function difference(before, point) {
	const busySeconds = (point.busyNs - before.busyNs) / 1e9;
	const deniedSeconds = (point.deniedNs - before.deniedNs) / 1e9;
	return {
		seconds: point.time - before.time,
		receivedPackets: point.received - before.received,
		forwardedPackets: point.forwarded - before.forwarded,
		...Number.isNaN(busySeconds) ? {} : { busySeconds },
		...Number.isNaN(deniedSeconds) ? {} : { deniedSeconds }
	};
}
/** Also false where something that is no number was read. */
const goesForward = (sample) => sample.seconds > 0 && [sample.receivedPackets, sample.forwardedPackets].every((packets) => packets >= 0) && [sample.busySeconds, sample.deniedSeconds].every((seconds = 0) => seconds >= 0);

// src/dut/nft-tokens.ts
/**
* Why nft must not get to read these rules, with their line; nothing where it may. What counts is what nft takes for the
* word `include`, and it is the same to nft whether a blank, a comment or a continued line comes before the path:
* therefore the word alone is refused, wherever it is neither in a comment nor in a quoted string.
*/
function whyUnsafe(text, file) {
	const control = controlCharacter.exec(text);
	if (control !== null) {
		const why = `a control character (U+${control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}) stands here, which no rule needs: leave it out`;
		return at(file, text, control.index, why);
	}
	for (const { 0: token, index } of text.matchAll(tokens)) {
		if (token === "\"") return at(file, text, index, "this quote has no end: write the other one");
		if (mayBeInclude(token, text[index - 1])) return at(file, text, index, noInclude);
	}
}
/** A line may end as on Windows: some versions of nft take that, others say themselves that they do not. */
const controlCharacter = /(?!\r\n)[^\P{Cc}\t\n]/u;
/**
* nft's longest matches, as far as they tell where a comment, a quoted string and a word begin. A comment ends with its
* line, even after a backslash; a quoted string goes over any number of lines.
*/
const tokens = /#[^\n]*|"[^"]*"|[\w./-]+|./gs;
/**
* To nft a word that begins with a letter goes as far as it can: `my-include` and `include.x` are others. What begins
* otherwise may be a number (`1include`), a sign (`-include`) or, after a colon, the end of an address
* (`fe80::cinclude`), after which nft begins anew.
*/
function mayBeInclude(token, before) {
	if (!/^[\w./-]*include$/.test(token)) return false;
	return token === "include" || before === ":" || !/^[a-z]/i.test(token);
}
const noInclude = "the word include would have nft read another file, which could be any of the DUT: write the rules of that file here, and names that are or end with this word in quotes or otherwise";
const at = (file, text, index, why) => `${file}:${text.slice(0, index).split("\n").length}: Error: ${why}.`;

// src/dut/sysctl.ts
/** Reads `key = value` lines, see sysctl.conf(5); `file` is the name that messages give it. */
function parseSysctl(text, file) {
	const settings = /* @__PURE__ */ new Map();
	for (const [index, line] of text.split("\n").entries()) {
		const content = line.trim();
		if (content === "" || /^[#;]/.test(content)) continue;
		const refused = (why) => ({
			kind: "refused",
			message: `${file} line ${index + 1}: ${why}.`
		});
		const [, key, value] = keyAndValue.exec(line) ?? [];
		if (key === void 0 || value === void 0) return refused(`expected "key = value", found "${content.slice(0, mostShown)}"`);
		const path = pathOf(key);
		if (!networkSetting.test(path)) return refused(whyStrange(key, path));
		if (value.length > mostCharacters) return refused(`the value of ${key} has more than ${mostCharacters} characters`);
		settings.delete(path);
		settings.set(path, value);
	}
	return {
		kind: "read",
		settings
	};
}
/** Nothing but ASCII: what else looks like a blank is none to sysctl(8). */
const keyAndValue = /^[\t ]*([\w./-]+)[\t ]*=[\t ]*([!-~](?:[\t -~]*[!-~])?)[\t\r ]*$/;
const mostShown = 100;
/** The kernel takes no more than a page. */
const mostCharacters = 4e3;
/** The first separator says which of the two is the other's place holder: sysctl(8), whose own this is. */
function pathOf(key) {
	if (/[./]/.exec(key)?.[0] !== ".") return key;
	return key.replace(/[./]/g, (found) => found === "." ? "/" : ".");
}
/** Below /proc/sys/net; a star is the name of an interface, `all` or `default`. */
const folders = [
	"core",
	"unix",
	"ipv4",
	"ipv4/conf/*",
	"ipv4/neigh/*",
	"ipv4/route",
	"ipv4/vs",
	"ipv6",
	"ipv6/conf/*",
	"ipv6/neigh/*",
	"ipv6/route",
	"ipv6/icmp",
	"netfilter",
	"netfilter/nf_log",
	"bridge",
	"mpls",
	"mpls/conf/*",
	"mptcp",
	"sctp",
	"vrf"
];
const setting = String.raw`[a-zA-Z0-9][\w-]{0,63}`;
/** As long as the kernel has them at most, and no `.` or `..`, which would be other folders. */
const interfaceName = String.raw`(?!\.{1,2}/)[\w.-]{1,15}`;
const networkSetting = new RegExp(`^net/(?:nf_conntrack_max|(?:${folders.join("|").replaceAll("*", interfaceName)})/${setting})$`);
function whyStrange(key, path) {
	const shown = key.slice(0, mostShown);
	if (!path.startsWith("net/") || path.split("/").includes("..")) return `${shown} is no setting of the network (net.…)`;
	return `${shown} is none of the settings of a router's network, which lie in ${folders.map((folder) => `net.${folder.replaceAll("/", ".")}`).join(", ")}; a dot in the name of an interface is written as a slash (net.ipv4.conf.eth0/1.rp_filter)`;
}
/** A line for each setting, in the form that the DUT's program reads and writes. */
const formatSettings = (settings) => [...settings].map(([path, value]) => `${path} = ${value}\n`).join("");
/** Reads what `formatSettings`, or the DUT's program, has written: a value may be empty there. */
const readSettings = (text) => new Map(text.split("\n").flatMap((line) => {
	const [, path, value] = /^(\S+) = (.*)$/.exec(line) ?? [];
	return path === void 0 || value === void 0 ? [] : [[path, value]];
}));

// src/dut/linux.ts
const folder = "/run/ppsgate/dut";
const script = `${folder}/dut.bash`;
function linuxDut(host) {
	return {
		async prepare(overlays, scenarios) {
			await restore(host);
			await install(host);
			const variants = overlays.map(loadable);
			const refused = variants.find((overlay) => overlay.kind === "refused");
			if (refused?.kind === "refused") {
				const { variant, message } = refused;
				return doesNotLoad(variant, scenarios[0] ?? "forwarding", message);
			}
			const read = variants.filter((overlay) => overlay.kind === "loadable");
			const before = await remember(host, new Set(read.flatMap(({ sysctl }) => [...sysctl.keys()])));
			for (const overlay of read) await upload(host, overlay, before, scenarios);
			return prove(host, read, scenarios);
		},
		lay: (variant, scenario) => lay(host, variant, scenario),
		async observe(request, { isEnough, ...limits }) {
			const stdin = new PassThrough();
			const samplesWith = samplesAsTheyCome();
			let log = "";
			let asked = 0;
			const onStdout = (chunk) => {
				if (log.length > mostLogCharacters) return;
				const piece = Buffer.from(chunk).toString();
				log += piece;
				if (isEnough === void 0) return;
				const samples = samplesWith(piece);
				if (samples.length === asked || samples.length > request.slices) return;
				asked = samples.length;
				if (isEnough(samples)) stdin.write("\n");
			};
			const variants = request.variants.map(pathName);
			const live = isEnough !== void 0;
			const command = observeCommand({
				...request,
				variants,
				script,
				live
			});
			const outcome = await host.run(command, {
				...limits,
				stdin,
				onStdout
			});
			stdin.end();
			if (log.length > mostLogCharacters) {
				const reason = `the DUT wrote more than ${mostLogCharacters} characters where it was to sample`;
				return {
					log,
					observation: {
						kind: "failed",
						reason
					}
				};
			}
			const observation = outcome.kind === "exited" && outcome.code === 0 ? parseObservation(log) : {
				kind: "failed",
				reason: outcome.stderr.trim() || "the DUT’s sampler was ended"
			};
			return {
				log,
				observation
			};
		},
		async sample(request, limits) {
			const stdin = new PassThrough();
			const variant = pathName(request.variant);
			try {
				return await host.run(samplingCommand({
					...request,
					variant,
					script
				}), {
					...limits,
					stdin
				});
			} finally {
				stdin.end();
			}
		},
		async printSamples() {
			const text = await host.output(printingCommand(folder), { maxOutputBytes: mostProfileBytes });
			await host.output(shell`rm -f ${`${folder}/perf.data`}`);
			return text;
		},
		fingerprint: () => fingerprint(host),
		restore: () => restore(host)
	};
}
/** A line has some 80, and a blast at most tens of thousands of lines. */
const mostLogCharacters = 16 * 1024 ** 2;
/** More than ten times what the samples that are wanted take. */
const mostProfileBytes = 256 * 1024 ** 2;
async function install(host) {
	await host.output(shell`mkdir -p ${folder}`);
	await host.upload(linuxDutScript, script, 493);
}
/** What an earlier experiment left is laid back too, which is why the script is put there anew. */
async function restore(host) {
	await install(host);
	await host.output(shell`bash ${script} restore`);
	await host.output(shell`rm -rf ${folder} ${`${folder}.lock`}`);
}
/** What a Linux DUT loads of an overlay; anything else in it would be ignored, and so measured wrongly. */
function loadable(overlay) {
	const { variant, files } = overlay;
	const refused = (message) => ({
		kind: "refused",
		variant,
		message
	});
	const stranger = files.find((file) => file.mode !== "100644" || !loadedFiles.has(file.path));
	if (stranger !== void 0) {
		const names = [...loadedFiles].join(" and ");
		return refused(`${stranger.path} is nothing that a Linux DUT loads: an overlay holds ${names}, as plain files.`);
	}
	const content = (path) => files.find((file) => file.path === path)?.content ?? "";
	const sysctl = parseSysctl(content("sysctl.conf"), "sysctl.conf");
	if (sysctl.kind === "refused") return refused(sysctl.message);
	const nftables = `${content("nftables.conf")}\n`;
	const unsafe = whyUnsafe(nftables, "nftables.conf");
	if (unsafe !== void 0) return refused(unsafe);
	return {
		kind: "loadable",
		variant,
		sysctl: sysctl.settings,
		nftables
	};
}
const loadedFiles = /* @__PURE__ */ new Set(["sysctl.conf", "nftables.conf"]);
/** The DUT's own values of the settings that some variant changes: the other variants need them too. */
async function remember(host, paths) {
	await host.output(shell`bash ${script} remember`, { stdin: [...paths, ""].join("\n") });
	return readSettings(await host.output(shell`cat ${`${folder}/before/sysctl.conf`}`));
}
async function upload(host, { variant, sysctl, nftables }, before, scenarios) {
	const target = folderOf(variant);
	const ofOthers = [...before].filter(([path]) => !sysctl.has(path));
	await host.output(shell`mkdir -p ${target}`);
	const files = new Map([
		["sysctl.conf", formatSettings(new Map([...ofOthers, ...sysctl]))],
		["nftables.conf", nftables],
		...scenarios.map((scenario) => [`${scenario}.nft`, ruleset(target, scenario)])
	]);
	await Promise.all([...files].map(([name, text]) => host.upload(Buffer.from(text), `${target}/${name}`, 384)));
}
const folderOf = (variant) => `${folder}/${pathName(variant)}`;
const ruleset = (target, scenario) => `flush ruleset\ninclude "${target}/nftables.conf"\n${scenarioRules(scenario)}`;
async function prove(host, variants, scenarios) {
	for (const { variant, nftables } of variants) for (const scenario of scenarios) {
		const laid = await lay(host, variant, scenario, nftables);
		if (laid.kind === "rejected") return laid;
	}
	return { kind: "ready" };
}
/** `nftables` are the variant's own rules, which a refusal tells of. */
async function lay(host, variant, scenario, nftables = "") {
	const target = folderOf(variant);
	const outcome = await host.run(shell`timeout --kill-after=5 ${laySeconds} bash ${script} lay ${target} ${scenario}`);
	if (outcome.kind === "exited" && outcome.code === 0) return { kind: "ready" };
	const { stderr } = outcome;
	const ending = endingOf(outcome);
	const message = loadRefusal({
		folder: target,
		scenario,
		nftables,
		stderr,
		ending
	});
	return doesNotLoad(variant, scenario, message);
}
/** Rules may hold a command that never ends, like `monitor`; a set of a million addresses loads in seconds. */
const laySeconds = 120;
function endingOf(outcome) {
	if (outcome.kind === "signaled") return `was ended by ${outcome.signal}`;
	return outcome.code === 124 ? `took more than ${laySeconds} s` : `exited with ${outcome.code}`;
}
const doesNotLoad = (variant, scenario, message) => ({
	kind: "rejected",
	variant,
	rejection: {
		kind: "does-not-load",
		scenario,
		message
	}
});
async function fingerprint(host) {
	const [kernel, build, architecture, models, cpus, nftables, ...settings] = await Promise.all([
		host.output(shell`uname -sr`),
		host.output(shell`uname -v`),
		host.output(shell`uname -m`),
		host.output(shell`sed -n 's/^model name[^:]*: //p' /proc/cpuinfo`),
		host.output(shell`nproc`),
		host.output(shell`nft --version`),
		...recordedSettings.map((key) => host.output(shell`sysctl -n ${key}`))
	]);
	return {
		kernel: kernel.trim(),
		build: build.trim(),
		cpu: `${models.split("\n")[0] || architecture.trim()} × ${cpus.trim()}`,
		nftables: nftables.trim(),
		...Object.fromEntries(recordedSettings.map((key, index) => [key, settings[index]?.trim() ?? ""]))
	};
}
const recordedSettings = [
	"net.ipv4.ip_forward",
	"net.ipv6.conf.all.forwarding",
	"net.ipv4.conf.all.send_redirects"
];

export { BootMethodError, DutLostError, advice, arrivalsAround, arrivedBetween, busyShare, checkSettings, collectSamples, countersCommands, countersLog, differences$1 as differences, endSampling, fileSystemsOf, fingerprintCommands, fingerprintOf, flashed, generatorPortSettings, hasBootedSinceMark, isOurs, linuxDut, loadedFiles$1 as loadedFiles, markBoot, nextRoot, openFreebsdDut, parseArp, parseCpuTimes, parseIfconfig, parseInterfaceCounters, parseNdp, parseObservation, parseRoutes, pathSettings, problemOf, readsOf, readySampling, runningSystem, sentBetween, sentWithin, settingsCommands, waived, wakeFreebsdDut, whyUnfit, windowCommand };