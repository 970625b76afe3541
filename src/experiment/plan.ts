// Everything that an experiment does, fixed and written down before its first run.
import { randomInt } from 'node:crypto';
import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Overlay, overlaySchema } from '../build/overlay.ts';
import type { Config } from '../config/schema.ts';
import { type Patch, patchSchema } from '../patch/patch.ts';
import { policySchema } from '../report/result.ts';
import { cellSchema } from '../scenario/scenario.ts';
import { plannedBlastSchema, schedule } from './schedule.ts';

const planSchema = z.object({
  schemaVersion: z.literal(1),
  patch: patchSchema,
  testbed: z.string(),
  variants: z.array(overlaySchema).min(2),
  cells: z.array(cellSchema).min(1),
  policy: policySchema,
  traffic: z.object({
    flows: z.int(),
    frameBytes: z.int(),
    offeredPps: z.number(),
    warmUpSeconds: z.number(),
    settleSeconds: z.number(),
    measureSeconds: z.number(),
    runsPerBlast: z.int(),
  }) satisfies z.ZodType<Config['traffic']>,
  seed: z.int(),
  blasts: z.array(plannedBlastSchema).min(1),
});

export type Plan = z.infer<typeof planSchema>;

export type PlanRequest = { patch: Patch; config: Config; testbed: string; seed: number };

/** Every scenario with every family is a cell; the seed decides the order of everything. */
export function makePlan(request: PlanRequest, variants: Overlay[]): Plan {
  const { patch, config, testbed, seed } = request;
  const { scenarios, families, traffic, gate: policy } = config;
  const cells = scenarios.flatMap((scenario) => families.map((family) => ({ scenario, family })));
  const blasts = schedule({
    cells,
    variants: variants.map((overlay) => overlay.variant),
    runsPerVariant: policy.runsPerVariant,
    runsPerBlast: traffic.runsPerBlast,
    seed,
  });
  return { schemaVersion: 1, patch, testbed, variants, cells, policy, traffic, seed, blasts };
}

/** For an order that nobody could have known; the plan keeps it. */
export const randomSeed = (): number => randomInt(2 ** 31);

const fileName = 'experiment.json';

/** Writes the plan so that it is there whole or not at all; a directory that holds one already is a `PlanError`. */
export async function writePlan(directory: string, plan: Plan): Promise<void> {
  if (await hasPlan(directory)) {
    throw new PlanError(
      `${directory} holds an experiment already: resume it with 'ppsgate gate --resume ${directory}', or name another directory.`,
    );
  }
  await mkdir(directory, { recursive: true });
  const draft = join(directory, `.${fileName}`);
  await writeFile(draft, `${JSON.stringify(plan, null, 2)}\n`, { flush: true });
  await rename(draft, join(directory, fileName));
}

/** Reads the plan of an earlier process; throws a `PlanError` where there is none. */
export async function readPlan(directory: string): Promise<Plan> {
  const path = join(directory, fileName);
  try {
    return planSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    throw new PlanError(
      `${path} holds no plan of an experiment: name the directory of an earlier 'ppsgate gate'.`,
    );
  }
}

export const hasPlan = (directory: string): Promise<boolean> =>
  access(join(directory, fileName)).then(
    () => true,
    () => false,
  );

export class PlanError extends Error {
  override readonly name = 'PlanError';
}
