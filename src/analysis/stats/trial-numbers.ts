// What trials measured of a cell, one number each.
import type { Metric, Run } from '../../model/result.ts';
import { median } from './summary.ts';

/** Whether a run tells how fast its variant is. */
export const isCounted = ({ validity, pps }: Run): boolean => validity.kind === 'valid' && pps > 0;

/** One number a trial of the runs that count: the median of those that share it. */
export function trialNumbers(runs: readonly Run[], metric: Metric): number[] {
  const counted = runs.filter(isCounted);
  const trials = Map.groupBy(counted, (run) => `${run.trial}.${run.attempt}`);
  return [...trials.values()].flatMap((group) => {
    const values = group.flatMap((run) => run[metric] ?? []);
    return values.length > 0 ? [median(values)] : [];
  });
}
