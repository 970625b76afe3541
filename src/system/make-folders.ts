// Makes a folder with its parents.
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Returns the first folder that it made. Node's own never ends below a folder that takes none, like /proc. */
export async function makeFolders(path: string): Promise<string | undefined> {
  const parent = dirname(path);
  const above = (await isFolder(parent)) ? undefined : await makeFolders(parent);
  try {
    await mkdir(path);
    return above ?? path;
  } catch (error) {
    if (await isFolder(path)) return above;
    throw error;
  }
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
