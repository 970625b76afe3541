// Finds one's own changes in real repositories.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { ownChanges } from '../../../src/forge/patch/own-changes.ts';
import { commit, git, newRepository } from '../../fakes/repository.ts';

let repository: string;
let base: string;

beforeEach(() => {
  repository = newRepository();
  base = commit(repository, { 'pf.conf': 'pass\n' });
  git(repository, 'switch', '--quiet', '--create', 'topic');
});

const write = (path: string, text: string) => writeFileSync(join(repository, path), text);

test('Commits of a branch are one patch since the main branch', async () => {
  const head = commit(repository, { 'pf.conf': 'block\n' });
  expect(await ownChanges(repository)).toEqual({
    since: 'main',
    baseCommit: base,
    headCommit: head,
    uncommitted: [],
    untracked: [],
  });
});

test('The main branch of the remote is preferred to the own one, which may have the changes', async () => {
  git(repository, 'update-ref', 'refs/remotes/origin/main', base);
  git(repository, 'switch', '--quiet', 'main');
  const head = commit(repository, { 'pf.conf': 'block\n' });
  expect(await ownChanges(repository)).toMatchObject({
    since: 'origin/main',
    baseCommit: base,
    headCommit: head,
  });
});

test('Files that are not committed are in the patch, and neither index nor branch changes', async () => {
  write('pf.conf', 'block\n');
  write('new.conf', 'pass\n');
  const before = git(repository, 'status', '--porcelain');
  const found = await ownChanges(repository);
  expect(found).toMatchObject({ uncommitted: ['pf.conf'], untracked: ['new.conf'] });
  expect(git(repository, 'diff', '--name-only', base, found.headCommit)).toBe('pf.conf');
  expect(git(repository, 'show', `${found.headCommit}:pf.conf`)).toBe('block');
  expect(git(repository, 'status', '--porcelain')).toBe(before);
  expect(git(repository, 'rev-parse', 'HEAD')).toBe(base);
  expect(await ownChanges(repository)).toEqual(found);
});

test('A folder of the repository finds the changes of all others', async () => {
  commit(repository, { 'etc/sysctl.conf': 'a=1\n' });
  write('pf.conf', 'block\n');
  const found = await ownChanges(join(repository, 'etc'));
  expect(found.uncommitted).toEqual(['pf.conf']);
  expect(git(repository, 'show', `${found.headCommit}:pf.conf`)).toBe('block');
});

test('A checkout without changes is refused, and names what git does not track', async () => {
  await expect(ownChanges(repository)).rejects.toThrow(
    'there are no changes since main: commit some, or name a patch, like HEAD~1..HEAD.',
  );
  write('new.conf', 'pass\n');
  await expect(ownChanges(repository)).rejects.toThrow('git does not track new.conf');
});

test('A repository without a main branch is refused', async () => {
  git(repository, 'branch', '--quiet', '--delete', '--force', 'main');
  await expect(ownChanges(repository)).rejects.toThrow('name the patch as BASE..HEAD');
});

test('A repository without commits is refused', async () => {
  await expect(ownChanges(newRepository())).rejects.toThrow('has no commits: commit the base, then your change.');
});
