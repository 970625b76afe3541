// Checks whether a base still fits its history.
import fc from 'fast-check';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { sumNthPowerDeviations } from 'simple-statistics';
import { expect, test } from 'vitest';
import { baselineOf } from '../../../src/analysis/stats/baseline.ts';
import { standardNormal } from '../../../src/analysis/stats/normal.ts';
import type { History } from '../../../src/model/result.ts';

/** Ten runs around 1 Mpps whose logarithms deviate by 1 %. */
const history: History = {
  runs: 10,
  typical: 1e6,
  typicalRuns: 10,
  sumOfSquares: 0.0009,
  degreesOfFreedom: 9,
};

/** Runs of e^x Mpps. */
const runs = (...logarithms: number[]): number[] => logarithms.map((x) => 1e6 * Math.exp(x));

test('a base is compared with its history by Student’s test of logarithms, at one in a hundred', () => {
  // Squares of 0.0009 and 0.0002 over 9 + 2 degrees of freedom, whose t is 3.1058.
  const reach = 3.1058065155 * Math.sqrt((0.0011 / 11) * (1 / 3 + 1 / 10));
  const { kind, interval } = withInterval(runs(-0.02, -0.01, 0), history);
  expect(kind).toBe('steady');
  expect(Math.log1p(interval.change)).toBeCloseTo(-0.01, 12);
  expect(Math.log1p(interval.low)).toBeCloseTo(-0.01 - reach, 9);
  expect(Math.log1p(interval.high)).toBeCloseTo(-0.01 + reach, 9);
});

test('it has moved where the interval leaves out zero, to either side', () => {
  expect(baselineOf(runs(-0.04, -0.03, -0.02), history).kind).toBe('moved');
  expect(baselineOf(runs(0.02, 0.03, 0.04), history).kind).toBe('moved');
});

test('a single run tells one that is as far off as one in five hundred is', () => {
  // The t of nine degrees of freedom is 4.2968 at one in a thousand to each side.
  const reach = 4.2968 * Math.sqrt(0.0001 * (1 + 1 / 10));
  expect(baselineOf(runs(-0.99 * reach), history).kind).toBe('steady');
  expect(baselineOf(runs(-1.01 * reach), history).kind).toBe('moved');
});

test.for<[string, number[], History | undefined]>([
  ['without a history', runs(-0.5, -0.5, -0.5), undefined],
  ['with two runs since it last moved', runs(-0.5, -0.5, -0.5), { ...history, typicalRuns: 2 }],
  ['of a single run beside nine', runs(-0.5), { ...history, typicalRuns: 9 }],
  ['of no run', [], history],
])('%s nothing is known', ([, base, earlier]) => {
  expect(baselineOf(base, earlier)).toEqual({ kind: 'unknown' });
});

test('runs that agree with their history to the last packet have not moved', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e8 }), fc.integer({ min: 3, max: 20 }), (pps, count) => {
      const logarithm = Array(count).fill(Math.log(pps));
      const typical = Math.exp(logarithm.reduce((sum, value) => sum + value, 0) / count);
      const earlier = { ...history, typical, typicalRuns: count, sumOfSquares: 0 };
      expect(baselineOf([pps, pps, pps, pps], earlier).kind).toBe('steady');
      expect(
        baselineOf(
          [pps, pps].map((value) => value * 1.001),
          earlier,
        ).kind,
      ).toBe('moved');
    }),
  );
});

test('the unit says nothing', () => {
  const runsOf = fc.array(fc.double({ min: 0.9, max: 1.1, noNaN: true }), {
    minLength: 2,
    maxLength: 10,
  });
  fc.assert(
    fc.property(runsOf, fc.constantFrom(1e-6, 8, 512), (base, unit) => {
      const scaled = base.map((value) => value * unit);
      const there = withInterval(base, { ...history, typical: 1 });
      const here = withInterval(scaled, { ...history, typical: unit });
      expect(here.interval.low).toBeCloseTo(there.interval.low, 9);
      expect(here.interval.high).toBeCloseTo(there.interval.high, 9);
    }),
  );
});

test('a base that stayed is called moved in one experiment of a hundred', () => {
  const random = xoroshiro128plus(4);
  const draw = (count: number) =>
    Array.from({ length: count }, () => 0.01 * standardNormal(random));
  const experiments = 20_000;
  let moved = 0;
  for (let experiment = 0; experiment < experiments; experiment++) {
    const earlier = draw(12);
    const center = earlier.reduce((sum, value) => sum + value, 0) / earlier.length;
    const told: History = {
      runs: 12,
      typical: Math.exp(center),
      typicalRuns: 12,
      sumOfSquares: sumNthPowerDeviations(earlier, 2),
      degreesOfFreedom: 11,
    };
    if (baselineOf(draw(4).map(Math.exp), told).kind === 'moved') moved++;
  }
  const chance = 4 * Math.sqrt((0.01 * 0.99) / experiments);
  expect(Math.abs(moved / experiments - 0.01)).toBeLessThan(chance);
});

function withInterval(base: number[], earlier: History) {
  const baseline = baselineOf(base, earlier);
  if (baseline.kind === 'unknown') throw new Error('There are enough runs to know.');
  return baseline;
}
