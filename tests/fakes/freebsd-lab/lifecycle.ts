// Boots, reboots, panics, hangs and power losses of a machine.
import { dirname } from 'node:path/posix';
import { cpuTimesFrom } from './cpu.ts';
import { dumpCore, saveCore } from './crash.ts';
import type { FaultKind } from './faults.ts';
import { nodeAt, remove, textOf, writeFile } from './file-system.ts';
import { freshIpfw, noPf } from './firewall.ts';
import { type Kernel, readKernel } from './kernel.ts';
import {
  addModule,
  type Deps,
  keepRcConf,
  type Machine,
  nextbootFile,
  notify,
  type PowerState,
  readRcConf,
  type Stage,
  tellWatchers,
} from './machine.ts';
import { noPacketCounts } from './packet-counts.ts';
import { startRc } from './rc.ts';
import { switchRoot } from './root.ts';
import { addPort, applySettings, defaultSysctls, readOnly, readSettings, valueOfSysctl } from './sysctls.ts';
import { bounce } from './wiring.ts';

/** Starts with an uptime of a day. */
export function startUp(machine: Machine, { clock }: Deps): void {
  load(machine, chooseKernel(machine, false), clock.now() - 86_400);
  startServices(machine, clock.now());
}

/** Simulates shutdown(8) -r now: programs end and connections drop after a while. */
export function reboot(machine: Machine, deps: Deps): void {
  if (machine.stage !== 'up') return;
  enter(machine, 'shutting-down');
  notify(machine, "Waiting (max 60 seconds) for system process `syncer' to stop... done");
  later(machine, deps, machine.timing.shutdownSeconds, () => boot(machine, deps));
}

/**
 * Panics at once: running programs are gone, the memory is dumped, and the machine reboots. A kernel with a debugger
 * stops at its prompt instead, unless configured otherwise.
 */
export function panic(machine: Machine, deps: Deps, reason: string, { isBeforeDumpon = false } = {}): void {
  if (hasDebugger(machine) && valueOfSysctl(machine.sysctls, 'debug.debugger_on_panic') === 1) {
    notify(machine, `panic: ${reason}`, 'KDB: enter: panic');
    machine.console.print(
      '[ thread pid 11 tid 100003 ]\nStopped at      kdb_enter+0x33: movq    $0,0xfd9962(%rip)\ndb> ',
    );
    enter(machine, 'hung');
    return;
  }
  dumpCore(machine, deps, { reason, isBeforeDumpon });
  enter(machine, 'panicked');
  later(machine, deps, machine.timing.dumpSeconds, () => boot(machine, deps));
}

/** Lasts until its power is cycled. */
export function hang(machine: Machine, at = 'cpu_spinwait+0x2'): void {
  machine.stuck = machine.running && { kernel: machine.running.kernel, at };
  enter(machine, 'hung');
}

export const hasDebugger = ({ running }: Machine): boolean => hasDdb(running?.kernel);

const hasDdb = (kernel: Kernel | undefined): boolean =>
  kernel?.options.some((line) => /^options\s+DDB\b/.test(line)) ?? false;

/** Resets like the button: its memory keeps its content. */
export function reset(machine: Machine, deps: Deps): void {
  if (machine.power === 'on') boot(machine, deps);
}

/**
 * A non-maskable interrupt, whose source neither port 0x61 nor 0x461 reports: nmi_call_kdb() of
 * sys/x86/x86/cpu_machdep.c passes it to the debugger, and continues if kdb_trap() finds none.
 */
export function interrupt(machine: Machine): void {
  const stuck = machine.stuck ?? idleIn(machine);
  if (stuck === undefined) return;
  machine.messages.push('NMI ISA 20, EISA ff');
  notify(machine, 'NMI/cpu0 ... going to debugger');
  if (!hasDdb(stuck.kernel)) return;
  const prompt = '[ thread pid 12 tid 100029 ]\nStopped at      ';
  machine.console.print(`${prompt}${stuck.at}:  movq    %rdi,%rax\ndb> `);
  machine.stuck = stuck;
  enter(machine, 'hung');
}

