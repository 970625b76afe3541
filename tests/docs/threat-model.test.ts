// The threat model names a test for every attack: here it is held to tests that are there.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'docs/threat-model.md'), 'utf8');

/** `path`: a name; another name; `other/path`: … */
const cells = text
  .split('\n')
  .filter((line) => line.startsWith('| ') && /`[\w./-]+\.test\.ts`: /.test(line))
  .map(
    (line) =>
      line
        .split(/(?<!\\)\|/)
        .at(-2)
        ?.trim() ?? '',
  );

const named = cells.flatMap((cell) =>
  [...cell.matchAll(/`([\w./-]+\.test\.ts)`: (.*?)(?=; `[\w./-]+\.test\.ts`: |$)/g)].map(
    ([, path = '', names = '']) => ({ path, names }),
  ),
);

test('every attack is told with a test', () => {
  expect(named.length).toBeGreaterThan(70);
});

test.each(named)('$path has the tests that it names: $names', ({ path, names }) => {
  const file = join(root, 'tests', path);
  expect(existsSync(file), file).toBe(true);
  const source = unquoted(readFileSync(file, 'utf8'));
  const missing = unquoted(names).split('; ').reduce<string[]>(joined(source), []);
  expect(missing.filter((name) => !source.includes(name))).toEqual([]);
});

/** Names have semicolons of their own: what is not there alone may be there with what follows. */
const joined = (source: string) => (before: string[], part: string) => {
  const last = before.at(-1);
  return last === undefined || source.includes(last)
    ? [...before, part]
    : [...before.slice(0, -1), `${last}; ${part}`];
};

/** Names may stand in single quotes or in a template. */
function unquoted(source: string): string {
  return source.replaceAll('\\', '');
}
