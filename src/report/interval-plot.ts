// The change of every cell with its interval as a picture, in SVG: no change in the middle, the loss that matters shaded.

import { plainLine } from '../words/escape.ts';
import { formatChange, formatInterval, formatPercent, metricName } from '../words/format.ts';
import { patchName } from '../words/patch.ts';
import type {
  CellResult,
  CellVerdict,
  Comparison,
  Interval,
  Policy,
  Result,
} from '../words/result.ts';
import { cellName } from '../words/scenario.ts';
import { escaped } from '../words/xml.ts';
import { worstFirst } from './cell-rows.ts';

/** An SVG document with a light background of its own; undefined where nothing was judged. Of more than `mostCells` the worst are drawn. */
export function intervalPlot(result: Result, mostCells = 40): string | undefined {
  const { outcome, policy } = result;
  if (outcome.kind !== 'judged') return undefined;
  const { cells } = outcome;
  const shown = cells.length > mostCells ? worstFirst(cells).slice(0, mostCells) : cells;
  const rows = shown.flatMap((cell) => rowsOf(cell, policy));
  if (rows.every(({ interval }) => interval === undefined)) return undefined;

  const axis = axisOf(rows, policy);
  const end = top + rows.length * rowHeight;
  const hidden = cells.length - shown.length;
  return document(end + (hidden > 0 ? 54 : 36), [
    ...heading(result),
    ...rows.flatMap((row, index) => separator(row, top + index * rowHeight)),
    ...scale(axis, end, policy),
    ...rows.flatMap((row, index) => rowPieces(row, axis, top + (index + 0.5) * rowHeight)),
    ...legend(end, policy, hidden),
  ]);
}

const mostOthers = 10;

type Row = {
  label: string;
  /** Absent: an earlier diff, which is shown and not judged. */
  verdict?: CellVerdict['kind'];
  interval: Interval | undefined;
};

function rowsOf({ cell, verdict, comparisons, others }: CellResult, { metric }: Policy): Row[] {
  const intervalOf = (all: readonly Comparison[]) =>
    all.find((one) => one.metric === metric)?.interval;
  return [
    { label: cellName(cell), verdict: verdict.kind, interval: intervalOf(comparisons) },
    ...others
      .slice(0, mostOthers)
      .map((other) => ({ label: other.variant, interval: intervalOf(other.comparisons) })),
  ];
}

// All lengths are in pixels, all places from the upper left corner.
const width = 920;
const top = 92;
const rowHeight = 30;
const margin = 24;
/** The plot lies between its two, numbers end at theirs, and the verdict's symbol is at the last. */
const column = { plot: 240, plotEnd: 590, change: 664, interval: 778, verdict: 798 } as const;

/** No two are the same, so that a page can put its own in their place. */
export const colors = {
  paper: '#ffffff',
  ink: '#1f2328',
  faint: '#59636e',
  pale: '#e3e7eb',
  red: '#c62f2f',
  green: '#1a7f4b',
  amber: '#a86200',
  grey: '#6e7781',
} as const;
const { paper, ink, faint, pale, red, green, amber, grey } = colors;

/** The changes at the left and the right end of the plot. */
type Axis = { low: number; high: number };

/** No change is less than −100 %; one that is more than the other end leaves the plot, for the rest to be seen. */
const widest: Axis = { low: -1, high: 1 };

const inside = ({ low, high }: Axis, change: number): number =>
  Math.min(Math.max(change, low), high);

/** Holds no change, both margins and all intervals, with some room beside them. */
function axisOf(rows: readonly Row[], policy: Policy): Axis {
  const { loss, gain } = marginsOf(policy);
  const ends = rows.flatMap(({ interval }) => (interval ? [interval.low, interval.high] : []));
  const held = [0, loss, gain, ...ends].map((change) => inside(widest, change));
  const [least, most] = [Math.min(...held), Math.max(...held)];
  const room = Math.max(most - least, 1e-6) * 0.06;
  return { low: least - room, high: most + room };
}

function placeOf(change: number, axis: Axis): number {
  const share = (inside(axis, change) - axis.low) / (axis.high - axis.low);
  return column.plot + share * (column.plotEnd - column.plot);
}

