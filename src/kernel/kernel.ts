// Takes a kernel from the builder's cache, or builds it from the base with a diff.
import { randomUUID } from 'node:crypto';
import type { OperatingSystem } from '../model/scenario.ts';
import { isGood } from '../system/host/execute.ts';
import { HostError } from '../system/host/host-error.ts';
import type { Host } from '../system/host/ssh.ts';
import { shell } from '../system/shell.ts';
import { inTurn } from './build-slot.ts';
import type { BuildOutput, KernelBuilder, RecipeRequest } from './build-step.ts';
import { BuilderError } from './builder-error.ts';
import { jailProblem } from './jail.ts';
import { type KernelCache, type KernelNote, kernelCache } from './kernel-cache.ts';
import { keyOf, keyOfLayout, toolsOf } from './kernel-key.ts';
import { buildByRecipe } from './kernel-recipe.ts';
import type { KernelSums } from './kernel-sums.ts';
import { kernelTree, type TreeRequest } from './kernel-tree.ts';
import { type LoadedModules, whyNoRoot, withNeededModules } from './needed-modules.ts';
import { commandsOf, sumIn } from './system-commands.ts';

export type KernelRequest =
  | ({
      readonly kind: 'tree';
      /** Modules that the DUT has loaded; absent if unknown. */
      readonly loaded?: LoadedModules;
      /** Layout variants to link, ascending and unique. Absent: only the first. */
      readonly layouts?: readonly number[];
    } & TreeRequest)
  /** A kernel built elsewhere, at a path on the builder. */
  | { readonly kind: 'archive'; readonly path: string; readonly sha256: string };

export type KernelBuild =
  | (BuiltKernel & {
      readonly kind: 'built';
      readonly cached: boolean;
      /** More requested layout variants, in order. */
      readonly further: readonly BuiltKernel[];
    })
  | { readonly kind: 'does-not-apply'; readonly reason: string }
  | {
      readonly kind: 'build-failed';
      readonly errors: readonly string[];
      readonly log: string;
    }
  | { readonly kind: 'out-of-disk'; readonly reason: string };

type BuiltKernel = KernelNote & {
  /** Equal keys mean equal kernels. */
  readonly key: string;
  /** Path on the builder of a tar archive of one folder, with `kernel` and its modules. */
  readonly archive: string;
};

type KernelOptions = {
  readonly signal: AbortSignal;
  /** Receives the log of every finished build, cut at 32 MiB. */
  readonly keepLog: (name: string, text: string) => Promise<void>;
  /** Receives the build's headings, like `>>> stage 3.1: building everything`. */
  readonly onProgress: (line: string) => void;
  readonly now: () => number;
  /** This machine's checksums of kernels that were built for it. */
  readonly sums: KernelSums;
  /** Shown to other controllers that wait for the builder: `#123 (base) for ci-7`. */
  readonly owner: string;
};

/**
 * Returns faults of the patch as an outcome. Throws a BuilderError or a HostError for faults of the builder. Leaves
 * only the cache on the builder and, if builds are not clean, the tree and objects of the last good one. A later build
 * removes leftovers of a lost connection.
 */
export async function buildKernel(
  host: Host,
  written: KernelBuilder,
  request: KernelRequest,
  options: KernelOptions,
): Promise<KernelBuild> {
  if (request.kind === 'archive') return prebuilt(host, written.system, request, options.signal);
  const { system, folder, repository, remote } = written;
  const { signal, onProgress } = options;
  const { loaded } = request;
  const noRoot = loaded && whyNoRoot(written.recipe, loaded);
  if (noRoot !== undefined) {
    throw new BuilderError(`No kernel is built: ${noRoot}.`);
  }
  const work = `${folder}/builds/${randomUUID()}`;
  signal.throwIfAborted();
  // Takes no signal: a cancelled mkdir could create the folder after its removal.
  await host.output(shell`mkdir -p ${`${folder}/cache`} ${work}`, { timeoutSeconds: 60 });
  try {
    const tree = await kernelTree(host, request, { repository, remote, work, signal });
    if (tree.kind === 'does-not-apply') return tree;
    const recipe = await withNeededModules(host, written, tree.id, loaded, onProgress);
    const config = { ...written, recipe };
    const tools = await toolsOf(host, config, signal);
    const key = await keyOf(host, config, tree.id, tools, signal);
    const cache = kernelCache(host, `${folder}/cache`, system);
    const sumName = (layout: Layout) => `${config.host ?? ''}:${config.port}${folder} ${layout.key}`;
    const layouts = (request.layouts ?? [1]).map((number): Layout => {
      return { number, key: keyOfLayout(key, number), output: `${work}/kernel-${number}` };
    });
    const build: Build = {
      key,
      cache,
      remember: (layout, sha256) => options.sums.set(sumName(layout), sha256),
      // In a jail no build can reach the cache. Elsewhere each build may rewrite it, and its checksums.
      isTrusted: (layout, { sha256 }) => config.jail !== undefined || options.sums.get(sumName(layout)) === sha256,
      recipe: {
        baseCommit: request.baseCommit,
        tree: tree.id,
        diffPath: tree.diffPath,
        work,
        tools,
        layouts,
      },
    };
    const turn = {
      system,
      lock: `${folder}/lock`,
      owner: options.owner,
      waitSeconds: written.turnSeconds,
      signal,
    };
    // Checks the cache again with the slot: the previous build may have made the same base.
    return (
      (await cached(build, signal)) ??
      (await inTurn(
        host,
        turn,
        async () => (await cached(build, signal)) ?? (await buildNow(host, config, build, options)),
      ))
    );
  } finally {
    // After a lost connection, the pending error is more specific.
    await host.run(shell`rm -rf ${work}`, { timeoutSeconds: 60 }).catch(() => {});
  }
}

