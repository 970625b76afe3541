// Tests output equal to ministat's. Debian's ministat is older, and the reference for what is unchanged since.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  compare,
  type MinistatOptions,
  type MinistatSet,
  ministatPieces,
  renderMinistat,
} from '../../../src/analysis/stats/ministat.ts';
import { formatGeneral } from '../../../src/analysis/stats/printf.ts';
import { confidencePercents } from '../../../src/analysis/stats/student.ts';
import { UsageError } from '../../../src/model/usage-error.ts';
import { describeWith } from '../../needs.ts';
import { times } from '../../random.ts';

const set = (name: string, ...values: number[]): MinistatSet => ({
  name,
  values: Float64Array.from(values),
});
const base = set('base', 12, 19, 15, 15, 13);
const patched = set('patched', 14, 23, 19, 19, 19, 21, 18);

const same = set('same', 5, 5, 5);
const low = [0, 100];
/** Earlier sets are higher, then lower than the last one, whose height the plot has. */
const heights = {
  lower: [set('a', 50, 50, 50, ...low), set('b', 1, 50, 99)],
  wiped: [set('a', 50, 50, 50, ...low), set('b', 0, 50, 100), set('c', 100, 100, 100, 50, 0)],
};

const texts: Record<string, [MinistatSet[], MinistatOptions]> = {
  'a bar for each set': [[base, patched], { width: 40, separateBars: true }],
  'bars over each other': [[base, patched], { width: 40 }],
  'no difference proven': [[base, patched], { confidencePercent: 98, withoutPlot: true }],
  'summaries only, -n': [[base, patched], { summariesOnly: true }],
  'no names and heads, -q': [[base], { quiet: true, summariesOnly: true }],
  'a whole population, -P': [[base, patched], { population: true, quiet: true, withoutPlot: true }],
  'all values the same': [[same, same], {}],
  'relative to nothing': [[set('zero', -1, 0, 1), set('ten', 9, 10, 11)], {}],
  'a last set that is lower': [heights.lower, { width: 3 }],
  'earlier dots that are wiped': [heights.wiped, { width: 3 }],
};

describe('the text', () => {
  test('of each option is that of golden/ministat.txt', async () => {
    const all = Object.entries(texts).map(([name, [sets, options]]) => `# ${name}\n${renderMinistat(sets, options)}`);
    await expect(all.join('\n')).toMatchFileSnapshot('golden/ministat.txt');
  });

  test('is printed in pieces short enough to write if the plot is as long as the data', () => {
    const values = new Float64Array(1_000_000).fill(1);
    values[0] = 0;
    const pieces = [...ministatPieces([{ name: 'tall', values }])];
    expect(pieces.join('').split('\n').length).toBe(999_999 + 7);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(1_100_000);
  });
});

describe('the numbers', () => {
  test('take the mean of the two middle values as the median of an even count', () => {
    expect(compare([set('even', 4, 1, 3, 2)]).summaries[0]?.median).toBe(2.5);
  });

  test('are all there also where the text leaves them out', () => {
    const { differences } = compare([base, set('like it', 12, 19, 15, 15, 14)]);
    expect(differences).toEqual([
      {
        name: 'like it',
        difference: expect.closeTo(0.2, 10),
        error: expect.closeTo(3.8171, 3),
        relativeDifferencePercent: expect.closeTo(1.3514, 3),
        relativeErrorPercent: expect.closeTo(25.975, 2),
        pooledStddev: expect.closeTo(2.6173, 3),
        significant: false,
      },
    ]);
  });

  test('add up in the order read, as ministat does, so that three times 0.1 deviates', () => {
    expect(compare([set('tenths', 0.1, 0.1, 0.1)]).summaries[0]?.stddev).toBeGreaterThan(0);
  });

  test('are refused with one sentence for fewer than three values, no set, or an eighth', () => {
    const refusal = (sets: MinistatSet[]) => {
      try {
        compare(sets);
        return 'accepted';
      } catch (error) {
        return error instanceof UsageError ? error.message : 'another error';
      }
    };
    expect(refusal([base, set('b.pps', 1, 2)])).toBe(
      'b.pps holds 2 of the at least 3 numbers that a standard deviation needs: measure more often.',
    );
    expect(refusal([])).toMatch(/^There is nothing to compare/);
    expect(refusal(Array.from({ length: 8 }, () => base))).toMatch(/^There are 8 sets/);
    expect(refusal(Array.from({ length: 7 }, () => base))).toBe('accepted');
  });
});

