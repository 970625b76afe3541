// tar: unpacks archives onto a machine's disk, and packs its folders.
import { posix } from 'node:path';
import { fileErrorText, makeFolder, namesIn, nodeAt, writeFile } from '../file-system.ts';
import { hasOption, optionValue } from '../getopt.ts';
import { fail, notModelled, type Process, type Program } from '../process.ts';
import { makeTar, readTar, type TarEntry } from '../tar.ts';
import { readOptions } from './options.ts';

export const archivePrograms: Readonly<Record<string, Program>> = { tar };

/** bsdtar(1), with its modes -x, and -c of all files of a folder to standard output. */
function tar(process: Process): number {
  const usage = {
    program: 'tar',
    spec: 'Bb:C:cf:HhI:JjkLlmnOoPpqrSs:T:tUuvW:wX:xyZz',
    usage:
      'Usage:\n  List:    tar -tf <archive-filename>\n  Extract: tar -xf <archive-filename>\n  Create:  tar -cf <archive-filename> [filenames...]\n  Help:    tar --help',
    code: 1,
  };
  const given = readOptions(process, usage);
  if (given.kind === 'refused') return given.code;
  const { options, operands } = given;
  const file = optionValue(options, 'f');
  const folder = optionValue(options, 'C') ?? '/root';
  const packs = options.map(({ name }) => name).join('') === 'cfC' && file === '-';
  if (packs && operands.length === 1 && operands[0] === '.') return pack(process, folder);
  const isPlain = options.every(({ name }) => 'xpfC'.includes(name)) && operands.length === 0;
  if (!isPlain || !hasOption(options, 'x') || file === undefined) {
    return notModelled(process, 'this use of tar');
  }
  const { files } = process.machine;
  const archive = nodeAt(files, file);
  if (archive?.kind !== 'file') {
    return fail(process, `tar: Error opening archive: Failed to open '${file}'`);
  }
  if (nodeAt(files, folder)?.kind !== 'folder') {
    return fail(process, `tar: could not chdir to '${folder}'`);
  }
  const outcome = readTar(archive.bytes);
  if (outcome.kind === 'unreadable') {
    return fail(process, `tar: Error opening archive: ${outcome.reason}`);
  }
  const failures = outcome.entries.map((entry) => extract(process, folder, entry));
  if (!failures.includes(1)) return 0;
  return fail(process, 'tar: Error exit delayed from previous errors.');
}

/** Skips folders within it; a kernel's has none. */
function pack({ machine: { files }, out }: Process, folder: string): number {
  const packed = namesIn(files, folder).flatMap((name) => {
    const node = nodeAt(files, posix.join(folder, name));
    return node?.kind === 'file' ? [[name, node.bytes] as const] : [];
  });
  out(makeTar(new Map(packed)));
  return 0;
}

function extract(process: Process, folder: string, entry: TarEntry): number {
  const { files } = process.machine;
  const path = posix.join(folder, entry.path);
  if (entry.kind === 'folder') return makeFolder(files, path, true) === undefined ? 0 : 1;
  const parent = makeFolder(files, posix.dirname(path), true);
  const error = parent ?? writeFile(files, path, entry.bytes, entry.mode);
  if (error === undefined) return 0;
  return fail(process, `${entry.path}: Write failed: ${fileErrorText[error]}`);
}
