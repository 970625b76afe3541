// The kernels of a patch's variants: built while the DUT measures others, and fetched from the builder to this machine.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { BuilderError } from '../../build/builder-error.ts';
import { fetchKernel } from '../../build/fetch-kernel.ts';
import { buildKernel } from '../../build/kernel.ts';
import type { KernelSums } from '../../build/kernel-sums.ts';
import type { LoadedModules } from '../../build/needed-modules.ts';
import type { KernelSource, Variant } from '../../build/variant.ts';
import type { BuilderConfig } from '../../config/builder.ts';
import type { KernelArchive } from '../../dut/freebsd.ts';
import type { Host } from '../../host/ssh.ts';
import type { Rejection } from '../../words/rejection.ts';
import { pathName } from '../../words/variant-name.ts';
import type { PrepareRequest } from '../testbed.ts';

export type Kernel =
  /** The DUT's. */
  | { kind: 'own' }
  | { kind: 'archive'; archive: KernelArchive }
  | { kind: 'rejected'; rejection: Rejection };

export type Builder = {
  config: BuilderConfig;
  connect(): Promise<Host>;
  /** The time in seconds, of any origin. */
  now(): number;
  /** What this machine remembers of kernels that were built for it. */
  sums: KernelSums;
  /** What the DUT has loaded; absent: nobody has looked. */
  loaded?: LoadedModules;
  /** Who builds, for others who wait for their turn. */
  owner: string;
};

export type Kernels = {
  /** Waits until it is there; rejects with a BuilderError or a HostError. */
  get(variant: string): Promise<Kernel>;
};

/** Begins with all of them, one after the other; archives go to `folder`. */
export function startKernels(
  { variants, keepLog, tell, signal }: PrepareRequest,
  builder: Builder | undefined,
  folder: string,
): Kernels {
  let before: Promise<unknown> = Promise.resolve();
  const kernels = new Map(
    variants.map((variant) => {
      const kernel = before.then(() => kernelOf(variant, builder, folder));
      // Whoever asks for it hears of it; the next one is built all the same.
      before = kernel.catch(() => {});
      return [variant.variant, kernel] as const;
    }),
  );
  return {
    get: (variant) => kernels.get(variant) ?? Promise.resolve({ kind: 'own' }),
  };

  async function kernelOf(
    { variant, kernel }: Variant,
    builder: Builder | undefined,
    folder: string,
  ): Promise<Kernel> {
    if (kernel === undefined) return { kind: 'own' };
    if (kernel.kind === 'archive') {
      return { kind: 'archive', archive: await givenArchive(variant, kernel) };
    }
    if (builder === undefined) {
      throw new BuilderError(
        'The testbed has no builder: give it one in ppsgate.yml, or kernels that are built already.',
      );
    }
    signal.throwIfAborted();
    tell(`building the kernel of ${variant}`);
    await using host = await builder.connect();
    const built = await buildKernel(host, builder.config, requestFor(kernel, builder.loaded), {
      signal,
      keepLog: (name, text) => keepLog(`${pathName(variant)}-${name}`, text),
      onProgress: (line) => tell(`${variant}: ${line}`),
      now: builder.now,
      sums: builder.sums,
      owner: `${builder.owner} (${variant})`,
    });
    if (built.kind !== 'built') return { kind: 'rejected', rejection: rejectionOf(built) };
    const path = join(folder, `${pathName(variant)}.tar`);
    await fetchKernel(host, built, path, signal);
    const { sha256, unpackedBytes } = built;
    return { kind: 'archive', archive: { variant, path, sha256, unpackedBytes } };
  }
}

type TreeSource = Extract<KernelSource, { kind: 'tree' }>;

const requestFor = ({ baseCommit, diff }: TreeSource, loaded: LoadedModules | undefined) => ({
  kind: 'tree' as const,
  baseCommit,
  ...(loaded !== undefined && { loaded }),
  ...(diff !== undefined && { diff: Buffer.from(diff, 'base64') }),
});

type Unbuilt = Exclude<Awaited<ReturnType<typeof buildKernel>>, { kind: 'built' }>;

function rejectionOf(unbuilt: Unbuilt): Rejection {
  return unbuilt.kind === 'build-failed'
    ? { kind: 'build-failed', message: unbuilt.errors.join('\n') }
    : { kind: unbuilt.kind, message: unbuilt.reason };
}

async function givenArchive(
  variant: string,
  { path, sha256 }: Extract<KernelSource, { kind: 'archive' }>,
): Promise<KernelArchive> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  if (hash.digest('hex') !== sha256) {
    throw new BuilderError(`${path} is not the kernel with the SHA-256 ${sha256}: it was changed.`);
  }
  const { size } = await stat(path);
  return { variant, path, sha256, unpackedBytes: (await isPlainTar(path)) ? size : 4 * size };
}

/** A plain one is as big as what is in it; a compressed kernel has at least a quarter of its size. */
async function isPlainTar(path: string): Promise<boolean> {
  await using file = await open(path);
  const magic = Buffer.alloc(5);
  await file.read(magic, 0, 5, 257);
  return magic.toString() === 'ustar';
}
