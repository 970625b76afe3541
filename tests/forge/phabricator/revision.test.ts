// Names of revisions as people and commits write them, and diffs that Phabricator is known to garble.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { whyMisleading } from '../../../src/forge/phabricator/diff.ts';
import { landedRevision, parseRevisionName, RevisionError } from '../../../src/forge/phabricator/revision.ts';

const server = 'https://reviews.example.org';

test.each([
  ['D27401', { revision: 27401 }],
  [' D27401\n', { revision: 27401 }],
  ['D27401:80677', { revision: 27401, diff: 80677 }],
  ['diff:80677', { diff: 80677 }],
  [`${server}/D27401`, { revision: 27401 }],
  [`${server}/D27401/`, { revision: 27401 }],
  [`${server}/D27401#600123`, { revision: 27401 }],
  [`${server}/D27401?id=80677`, { revision: 27401, diff: 80677 }],
  [`${server}/D27401?vs=80345&id=80677#toc`, { revision: 27401, diff: 80677 }],
  ['http://reviews.example.org/D27401', { revision: 27401 }],
  [`${server}/differential/diff/80677/`, { diff: 80677 }],
])('%j names a revision or a diff', (text, name) => {
  expect(parseRevisionName(text, server)).toEqual(name);
});

test.each([
  ...['', 'D', 'D0', 'D-1', 'D1.5', 'd27401', '27401', '#123', 'D27401:', 'D27401:x', 'diff 80677', 'diff:0'],
  ...['D27401; reboot', 'D12345678901234567890', 'https://', server],
  ...['T27401', 'D27401/x', 'D27401?id=x', 'differential/diff/x/'].map((path) => `${server}/${path}`),
])('%j names none', (text) => {
  expect(parseRevisionName(text, server)).toBeUndefined();
});

test.each(['https://phabricator.example.net/D27401', 'https://reviews.example.org:8443/D27401'])(
  'a revision of another server is refused: %s',
  (text) => {
    expect(() => parseRevisionName(text, server)).toThrow(RevisionError);
  },
);

// The line may name another server, to receive the bot's token.
test.each([
  [`Prefetch.\n\nReviewed by:\tbob\nDifferential Revision:\t${server}/D27401\n`, 27401],
  [`Take it back.\n\nDifferential Revision: ${server}/D1\nDifferential Revision: ${server}/D2`, 2],
  ['Differential Revision: https://phabricator.example.net/D27401', undefined],
  [`See Differential Revision: ${server}/D27401`, undefined],
  [`Differential Revision: ${server}/D27401 and more`, undefined],
  ['Differential Revision: D27401', undefined],
  ['', undefined],
])('a commit landed the revision of its last line, on our server: %j', (message, number) => {
  expect(landedRevision(message, server)).toBe(number);
});

test('a name is a number that can be searched for, for any text', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^(D|diff:)\d+(:\d+)?$/)), (text) => {
      for (const number of Object.values(parseRevisionName(text, server) ?? {})) {
        expect(Number.isSafeInteger(number) && Number(number) > 0).toBe(true);
      }
    }),
  );
});

const change = (line: string) => `diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,1 +1,2 @@\n${line}\n+y\n`;

test.each([
  [
    'that only mentions a binary file',
    'diff --git a/x.bin b/x.bin\nBinary files a/x.bin and b/x.bin differ\n',
    'binary-file',
  ],
  ['with a name made to be slow', `diff --git a/${' b/'.repeat(200_000)}\n`, 'without-prefixes'],
  ['with a rename in its text', change(' diff --git a/x b/y'), undefined],
  ['with a binary file in its text', change('+GIT binary patch'), undefined],
  ['with a tab of a name in its text', change('-diff --git a/t\tb b/t\tb'), undefined],
])('a diff %s is misleading: %#', (_, diff, fault) => {
  expect(whyMisleading(diff)?.fault).toBe(fault);
});

test('no diff makes reading it throw', () => {
  const lines = fc.constantFrom(
    ...['diff --git a/x b/x', 'diff --git', 'diff --git ', 'rename from x', '\t', '\u2028'],
    ...['GIT binary patch', '@@ -1 +1 @@', '-x', '+é', ' '],
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(lines, fc.string())), (each) => {
      expect(typeof (whyMisleading(each.join('\n'))?.why ?? '')).toBe('string');
    }),
  );
});
