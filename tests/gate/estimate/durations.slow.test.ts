// Durations that a gate on a whole laboratory reports, and the estimate of the next gate from them.
import { expect, test } from 'vitest';
import { labTime, sharesOf } from '../../../bench/lab-time.ts';
import { durationsOf } from '../../../src/gate/estimate/durations.ts';

test.each([
  ['five cells', ['forwarding', 'pf-stateless', 'pf-stateful', 'ipfw-stateless', 'ipfw-stateful'], false],
  ['two cells with profiles', ['forwarding', 'pf-stateful'], true],
  ['one cell', ['forwarding'], false],
] as const)(
  'a gate of %s reports the durations of its boots and trials from its trial times',
  async (_, scenarios, hasProfiles) => {
    const time = await labTime({
      scenarios,
      change: 0,
      hasHistory: true,
      seed: 3,
      hasProfiles,
      build: { base: 300, patched: 200 },
    });
    const durations = durationsOf(time.result);
    if (durations === undefined) throw new Error('Nothing was told.');
    const { buildSeconds = 0, bootSeconds, trialSeconds } = durations;
    const { boots, seconds, rebootSeconds } = sharesOf(time);
    const told = buildSeconds + boots * bootSeconds + time.result.trials.length * trialSeconds;
    expect(told).toBeGreaterThan(0.9 * seconds);
    expect(told).toBeLessThan(1.1 * seconds);
    expect(Math.abs(buildSeconds - time.waitedSeconds)).toBeLessThan(0.1 * seconds);
    expect(bootSeconds).toBeGreaterThan((0.95 * rebootSeconds) / boots);
  },
);
