// Bounds of an event's probability, by the number of tries, that hold at all times at once.
import fc from 'fast-check';
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { expect, test } from 'vitest';
import { lowerBound, upperBound } from '../../../src/analysis/stats/binomial.ts';

test('a bound below 1 % needs 409 gates without an alarm, 705 with one, 932 with two and 1134 with three', () => {
  for (const [alarms, gates] of [409, 705, 932, 1134].entries()) {
    expect(upperBound(alarms, gates)).toBeLessThan(0.01);
    expect(upperBound(alarms, gates - 1)).toBeGreaterThan(0.01);
  }
});

test('the bounds enclose the observed share, and stay between 0 and 1', () => {
  const counts = fc
    .tuple(fc.nat(200), fc.nat(2000))
    .map(([alarms, others]) => ({ alarms, gates: alarms + others + 1 }));
  fc.assert(
    fc.property(counts, ({ alarms, gates }) => {
      const [lower, upper] = [lowerBound(alarms, gates), upperBound(alarms, gates)];
      expect(lower).toBeGreaterThanOrEqual(0);
      expect(lower).toBeLessThanOrEqual(alarms / gates);
      expect(upper).toBeGreaterThan(alarms / gates);
      expect(upper).toBeLessThanOrEqual(1);
    }),
    { numRuns: 50 },
  );
});

test('both bounds fall with every try without an alarm', () => {
  fc.assert(
    fc.property(fc.nat(20), fc.nat(400), (alarms, others) => {
      const gates = alarms + others + 1;
      expect(upperBound(alarms, gates + 1)).toBeLessThanOrEqual(upperBound(alarms, gates));
      expect(lowerBound(alarms, gates + 1)).toBeLessThanOrEqual(lowerBound(alarms, gates));
    }),
  );
});

test('a true rate of 1 % is excluded in at most 5 % of years, though every night is looked at', () => {
  const random = xoroshiro128plus(1);
  const years = 400;
  const nights = 365;
  const isExcluded = () => {
    let alarms = 0;
    let excluded = false;
    for (let night = 1; night <= nights; night += 1) {
      const isAlarm = uniformFloat64(random) < 0.01;
      // Both bounds fall until the next alarm: the upper one is lowest before it, the lower one highest at it.
      if (isAlarm && night > 1) excluded ||= upperBound(alarms, night - 1) < 0.01;
      alarms += isAlarm ? 1 : 0;
      if (isAlarm) excluded ||= lowerBound(alarms, night) > 0.01;
    }
    return excluded || upperBound(alarms, nights) < 0.01;
  };
  const excluded = Array.from({ length: years }, isExcluded).filter(Boolean).length;
  expect(excluded / years).toBeLessThanOrEqual(0.05);
});
