// Results of every outcome and with every part that a report can have, for the golden files of the renderers.
import type { BisectResult } from '../../src/model/bisect-result.ts';
import type { Rejection } from '../../src/model/rejection.ts';
import type { CellResult, Result, Run } from '../../src/model/result.ts';
import {
  aBisectResult,
  bisectResults,
  failedForm,
  mellanoxBroken,
  mellanoxFixed,
  revisionsOf,
} from '../fakes/bisect-result.ts';
import { judgeCell, singleRunDesign } from '../fakes/cell.ts';
import { limitsOf, losing, readings } from '../fakes/limits.ts';
import { anExperiment } from '../fakes/report.ts';
import {
  aCell,
  aProfile,
  aResult,
  aRun,
  forwarding,
  judged,
  pairedRuns,
  policy,
  revision,
  unchanged,
  unfit,
} from '../fakes/result.ts';

const inet6 = { scenario: 'forwarding', family: 'inet6' } as const;
const stateful = { scenario: 'pf-stateful', family: 'inet4' } as const;

const changed = (change: number) => ({ change, low: change - 0.01, high: change + 0.01 });

const calm = aCell({ kind: 'no-regression' }, changed(0));

const repeated = (values: number[]): number[] => new Array<number[]>(4).fill(values).flat();

const loss = judgeCell(
  pairedRuns(repeated([801e3, 805e3, 799e3, 803e3, 806e3]), repeated([721e3, 718e3, 722e3, 719e3, 724e3])).map(
    (run) => ({ ...run, nsPerPacket: 1e9 / run.pps }),
  ),
);

const profiles = [aProfile('base'), aProfile('patched')];

const changedFunction = { function: 'fib4_lookup', baseRatio: 0.093, patchedRatio: 0.124 };

/** A loss with changed functions, an excluded run and an outlier. */
const explained: CellResult = {
  ...loss,
  profiles,
  reason: {
    changedFunctions: [
      { ...changedFunction, function: 'ip_input', module: 'kernel', nsPerPacket: { base: 115.2, patched: 153.4 } },
      { ...changedFunction, function: 'pf_test', baseRatio: 0.02, patchedRatio: 0 },
    ],
    moved: 6,
    idleFrames: ['cpu_idle', 'acpi_cpu_c1'],
  },
  runs: [...loss.runs, aRun({ number: 41, validity: unfit('a hole') })],
};

/** Judged by another metric than packets per second. */
function measuredBy(
  metric: 'nsPerPacket' | 'instructionsPerPacket',
  kind: 'regression' | 'improvement' | 'no-regression' | 'inconclusive',
  changes: Record<string, number>,
): Result {
  const cells = Object.entries(changes).map(([family, change]) => {
    const cell = aCell({ kind }, changed(change), family === 'inet6' ? inet6 : forwarding);
    return { ...cell, comparisons: cell.comparisons.map((one) => ({ ...one, metric, base: 1000, patched: 1000 })) };
  });
  return judged(cells, { policy: { ...policy, metric, marginRatio: 0.05 } });
}

const runsOf = (variant: string, ...all: number[]): Run[] =>
  all.map((pps, index) => {
    const number = 2 * index + (variant === 'base' ? 1 : 2);
    return aRun({ number, trial: number, pair: index + 1, variant, pps });
  });

/** Runs of a patch or base that forwards nothing at times, judged as they are. */
function silentResult(base: number[], patched: number[], droppedBy?: string): Result {
  const runs = [...runsOf('base', ...base), ...runsOf('patched', ...patched)];
  const all = droppedBy ? runs.map((run) => (run.pps === 0 ? { ...run, droppedBy } : run)) : runs;
  const cell = judgeCell(all, {}, { design: singleRunDesign });
  return judged([cell]);
}

const droppedBy = 'the rule "udp drop" in chain forward of table inet filter';

const ofCommit = 'a'.repeat(40);
const layouts = pairedRuns([800e3, 816e3, 801e3, 817e3], [800e3, 816e3, 801e3, 817e3]).map((run) => ({
  ...run,
  layout: 1 + (run.pair % 2),
}));

