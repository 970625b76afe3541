// Names what drops the packets of a Linux DUT, from the traces and counters in its log.

/** Returns a phrase that continues "dropped by", by the folder of each variant that forwarded nothing. */
export function dropsIn(log: string): ReadonlyMap<string, string> {
  const drops = new Map<string, string>();
  let lines: string[] | undefined;
  let folder = '';
  const close = () => {
    const phrase = lines && phraseOf(lines);
    if (phrase !== undefined) drops.set(folder, phrase);
    lines = undefined;
  };
  for (const line of log.split('\n')) {
    if (/^(?:trace|counted) /.test(line)) lines?.push(line);
    else close();
    const [, variant] = /^drops (\S+)$/.exec(line) ?? [];
    if (variant === undefined) continue;
    folder = variant;
    lines = [];
  }
  close();
  return drops;
}

function phraseOf(lines: readonly string[]): string | undefined {
  const packets = Map.groupBy(lines.flatMap(eventOf), ({ packet }) => packet);
  const endings = [...packets.values()].flatMap((events) => events.at(-1)?.drop ?? []);
  const [rule] = byCount(Map.groupBy(endings, (drop) => drop));
  if (rule !== undefined) return rule;
  const counted = lines.flatMap(countOf).toSorted((one, other) => other.count - one.count);
  const [first] = counted;
  return first === undefined ? undefined : `${first.cause} (${first.name} counted ${first.count})`;
}

const byCount = (groups: ReadonlyMap<string, readonly string[]>): string[] =>
  [...groups].toSorted(([, one], [, other]) => other.length - one.length).map(([key]) => key);

type TraceEvent = { packet: string; drop?: string };

/** A packet's last event is its end in the rules. */
function eventOf(line: string): TraceEvent[] {
  const [, packet, table, chain, event = ''] = traceLine.exec(line) ?? [];
  if (packet === undefined || table === undefined || chain === undefined) return [];
  const where = `chain ${chain} of table ${table}`;
  const [, rule] = /^rule (.*) \(verdict drop\)$/.exec(event) ?? [];
  if (rule !== undefined) {
    const text = rule.replace(/counter packets \d+ bytes \d+/, 'counter');
    return [{ packet, drop: `the rule "${text}" in ${where}` }];
  }
  if (/^policy drop\s*$/.test(event)) return [{ packet, drop: `the policy of ${where}` }];
  // A text that was cut has no verdict.
  const isCut = event.startsWith('rule ') && !event.endsWith(')');
  return [isCut ? { packet, drop: `a rule in ${where}` } : { packet }];
}

/** See nft(8), MONITOR; the family and name of the table, and the chain. */
const traceLine = /^trace trace id (\w{1,16}) (\w{1,16} \S{1,128}) (\S{1,128}) (.*)$/;

function countOf(line: string): { name: string; count: number; cause: string }[] {
  const [, name = '', count] = /^counted (\w{1,64}) (\d{1,15})$/.exec(line) ?? [];
  const cause = causes[name];
  return cause === undefined ? [] : [{ name, count: Number(count), cause }];
}

/** By the counters' names in nstat(8); those of IPv6 differ by one digit. */
const causes: Readonly<Record<string, string>> = {
  ConntrackDrop: 'connection tracking, whose table is full (net.netfilter.nf_conntrack_max)',
  TcpExtIPReversePathFilter: 'the reverse-path filter (net.ipv4.conf.….rp_filter)',
  IpInAddrErrors: 'a DUT that does not forward (net.ipv4.ip_forward)',
  Ip6InAddrErrors: 'a DUT that does not forward (net.ipv6.conf.all.forwarding)',
  IpExtInNoRoutes: 'a DUT without a route to their destination',
  Ip6InNoRoutes: 'a DUT without a route to their destination',
  IpOutNoRoutes: 'a DUT without a route to their destination',
  IpInHdrErrors: 'a DUT that takes their header for wrong, or their time to live for over',
  Ip6InHdrErrors: 'a DUT that takes their header for wrong, or their hop limit for reached',
  IpInDelivers: 'the DUT itself, to whose own address the rules lead them',
  Ip6InDelivers: 'the DUT itself, to whose own address the rules lead them',
  IpInDiscards: 'the kernel',
  Ip6InDiscards: 'the kernel',
};
