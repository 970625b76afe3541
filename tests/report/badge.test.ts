import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type BadgeSubject, badgeVerdicts, renderBadge } from '../../src/report/badge.ts';

const now = new Date('2026-11-20T12:00:00Z');
const day = 86_400;
const daysAgo = (days: number) => new Date(now.getTime() - days * day * 1000);
const label = 'hp-t540 forwarding inet4';

const badge = (last?: BadgeSubject['last'], text = label) =>
  renderBadge({ label: text, ...(last && { last }) }, { now, staleSeconds: 30 * day });

test('shows the verdict and the rate', () => {
  const { endpoint, svg } = badge({ verdict: 'no-regression', pps: 4_980_000, at: daysAgo(1) });
  expect(endpoint).toEqual({
    schemaVersion: 1,
    label,
    message: 'no-regression · 4.980 Mpps',
    color: 'brightgreen',
  });
  expect(svg).toContain(`aria-label="${label}: no-regression · 4.980 Mpps"`);
});

test('shows only the verdict if nothing was measured', () => {
  expect(badge({ verdict: 'boot-failed', at: now }).endpoint).toMatchObject({
    message: 'boot-failed',
    color: 'red',
  });
});

test.each([
  ['regression', 'red'],
  ['improvement', 'brightgreen'],
  ['inconclusive', 'yellow'],
  ['invalid', 'lightgrey'],
  ['build-failed', 'red'],
] as const)('%s is %s', (verdict, color) => {
  expect(badge({ verdict, at: now }).endpoint.color).toBe(color);
});

describe('the picture', () => {
  test('has a name for readers who do not see it', () => {
    const { svg } = badge({ verdict: 'regression', at: now });
    expect(svg).toMatch(/^<svg [^>]*role="img" aria-label="hp-t540 forwarding inet4: regression">/);
    expect(svg).toContain('<title>hp-t540 forwarding inet4: regression</title>');
  });

  test('has each text in its own part, with equal margins on both sides', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom(...badgeVerdicts), (text, verdict) => {
        const { width, left, texts } = drawn(badge({ verdict, pps: 4_980_000, at: now }, text).svg);
        const parts = [
          { start: 0, end: left },
          { start: left, end: width },
        ];
        expect(texts).toHaveLength(2);
        texts.forEach(({ x, length }, index) => {
          const { start, end } = parts[index] ?? { start: 0, end: 0 };
          expect(x - start).toBe(6);
          expect(end - (x + length)).toBeGreaterThanOrEqual(6);
          expect(end - (x + length)).toBeLessThan(7);
        });
      }),
    );
  });

  test.each([
    ['iiii', 12],
    ['WWWW', 44],
    ['0000', 28],
    ['· ·', 10.5],
    ['路由器', 33],
    ['ルータ', 33],
    ['라우터', 33],
    ['e\u0301', 7],
    ['жжж', 21],
  ])('gives %s the width of its characters', (text, length) => {
    expect(drawn(badge(undefined, text).svg).texts[0]?.length).toBe(length);
  });

  test.each([
    ['no-regression', '#4c1'],
    ['inconclusive', '#dfb317'],
    ['invalid', '#9f9f9f'],
    ['regression', '#e05d44'],
  ] as const)('of %s is %s', (verdict, color) => {
    expect(drawn(badge({ verdict, at: now }).svg).color).toBe(color);
  });

  /** Begin of the badge's right part, and the texts of both. */
  function drawn(svg: string) {
    const [, width] = svg.match(/^<svg [^>]*width="(\d+)"/) ?? [];
    const [, left, color] = svg.match(/<path d="M(\d+) 0h[^"]*" fill="([^"]*)"/) ?? [];
    const texts = [...svg.matchAll(/<text x="(\d+)"[^>]* textLength="([\d.]+)"/g)];
    return {
      width: Number(width),
      left: Number(left),
      color,
      texts: texts.map(([, x, length]) => ({ x: Number(x), length: Number(length) })),
    };
  }
});

describe('no data', () => {
  const noData = { schemaVersion: 1, label, message: 'no data', color: 'lightgrey' };

  test('is there before the first verdict', () => {
    expect(badge().endpoint).toEqual(noData);
  });

  test('is what a verdict becomes when it is stale, and not before', () => {
    const last = { verdict: 'no-regression', pps: 1e6 } as const;
    expect(badge({ ...last, at: daysAgo(30) }).endpoint.message).toBe('no-regression · 1.000 Mpps');
    expect(badge({ ...last, at: daysAgo(30.001) }).endpoint).toEqual(noData);
  });
});

test('a long name is cut', () => {
  expect(badge(undefined, 'x'.repeat(10_000)).endpoint.label).toHaveLength(100);
});
