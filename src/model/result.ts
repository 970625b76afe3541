// Defines `result.json`, the one source of all reports.
import { z } from 'zod';
import { patchSchema } from './patch.ts';
import { rejectionSchema, rejections } from './rejection.ts';
import { cellSchema } from './scenario.ts';

export const metricSchema = z.enum(['pps', 'nsPerPacket', 'instructionsPerPacket']);

const validitySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('valid') }),
  z.object({
    kind: z.literal('invalid'),
    cause: z.enum([
      'broken-log',
      'too-short',
      'unsteady',
      'hole',
      /** The DUT had time to spare: the sender was measured. */
      'generator-limited',
      /** Fewer packets were counted than the DUT sent: the receiver was measured. */
      'receiver-limited',
      /** Sender or DUT waited for a CPU of their shared machine. */
      'machine-busy',
    ]),
    reason: z.string(),
  }),
]);

/** A variant installed and measured once: a number per metric, and the samples behind it. */
export const runSchema = z.object({
  number: z.int().positive(),
  trial: z.int().positive(),
  /** A trial with an invalid run is repeated; all attempts are kept. */
  attempt: z.int().positive(),
  /** A pair has one consecutive run of each variant in its cell. */
  pair: z.int().positive(),
  variant: z.string(),
  /** Seed of the order of sections of the booted kernel, 1 for the linker's own; absent if linked only once. */
  layout: z.int().positive().optional(),
  /** Sent by the DUT, median of the samples; 0 may count, see `docs/reading-a-report.md`. */
  pps: z.number().nonnegative(),
  /** CPU time of the DUT's forwarding thread per packet, in ns, median of the samples; absent if unknown. */
  nsPerPacket: z.number().positive().optional(),
  /** Executed by the guest per forwarded packet; absent if not counted. */
  instructionsPerPacket: z.number().positive().optional(),
  samples: z.array(
    z.object({
      seconds: z.number().positive(),
      receivedPackets: z.int().nonnegative(),
      forwardedPackets: z.int().nonnegative(),
      busySeconds: z.number().nonnegative().optional(),
      /** Time in which the forwarding thread waited for its CPU. */
      deniedSeconds: z.number().nonnegative().optional(),
      instructions: z.int().nonnegative().optional(),
    }),
  ),
  validity: validitySchema,
});

/** Changes are ratios to base: −0.1 is 10 % less. */
export const intervalSchema = z.object({
  change: z.number(),
  low: z.number(),
  high: z.number(),
});

/**
 * Compares one metric of a cell; absolute values in packets per second, or in ns or instructions per packet. The change
 * of patched is corrected for early stopping, and its interval holds at any look.
 */
const comparisonSchema = z.object({
  metric: metricSchema,
  base: z.number(),
  /** In `others`, that of the variant, as in `patchedRuns`. */
  patched: z.number(),
  baseRuns: z.int().positive(),
  patchedRuns: z.int().positive(),
  interval: intervalSchema,
});

export const verdictsWorstFirst = [
  'regression',
  'invalid',
  'inconclusive',
  'improvement',
  'no-regression',
] as const;

const cellVerdictSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('regression') }),
  z.object({ kind: z.literal('no-regression') }),
  z.object({ kind: z.literal('improvement') }),
  z.object({
    kind: z.literal('inconclusive'),
    /** Still open when another cell's loss ended the experiment: see `gate.stopAtFirst`. */
    isStopped: z.literal(true).exactOptional(),
  }),
  z.object({ kind: z.literal('invalid'), reason: z.string() }),
]);

export const designNames = ['fixed', 'group-sequential'] as const;
/**
 * `fixed` has one interim analysis, when all runs are there. `group-sequential` has several of one nominal level: after 2,
 * 3, 4, 6, 8, 11, 15, 20 … pairs, or after every step of pairs that come at once.
 */
export type DesignName = (typeof designNames)[number];

/** The interim analyses of a cell, fixed before its first run. */
export const designSchema = z.object({
  name: z.enum(designNames),
  /** Maximum pairs: as planned, then of each extension; ascending. */
  budgets: z.array(z.int().positive()).min(1),
  pairsPerStep: z.int().positive(),
  method: z.enum(['paired', 'pooled']),
});

