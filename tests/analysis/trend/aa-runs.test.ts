import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { countsOf, layoutNoise, sameSummary, withSameGate } from '../../../src/analysis/trend/aa-runs.ts';
import { emptyTrend } from '../../../src/analysis/trend/nightly-runs.ts';
import type { PullRequest } from '../../../src/model/patch.ts';
import type { CellVerdict, Result, Run } from '../../../src/model/result.ts';
import type { TrendIndex } from '../../../src/model/trend.ts';
import { aCell, aResult, forwarding, pairedRuns, policy, pullRequest } from '../../fakes/result.ts';

const path = 'results/2026/a-nightly-run';
const commit = 'a'.repeat(40);
const same: PullRequest = { ...pullRequest, baseCommit: commit, headCommit: commit };
const day = (number: number) => new Date(Date.UTC(2026, 0, number)).toISOString();

type Kind = CellVerdict['kind'];

const verdict = (kind: Kind): CellVerdict =>
  kind === 'invalid' ? { kind, reason: 'the generator is the limit' } : { kind };

/** An A/A run whose cells have these verdicts. */
const gate = (number: number, kinds: readonly Kind[], changes: Partial<Result> = {}): Result => {
  const cells = kinds.map((kind, index) =>
    aCell(verdict(kind), undefined, { ...forwarding, scenario: `scenario-${index}` }),
  );
  const outcome = { kind: 'judged', verdict: 'no-regression', cells } as const;
  return aResult({ patch: same, startedAt: day(number), outcome, ...changes });
};

const after = (gates: readonly Result[], index: TrendIndex = emptyTrend.index): TrendIndex =>
  gates.reduce((before, one) => withSameGate(before, one, path), index);

describe('a gate of a commit against itself', () => {
  test('counts once, however many of its cells have a regression; a gain is no alarm', () => {
    const index = after([
      gate(1, ['no-regression', 'no-regression']),
      gate(2, ['regression', 'regression']),
      gate(3, ['no-regression', 'improvement']),
    ]);
    expect(index.aaRuns).toMatchObject([
      {
        kind: 'same-build',
        testbed: 'shelf-3',
        design: 'group-sequential',
        metric: 'pps',
        marginRatio: 0.02,
        falseAlarmRatio: 0.01,
        gates: 3,
        alarms: 1,
        cells: 6,
        cellAlarms: 2,
        since: day(1),
        last: day(3),
        alarmed: [{ at: day(2), result: path, cells: [{}, {}] }],
      },
    ]);
  });

  test('is not one of a patch, nor one in which nothing was judged', () => {
    expect(after([aResult()])).toBe(emptyTrend.index);
    const outcome = { kind: 'boot-failed', message: 'no login within 600 s' } as const;
    expect(after([aResult({ patch: same, outcome })])).toBe(emptyTrend.index);
  });

  test.each<[string, Partial<Result>]>([
    ['margin', { policy: { ...policy, marginRatio: 0.03 } }],
    ['metric', { policy: { ...policy, metric: 'nsPerPacket' } }],
    ['promise', { policy: { ...policy, falseAlarmRatio: 0.05 } }],
    ['fingerprint', { testbed: { name: 'shelf-3', fingerprint: { BIOS: '2.1' }, warnings: [] } }],
    ['testbed', { testbed: { name: 'shelf-4', fingerprint: {}, warnings: [] } }],
  ])('of another %s begins a new count, and the old one stays', (_, changes) => {
    const first = gate(1, ['regression']);
    const index = after([first, gate(2, ['no-regression'], changes)]);
    expect(index.aaRuns).toMatchObject([
      { gates: 1, alarms: 1, since: day(1), last: day(1) },
      { gates: 1, alarms: 0, since: day(2), last: day(2) },
    ]);
  });

  test('counts once however often and in which order it is published', () => {
    const kinds = fc.constantFrom<Kind>('regression', 'no-regression', 'improvement', 'inconclusive');
    const gates = fc.uniqueArray(
      fc.record({ number: fc.nat(400), kinds: fc.array(kinds, { minLength: 1, maxLength: 3 }) }),
      {
        maxLength: 9,
        selector: ({ number }) => number,
      },
    );
    fc.assert(
      fc.property(gates, fc.infiniteStream(fc.nat()), (all, places) => {
        const results = all.map(({ number, kinds }) => gate(number, kinds));
        const shuffled = results
          .map((result) => ({ result, place: places.next().value ?? 0 }))
          .toSorted((a, b) => a.place - b.place)
          .map(({ result }) => result);
        expect(after([...shuffled, ...results])).toEqual(after(results));
      }),
    );
  });

  test('of long ago that is published again changes nothing', () => {
    const gates = Array.from({ length: 60 }, (_, index) =>
      gate(index + 1, [index % 20 === 0 ? 'regression' : 'no-regression']),
    );
    const index = after(gates);
    expect(after([gate(1, ['regression']), gate(17, ['no-regression'])], index)).toBe(index);
    expect(index.aaRuns).toMatchObject([{ gates: 60, alarms: 3, alarmed: [{}, {}, {}] }]);
    expect(JSON.stringify(index).length).toBeLessThan(4000);
  });
});

