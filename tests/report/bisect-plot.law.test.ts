import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BisectResult } from '../../src/model/bisect-result.ts';
import { numbersOf } from '../../src/report/bisect-numbers.ts';
import { bisectPlot, bisectPlotAlt } from '../../src/report/bisect-plot.ts';
import { pngOf } from '../../src/report/png.ts';
import { svgDocument } from '../../src/report/svg.ts';
import { anyBisect } from '../fakes/any-bisect.ts';
import {
  aBisectResult,
  aChange,
  bisectResults,
  culprit,
  failedForm,
  group,
  measuredForm,
  mellanoxBroken,
  mellanoxFixed,
  revisionsOf,
} from '../fakes/bisect-result.ts';
import { aRun } from '../fakes/result.ts';
import { hostileToXml, readXml, type XmlElement } from '../fakes/xml.ts';
import { times } from '../random.ts';

type PlotForm = 'wide' | 'narrow';

const plotOf = (result: BisectResult, form: PlotForm = 'wide'): XmlElement => {
  const svg = bisectPlot(result, form);
  if (svg === undefined) expect.fail('There is something to draw.');
  return readXml(svg);
};

const named = (plot: XmlElement, name: string): XmlElement[] => plot.elements.filter((one) => one.name === name);

const textsOf = (plot: XmlElement): string[] => named(plot, 'text').map(({ text }) => text);

const dotsOf = (plot: XmlElement) =>
  named(plot, 'circle').map(({ attributes: { cx, cy, r, fill } }) => ({
    cx: Number(cx),
    cy: Number(cy),
    r: Number(r),
    fill,
  }));

/** Dots of boots, without those of the legend, which is below. */
const boots = (plot: XmlElement) => dotsOf(plot).filter(({ cy }) => cy < 330);

test('every boot is a dot at its place, those with fix-ups hollow', () => {
  const dots = boots(plotOf(mellanoxFixed));
  expect(dots).toHaveLength(10);
  expect(dots.filter(({ fill }) => fill === '#ffffff')).toHaveLength(4);
  const [good, bad] = [dots.slice(0, 4), dots.slice(4)];
  expect(Math.max(...good.map(({ cx }) => cx))).toBeLessThan(Math.min(...bad.map(({ cx }) => cx)));
  // More is above.
  expect(Math.max(...good.map(({ cy }) => cy))).toBeLessThan(Math.min(...bad.map(({ cy }) => cy)));
});

test('a chance is as high as it is great', () => {
  const heights = named(plotOf(mellanoxBroken), 'rect')
    .filter(({ attributes }) => attributes.fill === '#c62f2f' && !attributes['fill-opacity'])
    .map(({ attributes }) => Number(attributes.height));
  expect(heights).toHaveLength(11);
  const [whole] = named(plotOf(mellanoxFixed), 'rect')
    .filter(({ attributes }) => attributes.fill === '#c62f2f' && !attributes['fill-opacity'])
    .map(({ attributes }) => Number(attributes.height));
  expect(heights[0]).toBeCloseTo((whole ?? 0) * 0.0908, 1);
});

test('of hundreds of commits the informative ones are drawn, with the rest counted between', () => {
  const revisions = revisionsOf(256, {
    0: { forms: [measuredForm([1e6])] },
    100: { forms: [measuredForm([1e6])] },
    101: { forms: [failedForm()] },
    102: { forms: [measuredForm([9e5])] },
    256: { forms: [measuredForm([9e5])] },
  });
  for (const form of ['wide', 'narrow'] as const) {
    const plot = plotOf(aBisectResult({ revisions, answer: group(100, 102) }), form);
    const texts = textsOf(plot);
    expect(texts).toEqual(expect.arrayContaining(['…99', '100', '101', '102', '…153', '256']));
    expect(texts).not.toContain('50');
  }
});

test('nothing is drawn if nothing was measured', () => {
  expect(bisectPlot(bisectResults['nothing measured'] ?? aBisectResult())).toBeUndefined();
});

test('is described in words, without the comma that would end them in Remarkup', () => {
  for (const result of Object.values(bisectResults)) {
    expect(bisectPlotAlt(result)).toMatch(/^The (?:rate of each boot|change against good in each trial) [^,{}|]+$/);
  }
  expect(bisectPlotAlt(mellanoxBroken)).toBe(
    'The rate of each boot along the commits: 5 of the 12 after good were tried and 3 of them cannot be measured; one of these 11 costs 55.9 ± 0.2 %',
  );
});

