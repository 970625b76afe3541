// Copies a kernel from the builder to this machine.
import { createHash } from 'node:crypto';
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import type { Host } from '../system/host/ssh.ts';
import { shell } from '../system/shell.ts';
import { BuilderError } from './builder-error.ts';

/** Writes the archive atomically. Throws a BuilderError for a wrong checksum. */
export async function fetchKernel(
  host: Host,
  { archive, sha256 }: { readonly archive: string; readonly sha256: string },
  path: string,
  signal: AbortSignal,
): Promise<void> {
  const partial = `${path}.part`;
  const file = openSync(partial, 'w');
  const hash = createHash('sha256');
  try {
    const onStdout = (chunk: Uint8Array) => {
      hash.update(chunk);
      writeWhole(file, chunk);
    };
    await host.run(shell`cat ${archive}`, { onStdout, signal });
    if (hash.digest('hex') !== sha256) {
      throw new BuilderError(
        `${archive} on ${host.name} arrived with a SHA-256 other than ${sha256}; check its disk, and build it again.`,
      );
    }
    renameSync(partial, path);
  } finally {
    closeSync(file);
    rmSync(partial, { force: true });
  }
}

function writeWhole(file: number, chunk: Uint8Array): void {
  for (let written = 0; written < chunk.length; ) {
    written += writeSync(file, chunk, written);
  }
}
