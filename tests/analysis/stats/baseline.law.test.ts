// Measures the false alarms of a base that stayed, in simulated sessions.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { mean, sum, sumNthPowerDeviations } from 'simple-statistics';
import { expect, test } from 'vitest';
import { standardNormal } from '../../../bench/normal.ts';
import { baselineOf } from '../../../src/analysis/stats/baseline.ts';
import type { History } from '../../../src/model/result.ts';

test.for([0, 0.5, 1])(
  'a base that stayed is called moved in at most one session of a hundred where sessions differ by %s times a run',
  (ratio) => {
    const random = xoroshiro128plus(4);
    const session = (): number[] => {
      const center = 0.01 * ratio * standardNormal(random);
      return Array.from({ length: 4 }, () => center + 0.01 * standardNormal(random));
    };
    const trials = 20_000;
    let moved = 0;
    for (let trial = 0; trial < trials; trial++) {
      const earlier = Array.from({ length: 8 }, session);
      const means = earlier.map((own) => mean(own));
      const told: History = {
        runs: 32,
        typical: Math.exp(mean(means)),
        typicalRuns: 32,
        sumOfSquares: sum(earlier.map((own) => sumNthPowerDeviations(own, 2))),
        degreesOfFreedom: 24,
        sessionMeans: {
          sinceMove: 8,
          sumOfSquares: sumNthPowerDeviations(means, 2),
          degreesOfFreedom: 7,
        },
      };
      if (baselineOf(session().map(Math.exp), told).kind === 'moved') moved++;
    }
    const chance = 4 * Math.sqrt((0.01 * 0.99) / trials);
    expect(moved / trials).toBeLessThan(0.01 + chance);
  },
);
