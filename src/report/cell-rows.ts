// The table of all cells, before it is written in some markup.

import { runCounts } from '../analysis/stats/interim-result.ts';
import {
  formatChange,
  formatInterval,
  formatMetric,
  formatPercent,
  formatRuns,
} from '../model/format.ts';
import {
  type CellResult,
  type CellVerdict,
  type Comparison,
  type Metric,
  type Policy,
  verdictsWorstFirst,
} from '../model/result.ts';
import { isSilent, silenceOf, stoppedCells, symbols } from './headline.ts';

export type Column = { head: string; isNumber?: true };

/**
 * The columns of a table by one metric. What is asked first stands in front, the change and its interval as one: a
 * phone has room for three columns, and the others are out of sight.
 */
export const cellColumns = ({ metric, confidenceRatio }: Policy, shown: Metric): Column[] => [
  { head: 'cell' },
  ...(shown === metric ? [{ head: 'verdict' }] : []),
  { head: `change (${formatPercent(confidenceRatio)} interval)` },
  { head: 'base', isNumber: true },
  { head: 'patched', isNumber: true },
  { head: 'runs', isNumber: true },
];

/** Change with its interval, base, patched and runs; lines break in the first alone. */
type Numbers = { numbers: string[] };

export type CellRow = Numbers &
  /** Without a verdict where the metric was not judged. */
  (
    | { kind: 'cell'; result: CellResult; verdict: CellVerdict['kind'] | undefined }
    | { kind: 'variant'; variant: string; verdict: 'not judged' | undefined }
  );

/** A cell's row, and below it those of its other variants; a change that is surely one is written by `bold`. */
export function cellRows(
  result: CellResult,
  metric: Metric,
  policy: Policy,
  bold: (text: string) => string = (text) => text,
): CellRow[] {
  const isJudged = metric === policy.metric;
  const { comparisons, others } = result;
  const verdict = result.verdict.kind;
  const own = comparisonBy(metric, comparisons, isJudged);
  // What was measured of an invalid cell is no change that anybody may believe.
  const verified = verdict === 'invalid' ? undefined : own;
  const { counted, made } = runCounts(result, metric);
  return [
    {
      kind: 'cell',
      result,
      numbers: [
        verified ? changeOf(verified, bold) : '–',
        ...valuesOf(own),
        unbroken(formatRuns(verified ? [verified.baseRuns, verified.patchedRuns] : counted, made)),
      ],
      verdict: isJudged ? verdict : undefined,
    },
    ...others.map((other): CellRow => {
      const its = comparisonBy(metric, other.comparisons, isJudged);
      const runs = its ? unbroken(`${its.baseRuns} + ${its.patchedRuns}`) : '–';
      return {
        kind: 'variant',
        variant: other.variant,
        numbers: [its ? changeOf(its, bold) : '–', ...valuesOf(its), runs],
        verdict: isJudged ? 'not judged' : undefined,
      };
    }),
  ];
}

/** A DUT that forwards nothing has no time per packet, but it has packets per second: none. */
const comparisonBy = (
  metric: Metric,
  comparisons: readonly Comparison[],
  isJudged: boolean,
): Comparison | undefined =>
  comparisons.find((one) => one.metric === metric) ?? (isJudged ? comparisons[0] : undefined);

/** `−10.4 % (−11.2 … −9.60)`. */
function changeOf(
  { interval: { change, low, high } }: Comparison,
  bold: (text: string) => string,
): string {
  const isClear = low > 0 || high < 0;
  const shown = unbroken(formatChange(change));
  const interval = formatInterval(low, high).replace(' …', '\u00a0…');
  return `${isClear ? bold(shown) : shown} (${interval})`;
}

const valuesOf = (shown: Comparison | undefined): string[] =>
  shown === undefined
    ? ['–', '–']
    : [shown.base, shown.patched].map((value) => unbroken(formatMetric(value, shown.metric)));

/** `🔴 regression`, as a cell of a table; nothing where the table is not the one that was judged. */
export function verdictTexts(row: CellRow): string[] {
  if (row.verdict === undefined) return [];
  if (row.kind === 'variant') return [row.verdict];
  return [`${symbols[row.verdict]} ${row.verdict}${remarkOf(row.result)}`];
}

/** `, forwards nothing` or `, ended early`: what stands behind a cell's verdict; mostly empty. */
export function remarkOf(cell: CellResult): string {
  if (isSilent(cell)) return `, ${silenceOf(cell)}`;
  return stoppedCells([cell]).length > 0 ? ', ended early' : '';
}

/** With spaces at which no line breaks. */
export const unbroken = (text: string): string => text.replaceAll(' ', '\u00a0');

export const worstFirst = (cells: readonly CellResult[]): CellResult[] =>
  cells.toSorted((a, b) => weightOf(a) - weightOf(b));

const weightOf = ({ verdict }: CellResult): number => verdictsWorstFirst.indexOf(verdict.kind);
