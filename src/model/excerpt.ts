// Quotes untrusted text in a sentence; imports nothing, as a mistyped command loads it.

/** Adds a full stop unless it ends in a question. */
export const sentence = (message: string): string =>
  message.endsWith('?') ? message : `${message}.`;

/** At most 40 characters of untrusted text on one line: it may be a secret, or control a terminal. */
export function excerpt(text: string): string {
  const start = text.length > 40 ? `${text.slice(0, 39)}…` : text;
  return start.replace(/[\p{C}\p{Zl}\p{Zp}"`]/gu, '?');
}
