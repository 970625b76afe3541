// The store of one controller host: an SQLite file that all its processes share.
import { randomUUID } from 'node:crypto';
import { type FSWatcher, utimesSync, watch } from 'node:fs';
import type { DatabaseSync, SQLOutputValue, StatementSync } from 'node:sqlite';
import { z } from 'zod';
import { openFile } from './sqlite-file.ts';
import type { Change, Entry, Store } from './store.ts';

export type SqliteOptions = {
  /**
   * The time in seconds of a clock that only goes forward, is the same for all processes of the host, and starts anew
   * at a boot.
   */
  now(): number;
  /** How often those who wait look for sessions that are over; they are told of all else at once. */
  pollSeconds?: number;
  /** First revision of a file that has to be made: above every revision of one that was there before. */
  firstRevision?: number;
};

/** Makes the file where it is missing; it must be on a local disk. */
export async function openSqlite(
  givenPath: string,
  { now, pollSeconds = 1, firstRevision = Date.now() }: SqliteOptions,
): Promise<Store> {
  const { database, path, use, close } = await openFile(givenPath, firstRevision);
  const sql = await use(() => prepare(database));
  let isBellDue = false;

  /** Nobody else writes meanwhile, and what has expired is gone when the work begins. */
  const write = <T>(work: (time: number) => T): Promise<T> =>
    use(() => {
      const outcome = transaction(database, sql.beginWrite, sql.commit, () => {
        // Not before: others may have opened sessions while this process waited for its turn.
        const time = now();
        if (isAnyOver(time)) removeOver(time);
        return work(time);
      });
      if (isBellDue) ring(path);
      isBellDue = false;
      return outcome;
    });

  /** As of one moment at which nothing had expired; without a lock, unless something has to go first. */
  async function look<T>(take: (revision: number) => T): Promise<T> {
    const seen = await use(() =>
      transaction(database, sql.beginRead, sql.commit, () => {
        // This fixes the moment. One in whose past `now` lies may have sessions that seem to be of an earlier boot.
        const revision = currentRevision();
        return isAnyOver(now()) ? undefined : { taken: take(revision) };
      }),
    );
    return seen === undefined ? write(() => take(currentRevision())) : seen.taken;
  }

  const currentRevision = () => revisionOf(sql.revision.get()) ?? 0;

  function nextRevision(): number {
    isBellDue = true;
    return revisionOf(sql.nextRevision.get()) ?? 0;
  }

  const isAnyOver = (time: number): boolean => sql.anyOver.get(time) !== undefined;

  function removeOver(time: number): void {
    if (sql.removeEntriesOver.run(time).changes > 0) nextRevision();
    sql.removeSessionsOver.run(time);
  }

  const mayCommit = ({ conditions, put }: Change): boolean =>
    conditions.every(({ key, revision }) => (revisionOf(sql.find.get(key)) ?? 0) === revision) &&
    put.every(({ session }) => session === undefined || sql.session.get(session) !== undefined);

  return {
    async openSession(seconds) {
      const session = randomUUID();
      await write((time) => sql.openSession.run(session, seconds, time));
      return session;
    },

    async renew(session) {
      return write((time) => sql.renew.run(session, time).changes > 0);
    },

    async endSession(session) {
      await write(() => {
        if (sql.removeEntriesOf.run(session).changes > 0) nextRevision();
        sql.endSession.run(session);
      });
    },

    async read(prefix) {
      return look((revision) => ({ entries: sql.read.all(prefix).map(entryOf), revision }));
    },

    async commit(change) {
      return write(() => {
        if (!mayCommit(change)) return undefined;
        const revision = nextRevision();
        for (const key of change.remove) sql.remove.run(key);
        for (const { key, value, session } of change.put) {
          sql.put.run(key, value, revision, session ?? null);
        }
        return revision;
      });
    },

    async changed(since, signal) {
      const bell = listen(path, pollSeconds, signal);
      try {
        for (;;) {
          // What rings while this looks is heard after it.
          const rung = bell.next();
          signal.throwIfAborted();
          if ((await look((revision) => revision)) > since) return;
          await rung;
        }
      } finally {
        bell.close();
      }
    },

    async close() {
      close();
    },
  };
}

function prepare(database: DatabaseSync) {
  // The second half ends sessions of an earlier boot, whose clock had come further.
  const isAlive = 'expires_at > ?1 AND expires_at <= ?1 + seconds';
  const one = (text: string) => database.prepare(text);
  return {
    beginRead: one('BEGIN'),
    beginWrite: one('BEGIN IMMEDIATE'),
    commit: one('COMMIT'),

    revision: one('SELECT revision FROM store'),
    nextRevision: one('UPDATE store SET revision = revision + 1 RETURNING revision'),

    anyOver: one(`SELECT 1 FROM sessions WHERE NOT (${isAlive}) LIMIT 1`),
    removeEntriesOver: one(
      `DELETE FROM entries WHERE session IN (SELECT id FROM sessions WHERE NOT (${isAlive}))`,
    ),
    removeSessionsOver: one(`DELETE FROM sessions WHERE NOT (${isAlive})`),

    session: one('SELECT 1 FROM sessions WHERE id = ?'),
    openSession: one('INSERT INTO sessions (id, seconds, expires_at) VALUES (?1, ?2, ?3 + ?2)'),
    renew: one('UPDATE sessions SET expires_at = ?2 + seconds WHERE id = ?1'),
    removeEntriesOf: one('DELETE FROM entries WHERE session = ?'),
    endSession: one('DELETE FROM sessions WHERE id = ?'),

    find: one('SELECT revision FROM entries WHERE key = ?'),
    // No UTF-8 has the byte 0xff, so all that begins with `?1` comes before it.
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

function transaction<T>(
  database: DatabaseSync,
  begin: StatementSync,
  commit: StatementSync,
  work: () => T,
): T {
  begin.run();
  try {
    const outcome = work();
    commit.run();
    return outcome;
  } finally {
    // Some errors of SQLite have ended it already.
    if (database.isTransaction) database.exec('ROLLBACK');
  }
}

type Row = Record<string, SQLOutputValue>;

const withRevision = z.object({ revision: z.int() });
const revisionOf = (row: Row | undefined): number | undefined =>
  row === undefined ? undefined : withRevision.parse(row).revision;

const entry = z.object({ key: z.string(), value: z.string(), revision: z.int() });
const entryOf = (row: Row): Entry => entry.parse(row);

/**
 * Wakes those who wait for the file. Its log tells them nothing: SQLite writes there before a commit is done, and then
 * makes it known in shared memory.
 */
function ring(path: string): void {
  try {
    const now = new Date();
    utimesSync(path, now, now);
  } catch {
    // The commit is done, and whoever waits looks by himself before long.
  }
}

/** `next` resolves when the file is rung, every so many seconds, and when the signal aborts. */
function listen(path: string, pollSeconds: number, signal: AbortSignal) {
  let rung = Promise.withResolvers<void>();
  const hear = () => rung.resolve();
  const watcher = watchIfPossible(path, hear);
  const timer = setInterval(hear, pollSeconds * 1000);
  signal.addEventListener('abort', hear);
  return {
    next(): Promise<void> {
      rung = Promise.withResolvers();
      return rung.promise;
    },
    close() {
      watcher?.close();
      clearInterval(timer);
      signal.removeEventListener('abort', hear);
    },
  };
}

/** Undefined where the host has no watches left. */
function watchIfPossible(path: string, onChange: () => void): FSWatcher | undefined {
  try {
    return watch(path, onChange).on('error', () => {});
  } catch {
    return undefined;
  }
}
