// Formats output for a shell: columns, single lines, colours.
import stringWidth from 'string-width';
import type { ProgressOutput } from '../../gate/progress.ts';

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
const padded = (text: string, width: number): string =>
  text + ' '.repeat(width - stringWidth(text));

export const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

export const hasColours = ({ isTTY }: ProgressOutput): boolean =>
  isTTY === true && !process.env.NO_COLOR;

export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Writes bytes, for programs, independent of the locale. */
export const printJson = (value: unknown): void =>
  void process.stdout.write(Buffer.from(`${JSON.stringify(value, null, 2)}\n`));

/** `14:02` today, `2026-11-20 14:02` on any other day, in local time. */
export function clockText(iso: string, now: Date): string {
  const [then, today] = [new Date(iso), now].map((date) => date.toLocaleString('sv-SE'));
  const [day, time = ''] = (then ?? '').split(' ');
  const minute = time.slice(0, 'HH:MM'.length);
  return today?.split(' ')[0] === day ? minute : `${day} ${minute}`;
}
