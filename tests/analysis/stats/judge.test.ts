// The rule from evidence to a verdict, at one look and over all of them.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { InterimAnalysis } from '../../../src/analysis/stats/design.ts';
import type { Bounds, Evidence } from '../../../src/analysis/stats/evidence.ts';
import { judgeAnalysis, judgeInOrder, type Rule, type Verdict } from '../../../src/analysis/stats/judge.ts';
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
  const evidence = (change: number, standardError: number): Evidence => ({
    method: 'pooled',
    base: 1e6,
    effect: Math.log1p(change),
    standardError,
    degreesOfFreedom: 10,
  });
  const loss = evidence(-0.1, 1e-4);
  const unsure = evidence(0, 1);

  test('the first that decides is the last', () => {
    const asked: number[] = [];
    const evidenceAt = (pairs: number) => {
      asked.push(pairs);
      return pairs === 3 ? loss : unsure;
    };
    const judgement = judgeInOrder(analyses, evidenceAt, byPps);
    expect(judgement).toEqual({ verdict: 'regression', analysis: analyses[1], evidence: loss });
    expect(asked).toEqual([2, 3]);
  });

  test('without a decision the last one is reported', () => {
    const judgement = judgeInOrder(analyses, () => unsure, byPps);
    expect(judgement).toEqual({ verdict: 'inconclusive', analysis: analyses[3], evidence: unsure });
  });

  test.each([
    ['pps', 0.021, 5],
    ['pps', 0.019, 2],
    ['nsPerPacket', -0.021, 5],
    ['nsPerPacket', -0.019, 2],
  ] as const)(
    'a change of %s by %d, which excludes a loss, passes at the analysis of %i pairs',
    (metric, change, pairs) => {
      const judgement = judgeInOrder(analyses, () => evidence(change, 0.01), { ...byPps, metric });
      expect(judgement).toMatchObject({ verdict: 'no-regression', analysis: { pairs } });
    },
  );

  test('without any evidence there is no verdict', () => {
    expect(judgeInOrder(analyses, () => undefined, byPps)).toBeUndefined();
  });
});
