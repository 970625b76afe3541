import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { assembleResult } from '../../../src/gate/experiment/assemble.ts';
import { runExperiment } from '../../../src/gate/experiment/experiment.ts';
import type { ExperimentEvent } from '../../../src/gate/experiment/experiment-event.ts';
import type { JournalEntry } from '../../../src/gate/experiment/journal.ts';
import { BaseRejectedError } from '../../../src/gate/experiment/rejection-message.ts';
import type { PlannedTrial } from '../../../src/model/planned-trial.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { aPlan, aPlanOfFour, singleRuns } from '../../fakes/plan.ts';
import { type FakeTestbed, type FakeTestbedOptions, fakeTestbed } from '../../fakes/testbed.ts';

const now = () => new Date('2026-11-20T12:00:00.000Z');
const at = now().toISOString();

const plan = aPlan({ families: ['inet4', 'inet6'] });

/** A testbed that measures no difference, so that every cell needs all its trials. */
const rejectedBy = (variant: string) =>
  ({
    kind: 'rejected',
    variant,
    rejection: { kind: 'does-not-load', scenario: 'forwarding', message: 'syntax error' },
  }) as const;

const noisyTestbed = (options: FakeTestbedOptions = {}) => fakeTestbed({ noise: 0.5, ...options });

function experiment(
  testbed: FakeTestbed,
  {
    directory = temporaryFolder(),
    onEvent = (_: ExperimentEvent) => {},
    signal = new AbortController().signal,
    of = plan,
  } = {},
): Promise<JournalEntry[]> {
  return runExperiment({ plan: of, testbed, directory, now, onEvent, signal });
}

const kinds = (entries: readonly JournalEntry[]) => entries.map(({ kind }) => kind);
const trialsSent = (testbed: FakeTestbed) => testbed.calls.filter((call) => call.startsWith('trial '));

test('without a decision every trial of the plan is sent once, in order, and journalled', async () => {
  const testbed = noisyTestbed();
  const entries = await experiment(testbed);
  expect(testbed.calls).toEqual(['prepare', 'trial 1', 'trial 2', 'trial 3', 'trial 4']);
  expect(kinds(entries)).toEqual(['started', ...Array(4).fill('measured'), 'finished']);
});

test('a failed trial is repeated when no other cell waits for a first try, and before its own cell continues', async () => {
  const testbed = noisyTestbed({ faults: (trial) => (trial === 1 ? ['fails'] : []) });
  const entries = await experiment(testbed);
  expect(trialsSent(testbed)).toEqual([1, 2, 3, 1, 4].map((n) => `trial ${n}`));
  expect(entries[1]).toEqual({
    kind: 'failed',
    at,
    trial: 1,
    reason: 'trafgen ended without its summary',
  });
  expect(entries[4]).toMatchObject({ kind: 'measured', summary: { number: 1, attempt: 2 } });
});

test('keeps the logs of every attempt, each in a separate folder', async () => {
  const directory = temporaryFolder();
  const faults = (trial: number) => (trial === 1 ? (['holes'] as const) : []);
  const entries = await experiment(noisyTestbed({ faults }), { directory });
  const logs = entries.flatMap((entry) =>
    entry.kind === 'measured' && entry.summary.number === 1 ? entry.summary.logs : [],
  );
  const cell = plan.trials[0]?.cell.family;
  expect(logs).toEqual([`trials/001-forwarding-${cell}`, `trials/001-forwarding-${cell}.2`]);
  const texts = logs.map((folder) => readFileSync(join(directory, folder, 'dut.log'), 'utf8'));
  expect(texts).toEqual(['trial 1, attempt 1\n', 'trial 1, attempt 2\n']);
});

test('adds what a trial reports about the testbed to the result', async () => {
  const warnings = (trial: number) => (trial === 2 ? ['Its console has ended.'] : []);
  const events: ExperimentEvent[] = [];
  const onEvent = (event: ExperimentEvent) => void events.push(event);
  const entries = await experiment(noisyTestbed({ warnings }), { onEvent });
  expect(events).toContainEqual({ kind: 'warning', text: 'Its console has ended.' });
  expect(assembleResult(plan, entries).testbed.warnings).toEqual(['Its console has ended.']);
});

test('notifies onlookers of the steps before and after, and of the progress', async () => {
  const events: string[] = [];
  const onEvent = (event: ExperimentEvent) =>
    events.push(event.kind === 'trial' ? `${event.trial.number}: ${event.done} of ${event.of}` : event.kind);
  await experiment(noisyTestbed({ faults: (trial) => (trial === 4 ? ['fails'] : []) }), {
    onEvent,
  });
  expect(events).toEqual([
    'planned',
    'preparing',
    '1: 0 of 4',
    'ended',
    '2: 1 of 4',
    'ended',
    '3: 2 of 4',
    'ended',
    '4: 3 of 4',
    'ended',
    '4: 3 of 4',
    'ended',
  ]);
});

test('patched files that do not load end the experiment before any packet is sent', async () => {
  const prepared = rejectedBy('patched');
  const testbed = noisyTestbed({ prepared });
  const entries = await experiment(testbed);
  expect(testbed.calls).toEqual(['prepare']);
  expect(entries.at(-1)).toEqual({ at, ...prepared });
});

test('a base that does not load is an error', async () => {
  const outcome = experiment(noisyTestbed({ prepared: rejectedBy('base') }));
  await expect(outcome).rejects.toThrow(BaseRejectedError);
  await expect(outcome).rejects.toThrow('The base itself does not load, so nothing was measured: syntax error');
});

