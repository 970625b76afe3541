// Checks FreeBSD testbeds, good or spoilt.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
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

type Case = FreebsdLabOptions & {
  spoil?(checked: Checked): void;
  sends?: true;
  cycles?: true;
  changes?(checked: Checked): Partial<FreebsdCheck> & { deps?: Partial<CheckDeps> };
};

const calm = { noise: { perBoot: 0, perSecond: 0 } } as const;
const sends = { ...calm, sends: true } as const;

const portOf = ({ machine }: { machine: Machine }, name: string) => {
  const port = machine.interfaces.find((one) => one.name === name);
  if (port === undefined) throw new TypeError(`There is no ${name}.`);
  return port;
};

/** A switch brings the packets of both senders to the one port. */
const joinedBySwitch = ({ lab }: Checked): void => {
  portOf(lab.dut, 'cxl1').mac = portOf(lab.dut, 'cxl0').mac;
};

const setSysctl = ({ machine }: { machine: Machine }, name: string, value: string): void => {
  const sysctl = machine.sysctls.get(name);
  if (sysctl !== undefined) sysctl.value = value;
};

const withConsole = (...command: string[]): Case => ({
  spoil: ({ testbed }) => {
    testbed.dut.console = command.length > 0 ? { kind: 'command', command } : labConsole;
  },
});

const consoleIs = (names: string): Case => ({
  spoil: ({ lab, testbed }) => {
    testbed.dut.console = labConsole;
    setSysctl(lab.dut, 'kern.console', names);
  },
});

const bootedBy = (method: FreebsdTestbed['dut']['boot']['method']) => ({
  changes: ({ testbed }: Checked) => ({
    testbed: { ...testbed, dut: { ...testbed.dut, boot: { method, limitSeconds: 600 } } },
  }),
});

const builtWith = (changes: object, options: string[] = []) => ({
  changes: ({ testbed }: Checked) => {
    const { recipe, ...builder } = builderOn(testbed.dut);
    const changed = { ...builder, ...changes, recipe: { ...recipe, options } as BuilderConfig['recipe'] };
    return { testbed: { ...testbed, builder: changed } };
  },
});

/** Faults of a lab, and the checks that they leave out. */
const cases: Readonly<Record<string, Case>> = {
  'a good lab': {},
  'a good lab that sends': { ...sends, truth: () => 5e6 },
  'a DUT that has just booted': {
    spoil: ({ lab }) => Object.assign(lab.dut.machine.running ?? {}, { startedAt: lab.clock.now() - 43 }),
  },
  'ports that reach each other past the DUT': {
    ...sends,
    truth: () => 5e6,
    generatorPps: 9e6,
    receiverPps: 7e6,
    cabling: { loopback: true },
  },
  'machines of their own, the first of which is joined': {
    ...sends,
    cabling: { senders: 2, generators: 'separate', loopback: true },
    spoil: joinedBySwitch,
  },
  'ports that are not joined': {
    ...sends,
    cabling: { loopback: true },
    spoil: ({ testbed }) => {
      for (const sender of testbed.senders) sender.backToBack = { from: 'cxl2', to: 'cxl1' };
    },
  },
  'a receiver slower than the DUT': { ...sends, truth: () => 5e6, receiverPps: 3e6 },
  'a generator slower than the DUT': { ...sends, generatorPps: 3e6 },
  'traffic.rate above the limit of the DUT': {
    ...sends,
    changes: () => ({ traffic: { ...usualTraffic, offeredPps: 8e6 } }),
  },
  'traffic.rate below the limit of the DUT': {
    ...sends,
    changes: () => ({ traffic: { ...usualTraffic, offeredPps: 3e6 } }),
  },
  'a full wire': { ...sends, truth: () => 20e6 },
  'several senders': {
    ...sends,
    truth: () => 5e6,
    generatorPps: 4e6,
    cabling: { senders: 2 },
    spoil: joinedBySwitch,
    changes: () => ({ families: ['inet4'] }),
  },
  'no packet came through': { ...sends, faults: [{ kind: 'dead-link', at: 1 }] },
  'an interface that is down': {
    ...sends,
    spoil: ({ lab }) => {
      portOf(lab.receiver, 'vcxl1').isUp = false;
    },
  },
  'a dead link': {
    ...sends,
    spoil: ({ lab }) => {
      const { cable } = portOf(lab.dut, 'cxl0').port;
      if (cable !== undefined) cable.isDead = true;
    },
  },
  'a port that is missing': {
    changes: ({ testbed }) => ({
      testbed: { ...testbed, dut: { ...testbed.dut, ingress: { interface: 'mce0' } } },
    }),
  },
  // The trial could leave for the Internet.
  'a route that is missing': {
    ...sends,
    spoil: ({ lab: { dut } }) => {
      const { routes } = dut.machine;
      const index = routes.findIndex(({ destination }) => destination === '198.19.0.0/16');
      routes.splice(index, 1);
    },
  },
  'settings that are wrong': {
    sysctlConf: { 'net.inet.ip.redirect': '1' },
    loaderConf: { 'hw.cxgbe.pause_settings': '7' },
  },
  'settings that are waived': {
    sysctlConf: { 'net.inet.ip.redirect': '1' },
    changes: ({ testbed }) => {
      const waive = {
        'net.inet.ip.redirect': 'the site wants them.',
        'machdep.hyperthreading_allowed': '32 queues need the threads',
      };
      return { testbed: { ...testbed, waive } };
    },
  },
  'frames of 1518 bytes': { ...sends, changes: () => ({ frameSizes: [64, 1518] }) },
  'a machine that does not answer': {
    ...sends,
    spoil: ({ lab: { dut } }) => {
      dut.machine.stage = 'hung';
      for (const watcher of dut.machine.watchers) watcher();
    },
  },
  'a host key that is unknown': { spoil: ({ testbed }) => writeFileSync(testbed.dut.knownHostsPath, '') },
  'a file of known hosts that is missing': { spoil: ({ testbed }) => rmSync(testbed.dut.knownHostsPath) },
  'a host key that changed': {
    spoil: ({ lab, testbed }) => {
      const { host, port, knownHostsPath } = testbed.dut;
      const [, other = ''] = lab.receiver.target.knownHosts.split(/ (.*)/s);
      writeFileSync(knownHostsPath, `[${host}]:${port} ${other}`);
    },
  },
  'a key that is refused': {
    spoil: ({ testbed }) => writeFileSync(testbed.dut.privateKeyPath ?? '', newKey().private),
  },
  'a key that is none': { spoil: ({ testbed }) => writeFileSync(testbed.dut.privateKeyPath ?? '', 'nonsense') },
  'a key that is missing': { spoil: ({ testbed }) => rmSync(testbed.dut.privateKeyPath ?? '') },
  'power control that does not obey': { cycles: true, faults: [{ kind: 'power-lies', at: 1 }] },
  'power control of another machine': {
    changes: ({ lab }) => ({ deps: { openPower: async () => ({ ...lab.power, state: async () => 'off' as const }) } }),
  },
  'no power control': {
    spoil: ({ testbed }) => {
      delete testbed.dut.power;
    },
  },
  'a console': withConsole(),
  'a console that is no serial port': consoleIs('ttyv0,/ttyv0,ttyu1,'),
  'a console that is a serial port last': consoleIs('ttyv0,ttyu1,/ttyv0,ttyu1,'),
  'a console of another machine': withConsole('sh', '-c', 'echo other; exec sleep 600'),
  'a console that does not open': withConsole('sh', '-c', 'echo no line >&2; exit 1'),
  'boot environments without ZFS': {
    spoil: ({ lab }) => lay(lab.dut.machine, '/sbin/bectl'),
    ...bootedBy('boot-environment'),
  },
  'an appliance without its command': { root: 'nanobsd', ...bootedBy('nanobsd') },
  'nextboot from NFS': { root: 'nfs' },
  'a full disk': { disk: { totalBytes: 5.5e9, usedBytes: 5e9 } },
  'a builder that lacks everything': builtWith({ minFreeBytes: 100e9 }),
  'options that leave out the module of the root': {
    root: 'zfs',
    // Its loader.conf loads it.
    spoil: ({ lab }) => void lab.dut.machine.modules.add('zfs'),
    ...builtWith({}, ['MODULES_OVERRIDE=pf ipfw']),
  },
  'options with the module of the root': {
    root: 'zfs',
    spoil: ({ lab }) => void lab.dut.machine.modules.add('zfs'),
    ...builtWith({}, ['MODULES_OVERRIDE=pf zfs']),
  },
};

