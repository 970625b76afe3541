import { ownerFile } from "../netns/plain.js";
import { object, union, unknown } from "../../vendor/zod.js";
import { claim, disclaim } from "../netns/first-plain.js";
import { guestAddress, guestMac, guestNetwork, openDiskImage, openWire, ownKernel, packUserland, unpackKernel, unprivilegedUserId, wireAddress } from "./vm/plain.js";
import { lastLine } from "../../model/first-plain.js";
import { openPacedPipe } from "../../system/paced-pipe.js";
import { ConsoleTape } from "../console/plain.js";
import { prose } from "../../model/first.js";
const { once } = globalThis.process.getBuiltinModule("node:events");
const { basename, join } = globalThis.process.getBuiltinModule("node:path");
const { readFileSync } = globalThis.process.getBuiltinModule("node:fs");
const { promisify } = globalThis.process.getBuiltinModule("node:util");
const { createConnection } = globalThis.process.getBuiltinModule("node:net");
const { randomUUID } = globalThis.process.getBuiltinModule("node:crypto");
const { mkdir, readFile, readdir, rm, writeFile } = globalThis.process.getBuiltinModule("node:fs/promises");
const { availableParallelism } = globalThis.process.getBuiltinModule("node:os");
const { execFile } = globalThis.process.getBuiltinModule("node:child_process");
const { setTimeout } = globalThis.process.getBuiltinModule("node:timers/promises");
const { createInterface } = globalThis.process.getBuiltinModule("node:readline");

// src/lab/qemu/vm/qmp.ts
const reply = union([object({ return: unknown() }), object({ error: object({ desc: prose() }) })]);
async function openQmp(path) {
	const socket = createConnection(path);
	await once(socket, "connect");
	const lines = createInterface({ input: socket })[Symbol.asyncIterator]();
	socket.on("error", () => {});
	const answer = async () => {
		for (;;) {
			const { value, done } = await lines.next();
			if (done) throw new Error("QEMU ended before it answered.");
			const read = reply.safeParse(JSON.parse(value));
			if (!read.success) continue;
			if ("error" in read.data) throw new Error(`QEMU refused: ${read.data.error.desc}.`);
			return read.data.return;
		}
	};
	const overrides = (execute) => {
		socket.write(`${JSON.stringify({ execute })}\n`);
		return answer();
	};
	await overrides("qmp_capabilities");
	return {
		execute: overrides,
		[Symbol.dispose]: () => void socket.destroy()
	};
}

