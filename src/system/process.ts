// Identifies a process after its parent has ended; start times distinguish reused process ids.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import * as bounded from '../model/bounds.ts';

/** A process group's leader, with its start time as this machine prints it. */
export const leaderSchema = z.object({ pid: bounded.id, started: bounded.word });

export type GroupLeader = z.infer<typeof leaderSchema>;

/** Also false for a zombie. */
export const isRunning = async ({ pid, started }: GroupLeader): Promise<boolean> =>
  (await startOf(pid)) === started;

export async function signalGroup(leader: GroupLeader, name: NodeJS.Signals): Promise<boolean> {
  if (!(await isRunning(leader))) return false;
  try {
    return process.kill(-leader.pid, name);
  } catch {
    return false;
  }
}

/** Start time of the process as `platform` prints it; undefined if none runs. */
export function startOf(pid: number, platform = process.platform): Promise<string | undefined> {
  return platform === 'linux' ? startInProc(pid) : startByPs(pid);
}

/** Reads the kernel's own clock: ps(1) computes start times from the wall clock, which may be set meanwhile. */
async function startInProc(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  const boot = await readFile('/proc/sys/kernel/random/boot_id', 'utf8');
  // proc_pid_stat(5): the name, in parentheses, may hold any character; the state is the 3rd field, the start the 22nd.
  const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return 'ZX'.includes(state) ? undefined : `${rest[18]} after boot ${boot.trim()}`;
}

async function startByPs(pid: number): Promise<string | undefined> {
  const ps = promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]);
  // ps(1) exits with 1 for an unknown process.
  const { stdout } = await ps.catch(() => ({ stdout: '' }));
  const [, state = 'Z', started] = /^\s*(\S)\S*\s+(.+?)\s*$/.exec(stdout) ?? [];
  return state === 'Z' ? undefined : started;
}
