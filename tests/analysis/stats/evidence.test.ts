// Evidence of runs for a change: neighbours by ranks, boots by Student's test, both in logarithms.
import fc from 'fast-check';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { sumNthPowerDeviations } from 'simple-statistics';
import { describe, expect, test } from 'vitest';
import {
  type Bounds,
  boundsOf,
  type Evidence,
  knownNoise,
  type Noise,
  type Pair,
  pairedEvidence,
  pooledEvidence,
} from '../../../src/analysis/stats/evidence.ts';
import { compare } from '../../../src/analysis/stats/ministat.ts';
import { standardNormal } from '../../../src/analysis/stats/normal.ts';

const speed = fc.double({ min: 1, max: 1e9, noNaN: true });
const ratio = fc.double({ min: 0.7, max: 1.4, noNaN: true });
const pair = fc
  .tuple(speed, ratio)
  .map(([base, change]): Pair => ({ base, patched: base * change }));
const pairs = fc.array(pair, { minLength: 9, maxLength: 40 });
const level = fc.constantFrom(0.1, 0.025, 0.005);

const sample = fc.record({
  base: fc.array(ratio, { minLength: 2, maxLength: 12 }),
  patched: fc.array(ratio, { minLength: 2, maxLength: 12 }),
});
const history = fc.option(
  fc.record({
    sumOfSquares: fc.double({ min: 1e-6, max: 0.1, noNaN: true }),
    degreesOfFreedom: fc.integer({ min: 1, max: 40 }),
  }),
  { nil: undefined },
);

/** Runs of 1000 · e^x. */
const runs = (...logarithms: number[]): number[] => logarithms.map((x) => 1000 * Math.exp(x));
const pairsOf = (...logarithms: number[]): Pair[] =>
  runs(...logarithms).map((patched) => ({ base: 1000, patched }));

const expectBounds = (actual: Bounds, expected: Bounds): void => {
  expect(actual.low).toBeCloseTo(expected.low, 9);
  expect(actual.high).toBeCloseTo(expected.high, 9);
};
const mirrored = ({ low, high }: Bounds): Bounds => ({ low: -high, high: -low });
const moved = ({ low, high }: Bounds, by: number): Bounds => ({ low: low + by, high: high + by });

describe('of pairs', () => {
  test('six at 95 % lie all within the bounds, and fewer tell nothing', () => {
    const evidence = pairedEvidence(pairsOf(-0.1, 0.1, -0.1, -0.3, -0.1, -0.1));
    expect(evidence).toMatchObject({ method: 'paired', base: 1000 });
    expect(evidence.effect).toBeCloseTo(-0.1, 12);
    expectBounds(boundsOf(evidence, 0.025), { low: -0.3, high: 0.1 });

    const fewer = pairedEvidence(pairsOf(-0.1, 0.1, -0.1, -0.3, -0.1));
    expect(boundsOf(fewer, 0.025)).toEqual({ low: -Infinity, high: Infinity });
  });

  test('that all say the same leave no doubt', () => {
    const same = [100, 400, 200, 300, 150, 250].map((base) => ({ base, patched: 0.8 * base }));
    const evidence = pairedEvidence(same);
    expect(evidence.base).toBe(225);
    expect(evidence.effect).toBeCloseTo(Math.log(0.8), 12);
    expectBounds(boundsOf(evidence, 0.025), { low: Math.log(0.8), high: Math.log(0.8) });
  });

  test('what slows both runs alike says nothing, and neither does the unit', () => {
    const slowness = fc.double({ min: 0.01, max: 100, noNaN: true });
    const slowed = fc.array(fc.tuple(pair, slowness), { minLength: 9, maxLength: 40 });
    fc.assert(
      fc.property(slowed, level, (sets, sure) => {
        const before = pairedEvidence(sets.map(([one]) => one));
        const after = pairedEvidence(
          sets.map(([{ base, patched }, by]) => ({ base: base * by, patched: patched * by })),
        );
        expectBounds(boundsOf(after, sure), boundsOf(before, sure));
      }),
    );
  });

  test('the order in which they were run says nothing', () => {
    fc.assert(
      fc.property(pairs, (sets) => {
        expect(pairedEvidence(sets.toReversed())).toEqual(pairedEvidence(sets));
      }),
    );
  });

  test('swapping base and patched gives the mirror image', () => {
    fc.assert(
      fc.property(pairs, level, (sets, sure) => {
        const swapped = sets.map(({ base, patched }) => ({ base: patched, patched: base }));
        const [there, back] = [pairedEvidence(sets), pairedEvidence(swapped)];
        expect(back.effect).toBeCloseTo(-there.effect, 9);
        expectBounds(boundsOf(back, sure), mirrored(boundsOf(there, sure)));
      }),
    );
  });

  test('a factor on patched moves the bounds by its logarithm', () => {
    fc.assert(
      fc.property(pairs, ratio, level, (sets, factor, sure) => {
        const faster = sets.map(({ base, patched }) => ({ base, patched: patched * factor }));
        const [before, after] = [pairedEvidence(sets), pairedEvidence(faster)];
        expectBounds(boundsOf(after, sure), moved(boundsOf(before, sure), Math.log(factor)));
      }),
    );
  });
});

