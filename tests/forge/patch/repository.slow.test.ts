import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import type { CommittedDiff } from '../../../src/forge/patch/commit-diff.ts';
import {
  NoCommitError,
  NoRepositoryError,
  openRepository,
  RepositoryError,
} from '../../../src/forge/patch/repository.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { commit, git, newRepository, plantHistory } from '../../fakes/repository.ts';
import { times } from '../../random.ts';

test('a name is resolved to its full commit id', async () => {
  const directory = newRepository();
  const first = commit(directory, { 'dut/nftables.conf': '# one\n' });
  git(directory, 'tag', 'v1');
  const second = commit(directory, { 'dut/nftables.conf': '# two\n' });
  const repository = openRepository(directory);
  expect(await repository.resolve('v1')).toBe(first);
  expect(await repository.resolve('main')).toBe(second);
  expect(await repository.resolve(second.slice(0, 10))).toBe(second);
});

test.for([
  'HEAD',
  'HEAD^',
  'HEAD~1',
  'HEAD^{commit}',
  'v1^0',
  'v1~0^{}',
  'feature/c++',
  '+x',
  'main@{0}',
  '@',
  '@{0}',
  'refs/heads/main',
  'heads/main',
  'straße',
  'v1-0-gHEX',
])('what people call a commit is resolved: %s', async (text) => {
  const directory = newRepository();
  commit(directory, { file: '1' });
  const id = commit(directory, { file: '2' });
  git(directory, 'tag', '--annotate', '--message', 'v1', 'v1');
  for (const branch of ['feature/c++', '+x', 'straße']) git(directory, 'branch', branch);
  const name = text.replace('HEX', id.slice(0, 8));
  expect(await openRepository(directory).resolve(name)).toBe(git(directory, 'rev-parse', `${name}^{commit}`));
});

test('a commit knows when it was made, and the last release on its line of first parents', async () => {
  const directory = newRepository();
  const ids = plantHistory(directory, [{}, {}, {}, { parents: [0] }, { parents: [2, 3] }, {}]);
  const [first = '', second = '', , aside = '', , last = ''] = ids;
  git(directory, 'tag', '--annotate', '--message', 'v1', 'v1', second);
  git(directory, 'tag', 'v2-elsewhere', aside);
  const repository = openRepository(directory);
  expect(await repository.committedAt(last)).toBe('2020-09-13T12:26:45.000Z');
  expect(await repository.releaseBefore(last)).toEqual({
    name: 'v1',
    commit: second,
    at: '2020-09-13T12:26:41.000Z',
  });
  expect(await repository.releaseBefore(first)).toBeUndefined();
});

const history = 'check it out with its history (fetch-depth: 0).';

test.for([
  ['no-such-branch', `, branch or tag of HERE: name an existing one, or ${history}`],
  ['$(reboot)', `, branch or tag of HERE: name an existing one, or ${history}`],
  ['mian', ', branch or tag of HERE; did you mean `main`?'],
  ['feature', ', branch or tag of HERE; did you mean `origin/feature`?'],
  ['0'.repeat(40), ` of HERE, and could not be fetched: ${history}`],
] as const)('a name without a commit is an error that says what to do: %s', async ([name, sentence]) => {
  const directory = newRepository();
  const id = commit(directory, { 'dut/nftables.conf': '' });
  git(directory, 'update-ref', 'refs/remotes/origin/feature', id);
  const resolved = openRepository(directory).resolve(name);
  await expect(resolved).rejects.toThrow(RepositoryError);
  const said = `"${name}" is not a commit${sentence.replace('HERE', directory)}`;
  await expect(resolved).rejects.toThrow(new NoCommitError(said));
});

const refspecs = [
  '+refs/heads/evil:refs/remotes/origin/main',
  'refs/heads/evil:refs/heads/main',
  '+evil:main',
  'evil:',
  ':main',
  '^refs/heads/main',
  'refs/heads/*:refs/heads/*',
  'tag v2',
  'main:dut',
  ':/evil',
  'main^{/evil}',
  'main^{tree}',
  '@{u}:main',
  '--upload-pack=touch',
  '-h',
  'main\n+evil:main',
  'main\0',
  'a..b',
  '.main',
  'x/.git',
  'main.lock',
  'main/',
  '[x',
  'a\\b',
  '',
  'x'.repeat(251),
];

