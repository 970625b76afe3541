// Stores checksums of a builder's cached kernels on the controller, as a patch's build can rewrite those on the
// builder.
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { checkOwn } from '../system/own-file.ts';

export type KernelSums = {
  get(name: string): string | undefined;
  set(name: string, sha256: string): void;
};

/** Trusts only kernels that were just built. */
export const noSums: KernelSums = { get: () => undefined, set: () => {} };

/**
 * Stores one file per kernel, until half a year after its last use. A failed write, or a file that other users may
 * write, costs only a rebuild.
 */
export function kernelSums(folder: string, now: () => number = Date.now): KernelSums {
  const pathOf = (name: string) => join(folder, createHash('sha256').update(name).digest('hex').slice(0, 40));
  return {
    get(name) {
      try {
        const path = pathOf(name);
        checkOwn(path);
        const sha256 = readFileSync(path, 'utf8').trim();
        utimesSync(path, now() / 1000, now() / 1000);
        return sha256;
      } catch {
        return undefined;
      }
    },

    set(name, sha256) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        forget(folder, now() - keptMilliseconds);
        const path = pathOf(name);
        const partial = `${path}.${process.pid}`;
        writeFileSync(partial, `${sha256}\n`, { mode: 0o600 });
        renameSync(partial, path);
      } catch {
        // The next gate builds the kernel again.
      }
    },
  };
}

const keptMilliseconds = 180 * 24 * 3600 * 1000;

function forget(folder: string, before: number): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).mtimeMs < before) rmSync(path, { force: true });
  }
}

/** Below the state folder of the XDG Base Directory Specification. */
export function sumsFolder({ XDG_STATE_HOME: state = '' }: NodeJS.ProcessEnv, home: string) {
  const folder = isAbsolute(state) ? state : join(home, '.local/state');
  return join(folder, 'ppsgate/kernels');
}