const idleIn = ({ running }: Machine): Machine['stuck'] => running && { kernel: running.kernel, at: 'acpi_cpu_c1+0xb' };

export function setPower(machine: Machine, deps: Deps, power: PowerState): void {
  if (machine.power === power) return;
  machine.power = power;
  if (power === 'on') {
    boot(machine, deps);
    return;
  }
  machine.messages = [];
  enter(machine, 'off');
}

function boot(machine: Machine, deps: Deps): void {
  machine.boots += 1;
  machine.stuck = undefined;
  if (!machine.crashes.keepsMessages) machine.messages = [];
  machine.isCutOff = false;
  enter(machine, 'booting');
  startFirmware(machine);
  for (const { port } of machine.interfaces) bounce(port, deps.clock.now(), machine.timing.bootSeconds);
  const meets = (kind: FaultKind) => deps.faults.take(kind, machine.boots) !== undefined;
  const isWrong = meets('wrong-kernel');
  switchRoot(machine.root, machine.files, isWrong);
  const chosen = chooseKernel(machine, isWrong);
  const half = machine.timing.bootSeconds / 2;
  later(machine, deps, half, () => {
    machine.console.print(`Loading kernel...\n${chosen.file} |\b/\b-\b\\\b`);
    // Without a kernel the loader stays at its prompt.
    if (chosen.kernel === undefined) {
      machine.console.print(`\ncan't load '${chosen.file}'\n\nOK `);
      return enter(machine, 'hung');
    }
    machine.console.print('text=0x186a5b0 data=0x140+0x2d2f70 |\n');
    load(machine, chosen, deps.clock.now());
    if (lacksRoot(machine, chosen.file)) return enter(machine, 'hung');
    const { behaviour } = chosen.kernel;
    const isBeforeDumpon = true;
    if (meets('panic-at-boot')) return panic(machine, deps, 'page fault', { isBeforeDumpon });
    if (behaviour.kind === 'panics-at-boot') {
      return panic(machine, deps, behaviour.panic, { isBeforeDumpon });
    }
    if (meets('hang-at-boot') || behaviour.kind === 'hangs-at-boot') {
      notify(machine, 'Trying to mount root from ufs:/dev/ada0p2 [rw]...');
      return hang(machine);
    }
    later(machine, deps, half, () => {
      if (behaviour.kind === 'panics-in-rc') return panic(machine, deps, behaviour.panic);
      startServices(machine, deps.clock.now());
      startTimeKeeping(machine, deps);
      later(machine, deps, machine.crashes.saveSeconds, () => saveCore(machine));
    });
  });
}

function startFirmware(machine: Machine): void {
  const { console, firmwareText } = machine;
  if (firmwareText === undefined) return;
  console.isOn = true;
  console.print(firmwareText);
  console.isOn = /\bcomconsole\b/.test(loaderSettings(machine).get('console') ?? '');
}

/** Without zfs.ko the kernel stops at `mountroot>`: the loader looks in the kernel's own folder, and in /boot/modules. */
const lacksRoot = ({ root, files }: Machine, kernel: string): boolean =>
  root.kind === 'zfs' && ![dirname(kernel), '/boot/modules'].some((folder) => nodeAt(files, `${folder}/zfs.ko`));

/** Acts only if nothing else has happened to the machine before. */
function later(machine: Machine, deps: Deps, seconds: number, act: () => void): void {
  const { stage, boots } = machine;
  deps.clock.after(seconds, () => {
    if (machine.stage === stage && machine.boots === boots) act();
  });
}

function enter(machine: Machine, stage: Stage): void {
  machine.stage = stage;
  if (stage !== 'up' && stage !== 'shutting-down') {
    machine.running = undefined;
    machine.isOverloaded = false;
    for (const end of [...machine.programs]) end();
  }
  tellWatchers(machine);
}

