// Finds ppsgate.yml in the current folder or one above it, as git finds a repository, and a testbed of it by name.
import { lstatSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { didYouMean } from '../config/did-you-mean.ts';
import type { Config, TestbedConfig } from '../config/schema.ts';
import { UsageError } from '../model/usage-error.ts';
import { checkNotOpen, ExposedPlaceError, isOwned } from '../system/own-file.ts';

export const usualConfig = 'ppsgate.yml';

/**
 * Returns the path of a configuration, which may not exist; also looks for the usual name in the folders above. A file
 * there configures commands that run as this user: throws a UsageError if another user owns it or may write it, unless
 * the path was given.
 */
export function findConfig(written: string, folder = process.cwd()): { path: string; isAbove: boolean } {
  const here = resolve(folder, written);
  if (written !== usualConfig) return { path: here, isAbove: false };
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, usualConfig);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found !== undefined) {
      const isAbove = at !== folder;
      if (isAbove) expectOwn(path, found);
      return { path, isAbove };
    }
    if (at === dirname(at)) return { path: here, isAbove: false };
  }
}

function expectOwn(path: string, link: Stats): void {
  const target = statSync(path, { throwIfNoEntry: false }) ?? link;
  const stranger = [link, target].find((stats) => !isOwned(stats));
  if (stranger !== undefined) {
    throw new UsageError(
      `${path} was found in a parent folder and belongs to the user ${stranger.uid}, so it is not used: name it with --config if you trust it.`,
    );
  }
  try {
    checkNotOpen(path);
  } catch (error) {
    if (!(error instanceof ExposedPlaceError)) throw error;
    throw new UsageError(`The configuration above the current folder is refused: ${error.message}.`);
  }
}

/** Prints the path of a configuration that was found above the current folder. */
export function configPath(written: string | undefined): string {
  const { path, isAbove } = findConfig(written ?? usualConfig);
  if (isAbove) process.stderr.write(`Configuration: ${path}\n`);
  return path;
}

/** Throws a UsageError that lists the testbeds in `path`. */
export function namedTestbed({ testbeds }: Config, path: string, name: string): TestbedConfig {
  const testbed = Object.hasOwn(testbeds, name) ? testbeds[name] : undefined;
  if (testbed !== undefined) return testbed;
  const names = Object.keys(testbeds);
  const hint = didYouMean(name, names) || '.';
  throw new UsageError(`${path} has no testbed "${name}": it has ${names.join(', ')}${hint}`);
}
