// Recomputes results that another machine measured: an honest one is unchanged; of any other only the numbers count.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pathsSchema } from '../../../src/config/paths.ts';
import type { Config } from '../../../src/config/schema.ts';
import { parseResult } from '../../../src/forge/github/artifact.ts';
import { assembleResult, unchangedResult } from '../../../src/gate/experiment/assemble.ts';
import { type HistoryEntry, historyEntries } from '../../../src/gate/experiment/history.ts';
import { cellsOf, makePlan, type Plan } from '../../../src/gate/experiment/plan.ts';
import { type RequestedExperiment, recompute } from '../../../src/gate/experiment/recompute.ts';
import { type CellResult, metricSchema, type Result } from '../../../src/model/result.ts';
import { outcomeOfResult } from '../../../src/publish/reporters/outcome.ts';
import { outcomeMarkdown } from '../../../src/publish/reporters/outcome-text.ts';
import { aHistoryEntry } from '../../fakes/history.ts';
import { drawn, journalOf, still } from '../../fakes/journal.ts';
import { aConfig, fourOverlays, overlays, singleRuns } from '../../fakes/plan.ts';
import { pullRequest, revision } from '../../fakes/result.ts';
import { times } from '../../random.ts';

const history = [1, 2, 3].map((day) => {
  const pps = [800_000, 802_000, 799_000, 801_000, 798_000];
  return aHistoryEntry({ at: `2026-11-0${day}T12:00:00.000Z`, pps, nsPerPacket: pps.map((rate) => 1e9 / rate) });
});

function planOf(config: Config, patch: RequestedExperiment['patch'], known: readonly HistoryEntry[] = []): Plan {
  const variants = patch.kind === 'revision' ? fourOverlays : overlays;
  return makePlan({ patch, config, testbed: 'fake', seed: 6 }, variants, known);
}

const asked = (config: Config, more: Partial<RequestedExperiment> = {}): RequestedExperiment => ({
  patch: pullRequest,
  config,
  testbeds: ['fake'],
  isExtended: false,
  ...more,
});

const written = (result: Result): Result => JSON.parse(JSON.stringify(result));

describe('an honest result', () => {
  const worlds = fc.record({
    speed: fc.constantFrom(0.7, 0.94, 0.97, 1, 1.02, 1.2),
    noiseRatio: fc.constantFrom(0, 0.004, 0.03),
    failingRatio: fc.constantFrom(0, 0, 0.1, 0.5),
    unfitRatio: fc.constantFrom(0, 0, 0.05, 0.4),
    seed: fc.nat(),
  });
  const configs = fc.record({
    isSingle: fc.boolean(),
    families: fc.constantFrom<Config['families'][]>(['inet4'], ['inet4', 'inet6']),
    metric: fc.constantFrom(...metricSchema.options),
    isKnown: fc.boolean(),
    isRevision: fc.boolean(),
  });

  test('is unchanged for every outcome of the experiment', () => {
    fc.assert(
      fc.property(worlds, configs, ({ seed, ...rest }, { isSingle, families, metric, ...choice }) => {
        const single = isSingle ? singleRuns : {};
        const { gate } = aConfig(single);
        const config = aConfig({ ...single, families, gate: { ...gate, metric } });
        const patch = choice.isRevision ? revision : pullRequest;
        const plan = planOf(config, patch, choice.isKnown ? history : []);
        const result = written(assembleResult(plan, journalOf(plan, { ...rest, random: drawn(seed) })));
        const again = recompute(result, asked(config, { patch }));
        expect(again).toMatchObject({ kind: 'computed', refused: [] });
        expect(again).toHaveProperty('result', result);
      }),
      { numRuns: times(8) },
    );
  });

  test('of some of the cells is confirmed with only those', () => {
    const config = aConfig({ families: ['inet4', 'inet6'] });
    const [cell] = cellsOf(config);
    const cells = cell === undefined ? [] : [cell];
    const request = { patch: pullRequest, config, testbed: 'fake', seed: 6, cells };
    const plan = makePlan(request, overlays, []);
    const result = written(assembleResult(plan, journalOf(plan, still)));
    expect(recompute(result, asked(config, { cells }))).toEqual({
      kind: 'computed',
      refused: [],
      result,
    });
  });

  test('of a patch that needs no measurement keeps the places known to have no effect, and no others', () => {
    const config = aConfig({ paths: pathsSchema.parse({ nothing: ['tools/'] }) });
    const plan = planOf(config, pullRequest);
    const at = new Date('2026-11-20T12:00:00.000Z');
    const result = written(unchangedResult(plan, ['tools/', 'www.example.org/free'], at));
    expect(recompute(result, asked(config))).toEqual({
      kind: 'computed',
      refused: [],
      result: { ...result, outcome: { kind: 'unchanged', ignoredPaths: ['tools/'] } },
    });
  });
});