/** The change that is a loss of the margin, and its mirror image. */
function marginsOf({ metric, marginRatio }: Policy): { loss: number; gain: number } {
  const [less, more] = [-marginRatio, 1 / (1 - marginRatio) - 1];
  return metric === 'pps' ? { loss: less, gain: more } : { loss: more, gain: less };
}

function document(height: number, pieces: readonly string[]): string {
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: 'img',
    'font-family': "'Open Sans', 'Segoe UI', 'Helvetica Neue', Arial, sans-serif",
    'font-size': 13,
    fill: ink,
  };
  const [title, ...rest] = pieces;
  const sheet = element('rect', { width, height, rx: 6, fill: paper });
  const lines = ['', title, sheet, ...rest, ''].join('\n');
  return `${element('svg', attributes, lines)}\n`;
}

function heading({ patch, policy, testbed }: Result): string[] {
  const diff = patch.kind === 'revision' ? `, diff ${patch.diff}` : '';
  const title = `${patchName(patch)}${diff}: change against base`;
  const confidence = formatPercent(policy.confidenceRatio);
  const where = plainLine(testbed.name, 40);
  const subtitle = `${metricName(policy.metric)} · ${where}`;
  const head = { y: top - 8, 'font-size': 11, fill: faint };
  return [
    element('title', {}, escaped(`${title}: ${subtitle}`)),
    text(title, { x: margin, y: 36, 'font-size': 17, 'font-weight': 600 }),
    text(subtitle, { x: margin, y: 58, fill: faint }),
    text('change', { x: column.change, ...head, 'text-anchor': 'end' }),
    text(`${confidence} interval`, { x: column.interval, ...head, 'text-anchor': 'end' }),
    text('verdict', { x: column.verdict + 14, ...head }),
  ];
}

/** Earlier diffs stand with their cell. */
const separator = ({ verdict }: Row, y: number): string[] =>
  verdict === undefined ? [] : [path(`M${margin} ${y}H${width - margin}`, { stroke: pale })];

/** What lies behind the rows: the loss that matters, round numbers, the margins, and no change. */
function scale(axis: Axis, end: number, policy: Policy): string[] {
  const { loss, gain } = marginsOf(policy);
  const lossAt = placeOf(loss, axis);
  const [from, to] = loss < gain ? [column.plot, lossAt] : [lossAt, column.plotEnd];
  const [left, right] = loss < gain ? ['loss', 'gain'] : ['gain', 'loss'];
  const upright = (change: number, attributes: Attributes) =>
    path(`M${round(placeOf(change, axis))} ${top}V${end}`, attributes);
  const small = { 'font-size': 11, fill: faint };
  const ticks = ticksOf(axis);
  return [
    element('rect', { x: from, y: top, width: to - from, height: end - top, ...shade }),
    ...ticks.map((tick) => upright(tick, { stroke: pale })),
    upright(loss, { stroke: red, 'stroke-dasharray': '4 3' }),
    upright(gain, { stroke: grey, 'stroke-dasharray': '4 3' }),
    upright(0, { stroke: ink, 'stroke-width': 1.5 }),
    text(left, { x: column.plot, y: top - 8, ...small }),
    text(right, { x: column.plotEnd, y: top - 8, ...small, 'text-anchor': 'end' }),
    ...ticks.map((tick) => {
      const x = placeOf(tick, axis);
      return text(tickText(tick), { x, y: end + 17, ...small, 'text-anchor': 'middle' });
    }),
    path(`M${margin} ${end}H${width - margin}`, { stroke: pale }),
  ];
}

const shade = { fill: red, 'fill-opacity': '0.08' };

/** Round numbers, some six of them. */
function ticksOf({ low, high }: Axis): number[] {
  const least = (high - low) / 8;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
  const [first, last] = [Math.ceil(low / step), Math.floor(high / step)];
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}

/** `−5 %`, `0`. */
function tickText(tick: number): string {
  if (tick === 0) return '0';
  return `${tick < 0 ? '−' : '+'}${formatPercent(Math.abs(tick))}`;
}

