// Reads ppsgate.yml from a commit of the base.
import { isAbsolute } from 'node:path';
import { withCapture } from '../config/captured-traffic.ts';
import { parseConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { Repository } from '../forge/patch/repository.ts';
import { UsageError } from '../model/usage-error.ts';

/** @param path in the repository. Throws a UsageError if the commit has no such file. */
export async function configAt(
  base: string,
  path: string,
  repository: Pick<Repository, 'resolve' | 'read' | 'readBytes'>,
): Promise<Config> {
  const commit = await repository.resolve(base);
  const text = await repository.read(`${commit}:${path}`).catch(() => {
    throw new UsageError(`The base ${base} has no ${path}: add one to the base branch first.`);
  });
  const config = parseConfig(text, { path, home: process.env.HOME ?? '/' });
  const { capturePath } = config;
  if (capturePath === undefined) return config;
  if (isAbsolute(capturePath) || capturePath.startsWith('..')) {
    throw new UsageError(
      `traffic.pcap: ${capturePath} is outside the repository: add it to the base branch, beside ${path}.`,
    );
  }
  const file = await repository.readBytes(`${commit}:${capturePath}`).catch(() => {
    throw new UsageError(
      `traffic.pcap: the base ${base} has no ${capturePath} of at most 4 MiB: add one to the base branch first.`,
    );
  });
  return withCapture(config, file, capturePath);
}