/** Replaces parts that differ from run to run. */
const masked = (line: string): string =>
  line
    .replace(/\/[\w/-]*ppsgate-test-\w+\/(?:[\d.]+\.)?/g, '')
    .replace(/127(?:\.\d+){3}/g, 'HOST')
    .replace(/(HOST[\]']?:|port |-p )\d+/g, '$1PORT')
    .replace(/SHA256:[\w+/]+/g, 'SHA256:HASH');

test('each fault has its line and its fix, and hides what depends on it', async () => {
  let usual: string[] = [];
  let text = '';
  for (const [name, { spoil, sends = false, cycles = false, changes, ...options }] of Object.entries(cases)) {
    const checked = await aLab(options);
    spoil?.(checked);
    const diagnostics = await checked.check({ sends, cycles, ...changes?.(checked) });
    const lines = diagnostics.map((diagnostic) => {
      const fix = diagnostic.kind === 'wrong' ? `\n    fix: ${diagnostic.fix}` : '';
      return masked(`  ${diagnostic.kind} ${diagnostic.what}: ${diagnostic.why}${fix}`);
    });
    if (usual.length === 0) usual = lines;
    const differing = usual === lines ? lines : lines.filter((line) => !usual.includes(line));
    text += `${[name, ...checked.told.map((told) => `  told: ${told}`), ...differing].join('\n')}\n\n`;
  }
  await expect(text).toMatchFileSnapshot('golden/freebsd-check.txt');
});

test('what is not asked for is not done: no packet and no power cycle', async () => {
  const { check, lab, told } = await aLab();
  await check();
  expect(told).toEqual([]);
  expect(lab.dut.machine.boots).toBe(0);
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

test('a power cycle is announced, and over when the DUT is up again', async () => {
  const { check, lab, told } = await aLab();
  const diagnostics = await check({ cycles: true, sends: true });
  expect(told[0]).toBe('Power-cycling the DUT: it takes a few minutes to come up again.');
  expect(about(diagnostics, 'a power cycle of the DUT')?.why).toMatch(/^up again after 1\d\d s$/);
  expect(about(diagnostics, 'the ceiling of the generators')?.kind).toBe('ok');
  expect(lab.state().stage).toBe('up');
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
