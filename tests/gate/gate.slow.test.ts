import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/schema.ts';
import { type Repository, RepositoryError } from '../../src/forge/patch/repository.ts';
import type { ExperimentEvent } from '../../src/gate/experiment/experiment-event.ts';
import { gate } from '../../src/gate/gate.ts';
import type { GateDeps } from '../../src/gate/gate-deps.ts';
import { gateLayoutNoise } from '../../src/gate/layout-noise-gate.ts';
import { resumeGate } from '../../src/gate/resume-gate.ts';
import { type Reserved, unshared } from '../../src/lab/testbed.ts';
import { conclusionOfResult } from '../../src/model/conclusion.ts';
import type { Patch } from '../../src/model/patch.ts';
import type { PrepareOutcome } from '../../src/model/rejection.ts';
import { type Result, resultSchema } from '../../src/model/result.ts';
import type { Scenario } from '../../src/model/scenario.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { aHistoryEntry, memoryHistory } from '../fakes/history.ts';
import { aConfig, aFreebsdTestbed, singleRuns } from '../fakes/plan.ts';
import { forwarding, pullRequest } from '../fakes/result.ts';
import { type FakeTestbed, type FakeTestbedOptions, type Fault, fakeTestbed } from '../fakes/testbed.ts';
import { times } from '../random.ts';

/** A repository whose overlay is one file that holds its commit. */
const repository: Repository = {
  resolve: async (name) => name,
  mergeBase: async (first) => first,
  pathOf: async ({ path }) => path,
  list: async (commit) => [{ path: 'nftables.conf', mode: '100644', object: commit }],
  entriesAt: async () => [],
  read: async (object) => `# ${object}\n`,
  idAt: async (commit) => commit,
  changedPaths: async () => [],
  diff: async () => Buffer.from(''),
  describe: async () => ({ subject: 'Drop protocol 254 early', author: 'alice' }),
};

const rejectedBy = (variant: string, refusal: { scenario: Scenario; message: string }): PrepareOutcome => ({
  kind: 'rejected',
  variant,
  rejection: { kind: 'does-not-load', ...refusal },
});

const config = aConfig({ families: ['inet4', 'inet6'] });
const request = { patch: pullRequest, config, testbeds: ['fake'], seed: 5 };

const depsOf = (testbed: FakeTestbed, changes: Partial<GateDeps> = {}): GateDeps => ({
  repository,
  reserve: async ([name = '']) => unshared(name, async () => testbed),
  history: memoryHistory(),
  now: () => new Date('2026-11-20T12:00:00.000Z'),
  onEvent: () => {},
  signal: new AbortController().signal,
  ...changes,
});

const judge = (options: FakeTestbedOptions, directory = temporaryFolder()): Promise<Result> =>
  gate(request, directory, depsOf(fakeTestbed(options)));

function cellsOf({ outcome }: Result) {
  return outcome.kind === 'judged' ? outcome.cells : [];
}

test.for([
  ['a fifth slower', 0.8, 'regression'],
  ['a fifth faster', 1.25, 'improvement'],
  ['the same', 1, 'no-regression'],
] as const)('a patch that is %s comes out as that', async ([, speed, verdict]) => {
  const { outcome } = await judge({ speed: () => speed, noise: 0.01 });
  expect(outcome).toMatchObject({ kind: 'judged', verdict });
});

test('the plan, the journal, the logs, the result and the report are left in the work directory', async () => {
  const directory = temporaryFolder();
  const result = await judge({}, directory);
  expect(readdirSync(directory).toSorted()).toEqual([
    'experiment.json',
    'journal.jsonl',
    'report',
    'report.md',
    'result.json',
    'trials',
  ]);
  expect(JSON.parse(readFileSync(join(directory, 'result.json'), 'utf8'))).toEqual(result);
});

test.for<[string, FakeTestbedOptions]>([
  ['it went well', {}],
  ['a connection broke', { faults: () => ['throws'] }],
  ['the base does not load', { prepared: rejectedBy('base', { scenario: 'forwarding', message: '' }) }],
])('the testbed is released once, at the end, when %s', async ([, options]) => {
  const testbed = fakeTestbed(options);
  await gate(request, temporaryFolder(), depsOf(testbed)).catch(() => {});
  expect(testbed.calls.filter((call) => call === 'restore')).toHaveLength(1);
  expect(testbed.calls.at(-1)).toBe('restore');
});

