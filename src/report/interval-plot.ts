// Draws the change of every cell with its interval in SVG: zero in the middle, the margin shaded.

import { plainLine } from '../model/escape.ts';
import { counted, formatChange, formatInterval, formatPercent, formatSigned, metricName } from '../model/format.ts';
import type { CellResult, CellVerdict, Comparison, Interval, Policy, Result } from '../model/result.ts';
import { cellName } from '../model/scenario.ts';
import { escaped } from '../model/xml.ts';
import { worstFirst } from './cell-rows.ts';
import { isSilent, marginsOf, patchLabel } from './headline.ts';
import { clamped, type Extent, extentOf, linearScale, ticksOf } from './scale.ts';
import { type Attributes, colors, element, type PlotForm, path, round, svgDocument, text } from './svg.ts';

/**
 * Returns SVG with its own light background; undefined without judged cells. Beyond `maxCells`, draws only the worst.
 */
export function intervalPlot(
  result: Result,
  { maxCells = 40, form = 'wide' }: { maxCells?: number; form?: PlotForm } = {},
): string | undefined {
  const { outcome, policy } = result;
  if (outcome.kind !== 'judged') return undefined;
  const { cells } = outcome;
  const shown = cells.length > maxCells ? worstFirst(cells).slice(0, maxCells) : cells;
  const rows = shown.flatMap((cell) => rowsOf(cell, policy));
  if (rows.every(({ interval }) => interval === undefined)) return undefined;

  const sizes = forms[form];
  const { top, rowHeight } = sizes;
  const axis = axisOf(rows, policy);
  const end = top + rows.length * rowHeight;
  const tops = rows.map((_, index) => top + index * rowHeight);
  const hidden = cells.length - shown.length;
  return svgDocument(sizes.width, end + sizes.legend + (hidden > 0 ? 37 : 19), [
    ...heading(result, sizes),
    ...rows.flatMap((row, index) => separator(row, tops[index] ?? top, sizes)),
    ...scale(axis, tops, policy, sizes),
    ...rows.flatMap((row, index) => rowPieces(row, axis, tops[index] ?? top, sizes)),
    ...legend(end + sizes.legend, policy, hidden, sizes),
  ]);
}

const maxOthers = 10;

type PlotRow = {
  label: string;
  /** Replaces an interval. */
  note?: string;
  /** Absent: an earlier diff, which is not judged. */
  verdict?: CellVerdict['kind'];
  interval: Interval | undefined;
};

function rowsOf(result: CellResult, { metric }: Policy): PlotRow[] {
  const { cell, verdict, comparisons, others } = result;
  const intervalOf = (all: readonly Comparison[]) => all.find((one) => one.metric === metric)?.interval;
  // Leaves out sizes of invalid cells, which are unverified, and of silent cells, whose change has none.
  const isSized = verdict.kind !== 'invalid' && !isSilent(result);
  const interval = isSized ? intervalOf(comparisons) : undefined;
  const note = isSilent(result) ? { note: 'forwards nothing' } : {};
  return [
    { label: cellName(cell), verdict: verdict.kind, interval, ...note },
    ...others.slice(0, maxOthers).map((other) => ({ label: other.variant, interval: intervalOf(other.comparisons) })),
  ];
}

/** Measured from the left of the picture, and from the top of the row. */
type PlotPoint = { x: number; y: number };

/** In pixels. */
type PlotSizes = {
  width: number;
  margin: number;
  top: number;
  rowHeight: number;
  title: { y: number; size: number };
  subtitle: { y: number; hasTestbed: boolean };
  hasHeads: boolean;
  /** Horizontal ends and middle of the plot, and its reach from there. */
  plot: { left: number; right: number; middle: number; reach: number };
  label: PlotPoint;
  change: PlotPoint;
  interval: PlotPoint;
  symbol: PlotPoint;
  verdict: PlotPoint;
  /** From the last row to the baseline of the legend. */
  legend: number;
};

const forms: Record<PlotForm, PlotSizes> = {
  wide: {
    width: 920,
    margin: 24,
    top: 92,
    rowHeight: 30,
    title: { y: 36, size: 17 },
    subtitle: { y: 58, hasTestbed: true },
    hasHeads: true,
    plot: { left: 240, right: 590, middle: 15, reach: 15 },
    label: { x: 24, y: 19.5 },
    change: { x: 664, y: 19.5 },
    interval: { x: 778, y: 19.5 },
    symbol: { x: 798, y: 15 },
    verdict: { x: 812, y: 19.5 },
    legend: 17,
  },
  narrow: {
    width: 360,
    margin: 14,
    top: 76,
    rowHeight: 70,
    title: { y: 24, size: 14 },
    subtitle: { y: 44, hasTestbed: false },
    hasHeads: false,
    plot: { left: 14, right: 346, middle: 53, reach: 11 },
    label: { x: 34, y: 20 },
    change: { x: 346, y: 20 },
    interval: { x: 346, y: 36 },
    symbol: { x: 21, y: 15.5 },
    verdict: { x: 34, y: 36 },
    legend: 38,
  },
};

