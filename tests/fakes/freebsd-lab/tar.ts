// Reads and writes tar archives (POSIX ustar) of plain files and folders, like a kernel's archive.
import { execFileSync } from 'node:child_process';

export type TarEntry =
  | { kind: 'file'; path: string; bytes: Buffer; mode: number }
  | { kind: 'folder'; path: string; mode: number };

const blockBytes = 512;

/** Decompresses archives with this machine's own programs first; undefined for what is incomplete or no archive. */
export function readTar(archive: Buffer): readonly TarEntry[] | undefined {
  const plain = decompressed(archive) ?? Buffer.of();
  const entries: TarEntry[] = [];
  let position = 0;
  while (position + blockBytes <= plain.length) {
    const header = plain.subarray(position, position + blockBytes);
    if (header.every((byte) => byte === 0)) return entries;
    const size = octal(header, 124, 12);
    const start = position + blockBytes;
    if (octal(header, 148, 8) !== checksum(header) || start + size > plain.length) return undefined;
    const entry = entryOf(header, plain.subarray(start, start + size));
    if (entry !== undefined) entries.push(entry);
    position = start + Math.ceil(size / blockBytes) * blockBytes;
  }
  return undefined;
}

function decompressed(archive: Buffer): Buffer | undefined {
  const program = compressors.find(({ magic }) => archive.subarray(0, magic.length).equals(magic));
  if (program === undefined) return archive;
  try {
    return execFileSync(program.name, ['-d', '-c'], {
      input: archive,
      stdio: ['pipe', 'pipe', 'ignore'],
      maxBuffer: 2 ** 30,
    });
  } catch {
    return undefined;
  }
}

const compressors = [
  { name: 'zstd', magic: Buffer.from('28b52ffd', 'hex') },
  { name: 'xz', magic: Buffer.from('fd377a585a00', 'hex') },
  { name: 'gzip', magic: Buffer.from('1f8b', 'hex') },
];

/** Sum of the header's bytes, its own field counted as spaces. */
const checksum = (header: Buffer): number =>
  header.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 32 : byte), 0);

function entryOf(header: Buffer, bytes: Buffer): TarEntry | undefined {
  const prefix = text(header, 345, 155);
  const name = text(header, 0, 100);
  const path = prefix === '' ? name : `${prefix}/${name}`;
  const mode = octal(header, 100, 8);
  const type = text(header, 156, 1);
  if (type === '5') return { kind: 'folder', path, mode };
  return type === '0' || type === '' ? { kind: 'file', path, bytes, mode } : undefined;
}

const octal = (header: Buffer, start: number, length: number): number =>
  Number.parseInt(text(header, start, length).trim(), 8) || 0;

const text = (header: Buffer, start: number, length: number): string =>
  header.toString('latin1', start, start + length).replace(/\0.*$/s, '');

/** An archive of files by path, each path of up to 100 characters. */
export function makeTar(files: ReadonlyMap<string, Uint8Array | string>): Buffer {
  const blocks = [...files].flatMap(([path, content]) => {
    const bytes = Buffer.from(content);
    const padding = Buffer.alloc((blockBytes - (bytes.length % blockBytes)) % blockBytes);
    return [headerOf(path, bytes.length), bytes, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]);
}

function headerOf(path: string, size: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  header.write(path, 0, 'latin1');
  header.write('0000555\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('0', 156);
  header.write('ustar\x0000', 257);
  header.write(`${checksum(header).toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}
