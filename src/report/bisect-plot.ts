// Draws a bisection in SVG: rates of all boots along the commits, levels, and probabilities.

import { type BisectResult, type BisectRevision, bisectConfidenceRatio } from '../model/bisect-result.ts';
import { plainLine } from '../model/escape.ts';
import {
  formatChange,
  formatMetric,
  formatPercent,
  formatProbability,
  formatSigned,
  formatTick,
  metricName,
} from '../model/format.ts';
import { isLoss } from '../model/result.ts';
import { cellName } from '../model/scenario.ts';
import { escaped } from '../model/xml.ts';
import { bisectHeadline, bisectTitle, faultText, revisionId, searchedKind } from './bisect-headline.ts';
import { type Level, levelsOf } from './bisect-levels.ts';
import { type FormNumbers, isMeasured, numbersOf } from './bisect-numbers.ts';
import { isNamed, type RevisionRange, rangesOf, stepsOf, triedCounts } from './bisect-rows.ts';
import { type Extent, isWithin, linearScale, paddedRates, robustExtent, ticksOf } from './scale.ts';
import { colors, element, type PlotForm, path, round, svgDocument, text } from './svg.ts';

/** SVG with its own light background; undefined without measurements. */
export function bisectPlot(result: BisectResult, form: PlotForm = 'wide'): string | undefined {
  const numbers = numbersOf(result);
  const dots = result.revisions.flatMap((revision) => dotsOf(revision, numbers));
  if (dots.length === 0) return undefined;
  const sizes = forms[form];
  const columns = columnsOf(result, sizes);
  const levels = levelsOf(result);
  const [values, kept] = [dots, levels].map((all) => all.map(({ value }) => value));
  const axis = paddedRates(robustExtent(values ?? [], kept), {
    spareRatio: 0.1,
    minRatio: 0.004,
  });
  const scale = linearScale(axis, sizes.bottom, sizes.top);
  const heightOf = (value: number) => round(scale(value));
  const drawing: BisectDrawing = { result, numbers, sizes, columns, levels, axis, heightOf };
  const legend = legendPieces(drawing, dots);
  return svgDocument(sizes.width, legend.bottom + 10, [
    ...heading(drawing),
    ...gaps(drawing),
    ...grid(drawing),
    ...failures(drawing),
    ...bands(drawing),
    ...step(drawing),
    ...columns.flatMap((column) => marks(column, drawing)),
    ...outsideValues(drawing),
    ...chances(drawing),
    ...labels(drawing),
    ...columns.flatMap((column) => tooltip(column, drawing)),
    ...legend.pieces,
  ]);
}

/** Alternative text. */
export function bisectPlotAlt(result: BisectResult): string {
  const failed = result.revisions.filter(({ forms }) => forms.length > 0 && !forms.some(isMeasured)).length;
  const { distinct, tried } = triedCounts(result);
  const without = failed > 0 ? ` and ${failed} of them cannot be measured` : '';
  const what = result.isShared ? 'The change against good in each trial' : 'The rate of each boot';
  return `${what} along the ${searchedKind(result)}s: ${tried} of the ${distinct} after good were tried${without}; ${bisectTitle(result)}`;
}

type BisectDrawing = {
  result: BisectResult;
  numbers: FormNumbers;
  sizes: PlotSizes;
  columns: readonly PlotColumn[];
  levels: readonly Level[];
  axis: Extent;
  heightOf: (value: number) => number;
};

/** In pixels. */
type PlotSizes = {
  width: number;
  margin: number;
  title: { y: number; size: number };
  subtitle: { y: number; hasSetting: boolean; longest: number };
  left: number;
  right: number;
  top: number;
  bottom: number;
  chanceTop: number;
  chanceBottom: number;
  radius: number;
  /** Up to this many revisions are all drawn, otherwise the notable ones. */
  maxRevisions: number;
};

const forms: Record<PlotForm, PlotSizes> = {
  wide: {
    width: 920,
    margin: 24,
    title: { y: 36, size: 17 },
    subtitle: { y: 58, hasSetting: true, longest: 120 },
    left: 104,
    right: 896,
    top: 92,
    bottom: 312,
    chanceTop: 326,
    chanceBottom: 370,
    radius: 4,
    maxRevisions: 60,
  },
  narrow: {
    width: 360,
    margin: 14,
    title: { y: 24, size: 14 },
    subtitle: { y: 43, hasSetting: false, longest: 46 },
    left: 78,
    right: 348,
    top: 76,
    bottom: 250,
    chanceTop: 262,
    chanceBottom: 300,
    radius: 3.2,
    maxRevisions: 26,
  },
};