test('an abort stops before the next trial and keeps those that have ended', async () => {
  const directory = temporaryFolder();
  const abort = new AbortController();
  const testbed = noisyTestbed();
  const onEvent = (event: ExperimentEvent) => {
    if (event.kind === 'ended' && event.trial.number === 2) abort.abort(new Error('cancelled'));
  };
  await expect(experiment(testbed, { directory, onEvent, signal: abort.signal })).rejects.toThrow('cancelled');
  expect(trialsSent(testbed)).toEqual(['trial 1', 'trial 2']);

  const resumed = noisyTestbed();
  await experiment(resumed, { directory });
  expect(trialsSent(resumed)).toEqual(['trial 3', 'trial 4']);
});

test('a lost connection ends the experiment without an entry for the trial, which is then repeated', async () => {
  const directory = temporaryFolder();
  const broken = noisyTestbed({ faults: (trial) => (trial === 3 ? ['throws'] : []) });
  await expect(experiment(broken, { directory })).rejects.toThrow('connection to the DUT was lost');

  const resumed = noisyTestbed();
  const entries = await experiment(resumed, { directory });
  expect(trialsSent(resumed)).toEqual(['trial 3', 'trial 4']);
  expect(entries.filter(({ kind }) => kind === 'failed')).toEqual([]);
});

test('a cell that is decided gets no more trials, and onlookers are notified', async () => {
  const decided: unknown[] = [];
  const onEvent = (event: ExperimentEvent) => {
    if (event.kind === 'decided') {
      decided.push([event.cell.family, event.verdict.kind, event.counts.counted]);
    }
  };
  const testbed = fakeTestbed({ speed: ({ family }) => (family === 'inet4' ? 0.5 : 1) });
  await experiment(testbed, { onEvent });
  expect(trialsSent(testbed)).toEqual(['trial 1', 'trial 2']);
  expect(decided.toSorted()).toEqual([
    ['inet4', 'regression', [24, 24]],
    ['inet6', 'no-regression', [24, 24]],
  ]);
});

test('a cell of which too few runs count is given up at its first look', async () => {
  const testbed = fakeTestbed({ faults: () => ['holes', 'holes', 'holes'] });
  const entries = await experiment(testbed);
  expect(trialsSent(testbed)).toEqual([1, 2, 1, 2, 1, 2].map((n) => `trial ${n}`));
  expect(kinds(entries).at(-1)).toBe('finished');
});

describe('a variant beside base and patched', () => {
  const four = aPlanOfFour();
  const bad = 'diff 80345';
  const rejects = (trial: PlannedTrial) =>
    trial.runs.some(({ variant, pair }) => variant === bad && pair > 1) ? rejectedBy(bad) : undefined;
  const booted = aPlanOfFour(singleRuns);

  const measuredVariants = (entries: readonly JournalEntry[]) => {
    const runs = entries.flatMap((entry) => (entry.kind === 'measured' ? entry.runs : []));
    return Object.fromEntries(
      [...Map.groupBy(runs, ({ variant }) => variant)].map(([name, { length }]) => [name, length]),
    );
  };

  test('that does not load is left out of every trial, and onlookers are warned', async () => {
    const warnings: string[] = [];
    const onEvent = (event: ExperimentEvent) => {
      if (event.kind === 'warning') warnings.push(event.text);
    };
    const testbed = noisyTestbed({ unready: [rejectedBy(bad), rejectedBy('diff 80654')] });
    const entries = await experiment(testbed, { of: four, onEvent });
    expect(testbed.calls.slice(0, 4)).toEqual(['prepare', 'prepare', 'prepare', 'trial 1']);
    expect(measuredVariants(entries)).toEqual({ base: 48, patched: 48 });
    expect(warnings).toEqual([
      'diff 80345 does not load and is left out: syntax error',
      'diff 80654 does not load and is left out: syntax error',
    ]);
    expect(kinds(entries).at(-1)).toBe('finished');
  });

  test('that cannot be booted any more keeps its runs, and the others continue', async () => {
    const entries = await experiment(fakeTestbed({ rejects }), { of: booted });
    expect(measuredVariants(entries)).toEqual({
      base: 3,
      patched: 3,
      [bad]: 1,
      'diff 80654': 3,
    });
    expect(kinds(entries).at(-1)).toBe('finished');
  });

  test('that was left out stays so in a resumed experiment, which ends as one that was not cut', async () => {
    const short = aPlanOfFour({ ...singleRuns, gate: { ...singleRuns.gate, maxRunsPerVariant: 4 } });
    const whole = await experiment(fakeTestbed({ rejects, noise: 0.03 }), { of: short });
    const isUseful = ({ kind }: JournalEntry) => kind !== 'started';
    for (let cut = 1; cut < whole.filter(isUseful).length; cut += 1) {
      const directory = temporaryFolder();
      const abort = new AbortController();
      let seen = 0;
      const cutting = (planned: PlannedTrial) => {
        seen += 1;
        if (seen === cut) abort.abort(new Error('cut'));
        return rejects(planned);
      };
      const testbed = fakeTestbed({ rejects: cutting, noise: 0.03 });
      const first = experiment(testbed, { of: short, directory, signal: abort.signal });
      await first.catch(() => {});
      const resumed = await experiment(fakeTestbed({ rejects, noise: 0.03 }), { of: short, directory });
      expect(resumed.filter(isUseful)).toEqual(whole.filter(isUseful));
    }
  });
});
