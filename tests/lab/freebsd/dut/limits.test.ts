// Reads CPUs, queues and drops of a FreeBSD DUT; netstat and pfctl as FreeBSD 14.2 prints
// them, which counts each packet twice as received that it forwards.
import { expect, test } from 'vitest';
import { limitsBetween } from '../../../../src/lab/freebsd/dut/limits.ts';

type Counted = {
  arrived?: number;
  idrop?: number;
  sent?: number;
  ip?: {
    forwarded: number;
    own?: number;
    unforwardable?: number;
    noBuffers?: number;
    noRoute?: number;
    expired?: number;
  };
  ticks?: string;
  card?: string;
};

const outputs = (counted: Counted): Map<string, string> => {
  const { arrived = 0, idrop = 0, sent = 0, ip = { forwarded: 0 } } = counted;
  return new Map([
    [
      'netstat -i -b -n -W',
      `Name     Mtu Network        Address              Ipkts Ierrs Idrop     Ibytes    Opkts Oerrs     Obytes  Coll
ix0  1500 <Link#2>       00:00:5e:00:53:03        ${arrived}     0     ${idrop}          0        1     0         42     0
ix0     - 198.18.0.0/24  198.18.0.8               0     -     -          0        0     -          0     -
ix1  1500 <Link#3>       00:00:5e:00:53:04        0     0     0          0        ${sent}     0         42     0
`,
    ],
    [
      'netstat -s',
      `tcp:
\t638 packets sent
\t\t424 data packets (47186 bytes)
ip:
\t${arrived + ip.forwarded} total packets received
\t${ip.own ?? 0} packets for this host
\t${ip.forwarded} packets forwarded (${ip.forwarded} packets fast forwarded)
\t${ip.unforwardable ?? 0} packets not forwardable
\t${ip.noBuffers ?? 0} output packets dropped due to no bufs, etc.
\t${ip.noRoute ?? 0} output packets discarded due to no route
icmp:
\t${ip.expired ?? 0} calls to icmp_error
${ip.expired === undefined ? '' : `\tOutput histogram:\n\t\ttime exceeded: ${ip.expired}\n`}`,
    ],
    ['sysctl -n kern.cp_times', counted.ticks ?? '0 0 0 0 100 0 0 0 0 100'],
    [`sysctl 'dev.ix.0.mac_stats'`, counted.card ?? ''],
  ]);
};

const before = outputs({});

const pfInfo = (entries: number, counters: Record<string, number>) =>
  `Status: Enabled for 0 days 00:01:01           Debug: Urgent

State Table                          Total             Rate
  current entries                    ${entries}
  searches                              79           79.0/s
Counters
  match                                 79           79.0/s
${Object.entries(counters)
  .map(([name, count]) => `  ${name}      ${count}      0.0/s\n`)
  .join('')}`;

const limitsAfter = (counted: Counted, info?: string) =>
  limitsBetween(before, outputs(counted), { ingress: 'ix0', egress: 'ix1', pfInfo: info });

const all = { arrived: 1000, sent: 1000, ip: { forwarded: 1000 } };

test('a DUT that forwards all has no drops', () => {
  expect(limitsAfter(all)).toMatchObject({
    offeredPackets: 1000,
    receivedPackets: 1000,
    drops: [],
  });
});

test('the counter of a card that explains its drops names their cause', () => {
  const card = 'dev.ix.0.mac_stats.rx_missed_packets: 500\ndev.ix.0.mac_stats.rec_len_errs: 0\n';
  const fresh = card.replace('500', '0');
  const limits = limitsBetween(outputs({ card: fresh }), outputs({ ...all, idrop: 500, card }), {
    ingress: 'ix0',
    egress: 'ix1',
  });
  expect(limits?.drops).toEqual([{ place: 'card', cause: 'missed at ix0 (rx_missed_packets)', packets: 500 }]);
});

const fullTable = (reason: string) => ({
  place: 'state-table',
  cause: `pf: ${reason}, because its table is full (set limit states)`,
  packets: 600,
});

test.each<[string, Counted, string | undefined, object]>([
  [
    'a full queue towards the card is an output queue',
    { sent: 700, ip: { forwarded: 700, noBuffers: 300 } },
    undefined,
    { place: 'output-queue', cause: 'a full queue, or too few buffers', packets: 300 },
  ],
  ...['state-limit', 'memory'].map((reason): [string, Counted, string, object] => [
    `a reached limit of pf states is named: ${reason}`,
    { sent: 400, ip: { forwarded: 400 } },
    pfInfo(10_000, { [reason]: 600 }),
    fullTable(reason),
  ]),
  [
    'packets that IP received and did not forward are the firewall’s',
    { sent: 900, ip: { forwarded: 900 } },
    pfInfo(0, {}),
    { place: 'firewall', packets: 100 },
  ],
  [
    'packets without a route count once, though the system counts them as not forwardable, too',
    { sent: 900, ip: { forwarded: 900, unforwardable: 100, noRoute: 100 } },
    undefined,
    { place: 'ip', cause: 'a missing route', packets: 100 },
  ],
  [
    'packets that a DUT does not forward are those of IP, and of no firewall',
    { ip: { forwarded: 0, unforwardable: 1000 } },
    undefined,
    { place: 'ip', cause: 'a DUT that does not forward, or a reject route', packets: 1000 },
  ],
  [
    'packets that vanish while the DUT reports expired ones are those of a loop',
    { ip: { forwarded: 0, expired: 200 } },
    undefined,
    { place: 'ip', cause: 'an expired TTL, as in a routing loop', packets: 1000 },
  ],
])('%s', (_, counted, info, drop) => {
  expect(limitsAfter({ arrived: 1000, ...counted }, info)?.drops).toMatchObject([drop]);
});

test('rules that count what they drop are named, for no more packets than vanished', () => {
  const rule = { firewall: 'pf', rule: 'block drop all', packets: 103 } as const;
  const path = { ingress: 'ix0', egress: 'ix1', rules: [rule] };
  const after = outputs({ arrived: 1000, sent: 900, ip: { forwarded: 900 } });
  expect(limitsBetween(before, after, path)?.drops).toMatchObject([{ place: 'firewall', packets: 100 }]);
});

/** As netisr_stats() of FreeBSD 14's netstat(1) prints them. */
const netisr = (...drops: [number, number]) => `Configuration:
Setting                        Current        Limit
Thread count                         2            2

Protocols:
Name   Proto QLimit Policy Dispatch Flags
ip         1    256   flow  default   ---

Workstreams:
WSID CPU   Name     Len WMark   Disp'd  HDisp'd   QDrops   Queued  Handled
   0   0   ip         0   256     1006        0 ${drops[0]}      299     1305
   0   0   arp        0     0        0        0        9        0        0
   1   1   ip         0   256        0        0 ${drops[1]}   124245   124245
`;

test('packets of full queues of netisr are counted over all workstreams, and are no others', () => {
  const [first, last] = [outputs({}), outputs({ arrived: 1000, sent: 900, ip: { forwarded: 900 } })];
  first.set('netstat -Q', netisr(5, 7));
  last.set('netstat -Q', netisr(35, 77));
  expect(limitsBetween(first, last, { ingress: 'ix0', egress: 'ix1' })?.drops).toEqual([
    {
      place: 'backlog',
      cause: 'a full queue of netisr for ip (net.isr.defaultqlimit)',
      packets: 100,
    },
  ]);
});

test('counters that ran backwards give no limits', () => {
  const later = outputs(all);
  expect(limitsBetween(later, before, { ingress: 'ix0', egress: 'ix1' })).toBeUndefined();
});
