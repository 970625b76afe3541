import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  defaultBounds,
  holes,
  isSteady,
  secondsUntilSteady,
  steadyStretch,
} from '../../../src/analysis/stats/steady.ts';
import { median } from '../../../src/analysis/stats/summary.ts';
import { parsePktGenLog } from '../../../src/lab/traffic/pkt-gen.ts';
import { describeWith, sharedFolder } from '../../needs.ts';

const repeated = (pps: number, seconds: number): number[] => Array(seconds).fill(pps);
/** Seconds that scatter by up to `ratio` around a rate, as a real DUT's do. */
const scattered = (pps: number, ratio: number, seconds: number) =>
  fc.array(
    fc.double({ min: -ratio, max: ratio, noNaN: true }).map((change) => pps * (1 + change)),
    { minLength: seconds, maxLength: seconds },
  );
const unsteady = (reason: string) => ({ kind: 'unsteady', reason });

test('zeros, the ramp and the tail are left out', () => {
  const pps = [0, 0, 87, 4e5, ...repeated(2e6, 20), 9e5, 0];
  expect(steadyStretch(pps)).toEqual({ kind: 'steady', from: 4, to: 24, medianPps: 2e6 });
});

test('a steady series is steady, regardless of what comes before and after it', () => {
  const zeros = fc.array(fc.constant(0), { maxLength: 30 });
  const ramp = fc.array(fc.double({ min: 1, max: 4.5e6, noNaN: true }), { maxLength: 3 });
  fc.assert(
    fc.property(scattered(5e6, 0.009, 30), zeros, ramp, ramp, (body, before, up, down) => {
      const pps = [...before, ...up, ...body, ...down, ...before];
      const from = before.length + up.length;
      const to = from + body.length;
      expect(steadyStretch(pps)).toEqual({ kind: 'steady', from, to, medianPps: median(body) });
    }),
  );
});

test.for([
  ['nothing', [], 'not one packet was counted'],
  ['only zeros', repeated(0, 60), 'not one packet was counted'],
  [
    'a trial at either end',
    [...repeated(1e6, 3), ...repeated(0, 30), ...repeated(1e6, 3)],
    'most of the time no packet was counted',
  ],
  [
    'a slow fall',
    Array.from({ length: 60 }, (_, second) => 3e6 - 5000 * second),
    'it drifts from 2.953 Mpps to 2.752 Mpps',
  ],
  [
    'two levels in turn',
    Array.from({ length: 60 }, (_, second) => (second % 2 === 0 ? 1e6 : 2e6)),
    'half of its rates are more than 10 % away from 1.500 Mpps',
  ],
  [
    'a fall half-way',
    [...repeated(2e6, 40), ...repeated(1e6, 20)],
    'only 40 of 60 rates lie between the ramp and the tail',
  ],
] as const)('%s is unsteady and says why', ([, pps, reason]) => {
  expect(steadyStretch(pps)).toEqual(unsteady(reason));
});

test('any series has a stretch within it whose median lies between its extremes, or a reason', () => {
  const rates = fc.array(fc.oneof(fc.nat(5), fc.nat(2e7)), { maxLength: 50 });
  fc.assert(
    fc.property(rates, (pps) => {
      const stretch = steadyStretch(pps);
      if (stretch.kind === 'unsteady') {
        expect(stretch.reason).not.toBe('');
        return;
      }
      const within = pps.slice(stretch.from, stretch.to);
      expect(within).toHaveLength(stretch.to - stretch.from);
      expect(stretch.medianPps).toBeGreaterThanOrEqual(Math.min(...within));
      expect(stretch.medianPps).toBeLessThanOrEqual(Math.max(...within));
    }),
  );
});

test('holes are the seconds below a tenth of the median, those in a row as one', () => {
  const pps = [0, 100, 0, 9, 100, 10, 100, 0, 100, 0];
  expect(holes(pps, { from: 1, to: 9 }, 100)).toEqual([
    { from: 2, to: 4 },
    { from: 7, to: 8 },
  ]);
});

test('a steady series is known as soon as it is long enough', () => {
  expect(secondsUntilSteady(repeated(5e6, 60))).toBe(10);
  expect(secondsUntilSteady(repeated(5e6, 60), { atLeast: 20, toleranceRatio: 0.005 })).toBe(20);
});

test('a series that ends or reaches the bound before it is steady is never known', () => {
  const noise = Array.from({ length: 90 }, (_, second) => 1e6 + 2e4 * (second % 2));
  expect(secondsUntilSteady(noise)).toBeUndefined();
  expect(secondsUntilSteady(repeated(5e6, 9))).toBeUndefined();
  expect(secondsUntilSteady([...noise, ...repeated(1.02e6, 900)], { ...defaultBounds, atMost: 90 })).toBeUndefined();
});

test('later seconds do not change when the median was known', () => {
  const later = fc.array(fc.nat(1e7), { maxLength: 20 });
  fc.assert(
    fc.property(scattered(5e6, 0.008, 40), later, (pps, more) => {
      const known = secondsUntilSteady(pps);
      fc.pre(known !== undefined);
      expect(secondsUntilSteady([...pps, ...more])).toBe(known);
    }),
  );
});

test('where it is known, leaving out the last one to five seconds moves the median by no more than the tolerance', () => {
  const lengths = fc.integer({ min: 10, max: 60 });
  const series = lengths.chain((length) => scattered(5e6, 0.01, length));
  fc.assert(
    fc.property(series, fc.integer({ min: 1, max: 5 }), (pps, fewer) => {
      fc.pre(isSteady(pps));
      const now = median(pps);
      const before = median(pps.slice(0, -fewer));
      expect(Math.abs(before - now)).toBeLessThanOrEqual(now * defaultBounds.toleranceRatio);
    }),
  );
});

describeWith(['shared/corpus/runs'], 'the archive’s receivers', () => {
  const receivers = () => {
    const folder = sharedFolder('corpus/runs');
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.receiver'))
      .map((name) => parsePktGenLog(readFileSync(join(folder, name), 'utf8')))
      .map(({ rates }) => rates.map(({ pps }) => pps))
      .filter((pps) => pps.length > 1);
  };

  test('nine of ten are known after at most 15 s, to 0.5 % of the median of the whole run', () => {
    const found = receivers().map((pps) => {
      const seconds = secondsUntilSteady(pps) ?? Number.POSITIVE_INFINITY;
      return { seconds, error: Math.abs(medianOf(pps.slice(0, seconds)) / medianOf(pps) - 1) };
    });
    const seconds = found.map((run) => run.seconds).toSorted((a, b) => a - b);
    const errors = found.map((run) => run.error).toSorted((a, b) => a - b);
    expect(quantile(seconds, 0.9)).toBeLessThanOrEqual(15);
    expect(quantile(errors, 0.9)).toBeLessThanOrEqual(0.005);
  });
});

function medianOf(pps: number[]): number {
  const stretch = steadyStretch(pps);
  return stretch.kind === 'steady' ? stretch.medianPps : Number.NaN;
}

const quantile = (sorted: readonly number[], p: number): number =>
  sorted[Math.ceil(p * sorted.length) - 1] ?? Number.NaN;
