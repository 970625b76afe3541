import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CellResult, type CellVerdict, type Interval, metricSchema, type Result } from '../../src/model/result.ts';
import { intervalPlot } from '../../src/report/interval-plot.ts';
import { pngOf } from '../../src/report/png.ts';
import { aCell, aResult, judged, policy } from '../fakes/result.ts';
import { hostileToXml } from '../fakes/xml.ts';
import { times } from '../random.ts';

const around = (change: number, half = 0.01): Interval => ({
  change,
  low: change - half,
  high: change + half,
});

const kinds = [
  'regression',
  'improvement',
  'no-regression',
  'inconclusive',
  'invalid',
] as const satisfies CellVerdict['kind'][];

const cellOf = (kind: CellVerdict['kind'], interval = around(-0.1)): CellResult =>
  aCell(kind === 'invalid' ? { kind, reason: 'a hole' } : { kind }, interval);

/** Plot of a result that was judged. */
function plotOf(cells: CellResult[], changes: Partial<Result> = {}): string {
  const svg = intervalPlot(judged(cells, changes));
  if (svg === undefined) expect.fail('There is something to draw.');
  return svg;
}

const textsOf = (svg: string): string[] =>
  [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text = '']) => text);

/** Distance of a colour's upright line from the left. */
function uprightAt(svg: string, stroke: string): number {
  const [, x] = new RegExp(`<path d="M([\\d.]+) [\\d.]+V[\\d.]+" stroke="${stroke}"`).exec(svg) ?? [];
  return Number(x);
}

