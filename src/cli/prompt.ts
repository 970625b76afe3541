// Reads the user's reply on the terminal.
import { createInterface } from 'node:readline/promises';

export type AskPerson = ((question: string) => Promise<string>) | undefined;

/** Returns an empty reply at the end of input. */
export function askOnTerminal(signal: AbortSignal): AskPerson {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  return async (question) => {
    if (process.stdin.readableEnded) return '';
    // Leaves editing to the terminal, so that a Ctrl-C is a normal signal.
    using lines = createInterface({
      input: process.stdin,
      output: process.stderr,
      terminal: false,
    });
    const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
    return (await Promise.race([lines.question(question, { signal }), ended])).trim();
  };
}
