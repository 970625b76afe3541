// History of a branch from its nightly runs, and the states of each change.
import { describe, expect, test } from 'vitest';
import {
  accepted,
  byCommit,
  changesToBisect,
  changesToGate,
  isOff,
  judgeTrend,
  levelsOf,
  lossesOf,
  seriesKey,
  withBisection,
  withGate,
  worstOf,
} from '../../../src/analysis/trend/change-history.ts';
import type { Cell } from '../../../src/model/scenario.ts';
import type { NightlyRun, TrendChange, TrendIndex } from '../../../src/model/trend.ts';
import { aBisectResult, culprit, revisionsOf } from '../../fakes/bisect-result.ts';
import { aCell, aResult, forwarding } from '../../fakes/result.ts';

const testbed = 'rack-1';
const inet6: Cell = { scenario: 'forwarding', family: 'inet6' };
const now = new Date('2026-03-01T06:00:00Z');
const policy = { metric: 'pps', marginRatio: 0.02 } as const;

const commitOf = (nightlyRun: number): string => nightlyRun.toString(16).padStart(40, '0');
const timeOf = (nightlyRun: number): string => new Date(Date.UTC(2026, 0, 1 + nightlyRun, 2)).toISOString();
const aNightlyRun = (nightlyRun: number, level: number, changes: Partial<NightlyRun> = {}): NightlyRun => ({
  at: timeOf(nightlyRun),
  commit: commitOf(nightlyRun),
  committedAt: timeOf(nightlyRun),
  occasion: 'nightly',
  pps: [level * (1 + ((nightlyRun * 7) % 5) / 1000)],
  nsPerPacket: [],
  instructionsPerPacket: [],
  fingerprint: '0123456789ab',
  ...changes,
});
/** Nightly runs with the levels of `levelAt`, in packets per second. */
const nightlyRuns = (count: number, levelAt: (nightlyRun: number) => number): NightlyRun[] =>
  Array.from({ length: count }, (_, nightlyRun) => aNightlyRun(nightlyRun, levelAt(nightlyRun)));
const losing = (count: number, from = 30): NightlyRun[] =>
  nightlyRuns(count, (nightlyRun) => (nightlyRun < from ? 1e6 : 0.95e6));
const steady = (count: number): NightlyRun[] => nightlyRuns(count, () => 1e6);

const emptyIndex: TrendIndex = {
  schemaVersion: 1,
  cells: [forwarding, inet6].map((cell) => ({ testbed, cell, years: [2026] })),
  fingerprints: [],
  changes: [],
  aaRuns: [],
  releases: [],
};
const judged = (series: { inet4?: NightlyRun[]; inet6?: NightlyRun[] }, index = emptyIndex): TrendIndex =>
  judgeTrend(
    index,
    new Map([
      [seriesKey({ testbed, cell: forwarding }), series.inet4 ?? []],
      [seriesKey({ testbed, cell: inet6 }), series.inet6 ?? []],
    ]),
    policy,
    now,
  );
const lost = judged({ inet4: losing(34) });
const only = ({ changes }: TrendIndex): TrendChange => {
  const [change, ...others] = changes;
  if (!change || others.length > 0) throw new Error(`found ${changes.length} changes`);
  return change;
};

const aGate = (
  kind: 'regression' | 'no-regression' | 'improvement' | 'inconclusive',
  { cell = forwarding, good = commitOf(29), bad = commitOf(30) } = {},
) =>
  aResult({
    testbed: { name: testbed, fingerprint: {}, warnings: [] },
    variants: [
      { name: 'base', commit: good, files: [] },
      { name: 'patched', commit: bad, files: [] },
    ],
    outcome: {
      kind: 'judged',
      verdict: kind,
      cells: [aCell({ kind }, undefined, cell)],
    },
  });

