// Knows a process of this machine again after we were not its parent any more, though its number may be another's by then.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { z } from 'zod';

/** The leader of a process group, and when it started as this machine tells it. */
export const leaderSchema = z.object({ pid: z.int().positive(), started: z.string() });

export type GroupLeader = z.infer<typeof leaderSchema>;

/** False also for one that has ended, and that nobody has asked how. */
export const isRunning = async ({ pid, started }: GroupLeader): Promise<boolean> =>
  (await startOf(pid)) === started;

/** Sends its whole group a signal; false where it does not run any more. */
export async function signalGroup(leader: GroupLeader, name: NodeJS.Signals): Promise<boolean> {
  if (!(await isRunning(leader))) return false;
  try {
    return process.kill(-leader.pid, name);
  } catch {
    return false;
  }
}

/** When the process of this number started, in the words of `platform`; undefined where none runs. */
export function startOf(pid: number, platform = process.platform): Promise<string | undefined> {
  return platform === 'linux' ? startInProc(pid) : startByPs(pid);
}

/** Reads the kernel's own clock: ps(1) calculates with the time of day there, which may be set meanwhile. */
async function startInProc(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  // proc_pid_stat(5): the name, in parentheses, holds any character; the state is the 3rd field, the start the 22nd.
  const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return 'ZX'.includes(state) ? undefined : `${rest[18]} after boot ${boot.trim()}`;
}

async function startByPs(pid: number): Promise<string | undefined> {
  const ps = promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]);
  // It exits with 1 where there is none.
  const { stdout } = await ps.catch(() => ({ stdout: '' }));
  const [, state = 'Z', started] = /^\s*(\S)\S*\s+(.+?)\s*$/.exec(stdout) ?? [];
  return state === 'Z' ? undefined : started;
}
