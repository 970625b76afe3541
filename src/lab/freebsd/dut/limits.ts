// Reads what limited a FreeBSD DUT from its counters before and after a trial.
import type { TrialLimits } from '../../../model/limits.ts';
import {
  boundedLimits,
  cardDropOf,
  type Drop,
  minSilentRatio,
  ownAddressCause,
  packetsOf,
  uncountedCause,
} from '../../trial-limits.ts';
import { type DroppingRule, nameOfFirewallRule } from '../rule-drops.ts';
import {
  busiestCpuRatio,
  cardCounters,
  type InterfaceCounters,
  interfaceBetween,
  netisrDrops,
  protocolCounters,
} from './counters.ts';
import type { CommandOutputs } from './setting.ts';

type DutPath = {
  ingress: string;
  egress: string;
  /** Output of `pfctl -si`. pf's counters cover only this trial, as each trial installs its rules. */
  pfInfo?: string | undefined;
  rules?: readonly DroppingRule[];
};

/** Returns undefined if the interfaces did not count, or were reset. */
export function limitsBetween(
  before: CommandOutputs,
  after: CommandOutputs,
  { ingress, egress, pfInfo = '', rules = [] }: DutPath,
): TrialLimits | undefined {
  const arrived = interfaceBetween(before, after, ingress);
  const left = interfaceBetween(before, after, egress);
  if (arrived === undefined || left === undefined) return undefined;
  const card = cardDrops(before, after, ingress, arrived);
  const backlog = backlogDrops(before, after);
  const ip = ipCounts(before, after, arrived.received - packetsOf(backlog));
  const vanished = ip.vanishedPackets ?? 0;
  const filtered = filteredDrops(pfInfo, rules, vanished);
  const silent = vanished - packetsOf(filtered);
  return boundedLimits({
    offeredPackets: arrived.received + packetsOf(card),
    receivedPackets: left.sent,
    busiestCpuRatio: busiestCpuRatio(before, after),
    drops: [
      ...card,
      ...backlog,
      ...ip.drops,
      ...filtered,
      ...(silent > arrived.received * minSilentRatio ? [silentDrop(ip.vanishedCause, silent)] : []),
      { place: 'driver' as const, cause: `the driver of ${egress}`, packets: left.sendErrors },
    ].filter(({ packets }) => packets > 0),
  });
}

const silentDrop = (cause: string, packets: number): Drop => ({
  place: cause === expiredCause ? 'ip' : 'firewall',
  cause,
  packets,
});

/** Prefers the card's own counters, which name the cause; the system counts the same packets again. */
function cardDrops(
  before: CommandOutputs,
  after: CommandOutputs,
  ingress: string,
  { receiveErrors, receiveDrops }: InterfaceCounters,
): Drop[] {
  const [first, last] = [cardCounters(before, ingress), cardCounters(after, ingress)];
  const own = [...last].flatMap(([name, value]): Drop[] => {
    const cause = cardDropOf(name);
    const packets = value - (first.get(name) ?? value);
    return cause === undefined || packets <= 0
      ? []
      : [{ place: 'card', cause: `${cause} at ${ingress} (${name})`, packets }];
  });
  if (packetsOf(own) >= receiveErrors + receiveDrops) return own;
  return [
    { place: 'card', cause: `dropped on arrival at ${ingress}`, packets: receiveDrops },
    { place: 'card', cause: `receive errors of ${ingress}`, packets: receiveErrors },
  ];
}

function backlogDrops(before: CommandOutputs, after: CommandOutputs): Drop[] {
  const earlier = netisrDrops(before);
  return [...netisrDrops(after)].flatMap(([name, count]): Drop[] => {
    const packets = count - (earlier.get(name) ?? count);
    const cause = `a full queue of netisr for ${name} (net.isr.defaultqlimit)`;
    return packets > 0 ? [{ place: 'backlog', cause, packets }] : [];
  });
}

const noRoute = 'output packets discarded due to no route';
/** Counts packets without a route, too. */
const notForwardable = 'packets not forwardable';

/**
 * Lines of `netstat -s` that count packets which IP received but did not forward: see ip_tryforward() in FreeBSD's
 * netinet/ip_fastfwd.c.
 */
