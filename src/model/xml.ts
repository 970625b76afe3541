// Text of others as XML and HTML: it stays text.

/** Between tags and in quoted attributes. A space stands for what XML has no place for, and for what hides text or turns it around. */
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
