// Unpacks a guest's kernel from an archive: its image, and the modules that a router's guest may load.
import { chown, copyFile, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileReasonOf, lastLine, reasonOf } from '../../../model/one-line.ts';
import { headOf } from '../../../system/decompress.ts';
import { linuxVersionIn, maxImageHeaderBytes } from './linux-image.ts';
import { maxFileBytes, runUnprivileged, unprivilegedUserId } from './unprivileged-user.ts';

export type KernelFiles = {
  image: string;
  /** A cpio(1) archive of the modules, which the kernel unpacks with the userland. */
  modules: string;
  /** Modules that a guest loads at boot, excluding built-in ones. */
  atBoot: readonly string[];
  /** The image's own version: release, builder and version, `6.1.0-50-cloud-amd64 (…) #1 SMP …`. */
  version: string;
};

/** Reports that a guest cannot boot the archive's kernel; the message continues the archive's name. */
export class KernelFilesError extends Error {
  override readonly name = 'KernelFilesError';
}

/** Reports that this machine has no kernel with its modules; guests then boot only a named, built or given kernel. */
export class NoOwnKernelError extends KernelFilesError {}

/**
 * Modules loaded at boot in this order: for the wires and the firewall. The kernel loads others for rules
 * automatically.
 */
const loadedAtBoot = ['virtio_pci', 'virtio_net', 'nf_tables'] as const;
const netfilter = /\/net\/(?:netfilter|ipv4\/netfilter|ipv6\/netfilter)\/nf[\w-]*\.ko/;

/**
 * Unpacks a kernel of this machine, a .deb or a tar archive with `boot/vmlinuz-*` and `lib/modules/*`, into a new
 * folder. `more` are modules to load in addition to those of every guest.
 */
