// The comment: the verdict in one line, the table of all cells, and what an author wants to know folded below.

import { codeBlock, codeSpan, pageUrl, type Quoting } from '../model/escape.ts';
import { formatShare } from '../model/format.ts';
import { type Patch, patchName } from '../model/patch.ts';
import type { CellResult, ChangedFunction, Metric, Policy, Result } from '../model/result.ts';
import { cellName } from '../model/scenario.ts';
import { type CellRow, cellColumns, cellRows, unbroken, verdictTexts } from './cell-rows.ts';
import {
  costText,
  type Explained,
  flamegraphsText,
  functionName,
  type GraphLinks,
  groundsText,
  pointsText,
  whyLines,
} from './change-reason.ts';
import { fitted, rowsThatFit } from './fit-to-limit.ts';
import { headline } from './headline.ts';
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

/** GitHub refuses a comment of more characters; what ours remembers of earlier pushes needs some. */
export const mostCharacters = 65_536 - 12_288;

/** What only the place of publication knows. */
export type ReportLinks = {
  /** Markdown of our own: how to rerun, where the raw data is. */
  rerun?: string;
  /** How to ask for more runs. */
  goOn?: string;
  rawData?: string;
  /** URL of a picture of the whole, or the name of one that lies beside it. */
  image?: string;
  /** What the job that measured said of the result and was not verified, in sentences. */
  corrections?: readonly string[];
} & GraphLinks;

/** Renders at most `mostCharacters`: what does not fit is left out from the end, and said. */
export function renderMarkdown(result: Result, links: ReportLinks = {}): string {
  const sections = sectionsOf(result, markdown, markdown);
  return fitted(
    [`### ${headline(result)}`, ...mainParts(result, links), setting(result, markdown)],
    [...corrections(links), ...sections.map((section) => sectionText(section, result, links))],
    footer(links),
    { most: mostCharacters, sizeOf: (text) => text.length },
  );
}

function mainParts(result: Result, links: ReportLinks): string[] {
  const { outcome, policy } = result;
  const next = `**What now:** ${nextStep(result, links.goOn)}`;
  const meaning = [meaningOf(result), next].filter((line) => line !== undefined);
  switch (outcome.kind) {
    case 'judged':
      return [
        ...meaning,
        table(policy, outcome.cells, policy.metric),
        ...invalidLines(outcome.cells, markdown).map((line) => `- ${line}`),
        ...whyLines(outcome.cells, markdown, (cell) => flamegraphsText(cell, links, graphLink)),
        rule(policy),
      ];
    case 'unchanged':
      return meaning;
    default:
      return [`${failureText(outcome, markdown)}\n\n${codeBlock(failureSaid(outcome))}`, next];
  }
}

export const markdown: Quoting = { code: codeSpan, name: (name) => name };

function table(policy: Policy, cells: readonly CellResult[], metric: Metric): string {
  const columns = cellColumns(policy, metric);
  return [
    tableRow(columns.map(({ head }) => head)),
    `|${columns.map(({ isNumber }) => (isNumber ? '--:' : '---')).join('|')}|`,
    ...rowsThatFit(cells, (cell) => cellRows(cell, metric, policy, bold).map(rowText).join('\n')),
  ].join('\n');
}

export const bold = (text: string): string => `**${text}**`;

function rowText(row: CellRow): string {
  const name = row.kind === 'variant' ? `↳ ${codeSpan(row.variant)}` : cellName(row.result.cell);
  return tableRow([name, ...verdictTexts(row), ...row.numbers]);
}

export const tableRow = (columns: readonly string[]): string =>
  `| ${columns.map((column) => column.replaceAll('|', '\\|')).join(' | ')} |`;

export const corrections = ({ corrections = [] }: ReportLinks): string[] =>
  corrections.length === 0
    ? []
    : [
        details(
          'said otherwise where it was measured, and not verified',
          bullets(corrections.map((sentence) => codeSpan(sentence, 500))),
        ),
      ];