describe('a found change', () => {
  test('is kept with both commits, the levels and the nightly run from which the new one is', () => {
    expect(only(lost)).toMatchObject({
      testbed,
      metric: 'pps',
      good: commitOf(29),
      bad: commitOf(30),
      state: 'candidate',
      foundAt: now.toISOString(),
      gates: [],
      cells: [{ cell: forwarding, firstAt: timeOf(30) }],
    });
    expect(only(lost).cells[0]?.changeRatio).toBeCloseTo(-0.05, 2);
  });

  test('is found once, and stays when later nightly runs are judged', () => {
    const later = judged({ inet4: losing(60) }, lost);
    expect(only(later)).toMatchObject({ id: only(lost).id, foundAt: now.toISOString() });
  });

  test('has an id of forty digits, and is recognized by its commits if a file has twelve', () => {
    const { id } = only(lost);
    expect(id).toMatch(/^[0-9a-f]{40}$/);
    const old = { ...lost, changes: [{ ...only(lost), id: id.slice(0, 12) }] };
    expect(only(judged({ inet4: losing(60) }, old)).id).toBe(id.slice(0, 12));
  });

  test('is one change for all cells that stepped between the same commits', () => {
    const both = judged({ inet4: losing(34), inet6: losing(34) });
    expect(only(both).cells.map(({ cell }) => cell)).toEqual([forwarding, inet6]);
    const later = judged({ inet6: losing(36) }, lost);
    expect(only(later).cells.map(({ cell }) => cell)).toEqual([forwarding, inet6]);
  });

  test('cannot be code where one commit was measured before and after', () => {
    const same = losing(34).map((nightlyRun) => ({ ...nightlyRun, commit: commitOf(7) }));
    const index = judged({ inet4: same });
    expect(only(index)).toMatchObject({ good: commitOf(7), bad: commitOf(7), state: 'testbed' });
    expect(changesToGate(index, testbed)).toEqual([]);
  });

  test('is between commits, even if their nightly runs arrived in another order', () => {
    const late = losing(34).toSorted((a, b) => b.at.localeCompare(a.at));
    const measured = late.map((nightlyRun, index) => ({ ...nightlyRun, at: timeOf(100 + index) }));
    const index = judged({ inet4: measured.toSorted(byCommit) });
    expect(only(index)).toMatchObject({ good: commitOf(29), bad: commitOf(30) });
  });
});

describe('a gate of the two commits', () => {
  test('is wanted of a loss, and not of a gain', () => {
    expect(changesToGate(lost, testbed)).toEqual(lost.changes);
    expect(changesToGate(lost, 'rack-2')).toEqual([]);
    const gained = judged({
      inet4: nightlyRuns(34, (nightlyRun) => (nightlyRun < 30 ? 1e6 : 1.05e6)),
    });
    expect(only(gained).state).toBe('candidate');
    expect(changesToGate(gained, testbed)).toEqual([]);
  });

  test('makes it code where the loss is there too, and the testbed where it is not', () => {
    const code = withGate(lost, aGate('regression'), 'results/2026/g1');
    expect(only(code)).toMatchObject({
      state: 'code',
      changedAt: '2026-11-20T12:02:05.000Z',
      gates: [{ result: 'results/2026/g1', verdict: 'regression' }],
    });
    for (const kind of ['no-regression', 'improvement'] as const) {
      expect(only(withGate(lost, aGate(kind), 'results/2026/g1')).state).toBe('testbed');
    }
  });

  test('without a verdict is repeated, three times in all', () => {
    let index = lost;
    for (const [day, wanted] of [1, 1, 0].entries()) {
      const gate = { ...aGate('inconclusive'), finishedAt: timeOf(40 + day) };
      index = withGate(index, gate, 'results/2026/g');
      expect(only(index).state).toBe('confirming');
      expect(changesToGate(index, testbed)).toHaveLength(wanted);
    }
  });

  test.each([
    [{ kind: 'build-failed', message: 'cc: error' }, 'confirming'],
    // The same kernel leaves nothing to measure.
    [{ kind: 'unchanged' }, 'testbed'],
  ] as const)('that ends with %j makes it %s', (outcome, state) => {
    const index = withGate(lost, { ...aGate('regression'), outcome }, 'results/2026/g');
    expect(only(index).state).toBe(state);
    expect(changesToGate(index, testbed)).toHaveLength(state === 'confirming' ? 1 : 0);
    expect(changesToBisect(index, testbed)).toEqual([]);
  });

  test('of other commits, or after the change is settled, has no effect', () => {
    expect(withGate(lost, aGate('regression', { bad: commitOf(31) }), 'results/2026/g')).toEqual(lost);
    const settled = withGate(lost, aGate('no-regression'), 'results/2026/g1');
    expect(withGate(settled, aGate('regression'), 'results/2026/g2')).toEqual(settled);
  });

  test('that found nothing in one cell is repeated when another cell joins', () => {
    const settled = withGate(lost, aGate('no-regression'), 'results/2026/g1');
    const joined = judged({ inet4: losing(36), inet6: losing(36) }, settled);
    expect(only(joined)).toMatchObject({ state: 'confirming' });
    expect(changesToGate(joined, testbed)).toHaveLength(1);
  });
});

