import { int, object } from "../../../vendor/zod.js";
import { document, word } from "../../../model/first.js";
import { openProcessView } from "../../../system/process.js";
import { createIfMissing, openFile } from "./first-plain.js";
const { lutimesSync, watch } = globalThis.process.getBuiltinModule("node:fs");
const { randomUUID } = globalThis.process.getBuiltinModule("node:crypto");

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
	const file = await openFile(path, firstRevision);
	const sql = await file.use(() => prepare(file.database));
	return new SqliteStore(file, sql, now, pollSeconds);
}
var SqliteStore = class {
	#file;
	#sql;
	#now;
	#pollSeconds;
	#changed = [];
	constructor(file, sql, now, pollSeconds) {
		this.#file = file;
		this.#sql = sql;
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
		this.#file.close();
	}
	/** Works under the write lock, after removing expired sessions. */
	#write(work) {
		return this.#file.use(() => {
			this.#changed = [];
			const outcome = transaction(this.#file.database, this.#sql.beginWrite, this.#sql.commit, () => {
				const time = this.#now();
				if (this.#isAnyOver(time)) this.#removeOver(time);
				return work(time);
			});
			ring(this.#file.path, this.#changed.splice(0));
			return outcome;
		});
	}
	/** Reads without a lock, unless expired sessions must be removed first. */
	async #read(select) {
		const snapshot = await this.#file.use(() => transaction(this.#file.database, this.#sql.beginRead, this.#sql.commit, () => {
			const revision = this.#revision();
			return this.#isAnyOver(this.#now()) ? void 0 : { selected: select(revision) };
		}));
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
	#removeOver(time) {
		this.#removed(this.#sql.removeEntriesOver.all(time));
		this.#sql.removeSessionsOver.run(time);
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
		beginRead: one("BEGIN"),
		beginWrite: one("BEGIN IMMEDIATE"),
		commit: one("COMMIT"),
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
function transaction(database, begin, commit, work) {
	begin.run();
	try {
		const outcome = work();
		commit.run();
		return outcome;
	} finally {
		if (database.isTransaction) database.exec("ROLLBACK");
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