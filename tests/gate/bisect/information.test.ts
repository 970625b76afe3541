import fc from 'fast-check';
import { expect, test } from 'vitest';
import { informationOf } from '../../../src/gate/bisect/information.ts';

test('a boot with a certain answer yields the entropy of the question, however small its chance', () => {
  const entropyOf = (p: number) => -p * Math.log2(p) - (1 - p) * Math.log2(1 - p);
  for (const probability of [0.5, 0.2, 0.01, 0.004, 0.001, 1e-6]) {
    const ratio = informationOf(probability, 10) / entropyOf(probability);
    expect(ratio).toBeGreaterThan(0.94);
    expect(ratio).toBeLessThan(1.06);
  }
});

test('the answer and its opposite yield the same information', () => {
  fc.assert(
    fc.property(
      fc.double({ min: 1e-6, max: 0.5, noNaN: true }),
      fc.double({ min: 0, max: 12, noNaN: true }),
      (probability, distance) => {
        const [one, other] = [probability, 1 - probability].map((p) => informationOf(p, distance));
        expect(Math.abs((one ?? 0) - (other ?? 0))).toBeLessThan(0.02);
      },
    ),
  );
});

test('certainty yields nothing', () => {
  expect(informationOf(0, 5)).toBe(0);
  expect(informationOf(1, 5)).toBe(0);
});
