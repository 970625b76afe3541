import { expect, test } from 'vitest';
import { terminalRows } from '../../src/report/terminal-table.ts';
import { aCell, aResult, unchanged } from '../fakes/result.ts';

const changed = (change: number) => ({ change, low: change - 0.01, high: change + 0.01 });

test('A terminal shows each cell with its verdict and change, the worst first', () => {
  const cells = [
    aCell({ kind: 'no-regression' }, changed(0.002), { scenario: 'forwarding', family: 'inet6' }),
    aCell({ kind: 'regression' }, changed(-0.104)),
  ];
  const outcome = { kind: 'judged', verdict: 'regression', cells } as const;
  const { heads, rows } = terminalRows(aResult({ outcome }));
  expect(heads.slice(0, 3)).toEqual(['cell', 'verdict', 'change (90 % interval)']);
  expect(rows.map(({ verdict, texts }) => [verdict, ...texts.slice(0, 3)])).toEqual([
    ['regression', 'forwarding inet4', '🔴 regression', '−10.4 % (−11.4 … −9.40)'],
    ['no-regression', 'forwarding inet6', '🟢 no-regression', '+0.20 % (−0.80 … +1.20)'],
  ]);
});

test('A patch that was not judged has no table', () => {
  expect(terminalRows(unchanged).rows).toEqual([]);
});
