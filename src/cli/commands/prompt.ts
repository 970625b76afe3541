// Asks a question on the terminal.
import { createInterface } from 'node:readline/promises';

/** Undefined where there is no terminal. */
export type AskPerson = ((question: string) => Promise<string>) | undefined;

/** Asks on the terminal; the end of input is an empty answer. */
export function askOnTerminal(signal: AbortSignal): AskPerson {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  return async (question) => {
    if (process.stdin.readableEnded) return '';
    // The terminal's own editing: a Ctrl-C is then a signal like any other.
    using lines = createInterface({
      input: process.stdin,
      output: process.stderr,
      terminal: false,
    });
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    return (await Promise.race([lines.question(question, { signal }), ended])).trim();
  };
}
