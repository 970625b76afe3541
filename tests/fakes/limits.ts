// Readings of a DUT's CPUs, queues and drops, with what a test wants to be otherwise.
import { cellLimits } from '../../src/analysis/stats/cell-limits.ts';
import type { CellLimits, TrialLimits } from '../../src/model/limits.ts';

/** A trial that offered a million packets to eight CPUs by eight queues, and lost none. */
export const readings = (changes: Partial<TrialLimits> = {}): TrialLimits => ({
  offeredPackets: 1_000_000,
  receivedPackets: 1_000_000,
  cpuBusyRatios: new Array<number>(8).fill(0.96),
  queues: queuesOf(new Array<number>(8).fill(125_000)),
  drops: [],
  stateTables: [],
  notUnderstood: [],
  ...changes,
});

export const queuesOf = (packets: readonly number[], device = 'cc0'): TrialLimits['queues'] =>
  packets.map((count, number) => ({ device, direction: 'receive', number, packets: count }));

export const losing = (
  packets: number,
  place: TrialLimits['drops'][number]['place'],
  cause: string,
  changes: Partial<TrialLimits> = {},
): TrialLimits =>
  readings({
    receivedPackets: 1_000_000 - packets,
    drops: [{ place, cause, packets }],
    ...changes,
  });

/** Limits of three trials that are all alike. */
export function limitsOf(base: TrialLimits, patched: TrialLimits): CellLimits {
  const limits = cellLimits(new Array(3).fill({ limits: { base, patched } }));
  if (limits === undefined) throw new TypeError('nothing was offered');
  return limits;
}

/** Patched keeps three of eight CPUs idle. */
export const fiveOfEight = readings({
  cpuBusyRatios: [0.97, 0.98, 0.97, 0.98, 0.97, 0.01, 0.02, 0.01],
  queues: queuesOf([200_000, 200_000, 200_000, 200_000, 200_000, 0, 0, 0]),
});
