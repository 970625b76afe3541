// Builds the parts of a page: tables, lists, folds and verdict symbols.

import { plainLine } from '../model/escape.ts';
import type { CellVerdict } from '../model/result.ts';
import { looks } from './interval-plot.ts';
import { type Html, html, type Piece } from './markup.ts';

type Table = {
  caption: Piece;
  heads: readonly { text: string; isNumber?: boolean }[];
  rows: readonly (readonly Piece[])[];
};

export function table({ caption, heads, rows }: Table): Html {
  const classAt = (index: number) => heads[index]?.isNumber === true && html` class="number"`;
  const head = heads.map(({ text }, index) => html`<th scope="col"${classAt(index)}>${text}</th>`);
  const body = rows.map(
    ([first, ...others]) =>
      html`<tr><th scope="row"${classAt(0)}>${first}</th>${others.map(
        (piece, index) => html`<td${classAt(index + 1)}>${piece}</td>`,
      )}</tr>\n`,
  );
  return scrolling(
    html`<table><caption><span>${caption}</span></caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body}</tbody></table>`,
  );
}

/** Focusable, for scrolling by keyboard. */
export const scrolling = (piece: Html): Html => html`<div class="scroll" tabindex="0">${piece}</div>\n`;

export const bullets = (items: readonly Piece[]): Html | undefined =>
  items.length === 0 ? undefined : html`<ul>${items.map((one) => html`<li>${one}</li>`)}</ul>\n`;

export const fold = (summary: Piece, body: Piece): Html =>
  html`<details><summary>${summary}</summary>\n${body}</details>\n`;

export const preformatted = (text: string): Html =>
  scrolling(html`<pre>${text.split('\n').map((line) => html`${line}\n`)}</pre>`);

/** Untrusted names and values. */
export const factList = (facts: readonly (readonly [string, string])[]): Html => html`<dl>
${facts.map(([key, value]) => html`<div><dt>${breakable(plainLine(key))}</dt><dd>${plainLine(value, 500)}</dd></div>\n`)}</dl>
`;

/** `2026-11-20 12:00:00 UTC`. */
export const timeText = (at: string): string => `${at.slice(0, 'YYYY-MM-DDTHH:MM:SS'.length).replace('T', ' ')} UTC`;

/** Trusted text with backticks around code. */
export const withCode = (text: string): Piece =>
  text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));

/** Wraps a long name after dots and slashes, and within a word only if that is too long. */
export const breakable = (name: string): Piece =>
  name.split(/(?<=[./])/).map((part, index) => (index === 0 ? part : html`<wbr>${part}`));

export const mark = (verdict: CellVerdict['kind']): Html =>
  html`<svg class="mark ${verdict}" viewBox="-8 -8 16 16" aria-hidden="true"><path d="${looks[verdict].symbol}"/></svg>`;