test('Shared trials are drawn as changes against good in the same trial, so that a drift cancels', () => {
  const names = ['base', 'a0010101eeee', 'patched'];
  const effects = [1, 1, 0.9];
  const runs = [800e3, 1e6, 1.2e6].flatMap((speed, trial) =>
    names.map((variant, index) =>
      aRun({
        number: 3 * trial + index,
        trial: trial + 1,
        variant,
        pps: speed * (effects[index] ?? 1),
      }),
    ),
  );
  const form = (variant: string) => ({
    variant,
    fixUps: [],
    values: runs.filter((run) => run.variant === variant).map(({ pps }) => pps),
  });
  const revisions = revisionsOf(
    2,
    names.map((variant) => ({ forms: [form(variant)] })),
  );
  const plot = plotOf(aBisectResult({ isShared: true, runs, revisions, answer: culprit(2, -0.1) }));
  const dots = boots(plot);
  expect(dots).toHaveLength(9);
  expect(new Set(dots.slice(0, 6).map(({ cy }) => cy)).size).toBe(1);
  expect(new Set(dots.slice(6).map(({ cy }) => cy)).size).toBe(1);
  expect(dots[8]?.cy).toBeGreaterThan((dots[0]?.cy ?? 0) + 100);
  const texts = textsOf(plot);
  expect(texts).toContain('−10 %');
  expect(texts).toContain('a trial');
  expect(texts.join()).not.toMatch(/\d kpps(?! to)(?=,\d)/);
});

test('An outlier is outside the plot with its value, and flattens nothing', () => {
  const revisions = revisionsOf(8, {
    0: { forms: [measuredForm([1_000_000, 1_002_000])] },
    4: { forms: [measuredForm([999_000, 1_001_000, 10_000])] },
    5: { forms: [measuredForm([900_000, 901_000])], probability: 0.9996 },
    8: { forms: [measuredForm([899_000, 902_000])] },
  });
  // Levels of a change belong to the plot, so the outlier is in none.
  const answer = { kind: 'slide' as const, change: aChange(-0.1), steps: [5] };
  const plot = plotOf(aBisectResult({ revisions, answer }));
  const heights = boots(plot).map(({ cy }) => cy);
  expect(heights).toHaveLength(8);
  expect(Math.max(...heights) - Math.min(...heights)).toBeGreaterThan((312 - 92) / 2);
  expect(textsOf(plot)).toContain('10.00 kpps');
});

describe('of any result', () => {
  const anyForm = fc.constantFrom<PlotForm>('wide', 'narrow');

  test('the picture is well-formed, of no elements but ours, and all is inside', () => {
    fc.assert(
      fc.property(anyBisect(hostileToXml), anyForm, (result, form) => {
        const svg = bisectPlot(result, form);
        const numbers = numbersOf(result);
        const values = result.revisions.flatMap(({ forms }) => forms.flatMap(numbers));
        expect(svg === undefined).toBe(values.length === 0);
        if (svg === undefined) return;
        expect(svg.replace(/>[^<]*</g, '><')).not.toMatch(/NaN|Infinity|undefined/);
        const plot = readXml(svg);
        const [width, height] = [Number(plot.attributes.width), Number(plot.attributes.height)];
        for (const { cx, cy, r } of dotsOf(plot)) {
          expect(cx - r).toBeGreaterThanOrEqual(0);
          expect(cx + r).toBeLessThanOrEqual(width);
          expect(cy - r).toBeGreaterThanOrEqual(0);
          expect(cy + r).toBeLessThanOrEqual(height);
        }
        for (const { attributes: at } of named(plot, 'rect')) {
          expect(Number(at.width)).toBeGreaterThanOrEqual(0);
          expect(Number(at.height)).toBeGreaterThanOrEqual(0);
          expect(Number(at.x ?? 0) + Number(at.width)).toBeLessThanOrEqual(width + 0.01);
          expect(Number(at.y ?? 0) + Number(at.height)).toBeLessThanOrEqual(height + 0.01);
        }
        const names = new Set(plot.elements.map(({ name }) => name));
        expect(names.difference(new Set(['title', 'rect', 'path', 'text', 'circle']))).toEqual(new Set());
      }),
      { numRuns: times(100) },
    );
  });

  test('it is drawn in pixels', async () => {
    await fc.assert(
      fc.asyncProperty(anyBisect(hostileToXml), anyForm, async (result, form) => {
        const svg = bisectPlot(result, form);
        if (svg !== undefined) expect((await pngOf(svg)).length).toBeGreaterThan(1000);
      }),
      { numRuns: times(8) },
    );
  });
});

test('a plot has a limited size, however many boots each of the commits has', () => {
  const values = Array.from({ length: 2000 }, (_, index) => 1e6 + index);
  const forms = [measuredForm(values)];
  const revisions = revisionsOf(
    59,
    Array.from({ length: 60 }, () => ({ forms })),
  );
  expect(bisectPlot(aBisectResult({ revisions }))?.length).toBeLessThan(2_000_000);
});

test('a plot of more than two million characters is not drawn', () => {
  expect(() => svgDocument(10, 10, ['', 'x'.repeat(2_000_000)])).toThrow(/is not drawn/);
});
