// Builds a cell's section of the page: its verdict, the reason, flamegraphs and runs.

import { counted, formatChange, formatInterval, formatMetric, formatPercent, metricNouns } from '../model/format.ts';
import type { Metric } from '../model/metric.ts';
import { type CellResult, metricSchema, type Policy, type ProfileReason, type Run } from '../model/result.ts';
import { cellAnchor, numberColumns, remarkOf } from './cell-rows.ts';
import { changedColumns, changedRow, hasCost, reasonTitle } from './change-reason.ts';
import {
  type Block,
  heading,
  joined,
  list,
  mark,
  nameOf,
  type PageSection,
  paragraph,
  quoted,
  strong,
  type Text,
  verdictWord,
  words,
} from './document.ts';
import { graphFolds, type Picture } from './graph-folds.ts';
import { dropsText, isSilent, silenceOf, smallLosses, smallLossText } from './headline.ts';
import { limitBlocks } from './limits.ts';
import { ministatFold, ministats } from './ministat-blocks.ts';
import { runPlot } from './run-plot.ts';
import { apartLines, spareRuns, uncountedLines, whySpare } from './sections.ts';

export const cellSection = (policy: Policy, result: CellResult, pictures: readonly Picture[]): PageSection => ({
  id: cellAnchor(result),
  heading: words`${mark(result.verdict.kind)} ${nameOf(result.cell)}`,
  blocks: [
    ...conclusion(policy, result),
    ...(isSilent(result) ? [] : whyBlocks(result, reasonTitle(result))),
    ...graphFolds(pictures),
    ...limitBlocks(result),
    ...runs(policy, result),
    ...ministats(policy, [result]).map(ministatFold),
  ],
});

/** `regression: −10.4 % (95 % interval −11.2 … −9.60)`. */
function conclusion(policy: Policy, cell: CellResult): Block[] {
  const { confidenceRatio } = policy;
  const { verdict, comparisons } = cell;
  const word = verdictWord(verdict.kind);
  if (isSilent(cell)) {
    return [words`${word}: ${strong(silenceOf(cell))}`, ...dropsText([cell])].map(paragraph);
  }
  if (verdict.kind === 'invalid') {
    return [paragraph([word, remarkOf(cell)]), paragraph(quoted(verdict.reason, 1000))];
  }
  const { interval } = comparisons[0] ?? {};
  const numbers =
    interval &&
    words`: ${strong(formatChange(interval.change))} (${formatPercent(confidenceRatio)} interval ${formatInterval(interval.low, interval.high)})`;
  const small = smallLosses([cell], policy).length > 0 ? `, ${smallLossText([cell], policy)}` : '';
  return [paragraph([word, small, remarkOf(cell), numbers ?? ''])];
}

export function whyBlocks({ reason, profiles }: Pick<CellResult, 'reason' | 'profiles'>, title = 'Why'): Block[] {
  const missing = profiles.flatMap((one) =>
    one.kind === 'missing' ? [words`${quoted(one.variant)}: ${quoted(one.reason, 500)}`] : [],
  );
  if (reason === undefined && missing.length === 0) return [];
  return [heading(title), ...(reason ? [changedFunctions(reason)] : []), ...list(missing, 'There is no profile of')];
}

function changedFunctions({ changedFunctions: changed, moved, idleFrames }: ProfileReason): Block {
  const names = joined(
    idleFrames.map((name) => quoted(name)),
    ', ',
  );
  const idle = idleFrames.length > 0 ? words` Stacks with ${names} are left out, because the CPU idled in them.` : '';
  if (changed.length === 0) {
    return paragraph(words`No function’s share of the samples changed beyond chance.${idle}`);
  }
  const rest = moved - changed.length;
  const others = rest > 0 ? `; ${rest} more changed less` : '';
  const hasCosts = changed.some(hasCost);
  return {
    kind: 'table',
    caption: words`Functions whose own share of the samples changed beyond chance${others}.${idle}`,
    columns: changedColumns(hasCosts),
    groups: [{ weight: 0, rows: changed.map((one) => changedRow(one, hasCosts)) }],
  };
}

function runs(policy: Policy, cell: CellResult): Block[] {
  const inOrder = cell.runs.toSorted((a, b) => a.number - b.number);
  if (inOrder.length === 0) return [];
  const drawing = isSilent(cell) ? undefined : runPlot(inOrder, policy.metric);
  return [
    heading('Runs'),
    ...(drawing ? [{ kind: 'drawing', drawing } as const] : []),
    ...list(uncountedLines([cell]), 'Excluded runs:'),
    ...list(apartLines([cell]), 'Included outliers:'),
    {
      kind: 'fold',
      title: `${counted(inOrder.length, 'run')} in order`,
      blocks: [runTable(inOrder, cell)],
    },
  ];
}

/** Accepts runs of a bisection, which has neither pairs nor cells. */
export function runTable(inOrder: readonly Run[], cell?: CellResult): Block {
  const spare = new Map(cell && spareRuns(cell).map((run) => [run, whySpare(run, cell)]));
  const hasCosts = cell === undefined || !isSilent(cell);
  const metrics = metricSchema.options.filter(
    (metric) => metric === 'pps' || (hasCosts && inOrder.some((run) => run[metric] !== undefined)),
  );
  const rows = inOrder.map((run): Text[] => [
    String(run.number),
    ...(cell ? [String(run.pair)] : []),
    quoted(run.variant),
    ...metrics.map((metric) => valueText(run[metric], metric)),
    validityText(run, spare),
  ]);
  return {
    kind: 'table',
    caption: `All runs in order${cell ? '; the runs of one pair are compared' : ''}`,
    columns: [
      ...numberColumns('run', ...(cell ? ['pair'] : [])),
      { head: 'variant' },
      ...numberColumns(...metrics.map((metric) => metricNouns[metric])),
      { head: 'counts' },
    ],
    groups: [{ weight: 0, rows }],
  };
}

const valueText = (value: number | undefined, metric: Metric): string =>
  value === undefined ? '–' : formatMetric(value, metric);

function validityText(run: Run, spare: ReadonlyMap<Run, string>): Text {
  const { validity } = run;
  const why = spare.get(run);
  if (why !== undefined) return `no, ${why}`;
  if (validity.kind === 'valid') return 'yes';
  return words`${verdictWord('invalid', 'no')}, ${validity.cause}: ${quoted(validity.reason, 500)}`;
}
