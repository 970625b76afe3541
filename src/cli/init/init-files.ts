// Writes files into a repository; keeps existing ones unless --force is given.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { reasonOf } from '../../model/one-line.ts';
import { UsageError } from '../../model/usage-error.ts';
import { giveNew } from '../../system/give-to-caller.ts';

/** `path` is relative to the repository's top. */
export type PlannedFile =
  /** `isTheirs` is never overwritten. */
  | { path: string; text: string; isTheirs?: true }
  /** A file that must contain a line; `isThere` recognizes other forms of that line. */
  | { path: string; line: string; isThere: RegExp }
  /** An earlier version wrote the file. */
  | { path: string; isObsolete: true }
  /** Missing, but not created by ppsgate. */
  | { path: string; isMissing: true };

export type PlacedFile = {
  path: string;
  kind:
    | 'created'
    | 'unchanged'
    | 'kept'
    | 'overwritten'
    | 'extended'
    | 'left'
    /** Required for any measurement. */
    | 'missing';
  text?: string;
};

/** `text` is the new content; absent: nothing is written. */
type Change = Omit<PlacedFile, 'path'>;

/** Undefined if nothing changes; throws a UsageError if a file can be neither read nor written. */
export async function placeFile(
  file: PlannedFile,
  { directory, force, dryRun }: { directory: string; force: boolean; dryRun: boolean },
): Promise<PlacedFile | undefined> {
  const { path } = file;
  const place = join(directory, path);
  try {
    const change = changeOf(file, await readIfThere(place), force);
    if (change === undefined) return undefined;
    const { kind, text } = change;
    if (dryRun) return { path, ...change };
    if (text !== undefined) {
      const made = await mkdir(dirname(place), { recursive: true });
      await writeFile(place, text);
      await giveNew(made ?? place);
    }
    return { path, kind };
  } catch (error) {
    throw new UsageError(
      `${place} cannot be written (${reasonOf(error)}): check that it is a file and that this user may write it.`,
    );
  }
}

function changeOf(file: PlannedFile, found: string | undefined, force: boolean): Change | undefined {
  if ('isMissing' in file) return { kind: 'missing' };
  if ('isObsolete' in file) return found === undefined ? undefined : { kind: 'left' };
  if ('line' in file) {
    const { line, isThere } = file;
    if (found === undefined) return { kind: 'created', text: `${line}\n` };
    if (found.split(/\r?\n/).some((one) => isThere.test(one))) return { kind: 'unchanged' };
    const gap = found === '' || found.endsWith('\n') ? '' : '\n';
    return { kind: 'extended', text: `${found}${gap}${line}\n` };
  }
  const { text, isTheirs = false } = file;
  if (found === undefined) return { kind: 'created', text };
  if (found === text) return { kind: 'unchanged' };
  return isTheirs || !force ? { kind: 'kept' } : { kind: 'overwritten', text };
}

export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
