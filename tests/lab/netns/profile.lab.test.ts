// Samples the forwarding thread of a real router while real packets flow.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { explain } from '../../../src/analysis/profile/changed-functions.ts';
import { withoutIdle } from '../../../src/analysis/profile/idle.ts';
import { parseProfile } from '../../../src/analysis/profile/read-profile.ts';
import type { LinuxTestbed } from '../../../src/config/schema.ts';
import { labDown, labUp } from '../../../src/lab/netns/embedded-lab.ts';
import { openLinuxTestbed } from '../../../src/lab/netns/netns-testbed.ts';
import type { Testbed } from '../../../src/lab/testbed.ts';
import { describeWith, labPrograms } from '../../needs.ts';

const traffic = {
  flows: 100,
  frameBytes: 64,
  offeredPps: 3_000_000,
  warmUpSeconds: 0.3,
  settleSeconds: 0.005,
  measureSeconds: 0.03,
  measureAtLeastSeconds: 0.03,
  runsPerTrial: 4,
};

const cell = { scenario: 'forwarding', family: 'inet4' } as const;
const signal = new AbortController().signal;

/** A variant with this number of rules that match nothing. */
const variantOf = (variant: string, rules: number) => ({
  variant,
  commit: '0'.repeat(40),
  files: [{ path: 'nftables.conf', mode: '100644', content: rulesText(rules), sha256: '' }],
});

const rulesText = (rules: number) => `table inet router {
  chain early {
    type filter hook prerouting priority raw; policy accept;
${'    meta l4proto 254 drop\n'.repeat(rules)}  }
}
`;

describeWith(['root', 'perf', ...labPrograms], 'a profile in the embedded lab', () => {
  let lab: LinuxTestbed;
  let testbed: Testbed;
  beforeEach(async () => {
    lab = await labUp();
    testbed = await openLinuxTestbed('here', lab, traffic);
    const variants = [variantOf('base', 20), variantOf('patched', 60)];
    await testbed.prepare({
      variants,
      cells: [cell],
      rules: {},
      signal,
      keepLog: async () => {},
      notify() {},
    });
  });
  afterEach(async () => {
    await testbed.restore();
    await labDown();
  });

  test('names the kernel, has its samples where packets are forwarded, and more of them where a patch has more rules', async () => {
    const profiles = [];
    for (const variant of ['base', 'patched']) {
      const logs = new Map<string, string>();
      const outcome = await testbed.profile(
        { cell, variant, seconds: 2, attempt: 1 },
        async (name, content) => void logs.set(name, String(content)),
        signal,
      );
      expect(outcome).toMatchObject({ kind: 'profiled', log: 'stacks.txt' });
      profiles.push(parseProfile(logs.get('stacks.txt') ?? ''));
    }
    const [base = expect.fail(), patched = expect.fail()] = profiles;
    expect(base.kernel).toMatch(/^\d+\.\d+/);
    const names = base.stacks.flatMap(({ frames }) => frames.map(({ name }) => name));
    expect(names).toContain('ip_forward');
    const { changedFunctions } = explain(withoutIdle(base).profile, withoutIdle(patched).profile);
    expect(changedFunctions.at(0)?.function).toMatch(/^nft_/);
  });
});
