import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { worstVerdict } from '../../../src/analysis/stats/verdict.ts';
import {
  type CellVerdict,
  type DesignName,
  designNames,
  metricSchema,
  type Policy,
  type Run,
} from '../../../src/model/result.ts';
import { judgeCell, singleRunDesign } from '../../fakes/cell.ts';
import { aCell, aRun, pairedRuns, policy, unfit } from '../../fakes/result.ts';

/** Eight pairs of paired runs were planned. */
const judge = (runs: Run[], changes: Partial<Policy> = {}, failures: string[] = []) =>
  judgeCell(
    runs,
    { ...lenient, ...changes },
    {
      failures,
      closedPairs: 8,
      design: { name: 'fixed', budgets: [8], pairsPerStep: 8, method: 'paired' },
    },
  );

/** Eight pairs are four random orders, none of which can be surer than a sixteenth. */
const lenient = { missRatio: 0.2, confidenceRatio: 0.8 };

const eight = (value: number): number[] => new Array<number>(8).fill(value);

const verdictOf = (runs: Run[], changes: Partial<Policy> = {}) => judge(runs, changes).verdict;

const value = fc.double({ min: 1000, max: 1e7, noNaN: true });
/** Fine enough, and 0 rarely enough, that no verdict depends on the rounding of a tie. */
const tenth = fc.noBias(fc.integer({ min: -1e8, max: 1e8 })).map((x) => x / 1e9);
const sample = fc.array(fc.tuple(value, tenth), { minLength: 8, maxLength: 8 }).chain((noise) =>
  tenth.map((effect) => ({
    base: noise.map(([base]) => base),
    patched: noise.map(([base, error]) => base * Math.exp(effect + error)),
  })),
);

describe('a verdict', () => {
  test.each(metricSchema.options)('by %s follows from the interval that is shown beside it', (metric) => {
    const rules = { metric, missRatio: 0.2, confidenceRatio: 0.6, falseAlarmRatio: 0.1 };
    const margin = -Math.log1p(-policy.marginRatio);
    fc.assert(
      fc.property(sample, ({ base, patched }) => {
        const runs = pairedRuns(base, patched, metric);
        const { verdict, comparisons } = judge(runs, rules);
        const { low = 0, high = 0 } = comparisons[0]?.interval ?? {};
        const [a, b] = [Math.log1p(low), Math.log1p(high)];
        const speed = metric === 'pps' ? { low: a, high: b } : { low: -b, high: -a };
        if (verdict.kind === 'no-regression') expect(speed.low).toBeGreaterThan(-margin);
        else expect(Math.min(speed.low, -speed.high)).toBeLessThanOrEqual(-margin);
        if (verdict.kind === 'regression') expect(speed.high).toBeLessThan(0);
        if (verdict.kind === 'improvement') expect(speed.low).toBeGreaterThan(0);
      }),
    );
  });

  test('has the judged metric first, then the other metrics of the runs', () => {
    const runs = pairedRuns(eight(8e5), eight(7e5)).map((run) => ({
      ...run,
      nsPerPacket: 1e9 / run.pps,
    }));
    const counted = runs.map((run) => ({ ...run, instructionsPerPacket: 1e10 / run.pps }));
    const metrics = (runs: Run[], metric: Policy['metric']) =>
      judge(runs, { metric }).comparisons.map((comparison) => comparison.metric);
    expect(metrics(runs, 'pps')).toEqual(['pps', 'nsPerPacket']);
    expect(metrics(runs, 'nsPerPacket')).toEqual(['nsPerPacket', 'pps']);
    expect(metrics(counted, 'pps')).toEqual(['pps', 'nsPerPacket', 'instructionsPerPacket']);
    expect(metrics(counted, 'instructionsPerPacket')).toEqual(['instructionsPerPacket', 'pps', 'nsPerPacket']);
  });

  test('rests on runs that agree to the last instruction', () => {
    const count = (base: number, patched: number) =>
      judge(pairedRuns(eight(base), eight(patched), 'instructionsPerPacket'), {
        metric: 'instructionsPerPacket',
        falseAlarmRatio: 0.1,
      });
    expect(count(8314, 8314).verdict).toEqual({ kind: 'no-regression' });
    const { verdict, comparisons } = count(8000, 8320);
    expect(verdict).toEqual({ kind: 'regression' });
    const { change, low, high } = comparisons[0]?.interval ?? expect.fail('It was compared.');
    for (const one of [change, low, high]) expect(one).toBeCloseTo(0.04, 9);
  });
});

