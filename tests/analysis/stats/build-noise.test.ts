// Compares the spread of builds with that of runs of one build, from a cell with several layouts.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { mean } from 'simple-statistics';
import { describe, expect, test } from 'vitest';
import { standardNormal } from '../../../bench/normal.ts';
import { buildNoise } from '../../../src/analysis/stats/build-noise.ts';
import { boundsOf, onePerLayout } from '../../../src/analysis/stats/evidence.ts';
import { evidenceOf } from '../../../src/analysis/stats/interim-result.ts';
import type { CellResult, Run } from '../../../src/model/result.ts';
import { aCell, aRun } from '../../fakes/result.ts';

/** Runs of both variants, pair by pair; `layouts` are those of base and of patched. */
function cellOf(
  pps: readonly (readonly [number, number])[],
  layouts: readonly [readonly number[], readonly number[]],
): CellResult {
  const variants = ['base', 'patched'] as const;
  const runs = pps.flatMap((both, index) =>
    variants.map((variant, which): Run => {
      const own = layouts[which] ?? [];
      const layout = own[index % own.length];
      const pair = index + 1;
      return aRun({
        variant,
        pair,
        trial: 2 * index + which + 1,
        pps: both[which] ?? 0,
        ...(layout !== undefined && { layout }),
      });
    }),
  );
  return { ...aCell({ kind: 'no-regression' }), runs, pairs: pps.length };
}

/** The same layouts of base and of patched. */
const both = (...layouts: number[]) => [layouts, layouts] as const;

const repeated = <T>(count: number, draw: () => T): T[] => Array.from({ length: count }, draw);

test('layouts that were booted once each show builds and runs together', () => {
  const cell = cellOf(
    [
      [1, 1],
      [Math.exp(0.02), Math.exp(0.02)],
    ],
    both(1, 2),
  );
  expect(buildNoise(cell, 'pps', false)).toEqual({
    layouts: 4,
    withinLayouts: undefined,
    betweenLayouts: undefined,
    together: expect.closeTo(0.01 * Math.SQRT2, 10),
  });
});

test('a tree against another layout of itself has its builds in the difference of the two', () => {
  const runs = [
    [1, Math.exp(0.04)],
    [1, Math.exp(0.04)],
  ] as const;
  expect(buildNoise(cellOf(runs, [[1], [9]]), 'pps', true)).toMatchObject({
    layouts: 2,
    withinLayouts: 0,
    betweenLayouts: expect.closeTo(0.02 * Math.SQRT2, 10),
  });
});

test('both noises are found on average where they are known, however uneven the layouts are', () => {
  const random = xoroshiro128plus(5);
  const found = repeated(2000, () => {
    const builds = repeated(10, () => 0.005 * standardNormal(random));
    const run = (build: number) => Math.exp((builds[build] ?? 0) + 0.01 * standardNormal(random));
    const runs = Array.from({ length: 12 }, (_, pair) => [run(pair % 5), run(5 + (pair % 5))] as const);
    return buildNoise(cellOf(runs, both(1, 2, 3, 4, 5)), 'pps', false);
  });
  const squares = (key: 'betweenLayouts' | 'withinLayouts') =>
    mean(found.map((noise) => (noise?.[key] ?? Number.NaN) ** 2));
  expect(Math.sqrt(squares('withinLayouts'))).toBeCloseTo(0.01, 3);
  // It is never negative, so on average slightly above the true value.
  expect(Math.sqrt(squares('betweenLayouts'))).toBeGreaterThan(0.0047);
  expect(Math.sqrt(squares('betweenLayouts'))).toBeLessThan(0.0065);
});

describe('runs of one layout', () => {
  test('count as one number, their geometric mean, at the mean of their trials', () => {
    const runs = [4, 1, 9].map((value, index) => ({
      value,
      trial: 3 * index,
      layout: index === 2 ? 2 : 1,
    }));
    expect(onePerLayout(runs)).toEqual([
      { value: expect.closeTo(2, 10), trial: 1.5 },
      { value: expect.closeTo(9, 10), trial: 6 },
    ]);
  });

  test('count each where there is no other layout', () => {
    for (const layout of [undefined, 9]) {
      const runs = [4, 1, 9].map((value, trial) => ({ value, trial, layout }));
      expect(onePerLayout(runs)).toEqual(runs);
    }
  });

  test('make evidence no surer by their number', () => {
    const counted = (copies: number) => {
      const runs = (variant: string, pps: readonly number[]) =>
        pps.flatMap((value, index) => repeated(copies, () => aRun({ variant, pps: value, layout: index + 1 })));
      return { base: runs('base', [100, 102, 101]), patched: runs('patched', [99, 101, 103]) };
    };
    const widthOf = (copies: number) => {
      const { low, high } = boundsOf(evidenceOf(counted(copies), 'pps', 'pooled'), 0.05);
      return high - low;
    };
    expect(widthOf(7)).toBeCloseTo(widthOf(1), 10);
  });
});
