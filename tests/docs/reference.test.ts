// The pages of docs/reference/ that are built from the code; `vitest run FILE --update` writes them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { actionPage } from '../../docs/generators/action.ts';
import { outcomesPage } from '../../docs/generators/outcomes.ts';
import { parametersThat } from '../../src/config/parameters.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

test.each([
  ['action', actionPage(read('action.yml'))],
  ['outcomes', outcomesPage()],
])('docs/reference/%s.md is built from the code', async (name, page) => {
  await expect(page).toMatchFileSnapshot(`../../docs/reference/${name}.md`);
});

test('The help of the Jenkins step has each of its parameters', () => {
  const [, ofJenkins = ''] = /OF_JENKINS =\s*\[(.+)\]/.exec(read('jenkins/src/org/ppsgate/Parameters.groovy')) ?? [];
  const own = [...ofJenkins.matchAll(/'(\w+)'/g)].map(([, name = '']) => name);
  const known = parametersThat((one) => one.jenkins === true);
  const listed = [...read('jenkins/vars/ppsgate.txt').matchAll(/^ {2}(\w+(?:, \w+)*) {2,}/gm)];
  const names = new Set(listed.flatMap(([, some = '']) => some.split(', ')));
  expect([...names].toSorted()).toEqual([...known, ...own].toSorted());
});
