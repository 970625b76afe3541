// Error bounds of each look at growing data, against published constants, closed forms and simulated experiments.
import fc from 'fast-check';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { describe, expect, test } from 'vitest';
import { standardNormal } from '../../../bench/normal.ts';
import { crossingProbability, pocockLevel } from '../../../src/analysis/stats/boundary.ts';
import { criticalT } from '../../../src/analysis/stats/student.ts';
import { times } from '../../random.ts';

const looksAfterEach = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
const ascendingSizes = fc
  .uniqueArray(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 })
  .map((sizes) => sizes.toSorted((a, b) => a - b));
const rate = fc.double({ min: 1e-4, max: 0.2, noNaN: true });
const looks = ascendingSizes.chain((sizes) =>
  fc.record({
    sizes: fc.constant(sizes),
    levels: fc.array(rate, { minLength: sizes.length, maxLength: sizes.length }),
  }),
);

describe('the level of all looks', () => {
  // The constants of Pocock's test for two-sided rates, as Jennison and Turnbull print them (table 2.1).
  test.for([
    [0.05, 2, 2.178],
    [0.05, 3, 2.289],
    [0.05, 4, 2.361],
    [0.05, 5, 2.413],
    [0.05, 10, 2.555],
    [0.05, 20, 2.672],
    [0.01, 2, 2.772],
    [0.01, 3, 2.873],
    [0.01, 5, 2.986],
    [0.01, 10, 3.117],
  ] as const)('at a rate of %d and %d looks in equal steps is that of z = %d', ([twoSided, looks, z]) => {
    const level = pocockLevel(looksAfterEach(looks), twoSided / 2);
    expect(Math.abs(criticalT(Infinity, level) - z)).toBeLessThan(0.001);
  });

  test('at a single look is the requested rate', () => {
    fc.assert(
      fc.property(rate, fc.integer({ min: 1, max: 60 }), (requested, size) => {
        const level = pocockLevel([size], requested);
        expect(level).toBeLessThan(1.000001 * requested);
        expect(level).toBeGreaterThan(0.998 * requested);
      }),
    );
  });

  test('spends no more than the requested rate over all looks, however uneven their steps', () => {
    fc.assert(
      fc.property(ascendingSizes, rate, (sizes, requested) => {
        const level = pocockLevel(sizes, requested);
        const spent = crossingProbability(
          sizes,
          sizes.map(() => level),
        );
        expect(spent).toBeLessThanOrEqual(requested);
        expect(spent).toBeGreaterThan(0.998 * requested);
      }),
      { numRuns: times(15) },
    );
  });

  test.for([
    ['without earlier runs', 0],
    ['with four earlier degrees of freedom', 4],
    ['with sixteen earlier degrees of freedom', 16],
  ] as const)('is crossed by Student’s t as often as requested, %s', ([, earlier]) => {
    const sizes = [2, 3, 4, 6, 8, 11, 15, 20];
    const level = pocockLevel(sizes, 0.02);
    const critical = sizes.map((size) => criticalT(2 * size - 2 + earlier, level));
    const random = xoroshiro128plus(5);
    const crossed = shareOf(25_000, () => {
      const statistics = studentAt(sizes, earlier, () => standardNormal(random));
      return statistics.some((t, index) => t > (critical[index] ?? Infinity));
    });
    expect(crossed).toBeGreaterThan(0.02 - chance(0.02, 25_000));
    // The recursion assumes a known variance, which misses up to a seventh.
    expect(crossed).toBeLessThan((0.02 * 8) / 7 + chance(0.02, 25_000));
  });
});