const { paper, ink, faint, pale, red, green, amber, grey } = colors;

type PlotColumn = RevisionRange & { left: number; width: number };

function columnsOf(result: BisectResult, { left, right, maxRevisions }: PlotSizes): PlotColumn[] {
  const { revisions } = result;
  const ranges =
    revisions.length <= maxRevisions
      ? revisions.map((_, index) => ({ first: index, last: index, isListed: true }))
      : rangesOf(result, maxRevisions);
  const width = (right - left) / ranges.length;
  return ranges.map((one, nth) => ({ ...one, left: left + nth * width, width }));
}

const middleOf = ({ left, width }: PlotColumn): number => left + width / 2;

/** A rate, or with shared trials a ratio to good. */
type Dot = { value: number; isPlain: boolean };

/** More marks in one column hide each other. */
const maxDots = 100;

function dotsOf({ forms }: BisectRevision, numbers: FormNumbers): Dot[] {
  const dots = forms.flatMap((form) => numbers(form).map((value) => ({ value, isPlain: form.fixUps.length === 0 })));
  const every = Math.ceil(dots.length / maxDots);
  return dots.filter((_, index) => index % every === 0);
}

function heading(drawing: BisectDrawing): string[] {
  const { result, sizes } = drawing;
  const { title, subtitle, margin: x } = sizes;
  const { metric, cell, testbed } = result;
  const rates = ratesText(drawing);
  const name = result.isShared ? `${metricName(metric)}, against good in each trial` : metricName(metric);
  const parts = subtitle.hasSetting
    ? [rates, name, cellName(cell), plainLine(testbed.name, 40)]
    : [rates, cellName(cell)];
  const below = plainLine(parts.filter(Boolean).join(' · '), subtitle.longest);
  return [
    element('title', {}, escaped(`${bisectHeadline(result)}. ${bisectPlotAlt(result)}`)),
    text(bisectTitle(result), { x, y: title.y, 'font-size': title.size, 'font-weight': 600 }),
    text(below, { x, y: subtitle.y, fill: faint }),
  ];
}

/** `26.84 Mpps to 11.83 Mpps`: the answer's rates, or all levels. */
function ratesText({ result, levels }: BisectDrawing): string {
  const { answer, metric } = result;
  const change = 'change' in answer ? answer.change : undefined;
  return change
    ? [change.before, change.after].map((value) => formatMetric(value, metric)).join(' to ')
    : levels.map(({ value }) => valueText(result, value)).join(' to ');
}

/** `26.84 Mpps`, or with shared trials `−10.0 %`. */
const valueText = ({ isShared, metric }: BisectResult, value: number): string =>
  isShared ? formatChange(value - 1) : formatMetric(value, metric);

const gaps = ({ columns, sizes: { top, bottom, chanceTop, chanceBottom } }: BisectDrawing): string[] =>
  columns.flatMap(({ isListed, left: x, width }) =>
    isListed
      ? []
      : [
          [top, bottom],
          [chanceTop, chanceBottom],
        ].map(([y = 0, end = 0]) =>
          element('rect', { x, y, width, height: end - y, fill: pale, 'fill-opacity': '0.6' }),
        ),
  );

const small = { 'font-size': 11, fill: faint };

function grid(drawing: BisectDrawing): string[] {
  const { result, sizes, axis } = drawing;
  const { left, right, bottom, chanceTop, chanceBottom } = sizes;
  const line = (y: number) => path(`M${left} ${y}H${right}`, { stroke: pale });
  const label = (labelText: string, y: number) => text(labelText, { x: left - 8, y, ...small, 'text-anchor': 'end' });
  return [
    ...ticksOf(axis, 6).flatMap((tick) => {
      const y = drawing.heightOf(tick);
      const labelText = result.isShared ? formatSigned(tick - 1) : formatTick(tick, result.metric);
      return [line(y), label(labelText, y + 4)];
    }),
    path(`M${left} ${bottom}H${right}`, { stroke: grey }),
    line(chanceTop),
    path(`M${left} ${chanceBottom}H${right}`, { stroke: grey }),
    label('P', (chanceTop + chanceBottom) / 2 + 4),
  ];
}

