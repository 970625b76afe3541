// What a DUT runs with, for a builder that builds no more modules than it needs.
import type { LoadedModules } from '../../kernel/needed-modules.ts';
import type { Host } from '../../system/host/ssh.ts';
import { shell } from '../../system/shell.ts';
import { loadedFiles } from './boot/boot-modules.ts';
import { fileSystemsOf } from './boot/boot-system.ts';

/** The modules of a DUT that runs its own kernel: what loader.conf and rc.conf have loaded is among them, with all it depends on. */
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
