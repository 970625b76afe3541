// A bisection as a picture, in SVG: what every boot forwarded along the commits, the levels before and after, and each commit's chance.

import {
  type BisectResult,
  type BisectRevision,
  bisectConfidenceRatio,
} from '../model/bisect-result.ts';
import { plainLine } from '../model/escape.ts';
import {
  formatMetric,
  formatPercent,
  formatProbability,
  formatTick,
  metricName,
} from '../model/format.ts';
import { shortId } from '../model/patch.ts';
import { isLoss } from '../model/result.ts';
import { cellName } from '../model/scenario.ts';
import { escaped } from '../model/xml.ts';
import { bisectHeadline, bisectTitle, faultText } from './bisect-headline.ts';
import { type Level, levelsOf } from './bisect-levels.ts';
import { isMeasured, isNamed, type Stretch, stepsOf, stretchesOf } from './bisect-rows.ts';
import { colors, element, type PlotForm, path, round, svgDocument, text, ticksOf } from './svg.ts';

/** An SVG document with a light background of its own; undefined where nothing was measured. */
export function bisectPlot(result: BisectResult, form: PlotForm = 'wide'): string | undefined {
  const dots = result.revisions.flatMap(dotsOf);
  if (dots.length === 0) return undefined;
  const places = forms[form];
  const columns = columnsOf(result, places);
  const levels = levelsOf(result);
  const axis = axisOf([...dots.map(({ value }) => value), ...levels.map(({ value }) => value)]);
  const drawing: Drawing = { result, places, columns, levels, axis };
  const legend = legendPieces(drawing, dots);
  return svgDocument(places.width, legend.bottom + 10, [
    ...heading(drawing),
    ...gaps(drawing),
    ...scale(drawing),
    ...failures(drawing),
    ...bands(drawing),
    ...step(drawing),
    ...columns.flatMap((column) => marks(column, drawing)),
    ...chances(drawing),
    ...labels(drawing),
    ...columns.flatMap((column) => told(column, drawing)),
    ...legend.pieces,
  ]);
}

/** What the picture shows, for who does not see it: in words, and without a comma. */
export function bisectPlotAlt(result: BisectResult): string {
  const { revisions } = result;
  const tried = revisions.filter(({ forms }) => forms.length > 0);
  const failed = tried.filter(({ forms }) => !forms.some(isMeasured)).length;
  const without = failed > 0 ? ` and ${failed} of them cannot be measured` : '';
  return `The rate of each boot along the commits: ${tried.length} of ${revisions.length} were tried${without}; ${bisectTitle(result)}`;
}

type Drawing = {
  result: BisectResult;
  places: Form;
  columns: readonly Column[];
  levels: readonly Level[];
  axis: Axis;
};

/** All lengths are in pixels. */
type Form = {
  width: number;
  margin: number;
  title: { y: number; size: number };
  subtitle: { y: number; hasSetting: boolean; longest: number };
  left: number;
  right: number;
  /** Between which the rates are drawn, and then the chances. */
  top: number;
  bottom: number;
  chanceTop: number;
  chanceBottom: number;
  radius: number;
  /** Up to so many revisions are all drawn; of more those that say something. */
  mostRevisions: number;
};

const forms: Record<PlotForm, Form> = {
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
    mostRevisions: 60,
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
    mostRevisions: 26,
  },
};

const { paper, ink, faint, pale, red, green, amber, grey } = colors;

/** Where a told revision is drawn, or several that are not. */
type Column = Stretch & { left: number; width: number };

function columnsOf(result: BisectResult, { left, right, mostRevisions }: Form): Column[] {
  const { revisions } = result;
  const stretches =
    revisions.length <= mostRevisions
      ? revisions.map((_, index) => ({ first: index, last: index, isTold: true }))
      : stretchesOf(result, mostRevisions);
  const width = (right - left) / stretches.length;
  return stretches.map((one, nth) => ({ ...one, left: left + nth * width, width }));
}

const middleOf = ({ left, width }: Column): number => left + width / 2;

