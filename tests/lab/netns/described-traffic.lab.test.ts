import { execFileSync } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
import { parseConfig } from '../../../src/config/load.ts';
import type { Traffic } from '../../../src/config/schema.ts';
import { openEmbedded } from '../../../src/gate/testbeds/open-testbed.ts';
import type { Overlay } from '../../../src/kernel/overlay.ts';
import { labDown } from '../../../src/lab/netns/embedded-lab.ts';
import type { PrepareRequest, Testbed } from '../../../src/lab/testbed.ts';
import type { PlannedTrial } from '../../../src/model/planned-trial.ts';
import type { Family } from '../../../src/model/scenario.ts';
import { overlay } from '../../fakes/overlay.ts';
import { describeWith, labPrograms } from '../../needs.ts';

const trafficOf = (traffic: string): Traffic =>
  parseConfig(`testbeds: { here: { kind: embedded-linux } }\ntraffic: { warmUp: 300 ms, ${traffic} }\n`, {
    path: 'ppsgate.yml',
    home: '/',
  }).traffic;

/** Drops all packets but those of a rule. */
const onlyForwarding = (rule: string): Overlay =>
  overlay('base', {
    'nftables.conf': `table inet router {
  chain forwarded {
    type filter hook forward priority filter; policy drop;
    ct state invalid drop
    ${rule} accept
  }
}
`,
  });

const dutScript = '/run/ppsgate/dut/dut.bash';

const noVariants: PrepareRequest = {
  variants: [],
  cells: [],
  rules: {},
  keepLog: async () => {},
  notify() {},
  signal: new AbortController().signal,
};

const plannedOf = (family: Family): PlannedTrial => ({
  number: 1,
  cell: { scenario: 'nftables-stateful', family },
  runs: [1, 2].map((number) => ({ number, pair: number, variant: 'base' })),
});

describeWith(['root', ...labPrograms], 'a Linux testbed sends described packets', () => {
  let testbed: Testbed;

  afterEach(async () => {
    await testbed.restore();
    await labDown();
  });

  /** Median rate of each run. */
  async function forwarded(traffic: Traffic, rule: string, family: Family): Promise<number[]> {
    testbed = await openEmbedded('here', traffic);
    const planned = plannedOf(family);
    const request = { variants: [onlyForwarding(rule)], cells: [planned.cell] };
    expect(await testbed.prepare({ ...noVariants, ...request })).toEqual({ kind: 'ready' });
    const outcome = await testbed.trial(planned, noVariants.keepLog, noVariants.signal);
    if (outcome.kind !== 'measured') expect.fail(JSON.stringify(outcome));
    return outcome.runs.map(({ pps }) => pps);
  }

  const networks = {
    inet4: { source: '192.168.1.0/24', destination: '203.0.113.0/24' },
    inet6: { source: '2001:db8:1::/64', destination: '2001:db8:2::/64' },
  };
  const fromSite = `addresses: ${JSON.stringify(networks)}`;

  test.for([
    ['protocol: tcp, ports: { destination: 443 }', 'tcp dport 443 tcp flags syn', 'inet4'],
    ['ports: { source: 1024-65535, destination: 53 }', 'udp dport 53 udp sport >= 1024', 'inet6'],
    ['frameSize: imix', 'udp dport 2000', 'inet4'],
    [fromSite, 'ip saddr 192.168.1.0/24 ip daddr 203.0.113.0/24', 'inet4'],
    [fromSite, 'ip6 saddr 2001:db8:1::/64 ip6 daddr 2001:db8:2::/64', 'inet6'],
  ] as const)('%s passes the rule "%s" of %s', async ([written, rule, family]) => {
    const rates = await forwarded(trafficOf(written), rule, family);
    expect(Math.min(...rates)).toBeGreaterThan(0);
  });

  const routesOf = () =>
    execFileSync('ip', ['-n', 'ppsgate-dut', 'route', 'show', 'root', '192.168.0.0/16']).toString();

  test("a DUT that is given back has no routes to a site's networks", async () => {
    await forwarded(trafficOf(fromSite), 'udp dport 2000', 'inet4');
    expect(routesOf()).toContain('192.168.1.0/24 via 198.18.0.2');
    await testbed.prepare(noVariants);
    expect(routesOf()).toContain('192.168.1.0/24 via 198.18.0.2');
    execFileSync('ip', ['netns', 'exec', 'ppsgate-dut', 'bash', dutScript, 'restore']);
    expect(routesOf()).toBe('');
  });

  test('usual packets are dropped by a rule for others', async () => {
    const rates = await forwarded(trafficOf('flows: 100'), 'tcp dport 443', 'inet4');
    expect(rates).toEqual([0, 0]);
  });
});