/** Fails when a testbed is reserved. */
const refusing = (changes: Partial<GateDeps> = {}) =>
  depsOf(fakeTestbed(), { reserve: () => Promise.reject(new Error('a testbed was reserved')), ...changes });

test.each<[string, Partial<GateDeps>]>([
  [
    'a patch that cannot be read',
    { repository: { ...repository, mergeBase: () => Promise.reject(new RepositoryError('unreadable')) } },
  ],
  [
    'a history that cannot be read',
    { history: { ...memoryHistory(), read: () => Promise.reject(new Error('unreadable')) } },
  ],
])('%s costs no testbed', async (_, changes) => {
  await expect(gate(request, temporaryFolder(), refusing(changes))).rejects.toThrow('unreadable');
});

test('a directory that has an experiment already costs no testbed', async () => {
  const directory = temporaryFolder();
  await judge({}, directory);
  await expect(gate(request, directory, refusing())).rejects.toThrow('already has an experiment');
});

test('a lost testbed ends the experiment at once with that reason, and a resumed one continues it', async () => {
  const lost = new AbortController();
  const why = new Error('the lease was lost');
  const outcomes: string[] = [];
  const testbed = fakeTestbed();
  const reserved: Reserved = {
    name: 'fake',
    signal: lost.signal,
    open: async () => ({
      ...testbed,
      async trial(planned, keepLog, signal) {
        if (planned.number === 2) lost.abort(why);
        // The error after the abort has another message.
        if (signal.aborted) throw new Error('Cancelled the trial on DUT.');
        return testbed.trial(planned, keepLog, signal);
      },
    }),
    giveBack: async (outcome) => void outcomes.push(outcome),
  };
  const directory = temporaryFolder();
  const deps = depsOf(testbed, { reserve: async () => reserved });
  await expect(gate(request, directory, deps)).rejects.toBe(why);
  expect(outcomes).toEqual(['ended: Cancelled the trial on DUT.']);

  const next = fakeTestbed();
  const { outcome } = await resumeGate(directory, depsOf(next));
  expect(next.calls).not.toContain('trial 1');
  expect(outcome).toMatchObject({ kind: 'judged' });
});

test('a verdict holds if the testbed cannot be restored afterwards, with a warning', async () => {
  const events: ExperimentEvent[] = [];
  const giveBack = async () => 'fake is in quarantine now.';
  const { outcome } = await gate(
    request,
    temporaryFolder(),
    depsOf(fakeTestbed(), {
      reserve: async () => ({ ...unshared('fake', async () => fakeTestbed()), giveBack }),
      onEvent: (event) => events.push(event),
    }),
  );
  expect(outcome).toMatchObject({ kind: 'judged', verdict: 'no-regression' });
  expect(events.at(-1)).toEqual({ kind: 'warning', text: 'fake is in quarantine now.' });
});

const freebsd = aFreebsdTestbed();

describe('the files that a patch changes', () => {
  const kernels = (...changed: string[]): Repository => ({
    ...repository,
    changedPaths: async () => changed,
    diff: async () => Buffer.from('diff'),
  });
  const cells = { scenarios: ['forwarding', 'pf-stateful', 'ipfw-stateful'], families: ['inet4'] };
  const shelf = { ...config, ...singleRuns, ...cells, testbeds: { shelf: freebsd } } as Config;
  const overrides = { ...request, config: shelf, testbeds: ['shelf'] };

  test('determine the first cells in each round, and are shown', async () => {
    const told: string[] = [];
    const deps = depsOf(fakeTestbed({ boots: true }), {
      repository: kernels('sys/netpfil/pf/pf.c', 'share/man/man4/pf.4'),
      onEvent: (event) => event.kind === 'note' && told.push(event.text),
    });
    const { trials } = await gate(overrides, temporaryFolder(), deps);
    // No cell is decided before two pairs, which need four boots.
    const scenarios = trials.slice(0, 12).map(({ cell }) => cell.scenario);
    const rounds = scenarios.filter((_, index) => index % 3 === 0);
    expect(rounds).toEqual(rounds.map(() => 'pf-stateful'));
    expect(new Set(scenarios).size).toBe(3);
    expect(told.join()).toContain('are measured first: pf-stateful inet4.');
  });

  test('count for nothing if they drive other ports: that is reported, and no testbed is reserved', async () => {
    const deps = refusing({ repository: kernels('sys/dev/mlx5/driver.h') });
    const directory = temporaryFolder();
    const result = await gate(overrides, directory, deps);
    expect(result.outcome).toEqual({ kind: 'unchanged', ignoredPaths: ['sys/dev/mlx5/'] });
    expect(resultSchema.parse(result)).toEqual(result);
    expect(await resumeGate(directory, deps)).toEqual(result);
  });

  test('are no reason where git cannot list them, or where all is measured anyway', async () => {
    const unknown: Repository = {
      ...kernels(),
      changedPaths: () => Promise.reject(new RepositoryError('too many')),
    };
    const anyway = { ...overrides, isMeasuredAnyway: true };
    for (const repository of [unknown, kernels('sys/dev/mlx5/driver.h')]) {
      const result = await gate(anyway, temporaryFolder(), depsOf(fakeTestbed(), { repository }));
      expect(result.outcome).toMatchObject({ verdict: 'no-regression' });
    }
  });
});