type Dot = { value: number; isPlain: boolean };

const dotsOf = ({ forms }: BisectRevision): Dot[] =>
  forms
    .filter(isMeasured)
    .flatMap(({ values, fixUps }) =>
      values.map((value) => ({ value, isPlain: fixUps.length === 0 })),
    );

type Axis = { low: number; high: number };

/** Holds all values, with some room beside them; noise of a thousandth should not look like an abyss. */
function axisOf(values: readonly number[]): Axis {
  const [least, most] = values.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Number.POSITIVE_INFINITY, 0],
  );
  const room = Math.max((most - least) * 0.1, most * 0.004, Number.MIN_VALUE);
  return { low: Math.max(least - room, 0), high: most + room };
}

function heightOf(value: number, { axis, places }: Pick<Drawing, 'axis' | 'places'>): number {
  const { top, bottom } = places;
  const inside = Math.min(Math.max(value, axis.low), axis.high);
  return round(bottom - ((inside - axis.low) / (axis.high - axis.low)) * (bottom - top));
}

function heading(drawing: Drawing): string[] {
  const { result, places } = drawing;
  const { title, subtitle, margin: x } = places;
  const { metric, cell, testbed } = result;
  const rates = ratesText(drawing);
  const parts = subtitle.hasSetting
    ? [rates, metricName(metric), cellName(cell), plainLine(testbed.name, 40)]
    : [rates, cellName(cell)];
  const below = plainLine(parts.filter(Boolean).join(' · '), subtitle.longest);
  return [
    element('title', {}, escaped(`${bisectHeadline(result)}. ${bisectPlotAlt(result)}`)),
    text(bisectTitle(result), { x, y: title.y, 'font-size': title.size, 'font-weight': 600 }),
    text(below, { x, y: subtitle.y, fill: faint }),
  ];
}

/** `26.84 Mpps to 11.83 Mpps`: as the answer has it, or all levels. */
function ratesText({ result: { answer, metric }, levels }: Drawing): string {
  const change = 'change' in answer ? answer.change : undefined;
  const values = change ? [change.before, change.after] : levels.map(({ value }) => value);
  return values.map((value) => formatMetric(value, metric)).join(' to ');
}

/** What lies behind revisions of which nothing is drawn. */
const gaps = ({ columns, places: { top, bottom, chanceTop, chanceBottom } }: Drawing): string[] =>
  columns.flatMap(({ isTold, left: x, width }) =>
    isTold
      ? []
      : [
          [top, bottom],
          [chanceTop, chanceBottom],
        ].map(([y = 0, end = 0]) =>
          element('rect', { x, y, width, height: end - y, fill: pale, 'fill-opacity': '0.6' }),
        ),
  );

const small = { 'font-size': 11, fill: faint };

function scale(drawing: Drawing): string[] {
  const { result, places, axis } = drawing;
  const { left, right, bottom, chanceTop, chanceBottom } = places;
  const line = (y: number) => path(`M${left} ${y}H${right}`, { stroke: pale });
  const label = (said: string, y: number) =>
    text(said, { x: left - 8, y, ...small, 'text-anchor': 'end' });
  return [
    ...ticksOf(axis, 6).flatMap((tick) => {
      const y = heightOf(tick, drawing);
      return [line(y), label(formatTick(tick, result.metric), y + 4)];
    }),
    path(`M${left} ${bottom}H${right}`, { stroke: grey }),
    line(chanceTop),
    path(`M${left} ${chanceBottom}H${right}`, { stroke: grey }),
    label('P', (chanceTop + chanceBottom) / 2 + 4),
  ];
}

/** `failed` was tried and cannot be measured, `between` lies between such, and was not tried. */
type Failure = { kind: 'failed' | 'between'; left: number; right: number; faults: Set<string> };

