// Text that came from a patch, a log or a kernel, made harmless for Markdown: it only ever stands in code.

/** A code span, cut to `mostCharacters`: no mention, link, reference, markup or line break in it can take effect. */
export function codeSpan(text: string, mostCharacters = 200): string {
  const line = plainLine(text, mostCharacters);
  if (line === '') return '';
  const fence = fenceFor(line, 1);
  const padding = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${fence}${padding}${line}${padding}${fence}`;
}

/** A fenced code block, shortened in the middle to `mostCharacters`. */
export function codeBlock(text: string, mostCharacters = 4000): string {
  const block = plainBlock(text, mostCharacters);
  const fence = fenceFor(block, 3);
  return `${fence}\n${block}\n${fence}`;
}

/** One line without control and format characters, cut to `mostCharacters`: markup in it is still markup. */
export const plainLine = (text: string, mostCharacters = 200): string =>
  cut(withoutControls(text).replace(/\s+/g, ' ').trim(), mostCharacters);

/** The same of many lines, shortened in the middle. */
export const plainBlock = (text: string, mostCharacters = 4000): string =>
  shortened(withoutControls(text).trimEnd(), mostCharacters);

/** Longer than any run of backticks inside. */
function fenceFor(text: string, least: number): string {
  const runs = text.match(/`+/g) ?? [];
  return '`'.repeat(Math.max(least, ...runs.map((run) => run.length + 1)));
}

/** Control and format characters colour terminals, turn the direction of text or hide it; tabs and line ends stay. */
function withoutControls(text: string): string {
  return withoutSequences(text).replace(/(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}]/gu, '');
}

/** Without what a terminal obeys; control characters that stand alone stay. */
export const withoutSequences = (text: string): string => text.replace(sequences, '');

/**
 * What a terminal obeys by ECMA-48: control sequences, strings that end, and a character set's choice. Node's own
 * stripVTControlCharacters takes hours for a megabyte of strings that do not end; here no part can begin in another.
 */
const sequences = new RegExp(
  [
    '(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]',
    '(?:\\x1b\\]|\\x9d)[^\\x07\\x1b\\x9c\\x9d]*(?:\\x07|\\x1b\\\\|\\x9c)',
    '\\x1b[()#]?[0-9A-PR-TZcf-nq-uy=><~]',
  ].join('|'),
  'g',
);

function shortened(text: string, mostCharacters: number): string {
  if (text.length <= mostCharacters) return text;
  const half = Math.floor(mostCharacters / 2);
  const left = text.length - 2 * half;
  const [first, last] = [text.slice(0, half), text.slice(-half)].map(withoutHalves);
  return `${first}\n… ${left} characters left out …\n${last}`;
}

function cut(text: string, mostCharacters: number): string {
  if (text.length <= mostCharacters) return text;
  return `${withoutHalves(text.slice(0, mostCharacters - 1)).trimEnd()}…`;
}

/** A cut may go through a surrogate pair. */
const withoutHalves = (text: string): string => text.replace(/\p{Cs}/gu, '');

/** Without what a markup could take for the address's end, or for markup in it; undefined where it is none of a page. */
export function pageUrl(address: string): string | undefined {
  const url = URL.parse(address);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return undefined;
  return url.href.replace(/[^\w:/?#&=.~%+-]/g, percentEncoded);
}

const percentEncoded = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
