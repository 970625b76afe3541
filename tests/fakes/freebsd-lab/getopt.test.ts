import { expect, test } from 'vitest';
import { getopt } from './getopt.ts';

test('options may be clustered, and have their values attached or apart', () => {
  expect(getopt('pmcstat', 'R:z:G:v', ['-vR', 'in', '-z16', '-G', 'out'])).toEqual({
    kind: 'parsed',
    options: [
      { name: 'v', value: '' },
      { name: 'R', value: 'in' },
      { name: 'z', value: '16' },
      { name: 'G', value: 'out' },
    ],
    operands: [],
  });
});

test('there are no options after the first operand, nor after --', () => {
  expect(getopt('rm', 'rf', ['-r', 'a', '-f'])).toMatchObject({ operands: ['a', '-f'] });
  expect(getopt('rm', 'rf', ['--', '-f'])).toMatchObject({ options: [], operands: ['-f'] });
});

test('an option that the program has not is refused, and so is one without its value', () => {
  expect(getopt('rm', 'rf', ['-rx'])).toEqual({
    kind: 'refused',
    message: 'rm: illegal option -- x',
  });
  expect(getopt('nextboot', 'k:', ['-k'])).toEqual({
    kind: 'refused',
    message: 'nextboot: option requires an argument -- k',
  });
});
