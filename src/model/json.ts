// Parses text that should be JSON, or lines of it.

/** Returns undefined if it is none: undefined is no JSON value, so any schema rejects it. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses each line that may be an object, without splitting the text into all its lines; stops after `mostLines`. */
export function* jsonLines(text: string, mostLines: number): Iterable<unknown> {
  let start = 0;
  for (let lines = 0; lines < mostLines && start < text.length; lines += 1) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    if (text.startsWith('{', start)) yield parseJson(text.slice(start, end));
    start = end + 1;
  }
}
