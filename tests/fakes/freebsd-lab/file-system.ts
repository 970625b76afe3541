// A machine's disk: files and folders by absolute path, of limited size.
import { posix } from 'node:path';

export type FileNode = { kind: 'file'; bytes: Buffer; mode: number } | { kind: 'folder'; mode: number };

/** Failure of a system call, by its name in errno(2). */
export type FileError = 'EROFS' | 'ENOENT' | 'ENOTDIR' | 'EISDIR' | 'EEXIST' | 'ENOTEMPTY' | 'ENOSPC';

/** Texts of strerror(3). */
export const fileErrorText: Readonly<Record<FileError, string>> = {
  EROFS: 'Read-only file system',
  ENOENT: 'No such file or directory',
  ENOTDIR: 'Not a directory',
  EISDIR: 'Is a directory',
  EEXIST: 'File exists',
  ENOTEMPTY: 'Directory not empty',
  ENOSPC: 'No space left on device',
};

export type FileSystem = {
  /** Size of the disk, and of its content other than these files. */
  readonly totalBytes: number;
  readonly otherBytes: number;
  readonly nodes: Map<string, FileNode>;
  /** Content of the disk that is not mounted: clones of ZFS share common files. */
  unmounted?: () => Iterable<FileNode>;
  /** Folders to which writing is limited; absent: everywhere. */
  writable?: readonly string[];
};

/** A disk with the folders that every FreeBSD has. */
export function fileSystem(totalBytes: number, otherBytes: number): FileSystem {
  const folders = ['/', '/boot', '/boot/modules', '/etc', '/root', '/tmp', '/var', '/var/crash'];
  const nodes = new Map<string, FileNode>();
  for (const path of [...folders, '/var/tmp', '/var/db', '/var/run', '/usr', '/usr/local']) {
    nodes.set(path, { kind: 'folder', mode: 0o755 });
  }
  return { totalBytes, otherBytes, nodes };
}

export function usedBytes({ nodes, otherBytes, unmounted = () => [] }: FileSystem): number {
  const all = [...nodes.values(), ...unmounted()];
  const contents = new Set(all.flatMap((node) => (node.kind === 'file' ? node.bytes : [])));
  return [...contents].reduce((sum, { length }) => sum + length, otherBytes);
}

export const availableBytes = (files: FileSystem): number => Math.max(0, files.totalBytes - usedBytes(files));

const sizeOf = (node: FileNode | undefined): number => (node?.kind === 'file' ? node.bytes.length : 0);

/** True for paths on read-only file systems. */
export const isReadOnly = ({ writable }: FileSystem, path: string): boolean =>
  writable !== undefined && !writable.some((folder) => `${absolute(path)}/`.startsWith(`${folder}/`));

/** Without `.`, `..`, doubled or trailing slashes; a relative path starts at root's home. */
export const absolute = (path: string): string => posix.resolve('/root', path);

export const nodeAt = (files: FileSystem, path: string): FileNode | undefined => files.nodes.get(absolute(path));

/** The text of a file; undefined where there is none. */
export function textOf(files: FileSystem, path: string): string | undefined {
  const node = nodeAt(files, path);
  return node?.kind === 'file' ? node.bytes.toString() : undefined;
}

/** Writes a whole file, new or not. Returns the error of write(2), after writing what fits. */
export function writeFile(
  files: FileSystem,
  path: string,
  content: Uint8Array | string,
  mode = 0o644,
): FileError | undefined {
  const bytes = Buffer.from(content);
  const place = absolute(path);
  const parent = nodeAt(files, posix.dirname(place));
  const there = files.nodes.get(place);
  if (parent === undefined) return 'ENOENT';
  if (parent.kind !== 'folder') return 'ENOTDIR';
  if (there?.kind === 'folder') return 'EISDIR';
  if (isReadOnly(files, place)) return 'EROFS';
  const fits = Math.min(bytes.length, availableBytes(files) + sizeOf(there));
  files.nodes.set(place, {
    kind: 'file',
    bytes: bytes.subarray(0, fits),
    mode: there?.mode ?? mode,
  });
  return fits < bytes.length ? 'ENOSPC' : undefined;
}

/** mkdir(2); with `parents`, like mkdir(1) -p. */
export function makeFolder(files: FileSystem, path: string, parents = false): FileError | undefined {
  const place = absolute(path);
  const there = files.nodes.get(place);
  if (there !== undefined) return parents && there.kind === 'folder' ? undefined : 'EEXIST';
  const parent = nodeAt(files, posix.dirname(place));
  if (parent?.kind === 'file') return 'ENOTDIR';
  if (parent === undefined) {
    if (!parents) return 'ENOENT';
    const error = makeFolder(files, posix.dirname(place), true);
    if (error !== undefined) return error;
  }
  if (isReadOnly(files, place)) return 'EROFS';
  files.nodes.set(place, { kind: 'folder', mode: 0o755 });
  return undefined;
}

/** Every path in a folder, at any depth. */
export function below(files: FileSystem, path: string): string[] {
  const prefix = `${absolute(path)}/`.replace('//', '/');
  return [...files.nodes.keys()].filter((name) => name.startsWith(prefix) && name !== prefix);
}

/** The names in a folder, sorted. */
export const namesIn = (files: FileSystem, path: string): string[] =>
  below(files, path)
    .filter((name) => posix.dirname(name) === absolute(path))
    .map((name) => posix.basename(name))
    .sort();

/** Removes a file, or a folder with its content. */
export function remove(files: FileSystem, path: string): void {
  for (const name of below(files, path)) files.nodes.delete(name);
  files.nodes.delete(absolute(path));
}

/** rename(2): replaces a file, or an empty folder. */
export function rename(files: FileSystem, from: string, to: string): FileError | undefined {
  const [source, target] = [absolute(from), absolute(to)];
  const [node, there] = [files.nodes.get(source), files.nodes.get(target)];
  const parent = nodeAt(files, posix.dirname(target));
  if (node === undefined || parent === undefined) return 'ENOENT';
  if (parent.kind !== 'folder') return 'ENOTDIR';
  if (isReadOnly(files, source) || isReadOnly(files, target)) return 'EROFS';
  if (node.kind === 'file' && there?.kind === 'folder') return 'EISDIR';
  if (node.kind === 'folder' && there?.kind === 'file') return 'ENOTDIR';
  if (there !== undefined && below(files, target).length > 0) return 'ENOTEMPTY';
  for (const name of [source, ...below(files, source)]) {
    const moved = files.nodes.get(name);
    files.nodes.delete(name);
    if (moved !== undefined) files.nodes.set(target + name.slice(source.length), moved);
  }
  return undefined;
}

/** Writes at the end of a file, or over what comes after `at`. */
export function append(files: FileSystem, path: string, at: number, bytes: Buffer): FileError | undefined {
  const node = nodeAt(files, path);
  if (node?.kind !== 'file') return 'ENOENT';
  return writeFile(files, path, Buffer.concat([node.bytes.subarray(0, at), bytes]));
}
