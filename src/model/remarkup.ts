// Text that came from a patch, a log or a kernel, made harmless for Remarkup: it only ever stands in code.

import { plainBlock, plainLine } from './escape.ts';

/**
 * Code within a line, cut to `mostCharacters`: no mention, object, link, macro or line break in it can take effect. It
 * must not follow a letter or a digit directly, for then its first backtick is none of code.
 */
export const remarkupText = (untrusted: string, mostCharacters = 200): string =>
  inCode(plainLine(untrusted, mostCharacters));

/** Takes a line that is plain already: anything removed afterwards could join what was kept apart. */
function inCode(line: string): string {
  // There is no fence but one backtick, and what `${{{` begins is replaced even in code.
  const inside = line.replaceAll('`', "'").replaceAll('${{{', '$ {{{');
  return inside === '' ? '' : `\`${inside}\``;
}

/** The same in a column of a table, which is cut at `|` before code is looked for, but not between `[[` and `]]`. */
export const remarkupCell = (untrusted: string, mostCharacters = 100): string =>
  inCode(
    plainLine(untrusted, mostCharacters)
      .replaceAll('|', '¦')
      .replace(/\[(?=\[)/g, '[ '),
  );

/** A line of our own making in which something of others may be after all: what is no plain word stands in code. */
export const remarkupWords = (line: string): string =>
  plainLine(line, 300)
    .split(' ')
    .map((word) => (plainWord.test(word) ? word : remarkupText(word)))
    .join(' ');

/** Neither capitals, which may name a repository, nor what may be a commit's hash. */
const plainWord = /^(?:\p{So}|(?![a-f]{7})[A-Z]?[a-z]+(?:['’-][a-z]+)*[,.:;]?)$/u;

/**
 * A block of code that scrolls where it has more than `visibleLines`; shortened in the middle. A line that ends in
 * three backticks would close it, and a first line like `lang=c` would set its options, had it none of its own.
 */
export function remarkupBlock(name: string, untrusted: string, visibleLines = 12): string {
  const title = name.replace(/[^\w .-]+/g, '').trim();
  const body = plainBlock(untrusted, 6000).replaceAll('```', "'''");
  return `\`\`\`lang=text, name=${title}, lines=${visibleLines}\n${body}\n\`\`\``;
}
