import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { gate, resumeGate, type World } from '../src/gate.ts';
import { type Repository, RepositoryError } from '../src/patch/repository.ts';
import type { Result } from '../src/report/result.ts';
import { temporaryFolder } from './fakes/folder.ts';
import { aConfig } from './fakes/plan.ts';
import { pullRequest } from './fakes/result.ts';
import {
  type FakeTestbed,
  type FakeTestbedOptions,
  type Fault,
  fakeTestbed,
} from './fakes/testbed.ts';

/** A repository whose overlay is one file that says at which commit it stands. */
const repository: Repository = {
  resolve: async (name) => name,
  mergeBase: async (first) => first,
  list: async (commit) => [{ path: 'nftables.conf', mode: '100644', object: commit }],
  read: async (object) => `# ${object}\n`,
  describe: async () => ({ subject: 'Drop protocol 254 early', author: 'alice' }),
};

const config = aConfig({
  families: ['inet4', 'inet6'],
  gate: { metric: 'pps', marginRatio: 0.05, confidenceRatio: 0.95, runsPerVariant: 8 },
});
const request = { patch: pullRequest, config, testbed: 'fake', seed: 5 };

const worldOf = (testbed: FakeTestbed, changes: Partial<World> = {}): World => ({
  repository,
  openTestbed: async () => testbed,
  now: () => new Date('2026-11-20T12:00:00.000Z'),
  onEvent: () => {},
  signal: new AbortController().signal,
  ...changes,
});

const judge = (options: FakeTestbedOptions, directory = temporaryFolder()): Promise<Result> =>
  gate(request, directory, worldOf(fakeTestbed(options)));

function cellsOf({ outcome }: Result) {
  return outcome.kind === 'judged' ? outcome.cells : [];
}

test.for([
  ['a fifth slower', 0.8, 'regression'],
  ['a fifth faster', 1.25, 'improvement'],
  ['the same', 1, 'no-regression'],
  ['slower by less than matters', 0.99, 'no-regression'],
  ['as slow as the margin, give or take', 0.95, 'regression'],
] as const)('a patch that is %s comes out as that', async ([, speed, verdict]) => {
  const { outcome } = await judge({ speed: () => speed, noise: 0.01 });
  expect(outcome).toMatchObject({ kind: 'judged', verdict });
});

test('noise above what the runs can see through is inconclusive', async () => {
  const { outcome } = await judge({ noise: 0.2 });
  expect(outcome).toMatchObject({ kind: 'judged', verdict: 'inconclusive' });
});

test('one cell that loses makes the patch a regression, and only that cell', async () => {
  const result = await judge({ speed: ({ family }) => (family === 'inet6' ? 0.8 : 1) });
  expect(result.outcome).toMatchObject({ kind: 'judged', verdict: 'regression' });
  const verdicts = cellsOf(result).map(({ cell, verdict }) => [cell.family, verdict.kind]);
  expect(verdicts).toEqual([
    ['inet4', 'no-regression'],
    ['inet6', 'regression'],
  ]);
});

test('a patched DUT that forwards nothing at all is a regression of 100 %', async () => {
  const result = await judge({ speed: () => 0 });
  expect(result.outcome).toMatchObject({ kind: 'judged', verdict: 'regression' });
  expect(cellsOf(result)[0]?.comparisons[0]?.interval.change).toBe(-1);
});

test.for([
  ['holes', 'no packet was forwarded for 20 ms'],
  ['fails', 'trafgen ended without its summary'],
  ['receiver-loss', 'the receiver counted 7 packets of the 9 that the DUT forwarded'],
] as const)(
  'too few pairs that count make a cell invalid, and it says why: %s',
  async ([fault, why]) => {
    const result = await judge({ faults: () => [fault, fault, fault] });
    expect(result.outcome).toMatchObject({ kind: 'judged', verdict: 'invalid' });
    for (const { verdict } of cellsOf(result)) {
      expect(verdict).toEqual({
        kind: 'invalid',
        reason: expect.stringMatching(new RegExp(`^0 of 8 pairs of runs count: ${why}$`)),
      });
    }
  },
);

test('pairs that count in one attempt or another add up', async () => {
  const result = await judge({ faults: () => ['hole', 'hole', 'hole'] });
  expect(cellsOf(result).map(({ comparisons }) => comparisons[0]?.pairs)).toEqual([12, 12]);
  expect(result.outcome).toMatchObject({ kind: 'judged', verdict: 'no-regression' });
});

test('faults that a repetition heals leave no mark on the verdict', async () => {
  const result = await judge({ speed: () => 0.8, faults: () => ['receiver-loss', 'fails'] });
  expect(result.outcome).toMatchObject({ kind: 'judged', verdict: 'regression' });
});

test('patched files that do not load are the outcome, in the words of the DUT', async () => {
  const refusal = { scenario: 'forwarding', message: 'nftables.conf:3: syntax error' } as const;
  const result = await judge({
    prepared: { kind: 'does-not-load', variant: 'patched', ...refusal },
  });
  expect(result.outcome).toEqual({ kind: 'does-not-load', ...refusal });
});

