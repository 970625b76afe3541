// The machines in their initial state: a DUT set up for a benchmark, and generators.
import { driverSettingsOf } from '../../../src/model/freebsd-drivers.ts';
import type { Cabling } from './cabling.ts';
import { labConsole } from './console.ts';
import { cpuTimesFrom } from './cpu.ts';
import { fileSystem, makeFolder, writeFile } from './file-system.ts';
import { freshIpfw, noPf } from './firewall.ts';
import { allModules, type KernelText, kernelText } from './kernel.ts';
import type { Crashes, Machine, RealTimeClock, Timing } from './machine.ts';
import { noPacketCounts } from './packet-counts.ts';
import { fstabOf, type RootKind, rootOf } from './root.ts';
import { makeTar } from './tar.ts';

export type DutOptions = Partial<Pick<Machine, 'name' | 'firmwareText' | 'leases' | 'product' | 'hasPciNames'>> & {
  /** Its own kernel, in /boot/kernel; absent: `base`. */
  kernel?: KernelText;
  /** Absent: 120, 5 and 30 s. */
  timing?: Partial<Timing>;
  /** Absent: 2000 messages, which a reset keeps, and dumps that are saved 20 s after the first login. */
  crashes?: Partial<Crashes>;
  /** Absent: correct. */
  realTimeClock?: RealTimeClock;
  /** Sysctls that depend on its hardware: `hw.model`, `hw.ncpu`; absent: eight cores of an old Xeon. */
  hardware?: Readonly<Record<string, string>>;
  /** Absent: 20 GB with 5 GB used. */
  disk?: { totalBytes: number; usedBytes: number };
  /** Overrides of its /boot/loader.conf and /etc/sysctl.conf, which are set for a benchmark. */
  loaderConf?: Readonly<Record<string, string>>;
  sysctlConf?: Readonly<Record<string, string>>;
  ownFirewalls?: Machine['ownFirewalls'];
  /** Kind of its root; absent: `ufs`. On `nanobsd` only /etc, /var, /tmp and /root are writable. */
  root?: RootKind;
  /** Texts that replace its initial files, by path; a machine with an /etc/rc.conf is set up by that alone. */
  files?: Files;
};

export type Files = Readonly<Record<string, string>>;

/** Powered off, with everything on its disk. */
export function dutOf(wires: Pick<Cabling, 'dut'>, options: DutOptions): Machine {
  const { disk = { totalBytes: 20e9, usedBytes: 5e9 }, kernel = { ident: 'base' }, root = 'ufs' } = options;
  const machine = bareMachine(options.name ?? 'dut', disk);
  const { files } = machine;
  makeFolder(files, '/boot/kernel');
  writeFile(files, '/boot/kernel/kernel', kernelText(kernel), 0o555);
  for (const name of allModules) writeFile(files, `/boot/kernel/${name}.ko`, `module ${name}\n`);
  const ports = portsConf(wires.dut.interfaces);
  const ofLoader = { ...loaderConf, ...ports.loader, ...options.loaderConf };
  writeFile(files, '/boot/loader.conf', settingsText(ofLoader));
  const ofSysctl = { ...sysctlConf, ...ports.sysctl, ...options.sysctlConf };
  writeFile(files, '/etc/sysctl.conf', settingsText(ofSysctl));
  if (root === 'nanobsd' || root === 'nanobsd-gpt') {
    makeFolder(files, '/mnt');
    makeFolder(files, '/cfg');
    writeFile(files, '/etc/fstab', fstabOf(root === 'nanobsd' ? 'MBR' : 'GPT'));
    files.writable = ['/etc', '/var', '/tmp', '/root'];
  }
  for (const [path, text] of Object.entries(options.files ?? {})) writeFile(files, path, text);
  const its = rootOf(root);
  if (its.kind === 'zfs') {
    files.unmounted = () => [...its.all.values()].flatMap(({ tree }) => [...tree.values()]);
  }
  return {
    ...machine,
    root: its,
    interfaces: wires.dut.interfaces,
    routes: [...wires.dut.routes],
    neighbours: [...wires.dut.neighbours],
    hardware: options.hardware ?? {},
    timing: { ...machine.timing, ...options.timing },
    crashes: { ...machine.crashes, ...options.crashes },
    realTimeClock: options.realTimeClock ?? machine.realTimeClock,
    clockAhead: options.realTimeClock?.aheadSeconds ?? 0,
    ownFirewalls: options.ownFirewalls ?? [],
    leases: options.leases ?? machine.leases,
    product: options.product ?? machine.product,
    hasPciNames: options.hasPciNames ?? true,
    ...(options.firmwareText !== undefined && { firmwareText: options.firmwareText }),
  };
}

