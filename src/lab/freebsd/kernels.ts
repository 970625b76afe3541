// The kernels of a patch's variants: built while the DUT measures others, and fetched from the builder to this machine.
import { createHash } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import type { BuilderConfig } from '../../config/builder.ts';
import { BuilderError } from '../../kernel/builder-error.ts';
import { fetchKernel } from '../../kernel/fetch-kernel.ts';
import type { KernelSums } from '../../kernel/kernel-sums.ts';
import type { LoadedModules } from '../../kernel/needed-modules.ts';
import type { KernelSource, Variant } from '../../kernel/variant.ts';
import { buildVariant } from '../../kernel/variant-kernel.ts';
import type { Rejection } from '../../model/rejection.ts';
import { linkName, pathName } from '../../model/variant-name.ts';
import type { Host } from '../../system/host/ssh.ts';
import type { PrepareRequest } from '../testbed.ts';
import type { KernelArchive } from './dut/freebsd-dut.ts';

export type VariantKernel =
  /** The DUT's. */
  | { kind: 'own' }
  | { kind: 'archive'; archive: KernelArchive }
  | { kind: 'rejected'; rejection: Rejection };

export type KernelBuilder = {
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
  /**
   * Begins with what is listed, one build after the other. What is there stays, and a build that runs goes on, unless the
   * first of the list has no kernel: then that is built now, and the other anew in its turn. What is not listed is given up.
   */
  want(request: PrepareRequest): void;
  /**
   * Waits until it is there, of several links the one that is named, or the first; rejects with a BuilderError or a
   * HostError. What was never listed is the DUT's own.
   */
  get(variant: string, link?: number): Promise<VariantKernel>;
  /** Variants of which no build is waited for. */
  ready(): ReadonlySet<string>;
  /** Resolves when no build goes on: soon after the signals of all requests are aborted. */
  ended(): Promise<void>;
};

/** All links of a kernel, of which each run boots one. */
type Links = { kind: 'links'; archives: ReadonlyMap<number, KernelArchive> };

type Wanted = {
  readonly variant: Variant;
  readonly kernel: PromiseWithResolvers<VariantKernel | Links>;
  /** It has its kernel, was rejected or has failed; or nobody has to build it. */
  isSettled: boolean;
};

