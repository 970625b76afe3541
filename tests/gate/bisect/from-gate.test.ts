import { expect, test } from 'vitest';
import { gateFindingOf } from '../../../src/gate/bisect/from-gate.ts';
import { aCell, aResult, forwarding, unchanged } from '../../fakes/result.ts';

const inet6 = { ...forwarding, family: 'inet6' as const };

test('the cell with the worst verdict is taken, and of several the one that lost most', () => {
  const lossOf = (change: number) => ({ change, low: change - 0.01, high: change + 0.01 });
  const cells = [
    aCell({ kind: 'inconclusive' }, lossOf(-0.4)),
    aCell({ kind: 'regression' }, lossOf(-0.1)),
    aCell({ kind: 'regression' }, lossOf(-0.2), inet6),
  ];
  const told = gateFindingOf(aResult({ outcome: { kind: 'judged', verdict: 'regression', cells } }));
  expect(told).toMatchObject({
    good: 'a'.repeat(40),
    bad: 'b'.repeat(40),
    cell: inet6,
    effect: -0.2,
  });
});

test('a gate that has judged nothing is no beginning', () => {
  expect(() => gateFindingOf(unchanged)).toThrow('--from: that gate judged no cell');
});

test('the runs of a gate are no evidence: both ends are booted again', () => {
  const cells = [aCell({ kind: 'regression' }, { change: -0.1, low: -0.11, high: -0.09 })];
  const told = gateFindingOf(aResult({ outcome: { kind: 'judged', verdict: 'regression', cells } }));
  expect(Object.keys(told).toSorted()).toEqual(['bad', 'cell', 'effect', 'good', 'testbed']);
});
