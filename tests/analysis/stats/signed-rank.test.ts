// Wilcoxon's signed-rank test, against printed tables, its definition, and random numbers.
import fc from 'fast-check';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { describe, expect, test } from 'vitest';
import { standardNormal } from '../../../bench/normal.ts';
import { hodgesLehmann, signedRankBounds } from '../../../src/analysis/stats/signed-rank.ts';
import { median } from '../../../src/analysis/stats/summary.ts';

const number = fc.double({ min: -1, max: 1, noNaN: true });
const numbers = fc.array(number, { minLength: 1, maxLength: 70 });
const level = fc.constantFrom(0.1, 0.05, 0.025, 0.005);

const sorted = (values: readonly number[]): Float64Array => Float64Array.from(values).sort();
const boundsOf = (values: readonly number[], sure: number) =>
  signedRankBounds(sorted(values), sure) ?? { low: -Infinity, high: Infinity };

/** The averages of all pairs of numbers, each with itself too, ascending. */
const walshAverages = (values: readonly number[]): number[] =>
  values.flatMap((x, index) => values.slice(index).map((y) => (x + y) / 2)).toSorted((a, b) => a - b);

function drawn(count: number): number[] {
  const random = xoroshiro128plus(count);
  return Array.from({ length: count }, () => uniformFloat64(random) - 0.5);
}

describe('the estimate', () => {
  test('is the median of the averages of all pairs of numbers', () => {
    fc.assert(
      fc.property(numbers, (values) => {
        const expected = median(walshAverages(values));
        expect(Math.abs(hodgesLehmann(sorted(values)) - expected)).toBeLessThan(1e-12);
      }),
    );
  });

  test('is within the bounds, however sure these are', () => {
    fc.assert(
      fc.property(numbers, level, (values, sure) => {
        const { low, high } = boundsOf(values, sure);
        const estimate = hodgesLehmann(sorted(values));
        expect(low).toBeLessThanOrEqual(estimate);
        expect(high).toBeGreaterThanOrEqual(estimate);
      }),
    );
  });
});

describe('the bounds', () => {
  // Critical values as every table of the test prints them; beyond 50 numbers they are an approximation here.
  test.for([
    [6, 0.025, 0],
    [8, 0.025, 3],
    [10, 0.025, 8],
    [15, 0.025, 25],
    [20, 0.025, 52],
    [30, 0.025, 137],
    [50, 0.025, 434],
    [60, 0.025, 648],
    [8, 0.005, 0],
    [10, 0.005, 3],
    [15, 0.005, 15],
    [20, 0.005, 37],
    [50, 0.005, 373],
  ] as const)('of %d numbers at %d leave out %d averages at each end', ([n, sure, outside]) => {
    const values = drawn(n);
    const averages = walshAverages(values);
    const { low, high } = boundsOf(values, sure);
    expect(low).toBeCloseTo(averages.at(outside) ?? Number.NaN, 12);
    expect(high).toBeCloseTo(averages.at(-1 - outside) ?? Number.NaN, 12);
  });

  test.for([
    [0.1, 4],
    [0.025, 6],
    [0.005, 8],
    [0.001, 10],
  ] as const)('of a probability of %d take at least %d numbers', ([sure, fewest]) => {
    expect(signedRankBounds(sorted(drawn(fewest - 1)), sure)).toBeUndefined();
    expect(signedRankBounds(sorted(drawn(fewest)), sure)).toBeDefined();
  });

  test('of the negative numbers are the mirror image', () => {
    fc.assert(
      fc.property(numbers, level, (values, sure) => {
        const there = boundsOf(values, sure);
        const back = boundsOf(
          values.map((value) => -value),
          sure,
        );
        expect(back.low + there.high || 0).toBeCloseTo(0, 12);
        expect(back.high + there.low || 0).toBeCloseTo(0, 12);
      }),
    );
  });

  test.for([
    [12, 0.1],
    [12, 0.025],
    [12, 0.005],
    [60, 0.025],
  ] as const)(
    'of %d numbers lie above the centre in %d of all cases, for every symmetrical distribution',
    ([count, sure]) => {
      const random = xoroshiro128plus(2026);
      const experiments = 2000;
      let above = 0;
      for (let experiment = 0; experiment < experiments; experiment++) {
        // Most are calm, some are a hundred times as wild.
        const values = Array.from({ length: count }, () => {
          const spread = uniformFloat64(random) < 0.2 ? 1 : 0.01;
          return spread * standardNormal(random);
        });
        if (boundsOf(values, sure).low > 0) above++;
      }
      const share = above / experiments;
      const chance = 4 * Math.sqrt(sure / experiments);
      expect(share).toBeLessThan(sure + chance);
      // Ranks come in steps, so up to a quarter of the level stays unspent.
      expect(share).toBeGreaterThan(0.75 * sure - chance);
    },
  );
});
