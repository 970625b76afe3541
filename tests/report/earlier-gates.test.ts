// Tests that the number of a gate of one commit is shown beside every verdict, with the error rate of several gates.
import { describe, expect, test } from 'vitest';
import type { CellResult, EarlierGates, Result } from '../../src/model/result.ts';
import { earlierGatesText } from '../../src/report/earlier-gates-text.ts';
import { aCell, aResult, forwarding, policy } from '../fakes/result.ts';

type Verdict = 'regression' | 'no-regression' | 'improvement' | 'inconclusive';

const cellOf = (verdict: Verdict, earlierGates?: EarlierGates): CellResult => ({
  ...aCell({ kind: verdict }),
  ...(earlierGates && { earlierGates }),
});

const resultOf = (verdict: Verdict, cells: CellResult[], changes: Partial<Result> = {}): Result =>
  aResult({ outcome: { kind: 'judged', verdict, cells }, ...changes });

describe('The sentence of', () => {
  test('a gate with further cells counts the cells that were gated before', () => {
    const inet6 = { ...cellOf('no-regression'), cell: { ...forwarding, family: 'inet6' as const } };
    const cells = [cellOf('no-regression', { count: 1, regressions: 0 }), inet6];
    expect(earlierGatesText(resultOf('no-regression', cells))).toMatch(
      /^Second gate of this commit on this testbed in 1 of 2 cells: two gates pass /,
    );
  });

  test('other rates names those', () => {
    const rates = { ...policy, marginRatio: 0.05, missRatio: 0.1 };
    const cells = [cellOf('no-regression', { count: 1, regressions: 0 })];
    expect(earlierGatesText(resultOf('no-regression', cells, { policy: rates }))).toContain(
      'two gates pass a true loss of 5 % in up to 19 %.',
    );
  });
});

test('A patch that does not build has no such sentence', () => {
  const result = aResult({ outcome: { kind: 'build-failed', message: 'ip_input.c:7: error' } });
  expect(earlierGatesText(result)).toBeUndefined();
});
