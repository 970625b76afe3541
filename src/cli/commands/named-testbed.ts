// Finds a testbed of ppsgate.yml by name.
import { resolve } from 'node:path';
import { didYouMean } from '../../config/fields.ts';
import type { Config, TestbedConfig } from '../../config/schema.ts';
import { UsageError } from '../../model/usage-error.ts';

export const configPath = (written: string | undefined): string =>
  resolve(written ?? 'ppsgate.yml');

/** Throws a UsageError that lists the testbeds in `path`. */
export function namedTestbed({ testbeds }: Config, path: string, name: string): TestbedConfig {
  const testbed = Object.hasOwn(testbeds, name) ? testbeds[name] : undefined;
  if (testbed !== undefined) return testbed;
  const names = Object.keys(testbeds);
  const hint = didYouMean(name, names) || '.';
  throw new UsageError(`${path} has no testbed "${name}": it has ${names.join(', ')}${hint}`);
}
