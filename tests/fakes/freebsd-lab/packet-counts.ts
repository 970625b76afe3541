// Counts the packets of a trial through a DUT: by queue, in IP, and in the rules that drop them.
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
};

const noIpCounts = (): IpCounts => ({ forwarded: 0, notForwardable: 0 });

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

/** Names of vmstat(8) with their totals, of cxgbe(4). */
export const queueInterrupts = ({ packetCounts }: Machine): [string, number][] =>
  [...packetCounts.queues].flatMap(([name, queues]) =>
    queues.map((packets, queue): [string, number] => [
      `t5nex0:${name.replace('cxl', '')}a${queue.toString(16)}`,
      Math.round(packets / packetsPerInterrupt),
    ]),
  );

/** Counts a stream's packets in the rules that drop some of its flows, from a part of its addresses; returns the share of the others. */
export function countInRules(firewalls: Firewalls, sources: number, packets: number): number {
  let share = 1;
  for (const rule of droppingRules(firewalls)) {
    const dropped = (share * 2 ** (32 - (bitsOf(rule.text) ?? 0))) / sources;
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
export const isOfSomeFlows = ({ blocks, text }: PfRule | IpfwRule): boolean => blocks && bitsOf(text) !== undefined;

const bitsOf = (text: string): number | undefined => {
  const [, bits] = /\bfrom [\d.]+\/(\d+)\b/.exec(text) ?? [];
  return bits === undefined ? undefined : Number(bits);
};

/** Number of states that a flow needs in pf: on its way in, and on its way out. */
export const statesPerFlow = 2;

/** Counts packets without a state in a full table of pf; returns the share of those that have one. */
export function countInStates({ pf }: Firewalls, flows: number, packets: number): number {
  const share = Math.min(1, pf.stateLimit / (statesPerFlow * flows));
  pf.withoutState += packets * (1 - share);
  return share;
}
