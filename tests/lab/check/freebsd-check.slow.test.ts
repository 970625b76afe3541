// Checks FreeBSD testbeds, good or spoilt.

import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { BuilderConfig } from '../../../src/config/builder.ts';
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
import { depsOf, labConsole, testbedOf, usualTraffic } from '../../fakes/freebsd-testbed.ts';
import { commit, newRepository } from '../../fakes/repository.ts';
import { startSshd } from '../../fakes/sshd.ts';
import { describeWith } from '../../needs.ts';
import { builderAt } from '../builder-config.ts';

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
    const { recipe, ...builder } = builderAt(testbed.dut);
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
  'a wrong MAC address': {
    sends: true,
    changes: ({ testbed }) => {
      const senders = testbed.senders.map((sender) => ({ ...sender, mac: '00:07:43:2e:e2:70' }));
      return { testbed: { ...testbed, senders }, families: ['inet4'] };
    },
  },
  // The sender is then as slow as the DUT.
  'a sender that heeds pause frames of the DUT': {
    loaderConf: { 'hw.cxgbe.pause_settings': '3' },
    spoil: ({ lab }) => {
      for (const sender of lab.senders) setSysctl(sender, 'dev.cxl.0.pause_settings', '3<RX,TX>');
    },
  },
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
  'a power cycle': { cycles: true },
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

const linesOf = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics.map((diagnostic) => {
    const fix = diagnostic.kind === 'wrong' ? `\n    fix: ${diagnostic.fix}` : '';
    return masked(`  ${diagnostic.kind} ${diagnostic.what}: ${diagnostic.why}${fix}`);
  });

test('each fault has its line and its fix, and hides what depends on it', async () => {
  let usual: string[] = [];
  let text = '';
  for (const [name, { spoil, sends = false, cycles = false, changes, ...options }] of Object.entries(cases)) {
    const checked = await aLab(options);
    spoil?.(checked);
    const lines = linesOf(await checked.check({ sends, cycles, ...changes?.(checked) }));
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

type Programs = ReturnType<typeof freebsdBuilder>;
type BuilderCase = { changes?: Partial<BuilderConfig>; options?: string[]; start?(programs: Programs): void };

const jail = { name: 'ppsgate', user: 'nobody' };

/** Later cases find what earlier ones started. */
const builderCases: Readonly<Record<string, BuilderCase>> = {
  'a builder that builds': {},
  'options that may refer to files outside the tree': { options: ['PORTS_MODULES=graphics/drm-kmod'] },
  'no clone': { changes: { repository: '/nonexistent' } },
  'a jail that is not running': { changes: { jail } },
  'a jail with a network': { changes: { jail }, start: (programs) => programs.startJail(jail.name, 'inherit inherit') },
  'a jail whose builds reach sockets of the host': {
    changes: { jail },
    start: (programs) => programs.startJail(jail.name),
  },
  'a jail that shares memory': { changes: { jail }, start: (programs) => programs.shareMemory(jail.name) },
};

describeWith(['root', 'setpriv', 'sshd', 'ssh-keygen', 'git'], 'a builder', () => {
  test('has a line for its clone, its space, and what its builds may reach', async () => {
    const folder = temporaryFolder();
    const programs = freebsdBuilder(folder);
    programs.setFilemon(true);
    await using sshd = await startSshd(undefined, [programs.bin, process.env.PATH].join(delimiter));
    const repository = newRepository();
    commit(repository, { 'sys/kern/init_main.c': 'int main;\n' });
    const [privateKeyPath, knownHostsPath] = [join(folder, 'key'), join(folder, 'known_hosts')];
    writeFileSync(privateKeyPath, sshd.privateKey);
    writeFileSync(knownHostsPath, sshd.knownHosts);
    const { host, port, user } = sshd;
    const { recipe, ...usual } = builderAt({ host, port, user, privateKeyPath, knownHostsPath });
    const shared = mkdtempSync('/tmp/ppsgate-test-');
    onTestFinished(() => rmSync(shared, { recursive: true }));
    for (const open of [shared, folder]) chmodSync(open, 0o755);
    await using server = createServer();
    server.listen({ path: join(shared, 'open.sock'), writableAll: true });
    await once(server, 'listening');
    const { check, testbed } = await aLab();
    let text = '';
    for (const [name, { changes, options = [], start }] of Object.entries(builderCases)) {
      start?.(programs);
      const changed = { ...recipe, options } as BuilderConfig['recipe'];
      const builder = { ...usual, folder: `${folder}/not/yet`, repository, recipe: changed, ...changes };
      const lines = linesOf(await check({ testbed: { ...testbed, builder } }));
      const own = lines.filter((line) => / the (?:clone|cache|compiler|space on|builds|sockets|modules) /.test(line));
      text += `${[name, ...own].join('\n').replace(/at [0-9a-f]{12}$/gm, 'at COMMIT')}\n\n`;
    }
    text = text
      .replaceAll(repository, 'CLONE')
      .replaceAll(user, 'USER')
      .replace(/[\d.]+ GB free in .*/g, 'GB free in FOLDER')
      .replace(/builds can reach .*, because/, 'builds can reach SOCKETS, because');
    await expect(text).toMatchFileSnapshot('golden/builder-check.txt');
  });
});
