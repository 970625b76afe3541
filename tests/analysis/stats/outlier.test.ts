// Finds runs that differ from the others of their variant.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runsApart } from '../../../src/analysis/stats/outlier.ts';
import type { Run } from '../../../src/model/result.ts';
import { aRun } from '../../fakes/result.ts';

const runsOf = (variant: string, ...pps: number[]): Run[] =>
  pps.map((value, index) => aRun({ number: index + 1, pair: index + 1, variant, pps: value }));
const apart = (...runs: Run[]): number[] => runsApart(runs).map((run) => run.pps);

const steady = [1000e3, 1002e3, 998e3, 1001e3, 999e3];

test('an outlier is a run far from the others of its variant, to either side', () => {
  expect(apart(...runsOf('base', ...steady, 900e3))).toEqual([900e3]);
  expect(apart(...runsOf('base', ...steady, 1100e3))).toEqual([1100e3]);
  expect(apart(...runsOf('base', ...steady))).toEqual([]);
});

test('the border is a modified z-score of 3.5, on logarithms', () => {
  // Distances from the median are 0, 1, 1, 2, 2 % and twice the last one's; their own median is 2 %.
  const withLast = (percent: number) =>
    runsOf('base', ...[0, 1, -1, 2, -2, percent, -percent].map((x) => 1e6 * Math.exp(x / 100)));
  const border = (3.5 * 2) / 0.6745;
  expect(apart(...withLast(border - 0.01))).toEqual([]);
  expect(apart(...withLast(border + 0.01))).toHaveLength(2);
});

test('the spread is that of all variants, so that a calm one is not judged by its own', () => {
  const wide = runsOf('base', 900e3, 950e3, 1000e3, 1050e3, 1100e3);
  const calm = runsOf('patched', 1000e3, 1000e3, 1000e3, 1030e3);
  expect(apart(...calm)).toEqual([1030e3]);
  expect(apart(...wide, ...calm)).toEqual([]);
});

test('among runs that agree to the last packet, 0.3 % is an outlier and 0.1 % is not', () => {
  const same = [1e6, 1e6, 1e6, 1e6];
  expect(apart(...runsOf('base', ...same, 1.001e6))).toEqual([]);
  expect(apart(...runsOf('base', ...same, 1.003e6))).toEqual([1.003e6]);
});

test('runs that do not count are no outliers, and do not move the others', () => {
  const validity: Run['validity'] = { kind: 'invalid', cause: 'hole', reason: 'a hole' };
  const invalid = runsOf('base', 10, 20, 30, 40, 50, 60).map((run): Run => ({ ...run, validity }));
  const silent = runsOf('base', 0, 0, 0, 0, 0, 0);
  const counted = runsOf('base', ...steady, 900e3);
  expect(apart(...invalid, ...silent, ...counted)).toEqual([900e3]);
  expect(apart(...invalid, ...silent)).toEqual([]);
});

test('neither the unit nor the order of runs changes the outliers', () => {
  const pps = fc.array(fc.oneof(fc.integer({ min: 990, max: 1010 }), fc.integer({ min: 1, max: 5000 })), {
    maxLength: 20,
  });
  fc.assert(
    fc.property(pps, fc.constantFrom(2, 8, 1024), (values, unit) => {
      const there = apart(...runsOf('base', ...values));
      const scaled = values.toReversed().map((value) => value * unit);
      const back = apart(...runsOf('base', ...scaled)).toReversed();
      expect(back).toEqual(there.map((value) => value * unit));
    }),
  );
});
