// Tests that comments and pages show the limit of a cell.
import { expect, test } from 'vitest';
import type { CellLimits, TrialLimits } from '../../src/model/limits.ts';
import { type CellVerdict, type Result, resultSchema } from '../../src/model/result.ts';
import { renderHtml, renderMarkdown, renderRemarkup } from '../../src/report/reports.ts';
import { fiveOfEight, limitsOf, losing, queuesOf, readings } from '../fakes/limits.ts';
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

test('a patch that works on fewer CPUs is reported as a change of distribution, not of cost', () => {
  const comment = commentOf(resultOf(limitsOf(readings(), fiveOfEight)));
  expect(comment).toContain('patched uses 5 of 8 CPUs (base 8 of 8)');
  expect(comment).toContain('flows reach 5 of 8 receive queues of cc0 (base 8 of 8)');
  expect(comment).toContain('one of distribution, not of the cost of a packet');
});

test('a comment has no line for equal readings', () => {
  expect(commentOf(resultOf(limitsOf(readings(), readings())))).not.toContain('Limit');
});

test('flows that reach few queues of base are named with what to change', () => {
  const few = readings({ queues: queuesOf([400_000, 600_000, 0, 0, 0, 0, 0, 0]) });
  const comment = commentOf(resultOf(limitsOf(few, few), 'no-regression'));
  expect(comment).toContain('the flows reach only 2 of 8 receive queues of cc0 on base');
  expect(comment).toContain('RSS key');
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

test('a card that overflows as much on both sides is how a router shows its limit, and not named', () => {
  const limits = limitsOf(losing(400_000, 'card', 'missed at cc0'), losing(400_000, 'card', 'missed at cc0'));
  expect(commentOf(resultOf(limits, 'no-regression'))).not.toContain('Limit');
});

test('a full table of states is named with its limit', () => {
  const stateTables = [{ name: 'pf states', states: 10_000, limit: 10_000 }];
  const full = losing(500_000, 'state-table', 'pf: state limit', { stateTables });
  const comment = commentOf(resultOf(limitsOf(full, full), 'no-regression'));
  expect(comment).toContain('the state table pf states is full on base and patched (10,000 states)');
});

test('the table of the page adds up to what was offered and not received', () => {
  const patched: TrialLimits = readings({
    receivedPackets: 700_000,
    drops: [
      { place: 'card', cause: 'missed at cc0', packets: 120_000 },
      { place: 'firewall', cause: rule, packets: 100_000 },
    ],
  });
  const page = pageOf(resultOf(limitsOf(readings(), patched))).replaceAll(/[|\n]+/g, '|');
  expect(page).toContain('|card|missed at cc0|0 %|12 %|');
  expect(page).toContain(`|firewall|${rule}|0 %|10 %|`);
  expect(page).toContain('|unaccounted|in no counter|0 %|8 %|');
  expect(page).toContain('|lost in total|offered, but not received|0 %|30 %|');
});

test('the page has a strip of CPUs and queues for each variant', () => {
  const page = renderHtml(resultOf(limitsOf(readings(), fiveOfEight)), []);
  expect(page.match(/<svg class="strip"/g)).toHaveLength(2);
  expect(page).toContain('patched: busy CPUs CPU 0 97 %');
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
  const result = resultOf(limitsOf(readings(), fiveOfEight));
  const [trial] = result.trials;
  const limits = { base: readings(), patched: fiveOfEight };
  const whole = { ...result, trials: trial === undefined ? [] : [{ ...trial, limits }] };
  expect(resultSchema.parse(JSON.parse(JSON.stringify(whole)))).toEqual(whole);
});