/** A clone that lacks the branch `evil` and the tag `v2` of its origin, with settings that would fetch them all. */
function cloneOfEvil() {
  const origin = newRepository();
  commit(origin, { file: 'one' });
  const clone = join(temporaryFolder(), 'clone');
  git(origin, 'clone', '--quiet', `file://${origin}`, clone);
  const later = commit(origin, { file: 'two' });
  git(origin, 'tag', 'v2');
  git(origin, 'switch', '--quiet', '--create', 'evil');
  const evil = commit(origin, { file: 'evil' });
  for (const [name, value] of [
    ['remote.origin.fetch', `+${evil}:refs/heads/by-id`],
    ['remote.origin.tagOpt', '--tags'],
    ['remote.origin.prune', 'true'],
    ['remote.origin.pruneTags', 'true'],
    ['fetch.recurseSubmodules', 'true'],
  ] as const) {
    git(clone, 'config', '--add', name, value);
  }
  git(clone, 'update-ref', 'refs/remotes/origin/gone', 'HEAD');
  const state = () => [
    git(clone, 'for-each-ref'),
    git(clone, 'rev-parse', 'HEAD'),
    readdirSync(join(clone, '.git')).toSorted().join(' '),
  ];
  return { clone, later, evil, state };
}

// Attack run/git-options
test.for(refspecs)('a text that is no name of a commit is refused before git sees it: %j', async (name) => {
  const { clone, state } = cloneOfEvil();
  const before = state();
  const resolved = openRepository(clone).resolve(name);
  await expect(resolved).rejects.toThrow(
    new NoCommitError(
      `"${name}" is not the name of a commit: write an ID, a branch or a tag, like main, v1.2 or HEAD~2.`,
    ),
  );
  expect(state()).toEqual(before);
});

// Attack run/refspec: A patch called `+refs/heads/evil:refs/remotes/origin/main` rewrites a branch. Defence: Only full
// ids are fetched, and the fetch writes no ref, tag or FETCH_HEAD.
test('writes no ref for any name, and passes none as an option to git', async () => {
  const { clone, later, state } = cloneOfEvil();
  const before = state();
  const word = fc.oneof(
    fc.constantFrom(
      ...['+', ':', '^', '~', '*', '@', '{', '}', '/', '..', '-', '--', '=', ' ', '\n', '?'],
      ...['refs/heads/', 'refs/remotes/origin/', 'refs/tags/', 'main', 'evil', 'v2', 'origin', 'HEAD'],
      ...['upload-pack', 'ext::', 'tag', later, later.slice(0, 9), '0'.repeat(40)],
    ),
    fc.string({ maxLength: 3 }),
  );
  const names = fc.array(word, { minLength: 1, maxLength: 7 }).map((words) => words.join(''));
  await fc.assert(
    fc.asyncProperty(names, async (name) => {
      const error = await openRepository(clone)
        .resolve(name)
        .then(
          () => undefined,
          (reason: unknown) => reason,
        );
      if (error !== undefined) expect(error).toBeInstanceOf(RepositoryError);
      expect(state()).toEqual(before);
    }),
    { numRuns: times(20) },
  );
});

// Attack run/refspec
test('fetches a commit without ref, tag or FETCH_HEAD, against any configuration', async () => {
  const { clone, evil, state } = cloneOfEvil();
  const before = state();
  expect(await openRepository(clone).resolve(evil)).toBe(evil);
  expect(state()).toEqual(before);
});

// Attack run/git-options
test.for(['main', '--output=x', 'HEAD:file', '0'.repeat(39)])(
  'where an id is required, another name is refused: %s',
  async (name) => {
    const directory = newRepository();
    const id = commit(directory, { file: '' });
    const repository = openRepository(directory);
    for (const task of [
      () => repository.list(name, '.'),
      () => repository.read(name),
      () => repository.read(`${name}:file`),
      () => repository.diff(id, name),
      () => repository.diff(name, id),
      () => repository.describe(name),
    ]) {
      await expect(async () => task()).rejects.toThrow(/is not a full object ID/);
    }
  },
);

// Attack run/pathspec: An overlay folder is called `:(top)etc`. Defence: Paths are literal.
test('a folder is its name, and no pattern of git', async () => {
  const directory = newRepository();
  const id = commit(directory, { 'dut/a': '', ':(top)dut/b': '', '*/c': '' });
  const { list } = openRepository(directory);
  const paths = async (folder: string) => (await list(id, folder)).map(({ path }) => path);
  expect(await paths(':(top)dut')).toEqual(['b']);
  expect(await paths('*')).toEqual(['c']);
  expect(await paths(':/')).toEqual([]);
});

test('a commit that a shallow clone lacks is fetched by its id', async () => {
  const origin = newRepository();
  const first = commit(origin, { file: 'one' });
  commit(origin, { file: 'two' });
  const clone = join(temporaryFolder(), 'clone');
  git(origin, 'clone', '--quiet', '--depth=1', `file://${origin}`, clone);
  expect(() => git(clone, 'cat-file', '-e', first)).toThrow();
  expect(await openRepository(clone).resolve(first)).toBe(first);
});

test('the merge base is where two branches parted', async () => {
  const directory = newRepository();
  const base = commit(directory, { file: 'one' });
  git(directory, 'switch', '--quiet', '--create', 'patch');
  const patch = commit(directory, { file: 'patched' });
  git(directory, 'switch', '--quiet', 'main');
  const main = commit(directory, { other: 'later' });
  expect(await openRepository(directory).mergeBase(main, patch)).toBe(base);
});

