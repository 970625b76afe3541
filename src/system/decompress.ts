// Streams part of a compressed file. Its first bytes determine the program that decompresses it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { lastLine, reasonOf } from '../model/one-line.ts';

/** Reports a stream that is truncated or damaged. */
export class DecompressError extends Error {
  override readonly name = 'DecompressError';
}

/** Reports a program that is not installed. */
export class NoDecompressorError extends Error {
  override readonly name = 'NoDecompressorError';
}

const decompressors = [
  { magic: '1f8b', program: 'gzip' },
  { magic: '1f9d', program: 'gzip' },
  { magic: '425a68', program: 'bzip2' },
  { magic: 'fd377a585a00', program: 'xz' },
  { magic: '5d0000', program: 'xz' },
  { magic: '28b52ffd', program: 'zstd' },
  { magic: '04224d18', program: 'lz4' },
  { magic: '4c5a4950', program: 'lzip' },
] as const;

export const decompressorOf = (head: Buffer): string | undefined =>
  decompressors.find(({ magic }) => head.toString('hex', 0, magic.length / 2) === magic)?.program;

export type FilePart = { path: string; start?: number; bytes?: number };

/** @param user runs the decompressor, as its input may be made to attack it. */
export async function* decompressed(
  { path, start = 0, bytes }: FilePart,
  user: number | undefined,
): AsyncGenerator<Buffer> {
  const end = bytes === undefined ? undefined : start + bytes - 1;
  const file = createReadStream(path, { start, ...(end !== undefined && { end }) });
  const program = decompressorOf(await headOf(path, start, 6));
  if (program === undefined) {
    yield* file;
    return;
  }
  const child = spawn(program, ['-d', '-c'], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH, LC_ALL: 'C' },
    cwd: '/',
    ...(user !== undefined && { uid: user, gid: user }),
  });
  const ended = once(child, 'close').then(
    ([code]) => (code === 0 ? undefined : `it exited with ${code}`),
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') return reasonOf(error);
      return new NoDecompressorError(`${program} is not installed`);
    },
  );
  let errors = '';
  child.stderr.on('data', (text) => {
    if (errors.length < 4096) errors += String(text);
  });
  // The decompressor may end before it has read everything.
  child.stdin.on('error', () => {});
  file.on('error', (error) => child.stdin.destroy(error)).pipe(child.stdin);
  try {
    for await (const chunk of child.stdout) yield chunk;
    const failure = await ended;
    if (failure instanceof Error) throw failure;
    if (failure !== undefined) throw new DecompressError(lastLine(errors) ?? `${program}: ${failure}`);
  } finally {
    file.destroy();
    child.kill();
  }
}

export async function headOf(path: string, start: number, bytes: number): Promise<Buffer> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, start);
  return buffer.subarray(0, bytesRead);
}