describe('a pair counts', () => {
  const good = pairedRuns(eight(8e5), eight(8e5));
  const isLastPatched = (run: Run) => run.pair === 8 && run.variant === 'patched';

  test('when both its runs are valid; with one too few the cell is invalid', () => {
    const hole = unfit('no packet was forwarded for 20 ms');
    const runs = good.map((run) => (isLastPatched(run) ? { ...run, validity: hole } : run));
    expect(verdictOf(good).kind).toBe('no-regression');
    expect(verdictOf(runs)).toEqual({
      kind: 'invalid',
      reason: '7 of 8 pairs of runs count: no packet was forwarded for 20 ms',
    });
  });

  test('when both runs have the metric that is judged', () => {
    const runs = good.map((run) => (run.pair <= 7 ? { ...run, nsPerPacket: 1200 } : run));
    expect(verdictOf(runs, { metric: 'nsPerPacket' })).toEqual({
      kind: 'invalid',
      reason: '7 of 8 pairs of runs count: the DUT has no value of nsPerPacket',
    });
  });

  test('and if it does not, the most frequent reason is reported, also of failed trials', () => {
    const reason = (run: Run) =>
      run.pair === 1 ? unfit('no level', 'unsteady') : unfit(`no packet for ${run.number} ms`);
    const runs = good.map((run) => ({ ...run, validity: reason(run) }));
    expect(judge(runs, {}, ['no traffic']).verdict).toMatchObject({
      reason: '0 of 8 pairs of runs count: no packet for 3 ms',
    });
    expect(judge([], {}, ['no traffic']).verdict).toEqual({
      kind: 'invalid',
      reason: '0 of 8 pairs of runs count: no traffic',
    });
  });
});

test('a generator that was the limit is the first reason of an invalid cell', () => {
  const rates =
    'generator-limited: 14.82 Mpps came through in a median second, of 14.88 Mpps offered on average (99.6 %)';
  const runs = pairedRuns(eight(8e5), eight(8e5)).map((run) => ({
    ...run,
    validity: unfit(rates, 'generator-limited'),
  }));
  expect(verdictOf(runs)).toEqual({
    kind: 'invalid',
    reason: `${rates}; 0 of 8 pairs of runs count`,
  });
});

describe('a DUT that forwards nothing', () => {
  const stopped = pairedRuns(eight(8e5), eight(0));

  test.for(metricSchema.options)('when patched, is a regression of 100 %, also where %s is judged', (metric) => {
    const { verdict, comparisons } = judge(stopped, { metric });
    expect(verdict).toEqual({ kind: 'regression' });
    expect(comparisons).toEqual([
      {
        metric: 'pps',
        base: 8e5,
        patched: 0,
        baseRuns: 8,
        patchedRuns: 8,
        interval: { change: -1, low: -1, high: -1 },
      },
    ]);
  });

  test('in more than one pair of ten, is never passed over, however many pairs count', () => {
    const steady = pairedRuns(eight(8e5), eight(8e5)).map((run) => ({ ...run, trial: 2 }));
    const invalid = {
      kind: 'invalid',
      reason: expect.stringMatching(/patched forwarded nothing$/),
    };
    expect(verdictOf([...steady, ...stopped.slice(0, 2)])).toEqual(invalid);
    const { verdict, comparisons } = judge([...steady, ...stopped]);
    expect(verdict).toEqual({ kind: 'regression' });
    expect(comparisons).toMatchObject([{ patched: 0, baseRuns: 16, patchedRuns: 8 }]);
  });

  test('with base too, has lost its traffic, and no patch is blamed', () => {
    const dark = pairedRuns(eight(0), eight(0));
    expect(verdictOf(dark)).toEqual({
      kind: 'invalid',
      reason: '0 of 8 pairs of runs count: base forwarded nothing',
    });
  });
});

