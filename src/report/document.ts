// Defines the document model of reports, independent of markup: plain strings are trusted, other text is marked.

import { plainLine } from '../model/escape.ts';
import type { CellVerdict } from '../model/result.ts';
import { type Cell, cellName } from '../model/scenario.ts';
import type { Html } from './markup.ts';

type Inlines = {
  /** Untrusted text, cut to `most` characters. Markup without escapes renders it as code. */
  quoted: { text: string; most?: number };
  /** Untrusted code. An id never wraps; a path may, after slashes and dots. */
  code: { text: string; most?: number; is?: 'id' | 'path' };
  /** Name of a cell or scenario: letters, digits, spaces, `_`, `.` and `-`. */
  name: { text: string };
  strong: { text: Text; verdict?: CellVerdict['kind'] };
  mark: { verdict: CellVerdict['kind'] };
  /** Links to a page, or to a section of this one by `#id`. */
  link: { text: string; address: string };
  /** Links to flamegraphs, possibly beside the report; omits `before` if links do not work. */
  graphs: { before: string; links: readonly { text: string; address: string }[] };
  styled: { style: 'faint' | 'other' | 'subject'; text: Text };
  lines: { lines: readonly Text[] };
};

export type Inline = { [K in keyof Inlines]: { kind: K } & Inlines[K] }[keyof Inlines];

/** A string is trusted, with backticks around typed text. */
export type Text = string | Inline | readonly Text[];

export const quoted = (text: string, most?: number): Inline => ({
  kind: 'quoted',
  text,
  ...(most !== undefined && { most }),
});
export const code = (text: string, most?: number): Inline => ({ ...quoted(text, most), kind: 'code' }) as Inline;
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
  joined([...(parts.length > 1 ? [joined(parts.slice(0, -1), ', ')] : []), ...parts.slice(-1)], ' and ');

export type Column = { head: string; isNumber?: true };

/** Rows that belong together, for example of one cell; under a limit, the groups of least weight are dropped. */
type RowGroup = { weight: number; rows: readonly (readonly Text[])[] };

export type Table = {
  caption?: Text;
  columns: readonly Column[];
  groups: readonly RowGroup[];
  isLimited?: true;
  /** Variant of the table for a comment, which a phone shows in full width. */
  narrow?: Pick<Table, 'columns' | 'groups'>;
  lines?: readonly Text[];
};

export type Block =
  | { kind: 'heading'; text: Text }
  | { kind: 'paragraph'; text: Text; isFaint?: true }
  | { kind: 'list'; title?: Text; items: readonly Text[] }
  | ({ kind: 'table' } & Table)
  /** Untrusted lines; `name` is trusted. */
  | { kind: 'code'; name: string; text: string }
  /** Exists on a page; a comment has folds of its own. */
  | { kind: 'fold'; title: Text; blocks: readonly Block[] }
  /** Under a limit, keeps the worst cells. */
  | { kind: 'cells'; cells: readonly { weight: number; blocks: readonly Block[] }[] }
  /** `image` is the forge's reference, or an address. */
  | { kind: 'picture'; image: string; alt: string }
  | { kind: 'drawing'; drawing: Html }
  | { kind: 'facts'; facts: readonly (readonly [string, string])[] };

export const heading = (text: Text): Block => ({ kind: 'heading', text });
export const paragraph = (text: Text): Block => ({ kind: 'paragraph', text });
export const faint = (text: Text): Block => ({ kind: 'paragraph', text, isFaint: true });

/** Empty without items. */
export const list = (items: readonly Text[], title?: Text): Block[] =>
  items.length === 0 ? [] : [{ kind: 'list', items, ...(title !== undefined && { title }) }];

/** The folds of a comment, in their order. */
export const folds = ['runs', 'environment', 'statistics'] as const;

/** A part of a fold under its own short heading, which is trusted. */
export type Detail = { fold: (typeof folds)[number]; title: string; blocks: readonly Block[] };

/** Empty without items. */
export const detailList = (fold: Detail['fold'], title: string, items: readonly Text[]): Detail[] =>
  items.length === 0 ? [] : [{ fold, title, blocks: list(items) }];

/** A comment on a patch; under a limit, the last remarks and details are dropped. */
export type CommentDocument = {
  headline: Text;
  main: readonly Block[];
  /** Shown open below the main part. */
  remarks: readonly Block[];
  /** The most important details first, of any fold. */
  details: readonly Detail[];
  footer: readonly Text[];
};

export type PageDocument = {
  title: string;
  verdict: CellVerdict['kind'];
  headline: Text;
  head: readonly Block[];
  contents: readonly Text[];
  sections: readonly PageSection[];
  version: string;
  hasGraphs: boolean;
};

export type PageSection = { id: string; heading: Text; blocks: readonly Block[] };

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

/** Renders without markup: for titles, logs and code blocks. */
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