const ipLines: readonly (readonly [string, Drop['place'], string])[] = [
  [notForwardable, 'ip', 'a DUT that does not forward, or a reject route'],
  [noRoute, 'ip', 'a missing route'],
  ['output packets dropped due to no bufs, etc.', 'output-queue', 'a full queue, or too few buffers'],
  ["datagrams that can't be fragmented", 'ip', 'the MTU of the next link'],
  ['bad header checksums', 'ip', 'a wrong header'],
  ['datagrams with bad address in header', 'ip', 'a wrong address'],
];

type IpCounts = {
  drops: Drop[];
  /** Packets that arrived, and were neither passed on nor counted as dropped; undefined if unknown. */
  vanishedPackets: number | undefined;
  /** Cause of drops without a counter. */
  vanishedCause: string;
};

/** Ignores the counter of packets that IP received: ip_tryforward() of FreeBSD 14 counts them twice. */
function ipCounts(before: CommandOutputs, after: CommandOutputs, arrivedPackets: number): IpCounts {
  const [first, last] = [protocolCounters(before), protocolCounters(after)];
  const grown = (name: string) => Math.max(0, (last.get(name) ?? 0) - (first.get(name) ?? 0));
  const both = (line: string) => grown(`ip: ${line}`) + grown(`ip6: ${line}`);
  const known = ipLines.flatMap(([line, place, cause]): Drop[] => {
    const packets = both(line) - (line === notForwardable ? both(noRoute) : 0);
    return packets > 0 ? [{ place, cause, packets }] : [];
  });
  const left = Math.max(0, arrivedPackets - both('packets forwarded') - packetsOf(known));
  // Ignores the few packets that every host receives for itself.
  const own = Math.min(left, both('packets for this host'));
  const kept = own > arrivedPackets * minSilentRatio ? own : 0;
  const isExpired = ['icmp', 'icmp6'].some((one) => grown(`${one}: time exceeded`) > 0);
  return {
    drops: [...known, { place: 'ip', cause: ownAddressCause, packets: kept }],
    vanishedPackets: last.has('ip: packets forwarded') ? left - kept : undefined,
    vanishedCause: isExpired ? expiredCause : uncountedCause,
  };
}

const expiredCause = 'an expired TTL, as in a routing loop';

/** pf(4)'s reasons to drop that concern its states; others concern the packet. */
const stateReasons: ReadonlySet<string> = new Set([
  'memory',
  'src-limit',
  'state-insert',
  'state-limit',
  'state-mismatch',
]);

/**
 * Drops by pf's reasons, and by rules: pf's reason `match` counts passed packets, too. Rules count from their
 * installation, and so slightly more than the packets of the trial.
 */
function filteredDrops(info: string, rules: readonly DroppingRule[], vanishedPackets: number): Drop[] {
  const drops: Drop[] = [
    ...pfReasons(info).map(({ reason, packets }) => ({
      place: stateReasons.has(reason) ? ('state-table' as const) : ('firewall' as const),
      cause: `pf: ${reason}${fullReasons.has(reason) ? ', because its table is full (set limit states)' : ''}`,
      packets,
    })),
    ...rules.map((rule) => ({
      place: 'firewall' as const,
      cause: nameOfFirewallRule(rule),
      packets: rule.packets,
    })),
  ];
  const scale = Math.min(1, vanishedPackets / Math.max(packetsOf(drops), 1));
  return drops.map((drop) => ({ ...drop, packets: Math.round(drop.packets * scale) }));
}

const pfReasons = (info: string): { reason: string; packets: number }[] =>
  (info.split(/^Counters/m)[1] ?? '').split('\n').flatMap((line) => {
    const [, reason = '', digits] = /^\s+([a-z-]{1,30})\s+(\d{1,15})\s/.exec(line) ?? [];
    const packets = Number(digits ?? 0);
    return packets === 0 || reason === 'match' ? [] : [{ reason, packets }];
  });

/** Reasons of a limit by a rule's `max`, and by `set limit states`: see pf_create_state() in FreeBSD's pf.c. */
const fullReasons: ReadonlySet<string> = new Set(['state-limit', 'memory']);

/** Reads `pfctl -si`. */
export const isPfTableFull = (info: string): boolean => pfReasons(info).some(({ reason }) => fullReasons.has(reason));
