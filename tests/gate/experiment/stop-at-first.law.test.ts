// `gate.stopAtFirst`: a cell with a regression ends the runs of all others, which then get no verdict.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Config } from '../../../src/config/schema.ts';
import { assembleResult } from '../../../src/gate/experiment/assemble.ts';
import { runExperiment } from '../../../src/gate/experiment/experiment.ts';
import type { JournalEntry } from '../../../src/gate/experiment/journal.ts';
import { finishedAt, nextTrial } from '../../../src/gate/experiment/next-trial.ts';
import { extendPlan, type Plan } from '../../../src/gate/experiment/plan.ts';
import { recompute } from '../../../src/gate/experiment/recompute.ts';
import { resultSchema } from '../../../src/model/result.ts';
import { cellName } from '../../../src/model/scenario.ts';
import { stoppedCells } from '../../../src/report/headline.ts';
import { renderJunit } from '../../../src/report/junit.ts';
import { renderHtml, renderMarkdown, renderRemarkup } from '../../../src/report/reports.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { drawn, journalOf } from '../../fakes/journal.ts';
import { aConfig, aPlan, gateConfig, singleRuns } from '../../fakes/plan.ts';
import { fakeTestbed } from '../../fakes/testbed.ts';
import { times } from '../../random.ts';

const stopping = { ...singleRuns.gate, stopsAtFirst: true } as const;
const changes: Partial<Config> = { ...singleRuns, families: ['inet4', 'inet6'] };
const config = aConfig({ ...changes, gate: stopping });
const plan = aPlan({ ...changes, gate: stopping });
const toTheEnd = aPlan(changes);

/** inet4 loses half; inet6 stays undecided for long. */
const testbed = () =>
  fakeTestbed({
    speed: ({ family }) => (family === 'inet4' ? 0.5 : 0.96),
    noise: 0.03,
    boots: true,
  });

const measured = (of: Plan, directory = temporaryFolder(), on = testbed()): Promise<JournalEntry[]> =>
  runExperiment({
    plan: of,
    directory,
    testbed: on,
    now: () => new Date('2026-11-20T12:00:00.000Z'),
    onEvent: () => {},
    signal: new AbortController().signal,
  });

function cellsOf(of: Plan, entries: readonly JournalEntry[]) {
  const { outcome } = assembleResult(of, entries);
  return outcome.kind === 'judged' ? outcome.cells : [];
}

test('the patch is a regression with the runs that were made, and the other cell is not decided', async () => {
  const entries = await measured(plan);
  const result = assembleResult(plan, entries);
  expect(result.outcome).toMatchObject({
    verdict: 'regression',
    cells: [{ verdict: { kind: 'regression' } }, { verdict: { kind: 'inconclusive', isStopped: true } }],
  });
  const [lost, open] = cellsOf(plan, entries);
  expect(open?.runs.length).toBeGreaterThan(0);
  expect(open?.runs.length).toBeLessThanOrEqual(lost?.runs.length ?? 0);
  expect(finishedAt(plan, entries)).toBeDefined();
  expect(entries.length).toBeLessThan((await measured(toTheEnd)).length);
});

test('a cell that had no run yet has no numbers, in any report', async () => {
  const shared = aPlan({
    families: ['inet4', 'inet6'],
    gate: { ...gateConfig, stopsAtFirst: true },
  });
  const lost = shared.trials[0]?.cell.family;
  const onlyFirst = fakeTestbed({ speed: ({ family }) => (family === lost ? 0.5 : 1) });
  const entries = await measured(shared, temporaryFolder(), onlyFirst);
  const result = assembleResult(shared, entries);
  const [open] = stoppedCells(cellsOf(shared, entries));
  expect(open).toMatchObject({ runs: [], comparisons: [], pairs: 0 });
  expect(resultSchema.parse(result)).toEqual(result);
  for (const text of [renderMarkdown(result), renderHtml(result, []), renderRemarkup(result)]) {
    expect(text).toContain('ended early');
    expect(text).not.toMatch(/NaN|Infinity/);
  }
  expect(renderJunit(result)).toContain('not decided: the loss of another cell ended the experiment');
});

test('more runs extend all cells', async () => {
  const directory = temporaryFolder();
  const first = await measured(plan, directory);
  expect(nextTrial(plan, first)).toBeUndefined();
  const further = extendPlan(plan, 40);
  const entries = await measured(further, directory);
  expect(cellsOf(further, entries).map(({ verdict }) => verdict.kind)).not.toContain('invalid');
  expect(stoppedCells(cellsOf(further, entries))).toEqual([]);
  expect(entries.length).toBeGreaterThan(first.length);
});

test('recomputing the verdicts stops the same cell', async () => {
  const result = assembleResult(plan, await measured(plan));
  const asked = { patch: result.patch, config, testbeds: ['fake'], isExtended: false };
  expect(recompute(result, asked)).toEqual({ kind: 'computed', result, refused: [] });
});

test('no cell gets another verdict than with the same runs it would have without, but for those that were open', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e6 }), fc.double({ min: 0.85, max: 1.1 }), (seed, speed) => {
      const random = drawn(seed);
      const deps = { speed, noiseRatio: 0.05, failingRatio: 0.1, unfitRatio: 0.1, random };
      const entries = journalOf(plan, deps);
      const usual = new Map(cellsOf(toTheEnd, entries).map((one) => [cellName(one.cell), one]));
      const cells = cellsOf(plan, entries);
      const stopped = new Set(stoppedCells(cells));
      for (const cell of cells) {
        if (!stopped.has(cell)) expect(cell).toEqual(usual.get(cellName(cell.cell)));
      }
      if (stopped.size > 0) expect(cells.map(({ verdict }) => verdict.kind)).toContain('regression');
    }),
    { numRuns: times(25) },
  );
});
