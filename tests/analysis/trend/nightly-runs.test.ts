import { describe, expect, test } from 'vitest';
import { nightlyRunsOf, parseNightlyRuns, withNightlyRun } from '../../../src/analysis/trend/nightly-runs.ts';
import type { Result, Run } from '../../../src/model/result.ts';
import type { NightlyRun } from '../../../src/model/trend.ts';
import { aCell, aResult, aRun, forwarding, pairedRuns, pullRequest, unfit } from '../../fakes/result.ts';

const path = 'results/2026/a-nightly-run';
const [base, head] = ['a'.repeat(40), 'b'.repeat(40)];
const unknown = () => undefined;

const judged = (runs: readonly Run[], changes: Partial<Result> = {}): Result => {
  const cells = [{ ...aCell({ kind: 'no-regression' }), runs: [...runs] }];
  return aResult({ outcome: { kind: 'judged', verdict: 'no-regression', cells }, ...changes });
};

const oneCommit = { patch: { ...pullRequest, baseCommit: base, headCommit: base } };

/** Each run in a trial of its own. */
const alone = (runs: readonly Run[]) => runs.map((run) => ({ ...run, trial: run.number }));

const only = (result: Result, committedAt: (commit: string) => string | undefined = unknown) =>
  nightlyRunsOf(result, 'nightly', committedAt, path)[0]?.nightlyRun;

describe('a nightly run', () => {
  test('of a commit against itself has the runs of both variants', () => {
    const runs = alone(pairedRuns([800_000, 801_000], [802_000, 803_000]));
    expect(nightlyRunsOf(judged(runs, oneCommit), 'nightly', unknown, path)).toEqual([
      {
        cell: forwarding,
        nightlyRun: {
          at: '2026-11-20T12:00:00.000Z',
          commit: base,
          occasion: 'nightly',
          pps: [800_000, 802_000, 801_000, 803_000],
          nsPerPacket: [],
          instructionsPerPacket: [],
          fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/),
          result: path,
        },
      },
    ]);
  });

  test('of a push has those of its patched commit', () => {
    const runs = alone(pairedRuns([800_000, 801_000], [802_000, 803_000]));
    expect(only(judged(runs))).toMatchObject({ commit: head, pps: [802_000, 803_000] });
  });

  test('has one number a trial, in whole packets, four digits of a time and six of instructions', () => {
    const costs = { nsPerPacket: 1234.5678, instructionsPerPacket: 8314.5678 };
    const runs = [
      aRun({ number: 1, pps: 800_000.4, ...costs }),
      aRun({ number: 2, variant: 'patched', pps: 800_002.4, ...costs }),
    ];
    expect(only(judged(runs, oneCommit))).toMatchObject({
      pps: [800_001],
      nsPerPacket: [1235],
      instructionsPerPacket: [8314.57],
    });
  });

  test('is absent if no packet came through, or no run counts', () => {
    const still = [aRun({ pps: 0 }), aRun({ validity: unfit('the link was down') })];
    expect(only(judged(still, oneCommit))).toBeUndefined();
    expect(only(aResult({ outcome: { kind: 'unchanged' } }))).toBeUndefined();
  });

  test('has the time of its commit, in UTC', () => {
    const runs = pairedRuns([8e5], [8e5]);
    const told = (time: string) => only(judged(runs, oneCommit), () => time)?.committedAt;
    expect(told('2026-11-19T23:30:00-05:00')).toBe('2026-11-20T04:30:00.000Z');
    expect(told('2026-11-20T12:00:01Z')).toBeUndefined();
    expect(told('yesterday')).toBeUndefined();
  });

  test('replaces the same session, and is otherwise ordered by its commit', () => {
    const nightlyRun = (at: string, changes: Partial<NightlyRun> = {}): NightlyRun => ({
      at,
      commit: base,
      occasion: 'nightly',
      fingerprint: '',
      pps: [1],
      nsPerPacket: [],
      instructionsPerPacket: [],
      ...changes,
    });
    const [first, second] = [nightlyRun('2026-11-01T00:00:00Z'), nightlyRun('2026-11-02T00:00:00Z')];
    expect(withNightlyRun([first], { ...first, pps: [2] })).toEqual([{ ...first, pps: [2] }]);
    const again = { ...first, occasion: 'again' as const };
    expect(withNightlyRun([first], again)).toHaveLength(2);
    const older = nightlyRun('2026-11-03T00:00:00Z', { committedAt: '2026-10-01T00:00:00Z' });
    expect(withNightlyRun([first, second], older)).toEqual([older, first, second]);
  });

  test('is read from a line, and unreadable lines are skipped', () => {
    const nightlyRun = only(judged(pairedRuns([8e5], [8e5]), oneCommit));
    const line = JSON.stringify(nightlyRun);
    expect(parseNightlyRuns(`${line}\n<<<<<<< HEAD\n{}\n${line.slice(9)}\n\n${line}`)).toEqual([
      nightlyRun,
      nightlyRun,
    ]);
  });
});
