// Student's t: the table ministat tests with, and exact quantiles.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatGeneral } from '../../../src/analysis/stats/printf.ts';
import {
  confidencePercents,
  criticalT,
  studentT,
  studentTail,
  studentTExact,
} from '../../../src/analysis/stats/student.ts';
import { describeWith } from '../../needs.ts';

describe("ministat's table", () => {
  test('has three decimals, from one degree of freedom on', () => {
    expect([studentT(1, 95), studentT(100, 95)]).toEqual([12.706, 1.984]);
  });

  test('has for 99.5 % what is 99.8 % two-sided, with the misprints of its source', () => {
    expect(studentT(4, 99.5)).toBe(7.173);
    expect(studentTExact(4, 0.998)).toBeCloseTo(7.1732, 4);
    expect(studentT(7, 99.5)).toBe(4.782);
    expect(studentTExact(7, 0.998)).toBeCloseTo(4.7853, 4);
  });
});

describeWith(['ministat'], "Debian's ministat", () => {
  test('prints the error of the same t for 4 to 102 degrees of freedom at every confidence', () => {
    const folder = mkdtempSync(join(tmpdir(), 'ppsgate-test-'));
    try {
      for (let n = 3; n <= 101; n += 1) writeFileSync(join(folder, String(n)), alternating(n, 100));
      writeFileSync(join(folder, 'reference'), alternating(3, 0));
      for (const percent of confidencePercents) {
        for (let n = 3; n <= 101; n += 6) {
          const files = Array.from({ length: Math.min(6, 102 - n) }, (_, more) => n + more);
          const args = ['-A', '-c', String(percent), 'reference', ...files.map(String)];
          const text = execFileSync('ministat', args, { cwd: folder, encoding: 'utf8' });
          const errors = [...text.matchAll(/^\t\S+ \+\/- ([^%\s]+)$/gm)].map(([, error]) => error);
          expect(errors).toEqual(files.map((count) => expectedError(count, percent)));
        }
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('an exact quantile', () => {
  const confidences = fc.double({ min: 1e-6, max: 1 - 1e-6, noNaN: true });

  test('of one and of two degrees of freedom is that of the closed forms', () => {
    fc.assert(
      fc.property(confidences, (confidence) => {
        expectClose(studentTExact(1, confidence), Math.tan((Math.PI * confidence) / 2));
        const two = confidence * Math.sqrt(2 / ((1 - confidence) * (1 + confidence)));
        expectClose(studentTExact(2, confidence), two);
      }),
    );
  });

  test('grows with the confidence and shrinks with the degrees of freedom', () => {
    const degrees = fc.double({ min: 0.5, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(degrees, confidences, (df, confidence) => {
        const t = studentTExact(df, confidence);
        expect(studentTExact(df, confidence + (1 - confidence) / 2)).toBeGreaterThan(t);
        expect(studentTExact(df * 2, confidence)).toBeLessThan(t);
      }),
    );
  });

  test.each([
    [0, 0.95],
    [NaN, 0.95],
    [5, 0],
    [5, 1],
  ])('does not exist for %d degrees of freedom at %d', (df, confidence) => {
    expect(() => studentTExact(df, confidence)).toThrow(RangeError);
  });
});

describe('the tail', () => {
  const anyT = fc.double({ min: 0, max: 1e3, noNaN: true });

  test('of one and of two degrees of freedom is that of the closed forms', () => {
    fc.assert(
      fc.property(anyT, (t) => {
        expectClose(studentTail(t, 1), Math.atan2(1, t) / Math.PI);
        const two = Math.sqrt(2 + t * t);
        expectClose(studentTail(t, 2), 1 / (two * (two + t)));
      }),
    );
  });

  // Printed in every table of the normal distribution.
  test.each([
    [0, 0.5],
    [1, 0.158655253931],
    [1.959963984540054, 0.025],
    [3, 0.00134989803163],
    [5, 2.86651571879e-7],
    [6, 9.86587645038e-10],
  ])('of the normal distribution beyond %d is %d', (z, tail) => {
    expect(Math.abs(studentTail(z, Infinity) / tail - 1)).toBeLessThan(2e-7);
  });
});

describe('a critical value', () => {
  test('is what is exceeded with its one-sided level', () => {
    const level = fc.double({ min: 1e-6, max: 0.49, noNaN: true });
    fc.assert(
      fc.property(fc.double({ min: 0.5, max: 1e4, noNaN: true }), level, (df, sure) => {
        expectClose(studentTail(criticalT(df, sure), df), sure);
      }),
    );
  });
});

function expectClose(actual: number, expected: number): void {
  expect(Math.abs(actual / expected - 1)).toBeLessThan(1e-9);
}

/** 0 1 0 1 …, whose variance is known: even counts deviate by n/4, odd ones by (n² − 1)/4n. */
function alternating(n: number, from: number): string {
  return Array.from({ length: n }, (_, index) => from + (index % 2)).join('\n');
}

function squares(n: number): number {
  return n % 2 === 0 ? n / 4 : (n * n - 1) / (4 * n);
}

function expectedError(n: number, percent: (typeof confidencePercents)[number]): string {
  const pooled = Math.sqrt((squares(3) + squares(n)) / (n + 1));
  return formatGeneral(studentT(n + 1, percent) * pooled * Math.sqrt(1 / 3 + 1 / n), 6);
}
