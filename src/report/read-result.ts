// Reads a result of an earlier process or another machine.

import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { type CellProfiles, readProfiles, withReasons } from '../analysis/profile/result-profiles.ts';
import { type BisectResult, bisectResultSchema } from '../model/bisect-result.ts';
import { parseJson } from '../model/json.ts';
import { reasonOf } from '../model/one-line.ts';
import { type Result, resultSchema } from '../model/result.ts';
import { ForeignFileError, readForeignText } from '../system/foreign-files.ts';

export class ResultError extends Error {
  override readonly name = 'ResultError';
  readonly conclusion = 'usage';
}

export const readResult = (directory: string): Promise<Result> => parsedFile(directory, 'result.json', resultSchema);

/** Returns the result of a gate or bisection from a work directory or a file, with its directory. */
export async function readAnyResult(path: string): Promise<{ directory: string; result: Result | BisectResult }> {
  const isFile = (await stat(path).catch(() => undefined))?.isFile() === true;
  if (!isFile) return { directory: path, result: await readResultBelow(path, 'result.json') };
  // The user named this file, so links are allowed.
  const file = await realpath(path);
  return { directory: dirname(path), result: await readResultBelow(dirname(file), basename(file)) };
}

/** Follows no link below the folder. */
export const readResultBelow = (folder: string, path: string): Promise<Result | BisectResult> =>
  parsedFile(folder, path, z.union([bisectResultSchema, resultSchema]));

/** A gate of 100 cells with 100 runs of 100 samples each needs a tenth of it. */
const maxResultBytes = 256 * 1024 ** 2;

async function parsedFile<T>(folder: string, path: string, schema: z.ZodType<T>): Promise<T> {
  const text = await readForeignText(folder, path, maxResultBytes).catch((error: unknown) => {
    throw new ResultError(`${reasonOf(error).replace(/\.$/, '')}: name the work directory of a gate or a bisection.`);
  });
  if (text === undefined) {
    throw new ResultError(
      `${join(folder, path)} cannot be read: name the work directory of a gate or a bisection that has finished.`,
    );
  }
  const value = parseJson(text);
  const { success, data } = schema.safeParse(value);
  if (success) return data;
  const why =
    value === undefined
      ? `, because it is ${text.trim() === '' ? 'empty' : 'incomplete JSON'}: copy it again, or resume its gate`
      : ': measure again with this version';
  throw new ResultError(`${join(folder, path)} is not a result of this version of ppsgate${why}.`);
}

/** A kernel's call graph by pmcstat has up to 100 MiB. */
const maxProfileBytes = 256 * 1024 ** 2;

/** Adds profiles, which come from a patch's kernel: omits an invalid one, and calls `leftOut` with the reason. */
export async function explained<R extends Result | BisectResult>(
  result: R,
  directory: string,
  leftOut: (why: string) => void = () => {},
): Promise<{ result: R; profiles: CellProfiles[] }> {
  const read = (path: string) =>
    readForeignText(directory, path, maxProfileBytes).catch((error: unknown) => {
      if (!(error instanceof ForeignFileError)) throw error;
      leftOut(error.message);
      return undefined;
    });
  try {
    const profiles = await readProfiles(result, read, leftOut);
    return { result: withReasons(result, profiles), profiles };
  } catch (error) {
    leftOut(`The report is written without its profiles (${reasonOf(error)}).`);
    return { result: withReasons(result, []), profiles: [] };
  }
}
