// Text that ought to be JSON.

/** Undefined where it is none, which no JSON is: a schema then refuses both alike. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
