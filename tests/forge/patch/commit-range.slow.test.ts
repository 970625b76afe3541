import { describe, expect, test } from 'vitest';
import { patchOfRange, patchOfTypedRange } from '../../../src/forge/patch/commit-range.ts';
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

/** Creates a repository with the branches main, my-branch and v1. */
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
] as const)('"%s" is no range, and the error suggests one of the repository: %s', async ([text, like]) => {
  await expect(patchOfRange(openRepository(withBranches()), text)).rejects.toThrow(
    new RepositoryError(`"${text}" is not a range of commits: write BASE..HEAD, like ${like}.`),
  );
});

test.for([
  ['mian..my-branch', 'the base "mian" is not a commit, branch or tag of HERE; did you mean `main`?'],
  ['main..branch', 'the head "branch" is not a commit, branch or tag of HERE; did you mean `my-branch`?'],
  [
    'main..x',
    'the head "x" is not a commit, branch or tag of HERE: name an existing one, or check it out with its history (fetch-depth: 0).',
  ],
  [
    'main..a b',
    'the head "a b" is not the name of a commit: write an ID, a branch or a tag, like main, v1.2 or HEAD~2.',
  ],
] as const)('reports the unknown end of %s', async ([text, sentence]) => {
  const directory = withBranches();
  await expect(patchOfRange(openRepository(directory), text)).rejects.toThrow(
    new RepositoryError(sentence.replace('HERE', directory)),
  );
});

describe('a range that a person typed', () => {
  /** `main` continues after the fork of `my-branch`, which has three commits of its own; `old` is the fork point. */
  function withThree(): { directory: string; ids: string[] } {
    const directory = newRepository();
    const ids = [commit(directory, { a: '' })];
    git(directory, 'branch', 'old');
    git(directory, 'switch', '--quiet', '--create', 'my-branch');
    for (const text of ['one', 'two', 'three']) ids.push(commit(directory, { a: text }, {}, text));
    git(directory, 'switch', '--quiet', 'main');
    return { directory, ids };
  }

  test('is refused in reversed order', async () => {
    const { directory } = withThree();
    await expect(patchOfTypedRange(openRepository(directory), 'my-branch..old')).rejects.toThrow(
      new RepositoryError('my-branch..old is reversed, because old is older than my-branch: write old..my-branch.'),
    );
  });

  test('is refused where both ends are one commit', async () => {
    const { directory, ids } = withThree();
    const typed = patchOfTypedRange(openRepository(directory), 'main..HEAD');
    await expect(typed).rejects.toThrow(
      new RepositoryError(
        `main and HEAD are one commit, ${ids[0]?.slice(0, 12)}: write BASE..HEAD with a HEAD that has the patch.`,
      ),
    );
  });

  test('may be one commit where that is measured against itself', async () => {
    const { directory, ids } = withThree();
    const patch = await patchOfTypedRange(openRepository(directory), 'main..HEAD', true);
    expect(patch).toMatchObject({ baseCommit: ids[0], headCommit: ids[0] });
  });

  test('counts several commits in its title, as the last may not be the one at fault', async () => {
    const { directory } = withThree();
    commit(directory, { b: '' });
    const titleOf = async (text: string) => (await patchOfTypedRange(openRepository(directory), text)).title;
    expect(await titleOf('main..my-branch')).toBe('three (last of 3 commits)');
    expect(await titleOf('my-branch~1..my-branch')).toBe('three');
  });
});