/** `failed` was tried and cannot be measured; `between` is untried between such revisions. */
type FailedRange = { kind: 'failed' | 'between'; left: number; right: number; faults: Set<string> };

function failures(drawing: BisectDrawing): string[] {
  const { sizes, columns, result } = drawing;
  const { top, bottom } = sizes;
  return [
    ...failuresOf(drawing).flatMap((failure) => {
      const { kind, left, right } = failure;
      const area = { x: left, y: top, width: right - left, height: bottom - top };
      const stroke = kind === 'failed' ? grey : pale;
      return [hatching(area, stroke), ...faultName(failure, area)];
    }),
    // Some forms were measured while others cannot be.
    ...columns.flatMap(({ isListed, first, left: x, width }) => {
      const forms = result.revisions[first]?.forms ?? [];
      const isMixed = isListed && forms.some(isMeasured) && forms.some(({ fault }) => fault);
      return isMixed ? hatching({ x, y: bottom - 14, width, height: 14 }, grey) : [];
    }),
  ];
}

function failuresOf({ columns, result }: BisectDrawing): FailedRange[] {
  const found: FailedRange[] = [];
  for (const { isListed, first, left, width } of columns) {
    const revision = result.revisions[first];
    const kind = isListed && revision ? failureOf(revision) : undefined;
    if (kind === undefined) continue;
    const faults = (revision?.forms ?? []).flatMap(({ fault }) => (fault ? faultText(fault) : []));
    const before = found.at(-1);
    if (before?.kind === kind && Math.abs(before.right - left) < 0.01) {
      before.right = left + width;
      for (const fault of faults) before.faults.add(fault);
    } else {
      found.push({ kind, left, right: left + width, faults: new Set(faults) });
    }
  }
  return found;
}

function failureOf({ forms, isAssumedFailed }: BisectRevision): FailedRange['kind'] | undefined {
  if (forms.some(isMeasured)) return undefined;
  if (forms.some(({ fault }) => fault !== undefined)) return 'failed';
  return isAssumedFailed ? 'between' : undefined;
}

type Area = { x: number; y: number; width: number; height: number };

const hatchPixels = 8;

/** Lines continue across neighbouring areas. */
function hatching({ x, y, width, height }: Area, stroke: string): string {
  const start = hatchPixels - ((x + y) % hatchPixels);
  const count = Math.ceil((width + height - start) / hatchPixels);
  const lines = Array.from({ length: Math.max(count, 0) }, (_, nth) => {
    const sum = start + nth * hatchPixels;
    const [from, to] = [Math.max(0, sum - height), Math.min(width, sum)];
    return `M${round(x + from)} ${round(y + sum - from)}L${round(x + to)} ${round(y + sum - to)}`;
  });
  const look = { stroke, 'stroke-width': 1.2, 'stroke-opacity': stroke === grey ? '0.55' : '1' };
  return path(lines.join(''), { ...look, fill: 'none' });
}

/** Writes the name upright if it is longer than the line. */
function faultName({ faults }: FailedRange, area: Area): string[] {
  const [labelText = '', ...others] = faults;
  const name = others.length > 0 ? 'cannot be measured' : labelText;
  const long = widthOf(name) + 10;
  const middle = { x: area.x + area.width / 2, y: area.y + area.height / 2 };
  const isUpright = long > area.width;
  if (name === '' || (isUpright && (area.width < 16 || long > area.height))) return [];
  const [width, height] = isUpright ? [16, long] : [long, 16];
  const turned = isUpright ? { transform: `rotate(-90 ${round(middle.x)} ${round(middle.y)})` } : undefined;
  return [
    element('rect', {
      x: middle.x - width / 2,
      y: middle.y - height / 2,
      width,
      height,
      fill: paper,
    }),
    text(name, { x: middle.x, y: middle.y + 4, ...small, 'text-anchor': 'middle', ...turned }),
  ];
}

/** Approximates the width at 11 pixels. */
const widthOf = (labelText: string): number => labelText.length * 5.9;

