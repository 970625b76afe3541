// The comment: the verdict in one line, the table of all cells, and what an author wants to know folded below.

import { frameBytesFor } from '../config/schema.ts';
import { renderMinistat } from '../stats/ministat.ts';
import { runsApart } from '../stats/outlier.ts';
import { countedRuns } from '../stats/standing.ts';
import { type ConfidencePercent, confidencePercents } from '../stats/student.ts';
import { codeBlock, codeSpan, type Quoting } from '../words/escape.ts';
import {
  formatChange,
  formatDifference,
  formatDuration,
  formatInterval,
  formatMetric,
  formatPercent,
  formatPps,
  formatShare,
  grouped,
  metricName,
} from '../words/format.ts';
import { type Patch, patchName } from '../words/patch.ts';
import type { Rejection } from '../words/rejection.ts';
import {
  type CellResult,
  type CellVerdict,
  type Comparison,
  type Metric,
  type Mover,
  metricSchema,
  type Policy,
  type Result,
  type Run,
  verdictsWorstFirst,
} from '../words/result.ts';
import { cellName } from '../words/scenario.ts';
import { isJudged } from '../words/variant-name.ts';
import { headline, rejectionText } from './headline.ts';
import {
  flamegraphsText,
  functionName,
  type GraphLinks,
  groundsText,
  isProfiled,
  nanosecondsText,
  whyLines,
} from './why.ts';

/** GitHub refuses a comment of more characters; what ours remembers of earlier pushes needs some. */
export const mostCharacters = 65_536 - 12_288;

/** What only the place of publication knows. */
export type ReportLinks = {
  /** Markdown of our own: how to rerun, where the raw data is. */
  rerun?: string;
  rawData?: string;
  /** What the job that measured said of the result and was not believed, in sentences. */
  corrections?: readonly string[];
} & GraphLinks;

/** Renders at most `mostCharacters`: what does not fit is left out from the end, and said. */
export function renderMarkdown(result: Result, links: ReportLinks = {}): string {
  const { outcome } = result;
  const main =
    outcome.kind === 'judged'
      ? [
          setting(result),
          ...verdictTable(result, outcome.cells),
          ...whyLines(outcome.cells, markdown, (cell) => flamegraphsText(cell, links, graphLink)),
        ]
      : [setting(result), failure(outcome)];
  const parts =
    outcome.kind === 'judged'
      ? [
          ...movedBaselines(outcome.cells),
          ...leftOut(result),
          ...otherMetrics(result, outcome.cells),
          ...uncounted(outcome.cells),
          ...standingApart(outcome.cells),
          ...warnings(result),
          ...notes(result),
          environment(result),
          howToRead(result),
          ...why(outcome.cells, links),
          ...ministatBlocks(result, outcome.cells),
        ]
      : [...leftOut(result), ...warnings(result), ...notes(result), environment(result)];
  const said = (links.corrections ?? []).map((sentence) => codeSpan(sentence, 500));
  const corrections = folded('said otherwise where it was measured, and not believed', said);
  return fitted([`### ${headline(result)}`, ...main], [...corrections, ...parts], footer(links));
}

const markdown: Quoting = { code: codeSpan, name: (name) => name };

