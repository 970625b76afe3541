// Tests that the number of a gate of one commit is shown beside every verdict, with the error rate of several gates.
import { describe, expect, test } from 'vitest';
import type { CellResult, EarlierGates, Result } from '../../src/model/result.ts';
import { earlierGatesText } from '../../src/report/earlier-gates-text.ts';
import { headline, verdictLine } from '../../src/report/headline.ts';
import { aCell, aResult, forwarding, policy } from '../fakes/result.ts';

type Verdict = 'regression' | 'no-regression' | 'improvement' | 'inconclusive';

const cellOf = (verdict: Verdict, earlierGates?: EarlierGates): CellResult => ({
  ...aCell({ kind: verdict }),
  ...(earlierGates && { earlierGates }),
});

const resultOf = (verdict: Verdict, cells: CellResult[], changes: Partial<Result> = {}): Result =>
  aResult({ outcome: { kind: 'judged', verdict, cells }, ...changes });

const gate = (verdict: Verdict, count: number, regressions = 0): Result =>
  resultOf(verdict, [cellOf(verdict, { count, regressions })]);

describe('The sentence of', () => {
  test.for<[string, Result, string]>([
    [
      'a second gate that passes says how often two gates pass a loss',
      gate('no-regression', 1),
      'Second gate of this commit on this testbed: two gates pass a true loss of 2 % in up to 9.75 %.',
    ],
    [
      'a third gate that passes says how often three gates pass a loss',
      gate('improvement', 2),
      'Third gate of this commit on this testbed: three gates pass a true loss of 2 % in up to 14.3 %.',
    ],
    [
      'a pass after a regression says that the regression stands',
      gate('no-regression', 1, 1),
      'Second gate of this commit on this testbed: two gates pass a true loss of 2 % in up to 9.75 %. The earlier one found a regression, which this verdict does not undo.',
    ],
    [
      'a pass after several regressions counts them',
      gate('no-regression', 3, 2),
      'Fourth gate of this commit on this testbed: four gates pass a true loss of 2 % in up to 18.5 %. Two of the earlier ones found a regression, which this verdict does not undo.',
    ],
    [
      'a third gate that is red says how often three gates are',
      gate('regression', 2),
      'Third gate of this commit on this testbed: three gates of a patch that loses nothing find a regression in up to 2.97 %.',
    ],
    [
      'a regression after a regression says so',
      gate('regression', 1, 1),
      'Second gate of this commit on this testbed: two gates of a patch that loses nothing find a regression in up to 1.99 %. The earlier one found a regression as well.',
    ],
    [
      'an inconclusive gate says that extending keeps the rates',
      gate('inconclusive', 1),
      'Second gate of this commit on this testbed: to extend a gate keeps its error rates, another gate does not.',
    ],
    [
      'a twenty-second gate has its number in digits',
      gate('no-regression', 21),
      '22nd gate of this commit on this testbed: 22 gates pass a true loss of 2 % in up to 67.6 %.',
    ],
  ])('%s', ([, result, text]) => {
    expect(earlierGatesText(result)).toBe(text);
  });

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

test.each(['regression', 'no-regression', 'inconclusive'] as const)(
  'A first gate has no such sentence: %s',
  (verdict) => {
    const result = resultOf(verdict, [cellOf(verdict)]);
    expect(earlierGatesText(result)).toBeUndefined();
    expect(headline(result)).not.toContain('gate of this commit');
  },
);

test('A patch that does not build has no such sentence', () => {
  const result = aResult({ outcome: { kind: 'build-failed', message: 'ip_input.c:7: error' } });
  expect(earlierGatesText(result)).toBeUndefined();
});

test('The headline and the title of a check have the number of the gate', () => {
  expect(headline(gate('regression', 1))).toBe(
    '🔴 ppsgate: #7 loses 10.4 % (forwarding inet4); second gate of this commit',
  );
  expect(verdictLine(gate('inconclusive', 2))).toMatch(/; third gate of this commit$/);
});

test('The headline of a pass reports an earlier red gate', () => {
  expect(headline(gate('no-regression', 2, 1))).toMatch(/; third gate of this commit, an earlier one red$/);
  expect(headline(gate('regression', 2, 1))).toMatch(/; third gate of this commit$/);
});
