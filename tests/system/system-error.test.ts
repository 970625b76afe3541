// Errors of the operating system, as the calls that meet them throw them.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sentenceOf } from '../../src/system/system-error.ts';
import { temporaryFolder } from '../fakes/folder.ts';

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

const failure = (code: string, syscall: string, path?: string): Error =>
  Object.assign(new Error(`${code}: raw, ${syscall}`), { code, syscall, ...(path && { path }) });

test.for([
  [
    failure('ENOSPC', 'open', '/gates/result.json'),
    'No space is left for /gates/result.json (ENOSPC): free some space there, or name another folder with --directory, and run this again.',
  ],
  [
    failure('EROFS', 'mkdir', 'ppsgate-gate-20261120-231655'),
    `${process.cwd()}/ppsgate-gate-20261120-231655 cannot be written (EROFS), because its file system is read-only: run this in another folder, or name one with --directory.`,
  ],
  [
    failure('EACCES', 'mkdir', '/srv/work'),
    '/srv/work may not be made by this user (EACCES): change the permissions there, or name another path.',
  ],
  [
    failure('EACCES', 'open', '/srv/ppsgate.yml'),
    '/srv/ppsgate.yml may not be opened by this user (EACCES): change the permissions there, or name another path.',
  ],
  [
    failure('ENOENT', 'spawn unshare', 'unshare'),
    'unshare cannot be started (ENOENT), because it is not installed here: install it, on Debian and Ubuntu from util-linux.',
  ],
] as const)('%j has a sentence with its place and what to do', ([error, sentence]) => {
  expect(sentenceOf(error)).toBe(sentence);
});

test('A write to a full disk names no file, and still has a sentence', () => {
  expect(sentenceOf(failure('ENOSPC', 'write'))).toMatch(/^No space is left on .* \(ENOSPC\): free some space there, /);
});

test('A folder below a file is refused with its path', async () => {
  const file = join(temporaryFolder(), 'file');
  await writeFile(file, '');
  expect(sentenceOf(await errorOf(mkdir(join(file, 'work'), { recursive: true })))).toBe(
    `${join(file, 'work')} has a file where a folder is needed (ENOTDIR): name another path.`,
  );
});

test('Other errors keep their own words', async () => {
  expect(sentenceOf(new Error('The store is away.'))).toBe('The store is away.');
  const missing = await errorOf(readFile(join(temporaryFolder(), 'missing')));
  expect(sentenceOf(missing)).toMatch(/^ENOENT: no such file/);
});
