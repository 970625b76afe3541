// Aligns columns for a shell. Separate from the rest, as its imports take a tenth of the start of a command.
import stringWidth from 'string-width';

/** Pads columns to their widest cell; `paint` receives padded text. */
export function columns(
  rows: readonly (readonly string[])[],
  paint: (text: string, row: number, column: number) => string = (text) => text,
): string[] {
  const count = Math.max(0, ...rows.map(({ length }) => length));
  const widths = Array.from({ length: count }, (_, column) =>
    Math.max(...rows.map((row) => stringWidth(row[column] ?? ''))),
  );
  return rows.map((row, at) =>
    row
      .map((text, column) => paint(padded(text, widths[column] ?? 0), at, column))
      .join('  ')
      .trimEnd(),
  );
}

/** Terminals use two columns for Chinese characters and most emoji. */
const padded = (text: string, width: number): string => text + ' '.repeat(width - stringWidth(text));
