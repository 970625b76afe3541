// Reads the windows of a trial, during the experiment and again later.
import { sum } from 'simple-statistics';
import { median } from '../../analysis/stats/summary.ts';
import { oneLine } from '../../model/one-line.ts';
import type { PlannedRun, PlannedTrial } from '../../model/planned-trial.ts';
import type { Run, Validity } from '../../model/result.ts';
import type { TrialOutcome } from '../testbed.ts';

export const windowsLogName = (pair: number): string => `windows-${pair}.log`;

export type VirtualLogs = ReadonlyMap<number, string>;

/** Groups the runs of a trial by pair: each pair has its own boots, of base and patched in parallel. */
export const pairsOf = ({ runs }: Pick<PlannedTrial, 'runs'>): [number, PlannedRun[]][] => [
  ...Map.groupBy(runs, ({ pair }) => pair),
];

/** Takes the median of a run's windows without the first, which fills caches of the guest and of QEMU. */
export function readVirtualLogs(
  planned: PlannedTrial,
  startedAt: string,
  packets: number,
  logs: VirtualLogs,
): TrialOutcome {
  const runs: Omit<Run, 'attempt'>[] = [];
  let trafficSeconds = 0;
  let sentPackets = 0;
  for (const [pair, pairRuns] of pairsOf(planned)) {
    const log = logs.get(pair);
    if (log === undefined) return { kind: 'failed', reason: `pair ${pair} was not measured` };
    const windows = windowsIn(log, packets);
    if (typeof windows === 'string') return { kind: 'failed', reason: windows };
    trafficSeconds += sum(windows.map(({ seconds }) => seconds));
    sentPackets += packets * windows.length;
    const stuck = stuckIn(log);
    const drops = dropsIn(log);
    for (const [index, run] of pairRuns.entries()) {
      const own = windows.filter(({ guest }) => guest === index + 1);
      const isStuck = stuck.has(index + 1);
      const measured = measuredRun(run, planned.number, isStuck ? own : own.slice(1), isStuck);
      const droppedBy = measured.pps === 0 ? drops.get(index + 1) : undefined;
      runs.push(droppedBy === undefined ? measured : { ...measured, droppedBy });
    }
  }
  const { number, cell } = planned;
  const offeredPps = trafficSeconds > 0 ? sentPackets / trafficSeconds : 0;
  return {
    kind: 'measured',
    runs,
    summary: { number, cell, startedAt, trafficSeconds, offeredPps },
  };
}

type Window = Run['samples'][number] & { guest: number };

/** Returns a sentence for an incomplete log. */
function windowsIn(log: string, packets: number): Window[] | string {
  const lines = log.trimEnd().split('\n');
  if (lines.pop() !== 'end') return 'the windows ended too early';
  const windows: Window[] = [];
  for (const line of lines.filter((one) => !stuckLine.test(one) && !droppedLine.test(one))) {
    const window = windowOf(line, packets);
    if (window === undefined) return `a window cannot be read: "${line.slice(0, 200)}"`;
    windows.push(window);
  }
  return windows;
}

const stuckLine = /^stuck ([1-9]\d{0,3})$/;
const droppedLine = /^dropped ([1-9]\d{0,3}) (.{1,1000})$/;
const windowLine = /^window [1-9]\d{0,3}(?: \d{1,15}(?:\.\d{1,6})? \d{1,15} (?:-|\d{1,15}) \d{1,18} \d{1,18}){2}$/;

/**
 * Reads ten numbers after the guest's number: twice time, packets, instructions, and the CPU's own time and waiting in
 * ns.
 */
function windowOf(line: string, receivedPackets: number): Window | undefined {
  if (!windowLine.test(line)) return undefined;
  const [guest, ...counts] = line.split(' ').slice(1);
  const before = counts.slice(0, 5).map(Number);
  const grown = counts.slice(5).map((text, index) => Number(text) - (before[index] ?? 0));
  const [seconds = 0, forwardedPackets = 0, instructions = 0, ran = 0, waited = 0] = grown;
  const isCounted = counts[2] !== '-';
  if (isCounted !== (counts[7] !== '-')) return undefined;
  const goesForward = [forwardedPackets, ran, waited, isCounted ? instructions : 0].every((one) => one >= 0);
  // A guest that forwards executes instructions.
  const isIdle = ran === 0 || (isCounted && instructions === 0);
  if (!(seconds > 0) || !goesForward || (forwardedPackets > 0 && isIdle)) return undefined;
  return {
    guest: Number(guest),
    seconds,
    receivedPackets,
    forwardedPackets,
    busySeconds: ran / 1e9,
    deniedSeconds: waited / 1e9,
    ...(isCounted && { instructions }),
  };
}

