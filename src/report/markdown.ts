// The comment: the verdict in one line, the table of all cells, and what an author wants to know folded below.
import { frameBytesFor } from '../config/schema.ts';
import { cellName } from '../scenario/scenario.ts';
import { renderMinistat } from '../stats/ministat.ts';
import { runsApart } from '../stats/outlier.ts';
import { type ConfidencePercent, confidencePercents } from '../stats/student.ts';
import { codeBlock, codeSpan } from './escape.ts';
import {
  formatChange,
  formatDuration,
  formatInterval,
  formatMetric,
  formatPercent,
  formatPps,
  grouped,
  metricName,
} from './format.ts';
import { headline } from './headline.ts';
import type { CellResult, CellVerdict, Comparison, Metric, Rejection, Result } from './result.ts';

/** GitHub refuses a comment of more characters; what ours remembers of earlier pushes needs some. */
export const mostCharacters = 65_536 - 12_288;

/** What only the place of publication knows, as Markdown of our own: how to rerun, where the raw data is. */
export type ReportLinks = { rerun?: string; rawData?: string };

/** Renders at most `mostCharacters`: what does not fit is left out from the end, and said. */
export function renderMarkdown(result: Result, links: ReportLinks = {}): string {
  const { outcome } = result;
  const main =
    outcome.kind === 'judged'
      ? [setting(result), ...verdictTable(result, outcome.cells)]
      : [setting(result), failure(outcome)];
  const folded =
    outcome.kind === 'judged'
      ? [
          ...movedBaselines(outcome.cells),
          ...otherMetrics(result, outcome.cells),
          ...uncounted(outcome.cells),
          ...standingApart(outcome.cells),
          ...warnings(result),
          environment(result),
          howToRead(result),
          ...ministatBlocks(result, outcome.cells),
        ]
      : [...warnings(result), environment(result)];
  return fitted([`### ${headline(result)}`, ...main], folded, footer(links));
}

/** Where and how it was measured, on one line. */
function setting(result: Result): string {
  const { testbed, traffic, blasts } = result;
  const { cpu, kernel } = testbed.fingerprint;
  const [own, cpuName] = [kernel, cpu].map((text) => text && codeSpan(text));
  // Where variants are kernels, the DUT's own is none of them.
  const hasKernels = blasts.some((blast) => blast.kernel !== undefined);
  const [measured = hasKernels ? undefined : own] = kernelsOf(result).get('base') ?? [];
  const hardware = [cpuName, measured].filter((text) => text !== undefined);
  const parts = [codeSpan(testbed.name) + (hardware.length ? ` (${hardware.join(', ')})` : '')];
  if (blasts.length > 0) {
    const sent = blasts.reduce((most, blast) => Math.max(most, blast.offeredPps), 0);
    const asked =
      traffic.offeredPps === undefined ? '' : `${formatPps(traffic.offeredPps)} asked for, `;
    const seconds = (Date.parse(result.finishedAt) - Date.parse(result.startedAt)) / 1000;
    parts.push(
      `${grouped(traffic.flows)} flows of ${frameSizes(result)} UDP, ${asked}up to ${formatPps(sent)} sent`,
      `${formatDuration(seconds)}`,
    );
  }
  return parts.join(' · ');
}

/** `64- and 66-byte`: as they were sent, for not every family fits the smallest. */
function frameSizes({ blasts, traffic }: Result): string {
  const all = new Set(blasts.map(({ cell }) => frameBytesFor(traffic, cell)));
  const sizes = [...all].toSorted((a, b) => a - b);
  const last = `${sizes.pop()}-byte`;
  if (sizes.length > 10) return `${sizes[0]}- to ${last}`;
  return [sizes.map((size) => `${size}-`).join(', '), last].filter(Boolean).join(' and ');
}

function verdictTable(result: Result, cells: readonly CellResult[]): string[] {
  const { metric, marginRatio, falseAlarmRatio } = result.policy;
  const rule = `Judged by ${metricName(metric)} · a loss of ${formatPercent(marginRatio)} or more matters · false alarms ≤ ${formatPercent(falseAlarmRatio)}`;
  return [rule, table(result, cells, metric)];
}

