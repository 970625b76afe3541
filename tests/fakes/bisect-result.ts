// Small sample results of a bisection, with each kind of conclusion, for tests that read or show one.

import type {
  BisectAnswer,
  BisectChange,
  BisectForm,
  BisectResult,
  BisectRevision,
  RevisionFault,
} from '../../src/model/bisect-result.ts';
import { aTrial, forwarding } from './result.ts';

/** Id of the commit this many steps after the good one. */
export const commitAt = (place: number): string => (0xa0000000 + place * 0x10101).toString(16).padEnd(40, 'e');

/** An untried revision, with a test's changes. */
export const aRevision = (place: number, changes: Partial<BisectRevision> = {}): BisectRevision => ({
  place,
  commit: commitAt(place),
  subject: `Change ${place}`,
  author: 'alice',
  alike: 0,
  isSkipped: false,
  isAssumedFailed: false,
  probability: 0,
  forms: [],
  ...changes,
});

export const measuredForm = (values: number[], fixUps: string[] = []): BisectForm => ({
  variant: 'a',
  fixUps,
  values,
});

export const silent: RevisionFault = {
  kind: 'forwards-nothing',
  message: '0 of 2,000,000 packets came',
};

export const failedForm = (fault: RevisionFault = silent, fixUps: string[] = []): BisectForm => ({
  variant: 'a',
  fixUps,
  values: [],
  fault,
});

export const aChange = (change: number, half = 0.002, before = 1e6): BisectChange => ({
  change,
  low: change - half,
  high: change + half,
  before,
  after: before * (1 + change),
});

/** Eight commits, the fifth of which costs 10 %, with a test's changes. */
export const aBisectResult = (changes: Partial<BisectResult> = {}): BisectResult => ({
  schemaVersion: 1,
  kind: 'bisect',
  generator: { name: 'ppsgate', version: '0.1.0' },
  good: 'main~8',
  bad: 'main',
  fixUps: [],
  testbed: {
    name: 'shelf-3',
    fingerprint: { kernel: 'Linux 6.18', cpu: 'Xeon × 2' },
    warnings: [],
  },
  cell: forwarding,
  metric: 'pps',
  traffic: { flows: 2000, frameBytes: 64, offeredPps: 3_000_000, measureSeconds: 0.08 },
  isShared: false,
  seed: 42,
  startedAt: '2026-11-20T12:00:00.000Z',
  finishedAt: '2026-11-20T13:10:05.000Z',
  revisions: revisionsOf(8, {
    0: { forms: [measuredForm([1_000_000, 1_002_000])] },
    4: { forms: [measuredForm([999_000, 1_001_000])] },
    5: { forms: [measuredForm([900_000, 901_000])], probability: 0.9996 },
    8: { forms: [measuredForm([899_000, 902_000])] },
  }),
  answer: culprit(5, -0.1),
  boots: 8,
  profiles: [],
  runs: [],
  trials: [aTrial({ kernel: 'FreeBSD 15.0-CURRENT a0000000eeee' })],
  ...changes,
});

/** The good commit and this many after it, some with overrides. */
export const revisionsOf = (
  steps: number,
  some: Readonly<Record<number, Partial<BisectRevision>>> = {},
): BisectRevision[] => Array.from({ length: steps + 1 }, (_, place) => aRevision(place, some[place]));

export const culprit = (
  revision: number,
  change: number,
  measuredWith: string[] = [],
): BisectAnswer & { kind: 'culprit' } => ({
  kind: 'culprit',
  revision,
  probability: 0.9996,
  change: aChange(change),
  measuredWith,
});

export const group = (after: number, last: number, likelyFix?: string): BisectAnswer & { kind: 'group' } => ({
  kind: 'group',
  after,
  last,
  probability: 0.9991,
  change: aChange(-0.1),
  ...(likelyFix !== undefined && { likelyFix }),
});

