import { UsageError, reasonOf } from "./model.js";
import { isOnThisMachine } from "./config.js";
import { DecompressError, NoDecompressorError, decompressed, decompressorOf, headOf, linuxVersionIn, mostImageHeaderBytes, unprivilegedUserId } from "./lab/qemu/vm.js";
import { SocketAddress, isIPv6 } from "node:net";
import { stat } from "node:fs/promises";
import { hostname } from "node:os";

// src/lab/fault-attribution.ts
function tallyOf(tallies, variant) {
	const tally = tallies.get(variant) ?? {
		hasBooted: false,
		bootFailures: 0,
		hasStoodTrial: false,
		deaths: 0,
		refusals: 0
	};
	tallies.set(variant, tally);
	return tally;
}
/** Blames a patch only if base has reached the milestone here, and the patch has failed twice more than base. */
function isToBlame(tallies, variant, fault, proof) {
	const [own, base] = [tallyOf(tallies, variant), tallyOf(tallies, "base")];
	if (variant === "base") return own[fault] >= 2;
	return base[proof] && own[fault] >= 2 + base[fault];
}
/** True while base has not reached the milestone in this process: no number of failures then blames the variant. */
const lacksControl = (tallies, variant, proof) => variant !== "base" && !tallyOf(tallies, "base")[proof];

// src/lab/machines.ts
/** Machines that a lease reserves: `host:port`, or `embedded@` and this machine's name. Builders are shared. */
function machinesOf(testbed, thisMachine = hostname()) {
	if (isOnThisMachine(testbed)) return [`embedded@${thisMachine.toLowerCase()}`];
	const names = rolesOf(testbed).map(({ config: { host, port } }) => `${hostText(host.toLowerCase())}:${port}`);
	return [...new Set(names)];
}
/** The DUT comes first. Empty for the embedded testbed. */
function rolesOf(testbed) {
	switch (testbed.kind) {
		case "embedded-linux":
		case "virtual": return [];
		case "linux": return [
			{
				config: testbed.dut,
				label: "DUT"
			},
			{
				config: testbed.sender,
				label: "sender"
			},
			{
				config: testbed.receiver,
				label: "receiver"
			}
		];
		case "freebsd": return [{
			config: testbed.dut,
			label: "DUT"
		}, ...generatorsOf(testbed)];
	}
}
const generatorsOf = ({ senders, receiver }) => [...senders.map((config, index) => ({
	config,
	label: senders.length === 1 ? "sender" : `sender ${index + 1}`
})), {
	config: receiver,
	label: "receiver"
}];
function hostText(host) {
	if (!host.includes(":")) return host;
	const [address = "", zone] = host.split("%");
	const plain = isIPv6(address) ? new SocketAddress({
		address,
		family: "ipv6"
	}).address : address;
	return zone === void 0 ? `[${plain}]` : `[${plain}%${zone}]`;
}