// src/lab/qemu/vm/guest.ts
const execute = promisify(execFile);
const maxConsoleBytes = 1024 ** 2;
const secondsForLastWords = 5;
/** Returns before the guest has booted. Throws if QEMU does not start. */
async function startGuest(wire, request) {
	const { number, folder, plugin, boots } = request;
	await rm(folder, {
		recursive: true,
		force: true
	});
	await mkdir(folder, {
		mode: 448,
		recursive: true
	});
	const [sender, receiver] = [`ppsgate-tx${number}`, `ppsgate-rx${number}`];
	await createWires(wire, [sender, receiver]);
	const qmpPath = join(folder, "qmp");
	const counts = plugin === void 0 ? void 0 : join(folder, "counts");
	const consolePath = join(folder, "console");
	const hasInput = boots.kind === "disk" && boots.hasConsoleInput === true;
	const consoleInput = hasInput ? `${consolePath}.in` : void 0;
	if (consoleInput !== void 0) await execute("mkfifo", [
		"-m",
		"600",
		consoleInput
	]);
	const options = qemuArguments(request, {
		sender,
		receiver,
		qmpPath,
		consoleDevice: hasInput ? `pipe,path=${escaped(consolePath)}` : `file,path=${escaped(consolePath)}`,
		counts
	});
	const tape = new ConsoleTape(maxConsoleBytes);
	const listeners = /* @__PURE__ */ new Set();
	const console = openPacedPipe(hasInput ? `${consolePath}.out` : consolePath, (piece) => {
		tape.write(piece);
		for (const onOutput of listeners) onOutput(piece);
	});
	const running = wire.start("setpriv", [
		"--no-new-privs",
		"taskset",
		"--cpu-list",
		String(request.cpu),
		...options
	], boots.kind === "disk" ? boots.image.descriptor : void 0);
	let errors = "";
	const ended = once(running, "close").then(() => lastLine(errors) ?? "it said nothing", (error) => String(error)).finally(() => console.close());
	running.stdout?.resume();
	running.stderr?.on("data", (piece) => {
		errors = (errors + piece.toString()).slice(-4096);
	});
	const qemu = await qemuOf(running.pid, ended);
	const cpuThread = await cpuThreadOf(qemu, ended);
	return {
		number,
		address: {
			host: wireAddress,
			port: portOf(number)
		},
		interfaces: {
			sender,
			receiver
		},
		counts,
		cpuThread,
		consoleInput,
		ended,
		console() {
			console.read();
			return tape.text();
		},
		listen(onOutput) {
			listeners.add(onOutput);
			return () => void listeners.delete(onOutput);
		},
		async pinTo(cpu, othersCpu = cpu) {
			try {
				await pin(["--all-tasks"], othersCpu, String(qemu));
				await pin([], cpu, basename(cpuThread));
			} catch (error) {
				const timeout = setTimeout(secondsForLastWords * 1e3, "runs");
				if (await Promise.race([ended, timeout]) === "runs") throw error;
			}
		},
		async interrupt() {
			const before = tape.length;
			using qmp = await openQmp(qmpPath);
			await qmp.execute("inject-nmi");
			await Promise.race([ended, setTimeout(secondsForLastWords * 1e3)]);
			if (tape.length === before) await setTimeout(200);
		},
		async reset() {
			using qmp = await openQmp(qmpPath);
			await qmp.execute("system_reset");
		},
		async stop() {
			endProcess(qemu);
			await ended;
			await rm(folder, {
				recursive: true,
				force: true
			});
		}
	};
}
async function pin(options, cpu, id) {
	await execute("taskset", [
		...options,
		"--pid",
		"--cpu-list",
		String(cpu),
		id
	]);
}
var GuestEndedError = class extends Error {
	name = "GuestEndedError";
};
const portOf = (number) => 2200 + number;
/** Creates a tap for each name, which yields the guest's frames or delivers frames to it, without ARP or IP of ours. */
async function createWires(wire, names) {
	await wire.run("sh", [
		"-c",
		createTaps,
		"sh",
		...names
	]);
}
/** Without these settings this machine would reply to ARP for the wire's address, and accept its packets. */
const createTaps = `set -e
for name; do
  ip link delete "$name" 2>/dev/null || :
  ip tuntap add dev "$name" mode tap
  cd /proc/sys/net
  echo 1 >"ipv6/conf/$name/disable_ipv6"
  echo 8 >"ipv4/conf/$name/arp_ignore"
  echo 1 >"ipv4/conf/$name/rp_filter"
  ip link set dev "$name" up
done`;
function qemuArguments({ number, boots, machine, plugin, user }, place) {
	const card = (id, mac) => ["-device", `virtio-net-pci,netdev=${id},mac=${mac},romfile=`];
	const tap = (id, name) => ["-netdev", `tap,id=${id},ifname=${name},script=no,downscript=no`];
	const forward = `hostfwd=tcp:${wireAddress}:${portOf(number)}-${guestAddress}:22`;
	return [
		"qemu-system-x86_64",
		"-name",
		`ppsgate-${number},debug-threads=on`,
		"-nodefaults",
		"-no-user-config",
		"-machine",
		"q35,graphics=off",
		"-accel",
		machine.accelerator,
		"-cpu",
		machine.accelerator === "kvm" ? "host" : "max",
		"-smp",
		"1",
		"-m",
		String(machine.memoryMebibytes),
		"-display",
		"none",
		...user,
		"-sandbox",
		"on,obsolete=deny,spawn=deny",
		"-chardev",
		`${place.consoleDevice},id=console`,
		"-serial",
		"chardev:console",
		"-qmp",
		`unix:${place.qmpPath},server=on,wait=off`,
		"-netdev",
		`user,id=control,restrict=on,ipv6=off,${guestNetwork},${forward}`,
		...card("control", guestMac.management),
		...tap("in", place.sender),
		...card("in", guestMac.ingress),
		...tap("out", place.receiver),
		...card("out", guestMac.egress),
		"-device",
		"virtio-rng-pci",
		...bootArguments(boots),
		...plugin === void 0 ? [] : ["-plugin", `${plugin},counts=${place.counts}`]
	];
}
/** QEMU's options escape a comma by doubling it. */
const escaped = (path) => path.replaceAll(",", ",,");
/** Returns QEMU's option to drop privileges: one up to 9.2, another since that one's removal. */
async function unprivileged(wire) {
	const help = await wire.run("qemu-system-x86_64", ["-help"]);
	return /^-runas /m.test(help) ? ["-runas", `${unprivilegedUserId}:${unprivilegedUserId}`] : ["-run-with", `user=${unprivilegedUserId}:${unprivilegedUserId}`];
}
function bootArguments(boots) {
	if (boots.kind === "kernel") {
		const { path, initrd, commandLine } = boots;
		return [
			"-no-reboot",
			"-kernel",
			path,
			"-initrd",
			initrd,
			"-append",
			commandLine
		];
	}
	return [...boots.image.qemuArguments];
}
/** Waits until the started program has entered the namespaces and has QEMU as its child. */
async function qemuOf(entering, ended) {
	const path = `/proc/${entering}/task/${entering}/children`;
	return retryUntilFound(ended, async () => {
		const [child] = (await readFile(path, "utf8")).trim().split(" ").filter(Boolean);
		return child === void 0 ? void 0 : Number(child);
	});
}
/** QEMU names its threads; see its `-name`. */
async function cpuThreadOf(qemu, ended) {
	return retryUntilFound(ended, async () => {
		for (const thread of await readdir(`/proc/${qemu}/task`)) {
			const folder = `/proc/${qemu}/task/${thread}`;
			if ((await readFile(`${folder}/comm`, "utf8").catch(() => "")).startsWith("CPU 0/")) return folder;
		}
	});
}
async function retryUntilFound(ended, find) {
	let why;
	ended.then((last) => {
		why = last;
	});
	for (;;) {
		const found = await find().catch(() => void 0);
		if (found !== void 0) return found;
		if (why !== void 0) throw new GuestEndedError(`QEMU started no guest (${why}): install what is missing on this machine, or remove \`accelerator: kvm\`.`);
		await setTimeout(20);
	}
}
function endProcess(pid) {
	try {
		process.kill(pid, "SIGKILL");
	} catch (error) {
		if (error.code !== "ESRCH") throw error;
	}
}

