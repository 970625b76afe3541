import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  BaseDoesNotLoadError,
  type ExperimentEvent,
  nextBlast,
  runExperiment,
} from '../../src/experiment/experiment.ts';
import type { Entry } from '../../src/experiment/journal.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { aPlan } from '../fakes/plan.ts';
import { aRun } from '../fakes/result.ts';
import { type FakeTestbed, fakeTestbed } from '../fakes/testbed.ts';

const now = () => new Date('2026-11-20T12:00:00.000Z');
const at = now().toISOString();

/** Four blasts, of two cells in turn. */
const plan = aPlan({
  families: ['inet4', 'inet6'],
  gate: { metric: 'pps', marginRatio: 0.05, confidenceRatio: 0.95, runsPerVariant: 4 },
});

function experiment(
  testbed: FakeTestbed,
  {
    directory = temporaryFolder(),
    onEvent = (_: ExperimentEvent) => {},
    signal = new AbortController().signal,
  } = {},
): Promise<Entry[]> {
  return runExperiment({ plan, testbed, directory, now, onEvent, signal });
}

const kinds = (entries: readonly Entry[]) => entries.map(({ kind }) => kind);
const blastsSent = (testbed: FakeTestbed) =>
  testbed.calls.filter((call) => call.startsWith('blast '));

test('every blast of the plan is sent once, in its order, and the journal says so', async () => {
  const testbed = fakeTestbed();
  const entries = await experiment(testbed);
  expect(testbed.calls).toEqual(['prepare', 'blast 1', 'blast 2', 'blast 3', 'blast 4']);
  expect(kinds(entries)).toEqual(['started', ...Array(4).fill('measured'), 'finished']);
});

test('every run of the plan is measured, as the first attempt of its blast', async () => {
  const entries = await experiment(fakeTestbed());
  const runs = entries.flatMap((entry) => (entry.kind === 'measured' ? entry.runs : []));
  expect(
    runs.map(({ number, blast, attempt, pair, variant }) => ({
      number,
      blast,
      attempt,
      pair,
      variant,
    })),
  ).toEqual(
    plan.blasts.flatMap((blast) =>
      blast.runs.map((run) => ({ ...run, blast: blast.number, attempt: 1 })),
    ),
  );
});