/** What was found of one row: drawn, in numbers, and in a word. */
function rowPieces({ label, verdict, interval }: Row, axis: Axis, y: number): string[] {
  const look = verdict === undefined ? unjudged : looks[verdict];
  const line = { y: y + 4.5 };
  const small = { ...line, 'font-size': 12, fill: faint };
  const toEnd = { 'text-anchor': 'end' };
  const weight = verdict === undefined ? 400 : 600;
  const change = interval ? formatChange(interval.change) : '–';
  const drawn = interval && [
    drawnInterval(interval, axis, y, look.color),
    symbolAt(placeOf(interval.change, axis), y, look),
    text(formatInterval(interval.low, interval.high), { x: column.interval, ...small, ...toEnd }),
  ];
  const told =
    verdict === undefined
      ? [
          text(labelOf(label), { x: margin + 18, ...small }),
          text('not judged', { x: column.verdict + 14, ...small }),
        ]
      : [
          text(labelOf(label), { x: margin, ...line }),
          symbolAt(column.verdict, y, look),
          text(verdict, { x: column.verdict + 14, ...small, fill: look.color }),
        ];
  return [
    ...told,
    ...(drawn ?? []),
    text(change, { x: column.change, ...line, ...toEnd, 'font-weight': weight }),
  ];
}

const longestLabel = 30;

/** The family stands at the end of a cell's name, so what does not fit is left out before it. */
function labelOf(name: string): string {
  const label = plainLine(name);
  if (label.length <= longestLabel) return label;
  return `${label.slice(0, longestLabel - 13).trimEnd()}…${label.slice(-12)}`;
}

/** An interval with bars at its ends where there is room, or arrows where it goes on beyond the plot. */
function drawnInterval({ low, high }: Interval, axis: Axis, y: number, color: string): string {
  const [left, right] = [round(placeOf(low, axis)), round(placeOf(high, axis))];
  const bar = (x: number) => (right - left > 18 ? `M${x} ${y - 5}v10` : '');
  const arrow = (x: number, tip: number) => `M${x} ${y - 5}l${tip} 5l${-tip} 5`;
  const ends = [
    low < axis.low ? arrow(left - 9, -5) : bar(left),
    high > axis.high ? arrow(right + 9, 5) : bar(right),
  ];
  const attributes = { stroke: color, 'stroke-width': 2, fill: 'none' };
  return path(`M${left} ${y}H${right}${ends.join('')}`, attributes);
}

/** A colour, and a symbol around 0,0 for those who do not see the colour. */
type Look = { color: string; symbol: string };

const disc = 'M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z';

/** The look of each verdict, here and wherever else it is drawn. */
export const looks: Record<CellVerdict['kind'], Look> = {
  regression: { color: red, symbol: 'M-7 -5H7L0 7Z' },
  improvement: { color: green, symbol: 'M-7 5H7L0 -7Z' },
  'no-regression': { color: green, symbol: disc },
  inconclusive: { color: amber, symbol: 'M0 -7L7 0L0 7L-7 0Z' },
  invalid: { color: grey, symbol: 'M-6 -4L-4 -6L0 -2L4 -6L6 -4L2 0L6 4L4 6L0 2L-4 6L-6 4L-2 0Z' },
};

const unjudged: Look = { color: grey, symbol: disc };

const symbolAt = (x: number, y: number, { color, symbol }: Look): string =>
  path(symbol, { transform: `translate(${round(x)} ${y})`, fill: color, stroke: paper });

function legend(end: number, { marginRatio }: Policy, hidden: number): string[] {
  const y = end + 17;
  const small = { y, 'font-size': 11, fill: faint };
  const box = { y: y - 9, width: 10, height: 10, stroke: red, 'stroke-dasharray': '2 1.5' };
  return [
    element('rect', { x: margin, ...box, ...shade }),
    text(`a loss of ${formatPercent(marginRatio)} or more matters`, { x: margin + 16, ...small }),
    ...(hidden > 0
      ? [text(`${hidden} more cells, none of them worse`, { x: margin, ...small, y: y + 18 })]
      : []),
  ];
}

type Attributes = Record<string, string | number>;

function element(name: string, attributes: Attributes, inside?: string): string {
  const written = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${typeof value === 'number' ? round(value) : escaped(value)}"`,
  );
  const start = `<${name}${written.join('')}`;
  return inside === undefined ? `${start}/>` : `${start}>${inside}</${name}>`;
}

const path = (d: string, attributes: Attributes): string => element('path', { d, ...attributes });

const text = (said: string, attributes: Attributes): string =>
  element('text', attributes, escaped(said));

const round = (pixels: number): number => Math.round(pixels * 100) / 100;
