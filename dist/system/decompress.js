import { lastLine, reasonOf } from "../model/first-plain.js";
const { once } = globalThis.process.getBuiltinModule("node:events");
const { createReadStream } = globalThis.process.getBuiltinModule("node:fs");
const { open } = globalThis.process.getBuiltinModule("node:fs/promises");
const { spawn } = globalThis.process.getBuiltinModule("node:child_process");

// src/system/decompress.ts
/** Reports a stream that is truncated or damaged. */
var DecompressError = class extends Error {
	name = "DecompressError";
};
/** Reports a program that is not installed. */
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
	let errors = "";
	child.stderr.on("data", (text) => {
		if (errors.length < 4096) errors += String(text);
	});
	child.stdin.on("error", () => {});
	file.on("error", (error) => child.stdin.destroy(error)).pipe(child.stdin);
	try {
		for await (const chunk of child.stdout) yield chunk;
		const failure = await ended;
		if (failure instanceof Error) throw failure;
		if (failure !== void 0) throw new DecompressError(lastLine(errors) ?? `${program}: ${failure}`);
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

export { DecompressError, NoDecompressorError, decompressed, decompressorOf, headOf };