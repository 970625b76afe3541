import { reasonOf } from "../model/first-plain.js";
import { callerOwning } from "./give-to-caller.js";
import { ExposedPlaceError, checkNotOpen, checkOwn } from "./own-file.js";
const { dirname, resolve } = globalThis.process.getBuiltinModule("node:path");
const { closeSync, fchownSync, linkSync, mkdirSync, openSync, realpathSync, rmSync, statSync } = globalThis.process.getBuiltinModule("node:fs");
const { randomUUID } = globalThis.process.getBuiltinModule("node:crypto");
const { DatabaseSync } = globalThis.process.getBuiltinModule("node:sqlite");

// src/system/sqlite.ts
/**
* A file that several processes of this host share; its commits survive a power cut. Other users must not be able to
* write it or its folder. Every call throws the kind's Failure for errors of SQLite and of the file system.
*/
var SqliteFile = class {
	/** With links resolved. */
	path;
	database;
	#kind;
	#opened;
	/**
	* Creates a missing file; it must be on a local disk. `blockingMilliseconds` limits how long a call blocks this
	* process while another one locks the file.
	*/
	constructor(path, kind, blockingMilliseconds) {
		this.path = resolve(path);
		this.#kind = kind;
		this.path = this.use(() => realPathOf(this.path, kind));
		this.#opened = this.use(() => statSync(this.path));
		this.database = this.use(() => new DatabaseSync(this.path, { timeout: blockingMilliseconds }));
		try {
			this.use(() => this.#begin());
		} catch (error) {
			this.database.close();
			throw error;
		}
	}
	use(work) {
		try {
			return work();
		} catch (error) {
			if (!(error instanceof ExposedPlaceError || error instanceof Error && "code" in error)) throw error;
			throw this.#failure(`cannot be used: ${reasonOf(error)}.`, error);
		}
	}
	/** Throws a Failure, too, if the file was moved meanwhile. */
	transaction(begin, work) {
		return this.use(() => {
			this.database.exec(begin);
			try {
				const { ino, dev } = statSync(this.path, { throwIfNoEntry: false }) ?? {};
				if (ino !== this.#opened.ino || dev !== this.#opened.dev) throw this.#failure("was moved or replaced while in use: restart this process.");
				const outcome = work();
				this.database.exec("COMMIT");
				return outcome;
			} finally {
				if (this.database.isTransaction) this.database.exec("ROLLBACK");
			}
		});
	}
	[Symbol.dispose]() {
		if (this.database.isOpen) this.database.close();
	}
	#begin() {
		const { id, version } = this.database.prepare("SELECT application_id AS id, user_version AS version FROM pragma_application_id, pragma_user_version").get() ?? {};
		if (id !== this.#kind.applicationId || version !== this.#kind.format) throw this.#failure("is a file of another program, or of another version of ppsgate.");
		this.database.exec("PRAGMA synchronous = FULL");
	}
	#failure(what, cause) {
		return new this.#kind.Failure(`${this.#kind.name} ${this.path} ${what}`, { cause });
	}
};
/** Creates a missing file under another name, as several processes may do so at once. */
function realPathOf(path, { applicationId, format, schema }) {
	mkdirSync(dirname(path), {
		recursive: true,
		mode: 448
	});
	checkOwn(path);
	if (statSync(path, { throwIfNoEntry: false }) === void 0) {
		const draft = `${path}.${randomUUID()}`;
		try {
			createIfMissing(draft);
			const database = new DatabaseSync(draft);
			try {
				database.exec(`PRAGMA journal_mode = WAL; BEGIN; ${schema};
          PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${format}; COMMIT`);
			} finally {
				database.close();
			}
			linkSync(draft, path);
		} catch (error) {
			if (!exists(error)) throw error;
		} finally {
			for (const end of [
				"",
				"-wal",
				"-shm",
				"-journal"
			]) rmSync(draft + end, { force: true });
		}
	}
	const real = realpathSync(path);
	checkOwn(real);
	return real;
}
/** Only its owner can open it: the user of this program, or the one who called it through sudo. */
function createIfMissing(path) {
	try {
		const file = openSync(path, "wx", 384);
		const caller = callerOwning(dirname(path));
		if (caller !== void 0) fchownSync(file, caller.uid, caller.gid);
		closeSync(file);
	} catch (error) {
		if (!exists(error)) throw error;
	}
}
const exists = (error) => error instanceof Error && "code" in error && error.code === "EEXIST";
/** Recognizes a lock of another process; see sqlite.org/rescode.html. */
const isBusy = (error) => error instanceof Error && "errcode" in error && (Number(error.errcode) & 255) === 5;
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
		if (isBusy(error)) return void 0;
		throw error;
	}
	locks.add(lock);
	return { [Symbol.dispose]() {
		if (locks.delete(lock)) lock.close();
	} };
}

export { SqliteFile, createIfMissing, isBusy, lockIfFree };