// The rule from evidence to a verdict, at one look and over all of them.
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { analysesOf, type Design, type InterimAnalysis } from '../../../src/analysis/stats/design.ts';
import {
  type Bounds,
  boundsOf,
  type Evidence,
  type Measurement,
  type Noise,
  pairedEvidence,
  pooledEvidence,
} from '../../../src/analysis/stats/evidence.ts';
import { judgeAnalysis, judgeInOrder, type Rule, type Verdict } from '../../../src/analysis/stats/judge.ts';
import type { Metric } from '../../../src/model/metric.ts';
import { designNames } from '../../../src/model/result.ts';
import { expectOutputs } from '../../fakes/golden-lines.ts';

const levels = { falseAlarms: 0.001, misses: 0.05, outside: 0.025 };
const byPps: Rule = { metric: 'pps', marginRatio: 0.02 };
const byTime: Rule = { ...byPps, metric: 'nsPerPacket' };

/** Changes as ratios to base: −0.02 is 2 % less. */
type Range = readonly [low: number, high: number];

/** Verdict if the change is surely within `sure`, and except for a miss within `likely`. */
function judgeRanges(sure: Range, likely: Range, rule: Rule): Verdict {
  const bounds = ([low, high]: Range): Bounds => ({ low: Math.log1p(low), high: Math.log1p(high) });
  return judgeAnalysis((level) => bounds(level === levels.misses ? likely : sure), levels, rule);
}

test('golden/verdicts.txt has the verdict of each pair of ranges, the sure and the likely one, at a margin of 2 %', async () => {
  await expectOutputs(join(import.meta.dirname, 'golden/verdicts.txt'), (input) => {
    const [metric, ...changes] = input.split(' ');
    const [a = 0, b = 0, c = 0, d = 0] = changes.map(Number);
    return [judgeRanges([a, b], [c, d], metric === 'pps' ? byPps : byTime)];
  });
});

describe('analyses are taken in order', () => {
  const analyses = [2, 3, 4, 5].map((pairs): InterimAnalysis => ({ pairs, levels }));
  const certain = (change: number): Evidence => ({
    method: 'pooled',
    base: 1e6,
    effect: Math.log1p(change),
    standardError: 1e-4,
    degreesOfFreedom: 10,
  });
  const unsure: Evidence = {
    method: 'pooled',
    base: 1e6,
    effect: 0,
    standardError: 1,
    degreesOfFreedom: 10,
  };

  test('the first that decides is the last', () => {
    const asked: number[] = [];
    const evidenceAt = (pairs: number) => {
      asked.push(pairs);
      return pairs === 3 ? certain(-0.1) : unsure;
    };
    const judgement = judgeInOrder(analyses, evidenceAt, byPps);
    expect(judgement).toEqual({
      verdict: 'regression',
      analysis: analyses[1],
      evidence: certain(-0.1),
    });
    expect(asked).toEqual([2, 3]);
  });

  test('without a decision the last one is reported', () => {
    const judgement = judgeInOrder(analyses, () => unsure, byPps);
    expect(judgement).toEqual({ verdict: 'inconclusive', analysis: analyses[3], evidence: unsure });
  });

  test('without any evidence there is no verdict', () => {
    expect(judgeInOrder(analyses, () => undefined, byPps)).toBeUndefined();
  });
});

type Sample = { base: Measurement[]; patched: Measurement[] };
type Setup = Pick<Design, 'method' | 'name'> & { earlier: Noise };

const pairCount = 12;
/** Fine enough, and rare enough at its ends, that no verdict depends on the rounding of a tie. */
const within = (limit: number): fc.Arbitrary<number> =>
  fc.noBias(fc.integer({ min: -1e8, max: 1e8 })).map((x) => (limit * x) / 1e8);
const errors = fc.array(within(0.02), { minLength: pairCount, maxLength: pairCount });
const change = within(0.08);
const sample = fc.tuple(errors, errors, change).map(([base, patched, effect]) =>
  inAbbas(
    base.map((x) => 1e6 * Math.exp(x)),
    patched.map((x) => 1e6 * Math.exp(effect + x)),
  ),
);
const setup: fc.Arbitrary<Setup> = fc.record({
  method: fc.constantFrom('paired', 'pooled'),
  name: fc.constantFrom(...designNames),
  earlier: fc.constantFrom({ sumOfSquares: 0, degreesOfFreedom: 0 }, { sumOfSquares: 4e-4, degreesOfFreedom: 4 }),
});

/** Runs in the order of a schedule. */
function inAbbas(base: readonly number[], patched: readonly number[]): Sample {
  const trialOf = (index: number, isFirst: boolean) => 2 * index + ((index % 2 === 0) === isFirst ? 1 : 2);
  return {
    base: base.map((value, index) => ({ value, trial: trialOf(index, true) })),
    patched: patched.map((value, index) => ({ value, trial: trialOf(index, false) })),
  };
}

