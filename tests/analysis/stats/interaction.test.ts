// Tests whether base and patched differ alike in every trial.
import { expect, test } from 'vitest';
import { interactionOf } from '../../../src/analysis/stats/interaction.ts';
import type { CellResult, Run } from '../../../src/model/result.ts';

/** Pairs by trial, as percents of the logarithm of patched over base. */
const cellOf = (...trials: number[][]): CellResult => ({
  cell: { scenario: 'forwarding', family: 'inet4' },
  verdict: { kind: 'no-regression' },
  design: { name: 'fixed', budgets: [9], pairsPerStep: 3, method: 'paired' },
  baseline: { kind: 'unknown' },
  pairs: trials.flat().length,
  comparisons: [],
  others: [],
  profiles: [],
  runs: trials.flatMap((percents, trial) =>
    percents.flatMap((percent, pair): Run[] =>
      (['base', 'patched'] as const).map((variant) => ({
        number: 1,
        trial: trial + 1,
        attempt: 1,
        pair: pair + 1,
        variant,
        pps: variant === 'base' ? 1e6 : 1e6 * Math.exp(percent / 100),
        samples: [],
        validity: { kind: 'valid' },
      })),
    ),
  ),
});

test('trials that differ more than their pairs do give a large F', () => {
  // Means 2, 3 and 6 with three pairs each: 26 / 2 over 6 / 6; P(F(2, 6) > f) = (1 + f/3)^-3.
  const interaction = interactionOf(cellOf([1, 2, 3], [2, 3, 4], [5, 6, 7]), 'pps');
  expect(interaction?.f).toBeCloseTo(13, 9);
  expect(interaction?.degreesOfFreedom).toEqual([2, 6]);
  expect(interaction?.probability).toBeCloseTo((1 + 13 / 3) ** -3, 12);
});

test('a machine without noise, single trials and single pairs show no interaction', () => {
  expect(interactionOf(cellOf([1, 1], [1, 1]), 'pps')).toBeUndefined();
  expect(interactionOf(cellOf([1, 2, 3]), 'pps')).toBeUndefined();
  expect(interactionOf(cellOf([1], [2], [3]), 'pps')).toBeUndefined();
});
