// Finds the change points in the level of a series of nightly runs.
import fc from 'fast-check';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { expect, test } from 'vitest';
import { standardNormal } from '../../../bench/normal.ts';
import {
  changePoints,
  changesRunByRun,
  lastLevel,
  nightlySigmaRatio,
} from '../../../src/analysis/stats/change-points.ts';

/** Deviations, the same at each call. `correlation` is that of neighbours. */
function noise(count: number, correlation = 0, seed = 1): number[] {
  const random = xoroshiro128plus(seed);
  let state = standardNormal(random);
  return Array.from({ length: count }, () => {
    const deviations = state;
    state = correlation * state + Math.sqrt(1 - correlation ** 2) * standardNormal(random);
    return deviations;
  });
}

const nightlyRuns = (count: number, level = (_index: number) => 1): number[] =>
  noise(count).map((deviation, index) => 1e6 * Math.exp(0.0025 * deviation) * level(index));
const placesOf = (values: readonly number[]): number[] => changePoints(values).map(({ index }) => index);

test('a constant level is no change, however long', () => {
  expect(changesRunByRun(nightlyRuns(200))).toEqual([]);
});

test('nightly runs that resemble their neighbours wander without a change, and a loss among them is found', () => {
  const wandering = (seed: number) => noise(250, 0.5, seed).map((deviation) => Math.exp(0.006 * deviation));
  for (const seed of [1, 2]) expect(changesRunByRun(wandering(seed))).toEqual([]);
  const lossy = wandering(1).map((value, index) => (index < 150 ? value : 0.97 * value));
  expect(changesRunByRun(lossy)).toEqual([expect.objectContaining({ index: 150 })]);
});

test('it is found within three nightly runs, and once', () => {
  const values = nightlyRuns(60, (index) => (index < 40 ? 1 : 0.96));
  const [found, ...others] = changesRunByRun(values);
  expect(found).toMatchObject({ index: 40 });
  expect(found?.foundAt).toBeLessThanOrEqual(42);
  expect(others).toEqual([]);
});

test('one or two bad nightly runs in a row are no change; three are', () => {
  const withBad = (bad: number) => nightlyRuns(60, (index) => (index >= 57 - bad && index < 57 ? 0.8 : 1)).slice(0, 57);
  expect(placesOf(withBad(1))).toEqual([]);
  expect(placesOf(withBad(2))).toEqual([]);
  expect(placesOf(withBad(3))).toEqual([54]);
});

test('a change below the smallest that matters is left out', () => {
  const values = nightlyRuns(80, (index) => (index < 40 ? 1 : 0.992));
  expect(placesOf(values)).toEqual([]);
  expect(changePoints(values, [], 0.005).map(({ index }) => index)).toEqual([40]);
});

test('a machine that alternates between two levels has no change', () => {
  const values = nightlyRuns(120, (index) => (index % 3 === 0 || index % 7 < 2 ? 0.95 : 1));
  expect(changesRunByRun(values)).toEqual([]);
});

test('the places where a step may be hold the true one, and are fewer the greater it is', () => {
  const spanOf = (ratio: number): number => {
    const values = nightlyRuns(80, (index) => (index < 40 ? 1 : 1 + ratio));
    const [found] = changePoints(values, [], 0.004);
    const { earliest = 0, latest = 0 } = found ?? {};
    expect(earliest).toBeLessThanOrEqual(40);
    expect(latest).toBeGreaterThanOrEqual(40);
    return latest - earliest;
  };
  expect(spanOf(-0.1)).toBeLessThanOrEqual(1);
  expect(spanOf(-0.005)).toBeGreaterThan(spanOf(-0.1));
});

test('a known change is not found again, even some nightly runs beside it', () => {
  const values = nightlyRuns(60, (index) => (index < 40 ? 1 : 0.96));
  expect(changePoints(values, [38])).toEqual([]);
  expect(changePoints(values, [30]).map(({ index }) => index)).toEqual([40]);
});

test('a series of fewer than eight nightly runs shows nothing', () => {
  const levels = [1, 1, 1, 1, 0.5, 0.5, 0.5];
  const values = nightlyRuns(levels.length, (index) => levels[index] ?? 1);
  expect(changePoints(values)).toEqual([]);
  expect(lastLevel(values)).toBeUndefined();
});

test('the scatter of nightly runs does not depend on steps, and is never zero', () => {
  const plain = nightlySigmaRatio(nightlyRuns(100));
  const stepped = nightlySigmaRatio(nightlyRuns(100, (index) => (index < 50 ? 1 : 0.5)));
  expect(stepped).toBeCloseTo(plain, 3);
  expect(nightlySigmaRatio([1, 1, 1, 1])).toBeGreaterThan(0);
});

test('places do not depend on the unit', () => {
  const deviations = fc.array(fc.double({ min: -0.02, max: 0.02, noNaN: true }), {
    minLength: 8,
    maxLength: 40,
  });
  fc.assert(
    fc.property(deviations, fc.nat(40), (all, stepAt) => {
      const values = all.map((x, index) => Math.exp(x) * (index < stepAt ? 1 : 0.8));
      expect(placesOf(values.map((value) => value * 1024))).toEqual(placesOf(values));
    }),
    { numRuns: 40 },
  );
});