test('two histories without a common commit have no merge base', async () => {
  const directory = newRepository();
  commit(directory, { file: 'one' });
  git(directory, 'switch', '--quiet', '--orphan', 'other');
  commit(directory, { file: 'two' });
  await expect(openRepository(directory).mergeBase('main', 'other')).rejects.toThrow(
    `main and other have no common ancestor in ${directory}`,
  );
});

test('a folder’s files are listed by their paths in it, with mode and object, however they are named', async () => {
  const directory = newRepository();
  const names = ['a', 'b/c', 'tab\tin\tname', 'line\nbreak', '"quotes"', 'ümläut', '-dash'];
  const files = names.map((name) => [`dut/${name}`, name] as const);
  const id = commit(directory, { ...Object.fromEntries(files), 'dutiful/no': '', outside: '' });
  const repository = openRepository(directory);
  const entries = await repository.list(id, 'dut');
  expect(entries.map(({ path }) => path).toSorted()).toEqual(names.toSorted());
  for (const { path, mode, object } of entries) {
    expect(mode).toBe('100644');
    expect(await repository.read(object)).toBe(path);
  }
});

test('a folder may be named absolutely, relatively, or be the repository itself', async () => {
  const directory = newRepository();
  const id = commit(directory, { 'dut/a': '', b: '' });
  const repository = openRepository(directory);
  const paths = async (folder: string) => (await repository.list(id, folder)).map(({ path }) => path);
  expect(await paths('dut/')).toEqual(['a']);
  expect(await paths('./other/../dut')).toEqual(['a']);
  expect(await paths(join(directory, 'dut'))).toEqual(['a']);
  expect(await paths('.')).toEqual(['b', 'dut/a']);
});

describe('the folder of an overlay', () => {
  /** A repository with `sub`, shown as `/src` in texts. */
  async function pathOf(path: string, beside: string, at = '') {
    const directory = newRepository();
    commit(directory, { 'sub/file': '' });
    const placed = (text: string) => text.replace(/^\/src/, directory);
    const repository = openRepository(join(directory, at));
    return repository.pathOf({ path: placed(path), beside: placed(beside) }).catch((error) => {
      expect(error).toBeInstanceOf(RepositoryError);
      return error.message.replaceAll(directory, '/src');
    });
  }

  test.each([
    ['dut', '/src', 'dut'],
    ['dut', '/src/ci', 'ci/dut'],
    ['../dut', '/src/ci', 'dut'],
    ['.', '/src', ''],
    ['./dut/', '/src', 'dut'],
    ['/src/lab/dut', '/src/ci', 'lab/dut'],
  ])('is beside a ppsgate.yml of the repository: %s, in %s', async (path, beside, found) => {
    expect(await pathOf(path, beside)).toBe(found);
    expect(await pathOf(path, beside, 'sub')).toBe(found);
  });

  test.each([
    ['dut', '.', 'dut'],
    ['dut', 'ci', 'ci/dut'],
  ])('is beside one that was read from a commit: %s, in %s', async (path, beside, found) => {
    expect(await pathOf(path, beside)).toBe(found);
  });

  test.each([
    ['dut', '/usr/local/etc/ppsgate', 'dut'],
    ['lab/dut', '/', 'lab/dut'],
    ['.', '/usr/local/etc/ppsgate', ''],
    ['dut', '/src/..', 'dut'],
    ['dut', '/src-of-another', 'dut'],
    ['/src/dut', '/usr/local/etc/ppsgate', 'dut'],
  ])('is below the top for one that lies elsewhere: %s, in %s', async (path, beside, found) => {
    expect(await pathOf(path, beside)).toBe(found);
    expect(await pathOf(path, beside, 'sub')).toBe(found);
  });

  test.each([
    ['..', '/src'],
    ['../../dut', '/src/ci'],
    ['../dut', '/usr/local/etc/ppsgate'],
    ['dut/../../dut', '/usr/local/etc/ppsgate'],
    ['/etc', '/src'],
    ['/src-of-another/dut', '/src'],
  ])('is refused where that leads outside: %s, in %s', async (path, beside) => {
    expect(await pathOf(path, beside)).toMatch(
      /^The overlay \S+ of ppsgate\.yml is \/\S+, outside the repository \/src: name a folder in it\.$/,
    );
  });

  test('may be one that is called as if it led outside', async () => {
    expect(await pathOf('..dut', '/src')).toBe('..dut');
  });

  test('is found in a bare repository', async () => {
    const directory = newRepository();
    const id = commit(directory, { 'dut/a': '' });
    const bare = join(temporaryFolder(), 'src.git');
    git(directory, 'clone', '--quiet', '--bare', `file://${directory}`, bare);
    const repository = openRepository(bare);
    const folder = await repository.pathOf({ path: 'dut', beside: '/usr/local/etc/ppsgate' });
    expect(await repository.list(id, folder)).toMatchObject([{ path: 'a' }]);
  });

  test('is listed from a folder of the repository, too', async () => {
    const directory = newRepository();
    const id = commit(directory, { 'dut/a': '', 'sub/dut/b': '' });
    const repository = openRepository(join(directory, 'sub'));
    const folder = await repository.pathOf({ path: 'dut', beside: directory });
    expect(await repository.list(id, folder)).toMatchObject([{ path: 'a' }]);
  });
});

