// Whether the base of an experiment is still what its history says.
import { mean, sumNthPowerDeviations } from 'simple-statistics';
import type { Baseline, History } from '../../model/result.ts';
import { criticalT } from './student.ts';

/**
 * A base that stayed is called moved in one experiment of a hundred. A single run has to be as far off as one in five
 * hundred is by Student's law: more of them are, as noise has heavy tails.
 */
const levelOf = (runs: number): number => (runs === 1 ? 0.001 : 0.005);

/**
 * Student's test of the base's numbers (one a trial) against the runs since it last moved, on logarithms and with
 * the pooled noise of both; unknown where there are too few of either. A single number takes a history that tells its noise.
 */
export function baselineOf(base: readonly number[], history: History | undefined): Baseline {
  const enough = base.length === 1 ? 10 : 3;
  if (history === undefined || history.typicalRuns < enough || base.length === 0) {
    return { kind: 'unknown' };
  }
  const logs = base.map(Math.log);
  const degreesOfFreedom = history.degreesOfFreedom + base.length - 1;
  const variance = (history.sumOfSquares + sumNthPowerDeviations(logs, 2)) / degreesOfFreedom;
  const effect = mean(logs) - Math.log(history.typical);
  const error = Math.sqrt(variance * (1 / base.length + 1 / history.typicalRuns));
  const reach = criticalT(degreesOfFreedom, levelOf(base.length)) * error;
  const interval = {
    change: Math.expm1(effect),
    low: Math.expm1(effect - reach),
    high: Math.expm1(effect + reach),
  };
  return { kind: Math.abs(effect) > reach + rounding ? 'moved' : 'steady', interval };
}

/** Where all runs agree to the last packet the reach is zero, but not what logarithms have lost of their digits. */
const rounding = 1e-12;
