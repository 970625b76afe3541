// Builds the kernels of a patch's variants while the DUT measures others, and fetches them from the builder.
import { createHash } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import type { FreebsdBuilder } from '../../config/cross-builder.ts';
import { BuilderError } from '../../kernel/builder-error.ts';
import type { KernelSums } from '../../kernel/kernel-sums.ts';
import type { LoadedModules } from '../../kernel/needed-modules.ts';
import type { KernelSource, Variant } from '../../kernel/variant.ts';
import { buildVariant, fetchKernel } from '../../kernel/variant-kernel.ts';
import type { Rejection } from '../../model/rejection.ts';
import { layoutName, pathName } from '../../model/variant-name.ts';
import type { Host } from '../../system/host/ssh.ts';
import type { PrepareRequest } from '../testbed.ts';
import type { KernelArchive } from './dut/freebsd-dut.ts';

export type VariantKernel =
  | { kind: 'own' }
  | { kind: 'archive'; archive: KernelArchive }
  | { kind: 'rejected'; rejection: Rejection };

export type KernelBuilder = {
  config: FreebsdBuilder;
  connect(): Promise<Host>;
  now(): number;
  sums: KernelSums;
  /** Modules that the DUT has loaded; absent if unknown. */
  loaded?: LoadedModules;
  /** Name of this build, shown to other builds that wait for their turn. */
  owner: string;
};

/** All layout variants of a kernel; each run boots one. */
type KernelLayouts = { kind: 'layouts'; archives: ReadonlyMap<number, KernelArchive> };

type ListedKernel = {
  readonly variant: Variant;
  readonly kernel: PromiseWithResolvers<VariantKernel | KernelLayouts>;
  /** The kernel was built, fetched or rejected, has failed, or needs no build. */
  isSettled: boolean;
};

/** Builds the listed kernels one after the other, and keeps the archives in a folder of this machine. */
export class Kernels {
  readonly #folder: string;
  readonly #builder: KernelBuilder | undefined;
  readonly #givenUp = new Set<string>();
  #listed: ReadonlyMap<string, ListedKernel> = new Map();
  #newest: PrepareRequest | undefined;
  #building: { listed: ListedKernel; drop: AbortController } | undefined;
  #work = Promise.resolve();

  constructor(folder: string, builder: KernelBuilder | undefined) {
    this.#folder = folder;
    this.#builder = builder;
  }

