// Evidence of runs for a change: neighbours by ranks, boots by Student's test, both in logarithms.
import fc from 'fast-check';
import { sumNthPowerDeviations } from 'simple-statistics';
import { describe, expect, test } from 'vitest';
import {
  type Bounds,
  boundsOf,
  type Evidence,
  type Measurement,
  moderated,
  type Pair,
  pairedEvidence,
  pooledEvidence,
  priorNoise,
} from '../../../src/analysis/stats/evidence.ts';
import { compare } from '../../../src/analysis/stats/ministat.ts';

const speed = fc.double({ min: 1, max: 1e9, noNaN: true });
const ratio = fc.double({ min: 0.7, max: 1.4, noNaN: true });
const pair = fc.tuple(speed, ratio).map(([base, change]): Pair => ({ base, patched: base * change }));
const pairs = fc.array(pair, { minLength: 9, maxLength: 40 });
const level = fc.constantFrom(0.1, 0.025, 0.005);

const sample = fc.record({
  base: fc.array(ratio, { minLength: 2, maxLength: 12 }),
  patched: fc.array(ratio, { minLength: 2, maxLength: 12 }),
});
/** Runs of both variants in any order of measuring. */
const boots = sample.chain(({ base, patched }) => {
  const trials = Array.from({ length: base.length + patched.length }, (_, index) => index + 1);
  return fc.shuffledSubarray(trials, { minLength: trials.length }).map((order) => ({
    base: atTrials(order, base),
    patched: atTrials(order.slice(base.length), patched),
  }));
});
/** Three pairs or more, each second one in the reversed order of the one before it. */
const abbas = fc.array(fc.tuple(ratio, ratio, fc.boolean()), { minLength: 3, maxLength: 12 }).map((drawn) => {
  const isBaseFirst = (index: number) => (drawn[index - (index % 2)]?.[2] ?? false) === (index % 2 === 0);
  return {
    base: drawn.map(([value], index) => ({
      value,
      trial: 2 * index + (isBaseFirst(index) ? 1 : 2),
    })),
    patched: drawn.map(([, value], index) => ({
      value,
      trial: 2 * index + (isBaseFirst(index) ? 2 : 1),
    })),
  };
});
const history = fc.option(
  fc.record({
    sumOfSquares: fc.double({ min: 1e-6, max: 0.1, noNaN: true }),
    degreesOfFreedom: fc.integer({ min: 1, max: 40 }),
  }),
  { nil: undefined },
);

/** Runs whose trials are unknown. */
const measured = (values: readonly number[]): Measurement[] => values.map((value) => ({ value }));

/** Runs of 1000 · e^x. */
const runs = (...logarithms: number[]): number[] => logarithms.map((x) => 1000 * Math.exp(x));
const pairsOf = (...logarithms: number[]): Pair[] => runs(...logarithms).map((patched) => ({ base: 1000, patched }));

function atTrials(trials: readonly (number | undefined)[], values: readonly number[]): Measurement[] {
  return values.map((value, index) => ({ value, trial: trials[index] }));
}

const squaresAround = (values: number[]): number => sumNthPowerDeviations(values, 2);

const expectBounds = (actual: Bounds, expected: Bounds): void => {
  expect(actual.low).toBeCloseTo(expected.low, 9);
  expect(actual.high).toBeCloseTo(expected.high, 9);
};
const mirrored = ({ low, high }: Bounds): Bounds => ({ low: -high, high: -low });
const moved = ({ low, high }: Bounds, by: number): Bounds => ({ low: low + by, high: high + by });

