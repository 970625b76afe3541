import { expect, test } from 'vitest';
import { patchOfRange } from '../../../src/forge/patch/commit-range.ts';
import { openRepository, RepositoryError } from '../../../src/forge/patch/repository.ts';
import { commit, git, newRepository } from '../../fakes/repository.ts';

test('a range is called after its last commit', async () => {
  const directory = newRepository();
  const baseCommit = commit(directory, { 'dut/nftables.conf': '' }, {}, 'Route');
  git(directory, 'switch', '--quiet', '--create', 'my-branch');
  const headCommit = commit(directory, { 'dut/nftables.conf': '#' }, {}, 'Drop protocol 254');

  expect(await patchOfRange(openRepository(directory), 'main..my-branch')).toEqual({
    kind: 'range',
    title: 'Drop protocol 254',
    author: 'Alice',
    baseCommit,
    headCommit,
  });
});

/** With the branches main, my-branch and v1. */
function withBranches(): string {
  const directory = newRepository();
  commit(directory, { 'dut/nftables.conf': '' });
  for (const branch of ['my-branch', 'v1']) git(directory, 'branch', branch);
  return directory;
}

test.for([
  ['main', 'main..HEAD'],
  ['my-branch', 'main..my-branch'],
  ['main.my-branch', 'main..my-branch'],
  ['main...my-branch', 'main..my-branch'],
  ['main..', 'main..HEAD'],
  ['..my-branch', 'main..HEAD'],
  ['mian.my-branch', 'main..HEAD'],
  ['', 'main..HEAD'],
] as const)('"%s" is no range, and is told one of the repository: %s', async ([text, like]) => {
  await expect(patchOfRange(openRepository(withBranches()), text)).rejects.toThrow(
    new RepositoryError(`"${text}" is no range of commits: write BASE..HEAD, like ${like}.`),
  );
});

test.for([
  ['mian..my-branch', 'the base "mian" is no commit, branch or tag of HERE; did you mean `main`?'],
  [
    'main..branch',
    'the head "branch" is no commit, branch or tag of HERE; did you mean `my-branch`?',
  ],
  [
    'main..x',
    'the head "x" is no commit, branch or tag of HERE: name one that is there, or check it out with its history (fetch-depth: 0).',
  ],
  [
    'main..a b',
    'the head "a b" is no name of a commit: write its id, a branch or a tag, like main, v1.2 or HEAD~2.',
  ],
] as const)('reports the unknown end of %s', async ([text, sentence]) => {
  const directory = withBranches();
  await expect(patchOfRange(openRepository(directory), text)).rejects.toThrow(
    new RepositoryError(sentence.replace('HERE', directory)),
  );
});
