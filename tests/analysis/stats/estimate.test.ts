// Estimates the change without the bias of stopping, inside an interval that holds at any stop.
import fc from 'fast-check';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import type { RandomGenerator } from 'pure-rand/types/RandomGenerator';
import { mean, sumNthPowerDeviations } from 'simple-statistics';
import { describe, expect, test } from 'vitest';
import { type Design, looksOf } from '../../../src/analysis/stats/design.ts';
import { unbiasedEffect } from '../../../src/analysis/stats/estimate.ts';
import {
  boundsOf,
  type Evidence,
  type Noise,
  pairedEvidence,
  pooledEvidence,
} from '../../../src/analysis/stats/evidence.ts';
import { type Judgement, judgeInOrder, type Rule } from '../../../src/analysis/stats/judge.ts';
import { standardNormal } from '../../../src/analysis/stats/normal.ts';
import { times } from '../../random.ts';

const confidence = 0.95;
const rates = { falseAlarms: 0.01, misses: 0.05, outside: (1 - confidence) / 2 };
const rule: Rule = { metric: 'pps', marginRatio: 0.02 };
const budget = 20;

const likelihoodWithHistory = { name: 'glr', method: 'pooled', earlierRuns: 10 } as const;
const sequential = { name: 'group-sequential', method: 'pooled', earlierRuns: 0 } as const;
const sequentialOfPairs = { name: 'group-sequential', method: 'paired', earlierRuns: 0 } as const;

type Setup = Pick<Design, 'name' | 'method'> & { earlierRuns: number };
/** The change as a natural logarithm, and the deviation of the logarithms of runs. */
type Truth = { effect: number; deviation: number };

const looksFor = ({ name, method, earlierRuns }: Setup) =>
  looksOf(
    {
      name,
      method,
      budgets: [budget],
      pairsPerStep: 1,
      earlierDegreesOfFreedom: Math.max(0, earlierRuns - 1),
    },
    rates,
  );

function experiment(how: Setup, truth: Truth, random: RandomGenerator): Judgement {
  const draw = (count: number, effect = 0) =>
    Array.from({ length: count }, () => effect + truth.deviation * standardNormal(random));
  const earlier = noiseOf(draw(how.earlierRuns));
  const base = draw(budget).map(Math.exp);
  const patched = draw(budget, truth.effect).map(Math.exp);
  const evidenceAt = (pairs: number): Evidence =>
    how.method === 'pooled'
      ? pooledEvidence(base.slice(0, pairs), patched.slice(0, pairs), earlier)
      : pairedEvidence(
          base.slice(0, pairs).map((one, index) => ({ base: one, patched: patched[index] ?? 0 })),
        );
  const judgement = judgeInOrder(looksFor(how), evidenceAt, rule);
  if (judgement === undefined) throw new Error('There is evidence at every look.');
  return judgement;
}

const noiseOf = (logarithms: readonly number[]): Noise | undefined =>
  logarithms.length < 2
    ? undefined
    : {
        sumOfSquares: sumNthPowerDeviations(logarithms, 2),
        degreesOfFreedom: logarithms.length - 1,
      };

/** Evidence of a standard error that boots of a deviation of 1 % leave after so many pairs. */
const seenAfter = (pairs: number, effect: number): Evidence => ({
  method: 'pooled',
  base: 1e6,
  effect,
  standardError: 0.01 * Math.sqrt(2 / pairs),
  degreesOfFreedom: 2 * pairs + 7,
});

function judgementAt(index: number, effect: number): Judgement {
  const look = looksFor(likelihoodWithHistory).at(index);
  if (look === undefined) throw new RangeError(`There is no look ${index}.`);
  return { verdict: 'regression', look, evidence: seenAfter(look.pairs, effect) };
}

