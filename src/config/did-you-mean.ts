// Suggests the known name that a mistyped one stands for.
import { distance } from 'fastest-levenshtein';
import { expected } from '../model/excerpt.ts';

/** Returns `; did you mean …?` with the result of `meantBy`, or an empty text. */
export function didYouMean(word: string, names: readonly string[]): string {
  const meant = meantBy(word, names).map((name) => `\`${name}\``);
  return meant.length === 0 ? '' : `; did you mean ${meant.join(' or ')}?`;
}

export function wrongName(names: readonly string[]) {
  return ({ input }: { input?: unknown }): string => {
    const message = expected(`one of ${names.join(', ')}`)({ input });
    return typeof input === 'string' ? message + didYouMean(input, names) : message;
  };
}

/** Suggests synonyms, else names that contain the word, else the nearest within a third of its letters. */
export function meantBy(word: string, names: readonly string[]): string[] {
  const plain = plainKey(word);
  const other = otherWords.get(plain) ?? plain;
  const parts = names.filter((name) => [name, ...name.split(/[-/]/)].map(plainKey).includes(other));
  if (plain !== '' && parts.length > 0) return parts.slice(0, maxSuggestions);
  const [nearest] = names
    .map((name) => ({ name, edits: distance(plain, plainKey(name)) }))
    .filter(({ name, edits }) => edits <= Math.ceil(name.length / 3))
    .toSorted((a, b) => a.edits - b.edits);
  return nearest === undefined ? [] : [nearest.name];
}

const maxSuggestions = 3;

export const plainKey = (name: string): string => name.toLowerCase().replace(/[-_ ]/g, '');

/** Common unambiguous synonyms, in the form of `plainKey`. */
const otherWords: ReadonlyMap<string, string> = new Map([
  ...['ipv4', 'ip4', 'v4', 'inet'].map((word) => [word, 'inet4'] as const),
  ...['ipv6', 'ip6', 'v6'].map((word) => [word, 'inet6'] as const),
  ...['cpu', 'ns', 'nanoseconds', 'cputime'].map((word) => [word, 'nsperpacket'] as const),
  ['instructions', 'instructionsperpacket'],
  ['packetspersecond', 'pps'],
  ['nft', 'nftables'],
  ['routing', 'forwarding'],
  ['size', 'bytes'],
]);