export async function unpackKernel(
  archive: string,
  folder: string,
  more: readonly string[],
  most: KernelLimits = usualLimits,
): Promise<KernelFiles> {
  const { size } = await stat(archive).catch(unreadable);
  if (size > maxFileBytes) throw tooLarge('bytes', maxFileBytes);
  await beginFolder(folder);
  const copy = join(folder, 'archive');
  await copyFile(archive, copy).catch(unreadable);
  await chown(copy, unprivilegedUserId, unprivilegedUserId);
  const tree = join(folder, 'tree');
  await inFolder(['mkdir', tree]);
  try {
    await inFolder(['bash', '-c', extractScript, 'bash', copy, tree, ...numbersOf(most)]);
    // Removes links, which could lead out of the archive.
    await inFolder(['find', tree, '!', '-type', 'f', '!', '-type', 'd', '-delete']);
    // Checks sizes, as a sparse file occupies no space before it is packed.
    const bytes = Number((await inFolder(['du', '-sb', tree])).split('\t')[0]);
    if (bytes > most.bytes) throw tooLarge('bytes once unpacked', most.bytes);
    await rm(copy);
    return await filesOf({ tree, folder, more, most });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

const unreadable = (error: unknown): never => {
  throw new KernelFilesError(`cannot be read (${fileReasonOf(error)})`);
};

const tooLarge = (what: string, most: number): KernelFilesError =>
  new KernelFilesError(`has more than ${most.toLocaleString('en-US')} ${what}`);

/** Limits of unpacked files: a distribution's kernel has a quarter of the bytes, and 5,000 files. */
type KernelLimits = { bytes: number; files: number };
const usualLimits: KernelLimits = { bytes: 2 * 1024 ** 3, files: 100_000 };

/** tar(1) reads records of 10 KiB. */
const numbersOf = ({ bytes, files }: KernelLimits): string[] => [String(Math.ceil(bytes / 10_240)), String(files + 1)];

/** Ends tar(1) after this many records of the decompressed archive, see `--checkpoint` in its manual, or files. */
const extractScript = `set -o pipefail
limits=(--extract --verbose --checkpoint="$3" --checkpoint-action=exec='kill $PPID')
unpack() {
  if [ "$(head -c 7 "$1")" = '!<arch>' ]
  then dpkg-deb --fsys-tarfile "$1" | tar "\${limits[@]}" -f - -C "$2"
  else tar "\${limits[@]}" -f "$1" -C "$2"
  fi
}
files=$(unpack "$@" | head -n "$4" | wc -l)
status=$?
if [ $status -eq 143 ]; then echo it unpacks to too many bytes >&2; fi
if [ "$files" -ge "$4" ]; then echo it has too many files >&2; status=1; fi
exit $status`;

/** Copies the kernel with the highest release in this machine's /boot, in the same form. */
export async function ownKernel(folder: string, more: readonly string[]): Promise<KernelFiles> {
  const releases = await namesIn('/lib/modules');
  const images = await namesIn('/boot');
  const [newest] = releases
    .filter((release) => images.includes(`vmlinuz-${release}`))
    .toSorted((a, b) => b.localeCompare(a, 'en', { numeric: true }));
  if (newest === undefined) {
    throw new NoOwnKernelError(
      'This machine has no kernel with its modules in /boot and /lib/modules: name one by `kernel`',
    );
  }
  await beginFolder(folder);
  const tree = join(folder, 'tree');
  const image = join(tree, 'boot', `vmlinuz-${newest}`);
  await inFolder(['mkdir', '-p', join(tree, 'boot'), join(tree, 'lib/modules')]);
  // Copies the image, as the original may be unreadable for other users.
  await copyFile(`/boot/vmlinuz-${newest}`, image);
  await inFolder(['cp', '-r', `/lib/modules/${newest}`, join(tree, 'lib/modules')]);
  return filesOf({ tree, folder, more, most: usualLimits });
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => []);

async function beginFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await chown(folder, unprivilegedUserId, unprivilegedUserId);
}

/** Runs a program on untrusted files without privileges. */
async function inFolder([program = '', ...args]: readonly string[]): Promise<string> {
  try {
    return await runUnprivileged(program, args);
  } catch (error) {
    const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
    throw new KernelFilesError(`cannot be unpacked: ${lastLine(stderr) ?? reasonOf(error)}`);
  }
}

async function filesOf({
  tree,
  folder,
  more,
  most,
}: {
  tree: string;
  folder: string;
  more: readonly string[];
  most: KernelLimits;
}): Promise<KernelFiles> {
  const found = await imageIn(tree);
  const version = await versionOf(found);
  const release = version.split(' ')[0] ?? '';
  const kept = join(folder, 'kept');
  const top = await modulesIn(tree, release);
  const atBoot = await keepModules({ tree: top, release, more, kept, most });
  const [image, modules] = [join(folder, 'vmlinuz'), join(folder, 'modules.cpio')];
  await inFolder(['mv', found, image]);
  await inFolder(packing(kept, modules));
  await rm(tree, { recursive: true });
  await rm(kept, { recursive: true });
  return { image, modules, atBoot, version };
}

async function imageIn(tree: string): Promise<string> {
  const files = await namesIn(join(tree, 'boot'));
  const images = files.filter((name) => name.startsWith('vmlinuz'));
  const [image] = images;
  if (image === undefined || images.length > 1) {
    throw new KernelFilesError(`has ${images.length} files boot/vmlinuz-*, expected one`);
  }
  return join(tree, 'boot', image);
}

async function versionOf(image: string): Promise<string> {
  // A folder may have the name of an image.
  const header = await headOf(image, 0, maxImageHeaderBytes).catch(() => Buffer.alloc(0));
  const version = linuxVersionIn(header);
  if (version !== undefined) return version;
  throw new KernelFilesError('has a boot/vmlinuz that is not a Linux bzImage for x86');
}

/** Older packages use /lib, newer ones /usr/lib. */
async function modulesIn(tree: string, release: string): Promise<string> {
  for (const top of [tree, join(tree, 'usr')]) {
    const found = await namesIn(join(top, 'lib/modules'));
    if (found.includes(release)) return top;
  }
  throw new KernelFilesError(`has no lib/modules/${release}, the release of its boot/vmlinuz`);
}

/** Keeps the modules of guests and their dependencies, decompressed, as the kernel may lack the compression. */
async function keepModules(from: {
  tree: string;
  release: string;
  more: readonly string[];
  kept: string;
  most: KernelLimits;
}): Promise<string[]> {
  const { tree, release, more, kept, most } = from;
  const source = join(tree, 'lib/modules', release);
  const target = join(kept, 'lib/modules', release);
  await inFolder(['depmod', '--basedir', tree, release]);
  const all = await readdir(source, { recursive: true });
  const rules = all.filter((path) => netfilter.test(`/${path}`)).map(moduleName);
  const builtIn = await readFile(join(source, 'modules.builtin'), 'utf8').catch(() => '');
  const known = new Set([...all, ...builtIn.split('\n')].map(moduleName));
  const missing = more.find((name) => !known.has(name));
  if (missing !== undefined) throw new KernelFilesError(`has no module ${missing}`);
  const atBoot = [...loadedAtBoot, ...more];
  const needed = await dependencies(tree, release, [...new Set([...atBoot, ...rules])]);
  const paths = needed.map((path) => path.slice(source.length + 1));
  const tables = all.filter((path) => /^modules\.(?:builtin|order)/.test(path));
  await inFolder(['mkdir', '-p', target, join(kept, 'etc')]);
  // Uses a single process: there are about 80 files.
  await inFolder([
    'sh',
    '-c',
    'cd "$1" && shift && target=$1 && shift && cp --parents "$@" "$target"',
    'sh',
    source,
    target,
    ...paths,
    ...tables,
  ]);
  await inFolder(['bash', '-c', unpackScript, 'bash', target, String(most.bytes)]);
  await inFolder(['depmod', '--basedir', kept, release]);
  const loaded = atBoot.filter((name) => paths.some((path) => moduleName(path) === name));
  await inFolder(['sh', '-c', 'echo "$2" >"$1/etc/modules"', 'sh', kept, loaded.join(' ')]);
  return loaded;
}

const moduleName = (path: string): string =>
  basename(path)
    .replace(/\.ko.*$/, '')
    .replaceAll('-', '_');

/** Lists files of modules and their dependencies, without built-in or missing ones. */
async function dependencies(tree: string, release: string, names: readonly string[]): Promise<string[]> {
  const shown = await inFolder([
    ...['sh', '-c', 'modprobe "$@" 2>/dev/null; :', 'sh', '--dirname', tree],
    ...['--set-version', release, '--show-depends', '--all', ...names],
  ]);
  return [...new Set([...shown.matchAll(/^insmod (\S+)/gm)].flatMap(([, path]) => path ?? []))];
}

const unpackScript = `set -e -o pipefail
left=$2
find "$1" -name '*.ko.*' -print0 | while IFS= read -r -d '' packed
do
  case $packed in
    *.xz) program=xz;;
    *.zst) program=zstd;;
    *.gz) program=gzip;;
    *) continue;;
  esac
  whole=yes
  "$program" -dc <"$packed" | head -c "$left" >"\${packed%.*}" || whole=no
  left=$((left - $(stat -c %s "\${packed%.*}")))
  if [ "$left" -le 0 ]; then echo its modules unpack to too many bytes >&2; exit 1; fi
  [ $whole = yes ]
  rm "$packed"
done
`;

/** Packs a folder as the initramfs; see Linux's Documentation/driver-api/early-userspace. */
export const packing = (folder: string, archive: string): string[] => [
  'sh',
  '-c',
  'umask 077; cd "$1" && find . -print0 | cpio --quiet --null --create --format=newc >"$2"',
  'sh',
  folder,
  archive,
];
