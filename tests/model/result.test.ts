import { expect, test } from 'vitest';
import { isLoss, runSchema } from '../../src/model/result.ts';
import { aRun } from '../fakes/result.ts';

test('less of a rate is a loss, and more of a cost', () => {
  expect(isLoss({ metric: 'pps' }, -0.01)).toBe(true);
  expect(isLoss({ metric: 'pps' }, 0.01)).toBe(false);
  for (const metric of ['nsPerPacket', 'instructionsPerPacket'] as const) {
    expect(isLoss({ metric }, 0.01)).toBe(true);
    expect(isLoss({ metric }, -0.01)).toBe(false);
  }
});

test('a run may have counted instructions, and one of before they were counted is read', () => {
  const sample = { seconds: 1, receivedPackets: 1000, forwardedPackets: 1000 };
  const counted = aRun({
    instructionsPerPacket: 8314.2,
    samples: [{ ...sample, instructions: 8_314_200 }],
  });
  expect(runSchema.parse(counted)).toEqual(counted);
  expect(runSchema.parse(aRun())).toEqual(aRun());
});
