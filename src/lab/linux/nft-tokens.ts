// Checks that an overlay's nftables.conf includes no other file, because nft reads as root any file that it includes.

/**
 * Why nft must not get to read these rules, with their line; nothing where it may. What counts is what nft takes for the
 * word `include`, and it is the same to nft whether a blank, a comment or a continued line comes before the path:
 * therefore the word alone is refused where it is neither in a comment nor in a quoted string.
 */
export function whyUnsafe(text: string, file: string): string | undefined {
  const control = controlCharacter.exec(text);
  if (control !== null) {
    const code = control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    const why = `a control character (U+${code}) stands here, which no rule needs: leave it out`;
    return at(file, text, control.index, why);
  }
  for (const { 0: token, index } of text.matchAll(tokens)) {
    if (token === '"') return at(file, text, index, 'this quote has no end: write the other one');
    if (mayBeInclude(token, text[index - 1])) return at(file, text, index, noInclude);
  }
  return undefined;
}

/** A line may end as on Windows: some versions of nft take that, others say themselves that they do not. */
const controlCharacter = /(?!\r\n)[^\P{Cc}\t\n]/u;

/**
 * nft's longest matches, as far as they tell where a comment, a quoted string and a word begin. A comment ends with its
 * line, even after a backslash; a quoted string goes over any number of lines.
 */
const tokens = /#[^\n]*|"[^"]*"|[\w./-]+|./gs;

/**
 * To nft a word that begins with a letter goes as far as it can: `my-include` and `include.x` are others. What begins
 * otherwise may be a number (`1include`), a sign (`-include`) or, after a colon, the end of an address
 * (`fe80::cinclude`), after which nft begins anew.
 */
function mayBeInclude(token: string, before: string | undefined): boolean {
  if (!/^[\w./-]*include$/.test(token)) return false;
  return token === 'include' || before === ':' || !/^[a-z]/i.test(token);
}

const noInclude =
  'the word include would have nft read another file, which could be any of the DUT: write the rules of that file here, and names that are or end with this word in quotes or otherwise';

const at = (file: string, text: string, index: number, why: string): string =>
  `${file}:${text.slice(0, index).split('\n').length}: Error: ${why}.`;