describe('base against another layout of it', () => {
  const commit = 'a'.repeat(40);
  const patch: Patch = { ...pullRequest, baseCommit: commit, headCommit: commit };
  const overrides = { ...request, patch };

  test('is refused for two commits, before anything is reserved', async () => {
    const two = { ...overrides, patch: { ...patch, headCommit: 'b'.repeat(40) } };
    await expect(gateLayoutNoise(two, temporaryFolder(), refusing())).rejects.toThrow(
      'Another layout variant needs a single commit, found aaaaaaaaaaaa and bbbbbbbbbbbb: name the same commit twice, like main..main.',
    );
  });

  test('is refused where no kernel is built, before anything is reserved', async () => {
    await expect(gateLayoutNoise(overrides, temporaryFolder(), refusing())).rejects.toThrow(
      'Another layout variant needs a kernel build, but fake has no builder',
    );
  });

  test('is measured, though nothing differs, and its runs name the booted layout', async () => {
    const directory = temporaryFolder();
    const shelf = { ...config, ...singleRuns, testbeds: { shelf: freebsd } };
    const reserve = async () => unshared('shelf', async () => fakeTestbed());
    const deps = depsOf(fakeTestbed(), { reserve });
    const { outcome } = await gateLayoutNoise({ ...overrides, config: shelf, testbeds: ['shelf'] }, directory, deps);
    const runs = outcome.kind === 'judged' ? outcome.cells.flatMap((cell) => cell.runs) : [];
    const layoutsOf = (name: string) =>
      new Set(runs.flatMap(({ variant, layout }) => (variant === name ? [layout] : [])));
    expect(layoutsOf('base')).toEqual(new Set([1]));
    // The seed of the gate; 1 is the linker's own order.
    expect(layoutsOf('patched')).toEqual(new Set([2 + overrides.seed]));
    // Two layouts do not show the spread that gates of many layouts have.
    const [known] = await deps.history.read();
    expect(known).not.toHaveProperty('layouts');
  });
});

describe('a patch that changes nothing that the testbed installs', () => {
  const nothing: Repository = { ...repository, read: async () => '# the same at each commit\n' };

  test('passes as unchanged, without a run or a testbed', async () => {
    const directory = temporaryFolder();
    const result = await gate(request, directory, refusing({ repository: nothing }));
    expect(result).toMatchObject({
      outcome: { kind: 'unchanged' },
      testbed: { name: 'fake' },
      trials: [],
      startedAt: '2026-11-20T12:00:00.000Z',
      finishedAt: '2026-11-20T12:00:00.000Z',
    });
    expect(conclusionOfResult(result)).toBe('pass');
    expect(resultSchema.parse(result)).toEqual(result);
    expect(readdirSync(directory).toSorted()).toEqual(['report', 'report.md', 'result.json']);
  });

  test('on some of the testbeds is measured on one of the others', async () => {
    const linux = { kind: 'embedded-linux' } as const;
    const testbeds = { one: linux, kernels: freebsd, other: linux };
    const asked: (readonly string[])[] = [];
    const deps = depsOf(fakeTestbed(), {
      repository: { ...nothing, changedPaths: async () => ['sys/net/if.c'] },
      reserve: async (names) => {
        asked.push(names);
        return unshared('kernels', async () => ({ ...fakeTestbed(), name: 'kernels' }));
      },
    });
    const several = { ...config, testbeds, ...singleRuns };
    const all = { ...request, config: several, testbeds: ['one', 'kernels', 'other'] };
    const { testbed, outcome } = await gate(all, temporaryFolder(), deps);
    expect(asked).toEqual([['kernels']]);
    expect(testbed.name).toBe('kernels');
    expect(outcome.kind).toBe('judged');
  });
});

