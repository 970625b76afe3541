// Folds readings of the busiest CPU and of drops over trials.
import { expect, test } from 'vitest';
import { cellLimits } from '../../../src/analysis/stats/cell-limits.ts';
import type { TrialLimits } from '../../../src/model/limits.ts';
import { losing, readings } from '../../fakes/limits.ts';

const folded = (...trials: { base: TrialLimits; patched: TrialLimits }[]) =>
  cellLimits(trials.map((limits) => ({ limits })));

test('shares are medians over the trials', () => {
  const lost = [10_000, 20_000, 90_000].map((packets) => ({
    base: losing(packets, 'card', 'missed at cc0'),
    patched: readings(),
  }));
  const base = folded(...lost)?.base;
  expect(base).toMatchObject({
    lostRatio: expect.closeTo(0.02, 9),
    drops: [{ place: 'card', cause: 'missed at cc0', ratio: 0.02 }],
  });
});

test('a drop in one trial counts as none in the others', () => {
  const base = losing(10_000, 'ip', 'no route');
  const trials = [base, readings(), readings()].map((one) => ({ base: one, patched: readings() }));
  expect(folded(...trials)?.base.drops).toEqual([]);
});

test('the busiest CPU is the median of the trials that know it', () => {
  const { busiestCpuRatio: _, ...unknown } = readings();
  const trials = [0.5, 0.9, 0.7].map((busiestCpuRatio) => ({ base: readings({ busiestCpuRatio }), patched: unknown }));
  const limits = folded(...trials, { base: unknown, patched: unknown });
  expect(limits?.base.busiestCpuRatio).toBe(0.7);
  expect(limits?.patched).not.toHaveProperty('busiestCpuRatio');
});

test('trials that read only base have no limits', () => {
  expect(cellLimits([{ limits: { base: readings() } }, {}])).toBeUndefined();
});
