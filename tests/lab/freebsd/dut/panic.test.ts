import fc from 'fast-check';
import { expect, test } from 'vitest';
import { panicSince } from '../../../../src/lab/freebsd/dut/panic.ts';

const traces = (messages: readonly string[], dump?: string) => ({ dump, messages: [...messages] });

const quiet = fc.array(fc.stringMatching(/^[a-z]{0,3}$/));

test('a panic is found, however many old lines it displaced', () => {
  fc.assert(
    fc.property(quiet, quiet, fc.nat(60), (old, since, size) => {
      const all = [...old, 'panic: page fault', ...since];
      const kept = all.slice(-Math.max(size, since.length + 1));
      expect(panicSince(traces(old), traces(kept))).toBe('page fault');
    }),
  );
});

test('a panic of an earlier day is never reported for the current boot', () => {
  fc.assert(
    fc.property(quiet, quiet, quiet, fc.nat(60), (older, newer, since, size) => {
      const before = [...older, 'panic: page fault', ...newer, '---<<BOOT>>---'];
      const now = [...before, ...since].slice(-size - 1);
      expect(panicSince(traces(before), traces(now))).toBeUndefined();
    }),
  );
});

test('of two panics reports the first, which caused the other', () => {
  const now = traces(['panic: page fault', 'panic: double fault']);
  expect(panicSince(traces([]), now)).toBe('page fault');
});

test('a line may begin with the time since its boot', () => {
  expect(panicSince(traces([]), traces(['[65] panic: page fault']))).toBe('page fault');
  expect(panicSince(traces([]), traces(['[65.123456] panic: page fault']))).toBe('page fault');
});

test('a new dump names the cause of the death', () => {
  const dump = (panic: string) => `Dump header from device: /dev/ada0p3\n  Panic String: ${panic}`;
  expect(panicSince(traces([], dump('old')), traces([], dump('page fault')))).toBe('page fault');
  expect(panicSince(traces([], dump('old')), traces([], dump('old')))).toBeUndefined();
});
