// Fixes a bisection's request in a file before its first boot.
import { z } from 'zod';
import * as bounded from '../../model/bounds.ts';
import { shortId } from '../../model/patch.ts';
import { historySchema, metricSchema } from '../../model/result.ts';
import { cellSchema, ownRulesSchema } from '../../model/scenario.ts';
import { testbedKindSchema } from '../../model/testbed-kind.ts';
import { UsageError } from '../../model/usage-error.ts';
import { expectedDurationsSchema } from '../estimate/durations.ts';
import { plannedProfile, plannedTraffic } from '../experiment/plan.ts';
import { beginPlanFile, hasPlanFile, readPlanFile, replacePlanFile } from '../experiment/plan-file.ts';
import { rangeSchema } from './range.ts';

const bisectPlanSchema = z.object({
  schemaVersion: z.literal(1),
  /** Ends, fix-ups and skips, as typed. */
  good: bounded.name,
  bad: bounded.name,
  fixUps: bounded.list(bounded.name, 100),
  skips: bounded.list(bounded.name),
  range: rangeSchema,
  testbed: bounded.name,
  kind: testbedKindSchema.exactOptional(),
  system: z.enum(['linux', 'freebsd']),
  /** Files installed over the DUT's, on Linux. */
  overlay: z.union([
    z.object({ path: bounded.path, beside: bounded.path }),
    z.object({ files: bounded.byName(bounded.path), beside: bounded.path }),
  ]),
  cell: cellSchema,
  metric: metricSchema,
  traffic: plannedTraffic,
  rules: bounded.byName(ownRulesSchema),
  profile: plannedProfile.optional(),
  history: historySchema.optional(),
  durations: expectedDurationsSchema,
  /** Expected change as a ratio: that of a gate, or the loss that matters. */
  effect: bounded.change,
  seed: z.int(),
  mostBoots: bounded.ordinal,
  isVerified: z.boolean(),
});

export type BisectPlan = z.infer<typeof bisectPlanSchema>;

const file = 'bisect.json';

/** Writes the plan atomically. Throws a `PlanError` for a directory in use. */
export const writeBisectPlan = (directory: string, plan: BisectPlan): Promise<void> =>
  beginPlanFile(directory, file, plan);

export const replaceBisectPlan = (directory: string, plan: BisectPlan): Promise<void> =>
  replacePlanFile(directory, file, plan);

export const readBisectPlan = (directory: string): Promise<BisectPlan> =>
  readPlanFile(directory, file, bisectPlanSchema);

export const hasBisectPlan = (directory: string): Promise<boolean> => hasPlanFile(directory, file);

/** Excludes commits from the range. Throws a `UsageError` for an end, or a commit outside the range. */
export function withSkipped(plan: BisectPlan, commits: readonly string[]): BisectPlan {
  const { revisions } = plan.range;
  const between = revisions.slice(1, -1).map(({ commit }) => commit);
  const stranger = commits.find((commit) => !between.includes(commit));
  if (stranger !== undefined) {
    throw new UsageError(
      `--skip: ${shortId(stranger)} is not a separately measured commit between the ends of this bisection: name one from its progress lines.`,
    );
  }
  const skipped = revisions.map((revision) =>
    commits.includes(revision.commit) ? { ...revision, isSkipped: true } : revision,
  );
  return { ...plan, range: { ...plan.range, revisions: skipped } };
}

/** Allows more boots. Throws a `UsageError` if the plan already allows as many. */
export function withMostBoots(plan: BisectPlan, mostBoots: number): BisectPlan {
  if (mostBoots > plan.mostBoots) return { ...plan, mostBoots };
  throw new UsageError(
    `--max-boots: expected more than the ${plan.mostBoots} boots that the bisection already allows, found ${mostBoots}.`,
  );
}
