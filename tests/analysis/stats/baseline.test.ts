// Checks whether a base still fits its history.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { baselineOf } from '../../../src/analysis/stats/baseline.ts';
import type { History } from '../../../src/model/result.ts';

/** Ten sessions of three runs around 1 Mpps; logarithms of runs deviate by 1 % within a session, means by 2 %. */
const history: History = {
  runs: 30,
  typical: 1e6,
  typicalRuns: 30,
  sumOfSquares: 0.002,
  degreesOfFreedom: 20,
  sessionMeans: { sinceMove: 10, sumOfSquares: 0.0036, degreesOfFreedom: 9 },
};

/** Runs of e^x Mpps. */
const runs = (...logarithms: number[]): number[] => logarithms.map((x) => 1e6 * Math.exp(x));

test('a base is compared with the means of earlier sessions by Student’s test of logarithms, at one in a hundred', () => {
  const ofRuns = (0.002 + 0.0002) / (20 + 2);
  const ofSessions = 0.0036 / 9 - ofRuns / 3;
  // The t of nine degrees of freedom at 0.5 % to each side.
  const reach = 3.2498355416 * Math.sqrt(ofSessions * (1 + 1 / 10) + ofRuns * (1 / 3 + 1 / 30));
  const { kind, interval } = withInterval(runs(-0.02, -0.01, 0), history);
  expect(kind).toBe('steady');
  expect(Math.log1p(interval.change)).toBeCloseTo(-0.01, 12);
  expect(Math.log1p(interval.low)).toBeCloseTo(-0.01 - reach, 9);
  expect(Math.log1p(interval.high)).toBeCloseTo(-0.01 + reach, 9);
});

test('a single run detects a deviation that one in five hundred runs has', () => {
  const single = { ...history, runs: 10, typicalRuns: 10, sumOfSquares: 0, degreesOfFreedom: 0 };
  // The t of nine degrees of freedom is 4.2968 at one in a thousand to each side.
  const reach = 4.2968 * Math.sqrt((0.0036 / 9) * (1 + 1 / 10));
  expect(baselineOf(runs(-0.99 * reach), single).kind).toBe('steady');
  expect(baselineOf(runs(-1.01 * reach), single).kind).toBe('moved');
});

const ofMeans = { sinceMove: 3, sumOfSquares: 0.0008, degreesOfFreedom: 2 };
const { sessionMeans: _, ...older } = history;

test.for<[string, number[], History | undefined]>([
  ['without a history', runs(-0.5, -0.5, -0.5), undefined],
  ['with a history that tells no sessions', runs(-0.5, -0.5, -0.5), older],
  ['with two sessions', runs(-0.5, -0.5, -0.5), { ...history, sessionMeans: { ...ofMeans, degreesOfFreedom: 1 } }],
  ['of a single run beside three sessions', runs(-0.5), { ...history, sessionMeans: ofMeans }],
  ['of no run', [], history],
])('%s nothing is known', ([, base, earlier]) => {
  expect(baselineOf(base, earlier)).toEqual({ kind: 'unknown' });
});

test('runs that agree with their history to the last packet have not moved', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e8 }), fc.integer({ min: 3, max: 20 }), (pps, count) => {
      const logarithm = Array(count).fill(Math.log(pps));
      const typical = Math.exp(logarithm.reduce((sum, value) => sum + value, 0) / count);
      const sessionMeans = { ...ofMeans, sumOfSquares: 0 };
      const earlier = { ...history, typical, typicalRuns: count, sumOfSquares: 0, sessionMeans };
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

function withInterval(base: number[], earlier: History) {
  const baseline = baselineOf(base, earlier);
  if (baseline.kind === 'unknown') throw new Error('There are enough runs to know.');
  return baseline;
}