/** Draws each level over its revisions; without a change, good and bad over the whole width. */
function bands(drawing: BisectDrawing): string[] {
  const { levels, columns, sizes } = drawing;
  const isSplit = hasSteps(drawing);
  return levels.flatMap((level, nth) => {
    const own = columns.filter(({ first, last }) => last >= level.first && first <= level.last);
    const [first, last] = [own[0], own.at(-1)];
    if (first === undefined || last === undefined) return [];
    const x = isSplit ? first.left : sizes.left;
    const end = isSplit ? last.left + last.width : sizes.right;
    const color = colorOf(drawing, nth);
    const [high, low] = [drawing.heightOf(level.high), drawing.heightOf(level.low)];
    const y = drawing.heightOf(level.value);
    const height = Math.max(low - high, 1);
    return [
      element('rect', { x, y: high, width: end - x, height, fill: color, 'fill-opacity': '0.16' }),
      path(`M${round(x)} ${y}H${round(end)}`, { stroke: color, 'stroke-width': 1.2 }),
    ];
  });
}

const hasSteps = ({ result }: BisectDrawing): boolean => ['culprit', 'group', 'several'].includes(result.answer.kind);

/** The first level is neutral; others are better or worse, if the answer distinguishes them. */
function colorOf(drawing: BisectDrawing, nth: number): string {
  const { levels, result } = drawing;
  const [first, own] = [levels[0], levels[nth]];
  if (nth === 0 || first === undefined || own === undefined) return grey;
  if (result.answer.kind === 'not-reproduced') return ink;
  return isLoss(result, own.value - first.value) ? red : green;
}

/** Marks the change by a vertical line, or both ends of a group, with the commit's name. */
function step(drawing: BisectDrawing): string[] {
  const { result, columns, sizes } = drawing;
  const { answer, revisions } = result;
  const { top, chanceBottom, left, right } = sizes;
  if (answer.kind === 'inconclusive' || answer.kind === 'slide') return [];
  const steps = stepsOf(answer).flatMap(({ after, last }) => {
    const own = columns.filter((column) => column.last > after && column.first <= last);
    const [from, to] = [own[0], own.at(-1)];
    if (from === undefined || to === undefined) return [];
    const isOne = last - after === 1;
    const isOpen = answer.kind === 'several' && answer.open.some((one) => one.last === last);
    const many = isOpen ? `${last - after} open` : `one of ${last - after}`;
    const name = isOne ? revisionId(revisions[last]) : many;
    return { x: from.left, end: to.left + to.width, isOne, name };
  });
  const spans: Span[] = [];
  return steps.flatMap(({ x, end, isOne, name }) => {
    const width = widthOf(name);
    const at = Math.min(Math.max(isOne ? x : (x + end) / 2, left + width / 2), right - width / 2);
    const span = { from: at - width / 2, to: at + width / 2 };
    const edges = isOne ? [x] : [x, end];
    return [
      ...edges.map((one) =>
        path(`M${round(one)} ${top - 4}V${chanceBottom}`, {
          stroke: amber,
          'stroke-dasharray': '4 3',
        }),
      ),
      ...(claimed(spans, span)
        ? [text(name, { ...small, x: at, y: top - 9, fill: amber, 'text-anchor': 'middle' })]
        : []),
    ];
  });
}

type Span = { from: number; to: number };

function claimed(spans: Span[], span: Span): boolean {
  if (spans.some(({ from, to }) => from < span.to + 5 && span.from - 5 < to)) return false;
  spans.push(span);
  return true;
}

function marks(column: PlotColumn, drawing: BisectDrawing): string[] {
  const { sizes, levels, result } = drawing;
  const revision = result.revisions[column.first];
  if (!column.isListed || revision === undefined) return [];
  const nth = levels.findIndex(({ first, last }) => column.first >= first && column.first <= last);
  const color = nth === 0 || nth === -1 ? ink : colorOf(drawing, nth);
  return placedDots(column, revision, drawing).map(({ x, value, isPlain }) => {
    const look = { color, isPlain, radius: sizes.radius };
    const y = drawing.heightOf(value);
    return isWithin(value, drawing.axis) ? dot(x, y, look) : arrow(x, y, { ...look, isUp: value > drawing.axis.high });
  });
}

type PlacedDot = Dot & { x: number };

function placedDots(column: PlotColumn, revision: BisectRevision, { sizes, numbers }: BisectDrawing): PlacedDot[] {
  const dots = dotsOf(revision, numbers);
  const available = Math.max(column.width - 2 * sizes.radius - 2, 0);
  const apart = Math.min(2 * sizes.radius + 2, available / Math.max(dots.length - 1, 1));
  return dots.map((one, index) => ({
    ...one,
    x: middleOf(column) + (index - (dots.length - 1) / 2) * apart,
  }));
}

