// Defines `result.json`, the one source of all reports.
import { z } from 'zod';
import * as bounded from './bounds.ts';
import { cellLimitsSchema, trialLimitsSchema } from './limits.ts';
import { isCost, type Metric, metrics } from './metric.ts';
import { patchSchema } from './patch.ts';
import { rejectionSchema, rejections } from './rejection.ts';
import { cellSchema } from './scenario.ts';
import { testbedKindSchema } from './testbed-kind.ts';
import { offeredTrafficSchema } from './traffic.ts';

/** A cell has at most 10,000 pairs, and each run of a trial may be repeated. */
export const maxRuns = 200_000;
export const maxTrials = 200_000;
const maxSamples = 100_000;
const maxCells = 1000;
export const maxVariants = 1000;

export const metricSchema = z.enum(metrics);

const validitySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('valid') }),
  z.object({
    kind: z.literal('invalid'),
    cause: z.enum([
      'broken-log',
      'too-short',
      'unsteady',
      'hole',
      /** The DUT was not saturated, so the sender was measured. */
      'generator-limited',
      /** The receiver counted fewer packets than the DUT sent, so the receiver was measured. */
      'receiver-limited',
      /** Sender or DUT waited for a CPU of their shared machine. */
      'machine-busy',
    ]),
    reason: bounded.line,
  }),
]);

/** A single measurement of a variant: one number per metric, and its samples. */
export const runSchema = z.object({
  number: bounded.ordinal,
  trial: bounded.ordinal,
  /** A trial with an invalid run is repeated. All attempts are kept. */
  attempt: bounded.ordinal,
  /** A pair has one consecutive run of each variant in its cell. */
  pair: bounded.ordinal,
  variant: bounded.variant,
  /** Seed of the section order of the booted kernel; 1 is the linker's own order. Absent if linked only once. */
  layout: bounded.ordinal.optional(),
  /** Sent by the DUT; the median of the samples. Zero can be valid, see `docs/how-to/reading-a-report.md`. */
  pps: bounded.rate,
  /** CPU time of the DUT's forwarding thread per packet, in ns; the median of the samples. Absent if unknown. */
  nsPerPacket: bounded.measured.optional(),
  /** Instructions that the guest executed per forwarded packet; absent if not counted. */
  instructionsPerPacket: bounded.measured.optional(),
  samples: bounded.list(
    z.object({
      seconds: bounded.seconds.positive(),
      receivedPackets: bounded.total,
      forwardedPackets: bounded.total,
      busySeconds: bounded.seconds.optional(),
      /** Time in which the forwarding thread waited for its CPU. */
      deniedSeconds: bounded.seconds.optional(),
      instructions: bounded.total.optional(),
    }),
    maxSamples,
  ),
  validity: validitySchema,
  /** Rule, chain or setting that dropped all packets, for a run that forwarded none; absent if unknown. */
  droppedBy: bounded.line.exactOptional(),
});

/** Changes are ratios to base: −0.1 is 10 % less. */
export const intervalSchema = z.object({
  change: bounded.change,
  low: bounded.change,
  high: bounded.change,
});

/**
 * Compares one metric of a cell, in packets per second, or in ns or instructions per packet. The change of patched is
 * corrected for early stopping, and its interval holds at every interim analysis.
 */
const comparisonSchema = z.object({
  metric: metricSchema,
  base: bounded.level,
  /** In `others`, the level of that variant, as in `patchedRuns`. */
  patched: bounded.level,
  baseRuns: bounded.ordinal,
  patchedRuns: bounded.ordinal,
  interval: intervalSchema,
});

export const verdictsWorstFirst = ['regression', 'invalid', 'inconclusive', 'improvement', 'no-regression'] as const;

const cellVerdictSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('regression') }),
  z.object({ kind: z.literal('no-regression') }),
  z.object({ kind: z.literal('improvement') }),
  z.object({
    kind: z.literal('inconclusive'),
    /** Undecided when another cell's loss ended the experiment; see `gate.stopAtFirst`. */
    isStopped: z.literal(true).exactOptional(),
  }),
  z.object({ kind: z.literal('invalid'), reason: bounded.line }),
]);

export const designNames = ['fixed', 'group-sequential'] as const;
/**
 * `fixed` has one analysis, after all runs. `group-sequential` has several at one nominal level: after 2, 3, 4, 6, 8,
 * 11, 15, 20 … pairs, or after every step of pairs that come at once.
 */
export type DesignName = (typeof designNames)[number];

/** The interim analyses of a cell, fixed before its first run. */
export const designSchema = z.object({
  name: z.enum(designNames),
  /** Maximum pairs: the planned number, then that of each extension; ascending. */
  budgets: bounded.list(bounded.ordinal, 100).min(1),
  pairsPerStep: bounded.ordinal,
  method: z.enum(['paired', 'pooled']),
});

