// Degrees of freedom of the variances of sessions around that of their cell.
import fc from 'fast-check';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { describe, expect, test } from 'vitest';
import { standardNormal } from '../../../bench/normal.ts';
import type { Noise } from '../../../src/analysis/stats/evidence.ts';
import { minSessions, sessionDegreesOfFreedom } from '../../../src/analysis/stats/sessions.ts';

const most = 16;

const sessionOf = (variance: number, degreesOfFreedom = 4): Noise => ({
  sumOfSquares: variance * degreesOfFreedom,
  degreesOfFreedom,
});
const alike = (count: number): Noise[] => Array.from({ length: count }, () => sessionOf(1e-4));

const session = fc
  .tuple(fc.double({ min: -3, max: 3, noNaN: true }), fc.integer({ min: 1, max: 20 }))
  .map(([log, degreesOfFreedom]) => sessionOf(1e-4 * Math.exp(log), degreesOfFreedom));
const cells = fc.array(fc.array(session, { minLength: 2, maxLength: 8 }), {
  minLength: minSessions / 2,
  maxLength: 8,
});

describe('degrees of freedom of sessions', () => {
  test.for([
    ['it does not exist', []],
    ['there are nine', [alike(9)]],
    ['each has a cell of its own', Array.from({ length: 40 }, () => alike(1))],
    ['ten include one beside no other of its cell', [alike(9), alike(1)]],
    ['ten include one without spread', [[...alike(9), sessionOf(0)]]],
    ['ten include one of a single run', [[...alike(9), sessionOf(0, 0)]]],
  ] satisfies [string, Noise[][]][])('are unknown where %s', ([, sessions]) => {
    expect(sessionDegreesOfFreedom(sessions)).toBeUndefined();
  });

  test('are sixteen where all sessions are alike, however many', () => {
    expect(sessionDegreesOfFreedom([alike(10)])).toBe(most);
    expect(sessionDegreesOfFreedom([alike(500)])).toBe(most);
  });

  // Published values of the trigamma function at half of them: π²/2, π²/6 and π²/6 − 1.
  test.for([
    [1, Math.PI ** 2 / 2],
    [2, Math.PI ** 2 / 6],
    [4, Math.PI ** 2 / 6 - 1],
  ] as const)('are %d where log variances spread by its trigamma function', ([expected, trigamma]) => {
    const count = 12;
    // Chance's part in the spread of variances of four degrees of freedom, and one standard error of the spread.
    const seen = trigamma + Math.PI ** 2 / 6 - 1;
    const spread = seen / (1 + Math.sqrt(2 / (count - 1)));
    const deviation = Math.sqrt((spread * (count - 1)) / count);
    const sessions = Array.from({ length: count }, (_, index) =>
      sessionOf(1e-4 * Math.exp(index % 2 === 0 ? deviation : -deviation)),
    );
    expect(sessionDegreesOfFreedom([sessions])).toBeCloseTo(expected, 6);
  });

  test('are above zero and at most sixteen', () => {
    fc.assert(
      fc.property(cells, (sessions) => {
        const degrees = sessionDegreesOfFreedom(sessions);
        expect(degrees).toBeGreaterThan(0);
        expect(degrees).toBeLessThanOrEqual(most);
      }),
    );
  });

  test('do not depend on how noisy each cell is', () => {
    const factor = fc.double({ min: 1e-3, max: 1e3, noNaN: true });
    fc.assert(
      fc.property(cells, fc.array(factor, { minLength: 8, maxLength: 8 }), (sessions, factors) => {
        const scaled = sessions.map((own, cell) =>
          own.map((noise) => ({
            ...noise,
            sumOfSquares: noise.sumOfSquares * (factors[cell] ?? 1),
          })),
        );
        const ratio = (sessionDegreesOfFreedom(scaled) ?? 0) / (sessionDegreesOfFreedom(sessions) ?? 0);
        expect(ratio).toBeCloseTo(1, 6);
      }),
    );
  });

  test('never rise as sessions differ more', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: minSessions, max: 40 }),
        fc.double({ min: 0, max: 3, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (count, deviation, more) => {
          const degreesWith = (log: number) =>
            sessionDegreesOfFreedom([
              Array.from({ length: count }, (_, index) => sessionOf(1e-4 * Math.exp(index % 2 === 0 ? log : -log))),
            ]);
          expect(degreesWith(deviation + more)).toBeLessThanOrEqual((degreesWith(deviation) ?? 0) + 1e-9);
        },
      ),
    );
  });
});

describe('of drawn sessions whose variances have four degrees of freedom', () => {
  const truth = 4;
  const random = xoroshiro128plus(9);
  const chiSquare = (degreesOfFreedom: number) => {
    let squares = 0;
    for (let index = 0; index < degreesOfFreedom; index++) squares += standardNormal(random) ** 2;
    return squares;
  };
  /** Sessions of five runs, as a history has them. */
  const drawn = (count: number): Noise[] =>
    Array.from({ length: count }, () => {
      const variance = truth / chiSquare(truth);
      return { sumOfSquares: 1e-4 * variance * chiSquare(4), degreesOfFreedom: 4 };
    });

  test('many give nearly four', () => {
    const cells = Array.from({ length: 200 }, () => drawn(20));
    const degrees = sessionDegreesOfFreedom(cells);
    expect(degrees).toBeGreaterThan(0.85 * truth);
    expect(degrees).toBeLessThan(1.1 * truth);
  });
});
