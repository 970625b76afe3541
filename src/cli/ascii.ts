// Replaces symbols by ASCII if the locale has no UTF-8.

/** Uses the first of POSIX's variables that is set and not empty; without any the locale is C. */
export const readsUtf8 = ({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean =>
  /(?:^|\.)utf-?8(?:@|$)/i.test(LC_ALL || LC_CTYPE || LANG || 'C');

type Done = (error?: Error | null) => void;

/** Text writes, for people, become ASCII; byte writes, for programs, stay unchanged. */
export function writeAscii(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream);
  stream.write = (chunk: string | Uint8Array, encodingOrDone?: BufferEncoding | Done, last?: Done) => {
    const done = typeof encodingOrDone === 'function' ? encodingOrDone : last;
    if (typeof chunk !== 'string') return write(chunk, done);
    const encoding = typeof encodingOrDone === 'string' ? encodingOrDone : 'utf8';
    return write(asciiOf(Buffer.from(chunk, encoding).toString()), done);
  };
}

export const asciiOf = (text: string): string => text.replace(/\P{ASCII}/gu, plain);

function plain(character: string): string {
  const written = signs[character] ?? character.normalize('NFKD').replace(/[\p{M}\p{Cf}]/gu, '');
  // Untrusted letters must not become signs with a meaning for shells or CI logs.
  return character in signs || /^[\w .]*$/.test(written) ? written : '?';
}

const signs: Readonly<Record<string, string>> = {
  '…': '...',
  '·': '-',
  '–': '-',
  '−': '-',
  '±': '+-',
  '×': 'x',
  '≤': '<=',
  '≥': '>=',
  '→': '->',
  '↳': '->',
  '¦': '|',
  // Bars of a sparkline, lowest first.
  '▁': '_',
  '▂': '.',
  '▃': '-',
  '▄': '=',
  '▅': '+',
  '▆': '*',
  '▇': '%',
  '█': '#',
  '‘': "'",
  '’': "'",
  '“': '"',
  '”': '"',
  '✓': '[ok]',
  '✔': '[ok]',
  '✗': '[!!]',
  '✘': '[!!]',
  '🟢': '[ok]',
  '🔴': '[!!]',
  '🟡': '[??]',
  '⚪': '[--]',
  '⚠': '[!]',
  '⏳': '[..]',
  '⏸': '[||]',
};
