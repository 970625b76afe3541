import fc from 'fast-check';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { expect, test } from 'vitest';
import { fewestPairs, type Pair, pairedChange } from '../../src/stats/interval.ts';

const speed = fc.double({ min: 1, max: 1e9, noNaN: true });
const pair = fc
  .tuple(speed, fc.double({ min: 0.7, max: 1.4, noNaN: true }))
  .map(([base, ratio]): Pair => ({ base, patched: base * ratio }));
const pairs = fc.array(pair, { minLength: 9, maxLength: 70 });
const confidence = fc.constantFrom(0.8, 0.9, 0.95, 0.99);

/** Pairs whose patched run is e^x of the base. */
const pairsOf = (logarithms: readonly number[]): Pair[] =>
  logarithms.map((x) => ({ base: 1000, patched: 1000 * Math.exp(x) }));

/** Equal but for rounding. */
function expectClose(actual: number, expected: number): void {
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(expected)));
}

test('six pairs at 95 % lie all within the interval', () => {
  const { change, low, high } = pairedChange(pairsOf([-0.1, 0.1, -0.1, -0.3, -0.1, -0.1]), 0.95);
  expectClose(Math.log1p(change), -0.1);
  expectClose(Math.log1p(low), -0.3);
  expectClose(Math.log1p(high), 0.1);
});

test('pairs that all say the same leave no doubt', () => {
  const same = [100, 400, 200, 300, 150, 250].map((base) => ({ base, patched: 0.8 * base }));
  const { change, low, high } = pairedChange(same, 0.95);
  for (const value of [change, low, high]) expectClose(value, -0.2);
});

// Critical values of Wilcoxon's signed-rank test, as every table of it prints them.
test.for([
  [6, 0.95, 0],
  [8, 0.95, 3],
  [10, 0.95, 8],
  [15, 0.95, 25],
  [20, 0.95, 52],
  [30, 0.95, 137],
  [8, 0.99, 0],
  [10, 0.99, 3],
  [15, 0.99, 15],
  [20, 0.99, 37],
] as const)(
  'of %d pairs the interval at %d leaves out %d Walsh averages at each end',
  ([n, level, outside]) => {
    const random = xoroshiro128plus(n);
    const logarithms = Array.from({ length: n }, () => uniformFloat64(random) - 0.5);
    const averages = logarithms
      .flatMap((x, index) => logarithms.slice(index).map((y) => (x + y) / 2))
      .toSorted((a, b) => a - b);
    const { low, high } = pairedChange(pairsOf(logarithms), level);
    expectClose(Math.log1p(low), averages.at(outside) ?? Number.NaN);
    expectClose(Math.log1p(high), averages.at(-1 - outside) ?? Number.NaN);
  },
);

test.for([
  [0.8, 4],
  [0.95, 6],
  [0.99, 8],
] as const)('to be %d sure takes at least %d pairs', ([level, fewest]) => {
  expect(fewestPairs(level)).toBe(fewest);
});

test('the change is the ratio of the two numbers that stand beside it, and lies in its interval', () => {
  fc.assert(
    fc.property(pairs, confidence, (sample, level) => {
      const { base, patched, change, low, high } = pairedChange(sample, level);
      expectClose(1 + change, patched / base);
      expect(low).toBeLessThanOrEqual(change);
      expect(high).toBeGreaterThanOrEqual(change);
    }),
  );
});

test('the order in which pairs were run says nothing', () => {
  fc.assert(
    fc.property(pairs, confidence, (sample, level) => {
      expect(pairedChange(sample.toReversed(), level)).toEqual(pairedChange(sample, level));
    }),
  );
});

