// Finds parts of a text and what replaces each.

export type Replacement = { from: number; to: number; by: string };

/** Takes a text in which the matches of earlier rules are blanked with NUL. */
export type MaskRule = (text: string) => Replacement[];

export const anyMatch =
  (pattern: RegExp, by: (text: string) => string): MaskRule =>
  (text) =>
    [...text.matchAll(pattern)].map((match) => ({
      from: match.index,
      to: match.index + match[0].length,
      by: by(match[0]),
    }));

/** Replaces the group called `hidden`, or the first one. */
export function firstGroup(pattern: RegExp, by: (text: string) => string): MaskRule {
  const indexed = new RegExp(pattern.source, `${pattern.flags}d`);
  return (text) =>
    [...text.matchAll(indexed)].flatMap(({ indices }) => {
      const [from = 0, to = 0] = indices?.groups?.hidden ?? indices?.[1] ?? [];
      return from === to ? [] : [{ from, to, by: by(text.slice(from, to)) }];
    });
}

/** Prefers the longest text; matches whole words, unless `isAnywhere`. */
export function literal(texts: readonly string[], by: (text: string) => string, { isAnywhere = false } = {}): MaskRule {
  const distinct = [...new Set(texts)].filter(Boolean).toSorted((a, b) => b.length - a.length);
  if (distinct.length === 0) return () => [];
  const any = distinct.map((text) => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')).join('|');
  return isAnywhere
    ? anyMatch(new RegExp(any, 'g'), by)
    : anyMatch(new RegExp(`(?<![\\w-])(?:${any})(?![\\w-])`, 'gi'), by);
}

/** Numbers texts from 0 in the order in which each is first seen. */
export function numbering(): (text: string) => number {
  const known = new Map<string, number>();
  return (text) => {
    const number = known.get(text) ?? known.size;
    known.set(text, number);
    return number;
  };
}
