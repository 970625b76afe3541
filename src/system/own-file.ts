// Refuses state that other users of this machine have made or may write: they could choose its content at any time.
import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** The message is a clause on the place, and what to do. */
export class ExposedPlaceError extends Error {
  override readonly name = 'ExposedPlaceError';
  readonly conclusion = 'usage';
}

/**
 * Checks the folder of a file, the file, and those that SQLite keeps beside it, as far as they exist. Each belongs to
 * this user, root or a group of this user that may write it, and no others may write it.
 */
export function checkOwn(path: string): void {
  checkPlace(dirname(path));
  for (const end of ['', '-wal', '-shm', '-journal']) checkPlace(path + end);
}

/** Checks the mode alone, for files whose owner may be another user. Throws an ExposedPlaceError. */
export function checkNotOpen(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || (stats.mode & 0o002) === 0) return;
  // In a folder like /tmp no user can move or remove the files of others.
  if (stats.isDirectory() && (stats.mode & 0o1000) !== 0) return;
  throw new ExposedPlaceError(
    `${path} has the mode ${(stats.mode & 0o777).toString(8)}, by which any user may write it: see who has, and run 'chmod o-w ${path}', or remove it`,
  );
}

function checkPlace(path: string): void {
  checkNotOpen(path);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || isOurs(stats)) return;
  throw new ExposedPlaceError(
    `${path} belongs to the user ${stats.uid}: remove it, or give it to this user or to a group of both that may write it`,
  );
}

/** True for files of this user, of root, and of the caller of sudo, whose files root shares. */
export function isOwned({ uid }: Pick<Stats, 'uid'>): boolean {
  const own = process.geteuid?.();
  if (own === undefined || uid === 0 || uid === own) return true;
  return own === 0 && process.env.SUDO_UID === String(uid);
}

function isOurs({ uid, gid, mode }: Stats): boolean {
  if (isOwned({ uid })) return true;
  return (mode & 0o020) !== 0 && (process.getgroups?.() ?? []).includes(gid);
}
