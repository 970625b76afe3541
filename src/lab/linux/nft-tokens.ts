// Refuses an overlay's nftables.conf that includes another file, because nft would read that file as root.

/**
 * Returns the reason and the line; undefined if nft may read the rules. Between nft's keyword `include` and the path
 * may be a blank, a comment or a continued line, so the word alone is refused, except in a comment or a quoted string.
 */
export function whyUnsafe(text: string, file: string): string | undefined {
  const control = controlCharacter.exec(text);
  if (control !== null) {
    const code = control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    const why = `a control character (U+${code}) is not allowed in rules: remove it`;
    return at(file, text, control.index, why);
  }
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === '"') return at(file, text, index, 'this quotation mark is unmatched: add the closing one');
    if (mayBeInclude(token, text[index - 1])) return at(file, text, index, noInclude);
  }
  return undefined;
}

/** Returns rules without the parts that nft skips, which may include blanks in quoted strings. */
export const withoutComments = (text: string): string =>
  text
    .replaceAll(tokens, (token) => (token.startsWith('#') ? '' : token))
    .replace(/\s+/g, ' ')
    .trim();

/** Some versions of nft accept a Windows line ending, others report it themselves. */
const controlCharacter = /(?!\r\n)[^\P{Cc}\t\n]/u;

/**
 * nft's longest matches, as far as they mark the start of a comment, a quoted string and a word. A comment ends with
 * its line, even after a backslash; a quoted string may span lines.
 */
const tokens = /#[^\n]*|"[^"]*"|[\w./-]+|./gs;

/**
 * nft takes the longest match of a word that begins with a letter: `my-include` and `include.x` are other words.
 * Another first character may be a number (`1include`), a sign (`-include`) or, after a colon, the end of an address
 * (`fe80::cinclude`); nft then starts a new token.
 */
function mayBeInclude(token: string, before: string | undefined): boolean {
  if (!/^[\w./-]*include$/.test(token)) return false;
  return token === 'include' || before === ':' || !/^[a-z]/i.test(token);
}

const noInclude =
  'include would make nft read another file, possibly any file of the DUT: write the rules of that file here, and quote or rename names that end with this word';

const at = (file: string, text: string, index: number, why: string): string =>
  `${file}:${text.slice(0, index).split('\n').length}: Error: ${why}.`;
