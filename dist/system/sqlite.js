import { checkNotOpen } from "./own-file.js";
const { statSync } = globalThis.process.getBuiltinModule("node:fs");
const { DatabaseSync } = globalThis.process.getBuiltinModule("node:sqlite");

// src/system/sqlite.ts
/** Reports a file that belongs to another program, or has another `format`. */
var ForeignFileError = class extends Error {
	format;
	constructor(format) {
		super(format === void 0 ? "it is of another program" : `it has format ${format}, of another version of ppsgate`);
		this.format = format;
	}
};
/**
* Opens a file with this header. `fill` creates the tables of an empty file; without it, an empty file is foreign.
* Commits survive a power cut. `blockingMilliseconds` limits how long a call blocks this process while another one
* locks the file. Throws a ForeignFileError, or SQLite's error.
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
/** False for a file with this header. Throws a ForeignFileError for any other one. */
function isEmpty(database, { applicationId, format }) {
	const { id, version, tables } = database.prepare(`SELECT application_id AS id, user_version AS version, (SELECT count(*) FROM sqlite_schema) AS tables
       FROM pragma_application_id, pragma_user_version`).get() ?? {};
	if (id === applicationId && version === format) return false;
	if (id === applicationId) throw new ForeignFileError(Number(version));
	if (id === 0 && version === 0 && tables === 0) return true;
	throw new ForeignFileError();
}
function watchPlace(path) {
	const opened = statSync(path);
	return () => {
		const { ino, dev } = statSync(path, { throwIfNoEntry: false }) ?? {};
		return ino === opened.ino && dev === opened.dev;
	};
}
const isSqliteError = (error) => error instanceof Error && "errcode" in error && typeof error.errcode === "number";
/** Codes: sqlite.org/rescode.html. */
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
/** Processes share memory through a file, which must be able to grow. */
const sharedMemorySize = 4874;
/** Keeps locks referenced: garbage collection would close the database, and so release its lock. */
const locks = /* @__PURE__ */ new Set();
/**
* Returns undefined while another process has the lock. The file stays, as a lock on a removed file excludes no
* process. Throws an ExposedPlaceError for a file that any user may write, and so lock.
*/
function lockIfFree(path) {
	checkNotOpen(path);
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