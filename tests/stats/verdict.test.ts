import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CellVerdict, Policy, Run } from '../../src/report/result.ts';
import { judgeCell, judgeInterval, worstVerdict } from '../../src/stats/verdict.ts';
import { aCell, aRun, forwarding, pairedRuns, policy } from '../fakes/result.ts';

const judge = (runs: Run[], changes: Partial<Policy> = {}, failures: string[] = []) =>
  judgeCell(forwarding, runs, { ...policy, ...changes }, failures);

const eight = (value: number): number[] => new Array<number>(8).fill(value);

const verdictOf = (runs: Run[], changes: Partial<Policy> = {}) => judge(runs, changes).verdict;

describe('an interval against a margin of 2 %', () => {
  test.for([
    ['wholly lost, by more than the margin', -0.1, -0.05, 'regression'],
    ['lost for sure, perhaps by the margin', -0.03, -0.001, 'regression'],
    ['lost for sure, but surely by less than the margin', -0.015, -0.005, 'no-regression'],
    ['around zero, and inside the margin', -0.015, 0.015, 'no-regression'],
    ['around zero, and wider than the margin', -0.03, 0.03, 'inconclusive'],
    ['gained for sure, but by less than the margin', 0.001, 0.015, 'no-regression'],
    ['gained for sure, perhaps by the margin', 0.001, 0.03, 'improvement'],
    ['gained by 2 %, which makes up for a loss of 1.96 %', 0.001, 0.02, 'no-regression'],
    ['gained by 2.05 %, which makes up for a loss of the margin', 0.001, 0.0205, 'improvement'],
    ['wholly gained', 0.05, 0.1, 'improvement'],
    ['exactly the margin at its end', -0.02, -0.001, 'regression'],
    ['exactly zero at its end', -0.03, 0, 'inconclusive'],
    ['no change at all, for sure', 0, 0, 'no-regression'],
  ] as const)('%s: %d … %d is %s', ([, low, high, verdict]) => {
    expect(judgeInterval({ change: (low + high) / 2, low, high }, 'pps', 0.02)).toBe(verdict);
  });

  test.for([
    ['4 to 6 % more time', 0.04, 0.06, 'regression'],
    ['1 % less to 1 % more time', -0.01, 0.01, 'no-regression'],
    ['4 to 6 % less time', -0.06, -0.04, 'improvement'],
    ['up to 3 % more time', -0.01, 0.03, 'inconclusive'],
  ] as const)('of time per packet, less is better: %s', ([, low, high, verdict]) => {
    expect(judgeInterval({ change: 0, low, high }, 'nsPerPacket', 0.02)).toBe(verdict);
  });
});

const value = fc.double({ min: 1000, max: 1e7, noNaN: true });
const sample = fc
  .array(fc.tuple(value, fc.double({ min: -0.1, max: 0.1, noNaN: true })), {
    minLength: 8,
    maxLength: 16,
  })
  .chain((noise) =>
    fc.double({ min: -0.1, max: 0.1, noNaN: true }).map((effect) => ({
      base: noise.map(([base]) => base),
      patched: noise.map(([base, error]) => base * Math.exp(effect + error)),
    })),
  );

describe('a verdict', () => {
  test('does not depend on the unit', () => {
    fc.assert(
      fc.property(sample, fc.constantFrom(1e-6, 1e-3, 8, 512), ({ base, patched }, factor) => {
        const scaled = (values: number[]) => values.map((one) => one * factor);
        expect(verdictOf(pairedRuns(scaled(base), scaled(patched)))).toEqual(
          verdictOf(pairedRuns(base, patched)),
        );
      }),
    );
  });

  test('does not depend on the order in which the pairs were run', () => {
    fc.assert(
      fc.property(sample, ({ base, patched }) => {
        const turned = pairedRuns(base.toReversed(), patched.toReversed());
        expect(verdictOf(turned)).toEqual(verdictOf(pairedRuns(base, patched)));
      }),
    );
  });

  test('of base as a patch of patched is the mirror image: a regression where that is an improvement', () => {
    const mirror: Partial<Record<CellVerdict['kind'], CellVerdict['kind']>> = {
      regression: 'improvement',
      improvement: 'regression',
    };
    fc.assert(
      fc.property(sample, ({ base, patched }) => {
        const there = verdictOf(pairedRuns(base, patched)).kind;
        const back = verdictOf(pairedRuns(patched, base)).kind;
        expect(mirror[back]).toBe(mirror[there] && there);
      }),
      { numRuns: 300 },
    );
  });

  test('by time per packet is the one by packets per second', () => {
    fc.assert(
      fc.property(sample, ({ base, patched }) => {
        const time = (values: number[]) => values.map((pps) => 1e9 / pps);
        const byTime = pairedRuns(time(base), time(patched), 'nsPerPacket');
        expect(verdictOf(byTime, { metric: 'nsPerPacket' })).toEqual(
          verdictOf(pairedRuns(base, patched)),
        );
      }),
    );
  });

  test('comes with the metric that was judged first, and the other after it', () => {
    const runs = pairedRuns(eight(8e5), eight(7e5)).map((run) => ({
      ...run,
      nsPerPacket: 1e9 / run.pps,
    }));
    const metrics = (metric: Policy['metric']) =>
      judge(runs, { metric }).comparisons.map((comparison) => comparison.metric);
    expect(metrics('pps')).toEqual(['pps', 'nsPerPacket']);
    expect(metrics('nsPerPacket')).toEqual(['nsPerPacket', 'pps']);
  });
});

