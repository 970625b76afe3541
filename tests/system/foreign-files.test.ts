// Paths in data of others, and folders that others have filled.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ForeignFileError, placeBelow, readForeignFile, readForeignText } from '../../src/system/foreign-files.ts';
import { temporaryFolder } from '../fakes/folder.ts';

/** A folder with `a/b.txt`, beside a secret. */
function data(): { folder: string; secret: string } {
  const top = temporaryFolder();
  const [folder, secret] = [join(top, 'data'), join(top, 'secret')];
  mkdirSync(join(folder, 'a'), { recursive: true });
  writeFileSync(join(folder, 'a/b.txt'), 'content');
  writeFileSync(secret, 'secret');
  return { folder, secret };
}

test('A file below the folder is read', async () => {
  const { folder } = data();
  expect(await readForeignText(folder, 'a/b.txt', 7)).toBe('content');
});

test.for(['c.txt', 'a/c.txt', 'c/b.txt'])('A missing file is undefined: %s', async (path) => {
  expect(await readForeignFile(data().folder, path, 7)).toBeUndefined();
});

test('A folder that the user names by a link is read', async () => {
  const { folder } = data();
  const link = join(temporaryFolder(), 'link');
  symlinkSync(folder, link);
  expect(await readForeignText(link, 'a/b.txt', 7)).toBe('content');
});

test.for([
  '../secret',
  'a/../../secret',
  'a/..',
  '..',
  '.',
  '',
  '/etc/passwd',
  'a//b.txt',
  './a/b.txt',
  'a/b.txt/',
  'a/b.txt\0',
  `${'a/'.repeat(3000)}b`,
])('A path that may lead out of the folder is not followed: %j', async (path) => {
  await expect(readForeignFile(data().folder, path, 1e6)).rejects.toThrow(ForeignFileError);
});

test('A path of any parts leads to a place below the folder, or is refused', async () => {
  const part = fc.constantFrom('..', '.', '', 'a', 'b.txt', '...', '~', '%2e%2e', '\\..');
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 6 }), async (parts) => {
      const place = await placeBelow('/data', parts.join('/')).catch((error: unknown) => error);
      if (place instanceof ForeignFileError) return;
      expect(resolve(String(place)).startsWith(`/data${sep}`)).toBe(true);
    }),
  );
});

test.for([
  ['link', 'a link in the place of a file'],
  ['folder/secret', 'a link in the place of a folder'],
  ['a', 'a folder'],
] as const)('%s is not read: it is %s', async ([path]) => {
  const { folder, secret } = data();
  symlinkSync(secret, join(folder, 'link'));
  symlinkSync(join(folder, '..'), join(folder, 'folder'));
  await expect(readForeignFile(folder, path, 1e6)).rejects.toThrow(/ is not opened: /);
});

test('A file with more bytes than it may have is not read', async () => {
  const { folder } = data();
  await expect(readForeignFile(folder, 'a/b.txt', 6)).rejects.toThrow('it has 7 bytes, more than the limit of 6');
});

test('No place is below a folder that a link leads to', async () => {
  const { folder, secret } = data();
  symlinkSync(join(folder, '..'), join(folder, 'out'));
  await expect(placeBelow(folder, 'out/new.txt')).rejects.toThrow(ForeignFileError);
  expect(existsSync(secret)).toBe(true);
});
