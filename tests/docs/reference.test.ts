// The pages of docs/reference/ that are built from the code; `vitest run FILE --update` writes them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { actionPage } from '../../docs/generators/action.ts';
import { jenkinsPage } from '../../docs/generators/jenkins.ts';
import { outcomesPage } from '../../docs/generators/outcomes.ts';
import { parametersThat } from '../../src/config/parameters.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

const jenkins = jenkinsPage(read('jenkins/vars/ppsgate.txt'));

test.each([
  ['action', actionPage(read('action.yml'))],
  ['jenkins', jenkins],
  ['outcomes', outcomesPage()],
])('docs/reference/%s.md is built from the code', async (name, page) => {
  await expect(page).toMatchFileSnapshot(`../../docs/reference/${name}.md`);
});

test('The page of the Jenkins step has each of its parameters once', () => {
  const [, ofJenkins = ''] = /OF_JENKINS =\s*\[(.+)\]/.exec(read(groovy)) ?? [];
  const own = [...ofJenkins.matchAll(/'(\w+)'/g)].map(([, name = '']) => name);
  const known = parametersThat((one) => one.jenkins === true);
  const listed = [...jenkins.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = '']) => name);
  expect(listed.toSorted()).toEqual([...known, ...own].toSorted());
});

const groovy = 'jenkins/src/org/ppsgate/Parameters.groovy';
