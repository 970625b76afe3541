// Bounds of an event's probability, by the number of tries.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lowerBound, upperBound } from '../../../src/analysis/stats/binomial.ts';

test('without an alarm the upper bound is the share at which twenty such series in a row hold one without', () => {
  for (const gates of [7, 41, 299]) {
    expect(upperBound(0, gates)).toBeCloseTo(1 - 0.05 ** (1 / gates), 12);
  }
});

test('below 1 % it takes 299 gates without an alarm, 473 with one, 628 with two and 773 with three', () => {
  for (const [alarms, gates] of [299, 473, 628, 773].entries()) {
    expect(upperBound(alarms, gates)).toBeLessThan(0.01);
    expect(upperBound(alarms, gates - 1)).toBeGreaterThan(0.01);
  }
});

test('nothing is known of no tries, and all alarms rule nothing out above', () => {
  expect([lowerBound(0, 0), upperBound(0, 0)]).toEqual([0, 1]);
  expect(upperBound(5, 5)).toBe(1);
});

test('the bounds hold what was seen between them, and mirror each other', () => {
  const counts = fc
    .tuple(fc.nat(200), fc.nat(2000))
    .map(([alarms, others]) => ({ alarms, gates: alarms + others + 1 }));
  fc.assert(
    fc.property(counts, ({ alarms, gates }) => {
      const seen = alarms / gates;
      expect(lowerBound(alarms, gates)).toBeLessThanOrEqual(seen);
      expect(upperBound(alarms, gates)).toBeGreaterThan(seen);
      expect(upperBound(alarms, gates)).toBeCloseTo(1 - lowerBound(gates - alarms, gates), 9);
    }),
    { numRuns: 50 },
  );
});
