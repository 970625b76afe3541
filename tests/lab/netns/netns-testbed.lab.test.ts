import { execFileSync } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
import { isSteady } from '../../../src/analysis/stats/steady.ts';
import { parseConfig } from '../../../src/config/load.ts';
import { openEmbedded } from '../../../src/gate/testbeds/open-testbed.ts';
import type { Variant } from '../../../src/kernel/variant.ts';
import { labDown } from '../../../src/lab/netns/embedded-lab.ts';
import { readLinuxLogs } from '../../../src/lab/netns/netns-logs.ts';
import type { Testbed, TrialOutcome } from '../../../src/lab/testbed.ts';
import type { PlannedTrial } from '../../../src/model/planned-trial.ts';
import type { PrepareOutcome } from '../../../src/model/rejection.ts';
import type { Cell } from '../../../src/model/scenario.ts';
import { overlay } from '../../fakes/overlay.ts';
import { describeWith, labPrograms, testWith } from '../../needs.ts';

const trafficOf = (text: string) =>
  parseConfig(`testbeds: { here: { kind: embedded-linux } }\ntraffic: { ${text} }\n`, {
    path: 'ppsgate.yml',
    home: '/',
  }).traffic;
const traffic = trafficOf('warmUp: 300 ms');

const chain = (...rules: string[]) =>
  `table inet router {
  chain early {
    type filter hook prerouting priority raw; policy accept;
${rules.map((rule) => `    ${rule}\n`).join('')}  }
}
`;

const empty = overlay('base', { 'nftables.conf': chain() });
const slow = overlay('patched', {
  'nftables.conf': chain(...new Array<string>(100).fill('meta l4proto 254 drop')),
});
const inet4: Cell = { scenario: 'forwarding', family: 'inet4' };

function trialOf(cell: Cell): PlannedTrial {
  const variants = ['base', 'patched', 'patched', 'base', 'base', 'patched', 'patched', 'base'];
  const runs = variants.map((variant, index) => ({
    number: index + 1,
    pair: Math.floor(index / 2) + 1,
    variant,
  }));
  return { number: 1, cell, runs };
}

