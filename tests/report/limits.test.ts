// Tests that comments and pages show the limit of a cell.
import { expect, test } from 'vitest';
import type { CellLimits, TrialLimits } from '../../src/model/limits.ts';
import { type CellVerdict, type Result, resultSchema } from '../../src/model/result.ts';
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

test('a comment has no line for equal readings', () => {
  expect(commentOf(resultOf(limitsOf(readings(), readings())))).not.toContain('Limit');
});

test('a rule that drops test traffic is named, also if base drops it, too', () => {
  const drops = losing(100_000, 'firewall', rule);
  const comment = commentOf(resultOf(limitsOf(drops, drops), 'no-regression'));
  expect(comment).toContain(`patched loses 10 % of the packets in firewall, ${rule} (base 10 %)`);
});

test('one place with all losses of a regression is named so', () => {
  const limits = limitsOf(readings(), losing(104_000, 'card', 'no buffer at cc0'));
  expect(commentOf(resultOf(limits))).toContain(
    'all losses of patched (10.4 % of the packets, base 0 %) are in card, no buffer at cc0',
  );
});

test('a patch that is no slower has no line for what its card misses, and a slower one for what it misses more', () => {
  const more = readings({
    receivedPackets: 700_000,
    drops: [
      { place: 'card', cause: 'missed at cc0', packets: 200_000 },
      { place: 'driver', cause: 'the driver of cc1', packets: 100_000 },
    ],
  });
  const limits = limitsOf(losing(100_000, 'driver', 'the driver of cc1'), more);
  expect(commentOf(resultOf(limits, 'no-regression'))).not.toContain('Limit');
  const comment = commentOf(resultOf(limits));
  expect(comment).toContain('patched loses 20 % of the packets in card, missed at cc0 (base 0 %)');
  expect(comment).not.toContain('in driver');
});

test('a card that overflows as much on both sides is how a router shows its limit, and not named', () => {
  const limits = limitsOf(losing(400_000, 'card', 'missed at cc0'), losing(400_000, 'card', 'missed at cc0'));
  expect(commentOf(resultOf(limits, 'no-regression'))).not.toContain('Limit');
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

// Attack read/limit-names
test('names in readings are escaped in comments and on the page', () => {
  const cause = 'x ](http://evil) <script>alert(1)</script> @team `';
  const result = resultOf(limitsOf(readings(), losing(104_000, 'firewall', cause)));
  expect(renderHtml(result, [])).not.toContain('<script>alert');
  // Shown as code, fenced by more backticks than it contains.
  expect(renderMarkdown(result)).toMatch(/``[^\n]*<script>alert\(1\)[^\n]*``/);
  expect(renderRemarkup(result)).not.toMatch(/^[^`%]*<script>/m);
});

test('a result with readings is valid', () => {
  const result = resultOf(limitsOf(readings(), losing(104_000, 'card', 'missed at cc0')));
  const [trial] = result.trials;
  const limits = { base: readings(), patched: losing(104_000, 'card', 'missed at cc0') };
  const whole = { ...result, trials: trial === undefined ? [] : [{ ...trial, limits }] };
  expect(resultSchema.parse(JSON.parse(JSON.stringify(whole)))).toEqual(whole);
});
