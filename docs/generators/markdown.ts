// Writes the parts of generated pages.

/** The cells of one line of a table; Markdown in them stays, but for bars and line breaks. */
export type Row = readonly string[];

export function table(heads: Row, rows: readonly Row[]): string {
  const lines = [heads, heads.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.map(cellText).join(' | ')} |`).join('\n');
}

/** Code spans keep `<`; elsewhere it could begin a tag. */
const cellText = (text: string): string =>
  text
    .replaceAll('\n', ' ')
    .replaceAll('|', '\\|')
    .replaceAll(/(`[^`]*`)|<(?!br>)/g, (_, code?: string) => code ?? '&lt;');

export const code = (text: string): string => (text === '' ? '' : `\`${text}\``);