function failures(drawing: Drawing): string[] {
  const { places, columns, result } = drawing;
  const { top, bottom } = places;
  return [
    ...failuresOf(drawing).flatMap((failure) => {
      const { kind, left, right } = failure;
      const area = { x: left, y: top, width: right - left, height: bottom - top };
      const stroke = kind === 'failed' ? grey : pale;
      return [hatching(area, stroke), ...faultName(failure, area)];
    }),
    // Measured in one form, while another one cannot be.
    ...columns.flatMap(({ isTold, first, left: x, width }) => {
      const forms = result.revisions[first]?.forms ?? [];
      const isMixed = isTold && forms.some(isMeasured) && forms.some(({ fault }) => fault);
      return isMixed ? hatching({ x, y: bottom - 14, width, height: 14 }, grey) : [];
    }),
  ];
}

/** Neighbours that failed alike are one. */
function failuresOf({ columns, result }: Drawing): Failure[] {
  const found: Failure[] = [];
  for (const { isTold, first, left, width } of columns) {
    const revision = result.revisions[first];
    const kind = isTold && revision ? failureOf(revision) : undefined;
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

function failureOf({ forms, isAssumedFailed }: BisectRevision): Failure['kind'] | undefined {
  if (forms.some(isMeasured)) return undefined;
  if (forms.some(({ fault }) => fault !== undefined)) return 'failed';
  return isAssumedFailed ? 'between' : undefined;
}

type Area = { x: number; y: number; width: number; height: number };

const hatchPixels = 8;

/** Lines that go on in a neighbouring area. */
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

/** What is the matter, upright where there is no room for it along the line. */
function faultName({ faults }: Failure, area: Area): string[] {
  const [said = '', ...others] = faults;
  const name = others.length > 0 ? 'cannot be measured' : said;
  const long = widthOf(name) + 10;
  const middle = { x: area.x + area.width / 2, y: area.y + area.height / 2 };
  const isUpright = long > area.width;
  if (name === '' || (isUpright && (area.width < 16 || long > area.height))) return [];
  const [width, height] = isUpright ? [16, long] : [long, 16];
  const turned = isUpright
    ? { transform: `rotate(-90 ${round(middle.x)} ${round(middle.y)})` }
    : undefined;
  return [
    element('rect', {
      x: middle.x - width / 2,
      y: middle.y - height / 2,
      ...{ width, height, fill: paper },
    }),
    text(name, { x: middle.x, y: middle.y + 4, ...small, 'text-anchor': 'middle', ...turned }),
  ];
}

/** About, of text of 11 pixels. */
const widthOf = (said: string): number => said.length * 5.9;

/** Each level as far as its revisions go; where there is no step, good's and bad's over all. */
function bands(drawing: Drawing): string[] {
  const { levels, columns, places } = drawing;
  const isSplit = hasSteps(drawing);
  return levels.flatMap((level, nth) => {
    const own = columns.filter(({ first, last }) => last >= level.first && first <= level.last);
    const [first, last] = [own[0], own.at(-1)];
    if (first === undefined || last === undefined) return [];
    const x = isSplit ? first.left : places.left;
    const end = isSplit ? last.left + last.width : places.right;
    const color = colorOf(drawing, nth);
    const [high, low] = [heightOf(level.high, drawing), heightOf(level.low, drawing)];
    const y = heightOf(level.value, drawing);
    const height = Math.max(low - high, 1);
    return [
      element('rect', { x, y: high, width: end - x, height, fill: color, 'fill-opacity': '0.16' }),
      path(`M${round(x)} ${y}H${round(end)}`, { stroke: color, 'stroke-width': 1.2 }),
    ];
  });
}

const hasSteps = ({ result }: Drawing): boolean =>
  ['culprit', 'group', 'several'].includes(result.answer.kind);

/** The first is what it was; another one is better or worse, where the answer tells them apart. */
function colorOf(drawing: Drawing, nth: number): string {
  const { levels, result } = drawing;
  const [first, own] = [levels[0], levels[nth]];
  if (nth === 0 || first === undefined || own === undefined) return grey;
  if (result.answer.kind === 'not-reproduced') return ink;
  return isLoss(result, own.value - first.value) ? red : green;
}

/** Where it changed: an upright line, or all of a group, with the commit's name. */
function step(drawing: Drawing): string[] {
  const { result, columns, places } = drawing;
  const { answer, revisions } = result;
  const { top, chanceBottom, left, right } = places;
  if (answer.kind === 'inconclusive' || answer.kind === 'slide') return [];
  const steps = stepsOf(answer).flatMap(({ after, last }) => {
    const own = columns.filter((column) => column.last > after && column.first <= last);
    const [from, to] = [own[0], own.at(-1)];
    if (from === undefined || to === undefined) return [];
    const isOne = last - after === 1;
    const isOpen = answer.kind === 'several' && answer.open.some((one) => one.last === last);
    const many = isOpen ? `${last - after} open` : `one of ${last - after}`;
    const name = isOne ? shortId(revisions[last]?.commit ?? '') : many;
    return { x: from.left, end: to.left + to.width, isOne, name };
  });
  const taken: Span[] = [];
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
      ...(claimed(taken, span)
        ? [text(name, { ...small, x: at, y: top - 9, fill: amber, 'text-anchor': 'middle' })]
        : []),
    ];
  });
}

