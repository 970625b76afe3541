// The root of a machine: one UFS partition, ZFS boot environments, or the two slices of an appliance.
import { posix } from 'node:path';
import { absolute, below, type FileNode, type FileSystem, nodeAt, textOf, writeFile } from './file-system.ts';

/** `nanobsd-gpt` is an appliance on a disk with a GPT, as poudriere-image(8) makes it. */
export type RootKind = 'ufs' | 'nfs' | 'zfs' | 'nanobsd' | 'nanobsd-gpt';

export type Root = { kind: 'ufs' | 'nfs' } | Environments | Slices;

/** Files by path, as stored in a file system that is not mounted. */
export type Tree = Map<string, FileNode>;

export type Environments = {
  kind: 'zfs';
  /** All but the running one store their files while they are not mounted. */
  all: Map<string, Environment>;
  running: string;
  /** nextboot(8)'s area in the pool, which the loader can write. */
  nvstore: Map<string, string>;
  /** The pool's bootfs property. */
  byDefault: string;
  /** Set by `bectl activate -t`; the loader erases it when it reads it. */
  once: string | undefined;
};

export type Environment = { tree: Tree; mountedAt: string | undefined };

type SliceName = 's1' | 's2';

export type Slices = {
  kind: 'nanobsd';
  scheme: 'MBR' | 'GPT';
  /** Trees of the slices that do not run; the second slice is empty initially. */
  trees: Map<SliceName, Tree>;
  running: SliceName;
  /** Attribute `active` of an MBR, `bootme` of a GPT. Several may have it; the first of them boots. */
  active: Set<SliceName>;
  /** Files in /etc that /cfg keeps for the next boot, by name. */
  configuration: Tree;
  isConfigurationMounted: boolean;
  /** Mount point of the slice that does not run. */
  mountedAt: string | undefined;
};

/** Builds a root as FreeBSD ships it. */
export function rootOf(kind: RootKind): Root {
  if (kind === 'ufs' || kind === 'nfs') return { kind };
  if (kind === 'nanobsd' || kind === 'nanobsd-gpt') {
    return {
      kind: 'nanobsd',
      scheme: kind === 'nanobsd' ? 'MBR' : 'GPT',
      trees: new Map(),
      running: 's1',
      active: new Set(['s1']),
      configuration: new Map(),
      isConfigurationMounted: false,
      mountedAt: undefined,
    };
  }
  const byDefault = 'default';
  const all = new Map([[byDefault, { tree: new Map(), mountedAt: undefined }]]);
  return { kind, all, running: byDefault, byDefault, once: undefined, nvstore: new Map() };
}

type Scheme = Slices['scheme'];

export const labelOf = (scheme: Scheme, slice: SliceName): string =>
  scheme === 'MBR' ? `/dev/ufs/BSDRP${slice}a` : `/dev/gpt/BSDRP${slice.slice(1)}`;

/** The slice's number and name in gpart(8); on a GPT, two boot partitions come first. */
export const indexOf = (scheme: Scheme, slice: SliceName): number =>
  Number(slice.slice(1)) + (scheme === 'GPT' ? 2 : 0);

export const providerOf = (scheme: Scheme, slice: SliceName): string =>
  scheme === 'MBR' ? `ada0${slice}` : `ada0p${indexOf(scheme, slice)}`;

export const slices = ['s1', 's2'] as const;

/** Initial /etc/fstab of an appliance. */
export const fstabOf = (scheme: Scheme): string => {
  const [cfg, data] = scheme === 'MBR' ? ['ufs/BSDRPs3', 'ufs/BSDRPs4'] : ['gpt/cfg', 'gpt/data'];
  return `${labelOf(scheme, 's1')} / ufs ro 1 1\n/dev/${cfg} /cfg ufs rw,noauto 2 2\n/dev/${data} /data ufs rw,noauto 2 2\n`;
};

export const otherSlice = (slice: SliceName): SliceName => (slice === 's1' ? 's2' : 's1');

/** Name, mount point and type of the file system that holds a path. */
export function mountOf(root: Root, path: string): { device: string; place: string; type: string } {
  return { ...placeOf(root, path), type: root.kind === 'nanobsd' ? 'ufs' : root.kind };
}

function placeOf(root: Root, path: string): { device: string; place: string } {
  const isBelow = (place: string) => `${absolute(path)}/`.startsWith(`${place}/`);
  switch (root.kind) {
    case 'nfs':
      return { device: '192.0.2.9:/export/dut', place: '/' };
    case 'ufs':
      return { device: '/dev/ada0p2', place: '/' };
    case 'nanobsd': {
      const { mountedAt, running, scheme } = root;
      if (mountedAt !== undefined && isBelow(mountedAt)) {
        return { device: labelOf(scheme, otherSlice(running)), place: mountedAt };
      }
      if (root.isConfigurationMounted && isBelow('/cfg')) {
        return { device: scheme === 'MBR' ? '/dev/ufs/BSDRPs3' : '/dev/gpt/cfg', place: '/cfg' };
      }
      const memory = memoryDisks.findIndex(isBelow);
      const place = memoryDisks[memory];
      if (place !== undefined) return { device: `/dev/md${memory}`, place };
      return { device: labelOf(scheme, running), place: '/' };
    }
    case 'zfs': {
      for (const [name, { mountedAt }] of root.all) {
        if (mountedAt !== undefined && isBelow(mountedAt)) {
          return { device: `zroot/ROOT/${name}`, place: mountedAt };
        }
      }
      const shared = sharedDatasets.find(isBelow);
      if (shared !== undefined) return { device: `zroot${shared}`, place: shared };
      return { device: `zroot/ROOT/${root.running}`, place: '/' };
    }
  }
}

