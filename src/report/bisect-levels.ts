// Computes the levels between which a rate changed within a range of commits.

import { mean, sumNthPowerDeviations } from 'simple-statistics';
import { pooledNoise } from '../analysis/stats/evidence.ts';
import { criticalT } from '../analysis/stats/student.ts';
import { type BisectResult, bisectConfidenceRatio } from '../model/bisect-result.ts';
import { isMeasured, stepsOf } from './bisect-rows.ts';

/** The revisions from one index to another, which all forward at one rate. */
export type Level = {
  first: number;
  last: number;
  /** Geometric mean of all that was measured of them, in the metric's unit, and the interval that holds it. */
  value: number;
  low: number;
  high: number;
};

/**
 * The levels in the order of commits; of an answer without a step good's and bad's own. Their interval is Student's, of natural
 * logarithms, with a variance pooled over all levels and the history; without any it has no width.
 */
export function levelsOf(result: BisectResult): Level[] {
  const groups = segmentsOf(result)
    .map(([first, last]) => ({ first, last, logs: logsOf(result, first, last) }))
    .filter(({ logs }) => logs.length > 0);
  const own = {
    sumOfSquares: groups.reduce((sum, { logs }) => sum + sumNthPowerDeviations(logs, 2), 0),
    degreesOfFreedom: groups.reduce((sum, { logs }) => sum + logs.length - 1, 0),
  };
  const { history = { sumOfSquares: 0, degreesOfFreedom: 0 } } = result;
  const { sumOfSquares, degreesOfFreedom } = pooledNoise(own, history);
  const reachOfOne =
    degreesOfFreedom > 0
      ? criticalT(degreesOfFreedom, (1 - bisectConfidenceRatio) / 2) *
        Math.sqrt(sumOfSquares / degreesOfFreedom)
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

const logsOf = ({ revisions }: BisectResult, first: number, last: number): number[] =>
  revisions
    .slice(first, last + 1)
    .flatMap(({ forms }) => forms.filter(isMeasured).flatMap(({ values }) => values))
    .filter((value) => value > 0)
    .map(Math.log);