/** Names outliers beyond the axis, as far as space allows. */
function outsideValues(drawing: BisectDrawing): string[] {
  const { result, sizes, columns, axis } = drawing;
  const { left, right, radius } = sizes;
  const spans = { above: [] as Span[], below: [] as Span[] };
  return columns.flatMap((column) => {
    const revision = result.revisions[column.first];
    if (!column.isListed || revision === undefined) return [];
    return placedDots(column, revision, drawing).flatMap(({ x, value }) => {
      if (isWithin(value, axis)) return [];
      const isUp = value > axis.high;
      const labelText = valueText(result, value);
      const half = widthOf(labelText) / 2;
      const at = Math.min(Math.max(x, left + half), right - half);
      const isFree = claimed(isUp ? spans.above : spans.below, { from: at - half, to: at + half });
      const y = drawing.heightOf(value) + (isUp ? radius + 15 : -radius - 8);
      return isFree ? [text(labelText, { ...small, x: at, y, 'text-anchor': 'middle' })] : [];
    });
  });
}

type Look = { color: string; isPlain: boolean; radius: number };

/** Draws an arrow whose tip points to a value outside the plot. */
function arrow(x: number, y: number, { color, isPlain, radius: r, isUp }: Look & { isUp: boolean }) {
  const [base, tip] = isUp ? [2 * r, -2 * r] : [-2 * r, 2 * r];
  const colors = isPlain ? { fill: color, stroke: paper } : { fill: paper, stroke: color };
  return path(`M${round(x - r)} ${round(y + base)}h${2 * r}l${-r} ${tip}Z`, colors);
}

const dot = (cx: number, cy: number, { color, isPlain, radius: r }: Look): string =>
  element('circle', {
    cx,
    cy,
    r,
    ...(isPlain ? { fill: color, stroke: paper } : { fill: paper, stroke: color, 'stroke-width': 1.6 }),
  });

/** Draws a bar for each revision by probability, and labels the greatest. */
function chances({ result, sizes, columns }: BisectDrawing): string[] {
  const { revisions, answer, metric } = result;
  const { chanceTop, chanceBottom } = sizes;
  const bars = columns.map((column) => {
    const own = revisions.slice(column.first, column.last + 1);
    const chance = own.reduce((sum, { probability }) => sum + Math.max(probability, 0), 0);
    return { column, chance: Math.min(chance, 1) };
  });
  const greatest = bars.toSorted((a, b) => b.chance - a.chance)[0];
  const drawn = bars.filter(({ chance }) => chance > 0.002);
  const label = greatest && greatest.chance >= 0.05 && numberAt(greatest, sizes);
  return [
    ...drawn.map(({ column, chance }) => {
      const width = Math.min(column.width * 0.7, 26);
      const height = chance * (chanceBottom - chanceTop);
      const fill = isNamed(answer, column.first) ? namedColor(answer, metric) : grey;
      const x = middleOf(column) - width / 2;
      return element('rect', { x, y: chanceBottom - height, width, height, fill });
    }),
    ...(label ? [text(label.labelText, { ...small, ...label.at })] : []),
  ];
}

/** Places the number above its bar, or beside a tall one. */
function numberAt(
  { column, chance }: { column: PlotColumn; chance: number },
  { left, right, chanceTop, chanceBottom }: PlotSizes,
): { labelText: string; at: Record<string, string | number> } {
  const labelText = formatProbability(chance);
  const [middle, long] = [middleOf(column), widthOf(labelText)];
  if (chance < 0.65) {
    const y = chanceBottom - chance * (chanceBottom - chanceTop) - 4;
    const x = Math.min(Math.max(middle, left + long / 2), right - long / 2);
    return { labelText: labelText, at: { x, y, 'text-anchor': 'middle' } };
  }
  const [y, half] = [chanceTop + 12, Math.min(column.width * 0.7, 26) / 2 + 5];
  return middle + half + long <= right
    ? { labelText: labelText, at: { x: middle + half, y } }
    : { labelText: labelText, at: { x: middle - half, y, 'text-anchor': 'end' } };
}

function namedColor(answer: BisectResult['answer'], metric: BisectResult['metric']): string {
  if (!('change' in answer) || answer.change === undefined) return amber;
  return isLoss({ metric }, answer.change.change) ? red : green;
}

