// Tests that comments and pages show the limit of a cell.
import { expect, test } from 'vitest';
import type { CellLimits, TrialLimits } from '../../src/model/limits.ts';
import type { CellVerdict, Result } from '../../src/model/result.ts';
import { renderHtml, renderMarkdown, renderRemarkup } from '../../src/report/reports.ts';
import { limitsOf, losing, readings } from '../fakes/limits.ts';
import { aCell, aResult } from '../fakes/result.ts';

const resultOf = (limits: CellLimits, kind: 'regression' | 'no-regression' = 'regression') => {
  const verdict: CellVerdict = { kind };
  return aResult({
    outcome: { kind: 'judged', verdict: kind, cells: [{ ...aCell(verdict), limits }] },
  });
};

const plain = (text: string): string => text.replaceAll('\u00a0', ' ').replaceAll('`', '');
const commentOf = (result: Result): string => plain(renderMarkdown(result));
const pageOf = (result: Result): string => plain(renderHtml(result, [])).replaceAll(/<[^>]*>/g, '|');

const rule = 'inet filter forward: udp sport 9 drop';

test('a comment names the limit only where it is one', async () => {
  const more = readings({
    receivedPackets: 700_000,
    drops: [
      { place: 'card', cause: 'missed at cc0', packets: 200_000 },
      { place: 'driver', cause: 'the driver of cc1', packets: 100_000 },
    ],
  });
  const card = losing(400_000, 'card', 'missed at cc0');
  const cases: Record<string, [base: TrialLimits, patched: TrialLimits]> = {
    'equal readings': [readings(), readings()],
    'a rule that drops test traffic of both': [losing(100_000, 'firewall', rule), losing(100_000, 'firewall', rule)],
    'one place with all losses': [readings(), losing(104_000, 'card', 'no buffer at cc0')],
    'a card that misses more': [losing(100_000, 'driver', 'the driver of cc1'), more],
    'a card that overflows as much on both sides': [card, card],
  };
  const texts = Object.entries(cases).flatMap(([name, [base, patched]]) =>
    (['regression', 'no-regression'] as const).map((kind) => {
      const comment = commentOf(resultOf(limitsOf(base, patched), kind));
      return [`${name}, ${kind}`, ...comment.split('\n').filter((line) => line.includes('Limit'))].join('\n  ');
    }),
  );
  await expect(`${texts.join('\n')}\n`).toMatchFileSnapshot('golden/limits.txt');
});

test('the table of the page has the busiest CPU, and adds up to what was offered and not received', () => {
  const patched: TrialLimits = readings({
    receivedPackets: 700_000,
    busiestCpuRatio: 0.4,
    drops: [
      { place: 'card', cause: 'missed at cc0', packets: 120_000 },
      { place: 'firewall', cause: rule, packets: 100_000 },
    ],
  });
  const page = pageOf(resultOf(limitsOf(readings(), patched))).replaceAll(/[|\n]+/g, '|');
  expect(page).toContain('|busiest CPU|busy|96 %|40 %|');
  expect(page).toContain('|card|missed at cc0|0 %|12 %|');
  expect(page).toContain(`|firewall|${rule}|0 %|10 %|`);
  expect(page).toContain('|unaccounted|in no counter|0 %|8 %|');
  expect(page).toContain('|lost in total|offered, but not received|0 %|30 %|');
});

test('names in readings are escaped in comments and on the page', () => {
  const cause = 'x ](http://evil) <script>alert(1)</script> @team `';
  const result = resultOf(limitsOf(readings(), losing(104_000, 'firewall', cause)));
  expect(renderHtml(result, [])).not.toContain('<script>alert');
  // Shown as code, fenced by more backticks than it contains.
  expect(renderMarkdown(result)).toMatch(/``[^\n]*<script>alert\(1\)[^\n]*``/);
  expect(renderRemarkup(result)).not.toMatch(/^[^`%]*<script>/m);
});
