// Changes ppsgate.yml in thousands of ways: its JSON Schema refuses as much as it can express, and nothing that is read.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { configSchema } from '../../src/config/schema.ts';
import { documented, ppsgateSchema, rare } from './documents.ts';

const fits = new Ajv2020().compile(ppsgateSchema);
const isRead = (value: unknown): boolean => configSchema.safeParse(value).success;

const changed = [...documented('example'), ...rare];

describe.each(changed)('the ppsgate.yml %s', (_, text) => {
  const config: unknown = parse(text);

  test('fits with every change with which it is read', () => {
    const wrong = changesOf(config, (value) => [...others, ...spellings(value), undefined])
      .filter(({ changed }) => !fits(changed) && isRead(changed))
      .map(({ path, other }) => [path.join('.'), other]);
    expect(wrong).toEqual([]);
  });

  test('fits with a value of another type only where it is read', () => {
    const wrong = changesOf(config, (value) => others.filter((one) => typeOf(one) !== typeOf(value)))
      .filter(({ changed }) => fits(changed) && !isRead(changed))
      .map(({ path, other }) => [path.join('.'), other]);
    expect(wrong).toEqual([]);
  });

  test('neither fits nor is read with an unknown key', () => {
    for (const { path, value } of placesIn(config).filter(isClosed)) {
      const changed = replaced(config, path, { ...(value as object), flwos: 1 });
      expect([path, fits(changed), isRead(changed)]).toEqual([path, false, false]);
    }
  });
});

test('the ppsgate.yml that are changed have every key that the schema has', () => {
  const used = new Set(changed.flatMap(([, text]) => keysOf(parse(text))));
  expect([...new Set(namedIn(ppsgateSchema))].filter((key) => !used.has(key))).toEqual([]);
});

type Place = { path: (string | number)[]; value: unknown };

/** Every value in it, itself first. */
function placesIn(value: unknown, path: (string | number)[] = []): Place[] {
  const children: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : typeOf(value) === 'object'
      ? Object.entries(value as object)
      : [];
  return [{ path, value }, ...children.flatMap(([key, child]) => placesIn(child, [...path, key]))];
}

const others = [null, true, 0, 1, 2.5, -1, 1e9, '', 'x', '5', '5%', '3 s', [], ['x'], {}];

const spellings = (value: unknown): unknown[] =>
  typeof value === 'string' ? [value.toUpperCase(), value.toLowerCase(), `${value}x`, value.replace(' ', '')] : [];

const changesOf = (config: unknown, othersFor: (value: unknown) => unknown[]) =>
  placesIn(config).flatMap(({ path, value }) =>
    othersFor(value).map((other) => ({ path, other, changed: replaced(config, path, other) })),
  );

/** A copy with another value at a place, or without it. */
function replaced(value: unknown, [key, ...rest]: Place['path'], other: unknown): unknown {
  if (key === undefined) return other;
  if (Array.isArray(value)) {
    return value.flatMap((item, index) => {
      if (index !== key) return [item];
      return rest.length === 0 && other === undefined ? [] : [replaced(item, rest, other)];
    });
  }
  const entries = Object.entries(value as object).flatMap(([name, item]) => {
    if (name !== key) return [[name, item]];
    return rest.length === 0 && other === undefined ? [] : [[name, replaced(item, rest, other)]];
  });
  return Object.fromEntries(entries);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Testbeds and rules have names of the site's own. */
const isClosed = ({ path, value }: Place): boolean =>
  typeOf(value) === 'object' && !['testbeds', 'rules'].includes(path.join('.'));

const keysOf = (value: unknown): (string | number)[] => placesIn(value).flatMap(({ path }) => path.at(-1) ?? []);

/** The keys that a schema knows by name. */
function namedIn(part: unknown): string[] {
  return placesIn(part)
    .filter(({ path }) => path.at(-1) === 'properties')
    .flatMap(({ value }) => Object.keys(value as object));
}