describe('earlier gates of a commit', () => {
  const config = aConfig(singleRuns);
  const plan = planOf(config, pullRequest);
  const gateOn = (day: number, speed = 1, of = plan): Result =>
    written({
      ...assembleResult(of, journalOf(of, { ...still, speed })),
      startedAt: `2026-11-0${day}T12:00:00.000Z`,
    });
  const earlier = (result: Result, more: Partial<RequestedExperiment> = {}) => {
    const again = recompute(result, asked(config, more));
    if (again.kind === 'refused') expect.fail(again.why);
    const { outcome } = again.result;
    return outcome.kind === 'judged' ? outcome.cells.map((cell) => cell.earlierGates) : [];
  };
  const known = [...historyEntries(gateOn(1, 0.8)), ...historyEntries(gateOn(2))];

  test('are those of the trusted history where a result hides them', () => {
    expect(earlier(gateOn(3), { history: known })).toEqual([{ count: 2, regressions: 1 }]);
  });

  test('are those of the result if its testbed has more of them', () => {
    const claimed = gateOn(3, 1, planOf(config, pullRequest, known));
    expect(earlier(claimed, { history: [] })).toEqual([{ count: 2, regressions: 1 }]);
  });

  test('cannot be hidden by a base that the result claims', () => {
    const variants = gateOn(3).variants.map((variant) =>
      variant.name === 'base' ? { ...variant, commit: 'c'.repeat(40) } : variant,
    );
    const claimed = { ...gateOn(3), variants };
    expect(earlier(claimed, { history: known })).toEqual([{ count: 2, regressions: 1 }]);
    const mergeBase = 'a'.repeat(40);
    expect(earlier(claimed, { history: known, mergeBase })).toEqual([{ count: 2, regressions: 1 }]);
    const again = recompute(claimed, asked(config, { mergeBase }));
    expect(again).toHaveProperty('result.variants[0].commit', mergeBase);
  });
});

