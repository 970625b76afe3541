// The comment: the verdict in one line, the table of all cells, and what an author wants to know folded below.
import { cellName } from '../scenario/scenario.ts';
import { renderMinistat } from '../stats/ministat.ts';
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
import type { CellResult, CellVerdict, Comparison, Metric, Result } from './result.ts';

/** GitHub refuses a comment of more characters; the marker in front of ours needs some. */
export const mostCharacters = 65_536 - 512;

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
          ...otherMetrics(result, outcome.cells),
          ...uncounted(outcome.cells),
          environment(result),
          howToRead(result),
          ...ministatBlocks(result, outcome.cells),
        ]
      : [environment(result)];
  return fitted([`### ${headline(result)}`, ...main], folded, footer(links));
}

/** Where and how it was measured, on one line. */
function setting(result: Result): string {
  const { testbed, traffic, blasts } = result;
  const { cpu, kernel } = testbed.fingerprint;
  const hardware = [cpu, kernel].filter((text) => text !== undefined).map((text) => codeSpan(text));
  const parts = [codeSpan(testbed.name) + (hardware.length ? ` (${hardware.join(', ')})` : '')];
  if (blasts.length > 0) {
    const sent = blasts.reduce((most, blast) => Math.max(most, blast.offeredPps), 0);
    const seconds = (Date.parse(result.finishedAt) - Date.parse(result.startedAt)) / 1000;
    parts.push(
      `${grouped(traffic.flows)} flows of ${traffic.frameBytes}-byte UDP, ${formatPps(traffic.offeredPps)} asked for, up to ${formatPps(sent)} sent`,
      `${formatDuration(seconds)}`,
    );
  }
  return parts.join(' · ');
}

function verdictTable(result: Result, cells: readonly CellResult[]): string[] {
  const { metric, marginRatio, runsPerVariant } = result.policy;
  const rule = `Judged by ${metricName(metric)}, ${runsPerVariant} runs of each variant and cell; a loss of ${formatPercent(marginRatio)} or more matters.`;
  return [rule, table(result, cells, metric)];
}

/** The worst cells first when there is no room for all. */
function table(result: Result, cells: readonly CellResult[], metric: Metric): string {
  const confidence = formatPercent(result.policy.confidenceRatio);
  const judged = metric === result.policy.metric;
  const columns = ['cell', 'base', 'patched', 'change', `${confidence} interval`];
  const header = judged
    ? [`| ${columns.join(' | ')} | verdict |`, '|---|--:|--:|--:|:-:|---|']
    : [`| ${columns.join(' | ')} |`, '|---|--:|--:|--:|:-:|'];
  const shown = cells.length <= mostRows ? cells : worstFirst(cells).slice(0, mostRows);
  const rows = shown.map((cell) => row(cell, metric, judged));
  const rest = cells.length - shown.length;
  if (rest > 0) rows.push('', `${rest} more cells, none of them worse, are in \`result.json\`.`);
  return [...header, ...rows].join('\n');
}

const mostRows = 100;

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
  if (comparison === undefined) return ['–', '–', '–', '–'];
  const { metric, base, patched, interval } = comparison;
  const clear = interval.low > 0 || interval.high < 0;
  const change = formatChange(interval.change);
  return [
    formatMetric(base, metric),
    formatMetric(patched, metric),
    clear ? `**${change}**` : change,
    formatInterval(interval.low, interval.high),
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
  const reason = verdict.kind === 'invalid' ? `: ${codeSpan(verdict.reason, 120)}` : '';
  return `${verdict.kind}${reason}`;
}

function failure(outcome: Exclude<Result['outcome'], { kind: 'judged' }>): string {
  const what =
    outcome.kind === 'does-not-load'
      ? `The base loads, the patched files do not (${outcome.scenario}); nothing was measured. The DUT says:`
      : 'The patch does not apply, and nothing was measured:';
  return `${what}\n\n${codeBlock(outcome.message)}`;
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
    const note =
      'ministat takes all runs as independent; the table compares neighbouring runs, so that what slows both alike cancels.';
    const block = codeBlock(renderMinistat(sets, options), 6000);
    return [details(`ministat: ${cellName(cell.cell)}`, `${note}\n\n${block}`)];
  });
}

function valuesOf(cell: CellResult, variant: string, metric: Metric): Float64Array {
  const counted = cell.runs.filter(
    (run) => run.variant === variant && run.validity.kind === 'valid',
  );
  return Float64Array.from(counted.flatMap((run) => run[metric] ?? []));
}

const ministatConfidence = (ratio: number): ConfidencePercent =>
  confidencePercents.find((percent) => Math.abs(percent / 100 - ratio) < 1e-9) ?? 95;

/** Runs that were measured and do not count, by reason. */
function uncounted(cells: readonly CellResult[]): string[] {
  const lines = cells.flatMap(({ cell, runs }) => {
    const reasons = runs.flatMap(({ validity }) =>
      validity.kind === 'invalid' ? validity.reason : [],
    );
    const groups = Map.groupBy(reasons, (reason) => reason);
    return [...groups].map(
      ([reason, { length }]) =>
        `- ${cellName(cell)}: ${length} of ${runs.length} runs, ${codeSpan(reason)}`,
    );
  });
  return lines.length > 0 ? [details('runs that do not count', lines.join('\n'))] : [];
}

function environment(result: Result): string {
  const { patch, variants, testbed, seed, generator } = result;
  const lines = [
    `patch: ${codeSpan(patch.title)} by ${codeSpan(patch.author)}`,
    ...variants.map(({ name, commit }) => `${codeSpan(name)}: commit ${codeSpan(commit)}`),
    ...Object.entries(testbed.fingerprint).map(
      ([key, value]) => `${codeSpan(key)}: ${codeSpan(value)}`,
    ),
    `order of runs: seed ${seed}`,
    `${generator.name} ${codeSpan(generator.version)}`,
  ];
  return details('environment', lines.map((line) => `- ${line}`).join('\n'));
}

function howToRead(result: Result): string {
  const { marginRatio, confidenceRatio } = result.policy;
  const margin = formatPercent(marginRatio);
  return details(
    'how to read this',
    [
      `Runs of base and patched alternate, and each is compared with its neighbour. The interval, by Wilcoxon's signed-rank test, holds the true change in ${formatPercent(confidenceRatio)} of experiments; patched is base with the change.`,
      '',
      `- **regression**: it lies wholly on the slow side of 0 and does not exclude a loss of ${margin}`,
      '- **improvement**: the mirror image',
      `- **no-regression**: it excludes a loss of ${margin}`,
      '- **inconclusive**: it excludes neither; more runs would tell',
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