describe('the probability of crossing', () => {
  test.for([1, 2, 3, 10, 30, 100])(
    'a half at one of %d looks is that of a sum which does not stay below zero',
    (looks) => {
      // By Sparre Andersen a sum of n symmetric steps stays below zero with C(2n, n) / 4ⁿ, for any distribution.
      const staysBelow = looksAfterEach(looks).reduce((product, n) => product * (1 - 0.5 / n), 1);
      const levels = looksAfterEach(looks).map(() => 0.5);
      const crossed = crossingProbability(looksAfterEach(looks), levels);
      expect(crossed).toBeCloseTo(1 - staysBelow, 6);
    },
  );

  test.for([
    ['a few looks in growing steps', [3, 5, 8, 12, 20], [0.002, 0.02, 0.001, 0.03, 0.01]],
    ['a late second look', [2, 50], [0.03, 0.02]],
    ['a hundred looks', looksAfterEach(100), looksAfterEach(100).map(() => 0.002)],
  ] as const)('%s is the share of drawn sums that cross', ([, sizes, levels]) => {
    const limits = sizes.map((size, index) => Math.sqrt(size) * criticalT(Infinity, levels[index] ?? 0));
    const random = xoroshiro128plus(11);
    const crossed = shareOf(30_000, () => {
      let sum = 0;
      return sizes.some((size, index) => {
        sum += standardNormal(random) * Math.sqrt(size - (sizes[index - 1] ?? 0));
        return sum > (limits[index] ?? Infinity);
      });
    });
    const expected = crossingProbability(sizes, levels);
    expect(Math.abs(crossed - expected)).toBeLessThan(chance(expected, 30_000));
  });

  test('grows with the level of any look, by at most that level', () => {
    const raisedAt = looks.chain((looks) =>
      fc.record({ looks: fc.constant(looks), raised: fc.nat(looks.sizes.length - 1) }),
    );
    fc.assert(
      fc.property(raisedAt, ({ looks: { sizes, levels }, raised }) => {
        const higher = levels.map((level, index) => (index === raised ? 2 * level : level));
        const before = crossingProbability(sizes, levels);
        const after = crossingProbability(sizes, higher);
        expect(after).toBeGreaterThan(Math.max(before, ...higher) - lost);
        expect(after).toBeLessThan(before + (levels[raised] ?? 0) + lost);
      }),
    );
  });

  test('is not changed by looks without new data, in any position', () => {
    fc.assert(
      fc.property(looks, ascendingSizes, ({ sizes, levels }, more) => {
        const all = [...new Set([...sizes, ...more])].toSorted((a, b) => a - b);
        const levelsAtAll = all.map((size) => levels[sizes.indexOf(size)] ?? 0);
        const difference = crossingProbability(all, levelsAtAll) - crossingProbability(sizes, levels);
        expect(Math.abs(difference)).toBeLessThan(lost);
      }),
    );
  });
});

/** Error bound of the quadrature and of its normal distribution: far below any level. */
const lost = 1e-6;

/** Four standard errors of a share of so many. */
const chance = (share: number, count: number): number => 4 * Math.sqrt((share * (1 - share)) / count);

function shareOf(count: number, isHit: () => boolean): number {
  let hits = 0;
  for (let index = 0; index < count; index++) if (isHit()) hits++;
  return hits / count;
}

/** Student's t of two growing samples at each look, the variance pooled with that of `earlier` squares. */
function studentAt(sizes: readonly number[], earlier: number, draw: () => number): number[] {
  let earlierSquares = 0;
  for (let index = 0; index < earlier; index++) earlierSquares += draw() ** 2;
  const base: number[] = [];
  const patched: number[] = [];
  return sizes.map((size) => {
    while (base.length < size) {
      base.push(draw());
      patched.push(draw());
    }
    const [one, other] = [momentsOf(base), momentsOf(patched)];
    const squares = earlierSquares + one.squares + other.squares;
    const variance = squares / (2 * size - 2 + earlier);
    return (other.mean - one.mean) / Math.sqrt((2 * variance) / size);
  });
}

function momentsOf(values: readonly number[]): { mean: number; squares: number } {
  let sum = 0;
  let squares = 0;
  for (const value of values) {
    sum += value;
    squares += value * value;
  }
  return { mean: sum / values.length, squares: squares - (sum * sum) / values.length };
}
