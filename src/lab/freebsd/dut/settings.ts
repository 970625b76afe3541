// Defines the settings required of a FreeBSD DUT before any measurement.

import type { Family } from '../../../model/scenario.ts';
import { type Command, shell } from '../../../system/shell.ts';
import { resetsAtPanic } from './panic.ts';
import { type DutPorts, pathSettings, portSettings } from './ports.ts';
import {
  type CommandOutputs,
  type Fix,
  problemOf,
  readSysctl,
  readsOf,
  type Setting,
  type SettingProblem,
  sysctl,
  tunable,
  unless,
} from './setting.ts';

export type SettingsContext = DutPorts & {
  families: readonly Family[];
  /** Names of settings that do not matter there, and are not read: some reads take seconds. */
  unread?: ReadonlySet<string>;
};

export function settingsCommands(context: SettingsContext): Command[] {
  return readsOf(settingsOf(context));
}

/** Returns the settings that do not hold, in the best order to fix them. */
export function checkSettings(outputs: CommandOutputs, context: SettingsContext): SettingProblem[] {
  return settingsOf(context).flatMap((setting) => problemOf(setting, outputs));
}

function settingsOf(context: SettingsContext): Setting[] {
  const { families, unread } = context;
  const all = [
    debuggerOnPanic,
    dumpDevice,
    harvestMask,
    hyperthreading,
    ...netisr,
    ...families.flatMap((family) => kernelForwards[family]),
    ...portSettings(context),
    ...families.flatMap((family) => pathSettings(family, context)),
    idleness,
    timeSinceBoot,
  ];
  return all.filter(({ name }) => unread?.has(name) !== true);
}

/** Missing from kernels without `options KDB`. */
const debuggerOnPanic: Setting = {
  ...sysctl(
    resetsAtPanic.name,
    resetsAtPanic.value,
    'a kernel with the debugger would stop at its prompt after a panic',
  ),
  isOptional: true,
};

const dumpDevice: Setting = {
  name: 'kern.shutdown.dumpdevname',
  why: 'otherwise the cause of a panic is lost',
  reads: [readSysctl('kern.shutdown.dumpdevname')],
  check: (device) =>
    unless(device !== '' && device !== '/dev/null', {
      is: 'has no dump device',
      fix: {
        kind: 'person',
        what: 'put `dumpdev="AUTO"` into the /etc/rc.conf of the DUT (this needs swap space), and run `service dumpon start`',
      },
    }),
  isOptional: true,
};

/** Bits of sys/random.h's sources. Other sources are the machine's choice: those of hardware cannot even be cleared. */
const perPacketSources = (1 << 5) | (1 << 7);

const harvestMask: Setting = {
  name: 'kern.random.harvest.mask',
  why: 'it would gather entropy from each frame or interrupt',
  reads: [readSysctl('kern.random.harvest.mask')],
  check: (value) =>
    unless(isWhole(value) && (Number(value) & perPacketSources) === 0, {
      is: `is ${value}`,
      fix: { kind: 'command', command: shell`sysctl kern.random.harvest.mask=351` },
    }),
};

const hyperthreading: Setting = {
  ...tunable('machdep.hyperthreading_allowed', 0, 'queues bound to two threads of one core share that core'),
  isOptional: true,
};

/** `options RSS` uses all of netisr's threads. A kernel without its configuration may have that option. */
const netisr: Setting[] = [
  {
    name: 'net.isr.maxthreads',
    why: 'with options RSS, only that many threads carry all traffic',
    reads: ['kern.conftxt', 'net.isr.maxthreads', 'hw.ncpu'].map(readSysctl),
    // The kernel turns the -1 of loader.conf into the number of CPUs.
    check: (configuration, threads, cpus) =>
      unless(!mayHaveRss(configuration) || threads === '-1' || threads === cpus, {
        is: `is ${threads} on ${cpus} CPUs`,
        fix: { kind: 'loader', line: 'net.isr.maxthreads="-1"' },
      }),
  },
  {
    name: 'net.isr.bindthreads',
    why: 'with options RSS, a thread must stay on the CPU of its queue',
    reads: ['kern.conftxt', 'net.isr.bindthreads'].map(readSysctl),
    check: (configuration, bound) =>
      unless(!mayHaveRss(configuration) || bound === '1', {
        is: `is ${bound} instead of 1`,
        fix: { kind: 'loader', line: 'net.isr.bindthreads="1"' },
      }),
  },
];

