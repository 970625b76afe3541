// Readings of a DUT's busiest CPU and drops, with what a test wants to be otherwise.
import { cellLimits } from '../../src/analysis/stats/cell-limits.ts';
import type { CellLimits, TrialLimits } from '../../src/model/limits.ts';

/** A trial that offered a million packets, and lost none. */
export const readings = (changes: Partial<TrialLimits> = {}): TrialLimits => ({
  offeredPackets: 1_000_000,
  receivedPackets: 1_000_000,
  busiestCpuRatio: 0.96,
  drops: [],
  ...changes,
});

export const losing = (packets: number, place: TrialLimits['drops'][number]['place'], cause: string): TrialLimits =>
  readings({ receivedPackets: 1_000_000 - packets, drops: [{ place, cause, packets }] });

/** Limits of three trials that are all alike. */
export function limitsOf(base: TrialLimits, patched: TrialLimits): CellLimits {
  const limits = cellLimits(new Array(3).fill({ limits: { base, patched } }));
  if (limits === undefined) throw new TypeError('nothing was offered');
  return limits;
}
