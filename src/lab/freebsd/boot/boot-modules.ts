// Which modules the loader of a FreeBSD machine needs beside a kernel: it looks in the kernel's folder and in /boot/modules.

import type { Host } from '../../../system/host/ssh.ts';
import { shell } from '../../../system/shell.ts';

/** The files that are loaded beside the kernel that runs: `zfs.ko`, `if_cxgbe.ko`. */
export async function loadedFiles(host: Host): Promise<Set<string>> {
  const names = (await host.output(shell`kldstat`))
    .split('\n')
    .map((row) => row.split(/\s+/).at(-1));
  return new Set(names.flatMap((name) => (name?.endsWith('.ko') ? name : [])));
}

type Wanted = {
  /** What the machine's own kernel has. */
  loaded: ReadonlySet<string>;
  /** Type of the file system of the root. */
  rootType: string;
};

/**
 * The first that a kernel's folder lacks, as a clause; undefined where none does. What loader.conf names and the own kernel
 * runs without is not needed, nor what the kernel has in itself.
 */
export async function lackingModule(
  host: Host,
  folder: string,
  { loaded, rootType }: Wanted,
): Promise<string | undefined> {
  const files = [...(await loadedByLoader(host)), ...(rootType === 'zfs' ? ['zfs.ko'] : [])];
  for (const file of new Set(files)) {
    if (!loaded.has(file) || (await isThere(host, file, [folder, '/boot/modules']))) continue;
    if (await isInKernel(host, `${folder}/kernel`, file)) continue;
    return `${file} is neither in ${folder} nor in /boot/modules, and the loader needs it before the kernel is up: build it with the kernel, or lay it in /boot/modules`;
  }
  return undefined;
}

async function loadedByLoader(host: Host): Promise<string[]> {
  const folder = '/boot/loader.conf.d';
  const names = (await textOf(host, shell`ls -1 ${folder}`)).split('\n');
  const more = names.filter((name) => name.endsWith('.conf')).map((name) => `${folder}/${name}`);
  const settings = new Map<string, string>();
  for (const path of ['/boot/loader.conf', ...more, '/boot/loader.conf.local']) {
    const text = await textOf(host, shell`cat ${path}`);
    for (const [, name = '', value = ''] of text.matchAll(/^\s*([\w.-]+)\s*=\s*"?([^"\s#]*)/gm)) {
      settings.set(name, value);
    }
  }
  return [...settings].flatMap(([setting, value]) => {
    const name = /^(.+)_load$/.exec(setting)?.[1];
    // Firmware and the like have a type, and a path for a name.
    if (name === undefined || settings.has(`${name}_type`) || !/^yes$/i.test(value)) return [];
    return `${(settings.get(`${name}_name`) ?? name).replace(/\.ko$/, '')}.ko`;
  });
}

async function textOf(host: Host, command: ReturnType<typeof shell>): Promise<string> {
  const outcome = await host.run(command);
  return outcome.kind === 'exited' && outcome.code === 0 ? outcome.stdout : '';
}

async function isThere(host: Host, file: string, folders: readonly string[]): Promise<boolean> {
  for (const folder of folders) {
    const found = await host.run(shell`test -e ${`${folder}/${file}`}`);
    if (found.kind === 'exited' && found.code === 0) return true;
  }
  return false;
}

/** Where it was built with its configuration in it. */
async function isInKernel(host: Host, kernel: string, file: string): Promise<boolean> {
  const name = file.replace(/^if_|\.ko$/g, '').toLowerCase();
  return (await textOf(host, shell`config -x ${kernel}`)).split('\n').some((line) => {
    const [kind = '', what, more] = line.trim().split(/\s+/);
    return /^(?:device|options)$/.test(kind) && what?.toLowerCase() === name && more === undefined;
  });
}
