import { UsageError, fileReasonOf, formatPercent } from "../model/first-plain.js";
import { ProfileError, foldedLines, foreignBounds, parseProfile, samplesOf, withoutIdle } from "../analysis/profile/plain.js";
import { DecompressError, NoDecompressorError, decompressed, decompressorOf, headOf } from "../system/decompress.js";
import { NoTarError, TarError, tarMembers } from "../system/tar-members.js";
import { linuxVersionIn, maxImageHeaderBytes, unprivilegedUserId } from "./qemu/vm/plain.js";
const { gzipSync } = globalThis.process.getBuiltinModule("node:zlib");
const { stat } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/lab/given-kernel.ts
/** Returns undefined for a testbed that installs files, and boots no kernel of a patch. */
function kernelFormOf(testbed) {
	if (testbed?.kind === "virtual") return testbed.system;
	if (testbed?.kind !== "freebsd") return void 0;
	return testbed.dut.boot.method === "nanobsd" ? "nanobsd" : "freebsd";
}
const needed = {
	linux: "a .deb or a tar archive with boot/vmlinuz-* and its lib/modules/* (docs/how-to/virtual.md)",
	freebsd: "a tar archive with `kernel` and its modules at its top (docs/how-to/kernels.md)",
	nanobsd: "an xz-compressed image of nanobsd(8) (docs/how-to/kernels.md)"
};
/** Throws a UsageError that names the option, the file, its form, and the required form. */
async function expectKernel(option, path, form) {
	const why = await whyNot(path, form).catch((error) => {
		if (error instanceof NoDecompressorError) return void 0;
		if (error instanceof NoTarError) return "is neither a package nor an archive";
		if (error instanceof TarError || error instanceof DecompressError) return `is cut short or damaged (${error.message})`;
		return `cannot be read (${fileReasonOf(error)})`;
	});
	if (why === void 0) return;
	throw new UsageError(`${option}: ${path} ${why}; expected ${needed[form]}.`);
}
async function whyNot(path, form) {
	const stats = await stat(path);
	if (stats.isDirectory()) return "is a folder";
	if (!stats.isFile()) return "is not a regular file";
	if (stats.size === 0) return "is an empty file";
	const head = await headOf(path, 0, maxImageHeaderBytes);
	const other = otherThanArchive(head);
	if (other !== void 0) return `is ${other}`;
	if (form === "nanobsd") return whyNoImage(path, stats.size, head);
	const part = isDeb(head) ? await dataOfDeb(path, stats.size) : { path };
	if (part === void 0) return "is an ar archive, but not a Debian package";
	if (isDeb(head) && form === "freebsd") return "is a Debian package";
	return (form === "linux" ? whyNoLinux : whyNoFreebsd)(part);
}
/** Describes a file that is not an archive, by its first bytes. */
function otherThanArchive(head) {
	if (isBzImage(head)) return "a Linux bzImage without its modules";
	if (isElf(head)) return isFreebsdKernel(head) ? "a FreeBSD kernel without its modules" : "an ELF file without its modules";
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
			if (at + 60 + bytes > size) throw new TarError("it is truncated");
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
	if (decompressorOf(head) !== "xz") return "is not xz-compressed";
	if (head[0] === 93) return void 0;
	const tail = await headOf(path, Math.max(0, size - 1024), 1024);
	return /YZ\0*$/.test(tail.toString("latin1")) ? void 0 : "is cut short";
}
/** A distribution's kernel has 5,000 files, and a quarter of the bytes. */
const limits = {
	headBytes: maxImageHeaderBytes,
	maxMembers: 2e5,
	maxBytes: 8 * 1024 ** 3
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
	if (version === void 0) return `has a ${image} that is not a Linux bzImage for x86`;
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
	if (kernel !== void 0) return isFreebsdKernel(kernel) ? void 0 : "has a `kernel` that is not a FreeBSD ELF kernel";
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

// src/lab/judge-profile.ts
const rawName = "profile.txt.gz";
const stacksName = "stacks.txt";
/** With 500 samples, a function with 5 % of them is measured to a fifth of its share. */
const minSamples = 500;
/** A DUT with many CPUs may forward with only a few. A DUT that is idle for longer was not under load. */
const maxIdleRatio = .9;
/** Also stores the text as a log. `defaults` complete the text. */
async function judgeProfile(text, defaults, keepLog) {
	await keepLog(rawName, gzipSync(text));
	const all = profileOrError(text);
	if (typeof all === "string") return missed(all);
	const { event = defaults.event, kernel = defaults.kernel } = all;
	await keepLog(stacksName, stacksText(all, kernel));
	const { profile, idleSamples } = withoutIdle(all);
	const busySamples = samplesOf(profile.stacks);
	const idleRatio = idleSamples / (busySamples + idleSamples);
	if (idleRatio > maxIdleRatio) return missed(`the DUT idled in ${formatPercent(idleRatio)} of the samples: it was not under load`);
	if (busySamples < minSamples) return missed(`only ${busySamples} samples are of a busy CPU, and at least ${minSamples} are needed`);
	return {
		kind: "profiled",
		event,
		kernel,
		busySamples,
		idleSamples,
		log: stacksName
	};
}
const stacksText = (profile, kernel) => [
	`# kernel: ${kernel}`,
	...foldedLines(profile, { modules: true }),
	""
].join("\n");
function profileOrError(text) {
	try {
		return parseProfile(text, "the profile", foreignBounds);
	} catch (error) {
		if (!(error instanceof ProfileError)) throw error;
		return error.message;
	}
}
const missed = (reason) => ({
	kind: "missed",
	reason
});
const impossible = (reason) => ({
	kind: "impossible",
	reason
});

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
function isAtFault(tallies, variant, fault, proof) {
	const [own, base] = [tallyOf(tallies, variant), tallyOf(tallies, "base")];
	if (variant === "base") return own[fault] >= 2;
	return base[proof] && own[fault] >= 2 + base[fault];
}
/** True while base has not reached the milestone in this process: then no number of failures blames the variant. */
const lacksControl = (tallies, variant, proof) => variant !== "base" && !tallyOf(tallies, "base")[proof];

export { expectKernel, impossible, isAtFault, judgeProfile, kernelFormOf, lacksControl, missed, tallyOf, unshared };