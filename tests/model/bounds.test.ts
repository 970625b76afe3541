// Foreign data has bounds: its schemas are made of bounded pieces.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import * as bounded from '../../src/model/bounds.ts';

const root = join(import.meta.dirname, '../../src');

/** Schemas of our own files and options, and of the runner: nothing foreign. */
const isOwn = (path: string): boolean =>
  path.startsWith('config/') || ['model/bounds.ts', 'model/units.ts', 'action/inputs.ts'].includes(path);

test.for(globSync('**/*.ts', { cwd: root }).filter((path) => !isOwn(path)))(
  'every text, list and number of %s has bounds',
  (path) => {
    const source = readFileSync(join(root, path), 'utf8');
    const pieces = source.matchAll(/\bz\s*\.(?:string|number|array|record|url|base64|iso\s*\.datetime)\([^;]{0,400}/g);
    const unbounded = [...pieces].filter(([text]) => !/\)\s*\.(?:max|lt|regex)\(/.test(text));
    expect(unbounded.map(([text]) => text)).toEqual([]);
  },
);

test.for([
  ['a count', bounded.count, 10_000_001],
  ['a rate', bounded.rate, 1e300],
  ['a rate below any', bounded.rate, 5e-324],
  ['a cost of nothing', bounded.measured, 0],
  ['a time', bounded.time, `2026-01-01T00:00:00.${'0'.repeat(40)}Z`],
  ['a name', bounded.name, 'x'.repeat(251)],
  ['a list', bounded.list(bounded.count, 2), [1, 2, 3]],
] as const)('%s beyond its bound is refused', ([, schema, value]) => {
  expect(schema.safeParse(value).success).toBe(false);
});

test('a record of more names than its bound is refused', () => {
  const names = Array.from({ length: 1001 }, (_, index) => [`name ${index}`, '']);
  expect(bounded.facts.safeParse(Object.fromEntries(names)).success).toBe(false);
});

test('text for people is cut off at its bound, between whole characters', () => {
  const text = bounded.prose(3).parse(`a${'🚦'.repeat(9)}`);
  expect(text).toBe('a�…');
  expect(z.string().parse(text).isWellFormed()).toBe(true);
  expect(bounded.prose(3).parse('abc')).toBe('abc');
});