  /**
   * Replaces the list of kernels. Finished kernels stay. A running build continues unless the first of the list has no
   * kernel: that one is built now, and the other later in its turn. Gives up kernels that are no longer listed.
   */
  list(request: PrepareRequest): void {
    this.#newest = request;
    const list = request.variants.map((variant) => {
      const before = this.#listed.get(variant.variant);
      return before && isDeepStrictEqual(before.variant, variant) ? before : listed(variant);
    });
    const gone = [...this.#listed.values()].filter((one) => !list.includes(one));
    this.#listed = new Map(list.map((one) => [nameOf(one), one]));
    for (const one of gone) this.#giveUp(one);
    for (const name of this.#listed.keys()) this.#givenUp.delete(name);
    const [first] = list;
    const building = this.#building;
    const isPassed = first !== undefined && !first.isSettled && first !== building?.listed;
    if (building !== undefined && (isPassed || gone.includes(building.listed))) {
      building.drop.abort(new Error(`the kernel of ${nameOf(building.listed)} is no longer needed`));
    }
    this.#work = this.#work.then(() => this.#buildAll());
  }

  /**
   * Waits for a kernel, and for the layout variant `layout` if it has several. An unlisted variant runs the DUT's own
   * kernel.
   */
  async get(variant: string, layout?: number): Promise<VariantKernel> {
    const one = this.#listed.get(variant);
    if (one !== undefined) return layoutOf(await one.kernel.promise, variant, layout);
    if (this.#givenUp.has(variant)) throw notListed(variant);
    return { kind: 'own' };
  }

  ready(): ReadonlySet<string> {
    return new Set([...this.#listed.values()].filter(({ isSettled }) => isSettled).map(nameOf));
  }

  /** Resolves when no build runs, soon after the signals of all requests are aborted. */
  ended(): Promise<void> {
    return this.#work;
  }

  #giveUp(one: ListedKernel): void {
    this.#givenUp.add(nameOf(one));
    one.kernel.reject(notListed(nameOf(one)));
    this.#removeArchives(one);
  }

  async #buildAll(): Promise<void> {
    for (;;) {
      const one = [...this.#listed.values()].find(({ isSettled }) => !isSettled);
      if (one === undefined || this.#newest === undefined) return;
      const drop = new AbortController();
      this.#building = { listed: one, drop };
      const signal = AbortSignal.any([this.#newest.signal, drop.signal]);
      try {
        one.kernel.resolve(await this.#build(one, { ...this.#newest, signal }));
        one.isSettled = true;
      } catch (error) {
        one.isSettled = !drop.signal.aborted;
        if (one.isSettled) one.kernel.reject(error);
      }
      this.#building = undefined;
      if (this.#listed.get(nameOf(one)) !== one) this.#removeArchives(one);
    }
  }

  async #build(
    { variant: { variant, kernel } }: ListedKernel,
    { signal, notify, keepLog }: PrepareRequest,
  ): Promise<VariantKernel | KernelLayouts> {
    const builder = this.#builder;
    if (kernel?.kind !== 'tree') return { kind: 'own' };
    if (builder === undefined) {
      throw new BuilderError('The testbed has no builder: configure one in ppsgate.yml, or supply prebuilt kernels.');
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
      const name = layoutName(variant, kernel.layouts?.[index]);
      const path = this.#pathOf(name);
      await fetchKernel(host, each, path, signal);
      const { sha256, unpackedBytes } = each;
      const archive = { variant: name, path, sha256, unpackedBytes };
      if (kernel.layouts === undefined) return { kind: 'archive', archive };
      archives.set(kernel.layouts[index] ?? 1, archive);
    }
    return { kind: 'layouts', archives };
  }

  #removeArchives({ variant: { variant, kernel } }: ListedKernel): void {
    const layouts = kernel?.kind === 'tree' ? kernel.layouts : undefined;
    for (const layout of layouts ?? [undefined]) {
      rmSync(this.#pathOf(layoutName(variant, layout)), { force: true });
    }
  }

  #pathOf(name: string): string {
    return join(this.#folder, `${pathName(name)}.tar`);
  }
}

function listed(variant: Variant): ListedKernel {
  const kernel = Promise.withResolvers<VariantKernel | KernelLayouts>();
  // `get` reports a failure; the next kernel is still built.
  kernel.promise.catch(() => {});
  const isSettled = variant.kernel?.kind !== 'tree';
  if (isSettled) givenKernel(variant).then(kernel.resolve, kernel.reject);
  return { variant, kernel, isSettled };
}

const nameOf = ({ variant }: ListedKernel): string => variant.variant;

function layoutOf(kernel: VariantKernel | KernelLayouts, variant: string, layout: number | undefined): VariantKernel {
  if (kernel.kind !== 'layouts') return kernel;
  const [first] = kernel.archives.keys();
  const archive = kernel.archives.get(layout ?? first ?? 1);
  if (archive === undefined) throw new TypeError(`${variant} has no layout ${layout}.`);
  return { kind: 'archive', archive };
}

const notListed = (variant: string): Error =>
  new TypeError(`The kernel of ${variant} was dropped; list it again to have it built.`);

async function givenKernel({ variant, kernel }: Variant): Promise<VariantKernel> {
  if (kernel?.kind !== 'archive') return { kind: 'own' };
  return { kind: 'archive', archive: await verifiedArchive(variant, kernel) };
}

async function verifiedArchive(
  variant: string,
  { path, sha256 }: Extract<KernelSource, { kind: 'archive' }>,
): Promise<KernelArchive> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  if (hash.digest('hex') !== sha256) {
    throw new BuilderError(`${path} no longer has the SHA-256 ${sha256}: the file has changed.`);
  }
  const { size } = await stat(path);
  return { variant, path, sha256, unpackedBytes: (await isPlainTar(path)) ? size : 4 * size };
}

/** A plain archive is as big as its content; a compressed kernel has at least a quarter of it. */
async function isPlainTar(path: string): Promise<boolean> {
  await using file = await open(path);
  const magic = Buffer.alloc(5);
  await file.read(magic, 0, 5, 257);
  return magic.toString() === 'ustar';
}