/** `settings` are those of nextboot.conf, for that boot only. */
type Chosen = { file: string; kernel: Kernel | undefined; settings: ReadonlyMap<string, string> };

/** Chooses the system that loader(8) starts: nextboot.conf counts once, and is disabled before the kernel is read. */
function chooseKernel(machine: Machine, ignoresNextboot: boolean): Chosen {
  const loader = loaderSettings(machine);
  const nextboot = readSettings(textOf(machine.files, nextbootFile) ?? '');
  const isOrdered = takeOrder(machine, nextboot);
  const settings = isOrdered && !ignoresNextboot ? nextboot : new Map<string, string>();
  const file = `/boot/${settings.get('kernel') ?? loader.get('kernel') ?? 'kernel'}/kernel`;
  const node = nodeAt(machine.files, file);
  return { file, kernel: readKernel(node?.kind === 'file' ? node.bytes : undefined), settings };
}

/** The last of two equal lines counts. */
const loaderSettings = ({ files }: Machine): Map<string, string> =>
  new Map(
    ['/boot/loader.conf', '/boot/loader.conf.local'].flatMap((path) => [...readSettings(textOf(files, path) ?? '')]),
  );

/**
 * Removes the order before the kernel is read, if the loader can: from the file on UFS, from the pool on ZFS. Otherwise
 * the order stays until rc(8) removes the file.
 */
function takeOrder({ root, files }: Machine, nextboot: ReadonlyMap<string, string>): boolean {
  if (nextboot.size === 0) return false;
  if (root.kind === 'nfs') return true;
  if (root.kind === 'zfs') {
    const isOrdered = root.nvstore.get('nextboot_enable') === 'YES';
    if (isOrdered) root.nvstore.set('nextboot_enable', 'NO');
    return isOrdered;
  }
  if (nextboot.get('nextboot_enable') !== 'YES') return false;
  const text = textOf(files, nextbootFile) ?? '';
  writeFile(files, nextbootFile, text.replace('"YES"', '"NO" '));
  return true;
}

/** The kernel runs; everything that a boot forgets is reset. */
function load(machine: Machine, { file, kernel, settings }: Chosen, startedAt: number): void {
  if (kernel === undefined) throw new TypeError(`${machine.name} has no kernel in ${file}.`);
  machine.running = { kernel, file, startedAt };
  machine.cpuTimes = cpuTimesFrom(startedAt);
  machine.packetCounts = noPacketCounts();
  machine.clockAhead = machine.realTimeClock.aheadSeconds;
  machine.sysctls = defaultSysctls();
  if (machine.interfaces.some(({ name }) => name.startsWith('cxl'))) {
    machine.sysctls.set('dev.t5nex.0.firmware_version', readOnly('1.25.0.0'));
  }
  for (const [name, value] of Object.entries(machine.hardware)) {
    machine.sysctls.set(name, readOnly(value));
  }
  // A virtual machine has no driver of frequencies.
  if (machine.hardware['hw.model']?.startsWith('QEMU')) machine.sysctls.delete('dev.cpu.0.freq');
  const loader = new Map([...loaderSettings(machine), ...settings]);
  applySettings(machine.sysctls, loader, 'tunable');
  machine.environment = new Map([...ofLoader(machine, file), ...loader]);
  setConsole(machine);
  for (const { name } of machine.interfaces) addPort(machine.sysctls, name, loader);
  machine.modules = new Set([
    // GENERIC contains virtio's driver.
    ...(machine.interfaces.every(({ card }) => card === 'virtio') ? [] : ['if_cxgbe']),
    ...(machine.root.kind === 'zfs' ? ['zfs'] : []),
  ]);
  machine.pf = noPf();
  machine.ipfw = freshIpfw(loader.get('net.inet.ip.fw.default_to_accept') === '1');
  notify(machine, '---<<BOOT>>---', kernel.version, 'real memory  = 34359738368 (32768 MB)');
}