const steady = [801e3, 805e3, 799e3, 803e3, 806e3, 800e3];
const beside = (variant: string, ratio: number) =>
  steady.map((pps, index) => aRun({ number: 100 + index, pair: index + 1, variant, pps: Math.round(pps * ratio) }));
const withEarlierDiffs = judgeCell(
  [...pairedRuns(steady, steady.toReversed()), ...beside('diff 80345', 0.7), ...beside('diff 80654', 1.04)],
  {},
  { design: { name: 'fixed', budgets: [6], pairsPerStep: 1, method: 'pooled' }, closedPairs: 6 },
);

const { testbed, traffic } = aResult();
const invalid = (reason: string): CellResult => ({ ...aCell({ kind: 'invalid', reason }), comparisons: [] });
const rejected = (outcome: Rejection, changes: Partial<Result> = {}): Result =>
  aResult({ trials: [], outcome, ...changes });
const range = {
  kind: 'range',
  title: '# @everyone',
  author: 'mallory',
  baseCommit: '1a2b3c4'.padEnd(40, '0'),
  headCommit: '5d6e7f8'.padEnd(40, '0'),
} as const;

export const examples: Readonly<Record<string, Result | BisectResult>> = {
  regression: judged([explained]),
  'regression of many cells': judged(
    [forwarding, inet6, stateful, { ...stateful, family: 'inet6' as const }, { ...forwarding, frameBytes: 128 }].map(
      (cell) => ({ ...aCell({ kind: 'regression' }, changed(-0.1), cell), profiles, reason: explained.reason }),
    ),
  ),
  'regression of an unknown reason': judged([
    {
      ...loss,
      profiles: [aProfile('base'), { kind: 'missing', variant: 'patched', reason: 'hwpmc is not loaded' }],
    },
    { ...loss, cell: inet6, profiles, reason: { changedFunctions: [], moved: 0, idleFrames: [] } },
  ]),
  'regression in time': measuredBy('nsPerPacket', 'regression', { inet4: 0.188, inet6: 0.091 }),
  'regression in instructions': measuredBy('instructionsPerPacket', 'regression', { inet4: 0.038 }),
  'regression in a full firewall': judged([
    { ...loss, limits: limitsOf(readings(), losing(104_000, 'firewall', 'inet filter forward: udp sport 9 drop')) },
  ]),
  'forwards nothing': silentResult([8e5, 8.01e5], [0, 0], droppedBy),
  'forwards nothing at times': silentResult([8e5, 8.01e5], [0, 8e5, 0]),
  'base forwards nothing': silentResult([0, 0, 0], [8e5, 8e5, 8e5], droppedBy),
  improvement: anExperiment().result,
  'improvement in instructions': measuredBy('instructionsPerPacket', 'improvement', { inet4: -0.038 }),
  'no regression': judged([calm, { ...calm, cell: inet6 }]),
  'no regression, certainly no loss': judged([aCell({ kind: 'no-regression' }, changed(0.012))]),
  'a small loss': measuredBy('nsPerPacket', 'no-regression', { inet4: 0.02 }),
  'no more time': measuredBy('nsPerPacket', 'no-regression', { inet4: -0.02 }),
  'hardly more time': measuredBy('nsPerPacket', 'no-regression', { inet4: 0.005 }),
  'a base that moved': judged(
    [{ ...calm, baseline: { kind: 'moved', interval: { change: -0.04, low: -0.05, high: -0.03 } } }],
    { testbed: { ...testbed, warnings: ['The clock is off.'] } },
  ),
  'an outlier': judged([{ ...calm, runs: pairedRuns([800e3, 801e3, 799e3, 800e3], [800e3, 801e3, 799e3, 700e3]) }]),
  'kernels of several layouts': judged([{ ...calm, runs: layouts, pairs: 4 }]),
  'two layouts of one tree': judged([{ ...calm, runs: layouts, pairs: 4 }], {
    patch: { ...aResult().patch, headCommit: ofCommit },
    variants: ['base', 'patched'].map((name) => ({ name, commit: ofCommit, files: [] })),
  }),
  'a second gate': judged([{ ...calm, earlierGates: { count: 1, regressions: 1 } }]),
  'mixed packets': judged([calm], {
    traffic: {
      ...traffic,
      packets: {
        protocol: 'tcp',
        ports: { source: { first: 1024, last: 65_535 }, destination: { first: 443, last: 443 } },
        sizes: [
          { frameBytes: 64, weight: 7 },
          { frameBytes: 594, weight: 4 },
          { frameBytes: 1518, weight: 1 },
        ],
      },
    },
  }),
  inconclusive: judged([aCell({ kind: 'inconclusive' }, changed(-0.015)), { ...calm, cell: inet6 }]),
  'inconclusive in instructions': measuredBy('instructionsPerPacket', 'inconclusive', { inet4: 0.02 }),
  invalid: judged([{ ...invalid('0 of 8 pairs of runs count: no traffic'), runs: loss.runs }, calm]),
  'invalid on a busy machine': judged([
    invalid('machine too busy: the sender waited for a CPU 41 % of the time@everyone; end what else runs'),
  ]),
  'limited by the generator': judged([
    { ...invalid('x'), runs: [aRun({ validity: unfit('it was idle', 'generator-limited') })] },
  ]),
  'revision beside earlier diffs': judged([withEarlierDiffs], {
    patch: { ...revision, missingBase: 'Diff 80700 was made on ffffffffffff, which is not in the repository.' },
    variants: ['base', 'patched', 'diff 80345', 'diff 80654'].map((name) => ({ name, commit: ofCommit, files: [] })),
    leftOut: [
      {
        variant: 'diff 80001',
        rejection: { kind: 'boot-failed', message: 'Twice in a row: it was lost.', panic: 'page fault' },
      },
    ],
  }),
  'range of commits': judged([calm], { patch: range }),
  unchanged,
  'unchanged for this testbed': {
    ...unchanged,
    outcome: { kind: 'unchanged', ignoredPaths: ['sys/dev/cxgbe/', 'tools/*/x'] },
  },
  'does not apply': rejected({ kind: 'does-not-apply', message: 'error: patch failed: sys/netinet/ip.c:12' }),
  'build failed': rejected({ kind: 'build-failed', message: '/usr/src/sys/netinet/ip_fw2.c:7:3: error: no ipp' }),
  'out of disk': rejected({ kind: 'out-of-disk', message: '/usr/obj is full' }),
  'does not load': rejected({
    kind: 'does-not-load',
    scenario: 'forwarding',
    message: 'nftables.conf:4:21-23: Error: syntax error, unexpected string\n```\n@everyone',
  }),
  'boot failed': rejected(
    {
      kind: 'boot-failed',
      message: 'mounting\n```\n@everyone',
      panic: 'page fault',
      console: 'panic: page fault\n```\ncpuid = 3',
      consoleLines: 1234,
    },
    { patch: revision },
  ),
  'panics under load': rejected({
    kind: 'panics-under-load',
    message: 'It was lost in trial 2.',
    console: 'db>',
    guestConsole: 'console-patched.log',
  }),
  ...Object.fromEntries(Object.entries(bisectResults).map(([name, result]) => [`bisection, ${name}`, result])),
  'bisection with a fix-up': {
    ...mellanoxFixed,
    profiles,
    reason: { changedFunctions: [changedFunction], moved: 1, idleFrames: [] },
  },
  'bisection without its fix-up': mellanoxBroken,
  'bisection in instructions': aBisectResult({
    metric: 'instructionsPerPacket',
    profiles: [{ kind: 'missing', variant: 'base', reason: 'hwpmc does not know the CPU' }],
    testbed: { ...testbed, warnings: ['The clock is off.'] },
    runs: [aRun(), aRun({ validity: unfit('0.4 s without a packet') })],
    revert: { kind: 'impossible', why: 'it does not apply' },
    revisions: revisionsOf(
      8,
      Object.fromEntries(
        [2, 3, 4, 5, 6].map((place) => [
          place,
          { forms: [failedForm({ kind: 'boot-failed', message: 'no prompt', panic: 'page fault', console: 'db>' })] },
        ]),
      ),
    ),
  }),
};
