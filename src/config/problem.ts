// A problem in ppsgate.yml as the loader's parts hand it on, with the words that they share.
import { excerpt } from '../model/units.ts';

/** One thing to fix. `line` counts from 1 and is 0, like `key` is empty, where it is the file as a whole. */
export type ConfigProblem = { line: number; key: string; message: string };

/** Keys and list indices from the top of the file to the place that is meant. */
export type KeyPath = readonly PropertyKey[];

/** `traffic.flows`, `scenarios[1]`. */
export function keyName(path: KeyPath): string {
  return path
    .map((segment) =>
      typeof segment === 'number' ? `[${segment}]` : `.${excerpt(String(segment))}`,
    )
    .join('')
    .replace(/^\./, '');
}

export const seeExample = 'write one, see docs/example/ppsgate.yml';
