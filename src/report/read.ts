// Reads a result that an earlier process, or another machine, has written.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type CellProfiles, readProfiles, withReasons } from '../profile/of-result.ts';
import { reasonOf } from '../words/one-line.ts';
import { type Result, resultSchema } from '../words/result.ts';

/** A directory without a result that this version can read. */
export class ResultError extends Error {
  override readonly name = 'ResultError';
  readonly upshot = 'usage';
}

/** The `result.json` of a work directory, checked against its schema. */
export async function readResult(directory: string): Promise<Result> {
  const path = join(directory, 'result.json');
  const text = await readFile(path, 'utf8').catch(() => {
    throw new ResultError(
      `${path} cannot be read: name the work directory of a gate that has finished.`,
    );
  });
  try {
    return resultSchema.parse(JSON.parse(text));
  } catch {
    throw new ResultError(
      `${path} is no result of this version of ppsgate: judge the patch again.`,
    );
  }
}

/**
 * A result of a work directory with the profiles that lie there, and what they say of the reason. They tell what a
 * patch's kernel had to say of itself: whatever is wrong with them, the result stands without, and `leftOut` hears why.
 */
export async function explained(
  result: Result,
  directory: string,
  leftOut: (why: string) => void = () => {},
): Promise<{ result: Result; profiles: CellProfiles[] }> {
  const read = (path: string) => readFile(join(directory, path), 'utf8').catch(ifMissing);
  try {
    const profiles = await readProfiles(result, read, leftOut);
    return { result: withReasons(result, profiles), profiles };
  } catch (error) {
    leftOut(`The report goes without its profiles (${reasonOf(error)}).`);
    return { result: withReasons(result, []), profiles: [] };
  }
}

function ifMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
