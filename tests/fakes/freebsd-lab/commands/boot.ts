// nextboot, shutdown and reboot.

import { type FileError, fileErrorText, nodeAt, remove, writeFile } from '../file-system.ts';
import { hasOption, type Option, optionValue } from '../getopt.ts';
import { reboot as rebootMachine } from '../lifecycle.ts';
import { nextbootFile } from '../machine.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';
import { readOptions, showUsage } from './options.ts';

export const bootPrograms: Readonly<Record<string, Program>> = {
  nextboot,
  reboot,
  shutdown,
  zfsbootcfg,
};

const nextbootUsage = {
  program: 'nextboot',
  spec: 'aDe:fk:o:',
  usage: 'Usage: nextboot [-af] [-e variable=value] [-k kernel] [-o options]\n       nextboot -D',
  code: 1,
};

/** The shell script of FreeBSD up to 14.0, sbin/reboot/nextboot.sh, which prints its errors on stdout. */
function nextboot(process: Process): number {
  if (process.machine.nextboot !== 'script') return nextbootProgram(process);
  const given = readOptions(process, nextbootUsage);
  if (given.kind === 'refused') return given.code;
  const { options } = given;
  const { files } = process.machine;
  if (hasOption(options, 'D')) {
    remove(files, nextbootFile);
    return 0;
  }
  const kernel = optionValue(options, 'k');
  if (options.some(({ name }) => !'ekf'.includes(name))) {
    return notModelled(process, 'this option of nextboot');
  }
  if (kernel === undefined) {
    process.out(`${nextbootUsage.usage}\n`);
    return 1;
  }
  if (!hasOption(options, 'f') && nodeAt(files, `/boot/${kernel}`)?.kind !== 'folder') {
    process.out(`Error: /boot/${kernel} doesn't exist. Use -f to override.\n`);
    return 1;
  }
  return order(process, kernel, options);
}

/** The C program of FreeBSD from 14.1 on: sbin/reboot/reboot.c under the name nextboot. */
function nextbootProgram(process: Process): number {
  const usage = {
    ...nextbootUsage,
    usage: 'usage: nextboot [-aDf] [-e name=value] [-k kernel] [-o options]',
  };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  const { options, operands } = given;
  const { files } = process.machine;
  const kernel = optionValue(options, 'k');
  if (operands.length > 0) return showUsage(process, usage);
  if (hasOption(options, 'D') && options.length > 1) {
    return fail(process, 'nextboot: cannot delete existing nextboot config and do anything else');
  }
  if (hasOption(options, 'D')) {
    const isThere = nodeAt(files, nextbootFile) !== undefined;
    remove(files, nextbootFile);
    return isThere ? 0 : fail(process, `nextboot: unlink ${nextbootFile}: ${fileErrorText.ENOENT}`);
  }
  if (kernel === undefined || options.some(({ name }) => !'ekf'.includes(name))) {
    return notModelled(process, 'this use of nextboot');
  }
  const file = `/boot/${kernel}/kernel`;
  const node = nodeAt(files, file);
  if (!hasOption(options, 'f') && node === undefined) {
    return fail(process, `nextboot: stat ${file}: ${fileErrorText.ENOENT}`);
  }
  if (!hasOption(options, 'f') && node?.kind === 'folder') {
    return fail(process, `nextboot: ${file} is not a file`);
  }
  return order(process, kernel, options);
}

function order(process: Process, kernel: string, options: readonly Option[]): number {
  const variables = options.flatMap(({ name, value }) => (name === 'e' ? value : []));
  if (variables.some((text) => !/^[^=]+=[^=]/.test(text))) {
    return notModelled(process, 'this value of nextboot -e');
  }
  const lines = variables.map((text) => text.replace(/=(.*)$/, '="$1"\n')).join('');
  const { root, files } = process.machine;
  if (root.kind === 'zfs' && process.machine.nextboot === 'first-program') {
    // It passes the whole dataset to zfsbootcfg(8), which expects the pool.
    process.out('error: 22\n');
    return fail(process, 'nextboot: zfsbootcfg returned 256: No such file or directory');
  }
  if (root.kind === 'zfs') root.nvstore.set('nextboot_enable', 'YES');
  // The shell script does not check the type of any other file system.
  const isInFile = root.kind === 'ufs' || (root.kind === 'nfs' && process.machine.nextboot === 'script');
  const text = `${isInFile ? 'nextboot_enable="YES"\n' : ''}kernel="${kernel}"\n${lines}`;
  const error: FileError | undefined = writeFile(files, nextbootFile, text);
  return error === undefined ? 0 : fail(process, `nextboot: ${nextbootFile}: ${fileErrorText[error]}`);
}

/** Prints or sets the word that nextboot(8) stores. */
function zfsbootcfg(process: Process): number {
  const { args, machine, out } = process;
  const { root } = machine;
  const [z, pool, n, list, ...rest] = args;
  if (root.kind !== 'zfs' || z !== '-z' || n !== '-n' || list !== 'freebsd:nvstore') {
    return notModelled(process, 'this use of zfsbootcfg');
  }
  if (pool !== 'zroot') return fail(process, 'error: 22');
  if (rest.join(' ') === '-p') {
    out('nvlist version: 0\n');
    for (const [name, value] of root.nvstore) out(`\t${name} = ${value}\n`);
    return root.nvstore.size === 0 ? 2 : 0;
  }
  const [k, name = '', v, value = '', ...more] = rest;
  if (k !== '-k' || v !== '-v' || more.length > 0) return notModelled(process, 'this zfsbootcfg');
  root.nvstore.set(name, value);
  out('zfs bootenv is successfully written\n');
  return 0;
}

const shutdownUsage = {
  program: 'shutdown',
  spec: 'cdfhknopqr',
  usage: 'usage: shutdown [-] [-c | -f | -h | -p | -r | -k] [-o [-n]] [-q] time [warning-message ...]\n       poweroff',
  code: 1,
};

/** Returns at once; the connection breaks a little later. */
function shutdown(process: Process): number {
  const given = readOptions(process, shutdownUsage);
  if (given.kind === 'refused') return given.code;
  const [time] = given.operands;
  if (time === undefined) return showUsage(process, shutdownUsage);
  const isPlain = given.options.every(({ name }) => name === 'r') && hasOption(given.options, 'r');
  if (!isPlain || (time !== 'now' && time !== '+0')) return notModelled(process, 'this shutdown');
  // wall(1) also reaches this terminal.
  process.out('Shutdown NOW!\nShutdown NOW!\n\r\nSystem shutdown time has arrived\u0007\u0007\r\n');
  process.err('shutdown: [pid 2342]\n');
  rebootMachine(process.machine, process.deps);
  return 0;
}

/** Never returns, as it is killed with everything else. */
async function reboot(process: Process): Promise<number> {
  const usage = {
    program: 'reboot',
    spec: 'cDde:fk:lNno:pqr',
    usage: 'usage: reboot [-cDdflNnpqr] [-e name=value] [-k kernel] [-o options]',
    code: 1,
  };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  if (given.operands.length > 0) return showUsage(process, usage);
  if (given.options.length > 0) return notModelled(process, 'an option of reboot');
  rebootMachine(process.machine, process.deps);
  await process.sleep(3600);
  return 0;
}
