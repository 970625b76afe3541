// Checks FreeBSD testbeds, good or spoilt.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { BuilderConfig } from '../../../src/config/builder.ts';
import type { HostConfig } from '../../../src/config/fields.ts';
import type { FreebsdTestbed } from '../../../src/config/freebsd-testbed.ts';
import type { Diagnostic } from '../../../src/lab/check/diagnostic.ts';
import { checkFreebsdTestbed, type FreebsdCheck } from '../../../src/lab/check/freebsd-check.ts';
import type { CheckDeps } from '../../../src/lab/check/power-check.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { freebsdBuilder } from '../../fakes/freebsd-builder.ts';
import { makeFolder, writeFile } from '../../fakes/freebsd-lab/file-system.ts';
import { type FreebsdLab, type FreebsdLabOptions, startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import type { Machine } from '../../fakes/freebsd-lab/machine.ts';
import { newKey } from '../../fakes/freebsd-lab/open-machine.ts';
import { sendTrial, steadyPps } from '../../fakes/freebsd-lab/trial.ts';
import { depsOf, labConsole, testbedOf, usualTraffic } from '../../fakes/freebsd-testbed.ts';
import { commit, newRepository } from '../../fakes/repository.ts';
import { type Sshd, startSshd } from '../../fakes/sshd.ts';
import { describeWith } from '../../needs.ts';

type Checked = {
  lab: FreebsdLab;
  testbed: FreebsdTestbed;
  told: string[];
  check(changes?: Partial<FreebsdCheck> & { deps?: Partial<CheckDeps> }): Promise<readonly Diagnostic[]>;
};

/** A lab with the files that FreeBSD ships, and those that kernels need. */
async function aLab(options: FreebsdLabOptions = {}): Promise<Checked> {
  const lab = await startFreebsdLab(options);
  onTestFinished(() => lab.stop());
  lay(lab.dut.machine, '/sbin/nextboot');
  if (options.root === 'zfs') lay(lab.dut.machine, '/sbin/bectl');
  for (const { machine } of [...lab.senders, lab.receiver]) lay(machine, '/dev/netmap');
  const testbed = testbedOf(lab, temporaryFolder());
  const told: string[] = [];
  return {
    lab,
    testbed,
    told,
    async check({ deps, ...changes } = {}) {
      const diagnostics = checkFreebsdTestbed(
        {
          name: 'shelf',
          testbed,
          families: ['inet4', 'inet6'],
          traffic: usualTraffic,
          sends: false,
          cycles: false,
          ...changes,
        },
        {
          ...depsOf(lab),
          openPower: async () => lab.power,
          notify: (sentence) => void told.push(sentence),
          signal: new AbortController().signal,
          ...deps,
        },
      );
      const found: Diagnostic[] = [];
      for await (const diagnostic of diagnostics) found.push(diagnostic);
      return found;
    },
  };
}

function lay({ files }: Machine, path: string): void {
  makeFolder(files, join(path, '..'), true);
  writeFile(files, path, '');
}

const wrongs = (diagnostics: readonly Diagnostic[]) => diagnostics.filter(({ kind }) => kind === 'wrong');

const about = (diagnostics: readonly Diagnostic[], what: string) =>
  diagnostics.find((diagnostic) => diagnostic.what === what);

test('a good lab has no fault', async () => {
  const { check } = await aLab();
  const diagnostics = await check();
  expect(wrongs(diagnostics)).toEqual([]);
  const [dut, generator, ...others] = diagnostics;
  expect(dut).toMatchObject({ kind: 'ok', what: 'ssh to the DUT' });
  expect(generator).toMatchObject({ kind: 'ok', what: 'ssh to the sender and the receiver' });
  expect(others.map(({ kind, what, why }) => `${kind} ${what}: ${why}`)).toMatchInlineSnapshot(`
    [
      "ok FreeBSD on the DUT: FreeBSD 14.0-CURRENT",
      "ok FreeBSD on the sender and the receiver: FreeBSD 14.0-CURRENT",
      "ok cxl0 of the DUT: 10 Gbit/s",
      "ok cxl1 of the DUT: 10 Gbit/s",
      "ok vcxl0 of the sender: 10 Gbit/s",
      "ok the MAC address of vcxl0 of the sender: 00:07:43:2e:e1:70",
      "ok vcxl1 of the receiver: 10 Gbit/s",
      "ok the MAC address of vcxl1 of the receiver: 00:07:43:2e:e1:71",
      "ok the flow control of the sender and the receiver: none is enabled",
      "ok pkt-gen on the sender and the receiver: it is installed",
      "ok netmap on the sender and the receiver: /dev/netmap is there",
      "ok the routes and neighbours of the DUT: both ways, inet4 and inet6",
      "ok the settings of the DUT: all pass",
      "ok the firewalls of the DUT: none is enabled",
      "ok the boot method, nextboot: /sbin/nextboot is there, and the root is on /dev/ada0p2",
      "ok the space in /boot of the DUT: 15.0 GB free",
      "skipped the builder: \`builder\` is not configured: only prebuilt kernels can be measured",
      "ok power control of the DUT: it reports that the DUT is on",
      "skipped the console of the DUT: \`console\` is not configured: a kernel that does not boot usually reports the cause only there",
      "skipped the ceiling of the generators: sending packets is switched off",
    ]
  `);
});

test('the trial shows the offered rate, the wire’s rate and the received rate', async () => {
  const { check, told } = await aLab({ truth: () => 5e6 });
  const diagnostics = await check({ sends: true });
  expect(wrongs(diagnostics)).toEqual([]);
  expect(about(diagnostics, 'the ceiling of the generators')?.why).toMatch(
    /^offers 14\.88 Mpps of 14\.88 Mpps \(10 Gbit\/s\), and (4\.9|5\.0)\d+ Mpps came through$/,
  );
  expect(told).toEqual(['Sending inet4 from the sender through the DUT for about 23 s.']);
});

test('reports what ports that reach each other past the DUT carry, for sender and receiver', async () => {
  const { check, told } = await aLab({
    truth: () => 5e6,
    generatorPps: 9e6,
    receiverPps: 7e6,
    cabling: { loopback: true },
  });
  const diagnostics = await check({ sends: true });
  expect(wrongs(diagnostics)).toEqual([]);
  expect(about(diagnostics, 'the ceiling of the sender past the DUT')).toMatchObject({
    kind: 'ok',
    why: 'offers 9.000 Mpps of 14.88 Mpps (10 Gbit/s), and the receiver counts 7.000 Mpps',
  });
  expect(told[0]).toBe('Sending inet4 from the sender from vcxl2 to vcxl3 of the receiver for about 23 s.');
});

test('between machines of their own, too, the first sender is the one that is joined', async () => {
  const { check } = await aLab({
    cabling: { senders: 2, generators: 'separate', loopback: true },
  });
  const diagnostics = await check({ sends: true });
  expect(about(diagnostics, 'the ceiling of sender 1 past the DUT')?.kind).toBe('ok');
  expect(about(diagnostics, 'the ceiling of sender 2 past the DUT')?.kind).toBe('skipped');
});

test('reports ports that are not joined', async () => {
  const { check, testbed } = await aLab({ cabling: { loopback: true } });
  for (const sender of testbed.senders) sender.backToBack = { from: 'cxl2', to: 'cxl1' };
  expect(wrongs(await check({ sends: true }))).toMatchObject([
    {
      what: 'the ceiling of the sender past the DUT',
      why: 'nothing came from vcxl2 to vcxl1 of the receiver',
      fix: 'connect these two ports with a cable, or correct `backToBack` in ppsgate.yml',
    },
  ]);
});

test('without such ports the unknown part is reported', async () => {
  const { check } = await aLab();
  expect(about(await check({ sends: true }), 'the ceiling of the sender past the DUT')).toEqual({
    kind: 'skipped',
    what: 'the ceiling of the sender past the DUT',
    why: 'no `backToBack` in ppsgate.yml: the offered rate is only known from the port of the sender, and the receiver is only tested up to the rate of the DUT',
  });
});

test('a receiver is held against what the DUT sent', async () => {
  const what = 'the receiver compared with the DUT';
  const { check } = await aLab({ truth: () => 5e6 });
  expect(about(await check({ sends: true }), what)).toMatchObject({
    kind: 'ok',
    why: expect.stringMatching(/^it counted every packet, (4\.9|5\.0)\d+ Mpps from cxl1$/),
  });

  const slow = await aLab({ truth: () => 5e6, receiverPps: 3e6 });
  expect(wrongs(await slow.check({ sends: true }))).toEqual([
    {
      kind: 'wrong',
      what,
      why: expect.stringMatching(
        /^receiver-limited: the DUT sent (4\.9|5\.0)\d+ Mpps and the receiver counted 3\.000 Mpps$/,
      ),
      fix: 'give the receiver a faster card or CPU, or a machine of its own: a receiver slower than the DUT makes all variants look equal',
    },
  ]);
});

test('a generator that offers no more than is received cannot find the limit of the DUT', async () => {
  const { check } = await aLab({ generatorPps: 3e6 });
  const diagnostics = await check({ sends: true });
  expect(wrongs(diagnostics)).toEqual([
    {
      kind: 'wrong',
      what: 'the ceiling of the generators',
      why: expect.stringMatching(
        /^this generator does not reach the DUT's limit: it offers (3\.0|2\.9)\d+ Mpps of 14\.88 Mpps \(10 Gbit\/s\), and (3\.0|2\.9)\d+ Mpps came through$/,
      ),
      fix: 'give the sender more `threads` (and rings), or add a second sender',
    },
  ]);
});

test('the generators keep to `traffic.rate`, which must be above the limit of the DUT', async () => {
  const { check } = await aLab();
  const at = async (offeredPps: number) => {
    const diagnostics = await check({ sends: true, traffic: { ...usualTraffic, offeredPps } });
    return about(diagnostics, 'the ceiling of the generators');
  };
  expect(await at(8e6)).toMatchObject({
    kind: 'ok',
    why: expect.stringMatching(
      /^offers 8\.000 Mpps, as `traffic\.rate` requests, and (4\.9|5\.0)\d+ Mpps came through$/,
    ),
  });
  expect(await at(3e6)).toMatchObject({
    kind: 'wrong',
    why: expect.stringMatching(/^generator-limited: .*, and traffic\.rate is 3\.000 Mpps$/),
    fix: 'set `traffic.rate` between the limit of the DUT and that of the senders, or remove it',
  });
});

test('a full wire needs no faster sender', async () => {
  const { check } = await aLab({ truth: () => 20e6 });
  const diagnostics = await check({ sends: true });
  expect(wrongs(diagnostics)).toMatchObject([
    { fix: 'the link is saturated: measure a firewall scenario, or use a faster card' },
  ]);
});

test('several senders send one by one, and all together', async () => {
  const { check, lab, told } = await aLab({
    truth: () => 5e6,
    generatorPps: 4e6,
    cabling: { senders: 2 },
  });
  // A switch would bring both to the one port.
  const [first, second] = lab.dut.machine.interfaces;
  if (first !== undefined && second !== undefined) second.mac = first.mac;
  const diagnostics = await check({ sends: true, families: ['inet4'] });
  expect(about(diagnostics, 'sender 1 alone')?.why).toMatch(/^offers 4\.0\d+ Mpps of 14\.88 Mpps/);
  expect(about(diagnostics, 'sender 2 alone')?.why).toMatch(/^offers 4\.0\d+ Mpps of 14\.88 Mpps/);
  expect(about(diagnostics, 'all senders together')?.why).toMatch(/^offers 8\.\d+ Mpps/);
  expect(told[0]).toMatch(/^Sending inet4 from sender 1 through the DUT /);
  expect(told[2]).toMatch(/^Sending inet4 from sender 1 and sender 2 through the DUT /);
  expect(wrongs(diagnostics)).toEqual([]);
});

test('a trial without received packets reports that', async () => {
  const { check, lab } = await aLab({ faults: [{ kind: 'dead-link', at: 1 }] });
  const diagnostics = await check({ sends: true });
  expect(lab.state().stage).toBe('up');
  expect(wrongs(diagnostics)).toMatchObject([
    {
      what: 'the ceiling of the generators',
      why: expect.stringContaining('no packet was received'),
    },
  ]);
});

test('a wrong MAC address is shown with the right one', async () => {
  const { check, testbed } = await aLab();
  const [sender] = testbed.senders;
  if (sender === undefined) throw new TypeError('There is no sender.');
  const diagnostics = await check({
    testbed: { ...testbed, senders: [{ ...sender, mac: '00:07:43:2e:e2:70' }] },
    families: ['inet4'],
    sends: true,
  });
  expect(about(diagnostics, 'the MAC address of vcxl0 of the sender')).toEqual({
    kind: 'wrong',
    what: 'the MAC address of vcxl0 of the sender',
    why: 'it is 00:07:43:2e:e1:70, but ppsgate.yml has 00:07:43:2e:e2:70, the address of cxl0',
    fix: 'write `mac: "00:07:43:2e:e1:70"` in ppsgate.yml, and into static_arp and static_ndp of the DUT',
  });
  expect(about(diagnostics, 'the ceiling of the generators')?.kind).toBe('skipped');
});

test('an interface that is down is brought up by a command, and no packet is sent before', async () => {
  const { check, lab } = await aLab();
  const port = lab.receiver.machine.interfaces.find(({ name }) => name === 'vcxl1');
  if (port !== undefined) port.isUp = false;
  const diagnostics = await check({ sends: true });
  const what = 'vcxl1 of the receiver';
  expect(about(diagnostics, what)).toMatchObject({
    kind: 'wrong',
    why: 'it is down',
    fix: 'run `ifconfig vcxl1 up` on the receiver, and add a line `ifconfig_vcxl1` to its /etc/rc.conf for every boot',
  });
  expect(about(diagnostics, 'the ceiling of the generators')).toEqual({
    kind: 'skipped',
    what: 'the ceiling of the generators',
    why: `skipped because of this fault: ${what}`,
  });
});

test('reports a dead link of the DUT once, and hides what depends on it', async () => {
  const { check, lab } = await aLab();
  const [port] = lab.dut.machine.interfaces;
  if (port?.port.cable !== undefined) port.port.cable.isDead = true;
  const diagnostics = await check({ sends: true });
  // It is one cable, so the sender at its other end has no link either.
  expect(wrongs(diagnostics)).toMatchObject([
    { what: 'cxl0 of the DUT', why: 'it has no link' },
    { what: 'vcxl0 of the sender', why: 'it has no link' },
  ]);
  expect(about(diagnostics, 'the routes and neighbours of the DUT')?.kind).toBe('skipped');
  expect(about(diagnostics, 'the ceiling of the generators')?.kind).toBe('skipped');
});

test('links that settle after a trial are waited for', async () => {
  const { check } = await aLab();
  await check({ sends: true });
  expect(wrongs(await check())).toEqual([]);
});

test('a DUT that has just booted is waited for, like before a gate', async () => {
  const { lab, check } = await aLab();
  Object.assign(lab.dut.machine.running ?? {}, { startedAt: lab.clock.now() - 43 });
  expect(wrongs(await check())).toEqual([]);
});

test('reports a missing port with those that exist', async () => {
  const { check, testbed } = await aLab();
  const { dut } = testbed;
  const diagnostics = await check({
    testbed: { ...testbed, dut: { ...dut, ingress: { interface: 'mce0' } } },
  });
  expect(wrongs(diagnostics)).toMatchObject([
    {
      what: 'mce0 of the DUT',
      why: 'there is no mce0: ifconfig lists cxl0 cxl1 igb0 lo0',
    },
  ]);
  expect(about(diagnostics, 'the settings of the DUT')?.kind).toBe('skipped');
});

test('without a route the trial could leave for the Internet, so it is not sent', async () => {
  const { check, lab } = await aLab();
  const { routes } = lab.dut.machine;
  routes.splice(
    routes.findIndex(({ destination }) => destination === '198.19.0.0/16'),
    1,
  );
  const diagnostics = await check({ sends: true });
  expect(wrongs(diagnostics)).toEqual([
    {
      kind: 'wrong',
      what: 'The route to 198.19.0.0/16',
      why: 'is missing, and test packets need it',
      fix: 'run `route add -inet 198.19.0.0/16 198.19.0.108` on the DUT',
    },
  ]);
  expect(about(diagnostics, 'the ceiling of the generators')?.why).toBe(
    'skipped because of this fault: the routes and neighbours of the DUT',
  );
});

test('each wrong setting of the DUT has a line with its fix', async () => {
  const { check } = await aLab({
    sysctlConf: { 'net.inet.ip.redirect': '1' },
    loaderConf: { 'hw.cxgbe.pause_settings': '7' },
  });
  expect(wrongs(await check())).toEqual([
    {
      kind: 'wrong',
      what: 'net.inet.ip.redirect',
      why: 'is 1 instead of 0, and packets are checked for redirects',
      fix: 'run `sysctl net.inet.ip.redirect=0` on the DUT',
    },
    {
      kind: 'wrong',
      what: 'dev.cxl.0.pause_settings',
      why: 'is 7<RX,TX,AUTO> instead of 0, and a full port then holds back its senders',
      fix: 'run `sysctl dev.cxl.0.pause_settings=0` on the DUT',
    },
    {
      kind: 'wrong',
      what: 'dev.cxl.1.pause_settings',
      why: 'is 7<RX,TX,AUTO> instead of 0, and a full port then holds back its senders',
      fix: 'run `sysctl dev.cxl.1.pause_settings=0` on the DUT',
    },
  ]);
});

test('frames of 1518 bytes want an MTU of 1514 where they are sent', async () => {
  const { check } = await aLab();
  const diagnostics = await check({ frameSizes: [64, 1518], sends: true });
  expect(wrongs(diagnostics)).toEqual([
    {
      kind: 'wrong',
      what: 'frames of 1518 bytes on vcxl0 of the sender',
      why: 'it has an MTU of 1500, and these frames need at least 1514',
      fix: '`ifconfig vcxl0 mtu 1514` there, and `mtu 1514` in its ifconfig_vcxl0 in /etc/rc.conf',
    },
  ]);
  expect(about(diagnostics, 'the ceiling of the generators')?.kind).toBe('skipped');
});

test('shows a waived setting with its reason, and a superfluous waiver of one that holds', async () => {
  const { check, testbed } = await aLab({ sysctlConf: { 'net.inet.ip.redirect': '1' } });
  const waive = {
    'net.inet.ip.redirect': 'the site wants them.',
    'machdep.hyperthreading_allowed': '32 queues need the threads',
  };
  const diagnostics = await check({ testbed: { ...testbed, waive } });
  expect(wrongs(diagnostics)).toEqual([]);
  expect(about(diagnostics, 'the settings of the DUT')?.why).toBe('all pass except the waived ones');
  expect(about(diagnostics, 'net.inet.ip.redirect')?.why).toBe(
    'is 1 instead of 0: waived, because the site wants them',
  );
  expect(about(diagnostics, 'machdep.hyperthreading_allowed')?.why).toBe(
    'it passes, so remove it from `waive` in ppsgate.yml',
  );
});

test('a sender that heeds pause frames of the DUT is as slow as the DUT, and both are reported', async () => {
  const { check, lab } = await aLab({
    truth: () => 5e6,
    loaderConf: { 'hw.cxgbe.pause_settings': '3' },
  });
  const pause = lab.senders[0]?.machine.sysctls.get('dev.cxl.0.pause_settings');
  if (pause !== undefined) pause.value = '3<RX,TX>';
  const diagnostics = await check({ families: ['inet4'] });
  expect(wrongs(diagnostics)).toMatchObject([
    {
      what: 'dev.cxl.0.pause_settings',
      fix: 'run `sysctl dev.cxl.0.pause_settings=0` on the sender',
    },
    { what: 'dev.cxl.0.pause_settings', fix: expect.stringContaining('on the DUT') },
    { what: 'dev.cxl.1.pause_settings', fix: expect.stringContaining('on the DUT') },
  ]);
  const trial = await sendTrial(lab);
  expect(steadyPps(trial.sender) / 5e6).toBeCloseTo(1, 1);
});

test('an unreachable machine is not checked further', async () => {
  const { check, testbed, lab } = await aLab();
  lab.dut.machine.stage = 'hung';
  for (const watcher of lab.dut.machine.watchers) watcher();
  const diagnostics = await check({ sends: true });
  expect(wrongs(diagnostics)).toMatchObject([
    {
      what: 'ssh to the DUT',
      why: expect.stringMatching(`^Cannot reach DUT \\(${testbed.dut.host}`),
      fix: expect.stringContaining('service sshd onestart'),
    },
  ]);
  expect(about(diagnostics, 'the settings of the DUT')).toMatchObject({
    kind: 'skipped',
    why: 'skipped because of this fault: ssh to the DUT',
  });
});

test('an unknown, changed or missing host key is compared before what ssh-keyscan prints is added', async () => {
  const { check, testbed, lab } = await aLab();
  const { host, port, knownHostsPath } = testbed.dut;
  const fix = `compare the fingerprint with the machine's console, remove an old line of that machine, and run \`ssh-keyscan -p ${port} ${host} >> ${knownHostsPath}\``;
  const [, other = ''] = lab.receiver.target.knownHosts.split(/ (.*)/s);
  for (const text of ['', `[${host}]:${port} ${other}`, undefined]) {
    if (text === undefined) rmSync(knownHostsPath);
    else writeFileSync(knownHostsPath, text);
    const found = wrongs(await check()).find(({ what }) => what === 'ssh to the DUT');
    expect(found).toMatchObject({ why: expect.stringMatching(/known hosts file|ENOENT/), fix });
  }
});

test('a machine without our key gets the command to add it', async () => {
  const { check, testbed } = await aLab();
  const { host, port, privateKeyPath = '' } = testbed.dut;
  writeFileSync(privateKeyPath, newKey().private);
  expect(wrongs(await check())).toMatchObject([
    {
      what: 'ssh to the DUT',
      why: expect.stringContaining('refused the login of root'),
      fix: expect.stringContaining(`\`ssh-copy-id -i ${privateKeyPath}.pub -p ${port} root@${host}\``),
    },
  ]);
});

test('power is read, and only switched on request', async () => {
  const { check, lab } = await aLab();
  const diagnostics = await check();
  expect(about(diagnostics, 'power control of the DUT')?.why).toBe('it reports that the DUT is on');
  expect(lab.dut.machine.boots).toBe(0);
});

test('a power cycle is announced, and over when the DUT is up again', async () => {
  const { check, lab, told } = await aLab();
  const diagnostics = await check({ cycles: true, sends: true });
  expect(told[0]).toBe('Power-cycling the DUT: it takes a few minutes to come up again.');
  expect(about(diagnostics, 'a power cycle of the DUT')?.why).toMatch(/^up again after 1\d\d s$/);
  expect(about(diagnostics, 'the ceiling of the generators')?.kind).toBe('ok');
  expect(lab.state().stage).toBe('up');
});

test('power control that does not obey is detected by the time of the last boot', async () => {
  const { check } = await aLab({ faults: [{ kind: 'power-lies', at: 1 }] });
  expect(wrongs(await check({ cycles: true }))).toEqual([
    {
      kind: 'wrong',
      what: 'a power cycle of the DUT',
      why: 'it reports that the DUT was off and on again, but the DUT never went down',
      fix: 'correct `power` in ppsgate.yml: it may control another machine',
    },
  ]);
});

test('power control that reports a running DUT as off belongs to another machine', async () => {
  const { check, lab } = await aLab();
  const openPower = async () => ({ ...lab.power, state: async () => 'off' as const });
  expect(wrongs(await check({ deps: { openPower } }))).toMatchObject([
    {
      what: 'power control of the DUT',
      why: 'it reports that the DUT is off, but the DUT answers over ssh',
    },
  ]);
});

describe('the console', () => {
  const console = 'the console of the DUT';

  test('is proven by a word that the DUT writes to it', async () => {
    const { check, testbed } = await aLab();
    testbed.dut.console = labConsole;
    expect(about(await check(), console)).toEqual({
      kind: 'ok',
      what: console,
      why: 'it shows what the DUT writes to /dev/console',
    });
  });

  test.each([
    ['ttyv0,/ttyv0,ttyu1,', 'the DUT writes only to ttyv0, not to a serial port'],
    ['ttyv0,ttyu1,/ttyv0,ttyu1,', 'the DUT writes to ttyv0 first, and only kernel messages to its serial port'],
  ])('of a DUT whose kern.console is %s is fixed in loader.conf', async (names, why) => {
    const { check, testbed, lab } = await aLab();
    testbed.dut.console = labConsole;
    const sysctl = lab.dut.machine.sysctls.get('kern.console');
    if (sysctl !== undefined) sysctl.value = names;
    expect(about(await check(), console)).toMatchObject({
      kind: 'wrong',
      why,
      fix: expect.stringContaining('console="comconsole,vidconsole"'),
    });
  });

  test('of another machine is detected by a command of the lab', async () => {
    const { check, testbed } = await aLab();
    testbed.dut.console = { kind: 'command', command: ['sh', '-c', 'echo other; exec sleep 600'] };
    expect(about(await check(), console)).toMatchObject({
      kind: 'wrong',
      why: 'it shows nothing of what the DUT writes to ttyu1, but received "other"',
      fix: expect.stringContaining('comconsole_port="0x2f8"'),
    });
  });

  test('that does not open is reported with its output', async () => {
    const { check, testbed } = await aLab();
    testbed.dut.console = { kind: 'command', command: ['sh', '-c', 'echo no line >&2; exit 1'] };
    expect(about(await check(), console)).toMatchObject({
      kind: 'wrong',
      why: expect.stringMatching(/cannot be opened: sh ended with 1 and wrote "no line"\.$/),
      fix: expect.stringContaining('run the command here'),
    });
  });
});

test('without power control or a builder there is nothing to check of them', async () => {
  const { check, testbed } = await aLab();
  const { power: _, ...dut } = testbed.dut;
  const diagnostics = await check({ testbed: { ...testbed, dut } });
  expect(wrongs(diagnostics)).toEqual([]);
  expect(about(diagnostics, 'power control of the DUT')?.kind).toBe('skipped');
  expect(about(diagnostics, 'the builder')?.kind).toBe('skipped');
});

test('boot environments need a root on ZFS', async () => {
  const method = 'boot-environment';
  const boot = { method, limitSeconds: 600 } as const;
  const onUfs = await aLab();
  lay(onUfs.lab.dut.machine, '/sbin/bectl');
  const { testbed } = onUfs;
  const diagnostics = await onUfs.check({ testbed: { ...testbed, dut: { ...testbed.dut, boot } } });
  expect(wrongs(diagnostics)).toMatchObject([
    { what: `the boot method, ${method}`, why: 'its root is on /dev/ada0p2, not on ZFS' },
  ]);
});

test('an appliance needs the command that installs an image, and no space in /boot', async () => {
  const { check, testbed, lab } = await aLab({ root: 'nanobsd' });
  const boot = { method: 'nanobsd', limitSeconds: 600 } as const;
  const appliance = { ...testbed, dut: { ...testbed.dut, boot } };
  expect(wrongs(await check({ testbed: appliance }))).toMatchObject([
    { what: 'the boot method, nanobsd', why: 'the DUT has no /usr/local/sbin/upgrade' },
  ]);
  lab.dut.machine.files.nodes.set('/usr/local/sbin/upgrade', {
    kind: 'file',
    bytes: Buffer.from(''),
    mode: 0o555,
  });
  const diagnostics = await check({ testbed: appliance });
  expect(wrongs(diagnostics)).toEqual([]);
  expect(about(diagnostics, 'the space in /boot of the DUT')).toBeUndefined();
});

test('two kernels need a gigabyte in /boot', async () => {
  const { check } = await aLab({ disk: { totalBytes: 5.5e9, usedBytes: 5e9 } });
  expect(wrongs(await check())).toMatchObject([{ what: 'the space in /boot of the DUT' }]);
});

test('a sender and a receiver that are two machines are looked at one by one', async () => {
  const { check } = await aLab({ cabling: { generators: 'separate' } });
  const diagnostics = await check({ sends: true });
  expect(wrongs(diagnostics)).toEqual([]);
  expect(about(diagnostics, 'pkt-gen on the sender')?.kind).toBe('ok');
  expect(about(diagnostics, 'vcxl0 of the receiver')?.kind).toBe('ok');
});

const builderOn = ({ host, port, user, privateKeyPath = '', knownHostsPath }: HostConfig): BuilderConfig => ({
  system: 'freebsd',
  host,
  port,
  user,
  privateKeyPath,
  knownHostsPath,
  folder: '/var/db/ppsgate',
  repository: '/usr/src',
  remote: 'origin',
  recipe: {
    kind: 'make',
    kernelConfig: 'GENERIC',
    clean: false,
    metaMode: true,
    toolchain: true,
    modules: 'all',
    options: [],
  },
  layoutVariants: 1,
  limitSeconds: 7200,
  turnSeconds: 7200,
  minFreeBytes: 1e6,
  cache: { maxKernels: 50, maxBytes: 20e9 },
});

test('a builder needs git, a compiler, filemon for its meta mode, and space', async () => {
  const { check, testbed } = await aLab();
  const builder = { ...builderOn(testbed.dut), minFreeBytes: 100e9 };
  const diagnostics = await check({ testbed: { ...testbed, builder } });
  expect(wrongs(diagnostics).map(({ what }) => what)).toEqual([
    'git on the builder',
    'the compiler on the builder',
    'filemon on the builder',
    'the space on the builder',
  ]);
  expect(about(diagnostics, 'the clone /usr/src')?.kind).toBe('skipped');
});

test('options that would leave out the module of a root on ZFS are wrong', async () => {
  const { lab, check, testbed } = await aLab({ root: 'zfs' });
  // Its loader.conf loads it.
  lab.dut.machine.modules.add('zfs');
  const { recipe, ...builder } = builderOn(testbed.dut);
  const withOptions = async (...options: string[]) => {
    const changed = { ...builder, recipe: { ...recipe, options } as BuilderConfig['recipe'] };
    const diagnostics = await check({ testbed: { ...testbed, builder: changed } });
    return about(diagnostics, 'the modules that the DUT has loaded');
  };
  expect(await withOptions('MODULES_OVERRIDE=pf ipfw')).toMatchObject({
    kind: 'wrong',
    why: 'the root of the DUT is on ZFS, and `MODULES_OVERRIDE=pf ipfw` leaves zfs.ko out',
    fix: 'add zfs to it, or remove it',
  });
  expect(await withOptions('MODULES_OVERRIDE=pf zfs')).toMatchObject({ kind: 'ok' });
});

/** A builder with a clone, whose folder is not there yet. */
function builderAt(sshd: Sshd, folder: string) {
  const repository = newRepository();
  commit(repository, { 'sys/kern/init_main.c': 'int main;\n' });
  const [privateKeyPath, knownHostsPath] = [join(folder, 'key'), join(folder, 'known_hosts')];
  writeFileSync(privateKeyPath, sshd.privateKey);
  writeFileSync(knownHostsPath, sshd.knownHosts);
  const { host, port, user } = sshd;
  const builder = {
    ...builderOn({ host, port, user, privateKeyPath, knownHostsPath }),
    folder: `${folder}/not/yet`,
    repository,
  };
  return { builder, repository };
}

describeWith(['root', 'setpriv', 'sshd', 'ssh-keygen', 'git'], 'a builder whose builds run in a jail', () => {
  // Attack forge/jail-sockets
  test('is reported to reach sockets of its host, if the jail has the folders of it', async () => {
    const folder = temporaryFolder();
    const programs = freebsdBuilder(folder);
    programs.startJail('ppsgate');
    const path = [programs.bin, process.env.PATH].join(delimiter);
    await using sshd = await startSshd(undefined, path);
    const { check, testbed } = await aLab();
    const jail = { name: 'ppsgate', user: 'nobody' };
    const builder = { ...builderAt(sshd, folder).builder, jail };
    chmodSync(folder, 0o755);
    const shared = mkdtempSync('/tmp/ppsgate-test-');
    onTestFinished(() => rmSync(shared, { recursive: true }));
    chmodSync(shared, 0o755);
    const socket = join(shared, 'open.sock');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen({ path: socket, writableAll: true }, resolve));
    const diagnostics = await check({ testbed: { ...testbed, builder } });
    server.close();
    expect(about(diagnostics, 'the builds on the builder')).toMatchObject({ kind: 'ok' });
    expect(about(diagnostics, 'the sockets on the builder')?.why).toMatch(
      /^builds can reach \/.*, because their jail shares the folders of its host: give the jail its own \/var\/run/,
    );
  });
});

