// Finds ppsgate.yml, and a testbed of it by name.
import { didYouMean } from '../../config/did-you-mean.ts';
import type { Config, TestbedConfig } from '../../config/schema.ts';
import { UsageError } from '../../model/usage-error.ts';
import { findConfig, usualConfig } from './find-config.ts';

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
