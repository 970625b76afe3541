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

const named = (plot: XmlElement, name: string): XmlElement[] => plot.elements.filter((one) => one.name === name);

const dotsOf = (plot: XmlElement) =>
  named(plot, 'circle').map(({ attributes: { cx, cy, r, fill } }) => ({
    cx: Number(cx),
    cy: Number(cy),
    r: Number(r),
    fill,
  }));

/** Shared trials, whose speed drifts: drawn as changes against good in the same trial. */
function sharedTrials(): BisectResult {
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
  return aBisectResult({ isShared: true, runs, revisions, answer: culprit(2, -0.1) });
}

const hundreds = revisionsOf(256, {
  0: { forms: [measuredForm([1e6])] },
  100: { forms: [measuredForm([1e6])] },
  101: { forms: [failedForm()] },
  102: { forms: [measuredForm([9e5])] },
  256: { forms: [measuredForm([9e5])] },
});

const withOutlier = revisionsOf(8, {
  0: { forms: [measuredForm([1_000_000, 1_002_000])] },
  4: { forms: [measuredForm([999_000, 1_001_000, 10_000])] },
  5: { forms: [measuredForm([900_000, 901_000])], probability: 0.9996 },
  8: { forms: [measuredForm([899_000, 902_000])] },
});

test.each<[string, BisectResult, PlotForm?]>([
  ['fix-up', mellanoxFixed],
  ['chances', mellanoxBroken, 'narrow'],
  ['hundreds', aBisectResult({ revisions: hundreds, answer: group(100, 102) })],
  ['shared', sharedTrials()],
  // Levels of a change belong to the plot, so the outlier is in none.
  ['outlier', aBisectResult({ revisions: withOutlier, answer: { kind: 'slide', change: aChange(-0.1), steps: [5] } })],
])('is drawn as golden/bisect-plot-%s.svg', async (name, result, form) => {
  await expect(bisectPlot(result, form)).toMatchFileSnapshot(`golden/bisect-plot-${name}.svg`);
});

test('nothing is drawn if nothing was measured', () => {
  expect(bisectPlot(bisectResults['nothing measured'] ?? aBisectResult())).toBeUndefined();
});

test('is described in words, without the comma that would end them in Remarkup', () => {
  for (const result of Object.values(bisectResults)) {
    expect(bisectPlotAlt(result)).toMatch(/^The (?:rate of each boot|change against good in each trial) [^,{}|]+$/);
  }
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
