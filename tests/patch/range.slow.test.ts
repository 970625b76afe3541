import { expect, test } from 'vitest';
import { patchOfRange } from '../../src/patch/range.ts';
import { openRepository } from '../../src/patch/repository.ts';
import { commit, git, newRepository } from '../fakes/repository.ts';

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

test.for(['main', 'main..', '..my-branch', ''])(
  '"%s" is no range, and is told what one is',
  async (text) => {
    await expect(patchOfRange(openRepository(newRepository()), text)).rejects.toThrow(
      `"${text}" is no range of commits: write BASE..HEAD`,
    );
  },
);
