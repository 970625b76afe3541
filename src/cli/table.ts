// Formats output for a shell: single lines, colours, times.
import type { ProgressOutput } from '../gate/progress.ts';

export const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

export const hasColours = ({ isTTY }: ProgressOutput): boolean => isTTY === true && !process.env.NO_COLOR;

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
