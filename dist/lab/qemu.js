import { frameBytesFor } from "../config.js";
import { trafgenFlows } from "./traffic.js";
import { UsageError, ignoredFiles, isLinuxScenario, lastLine, oneLine, pathName, reasonOf } from "../model.js";
import { ConsoleRecorder, describeScreen, lastWords } from "./console.js";
import { isToBlame, lacksControl, tallyOf } from "../lab.js";
import { DutLostError, FreebsdDut, Kernels, afterBootFailure, benchmarkingNetworks, bootFor, bootsOf, bounded, builderFor, droppedByRules, failed, fingerprintOfDut, inspectDut, installRules as installRules$1, parseIfconfig, pathProblem, proofOf, provesScenario, rejected as rejected$1, setListed, settingsThatFail, wakeFreebsdDut } from "./freebsd.js";
import { findInertChanges, ignoredParts, linuxDut, loadable, mapOwnRules, mapWords, portNames } from "./linux.js";
import { HostError, shell } from "../system/host.js";
import { PowerError } from "./power.js";
import { ConsoleShell, ConsoleShellError, KernelFilesError, guestCpu, guestMac, guestPorts, kernelCommandLine, linuxGuestPorts, neighbours, receiverMac, senderMac, virtualLabUp } from "./qemu/vm.js";
import { buildLinuxKernel, checkOwn, givenKernel, noSums } from "../kernel.js";
import { impossible, judgeProfile, missed } from "./netns.js";
import { median } from "../analysis/stats.js";
import { sum } from "../vendor/simple-statistics.js";
import { once } from "node:events";
import { execFile, spawn } from "node:child_process";
import { isAbsolute, join } from "node:path";
import { createReadStream, readFileSync } from "node:fs";
import { isDeepStrictEqual, promisify } from "node:util";
import { createHash } from "node:crypto";
import { mkdir, mkdtemp, open, readFile, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { release, tmpdir } from "node:os";
import { setTimeout } from "node:timers/promises";

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
/** To be raised whenever the preparation changes. */
const version = 1;
/** Each has some gigabytes. */
const mostKept = 2;
/** Returns the kept image, or prepares it, which boots it once. Throws a UsageError for an image that is not fit. */
async function preparedImage(image, deps) {
	const { folder, notify, signal } = deps;
	notify(`reading the image ${image.path}`);
	const sha512 = await digestOf(image.path, signal);
	if (image.sha512 !== void 0 && image.sha512 !== sha512) throw new UsageError(`The image ${image.path} has the SHA-512 ${sha512}, and not ${image.sha512} as \`sha512\` says: download it again, or correct \`sha512\`.`);
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
/** Below the cache folder of the XDG Base Directory Specification. */
function imagesFolder({ XDG_CACHE_HOME: cache = "" }, home) {
	return join(isAbsolute(cache) ? cache : join(home, ".cache"), "ppsgate/images");
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
		throw new UsageError(`The image ${path} cannot be read (${reasonOf(error)}).`);
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
		notify(`booting the image ${image.path} once, to prepare it for later guests`);
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
	}))).toSorted((a, b) => b.usedAt - a.usedAt).slice(mostKept);
	for (const { path } of oldest) await rm(path, { recursive: true });
}
/** Compressed data by the first bytes; the last bound keeps an archive from filling the disk. */
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
const mostDiskBytes = 64 * 1024 ** 3;
async function unpack(path, disk, ended) {
	await using source = await open(path);
	await using target = await open(disk, "wx", 384);
	const { buffer } = await source.read(Buffer.alloc(8), 0, 8, 0);
	const start = buffer.toString("hex");
	const { command } = unpackers.find(({ magic }) => start.startsWith(magic)) ?? unpackers[2];
	const limited = [`--fsize=${mostDiskBytes}`, ...command];
	const child = spawn("prlimit", limited, { stdio: [
		source.fd,
		target.fd,
		"pipe"
	] });
	const end = () => child.kill("SIGKILL");
	ended.addEventListener("abort", end, { once: true });
	let said = "";
	child.stderr?.on("data", (piece) => {
		said = (said + piece.toString()).slice(-4096);
	});
	const [code, signal] = await once(child, "close");
	ended.removeEventListener("abort", end);
	ended.throwIfAborted();
	if (code === 0) {
		await endAtLength(disk);
		return;
	}
	const why = signal === "SIGXFSZ" ? "more than 64 GiB" : lastLine(said) ?? `exit code ${code}`;
	throw new UsageError(`The image ${path} cannot be unpacked (${command[0]}: ${why}): download it again.`);
}
/** QEMU has disks of whole sectors only. */
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
	throw new UsageError(`The image ${path} is not whole: its partition table is of a disk of ${wholeBytes} bytes, and it has ${size}; download it again.`);
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
	if (!await Promise.race([guest.ended.then(() => true), setTimeout(secondsToShutDown * 1e3, false, { ref: false })])) throw new ConsoleShellError(`it was not shut down ${secondsToShutDown} s after "shutdown -p now"`);
	return hostKey;
}
async function managementCard(root) {
	const cards = (await root.run(shell`ifconfig -l`)).trim().split(/\s+/);
	for (const name of cards) if (parseIfconfig(await root.run(shell`ifconfig ${name}`))?.mac === guestMac.management) return name;
	throw new ConsoleShellError(`"ifconfig -l" shows ${cards.join(", ")}, none with the address ${guestMac.management}: its kernel needs vtnet(4)`);
}
/** Lines of rc.conf(5), short enough to be typed: no waits, and nothing that runs during the measurement. */
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

