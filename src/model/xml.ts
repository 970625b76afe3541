// Escapes untrusted text for XML and HTML.

/** Safe as text and in quoted attributes. Characters that XML forbids, or that hide or reverse text, become a space. */
export const escaped = (text: string): string =>
  text.replace(unfit, ' ').replace(/[&<>"']/g, (one) => entities[one] ?? '');

const unfit = /[\p{Cc}\p{Cf}\p{Cs}\ufffe\uffff]/gu;

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