describe('of pairs', () => {
  test('six at 95 % are all within the bounds, and fewer give no bounds', () => {
    const evidence = pairedEvidence(pairsOf(-0.1, 0.1, -0.1, -0.3, -0.1, -0.1));
    expect(evidence).toMatchObject({ method: 'paired', base: 1000 });
    expect(evidence.effect).toBeCloseTo(-0.1, 12);
    expectBounds(boundsOf(evidence, 0.025), { low: -0.3, high: 0.1 });

    const fewer = pairedEvidence(pairsOf(-0.1, 0.1, -0.1, -0.3, -0.1));
    expect(boundsOf(fewer, 0.025)).toEqual({ low: -Infinity, high: Infinity });
  });

  test('neither a slowdown of both runs nor their order matters', () => {
    const slowness = fc.double({ min: 0.01, max: 100, noNaN: true });
    const slowed = fc.array(fc.tuple(pair, slowness), { minLength: 9, maxLength: 40 });
    fc.assert(
      fc.property(slowed, level, (sets, sure) => {
        const before = pairedEvidence(sets.map(([one]) => one));
        const after = pairedEvidence(
          sets.map(([{ base, patched }, by]) => ({ base: base * by, patched: patched * by })).toReversed(),
        );
        expectBounds(boundsOf(after, sure), boundsOf(before, sure));
      }),
    );
  });
});

describe('of boots', () => {
  const base = measured(runs(-0.01, 0, 0.01));
  const patched = measured(runs(-0.06, -0.05, -0.04));
  /** The standard error of three and three boots whose logarithms deviate by 1 %. */
  const standardError = 0.01 * Math.sqrt(2 / 3);

  test('the bounds are Student’s, around the difference of the mean logarithms', () => {
    const evidence = pooledEvidence(base, patched);
    expect(evidence).toMatchObject({ method: 'pooled', degreesOfFreedom: 4 });
    expect(evidence.base).toBeCloseTo(1000, 9);
    expect(evidence.effect).toBeCloseTo(-0.05, 12);
    const reach = 2.7764451052 * standardError;
    expectBounds(boundsOf(evidence, 0.025), { low: -0.05 - reach, high: -0.05 + reach });
  });

  test('they are the ones of ministat of the logarithms, but for the decimals of its table', () => {
    fc.assert(
      fc.property(sample, (sets) => {
        fc.pre(sets.base.length >= 3 && sets.patched.length >= 3);
        const logarithms = (name: 'base' | 'patched') => ({
          name,
          values: Float64Array.from(sets[name], Math.log),
        });
        const [published] = compare([logarithms('base'), logarithms('patched')]).differences;
        const evidence = pooledEvidence(measured(sets.base), measured(sets.patched));
        const { low, high } = boundsOf(evidence, 0.025);
        expect((low + high) / 2).toBeCloseTo(published?.difference ?? Number.NaN, 9);
        const error = published?.error ?? Number.NaN;
        expect(Math.abs((high - low) / 2 - error)).toBeLessThanOrEqual(error * 3e-4 + 1e-9);
      }),
    );
  });

  test('a prior adds its squares and degrees of freedom, however far it differs', () => {
    // 0.0004 of 4 degrees are ours, 0.0005 of 6 are earlier.
    const earlier = { sumOfSquares: 0.0005, degreesOfFreedom: 6 };
    const evidence = pooledEvidence(base, patched, earlier);
    expect(evidence.effect).toBeCloseTo(-0.05, 12);
    const reach = 2.228138852 * Math.sqrt((0.0009 / 10) * (2 / 3));
    expectBounds(boundsOf(evidence, 0.025), { low: -0.05 - reach, high: -0.05 + reach });
    for (const deviation of [1e-6, 1]) {
      const other = { sumOfSquares: 4 * deviation ** 2, degreesOfFreedom: 4 };
      expect(pooledEvidence(base, patched, other)).toMatchObject({ degreesOfFreedom: 8 });
    }
  });

  test('one of each gives no bounds, and with earlier noise the bounds that it allows', () => {
    const [one, other] = [[{ value: 1000 }], [{ value: 900 }]];
    const unbounded = { low: -Infinity, high: Infinity };
    expect(boundsOf(pooledEvidence(one, other), 0.4)).toEqual(unbounded);

    const earlier = { sumOfSquares: 0.0009, degreesOfFreedom: 9 };
    const reach = 2.2621571628 * 0.01 * Math.SQRT2;
    const { low, high } = boundsOf(pooledEvidence(one, other, earlier), 0.025);
    expect((high - low) / 2).toBeCloseTo(reach, 9);
  });

  test('neither the unit nor the order of the list matters', () => {
    fc.assert(
      fc.property(boots, history, speed, level, (sets, earlier, unit, sure) => {
        const turned = (own: Measurement[]) => own.toReversed().map((run) => ({ ...run, value: run.value * unit }));
        const before = pooledEvidence(sets.base, sets.patched, earlier);
        const after = pooledEvidence(turned(sets.base), turned(sets.patched), earlier);
        expectBounds(boundsOf(after, sure), boundsOf(before, sure));
        expect(after.base / before.base / unit).toBeCloseTo(1, 9);
      }),
    );
  });
});