describe('the interval, whichever look an experiment stopped at,', () => {
  test.for<[string, Setup, number]>([
    ['a likelihood ratio with history and no change', likelihoodWithHistory, 0],
    ['a likelihood ratio with history and half the margin lost', likelihoodWithHistory, -0.01],
    ['a likelihood ratio with history and the margin lost', likelihoodWithHistory, -0.02],
    ['a likelihood ratio with history and a great loss', likelihoodWithHistory, -0.06],
    ['group-sequential looks and no change', sequential, 0],
    ['group-sequential looks and the margin lost', sequential, -0.02],
    ['group-sequential looks at pairs and the margin lost', sequentialOfPairs, -0.02],
  ])('holds the truth at least as often as it says, with %s', ([, how, effect]) => {
    const random = xoroshiro128plus(3);
    const experiments = 2000;
    let holding = 0;
    for (let count = 0; count < experiments; count++) {
      const { evidence, look } = experiment(how, { effect, deviation: 0.012 }, random);
      const { low, high } = boundsOf(evidence, look.levels.outside);
      if (low <= effect && effect <= high) holding++;
    }
    expect(holding / experiments).toBeGreaterThanOrEqual(confidence);
  });

  test('holds the change that is shown', () => {
    const looks = looksFor(likelihoodWithHistory);
    const change = fc.double({ min: -0.1, max: 0.1, noNaN: true });
    fc.assert(
      fc.property(fc.nat(looks.length - 1), change, (index, effect) => {
        const judgement = judgementAt(index, effect);
        const { low, high } = boundsOf(judgement.evidence, judgement.look.levels.outside);
        const shown = unbiasedEffect(judgement, looks, rule);
        expect(shown).toBeGreaterThanOrEqual(low);
        expect(shown).toBeLessThanOrEqual(high);
      }),
      { numRuns: times(20) },
    );
  });
});

describe('the change that is shown', () => {
  test.for<[string, Setup, number]>([
    ['a likelihood ratio with history', likelihoodWithHistory, 80],
    ['group-sequential looks', sequential, 200],
  ])(
    'is on average less than half as wrong as the one that was seen, with %s',
    ([, how, corrected]) => {
      const { seen, shown } = meanErrors(how, { effect: -0.02, deviation: 0.01 }, corrected);
      expect(seen).toBeLessThan(-0.0008);
      expect(Math.abs(shown)).toBeLessThan(Math.abs(seen) / 2);
    },
  );

  test.for([0, -0.03])(
    'of pairs, whose ranks decide nothing at the early looks, is on average right to the twentieth of a per cent, where the truth is %d',
    (effect) => {
      const { shown } = meanErrors(sequentialOfPairs, { effect, deviation: 0.01 }, 50);
      expect(Math.abs(shown)).toBeLessThan(0.0005);
    },
  );

  test('is nearer to no change where a loss ended the experiment at once', () => {
    const looks = looksFor(likelihoodWithHistory);
    const shown = unbiasedEffect(judgementAt(0, -0.035), looks, rule);
    expect(shown).toBeGreaterThan(-0.034);
    expect(shown).toBeLessThan(-0.033);
  });

  test('is the one that was seen where there was but one look', () => {
    const fixed = looksFor({ ...likelihoodWithHistory, name: 'fixed' });
    const judgement = judgementAt(-1, -0.03);
    expect(unbiasedEffect(judgement, fixed, rule)).toBe(-0.03);
  });

  test('is the one that was seen where every such experiment ends at its first look', () => {
    const looks = looksFor(likelihoodWithHistory);
    for (const effect of [Math.log(0.5), Math.log(2)]) {
      expect(unbiasedEffect(judgementAt(0, effect), looks, rule)).toBeCloseTo(effect, 12);
    }
  });

  test('of time per packet is the mirror image of the one of packets per second', () => {
    const looks = looksFor(likelihoodWithHistory);
    for (const effect of [-0.03, -0.02, 0]) {
      const pps = unbiasedEffect(judgementAt(1, effect), looks, rule);
      const time = unbiasedEffect(judgementAt(1, -effect), looks, {
        ...rule,
        metric: 'nsPerPacket',
      });
      expect(time).toBeCloseTo(-pps, 12);
      expect(Math.abs(pps - effect)).toBeGreaterThan(1e-4);
    }
  });

  test('is the one that was seen where nothing is known of its error', () => {
    const pairs = pairedEvidence([
      { base: 1000, patched: 900 },
      { base: 1000, patched: 800 },
    ]);
    const nothingLeft: Evidence = { ...seenAfter(2, 0), effect: -Infinity };
    for (const evidence of [pairs, nothingLeft]) {
      const judgement = { ...judgementAt(0, 0), evidence };
      expect(unbiasedEffect(judgement, looksFor(sequentialOfPairs), rule)).toBe(evidence.effect);
    }
  });
});

/**
 * Mean errors of experiments: of the observed change, and of the shown one. The mean bias is taken
 * from the first `corrected` of them, as it varies less than what was seen and takes longer to compute.
 */
function meanErrors(how: Setup, truth: Truth, corrected: number): { seen: number; shown: number } {
  const random = xoroshiro128plus(3);
  const looks = looksFor(how);
  const judgements = Array.from({ length: 3000 }, () => experiment(how, truth, random));
  const seen = mean(judgements.map(({ evidence }) => evidence.effect - truth.effect));
  const taken = judgements
    .slice(0, corrected)
    .map((judgement) => judgement.evidence.effect - unbiasedEffect(judgement, looks, rule));
  return { seen, shown: seen - mean(taken) };
}
