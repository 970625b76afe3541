// Cells that are split over testbeds: how they are dealt, what each part is held to, and the one result of all.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assembleResult } from '../../src/experiment/assemble.ts';
import { dealt, shareOf, together } from '../../src/experiment/parts.ts';
import { cellsOf, makePlan, policyOf } from '../../src/experiment/plan.ts';
import { type Cell, cellName, families } from '../../src/words/scenario.ts';
import { journalOf, still } from '../fakes/journal.ts';
import { aConfig, overlays } from '../fakes/plan.ts';
import { pullRequest } from '../fakes/result.ts';

const frameSizes = fc.uniqueArray(fc.integer({ min: 64, max: 1518 }), {
  minLength: 1,
  maxLength: 12,
});
const cells = frameSizes.map((sizes) =>
  cellsOf(aConfig({ families: [...families], frameSizes: sizes })),
);
const parts = fc.integer({ min: 1, max: 8 });

test('every cell is of one part, none is empty, and they differ by one cell at most', () => {
  fc.assert(
    fc.property(cells, parts, (all, most) => {
      const deal = dealt(all, most);
      const names = (some: readonly Cell[]) => some.map(cellName).toSorted();
      expect(names(deal.flat())).toEqual(names(all));
      const sizes = deal.map(({ length }) => length);
      expect(deal.length).toBe(Math.min(most, all.length));
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
      expect(Math.min(...sizes)).toBeGreaterThan(0);
    }),
  );
});

test('the false alarms of all parts are those of the whole, and nothing else is shared', () => {
  fc.assert(
    fc.property(cells, parts, (all, most) => {
      const config = aConfig();
      const shares = dealt(all, most).map((own) => shareOf(config, own.length, all.length));
      const sum = shares.reduce((total, { gate }) => total + gate.falseAlarmRatio, 0);
      expect(sum).toBeCloseTo(config.gate.falseAlarmRatio, 12);
      for (const { gate, ...rest } of shares) {
        expect({ ...rest, gate: { ...gate, falseAlarmRatio: sum } }).toEqual({
          ...config,
          gate: { ...config.gate, falseAlarmRatio: sum },
        });
      }
    }),
  );
});

const config = aConfig({ families: [...families] });
const all = cellsOf(config);

/** The part of a testbed, on which patched forwards so many times what base does. */
function partOn(testbed: string, cell: number, speed: number) {
  const plan = makePlan(
    {
      ...{ patch: pullRequest, config: shareOf(config, 1, 2), testbed, seed: cell },
      cells: all.slice(cell, cell + 1),
    },
    overlays,
    [],
  );
  return { result: assembleResult(plan, journalOf(plan, { ...still, speed })), folder: testbed };
}

test('the result of all parts has their cells in the order that was asked for', () => {
  const whole = together([partOn('b', 1, 0.8), partOn('a', 0, 1)], policyOf(config), all);
  expect(whole.testbed.name).toBe('b and a');
  expect(whole.outcome).toMatchObject({
    verdict: 'regression',
    cells: [
      { cell: all[0], verdict: { kind: 'no-regression' } },
      { cell: all[1], verdict: { kind: 'regression' } },
    ],
  });
});

test('files of a part are named from the folder of the whole', () => {
  const whole = together([partOn('a', 0, 1), partOn('b', 1, 1)], policyOf(config), all);
  const folders = whole.blasts.map(({ logs }) => logs.split('/')[0]);
  expect(new Set(folders)).toEqual(new Set(['a', 'b']));
});

test('where one part ran out of disk the whole did, unless another has found a regression', () => {
  const message = 'No space left on device';
  const outcome = { kind: 'out-of-disk', message } as const;
  const full = { ...partOn('b', 1, 1), result: { ...partOn('b', 1, 1).result, outcome } };
  const wholeWith = (speed: number) =>
    together([partOn('a', 0, speed), full], policyOf(config), all).outcome;
  expect(wholeWith(1)).toEqual(outcome);
  expect(wholeWith(0.8)).toMatchObject({ kind: 'judged', verdict: 'regression' });
});
