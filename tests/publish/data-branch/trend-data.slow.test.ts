// Size of many results' nightly runs in a clone; bench/trend-data.ts measures 10,000.
import { expect, test } from 'vitest';
import { benchTrendData } from '../../../bench/trend-data.ts';

test('a nightly run weighs some 50 bytes in a clone, with the index and the pictures', () => {
  const { lines, packBytes, touched } = benchTrendData(800);
  expect(lines).toBe(800 * 12);
  expect(packBytes / lines).toBeLessThan(55);
  const years = touched.filter((path) => path.endsWith('.jsonl'));
  expect(years).toHaveLength(12);
  expect(touched.filter((path) => !path.endsWith('.jsonl'))).toEqual([
    'trend/index.json',
    'trend/hp-t540/sparklines.svg',
  ]);
});