describe('a forged result', () => {
  const config = aConfig({ ...singleRuns, families: ['inet4', 'inet6'] });
  const plan = planOf(config, pullRequest);
  const lost = written(assembleResult(plan, journalOf(plan, { ...still, speed: 0.8 })));

  type Judged = Extract<Result['outcome'], { kind: 'judged' }>;
  const judged = ({ outcome }: Result): Judged => (outcome.kind === 'judged' ? outcome : expect.fail(outcome.kind));

  /** The regression, with this change by a malicious job. */
  const forged = (change: (result: Result, cells: CellResult[]) => unknown): Result => {
    const result = structuredClone(lost);
    change(result, judged(result).cells);
    return result;
  };
  const computed = (result: Result) => {
    const again = recompute(result, asked(config));
    return again.kind === 'computed' ? again : expect.fail(again.why);
  };

  const interval = { change: 0.1, low: 0.09, high: 0.11 };
  const packets = { ports: { destination: { first: 53, last: 53 } } };
  const forgeries: Record<string, (result: Result, first: CellResult) => unknown> = {
    'the margin': ({ policy }) => Object.assign(policy, { marginRatio: 1 }),
    'the rate of false alarms': ({ policy }) => Object.assign(policy, { falseAlarmRatio: 1e-9 }),
    'the metric': ({ policy }) => Object.assign(policy, { metric: 'nsPerPacket' }),
    'a verdict': (_, first) => Object.assign(first, { verdict: { kind: 'improvement' } }),
    'the worst verdict alone': ({ outcome }) => Object.assign(outcome, { verdict: 'no-regression' }),
    'the numbers that are shown': (_, first) => Object.assign(first.comparisons[0] ?? {}, { interval }),
    'a cell that was not requested': (result, first) =>
      judged(result).cells.push({ ...first, cell: { scenario: 'made-up', family: 'inet4' } }),
    'the traffic': ({ traffic }) => Object.assign(traffic, { offeredPps: 1000 }),
    'the packets': ({ traffic }) => Object.assign(traffic, { packets }),
  };

  test('is judged by its runs and what was asked for, and each difference is listed', async () => {
    const lines = Object.entries(forgeries).map(([name, forge]) => {
      const { result, refused } = computed(forged((result, [first]) => first && forge(result, first)));
      expect(result, name).toEqual(lost);
      return [name, ...refused].join('\n  ');
    });
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('golden/forged-results.txt');
  });

  const rate = fc.constantFrom(0, 1e-9, 1, 999_999, 1e6, 1e15);
  const ordinal = fc.constantFrom(1, 2, 3, 8, 10_000, 10_000_000);
  const forgery = fc.record({
    rates: fc.array(rate, { minLength: 1, maxLength: 4 }),
    ordinals: fc.array(ordinal, { minLength: 1, maxLength: 3 }),
    history: fc.record({
      runs: ordinal,
      typical: fc.constantFrom(1e-9, 1e6, 1e15),
      typicalRuns: ordinal,
      sessionMeans: fc.record({
        sinceMove: ordinal,
        sumOfSquares: fc.constantFrom(0, 5e-324, 1e12),
        degreesOfFreedom: fc.constantFrom(0, 1, 10, 10_000_000),
      }),
      sumOfSquares: fc.constantFrom(0, 5e-324, 1e-9, 1e12),
      degreesOfFreedom: fc.constantFrom(0, 1, 4, 10_000_000),
      sessionDegreesOfFreedom: fc.constantFrom(5e-324, 1, 16),
    }),
    isExtended: fc.boolean(),
  });

  test('with any numbers that a result may have is judged and reported like every other', () => {
    fc.assert(
      fc.property(forgery, ({ rates, ordinals, history, isExtended }) => {
        const result = forged((_, cells) => {
          for (const cell of cells) {
            cell.history = history;
            cell.design.budgets = ordinals;
            cell.runs.forEach((run, index) => {
              run.pps = rates[index % rates.length] ?? 0;
              run.nsPerPacket = run.pps || 1;
              if (index % 3 === 0) run.pair = ordinals[index % ordinals.length] ?? 1;
            });
          }
        });
        const read = parseResult(JSON.stringify(result));
        if (read.kind === 'refused') expect.fail(read.why);
        const again = recompute(read.result, asked(config, { isExtended }));
        const judgedAgain = again.kind === 'computed' ? again.result : expect.fail(again.why);
        const outcome = outcomeOfResult(judgedAgain, {});
        expect(outcomeMarkdown(outcome).length).toBeLessThan(70_000);
        expect(parseResult(JSON.stringify(judgedAgain)).kind).toBe('read');
      }),
      { numRuns: times(200) },
    );
  });

  test('by leaving a cell out does not pass', () => {
    const plan = planOf(config, pullRequest);
    const kept = written(assembleResult(plan, journalOf(plan, still)));
    expect(judged(kept).verdict).toBe('no-regression');
    judged(kept).cells = judged(kept).cells.slice(1);
    const { result, refused } = computed(kept);
    expect(refused).toContain('It has no cell forwarding inet4, which was requested.');
    expect(judged(result)).toMatchObject({
      verdict: 'invalid',
      cells: [{ verdict: { kind: 'invalid', reason: 'the result has no such cell' } }, {}],
    });
  });

  const fixed = { name: 'fixed', budgets: [1], pairsPerStep: 1, method: 'pooled' };
  test.each<[string, (cell: CellResult) => unknown]>([
    ['one look', (cell) => Object.assign(cell, { design: fixed })],
    ['a budget that was not set', ({ design }) => Object.assign(design, { budgets: [2, 3, 4, 5] })],
    ['no runs that count', (cell) => Object.assign(cell, { verdict: { kind: 'invalid', reason: 'The weather.' } })],
    ['that it stopped before the first look', (cell) => Object.assign(cell, { pairs: 0 })],
  ])('of how it looked, as by %s, loses all the same', (_, change) => {
    const { result } = computed(forged((__, cells) => cells.forEach(change)));
    expect(judged(result).verdict).toBe('regression');
  });

  test('of endless extensions is judged by the planned budget', () => {
    const budgets = Array.from({ length: 60 }, (_, index) => 20 + index * 100);
    const endless = forged((_, all) => {
      for (const cell of all) cell.design.budgets = budgets;
    });
    const again = recompute(endless, asked(config, { isExtended: true }));
    if (again.kind === 'refused') expect.fail(again.why);
    expect(judged(again.result).cells.map(({ design }) => design.budgets)).toEqual([[20], [20]]);
    expect(judged(again.result).verdict).toBe('regression');
  });

  test('of another testbed is refused', () => {
    const other = forged((result) => {
      result.testbed.name = 'the fast one';
    });
    expect(recompute(other, asked(config)).kind).toBe('refused');
  });

  test('of other variants and commits gets the approved ones', () => {
    const { variants, leftOut } = computed(
      forged((result) => {
        result.variants = [
          { name: 'base', commit: 'a'.repeat(40), files: [] },
          { name: 'patched', commit: 'e'.repeat(40), files: [] },
          { name: 'another', commit: 'f'.repeat(40), files: [] },
        ];
        const rejection = { kind: 'build-failed', message: 'no' } as const;
        result.leftOut = [{ variant: 'another', rejection }];
      }),
    ).result;
    expect(variants).toEqual(lost.variants);
    expect(leftOut).toEqual([]);
  });

  test('of many profiles keeps at most one of each variant', () => {
    const many = forged((_, cells) => {
      for (const cell of cells) {
        cell.profiles = Array.from({ length: 1000 }, (__, index) => ({
          kind: 'missing' as const,
          reason: 'none',
          variant: ['base', 'patched', 'another'][index % 3] ?? '',
        }));
      }
    });
    const profiles = judged(computed(many).result).cells.map((cell) => cell.profiles);
    const two = ['base', 'patched'].map((variant) => ({
      kind: 'missing',
      variant,
      reason: 'none',
    }));
    expect(profiles).toEqual([two, two]);
  });

  test('of any number of cells is reported at most twenty times', () => {
    const many = forged((result, [first]) => {
      if (first === undefined) return;
      judged(result).cells = Array.from({ length: 1000 }, (_, index) => ({
        ...first,
        cell: { scenario: `made-up-${index}`, family: 'inet4' },
      }));
    });
    expect(computed(many).refused).toHaveLength(20);
  });
});
