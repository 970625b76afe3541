// Renders a page as one self-contained HTML file.

import { pageUrl, plainBlock, plainLine } from '../model/escape.ts';
import {
  type Block,
  type Markup,
  type PageDocument,
  type PageSection,
  type Table,
  type Text,
  written,
} from './document.ts';
import { htmlDocument } from './html-document.ts';
import { breakable, bullets, factList, fold, mark, preformatted, table, withCode } from './html-pieces.ts';
import { Html, html } from './markup.ts';

/** About twice the page of the longest experiments, with flamegraphs. */
const maxCharacters = 16 * 1024 ** 2;

/** Throws a RangeError for a page that is too large for a browser. */
export function writeHtml(page: PageDocument): string {
  const { title, sections, version, hasGraphs } = page;
  const body = html`${header(page)}<main>
${sections.map(sectionOf)}</main>
<footer>ppsgate ${plainLine(version)}, from <code>result.json</code></footer>
`;
  const text = htmlDocument({ title, body, hasGraphs });
  if (text.length <= maxCharacters) return text;
  throw new RangeError(`a page of ${text.length} characters is not written, the limit is ${maxCharacters}`);
}

const header = ({ verdict, headline, head, contents }: PageDocument): Html =>
  html`<header class="${verdict}">
<p class="name">ppsgate</p>
<h1>${mark(verdict)} ${line(headline)}</h1>
${head.map(block)}${contents.length > 0 && html`<nav aria-label="Contents">${bullets(contents.map(line))}</nav>\n`}</header>
`;

const sectionOf = ({ id, heading, blocks }: PageSection): Html => html`<section id="${id}">
<h2>${line(heading)}</h2>
${blocks.map(block)}</section>
`;

const line = (text: Text): Html => new Html(written(text, markup));

const markup: Markup = {
  own: (words) => html`${withCode(words)}`.markup,
  quoted: ({ text, most }) => html`${plainLine(text, most)}`.markup,
  code: ({ text, most, is }) =>
    html`<code${is === 'id' && html` class="id"`}>${is === 'path' ? breakable(plainLine(text)) : plainLine(text, most)}</code>`
      .markup,
  name: ({ text }) => html`${text}`.markup,
  strong: ({ text, verdict }) =>
    verdict === undefined
      ? html`<strong>${line(text)}</strong>`.markup
      : html`<b class="${verdict}">${line(text)}</b>`.markup,
  mark: ({ verdict }) => mark(verdict).markup,
  link: ({ text, address }) => link(text, address).markup,
  graphs: ({ before, links }) =>
    html`${before}${links.map(({ text, address }) => html`${link(text, address)} `)}`.markup,
  styled: ({ style, text }) => html`<span class="${style}">${line(text)}</span>`.markup,
  lines: ({ lines }) => html`${lines.map((one) => html`<div>${line(one)}</div>`)}`.markup,
};

function link(text: string, address: string): Html {
  const url = /^#[\w.-]+$/.test(address) ? address : pageUrl(address);
  return url === undefined ? html`${text}` : html`<a href="${url}">${text}</a>`;
}

function block(one: Block): Html {
  switch (one.kind) {
    case 'heading':
      return html`<h3>${line(one.text)}</h3>\n`;
    case 'paragraph':
      return html`<p${one.isFaint && html` class="faint"`}>${line(one.text)}</p>\n`;
    case 'list':
      return html`${one.title && html`<p>${line(one.title)}</p>\n`}${bullets(one.items.map(line))}`;
    case 'table':
      return tableOf(one);
    case 'code':
      return preformatted(plainBlock(one.text, 20_000));
    case 'fold':
      return fold(line(one.title), one.blocks.map(block));
    case 'cells':
      return html`${one.cells.map(({ blocks }) => blocks.map(block))}`;
    case 'drawing':
      return one.drawing;
    case 'facts':
      return factList(one.facts);
    case 'picture':
      return html``;
  }
}

const tableOf = ({ caption = '', columns, groups }: Table): Html =>
  table({
    caption: line(caption),
    heads: columns.map(({ head, ...rest }) => ({ text: head, ...rest })),
    rows: groups.flatMap(({ rows }) => rows.map((row) => row.map(line))),
  });