export const historySchema = z.object({
  runs: bounded.ordinal,
  /** Geometric mean and number of base's runs since its last change. */
  typical: bounded.measured,
  typicalRuns: bounded.ordinal,
  /**
   * Squared deviations of each session's mean log run from its level's mean; `sinceMove` counts the sessions since base
   * last changed. Absent in a simulated history.
   */
  sessionMeans: z
    .object({
      sinceMove: bounded.ordinal,
      sumOfSquares: bounded.sumOfSquares,
      degreesOfFreedom: bounded.count,
    })
    .exactOptional(),
  /** Squared deviations of log runs from the mean of their experiment. */
  sumOfSquares: bounded.sumOfSquares,
  degreesOfFreedom: bounded.count,
  /**
   * Degrees of freedom of the variances of the testbed's sessions around that of their cell; few if sessions differ
   * much in noise. Absent before the tenth session.
   */
  sessionDegreesOfFreedom: z.number().positive().max(16).exactOptional(),
});

export const maxEarlierGates = 1000;

/** Earlier gates of the same base and head in this cell, from the history: same testbed, traffic and policy. */
export const earlierGatesSchema = z
  .object({
    count: z.int().min(1).max(maxEarlierGates),
    /** Counts the gates that found a regression in this cell. */
    regressions: z.int().nonnegative().max(maxEarlierGates),
  })
  .refine(({ count, regressions }) => regressions <= count, 'more regressions than gates');

const baselineSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('unknown') }),
  z.object({ kind: z.literal('steady'), interval: intervalSchema }),
  z.object({ kind: z.literal('moved'), interval: intervalSchema }),
]);

/** Sampled in a run besides the measured ones; or the reason why there is none. */
export const cellProfileSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('profiled'),
    variant: bounded.variant,
    /** Named as the profiler prints it: `cpu-clock`, `cpu_clk_unhalted.thread_p`. */
    event: bounded.name,
    kernel: bounded.line,
    seconds: bounded.seconds.positive(),
    /** Excludes idle samples. All shares are of these. */
    busySamples: bounded.id,
    idleSamples: bounded.total,
    /** Folded stacks; path relative to the result file. The DUT's raw output is next to it. */
    file: bounded.path,
  }),
  z.object({ kind: z.literal('missing'), variant: bounded.variant, reason: bounded.line }),
]);

/** A function whose own cost, without callees, changed significantly. Ratios are shares of busy samples. */
const changedFunctionSchema = z.object({
  function: bounded.line,
  /** Kernel or module, without its folder; absent if unknown. */
  module: bounded.line.optional(),
  baseRatio: bounded.share,
  patchedRatio: bounded.share,
  /** Its share of the DUT's time per packet, in ns; absent if not measured. */
  nsPerPacket: z.object({ base: bounded.level, patched: bounded.level }).optional(),
  /** Its share of the instructions per packet, if counted and sampled; replaces `nsPerPacket`. */
  instructionsPerPacket: z.object({ base: bounded.level, patched: bounded.level }).optional(),
});

export const reasonSchema = z.object({
  /** Greatest change first, at most ten; empty if no function changed significantly. */
  changedFunctions: bounded.list(changedFunctionSchema, 100),
  /** Number of all functions that changed significantly. */
  moved: bounded.count,
  /** Frames whose stacks were omitted as idle; only those that occurred. */
  idleFrames: bounded.list(bounded.line, 1000),
});

const cellResultSchema = z.object({
  cell: cellSchema,
  verdict: cellVerdictSchema,
  design: designSchema,
  history: historySchema.optional(),
  /** Absent for the first gate. */
  earlierGates: earlierGatesSchema.exactOptional(),
  baseline: baselineSchema,
  /** Pairs available at the decision, or at the end of the budget. */
  pairs: bounded.count,
  /** The judged metric first, then the others; empty for a cell without enough runs. */
  comparisons: bounded.list(comparisonSchema, 10),
  /**
   * Compares earlier diffs with base: shown, not judged. Their intervals have the plain confidence level of a fixed
   * number of runs, as early stopping depends on base, and so partly on them.
   */
  others: bounded
    .list(z.object({ variant: bounded.variant, comparisons: bounded.list(comparisonSchema, 10) }), maxVariants)
    .default([]),
  runs: bounded.list(runSchema, maxRuns),
  /** Empty unless requested. */
  profiles: bounded.list(cellProfileSchema, maxVariants).default([]),
  /** Absent without profiles of both base and patched. */
  reason: reasonSchema.optional(),
  /** Absent unless read in trials of both base and patched. */
  limits: cellLimitsSchema.exactOptional(),
});

