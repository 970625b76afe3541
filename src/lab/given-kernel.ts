// Checks that the testbed can boot a given kernel file, before anything is reserved.
import { stat } from 'node:fs/promises';
import type { TestbedConfig } from '../config/schema.ts';
import { fileReasonOf } from '../model/one-line.ts';
import { UsageError } from '../model/usage-error.ts';
import {
  DecompressError,
  decompressed,
  decompressorOf,
  type FilePart,
  headOf,
  NoDecompressorError,
} from '../system/decompress.ts';
import { NoTarError, TarError, type TarMember, tarMembers } from '../system/tar-members.ts';
import { linuxVersionIn, maxImageHeaderBytes } from './qemu/vm/linux-image.ts';
import { unprivilegedUserId } from './qemu/vm/unprivileged-user.ts';

/** Form of a testbed's kernels: a Linux package, a FreeBSD archive, or an appliance's image. */
export type KernelForm = 'linux' | 'freebsd' | 'nanobsd';

/** Returns undefined for a testbed that installs files, and boots no kernel of a patch. */
export function kernelFormOf(testbed: TestbedConfig | undefined): KernelForm | undefined {
  if (testbed?.kind === 'virtual') return testbed.system;
  if (testbed?.kind !== 'freebsd') return undefined;
  return testbed.dut.boot.method === 'nanobsd' ? 'nanobsd' : 'freebsd';
}

const needed: Record<KernelForm, string> = {
  linux: 'a .deb or a tar archive with boot/vmlinuz-* and its lib/modules/* (docs/how-to/virtual.md)',
  freebsd: 'a tar archive with `kernel` and its modules at its top (docs/how-to/kernels.md)',
  nanobsd: 'an xz-compressed image of nanobsd(8) (docs/how-to/kernels.md)',
};

/** Throws a UsageError that names the option, the file, its form, and the required form. */
export async function expectKernel(option: string, path: string, form: KernelForm): Promise<void> {
  const why = await whyNot(path, form).catch((error: unknown) => {
    if (error instanceof NoDecompressorError) return undefined;
    if (error instanceof NoTarError) return 'is neither a package nor an archive';
    if (error instanceof TarError || error instanceof DecompressError) {
      return `is cut short or damaged (${error.message})`;
    }
    return `cannot be read (${fileReasonOf(error)})`;
  });
  if (why === undefined) return;
  throw new UsageError(`${option}: ${path} ${why}; expected ${needed[form]}.`);
}

async function whyNot(path: string, form: KernelForm): Promise<string | undefined> {
  const stats = await stat(path);
  if (stats.isDirectory()) return 'is a folder';
  if (!stats.isFile()) return 'is not a regular file';
  if (stats.size === 0) return 'is an empty file';
  const head = await headOf(path, 0, maxImageHeaderBytes);
  const other = otherThanArchive(head);
  if (other !== undefined) return `is ${other}`;
  if (form === 'nanobsd') return whyNoImage(path, stats.size, head);
  const part = isDeb(head) ? await dataOfDeb(path, stats.size) : { path };
  if (part === undefined) return 'is an ar archive, but not a Debian package';
  if (isDeb(head) && form === 'freebsd') return 'is a Debian package';
  return (form === 'linux' ? whyNoLinux : whyNoFreebsd)(part);
}

/** Describes a file that is not an archive, by its first bytes. */
function otherThanArchive(head: Buffer): string | undefined {
  if (isBzImage(head)) return 'a Linux bzImage without its modules';
  if (isElf(head)) {
    return isFreebsdKernel(head) ? 'a FreeBSD kernel without its modules' : 'an ELF file without its modules';
  }
  const found = foreign.find(({ magic }) => head.toString('hex', 0, magic.length / 2) === magic);
  if (found !== undefined) return found.name;
  const isTar = head.toString('latin1', 257, 262) === 'ustar';
  if (isTar || isDeb(head) || decompressorOf(head) !== undefined) return undefined;
  if (head.includes(0)) return undefined;
  return 'a text file';
}

