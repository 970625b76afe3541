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
import { describeWith, labPrograms } from '../../needs.ts';

const configOf = (traffic: string) =>
  parseConfig(`testbeds: { here: { kind: embedded-linux } }\ntraffic: { warmUp: 300 ms, ${traffic} }\n`, {
    path: 'ppsgate.yml',
    home: '/',
  });

/** Drops all packets but those of a rule. */
const onlyForwarding = (rule: string): Overlay => ({
  variant: 'base',
  commit: '0'.repeat(40),
  files: [
    {
      path: 'nftables.conf',
      mode: '100644',
      content: `table inet router {
  chain forwarded {
    type filter hook forward priority filter; policy drop;
    ct state invalid drop
    ${rule} accept
  }
}
`,
      sha256: '',
    },
  ],
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
    const request = { variants: [onlyForwarding(rule)], cells: [planned.cell], rules: {} };
    const { signal } = new AbortController();
    const keepLog = async () => {};
    const prepared = await testbed.prepare({ ...request, keepLog, notify() {}, signal });
    expect(prepared).toEqual({ kind: 'ready' });
    const outcome = await testbed.trial(planned, keepLog, signal);
    if (outcome.kind !== 'measured') expect.fail(JSON.stringify(outcome));
    return outcome.runs.map(({ pps }) => pps);
  }

  const described = [
    ['protocol: tcp, ports: { destination: 443 }', 'tcp dport 443 tcp flags syn'],
    ['ports: { source: 1024-65535, destination: 53 }', 'udp dport 53 udp sport >= 1024'],
    ['frameSize: imix', 'udp dport 2000'],
  ] as const;

  for (const family of ['inet4', 'inet6'] as const) {
    for (const [written, rule] of described) {
      test(`${written} of ${family} passes rules for it alone`, async () => {
        const rates = await forwarded(configOf(written).traffic, rule, family);
        expect(Math.min(...rates)).toBeGreaterThan(0);
      });
    }
  }

  const networks = {
    inet4: { source: '192.168.1.0/24', destination: '203.0.113.0/24' },
    inet6: { source: '2001:db8:1::/64', destination: '2001:db8:2::/64' },
  };
  const fromSite = {
    inet4: 'ip saddr 192.168.1.0/24 ip daddr 203.0.113.0/24',
    inet6: 'ip6 saddr 2001:db8:1::/64 ip6 daddr 2001:db8:2::/64',
  };
  const siteConfig = () => configOf(`addresses: ${JSON.stringify(networks)}`);

  for (const family of ['inet4', 'inet6'] as const) {
    test(`packets of a site's networks of ${family} pass rules for them alone`, async () => {
      const rates = await forwarded(siteConfig().traffic, fromSite[family], family);
      expect(Math.min(...rates)).toBeGreaterThan(0);
    });
  }

  const routesOf = () =>
    execFileSync('ip', ['-n', 'ppsgate-dut', 'route', 'show', 'root', '192.168.0.0/16']).toString();

  test("a DUT that is given back has no routes to a site's networks", async () => {
    await forwarded(siteConfig().traffic, fromSite.inet4, 'inet4');
    expect(routesOf()).toContain('192.168.1.0/24 via 198.18.0.2');
    await testbed.prepare(noVariants);
    expect(routesOf()).toContain('192.168.1.0/24 via 198.18.0.2');
    execFileSync('ip', ['netns', 'exec', 'ppsgate-dut', 'bash', dutScript, 'restore']);
    expect(routesOf()).toBe('');
  });

  test('usual packets are dropped by a rule for others', async () => {
    const rates = await forwarded(configOf('flows: 100').traffic, 'tcp dport 443', 'inet4');
    expect(rates).toEqual([0, 0]);
  });
});
