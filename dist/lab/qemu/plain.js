import { UsageError, fileReasonOf, lastLine } from "../../model/first-plain.js";
import { checkOwn } from "../../system/own-file.js";
import { shell } from "../../system/shell.js";
import { mapWords, portNames } from "../first-plain.js";
import { ConsoleShell, ConsoleShellError, guestMac, guestPorts, neighbours, receiverMac, senderMac } from "./vm/plain.js";
import { parseIfconfig, routedNetworks } from "../freebsd/plain.js";
const { once } = globalThis.process.getBuiltinModule("node:events");
const { join } = globalThis.process.getBuiltinModule("node:path");
const { createReadStream } = globalThis.process.getBuiltinModule("node:fs");
const { createHash } = globalThis.process.getBuiltinModule("node:crypto");
const { mkdir, open, readFile, readdir, rename, rm, stat, utimes, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");
const { spawn } = globalThis.process.getBuiltinModule("node:child_process");
const { setTimeout } = globalThis.process.getBuiltinModule("node:timers/promises");

// src/lab/qemu/freebsd-setup.ts
/** Addresses are set at once as well: an inspection of this boot then finds the same as those of later boots. */
async function setUp(host, ports, addresses) {
	await host.output(shell`sysrc ${rcSettings(ports, addresses)}`);
	await append(host, "/boot/loader.conf.local", loaderLines);
	await append(host, "/etc/sysctl.conf", sysctlLines);
	for (const role of ["ingress", "egress"]) {
		const { inet4, inet6 } = guestPorts[role];
		await host.output(shell`ifconfig ${ports[role]} inet ${`${inet4}/30`}`);
		await host.output(shell`ifconfig ${ports[role]} inet6 ${inet6} prefixlen 126 no_dad`);
	}
}
/** See rc.conf(5). A boot with all of it needs no fix before packets are sent. */
function rcSettings(ports, addresses) {
	const interfaces = ["ingress", "egress"].flatMap((role) => {
		const { inet4, inet6 } = guestPorts[role];
		return [`ifconfig_${ports[role]}=inet ${inet4}/30 -tso4 -tso6 -lro -vlanhwtso`, `ifconfig_${ports[role]}_ipv6=inet6 ${inet6} prefixlen 126 no_dad`];
	});
	const inet4 = routesOf("inet4", addresses);
	const inet6 = routesOf("inet6", addresses);
	const { sender, receiver } = neighbours;
	return [
		...interfaces,
		"gateway_enable=YES",
		"ipv6_gateway_enable=YES",
		"harvest_mask=351",
		`static_routes=${inet4.map(({ name }) => name).join(" ")}`,
		...inet4.map(({ name, route }) => `route_${name}=-net ${route}`),
		`ipv6_static_routes=${inet6.map(({ name }) => name).join(" ")}`,
		...inet6.map(({ name, route }) => `ipv6_route_${name}=${route}`),
		"static_arp_pairs=sender receiver",
		`static_arp_sender=${sender.inet4} ${senderMac}`,
		`static_arp_receiver=${receiver.inet4} ${receiverMac}`,
		"static_ndp_pairs=sender receiver",
		`static_ndp_sender=${sender.inet6} ${senderMac}`,
		`static_ndp_receiver=${receiver.inet6} ${receiverMac}`,
		"defaultroute_delay=0",
		"dumpdev=NO"
	];
}
function routesOf(family, addresses) {
	const { sources, destinations } = routedNetworks(family, addresses);
	const named = (name, networks, gateway) => networks.map((network, index) => ({
		name: `${name}${index}`,
		route: `${network} ${gateway}`
	}));
	return [...named("source", sources, neighbours.sender[family]), ...named("destination", destinations, neighbours.receiver[family])];
}
/** See loader.conf(5): read after loader.conf. */
const loaderLines = [
	"console=\"comconsole\"",
	"boot_serial=\"YES\"",
	"autoboot_delay=\"-1\"",
	"kern.panic_reboot_wait_time=\"0\""
];
const sysctlLines = ["net.inet.ip.redirect=0", "net.inet6.ip6.redirect=0"];
async function append(host, path, lines) {
	const own = await host.run(shell`cat ${path}`);
	await host.upload(Buffer.from(`${own.stdout}\n${lines.join("\n")}\n`), path, 420);
}

// src/lab/qemu/freebsd-overlay.ts
const firewallOf = /* @__PURE__ */ new Map([["pf.conf", "pf"], ["ipfw.rules", "ipfw"]]);
/** The only scenario without rules of its own, which would replace those of the overlay. */
const overlaid = "forwarding";
const rulesIn = (files) => files.flatMap(({ path, content }) => {
	const firewall = firewallOf.get(path);
	return firewall === void 0 ? [] : [{
		firewall,
		content
	}];
});
/** Returns the rules in force in `forwarding`; none without a file. */
function overlayRules(variant, ports) {
	const [rules] = rulesIn(variant?.files ?? []);
	if (rules === void 0) return {};
	const { firewall, content } = rules;
	const text = mapWords(content, portNames(variant?.interfaces, ports));
	return { [overlaid]: {
		firewall,
		text,
		keepsStates: false
	} };
}
/** Returns a sentence on rules that guests could not install, or on cells that could not be measured with them. */
function whyNotInstallable({ variants, cells }) {
	const overlaidVariants = variants.filter(({ files }) => rulesIn(files).length > 0);
	if (overlaidVariants.length === 0) return void 0;
	const both = overlaidVariants.find(({ files }) => rulesIn(files).length > 1);
	if (both !== void 0) return `The overlay of ${both.variant} has both pf.conf and ipfw.rules, but a scenario has one firewall: name one of them in ppsgate.yml, like \`overlay: { files: { pf.conf: … } }\`.`;
	const cell = cells.find(({ scenario }) => scenario !== overlaid);
	if (cell === void 0) return void 0;
	return `The scenario ${cell.scenario} has its own rules, which replace those of the overlay: measure the overlay with \`scenarios: [${overlaid}]\`.`;
}

// src/lab/qemu/official-image.ts
/** Returns an image that guests can boot; see `preparedImage`. */
async function guestImage(image, lab, { imagesFolder: folder, notify = () => {}, signal = new AbortController().signal }) {
	if (image.hostKey !== void 0) return image;
	if (folder === void 0) throw new TypeError("There is no folder for prepared images.");
	return await preparedImage(image, {
		lab,
		folder,
		notify,
		signal
	});
}
/** Raise it whenever the preparation changes. */
const version = 1;
/** Each kept image has some gigabytes. */
const maxKept = 2;
/** Returns the kept image, or prepares it, which boots it once. Throws a UsageError for an unsuitable image. */
async function preparedImage(image, deps) {
	const { folder, notify, signal } = deps;
	notify(`reading the image ${image.path}`);
	const sha512 = await digestOf(image.path, signal);
	if (image.sha512 !== void 0 && image.sha512 !== sha512) throw new UsageError(`The image ${image.path} has the SHA-512 ${sha512}, but \`sha512\` is ${image.sha512}: download it again, or correct \`sha512\`.`);
	const kept = join(folder, `${sha512}-${version}`);
	checkOwn(join(kept, names.disk));
	if (!await isThere(kept)) {
		await prepare(image, deps, kept);
		await prune(folder);
	}
	await utimes(kept, /* @__PURE__ */ new Date(), /* @__PURE__ */ new Date());
	return {
		path: join(kept, names.disk),
		privateKeyPath: join(kept, names.key),
		hostKey: (await readFile(join(kept, names.hostKey), "utf8")).trim(),
		bootSeconds: image.bootSeconds
	};
}
const isThere = (path) => stat(path).then(() => true, () => false);
const names = {
	disk: "disk",
	key: "key",
	hostKey: "host-key"
};
async function digestOf(path, signal) {
	const hash = createHash("sha512");
	try {
		for await (const piece of createReadStream(path, {
			highWaterMark: 1024 ** 2,
			signal
		})) hash.update(piece);
	} catch (error) {
		signal.throwIfAborted();
		throw new UsageError(`The image ${path} cannot be read (${fileReasonOf(error)}).`);
	}
	return hash.digest("hex");
}
async function prepare(image, { lab, folder, notify, signal }, kept) {
	const partial = join(folder, "partial");
	await rm(partial, {
		recursive: true,
		force: true
	});
	await mkdir(partial, {
		recursive: true,
		mode: 448
	});
	const disk = join(partial, names.disk);
	try {
		notify(`unpacking the image ${image.path}`);
		await unpack(image.path, disk, signal);
		await checkWhole(image.path, disk);
		await makeKey(join(partial, names.key));
		const publicKey = (await readFile(join(partial, `${names.key}.pub`), "utf8")).trim();
		notify(`booting the image ${image.path} once to prepare it for later guests`);
		const guest = await lab.bootToPrepare(disk);
		const stop = () => void guest.stop();
		signal.addEventListener("abort", stop, { once: true });
		try {
			const hostKey = await prepareGuest(guest, publicKey, image.bootSeconds);
			await writeFile(join(partial, names.hostKey), `${hostKey}\n`);
		} finally {
			signal.removeEventListener("abort", stop);
			await guest.stop();
		}
		await rename(partial, kept);
	} catch (error) {
		signal.throwIfAborted();
		if (!(error instanceof ConsoleShellError)) throw error;
		throw new UsageError(`The image ${image.path} could not be prepared: ${error.message}; see docs/how-to/virtual.md for what it needs.`);
	} finally {
		await rm(partial, {
			recursive: true,
			force: true
		});
	}
}
async function prune(folder) {
	const oldest = (await Promise.all((await readdir(folder)).map(async (name) => {
		const path = join(folder, name);
		return {
			path,
			usedAt: (await stat(path)).mtimeMs
		};
	}))).toSorted((a, b) => b.usedAt - a.usedAt).slice(maxKept);
	for (const { path } of oldest) await rm(path, { recursive: true });
}
/** Recognizes compressed data by the first bytes; the last bound keeps an archive from filling the disk. */
const unpackers = [
	{
		magic: "fd377a585a00",
		command: [
			"xz",
			"--decompress",
			"--stdout"
		]
	},
	{
		magic: "28b52ffd",
		command: [
			"zstd",
			"--decompress",
			"--stdout",
			"--sparse"
		]
	},
	{
		magic: "",
		command: [
			"dd",
			"bs=1M",
			"conv=sparse",
			"status=none"
		]
	}
];
const maxDiskBytes = 64 * 1024 ** 3;
async function unpack(path, disk, ended) {
	await using source = await open(path);
	await using target = await open(disk, "wx", 384);
	const { buffer } = await source.read(Buffer.alloc(8), 0, 8, 0);
	const start = buffer.toString("hex");
	const { command } = unpackers.find(({ magic }) => start.startsWith(magic)) ?? unpackers[2];
	const limited = [`--fsize=${maxDiskBytes}`, ...command];
	const child = spawn("prlimit", limited, { stdio: [
		source.fd,
		target.fd,
		"pipe"
	] });
	const end = () => child.kill("SIGKILL");
	ended.addEventListener("abort", end, { once: true });
	let errors = "";
	child.stderr?.on("data", (piece) => {
		errors = (errors + piece.toString()).slice(-4096);
	});
	const [code, signal] = await once(child, "close");
	ended.removeEventListener("abort", end);
	ended.throwIfAborted();
	if (code === 0) {
		await endAtLength(disk);
		return;
	}
	const why = signal === "SIGXFSZ" ? "more than 64 GiB" : lastLine(errors) ?? `exit code ${code}`;
	throw new UsageError(`The image ${path} cannot be unpacked (${command[0]}: ${why}): download it again.`);
}
/** QEMU only supports disks of whole sectors. */
async function endAtLength(disk) {
	await using file = await open(disk, "r+");
	const { size } = await file.stat();
	await file.truncate(Math.ceil(size / sectorBytes) * sectorBytes);
}
const sectorBytes = 512;
/** Throws a UsageError for a raw disk that ends before its partition table does (UEFI specification, GPT header). */
async function checkWhole(path, disk) {
	await using file = await open(disk);
	const { size } = await file.stat();
	const { buffer } = await file.read(Buffer.alloc(sectorBytes), 0, sectorBytes, sectorBytes);
	if (buffer.toString("latin1", 0, 8) !== "EFI PART") return;
	const wholeBytes = (Number(buffer.readBigUInt64LE(32)) + 1) * sectorBytes;
	if (size >= wholeBytes) return;
	throw new UsageError(`The image ${path} is truncated: its partition table is for a disk of ${wholeBytes} bytes, but it has ${size}; download it again.`);
}
async function makeKey(path) {
	const made = spawn("ssh-keygen", [
		"-q",
		"-t",
		"ed25519",
		"-N",
		"",
		"-C",
		"ppsgate",
		"-f",
		path
	], { stdio: "ignore" });
	const [code] = await once(made, "close");
	if (code !== 0) throw new Error(`ssh-keygen exited with ${code}.`);
}
const secondsToShutDown = 120;
/** Sets the guest up, shuts it down, and returns the host key of its sshd. */
async function prepareGuest(guest, publicKey, limitSeconds) {
	using root = await ConsoleShell.logIn(guest, limitSeconds);
	const card = await managementCard(root);
	const keys = "/root/.ssh/authorized_keys";
	await root.run(shell`mkdir -p -m 700 /root/.ssh && echo ${publicKey} >>${keys} && chmod 600 ${keys}`);
	const sshd = "/etc/ssh/sshd_config";
	const own = shell`echo 'PermitRootLogin prohibit-password' | cat - ${sshd}`;
	await root.run(shell`${own} >${`${sshd}.new`} && mv ${`${sshd}.new`} ${sshd}`);
	await root.run(shell`sysrc -n ifconfig_DEFAULT >/dev/null 2>&1 && sysrc -x ifconfig_DEFAULT; true`);
	for (const settings of settingsWith(card)) await root.run(shell`sysrc ${settings}`);
	await root.run(shell`rm -f /firstboot`);
	await root.run(shell`service sshd keygen`);
	const shown = await root.run(shell`cat /etc/ssh/ssh_host_ed25519_key.pub`);
	const hostKey = /ssh-ed25519 [A-Za-z0-9+/]{40,200}={0,3}/.exec(shown)?.[0];
	if (hostKey === void 0) throw new ConsoleShellError(`its /etc/ssh/ssh_host_ed25519_key.pub shows "${lastLine(shown)}"`);
	await root.runLast(shell`sync; shutdown -p now`);
	if (!await Promise.race([guest.ended.then(() => true), setTimeout(secondsToShutDown * 1e3, false, { ref: false })])) throw new ConsoleShellError(`it was still running ${secondsToShutDown} s after "shutdown -p now"`);
	return hostKey;
}
async function managementCard(root) {
	const cards = (await root.run(shell`ifconfig -l`)).trim().split(/\s+/);
	for (const name of cards) if (parseIfconfig(await root.run(shell`ifconfig ${name}`))?.mac === guestMac.management) return name;
	throw new ConsoleShellError(`"ifconfig -l" shows ${cards.join(", ")}, none with the MAC address ${guestMac.management}: its kernel needs vtnet(4)`);
}
/** Lines of rc.conf(5), short enough to be typed: no waits, and no program that runs during the measurement. */
const settingsWith = (card) => [
	[
		`ifconfig_${card}=SYNCDHCP`,
		"sshd_enable=YES",
		"defaultroute_delay=0"
	],
	[
		"growfs_enable=NO",
		"dumpdev=NO",
		"cron_enable=NO",
		"sendmail_enable=NONE",
		"ntpd_enable=NO"
	],
	[
		"nuageinit_enable=NO",
		"firstboot_freebsd_update_enable=NO",
		"firstboot_pkgs_enable=NO"
	]
];

export { guestImage, overlayRules, setUp, whyNotInstallable };