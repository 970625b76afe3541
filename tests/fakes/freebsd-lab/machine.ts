// A FreeBSD machine: its disk, its network, and its programs.
import type { CardName } from './cards.ts';
import type { Clock } from './clock.ts';
import type { LabConsole } from './console.ts';
import type { CpuTimes } from './cpu.ts';
import type { Faults } from './faults.ts';
import type { FileSystem } from './file-system.ts';
import { freshIpfw, type Ipfw, ipfwSwitches, noPf, type Pf, scenarioInForce } from './firewall.ts';
import type { Kernel } from './kernel.ts';
import type { PacketCounts } from './packet-counts.ts';
import type { Root } from './root.ts';
import { integer, type Sysctls, valueOfSysctl } from './sysctls.ts';
import type { Port } from './wiring.ts';

export type PowerState = 'on' | 'off';

export type Stage =
  /** Firmware, loader, kernel, rc: sshd does not listen yet. */
  | 'booting'
  | 'up'
  /** sshd still replies. */
  | 'shutting-down'
  | 'panicked'
  /** Until its power is cycled. */
  | 'hung'
  | 'off';

export type Interface = {
  name: string;
  mac: string;
  port: Port;
  mediaBits: number;
  mtu: number;
  card: CardName;
  /** `inet …` and `inet6 …` lines of ifconfig(8). */
  addresses: readonly string[];
  /** Capabilities that are on: `RXCSUM`, `TSO4`, `LRO`… */
  capabilities: Set<string>;
  isUp: boolean;
};

export type Route = {
  family: 'inet' | 'inet6';
  destination: string;
  gateway: string;
  flags: string;
  interface: string;
};
export type Neighbour = {
  family: 'inet' | 'inet6';
  address: string;
  mac: string;
  interface: string;
};

export type Running = {
  kernel: Kernel;
  /** `/boot/kernel/kernel`. */
  file: string;
  /** `kern.boottime`. */
  startedAt: number;
};

export type Machine = {
  readonly name: string;
  readonly files: FileSystem;
  interfaces: readonly Interface[];
  readonly routes: Route[];
  readonly neighbours: Neighbour[];
  /** Values of rc.conf for both, if commands or a kernel have changed them since; a boot restores them. */
  ofRcConf: { routes: readonly Route[]; neighbours: readonly Neighbour[] } | undefined;
  /** ifconfig(8) lines that DHCP gives its cards, by MAC address. Without them its sshd is unreachable. */
  readonly leases: ReadonlyMap<string, string>;
  /** From its rc.conf. */
  hostname: string;
  /** Sysctls that depend on its hardware: `hw.model`… */
  hardware: Readonly<Record<string, string>>;
  /** From its SMBIOS. */
  readonly product: string;
  /** pci_vendors(5) is not installed everywhere. */
  readonly hasPciNames: boolean;
  readonly timing: Timing;
  readonly realTimeClock: RealTimeClock;
  readonly root: Root;
  stage: Stage;
  power: PowerState;
  /** Lead of its clock over the lab's, in seconds: kern.boottime moves with it when it is set. */
  clockAhead: number;
  /** Since the start of the fake lab, including unfinished ones. */
  boots: number;
  running: Running | undefined;
  /** Environment of the kernel, see kenv(1): what the loader hands over, and what is added later. */
  environment: Map<string, string>;
  sysctls: Sysctls;
  modules: Set<string>;
  pf: Pf;
  ipfw: Ipfw;
  /** Output of `dmesg -a`: survives a reboot, but not a loss of power. `notify` appends to it. */
  messages: string[];
  readonly crashes: Crashes;
  /** Firewalls that its rc.conf starts; they pass everything. */
  ownFirewalls: readonly ('pf' | 'ipfw')[];
  /** CPUs that other work keeps busy, for hours. */
  busyCpus: number;
  cpuTimes: CpuTimes;
  packetCounts: PacketCounts;
  readonly console: LabConsole;
  /**
   * Firmware output on the serial line, where loader and kernel print as configured in loader.conf(5), like on a PC;
   * absent: a machine that prints all its output there.
   */
  readonly firmwareText?: string;
  /** Hangs until the machine is reset. */
  stuck: { kernel: Kernel; at: string } | undefined;
  /** Packets use all its CPU time, and leave none for sshd. */
  isOverloaded: boolean;
  /** Its management network is down: its sshd is unreachable. */
  isCutOff: boolean;
  /** Programs that are not installed on it. */
  readonly lacks: Set<string>;
  /** Commands that run, each ended by its function. */
  readonly programs: Set<() => void>;
  /** Called after every change of `stage`, and of whether the machine replies. */
  readonly watchers: Set<() => void>;
};