describe('a gate that has finished', () => {
  const textsIn = (directory: string) =>
    ['result.json', 'journal.jsonl', 'report.md', 'experiment.json'].map((name) => {
      const path = join(directory, name);
      return [readFileSync(path, 'utf8'), statSync(path).mtimeMs];
    });

  test('reports again when it is resumed, and neither reserves nor writes anything', async () => {
    const directory = temporaryFolder();
    const first = await judge({ speed: () => 0.8 }, directory);
    const texts = textsIn(directory);
    const history = memoryHistory();
    const events: ExperimentEvent[] = [];
    const onEvent = (event: ExperimentEvent) => void events.push(event);
    const deps = refusing({ history, onEvent });
    expect(await resumeGate(directory, deps)).toEqual(first);
    expect(events).toEqual([{ kind: 'finished-before', at: first.finishedAt }]);
    expect(textsIn(directory)).toEqual(texts);
    expect(await history.read()).toEqual([]);
  });

  test('and was killed before its result was written gets it without a testbed', async () => {
    const directory = temporaryFolder();
    const first = await judge({ speed: () => 0.8 }, directory);
    rmSync(join(directory, 'result.json'));
    const history = memoryHistory();
    const deps = refusing({ history });
    expect(await resumeGate(directory, deps)).toEqual(first);
    expect(readFileSync(join(directory, 'result.json'), 'utf8')).toContain(first.finishedAt);
    expect(await history.read()).not.toEqual([]);
  });
});

test.for<[string, Partial<Config>]>([
  ['shared trials', {}],
  ['single runs', singleRuns],
])('with %s, killed at any moment and resumed, it ends as if it had never been killed', async ([, changes]) => {
  const folder = temporaryFolder();
  let example = 0;
  const faults = fc.array(fc.constantFrom<Fault | undefined>(undefined, 'fails', 'hole', 'holes', 'receiver-loss'), {
    minLength: 3,
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        speed: fc.constantFrom(1, 0.9, 1.1, 0),
        seed: fc.nat({ max: 1000 }),
        faultyTrials: fc.dictionary(fc.constantFrom('1', '2', '5', '8'), faults),
        kills: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
          minLength: 1,
          maxLength: 3,
        }),
      }),
      async ({ speed, seed, faultyTrials, kills }) => {
        example += 1;
        const options = {
          seed,
          speed: () => speed,
          faults: (trial: number) => faultyTrials[String(trial)] ?? [],
        };
        const directory = join(folder, String(example));
        const asked = { ...request, config: { ...config, ...changes } };
        const whole = await gate(asked, directory, depsOf(fakeTestbed(options)));
        const plan = readFileSync(join(directory, 'experiment.json'), 'utf8');

        for (const [index, kill] of kills.entries()) {
          const before = killed(directory, kill, join(folder, `${example}.${index}`));
          const testbed = fakeTestbed({ ...options, sentBefore: (trial) => before.sent(trial) });
          const result = await resumeGate(before.directory, depsOf(testbed));

          expect(result).toEqual(whole);
          expect(readFileSync(join(before.directory, 'experiment.json'), 'utf8')).toBe(plan);
          expect(journal(before.directory).startsWith(before.lines)).toBe(true);
          expect(sentTwice(before.directory)).toEqual([]);
        }
      },
    ),
    { numRuns: times(8) },
  );
});

const journal = (directory: string): string => readFileSync(join(directory, 'journal.jsonl'), 'utf8');

/** Simulates a kill: keeps the plan and the beginning of the journal, which may end within a line. */
function killed(directory: string, share: number, copy: string) {
  mkdirSync(copy);
  writeFileSync(join(copy, 'experiment.json'), readFileSync(join(directory, 'experiment.json')));
  const text = journal(directory);
  const cut = text.slice(0, Math.floor(text.length * share));
  writeFileSync(join(copy, 'journal.jsonl'), cut);
  const lines = cut.slice(0, cut.lastIndexOf('\n') + 1);
  const numbers = trialNumbers(lines);
  const sent = (trial: number) => numbers.filter((number) => number === trial).length;
  return { directory: copy, lines, sent };
}

