// Stores the reservations of one controller host in an SQLite file that all its processes share.
import { randomUUID } from 'node:crypto';
import { type FSWatcher, lutimesSync, statSync, watch } from 'node:fs';
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import * as bounded from '../../../model/bounds.ts';
import { createIfMissing, isBusy, SqliteFile, type SqliteFileKind } from '../../../system/sqlite.ts';
import { type Store, type StoreChange, type StoreEntry, StoreError, type StoreSnapshot } from './store.ts';

export type SqliteOptions = {
  /** Seconds of a monotonic clock that is the same for all processes of the host, and restarts at a boot. */
  now(): number;
  /** Interval at which waiting callers look for expired sessions; they see other changes at once. */
  pollSeconds?: number;
  /** First revision of a new file: higher than every revision of an earlier file. */
  firstRevision?: number;
};

/** Creates a missing file; it must be on a local disk. */
export async function openSqlite(
  path: string,
  { now, pollSeconds = 1, firstRevision = Date.now() }: SqliteOptions,
): Promise<Store> {
  return new SqliteStore(new SqliteFile(path, kindOf(firstRevision), blockingMilliseconds), now, pollSeconds);
}

/** Text compares as its bytes of UTF-8. */
const kindOf = (firstRevision: number): SqliteFileKind => ({
  name: 'The reservation store',
  Failure: StoreError,
  applicationId: 0x70_70_73_67,
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
    CREATE INDEX entries_by_session ON entries (session) WHERE session IS NOT NULL`,
});

class SqliteStore implements Store {
  readonly #file: SqliteFile;
  readonly #sql: ReturnType<typeof prepare>;
  readonly #now: () => number;
  readonly #pollSeconds: number;
  #changed: string[] = [];

  constructor(file: SqliteFile, now: () => number, pollSeconds: number) {
    this.#file = file;
    this.#sql = file.use(() => prepare(file.database));
    this.#now = now;
    this.#pollSeconds = pollSeconds;
  }

  async openSession(seconds: number): Promise<string> {
    const session = randomUUID();
    await this.#write((time) => this.#sql.openSession.run(session, seconds, time));
    return session;
  }

  renew(session: string): Promise<boolean> {
    return this.#write((time) => this.#sql.renew.run(session, time).changes > 0);
  }

  async endSession(session: string): Promise<void> {
    await this.#write(() => {
      this.#removed(this.#sql.removeEntriesOf.all(session));
      this.#sql.endSession.run(session);
    });
  }

  read(prefix: string): Promise<StoreSnapshot> {
    return this.#read((revision) => ({
      entries: this.#sql.read.all(prefix).map(entryOf),
      revision,
    }));
  }

  commit(change: StoreChange): Promise<number | undefined> {
    return this.#write(() => {
      if (!this.#mayCommit(change)) return undefined;
      const revision = this.#nextRevision();
      for (const key of change.remove) {
        if (this.#sql.remove.run(key).changes > 0) this.#changed.push(key);
      }
      for (const { key, value, session } of change.put) {
        this.#sql.put.run(key, value, revision, session ?? null);
        this.#changed.push(key);
      }
      return revision;
    });
  }

  /** With a prefix, resolves after one poll at a change of other keys, too. */
  async changed(since: number, signal: AbortSignal, prefix = ''): Promise<void> {
    const bell = listen(this.#file.path, foldersOf(prefix), this.#pollSeconds, signal);
    try {
      for (;;) {
        // Created before the read, so that it misses no change meanwhile.
        const rung = bell.next();
        signal.throwIfAborted();
        if ((await this.#read((revision) => revision)) > since) return;
        await rung;
      }
    } finally {
      bell.close();
    }
  }

  async close(): Promise<void> {
    this.#file[Symbol.dispose]();
  }

  /** Works under the write lock, after removing expired sessions. */
  async #write<T>(work: (time: number) => T): Promise<T> {
    const { outcome, changed } = await inTurn(this.#file, 'BEGIN IMMEDIATE', () => {
      this.#changed = [];
      // Read under the lock: other processes may have opened sessions meanwhile.
      const time = this.#now();
      if (this.#isAnyOver(time)) {
        this.#removed(this.#sql.removeEntriesOver.all(time));
        this.#sql.removeSessionsOver.run(time);
      }
      return { outcome: work(time), changed: this.#changed };
    });
    ring(this.#file.path, changed);
    return outcome;
  }

  /** Reads without a lock, unless expired sessions must be removed first. */
  async #read<T>(select: (revision: number) => T): Promise<T> {
    const snapshot = await inTurn(this.#file, 'BEGIN', () => {
      // Fixes the snapshot before `now`: a later session would look like one of an earlier boot.
      const revision = this.#revision();
      return this.#isAnyOver(this.#now()) ? undefined : { selected: select(revision) };
    });
    return snapshot === undefined ? this.#write(() => select(this.#revision())) : snapshot.selected;
  }

  #revision(): number {
    return revisionOf(this.#sql.revision.get()) ?? 0;
  }

  #nextRevision(): number {
    return revisionOf(this.#sql.nextRevision.get()) ?? 0;
  }

  #isAnyOver(time: number): boolean {
    return this.#sql.anyOver.get(time) !== undefined;
  }

  #removed(rows: readonly SqliteRow[]): void {
    if (rows.length > 0) this.#nextRevision();
    this.#changed.push(...rows.map((row) => withKey.parse(row).key));
  }

  #mayCommit({ conditions, put }: StoreChange): boolean {
    const { find, session: findSession } = this.#sql;
    return (
      conditions.every(({ key, revision }) => (revisionOf(find.get(key)) ?? 0) === revision) &&
      put.every(({ session }) => session === undefined || findSession.get(session) !== undefined)
    );
  }
}

function prepare(database: DatabaseSync) {
  // The second half ends sessions of an earlier boot, whose clock was further ahead.
  const isAlive = 'expires_at > ?1 AND expires_at <= ?1 + seconds';
  const one = (text: string) => database.prepare(text);
  return {
    revision: one('SELECT revision FROM store'),
    nextRevision: one('UPDATE store SET revision = revision + 1 RETURNING revision'),

    anyOver: one(`SELECT 1 FROM sessions WHERE NOT (${isAlive}) LIMIT 1`),
    removeEntriesOver: one(
      `DELETE FROM entries WHERE session IN (SELECT id FROM sessions WHERE NOT (${isAlive}))
       RETURNING key`,
    ),
    removeSessionsOver: one(`DELETE FROM sessions WHERE NOT (${isAlive})`),

    session: one('SELECT 1 FROM sessions WHERE id = ?'),
    openSession: one('INSERT INTO sessions (id, seconds, expires_at) VALUES (?1, ?2, ?3 + ?2)'),
    renew: one('UPDATE sessions SET expires_at = ?2 + seconds WHERE id = ?1'),
    removeEntriesOf: one('DELETE FROM entries WHERE session = ? RETURNING key'),
    endSession: one('DELETE FROM sessions WHERE id = ?'),

    find: one('SELECT revision FROM entries WHERE key = ?'),
    // UTF-8 has no byte 0xff, so every key with the prefix `?1` sorts before it.
    read: one(
      `SELECT key, value, revision FROM entries
       WHERE key >= ?1 AND key < ?1 || CAST(x'ff' AS TEXT) ORDER BY key`,
    ),
    put: one(
      `INSERT INTO entries (key, value, revision, session) VALUES (?, ?, ?, ?) ON CONFLICT (key)
       DO UPDATE SET value = excluded.value, revision = excluded.revision, session = excluded.session`,
    ),
    remove: one('DELETE FROM entries WHERE key = ?'),
  };
}

/**
 * SQLite's busy handler blocks the process and backs off, which starves long waiters. So each call gives up soon and
 * retries.
 */
const blockingMilliseconds = 3;
/** The first pause is about as long as a commit takes. */
const pauseMilliseconds = { first: 2, longest: 20 };
/** Suffices for one lock of 5 s; a queue of other writers, each committing in turn, may need longer. */
const maxAttempts = 5000 / (blockingMilliseconds + pauseMilliseconds.longest);

/** Counts tries between commits instead of time, as a suspended process has not waited. */
async function inTurn<T>(file: SqliteFile, begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: () => T): Promise<T> {
  let lastCommit: number | undefined;
  let pause = pauseMilliseconds.first;
  for (let attempts = 1; ; attempts += 1) {
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

type SqliteRow = Record<string, SQLOutputValue>;

const withRevision = z.object({ revision: z.int() });
const revisionOf = (row: SqliteRow | undefined): number | undefined =>
  row === undefined ? undefined : withRevision.parse(row).revision;

const withKey = z.object({ key: bounded.word });

const entrySchema = z.object({ key: bounded.word, value: bounded.document, revision: z.int() });
const entryOf = (row: SqliteRow): StoreEntry => entrySchema.parse(row);

/** The two outer folders of a key or prefix; waiting processes follow no others. */
const foldersOf = (key: string): string[] => key.split('/').slice(0, -1).slice(0, 2);

/** The file to touch after a change of keys in such a folder: the store itself for all keys. */
const bellOf = (path: string, folders: readonly string[]): string => [path, ...folders].join('-');

/** Wakes waiting processes. The log is no signal, as SQLite writes it before a commit is complete. */
function ring(path: string, changedKeys: readonly string[]): void {
  const bells = changedKeys.flatMap((key) => {
    const folders = foldersOf(key);
    return [0, 1, 2].map((depth) => bellOf(path, folders.slice(0, depth)));
  });
  for (const bell of new Set(bells)) {
    try {
      const now = new Date();
      // In a folder like /tmp, another user's link may have its name.
      lutimesSync(bell, now, now);
    } catch {
      // No process listens; or else, as the commit is complete, waiting processes poll.
    }
  }
}

/** `next` resolves when the file is touched, at each poll, and when the signal aborts. */
function listen(path: string, folders: readonly string[], pollSeconds: number, signal: AbortSignal) {
  let rung = Promise.withResolvers<void>();
  const onRing = () => rung.resolve();
  const watcher = watchIfPossible(path, folders, onRing);
  const timer = setInterval(onRing, pollSeconds * 1000);
  signal.addEventListener('abort', onRing);
  return {
    next(): Promise<void> {
      rung = Promise.withResolvers();
      return rung.promise;
    },
    close() {
      watcher?.close();
      clearInterval(timer);
      signal.removeEventListener('abort', onRing);
    },
  };
}

function watchIfPossible(path: string, folders: readonly string[], onChange: () => void): FSWatcher | undefined {
  const bell = bellOf(path, folders);
  try {
    // A moved store must not come back as an empty one.
    if (bell !== path) createIfMissing(bell);
    return watch(bell, onChange).on('error', () => {});
  } catch {
    return undefined;
  }
}
