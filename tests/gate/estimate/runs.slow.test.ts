import { expect, test } from 'vitest';
import { simulate } from '../../../src/analysis/stats/simulate.ts';
import { estimateRuns } from '../../../src/gate/estimate/runs.ts';
import type { PlannedCell } from '../../../src/gate/experiment/plan.ts';
import { forwarding, policy } from '../../fakes/result.ts';

const planned = (noise: number, changes: Partial<PlannedCell> = {}): PlannedCell => ({
  cell: forwarding,
  design: { name: 'group-sequential', budgets: [20], pairsPerStep: 1, method: 'pooled' },
  history: {
    runs: 12,
    typical: 8e5,
    typicalRuns: 12,
    sumOfSquares: 11 * noise ** 2,
    degreesOfFreedom: 11,
  },
  ...changes,
});

test('a calm cell needs few runs, and more if the margin was lost', () => {
  const calm = estimateRuns(planned(0.005), policy, 1);
  expect(calm?.noiseRatio).toBeCloseTo(0.005, 12);
  // The first interim analysis has four runs.
  expect(calm?.runsIfUnchanged).toBeGreaterThanOrEqual(4);
  expect(calm?.runsIfUnchanged).toBeLessThan(5);
  expect(calm?.runsIfLost).toBeGreaterThan(calm?.runsIfUnchanged ?? Infinity);
  expect(calm?.runsIfLost).toBeLessThan(7);
  expect(calm?.reachableMarginRatio).toBeLessThan(0.01);
});

test('the reachable margin grows with the noise, and with the cells that share the false alarms', () => {
  const reach = (noise: number, cells: number) =>
    estimateRuns(planned(noise), policy, cells)?.reachableMarginRatio ?? Number.NaN;
  expect(reach(0.02, 1)).toBeGreaterThan(2 * reach(0.01, 1) * 0.97);
  expect(reach(0.02, 12)).toBeGreaterThan(reach(0.02, 1));
});

test('the reachable margin is found with the requested power', () => {
  const { reachableMarginRatio: reach = 0 } = estimateRuns(planned(0.03), policy, 1) ?? {};
  expect(reach).toBeGreaterThan(policy.marginRatio);
  const { regression } = simulate({
    noise: { kind: 'normal', cv: 0.03 },
    design: { name: 'group-sequential', budgets: [20] },
    historyRuns: 12,
    rates: { falseAlarms: policy.falseAlarmRatio, misses: policy.missRatio },
    cells: 1,
    marginRatio: reach,
    effect: -reach,
    experiments: 4000,
    seed: 7,
  });
  expect(regression).toBeGreaterThan(0.95);
});

test('nothing is estimated without a history, nor for runs that are compared with neighbours', () => {
  const { history: _, ...unknown } = planned(0.01);
  expect(estimateRuns(unknown, policy, 1)).toBeUndefined();
  const design = { ...planned(0.01).design, method: 'paired' } as const;
  expect(estimateRuns(planned(0.01, { design }), policy, 1)).toBeUndefined();
});
