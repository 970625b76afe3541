// Profiles are sampled in boots that happen anyway, or after all measurements, and never at their cost.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { assembleResult } from '../../../src/gate/experiment/assemble.ts';
import { runExperiment } from '../../../src/gate/experiment/experiment.ts';
import type { ExperimentEvent } from '../../../src/gate/experiment/experiment-event.ts';
import { type JournalEntry, readJournal } from '../../../src/gate/experiment/journal.ts';
import { profilesOf } from '../../../src/gate/experiment/profiles.ts';
import type { ProfileOutcome } from '../../../src/lab/testbed.ts';
import type { Result } from '../../../src/model/result.ts';
import { explained } from '../../../src/report/read-result.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { aPlan, aPlanOfFour, singleRuns } from '../../fakes/plan.ts';
import { type FakeTestbed, type FakeTestbedOptions, fakeTestbed, lostWhy } from '../../fakes/testbed.ts';

const profile = { seconds: 2 };
const plan = aPlan({ profile });
const cell = { scenario: 'forwarding', family: 'inet4' } as const;
const missed: ProfileOutcome = { kind: 'missed', reason: 'no load was on it' };

type Setup = FakeTestbedOptions & {
  of?: typeof plan;
  directory?: string;
  onEvent?: (event: ExperimentEvent) => void;
};

async function experiment({
  of = plan,
  directory = temporaryFolder(),
  onEvent = () => {},
  ...options
}: Setup = {}): Promise<{ testbed: FakeTestbed; entries: JournalEntry[]; directory: string }> {
  const testbed = fakeTestbed(options);
  const { signal } = new AbortController();
  const now = () => new Date('2026-11-20T12:00:00.000Z');
  const entries = await runExperiment({ plan: of, testbed, directory, now, onEvent, signal });
  return { testbed, entries, directory };
}

const profilesTaken = ({ calls }: FakeTestbed) => calls.filter((call) => call.startsWith('profile '));

const cellOf = ({ outcome }: Result) => (outcome.kind === 'judged' ? outcome.cells.at(0) : undefined);

test('once a cell is decided, one profile of each variant is taken, and nothing after it', async () => {
  const { testbed, entries } = await experiment();
  expect(profilesTaken(testbed).toSorted()).toEqual(['profile base 1', 'profile patched 1']);
  expect(testbed.calls.slice(-2)).toEqual(profilesTaken(testbed));
  expect(entries.slice(-3).map(({ kind }) => kind)).toEqual(['profiled', 'profiled', 'finished']);
});

test('the variant that ran last is first, as it may still be booted', async () => {
  const of = aPlan({ ...singleRuns, profile, scenarios: ['forwarding', 'nftables-stateless'] });
  const { testbed, entries } = await experiment({ of });
  const runs = entries.flatMap((entry) => (entry.kind === 'measured' ? entry.runs : []));
  const last = runs.at(-1)?.variant;
  const other = last === 'base' ? 'patched' : 'base';
  const inOrder = [last, last, other, other].map((variant) => `profile ${variant} 1`);
  expect(profilesTaken(testbed)).toEqual(inOrder);
});

test('a profile is stored unchanged, the result has its path, and the difference of both is the reason', async () => {
  const { entries, directory } = await experiment();
  const [base] = profilesOf(plan, entries, cell);
  const file = 'profiles/forwarding-inet4-base/stacks.txt';
  const counts = { event: 'cpu-clock', kernel: '6.18', seconds: 2, busySamples: 2000, idleSamples: 0 };
  expect(base).toEqual({ kind: 'profiled', variant: 'base', ...counts, file });
  expect(readFileSync(join(directory, file), 'utf8')).toContain('ip_forward 1200');
  const { result } = await explained(assembleResult(plan, entries), directory);
  expect(cellOf(result)?.reason?.changedFunctions.at(0)).toMatchObject({
    function: 'nft_do_chain',
    baseRatio: 0,
    patchedRatio: 0.2,
  });
});

test('a missed window is tried again, up to three times', async () => {
  const once = await experiment({
    profiles: (_, variant, attempt) => (variant === 'base' && attempt === 1 ? missed : undefined),
  });
  expect(profilesTaken(once.testbed)).toContain('profile base 2');
  expect(profilesOf(plan, once.entries, cell).map(({ kind }) => kind)).toEqual(['profiled', 'profiled']);

  const always = await experiment({
    profiles: (_, variant) => (variant === 'base' ? missed : undefined),
  });
  expect(profilesTaken(always.testbed)).toHaveLength(3 + 1);
  expect(profilesOf(plan, always.entries, cell)).toContainEqual({
    kind: 'missing',
    variant: 'base',
    reason: 'no load was on it',
  });
});

test('a profile that is impossible for a variant in one cell is not tried in the others, which show the reason, too', async () => {
  const reason = 'the DUT gave no sample';
  const two = aPlan({ profile, families: ['inet4', 'inet6'] });
  const { testbed, entries } = await experiment({
    of: two,
    profiles: (_, variant) => (variant === 'base' ? { kind: 'impossible', reason } : undefined),
  });
  const ofBase = profilesTaken(testbed).filter((call) => call.startsWith('profile base'));
  expect(ofBase).toHaveLength(1);
  const reasons = two.cells.flatMap((planned) =>
    profilesOf(two, entries, planned.cell).filter(({ variant }) => variant === 'base'),
  );
  expect(reasons).toEqual(two.cells.map(() => ({ kind: 'missing', variant: 'base', reason })));
});

