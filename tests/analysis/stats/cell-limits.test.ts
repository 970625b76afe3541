// Folds readings of CPUs, queues and drops over trials.
import { expect, test } from 'vitest';
import { cellLimits } from '../../../src/analysis/stats/cell-limits.ts';
import { cpusAtWork, queuesReached } from '../../../src/analysis/stats/spread.ts';
import type { TrialLimits } from '../../../src/model/limits.ts';
import { fiveOfEight, limitsOf, losing, queuesOf, readings } from '../../fakes/limits.ts';

const folded = (...trials: { base: TrialLimits; patched: TrialLimits }[]) =>
  cellLimits(trials.map((limits) => ({ limits })));

test('shares are medians over the trials', () => {
  const lost = [10_000, 20_000, 90_000].map((packets) => ({
    base: losing(packets, 'card', 'missed at cc0'),
    patched: readings(),
  }));
  const base = folded(...lost)?.base;
  expect(base).toMatchObject({
    trials: 3,
    lostRatio: expect.closeTo(0.02, 9),
    drops: [{ place: 'card', cause: 'missed at cc0', ratio: 0.02 }],
  });
});

test('a drop in one trial counts as none in the others', () => {
  const base = losing(10_000, 'ip', 'no route');
  const trials = [base, readings(), readings()].map((one) => ({ base: one, patched: readings() }));
  expect(folded(...trials)?.base.drops).toEqual([]);
});

test('equal readings do not differ', () => {
  expect(limitsOf(readings(), readings()).differing).toEqual([]);
});

test('CPUs and queues that patched leaves idle differ, and those in use do not differ by their busy share', () => {
  const { differing, base, patched } = limitsOf(readings(), fiveOfEight);
  const numbers = (kind: string) =>
    differing.flatMap((one) => (one.kind === kind && 'number' in one ? one.number : []));
  expect(numbers('cpu').toSorted()).toEqual([5, 6, 7]);
  expect(numbers('queue')).toEqual(expect.arrayContaining([5, 6, 7]));
  expect([cpusAtWork(base), cpusAtWork(patched)]).toEqual([
    { used: 8, all: 8 },
    { used: 5, all: 8 },
  ]);
  expect(queuesReached(patched)).toEqual([{ device: 'cc0', used: 5, all: 8 }]);
});

test('busy shares that vary from trial to trial as much as they differ do not differ', () => {
  const at = (ratio: number) => readings({ cpuBusyRatios: [ratio, 0.5] });
  const pairs = [
    [0.4, 0.55],
    [0.7, 0.9],
    [0.5, 0.6],
  ] as const;
  const trials = pairs.map(([base, patched]) => ({ base: at(base), patched: at(patched) }));
  expect(folded(...trials)?.differing).toEqual([]);
});

test('a drop of one packet in ten differs from no drop', () => {
  const patched = losing(100_000, 'firewall', 'inet filter forward: drop');
  expect(limitsOf(readings(), patched).differing).toEqual([
    { kind: 'drop', place: 'firewall', cause: 'inet filter forward: drop' },
  ]);
});

test('a drop too small to matter does not differ, however many packets it has', () => {
  const patched = losing(5_000, 'card', 'missed at cc0');
  expect(limitsOf(readings(), patched).differing).toEqual([]);
});

test('trials that read only base have no limits', () => {
  expect(cellLimits([{ limits: { base: readings() } }, {}])).toBeUndefined();
});

test('CPUs that idle on both sides have no spread', () => {
  const idle = readings({ cpuBusyRatios: [0.1, 0.01, 0.01, 0.01] });
  expect(cpusAtWork(limitsOf(idle, idle).base)).toBeUndefined();
});

test('packets by CPU count before busy shares, which may be of other work', () => {
  const packets = (...counts: number[]) =>
    readings({ cpuBusyRatios: [1, 1, 1, 1], queues: queuesOf(counts, 'softnet') });
  const { base, patched } = limitsOf(packets(250, 250, 250, 250), packets(0, 1000, 0, 0));
  expect([cpusAtWork(base)?.used, cpusAtWork(patched)?.used]).toEqual([4, 1]);
  expect(queuesReached(base)).toEqual([]);
});
