// Diffs of strangers: what git would make of them, and what is refused before git sees it.
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { changesAsListed, checkDiff } from '../../../src/forge/patch/diff.ts';
import { git, newRepository } from '../../fakes/repository.ts';
import { times } from '../../random.ts';

const check = (...lines: string[]) => checkDiff(Buffer.from(`${lines.join('\n')}\n`));
const reasonOf = (...lines: string[]) => {
  const checked = check(...lines);
  return checked.kind === 'refused' ? checked.reason : checked.kind;
};
const hunk = ['@@ -1 +1 @@', '-one', '+two'];
const edit = (old: string, new_: string) => [
  `diff --git ${old} ${new_}`,
  'index 5626abf..f719efd 100644',
  `--- ${old}`,
  `+++ ${new_}`,
  ...hunk,
];

test('accepts every diff of two trees by git, with the paths that git lists', () => {
  const directory = newRepository();
  const diffTree = (...words: string[]) => execFileSync('git', ['-C', directory, 'diff-tree', '-r', ...words]);
  fc.assert(
    fc.property(tree, tree, options, (first, second, words) => {
      const ids = [layTree(directory, first), layTree(directory, second)];
      const names = diffTree('--no-renames', '--name-only', '-z', ...ids).toString();
      const listed = names.split('\0').filter(Boolean).toSorted();
      fc.pre(listed.length > 0);
      const checked = checkDiff(diffTree('-p', ...words, ...ids));
      if (checked.kind === 'refused') throw new Error(checked.reason);
      expect(checked.paths).toEqual(listed);
    }),
    { numRuns: times(10) },
  );
});

type Content = { lines: string[]; hasEnd: boolean; isProgram: boolean; isLatin1: boolean };

const folder = fc.constantFrom('', 'sys/', 'sys/net/', 'a b/', 'ä/');
const file = fc.constantFrom('if.c', 'x y', 'x y z', 'quo"te', 'back\\slash', 'é', 'b');
const path = fc.tuple(folder, file).map((names) => names.join(''));
const line = fc.oneof(
  fc.constantFrom('one', 'two', 'three', '', ' ', 'CR\r', 'é', '-- ', '\\'),
  // A diff inside a diff.
  fc.constantFrom('--- a/x', '+++ b/x', '@@ -1 +1 @@', 'diff --git a/x b/x', 'GIT binary patch'),
  fc.constantFrom('- a/x', '-- a/x', '++ b/x', 'old mode 120000', 'rename to x'),
);
const content: fc.Arbitrary<Content> = fc.record({
  lines: fc.array(line, { maxLength: 30 }),
  hasEnd: fc.boolean(),
  isProgram: fc.boolean(),
  isLatin1: fc.boolean(),
});
const tree = fc.dictionary(path, content, { maxKeys: 6, noNullPrototype: true });
const options = fc.subarray(['--find-renames=30%', '--find-copies-harder', '--unified=0', '--full-index']);

/** Answers git's id of the tree. */
function layTree(directory: string, files: Record<string, Content>): string {
  git(directory, 'rm', '-r', '--quiet', '--force', '--ignore-unmatch', '.');
  for (const [path, { lines, hasEnd, isProgram, isLatin1 }] of Object.entries(files)) {
    const text = lines.join('\n') + (hasEnd && lines.length > 0 ? '\n' : '');
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), Buffer.from(text, isLatin1 ? 'latin1' : 'utf8'));
    chmodSync(join(directory, path), isProgram ? 0o755 : 0o644);
  }
  git(directory, 'add', '--all');
  return git(directory, 'write-tree');
}

const time = '\t2026-11-21 00:00:00.000000000 +0000';

