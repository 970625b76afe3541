// Names what drops packets, from the log of a Linux DUT.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dropsIn } from '../../../src/lab/linux/linux-drops.ts';

const traced = (...lines: string[]) =>
  ['lay patched 1.0 1.1', 'sample 0 1.2 5 5 - - -', 'drops patched', ...lines, 'end', ''].join(
    '\n',
  );
const dropped = (...lines: string[]) => dropsIn(traced(...lines)).get('patched');

test('A rule that drops a packet is named with its chain and table.', () => {
  const of = (id: string) => [
    `trace trace id ${id} inet filter forward rule counter packets ${id} bytes 9 jump bad (verdict jump bad)`,
    `trace trace id ${id} inet filter bad rule udp dport 2000 counter packets ${id} bytes 9 drop (verdict drop)`,
  ];
  expect(dropped(...of('11'), ...of('22'))).toBe(
    'the rule "udp dport 2000 counter drop" in chain bad of table inet filter',
  );
});

test('A chain whose policy drops a packet is named.', () => {
  expect(dropped('trace trace id ab12 ip filter FORWARD policy drop ')).toBe(
    'the policy of chain FORWARD of table ip filter',
  );
});

test('Of several rules the one that drops most packets is named.', () => {
  const by = (id: string, rule: string) =>
    `trace trace id ${id} ip t c rule ${rule} (verdict drop)`;
  const all = [by('1', 'ttl 1 drop'), by('2', 'udp drop'), by('3', 'udp drop')];
  expect(dropped(...all)).toBe('the rule "udp drop" in chain c of table ip t');
});

// Attack read/drop-rule: The comment of a rule that drops packets has markup, a line of the log, or no end.
// Defence: Traces are cut and prefixed by line, and the phrase is quoted.
test('A rule whose text was cut is named by its chain.', () => {
  expect(dropped(`trace trace id 1 ip t c rule ${'ip saddr 1.2.3.4 '.repeat(22)}`)).toBe(
    'a rule in chain c of table ip t',
  );
});

test('Packets that pass the rules are dropped by what the kernel counted most.', () => {
  const passed = 'trace trace id 1 ip filter prerouting policy accept';
  expect(dropped(passed, 'counted IpInDiscards 2', 'counted TcpExtIPReversePathFilter 48')).toBe(
    'the reverse-path filter (net.ipv4.conf.….rp_filter) (TcpExtIPReversePathFilter counted 48)',
  );
  expect(dropped(passed, 'counted IpForwDatagrams 48')).toBeUndefined();
});

test('Variants without such lines have no cause.', () => {
  expect(dropsIn('lay base 1.0 1.1\nsample 0 1.2 5 5 - - -\nend\n')).toEqual(new Map());
  expect(dropped()).toBeUndefined();
});

// Attack read/drop-rule
test('No log makes it throw.', () => {
  const line = fc.oneof(
    fc.string(),
    fc.constantFrom('drops a', 'trace ', 'counted IpInDiscards 1', 'counted x', 'end'),
    fc.string().map((text) => `trace trace id 1 ip t c ${text}`),
  );
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      for (const [, text] of dropsIn(lines.join('\n'))) expect(text.length).toBeLessThan(1000);
    }),
  );
});
