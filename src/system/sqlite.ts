// Opens ppsgate's SQLite files, and uses SQLite to lock files, as Node has no flock(2).
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { checkNotOpen } from './own-file.ts';

/** Header of a file: its application as four ASCII letters, and the version of its format. */
export type SqliteHeader = { applicationId: number; format: number };

/** Reports a file that belongs to another program, or has another `format`. */
export class ForeignFileError extends Error {
  readonly format: number | undefined;

  constructor(format?: number) {
    super(format === undefined ? 'it is of another program' : `it has format ${format}, of another version of ppsgate`);
    this.format = format;
  }
}

/**
 * Opens a file with this header. `fill` creates the tables of an empty file; without it, an empty file is foreign.
 * Commits survive a power cut. `blockingMilliseconds` limits how long a call blocks this process while another one
 * locks the file. Throws a ForeignFileError, or SQLite's error.
 */
export function openDatabase(
  path: string,
  header: SqliteHeader,
  blockingMilliseconds: number,
  fill?: (database: DatabaseSync) => void,
): DatabaseSync {
  const database = new DatabaseSync(path, { timeout: blockingMilliseconds });
  try {
    if (isEmpty(database, header)) {
      if (fill === undefined) throw new ForeignFileError();
      fill(database);
    }
    database.exec('PRAGMA synchronous = FULL');
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** False for a file with this header. Throws a ForeignFileError for any other one. */
export function isEmpty(database: DatabaseSync, { applicationId, format }: SqliteHeader): boolean {
  const { id, version, tables } =
    database
      .prepare(
        `SELECT application_id AS id, user_version AS version, (SELECT count(*) FROM sqlite_schema) AS tables
       FROM pragma_application_id, pragma_user_version`,
      )
      .get() ?? {};
  if (id === applicationId && version === format) return false;
  if (id === applicationId) throw new ForeignFileError(Number(version));
  if (id === 0 && version === 0 && tables === 0) return true;
  throw new ForeignFileError();
}

export function watchPlace(path: string): () => boolean {
  const opened = statSync(path);
  return () => {
    const { ino, dev } = statSync(path, { throwIfNoEntry: false }) ?? {};
    return ino === opened.ino && dev === opened.dev;
  };
}

export type SqliteError = Error & { errcode: number };

export const isSqliteError = (error: unknown): error is SqliteError =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number';

/** `other` for failures without a known fix. */
type SqliteFailure =
  | 'busy'
  | 'read-only'
  | 'input-output'
  | 'corrupt'
  | 'full'
  | 'cannot-open'
  | 'not-a-database'
  | 'other';

/** Codes: sqlite.org/rescode.html. */
export function failureOf({ errcode }: SqliteError): SqliteFailure {
  return errcode === sharedMemorySize ? 'full' : (failures.get(errcode & 0xff) ?? 'other');
}

const failures = new Map<number, SqliteFailure>([
  [5, 'busy'],
  [8, 'read-only'],
  [10, 'input-output'],
  [11, 'corrupt'],
  [13, 'full'],
  [14, 'cannot-open'],
  [26, 'not-a-database'],
]);
/** Processes share memory through a file, which must be able to grow. */
const sharedMemorySize = 10 | (19 << 8);

/** Keeps locks referenced: garbage collection would close the database, and so release its lock. */
const locks = new Set<DatabaseSync>();

/**
 * Returns undefined while another process has the lock. The file stays, as a lock on a removed file excludes no
 * process. Throws an ExposedPlaceError for a file that any user may write, and so lock.
 */
export function lockIfFree(path: string): Disposable | undefined {
  checkNotOpen(path);
  const lock = new DatabaseSync(path, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (isSqliteError(error) && failureOf(error) === 'busy') return undefined;
    throw error;
  }
  locks.add(lock);
  return {
    [Symbol.dispose]() {
      if (locks.delete(lock)) lock.close();
    },
  };
}
