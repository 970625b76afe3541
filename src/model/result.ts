// The one result file: everything that is shown is rendered from a `result.json` of this shape.
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
      /** No packet came through for some of the time. */
      'hole',
      /** The DUT had time to spare: what was measured is the sender. */
      'generator-limited',
      /** Fewer packets were counted than the DUT sent: what was measured is the receiver. */
      'receiver-limited',
      /** Sender or DUT were due, and did not get a CPU of the machine that they are on. */
      'machine-busy',
    ]),
    /** A sentence for people, with the numbers. */
    reason: z.string(),
  }),
]);

/** One variant installed once and measured once: a number per metric, and the samples that it comes from. */
export const runSchema = z.object({
  number: z.int().positive(),
  trial: z.int().positive(),
  /** Number of the attempt: a trial with an invalid run is repeated, and all attempts are kept. */
  attempt: z.int().positive(),
  /** The runs of one pair follow each other among those of their cell, one of each variant. */
  pair: z.int().positive(),
  variant: z.string(),
  /**
   * Layout of the variant's kernel that was booted: the same objects in another order of sections. The number is the seed
   * of that order, and 1 the linker's own; absent where the kernel was linked but once.
   */
  layout: z.int().positive().optional(),
  /** Packets per second that left the DUT: the median of the samples. A run that counts may have 0, see `docs/reading-a-report.md`. */
  pps: z.number().nonnegative(),
  /** CPU time of the DUT's forwarding thread per packet, in ns: the median of the samples; absent where the DUT cannot tell. */
  nsPerPacket: z.number().positive().optional(),
  /** Instructions that the guest executed for each packet it forwarded; absent where they are not counted. */
  instructionsPerPacket: z.number().positive().optional(),
  samples: z.array(
    z.object({
      seconds: z.number().positive(),
      receivedPackets: z.int().nonnegative(),
      forwardedPackets: z.int().nonnegative(),
      /** CPU time of the DUT's forwarding thread, in seconds. */
      busySeconds: z.number().nonnegative().optional(),
      /** Time in which the forwarding thread was due and its CPU was given to others. */
      deniedSeconds: z.number().nonnegative().optional(),
      /** Instructions that the guest executed. */
      instructions: z.int().nonnegative().optional(),
    }),
  ),
  validity: validitySchema,
});

/** A change is a ratio to base: −0.1 is 10 % less. */
export const intervalSchema = z.object({
  change: z.number(),
  low: z.number(),
  high: z.number(),
});

/**
 * Compares one metric of a cell; absolute values in packets per second, or in ns or instructions per packet. The change of
 * patched is freed of the bias of stopping early, and its interval holds whichever look the experiment stopped at.
 */
const comparisonSchema = z.object({
  metric: metricSchema,
  base: z.number(),
  /** Among `others` of that variant, as in `patchedRuns`. */
  patched: z.number(),
  /** Runs that count. */
  baseRuns: z.int().positive(),
  patchedRuns: z.int().positive(),
  interval: intervalSchema,
});

/** By how much they weigh among the cells of a patch: what keeps it from passing comes first. */
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
    /** The cell was open when another was found to lose, which ended the experiment: see `gate.stopAtFirst`. */
    isStopped: z.literal(true).exactOptional(),
  }),
  z.object({ kind: z.literal('invalid'), reason: z.string() }),
]);

export const designNames = ['fixed', 'group-sequential', 'glr'] as const;
/**
 * `fixed` looks once, when all runs are there. `group-sequential` looks after 3, 5, 8, 12, 20 … pairs and asks the
 * same nominal level of each. `glr` looks after every pair, or where they are many after a twentieth more. Of runs that
 * are pooled it looks from the first or second pair on, tells a loss from a later one on, and is the stricter the more pairs
 * there are; of neighbours it holds a generalized likelihood ratio to one threshold.
 */
export type DesignName = (typeof designNames)[number];

/** Design of a cell's interim analyses, fixed before its first run. */
export const designSchema = z.object({
  name: z.enum(designNames),
  /** Most pairs: as planned, and then of each extension; ascending. */
  budgets: z.array(z.int().positive()).min(1),
  pairsPerStep: z.int().positive(),
  method: z.enum(['paired', 'pooled']),
});

