// CPU time of a machine by CPU and state, as kern.cp_times counts it.

import type { Machine } from './machine.ts';
import { valueOfSysctl } from './sysctls.ts';

/** States of sys/resource.h in which the lab's machines spend time. */
type CpuState = 'user' | 'system' | 'interrupt' | 'idle';

/** Work from now on: its share of each CPU, from 0 to 1. */
type CpuDemand = { state: CpuState; shares: readonly number[] };

export type CpuTimes = {
  countedTo: number;
  /** Seconds since the boot, CPU by CPU. */
  readonly spent: Record<CpuState, number>[];
  /** By the source of the demand: a program, or the forwarded packets. */
  readonly demands: Map<object, CpuDemand>;
};

export const cpuTimesFrom = (countedTo: number): CpuTimes => ({
  countedTo,
  spent: [],
  demands: new Map(),
});

/** Changes the demand on the CPUs; undefined ends it. */
export function setDemand(machine: Machine, now: number, owner: object, demand: CpuDemand | undefined): void {
  countCpuTimes(machine, now);
  const { demands } = machine.cpuTimes;
  if (demand === undefined) demands.delete(owner);
  else demands.set(owner, demand);
}

export const cpusOf = ({ sysctls }: Machine): number => valueOfSysctl(sysctls, 'hw.ncpu');

/** stathz, see sys/kern/kern_clock.c. */
const ticksPerSecond = 127;

export const clockRate = `{ hz = 1000, tick = 1000, profhz = 8128, stathz = ${ticksPerSecond} }`;

/** User, nice, system, interrupt and idle ticks of each CPU. */
export function ticksOf(machine: Machine, now: number): number[][] {
  countCpuTimes(machine, now);
  return machine.cpuTimes.spent.map(({ user, system, interrupt, idle }) =>
    [user, 0, system, interrupt, idle].map((seconds) => Math.round(seconds * ticksPerSecond)),
  );
}

/** A CPU has only its own time. */
function countCpuTimes(machine: Machine, now: number): void {
  const { cpuTimes, busyCpus } = machine;
  const seconds = now - cpuTimes.countedTo;
  if (seconds <= 0) return;
  cpuTimes.countedTo = now;
  for (let cpu = 0; cpu < cpusOf(machine); cpu++) {
    const spent = cpuTimes.spent[cpu] ?? { user: 0, system: 0, interrupt: 0, idle: 0 };
    cpuTimes.spent[cpu] = spent;
    let left = 1;
    const spend = (state: CpuState, share: number) => {
      const taken = Math.min(left, Math.max(0, share));
      left -= taken;
      spent[state] += taken * seconds;
    };
    spend('user', busyCpus - cpu);
    for (const { state, shares } of cpuTimes.demands.values()) spend(state, shares[cpu] ?? 0);
    spend('idle', left);
  }
}
