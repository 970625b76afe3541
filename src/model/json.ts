// Parses untrusted text as JSON, or as lines of JSON.

/** Returns undefined for invalid JSON. No JSON value is undefined, so every schema rejects it. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses each line that may be an object, and stops after `maxLines`. Does not split the text into all its lines. */
export function* jsonLines(text: string, maxLines: number): Iterable<unknown> {
  let start = 0;
  for (let lines = 0; lines < maxLines && start < text.length; lines += 1) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    if (text.startsWith('{', start)) yield parseJson(text.slice(start, end));
    start = end + 1;
  }
}
