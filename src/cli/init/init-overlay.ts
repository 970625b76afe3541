// Finds a missing overlay folder for a Linux DUT, without which the first gate measures nothing.
import { readdir } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { parseConfig } from '../../config/load.ts';
import { systemOf } from '../../config/schema.ts';
import { readIfThere } from './init-files.ts';

/** Path of the overlay (without one, `planned`) if a testbed installs it and it has no file yet. */
export async function lackingOverlay(
  directory: string,
  planned: string,
): Promise<string | undefined> {
  try {
    const path = join(directory, 'ppsgate.yml');
    const text = (await readIfThere(path)) ?? planned;
    const config = parseConfig(text, { path, home: '/' });
    if (!('path' in config.overlay)) return undefined;
    const isInstalled = Object.keys(config.testbeds).some(
      (name) => systemOf(config, name) === 'linux',
    );
    const place = resolve(directory, config.overlay.path);
    const folder = relative(directory, place);
    const isWithin = folder !== '' && folder.split(sep)[0] !== '..';
    return isInstalled && isWithin && (await isEmpty(place)) ? folder : undefined;
  } catch {
    return undefined;
  }
}

async function isEmpty(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length === 0;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true;
    throw error;
  }
}
