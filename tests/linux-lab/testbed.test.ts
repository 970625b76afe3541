import { execFileSync } from 'node:child_process';
import { afterEach, expect, test } from 'vitest';
import type { Overlay } from '../../src/build/overlay.ts';
import { parseConfig } from '../../src/config/load.ts';
import type { PlannedBlast } from '../../src/experiment/schedule.ts';
import { labDown } from '../../src/linux-lab/lab.ts';
import type { Cell } from '../../src/scenario/scenario.ts';
import { openTestbed } from '../../src/testbed/open.ts';
import type { BlastOutcome, Testbed } from '../../src/testbed/testbed.ts';
import { describeWith, labPrograms } from '../needs.ts';

const config = parseConfig(
  `
testbeds: { here: { kind: embedded-linux } }
traffic: { warmUp: 300 ms }
`,
  { path: 'ppsgate.yml', home: '/' },
);

const overlay = (variant: string, files: Record<string, string>): Overlay => ({
  variant,
  commit: '0'.repeat(40),
  files: Object.entries(files).map(([path, content]) => ({
    path,
    mode: '100644',
    content,
    sha256: '',
  })),
});

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

function blastOf(cell: Cell): PlannedBlast {
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

  const measure = (cell: Cell): Promise<BlastOutcome> =>
    testbed.blast(
      blastOf(cell),
      async (name, text) => void logs.set(name, text),
      new AbortController().signal,
    );

  afterEach(async () => {
    await testbed.restore();
    await labDown();
  });

  for (const family of ['inet4', 'inet6'] as const) {
    for (const scenario of ['forwarding', 'nftables-stateless', 'nftables-stateful'] as const) {
      test(`forwards ${family} packets in ${scenario}, and a hundred rules cost time`, async () => {
        testbed = await openTestbed('here', config.traffic, config);
        const cell = { scenario, family };
        expect(await testbed.prepare([empty, slow], [cell])).toEqual({ kind: 'ready' });

        const outcome = await measure(cell);
        if (outcome.kind === 'failed') throw new Error(outcome.reason);
        const cost = (variant: string) =>
          outcome.runs
            .filter((run) => run.variant === variant)
            .reduce((sum, run) => sum + (run.nsPerPacket ?? 0), 0);

        expect(outcome.runs).toHaveLength(8);
        expect(Math.min(...outcome.runs.map((run) => run.pps))).toBeGreaterThan(0);
        // A hundred rules cost some 1.2 µs, more than the forwarding itself.
        expect(cost('patched') / cost('base')).toBeGreaterThan(1.2);
        expect(outcome.summary.offeredPps).toBeGreaterThan(0);
        expect([...logs.keys()]).toEqual(['dut.log', 'sender.log', 'counters.json']);
      });
    }
  }

  test('names what nft says of rules that do not load', async () => {
    testbed = await openTestbed('here', config.traffic, config);
    const broken = overlay('patched', { 'nftables.conf': chain('meta l4proto upd drop') });
    expect(await testbed.prepare([empty, broken], [inet4])).toMatchObject({
      kind: 'does-not-load',
      variant: 'patched',
      scenario: 'forwarding',
      message: expect.stringMatching(/nftables\.conf:4:.*Could not resolve protocol name/s),
    });
  });

  test('names a setting that the kernel does not have', async () => {
    testbed = await openTestbed('here', config.traffic, config);
    const broken = overlay('patched', { 'sysctl.conf': 'net.ipv4.no_such_thing = 1\n' });
    expect(await testbed.prepare([empty, broken], [inet4])).toMatchObject({
      kind: 'does-not-load',
      variant: 'patched',
      message: expect.stringContaining('no_such_thing'),
    });
  });

  test('refuses a setting that belongs to the whole machine', async () => {
    testbed = await openTestbed('here', config.traffic, config);
    const hostile = overlay('patched', { 'sysctl.conf': 'kernel.core_pattern = |/tmp/x\n' });
    expect(await testbed.prepare([empty, hostile], [inet4])).toMatchObject({
      kind: 'does-not-load',
      message: expect.stringContaining('kernel.core_pattern is no setting of the network'),
    });
  });

  test('takes a setting of one variant back when the other is laid', async () => {
    testbed = await openTestbed('here', config.traffic, config);
    const changed = overlay('patched', { 'sysctl.conf': 'net.ipv4.conf.all.rp_filter = 2\n' });
    await testbed.prepare([changed, empty], [inet4]);
    expect(inDut('sysctl', '-n', 'net.ipv4.conf.all.rp_filter')).toBe('0');
  });

  test('puts rules and settings back as they were', async () => {
    testbed = await openTestbed('here', config.traffic, config);
    inDut('nft', 'add', 'table', 'inet', 'administrator');
    const changed = overlay('patched', {
      'sysctl.conf': 'net.ipv4.ip_default_ttl = 12\n',
      'nftables.conf': chain(),
    });
    await testbed.prepare([empty, changed], [inet4]);
    expect(inDut('sysctl', '-n', 'net.ipv4.ip_default_ttl')).toBe('12');

    const again = await openAgain();
    expect(inDut('sysctl', '-n', 'net.ipv4.ip_default_ttl')).toBe('64');
    expect(inDut('nft', 'list', 'tables')).toBe('table inet administrator');
    expect(again).toEqual({ kind: 'ready' });
  });

  /** What a controller that was killed left is put back by the next one's preparation. */
  const openAgain = () => testbed.prepare([empty], []);

  test('ends the generator and the sampler when the controller lets go', async () => {
    testbed = await openTestbed('here', config.traffic, config);
    await testbed.prepare([empty, slow], [inet4]);
    const cancel = new AbortController();
    const running = testbed.blast(blastOf(inet4), async () => {}, cancel.signal);
    await expect.poll(programs, patience).toEqual(expect.arrayContaining(['trafgen', 'bash']));

    cancel.abort();
    await expect(running).rejects.toThrow('Cancelled');
    await expect.poll(programs, patience).not.toEqual(expect.arrayContaining(['trafgen']));
    await expect.poll(programs, patience).not.toEqual(expect.arrayContaining(['bash']));
  });

  test('measures a patched DUT that forwards nothing at all', async () => {
    testbed = await openTestbed('here', config.traffic, config);
    const deaf = overlay('patched', { 'nftables.conf': chain('meta l4proto udp drop') });
    await testbed.prepare([empty, deaf], [inet4]);

    const outcome = await measure(inet4);
    if (outcome.kind === 'failed') throw new Error(outcome.reason);
    const patched = outcome.runs.filter((run) => run.variant === 'patched');
    expect(patched.map((run) => run.pps)).toEqual([0, 0, 0, 0]);
  });
});

const inDut = (...command: string[]): string =>
  execFileSync('ip', ['netns', 'exec', 'ppsgate-dut', ...command], { encoding: 'utf8' }).trim();

const patience = { timeout: 10_000 };

/** Names of what runs on the sender and on the DUT, sshd aside. */
function programs(): string[] {
  const pids = ['ppsgate-sender', 'ppsgate-dut'].flatMap((namespace) =>
    execFileSync('ip', ['netns', 'pids', namespace], { encoding: 'utf8' }).trim().split('\n'),
  );
  return execFileSync('ps', ['-o', 'comm=', '-p', pids.join(',')], { encoding: 'utf8' })
    .split('\n')
    .filter((name) => name !== '' && !name.startsWith('sshd'));
}