type Span = { from: number; to: number };

/** Whether there was room, which is then taken. */
function claimed(taken: Span[], span: Span): boolean {
  if (taken.some(({ from, to }) => from < span.to + 5 && span.from - 5 < to)) return false;
  taken.push(span);
  return true;
}

/** A mark for each boot of a revision, side by side. */
function marks(column: Column, drawing: Drawing): string[] {
  const { places, levels, result } = drawing;
  const revision = result.revisions[column.first];
  if (!column.isTold || revision === undefined) return [];
  const nth = levels.findIndex(({ first, last }) => column.first >= first && column.first <= last);
  const color = nth === 0 || nth === -1 ? ink : colorOf(drawing, nth);
  const dots = dotsOf(revision);
  const room = Math.max(column.width - 2 * places.radius - 2, 0);
  const apart = Math.min(2 * places.radius + 2, room / Math.max(dots.length - 1, 1));
  return dots.map(({ value, isPlain }, index) =>
    dot(middleOf(column) + (index - (dots.length - 1) / 2) * apart, heightOf(value, drawing), {
      color,
      isPlain,
      radius: places.radius,
    }),
  );
}

const dot = (
  cx: number,
  cy: number,
  { color, isPlain, radius: r }: { color: string; isPlain: boolean; radius: number },
): string =>
  element('circle', {
    ...{ cx, cy, r },
    ...(isPlain
      ? { fill: color, stroke: paper }
      : { fill: paper, stroke: color, 'stroke-width': 1.6 }),
  });

/** A bar for each revision, as high as its chance; the greatest has its number. */
function chances({ result, places, columns }: Drawing): string[] {
  const { revisions, answer, metric } = result;
  const { chanceTop, chanceBottom } = places;
  const bars = columns.map((column) => {
    const own = revisions.slice(column.first, column.last + 1);
    const chance = own.reduce((sum, { probability }) => sum + Math.max(probability, 0), 0);
    return { column, chance: Math.min(chance, 1) };
  });
  const greatest = bars.toSorted((a, b) => b.chance - a.chance)[0];
  const drawn = bars.filter(({ chance }) => chance > 0.002);
  const label = greatest && greatest.chance >= 0.05 && numberAt(greatest, places);
  return [
    ...drawn.map(({ column, chance }) => {
      const width = Math.min(column.width * 0.7, 26);
      const height = chance * (chanceBottom - chanceTop);
      const fill = isNamed(answer, column.first) ? namedColor(answer, metric) : grey;
      const x = middleOf(column) - width / 2;
      return element('rect', { x, y: chanceBottom - height, width, height, fill });
    }),
    ...(label ? [text(label.said, { ...small, ...label.at })] : []),
  ];
}