// src/lab/qemu/vm/virtual-lab.ts
const run = promisify(execFile);
const pluginSource = readFileSync(new URL("../../instructions.c", import.meta.url));
const folder = "/run/ppsgate-virtual";
const maxGuests = 16;
const guestCpu = availableParallelism() > 1 ? 1 : 0;
/** Removes an earlier process's leftovers first. Throws a LabInUseError while another process uses this machine. */
async function virtualLabUp(machine) {
	await claim(ownerFile);
	await using opened = new AsyncDisposableStack();
	opened.defer(async () => {
		await rm(folder, {
			recursive: true,
			force: true
		});
		await disclaim(ownerFile);
	});
	await rm(folder, {
		recursive: true,
		force: true
	});
	await mkdir(folder, {
		mode: 457,
		recursive: true
	});
	const keys = await makeKeys();
	const userland = join(folder, "userland.cpio");
	const plugin = machine.accelerator === "tcg" ? join(folder, "instructions.so") : void 0;
	const modules = machine.system === "linux" ? machine.modules : [];
	const wire = opened.use(await openWire());
	const [user] = await Promise.all([
		unprivileged(wire),
		machine.system === "linux" && packUserland(userland, keys),
		plugin !== void 0 && compilePlugin(plugin)
	]);
	const kernels = /* @__PURE__ */ new Map();
	const guests = /* @__PURE__ */ new Map();
	const all = opened.move();
	const start = async (number, boots, cpu) => {
		await guests.get(number)?.stop();
		const request = {
			number,
			folder: join(folder, `guest-${number}`),
			boots,
			machine,
			cpu,
			plugin,
			user
		};
		const guest = await startGuest(wire, request);
		guests.set(number, guest);
		return guest;
	};
	return {
		wire,
		folder,
		kernel(archive) {
			const key = archive ?? "";
			const known = kernels.get(key);
			if (known !== void 0) return known;
			const place = join(folder, `kernel-${kernels.size + 1}`);
			const unpacking = (archive === void 0 ? ownKernel(place, modules) : unpackKernel(archive, place, modules)).then(async (files) => {
				await concatenate([userland, files.modules], join(place, "initial.cpio"));
				return files;
			});
			kernels.set(key, unpacking);
			return unpacking;
		},
		async boot(number, { image: path }, cpu) {
			const boot = randomUUID();
			const commandLine = kernelCommandLine(boot);
			const initrd = join(path, "../initial.cpio");
			const guest = await start(number, {
				kind: "kernel",
				path,
				commandLine,
				initrd
			}, cpu);
			const up = shows(guest, `ppsgate: ${boot} is up`);
			up.catch(() => {});
			return {
				...guest,
				commandLine,
				up
			};
		},
		async bootImage(number, { path }, cpu) {
			await using image = await openDiskImage(path);
			return await start(number, {
				kind: "disk",
				image
			}, cpu);
		},
		async bootToPrepare(path) {
			await using image = await openDiskImage(path, "image");
			return await start(1, {
				kind: "disk",
				image,
				hasConsoleInput: true
			}, guestCpu);
		},
		login: ({ address }) => ({
			...address,
			user: "root",
			privateKeyPath: keyPath("controller"),
			knownHostsPath
		}),
		async loginTo({ privateKeyPath, hostKey }, { address, number }) {
			const knownHostsPath = join(folder, `known_hosts-${number}`);
			await writeFile(knownHostsPath, knownHosts(hostKey));
			return {
				...address,
				user: "root",
				knownHostsPath,
				...privateKeyPath !== void 0 && { privateKeyPath }
			};
		},
		down: () => all.disposeAsync()
	};
}
/** `panic=-1` resets the machine at once, which ends QEMU. Tests of the kernel's ciphers take a tenth of a boot. */
const kernelCommandLine = (boot) => `console=ttyS0 loglevel=6 panic=-1 oops=panic unknown_nmi_panic nokaslr mitigations=off cryptomgr.notests net.ifnames=0 ppsgate.boot=${boot}`;
/** Resolves once the console has shown the words; rejects if QEMU ends first. */
function shows(guest, words) {
	const { promise, resolve, reject } = Promise.withResolvers();
	let shown = guest.console();
	if (shown.includes(words)) resolve();
	const leave = guest.listen((piece) => {
		shown = shown.slice(-words.length) + piece.toString("latin1");
		if (shown.includes(words)) resolve();
	});
	guest.ended.then((why) => reject(new GuestEndedError(why)));
	return promise.finally(leave);
}
const keyPath = (name) => join(folder, name);
const knownHostsPath = join(folder, "known_hosts");
async function makeKeys() {
	for (const name of ["controller", "guest"]) await run("ssh-keygen", [
		"-q",
		"-t",
		"ed25519",
		"-N",
		"",
		"-C",
		name,
		"-f",
		keyPath(name)
	]);
	const [type, key] = (await readFile(`${keyPath("guest")}.pub`, "utf8")).split(" ");
	await writeFile(knownHostsPath, knownHosts(`${type} ${key}`));
	return {
		host: keyPath("guest"),
		controller: await readFile(`${keyPath("controller")}.pub`, "utf8")
	};
}
const knownHosts = (hostKey) => Array.from({ length: maxGuests }, (_, index) => `[${wireAddress}]:${portOf(index + 1)} ${hostKey}\n`).join("");
/** Debian packages QEMU's plugin support without its header, so the source declares what it uses. */
async function compilePlugin(plugin) {
	const compiling = run("gcc", [
		"-O2",
		"-shared",
		"-fPIC",
		"-x",
		"c",
		"-o",
		plugin,
		"-"
	]);
	compiling.child.stdin?.on("error", () => {}).end(pluginSource);
	await compiling;
}
async function concatenate(files, target) {
	await run("sh", [
		"-c",
		"umask 077; out=$1; shift; cat \"$@\" >\"$out\"",
		"sh",
		target,
		...files
	]);
}

export { GuestEndedError, guestCpu, kernelCommandLine, virtualLabUp };