// Opens ppsgate's SQLite files, and uses SQLite to lock files, as Node has no flock(2).
import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fchownSync,
  linkSync,
  mkdirSync,
  openSync,
  realpathSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { reasonOf } from '../model/one-line.ts';
import { callerOwning } from './give-to-caller.ts';
import { checkNotOpen, checkOwn, ExposedPlaceError } from './own-file.ts';

export type SqliteFileKind = {
  /** Begins error messages: `The reservation store`. */
  name: string;
  Failure: new (message: string, options?: ErrorOptions) => Error;
  /** Four ASCII letters in the file's header. */
  applicationId: number;
  format: number;
  schema: string;
};

/**
 * A file that several processes of this host share; its commits survive a power cut. Other users must not be able to
 * write it or its folder. Every call throws the kind's Failure for errors of SQLite and of the file system.
 */
export class SqliteFile implements Disposable {
  /** With links resolved. */
  readonly path: string;
  readonly database: DatabaseSync;
  readonly #kind: SqliteFileKind;
  readonly #opened: Stats;

  /**
   * Creates a missing file; it must be on a local disk. `blockingMilliseconds` limits how long a call blocks this
   * process while another one locks the file.
   */
  constructor(path: string, kind: SqliteFileKind, blockingMilliseconds: number) {
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

  use<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      // Errors of SQLite and of the file system have a code.
      const isOfFile = error instanceof ExposedPlaceError || (error instanceof Error && 'code' in error);
      if (!isOfFile) throw error;
      throw this.#failure(`cannot be used: ${reasonOf(error)}.`, error);
    }
  }

  /** Throws a Failure, too, if the file was moved meanwhile. */
  transaction<T>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', work: () => T): T {
    return this.use(() => {
      this.database.exec(begin);
      try {
        const { ino, dev } = statSync(this.path, { throwIfNoEntry: false }) ?? {};
        if (ino !== this.#opened.ino || dev !== this.#opened.dev) {
          throw this.#failure('was moved or replaced while in use: restart this process.');
        }
        const outcome = work();
        this.database.exec('COMMIT');
        return outcome;
      } finally {
        // Some errors of SQLite have already ended the transaction.
        if (this.database.isTransaction) this.database.exec('ROLLBACK');
      }
    });
  }

  [Symbol.dispose](): void {
    if (this.database.isOpen) this.database.close();
  }

  #begin(): void {
    const { id, version } =
      this.database
        .prepare('SELECT application_id AS id, user_version AS version FROM pragma_application_id, pragma_user_version')
        .get() ?? {};
    if (id !== this.#kind.applicationId || version !== this.#kind.format) {
      throw this.#failure('is a file of another program, or of another version of ppsgate.');
    }
    this.database.exec('PRAGMA synchronous = FULL');
  }

  #failure(what: string, cause?: unknown): Error {
    return new this.#kind.Failure(`${this.#kind.name} ${this.path} ${what}`, { cause });
  }
}

/** Creates a missing file under another name, as several processes may do so at once. */
function realPathOf(path: string, { applicationId, format, schema }: SqliteFileKind): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  checkOwn(path);
  if (statSync(path, { throwIfNoEntry: false }) === undefined) {
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
      for (const end of ['', '-wal', '-shm', '-journal']) rmSync(draft + end, { force: true });
    }
  }
  const real = realpathSync(path);
  checkOwn(real);
  return real;
}

/** Only its owner can open it: the user of this program, or the one who called it through sudo. */
export function createIfMissing(path: string): void {
  try {
    const file = openSync(path, 'wx', 0o600);
    const caller = callerOwning(dirname(path));
    if (caller !== undefined) fchownSync(file, caller.uid, caller.gid);
    closeSync(file);
  } catch (error) {
    if (!exists(error)) throw error;
  }
}

const exists = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'EEXIST';

/** Recognizes a lock of another process; see sqlite.org/rescode.html. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error && 'errcode' in error && (Number(error.errcode) & 0xff) === 5;

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
    if (isBusy(error)) return undefined;
    throw error;
  }
  locks.add(lock);
  return {
    [Symbol.dispose]() {
      if (locks.delete(lock)) lock.close();
    },
  };
}
