// Has real packets meet a limit in guests with Linux, and asserts what comment and page report of it.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cellLimits } from '../../../src/analysis/stats/cell-limits.ts';
import { parseConfig } from '../../../src/config/load.ts';
import type { VirtualTestbed } from '../../../src/config/virtual-testbed.ts';
import { connectTo } from '../../../src/lab/connect.ts';
import type { FreebsdDeps } from '../../../src/lab/freebsd/freebsd-deps.ts';
import { openVirtualTestbed } from '../../../src/lab/qemu/virtual-testbed.ts';
import type { Testbed } from '../../../src/lab/testbed.ts';
import type { CellLimits, VariantLimits } from '../../../src/model/limits.ts';
import type { LinuxScenario } from '../../../src/model/scenario.ts';
import { renderHtml, renderMarkdown } from '../../../src/report/reports.ts';
import type { Host } from '../../../src/system/host/ssh.ts';
import { shell } from '../../../src/system/shell.ts';
import { kernelPackage } from '../../fakes/kernel-package.ts';
import { overlay } from '../../fakes/overlay.ts';
import { aCell, aResult } from '../../fakes/result.ts';
import { describeWith, virtualPrograms } from '../../needs.ts';

const { path: kernel } = await kernelPackage();

const chain = (rule: string) => ({
  'nftables.conf': `table inet router {
  chain early {
    type filter hook prerouting priority raw; policy accept;
    ${rule}
  }
}
`,
});

const { signal } = new AbortController();
const keepLog = async () => {};

describeWith(['root', ...virtualPrograms, 'tc', kernel], 'limits of guests', () => {
  let testbed: Testbed;
  let trials = 0;
  const hosts = new Map<string, Host>();

  /** Both guests stay up from trial to trial. */
  async function measured(scenario: LinuxScenario): Promise<CellLimits> {
    trials += 1;
    const runs = ['base', 'patched'].map((variant, index) => ({
      number: 2 * trials + index - 1,
      pair: 1,
      variant,
    }));
    const planned = { number: trials, cell: { scenario, family: 'inet4' }, runs } as const;
    const outcome = await testbed.trial(planned, keepLog, signal);
    if (outcome.kind !== 'measured') throw new Error(JSON.stringify(outcome));
    const limits = cellLimits([outcome.summary]);
    if (limits === undefined) throw new Error('no limits were read');
    return limits;
  }

  beforeAll(async () => {
    const { testbeds, traffic } = parseConfig(
      `
testbeds: { here: { kind: virtual, kernel: ${kernel}, modules: [sch_tbf] } }
traffic: { windows: 2, windowPackets: 1000 }
`,
      { path: 'ppsgate.yml', home: '/' },
    );
    const deps = {
      async connect(config, label, options) {
        const host = await connectTo(config, label, options);
        hosts.set(label, host);
        await host.output(
          shell`modprobe nf_conntrack && sysctl -q -w net.netfilter.nf_conntrack_max=100 net.netfilter.nf_conntrack_udp_timeout=600`,
        );
        return host;
      },
      sleep: (seconds) => new Promise((resolve) => setTimeout(resolve, seconds * 1000)),
      now: () => Date.now() / 1000,
    } as FreebsdDeps;
    testbed = await openVirtualTestbed('here', testbeds.here as VirtualTestbed, traffic, deps);
    const rule = 'meta l4proto udp numgen inc mod 10 == 0 drop';
    const variants = [overlay('base', chain('')), overlay('patched', chain(rule))];
    const cells = (['forwarding', 'nftables-stateful'] as const).map(
      (scenario) => ({ scenario, family: 'inet4' }) as const,
    );
    await testbed.prepare({ variants, cells, rules: {}, keepLog, notify() {}, signal });
  });

  afterAll(() => testbed?.restore());

  test('a full table of states, and a rule that drops one flow in ten, are named with their shares', async () => {
    const limits = await measured('nftables-stateful');
    // The kernel evicts states for new ones, so their number at the end may be a little smaller than the limit.
    bothSay(limits, 'because its table is full (net.netfilter.nf_conntrack_max)');
    bothSay(limits, 'patched loses 10 % of the packets in firewall, rules without a counter, such as the rule');
    const table = { place: 'state-table' };
    const rule = { place: 'firewall', ratio: expect.closeTo(0.1, 3) };
    expect(limits.base.drops[0]).toMatchObject(table);
    expect(limits.patched.drops.slice(0, 2)).toMatchObject([table, rule]);
    for (const variant of [limits.base, limits.patched]) expectAddsUp(variant);
  });
});

/** Only the queue of a discipline, of 2 kB here, holds packets at a reading: about 30 of 3,000. */
const maxQueuedRatio = 0.02;

function expectAddsUp({ lostRatio, drops }: VariantLimits): void {
  expect(lostRatio).toBeGreaterThan(0.1);
  const dropped = drops.reduce((sum, { ratio }) => sum + ratio, 0);
  expect(Math.abs(dropped - lostRatio)).toBeLessThan(maxQueuedRatio);
}

/** Comment and page of a regression with these readings. */
function bothSay(limits: CellLimits, text: string): void {
  const cells = [{ ...aCell({ kind: 'regression' }), limits }];
  const result = aResult({ outcome: { kind: 'judged', verdict: 'regression', cells } });
  const page = renderHtml(result, [])
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"');
  for (const said of [renderMarkdown(result), page]) {
    expect(said.replaceAll('\u00a0', ' ').replaceAll('`', '')).toContain(text);
  }
}
