import fc from 'fast-check';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { describe, expect, test } from 'vitest';
import { standardNormal } from '../../../bench/normal.ts';
import { moderated } from '../../../src/analysis/stats/evidence.ts';
import {
  alsoInformative,
  nextBuilds,
  nextStep,
  probabilities,
  type SearchCosts,
  type SearchOutcome,
  type SearchProblem,
  takenForFailed,
} from '../../../src/gate/bisect/search.ts';
import { times } from '../../random.ts';

const costs: SearchCosts = { runMinutes: 5, waitMinutes: () => 0 };

const problemOf = (over: Partial<SearchProblem> = {}): SearchProblem => ({
  steps: 100,
  measured: new Map(),
  failed: new Map(),
  skipped: new Set(),
  history: moderated({ sumOfSquares: 20 * 0.004 ** 2, degreesOfFreedom: 20 }),
  mostBoots: 60,
  boots: 0,
  ...over,
});

/** Searches until there is an answer; `boot` returns the rate of a position, or undefined if it fails. */
function search(
  boot: (position: number) => number | undefined,
  over: Partial<SearchProblem> = {},
): { ending: SearchOutcome; boots: number[] } {
  const measured = new Map<number, number[]>();
  const failed = new Map<number, { kind: string; isSure: boolean }>();
  const boots: number[] = [];
  for (;;) {
    const step = nextStep(problemOf({ ...over, measured, failed, boots: boots.length }), costs);
    if (step.kind === 'ended') return { ending: step.ending, boots };
    const { position } = step;
    boots.push(position);
    const rate = boot(position);
    if (rate === undefined) {
      failed.set(position, { kind: 'boot-failed', isSure: failed.has(position) });
    } else {
      failed.delete(position);
      measured.set(position, [...(measured.get(position) ?? []), Math.log(rate)]);
    }
  }
}

const drop = (culprit: number, ratio: number) => (position: number) => (position < culprit ? 1e6 : 1e6 * ratio);

/** The last digits of sums may differ. */
const withoutProbability = (step: ReturnType<typeof nextStep>): unknown =>
  JSON.parse(JSON.stringify(step, (key, value) => (key === 'probability' ? undefined : value)));

