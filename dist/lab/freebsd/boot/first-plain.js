import { shell } from "../../../system/shell.js";
import { slicesOf } from "../dut/first-plain.js";
const { basename } = globalThis.process.getBuiltinModule("node:path/posix");

// src/lab/freebsd/boot/boot-system.ts
async function runningSystem(host) {
	const [bootfile, [root]] = await Promise.all([host.output(shell`sysctl -n kern.bootfile`), fileSystemsOf(host, ["/"])]);
	const kernel = bootfile.trim();
	return {
		root: root?.device ?? "",
		kernel,
		sha256: await sha256Of(host, kernel)
	};
}
function whyOther(running, expected) {
	const name = ({ root, kernel }) => running.root === expected.root ? kernel : `${kernel} of ${root}`;
	if (!isSamePlace(running, expected)) return `${name(running)} came up instead of ${name(expected)}`;
	if (running.sha256 === expected.sha256) return void 0;
	return `${name(running)} has a different checksum than before the boot`;
}
/**
* True for a system that an experiment installed: by nextboot(8) in a folder, by bectl(8) in an environment of that
* name.
*/
const isOurs = ({ root, kernel }) => kernel.startsWith("/boot/ppsgate.") || basename(root).startsWith("ppsgate.");
const isSamePlace = (one, other) => one.root === other.root && one.kernel === other.kernel;
const sha256Of = async (host, file) => (await host.output(shell`sha256 -q ${file}`)).trim();
async function fileSystemsOf(host, paths) {
	const [, ...rows] = (await host.output(shell`df -k -T ${paths}`)).trim().split("\n");
	return rows.map((row) => {
		const [device = "", type = "", , , kibibytes, , ...path] = row.split(/\s+/);
		return {
			device,
			type,
			availableBytes: Number(kibibytes) * 1024,
			mountedOn: path.join(" ")
		};
	});
}
/** A variable in the kernel's environment, which every boot recreates. */
const mark = "ppsgate.boot";
/** A reboot loses the mark. kern.boottime moves with the clock, and FreeBSD 12 has no kern.boot_id. */
const markBoot = async (host) => {
	await host.output(shell`kenv ${`${mark}=1`}`);
};
/** Returns false for an empty environment, which proves nothing. */
async function hasBootedSinceMark(host) {
	const names = (await host.output(shell`kenv -N`)).split("\n").filter(Boolean);
	return names.length > 0 && !names.includes(mark);
}

// src/lab/freebsd/boot/boot.ts
/** Reports that the machine's own tools do not support a method, so that no kernel can be booted. */
var BootMethodError = class extends Error {
	name = "BootMethodError";
};
/** Reports that the machine does not come back, and needs a person before the next measurement. */
var DutLostError = class extends Error {
	name = "DutLostError";
};
/** Before 13, nextboot(8) leaves an order on ZFS that the loader cannot cancel. */
const oldestOnZfs = 13;
/** Returns undefined if it can; throws a HostError if the machine is no appliance. Changes nothing. */
async function whyUnfit(host, method) {
	if (method === "nanobsd") {
		await slicesOf(host);
		return;
	}
	const other = "choose another `boot.method` in ppsgate.yml";
	const [root, boot] = await fileSystemsOf(host, ["/", "/boot"]);
	if (method === "boot-environment" && root?.type !== "zfs") return {
		why: `its root is on ${root?.device}, not on ZFS`,
		fix: other
	};
	if (boot?.type !== "ufs" && boot?.type !== "zfs") return {
		why: `/boot is on ${boot?.type} (${boot?.device}), where the loader cannot reset nextboot: a kernel that panics would boot again and again`,
		fix: "boot it from UFS or ZFS, as nextboot(8) requires"
	};
	const major = Number.parseInt(await host.output(shell`uname -r`), 10);
	if (boot.type === "zfs" && major < oldestOnZfs) return {
		why: `on ZFS it needs FreeBSD ${oldestOnZfs} or later, and the DUT runs ${major}`,
		fix: `install FreeBSD ${oldestOnZfs} or later on the DUT`
	};
}

export { BootMethodError, DutLostError, fileSystemsOf, hasBootedSinceMark, isOurs, isSamePlace, markBoot, runningSystem, sha256Of, whyOther, whyUnfit };