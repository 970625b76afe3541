import fc from 'fast-check';
import { expect, test } from 'vitest';
import { extentOf, isWithin, paddedRates, robustExtent } from '../../src/report/scale.ts';
import { times } from '../random.ts';

const rate = fc.double({ min: 1, max: 1e12, noNaN: true });
const rates = fc.array(rate, { minLength: 4, maxLength: 60 });
const heightOf = ({ low, high }: { low: number; high: number }) => high - low;

test('The box of the middle points covers at least half of the axis, with an outlier of any size', () => {
  const steady = fc.array(fc.integer({ min: 10_000, max: 11_000 }), {
    minLength: 4,
    maxLength: 60,
  });
  const outlier = fc.oneof(fc.integer({ min: 0, max: 8_000 }), fc.integer({ min: 13_000, max: 1e12 }));
  fc.assert(
    fc.property(steady, outlier, fc.nat(60), (own, far, place) => {
      const values = own.toSpliced(place % own.length, 0, far);
      const axis = paddedRates(robustExtent(values), { spareRatio: 0.1, minRatio: 0 });
      const middle = own.filter((value) => isWithin(value, axis));
      expect(isWithin(far, axis)).toBe(false);
      expect(heightOf(extentOf(middle))).toBeGreaterThanOrEqual(heightOf(axis) / 2 - 1e-6);
    }),
    { numRuns: times(300) },
  );
});

test('All but a tenth of many values are inside the axis, and all that is kept', () => {
  fc.assert(
    fc.property(rates, fc.array(rate, { maxLength: 5 }), (values, kept) => {
      const axis = robustExtent(values, kept);
      const inside = values.filter((value) => isWithin(value, axis)).length;
      expect(inside).toBeGreaterThanOrEqual(values.length - Math.max(2, values.length / 10));
      expect(kept.every((value) => isWithin(value, axis))).toBe(true);
    }),
    { numRuns: times(300) },
  );
});

test('Values without an outlier are all inside', () => {
  expect(robustExtent([800, 801, 799, 720, 721, 719])).toEqual({ low: 719, high: 801 });
});

test('Two outliers of twelve values are left out', () => {
  const steady = [800, 801, 802, 803, 804, 805, 806, 807, 808, 809];
  expect(robustExtent([...steady, 1, 9999])).toEqual({ low: 800, high: 809 });
});

test('Of three values none is an outlier', () => {
  expect(robustExtent([1, 2, 1000])).toEqual({ low: 1, high: 1000 });
});