test('a link is listed as what it is, and read as where it points', async () => {
  const directory = newRepository();
  const id = commit(directory, {}, { 'dut/nftables.conf': '/etc/shadow' });
  const repository = openRepository(directory);
  const [entry] = await repository.list(id, 'dut');
  expect(entry).toMatchObject({ path: 'nftables.conf', mode: '120000' });
  expect(await repository.read(entry?.object ?? '')).toBe('/etc/shadow');
});

test('reads the commit, and ignores the working tree', async () => {
  const directory = newRepository();
  const id = commit(directory, { 'dut/a': 'committed' });
  writeFileSync(join(directory, 'dut/a'), 'changed since');
  mkdirSync(join(directory, 'dut/new'));
  writeFileSync(join(directory, 'dut/new/b'), '');
  const repository = openRepository(directory);
  const [entry, ...others] = await repository.list(id, 'dut');
  expect(others).toEqual([]);
  expect(await repository.read(entry?.object ?? '')).toBe('committed');
});

test('a folder that does not exist holds nothing', async () => {
  const directory = newRepository();
  const id = commit(directory, { file: '' });
  expect(await openRepository(directory).list(id, 'dut')).toEqual([]);
});

test('a folder outside of the repository is an error', async () => {
  const directory = newRepository();
  const id = commit(directory, { file: '' });
  const listed = openRepository(directory).list(id, '../elsewhere');
  await expect(listed).rejects.toThrow(
    `git cannot list ../elsewhere at ${id} in ${directory}: name a folder of the repository.`,
  );
});

test('a file of more than 4 MiB is an error, not a long wait', async () => {
  const directory = newRepository();
  const id = commit(directory, { 'dut/large': 'x'.repeat(4 * 1024 * 1024 + 1) });
  const repository = openRepository(directory);
  const [entry] = await repository.list(id, 'dut');
  await expect(repository.read(entry?.object ?? '')).rejects.toThrow('at most 4 MiB');
});

test('a commit is described by its subject and its author, and has all that was written with it', async () => {
  const directory = newRepository();
  const id = commit(directory, { file: '' }, {}, 'Subject line\n\nAnd a body.\n');
  expect((await openRepository(directory).message(id)).trim()).toBe('Subject line\n\nAnd a body.');
  expect(await openRepository(directory).describe(id)).toEqual({
    subject: 'Subject line',
    author: 'Alice',
  });
});

test('a directory that is no repository is refused with that reason', async () => {
  const directory = temporaryFolder();
  await expect(openRepository(directory).resolve('main')).rejects.toThrow(
    new NoRepositoryError(`${directory} is not a git repository: name the repository with the commits.`),
  );
});

describe('the commit of a branch at a time', () => {
  const dated = (directory: string, name: string, seconds: number) =>
    commitAtTime(directory, { [name]: `${seconds}` }, seconds);

  test('is the last that was there by then, to the second', async () => {
    const directory = newRepository();
    const first = dated(directory, 'a', 1_700_000_000);
    const second = dated(directory, 'a', 1_700_000_100);
    const { commitAt } = openRepository(directory);
    expect(await commitAt('main', new Date(1_700_000_099_999))).toBe(first);
    expect(await commitAt('main', new Date(1_700_000_100_000))).toBe(second);
    expect(await commitAt('main', new Date(1_800_000_000_000))).toBe(second);
  });

  test('is one of the branch itself, not one that was merged into it later', async () => {
    const directory = newRepository();
    const first = dated(directory, 'a', 1_700_000_000);
    git(directory, 'switch', '--quiet', '--create', 'topic');
    dated(directory, 'b', 1_700_000_100);
    git(directory, 'switch', '--quiet', 'main');
    dated(directory, 'c', 1_700_000_200);
    git(directory, 'merge', '--quiet', '--no-edit', 'topic');
    expect(await openRepository(directory).commitAt('main', new Date(1_700_000_150_000))).toBe(first);
  });

  test('is that of the server, even with a local branch of the same name', async () => {
    const origin = newRepository();
    dated(origin, 'a', 1_700_000_000);
    const clone = join(temporaryFolder(), 'clone');
    git(origin, 'clone', '--quiet', `file://${origin}`, clone);
    const theirs = git(clone, 'rev-parse', 'origin/main');
    const ours = dated(clone, 'a', 1_700_000_100);
    const { commitAt } = openRepository(clone);
    expect(ours).not.toBe(theirs);
    expect(await commitAt('main', new Date(1_700_000_200_000))).toBe(theirs);
    git(clone, 'branch', 'here', ours);
    expect(await commitAt('here', new Date(1_700_000_200_000))).toBe(ours);
  });

  test('is none before the first', async () => {
    const directory = newRepository();
    dated(directory, 'a', 1_700_000_000);
    await expect(openRepository(directory).commitAt('main', new Date(1_699_999_999_000))).rejects.toThrow(
      new RepositoryError(
        `main has no commit in ${directory} before 2023-11-14T22:13:19.000Z: check it out with its history (fetch-depth: 0).`,
      ),
    );
  });
});