describe('a number', () => {
  test.each([
    [-0, '-0'],
    [999999.5, '1e+06'],
    [5e-324, '4.94066e-324'],
    [Infinity, 'inf'],
    [-Infinity, '-inf'],
    [NaN, 'nan'],
  ])('is printed as C prints it: %s', (value, text) => {
    expect(formatGeneral(value, 6)).toBe(text);
  });

  test('halfway between two digits is rounded to the even one, as in C but not in JavaScript', () => {
    expect(formatGeneral(33143336.5, 8)).toBe('33143336');
    expect(formatGeneral(33143337.5, 8)).toBe('33143338');
    expect(formatGeneral(0.15000000000000002, 2)).toBe('0.15');
    expect(formatGeneral(2.5000001, 7)).toBe('2.5');
  });
});

describe('laws', () => {
  const named = (lists: readonly (readonly number[])[]) => lists.map((values, index) => set(`set ${index}`, ...values));

  test('a higher confidence never proves a difference that a lower one did not', () => {
    const close = fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 3, maxLength: 60 });
    fc.assert(
      fc.property(close, close, (first, second) => {
        const proven = confidencePercents.map(
          (confidencePercent) => compare(named([first, second]), { confidencePercent }).differences[0]?.significant,
        );
        expect(proven).toEqual(proven.toSorted((a, b) => Number(b) - Number(a)));
      }),
    );
  });
});

describeWith(['ministat'], "Debian's ministat", () => {
  test('prints the same plots, summaries, differences and errors', () => {
    // Odd counts and small numbers: its median is another for even ones, its variance loses digits of large ones.
    const odd = fc.integer({ min: 1, max: 40 }).chain((half) =>
      fc.array(fc.integer({ min: -30, max: 60 }), {
        minLength: 2 * half + 1,
        maxLength: 2 * half + 1,
      }),
    );
    const inputs = fc.record({
      lists: fc.array(odd, { minLength: 1, maxLength: 7 }),
      width: fc.integer({ min: 2, max: 90 }),
      separateBars: fc.boolean(),
      confidencePercent: fc.constantFrom(...confidencePercents),
    });

    fc.assert(
      fc.property(inputs, ({ lists, ...options }) => {
        const debian = debianMinistat(lists, [
          `-w${options.width}`,
          `-c${options.confidencePercent}`,
          ...(options.separateBars ? ['-s'] : []),
        ]);
        const sets = lists.map((values, index) => set(String(index), ...values));
        expect(withoutRelative(renderMinistat(sets, options))).toEqual(withoutRelative(debian));
      }),
      { numRuns: times(30) },
    );
  });

  test('prints any number the same, exact halves included', () => {
    const halves = fc.integer({ min: -99_999_999, max: 99_999_999 }).map((whole) => whole + 0.5);
    const doubles = fc.double({ noNaN: true, noDefaultInfinity: true }).filter(hasNoLostSign);
    const numbers = fc.oneof(halves, doubles);
    fc.assert(
      fc.property(fc.array(numbers, { minLength: 7, maxLength: 7 }), (values) => {
        const lists = values.map((value) => [value, value, value]);
        const minima = debianMinistat(lists, ['-n'])
          .split('\n')
          .filter((line) => /^\S {3}3 /.test(line))
          .map((line) => line.split(/ +/)[2]);
        expect(minima).toEqual(values.map((value) => formatGeneral(value, 8)));
      }),
      { numRuns: times(20) },
    );
  });
});

/** JavaScript writes -0 as 0, so that the file would hold another number. */
const hasNoLostSign = (value: number): boolean => !Object.is(value, -0);

const withoutRelative = (text: string): string[] => text.split('\n').filter((line) => !/% \+\/- /.test(line));

function debianMinistat(lists: readonly (readonly number[])[], args: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-test-'));
  try {
    const files = lists.map((_, index) => String(index));
    for (const [index, values] of lists.entries()) {
      writeFileSync(join(folder, String(index)), values.join('\n'));
    }
    return execFileSync('ministat', [...args, ...files], { cwd: folder, encoding: 'utf8' });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
