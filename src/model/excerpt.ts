// Quotes untrusted text in a sentence; imports nothing, as a mistyped command loads it.

/** Adds a full stop unless it ends in a question. */
export const sentence = (message: string): string => (message.endsWith('?') ? message : `${message}.`);

/** At most 40 characters of untrusted text on one line: it may be a secret, or control a terminal. */
export function excerpt(text: string): string {
  const start = text.length > 40 ? `${text.slice(0, 39)}…` : text;
  return start.replace(/[\p{C}\p{Zl}\p{Zp}"`]/gu, '?');
}

/** Message of a zod issue: `expected a percentage like 2%, found 2`. */
export const expected =
  (what: string) =>
  ({ input }: { input?: unknown }): string =>
    input === undefined ? `missing; expected ${what}` : `expected ${what}, found ${shown(input)}`;

function shown(value: unknown): string {
  if (value === null) return 'nothing';
  if (Number.isNaN(value)) return 'no number';
  if (typeof value === 'string') return `"${excerpt(value)}"`;
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'keys and values';
  return String(value);
}
