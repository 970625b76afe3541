// Builds the distribution's kernels with a module that fails on purpose, as archives that a virtual testbed boots.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Sorted like accidents/accident.c. */
export const accidents = [
  'harmless',
  'panic at boot',
  'hang at boot',
  'oops under load',
  'hang under load',
  'lose network',
  'forward nothing',
  'fill disk',
  'hundred instructions',
  'cache misses',
] as const;

export type Accident = (typeof accidents)[number];

/** A kernel's package, unpacked once, and the accidents made from it. */
export type AccidentKernels = {
  /** Path of an archive whose guests have that accident. */
  archive(accident: Accident): Promise<string>;
};

/** `package_` is a .deb of the release whose headers this machine has. */
export async function accidentKernels(package_: string, folder: string): Promise<AccidentKernels> {
  const tree = join(folder, 'tree');
  await mkdir(tree, { recursive: true });
  await run('dpkg-deb', ['--extract', package_, tree]);
  const [release = ''] = await readdir(join(tree, 'lib/modules'));
  const place = join(tree, 'lib/modules', release, 'kernel/net/netfilter/accident.ko');
  return {
    async archive(accident) {
      const path = join(folder, `${accident.replaceAll(' ', '-')}.tar`);
      const source = join(folder, accident.replaceAll(' ', '-'));
      await mkdir(source, { recursive: true });
      await copyFile(new URL('./accidents/accident.c', import.meta.url), join(source, 'accident.c'));
      await writeFile(
        join(source, 'Makefile'),
        `obj-m := accident.o\nccflags-y := -DACCIDENT=${accidents.indexOf(accident)}\n`,
      );
      await run('make', ['-C', `/lib/modules/${release}/build`, `M=${source}`, 'modules']);
      await copyFile(join(source, 'accident.ko'), place);
      await run('tar', ['-cf', path, '-C', tree, 'boot', 'lib']);
      await rm(source, { recursive: true });
      return path;
    },
  };
}

/** Archive of a kernel whose image is damaged in its middle, where it unpacks itself. */
export async function damaged(archive: string, folder: string): Promise<string> {
  const tree = join(folder, 'damaged');
  await mkdir(tree, { recursive: true });
  await run('tar', ['-xf', archive, '-C', tree]);
  const images = (await readdir(join(tree, 'boot'))).filter((name) => name.startsWith('vmlinuz'));
  const file = `of=${join(tree, 'boot', images[0] ?? '')}`;
  await run('dd', ['if=/dev/urandom', file, 'bs=4096', 'seek=400', 'count=16', 'conv=notrunc']);
  const path = join(folder, 'damaged.tar');
  await run('tar', ['-cf', path, '-C', tree, 'boot', 'lib']);
  await rm(tree, { recursive: true });
  return path;
}