describe('a count', () => {
  const count = (alarms: number, gates: number) => ({ alarms, gates, falseAlarmRatio: 0.01 });

  test('keeps a promise of one in a hundred from 409 gates without an alarm on', () => {
    expect(sameSummary(count(0, 408)).promise).toBe('open');
    expect(sameSummary(count(0, 409)).promise).toBe('kept');
    expect(sameSummary(count(1, 704)).promise).toBe('open');
    expect(sameSummary(count(1, 705)).promise).toBe('kept');
  });

  test('is listed first of its testbed while it grows, before the earlier ones', () => {
    const moved = { policy: { ...policy, marginRatio: 0.03 } };
    const index = after([gate(1, ['no-regression']), gate(2, ['no-regression'], moved)]);
    expect(countsOf(index)).toMatchObject([{ current: { marginRatio: 0.03 }, earlier: [{ marginRatio: 0.02 }] }]);
  });
});

describe('two layouts of one tree', () => {
  /** Base is layout 1, and patched another one, `change` away from it. */
  const layoutGate = (number: number, change: number): Result => {
    const runs = pairedRuns(
      [800_000, 800_800, 799_200],
      [800_000, 800_800, 799_200].map((pps) => pps * (1 + change)),
    ).map((run): Run & { layout: number } => ({
      ...run,
      trial: run.number,
      layout: run.variant === 'base' ? 1 : 2,
    }));
    const interval = { change, low: change - 0.001, high: change + 0.001 };
    const cells = [{ ...aCell({ kind: 'no-regression' }, interval), runs }];
    const outcome = { kind: 'judged', verdict: 'no-regression', cells } as const;
    return aResult({ patch: same, startedAt: day(number), outcome });
  };

  test('are none if both variants boot the same layouts in turn', () => {
    const runs = pairedRuns([8e5, 8e5], [8e5, 8e5]).map((run) => ({ ...run, layout: run.pair }));
    const cells = [{ ...aCell({ kind: 'no-regression' }), runs }];
    const outcome = { kind: 'judged', verdict: 'no-regression', cells } as const;
    expect(after([aResult({ patch: same, outcome })]).aaRuns).toMatchObject([{ kind: 'same-build' }]);
  });

  test('show the scatter of layouts beyond that of their runs', () => {
    const index = after([layoutGate(1, 0.01), layoutGate(8, -0.01), layoutGate(15, 0.01)]);
    const [count] = index.aaRuns;
    // Changes of 1 % between two draws are draws that scatter by 1 % / √2.
    expect(count && layoutNoise(count)).toBeCloseTo(0.01 / Math.SQRT2, 4);
    const quiet = after([layoutGate(1, 0), layoutGate(8, 0)]);
    expect(quiet.aaRuns[0] && layoutNoise(quiet.aaRuns[0])).toBe(0);
  });
});
