// What the nights of many results weigh in a clone; bench/trend-data.ts says it for 10,000.
import { expect, test } from 'vitest';
import { benchTrendData } from '../../bench/trend-data.ts';

test('nights are small enough that 10,000 of twelve cells are 6 MB', () => {
  const { lines, packBytes, touched } = benchTrendData(1600);
  expect(lines).toBe(1600 * 12);
  expect(packBytes / lines).toBeLessThan(6e6 / (10_000 * 12));
  const years = touched.filter((path) => path.endsWith('.jsonl'));
  expect(years).toHaveLength(12);
  expect(touched.filter((path) => !path.endsWith('.jsonl'))).toEqual([
    'trend/index.json',
    'trend/hp-t540/sparklines.svg',
  ]);
});
