// Everything that an experiment does, fixed and written down before its first run.
import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Config } from '../../config/schema.ts';
import { type Variant, variantSchema } from '../../kernel/variant.ts';
import { reasonOf } from '../../model/one-line.ts';
import { type Patch, patchSchema } from '../../model/patch.ts';
import { plannedTrialSchema } from '../../model/planned-trial.ts';
import { designSchema, historySchema, policySchema } from '../../model/result.ts';
import { type Cell, cellName, cellSchema, ownRulesSchema } from '../../model/scenario.ts';
import { UsageError } from '../../model/usage-error.ts';
import { expectedDurationsOn, expectedDurationsSchema } from '../estimate/durations.ts';
import { type HistoryEntry, historyOf } from './history.ts';
import { beginPlanFile, hasPlanFile, readPlanFile, replacePlanFile } from './plan-file.ts';
import { pairsPerTrial, schedule } from './schedule.ts';

const plannedCellSchema = z.object({
  cell: cellSchema,
  design: designSchema,
  history: historySchema.optional(),
  /** The patch touches it and not all others, so that it comes before those in each round. */
  isFirst: z.literal(true).exactOptional(),
});

export const plannedTraffic = z.object({
  flows: z.int(),
  frameBytes: z.int(),
  offeredPps: z.number().optional(),
  warmUpSeconds: z.number(),
  settleSeconds: z.number(),
  measureSeconds: z.number(),
  measureAtLeastSeconds: z.number(),
  runsPerTrial: z.int(),
  windows: z.object({ count: z.int(), packets: z.int() }).optional(),
}) satisfies z.ZodType<Config['traffic']>;

export const plannedProfile = z.object({ seconds: z.number(), event: z.string().optional() });

const planSchema = z.object({
  schemaVersion: z.literal(1),
  patch: patchSchema,
  testbed: z.string(),
  variants: z.array(variantSchema).min(2),
  /** Rules of the scenarios that are a site's own, by their names. */
  rules: z.record(z.string(), ownRulesSchema),
  cells: z.array(plannedCellSchema).min(1),
  policy: policySchema,
  traffic: plannedTraffic,
  /** Profiles of every variant in every decided cell; absent: none. */
  profile: plannedProfile.optional(),
  /** Absent in plans written before durations were known. */
  durations: expectedDurationsSchema.optional(),
  seed: z.int(),
  /** Every trial that may be needed, in their order; most cells are decided before their last. */
  trials: z.array(plannedTrialSchema).min(1),
});

export type PlannedCell = z.infer<typeof plannedCellSchema>;
export type Plan = z.infer<typeof planSchema>;

type PlanRequest = {
  patch: Patch;
  config: Config;
  testbed: string;
  seed: number;
  /** Absent: all cells of the configuration. */
  cells?: readonly Cell[];
  /** Cells among them that come first in each round; all of them is as good as none. */
  first?: readonly Cell[];
  /** Rules of the site's own scenarios. */
  rules?: Plan['rules'];
  /** Patched is base in another layout, so that all differences are noise. */
  measuresLayoutNoise?: boolean | undefined;
};

/** The history of a cell tells when it is looked at first, and the seed the order of everything. */
export function makePlan(
  request: PlanRequest,
  unlinked: readonly Variant[],
  history: readonly HistoryEntry[],
): Plan {
  const variants = withLayouts(unlinked, request);
  const { patch, config, testbed, seed, rules = {}, cells: wanted = cellsOf(config) } = request;
  const { traffic, profile } = config;
  const policy = policyOf(config);
  const hasLayouts = variants.some((variant) => layoutsOf(variant).length > 1);
  const place = { testbed, cells: wanted, variants: variants.length, hasLayouts };
  const first = new Set(request.first?.map(cellName));
  const cells = planCells(config, place, history).map((planned): PlannedCell => {
    const isFirst = first.has(cellName(planned.cell)) && first.size < wanted.length;
    return { ...planned, ...(isFirst && { isFirst }) };
  });
  return {
    schemaVersion: 1,
    patch,
    testbed,
    variants,
    rules,
    cells,
    policy,
    traffic,
    ...(profile !== undefined && { profile }),
    durations: expectedDurationsOn(history, testbed, config),
    seed,
    trials: trialsFor(cells, variants, traffic.runsPerTrial, seed),
  };
}

