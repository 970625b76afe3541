// Refuses state that other users of this machine created or may write, and so could replace at any time.
import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The message is a clause on the file or folder, with the fix. */
export class ExposedPlaceError extends Error {
  override readonly name = 'ExposedPlaceError';
  readonly conclusion = 'usage';
}

/**
 * Checks the file, its folder, and SQLite's files next to it, as far as they exist. Each must belong to this user or
 * root, or be writable for a group of this user. None may be writable for all users.
 */
export function checkOwn(path: string): void {
  checkPlace(dirname(path));
  for (const end of ['', '-wal', '-shm', '-journal']) checkPlace(path + end);
}

/** Checks the mode only, for files of any owner. Throws an ExposedPlaceError. */
export function checkNotOpen(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || (stats.mode & 0o002) === 0) return;
  // In a sticky folder like /tmp, no user can move or remove the files of others.
  if (stats.isDirectory() && (stats.mode & 0o1000) !== 0) return;
  throw new ExposedPlaceError(
    `${path} has the mode ${(stats.mode & 0o777).toString(8)}, so any user may write to it: check its content, and run 'chmod o-w ${path}', or remove it`,
  );
}

function checkPlace(path: string): void {
  checkNotOpen(path);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || isOurs(stats)) return;
  throw new ExposedPlaceError(
    `${path} belongs to the user ${stats.uid}: remove it, or change its owner to this user, or to a group of both with write access`,
  );
}

/** True for files of this user, of root, and of the user who called sudo, whose files root shares. */
export function isOwned({ uid }: Pick<Stats, 'uid'>): boolean {
  const own = process.geteuid?.();
  if (own === undefined || uid === 0 || uid === own) return true;
  return own === 0 && process.env.SUDO_UID === String(uid);
}

function isOurs({ uid, gid, mode }: Stats): boolean {
  if (isOwned({ uid })) return true;
  return (mode & 0o020) !== 0 && (process.getgroups?.() ?? []).includes(gid);
}
