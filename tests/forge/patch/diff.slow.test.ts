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

test('a diff of git is accepted, with the path it changes', () => {
  expect(check(...edit('a/sys/net/if.c', 'b/sys/net/if.c'))).toEqual({
    kind: 'accepted',
    paths: ['sys/net/if.c'],
    remarks: [],
  });
});

// Attack read/slow-text
test('as many hunks as lines before them are read at once', () => {
  const [head, ...names] = ['diff --git a/x b/x\n', '--- a/x\n', '+++ b/x\n'];
  const text = [head, '\n'.repeat(1_000_000), ...names, `${hunk.join('\n')}\n`.repeat(100_000)];
  expect(checkDiff(Buffer.from(text.join('')))).toMatchObject({ kind: 'accepted' });
});

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

test('a copy changes the new file only', () => {
  const checked = check('diff --git a/x b/y', 'similarity index 100%', 'copy from x', 'copy to y');
  expect(checked).toMatchObject({ kind: 'accepted', paths: ['y'] });
});

test('a mail around the diff is no part of it', () => {
  const mail = ['From: Alice', 'Subject: [PATCH] --- a/x', '', ' sys/x.c | 2 +-', ''];
  const checked = check(...mail, ...edit('a/x', 'b/x'), '-- ', '2.39.5', '');
  expect(checked).toMatchObject({ kind: 'accepted', paths: ['x'] });
});

test('a diff of diff -u counts too where its names have the prefixes', () => {
  const time = '\t2026-11-21 00:00:00.000000000 +0000';
  const checked = check(`--- a/sys/x.c${time}`, `+++ b/sys/x.c${time}`, ...hunk, '--- a/y', '+++ b/y', ...hunk);
  expect(checked).toMatchObject({ kind: 'accepted', paths: ['sys/x.c', 'y'] });
});

