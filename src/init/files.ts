// Files laid into somebody's repository: what is there already is kept, unless told otherwise.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { reasonOf } from '../words/one-line.ts';
import { UsageError } from '../words/usage-error.ts';

/** `path` starts at the repository's top; `isTheirs` is never overwritten. */
export type PlannedFile = { path: string; text: string; isTheirs?: true };

/** `kept` differs from what we would write. */
export type PlacedFile = { path: string; kind: 'created' | 'unchanged' | 'kept' | 'overwritten' };

/** Throws a UsageError where a file can be neither read nor written. */
export async function placeFile(
  { path, text, isTheirs }: PlannedFile,
  { directory, force, dryRun }: { directory: string; force: boolean; dryRun: boolean },
): Promise<PlacedFile> {
  const place = join(directory, path);
  try {
    const found = await readIfThere(place);
    if (found === text) return { path, kind: 'unchanged' };
    if (found !== undefined && (isTheirs === true || !force)) return { path, kind: 'kept' };
    if (!dryRun) {
      await mkdir(dirname(place), { recursive: true });
      await writeFile(place, text);
    }
    return { path, kind: found === undefined ? 'created' : 'overwritten' };
  } catch (error) {
    throw new UsageError(
      `${place} cannot be written (${reasonOf(error)}): see that it is a file, and yours.`,
    );
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
