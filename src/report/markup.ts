// Builds HTML from templates that escape every text.
import { escaped } from '../model/xml.ts';

/** Markup of our own making. */
export class Html {
  readonly markup: string;

  /** Takes the text as markup: nothing of others may be in it that is not escaped. */
  constructor(markup: string) {
    this.markup = markup;
  }
}

/** A value of a template: a text is escaped, `undefined` and `false` are nothing. */
export type Piece = string | number | Html | undefined | false | readonly Piece[];

/** `` html`<p title="${text}">${texts.map((one) => html`<b>${one}</b>`)}</p>` ``; attributes stand in double quotes. */
export const html = (own: TemplateStringsArray, ...pieces: readonly Piece[]): Html =>
  new Html(String.raw({ raw: own }, ...pieces.map(markupOf)));

function markupOf(piece: Piece): string {
  if (piece === undefined || piece === false) return '';
  if (piece instanceof Html) return piece.markup;
  if (typeof piece === 'object') return piece.map(markupOf).join('');
  return escaped(String(piece));
}
