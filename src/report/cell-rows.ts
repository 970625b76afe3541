// Builds the table of all cells by one metric.

import { runCounts } from '../analysis/stats/interim-result.ts';
import { formatChange, formatInterval, formatMetric, formatPercent, formatRuns, metricName } from '../model/format.ts';
import type { Metric } from '../model/metric.ts';
import { comparedNames, type Patch } from '../model/patch.ts';
import { type CellResult, type Comparison, type Result, verdictsWorstFirst } from '../model/result.ts';
import { cellName } from '../model/scenario.ts';
import { type Block, type Column, mark, nameOf, quoted, strong, type Text, verdictWord, words } from './document.ts';
import { isSilent, silenceOf, stoppedCells } from './headline.ts';

/**
 * Builds one row per cell, followed by its other variants. Change and interval come first as one column, as a phone
 * shows three columns. Remarkup comments have four narrow columns: cell with verdict, and base with patched.
 */
export function cellTable(
  { policy, patch }: Pick<Result, 'policy' | 'patch'>,
  cells: readonly CellResult[],
  metric: Metric,
  isOnPage = false,
): Block {
  const isJudged = metric === policy.metric;
  const change = { head: `change (${formatPercent(policy.confidenceRatio)} interval)` };
  const names = headsOf(patch);
  const groups = cells.map((cell) => ({
    weight: weightOf(cell),
    rows: rowsOf(cell, metric, isJudged, isOnPage),
  }));
  return {
    kind: 'table',
    caption: words`Change of ${names.patched} against ${names.base}, by ${metricName(metric)}`,
    isLimited: true,
    columns: [
      { head: 'cell' },
      ...(isJudged ? [{ head: 'verdict' }] : []),
      change,
      ...numberColumns(names.base, names.patched, 'runs'),
    ],
    groups: groups.map(({ weight, rows }) => ({
      weight,
      rows: rows.map(({ name, verdict, change, base, patched, runs }) =>
        isJudged ? [name, verdict, change, base, patched, runs] : [name, change, base, patched, runs],
      ),
    })),
    narrow: {
      columns: [
        { head: isJudged ? 'cell and verdict' : 'cell' },
        change,
        { head: `${names.base} → ${names.patched}` },
        { head: 'runs' },
      ],
      groups: groups.map(({ weight, rows }) => ({
        weight,
        rows: rows.map(({ name, verdict, change, base, patched, runs }) => [
          isJudged ? words`${name} ${verdict}` : name,
          change,
          base === '–' && patched === '–' ? '–' : `${base} → ${patched}`,
          // `9 + 10 of 10 + 10` may wrap in its middle.
          runs.replace('\u00a0of', ' of'),
        ]),
      })),
    },
  };
}

/** Heads columns with a comparison's own names, cut at the beginning, as their ends differ. */
function headsOf(patch: Patch): { base: string; patched: string } {
  const { base, patched } = comparedNames(patch) ?? { base: 'base', patched: 'patched' };
  return { base: endOf(base), patched: endOf(patched) };
}

const maxHeadCharacters = 30;

const endOf = (text: string): string =>
  text.length > maxHeadCharacters ? `…${text.slice(1 - maxHeadCharacters)}` : text;

export const numberColumns = (...heads: readonly string[]): Column[] => heads.map((head) => ({ head, isNumber: true }));

/** Only the change may wrap. */
type CellRow = {
  name: Text;
  verdict: Text;
  change: Text;
  base: string;
  patched: string;
  runs: string;
};

function rowsOf(result: CellResult, metric: Metric, isJudged: boolean, isOnPage: boolean): CellRow[] {
  const { comparisons, others } = result;
  const verdict = result.verdict.kind;
  const isQuiet = isSilent(result);
  // Packets that are not forwarded have a rate of 0, but no cost.
  const all = isQuiet ? comparisons.filter((one) => one.metric === 'pps') : comparisons;
  const own = comparisonBy(metric, all, isJudged);
  // The numbers of an invalid cell are unverified.
  const verified = verdict === 'invalid' ? undefined : own;
  const { counted, made } = runCounts(result, metric);
  return [
    {
      name: isOnPage ? linkTo(result) : nameOf(result.cell),
      verdict: isOnPage
        ? [verdictWord(verdict), remarkOf(result)]
        : words`${mark(verdict)} ${verdict}${remarkOf(result)}`,
      change: verified && !isQuiet ? changeOf(verified) : '–',
      ...valuesOf(own),
      runs: unbroken(formatRuns(verified ? [verified.baseRuns, verified.patchedRuns] : counted, made)),
    },
    ...others.map((other): CellRow => {
      const its = comparisonBy(metric, other.comparisons, isJudged);
      return {
        name: { kind: 'styled', style: 'other', text: words`↳ ${quoted(other.variant)}` },
        verdict: 'not judged',
        change: its ? changeOf(its) : '–',
        ...valuesOf(its),
        runs: its ? unbroken(`${its.baseRuns} + ${its.patchedRuns}`) : '–',
      };
    }),
  ];
}

/** A DUT that forwards nothing has no time per packet, but a rate of 0. */
const comparisonBy = (metric: Metric, comparisons: readonly Comparison[], isJudged: boolean): Comparison | undefined =>
  comparisons.find((one) => one.metric === metric) ?? (isJudged ? comparisons[0] : undefined);

/** `−10.4 % (−11.2 … −9.60)`; bold if significant. */
function changeOf({ interval: { change, low, high } }: Comparison): Text {
  const size = unbroken(formatChange(change));
  const interval = formatInterval(low, high).replace(' …', '\u00a0…');
  return words`${low > 0 || high < 0 ? strong(size) : size} (${interval})`;
}

function valuesOf(comparison: Comparison | undefined): { base: string; patched: string } {
  if (comparison === undefined) return { base: '–', patched: '–' };
  const format = (value: number) => unbroken(formatMetric(value, comparison.metric));
  return { base: format(comparison.base), patched: format(comparison.patched) };
}

/** `, forwards nothing` or `, ended early` after a cell's verdict; mostly empty. */
export function remarkOf(cell: CellResult): string {
  if (isSilent(cell)) return `, ${silenceOf(cell)}`;
  return stoppedCells([cell]).length > 0 ? ', ended early' : '';
}

export const linkTo = (result: CellResult): Text =>
  words`${mark(result.verdict.kind)} ${{ kind: 'link', text: cellName(result.cell), address: `#${cellAnchor(result)}` }}`;

export const cellAnchor = ({ cell }: Pick<CellResult, 'cell'>): string =>
  `cell-${cellName(cell)}`.replace(/[^\w.-]+/g, '-');

export const unbroken = (text: string): string => text.replaceAll(' ', '\u00a0');

export const worstFirst = (cells: readonly CellResult[]): CellResult[] =>
  cells.toSorted((a, b) => weightOf(a) - weightOf(b));

export const weightOf = ({ verdict }: CellResult): number => verdictsWorstFirst.indexOf(verdict.kind);