const foreign = [
  { magic: '504b0304', name: 'a zip archive' },
  { magic: 'edabeedb', name: 'an RPM package' },
  { magic: '514649fb', name: 'a disk image (qcow2)' },
];

const isElf = (head: Buffer): boolean => head.toString('latin1', 0, 4) === '\x7fELF';

const isBzImage = (head: Buffer): boolean => head.toString('latin1', 0x202, 0x206) === 'HdrS';

/** True for an OS ABI of 9, or for the interpreter in FreeBSD kernels of every platform; see sys/conf/kern.pre.mk. */
const isFreebsdKernel = (head: Buffer): boolean => isElf(head) && (head[7] === 9 || head.includes('/red/herring'));

const isDeb = (head: Buffer): boolean => head.toString('latin1', 0, 7) === '!<arch>';

/** Member data.tar of a package, see deb(5); undefined if the archive has none. */
async function dataOfDeb(path: string, size: number): Promise<FilePart | undefined> {
  for (let at = 8, count = 0; at < size && count < 100; count += 1) {
    const header = (await headOf(path, at, 60)).toString('latin1');
    const bytes = Number(header.slice(48, 58).trim());
    if (header.length < 60 || !Number.isSafeInteger(bytes) || bytes < 0) break;
    if (header.startsWith('data.tar')) {
      if (at + 60 + bytes > size) throw new TarError('it is truncated');
      return { path, start: at + 60, bytes };
    }
    at += 60 + bytes + (bytes % 2);
  }
  return undefined;
}

/** An xz file ends with the magic of a stream's footer, which may be padded; see xz-file-format.txt. */
async function whyNoImage(path: string, size: number, head: Buffer): Promise<string | undefined> {
  if (decompressorOf(head) !== 'xz') return 'is not xz-compressed';
  if (head[0] === 0x5d) return undefined;
  const tail = await headOf(path, Math.max(0, size - 1024), 1024);
  return /YZ\0*$/.test(tail.toString('latin1')) ? undefined : 'is cut short';
}

/** A distribution's kernel has 5,000 files, and a quarter of the bytes. */
const limits = {
  headBytes: maxImageHeaderBytes,
  maxMembers: 200_000,
  maxBytes: 8 * 1024 ** 3,
};

const membersOf = (part: FilePart): AsyncGenerator<TarMember> =>
  tarMembers(decompressed(part, process.getuid?.() === 0 ? unprivilegedUserId : undefined), limits);

async function whyNoLinux(part: FilePart): Promise<string | undefined> {
  let version: string | undefined;
  let image: string | undefined;
  const releases = new Set<string>();
  for await (const { path, isFile, head } of membersOf(part)) {
    if (isFile && /^boot\/vmlinuz[^/]*$/.test(path)) {
      image = path;
      version ??= linuxVersionIn(head);
    }
    const [, release] = /^(?:usr\/)?lib\/modules\/([^/]+)(?:\/|$)/.exec(path) ?? [];
    if (release !== undefined) releases.add(release);
  }
  if (image === undefined) return 'is an archive without boot/vmlinuz-*';
  if (version === undefined) return `has a ${image} that is not a Linux bzImage for x86`;
  const release = version.split(' ')[0] ?? '';
  return releases.has(release) ? undefined : `has no lib/modules/${release} for its ${image}`;
}

async function whyNoFreebsd(part: FilePart): Promise<string | undefined> {
  let kernel: Buffer | undefined;
  let elsewhere: string | undefined;
  for await (const { path, isFile, head } of membersOf(part)) {
    if (isFile && path === 'kernel') kernel = head;
    if (isFile && path.endsWith('/kernel')) elsewhere ??= path;
  }
  if (kernel !== undefined) {
    return isFreebsdKernel(kernel) ? undefined : 'has a `kernel` that is not a FreeBSD ELF kernel';
  }
  return elsewhere === undefined
    ? 'is an archive without `kernel`'
    : `has its kernel at ${JSON.stringify(elsewhere.slice(0, 200))}`;
}