/** Guests that accepted no more packets, and so got no further windows. */
const stuckIn = (log: string): Set<number> =>
  new Set(
    log
      .split('\n')
      .flatMap((line) => stuckLine.exec(line)?.[1] ?? [])
      .map(Number),
  );

/** Adds the causes of drops in silent guests, by the guests' numbers. */
export function withDrops(log: string, drops: ReadonlyMap<number, string>): string {
  const lines = [...drops].map(([guest, text]) => `dropped ${guest} ${oneLine(text).slice(0, 1000)}\n`);
  return log.replace(/^end\s*$/m, () => `${lines.join('')}end\n`);
}

const dropsIn = (log: string): ReadonlyMap<number, string> =>
  new Map(
    log.split('\n').flatMap((line) => {
      const [, guest, text] = droppedLine.exec(line) ?? [];
      return text === undefined ? [] : [[Number(guest), text] as const];
    }),
  );

/** Guests that forwarded nothing in their last window, and may be dead. */
export function silentIn(log: string, packets: number): Set<number> {
  const windows = windowsIn(log, packets);
  const last = new Map<number, Window>();
  for (const window of typeof windows === 'string' ? [] : windows) last.set(window.guest, window);
  const silent = [...last.values()].filter(({ forwardedPackets }) => forwardedPackets === 0);
  return new Set([...stuckIn(log), ...silent.map(({ guest }) => guest)]);
}

/** Packets of all windows that were sent into each guest, and that came out, by its number; without stuck guests. */
export function endsIn(
  log: string,
  packets: number,
): ReadonlyMap<number, { sentPackets: number; countedPackets: number }> {
  const windows = windowsIn(log, packets);
  const byGuest = Map.groupBy(typeof windows === 'string' ? [] : windows, ({ guest }) => guest);
  const stuck = stuckIn(log);
  return new Map(
    [...byGuest].flatMap(([guest, own]) => {
      const ends = {
        sentPackets: sum(own.map(({ receivedPackets }) => receivedPackets)),
        countedPackets: sum(own.map(({ forwardedPackets }) => forwardedPackets)),
      };
      return stuck.has(guest) ? [] : [[guest, ends] as const];
    }),
  );
}

function measuredRun(
  planned: PlannedRun,
  trial: number,
  windows: readonly Window[],
  isStuck: boolean,
): Omit<Run, 'attempt'> {
  const samples = windows.map(({ guest: _, ...sample }) => sample);
  const through = samples.filter(({ forwardedPackets }) => forwardedPackets > 0);
  const isSilent = through.length === 0;
  const perPacket = through.flatMap(({ instructions, forwardedPackets }) =>
    instructions === undefined ? [] : instructions / forwardedPackets,
  );
  const nsPerPacket = through.map(({ busySeconds = 0, forwardedPackets }) => (busySeconds * 1e9) / forwardedPackets);
  const rates = samples.map(({ forwardedPackets, seconds }) => forwardedPackets / seconds);
  return {
    ...planned,
    trial,
    pps: isSilent ? 0 : median(rates),
    ...(!isSilent && { nsPerPacket: median(nsPerPacket) }),
    ...(perPacket.length > 0 && { instructionsPerPacket: median(perPacket) }),
    samples,
    validity: validityOf(samples, isStuck),
  };
}

/** Allows for the guest's own frames on the wire. */
const maxOwnRatio = 1.01;

/** A guest that forwards none of the packets sent to it counts with 0. */
function validityOf(windows: Run['samples'], isStuck: boolean): Validity {
  const invalid = (cause: 'too-short' | 'hole', reason: string): Validity => ({
    kind: 'invalid',
    cause,
    reason,
  });
  if (windows.length === 0) return invalid('too-short', 'no window was measured');
  const silent = windows.filter(({ forwardedPackets }) => forwardedPackets === 0).length;
  if (silent === windows.length) return { kind: 'valid' };
  if (isStuck) {
    return invalid('hole', `it accepted no more packets after window ${windows.length}`);
  }
  if (silent > 0) {
    return invalid('hole', `no packet was forwarded in ${silent} of ${windows.length} windows`);
  }
  const swollen = windows.find(
    ({ receivedPackets, forwardedPackets }) => forwardedPackets > receivedPackets * maxOwnRatio,
  );
  if (swollen === undefined) return { kind: 'valid' };
  const { receivedPackets: sent, forwardedPackets: came } = swollen;
  return invalid('hole', `more packets arrived than were sent: ${came} of ${sent}`);
}
