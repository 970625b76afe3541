// Tests whether the base of an experiment still matches its history.
import { mean, sumNthPowerDeviations } from 'simple-statistics';
import type { Baseline, History } from '../../model/result.ts';
import { criticalT } from './student.ts';

/** False alarms: one experiment in a hundred. A single run needs a stricter level, as noise has heavy tails. */
const levelOf = (runs: number): number => (runs === 1 ? 0.001 : 0.005);

/**
 * Student's test of the base's numbers (one per trial) against the runs since its last move, on logarithms with pooled
 * noise; unknown with too few of either, and where neither has a spread.
 */
export function baselineOf(base: readonly number[], history: History | undefined): Baseline {
  const enough = base.length === 1 ? 10 : 3;
  if (history === undefined || history.typicalRuns < enough || base.length === 0) {
    return { kind: 'unknown' };
  }
  const logs = base.map(Math.log);
  const degreesOfFreedom = history.degreesOfFreedom + base.length - 1;
  if (degreesOfFreedom === 0) return { kind: 'unknown' };
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

/** If all runs agree to the packet, the reach is zero except for the rounding of logarithms. */
const rounding = 1e-12;
