// The sysctls of a machine: accepted values, and output.

export type Sysctl = {
  /** A tunable is set in /boot/loader.conf, and read-only afterwards. */
  access: 'read-write' | 'read-only' | 'tunable' | 'read-write tunable';
  /** `kept` are bits that no value changes. */
  type: { kind: 'integer'; min: number; max: number; kept?: number } | { kind: 'text' };
  value: string;
};

export type Sysctls = Map<string, Sysctl>;

/** FreeBSD's defaults, without /boot/loader.conf and /etc/sysctl.conf. */
export function defaultSysctls(): Sysctls {
  return new Map<string, Sysctl>([
    ['debug.kdb.current', readOnly('')],
    ['debug.kdb.enter', integer(0)],
    ['debug.kdb.panic', integer(0)],
    ['debug.debugger_on_panic', { ...integer(1, 0, 1), access: 'read-write tunable' }],
    ['hw.cxgbe.fw_install', tunable(1)],
    ['hw.cxgbe.nrxq10g', tunable(8)],
    ['hw.cxgbe.ntxq10g', tunable(8)],
    ['hw.cxgbe.pause_settings', tunable(7)],
    ['hw.cxgbe.toecaps_allowed', tunable(-1)],
    ['dev.cpu.0.freq', readOnly('2200')],
    ['hw.ibrs_active', readOnly('0')],
    ['vm.pmap.pti', tunable(1)],
    ['net.isr.dispatch', writable('direct')],
    ['net.route.algo.inet.algo', writable('bsearch4')],
    ['net.route.algo.inet6.algo', writable('radix6_lockless')],
    ['hw.model', readOnly('Intel(R) Xeon(R) CPU E5-2650 v4 @ 2.20GHz')],
    ['hw.machine', readOnly('amd64')],
    ['hw.machine_arch', readOnly('amd64')],
    ['hw.ncpu', readOnly('8')],
    ['hw.physmem', readOnly('34225520640')],
    ['kern.bootfile', readOnly('')],
    ['kern.boottime', readOnly('')],
    ['kern.clockrate', readOnly('')],
    ['kern.conftxt', readOnly('')],
    ['kern.console', writable('ttyu1,ttyv0,/ttyv0,ttyu1,')],
    ['kern.cp_time', readOnly('')],
    ['kern.cp_times', readOnly('')],
    ['kern.hostname', writable('')],
    ['kern.ident', readOnly('')],
    ['kern.osrelease', readOnly('')],
    ['kern.ostype', readOnly('FreeBSD')],
    ['kern.shutdown.dumpdevname', readOnly('')],
    ['kern.random.harvest.mask', harvestMask()],
    ['kern.version', readOnly('')],
    ['kern.vm_guest', readOnly('none')],
    ['machdep.hyperthreading_allowed', tunable(1)],
    ['net.inet.ip.forwarding', integer(0, 0, 1)],
    ['net.inet.ip.redirect', integer(1, 0, 1)],
    ['net.inet6.ip6.forwarding', integer(0, 0, 1)],
    ['net.inet6.ip6.redirect', integer(1, 0, 1)],
    ['net.isr.bindthreads', tunable(0)],
    ['net.isr.maxthreads', tunable(1)],
    ['vm.loadavg', readOnly('')],
  ]);
}

/** Adds the sysctls of a port's driver: cxgbe(4) reports the effective values of its tunables. */
export function addPort(sysctls: Sysctls, interfaceName: string, loader: ReadonlyMap<string, string>): void {
  const [, driver = '', unit = ''] = /^(\D+)(\d+)$/.exec(interfaceName) ?? [];
  if (driver === 'mce') {
    for (const way of ['rx', 'tx']) {
      const name = `dev.mce.${unit}.${way}_pauseframe_control`;
      sysctls.set(name, tunable(Number(loader.get(name) ?? 1)));
    }
  }
  if (driver === 'cxl') {
    const pause = valueOfSysctl(sysctls, 'hw.cxgbe.pause_settings');
    const names = ['RX', 'TX', 'AUTO'].filter((_, bit) => (pause & (1 << bit)) !== 0);
    const shown = names.length === 0 ? '0' : `${pause}<${names.join(',')}>`;
    sysctls.set(`dev.cxl.${unit}.pause_settings`, writable(shown));
    for (const queues of ['nrxq', 'ntxq']) {
      const count = sysctls.get(`hw.cxgbe.${queues}10g`)?.value ?? '';
      sysctls.set(`dev.cxl.${unit}.${queues}`, readOnly(count));
    }
  }
  if (driver === 'mce') {
    const cpus = valueOfSysctl(sysctls, 'hw.ncpu');
    const name = `dev.mce.${unit}.conf.channels`;
    sysctls.set(name, integer(Number(loader.get(name) ?? cpus), 1, cpus));
  }
}

const ints = { min: -(2 ** 31), max: 2 ** 31 - 1 };

export const integer = (value: number, min = ints.min, max = ints.max): Sysctl => ({
  access: 'read-write',
  type: { kind: 'integer', min, max },
  value: String(value),
});

/** Sources of pure entropy, here the CPU's, cannot be turned off. */
const pureSource = 0x1_0000;

/** A separate value for each machine, as it is writable. */
const harvestMask = (): Sysctl => ({
  access: 'read-write',
  type: { kind: 'integer', min: 0, max: 2 ** 20 - 1, kept: pureSource },
  value: String(0x1ff | pureSource),
});

const tunable = (value: number): Sysctl => ({ ...integer(value), access: 'tunable' });

export const readOnly = (value: string): Sysctl => ({
  access: 'read-only',
  type: { kind: 'text' },
  value,
});

const writable = (value: string): Sysctl => ({ ...readOnly(value), access: 'read-write' });

/** Reads loader.conf and sysctl.conf: `name="value"` or `name=value`, one per line. */
export function readSettings(text: string): Map<string, string> {
  const lines = text.split('\n').map((line) => /^([\w.]+)="?([^"#]*)"?/.exec(line.trim()));
  return new Map(lines.flatMap((match) => (match === null ? [] : [[match[1] ?? '', match[2] ?? '']])));
}

/** Sets what it can, silently skipping names that do not exist, like the loader and rc. */
export function applySettings(
  sysctls: Sysctls,
  settings: ReadonlyMap<string, string>,
  access: 'read-write' | 'tunable',
): void {
  for (const [name, value] of settings) {
    const sysctl = sysctls.get(name);
    const isMeant = sysctl?.access === access || sysctl?.access === 'read-write tunable';
    if (sysctl !== undefined && isMeant && takes(sysctl, value)) {
      sysctl.value = stored(sysctl, value);
    }
  }
}

/** The value after setting this one. */
export function stored({ type, value: before }: Sysctl, value: string): string {
  if (type.kind === 'text') return value;
  const kept = type.kept ?? 0;
  return String(kept === 0 ? Number(value) : (Number(value) & ~kept) | (Number(before) & kept));
}

export const takes = ({ type }: Sysctl, value: string): boolean =>
  type.kind === 'text' || (isInteger(value) && Number(value) >= type.min && Number(value) <= type.max);

const isInteger = (value: string): boolean => /^-?(?:\d+|0x[\da-f]+)$/i.test(value);

export const valueOfSysctl = (sysctls: Sysctls, name: string): number => Number(sysctls.get(name)?.value ?? Number.NaN);