describe('of boots in the order of measuring', () => {
  test('is the regression of the logarithms on variant and trial', () => {
    // Slope of 0.01 per trial, and residuals 0, 0.003, −0.003 of base and −0.001, 0.002, −0.001 of patched.
    const base = atTrials([1, 4, 5], runs(0.01, 0.043, 0.047));
    const patched = atTrials([2, 3, 6], runs(-0.031, -0.018, 0.009));
    const evidence = pooledEvidence(base, patched);
    expect(evidence).toMatchObject({ method: 'pooled', degreesOfFreedom: 3 });
    // The normal equations: trials deviate by −7/3, 2/3, 5/3 and −5/3, −2/3, 7/3.
    const square = 52 / 3;
    const product = (-7 * 0.01 + 2 * 0.043 + 5 * 0.047) / 3 + (-5 * -0.031 - 2 * -0.018 + 7 * 0.009) / 3;
    const slope = product / square;
    const effect = (-0.031 - 0.018 + 0.009) / 3 - 0.1 / 3 - slope / 3;
    expect(evidence.effect).toBeCloseTo(effect, 12);
    const squares = squaresAround([0.01, 0.043, 0.047]) + squaresAround([-0.031, -0.018, 0.009]);
    const variance = (squares - slope * product) / 3;
    const error = Math.sqrt(variance * (2 / 3 + 1 / 9 / square));
    const reach = 3.1824463053 * error;
    expectBounds(boundsOf(evidence, 0.025), { low: effect - reach, high: effect + reach });
  });

  test('a linear drift over ABBAs changes nothing, from three pairs on', () => {
    const drift = fc.double({ min: -0.1, max: 0.1, noNaN: true });
    fc.assert(
      fc.property(abbas, history, drift, level, (sets, earlier, perTrial, sure) => {
        const drifting = (own: Measurement[]) =>
          own.map((run) => ({ ...run, value: run.value * Math.exp(perTrial * (run.trial ?? 0)) }));
        const before = pooledEvidence(sets.base, sets.patched, earlier);
        const after = pooledEvidence(drifting(sets.base), drifting(sets.patched), earlier);
        expectBounds(boundsOf(after, sure), boundsOf(before, sure));
      }),
    );
  });

  test.for([
    ['is unknown for a run', [1, 4, 5], [2, undefined, 6]],
    ['does not differ among the runs of a variant', [7, 7, 7], [8, 8, 8]],
    ['does not differ at all', [7, 7, 7], [7, 7, 7]],
  ] as const)('the trial is ignored where it %s', ([, ofBase, ofPatched]) => {
    const [base, patched] = [runs(-0.01, 0, 0.02), runs(-0.06, -0.05, -0.04)];
    const evidence = pooledEvidence(atTrials(ofBase, base), atTrials(ofPatched, patched));
    expect(evidence).toEqual(pooledEvidence(measured(base), measured(patched)));
  });

  test('the trial is ignored where one variant was measured wholly before the other', () => {
    const few = fc.integer({ min: 3, max: 6 }).chain((count) => {
      const values = fc.array(ratio, { minLength: count, maxLength: count });
      return fc.tuple(values, values);
    });
    fc.assert(
      fc.property(few, ([base, patched]) => {
        const inARow = pooledEvidence(
          base.map((value, index) => ({ value, trial: index + 1 })),
          patched.map((value, index) => ({ value, trial: base.length + index + 1 })),
        );
        expect(inARow).toEqual(pooledEvidence(measured(base), measured(patched)));
      }),
    );
  });
});