// src/system/tar-members.ts
var TarError = class extends Error {
	name = "TarError";
};
/** Not an archive from its first bytes on. */
var NoTarError = class extends TarError {
	name = "NoTarError";
};
const blockBytes = 512;
const mostNameBytes = 65536;
/** Reads the stream to its end. Throws a TarError if it is no archive, ends early, or exceeds its limits. */
async function* tarMembers(chunks, limits) {
	const bytes = new ByteReader(chunks, limits.mostBytes);
	try {
		yield* membersIn(bytes, limits);
		await bytes.drain();
	} finally {
		await bytes.close();
	}
}
async function* membersIn(bytes, { headBytes, mostMembers }) {
	let longPath;
	for (let count = 0; count <= mostMembers; count += 1) {
		const header = await bytes.take(blockBytes);
		const isFirst = count === 0;
		if (header.length < blockBytes) throw isFirst ? new NoTarError(none) : endsEarly();
		if (header.every((byte) => byte === 0)) return;
		const read = readHeader(header);
		if (read === void 0) throw isFirst ? new NoTarError(none) : new TarError("a header in its middle is wrong");
		const { type, path, size } = read;
		if (type === "S") await skipSparseMap(bytes, header);
		const head = await bytes.take(Math.min(size, nameTypes.has(type) ? mostNameBytes : headBytes));
		await bytes.skip(padded(size) - head.length);
		if (nameTypes.has(type)) longPath = (type === "L" ? untilZero(head) : paxPath(head)) ?? longPath;
		else {
			yield {
				path: (longPath ?? path).replace(/^(?:\.\/)+/, ""),
				isFile: [
					"0",
					"\0",
					"7",
					"S"
				].includes(type),
				head
			};
			longPath = void 0;
		}
	}
	throw new TarError(`it has more than ${mostMembers} members`);
}
/** Members that hold the path of the next one, in GNU and pax(1) format. */
const nameTypes = /* @__PURE__ */ new Set(["L", "x"]);
const none = "it is no tar archive";
const endsEarly = () => new TarError("it ends in mid-archive");
const padded = (size) => Math.ceil(size / blockBytes) * blockBytes;
function readHeader(header) {
	const sum = header.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 32 : byte), 0);
	const [size, told] = [octal(header, 124, 12), octal(header, 148, 8)];
	if (size === void 0 || told !== sum) return void 0;
	const prefix = header.toString("latin1", 257, 263) === "ustar\0" ? untilZero(header.subarray(345, 500)) : "";
	const name = untilZero(header.subarray(0, 100));
	return {
		type: header.toString("latin1", 156, 157),
		path: prefix === "" ? name : `${prefix}/${name}`,
		size
	};
}
function octal(header, at, length) {
	const text = untilZero(header.subarray(at, at + length)).trim();
	return /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : void 0;
}
function untilZero(bytes) {
	const end = bytes.indexOf(0);
	return bytes.toString("utf8", 0, end === -1 ? bytes.length : end);
}
/** Records of `LENGTH KEY=VALUE\n`, see pax(1). */
const paxPath = (text) => /(?:^|\n)\d+ path=([^\n]*)\n/.exec(text.toString("utf8"))?.[1];
/** A GNU sparse file lists its holes in further blocks; each block tells if another one follows. */
async function skipSparseMap(bytes, header) {
	let isFollowed = header[482] === 1;
	while (isFollowed) isFollowed = (await bytes.takeAll(blockBytes))[504] === 1;
}
var ByteReader = class {
	#chunks;
	#left = Buffer.alloc(0);
	#allowed;
	constructor(chunks, mostBytes) {
		this.#chunks = chunks[Symbol.asyncIterator]();
		this.#allowed = mostBytes;
	}
	/** Returns fewer bytes only at the end of the stream. */
	async take(length) {
		const parts = [];
		for (let lacking = length; lacking > 0;) {
			if (this.#left.length === 0 && !await this.#read()) break;
			const part = this.#left.subarray(0, lacking);
			this.#left = this.#left.subarray(part.length);
			lacking -= part.length;
			parts.push(part);
		}
		return Buffer.concat(parts);
	}
	async takeAll(length) {
		const taken = await this.take(length);
		if (taken.length < length) throw endsEarly();
		return taken;
	}
	async skip(length) {
		for (let lacking = length; lacking > 0;) {
			if (this.#left.length === 0 && !await this.#read()) throw endsEarly();
			const skipped = Math.min(lacking, this.#left.length);
			this.#left = this.#left.subarray(skipped);
			lacking -= skipped;
		}
	}
	async drain() {
		while (await this.#read()) this.#left = Buffer.alloc(0);
	}
	/** Ends the process that writes the bytes. */
	async close() {
		await this.#chunks.return?.();
	}
	async #read() {
		const next = await this.#chunks.next();
		if (next.done) return false;
		this.#left = next.value;
		this.#allowed -= next.value.length;
		if (this.#allowed < 0) throw new TarError("it unpacks to too many bytes");
		return true;
	}
};

// src/lab/given-kernel.ts
/** Undefined for a testbed that installs files, and boots no kernel of a patch. */
function kernelFormOf(testbed) {
	if (testbed?.kind === "virtual") return testbed.system;
	if (testbed?.kind !== "freebsd") return void 0;
	return testbed.dut.boot.method === "nanobsd" ? "nanobsd" : "freebsd";
}
const needed = {
	linux: "a .deb or a tar archive with boot/vmlinuz-* and its lib/modules/* (docs/how-to/virtual.md)",
	freebsd: "a tar archive with `kernel` and its modules at its top (docs/how-to/freebsd-kernels.md)",
	nanobsd: "an image of nanobsd(8) that xz has compressed (docs/how-to/freebsd-kernels.md)"
};
/** Throws a UsageError that names the option, the file, its form, and the required form. */
async function expectKernel(option, path, form) {
	const why = await whyNot(path, form).catch((error) => {
		if (error instanceof NoDecompressorError) return void 0;
		if (error instanceof NoTarError) return "is neither a package nor an archive";
		if (error instanceof TarError || error instanceof DecompressError) return `is cut short or damaged (${error.message})`;
		return `cannot be read (${reasonOf(error)})`;
	});
	if (why === void 0) return;
	throw new UsageError(`${option}: ${path} ${why}; expected ${needed[form]}.`);
}
async function whyNot(path, form) {
	const stats = await stat(path);
	if (stats.isDirectory()) return "is a folder";
	if (!stats.isFile()) return "is no regular file";
	if (stats.size === 0) return "is an empty file";
	const head = await headOf(path, 0, mostImageHeaderBytes);
	const other = otherThanArchive(head);
	if (other !== void 0) return `is ${other}`;
	if (form === "nanobsd") return whyNoImage(path, stats.size, head);
	const part = isDeb(head) ? await dataOfDeb(path, stats.size) : { path };
	if (part === void 0) return "is an ar archive, and no package of Debian";
	if (isDeb(head) && form === "freebsd") return "is a package of Debian";
	return (form === "linux" ? whyNoLinux : whyNoFreebsd)(part);
}
/** Names a file that is not an archive, by its first bytes. */
function otherThanArchive(head) {
	if (isBzImage(head)) return "a bzImage of Linux without its modules";
	if (isElf(head)) return isFreebsdKernel(head) ? "a kernel of FreeBSD without its modules" : "an ELF file without its modules";
	const found = foreign.find(({ magic }) => head.toString("hex", 0, magic.length / 2) === magic);
	if (found !== void 0) return found.name;
	if (head.toString("latin1", 257, 262) === "ustar" || isDeb(head) || decompressorOf(head) !== void 0) return void 0;
	if (head.includes(0)) return void 0;
	return "a text file";
}
const foreign = [
	{
		magic: "504b0304",
		name: "a zip archive"
	},
	{
		magic: "edabeedb",
		name: "an RPM package"
	},
	{
		magic: "514649fb",
		name: "a disk image (qcow2)"
	}
];
const isElf = (head) => head.toString("latin1", 0, 4) === "ELF";
const isBzImage = (head) => head.toString("latin1", 514, 518) === "HdrS";
/** True for an OS ABI of 9, or for the interpreter in FreeBSD kernels of every platform; see sys/conf/kern.pre.mk. */
const isFreebsdKernel = (head) => isElf(head) && (head[7] === 9 || head.includes("/red/herring"));
const isDeb = (head) => head.toString("latin1", 0, 7) === "!<arch>";
/** Member data.tar of a package, see deb(5); undefined if the archive has none. */
async function dataOfDeb(path, size) {
	for (let at = 8, count = 0; at < size && count < 100; count += 1) {
		const header = (await headOf(path, at, 60)).toString("latin1");
		const bytes = Number(header.slice(48, 58).trim());
		if (header.length < 60 || !Number.isSafeInteger(bytes) || bytes < 0) break;
		if (header.startsWith("data.tar")) {
			if (at + 60 + bytes > size) throw new TarError("it ends in mid-archive");
			return {
				path,
				start: at + 60,
				bytes
			};
		}
		at += 60 + bytes + bytes % 2;
	}
}
/** An xz file ends with the magic of a stream's footer, which may be padded; see xz-file-format.txt. */
async function whyNoImage(path, size, head) {
	if (decompressorOf(head) !== "xz") return "is not compressed by xz";
	if (head[0] === 93) return void 0;
	const tail = await headOf(path, Math.max(0, size - 1024), 1024);
	return /YZ\0*$/.test(tail.toString("latin1")) ? void 0 : "is cut short";
}
/** A distribution's kernel has 5,000 files, and a quarter of the bytes. */
const limits = {
	headBytes: mostImageHeaderBytes,
	mostMembers: 2e5,
	mostBytes: 8 * 1024 ** 3
};
const membersOf = (part) => tarMembers(decompressed(part, process.getuid?.() === 0 ? unprivilegedUserId : void 0), limits);
async function whyNoLinux(part) {
	let version;
	let image;
	const releases = /* @__PURE__ */ new Set();
	for await (const { path, isFile, head } of membersOf(part)) {
		if (isFile && /^boot\/vmlinuz[^/]*$/.test(path)) {
			image = path;
			version ??= linuxVersionIn(head);
		}
		const [, release] = /^(?:usr\/)?lib\/modules\/([^/]+)(?:\/|$)/.exec(path) ?? [];
		if (release !== void 0) releases.add(release);
	}
	if (image === void 0) return "is an archive without boot/vmlinuz-*";
	if (version === void 0) return `has a ${image} that is no bzImage of Linux for x86`;
	const release = version.split(" ")[0] ?? "";
	return releases.has(release) ? void 0 : `has no lib/modules/${release} for its ${image}`;
}
async function whyNoFreebsd(part) {
	let kernel;
	let elsewhere;
	for await (const { path, isFile, head } of membersOf(part)) {
		if (isFile && path === "kernel") kernel = head;
		if (isFile && path.endsWith("/kernel")) elsewhere ??= path;
	}
	if (kernel !== void 0) return isFreebsdKernel(kernel) ? void 0 : "has a `kernel` that is no ELF kernel of FreeBSD";
	return elsewhere === void 0 ? "is an archive without `kernel`" : `has its kernel at ${JSON.stringify(elsewhere.slice(0, 200))}`;
}

// src/lab/testbed.ts
/** A testbed that only this process can use. */
const unshared = (name, open) => ({
	name,
	open,
	signal: new AbortController().signal,
	giveBack: async () => void 0
});

export { expectKernel, generatorsOf, isToBlame, kernelFormOf, lacksControl, machinesOf, rolesOf, tallyOf, unshared };