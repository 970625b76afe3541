// Renders a comment in Remarkup, which has neither folds nor escapes: untrusted text appears in code only.

import { pageUrl, plainBlock } from '../model/escape.ts';
import { remarkupAlt, remarkupBlock, remarkupCell, remarkupText, remarkupWords } from '../model/remarkup.ts';
import {
  type Block,
  type CommentDocument,
  type Markup,
  plainText,
  symbols,
  type Table,
  type Text,
  written,
} from './document.ts';
import { fitted, rowsThatFit } from './fit-to-limit.ts';

/** In bytes of UTF-8. Phabricator accepts more, but mails it to every subscriber. */
const maxBytes = 100_000;

export const writeRemarkup = ({ headline, main, remarks, details, footer }: CommentDocument): string =>
  within({ main: [`**${line(headline)}**`, ...main.map(block)], remarks, details, footer });

/** Symbol and text are trusted, like `⚪` and `not measured: cancelled`; `message` is the sentence behind it. */
export const remarkupFailure = (
  { symbol, text, message }: { symbol: string; text: string; message: string },
  footer: readonly Text[],
): string => {
  const heading = `**${remarkupWords(symbol)} ppsgate: ${remarkupWords(text)}**`;
  const main = [heading, remarkupBlock('output', message, 20)];
  return within({ main, remarks: [], details: [], footer });
};

type Comment = Omit<CommentDocument, 'headline' | 'main'> & { main: readonly string[] };

const within = ({ main, remarks, details, footer }: Comment): string =>
  fitted(
    {
      main,
      remarks: remarks.map(block),
      details: details.map(({ fold, title, blocks }) => ({
        fold,
        text: plainBlock([title, ...blocks.flatMap(linesOf).map(indented)].join('\n'), 12_000),
      })),
      toFold: (name, texts) => remarkupBlock(name, texts.join('\n\n'), 8, maxBytes),
      end: footer.map(line).join(' · '),
    },
    { most: maxBytes, sizeOf: (text) => Buffer.byteLength(text) },
  );

const indented = (text: string): string => `  ${text}`.trimEnd();

const line = (text: Text): string => written(text, markup);

const markup: Markup = {
  own: ownWords,
  quoted: ({ text, most }) => remarkupText(text, most),
  code: ({ text, most }) => remarkupText(text, most),
  name: ({ text }) => remarkupText(text),
  strong: ({ text }) => `**${line(text)}**`,
  mark: ({ verdict }) => symbols[verdict],
  link: ({ text, address }) => link(text, address),
  graphs: ({ before, links }) => `${before}${links.map(({ text, address }) => link(text, address)).join(' · ')}`,
  styled: ({ text }) => line(text),
  lines: ({ lines }) => lines.map(line).join(', '),
};

const inCell: Markup = {
  ...markup,
  quoted: ({ text, most }) => remarkupCell(text, most),
  code: ({ text, most }) => remarkupCell(text, most),
  name: ({ text }) => remarkupCell(text),
  strong: ({ text }) => `**${written(text, inCell)}**`,
  styled: ({ text }) => written(text, inCell),
};

/** A plain commit id would become a link to any commit with that prefix. */
function ownWords(words: string): string {
  return words
    .split('`')
    .map((part, index) =>
      index % 2 === 1 ? remarkupText(part) : part.replace(/\b[0-9a-f]{12,64}\b/g, (id) => remarkupText(id)),
    )
    .join('');
}

function link(text: string, address: string): string {
  const url = pageUrl(address);
  return url === undefined ? remarkupText(address) : `[[ ${url} | ${text} ]]`;
}

function block(one: Block): string {
  switch (one.kind) {
    case 'paragraph':
      return line(one.text);
    case 'list':
      return [...(one.title ? [line(one.title)] : []), ...one.items.map((item) => `- ${line(item)}`)].join('\n');
    case 'table':
      return table({ ...one, ...one.narrow });
    case 'code':
      return remarkupBlock(one.name, one.text, 20);
    case 'cells':
      return one.cells.flatMap(({ blocks }) => blocks.map((inner) => block(inner))).join('\n\n');
    case 'picture':
      return `{${one.image}, size=full, alt=${remarkupAlt(one.alt)}}`;
    case 'heading':
    case 'fold':
    case 'drawing':
    case 'facts':
      return '';
  }
}

/** Colons for alignment would turn the heads into plain cells. */
function table({ columns, groups, isLimited }: Table): string {
  const toRows = ({ rows }: (typeof groups)[number]) =>
    rows.map((row) => tableRow(row.map((cell) => written(cell, inCell)))).join('\n');
  return [
    tableRow(columns.map(({ head }) => head)),
    tableRow(columns.map(() => '---')),
    ...(isLimited ? rowsThatFit(groups, toRows) : groups.map(toRows)),
  ].join('\n');
}

const tableRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** Uses plain lines, as a scrolling code block holds no markup. It does not wrap, so each sentence gets a line. */
function linesOf(one: Block): string[] {
  switch (one.kind) {
    case 'paragraph':
      return plainText(one.text).split(/(?<=[.;]) /);
    case 'list':
      return one.items.map(plainText);
    case 'table':
      return one.lines?.map(plainText) ?? alignedRows(one);
    case 'code':
      return one.text.split('\n');
    case 'cells':
      return one.cells.flatMap(({ blocks }) => blocks.flatMap(linesOf));
    default:
      return [];
  }
}

/** Columns of equal width, numbers to the right. */
function alignedRows({ columns, groups, isLimited }: Table): string[] {
  const toRow = (row: readonly Text[]) => row.map((cell) => plainText(cell).replaceAll('\u00a0', ' '));
  const heads = columns.map(({ head }) => head);
  const all = groups.map(({ weight, rows }) => ({ weight, rows: rows.map(toRow) }));
  const widths = [heads, ...all.flatMap(({ rows }) => rows)].reduce(
    (most, row) => row.map((text, index) => Math.max(text.length, most[index] ?? 0)),
    [] as number[],
  );
  const toLine = (row: readonly string[]) =>
    row
      .map((text, index) =>
        columns[index]?.isNumber ? text.padStart(widths[index] ?? 0) : text.padEnd(widths[index] ?? 0),
      )
      .join('  ')
      .trimEnd();
  const toLines = ({ rows }: (typeof all)[number]) => rows.map(toLine).join('\n');
  const lines = isLimited ? rowsThatFit(all, toLines) : all.map(toLines);
  return [toLine(heads), ...lines.flatMap((line) => line.split('\n'))];
}