/** The worst cells first when there is no room for all. */
function table(result: Result, cells: readonly CellResult[], metric: Metric): string {
  const confidence = formatPercent(result.policy.confidenceRatio);
  const judged = metric === result.policy.metric;
  const columns = ['cell', 'base', 'patched', 'change', `${confidence} interval`, 'runs'];
  const header = judged
    ? [`| ${columns.join(' | ')} | verdict |`, '|---|--:|--:|--:|:-:|--:|---|']
    : [`| ${columns.join(' | ')} |`, '|---|--:|--:|--:|:-:|--:|'];
  const rowsOf = (all: readonly CellResult[]) =>
    fittingRows(all, (cell) => row(cell, metric, judged));
  const inOrder = rowsOf(cells);
  const rows = inOrder.length === cells.length ? inOrder : rowsOf(worstFirst(cells));
  const rest = cells.length - rows.length;
  if (rest > 0) rows.push('', `${rest} more cells, none of them worse, are in \`result.json\`.`);
  return [...header, ...rows].join('\n');
}

const mostRows = 100;
/** A reason of a hundred backticks needs three hundred characters. */
const mostRowCharacters = 40_000;

function fittingRows(cells: readonly CellResult[], toRow: (cell: CellResult) => string): string[] {
  const rows: string[] = [];
  let room = mostRowCharacters;
  for (const cell of cells.slice(0, mostRows)) {
    const next = toRow(cell);
    room -= next.length + 1;
    if (room < 0) break;
    rows.push(next);
  }
  return rows;
}

const severity: CellVerdict['kind'][] = [
  'regression',
  'invalid',
  'inconclusive',
  'improvement',
  'no-regression',
];

const worstFirst = (cells: readonly CellResult[]): CellResult[] =>
  cells.toSorted((a, b) => severity.indexOf(a.verdict.kind) - severity.indexOf(b.verdict.kind));

/** The symbol stands first, and numbers keep to one line: on a phone the last columns are out of sight. */
function row({ cell, verdict, comparisons }: CellResult, metric: Metric, judged: boolean): string {
  const own = comparisons.find((one) => one.metric === metric);
  // A DUT that forwards nothing has no time per packet, but it has packets per second: none.
  const comparison = own ?? (judged ? comparisons[0] : undefined);
  const unbroken = numbers(comparison).map((text) => text.replaceAll(' ', '\u00a0'));
  const columns = judged
    ? [`${symbols[verdict.kind]} ${cellName(cell)}`, ...unbroken, verdictText(verdict)]
    : [cellName(cell), ...unbroken];
  return `| ${columns.map((column) => column.replaceAll('|', '\\|')).join(' | ')} |`;
}

function numbers(comparison: Comparison | undefined): string[] {
  if (comparison === undefined) return ['–', '–', '–', '–', '–'];
  const { metric, base, patched, interval, baseRuns, patchedRuns } = comparison;
  const clear = interval.low > 0 || interval.high < 0;
  const change = formatChange(interval.change);
  return [
    formatMetric(base, metric),
    formatMetric(patched, metric),
    clear ? `**${change}**` : change,
    formatInterval(interval.low, interval.high),
    `${baseRuns} + ${patchedRuns}`,
  ];
}

const symbols: Record<CellVerdict['kind'], string> = {
  regression: '🔴',
  improvement: '🟢',
  'no-regression': '🟢',
  inconclusive: '🟡',
  invalid: '⚪',
};

function verdictText(verdict: CellVerdict): string {
  const reason = verdict.kind === 'invalid' ? `: ${codeSpan(verdict.reason, 200)}` : '';
  return `${verdict.kind}${reason}`;
}

function failure(outcome: Rejection): string {
  const panic = 'panic' in outcome && outcome.panic !== undefined ? `panic: ${outcome.panic}` : '';
  const said = [outcome.message, panic].filter(Boolean).join('\n');
  return `${failureText(outcome)}\n\n${codeBlock(said)}`;
}

