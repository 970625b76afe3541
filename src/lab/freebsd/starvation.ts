// Detects a FreeBSD guest whose host gave its CPUs to something else during a trial.
import { z } from 'zod';
import type { TrialSummary } from '../../model/result.ts';
import { type Command, commandText, shell } from '../../system/shell.ts';
import { cpuTimesCommand, interruptsCommand, parseCpuTimes } from './dut/counters.ts';
import type { CommandOutputs } from './dut/setting.ts';

/** `kern.vm_guest` is "none" on bare metal. */
const clock = shell`sysctl -n kern.vm_guest kern.clockrate`;

export const starvationCommands: readonly Command[] = [clock, cpuTimesCommand, interruptsCommand];

/** Finds the machine that waited longest for its host, if the wait spoils a trial; reads outputs by machine name. */
export function starvationBetween(
  before: ReadonlyMap<string, CommandOutputs>,
  after: ReadonlyMap<string, CommandOutputs>,
): TrialSummary['starvation'] {
  const [worst] = [...after]
    .map(([machine, outputs]) => ({
      machine,
      deniedRatio: deniedRatio(before.get(machine) ?? new Map(), outputs) ?? 0,
    }))
    .sort((a, b) => b.deniedRatio - a.deniedRatio);
  return worst !== undefined && worst.deniedRatio >= minDeniedRatio ? worst : undefined;
}

/** Guests on an otherwise idle host reach 0.14. */
const minDeniedRatio = 0.2;

/**
 * The largest share of time, from 0 to 1, for which a busy CPU of a guest waited for its host between two readings;
 * undefined on bare metal, or if no CPU was busy or a reading is missing.
 * kern.cp_times hides it: handleevents() of sys/kern/kern_clocksource.c makes up for missed ticks. It does so with one
 * interrupt, so a busy CPU gets fewer than hz + stathz timer interrupts a second. A guest of FreeBSD 13.2 that was
 * stopped for half of the time (by 5, 30 and 200 ms) showed 0.46, 0.58 and 0.51; one of 14.2 on an otherwise idle host
 * at most 0.14.
 */
export function deniedRatio(before: CommandOutputs, after: CommandOutputs): number | undefined {
  const rates = parseClock(after.get(commandText(clock)) ?? '');
  const [earlier, later] = [before, after].map((outputs) => ({
    cpus: parseCpuTimes(outputs.get(commandText(cpuTimesCommand)) ?? ''),
    timers: parseTimers(outputs.get(commandText(interruptsCommand)) ?? ''),
  }));
  if (rates === undefined || earlier === undefined || later === undefined) return undefined;
  const denied = later.cpus.flatMap((cpu, index) => {
    const start = earlier.cpus[index];
    const interrupts = (later.timers.get(index) ?? NaN) - (earlier.timers.get(index) ?? NaN);
    if (start === undefined || !(interrupts >= 0)) return [];
    const [busy, idle] = [cpu.busy - start.busy, cpu.idle - start.idle];
    const isAtWork = busy >= minBusyRatio * (busy + idle) && idle >= 0;
    if (!isAtWork || busy < minBusySeconds * rates.stathz) return [];
    const expected = (busy / rates.stathz) * (rates.hz + rates.stathz);
    return Math.max(0, 1 - interrupts / expected);
  });
  return denied.length === 0 ? undefined : Math.max(...denied);
}

/** An idle CPU skips its ticks. */
const minBusyRatio = 0.5;
const minBusySeconds = 2;

const clockRates = z.object({
  hz: z.coerce.number().int().min(1).max(1e5),
  stathz: z.coerce.number().int().min(1).max(1e5),
});

/** Reads `generic\n{ hz = 100, tick = 10000, profhz = 8128, stathz = 127 }`; undefined on bare metal and for other text. */
function parseClock(text: string): z.infer<typeof clockRates> | undefined {
  const [, guest, hz, stathz] = /^(\w{1,40})\n\{ hz = (\d{1,6}),.{0,80} stathz = (\d{1,6}) \}\s*$/.exec(text) ?? [];
  if (guest === undefined || guest === 'none') return undefined;
  return clockRates.safeParse({ hz, stathz }).data;
}

/** Reads rows of `vmstat -i` such as `cpu0:timer   4243   148`, by CPU. */
function parseTimers(text: string): Map<number, number> {
  const rows = text.matchAll(/^cpu(\d{1,4}):timer +(\d{1,15}) /gm);
  return new Map([...rows].map(([, cpu, total]) => [Number(cpu), Number(total)]));
}
