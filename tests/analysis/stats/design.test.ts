// Looks of each design, and the error that each may spend.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crossingProbability } from '../../../src/analysis/stats/boundary.ts';
import {
  type Design,
  type InterimAnalysis,
  levelsAt,
  lookSizes,
  looksOf,
} from '../../../src/analysis/stats/design.ts';
import { criticalT } from '../../../src/analysis/stats/student.ts';
import { designNames } from '../../../src/model/result.ts';
import { times } from '../../random.ts';

const rates = { falseAlarms: 0.01, misses: 0.05, outside: 0.025 };
const rateNames = ['falseAlarms', 'misses', 'outside'] as const;

/** Boots of a cell without history, to be looked at after every pair up to the twentieth. */
const aDesign = (changes: Partial<Design> = {}): Design => ({
  name: 'glr',
  budgets: [20],
  pairsPerStep: 1,
  method: 'pooled',
  earlierDegreesOfFreedom: 0,
  ...changes,
});

const anyDesign = fc.record({
  name: fc.constantFrom(...designNames),
  budgets: fc
    .array(fc.integer({ min: 2, max: 8 }), { minLength: 1, maxLength: 3 })
    .map((more) => more.map((_, index) => sum(more.slice(0, index + 1)))),
  pairsPerStep: fc.integer({ min: 1, max: 5 }),
  method: fc.constantFrom('paired', 'pooled'),
  earlierDegreesOfFreedom: fc.nat(29),
});

describe('looks come', () => {
  const sizesOf = (changes: Partial<Design>) => lookSizes(aDesign(changes));

  test('once in a fixed design, when all runs are there', () => {
    expect(sizesOf({ name: 'fixed', budgets: [20] })).toEqual([20]);
  });

  test.for([
    [20, [3, 5, 8, 12, 20]],
    [10, [3, 5, 8, 10]],
    [40, [3, 5, 8, 12, 20, 31, 40]],
    [2, [2]],
  ] as const)('in growing steps in a group-sequential design of %d pairs', ([budget, sizes]) => {
    expect(sizesOf({ name: 'group-sequential', budgets: [budget] })).toEqual(sizes);
  });

  test.for([
    ['the second where the noise is not known', 0, 6, [2, 3, 4, 5, 6]],
    ['the first where ten earlier runs have told it', 9, 4, [1, 2, 3, 4]],
    ['the last where there is but one', 0, 1, [1]],
  ] as const)(
    'after every pair with a likelihood ratio, from %s',
    ([, earlierDegreesOfFreedom, budget, sizes]) => {
      expect(sizesOf({ budgets: [budget], earlierDegreesOfFreedom })).toEqual(sizes);
    },
  );

  test('after every twentieth part more where pairs have become many', () => {
    expect(sizesOf({ budgets: [40] }).slice(-8)).toEqual([28, 29, 30, 32, 34, 36, 38, 40]);
    expect(sizesOf({ budgets: [1000] }).length).toBeLessThan(110);
  });

  test.for(['group-sequential', 'glr'] as const)(
    'in %s after every step where pairs come together',
    (name) => {
      expect(sizesOf({ name, pairsPerStep: 8, budgets: [24] })).toEqual([8, 16, 24]);
      expect(sizesOf({ name, pairsPerStep: 8, budgets: [20] })).toEqual([8, 16, 20]);
      expect(sizesOf({ name, pairsPerStep: 8, budgets: [8] })).toEqual([8]);
    },
  );

  test.for([
    ['fixed', [20, 40], [20, 40]],
    ['group-sequential', [20, 40], [3, 5, 8, 12, 20, 31, 40]],
    ['group-sequential', [4, 10, 12], [3, 4, 5, 8, 10, 12]],
    ['glr', [4, 7], [2, 3, 4, 5, 6, 7]],
  ] as const)(
    'in %s, extended to %j pairs, as if planned so, and at the end of each',
    ([name, budgets, sizes]) => {
      expect(sizesOf({ name, budgets })).toEqual(sizes);
    },
  );

  test('in order, each once, with one at the end of every budget', () => {
    fc.assert(
      fc.property(anyDesign, (design) => {
        const sizes = lookSizes(design);
        expect(sizes).toEqual([...new Set(sizes)].toSorted((a, b) => a - b));
        expect(sizes).toEqual(expect.arrayContaining(design.budgets));
        expect(sizes.at(-1)).toBe(design.budgets.at(-1));
        expect(looksOf(design, rates).map(({ pairs }) => pairs)).toEqual(sizes);
      }),
      { numRuns: times(15) },
    );
  });
});

