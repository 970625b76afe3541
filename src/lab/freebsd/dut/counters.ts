// Reads the counters of a FreeBSD host before and after a trial, for its log and its CPU time.
import { type Command, commandText, shell } from '../../../system/shell.ts';
import type { CommandOutputs } from './setting.ts';

const interfaceCounters = shell`netstat -i -b -n -W`;
export const cpuTimesCommand = shell`sysctl -n kern.cp_times`;
export const interruptsCommand = shell`vmstat -i`;

/** Includes the statistics of cards whose drivers are listed below. */
export function countersCommands(interfaces: readonly string[]): Command[] {
  return [
    interfaceCounters,
    shell`netstat -s`,
    cpuTimesCommand,
    interruptsCommand,
    ...interfaces.flatMap(cardStatistics),
  ];
}

/** Nodes of the card's own counters, by driver. */
const statisticsNodes: Readonly<Record<string, readonly string[]>> = {
  cc: ['stats'],
  cxgbe: ['stats'],
  cxl: ['stats'],
  em: ['mac_stats'],
  igb: ['mac_stats'],
  igc: ['mac_stats'],
  ix: ['mac_stats'],
  ixl: ['mac'],
  mce: ['pstats', 'vstats'],
};

function cardStatistics(name: string): Command[] {
  const [, driver = '', unit] = /^([a-z]+)(\d+)$/.exec(name) ?? [];
  const nodes = statisticsNodes[driver] ?? [];
  return nodes.map((node) => shell`sysctl ${`dev.${driver}.${unit}.${node}`}`);
}

/** Formats both readings for people: each command with its output before and after the trial. */
export function countersLog(before: CommandOutputs, after: CommandOutputs): string {
  const commands = new Set([...before.keys(), ...after.keys()]);
  return [...commands]
    .flatMap((command) => [
      section(`before: ${command}`, before.get(command)),
      section(`after: ${command}`, after.get(command)),
    ])
    .join('\n');
}

const section = (title: string, output = 'failed'): string => `==> ${title}\n${output.trimEnd()}\n`;

type BusyShare = {
  overallRatio: number;
  /** Busy share of the time of the CPU that was busiest, from 0 to 1. */
  busiestCpuRatio: number;
};

/**
 * Share of the CPUs' time between two readings that was not idle; undefined where either is missing, or the host has
 * booted between them. The time between readings and packets counts: a DUT that is busy for a trial of 60 s, and idle for
 * 10 s around it, has 0.86.
 */
export function busyShare(before: CommandOutputs, after: CommandOutputs): BusyShare | undefined {
  const earlier = parseCpuTimes(before.get(commandText(cpuTimesCommand)) ?? '');
  const spent = parseCpuTimes(after.get(commandText(cpuTimesCommand)) ?? '').map((cpu, index) =>
    difference(cpu, earlier[index]),
  );
  if (spent.length !== earlier.length || spent.some(({ busy, idle }) => busy < 0 || idle < 0)) {
    return undefined;
  }
  // A CPU that is switched off counts no ticks.
  const running = spent.filter(({ busy, idle }) => busy + idle > 0);
  if (running.length === 0) return undefined;
  return {
    overallRatio: shareOf(sumOf(running)),
    busiestCpuRatio: running.reduce((most, cpu) => Math.max(most, shareOf(cpu)), 0),
  };
}

type CpuTime = { busy: number; idle: number };

/** A CPU is in user mode, niced, in the kernel, in interrupts or idle: see `CPUSTATES` in FreeBSD's sys/resource.h. */
const cpuStates = 5;

/** Reads `sysctl -n kern.cp_times`, CPU by CPU; empty for any other text. */
export function parseCpuTimes(text: string): CpuTime[] {
  const ticks = text.trim().split(/\s+/).map(Number);
  if (text.trim() === '' || ticks.length % cpuStates !== 0 || !ticks.every(Number.isFinite)) {
    return [];
  }
  return Array.from({ length: ticks.length / cpuStates }, (_, cpu) => {
    const states = ticks.slice(cpu * cpuStates, (cpu + 1) * cpuStates);
    const idle = states.at(-1) ?? 0;
    return { busy: states.reduce((total, state) => total + state, 0) - idle, idle };
  });
}

const difference = (after: CpuTime, before: CpuTime = { busy: 0, idle: 0 }): CpuTime => ({
  busy: after.busy - before.busy,
  idle: after.idle - before.idle,
});

const sumOf = (times: readonly CpuTime[]): CpuTime => ({
  busy: times.reduce((total, { busy }) => total + busy, 0),
  idle: times.reduce((total, { idle }) => total + idle, 0),
});

const shareOf = ({ busy, idle }: CpuTime): number => busy / (busy + idle);

/** Packets sent by an interface between two readings; undefined where either is missing, or it was reset. */
export const sentBetween = (
  before: CommandOutputs,
  after: CommandOutputs,
  name: string,
): number | undefined => countedBetween([before, after], name, ({ sent }) => sent);

/** Packets that reached an interface between two readings, dropped ones included; undefined as above. */
export const arrivedBetween = (
  before: CommandOutputs,
  after: CommandOutputs,
  name: string,
): number | undefined =>
  countedBetween(
    [before, after],
    name,
    ({ received, receiveErrors, receiveDrops }) => received + receiveErrors + receiveDrops,
  );

function countedBetween(
  readings: readonly CommandOutputs[],
  name: string,
  countOf: (counters: InterfaceCounters) => number,
): number | undefined {
  const [first, last] = readings.map((outputs) => {
    const text = outputs.get(commandText(interfaceCounters)) ?? '';
    const counters = parseInterfaceCounters(text).get(name);
    return counters && countOf(counters);
  });
  return first === undefined || last === undefined || last < first ? undefined : last - first;
}

type InterfaceCounters = {
  received: number;
  receiveErrors: number;
  /** Dropped on arrival. */
  receiveDrops: number;
  sent: number;
  sendErrors: number;
};

/** Reads `netstat -i -b -n -W`: the rows of interfaces, not of their addresses. */
export function parseInterfaceCounters(text: string): Map<string, InterfaceCounters> {
  const [head = '', ...lines] = text.split('\n');
  const columns = words(head);
  // The address may be blank, so columns are counted from the right.
  const [ipkts = 0, ierrs = 0, idrop = 0, opkts = 0, oerrs = 0] = [
    'Ipkts',
    'Ierrs',
    'Idrop',
    'Opkts',
    'Oerrs',
  ].map((column) => columns.indexOf(column) - columns.length);
  const counters = new Map<string, InterfaceCounters>();
  for (const line of lines) {
    if (!line.includes('<Link#')) continue;
    const row = words(line);
    const [name = '', , network = ''] = row;
    if (!network.startsWith('<Link#')) continue;
    const values: InterfaceCounters = {
      received: Number(row.at(ipkts)),
      receiveErrors: Number(row.at(ierrs)),
      receiveDrops: Number(row.at(idrop)),
      sent: Number(row.at(opkts)),
      sendErrors: Number(row.at(oerrs)),
    };
    // A star marks an interface that is down.
    if (Object.values(values).every(Number.isFinite)) counters.set(name.replace(/\*$/, ''), values);
  }
  return counters;
}

const words = (line: string): string[] => line.trim().split(/\s+/);
