import fc from 'fast-check';
import { expect, test } from 'vitest';
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

test('of any result a comment fits its forge, has no markup but ours, and a table of equal rows', () => {
  fc.assert(
    fc.property(anyBisect(hostileMarkdown), (result) => {
      const markdown = renderMarkdown(result);
      expectHarmlessMarkdown(markdown);
      const rows = /^\| n \|.*?$(?=\n\n)/ms.exec(markdown)?.[0].split('\n') ?? [];
      expect(rows.length).toBeGreaterThan(3);
      expect(new Set(rows.map((row) => row.split(/(?<!\\)\|/).length)).size).toBe(1);
      expect(Buffer.byteLength(renderRemarkup(result))).toBeLessThanOrEqual(100_000);
    }),
    { numRuns: times(30) },
  );
});
