// Draws a badge with the latest verdict on one cell of the default branch, while it is recent.
import { formatPps } from '../model/format.ts';
import { html } from './markup.ts';

export const badgeVerdicts = [
  'regression',
  'no-regression',
  'improvement',
  'inconclusive',
  'invalid',
  'does-not-apply',
  'build-failed',
  'does-not-load',
  'boot-failed',
  'panics-under-load',
] as const;

export type BadgeVerdict = (typeof badgeVerdicts)[number];

export type BadgeSubject = {
  /** `hp-t540 forwarding inet4`. */
  label: string;
  /** The latest verdict; absent before the first. `pps` is patched's rate, if measured. */
  last?: { verdict: BadgeVerdict; pps?: number | undefined; at: Date };
};

type Badge = {
  /** The "Endpoint badge" of shields.io. */
  endpoint: { schemaVersion: 1; label: string; message: string; color: string };
  svg: string;
};

/** `no-regression · 4.980 Mpps`, or `no data` after `staleSeconds`. */
export function renderBadge(
  { label, last }: BadgeSubject,
  { now, staleSeconds }: { now: Date; staleSeconds: number },
): Badge {
  const isStale = last !== undefined && now.getTime() - last.at.getTime() > staleSeconds * 1000;
  return badgeOf(label, last === undefined || isStale ? noData : { message: messageOf(last), color: colorOf(last) });
}

export function badgeOf(label: string, { message, color }: BadgeText): Badge {
  const shown = { label: readable(label), message, color };
  return { endpoint: { schemaVersion: 1, ...shown }, svg: pictureOf(shown) };
}

const noData: BadgeText = { message: 'no data', color: 'lightgrey' };

type BadgeText = { message: string; color: keyof typeof colors };

type LastVerdict = NonNullable<BadgeSubject['last']>;

const messageOf = ({ verdict, pps }: LastVerdict): string =>
  pps === undefined ? verdict : `${verdict} · ${formatPps(pps)}`;

function colorOf({ verdict }: LastVerdict): BadgeText['color'] {
  switch (verdict) {
    case 'no-regression':
    case 'improvement':
      return 'brightgreen';
    case 'inconclusive':
      return 'yellow';
    case 'invalid':
      return 'lightgrey';
    default:
      return 'red';
  }
}

const maxCharacters = 100;

/** Shown in lists and on terminals: no line breaks or unprintable characters. */
const readable = (text: string): string =>
  [...text.replace(/[\s\p{C}]+/gu, ' ').trim()].slice(0, maxCharacters).join('');

/** Colours by their shields.io names. */
const colors = { brightgreen: '#4c1', yellow: '#dfb317', lightgrey: '#9f9f9f', red: '#e05d44' };

// In pixels.
const height = 20;
const baseline = 14;
const corner = 3;
const arc = `a${corner} ${corner} 0 0 1`;
const padding = 6;
const fontSize = 11;

/** Light text on grey, then dark text on the color, for contrast on every color. */
function pictureOf({ label, message, color }: BadgeText & { label: string }): string {
  const [left, right] = [partWidth(label), partWidth(message)];
  const text = (shown: string, x: number, fill: string) =>
    html`<text x="${x + padding}" y="${baseline}" fill="${fill}" textLength="${widthOf(shown)}" lengthAdjust="spacingAndGlyphs">${shown}</text>`;
  // The left part continues below the right one, so that no edge shines through.
  const { markup } =
    html`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${height}" role="img" aria-label="${label}: ${message}"><title>${label}: ${message}</title>
<rect width="${left + corner}" height="${height}" rx="${corner}" fill="#555"/>
<path d="M${left} 0h${right - corner}${arc} ${corner} ${corner}v${height - 2 * corner}${arc} ${-corner} ${corner}h${corner - right}z" fill="${colors[color]}"/>
<g font-family="Verdana,DejaVu Sans,sans-serif" font-size="${fontSize}">${text(label, 0, '#fff')}${text(message, left, '#111')}</g>
</svg>
`;
  return markup;
}

const partWidth = (text: string): number => Math.ceil(widthOf(text)) + 2 * padding;

/** Returns an approximate width; `textLength` enforces it in any font. */
const widthOf = (text: string): number => [...text].reduce((sum, character) => sum + characterWidth(character), 0);

function characterWidth(character: string): number {
  const known = widths.get(character);
  if (known !== undefined) return known;
  if (/\p{M}/u.test(character)) return 0;
  return wide.test(character) ? fontSize : 7;
}

const wide = /[\p{sc=Han}\p{sc=Hang}\p{Emoji_Presentation}\u3000-\u30ff\uff01-\uff60]/u;

/** Measured in Chromium with DejaVu Sans at 11 px, about as wide as Verdana, rounded to half a pixel. */
const widths = new Map(
  Object.entries({
    '3': "'ijlIJ",
    '3.5': ' ,.·/:;\\|',
    '4': 'f-',
    '4.5': '()[]t!r',
    '5': '"',
    '5.5': '*_`s',
    '6': '?czL',
    '6.5': 'kvxyaoFPTY',
    '7': '$0123456789{}bdeghnpquEKS',
    '7.5': 'ABCRVXZ',
    '8': 'NU',
    '8.5': '&DGHOQ',
    '9': '#+<=>^~w',
    '9.5': 'M',
    '10.5': '%m',
    '11': '@W',
  }).flatMap(([width, characters]) => [...characters].map((one) => [one, Number(width)] as const)),
);
