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
  const raw =
    'diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 3\nKcmZQzWMXDv\n\nliteral 0\nHcmV?d00001\n\n';
  expect(back(raw)).toContain('GIT binary patch\nliteral 0\nHc$@<O00001\n');
  expect(back(raw)).not.toContain('KcmZQzWMXDv');
});

test('without prefixes the new path loses its first folder', () => {
  const raw = smallDiff.replaceAll(/\b[ab]\/sys/g, 'sys');
  expect(back(raw)).toContain(
    'diff --git a/sys/netinet/ip_fastfwd.c b/netinet/ip_fastfwd.c\n--- a/sys/netinet/ip_fastfwd.c\n+++ b/netinet/ip_fastfwd.c\n',
  );
});

test('bytes that are no UTF-8 are taken for Latin-1', () => {
  expect(decoded(Buffer.from('Bj\xf6rn', 'latin1'))).toBe('Björn');
  expect(decoded(Buffer.from('Björn'))).toBe('Björn');
});

test('what is no diff is refused', () => {
  expect(() => parseRawDiff('')).toThrow("Can't parse an empty diff!");
  expect(() => parseRawDiff('hello')).toThrow('Diff Parse Exception: Expected a hunk header');
});
