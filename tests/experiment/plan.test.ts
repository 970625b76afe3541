import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasPlan, makePlan, PlanError, readPlan, writePlan } from '../../src/experiment/plan.ts';
import { cellName } from '../../src/scenario/scenario.ts';
import { temporaryFolder } from '../fakes/folder.ts';
import { aConfig, overlays } from '../fakes/plan.ts';
import { pullRequest } from '../fakes/result.ts';

const config = aConfig({ scenarios: ['forwarding', 'nftables-stateful'], families: ['inet6'] });
const plan = makePlan({ patch: pullRequest, config, testbed: 'shelf-3', seed: 7 }, overlays);

test('every scenario with every family is a cell', () => {
  const both = aConfig({
    scenarios: ['forwarding', 'nftables-stateful'],
    families: ['inet4', 'inet6'],
  });
  const { cells } = makePlan({ patch: pullRequest, config: both, testbed: 'a', seed: 1 }, overlays);
  expect(cells.map(cellName)).toEqual([
    'forwarding inet4',
    'forwarding inet6',
    'nftables-stateful inet4',
    'nftables-stateful inet6',
  ]);
});

test('the same request with the same seed is the same plan, and with another seed another order', () => {
  const request = { patch: pullRequest, config, testbed: 'shelf-3', seed: 7 };
  expect(makePlan(request, overlays)).toEqual(plan);
  expect(makePlan({ ...request, seed: 8 }, overlays).blasts).not.toEqual(plan.blasts);
});

test('a plan is read as it was written, and nothing else is left in its directory', async () => {
  const directory = join(temporaryFolder(), 'not', 'there', 'yet');
  expect(await hasPlan(directory)).toBe(false);
  await writePlan(directory, plan);
  expect(await hasPlan(directory)).toBe(true);
  expect(await readPlan(directory)).toEqual(plan);
  expect(readdirSync(directory)).toEqual(['experiment.json']);
});

test('a directory that holds an experiment is not written over, and it is said how to go on', async () => {
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
  ['a plan without blasts', JSON.stringify({ ...plan, blasts: [] })],
] as const)('a directory with %s holds no plan', async ([, text]) => {
  const directory = temporaryFolder();
  if (text !== undefined) writeFileSync(join(directory, 'experiment.json'), text);
  await expect(readPlan(directory)).rejects.toThrow(PlanError);
});
