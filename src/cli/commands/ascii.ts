// Replaces symbols by ASCII where the locale has no UTF-8.

/** By the first of POSIX's variables that is set and not empty; without any it is the locale C. */
export const readsUtf8 = ({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean =>
  /(?:^|\.)utf-?8(?:@|$)/i.test(LC_ALL || LC_CTYPE || LANG || 'C');

type Done = (error?: Error | null) => void;

/** From now on texts, which are for people, are written in ASCII; bytes, which are for programs, stay as they are. */
export function writeAscii(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream);
  stream.write = (
    chunk: string | Uint8Array,
    encodingOrDone?: BufferEncoding | Done,
    last?: Done,
  ) => {
    const done = typeof encodingOrDone === 'function' ? encodingOrDone : last;
    if (typeof chunk !== 'string') return write(chunk, done);
    const encoding = typeof encodingOrDone === 'string' ? encodingOrDone : 'utf8';
    return write(asciiOf(Buffer.from(chunk, encoding).toString()), done);
  };
}

/** The same to read as far as ASCII goes. */
export const asciiOf = (text: string): string => text.replace(/\P{ASCII}/gu, plain);

function plain(character: string): string {
  const written = signs[character] ?? character.normalize('NFKD').replace(/[\p{M}\p{Cf}]/gu, '');
  // No letter of others may become a sign that a shell or a CI log takes for more than text.
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
  // Bars of a sparkline, the lowest first.
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