const { paper, ink, faint, pale, red, green, amber, grey } = colors;

/** No change is below −100 %; one beyond the other end leaves the plot, so that the rest stays legible. */
const widest: Extent = { low: -1, high: 1 };

/** Includes zero, both margins and all intervals, with padding. */
function axisOf(rows: readonly PlotRow[], policy: Policy): Extent {
  const { loss, gain } = marginsOf(policy);
  const ends = rows.flatMap(({ interval }) => (interval ? [interval.low, interval.high] : []));
  const { low, high } = extentOf([0, loss, gain, ...ends].map((change) => clamped(change, widest)));
  const spare = Math.max(high - low, 1e-6) * 0.06;
  return { low: low - spare, high: high + spare };
}

const placeOf = (change: number, axis: Extent, { left, right }: PlotSizes['plot']): number =>
  linearScale(axis, left, right)(change);

function heading(result: Result, form: PlotSizes): string[] {
  const { patch, policy, testbed } = result;
  const { margin: x, title: head, subtitle: below } = form;
  const diff = patch.kind === 'revision' ? `, diff ${patch.diff}` : '';
  const title = `${patchLabel(result)}${diff}: change against base`;
  const where = below.hasTestbed ? ` · ${plainLine(testbed.name, 40)}` : '';
  const subtitle = `${metricName(policy.metric)}${where}`;
  return [
    element('title', {}, escaped(`${title}: ${subtitle}`)),
    text(title, { x, y: head.y, 'font-size': head.size, 'font-weight': 600 }),
    text(subtitle, { x, y: below.y, fill: faint }),
    ...(form.hasHeads ? heads(policy, form) : []),
  ];
}

function heads({ confidenceRatio }: Policy, { top, change, interval, verdict }: PlotSizes): string[] {
  const head = { y: top - 8, 'font-size': 11, fill: faint };
  return [
    text('change', { x: change.x, ...head, 'text-anchor': 'end' }),
    text(`${formatPercent(confidenceRatio)} interval`, {
      x: interval.x,
      ...head,
      'text-anchor': 'end',
    }),
    text('verdict', { x: verdict.x, ...head }),
  ];
}

/** Keeps earlier diffs with their cell. */
const separator = ({ verdict }: PlotRow, y: number, { margin, width }: PlotSizes): string[] =>
  verdict === undefined ? [] : [path(`M${margin} ${y}H${width - margin}`, { stroke: pale })];

/** Draws the background: the margin's loss, round numbers, the margins, and zero. */
function scale(axis: Extent, tops: readonly number[], policy: Policy, form: PlotSizes): string[] {
  const { plot, top, rowHeight, margin, width } = form;
  const { loss, gain } = marginsOf(policy);
  const lossAt = placeOf(loss, axis, plot);
  const [from, to] = loss < gain ? [plot.left, lossAt] : [lossAt, plot.right];
  const [left, right] = loss < gain ? ['loss', 'gain'] : ['gain', 'loss'];
  const bands = bandsOf(tops, form);
  const upright = (change: number, attributes: Attributes) =>
    bands.map(([first, last]) => path(`M${round(placeOf(change, axis, plot))} ${first}V${last}`, attributes));
  const small = { 'font-size': 11, fill: faint };
  const ticks = ticksOf(axis);
  const end = top + tops.length * rowHeight;
  return [
    ...bands.map(([y, last]) => element('rect', { x: from, y, width: to - from, height: last - y, ...shade })),
    ...ticks.flatMap((tick) => upright(tick, { stroke: pale })),
    ...upright(loss, { stroke: red, 'stroke-dasharray': '4 3' }),
    ...upright(gain, { stroke: grey, 'stroke-dasharray': '4 3' }),
    ...upright(0, { stroke: ink, 'stroke-width': 1.5 }),
    text(left, { x: plot.left, y: top - 8, ...small }),
    text(right, { x: plot.right, y: top - 8, ...small, 'text-anchor': 'end' }),
    ...ticks.map((tick) => {
      const x = placeOf(tick, axis, plot);
      return text(formatSigned(tick), { x, y: end + 17, ...small, 'text-anchor': 'middle' });
    }),
    path(`M${margin} ${end}H${width - margin}`, { stroke: pale }),
  ];
}