type Layout = RecipeRequest['layouts'][number] & { readonly key: string };

type Build = {
  readonly key: string;
  readonly cache: KernelCache;
  readonly recipe: Omit<RecipeRequest, 'layouts'> & { readonly layouts: readonly Layout[] };
  remember(layout: Layout, sha256: string): void;
  isTrusted(layout: Layout, note: KernelNote): boolean;
};

async function prebuilt(
  host: Host,
  system: OperatingSystem,
  { path, sha256 }: { path: string; sha256: string },
  signal: AbortSignal,
): Promise<KernelBuild> {
  const found = await host.run(commandsOf[system].sha256(path), { signal });
  if (!isGood(found) || sumIn(found.stdout) !== sha256) {
    throw new BuilderError(`${path} on ${host.name} does not have the SHA-256 ${sha256}.`);
  }
  const sizes = await sizesOf(host, path);
  return { kind: 'built', key: sha256, archive: path, sha256, ...sizes, cached: true, seconds: 0, further: [] };
}

/** Returns all layout variants or none: compiling is the slow part, and even one missing variant needs it. */
async function cached(
  { cache, isTrusted, recipe: { layouts } }: Build,
  signal: AbortSignal,
): Promise<KernelBuild | undefined> {
  const found: BuiltKernel[] = [];
  for (const layout of layouts) {
    const note = await cache.find(layout.key, signal);
    if (note === undefined || !isTrusted(layout, note)) return undefined;
    found.push({ key: layout.key, archive: cache.archive(layout.key), ...note });
  }
  return asBuild(found, true);
}

function asBuild([first, ...further]: readonly BuiltKernel[], isCached: boolean): KernelBuild {
  if (first === undefined) throw new TypeError('No layout of a kernel was requested.');
  return { kind: 'built', ...first, cached: isCached, further };
}

async function buildNow(
  host: Host,
  config: KernelBuilder,
  { key, cache, recipe, remember }: Build,
  { signal, keepLog, onProgress, now }: KernelOptions,
): Promise<KernelBuild> {
  // Removes leftovers of lost connections. Neither a build nor the wait for its slot lasts days.
  await host.output(shell`find ${`${config.folder}/builds`} -mindepth 1 -maxdepth 1 -mtime +3 -exec rm -rf {} +`);
  const problem = await jailProblem(host, config);
  if (problem !== undefined) throw new BuilderError(`${host.name}: ${problem.why}; ${problem.fix}.`);
  const freeBytes = await freeBytesOf(host, config.folder);
  if (freeBytes < config.minFreeBytes) return outOfDisk(host, config, freeBytes);
  const startedAt = now();
  const buildOutput = await buildByRecipe(host, config, recipe, {
    limitSeconds: config.limitSeconds,
    signal,
    onLine: (line) => {
      if (/^(?:>>>|===>) /.test(line)) onProgress(line);
    },
  }).catch((error: unknown): BuildOutput => {
    // In errors of git and tar; make's log is parsed elsewhere.
    const isFull = error instanceof HostError && error.message.includes('No space left on device');
    if (isFull) return { kind: 'out-of-disk', log: '' };
    throw error;
  });
  const log = `kernel-${key}.log`;
  await keepLog(log, buildOutput.log);
  if (buildOutput.kind === 'out-of-disk') {
    return outOfDisk(host, config, await freeBytesOf(host, config.folder));
  }
  if (buildOutput.kind === 'build-failed') return { kind: 'build-failed', errors: buildOutput.errors, log };
  const seconds = now() - startedAt;
  const built: BuiltKernel[] = [];
  for (const layout of recipe.layouts) {
    const sha256 = sumIn(await host.output(commandsOf[config.system].sha256(layout.output)));
    const note: KernelNote = {
      sha256,
      ...(await sizesOf(host, layout.output)),
      seconds,
      ...(buildOutput.uname !== undefined && { uname: buildOutput.uname }),
    };
    remember(layout, sha256);
    await cache.keep(layout.key, layout.output, note);
    built.push({ key: layout.key, archive: cache.archive(layout.key), ...note });
  }
  await cache.prune(new Set(recipe.layouts.map((layout) => layout.key)), config.cache);
  return asBuild(built, false);
}

/** Column 4 of the last line of `df -k -P`, in KiB (POSIX, df). */
async function freeBytesOf(host: Host, folder: string): Promise<number> {
  const line = (await host.output(shell`df -k -P ${folder}`)).trim().split('\n').at(-1) ?? '';
  return Number(line.split(/\s+/)[3]) * 1024;
}

function outOfDisk(host: Host, { folder, minFreeBytes }: KernelBuilder, freeBytes: number) {
  const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
  return {
    kind: 'out-of-disk',
    reason: `${folder} on ${host.name} has ${gigabytes(freeBytes)} free, and a build needs ${gigabytes(minFreeBytes)}.`,
  } as const;
}

/** Reads the whole archive, and so detects a damaged one. */
async function sizesOf(host: Host, archive: string) {
  const unpacked = shell`tar -tf ${archive} > /dev/null && tar -xOf ${archive} | wc -c`;
  return {
    bytes: Number(await host.output(shell`wc -c < ${archive}`)),
    unpackedBytes: Number(await host.output(unpacked)),
  };
}