const mayHaveRss = (configuration: string): boolean =>
  configuration === '' || /^options\s+RSS\s*$/m.test(configuration);

const kernelForwards: Record<Family, Setting[]> = {
  inet4: [
    sysctl('net.inet.ip.forwarding', 1, 'the DUT would forward nothing'),
    sysctl('net.inet.ip.redirect', 0, 'packets are checked for redirects'),
  ],
  inet6: [
    sysctl('net.inet6.ip6.forwarding', 1, 'the DUT would forward nothing'),
    sysctl('net.inet6.ip6.redirect', 0, 'packets are checked for redirects'),
  ],
};

/** A process that never sleeps counts 1. */
const maxBusyCpus = 0.5;

/** Accepts a load average below 0.5. It falls for minutes after a boot; until then, measures for 5 s. */
export const idleScript =
  'case $(sysctl -n vm.loadavg) in "{ 0"[.,][0-4]*) ;; *) sysctl -n kern.cp_time && sleep 5 && sysctl -n kern.cp_time;; esac';

const idleness: Setting = {
  name: 'kern.cp_time',
  why: 'other programs take CPU time from forwarding',
  reads: [shell`sh -c ${idleScript}`, readSysctl('hw.ncpu')],
  check: (samples, cpus) => {
    if (samples === '') return undefined;
    const busy = busyCpus(samples, Number(cpus));
    return unless(busy <= maxBusyCpus, {
      is: Number.isNaN(busy) ? 'cannot be determined' : `shows ${busy.toFixed(1)} busy CPUs, more than ${maxBusyCpus}`,
      fix: { kind: 'wait', seconds: 60 },
    });
  },
};

/** Reads two lines of ticks of all CPUs: user, nice, system, interrupt and idle; NaN for any other text. */
function busyCpus(samples: string, cpus: number): number {
  const [before, after] = samples.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  if (before?.length !== 5 || after?.length !== 5) return Number.NaN;
  const ticks = after.map((tick, state) => tick - (before[state] ?? Number.NaN));
  const all = ticks.reduce((sum, some) => sum + some, 0);
  return (1 - (ticks[4] ?? Number.NaN) / all) * cpus;
}

/** Daemons start, and entropy and crash dumps are saved, for a while after the first possible login. */
const minSecondsUp = 60;

/** Reads only the DUT's clock: it need not agree with any other, and both values move when it is set. */
const timeSinceBoot: Setting = {
  name: 'kern.boottime',
  why: 'services may still be starting',
  reads: [readSysctl('kern.boottime'), shell`date +%s`],
  check: (boot, now) => {
    const bootSeconds = Number(/^\{ sec = (\d+),/.exec(boot)?.[1] ?? Number.NaN);
    const up = Number(now) - bootSeconds;
    // The clock was set between the two commands.
    if (up < 0) return { is: 'is in the future', fix: { kind: 'wait', seconds: minSecondsUp } };
    const seconds = Math.ceil(minSecondsUp - up);
    return unless(seconds <= 0, {
      is: Number.isNaN(up) ? `is ${boot}` : `is ${up} s ago`,
      fix: Number.isNaN(up) ? unreadable : { kind: 'wait', seconds },
    });
  },
};

const unreadable: Fix = {
  kind: 'person',
  what: 'check `sysctl -n kern.boottime` and `date +%s` on the DUT',
};

const isWhole = (value: string): boolean => /^\d+$/.test(value);
