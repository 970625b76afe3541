import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { HistoryEntry } from '../../../src/gate/experiment/history.ts';
import {
  cellsAmong,
  extendPlan,
  hasPlan,
  makePlan,
  type Plan,
  readPlan,
  writePlan,
} from '../../../src/gate/experiment/plan.ts';
import { beginPlanFile, PlanError } from '../../../src/gate/experiment/plan-file.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { aHistoryEntry } from '../../fakes/history.ts';
import { aConfig, aFreebsdTestbed, aPlan, gateConfig, overlays, singleRuns } from '../../fakes/plan.ts';
import { pullRequest } from '../../fakes/result.ts';

const config = aConfig({ scenarios: ['forwarding', 'nftables-stateful'], families: ['inet6'] });
const plan = makePlan({ patch: pullRequest, config, testbed: 'shelf-3', seed: 7 }, overlays, []);

test('of selected cells those in the configuration are measured, in its order', () => {
  const cell = (scenario: string) => ({ scenario, family: 'inet6' as const });
  const some = ['nftables-stateful', 'gone', 'forwarding'].map(cell);
  expect(cellsAmong(config, some)).toEqual([cell('forwarding'), cell('nftables-stateful')]);
  const cells = cellsAmong(config, [cell('nftables-stateful')]);
  const request = { patch: pullRequest, config, testbed: 'shelf-3', seed: 7, cells };
  const planned = makePlan(request, overlays, []);
  expect(planned.cells.map(({ cell }) => cell)).toEqual(cells);
  expect(planned.trials.every(({ cell: { scenario } }) => scenario === 'nftables-stateful')).toBe(true);
});

test('a plan rests on no history of another kind under the same name', () => {
  const own = aHistoryEntry({ kind: 'embedded-linux' });
  const other = aHistoryEntry({ kind: 'virtual-freebsd', pps: [300_000, 301_000] });
  const { kind, cells } = aPlan({}, [own, other]);
  expect(kind).toBe('embedded-linux');
  expect(cells[0]?.history).toEqual(aPlan({}, [own]).cells[0]?.history);
  expect(aPlan({}, [other]).cells[0]?.history).toBeUndefined();
});

describe('the layouts of a kernel', () => {
  const kernels = overlays.map((overlay) => ({
    ...overlay,
    kernel: { kind: 'tree' as const, baseCommit: overlay.commit },
  }));
  const planOf = (
    layoutVariants: number,
    { measuresLayoutNoise = false, seed = 7 } = {},
    history: readonly HistoryEntry[] = [],
  ) => {
    const fake = aFreebsdTestbed({ host: 'builder', layoutVariants });
    const config = aConfig({ ...singleRuns, testbeds: { fake } });
    const request = { patch: pullRequest, config, testbed: 'fake', seed, measuresLayoutNoise };
    return makePlan(request, kernels, history);
  };
  const layoutsOf = ({ trials }: Plan, variant: string) =>
    trials.flatMap(({ runs }) => runs.flatMap((run) => (run.variant === variant ? [[run.pair, run.layout]] : [])));

  test('are booted in turn, pair by pair, by base and patched alike', () => {
    const plan = planOf(3);
    const inTurn = Array.from({ length: 20 }, (_, pair) => [pair + 1, (pair % 3) + 1]);
    expect(layoutsOf(plan, 'base')).toEqual(inTurn);
    expect(layoutsOf(plan, 'patched')).toEqual(inTurn);
    expect(plan.variants.map(({ kernel }) => kernel)).toMatchObject([{ layouts: [1, 2, 3] }, { layouts: [1, 2, 3] }]);
    expect(layoutsOf(extendPlan(plan, 30), 'base').at(-1)).toEqual([30, 3]);
  });

  test('of base against itself are two, the second one drawn by the seed', () => {
    for (const layoutVariants of [1, 8]) {
      const of = (variant: string, seed: number) => {
        const plan = planOf(layoutVariants, { measuresLayoutNoise: true, seed });
        return [...new Set(layoutsOf(plan, variant).map(([, layout]) => layout))];
      };
      expect([of('base', 7), of('patched', 7)]).toEqual([[1], [9]]);
      expect([of('base', 8), of('patched', 8)]).toEqual([[1], [10]]);
    }
  });

  test('are learnt from by gates that boot several alone', () => {
    const one = aHistoryEntry();
    const several = aHistoryEntry({
      at: '2026-11-02T12:00:00.000Z',
      pps: [8e5, 8.1e5],
      layouts: 2,
    });
    const runsKnown = (layoutVariants: number, history: readonly HistoryEntry[]) =>
      planOf(layoutVariants, {}, history).cells[0]?.history?.runs;
    expect(runsKnown(1, [one, several])).toBe(5);
    expect(runsKnown(8, [one, several])).toBe(2);
    expect(runsKnown(8, [one])).toBeUndefined();
  });
});

