// Lays the result and its report into a work directory.
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderMarkdown } from './markdown.ts';
import type { Result } from './result.ts';

/** Writes `result.json` and `report.md`, each whole or not at all. */
export async function writeResult(directory: string, result: Result): Promise<void> {
  await replaceFile(join(directory, 'result.json'), `${JSON.stringify(result, null, 2)}\n`);
  await replaceFile(join(directory, 'report.md'), renderMarkdown(result));
}

async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.part`;
  await writeFile(draft, text, { flush: true });
  await rename(draft, path);
}
