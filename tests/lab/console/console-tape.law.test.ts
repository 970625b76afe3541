// Panics that a flood of output has replaced on the tape.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConsoleTape } from '../../../src/lab/console/console-tape.ts';
import { lastWords } from '../../../src/lab/console/console-text.ts';

const mebibyte = 1024 ** 2;
const flood = Buffer.from('if0: watchdog timeout\n'.repeat(50_000));

function tapeWith(...pieces: (string | Buffer)[]): ConsoleTape {
  const tape = new ConsoleTape(mebibyte);
  for (const piece of pieces) tape.write(Buffer.from(piece));
  return tape;
}

describe('the first panic', () => {
  test.each([
    'panic: Most recently used by none',
    'db> panic: again',
    '\x1b[1mpanic: in colours',
    'Fatal trap 12: page fault while in kernel mode',
    '[    3.141592] BUG: kernel NULL pointer dereference, address: 0000000000000008',
    '[    3.141592][   T12] Oops: 0002 [#1]',
    '[    3.141592] kernel BUG at net/core/skbuff.c:110!',
    'Kernel panic - not syncing: Fatal exception in interrupt',
  ])('is kept with what follows it, below any flood: %s', (line) => {
    const words = `${line}\r\ncpuid = 0\r\nKDB: stack backtrace:\r\n`;
    const tape = tapeWith('booting\r\n', words, flood, flood, flood);
    expect(lastWords(tape.text(), false)).toEqual({
      panic: lastWords(words, false).panic,
      console: expect.stringContaining('\ncpuid = 0\nKDB: stack backtrace:\n'),
      consoleLines: tape.text().match(/^.*\S.*$/gm)?.length,
    });
  });

  test('is kept, however its bytes are split', () => {
    const text = Buffer.from('rc: done\r\nlogin: panic: ünder load\r\ncpuid = 0\r\n');
    fc.assert(
      fc.property(fc.array(fc.nat(text.length), { maxLength: 8 }), (cuts) => {
        const places = [0, ...cuts.sort((one, other) => one - other), text.length];
        const pieces = places.slice(1).map((end, index) => text.subarray(places[index], end));
        const tape = tapeWith(...pieces, flood);
        expect(tape.text().split('\r\n')[0]).toBe('login: panic: ünder load');
      }),
      { numRuns: 20 },
    );
  });

  test('is found behind a long line and many words of false panics', () => {
    const tape = tapeWith(Buffer.alloc(3 * mebibyte, 'panic '), '\npanic: real\n', flood);
    expect(lastWords(tape.text(), false).panic).toBe('real');
  });
});

test('The text of a tape has a mebibyte at most.', () => {
  fc.assert(
    fc.property(fc.nat(2 * mebibyte), fc.nat(2 * mebibyte), (before, after) => {
      const tape = new ConsoleTape(4 * mebibyte);
      tape.write(Buffer.alloc(before, 'a'));
      tape.write(Buffer.from('\npanic: here\n'));
      tape.write(Buffer.alloc(after, 'b'));
      const text = tape.text();
      expect(text.length).toBe(Math.min(mebibyte, before + 13 + after));
      expect(text.slice(-mebibyte)).toContain('panic: here');
    }),
    {
      numRuns: 12,
      examples: [
        [0, mebibyte],
        [5, 2 * mebibyte],
        [mebibyte, mebibyte - 12],
      ],
    },
  );
});
