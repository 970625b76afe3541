// Splits a command line into words as both sh and csh do, and rejects text that they would read differently.

export type Words = { kind: 'words'; words: readonly string[] } | { kind: 'refused'; reason: string };

/**
 * Words are plain, in single quotes, or with a backslash before a character, as src/system/shell.ts writes them.
 * Rejects operators, expansions, double quotes and line breaks, as root's login shell may be csh.
 */
export function splitWords(line: string): Words {
  const words: string[] = [];
  let position = 0;
  while (position < line.length) {
    const space = matchAt(/ +/y, line, position);
    if (space !== undefined) {
      position += space.length;
      continue;
    }
    const word = matchAt(wordPattern, line, position);
    if (word === undefined) return { kind: 'refused', reason: whyRefused(line, position) };
    words.push(unquoted(word));
    position += word.length;
  }
  return words.length > 0 ? { kind: 'words', words } : { kind: 'refused', reason: 'the command line is empty' };
}

// csh ends a quoted string at a line break and expands `!` even inside single quotes.
const wordPattern = /(?:'[^'\n\r!]*'|\\[^\n\r!]|[\w@%+=:,./-])+/y;

function matchAt(pattern: RegExp, line: string, position: number): string | undefined {
  pattern.lastIndex = position;
  return pattern.exec(line)?.[0];
}

const unquoted = (word: string): string =>
  word.replace(/'([^']*)'|\\(.)/g, (_, quoted?: string, escaped?: string) => quoted ?? escaped ?? '');

function whyRefused(line: string, position: number): string {
  const character = JSON.stringify(line.charAt(position));
  return `${character} at position ${position + 1} is more than a word to csh or sh; run one simple command with quoted words`;
}
