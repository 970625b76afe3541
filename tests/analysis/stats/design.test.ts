// Looks of each design, and the error that each may spend.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crossingProbability } from '../../../src/analysis/stats/boundary.ts';
import { analysesOf, analysisSizes, type Design } from '../../../src/analysis/stats/design.ts';
import { designNames } from '../../../src/model/result.ts';
import { times } from '../../random.ts';

const rates = { falseAlarms: 0.01, misses: 0.05, outside: 0.025 };
const rateNames = ['falseAlarms', 'misses', 'outside'] as const;
/** Shares of the rates that the planned budget spends. */
const planned = { falseAlarms: 0.9, misses: 0.8, outside: 0.9 };

/** Boots of a cell, at most twenty of each variant. */
const aDesign = (changes: Partial<Design> = {}): Design => ({
  name: 'group-sequential',
  budgets: [20],
  pairsPerStep: 1,
  method: 'pooled',
  ...changes,
});

const anyDesign = fc.record({
  name: fc.constantFrom(...designNames),
  budgets: fc
    .array(fc.integer({ min: 2, max: 8 }), { minLength: 1, maxLength: 3 })
    .map((more) => more.map((_, index) => sum(more.slice(0, index + 1)))),
  pairsPerStep: fc.integer({ min: 1, max: 5 }),
  method: fc.constantFrom('paired', 'pooled'),
});

describe('looks are placed', () => {
  const sizesOf = (changes: Partial<Design>) => analysisSizes(aDesign(changes));

  test('once in a fixed design, when all runs are there', () => {
    expect(sizesOf({ name: 'fixed', budgets: [20] })).toEqual([20]);
  });

  test.for([
    [20, [2, 3, 4, 6, 8, 11, 15, 20]],
    [10, [2, 3, 4, 6, 8, 10]],
    [40, [2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 40]],
    [2, [2]],
    [1, [1]],
  ] as const)('in growing steps in a group-sequential design of %d pairs', ([budget, sizes]) => {
    expect(sizesOf({ budgets: [budget] })).toEqual(sizes);
  });

  test('after every step where pairs come together', () => {
    expect(sizesOf({ pairsPerStep: 8, budgets: [24] })).toEqual([8, 16, 24]);
    expect(sizesOf({ pairsPerStep: 8, budgets: [20] })).toEqual([8, 16, 20]);
    expect(sizesOf({ pairsPerStep: 8, budgets: [8] })).toEqual([8]);
  });

  test('after every twentieth part more where steps have become many', () => {
    const sizes = sizesOf({ pairsPerStep: 2, budgets: [120] });
    expect(sizes.slice(0, 3)).toEqual([2, 4, 6]);
    expect(sizes.slice(-4)).toEqual([106, 112, 118, 120]);
    expect(sizesOf({ pairsPerStep: 2, budgets: [2000] }).length).toBeLessThan(110);
  });

  test.for([
    ['fixed', [20, 40], [20, 40]],
    ['group-sequential', [20, 40], [2, 3, 4, 6, 8, 11, 15, 20, 27, 36, 40]],
    ['group-sequential', [5, 10, 12], [2, 3, 4, 5, 6, 8, 10, 11, 12]],
  ] as const)('in %s, extended to %j pairs, as if planned so, and at the end of each', ([name, budgets, sizes]) => {
    expect(sizesOf({ name, budgets: [...budgets] })).toEqual(sizes);
  });

  test('in order, each once, with one at the end of every budget', () => {
    fc.assert(
      fc.property(anyDesign, (design) => {
        const sizes = analysisSizes(design);
        expect(sizes).toEqual([...new Set(sizes)].toSorted((a, b) => a - b));
        expect(sizes).toEqual(expect.arrayContaining(design.budgets));
        expect(sizes.at(-1)).toBe(design.budgets.at(-1));
        expect(analysesOf(design, rates).map(({ pairs }) => pairs)).toEqual(sizes);
      }),
      { numRuns: times(15) },
    );
  });
});

describe('levels', () => {
  test('of a fixed design are the planned shares of the rates', () => {
    const looks = analysesOf(aDesign({ name: 'fixed' }), rates);
    expect(looks).toHaveLength(1);
    for (const name of rateNames) {
      expect((looks[0]?.levels[name] ?? 0) / rates[name]).toBeCloseTo(planned[name], 3);
    }
  });

  test('spend a share of each rate as planned, and half of the rest in each extension', () => {
    const budgets = [4, 6, 8, 10, 12, 14, 16, 18];
    for (const name of designNames) {
      const looks = analysesOf(aDesign({ name, budgets }), rates);
      for (const rate of rateNames) {
        const spent = budgets.map((budget, stage) => {
          const own = looks.filter(({ pairs }) => pairs > (budgets[stage - 1] ?? 0) && pairs <= budget);
          return crossingProbability(
            own.map(({ pairs }) => pairs),
            own.map(({ levels }) => levels[rate]),
          );
        });
        spent.forEach((one, stage) => {
          const share = stage === 0 ? planned[rate] : (1 - planned[rate]) * 0.5 ** stage;
          expect(one / rates[rate] / share).toBeCloseTo(1, 2);
        });
        expect(sum(spent)).toBeLessThan(rates[rate]);
      }
    }
  });

  test('of looks that are over are not changed by an extension', () => {
    fc.assert(
      fc.property(anyDesign, fc.integer({ min: 1, max: 8 }), (design, more) => {
        const before = analysesOf(design, rates);
        const budgets = [...design.budgets, (design.budgets.at(-1) ?? 0) + more];
        const after = analysesOf({ ...design, budgets }, rates);
        expect(after.slice(0, before.length)).toEqual(before);
        expect(after.length).toBeGreaterThan(before.length);
      }),
      { numRuns: times(15) },
    );
  });
});

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