describeWith(['root', ...labPrograms], 'a Linux testbed', () => {
  let testbed: Testbed;
  const logs = new Map<string, string>();

  const { signal } = new AbortController();
  const prepare = (variants: Variant[], cells: Cell[], notify = (_: string) => {}): Promise<PrepareOutcome> =>
    testbed.prepare({ variants, cells, rules: {}, keepLog: async () => {}, notify, signal });

  const measure = (cell: Cell): Promise<TrialOutcome> =>
    testbed.trial(trialOf(cell), async (name, text) => void logs.set(name, String(text)), signal);

  afterEach(async () => {
    await testbed.restore();
    await labDown();
  });

  test.for<Cell>([
    { scenario: 'forwarding', family: 'inet4' },
    { scenario: 'nftables-stateless', family: 'inet6' },
    { scenario: 'nftables-stateful', family: 'inet6' },
  ])('forwards $family packets in $scenario, and a hundred rules cost time', async (cell) => {
    testbed = await openEmbedded('here', traffic);
    expect(await prepare([empty, slow], [cell])).toEqual({ kind: 'ready' });
    const outcome = await measure(cell);
    if (outcome.kind !== 'measured') throw new Error(outcome.kind);
    const kept = {
      dut: logs.get('dut.log') ?? '',
      sender: logs.get('sender.log') ?? '',
      counters: logs.get('counters.json') ?? '',
    };
    expect(readLinuxLogs(trialOf(cell), outcome.summary.startedAt, kept)).toEqual(outcome);
    expect(outcome.runs).toHaveLength(8);
    expect(Math.min(...outcome.runs.map((run) => run.pps))).toBeGreaterThan(0);
    // The best run of each, because other load on a shared CPU only adds time.
    const cost = (variant: string) =>
      Math.min(...outcome.runs.filter((run) => run.variant === variant).flatMap(({ nsPerPacket = [] }) => nsPerPacket));
    // A hundred rules cost about 1.2 µs, more than the forwarding itself.
    expect(cost('patched') / cost('base')).toBeGreaterThan(1.2);
  });

  test('accepts other variants between two trials, and reinstalls none that it has', async () => {
    testbed = await openEmbedded('here', traffic);
    const told: string[] = [];
    const ask = (...variants: Variant[]) => prepare(variants, [inet4], (text) => void told.push(text));
    expect(testbed.ready()).toEqual(new Set());
    for (const _again of [1, 2]) expect(await ask(empty)).toEqual({ kind: 'ready' });
    expect(told).toHaveLength(1);
    expect(testbed.ready()).toEqual(new Set(['base']));
    expect(await ask(empty, slow)).toEqual({ kind: 'ready' });
    expect(testbed.ready()).toEqual(new Set(['base', 'patched']));
    expect(await measure(inet4)).toMatchObject({ kind: 'measured' });
    const broken = overlay('middle', { 'nftables.conf': 'no rules' });
    expect(await ask(empty, broken)).toMatchObject({ kind: 'rejected', variant: 'middle' });
    expect(testbed.ready()).toEqual(new Set());
    expect(await ask(empty, slow)).toEqual({ kind: 'ready' });
    expect(await measure(inet4)).toMatchObject({ kind: 'measured' });
  });

  test('ends a run in a separate trial when its median is known, and not before', async () => {
    testbed = await openEmbedded('here', trafficOf('runsPerTrial: 1, measure: 8 s, measureAtLeast: 6 s'));
    await prepare([empty], [inet4]);
    const [run] = trialOf(inet4).runs;
    const trial = { number: 1, cell: inet4, runs: run === undefined ? [] : [run] };
    const outcome = await testbed.trial(trial, async () => {}, signal);
    if (outcome.kind !== 'measured') throw new Error(outcome.kind);

    const samples = outcome.runs[0]?.samples ?? [];
    const rates = samples.map(({ forwardedPackets, seconds }) => forwardedPackets / seconds);
    const known = rates.map((_, index) => isSteady(rates.slice(0, index + 1), { atLeast: 6, toleranceRatio: 0.005 }));
    expect(known.slice(0, -1)).not.toContain(true);
    expect(known.at(-1) || rates.length === 8).toBe(true);
  });

  // A killed controller never restores; the next preparation does.
  testWith(['iptables-nft'], 'puts a DUT with NAT of iptables-nft back as it was, byte for byte', async () => {
    testbed = await openEmbedded('here', traffic);
    inDut('bash', '-c', natLikeDockers);
    const before = inDut('bash', '-c', stateOfDut);
    const settings = 'net.ipv4.ip_forward = 0\nnet.ipv6.conf.all.forwarding = 0\n';
    const variant = (more: string) =>
      overlay('patched', { 'sysctl.conf': `${settings}${more} = 2\n`, 'nftables.conf': chain() });
    for (const refused of ['net.core.default_qdisc', 'net.ipv6.conf.all.disable_ipv6']) {
      expect(await prepare([empty, variant(refused)], [inet4])).toMatchObject({
        rejection: { message: expect.stringMatching(/^sysctl\.conf line 3: the DUT refuses the setting /) },
      });
      expect(inDut('bash', '-c', stateOfDut)).toBe(before);
    }
    expect(await prepare([empty, variant('net.ipv4.conf.default.rp_filter')], [inet4])).toEqual({ kind: 'ready' });
    expect(await measure(inet4)).toMatchObject({
      kind: 'measured',
      warnings: [expect.stringContaining('sysctl.conf line 3: net/ipv4/conf/default/rp_filter')],
    });
    expect(inDut('bash', '-c', stateOfDut)).not.toBe(before);
    expect(await prepare([empty], [])).toEqual({ kind: 'ready' });
    expect(inDut('bash', '-c', stateOfDut)).toBe(before);
  });
});

const inDut = (...command: string[]): string =>
  execFileSync('ip', ['netns', 'exec', 'ppsgate-dut', ...command], { encoding: 'utf8' }).trim();

const natLikeDockers = `
  iptables-nft -A FORWARD -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
  iptables-nft -t nat -N DOCKER
  iptables-nft -t nat -A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER
  iptables-nft -t nat -A POSTROUTING -s 198.51.100.0/24 ! -o docker0 -j MASQUERADE
  nft 'add table inet last; add chain inet last f { type filter hook forward priority 0; }'`;

/** Omits counters of packets, which keep growing, and waits until new addresses are settled. */
const stateOfDut = `
  until ! ip address | grep -q tentative; do read -rt 0.05 _ <> <(:); done
  nft --stateless list ruleset
  ! command -v iptables-nft-save >/dev/null || iptables-nft-save | sed '/^#/d; s/ \\[.*//'
  ip address
  ip -4 route show table all
  # The kernel adds its own anycast routes again, in an order of its own.
  ip -6 route show table all | sort
  ip neighbour show nud permanent
  grep -rsH '' /proc/sys/net | grep -v nf_conntrack_count`;
