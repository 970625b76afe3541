// Checks three Linux hosts after use, and restores them.
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LinuxTestbed } from '../../../src/config/schema.ts';
import { realDeps } from '../../../src/gate/testbeds/open-testbed.ts';
import type { Diagnostic } from '../../../src/lab/check/diagnostic.ts';
import { healthOf, whyUnhealthy } from '../../../src/lab/check/health.ts';
import { connectTo } from '../../../src/lab/connect.ts';
import { labDown, labUp } from '../../../src/lab/netns/embedded-lab.ts';
import { openLinuxTestbed } from '../../../src/lab/netns/netns-testbed.ts';
import { shell } from '../../../src/system/shell.ts';
import { describeWith, labPrograms } from '../../needs.ts';

const traffic = {
  flows: 100,
  frameBytes: 64,
  offeredPps: 10_000,
  warmUpSeconds: 0.1,
  settleSeconds: 0.005,
  measureSeconds: 600,
  measureAtLeastSeconds: 600,
  runsPerTrial: 1,
};

describeWith(['root', 'pgrep', 'pkill', ...labPrograms], 'three Linux hosts', () => {
  const signal = new AbortController().signal;
  let lab: LinuxTestbed;

  beforeEach(async () => {
    lab = await labUp();
  });
  afterEach(labDown);

  const health = (): Promise<Diagnostic[]> => Array.fromAsync(healthOf(lab, { ...realDeps, notify() {}, signal }));

  const wrongs = async () => (await health()).flatMap(({ kind, what }) => (kind === 'wrong' ? what : []));

  test('with a disconnected cable, or a disabled interface, are not', async () => {
    await using receiver = await connectTo(lab.receiver, 'receiver');
    await receiver.output(shell`ip link set ${lab.receiver.interface} down`);
    expect(await wrongs()).toEqual([
      // The other end of its cable.
      `the link of ${lab.dut.egress} of the DUT`,
      `the link of ${lab.receiver.interface} of the receiver`,
    ]);
  });

  test('that a controller left in a trial are healthy once they are restored', async () => {
    const controller = await openLinuxTestbed('here', lab, traffic);
    const cell = { scenario: 'nftables-stateful', family: 'inet4' } as const;
    const variants = [{ variant: 'base', commit: '0'.repeat(40), files: [] }];
    const prepared = controller.prepare({
      variants,
      cells: [cell],
      rules: {},
      signal,
      keepLog: async () => {},
      notify() {},
    });
    expect(await prepared).toEqual({ kind: 'ready' });
    const run = { number: 1, variant: 'base', pair: 1 };
    const trial = controller.trial({ number: 1, cell, runs: [run] }, async () => {}, signal).catch(() => {});
    await using dut = await connectTo(lab.dut, 'DUT');
    const rules = async () => (await dut.output(shell`nft list tables`)).trim();
    const sampled = async () => (await dut.run(shell`pgrep -f ${'^bash /run/ppsgate/dut/dut.bash observe'}`)).stdout;
    await expect.poll(sampled, { timeout: 120_000 }).not.toBe('');
    expect(await rules()).not.toBe('');
    await expect
      .poll(wrongs, { timeout: 120_000 })
      .toEqual([
        'the programs on the sender',
        'the files of the sender',
        'the programs on the DUT',
        'the files of the DUT',
      ]);

    const next = await openLinuxTestbed('here', lab, traffic);
    await next.restore();
    expect(whyUnhealthy(await health())).toBeUndefined();
    expect(await rules()).toBe('');
    await trial;
  });
});
