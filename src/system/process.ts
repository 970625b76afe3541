// Identifies a process after its parent has ended. Its start time tells reused process ids apart.
import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { z } from 'zod';
import * as bounded from '../model/bounds.ts';

/** Leader of a process group, with its start time as printed on this machine. */
export const leaderSchema = z.object({ pid: bounded.id, started: bounded.word });

export type GroupLeader = z.infer<typeof leaderSchema>;

/** False for a zombie, too. */
export const isRunning = async ({ pid, started }: GroupLeader): Promise<boolean> => (await startOf(pid)) === started;

export async function signalGroup(leader: GroupLeader, name: NodeJS.Signals): Promise<boolean> {
  if (!(await isRunning(leader))) return false;
  try {
    return process.kill(-leader.pid, name);
  } catch {
    return false;
  }
}

/** Start time of the process, as `platform` prints it; undefined if there is none. */
export function startOf(pid: number, platform = process.platform): Promise<string | undefined> {
  return platform === 'linux' ? startInProc(pid) : startByPs(pid);
}

/** Reads the kernel's own clock: ps(1) derives start times from the wall clock, which can be changed. */
async function startInProc(pid: number): Promise<string | undefined> {
  const found = await inProc(pid);
  return found === undefined || found.isZombie ? undefined : `${found.ticks} after boot ${await bootId()}`;
}

const bootId = async (): Promise<string> => (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();

type ProcStat = { isZombie: boolean; ticks: string };

/** Undefined if it is unreadable. */
async function inProc(pid: number): Promise<ProcStat | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return undefined;
  // proc_pid_stat(5): the name in parentheses may hold any character; state is field 3, start time field 22.
  const [state = '', ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = rest[18];
  return ticks === undefined ? undefined : { isZombie: 'ZX'.includes(state), ticks };
}

async function startByPs(pid: number): Promise<string | undefined> {
  const ps = promisify(execFile)('ps', ['-o', 'stat=,lstart=', '-p', String(pid)]);
  // ps(1) exits with 1 for an unknown process.
  const { stdout } = await ps.catch(() => ({ stdout: '' }));
  const [, state = 'Z', started] = /^\s*(\S)\S*\s+(.+?)\s*$/.exec(stdout) ?? [];
  return state === 'Z' ? undefined : started;
}

/**
 * A process, with the context in which its id has a meaning: a boot of the kernel, and namespaces of ids and clocks.
 */
export const processMarkSchema = z.object({
  pid: bounded.id,
  ticks: bounded.word,
  view: bounded.word,
});

export type ProcessMark = z.infer<typeof processMarkSchema>;

export type ProcessView = {
  own: ProcessMark;
  /** True only if the end is certain; false for a process of another context. */
  hasEnded(mark: ProcessMark): Promise<boolean>;
};

/** Undefined if an end is never certain: on any system but Linux, and if /proc is of another namespace. */
export async function openProcessView(): Promise<ProcessView | undefined> {
  try {
    if ((await readlink('/proc/self')) !== String(process.pid)) return undefined;
    const found = await inProc(process.pid);
    if (found === undefined) return undefined;
    const names = ['pid', 'time'].map((name) => readlink(`/proc/self/ns/${name}`));
    const view = [await bootId(), ...(await Promise.all(names))].join(' ');
    return {
      own: { pid: process.pid, ticks: found.ticks, view },
      hasEnded: async (mark) => mark.view === view && (await isOver(mark)),
    };
  } catch {
    return undefined;
  }
}

async function isOver({ pid, ticks }: ProcessMark): Promise<boolean> {
  if (!hasId(pid)) return true;
  const found = await inProc(pid);
  return found !== undefined && (found.isZombie || found.ticks !== ticks);
}

/** /proc may hide processes of other users; signal 0 finds them. */
function hasId(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
