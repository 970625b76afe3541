// Through sudo the demo runs as root; what it leaves in the caller's place belongs to the caller all the same.
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir } from 'node:fs/promises';
import { bisectNames } from './demo-bisection.ts';
import { demoPatches } from './demo-repository.ts';

export type Caller = { uid: number; gid: number };

/** The user who called sudo; undefined for root itself, or where this process is not root. */
export function callerThroughSudo(
  { SUDO_UID, SUDO_GID }: NodeJS.ProcessEnv,
  ownUid: number | undefined,
): Caller | undefined {
  const [uid, gid] = [idOf(SUDO_UID), idOf(SUDO_GID)];
  if (ownUid !== 0 || uid === undefined || gid === undefined || uid === 0) return undefined;
  return { uid, gid };
}

/** The greatest number of 32 bits is no user: chown(2) leaves an owner alone with it. */
const idOf = (text = ''): number | undefined =>
  /^\d{1,10}$/.test(text) && Number(text) < 2 ** 32 - 1 ? Number(text) : undefined;

export type Place = AsyncDisposable & {
  /** Gives the caller what was made here since, and all of a demo that an earlier process began. */
  giveTo(caller: Caller): Promise<void>;
};

/**
 * Makes the demo's directory and those above it that are missing. The owner of a directory above can put another one in
 * its place meanwhile, so what is given is what was open since, and no path is followed twice.
 */
export async function placeAt(directory: string): Promise<Place> {
  const made = await mkdir(directory, { recursive: true });
  const flags = made === undefined ? O_DIRECTORY : O_DIRECTORY | O_NOFOLLOW;
  const handle = await open(made ?? directory, flags);
  const before = await readdir(pathOf(handle));
  // One with more in it was put there between making it and opening it.
  const isNew = made !== undefined && before.length <= (made === directory ? 0 : 1);
  return {
    async giveTo(caller) {
      if (isNew || (made === undefined && isDemo(before))) return giveOpen(handle, caller);
      const since = ourNames.filter((name) => made === undefined && !before.includes(name));
      for (const name of since) await giveNamed(handle, name, caller);
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

const works = [...demoPatches.map(({ branch }) => branch), bisectNames.work];
const repositories = ['repository', bisectNames.repository];
const ourNames = [
  ...repositories,
  ...repositories.map((name) => `${name}.part`),
  'history.jsonl',
  ...works,
];

/** True where a directory holds a demo and nothing else. */
const isDemo = (names: readonly string[]): boolean =>
  names.some((name) => works.includes(name)) && names.every((name) => ourNames.includes(name));

const pathOf = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

/** The first entry of a directory; while root owns it, no other user can exchange anything in it. */
async function giveOpen(handle: FileHandle, caller: Caller): Promise<void> {
  const entry = await handle.stat();
  // Others' have their owner; and a file that has a second name may lie anywhere.
  if (entry.uid !== 0 || !(entry.isDirectory() || (entry.isFile() && entry.nlink === 1))) return;
  const names = entry.isDirectory() ? await readdir(pathOf(handle)) : [];
  for (const name of names) await giveNamed(handle, name, caller);
  await handle.chown(caller.uid, caller.gid);
}

async function giveNamed(directory: FileHandle, name: string, caller: Caller): Promise<void> {
  // Does not wait for a writer, were it a pipe.
  const path = `${pathOf(directory)}/${name}`;
  const handle = await open(path, O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
  if (handle === undefined) return;
  await using entry = handle;
  await giveOpen(entry, caller);
}
