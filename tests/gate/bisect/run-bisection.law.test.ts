import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { assembleBisection } from '../../../src/gate/bisect/assemble.ts';
import { type BisectPlan, withSkipped } from '../../../src/gate/bisect/bisect-plan.ts';
import type { JournalEntry } from '../../../src/gate/experiment/journal.ts';
import { bisectResultSchema } from '../../../src/model/bisect-result.ts';
import type { PlannedTrial } from '../../../src/model/planned-trial.ts';
import type { Rejected, Rejection } from '../../../src/model/rejection.ts';
import {
  aBisectPlan,
  aSharedPlan,
  commitAt,
  fakeVariants,
  runOn,
  slowerFrom,
  variantAt,
  withFixUp,
} from '../../fakes/bisect.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { type FakeTestbedOptions, fakeTestbed } from '../../fakes/testbed.ts';

/** A testbed that boots variants; all from a place on are slower. */
const testbedFor = (plan: BisectPlan, place: number, options: FakeTestbedOptions = {}) => {
  const speed = slowerFrom(plan, place);
  return fakeTestbed({ boots: true, noise: 0.003, speed: (_, name) => speed(name), ...options });
};

const panics: Rejection = { kind: 'panics-under-load', message: 'Twice.', panic: 'page fault' };

const rejectedWhere =
  (variants: readonly string[], rejection: Rejection = panics) =>
  ({ runs: [run] }: { runs: { variant: string }[] }): Rejected | undefined =>
    variants.includes(run?.variant ?? '') ? { kind: 'rejected', variant: run?.variant ?? '', rejection } : undefined;

const notify = (plan: BisectPlan, journal: readonly JournalEntry[]) =>
  bisectResultSchema.parse(assembleBisection(plan, journal));

/** Variants that were measured or lost, in their order. */
const bootsIn = (journal: readonly JournalEntry[]): string[] =>
  journal.flatMap((entry) => {
    if (entry.kind === 'measured') return entry.runs.map(({ variant }) => variant);
    return entry.kind === 'failed' ? (entry.variants ?? []) : [];
  });

test.for([1, 7, 12])('the commit that lost a fifth is named, at place %i of twelve', async (place) => {
  const plan = aBisectPlan(12);
  const { answer, boots } = notify(plan, await runOn(plan, testbedFor(plan, place), temporaryFolder()));
  expect(answer).toMatchObject({ kind: 'culprit', revision: place, measuredWith: [] });
  if (answer.kind === 'culprit') expect(answer.change.change).toBeCloseTo(-0.2, 1);
  expect(boots).toBeLessThanOrEqual(14);
});

test('commits in a row that cannot be measured are a group with the one after them, which may be their fix', async () => {
  const plan = aBisectPlan(12);
  const rejects = rejectedWhere([5, 6, 7].map(variantAt));
  const journal = await runOn(plan, testbedFor(plan, 6, { rejects }), temporaryFolder());
  const { answer, revisions } = notify(plan, journal);
  expect(answer).toMatchObject({ kind: 'group', after: 4, last: 8, likelyFix: commitAt(8) });
  expect(revisions.slice(4, 9).map(({ forms }) => forms[0]?.fault?.kind)).toContain('panics-under-load');
});

test('a fix-up makes the commits of a stretch measurable, and once it has helped they get it straight away', async () => {
  const stretch = Object.fromEntries([5, 6, 7].map((place) => [place, { forms: withFixUp(place, 8) }]));
  const plan = aBisectPlan(12, {}, stretch);
  const rejects = rejectedWhere([5, 6, 7].map(variantAt));
  const journal = await runOn(plan, testbedFor(plan, 6, { rejects }), temporaryFolder());
  const { answer } = notify(plan, journal);
  expect(answer).toMatchObject({ kind: 'culprit', revision: 6, measuredWith: [commitAt(8)] });
  expect(journal.filter(({ kind }) => kind === 'rejected')).toHaveLength(1);
});