// src/lab/qemu/freebsd-setup.ts
/** Addresses are set at once as well: an inspection of this boot then finds the same as those of later boots. */
async function setUp(host, ports) {
	await host.output(shell`sysrc ${rcSettings(ports)}`);
	await append(host, "/boot/loader.conf.local", loaderLines);
	await append(host, "/etc/sysctl.conf", sysctlLines);
	for (const role of ["ingress", "egress"]) {
		const { inet4, inet6 } = guestPorts[role];
		await host.output(shell`ifconfig ${ports[role]} inet ${`${inet4}/30`}`);
		await host.output(shell`ifconfig ${ports[role]} inet6 ${inet6} prefixlen 126 no_dad`);
	}
}
/** See rc.conf(5). A boot with all of it needs no fix before packets are sent. */
function rcSettings(ports) {
	const interfaces = ["ingress", "egress"].flatMap((role) => {
		const { inet4, inet6 } = guestPorts[role];
		return [`ifconfig_${ports[role]}=inet ${inet4}/30 -tso4 -tso6 -lro -vlanhwtso`, `ifconfig_${ports[role]}_ipv6=inet6 ${inet6} prefixlen 126 no_dad`];
	});
	const { inet4, inet6 } = benchmarkingNetworks;
	const { sender, receiver } = neighbours;
	return [
		...interfaces,
		"gateway_enable=YES",
		"ipv6_gateway_enable=YES",
		"harvest_mask=351",
		"static_routes=sources destinations",
		`route_sources=-net ${inet4.sources} ${sender.inet4}`,
		`route_destinations=-net ${inet4.destinations} ${receiver.inet4}`,
		"ipv6_static_routes=sources destinations",
		`ipv6_route_sources=${inet6.sources} ${sender.inet6}`,
		`ipv6_route_destinations=${inet6.destinations} ${receiver.inet6}`,
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

// src/lab/qemu/freebsd-image.ts
const isHostError = (error) => error instanceof HostError;
/** True if another copy of the image may succeed. */
const isOfOneCopy = (error) => error instanceof DutLostError || isHostError(error) || error instanceof UsageError;
/** Waits until the image is up, and opens it as a DUT. Throws a UsageError for an unsuitable image. */
async function openImage(guest, { image, accelerator }, { lab, deps, tallies = /* @__PURE__ */ new Map() }) {
	const login = await lab.loginTo(image, guest);
	await using opened = new AsyncDisposableStack();
	const console = new ConsoleRecorder("a guest", async (onOutput) => {
		const leave = guest.listen(onOutput);
		return {
			ended: guest.ended.then((why) => `QEMU has ended (${why}).`),
			close: async () => leave()
		};
	});
	opened.defer(() => console.close());
	await console.open();
	const ended = guest.ended.then((why) => {
		throw new QemuEndedError(why);
	});
	ended.catch(() => {});
	let failures = 0;
	const options = {
		method: "nextboot",
		connect: async () => {
			const timeoutSeconds = loginSeconds[failures % loginSeconds.length] ?? 20;
			failures += 1;
			const options = {
				keepaliveSeconds: 5,
				timeoutSeconds
			};
			const host = bounded(await deps.connect(login, `guest ${guest.number}`, options));
			failures = 0;
			return host;
		},
		power: { async cycle() {
			console.endBoot();
			await guest.reset().catch((error) => {
				throw new PowerError(reasonOf(error));
			});
		} },
		console,
		bootSeconds: image.bootSeconds,
		sleep: (seconds) => Promise.race([deps.sleep(seconds), ended]),
		now: deps.now
	};
	const { power: _, ...withoutPower } = options;
	const unfit = (why) => new UsageError(`The image ${image.path} is not fit for guests: ${why.replace(/\.$/, "")}; see docs/how-to/virtual.md for what it needs.`);
	await wakeFreebsdDut(withoutPower).catch((error) => {
		if (!isOfOneCopy(error)) throw error;
		throw unfit(whyNotIn(error, image, guest.console()));
	});
	const dut = await FreebsdDut.open(options).catch((error) => {
		if (!isHostError(error) || error.kind !== "command-failed") throw error;
		throw unfit(reasonOf(error));
	});
	opened.defer(() => dut.host().close());
	const ports = await portsOf(dut.host());
	if (!("ingress" in ports)) throw unfit(ports.why);
	await setUp(dut.host(), ports);
	opened.move();
	const unread = new Set(accelerator === "tcg" ? unreadIfCounted : unreadOfGuests);
	return {
		dut,
		boots: bootsOf(asTestbed(image, ports, login), dut, deps, {
			tallies,
			unread
		}),
		console
	};
}
/**
* Time limits of one login after the other. QEMU accepts a connection before its guest is up, and one from then on may
* stay silent to its end; the long limit is for a machine that is so busy that a login takes longer.
*/
const loginSeconds = [
	20,
	5,
	5,
	5
];
var QemuEndedError = class extends DutLostError {
	said;
	constructor(said) {
		super(`QEMU has ended (${said}).`);
		this.said = said;
	}
};
/** Explains in a clause why root cannot log in to a booted image, and the fix. */
function whyNotIn(error, { privateKeyPath = "of the ssh agent", bootSeconds }, shown) {
	if (error instanceof QemuEndedError) return `its QEMU ended before root could log in (${error.said}), as where it switches itself off`;
	if (isHostError(error) && error.kind === "host-key") return `its sshd shows ${/shows (the \S+ key \S+),/.exec(error.message)?.[1] ?? "no key of its type"} instead of the \`hostKey\` of ppsgate.yml: write there the first two words of its /etc/ssh/ssh_host_ed25519_key.pub`;
	if (isHostError(error) && /refuses to let root in/.test(error.message)) return `its sshd refuses root with the key ${privateKeyPath}: append the public half to its /root/.ssh/authorized_keys, and have \`PermitRootLogin prohibit-password\` in its /etc/ssh/sshd_config`;
	if (!(error instanceof DutLostError)) return reasonOf(error);
	const hint = shown.includes("<<BOOT>>") ? "" : " (its kernel is seen there once its /boot/loader.conf has `console=\"comconsole\"`)";
	return `root could not log in within ${bootSeconds} s, and its console ${describeScreen(shown)}${hint}`;
}
async function portsOf(host) {
	const names = (await host.output(shell`ifconfig -l`)).trim().split(/\s+/);
	const found = /* @__PURE__ */ new Map();
	for (const name of names) {
		const mac = parseIfconfig(await host.output(shell`ifconfig ${name}`))?.mac;
		if (mac !== void 0) found.set(mac, name);
	}
	const [ingress, egress] = [found.get(guestMac.ingress), found.get(guestMac.egress)];
	if (ingress !== void 0 && egress !== void 0) return {
		ingress,
		egress
	};
	return { why: `of its three virtio cards the one with the MAC address ${ingress === void 0 ? guestMac.ingress : guestMac.egress} is missing beside ${names.join(", ")}: its kernel needs vtnet(4) for all of them, and its settings have to leave their addresses as they are` };
}
/** Presents a guest as the machines of a testbed: the other ends of its wires are no hosts, but have addresses. */
function asTestbed({ bootSeconds }, ports, login) {
	const far = {
		...login,
		interface: "none",
		threads: 1
	};
	return {
		kind: "freebsd",
		dut: {
			...login,
			ingress: { interface: ports.ingress },
			egress: { interface: ports.egress },
			boot: {
				method: "nextboot",
				limitSeconds: bootSeconds
			}
		},
		senders: [{
			...far,
			mac: senderMac,
			addresses: neighbours.sender
		}],
		receiver: {
			...far,
			mac: receiverMac,
			addresses: neighbours.receiver
		},
		preflight: "fix"
	};
}
/**
* Settings that do not matter to a guest: it has one CPU, its console shows the cause of a panic, and a run is the median
* of windows, of most of which the programs that start at a boot are no part.
*/
const unreadOfGuests = [
	"kern.boottime",
	"kern.shutdown.dumpdevname",
	"machdep.hyperthreading_allowed",
	"net.isr.maxthreads",
	"net.isr.bindthreads"
];
/**
* Idleness is measured for 5 s after each boot, and waited for up to a minute where the host is busy, as a guest takes
* stolen time for its own. It guards rates: a packet's instructions are the same however many other programs run, and
* what those execute is a part of a few windows.
*/
const unreadIfCounted = [...unreadOfGuests, "kern.cp_time"];

// src/lab/qemu/freebsd-copies.ts
var ImageCopies = class {
	#config;
	#resources;
	#assigned = /* @__PURE__ */ new Map();
	/** Booting or up, and not yet assigned to a variant. */
	#spares = [];
	/** By number; undefined until QEMU has started. */
	#guests = /* @__PURE__ */ new Map();
	#isFit = false;
	#isClosed = false;
	families = ["inet4"];
	constructor(config, resources) {
		this.#config = config;
		this.#resources = resources;
	}
	/** True once a copy of the image was up. */
	get isFit() {
		return this.#isFit;
	}
	/** Starts to boot this many copies, including existing ones, without waiting for them. */
	begin(count) {
		while (this.#assigned.size + this.#spares.length < count) this.#spares.push(this.#boot());
	}
	/** Waits for the first copy that is up; throws the error of one where all have failed. */
	async first() {
		const [assigned] = this.#assigned.values();
		if (assigned !== void 0) return assigned;
		this.begin(1);
		try {
			return await Promise.any(this.#spares);
		} catch (error) {
			this.#spares.length = 0;
			throw error instanceof AggregateError ? error.errors[0] : error;
		}
	}
	get(variant) {
		return this.#assigned.get(variant);
	}
	async guestFor(variant) {
		const own = this.#assigned.get(variant);
		if (own !== void 0 && own.lastLine() === void 0) return own;
		await this.stop(variant);
		const copy = await (this.#spares.shift() ?? this.#boot());
		this.#assigned.set(variant, copy);
		return copy.lastLine() === void 0 ? copy : await this.guestFor(variant);
	}
	cpuOf(number) {
		const { cpus } = this.#resources;
		return cpus[(number - 1) % cpus.length] ?? 0;
	}
	async stop(variant) {
		const copy = this.#assigned.get(variant);
		this.#assigned.delete(variant);
		if (copy !== void 0) await this.#switchOff(copy);
	}
	async stopOthers(variants) {
		for (const variant of this.#assigned.keys()) if (!variants.has(variant)) await this.stop(variant);
	}
	async close() {
		this.#isClosed = true;
		await this.stopOthers(/* @__PURE__ */ new Set());
		for (const guest of this.#guests.values()) await guest?.stop();
		for (const spare of await Promise.allSettled(this.#spares.splice(0))) if (spare.status === "fulfilled") await this.#switchOff(spare.value);
	}
	#boot() {
		const booting = this.#bootImage();
		booting.catch(() => {});
		return booting;
	}
	async #bootImage() {
		const { lab } = this.#resources;
		let number = 1;
		while (this.#guests.has(number)) number += 1;
		this.#guests.set(number, void 0);
		await using opened = new AsyncDisposableStack();
		opened.defer(() => void this.#guests.delete(number));
		const guest = await lab.bootImage(number, this.#config.image, this.cpuOf(number));
		opened.defer(() => guest.stop());
		if (this.#isClosed) throw new Error("The testbed is given back.");
		this.#guests.set(number, guest);
		let lastLine;
		guest.ended.then((line) => {
			lastLine = line;
		});
		const { dut, boots, console } = await openImage(guest, this.#config, this.#resources);
		opened.defer(async () => {
			await dut.host().close();
			await console.close();
		});
		const problems = await inspectDut(boots, this.families);
		const fingerprint = await fingerprintOfDut(boots);
		this.#isFit = true;
		opened.move();
		return {
			number,
			guest,
			dut,
			boots,
			console,
			problems,
			fingerprint,
			lastLine: () => lastLine
		};
	}
	async #switchOff({ number, guest, dut, console }) {
		await dut.host().close().catch(() => {});
		await guest.stop();
		await console.close();
		this.#guests.delete(number);
	}
};

// src/lab/qemu/freebsd-overlay.ts
const firewallOf = /* @__PURE__ */ new Map([["pf.conf", "pf"], ["ipfw.rules", "ipfw"]]);
/** Only this scenario has no own rules, which would replace those of the overlay. */
const overlaid = "forwarding";
const rulesIn = (files) => files.flatMap(({ path, content }) => {
	const firewall = firewallOf.get(path);
	return firewall === void 0 ? [] : [{
		firewall,
		content
	}];
});
/** Returns the rules that are in force in `forwarding`; none without a file. */
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
/** Returns a sentence on rules that guests could not install, or on cells that would not be measured with them. */
function whyNotInstallable({ variants, cells }) {
	const overlaidVariants = variants.filter(({ files }) => rulesIn(files).length > 0);
	if (overlaidVariants.length === 0) return void 0;
	const both = overlaidVariants.find(({ files }) => rulesIn(files).length > 1);
	if (both !== void 0) return `The overlay of ${both.variant} has both pf.conf and ipfw.rules, and a scenario has one firewall: name one of them in ppsgate.yml, as \`overlay: { files: { pf.conf: … } }\`.`;
	const cell = cells.find(({ scenario }) => scenario !== overlaid);
	if (cell === void 0) return void 0;
	return `The scenario ${cell.scenario} has rules of its own, in place of those of the overlay: measure the overlay with \`scenarios: [${overlaid}]\`.`;
}

// src/lab/qemu/guests.ts
/** Rejects a variant that is to blame; else the trial has failed. */
function blameOrFail(tallies, variant, [fault, proof], { rejection, reason }) {
	if (isToBlame(tallies, variant, fault, proof)) return rejected$1(variant, rejection);
	return {
		kind: "failed",
		reason,
		...lacksControl(tallies, variant, proof) && { lacksControl: true }
	};
}
/** A distribution's kernel has about 150,000 symbols in 7 MB. */
const maxSymbolBytes = 64 * 1024 ** 2;
/** Returns the location of a stuck guest, as `, stood in pf_test+0x1c`; the console shows its response, not a panic. */
async function interrupted(guest) {
	await guest.interrupt().catch(() => {});
	const { console, consoleLines } = lastWords(guest.console(), false);
	const location = stackPatterns.map((pattern) => pattern.exec(console ?? "")?.[1]).find(Boolean);
	return {
		where: location === void 0 ? "" : `, stood in ${location}`,
		words: {
			...console !== void 0 && { console },
			...consoleLines !== void 0 && { consoleLines }
		}
	};
}
/**
* Match Linux's registers, and FreeBSD's debugger, which its nmi_call_kdb() enters; without `options DDB` FreeBSD
* continues and prints no location. The last matches its stack below trap 19 (T_NMI), where the interrupt makes it
* panic.
*/
const stackPatterns = [
	/^(?:\[.*\] )?RIP: \S+?:(\w+\+0x\w+)/m,
	/^Stopped at\s+([\w.]+(?:\+0x[0-9a-f]+)?):/m,
	/^--- trap 0x13,.*\n\w+\(\) at (\w+\+0x[0-9a-f]+)/m
];
const run = promisify(execFile);
async function factsOf({ accelerator, memoryMebibytes, system }) {
	const { stdout } = await run("qemu-system-x86_64", ["--version"]);
	const model = accelerator === "tcg" ? "max" : "host";
	const machine = `virtual: ${stdout.split("\n")[0]?.trim()}, ${accelerator}, q35, CPU model ${model}, 1 CPU, ${memoryMebibytes} MiB`;
	if (system === "freebsd") return { machine };
	const nftables = await run("nft", ["--version"]);
	return {
		machine,
		"kernel command line": kernelCommandLine("…"),
		nftables: nftables.stdout.trim(),
		"kernel of this machine": release()
	};
}

// src/lab/qemu/freebsd-symbols.ts
/**
* Reads ksyms(4), unless the modules are still those of `known`: it takes seconds. Not nm(1): the file lacks the symbols'
* sections, which readelf(1) ignores.
*/
async function symbolsOf(host, known) {
	const copy = "/var/tmp/ppsgate.ksyms";
	await host.output(shell`kldload -n ksyms`);
	const modules = await host.output(shell`kldstat`);
	if (known?.modules === modules) return known;
	await host.output(shell`cp ${"/dev/ksyms"} ${copy}`);
	const options = { maxOutputBytes: maxSymbolBytes };
	return {
		modules,
		table: tableOf(await host.output(shell`readelf -sW ${copy}`, options), modules)
	};
}
function tableOf(table, modules) {
	const ranges = rangesIn(modules);
	return [...table.matchAll(functionRow)].map(([, address = "0", name]) => {
		const at = BigInt(`0x${address}`);
		const own = ranges.find(({ from, to }) => at >= from && at < to);
		return `${address} t ${name}${own === void 0 ? "" : `\t[${own.file}]`}\n`;
	}).join("");
}
/** Number, address, size, type, binding, visibility, section and name. */
const functionRow = /^ *\d+: ([0-9a-f]{16}) +\S+ FUNC +\S+ +\S+ +\S+ (\S+)$/gm;
/** The kernel's own range is left out. */
function rangesIn(modules) {
	return [...modules.matchAll(moduleRow)].map(([, address, size, file = ""]) => {
		const from = BigInt(`0x${address}`);
		return {
			from,
			to: from + BigInt(`0x${size}`),
			file
		};
	});
}
/** Id, references, address, size and name of a module: ` 2    1 0xffffffff81a18000     22a8 virtio_random.ko`. */
const moduleRow = /^ *\d+ +\d+ 0x([0-9a-f]{1,16}) +([0-9a-f]{1,16}) (\S{1,60}\.ko)$/gm;

// src/lab/qemu/freebsd-guests.ts
/** Base and patched; more variants are booted once they are known. */
const guestsOfPair = 2;
var FreebsdGuests = class {
	#name;
	#config;
	#resources;
	#copies;
	#loadedByBase = /* @__PURE__ */ new Set();
	#symbols = /* @__PURE__ */ new WeakMap();
	#prepared;
	#request;
	#warnings = [];
	#closed = new AbortController();
	constructor(name, config, resources) {
		this.#name = name;
		this.#config = config;
		this.#resources = resources;
		this.#copies = new ImageCopies(config, resources);
	}
	async inspect(cells) {
		this.#copies.families = familiesOf(cells);
		this.#copies.begin(guestsOfPair);
		const { problems, fingerprint } = await this.#copies.first();
		return {
			fingerprint: {
				...fingerprint,
				...await this.#resources.facts()
			},
			warnings: problems.filter(isOfImage).map(({ message }) => message)
		};
	}
	async prepare(request) {
		const refusal = whyNotInstallable(request);
		if (refusal !== void 0) throw new UsageError(refusal);
		this.#warnings = ignoredFiles(request.variants, "freebsd");
		this.#request = request;
		this.#copies.families = familiesOf(request.cells);
		const names = new Set(request.variants.map(({ variant }) => variant));
		await this.#copies.stopOthers(names);
		this.#copies.begin(names.size);
		this.#prepared ??= await this.#openKernels();
		const signal = AbortSignal.any([request.signal, this.#closed.signal]);
		this.#prepared.kernels.list({
			...request,
			signal
		});
		return { kind: "ready" };
	}
	ready() {
		return this.#prepared?.kernels.ready() ?? /* @__PURE__ */ new Set();
	}
	takeWarnings() {
		return this.#warnings.splice(0);
	}
	async boot({ pair, runs, signal }) {
		signal.throwIfAborted();
		const all = await Promise.allSettled(runs.map((run) => this.#bootVariant({
			...run,
			pair
		})));
		signal.throwIfAborted();
		return all.map((one) => {
			if (one.status === "rejected") throw one.reason;
			return one.value;
		});
	}
	/** Does nothing: rules are installed for each trial, which reports a refusal. */
	async tryRules() {}
	async installRules({ variant, host }, { scenario, family }) {
		const boots = this.#copies.get(variant)?.boots;
		if (boots === void 0) throw new TypeError(`${variant} was not booted here.`);
		const refusal = await this.#loadRules(host, scenario, variant);
		if (refusal !== void 0) return this.#afterRefusal(variant, scenario, refusal);
		if (variant === "base") this.#loadedByBase.add(scenario);
		if (await pathProblem(boots, family) === void 0) return void 0;
		await settingsThatFail(boots, [family]);
		const astray = await pathProblem(boots, family);
		return astray === void 0 ? void 0 : failed(astray);
	}
	async whyNotInForce({ host, variant }, { scenario }, { isSilent }) {
		const { flows } = this.#resources;
		const proof = provesScenario(scenario, await proofOf(host), {
			...!isSilent && flows !== void 0 && { trial: { flows } },
			own: this.#rulesOf(variant)
		});
		if (proof.kind === "in-force") return void 0;
		return `${scenario} was not in force on ${variant}: ${proof.reason}`;
	}
	/** Counters of rules need no further packets. */
	droppedBy({ host }) {
		return droppedByRules(host);
	}
	async symbols(booted) {
		const symbols = await symbolsOf(booted.host, this.#symbols.get(booted));
		this.#symbols.set(booted, symbols);
		return symbols.table;
	}
	/** Keeps the guests for the next pair, with their installed kernels. */
	async release() {}
	async stop(booted) {
		for (const { variant } of booted) await this.#copies.stop(variant);
	}
	async close() {
		this.#closed.abort(/* @__PURE__ */ new Error("the testbed is given back"));
		await this.#copies.close();
		await this.#prepared?.kernels.ended();
		if (this.#prepared !== void 0) await rm(this.#prepared.folder, {
			recursive: true,
			force: true
		});
	}
	async #openKernels() {
		const { dut } = await this.#copies.first();
		const { builder } = this.#config;
		const folder = await mkdtemp(join(tmpdir(), "ppsgate-kernels-"));
		const builds = await builderFor(dut.host(), {
			name: this.#name,
			builder
		}, this.#resources.deps);
		return {
			kernels: new Kernels(folder, builds),
			folder
		};
	}
	#loadRules(...[host, scenario, variant]) {
		return installRules$1(host, scenario, this.#rulesOf(variant));
	}
	/** The site's own scenarios, and the variant's own rules in place of none. */
	#rulesOf(variant) {
		const { rules = {}, variants = [] } = this.#request ?? {};
		const overlaid = variants.find((one) => one.variant === variant);
		const dut = this.#copies.get(variant)?.boots.config.dut;
		if (dut === void 0) return rules;
		const ports = {
			ingress: dut.ingress.interface,
			egress: dut.egress.interface
		};
		const names = portNames(overlaid?.interfaces, ports);
		return {
			...mapOwnRules(rules, names),
			...overlayRules(overlaid, ports)
		};
	}
	/** Tries base where it has not loaded the same rules yet, which the trial itself may never reach. */
	async #afterRefusal(variant, scenario, refusal) {
		const { tallies } = this.#resources;
		tallyOf(tallies, variant).refusals += 1;
		const base = this.#copies.get("base");
		if (variant !== "base" && !this.#loadedByBase.has(scenario) && base !== void 0) {
			if (await this.#loadRules(base.dut.host(), scenario, "base") === void 0) this.#loadedByBase.add(scenario);
		}
		if (!(variant === "base" || this.#loadedByBase.has(scenario))) return {
			kind: "failed",
			reason: refusal,
			lacksControl: true
		};
		if (!isToBlame(tallies, variant, "refusals", "hasBooted")) return failed(refusal);
		return rejected$1(variant, {
			kind: "does-not-load",
			scenario,
			message: `Twice: ${refusal}.`
		});
	}
	async #bootVariant(run) {
		const { variant, layout } = run;
		const assigned = this.#copies.guestFor(variant);
		assigned.catch(() => {});
		const kernel = await this.#prepared?.kernels.get(variant, layout);
		const notBooted = (outcome, console = "") => ({
			kind: "not-booted",
			variant,
			outcome,
			console
		});
		if (kernel === void 0) throw new TypeError(`${variant} was not readied.`);
		if (kernel.kind === "rejected") return notBooted(rejected$1(variant, kernel.rejection));
		const imageGuest = await assigned.then(() => this.#copies.guestFor(variant)).catch((error) => {
			if (this.#copies.isFit && isOfOneCopy(error)) return reasonOf(error);
			throw error;
		});
		if (typeof imageGuest === "string") return notBooted(failed(imageGuest));
		const { guest, boots, dut, number } = imageGuest;
		setListed(boots, [variant]);
		boots.families = this.#copies.families;
		boots.mayDiffer = this.#request?.mayDiffer === true;
		await guest.pinTo(this.#copies.cpuOf(number)).catch(() => {});
		const outcome = await bootKernel(imageGuest, {
			number: 1,
			...run
		}, kernel);
		if (outcome.kind === "ready") return {
			kind: "booted",
			variant,
			guest,
			host: dut.host(),
			kernel: outcome.boot.kernel
		};
		const console = guest.console();
		await this.#copies.stop(variant);
		return notBooted(outcome, console);
	}
};
const familiesOf = (cells) => [...new Set(cells.map(({ family }) => family))];
/** True for settings of the image itself; those that packets need are checked before each cell. */
const isOfImage = ({ isVital }) => !isVital;
/** Each boot serves all cells of a pair. */
const anyCell = {
	scenario: "forwarding",
	family: "inet4"
};
/** Blames the variant for a failure: the image's own kernel boots here, and only this machine is in between. */
async function bootKernel({ boots, guest, console: recorder, lastLine }, run, kernel) {
	const planned = {
		number: 1,
		cell: anyCell,
		runs: [run]
	};
	try {
		return await bootFor(boots, planned, run, kernel);
	} catch (error) {
		if (!isOfOneCopy(error)) throw error;
		const { variant } = run;
		if (error instanceof DutLostError || lastLine() !== void 0) {
			const words = lastWords(guest.console(), false);
			return afterBootFailure(boots, variant, {
				reason: whyGone(lastLine()),
				...words
			});
		}
		if (!isHostError(error) || !isConnectionLost(error)) return failed(reasonOf(error));
		return afterEarlyDeath(boots.tallies, variant, recorder.lastWords());
	}
}
const whyGone = (lastLine) => lastLine === void 0 ? "it did not come up, and neither did its image after it, not even power-cycled twice" : `its QEMU has ended (${lastLine})`;
/** Counts a death, not a boot failure, as it was up; base, which runs beside it, has proven that a guest can be. */
function afterEarlyDeath(tallies, variant, words) {
	tallyOf(tallies, variant).deaths += 1;
	const how = "it was lost again as soon as it was up";
	if (!isToBlame(tallies, variant, "deaths", "hasBooted")) {
		const why = words.panic === void 0 ? "" : ` (panic: ${words.panic})`;
		return failed(`the guest with ${variant} died right after it had booted: ${how}${why}`);
	}
	return rejected$1(variant, {
		kind: "boot-failed",
		message: `Twice: ${how}.`,
		...words
	});
}
const isConnectionLost = ({ kind }) => [
	"unreachable",
	"lost",
	"timeout"
].includes(kind);

// src/lab/qemu/linux-boots.ts
/** Longer than any successful boot, even on a busy machine. */
const mostBootSeconds = 120;
/** A guest that needs that many times longer than another one is considered dead. */
const mostTimesSlower = 4;
const leastSecondsBeside = 20;
async function bootTogether(deps, bootables) {
	const together = {
		startedAt: deps.now(),
		firstUpSeconds: void 0
	};
	return Promise.all(bootables.map((bootable, index) => boot(deps, bootable, index + 1, together)));
}
function limitSeconds({ firstUpSeconds }) {
	if (firstUpSeconds === void 0) return mostBootSeconds;
	return Math.max(firstUpSeconds * mostTimesSlower, firstUpSeconds + leastSecondsBeside);
}
async function boot({ lab, connect, sleep, now, cpus, signal }, { variant, kernel }, number, together) {
	signal.throwIfAborted();
	const guest = await lab.boot(number, kernel, cpus[(number - 1) % cpus.length] ?? 0);
	const notBooted = (reason) => ({
		kind: "not-booted",
		variant,
		reason,
		words: lastWords(guest.console(), false),
		console: guest.console()
	});
	const aborted = Promise.withResolvers();
	const abort = () => aborted.reject(signal.reason);
	signal.addEventListener("abort", abort);
	const elapsedSeconds = () => now() - together.startedAt;
	try {
		let how;
		const upOrEnded = guest.up.then(() => {
			how = "up";
		}, () => {
			how = "ended";
		});
		while (how === void 0 && elapsedSeconds() < limitSeconds(together)) await Promise.race([
			upOrEnded,
			sleep(1),
			aborted.promise
		]);
		if (how === "ended") return notBooted("it reset itself before it was up");
		if (how === void 0) {
			const { where, words } = await interrupted(guest);
			return {
				...notBooted(`it was not up after ${Math.round(limitSeconds(together))} s${where}, and was power-cycled`),
				words
			};
		}
		together.firstUpSeconds ??= elapsedSeconds();
		const host = await connect(lab.login(guest), variant.variant, { keepaliveSeconds: 5 });
		const found = await identify(host, guest, kernel);
		if (found.kind === "other") {
			await host.close();
			return notBooted(found.reason);
		}
		return {
			kind: "booted",
			variant,
			guest,
			host,
			dut: linuxDut(host, linuxGuestPorts),
			kernel: found.kernel
		};
	} catch (error) {
		signal.throwIfAborted();
		if (!(error instanceof HostError)) throw error;
		return notBooted(`no login was possible (${reasonOf(error)})`);
	} finally {
		signal.removeEventListener("abort", abort);
	}
}
/** Proves which kernel runs: by its version, its command line, and the modules that it loaded. */
async function identify(host, { commandLine }, { version, atBoot }) {
	const [release, build, told, notes, ...modules] = (await host.output(shell`uname -r && uname -v && cat /proc/cmdline && od -A n -v -t x1 /sys/kernel/notes | tr -d ' \n' && echo && cut -d ${" "} -f 1 /proc/modules`)).split("\n");
	if (!version.startsWith(`${release} `) || !version.includes(` ${build}`)) return {
		kind: "other",
		reason: `${release} ${build} came up instead of ${version}`
	};
	if (told !== commandLine) return {
		kind: "other",
		reason: `it was told "${told}"`
	};
	const missing = atBoot.filter((name) => !modules.includes(name));
	if (missing.length > 0) return {
		kind: "other",
		reason: `it loaded no ${missing.join(" and no ")}`
	};
	const id = buildIdIn(notes ?? "");
	return {
		kind: "same",
		kernel: `${release} ${build}${id === void 0 ? "" : `, build ${id}`}`
	};
}
/** Hexadecimal note of type 3, owner `GNU`; see elf(5), NT_GNU_BUILD_ID. */
const buildIdIn = (notes) => /04000000(14000000)03000000474e5500([0-9a-f]{40})/.exec(notes)?.[2];

// src/lab/qemu/linux-guests.ts
var LinuxGuests = class {
	#name;
	#config;
	#resources;
	#bootable = /* @__PURE__ */ new Map();
	#scenarios = [];
	#warnings = [];
	#duts = /* @__PURE__ */ new WeakMap();
	constructor(name, config, resources) {
		this.#name = name;
		this.#config = config;
		this.#resources = resources;
	}
	async inspect() {
		return {
			fingerprint: await this.#resources.facts(),
			warnings: []
		};
	}
	async prepare({ variants, cells, ...request }) {
		const { signal, notify } = request;
		this.#scenarios = [...new Set(cells.map(({ scenario }) => scenario))].filter(isLinuxScenario);
		const compared = findInert(variants, this.#scenarios[0]);
		if (compared.kind === "rejected") return compared;
		this.#warnings = [...ignoredParts(variants), ...compared.warnings];
		const bootable = /* @__PURE__ */ new Map();
		for (const variant of variants) {
			signal.throwIfAborted();
			const name = variant.variant;
			const earlier = this.#bootable.get(name);
			if (earlier !== void 0) {
				bootable.set(name, earlier);
				continue;
			}
			const archive = await this.#archiveOf(variant, request);
			if (archive.kind === "rejected") return archive;
			notify(`unpacking the kernel of ${name}`);
			const kernel = await unpacked(this.#resources.lab, archive.path);
			bootable.set(name, {
				variant,
				kernel
			});
		}
		this.#bootable = bootable;
		return { kind: "ready" };
	}
	ready() {
		return new Set(this.#bootable.keys());
	}
	takeWarnings() {
		return this.#warnings.splice(0);
	}
	async boot({ runs, signal }) {
		const { lab, cpus, tallies, deps } = this.#resources;
		const bootables = runs.map(({ variant }) => {
			const bootable = this.#bootable.get(variant);
			if (bootable === void 0) throw new TypeError(`${variant} was not readied.`);
			return bootable;
		});
		const all = await bootTogether({
			...deps,
			lab,
			cpus,
			signal
		}, bootables);
		for (const { kind, variant } of all) {
			const tally = tallyOf(tallies, variant.variant);
			if (kind === "booted") Object.assign(tally, {
				hasBooted: true,
				bootFailures: 0
			});
			else tally.bootFailures += 1;
		}
		return all.map((one) => {
			const variant = one.variant.variant;
			if (one.kind === "not-booted") {
				const { reason, words, console } = one;
				const why = words.panic === void 0 ? "" : ` (panic: ${words.panic})`;
				return {
					kind: "not-booted",
					variant,
					outcome: blameOrFail(tallies, variant, ["bootFailures", "hasBooted"], {
						rejection: {
							kind: "boot-failed",
							message: `Twice in a row: ${reason}.`,
							...words
						},
						reason: `${variant} did not boot: ${reason}${why}`
					}),
					console
				};
			}
			const { guest, host, kernel, dut } = one;
			const booted = {
				kind: "booted",
				variant,
				guest,
				host,
				kernel
			};
			this.#duts.set(booted, dut);
			return booted;
		});
	}
	async tryRules(booted) {
		try {
			const refused = (await Promise.all(booted.map(async (one) => {
				const variant = this.#bootable.get(one.variant)?.variant;
				return this.#dutOf(one).prepare(variant === void 0 ? [] : [variant], this.#scenarios);
			}))).filter((prepared) => prepared.kind === "rejected");
			return refused.find(({ variant }) => variant === "base") ?? refused[0];
		} catch (error) {
			const full = await fullGuest(this.#resources.tallies, booted);
			if (full !== void 0) return full;
			throw error;
		}
	}
	async installRules(booted, { scenario }) {
		if (!isLinuxScenario(scenario)) throw new TypeError(`${scenario} is none of Linux.`);
		const installed = await this.#dutOf(booted).install(booted.variant, scenario);
		return installed.kind === "rejected" ? installed : void 0;
	}
	/** None: a ruleset that nft has loaded is in force as a whole. */
	async whyNotInForce() {}
	async droppedBy(booted, send) {
		const [by] = await Promise.all([this.#dutOf(booted).droppedBy(secondsToStart), send()]);
		return by;
	}
	symbols({ host }) {
		return host.output(shell`cat /proc/kallsyms`, { maxOutputBytes: maxSymbolBytes });
	}
	release(booted) {
		return this.stop(booted);
	}
	async stop(booted) {
		for (const { host, guest } of booted) {
			await host.close().catch(() => {});
			await guest.stop();
		}
	}
	async close() {}
	#dutOf(booted) {
		const dut = this.#duts.get(booted);
		if (dut === void 0) throw new TypeError(`${booted.variant} was not booted here.`);
		return dut;
	}
	/** Builds the variant's kernel, or returns the given one; the configuration's where only files differ. */
	async #archiveOf({ variant, kernel }, request) {
		const { builder, kernelPath } = this.#config;
		if (kernel === void 0) return {
			kind: "archive",
			path: kernelPath
		};
		if (kernel.kind === "archive") {
			await requireSame(kernel);
			return {
				kind: "archive",
				path: kernel.path
			};
		}
		if (builder === void 0) throw new UsageError(`${this.#name} has no \`builder\`, which the kernels of a tree need.`);
		const { lab, deps } = this.#resources;
		const built = await buildLinuxKernel(builder, {
			variant,
			kernel,
			path: join(lab.folder, `${pathName(variant)}.tar.zst`),
			owner: `ppsgate on ${this.#name}`,
			connect: deps.connect,
			now: deps.now,
			sums: deps.kernelSums ?? noSums,
			...request
		});
		return built.kind === "rejected" ? {
			...built,
			variant
		} : built;
	}
};
/** A guest whose instructions are translated starts nft(8) in less. */
const secondsToStart = 1;
/** Guests have their interfaces before their settings, like any DUT. */
function findInert(variants, scenario = "forwarding") {
	const read = variants.map((variant) => loadable(variant, linuxGuestPorts)).filter((overlay) => overlay.kind === "loadable");
	if (read.length < variants.length) return {
		kind: "acts",
		warnings: []
	};
	const kernelOf = (name) => variants.find(({ variant }) => variant === name)?.kernel;
	const base = kernelOf(variants[0]?.variant);
	const compared = findInertChanges(read, {
		before: /* @__PURE__ */ new Map(),
		fixed: /* @__PURE__ */ new Set()
	}, (name) => !isDeepStrictEqual(kernelOf(name), base));
	if (compared.kind === "acts") return compared;
	const { variant, message } = compared;
	return rejected$1(variant, {
		kind: "does-not-load",
		scenario,
		message
	});
}
/** `undefined` is this machine's own kernel. */
async function unpacked(lab, path) {
	try {
		return await lab.kernel(path);
	} catch (error) {
		if (!(error instanceof KernelFilesError)) throw error;
		const subject = path === void 0 ? "" : `The kernel ${path} `;
		throw new UsageError(`${subject}${error.message}.`);
	}
}
async function requireSame({ path, sha256 }) {
	const now = await givenKernel(path);
	if (now.kind === "archive" && now.sha256 === sha256) return;
	throw new UsageError(`The kernel ${path} has changed since this gate began: give it back its old content, or begin anew.`);
}
/** Finds a guest without free space for rules; a kernel that fills it is to blame. */
async function fullGuest(tallies, booted) {
	for (const { host, variant } of booted) {
		if ((await host.output(shell`df -P -k /run | tail -n 1`).catch(() => "")).trim().split(/\s+/)[3] !== "0") continue;
		tallyOf(tallies, variant).refusals += 1;
		const message = `no space is left in /run of the guest with ${variant}`;
		return isToBlame(tallies, variant, "refusals", "hasBooted") ? rejected$1(variant, {
			kind: "out-of-disk",
			message: `Twice: ${message}.`
		}) : failed(message);
	}
}

// src/lab/qemu/hot-functions.ts
/** Gives a window of 10,000 packets about as many samples as a sampler would take. */
const instructionsPerSample = 1e3;
const headerBytes = 64;
const slotBytes = 16;
/**
* Folded stacks of one frame each, as `nf_tables\`nft_do_chain 1234`: for each function the median of the windows, so that
* a timer that fell into one of three leaves no trace.
*/
function foldedInstructions({ counts, symbols }) {
	const functionAt = functionsOf(symbols);
	const windows = counts.slice(1).map((after, index) => executedBetween(counts[index] ?? after, after, functionAt));
	return `${[...new Set(windows.flatMap((window) => [...window.keys()]))].flatMap((name) => {
		const executed = median(windows.map((window) => window.get(name) ?? 0));
		const samples = Math.round(executed / instructionsPerSample);
		return samples > 0 ? `${name} ${samples}` : [];
	}).join("\n")}\n`;
}
/** Instructions of each function. */
function executedBetween(before, after, functionAt) {
	const byFunction = /* @__PURE__ */ new Map();
	const [earlier, later] = [viewOf(before), viewOf(after)];
	for (let at = headerBytes; at + slotBytes <= later.byteLength; at += slotBytes) {
		const address = later.getBigUint64(at, true);
		const executed = Number(later.getBigUint64(at + 8, true) - earlier.getBigUint64(at + 8, true));
		if (executed <= 0) continue;
		const name = functionAt(address);
		byFunction.set(name, (byFunction.get(name) ?? 0) + executed);
	}
	return byFunction;
}
const viewOf = ({ buffer, byteOffset, byteLength }) => new DataView(buffer, byteOffset, byteLength);
/** Kernel addresses are in the upper half. */
const firstOfKernel = 1n << 63n;
/** Finds the last symbol of code at or below an address. Names come from the kernel, unverified. */
function functionsOf(symbols) {
	const found = [];
	for (const line of symbols.split("\n")) {
		const [, address, name, module] = /^([0-9a-f]{16}) [tTwW] ([^\s;]{1,200})(?:\t\[([\w.-]{1,64})\])?$/.exec(line) ?? [];
		if (address === void 0 || name === void 0) continue;
		if (BigInt(`0x${address}`) < firstOfKernel) continue;
		const label = module === void 0 ? `kernel\`${name}` : `${module}\`${name}`;
		found.push({
			address: BigInt(`0x${address}`),
			label
		});
	}
	const sorted = found.toSorted((a, b) => a.address < b.address ? -1 : 1);
	return (address) => {
		if (address === 0n) return "unknown";
		if (address < firstOfKernel) return "userland";
		let [low, high] = [0, sorted.length];
		while (low < high) {
			const middle = low + high >> 1;
			if ((sorted[middle]?.address ?? 0n) <= address) low = middle + 1;
			else high = middle;
		}
		return sorted[low - 1]?.label ?? "unknown";
	};
}

// src/lab/qemu/trial-logs.ts
const windowsLogName = (pair) => `windows-${pair}.log`;
/** Groups the runs of a trial by pair: each pair has its own boots, of base and patched in parallel. */
const pairsOf = ({ runs }) => [...Map.groupBy(runs, ({ pair }) => pair)];
/** A run's number is the median of its windows without the first, which fills caches of the guest and of QEMU. */
function readVirtualLogs(planned, startedAt, packets, logs) {
	const runs = [];
	let trafficSeconds = 0;
	let sentPackets = 0;
	for (const [pair, pairRuns] of pairsOf(planned)) {
		const log = logs.get(pair);
		if (log === void 0) return {
			kind: "failed",
			reason: `pair ${pair} was not measured`
		};
		const windows = windowsIn(log, packets);
		if (typeof windows === "string") return {
			kind: "failed",
			reason: windows
		};
		trafficSeconds += sum(windows.map(({ seconds }) => seconds));
		sentPackets += packets * windows.length;
		const stuck = stuckIn(log);
		const drops = dropsIn(log);
		for (const [index, run] of pairRuns.entries()) {
			const own = windows.filter(({ guest }) => guest === index + 1);
			const isStuck = stuck.has(index + 1);
			const measured = measuredRun(run, planned.number, isStuck ? own : own.slice(1), isStuck);
			const droppedBy = measured.pps === 0 ? drops.get(index + 1) : void 0;
			runs.push(droppedBy === void 0 ? measured : {
				...measured,
				droppedBy
			});
		}
	}
	const { number, cell } = planned;
	const offeredPps = trafficSeconds > 0 ? sentPackets / trafficSeconds : 0;
	return {
		kind: "measured",
		runs,
		summary: {
			number,
			cell,
			startedAt,
			trafficSeconds,
			offeredPps
		}
	};
}
/** Returns a sentence for an incomplete log. */
function windowsIn(log, packets) {
	const lines = log.trimEnd().split("\n");
	if (lines.pop() !== "end") return "the windows ended before their time";
	const windows = [];
	for (const line of lines.filter((one) => !stuckLine.test(one) && !droppedLine.test(one))) {
		const window = windowOf(line, packets);
		if (window === void 0) return `a window cannot be read: "${line.slice(0, 200)}"`;
		windows.push(window);
	}
	return windows;
}
const stuckLine = /^stuck ([1-9]\d{0,3})$/;
const droppedLine = /^dropped ([1-9]\d{0,3}) (.{1,1000})$/;
const windowLine = /^window [1-9]\d{0,3}(?: \d{1,15}(?:\.\d{1,6})? \d{1,15} (?:-|\d{1,15}) \d{1,18} \d{1,18}){2}$/;
/** Ten numbers after the guest's: twice time, packets, instructions, and the CPU's own time and waiting in ns. */
function windowOf(line, receivedPackets) {
	if (!windowLine.test(line)) return void 0;
	const [guest, ...counts] = line.split(" ").slice(1);
	const before = counts.slice(0, 5).map(Number);
	const [seconds = 0, forwardedPackets = 0, instructions = 0, ran = 0, waited = 0] = counts.slice(5).map((text, index) => Number(text) - (before[index] ?? 0));
	const isCounted = counts[2] !== "-";
	if (isCounted !== (counts[7] !== "-")) return void 0;
	const goesForward = [
		forwardedPackets,
		ran,
		waited,
		isCounted ? instructions : 0
	].every((one) => one >= 0);
	if (!(seconds > 0) || !goesForward || forwardedPackets > 0 && (ran === 0 || isCounted && instructions === 0)) return void 0;
	return {
		guest: Number(guest),
		seconds,
		receivedPackets,
		forwardedPackets,
		busySeconds: ran / 1e9,
		deniedSeconds: waited / 1e9,
		...isCounted && { instructions }
	};
}
/** Guests that accepted no more packets, and were sent no further windows. */
const stuckIn = (log) => new Set(log.split("\n").flatMap((line) => stuckLine.exec(line)?.[1] ?? []).map(Number));
/** Adds what dropped the packets of silent guests, by number. */
function withDrops(log, drops) {
	const lines = [...drops].map(([guest, text]) => `dropped ${guest} ${oneLine(text).slice(0, 1e3)}\n`);
	return log.replace(/^end\s*$/m, () => `${lines.join("")}end\n`);
}
const dropsIn = (log) => new Map(log.split("\n").flatMap((line) => {
	const [, guest, text] = droppedLine.exec(line) ?? [];
	return text === void 0 ? [] : [[Number(guest), text]];
}));
/** Guests that forwarded nothing in their last window, and may be dead. */
function silentIn(log, packets) {
	const windows = windowsIn(log, packets);
	const last = /* @__PURE__ */ new Map();
	for (const window of typeof windows === "string" ? [] : windows) last.set(window.guest, window);
	const silent = [...last.values()].filter(({ forwardedPackets }) => forwardedPackets === 0);
	return /* @__PURE__ */ new Set([...stuckIn(log), ...silent.map(({ guest }) => guest)]);
}
function measuredRun(planned, trial, windows, isStuck) {
	const samples = windows.map(({ guest: _, ...sample }) => sample);
	const through = samples.filter(({ forwardedPackets }) => forwardedPackets > 0);
	const isSilent = through.length === 0;
	const perPacket = through.flatMap(({ instructions, forwardedPackets }) => instructions === void 0 ? [] : instructions / forwardedPackets);
	const nsPerPacket = through.map(({ busySeconds = 0, forwardedPackets }) => busySeconds * 1e9 / forwardedPackets);
	const rates = samples.map(({ forwardedPackets, seconds }) => forwardedPackets / seconds);
	return {
		...planned,
		trial,
		pps: isSilent ? 0 : median(rates),
		...!isSilent && { nsPerPacket: median(nsPerPacket) },
		...perPacket.length > 0 && { instructionsPerPacket: median(perPacket) },
		samples,
		validity: validityOf(samples, isStuck)
	};
}
/** Limit that includes the guest's own frames on the wire. */
const mostOwnRatio = 1.01;
/** A guest that forwards none of the packets it was sent counts with 0. */
function validityOf(windows, isStuck) {
	const invalid = (cause, reason) => ({
		kind: "invalid",
		cause,
		reason
	});
	if (windows.length === 0) return invalid("too-short", "no window was measured");
	const silent = windows.filter(({ forwardedPackets }) => forwardedPackets === 0).length;
	if (silent === windows.length) return { kind: "valid" };
	if (isStuck) return invalid("hole", `it accepted no more packets after window ${windows.length}`);
	if (silent > 0) return invalid("hole", `nothing came through in ${silent} of ${windows.length} windows`);
	const swollen = windows.find(({ receivedPackets, forwardedPackets }) => forwardedPackets > receivedPackets * mostOwnRatio);
	if (swollen === void 0) return { kind: "valid" };
	const { receivedPackets: sent, forwardedPackets: came } = swollen;
	return invalid("hole", `more came out than was sent: ${came} of ${sent} packets`);
}

// src/lab/qemu/virtual-trial.ts
async function trial(guests, planned, keepLog, signal) {
	const { traffic, tallies } = guests;
	const { cell } = planned;
	const { windows, packets } = windowsOf(traffic);
	/** After the boot, if there is one. */
	let startedAt;
	const logs = /* @__PURE__ */ new Map();
	const kernels = {};
	let bootSeconds = 0;
	for (const [pair, runs] of pairsOf(planned)) {
		const begunAt = guests.now();
		const up = await guestsFor(guests, {
			pair,
			runs,
			signal
		}, keepLog);
		if (up.kind !== "up") return up.outcome;
		const { booted } = up;
		if (up.hasBooted) bootSeconds += guests.now() - begunAt;
		startedAt ??= (/* @__PURE__ */ new Date()).toISOString();
		const sent = await installAndSend(guests, booted, cell, windows + 1, signal);
		if (sent.kind === "lost") {
			const outcome = await afterDeaths(guests, await endsOf(booted), {
				planned,
				keepLog,
				signal
			});
			await stopAll(guests);
			return outcome ?? {
				kind: "failed",
				reason: sent.reason
			};
		}
		if (sent.kind === "refused") return sent.outcome;
		await keepLog(windowsLogName(pair), sent.log);
		const silent = silentIn(sent.log, packets);
		const inForce = await whyNotInForce(guests, booted, cell, silent);
		if (silent.size > 0 || inForce.kind === "lost") {
			const outcome = await afterDeaths(guests, await endsOf(booted, (index) => inForce.kind === "lost" || silent.has(index + 1)), {
				planned,
				keepLog,
				signal
			});
			if (outcome !== void 0) return outcome;
		}
		if (inForce.reason !== void 0) return {
			kind: "failed",
			reason: inForce.reason
		};
		const drops = await dropsOf(guests, booted, cell, {
			silent,
			signal
		});
		const log = drops.size === 0 ? sent.log : withDrops(sent.log, drops);
		if (drops.size > 0) await keepLog(windowsLogName(pair), log);
		logs.set(pair, log);
		for (const { variant, kernel } of booted) {
			tallyOf(tallies, variant).hasStoodTrial = true;
			kernels[variant] = kernel;
		}
	}
	startedAt ??= (/* @__PURE__ */ new Date()).toISOString();
	const outcome = readVirtualLogs(planned, startedAt, packets, logs);
	if (outcome.kind !== "measured") return outcome;
	return {
		...outcome,
		summary: {
			...outcome.summary,
			kernels,
			...bootSeconds > 0 && { bootSeconds }
		}
	};
}
/** Called while packets' states live; `silent` are the numbers of guests, from 1 on, that forwarded nothing. */
async function whyNotInForce({ system }, booted, cell, silent) {
	try {
		return {
			kind: "told",
			reason: (await Promise.all(booted.map((one, index) => system.whyNotInForce(one, cell, { isSilent: silent.has(index + 1) })))).find((reason) => reason !== void 0)
		};
	} catch (error) {
		if (!(error instanceof HostError)) throw error;
		return {
			kind: "lost",
			reason: error.message
		};
	}
}
/** Packets flow as long as the guest traces them. */
const windowsToTrace = 10;
/** Returns what drops the packets of silent guests, by number; a guest that cannot be asked has no cause. */
async function dropsOf(guests, booted, cell, { silent, signal }) {
	const drops = /* @__PURE__ */ new Map();
	for (const [index, one] of booted.entries()) {
		if (!silent.has(index + 1)) continue;
		try {
			const by = await guests.system.droppedBy(one, () => send(guests, [one], cell, windowsToTrace, signal));
			if (by !== void 0) drops.set(index + 1, by);
		} catch (error) {
			if (!(error instanceof HostError)) throw error;
		}
	}
	return drops;
}
function windowsOf({ windows }) {
	if (windows === void 0) throw new TypeError("Virtual testbeds count packets out, and none were asked for.");
	return {
		windows: windows.count,
		packets: windows.packets
	};
}
async function guestsFor(guests, pair, keepLog) {
	const { running, system } = guests;
	const known = pair.runs.map((run) => running?.booted.find(({ variant }) => variant === run.variant));
	if (running?.pair === pair.pair && known.every((one) => one !== void 0)) return {
		kind: "up",
		booted: known,
		hasBooted: false
	};
	guests.running = void 0;
	if (running !== void 0) await system.release(running.booted);
	const all = await system.boot(pair);
	const booted = all.filter((one) => one.kind === "booted");
	guests.running = {
		pair: pair.pair,
		booted
	};
	const down = all.filter((one) => one.kind === "not-booted");
	for (const { variant, console } of down) await keepLog(consoleLogName(variant), console);
	const outcome = gravest(down.map(({ variant, outcome, console }) => console === "" ? outcome : withConsole(variant, outcome))) ?? await tryAll(guests, booted);
	if (outcome === void 0) return {
		kind: "up",
		booted,
		hasBooted: true
	};
	if (down.length > 0) await stopAll(guests);
	return {
		kind: "down",
		outcome
	};
}
/** A rejection comes before a failure that may be retried. */
const gravest = (outcomes) => outcomes.find(({ kind }) => kind === "rejected") ?? outcomes[0];
/** Moves all guests to one CPU: their instructions so far do not count. */
async function tryAll(guests, booted) {
	try {
		const refused = await guests.system.tryRules(booted);
		for (const { guest } of booted) await guest.pinTo(guestCpu);
		return refused;
	} catch (error) {
		if (!(error instanceof HostError)) throw error;
		await stopAll(guests);
		return {
			kind: "failed",
			reason: error.message
		};
	}
}
async function stopAll(guests) {
	const { running, system } = guests;
	guests.running = void 0;
	if (running !== void 0) await system.stop(running.booted);
}
async function installAndSend(guests, booted, cell, windows, signal) {
	return await installRules(guests, booted, cell) ?? send(guests, booted, cell, windows, signal);
}
async function installRules({ system }, booted, cell) {
	try {
		for (const one of booted) {
			const outcome = await system.installRules(one, cell);
			if (outcome !== void 0) return {
				kind: "refused",
				outcome
			};
		}
		return;
	} catch (error) {
		if (!(error instanceof HostError)) throw error;
		return {
			kind: "lost",
			reason: error.message
		};
	}
}
async function send({ lab, traffic, flowsFor, sendWindows }, booted, cell, windows, signal) {
	const { packets } = windowsOf(traffic);
	const sent = await sendWindows(lab, {
		guests: booted.map(({ guest }) => guest),
		flows: () => flowsFor(cell),
		packets,
		windows,
		signal
	});
	return sent.kind === "sent" ? sent : {
		kind: "lost",
		reason: `windows broke off: ${sent.lastLine}`
	};
}
const endsOf = (booted, isOverride = (_index) => true) => Promise.all(booted.map(async (one, index) => ({
	one,
	end: isOverride(index) ? await endOf(one) : void 0
})));
/** Undefined where no guest has died; else first checks that base survives the same packets. */
async function afterDeaths(guests, ends, { planned: { cell }, keepLog, signal }) {
	if (ends.every(({ end }) => end === void 0)) return void 0;
	const { tallies, traffic } = guests;
	const outcomes = [];
	const base = ends.find(({ one, end }) => one.variant === "base" && end === void 0);
	if (base !== void 0 && !tallyOf(tallies, "base").hasStoodTrial) {
		const control = await installAndSend(guests, [base.one], cell, 2, signal);
		tallyOf(tallies, "base").hasStoodTrial = control.kind === "sent" && silentIn(control.log, windowsOf(traffic).packets).size === 0;
	}
	for (const { one, end } of ends) {
		if (end === void 0) continue;
		const { variant, guest } = one;
		await keepLog(consoleLogName(variant), guest.console());
		tallyOf(tallies, variant).deaths += 1;
		const died = afterDeath(guests, variant, `under ${traffic.flows} flows`, end);
		outcomes.push(withConsole(variant, died));
	}
	await stopAll(guests);
	return gravest(outcomes);
}
async function endOf({ guest, host }) {
	if (await host.output(shell`uname`, { timeoutSeconds: answerSeconds }).then(() => true, () => false)) return void 0;
	const words = lastWords(guest.console(), false);
	if (words.panic !== void 0) return {
		how: `it panicked: ${words.panic}`,
		words
	};
	const { where, words: asked } = await interrupted(guest);
	return {
		how: `it did not answer any more${where}, and was power-cycled`,
		words: asked
	};
}
const answerSeconds = 10;
function afterDeath({ tallies }, name, where, { how, words }) {
	if (isToBlame(tallies, name, "deaths", "hasStoodTrial")) return rejected(name, {
		kind: "panics-under-load",
		message: `Twice, ${where}${words.panic === void 0 ? `: ${how}` : ""}.`,
		...words
	});
	return {
		kind: "failed",
		reason: `the guest with ${name} died ${where}: ${how}`,
		...lacksControl(tallies, name, "hasStoodTrial") && { lacksControl: true }
	};
}
const rejected = (variant, rejection) => ({
	kind: "rejected",
	variant,
	rejection
});
/** Names the log of a guest that is thrown away. */
function withConsole(variant, outcome) {
	const log = consoleLogName(variant);
	if (outcome.kind === "failed") return {
		...outcome,
		reason: `${outcome.reason.replace(/\.$/, "")}; the guest was thrown away, and its console is in ${log}`
	};
	if (outcome.kind !== "rejected") return outcome;
	const { rejection } = outcome;
	return rejection.kind === "boot-failed" || rejection.kind === "panics-under-load" ? {
		...outcome,
		rejection: {
			...rejection,
			guestConsole: log
		}
	} : outcome;
}
const consoleLogName = (variant) => `console-${pathName(variant)}.log`;

// src/lab/qemu/virtual-profile.ts
/** A timer that falls into one window is no change of the patch's. */
const windows = 3;
/** Counts windows one by one after a discarded one. Counting leaves no trace in the guest, which stays up. */
async function profile(guests, { cell, variant }, keepLog, signal) {
	if (guests.config.accelerator !== "tcg") return impossible("instructions are not counted where the CPU itself executes a guest");
	if ((guests.running?.booted ?? []).every((one) => one.variant !== variant)) {
		const runs = [...guests.system.ready()].map((name) => ({ variant: name }));
		const up = await guestsFor(guests, {
			pair: 0,
			runs,
			signal
		}, keepLog);
		if (up.kind !== "up") return missed(whyNot(up.outcome));
	}
	const booted = guests.running?.booted.find((one) => one.variant === variant);
	const counts = booted?.guest.counts;
	if (booted === void 0 || counts === void 0) return missed("nothing counted instructions");
	try {
		const installed = await installRules(guests, [booted], cell);
		if (installed?.kind === "lost") return missed(installed.reason);
		if (installed !== void 0) return missed(whyNot(installed.outcome));
		const points = [];
		let log = "";
		for (let window = 0; window <= windows; window += 1) {
			const sent = await send(guests, [booted], cell, 1, signal);
			if (sent.kind !== "sent") return missed("packets did not flow while instructions were counted");
			points.push(await readFile(counts));
			log += sent.log;
		}
		await keepLog("windows.log", log);
		const symbols = await guests.system.symbols(booted);
		const text = foldedInstructions({
			counts: points,
			symbols
		});
		return judgeProfile(text, {
			event: "instructions",
			kernel: booted.kernel
		}, keepLog);
	} catch (error) {
		if (!(error instanceof HostError)) throw error;
		await stopAll(guests);
		return missed(error.message);
	}
}
const whyNot = (outcome) => outcome.reason ?? "the variant does not boot";

// src/lab/qemu/windows.ts
const script = readFileSync(new URL("../windows.sh", import.meta.url), "utf8");
/** Time limit of a window: a thousand packets per second, on a busy machine. */
const mostSeconds = 30;
async function sendWindows({ wire }, { guests, flows, packets, windows, signal }) {
	const all = guests.map((_, index) => index + 1);
	const rounds = Array.from({ length: windows }, (_, round) => round % 2 === 0 ? all : all.toReversed());
	const file = await flows();
	const described = guests.map(({ interfaces, counts = "-", cpuThread }) => [
		interfaces.sender,
		interfaces.receiver,
		counts,
		cpuThread,
		file
	].join(","));
	const words = [
		packets,
		mostSeconds,
		0,
		rounds.flat().join(",")
	].map(String);
	const sending = wire.start("bash", [
		"-c",
		script,
		"windows.sh",
		...words,
		...described
	]);
	let log = "";
	let said = "";
	sending.stdout?.on("data", (piece) => {
		log += piece.toString();
	});
	sending.stderr?.on("data", (piece) => {
		said = (said + piece.toString()).slice(-4096);
	});
	const stop = () => void sending.stdin?.end();
	sending.stdin?.on("error", () => {});
	signal.addEventListener("abort", stop);
	for (const { ended } of guests) ended.then(stop);
	try {
		const [code] = await once(sending, "close");
		signal.throwIfAborted();
		if (code === 0) return {
			kind: "sent",
			log
		};
		return {
			kind: "broken",
			log,
			lastLine: lastLine(said) ?? "it said nothing"
		};
	} finally {
		signal.removeEventListener("abort", stop);
	}
}

// src/lab/qemu/virtual-testbed.ts
const labOfThisMachine = {
	up: virtualLabUp,
	sendWindows,
	facts: factsOf
};
/** Sets up the lab, which `restore` removes. Throws a LabInUseError while another process uses this machine. */
async function openVirtualTestbed(name, config, traffic, deps, labOfGuests = labOfThisMachine) {
	const lab = await labOfGuests.up(config);
	const tallies = /* @__PURE__ */ new Map();
	const cpus = guestCpu === 0 ? [guestCpu] : [guestCpu, 0];
	const flows = traffic.captured === void 0 ? traffic.flows : void 0;
	const facts = () => labOfGuests.facts(config);
	const system = await openSystem(name, config, {
		lab,
		tallies,
		cpus,
		flows,
		deps,
		facts
	}).catch(async (error) => {
		await lab.down();
		throw error;
	});
	const guests = {
		lab,
		config,
		traffic,
		tallies,
		system,
		running: void 0,
		now: () => deps.now(),
		flowsFor: (cell) => flowsFor(lab, traffic, cell),
		sendWindows: labOfGuests.sendWindows
	};
	return {
		name,
		inspect: (cells) => system.inspect(cells),
		prepare: (request) => system.prepare(request),
		ready: () => system.ready(),
		async trial(planned, keepLog, signal) {
			const outcome = await trial(guests, planned, keepLog, signal);
			const warnings = [...outcome.warnings ?? [], ...system.takeWarnings()];
			return warnings.length === 0 ? outcome : {
				...outcome,
				warnings
			};
		},
		booted: () => void 0,
		profile: (request, keepLog, signal) => profile(guests, request, keepLog, signal),
		async restore() {
			await stopAll(guests).then(() => system.close()).finally(() => lab.down());
		}
	};
}
async function openSystem(name, config, resources) {
	if (config.system === "linux") return new LinuxGuests(name, config, resources);
	const { lab, deps } = resources;
	const image = await guestImage(config.image, lab, deps);
	return new FreebsdGuests(name, {
		...config,
		image
	}, resources);
}
async function flowsFor(lab, traffic, cell) {
	const { family } = cell;
	const { flows, packets, captured } = traffic;
	const frameBytes = frameBytesFor(traffic, cell);
	const path = join(lab.folder, `${family}.${frameBytes}.flows`);
	const macs = {
		sourceMac: senderMac,
		destinationMac: guestMac.ingress
	};
	await writeFile(path, trafgenFlows({
		family,
		flows,
		frameBytes,
		packets,
		captured,
		...macs
	}));
	return path;
}

export { bootTogether, guestImage, imagesFolder, isOfImage, labOfThisMachine, openImage, openVirtualTestbed, pairsOf, readVirtualLogs, windowsLogName };