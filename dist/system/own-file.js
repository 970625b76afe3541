const { dirname } = globalThis.process.getBuiltinModule("node:path");
const { statSync } = globalThis.process.getBuiltinModule("node:fs");

// src/system/own-file.ts
/** The message is a clause on the file or folder, with the fix. */
var ExposedPlaceError = class extends Error {
	name = "ExposedPlaceError";
	conclusion = "usage";
};
/**
* Checks the file, its folder, and SQLite's files next to it, as far as they exist. Each must belong to this user or
* root, or be writable for a group of this user. None may be writable for all users.
*/
function checkOwn(path) {
	checkPlace(dirname(path));
	for (const end of [
		"",
		"-wal",
		"-shm",
		"-journal"
	]) checkPlace(path + end);
}
/** Checks the mode only, for files of any owner. Throws an ExposedPlaceError. */
function checkNotOpen(path) {
	const stats = statSync(path, { throwIfNoEntry: false });
	if (stats === void 0 || (stats.mode & 2) === 0) return;
	if (stats.isDirectory() && (stats.mode & 512) !== 0) return;
	throw new ExposedPlaceError(`${path} has the mode ${(stats.mode & 511).toString(8)}, so any user may write to it: check its content, and run 'chmod o-w ${path}', or remove it`);
}
function checkPlace(path) {
	checkNotOpen(path);
	const stats = statSync(path, { throwIfNoEntry: false });
	if (stats === void 0 || isOurs(stats)) return;
	throw new ExposedPlaceError(`${path} belongs to the user ${stats.uid}: remove it, or change its owner to this user, or to a group of both with write access`);
}
/** True for files of this user, of root, and of the user who called sudo, whose files root shares. */
function isOwned({ uid }) {
	const own = process.geteuid?.();
	if (own === void 0 || uid === 0 || uid === own) return true;
	return own === 0 && process.env.SUDO_UID === String(uid);
}
function isOurs({ uid, gid, mode }) {
	if (isOwned({ uid })) return true;
	return (mode & 16) !== 0 && (process.getgroups?.() ?? []).includes(gid);
}

export { ExposedPlaceError, checkNotOpen, checkOwn, isOwned };