/** Archives go to `folder`. */
export function kernelsIn(folder: string, builder: KernelBuilder | undefined): Kernels {
  let wanted: ReadonlyMap<string, Wanted> = new Map();
  let newest: PrepareRequest | undefined;
  let building: { one: Wanted; drop: AbortController } | undefined;
  let work = Promise.resolve();
  const givenUp = new Set<string>();
  return {
    want(request) {
      newest = request;
      const list = request.variants.map((variant) => {
        const known = wanted.get(variant.variant);
        return known && isDeepStrictEqual(known.variant, variant) ? known : newlyWanted(variant);
      });
      const gone = [...wanted.values()].filter((one) => !list.includes(one));
      wanted = new Map(list.map((one) => [nameOf(one), one]));
      for (const one of gone) giveUp(one);
      for (const name of wanted.keys()) givenUp.delete(name);
      const [first] = list;
      const isPassed = first !== undefined && !first.isSettled && first !== building?.one;
      if (building !== undefined && (isPassed || gone.includes(building.one))) {
        building.drop.abort(new Error(`the kernel of ${nameOf(building.one)} is not wanted now`));
      }
      work = work.then(buildAll);
    },

    async get(variant, link) {
      const one = wanted.get(variant);
      if (one !== undefined) return linkOf(await one.kernel.promise, variant, link);
      if (givenUp.has(variant)) throw notListed(variant);
      return { kind: 'own' };
    },

    ready() {
      const settled = [...wanted.values()].filter(({ isSettled }) => isSettled);
      return new Set(settled.map(nameOf));
    },

    ended: () => work,
  };

  function newlyWanted(variant: Variant): Wanted {
    const kernel = Promise.withResolvers<VariantKernel | Links>();
    // Whoever asks for it hears of it; the next one is built all the same.
    kernel.promise.catch(() => {});
    const isSettled = variant.kernel?.kind !== 'tree';
    if (isSettled) broughtKernel(variant).then(kernel.resolve, kernel.reject);
    return { variant, kernel, isSettled };
  }

  function giveUp(one: Wanted): void {
    givenUp.add(nameOf(one));
    one.kernel.reject(notListed(nameOf(one)));
    removeArchives(one);
  }

  /** Each by the newest request that there is when its build begins. */
  async function buildAll(): Promise<void> {
    for (;;) {
      const one = [...wanted.values()].find(({ isSettled }) => !isSettled);
      if (one === undefined || newest === undefined) return;
      const drop = new AbortController();
      building = { one, drop };
      const signal = AbortSignal.any([newest.signal, drop.signal]);
      try {
        one.kernel.resolve(await builtKernel(one, { ...newest, signal }));
        one.isSettled = true;
      } catch (error) {
        one.isSettled = !drop.signal.aborted;
        if (one.isSettled) one.kernel.reject(error);
      }
      building = undefined;
      // It came although nobody waits for it any more.
      if (wanted.get(nameOf(one)) !== one) removeArchives(one);
    }
  }

  async function builtKernel(
    one: Wanted,
    { signal, notify, keepLog }: PrepareRequest,
  ): Promise<VariantKernel | Links> {
    const { variant, kernel } = one.variant;
    if (kernel?.kind !== 'tree') return { kind: 'own' };
    if (builder === undefined) {
      throw new BuilderError(
        'The testbed has no builder: give it one in ppsgate.yml, or kernels that are built already.',
      );
    }
    signal.throwIfAborted();
    notify(`building the kernel of ${variant}`);
    await using host = await builder.connect();
    const built = await buildVariant(host, builder.config, {
      ...builder,
      variant,
      kernel,
      keepLog,
      notify,
      signal,
    });
    if (built.kind === 'rejected') return built;
    const archives = new Map<number, KernelArchive>();
    for (const [index, each] of [built, ...built.further].entries()) {
      const name = linkName(variant, kernel.links?.[index]);
      const path = pathOf(name);
      await fetchKernel(host, each, path, signal);
      const { sha256, unpackedBytes } = each;
      const archive = { variant: name, path, sha256, unpackedBytes };
      if (kernel.links === undefined) return { kind: 'archive', archive };
      archives.set(kernel.links[index] ?? 1, archive);
    }
    return { kind: 'links', archives };
  }

  function removeArchives({ variant: { variant, kernel } }: Wanted): void {
    const links = kernel?.kind === 'tree' ? kernel.links : undefined;
    for (const link of links ?? [undefined])
      rmSync(pathOf(linkName(variant, link)), { force: true });
  }

  function pathOf(name: string): string {
    return join(folder, `${pathName(name)}.tar`);
  }
}

const nameOf = ({ variant }: Wanted): string => variant.variant;

function linkOf(
  kernel: VariantKernel | Links,
  variant: string,
  link: number | undefined,
): VariantKernel {
  if (kernel.kind !== 'links') return kernel;
  const [first] = kernel.archives.keys();
  const archive = kernel.archives.get(link ?? first ?? 1);
  if (archive === undefined) throw new TypeError(`${variant} has no link ${link}.`);
  return { kind: 'archive', archive };
}

const notListed = (variant: string): Error =>
  new TypeError(`The kernel of ${variant} was given up; list it again to have it built.`);

/** One that nobody has to build. */
async function broughtKernel({ variant, kernel }: Variant): Promise<VariantKernel> {
  if (kernel?.kind !== 'archive') return { kind: 'own' };
  return { kind: 'archive', archive: await givenArchive(variant, kernel) };
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