test('both names of a rename are changed', () => {
  const checked = check('diff --git a/x b/y z', 'similarity index 100%', 'rename from x', 'rename to y z');
  expect(checked).toMatchObject({ kind: 'accepted', paths: ['x', 'y z'] });
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

test('a diff without prefixes is refused', () => {
  const refused =
    'The diff at line 1 has no prefixes a/ and b/; make it with git diff --src-prefix=a/ --dst-prefix=b/.';
  expect(reasonOf(...edit('sys/x.c', 'sys/x.c'))).toBe(refused);
  expect(reasonOf(...edit('i/sys/x.c', 'w/sys/x.c'))).toBe(refused);
  expect(reasonOf(...edit('a/x.c', 'a/x.c'))).toBe(refused);
  expect(reasonOf('--- sys/x.c\t(revision 1)', '+++ sys/x.c\t(working copy)', ...hunk)).toBe(refused);
});

// Attack run/diff-outside: A diff writes outside the tree, by `..` or a rename. Defence: It is refused before git reads
// it.
test.each([
  ['a/../x', 'b/../x'],
  ['a/sys/../../x', 'b/sys/../../x'],
  ['a//etc/passwd', 'b//etc/passwd'],
  ['a/./x', 'b/./x'],
  ['a/.git/hooks/post-checkout', 'b/.git/hooks/post-checkout'],
  ['a/sys/.GIT/config', 'b/sys/.GIT/config'],
  ['"a/x\\ny"', '"b/x\\ny"'],
  ['"a/\\056\\056/x"', '"b/\\056\\056/x"'],
])('the path in %s is refused', (old, new_) => {
  expect(reasonOf(...edit(old, new_))).toMatch(/^The diff changes ".+", which is not a file of the tree; /);
});

test('a path that is not UTF-8 is refused', () => {
  expect(reasonOf(...edit('"a/\\351"', '"b/\\351"'))).toBe('The name of the file \uFFFD is not UTF-8; rename it.');
});

// Attack run/diff-outside
test('a rename to outside of the tree is refused', () => {
  const rename = (to: string) => reasonOf(`diff --git a/x b/${to}`, 'rename from x', `rename to ${to}`);
  expect(rename('../y')).toMatch('which is not a file of the tree');
  expect(rename('"\\056git/config"')).toMatch('which is not a file of the tree');
});

test('one file under two names is refused where it is not renamed', () => {
  expect(reasonOf('diff --git a/x b/x', '--- a/x', '+++ b/y', ...hunk)).toBe(
    'The diff uses several names for one file, x and y; send the output of git diff.',
  );
  expect(reasonOf('diff --git a/x b/y', 'old mode 100644', 'new mode 100755')).toBe(
    'Line 1 of the diff names two files without a rename.',
  );
});

test.each([
  ['new file mode 120000', 'a symbolic link'],
  ['deleted file mode 120000', 'a symbolic link'],
  ['index 5626abf..f719efd 120000', 'a symbolic link'],
  ['new mode 120000', 'a symbolic link'],
  ['new file mode 160000', 'a submodule'],
  ['index 5626abf..f719efd 160000', 'a submodule'],
  ['new file mode 104755', 'of mode 104755'],
])('"%s" is refused', (mode, what) => {
  expect(reasonOf('diff --git a/x b/x', mode, '--- a/x', '+++ b/x', ...hunk)).toBe(
    `The diff changes x, which is ${what}; only regular files are accepted.`,
  );
});

// Attack run/diff-mode: A diff makes a link or a submodule, by a mode followed by a blank, a tab or a CR. Defence:
// Modes are parsed as git parses them, and the tree that git made is checked too.
test.each(['120000 ', '120000\t', '120000\r', '120000 100644', ' 120000', '+120000', '0120000', '\t00120000\v'])(
  'a mode is read as git does: %j',
  (mode) => {
    for (const start of ['new file mode', 'new mode', 'index 5626abf..f719efd']) {
      expect(reasonOf('diff --git a/x b/x', `${start} ${mode}`, '--- a/x', '+++ b/x', ...hunk)).toBe(
        'The diff changes x, which is a symbolic link; only regular files are accepted.',
      );
    }
  },
);

test.each(['-100644', 'x', '9', '100644x'])('a mode that git does not read is refused: %j', (mode) => {
  expect(reasonOf('diff --git a/x b/x', `new mode ${mode}`)).toBe(
    `The diff changes x, which is of mode ${mode}; only regular files are accepted.`,
  );
});

describe('the result of git for a diff', () => {
  const raw = (...changes: [modes: string, path: string][]) =>
    changes.map(([modes, path]) => `:${modes} 1a2b3c 4d5e6f M\0${path}\0`).join('');

  test('is accepted if exactly the named files changed, and all are plain', () => {
    const made = raw(['100644 100755', 'a'], ['000000 100644', 'b'], ['100644 000000', 'c\n:d']);
    expect(changesAsListed(['a', 'b', 'c\n:d'], made)).toEqual({ kind: 'as-said' });
    expect(changesAsListed([], '')).toEqual({ kind: 'as-said' });
  });

  // Attack run/diff-mode
  test.each([
    ['000000 120000', 'a symbolic link'],
    ['120000 100644', 'a symbolic link'],
    ['100644 160000', 'a submodule'],
    ['000000 040000', 'of mode 040000'],
    ['100644 100664', 'of mode 100664'],
  ])('is refused where it is no plain file, against the text of the diff: %s', (modes, what) => {
    expect(changesAsListed(['a', 'x'], raw(['100644 100644', 'a'], [modes, 'x']))).toEqual({
      kind: 'refused',
      reason: `The diff changes x, which is ${what}; only regular files are accepted.`,
    });
  });
});

test.each([['GIT binary patch'], ['Binary files a/x and b/x differ'], ['Binary files /dev/null and b/x differ']])(
  '"%s" is refused',
  (line) => {
    expect(reasonOf('diff --git a/x b/x', 'index 5626abf..f719efd', line)).toBe(
      'The diff changes the binary file x; only text files are accepted.',
    );
  },
);

test('a diff that changes nothing is refused', () => {
  for (const text of ['', 'Hello\n']) {
    expect(checkDiff(Buffer.from(text))).toEqual({
      kind: 'refused',
      reason: 'The diff changes no file; send the output of git diff.',
    });
  }
});

test('a hunk that is cut off is refused, by the lines of its start and end', () => {
  expect(reasonOf('diff --git a/x b/x', '--- a/x', '+++ b/x', '@@ -1,3 +1,3 @@', ' one')).toBe(
    'The hunk at line 4 of the diff is cut off at line 6.',
  );
  expect(reasonOf('--- a/x', '+++ b/x', '@@ -1,3 +1,3 @@', ' one', 'diff --git a/y b/y')).toBe(
    'The hunk at line 3 of the diff is cut off at line 5.',
  );
});

test('a file that is changed twice is refused, for git does not go by their order', () => {
  expect(reasonOf(...edit('a/x', 'b/x'), ...edit('a/y', 'b/y'), ...edit('a/x', 'b/x'))).toBe(
    'The diff changes x twice; send one diff of the whole change, as git diff makes it.',
  );
});

test('a hunk of no file is refused', () => {
  expect(reasonOf(...hunk)).toMatch(/^Line 1 of the diff starts a hunk without a file; /);
  expect(reasonOf('diff --git a/x b/x', ...hunk)).toMatch(/^Line 2 of the diff /);
});

test('a diff with the line ends of DOS throughout is refused', () => {
  const text = edit('a/x', 'b/x').join('\r\n');
  expect(checkDiff(Buffer.from(text))).toEqual({
    kind: 'refused',
    reason: 'The lines of the diff end in CR LF; send it with the line endings that git wrote.',
  });
});

test('a diff is refused beyond 5 MB, and beyond 2,000 files', () => {
  expect(checkDiff(Buffer.alloc(5_000_001, 'x'))).toMatchObject({
    kind: 'refused',
    reason: 'The diff has 5000001 bytes, but at most 5000000 are accepted; split it.',
  });
  const files = (count: number) =>
    check(...Array.from({ length: count }, (_, index) => edit(`a/${index}`, `b/${index}`)).flat());
  expect(files(2000).kind).toBe('accepted');
  expect(files(2001)).toMatchObject({ kind: 'refused' });
});

test('a diff of five million bytes is read in seconds', () => {
  const head = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n';
  expect(checkDiff(Buffer.from(head + '@@ -1 +1 @@\n-a\n+b\n'.repeat(250_000))).kind).toBe('accepted');
  expect(checkDiff(Buffer.from(`${'--- a/x\n'.repeat(600_000)}`)).kind).toBe('refused');
});

test('nothing in a diff makes it throw', () => {
  const piece = fc.constantFrom(
    'diff --git ',
    'a/x',
    ' b/x',
    '"',
    '\\',
    '--- ',
    '+++ ',
    '/dev/null',
    '\n',
    '\n@@ -1,2 +1 @@\n',
    '-',
    '+',
    ' ',
    'rename from ',
    'rename to ',
    'new file mode 120000',
    '\r',
    '\t',
    '\0',
    'é',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      expect(['accepted', 'refused']).toContain(checkDiff(Buffer.from(pieces.join(''))).kind);
    }),
  );
});
