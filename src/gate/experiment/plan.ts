// Fixes everything that an experiment does before its first run.
import { randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type Config, testbedKindOf } from '../../config/schema.ts';
import { type Variant, variantSchema } from '../../kernel/variant.ts';
import { mapOwnRules, portNames } from '../../lab/map-interfaces.ts';
import * as bounded from '../../model/bounds.ts';
import { fileReasonOf } from '../../model/one-line.ts';
import { type Patch, patchSchema } from '../../model/patch.ts';
import { plannedTrialSchema } from '../../model/planned-trial.ts';
import {
  designSchema,
  earlierGatesSchema,
  historySchema,
  maxTrials,
  maxVariants,
  policySchema,
} from '../../model/result.ts';
import { type Cell, cellName, cellSchema, ownRulesSchema } from '../../model/scenario.ts';
import { testbedKindSchema } from '../../model/testbed-kind.ts';
import { offeredTrafficSchema } from '../../model/traffic.ts';
import { UsageError } from '../../model/usage-error.ts';
import { expectedDurationsOn, expectedDurationsSchema } from '../estimate/durations.ts';
import { earlierGates } from './earlier-gates.ts';
import { entriesOf, type HistoryEntry, historyOf } from './history.ts';
import { beginPlanFile, hasPlanFile, readPlanFile, replacePlanFile } from './plan-file.ts';
import { pairsPerTrial, schedule } from './schedule.ts';

const plannedCellSchema = z.object({
  cell: cellSchema,
  design: designSchema,
  history: historySchema.optional(),
  /** Kept by an extension, which is not a gate of its own. */
  earlierGates: earlierGatesSchema.exactOptional(),
  /** The patch affects this cell but not all others, so it comes first in each round. */
  isFirst: z.literal(true).exactOptional(),
});

export const plannedTraffic = offeredTrafficSchema.extend({
  warmUpSeconds: bounded.seconds,
  settleSeconds: bounded.seconds,
  measureSeconds: bounded.seconds,
  measureAtLeastSeconds: bounded.seconds,
  runsPerTrial: bounded.count,
  windows: z.object({ count: bounded.count, packets: bounded.total }).optional(),
}) satisfies z.ZodType<Config['traffic']>;

export const plannedProfile = z.object({
  seconds: bounded.seconds,
  event: bounded.name.optional(),
});

const planSchema = z.object({
  schemaVersion: z.literal(1),
  patch: patchSchema,
  testbed: bounded.name,
  kind: testbedKindSchema.exactOptional(),
  variants: bounded.list(variantSchema, maxVariants).min(2),
  rules: bounded.byName(ownRulesSchema),
  cells: bounded.list(plannedCellSchema, 1000).min(1),
  policy: policySchema,
  traffic: plannedTraffic,
  /** Profiles of every variant in every decided cell; absent: none. */
  profile: plannedProfile.optional(),
  durations: expectedDurationsSchema,
  seed: z.int(),
  /** Every trial that may be needed, in order. Most cells are decided before their last trial. */
  trials: bounded.list(plannedTrialSchema, maxTrials).min(1),
});

export type PlannedCell = z.infer<typeof plannedCellSchema>;
export type Plan = z.infer<typeof planSchema>;

type PlanRequest = {
  patch: Patch;
  config: Config;
  testbed: string;
  seed: number;
  cells?: readonly Cell[];
  /** Cells that come first in each round; naming all has no effect. */
  first?: readonly Cell[];
  rules?: Plan['rules'];
  /** Patched is base in another layout, so all differences are noise. */
  measuresLayoutNoise?: boolean | undefined;
};

