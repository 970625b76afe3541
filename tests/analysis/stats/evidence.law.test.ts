// Measures how often bounds leave out the truth, in simulated experiments.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { sumNthPowerDeviations } from 'simple-statistics';
import { describe, expect, test } from 'vitest';
import { standardNormal } from '../../../bench/normal.ts';
import {
  boundsOf,
  type Evidence,
  type Measurement,
  moderated,
  pairedEvidence,
  pooledEvidence,
} from '../../../src/analysis/stats/evidence.ts';

describe('the truth is below and above the bounds as often as requested, if', () => {
  const truth = -0.03;
  const noisy = (count: number, change: number, random: RandomGenerator): number[] =>
    Array.from({ length: count }, () => 8e5 * Math.exp(change + 0.02 * standardNormal(random)));

  /** Boots in ABBAs that drift by so much a trial; earlier sessions have four degrees of freedom together. */
  const bootsOf = (count: number, drift: number) => (random: RandomGenerator) => {
    const earlier = noisy(5, 0, random).map(Math.log);
    const prior = moderated({
      sumOfSquares: sumNthPowerDeviations(earlier, 2),
      degreesOfFreedom: 4,
    });
    const drifting = (isPatched: boolean): Measurement[] =>
      noisy(count, isPatched ? truth : 0, random).map((value, index) => {
        const trial = 2 * index + ((index % 2 === 0) === isPatched ? 2 : 1);
        return { value: value * Math.exp(drift * trial), trial };
      });
    return pooledEvidence(drifting(false), drifting(true), prior);
  };
  const neighbours = (count: number) => (random: RandomGenerator) =>
    pairedEvidence(
      noisy(count, 0, random).map((base) => {
        const spell = Math.exp(0.3 * standardNormal(random));
        const [patched = 0] = noisy(1, truth, random);
        return { base: base * spell, patched: patched * spell };
      }),
    );

  test.for<[string, (random: RandomGenerator) => Evidence, number]>([
    ['two boots of each come after five', bootsOf(2, 0), 0.025],
    ['five boots of each come after five', bootsOf(5, 0), 0.005],
    ['three boots of each drift by a deviation a trial', bootsOf(3, 0.02), 0.025],
    ['twelve neighbours are slowed by spells of a third', neighbours(12), 0.025],
  ])('%s', ([, draw, sure]) => {
    const random = xoroshiro128plus(2026);
    const experiments = 8000;
    let [below, above] = [0, 0];
    for (let experiment = 0; experiment < experiments; experiment++) {
      const { low, high } = boundsOf(draw(random), sure);
      if (truth < low) below++;
      if (truth > high) above++;
    }
    const chance = 4 * Math.sqrt(sure / experiments);
    for (const share of [below, above].map((count) => count / experiments)) {
      expect(share).toBeGreaterThan(0.9 * sure - chance);
      expect(share).toBeLessThan(sure + chance);
    }
  });
});
