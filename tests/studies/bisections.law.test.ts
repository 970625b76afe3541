import { expect, test } from 'vitest';
import { type BisectSimulation, simulateBisect } from '../../bench/simulated-bisections.ts';

const request: BisectSimulation = {
  noise: { kind: 'normal', cv: 0.005 },
  commits: 64,
  effects: [-0.05],
  brokenRatio: 0,
  brokenInARow: 6,
  historyRuns: 20,
  mostBoots: 60,
  minutes: { build: 10, run: 5, failure: 10 },
  experiments: 100,
  seed: 1,
};

test('a large loss needs one boot per step, two at both ends, and two or three at both neighbours', () => {
  const row = simulateBisect(request);
  expect(row.namedRight).toBeGreaterThan(0.98);
  // 2 + 2 to reproduce it, log2 of 64, the second boots of both neighbours, and a third boot in half of all cases.
  expect(row.meanBoots).toBeCloseTo(12.5, 0);
});

test('a real loss is hardly ever blamed on a commit beside it, however many are broken', () => {
  const row = simulateBisect({ ...request, brokenRatio: 0.3, experiments: 300 });
  expect(row.namedWrong + row.groupWrong).toBeLessThan(0.01);
  expect(row.groupRight).toBeGreaterThan(0.05);
});

test('at most 1 in 100 named commits is wrong where 1 in 20 boots is 5 % slow', () => {
  const noise = { kind: 'normal', cv: 0.006 } as const;
  const slow = { share: 0.05, by: 0.05 };
  const row = simulateBisect({ ...request, noise, effects: [-0.02], slow, experiments: 500 });
  expect(row.namedRight).toBeGreaterThan(0.7);
  expect(row.namedWrong).toBeLessThan(0.01 * row.namedRight);
});

test('at most 5 in 1,000 bisections of equal ends name a commit, even with slow boots', () => {
  const slow = { share: 0.05, by: 0.05 };
  const row = simulateBisect({ ...request, effects: [0], slow, experiments: 1000 });
  expect(row.namedRight + row.namedWrong + row.groupRight + row.groupWrong).toBeLessThan(0.005);
});
