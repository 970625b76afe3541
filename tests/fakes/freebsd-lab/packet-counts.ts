// Counts the packets of a trial through a DUT: by queue, in IP, and in the rules that drop them.
import { BlockList, isIPv4 } from 'node:net';
import type { Family } from '../../../src/model/scenario.ts';
import type { Firewalls, IpfwRule, PfRule } from './firewall.ts';
import type { Machine } from './machine.ts';
import { valueOfSysctl } from './sysctls.ts';

/** Since the boot. */
export type PacketCounts = {
  /** Of IP, by the family: see `netstat -s`. */
  readonly ip: Record<Family, IpCounts>;
  /** By receive queue, of each interface. */
  readonly queues: Map<string, number[]>;
};

export type IpCounts = {
  forwarded: number;
  notForwardable: number;
  noBuffers: number;
};

const noIpCounts = (): IpCounts => ({ forwarded: 0, notForwardable: 0, noBuffers: 0 });

export const noPacketCounts = (): PacketCounts => ({
  ip: { inet4: noIpCounts(), inet6: noIpCounts() },
  queues: new Map(),
});

/** Distributes flows over all queues. */
export function countInQueues(machine: Machine, name: string, packets: number): void {
  const { queues } = machine.packetCounts;
  const all = queuesOf(machine, name);
  const before = queues.get(name) ?? [];
  queues.set(
    name,
    Array.from({ length: all }, (_, queue) => (before[queue] ?? 0) + packets / all),
  );
}

/** Every driver has one for each CPU, cxgbe(4) as many as its tunable says. */
function queuesOf({ sysctls }: Machine, name: string): number {
  const ofChelsio = valueOfSysctl(sysctls, name.replace(/^cxl(\d+)$/, 'dev.cxl.$1.nrxq'));
  return Number.isNaN(ofChelsio) ? valueOfSysctl(sysctls, 'hw.ncpu') : ofChelsio;
}

/** Packets that share one of its interrupts. */
const packetsPerInterrupt = 16;

/** Names of vmstat(8) with their totals; virtio's cards have no interrupt of one queue that has a name. */
export function queueInterrupts({ packetCounts }: Machine): [string, number][] {
  return [...packetCounts.queues].flatMap(([name, queues]) => {
    const [, driver, unit] = /^([a-z]+)(\d+)$/.exec(name) ?? [];
    return queues.flatMap((packets, queue): [string, number][] => {
      const total = Math.round(packets / packetsPerInterrupt);
      if (driver === 'cxl') return [[`t5nex0:${unit}a${queue.toString(16)}`, total]];
      return driver === 'igb' ? [[`igb${unit}:rxq${queue}`, total]] : [];
    });
  });
}

/** Source addresses of a stream, one after the other. */
export type Sources = { first: string; size: number };

/** Counts a stream's packets in the rules that drop some of its flows; returns the share of the others. */
export function countInRules(firewalls: Firewalls, sources: Sources, packets: number): number {
  let share = 1;
  for (const rule of droppingRules(firewalls)) {
    const dropped = share * shareOf(rule, sources);
    rule.packets += packets * dropped;
    share -= dropped;
  }
  return share;
}

function droppingRules({ modules, pf, ipfw }: Firewalls): (PfRule | IpfwRule)[] {
  return [
    ...(modules.has('pf') && pf.isEnabled ? pf.rules : []),
    ...(modules.has('ipfw') ? ipfw.rules.values() : []),
  ].filter(isOfSomeFlows);
}

/** Other rules that block have all packets. */
export const isOfSomeFlows = ({ blocks, text }: PfRule | IpfwRule): boolean => blocks && sourceOf(text) !== undefined;

const sourceOf = (text: string): [string, number] | undefined => {
  const [, network, bits] = /\bfrom ([\d.]+)\/(\d+)\b/.exec(text) ?? [];
  return network === undefined ? undefined : [network, Number(bits)];
};

function shareOf({ text }: PfRule | IpfwRule, { first, size }: Sources): number {
  const source = sourceOf(text);
  if (source === undefined || !isIPv4(first)) return 0;
  const list = new BlockList();
  list.addSubnet(...source);
  const addresses = Array.from({ length: size }, (_, index) => addressAfter(first, index));
  return addresses.filter((address) => list.check(address)).length / size;
}

function addressAfter(first: string, count: number): string {
  const number = first.split('.').reduce((all, part) => all * 256 + Number(part), 0) + count;
  return [24, 16, 8, 0].map((bits) => (number >>> bits) & 255).join('.');
}

/** Number of states that a flow needs in pf: on its way in, and on its way out. */
export const statesPerFlow = 2;

/** Counts packets without a state in a full table of pf; returns the share of those that have one. */
export function countInStates({ pf }: Firewalls, flows: number, packets: number): number {
  const share = Math.min(1, pf.stateLimit / (statesPerFlow * flows));
  pf.withoutState += packets * (1 - share);
  return share;
}
