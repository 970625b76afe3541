// Draws the rates of a cell's runs in the height of a text line.

import { median } from '../analysis/stats/summary.ts';
import { formatChange, formatMetric } from '../model/format.ts';
import type { Metric } from '../model/metric.ts';
import { type Cell, cellName } from '../model/scenario.ts';
import { type Extent, linearScale, robustExtent } from './scale.ts';
import { colors, element, path, round, svgDocument, text } from './svg.ts';

type SparklineRow = {
  cell: Cell;
  /** Has one value per nightly run. */
  values: readonly number[];
  /** Indices at which a new level begins. */
  changes: readonly number[];
};

/** Draws a standalone picture: one line per cell, with its latest rate. */
export function sparklineSheet(rows: readonly SparklineRow[], metric: Metric): string {
  const pieces = rows.flatMap(({ cell, values, changes }, index) => {
    const top = margin + index * rowHeight;
    const last = values.at(-1);
    const line = top + rowHeight / 2 + 4;
    return [
      text(cellName(cell), { x: margin, y: line }),
      element('g', { transform: `translate(${sparkLeft} ${top + (rowHeight - height) / 2})` }, drawn(values, changes)),
      text(last === undefined ? 'no nightly run' : formatMetric(last, metric), {
        x: numberLeft,
        y: line,
        fill: colors.faint,
      }),
    ];
  });
  const descriptions = rows.map(({ cell, values, changes }) => `${cellName(cell)}: ${described(values, changes)}`);
  const title = element('title', {}, descriptions.join('; '));
  return svgDocument(sheetWidth, 2 * margin + rows.length * rowHeight, [title, ...pieces]);
}

// In pixels.
const [width, height] = [240, 24];
const inset = 3;
const margin = 12;
const rowHeight = 30;
const [sparkLeft, numberLeft, sheetWidth] = [230, 490, 600];

/** Minimum range: noise should not look dramatic. */
const minRangeRatio = 0.02;

function drawn(values: readonly number[], changes: readonly number[]): string {
  if (values.length === 0) return '';
  const along = linearScale({ low: 0, high: Math.max(values.length - 1, 1) }, inset, width - inset);
  const up = linearScale(rangeOf(values, changes), height - inset, inset);
  const x = (index: number) => round(along(index));
  const y = (value: number) => round(up(value));
  const [newest = 0] = values.slice(-1);
  const line = values.map((value, index) => `${index === 0 ? 'M' : 'L'}${x(index)} ${y(value)}`);
  const marks = changes
    .filter((place) => place > 0 && place < values.length)
    .map((place) => `M${round((x(place - 1) + x(place)) / 2)} 0V${height}`);
  return [
    marks.length > 0 && path(marks.join(''), { class: 'change', fill: 'none', stroke: colors.red }),
    path(line.join(''), { fill: 'none', stroke: colors.ink, 'stroke-width': 1.2 }),
    element('circle', { cx: x(values.length - 1), cy: y(newest), r: 2, fill: colors.ink }),
  ]
    .filter(Boolean)
    .join('');
}

/** Clips outliers to the edge, so that the others stay distinct; keeps the level after each change. */
function rangeOf(values: readonly number[], changes: readonly number[]): Extent {
  const inside = changes.filter((place) => place > 0 && place < values.length);
  const starts = [...new Set([0, ...inside])].toSorted((a, b) => a - b);
  const medians = starts.map((from, nth) => median(values.slice(from, starts[nth + 1])));
  const { low, high } = robustExtent(values, medians);
  const padding = Math.max((minRangeRatio * high - (high - low)) / 2, Number.MIN_VALUE);
  return { low: low - padding, high: high + padding };
}

function described(values: readonly number[], changes: readonly number[]): string {
  const last = values.at(-1);
  if (last === undefined) return 'no nightly run';
  const off = formatChange(last / median([...values]) - 1);
  const steps = changes.length === 1 ? '1 change' : `${changes.length} changes`;
  return `${values.length} nightly runs, ${steps}, the last ${off} off their median`;
}