describe('the commit of a revision of Subversion', () => {
  const now = new Date(1_800_000_000_000);

  const svnCommit = (directory: string, message: string, seconds: number) =>
    commitAtTime(directory, { file: `${seconds}` }, seconds, message);

  const gitSvn = (path: string, revision: number) =>
    `Fix it\n\ngit-svn-id: svn+ssh://svn.freebsd.org/base/${path}@${revision} ccf9f872-aa2e-dd11`;

  /** r5 and r8 of head, r7 of stable/11, which parted at r5, and a commit that was made after the conversion. */
  function converted() {
    const directory = newRepository();
    const r5 = svnCommit(directory, gitSvn('head', 5), 1_700_000_000);
    git(directory, 'switch', '--quiet', '--create', 'stable/11');
    const r7 = svnCommit(directory, gitSvn('stable/11', 7), 1_700_000_100);
    git(directory, 'switch', '--quiet', 'main');
    const r8 = svnCommit(directory, gitSvn('head', 8), 1_700_000_200);
    svnCommit(directory, 'Made in git', 1_700_000_300);
    return { ...openRepository(directory), r5, r7, r8 };
  }

  test.for([
    ['main', 8, 'r8'],
    ['main', 5, 'r5'],
    ['main', 7, 'r5'],
    ['main', 6, 'r5'],
    ['main', 999_999_999, 'r8'],
    ['stable/11', 8, 'r7'],
    ['stable/11', 6, 'r5'],
  ] as const)('of %s at %d is %s', async ([branch, revision, expected]) => {
    const repository = converted();
    expect(await repository.commitOfSvn(branch, revision, now)).toEqual({
      kind: 'found',
      commit: repository[expected],
      revision: Number(expected.slice(1)),
    });
  });

  test('is none before the first', async () => {
    expect(await converted().commitOfSvn('main', 1, now)).toEqual({ kind: 'only-later' });
  });

  test('is one that existed at the time, for any number', async () => {
    const { commitOfSvn, r5 } = converted();
    expect(await commitOfSvn('main', 8, new Date(1_700_000_150_000))).toMatchObject({ commit: r5 });
  });

  test('is found by the notes of a conversion', async () => {
    const directory = newRepository();
    const [r5 = '', r8 = ''] = [5, 8].map((revision) => {
      const id = svnCommit(directory, 'Fix it', 1_700_000_000 + revision);
      git(directory, 'notes', 'add', '--message', `svn path=/head/; revision=${revision}`, id);
      return id;
    });
    const { commitOfSvn } = openRepository(directory);
    const of = (commit: string, revision: number) => ({ kind: 'found', commit, revision });
    expect(await commitOfSvn('main', 8, now)).toEqual(of(r8, 8));
    expect(await commitOfSvn('main', 7, now)).toEqual(of(r5, 5));
    git(directory, 'config', 'core.notesRef', 'refs/notes/other');
    git(directory, 'config', 'notes.displayRef', 'refs/notes/other');
    git(directory, 'config', 'log.showSignature', 'true');
    git(directory, 'config', 'log.showRoot', 'true');
    git(directory, 'config', 'format.notes', 'other');
    expect(await commitOfSvn('main', 7, now)).toEqual(of(r5, 5));
  });

  test('is not found without lines and notes', async () => {
    const directory = newRepository();
    svnCommit(directory, 'Fix it', 1_700_000_000);
    const { commitOfSvn } = openRepository(directory);
    expect(await commitOfSvn('main', 5, now)).toEqual({ kind: 'no-revisions' });
    await expect(commitOfSvn('other', 5, now)).rejects.toThrow(NoCommitError);
  });

  test('is that of the branch itself, not one that was merged into it', async () => {
    const directory = newRepository();
    const r5 = svnCommit(directory, gitSvn('head', 5), 1_700_000_000);
    git(directory, 'switch', '--quiet', '--create', 'vendor');
    svnCommit(directory, gitSvn('vendor', 6), 1_700_000_100);
    git(directory, 'switch', '--quiet', 'main');
    git(directory, 'merge', '--quiet', '--no-ff', '--no-edit', 'vendor');
    const { commitOfSvn } = openRepository(directory);
    expect(await commitOfSvn('main', 7, new Date(4e12))).toMatchObject({ commit: r5 });
  });

  test('is of a branch that the path in Subversion ends with', async () => {
    const origin = newRepository();
    commit(origin, { file: 'one' });
    for (const branch of ['stable/11', '11', 'x', 'projects/x']) git(origin, 'branch', branch);
    const clone = join(temporaryFolder(), 'clone');
    git(origin, 'clone', '--quiet', `file://${origin}`, clone);
    git(clone, 'branch', 'only-here');
    const { branchOfPath } = openRepository(clone);
    expect(await branchOfPath('base/stable/11')).toBe('stable/11');
    expect(await branchOfPath('repos/branches/x')).toBe('x');
    expect(await branchOfPath('base/projects/x')).toBe('projects/x');
    expect(await branchOfPath('base/only-here')).toBe('only-here');
    for (const path of ['base/stable', 'base/stable/12', 'x/sys', '', '/', 'a/../x', 'stable/*'])
      expect(await branchOfPath(path)).toBeUndefined();
  });
});

