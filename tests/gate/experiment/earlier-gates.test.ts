// Tests that earlier gates of the same commits are counted in the history, planned, and kept in the result.
import { describe, expect, test } from 'vitest';
import { assembleResult } from '../../../src/gate/experiment/assemble.ts';
import { type HistoryEntry, historyEntries } from '../../../src/gate/experiment/history.ts';
import { extendPlan, makePlan, type Plan } from '../../../src/gate/experiment/plan.ts';
import type { EarlierGates, Result } from '../../../src/model/result.ts';
import { journalOf, still } from '../../fakes/journal.ts';
import { aConfig, aPlan, gateConfig, overlays, singleRuns } from '../../fakes/plan.ts';
import { pullRequest } from '../../fakes/result.ts';

const resultOf = (plan: Plan, day = 1, speed = 1): Result => ({
  ...assembleResult(plan, journalOf(plan, { ...still, speed })),
  startedAt: `2026-11-0${day}T12:00:00.000Z`,
});

const linesOf = (plan: Plan, day = 1, speed = 1): HistoryEntry[] => historyEntries(resultOf(plan, day, speed));

const earlierIn = ({ cells }: Plan): (EarlierGates | undefined)[] => cells.map(({ earlierGates }) => earlierGates);

test('A third gate of a commit has two earlier ones, in its plan and in its result', () => {
  const plan = aPlan({}, [...linesOf(aPlan(), 1), ...linesOf(aPlan(), 2)]);
  expect(earlierIn(plan)).toEqual([{ count: 2, regressions: 0 }]);
  expect(resultOf(plan, 3).outcome).toHaveProperty('cells', [
    expect.objectContaining({ earlierGates: { count: 2, regressions: 0 } }),
  ]);
});

test('An extended gate is one gate, in its own plan and for later ones', () => {
  const before = linesOf(aPlan(singleRuns), 1);
  const plan = aPlan(singleRuns, before);
  const first = linesOf(plan, 2);
  const extended = extendPlan(plan, 40);
  expect(earlierIn(extended)).toEqual([{ count: 1, regressions: 0 }]);
  const history = [...before, ...first, ...linesOf(extended, 2)];
  expect(earlierIn(aPlan(singleRuns, history))).toEqual([{ count: 2, regressions: 0 }]);
});

test('A gate whose lines are in two histories is one gate', () => {
  const lines = linesOf(aPlan());
  expect(earlierIn(aPlan({}, [...lines, ...lines]))).toEqual([{ count: 1, regressions: 0 }]);
});

test('Two gates that claim the same time are two gates', () => {
  const [one, other] = [1, 0.999].map((speed) => {
    const plan = aPlan({ ...singleRuns });
    const result = assembleResult(plan, journalOf(plan, { ...still, speed }));
    if (result.outcome.kind !== 'judged') expect.fail('It is judged.');
    const cells = result.outcome.cells.map((cell) => ({
      ...cell,
      runs: cell.runs.map((run) => ({ ...run, pps: run.pps * speed })),
    }));
    return historyEntries({ ...result, outcome: { ...result.outcome, cells } });
  });
  const plan = aPlan(singleRuns, [...(one ?? []), ...(other ?? [])]);
  expect(earlierIn(plan)).toEqual([{ count: 2, regressions: 0 }]);
});

describe('An earlier gate does not count', () => {
  const [line = expect.fail('A gate writes a line.')] = linesOf(aPlan());
  const { gate = expect.fail('It names its gate.') } = line;

  test.for<[string, Partial<HistoryEntry>]>([
    ['of another testbed', { testbed: 'another' }],
    ['of another cell', { cell: { scenario: 'forwarding', family: 'inet6' } }],
    ['of another size of frames', { cell: { ...line.cell, frameBytes: 1518 } }],
    ['under other traffic', { traffic: { ...line.traffic, flows: 1 } }],
    ['of other packets', { traffic: { ...line.traffic, packets: { protocol: 'tcp' } } }],
    ['on another base', { commit: 'c'.repeat(40) }],
    ['of another head', { gate: { ...gate, head: 'c'.repeat(40) } }],
    ['by another metric', { gate: { ...gate, metric: 'nsPerPacket' } }],
    ['held to another margin', { gate: { ...gate, marginRatio: 0.01 } }],
    ['held to another rate of misses', { gate: { ...gate, missRatio: 0.1 } }],
  ])('%s', ([, changes]) => {
    expect(earlierIn(aPlan({}, [{ ...line, ...changes }]))).toEqual([undefined]);
  });

  test('with the same first twelve digits of its head', () => {
    const head = 'b'.repeat(12) + 'c'.repeat(28);
    const alike = { ...line, gate: { ...gate, head } };
    expect(earlierIn(aPlan({}, [alike]))).toEqual([undefined]);
  });

  test('if base and patched are one commit', () => {
    const same = overlays.map((overlay) => ({ ...overlay, commit: 'a'.repeat(40) }));
    const patch = { ...pullRequest, headCommit: 'a'.repeat(40) };
    const request = { patch, config: aConfig(), testbed: 'fake', seed: 6 };
    const plan = makePlan(request, same, []);
    const lines = linesOf(plan);
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toHaveProperty('gate');
    const alike = { ...line, gate: { ...gate, head: patch.headCommit } };
    expect(earlierIn(makePlan(request, same, [alike]))).toEqual([undefined]);
  });
});

test('A gate with another design or other maximum of runs counts', () => {
  const gate = { ...gateConfig, design: 'fixed', maxRunsPerVariant: 96 } as const;
  expect(earlierIn(aPlan({ gate }, linesOf(aPlan())))).toEqual([{ count: 1, regressions: 0 }]);
});