function failureText(outcome: Rejection): string {
  switch (outcome.kind) {
    case 'does-not-apply':
      return 'The patch does not apply, and nothing was measured:';
    case 'build-failed':
      return 'The base builds, the patched kernel does not; nothing was measured. The build says first:';
    case 'out-of-disk':
      return 'The patch is not to blame; free some space and run again:';
    case 'does-not-load':
      return `The base loads, the patched files do not (${outcome.scenario}); nothing was measured. The DUT says:`;
    case 'boot-failed':
      return 'The patched kernel does not come up, and nothing was measured with it. The DUT is back on its own kernel:';
    case 'panics-under-load':
      return 'The patched kernel panicked twice in the same blast, and no verdict was reached. The DUT is back on its own kernel:';
  }
}

function otherMetrics(result: Result, cells: readonly CellResult[]): string[] {
  const metric: Metric = result.policy.metric === 'pps' ? 'nsPerPacket' : 'pps';
  const known = cells.some((cell) => cell.comparisons.some((one) => one.metric === metric));
  return known ? [details(metricName(metric), table(result, cells, metric))] : [];
}

/** One fold a cell, so that each can be left out alone. */
function ministatBlocks(result: Result, cells: readonly CellResult[]): string[] {
  const { metric, confidenceRatio } = result.policy;
  return cells.flatMap((cell) => {
    const base = valuesOf(cell, 'base', metric);
    const patched = valuesOf(cell, 'patched', metric);
    if (base.length < 3 || patched.length < 3) return [];
    const sets = [
      { name: `base, ${cellName(cell.cell)}`, values: base },
      { name: `patched, ${cellName(cell.cell)}`, values: patched },
    ];
    const options = { separateBars: true, confidencePercent: ministatConfidence(confidenceRatio) };
    const block = codeBlock(renderMinistat(sets, options), 6000);
    return [details(`ministat: ${cellName(cell.cell)}`, `${ministatNote(cell)}\n\n${block}`)];
  });
}

/** What tells the classic block from the table above it. */
function ministatNote({ design }: CellResult): string {
  const early =
    design.name === 'fixed'
      ? ''
      : ' and to be as many as were planned, so its error is too small where the experiment stopped early';
  const together =
    design.method === 'paired'
      ? ', while the table compares neighbouring runs, so that what slows both alike cancels'
      : '';
  return `ministat takes the runs to be independent${early}${together}.`;
}

function valuesOf(cell: CellResult, variant: string, metric: Metric): Float64Array {
  const counted = cell.runs.filter(
    (run) => run.variant === variant && run.validity.kind === 'valid',
  );
  return Float64Array.from(counted.flatMap((run) => run[metric] ?? []));
}

const ministatConfidence = (ratio: number): ConfidencePercent =>
  confidencePercents.find((percent) => Math.abs(percent / 100 - ratio) < 1e-9) ?? 95;

/** Runs that were measured and do not count, by cause. */
function uncounted(cells: readonly CellResult[]): string[] {
  const lines = cells.flatMap(({ cell, runs }) => {
    const faults = runs.flatMap(({ validity }) => (validity.kind === 'invalid' ? validity : []));
    return [...Map.groupBy(faults, ({ cause }) => cause).values()].map((group) => {
      const [first, ...others] = group.map(({ reason }) => reason);
      const like = others.some((reason) => reason !== first) ? 'the first of them: ' : '';
      const count = `${group.length} of ${runs.length} runs`;
      return `- ${cellName(cell)}: ${count}, ${like}${codeSpan(first ?? '')}`;
    });
  });
  return lines.length > 0 ? [details('runs that do not count', lines.join('\n'))] : [];
}

/** Single runs far from the others: they count, and each was repeated once. */
function standingApart(cells: readonly CellResult[]): string[] {
  const lines = cells.flatMap(({ cell, design, runs }) =>
    (design.method === 'pooled' ? runsApart(runs) : []).map(
      ({ number, variant, pps }) =>
        `- ${cellName(cell)}: run ${number} of ${codeSpan(variant)}, ${formatPps(pps)}`,
    ),
  );
  return lines.length > 0 ? [details('runs that stand apart, and count', lines.join('\n'))] : [];
}

