// Opens a disk image for QEMU: refuses one that names other files, and gives QEMU the open file instead of a path.
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { fileReasonOf } from '../../../model/one-line.ts';
import { UsageError } from '../../../model/usage-error.ts';

export type DiskImage = AsyncDisposable & {
  /** To be inherited by QEMU as its descriptor `inheritedFile`. */
  readonly descriptor: number;
  /** Arguments that make the open file QEMU's disk. */
  readonly qemuArguments: readonly string[];
};

/** The first descriptor after standard input, output and error. */
export const inheritedFile = 3;

/** Destination of a guest's writes: a copy that ends with QEMU, or the image. */
export type DiskUse = 'copy' | 'image';

/** Throws a UsageError for a file that cannot be read, or whose format would make QEMU open other files. */
export async function openDiskImage(path: string, writesTo: DiskUse = 'copy'): Promise<DiskImage> {
  const mode = writesTo === 'copy' ? constants.O_RDONLY : constants.O_RDWR;
  // Opens without blocking, as the path may be a named pipe.
  const file = await open(path, mode | constants.O_NONBLOCK).catch(unreadable(path));
  try {
    const stats = await file.stat();
    if (!stats.isFile() && !stats.isBlockDevice()) {
      throw new Error('it is neither a file nor a disk');
    }
    const header = await beginningOf(file);
    const format = header.subarray(0, 4).equals(qcowMagic) ? 'qcow2' : 'raw';
    const reference = format === 'qcow2' ? referenceIn(header) : undefined;
    if (reference !== undefined) {
      throw new UsageError(
        `The image ${path} ${reference}: if you trust it, convert it to one file with \`qemu-img convert -O qcow2\`.`,
      );
    }
    return {
      descriptor: file.fd,
      qemuArguments: argumentsFor(
        format,
        stats.isBlockDevice() ? 'host_device' : 'file',
        writesTo === 'image' ? path : undefined,
      ),
      [Symbol.asyncDispose]: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error instanceof UsageError ? error : unreadable(path)(error);
  }
}

const unreadable =
  (path: string) =>
  (error: unknown): never => {
    throw new UsageError(`The image ${path} cannot be read (${fileReasonOf(error)}).`);
  };

const qcowMagic = Buffer.from('QFI\xfb', 'latin1');

/** Size of the largest cluster, which holds the header with its extensions. */
const maxHeaderBytes = 2 * 1024 ** 2;

async function beginningOf(file: FileHandle): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(maxHeaderBytes), 0, null, 0);
  return buffer.subarray(0, bytesRead);
}

/** Offsets and bits of QEMU's docs/interop/qcow2.txt. */
const shortestHeaderBytes = 104;
const version2HeaderBytes = 72;
const externalDataBit = 1n << 2n;
const dataFileNameExtension = 0x44415441;

/** Explains in a clause which other file QEMU would open. */
function referenceIn(header: Buffer): string | undefined {
  if (header.length < shortestHeaderBytes) return 'ends within its header';
  const version = header.readUInt32BE(4);
  if (version !== 2 && version !== 3) return `has version ${version} of its format instead of 2 or 3`;
  if (header.readBigUInt64BE(8) !== 0n) return 'names a backing file, which guests could read';
  const hasDataFile = version === 3 && (header.readBigUInt64BE(72) & externalDataBit) !== 0n;
  const headerBytes = version === 3 ? header.readUInt32BE(100) : version2HeaderBytes;
  if (hasDataFile || extensionsOf(header, headerBytes).has(dataFileNameExtension)) {
    return 'keeps its data in another file, which guests could read';
  }
  return undefined;
}

/** Types of the header's extensions; each has a length of four bytes and is padded to eight. */
function extensionsOf(header: Buffer, headerBytes: number): Set<number> {
  const types = new Set<number>();
  for (let at = headerBytes; at + 8 <= header.length; ) {
    const type = header.readUInt32BE(at);
    if (type === 0) break;
    types.add(type);
    at += 8 + Math.ceil(header.readUInt32BE(at + 4) / 8) * 8;
  }
  return types;
}

/** States the format, which QEMU would otherwise probe, and excludes other files. */
function argumentsFor(format: 'raw' | 'qcow2', driver: 'file' | 'host_device', written: string | undefined): string[] {
  const node = {
    driver: format,
    ...(format === 'qcow2' && { backing: null }),
    // QEMU opens a writable file twice, and an inherited file serves one of the two.
    file: { driver, filename: written ?? '/dev/fdset/1' },
  };
  // QEMU's options escape a comma by doubling it.
  const file = `json:${JSON.stringify(node)}`.replaceAll(',', ',,');
  return [
    '-add-fd',
    `fd=${inheritedFile},set=1`,
    '-drive',
    // Without space for the copy, QEMU would stop the guest silently, and a reset would not resume it.
    `if=none,id=disk,file=${file},snapshot=${written === undefined ? 'on' : 'off'},cache=unsafe,werror=report`,
    '-device',
    'virtio-blk-pci,drive=disk',
  ];
}