function commitAtTime(directory: string, files: Record<string, string>, seconds: number, message = 'A change'): string {
  for (const [path, content] of Object.entries(files)) writeFileSync(join(directory, path), content);
  git(directory, 'add', '--all');
  const tree = git(directory, 'write-tree');
  const parents = git(directory, 'for-each-ref', '--format=-p %(objectname)', 'refs/heads')
    ? ['-p', git(directory, 'rev-parse', 'HEAD')]
    : [];
  const date = `${seconds} +0000`;
  const env = { GIT_COMMITTER_DATE: date, GIT_AUTHOR_DATE: date };
  const id = withEnvironment(env, () => git(directory, 'commit-tree', ...parents, '-m', message, tree));
  git(directory, 'reset', '--quiet', '--hard', id);
  return id;
}

function withEnvironment<T>(changes: Record<string, string>, work: () => T): T {
  for (const [name, value] of Object.entries(changes)) vi.stubEnv(name, value);
  try {
    return work();
  } finally {
    vi.unstubAllEnvs();
  }
}

describe('a diff', () => {
  const about = { message: 'D27401 diff 80677', date: new Date('2026-11-20T12:00:00Z') };
  const before = {
    'sys/net/if.c': 'one\ntwo\nthree\n',
    'sys/net/crlf.c': 'one\r\ntwo\r\n',
    'sys/net/spaces.c': 'one \n\ttwo\n',
    'sys/net/gone.c': 'gone\n',
    'tools/run.sh': '#!/bin/sh\n',
  };

  /** Everything that git diff can do to plain files. */
  function changesOf(directory: string): Buffer {
    const write = (path: string, text: string) => writeFileSync(join(directory, path), text);
    write('sys/net/if.c', 'one\n2\nthree');
    write('sys/net/crlf.c', 'one\r\n2\r\n');
    write('sys/net/spaces.c', 'one \n\ttwo  \n \t\n\n\n');
    write('sys/net/new é.c', 'new\n');
    write('sys/net/empty.c', '');
    chmodSync(join(directory, 'tools/run.sh'), 0o755);
    git(directory, 'rm', '--quiet', 'sys/net/gone.c');
    git(directory, 'add', '--all');
    const diff = git(directory, '-c', 'core.autocrlf=false', 'diff', '--cached');
    git(directory, 'reset', '--quiet', '--hard');
    return Buffer.from(`${diff}\n`);
  }

  function scene() {
    const directory = newRepository();
    const base = commitAtTime(emptied(directory), {}, 1_700_000_000);
    return { directory, base };
  }

  /** Creates the folders of `before`, with its files. */
  function emptied(directory: string): string {
    for (const folder of ['sys/net', 'tools']) {
      mkdirSync(join(directory, folder), { recursive: true });
    }
    for (const [path, text] of Object.entries(before)) writeFileSync(join(directory, path), text);
    return directory;
  }

  const committed = (made: CommittedDiff): string => (made.kind === 'committed' ? made.commit : expect.fail(made.why));

  const hostile: [string, string][] = [
    ['with line ends of Windows', '[core]\nautocrlf = true\neol = crlf\nsafecrlf = true'],
    ['that wants signatures', '[commit]\ngpgSign = true\n[gpg]\nprogram = false'],
    ['strict about whitespace', '[apply]\nwhitespace = error\n[core]\nwhitespace = tab-in-indent'],
    ['lax about whitespace', '[apply]\nwhitespace = fix\nignoreWhitespace = change'],
    ['in Latin-1', '[i18n]\ncommitEncoding = ISO-8859-1'],
    ['of a user with a name', '[user]\nname = Eve\nemail = eve@example.org\nuseConfigOnly = true'],
    ['without modes', '[core]\nfileMode = false\nsymlinks = false'],
    ['with other diffs', '[diff]\nnoprefix = true\nrenames = copies\nmnemonicPrefix = true'],
    ['blind to case', '[core]\nignoreCase = true'],
    ['with a split index', '[core]\nsplitIndex = true'],
  ];

  test('becomes the same commit in every clone, for any user and any git settings', async () => {
    const { directory, base } = scene();
    const diff = changesOf(directory);
    const first = committed(await openRepository(directory).commitDiff(base, diff, about));
    for (const [, settings] of hostile) {
      const home = temporaryFolder();
      const clone = join(home, 'clone');
      git(directory, 'clone', '--quiet', `file://${directory}`, clone);
      writeFileSync(join(home, 'gitconfig'), `${settings}\n`);
      const made = openRepository(clone, { GIT_CONFIG_GLOBAL: join(home, 'gitconfig') });
      expect(committed(await made.commitDiff(base, diff, about)), settings).toBe(first);
    }
  });

  test('becomes a commit on its base with its description and date, and without details of this machine', async () => {
    const { directory, base } = scene();
    const diff = changesOf(directory);
    const made = committed(await openRepository(directory).commitDiff(base, diff, about));
    expect(git(directory, 'cat-file', 'commit', made).split('\n').slice(1)).toEqual([
      `parent ${base}`,
      'author ppsgate <ppsgate@localhost.invalid> 1795176000 +0000',
      'committer ppsgate <ppsgate@localhost.invalid> 1795176000 +0000',
      '',
      'D27401 diff 80677',
    ]);
    const read = (path: string) => git(directory, 'cat-file', 'blob', `${made}:${path}`);
    expect(read('sys/net/if.c')).toBe('one\n2\nthree');
    expect(read('sys/net/crlf.c')).toBe('one\r\n2');
    expect(git(directory, 'ls-tree', '-r', '--name-only', '-z', made).split('\0')).toEqual([
      'sys/net/crlf.c',
      'sys/net/empty.c',
      'sys/net/if.c',
      'sys/net/new é.c',
      'sys/net/spaces.c',
      'tools/run.sh',
      '',
    ]);
    expect(git(directory, 'ls-tree', made, 'tools/run.sh')).toMatch(/^100755 /);
  });

  test.each<[string, object]>([
    ['message', { message: 'D27401 diff 80678' }],
    ['date', { date: new Date('2026-11-20T12:00:01Z') }],
  ])('becomes another commit by another %s', async (_, changes) => {
    const { directory, base } = scene();
    const diff = changesOf(directory);
    const { commitDiff } = openRepository(directory);
    const made = committed(await commitDiff(base, diff, about));
    expect(committed(await commitDiff(base, diff, { ...about, ...changes }))).not.toBe(made);
  });

  test.each(hostile)('leaves all but the objects of a repository as it is: %s', async (_, settings) => {
    const { directory, base } = scene();
    const diff = changesOf(directory);
    writeFileSync(join(directory, 'sys/net/if.c'), 'at work\n');
    git(directory, 'add', '--all');
    writeFileSync(join(directory, 'untracked'), '');
    const home = temporaryFolder();
    writeFileSync(join(home, 'gitconfig'), `${settings}\n`);
    const { commitDiff } = openRepository(directory, {
      GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
    });
    const all = filesBelow(directory);
    committed(await commitDiff(base, diff, about));
    expect((await commitDiff(base, Buffer.from(changeOf('sys/net/if.c', 'x')), about)).kind).toBe('does-not-apply');
    expect(filesBelow(directory)).toEqual(all);
  });

  test('is applied in a bare repository, and from a folder of a checkout, as anywhere else', async () => {
    const { directory, base } = scene();
    const diff = changesOf(directory);
    const made = committed(await openRepository(directory).commitDiff(base, diff, about));
    const bare = join(temporaryFolder(), 'bare.git');
    git(directory, 'clone', '--quiet', '--bare', `file://${directory}`, bare);
    for (const place of [bare, join(directory, 'sys')]) {
      expect(committed(await openRepository(place).commitDiff(base, diff, about))).toBe(made);
    }
  });

  /** Diff of one line of an existing file. */
  const changeOf = (path: string, from: string, to = 'new', other = path) =>
    `diff --git a/${path} b/${other}\n--- a/${path}\n+++ b/${other}\n@@ -1,1 +1,1 @@\n-${from}\n+${to}\n`;

  // Attack run/diff-mode
  test.each<[string, string, string]>([
    [
      'whose lines are not there',
      changeOf('sys/net/gone.c', 'never'),
      'git cannot apply the diff: patch failed: sys/net/gone.c:1; sys/net/gone.c: patch does not apply.',
    ],
    [
      'of a file that is not there',
      changeOf('sys/net/none.c', 'x'),
      'git cannot apply the diff: sys/net/none.c: does not exist in index.',
    ],
    [
      'that would move a file without a word',
      changeOf('sys/net/gone.c', 'gone', 'new', 'net/gone.c'),
      'Line 1 of the diff names two files without a rename.',
    ],
    [
      'that changes nothing of the file that it names',
      changeOf('sys/net/gone.c', 'gone', 'gone'),
      'The effect of the diff on sys/net/gone.c differs from its own header; send it as one diff of the whole change.',
    ],
    [
      'out of the tree',
      changeOf('../../etc/passwd', 'x'),
      'The diff changes "../../etc/passwd", which is not a file of the tree; name files below its root.',
    ],
    [
      'that makes a link, by a mode that has something behind it',
      'diff --git a/x b/x\nnew file mode 120000\t\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/shadow\n\\ No newline at end of file\n',
      'The diff changes x, which is a symbolic link; only regular files are accepted.',
    ],
    ['of nothing', '\n', 'The diff changes no file; send the output of git diff.'],
  ])('%s does not apply, for the reason that is told', async (_, diff, why) => {
    const { directory, base } = scene();
    const made = await openRepository(directory).commitDiff(base, Buffer.from(diff), about);
    expect(made).toMatchObject({ kind: 'does-not-apply', why });
  });

  test.each(hostile)(
    'whose blanks differ does not apply, however lax the settings of git are: %s',
    async (_, settings) => {
      const { directory, base } = scene();
      const home = temporaryFolder();
      writeFileSync(join(home, 'gitconfig'), `${settings}\n`);
      const { commitDiff } = openRepository(directory, {
        GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
      });
      const otherBlanks = changeOf('sys/net/spaces.c', '  two').replace('-1,1 +1,1', '-2,1 +2,1');
      const made = await commitDiff(base, Buffer.from(otherBlanks), about);
      expect(made.kind).toBe('does-not-apply');
    },
  );

  test('that declares a rename moves the file', async () => {
    const { directory, base } = scene();
    const renamed =
      'diff --git a/sys/net/gone.c b/sys/net/moved.c\nsimilarity index 100%\nrename from sys/net/gone.c\nrename to sys/net/moved.c\n';
    const { commitDiff } = openRepository(directory);
    const made = committed(await commitDiff(base, Buffer.from(renamed), about));
    expect(git(directory, 'diff', '--name-status', '--no-renames', base, made)).toBe(
      'D\tsys/net/gone.c\nA\tsys/net/moved.c',
    );
  });

  test('on a base that is not here is an error, and no fault of the diff', async () => {
    const { directory } = scene();
    const made = openRepository(directory).commitDiff('0'.repeat(40), changesOf(directory), about);
    await expect(made).rejects.toThrow(RepositoryError);
  });
});

