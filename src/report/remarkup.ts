// The comment on a revision of Phabricator, in Remarkup, which folds nothing and escapes nothing: texts of others stand in code only.

import { pageUrl, plain, plainLine } from '../words/escape.ts';
import { metricName } from '../words/format.ts';
import { patchName } from '../words/patch.ts';
import {
  remarkup,
  remarkupBlock,
  remarkupCell,
  remarkupText,
  remarkupWords,
} from '../words/remarkup.ts';
import type { CellResult, Metric, Policy, Result } from '../words/result.ts';
import { cellName } from '../words/scenario.ts';
import { type CellRow, cellColumns, cellRows } from './cell-rows.ts';
import { fitted, rowsThatFit } from './fitting.ts';
import { sentence, symbols } from './headline.ts';
import { failureSaid, failureText, rule, type Section, sectionsOf, setting } from './sections.ts';
import {
  changeText,
  flamegraphsText,
  functionName,
  type GraphLinks,
  groundsText,
  whyLines,
} from './why.ts';

/** What only the place of publication knows. */
type RemarkupLinks = {
  /** Name of the plot as it was uploaded, in PNG: `F123`. */
  image?: string;
  /** URL of the job or the report. */
  details?: string;
  /** URL of what was measured before. */
  history?: string;
  /** How to ask for it again, as people type it: `@ppsgate rerun`. */
  rerun?: string;
} & GraphLinks;

/** Most bytes in UTF-8. Phabricator takes more, and sends it to everybody by mail. */
const mostBytes = 100_000;

/** Renders at most 100 kB: what does not fit is left out from the end, ministat first, and said. */
export function renderRemarkup(result: Result, links: RemarkupLinks = {}): string {
  const { outcome, patch } = result;
  const { symbol, text } = sentence(result, remarkupText);
  const name = patch.kind === 'revision' ? `diff ${patch.diff}` : patchName(patch);
  const verdict = `**${symbol} ppsgate: ${remarkupText(name)} ${text}**`;
  const main =
    outcome.kind === 'judged'
      ? judged(result, outcome.cells, links)
      : [failureText(outcome, remarkup), remarkupBlock('what was said', failureSaid(outcome), 20)];
  const parts = sectionsOf(result, remarkup, plain).map((section, index, all) =>
    sectionText(section, result, all[index - 1]),
  );
  return within([verdict, setting(result, remarkup), ...main], parts, links);
}

/** Symbol and text are of our own making, like `⚪` and `not measured: cancelled`; `said` is the sentence behind it. */
export function renderRemarkupFailure(
  { symbol, text, said }: { symbol: string; text: string; said: string },
  links: RemarkupLinks = {},
): string {
  const heading = `**${remarkupWords(symbol)} ppsgate: ${remarkupWords(text)}**`;
  return within([heading, remarkupBlock('what was said', said, 20)], [], links);
}

const judged = (
  { policy }: Result,
  cells: readonly CellResult[],
  links: RemarkupLinks,
): string[] => [
  rule(policy),
  table(policy, cells, policy.metric),
  ...whyLines(cells, remarkup, (cell) => flamegraphsText(cell, links, link)),
  ...whyInvalid(cells),
  ...plot(links),
];

/** The worst cells first when there is no room for all. Colons for alignment would make the heads plain cells. */
function table(policy: Policy, cells: readonly CellResult[], metric: Metric): string {
  const columns = cellColumns(policy, metric);
  return [
    tableRow(columns),
    tableRow(columns.map(() => '---')),
    ...rowsThatFit(cells, (cell) => cellRows(cell, metric, policy, bold).map(rowText).join('\n')),
  ].join('\n');
}

const bold = (text: string): string => `**${text}**`;

