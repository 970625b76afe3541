import { packageOf } from "../model/first-plain.js";
const { dirname, resolve } = globalThis.process.getBuiltinModule("node:path");
const { accessSync, constants, existsSync, statfsSync } = globalThis.process.getBuiltinModule("node:fs");
const { homedir, tmpdir } = globalThis.process.getBuiltinModule("node:os");

// src/system/system-error.ts
/** Returns a sentence on the failure, its place and the fix; for other errors, their message. */
function sentenceOf(error) {
	if (!(error instanceof Error)) return String(error);
	return isSystemError(error) && sentenceOfSystem(error) || error.message;
}
/** Errors of Node and libuv, see errno(3). */
const isSystemError = (error) => "code" in error && typeof error.code === "string" && "syscall" in error && typeof error.syscall === "string";
function sentenceOfSystem(error) {
	const { syscall, path, dest } = error;
	if (syscall.startsWith("spawn")) return sentenceOfSpawn(error);
	const named = dest ?? path;
	const place = named && resolve(named);
	const code = error.code === "ENOENT" && syscall === "mkdir" ? whyNotMade(place) : error.code;
	switch (code) {
		case "ENOSPC":
		case "EDQUOT": return `No space is left ${place === void 0 ? fullPlace() : `for ${place}`} (${code}): free some space there, or name another folder with --directory, and run this again.`;
		case "EROFS": return `${place ?? "A file"} cannot be written (EROFS), because its file system is read-only: run this in another folder, or name one with --directory.`;
		case "EACCES":
		case "EPERM":
			if (place === void 0) return void 0;
			return `${place} may not be ${verbs.get(syscall) ?? "used"} by this user (${code}): change the permissions there, or name another path.`;
		case "ENOTDIR":
			if (place === void 0) return void 0;
			return `${place} has a file where a folder is needed (ENOTDIR): name another path.`;
		case "EEXIST":
			if (syscall !== "mkdir" || place === void 0) return void 0;
			return `${place} is a file where a folder is needed (EEXIST): remove it, or name another path.`;
		case "EISDIR": return `${place ?? "A path"} is a folder where a file is needed (EISDIR): name a file.`;
		case "EMFILE":
		case "ENFILE": return `Too many files are open (${code}): raise \`ulimit -n\`, and run this again.`;
		default: return;
	}
}
/** With `recursive`, Node's mkdir reports a folder as missing if its parent is not writable. */
function whyNotMade(place = "/") {
	const parent = dirname(place);
	if (!existsSync(parent) && parent !== place) return whyNotMade(parent);
	try {
		accessSync(parent, constants.W_OK);
	} catch (error) {
		if (error instanceof Error && "code" in error) return String(error.code);
	}
	return "ENOENT";
}
const verbs = /* @__PURE__ */ new Map([
	["mkdir", "made"],
	["open", "opened"],
	["scandir", "listed"],
	["rename", "replaced"],
	["unlink", "removed"],
	["rmdir", "removed"]
]);
function sentenceOfSpawn({ code, path = "A program" }) {
	if (code === "ENOENT") {
		const found = packageOf(path);
		return `${path} cannot be started (ENOENT), because it is not installed here: ${found === void 0 ? "install it" : `install it, on Debian and Ubuntu from ${found}`}.`;
	}
	if (code === "EACCES") return `${path} may not be started by this user (EACCES): check its permissions.`;
}
/** The error of a failed write does not name the file. */
function fullPlace() {
	const named = process.argv.slice(2).flatMap((word) => [word, dirname(word)]);
	const full = [
		process.cwd(),
		...named,
		tmpdir(),
		homedir(),
		"/run",
		"/var/lib"
	].find(isFull);
	return full === void 0 ? "on a disk that this command writes to (`df -h` shows which)" : `on the disk of ${full}`;
}
function isFull(folder) {
	try {
		const { bavail, blocks } = statfsSync(folder);
		return blocks > 0 && bavail / blocks < .001;
	} catch {
		return false;
	}
}

export { sentenceOf };