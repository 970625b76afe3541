import { expect, test } from 'vitest';
import { bisectionEstimateLines, estimateBisection } from '../../../src/gate/bisect/estimate.ts';
import { aBisectPlan, aSharedPlan } from '../../fakes/bisect.ts';

const historyOf = (cv: number) => ({
  runs: 21,
  typical: 1e6,
  typicalRuns: 21,
  sumOfSquares: 20 * cv ** 2,
  degreesOfFreedom: 20,
});

test('estimates a cell of unknown noise like a quiet one', () => {
  const plan = aBisectPlan(64);
  expect(estimateBisection(plan)).toEqual({ boots: 2 + 2 + 6 + 2, minutes: 12 * 5 + 8 * 10 });
  expect(bisectionEstimateLines(plan)).toEqual([
    '64 commits after good, 64 with different kernels: about 12 boots on fake, 2 h, and at most 60 boots',
  ]);
});

test('estimates more boots for a change that is small beside the noise', () => {
  const boots = (effect: number) => estimateBisection(aBisectPlan(64, { history: historyOf(0.005), effect })).boots;
  expect([boots(-0.05), boots(-0.01)]).toEqual([12, 21]);
  expect(bisectionEstimateLines(aBisectPlan(64, { history: historyOf(0.005), effect: -0.05 }))).toEqual([
    expect.stringMatching(/about 12 boots .* for a change of 5\.00 %, as boots vary by 0\.5 %$/),
  ]);
});

test('reports that the noise is too large before anything is built', () => {
  const plan = aBisectPlan(64, { history: historyOf(0.05), effect: -0.02 });
  expect(bisectionEstimateLines(plan)[1]).toMatch(/^the noise is too large to name a commit: /);
});

test('counts trials if commits share them', () => {
  const lines = bisectionEstimateLines(aSharedPlan(24));
  expect(lines).toEqual([
    '24 commits after good, 24 with different files: about 3 trials on fake, 1 min, and at most 60 trials',
  ]);
});

test('lists what is skipped, and where fix-ups do not apply', () => {
  const plan = aBisectPlan(8, {}, { 3: { isSkipped: true } });
  const noted = { ...plan, range: { ...plan.range, notes: ['--fix-up x does not apply to y.'] } };
  expect(bisectionEstimateLines(noted)).toEqual([
    expect.stringContaining('8 with different kernels, 1 of them skipped: '),
    '--fix-up x does not apply to y.',
  ]);
});
