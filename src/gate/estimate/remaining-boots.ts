// What a bisection will take, before anything is built for it: by the noise that earlier experiments have met.
import type { Noise } from '../../analysis/stats/evidence.ts';
import { type Minutes, simulateBisect } from '../bisect/simulate-bisection.ts';

export type BisectForecast = {
  /** Standard deviation of a boot, as a ratio. */
  noiseRatio: number;
  /** Mean boots and minutes. */
  boots: number;
  minutes: number;
  /** The share of such bisections that name a commit or a few: small where the noise is too large. */
  answeredRatio: number;
};

type ForecastRequest = {
  /** Steps from good to bad that differ. */
  steps: number;
  /** The change that is looked for, as a ratio. */
  effect: number;
  history: Noise;
  mostBoots: number;
  minutes: Minutes;
};

/** Undefined where too little is known of the noise. Always the same for the same history. */
export function forecastBisect({
  steps,
  effect,
  history,
  ...rest
}: ForecastRequest): BisectForecast | undefined {
  if (history.degreesOfFreedom < fewestDegreesOfFreedom) return undefined;
  const noiseRatio = Math.sqrt(history.sumOfSquares / history.degreesOfFreedom);
  const row = simulateBisect({
    ...rest,
    noise: { kind: 'normal', cv: noiseRatio },
    commits: steps,
    effects: [effect],
    brokenRatio: 0,
    brokenInARow: 1,
    historyRuns: history.degreesOfFreedom + 1,
    experiments: 100,
    seed: 1,
  });
  return {
    noiseRatio,
    boots: row.meanBoots,
    minutes: row.meanMinutes,
    answeredRatio: row.namedRight + row.groupRight,
  };
}

const fewestDegreesOfFreedom = 4;
