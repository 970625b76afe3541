// Programs for the files on a machine's disk.
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import {
  absolute,
  availableBytes,
  below,
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
import { fail, notModelled, type Process, type Program } from '../process.ts';
import { mountOf } from '../root.ts';
import { makeTar, readTar, type TarEntry } from '../tar.ts';
import { readOptions } from './options.ts';
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
  tar,
  'tee /dev/console': writeToConsole,
  test,
};

function df(process: Process): number {
  const { has, operands } = readOptions(process.args, 'kT');
  const { files, root } = process.machine;
  const blocks = (bytes: number) => String(Math.ceil(bytes / 1024)).padStart(9);
  const used = usedBytes(files);
  const capacity = `${Math.round((100 * used) / files.totalBytes)}%`;
  const withType = (type: string) => (has('T') ? ` ${type.padEnd(7)}` : '');
  process.out(`Filesystem ${withType('Type')} 1024-blocks     Used    Avail Capacity  Mounted on\n`);
  const sizes = `${blocks(files.totalBytes)} ${blocks(used)} ${blocks(availableBytes(files))}`;
  return each(operands, (path) => {
    if (nodeAt(files, path) === undefined) return said(process, 'df', path, 'ENOENT');
    const { device, place, type } = mountOf(root, path);
    process.out(`${device.padEnd(11)}${withType(type)}   ${sizes} ${capacity.padStart(8)}  ${place}\n`);
    return 0;
  });
}

function mkdir(process: Process): number {
  const { has, operands } = readOptions(process.args, 'p');
  return each(operands, (path) => said(process, 'mkdir', path, makeFolder(process.machine.files, path, has('p'))));
}

function rm(process: Process): number {
  const { has, operands } = readOptions(process.args, 'fr');
  const { files } = process.machine;
  return each(operands, (path) => {
    if (absolute(path) === '/') return fail(process, 'rm: "/" may not be removed');
    const node = nodeAt(files, path);
    if (node === undefined) return has('f') ? 0 : said(process, 'rm', path, 'ENOENT');
    if (node.kind === 'folder' && !has('r')) return fail(process, `rm: ${path}: is a directory`);
    if (isReadOnly(files, path)) return said(process, 'rm', path, 'EROFS');
    remove(files, path);
    return 0;
  });
}

function rmdir(process: Process): number {
  const { files, root } = process.machine;
  return each(process.args, (path) => {
    const node = nodeAt(files, path);
    if (node?.kind !== 'folder') return said(process, 'rmdir', path, node === undefined ? 'ENOENT' : 'ENOTDIR');
    if (mountOf(root, path).place === absolute(path)) return fail(process, `rmdir: ${path}: Device busy`);
    if (namesIn(files, path).length > 0) return said(process, 'rmdir', path, 'ENOTEMPTY');
    remove(files, path);
    return 0;
  });
}

function mv(process: Process): number {
  const [from = '', to = ''] = readOptions(process.args, 'f').operands;
  const { files } = process.machine;
  const target = targetOf(process, from, to);
  return said(process, 'mv', `rename ${from} to ${target}`, rename(files, from, target));
}

function cp(process: Process): number {
  const [from = '', to = ''] = process.args;
  const { files } = process.machine;
  const source = deviceAt(process.machine, from) ?? nodeAt(files, from);
  if (source?.kind !== 'file') return said(process, 'cp', from, source === undefined ? 'ENOENT' : 'EISDIR');
  const target = targetOf(process, from, to);
  return said(process, 'cp', target, writeFile(files, target, source.bytes, source.mode));
}

/** cp and mv write into a folder that exists. */
const targetOf = ({ machine: { files } }: Process, from: string, to: string): string =>
  nodeAt(files, to)?.kind === 'folder' ? posix.join(to, posix.basename(from)) : to;

/** /dev/console is only the first console, even if the kernel writes to others. */
async function writeToConsole({ machine, out, stdin }: Process): Promise<number> {
  const text = await stdin();
  const [first] = (machine.sysctls.get('kern.console')?.value ?? '').split(',');
  if (first?.startsWith('ttyu')) machine.console.print(text.toString());
  out(text);
  return 0;
}

function cat(process: Process): number {
  return eachFile(process, 'cat', process.args, (bytes) => process.out(bytes));
}

function ls(process: Process): number {
  const [path = ''] = readOptions(process.args, '1').operands;
  const { files } = process.machine;
  const node = nodeAt(files, path);
  if (node === undefined) return said(process, 'ls', path, 'ENOENT');
  const names = node.kind === 'file' ? [path] : namesIn(files, path);
  for (const name of names) if (!name.startsWith('.')) process.out(`${name}\n`);
  return 0;
}

function sha256(process: Process): number {
  const { operands } = readOptions(process.args, 'q');
  return eachFile(process, 'sha256', operands, (bytes) =>
    process.out(`${createHash('sha256').update(bytes).digest('hex')}\n`),
  );
}

function test({ args: [operator, path = ''], machine: { files } }: Process): number {
  const kind = nodeAt(files, path)?.kind;
  if (operator === '-e') return kind === undefined ? 1 : 0;
  return operator === '-d' ? Number(kind !== 'folder') : notModelled();
}

/** bsdtar(1): extracts an archive, or writes one of a folder to stdout. */
function tar(process: Process): number {
  const { has, value } = readOptions(process.args, 'cxpf:C:');
  const [file = '', folder = ''] = [value('f'), value('C')];
  const { files } = process.machine;
  if (has('c')) {
    const inside = below(files, folder).flatMap((path) => {
      const node = nodeAt(files, path);
      return node?.kind === 'file' ? [[path.slice(folder.length + 1), node.bytes] as const] : [];
    });
    process.out(makeTar(new Map(inside)));
    return 0;
  }
  const archive = nodeAt(files, file);
  if (archive?.kind !== 'file') return fail(process, `tar: Error opening archive: Failed to open '${file}'`);
  if (nodeAt(files, folder)?.kind !== 'folder') return fail(process, `tar: could not chdir to '${folder}'`);
  const entries = readTar(archive.bytes);
  if (entries === undefined) return fail(process, 'tar: Error opening archive: Unrecognized archive format');
  const codes = entries.map((entry) => extract(process, folder, entry));
  return codes.includes(1) ? fail(process, 'tar: Error exit delayed from previous errors.') : 0;
}

function extract(process: Process, folder: string, entry: TarEntry): number {
  const { files } = process.machine;
  const path = posix.join(folder, entry.path);
  if (entry.kind === 'folder') return makeFolder(files, path, true) === undefined ? 0 : 1;
  const error = makeFolder(files, posix.dirname(path), true) ?? writeFile(files, path, entry.bytes, entry.mode);
  return error === undefined ? 0 : fail(process, `${entry.path}: Write failed: ${fileErrorText[error]}`);
}

/** Exit code of a program that continues after a failure. */
const each = (operands: readonly string[], act: (operand: string) => number): number =>
  Math.max(0, ...operands.map(act));

const eachFile = (process: Process, program: string, paths: readonly string[], act: (bytes: Buffer) => void): number =>
  each(paths, (path) => {
    const node = nodeAt(process.machine.files, path);
    if (node?.kind !== 'file') return said(process, program, path, node === undefined ? 'ENOENT' : 'EISDIR');
    act(node.bytes);
    return 0;
  });

const said = (process: Process, program: string, path: string, error: FileError | undefined): number =>
  error === undefined ? 0 : fail(process, `${program}: ${path}: ${fileErrorText[error]}`);