describe('a pair counts', () => {
  const good = pairedRuns(eight(8e5), eight(8e5));
  const isLastPatched = (run: Run) => run.pair === 8 && run.variant === 'patched';

  test('when both its runs are valid; with one too few the cell is invalid', () => {
    const hole = { kind: 'invalid', reason: 'no packet was forwarded for 20 ms' } as const;
    const runs = good.map((run) => (isLastPatched(run) ? { ...run, validity: hole } : run));
    expect(verdictOf(good).kind).toBe('no-regression');
    expect(verdictOf(runs)).toEqual({
      kind: 'invalid',
      reason: '7 of 8 pairs of runs count: no packet was forwarded for 20 ms',
    });
  });

  test('when both runs are of the same attempt', () => {
    const runs = good.map((run) => (isLastPatched(run) ? { ...run, attempt: 2 } : run));
    expect(verdictOf(runs)).toEqual({ kind: 'invalid', reason: '7 of 8 pairs of runs count' });
  });

  test('when both runs have the metric that is judged', () => {
    const runs = good.map((run) => (run.pair <= 7 ? { ...run, nsPerPacket: 1200 } : run));
    expect(verdictOf(runs, { metric: 'nsPerPacket' })).toEqual({
      kind: 'invalid',
      reason: '7 of 8 pairs of runs count: the DUT tells no nsPerPacket',
    });
  });

  test('when patched forwards as well as base', () => {
    const runs = good.map((run) => (isLastPatched(run) ? { ...run, pps: 0 } : run));
    expect(verdictOf(runs)).toEqual({
      kind: 'invalid',
      reason: '7 of 8 pairs of runs count: patched forwarded nothing',
    });
  });

  test('and where it does not, the most frequent reason is told, of failed blasts too', () => {
    const reason = (run: Run): Run['validity'] => ({
      kind: 'invalid',
      reason: run.pair === 1 ? 'a hole' : 'generator-limited',
    });
    const runs = good.map((run) => ({ ...run, validity: reason(run) }));
    expect(judge(runs, {}, ['no traffic']).verdict).toMatchObject({
      reason: '0 of 8 pairs of runs count: generator-limited',
    });
    expect(judge([], {}, ['no traffic']).verdict).toEqual({
      kind: 'invalid',
      reason: '0 of 8 pairs of runs count: no traffic',
    });
  });
});

describe('a DUT that forwards nothing', () => {
  const stopped = pairedRuns(eight(8e5), eight(0));

  test.for(['pps', 'nsPerPacket'] as const)(
    'when patched, is a regression of 100 %, also where %s is judged',
    (metric) => {
      const { verdict, comparisons } = judge(stopped, { metric });
      expect(verdict).toEqual({ kind: 'regression' });
      expect(comparisons).toEqual([
        {
          metric: 'pps',
          base: 8e5,
          patched: 0,
          pairs: 8,
          interval: { change: -1, low: -1, high: -1 },
        },
      ]);
    },
  );

  test('in fewer pairs than were asked for, is not called a regression', () => {
    expect(verdictOf(stopped.slice(0, 14)).kind).toBe('invalid');
  });

  test('in more than one pair of ten, is never passed over, however many pairs count', () => {
    const steady = pairedRuns(eight(8e5), eight(8e5)).map((run) => ({ ...run, blast: 2 }));
    const invalid = {
      kind: 'invalid',
      reason: expect.stringMatching(/patched forwarded nothing$/),
    };
    expect(verdictOf([...steady, ...stopped.slice(0, 2)])).toEqual(invalid);
    expect(verdictOf([...steady, ...stopped])).toEqual(invalid);
  });

  test('with base too, has lost its traffic, which is nobody’s patch', () => {
    const dark = pairedRuns(eight(0), eight(0));
    expect(verdictOf(dark)).toEqual({
      kind: 'invalid',
      reason: '0 of 8 pairs of runs count: base forwarded nothing',
    });
  });
});

describe('the verdict of a patch', () => {
  const cells = (...kinds: Exclude<CellVerdict['kind'], 'invalid'>[]) =>
    kinds.map((kind) => aCell({ kind }));
  const invalid = aCell({ kind: 'invalid', reason: 'too few' });

  test('is the worst of its cells', () => {
    expect(worstVerdict([...cells('improvement', 'regression', 'inconclusive'), invalid])).toBe(
      'regression',
    );
    expect(worstVerdict([...cells('improvement', 'inconclusive'), invalid])).toBe('invalid');
    expect(worstVerdict(cells('improvement', 'inconclusive'))).toBe('inconclusive');
  });

  test('is an improvement where one cell gains and none loses', () => {
    expect(worstVerdict(cells('no-regression', 'improvement', 'no-regression'))).toBe(
      'improvement',
    );
    expect(worstVerdict(cells('no-regression', 'no-regression'))).toBe('no-regression');
  });
});

test('a cell keeps all its runs, also those that do not count', () => {
  const runs = [aRun(), aRun({ number: 2, validity: { kind: 'invalid', reason: 'a hole' } })];
  expect(judge(runs).runs).toEqual(runs);
});
