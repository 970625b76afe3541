import { expect, test } from 'vitest';
import { headline } from '../../src/report/headline.ts';
import type { CellResult, Result } from '../../src/words/result.ts';
import type { Cell } from '../../src/words/scenario.ts';
import { aCell, aResult, revision } from '../fakes/result.ts';

const inet6: Cell = { scenario: 'forwarding', family: 'inet6' };
const stateful: Cell = { scenario: 'nftables-stateful', family: 'inet4' };
const stateless: Cell = { scenario: 'nftables-stateless', family: 'inet4' };

const changed = (change: number) => ({ change, low: change - 0.01, high: change + 0.01 });

const headlineOf = (
  verdict: CellResult['verdict']['kind'],
  cells: CellResult[],
  changes: Partial<Result> = {},
) => headline(aResult({ outcome: { kind: 'judged', verdict, cells }, ...changes }));

test('a regression says how much is lost, and where', () => {
  const cells = [
    aCell({ kind: 'regression' }, changed(-0.104)),
    aCell({ kind: 'regression' }, changed(-0.091), inet6),
    aCell({ kind: 'no-regression' }, changed(0), stateful),
  ];
  expect(headlineOf('regression', cells)).toBe(
    '🔴 ppsgate: #7 loses 10.4 % (forwarding inet4) and 9.1 % (forwarding inet6)',
  );
});

test('of many cells three are named and the others counted', () => {
  const cells = [undefined, inet6, stateful, stateless, inet6].map((cell) =>
    aCell({ kind: 'regression' }, changed(-0.1), cell),
  );
  expect(headlineOf('regression', cells)).toBe(
    '🔴 ppsgate: #7 loses 10.0 % (forwarding inet4), 10.0 % (forwarding inet6), 10.0 % (nftables-stateful inet4) and 2 more',
  );
});

test('an improvement says that nothing is lost elsewhere', () => {
  const cells = [
    aCell({ kind: 'improvement' }, changed(0.083)),
    aCell({ kind: 'no-regression' }, changed(0), inet6),
  ];
  expect(headlineOf('improvement', cells)).toBe(
    '🟢 ppsgate: #7 gains 8.3 % (forwarding inet4); no regression',
  );
});

test('a loss of time per packet is told as a loss of speed', () => {
  const cell = aCell({ kind: 'regression' });
  const comparisons = cell.comparisons.map((comparison) => ({
    ...comparison,
    metric: 'nsPerPacket' as const,
    interval: changed(0.25),
  }));
  expect(headlineOf('regression', [{ ...cell, comparisons }])).toBe(
    '🔴 ppsgate: #7 loses 20.0 % (forwarding inet4)',
  );
});

test('no regression names the loss that would have mattered', () => {
  expect(headlineOf('no-regression', [aCell({ kind: 'no-regression' }, changed(0))])).toBe(
    '🟢 ppsgate: #7 loses nothing that matters (less than 2 %)',
  );
});

test('an open question says how many cells leave it open', () => {
  const cells = [aCell({ kind: 'inconclusive' }), aCell({ kind: 'no-regression' })];
  expect(headlineOf('inconclusive', cells)).toBe(
    '🟡 ppsgate: #7 may lose 2 % or not: 1 of 2 cells need more runs',
  );
});

test('an invalid measurement is none', () => {
  const cells = [aCell({ kind: 'invalid', reason: 'too few' }), aCell({ kind: 'no-regression' })];
  expect(headlineOf('invalid', cells)).toBe(
    '⚪ ppsgate: #7 was not measured: 1 of 2 cells are invalid',
  );
});

test('an invalid measurement on a busy machine says so, in no words but ours', () => {
  const busy = 'machine too busy: the sender waited for a CPU 41 % of the time';
  const cell = aCell({ kind: 'invalid', reason: `${busy}@everyone; end what else runs` });
  expect(headlineOf('invalid', [cell, aCell({ kind: 'no-regression' })])).toBe(
    `⚪ ppsgate: #7 was not measured, ${busy}; 1 of 2 cells are invalid`,
  );
  const said = aCell({ kind: 'invalid', reason: `@everyone: ${busy}` });
  expect(headlineOf('invalid', [said])).toBe(
    '⚪ ppsgate: #7 was not measured: 1 of 1 cells are invalid',
  );
});

test('a patch that was never measured says why', () => {
  const load = { kind: 'does-not-load', scenario: 'forwarding', message: '@everyone' } as const;
  expect(headline(aResult({ outcome: load }))).toBe('🔴 ppsgate: #7 does not load');
  const apply = { kind: 'does-not-apply', message: '@everyone' } as const;
  expect(headline(aResult({ outcome: apply }))).toBe('🔴 ppsgate: #7 does not apply');
});

test('a range of commits is named by its ends, whatever its title says', () => {
  const patch = {
    kind: 'range',
    title: '# @everyone',
    author: 'mallory',
    baseCommit: '1a2b3c4'.padEnd(40, '0'),
    headCommit: '5d6e7f8'.padEnd(40, '0'),
  } as const;
  const cells = [aCell({ kind: 'no-regression' }, changed(0))];
  expect(headlineOf('no-regression', cells, { patch })).toMatch(
    /^🟢 ppsgate: 1a2b3c4\.\.5d6e7f8 loses nothing/,
  );
});

test('a revision is named as Phabricator names it', () => {
  const cells = [aCell({ kind: 'improvement' }, changed(0.083))];
  expect(headlineOf('improvement', cells, { patch: revision })).toBe(
    '🟢 ppsgate: D27401 gains 8.3 % (forwarding inet4); no regression',
  );
});
