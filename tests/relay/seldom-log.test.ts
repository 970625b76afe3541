// Failures that recur each round are logged at growing intervals.
import { expect, test } from 'vitest';
import { seldomLog } from '../../src/relay/seldom-log.ts';

test('A sentence that recurs every ten seconds is logged at intervals that grow from a minute to an hour', () => {
  let seconds = 0;
  const at: number[] = [];
  const log = seldomLog(
    () => at.push(seconds),
    () => new Date(seconds * 1000),
  );
  for (; seconds <= 5 * 3600; seconds += 10) log('The token is not valid.');
  expect(at).toEqual([0, 60, 180, 420, 900, 1860, 3780, 7380, 10_980, 14_580]);
});

test('A sentence that has not recurred for two hours is logged at once', () => {
  let seconds = 0;
  const logged: number[] = [];
  const log = seldomLog(
    () => logged.push(seconds),
    () => new Date(seconds * 1000),
  );
  for (; seconds < 600; seconds += 10) log('Away.');
  seconds += 7300;
  log('Away.');
  expect(logged.at(-1)).toBe(seconds);
});

test('Another sentence is logged at once', () => {
  const logged: string[] = [];
  const log = seldomLog(
    (sentence) => logged.push(sentence),
    () => new Date(0),
  );
  for (const sentence of ['one', 'two', 'one', 'two']) log(sentence);
  expect(logged).toEqual(['one', 'two']);
});
