// Puts what a host, a library or a command says on one line without control characters, to show to people.

/** Returns the message of an error, or of any other thrown value, on one line. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  // For a name with several addresses, Node's error has a code but no message.
  if (error.message === '' && 'code' in error) return String(error.code);
  return oneLine(error.message);
}

/** A command as a message names it. */
export function shortened(text: string): string {
  const line = oneLine(text);
  return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
}

/** The last that is not blank; undefined where all are. */
export const lastLine = (text: string): string | undefined =>
  text.split('\n').map(oneLine).findLast(Boolean);

export const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
