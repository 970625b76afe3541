// Splits a command into words, and reads those of the form `key=value`.
import { meantBy } from '../../config/did-you-mean.ts';
import { parameter } from '../../config/parameters.ts';
import { excerpt } from '../../model/units.ts';

/** Splits at blanks outside of double quotes: `testbed="mellanox and 40G"` is one word. */
export const wordsOf = (line: string): string[] =>
  (line.match(/(?:"[^"]*"|\S)+/g) ?? []).map((word) => word.replaceAll('"', ''));

type KeyValue = { key: string; value: string };

export function pairIn(word: string): KeyValue | undefined {
  const [, key, value = ''] = /^([^=]+)=(.*)$/.exec(word) ?? [];
  return key === undefined ? undefined : { key, value };
}

export const keysOf = <Name extends Parameters<typeof parameter>[0]>(names: readonly Name[]) =>
  new Map(
    names.flatMap((name) => {
      const { comment, kind } = parameter(name);
      return comment === undefined ? [] : [[comment.key, { ...comment, kind, name }] as const];
    }),
  );

/** Reports an unknown key as a mistake, with the nearest command. */
export function keyFor<Key extends { example: string }>(
  { key, value }: KeyValue,
  of: { verb: string; allowed: readonly string[]; keyed: ReadonlyMap<string, Key> },
): { kind: 'found'; parameter: Key } | { kind: 'mistaken'; what: string; nearest: string } {
  const { verb, allowed, keyed } = of;
  const parameter = keyed.get(key);
  if (!allowed.includes(key) || parameter === undefined) {
    const [meant] = meantBy(key, allowed);
    const nearest = meant === undefined ? verb : `${verb} ${meant}=${excerpt(value)}`;
    return { kind: 'mistaken', what: `${verb} takes no "${excerpt(key)}"`, nearest };
  }
  if (value !== '') return { kind: 'found', parameter };
  const nearest = `${verb} ${key}=${parameter.example}`;
  return { kind: 'mistaken', what: `${key} has no value`, nearest };
}
