import { int, object } from "../../../vendor/zod.js";
import { document, word } from "../../../model/first.js";
import { openProcessView } from "../../../system/process.js";
import { StoreError } from "./first-plain.js";
import { SqliteFile, createIfMissing, isBusy } from "../../../system/sqlite.js";
const { lutimesSync, statSync, watch } = globalThis.process.getBuiltinModule("node:fs");
const { randomUUID } = globalThis.process.getBuiltinModule("node:crypto");
const { setTimeout } = globalThis.process.getBuiltinModule("node:timers/promises");

// src/gate/reserve/store/open.ts
/** Throws a StoreError if the store cannot be used. */
async function openStore(config) {
	if (config.store === "etcd") {
		const { openEtcd } = await import("./etcd.js");
		return openEtcd(config, { now: steadySeconds });
	}
	const { openSqlite } = await import("./sqlite.js");
	return openSqlite(config.path, { now: steadySeconds });
}
/** Seconds of a clock shared by all processes of this machine, which setting the time does not change. */
const steadySeconds = () => Number(process.hrtime.bigint()) / 1e9;
/** Only processes that share a file certainly share a kernel: a machine and its copy have the same boot id. */
const openProcessesOf = async ({ store }) => store === "sqlite" ? await openProcessView() : void 0;

// src/gate/reserve/store/sqlite.ts
/** Creates a missing file; it must be on a local disk. */
async function openSqlite(path, { now, pollSeconds = 1, firstRevision = Date.now() }) {
	return new SqliteStore(new SqliteFile(path, kindOf(firstRevision), blockingMilliseconds), now, pollSeconds);
}
/** Text compares as its bytes of UTF-8. */
const kindOf = (firstRevision) => ({
	name: "The reservation store",
	Failure: StoreError,
	applicationId: 1886417767,
	format: 1,
	schema: `
    CREATE TABLE store (revision INTEGER NOT NULL) STRICT;
    INSERT INTO store (revision) VALUES (${firstRevision});
    CREATE TABLE sessions (
      id TEXT PRIMARY KEY,
      seconds REAL NOT NULL,
      expires_at REAL NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE entries (
      key TEXT PRIMARY KEY,
      value TEXT NOT NULL,
      revision INTEGER NOT NULL,
      session TEXT REFERENCES sessions
    ) STRICT;
    CREATE INDEX entries_by_session ON entries (session) WHERE session IS NOT NULL`
});
var SqliteStore = class {
	#file;
	#sql;
	#now;
	#pollSeconds;
	#changed = [];
	constructor(file, now, pollSeconds) {
		this.#file = file;
		this.#sql = file.use(() => prepare(file.database));
		this.#now = now;
		this.#pollSeconds = pollSeconds;
	}
	async openSession(seconds) {
		const session = randomUUID();
		await this.#write((time) => this.#sql.openSession.run(session, seconds, time));
		return session;
	}
	renew(session) {
		return this.#write((time) => this.#sql.renew.run(session, time).changes > 0);
	}
	async endSession(session) {
		await this.#write(() => {
			this.#removed(this.#sql.removeEntriesOf.all(session));
			this.#sql.endSession.run(session);
		});
	}
	read(prefix) {
		return this.#read((revision) => ({
			entries: this.#sql.read.all(prefix).map(entryOf),
			revision
		}));
	}
	commit(change) {
		return this.#write(() => {
			if (!this.#mayCommit(change)) return void 0;
			const revision = this.#nextRevision();
			for (const key of change.remove) if (this.#sql.remove.run(key).changes > 0) this.#changed.push(key);
			for (const { key, value, session } of change.put) {
				this.#sql.put.run(key, value, revision, session ?? null);
				this.#changed.push(key);
			}
			return revision;
		});
	}
	/** With a prefix, resolves after one poll at a change of other keys, too. */
	async changed(since, signal, prefix = "") {
		const bell = listen(this.#file.path, foldersOf(prefix), this.#pollSeconds, signal);
		try {
			for (;;) {
				const rung = bell.next();
				signal.throwIfAborted();
				if (await this.#read((revision) => revision) > since) return;
				await rung;
			}
		} finally {
			bell.close();
		}
	}
	async close() {
		this.#file[Symbol.dispose]();
	}
	/** Works under the write lock, after removing expired sessions. */
	async #write(work) {
		const { outcome, changed } = await inTurn(this.#file, "BEGIN IMMEDIATE", () => {
			this.#changed = [];
			const time = this.#now();
			if (this.#isAnyOver(time)) {
				this.#removed(this.#sql.removeEntriesOver.all(time));
				this.#sql.removeSessionsOver.run(time);
			}
			return {
				outcome: work(time),
				changed: this.#changed
			};
		});
		ring(this.#file.path, changed);
		return outcome;
	}
	/** Reads without a lock, unless expired sessions must be removed first. */
	async #read(select) {
		const snapshot = await inTurn(this.#file, "BEGIN", () => {
			const revision = this.#revision();
			return this.#isAnyOver(this.#now()) ? void 0 : { selected: select(revision) };
		});
		return snapshot === void 0 ? this.#write(() => select(this.#revision())) : snapshot.selected;
	}
	#revision() {
		return revisionOf(this.#sql.revision.get()) ?? 0;
	}
	#nextRevision() {
		return revisionOf(this.#sql.nextRevision.get()) ?? 0;
	}
	#isAnyOver(time) {
		return this.#sql.anyOver.get(time) !== void 0;
	}
	#removed(rows) {
		if (rows.length > 0) this.#nextRevision();
		this.#changed.push(...rows.map((row) => withKey.parse(row).key));
	}
	#mayCommit({ conditions, put }) {
		const { find, session: findSession } = this.#sql;
		return conditions.every(({ key, revision }) => (revisionOf(find.get(key)) ?? 0) === revision) && put.every(({ session }) => session === void 0 || findSession.get(session) !== void 0);
	}
};
function prepare(database) {
	const isAlive = "expires_at > ?1 AND expires_at <= ?1 + seconds";
	const one = (text) => database.prepare(text);
	return {
		revision: one("SELECT revision FROM store"),
		nextRevision: one("UPDATE store SET revision = revision + 1 RETURNING revision"),
		anyOver: one(`SELECT 1 FROM sessions WHERE NOT (${isAlive}) LIMIT 1`),
		removeEntriesOver: one(`DELETE FROM entries WHERE session IN (SELECT id FROM sessions WHERE NOT (${isAlive}))
       RETURNING key`),
		removeSessionsOver: one(`DELETE FROM sessions WHERE NOT (${isAlive})`),
		session: one("SELECT 1 FROM sessions WHERE id = ?"),
		openSession: one("INSERT INTO sessions (id, seconds, expires_at) VALUES (?1, ?2, ?3 + ?2)"),
		renew: one("UPDATE sessions SET expires_at = ?2 + seconds WHERE id = ?1"),
		removeEntriesOf: one("DELETE FROM entries WHERE session = ? RETURNING key"),
		endSession: one("DELETE FROM sessions WHERE id = ?"),
		find: one("SELECT revision FROM entries WHERE key = ?"),
		read: one(`SELECT key, value, revision FROM entries
       WHERE key >= ?1 AND key < ?1 || CAST(x'ff' AS TEXT) ORDER BY key`),
		put: one(`INSERT INTO entries (key, value, revision, session) VALUES (?, ?, ?, ?) ON CONFLICT (key)
       DO UPDATE SET value = excluded.value, revision = excluded.revision, session = excluded.session`),
		remove: one("DELETE FROM entries WHERE key = ?")
	};
}
/**
* SQLite's busy handler blocks the process and backs off, which starves long waiters. So each call gives up soon and
* retries.
*/
const blockingMilliseconds = 3;
/** The first pause is about as long as a commit takes. */
const pauseMilliseconds = {
	first: 2,
	longest: 20
};
/** Suffices for one lock of 5 s; a queue of other writers, each committing in turn, may need longer. */
const maxAttempts = 5e3 / (blockingMilliseconds + pauseMilliseconds.longest);
/** Counts tries between commits instead of time, as a suspended process has not waited. */
async function inTurn(file, begin, work) {
	let lastCommit;
	let pause = pauseMilliseconds.first;
	for (let attempts = 1;; attempts += 1) {
		try {
			return file.transaction(begin, work);
		} catch (error) {
			if (!(error instanceof StoreError && isBusy(error.cause)) || attempts > maxAttempts) throw error;
		}
		const commit = statSync(`${file.path}-wal`, { throwIfNoEntry: false })?.mtimeMs;
		if (commit !== lastCommit) attempts = 1;
		lastCommit = commit;
		await setTimeout(pause);
		pause = Math.min(2 * pause, pauseMilliseconds.longest);
	}
}
const withRevision = object({ revision: int() });
const revisionOf = (row) => row === void 0 ? void 0 : withRevision.parse(row).revision;
const withKey = object({ key: word });
const entrySchema = object({
	key: word,
	value: document,
	revision: int()
});
const entryOf = (row) => entrySchema.parse(row);
/** The two outer folders of a key or prefix; waiting processes follow no others. */
const foldersOf = (key) => key.split("/").slice(0, -1).slice(0, 2);
/** The file to touch after a change of keys in such a folder: the store itself for all keys. */
const bellOf = (path, folders) => [path, ...folders].join("-");
/** Wakes waiting processes. The log is no signal, as SQLite writes it before a commit is complete. */
function ring(path, changedKeys) {
	const bells = changedKeys.flatMap((key) => {
		const folders = foldersOf(key);
		return [
			0,
			1,
			2
		].map((depth) => bellOf(path, folders.slice(0, depth)));
	});
	for (const bell of new Set(bells)) try {
		const now = /* @__PURE__ */ new Date();
		lutimesSync(bell, now, now);
	} catch {}
}
/** `next` resolves when the file is touched, at each poll, and when the signal aborts. */
function listen(path, folders, pollSeconds, signal) {
	let rung = Promise.withResolvers();
	const onRing = () => rung.resolve();
	const watcher = watchIfPossible(path, folders, onRing);
	const timer = setInterval(onRing, pollSeconds * 1e3);
	signal.addEventListener("abort", onRing);
	return {
		next() {
			rung = Promise.withResolvers();
			return rung.promise;
		},
		close() {
			watcher?.close();
			clearInterval(timer);
			signal.removeEventListener("abort", onRing);
		}
	};
}
function watchIfPossible(path, folders, onChange) {
	const bell = bellOf(path, folders);
	try {
		if (bell !== path) createIfMissing(bell);
		return watch(bell, onChange).on("error", () => {});
	} catch {
		return;
	}
}

export { openProcessesOf, openSqlite, openStore, steadySeconds };