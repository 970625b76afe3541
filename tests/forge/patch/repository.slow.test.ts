// Real git repositories: names, files and dates of commits, and diffs that become commits.
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CommittedDiff } from '../../../src/forge/patch/commit-diff.ts';
import { NoCommitError, openRepository, RepositoryError } from '../../../src/forge/patch/repository.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { commit, git, newRepository, plantHistory } from '../../fakes/repository.ts';
import { times } from '../../random.ts';

/** The error of a call that must fail. */
const errorOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    (value) => expect.fail(`It did not fail: ${value}`),
    (error) => error,
  );

function cloneOf(origin: string, ...options: string[]): string {
  const clone = join(temporaryFolder(), 'clone');
  git(origin, 'clone', '--quiet', ...options, `file://${origin}`, clone);
  return clone;
}

test('what people call a commit is resolved', async () => {
  const directory = newRepository();
  commit(directory, { file: '1' });
  const id = commit(directory, { file: '2' });
  git(directory, 'tag', '--annotate', '--message', 'v1', 'v1');
  for (const branch of ['feature/c++', '+x', 'straße']) git(directory, 'branch', branch);
  const { resolve } = openRepository(directory);
  for (const name of [
    ...['HEAD', 'HEAD^', 'HEAD~1', 'HEAD^{commit}', 'v1', 'v1^0', 'v1~0^{}', 'feature/c++', '+x', 'main@{0}', '@'],
    ...['@{0}', 'main', 'refs/heads/main', 'heads/main', 'straße', id.slice(0, 10), `v1-0-g${id.slice(0, 8)}`],
  ]) {
    expect(await resolve(name), name).toBe(git(directory, 'rev-parse', `${name}^{commit}`));
  }
});

test('a commit knows when it was made, and the last release on its line of first parents', async () => {
  const directory = newRepository();
  const ids = plantHistory(directory, [{}, {}, {}, { parents: [0] }, { parents: [2, 3] }, {}]);
  const [first = '', second = '', , aside = '', , last = ''] = ids;
  git(directory, 'tag', '--annotate', '--message', 'v1', 'v1', second);
  git(directory, 'tag', 'v2-elsewhere', aside);
  const repository = openRepository(directory);
  expect(await repository.committedAt(last)).toBe('2020-09-13T12:26:45.000Z');
  const release = { name: 'v1', commit: second, at: '2020-09-13T12:26:41.000Z' };
  expect(await repository.releaseBefore(last)).toEqual(release);
  expect(await repository.releaseBefore(first)).toBeUndefined();
});

const refspecs = [
  ...['+refs/heads/evil:refs/remotes/origin/main', 'refs/heads/evil:refs/heads/main', '+evil:main', 'evil:', ':main'],
  ...['^refs/heads/main', 'refs/heads/*:refs/heads/*', 'tag v2', 'main:dut', ':/evil', 'main^{/evil}', 'main^{tree}'],
  ...['@{u}:main', '--upload-pack=touch', '-h', 'main\n+evil:main', 'main\0', 'a..b', '.main', 'x/.git', 'main.lock'],
  ...['main/', '[x', 'a\\b', '', 'x'.repeat(251)],
];

/** A clone that lacks the branch `evil` and the tag `v2` of its origin, with settings that would fetch them all. */
function cloneOfEvil() {
  const origin = newRepository();
  commit(origin, { file: 'one' });
  const clone = cloneOf(origin);
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

test('a text that is no name of a commit is refused before git sees it', async () => {
  const { clone, state } = cloneOfEvil();
  const before = state();
  for (const name of refspecs) {
    const error = await errorOf(openRepository(clone).resolve(name));
    expect(error, name).toBeInstanceOf(NoCommitError);
    expect(error.message, name).toContain('is not the name of a commit');
  }
  expect(state()).toEqual(before);
});

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
      const resolved = openRepository(clone).resolve(name);
      const error = await resolved.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (error !== undefined) expect(error).toBeInstanceOf(RepositoryError);
      expect(state()).toEqual(before);
    }),
    { numRuns: times(20) },
  );
});

test('fetches a commit by its id without ref, tag or FETCH_HEAD, against any configuration', async () => {
  const { clone, evil, state } = cloneOfEvil();
  const before = state();
  expect(await openRepository(clone).resolve(evil)).toBe(evil);
  expect(state()).toEqual(before);
});

