// Small sample parts of a result, for tests that read, judge or show one.

import type { Metric } from '../../src/model/metric.ts';
import type { PullRequest, Revision } from '../../src/model/patch.ts';
import type {
  CellProfile,
  CellResult,
  Interval,
  Policy,
  Result,
  Run,
  TrialSummary,
  Validity,
} from '../../src/model/result.ts';
import type { Cell } from '../../src/model/scenario.ts';
import { type MeasuredOutcome, outcomeOfResult } from '../../src/publish/reporters/outcome.ts';
import type { ReportLinks } from '../../src/report/reports.ts';

export const forwarding: Cell = { scenario: 'forwarding', family: 'inet4' };

export const policy: Policy = {
  metric: 'pps',
  marginRatio: 0.02,
  confidenceRatio: 0.9,
  falseAlarmRatio: 0.01,
  missRatio: 0.05,
};

export const pullRequest: PullRequest = {
  kind: 'pull-request',
  repository: 'example/router',
  number: 7,
  title: 'Drop protocol 254 early',
  author: 'alice',
  url: 'https://github.com/example/router/pull/7',
  baseCommit: 'a'.repeat(40),
  headCommit: 'b'.repeat(40),
};

/** Measured together with two earlier diffs. */
export const revision: Revision = {
  kind: 'revision',
  server: 'https://phabricator.example',
  number: 27401,
  diff: 80700,
  title: 'Look up less',
  author: 'alice',
  url: 'https://phabricator.example/D27401',
  baseCommit: 'a'.repeat(40),
  headCommit: 'b'.repeat(40),
  earlier: [
    { diff: 80345, headCommit: 'c'.repeat(40) },
    { diff: 80654, headCommit: 'd'.repeat(40) },
  ],
  notes: ['The base is the commit that the author named.'],
};

/** An invalid run. */
export const unfit = (reason: string, cause: Cause = 'hole'): Run['validity'] => ({
  kind: 'invalid',
  cause,
  reason,
});

type Cause = Extract<Validity, { kind: 'invalid' }>['cause'];

/** A valid run of 800 kpps, with a test's changes. */
export const aRun = (changes: Partial<Run> = {}): Run => ({
  number: 1,
  trial: 1,
  attempt: 1,
  pair: 1,
  variant: 'base',
  pps: 800_000,
  samples: [{ seconds: 0.02, receivedPackets: 16_000, forwardedPackets: 16_000 }],
  validity: { kind: 'valid' },
  ...changes,
});

/** The first trial of an experiment, with a test's changes. */
export const aTrial = (changes: Partial<TrialSummary> = {}): TrialSummary => ({
  number: 1,
  attempt: 1,
  cell: forwarding,
  startedAt: '2026-11-20T12:00:01.000Z',
  trafficSeconds: 2,
  offeredPps: 2_987_000,
  logs: 'trials/001-forwarding-inet4',
  ...changes,
});

export const aProfile = (variant: string): Extract<CellProfile, { kind: 'profiled' }> => ({
  kind: 'profiled',
  variant,
  event: 'cpu-clock',
  kernel: 'Linux 6.18',
  seconds: 10,
  busySamples: 5_932,
  idleSamples: 17,
  file: `profiles/${variant}`,
});

/** Runs of base and patched: pair n has the nth value of each. */
export const pairedRuns = (base: number[], patched: number[], metric: Metric = 'pps'): Run[] =>
  base.flatMap((value, index) => [
    aRun({ number: 2 * index + 1, pair: index + 1, variant: 'base', [metric]: value }),
    aRun({
      number: 2 * index + 2,
      pair: index + 1,
      variant: 'patched',
      [metric]: patched[index] ?? 0,
    }),
  ]);

/** A cell that was judged by packets per second. */
export const aCell = (
  verdict: CellResult['verdict'],
  interval: Interval = { change: -0.104, low: -0.112, high: -0.096 },
  cell: Cell = forwarding,
): CellResult => ({
  cell,
  verdict,
  design: { name: 'group-sequential', budgets: [20], pairsPerStep: 1, method: 'pooled' },
  baseline: { kind: 'unknown' },
  pairs: 8,
  comparisons: [
    {
      metric: 'pps',
      base: 805_300,
      patched: 805_300 * (1 + interval.change),
      baseRuns: 8,
      patchedRuns: 8,
      interval,
    },
  ],
  others: [],
  runs: [],
  profiles: [],
});

const calm = aCell({ kind: 'no-regression' }, { change: 0, low: -0.01, high: 0.01 });

/** `🟢 #7 loses nothing that matters: 1.00 % at most, where 2 % would matter`. */
export const passing = (links: ReportLinks = {}): MeasuredOutcome =>
  outcomeOfResult(aResult({ outcome: { kind: 'judged', verdict: 'no-regression', cells: [calm] } }), links);

/** A result of these cells, whose verdict is that of the first. */
export const judged = (cells: CellResult[], changes: Partial<Result> = {}): Result =>
  aResult({ outcome: { kind: 'judged', verdict: cells[0]?.verdict.kind ?? 'invalid', cells }, ...changes });

/** A result whose patch loses 10.4 %, with a test's changes. */
export const aResult = (changes: Partial<Result> = {}): Result => ({
  schemaVersion: 1,
  generator: { name: 'ppsgate', version: '0.1.0' },
  patch: pullRequest,
  variants: [
    { name: 'base', commit: 'a'.repeat(40), files: [] },
    { name: 'patched', commit: 'b'.repeat(40), files: [] },
  ],
  testbed: {
    name: 'shelf-3',
    fingerprint: { kernel: 'Linux 6.18', cpu: 'Xeon × 2' },
    warnings: [],
  },
  policy,
  traffic: { flows: 2000, frameBytes: 64, offeredPps: 3_000_000, measureSeconds: 0.08 },
  seed: 42,
  startedAt: '2026-11-20T12:00:00.000Z',
  finishedAt: '2026-11-20T12:02:05.000Z',
  trials: [aTrial()],
  leftOut: [],
  outcome: { kind: 'judged', verdict: 'regression', cells: [aCell({ kind: 'regression' })] },
  ...changes,
});

/** Result of a patch that changes nothing the testbed installs. */
export const unchanged: Result = aResult({
  testbed: { name: 'shelf-3', fingerprint: {}, warnings: [] },
  finishedAt: '2026-11-20T12:00:00.000Z',
  trials: [],
  outcome: { kind: 'unchanged' },
});