test('the plan, the journal, the logs, the result and the report are left in the work directory', async () => {
  const directory = temporaryFolder();
  const result = await judge({}, directory);
  expect(readdirSync(directory).toSorted()).toEqual([
    'blasts',
    'experiment.json',
    'journal.jsonl',
    'report.md',
    'result.json',
  ]);
  expect(JSON.parse(readFileSync(join(directory, 'result.json'), 'utf8'))).toEqual(result);
});

test.for<[string, FakeTestbedOptions]>([
  ['it went well', {}],
  ['a connection broke', { faults: () => ['throws'] }],
  [
    'the base does not load',
    { prepared: { kind: 'does-not-load', variant: 'base', scenario: 'forwarding', message: '' } },
  ],
])('the testbed is given back once, at the end, when %s', async ([, options]) => {
  const testbed = fakeTestbed(options);
  await gate(request, temporaryFolder(), worldOf(testbed)).catch(() => {});
  expect(testbed.calls.filter((call) => call === 'restore')).toHaveLength(1);
  expect(testbed.calls.at(-1)).toBe('restore');
});

test('a patch that cannot be read costs no testbed', async () => {
  const unreadable = {
    ...repository,
    mergeBase: () => Promise.reject(new RepositoryError('no such commit')),
  };
  const openTestbed = () => Promise.reject(new Error('a testbed was opened'));
  const world = worldOf(fakeTestbed(), { repository: unreadable, openTestbed });
  await expect(gate(request, temporaryFolder(), world)).rejects.toThrow('no such commit');
});

test('a directory without a plan cannot be resumed', async () => {
  const resumed = resumeGate(temporaryFolder(), worldOf(fakeTestbed()));
  await expect(resumed).rejects.toThrow('holds no plan of an experiment');
});

test('killed at any moment and resumed, it ends as if it had never been killed', async () => {
  const folder = temporaryFolder();
  let example = 0;
  const faults = fc.array(
    fc.constantFrom<Fault | undefined>(undefined, 'fails', 'hole', 'holes', 'receiver-loss'),
    {
      minLength: 3,
      maxLength: 3,
    },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        speed: fc.constantFrom(1, 0.9, 1.1, 0),
        seed: fc.nat({ max: 1000 }),
        faultyBlasts: fc.dictionary(fc.constantFrom('1', '2', '5', '8'), faults),
        kills: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 3 }),
      }),
      async ({ speed, seed, faultyBlasts, kills }) => {
        example += 1;
        const options = {
          seed,
          speed: () => speed,
          faults: (blast: number) => faultyBlasts[String(blast)] ?? [],
        };
        const directory = join(folder, String(example));
        const whole = await judge(options, directory);
        const plan = readFileSync(join(directory, 'experiment.json'), 'utf8');

        for (const [index, kill] of kills.entries()) {
          const before = killed(directory, kill, join(folder, `${example}.${index}`));
          const testbed = fakeTestbed({ ...options, sentBefore: (blast) => before.sent(blast) });
          const result = await resumeGate(before.directory, worldOf(testbed));

          expect(result).toEqual(whole);
          expect(readFileSync(join(before.directory, 'experiment.json'), 'utf8')).toBe(plan);
          expect(journal(before.directory).startsWith(before.lines)).toBe(true);
          expect(sentTwice(before.directory)).toEqual([]);
        }
      },
    ),
    { numRuns: 15 },
  );
}, 30_000);

const journal = (directory: string): string =>
  readFileSync(join(directory, 'journal.jsonl'), 'utf8');

/** What a kill leaves: the plan, and of the journal a beginning that may end within a line. */
function killed(directory: string, share: number, copy: string) {
  mkdirSync(copy);
  writeFileSync(join(copy, 'experiment.json'), readFileSync(join(directory, 'experiment.json')));
  const text = journal(directory);
  const cut = text.slice(0, Math.floor(text.length * share));
  writeFileSync(join(copy, 'journal.jsonl'), cut);
  const lines = cut.slice(0, cut.lastIndexOf('\n') + 1);
  const numbers = blastNumbers(lines);
  const sent = (blast: number) => numbers.filter((number) => number === blast).length;
  return { directory: copy, lines, sent };
}

type Line = { kind: string; blast?: number; summary?: { number: number; attempt: number } };

const parse = (lines: string): Line[] =>
  lines
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

const blastNumbers = (lines: string) =>
  parse(lines).flatMap((line) => line.blast ?? line.summary?.number ?? []);

/** Attempts of a blast that the journal holds more than once. */
function sentTwice(directory: string): string[] {
  const names = parse(journal(directory)).flatMap(({ summary }) =>
    summary ? `${summary.number}.${summary.attempt}` : [],
  );
  return names.filter((name, index) => names.indexOf(name) !== index);
}

test('a resumed gate that was refused by the DUT is refused again, or judged if it loads now', async () => {
  const directory = temporaryFolder();
  const prepared = {
    kind: 'does-not-load',
    variant: 'patched',
    scenario: 'forwarding',
    message: 'no such module',
  } as const;
  await judge({ prepared }, directory);
  const again = await resumeGate(directory, worldOf(fakeTestbed({ prepared })));
  expect(again.outcome.kind).toBe('does-not-load');
  const loaded = await resumeGate(directory, worldOf(fakeTestbed()));
  expect(loaded.outcome).toMatchObject({ kind: 'judged', verdict: 'no-regression' });
  expect(existsSync(join(directory, 'blasts'))).toBe(true);
});
