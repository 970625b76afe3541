// The story of a patch: what is judged, on which testbed, by which runs, and what comes of it.
import { buildVariants } from './build/overlay.ts';
import type { Config, Traffic } from './config/schema.ts';
import { type ExperimentEvent, runExperiment } from './experiment/experiment.ts';
import { makePlan, type Plan, readPlan, writePlan } from './experiment/plan.ts';
import type { Patch } from './patch/patch.ts';
import type { Repository } from './patch/repository.ts';
import { assembleResult } from './report/assemble.ts';
import type { Result } from './report/result.ts';
import { writeResult } from './report/write.ts';
import type { Testbed } from './testbed/testbed.ts';

export type GateRequest = {
  patch: Patch;
  config: Config;
  /** Name of a testbed of the configuration. */
  testbed: string;
  /** Of the order of runs: the same seed gives the same order. */
  seed: number;
};

/** All that a gate touches of the world. */
export type World = {
  repository: Repository;
  openTestbed(name: string, traffic: Traffic): Promise<Testbed>;
  now(): Date;
  onEvent(event: ExperimentEvent): void;
  signal: AbortSignal;
};

/** Judges a patch; leaves the plan, the journal, raw logs, `result.json` and `report.md` in the work directory. */
export async function gate(request: GateRequest, directory: string, world: World): Promise<Result> {
  const variants = await buildVariants(request.patch, request.config.overlay, world.repository);
  const plan = makePlan(request, variants);
  await writePlan(directory, plan);
  return carryOut(plan, directory, world);
}

/** Goes on with a gate that was cut short: the plan of its work directory, less what its journal holds. */
export async function resumeGate(directory: string, world: World): Promise<Result> {
  return carryOut(await readPlan(directory), directory, world);
}

async function carryOut(plan: Plan, directory: string, world: World): Promise<Result> {
  const testbed = await world.openTestbed(plan.testbed, plan.traffic);
  try {
    const { now, onEvent, signal } = world;
    const journal = await runExperiment({ plan, testbed, directory, now, onEvent, signal });
    const result = assembleResult(plan, journal);
    await writeResult(directory, result);
    return result;
  } finally {
    await testbed.restore();
  }
}