/** Clock that a boot reads, and the time until ntpd(8) corrects it; absent: never. */
export type RealTimeClock = { aheadSeconds: number; setAfterSeconds?: number };

/** Traces of a panic. */
export type Crashes = {
  /** The oldest messages are dropped for new ones. */
  maxMessages: number;
  /** Some firmware clears the memory at every reset. */
  keepsMessages: boolean;
  /** A dump over the network leaves nothing on the machine. */
  dumpsTo: 'disk' | 'network' | 'nowhere';
  /** savecore(8) is not ordered against sshd: it ends this long after the first login is possible. */
  saveSeconds: number;
};

/** printf(9): to the message buffer, and to the console. */
export function notify(machine: Machine, ...lines: readonly string[]): void {
  machine.console.print(lines.map((line) => `${line}\n`).join(''));
  machine.messages = [...machine.messages, ...lines].slice(-machine.crashes.maxMessages);
}

export type Timing = { bootSeconds: number; shutdownSeconds: number; dumpSeconds: number };

/** `faults` are those that this machine may meet. */
export type Deps = { clock: Clock; faults: Faults };

export function setOverloaded(machine: Machine, isOverloaded: boolean): void {
  if (machine.isOverloaded === isOverloaded) return;
  machine.isOverloaded = isOverloaded;
  tellWatchers(machine);
}

export function setCutOff(machine: Machine, isCutOff: boolean): void {
  machine.isCutOff = isCutOff;
  tellWatchers(machine);
}

/** The network does not reply: it is overloaded, or its firewall passes nothing. */
export const isDeaf = (machine: Machine): boolean =>
  machine.isOverloaded || (machine.stage === 'up' && scenarioInForce(machine) === 'blocked');

export function tellWatchers({ watchers }: Machine): void {
  for (const watcher of watchers) watcher();
}

/** Effects of loading a module. */
export function addModule(machine: Machine, name: string): void {
  machine.modules.add(name);
  if (name !== 'ipfw') return;
  machine.ipfw = freshIpfw(machine.environment.get('net.inet.ip.fw.default_to_accept') === '1');
  for (const name of Object.values(ipfwSwitches)) machine.sysctls.set(name, integer(1, 0, 1));
  machine.sysctls.set('net.inet.ip.fw.dyn_count', { ...integer(0), access: 'read-only' });
  machine.sysctls.set('net.inet.ip.fw.default_to_accept', {
    ...integer(machine.ipfw.acceptsByDefault ? 1 : 0),
    access: 'tunable',
  });
}

export function dropModule(machine: Machine, name: string): void {
  machine.modules.delete(name);
  if (name === 'pf') machine.pf = noPf();
  if (name !== 'ipfw') return;
  machine.ipfw = freshIpfw(machine.ipfw.acceptsByDefault);
  for (const sysctl of ['dyn_count', 'default_to_accept']) {
    machine.sysctls.delete(`net.inet.ip.fw.${sysctl}`);
  }
  for (const name of Object.values(ipfwSwitches)) machine.sysctls.delete(name);
}

/** Call it before changing routes or neighbours by anything but rc.conf. */
export function keepRcConf(machine: Machine): void {
  const { routes, neighbours } = machine;
  machine.ofRcConf ??= { routes: [...routes], neighbours: [...neighbours] };
}

/** Routes and neighbours as a boot makes them. */
export function readRcConf(machine: Machine): void {
  const { ofRcConf } = machine;
  machine.ofRcConf = undefined;
  if (ofRcConf === undefined) return;
  machine.routes.splice(0, machine.routes.length, ...ofRcConf.routes);
  machine.neighbours.splice(0, machine.neighbours.length, ...ofRcConf.neighbours);
}

export const nextbootFile = '/boot/nextboot.conf';

export const interfaceNamed = (machine: Machine, name: string): Interface | undefined =>
  machine.interfaces.find((one) => one.name === name);

/** net.isr cannot spread the load if RSS is compiled in and it has only one thread. */
export const isStarved = (machine: Machine): boolean =>
  (machine.running?.kernel.options.some((line) => /^options\s+RSS\b/.test(line)) ?? false) &&
  (valueOfSysctl(machine.sysctls, 'net.isr.maxthreads') !== -1 ||
    valueOfSysctl(machine.sysctls, 'net.isr.bindthreads') !== 1);