describeWith(['sshd', 'ssh-keygen', 'git'], 'a builder that builds', () => {
  // Attack forge/jail-sockets: Makefiles of a FreeBSD patch use sockets or read command lines from the jail. Defence: A
  // jail shows no other process, and one that shares memory builds nothing; the check lists reachable sockets.
  test('has a clone, and the space for a build where its folder will be', async () => {
    const folder = temporaryFolder();
    const programs = freebsdBuilder(folder);
    programs.setFilemon(true);
    const path = [programs.bin, process.env.PATH].join(delimiter);
    await using sshd = await startSshd(undefined, path);
    const { check, testbed } = await aLab();
    const { builder, repository } = builderAt(sshd, folder);
    const diagnostics = await check({ testbed: { ...testbed, builder } });
    // The builder of tests is no FreeBSD.
    expect(wrongs(diagnostics)).toMatchObject([{ what: 'FreeBSD on the builder' }]);
    expect(about(diagnostics, `the clone ${repository}`)?.why).toMatch(/^at [0-9a-f]{12}$/);
    expect(about(diagnostics, 'the compiler on the builder')?.why).toMatch(/clang version 19/);
    expect(about(diagnostics, 'the space on the builder')?.why).toMatch(` GB free in ${folder}`);

    expect(about(diagnostics, 'the builds on the builder')?.why).toBe(
      `as ${builder.user}, who can change the whole machine: a jail would confine builds (\`jail\` in ppsgate.yml)`,
    );

    const options = ['-DWITH_EXTRA', 'PORTS_MODULES=graphics/drm-kmod'];
    const recipe = { ...builder.recipe, options } as BuilderConfig['recipe'];
    const outside = await check({ testbed: { ...testbed, builder: { ...builder, recipe } } });
    expect(about(outside, 'the cache of kernels')?.why).toBe(
      'it is not used, because PORTS_MODULES=graphics/drm-kmod may refer to files outside the tree',
    );

    expect(about(diagnostics, 'the modules that the DUT has loaded')?.why).toMatch(/^if_cxgbe of FreeBSD \d/);

    const jail = { name: 'ppsgate', user: 'nobody' };
    const jailed = () => check({ testbed: { ...testbed, builder: { ...builder, jail } } });
    expect(about(await jailed(), 'the builds on the builder')).toMatchObject({
      kind: 'wrong',
      why: 'the jail ppsgate is not running',
    });
    programs.startJail(jail.name, 'inherit inherit');
    expect(about(await jailed(), 'the builds on the builder')).toMatchObject({
      kind: 'wrong',
      why: 'the jail ppsgate has a network',
      fix: 'set `ip4 = disable; ip6 = disable;` in its /etc/jail.conf, and run `service jail restart ppsgate`',
    });
    programs.startJail(jail.name);
    programs.shareMemory(jail.name);
    expect(about(await jailed(), 'the builds on the builder')).toMatchObject({
      kind: 'wrong',
      why: expect.stringMatching(/^the jail ppsgate shares memory with /),
    });

    const elsewhere = { ...builder, repository: folder };
    expect(wrongs(await check({ testbed: { ...testbed, builder: elsewhere } }))).toMatchObject([
      { what: 'FreeBSD on the builder' },
      {
        what: `the clone ${folder}`,
        fix: `\`git clone https://git.freebsd.org/src.git ${folder}\` there`,
      },
    ]);
  });
});

test('a root from which no loader can cancel an order is wrong', async () => {
  const { check } = await aLab({ root: 'nfs' });
  expect(about(await check(), 'the boot method, nextboot')).toMatchObject({
    kind: 'wrong',
    why: '/boot is on nfs (192.0.2.9:/export/dut), where the loader cannot reset nextboot: a kernel that panics would boot again and again',
    fix: 'boot it from UFS or ZFS, as nextboot(8) requires',
  });
});
