// Tests that docs/ppsgate.schema.json describes ppsgate.yml to editors: it accepts all valid files, and refuses as much
// as JSON Schema can express.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { hostedConfig, labConfig } from '../../src/cli/init/config-file.ts';
import { configKeys, configSchema } from '../../src/config/schema.ts';
import { documentsIn } from './documents.ts';

const docs = join(import.meta.dirname, '../../docs');

const schema: object = {
  $id: 'https://raw.githubusercontent.com/ppsgate/ppsgate/v1/docs/ppsgate.schema.json',
  title: 'ppsgate.yml',
  description: 'What ppsgate measures, and where. A quantity carries its unit: 2%, 3 Mpps, 500 ms.',
  ...z.toJSONSchema(configKeys, {
    io: 'input',
    // Keys that are not known; see `closed`.
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const { patterns = [] } = zodSchema._zod.bag as { patterns?: Iterable<RegExp> };
      for (const { flags, source } of patterns) {
        if (flags.includes('i')) throw new Error(`JSON Schema minds case: spell it out in ${source}`);
      }
      // URL accepts more than RFC 3986 calls a URI.
      if (jsonSchema.format === 'uri') delete jsonSchema.format;
    },
  }),
};

const fits = new Ajv2020().compile(schema);
const isRead = (value: unknown): boolean => configSchema.safeParse(value).success;

/** Small configurations with keys that the documented ones lack; the tests change them in thousands of ways. */
const rare = documentsIn('documents.yml');

const documented = (folder: string): [string, string][] =>
  readdirSync(join(docs, folder))
    .filter((name) => name.endsWith('.yml'))
    .map((name) => [`docs/${folder}/${name}`, readFileSync(join(docs, folder, name), 'utf8')]);

const inDocs = [...documented('example'), ...documented('lab')];

test('docs/ppsgate.schema.json is made of what is read', async () => {
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot('../../docs/ppsgate.schema.json');
});

test.each(inDocs)('%s points editors to the schema', (_, text) => {
  expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=../ppsgate.schema.json');
});

const action = `OWNER/ppsgate@${'a'.repeat(40)}`;

test.each([
  ...inDocs,
  ...rare,
  ['of `init` for a runner of GitHub', hostedConfig(action)],
  ['of `init` for a lab', labConfig(action)],
])('the ppsgate.yml %s is read, and fits the schema', (_, text) => {
  const config: unknown = parse(text);
  expect(configSchema.safeParse(config).error?.issues).toBeUndefined();
  expect(fits(config), JSON.stringify(fits.errors)).toBe(true);
});

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
  expect([...new Set(namedIn(schema))].filter((key) => !used.has(key))).toEqual([]);
});

test.each(['$id', 'title', 'description'])('the schema has a %s', (key) => {
  expect(schema).toHaveProperty([key]);
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
