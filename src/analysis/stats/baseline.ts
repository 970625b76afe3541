// Tests whether the base of an experiment still matches its history.
import { mean, sumNthPowerDeviations } from 'simple-statistics';
import type { Baseline, History } from '../../model/result.ts';
import { criticalT } from './student.ts';
import { changeOf } from './summary.ts';

/**
 * Returns the level for one false alarm in a hundred experiments. A single run needs a stricter level, as noise has
 * heavy tails.
 */
const levelOf = (runs: number): number => (runs === 1 ? 0.001 : 0.005);

/**
 * Applies Student's test to the base's numbers (one per trial) and the sessions since its last change, on logarithms.
 * Sessions of one base differ by more than their runs explain, so the error has the variance of their means. Unknown
 * with fewer than three sessions (ten for a single run).
 */
export function baselineOf(base: readonly number[], history: History | undefined): Baseline {
  const means = history?.sessionMeans;
  const enough = base.length === 1 ? 9 : 2;
  if (!history || !means || means.degreesOfFreedom < enough || base.length === 0) {
    return { kind: 'unknown' };
  }
  const logs = base.map(Math.log);
  const effect = mean(logs) - Math.log(history.typical);
  const ofRuns = varianceOf(
    history.sumOfSquares + sumNthPowerDeviations(logs, 2),
    history.degreesOfFreedom + base.length - 1,
  );
  const ofMeans = varianceOf(means.sumOfSquares, means.degreesOfFreedom);
  const runsPerSession = history.typicalRuns / means.sinceMove;
  const ofSessions = Math.max(0, ofMeans - ofRuns / runsPerSession);
  const error = Math.sqrt(
    ofSessions * (1 + 1 / means.sinceMove) + ofRuns * (1 / base.length + 1 / history.typicalRuns),
  );
  const reach = criticalT(means.degreesOfFreedom, levelOf(base.length)) * error;
  const interval = {
    change: changeOf(effect),
    low: changeOf(effect - reach),
    high: changeOf(effect + reach),
  };
  return { kind: Math.abs(effect) > reach + rounding ? 'moved' : 'steady', interval };
}

const varianceOf = (sumOfSquares: number, degreesOfFreedom: number): number =>
  degreesOfFreedom === 0 ? 0 : sumOfSquares / degreesOfFreedom;

/** If all runs agree to the packet, the reach is zero, except for the rounding of logarithms. */
const rounding = 1e-12;
