// The one result file: everything that is shown is rendered from a `result.json` of this shape.
import { z } from 'zod';
import { patchSchema } from '../patch/patch.ts';
import { cellSchema, scenarioSchema } from '../scenario/scenario.ts';

export const metricSchema = z.enum(['pps', 'nsPerPacket']);

export const validitySchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('valid') }),
  z.object({ kind: z.literal('invalid'), reason: z.string() }),
]);

/** One variant laid once and measured once: a number per metric, and the samples that it comes from. */
export const runSchema = z.object({
  number: z.int().positive(),
  blast: z.int().positive(),
  /** Which try of the blast: a blast with an invalid run is repeated, and all its tries are kept. */
  attempt: z.int().positive(),
  /** The runs of one pair follow each other directly, one of each variant. */
  pair: z.int().positive(),
  variant: z.string(),
  /** Packets per second that left the DUT: the median of the samples. */
  pps: z.number().nonnegative(),
  /** CPU time of the DUT's forwarding thread per packet, in ns: the median of the samples; absent where the DUT cannot tell. */
  nsPerPacket: z.number().positive().optional(),
  samples: z.array(
    z.object({
      seconds: z.number().positive(),
      receivedPackets: z.int().nonnegative(),
      forwardedPackets: z.int().nonnegative(),
      /** CPU time of the DUT's forwarding thread, in seconds. */
      busySeconds: z.number().nonnegative().optional(),
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

/** What one metric says of a cell; absolute values in packets per second, or ns per packet. */
export const comparisonSchema = z.object({
  metric: metricSchema,
  base: z.number(),
  patched: z.number(),
  pairs: z.int().positive(),
  interval: intervalSchema,
});

export const cellVerdictSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('regression') }),
  z.object({ kind: z.literal('no-regression') }),
  z.object({ kind: z.literal('improvement') }),
  z.object({ kind: z.literal('inconclusive') }),
  z.object({ kind: z.literal('invalid'), reason: z.string() }),
]);

export const cellResultSchema = z.object({
  cell: cellSchema,
  verdict: cellVerdictSchema,
  /** The metric that was judged comes first; none where the cell is invalid for lack of runs. */
  comparisons: z.array(comparisonSchema),
  runs: z.array(runSchema),
});

export const blastSchema = z.object({
  number: z.int().positive(),
  attempt: z.int().positive(),
  cell: cellSchema,
  startedAt: z.iso.datetime(),
  /** How long packets flowed. */
  trafficSeconds: z.number().nonnegative(),
  offeredPps: z.number().nonnegative(),
  /** Folder of the raw logs, relative to the result file. */
  logs: z.string(),
});

/** What a verdict is held to. */
export const policySchema = z.object({
  metric: metricSchema,
  /** The loss that matters, as a ratio to base. */
  marginRatio: z.number(),
  /** Of the interval around a change, two-sided. */
  confidenceRatio: z.number(),
  runsPerVariant: z.int(),
});

export const outcomeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('judged'),
    verdict: z.enum(['regression', 'no-regression', 'improvement', 'inconclusive', 'invalid']),
    cells: z.array(cellResultSchema).min(1),
  }),
  z.object({ kind: z.literal('does-not-apply'), message: z.string() }),
  z.object({ kind: z.literal('does-not-load'), scenario: scenarioSchema, message: z.string() }),
]);

export const variantSummarySchema = z.object({
  name: z.string(),
  commit: z.string(),
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
    /** What the DUT says of itself: kernel, CPU, interfaces, settings that matter. */
    fingerprint: z.record(z.string(), z.string()),
  }),
  policy: policySchema,
  /** How the packets were sent, and for how long each run was measured. */
  traffic: z.object({
    flows: z.int(),
    frameBytes: z.int(),
    offeredPps: z.number(),
    measureSeconds: z.number(),
  }),
  /** Seed of the order of runs. */
  seed: z.int(),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  blasts: z.array(blastSchema),
  outcome: outcomeSchema,
});

export type Metric = z.infer<typeof metricSchema>;
export type Run = z.infer<typeof runSchema>;
export type Interval = z.infer<typeof intervalSchema>;
export type Comparison = z.infer<typeof comparisonSchema>;
export type CellVerdict = z.infer<typeof cellVerdictSchema>;
export type CellResult = z.infer<typeof cellResultSchema>;
export type BlastSummary = z.infer<typeof blastSchema>;
export type Policy = z.infer<typeof policySchema>;
export type Outcome = z.infer<typeof outcomeSchema>;
export type Result = z.infer<typeof resultSchema>;