describe('a search', () => {
  test('names the commit that changed the rate, whichever it is', () => {
    fc.assert(
      fc.property(
        fc
          .integer({ min: 1, max: 400 })
          .chain((steps) => fc.tuple(fc.constant(steps), fc.integer({ min: 1, max: steps }))),
        fc.constantFrom(0.44, 0.9, 1.08),
        ([steps, culprit], ratio) => {
          const { ending, boots } = search(drop(culprit, ratio), { steps });
          expect(ending).toMatchObject({ kind: 'found', after: culprit - 1, last: culprit });
          expect(boots.length).toBeLessThanOrEqual(Math.ceil(Math.log2(steps)) + 8);
        },
      ),
    );
  });

  test('boots good and bad twice before anything else, and both neighbours before it names one: a third time where the next one measured is far', () => {
    const { boots } = search(drop(37, 0.9));
    expect(boots.slice(0, 4).toSorted((a, b) => a - b)).toEqual([0, 0, 100, 100]);
    // 25 is the next one measured before it: 11 steps, against 1 after 37.
    expect(boots.filter((position) => position === 36)).toHaveLength(3);
    expect(boots.filter((position) => position === 37)).toHaveLength(2);
  });

  test('does not name a commit whose two boots may be outliers while the next one measured is far', () => {
    const measured = new Map([
      [0, [0, 0.001]],
      [49, [0, 0.001]],
      [50, [-0.1, -0.101]],
      [100, [-0.1, -0.101]],
    ]);
    const next = nextStep(problemOf({ measured, boots: 8 }), costs);
    expect(next).toEqual({ kind: 'measure', position: 50, why: 'confirm' });
    const nearer = new Map([...measured, [48, [0]], [51, [-0.1]]]);
    expect(nextStep(problemOf({ measured: nearer, boots: 10 }), costs)).toMatchObject({
      kind: 'ended',
      ending: { kind: 'found', after: 49, last: 50 },
    });
  });

  test('does not name the commit that was slow once by chance', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 4, max: 14 }), (culprit, slowAt) => {
        let boots = 0;
        const { ending } = search((position) => {
          boots += 1;
          return drop(culprit, 0.95)(position) * (boots === slowAt ? 0.95 : 1);
        });
        expect(ending).toMatchObject({ kind: 'found', after: culprit - 1, last: culprit });
      }),
    );
  });

  test('reports that nothing was reproduced if good and bad are equal', () => {
    const { ending, boots } = search((position) => 1e6 * (1 + ((position * 7) % 3) / 1e4));
    expect(ending).toEqual({ kind: 'not-reproduced' });
    expect(boots).toHaveLength(40);
  });

  test('names a group where the culprit is among those that cannot be measured', () => {
    const broken = (position: number) => position >= 50 && position < 58;
    const { ending } = search((position) => (broken(position) ? undefined : drop(53, 0.8)(position)));
    expect(ending).toMatchObject({ kind: 'found', after: 49, last: 58 });
  });

  test('never tries a skipped commit', () => {
    const skipped = new Set([40, 41, 42]);
    const { ending, boots } = search(drop(41, 0.9), { skipped });
    expect(boots.some((position) => skipped.has(position))).toBe(false);
    expect(ending).toMatchObject({ kind: 'found', after: 39, last: 43 });
  });

  test('accepts a single failure as such once it is repeated', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 5, max: 30 }), (culprit, glitchAt) => {
        let boots = 0;
        const { ending } = search((position) => {
          boots += 1;
          const isInside = position > 0 && position < 100;
          return boots === glitchAt && isInside ? undefined : drop(culprit, 0.9)(position);
        });
        expect(ending).toMatchObject({ kind: 'found', after: culprit - 1, last: culprit });
      }),
    );
  });

  test('finds two separate changes', () => {
    const rate = (position: number) => 1e6 * (position < 30 ? 1 : position < 70 ? 0.9 : 0.95);
    const { ending } = search(rate);
    expect(ending).toMatchObject({
      kind: 'several',
      found: [
        { after: 29, last: 30 },
        { after: 69, last: 70 },
      ],
      open: [],
    });
  });

  test('calls it a slide where each commit costs a little', () => {
    const { ending } = search((position) => 1e6 * 0.98 ** position, { mostBoots: 500 });
    expect(['slide', 'several']).toContain(ending.kind);
    expect(ending.kind === 'several' ? ending.open.length : 1).toBeGreaterThan(0);
  });

  test('ends when its boots are used up, with the likeliest three and what it would still take', () => {
    const { ending, boots } = search(drop(37, 0.9), { mostBoots: 7 });
    expect(boots).toHaveLength(7);
    expect(ending).toMatchObject({ kind: 'inconclusive', best: { length: 3 } });
    expect(ending.kind === 'inconclusive' && ending.bootsExpected).toBeGreaterThan(0);
  });

  test('sees no difference between units, nor in the order of equal evidence', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer({ min: 1, max: 60 }),
        fc.double({ min: -20, max: 20, noNaN: true }),
        fc.boolean(),
        (seed, culprit, shift, isInverse) => {
          const random = xoroshiro128plus(seed);
          const values = new Map<number, number[]>();
          const plain = search(
            (position) => {
              const rate = Math.exp(0.004 * standardNormal(random)) * drop(culprit, 0.97)(position);
              values.set(position, [...(values.get(position) ?? []), Math.log(rate)]);
              return rate;
            },
            { steps: 60 },
          );
          const { length: boots } = plain.boots;
          const turned = (value: number) => (isInverse ? -value : value) + shift;
          const again = new Map(
            [...values].reverse().map(([position, logs]) => [position, logs.toReversed().map(turned)] as const),
          );
          const problem = { steps: 60, boots };
          const one = nextStep(problemOf({ ...problem, measured: values }), costs);
          const other = nextStep(problemOf({ ...problem, measured: again }), costs);
          expect(withoutProbability(other)).toEqual(withoutProbability(one));
          const [ours, theirs] = [values, again].map((measured) => probabilities(problemOf({ ...problem, measured })));
          ours?.forEach((probability, position) => {
            expect(theirs?.[position]).toBeCloseTo(probability, 6);
          });
        },
      ),
      { numRuns: times(50) },
    );
  });

  test('is as sure of all steps together as of the change itself', () => {
    const measured = new Map([
      [0, [13.8, 13.801]],
      [50, [13.8]],
      [100, [13.7, 13.701]],
    ]);
    const chances = probabilities(problemOf({ measured }));
    expect(chances.reduce((total, chance) => total + chance, 0)).toBeCloseTo(1, 9);
    expect(chances.slice(51).every((chance) => Math.abs(chance - 0.02) < 1e-6)).toBe(true);
  });
});

describe('failures', () => {
  const failures = (...entries: [number, string][]) =>
    new Map(entries.map(([position, kind]) => [position, { kind, isSure: true }] as const));

  test('represent the positions between, if they are similar and near each other', () => {
    const measured = new Map<number, number[]>();
    const failed = failures([10, 'build-failed'], [14, 'build-failed'], [40, 'build-failed']);
    expect(takenForFailed({ failed, measured })).toEqual([11, 12, 13]);
  });

  test('represent nothing if they differ, or if a position between was measured', () => {
    const failed = failures([10, 'build-failed'], [14, 'boot-failed'], [16, 'boot-failed']);
    expect(takenForFailed({ failed, measured: new Map([[15, [13.8]]]) })).toEqual([]);
  });
});

describe('builds ahead', () => {
  test('are of the commits that will be wanted next', () => {
    const measured = new Map([
      [0, [13.8, 13.801]],
      [64, [13.7, 13.701]],
    ]);
    const problem = problemOf({ steps: 64, measured });
    expect(nextBuilds(problem, () => false, 3).toSorted((a, b) => a - b)).toEqual([16, 32, 48]);
    expect(nextBuilds(problem, (position) => position === 32, 2).toSorted((a, b) => a - b)).toEqual([16, 48]);
  });

  test('are none if every informative commit is built', () => {
    expect(nextBuilds(problemOf({ steps: 4 }), () => true, 3)).toEqual([]);
  });
});

describe('a shared trial', () => {
  test('holds several commits that divide the range evenly', () => {
    const problem = problemOf({ steps: 24 });
    expect(alsoInformative(problem, [0, 24], 3).toSorted((a, b) => a - b)).toEqual([6, 12, 18]);
  });

  test('repeats the neighbours of the likeliest step first', () => {
    const measured = new Map([
      [0, [13.8, 13.801]],
      [11, [13.8]],
      [12, [13.7]],
      [24, [13.7, 13.701]],
    ]);
    expect(alsoInformative(problemOf({ steps: 24, measured }), [0, 24], 2)).toEqual([11, 12]);
  });
});