/** The image of an appliance's slice with that kernel, as `upgrade` reads it. */
export function sliceImage(kernel: KernelText): Buffer {
  const files = new Map([
    ['boot/loader.conf', settingsText(loaderConf)],
    ['boot/kernel/kernel', kernelText(kernel)],
  ]);
  for (const name of allModules) files.set(`boot/kernel/${name}.ko`, `module ${name}\n`);
  return makeTar(files);
}

/** Settings that keep ports from pausing their senders. */
function portsConf(interfaces: Machine['interfaces']) {
  const settings = interfaces.flatMap(({ name }) =>
    driverSettingsOf(name).filter(
      ({ appliesToGenerators, permanent }) => appliesToGenerators && permanent === undefined,
    ),
  );
  const named = (isOfLoader: boolean) =>
    Object.fromEntries(settings.filter(({ fix }) => (fix !== 'sysctl') === isOfLoader).map(({ name }) => [name, '0']));
  return { loader: named(true), sysctl: named(false) };
}

const loaderConf = {
  'debug.debugger_on_panic': '0',
  'hw.cxgbe.fw_install': '0',
  'hw.cxgbe.pause_settings': '0',
  'hw.cxgbe.toecaps_allowed': '0',
  'machdep.hyperthreading_allowed': '0',
  'net.inet.ip.fw.default_to_accept': '1',
  'net.isr.bindthreads': '1',
  'net.isr.maxthreads': '-1',
};

const sysctlConf = {
  'kern.random.harvest.mask': '351',
  'net.inet.ip.forwarding': '1',
  'net.inet.ip.redirect': '0',
  'net.inet6.ip6.forwarding': '1',
  'net.inet6.ip6.redirect': '0',
};

const settingsText = (settings: Readonly<Record<string, string>>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name}="${value}"\n`)
    .join('');

export function generatorOf(name: string, interfaces: Machine['interfaces']): Machine {
  const machine: Machine = { ...bareMachine(name, { totalBytes: 20e9, usedBytes: 5e9 }), interfaces };
  makeFolder(machine.files, '/boot/kernel');
  const { loader, sysctl } = portsConf(interfaces);
  const ofLoader = { ...loader, 'hw.cxgbe.pause_settings': '0' };
  writeFile(machine.files, '/boot/loader.conf', settingsText(ofLoader));
  writeFile(machine.files, '/etc/sysctl.conf', settingsText(sysctl));
  writeFile(machine.files, '/boot/kernel/kernel', kernelText({ ident: 'generator' }), 0o555);
  return machine;
}

/** Powered off, until `startUp`. */
const bareMachine = (name: string, disk: { totalBytes: number; usedBytes: number }): Machine => ({
  name,
  files: fileSystem(disk.totalBytes, disk.usedBytes),
  interfaces: [],
  leases: new Map(),
  hostname: name,
  stuck: undefined,
  routes: [],
  neighbours: [],
  ofRcConf: undefined,
  hardware: {},
  product: 'HP ProLiant DL360p Gen8',
  hasPciNames: true,
  timing: { bootSeconds: 120, shutdownSeconds: 5, dumpSeconds: 30 },
  realTimeClock: { aheadSeconds: 0 },
  clockAhead: 0,
  root: rootOf('ufs'),
  stage: 'off',
  power: 'on',
  boots: 0,
  running: undefined,
  environment: new Map(),
  sysctls: new Map(),
  modules: new Set(),
  pf: noPf(),
  ipfw: freshIpfw(true),
  messages: [],
  console: labConsole(),
  crashes: { maxMessages: 2000, keepsMessages: true, dumpsTo: 'disk', saveSeconds: 20 },
  ownFirewalls: [],
  busyCpus: 0,
  cpuTimes: cpuTimesFrom(0),
  packetCounts: noPacketCounts(),
  isOverloaded: false,
  isCutOff: false,
  lacks: new Set(),
  programs: new Set(),
  watchers: new Set(),
});
