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

test('a range that is none, or has an unknown end, is refused with what to write', async () => {
  const directory = withBranches();
  const lines: string[] = [];
  for (const text of [
    ...['main', 'my-branch', 'main.my-branch', 'main...my-branch', 'main..', '..my-branch', 'mian.my-branch', ''],
    ...['mian..my-branch', 'main..branch', 'main..x', 'main..a b'],
  ]) {
    const error: unknown = await patchOfRange(openRepository(directory), text).catch((error: unknown) => error);
    expect(error, text).toBeInstanceOf(RepositoryError);
    lines.push(`${String(error).replace(directory, '/src')}\n`);
  }
  await expect(lines.join('')).toMatchFileSnapshot('golden/commit-range.txt');
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
    await expect(patchOfTypedRange(openRepository(directory), 'my-branch..old')).rejects.toThrow('old..my-branch');
  });

  test('is refused where both ends are one commit, unless that is measured against itself', async () => {
    const { directory, ids } = withThree();
    const repository = openRepository(directory);
    await expect(patchOfTypedRange(repository, 'main..HEAD')).rejects.toThrow(RepositoryError);
    const patch = await patchOfTypedRange(repository, 'main..HEAD', true);
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
