// Runs a gate and its accidents on the fake laboratory before the first patch, and checks that nothing of it stays.
import { delimiter } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { FreebsdTestbed } from '../../../src/config/freebsd-testbed.ts';
import type { Config } from '../../../src/config/schema.ts';
import { type HistoryEntry, historyOf } from '../../../src/gate/experiment/history.ts';
import { runSelfTest } from '../../../src/gate/self-test/self-test.ts';
import { beginJournal, resumeJournal } from '../../../src/gate/self-test/self-test-journal.ts';
import type { SelfTestDeps, SelfTestPart } from '../../../src/gate/self-test/self-test-request.ts';
import type { Diagnostic } from '../../../src/lab/check/diagnostic.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { freebsdBuilder } from '../../fakes/freebsd-builder.ts';
import { aBench } from '../../fakes/freebsd-lab/benches.ts';
import { archiveOf, imageOf } from '../../fakes/freebsd-lab/dut.ts';
import type { Fault } from '../../fakes/freebsd-lab/faults.ts';
import { makeFolder, writeFile } from '../../fakes/freebsd-lab/file-system.ts';
import { type FreebsdLab, type FreebsdLabOptions, startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { setCutOff } from '../../fakes/freebsd-lab/machine.ts';
import { depsOf, testbedOf, usualTraffic } from '../../fakes/freebsd-testbed.ts';
import { aConfig, gateConfig } from '../../fakes/plan.ts';
import { startSshd } from '../../fakes/sshd.ts';
import { builderOf } from '../../lab/freebsd/faults.ts';
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

const wrongs = (diagnostics: readonly Diagnostic[]): string[] =>
  lines(diagnostics.filter(({ kind }) => kind === 'wrong'));

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
    expect(lines(diagnostics.slice(checked)).map(withoutNumbers)).toMatchInlineSnapshot(`
      [
        "ok the kernel of base: a copy of the DUT's own, there after N s",
        "ok a boot of that kernel: /boot/ppsgate.base/kernel of /dev/ada0p2 after N, FreeBSD 14.0-CURRENT #0 own",
        "ok the rules of forwarding: active, and removed again",
        "ok the rules of pf-stateful: active, and removed again",
        "ok N s of forwarding inet4: N Mpps of N Mpps offered",
        "ok N s of pf-stateful inet4: N Mpps of N Mpps offered",
        "ok a profile: 5000 busy samples of cpu_clk_unhalted.thread_p",
        "ok a second boot of that kernel: /boot/ppsgate.base/kernel of /dev/ada0p2 after N, FreeBSD 14.0-CURRENT #0 own",
        "ok the boot after that: /boot/kernel/kernel of /dev/ada0p2 came up automatically",
        "ok a panic: on its own kernel again after N s, with the panic message: kdb_sysctl_panic",
        "ok a hang: blocked all logins, with its sshd stopped; power-cycled, and on its own kernel again after N",
        "ok the noise of forwarding inet4: N Mpps, and boots differ by N % (N % of such measurements: N % to N %); a loss of N % is found with the required power, and N % matters",
        "ok the noise of pf-stateful inet4: N Mpps, and boots differ by N % (N % of such measurements: N % to N %); a loss of N % is found with the required power, and N % matters",
        "ok a gate of these cells: about N min if nothing has changed, about N min if N % is lost, plus the builds; a boot takes about N min",
        "ok the way back: its own kernel; no rules, files or programs of ppsgate",
      ]
    `);
    expect(told.map(withoutNumbers)).toMatchInlineSnapshot(`
      [
        "Sending inet4 from the sender through the DUT for about N s.",
        "Booting it by nextboot: it takes a few minutes to come up again.",
        "Sending forwarding inet4 for N s.",
        "Sending pf-stateful inet4 for N s.",
        "Sampling forwarding inet4 for N s.",
        "Booting it by nextboot: it takes a few minutes to come up again.",
        "Rebooting it once more: its own kernel must come up.",
        "It panicked. Waiting until it runs its own kernel again.",
        "It blocked all logins, with its sshd stopped. Waiting until it runs its own kernel again.",
        "Boot 1 of 6 of the same kernel, for the noise.",
        "forwarding inet4: N Mpps.",
        "pf-stateful inet4: N Mpps.",
        "Boot 2 of 6 of the same kernel, for the noise.",
        "forwarding inet4: N Mpps.",
        "pf-stateful inet4: N Mpps.",
        "Boot 3 of 6 of the same kernel, for the noise.",
        "forwarding inet4: N Mpps.",
        "pf-stateful inet4: N Mpps.",
        "Boot 4 of 6 of the same kernel, for the noise.",
        "forwarding inet4: N Mpps.",
        "pf-stateful inet4: N Mpps.",
        "Boot 5 of 6 of the same kernel, for the noise.",
        "forwarding inet4: N Mpps.",
        "pf-stateful inet4: N Mpps.",
        "Boot 6 of 6 of the same kernel, for the noise.",
        "forwarding inet4: N Mpps.",
        "pf-stateful inet4: N Mpps.",
        "Restoring the original state.",
      ]
    `);
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

  test('of a bench set up by its page of docs/lab finds no fault', async () => {
    const { lab, testbed, config } = await aBench('rcc-ve-i350');
    onTestFinished(() => lab.stop());
    const { scenarios, families, traffic } = config;
    const { runSelfTest } = selfTestedOn(lab, testbed);
    const diagnostics = await runSelfTest({
      skip: ['noise'],
      config: { scenarios, families, traffic },
    });
    expect(wrongs(diagnostics)).toEqual([]);
    expect(lines(diagnostics).filter((line) => line.startsWith('skipped'))).toEqual([
      expect.stringContaining('the builder'),
      expect.stringContaining('the ceiling of the sender past the DUT'),
    ]);
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
    expect(lines(diagnostics).slice(1)).toMatchInlineSnapshot(`
      [
        "wrong a boot of that kernel: The DUT did not come up within 120 s, and has no power control; check its console.",
        "skipped a second boot of that kernel: skipped because of this fault: a boot of that kernel",
        "skipped the boot after that: skipped because of this fault: a boot of that kernel",
        "skipped a panic: skipped because of this fault: a boot of that kernel",
        "skipped a hang: skipped because of this fault: a boot of that kernel",
        "wrong the way back: The DUT did not come up within 120 s, and has no power control; check its console.",
      ]
    `);
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
    expect(lines(diagnostics)[0]).toMatch(
      /^ok the kernel of base: built of [0-9a-f]{12}, which .* has checked out, there after /,
    );
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
    expect(asked).toMatchInlineSnapshot(`
      [
        "Make the DUT of shelf panic, and check that it comes back?",
        "Make the DUT of shelf hang, and check that power control recovers it? It takes 2 min 0 s and a boot.",
      ]
    `);
    expect(lines(diagnostics).slice(-3)).toMatchInlineSnapshot(`
      [
        "skipped a panic: not approved: answer the question with y, or add --yes",
        "skipped a hang: not approved: answer the question with y, or add --yes",
        "ok the way back: its own kernel; no rules, files or programs of ppsgate",
      ]
    `);
    expect(lab.dut.machine.boots).toBe(3);
  });

  test('stops a DUT in its debugger where its kernel has one', async () => {
    const { lab, runSelfTest } = await aLab({
      kernel: { ident: 'own', options: ['options DDB'] },
    });
    const diagnostics = await runSelfTest({
      skip: ['check', 'scenarios', 'trials', 'profile', 'panic', 'noise'],
    });
    expect(lines(diagnostics).at(-2)).toMatchInlineSnapshot(
      `"ok a hang: stopped in its debugger; power-cycled, and on its own kernel again after 2 min 30 s"`,
    );
    expectHome(lab);
  });

  test('leaves the hang out where no power control would end it', async () => {
    const { lab, testbed, runSelfTest } = await aLab();
    delete testbed.dut.power;
    const diagnostics = await runSelfTest({
      skip: ['check', 'scenarios', 'trials', 'profile', 'panic', 'noise'],
    });
    expect(lines(diagnostics).at(-2)).toMatchInlineSnapshot(
      `"skipped a hang: \`power\` is not configured: a DUT that hangs stays lost until a person walks to it"`,
    );
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

  describe('detects a faulty testbed:', () => {
    const rows = Object.entries(faults);
    test.each(rows)('%s', async (_, { options, arrange, isLost, says }) => {
      const { lab, testbed, runSelfTest } = await aLab(options);
      arrange?.(lab, testbed);
      const diagnostics = await runSelfTest({
        skip: ['check', 'profile', 'panic', 'hang', 'noise'],
      });
      const [first = ''] = wrongs(diagnostics);
      expect(first.replaceAll(/ \(127[^)]*\)/g, '').slice(0, says.length + 6)).toBe(`wrong ${says}`);
      if (!isLost) expectHome(lab);
    });
  });
});

