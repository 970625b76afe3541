// Decides for a whole cell whether the generator limited it.
import { expect, test } from 'vitest';
import { limitsOf } from '../../../src/analysis/stats/limited.ts';
import type { Run } from '../../../src/model/result.ts';

const valid = { kind: 'valid' } as const;
const limited = { kind: 'invalid', cause: 'generator-limited', reason: 'limited' } as const;

/** Rates in kpps; those of `limitedAbove` and more reached the offered load. */
const runsOf = (variant: string, limitedAbove: number, ...kpps: number[]): Run[] =>
  kpps.map((rate, index) => ({
    number: index + 1,
    trial: index + 1,
    attempt: 1,
    pair: index + 1,
    variant,
    pps: rate * 1000,
    samples: [],
    validity: rate >= limitedAbove ? limited : valid,
  }));

const decided = (runs: readonly Run[]): Run['validity'][] => runs.map(limitsOf(runs)).map(({ validity }) => validity);

test('a few runs that the generator limited count: without them a variant would lose its fastest runs', () => {
  const runs = [...runsOf('base', 980, 970, 975, 981), ...runsOf('patched', 980, 960, 955, 950)];
  expect(decided(runs)).toEqual(new Array(6).fill(valid));
});

test('no limited run counts where half of the runs of base or patched are limited', () => {
  const runs = [...runsOf('base', 980, 970, 981), ...runsOf('patched', 980, 960, 955)];
  expect(decided(runs)).toEqual([valid, limited, valid, valid]);
});

test('a limited run slower than all valid ones had a slow sender, and does not count', () => {
  const [slow] = runsOf('base', 0, 600);
  const runs = [...runsOf('base', 980, 970, 975), ...(slow ? [slow] : [])];
  expect(decided(runs)).toEqual([valid, valid, limited]);
});

test('runs of an earlier diff do not limit a cell', () => {
  const judged = [...runsOf('base', 980, 970, 975, 981), ...runsOf('patched', 980, 960, 955)];
  const runs = [...judged, ...runsOf('diff 80345', 980, 990, 991)];
  expect(decided(runs).slice(0, 5)).toEqual(new Array(5).fill(valid));
});
