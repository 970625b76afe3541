// The table of all cells, before it is written in some markup.

import { countedRuns } from '../stats/standing.ts';
import { formatChange, formatInterval, formatMetric, formatPercent } from '../words/format.ts';
import {
  type CellResult,
  type CellVerdict,
  type Comparison,
  type Metric,
  type Policy,
  verdictsWorstFirst,
} from '../words/result.ts';

/** The heads of a table by one metric; the last is `verdict` where the cells are judged by it. */
export const cellColumns = ({ metric, confidenceRatio }: Policy, shown: Metric): string[] => [
  'cell',
  'base',
  'patched',
  'change',
  `${formatPercent(confidenceRatio)} interval`,
  'runs',
  ...(shown === metric ? ['verdict'] : []),
];

/** Base, patched, change, interval and runs, each without a space at which a line could break. */
type Numbers = { numbers: string[] };

export type CellRow = Numbers &
  /** Without a verdict where the metric was not judged. */
  (
    | { kind: 'cell'; result: CellResult; verdict?: CellVerdict }
    | { kind: 'variant'; variant: string; verdict?: 'not judged' }
  );

/** A cell's row, and below it those of its other variants; a change that is surely one is written by `bold`. */
export function cellRows(
  result: CellResult,
  metric: Metric,
  policy: Policy,
  bold: (text: string) => string = (text) => text,
): CellRow[] {
  const isJudged = metric === policy.metric;
  const { verdict, comparisons, others } = result;
  const numbers = numbersOf(comparisons, metric, isJudged, bold);
  if (isJudged && verdict.kind === 'invalid') {
    numbers.splice(-1, 1, unbroken(runsTried(result, metric)));
  }
  return [
    { kind: 'cell', result, numbers, ...(isJudged && { verdict }) },
    ...others.map(
      (other): CellRow => ({
        kind: 'variant',
        variant: other.variant,
        numbers: numbersOf(other.comparisons, metric, isJudged, bold),
        ...(isJudged && { verdict: 'not judged' }),
      }),
    ),
  ];
}

function numbersOf(
  comparisons: readonly Comparison[],
  metric: Metric,
  isJudged: boolean,
  bold: (text: string) => string,
): string[] {
  const own = comparisons.find((one) => one.metric === metric);
  // A DUT that forwards nothing has no time per packet, but it has packets per second: none.
  const shown = own ?? (isJudged ? comparisons[0] : undefined);
  if (shown === undefined) return ['–', '–', '–', '–', '–'];
  const { base, patched, interval, baseRuns, patchedRuns } = shown;
  const isClear = interval.low > 0 || interval.high < 0;
  const change = formatChange(interval.change);
  return [
    formatMetric(base, shown.metric),
    formatMetric(patched, shown.metric),
    isClear ? bold(change) : change,
    formatInterval(interval.low, interval.high),
    `${baseRuns} + ${patchedRuns}`,
  ].map(unbroken);
}

/** Of an invalid cell the runs that count and those that were made, whatever came of them. */
function runsTried({ runs, design }: CellResult, metric: Metric): string {
  const counted = countedRuns({ runs, design }, Number.POSITIVE_INFINITY);
  const count = [counted.base, counted.patched].map(
    (some) => some.filter((run) => run[metric] !== undefined).length,
  );
  const made = ['base', 'patched'].map((name) => runs.filter((run) => run.variant === name).length);
  return `${count.join(' + ')} of ${made.join(' + ')}`;
}

/** With spaces at which no line breaks. */
export const unbroken = (text: string): string => text.replaceAll(' ', '\u00a0');

export const worstFirst = (cells: readonly CellResult[]): CellResult[] =>
  cells.toSorted((a, b) => weightOf(a) - weightOf(b));

const weightOf = ({ verdict }: CellResult): number => verdictsWorstFirst.indexOf(verdict.kind);
