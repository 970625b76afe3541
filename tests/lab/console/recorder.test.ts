// A console's record over boots, power cycles and the console's own faults.
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConsoleError, type OnOutput } from '../../../src/lab/console/console.ts';
import { ConsoleRecorder } from '../../../src/lab/console/recorder.ts';

/** A console that prints a test's text, opened as often as needed. */
function aConsole() {
  const opened: { onOutput: OnOutput; end: (why: string) => void; isClosed: boolean }[] = [];
  let failure: Error | undefined;
  const recorder = new ConsoleRecorder('the DUT', async (onOutput) => {
    if (failure !== undefined) throw failure;
    const { promise: ended, resolve: end } = Promise.withResolvers<string>();
    const one = { onOutput, end, isClosed: false };
    opened.push(one);
    return {
      ended,
      close: async () => {
        one.isClosed = true;
      },
    };
  });
  return {
    recorder,
    opened,
    print: (text: string) => opened.at(-1)?.onOutput(Buffer.from(text)),
    fail: (error: Error | undefined) => {
      failure = error;
    },
  };
}

describe('a record', () => {
  test('is of the boot that was begun last, up to the first power cycle', async () => {
    const { recorder, print } = aConsole();
    await recorder.beginBoot();
    print('panic: an old one\n');
    await recorder.beginBoot();
    print('hangs here\n');
    recorder.endBoot();
    print('---<<BOOT>>---\n');
    recorder.endBoot();
    print('mountroot> ');
    expect(recorder.lastWords()).toEqual({ console: 'hangs here' });
    expect(recorder.describe()).toContain('found no root file system');
  });

  test('is given out whole, each part once', async () => {
    const { recorder, print } = aConsole();
    await recorder.open();
    print('one\r\n');
    expect(recorder.takeLog().toString()).toBe('one\r\n');
    print('two\x1b[0m');
    expect(recorder.takeLog().toString()).toBe('two\x1b[0m');
    expect(recorder.takeLog()).toHaveLength(0);
  });

  test('has the newest 16 MiB of the output, however it is split', async () => {
    const size = 16 * 1024 ** 2;
    const { recorder, opened } = aConsole();
    await recorder.open();
    const all = Buffer.alloc(size + 100_001, Buffer.from(Array.from({ length: 251 }, (_, index) => index)));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 * size }), (first) => {
        recorder.takeLog();
        const one = opened.at(-1);
        one?.onOutput(all.subarray(0, first));
        one?.onOutput(all.subarray(first));
        expect(recorder.takeLog().equals(all.subarray(-size))).toBe(true);
      }),
      { numRuns: 4 },
    );
  });
});

describe('a console that fails', () => {
  test('to open is reported once, and tried again for the next boot', async () => {
    const { recorder, print, fail } = aConsole();
    fail(new ConsoleError('It cannot be opened.'));
    await recorder.beginBoot();
    await recorder.beginBoot();
    expect(recorder.takeProblems()).toEqual(['It cannot be opened.']);
    expect(recorder.lastWords()).toEqual({});
    expect(recorder.describe()).toBeUndefined();
    fail(undefined);
    await recorder.beginBoot();
    print('up\n');
    expect(recorder.lastWords()).toEqual({ console: 'up' });
    expect(recorder.takeProblems()).toEqual([]);
  });

  test('halfway is reported once, and opened again for the next boot', async () => {
    const { recorder, opened } = aConsole();
    await recorder.beginBoot();
    opened[0]?.onOutput(Buffer.from('a line\n'));
    opened[0]?.end('It has ended.');
    await Promise.resolve();
    expect(recorder.takeProblems()).toEqual(['It has ended.']);
    expect(recorder.lastWords()).toEqual({ console: 'a line' });
    await recorder.beginBoot();
    expect(opened).toHaveLength(2);
  });

  test('shortly after our own power cycle is reopened, but not a second time', async () => {
    const { recorder, opened } = aConsole();
    await recorder.beginBoot();
    await recorder.whileCycled(async () => {});
    expect(opened).toHaveLength(1);
    opened[0]?.end('cat ended with 0.');
    await setImmediate();
    expect(opened).toHaveLength(2);
    opened[1]?.end('cat ended again.');
    await setImmediate();
    expect(recorder.takeProblems()).toEqual(['cat ended again.']);
  });

  test('by being silent for a whole boot is reported, and opened again', async () => {
    const { recorder, opened } = aConsole();
    await recorder.beginBoot();
    await recorder.beginBoot();
    expect(recorder.takeProblems()).toEqual([
      'The console of the DUT showed nothing during a whole boot; check it with "ppsgate testbeds check".',
    ]);
    expect(opened.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  });
});