/** Not the patch's doing: whoever looks after the testbed or the branch wants to know. */
function movedBaselines(cells: readonly CellResult[]): string[] {
  const lines = cells.flatMap(({ cell, baseline }) => {
    if (baseline.kind !== 'moved') return [];
    const { change, low, high } = baseline.interval;
    return `- ${cellName(cell)}: ${formatChange(change)} against its history (99 % interval ${formatInterval(low, high)})`;
  });
  if (lines.length === 0) return [];
  return [['⚠️ **baseline moved**, which is not held against the patch:', ...lines].join('\n')];
}

function environment(result: Result): string {
  const { patch, variants, testbed, seed, generator } = result;
  const kernels = kernelsOf(result);
  const lines = [
    `patch: ${codeSpan(patch.title)} by ${codeSpan(patch.author)}`,
    ...variants.map(({ name, commit }) =>
      [`${codeSpan(name)}: commit ${codeSpan(commit)}`, ...(kernels.get(name) ?? [])].join(', '),
    ),
    ...Object.entries(testbed.fingerprint).map(
      ([key, value]) => `${codeSpan(key)}: ${codeSpan(value)}`,
    ),
    `order of runs: seed ${seed}`,
    `${generator.name} ${codeSpan(generator.version)}`,
  ];
  return details('environment', lines.map((line) => `- ${line}`).join('\n'));
}

/** What ran where variants are kernels of their own, which a report had better not get wrong. */
function kernelsOf({ blasts, outcome }: Result): Map<string, string[]> {
  const runs = outcome.kind === 'judged' ? outcome.cells.flatMap((cell) => cell.runs) : [];
  const variantOf = new Map(runs.map((run) => [run.blast, run.variant]));
  const found = blasts.flatMap(({ number, kernel }) =>
    kernel === undefined ? [] : { variant: variantOf.get(number) ?? '', kernel },
  );
  return new Map(
    [...Map.groupBy(found, ({ variant }) => variant)].map(([variant, group]) => [
      variant,
      [...new Set(group.map(({ kernel }) => codeSpan(kernel)))],
    ]),
  );
}

function warnings({ testbed }: Result): string[] {
  if (testbed.warnings.length === 0) return [];
  const lines = testbed.warnings.map((warning) => `- ${codeSpan(warning, 300)}`);
  return [details('settings of the DUT that do not hold', lines.join('\n'))];
}

function howToRead(result: Result): string {
  const { marginRatio, confidenceRatio, falseAlarmRatio, missRatio } = result.policy;
  const margin = formatPercent(marginRatio);
  return details(
    'how to read this',
    [
      `Runs of base and patched alternate, and each cell ends as soon as its runs tell. The interval holds the true change in ${formatPercent(confidenceRatio)} of experiments or more, wherever they end; patched is base with the change. Of patches that lose nothing at most ${formatPercent(falseAlarmRatio)} are called a regression in any cell, and of cells that lose ${margin} at most ${formatPercent(missRatio)} are passed.`,
      '',
      `- **regression**: surely a loss, and ${margin} is not excluded`,
      '- **improvement**: the mirror image',
      `- **no-regression**: a loss of ${margin} is excluded`,
      '- **inconclusive**: neither; more runs would tell, with `ppsgate gate --resume DIR --max-runs N`',
      '- **invalid**: too few runs count, so nothing is said',
    ].join('\n'),
  );
}

function footer({ rerun, rawData }: ReportLinks): string {
  const parts = [rerun && `Rerun: ${rerun}`, rawData && `Raw data: ${rawData}`].filter(Boolean);
  return parts.length > 0 ? `<sub>${parts.join(' · ')}</sub>` : '';
}

const details = (summary: string, body: string): string =>
  `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`;

/** Keeps what fits of the folded parts, in their order, and says how many there was no room for. */
function fitted(main: string[], folded: string[], end: string): string {
  const kept: string[] = [];
  let room = mostCharacters - [...main, end].join('\n\n').length - 200;
  for (const part of folded) {
    if (part.length + 2 > room) continue;
    room -= part.length + 2;
    kept.push(part);
  }
  const missing = folded.length - kept.length;
  const notice =
    missing > 0 ? [`${missing} more parts are in the full report beside \`result.json\`.`] : [];
  return `${[...main, ...kept, ...notice, end].filter(Boolean).join('\n\n')}\n`;
}
