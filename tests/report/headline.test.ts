import { expect, test } from 'vitest';
import type { CellResult, Result } from '../../src/model/result.ts';
import type { Cell } from '../../src/model/scenario.ts';
import { headline } from '../../src/report/headline.ts';
import { aCell, aResult, aRun, policy } from '../fakes/result.ts';

const inet6: Cell = { scenario: 'forwarding', family: 'inet6' };
const stateful: Cell = { scenario: 'nftables-stateful', family: 'inet4' };

const changed = (change: number) => ({ change, low: change - 0.01, high: change + 0.01 });

const headlineOf = (verdict: CellResult['verdict']['kind'], cells: CellResult[], changes: Partial<Result> = {}) =>
  headline(aResult({ outcome: { kind: 'judged', verdict, cells }, ...changes }));

const byTime = { policy: { ...policy, metric: 'nsPerPacket', marginRatio: 0.05 } } as const;

/** Judged by the time for each packet. */
function timed(kind: 'regression' | 'improvement' | 'no-regression', change: number, cell?: Cell) {
  const one = aCell({ kind }, changed(change), cell);
  const comparisons = one.comparisons.map((all) => ({ ...all, metric: 'nsPerPacket' as const }));
  return { ...one, comparisons };
}

test('a router that forwards nothing is reported first, by any metric', () => {
  const silent = aCell({ kind: 'regression' }, { change: -1, low: -1, high: -1 }, stateful);
  const cells = [timed('regression', 0.188), silent];
  expect(headlineOf('regression', cells, byTime)).toBe(
    '🔴 ppsgate: #7 forwards nothing (nftables-stateful inet4), and takes 18.8 % more CPU time per packet (forwarding inet4)',
  );
});

test('warns of a router that forwards nothing now and then, with how often', () => {
  const nothing = { change: -1, low: -1, high: -1 };
  const runsOf = (...all: number[]) => all.map((pps, index) => aRun({ number: index + 1, variant: 'patched', pps }));
  const [always, sometimes] = [runsOf(0, 0), runsOf(0, 8e5, 0)].map((runs, index) => {
    const cell = aCell({ kind: 'regression' }, nothing, index === 0 ? inet6 : stateful);
    const comparisons = cell.comparisons.map((one) => ({ ...one, patched: 0, patchedRuns: 2 }));
    return { ...cell, runs, comparisons };
  }) as [CellResult, CellResult];
  expect(headlineOf('regression', [sometimes, always])).toBe(
    '🔴 ppsgate: #7 forwards nothing (forwarding inet6), and forwards nothing in 2 of 3 runs (nftables-stateful inet4)',
  );
});

test('an invalid measurement on a busy machine shows that, only in our words', () => {
  const busy = 'machine too busy: the sender waited for a CPU 41 % of the time';
  const cell = aCell({ kind: 'invalid', reason: `${busy}@everyone; end what else runs` });
  expect(headlineOf('invalid', [cell, aCell({ kind: 'no-regression' })])).toBe(
    `⚪ ppsgate: #7 was not measured in 1 of 2 cells: ${busy}`,
  );
  const said = aCell({ kind: 'invalid', reason: `@everyone: ${busy}` });
  expect(headlineOf('invalid', [said])).toBe('⚪ ppsgate: #7 was not measured: too few runs count');
});

test('a range whose base has moved on is named by the merge base that was measured', () => {
  const patch = {
    kind: 'range',
    title: 'Drop protocol 254',
    author: 'Alice',
    baseCommit: '1a2b3c4'.padEnd(40, '0'),
    headCommit: '5d6e7f8'.padEnd(40, '0'),
  } as const;
  const variants = [{ name: 'base', commit: '9e8d7c6'.padEnd(40, '0'), files: [] }];
  const outcome = { kind: 'unchanged' } as const;
  expect(headline(aResult({ patch, variants, outcome }))).toBe(
    '⚪ ppsgate: 9e8d7c6..5d6e7f8 changes nothing that the testbed installs',
  );
  const forged = [{ name: 'base', commit: '@everyone', files: [] }];
  expect(headline(aResult({ patch, variants: forged, outcome }))).toContain('1a2b3c4..5d6e7f8');
});
