// Runs that stand apart from the others of their variant.
import type { Run } from '../../model/result.ts';
import { median } from './summary.ts';

/**
 * Runs that count and whose modified z-score, 0.6745 · distance from the median / MAD, is above 3.5 (Iglewicz and
 * Hoaglin, How to Detect and Handle Outliers, 1993). Distances are taken on logarithms from the median of the run's
 * own variant, their MAD over all variants, without one distance for each: a median of a few runs is mostly one of them,
 * at no distance. A variant with fewer than three runs has no run that stands apart.
 */
export function runsApart(runs: readonly Run[]): Run[] {
  const counted = runs.filter((run) => run.validity.kind === 'valid' && run.pps > 0);
  const variants = Map.groupBy(counted, (run) => run.variant);
  const centers = new Map([...variants].map(([name, group]) => [name, median(group.map(logOf))]));
  const distanceOf = (run: Run) => Math.abs(logOf(run) - (centers.get(run.variant) ?? 0));
  const distances = counted.map(distanceOf).toSorted((a, b) => a - b);
  const deviation = Math.max(median(distances.slice(variants.size)), leastDeviation);
  return counted.filter(
    (run) =>
      (variants.get(run.variant)?.length ?? 0) >= 3 && 0.6745 * distanceOf(run) > 3.5 * deviation,
  );
}

const logOf = (run: Run): number => Math.log(run.pps);

/** Runs that agree to the last packet do not make one that differs by 0.1 % stand apart. */
const leastDeviation = 0.0005;
