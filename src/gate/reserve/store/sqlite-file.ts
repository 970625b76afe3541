// Creates and opens the file of an SQLite store, and explains why one cannot be used.
import { accessSync, closeSync, constants, fchownSync, mkdirSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { reasonOf } from '../../../model/one-line.ts';
import { callerOwning } from '../../../system/give-to-caller.ts';
import { checkOwn, ExposedPlaceError } from '../../../system/own-file.ts';
import {
  ForeignFileError,
  failureOf,
  isEmpty,
  isSqliteError,
  openDatabase,
  type SqliteError,
  type SqliteHeader,
  watchPlace,
} from '../../../system/sqlite.ts';
import { StoreError } from './store.ts';

export type StoreFile = {
  database: DatabaseSync;
  path: string;
  /** Repeats the work while the file is locked. Throws a StoreError for SQLite's errors, and if the file was moved. */
  use<T>(work: () => T): Promise<T>;
  /** Safe to call twice. */
  close(): void;
};

/** Creates a missing file. Throws a StoreError if the file cannot be used. */
export async function openFile(givenPath: string, firstRevision: number): Promise<StoreFile> {
  const path = makeSure(resolve(givenPath));
  const isInPlace = watchPlace(path);
  const database = await inTurn(path, () => connect(path, firstRevision));
  return {
    database,
    path,
    use: (work) =>
      inTurn(path, () => {
        if (!database.isOpen) throw new StoreError(`The reservation store ${path} was closed.`);
        if (!isInPlace()) throw new StoreError(moved(path));
        return work();
      }),
    close() {
      if (database.isOpen) database.close();
    },
  };
}

/**
 * Returns the file's real path. The file must be closed to other users, and this user must be able to write it and its
 * folder.
 */
function makeSure(path: string): string {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    checkOwn(path);
    createIfMissing(path);
    const real = realpathSync(path);
    checkOwn(real);
    if (!statSync(real).isFile()) {
      throw new StoreError(
        `The reservation store cannot be ${path}, which is not a regular file: name a file in it or another path.`,
      );
    }
    accessSync(real, constants.R_OK | constants.W_OK);
    accessSync(dirname(real), constants.W_OK | constants.X_OK);
    return real;
  } catch (error) {
    if (error instanceof StoreError) throw error;
    if (error instanceof ExposedPlaceError) {
      throw new StoreError(`The reservation store ${path} is refused: ${error.message}.`);
    }
    throw new StoreError(
      `The reservation store ${path} cannot be opened (${reasonOf(error)}): give this user write access to the file and its folder, or name another path.`,
      { cause: error },
    );
  }
}

/** Only its owner can open it: the user of this program, or the one who called it through sudo. */
export function createIfMissing(path: string): void {
  try {
    const file = openSync(path, 'wx', 0o600);
    const caller = callerOwning(dirname(path));
    if (caller !== undefined) fchownSync(file, caller.uid, caller.gid);
    closeSync(file);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    throw error;
  }
}

const header: SqliteHeader = { applicationId: 0x70_70_73_67, format: 1 };

function connect(path: string, firstRevision: number): DatabaseSync {
  try {
    return openDatabase(path, header, blockingMilliseconds, (database) => fill(database, path, firstRevision));
  } catch (error) {
    if (!(error instanceof ForeignFileError)) throw error;
    throw new StoreError(
      error.format === undefined
        ? `The reservation store cannot be ${path}, which is the SQLite database of another program: name another path.`
        : `The reservation store ${path} has format ${error.format}, but this ppsgate supports format ${header.format}: use the version of ppsgate that created it, or name another path.`,
    );
  }
}

function fill(database: DatabaseSync, path: string, firstRevision: number): void {
  const { journal_mode: mode } = database.prepare('PRAGMA journal_mode = WAL').get() ?? {};
  if (mode !== 'wal') {
    throw new StoreError(
      `The reservation store ${path} is on a file system where processes cannot share memory: name a path on a local disk.`,
    );
  }
  database.exec('BEGIN IMMEDIATE');
  // Another process may have been first.
  if (isEmpty(database, header)) {
    database.exec(schema);
    database.prepare('INSERT INTO store (revision) VALUES (?)').run(firstRevision);
  }
  database.exec('COMMIT');
}

/** Text compares as its bytes of UTF-8. */
const schema = `
  CREATE TABLE store (revision INTEGER NOT NULL) STRICT;
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
  CREATE INDEX entries_by_session ON entries (session) WHERE session IS NOT NULL;
  PRAGMA application_id = ${header.applicationId};
  PRAGMA user_version = ${header.format};
`;

const moved = (path: string): string =>
  `The reservation store ${path} was moved or replaced while in use: restart this process to use the current file.`;

/**
 * SQLite's busy handler blocks the process and backs off, which starves long waiters. So each call gives up soon and
 * retries.
 */
const blockingMilliseconds = 3;
/** The first pause is about as long as a commit takes. */
const pauseMilliseconds = { first: 2, longest: 20 };
/** Time limit for one lock. A queue of other writers, each committing in turn, may need longer. */
const patienceSeconds = 5;
/** Counts tries instead of time, as a suspended process has not waited. */
const maxAttempts = (patienceSeconds * 1000) / (blockingMilliseconds + pauseMilliseconds.longest);

async function inTurn<T>(path: string, work: () => T): Promise<T> {
  let lastSeen: number | undefined;
  let pause = pauseMilliseconds.first;
  for (let attempts = 1; ; attempts += 1) {
    try {
      return work();
    } catch (error) {
      if (!isSqliteError(error)) throw error;
      if (failureOf(error) !== 'busy' || attempts > maxAttempts) {
        throw new StoreError(sentence(path, error), { cause: error });
      }
    }
    const written = statSync(`${path}-wal`, { throwIfNoEntry: false })?.mtimeMs;
    if (written !== lastSeen) attempts = 1;
    lastSeen = written;
    await setTimeout(pause);
    pause = Math.min(2 * pause, pauseMilliseconds.longest);
  }
}

function sentence(path: string, error: SqliteError): string {
  const subject = `The reservation store ${path}`;
  const reason = `${reasonOf(error)}, SQLite's code ${error.errcode}`;
  switch (failureOf(error)) {
    case 'busy':
      return `${subject} was locked by another process for more than ${patienceSeconds} s: find it with "fuser -v ${path}", and try again once it has finished.`;
    case 'read-only':
    case 'cannot-open':
      return `${subject} cannot be written (${reason}): give this user write access to the file, its -wal and -shm files and its folder, or name another path.`;
    case 'input-output':
      return `${subject} cannot be read or written (${reason}): check its disk and the kernel's log.`;
    case 'corrupt':
      return `${subject} is damaged (${reason}): while it is unused, move it away together with ${path}-wal; ppsgate then creates a new one without reservations.`;
    case 'full':
      return `${subject} cannot be written because its disk is full: free some space there and try again.`;
    case 'not-a-database':
      return `${subject} is damaged or not an SQLite database: if it is ppsgate's, move it away while it is unused, or name another path; ppsgate then creates a new one without reservations.`;
    case 'other':
      return `${subject} cannot be used (${reason}): try again, and if that fails, move it away while it is unused; ppsgate then creates a new one without reservations.`;
  }
}