describe('earlier sessions', () => {
  const noise = fc.record({
    sumOfSquares: fc.double({ min: 1e-9, max: 0.1, noNaN: true }),
    degreesOfFreedom: fc.integer({ min: 1, max: 200 }),
  });
  const ofSessions = fc.option(fc.double({ min: 0.5, max: 16, noNaN: true }), { nil: undefined });

  test('keep their pooled variance, with no more degrees of freedom than their variances have', () => {
    fc.assert(
      fc.property(noise, ofSessions, (own, sessionDegreesOfFreedom) => {
        const earlier = sessionDegreesOfFreedom === undefined ? own : { ...own, sessionDegreesOfFreedom };
        const prior = moderated(earlier);
        expect(prior.degreesOfFreedom).toBe(Math.min(own.degreesOfFreedom, sessionDegreesOfFreedom ?? 4));
        const ratio = prior.sumOfSquares / prior.degreesOfFreedom / (own.sumOfSquares / own.degreesOfFreedom);
        expect(ratio).toBeCloseTo(1, 9);
      }),
    );
  });

  test('count for four degrees of freedom in a test, and no margin is added to them', () => {
    const earlier = { sumOfSquares: 24 * 0.01 ** 2, degreesOfFreedom: 24 };
    const prior = priorNoise(earlier, 0.02);
    expect(prior.degreesOfFreedom).toBe(4);
    expect(prior.sumOfSquares).toBeCloseTo(4 * 0.01 ** 2, 12);
  });

  test('of fewer than four degrees of freedom are widened by a tenth of the margin, twice', () => {
    expect(priorNoise(undefined, 0.02).degreesOfFreedom).toBe(0);
    expect(priorNoise(undefined, 0.02).sumOfSquares).toBeCloseTo(2 * 0.002 ** 2, 12);
    const few = { sumOfSquares: 3e-6, degreesOfFreedom: 3 };
    expect(priorNoise(few, 0.02).degreesOfFreedom).toBe(3);
    expect(priorNoise(few, 0.02).sumOfSquares).toBeCloseTo(3e-6 + 2 * 0.002 ** 2, 12);
  });
});

describe('of pairs and of boots', () => {
  type Taken = { factor?: number; isSwapped?: boolean };
  /** Evidence of a sample, its patched runs faster by a factor, or the two variants swapped. */
  const anyEvidence: fc.Arbitrary<(taken?: Taken) => Evidence> = fc.oneof(
    pairs.map((sets) => (taken?: Taken) => {
      const { factor = 1, isSwapped = false } = taken ?? {};
      const both = sets.map(({ base, patched }) => ({ base, patched: patched * factor }));
      return pairedEvidence(isSwapped ? both.map(({ base, patched }) => ({ base: patched, patched: base })) : both);
    }),
    fc.tuple(boots, history).map(([sets, earlier]) => (taken?: Taken) => {
      const { factor = 1, isSwapped = false } = taken ?? {};
      const both = [sets.base, sets.patched.map((run) => ({ ...run, value: run.value * factor }))] as const;
      const [base, patched] = isSwapped ? [both[1], both[0]] : both;
      return pooledEvidence(base, patched, earlier);
    }),
  );

  test('swapping base and patched gives the mirror image', () => {
    fc.assert(
      fc.property(anyEvidence, level, (evidenceOf, sure) => {
        const [there, back] = [evidenceOf(), evidenceOf({ isSwapped: true })];
        expect(back.effect).toBeCloseTo(-there.effect, 9);
        expectBounds(boundsOf(back, sure), mirrored(boundsOf(there, sure)));
      }),
    );
  });

  test('a factor on patched moves the bounds by its logarithm', () => {
    fc.assert(
      fc.property(anyEvidence, ratio, level, (evidenceOf, factor, sure) => {
        const bounds = moved(boundsOf(evidenceOf(), sure), Math.log(factor));
        expectBounds(boundsOf(evidenceOf({ factor }), sure), bounds);
      }),
    );
  });

  test('bounds get wider the surer they have to be', () => {
    fc.assert(
      fc.property(anyEvidence, level, (evidenceOf, sure) => {
        const [narrow, wide] = [boundsOf(evidenceOf(), sure), boundsOf(evidenceOf(), sure / 3)];
        expect(wide.low).toBeLessThanOrEqual(narrow.low);
        expect(wide.high).toBeGreaterThanOrEqual(narrow.high);
      }),
    );
  });
});