test('a testbed that breaks meanwhile costs profiles and no verdict', async () => {
  const told: string[] = [];
  const { testbed, entries, directory } = await experiment({
    profiles: () => 'throws',
    onEvent: (event) => event.kind === 'warning' && told.push(event.text),
  });
  expect(profilesTaken(testbed)).toHaveLength(1);
  expect(told).toEqual(['profiling is switched off: The connection to the DUT was lost.']);
  const { result } = await explained(assembleResult(plan, entries), directory);
  expect(cellOf(result)).toMatchObject({
    verdict: { kind: 'no-regression' },
    profiles: [
      { kind: 'missing', variant: 'base' },
      { kind: 'missing', variant: 'patched' },
    ],
  });
  expect(cellOf(result)).not.toHaveProperty('reason');
});

test('a cell without a verdict has no profile, for it was not measured', async () => {
  const { testbed, entries } = await experiment({ faults: () => Array(3).fill('fails') });
  expect(profilesTaken(testbed)).toEqual([]);
  expect(profilesOf(plan, entries, cell)).toEqual([]);
});

test('earlier diffs have a profile too, but for one that is left out', async () => {
  const of = aPlanOfFour({ profile });
  const { testbed } = await experiment({
    of,
    unready: [
      {
        kind: 'rejected',
        variant: 'diff 80345',
        rejection: { kind: 'does-not-load', scenario: 'forwarding', message: 'syntax error' },
      },
    ],
  });
  expect(new Set(profilesTaken(testbed))).toEqual(
    new Set(['profile base 1', 'profile patched 1', 'profile diff 80654 1']),
  );
});

test('a resumed experiment takes its missing profiles', async () => {
  const { entries } = await experiment();
  const end = entries.findIndex(({ kind }) => kind === 'profiled') + 1;
  const again = temporaryFolder();
  const lines = entries.slice(0, end).map((entry) => `${JSON.stringify(entry)}\n`);
  writeFileSync(join(again, 'journal.jsonl'), lines.join(''));

  const resumed = await experiment({ directory: again });
  expect(profilesTaken(resumed.testbed)).toHaveLength(1);
  expect(profilesOf(plan, await readJournal(join(again, 'journal.jsonl')), cell)).toMatchObject([
    { kind: 'profiled', variant: 'base' },
    { kind: 'profiled', variant: 'patched' },
  ]);
});

describe('with a separate boot for each pair’s variant', () => {
  const scenarios = ['forwarding', 'nftables-stateless'];
  const of = aPlan({ ...singleRuns, profile, scenarios });
  const booted = (options: Setup = {}) => experiment({ of, boots: true, ...options });
  const trial = (number: number) => `trial ${number}`;

  const [first = '', second = ''] = [0, 2].map((index) => of.trials[index]?.runs[0]?.variant);
  /** The trials of the first two boots, each with all cells. */
  const firstBoots = [
    trial(1),
    trial(2),
    `profile ${first} 1`,
    `profile ${first} 1`,
    trial(3),
    trial(4),
    `profile ${second} 1`,
    `profile ${second} 1`,
  ];

  test('the profiles of a variant are taken after the last trial of its first boot, and none at the end', async () => {
    const { testbed, entries } = await booted();
    expect(testbed.calls.slice(1, 9)).toEqual(firstBoots);
    expect(profilesTaken(testbed)).toHaveLength(4);
    expect(entries.at(-2)?.kind).toBe('measured');
    for (const one of plan.cells) {
      expect(profilesOf(of, entries, one.cell)).toMatchObject([
        { kind: 'profiled', variant: 'base' },
        { kind: 'profiled', variant: 'patched' },
      ]);
    }
  });

  test('the measurements equal those without profiles', async () => {
    const measured = ({ entries }: { entries: JournalEntry[] }) => entries.filter(({ kind }) => kind === 'measured');
    const without = await booted({ of: aPlan({ ...singleRuns, scenarios }) });
    expect(measured(await booted())).toEqual(measured(without));
  });

  test('one that is missed is tried again in the next boot of its variant', async () => {
    const { testbed } = await booted({
      profiles: ({ scenario }, variant, attempt) =>
        variant === first && scenario === 'forwarding' && attempt === 1 ? missed : undefined,
    });
    expect(testbed.calls.slice(1, 9)).toEqual(firstBoots);
    const again = testbed.calls.indexOf(`profile ${first} 2`);
    expect(testbed.calls.slice(again - 2, again).every((call) => call.startsWith('trial '))).toBe(true);
    expect(profilesTaken(testbed)).toHaveLength(5);
  });

  test('one that no boot was left for is taken at the end', async () => {
    const { testbed, entries } = await booted({
      of: aPlan({ ...singleRuns, profile, gate: { ...singleRuns.gate, maxRunsPerVariant: 2 } }),
      profiles: (_, variant, attempt) => (variant === 'patched' && attempt < 3 ? missed : undefined),
    });
    expect(testbed.calls.at(-1)).toBe('profile patched 3');
    expect(entries.at(-2)).toMatchObject({ kind: 'profiled', profile: { kind: 'profiled' } });
  });

  test.each<[string, FakeTestbedOptions]>([
    [
      'a DUT that dies meanwhile is not booted for the profile of the next cell',
      {
        profiles: (_, variant, attempt) =>
          variant === first && attempt === 1 ? { kind: 'missed', reason: lostWhy } : undefined,
      },
    ],
    ['a cell without a run that counts is not profiled', { faults: (number) => (number === 1 ? ['fails'] : []) }],
  ])('%s, and is in a later boot', async (_, options) => {
    const { testbed, entries } = await booted(options);
    expect(testbed.calls.slice(1, 5)).toEqual([trial(1), trial(2), `profile ${first} 1`, trial(3)]);
    expect(profilesOf(of, entries, cell).map(({ kind }) => kind)).toEqual(['profiled', 'profiled']);
  });
});
