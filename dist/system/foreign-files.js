const { join } = globalThis.process.getBuiltinModule("node:path");
const { constants } = globalThis.process.getBuiltinModule("node:fs");
const { lstat, open } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/system/foreign-files.ts
/** Reports a path that may not be followed, or a file that may not be read; `why` is a clause. */
var ForeignFileError = class extends Error {
	name = "ForeignFileError";
	conclusion = "usage";
	why;
	constructor(place, why) {
		super(`${place} is not opened: ${why}.`);
		this.why = why;
	}
};
/**
* Returns a path below the folder; neither it nor its parents need exist. Throws a ForeignFileError for a path that
* leads out of the folder, by its parts or through a link. The folder itself and the returned path may be links;
* `readForeignFile` follows none.
*/
async function placeBelow(folder, path) {
	const parts = path.split("/");
	if (path.length > maxPathLetters || !parts.every(isPlain)) {
		const shown = JSON.stringify(path.slice(0, 200));
		throw new ForeignFileError(shown, `such a path may lead outside ${folder}`);
	}
	let parent = folder;
	for (const part of parts.slice(0, -1)) {
		parent = join(parent, part);
		const stats = await lstat(parent).catch(ifMissing(parent));
		if (stats === void 0) break;
		if (!stats.isDirectory()) throw new ForeignFileError(join(folder, path), `${parent} is not a folder of its own`);
	}
	return join(folder, path);
}
/** Returns undefined for a missing file. Throws a ForeignFileError like `placeBelow`, and for more than `maxBytes`. */
async function readForeignFile(folder, path, maxBytes) {
	const place = await placeBelow(folder, path);
	const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
	const file = await open(place, flags).catch(ifMissing(place));
	if (file === void 0) return void 0;
	try {
		const stats = await file.stat();
		if (!stats.isFile()) throw new ForeignFileError(place, noFile);
		if (stats.size > maxBytes) throw new ForeignFileError(place, `it has ${stats.size} bytes, more than the limit of ${maxBytes}`);
		return await contentOf(file, stats.size);
	} finally {
		await file.close();
	}
}
async function readForeignText(folder, path, maxBytes) {
	return (await readForeignFile(folder, path, maxBytes))?.toString();
}
/** Ignores what is appended to the file meanwhile. */
async function contentOf(file, size) {
	const bytes = Buffer.alloc(size);
	let filled = 0;
	while (filled < size) {
		const { bytesRead } = await file.read(bytes, filled, size - filled, filled);
		if (bytesRead === 0) break;
		filled += bytesRead;
	}
	return bytes.subarray(0, filled);
}
const maxPathLetters = 4096;
const noFile = "it is not a regular file";
const isPlain = (part) => part !== "" && part !== "." && part !== ".." && !part.includes("\0");
const ifMissing = (place) => (error) => {
	if (error.code === "ENOENT") return void 0;
	const isLink = error.code === "ELOOP" || error.code === "EMLINK";
	throw new ForeignFileError(place, isLink ? noFile : `it cannot be opened (${error.code})`);
};

export { ForeignFileError, placeBelow, readForeignFile, readForeignText };