describe('runs of their own in which nothing is forwarded', () => {
  const speeds = (minLength: number) => fc.array(value, { minLength, maxLength: 6 });
  const singles = (base: readonly number[], patched: readonly number[]): Run[] =>
    [base, patched].flatMap((all, which) =>
      all.map((pps, index) => {
        const number = 2 * index + which + 1;
        const variant = which === 0 ? 'base' : 'patched';
        return aRun({ number, trial: number, pair: index + 1, variant, pps });
      }),
    );
  const judged = (runs: Run[], name: DesignName, closedPairs: number) =>
    judgeCell(runs, {}, { design: { ...singleRunDesign, name }, closedPairs });
  const numbersIn = (tree: unknown): number[] =>
    typeof tree === 'number'
      ? [tree]
      : tree !== null && typeof tree === 'object'
        ? Object.values(tree).flatMap(numbersIn)
        : [];

  test('are patched’s fault from the second on, regardless of base and its other runs', () => {
    fc.assert(
      fc.property(
        speeds(2),
        speeds(0),
        fc.integer({ min: 2, max: 5 }),
        fc.constantFrom(...designNames),
        fc.nat({ max: 6 }),
        (base, moving, silent, name, closedPairs) => {
          const patched = [...moving, ...new Array<number>(silent).fill(0)];
          const cell = judged(singles(base, patched), name, closedPairs);
          expect(cell.verdict).toEqual({ kind: 'regression' });
          expect(cell.comparisons).toMatchObject([
            { patched: 0, patchedRuns: silent, interval: { change: -1, low: -1, high: -1 } },
          ]);
          expect(numbersIn(cell).every(Number.isFinite)).toBe(true);
          expect(JSON.parse(JSON.stringify(cell))).toEqual(cell);
        },
      ),
    );
  });

  test('of base are never the patch’s fault, nor are those of both', () => {
    fc.assert(
      fc.property(
        speeds(0),
        fc.integer({ min: 1, max: 4 }),
        speeds(0),
        fc.constantFrom(...designNames),
        (moving, silent, forwarded, name) => {
          const zeros = new Array<number>(silent).fill(0);
          for (const patched of [forwarded, [...forwarded, ...zeros]]) {
            const cell = judged(singles([...moving, ...zeros], patched), name, 20);
            expect(cell.comparisons.map((one) => one.patched)).not.toContain(0);
            expect(numbersIn(cell).every(Number.isFinite)).toBe(true);
          }
        },
      ),
    );
    expect(judged(singles([0, 0, 0], [8e5, 8e5, 8e5]), 'group-sequential', 3).verdict).toEqual({
      kind: 'invalid',
      reason: '0 of 2 pairs of runs count: base forwarded nothing',
    });
  });

  test('once, do not count: the run is repeated, and the others are judged', () => {
    const runs = singles([8e5, 8.01e5, 7.99e5], [8e5, 0, 8.01e5]);
    expect(judged(runs, 'group-sequential', 3).verdict.kind).toBe('invalid');
    const again = aRun({ number: 4, trial: 4, attempt: 2, pair: 2, variant: 'patched' });
    const cell = judged([...runs, again], 'group-sequential', 3);
    expect(cell.verdict.kind).not.toBe('regression');
    expect(cell.comparisons).toMatchObject([{ baseRuns: 2, patchedRuns: 2 }]);
  });
});

describe('the verdict of a patch', () => {
  const cells = (...kinds: Exclude<CellVerdict['kind'], 'invalid'>[]) => kinds.map((kind) => aCell({ kind }));
  const invalid = aCell({ kind: 'invalid', reason: 'too few' });

  test('is the worst of its cells', () => {
    expect(worstVerdict([...cells('improvement', 'regression', 'inconclusive'), invalid])).toBe('regression');
    expect(worstVerdict([...cells('improvement', 'inconclusive'), invalid])).toBe('invalid');
    expect(worstVerdict(cells('improvement', 'inconclusive'))).toBe('inconclusive');
  });
});

describe('looks', () => {
  const runs = pairedRuns([800e3, 801e3, 799e3, 800e3, 802e3], [800e3, 799e3, 801e3, 400e3, 400e3]);
  const at = (closedPairs: number) => judgeCell(runs, {}, { design: singleRunDesign, closedPairs });

  test('see only the pairs that they are of, so that a cell once decided stays as it is', () => {
    expect(at(3)).toMatchObject({ verdict: { kind: 'no-regression' }, pairs: 2 });
    expect(at(5)).toMatchObject({ verdict: { kind: 'no-regression' }, pairs: 2 });
  });

  test('of single runs count a repeated run beside the one that it repeats', () => {
    const again = aRun({ number: 2, attempt: 2, variant: 'patched', pps: 800e3 });
    const { comparisons } = judgeCell([...runs, again], {}, { design: singleRunDesign, closedPairs: 3 });
    expect(comparisons[0]).toMatchObject({ baseRuns: 2, patchedRuns: 3 });
  });
});

test('the noise of earlier sessions lets two pairs show a loss', () => {
  const runs = pairedRuns([800e3, 806e3], [765e3, 771e3]);
  const history = {
    runs: 12,
    typical: 800e3,
    typicalRuns: 12,
    sumOfSquares: 11 * 0.005 ** 2,
    degreesOfFreedom: 11,
  };
  expect(judgeCell(runs, {}, { design: singleRunDesign, history })).toMatchObject({
    verdict: { kind: 'regression' },
    pairs: 2,
    history,
  });
  expect(judgeCell(runs, {}, { design: singleRunDesign }).verdict.kind).toBe('inconclusive');
});