describe('of boots', () => {
  const base = runs(-0.01, 0, 0.01);
  const patched = runs(-0.06, -0.05, -0.04);
  /** The standard error of three and three boots whose logarithms deviate by 1 %. */
  const standardError = 0.01 * Math.sqrt(2 / 3);

  test('the bounds are Student’s, around the difference of the mean logarithms', () => {
    const evidence = pooledEvidence(base, patched);
    expect(evidence).toMatchObject({ method: 'pooled', degreesOfFreedom: 4 });
    expect(evidence.base).toBeCloseTo(1000, 9);
    expect(evidence.effect).toBeCloseTo(-0.05, 12);
    const reach = 2.7764451052 * standardError;
    expectBounds(boundsOf(evidence, 0.025), { low: -0.05 - reach, high: -0.05 + reach });
  });

  test('they are the ones of ministat of the logarithms, but for the decimals of its table', () => {
    fc.assert(
      fc.property(sample, (sets) => {
        fc.pre(sets.base.length >= 3 && sets.patched.length >= 3);
        const logarithms = (name: 'base' | 'patched') => ({
          name,
          values: Float64Array.from(sets[name], Math.log),
        });
        const [published] = compare([logarithms('base'), logarithms('patched')]).differences;
        const { low, high } = boundsOf(pooledEvidence(sets.base, sets.patched), 0.025);
        expect((low + high) / 2).toBeCloseTo(published?.difference ?? Number.NaN, 9);
        const error = published?.error ?? Number.NaN;
        expect(Math.abs((high - low) / 2 - error)).toBeLessThanOrEqual(error * 3e-4 + 1e-9);
      }),
    );
  });

  test('earlier runs of the cell add their squares and degrees of freedom', () => {
    // 0.0004 of 4 degrees are ours, 0.0005 of 6 are earlier.
    const earlier = { sumOfSquares: 0.0005, degreesOfFreedom: 6 };
    const evidence = pooledEvidence(base, patched, earlier);
    expect(evidence.effect).toBeCloseTo(-0.05, 12);
    const reach = 2.228138852 * Math.sqrt((0.0009 / 10) * (2 / 3));
    expectBounds(boundsOf(evidence, 0.025), { low: -0.05 - reach, high: -0.05 + reach });
  });

  test('of a deviation that is as good as known they are those of the normal distribution', () => {
    const earlier = { sumOfSquares: 1e-4 * 1e9, degreesOfFreedom: 1e9 };
    const reach = 1.959963985 * standardError;
    const { low, high } = boundsOf(pooledEvidence(base, patched, earlier), 0.025);
    expect((high - low) / 2).toBeCloseTo(reach, 9);
  });

  test('that happen to agree are not taken for quiet where no earlier run says so', () => {
    const same = [1e6, 1e6];
    const spreadOf = (history?: Noise) => {
      const evidence = pooledEvidence(same, same, knownNoise(history, 0.02));
      return evidence.method === 'pooled' ? evidence : undefined;
    };
    expect(spreadOf()?.standardError).toBeCloseTo(0.002, 12);
    expect(spreadOf()?.degreesOfFreedom).toBe(2);
    const calm = { sumOfSquares: 9e-8, degreesOfFreedom: 9 };
    expect(spreadOf(calm)).toEqual(pooledEvidence(same, same, calm));
  });

  test('where the runs deviate more than three times as much as earlier ones, these are left aside', () => {
    const alone = pooledEvidence(base, patched);
    const earlierOf = (deviation: number): Noise => ({
      sumOfSquares: 9 * deviation ** 2,
      degreesOfFreedom: 9,
    });
    expect(pooledEvidence(base, patched, earlierOf(0.01 / 3.01))).toEqual(alone);
    expect(pooledEvidence(base, patched, earlierOf(0.01 / 2.99))).toMatchObject({
      degreesOfFreedom: 13,
    });
    expect(pooledEvidence(base, patched, earlierOf(1))).toMatchObject({ degreesOfFreedom: 13 });
  });

  test('one of each tells nothing, and with earlier noise what that allows', () => {
    const unbounded = { low: -Infinity, high: Infinity };
    expect(boundsOf(pooledEvidence([1000], [900]), 0.4)).toEqual(unbounded);

    const earlier = { sumOfSquares: 0.0009, degreesOfFreedom: 9 };
    const reach = 2.2621571628 * 0.01 * Math.SQRT2;
    const { low, high } = boundsOf(pooledEvidence([1000], [900], earlier), 0.025);
    expect((high - low) / 2).toBeCloseTo(reach, 9);
  });

  test('runs that agree to the last packet leave no doubt', () => {
    const evidence = pooledEvidence([1000, 1000], [800, 800]);
    expectBounds(boundsOf(evidence, 1e-6), { low: Math.log(0.8), high: Math.log(0.8) });
  });

  test('neither the unit nor the order of a variant’s runs says anything', () => {
    fc.assert(
      fc.property(sample, history, speed, level, (sets, earlier, unit, sure) => {
        const turned = (values: number[]) => values.toReversed().map((value) => value * unit);
        const before = pooledEvidence(sets.base, sets.patched, earlier);
        const after = pooledEvidence(turned(sets.base), turned(sets.patched), earlier);
        expectBounds(boundsOf(after, sure), boundsOf(before, sure));
        expect(after.base / before.base / unit).toBeCloseTo(1, 9);
      }),
    );
  });

  test('swapping base and patched gives the mirror image', () => {
    fc.assert(
      fc.property(sample, history, level, (sets, earlier, sure) => {
        const there = pooledEvidence(sets.base, sets.patched, earlier);
        const back = pooledEvidence(sets.patched, sets.base, earlier);
        expectBounds(boundsOf(back, sure), mirrored(boundsOf(there, sure)));
      }),
    );
  });
});

