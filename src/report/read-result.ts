// Reads a result of an earlier process or another machine.

import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import {
  type CellProfiles,
  readProfiles,
  withReasons,
} from '../analysis/profile/result-profiles.ts';
import { type BisectResult, bisectResultSchema } from '../model/bisect-result.ts';
import { parseJson } from '../model/json.ts';
import { reasonOf } from '../model/one-line.ts';
import { type Result, resultSchema } from '../model/result.ts';

export class ResultError extends Error {
  override readonly name = 'ResultError';
  readonly conclusion = 'usage';
}

export const readResult = (directory: string): Promise<Result> =>
  parsedFile(join(directory, 'result.json'), resultSchema);

/** The result of a gate or bisection, from a work directory or a file, with its directory. */
export async function readAnyResult(
  path: string,
): Promise<{ directory: string; result: Result | BisectResult }> {
  const isFile = (await stat(path).catch(() => undefined))?.isFile() === true;
  const directory = isFile ? dirname(path) : path;
  const file = isFile ? path : join(directory, 'result.json');
  return { directory, result: await parsedFile(file, z.union([bisectResultSchema, resultSchema])) };
}

async function parsedFile<T>(path: string, schema: z.ZodType<T>): Promise<T> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new ResultError(
      `${path} cannot be read: name the work directory of a gate or a bisection that has finished.`,
    );
  });
  const { success, data } = schema.safeParse(parseJson(text));
  if (success) return data;
  throw new ResultError(
    `${path} is no result of this version of ppsgate: measure again with this version.`,
  );
}

/** Profiles come from a patch's kernel: an invalid one is left out, and `leftOut` is called with the reason. */
export async function explained<R extends Result | BisectResult>(
  result: R,
  directory: string,
  leftOut: (why: string) => void = () => {},
): Promise<{ result: R; profiles: CellProfiles[] }> {
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
