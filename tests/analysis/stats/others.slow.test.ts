// Variants that are measured beside base and patched: shown, and without influence on the verdict.
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { describe, expect, test } from 'vitest';
import { standardNormal } from '../../../bench/normal.ts';
import { boundsOf, pooledEvidence, priorNoise } from '../../../src/analysis/stats/evidence.ts';
import { schedule } from '../../../src/gate/experiment/schedule.ts';
import type { CellResult, Run } from '../../../src/model/result.ts';
import { judgeCell, singleRunDesign } from '../../fakes/cell.ts';
import { aRun, forwarding, pairedRuns, unfit } from '../../fakes/result.ts';

const design: CellResult['design'] = {
  name: 'fixed',
  budgets: [8],
  pairsPerStep: 1,
  method: 'pooled',
};

const base = [800e3, 801e3, 799e3, 802e3, 798e3, 800e3, 801e3, 799e3];
const pair = pairedRuns(base, base.toReversed());

const beside = (values: readonly number[], changes: Partial<Run> = {}): Run[] =>
  values.map((pps, index) => aRun({ number: 100 + index, pair: index + 1, variant: 'diff 80345', pps, ...changes }));

const half = base.map((value) => value / 2);

const judge = (runs: Run[]) => judgeCell(runs, {}, { design, closedPairs: 8 });

const comparisonsOf = (runs: Run[]) => judge([...pair, ...runs]).others[0]?.comparisons;

describe('an earlier diff', () => {
  test('is compared with base at the plain confidence level, and changes nothing of patched', () => {
    const alone = judge(pair);
    const both = judge([...pair, ...beside(half)]);
    expect({ ...both, others: [], runs: [] }).toEqual({ ...alone, others: [], runs: [] });
    expect(both.others).toMatchObject([
      { variant: 'diff 80345', comparisons: [{ metric: 'pps', baseRuns: 8, patchedRuns: 8 }] },
    ]);
    const [comparison] = both.others[0]?.comparisons ?? [];
    expect(comparison?.interval.change).toBeCloseTo(-0.5, 3);
    expect(comparison?.patched).toBeCloseTo((comparison?.base ?? 0) / 2, -3);
    const measured = (values: readonly number[]) => values.map((value) => ({ value }));
    const evidence = pooledEvidence(measured(base), measured(half), priorNoise(undefined, 0.02));
    const { low, high } = boundsOf(evidence, 0.05);
    expect(comparison?.interval.low).toBeCloseTo(Math.expm1(low), 12);
    expect(comparison?.interval.high).toBeCloseTo(Math.expm1(high), 12);
  });

  test('without a counted run has no number, and does not make a cell invalid', () => {
    const holes = beside(half, { validity: unfit('a hole in diff 80345') });
    expect(comparisonsOf(holes)).toEqual([]);
    const few = pair.map((run) => ({ ...run, validity: unfit('idle', 'generator-limited') }));
    const { verdict } = judge([...few, ...holes, ...holes]);
    expect(verdict).toEqual({ kind: 'invalid', reason: 'idle; 0 of 8 pairs of runs count' });
  });

  test('has the runs of the pairs that patched was judged by, and not of later ones', () => {
    const values = [...half.slice(0, 2), ...base.slice(2)];
    const quick = judgeCell(
      [...pairedRuns(base, half), ...beside(values)],
      {},
      { design: singleRunDesign, closedPairs: 8 },
    );
    expect(quick.pairs).toBe(2);
    expect(quick.others[0]?.comparisons[0]).toMatchObject({ baseRuns: 2, patchedRuns: 2 });
  });
});

describe('with two earlier diffs beside them, of which one is far slower', () => {
  const experiments = 1000;
  /** Once in 30,000 times it is more. */
  const atMost = (share: number) => share + 4 * Math.sqrt((share * (1 - share)) / experiments);

  const speeds = (effect: number) =>
    new Map([
      ['base', 1],
      ['patched', 1 + effect],
      ['diff 80345', 0.5],
      ['diff 80654', 1],
    ]);

  /** Single runs in the order of a schedule, with 1 % of noise. */
  function simulated(effect: number, seed: number): Run[] {
    const random = xoroshiro128plus(seed);
    // The first numbers of neighbouring seeds are alike.
    for (let skipped = 0; skipped < 20; skipped += 1) standardNormal(random);
    const truth = speeds(effect);
    const request = { cells: [forwarding], variants: [...truth.keys()], runsPerTrial: 1, seed };
    return schedule({ ...request, runsPerVariant: 20 }).flatMap(({ number, runs }) =>
      runs.map((run) => {
        const own = truth.get(run.variant) ?? 1;
        const pps = 8e5 * own * Math.exp(0.01 * standardNormal(random));
        return aRun({ ...run, trial: number, pps });
      }),
    );
  }

  const cells = (effect: number) => Array.from({ length: experiments }, (_, seed) => simulated(effect, seed));

  test('the 95 % interval of an earlier diff misses its true change in little more than one of twenty, though base helped to end the runs', () => {
    const rules = { confidenceRatio: 0.95 };
    const missed = cells(-0.01).filter((runs) => {
      const { others } = judgeCell(runs, rules, { design: singleRunDesign, closedPairs: 20 });
      const [comparison] = others.find(({ variant }) => variant === 'diff 80654')?.comparisons ?? [];
      return comparison === undefined || comparison.interval.low > 0 || comparison.interval.high < 0;
    });
    expect(missed.length / experiments).toBeLessThanOrEqual(atMost(0.07));
    expect(missed.length).toBeGreaterThan(0);
  });
});