test('bounds get wider the surer they have to be', () => {
  const anyEvidence = fc.oneof(
    pairs.map(pairedEvidence),
    fc
      .tuple(sample, history)
      .map(([sets, earlier]) => pooledEvidence(sets.base, sets.patched, earlier)),
  );
  fc.assert(
    fc.property(anyEvidence, level, (evidence, sure) => {
      const [narrow, wide] = [boundsOf(evidence, sure), boundsOf(evidence, sure / 3)];
      expect(wide.low).toBeLessThanOrEqual(narrow.low);
      expect(wide.high).toBeGreaterThanOrEqual(narrow.high);
    }),
  );
});

describe('the truth lies below and above the bounds as often as asked, where', () => {
  const truth = -0.03;
  const noisy = (count: number, change: number, random: RandomGenerator): number[] =>
    Array.from({ length: count }, () => 8e5 * Math.exp(change + 0.02 * standardNormal(random)));

  const boots = (count: number, earlierRuns: number) => (random: RandomGenerator) => {
    const earlier = noisy(earlierRuns, 0, random).map(Math.log);
    const noise = {
      sumOfSquares: sumNthPowerDeviations(earlier, 2),
      degreesOfFreedom: earlierRuns - 1,
    };
    return pooledEvidence(noisy(count, 0, random), noisy(count, truth, random), noise);
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
    ['two boots of each come after ten', boots(2, 10), 0.025],
    ['five boots of each come after thirty', boots(5, 30), 0.005],
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
