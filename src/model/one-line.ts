export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return oneLine(String(error));
  // Node's error for a name with several addresses has a code, but no message.
  if (error.message === '' && 'code' in error) return String(error.code);
  return oneLine(error.message);
}

/** Returns the reason of a file's error for a sentence that names the file: Node's text repeats the call and the path. */
export function fileReasonOf(error: unknown): string {
  const text = reasonOf(error);
  return /^([A-Z]\w+: .+?), [a-z]\w*(?: '.*)?$/.exec(text)?.[1] ?? text;
}

export const shortened = (text: string): string => shortenedTo(80, text);

export function shortenedTo(most: number, text: string): string {
  const line = oneLine(text);
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}

export const lastLine = (text: string): string | undefined => text.split('\n').map(oneLine).findLast(Boolean);

export const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
