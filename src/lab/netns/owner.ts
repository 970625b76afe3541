// Allows one process a lab: with a lock that the kernel releases when the process ends.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { lockIfFree } from '../../system/sqlite.ts';

const locks = new Map<string, Disposable>();

/** Makes this process the owner, and writes its id to the file; throws a LabInUseError where another process is. */
export async function claim(path: string): Promise<void> {
  if (locks.has(path)) return;
  await mkdir(dirname(path), { recursive: true });
  const lock = lockIfFree(`${path}.lock`);
  if (lock === undefined) {
    const pid = await readFile(path, 'utf8').catch(() => 'of another user');
    throw new LabInUseError(
      `The lab of this machine is in use by process ${pid}: wait for it to end, or end it with 'kill ${pid}'.`,
    );
  }
  locks.set(path, lock);
  await writeFile(path, String(process.pid));
}

export async function disclaim(path: string): Promise<void> {
  const lock = locks.get(path);
  if (lock === undefined) return;
  await rm(path, { force: true });
  locks.delete(path);
  lock[Symbol.dispose]();
}

export class LabInUseError extends Error {}
