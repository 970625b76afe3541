// Finds outliers among the runs of a variant.
import type { Run } from '../../model/result.ts';
import { median } from './summary.ts';

/**
 * Counted runs with a modified z-score, 0.6745 · distance from the median / MAD, above 3.5 (Iglewicz and Hoaglin, How
 * to Detect and Handle Outliers, 1993). Distances are of logarithms from the median of the run's variant. The MAD spans
 * all variants, without one distance each, as the median of few runs is mostly one of them. Variants with fewer than
 * three runs have no outliers.
 */
export function runsApart(runs: readonly Run[]): Run[] {
  const counted = runs.filter((run) => run.validity.kind === 'valid' && run.pps > 0);
  const variants = Map.groupBy(counted, (run) => run.variant);
  const centers = new Map([...variants].map(([name, group]) => [name, median(group.map(logOf))]));
  const distanceOf = (run: Run) => Math.abs(logOf(run) - (centers.get(run.variant) ?? 0));
  const distances = counted.map(distanceOf).toSorted((a, b) => a - b);
  const deviation = Math.max(median(distances.slice(variants.size)), minDeviation);
  return counted.filter(
    (run) => (variants.get(run.variant)?.length ?? 0) >= 3 && 0.6745 * distanceOf(run) > 3.5 * deviation,
  );
}

const logOf = (run: Run): number => Math.log(run.pps);

/** Lower limit: if runs agree to the packet, a run that differs by 0.1 % is no outlier. */
const minDeviation = 0.0005;
