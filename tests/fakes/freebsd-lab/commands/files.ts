// df, mkdir, rm, mv, cp, cat, ls, sha256 and test on a machine's disk.
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import {
  absolute,
  availableBytes,
  type FileError,
  fileErrorText,
  isReadOnly,
  makeFolder,
  namesIn,
  nodeAt,
  remove,
  rename,
  usedBytes,
  writeFile,
} from '../file-system.ts';
import { hasOption } from '../getopt.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';
import { mountOf } from '../root.ts';

import { readOptions, showUsage, type Usage } from './options.ts';
import { deviceAt } from './symbols.ts';

export const filePrograms: Readonly<Record<string, Program>> = {
  cat,
  cp,
  df,
  ls,
  mkdir,
  mv,
  rm,
  rmdir,
  sha256,
  tee,
  test,
};

function df(process: Process): number {
  const usage: Usage = {
    program: 'df',
    spec: 'abcgHhiklmnPt:T,',
    usage: 'usage: df [-b | -g | -H | -h | -k | -m | -P] [-acilnT] [-t type] [-,]\n          [file | filesystem ...]',
    code: 64,
  };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  if (given.options.some(({ name }) => !'kT'.includes(name))) return notModelled(process, 'this option of df');
  const { files } = process.machine;
  const missing = given.operands.find((path) => nodeAt(files, path) === undefined);
  if (missing !== undefined) return fail(process, `df: ${missing}: ${fileErrorText.ENOENT}`);
  const blocks = (bytes: number) => String(Math.ceil(bytes / 1024)).padStart(9);
  const used = usedBytes(files);
  const capacity = `${Math.round((100 * used) / files.totalBytes)}%`;
  const withType = (type: string) => (hasOption(given.options, 'T') ? ` ${type.padEnd(7)}` : '');
  process.out(`Filesystem ${withType('Type')} 1024-blocks     Used    Avail Capacity  Mounted on\n`);
  const sizes = `${blocks(files.totalBytes)} ${blocks(used)} ${blocks(availableBytes(files))}`;
  const { root } = process.machine;
  for (const path of given.operands.length === 0 ? ['/'] : given.operands) {
    const { device, place, type } = mountOf(root, path);
    process.out(`${device.padEnd(11)}${withType(type)}   ${sizes} ${capacity.padStart(8)}  ${place}\n`);
  }
  return 0;
}

function mkdir(process: Process): number {
  const usage = {
    program: 'mkdir',
    spec: 'm:pv',
    usage: 'usage: mkdir [-pv] [-m mode] directory_name ...',
    code: 64,
  };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  if (given.operands.length === 0) return showUsage(process, usage);
  return each(given.operands, (path) =>
    said(process, 'mkdir', path, makeFolder(process.machine.files, path, hasOption(given.options, 'p'))),
  );
}

function rm(process: Process): number {
  const usage = {
    program: 'rm',
    spec: 'dfiIPRrvWx',
    usage: 'usage: rm [-f | -i] [-dIPRrvWx] file ...\n       unlink [--] file',
    code: 64,
  };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  const { options, operands } = given;
  const isForced = hasOption(options, 'f');
  if (operands.length === 0) return isForced ? 0 : showUsage(process, usage);
  const isRecursive = hasOption(options, 'r') || hasOption(options, 'R');
  const { files } = process.machine;
  return each(operands, (path) => {
    if (absolute(path) === '/') return fail(process, 'rm: "/" may not be removed');
    const node = nodeAt(files, path);
    if (node === undefined) return isForced ? 0 : said(process, 'rm', path, 'ENOENT');
    if (node.kind === 'folder' && !isRecursive) return fail(process, `rm: ${path}: is a directory`);
    if (isReadOnly(files, path)) return said(process, 'rm', path, 'EROFS');
    remove(files, path);
    return 0;
  });
}

function rmdir(process: Process): number {
  const usage = {
    program: 'rmdir',
    spec: 'pv',
    usage: 'usage: rmdir [-pv] directory ...',
    code: 1,
  };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  if (given.options.length > 0) return notModelled(process, 'an option of rmdir');
  if (given.operands.length === 0) return showUsage(process, usage);
  const { files, root } = process.machine;
  return each(given.operands, (path) => {
    const node = nodeAt(files, path);
    if (node === undefined) return said(process, 'rmdir', path, 'ENOENT');
    if (node.kind === 'file') return said(process, 'rmdir', path, 'ENOTDIR');
    if (isReadOnly(files, path)) return said(process, 'rmdir', path, 'EROFS');
    if (mountOf(root, path).place === absolute(path)) {
      return fail(process, `rmdir: ${path}: Device busy`);
    }
    if (namesIn(files, path).length > 0) return said(process, 'rmdir', path, 'ENOTEMPTY');
    remove(files, path);
    return 0;
  });
}

function mv(process: Process): number {
  const usage = {
    program: 'mv',
    spec: 'fhinv',
    usage: 'usage: mv [-f | -i | -n] [-hv] source target\n       mv [-f | -i | -n] [-v] source ... directory',
    code: 64,
  };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  const [from, to, ...more] = given.operands;
  if (from === undefined || to === undefined) return showUsage(process, usage);
  if (more.length > 0) return notModelled(process, 'mv of several files');
  const { files } = process.machine;
  // Into an existing folder, like cp and mv.
  const isInto = nodeAt(files, to)?.kind === 'folder';
  const target = isInto ? posix.join(to, posix.basename(from)) : to;
  const error = rename(files, from, target);
  if (error === undefined) return 0;
  const place = error === 'ENOENT' ? from : `rename ${from} to ${target}`;
  return fail(process, `mv: ${place}: ${fileErrorText[error]}`);
}

