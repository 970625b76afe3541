// Refuses profiles that would need too much memory, in a sentence, and reads all real ones.
import { describe, expect, test } from 'vitest';
import { flamegraph } from '../../../src/analysis/profile/flamegraph.ts';
import { foreignBounds, parseProfile } from '../../../src/analysis/profile/read-profile.ts';

/** Why it is refused. */
function refusalOf(text: string, bounds = foreignBounds): string {
  try {
    parseProfile(text, 'stacks.txt', bounds);
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  return '';
}

const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n');

describe('a profile of others is refused where it has', () => {
  test.each<[string, string, RegExp]>([
    ['a stack without an end, folded', `${'a;'.repeat(2000)}b 1\n`, /1,024 frames in one stack/],
    ['one of perf', `perf 1 [000] 1.5: cycles:\n${lines(2000, () => '\tff a (x)')}\n\n`, /one stack/],
    ['one of pmcstat', `100.0%  [1]  a\n${' '.repeat(2000)}100.0%  [1]  b\n`, /one stack/],
    [
      'millions of functions',
      `${lines(1000, (stack) => `${lines(200, (frame) => `f${stack}.${frame}`).replaceAll('\n', ';')} 1`)}\n`,
      /more than 100,000 different functions, and at most so many are read; profile for/,
    ],
    [
      'millions of short stacks',
      'a 1\n'.repeat(500_001),
      /more than 500,000 stacks, and at most so many are read; profile for/,
    ],
    [
      'millions of frames',
      `${lines(3000, (stack) => `${'a;'.repeat(900)}${stack} 1`)}\n`,
      /more than 2,000,000 frames in all its stacks/,
    ],
    [
      'long names that its stacks repeat',
      `100.0%  [1]  ${'a'.repeat(500_000)}\n${lines(1000, () => ' 100.0%  [1]  b')}\n`,
      /more than 67,108,864 characters in the names of all its stacks/,
    ],
    ['a line of megabytes', `a;b 1\n${'a'.repeat(2 ** 21)} 1\n`, /a line of more than 1,048,576 bytes/],
  ])('%s', (_, text, why) => {
    expect(refusalOf(text)).toMatch(why);
    expect(refusalOf(text)).toMatch(/^stacks\.txt [^\n]*\.$/);
  });
});

test('at a shell a stack may be ten times as deep, and the names as long as they are', () => {
  const own = parseProfile(`${'a;'.repeat(10_000)}b 1\n`);
  expect(own.stacks[0]?.frames).toHaveLength(10_001);
  expect(parseProfile(`a 1\n${'a'.repeat(500_000)} 1\n`).stacks).toHaveLength(2);
});

describe('a flamegraph is not drawn', () => {
  test('with names that make megabytes of markup', () => {
    const name = '"'.repeat(1000);
    const wide = lines(10_000, (stack) => `${stack}${name};${stack}${name};${name} 1`);
    expect(() => flamegraph(parseProfile(`${wide}\n`), { title: 'x' })).toThrow(
      /^A flamegraph of more than 30000000 characters is not drawn/,
    );
  });
});
