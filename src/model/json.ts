// Parses text that should be JSON.

/** Returns undefined if it is none: undefined is no JSON value, so any schema rejects it. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