/** The symbol and the interval of the first cell: [left, symbol, right]. */
function firstInterval(svg: string): [number, number, number] {
  const [, left, right] = /<path d="M([\d.]+) [\d.]+H([\d.]+)[^"]*" stroke="[^"]*" stroke-width="2"/.exec(svg) ?? [];
  const all = [...svg.matchAll(/transform="translate\(([\d.]+) /g)].map(([, x]) => Number(x));
  return [Number(left), Math.min(...all), Number(right)];
}

const red = '#c62f2f';
const ink = '#1f2328';

test('every verdict has its own word and symbol', () => {
  const looks = kinds.map((kind) => {
    const svg = plotOf([cellOf(kind), cellOf('no-regression')]);
    expect(textsOf(svg)).toContain(kind);
    return /<path d="([^"]*)" transform="translate\(798 /.exec(svg)?.[1];
  });
  expect(new Set(looks).size).toBe(kinds.length);
});

test('an interval is drawn at its numbers, between no change and more', () => {
  const svg = plotOf([cellOf('regression', around(-0.1, 0.02))]);
  const [left, symbol, right] = firstInterval(svg);
  const [margin, zero] = [uprightAt(svg, red), uprightAt(svg, ink)];
  expect(left).toBeLessThan(symbol);
  expect(symbol).toBeLessThan(right);
  expect(right).toBeLessThan(margin);
  expect(margin).toBeLessThan(zero);
  const pixelsOfOne = (zero - symbol) / 0.1;
  expect((right - left) / pixelsOfOne).toBeCloseTo(0.04, 3);
  expect((zero - margin) / pixelsOfOne).toBeCloseTo(0.02, 3);
});

test('a loss is on the right where less is better, and the same loss in time is a little more', () => {
  const [comparison] = cellOf('regression').comparisons;
  if (comparison === undefined) expect.fail('There is a comparison.');
  const time = { ...comparison, metric: 'nsPerPacket', interval: around(0.1) } as const;
  const svg = plotOf([{ ...cellOf('regression'), comparisons: [comparison, time] }], {
    policy: { ...policy, metric: 'nsPerPacket', marginRatio: 0.2 },
  });
  const [zero, margin] = [uprightAt(svg, ink), uprightAt(svg, red)];
  const symbol = firstInterval(svg)[1];
  expect((margin - zero) / (symbol - zero)).toBeCloseTo(2.5, 2);
  expect(textsOf(svg).indexOf('gain')).toBeLessThan(textsOf(svg).indexOf('loss'));
});

test('earlier diffs are below their cell, and not judged', () => {
  const { comparisons } = cellOf('regression', around(-0.03));
  const cell = { ...cellOf('regression'), others: [{ variant: 'diff 80345', comparisons }] };
  const texts = textsOf(plotOf([cell, cellOf('no-regression')]));
  expect(texts.indexOf('regression')).toBeLessThan(texts.indexOf('diff 80345'));
  expect(texts.indexOf('diff 80345')).toBeLessThan(texts.indexOf('no-regression'));
  expect(texts).toContain('−3.00 %');
  expect(texts.filter((text) => text === 'not judged')).toHaveLength(1);
});

test.for<[string, Result]>([
  ['a kernel did not boot', aResult({ outcome: { kind: 'boot-failed', message: 'dead' } })],
  ['no cell has numbers', judged([{ ...cellOf('invalid'), comparisons: [] }])],
])('there is no plot where %s', ([, result]) => {
  expect(intervalPlot(result)).toBeUndefined();
});

test('of many cells the worst are drawn, and the rest is counted', () => {
  const cells = Array.from({ length: 60 }, (_, index) => cellOf(index % 3 === 0 ? 'regression' : 'no-regression'));
  const texts = textsOf(plotOf(cells));
  expect(texts.filter((text) => text === 'regression')).toHaveLength(20);
  expect(texts.filter((text) => text === 'no-regression')).toHaveLength(20);
  expect(texts).toContain('20 more cells, none of them worse');
});

test('one huge gain does not hide the others: it leaves the plot with an arrow', () => {
  const cells = [cellOf('regression', around(-0.1)), cellOf('improvement', around(900, 5))];
  const svg = plotOf(cells);
  const zero = uprightAt(svg, ink);
  expect(zero - firstInterval(svg)[1]).toBeGreaterThan(20);
  expect(textsOf(svg)).toContain('+90000 %');
  expect(svg).toMatch(/l5 5l-5 5"/);
  expect(plotOf(cells.slice(0, 1))).not.toMatch(/l5 5l-5 5"/);
});

test('a name that is too long keeps its family', () => {
  const cell = { scenario: 'x'.repeat(63), family: 'inet6', frameBytes: 1518 } as const;
  const texts = textsOf(plotOf([{ ...cellOf('regression'), cell }]));
  expect(texts).toContainEqual(expect.stringMatching(/^x{10,}…inet6 1518 B$/));
});

test('its narrow form shows the same in the width of a phone', () => {
  const { comparisons } = cellOf('regression', around(-0.03));
  const others = [{ variant: 'diff 80345', comparisons }];
  const result = judged(kinds.map((kind) => ({ ...cellOf(kind), others })));
  const wide = intervalPlot(result) ?? '';
  const narrow = intervalPlot(result, { form: 'narrow' }) ?? '';
  const heads = ['change', '90 % interval', 'verdict'];
  const subtitle = 'packets per second (more is better)';
  const told = textsOf(wide).map((text) => (text.startsWith(subtitle) ? subtitle : text));
  // The axis has as many round numbers as fit.
  const isTick = (text: string) => /^[−+]?\d+( %)?$/.test(text);
  expect(textsOf(narrow).filter((text) => !isTick(text))).toEqual(
    told.filter((text) => !heads.includes(text) && !isTick(text)),
  );
  const [, width] = /^<svg [^>]*width="(\d+)"/.exec(narrow) ?? [];
  expect(Number(width)).toBeLessThanOrEqual(360);
});

describe('of any result', () => {
  const ratio = fc.oneof(
    fc.double({ min: -1, max: 3, noNaN: true }),
    fc.double({ noDefaultInfinity: true, noNaN: true }),
  );
  const anyResult = fc
    .record({
      kind: fc.constantFrom(...kinds),
      interval: fc.record({ change: ratio, low: ratio, high: ratio }),
      marginRatio: fc.double({ min: 0, max: 1, noNaN: true }),
      name: hostileToXml,
      variant: hostileToXml,
      metric: fc.constantFrom(...metricSchema.options),
    })
    .map(({ kind, interval, marginRatio, name, variant, metric }) => {
      const cell = cellOf(kind, interval);
      const comparisons = cell.comparisons.map((one) => ({ ...one, metric }));
      return judged([{ ...cell, comparisons, others: [{ variant, comparisons }] }], {
        policy: { ...policy, metric, marginRatio },
        testbed: { name, fingerprint: {}, warnings: [] },
      });
    });

  test('it is drawn at places that are numbers, with no element but ours', async () => {
    await fc.assert(
      fc.asyncProperty(anyResult, fc.constantFrom('wide', 'narrow'), async (result, form) => {
        const svg = intervalPlot(result, { form }) ?? '';
        if (svg === '') return;
        expect(svg.replace(/>[^<]*</g, '><')).not.toMatch(/NaN|Infinity|undefined/);
        const elements = [...svg.matchAll(/<\/?([^\s/>]*)/g)].map(([, name]) => name);
        expect(new Set(elements)).toEqual(new Set(['svg', 'title', 'rect', 'path', 'text']));
        expect((await pngOf(svg)).length).toBeGreaterThan(1000);
      }),
      { numRuns: times(25) },
    );
  });
});
