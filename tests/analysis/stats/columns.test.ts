// Tests which lines of a file of numbers are read, skipped and refused.

import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ColumnOptions, parseColumn } from '../../../src/analysis/stats/columns.ts';
import { UsageError } from '../../../src/model/usage-error.ts';

const read = (text: string, options: Partial<ColumnOptions> = {}): number[] => [
  ...parseColumn(Buffer.from(text), { name: 'a.pps', ...options }),
];

describe('lines', () => {
  test('may end in any way, the last in none', () => {
    expect(read('1\n2\r\n3 \t\r\n4')).toEqual([1, 2, 3, 4]);
  });

  test('that are empty or comments are skipped', () => {
    expect(read('# pps\n\n1\n   \n  # of run 2\n2\n')).toEqual([1, 2]);
  });
});

describe('columns', () => {
  test('are separated by any run of spaces and tabs', () => {
    expect(read(' 1 \t 2\n\t3\t4 5\n', { column: 2 })).toEqual([2, 4]);
  });

  test('after a comment began are skipped', () => {
    expect(read('1 2\n#3 4\n5 # 6\n7 8 # 9\n', { column: 2 })).toEqual([2, 8]);
  });

  test('may be separated by other characters, of which each counts', () => {
    expect(read('a,1;x\nb;;2,y\n', { column: 2, delimiters: ',;' })).toEqual([1, 2]);
  });
});

describe('numbers', () => {
  test.each([
    ['0', 0],
    ['-0', -0],
    ['+3', 3],
    ['.5', 0.5],
    ['-.5', -0.5],
    ['5.', 5],
    ['007', 7],
    ['1e6', 1e6],
    ['1.5E-3', 0.0015],
    ['33143336.25', 33143336.25],
    ['0.1', 0.1],
    ['9007199254740993', 9007199254740992],
    ['123456789012345678901234567890', 1.2345678901234568e29],
    ['0.00000000000000000001', 1e-20],
    ['1e-400', 0],
    ['0x1F', 31],
    ['-0x.8p4', -8],
  ])('may be spelled %s', (text, value) => {
    expect(read(text)).toEqual([value]);
  });

  test('are read to the bit as JavaScript reads them, however they are spelled', () => {
    const spelled = fc
      .tuple(fc.double({ min: -1e300, max: 1e300, noNaN: true }), fc.nat(20))
      .chain(([value, digits]) => fc.constantFrom(String(value), value.toFixed(digits), value.toExponential(digits)));
    fc.assert(
      fc.property(fc.array(spelled), (texts) => {
        expect(read(texts.join('\n'))).toEqual(texts.map(Number));
      }),
    );
  });

  test('of up to fifteen digits are read to the bit, with the point in any place', () => {
    fc.assert(
      fc.property(fc.nat(999_999_999_999_999), fc.nat(15), (digits, decimals) => {
        const padded = String(digits).padStart(decimals, '0');
        const text = `-${padded.slice(0, padded.length - decimals)}.${padded.slice(padded.length - decimals)}`;
        expect(read(text)).toEqual([Number(text)]);
      }),
    );
  });

  test.each(['foo', '1x', '1e', '1e+', '.', '-', '1.2.3', '1,5', '5#', '0b1', '0x', '1_0', 'nan', '١'])(
    'are not spelled %s',
    (text) => {
      expect(() => read(`1\n\n${text} 2\n`)).toThrow(
        new UsageError(
          `Line 3 of a.pps holds "${text}" where a number belongs: correct it, begin the line with #, or choose another column with -C.`,
        ),
      );
    },
  );

  test.each(['inf', '-Infinity', '1e999'])('that are infinite like %s are refused', (text) => {
    expect(() => read(`${text}\n`)).toThrow(`Line 1 of a.pps holds "${text}", which no statistic can use:`);
  });
});