const evidenceOf = ({ base, patched }: Sample, { method, earlier }: Setup): Evidence =>
  method === 'pooled'
    ? pooledEvidence(base, patched, earlier)
    : pairedEvidence(base.map(({ value }, index) => ({ base: value, patched: patched[index]?.value ?? 0 })));

const looksFor = ({ name, method }: Setup): InterimAnalysis[] =>
  analysesOf(
    { name, method, budgets: [pairCount], pairsPerStep: 1 },
    { falseAlarms: 0.01, misses: 0.05, outside: 0.025 },
  );

/** The verdict of each look alone; `arrange` may change the runs of every look. */
function verdicts(
  { base, patched }: Sample,
  how: Setup,
  { metric = 'pps', arrange = (runs) => runs }: { metric?: Metric; arrange?: Arrange } = {},
): Verdict[] {
  return looksFor(how).map(({ pairs, levels }) => {
    const runs = arrange({ base: base.slice(0, pairs), patched: patched.slice(0, pairs) });
    const boundsAt = (level: number) => boundsOf(evidenceOf(runs, how), level);
    return judgeAnalysis(boundsAt, levels, { ...byPps, metric });
  });
}

type Arrange = (runs: Sample) => Sample;

const mapRuns = ({ base, patched }: Sample, map: (value: number) => number): Sample => ({
  base: base.map((run) => ({ ...run, value: map(run.value) })),
  patched: patched.map((run) => ({ ...run, value: map(run.value) })),
});

describe('at every look of every design, of pairs and of boots, the verdict', () => {
  test('does not depend on the unit of the runs', () => {
    fc.assert(
      fc.property(sample, setup, fc.constantFrom(1e-6, 1e-3, 8, 512), (runs, how, factor) => {
        const scaled = mapRuns(runs, (run) => run * factor);
        expect(verdicts(scaled, how)).toEqual(verdicts(runs, how));
      }),
    );
  });

  test('does not depend on the order in which pairs, or the boots of each variant, are listed', () => {
    fc.assert(
      fc.property(sample, setup, (runs, how) => {
        const arrange: Arrange = ({ base, patched }) => ({
          base: base.toReversed(),
          patched: how.method === 'paired' ? patched.toReversed() : [...patched.slice(1), ...patched.slice(0, 1)],
        });
        expect(verdicts(runs, how, { arrange })).toEqual(verdicts(runs, how));
      }),
    );
  });

  test('by time per packet is the one by packets per second', () => {
    fc.assert(
      fc.property(sample, setup, (runs, how) => {
        const times = mapRuns(runs, (pps) => 1e9 / pps);
        expect(verdicts(times, how, { metric: 'nsPerPacket' })).toEqual(verdicts(runs, how));
      }),
    );
  });

  test('of base as a patch of patched is the mirror image: a regression where that is an improvement', () => {
    const isClear = (verdict: Verdict) => verdict === 'regression' || verdict === 'improvement';
    const mirror = (verdict: Verdict) => {
      if (!isClear(verdict)) return 'neither';
      return verdict === 'regression' ? 'improvement' : 'regression';
    };
    let clear = 0;
    fc.assert(
      fc.property(sample, setup, (runs, how) => {
        const there = verdicts(runs, how);
        const back = verdicts({ base: runs.patched, patched: runs.base }, how);
        expect(back.map((verdict) => (isClear(verdict) ? verdict : 'neither'))).toEqual(there.map(mirror));
        clear += there.filter(isClear).length;
      }),
    );
    expect(clear).toBeGreaterThan(100);
  });
});

test('finds a loss of half at the first analysis, with and without history, where boots deviate by up to 1 %', () => {
  const boots = fc.array(within(0.01), { minLength: pairCount, maxLength: pairCount });
  fc.assert(
    fc.property(boots, boots, setup, (base, patched, how) => {
      const pooled: Setup = { ...how, method: 'pooled' };
      const { base: ofBase, patched: ofPatched } = inAbbas(
        base.map((x) => 1e6 * (1 + x)),
        patched.map((x) => 5e5 * (1 + x)),
      );
      const firstRuns = (pairs: number): Sample => ({
        base: ofBase.slice(0, pairs),
        patched: ofPatched.slice(0, pairs),
      });
      const analyses = looksFor(pooled);
      const judgement = judgeInOrder(analyses, (pairs) => evidenceOf(firstRuns(pairs), pooled), byPps);
      expect(judgement).toMatchObject({
        verdict: 'regression',
        analysis: { pairs: analyses[0]?.pairs },
      });
    }),
  );
});
