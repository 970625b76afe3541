// Renders the ministat block of each cell, which is common in mail.

import { countedRuns } from '../analysis/stats/interim-result.ts';
import { renderMinistat } from '../analysis/stats/ministat.ts';
import { type ConfidencePercent, confidencePercents } from '../analysis/stats/student.ts';
import type { Metric } from '../model/metric.ts';
import type { CellResult, Policy, Run } from '../model/result.ts';
import { cellName } from '../model/scenario.ts';
import { isJudged } from '../model/variant-name.ts';
import { type Block, type Detail, paragraph } from './document.ts';
import { isSilent } from './headline.ts';

/** Output of ministat, with a sentence on its assumptions. */
export type MinistatText = { title: string; note?: string | undefined; text: string };

export const ministatFold = ({ title, note, text }: MinistatText): Block => ({
  kind: 'fold',
  title,
  blocks: blocksOf(title, text, note),
});

export const ministatDetail = ({ title, note, text }: MinistatText): Detail => ({
  fold: 'statistics',
  title,
  blocks: blocksOf(title, text, note),
});

/** Consecutive cells share an equal note. */
export const ministatDetails = (policy: Policy, cells: readonly CellResult[]): Detail[] =>
  ministats(policy, cells).map(({ note, ...own }, index, all) =>
    ministatDetail(note === all[index - 1]?.note ? own : { ...own, note }),
  );

const blocksOf = (name: string, text: string, note: string | undefined): Block[] => [
  ...(note === undefined ? [] : [paragraph(note)]),
  { kind: 'code', name, text },
];

export const ministats = (policy: Policy, cells: readonly CellResult[]): MinistatText[] => [
  ...cells.flatMap((cell) => ministatOfPatched(policy, cell)),
  ...cells.flatMap((cell) => ministatOfOthers(policy, cell)),
];

function ministatOfPatched(policy: Policy, cell: CellResult): MinistatText[] {
  if (isSilent(cell)) return [];
  const [base, patched] = ministatSets(cell, ['base', 'patched'], policy.metric);
  if (base === undefined || patched === undefined) return [];
  const text = ministat([base, patched], policy);
  return [{ title: `ministat: ${cellName(cell.cell)}`, note: ministatNote(cell), text }];
}

function ministatOfOthers(policy: Policy, cell: CellResult): MinistatText[] {
  const names = cell.others.slice(0, maxOthers).map(({ variant }) => variant);
  const [base, ...others] = ministatSets(cell, ['base', ...names], policy.metric);
  if (base?.variant !== 'base' || others.length === 0) return [];
  const title = `ministat of earlier diffs: ${cellName(cell.cell)}`;
  return [{ title, text: ministat([base, ...others], policy) }];
}

/** ministat has symbols for this many sets and base. */
const maxOthers = 6;

type VariantSet = { variant: string; name: string; values: Float64Array };

const ministatSets = (cell: CellResult, variants: readonly string[], metric: Metric): VariantSet[] =>
  variants
    .map((variant) => ({
      variant,
      name: `${variant}, ${cellName(cell.cell)}`,
      values: valuesOf(cell, variant, metric),
    }))
    .filter(({ values }) => values.length >= 3);

function ministat(sets: readonly VariantSet[], { confidenceRatio }: Policy): string {
  const confidencePercent = ministatConfidence(confidenceRatio);
  return renderMinistat(sets, { separateBars: true, confidencePercent });
}

function ministatNote({ design }: CellResult): string {
  const early =
    design.name === 'fixed'
      ? ''
      : ' and that their number was planned, so its error is too small where the experiment stopped early';
  const together =
    design.method === 'paired' ? '; the table compares neighbouring runs, so that common disturbances cancel out' : '';
  return `ministat assumes that runs are independent${early}${together}.`;
}

function valuesOf(cell: CellResult, variant: string, metric: Metric): Float64Array {
  const { base, patched } = countedRuns(cell, cell.pairs);
  const counted = isJudged(variant) ? [...base, ...patched] : cell.runs.filter(isValid);
  return Float64Array.from(counted.filter((run) => run.variant === variant).flatMap((run) => run[metric] ?? []));
}

const isValid = ({ validity }: Run): boolean => validity.kind === 'valid';

const ministatConfidence = (ratio: number): ConfidencePercent =>
  confidencePercents.find((percent) => Math.abs(percent / 100 - ratio) < 1e-9) ?? 95;
