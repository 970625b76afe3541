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
