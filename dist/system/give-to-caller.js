const { basename, dirname } = globalThis.process.getBuiltinModule("node:path");
const { constants, statSync } = globalThis.process.getBuiltinModule("node:fs");
const { mkdir, open, readdir, stat } = globalThis.process.getBuiltinModule("node:fs/promises");

// src/system/make-folders.ts
/** Returns the first folder that it made. Node's own never ends below a folder that takes none, like /proc. */
async function makeFolders(path) {
	const parent = dirname(path);
	const above = await isFolder(parent) ? void 0 : await makeFolders(parent);
	try {
		await mkdir(path);
		return above ?? path;
	} catch (error) {
		if (await isFolder(path)) return above;
		throw error;
	}
}
const isFolder = (path) => stat(path).then((found) => found.isDirectory(), () => false);

// src/system/give-to-caller.ts
/** The user who called sudo. Undefined for root itself, or if this process is not root. */
function callerThroughSudo({ SUDO_UID, SUDO_GID }, ownUid) {
	const [uid, gid] = [idOf(SUDO_UID), idOf(SUDO_GID)];
	if (ownUid !== 0 || uid === void 0 || gid === void 0 || uid === 0) return void 0;
	return {
		uid,
		gid
	};
}
/** Excludes the largest 32-bit number, for which chown(2) keeps the owner. */
const idOf = (text = "") => /^\d{1,10}$/.test(text) && Number(text) < 2 ** 32 - 1 ? Number(text) : void 0;
/**
* Creates the folder and its missing parents; the caller may have just created the folder itself. A parent's owner can
* replace it meanwhile. So owners are changed through open descriptors, and no path is resolved twice.
*/
async function placeAt(directory, own, justMade) {
	const made = justMade ?? await makeFolders(directory);
	const flags = made === void 0 ? O_DIRECTORY : O_DIRECTORY | O_NOFOLLOW;
	const handle = await open(made ?? directory, flags);
	const before = await readdir(pathOf(handle));
	const isNew = made !== void 0 && before.length <= (made === directory ? 0 : 1);
	return {
		async giveTo(caller) {
			if (isNew || made === void 0 && isOurs(before, own)) return giveOpen(handle, caller);
			const since = own.names.filter((name) => made === void 0 && !before.includes(name));
			for (const name of since) await giveNamed(handle, name, caller);
		},
		[Symbol.asyncDispose]: () => handle.close()
	};
}
/** The caller of sudo where the folder is theirs: root's files in it would lock them out. */
function callerOwning(folder) {
	const caller = callerThroughSudo(process.env, process.getuid?.());
	if (caller === void 0) return void 0;
	return statSync(folder, { throwIfNoEntry: false })?.uid === caller.uid ? caller : void 0;
}
/** Gives the caller of sudo a file or folder that a command has just created in the caller's folder. */
async function giveNew(path) {
	const caller = callerOwning(dirname(path));
	if (caller === void 0) return;
	await using folder = await open(dirname(path), O_DIRECTORY);
	if ((await folder.stat()).uid === caller.uid) await giveNamed(folder, basename(path), caller);
}
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
const isOurs = (found, { names, marks }) => found.some((name) => marks.includes(name)) && found.every((name) => names.includes(name));
const pathOf = ({ fd }) => `/proc/self/fd/${fd}`;
/**
* Changes the owner of the first entry of a directory. While root owns the directory, no other user can exchange
* entries.
*/
async function giveOpen(handle, caller) {
	const entry = await handle.stat();
	if (entry.uid !== 0 || !(entry.isDirectory() || entry.isFile() && entry.nlink === 1)) return;
	const names = entry.isDirectory() ? await readdir(pathOf(handle)) : [];
	for (const name of names) await giveNamed(handle, name, caller);
	await handle.chown(caller.uid, caller.gid);
}
async function giveNamed(directory, name, caller) {
	const path = `${pathOf(directory)}/${name}`;
	const handle = await open(path, O_NOFOLLOW | O_NONBLOCK).catch(() => void 0);
	if (handle === void 0) return;
	await using entry = handle;
	await giveOpen(entry, caller);
}

export { callerOwning, callerThroughSudo, giveNew, makeFolders, placeAt };