import { expect, test } from 'vitest';
import { type GateRuns, gateRunsOf, reproductionOf } from '../../../src/gate/bisect/from-gate.ts';
import { aBisectPlan, aRevision } from '../../fakes/bisect.ts';
import { aCell, aResult, forwarding, pairedRuns, unchanged } from '../../fakes/result.ts';

const inet6 = { ...forwarding, family: 'inet6' as const };

test('the cell with the worst verdict is taken, and of several the one that lost most', () => {
  const lossOf = (change: number) => ({ change, low: change - 0.01, high: change + 0.01 });
  const cells = [
    aCell({ kind: 'inconclusive' }, lossOf(-0.4)),
    aCell({ kind: 'regression' }, lossOf(-0.1)),
    aCell({ kind: 'regression' }, lossOf(-0.2), inet6),
  ];
  const told = gateRunsOf(aResult({ outcome: { kind: 'judged', verdict: 'regression', cells } }));
  expect(told).toMatchObject({
    good: 'a'.repeat(40),
    bad: 'b'.repeat(40),
    cell: inet6,
    effect: -0.2,
  });
});

test('a gate that has judged nothing is no beginning', () => {
  expect(() => gateRunsOf(unchanged)).toThrow('--from: that gate has judged no cell');
});

const { range, testbed, traffic } = aBisectPlan(4);
const [good, bad] = [range.revisions[0]?.commit ?? '', range.revisions[4]?.commit ?? ''];
const asked = { testbed, cell: forwarding, traffic, range };
const runs = pairedRuns([8e5, 8e5], [7e5, 7e5]);
const from: GateRuns = { good, bad, testbed, cell: forwarding, traffic, runs };

test('the runs of a gate of the same ends, testbed and traffic are not made again', () => {
  expect(reproductionOf(from, asked)).toEqual(runs);
});

test.for<[string, Partial<GateRuns>]>([
  ['testbed', { testbed: 'another' }],
  ['cell', { cell: inet6 }],
  ['good end', { good: 'c'.repeat(40) }],
  ['bad end', { bad: 'c'.repeat(40) }],
  ['number of flows', { traffic: { ...traffic, flows: 1 } }],
  ['length of a run', { traffic: { ...traffic, measureSeconds: 1 } }],
])('of another %s they tell nothing', ([, changes]) => {
  expect(reproductionOf({ ...from, ...changes }, asked)).toEqual([]);
});

test('of an end with a fix-up on top they tell nothing', () => {
  const first = aRevision(0, 4);
  const forms = [{ variant: 'base', commit: 'd'.repeat(40), fixUps: ['e'.repeat(40)] }];
  const revisions = [{ ...first, forms }, ...range.revisions.slice(1)];
  expect(reproductionOf(from, { ...asked, range: { ...range, revisions } })).toEqual([]);
});
