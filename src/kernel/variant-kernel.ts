// Builds a variant's kernel, converts the outcome for a result, and copies the kernel to this machine.
import { createHash } from 'node:crypto';
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';

import type { Rejection } from '../model/rejection.ts';
import { pathName } from '../model/variant-name.ts';
import type { Host } from '../system/host/ssh.ts';
import { shell } from '../system/shell.ts';
import type { KernelBuilder } from './build-step.ts';
import { BuilderError } from './builder-error.ts';
import { buildKernel, type KernelBuild } from './kernel.ts';
import type { KernelSums } from './kernel-sums.ts';
import type { LoadedModules } from './needed-modules.ts';
import type { KernelSource } from './variant.ts';

type TreeSource = Extract<KernelSource, { kind: 'tree' }>;

export type VariantRequest = {
  readonly variant: string;
  readonly kernel: TreeSource;
  /** Modules that the DUT has loaded; absent if unknown. */
  readonly loaded?: LoadedModules;
  /** Shown to other controllers that wait for the builder. */
  readonly owner: string;
  now(): number;
  /** This machine's checksums of kernels that were built for it. */
  readonly sums: KernelSums;
  keepLog(name: string, content: string): Promise<void>;
  notify(text: string): void;
  readonly signal: AbortSignal;
};

type BuiltVariant =
  | Extract<KernelBuild, { kind: 'built' }>
  | { readonly kind: 'rejected'; readonly rejection: Rejection };

/** Returns faults of the variant as an outcome. Throws like `buildKernel`. */
export async function buildVariant(
  host: Host,
  builder: KernelBuilder,
  { variant, kernel, loaded, owner, now, sums, keepLog, notify, signal }: VariantRequest,
): Promise<BuiltVariant> {
  const { baseCommit, diff, layouts } = kernel;
  const request = {
    kind: 'tree' as const,
    baseCommit,
    ...(layouts !== undefined && { layouts }),
    ...(loaded !== undefined && { loaded }),
    ...(diff !== undefined && { diff: Buffer.from(diff, 'base64') }),
  };
  const built = await buildKernel(host, builder, request, {
    signal,
    keepLog: (name, text) => keepLog(`${pathName(variant)}-${name}`, text),
    onProgress: (line) => notify(`${variant}: ${line}`),
    now,
    sums,
    owner: `${owner} (${variant})`,
  });
  if (built.kind === 'built') return built;
  const rejection: Rejection =
    built.kind === 'build-failed'
      ? { kind: 'build-failed', message: built.errors.join('\n') }
      : { kind: built.kind, message: built.reason };
  return { kind: 'rejected', rejection };
}

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
      for (let written = 0; written < chunk.length; ) written += writeSync(file, chunk, written);
    };
    await host.run(shell`cat ${archive}`, { onStdout, signal });
    if (hash.digest('hex') !== sha256) {
      throw new BuilderError(`${archive} on ${host.name} arrived with a SHA-256 other than ${sha256}.`);
    }
    renameSync(partial, path);
  } finally {
    closeSync(file);
    rmSync(partial, { force: true });
  }
}