/** Variables that loader(8) adds to loader.conf, as far as used; SMBIOS names the machine's maker. */
const ofLoader = ({ product }: Machine, file: string): [string, string][] => [
  ['bootfile', 'kernel'],
  ['currdev', 'disk0p2:'],
  ['kernelname', file],
  ['loaddev', 'disk0p2:'],
  ['module_path', `${dirname(file)};/boot/modules`],
  ['smbios.system.product', product],
];

/** The screen, unless the loader sets another; machines without an /etc/rc.conf have a serial console. */
function setConsole({ files, environment, sysctls, console, firmwareText }: Machine): void {
  const isOn = (name: string) => /^yes$/i.test(environment.get(name) ?? '');
  const consoles = environment.get('console') ?? '';
  const isSerial = isOn('boot_serial') || consoles.startsWith('comconsole');
  if (firmwareText !== undefined) {
    console.isOn = isSerial || isOn('boot_multicons') || consoles.includes('comconsole');
  }
  const shown = sysctls.get('kern.console');
  if (shown === undefined || isSerial || textOf(files, '/etc/rc.conf') === undefined) return;
  shown.value = 'ttyv0,/ttyv0,ttyu1,';
}

/** ntpd(8) steps the clock once it knows the offset. */
function startTimeKeeping(machine: Machine, deps: Deps): void {
  const { setAfterSeconds } = machine.realTimeClock;
  if (setAfterSeconds === undefined) return;
  later(machine, deps, setAfterSeconds, () => {
    machine.clockAhead = 0;
  });
}

/** rc(8): what is configured, nextboot.conf removed, sshd started. */
function startServices(machine: Machine, now: number): void {
  const conf = textOf(machine.files, '/etc/rc.conf');
  if (conf === undefined) readRcConf(machine);
  else startRc(machine, conf);
  const settings = readSettings(textOf(machine.files, '/etc/sysctl.conf') ?? '');
  applySettings(machine.sysctls, settings, 'read-write');
  const hostname = machine.sysctls.get('kern.hostname');
  if (hostname !== undefined) hostname.value = machine.hostname;
  if (machine.running?.kernel.behaviour.kind === 'loses-routes-at-boot') loseRoutes(machine);
  startFirewalls(machine, now);
  remove(machine.files, nextbootFile);
  machine.isCutOff ||= hasNoLease(machine);
  const port = machine.firmwareText === undefined ? 'ttyu1' : 'ttyu0';
  machine.console.print(`Starting sshd.\n\nFreeBSD/amd64 (${machine.hostname}) (${port})\n\nlogin: `);
  for (const { port } of machine.interfaces) if (port.cable !== undefined) port.cable.upAt = now;
  enter(machine, 'up');
}

const hasNoLease = ({ leases, interfaces }: Machine): boolean =>
  leases.size > 0 && interfaces.every(({ mac, addresses }) => !addresses.includes(leases.get(mac) ?? ''));

/** Each with one of the site's rules. */
function startFirewalls(machine: Machine, now: number): void {
  for (const name of machine.ownFirewalls) addModule(machine, name);
  const rule = { blocks: false, keepsState: true, packets: 0 };
  if (machine.ownFirewalls.includes('pf')) {
    const rules = [{ ...rule, text: 'pass in log all flags S/SA keep state' }];
    machine.pf = { ...noPf(), isEnabled: true, switchedAt: now, rules };
  }
  if (machine.ownFirewalls.includes('ipfw')) {
    machine.ipfw.rules.set(100, { ...rule, keepsState: false, text: 'allow log ip from any to any' });
  }
}

function loseRoutes(machine: Machine): void {
  keepRcConf(machine);
  const { routes } = machine;
  const left = routes.filter(({ destination }) => destination === 'default');
  routes.splice(0, routes.length, ...left);
}