test('where an id is required, another name is refused', async () => {
  const directory = newRepository();
  const id = commit(directory, { file: '' });
  const repository = openRepository(directory);
  for (const name of ['main', '--output=x', 'HEAD:file', '0'.repeat(39)]) {
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
  }
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

/** Diff of one line of an existing file. */
const changeOf = (path: string, from: string, to = 'new', other = path) =>
  `diff --git a/${path} b/${other}\n--- a/${path}\n+++ b/${other}\n@@ -1,1 +1,1 @@\n-${from}\n+${to}\n`;

test('an impossible request is an error with what to do', async () => {
  const directory = newRepository();
  const id = commit(directory, { large: 'x'.repeat(4 * 1024 * 1024 + 1) });
  git(directory, 'update-ref', 'refs/remotes/origin/feature', id);
  git(directory, 'switch', '--quiet', '--orphan', 'other');
  commit(directory, { file: 'two' });
  const repository = openRepository(directory);
  const missing = 'c'.repeat(40);
  const lines = [
    repository.resolve('no-such-branch'),
    repository.resolve('$(reboot)'),
    repository.resolve('mian'),
    repository.resolve('feature'),
    repository.resolve('0'.repeat(40)),
    repository.resolve('a..b'),
    repository.mergeBase('main', 'other'),
    repository.list(id, '../elsewhere'),
    repository.read(`${id}:large`),
    repository.changedPaths(id, missing),
    repository.commitAt('main', new Date('2001-01-01')),
    repository.pathOf({ path: '../dut', beside: directory }),
    repository.commitDiff(missing, Buffer.from(changeOf('large', 'x')), { message: 'x', date: new Date(0) }),
  ].map(async (work) => {
    const error = await errorOf(work);
    expect(error).toBeInstanceOf(RepositoryError);
    return error.message.replaceAll(directory, '/src').replaceAll(dirname(directory), 'PARENT').replaceAll(id, 'ID');
  });
  await expect(`${(await Promise.all(lines)).join('\n')}\n`).toMatchFileSnapshot('golden/repository.txt');
});

describe('the files of a commit', () => {
  test('are listed with mode and object under any names, not those of the working tree', async () => {
    const directory = newRepository();
    const names = ['a', 'b/c', 'tab\tin\tname', 'line\nbreak', '"quotes"', 'ümläut', '-dash'];
    const files = names.map((name) => [`dut/${name}`, name] as const);
    const id = commit(directory, { ...Object.fromEntries(files), 'dutiful/no': '', outside: '' });
    writeFileSync(join(directory, 'dut/a'), 'changed since');
    writeFileSync(join(directory, 'dut/new'), '');
    const repository = openRepository(directory);
    const entries = await repository.list(id, 'dut');
    expect(entries.map(({ path }) => path).toSorted()).toEqual(names.toSorted());
    for (const { path, mode, object } of entries) {
      expect(mode).toBe('100644');
      expect(await repository.read(object)).toBe(path);
    }
  });

  // The name of an overlay's folder could be a pattern of git.
  test('are in a folder by its name, which may be absolute or relative and is no pattern', async () => {
    const directory = newRepository();
    const id = commit(directory, { 'dut/a': '', b: '', ':(top)dut/c': '', '*/d': '' });
    const { list } = openRepository(directory);
    const paths = async (folder: string) => (await list(id, folder)).map(({ path }) => path);
    for (const folder of ['dut/', './other/../dut', join(directory, 'dut')]) expect(await paths(folder)).toEqual(['a']);
    expect(await paths('.')).toEqual(['*/d', ':(top)dut/c', 'b', 'dut/a']);
    expect(await paths(':(top)dut')).toEqual(['c']);
    expect(await paths('*')).toEqual(['d']);
    for (const folder of [':/', 'none']) expect(await paths(folder)).toEqual([]);
  });

  test('have links as what they are, read as where they point', async () => {
    const directory = newRepository();
    const id = commit(directory, {}, { 'dut/nftables.conf': '/etc/shadow' });
    const repository = openRepository(directory);
    const [entry] = await repository.list(id, 'dut');
    expect(entry).toMatchObject({ path: 'nftables.conf', mode: '120000' });
    expect(await repository.read(entry?.object ?? '')).toBe('/etc/shadow');
  });
});

describe('the folder of an overlay', () => {
  test('is beside a ppsgate.yml of the repository, otherwise below its top, and never outside', async () => {
    const directory = newRepository();
    commit(directory, { 'sub/file': '' });
    const placed = (text: string) => text.replace(/^\/src/, directory);
    const site = '/usr/local/etc/ppsgate';
    const outside = 'outside';
    for (const [path, beside, expected] of [
      ['dut', '/src', 'dut'],
      ['dut', '/src/ci', 'ci/dut'],
      ['../dut', '/src/ci', 'dut'],
      ['.', '/src', ''],
      ['./dut/', '/src', 'dut'],
      ['..dut', '/src', '..dut'],
      ['/src/lab/dut', '/src/ci', 'lab/dut'],
      ['dut', site, 'dut'],
      ['lab/dut', '/', 'lab/dut'],
      ['.', site, ''],
      ['dut', '/src/..', 'dut'],
      ['dut', '/src-of-another', 'dut'],
      ['/src/dut', site, 'dut'],
      ['..', '/src', outside],
      ['../../dut', '/src/ci', outside],
      ['../dut', site, outside],
      ['dut/../../dut', site, outside],
      ['/etc', '/src', outside],
      ['/src-of-another/dut', '/src', outside],
    ] as const) {
      for (const at of ['', 'sub']) {
        const { pathOf } = openRepository(join(directory, at));
        const found = await pathOf({ path: placed(path), beside: placed(beside) }).catch((error: Error) => {
          expect(error).toBeInstanceOf(RepositoryError);
          return outside;
        });
        expect(found, `${path}, in ${beside}`).toBe(expected);
      }
    }
    // Read from a commit, a configuration has a relative folder.
    const { pathOf } = openRepository(directory);
    expect(await pathOf({ path: 'dut', beside: '.' })).toBe('dut');
    expect(await pathOf({ path: 'dut', beside: 'ci' })).toBe('ci/dut');
  });
});

/** Commits files at a time, on the current branch. */
function commitAtTime(directory: string, files: Record<string, string>, seconds: number, message = 'A change'): string {
  const id = commit(directory, files, {}, message);
  const object = git(directory, 'cat-file', 'commit', id).replaceAll(/> \d+ [+-]\d{4}$/gm, `> ${seconds} +0000`);
  writeFileSync(join(directory, '.git/dated'), `${object}\n`);
  const dated = git(directory, 'hash-object', '-t', 'commit', '-w', '.git/dated');
  git(directory, 'reset', '--quiet', '--hard', dated);
  return dated;
}

describe('the commit of a branch at a time', () => {
  const dated = (directory: string, name: string, seconds: number) =>
    commitAtTime(directory, { [name]: `${seconds}` }, seconds);

  test('is the last of the branch itself by then, to the second, without what was merged later', async () => {
    const directory = newRepository();
    const first = dated(directory, 'a', 1_700_000_000);
    git(directory, 'switch', '--quiet', '--create', 'topic');
    dated(directory, 'b', 1_700_000_100);
    git(directory, 'switch', '--quiet', 'main');
    const third = dated(directory, 'c', 1_700_000_200);
    git(directory, 'merge', '--quiet', '--no-edit', 'topic');
    const { commitAt } = openRepository(directory);
    expect(await commitAt('main', new Date(1_700_000_199_999))).toBe(first);
    expect(await commitAt('main', new Date(1_700_000_200_000))).toBe(third);
  });

  test('is that of the server, even with a local branch of the same name', async () => {
    const origin = newRepository();
    dated(origin, 'a', 1_700_000_000);
    const clone = cloneOf(origin);
    const theirs = git(clone, 'rev-parse', 'origin/main');
    const ours = dated(clone, 'a', 1_700_000_100);
    git(clone, 'branch', 'here', ours);
    const { commitAt } = openRepository(clone);
    expect(await commitAt('main', new Date(1_700_000_200_000))).toBe(theirs);
    expect(await commitAt('here', new Date(1_700_000_200_000))).toBe(ours);
  });
});

describe('the commit of a revision of Subversion', () => {
  const now = new Date(1_800_000_000_000);

  const svnCommit = (directory: string, message: string, seconds: number) =>
    commitAtTime(directory, { [`${seconds}`]: '' }, seconds, message);

  const gitSvn = (path: string, revision: number) =>
    `Fix it\n\ngit-svn-id: svn+ssh://svn.freebsd.org/base/${path}@${revision} ccf9f872-aa2e-dd11`;

  test('is the last of the branch itself up to its number, that existed at the time', async () => {
    const directory = newRepository();
    const r5 = svnCommit(directory, gitSvn('head', 5), 1_700_000_000);
    git(directory, 'switch', '--quiet', '--create', 'stable/11');
    const r7 = svnCommit(directory, gitSvn('stable/11', 7), 1_700_000_100);
    git(directory, 'switch', '--quiet', 'main');
    git(directory, 'merge', '--quiet', '--no-ff', '--no-edit', 'stable/11');
    const r8 = svnCommit(directory, gitSvn('head', 8), 1_700_000_200);
    svnCommit(directory, 'Made in git', 1_700_000_300);
    const { commitOfSvn } = openRepository(directory);
    const of = (commit: string, revision: number) => ({ kind: 'found', commit, revision });
    expect(await commitOfSvn('main', 8, now)).toEqual(of(r8, 8));
    expect(await commitOfSvn('main', 7, now)).toEqual(of(r5, 5));
    expect(await commitOfSvn('stable/11', 8, now)).toEqual(of(r7, 7));
    expect(await commitOfSvn('stable/11', 6, now)).toEqual(of(r5, 5));
    expect(await commitOfSvn('main', 1, now)).toEqual({ kind: 'only-later' });
    expect(await commitOfSvn('main', 8, new Date(1_700_000_150_000))).toEqual(of(r5, 5));
    await expect(commitOfSvn('other', 5, now)).rejects.toThrow(NoCommitError);
  });

  test('is found by the notes of a conversion, against any configuration', async () => {
    const directory = newRepository();
    const [r5 = '', r8 = ''] = [5, 8].map((revision) => {
      const id = svnCommit(directory, 'Fix it', 1_700_000_000 + revision);
      git(directory, 'notes', 'add', '--message', `svn path=/head/; revision=${revision}`, id);
      return id;
    });
    for (const setting of ['core.notesRef', 'notes.displayRef']) git(directory, 'config', setting, 'refs/notes/other');
    for (const setting of ['log.showSignature', 'log.showRoot']) git(directory, 'config', setting, 'true');
    git(directory, 'config', 'format.notes', 'other');
    const { commitOfSvn } = openRepository(directory);
    expect(await commitOfSvn('main', 8, now)).toMatchObject({ commit: r8 });
    expect(await commitOfSvn('main', 7, now)).toMatchObject({ commit: r5 });
  });

  test('is of a branch that the path in Subversion ends with', async () => {
    const origin = newRepository();
    commit(origin, { file: 'one' });
    for (const branch of ['stable/11', '11', 'x', 'projects/x']) git(origin, 'branch', branch);
    const clone = cloneOf(origin);
    git(clone, 'branch', 'only-here');
    const { branchOfPath } = openRepository(clone);
    for (const [path, branch] of [
      ['base/stable/11', 'stable/11'],
      ['repos/branches/x', 'x'],
      ['base/projects/x', 'projects/x'],
      ['base/only-here', 'only-here'],
      ...['base/stable', 'base/stable/12', 'x/sys', '', '/', 'a/../x', 'stable/*'].map((path) => [path, undefined]),
    ]) {
      expect(await branchOfPath(path ?? ''), path).toBe(branch);
    }
  });
});

describe('a diff', () => {
  const about = { message: 'D27401 diff 80677', date: new Date('2026-11-20T12:00:00Z') };
  const before = {
    'sys/net/if.c': 'one\ntwo\nthree\n',
    'sys/net/crlf.c': 'one\r\ntwo\r\n',
    'sys/net/spaces.c': 'one \n\ttwo\n',
    'sys/net/gone.c': 'gone\n',
    'tools/run.sh': '#!/bin/sh\n',
  };

  /** A repository, and a diff of everything that git can do to plain files. */
  function scene() {
    const directory = newRepository();
    const base = commitAtTime(directory, before, 1_700_000_000);
    const write = (path: string, text: string) => writeFileSync(join(directory, path), text);
    write('sys/net/if.c', 'one\n2\nthree');
    write('sys/net/crlf.c', 'one\r\n2\r\n');
    write('sys/net/spaces.c', 'one \n\ttwo  \n \t\n\n\n');
    write('sys/net/new é.c', 'new\n');
    write('sys/net/empty.c', '');
    chmodSync(join(directory, 'tools/run.sh'), 0o755);
    git(directory, 'rm', '--quiet', 'sys/net/gone.c');
    git(directory, 'add', '--all');
    const diff = Buffer.from(`${git(directory, '-c', 'core.autocrlf=false', 'diff', '--cached')}\n`);
    git(directory, 'reset', '--quiet', '--hard');
    return { directory, base, diff };
  }

  const committed = (made: CommittedDiff): string => (made.kind === 'committed' ? made.commit : expect.fail(made.why));

  /** Two contradict each other. */
  const hostile = [
    [
      '[core]\nautocrlf = true\neol = crlf\nsafecrlf = true\nfileMode = false\nsymlinks = false',
      '[commit]\ngpgSign = true\n[gpg]\nprogram = false\n[i18n]\ncommitEncoding = ISO-8859-1',
      '[core]\nwhitespace = tab-in-indent\nignoreCase = true\nsplitIndex = true\n[apply]\nwhitespace = error',
      '[user]\nname = Eve\nemail = eve@example.org\nuseConfigOnly = true',
      '[diff]\nnoprefix = true\nrenames = copies\nmnemonicPrefix = true',
    ].join('\n'),
    '[apply]\nwhitespace = fix\nignoreWhitespace = change',
  ];

  test('becomes the same commit for any user and settings, everywhere, and only objects are written', async () => {
    const { directory, base, diff } = scene();
    const otherBlanks = changeOf('sys/net/spaces.c', '  two').replace('-1,1 +1,1', '-2,1 +2,1');
    const first = committed(await openRepository(directory).commitDiff(base, diff, about));
    for (const settings of hostile) {
      const path = join(temporaryFolder(), 'gitconfig');
      writeFileSync(path, `${settings}\n`);
      const clone = cloneOf(directory);
      writeFileSync(join(clone, 'sys/net/if.c'), 'at work\n');
      git(clone, 'add', '--all');
      writeFileSync(join(clone, 'untracked'), '');
      const all = filesBelow(clone);
      const { commitDiff } = openRepository(clone, { GIT_CONFIG_GLOBAL: path });
      expect(committed(await commitDiff(base, diff, about)), settings).toBe(first);
      for (const wrong of [changeOf('sys/net/if.c', 'x'), otherBlanks]) {
        expect((await commitDiff(base, Buffer.from(wrong), about)).kind, settings).toBe('does-not-apply');
      }
      expect(filesBelow(clone), settings).toEqual(all);
    }
    for (const place of [cloneOf(directory, '--bare'), join(directory, 'sys')]) {
      expect(committed(await openRepository(place).commitDiff(base, diff, about))).toBe(first);
    }
    for (const changes of [{ message: 'D27401 diff 80678' }, { date: new Date('2026-11-20T12:00:01Z') }]) {
      const made = openRepository(directory).commitDiff(base, diff, { ...about, ...changes });
      expect(committed(await made)).not.toBe(first);
    }
  });

  test('becomes a commit on its base with its description and date, and without details of this machine', async () => {
    const { directory, base, diff } = scene();
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
    const files = ['crlf.c', 'empty.c', 'if.c', 'new é.c', 'spaces.c'].map((name) => `sys/net/${name}`);
    const listed = git(directory, 'ls-tree', '-r', '--name-only', '-z', made).split('\0');
    expect(listed).toEqual([...files, 'tools/run.sh', '']);
    expect(git(directory, 'ls-tree', made, 'tools/run.sh')).toMatch(/^100755 /);
  });

  test('does not apply, for a reason, where it is not what git makes of it', async () => {
    const { directory, base } = scene();
    const { commitDiff } = openRepository(directory);
    const reasons: string[] = [];
    for (const diff of [
      changeOf('sys/net/gone.c', 'never'),
      changeOf('sys/net/none.c', 'x'),
      changeOf('sys/net/gone.c', 'gone', 'new', 'net/gone.c'),
      changeOf('sys/net/gone.c', 'gone', 'gone'),
      changeOf('../../etc/passwd', 'x'),
      // A mode that has something behind it.
      'diff --git a/x b/x\nnew file mode 120000\t\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/shadow\n\\ No newline at end of file\n',
      '\n',
    ]) {
      const made = await commitDiff(base, Buffer.from(diff), about);
      reasons.push(made.kind === 'does-not-apply' ? made.why : made.kind);
    }
    await expect(`${reasons.join('\n')}\n`).toMatchFileSnapshot('golden/does-not-apply.txt');
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
  // A patch could hide its submodules by its own .gitmodules.
  test('are of the whole repository with submodules, against any settings of it or its owner', async () => {
    const directory = newRepository();
    const ignoring = '[submodule "sub"]\n\tpath = sub\n\turl = x\n\tignore = all\n';
    commit(directory, { '.gitmodules': ignoring, 'below/file': '1' });
    for (const setting of ['diff.ignoreSubmodules', 'submodule.sub.ignore']) git(directory, 'config', setting, 'all');
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
});
