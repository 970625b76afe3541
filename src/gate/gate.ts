// Judges a patch: makes its variants, reserves a testbed, measures, and writes the result and its reports.

import type { Config } from '../config/schema.ts';
import { placesLeftAlone, testbedsThatDiffer } from '../kernel/unchanged.ts';
import { type GivenKernels, makingOf, variantsByMaking } from '../kernel/variant.ts';
import { outcomeName } from '../model/conclusion.ts';
import type { Patch } from '../model/patch.ts';
import type { Result } from '../model/result.ts';
import type { Cell } from '../model/scenario.ts';
import { earlierEntries } from './experiment/history.ts';
import { cellsOf, makePlan, type Plan, readRules, writePlan } from './experiment/plan.ts';
import { refuseUsed } from './experiment/plan-file.ts';
import { firstCells, firstCellsText } from './first-cells.ts';
import type { GateDeps } from './gate-deps.ts';
import { onTestbed } from './on-testbed.ts';

export type GateRequest = {
  patch: Patch;
  config: Config;
  /** Any of these testbeds of ppsgate.yml, preferred first. */
  testbeds: readonly string[];
  seed: number;
  cells?: readonly Cell[];
  /** Absent: the kernels are built. */
  kernels?: GivenKernels | undefined;
  /** Measures even a patch that changes nothing installed or booted. */
  isMeasuredAnyway?: boolean;
  /** Patched is base in another layout; see `gateLayoutNoise`. */
  measuresLayoutNoise?: boolean;
};

/**
 * Judges a patch. Writes the plan, the journal, raw logs, `result.json` and `report.md` to the work directory. A patch
 * that changes nothing installed on any testbed gets its result without a plan or a reservation.
 */
export async function gate(request: GateRequest, directory: string, deps: GateDeps): Promise<Result> {
  const { patch, config, cells = cellsOf(config) } = request;
  const { repository, onEvent } = deps;
  await refuseUsed(directory);
  const rules = await readRules(config);
  const history = earlierEntries(await deps.history.read(), deps.now());
  const variants = await variantsByMaking(request, repository);
  const planOn = async (testbed: string): Promise<Plan> => {
    const own = variants.get(makingOf(config, testbed, request.kernels)) ?? [];
    const first = await firstCells(own, cells, { config, testbed }, repository);
    return makePlan({ ...request, testbed, rules, first }, own, history);
  };

  const testbeds = request.isMeasuredAnyway
    ? request.testbeds
    : await testbedsThatDiffer({ ...request, variants }, repository);
  if (testbeds.length === 0) {
    const [first = ''] = request.testbeds;
    const ignoredPaths = await placesLeftAlone(first, { ...request, variants }, repository);
    const { unchangedResult } = await import('./experiment/assemble.ts');
    const { writeResult } = await import('../report/write-reports.ts');
    const result = unchangedResult(await planOn(first), ignoredPaths, deps.now());
    await writeResult(directory, result);
    return result;
  }

  return onTestbed(testbeds, patch, deps, outcomeName, async (reserved) => {
    const plan = await planOn(reserved.name);
    await writePlan(directory, plan);
    const text = firstCellsText(plan);
    if (text !== undefined) onEvent({ kind: 'note', text });
    const { measure } = await import('./measure.ts');
    return measure(plan, directory, reserved, deps);
  });
}
