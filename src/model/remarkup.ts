// Escapes untrusted text of patches, logs and kernels for Remarkup, where it may appear in code only.

import { plainBlock, plainLine } from './escape.ts';

/**
 * Inline code, cut to `maxCharacters`: no mention, object, link, macro or line break takes effect. Must not follow a
 * letter or digit directly, or its first backtick is literal.
 */
export const remarkupText = (untrusted: string, maxCharacters = 200): string =>
  inCode(plainLine(untrusted, maxCharacters));

/** Takes a plain line: removing characters afterwards could join separate ones. */
function inCode(line: string): string {
  // A single backtick is the only fence, and `${{{` is replaced even in code.
  const inside = line.replaceAll('`', "'").replaceAll('${{{', '$ {{{');
  return inside === '' ? '' : `\`${inside}\``;
}

/** Fits a table column, which is split at `|` before code is recognized, except between `[[` and `]]`. */
export const remarkupCell = (untrusted: string, maxCharacters = 100): string =>
  inCode(
    plainLine(untrusted, maxCharacters)
      .replaceAll('|', '¦')
      .replace(/\[(?=\[)/g, '[ '),
  );

/** Escapes one of our own lines that may contain untrusted parts: all but plain words becomes code. */
export const remarkupWords = (line: string): string =>
  plainLine(line, 300)
    .split(' ')
    .map((word) => (plainWord.test(word) ? word : remarkupText(word)))
    .join(' ');

/** Excludes capitals, which may name a repository, and possible commit hashes. */
const plainWord = /^(?:\p{So}|(?![a-f]{7})[A-Z]?[a-z]+(?:['’-][a-z]+)*[,.:;]?)$/u;

/**
 * A code block that scrolls beyond `visibleLines`; its middle is cut out if it is too long. A line that ends in three
 * backticks would close it, and a first line like `lang=c` would set options.
 */
export function remarkupBlock(name: string, untrusted: string, visibleLines = 12, maxCharacters = 6000): string {
  const title = name.replace(/[^\w .-]+/g, '').trim();
  const body = plainBlock(untrusted, maxCharacters).replaceAll('```', "'''");
  return `\`\`\`lang=text, name=${title}, lines=${visibleLines}\n${body}\n\`\`\``;
}

/**
 * Alternative text of an image, as in `{F1, alt=…}`. Phorge shows the braces in place of the image if another rule
 * takes effect in them. So letters and digits that could name an object or a commit are set apart.
 */
export const remarkupAlt = (text: string, maxCharacters = 300): string =>
  plainLine(text, maxCharacters)
    .replaceAll(',', ';')
    .replace(/[^\p{L}\p{N} .:;%±…–−+()-]+|:(?! )/gu, ' ')
    .replace(/[A-Z](?=\d)|r(?=[A-Z])|[0-9a-f]{6}(?=[0-9a-f])/g, '$& ')
    .replace(/ +/g, ' ')
    .trim();