type FaultCase = {
  options?: FreebsdLabOptions;
  arrange?: (lab: FreebsdLab, testbed: FreebsdTestbed) => void;
  isLost?: true;
  /** Beginning of the first line of the diagnostic. */
  says: string;
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
    says: 'the kernel of base: Cannot reach DUT: ',
  },
  'ssh to the DUT is lost': {
    options: met({ kind: 'cut-off', at: 1, machine: 'dut', command: 'nextboot -k', seconds: 20 }),
    says: 'a boot of that kernel: Lost DUT during "nextboot ',
  },
  'There is no kernel': {
    options: { disk: { totalBytes: 5e9, usedBytes: 5e9 - 8e3 } },
    says: 'a boot of that kernel: DUT: /boot has 1 MiB left and a kernel needs 1 MiB.',
  },
  'The kernel panics at boot': {
    options: met({ kind: 'panic-at-boot', at: 1 }),
    says: 'a boot of that kernel: base did not boot: /boot/kernel/kernel came up instead of /boot/ppsgate.base/kernel (panic: page fault)',
  },
  'The kernel hangs at boot': {
    options: met({ kind: 'hang-at-boot', at: 1 }),
    says: 'a boot of that kernel: base did not boot: it did not come up within 120 s, and was power-cycled',
  },
  'Another kernel comes up': {
    options: met({ kind: 'wrong-kernel', at: 1 }),
    says: 'a boot of that kernel: base did not boot: /boot/kernel/kernel came up instead of /boot/ppsgate.base/kernel',
  },
  'The DUT is not like others': {
    options: { root: 'nfs' },
    says: 'the kernel of base: DUT cannot boot with the method nextboot: /boot is on nfs',
  },
  'The kernel panics when rules are loaded': {
    options: met(atRules('panic-at-command')),
    says: 'the rules of pf-stateful: the DUT panicked: page fault',
  },
  'The rules cut the management network of the DUT': {
    options: met(atRules('cut-off')),
    says: 'the rules of pf-stateful: Lost DUT during "pfctl -f \'/var/tmp/ppsgate/pf-stateful.rules\'"',
  },
  'The rules are refused': {
    options: met(atRules('command-fails')),
    says: "the rules of pf-stateful: `pfctl -f '/var/tmp/ppsgate/pf-stateful.rules'` failed on the DUT: pfctl: DIOCADDRULE: Operation not supported by device",
  },
  'The kernel panics under load': {
    options: met({ kind: 'panic-under-load', at: 1 }),
    says: '10 s of forwarding inet4: the DUT with base died under 2000 flows: it panicked: page fault',
  },
  'The receiver crashes': {
    options: met({ kind: 'receiver-crash', at: 1 }),
    says: '10 s of forwarding inet4: receiver: pkt-gen crashed: "poll err" on line 12',
  },
  'A link is dead': {
    options: met({ kind: 'dead-link', at: 1 }),
    says: '10 s of forwarding inet4: no packet was received, and the link of the DUT',
  },
  'The kernel forwards nothing': {
    options: { truth: () => 0 },
    says: '10 s of forwarding inet4: the DUT received packets, but forwarded none',
  },
  'The generator is too slow': {
    options: { generatorPps: 3e6 },
    says: '10 s of forwarding inet4: generator-limited: 3.000 Mpps came through in a median second, of 3.000 Mpps offered on average (100 %)',
  },
  'The receiver is too slow': {
    options: { receiverPps: 3e6 },
    says: '10 s of forwarding inet4: receiver-limited: the DUT sent ',
  },
};
