import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { renderMarkdown } from '../../src/report/markdown.ts';
import { readResult } from '../../src/report/read.ts';
import { writeResult } from '../../src/report/write.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { aResult } from '../fakes/result.ts';

test('a result is read as it was written, with its report beside it and nothing else', async () => {
  const directory = temporaryFolder();
  await writeResult(directory, aResult());
  expect(await readResult(directory)).toEqual(aResult());
  expect(readFileSync(join(directory, 'report.md'), 'utf8')).toBe(renderMarkdown(aResult()));
  expect(readdirSync(directory).toSorted()).toEqual(['report.md', 'result.json']);
});

test('a later result takes the place of an earlier one', async () => {
  const directory = temporaryFolder();
  await writeResult(directory, aResult());
  await writeResult(directory, aResult({ seed: 43 }));
  expect((await readResult(directory)).seed).toBe(43);
});