type CellsRequest = {
  testbed: string;
  cells: readonly Cell[];
  /** Number of variants. */
  variants: number;
  hasLayouts?: boolean;
};

/** Chooses the design of each cell from its history. */
export function planCells(
  config: Pick<Config, 'traffic' | 'gate'>,
  { testbed, cells, variants, hasLayouts = false }: CellsRequest,
  history: readonly HistoryEntry[],
): PlannedCell[] {
  const { traffic, gate } = config;
  return cells.map((cell) => {
    const query = { testbed, cell, traffic, metric: gate.metric, hasLayouts };
    const known = historyOf(history, query);
    const design = designOf(config, variants);
    return { cell, design, ...(known && { history: known }) };
  });
}

/**
 * Chooses the layouts of each kernel that are booted. A gate for layout noise has just two: then what they
 * differ in beyond their runs is what builds differ in, where several would hide it in the spread. The seed draws the
 * other layout, so that it is another one each time.
 */
function withLayouts(
  variants: readonly Variant[],
  { config, testbed, seed, measuresLayoutNoise = false }: PlanRequest,
): Variant[] {
  const often = layoutsOn(config, testbed);
  if (often === 1 && !measuresLayoutNoise) return [...variants];
  const all = Array.from({ length: often }, (_, index) => index + 1);
  return variants.map((variant) => {
    const { kernel } = variant;
    if (kernel?.kind !== 'tree') return variant;
    const another = [2 + (seed % 2 ** 30)];
    const ofTwo = variant.variant === 'patched' ? another : [1];
    return { ...variant, kernel: { ...kernel, layouts: measuresLayoutNoise ? ofTwo : all } };
  });
}

/** Number of layouts of each kernel that is built for a testbed. */
export function layoutsOn({ testbeds }: Pick<Config, 'testbeds'>, name: string): number {
  const testbed = testbeds[name];
  return (testbed?.kind === 'freebsd' && testbed.builder?.layoutVariants) || 1;
}

const layoutsOf = ({ kernel }: Variant): readonly number[] =>
  (kernel?.kind === 'tree' && kernel.layouts) || [];

