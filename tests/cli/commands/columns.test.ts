// Answers in columns, as a terminal shows them.
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { columns } from '../../../src/cli/columns.ts';

describe('columns', () => {
  test('are as wide as their widest text, without blanks after the last', () => {
    expect(columns([['testbed', 'state'], ['hp', 'free', ''], ['shelf-3']])).toEqual([
      'testbed  state',
      'hp       free',
      'shelf-3',
    ]);
  });

  test.each([
    ['Chinese', '北京', 4],
    ['an emoji', '🔴a', 3],
    ['an emoji of several code points', '👩‍🔬 b', 4],
    ['a letter with its accent apart', 'ne\u0301e', 3],
  ])('begin below each other with %s in a name', (_, name, width) => {
    const blanks = ' '.repeat('plain name'.length - width);
    const rows = [
      ['plain name', 'free'],
      [name, 'free'],
    ];
    expect(columns(rows)).toEqual(['plain name  free', `${name}${blanks}  free`]);
  });

  test('begin below each other with any content', () => {
    const name = fc.string({ unit: 'grapheme' });
    fc.assert(
      fc.property(fc.array(name, { minLength: 1 }), (names) => {
        const lines = columns(names.map((one) => [one, '|']));
        const ends = lines.map((line) => stringWidth(line));
        expect(new Set(ends).size).toBe(1);
      }),
    );
  });
});