/** Shades one band for touching rows, else one per row, so that no line crosses text. */
function bandsOf(tops: readonly number[], { plot, rowHeight, top }: PlotSizes): [number, number][] {
  if (2 * plot.reach === rowHeight) return [[top, top + tops.length * rowHeight]];
  return tops.map((y) => [y + plot.middle - plot.reach, y + plot.middle + plot.reach]);
}

const shade = { fill: red, 'fill-opacity': '0.08' };

function rowPieces({ label, note, verdict, interval }: PlotRow, axis: Extent, top: number, form: PlotSizes) {
  const look = verdict === undefined ? unjudged : looks[verdict];
  const at = ({ x, y }: PlotPoint) => ({ x, y: top + y });
  const middle = top + form.plot.middle;
  const small = { 'font-size': 12, fill: faint };
  const toEnd = { 'text-anchor': 'end' };
  const weight = verdict === undefined ? 400 : 600;
  const change = interval ? formatChange(interval.change) : note === undefined ? '–' : '';
  const silence = note === undefined ? [] : [text(note, { ...at(form.interval), ...small, ...toEnd })];
  const drawn = interval && [
    drawnInterval(interval, axis, middle, look.color, form.plot),
    symbolAt({ x: placeOf(interval.change, axis, form.plot), y: middle }, look),
    text(formatInterval(interval.low, interval.high), { ...at(form.interval), ...small, ...toEnd }),
  ];
  const place = at(form.label);
  const described =
    verdict === undefined
      ? [
          text(labelOf(label), { ...place, x: place.x + 18, ...small }),
          text('not judged', { ...at(form.verdict), ...small }),
        ]
      : [
          text(labelOf(label), place),
          symbolAt(at(form.symbol), look),
          text(verdict, { ...at(form.verdict), ...small, fill: look.color }),
        ];
  return [...described, ...(drawn ?? silence), text(change, { ...at(form.change), ...toEnd, 'font-weight': weight })];
}

const longestLabel = 30;

/** Shortens a name before its family, which ends it. */
function labelOf(name: string): string {
  const label = plainLine(name);
  if (label.length <= longestLabel) return label;
  return `${label.slice(0, longestLabel - 13).trimEnd()}…${label.slice(-12)}`;
}

/** Draws bars at the ends, or arrows where the interval leaves the plot. */
function drawnInterval(
  { low, high }: Interval,
  axis: Extent,
  y: number,
  color: string,
  plot: PlotSizes['plot'],
): string {
  const [left, right] = [round(placeOf(low, axis, plot)), round(placeOf(high, axis, plot))];
  const bar = (x: number) => (right - left > 18 ? `M${x} ${y - 5}v10` : '');
  const arrow = (x: number, tip: number) => `M${x} ${y - 5}l${tip} 5l${-tip} 5`;
  const ends = [low < axis.low ? arrow(left - 9, -5) : bar(left), high > axis.high ? arrow(right + 9, 5) : bar(right)];
  const attributes = { stroke: color, 'stroke-width': 2, fill: 'none' };
  return path(`M${left} ${y}H${right}${ends.join('')}`, attributes);
}

/** The symbol around 0,0 distinguishes verdicts without colour. */
type VerdictLook = { color: string; symbol: string };

const disc = 'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z';

export const looks: Record<CellVerdict['kind'], VerdictLook> = {
  regression: { color: red, symbol: 'M-7 -5H7L0 7Z' },
  improvement: { color: green, symbol: 'M-7 5H7L0 -7Z' },
  'no-regression': { color: green, symbol: disc },
  inconclusive: { color: amber, symbol: 'M0 -7L7 0L0 7L-7 0Z' },
  invalid: { color: grey, symbol: 'M-6 -4L-4 -6L0 -2L4 -6L6 -4L2 0L6 4L4 6L0 2L-4 6L-6 4L-2 0Z' },
};

const unjudged: VerdictLook = { color: grey, symbol: disc };

const symbolAt = ({ x, y }: PlotPoint, { color, symbol }: VerdictLook): string =>
  path(symbol, { transform: `translate(${round(x)} ${y})`, fill: color, stroke: paper });

function legend(y: number, policy: Policy, hidden: number, { margin: x }: PlotSizes): string[] {
  const small = { y, 'font-size': 11, fill: faint };
  const box = { y: y - 9, width: 10, height: 10, stroke: red, 'stroke-dasharray': '2 1.5' };
  const { loss } = marginsOf(policy);
  return [
    element('rect', { x, ...box, ...shade }),
    text(`${formatSigned(loss)} or more matters`, { x: x + 16, ...small }),
    ...(hidden > 0
      ? [
          text(`${counted(hidden, 'more cell')}, ${hidden === 1 ? 'which is not' : 'none of them'} worse`, {
            x,
            ...small,
            y: y + 18,
          }),
        ]
      : []),
  ];
}
