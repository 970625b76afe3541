// The page of attacks is built from the tags above tests, which `vitest run FILE --update` writes.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { attacksPage, tagsOf } from '../../docs/generators/attacks.ts';

const root = join(import.meta.dirname, '../..');
const tag = '  // Attack read/badge: A name has a script. Defence: It is\n  // escaped.\n';

test('docs/reference/attacks.md is built from the tags of all tests', async () => {
  const paths = globSync(['tests/**/*.test.ts', 'jenkins/test/**/*.groovy'], { cwd: root });
  const tags = paths.toSorted().flatMap((path) => {
    const source = readFileSync(join(root, path), 'utf8');
    return source.includes('// Attack ') ? tagsOf(path, source) : [];
  });
  await expect(attacksPage(tags)).toMatchFileSnapshot('../../docs/reference/attacks.md');
});

test('A tag has the name of the test below it, with those around it', () => {
  const source = `describe('a badge', () => {\n${tag}  test.each([['x']])('is "%s"', () => {});\n});\n`;
  expect(tagsOf('a.test.ts', source)).toEqual([
    {
      id: 'read/badge',
      text: 'A name has a script. Defence: It is escaped.',
      path: 'a.test.ts',
      test: 'a badge › is "%s"',
    },
  ]);
});

test('Two tags above one test are two attacks', () => {
  const source = `// Attack run/fork\n${tag}test('x', () => {});\n`;
  expect(tagsOf('a.test.ts', source).map(({ id }) => id)).toEqual(['run/fork', 'read/badge']);
});

test('A tag above a test in Groovy has its name', () => {
  const source = `${tag}  @Test\n  void 'is escaped'() {\n`;
  expect(tagsOf('a.groovy', source)).toMatchObject([{ id: 'read/badge', test: 'is escaped' }]);
});

test.each([
  ['nothing', ''],
  ['a statement that is no test', "const name = 'x';\n"],
])('A tag above %s is refused with its line', (_, below) => {
  expect(() => tagsOf('a.test.ts', `\n${tag}${below}`)).toThrow(/^a\.test\.ts:4: no test follows/);
});

const first = { id: 'read/badge', path: 'tests/a.test.ts', test: 'x' };
const text = 'A name has a script. Defence: It is escaped.';

test.each([
  ['without its text', [first]],
  [
    'with two texts',
    [
      { ...first, text },
      { ...first, text },
    ],
  ],
  ['without a defence', [{ ...first, text: 'A name has a script.' }]],
])('An attack %s is refused', (_, tags) => {
  expect(() => attacksPage(tags)).toThrow(/^Attack read\/badge in .* at exactly one test\.$/);
});

test('An attack of no section is refused', () => {
  expect(() => attacksPage([{ ...first, id: 'reed/badge', text }])).toThrow(/none of run, secret/);
});
