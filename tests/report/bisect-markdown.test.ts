import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderMarkdown, renderRemarkup } from '../../src/report/reports.ts';
import { anyBisect } from '../fakes/any-bisect.ts';
import { aBisectResult, measuredForm, mellanoxFixed, revisionsOf } from '../fakes/bisect-result.ts';
import { expectHarmlessMarkdown, hostileMarkdown } from '../fakes/poisoned.ts';
import { times } from '../random.ts';

test('ministat is of both neighbours, or of both sides where these have too few numbers', () => {
  expect(renderMarkdown(mellanoxFixed)).toMatch(
    /if a neighbour has fewer.*x up to a0010101eeee, forwarding inet4\n\+ from f8f5b459d21e/s,
  );
  const values = (level: number) => [level, level + 1, level + 2];
  const revisions = revisionsOf(8, {
    4: { forms: [measuredForm(values(100))] },
    5: { forms: [measuredForm(values(90))] },
  });
  const own = renderMarkdown(aBisectResult({ revisions }));
  expect(own).toContain('x a0040404eeee, forwarding inet4\n+ a0050505eeee, forwarding inet4');
  expect(own).not.toContain('if a neighbour has fewer');
  const few = revisionsOf(8, { 4: { forms: [measuredForm([1])] } });
  expect(renderMarkdown(aBisectResult({ revisions: few }))).not.toContain('ministat');
});

test('a plot is shown where it has an address', () => {
  const image = 'https://example.org/bisect.png';
  expect(renderMarkdown(mellanoxFixed, { image })).toContain(`costs 55.9 ± 0.2 %](${image})`);
  expect(renderMarkdown(mellanoxFixed, { image: 'x) <img>' })).not.toContain('![');
});

describe('of any result', () => {
  test('a comment fits GitHub’s limit, and has no markup but ours', () => {
    fc.assert(
      fc.property(anyBisect(hostileMarkdown), (result) => expectHarmlessMarkdown(renderMarkdown(result))),
      { numRuns: times(40) },
    );
  });

  test('the table has as many columns in every row', () => {
    fc.assert(
      fc.property(anyBisect(hostileMarkdown), (result) => {
        const table = /^\| n \|.*?$(?=\n\n)/ms.exec(renderMarkdown(result))?.[0] ?? '';
        const rows = table.split('\n');
        expect(rows.length).toBeGreaterThan(3);
        const columns = rows.map((row) => row.split(/(?<!\\)\|/).length);
        expect(new Set(columns).size).toBe(1);
      }),
      { numRuns: times(40) },
    );
  });

  test('on Phabricator it is no longer than 100 kB', () => {
    fc.assert(
      fc.property(anyBisect(hostileMarkdown), (result) => {
        expect(Buffer.byteLength(renderRemarkup(result))).toBeLessThanOrEqual(100_000);
      }),
      { numRuns: times(40) },
    );
  });
});