export const historySchema = z.object({
  runs: z.int().positive(),
  /** Geometric mean and number of the runs since base last moved. */
  typical: z.number().positive(),
  typicalRuns: z.int().positive(),
  /**
   * Squared deviations of the mean log run of each session from that of its level; `sinceMove` counts the sessions since
   * base last moved. Absent from older results.
   */
  sessionMeans: z
    .object({
      sinceMove: z.int().positive(),
      sumOfSquares: z.number().nonnegative(),
      degreesOfFreedom: z.int().nonnegative(),
    })
    .exactOptional(),
  /** Squared deviations of log runs from the mean of their own experiment. */
  sumOfSquares: z.number().nonnegative(),
  degreesOfFreedom: z.int().nonnegative(),
  /**
   * Degrees of freedom of the variances of the testbed's sessions around that of their cell: few where sessions differ much
   * in noise. Absent until ten sessions tell.
   */
  sessionDegreesOfFreedom: z.number().positive().max(16).exactOptional(),
});

export const maxEarlierGates = 1000;

/** Earlier gates of the same base and head in this cell, in the history: under the same testbed, traffic and policy. */
export const earlierGatesSchema = z
  .object({
    count: z.int().min(1).max(maxEarlierGates),
    /** Those that found a regression in this cell. */
    regressions: z.int().nonnegative().max(maxEarlierGates),
  })
  .refine(({ count, regressions }) => regressions <= count, 'more regressions than gates');

const baselineSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('unknown') }),
  z.object({ kind: z.literal('steady'), interval: intervalSchema }),
  z.object({ kind: z.literal('moved'), interval: intervalSchema }),
]);

/** From a separate run beside the measured ones; or why there is none. */
export const cellProfileSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('profiled'),
    variant: z.string(),
    /** In the tool's own words: `cpu-clock`, `cpu_clk_unhalted.thread_p`. */
    event: z.string(),
    kernel: z.string(),
    seconds: z.number().positive(),
    /** Non-idle; shares are of these. */
    busySamples: z.int().positive(),
    idleSamples: z.int().nonnegative(),
    /** Folded stacks, relative to the result file; the DUT's raw output is beside them. */
    file: z.string(),
  }),
  z.object({ kind: z.literal('missing'), variant: z.string(), reason: z.string() }),
]);

/** A function whose own cost, without callees, changed beyond chance; ratios are shares of busy samples. */
const changedFunctionSchema = z.object({
  function: z.string(),
  /** Kernel or module without its folder; absent if unknown. */
  module: z.string().optional(),
  baseRatio: z.number(),
  patchedRatio: z.number(),
  /** Share of the DUT's time per packet, in ns; absent if not measured. */
  nsPerPacket: z.object({ base: z.number(), patched: z.number() }).optional(),
  /** Share of the instructions per packet, if counted and sampled; replaces `nsPerPacket`. */
  instructionsPerPacket: z.object({ base: z.number(), patched: z.number() }).optional(),
});

export const reasonSchema = z.object({
  /** Greatest change first, at most ten; empty if nothing moved beyond chance. */
  changedFunctions: z.array(changedFunctionSchema),
  /** Number of all that moved beyond chance. */
  moved: z.int().nonnegative(),
  /** Stacks with one of these were left out as idle; only those found. */
  idleFrames: z.array(z.string()),
});

const cellResultSchema = z.object({
  cell: cellSchema,
  verdict: cellVerdictSchema,
  design: designSchema,
  history: historySchema.optional(),
  /** Absent for a first gate. */
  earlierGates: earlierGatesSchema.exactOptional(),
  baseline: baselineSchema,
  /** Available pairs at the decision, or at the end of the budget. */
  pairs: z.int().nonnegative(),
  /** The judged metric first, then the others; empty for a cell without enough runs. */
  comparisons: z.array(comparisonSchema),
  /**
   * Earlier diffs against base: shown, not judged. Their intervals have the plain confidence level of a fixed number of
   * runs; early stopping depends on base, and so partly on them.
   */
  others: z
    .array(z.object({ variant: z.string(), comparisons: z.array(comparisonSchema) }))
    .default([]),
  runs: z.array(runSchema),
  /** Empty unless requested. */
  profiles: z.array(cellProfileSchema).default([]),
  /** Absent without profiles of both base and patched. */
  reason: reasonSchema.optional(),
});

