// Gives files that a command makes as root through sudo to the calling user.
import { constants, statSync } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { makeFolders } from './make-folders.ts';

type Caller = { uid: number; gid: number };

/** The user who called sudo. Undefined for root itself, or if this process is not root. */
export function callerThroughSudo(
  { SUDO_UID, SUDO_GID }: NodeJS.ProcessEnv,
  ownUid: number | undefined,
): Caller | undefined {
  const [uid, gid] = [idOf(SUDO_UID), idOf(SUDO_GID)];
  if (ownUid !== 0 || uid === undefined || gid === undefined || uid === 0) return undefined;
  return { uid, gid };
}

/** Excludes the largest 32-bit number, for which chown(2) keeps the owner. */
const idOf = (text = ''): number | undefined =>
  /^\d{1,10}$/.test(text) && Number(text) < 2 ** 32 - 1 ? Number(text) : undefined;

/**
 * Names of everything that a command creates in its folder. One of `marks` shows that an earlier process began there.
 */
export type OwnNames = { names: readonly string[]; marks: readonly string[] };

type Place = AsyncDisposable & {
  /** Changes the owner of everything that this process created here, or an earlier one began. */
  giveTo(caller: Caller): Promise<void>;
};

/**
 * Creates the folder and its missing parents; the caller may have just created the folder itself. A parent's owner can
 * replace it meanwhile. So owners are changed through open descriptors, and no path is resolved twice.
 */
export async function placeAt(directory: string, own: OwnNames, justMade?: string): Promise<Place> {
  const made = justMade ?? (await makeFolders(directory));
  const flags = made === undefined ? O_DIRECTORY : O_DIRECTORY | O_NOFOLLOW;
  const handle = await open(made ?? directory, flags);
  const before = await readdir(pathOf(handle));
  // A new directory that already has entries was replaced between its creation and opening.
  const isNew = made !== undefined && before.length <= (made === directory ? 0 : 1);
  return {
    async giveTo(caller) {
      if (isNew || (made === undefined && isOurs(before, own))) return giveOpen(handle, caller);
      const since = own.names.filter((name) => made === undefined && !before.includes(name));
      for (const name of since) await giveNamed(handle, name, caller);
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/** The caller of sudo where the folder is theirs: root's files in it would lock them out. */
export function callerOwning(folder: string): Caller | undefined {
  const caller = callerThroughSudo(process.env, process.getuid?.());
  if (caller === undefined) return undefined;
  return statSync(folder, { throwIfNoEntry: false })?.uid === caller.uid ? caller : undefined;
}

/** Gives the caller of sudo a file or folder that a command has just created in the caller's folder. */
export async function giveNew(path: string): Promise<void> {
  const caller = callerOwning(dirname(path));
  if (caller === undefined) return;
  await using folder = await open(dirname(path), O_DIRECTORY);
  if ((await folder.stat()).uid === caller.uid) await giveNamed(folder, basename(path), caller);
}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

const isOurs = (found: readonly string[], { names, marks }: OwnNames): boolean =>
  found.some((name) => marks.includes(name)) && found.every((name) => names.includes(name));

const pathOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

/**
 * Changes the owner of the first entry of a directory. While root owns the directory, no other user can exchange
 * entries.
 */
async function giveOpen(handle: FileHandle, caller: Caller): Promise<void> {
  const entry = await handle.stat();
  // Files of others keep their owner. A file with a second link may also exist anywhere else.
  if (entry.uid !== 0 || !(entry.isDirectory() || (entry.isFile() && entry.nlink === 1))) return;
  const names = entry.isDirectory() ? await readdir(pathOf(handle)) : [];
  for (const name of names) await giveNamed(handle, name, caller);
  await handle.chown(caller.uid, caller.gid);
}

async function giveNamed(directory: FileHandle, name: string, caller: Caller): Promise<void> {
  // Opening a pipe would otherwise wait for a writer.
  const path = `${pathOf(directory)}/${name}`;
  const handle = await open(path, O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (handle === undefined) return;
  await using entry = handle;
  await giveOpen(entry, caller);
}