function rowText(row: CellRow): string {
  if (row.kind === 'variant') {
    const { variant, numbers, verdict } = row;
    return tableRow([`↳ ${remarkupCell(variant)}`, ...numbers, ...(verdict ? [verdict] : [])]);
  }
  const { result, numbers, verdict } = row;
  const name = remarkupCell(cellName(result.cell));
  if (verdict === undefined) return tableRow([name, ...numbers]);
  return tableRow([`${symbols[verdict.kind]} ${name}`, ...numbers, verdict.kind]);
}

const tableRow = (columns: readonly string[]): string => `| ${columns.join(' | ')} |`;

const mostReasons = 20;

/** Reasons in lines of their own: there is no room for sentences in the table. */
function whyInvalid(cells: readonly CellResult[]): string[] {
  const lines = cells.flatMap(({ cell, verdict }) =>
    verdict.kind === 'invalid'
      ? `- ${remarkupText(cellName(cell))} is invalid: ${remarkupText(verdict.reason)}`
      : [],
  );
  if (lines.length === 0) return [];
  const rest = lines.length - mostReasons;
  const more = rest > 0 ? [`- ${rest} more cells are invalid`] : [];
  return [[...lines.slice(0, mostReasons), ...more].join('\n')];
}

const plot = ({ image }: RemarkupLinks): string[] =>
  image === undefined
    ? []
    : [`{${image}, size=full, alt=the changes of all cells and their intervals}`];

function patchLine({ patch }: Result): string {
  const diff = patch.kind === 'revision' ? ` diff ${patch.diff}` : '';
  return `patch: ${patchName(patch)}${diff}, ${plainLine(patch.title)}, by ${plainLine(patch.author)}`;
}

/** In blocks that scroll, but for what no reader may miss and for tables; a block of code does not break lines. */
function sectionText(section: Section, result: Result, previous: Section | undefined): string {
  switch (section.kind) {
    case 'notice':
      return [section.title, ...section.lines.map((line) => `- ${line}`)].join('\n');
    case 'lines':
      return scrolled(section.title, section.lines);
    case 'other-metric': {
      const { metric, cells } = section;
      return `By ${metricName(metric)}:\n\n${table(result.policy, cells, metric)}`;
    }
    case 'environment':
      return scrolled('environment', [patchLine(result), ...section.lines]);
    case 'reading': {
      const sentences = section.paragraphs.flatMap((text) => text.split(/(?<=[.;]) /));
      const meanings = section.meanings.map(([verdict, meaning]) => `${verdict}: ${meaning}`);
      return scrolled('how to read this', [...sentences, ...meanings]);
    }
    case 'why':
      return scrolled('why', section.cells.flatMap(whyOfCell));
    case 'ministat': {
      const { name, note, text } = section;
      const block = remarkupBlock(name, text);
      // The note once for all blocks in a row that have the same.
      const isSaid = previous?.kind === 'ministat' && previous.note === note;
      return note === undefined || isSaid ? block : `${note}\n\n${block}`;
    }
  }
}

/** All functions that moved. */
const whyOfCell = (cell: CellResult): string[] => [
  `${cellName(cell.cell)}: ${groundsText(cell, plain)}`,
  ...(cell.reason?.movers ?? []).map((mover) => {
    const module = mover.module === undefined ? '' : ` (${plain.code(mover.module, 80)})`;
    return `  ${functionName(mover, plain)}${module} ${changeText(mover)}`;
  }),
];

const scrolled = (name: string, lines: readonly string[]): string =>
  remarkupBlock(name, lines.join('\n'), 8);

function within(main: string[], parts: string[], links: RemarkupLinks): string {
  const { rerun, details, history, page } = links;
  const end = [
    rerun && `Rerun: ${remarkupText(rerun)}`,
    page && link('the whole report', page),
    details && link('details', details),
    history && link('history', history),
  ].filter(Boolean);
  const sizeOf = (text: string) => Buffer.byteLength(text);
  return fitted(main, parts, end.join(' · '), { most: mostBytes, sizeOf });
}

function link(text: string, address: string): string {
  const url = pageUrl(address);
  return url === undefined ? remarkupText(address) : `[[ ${url} | ${text} ]]`;
}
