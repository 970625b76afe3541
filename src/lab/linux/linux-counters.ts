// Reads counters of a Linux kernel and of nft(8) for dropped packets.
import { shortenedTo } from '../../model/one-line.ts';
import { type Drop, minSilentRatio, ownAddressCause, packetsOf } from '../trial-limits.ts';

/** Maps files and commands to the text of their counters. */
export type Blocks = ReadonlyMap<string, string>;

/** Growth of a counter; undefined where an edge lacks it, or where it ran backwards. */
export const growth = (before: number | undefined, after: number | undefined) =>
  before === undefined || after === undefined || after < before ? undefined : after - before;

/** Reads `/proc/net/snmp` or `netstat`, where each line of names precedes its line of values. */
export function mibOf(text: string): Map<string, number> {
  const lines = text.split('\n').map((line) => line.trim().split(/\s+/));
  const values = new Map<string, number>();
  for (const [index, names] of lines.entries()) {
    const numbers = lines[index + 1];
    if (index % 2 === 1 || numbers === undefined || names[0] !== numbers[0]) continue;
    for (const [column, name] of names.entries()) {
      const value = Number(numbers[column]);
      if (column > 0 && Number.isSafeInteger(value)) values.set(`${names[0]}${name}`, value);
    }
  }
  return values;
}

/** Reads `/proc/net/snmp6`: a name and a value on each line. */
export const mib6Of = (text: string): Map<string, number> =>
  new Map(
    text.split('\n').flatMap((line): [string, number][] => {
      const [, name = '', digits] = /^(\w+)\s+(\d{1,16})$/.exec(line.trim()) ?? [];
      return digits === undefined ? [] : [[name, Number(digits)]];
    }),
  );

/** Counters of packets that IP dropped, each once; every cause continues "dropped by". */
const ipDrops: readonly (readonly [string, string])[] = [
  ['Ip:InHdrErrors', 'an expired TTL, or an invalid header'],
  ['Ip:InAddrErrors', 'a DUT that does not forward (net.ipv4.ip_forward), or a wrong destination MAC address'],
  ['IpExt:InNoRoutes', 'a missing route'],
  ['Ip:OutNoRoutes', 'a missing route'],
  ['TcpExt:IPReversePathFilter', 'the reverse-path filter (net.ipv4.conf.….rp_filter)'],
  ['Ip:InUnknownProtos', 'an unknown protocol'],
  ['IpExt:InTruncatedPkts', 'a length that exceeds the frame'],
  ['Ip:InDiscards', 'the kernel on receipt'],
  ['Ip:OutDiscards', 'a missing neighbour entry, or too little memory to send'],
  ['Ip:FragFails', 'the MTU of the next link'],
  ['Ip6InHdrErrors', 'an expired hop limit, or an invalid header'],
  ['Ip6InAddrErrors', 'a DUT that does not forward (net.ipv6.conf.all.forwarding), or a wrong destination MAC address'],
  ['Ip6InNoRoutes', 'a missing route'],
  ['Ip6OutNoRoutes', 'a missing route'],
  ['Ip6InTooBigErrors', 'the MTU of the next link'],
  ['Ip6InUnknownProtos', 'an unknown protocol'],
  ['Ip6InTruncatedPkts', 'a length that exceeds the frame'],
  ['Ip6InDiscards', 'the kernel on receipt'],
  ['Ip6OutDiscards', 'a missing neighbour entry, or too little memory to send'],
];

type Mib = ReadonlyMap<string, number>;

const allMibs = (blocks: Blocks): Mib =>
  new Map([
    ...mibOf(blocks.get('snmp') ?? ''),
    ...mibOf(blocks.get('netstat') ?? ''),
    ...mib6Of(blocks.get('snmp6') ?? ''),
  ]);

type IpCounts = {
  drops: Drop[];
  /** Packets that IP received, but neither passed on nor counted as dropped; undefined if unknown. */
  vanishedPackets: number | undefined;
};

