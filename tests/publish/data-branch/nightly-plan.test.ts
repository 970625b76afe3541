// Plans a nightly run from the earlier ones, and follows a loss from one nightly run to the next.
import { expect, test } from 'vitest';
import type { Trend } from '../../../src/analysis/trend/nightly-runs.ts';
import type { TrendChange } from '../../../src/model/trend.ts';
import { planFollowUps } from '../../../src/publish/data-branch/nightly-plan.ts';
import { parseTrendIndex, type TrendUpdate } from '../../../src/publish/data-branch/trend-files.ts';
import { aBisectResult, culprit, revisionsOf } from '../../fakes/bisect-result.ts';
import { aCell, aResult, forwarding, pairedRuns, pullRequest } from '../../fakes/result.ts';
import { publication, publish, rules, type Shelf, storedIn } from '../../fakes/shelf.ts';

const commitOf = (nightlyRun: number): string => nightlyRun.toString(16).padStart(40, '0');
const timeOf = (nightlyRun: number): string => new Date(Date.UTC(2026, 8, 1 + nightlyRun, 3)).toISOString();
const commitTimeOf = (nightlyRun: number): string => new Date(Date.UTC(2026, 8, 1 + nightlyRun, 1)).toISOString();

/** An A/A run, whose numbers vary a little from one nightly run to the next. */
function aNightlyRun(nightlyRun: number, level: number): TrendUpdate {
  const pps = level * (1 + ((nightlyRun * 7) % 5) / 2000);
  const commit = commitOf(nightlyRun);
  const cell = {
    ...aCell({ kind: 'no-regression' }),
    runs: pairedRuns([pps, pps], [pps, pps]),
  };
  return {
    result: aResult({
      startedAt: timeOf(nightlyRun),
      patch: { ...pullRequest, baseCommit: commit, headCommit: commit },
      outcome: { kind: 'judged', verdict: 'no-regression', cells: [cell] },
    }),
    isDefaultBranch: true,
    isTrusted: true,
    occasion: 'nightly',
    commits: { [commit]: commitTimeOf(nightlyRun) },
  };
}

/** The last good commit against the first bad one, as a nightly run requests it. */
function regressionOf({ good, bad }: TrendChange): TrendUpdate {
  const patch = { ...pullRequest, baseCommit: good, headCommit: bad };
  const variants = [
    { name: 'base', commit: good, files: [] },
    { name: 'patched', commit: bad, files: [] },
  ];
  const cells = [aCell({ kind: 'regression' })];
  const outcome = { kind: 'judged', verdict: 'regression', cells } as const;
  const result = aResult({ patch, variants, outcome, startedAt: timeOf(40) });
  return { result, isDefaultBranch: false, isTrusted: true };
}

/** The nightly runs of a testbed that has lost 4 % from nightly run 20 on. */
function shelfWith(nightlyRuns: number): Shelf {
  const shelf: Shelf = new Map();
  for (let nightlyRun = 0; nightlyRun < nightlyRuns; nightlyRun += 1) {
    publish(shelf, [{ ...publication(), ...aNightlyRun(nightlyRun, nightlyRun < 20 ? 800_000 : 768_000) }]);
  }
  return shelf;
}

const trendOf = (shelf: Shelf): Trend => {
  const { trend } = storedIn(shelf);
  if (trend === undefined) throw new Error('There is no trend.');
  return trend;
};
const nightlyPlanOf = (shelf: Shelf, nightlyRun: number) =>
  planFollowUps(trendOf(shelf), {
    testbed: 'shelf-3',
    commits: { [commitOf(nightlyRun)]: commitTimeOf(nightlyRun) },
    now: () => rules.now,
  });
const changesIn = (shelf: Shelf): TrendChange[] => parseTrendIndex(shelf.get('trend/index.json') ?? '')?.changes ?? [];

test.each([
  ['at the usual level requests nothing', 800_000, []],
  ['that is the first of a loss is off, but not lasting', 768_000, [forwarding]],
])('a nightly run %s', (_, level, cells) => {
  const nightlyRun = aNightlyRun(20, level);
  const asks = nightlyPlanOf(shelfWith(20), 20);
  expect('outcome' in nightlyRun.result && asks.cellsOffLevel(nightlyRun.result)).toEqual(cells);
  expect(asks.changesToGate([nightlyRun])).toEqual([]);
});

test('the third nightly run of a loss requests a gate at once, before it is published', () => {
  const asks = nightlyPlanOf(shelfWith(22), 22);
  expect(asks.changesToGate([aNightlyRun(22, 768_000)])).toMatchObject([
    { good: commitOf(19), bad: commitOf(20), cells: [{ cell: forwarding }] },
  ]);
});

test('a loss confirmed by the gate is code, and is bisected once', () => {
  const shelf = shelfWith(23);
  const [change] = changesIn(shelf);
  if (change === undefined) throw new Error('There is no change.');
  const gate = regressionOf(change);
  expect(nightlyPlanOf(shelf, 22).changesToBisect([gate])).toMatchObject([{ id: change.id }]);
  publish(shelf, [{ ...publication(), ...gate }]);
  expect(changesIn(shelf)).toMatchObject([{ state: 'code', gates: [{ verdict: 'regression' }] }]);
  expect(nightlyPlanOf(shelf, 22).changesToGate([])).toEqual([]);

  const { good, bad } = change;
  const ofRange = { good, bad, revisions: revisionsOf(4), answer: culprit(3, -0.04) };
  const result = aBisectResult({ ...ofRange, testbed: aResult().testbed });
  publish(shelf, [{ ...publication(), result, isTrusted: true }]);
  expect(nightlyPlanOf(shelf, 22).changesToBisect([])).toEqual([]);
  expect(changesIn(shelf)[0]?.bisection?.culprit).toBe(result.revisions[3]?.commit);
});
