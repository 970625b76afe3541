// Reduces the runs of a cell to one number per trial.

import type { Metric } from '../../model/metric.ts';
import type { Run } from '../../model/result.ts';
import { median } from './summary.ts';

export const isCounted = ({ validity, pps }: Run): boolean => validity.kind === 'valid' && pps > 0;

export function trialNumbers(runs: readonly Run[], metric: Metric): number[] {
  const counted = runs.filter(isCounted);
  const trials = Map.groupBy(counted, (run) => `${run.trial}.${run.attempt}`);
  return [...trials.values()].flatMap((group) => {
    const values = group.flatMap((run) => run[metric] ?? []);
    return values.length > 0 ? [median(values)] : [];
  });
}
