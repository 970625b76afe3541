// Chooses the modules to build with a kernel: all of its tree, or those that a DUT needs.

import type { Host } from '../system/host/ssh.ts';
import { shell } from '../system/shell.ts';
import type { KernelBuilder, KernelRecipe } from './build-step.ts';
import { gitIn } from './kernel-tree.ts';

export type LoadedModules = {
  /** Names as in kldstat(8), without `.ko`. Omits those in /boot/modules, which the loader finds for every kernel. */
  names: readonly string[];
  release: string;
  isRootOnZfs: boolean;
};

type Choice =
  | { readonly kind: 'all'; readonly why: string }
  | { readonly kind: 'some'; readonly folders: readonly string[] };

/**
 * Adds MODULES_OVERRIDE for the modules that the DUT has loaded, and those for measuring. Changes nothing unless both
 * are certain: a kernel without a needed module may hang before a login is possible.
 */
export async function withNeededModules(
  host: Host,
  { recipe, repository }: Pick<KernelBuilder, 'recipe' | 'repository'>,
  tree: string,
  loaded: LoadedModules | undefined,
  notify: (line: string) => void,
): Promise<KernelRecipe> {
  if (recipe.kind !== 'make' || recipe.modules === 'all') return recipe;
  const choice =
    loaded === undefined
      ? ({ kind: 'all', why: 'the modules loaded on the DUT are unknown' } as const)
      : choose(await treeOfModules(host, repository, tree), loaded);
  if (choice.kind === 'all') {
    notify(`all modules are built: ${choice.why}`);
    return recipe;
  }
  notify(`only these modules are built: ${choice.folders.join(' ')}`);
  return {
    ...recipe,
    options: [...recipe.options, `MODULES_OVERRIDE=${choice.folders.join(' ')}`],
  };
}

/** Explains why a kernel of this recipe would not find its root; undefined if it would. */
export function whyNoRoot(recipe: KernelRecipe, loaded: LoadedModules): string | undefined {
  if (recipe.kind !== 'make' || !loaded.isRootOnZfs || !loaded.names.includes('zfs')) return;
  const without = recipe.options.find((option) => {
    const [, name, value = ''] = /^(?:-D)?(\w+)(?:=(.*))?$/s.exec(option) ?? [];
    const folders = value.split(/\s+/);
    if (name === 'MODULES_OVERRIDE') return !folders.includes('zfs');
    return name === 'NO_MODULES' || (name === 'WITHOUT_MODULES' && folders.includes('zfs'));
  });
  return without && `the root of the DUT is on ZFS, and \`${without}\` leaves zfs.ko out`;
}

type ModuleTree = {
  major: string | undefined;
  /** Folders directly below sys/modules, each with the modules built in or below it. */
  folders: ReadonlyMap<string, ReadonlySet<string>>;
};

async function treeOfModules(host: Host, repository: string, tree: string): Promise<ModuleTree> {
  const names = shell`grep -E ${'^KMOD[[:space:]]*[?]?='} ${tree} -- sys/modules`;
  const version = shell`grep -h -E ${'^REVISION='} ${tree} -- sys/conf/newvers.sh`;
  const [kmods, revision] = await Promise.all(
    [names, version].map(async (command) => (await host.run(gitIn(repository, command))).stdout),
  );
  const folders = new Map<string, Set<string>>();
  for (const line of (kmods ?? '').split('\n')) {
    const [, folder = '', name = ''] = /:sys\/modules\/([\w-]+)\/[^:]*:KMOD\s*\??=\s*([\w-]+)\s*$/.exec(line) ?? [];
    if (name !== '') folders.set(name, (folders.get(name) ?? new Set()).add(folder));
  }
  return { major: /^REVISION="(\d+)/.exec(revision ?? '')?.[1], folders };
}

/** Modules that a gate loads, or a site's own rules of pf and ipfw, if the tree has them. */
const measuring = ['pf', 'pflog', 'pfsync', 'ipfw', 'ipfw_nat', 'libalias', 'dummynet', 'hwpmc', 'ksyms'];
/** Dependencies of zfs.ko in all releases. */
const ofZfs = ['opensolaris', 'acl_nfs4', 'crypto', 'cryptodev', 'krpc', 'xdr', 'zlib'];

/** kldstat(8) omits firmware that drivers load briefly. It is in the driver's folder, or in one of these. */
const ofFirmware = (folder: string) => [`${folder}fw`, `${folder}_fw`, `${folder}_ddp`];

function choose({ major, folders }: ModuleTree, loaded: LoadedModules): Choice {
  const { names, release, isRootOnZfs } = loaded;
  if (major === undefined || Number.parseInt(release, 10) !== Number(major)) {
    const why = `the DUT runs FreeBSD ${release}, and the tree is of FreeBSD ${major ?? '?'}, whose modules may depend on others`;
    return { kind: 'all', why };
  }
  if (isRootOnZfs && !names.includes('zfs')) {
    return { kind: 'all', why: "the DUT's own kernel has ZFS built in, and other kernels may not" };
  }
  const unknown = names.find((name) => folders.get(name)?.size !== 1);
  if (unknown !== undefined) {
    return { kind: 'all', why: `the tree has no known folder that builds ${unknown}.ko` };
  }
  const selected = [...measuring, ...(names.includes('zfs') ? ofZfs : [])];
  const chosen = new Set(
    [...names, ...selected.filter((name) => folders.get(name)?.size === 1)].flatMap((name) => [
      ...(folders.get(name) ?? []),
    ]),
  );
  const all = new Set([...folders.values()].flatMap((each) => [...each]));
  const firmware = [...chosen].flatMap(ofFirmware).filter((folder) => all.has(folder));
  return { kind: 'some', folders: [...chosen.union(new Set(firmware))].toSorted() };
}
