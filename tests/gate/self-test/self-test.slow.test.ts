// Runs a gate and its accidents on the fake laboratory before the first patch, and checks that nothing of it stays.
import { delimiter } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { FreebsdTestbed } from '../../../src/config/freebsd-testbed.ts';
import type { Config } from '../../../src/config/schema.ts';
import { type HistoryEntry, historyOf } from '../../../src/gate/experiment/history.ts';
import { runSelfTest } from '../../../src/gate/self-test/self-test.ts';
import { beginJournal, resumeJournal } from '../../../src/gate/self-test/self-test-journal.ts';
import type { SelfTestDeps, SelfTestPart } from '../../../src/gate/self-test/self-test-request.ts';
import type { Diagnostic } from '../../../src/lab/check/diagnostic.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { freebsdBuilder } from '../../fakes/freebsd-builder.ts';
import { archiveOf, imageOf } from '../../fakes/freebsd-lab/dut.ts';
import type { Fault } from '../../fakes/freebsd-lab/faults.ts';
import { makeFolder, writeFile } from '../../fakes/freebsd-lab/file-system.ts';
import { type FreebsdLab, type FreebsdLabOptions, startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { setCutOff } from '../../fakes/freebsd-lab/machine.ts';
import { depsOf, testbedOf, usualTraffic } from '../../fakes/freebsd-testbed.ts';
import { aConfig, gateConfig } from '../../fakes/plan.ts';
import { builderOf } from '../../fakes/prepared-builder.ts';
import { startSshd } from '../../fakes/sshd.ts';
import { describeWith } from '../../needs.ts';

type SelfTested = {
  lab: FreebsdLab;
  testbed: FreebsdTestbed;
  directory: string;
  told: string[];
  learnt: HistoryEntry[];
  runSelfTest(options?: Options): Promise<Diagnostic[]>;
};

type Options = {
  skip?: readonly SelfTestPart[];
  resume?: true;
  baseKernel?: string;
  deps?: Partial<SelfTestDeps>;
  config?: Partial<Config>;
};

async function aLab(options: FreebsdLabOptions = {}): Promise<SelfTested> {
  const lab = await startFreebsdLab({
    kernel: { ident: 'own' },
    timing: { bootSeconds: 20, dumpSeconds: 5 },
    ...options,
  });
  onTestFinished(() => lab.stop());
  const { files } = lab.dut.machine;
  makeFolder(files, '/sbin', true);
  writeFile(files, '/sbin/nextboot', '');
  for (const { machine } of [...lab.senders, lab.receiver]) {
    makeFolder(machine.files, '/dev', true);
    writeFile(machine.files, '/dev/netmap', '');
  }
  const testbed = testbedOf(lab, temporaryFolder());
  testbed.dut.boot.limitSeconds = 120;
  return selfTestedOn(lab, testbed);
}

function selfTestedOn(lab: FreebsdLab, testbed: FreebsdTestbed): SelfTested {
  const directory = temporaryFolder();
  const told: string[] = [];
  const learnt: HistoryEntry[] = [];
  return {
    lab,
    testbed,
    directory,
    told,
    learnt,
    async runSelfTest({ skip = [], resume, baseKernel, deps, config } = {}) {
      const journal = resume ? resumeJournal(directory, 'shelf') : beginJournal(directory, 'shelf', new Date(0));
      const diagnostics = runSelfTest(
        {
          name: 'shelf',
          testbed,
          config: aConfig({
            testbeds: { shelf: testbed },
            scenarios: ['forwarding', 'pf-stateful'],
            traffic: { ...usualTraffic, measureSeconds: 20, measureAtLeastSeconds: 12 },
            gate: { ...gateConfig, maxRunsPerVariant: 20 },
            profile: { seconds: 5 },
            ...config,
          }),
          rules: {},
          skip: new Set(skip),
          baseKernel,
          directory,
          journal,
        },
        {
          ...depsOf(lab),
          notify: (sentence) => void told.push(sentence),
          signal: new AbortController().signal,
          agrees: async () => true,
          keepLog: async () => {},
          history: { append: async (entries) => void learnt.push(...entries) },
          ...deps,
        },
      );
      const found: Diagnostic[] = [];
      for await (const diagnostic of diagnostics) found.push(diagnostic);
      return found;
    },
  };
}

const historyTraffic = { flows: 2000, frameBytes: 64 };

const lines = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics.map(({ kind, what, why }) => `${kind} ${what}: ${why}`);

/** Masks measured values, which vary with the noise, and durations, which vary with each step. */
const withoutNumbers = (line: string): string =>
  line.replaceAll(/\d+ min \d+ s|[\d.]+(?= (?:Mpps|%|min|s)\b)|[\d.]+(?= %)/g, 'N');

/** Leaves out addresses, and how a connection broke off. */
const withoutAddresses = (line: string): string =>
  line.replaceAll(/ \(127[^)]*\)/g, '').replace(/(?<=Cannot reach DUT): .*|(?<=Lost DUT during "[^"]*"): .*/, '');

const wrongs = (diagnostics: readonly Diagnostic[]): string[] =>
  lines(diagnostics.filter(({ kind }) => kind === 'wrong'));

const expectTexts = (name: string, texts: readonly string[]) =>
  expect(`${texts.map(withoutNumbers).join('\n')}\n`).toMatchFileSnapshot(`golden/${name}.txt`);

/** The DUT runs its own kernel, with nothing armed, and no file and no rule of ours. */
function expectHome(lab: FreebsdLab): void {
  expect(lab.state()).toMatchObject({
    stage: 'up',
    power: 'on',
    kernel: 'own',
    leftovers: [],
    scenario: 'forwarding',
  });
  expect(lab.state().nextboot).toBeUndefined();
}

describeWith(['sshd', 'ssh-keygen', 'git', 'flock'], 'a self-test', () => {
  test('on a good lab does everything that a gate does, and undoes it', async () => {
    const { lab, told, learnt, runSelfTest } = await aLab();
    const diagnostics = await runSelfTest();
    const checked = diagnostics.findIndex(({ what }) => what === 'the kernel of base');
    expect(wrongs(diagnostics.slice(0, checked))).toEqual([]);
    await expectTexts('a-good-lab', [...lines(diagnostics.slice(checked)), '', ...told]);
    // The commit of the DUT's own kernel is unknown.
    expect(learnt).toEqual([]);
    expectHome(lab);
  });

  test.each(['boot-environment', 'nextboot'] as const)('restores the own system on ZFS by %s', async (method) => {
    const { lab, testbed, runSelfTest } = await aLab({ root: 'zfs' });
    testbed.dut.boot.method = method;
    const diagnostics = await runSelfTest({ skip: ['check', 'trials', 'profile', 'noise'] });
    expect(wrongs(diagnostics)).toEqual([]);
    expectHome(lab);
  });

  test('restores an appliance with an image that the user provides', async () => {
    const { lab, testbed, runSelfTest } = await aLab({ root: 'nanobsd' });
    testbed.dut.boot.method = 'nanobsd';
    const skip = ['check', 'trials', 'profile', 'noise'] as const;
    const { path } = imageOf({ ident: 'base' });
    expect(wrongs(await runSelfTest({ skip, baseKernel: path }))).toEqual([]);
    expectHome(lab);
    expect(wrongs(await runSelfTest({ skip }))).toEqual([
      'wrong the kernel of base: there is no image, and none can be built',
    ]);
  });

  test('ends if the DUT is lost, and reports all remaining steps as not tried', async () => {
    const { testbed, runSelfTest } = await aLab(met({ kind: 'hang-at-boot', at: 1 }));
    delete testbed.dut.power;
    const diagnostics = await runSelfTest({
      skip: ['check', 'scenarios', 'trials', 'profile', 'noise'],
    });
    await expectTexts('a-lost-dut', lines(diagnostics).slice(1));
  });

  test('of a kernel by the builder starts the history of its gates', async () => {
    const { testbed, learnt, runSelfTest } = await aLab();
    const home = temporaryFolder();
    const path = [freebsdBuilder(home).bin, process.env.PATH].join(delimiter);
    await using buildHost = await startSshd(undefined, path);
    const { path: base } = archiveOf({ ident: 'base' }, 'base');
    const built = builderOf({}, { base, patched: base }, buildHost, home);
    testbed.builder = built.config;
    const diagnostics = await runSelfTest({
      skip: ['check', 'scenarios', 'trials', 'profile', 'panic', 'hang'],
    });
    expect(wrongs(diagnostics)).toEqual([]);
    expect(lines(diagnostics)[0]).toMatch(/^ok the kernel of base: built of [0-9a-f]{12}, /);
    const commit = await built.repository.mergeBase('', '');
    const query = { testbed: 'shelf', traffic: historyTraffic, metric: 'pps' } as const;
    for (const scenario of ['forwarding', 'pf-stateful']) {
      const known = historyOf(learnt, { ...query, cell: { scenario, family: 'inet4' } });
      expect(known).toMatchObject({ runs: 6, degreesOfFreedom: 5 });
    }
    expect(learnt.map((entry) => entry.commit)).toEqual([commit, commit]);
  });

  test('causes only the accidents that the user agreed to', async () => {
    const { lab, runSelfTest } = await aLab();
    const asked: string[] = [];
    const diagnostics = await runSelfTest({
      skip: ['check', 'scenarios', 'trials', 'profile', 'noise'],
      deps: {
        async agrees(question) {
          asked.push(question);
          return false;
        },
      },
    });
    await expectTexts('no-approval', [...asked, ...lines(diagnostics).slice(-3)]);
    expect(lab.dut.machine.boots).toBe(3);
  });

  test('stops a DUT in its debugger where its kernel has one', async () => {
    const { lab, runSelfTest } = await aLab({
      kernel: { ident: 'own', options: ['options DDB'] },
    });
    const diagnostics = await runSelfTest({
      skip: ['check', 'scenarios', 'trials', 'profile', 'panic', 'noise'],
    });
    expect(lines(diagnostics).at(-2)).toMatch(/^ok a hang: stopped in its debugger; power-cycled, /);
    expectHome(lab);
  });

  test('leaves the hang out where no power control would end it', async () => {
    const { lab, testbed, runSelfTest } = await aLab();
    delete testbed.dut.power;
    const diagnostics = await runSelfTest({
      skip: ['check', 'scenarios', 'trials', 'profile', 'panic', 'noise'],
    });
    expect(diagnostics.at(-2)).toMatchObject({ kind: 'skipped', what: 'a hang' });
    expectHome(lab);
  });

  test('cannot be resumed in a directory of something else', () => {
    expect(() => resumeJournal(temporaryFolder(), 'shelf')).toThrow(
      /^--resume: expected the directory of a self-test of shelf, found none in /,
    );
  });

  test('that was interrupted repeats no step that passed', async () => {
    const { lab, told, runSelfTest } = await aLab();
    const cancel = new AbortController();
    const notify = (sentence: string) => {
      told.push(sentence);
      if (sentence.startsWith('Boot 3')) cancel.abort(new Error('cancelled'));
    };
    const cut = runSelfTest({ skip: ['check'], deps: { notify, signal: cancel.signal } });
    await expect(cut).rejects.toThrow('cancelled');
    expectHome(lab);
    const boots = lab.dut.machine.boots;
    told.length = 0;
    const diagnostics = await runSelfTest({ skip: ['check'], resume: true });
    expect(wrongs(diagnostics)).toEqual([]);
    expect(told[0]).toBe('Boot 3 of 6 of the same kernel, for the noise.');
    // Four boots of base, and one of its own kernel.
    expect(lab.dut.machine.boots - boots).toBe(5);
    expectHome(lab);
  });

  test.each(Object.entries(faults))('detects a faulty testbed: %s', async (name, { options, arrange, isLost }) => {
    const { lab, testbed, runSelfTest } = await aLab(options);
    arrange?.(lab, testbed);
    const diagnostics = await runSelfTest({ skip: ['check', 'profile', 'panic', 'hang', 'noise'] });
    const [first = ''] = wrongs(diagnostics);
    await expectTexts(`fault-${name.replaceAll(' ', '-')}`, [withoutAddresses(first)]);
    if (!isLost) expectHome(lab);
  });
});

type FaultCase = {
  options?: FreebsdLabOptions;
  arrange?: (lab: FreebsdLab, testbed: FreebsdTestbed) => void;
  isLost?: true;
};

const met = (...ordered: Fault[]): FreebsdLabOptions => ({ faults: ordered });
const atRules = (kind: 'panic-at-command' | 'cut-off' | 'command-fails'): Fault => ({
  kind,
  says: 'pfctl: DIOCADDRULE: Operation not supported by device',
  at: 1,
  machine: 'dut',
  command: 'pfctl -f',
});

/** By the names of the faults of a gate. */
const faults: Record<string, FaultCase> = {
  'A machine cannot be reached': {
    arrange: ({ dut }) => setCutOff(dut.machine, true),
    isLost: true,
  },
  'ssh to the DUT is lost': {
    options: met({ kind: 'cut-off', at: 1, machine: 'dut', command: 'nextboot -k', seconds: 20 }),
  },
  'The kernel panics at boot': {
    options: met({ kind: 'panic-at-boot', at: 1 }),
  },
  'The kernel panics when rules are loaded': {
    options: met(atRules('panic-at-command')),
  },
  'The rules cut the management network of the DUT': {
    options: met(atRules('cut-off')),
  },
  'The kernel panics under load': {
    options: met({ kind: 'panic-under-load', at: 1 }),
  },
  'A link is dead': {
    options: met({ kind: 'dead-link', at: 1 }),
  },
  'The kernel forwards nothing': {
    options: { truth: () => 0 },
  },
  'The generator is too slow': {
    options: { generatorPps: 3e6 },
  },
};
