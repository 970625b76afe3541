// Reduces the readings of a cell's trials to medians of base and patched.
import { sum } from 'simple-statistics';
import { type CellLimits, maxDrops, type TrialLimits, type VariantLimits } from '../../model/limits.ts';
import type { Result, TrialSummary } from '../../model/result.ts';
import { cellName } from '../../model/scenario.ts';
import { median } from './summary.ts';

/** Adds the limits of every judged cell, and replaces existing ones. */
export function withLimits(result: Result): Result {
  const { outcome, trials } = result;
  if (outcome.kind !== 'judged') return result;
  const byCell = Map.groupBy(trials, ({ cell }) => cellName(cell));
  const cells = outcome.cells.map(({ limits: _, ...cell }) => {
    const limits = cellLimits(byCell.get(cellName(cell.cell)) ?? []);
    return { ...cell, ...(limits && { limits }) };
  });
  return { ...result, outcome: { ...outcome, cells } };
}

/** Returns undefined unless both base and patched have readings in `trials`, which are of one cell. */
export function cellLimits(trials: readonly Pick<TrialSummary, 'limits'>[]): CellLimits | undefined {
  const [base, patched] = ['base', 'patched'].map((variant) => {
    const readings = trials.flatMap(({ limits }) => limits?.[variant] ?? []);
    return variantLimits(readings.filter(({ offeredPackets }) => offeredPackets > 0));
  });
  return base && patched && { base, patched };
}

function variantLimits(readings: readonly TrialLimits[]): VariantLimits | undefined {
  if (readings.length === 0) return undefined;
  const busiest = readings.flatMap(({ busiestCpuRatio }) => busiestCpuRatio ?? []);
  const drops = Map.groupBy(
    readings.flatMap((one) => one.drops),
    ({ place, cause }) => JSON.stringify([place, cause]),
  );
  return {
    lostRatio: Math.max(
      -1000,
      median(readings.map(({ offeredPackets, receivedPackets }) => 1 - receivedPackets / offeredPackets)),
    ),
    ...(busiest.length > 0 && { busiestCpuRatio: median(busiest) }),
    drops: [...drops.values()]
      .flatMap(([drop]) => {
        if (drop === undefined) return [];
        const { place, cause } = drop;
        const ratios = readings.map((one) => {
          const own = one.drops.filter((other) => other.place === place && other.cause === cause);
          return sum(own.map(({ packets }) => packets)) / one.offeredPackets;
        });
        return { place, cause, ratio: median(ratios) };
      })
      .filter(({ ratio }) => ratio > 0)
      .toSorted((a, b) => b.ratio - a.ratio)
      .slice(0, maxDrops),
  };
}
