// Builds HTML from templates that escape every text.
import { escaped } from '../model/xml.ts';

export class Html {
  readonly markup: string;

  /** Takes trusted markup: untrusted text must be escaped already. */
  constructor(markup: string) {
    this.markup = markup;
  }
}

/** Text is escaped; `undefined` and `false` render nothing. */
export type Piece = string | number | Html | undefined | false | readonly Piece[];

/** `` html`<p title="${text}">${texts.map((one) => html`<b>${one}</b>`)}</p>` ``; attributes need double quotes. */
export const html = (own: TemplateStringsArray, ...pieces: readonly Piece[]): Html =>
  new Html(String.raw({ raw: own }, ...pieces.map(markupOf)));

function markupOf(piece: Piece): string {
  if (piece === undefined || piece === false) return '';
  if (piece instanceof Html) return piece.markup;
  if (typeof piece === 'object') return piece.map(markupOf).join('');
  return escaped(String(piece));
}