test('later nightly runs of the old level make a change recovered, in all of its cells', () => {
  const code = withGate(lost, aGate('regression'), 'results/2026/g1');
  const back = (nightlyRun: number) => (nightlyRun < 30 || nightlyRun >= 50 ? 1e6 : 0.95e6);
  expect(judged({ inet4: nightlyRuns(49, back) }, code).changes[0]?.state).toBe('code');
  const recovered = judged({ inet4: nightlyRuns(60, back) }, code);
  expect(recovered.changes.map(({ state }) => state)).toEqual(['recovered', 'candidate']);
});

test('an accepted level is settled: neither gates nor recovery move it', () => {
  const index = accepted(lost, only(lost).id, now);
  expect(index && only(index).state).toBe('accepted');
  const later = judged({ inet4: steady(60) }, index);
  expect(only(later).state).toBe('accepted');
  expect(changesToGate(later, testbed)).toEqual([]);
});

test('a change is bisected once it is code, and once', () => {
  const ofRange = aBisectResult({
    good: commitOf(29),
    bad: commitOf(30),
    testbed: { name: testbed, fingerprint: {}, warnings: [] },
    revisions: revisionsOf(4),
    answer: culprit(3, -0.05),
  });
  expect(changesToBisect(lost, testbed)).toEqual([]);
  const code = withGate(lost, aGate('regression'), 'results/2026/g1');
  expect(changesToBisect(code, testbed)).toHaveLength(1);
  const bisected = withBisection(code, ofRange, 'results/2026/b1');
  expect(changesToBisect(bisected, testbed)).toEqual([]);
});

describe('a nightly run that is off', () => {
  test('is four deviations from the previous level, to either side', () => {
    expect(isOff(steady(20), aNightlyRun(21, 0.95e6), 'pps')).toBe(true);
    expect(isOff(steady(20), aNightlyRun(21, 1.05e6), 'pps')).toBe(true);
    expect(isOff(steady(20), aNightlyRun(21, 1e6), 'pps')).toBe(false);
  });

  test('is not off a new level that is already known, nor with few nightly runs or none', () => {
    expect(isOff(losing(34), aNightlyRun(35, 0.95e6), 'pps')).toBe(false);
    expect(isOff(steady(5), aNightlyRun(6, 0.5e6), 'pps')).toBe(false);
    expect(isOff(steady(20), aNightlyRun(21, 0.5e6), 'nsPerPacket')).toBe(false);
  });
});

test('the worst cell of a change is the one that lost most, though another one may have gained more', () => {
  const level = (changeRatio: number, cell = forwarding) => ({
    cell,
    before: 1e6,
    after: 1e6 * (1 + changeRatio),
    changeRatio,
    firstAt: timeOf(30),
  });
  const cells = [level(0.06), level(-0.03, inet6)];
  expect(worstOf({ ...only(lost), cells }).cell).toEqual(inet6);
  expect(lossesOf({ ...only(lost), cells })).toHaveLength(1);
  expect(worstOf({ ...only(lost), cells: [level(0.02), level(0.06, inet6)] }).cell).toEqual(inet6);
});

test('levels are the stretches between the changes that are kept', () => {
  const levels = levelsOf(lost, { testbed, cell: forwarding }, losing(40), 'pps');
  expect(levels.map(({ from, to }) => [from, to])).toEqual([
    [0, 30],
    [30, 40],
  ]);
  expect(levels[1]?.typical).toBeCloseTo(0.95e6, -4);
  const elsewhere = levelsOf(lost, { testbed, cell: inet6 }, steady(40), 'pps');
  expect(elsewhere.map(({ from, to }) => [from, to])).toEqual([[0, 40]]);
});
