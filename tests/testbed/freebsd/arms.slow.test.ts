// Patches that are measured together on one FreeBSD testbed: what they share there, and what one of them does to the others.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Arm } from '../../../src/experiment/arms.ts';
import { assembleResult } from '../../../src/experiment/assemble.ts';
import {
  type ExperimentEvent,
  keepLogIn,
  runExperiment,
} from '../../../src/experiment/experiment.ts';
import {
  type Entry,
  journalIn,
  openJournal,
  readJournal,
} from '../../../src/experiment/journal.ts';
import { makePlan, type Plan } from '../../../src/experiment/plan.ts';
import { reread } from '../../../src/experiment/reread.ts';
import { openFreebsdTestbed } from '../../../src/testbed/freebsd/testbed.ts';
import type { FreebsdScenario } from '../../../src/words/scenario.ts';
import { armName } from '../../../src/words/variant-name.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import type { Behaviour } from '../../fakes/freebsd-lab/kernel.ts';
import {
  type FreebsdLab,
  type FreebsdLabOptions,
  startFreebsdLab,
} from '../../fakes/freebsd-lab/lab.ts';
import { builtVariant, testbedOf, worldOf } from '../../fakes/freebsd-testbed.ts';
import { aConfig, gateConfig, singleRuns } from '../../fakes/plan.ts';
import { pullRequest } from '../../fakes/result.ts';

/** A patch: what its kernel forwards, as a ratio to base, and how it behaves. */
type Patch = { speed: number; behaviour?: Behaviour };

const panic = 'page fault in ip_tryforward';

type Setup = {
  lab?: FreebsdLabOptions;
  kernelBytes?: number;
  scenarios?: FreebsdScenario[];
  /** Done to the laboratory before each blast of the second patch's kernel. */
  spoil?: (lab: FreebsdLab) => void;
};

/** Measures patches together, of which the first has the testbed. */
async function together(
  patches: readonly Patch[],
  {
    lab: options = {},
    kernelBytes = 0,
    scenarios = ['forwarding', 'ipfw-stateless'],
    spoil = () => {},
  }: Setup = {},
) {
  const lab = await startFreebsdLab({
    kernel: { ident: 'own' },
    truth: ({ ident }) => 4e6 * (patches[Number(ident.replace('patch', ''))]?.speed ?? 1),
    noise: { perBoot: 0.002, perSecond: 0.001 },
    timing: { bootSeconds: 20, dumpSeconds: 5 },
    ...options,
  });
  onTestFinished(() => lab.stop());
  const folder = temporaryFolder();
  const testbed = testbedOf(lab, folder);
  testbed.dut.boot.limitSeconds = 120;
  const config = aConfig({
    testbeds: { shelf: testbed },
    scenarios,
    traffic: {
      ...singleRuns.traffic,
      offeredPps: 10e6,
      ...{ warmUpSeconds: 0, settleSeconds: 4, measureSeconds: 20, measureAtLeastSeconds: 12 },
    },
    gate: { ...gateConfig, design: 'fixed', maxRunsPerVariant: 3 },
  });
  const kernel = (name: string, ident: string, behaviour: Behaviour = { kind: 'works' }) => {
    const options = [`options PADDING="${'x'.repeat(kernelBytes)}"`];
    const of = join(folder, ident);
    mkdirSync(of);
    return builtVariant(name, { ident, behaviour, options }, of);
  };
  const base = kernel('base', 'base');
  const works = patches.map(({ behaviour }, index) => {
    const variants = [base, kernel('patched', `patch${index}`, behaviour)];
    const request = { patch: pullRequest, config, testbed: 'shelf', seed: index + 1 };
    const directory = join(folder, `work${index}`);
    mkdirSync(directory);
    return { directory, plan: makePlan(request, variants, []) };
  });
  const { signal } = new AbortController();
  const [own = expect.fail('Somebody has the testbed.'), ...others] = works;
  const arms: Arm[] = [];
  for (const [index, { directory, plan }] of others.entries()) {
    const journal = await openJournal(journalIn(directory));
    onTestFinished(() => journal.close());
    const name = armName(index + 1);
    const keepLog = (folder: string) => keepLogIn(directory, folder);
    const onEvent = (event: ExperimentEvent) => {
      const isOwn = event.kind === 'blast' && event.blast.runs[0]?.variant === 'patched';
      if (isOwn && index === 0) spoil(lab);
    };
    arms.push({ name, plan, journal, keepLogIn: keepLog, onEvent, signal });
  }
  const opened = await openFreebsdTestbed('shelf', testbed, own.plan.traffic, worldOf(lab));
  const now = () => new Date(lab.clock.now() * 1000);
  await runExperiment({
    ...{ ...own, testbed: opened, now, onEvent() {}, signal },
    company: { joined: async () => arms.splice(0) },
  });
  const reboots = lab.dut.journal.filter(({ command }) => command === 'shutdown -r now').length;
  await opened.restore();
  expect(lab.state()).toMatchObject({ stage: 'up', kernel: 'own', leftovers: [] });
  return { works, reboots };
}

