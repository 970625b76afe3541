// Renders a comment in Remarkup, which has neither folds nor escapes: untrusted text appears in code only.

import { pageUrl } from '../model/escape.ts';
import {
  remarkupAlt,
  remarkupBlock,
  remarkupCell,
  remarkupText,
  remarkupWords,
} from '../model/remarkup.ts';
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

/** In bytes of UTF-8. Phabricator accepts more, and mails it to every subscriber. */
const mostBytes = 100_000;

export const writeRemarkup = ({ headline, main, parts, footer }: CommentDocument): string =>
  within(
    [`**${line(headline)}**`, ...main.map((one) => block(one))],
    parts.map((part, index, all) => block(part, all[index - 1])),
    footer,
  );

/** Symbol and text are trusted, like `⚪` and `not measured: cancelled`; `said` is the sentence behind it. */
export const remarkupFailure = (
  { symbol, text, said }: { symbol: string; text: string; said: string },
  footer: readonly Text[],
): string => {
  const heading = `**${remarkupWords(symbol)} ppsgate: ${remarkupWords(text)}**`;
  return within([heading, remarkupBlock('what was said', said, 20)], [], footer);
};

const within = (main: string[], parts: string[], footer: readonly Text[]): string =>
  fitted(main, parts, footer.map(line).join(' · '), {
    most: mostBytes,
    sizeOf: (text) => Buffer.byteLength(text),
  });

const line = (text: Text): string => written(text, markup);

const markup: Markup = {
  own: ownWords,
  quoted: ({ text, most }) => remarkupText(text, most),
  code: ({ text, most }) => remarkupText(text, most),
  name: ({ text }) => remarkupText(text),
  strong: ({ text }) => `**${line(text)}**`,
  mark: ({ verdict }) => symbols[verdict],
  link: ({ text, address }) => link(text, address),
  graphs: ({ before, links }) =>
    `${before}${links.map(({ text, address }) => link(text, address)).join(' · ')}`,
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
      index % 2 === 1
        ? remarkupText(part)
        : part.replace(/\b[0-9a-f]{12,64}\b/g, (id) => remarkupText(id)),
    )
    .join('');
}

function link(text: string, address: string): string {
  const url = pageUrl(address);
  return url === undefined ? remarkupText(address) : `[[ ${url} | ${text} ]]`;
}

function block(one: Block, previous?: Block): string {
  switch (one.kind) {
    case 'paragraph':
      return line(one.text);
    case 'list':
      return [
        ...(one.title ? [line(one.title)] : []),
        ...one.items.map((item) => `- ${line(item)}`),
      ].join('\n');
    case 'table':
      return table({ ...one, ...one.narrow });
    case 'code':
      return codeOf(one, previous);
    case 'fold':
      return foldOf(plainText(one.title), one.blocks);
    case 'cells':
      return one.cells.flatMap(({ blocks }) => blocks.map((inner) => block(inner))).join('\n\n');
    case 'picture':
      return `{${one.image}, size=full, alt=${remarkupAlt(one.alt)}}`;
    case 'heading':
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

type CodeBlock = Extract<Block, { kind: 'code' }>;

/** Consecutive blocks share an equal note. */
function codeOf({ name, text, note, isFolded }: CodeBlock, previous: Block | undefined): string {
  const body = remarkupBlock(name, text, isFolded ? 12 : 20);
  const isRepeated = previous?.kind === 'code' && previous.note === note;
  return note === undefined || isRepeated ? body : `${note}\n\n${body}`;
}

/** A scrolling code block, which cannot hold tables. */
function foldOf(title: string, blocks: readonly Block[]): string {
  const lines = blocks.flatMap(linesOf);
  return blocks.some(isOpenTable)
    ? [`By ${title}:`, ...blocks.map((one) => block(one))].join('\n\n')
    : remarkupBlock(title, lines.join('\n'), 8);
}

const isOpenTable = (one: Block): boolean => one.kind === 'table' && one.lines === undefined;

/** Code blocks do not wrap, so each sentence gets a line. */
function linesOf(one: Block): string[] {
  switch (one.kind) {
    case 'paragraph':
      return plainText(one.text).split(/(?<=[.;]) /);
    case 'list':
      return one.items.map(plainText);
    case 'table':
      return (one.lines ?? []).map(plainText);
    case 'cells':
      return one.cells.flatMap(({ blocks }) => blocks.flatMap(linesOf));
    default:
      return [];
  }
}
