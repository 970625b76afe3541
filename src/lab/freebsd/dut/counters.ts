// Reads the counters of a FreeBSD host before and after a trial, for its log and its CPU time.
import { type Command, commandText, shell } from '../../../system/shell.ts';
import { countersIn } from '../../trial-limits.ts';
import type { CommandOutputs } from './setting.ts';

const interfaceCounters = shell`netstat -i -b -n -W`;
const protocolStatistics = shell`netstat -s`;
export const cpuTimesCommand = shell`sysctl -n kern.cp_times`;
export const interruptsCommand = shell`vmstat -i`;

export const netisrCommand = shell`netstat -Q`;

/** All that count packets of every DUT. */
export const packetCounters = [interfaceCounters, protocolStatistics] as const;

/** Includes the statistics of cards whose drivers are listed below. */
export function countersCommands(interfaces: readonly string[]): Command[] {
  return [...packetCounters, netisrCommand, cpuTimesCommand, interruptsCommand, ...interfaces.flatMap(cardStatistics)];
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

/**
 * Share of the busiest CPU's time between two readings that was not idle; undefined if a reading is missing, or the host
 * has booted in between. Includes the time between readings and packets: a DUT that is busy for a trial of 60 s, and
 * idle for 10 s around it, has 0.86.
 */
export function busiestCpuRatio(before: CommandOutputs, after: CommandOutputs): number | undefined {
  // A disabled CPU counts no ticks.
  const ratios = timeBetween(before, after).flatMap(({ busy, idle }) => (busy + idle > 0 ? busy / (busy + idle) : []));
  return ratios.length === 0 ? undefined : Math.max(...ratios);
}

function timeBetween(before: CommandOutputs, after: CommandOutputs): CpuTime[] {
  const earlier = parseCpuTimes(before.get(commandText(cpuTimesCommand)) ?? '');
  const spent = parseCpuTimes(after.get(commandText(cpuTimesCommand)) ?? '').map((cpu, index) =>
    difference(cpu, earlier[index]),
  );
  const isBooted = spent.some(({ busy, idle }) => busy < 0 || idle < 0);
  return spent.length !== earlier.length || isBooted ? [] : spent;
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

/** Packets sent by an interface between two readings; undefined if either is missing, or the interface was reset. */
export const sentBetween = (before: CommandOutputs, after: CommandOutputs, name: string): number | undefined =>
  countedBetween([before, after], name, ({ sent }) => sent);

/** Packets that reached an interface between two readings, including dropped ones; undefined as for `sentBetween`. */
export const arrivedBetween = (before: CommandOutputs, after: CommandOutputs, name: string): number | undefined =>
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
    const counters = countersOf(outputs, name);
    return counters && countOf(counters);
  });
  return first === undefined || last === undefined || last < first ? undefined : last - first;
}

const countersOf = (outputs: CommandOutputs, name: string): InterfaceCounters | undefined =>
  parseInterfaceCounters(outputs.get(commandText(interfaceCounters)) ?? '').get(name);

/** All counters of an interface between two readings; undefined as for `sentBetween`. */
export function interfaceBetween(
  before: CommandOutputs,
  after: CommandOutputs,
  name: string,
): InterfaceCounters | undefined {
  const [first, last] = [countersOf(before, name), countersOf(after, name)];
  if (first === undefined || last === undefined) return undefined;
  const counted: InterfaceCounters = {
    received: last.received - first.received,
    receiveErrors: last.receiveErrors - first.receiveErrors,
    receiveDrops: last.receiveDrops - first.receiveDrops,
    sent: last.sent - first.sent,
    sendErrors: last.sendErrors - first.sendErrors,
  };
  return Object.values(counted).every((count) => count >= 0) ? counted : undefined;
}

/**
 * Reads `netstat -s` by protocol and words, without text in brackets: `ip: packets forwarded`, or `icmp: time exceeded`
 * of its histograms.
 */
export function protocolCounters(outputs: CommandOutputs): Map<string, number> {
  const counters = new Map<string, number>();
  let protocol = '';
  for (const line of (outputs.get(commandText(protocolStatistics)) ?? '').split('\n')) {
    protocol = /^(\w+):$/.exec(line)?.[1] ?? protocol;
    const [, digits, words] = /^\t(\d{1,15}) ([^(]{1,100}?)(?: \(.*)?$/.exec(line) ?? [];
    const [, message, times] = /^\t\t([a-z ]{1,40}): (\d{1,15})$/.exec(line) ?? [];
    if (words !== undefined) counters.set(`${protocol}: ${words}`, Number(digits));
    if (message !== undefined) counters.set(`${protocol}: ${message}`, Number(times));
  }
  return counters;
}

/** Queues of netisr(9) that packets pass on their way. */
const netisrQueues: ReadonlySet<string> = new Set(['ether', 'ip', 'ip6', 'ip_direct', 'ip6_direct']);

/** Reads `netstat -Q`: packets dropped by the full queues of each protocol, over all workstreams. */
export function netisrDrops(outputs: CommandOutputs): Map<string, number> {
  const drops = new Map<string, number>();
  for (const line of (outputs.get(commandText(netisrCommand)) ?? '').split('\n')) {
    const [, , name = '', , , , , digits, queued, handled, ...more] = line.trim().split(/\s+/);
    const isRow = netisrQueues.has(name) && handled !== undefined && more.length === 0;
    if (!isRow || ![digits, queued, handled].every((one) => /^\d{1,15}$/.test(one ?? ''))) continue;
    drops.set(name, (drops.get(name) ?? 0) + Number(digits));
  }
  return drops;
}

/** Reads a card's counters, by the last part of their sysctl(8) names. */
export function cardCounters(outputs: CommandOutputs, interfaceName: string): Map<string, number> {
  const texts = cardStatistics(interfaceName).map((one) => outputs.get(commandText(one)) ?? '');
  return new Map([...countersIn(texts.join('\n'))].map(([name, value]) => [name.split('.').at(-1) ?? '', value]));
}

export type InterfaceCounters = {
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
  // The address may be blank, so columns count from the right.
  const [ipkts = 0, ierrs = 0, idrop = 0, opkts = 0, oerrs = 0] = ['Ipkts', 'Ierrs', 'Idrop', 'Opkts', 'Oerrs'].map(
    (column) => columns.indexOf(column) - columns.length,
  );
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
