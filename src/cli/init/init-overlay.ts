// Finds the files that patches change: an overlay folder, or a router's own files at their usual places.
import { lstat, readdir } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { parseConfig } from '../../config/load.ts';
import { systemOf } from '../../config/schema.ts';
import { overlayFiles } from '../../model/overlay-files.ts';
import type { OperatingSystem } from '../../model/scenario.ts';
import { readIfThere } from './init-files.ts';

/** Paths in the repository, by the files' names in an overlay. */
export type FoundFiles = ReadonlyMap<string, string>;

/** Path of the overlay (without one, `planned`) if a testbed installs it and it has no file yet. */
export async function missingOverlay(directory: string, planned: string): Promise<string | undefined> {
  try {
    const path = join(directory, 'ppsgate.yml');
    const text = (await readIfThere(path)) ?? planned;
    const config = parseConfig(text, { path, home: '/' });
    if (!('path' in config.overlay)) return undefined;
    const isInstalled = Object.keys(config.testbeds).some((name) => systemOf(config, name) === 'linux');
    const place = resolve(directory, config.overlay.path);
    const folder = relative(directory, place);
    const isWithin = folder !== '' && folder.split(sep)[0] !== '..';
    return isInstalled && isWithin && (await isEmpty(place)) ? folder : undefined;
  } catch {
    return undefined;
  }
}

/** Finds files at the repository's top, otherwise in its etc/; none if `dut`, the usual overlay, has files. */
export async function findFiles(directory: string, system: OperatingSystem): Promise<FoundFiles> {
  const found = new Map<string, string>();
  // FreeBSD's own sources have such files, too, and are measured by their kernels.
  if (!(await isEmpty(join(directory, 'sys')).catch(() => true))) return found;
  if (!(await isEmpty(join(directory, 'dut')).catch(() => false))) return found;
  for (const name of overlayFiles[system]) {
    for (const path of [name, `etc/${name}`]) {
      if (!found.has(name) && (await isPlainFile(join(directory, path)))) found.set(name, path);
    }
  }
  return found;
}

/** True for a plain file: an overlay has no links, which would lead to other files. */
const isPlainFile = (path: string): Promise<boolean> =>
  lstat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );

async function isEmpty(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true;
    throw error;
  }
}