/** The texts of the site's own rules that are to be measured; throws a `UsageError` for one that cannot be read. */
export async function readRules({
  rules,
  scenarios,
}: Pick<Config, 'rules' | 'scenarios'>): Promise<Plan['rules']> {
  const entries = Object.entries(rules).filter(([name]) => scenarios.includes(name));
  const read = entries.map(async ([name, { path, ...rest }]) => {
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      throw new UsageError(`rules: ${name}: ${path} cannot be read (${reasonOf(error)}).`);
    });
    return [name, { ...rest, text }] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

/** All cells of a configuration, in its order. */
export function cellsOf({
  scenarios,
  families,
  frameSizes,
}: Pick<Config, 'scenarios' | 'families' | 'frameSizes'>): Cell[] {
  const sizes = frameSizes === undefined ? [{}] : frameSizes.map((frameBytes) => ({ frameBytes }));
  return scenarios.flatMap((scenario) =>
    families.flatMap((family) => sizes.map((size): Cell => ({ scenario, family, ...size }))),
  );
}

/** The cells among some that the configuration still has, in its order. */
export function cellsAmong(config: Parameters<typeof cellsOf>[0], some: readonly Cell[]): Cell[] {
  const names = new Set(some.map(cellName));
  return cellsOf(config).filter((cell) => names.has(cellName(cell)));
}

export function policyOf({ gate }: Pick<Config, 'gate'>): Plan['policy'] {
  const { design: _, maxRunsPerVariant: __, ...policy } = gate;
  return policy;
}

/** The policy of an extended experiment, which decides every cell. */
export function policyOfExtended({ stopsAtFirst: _, ...policy }: Plan['policy']): Plan['policy'] {
  return policy;
}

export function designOf(
  { traffic, gate }: Pick<Config, 'traffic' | 'gate'>,
  variants: number,
): PlannedCell['design'] {
  const pairsPerStep = pairsPerTrial(traffic.runsPerTrial, variants);
  const method = pairsPerStep > 1 ? 'paired' : 'pooled';
  const usualRuns =
    method === 'pooled' ? usualSingleRuns : usualPairs(traffic.runsPerTrial, variants);
  const budget = wholeSteps(gate.maxRunsPerVariant ?? usualRuns, pairsPerStep);
  const usual = method === 'pooled' ? 'glr' : 'group-sequential';
  return { name: gate.design ?? usual, budgets: [budget], pairsPerStep, method };
}

const usualSingleRuns = 20;

/**
 * As many pairs as five trials of two variants give, also where more variants share them: the verdict is as sure as
 * without them.
 */
const usualPairs = (runsPerTrial: number, variants: number): number =>
  5 * Math.max(pairsPerTrial(runsPerTrial, variants), pairsPerTrial(runsPerTrial, 2));

const wholeSteps = (pairs: number, pairsPerStep: number): number =>
  Math.ceil(pairs / pairsPerStep) * pairsPerStep;

/** A plan with a further budget for its cells, each of which is then measured to its own end; throws a `UsageError` where it has as many runs already. */
export function extendPlan(plan: Plan, maxRunsPerVariant: number): Plan {
  const cells = plan.cells.map(({ design, ...cell }) => {
    const budget = wholeSteps(maxRunsPerVariant, design.pairsPerStep);
    const last = design.budgets.at(-1) ?? 0;
    if (budget <= last) {
      throw new UsageError(
        `--max-runs: the experiment has up to ${last} runs of each variant already, found ${maxRunsPerVariant}.`,
      );
    }
    return { ...cell, design: { ...design, budgets: [...design.budgets, budget] } };
  });
  const trials = trialsFor(cells, plan.variants, plan.traffic.runsPerTrial, plan.seed);
  return { ...plan, policy: policyOfExtended(plan.policy), cells, trials };
}

const trialsFor = (cells: PlannedCell[], variants: Variant[], runsPerTrial: number, seed: number) =>
  schedule({
    cells: cells.map(({ cell }) => cell),
    first: new Set(cells.flatMap(({ cell, isFirst }) => (isFirst ? cell : []))),
    variants: variants.map(({ variant }) => variant),
    runsPerVariant: Math.max(...cells.map(({ design }) => design.budgets.at(-1) ?? 0)),
    runsPerTrial,
    seed,
    layouts: new Map(
      variants.flatMap((variant) => {
        const layouts = layoutsOf(variant);
        return layouts.length === 0 ? [] : [[variant.variant, layouts]];
      }),
    ),
  });

/** Draws a seed that cannot be predicted; the plan keeps it. */
export const randomSeed = (): number => randomInt(2 ** 31);

const file = 'experiment.json';

/** Writes the plan so that it is there whole or not at all; a directory that holds one already is a `PlanError`. */
export const writePlan = (directory: string, plan: Plan): Promise<void> =>
  beginPlanFile(directory, file, plan);

/** Writes a plan over the one that is there. */
export const replacePlan = (directory: string, plan: Plan): Promise<void> =>
  replacePlanFile(directory, file, plan);

/** Reads the plan of an earlier process; throws a `PlanError` where there is none. */
export const readPlan = (directory: string): Promise<Plan> =>
  readPlanFile(directory, file, planSchema);

/** Explains how to resume. */
export const goingOn = (directory: string, command: string): string =>
  `What was measured is in ${directory}: go on with '${command} --resume ${directory}'.`;

export const hasPlan = (directory: string): Promise<boolean> => hasPlanFile(directory, file);
