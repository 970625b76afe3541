// Builds the distribution's kernel with a module that fails on purpose, as archives that a virtual testbed boots.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Packet at which the module fails; the number 0 is no packet. */
const fatal = { harmless: 0, failing: 5000 };

/** Returns the paths of both archives. `package_` is a .deb of the release whose headers this machine has. */
export async function accidentKernels(package_: string, folder: string): Promise<Record<keyof typeof fatal, string>> {
  const [tree, source] = [join(folder, 'tree'), join(folder, 'source')];
  for (const path of [tree, source]) await mkdir(path, { recursive: true });
  await run('dpkg-deb', ['--extract', package_, tree]);
  const [release = ''] = await readdir(join(tree, 'lib/modules'));
  await copyFile(new URL('./accidents/accident.c', import.meta.url), join(source, 'accident.c'));
  const build = async (name: keyof typeof fatal): Promise<string> => {
    await writeFile(join(source, 'Makefile'), `obj-m := accident.o\nccflags-y := -DFATAL=${fatal[name]}\n`);
    for (const target of ['clean', 'modules']) {
      await run('make', ['-C', `/lib/modules/${release}/build`, `M=${source}`, target]);
    }
    const place = join(tree, 'lib/modules', release, 'kernel/net/netfilter/accident.ko');
    await copyFile(join(source, 'accident.ko'), place);
    await run('tar', ['-cf', join(folder, `${name}.tar`), '-C', tree, 'boot', 'lib']);
    return join(folder, `${name}.tar`);
  };
  return { harmless: await build('harmless'), failing: await build('failing') };
}