export function ipCounts(before: Blocks, after: Blocks): IpCounts {
  const [first, last] = [allMibs(before), allMibs(after)];
  const grown = (name: string) => growth(first.get(name), last.get(name));
  const drops = ipDrops.flatMap(([name, cause]): Drop[] => {
    const packets = grown(name) ?? 0;
    return packets > 0 ? [{ place: 'ip', cause, packets }] : [];
  });
  const total = (...names: string[]) =>
    names.reduce<number | undefined>((all, name) => {
      const packets = grown(name);
      return all === undefined || packets === undefined ? undefined : all + packets;
    }, 0);
  const arrived = total('Ip:InReceives', 'Ip6InReceives');
  const delivered = total('Ip:InDelivers', 'Ip6InDelivers');
  const forwarded = total('Ip:ForwDatagrams', 'Ip6OutForwDatagrams');
  if (arrived === undefined || delivered === undefined || forwarded === undefined) {
    return { drops, vanishedPackets: undefined };
  }
  const vanishedPackets = Math.max(0, arrived - delivered - forwarded - packetsOf(drops));
  // Ignores the few packets that every host receives for itself.
  const kept = delivered > arrived * minSilentRatio ? delivered : 0;
  return {
    drops: [...drops, { place: 'ip', cause: ownAddressCause, packets: kept }],
    vanishedPackets,
  };
}

const maxLineCharacters = 4000;

type RuleLine = { where: string; line: string };

/** Splits `nft list ruleset` into lines, each with its chain and table. */
function rulesIn(text: string): RuleLine[] {
  let [table, chain] = ['', ''];
  return text.split('\n').flatMap((whole) => {
    const line = whole.slice(0, maxLineCharacters);
    table = /^table (\S+ \S+) \{/.exec(line)?.[1] ?? table;
    const [, own] = /^\s+chain (\S+) \{/.exec(line) ?? [];
    chain = own ?? chain;
    return own === undefined && chain !== '' ? [{ where: placeOfRule(chain, table), line }] : [];
  });
}

export const placeOfRule = (chain: string, table: string): string => `chain ${chain} of table ${table}`;

/** Continues "dropped by"; without counts, so that it is the same in each trial. */
export function nameOfRule(rule: string, where: string): string {
  const text = rule.replace(/\bcounter packets \d+ bytes \d+/, 'counter').trim();
  return `the rule "${shortenedTo(maxRuleCharacters, text)}" in ${where}`;
}

const maxRuleCharacters = 120;

/** Quoted text is a comment, a name, or the prefix of a log. */
const withoutQuoted = (line: string): string => line.replaceAll(/"[^"]*"/g, '""');

/** Reads packets dropped by rules with a counter, since their installation, from `nft list ruleset`. */
export const ruleDrops = (text: string): { cause: string; packets: number }[] =>
  rulesIn(text).flatMap(({ where, line }) => {
    const packets = Number(countedDrop.exec(withoutQuoted(line))?.[1] ?? 0);
    return packets === 0 ? [] : [{ cause: nameOfRule(line, where), packets }];
  });

/** Allows no match after the counter, which would let counted packets pass. */
const countedDrop = /\bcounter packets (\d{1,16}) bytes \d+ (?:log [^;]{0,200})?(?:drop|reject\b)/;

/** Names rules and policies that drop without a counter. */
export const silentRules = (text: string): string[] =>
  rulesIn(text).flatMap(({ where, line }) => {
    const rule = withoutQuoted(line);
    if (/\bpolicy drop\b/.test(rule)) return [`the policy of ${where}`];
    return /\b(?:drop|reject)\b/.test(rule) && !/\bcounter\b/.test(rule) ? [nameOfRule(line, where)] : [];
  });

type Discipline = {
  /** Kind and number: another one of that kind counts from 0. */
  id: string;
  kind: string;
  packets: number;
};

/** Packets dropped by the root discipline of an interface. */
export function disciplineDrops(text: string, name: string): Discipline[] {
  const lines = text.split('\n');
  return lines.flatMap((line, index) => {
    const [, kind = '', number, dev] = /^qdisc (\w{1,30}) (\S{1,30}) dev (\S+) root\b/.exec(line) ?? [];
    const [, dropped] = /\(dropped (\d{1,16}),/.exec(lines[index + 1] ?? '') ?? [];
    return dev === name && dropped !== undefined ? [{ id: `${kind} ${number}`, kind, packets: Number(dropped) }] : [];
  });
}