/** Path → content of all files below a folder, git's own among them, but for its objects. */
function filesBelow(folder: string): Map<string, string> {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Map(
    all
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => !path.startsWith(join(folder, '.git', 'objects')))
      .map((path) => [path, readFileSync(path, 'latin1')]),
  );
}

describe('the differences between two commits', () => {
  test('is listed by paths: content, a mode, a link, or a deletion', async () => {
    const directory = newRepository();
    const first = commit(directory, {
      same: '1',
      content: '1',
      mode: '1',
      link: '1',
      'a/gone': '1',
    });
    chmodSync(join(directory, 'mode'), 0o755);
    rmSync(join(directory, 'link'));
    rmSync(join(directory, 'a/gone'));
    const second = commit(directory, { content: '2', 'a/a\nname': '' }, { link: '1' });
    const paths = await openRepository(directory).changedPaths(first, second);
    expect(paths.toSorted()).toEqual(['a/a\nname', 'a/gone', 'content', 'link', 'mode']);
    expect(await openRepository(directory).changedPaths(second, second)).toEqual([]);
  });

  // Attack forge/mode-only
  test('covers the whole repository with submodules, against any settings of it or its owner', async () => {
    const directory = newRepository();
    const ignoring = '[submodule "sub"]\n\tpath = sub\n\turl = x\n\tignore = all\n';
    commit(directory, { '.gitmodules': ignoring, 'below/file': '1' });
    git(directory, 'config', 'diff.ignoreSubmodules', 'all');
    git(directory, 'config', 'submodule.sub.ignore', 'all');
    const at = (id: string) => {
      git(directory, 'update-index', '--add', '--cacheinfo', `160000,${id},sub`);
      git(directory, 'commit', '--quiet', '--allow-empty', '--message', 'A submodule');
      return git(directory, 'rev-parse', 'HEAD');
    };
    const [first, second] = [at('c'.repeat(40)), at('d'.repeat(40))];
    for (const place of [directory, join(directory, 'below')]) {
      expect(await openRepository(place).changedPaths(first, second)).toEqual(['sub']);
    }
  });

  test('is an error for a missing commit', async () => {
    const directory = newRepository();
    const id = commit(directory, { file: '1' });
    const asked = openRepository(directory).changedPaths(id, 'c'.repeat(40));
    await expect(asked).rejects.toThrow(RepositoryError);
  });
});