test('what the journal answers is what the file holds', async () => {
  const directory = temporaryFolder();
  const entries = await experiment(fakeTestbed(), { directory });
  const lines = readFileSync(join(directory, 'journal.jsonl'), 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(entries);
});

test('a failed blast is repeated after all others', async () => {
  const testbed = fakeTestbed({ faults: (blast) => (blast === 2 ? ['fails'] : []) });
  const entries = await experiment(testbed);
  expect(blastsSent(testbed)).toEqual(['blast 1', 'blast 2', 'blast 3', 'blast 4', 'blast 2']);
  expect(entries[2]).toEqual({
    kind: 'failed',
    at,
    blast: 2,
    reason: 'trafgen ended without its summary',
  });
  expect(entries[5]).toMatchObject({ kind: 'measured', summary: { number: 2, attempt: 2 } });
});

test.for(['fails', 'receiver-loss', 'hole'] as const)(
  'a blast that never gets whole (%s) is repeated twice and no more',
  async (fault) => {
    const testbed = fakeTestbed({ faults: (blast) => (blast === 3 ? [fault, fault, fault] : []) });
    const entries = await experiment(testbed);
    expect(blastsSent(testbed)).toEqual([
      'blast 1',
      'blast 2',
      'blast 3',
      'blast 4',
      'blast 3',
      'blast 3',
    ]);
    expect(kinds(entries).at(-1)).toBe('finished');
  },
);

test('of two blasts that fail each is repeated once before any is repeated twice', async () => {
  const faults = (blast: number) => (blast <= 2 ? (['fails', 'fails'] as const) : []);
  const testbed = fakeTestbed({ faults });
  await experiment(testbed);
  expect(blastsSent(testbed).slice(4)).toEqual(['blast 1', 'blast 2', 'blast 1', 'blast 2']);
});

test('the logs of every attempt are kept, each in a folder of its own', async () => {
  const directory = temporaryFolder();
  const faults = (blast: number) => (blast === 1 ? (['hole'] as const) : []);
  const entries = await experiment(fakeTestbed({ faults }), { directory });
  const logs = entries.flatMap((entry) =>
    entry.kind === 'measured' && entry.summary.number === 1 ? entry.summary.logs : [],
  );
  const cell = plan.blasts[0]?.cell.family;
  expect(logs).toEqual([`blasts/001-forwarding-${cell}`, `blasts/001-forwarding-${cell}.2`]);
  const texts = logs.map((folder) => readFileSync(join(directory, folder, 'dut.log'), 'utf8'));
  expect(texts).toEqual(['blast 1, attempt 1\n', 'blast 1, attempt 2\n']);
});

test('onlookers hear what is done before and after, and how far it is', async () => {
  const events: string[] = [];
  const onEvent = (event: ExperimentEvent) =>
    events.push(
      event.kind === 'blast' ? `${event.blast.number}: ${event.done} of ${event.of}` : event.kind,
    );
  await experiment(fakeTestbed({ faults: (blast) => (blast === 4 ? ['fails'] : []) }), { onEvent });
  expect(events).toEqual([
    'preparing',
    ...['1: 0 of 4', 'ended', '2: 1 of 4', 'ended', '3: 2 of 4', 'ended'],
    ...['4: 3 of 4', 'ended', '4: 3 of 4', 'ended'],
  ]);
});

test('patched files that do not load end the experiment before any packet is sent', async () => {
  const refusal = { variant: 'patched', scenario: 'forwarding', message: 'syntax error' } as const;
  const testbed = fakeTestbed({ prepared: { kind: 'does-not-load', ...refusal } });
  const entries = await experiment(testbed);
  expect(testbed.calls).toEqual(['prepare']);
  expect(entries.at(-1)).toEqual({ kind: 'does-not-load', at, ...refusal });
});

test('a base that does not load is nobody’s patch, but an error', async () => {
  const refusal = { variant: 'base', scenario: 'forwarding', message: 'syntax error' } as const;
  const outcome = experiment(fakeTestbed({ prepared: { kind: 'does-not-load', ...refusal } }));
  await expect(outcome).rejects.toThrow(BaseDoesNotLoadError);
  await expect(outcome).rejects.toThrow(
    'The base itself does not load, so nothing was measured: syntax error',
  );
});

test('an abort stops before the next blast and keeps those that have ended', async () => {
  const directory = temporaryFolder();
  const abort = new AbortController();
  const testbed = fakeTestbed();
  const onEvent = (event: ExperimentEvent) => {
    if (event.kind === 'ended' && event.blast.number === 2) abort.abort(new Error('cancelled'));
  };
  await expect(experiment(testbed, { directory, onEvent, signal: abort.signal })).rejects.toThrow(
    'cancelled',
  );
  expect(blastsSent(testbed)).toEqual(['blast 1', 'blast 2']);

  const resumed = fakeTestbed();
  await experiment(resumed, { directory });
  expect(blastsSent(resumed)).toEqual(['blast 3', 'blast 4']);
});

test('a lost connection ends the experiment without a word on the blast, which then comes again', async () => {
  const directory = temporaryFolder();
  const broken = fakeTestbed({ faults: (blast) => (blast === 3 ? ['throws'] : []) });
  await expect(experiment(broken, { directory })).rejects.toThrow('connection to the DUT was lost');

  const resumed = fakeTestbed();
  const entries = await experiment(resumed, { directory });
  expect(blastsSent(resumed)).toEqual(['blast 3', 'blast 4']);
  expect(entries.filter(({ kind }) => kind === 'failed')).toEqual([]);
});

test('a finished experiment that is resumed sends nothing more', async () => {
  const directory = temporaryFolder();
  await experiment(fakeTestbed(), { directory });
  const resumed = fakeTestbed();
  await experiment(resumed, { directory });
  expect(blastsSent(resumed)).toEqual([]);
});

test('after one whole attempt a blast is done, whatever came before', () => {
  const [blast] = plan.blasts;
  const failed: Entry = { kind: 'failed', at, blast: 1, reason: 'no traffic' };
  const measured: Entry = {
    kind: 'measured',
    at,
    summary: {
      number: 1,
      attempt: 2,
      cell: { scenario: 'forwarding', family: 'inet4' },
      startedAt: at,
      trafficSeconds: 2,
      offeredPps: 3e6,
      logs: '',
    },
    runs: blast?.runs.map((run) => aRun(run)) ?? [],
  };
  const only = { blasts: blast === undefined ? [] : [blast] };
  expect(nextBlast(only, [])).toEqual({ blast, attempt: 1, done: 0 });
  expect(nextBlast(only, [failed])).toEqual({ blast, attempt: 2, done: 0 });
  expect(nextBlast(only, [failed, measured])).toBeUndefined();
  expect(nextBlast(only, [failed, failed, failed])).toBeUndefined();
});
