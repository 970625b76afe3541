import { UsageError, lastLine, prose, reasonOf } from "../../model.js";
import { object, union, unknown } from "../../vendor/zod.js";
import { claim, disclaim, labPath, ownerFile } from "../netns.js";
import { commandText } from "../../system/host.js";
import { ConsoleTape, describeScreen, openPacedPipe } from "../console.js";
import { once } from "node:events";
import { execFile, spawn } from "node:child_process";
import { basename, delimiter, dirname, join } from "node:path";
import { constants, createReadStream, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { createConnection } from "node:net";
import { randomUUID } from "node:crypto";
import { access, chown, copyFile, mkdir, open, readFile, readdir, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { setTimeout as setTimeout$1 } from "node:timers/promises";
import { createInterface } from "node:readline";

// src/lab/qemu/vm/addresses.ts
/** The controller's end of the control cable; link-local, so that only this machine can be reached. */
const controllerAddress = "169.254.74.1";
const wireAddress = "169.254.74.2";
const guestAddress = "169.254.74.15";
/**
* Options of QEMU's `-netdev user`, a network of one guest, in which DHCP gives this address, too. Connections come
* from the controller's address, for which QEMU responds there, so that a guest needs no router for its replies.
*/
const guestNetwork = `net=169.254.74.0/24,host=${controllerAddress},dhcpstart=${guestAddress}`;
/** The same for all guests, each of which has its own wires; guests name their cards by them. */
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

// src/lab/qemu/vm/console-shell.ts
/** The message is a clause on the console or on a command. */
var ConsoleShellError = class extends Error {
	name = "ConsoleShellError";
};
const loginPrompt = /(?:^|[\r\n])(?:[\w.-]+ )?login: /;
const afterName = /(?<password>password)(?: for [^\r\n]*)?:|[#%$>] $/i;
const secondsToPrompt = 30;
const usualSeconds = 120;
/** FreeBSD's terminals may drop what exceeds an input line of that length (MAX_INPUT). */
const mostCharacters = 1e3;
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
	/** Waits for the login prompt. Throws a ConsoleShellError if none comes, or a password is asked for. */
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
		if ((await this.#shows(afterName, secondsToPrompt))?.groups?.password !== void 0) throw new ConsoleShellError("its serial console asks for a password of root");
		await this.#type("exec env -i PATH=/sbin:/bin:/usr/sbin:/usr/bin HOME=/root TERM=dumb /bin/sh");
		if (await this.#execute("stty -echo; PS1= PS2=", secondsToPrompt) === void 0) throw new ConsoleShellError(`root got no shell on its serial console, which ${describeScreen(this.#guest.console())}`);
	}
	/** Returns output and errors. Throws a ConsoleShellError for a command that fails, or is not over in time. */
	async run(command, seconds = usualSeconds) {
		const text = commandText(command);
		const ended = await this.#execute(`{ ${text}; } 2>&1`, seconds);
		if (ended === void 0) throw new ConsoleShellError(`"${text}" was not over within ${seconds} s on its serial console, which ${describeScreen(sinceMark(this.#shown))}`);
		const { code, output } = ended;
		if (code === 0) return output;
		const said = lastLine(output) ?? "nothing";
		throw new ConsoleShellError(`"${text}" exited with ${code} and said "${said}"`);
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
		if (line.length > mostCharacters || /[^ -~]/.test(line)) throw new TypeError(`This line cannot be typed: ${line}`);
		const { consoleInput = "" } = this.#guest;
		await using input = await open(consoleInput, constants.O_WRONLY | constants.O_NONBLOCK);
		await input.write(`${line}\n`);
	}
	/** Waits until the output has the pattern; undefined if it has not in time. */
	async #shows(pattern, seconds) {
		const { promise: over, resolve } = Promise.withResolvers();
		const timer = setTimeout(() => resolve("over"), seconds * 1e3);
		const ended = this.#guest.ended.then((why) => {
			throw new ConsoleShellError(`its QEMU has ended (${why})`);
		});
		try {
			for (;;) {
				const found = pattern.exec(this.#shown);
				if (found !== null) return found;
				if (await Promise.race([
					this.#more.promise,
					over,
					ended
				]) === "over") return void 0;
			}
		} finally {
			clearTimeout(timer);
		}
	}
	[Symbol.dispose]() {
		this.#leave();
	}
};
/** Leaves out the echo of a command, up to the mark that its output begins with. */
const sinceMark = (shown) => shown.replace(/^.*<<begin \d+>>\r*\n/s, "");

// src/lab/qemu/vm/disk-image.ts
/** The first descriptor after standard input, output and error. */
const inheritedFile = 3;
/** Throws a UsageError for a file that cannot be read, or whose format has QEMU open further files. */
async function openDiskImage(path, writesTo = "copy") {
	const mode = writesTo === "copy" ? constants.O_RDONLY : constants.O_RDWR;
	const file = await open(path, mode | constants.O_NONBLOCK).catch(unreadable$1(path));
	try {
		const stats = await file.stat();
		if (!stats.isFile() && !stats.isBlockDevice()) throw new Error("it is neither a file nor a disk");
		const header = await beginningOf(file);
		const format = header.subarray(0, 4).equals(qcowMagic) ? "qcow2" : "raw";
		const reference = format === "qcow2" ? referenceIn(header) : void 0;
		if (reference !== void 0) throw new UsageError(`The image ${path} ${reference}: convert it to one file, by \`qemu-img convert -O qcow2\` where you trust it.`);
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
	throw new UsageError(`The image ${path} cannot be read (${reasonOf(error)}).`);
};
const qcowMagic = Buffer.from("QFIû", "latin1");
/** The largest cluster, which holds the header with its extensions. */
const mostHeaderBytes = 2 * 1024 ** 2;
async function beginningOf(file) {
	const { buffer, bytesRead } = await file.read(Buffer.alloc(mostHeaderBytes), 0, null, 0);
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
	if (version !== 2 && version !== 3) return `has version ${version} of its format, and not 2 or 3`;
	if (header.readBigUInt64BE(8) !== 0n) return "names a backing file, which guests would read";
	const hasDataFile = version === 3 && (header.readBigUInt64BE(72) & externalDataBit) !== 0n;
	const headerBytes = version === 3 ? header.readUInt32BE(100) : version2HeaderBytes;
	if (hasDataFile || extensionsOf(header, headerBytes).has(dataFileNameExtension)) return "keeps its data in another file, which guests would read";
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
/** States the format, which QEMU would otherwise probe, and that no other file belongs to it. */
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

// src/lab/qemu/vm/unprivileged-user.ts
/** A user and group id without an account; its bytes read `ppsg`. */
const unprivilegedUserId = 1886417767;
const run$2 = promisify(execFile);
/** Limits of setrlimit(2): a file that it writes, its time and its memory. A kernel's packages need a tenth. */
const mostFileBytes = 1024 ** 3;
const limits = [
	`--fsize=${mostFileBytes}`,
	"--cpu=600",
	`--as=${4 * 1024 ** 3}`
];
/** Runs a program permanently as that user, within limits; throws if that fails. */
async function runAsNobody(program, args) {
	const user = String(unprivilegedUserId);
	const { stdout } = await run$2("setpriv", [
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

// src/lab/qemu/vm/guest.ts
const execute$1 = promisify(execFile);
const mostConsoleBytes = 1024 ** 2;
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
	if (consoleInput !== void 0) await execute$1("mkfifo", [
		"-m",
		"600",
		consoleInput
	]);
	const options = qemuArguments(request, {
		sender,
		receiver,
		qmpPath,
		consoleDevice: hasInput ? `pipe,path=${escaped(consolePath)}` : `file,path=${escaped(consolePath)}`,
		counts,
		user: await asNobody(wire)
	});
	const tape = new ConsoleTape(mostConsoleBytes);
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
	let said = "";
	const ended = once(running, "close").then(() => lastLine(said) ?? "it said nothing", (error) => String(error)).finally(() => console.close());
	running.stdout?.resume();
	running.stderr?.on("data", (piece) => {
		said = (said + piece.toString()).slice(-4096);
	});
	const qemu = await qemuOf(running.pid, ended);
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
		cpuThread: await cpuThreadOf(qemu, ended),
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
		async pinTo(cpu) {
			await execute$1("taskset", [
				"--all-tasks",
				"--pid",
				"--cpu-list",
				String(cpu),
				String(qemu)
			]);
		},
		async interrupt() {
			const before = tape.length;
			using qmp = await openQmp(qmpPath);
			await qmp.execute("inject-nmi");
			await Promise.race([ended, setTimeout$1(secondsForLastWords * 1e3)]);
			if (tape.length === before) await setTimeout$1(200);
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
var GuestEndedError = class extends Error {
	name = "GuestEndedError";
};
const portOf = (number) => 2200 + number;
/** Creates a tap for each name, which yields the guest's frames or delivers frames to it, without ARP or IP of ours. */
async function createWires(wire, names) {
	for (const name of names) {
		await wire.run("ip", [
			"link",
			"delete",
			name
		]).catch(() => {});
		await wire.run("ip", [
			"tuntap",
			"add",
			"dev",
			name,
			"mode",
			"tap"
		]);
		const deaf = [`net.ipv4.conf.${name}.arp_ignore=8`, `net.ipv4.conf.${name}.rp_filter=1`];
		await wire.run("sysctl", [
			"-q",
			"-w",
			`net.ipv6.conf.${name}.disable_ipv6=1`,
			...deaf
		]);
		await wire.run("ip", [
			"link",
			"set",
			"dev",
			name,
			"up"
		]);
	}
}
function qemuArguments({ number, boots, machine, plugin }, place) {
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
		...place.user,
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
/** QEMU has the first option up to 9.2, and the second since its removal. */
async function asNobody(wire) {
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
	return untilThere(ended, async () => {
		const [child] = (await readFile(path, "utf8")).trim().split(" ").filter(Boolean);
		return child === void 0 ? void 0 : Number(child);
	});
}
/** QEMU names its threads; see its `-name`. */
async function cpuThreadOf(qemu, ended) {
	return untilThere(ended, async () => {
		for (const thread of await readdir(`/proc/${qemu}/task`)) {
			const folder = `/proc/${qemu}/task/${thread}`;
			if ((await readFile(`${folder}/comm`, "utf8").catch(() => "")).startsWith("CPU 0/")) return folder;
		}
	});
}
async function untilThere(ended, find) {
	let why;
	ended.then((last) => {
		why = last;
	});
	for (;;) {
		const found = await find().catch(() => void 0);
		if (found !== void 0) return found;
		if (why !== void 0) throw new GuestEndedError(`QEMU started no guest (${why}): see what is missing of this machine, or leave \`accelerator: kvm\` out.`);
		await setTimeout$1(20);
	}
}
function endProcess(pid) {
	try {
		process.kill(pid, "SIGKILL");
	} catch (error) {
		if (error.code !== "ESRCH") throw error;
	}
}

// src/system/decompress.ts
/** The stream is cut short or damaged. */
var DecompressError = class extends Error {
	name = "DecompressError";
};
/** The program is not installed. */
var NoDecompressorError = class extends Error {
	name = "NoDecompressorError";
};
const decompressors = [
	{
		magic: "1f8b",
		program: "gzip"
	},
	{
		magic: "1f9d",
		program: "gzip"
	},
	{
		magic: "425a68",
		program: "bzip2"
	},
	{
		magic: "fd377a585a00",
		program: "xz"
	},
	{
		magic: "5d0000",
		program: "xz"
	},
	{
		magic: "28b52ffd",
		program: "zstd"
	},
	{
		magic: "04224d18",
		program: "lz4"
	},
	{
		magic: "4c5a4950",
		program: "lzip"
	}
];
const decompressorOf = (head) => decompressors.find(({ magic }) => head.toString("hex", 0, magic.length / 2) === magic)?.program;
/** @param user runs the decompressor, as its input may be made to attack it. */
async function* decompressed({ path, start = 0, bytes }, user) {
	const end = bytes === void 0 ? void 0 : start + bytes - 1;
	const file = createReadStream(path, {
		start,
		...end !== void 0 && { end }
	});
	const program = decompressorOf(await headOf(path, start, 6));
	if (program === void 0) {
		yield* file;
		return;
	}
	const child = spawn(program, ["-d", "-c"], {
		stdio: [
			"pipe",
			"pipe",
			"pipe"
		],
		env: {
			PATH: process.env.PATH,
			LC_ALL: "C"
		},
		cwd: "/",
		...user !== void 0 && {
			uid: user,
			gid: user
		}
	});
	const ended = once(child, "close").then(([code]) => code === 0 ? void 0 : `it exited with ${code}`, (error) => {
		if (error.code !== "ENOENT") return reasonOf(error);
		return new NoDecompressorError(`${program} is not installed`);
	});
	let told = "";
	child.stderr.on("data", (text) => {
		if (told.length < 4096) told += String(text);
	});
	child.stdin.on("error", () => {});
	file.on("error", (error) => child.stdin.destroy(error)).pipe(child.stdin);
	try {
		for await (const chunk of child.stdout) yield chunk;
		const failure = await ended;
		if (failure instanceof Error) throw failure;
		if (failure !== void 0) throw new DecompressError(lastLine(told) ?? `${program}: ${failure}`);
	} finally {
		file.destroy();
		child.kill();
	}
}
async function headOf(path, start, bytes) {
	await using file = await open(path);
	const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, start);
	return buffer.subarray(0, bytesRead);
}

// src/lab/qemu/vm/linux-image.ts
/** The version lies in the first sectors of the image. */
const mostImageHeaderBytes = 32768;
/** Release, builder and version, `6.1.0-50-cloud-amd64 (…) #1 SMP …`; undefined for anything but a bzImage. */
function linuxVersionIn(header) {
	if (!(header.length > 528 && header.toString("latin1", 514, 518) === "HdrS")) return void 0;
	const at = header.readUInt16LE(526) + 512;
	const version = header.toString("latin1", at, header.indexOf(0, at));
	return /^[\w][\w.+~-]{0,100} [ -~]+$/.test(version) ? version : void 0;
}

// src/lab/qemu/vm/kernel-files.ts
/** A guest cannot boot the archive's kernel; the message continues the archive's name. */
var KernelFilesError = class extends Error {
	name = "KernelFilesError";
};
/** This machine has no kernel with its modules, so that guests boot only one that is named, built or given. */
var NoOwnKernelError = class extends KernelFilesError {};
/** Loaded at boot in this order: the wires and the firewall. The kernel loads further ones for rules automatically. */
const loadedAtBoot = [
	"virtio_pci",
	"virtio_net",
	"nf_tables"
];
const netfilter = /\/net\/(?:netfilter|ipv4\/netfilter|ipv6\/netfilter)\/nf[\w-]*\.ko/;
/**
* Unpacks a kernel of this machine, a .deb or a tar archive with `boot/vmlinuz-*` and `lib/modules/*`, into a new
* folder. `more` are modules to load in addition to every guest's.
*/
async function unpackKernel(archive, folder, more, most = usualLimits) {
	const { size } = await stat(archive).catch(unreadable);
	if (size > mostFileBytes) throw tooLarge("bytes", mostFileBytes);
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
		])).split("	")[0]) > most.bytes) throw tooLarge("bytes once it is unpacked", most.bytes);
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
	throw new KernelFilesError(`cannot be read (${reasonOf(error)})`);
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
/** The kernel with the highest release in this machine's /boot, in the same form. */
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
		return await runAsNobody(program, args);
	} catch (error) {
		const said = error instanceof Error && "stderr" in error ? String(error.stderr) : "";
		throw new KernelFilesError(`cannot be unpacked: ${lastLine(said) ?? reasonOf(error)}`);
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
	const header = await headOf(image, 0, mostImageHeaderBytes).catch(() => Buffer.alloc(0));
	const version = linuxVersionIn(header);
	if (version !== void 0) return version;
	throw new KernelFilesError("has a boot/vmlinuz that is no bzImage of Linux for x86");
}
/** Older packages use /lib, newer ones /usr/lib. */
async function modulesIn(tree, release) {
	for (const top of [tree, join(tree, "usr")]) if ((await namesIn(join(top, "lib/modules"))).includes(release)) return top;
	throw new KernelFilesError(`has no lib/modules/${release}, which its boot/vmlinuz calls its release`);
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
/** Files of modules and their dependencies, without built-in or missing ones. */
async function dependencies(tree, release, names) {
	const shown = await inFolder([
		"sh",
		"-c",
		`tree=$1 release=$2; shift 2; for name; do modprobe --dirname "\$tree" --set-version "\$release" --show-depends "\$name"; done 2>/dev/null; :`,
		"sh",
		tree,
		release,
		...names
	]);
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
const run$1 = promisify(execFile);
const init = readFileSync(new URL("../../guest-init.sh", import.meta.url));
/** Programs of this machine for guests; the kernel and the first program call three names of kmod(8). */
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
	const placed = await Promise.all([...programs, "busybox"].map(async (name) => [await pathOf(name), `/usr/bin/${name}`]));
	for (const [path, place] of [...placed, ...await presentOf(sshdParts)]) {
		await mkdir(dirname(join(root, place)), { recursive: true });
		await copyFile(path, join(root, place));
		for (const library of await librariesOf(path)) {
			const place = join(root, library);
			await mkdir(dirname(place), { recursive: true });
			await copyFile(await realpath(library), place);
		}
	}
	for (const name of kmodNames) await symlink("kmod", join(usrBin, name));
	for (const name of busyboxNames) await symlink("busybox", join(usrBin, name));
	await copyFile(keys.host, join(root, "etc/ssh/host"));
	const files = {
		init,
		"etc/passwd": "root:x:0:0::/root:/bin/bash\nsshd:x:101:65534::/run/sshd:/bin/false\n",
		"etc/group": "root:x:0:\n",
		"etc/ssh/authorized": keys.controller,
		"etc/ssh/sshd_config": sshdConfiguration,
		"etc/network.ip": `${network.join("\n")}\n`,
		"etc/sysctl.conf": `${settings.join("\n")}\n`
	};
	for (const [path, place] of await presentOf(namesOfRules)) await copyFile(path, join(root, place));
	for (const [name, content] of Object.entries(files)) await writeFile(join(root, name), content, { mode: name === "init" ? 493 : 384 });
	const [program = "", ...args] = packing(root, archive);
	await run$1(program, args);
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
/** Paths of libraries, by the loader, which is among them; none for a static program. */
async function librariesOf(path) {
	return [...(await run$1("ldd", [path]).catch(() => ({ stdout: "" }))).stdout.matchAll(/(?:^\s*|=> )(\/\S+)/gm)].flatMap(([, library]) => library ?? []);
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
const settings = [
	"net.ipv4.ip_forward=1",
	"net.ipv4.conf.all.send_redirects=0",
	"net.ipv6.conf.all.forwarding=1"
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
	if (pid === void 0) throw new Error("No network namespace could be made: see what `unshare --net --pid` says.");
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
				"{ echo -20 >/proc/self/autogroup; } 2>/dev/null; exec nice -n -20 \"$@\"",
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

// src/lab/qemu/vm/virtual-lab.ts
const run = promisify(execFile);
const pluginSource = readFileSync(new URL("../../instructions.c", import.meta.url));
const folder = "/run/ppsgate-virtual";
const mostGuests = 16;
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
	await Promise.all([machine.system === "linux" && packUserland(userland, keys), plugin !== void 0 && compilePlugin(plugin)]);
	const modules = machine.system === "linux" ? machine.modules : [];
	const wire = opened.use(await openWire());
	const kernels = /* @__PURE__ */ new Map();
	const guests = /* @__PURE__ */ new Map();
	const all = opened.move();
	const start = async (number, boots, cpu) => {
		await guests.get(number)?.stop();
		const place = join(folder, `guest-${number}`);
		const guest = await startGuest(wire, {
			number,
			folder: place,
			boots,
			machine,
			cpu,
			plugin
		});
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
/** `panic=-1` resets the machine at once, which ends QEMU. */
const kernelCommandLine = (boot) => `console=ttyS0 loglevel=6 panic=-1 oops=panic unknown_nmi_panic nokaslr mitigations=off net.ifnames=0 ppsgate.boot=${boot}`;
/** Resolves once the console has shown the words; rejects where QEMU ends first. */
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
const knownHosts = (hostKey) => Array.from({ length: mostGuests }, (_, index) => `[${wireAddress}]:${portOf(index + 1)} ${hostKey}\n`).join("");
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

export { ConsoleShell, ConsoleShellError, DecompressError, GuestEndedError, KernelFilesError, NoDecompressorError, NoOwnKernelError, decompressed, decompressorOf, guestCpu, guestMac, guestPorts, headOf, kernelCommandLine, linuxGuestPorts, linuxVersionIn, mostImageHeaderBytes, neighbours, portOf, receiverMac, senderMac, unprivilegedUserId, virtualLabUp, wireAddress };