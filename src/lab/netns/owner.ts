// Allows one process per lab, by a lock that the kernel releases when the process ends.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Pause, realPause } from '../../model/pause.ts';
import { lockIfFree } from '../../system/sqlite.ts';

const locks = new Map<string, Disposable>();

/** Makes this process the owner, and writes its id to the file. Throws a LabInUseError if another process is. */
export async function claim(path: string): Promise<void> {
  if (await isClaimed(path)) return;
  throw new LabInUseError(
    `The lab of this machine is in use by process ${await ownerOf(path)}: run this again once that process has ended; a gate, a demo or a check waits automatically.`,
  );
}

type LabWait = {
  notify?: (text: string) => void;
  signal?: AbortSignal;
  pause?: Pause;
};

/** Waits until no other process owns the lab, then makes this one the owner. Throws once `signal` is aborted. */
export async function claimWhenFree(
  path: string,
  { notify, signal = new AbortController().signal, pause = realPause }: LabWait,
): Promise<void> {
  let notifiedOwner: string | undefined;
  while (!(await isClaimed(path))) {
    const owner = await ownerOf(path);
    if (owner !== notifiedOwner) notify?.(`waiting for the lab of this machine ${forOperator(owner)}`);
    notifiedOwner = owner;
    await pause(secondsBetweenTries, signal);
    signal.throwIfAborted();
  }
}

const secondsBetweenTries = 2;

/** Omitted in reports to authors. */
const forOperator = (owner: string): string => `(process ${owner} uses it; Ctrl-C stops waiting)`;

export const withoutOperatorsPart = (line: string): string =>
  line.replace(/ \(process [^()]* uses it; Ctrl-C stops waiting\)/, '');

const ownerOf = async (path: string): Promise<string> =>
  (await readFile(path, 'utf8').catch(() => '')) || 'of another user';

async function isClaimed(path: string): Promise<boolean> {
  if (locks.has(path)) return true;
  await mkdir(dirname(path), { recursive: true });
  const lock = lockIfFree(`${path}.lock`);
  if (lock === undefined) return false;
  locks.set(path, lock);
  await writeFile(path, String(process.pid));
  return true;
}

export async function disclaim(path: string): Promise<void> {
  const lock = locks.get(path);
  if (lock === undefined) return;
  await rm(path, { force: true });
  locks.delete(path);
  lock[Symbol.dispose]();
}

export class LabInUseError extends Error {}
