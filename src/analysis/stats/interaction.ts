// Tests whether base and patched differ alike in every trial, as the paired method assumes.
import { gammaln, mean, sum, sumNthPowerDeviations } from 'simple-statistics';
import type { Metric } from '../../model/metric.ts';
import type { CellResult } from '../../model/result.ts';
import { validPairs } from './interim-result.ts';
import { betaFraction } from './student.ts';

export type Interaction = {
  f: number;
  degreesOfFreedom: readonly [number, number];
  /** P(F > f) if variant and trial do not interact. */
  probability: number;
};

/**
 * F of the interaction of variant and trial: one-way analysis of variance of the logarithms of patched over base, by
 * trial. Undefined for single runs per trial, which say nothing about it, and if all pairs of a trial are equal.
 */
export function interactionOf({ runs }: CellResult, metric: Metric): Interaction | undefined {
  const pairs = validPairs(runs).flatMap(({ base, patched }) => {
    const [from, to] = [base[metric], patched[metric]];
    return from && to ? { trial: base.trial, log: Math.log(to / from) } : [];
  });
  const trials = [...Map.groupBy(pairs, ({ trial }) => trial).values()].map((own) => own.map(({ log }) => log));
  const between = trials.length - 1;
  const within = pairs.length - trials.length;
  if (between < 1 || within < 1) return undefined;
  const center = mean(pairs.map(({ log }) => log));
  const squares = sum(trials.map((own) => own.length * (mean(own) - center) ** 2));
  const error = sum(trials.map((own) => sumNthPowerDeviations(own, 2)));
  if (error === 0) return undefined;
  const f = squares / between / (error / within);
  return { f, degreesOfFreedom: [between, within], probability: fTail(f, between, within) };
}

/** P(F > f): a regularized incomplete beta function (DLMF 8.17), by the fraction that converges fast. */
function fTail(f: number, between: number, within: number): number {
  const [a, b] = [within / 2, between / 2];
  const x = within / (within + between * f);
  const logBeta = gammaln(a) + gammaln(b) - gammaln(a + b);
  const factor = Math.exp(a * Math.log(x) + b * Math.log1p(-x) - logBeta);
  return x < (a + 1) / (a + b + 2)
    ? (factor / a) * betaFraction(x, a, b)
    : 1 - (factor / b) * betaFraction(1 - x, b, a);
}
