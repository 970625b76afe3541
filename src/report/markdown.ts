// Renders a comment in GitHub's Markdown: untrusted text appears in code only.

import { codeBlock, codeSpan, pageUrl } from '../model/escape.ts';
import { type Block, type CommentDocument, type Markup, symbols, type Table, type Text, written } from './document.ts';
import { fitted, rowsThatFit } from './fit-to-limit.ts';

/** GitHub's limit, minus space for our record of earlier pushes. */
export const maxCharacters = 65_536 - 12_288;

export const writeMarkdown = ({ headline, main, remarks, details, footer }: CommentDocument): string =>
  fitted(
    {
      main: [`### ${line(headline)}`, ...main.map(block)],
      remarks: remarks.map(block),
      details: details.map(({ fold, title, blocks }) => ({
        fold,
        text: [`**${title}**`, ...blocks.map(block)].join('\n\n'),
      })),
      toFold: (name, texts) => `<details><summary>${name}</summary>\n\n${texts.join('\n\n')}\n\n</details>`,
      end: footer.length > 0 ? `<sub>${footer.map(line).join(' · ')}</sub>` : '',
    },
    { most: maxCharacters, sizeOf: (text) => text.length },
  );

const line = (text: Text): string => written(text, markup);

const markup: Markup = {
  own: (words) => words,
  quoted: ({ text, most }) => codeSpan(text, most),
  code: ({ text, most }) => codeSpan(text, most),
  name: ({ text }) => text,
  strong: ({ text }) => `**${line(text)}**`,
  mark: ({ verdict }) => symbols[verdict],
  link: ({ text, address }) => link(text, pageUrl(address)),
  graphs: ({ before, links }) =>
    `${before}${links.map(({ text, address }) => link(text, fileOrPage(address))).join(' · ')}`,
  styled: ({ text }) => line(text),
  lines: ({ lines }) => lines.map(line).join(', '),
};

/** Returns only the text if the address is invalid. */
const link = (text: string, url: string | undefined): string => (url === undefined ? text : `[${text}](${url})`);

const fileOrPage = (address: string): string | undefined => (/^\w[\w./-]*$/.test(address) ? address : pageUrl(address));

function block(one: Block): string {
  switch (one.kind) {
    case 'paragraph':
      return line(one.text);
    case 'list':
      return [...(one.title ? [line(one.title)] : []), ...one.items.map((item) => `- ${line(item)}`)].join('\n');
    case 'table':
      return table(one);
    case 'code':
      return codeBlock(one.text);
    case 'cells':
      return rowsThatFit(one.cells, ({ blocks }) => `${blocks.map(block).join('\n\n')}\n`)
        .join('\n')
        .trimEnd();
    case 'picture': {
      const url = fileOrPage(one.image);
      return url === undefined ? '' : `![${one.alt}](${url})`;
    }
    case 'heading':
    case 'fold':
    case 'drawing':
    case 'facts':
      return '';
  }
}

function table({ columns, groups, isLimited }: Table): string {
  const toRows = ({ rows }: (typeof groups)[number]) => rows.map((row) => tableRow(row.map(line))).join('\n');
  return [
    tableRow(columns.map(({ head }) => head)),
    `|${columns.map(({ isNumber }) => (isNumber ? '--:' : '---')).join('|')}|`,
    ...(isLimited ? rowsThatFit(groups, toRows) : groups.map(toRows)),
  ].join('\n');
}

const tableRow = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