/** Base of a cell in earlier experiments on the testbed. */
export const historySchema = z.object({
  runs: z.int().positive(),
  /** Geometric mean of the runs since the base last moved, and their number. */
  typical: z.number().positive(),
  typicalRuns: z.int().positive(),
  /** Sum of the squares by which natural logarithms of runs are off the mean of their own experiment. */
  sumOfSquares: z.number().nonnegative(),
  degreesOfFreedom: z.int().nonnegative(),
});

const baselineSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('unknown') }),
  z.object({ kind: z.literal('steady'), interval: intervalSchema }),
  z.object({ kind: z.literal('moved'), interval: intervalSchema }),
]);

/** Profile of a variant in a cell, from a run of its own beside the measured ones; or why there is none. */
export const cellProfileSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('profiled'),
    variant: z.string(),
    /** Sampled event, in the tool's own words: `cpu-clock`, `cpu_clk_unhalted.thread_p`. */
    event: z.string(),
    /** Kernel on the DUT, as the profile itself recorded it. */
    kernel: z.string(),
    seconds: z.number().positive(),
    /** Samples in work; shares are of these. */
    busySamples: z.int().positive(),
    idleSamples: z.int().nonnegative(),
    /** Its folded stacks, relative to the result file; beside them lies what the DUT gave. */
    file: z.string(),
  }),
  z.object({ kind: z.literal('missing'), variant: z.string(), reason: z.string() }),
]);

/** A function whose own cost, without that of its callees, changed beyond chance; ratios are its share of busy samples. */
const changedFunctionSchema = z.object({
  function: z.string(),
  /** The kernel or module that it is of, without its folder; absent where the profile does not tell. */
  module: z.string().optional(),
  baseRatio: z.number(),
  patchedRatio: z.number(),
  /** Its share of the DUT's time for each packet, in ns; absent where nothing was measured that tells it. */
  nsPerPacket: z.object({ base: z.number(), patched: z.number() }).optional(),
  /** Its share of the instructions for each packet, where these were counted and sampled; then it has no `nsPerPacket`. */
  instructionsPerPacket: z.object({ base: z.number(), patched: z.number() }).optional(),
});

/** Differences between the profiles of base and patched in a cell. */
export const reasonSchema = z.object({
  /** Greatest change first, at most ten; none where nothing moved beyond chance. */
  changedFunctions: z.array(changedFunctionSchema),
  /** All that moved beyond chance, those that found no room too. */
  moved: z.int().nonnegative(),
  /** Stacks with one of these were left out, as the CPU was idle in them; only those that were found. */
  idleFrames: z.array(z.string()),
});

const cellResultSchema = z.object({
  cell: cellSchema,
  verdict: cellVerdictSchema,
  design: designSchema,
  history: historySchema.optional(),
  /** The base of this experiment against its history. */
  baseline: baselineSchema,
  /** Pairs that were there when it was decided, or when the budget was used up. */
  pairs: z.int().nonnegative(),
  /** The metric that was judged comes first, then the others that were measured; none where the cell is invalid for lack of runs. */
  comparisons: z.array(comparisonSchema),
  /**
   * Earlier diffs beside base, each by itself: shown, and not judged. Their intervals have the plain confidence level,
   * which holds where the number of runs was fixed; stopping early depends on base, and so on a part of theirs too.
   */
  others: z
    .array(z.object({ variant: z.string(), comparisons: z.array(comparisonSchema) }))
    .default([]),
  runs: z.array(runSchema),
  /** One of each variant; none where profiles were not asked for. */
  profiles: z.array(cellProfileSchema).default([]),
  /** Absent where a profile of base or patched is missing. */
  reason: reasonSchema.optional(),
});