/** Orders everything by the seed; a cell's history is its prior. */
export function makePlan(request: PlanRequest, unlinked: readonly Variant[], entries: readonly HistoryEntry[]): Plan {
  const variants = withLayouts(unlinked, request);
  const { patch, config, testbed, seed, rules = {}, cells: wanted = cellsOf(config) } = request;
  const kind = testbedKindOf(config, testbed);
  const history = entriesOf(entries, { testbed, kind });
  const { traffic, profile } = config;
  const policy = policyOf(config);
  const hasLayouts = variants.some((variant) => layoutsOf(variant).length > 1);
  const place = { testbed, cells: wanted, variants: variants.length, hasLayouts };
  const commitOf = (name: string) => variants.find(({ variant }) => variant === name)?.commit;
  const first = new Set(request.first?.map(cellName));
  const cells = planCells(config, place, history).map((planned): PlannedCell => {
    const isFirst = first.has(cellName(planned.cell)) && first.size < wanted.length;
    const commits = { base: commitOf('base'), head: commitOf('patched') ?? patch.headCommit };
    const { cell } = planned;
    const earlier = earlierGates(history, { ...commits, testbed, cell, traffic, policy });
    return {
      ...planned,
      ...(earlier && { earlierGates: earlier }),
      ...(isFirst && { isFirst }),
    };
  });
  return {
    schemaVersion: 1,
    patch,
    testbed,
    ...(kind !== undefined && { kind }),
    variants,
    rules: rulesOn(testbed, config, rules),
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
  variants: number;
  hasLayouts?: boolean;
};

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
 * Chooses the layouts of each kernel to boot. A gate for layout noise has exactly two, drawn by the seed: their
 * difference beyond that of the runs is the noise of builds, which several layouts would hide in the spread.
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

export function layoutsOn({ testbeds }: Pick<Config, 'testbeds'>, name: string): number {
  const testbed = testbeds[name];
  return (testbed?.kind === 'freebsd' && testbed.builder?.layoutVariants) || 1;
}

const layoutsOf = ({ kernel }: Variant): readonly number[] => (kernel?.kind === 'tree' && kernel.layouts) || [];

/** Puts a FreeBSD DUT's interfaces into rules that name those of a router; guests know theirs later. */
export function rulesOn(
  testbed: string,
  { testbeds, overlay: { interfaces } }: Pick<Config, 'testbeds' | 'overlay'>,
  rules: Plan['rules'],
): Plan['rules'] {
  const one = testbeds[testbed];
  if (one?.kind !== 'freebsd' || interfaces === undefined) return rules;
  const { ingress, egress } = one.dut;
  const ports = { ingress: ingress.interface, egress: egress.interface };
  return mapOwnRules(rules, portNames(interfaces, ports));
}

/** Texts of the site's own rules to be measured; throws a `UsageError` for an unreadable one. */
export async function readRules({ rules, scenarios }: Pick<Config, 'rules' | 'scenarios'>): Promise<Plan['rules']> {
  const entries = Object.entries(rules).filter(([name]) => scenarios.includes(name));
  const read = entries.map(async ([name, { path, ...rest }]) => {
    const text = await readFile(path, 'utf8').catch((error: unknown) => {
      throw new UsageError(`rules: ${name}: ${path} cannot be read (${fileReasonOf(error)}).`);
    });
    return [name, { ...rest, text }] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

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

/** Returns the given cells that the configuration still has, in its order. */
export function cellsAmong(config: Parameters<typeof cellsOf>[0], some: readonly Cell[]): Cell[] {
  const names = new Set(some.map(cellName));
  return cellsOf(config).filter((cell) => names.has(cellName(cell)));
}

export function policyOf({ gate }: Pick<Config, 'gate'>): Plan['policy'] {
  const { design: _, maxRunsPerVariant: __, ...policy } = gate;
  return policy;
}

/** An extended experiment decides every cell. */
export function policyOfExtended({ stopsAtFirst: _, ...policy }: Plan['policy']): Plan['policy'] {
  return policy;
}

export function designOf({ traffic, gate }: Pick<Config, 'traffic' | 'gate'>, variants: number): PlannedCell['design'] {
  const pairsPerStep = pairsPerTrial(traffic.runsPerTrial, variants);
  const method = pairsPerStep > 1 ? 'paired' : 'pooled';
  const usualRuns = method === 'pooled' ? usualSingleRuns : usualPairs(traffic.runsPerTrial, variants);
  const budget = wholeSteps(gate.maxRunsPerVariant ?? usualRuns, pairsPerStep);
  return { name: gate.design ?? 'group-sequential', budgets: [budget], pairsPerStep, method };
}

const usualSingleRuns = 20;

/**
 * Equals the pairs of five trials of two variants, also if more variants share them, so the verdict keeps its
 * certainty.
 */
const usualPairs = (runsPerTrial: number, variants: number): number =>
  5 * Math.max(pairsPerTrial(runsPerTrial, variants), pairsPerTrial(runsPerTrial, 2));

const wholeSteps = (pairs: number, pairsPerStep: number): number => Math.ceil(pairs / pairsPerStep) * pairsPerStep;

/** Measures each cell to its own end. Throws a `UsageError` if the plan already has as many runs. */
export function extendPlan(plan: Plan, maxRunsPerVariant: number): Plan {
  const cells = plan.cells.map(({ design, ...cell }) => {
    const budget = wholeSteps(maxRunsPerVariant, design.pairsPerStep);
    const last = design.budgets.at(-1) ?? 0;
    if (budget <= last) {
      throw new UsageError(
        `--max-runs: expected more than the ${last} runs of each variant that the experiment already allows, found ${maxRunsPerVariant}.`,
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

/** Unpredictable, and stored in the plan. */
export const randomSeed = (): number => randomInt(2 ** 31);

const file = 'experiment.json';

/** Writes the plan atomically. Throws a `PlanError` if the directory already has one. */
export const writePlan = (directory: string, plan: Plan): Promise<void> => beginPlanFile(directory, file, plan);

export const replacePlan = (directory: string, plan: Plan): Promise<void> => replacePlanFile(directory, file, plan);

export const readPlan = (directory: string): Promise<Plan> => readPlanFile(directory, file, planSchema);

export const resumeAdvice = (directory: string, command: string): string =>
  `The measurements are in ${directory}: continue with '${command} --resume ${directory}'.`;

export const hasPlan = (directory: string): Promise<boolean> => hasPlanFile(directory, file);
