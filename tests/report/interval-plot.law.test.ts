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

const withDiff = (kind: CellVerdict['kind'], change: number): CellResult => {
  const { comparisons } = cellOf(kind, around(change));
  return { ...cellOf(kind, around(change, 0.02)), others: [{ variant: 'diff 80345', comparisons }] };
};
const inTime = { policy: { ...policy, metric: 'nsPerPacket', marginRatio: 0.2 } } as const;
const timed = ({ comparisons, ...cell }: CellResult): CellResult => ({
  ...cell,
  comparisons: comparisons.map((one) => ({ ...one, metric: 'nsPerPacket' })),
});
const longName = { scenario: 'x'.repeat(63), family: 'inet6', frameBytes: 1518 } as const;

test.each([
  ['verdicts', judged(kinds.map((kind, index) => withDiff(kind, -0.03 * index)))],
  ['time', judged([timed(cellOf('regression', around(0.1))), timed(cellOf('improvement'))], inTime)],
  ['huge gain', judged([cellOf('regression'), cellOf('improvement', around(900, 5))])],
  ['long name', judged([{ ...cellOf('regression'), cell: longName }])],
])('is drawn as golden/interval-plot-%s.svg', async (name, result) => {
  await expect(intervalPlot(result)).toMatchFileSnapshot(`golden/interval-plot-${name.replace(' ', '-')}.svg`);
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