test('if the bad end forwards nothing, the first silent commit is named', async () => {
  const plan = aBisectPlan(12);
  const silent = slowerFrom(plan, 7, 0);
  const testbed = testbedFor(plan, 7, { speed: (_, name) => silent(name) });
  const { answer } = notify(plan, await runOn(plan, testbed, temporaryFolder()));
  expect(answer).toMatchObject({ kind: 'culprit', revision: 7, change: { change: -1, after: 0 } });
});

test('a bad end that panics is reported, and nothing else is booted', async () => {
  const plan = aBisectPlan(12);
  const rejects = rejectedWhere(['patched']);
  const journal = await runOn(plan, testbedFor(plan, 7, { rejects }), temporaryFolder());
  expect(notify(plan, journal).answer).toEqual({
    kind: 'not-reproduced',
    fault: { revision: 12, fault: panics },
  });
  expect(new Set(bootsIn(journal))).toEqual(new Set(['base']));
});

test('a good end that panics is an error, and the bisection can be continued after a fix', async () => {
  const plan = aBisectPlan(12);
  const directory = temporaryFolder();
  const broken = testbedFor(plan, 7, { rejects: rejectedWhere(['base']) });
  await expect(runOn(plan, broken, directory)).rejects.toThrow(
    'The good commit itself panics under load: Twice. It panicked: page fault.',
  );
  const journal = await runOn(plan, testbedFor(plan, 7), directory);
  expect(notify(plan, journal).answer).toMatchObject({ kind: 'culprit', revision: 7 });
});

describe('the laboratory', () => {
  test('is tried three times, and never is its fault a commit’s', async () => {
    const plan = aBisectPlan(12);
    const directory = temporaryFolder();
    const dead = fakeTestbed({ boots: true, faults: () => ['fails', 'fails'] });
    await expect(runOn(plan, dead, directory)).rejects.toThrow(
      /^3 attempts in a row to measure base failed, .*: trafgen ended without/,
    );
    const journal = await runOn(plan, testbedFor(plan, 7), directory);
    const { answer, revisions } = notify(plan, journal);
    expect(answer).toMatchObject({ kind: 'culprit', revision: 7 });
    expect(revisions.flatMap(({ forms }) => forms.flatMap(({ fault }) => fault ?? []))).toEqual([]);
  });

  test('that yields no result for a commit proposes to continue without it', async () => {
    const plan = aBisectPlan(12);
    const directory = temporaryFolder();
    const unfit = {
      rejects: ({ runs: [run] }: PlannedTrial) =>
        run?.variant === variantAt(6) ? ({ kind: 'failed', reason: 'its routes are lost' } as const) : undefined,
    };
    await expect(runOn(plan, testbedFor(plan, 7, unfit), directory)).rejects.toThrow(
      `or continue without that commit with --resume and --skip ${variantAt(6)}.`,
    );
    const skipping = withSkipped(plan, [commitAt(6)]);
    const journal = await runOn(skipping, testbedFor(plan, 7, unfit), directory);
    expect(notify(skipping, journal).answer).toMatchObject({ kind: 'group', after: 5, last: 7 });
  });

  test('is not the reason for which an end, or a stranger, could be left out', () => {
    const plan = aBisectPlan(12);
    for (const commit of [commitAt(0), commitAt(12), commitAt(99)]) {
      expect(() => withSkipped(plan, [commit])).toThrow('is not a separately measured commit between the ends');
    }
  });

  test.for(['fails', 'receiver-loss', 'idle', 'holes'] as const)('may lose a boot now and then: %s', async (fault) => {
    const plan = aBisectPlan(12);
    const testbed = testbedFor(plan, 7, {
      faults: (number) => (number % 3 === 1 ? [fault] : []),
    });
    const { answer } = notify(plan, await runOn(plan, testbed, temporaryFolder()));
    expect(answer).toMatchObject({ kind: 'culprit', revision: 7 });
  });

  test('without disk space stops the bisection, which can be continued', async () => {
    const plan = aBisectPlan(12);
    const directory = temporaryFolder();
    const full: Rejection = { kind: 'out-of-disk', message: 'DUT: no space on /boot.' };
    const testbed = testbedFor(plan, 7, { rejects: rejectedWhere([variantAt(6)], full) });
    await expect(runOn(plan, testbed, directory)).rejects.toThrow('no space on /boot');
    const journal = await runOn(plan, testbedFor(plan, 7), directory);
    expect(notify(plan, journal).answer).toMatchObject({ kind: 'culprit', revision: 7 });
  });
});