/** Folded, but for what no reader may miss; each ministat by itself, so that it can be left out alone. */
function sectionText(section: Section, { policy, patch }: Result, links: ReportLinks): string {
  switch (section.kind) {
    case 'other-metric':
      return details(
        otherMetricTitle(section.metric),
        table(policy, section.cells, section.metric),
      );
    case 'environment':
      return details('environment', bullets([patchLine(patch), ...section.lines]));
    case 'reading': {
      const meanings = section.meanings.map(([verdict, meaning]) => `${bold(verdict)}: ${meaning}`);
      return details('how to read this', [...section.paragraphs, bullets(meanings)].join('\n\n'));
    }
    case 'why': {
      const cells = rowsThatFit(section.cells, (cell) => `${whyOfCell(cell, links)}\n`);
      return details('why', cells.join('\n').trimEnd());
    }
    default:
      return commonSection(section);
  }
}

/** A section that a report of anything may have. */
export function commonSection(section: CommonSection): string {
  switch (section.kind) {
    case 'notice':
      return `${section.title}\n${bullets(section.lines)}`;
    case 'lines':
      return details(section.title, bullets(section.lines));
    case 'ministat': {
      const { name, note, text } = section;
      const block = codeBlock(text, 6000);
      return details(name, note === undefined ? block : `${note}\n\n${block}`);
    }
  }
}

/** All functions that moved, and what tells so. */
export function whyOfCell(cell: Explained, links: ReportLinks): string {
  const grounds = `${cellName(cell.cell)}: ${groundsText(cell, markdown)}`;
  const head = [grounds, flamegraphsText(cell, links, graphLink)].filter(Boolean).join(' · ');
  const changedFunctions = cell.reason?.changedFunctions ?? [];
  return changedFunctions.length === 0
    ? head
    : `${head}\n\n${changedFunctionTable(changedFunctions)}`;
}

const changedFunctionTable = (changedFunctions: readonly ChangedFunction[]): string =>
  [
    '| function | per packet | change | base | patched | module |',
    '|---|--:|--:|--:|--:|---|',
    ...changedFunctions.map(changedFunctionRow),
  ].join('\n');

function changedFunctionRow(changedFunction: ChangedFunction): string {
  const { module, baseRatio, patchedRatio } = changedFunction;
  const numbers = [
    costText(changedFunction),
    pointsText(changedFunction),
    `${formatShare(baseRatio)} %`,
    `${formatShare(patchedRatio)} %`,
  ].map(unbroken);
  return tableRow([
    functionName(changedFunction, markdown),
    ...numbers,
    module ? codeSpan(module, 80) : '–',
  ]);
}

function patchLine(patch: Patch): string {
  const title = codeSpan(patch.title);
  const by = `by ${codeSpan(patch.author)}`;
  if (patch.kind !== 'revision') return `patch: ${title} ${by}`;
  return `patch: ${link(patchName(patch), patch.url)} diff ${patch.diff}, ${title} ${by}`;
}

/** The text alone where the address is none of a page. */
function link(text: string, address: string): string {
  const url = pageUrl(address);
  return url === undefined ? text : `[${text}](${url})`;
}

/** A link to a page, or to a file beside the report. */
export const graphLink = (text: string, address: string): string =>
  /^\w[\w./-]*$/.test(address) ? `[${text}](${address})` : link(text, address);

/** What is told below a report. */
export function footer({ rerun, rawData, page }: ReportLinks): string {
  const parts = [
    rerun && `Rerun: ${rerun}`,
    rawData && `Raw data: ${rawData}`,
    page && link('the whole report', page),
  ].filter(Boolean);
  return parts.length > 0 ? `<sub>${parts.join(' · ')}</sub>` : '';
}

export const details = (summary: string, body: string): string =>
  `<details><summary>${summary}</summary>\n\n${body}\n\n</details>`;

export const bullets = (lines: readonly string[]): string =>
  lines.map((line) => `- ${line}`).join('\n');
