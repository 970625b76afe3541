// Reads stacks that are folded already; folding them again changes nothing.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldedLines } from '../../../src/analysis/profile/fold.ts';
import { parseProfile } from '../../../src/analysis/profile/read-profile.ts';

test('comments and blank lines are no stacks, and a comment above them may name the kernel', () => {
  const profile = parseProfile('# kernel: FreeBSD 15.0 amd64 1500\n\n# fine\na;b 1\n#\n');
  expect(profile.kernel).toBe('FreeBSD 15.0 amd64 1500');
  expect(profile.stacks).toHaveLength(1);
});

test('DOS line ends and counts behind a tab are read', () => {
  expect(fold('a;b 1\r\na;c\t2\r\n')).toEqual(['a;b 1', 'a;c 2']);
});

test('a name may end in a number where not all of them do', () => {
  expect(fold('main;worker 4 12\nmain;read 3\n')).toEqual(['main;worker 4 12', 'main;read 3']);
});

test('every line is a stack, blank or a comment, or is named in the refusal', () => {
  const stack = fc.constantFrom('a;b 1', 'main;f(int, char) 12', 'V8 Worker 2;g 3', 'a\t4');
  const nothing = fc.constantFrom('', '   ', '# a comment', '#');
  const junk = fc.constantFrom('a;b', 'a;b 1.5', 'a;b -4', 'a 1,234', 'a;b 12%', 'Warning: lost');
  const line = fc.oneof({ weight: 6, arbitrary: stack }, nothing, junk);
  fc.assert(
    fc.property(fc.array(line, { maxLength: 20 }), (others) => {
      const lines = ['a;b 1', ...others];
      const kind = (one: string) =>
        one.trim() === '' || one.startsWith('#') ? 'nothing' : /[ \t]\d+$/.test(one) ? 'stack' : 'junk';
      const firstJunk = lines.findIndex((one) => kind(one) === 'junk');
      const read = () => parseProfile(`${lines.join('\n')}\n`, 'x').stacks;
      if (firstJunk !== -1) expect(read).toThrow(`x, line ${firstJunk + 1}: `);
      else expect(read()).toHaveLength(lines.filter((one) => kind(one) === 'stack').length);
    }),
  );
});

const name = fc.string({ unit: 'grapheme', minLength: 1 }).filter(
  (text) =>
    !/[;`\p{Cc}\u2028\u2029\uFEFF]/u.test(text) &&
    text.trim() === text &&
    !text.startsWith('#') &&
    // Two counts, if every stack ends so.
    !/\s[\d.]+$/.test(text),
);
const stacks = fc.array(
  fc.record({
    frames: fc.array(fc.record({ name }), { minLength: 1, maxLength: 8 }),
    samples: fc.nat(),
  }),
  { minLength: 1, maxLength: 20 },
);

test('folding and reading gives the same stacks', () => {
  fc.assert(
    fc.property(stacks, (given) => {
      const lines = [...foldedLines({ format: 'folded', stacks: given })];
      expect(parseProfile(`${lines.join('\n')}\n`).stacks).toEqual(given);
    }),
  );
});

const fold = (text: string): string[] => [...foldedLines(parseProfile(text))];
