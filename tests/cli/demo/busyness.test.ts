import { describe, expect, test } from 'vitest';
import { warningOf } from '../../../src/cli/demo/busyness.ts';

const times = (busy: number, idle: number) => ({
  times: { user: busy / 2, nice: busy / 4, sys: busy / 8, irq: busy / 8, idle },
});

/** CPUs that were busy for these shares of a second. */
const warning = (...shares: number[]) =>
  warningOf(
    shares.map(() => times(5000, 70_000)),
    shares.map((share) => times(5000 + share * 1000, 70_000 + (1 - share) * 1000)),
  );

describe('a machine', () => {
  test('on which no other program runs is not busy', () => {
    expect(warning(0.02, 0.05)).toBeUndefined();
    expect(warning(0.1)).toBeUndefined();
  });

  test('with busy CPUs is reported, with the consequence and the remedy', () => {
    expect(warning(1, 0.96)).toBe(
      'this machine is busy: other programs use 98 % of its 2 CPUs, but the lab needs 2; stop them or wait, or the demo takes longer and may end without a verdict',
    );
    expect(warning(1, 0)).toContain('use 50 % of its 2 CPUs');
    expect(warning(0.5)).toContain('use 50 % of its 1 CPUs, but the lab needs 1; stop them');
  });

  test('with two idle CPUs is not, however many are busy', () => {
    expect(warning(1, 1, 1, 0.1, 0.1)).toBeUndefined();
    expect(warning(1, 1, 1, 0.1, 0.6)).toBeDefined();
  });

  test('whose clock stood still, or that got a CPU since, is not', () => {
    expect(warningOf([times(7, 9)], [times(7, 9)])).toBeUndefined();
    expect(warningOf([], [times(900, 0), times(900, 0)])).toBeUndefined();
  });
});