type Line = { kind: string; trial?: number; summary?: { number: number; attempt: number } };

const parse = (lines: string): Line[] =>
  lines
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

const trialNumbers = (lines: string) => parse(lines).flatMap((line) => line.trial ?? line.summary?.number ?? []);

function sentTwice(directory: string): string[] {
  const names = parse(journal(directory)).flatMap(({ summary }) =>
    summary ? `${summary.number}.${summary.attempt}` : [],
  );
  return names.filter((name, index) => names.indexOf(name) !== index);
}

test('a resumed gate that was refused by the DUT is refused again, or judged if it loads now', async () => {
  const directory = temporaryFolder();
  const prepared = rejectedBy('patched', { scenario: 'forwarding', message: 'no such module' });
  await judge({ prepared }, directory);
  const again = await resumeGate(directory, depsOf(fakeTestbed({ prepared })));
  expect(again.outcome.kind).toBe('does-not-load');
  const loaded = await resumeGate(directory, depsOf(fakeTestbed()));
  expect(loaded.outcome).toMatchObject({ kind: 'judged', verdict: 'no-regression' });
  expect(existsSync(join(directory, 'trials'))).toBe(true);
});

test('a single run that is an outlier is repeated once, and still counts', async () => {
  const testbed = fakeTestbed({ noise: 0.002, jumps: (trial) => (trial === 2 ? 0.8 : 1) });
  const oneCell = { ...request, config: { ...config, ...singleRuns, families: ['inet4' as const] } };
  const result = await gate(oneCell, temporaryFolder(), depsOf(testbed));
  expect(testbed.calls.slice(1, 8)).toEqual([1, 2, 3, 4, 5, 6, 2].map((n) => `trial ${n}`));
  const second = cellsOf(result)[0]?.runs.filter((run) => run.trial === 2);
  expect(second?.map(({ validity }) => validity.kind)).toEqual(['valid', 'valid']);
});

describe('the history', () => {
  test('tells a base that moved, which does not count against the patch', async () => {
    const faster = [1, 2, 3].map((day) =>
      aHistoryEntry({
        at: `2026-11-0${day}T12:00:00.000Z`,
        pps: [905_000, 898_000, 901_000, 894_000, 902_000],
      }),
    );
    const history = memoryHistory(faster);
    const deps = depsOf(fakeTestbed({ noise: 0.005 }), { history });
    const single = { ...request, config: { ...config, ...singleRuns } };
    const result = await gate(single, temporaryFolder(), deps);
    expect(result.outcome).toMatchObject({ verdict: 'no-regression' });
    expect(cellsOf(result).map(({ baseline }) => baseline.kind)).toEqual(['moved', 'unknown']);
    expect((await history.read()).at(-2)).toMatchObject({ cell: forwarding, moved: true });
  });

  test('ignores lines of the future, which would outlive all others', async () => {
    const history = memoryHistory([aHistoryEntry({ at: '9999-11-01T12:00:00.000Z' })]);
    const deps = depsOf(fakeTestbed({ noise: 0.005 }), { history });
    const single = { ...request, config: { ...config, ...singleRuns } };
    const result = await gate(single, temporaryFolder(), deps);
    expect(cellsOf(result).map(({ baseline }) => baseline.kind)).toEqual(['unknown', 'unknown']);
  });
});

test('an inconclusive experiment can be extended, and repeats no run', async () => {
  const directory = temporaryFolder();
  const options = { noise: 0.5, speed: () => 0.85 };
  const first = await judge(options, directory);
  expect(first.outcome).toMatchObject({ verdict: 'inconclusive' });

  const testbed = fakeTestbed(options);
  const extended = await resumeGate(directory, depsOf(testbed), 960);
  expect(testbed.calls.filter((call) => call.startsWith('trial '))[0]).toBe('trial 5');
  expect(extended.outcome).toMatchObject({ verdict: 'regression' });
  expect(cellsOf(extended)[0]?.design.budgets).toEqual([48, 960]);

  const again = resumeGate(directory, depsOf(fakeTestbed()), 100);
  await expect(again).rejects.toThrow(
    'expected more than the 960 runs of each variant that the experiment already allows',
  );
});