export const trialSchema = z.object({
  number: z.int().positive(),
  attempt: z.int().positive(),
  cell: cellSchema,
  startedAt: z.iso.datetime(),
  trafficSeconds: z.number().nonnegative(),
  offeredPps: z.number().nonnegative(),
  /** Busy share of the DUT's busiest CPU; absent if unknown. */
  busiestCpuRatio: z.number().optional(),
  /** Packets sent towards the receiver, by the DUT's own count; absent if unknown. */
  egressPackets: z.int().nonnegative().optional(),
  /** Packets that arrived from the senders, dropped ones included, by the DUT's own count; absent if unknown. */
  ingressPackets: z.int().nonnegative().optional(),
  /** Absent if the variants share a kernel. */
  kernel: z.string().optional(),
  /** By variant, if guests ran side by side. */
  kernels: z.record(z.string(), z.string()).exactOptional(),
  /** Folder, relative to the result file. */
  logs: z.string(),
});

export const policySchema = z.object({
  metric: metricSchema,
  marginRatio: z.number(),
  /** Two-sided; 1 − 2 × `missRatio`, as verdicts rest on the interval. */
  confidenceRatio: z.number(),
  /** Share of harmless patches with a regression in any cell. */
  falseAlarmRatio: z.number(),
  /** Share of cells that lost the margin but passed. */
  missRatio: z.number(),
  /** The first losing cell ends the runs of all others; absent: each is measured to its own end. */
  stopsAtFirst: z.literal(true).exactOptional(),
});

export const maxIgnoredPaths = 20;

const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('judged'),
    verdict: z.enum(['regression', 'no-regression', 'improvement', 'inconclusive', 'invalid']),
    cells: z.array(cellResultSchema).min(1),
  }),
  /** Nothing that the testbed installs, boots or forwards through differs from base. */
  z.object({
    kind: z.literal('unchanged'),
    /** Paths of changed files that matter on other testbeds only, or are configured to be ignored. */
    ignoredPaths: z
      .array(z.string().regex(/^[\w+.*@/-]{1,200}$/))
      .min(1)
      .max(maxIgnoredPaths)
      .exactOptional(),
  }),
  ...rejections,
]);

const variantSummarySchema = z.object({
  name: z.string(),
  commit: z.string(),
  /** Repository folder of the overlay files, empty for the top; absent without an overlay. */
  folder: z.string().optional(),
  files: z.array(z.object({ path: z.string(), sha256: z.string() })),
});

export const resultSchema = z.object({
  schemaVersion: z.literal(1),
  generator: z.object({ name: z.literal('ppsgate'), version: z.string() }),
  patch: patchSchema,
  variants: z.array(variantSummarySchema),
  testbed: z.object({
    name: z.string(),
    fingerprint: z.record(z.string(), z.string()),
    /** Wrong settings that did not prevent the measurement. */
    warnings: z.array(z.string()),
  }),
  policy: policySchema,
  traffic: z.object({
    flows: z.int(),
    frameBytes: z.int(),
    /** Absent: maximum speed of the sender. */
    offeredPps: z.number().optional(),
    measureSeconds: z.number(),
  }),
  seed: z.int(),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  trials: z.array(trialSchema),
  /** Variants other than base and patched that could not be measured. */
  leftOut: z.array(z.object({ variant: z.string(), rejection: rejectionSchema })).default([]),
  outcome: outcomeSchema,
});

export type Metric = z.infer<typeof metricSchema>;
export type Cost = Exclude<Metric, 'pps'>;
export type Validity = z.infer<typeof validitySchema>;
export type Run = z.infer<typeof runSchema>;
export type Interval = z.infer<typeof intervalSchema>;
export type Comparison = z.infer<typeof comparisonSchema>;
export type CellVerdict = z.infer<typeof cellVerdictSchema>;
export type History = z.infer<typeof historySchema>;
export type EarlierGates = z.infer<typeof earlierGatesSchema>;
export type Baseline = z.infer<typeof baselineSchema>;
export type CellProfile = z.infer<typeof cellProfileSchema>;
export type ChangedFunction = z.infer<typeof changedFunctionSchema>;
export type ProfileReason = z.infer<typeof reasonSchema>;
export type CellResult = z.infer<typeof cellResultSchema>;
export type TrialSummary = z.infer<typeof trialSchema>;
export type Policy = z.infer<typeof policySchema>;
export type Outcome = z.infer<typeof outcomeSchema>;
export type Result = z.infer<typeof resultSchema>;

export const isCost = (metric: Metric): metric is Cost => metric !== 'pps';

export const isLoss = ({ metric }: { metric: Metric }, change: number): boolean =>
  isCost(metric) ? change > 0 : change < 0;

export const byMetric = <Value>(of: (metric: Metric) => Value): Record<Metric, Value> => ({
  pps: of('pps'),
  nsPerPacket: of('nsPerPacket'),
  instructionsPerPacket: of('instructionsPerPacket'),
});
