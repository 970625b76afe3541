// Tests naming the cause of drops from the log of a Linux DUT.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { droppedBy, limitsInLinuxLog } from '../../../src/lab/linux/linux-limits.ts';
import { readings } from '../../fakes/limits.ts';

const traced = (...lines: string[]) =>
  ['lay patched 1.0 1.1', 'sample 0 1.2 5 5 - - -', 'drops patched', ...lines, 'end', ''].join('\n');

const by = (id: string, rule: string) => `trace trace id ${id} ip t c rule ${rule} (verdict drop)`;

test.each([
  [
    'A rule that drops a packet, with its chain and table',
    ['11', '22'].flatMap((id) => [
      `trace trace id ${id} inet filter forward rule counter packets ${id} bytes 9 jump bad (verdict jump bad)`,
      `trace trace id ${id} inet filter bad rule udp dport 2000 counter packets ${id} bytes 9 drop (verdict drop)`,
    ]),
    'the rule "udp dport 2000 counter drop" in chain bad of table inet filter',
  ],
  [
    'A chain whose policy drops a packet',
    ['trace trace id ab12 ip filter FORWARD policy drop '],
    'the policy of chain FORWARD of table ip filter',
  ],
  [
    'Of several rules the one that drops most packets',
    [by('1', 'ttl 1 drop'), by('2', 'udp drop'), by('3', 'udp drop')],
    'the rule "udp drop" in chain c of table ip t',
  ],
])('%s is named.', (_, lines, cause) => {
  expect(droppedBy(traced(...lines), 'patched', undefined)).toBe(cause);
});

const passed = traced('trace trace id 1 ip filter prerouting policy accept');
const kernel = { place: 'ip', cause: 'the kernel on receipt', packets: 2 } as const;
const filter = { place: 'ip', cause: 'the reverse-path filter', packets: 48 } as const;

test('Packets that pass the rules are dropped by what the counters have most of.', () => {
  const limits = readings({ offeredPackets: 50, receivedPackets: 0, drops: [kernel, filter] });
  expect(droppedBy(passed, 'patched', limits)).toBe('the reverse-path filter');
  const missed = { place: 'card', cause: 'missed at in0', packets: 500 } as const;
  const none = readings({ offeredPackets: 550, receivedPackets: 0, drops: [missed] });
  expect(droppedBy(passed, 'patched', none)).toBeUndefined();
});

test('A kernel that keeps all packets for itself is named by its own counters.', () => {
  const edge = (name: string, packets: number) =>
    [
      `limits 0 ${name} 1795696914.338729 in0 out0`,
      `= dev   in0: 64000 ${packets} 0 0 0 0 0 0 0 0 0 0 0 0 0 0`,
      '= dev  out0: 0 0 0 0 0 0 0 0 64000 7 0 0 0 0 0 0',
      '= snmp Ip: Forwarding InReceives InHdrErrors InDelivers ForwDatagrams',
      `= snmp Ip: 1 ${packets} 0 ${packets} 0`,
      '= snmp6 Ip6InReceives 0',
      '= snmp6 Ip6InDelivers 0',
      '= snmp6 Ip6OutForwDatagrams 0',
    ].join('\n');
  const log = `${edge('begin', 10)}\n${edge('end', 60)}\n${passed}`;
  const limits = limitsInLinuxLog(log, [{ variant: 'patched' }]);
  expect(droppedBy(log, 'patched', limits.patched)).toBe('the DUT itself, because they are addressed to it');
});

test('No log makes it throw.', () => {
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom('drops a', 'drops ', 'trace ', 'end'),
    fc.string().map((text) => `trace trace id 1 ip t c ${text}`),
  );
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const text = droppedBy(['drops a', ...lines].join('\n'), 'a', undefined) ?? '';
      expect(text.length).toBeLessThan(1000);
    }),
  );
});
