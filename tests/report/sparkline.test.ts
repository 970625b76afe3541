import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sparklineSheet } from '../../src/report/sparkline.ts';
import { forwarding } from '../fakes/result.ts';
import { readXml } from '../fakes/xml.ts';

const drawn = (values: readonly number[], changes: readonly number[]): string =>
  sparklineSheet([{ cell: forwarding, values, changes }], 'pps');

describe('a sparkline', () => {
  test('describes in words what it draws', () => {
    expect(drawn([100, 100, 90], [2])).toContain(
      '<title>forwarding inet4: 3 nightly runs, 1 change, the last −10.00 % off their median</title>',
    );
    expect(drawn([], [])).toContain('<title>forwarding inet4: no nightly run</title>');
  });

  test('marks each change between the nightly runs that it parts', () => {
    expect(drawn([2, 2, 1, 1], [2])).toMatch(/<path d="M120 0V24" class="change"/);
    expect(drawn([2, 2, 1, 1], [])).not.toContain('class="change"');
  });

  test('of nightly runs that are alike is a line in the middle', () => {
    expect(drawn([5, 5, 5], [])).toContain('M3 12L120 12L237 12');
  });

  test('is not flattened by one bad nightly run in thirty', () => {
    const nightlyRuns = Array.from({ length: 30 }, (_, index) => 100 + (index % 2) * 10);
    const [calm, bad] = [nightlyRuns, [...nightlyRuns.slice(1), 1]].map((values) => drawn(values, []));
    const heights = (svg = '') => new Set(svg.match(/(?<=[ML][\d.]+ )[\d.]+/g));
    expect(heights(bad).size).toBe(heights(calm).size);
  });

  test('stays within its picture, and is XML, of any nightly runs', () => {
    const rate = fc.double({ min: 1e-3, max: 1e12, noNaN: true });
    fc.assert(
      fc.property(fc.array(rate, { maxLength: 70 }), fc.array(fc.integer()), (values, changes) => {
        const svg = drawn(values, changes);
        readXml(svg);
        expect(svg).not.toMatch(/NaN|Infinity/);
        for (const [, x, y] of svg.matchAll(/[ML]([\d.-]+) ([\d.-]+)/g)) {
          expect(Number(x)).toBeGreaterThanOrEqual(0);
          expect(Number(x)).toBeLessThanOrEqual(240);
          expect(Number(y)).toBeGreaterThanOrEqual(0);
          expect(Number(y)).toBeLessThanOrEqual(24);
        }
      }),
    );
  });
});

test('a sheet has a line for each cell, with what it did last', () => {
  const other = { scenario: 'pf-stateful', family: 'inet6', frameBytes: 1518 } as const;
  const svg = sparklineSheet(
    [
      { cell: forwarding, values: [800_000, 805_300], changes: [] },
      { cell: other, values: [], changes: [] },
    ],
    'pps',
  );
  readXml(svg);
  expect(svg).toContain('>forwarding inet4</text>');
  expect(svg).toContain('>805.3 kpps</text>');
  expect(svg).toContain('>pf-stateful inet6 1518 B</text>');
  expect(svg).toContain('>no nightly run</text>');
});
