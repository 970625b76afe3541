// Writes zip archives, valid and invalid, byte by byte as in PKWARE's APPNOTE.TXT 6.3.
import { crc32, deflateRawSync } from 'node:zlib';

export type ZipEntry = {
  name: string;
  content: string | Buffer;
  /** 0 is stored, 8 deflated; for any other method the bytes are as given. */
  method?: number;
  /** st_mode(2), as stored in a zip made on Unix. */
  mode?: number;
  encrypted?: boolean;
  /** Sizes and checksum follow the bytes, as in a zip written to a stream. */
  dataDescriptor?: boolean;
  /** Sizes are in zip64's extra field. */
  zip64?: boolean;
  /** False values in the zip's headers. */
  says?: { uncompressedBytes?: number; compressedBytes?: number; crc32?: number };
};

export type ZipOptions = {
  /** Claimed number of entries. */
  entryCount?: number;
  /** The end of the directory is zip64's. */
  zip64?: boolean;
};

export function zipOf(entries: readonly ZipEntry[], options: ZipOptions = {}): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const packed = pack(entry);
    const file = Buffer.concat([localHeader(entry, packed), packed.bytes, descriptor(entry, packed)]);
    directory.push(directoryHeader(entry, packed, offset));
    files.push(file);
    offset += file.length;
  }
  const bytes = directory.reduce((sum, header) => sum + header.length, 0);
  const end = endOfDirectory({ entryCount: entries.length, ...options }, offset, bytes);
  return Buffer.concat([...files, ...directory, end]);
}

type Packed = { bytes: Buffer; compressed: number; uncompressed: number; crc: number };

function pack({ content, method = 8, says = {} }: ZipEntry): Packed {
  const plain = Buffer.from(content);
  const bytes = method === 8 ? deflateRawSync(plain, { level: 1 }) : plain;
  return {
    bytes,
    compressed: says.compressedBytes ?? bytes.length,
    uncompressed: says.uncompressedBytes ?? plain.length,
    crc: says.crc32 ?? crc32(plain),
  };
}

const unknown = 0xffff_ffff;

/** Flags, method, time, date, checksum and sizes, as in both headers. */
function common(entry: ZipEntry, packed: Packed, isKnown: boolean): Buffer {
  const { method = 8, encrypted = false, dataDescriptor = false, zip64 = false } = entry;
  const utf8 = 0x800;
  const flags = (encrypted ? 1 : 0) | (dataDescriptor ? 8 : 0) | utf8;
  const sizes = zip64 ? [unknown, unknown] : [packed.compressed, packed.uncompressed];
  const known = isKnown ? [packed.crc, ...sizes] : [0, 0, 0];
  return Buffer.concat([shorts(flags, method, 0, 0x21), longs(...known)]);
}

function localHeader(entry: ZipEntry, packed: Packed): Buffer {
  const name = Buffer.from(entry.name);
  return Buffer.concat([
    longs(0x04034b50),
    shorts(20),
    common(entry, packed, entry.dataDescriptor !== true),
    shorts(name.length, 0),
    name,
  ]);
}

function descriptor({ dataDescriptor = false }: ZipEntry, packed: Packed): Buffer {
  if (!dataDescriptor) return Buffer.alloc(0);
  return longs(0x08074b50, packed.crc, packed.compressed, packed.uncompressed);
}

function directoryHeader(entry: ZipEntry, packed: Packed, offset: number): Buffer {
  const name = Buffer.from(entry.name);
  const extra = entry.zip64
    ? Buffer.concat([shorts(1, 16), quads(packed.uncompressed, packed.compressed)])
    : Buffer.alloc(0);
  const unix = 3 << 8;
  return Buffer.concat([
    longs(0x02014b50),
    shorts(unix | 20, 20),
    common(entry, packed, true),
    shorts(name.length, extra.length, 0, 0, 0),
    longs(((entry.mode ?? 0o100644) << 16) >>> 0, offset),
    name,
    extra,
  ]);
}

function endOfDirectory(
  { entryCount, zip64 = false }: { entryCount: number; zip64?: boolean },
  offset: number,
  bytes: number,
): Buffer {
  const end = (count: number, ...places: number[]) =>
    Buffer.concat([longs(0x06054b50), shorts(0, 0, count, count), longs(...places), shorts(0)]);
  if (!zip64) return end(entryCount, bytes, offset);
  return Buffer.concat([
    longs(0x06064b50),
    quads(44),
    shorts(45, 45),
    longs(0, 0),
    quads(entryCount, entryCount, bytes, offset),
    longs(0x07064b50, 0),
    quads(offset + bytes),
    longs(1),
    end(0xffff, unknown, unknown),
  ]);
}

const shorts = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(2 * values.length);
  values.forEach((value, index) => void bytes.writeUInt16LE(value, 2 * index));
  return bytes;
};

const longs = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => void bytes.writeUInt32LE(value, 4 * index));
  return bytes;
};

const quads = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(8 * values.length);
  values.forEach((value, index) => void bytes.writeBigUInt64LE(BigInt(value), 8 * index));
  return bytes;
};
