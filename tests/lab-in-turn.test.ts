// Tests the order of test files that may use the machine's lab only one at a time.
import { expect, test } from 'vitest';
import { labInTurn, type TimedFile } from './lab-in-turn.ts';

const lab = (seconds: number): TimedFile => ({ seconds, isInLab: true });
const other = (seconds: number): TimedFile => ({ seconds, isInLab: false });

test('a file of the lab starts when the previous one ends, however short the others are', () => {
  const files = [lab(30), lab(20), ...Array.from({ length: 5 }, () => other(10))];
  const ordered = labInTurn(files, 2);
  // Three others fill the other process while the first is in the lab.
  expect(ordered.map(({ isInLab }) => isInLab)).toEqual([true, false, false, false, true, false, false]);
});

test('files of the lab alone keep their order, and none is lost', () => {
  const files = [lab(3), lab(2), lab(1)];
  expect(labInTurn(files, 4)).toEqual(files);
});

test('Files without the lab keep their order', () => {
  const files = [other(3), other(2), other(1)];
  expect(labInTurn(files, 2)).toEqual(files);
});
