// Reads counters of a Linux DUT's log.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { limitsInLinuxLog } from '../../../src/lab/linux/linux-limits.ts';
import { trialLimitsSchema } from '../../../src/model/limits.ts';

type Blocks = Record<string, string>;

const edge = (run: number, which: 'begin' | 'end', blocks: Blocks): string =>
  [
    `limits ${run} ${which} 17956969${which === 'begin' ? 14 : 15}.338729 in0 out0`,
    ...Object.entries(blocks).flatMap(([name, text]) => text.split('\n').map((line) => `= ${name} ${line}`)),
  ].join('\n');

const dev = (received: number, sent: number, sendDrops = 0): string =>
  `  in0: 64000 ${received} 0 0 0 0 0 0 0 0 0 0 0 0 0 0
 out0: 0 0 0 0 0 0 0 0 64000 ${sent} 0 ${sendDrops} 0 0 0 0`;

const snmp = (received: number, forwarded: number): string =>
  `Ip: Forwarding InReceives InHdrErrors InDelivers ForwDatagrams
Ip: 1 ${received} 0 0 ${forwarded}`;

const snmp6 = 'Ip6InReceives 0\nIp6InDelivers 0\nIp6OutForwDatagrams 0';

const conntrack = (drops: number): string => `entries drop\n000003e8 ${drops.toString(16)}\n0003e8 0`;

const rules = (rule: string): string =>
  `table inet router {\n\tchain early {\n\t\ttype filter hook prerouting priority raw; policy accept;\n\t\t${rule}\n\t}\n}`;

const runs = [{ variant: 'base' }];

/** A run with 1,000 packets in and 900 out. */
function lossy(before: Blocks, after: Blocks) {
  const log = [
    edge(0, 'begin', { dev: dev(5000, 5000), ...before }),
    edge(0, 'end', { dev: dev(6000, 5900), ...after }),
  ].join('\n');
  return limitsInLinuxLog(log, runs).base;
}

test('a rule that counts what it drops is named with its table and chain', () => {
  const rule = 'udp dport 9 counter packets 100 bytes 4600 drop';
  const cause = 'the rule "udp dport 9 counter drop" in chain early of table inet router';
  const drops = [{ place: 'firewall', cause, packets: 100 }];
  const limits = lossy({}, { nft: rules(rule), received: '6000' });
  expect(limits).toMatchObject({ offeredPackets: 1000, receivedPackets: 900, drops });
});

test('a rule that counts for longer than the run lost no more packets than came out too few', () => {
  const rule = 'counter packets 300 bytes 4600 drop';
  const limits = lossy({}, { nft: rules(rule), received: '6000' });
  expect(limits?.drops).toMatchObject([{ packets: 100 }]);
});

test.each([
  [
    'rule',
    rules('udp dport 9 drop comment "a\tchain"'),
    'the rule "udp dport 9 drop comment "a chain"" in chain early of table inet router',
  ],
  [
    'policy',
    'table ip filter {\n\tchain FORWARD {\n\t\ttype filter hook forward priority filter; policy drop;\n\t}\n}',
    'the policy of chain FORWARD of table ip filter',
  ],
])('packets that IP received and neither kept nor forwarded are those of a %s without a counter', (_, nft, cause) => {
  const limits = lossy({ snmp: snmp(5000, 5000), snmp6 }, { snmp: snmp(6000, 5900), snmp6, nft });
  expect(limits?.drops).toEqual([{ place: 'firewall', cause: `${cause}, without a counter`, packets: 100 }]);
});

test('packets without space for a state are those of the table, and of no rule', () => {
  const limits = lossy(
    { snmp: snmp(5000, 5000), snmp6, nf_conntrack: conntrack(0) },
    { snmp: snmp(6000, 5900), snmp6, nf_conntrack: conntrack(100) },
  );
  expect(limits?.drops).toMatchObject([{ place: 'state-table', packets: 100 }]);
});

test('a discipline that was installed between the readings has dropped all that it counts', () => {
  const tc = (name: string, drops: number) =>
    `qdisc ${name} dev out0 root refcnt 2\n Sent 1 bytes 1 pkt (dropped ${drops}, overlimits 0 requeues 0) `;
  const after = { tc: tc('tbf 8001:', 100) };
  const drops = [{ place: 'output-queue', cause: 'tbf on out0', packets: 100 }];
  expect(lossy({ tc: tc('fq_codel 0:', 7) }, after)?.drops).toEqual(drops);
  expect(lossy({ tc: tc('tbf 8000:', 7) }, after)?.drops).toEqual(drops);
  expect(lossy({}, after)?.drops).toEqual([]);
});

test('the busiest CPU is that of all runs of a variant together', () => {
  const stat = (busy: number, idle: number) => `cpu0 ${busy} 0 0 ${idle} 0 0 0 9 0 0\ncpu1 0 0 0 200 0 0 0 9 0 0`;
  const log = [
    edge(0, 'begin', { stat: stat(0, 0) }),
    edge(0, 'end', { stat: stat(30, 10) }),
    edge(1, 'begin', { stat: stat(100, 100), dev: dev(0, 0) }),
    edge(1, 'end', { stat: stat(130, 130), dev: dev(10, 10) }),
  ].join('\n');
  const { base } = limitsInLinuxLog(log, [{ variant: 'base' }, { variant: 'base' }]);
  expect(base?.busiestCpuRatio).toBe(0.6);
});

test('any text of a DUT gives limits within their bounds, or none', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('-1', '9'.repeat(17), '1e9', 'cpu0 1 1', '7'.repeat(400)));
  const blocks = fc.dictionary(
    fc.constantFrom('stat', 'softnet_stat', 'nf_conntrack', 'ethtool:in0', 'nft', 'tc', 'snmp'),
    text,
  );
  fc.assert(
    fc.property(blocks, blocks, (before, after) => {
      const limits = lossy(before, after);
      if (limits !== undefined) trialLimitsSchema.parse(limits);
    }),
  );
});
