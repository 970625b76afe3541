// One lab, one process: a lock that the kernel takes back from a process that ends, however it ends.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { lockIfFree } from '../../system/sqlite.ts';

/** Locks of this process, by path. */
const locks = new Map<string, Disposable>();

/** Makes this process the owner, whose number is then in the file; throws a LabInUseError when another one is. */
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

/** Lets others claim it; harmless where this process is not the owner. */
export async function disclaim(path: string): Promise<void> {
  const lock = locks.get(path);
  if (lock === undefined) return;
  await rm(path, { force: true });
  locks.delete(path);
  lock[Symbol.dispose]();
}

export class LabInUseError extends Error {}