describe('levels', () => {
  test('of a fixed design are four fifths of the rates', () => {
    const looks = looksOf(aDesign({ name: 'fixed' }), rates);
    expect(looks).toHaveLength(1);
    for (const name of rateNames) {
      expect((looks[0]?.levels[name] ?? 0) / rates[name]).toBeCloseTo(0.8, 3);
    }
  });

  test('of a group-sequential design are the same at all looks that were planned', () => {
    const levels = looksOf(aDesign({ name: 'group-sequential' }), rates).map((look) => look.levels);
    for (const one of levels) expect(one).toEqual(levels[0]);
  });

  test('of a likelihood ratio of pairs that lie side by side hold it to one threshold', () => {
    const thresholds = looksOf(aDesign({ method: 'paired' }), rates).map(({ pairs, levels }) => {
      const df = pairs - 1;
      return (df + 2) * Math.log1p(criticalT(df, levels.falseAlarms) ** 2 / df);
    });
    for (const one of thresholds) expect(one / (thresholds[0] ?? 0)).toBeCloseTo(1, 6);
  });

  test.for([
    ['misses', 1],
    ['falseAlarms', 2],
  ] as const)(
    'of a likelihood ratio of boots fall as the pairs grow: of %s from pair %d on',
    ([name, first]) => {
      const looks = looksOf(aDesign({ earlierDegreesOfFreedom: 9 }), rates);
      const told = looks.filter(({ levels }) => levels[name] > 0);
      expect(told[0]?.pairs).toBe(first);
      const products = told.map(({ pairs, levels }) => pairs * levels[name]);
      for (const one of products) expect(one / (products[0] ?? 0)).toBeCloseTo(1, 9);
    },
  );

  test('tell a loss the later the less is known of the noise, and the fewer false alarms are left', () => {
    const firstAlarm = (earlierRuns: number, sharers: number) =>
      looksOf(aDesign({ earlierDegreesOfFreedom: Math.max(0, earlierRuns - 1) }), {
        ...rates,
        falseAlarms: rates.falseAlarms / sharers,
      }).find(({ levels }) => levels.falseAlarms > 0)?.pairs;
    expect([30, 10, 0].map((runs) => firstAlarm(runs, 1))).toEqual([2, 2, 3]);
    expect([30, 10, 0].map((runs) => firstAlarm(runs, 12))).toEqual([2, 4, 5]);
  });

  test('of all looks together spend no more than each rate, however often an experiment is extended', () => {
    for (const name of designNames) {
      const budgets = [4, 6, 8, 10, 12, 14, 16, 18];
      const looks = looksOf(aDesign({ name, budgets }), rates);
      const spent = budgets.map((budget, stage) => {
        const own = looks.filter(
          ({ pairs }) => pairs > (budgets[stage - 1] ?? 0) && pairs <= budget,
        );
        const sizes = own.map(({ pairs }) => pairs);
        return crossingProbability(
          sizes,
          own.map(({ levels }) => levels.misses),
        );
      });
      const planned = name === 'glr' ? 0.9 : 0.8;
      expect(spent[0]).toBeCloseTo(planned * rates.misses, 4);
      expect(spent[1]).toBeCloseTo(((1 - planned) / 2) * rates.misses, 4);
      expect(sum(spent)).toBeLessThan(rates.misses);
    }
  });

  test('of looks that are over are not changed by an extension', () => {
    fc.assert(
      fc.property(anyDesign, fc.integer({ min: 1, max: 8 }), (design, more) => {
        const before = looksOf(design, rates);
        const budgets = [...design.budgets, (design.budgets.at(-1) ?? 0) + more];
        const after = looksOf({ ...design, budgets }, rates);
        expect(after.slice(0, before.length)).toEqual(before);
        expect(after.length).toBeGreaterThan(before.length);
      }),
      { numRuns: times(15) },
    );
  });
});

describe('the noise that is met', () => {
  const looks = looksOf(aDesign({ earlierDegreesOfFreedom: 9 }), rates);
  const alarmsAt = (look: InterimAnalysis, deviation: number) => {
    const degreesOfFreedom = 2 * look.pairs + 7;
    const standardError = deviation * Math.sqrt(2 / look.pairs);
    const evidence = {
      method: 'pooled',
      base: 1,
      effect: 0,
      standardError,
      degreesOfFreedom,
    } as const;
    return levelsAt(look, evidence, 0.02).falseAlarms;
  };

  test('lets a quiet cell spend its alarms on the few pairs that it will take, and a noisy one on all', () => {
    for (const look of looks.filter(({ levels }) => levels.falseAlarms > 0)) {
      const levels = [0.002, 0.005, 0.01, 0.1].map((deviation) => alarmsAt(look, deviation));
      expect(levels).toEqual(levels.toSorted((a, b) => b - a));
      expect(levels.at(-1)).toBe(look.levels.falseAlarms);
      expect(levels[0]).toBeLessThanOrEqual(look.levels.misses);
    }
    const [, second] = looks;
    expect(second && alarmsAt(second, 0.002)).toBeCloseTo(0.8 * rates.falseAlarms, 5);
  });

  test('changes nothing where little of it is known, where cells share the alarms, and of a first pair', () => {
    const unknown = looksOf(aDesign(), rates);
    const shared = looksOf(aDesign({ earlierDegreesOfFreedom: 9 }), {
      ...rates,
      falseAlarms: 1e-3,
    });
    for (const look of [...unknown, ...shared, ...looks.slice(0, 1)]) {
      expect(alarmsAt(look, 0.002)).toBe(look.levels.falseAlarms);
    }
  });
});

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