test('the interval does not depend on the unit, nor on what slows both runs of a pair alike', () => {
  const slowness = fc.double({ min: 0.01, max: 100, noNaN: true });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(pair, slowness), { minLength: 9 }),
      confidence,
      (slowed, level) => {
        const before = pairedChange(
          slowed.map(([one]) => one),
          level,
        );
        const after = pairedChange(
          slowed.map(([{ base, patched }, factor]) => ({
            base: base * factor,
            patched: patched * factor,
          })),
          level,
        );
        expectClose(after.change, before.change);
        expectClose(after.low, before.low);
        expectClose(after.high, before.high);
      },
    ),
  );
});

test('swapping base and patched turns a gain of 25 % into a loss of 20 %', () => {
  fc.assert(
    fc.property(pairs, confidence, (sample, level) => {
      const swapped = sample.map(({ base, patched }) => ({ base: patched, patched: base }));
      const [there, back] = [pairedChange(sample, level), pairedChange(swapped, level)];
      expectClose(1 + back.change, 1 / (1 + there.change));
      expectClose(1 + back.low, 1 / (1 + there.high));
      expectClose(1 + back.high, 1 / (1 + there.low));
    }),
  );
});

test('a patched variant that is faster by a factor has the same interval, moved by that factor', () => {
  fc.assert(
    fc.property(pairs, fc.double({ min: 0.5, max: 2, noNaN: true }), (sample, factor) => {
      const faster = sample.map(({ base, patched }) => ({ base, patched: patched * factor }));
      const [slow, fast] = [pairedChange(sample, 0.95), pairedChange(faster, 0.95)];
      expectClose(1 + fast.low, (1 + slow.low) * factor);
      expectClose(1 + fast.high, (1 + slow.high) * factor);
    }),
  );
});

test('more confidence takes a wider interval', () => {
  fc.assert(
    fc.property(pairs, (sample) => {
      const [narrow, wide] = [pairedChange(sample, 0.8), pairedChange(sample, 0.99)];
      expect(wide.low).toBeLessThanOrEqual(narrow.low);
      expect(wide.high).toBeGreaterThanOrEqual(narrow.high);
    }),
  );
});

test('one wild pair of twenty hardly moves the interval, however wild it is', () => {
  const random = xoroshiro128plus(7);
  const calm = Array.from({ length: 20 }, () => 0.01 * normal(random));
  const width = (logarithms: number[]) => {
    const { low, high } = pairedChange(pairsOf(logarithms), 0.95);
    return high - low;
  };
  expect(width([...calm.slice(1), 5])).toBeLessThan(1.5 * width(calm));
});

test.for([
  [12, 0.8],
  [12, 0.95],
  [12, 0.99],
  [60, 0.95],
] as const)(
  'of 2000 experiments with %d pairs about %d hold the truth, though spells of noise slow pairs by a third',
  ([count, level]) => {
    const random = xoroshiro128plus(2026);
    const truth = -0.03;
    const experiments = Array.from({ length: 2000 }, () => noisyPairs(count, truth, random));
    const holding = experiments.filter((sample) => {
      const { low, high } = pairedChange(sample, level);
      return low <= truth && truth <= high;
    });
    const share = holding.length / experiments.length;
    // Five standard errors; and above, because ranks come in steps, a quarter of the error rate.
    const chance = 5 * Math.sqrt((level * (1 - level)) / experiments.length);
    expect(share).toBeGreaterThan(level - chance);
    expect(share).toBeLessThan(level + (1 - level) / 4 + chance);
  },
);

function noisyPairs(count: number, truth: number, random: RandomGenerator): Pair[] {
  return Array.from({ length: count }, () => {
    const spell = uniformFloat64(random) < 0.3 ? 0.66 : 1;
    const run = (change: number) => 8e5 * spell * (1 + change) * Math.exp(0.02 * normal(random));
    return { base: run(0), patched: run(truth) };
  });
}

/** Box and Muller's transform. */
function normal(random: RandomGenerator): number {
  const radius = Math.sqrt(-2 * Math.log(1 - uniformFloat64(random)));
  return radius * Math.cos(2 * Math.PI * uniformFloat64(random));
}