/** Above its bar, or beside one that leaves no room there. */
function numberAt(
  { column, chance }: { column: Column; chance: number },
  { left, right, chanceTop, chanceBottom }: Form,
): { said: string; at: Record<string, string | number> } {
  const said = formatProbability(chance);
  const [middle, long] = [middleOf(column), widthOf(said)];
  if (chance < 0.65) {
    const y = chanceBottom - chance * (chanceBottom - chanceTop) - 4;
    const x = Math.min(Math.max(middle, left + long / 2), right - long / 2);
    return { said, at: { x, y, 'text-anchor': 'middle' } };
  }
  const [y, half] = [chanceTop + 12, Math.min(column.width * 0.7, 26) / 2 + 5];
  return middle + half + long <= right
    ? { said, at: { x: middle + half, y } }
    : { said, at: { x: middle - half, y, 'text-anchor': 'end' } };
}

function namedColor(answer: BisectResult['answer'], metric: BisectResult['metric']): string {
  if (!('change' in answer) || answer.change === undefined) return amber;
  return isLoss({ metric }, answer.change.change) ? red : green;
}

/** Places along the line as far as there is room, the answer's first, and what good and bad are. */
function labels({ result, places, columns }: Drawing): string[] {
  const { revisions, answer } = result;
  const { chanceBottom, left, right } = places;
  const weightOf = ({ first }: Column): number =>
    isNamed(answer, first) ? 0 : first === 0 || first === revisions.length - 1 ? 1 : 2;
  const taken: Span[] = [];
  const shown = columns
    .toSorted((a, b) => weightOf(a) - weightOf(b))
    .flatMap((column) => {
      const { first, last, isTold } = column;
      const said = isTold ? String(revisions[first]?.place ?? '') : `…${last - first + 1}`;
      const [x, half] = [middleOf(column), widthOf(said) / 2];
      if (!claimed(taken, { from: x - half, to: x + half })) return [];
      return text(said, { ...small, x, y: chanceBottom + 16, 'text-anchor': 'middle' });
    });
  const [good, bad] = [revisions[0], revisions.at(-1)].map((one) => shortId(one?.commit ?? ''));
  const y = chanceBottom + 33;
  return [
    ...shown,
    text(`good ${good}`, { ...small, x: left, y }),
    text(`bad ${bad}`, { ...small, x: right, y, 'text-anchor': 'end' }),
  ];
}

/** What a pointer that rests on a revision is told. */
function told({ isTold, first, left: x, width }: Column, { result, places }: Drawing): string[] {
  const revision = result.revisions[first];
  if (!isTold || revision === undefined) return [];
  const { place, commit, subject, probability } = revision;
  const said = `${place}: ${shortId(commit)} ${plainLine(subject, 80)} (P ${formatProbability(probability)})`;
  const { top: y, chanceBottom } = places;
  return [
    element(
      'rect',
      { x, y, width, height: chanceBottom - y, fill: 'none', 'pointer-events': 'all' },
      element('title', {}, escaped(said)),
    ),
  ];
}

type Entry = { label: string; sample: (x: number, y: number) => string };

/** The legend of what there is in the picture, in lines that are as long as there is room. */
function legendPieces(
  drawing: Drawing,
  dots: readonly Dot[],
): { pieces: string[]; bottom: number } {
  const { places } = drawing;
  const { margin, width, chanceBottom } = places;
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

function entriesOf(drawing: Drawing, dots: readonly Dot[]): Entry[] {
  const { result, levels } = drawing;
  const kinds = new Set(failuresOf(drawing).map(({ kind }) => kind));
  const isMixed = result.revisions.some(
    ({ forms }) => forms.some(isMeasured) && forms.some(({ fault }) => fault),
  );
  const mark = (isPlain: boolean) => (x: number, y: number) =>
    dot(x + 5, y - 4, { color: ink, isPlain, radius: 4 });
  const box = (stroke: string) => (x: number, y: number) =>
    hatching({ x, y: y - 10, width: 12, height: 12 }, stroke);
  const one = result.isShared ? 'run' : 'boot';
  const percent = formatPercent(bisectConfidenceRatio);
  const all: (Entry & { isThere: boolean })[] = [
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
            ...{ x, y: y - 9, width: 12, height: 10, fill: grey, 'fill-opacity': '0.16' },
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
