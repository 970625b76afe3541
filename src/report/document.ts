// Defines the document that a report is until a renderer writes it: own words are strings, text of others is marked.

import { plainLine } from '../model/escape.ts';
import type { CellVerdict } from '../model/result.ts';
import { type Cell, cellName } from '../model/scenario.ts';
import type { Html } from './markup.ts';

type Inlines = {
  /** Text of others, cut to `most` characters. A markup that cannot escape it writes it as code. */
  quoted: { text: string; most?: number };
  /** The same, as code in every markup. An id never breaks; a path may, after its slashes and dots. */
  code: { text: string; most?: number; is?: 'id' | 'path' };
  /** Name of a cell or scenario: letters, digits, spaces, `_`, `.` and `-`. */
  name: { text: string };
  /** On a page in the colour of a verdict. */
  strong: { text: Text; verdict?: CellVerdict['kind'] };
  /** The symbol of a verdict. */
  mark: { verdict: CellVerdict['kind'] };
  /** Leads to a page, or to a section of this one by `#id`. */
  link: { text: string; address: string };
  /** Leads to flamegraphs, which may lie beside the report; `before` is written only where links work. */
  graphs: { before: string; links: readonly { text: string; address: string }[] };
  /** Looks different on a page alone. */
  styled: { style: 'faint' | 'other' | 'subject'; text: Text };
  lines: { lines: readonly Text[] };
};

export type Inline = { [K in keyof Inlines]: { kind: K } & Inlines[K] }[keyof Inlines];

/** A string is words of our own, with backticks around what is typed. */
export type Text = string | Inline | readonly Text[];

export const quoted = (text: string, most?: number): Inline => ({
  kind: 'quoted',
  text,
  ...(most !== undefined && { most }),
});
export const code = (text: string, most?: number): Inline =>
  ({ ...quoted(text, most), kind: 'code' }) as Inline;
export const commitId = (text: string): Inline => ({ kind: 'code', text, is: 'id' });
export const filePath = (text: string): Inline => ({ kind: 'code', text, is: 'path' });
export const name = (text: string): Inline => ({ kind: 'name', text });
export const nameOf = (cell: Cell): Inline => name(cellName(cell));
export const strong = (text: Text): Inline => ({ kind: 'strong', text });
export const mark = (verdict: CellVerdict['kind']): Inline => ({ kind: 'mark', verdict });
export const verdictWord = (verdict: CellVerdict['kind'], text: Text = verdict): Inline => ({
  kind: 'strong',
  text,
  verdict,
});

/** `` words`${nameOf(cell)} is invalid: ${quoted(reason)}` `` */
export const words = (own: TemplateStringsArray, ...pieces: readonly Text[]): Text =>
  own.flatMap((part, index): Text[] => [part, pieces[index] ?? '']);

export const joined = (parts: readonly Text[], separator: string): Text =>
  parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]));

/** `a, b and c`. */
export const enumerated = (parts: readonly Text[]): Text =>
  joined(
    [...(parts.length > 1 ? [joined(parts.slice(0, -1), ', ')] : []), ...parts.slice(-1)],
    ' and ',
  );

export type Column = { head: string; isNumber?: true };

/** Rows that stand together, as those of one cell; of more than there is room for those of least weight stay. */
export type RowGroup = { weight: number; rows: readonly (readonly Text[])[] };

export type Table = {
  caption?: Text;
  columns: readonly Column[];
  groups: readonly RowGroup[];
  /** Leaves cells out where there are too many. */
  isLimited?: true;
  /** The same for a comment that a phone shows in full width. */
  narrow?: Pick<Table, 'columns' | 'groups'>;
  /** The same where a fold is a block of code. */
  lines?: readonly Text[];
};

export type Block =
  | { kind: 'heading'; text: Text }
  | { kind: 'paragraph'; text: Text; isFaint?: true }
  | { kind: 'list'; title?: Text; items: readonly Text[] }
  | ({ kind: 'table' } & Table)
  /** Text of others, line by line; `name` is our own. */
  | { kind: 'code'; name: string; text: string; note?: string; isFolded?: true }
  | { kind: 'fold'; title: Text; blocks: readonly Block[] }
  /** A part for each cell, of which the worst stay where there are too many. */
  | { kind: 'cells'; cells: readonly { weight: number; blocks: readonly Block[] }[] }
  /** `image` is what a forge calls it, or an address. */
  | { kind: 'picture'; image: string; alt: string }
  /** A drawing of our own for a page. */
  | { kind: 'drawing'; drawing: Html }
  | { kind: 'facts'; facts: readonly (readonly [string, string])[] };

export const heading = (text: Text): Block => ({ kind: 'heading', text });
export const paragraph = (text: Text): Block => ({ kind: 'paragraph', text });
export const faint = (text: Text): Block => ({ kind: 'paragraph', text, isFaint: true });

/** Nothing where there are no items. */
export const list = (items: readonly Text[], title?: Text): Block[] =>
  items.length === 0 ? [] : [{ kind: 'list', items, ...(title !== undefined && { title }) }];

export const foldedList = (title: string, items: readonly Text[]): Block[] =>
  items.length === 0 ? [] : [{ kind: 'fold', title, blocks: list(items) }];

/** A comment on a patch: of the parts those at the end are left out where there is no room for all. */
export type CommentDocument = {
  headline: Text;
  main: readonly Block[];
  parts: readonly Block[];
  footer: readonly Text[];
};

/** A page that holds all of a result. */
export type PageDocument = {
  title: string;
  verdict: CellVerdict['kind'];
  headline: Text;
  head: readonly Block[];
  /** Entries of the contents. */
  contents: readonly Text[];
  sections: readonly PageSection[];
  version: string;
  hasGraphs: boolean;
};

export type PageSection = { id: string; heading: Text; blocks: readonly Block[] };

/** Writes each kind of text. */
export type Markup = { own: (words: string) => string } & {
  [K in keyof Inlines]: (inline: Inlines[K]) => string;
};

export function written(text: Text, markup: Markup): string {
  if (typeof text === 'string') return markup.own(text);
  if (isSequence(text)) return text.map((one) => written(one, markup)).join('');
  const write = markup[text.kind] as (inline: Inline) => string;
  return write(text);
}

const isSequence = (text: Text): text is readonly Text[] => Array.isArray(text);

/** The text as it is read, for what needs no markup: titles, logs and blocks of code. */
export const plainText = (text: Text): string => written(text, plain);

const plain: Markup = {
  own: (words) => words,
  quoted: ({ text, most }) => plainLine(text, most),
  code: ({ text, most }) => plainLine(text, most),
  name: ({ text }) => text,
  strong: ({ text }) => plainText(text),
  mark: ({ verdict }) => symbols[verdict],
  link: ({ text }) => text,
  graphs: () => '',
  styled: ({ text }) => plainText(text),
  lines: ({ lines }) => lines.map(plainText).join(', '),
};

export const symbols: Record<CellVerdict['kind'], string> = {
  regression: '🔴',
  improvement: '🟢',
  'no-regression': '🟢',
  inconclusive: '🟡',
  invalid: '⚪',
};
