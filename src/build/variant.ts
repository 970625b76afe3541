// What is measured side by side: the base and the patched one, as files that are laid or kernels that are booted.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { UsageError } from '../config/overrides.ts';
import { reasonOf } from '../host/one-line.ts';
import type { Patch } from '../patch/patch.ts';
import type { Repository } from '../patch/repository.ts';
import type { System } from '../scenario/scenario.ts';
import { buildOverlays, overlaySchema } from './overlay.ts';

const kernelSourceSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('tree'),
    baseCommit: z.string(),
    /** What is applied to it, in base64, as a diff's bytes need be no text; absent: the base itself. */
    diff: z.base64().optional(),
  }),
  /** One that was built before: a tar archive on this machine, of one folder with `kernel` and its modules. */
  z.object({ kind: z.literal('archive'), path: z.string(), sha256: z.string() }),
]);

export const variantSchema = overlaySchema.extend({
  /** Absent: the DUT's own. */
  kernel: kernelSourceSchema.optional(),
});

export type KernelSource = z.infer<typeof kernelSourceSchema>;
export type Variant = z.infer<typeof variantSchema>;

/** Paths of kernels on this machine that were built before: tar archives of one folder with `kernel` and its modules. */
export type GivenKernels = { base: string; patched: string };

export type VariantsRequest = {
  patch: Patch;
  system: System;
  /** For Linux. */
  overlayFolder: string;
  /** For FreeBSD; absent: they are built. */
  kernels?: GivenKernels | undefined;
};

/**
 * The base where the patch parted from it, and the patch on top: on Linux the files of the overlay folder, on FreeBSD
 * kernels. Throws a `RepositoryError` where the repository lacks what they are made of, a `UsageError` for a kernel
 * that cannot be read.
 */
export async function buildVariants(
  { patch, system, overlayFolder, kernels }: VariantsRequest,
  repository: Repository,
): Promise<Variant[]> {
  if (system === 'linux') return buildOverlays(patch, overlayFolder, repository);
  const baseCommit = await repository.mergeBase(patch.baseCommit, patch.headCommit);
  const sources = kernels
    ? { base: await given(kernels.base), patched: await given(kernels.patched) }
    : await sourcesOf(baseCommit, patch.headCommit, repository);
  return [
    { variant: 'base', commit: baseCommit, files: [], kernel: sources.base },
    { variant: 'patched', commit: patch.headCommit, files: [], kernel: sources.patched },
  ];
}

async function sourcesOf(
  baseCommit: string,
  headCommit: string,
  repository: Repository,
): Promise<{ base: KernelSource; patched: KernelSource }> {
  const diff = (await repository.diff(baseCommit, headCommit)).toString('base64');
  return {
    base: { kind: 'tree', baseCommit },
    patched: { kind: 'tree', baseCommit, diff },
  };
}

async function given(path: string): Promise<KernelSource> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(path), hash);
  } catch (error) {
    throw new UsageError(`The kernel ${path} cannot be read (${reasonOf(error)}).`);
  }
  return { kind: 'archive', path: resolve(path), sha256: hash.digest('hex') };
}
