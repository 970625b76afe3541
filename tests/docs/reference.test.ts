// The pages of docs/reference/ that are built from the code; `vitest run FILE --update` writes them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { actionPage } from '../../docs/generators/action.ts';
import { outcomesPage } from '../../docs/generators/outcomes.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');

test.each([
  ['action', actionPage(read('action.yml'))],
  ['outcomes', outcomesPage()],
])('docs/reference/%s.md is built from the code', async (name, page) => {
  await expect(page).toMatchFileSnapshot(`../../docs/reference/${name}.md`);
});
