import { afterEach, expect, test } from 'vitest';
import { withCapture } from '../../../src/config/captured-traffic.ts';
import { parseConfig } from '../../../src/config/load.ts';
import type { Traffic } from '../../../src/config/schema.ts';
import { openEmbedded } from '../../../src/gate/testbeds/open-testbed.ts';
import type { Overlay } from '../../../src/kernel/overlay.ts';
import { labDown } from '../../../src/lab/netns/embedded-lab.ts';
import type { Testbed } from '../../../src/lab/testbed.ts';
import type { PlannedTrial } from '../../../src/model/planned-trial.ts';
import type { Family } from '../../../src/model/scenario.ts';
import { aPcap, udp4, udp6 } from '../../fakes/pcap.ts';
import { describeWith, labPrograms } from '../../needs.ts';

const configOf = (traffic: string) =>
  parseConfig(
    `testbeds: { here: { kind: embedded-linux } }\ntraffic: { warmUp: 300 ms, ${traffic} }\n`,
    { path: 'ppsgate.yml', home: '/' },
  );

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

    test(`a capture of ${family} passes rules for it alone`, async () => {
      const file = aPcap([udp4(1), udp4(2), udp6()]);
      const { traffic } = withCapture(configOf('pcap: dns.pcap'), file, 'dns.pcap');
      const rates = await forwarded(traffic, 'udp sport 40000 udp dport 53', family);
      expect(Math.min(...rates)).toBeGreaterThan(0);
    });
  }

  test('usual packets are dropped by a rule for others', async () => {
    const rates = await forwarded(configOf('flows: 100').traffic, 'tcp dport 443', 'inet4');
    expect(rates).toEqual([0, 0]);
  });
});
