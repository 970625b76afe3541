import { describe, expect, test } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { assembleResult } from '../../../src/gate/experiment/assemble.ts';
import type { JournalEntry } from '../../../src/gate/experiment/journal.ts';
import { type Run, resultSchema } from '../../../src/model/result.ts';
import { aHistoryEntry } from '../../fakes/history.ts';
import { aPlan, aPlanOfFour, singleRuns } from '../../fakes/plan.ts';
import { aRun, aTrial } from '../../fakes/result.ts';

/** A cell of two trials, with a look after each: 24 pairs a trial. */
const plan = aPlan();
const at = (minute: number) => `2026-11-20T12:0${minute}:00.000Z`;

const started: JournalEntry = {
  kind: 'started',
  at: at(0),
  fingerprint: { kernel: 'Linux 6.18' },
  warnings: [],
};
const finished: JournalEntry = { kind: 'finished', at: at(9) };

/** Measures every trial of the plan: patched runs forward this multiple of base's rate. */
const measured = (speed: number, { trials }: Pick<typeof plan, 'trials'> = plan): JournalEntry[] =>
  trials.map(({ number, cell, runs }) => ({
    kind: 'measured',
    at: at(1),
    summary: aTrial({ number, cell, startedAt: at(1) }),
    runs: runs.map((run): Run => {
      const pps = 8e5 * (run.variant === 'patched' ? speed : 1);
      return aRun({ ...run, trial: number, pps });
    }),
  }));

const refusal = (scenario: 'forwarding' | 'nftables-stateful', message: string): JournalEntry => ({
  kind: 'rejected',
  at: at(2),
  variant: 'patched',
  rejection: { kind: 'does-not-load', scenario, message },
});

test('a base of one trial is compared with earlier gates of one trial by how these differ', () => {
  const known = Array.from({ length: 10 }, (_, day) =>
    aHistoryEntry({
      at: `2026-11-${10 + day}T12:00:00.000Z`,
      pps: [8e5 * (1 + ((day % 3) - 1) / 100)],
    }),
  );
  const once = aPlan({}, known);
  const journal = [started, ...measured(1, { trials: once.trials.slice(0, 1) }), finished];
  expect(assembleResult(once, journal).outcome).toMatchObject({
    verdict: 'no-regression',
    cells: [{ baseline: { kind: 'steady' } }],
  });
});

test('the plan and the journal of an experiment become a result that keeps to its schema', () => {
  const result = assembleResult(plan, [started, ...measured(0.9), finished]);
  expect(resultSchema.parse(result)).toEqual(result);
  expect(result).toMatchObject({
    generator: { name: 'ppsgate', version: packageJson.version },
    testbed: { name: 'fake', fingerprint: { kernel: 'Linux 6.18' } },
    seed: plan.seed,
    startedAt: at(0),
    finishedAt: at(9),
    outcome: { kind: 'judged', verdict: 'regression' },
  });
  expect(result.trials.map(({ number }) => number)).toEqual([1, 2]);
});

test('a cell is judged by its own runs only', () => {
  const two = {
    ...plan,
    cells: plan.cells.flatMap((planned) => [
      planned,
      { ...planned, cell: { scenario: 'forwarding', family: 'inet6' } as const },
    ]),
  };
  const { outcome } = assembleResult(two, [started, ...measured(1), finished]);
  const verdicts = outcome.kind === 'judged' ? outcome.cells.map(({ verdict }) => verdict) : [];
  expect(verdicts).toEqual([{ kind: 'no-regression' }, { kind: 'invalid', reason: '0 of 24 pairs of runs count' }]);
});

test('an interrupted experiment has the value of its journal, and passes nothing', () => {
  const cut = aPlan(singleRuns);
  const { outcome, finishedAt } = assembleResult(cut, [started, ...measured(1, cut).slice(0, 3)]);
  expect(finishedAt).toBe(at(1));
  expect(outcome).toMatchObject({
    verdict: 'invalid',
    cells: [{ verdict: { kind: 'invalid', reason: '1 of 2 pairs of runs count' } }],
  });
});

test('a journal without a line makes no result that passes', () => {
  const result = assembleResult(plan, []);
  expect(result.outcome).toMatchObject({ verdict: 'invalid' });
  expect(resultSchema.safeParse(result).success).toBe(true);
});

test('the reason of failed trials of a cell is the reason of missing pairs', () => {
  const failed: JournalEntry = {
    kind: 'failed',
    at: at(3),
    trial: 1,
    reason: 'no traffic arrived',
  };
  const { outcome } = assembleResult(plan, [started, failed, failed, failed]);
  expect(outcome).toMatchObject({
    cells: [{ verdict: { reason: '0 of 24 pairs of runs count: no traffic arrived' } }],
  });
});

describe('with earlier diffs beside base and patched', () => {
  const four = aPlanOfFour(singleRuns);
  const leftOut: JournalEntry = {
    kind: 'rejected',
    at: at(3),
    variant: 'diff 80345',
    rejection: {
      kind: 'boot-failed',
      message: 'Twice in a row: it was lost.',
      panic: 'page fault',
    },
  };
  const entries = measured(0.9, four);

  test('every one of them is in the result, with its change or without', () => {
    const ofOthers = (variant: string) => (entry: JournalEntry) =>
      entry.kind !== 'measured' || entry.runs.every((run) => run.variant !== variant);
    const journal = [started, ...entries.filter(ofOthers('diff 80654')), finished];
    const result = assembleResult(four, journal);
    expect(resultSchema.parse(result)).toEqual(result);
    expect(result).toMatchObject({
      variants: [
        { name: 'base' },
        { name: 'patched' },
        { name: 'diff 80345', commit: 'c'.repeat(40) },
        { name: 'diff 80654', commit: 'd'.repeat(40) },
      ],
      outcome: {
        verdict: 'regression',
        cells: [
          {
            others: [
              { variant: 'diff 80345', comparisons: [{ interval: { change: 0 } }] },
              { variant: 'diff 80654', comparisons: [] },
            ],
          },
        ],
      },
    });
  });

  test('a variant that could not be measured is listed, and is not the outcome', () => {
    const result = assembleResult(four, [started, ...entries, leftOut]);
    expect(result.outcome).toMatchObject({ kind: 'judged', verdict: 'regression' });
    expect(result.leftOut).toEqual([
      { variant: 'diff 80345', rejection: leftOut.kind === 'rejected' && leftOut.rejection },
    ]);
  });

  test('a patch that does not load is the outcome, regardless of omitted variants', () => {
    const refused = refusal('forwarding', 'x');
    for (const journal of [
      [started, leftOut, refused],
      [started, refused, started, leftOut],
    ]) {
      expect(assembleResult(four, journal).outcome.kind).toBe('does-not-load');
    }
  });
});
