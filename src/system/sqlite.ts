// SQLite files of ppsgate's own, and locks on files: Node has no flock(2), but SQLite locks a file.
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** What the header of a file says: whose it is, in four letters of ASCII, and how it is arranged. */
export type SqliteHeader = { applicationId: number; format: number };

/** The file is another program's, or has another `format` of ours. */
export class ForeignFileError extends Error {
  readonly format: number | undefined;

  constructor(format?: number) {
    super('another SQLite file than was asked for');
    this.format = format;
  }
}

/**
 * Opens a file with this header; `fill` arranges one that is empty, and without it an empty one is another program's.
 * What is committed survives a power cut. `blockingMilliseconds` is how long a call may hold up this process while
 * another has the file locked. Throws a ForeignFileError, or what SQLite throws.
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

/** False for a file with this header; throws a ForeignFileError for one with another. */
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

/** Tells whether the file that is at the path now is still there. */
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

/** `other` for those that nobody can do anything about. */
type SqliteFailure =
  | 'busy'
  | 'read-only'
  | 'input-output'
  | 'corrupt'
  | 'full'
  | 'cannot-open'
  | 'not-a-database'
  | 'other';

/** By the codes of sqlite.org/rescode.html. */
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
/** The memory that processes share is a file, which must grow. */
const sharedMemorySize = 10 | (19 << 8);

/** Locks of this process: one that nobody refers to any more would be closed, and its lock go with it. */
const locks = new Set<DatabaseSync>();

/**
 * Undefined while somebody else has the lock, which the kernel takes back from a process that ends, however it ends.
 * The file stays, for a lock on a file that was removed keeps nobody out.
 */
export function lockIfFree(path: string): Disposable | undefined {
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
