// Bounds readings, and adds losses before the DUT and behind it.
import { expect, test } from 'vitest';
import { boundedLimits, withEnds } from '../../src/lab/trial-limits.ts';
import { readings } from '../fakes/limits.ts';

test('packets that the senders sent and the DUT did not see are offered, and lost before it', () => {
  expect(withEnds(readings(), { sentPackets: 1_100_000 })).toMatchObject({
    offeredPackets: 1_100_000,
    receivedPackets: 1_000_000,
    drops: [{ place: 'before-dut', packets: 100_000 }],
  });
});

test('packets that the receiver did not count are lost behind the DUT', () => {
  expect(withEnds(readings(), { countedPackets: 900_000 })).toMatchObject({
    offeredPackets: 1_000_000,
    receivedPackets: 900_000,
    drops: [{ place: 'after-dut', packets: 100_000 }],
  });
});

test('long lists and names of a hostile DUT are cut', () => {
  const drop = { place: 'firewall', cause: 'x'.repeat(10_000), packets: 1 } as const;
  const limits = boundedLimits(readings({ drops: new Array(10_000).fill(drop) }));
  expect(limits?.drops.length).toBe(200);
  expect(limits?.drops[0]?.cause.length).toBe(250);
});

test('numbers that no counter has give no limits', () => {
  expect(boundedLimits(readings({ offeredPackets: -1 }))).toBeUndefined();
  expect(boundedLimits(readings({ busiestCpuRatio: 7 }))).toBeUndefined();
});