/** Labels revisions along the line by priority: the answer's first, then good and bad. */
function labels({ result, sizes, columns }: BisectDrawing): string[] {
  const { revisions, answer } = result;
  const { chanceBottom, left, right } = sizes;
  const weightOf = ({ first }: PlotColumn): number =>
    isNamed(answer, first) ? 0 : first === 0 || first === revisions.length - 1 ? 1 : 2;
  const spans: Span[] = [];
  const shown = columns
    .toSorted((a, b) => weightOf(a) - weightOf(b))
    .flatMap((column) => {
      const { first, last, isListed } = column;
      const labelText = isListed ? String(revisions[first]?.place ?? '') : `…${last - first + 1}`;
      const [x, half] = [middleOf(column), widthOf(labelText) / 2];
      if (!claimed(spans, { from: x - half, to: x + half })) return [];
      return text(labelText, { ...small, x, y: chanceBottom + 16, 'text-anchor': 'middle' });
    });
  const bad = result.badCommit ?? revisions.at(-1);
  const y = chanceBottom + 33;
  return [
    ...shown,
    text(`good ${revisionId(revisions[0])}`, { ...small, x: left, y }),
    text(`bad ${revisionId(bad)}`, { ...small, x: right, y, 'text-anchor': 'end' }),
  ];
}

function tooltip({ isListed, first, left: x, width }: PlotColumn, { result, sizes }: BisectDrawing): string[] {
  const revision = result.revisions[first];
  if (!isListed || revision === undefined) return [];
  const { place, subject, probability } = revision;
  const labelText = `${place}: ${revisionId(revision)} ${plainLine(subject, 80)} (P ${formatProbability(probability)})`;
  const { top: y, chanceBottom } = sizes;
  return [
    element(
      'rect',
      { x, y, width, height: chanceBottom - y, fill: 'none', 'pointer-events': 'all' },
      element('title', {}, escaped(labelText)),
    ),
  ];
}

type LegendEntry = { label: string; sample: (x: number, y: number) => string };

function legendPieces(drawing: BisectDrawing, dots: readonly Dot[]): { pieces: string[]; bottom: number } {
  const { sizes } = drawing;
  const { margin, width, chanceBottom } = sizes;
  let [x, y] = [margin, chanceBottom + 56];
  const pieces = entriesOf(drawing, dots).flatMap(({ label, sample }) => {
    const long = 18 + widthOf(label);
    if (x > margin && x + long > width - margin) [x, y] = [margin, y + 18];
    const drawn = [sample(x, y), text(label, { ...small, x: x + 17, y })];
    x += long + 18;
    return drawn;
  });
  return { pieces, bottom: y };
}

function entriesOf(drawing: BisectDrawing, dots: readonly Dot[]): LegendEntry[] {
  const { result, levels } = drawing;
  const kinds = new Set(failuresOf(drawing).map(({ kind }) => kind));
  const isMixed = result.revisions.some(({ forms }) => forms.some(isMeasured) && forms.some(({ fault }) => fault));
  const mark = (isPlain: boolean) => (x: number, y: number) => dot(x + 5, y - 4, { color: ink, isPlain, radius: 4 });
  const box = (stroke: string) => (x: number, y: number) => hatching({ x, y: y - 10, width: 12, height: 12 }, stroke);
  const one = result.isShared ? 'trial' : 'boot';
  const percent = formatPercent(bisectConfidenceRatio);
  const all: (LegendEntry & { isThere: boolean })[] = [
    { isThere: dots.some(({ isPlain }) => isPlain), label: `a ${one}`, sample: mark(true) },
    {
      isThere: dots.some(({ isPlain }) => !isPlain),
      label: `a ${one} with fix-ups`,
      sample: mark(false),
    },
    {
      isThere: levels.length > 0,
      label: `a level and its ${percent} interval`,
      sample: (x, y) =>
        [
          element('rect', {
            x,
            y: y - 9,
            width: 12,
            height: 10,
            fill: grey,
            'fill-opacity': '0.16',
          }),
          path(`M${x} ${y - 4}h12`, { stroke: grey, 'stroke-width': 1.2 }),
        ].join(''),
    },
    {
      isThere: kinds.has('failed') || isMixed,
      label: 'cannot be measured',
      sample: box(grey),
    },
    { isThere: kinds.has('between'), label: 'untried between failures', sample: box(pale) },
    {
      isThere: result.revisions.some(({ probability }) => probability > 0),
      label: 'P that it changed the rate',
      sample: (x, y) => element('rect', { x: x + 2, y: y - 9, width: 8, height: 10, fill: grey }),
    },
  ];
  return all.filter(({ isThere }) => isThere);
}
