import { UsageError, fileReasonOf, lastLine, reasonOf } from "../../../model/first-plain.js";
import { labPath } from "../../netns/plain.js";
import { commandText } from "../../../system/shell.js";
import { headOf } from "../../../system/decompress.js";
import { describeScreen } from "../../console/plain.js";
const { once } = globalThis.process.getBuiltinModule("node:events");
const { basename, delimiter, dirname, join } = globalThis.process.getBuiltinModule("node:path");
const { constants, readFileSync } = globalThis.process.getBuiltinModule("node:fs");
const { promisify } = globalThis.process.getBuiltinModule("node:util");
const { access, chown, copyFile, mkdir, open, readFile, readdir, realpath, rm, stat, symlink, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");
const { execFile, spawn } = globalThis.process.getBuiltinModule("node:child_process");
const { createInterface } = globalThis.process.getBuiltinModule("node:readline");

// src/lab/qemu/vm/linux-image.ts
/** The version lies in the first sectors of the image. */
const maxImageHeaderBytes = 32768;
/** Release, builder and version, `6.1.0-50-cloud-amd64 (…) #1 SMP …`; undefined for anything but a bzImage. */
function linuxVersionIn(header) {
	if (!(header.length > 528 && header.toString("latin1", 514, 518) === "HdrS")) return void 0;
	const at = header.readUInt16LE(526) + 512;
	const version = header.toString("latin1", at, header.indexOf(0, at));
	return /^[\w][\w.+~-]{0,100} [ -~]+$/.test(version) ? version : void 0;
}

// src/lab/qemu/vm/unprivileged-user.ts
/** A user and group id without an account; its bytes read `ppsg`. */
const unprivilegedUserId = 1886417767;
const run$1 = promisify(execFile);
/** Limits of setrlimit(2) for file size, time and memory. A kernel's packages need a tenth. */
const maxFileBytes = 1024 ** 3;
const limits = [
	`--fsize=${maxFileBytes}`,
	"--cpu=600",
	`--as=${4 * 1024 ** 3}`
];
/** Runs a program as that user, without a way back, within limits; throws if that fails. */
async function runUnprivileged(program, args) {
	const user = String(unprivilegedUserId);
	const { stdout } = await run$1("setpriv", [
		...[
			"--reuid",
			user,
			"--regid",
			user,
			"--clear-groups",
			"--no-new-privs",
			"--"
		],
		"prlimit",
		...limits,
		"--",
		program,
		...args
	], {
		env: {
			PATH: labPath(),
			LC_ALL: "C"
		},
		maxBuffer: 16 * 1024 ** 2,
		cwd: "/"
	});
	return stdout;
}

// src/lab/qemu/vm/addresses.ts
/** The controller's end of the control cable; link-local, so that only this machine can be reached. */
const controllerAddress = "169.254.74.1";
const wireAddress = "169.254.74.2";
const guestAddress = "169.254.74.15";
/**
* Options of QEMU's `-netdev user`, a network of one guest, in which DHCP assigns this address, too. Connections come
* from the controller's address, for which QEMU replies there, so guests need no router for their replies.
*/
const guestNetwork = `net=169.254.74.0/24,host=${controllerAddress},dhcpstart=${guestAddress}`;
/** All guests have the same addresses, each on its own wires; guests name their cards by them. */
const guestMac = {
	management: "02:70:70:00:00:00",
	ingress: "02:70:70:00:00:01",
	egress: "02:70:70:00:00:02"
};
/** Names that `guest-init.sh` gives the cards. */
const linuxGuestPorts = {
	ingress: "ppsgate-in",
	egress: "ppsgate-out"
};
const senderMac = "02:70:70:00:ff:01";
const receiverMac = "02:70:70:00:ff:02";
const guestPorts = {
	ingress: {
		inet4: "198.18.0.1",
		inet6: "2001:2::1"
	},
	egress: {
		inet4: "198.19.0.1",
		inet6: "2001:2:0:8000::1"
	}
};
const neighbours = {
	sender: {
		inet4: "198.18.0.2",
		inet6: "2001:2::2"
	},
	receiver: {
		inet4: "198.19.0.2",
		inet6: "2001:2:0:8000::2"
	}
};

// src/lab/qemu/vm/disk-image.ts
/** The first descriptor after standard input, output and error. */
const inheritedFile = 3;
/** Throws a UsageError for a file that cannot be read, or whose format would make QEMU open other files. */
async function openDiskImage(path, writesTo = "copy") {
	const mode = writesTo === "copy" ? constants.O_RDONLY : constants.O_RDWR;
	const file = await open(path, mode | constants.O_NONBLOCK).catch(unreadable$1(path));
	try {
		const stats = await file.stat();
		if (!stats.isFile() && !stats.isBlockDevice()) throw new Error("it is neither a file nor a disk");
		const header = await beginningOf(file);
		const format = header.subarray(0, 4).equals(qcowMagic) ? "qcow2" : "raw";
		const reference = format === "qcow2" ? referenceIn(header) : void 0;
		if (reference !== void 0) throw new UsageError(`The image ${path} ${reference}: if you trust it, convert it to one file with \`qemu-img convert -O qcow2\`.`);
		return {
			descriptor: file.fd,
			qemuArguments: argumentsFor(format, stats.isBlockDevice() ? "host_device" : "file", writesTo === "image" ? path : void 0),
			[Symbol.asyncDispose]: () => file.close()
		};
	} catch (error) {
		await file.close();
		throw error instanceof UsageError ? error : unreadable$1(path)(error);
	}
}
const unreadable$1 = (path) => (error) => {
	throw new UsageError(`The image ${path} cannot be read (${fileReasonOf(error)}).`);
};
const qcowMagic = Buffer.from("QFIû", "latin1");
/** Size of the largest cluster, which holds the header with its extensions. */
const maxHeaderBytes = 2 * 1024 ** 2;
async function beginningOf(file) {
	const { buffer, bytesRead } = await file.read(Buffer.alloc(maxHeaderBytes), 0, null, 0);
	return buffer.subarray(0, bytesRead);
}
/** Offsets and bits of QEMU's docs/interop/qcow2.txt. */
const shortestHeaderBytes = 104;
const version2HeaderBytes = 72;
const externalDataBit = 1n << 2n;
const dataFileNameExtension = 1145132097;
/** Explains in a clause which other file QEMU would open. */
function referenceIn(header) {
	if (header.length < shortestHeaderBytes) return "ends within its header";
	const version = header.readUInt32BE(4);
	if (version !== 2 && version !== 3) return `has version ${version} of its format instead of 2 or 3`;
	if (header.readBigUInt64BE(8) !== 0n) return "names a backing file, which guests could read";
	const hasDataFile = version === 3 && (header.readBigUInt64BE(72) & externalDataBit) !== 0n;
	const headerBytes = version === 3 ? header.readUInt32BE(100) : version2HeaderBytes;
	if (hasDataFile || extensionsOf(header, headerBytes).has(dataFileNameExtension)) return "keeps its data in another file, which guests could read";
}
/** Types of the header's extensions; each has a length of four bytes and is padded to eight. */
function extensionsOf(header, headerBytes) {
	const types = /* @__PURE__ */ new Set();
	for (let at = headerBytes; at + 8 <= header.length;) {
		const type = header.readUInt32BE(at);
		if (type === 0) break;
		types.add(type);
		at += 8 + Math.ceil(header.readUInt32BE(at + 4) / 8) * 8;
	}
	return types;
}
/** States the format, which QEMU would otherwise probe, and excludes other files. */
function argumentsFor(format, driver, written) {
	const node = {
		driver: format,
		...format === "qcow2" && { backing: null },
		file: {
			driver,
			filename: written ?? "/dev/fdset/1"
		}
	};
	const file = `json:${JSON.stringify(node)}`.replaceAll(",", ",,");
	return [
		"-add-fd",
		`fd=${3},set=1`,
		"-drive",
		`if=none,id=disk,file=${file},snapshot=${written === void 0 ? "on" : "off"},cache=unsafe,werror=report`,
		"-device",
		"virtio-blk-pci,drive=disk"
	];
}

// src/lab/qemu/vm/kernel-files.ts
/** Reports that a guest cannot boot the archive's kernel; the message continues the archive's name. */
var KernelFilesError = class extends Error {
	name = "KernelFilesError";
};
/** Reports that this machine has no kernel with its modules; guests then boot only a named, built or given kernel. */
var NoOwnKernelError = class extends KernelFilesError {};
/**
* Modules loaded at boot in this order: for the wires and the firewall. The kernel loads others for rules
* automatically.
*/
const loadedAtBoot = [
	"virtio_pci",
	"virtio_net",
	"nf_tables"
];
const netfilter = /\/net\/(?:netfilter|ipv4\/netfilter|ipv6\/netfilter)\/nf[\w-]*\.ko/;
/**
* Unpacks a kernel of this machine, a .deb or a tar archive with `boot/vmlinuz-*` and `lib/modules/*`, into a new
* folder. `more` are modules to load in addition to those of every guest.
*/
async function unpackKernel(archive, folder, more, most = usualLimits) {
	const { size } = await stat(archive).catch(unreadable);
	if (size > maxFileBytes) throw tooLarge("bytes", maxFileBytes);
	await beginFolder(folder);
	const copy = join(folder, "archive");
	await copyFile(archive, copy).catch(unreadable);
	await chown(copy, unprivilegedUserId, unprivilegedUserId);
	const tree = join(folder, "tree");
	await inFolder(["mkdir", tree]);
	try {
		await inFolder([
			"bash",
			"-c",
			extractScript,
			"bash",
			copy,
			tree,
			...numbersOf(most)
		]);
		await inFolder([
			"find",
			tree,
			"!",
			"-type",
			"f",
			"!",
			"-type",
			"d",
			"-delete"
		]);
		if (Number((await inFolder([
			"du",
			"-sb",
			tree
		])).split("	")[0]) > most.bytes) throw tooLarge("bytes once unpacked", most.bytes);
		await rm(copy);
		return await filesOf({
			tree,
			folder,
			more,
			most
		});
	} catch (error) {
		await rm(folder, {
			recursive: true,
			force: true
		});
		throw error;
	}
}
const unreadable = (error) => {
	throw new KernelFilesError(`cannot be read (${fileReasonOf(error)})`);
};
const tooLarge = (what, most) => new KernelFilesError(`has more than ${most.toLocaleString("en-US")} ${what}`);
const usualLimits = {
	bytes: 2 * 1024 ** 3,
	files: 1e5
};
/** tar(1) reads records of 10 KiB. */
const numbersOf = ({ bytes, files }) => [String(Math.ceil(bytes / 10240)), String(files + 1)];
/** Ends tar(1) after this many records of the decompressed archive, see `--checkpoint` in its manual, or files. */
const extractScript = `set -o pipefail
limits=(--extract --verbose --checkpoint="$3" --checkpoint-action=exec='kill $PPID')
unpack() {
  if [ "$(head -c 7 "$1")" = '!<arch>' ]
  then dpkg-deb --fsys-tarfile "$1" | tar "\${limits[@]}" -f - -C "$2"
  else tar "\${limits[@]}" -f "$1" -C "$2"
  fi
}
files=$(unpack "$@" | head -n "$4" | wc -l)
status=$?
if [ $status -eq 143 ]; then echo it unpacks to too many bytes >&2; fi
if [ "$files" -ge "$4" ]; then echo it has too many files >&2; status=1; fi
exit $status`;
/** Copies the kernel with the highest release in this machine's /boot, in the same form. */
async function ownKernel(folder, more) {
	const releases = await namesIn("/lib/modules");
	const images = await namesIn("/boot");
	const [newest] = releases.filter((release) => images.includes(`vmlinuz-${release}`)).toSorted((a, b) => b.localeCompare(a, "en", { numeric: true }));
	if (newest === void 0) throw new NoOwnKernelError("This machine has no kernel with its modules in /boot and /lib/modules: name one by `kernel`");
	await beginFolder(folder);
	const tree = join(folder, "tree");
	const image = join(tree, "boot", `vmlinuz-${newest}`);
	await inFolder([
		"mkdir",
		"-p",
		join(tree, "boot"),
		join(tree, "lib/modules")
	]);
	await copyFile(`/boot/vmlinuz-${newest}`, image);
	await inFolder([
		"cp",
		"-r",
		`/lib/modules/${newest}`,
		join(tree, "lib/modules")
	]);
	return filesOf({
		tree,
		folder,
		more,
		most: usualLimits
	});
}
const namesIn = (folder) => readdir(folder).catch(() => []);
async function beginFolder(folder) {
	await mkdir(folder, { recursive: true });
	await chown(folder, unprivilegedUserId, unprivilegedUserId);
}
/** Runs a program on untrusted files without privileges. */
async function inFolder([program = "", ...args]) {
	try {
		return await runUnprivileged(program, args);
	} catch (error) {
		const stderr = error instanceof Error && "stderr" in error ? String(error.stderr) : "";
		throw new KernelFilesError(`cannot be unpacked: ${lastLine(stderr) ?? reasonOf(error)}`);
	}
}
async function filesOf({ tree, folder, more, most }) {
	const found = await imageIn(tree);
	const version = await versionOf(found);
	const release = version.split(" ")[0] ?? "";
	const kept = join(folder, "kept");
	const atBoot = await keepModules({
		tree: await modulesIn(tree, release),
		release,
		more,
		kept,
		most
	});
	const [image, modules] = [join(folder, "vmlinuz"), join(folder, "modules.cpio")];
	await inFolder([
		"mv",
		found,
		image
	]);
	await inFolder(packing(kept, modules));
	await rm(tree, { recursive: true });
	await rm(kept, { recursive: true });
	return {
		image,
		modules,
		atBoot,
		version
	};
}
async function imageIn(tree) {
	const images = (await namesIn(join(tree, "boot"))).filter((name) => name.startsWith("vmlinuz"));
	const [image] = images;
	if (image === void 0 || images.length > 1) throw new KernelFilesError(`has ${images.length} files boot/vmlinuz-*, expected one`);
	return join(tree, "boot", image);
}
async function versionOf(image) {
	const header = await headOf(image, 0, maxImageHeaderBytes).catch(() => Buffer.alloc(0));
	const version = linuxVersionIn(header);
	if (version !== void 0) return version;
	throw new KernelFilesError("has a boot/vmlinuz that is not a Linux bzImage for x86");
}
/** Older packages use /lib, newer ones /usr/lib. */
async function modulesIn(tree, release) {
	for (const top of [tree, join(tree, "usr")]) if ((await namesIn(join(top, "lib/modules"))).includes(release)) return top;
	throw new KernelFilesError(`has no lib/modules/${release}, the release of its boot/vmlinuz`);
}
/** Keeps the modules of guests and their dependencies, decompressed, as the kernel may lack the compression. */
async function keepModules(from) {
	const { tree, release, more, kept, most } = from;
	const source = join(tree, "lib/modules", release);
	const target = join(kept, "lib/modules", release);
	await inFolder([
		"depmod",
		"--basedir",
		tree,
		release
	]);
	const all = await readdir(source, { recursive: true });
	const rules = all.filter((path) => netfilter.test(`/${path}`)).map(moduleName);
	const builtIn = await readFile(join(source, "modules.builtin"), "utf8").catch(() => "");
	const known = new Set([...all, ...builtIn.split("\n")].map(moduleName));
	const missing = more.find((name) => !known.has(name));
	if (missing !== void 0) throw new KernelFilesError(`has no module ${missing}`);
	const atBoot = [...loadedAtBoot, ...more];
	const paths = (await dependencies(tree, release, [.../* @__PURE__ */ new Set([...atBoot, ...rules])])).map((path) => path.slice(source.length + 1));
	const tables = all.filter((path) => /^modules\.(?:builtin|order)/.test(path));
	await inFolder([
		"mkdir",
		"-p",
		target,
		join(kept, "etc")
	]);
	await inFolder([
		"sh",
		"-c",
		"cd \"$1\" && shift && target=$1 && shift && cp --parents \"$@\" \"$target\"",
		"sh",
		source,
		target,
		...paths,
		...tables
	]);
	await inFolder([
		"bash",
		"-c",
		unpackScript,
		"bash",
		target,
		String(most.bytes)
	]);
	await inFolder([
		"depmod",
		"--basedir",
		kept,
		release
	]);
	const loaded = atBoot.filter((name) => paths.some((path) => moduleName(path) === name));
	await inFolder([
		"sh",
		"-c",
		"echo \"$2\" >\"$1/etc/modules\"",
		"sh",
		kept,
		loaded.join(" ")
	]);
	return loaded;
}
const moduleName = (path) => basename(path).replace(/\.ko.*$/, "").replaceAll("-", "_");
/** Lists files of modules and their dependencies, without built-in or missing ones. */
async function dependencies(tree, release, names) {
	const shown = await inFolder([...[
		"sh",
		"-c",
		"modprobe \"$@\" 2>/dev/null; :",
		"sh",
		"--dirname",
		tree
	], ...[
		"--set-version",
		release,
		"--show-depends",
		"--all",
		...names
	]]);
	return [...new Set([...shown.matchAll(/^insmod (\S+)/gm)].flatMap(([, path]) => path ?? []))];
}
const unpackScript = `set -e -o pipefail
left=$2
find "$1" -name '*.ko.*' -print0 | while IFS= read -r -d '' packed
do
  case $packed in
    *.xz) program=xz;;
    *.zst) program=zstd;;
    *.gz) program=gzip;;
    *) continue;;
  esac
  whole=yes
  "$program" -dc <"$packed" | head -c "$left" >"\${packed%.*}" || whole=no
  left=$((left - $(stat -c %s "\${packed%.*}")))
  if [ "$left" -le 0 ]; then echo its modules unpack to too many bytes >&2; exit 1; fi
  [ $whole = yes ]
  rm "$packed"
done
`;
/** Packs a folder as the initramfs; see Linux's Documentation/driver-api/early-userspace. */
const packing = (folder, archive) => [
	"sh",
	"-c",
	"umask 077; cd \"$1\" && find . -print0 | cpio --quiet --null --create --format=newc >\"$2\"",
	"sh",
	folder,
	archive
];

// src/lab/qemu/vm/userland.ts
const run = promisify(execFile);
const init = readFileSync(new URL("../../../guest-init.sh", import.meta.url));
/** Programs of this machine for guests; the kernel and the first program call kmod(8) by three names. */
const programs = [
	"bash",
	"chrt",
	"flock",
	"ip",
	"kmod",
	"nft",
	"sshd",
	"sysctl",
	"taskset",
	"timeout"
];
/** Executed by sshd(8) for each connection, from OpenSSH 9.8 and 10.0 on. */
const sshdParts = ["/usr/lib/openssh/sshd-session", "/usr/lib/openssh/sshd-auth"];
/** Counts drops of queueing disciplines. Distributions may package it apart from ip(8). */
const optionalPrograms = ["tc"];
/** Tables of nft(8) for names like icmp and ssh. */
const namesOfRules = ["/etc/protocols", "/etc/services"];
const kmodNames = ["modprobe", "lsmod"];
const busyboxNames = [
	"basename",
	"cut",
	"df",
	"diff",
	"od",
	"cat",
	"chmod",
	"cp",
	"dirname",
	"dmesg",
	"grep",
	"head",
	"ls",
	"mkdir",
	"mktemp",
	"mount",
	"mv",
	"nproc",
	"pgrep",
	"pkill",
	"readlink",
	"rm",
	"sed",
	"sh",
	"sleep",
	"sync",
	"tail",
	"tr",
	"uname",
	"unshare",
	"wc"
];
async function packUserland(archive, keys) {
	const root = `${archive}.folder`;
	await rm(root, {
		recursive: true,
		force: true
	});
	const usrBin = join(root, "usr/bin");
	for (const folder of [
		"dev",
		"etc/ssh",
		"proc",
		"root",
		"run",
		"sys",
		"tmp",
		"usr/bin"
	]) await mkdir(join(root, folder), { recursive: true });
	for (const link of [
		"bin",
		"sbin",
		"usr/sbin"
	]) await symlink(link === "usr/sbin" ? "bin" : "usr/bin", join(root, link));
	const found = await Promise.allSettled(optionalPrograms.map(pathOf));
	const names = [
		...programs,
		"busybox",
		...optionalPrograms.filter((_, index) => found[index]?.status === "fulfilled")
	];
	const files = [...await Promise.all(names.map(async (name) => [await pathOf(name), `/usr/bin/${name}`])), ...await presentOf(sshdParts)];
	const libraries = await Promise.all(files.map(([path]) => librariesOf(path)));
	const shared = [...new Set(libraries.flat())].map((path) => [path, path]);
	for (const [path, place] of [
		...files,
		...shared,
		...await presentOf(namesOfRules)
	]) {
		await mkdir(dirname(join(root, place)), { recursive: true });
		await copyFile(path, join(root, place));
	}
	for (const name of kmodNames) await symlink("kmod", join(usrBin, name));
	for (const name of busyboxNames) await symlink("busybox", join(usrBin, name));
	await copyFile(keys.host, join(root, "etc/ssh/host"));
	const written = {
		init,
		"etc/passwd": "root:x:0:0::/root:/bin/bash\nsshd:x:101:65534::/run/sshd:/bin/false\n",
		"etc/group": "root:x:0:\n",
		"etc/ssh/authorized": keys.controller,
		"etc/ssh/sshd_config": sshdConfiguration,
		"etc/fstab": fstab,
		"etc/network.ip": `${network.join("\n")}\n`
	};
	for (const [name, content] of Object.entries(written)) await writeFile(join(root, name), content, { mode: name === "init" ? 493 : 384 });
	const [program = "", ...args] = packing(root, archive);
	await run(program, args);
	await rm(root, { recursive: true });
}
async function pathOf(program) {
	for (const folder of labPath().split(delimiter)) {
		const path = await realpath(join(folder, program)).catch(() => void 0);
		if (path !== void 0) return path;
	}
	throw new Error(`This machine has no ${program}, which guests need.`);
}
async function presentOf(paths) {
	const found = await Promise.allSettled(paths.map((path) => access(path)));
	return paths.filter((_, index) => found[index]?.status === "fulfilled").map((path) => [path, path]);
}
/** Paths of libraries, found by the loader, which is among them; none for a static program. */
async function librariesOf(path) {
	return [...(await run("ldd", [path]).catch(() => ({ stdout: "" }))).stdout.matchAll(/(?:^\s*|=> )(\/\S+)/gm)].flatMap(([, library]) => library ?? []);
}
const sshdConfiguration = `
HostKey /etc/ssh/host
AuthorizedKeysFile /etc/ssh/authorized
AuthenticationMethods publickey
PermitRootLogin prohibit-password
StrictModes no
UsePAM no
UseDNS no
PidFile none
SetEnv SHLVL=2
Subsystem sftp internal-sftp
`;
const fstab = `proc /proc proc
sys /sys sysfs
dev /dev devtmpfs
run /run tmpfs
`;
const { ingress, egress } = guestPorts;
const { sender, receiver } = neighbours;
const network = [
	`address add ${guestAddress}/24 dev management`,
	"link set dev management up",
	`address add ${ingress.inet4}/30 dev ppsgate-in`,
	`address add ${ingress.inet6}/126 dev ppsgate-in nodad`,
	"link set dev ppsgate-in up",
	`address add ${egress.inet4}/30 dev ppsgate-out`,
	`address add ${egress.inet6}/126 dev ppsgate-out nodad`,
	"link set dev ppsgate-out up",
	`neighbour replace ${sender.inet4} lladdr ${senderMac} dev ppsgate-in nud permanent`,
	`neighbour replace ${sender.inet6} lladdr ${senderMac} dev ppsgate-in nud permanent`,
	`neighbour replace ${receiver.inet4} lladdr ${receiverMac} dev ppsgate-out nud permanent`,
	`neighbour replace ${receiver.inet6} lladdr ${receiverMac} dev ppsgate-out nud permanent`,
	`route add 198.18.0.0/16 via ${sender.inet4}`,
	`route add 198.19.0.0/16 via ${receiver.inet4}`,
	`route add 2001:2::/49 via ${sender.inet6}`,
	`route add 2001:2:0:8000::/49 via ${receiver.inet6}`
];

// src/lab/qemu/vm/wire.ts
const ourInterface = "ppsgate-vm";
const environment = {
	...process.env,
	PATH: labPath(),
	LC_ALL: "C"
};
const execute = promisify(execFile);
async function openWire() {
	const keeper = spawn("unshare", [
		"--net",
		"--pid",
		"--fork",
		"--kill-child",
		"sh",
		"-c",
		"read -r pid _ </proc/self/stat; echo \"$pid\"; exec cat >/dev/null"
	], {
		stdio: [
			"pipe",
			"pipe",
			"inherit"
		],
		env: environment,
		detached: true
	});
	const ended = once(keeper, "exit");
	const pid = await Promise.race([firstLine(keeper), ended.then(() => void 0)]);
	if (pid === void 0) throw new Error("No network namespace could be created: run `unshare --net --pid`, and fix its error.");
	const inside = (program, args) => [
		"--target",
		pid,
		"--net",
		"--pid",
		"--",
		program,
		...args
	];
	const wire = {
		start(program, args, file) {
			return spawn("nsenter", inside("sh", [
				"-c",
				"{ echo -20 >/proc/self/autogroup; } 2>/dev/null; exec nice -n -40 \"$@\"",
				"sh",
				program,
				...args
			]), {
				stdio: [
					"pipe",
					"pipe",
					"pipe",
					...file === void 0 ? [] : [file]
				],
				env: environment,
				detached: true
			});
		},
		async run(program, args, input = "") {
			const running = execute("nsenter", inside(program, args), { env: environment });
			running.child.stdin?.on("error", () => {}).end(input);
			return (await running).stdout;
		},
		async [Symbol.asyncDispose]() {
			keeper.stdin.end();
			await ended;
		}
	};
	try {
		await wire.run("ip", [
			"link",
			"set",
			"dev",
			"lo",
			"up"
		]);
		await plugIn(wire, pid);
		return wire;
	} catch (error) {
		await wire[Symbol.asyncDispose]();
		throw error;
	}
}
async function firstLine(keeper) {
	if (keeper.stdout === null) return void 0;
	for await (const line of createInterface({ input: keeper.stdout })) return line;
}
async function plugIn(wire, pid) {
	await execute("ip", [
		"link",
		"delete",
		ourInterface
	], { env: environment }).catch(() => {});
	const here = [
		`link add ${ourInterface} type veth peer name management netns ${pid}`,
		`address add ${controllerAddress}/30 dev ${ourInterface}`,
		`link set dev ${ourInterface} up`
	];
	const running = execute("ip", ["-batch", "-"], { env: environment });
	running.child.stdin?.on("error", () => {}).end(`${here.join("\n")}\n`);
	await running;
	const there = [`address add ${wireAddress}/30 dev management`, "link set dev management up"];
	await wire.run("ip", ["-batch", "-"], `${there.join("\n")}\n`);
}

// src/lab/qemu/vm/console-shell.ts
/** The message is a clause on the console or on a command. */
var ConsoleShellError = class extends Error {
	name = "ConsoleShellError";
};
const loginPrompt = /(?:^|[\r\n])(?:[\w.-]+ )?login: /;
const afterName = /(?<password>password)(?: for [^\r\n]*)?:|[#%$>] $/i;
const secondsToPrompt = 30;
const usualSeconds = 120;
/** FreeBSD's terminals may drop the rest of a longer input line (MAX_INPUT). */
const maxCharacters = 1e3;
var ConsoleShell = class ConsoleShell {
	#guest;
	#leave;
	#shown;
	#more = Promise.withResolvers();
	#commands = 0;
	constructor(guest) {
		this.#guest = guest;
		this.#shown = guest.console();
		this.#leave = guest.listen((piece) => {
			this.#shown = (this.#shown + piece.toString("latin1")).slice(-262144);
			this.#more.resolve();
			this.#more = Promise.withResolvers();
		});
	}
	/** Waits for the login prompt. Throws a ConsoleShellError if none comes, or the console asks for a password. */
	static async logIn(guest, limitSeconds) {
		const shell = new ConsoleShell(guest);
		try {
			await shell.#logIn(limitSeconds);
			return shell;
		} catch (error) {
			shell[Symbol.dispose]();
			throw error;
		}
	}
	async #logIn(limitSeconds) {
		if (await this.#shows(loginPrompt, limitSeconds) === void 0) throw new ConsoleShellError(`its serial console showed no login prompt within ${limitSeconds} s, and ${describeScreen(this.#guest.console())}`);
		this.#shown = "";
		await this.#type("root");
		if ((await this.#shows(afterName, secondsToPrompt))?.groups?.password !== void 0) throw new ConsoleShellError("its serial console asks for the password of root");
		await this.#type("exec env -i PATH=/sbin:/bin:/usr/sbin:/usr/bin HOME=/root TERM=dumb /bin/sh");
		if (await this.#execute("stty -echo; PS1= PS2=", secondsToPrompt) === void 0) throw new ConsoleShellError(`root got no shell on its serial console, which ${describeScreen(this.#guest.console())}`);
	}
	/** Returns output and errors. Throws a ConsoleShellError for a command that fails, or does not end in time. */
	async run(command, seconds = usualSeconds) {
		const text = commandText(command);
		const ended = await this.#execute(`{ ${text}; } 2>&1`, seconds);
		if (ended === void 0) throw new ConsoleShellError(`"${text}" did not finish within ${seconds} s on its serial console, which ${describeScreen(sinceMark(this.#shown))}`);
		const { code, output } = ended;
		if (code === 0) return output;
		const last = lastLine(output) ?? "nothing";
		throw new ConsoleShellError(`"${text}" exited with ${code} and printed "${last}"`);
	}
	/** Types a command that ends the guest. */
	async runLast(command) {
		await this.#type(commandText(command));
	}
	/** Returns undefined if it does not end in time. */
	async #execute(text, seconds) {
		this.#commands += 1;
		this.#shown = "";
		const number = this.#commands;
		await this.#type(`echo "<<""begin ${number}>>"; ${text}; echo "<<""end ${number} $?>>"`);
		const end = await this.#shows(new RegExp(`<<end ${number} (\\d{1,3})>>`), seconds);
		if (end === void 0) return void 0;
		const output = sinceMark(end.input.slice(0, end.index)).replaceAll("\r", "");
		return {
			code: Number(end[1]),
			output
		};
	}
	async #type(line) {
		if (line.length > maxCharacters || /[^ -~]/.test(line)) throw new TypeError(`This line cannot be typed: ${line}`);
		const { consoleInput = "" } = this.#guest;
		await using input = await open(consoleInput, constants.O_WRONLY | constants.O_NONBLOCK);
		await input.write(`${line}\n`);
	}
	/** Waits until the output matches the pattern; returns undefined if it does not in time. */
	async #shows(pattern, seconds) {
		const { promise: over, resolve } = Promise.withResolvers();
		const timer = setTimeout(() => resolve("over"), seconds * 1e3);
		const ended = this.#guest.ended.then((why) => ({ why }));
		try {
			for (;;) {
				const found = pattern.exec(this.#shown);
				if (found !== null) return found;
				const woken = await Promise.race([
					this.#more.promise,
					over,
					ended
				]);
				if (woken === "over") return void 0;
				if (woken !== void 0) throw new ConsoleShellError(`its QEMU has ended (${woken.why})`);
			}
		} finally {
			clearTimeout(timer);
		}
	}
	[Symbol.dispose]() {
		this.#leave();
	}
};
/** Omits the echo of a command, up to the mark at the beginning of its output. */
const sinceMark = (shown) => shown.replace(/^.*<<begin \d+>>\r*\n/s, "");

export { ConsoleShell, ConsoleShellError, KernelFilesError, NoOwnKernelError, guestAddress, guestMac, guestNetwork, guestPorts, linuxGuestPorts, linuxVersionIn, maxImageHeaderBytes, neighbours, openDiskImage, openWire, ownKernel, packUserland, receiverMac, senderMac, unpackKernel, unprivilegedUserId, wireAddress };