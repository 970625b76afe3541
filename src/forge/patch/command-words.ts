// The words of a command in a comment: what stands between blanks, and what is written as `key=value`.
import { meantBy } from '../../config/fields.ts';
import { parameter } from '../../config/parameters.ts';
import { excerpt } from '../../model/units.ts';

/** Separated by blanks, but for those in double quotes: `testbed="mellanox and 40G"` is one. */
export const wordsOf = (line: string): string[] =>
  (line.match(/(?:"[^"]*"|\S)+/g) ?? []).map((word) => word.replaceAll('"', ''));

type Pair = { key: string; value: string };

/** Undefined for a word that is none. */
export function pairIn(word: string): Pair | undefined {
  const [, key, value = ''] = /^([^=]+)=(.*)$/.exec(word) ?? [];
  return key === undefined ? undefined : { key, value };
}

/** What people write as `key=value`, by the key, and what it becomes. */
export const keysOf = <Name extends Parameters<typeof parameter>[0]>(names: readonly Name[]) =>
  new Map(
    names.flatMap((name) => {
      const { comment, kind } = parameter(name);
      return comment === undefined ? [] : [[comment.key, { ...comment, kind, name }] as const];
    }),
  );

/** The parameter that is meant; else what is wrong, and the command that is nearest. */
export function keyFor<Key extends { example: string }>(
  { key, value }: Pair,
  of: { verb: string; known: readonly string[]; keyed: ReadonlyMap<string, Key> },
): { kind: 'found'; parameter: Key } | { kind: 'mistaken'; what: string; nearest: string } {
  const { verb, known, keyed } = of;
  const parameter = keyed.get(key);
  if (!known.includes(key) || parameter === undefined) {
    const [meant] = meantBy(key, known);
    const nearest = meant === undefined ? verb : `${verb} ${meant}=${excerpt(value)}`;
    return { kind: 'mistaken', what: `${verb} takes no "${excerpt(key)}"`, nearest };
  }
  if (value !== '') return { kind: 'found', parameter };
  const nearest = `${verb} ${key}=${parameter.example}`;
  return { kind: 'mistaken', what: `${key} has no value`, nearest };
}
