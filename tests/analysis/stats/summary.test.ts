import { expect, test } from 'vitest';
import { median } from '../../../src/analysis/stats/summary.ts';

test('the median is the middle value, for any order', () => {
  expect(median([9, 1, 5])).toBe(5);
});

test('of an even count it is the mean of the two in the middle', () => {
  expect(median([1, 100, 3, 2])).toBe(2.5);
});

test('of nothing it is 0', () => {
  expect(median([])).toBe(0);
});