test.each([
  ['of a copy changes the new file only', ['diff --git a/x b/y', 'copy from x', 'copy to y'], ['y']],
  ['of a rename changes both names', ['diff --git a/x b/y z', 'rename from x', 'rename to y z'], ['x', 'y z']],
  [
    'in a mail has no part of it',
    ['From: A', 'Subject: --- a/x', '', ' x.c | 2 +-', '', ...edit('a/x', 'b/x'), '-- ', '2.39.5', ''],
    ['x'],
  ],
  [
    'of diff -u counts too where its names have the prefixes',
    [`--- a/sys/x.c${time}`, `+++ b/sys/x.c${time}`, ...hunk, '--- a/y', '+++ b/y', ...hunk],
    ['sys/x.c', 'y'],
  ],
])('a diff %s', (_, lines, paths) => {
  expect(check(...lines)).toEqual({ kind: 'accepted', paths, remarks: [] });
});

test('unusual bytes are reported', () => {
  const remarksOn = (text: string | Buffer) => {
    const checked = checkDiff(Buffer.concat([Buffer.from(edit('a/x', 'b/x').join('\n')), Buffer.from(text)]));
    return checked.kind === 'accepted' ? checked.remarks : checked;
  };
  expect(remarksOn('\n@@ -2,0 +3 @@\n+three\r\n')).toEqual(['Some lines of the diff end in CR LF.']);
  expect(remarksOn(Buffer.from('\n@@ -2,0 +3 @@\n+\xe9\n', 'latin1'))).toEqual(['The diff is not UTF-8.']);
  expect(remarksOn('\n@@ -2,0 +3 @@\n+\uFFFD\n')).toEqual([
    'The diff contains U+FFFD, which replaced an unreadable character.',
  ]);
});

const withMode = (mode: string) => ['diff --git a/x b/x', mode, '--- a/x', '+++ b/x', ...hunk];

const refusals: [string, string[]][] = [
  ['no prefixes', edit('sys/x.c', 'sys/x.c')],
  ['other prefixes', edit('i/sys/x.c', 'w/sys/x.c')],
  ['one prefix', edit('a/x.c', 'a/x.c')],
  ['the names of Subversion', ['--- sys/x.c\t(revision 1)', '+++ sys/x.c\t(working copy)', ...hunk]],
  ...[
    ...['a/../x', 'a/sys/../../x', 'a//etc/passwd', 'a/./x', 'a/.git/hooks/post-checkout', 'a/sys/.GIT/config'],
    ...['"a/x\\ny"', '"a/\\056\\056/x"', '"a/\\351"'],
  ].map((path): [string, string[]] => [`the path ${path}`, edit(path, path.replace('a/', 'b/'))]),
  ['a rename to ../y', ['diff --git a/x b/../y', 'rename from x', 'rename to ../y']],
  ['a rename to .git', ['diff --git a/x b/"\\056git/config"', 'rename from x', 'rename to "\\056git/config"']],
  ['one file under two names', ['diff --git a/x b/x', '--- a/x', '+++ b/y', ...hunk]],
  ['two names without a rename', ['diff --git a/x b/y', 'old mode 100644', 'new mode 100755']],
  ...[
    ...['new file mode 120000', 'deleted file mode 120000', 'index 5626abf..f719efd 120000', 'new mode 120000'],
    ...['new file mode 160000', 'index 5626abf..f719efd 160000', 'new file mode 104755'],
    ...['-100644', 'x', '9', '100644x'].map((mode) => `new mode ${mode}`),
  ].map((mode): [string, string[]] => [mode, withMode(mode)]),
  ['GIT binary patch', ['diff --git a/x b/x', 'index 5626abf..f719efd', 'GIT binary patch']],
  ['Binary files', ['diff --git a/x b/x', 'index 5626abf..f719efd', 'Binary files /dev/null and b/x differ']],
  ['no change', ['Hello']],
  ['a hunk that is cut off', ['diff --git a/x b/x', '--- a/x', '+++ b/x', '@@ -1,3 +1,3 @@', ' one']],
  ['a hunk before its end', ['--- a/x', '+++ b/x', '@@ -1,3 +1,3 @@', ' one', 'diff --git a/y b/y']],
  // Git does not go by their order.
  ['a file twice', [...edit('a/x', 'b/x'), ...edit('a/y', 'b/y'), ...edit('a/x', 'b/x')]],
  ['a hunk without a file', hunk],
  ['a hunk without names', ['diff --git a/x b/x', ...hunk]],
  ['the line ends of DOS throughout', edit('a/x', 'b/x').map((line) => `${line}\r`)],
  ['more than 5 MB', ['x'.repeat(5_000_000)]],
  ['more than 2,000 files', Array.from({ length: 2001 }, (_, index) => edit(`a/${index}`, `b/${index}`)).flat()],
];

