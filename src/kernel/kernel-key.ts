// Computes a kernel's cache key from all its ingredients, on the builder and in the tree.
import { createHash, randomUUID } from 'node:crypto';
import type { OperatingSystem } from '../model/scenario.ts';
import type { Host } from '../system/host/ssh.ts';
import { shell } from '../system/shell.ts';
import type { KernelBuilder, KernelRecipe } from './build-step.ts';
import { crossToolsOf } from './cross-build.ts';

/**
 * Returns releases and checksums of programs: a rebuilt one may keep its version. Throws a HostError without a
 * compiler.
 */
export async function toolsOf(
  host: Host,
  { system, recipe }: Pick<KernelBuilder, 'system' | 'recipe'>,
  signal: AbortSignal,
): Promise<string> {
  const { programs, script } = toolsBySystem[system];
  const own =
    recipe.kind === 'make' && recipe.cross !== undefined
      ? Object.values(await crossToolsOf(host, recipe.cross))
      : ownPrograms(recipe);
  return host.output(shell`sh -c ${script} tools ${programs} ${own}`, { signal });
}

function ownPrograms(recipe: KernelRecipe): readonly string[] {
  if (recipe.kind === 'command') return recipe.argv;
  // Options like `CC=clang-19`.
  return recipe.kind === 'linux' ? recipe.options.map((option) => option.replace(/^\w+=/, '')) : [];
}

/** A single line, as csh(1) accepts no other. */
const pathsOfPrograms =
  'for program do path=$(command -v "$program") && test -f "$path" && set -- "$@" "$path"; shift; done';

/** Programs of the builder that make runs before, or instead of, those that it has built. */
const toolsBySystem: Readonly<Record<OperatingSystem, { programs: readonly string[]; script: string }>> = {
  freebsd: {
    programs: [
      'make',
      'cc',
      'ld',
      'as',
      'config',
      'awk',
      'nm',
      'objcopy',
      'size',
      'ctfconvert',
      'ctfmerge',
      'sh',
      'sed',
      'file2c',
      'uudecode',
      'rpcgen',
      'gensetdefs',
      'tar',
    ],
    // make(1) reads a site's local.*.mk there.
    script: [
      'cc --version && ld --version && uname -m -r && freebsd-version -u || exit 1',
      pathsOfPrograms,
      'sha256 -r "$@"',
      'find -L /usr/share/mk -maxdepth 1 -name "local.*" -type f -exec sha256 -r {} +',
      'exit 0',
    ].join('; '),
  },
  linux: {
    programs: [
      'make',
      'gcc',
      'ld',
      'as',
      'ar',
      'nm',
      'objcopy',
      'objdump',
      'readelf',
      'strip',
      'clang',
      'ld.lld',
      'llvm-ar',
      'llvm-nm',
      'llvm-objcopy',
      'llvm-strip',
      'rustc',
      'pahole',
      'flex',
      'bison',
      'bc',
      'sh',
      'awk',
      'sed',
      'perl',
      'python3',
      'gzip',
      'xz',
      'zstd',
      'tar',
    ],
    script: [
      'gcc --version && ld --version && make --version && uname -m || exit 1',
      pathsOfPrograms,
      'sha256sum "$@"',
    ].join('; '),
  },
};

/**
 * The tree's id covers its files. A kernel with files from outside gets a unique key, as changes to those are unknown.
 */
export async function keyOf(
  host: Host,
  { recipe, jail }: Pick<KernelBuilder, 'recipe' | 'jail'>,
  tree: string,
  tools: string,
  signal: AbortSignal,
): Promise<string> {
  const configs =
    recipe.kind === 'make' && recipe.kernelConfigFolder !== undefined
      ? await configsIn(host, recipe.kernelConfigFolder, signal)
      : { sums: [], leadsOutside: false };
  const isOutside =
    configs.leadsOutside ||
    outsideOptions(recipe).length > 0 ||
    (recipe.kind === 'linux' && namesFiles.test(recipe.kernelConfig));
  // Kernels that trust the cache must not contain objects from before builds ran in a jail.
  const parts = [keyVersion, tree, tools, ingredientsOf(recipe), configs.sums, jail ?? 'no jail'];
  if (isOutside) parts.push(randomUUID());
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** The first layout variant has the kernel's own key. */
export const keyOfLayout = (key: string, layout: number): string =>
  layout === 1 ? key : createHash('sha256').update(`${key} ${layout}`).digest('hex');

/** Increase it when the same ingredients yield a different kernel. */
const keyVersion = 2;

/** Omits the number of jobs, which does not change the kernel. */
function ingredientsOf(recipe: KernelRecipe): unknown[] {
  if (recipe.kind === 'command') return [recipe.kind, recipe.kernelConfig, recipe.argv];
  if (recipe.kind === 'linux') {
    return [recipe.kind, recipe.kernelConfig, recipe.clean, recipe.options];
  }
  const { kind, kernelConfig, clean, metaMode, toolchain, options, cross } = recipe;
  const made = cross === undefined ? kind : 'cross';
  return [made, kernelConfig, clean, metaMode, toolchain, options];
}

/** Options by which make(1) reads files that neither the tree nor the key covers. */
export function outsideOptions(
  recipe: { kind: 'command' } | { kind: 'make' | 'linux'; options: readonly string[] },
): string[] {
  if (recipe.kind === 'command') return [];
  // `LLVM=-19` and CROSS_COMPILE give only a part of each program's name.
  if (recipe.kind === 'linux') {
    return recipe.options.filter((option) => /^(?:LLVM=-|CROSS_COMPILE)|[/$]/.test(option));
  }
  return recipe.options.filter((option) => {
    const [name = '', value = ''] = option.split(/=(.*)/s);
    if (/^(?:-D)?(?:LOCAL_|PORTS_MODULES|CROSS_TOOLCHAIN)/.test(name)) return true;
    const folders = /^(?:MODULES_OVERRIDE|MODULES_EXTRA|WITHOUT_MODULES)$/.test(name);
    return folders ? /^\/|\s\/|\.\.|\$/.test(value) : /[/$]/.test(value);
  });
}

/** Options of a Linux configuration that name files on the builder. */
const namesFiles = /^CONFIG_(?:INITRAMFS_SOURCE|EXTRA_FIRMWARE|SYSTEM_(?:TRUSTED|REVOCATION)_KEYS)="[^"]/m;

/** Includes all files of the folder, as a configuration may include any of them. Follows links to their targets. */
async function configsIn(
  host: Host,
  folder: string,
  signal: AbortSignal,
): Promise<{ sums: string[]; leadsOutside: boolean }> {
  const files = shell`find -L ${folder} -maxdepth 1 -type f`;
  const listing = await host.output(shell`${files} -exec sha256 -r {} +`, { signal });
  // find(1) reports a failure without a match, which is not an error here.
  const outside = await host.run(shell`${files} -exec grep -E ${includesOutside} {} +`, { signal });
  return {
    sums: listing.split('\n').filter(Boolean).toSorted(),
    leadsOutside: outside.stdout.trim() !== '',
  };
}

/** See config(5). Options of make also name modules of the tree with a slash. */
const includesOutside =
  '^[[:space:]]*((include|files|hints|env)[[:space:]].*/|makeoptions[[:space:]].*([="[:space:]]|-[BIL])/)';
