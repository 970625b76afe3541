import { describe, expect, test } from 'vitest';
import { argument, escaped, manualPage } from '../../docs/generators/manual-page.ts';
import { makeProgram } from '../../src/cli/program.ts';

const file = '../../docs/ppsgate.1';

test('docs/ppsgate.1 is generated from the help of the commands', async () => {
  await expect(manualPage(makeProgram())).toMatchFileSnapshot(file);
});

describe('a line of roff', () => {
  test.each([
    ['.Sh NAME', '\\&.Sh NAME'],
    ["'tis", "\\&'tis"],
    ['a \\n b \\', 'a \\en b \\e'],
    ['--no-idle', '\\-\\-no\\-idle'],
    ['5 × …', '5 \\[u00D7] \\[u2026]'],
  ])('prints %j', (line, expected) => {
    expect(escaped(line)).toBe(expected);
  });
});

test.each(['Ar', ',', '|', 'a "b" c'])('%j is no macro and no punctuation to one', (word) => {
  expect(argument(word)).toMatch(/^"\\&[^"]*"$/);
});