/** Where and how it was measured, on one line. */
export function setting(result: Result, quoting: Quoting = markdown): string {
  const { testbed, traffic, blasts } = result;
  const { cpu, kernel } = testbed.fingerprint;
  const [own, cpuName] = [kernel, cpu].map((text) => text && quoting.code(text));
  // Where variants are kernels, the DUT's own is none of them.
  const hasKernels = blasts.some((blast) => blast.kernel !== undefined);
  const [measured = hasKernels ? undefined : own] = kernelsOf(result, quoting).get('base') ?? [];
  const hardware = [cpuName, measured].filter((text) => text !== undefined);
  const name = quoting.code(testbed.name);
  const parts = [name + (hardware.length ? ` (${hardware.join(', ')})` : '')];
  if (blasts.length > 0) {
    const sent = blasts.reduce((most, blast) => Math.max(most, blast.offeredPps), 0);
    const asked =
      traffic.offeredPps === undefined ? '' : `${formatPps(traffic.offeredPps)} asked for, `;
    const seconds = (Date.parse(result.finishedAt) - Date.parse(result.startedAt)) / 1000;
    parts.push(
      `${grouped(traffic.flows)} flows of ${frameSizes(result)} UDP, ${asked}up to ${formatPps(sent)} sent over a blast`,
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

const verdictTable = (result: Result, cells: readonly CellResult[]): string[] => [
  rule(result.policy),
  table(result, cells, result.policy.metric),
];

/** What the cells are judged by. */
export const rule = ({ metric, marginRatio, falseAlarmRatio }: Policy): string =>
  `Judged by ${metricName(metric)} · a loss of ${formatPercent(marginRatio)} or more matters · false alarms ≤ ${formatPercent(falseAlarmRatio)}`;

function table(result: Result, cells: readonly CellResult[], metric: Metric): string {
  const confidence = formatPercent(result.policy.confidenceRatio);
  const judged = metric === result.policy.metric;
  const columns = ['cell', 'base', 'patched', 'change', `${confidence} interval`, 'runs'];
  const header = judged
    ? [`| ${columns.join(' | ')} | verdict |`, '|---|--:|--:|--:|:-:|--:|---|']
    : [`| ${columns.join(' | ')} |`, '|---|--:|--:|--:|:-:|--:|'];
  const rows = rowsThatFit(cells, (cell) => rowsOfCell(cell, metric, judged));
  return [...header, ...rows].join('\n');
}

/** The worst cells first when there is no room for all, and below them how many are left out. */
export function rowsThatFit(
  cells: readonly CellResult[],
  toRow: (cell: CellResult) => string,
): string[] {
  const inOrder = fittingRows(cells, toRow);
  if (inOrder.length === cells.length) return inOrder;
  const worst = fittingRows(worstFirst(cells), toRow);
  const rest = cells.length - worst.length;
  return [...worst, '', `${rest} more cells, none of them worse, are in \`result.json\`.`];
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

export const worstFirst = (cells: readonly CellResult[]): CellResult[] =>
  cells.toSorted((a, b) => weightOf(a) - weightOf(b));

const weightOf = ({ verdict }: CellResult): number => verdictsWorstFirst.indexOf(verdict.kind);

/** The symbol stands first: on a phone the last columns are out of sight. Below a cell stand its other variants. */
function rowsOfCell(result: CellResult, metric: Metric, judged: boolean): string {
  const { cell, verdict, others } = result;
  const name = judged ? `${symbols[verdict.kind]} ${cellName(cell)}` : cellName(cell);
  const rows = [
    row(name, numbersOfCell(result, metric, judged), judged && verdictText(verdict)),
    ...others.map(({ variant, comparisons }) =>
      row(`↳ ${codeSpan(variant)}`, numbers(comparisons, metric, judged), judged && 'not judged'),
    ),
  ];
  return rows.join('\n');
}

/** `verdict` is false where the metric was not judged. */
function row(name: string, values: readonly string[], verdict: string | false): string {
  const columns = [name, ...values, ...(verdict === false ? [] : [verdict])];
  return tableRow(columns);
}

const tableRow = (columns: readonly string[]): string =>
  `| ${columns.map((column) => column.replaceAll('|', '\\|')).join(' | ')} |`;

/** Base, patched, change, interval and runs, each kept to one line; a change that is clear is written by `bold`. */
export function numbers(
  comparisons: readonly Comparison[],
  metric: Metric,
  judged: boolean,
  bold = (text: string) => `**${text}**`,
): string[] {
  const own = comparisons.find((one) => one.metric === metric);
  // A DUT that forwards nothing has no time per packet, but it has packets per second: none.
  const shown = own ?? (judged ? comparisons[0] : undefined);
  return numbersOf(shown, bold).map(unbroken);
}

/** The numbers of a cell: for an invalid one the runs that count and those that were made, whatever came of them. */
export function numbersOfCell(
  cell: CellResult,
  metric: Metric,
  judged: boolean,
  bold?: (text: string) => string,
): string[] {
  const shown = numbers(cell.comparisons, metric, judged, bold);
  if (!judged || cell.verdict.kind !== 'invalid') return shown;
  return [...shown.slice(0, -1), unbroken(runsTried(cell, metric))];
}

function runsTried({ runs, design }: CellResult, metric: Metric): string {
  const counted = countedRuns({ runs, design }, Number.POSITIVE_INFINITY);
  const count = [counted.base, counted.patched].map(
    (some) => some.filter((run) => run[metric] !== undefined).length,
  );
  const made = ['base', 'patched'].map((name) => runs.filter((run) => run.variant === name).length);
  return `${count.join(' + ')} of ${made.join(' + ')}`;
}

const unbroken = (text: string): string => text.replaceAll(' ', '\u00a0');

function numbersOf(comparison: Comparison | undefined, bold: (text: string) => string): string[] {
  if (comparison === undefined) return ['–', '–', '–', '–', '–'];
  const { metric, base, patched, interval, baseRuns, patchedRuns } = comparison;
  const clear = interval.low > 0 || interval.high < 0;
  const change = formatChange(interval.change);
  return [
    formatMetric(base, metric),
    formatMetric(patched, metric),
    clear ? bold(change) : change,
    formatInterval(interval.low, interval.high),
    `${baseRuns} + ${patchedRuns}`,
  ];
}

export const symbols: Record<CellVerdict['kind'], string> = {
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

const failure = (outcome: Rejection): string =>
  `${failureText(outcome)}\n\n${codeBlock(failureSaid(outcome))}`;

/** The message, and what the kernel died of. */
export function failureSaid(outcome: Rejection): string {
  const panic = 'panic' in outcome && outcome.panic !== undefined ? `panic: ${outcome.panic}` : '';
  return [outcome.message, panic].filter(Boolean).join('\n');
}

export function failureText(outcome: Rejection, { name }: Quoting = markdown): string {
  switch (outcome.kind) {
    case 'does-not-apply':
      return 'The patch does not apply, and nothing was measured:';
    case 'build-failed':
      return 'The base builds, the patched kernel does not; nothing was measured. The build says first:';
    case 'out-of-disk':
      return 'The patch is not to blame; free some space and run again:';
    case 'does-not-load':
      return `The base loads, the patched files do not (${name(outcome.scenario)}); nothing was measured. The DUT says:`;
    case 'boot-failed':
      return 'The patched kernel does not come up, and nothing was measured with it. The DUT is back on its own kernel:';
    case 'panics-under-load':
      return 'The patched kernel panicked twice in the same blast, and no verdict was reached. The DUT is back on its own kernel:';
  }
}

function otherMetrics(result: Result, cells: readonly CellResult[]): string[] {
  return otherMetricsOf(result.policy, cells).map((metric) =>
    details(metricName(metric), table(result, cells, metric)),
  );
}

/** What was measured beside what was judged. */
export const otherMetricsOf = ({ metric }: Policy, cells: readonly CellResult[]): Metric[] =>
  metricSchema.options.filter(
    (other) =>
      other !== metric &&
      cells.some(({ comparisons }) => comparisons.some((one) => one.metric === other)),
  );

/** All functions that moved, by cell. */
function why(cells: readonly CellResult[], links: ReportLinks): string[] {
  const profiled = cells.filter(isProfiled);
  if (profiled.length === 0) return [];
  const sections = rowsThatFit(profiled, (cell) => `${whyOfCell(cell, links)}\n`);
  return [details('why', sections.join('\n').trimEnd())];
}

function whyOfCell(cell: CellResult, links: ReportLinks): string {
  const grounds = `${cellName(cell.cell)}: ${groundsText(cell, markdown)}`;
  const head = [grounds, flamegraphsText(cell, links, graphLink)].filter(Boolean).join(' · ');
  const movers = cell.reason?.movers ?? [];
  return movers.length === 0 ? head : `${head}\n\n${moverTable(movers)}`;
}

const moverTable = (movers: readonly Mover[]): string =>
  [
    '| function | module | base | patched | change | per packet |',
    '|---|---|--:|--:|--:|--:|',
    ...movers.map(moverRow),
  ].join('\n');

function moverRow(mover: Mover): string {
  const { module, baseRatio, patchedRatio, nsPerPacket } = mover;
  const numbers = [
    `${formatShare(baseRatio)} %`,
    `${formatShare(patchedRatio)} %`,
    formatDifference((patchedRatio - baseRatio) * 100),
    nsPerPacket === undefined ? '–' : nanosecondsText(nsPerPacket),
  ].map(unbroken);
  return tableRow([functionName(mover, markdown), module ? codeSpan(module, 80) : '–', ...numbers]);
}

/** One fold each, so that it can be left out alone. */
const ministatBlocks = (result: Result, cells: readonly CellResult[]): string[] =>
  ministats(result.policy, cells).map(({ name, note, text }) => {
    const block = codeBlock(text, 6000);
    return details(name, note === undefined ? block : `${note}\n\n${block}`);
  });

export type Ministat = { name: string; note?: string; text: string };

/** What people paste into mail: patched of each cell against base, and then its earlier diffs against base. */
export const ministats = (policy: Policy, cells: readonly CellResult[]): Ministat[] => [
  ...cells.flatMap((cell) => ministatOfPatched(policy, cell)),
  ...cells.flatMap((cell) => ministatOfOthers(policy, cell)),
];

function ministatOfPatched(policy: Policy, cell: CellResult): Ministat[] {
  const [base, patched] = ministatSets(cell, ['base', 'patched'], policy.metric);
  if (base === undefined || patched === undefined) return [];
  const text = ministat([base, patched], policy);
  return [{ name: `ministat: ${cellName(cell.cell)}`, note: ministatNote(cell), text }];
}

/** Each of them against base. */
function ministatOfOthers(policy: Policy, cell: CellResult): Ministat[] {
  const names = cell.others.slice(0, mostOthers).map(({ variant }) => variant);
  const [base, ...others] = ministatSets(cell, ['base', ...names], policy.metric);
  if (base?.variant !== 'base' || others.length === 0) return [];
  const name = `ministat of earlier diffs: ${cellName(cell.cell)}`;
  return [{ name, text: ministat([base, ...others], policy) }];
}

/** ministat has symbols for so many sets and base. */
const mostOthers = 6;

type VariantSet = { variant: string; name: string; values: Float64Array };

/** Those of enough runs for a spread. */
const ministatSets = (
  cell: CellResult,
  variants: readonly string[],
  metric: Metric,
): VariantSet[] =>
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

const uncounted = (cells: readonly CellResult[]): string[] =>
  folded('runs that do not count', uncountedLines(cells));

/** Runs that were measured and do not count, by cause. */
export const uncountedLines = (
  cells: readonly CellResult[],
  { code, name }: Quoting = markdown,
): string[] =>
  cells.flatMap(({ cell, runs }) => {
    const faults = runs.flatMap(({ validity }) => (validity.kind === 'invalid' ? validity : []));
    return [...Map.groupBy(faults, ({ cause }) => cause).values()].map((group) => {
      const [first, ...others] = group.map(({ reason }) => reason);
      const like = others.some((reason) => reason !== first) ? 'the first of them: ' : '';
      const count = `${group.length} of ${runs.length} runs`;
      return `${name(cellName(cell))}: ${count}, ${like}${code(first ?? '')}`;
    });
  });

const standingApart = (cells: readonly CellResult[]): string[] =>
  folded('runs that stand apart, and count', standingApartLines(cells));

/** Single runs far from the others: they count, and each was repeated once. */
export const standingApartLines = (
  cells: readonly CellResult[],
  { code, name }: Quoting = markdown,
): string[] =>
  cells.flatMap(({ cell, design, runs }) =>
    (design.method === 'pooled' ? runsApart(runs.filter(isOfVerdict)) : []).map(
      ({ number, variant, pps }) =>
        `${name(cellName(cell))}: run ${number} of ${code(variant)}, ${formatPps(pps)}`,
    ),
  );

const isOfVerdict = ({ variant }: Run): boolean => isJudged(variant);

/** Not the patch's doing: whoever looks after the testbed or the branch wants to know. */
export function movedBaselines(cells: readonly CellResult[], quoting = markdown): string[] {
  const lines = movedBaselineLines(cells, quoting);
  if (lines.length === 0) return [];
  return [`⚠️ **baseline moved**, which is not held against the patch:\n${bullets(lines)}`];
}

/** A line for every cell whose base is not what it was. */
export const movedBaselineLines = (
  cells: readonly CellResult[],
  { name }: Quoting = markdown,
): string[] =>
  cells.flatMap(({ cell, baseline }) => {
    if (baseline.kind !== 'moved') return [];
    const { change, low, high } = baseline.interval;
    return `${name(cellName(cell))}: ${formatChange(change)} against its history (99 % interval ${formatInterval(low, high)})`;
  });

function environment(result: Result): string {
  const { patch } = result;
  const patchLine = `patch: ${patchText(patch)} by ${codeSpan(patch.author)}`;
  return details('environment', bullets([patchLine, ...environmentLines(result)]));
}

/** What was run, on what, and in which order. */
export function environmentLines(result: Result, quoting: Quoting = markdown): string[] {
  const { variants, testbed, seed, generator } = result;
  const { code } = quoting;
  const kernels = kernelsOf(result, quoting);
  return [
    ...variants.map(({ name, commit }) =>
      [`${code(name)}: commit ${code(commit)}`, ...(kernels.get(name) ?? [])].join(', '),
    ),
    ...Object.entries(testbed.fingerprint).map(([key, value]) => `${code(key)}: ${code(value)}`),
    `order of runs: seed ${seed}`,
    `${generator.name} ${code(generator.version)}`,
  ];
}

function patchText(patch: Patch): string {
  const title = codeSpan(patch.title);
  if (patch.kind !== 'revision') return title;
  return `${link(patchName(patch), patch.url)} diff ${patch.diff}, ${title}`;
}

/** The text alone where the address is none of a page. */
function link(text: string, address: string): string {
  const url = pageUrl(address);
  return url === undefined ? text : `[${text}](${url})`;
}

/** A link to a page, or to a file beside the report. */
const graphLink = (text: string, address: string): string =>
  /^\w[\w./-]*$/.test(address) ? `[${text}](${address})` : link(text, address);

/** Without what a markup could take for the address's end, or for markup in it; undefined where it is none of a page. */
export function pageUrl(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined;
  return url.href.replace(/[^\w:/?#&=.~%+-]/g, percentEncoded);
}

const percentEncoded = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;

/** What ran where variants are kernels of their own, which a report had better not get wrong. */
export function kernelsOf({ blasts, outcome }: Result, { code }: Quoting): Map<string, string[]> {
  const runs = outcome.kind === 'judged' ? outcome.cells.flatMap((cell) => cell.runs) : [];
  const variantOf = new Map(runs.map((run) => [run.blast, run.variant]));
  const found = blasts.flatMap(({ number, kernel }) =>
    kernel === undefined ? [] : { variant: variantOf.get(number) ?? '', kernel },
  );
  return new Map(
    [...Map.groupBy(found, ({ variant }) => variant)].map(([variant, group]) => [
      variant,
      [...new Set(group.map(({ kernel }) => code(kernel)))],
    ]),
  );
}

const warnings = ({ testbed }: Result): string[] =>
  folded(
    'settings of the DUT that do not hold',
    testbed.warnings.map((warning) => codeSpan(warning, 300)),
  );

const notes = ({ patch }: Result): string[] =>
  folded(
    'notes on the revision',
    notesOf(patch).map((note) => codeSpan(note, 300)),
  );

/** What is told of a revision: how its base was found, and what of it was not taken. */
export const notesOf = (patch: Patch): string[] => (patch.kind === 'revision' ? patch.notes : []);

/** Nothing that counts against the patch, but a row that a reader may miss. */
export function leftOut(result: Result, quoting = markdown): string[] {
  const lines = leftOutLines(result, quoting);
  if (lines.length === 0) return [];
  return [`Left out of the comparison, which is not held against the patch:\n${bullets(lines)}`];
}

/** A line for every variant that could not be measured beside base and patched. */
export const leftOutLines = ({ leftOut }: Result, { code }: Quoting = markdown): string[] =>
  leftOut.map(({ variant, rejection }) => {
    const panic =
      'panic' in rejection && rejection.panic ? ` (panic: ${code(rejection.panic)})` : '';
    return `${code(variant)} ${rejectionText(rejection)}: ${code(rejection.message, 300)}${panic}`;
  });

function howToRead(result: Result): string {
  const meanings = verdictMeanings(result.policy).map(
    ([verdict, meaning]) => `**${verdict}**: ${meaning}`,
  );
  return details('how to read this', [...howToReadTexts(result), bullets(meanings)].join('\n\n'));
}

/** How the numbers came about, a paragraph each. */
export function howToReadTexts({ policy, variants }: Result): string[] {
  const { marginRatio, confidenceRatio, falseAlarmRatio, missRatio } = policy;
  const confidence = formatPercent(confidenceRatio);
  const alone = variants.every(({ name }) => isJudged(name));
  return [
    `Runs of base and patched alternate, and each cell ends as soon as its runs tell. The interval holds the true change in ${confidence} of experiments or more, wherever they end; patched is base with the change. Of patches that lose nothing at most ${formatPercent(falseAlarmRatio)} are called a regression in any cell, and of cells that lose ${formatPercent(marginRatio)} at most ${formatPercent(missRatio)} are passed.`,
    ...(alone
      ? []
      : [
          `Earlier diffs (↳) are measured in the same rounds and compared with base, each by itself; its number stands in the column of patched. They decide neither the verdict nor how many runs there are, so their ${confidence} intervals are those of a fixed number of runs, and hold a little less often where a cell ended early.`,
        ]),
  ];
}

export function verdictMeanings({ marginRatio }: Policy): [CellVerdict['kind'], string][] {
  const margin = formatPercent(marginRatio);
  const more = 'more runs would tell, with `ppsgate gate --resume DIR --max-runs N`';
  return [
    ['regression', `surely a loss, and ${margin} is not excluded`],
    ['improvement', 'the mirror image'],
    ['no-regression', `a loss of ${margin} is excluded`],
    ['inconclusive', `neither; ${more}`],
    ['invalid', 'too few runs count, so nothing is said'],
  ];
}

function footer({ rerun, rawData, page }: ReportLinks): string {
  const parts = [
    rerun && `Rerun: ${rerun}`,
    rawData && `Raw data: ${rawData}`,
    page && link('the whole report', page),
  ].filter(Boolean);
  return parts.length > 0 ? `<sub>${parts.join(' · ')}</sub>` : '';
}

const details = (summary: string, body: string): string =>
  `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`;

/** Nothing where there are no lines. */
const folded = (summary: string, lines: readonly string[]): string[] =>
  lines.length > 0 ? [details(summary, bullets(lines))] : [];

const bullets = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n');

const inCharacters = (text: string): number => text.length;

/** Keeps what fits of the parts, in their order, and says how many there was no room for; `sizeOf` is what may be `most`. */
export function fitted(
  main: readonly string[],
  parts: readonly string[],
  end: string,
  { most, sizeOf } = { most: mostCharacters, sizeOf: inCharacters },
): string {
  const kept: string[] = [];
  let room = most - sizeOf([...main, end].join('\n\n')) - 200;
  for (const part of parts) {
    const size = sizeOf(part) + 2;
    if (size > room) continue;
    room -= size;
    kept.push(part);
  }
  const missing = parts.length - kept.length;
  const notice =
    missing > 0 ? [`${missing} more parts are in the full report beside \`result.json\`.`] : [];
  return `${[...main, ...kept, ...notice, end].filter(Boolean).join('\n\n')}\n`;
}
