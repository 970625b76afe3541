// Defines a problem in ppsgate.yml, and words shared by the loader's parts.
import { excerpt } from '../model/units.ts';

/** `line` counts from 1; it is 0, and `key` empty, for the whole file. */
export type ConfigProblem = { line: number; key: string; message: string };

export type KeyPath = readonly PropertyKey[];

/** `traffic.flows`, `scenarios[1]`. */
export function keyName(path: KeyPath): string {
  return path
    .map((segment) => (typeof segment === 'number' ? `[${segment}]` : `.${excerpt(String(segment))}`))
    .join('')
    .replace(/^\./, '');
}

export const seeExample = 'write one, see docs/example/ppsgate.yml';
