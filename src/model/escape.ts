// Escapes untrusted text of patches, logs and kernels for Markdown, where it may appear in code only.

/** A code span, cut to `maxCharacters`: no mention, link, reference, markup or line break takes effect. */
export function codeSpan(text: string, maxCharacters = 200): string {
  const line = plainLine(text, maxCharacters);
  if (line === '') return '';
  const fence = fenceFor(line, 1);
  const padding = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${padding}${line}${padding}${fence}`;
}

/** A fenced code block; a text that is too long loses its middle. */
export function codeBlock(text: string, maxCharacters = 4000): string {
  const block = plainBlock(text, maxCharacters);
  const fence = fenceFor(block, 3);
  return `${fence}\n${block}\n${fence}`;
}

/** Removes control and format characters and joins lines; leaves markup as it is. */
export const plainLine = (text: string, maxCharacters = 200): string =>
  cut(withoutControls(text).replace(/\s+/g, ' ').trim(), maxCharacters);

/** Keeps line breaks; a text that is too long loses its middle. */
export const plainBlock = (text: string, maxCharacters = 4000): string =>
  shortened(withoutControls(text).trimEnd(), maxCharacters);

function fenceFor(text: string, least: number): string {
  const runs = text.match(/`+/g) ?? [];
  return '`'.repeat(Math.max(least, ...runs.map((run) => run.length + 1)));
}

/** Control and format characters can colour a terminal, and reverse or hide text. Tabs and line ends stay. */
function withoutControls(text: string): string {
  return withoutSequences(text).replace(/(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}]/gu, '');
}

/** Removes terminal sequences; keeps single control characters. */
export const withoutSequences = (text: string): string => text.replace(sequences, '');

/**
 * Terminal sequences of ECMA-48: control sequences, terminated strings, and character set selection. Node's
 * stripVTControlCharacters needs hours for a megabyte of unterminated strings. Here no part can begin within another.
 */
const sequences = new RegExp(
  [
    '(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]',
    '(?:\\x1b\\]|\\x9d)[^\\x07\\x1b\\x9c\\x9d]*(?:\\x07|\\x1b\\\\|\\x9c)',
    '\\x1b[()#]?[0-9A-PR-TZcf-nq-uy=><~]',
  ].join('|'),
  'g',
);

function shortened(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const half = Math.floor(maxCharacters / 2);
  const left = text.length - 2 * half;
  const [first, last] = [text.slice(0, half), text.slice(-half)].map(withoutHalves);
  return `${first}\n… ${left} characters left out …\n${last}`;
}

function cut(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return `${withoutHalves(text.slice(0, maxCharacters - 1)).trimEnd()}…`;
}

/** A cut may have split a surrogate pair. */
const withoutHalves = (text: string): string => text.replace(/\p{Cs}/gu, '');

/** Returns undefined unless the address is a web page and holds nothing that could end it in markup. */
export function pageUrl(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined;
  return url.href.replace(/[^\w:/?#&=.~%+-]/g, percentEncoded);
}

const percentEncoded = (character: string): string => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