/** Folders that an appliance recreates at every boot. */
const memoryDisks = ['/etc', '/var', '/tmp'];

/** Folders outside of bsdinstall(8)'s boot environments. */
const sharedDatasets = ['/tmp', '/var/tmp', '/var/crash'];

/** First step of the loader: files of the root that boots next replace those that ran. */
export function switchRoot(root: Root, files: FileSystem, ignoresOnce: boolean): void {
  if (root.kind === 'nanobsd') {
    if (root.mountedAt !== undefined) unmountSlice(root, files);
    const leaving = takeTree(files, (path) => isSlicePath(path));
    root.trees.set(root.running, leaving);
    if (root.isConfigurationMounted) unmountConfiguration(root, files);
    root.running = slices.find((slice) => root.active.has(slice)) ?? 's1';
    // Only this content of the memory disks is lost here: a real boot recreates everything else.
    for (const path of below(files, '/var/tmp')) files.nodes.delete(path);
    putTree(files, root.trees.get(root.running) ?? new Map());
    putTree(files, root.configuration, '/etc');
  }
  if (root.kind !== 'zfs') return;
  for (const name of root.all.keys()) unmountEnvironment(root, files, name);
  const ordered = ignoresOnce ? undefined : root.once;
  root.once = undefined;
  const next = ordered !== undefined && root.all.has(ordered) ? ordered : root.byDefault;
  if (next === root.running) return;
  const tree = takeTree(files, (path) => isEnvironmentPath(path));
  root.all.set(root.running, { tree, mountedAt: undefined });
  root.running = next;
  putTree(files, root.all.get(next)?.tree ?? new Map());
}

/** A copy of an environment's files, running or not; undefined if there is none. */
export function environmentTree(root: Environments, files: FileSystem, name: string): Tree | undefined {
  if (name === root.running) return copyOf(files, isEnvironmentPath);
  const environment = root.all.get(name);
  return environment && new Map(environment.tree);
}

export function mountEnvironment(root: Environments, files: FileSystem, name: string, place: string): void {
  const environment = root.all.get(name);
  if (environment === undefined) return;
  environment.mountedAt = place;
  putTree(files, environment.tree, place);
}

/** Has no effect if it is not mounted; an empty folder stays. */
export function unmountEnvironment(root: Environments, files: FileSystem, name: string): void {
  const environment = root.all.get(name);
  if (environment?.mountedAt === undefined) return;
  environment.tree = takeBelow(files, environment.mountedAt);
  environment.mountedAt = undefined;
}

export function mountSlice(root: Slices, files: FileSystem, place: string): void {
  root.mountedAt = place;
  putTree(files, root.trees.get(otherSlice(root.running)) ?? new Map(), place);
}

export function unmountSlice(root: Slices, files: FileSystem): void {
  if (root.mountedAt === undefined) return;
  root.trees.set(otherSlice(root.running), takeBelow(files, root.mountedAt));
  root.mountedAt = undefined;
}

export function mountConfiguration(root: Slices, files: FileSystem): void {
  root.isConfigurationMounted = true;
  files.writable = [...(files.writable ?? []), '/cfg'];
  putTree(files, root.configuration, '/cfg');
}

export function unmountConfiguration(root: Slices, files: FileSystem): void {
  root.isConfigurationMounted = false;
  files.writable = files.writable?.filter((folder) => folder !== '/cfg') ?? [];
  root.configuration = takeBelow(files, '/cfg');
  files.nodes.set('/cfg', { kind: 'folder', mode: 0o755 });
}

/** Root in fstab(5), now and in the saved configuration. */
export function writeFstab(root: Slices, files: FileSystem, slice: SliceName): void {
  const [from, to] = [otherSlice(slice), slice].map((one) => labelOf(root.scheme, one));
  const fstab = (textOf(files, '/etc/fstab') ?? '').replaceAll(from ?? '', to ?? '');
  writeFile(files, '/etc/fstab', fstab);
  mountConfiguration(root, files);
  writeFile(files, '/cfg/fstab', fstab);
  unmountConfiguration(root, files);
}

const isEnvironmentPath = (path: string): boolean =>
  !sharedDatasets.some((shared) => path === shared || path.startsWith(`${shared}/`));

const isSlicePath = (path: string): boolean => path === '/boot' || path.startsWith('/boot/');

function copyOf(files: FileSystem, isIn: (path: string) => boolean): Tree {
  return new Map([...files.nodes].filter(([path]) => isIn(path)));
}

function takeTree(files: FileSystem, isIn: (path: string) => boolean): Tree {
  const tree = copyOf(files, isIn);
  for (const path of tree.keys()) files.nodes.delete(path);
  return tree;
}

function takeBelow(files: FileSystem, place: string): Tree {
  const tree: Tree = new Map();
  for (const path of below(files, place)) {
    const node = nodeAt(files, path);
    files.nodes.delete(path);
    if (node !== undefined) tree.set(path.slice(place.length), node);
  }
  const top = nodeAt(files, place);
  if (top !== undefined) tree.set('/', top);
  return tree;
}

function putTree(files: FileSystem, tree: Tree, place = '/'): void {
  for (const [path, node] of tree) files.nodes.set(posix.join(place, path).replace(/(.)\/$/, '$1'), { ...node });
}
