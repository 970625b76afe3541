// Records checks, self-tests and trials of a fake laboratory.
import { join } from 'node:path';
import type { FreebsdTestbed } from '../../../src/config/freebsd-testbed.ts';
import { recordable, recordTo } from '../../../src/gate/recording/record.ts';
import { recordedSelfTest } from '../../../src/gate/recording/recorded-self-test.ts';
import { recordedTestbed } from '../../../src/gate/recording/recorded-testbed.ts';
import { beginJournal } from '../../../src/gate/self-test/self-test-journal.ts';
import type { Diagnostic } from '../../../src/lab/check/diagnostic.ts';
import { checkFreebsdTestbed, type FreebsdCheck } from '../../../src/lab/check/freebsd-check.ts';
import type { FreebsdDeps } from '../../../src/lab/freebsd/freebsd-deps.ts';
import { openFreebsdTestbed } from '../../../src/lab/freebsd/freebsd-testbed.ts';
import { fencedDeps } from '../../../src/lab/lease/testbed-fence.ts';
import type { Testbed } from '../../../src/lab/testbed.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { makeFolder, writeFile } from '../../fakes/freebsd-lab/file-system.ts';
import { type FreebsdLab, type FreebsdLabOptions, startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { builtVariant, depsOf, labConsole, testbedOf, usualTraffic } from '../../fakes/freebsd-testbed.ts';
import { aConfig, gateConfig } from '../../fakes/plan.ts';

type RecordedCheck = { path: string; diagnostics: Diagnostic[]; lab: FreebsdLab };

const labelled = (lab: FreebsdLab): FreebsdDeps => ({
  ...depsOf(lab),
  openPower: async () => lab.power,
});

export async function recordCheck(
  options: FreebsdLabOptions & { spoil?: (lab: FreebsdLab) => void } = {},
  changes: Partial<FreebsdCheck> = {},
  folder = temporaryFolder(),
): Promise<RecordedCheck> {
  await using lab = await startFreebsdLab(options);
  for (const [machine, path] of [
    [lab.dut.machine, '/sbin/nextboot'],
    ...[...lab.senders, lab.receiver].map((one) => [one.machine, '/dev/netmap'] as const),
  ] as const) {
    makeFolder(machine.files, join(path, '..'), true);
    writeFile(machine.files, path, '');
  }
  options.spoil?.(lab);
  const path = join(folder, 'check.rec');
  const testbed = testbedOf(lab, folder);
  testbed.dut.console = labConsole;
  const recorder = await recordTo(path, 'testbeds check', [testbed], () => lab.clock.now());
  const deps = {
    ...recorder.deps(labelled(lab)),
    notify() {},
    signal: new AbortController().signal,
  };
  const check: FreebsdCheck = {
    name: 'shelf',
    testbed,
    traffic: usualTraffic,
    sends: true,
    cycles: false,
    families: ['inet4', 'inet6'],
    ...changes,
  };
  recorder.begin('check', recordable(check));
  const diagnostics: Diagnostic[] = [];
  for await (const diagnostic of checkFreebsdTestbed(check, deps)) {
    recorder.log('check', diagnostic);
    diagnostics.push(diagnostic);
  }
  return { path, diagnostics, lab };
}

/** Records a self-test with all accidents, and the console of the DUT. */
export async function recordSelfTest(
  options: FreebsdLabOptions = {},
): Promise<{ path: string; diagnostics: Diagnostic[] }> {
  const timing = { bootSeconds: 20, dumpSeconds: 5 };
  await using lab = await startFreebsdLab({ timing, ...options });
  const folder = temporaryFolder();
  const path = join(folder, 'self-test.rec');
  const testbed = testbedOf(lab, folder);
  testbed.dut.boot.limitSeconds = 120;
  testbed.dut.console = labConsole;
  const recorder = await recordTo(path, 'testbeds self-test', [testbed], () => lab.clock.now());
  const lease = { token, assertHeld() {}, prove: async () => {} };
  const config = aConfig({
    testbeds: { shelf: testbed },
    scenarios: ['forwarding', 'pf-stateful'],
    traffic: { ...usualTraffic, measureSeconds: 20, measureAtLeastSeconds: 12 },
    gate: { ...gateConfig, maxRunsPerVariant: 20 },
    profile: { seconds: 5 },
  });
  const selfTested = recordedSelfTest(
    recorder,
    {
      name: 'shelf',
      testbed,
      config,
      rules: {},
      directory: folder,
      skip: new Set(['check']),
      journal: beginJournal(folder, 'shelf', new Date(0)),
    },
    {
      ...fencedDeps(recorder.deps(labelled(lab)), testbed, lease),
      agrees: async () => true,
      notify() {},
      keepLog,
      history: { append: async () => {} },
      signal,
    },
    token,
  );
  return { path, diagnostics: await Array.fromAsync(selfTested) };
}

const signal = new AbortController().signal;
const keepLog = async () => {};
const token = 17;

/** Records work on a testbed behind the fence of a lease, as gates do it. */
export async function recordTestbed(
  work: (testbed: Testbed) => Promise<void>,
  options: FreebsdLabOptions = {},
  method: FreebsdTestbed['dut']['boot']['method'] = 'nextboot',
  idents: Readonly<Record<string, string>> = { base: 'base', patched: 'patched' },
): Promise<string> {
  await using lab = await startFreebsdLab(options);
  const folder = temporaryFolder();
  const path = join(folder, 'gate.rec');
  const config = testbedOf(lab, folder);
  config.dut.boot.method = method;
  const traffic = { ...usualTraffic, measureSeconds: 30 };
  const recorder = await recordTo(path, 'gate', [config], () => lab.clock.now());
  const lease = { token, assertHeld() {}, prove: async () => {} };
  const deps = fencedDeps(recorder.deps(labelled(lab)), config, lease);
  const opening = { name: 'shelf', testbed: config, traffic, token };
  const testbed = await recordedTestbed(recorder, opening, () => openFreebsdTestbed('shelf', config, traffic, deps));
  const cells = [{ scenario: 'forwarding', family: 'inet4' }] as const;
  await testbed.inspect(cells);
  const variants = Object.entries(idents).map(([variant, ident]) => builtVariant(variant, { ident }, folder));
  await testbed.prepare({ variants, cells, rules: {}, keepLog, notify() {}, signal });
  await work(testbed);
  await testbed.restore();
  return path;
}

export const trialOf = (variant: string, pair: number, scenario = 'forwarding') => ({
  number: pair * 2 + (variant === 'base' ? 0 : 1),
  cell: { scenario, family: 'inet4' as const },
  runs: [{ number: pair, variant, pair }],
});
