// nextboot and shutdown.
import { fileErrorText, nodeAt, remove, writeFile } from '../file-system.ts';
import { reboot } from '../lifecycle.ts';
import { nextbootFile } from '../machine.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';
import type { Environments } from '../root.ts';
import { readOptions } from './options.ts';

export const bootPrograms: Readonly<Record<string, Program>> = {
  nextboot,
  'shutdown -r now': shutdown,
  'zfsbootcfg -z zroot -n freebsd:nvstore -p': showStore,
  'zfsbootcfg -z zroot -n freebsd:nvstore -k nextboot_enable -v NO': cancelInStore,
};

/** As sbin/reboot/reboot.c of FreeBSD 14.1. */
function nextboot(process: Process): number {
  const { has, value, given } = readOptions(process.args, 'De:k:');
  const { files, root } = process.machine;
  if (has('D')) {
    const isThere = nodeAt(files, nextbootFile) !== undefined;
    remove(files, nextbootFile);
    return isThere ? 0 : fail(process, `nextboot: unlink ${nextbootFile}: ${fileErrorText.ENOENT}`);
  }
  const kernel = value('k') ?? notModelled();
  if (nodeAt(files, `/boot/${kernel}/kernel`) === undefined) {
    return fail(process, `nextboot: stat /boot/${kernel}/kernel: ${fileErrorText.ENOENT}`);
  }
  if (root.kind === 'zfs') root.nvstore.set('nextboot_enable', 'YES');
  const variables = given.flatMap(({ name, value }) => (name === 'e' ? value.replace(/=(.*)$/, '="$1"\n') : []));
  const text = `${root.kind === 'ufs' ? 'nextboot_enable="YES"\n' : ''}kernel="${kernel}"\n${variables.join('')}`;
  const error = writeFile(files, nextbootFile, text);
  return error === undefined ? 0 : fail(process, `nextboot: ${nextbootFile}: ${fileErrorText[error]}`);
}

/** The word that nextboot(8) stores in the pool. */
const storeOf = ({ machine: { root } }: Process): Environments['nvstore'] =>
  root.kind === 'zfs' ? root.nvstore : notModelled();

function showStore(process: Process): number {
  process.out('nvlist version: 0\n');
  for (const [name, value] of storeOf(process)) process.out(`\t${name} = ${value}\n`);
  return storeOf(process).size === 0 ? 2 : 0;
}

function cancelInStore(process: Process): number {
  storeOf(process).set('nextboot_enable', 'NO');
  process.out('zfs bootenv is successfully written\n');
  return 0;
}

/** Returns at once; the connection breaks a little later. */
function shutdown({ machine, deps, out, err }: Process): number {
  // wall(1) also reaches this terminal.
  out('Shutdown NOW!\nShutdown NOW!\n\r\nSystem shutdown time has arrived\u0007\u0007\r\n');
  err('shutdown: [pid 2342]\n');
  reboot(machine, deps);
  return 0;
}
