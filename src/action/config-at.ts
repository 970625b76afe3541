// Reads ppsgate.yml from a commit of the base.
import { parseConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { Repository } from '../forge/patch/repository.ts';
import { UsageError } from '../model/usage-error.ts';

/** @param path in the repository. Throws a UsageError where the commit has no such file. */
export async function configAt(
  base: string,
  path: string,
  repository: Pick<Repository, 'resolve' | 'read'>,
): Promise<Config> {
  const commit = await repository.resolve(base);
  const text = await repository.read(`${commit}:${path}`).catch(() => {
    throw new UsageError(`The base ${base} has no ${path}: add one to the base branch first.`);
  });
  return parseConfig(text, { path, home: process.env.HOME ?? '/' });
}
