// Checks that the machine has idle CPUs for the embedded lab before anything is measured.
import { type CpuInfo, cpus } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

/** Returns a warning if other programs use the CPUs that the lab needs. */
export async function busyWarning(): Promise<string | undefined> {
  const before = cpus();
  await wait(watchedMilliseconds);
  return warningOf(before, cpus());
}

const watchedMilliseconds = 1000;

/** One CPU for the sender, and one for the DUT. */
const wantedCpus = 2;
/** A quiet system with this program uses less. */
const minIdleRatio = 0.8;

export function warningOf(
  before: readonly Pick<CpuInfo, 'times'>[],
  after: readonly Pick<CpuInfo, 'times'>[],
): string | undefined {
  const shares = after.map(({ times }, index) => idleShare(before[index]?.times, times));
  const idle = shares.reduce((sum, share) => sum + share, 0);
  const wanted = Math.min(wantedCpus, shares.length);
  if (idle >= minIdleRatio * wanted) return undefined;
  const busy = Math.round((1 - idle / shares.length) * 100);
  return `this machine is busy: other programs use ${busy} % of its ${shares.length} CPUs, but the lab needs ${wanted}; stop them or wait, or the demo takes longer and may end without a verdict`;
}

type Times = CpuInfo['times'];

/** A CPU added since counts as idle. */
function idleShare(before: Times | undefined, after: Times): number {
  if (before === undefined) return 1;
  const total = totalOf(after) - totalOf(before);
  return total > 0 ? Math.min(1, Math.max(0, (after.idle - before.idle) / total)) : 1;
}

const totalOf = ({ user, nice, sys, idle, irq }: Times): number => user + nice + sys + idle + irq;