type Work = { directory: string; plan: Plan };

const journalOf = ({ directory }: Work): Promise<Entry[]> => readJournal(journalIn(directory));

async function outcomeOf(work: Work): Promise<unknown> {
  const { outcome } = assembleResult(work.plan, await journalOf(work));
  if (outcome.kind !== 'judged') return outcome;
  return outcome.cells.map(({ verdict, comparisons: [first] }) => {
    return [verdict.kind, first?.interval.change];
  });
}

/** Speeds of both cells, give or take 1.5 %, of boots that deviate by 0.2 %. */
const both = (verdict: string, change: number) => {
  const cell = [verdict, expect.closeTo(change, 1.5)];
  return [cell, cell];
};

test('each patch has its own verdict, of one boot of base a pair for all', async () => {
  const { works, reboots } = await together([{ speed: 1 }, { speed: 0.8 }, { speed: 1.2 }]);
  expect(await Promise.all(works.map(outcomeOf))).toEqual([
    both('no-regression', 0),
    both('regression', -0.2),
    both('improvement', 0.2),
  ]);
  expect(reboots).toBe(3 * 4);
});

test('the logs of every patch tell its runs again', async () => {
  const { works } = await together([{ speed: 1 }, { speed: 0.8 }]);
  for (const work of works) {
    const { entries, unread } = await reread(work.directory, work.plan);
    expect(unread).toBe(0);
    expect(entries).toEqual(await journalOf(work));
  }
});

test.for(['panics-at-boot', 'panics-under-load'] as const)(
  'a patch that %s is blamed as if it were alone, and the others are measured',
  async (kind) => {
    const bad = { speed: 1, behaviour: { kind, panic } };
    const { works } = await together([{ speed: 1 }, bad, { speed: 0.8 }]);
    const [own, blamed, other] = await Promise.all(works.map(outcomeOf));
    const alone = await together([bad]);
    const [expected] = await Promise.all(alone.works.map(outcomeOf));
    expect(blamed).toEqual(expected);
    expect(blamed).toMatchObject({ panic });
    expect(own).toEqual(both('no-regression', 0));
    expect(other).toEqual(both('regression', -0.2));
  },
);

test('the patch that has the testbed panics, and the others are measured', async () => {
  const bad = { speed: 1, behaviour: { kind: 'panics-under-load', panic } } as const;
  const { works } = await together([bad, { speed: 0.8 }]);
  const [own, other] = await Promise.all(works.map(outcomeOf));
  expect(own).toMatchObject({ kind: 'panics-under-load', panic });
  expect(other).toEqual(both('regression', -0.2));
});

test('a DUT with room for two kernels has room for as many patches as come', async () => {
  // Each is laid while its archive is there too.
  const disk = { totalBytes: 20e6, usedBytes: 15.5e6 };
  const patches = [{ speed: 1 }, { speed: 0.8 }, { speed: 1 }, { speed: 0.8 }];
  const { works } = await together(patches, { lab: { disk }, kernelBytes: 1e6 });
  expect(await Promise.all(works.map(outcomeOf))).toEqual(
    patches.map(({ speed }) => both(speed < 1 ? 'regression' : 'no-regression', speed - 1)),
  );
});

test('a patch under which the DUT is out of reach time and again is not judged, and the others are', async () => {
  const cutOff = { kind: 'cut-off', at: 1, machine: 'dut', seconds: 20 } as const;
  const { works } = await together([{ speed: 1 }, { speed: 1 }], {
    scenarios: ['forwarding', 'ipfw-stateless', 'pf-stateless'],
    spoil: (lab) => lab.faults.order({ ...cutOff, command: 'kern.cp_times' }),
  });
  const [own, other] = await Promise.all(works.map(outcomeOf));
  expect(own).toEqual(new Array(3).fill(['no-regression', expect.closeTo(0, 1.5)]));
  expect(other).toEqual(new Array(3).fill(['invalid', undefined]));
});
