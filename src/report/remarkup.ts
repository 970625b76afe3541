// The comment on a revision of Phabricator, in Remarkup, which folds nothing and escapes nothing: texts of others stand in code only.

import { pageUrl, plain, plainLine } from '../model/escape.ts';
import { patchName } from '../model/patch.ts';
import {
  remarkup,
  remarkupBlock,
  remarkupCell,
  remarkupText,
  remarkupWords,
} from '../model/remarkup.ts';
import type { CellResult, Metric, Policy, Result } from '../model/result.ts';
import { cellName } from '../model/scenario.ts';
import { type CellRow, cellColumns, cellRows, verdictTexts } from './cell-rows.ts';
import {
  changeText,
  type Explained,
  flamegraphsText,
  functionName,
  type GraphLinks,
  groundsText,
  whyLines,
} from './change-reason.ts';
import { fitted, rowsThatFit } from './fit-to-limit.ts';
import { sentence } from './headline.ts';
import { meaningOf, nextStep } from './next-steps.ts';
import {
  type CommonSection,
  failureSaid,
  failureText,
  invalidLines,
  otherMetricTitle,
  rule,
  type Section,
  sectionsOf,
  setting,
} from './sections.ts';

/** What only the place of publication knows. */
export type RemarkupLinks = {
  /** Name of the plot as it was uploaded, in PNG: `F123`. */
  image?: string;
  /** URL of the job or the report. */
  details?: string;
  /** URL of what was measured before. */
  history?: string;
  /** How to ask for it again, as people type it: `@ppsgate rerun`. */
  rerun?: string;
  /** How to ask for more runs: `@ppsgate extend`. */
  goOn?: string;
} & GraphLinks;

/** Most bytes in UTF-8. Phabricator takes more, and sends it to everybody by mail. */
const mostBytes = 100_000;

/** Renders at most 100 kB: what does not fit is left out from the end, ministat first, and said. */
export function renderRemarkup(result: Result, links: RemarkupLinks = {}): string {
  const { patch } = result;
  const { symbol, text } = sentence(result, remarkupText);
  const name = patch.kind === 'revision' ? `diff ${patch.diff}` : patchName(patch);
  const verdict = `**${symbol} ppsgate: ${remarkupText(name)} ${text}**`;
  const parts = sectionsOf(result, remarkup, plain).map((section, index, all) =>
    sectionText(section, result, all[index - 1]),
  );
  return within([verdict, ...mainParts(result, links), setting(result, remarkup)], parts, links);
}

/** Symbol and text are of our own making, like `⚪` and `not measured: cancelled`; `said` is the sentence behind it. */
export function renderRemarkupFailure(
  { symbol, text, said }: { symbol: string; text: string; said: string },
  links: RemarkupLinks = {},
): string {
  const heading = `**${remarkupWords(symbol)} ppsgate: ${remarkupWords(text)}**`;
  return within([heading, remarkupBlock('what was said', said, 20)], [], links);
}

function mainParts(result: Result, links: RemarkupLinks): string[] {
  const { outcome } = result;
  switch (outcome.kind) {
    case 'judged':
      return judged(result, outcome.cells, links);
    case 'unchanged':
      return meaning(result, links);
    default:
      return [
        failureText(outcome, remarkup),
        remarkupBlock('what was said', failureSaid(outcome), 20),
        nextLine(result, links),
      ];
  }
}

const meaning = (result: Result, links: RemarkupLinks): string[] =>
  [meaningOf(result), nextLine(result, links)].filter((line) => line !== undefined);

function judged(result: Result, cells: readonly CellResult[], links: RemarkupLinks): string[] {
  const { policy } = result;
  const invalid = invalidLines(cells, remarkup).map((line) => `- ${line}`);
  return [
    ...meaning(result, links),
    table(policy, cells, policy.metric),
    ...(invalid.length > 0 ? [invalid.join('\n')] : []),
    ...whyLines(cells, remarkup, (cell) => flamegraphsText(cell, links, link)),
    ...plot(links),
    rule(policy),
  ];
}

const nextLine = (result: Result, { goOn }: RemarkupLinks): string =>
  `**What now:** ${nextStep(result, goOn && remarkupText(goOn))}`;

/**
 * The worst cells first when there is no room for all. A phone has room for four narrow columns: a cell and its verdict
 * share one, and so do base and patched. Colons for alignment would make the heads plain cells.
 */
function table(policy: Policy, cells: readonly CellResult[], metric: Metric): string {
  const columns = cellColumns(policy, metric).map(({ head }) => head);
  const first = metric === policy.metric ? 'cell and verdict' : 'cell';
  const heads = [first, ...narrowed(columns.slice(-4))];
  return [
    tableRow(heads),
    tableRow(heads.map(() => '---')),
    ...rowsThatFit(cells, (cell) => cellRows(cell, metric, policy, bold).map(rowText).join('\n')),
  ].join('\n');
}

/** Change, base, patched and runs, with base and patched as one. */
function narrowed([change = '', base = '', patched = '', runs = '']: readonly string[]): string[] {
  const isNothing = base === '–' && patched === '–';
  // `9 + 10 of 10 + 10` may break in its middle.
  const counts = runs.replace('\u00a0of', ' of');
  return [change, isNothing ? '–' : `${base} → ${patched}`, counts];
}

export const bold = (text: string): string => `**${text}**`;

function rowText(row: CellRow): string {
  const name =
    row.kind === 'variant'
      ? `↳ ${remarkupCell(row.variant)}`
      : remarkupCell(cellName(row.result.cell));
  return tableRow([[name, ...verdictTexts(row)].join(' '), ...narrowed(row.numbers)]);
}

export const tableRow = (columns: readonly string[]): string => `| ${columns.join(' | ')} |`;

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
    case 'other-metric': {
      const { metric, cells } = section;
      return `By ${otherMetricTitle(metric)}:\n\n${table(result.policy, cells, metric)}`;
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
    default:
      return commonSection(section, previous);
  }
}

/** A section that a report of anything may have. */
export function commonSection(section: CommonSection, previous?: Section): string {
  switch (section.kind) {
    case 'notice':
      return [section.title, ...section.lines.map((line) => `- ${line}`)].join('\n');
    case 'lines':
      return scrolled(section.title, section.lines);
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
export const whyOfCell = (cell: Explained): string[] => [
  `${cellName(cell.cell)}: ${groundsText(cell, plain)}`,
  ...(cell.reason?.changedFunctions ?? []).map((changedFunction) => {
    const module =
      changedFunction.module === undefined ? '' : ` (${plain.code(changedFunction.module, 80)})`;
    return `  ${functionName(changedFunction, plain)}${module} ${changeText(changedFunction)}`;
  }),
];

export const scrolled = (name: string, lines: readonly string[]): string =>
  remarkupBlock(name, lines.join('\n'), 8);

/** At most what a comment may have, with what is told below it. */
export function within(main: string[], parts: string[], links: RemarkupLinks): string {
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

/** The address in code where it is none of a page. */
export function link(text: string, address: string): string {
  const url = pageUrl(address);
  return url === undefined ? remarkupText(address) : `[[ ${url} | ${text} ]]`;
}
