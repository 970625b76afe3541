// The comment: the verdict in one line, the table of all cells, and what an author wants to know folded below.

import { codeBlock, codeSpan, pageUrl, type Quoting } from '../words/escape.ts';
import { formatDifference, formatShare, metricName } from '../words/format.ts';
import { type Patch, patchName } from '../words/patch.ts';
import type { CellResult, CellVerdict, Metric, Mover, Policy, Result } from '../words/result.ts';
import { cellName } from '../words/scenario.ts';
import { type CellRow, cellColumns, cellRows, unbroken } from './cell-rows.ts';
import { fitted, rowsThatFit } from './fitting.ts';
import { headline, symbols } from './headline.ts';
import { failureSaid, failureText, rule, type Section, sectionsOf, setting } from './sections.ts';
import {
  flamegraphsText,
  functionName,
  type GraphLinks,
  groundsText,
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
  const { outcome, policy } = result;
  const main =
    outcome.kind === 'judged'
      ? [
          rule(policy),
          table(policy, outcome.cells, policy.metric),
          ...whyLines(outcome.cells, markdown, (cell) => flamegraphsText(cell, links, graphLink)),
        ]
      : [`${failureText(outcome, markdown)}\n\n${codeBlock(failureSaid(outcome))}`];
  const sections = sectionsOf(result, markdown, markdown);
  return fitted(
    [`### ${headline(result)}`, setting(result, markdown), ...main],
    [...corrections(links), ...sections.map((section) => sectionText(section, result, links))],
    footer(links),
    { most: mostCharacters, sizeOf: (text) => text.length },
  );
}

const markdown: Quoting = { code: codeSpan, name: (name) => name };

function table(policy: Policy, cells: readonly CellResult[], metric: Metric): string {
  const columns = cellColumns(policy, metric);
  return [
    tableRow(columns),
    `|${alignments.slice(0, columns.length).join('|')}|`,
    ...rowsThatFit(cells, (cell) => cellRows(cell, metric, policy, bold).map(rowText).join('\n')),
  ].join('\n');
}

const alignments = ['---', '--:', '--:', '--:', ':-:', '--:', '---'];

const bold = (text: string): string => `**${text}**`;

/** The symbol stands first: on a phone the last columns are out of sight. */
function rowText(row: CellRow): string {
  if (row.kind === 'variant') {
    const { variant, numbers, verdict } = row;
    return tableRow([`↳ ${codeSpan(variant)}`, ...numbers, ...(verdict ? [verdict] : [])]);
  }
  const { result, numbers, verdict } = row;
  const name = cellName(result.cell);
  if (verdict === undefined) return tableRow([name, ...numbers]);
  return tableRow([`${symbols[verdict.kind]} ${name}`, ...numbers, verdictText(verdict)]);
}

function verdictText(verdict: CellVerdict): string {
  const reason = verdict.kind === 'invalid' ? `: ${codeSpan(verdict.reason, 200)}` : '';
  return `${verdict.kind}${reason}`;
}

const tableRow = (columns: readonly string[]): string =>
  `| ${columns.map((column) => column.replaceAll('|', '\\|')).join(' | ')} |`;

const corrections = ({ corrections = [] }: ReportLinks): string[] =>
  corrections.length === 0
    ? []
    : [
        details(
          'said otherwise where it was measured, and not believed',
          bullets(corrections.map((sentence) => codeSpan(sentence, 500))),
        ),
      ];

/** Folded, but for what no reader may miss; each ministat by itself, so that it can be left out alone. */
function sectionText(section: Section, { policy, patch }: Result, links: ReportLinks): string {
  switch (section.kind) {
    case 'notice':
      return `${section.title}\n${bullets(section.lines)}`;
    case 'lines':
      return details(section.title, bullets(section.lines));
    case 'other-metric':
      return details(metricName(section.metric), table(policy, section.cells, section.metric));
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
    case 'ministat': {
      const { name, note, text } = section;
      const block = codeBlock(text, 6000);
      return details(name, note === undefined ? block : `${note}\n\n${block}`);
    }
  }
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
const graphLink = (text: string, address: string): string =>
  /^\w[\w./-]*$/.test(address) ? `[${text}](${address})` : link(text, address);

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

const bullets = (lines: readonly string[]): string => lines.map((line) => `- ${line}`).join('\n');