test('a plan is read as it was written, and nothing else is left in its directory', async () => {
  const directory = join(temporaryFolder(), 'not', 'there', 'yet');
  expect(await hasPlan(directory)).toBe(false);
  await writePlan(directory, plan);
  expect(await hasPlan(directory)).toBe(true);
  expect(await readPlan(directory)).toEqual(plan);
  expect(readdirSync(directory)).toEqual(['experiment.json']);
});

test('a directory with an experiment is not overwritten, and the error explains how to resume', async () => {
  const directory = temporaryFolder();
  await writePlan(directory, plan);
  const again = writePlan(directory, { ...plan, seed: 8 });
  await expect(again).rejects.toThrow(PlanError);
  await expect(again).rejects.toThrow(`ppsgate gate --resume ${directory}`);
  expect((await readPlan(directory)).seed).toBe(7);
});

test.for([
  ['nothing', undefined],
  ['half a file', '{"schemaVersion":1,'],
  ['a plan of another version', JSON.stringify({ ...plan, schemaVersion: 2 })],
  ['a plan without trials', JSON.stringify({ ...plan, trials: [] })],
] as const)('a directory with %s holds no plan', async ([, text]) => {
  const directory = temporaryFolder();
  if (text !== undefined) writeFileSync(join(directory, 'experiment.json'), text);
  await expect(readPlan(directory)).rejects.toThrow(PlanError);
});

test('runs that share a trial are looked at trial by trial', () => {
  expect(aPlan().cells[0]?.design).toEqual({
    name: 'group-sequential',
    budgets: [48],
    pairsPerStep: 24,
    method: 'paired',
  });
});

test('single runs are analysed one by one, with the noise of earlier ones', () => {
  const pps = [8.0e5, 8.1e5, 8.05e5, 7.9e5, 8.0e5];
  const known = [
    aHistoryEntry({ at: '2026-11-01T00:00:00.000Z', pps }),
    aHistoryEntry({ at: '2026-11-02T00:00:00.000Z', pps }),
  ];
  const { cells } = aPlan({ ...singleRuns, families: ['inet4', 'inet6'] }, known);
  expect(cells.map(({ design }) => design)).toEqual(
    Array(2).fill({
      name: 'group-sequential',
      budgets: [20],
      pairsPerStep: 1,
      method: 'pooled',
    }),
  );
  expect(cells.map(({ history }) => history?.runs)).toEqual([10, undefined]);
});

test('without a number of runs it is twenty of each variant, or five trials of runs that share them', () => {
  const { maxRunsPerVariant, ...gate } = gateConfig;
  const budget = (changes: Parameters<typeof aPlan>[0]) => aPlan({ ...changes, gate }).cells[0]?.design.budgets;
  expect([budget(singleRuns), budget({})]).toEqual([[20], [120]]);
});

test('an extended plan begins with the same trials, and has a further budget', () => {
  const extended = extendPlan(plan, 100);
  expect(extended.trials.slice(0, plan.trials.length)).toEqual(plan.trials);
  expect(extended.cells.map(({ design }) => design.budgets)).toEqual([
    [48, 120],
    [48, 120],
  ]);
});

test('a directory that holds a bisection is not written over by a gate, nor resumed by one', async () => {
  const directory = temporaryFolder();
  await beginPlanFile(directory, 'bisect.json', {});
  const how = `ppsgate bisect --resume ${directory}`;
  await expect(writePlan(directory, plan)).rejects.toThrow(how);
  await expect(readPlan(directory)).rejects.toThrow(how);
});

test('A site’s own rules name the ports of a FreeBSD DUT, and of no other testbed', () => {
  const rack = aFreebsdTestbed();
  const interfaces = { lan0: 'ingress', wan0: 'egress' } as const;
  const changes = { testbeds: { rack, fake: { kind: 'embedded-linux' } } } as const;
  const text = 'pass in on lan0\nblock out on wan0 # lan0\n';
  const office = { firewall: 'pf', text, keepsStates: true } as const;
  const planned = (testbed: string, named?: typeof interfaces) => {
    const overlay = { path: 'dut', beside: '', ...(named && { interfaces: named }) };
    const own = aConfig({ ...changes, overlay });
    const request = { patch: pullRequest, config: own, testbed, seed: 7, rules: { office } };
    return makePlan(request, overlays, []).rules.office?.text;
  };
  expect(planned('rack', interfaces)).toBe('pass in on cxl2\nblock out on cxl3 # lan0\n');
  expect(planned('rack')).toBe(text);
  expect(planned('fake', interfaces)).toBe(text);
});
