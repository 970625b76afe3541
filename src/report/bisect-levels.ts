// Computes the levels between changes in a range of commits.

import { mean, sumNthPowerDeviations } from 'simple-statistics';
import { moderated, noNoise, sumOf } from '../analysis/stats/evidence.ts';
import { criticalT } from '../analysis/stats/student.ts';
import { type BisectResult, type BisectRevision, bisectConfidenceRatio } from '../model/bisect-result.ts';
import { numbersOf } from './bisect-numbers.ts';
import { stepsOf } from './bisect-rows.ts';

/** Revisions with one rate, by index. */
export type Level = {
  first: number;
  last: number;
  /** Geometric mean of their numbers with its interval: in the metric's unit, or as a ratio to good. */
  value: number;
  low: number;
  high: number;
};

/**
 * Returns levels in the order of commits; without a change, those of good and bad. The interval is Student's, on
 * natural logarithms, with a variance pooled over all levels and the history; without such a variance it has no width.
 */
export function levelsOf(result: BisectResult): Level[] {
  const { revisions } = result;
  const numbers = numbersOf(result);
  const logsOf = (own: readonly BisectRevision[]) =>
    own
      .flatMap(({ forms }) => forms.flatMap(numbers))
      .filter((value) => value > 0)
      .map(Math.log);
  const groups = segmentsOf(result)
    .map(([first, last]) => ({ first, last, logs: logsOf(revisions.slice(first, last + 1)) }))
    .filter(({ logs }) => logs.length > 0);
  const own = {
    sumOfSquares: groups.reduce((sum, { logs }) => sum + sumNthPowerDeviations(logs, 2), 0),
    degreesOfFreedom: groups.reduce((sum, { logs }) => sum + logs.length - 1, 0),
  };
  const { sumOfSquares, degreesOfFreedom } = sumOf(own, result.isShared ? noNoise : moderated(result.history));
  const reachOfOne =
    degreesOfFreedom > 0
      ? criticalT(degreesOfFreedom, (1 - bisectConfidenceRatio) / 2) * Math.sqrt(sumOfSquares / degreesOfFreedom)
      : 0;
  return groups.map(({ first, last, logs }) => {
    const [middle, reach] = [mean(logs), reachOfOne / Math.sqrt(logs.length)];
    return {
      first,
      last,
      value: Math.exp(middle),
      low: Math.exp(middle - reach),
      high: Math.exp(middle + reach),
    };
  });
}

function segmentsOf({ answer, revisions }: BisectResult): [number, number][] {
  const end = revisions.length - 1;
  const isSplit = ['culprit', 'group', 'several'].includes(answer.kind);
  if (!isSplit) {
    return [
      [0, 0],
      [end, end],
    ];
  }
  const steps = stepsOf(answer).toSorted((a, b) => a.after - b.after);
  const firsts = [0, ...steps.map(({ last }) => last)];
  const lasts = [...steps.map(({ after }) => after), end];
  return firsts.flatMap((first, index): [number, number][] => {
    const last = lasts[index] ?? end;
    return first <= last ? [[first, last]] : [];
  });
}