export const trialSchema = z.object({
  number: z.int().positive(),
  attempt: z.int().positive(),
  cell: cellSchema,
  startedAt: z.iso.datetime(),
  trafficSeconds: z.number().nonnegative(),
  offeredPps: z.number().nonnegative(),
  /** Busy share of the CPU that was busiest on the DUT; absent where it does not tell. */
  busiestCpuRatio: z.number().optional(),
  /** Packets that left the DUT towards the receiver, as its own port counts them; absent where it does not tell. */
  egressPackets: z.int().nonnegative().optional(),
  /** Packets that came to the DUT's port from the senders, dropped ones too, by its own count; absent where it does not tell. */
  ingressPackets: z.int().nonnegative().optional(),
  /** Kernel on the DUT, as it reports itself; absent where the variants share a kernel. */
  kernel: z.string().optional(),
  /** The same of each variant by its name, where guests ran them side by side. */
  kernels: z.record(z.string(), z.string()).exactOptional(),
  /** Folder of the raw logs, relative to the result file. */
  logs: z.string(),
});

/** Policy of a verdict. */
export const policySchema = z.object({
  metric: metricSchema,
  /** The loss that matters, as a ratio to base. */
  marginRatio: z.number(),
  /** Confidence of the interval around a change, two-sided; since verdicts rest on it, 1 − 2 × `missRatio`. */
  confidenceRatio: z.number(),
  /** A regression in any cell of a patch that loses nothing, as a share of such patches. */
  falseAlarmRatio: z.number(),
  /** A cell passed that lost the margin, as a share of such cells. */
  missRatio: z.number(),
  /** The first cell that is found to lose ends the runs of all others; absent: each is measured to its own end. */
  stopsAtFirst: z.literal(true).exactOptional(),
});

/** More would not be read. */
export const maxIgnoredPaths = 20;

const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('judged'),
    verdict: z.enum(['regression', 'no-regression', 'improvement', 'inconclusive', 'invalid']),
    cells: z.array(cellResultSchema).min(1),
  }),
  /** Nothing that the testbed would install, boot or forward through differs from base, so nothing was measured. */
  z.object({
    kind: z.literal('unchanged'),
    /** Places in the tree, as the gate has them, of changed files that count on other testbeds, or are said not to count. */
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
  /** Path in the repository of the folder that the overlay files lie in, empty for its top; absent where none are installed. */
  folder: z.string().optional(),
  /** Overlay files as `path` and SHA-256. */
  files: z.array(z.object({ path: z.string(), sha256: z.string() })),
});

export const resultSchema = z.object({
  schemaVersion: z.literal(1),
  generator: z.object({ name: z.literal('ppsgate'), version: z.string() }),
  patch: patchSchema,
  variants: z.array(variantSummarySchema),
  testbed: z.object({
    name: z.string(),
    /** Facts of the DUT: kernel, CPU, interfaces, settings that matter. */
    fingerprint: z.record(z.string(), z.string()),
    /** Settings that did not hold while it was measured all the same. */
    warnings: z.array(z.string()),
  }),
  policy: policySchema,
  /** Packets as they were sent, and the measured seconds of each run. */
  traffic: z.object({
    flows: z.int(),
    frameBytes: z.int(),
    /** Absent: as fast as the sender can. */
    offeredPps: z.number().optional(),
    measureSeconds: z.number(),
  }),
  /** Seed of the order of runs. */
  seed: z.int(),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  trials: z.array(trialSchema),
  /** Variants that could not be measured, beside base and patched, and why. */
  leftOut: z.array(z.object({ variant: z.string(), rejection: rejectionSchema })).default([]),
  outcome: outcomeSchema,
});

export type Metric = z.infer<typeof metricSchema>;
/** Metrics that are a cost of a packet: less is better. */
export type Cost = Exclude<Metric, 'pps'>;
export type Validity = z.infer<typeof validitySchema>;
export type Run = z.infer<typeof runSchema>;
export type Interval = z.infer<typeof intervalSchema>;
export type Comparison = z.infer<typeof comparisonSchema>;
export type CellVerdict = z.infer<typeof cellVerdictSchema>;
export type History = z.infer<typeof historySchema>;
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

/** Checks for a loss: fewer packets per second, or a higher cost of each. */
export const isLoss = ({ metric }: { metric: Metric }, change: number): boolean =>
  isCost(metric) ? change > 0 : change < 0;

/** Something of each metric. */
export const byMetric = <Value>(of: (metric: Metric) => Value): Record<Metric, Value> => ({
  pps: of('pps'),
  nsPerPacket: of('nsPerPacket'),
  instructionsPerPacket: of('instructionsPerPacket'),
});
