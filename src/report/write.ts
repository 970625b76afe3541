// Lays the result and its report into a work directory.
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { renderMarkdown } from './markdown.ts';
import type { Result } from './result.ts';

/** Writes `result.json` and `report.md`, each whole or not at all. */
export async function writeResult(directory: string, result: Result): Promise<void> {
  await replaceFile(join(directory, 'result.json'), `${JSON.stringify(result, null, 2)}\n`);
  await replaceFile(join(directory, 'report.md'), renderMarkdown(result));
}

/** Writes a file whole or not at all, in a folder that need not be there yet. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.part`;
  await writeFile(draft, text, { flush: true });
  await rename(draft, path);
}
