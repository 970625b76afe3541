// Answers for people at a shell: in columns, on one line each, in colours where a terminal shows them.
import stringWidth from 'string-width';
import type { ProgressOutput } from '../../gate/progress.ts';

/** Rows of texts, each column as wide as its widest; `paint` gets what is padded already. */
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

/** A terminal gives two columns to a letter of Chinese, and to most emoji. */
const padded = (text: string, width: number): string =>
  text + ' '.repeat(width - stringWidth(text));

/** Text of a host or a store. */
export const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

export const hasColours = ({ isTTY }: ProgressOutput): boolean =>
  isTTY === true && !process.env.NO_COLOR;

export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** In bytes, because a program reads it: the same in every locale. */
export const printJson = (value: unknown): void =>
  void process.stdout.write(Buffer.from(`${JSON.stringify(value, null, 2)}\n`));

/** `14:02` of today, `2026-11-20 14:02` of any other day, where this machine is. */
export function clockText(iso: string, now: Date): string {
  const [then, today] = [new Date(iso), now].map((date) => date.toLocaleString('sv-SE'));
  const [day, time = ''] = (then ?? '').split(' ');
  const minute = time.slice(0, 'HH:MM'.length);
  return today?.split(' ')[0] === day ? minute : `${day} ${minute}`;
}
