import { expect, test } from 'vitest';
import { smallDiff } from './calling.ts';
import { decoded, parseRawDiff, renderRawDiff } from './raw-diff.ts';

function back(raw: string): string {
  return renderRawDiff(parseRawDiff(raw));
}

const added = (path: string) =>
  `diff --git a/${path} b/${path}\nnew file mode 100644\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+x\n`;

test('a diff comes back without its index line and functions, with an empty line at its end', () => {
  const plain = smallDiff.replace(/^index.*\n/m, '').replace(/@@ ip_try.*/, '@@');
  expect(back(smallDiff)).toBe(`${plain}\n`);
});

test('files come back in reverse', () => {
  expect(back(added('a') + added('b'))).toBe(`${added('b')}${added('a')}\n`);
});

test('a binary file comes back empty', () => {
  const raw = 'diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 3\nKcmZQzWMXDv\n\nliteral 0\nHcmV?d00001\n\n';
  expect(back(raw)).toContain('GIT binary patch\nliteral 0\nHc$@<O00001\n');
  expect(back(raw)).not.toContain('KcmZQzWMXDv');
});

test('without prefixes the new path loses its first folder', () => {
  const raw = `diff --git dut/nftables.conf dut/nftables.conf
index 1a2b3c4..5d6e7f8 100644
--- dut/nftables.conf
+++ dut/nftables.conf
@@ -61,2 +61,3 @@ chain forward {
     meta l4proto 254 drop
+    meta l4proto upd drop
   }
`;
  // Recorded from a live server, shortened.
  expect(back(raw)).toBe(`diff --git a/dut/nftables.conf b/nftables.conf
--- a/dut/nftables.conf
+++ b/nftables.conf
@@ -61,2 +61,3 @@
     meta l4proto 254 drop
+    meta l4proto upd drop
   }

`);
});

test.each([
  [
    'a new file loses it on both sides',
    'new file mode 100644\n--- /dev/null\n+++ sys/net/x.c\n@@ -0,0 +1 @@\n+x\n',
    'diff --git a/net/x.c b/net/x.c\nnew file mode 100644\n--- /dev/null\n+++ b/net/x.c\n@@ -0,0 +1 @@\n+x\n\n',
  ],
  [
    'a deleted file keeps it',
    'deleted file mode 100644\n--- sys/net/x.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n',
    'diff --git a/sys/net/x.c b/sys/net/x.c\ndeleted file mode 100644\n--- a/sys/net/x.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\n',
  ],
  [
    'a file of which only the mode changes loses it on both sides',
    'old mode 100644\nnew mode 100755\n',
    'diff --git a/net/x.c b/net/x.c\nold mode 100644\nnew mode 100755\n\n',
  ],
])('without prefixes %s', (_, lines, answer) => {
  expect(back(`diff --git sys/net/x.c sys/net/x.c\n${lines}`)).toBe(answer);
});

test('without prefixes the file that a diff deletes is known to Herald by the rest of its path', () => {
  const raw =
    'diff --git sys/net/x.c sys/net/x.c\ndeleted file mode 100644\n--- sys/net/x.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n';
  expect(parseRawDiff(raw)).toMatchObject([{ oldPath: 'sys/net/x.c', path: 'net/x.c' }]);
});

test('bytes that are not UTF-8 are read as Latin-1', () => {
  expect(decoded(Buffer.from('Bj\xf6rn', 'latin1'))).toBe('Björn');
  expect(decoded(Buffer.from('Björn'))).toBe('Björn');
});

test('a text that is no diff is refused', () => {
  expect(() => parseRawDiff('')).toThrow("Can't parse an empty diff!");
  expect(() => parseRawDiff('hello')).toThrow('Diff Parse Exception: Expected a hunk header');
});