/** A result for each kind of conclusion, with every optional part. */
export const bisectResults: Readonly<Record<string, BisectResult>> = {
  culprit: aBisectResult(),
  'a gain': aBisectResult({ answer: culprit(5, 0.083) }),
  'a cost in time': aBisectResult({ metric: 'nsPerPacket', answer: culprit(5, 0.126) }),
  group: aBisectResult({
    answer: group(2, 5, commitAt(5)),
    revisions: revisionsOf(8, {
      0: { forms: [measuredForm([1_000_000, 1_002_000])] },
      2: { forms: [measuredForm([1_000_000, 1_001_000])] },
      3: { forms: [failedForm()], probability: 0.33 },
      4: { isAssumedFailed: true, probability: 0.33 },
      5: {
        forms: [failedForm(), measuredForm([900_000, 901_000], [commitAt(7)])],
        probability: 0.33,
      },
      8: { forms: [measuredForm([899_000, 902_000])] },
    }),
  }),
  several: aBisectResult({
    answer: {
      kind: 'several',
      found: [culprit(3, -0.1), culprit(6, 0.05)],
      open: [{ after: 6, last: 8 }],
    },
    revisions: revisionsOf(8, {
      0: { forms: [measuredForm([1_000_000, 1_002_000])] },
      2: { forms: [measuredForm([1_001_000])] },
      3: { forms: [measuredForm([900_000])], probability: 0.99 },
      5: { forms: [measuredForm([902_000])] },
      6: { forms: [measuredForm([946_000])], probability: 0.99 },
      8: { forms: [measuredForm([899_000, 902_000])] },
    }),
  }),
  'not reproduced': aBisectResult({
    answer: { kind: 'not-reproduced', change: aChange(0.001, 0.003) },
    revisions: revisionsOf(8, {
      0: { forms: [measuredForm([1_000_000, 1_002_000])] },
      8: { forms: [measuredForm([1_001_000, 1_003_000])] },
    }),
  }),
  'a bad end that fails': aBisectResult({
    answer: { kind: 'not-reproduced', fault: { revision: 8, fault: silent } },
    revisions: revisionsOf(8, {
      0: { forms: [measuredForm([1_000_000])] },
      8: { forms: [failedForm()] },
    }),
  }),
  slide: aBisectResult({
    answer: { kind: 'slide', change: aChange(-0.05, 0.003), steps: [2, 4, 7] },
  }),
  inconclusive: aBisectResult({
    answer: {
      kind: 'inconclusive',
      change: aChange(-0.1),
      best: [
        { revision: 5, probability: 0.61 },
        { revision: 4, probability: 0.22 },
        { revision: 3, probability: 0.1 },
      ],
      bootsExpected: 14,
    },
  }),
  'nothing measured': aBisectResult({
    answer: { kind: 'not-reproduced', fault: { revision: 0, fault: silent } },
    revisions: [aRevision(0, { forms: [failedForm()] }), aRevision(1, { alike: 2 })],
    boots: 1,
    trials: [],
  }),
  'a reverted culprit, of variants that share trials': aBisectResult({
    isShared: true,
    revert: { kind: 'measured', values: [998_000, 1_001_000], change: aChange(0.11) },
  }),
};

const fix = '431980466ff0'.padEnd(40, '0');
const ids: Readonly<Record<number, [commit: string, subject: string]>> = {
  0: ['9a47ae044b48', 'Bump driver versions for mlx5en(4) and mlx4en(4).'],
  2: ['f8f5b459d21ec9dd1ca5d9de319d8b440fef84a8', 'Update user access region, UAR, APIs in the core in mlx5core.'],
  6: ['6815909abda2', 'Move the PMC overflow count to make it per-CPU.'],
  12: [fix, "Don't offset the UAR map twice in mlx5en(4)."],
};

function mellanoxRevisions(some: Readonly<Record<number, Partial<BisectRevision>>>) {
  return revisionsOf(12, some).map((revision) => {
    const [commit = revision.commit, subject = revision.subject] = ids[revision.place] ?? [];
    return { ...revision, commit: commit.padEnd(40, '0'), subject };
  });
}

const mellanox: Partial<BisectResult> = {
  good: 'c255749',
  bad: 'c255761',
  testbed: {
    name: 'mlx5-lab',
    fingerprint: {
      cpu: 'Intel Xeon E5-2697A v4, 32 threads',
      interfaces: 'cc0: Chelsio T580-LP-CR, 32 queues',
      'net.inet.ip.redirect': '0',
      'kern.random.harvest.mask': '351',
    },
    warnings: [],
  },
  traffic: { flows: 4000, frameBytes: 60, offeredPps: 42_490_000, measureSeconds: 30 },
  finishedAt: '2026-11-20T14:01:09.000Z',
};

const mellanoxLoss: BisectChange = {
  change: -0.5591,
  low: -0.5612,
  high: -0.5568,
  before: 26_842_000,
  after: 11_834_000,
};

/** Twelve commits, ten of which forward nothing without the last one; they were measured with it on top. */
export const mellanoxFixed: BisectResult = aBisectResult({
  ...mellanox,
  fixUps: ['431980466ff0:f8f5b459d21e'],
  boots: 10,
  answer: {
    kind: 'culprit',
    revision: 2,
    probability: 0.9999,
    change: mellanoxLoss,
    measuredWith: [fix],
  },
  revisions: mellanoxRevisions({
    0: { forms: [measuredForm([26_860_046, 26_616_402])] },
    1: { forms: [measuredForm([26_971_182, 26_902_377])], probability: 0.00001 },
    2: { forms: [measuredForm([11_838_471, 11_825_044], [fix])], probability: 0.9999 },
    3: { forms: [measuredForm([11_829_950], [fix])], alike: 0 },
    6: { forms: [measuredForm([11_841_625], [fix])] },
    12: { forms: [measuredForm([11_834_989, 11_828_000])] },
  }),
});

/** Likewise, without the last one on top. */
export const mellanoxBroken: BisectResult = aBisectResult({
  ...mellanox,
  boots: 11,
  answer: {
    kind: 'group',
    after: 1,
    last: 12,
    probability: 0.9994,
    change: mellanoxLoss,
    likelyFix: fix,
  },
  revisions: mellanoxRevisions({
    0: { forms: [measuredForm([26_860_046, 26_616_402])] },
    1: { forms: [measuredForm([26_971_182, 26_902_377])], probability: 0.0002 },
    ...Object.fromEntries(
      [2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((place) => [
        place,
        [2, 6, 11].includes(place)
          ? { forms: [failedForm()], probability: 0.0908 }
          : { isAssumedFailed: true, probability: 0.0908 },
      ]),
    ),
    12: { forms: [measuredForm([11_834_989, 11_828_000])], probability: 0.0908 },
  }),
});