test('a diff that git could take for more than it shows is refused, with the reason', async () => {
  for (const [what, lines] of refusals) expect(check(...lines).kind, what).toBe('refused');
  const text = refusals.map(([what, lines]) => `${what}\n  ${reasonOf(...lines)}\n`).join('');
  await expect(text).toMatchFileSnapshot('golden/diff-refusals.txt');
});

// Git takes blanks, tabs and signs for part of the number, so its own reading of the mode counts.
test.each(['120000 ', '120000\t', '120000\r', '120000 100644', ' 120000', '+120000', '0120000', '\t00120000\v'])(
  'a mode is read as git does: %j',
  (mode) => {
    for (const start of ['new file mode', 'new mode', 'index 5626abf..f719efd']) {
      expect(reasonOf(...withMode(`${start} ${mode}`))).toContain('which is a symbolic link');
    }
  },
);

describe('the result of git for a diff', () => {
  const raw = (...changes: [modes: string, path: string][]) =>
    changes.map(([modes, path]) => `:${modes} 1a2b3c 4d5e6f M\0${path}\0`).join('');

  test('is accepted if exactly the named files changed, and all are plain', () => {
    const made = raw(['100644 100755', 'a'], ['000000 100644', 'b'], ['100644 000000', 'c\n:d']);
    expect(changesAsListed(['a', 'b', 'c\n:d'], made)).toEqual({ kind: 'as-said' });
    expect(changesAsListed([], '')).toEqual({ kind: 'as-said' });
  });

  test.each(['000000 120000', '120000 100644', '100644 160000', '000000 040000', '100644 100664'])(
    'is refused where it is no plain file, against the text of the diff: %s',
    (modes) => {
      const changes = changesAsListed(['a', 'x'], raw(['100644 100644', 'a'], [modes, 'x']));
      expect(changes).toEqual({ kind: 'refused', reason: expect.stringContaining('The diff changes x, ') });
    },
  );
});

test('a diff of five million bytes is read in seconds, also one of as many hunks as lines before them', () => {
  const head = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n';
  expect(checkDiff(Buffer.from(head + '@@ -1 +1 @@\n-a\n+b\n'.repeat(250_000))).kind).toBe('accepted');
  expect(checkDiff(Buffer.from(`${'--- a/x\n'.repeat(600_000)}`)).kind).toBe('refused');
  const names = '--- a/x\n+++ b/x\n';
  const text = ['diff --git a/x b/x\n', '\n'.repeat(1_000_000), names, `${hunk.join('\n')}\n`.repeat(100_000)];
  expect(checkDiff(Buffer.from(text.join(''))).kind).toBe('accepted');
});

test('nothing in a diff makes it throw', () => {
  const piece = fc.constantFrom(
    ...['diff --git ', 'a/x', ' b/x', '"', '\\', '--- ', '+++ ', '/dev/null', '\n', '\n@@ -1,2 +1 @@\n', '-', '+', ' '],
    ...['rename from ', 'rename to ', 'new file mode 120000', '\r', '\t', '\0', 'é'],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      expect(['accepted', 'refused']).toContain(checkDiff(Buffer.from(pieces.join(''))).kind);
    }),
  );
});
