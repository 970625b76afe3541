// Turns errors of the operating system into sentences: a full disk, an unwritable place, a missing program.
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, resolve } from 'node:path';
import { packageOf } from '../model/packages.ts';

type SystemError = Error & { code: string; syscall: string; path?: string; dest?: string };

/** Returns a sentence on the failure, its place and the fix; for other errors, their message. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (isSystemError(error) && sentenceOfSystem(error)) || error.message;
}

/** Errors of Node and libuv, see errno(3). */
const isSystemError = (error: Error): error is SystemError =>
  'code' in error && typeof error.code === 'string' && 'syscall' in error && typeof error.syscall === 'string';

function sentenceOfSystem(error: SystemError): string | undefined {
  const { syscall, path, dest } = error;
  if (syscall.startsWith('spawn')) return sentenceOfSpawn(error);
  const named = dest ?? path;
  const place = named && resolve(named);
  const isUnmade = error.code === 'ENOENT' && syscall === 'mkdir';
  const code = isUnmade ? whyNotMade(place) : error.code;
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return `No space is left ${place === undefined ? fullPlace() : `for ${place}`} (${code}): free some space there, or name another folder with --directory, and run this again.`;
    case 'EROFS':
      return `${place ?? 'A file'} cannot be written (EROFS), because its file system is read-only: run this in another folder, or name one with --directory.`;
    case 'EACCES':
    case 'EPERM':
      if (place === undefined) return undefined;
      return `${place} may not be ${verbs.get(syscall) ?? 'used'} by this user (${code}): change the permissions there, or name another path.`;
    case 'ENOTDIR':
      if (place === undefined) return undefined;
      return `${place} has a file where a folder is needed (ENOTDIR): name another path.`;
    case 'EEXIST':
      if (syscall !== 'mkdir' || place === undefined) return undefined;
      return `${place} is a file where a folder is needed (EEXIST): remove it, or name another path.`;
    case 'EISDIR':
      return `${place ?? 'A path'} is a folder where a file is needed (EISDIR): name a file.`;
    case 'EMFILE':
    case 'ENFILE':
      return `Too many files are open (${code}): raise \`ulimit -n\`, and run this again.`;
    default:
      return undefined;
  }
}

/** With `recursive`, Node's mkdir reports a folder as missing if its parent is not writable. */
function whyNotMade(place = '/'): string {
  const parent = dirname(place);
  if (!existsSync(parent) && parent !== place) return whyNotMade(parent);
  try {
    accessSync(parent, constants.W_OK);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return String(error.code);
  }
  return 'ENOENT';
}

const verbs = new Map([
  ['mkdir', 'made'],
  ['open', 'opened'],
  ['scandir', 'listed'],
  ['rename', 'replaced'],
  ['unlink', 'removed'],
  ['rmdir', 'removed'],
]);

function sentenceOfSpawn({ code, path = 'A program' }: SystemError): string | undefined {
  if (code === 'ENOENT') {
    const found = packageOf(path);
    const how = found === undefined ? 'install it' : `install it, on Debian and Ubuntu from ${found}`;
    return `${path} cannot be started (ENOENT), because it is not installed here: ${how}.`;
  }
  if (code === 'EACCES') {
    return `${path} may not be started by this user (EACCES): check its permissions.`;
  }
  return undefined;
}

/** The error of a failed write does not name the file. */
function fullPlace(): string {
  const named = process.argv.slice(2).flatMap((word) => [word, dirname(word)]);
  const full = [process.cwd(), ...named, tmpdir(), homedir(), '/run', '/var/lib'].find(isFull);
  return full === undefined ? 'on a disk that this command writes to (`df -h` shows which)' : `on the disk of ${full}`;
}

function isFull(folder: string): boolean {
  try {
    // A full disk can still have a few blocks left.
    const { bavail, blocks } = statfsSync(folder);
    return blocks > 0 && bavail / blocks < 0.001;
  } catch {
    return false;
  }
}