export const trialSchema = z.object({
  number: bounded.ordinal,
  attempt: bounded.ordinal,
  cell: cellSchema,
  startedAt: bounded.time,
  trafficSeconds: bounded.seconds,
  offeredPps: bounded.rate,
  /** Packets sent towards the receiver, as counted by the DUT; absent if unknown. */
  egressPackets: bounded.total.optional(),
  /** Packets that arrived from the senders, including dropped ones, as counted by the DUT; absent if unknown. */
  ingressPackets: bounded.total.optional(),
  /** Speed of the DUT's port towards the senders, in Gbit/s; absent if unknown. */
  lineGigabits: z.number().positive().max(100_000).exactOptional(),
  /** The guest that waited longest for its host's CPUs. Absent if none waited long, or no machine is a guest. */
  starvation: z.object({ machine: bounded.line, deniedRatio: z.number().min(0).max(1) }).exactOptional(),
  /** Absent if the variants share a kernel. */
  kernel: bounded.line.optional(),
  /** Kernels by variant, for guests that ran side by side. */
  kernels: bounded.byVariant(bounded.line).exactOptional(),
  /** Time from the trial's beginning until its guests were up. Absent without a boot, and for machines. */
  bootSeconds: bounded.seconds.exactOptional(),
  /** The busiest CPU and drops by the DUT's own counters; absent for a variant without such readings. */
  limits: bounded.byVariant(trialLimitsSchema).exactOptional(),
  /** Folder, relative to the result file. */
  logs: bounded.path,
});

export const policySchema = z.object({
  metric: metricSchema,
  marginRatio: bounded.share,
  /** Two-sided: 1 − 2 × `missRatio`, as verdicts rest on the interval. */
  confidenceRatio: bounded.share,
  /** Share of harmless patches that show a regression in any cell. */
  falseAlarmRatio: bounded.share,
  /** Share of cells that lost more than the margin and still passed. */
  missRatio: bounded.share,
  /** The first cell with a loss ends the runs of all others. Absent: each cell is measured to its own end. */
  stopsAtFirst: z.literal(true).exactOptional(),
});

export const maxIgnoredPaths = 20;

const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('judged'),
    verdict: z.enum(['regression', 'no-regression', 'improvement', 'inconclusive', 'invalid']),
    cells: bounded.list(cellResultSchema, maxCells).min(1),
  }),
  /** Everything that the testbed installs, boots or forwards through equals base. */
  z.object({
    kind: z.literal('unchanged'),
    /** Changed files that matter only on other testbeds, or that ppsgate.yml ignores. */
    ignoredPaths: z
      .array(z.string().regex(/^[\w+.*@/-]{1,200}$/))
      .min(1)
      .max(maxIgnoredPaths)
      .exactOptional(),
  }),
  ...rejections,
]);

const variantSummarySchema = z.object({
  name: bounded.variant,
  commit: bounded.name,
  /** Folder of the overlay in the repository, empty for the top; absent without an overlay. */
  folder: bounded.path.optional(),
  files: bounded.list(
    z.object({
      path: bounded.path,
      /** Path in the repository, if the overlay is no folder. */
      source: bounded.path.exactOptional(),
      sha256: bounded.name,
    }),
  ),
});

export const resultSchema = z.object({
  schemaVersion: z.literal(1),
  generator: z.object({ name: z.literal('ppsgate'), version: bounded.name }),
  patch: patchSchema,
  variants: bounded.list(variantSummarySchema, maxVariants),
  testbed: z.object({
    name: bounded.name,
    /** Absent in imported results. */
    kind: testbedKindSchema.exactOptional(),
    fingerprint: bounded.facts,
    /** Wrong settings that did not prevent the measurement. */
    warnings: bounded.list(bounded.line, 1000),
  }),
  policy: policySchema,
  traffic: offeredTrafficSchema.extend({ measureSeconds: bounded.seconds }),
  seed: z.int(),
  startedAt: bounded.time,
  finishedAt: bounded.time,
  trials: bounded.list(trialSchema, maxTrials),
  /** Variants other than base and patched that could not be measured. */
  leftOut: bounded.list(z.object({ variant: bounded.variant, rejection: rejectionSchema }), maxVariants).default([]),
  outcome: outcomeSchema,
});

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

export const isLoss = ({ metric }: { metric: Metric }, change: number): boolean =>
  isCost(metric) ? change > 0 : change < 0;

export const byMetric = <Value>(of: (metric: Metric) => Value): Record<Metric, Value> => ({
  pps: of('pps'),
  nsPerPacket: of('nsPerPacket'),
  instructionsPerPacket: of('instructionsPerPacket'),
});