function cp(process: Process): number {
  const usage = {
    program: 'cp',
    spec: 'HLPRafilNnprsvx',
    usage: 'usage: cp [-R [-H | -L | -P]] [-f | -i | -n] [-alNpsvx] source_file target_file',
    code: 64,
  };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  const [from, to, ...more] = given.operands;
  if (from === undefined || to === undefined) return showUsage(process, usage);
  if (more.length > 0) return notModelled(process, 'cp of several files');
  const { files } = process.machine;
  const source = deviceAt(process.machine, from) ?? nodeAt(files, from);
  if (source === undefined) return said(process, 'cp', from, 'ENOENT');
  if (source.kind === 'folder') {
    if (!hasOption(given.options, 'R')) return fail(process, `cp: ${from} is a directory (not copied).`);
    return notModelled(process, 'cp -R of a folder');
  }
  const isInto = nodeAt(files, to)?.kind === 'folder';
  const target = isInto ? posix.join(to, posix.basename(from)) : to;
  return said(process, 'cp', target, writeFile(files, target, source.bytes, source.mode));
}

/** /dev/console is only the first console, even if the kernel writes to others. */
async function tee(process: Process): Promise<number> {
  const usage = { program: 'tee', spec: 'ai', usage: 'usage: tee [-ai] [file ...]', code: 1 };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  const [path, ...others] = given.operands;
  if (given.options.length + others.length > 0 || path !== '/dev/console') {
    return notModelled(process, 'tee to anything but /dev/console');
  }
  const text = await process.stdin();
  const { machine, out } = process;
  const [first] = (machine.sysctls.get('kern.console')?.value ?? '').split(',');
  if (first?.startsWith('ttyu')) machine.console.print(text.toString());
  out(text);
  return 0;
}

function cat(process: Process): number | Promise<number> {
  const usage = {
    program: 'cat',
    spec: 'belnstuv',
    usage: 'usage: cat [-belnstuv] [file ...]',
    code: 1,
  };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  if (given.options.length > 0) return notModelled(process, 'an option of cat');
  if (given.operands.length === 0) return copyInput(process);
  return each(given.operands, (path) => {
    const node = nodeAt(process.machine.files, path);
    if (node === undefined) return said(process, 'cat', path, 'ENOENT');
    if (node.kind === 'folder') return said(process, 'cat', path, 'EISDIR');
    process.out(node.bytes);
    return 0;
  });
}

async function copyInput({ stdin, out }: Process): Promise<number> {
  out(await stdin());
  return 0;
}

function ls(process: Process): number {
  const usage = {
    program: 'ls',
    spec: '1ABCD:FGHILPRSTUWXZabcdfghiklmnopqrstuvwxy,',
    usage: 'usage: ls [-ABCFGHILPRSTUWXZabcdfghiklmnopqrstuvwxy1,] [--color=when] [-D format] [file ...]',
    code: 1,
  };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  if (given.options.some(({ name }) => name !== '1')) return notModelled(process, 'this option of ls');
  const [path = '.', ...more] = given.operands;
  if (more.length > 0) return notModelled(process, 'ls of several folders');
  const node = nodeAt(process.machine.files, path);
  if (node === undefined) return said(process, 'ls', path, 'ENOENT');
  const names = node.kind === 'file' ? [path] : namesIn(process.machine.files, path);
  for (const name of names) if (!name.startsWith('.')) process.out(`${name}\n`);
  return 0;
}

function sha256(process: Process): number {
  const usage = {
    program: 'sha256',
    spec: 'bc:pqrs:tx',
    usage: 'usage: sha256 [-pqrtx] [-c string] [-s string] [file ...]',
    code: 1,
  };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  if (given.options.some(({ name }) => name !== 'q') || given.operands.length === 0) {
    return notModelled(process, 'sha256 without a file, or with more than -q');
  }
  return each(given.operands, (path) => {
    const node = nodeAt(process.machine.files, path);
    if (node === undefined) return said(process, 'sha256', path, 'ENOENT');
    if (node.kind === 'folder') return said(process, 'sha256', path, 'EISDIR');
    const sum = createHash('sha256').update(node.bytes).digest('hex');
    process.out(hasOption(given.options, 'q') ? `${sum}\n` : `SHA256 (${path}) = ${sum}\n`);
    return 0;
  });
}

function test(process: Process): number {
  const [operator, path, ...more] = process.args;
  if (path === undefined || more.length > 0) return notModelled(process, 'this form of test');
  const node = nodeAt(process.machine.files, path);
  switch (operator) {
    case '-e':
      return node !== undefined ? 0 : 1;
    case '-d':
      return node?.kind === 'folder' ? 0 : 1;
    case '-f':
      return node?.kind === 'file' ? 0 : 1;
    default:
      return notModelled(process, `test ${operator}`);
  }
}

/** Exit code of a program that continues after a failure. */
const each = (operands: readonly string[], act: (operand: string) => number): number =>
  Math.max(0, ...operands.map(act));

const said = (process: Process, program: string, path: string, error: FileError | undefined): number =>
  error === undefined ? 0 : fail(process, `${program}: ${path}: ${fileErrorText[error]}`);
