import { describe, expect, test } from 'vitest';
import type { FreebsdTestbed } from '../../../src/config/freebsd-testbed.ts';
import { rulesOn } from '../../../src/gate/experiment/plan.ts';
import { readFreebsdLogs } from '../../../src/lab/freebsd/freebsd-logs.ts';
import { openFreebsdTestbed } from '../../../src/lab/freebsd/freebsd-testbed.ts';
import { PreflightError } from '../../../src/lab/freebsd/preflight.ts';
import type { ProfileRequest, Testbed } from '../../../src/lab/testbed.ts';
import type { InterfaceRoles } from '../../../src/model/overlay-files.ts';
import type { PlannedTrial } from '../../../src/model/planned-trial.ts';
import { type Cell, families, type OwnRules, scenariosOf } from '../../../src/model/scenario.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import type { Fault } from '../../fakes/freebsd-lab/faults.ts';
import { textOf, writeFile } from '../../fakes/freebsd-lab/file-system.ts';
import { type FreebsdLab, type FreebsdLabOptions, startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import { addModule } from '../../fakes/freebsd-lab/machine.ts';
import { integer } from '../../fakes/freebsd-lab/sysctls.ts';
import {
  builtVariant,
  depsOf,
  forwarding,
  keptLogs,
  labConsole,
  prepareRequest,
  testbedOf,
  usualTraffic,
} from '../../fakes/freebsd-testbed.ts';

const signal = new AbortController().signal;
const traffic = { ...usualTraffic, measureSeconds: 30 };

type Setup = FreebsdLabOptions & {
  testbed?: Partial<FreebsdTestbed>;
  rules?: Record<string, OwnRules>;
  interfaces?: InterfaceRoles;
  /** Changes the laboratory before the controller sees it. */
  spoil?: (lab: FreebsdLab) => void;
};

/** Runs a test on a testbed in a laboratory of its own, and restores it. */
async function onTestbed(
  { testbed: changes = {}, rules = {}, interfaces = {}, spoil, ...options }: Setup,
  work: (testbed: Testbed, lab: FreebsdLab) => Promise<void>,
): Promise<void> {
  await using lab = await startFreebsdLab(options);
  spoil?.(lab);
  const folder = temporaryFolder();
  const config = testbedOf(lab, folder, changes);
  const testbed = await openFreebsdTestbed('shelf', config, traffic, depsOf(lab));
  const variants = [
    builtVariant('base', { ident: 'base' }, folder),
    builtVariant('patched', { ident: 'patched' }, folder),
    builtVariant('diff 80345', { ident: 'earlier' }, folder),
  ];
  const overlay = { path: 'dut', beside: '', interfaces };
  const ownRules = rulesOn('shelf', { testbeds: { shelf: config }, overlay }, rules);
  await testbed.prepare(prepareRequest(variants, { rules: ownRules }));
  await work(testbed, lab);
  await testbed.restore();
  expect(lab.state()).toMatchObject({
    stage: 'up',
    kernel: 'base',
    leftovers: [],
    scenario: 'forwarding',
  });
}

const trialOf = (variant: string, pair: number, cell = forwarding): PlannedTrial => ({
  number: 2 * pair,
  cell,
  runs: [{ number: 2 * pair, variant, pair }],
});

const send = (testbed: Testbed, trial: PlannedTrial) => testbed.trial(trial, async () => {}, signal);

const valid = { kind: 'measured', runs: [{ validity: { kind: 'valid' } }] };

const rebootsOf = (lab: FreebsdLab): number =>
  lab.dut.journal.filter(({ command }) => command === 'shutdown -r now').length;

test('boots and measures a kernel, and reports its identity with the numbers', () =>
  onTestbed({ truth: ({ ident }) => (ident === 'base' ? 5e6 : 4e6) }, async (testbed) => {
    const { logs, keepLog } = keptLogs();
    const outcome = await testbed.trial(trialOf('patched', 1), keepLog, signal);
    expect(outcome).toMatchObject({
      ...valid,
      summary: { kernel: 'FreeBSD 14.0-CURRENT #0 patched', offeredPps: 14_880_951 },
    });
    const pps = outcome.kind === 'measured' ? (outcome.runs[0]?.pps ?? 0) : 0;
    expect(Math.abs(pps / 4e6 - 1)).toBeLessThan(0.03);
    expect([...logs.keys()]).toEqual(['receiver.log', 'sender-1.log', 'dut-counters.log']);
    if (outcome.kind !== 'measured') return;
    // The trial and the readings around it need their time.
    const { busiestCpuRatio } = Object.values(outcome.summary.limits ?? {})[0] ?? {};
    expect(busiestCpuRatio).toBeGreaterThan(0.5);
    expect(busiestCpuRatio).toBeLessThan(1);
  }));

test('cells of one boot use ports that were opened once, and the next boot opens them again', () =>
  onTestbed({}, async (testbed, lab) => {
    const opened = () => lab.receiver.journal.filter(({ command }) => command.includes('-f rx')).length;
    expect(await send(testbed, trialOf('base', 1))).toMatchObject(valid);
    const afterFirst = opened();
    expect(await send(testbed, { ...trialOf('base', 1), number: 3 })).toMatchObject(valid);
    expect(opened()).toBe(afterFirst);
    expect(await send(testbed, trialOf('patched', 1))).toMatchObject(valid);
    expect(opened()).toBe(2 * afterFirst);
  }));

test('a sender that cannot open a port beside what holds it has its port for itself from then on', () => {
  const says = '906.195100 main [3300] Unable to open netmap:vcxl0: Device busy';
  const fault = { kind: 'command-fails', machine: 'generator', command: '-f tx', at: 1, says };
  return onTestbed({ faults: [fault as Fault] }, async (testbed, lab) => {
    expect(await send(testbed, trialOf('base', 1))).toMatchObject({ kind: 'failed' });
    expect(await send(testbed, trialOf('base', 1))).toMatchObject(valid);
    const last = lab.receiver.journal.findLast(({ command }) => command.includes('-f tx'));
    expect(last?.command.replaceAll("'", '')).toMatch(/-i vcxl0 -w 4 /);
  });
});

test('a receiver that is hardly too slow is not taken for a DUT, nor where its logs are read again', () => {
  const noise = { perBoot: 0, perSecond: 0.0023 };
  return onTestbed({ receiverPps: 4.85e6, noise }, async (testbed) => {
    const { logs, keepLog } = keptLogs();
    const planned = trialOf('patched', 1);
    const outcome = await testbed.trial(planned, keepLog, signal);
    if (outcome.kind !== 'measured') throw new Error('nothing was measured');
    const { startedAt, ...summary } = outcome.summary;
    expect(outcome.runs[0]?.validity).toMatchObject({ kind: 'invalid', cause: 'receiver-limited' });
    const receiver = logs.get('receiver.log') ?? '';
    const senders = [logs.get('sender-1.log') ?? ''];
    const again = readFreebsdLogs(planned, { receiver, senders }, { startedAt, traffic: usualTraffic, summary });
    expect(again).toMatchObject({ runs: outcome.runs });
  });
});

test('a DUT that its host starves measures nothing', () =>
  onTestbed({ hardware: { 'kern.vm_guest': 'kvm' } }, async (testbed, lab) => {
    expect(await send(testbed, trialOf('base', 1))).toMatchObject(valid);
    const says =
      'interrupt                          total       rate\ncpu0:timer                          5733         97\n';
    for (const at of [1, 2]) lab.faults.order({ kind: 'command-lies', machine: 'dut', command: 'vmstat -i', at, says });
    const outcome = await send(testbed, trialOf('base', 1));
    expect(outcome).toMatchObject({ runs: [{ validity: { cause: 'machine-busy' } }] });
  }));

describe('a console', () => {
  const withConsole = (lab: FreebsdLab, testbed: Partial<FreebsdTestbed['dut']> = {}) => {
    const config = testbedOf(lab, temporaryFolder());
    return { ...config, dut: { ...config.dut, console: labConsole, ...testbed } };
  };

  test('is recorded from before a boot on, and what it printed is a log of the trial', async () => {
    await using lab = await startFreebsdLab();
    const testbed = await openFreebsdTestbed('shelf', withConsole(lab), traffic, depsOf(lab));
    const { logs, keepLog } = keptLogs();
    expect(await testbed.trial(trialOf('base', 1), keepLog, signal)).toMatchObject(valid);
    expect(logs.get('dut-console.log')).toMatch(/^Waiting \(max 60 seconds\).*---<<BOOT>>---\r\n.*\r\nlogin: $/s);
    await testbed.restore();
  });

  test('that does not open is reported and does not stop the measurement', async () => {
    await using lab = await startFreebsdLab();
    const console = { kind: 'command' as const, command: ['false'] };
    const testbed = await openFreebsdTestbed('shelf', withConsole(lab, { console }), traffic, depsOf(lab));
    expect((await testbed.inspect([forwarding])).warnings).toHaveLength(1);
    const outcome = await send(testbed, trialOf('base', 1));
    expect(outcome).toMatchObject(valid);
    expect(outcome.warnings).toBeUndefined();
    await testbed.restore();
  });

  test('has its last lines in the rejection of a kernel that hangs', async () => {
    await using lab = await startFreebsdLab();
    const folder = temporaryFolder();
    const testbed = await openFreebsdTestbed('shelf', withConsole(lab), traffic, depsOf(lab));
    const patched = { ident: 'patched', behaviour: { kind: 'hangs-at-boot' } } as const;
    await testbed.prepare(
      prepareRequest([builtVariant('base', { ident: 'base' }, folder), builtVariant('patched', patched, folder)]),
    );
    await send(testbed, trialOf('base', 1));
    await send(testbed, trialOf('patched', 1));
    expect(await send(testbed, trialOf('patched', 2))).toMatchObject({
      kind: 'rejected',
      rejection: {
        kind: 'boot-failed',
        console: expect.stringMatching(/^Waiting \(max.*\nTrying to mount root from [^\n]*$/s),
      },
    });
    await testbed.restore();
  });
});

test('a generator without pkt-gen is reported before anything boots', async () => {
  await using lab = await startFreebsdLab();
  lab.receiver.machine.lacks.add('pkt-gen');
  const testbed = await openFreebsdTestbed('shelf', testbedOf(lab, temporaryFolder()), usualTraffic, depsOf(lab));
  await expect(testbed.inspect([forwarding])).rejects.toThrow(/ lacks pkt-gen/);
  expect(rebootsOf(lab)).toBe(0);
  await testbed.restore();
});

test('one boot serves all cells of a pair’s variant', () =>
  onTestbed({}, async (testbed, lab) => {
    const cells = scenariosOf.freebsd.flatMap((scenario) => families.map((family): Cell => ({ scenario, family })));
    for (const cell of cells) {
      expect(await send(testbed, trialOf('patched', 1, cell))).toMatchObject(valid);
    }
    expect(rebootsOf(lab)).toBe(1);
    await send(testbed, trialOf('patched', 2));
    expect(rebootsOf(lab)).toBe(2);
  }));

const large: Cell = { ...forwarding, frameBytes: 1518 };

test.each([
  ['sender', 'vcxl0', 1514],
  ['receiver', 'vcxl1', 1500],
  ['dut', 'cxl1', 1500],
] as const)('large frames need an MTU of the %s, which is read before anything boots', (role, name, least) =>
  onTestbed({ truth: () => 5e5 }, async (testbed, lab) => {
    const setMtu = (role: 'dut' | 'sender' | 'receiver', name: string, mtu: number) => {
      const machine = { dut: lab.dut, sender: lab.senders[0], receiver: lab.receiver }[role]?.machine;
      Object.assign(machine?.interfaces.find((one) => one.name === name) ?? {}, { mtu });
    };
    setMtu('sender', 'vcxl0', 1514);
    await testbed.inspect([large]);
    expect(await send(testbed, trialOf('base', 1, large))).toMatchObject(valid);
    setMtu(role, name, least - 1);
    await expect(testbed.inspect([forwarding, large])).rejects.toThrow(`run \`ifconfig ${name} mtu ${least}\` there`);
    if (role === 'sender') expect(await send(testbed, trialOf('base', 1, large))).not.toMatchObject(valid);
    expect(rebootsOf(lab)).toBe(1);
  }),
);

test('A site’s own rules are installed with the names of the DUT’s interfaces', () => {
  const text = 'set skip on lan0\nblock in on wg0\npass\n';
  const office: OwnRules = { firewall: 'pf', text, keepsStates: true };
  const interfaces = { lan0: 'ingress', wan0: 'egress' } as const;
  return onTestbed({ rules: { office }, interfaces }, async (testbed, lab) => {
    const outcome = await send(testbed, trialOf('base', 1, { ...forwarding, scenario: 'office' }));
    expect(outcome).toMatchObject(valid);
    expect(lab.dut.machine.pf.skips).toEqual([lab.cabling.entries[0]]);
  });
});

test.each([
  ['warn', '1'],
  ['fix', '0'],
  ['fail', undefined],
] as const)('a DUT with a setting that does not hold, and preflight: %s', (preflight, value) => {
  const spoil = (lab: FreebsdLab) => {
    Object.assign(lab.dut.machine.sysctls.get('net.inet.ip.redirect') ?? {}, { value: '1' });
  };
  return onTestbed({ spoil, testbed: { preflight } }, async (testbed, lab) => {
    if (value === undefined) return expect(testbed.inspect([forwarding])).rejects.toThrow(PreflightError);
    const { warnings = [] } = await testbed.inspect([forwarding]);
    expect(warnings.some((text) => text.includes('net.inet.ip.redirect is 1'))).toBe(value === '1');
    expect(lab.dut.machine.sysctls.get('net.inet.ip.redirect')?.value).toBe(value);
  });
});

test('a boot is waited for until its services are up, and not until its load average has fallen', () =>
  onTestbed({}, async (testbed, lab) => {
    expect(await send(testbed, trialOf('base', 1))).toMatchObject(valid);
    const bootedAt = lab.dut.machine.running?.startedAt ?? 0;
    const sentAt = lab.receiver.journal.findLast(({ command }) => command.includes('-w'))?.at ?? 0;
    expect(sentAt - bootedAt).toBeGreaterThan(60);
    expect(sentAt - bootedAt).toBeLessThan(90);
  }));

test('a DUT on which something else runs is measured with a warning, and not without', () =>
  onTestbed({}, async (testbed, lab) => {
    expect((await testbed.inspect([forwarding])).warnings).toEqual([]);
    lab.dut.machine.busyCpus = 2;
    expect(await send(testbed, trialOf('base', 1))).toEqual({
      kind: 'failed',
      reason: expect.stringContaining('kern.cp_time shows 2.0 busy CPUs'),
    });
    expect((await testbed.inspect([forwarding])).warnings).toMatchObject([
      expect.stringContaining('kern.cp_time shows 2.0 busy CPUs'),
    ]);
    expect(await send(testbed, trialOf('base', 2))).toMatchObject(valid);
  }));

test('a setting that is waived is measured as it is, and its reason is shown', () => {
  const waive = { 'net.inet.ip.redirect': 'the site <b>wants</b> them' };
  const spoil = (lab: FreebsdLab) => {
    const { files, sysctls } = lab.dut.machine;
    writeFile(files, '/etc/sysctl.conf', `${textOf(files, '/etc/sysctl.conf')}net.inet.ip.redirect=1\n`);
    Object.assign(sysctls.get('net.inet.ip.redirect') ?? {}, { value: '1' });
  };
  return onTestbed({ spoil, testbed: { preflight: 'fix', waive } }, async (testbed, lab) => {
    expect((await testbed.inspect([forwarding])).warnings).toMatchObject([
      expect.stringContaining('the site <b>wants'),
    ]);
    expect(await send(testbed, trialOf('patched', 1))).toMatchObject(valid);
    expect(lab.dut.machine.sysctls.get('net.inet.ip.redirect')?.value).toBe('1');
  });
});

test('a card whose firmware has changed permanently is reported by each later boot', () =>
  onTestbed({}, async (testbed, lab) => {
    const { fingerprint } = await testbed.inspect([forwarding]);
    expect(fingerprint).toMatchObject({
      'dev.t5nex.0.firmware_version': '1.25.0.0',
      'sender 1': expect.stringContaining('vcxl0'),
      receiver: expect.stringContaining('vcxl1'),
    });
    expect(await send(testbed, trialOf('base', 1))).toMatchObject(valid);
    lab.dut.machine.hardware = { 'dev.t5nex.0.firmware_version': '1.27.0.0' };
    const told = { kind: 'failed', reason: expect.stringMatching(/was "1\.25\.0\.0" and is "1\.27\.0\.0"/) };
    expect(await send(testbed, trialOf('patched', 1))).toEqual(told);
    expect(await send(testbed, trialOf('base', 2))).toEqual(told);
  }));

test.each(['pf', 'ipfw'] as const)(
  '%s that the site has on is reported, taken off for a trial, and restored by a boot',
  async (name) => {
    await using lab = await startFreebsdLab({ ownFirewalls: [name] });
    const isOn = () => {
      const { pf, ipfw } = lab.state();
      const rules = name === 'pf' ? (pf.isEnabled ? pf.rules : []) : ipfw.rules;
      return rules.some((rule) => rule.includes('log'));
    };
    const open = () => openFreebsdTestbed('shelf', testbedOf(lab, temporaryFolder()), traffic, depsOf(lab));
    await (await open()).restore();
    // Nothing was measured.
    expect([isOn(), rebootsOf(lab)]).toEqual([true, 0]);
    const testbed = await open();
    await testbed.prepare(prepareRequest([]));
    const { warnings } = await testbed.inspect([forwarding]);
    expect(warnings).toMatchObject([expect.stringContaining(`${name} of the DUT is enabled in its rc.conf`)]);
    // The variant was not built, so the DUT's own kernel is measured.
    expect(await send(testbed, trialOf('base', 1))).toMatchObject(valid);
    expect(isOn()).toBe(false);
    await testbed.restore();
    expect([isOn(), rebootsOf(lab)]).toEqual([true, 2]);
  },
);

test('filters beside every scenario are reported, and no module is loaded to find them', () =>
  onTestbed({}, async (testbed, lab) => {
    const { machine, journal } = lab.dut;
    const warnings = async () => (await testbed.inspect([forwarding])).warnings ?? [];
    expect(await warnings()).toEqual([]);
    expect(journal.filter(({ command }) => command.startsWith('ngctl'))).toEqual([]);
    for (const module of ['ng_ether', 'ng_socket']) addModule(machine, module);
    machine.sysctls.set('net.inet.ipf.fr_running', integer(1));
    const lie = (command: string, says: string) =>
      lab.faults.order({ kind: 'command-lies', machine: 'dut', command, at: 1, says });
    lie('ngctl list', `  Name: ${lab.cabling.exit}  Type: ether  ID: 00000001   Num hooks: 2\n`);
    lie(
      'pfilctl heads',
      ' Intercept point     Type\n            inet     IPv4\n  In  ipfilter  default\n  In  siftr  default\n',
    );
    expect((await warnings()).toSorted()).toEqual([
      expect.stringContaining('ipf of the DUT'),
      expect.stringContaining('netgraph of'),
      expect.stringContaining('packet filter siftr'),
    ]);
  }));

test('an earlier diff is held against base and patched, and they are never held against it', () =>
  onTestbed({}, async (testbed, lab) => {
    const { files } = lab.dut.machine;
    const settings = textOf(files, '/etc/sysctl.conf') ?? '';
    const change = () => writeFile(files, '/etc/sysctl.conf', `${settings}\nnet.inet6.ip6.redirect=1\n`);
    change();
    expect(await send(testbed, trialOf('diff 80345', 1))).toMatchObject(valid);
    writeFile(files, '/etc/sysctl.conf', settings);
    expect(await send(testbed, trialOf('base', 1))).toMatchObject(valid);
    change();
    expect(await send(testbed, trialOf('diff 80345', 2))).toEqual({
      kind: 'failed',
      reason: expect.stringContaining('net.inet6.ip6.redirect: "0" on base, "1" on diff 80345'),
    });
  }));

describe('a profile', () => {
  const request = { cell: forwarding, variant: 'patched', seconds: 10, attempt: 1 };

  async function profileOn(testbed: Testbed, changes: Partial<ProfileRequest> = {}) {
    const { logs, keepLog } = keptLogs();
    const outcome = await testbed.profile({ ...request, ...changes }, keepLog, signal);
    return { outcome, logs };
  }

  test('has its samples under load, and names the running kernel', () =>
    onTestbed({}, async (testbed) => {
      const { outcome, logs } = await profileOn(testbed);
      expect(outcome).toEqual({
        kind: 'profiled',
        event: 'cpu_clk_unhalted.thread_p',
        kernel: 'FreeBSD 14.0-CURRENT #0 patched',
        busySamples: 10_000,
        idleSamples: 0,
        log: 'stacks.txt',
      });
      expect(logs.get('stacks.txt')).toMatch(
        /^# kernel: FreeBSD 14\.0-CURRENT #0 patched\nkernel`fork_exit;kernel`ithread_loop;.* 10000\n$/,
      );
      expect(logs).toHaveProperty('size', 5);
    }));

  test('leaves nothing to the next measurement, which has a separate boot', () =>
    onTestbed({}, async (testbed, lab) => {
      expect(testbed.booted()).toBeUndefined();
      await send(testbed, trialOf('patched', 1));
      await profileOn(testbed);
      expect(testbed.booted()).toBe('patched');
      await profileOn(testbed, { cell: { ...forwarding, family: 'inet6' } });
      expect(rebootsOf(lab)).toBe(1);
      expect(await send(testbed, trialOf('patched', 1))).toMatchObject(valid);
      expect(rebootsOf(lab)).toBe(2);
      expect(lab.dut.machine.modules).not.toContain('hwpmc');
    }));

  test('in which the DUT dies does not count against the variant, and leaves none booted', () =>
    onTestbed({}, async (testbed, lab) => {
      expect(await send(testbed, trialOf('base', 1))).toMatchObject(valid);
      for (const at of [2, 3, 4]) lab.faults.order({ kind: 'panic-under-load', at });
      for (const attempt of [1, 2]) {
        const { outcome } = await profileOn(testbed, { attempt });
        expect(outcome).toEqual({
          kind: 'missed',
          reason: 'the DUT with patched died while samples were taken: it panicked: page fault',
        });
        expect(testbed.booted()).toBeUndefined();
      }
      expect(await send(testbed, trialOf('patched', 1))).toMatchObject({ kind: 'failed' });
      expect(await send(testbed, trialOf('patched', 1))).toMatchObject(valid);
    }));

  test('is last if the power of a hanging DUT cannot be switched', async () => {
    await using lab = await startFreebsdLab();
    const config = testbedOf(lab, temporaryFolder());
    delete config.dut.power;
    const testbed = await openFreebsdTestbed('shelf', config, usualTraffic, depsOf(lab));
    expect(await send(testbed, trialOf('base', 1))).toMatchObject({ kind: 'measured' });
    expect(testbed.booted()).toBeUndefined();
    await testbed.restore();
  });

  test('is sampled from before the load on when it was missed before', () =>
    onTestbed({}, async (testbed, lab) => {
      const { outcome } = await profileOn(testbed, { attempt: 2 });
      expect(outcome).toMatchObject({ kind: 'profiled', idleSamples: expect.any(Number) });
      const commands = lab.dut.journal.map(({ command }) => command.replaceAll("'", ''));
      expect(commands.some((command) => /sh -c .* sh 0 pmcstat .* -l 16 /.test(command))).toBe(true);
    }));

  test('of an event that the CPU lacks is impossible, with a reference', () =>
    onTestbed({}, async (testbed) => {
      const { outcome } = await profileOn(testbed, { event: 'dtlb_magic' });
      expect(outcome).toEqual({
        kind: 'impossible',
        reason: expect.stringMatching(/samples dtlb_magic \(.*Invalid argument\).*pmccontrol -L/),
      });
    }));
});
