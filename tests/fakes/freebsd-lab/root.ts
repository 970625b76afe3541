// What a machine boots from: one UFS partition, ZFS boot environments, or the two slices of an appliance.
import { posix } from 'node:path';
import {
  absolute,
  below,
  type FileNode,
  type FileSystem,
  nodeAt,
  textOf,
  writeFile,
} from './file-system.ts';

export type RootKind = 'ufs' | 'zfs' | 'nanobsd';

export type Root = { kind: 'ufs' } | Environments | Slices;

/** Files by their paths, as a file system holds them that is not mounted. */
export type Tree = Map<string, FileNode>;

export type Environments = {
  kind: 'zfs';
  /** All but the running one hold their files while they are not mounted. */
  all: Map<string, Environment>;
  running: string;
  /** The pool's bootfs property. */
  byDefault: string;
  /** `bectl activate -t`: the loader erases it as it reads it. */
  once: string | undefined;
};

export type Environment = { tree: Tree; mountedAt: string | undefined };

export type SliceName = 's1' | 's2';

export type Slices = {
  kind: 'nanobsd';
  /** Trees of the slices that do not run; the second slice is empty when it is delivered. */
  trees: Map<SliceName, Tree>;
  running: SliceName;
  active: SliceName;
  /** Where the slice that does not run is mounted to be looked at. */
  mountedAt: string | undefined;
};

/** As it is delivered. */
export function rootOf(kind: RootKind): Root {
  if (kind === 'ufs') return { kind };
  if (kind === 'nanobsd') {
    return { kind, trees: new Map(), running: 's1', active: 's1', mountedAt: undefined };
  }
  const byDefault = 'default';
  const all = new Map([[byDefault, { tree: new Map(), mountedAt: undefined }]]);
  return { kind, all, running: byDefault, byDefault, once: undefined };
}

export const labelOf = (slice: SliceName): string => `/dev/ufs/BSDRP${slice}a`;

export const otherSlice = (slice: SliceName): SliceName => (slice === 's1' ? 's2' : 's1');

/** What the file system that holds a path is called, where it is mounted, and of which type it is. */
export function mountOf(
  root: Root,
  path: string,
): { device: string; place: string; type: 'ufs' | 'zfs' } {
  return { ...placeOf(root, path), type: root.kind === 'zfs' ? 'zfs' : 'ufs' };
}

function placeOf(root: Root, path: string): { device: string; place: string } {
  const isBelow = (place: string) => `${absolute(path)}/`.startsWith(`${place}/`);
  switch (root.kind) {
    case 'ufs':
      return { device: '/dev/ada0p2', place: '/' };
    case 'nanobsd': {
      const { mountedAt, running } = root;
      if (mountedAt !== undefined && isBelow(mountedAt)) {
        return { device: labelOf(otherSlice(running)), place: mountedAt };
      }
      const memory = memoryDisks.findIndex(isBelow);
      const place = memoryDisks[memory];
      if (place !== undefined) return { device: `/dev/md${memory}`, place };
      return { device: labelOf(running), place: '/' };
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

/** What an appliance makes anew at every boot. */
const memoryDisks = ['/etc', '/var', '/tmp'];

/** What no boot environment of bsdinstall(8) holds. */
const sharedDatasets = ['/tmp', '/var/tmp', '/var/crash'];

/** What the loader does first: files of the root that boots next take the place of those that ran. */
export function switchRoot(root: Root, files: FileSystem, ignoresOnce: boolean): void {
  if (root.kind === 'nanobsd') {
    if (root.mountedAt !== undefined) unmountSlice(root, files);
    const leaving = takeTree(files, (path) => isSlicePath(path));
    root.trees.set(root.running, leaving);
    root.running = root.active;
    // Only this is lost here of the memory disks: what else they hold, a real boot lays anew.
    for (const path of below(files, '/var/tmp')) files.nodes.delete(path);
    putTree(files, root.trees.get(root.running) ?? new Map());
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

/** A copy of the files of one that runs or not; undefined where there is none. */
export function environmentTree(
  root: Environments,
  files: FileSystem,
  name: string,
): Tree | undefined {
  if (name === root.running) return copyOf(files, isEnvironmentPath);
  const environment = root.all.get(name);
  return environment && new Map(environment.tree);
}

export function mountEnvironment(
  root: Environments,
  files: FileSystem,
  name: string,
  place: string,
): void {
  const environment = root.all.get(name);
  if (environment === undefined) return;
  environment.mountedAt = place;
  putTree(files, environment.tree, place);
}

/** Where it is not mounted, nothing happens; an empty folder stays. */
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

/** What boots next, and what fstab(5) says of it: the appliance's commands change both together. */
export function activateSlice(root: Slices, files: FileSystem, slice: SliceName): void {
  const fstab = textOf(files, '/etc/fstab') ?? '';
  writeFile(files, '/etc/fstab', fstab.replaceAll(labelOf(otherSlice(slice)), labelOf(slice)));
  root.active = slice;
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
  for (const [path, node] of tree)
    files.nodes.set(posix.join(place, path).replace(/(.)\/$/, '$1'), { ...node });
}
