// Reduces output of hosts, libraries and commands to one line without control characters.

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  // Node's error for a name with several addresses has a code but no message.
  if (error.message === '' && 'code' in error) return String(error.code);
  return oneLine(error.message);
}

export function shortened(text: string): string {
  const line = oneLine(text);
  return line.length <= 80 ? line : `${line.slice(0, 79)}…`;
}

export const lastLine = (text: string): string | undefined =>
  text.split('\n').map(oneLine).findLast(Boolean);

export const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
