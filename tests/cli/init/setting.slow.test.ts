// Settings that `ppsgate init` reads from git: of the repository, and of the running ppsgate.
import { expect, test } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { ownAction, readClone } from '../../../src/cli/init/setting.ts';
import { commit, git, newRepository } from '../../fakes/repository.ts';

function clonedFrom(url: string): string {
  const directory = newRepository();
  git(directory, 'remote', 'add', 'origin', url);
  return directory;
}

test.for([
  ['https://github.com/example/router.git', 'example/router'],
  ['https://alice@github.com/example/router', 'example/router'],
  ['git@github.com:example/router.git', 'example/router'],
  ['ssh://git@github.com/example/router.js/', 'example/router.js'],
  ['https://notgithub.com/example/router', undefined],
  ['https://gitlab.example/example/router.git', undefined],
] as const)('of the remote %s the repository is %s', async ([url, repository]) => {
  expect((await readClone(clonedFrom(url))).repository).toBe(repository);
});

test('without a remote the default branch is the one that is checked out', async () => {
  const directory = newRepository();
  git(directory, 'switch', '--quiet', '--create', 'trunk');
  expect(await readClone(directory)).toEqual({ directory, branch: 'trunk' });
});

const { version } = packageJson;

test('the running ppsgate is pinned if it is a clone, with the version of its tag, but not in another repository', async () => {
  const clone = clonedFrom('https://github.com/example/ppsgate.git');
  const head = commit(clone, { 'action.yml': 'name: ppsgate\n' });
  expect(await ownAction(clone)).toBe(`example/ppsgate@${head}`);

  git(clone, 'tag', `v${version}`);
  expect(await ownAction(clone)).toBe(`example/ppsgate@${head} # v${version}`);
  const later = commit(clone, { 'action.yml': 'name: ppsgate, later\n' });
  git(clone, 'tag', 'v99.0.0');
  expect(await ownAction(clone)).toBe(`example/ppsgate@${later}`);

  const other = clonedFrom('https://github.com/example/router.git');
  commit(other, { 'a.c': 'int a;\n' });
  expect(await ownAction(other)).toBeUndefined();
});
