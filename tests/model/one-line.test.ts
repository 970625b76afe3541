import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fileReasonOf } from '../../src/model/one-line.ts';

const errorOf = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

test("a file's error is shortened to its reason, as the sentence names the file", () => {
  const missing = errorOf(() => readFileSync('/nowhere/lab, open.yml'));
  expect(fileReasonOf(missing)).toBe('ENOENT: no such file or directory');
  expect(fileReasonOf(errorOf(() => readFileSync('/')))).toBe('EISDIR: illegal operation on a directory');
});

test('another error keeps its whole message', () => {
  expect(fileReasonOf(new Error('it has 3 lines, and 4 are needed'))).toBe('it has 3 lines, and 4 are needed');
});
