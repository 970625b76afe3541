// One lab, one process: a file that names the process which uses the lab, and outlives no dead one.
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Makes this process the owner; throws when another living process is. */
export async function claim(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const self = (await identify(process.pid)) ?? '';
  while (!(await createWhole(path, self))) {
    const owner = await readFile(path, 'utf8').catch(() => '');
    if (owner === self) return;
    if (owner !== '' && (await isAlive(owner))) {
      const pid = owner.split(' ')[0];
      throw new LabInUseError(
        `The embedded lab is in use by process ${pid}: wait for it to end, or end it with 'kill ${pid}'.`,
      );
    }
    await rm(path, { force: true });
  }
}

/** Creates the file with its text in one step, so that nobody reads half of it; false where it exists. */
async function createWhole(path: string, text: string): Promise<boolean> {
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, text);
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(draft);
  }
}

export class LabInUseError extends Error {}

async function isAlive(owner: string): Promise<boolean> {
  return (await identify(Number(owner.split(' ')[0]))) === owner;
}

/** `pid starttime`: the start time, in ticks since boot, tells a process from a later one of the same number. */
async function identify(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // Field 22 of proc_pid_stat(5); the name in field 2 may itself hold spaces and parentheses.
  const startTime = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return startTime === undefined ? undefined : `${pid} ${startTime}`;
}
