// Draws the runs of a cell in order, one mark each.

import { median } from '../analysis/stats/summary.ts';
import { plainLine } from '../model/escape.ts';
import { counted, formatMetric, formatTick } from '../model/format.ts';
import type { Metric } from '../model/metric.ts';
import type { Run } from '../model/result.ts';
import { isJudged } from '../model/variant-name.ts';
import { scrolling } from './html-pieces.ts';
import { type Html, html, type Piece } from './markup.ts';
import { type Extent, isWithin, linearScale, paddedRates, robustExtent } from './scale.ts';

/** Uses the colours of the page's style; undefined without numbers. */
export function runPlot(inOrder: readonly Run[], metric: Metric): Html | undefined {
  const points = inOrder.flatMap((run, index) => {
    const value = run[metric];
    const x = Math.round((left + (index + 0.5) * stepOf(inOrder)) * 10) / 10;
    return value === undefined ? [] : { run, value, x };
  });
  if (points.length === 0) return undefined;
  const axis = axisOf(points);
  const variants = [...Map.groupBy(points, ({ run }) => run.variant)];
  return scrolling(
    html`<svg class="runs" viewBox="0 0 ${width} ${height}" role="img" aria-label="${described(points)}">
${[axis.high, axis.low].map((value) => edge(value, placeOf(value, axis), metric))}
${variants.map(([variant, own]) => drawn(lookOf(variant), own, axis))}
${drawnOutside(points, axis, metric)}
${legend(
  variants.map(([variant]) => variant),
  points,
)}
</svg>`,
  );
}

type RunPoint = { run: Run; value: number; x: number };

// In pixels, from the upper left corner.
const [width, height] = [920, 210];
const [left, right, top, bottom] = [96, 900, 44, 184];

const stepOf = (runs: readonly Run[]): number => (right - left) / runs.length;

/** Includes the median of each variant; outliers and uncounted runs may lie outside. */
function axisOf(points: readonly RunPoint[]): Extent {
  const valid = points.filter(({ run }) => run.validity.kind === 'valid');
  const shown = valid.length > 0 ? valid : points;
  const medians = [...Map.groupBy(shown, ({ run }) => run.variant).values()].map((own) =>
    median(own.map(({ value }) => value)),
  );
  const values = shown.map(({ value }) => value);
  return paddedRates(robustExtent(values, medians), { spareRatio: 0.08, minRatio: 0.005 });
}

/** Draws points outside the axis at its edge, each with its value if space allows. */
function drawnOutside(points: readonly RunPoint[], axis: Extent, metric: Metric): Piece {
  const outside = points.filter(({ value }) => !isWithin(value, axis));
  return [true, false].map((isUp) => {
    const own = outside.filter(({ value }) => value > axis.high === isUp);
    const [tip, down] = isUp ? ['m-4 -6h8l-4 -7Z', -6] : ['m-4 6h8l-4 7Z', 14];
    const edgeAt = placeOf(isUp ? axis.high : axis.low, axis);
    const arrows = own.map(({ x }) => `M${x} ${edgeAt}${tip}`).join('');
    let free = 0;
    const labels = own.flatMap(({ value, x }) => {
      const label = formatMetric(value, metric);
      const length = label.length * 6.5;
      const isLeft = x + 8 + length > width;
      const from = isLeft ? x - 8 - length : x + 8;
      if (from < free) return [];
      free = from + length + 12;
      return html`<text x="${isLeft ? x - 8 : x + 8}" y="${edgeAt + down}" text-anchor="${isLeft ? 'end' : 'start'}">${label}</text>\n`;
    });
    return own.length === 0 ? [] : [html`<path class="outside" d="${arrows}"/>\n`, ...labels];
  });
}

const placeOf = (value: number, axis: Extent): number => Math.round(linearScale(axis, bottom, top)(value) * 10) / 10;

const edge = (value: number, y: number, metric: Metric): Html =>
  html`<path class="edge" d="M${left} ${y}H${right}"/><text x="${left - 10}" y="${y + 4}" text-anchor="end">${formatTick(value, metric)}</text>\n`;

function drawn(look: VariantLook, points: readonly RunPoint[], axis: Extent): Piece {
  const [valid, invalid] = [true, false].map((isValid) =>
    points.filter(({ run }) => (run.validity.kind === 'valid') === isValid),
  );
  const marks = (shape: string, some: readonly RunPoint[] = []) =>
    some.map(({ value, x }) => `M${x} ${placeOf(value, axis)}${shape}`).join('');
  const middle = valid?.length
    ? html`<path class="middle ${look.name}" d="M${left} ${placeOf(median(valid.map(({ value }) => value)), axis)}H${right}"/>\n`
    : undefined;
  return html`${middle}<path class="${look.name}" d="${marks(look.shape, valid)}"/>
<path class="uncounted" d="${marks(cross, invalid)}"/>\n`;
}

type VariantLook = { name: 'base' | 'patched' | 'other'; shape: string };

const cross = 'm-3.5 -3.5l7 7m0 -7l-7 7';

const shapes: Record<VariantLook['name'], string> = {
  base: 'm-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0',
  patched: 'm-4 3.2h8l-4 -7Z',
  other: 'm0 -4l4 4l-4 4l-4 -4Z',
};

function lookOf(variant: string): VariantLook {
  const name = !isJudged(variant) ? 'other' : variant === 'base' ? 'base' : 'patched';
  return { name, shape: shapes[name] };
}

function legend(variants: readonly string[], points: readonly RunPoint[]): Piece {
  const hasInvalid = points.some(({ run }) => run.validity.kind === 'invalid');
  const entries = [
    ...variants.slice(0, maxNamed).map((variant) => ({ label: plainLine(variant, 16), ...lookOf(variant) })),
    ...(hasInvalid ? [{ label: 'does not count', name: 'uncounted', shape: cross }] : []),
  ];
  return entries.map(({ label, name, shape }, index) => {
    const x = left + index * 120;
    return html`<path class="${name}" d="M${x + 6} 14${shape}"/><text x="${x + 16}" y="18">${label}</text>\n`;
  });
}

const maxNamed = 5;

const described = (points: readonly RunPoint[]): string =>
  `${counted(points.length, 'run')} in order; the table below has their numbers`;
