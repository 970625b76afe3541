// Tests a study like that of D27401: base, the newest diff of a revision, and three earlier ones, on one FreeBSD
// testbed.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { assembleResult } from '../../../src/gate/experiment/assemble.ts';
import { runExperiment } from '../../../src/gate/experiment/experiment.ts';
import type { ExperimentEvent } from '../../../src/gate/experiment/experiment-event.ts';
import { readJournal } from '../../../src/gate/experiment/journal.ts';
import { makePlan, type Plan } from '../../../src/gate/experiment/plan.ts';
import { openFreebsdTestbed } from '../../../src/lab/freebsd/freebsd-testbed.ts';
import type { CellResult, Result } from '../../../src/model/result.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import type { Behaviour } from '../../fakes/freebsd-lab/kernel.ts';
import { type FreebsdLabOptions, startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { builtVariant, depsOf, testbedOf } from '../../fakes/freebsd-testbed.ts';
import { aConfig, gateConfig, singleRuns } from '../../fakes/plan.ts';
import { revision } from '../../fakes/result.ts';

const patch = {
  ...revision,
  earlier: [80345, 80654, 80677].map((diff) => ({ diff, headCommit: `${diff}`.padEnd(40, 'c') })),
};

const variants = ['base', 'patched', 'diff 80345', 'diff 80654', 'diff 80677'];
const identOf = (variant: string): string => variant.replace(' ', '');

/** Forwarding rates as a ratio to base. */
const speeds = new Map([
  ['base', 1],
  ['patched', 1.08],
  ['diff80345', 0.7],
  ['diff80654', 1.04],
  ['diff80677', 1.08],
]);

type Setup = {
  behaviours?: Record<string, Behaviour>;
  lab?: FreebsdLabOptions;
  kernelBytes?: number;
};

async function setUp({ behaviours = {}, lab: options = {}, kernelBytes = 0 }: Setup) {
  const lab = await startFreebsdLab({
    kernel: { ident: 'own' },
    truth: ({ ident }) => 4e6 * (speeds.get(ident) ?? 1),
    noise: { perBoot: 0.002, perSecond: 0.001 },
    timing: { bootSeconds: 20, dumpSeconds: 5 },
    ...options,
  });
  onTestFinished(() => lab.stop());
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'work'));
  const testbed = testbedOf(lab, folder);
  testbed.dut.boot.limitSeconds = 120;
  const kernels = variants.map((variant) => {
    const behaviour = behaviours[variant] ?? { kind: 'works' };
    const options = [`options PADDING="${'x'.repeat(kernelBytes)}"`];
    return builtVariant(variant, { ident: identOf(variant), behaviour, options }, folder);
  });
  const config = aConfig({
    testbeds: { shelf: testbed },
    traffic: {
      ...singleRuns.traffic,
      offeredPps: 10e6,
      warmUpSeconds: 0,
      settleSeconds: 4,
      measureSeconds: 20,
      measureAtLeastSeconds: 12,
    },
    gate: { ...gateConfig, maxRunsPerVariant: 20 },
  });
  const plan = makePlan({ patch, config, testbed: 'shelf', seed: 1 }, kernels, []);
  return { lab, plan, testbed, directory: join(folder, 'work') };
}

type Study = Awaited<ReturnType<typeof setUp>>;

/** Runs or resumes it, until its end or until as many trials have ended. */
async function carryOut({ lab, plan, testbed, directory }: Study, trials = Infinity) {
  const stop = new AbortController();
  let ended = 0;
  const onEvent = (event: ExperimentEvent) => {
    if (event.kind !== 'ended') return;
    ended += 1;
    if (ended >= trials) stop.abort(new Error('cut'));
  };
  const opened = await openFreebsdTestbed('shelf', testbed, plan.traffic, depsOf(lab));
  const now = () => new Date(lab.clock.now() * 1000);
  await runExperiment({
    plan,
    testbed: opened,
    directory,
    now,
    onEvent,
    signal: stop.signal,
  }).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  await opened.restore();
  expect(lab.state()).toMatchObject({ stage: 'up', kernel: 'own', leftovers: [] });
}

async function resultOf({ plan, directory }: { plan: Plan; directory: string }): Promise<Result> {
  return assembleResult(plan, await readJournal(join(directory, 'journal.jsonl')));
}

async function study(setup: Setup = {}): Promise<Result> {
  const all = await setUp(setup);
  await carryOut(all);
  return resultOf(all);
}

function judgedCell({ outcome }: Result): CellResult {
  const [cell] = outcome.kind === 'judged' ? outcome.cells : [];
  return cell ?? expect.fail(`There is no cell: ${outcome.kind}.`);
}

function changesOf(result: Result): Record<string, number | undefined> {
  const { comparisons, others } = judgedCell(result);
  const all = [{ variant: 'patched', comparisons }, ...others];
  return Object.fromEntries(all.map(({ variant, comparisons: [first] }) => [variant, first?.interval.change]));
}

/** Within 1.5 %, of boots that deviate by 0.2 %. */
const about = (change: number) => expect.closeTo(change, 1.5);

const allChanges = {
  patched: about(0.08),
  'diff 80345': about(-0.3),
  'diff 80654': about(0.04),
  'diff 80677': about(0.08),
};

const panic = 'page fault in ip_tryforward';

test('earlier diffs that panic leave the others, and the verdict, as they are', async () => {
  const result = await study({
    behaviours: {
      'diff 80345': { kind: 'panics-at-boot', panic },
      'diff 80654': { kind: 'panics-under-load', panic },
    },
  });
  expect(result.outcome).toMatchObject({ kind: 'judged', verdict: 'improvement' });
  expect(changesOf(result)).toEqual({
    ...allChanges,
    'diff 80345': undefined,
    'diff 80654': undefined,
  });
  expect(Object.fromEntries(result.leftOut.map((one) => [one.variant, one.rejection]))).toEqual({
    'diff 80345': { kind: 'boot-failed', message: expect.stringMatching(/^Twice/), panic },
    'diff 80654': { kind: 'panics-under-load', message: expect.stringMatching(/^Twice/), panic },
  });
});

test('an interrupted study continues where it was, without the omitted variants', async () => {
  const all = await setUp({
    behaviours: { 'diff 80654': { kind: 'panics-at-boot', panic } },
  });
  await carryOut(all, 9);
  const half = await resultOf(all);
  expect(half.leftOut).toHaveLength(1);
  const told = all.lab.dut.journal.length;
  await carryOut(all);
  const whole = await resultOf(all);
  expect(changesOf(whole)).toEqual({ ...allChanges, 'diff 80654': undefined });
  expect(whole.leftOut).toEqual(half.leftOut);
  const later = all.lab.dut.journal.slice(told);
  expect(later.some(({ command }) => command.includes('diff-80677'))).toBe(true);
  expect(later.some(({ command }) => command.includes('diff-80654'))).toBe(false);
  const tries = judgedCell(whole).runs.map(({ number, attempt }) => `${number}.${attempt}`);
  expect(new Set(tries).size).toBe(tries.length);
});
