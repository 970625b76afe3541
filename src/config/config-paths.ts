// Suggests the right place for a misplaced key of ppsgate.yml.
import { z } from 'zod';
import { excerpt } from '../model/units.ts';
import { plainKey } from './did-you-mean.ts';
import { type KeyPath, keyName } from './problem.ts';
import { configKeys } from './schema.ts';

/** Returns a place where the key of an unknown path is valid; undefined if there is none. */
export type Belongs = (path: KeyPath) => string | undefined;

let schema: Schema | undefined;

export function belongsIn(written: unknown): Belongs {
  schema ??= z.toJSONSchema(configKeys, { io: 'input', unrepresentable: 'any' });
  const places = [...placesIn(schema, written, [])];
  return (path) => {
    const key = String(path.at(-1));
    const known = places.flatMap((place) => {
      const name = place.keys.find((one) => plainKey(one) === plainKey(key));
      return name === undefined ? [] : [{ ...place, name, shared: sharedBy(place.path, path) }];
    });
    const nearest = Math.max(...known.map(({ shared }) => shared));
    const [first, ...more] = known.filter(({ shared }) => shared === nearest);
    // The key is valid only here, in another form.
    const isOwn = nearest === path.length - 1 && first?.path.length === nearest;
    // Only the list knows what its items may have.
    const isOfItem = nearest === 0 && path.some((segment) => typeof segment === 'number');
    if (first === undefined || isOwn || isOfItem) return undefined;
    // Several kinds may have the same key at the same place.
    const names = new Set([first, ...more].map((place) => placeName(place.path)));
    const named = [...names].slice(0, 3).join(' or ');
    const it = first.name === key ? 'it' : `\`${first.name}\``;
    return `unknown key \`${excerpt(key)}\`; ${it} belongs ${named}`;
  };
}

const placeName = (path: KeyPath): string =>
  path.length === 0 ? 'at the top of the file' : `under \`${keyName(path)}\``;

function sharedBy(one: KeyPath, other: KeyPath): number {
  const parting = one.findIndex((segment, index) => segment !== other[index]);
  return parting === -1 ? one.length : parting;
}

type KnownObject = { path: KeyPath; keys: string[] };

type Schema = z.core.JSONSchema._JSONSchema;

/** Follows the lists and names as written; among several kinds, those that the object can be. */
function* placesIn(schema: Schema, written: unknown, path: KeyPath): Iterable<KnownObject> {
  if (typeof schema === 'boolean') return;
  const { properties, additionalProperties, items, oneOf = [], anyOf = [] } = schema;
  for (const one of [...oneOf, ...anyOf]) {
    if (canBe(one, written)) yield* placesIn(one, written, path);
  }
  if (Array.isArray(written) && items !== undefined && !Array.isArray(items)) {
    for (const [index, item] of written.entries()) yield* placesIn(items, item, [...path, index]);
  }
  if (properties !== undefined) {
    yield { path, keys: Object.keys(properties) };
    for (const [key, value] of Object.entries(properties)) {
      yield* placesIn(value, valueAt(written, key), [...path, key]);
    }
  } else if (additionalProperties !== undefined && isObject(written)) {
    for (const [key, value] of Object.entries(written)) {
      yield* placesIn(additionalProperties, value, [...path, key]);
    }
  }
}

/** False if the object names another kind. */
function canBe(schema: Schema, written: unknown): boolean {
  if (typeof schema === 'boolean') return false;
  return Object.entries(schema.properties ?? {}).every(([key, of]) => {
    const value = valueAt(written, key);
    const only = typeof of === 'boolean' ? undefined : of.const;
    return only === undefined || value === undefined || value === only;
  });
}

const valueAt = (written: unknown, key: string): unknown =>
  isObject(written) && Object.hasOwn(written, key) ? written[key] : undefined;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
