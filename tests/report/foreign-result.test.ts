// Work directories that others have filled: results name files, and folders may be links.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { explained, readAnyResult } from '../../src/report/read-result.ts';
import { writeResult } from '../../src/report/write-reports.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { aCell, aProfile, aResult, judged } from '../fakes/result.ts';

/** A result whose cell names a file as its profile. */
const profiledBy = (file: string) =>
  judged([{ ...aCell({ kind: 'no-regression' }), profiles: [{ ...aProfile('base'), file }] }]);

/** A work directory beside a file that does not belong to it. */
function work(): { directory: string; secret: string } {
  const top = temporaryFolder();
  const [directory, secret] = [join(top, 'work'), join(top, 'secret')];
  mkdirSync(directory);
  writeFileSync(secret, 'the;secret 5\n');
  return { directory, secret };
}

async function profilesOf(directory: string, file: string) {
  const said: string[] = [];
  const { profiles } = await explained(profiledBy(file), directory, (why) => void said.push(why));
  return { profiles, said };
}

test('A profile below the work directory is read', async () => {
  const { directory } = work();
  mkdirSync(join(directory, 'profiles'));
  writeFileSync(join(directory, 'profiles/base.folded'), 'a;b 5\n');
  const { profiles, said } = await profilesOf(directory, 'profiles/base.folded');
  expect([profiles.length, said]).toEqual([1, []]);
});

test.for(['../secret', 'linked', 'folder/secret'])(
  'A file outside of the work directory is no profile: %s',
  async (file) => {
    const { directory, secret } = work();
    symlinkSync(secret, join(directory, 'linked'));
    symlinkSync('..', join(directory, 'folder'));
    const { profiles, said } = await profilesOf(directory, file);
    expect(profiles).toEqual([]);
    expect(said).toEqual([expect.stringContaining('is not opened')]);
  },
);

test('A file by its absolute path is no profile', async () => {
  const { directory, secret } = work();
  expect((await profilesOf(directory, secret)).profiles).toEqual([]);
});

test('A link in the place of the result of a directory is not followed', async () => {
  const { directory } = work();
  const result = join(temporaryFolder(), 'result.json');
  writeFileSync(result, JSON.stringify(aResult()));
  symlinkSync(result, join(directory, 'result.json'));
  await expect(readAnyResult(directory)).rejects.toThrow('is not opened');
});

test('A result that the user names is read, also by a link', async () => {
  const { directory } = work();
  writeFileSync(join(directory, 'result.json'), JSON.stringify(aResult()));
  const link = join(temporaryFolder(), 'latest');
  symlinkSync(join(directory, 'result.json'), link);
  expect((await readAnyResult(link)).result).toEqual(aResult());
});

test('A report is not written through a link in the place of its folder', async () => {
  const { directory } = work();
  const elsewhere = temporaryFolder();
  symlinkSync(elsewhere, join(directory, 'report'));
  await expect(writeResult(directory, aResult())).rejects.toThrow('is not opened');
  expect(existsSync(join(elsewhere, 'index.html'))).toBe(false);
});

test('A report is not written through a link in the place of a draft', async () => {
  const { directory, secret } = work();
  symlinkSync(secret, join(directory, 'result.json.part'));
  await writeResult(directory, aResult());
  expect(readFileSync(secret, 'utf8')).toBe('the;secret 5\n');
});