test('the bad end is measured without the culprit on request', async () => {
  const plan = aBisectPlan(12, { isVerified: true });
  const journal = await runOn(plan, testbedFor(plan, 7), temporaryFolder());
  const { revert } = notify(plan, journal);
  expect(revert).toMatchObject({
    kind: 'measured',
    values: [expect.any(Number), expect.any(Number)],
  });
  if (revert?.kind === 'measured') expect(revert.change.change).toBeCloseTo(0.25, 1);
});

test('a culprit that cannot be removed from the bad end is reported', async () => {
  const plan = aBisectPlan(12, { isVerified: true });
  const why = 'What it changed was changed again.';
  const variants = { ...fakeVariants, without: async () => ({ impossible: why }) };
  const journal = await runOn(plan, testbedFor(plan, 7), temporaryFolder(), variants);
  expect(notify(plan, journal).revert).toEqual({ kind: 'impossible', why });
});

test('a profile is taken of the culprit and of its parent', async () => {
  const plan = aBisectPlan(12, { profile: { seconds: 3 } });
  const testbed = testbedFor(plan, 7);
  const { profiles } = notify(plan, await runOn(plan, testbed, temporaryFolder()));
  expect(profiles).toMatchObject([
    { kind: 'profiled', variant: 'base', file: expect.stringContaining(variantAt(6)) },
    { kind: 'profiled', variant: 'patched', file: expect.stringContaining(variantAt(7)) },
  ]);
});

test('commits that share a trial are held against the ends in it', async () => {
  const plan = aSharedPlan(40);
  const speed = slowerFrom(plan, 23);
  const testbed = fakeTestbed({
    noise: 0.01,
    jumps: (number) => 1 - number / 50,
    speed: (_, name) => speed(name),
  });
  const { answer, boots, isShared } = notify(plan, await runOn(plan, testbed, temporaryFolder()));
  expect(answer).toMatchObject({ kind: 'culprit', revision: 23 });
  expect([isShared, boots < 10]).toEqual([true, true]);
});

test.for([
  ['boots', aBisectPlan],
  ['shared trials', aSharedPlan],
] as const)(
  'with %s, killed at any moment and resumed, it ends with the same answer, and no boot is repeated',
  async ([, planOf]) => {
    const plan = planOf(12, { isVerified: true, profile: { seconds: 3 } });
    const options = {
      rejects: rejectedWhere([variantAt(5)]),
      faults: (number: number) => (number === 4 ? (['fails'] as const) : []),
    };
    const whole = await runOn(plan, testbedFor(plan, 7, options), temporaryFolder());
    const told = notify(plan, whole);
    for (let length = 0; length < whole.length; length++) {
      const directory = temporaryFolder();
      writeJournal(directory, whole.slice(0, length));
      const testbed = testbedFor(plan, 7, options);
      const journal = await runOn(plan, testbed, directory);
      expect(journal.slice(0, length)).toEqual(whole.slice(0, length));
      const { answer, revisions } = notify(plan, journal);
      expect([answer.kind, 'revision' in answer && answer.revision]).toEqual(['culprit', 7]);
      expect(revisions.length).toBe(told.revisions.length);
      const numbers = journal.flatMap((entry) => (entry.kind === 'measured' ? entry.summary.number : []));
      expect(numbers).toEqual([...new Set(numbers)]);
      // Variants that are already built may be measured first; after a kill there are none.
      expect(journal.length).toBeLessThanOrEqual(whole.length + 4);
    }
  },
);

function writeJournal(directory: string, entries: readonly JournalEntry[]): void {
  mkdirSync(directory, { recursive: true });
  const text = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
  writeFileSync(join(directory, 'journal.jsonl'), text);
}
