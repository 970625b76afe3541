// Opens files below a folder of untrusted content, by untrusted paths.
import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { join } from 'node:path';

/** Reports a path that may not be followed, or a file that may not be read; `why` is a clause. */
export class ForeignFileError extends Error {
  override readonly name = 'ForeignFileError';
  readonly conclusion = 'usage';
  readonly why: string;

  constructor(place: string, why: string) {
    super(`${place} is not opened: ${why}.`);
    this.why = why;
  }
}

/**
 * Returns a path below the folder; neither it nor its parents need exist. Throws a ForeignFileError for a path that
 * leads out of the folder, by its parts or through a link. The folder itself and the returned path may be links;
 * `readForeignFile` follows none.
 */
export async function placeBelow(folder: string, path: string): Promise<string> {
  const parts = path.split('/');
  if (path.length > maxPathLetters || !parts.every(isPlain)) {
    const shown = JSON.stringify(path.slice(0, 200));
    throw new ForeignFileError(shown, `such a path may lead outside ${folder}`);
  }
  let parent = folder;
  for (const part of parts.slice(0, -1)) {
    parent = join(parent, part);
    const stats = await lstat(parent).catch(ifMissing(parent));
    if (stats === undefined) break;
    if (!stats.isDirectory()) {
      throw new ForeignFileError(join(folder, path), `${parent} is not a folder of its own`);
    }
  }
  return join(folder, path);
}

/** Returns undefined for a missing file. Throws a ForeignFileError like `placeBelow`, and for more than `maxBytes`. */
export async function readForeignFile(folder: string, path: string, maxBytes: number): Promise<Buffer | undefined> {
  const place = await placeBelow(folder, path);
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(place, flags).catch(ifMissing(place));
  if (file === undefined) return undefined;
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new ForeignFileError(place, noFile);
    if (stats.size > maxBytes) {
      throw new ForeignFileError(place, `it has ${stats.size} bytes, more than the limit of ${maxBytes}`);
    }
    return await contentOf(file, stats.size);
  } finally {
    await file.close();
  }
}

export async function readForeignText(folder: string, path: string, maxBytes: number): Promise<string | undefined> {
  return (await readForeignFile(folder, path, maxBytes))?.toString();
}

/** Ignores what is appended to the file meanwhile. */
async function contentOf(file: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  let filled = 0;
  while (filled < size) {
    const { bytesRead } = await file.read(bytes, filled, size - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return bytes.subarray(0, filled);
}

const maxPathLetters = 4096;

const noFile = 'it is not a regular file';

const isPlain = (part: string): boolean => part !== '' && part !== '.' && part !== '..' && !part.includes('\0');

const ifMissing =
  (place: string) =>
  (error: NodeJS.ErrnoException): undefined => {
    if (error.code === 'ENOENT') return undefined;
    const isLink = error.code === 'ELOOP' || error.code === 'EMLINK';
    throw new ForeignFileError(place, isLink ? noFile : `it cannot be opened (${error.code})`);
  };
