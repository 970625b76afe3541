import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { cellLimits } from '../../../src/analysis/stats/cell-limits.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { openEmbedded } from '../../../src/gate/testbeds/open-testbed.ts';
import { labDown } from '../../../src/lab/netns/embedded-lab.ts';
import type { Testbed } from '../../../src/lab/testbed.ts';
import type { VariantLimits } from '../../../src/model/limits.ts';
import type { PlannedTrial } from '../../../src/model/planned-trial.ts';
import type { Cell, LinuxScenario } from '../../../src/model/scenario.ts';
import { overlay } from '../../fakes/overlay.ts';
import { describeWith, labPrograms } from '../../needs.ts';

const { traffic } = parseConfig(
  `
testbeds: { here: { kind: embedded-linux } }
traffic: { warmUp: 300 ms }
`,
  { path: 'ppsgate.yml', home: '/' },
);

const chain = (rule: string) => ({
  'nftables.conf': `table inet router {
  chain early {
    type filter hook prerouting priority raw; policy accept;
    ${rule}
  }
}
`,
});

/**
 * Reads of counters follow one another, and packets flow on while another program has the CPU. Without a place, or with one
 * counted twice, the rest is at least twice this.
 */
const maxUnaccounted = 0.05;

describeWith(['root', ...labPrograms], 'limits of a Linux testbed', () => {
  let testbed: Testbed;

  async function measured(
    files: { base?: Record<string, string>; patched?: Record<string, string> },
    scenario: LinuxScenario = 'forwarding',
    before = () => {},
  ) {
    const cell: Cell = { scenario, family: 'inet4' };
    testbed = await openEmbedded('here', traffic);
    const variants = [overlay('base', files.base ?? chain('')), overlay('patched', files.patched ?? chain(''))];
    const prepared = await testbed.prepare({
      variants,
      cells: [cell],
      rules: {},
      keepLog: async () => {},
      notify() {},
      signal: new AbortController().signal,
    });
    expect(prepared).toEqual({ kind: 'ready' });
    before();
    const order = Array.from({ length: 52 }, (_, index) => [0, 3].includes(index % 4));
    const planned: PlannedTrial = {
      number: 1,
      cell,
      runs: order.map((isBase, index) => ({
        number: index + 1,
        pair: Math.floor(index / 2) + 1,
        variant: isBase ? 'base' : 'patched',
      })),
    };
    const outcome = await testbed.trial(planned, async () => {}, new AbortController().signal);
    if (outcome.kind !== 'measured') throw new Error(JSON.stringify(outcome));
    const limits = cellLimits([outcome.summary]);
    if (limits === undefined) throw new Error('no limits were read');
    return limits;
  }

  afterEach(async () => {
    await testbed.restore();
    await labDown();
  });

  const lossOf = ({ lostRatio, drops }: VariantLimits) => {
    const unaccounted = lostRatio - drops.reduce((sum, { ratio }) => sum + ratio, 0);
    return { lostRatio, drops, unaccounted };
  };

  test('a chain that drops one flow in ten is named with its share', async () => {
    const rule = 'meta l4proto udp numgen inc mod 10 == 0 drop';
    const { base, patched } = await measured({ patched: chain(rule) });
    const cause = expect.stringMatching(/^the rule ".*" in chain early of table inet router/);
    const loss = lossOf(patched);
    expect(loss.drops).toEqual([{ place: 'firewall', cause, ratio: expect.closeTo(0.1, 1) }]);
    expect(Math.abs(loss.unaccounted)).toBeLessThan(maxUnaccounted);
    expect(lossOf(base).lostRatio).toBeLessThan(maxUnaccounted);
  });

  test('a full table of states is named, also for base', async () => {
    const path = '/proc/sys/net/netfilter/nf_conntrack_max';
    const usual = readFileSync(path, 'utf8');
    try {
      const both = await measured({}, 'nftables-stateful', () => writeFileSync(path, '100'));
      for (const limits of [both.base, both.patched]) {
        const loss = lossOf(limits);
        const cause = expect.stringContaining('its table is full');
        expect(loss.drops[0]).toMatchObject({ place: 'state-table', cause });
        expect(loss.lostRatio).toBeGreaterThan(0.5);
        expect(Math.abs(loss.unaccounted)).toBeLessThan(maxUnaccounted);
      }
    } finally {
      writeFileSync(path, usual);
    }
  });
});
