import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

// src/sqlite.ts
/** The file is another program's, or has another `format` of ours. */
var ForeignFileError = class extends Error {
	format;
	constructor(format) {
		super("another SQLite file than was asked for");
		this.format = format;
	}
};
/**
* Opens a file with this header; `fill` lays out one that is empty, and without it an empty one is another program's.
* What is committed survives a power cut. `blockingMilliseconds` is how long a call may hold up this process while
* another has the file locked. Throws a ForeignFileError, or what SQLite throws.
*/
function openDatabase(path, header, blockingMilliseconds, fill) {
	const database = new DatabaseSync(path, { timeout: blockingMilliseconds });
	try {
		if (isEmpty(database, header)) {
			if (fill === void 0) throw new ForeignFileError();
			fill(database);
		}
		database.exec("PRAGMA synchronous = FULL");
		return database;
	} catch (error) {
		database.close();
		throw error;
	}
}
/** False for a file with this header; throws a ForeignFileError for one with another. */
function isEmpty(database, { applicationId, format }) {
	const { id, version, tables } = database.prepare(`SELECT application_id AS id, user_version AS version, (SELECT count(*) FROM sqlite_schema) AS tables
       FROM pragma_application_id, pragma_user_version`).get() ?? {};
	if (id === applicationId && version === format) return false;
	if (id === applicationId) throw new ForeignFileError(Number(version));
	if (id === 0 && version === 0 && tables === 0) return true;
	throw new ForeignFileError();
}
/** Tells whether the file that is at the path now is still there. */
function watchPlace(path) {
	const opened = statSync(path);
	return () => {
		const { ino, dev } = statSync(path, { throwIfNoEntry: false }) ?? {};
		return ino === opened.ino && dev === opened.dev;
	};
}
const isSqliteError = (error) => error instanceof Error && "errcode" in error && typeof error.errcode === "number";
/** By the codes of sqlite.org/rescode.html. */
function failureOf({ errcode }) {
	return errcode === sharedMemorySize ? "full" : failures.get(errcode & 255) ?? "other";
}
const failures = /* @__PURE__ */ new Map([
	[5, "busy"],
	[8, "read-only"],
	[10, "input-output"],
	[11, "corrupt"],
	[13, "full"],
	[14, "cannot-open"],
	[26, "not-a-database"]
]);
/** The memory that processes share is a file, which must grow. */
const sharedMemorySize = 4874;
/** Locks of this process: one that nobody refers to any more would be closed, and its lock go with it. */
const locks = /* @__PURE__ */ new Set();
/**
* Undefined while somebody else has the lock, which the kernel takes back from a process that ends, however it ends.
* The file stays, for a lock on a file that was removed keeps nobody out.
*/
function lockIfFree(path) {
	const lock = new DatabaseSync(path, { timeout: 0 });
	try {
		lock.exec("BEGIN EXCLUSIVE");
	} catch (error) {
		lock.close();
		if (isSqliteError(error) && failureOf(error) === "busy") return void 0;
		throw error;
	}
	locks.add(lock);
	return { [Symbol.dispose]() {
		if (locks.delete(lock)) lock.close();
	} };
}

export { ForeignFileError, failureOf, isEmpty, isSqliteError, lockIfFree, openDatabase, watchPlace };