// Lists the modules of a FreeBSD machine: those loaded, and those that its loader needs in addition to a kernel.
import type { LoadedModules } from '../../../kernel/needed-modules.ts';

import { isGood } from '../../../system/host/execute.ts';
import type { Host } from '../../../system/host/ssh.ts';
import { shell } from '../../../system/shell.ts';
import { fileSystemsOf } from './boot-system.ts';

/** Files loaded in addition to the running kernel: `zfs.ko`, `if_cxgbe.ko`. */
export async function loadedFiles(host: Host): Promise<Set<string>> {
  const names = (await host.output(shell`kldstat`)).split('\n').map((row) => row.split(/\s+/).at(-1));
  return new Set(names.flatMap((name) => (name?.endsWith('.ko') ? name : [])));
}

/** Call while the DUT runs its own kernel. Includes modules of loader.conf and rc.conf, and dependencies. */
export async function loadedModules(host: Host): Promise<LoadedModules> {
  const listed = await host.run(shell`ls ${'/boot/modules'}`);
  const elsewhere = new Set(listed.stdout.split('\n'));
  const files = [...(await loadedFiles(host))].filter((file) => !elsewhere.has(file));
  const [root] = await fileSystemsOf(host, ['/']);
  return {
    names: files.map((file) => file.replace(/\.ko$/, '')),
    release: (await host.output(shell`uname -r`)).trim(),
    isRootOnZfs: root?.type === 'zfs',
  };
}

type LoaderNeeds = {
  loaded: ReadonlySet<string>;
  rootType: string;
};

/**
 * Returns a clause on the first missing module; ignores modules that the machine's own kernel lacks, or has built in.
 */
export async function missingModule(
  host: Host,
  folder: string,
  { loaded, rootType }: LoaderNeeds,
): Promise<string | undefined> {
  const files = [...(await loadedByLoader(host)), ...(rootType === 'zfs' ? ['zfs.ko'] : [])];
  for (const file of new Set(files)) {
    if (!loaded.has(file) || (await isThere(host, file, [folder, '/boot/modules']))) continue;
    if (await isInKernel(host, `${folder}/kernel`, file)) continue;
    return `${file} is neither in ${folder} nor in /boot/modules, but the loader needs it before the kernel starts: build it with the kernel, or install it in /boot/modules`;
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
    // Skips firmware, which has a type, and a path for a name.
    if (name === undefined || settings.has(`${name}_type`) || !/^yes$/i.test(value)) return [];
    return `${(settings.get(`${name}_name`) ?? name).replace(/\.ko$/, '')}.ko`;
  });
}

async function textOf(host: Host, command: ReturnType<typeof shell>): Promise<string> {
  const outcome = await host.run(command);
  return isGood(outcome) ? outcome.stdout : '';
}

async function isThere(host: Host, file: string, folders: readonly string[]): Promise<boolean> {
  for (const folder of folders) {
    const outcome = await host.run(shell`test -e ${`${folder}/${file}`}`);
    if (isGood(outcome)) return true;
  }
  return false;
}

/** The configuration is known only if the kernel was built to include it. */
async function isInKernel(host: Host, kernel: string, file: string): Promise<boolean> {
  const name = file.replace(/^if_|\.ko$/g, '').toLowerCase();
  return (await textOf(host, shell`config -x ${kernel}`)).split('\n').some((line) => {
    const [kind = '', option, more] = line.trim().split(/\s+/);
    return /^(?:device|options)$/.test(kind) && option?.toLowerCase() === name && more === undefined;
  });
}
