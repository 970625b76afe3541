// The result file of a bisection: which commit of a range costs the packets, and all that was tried on the way.
import { z } from 'zod';
import { commitId } from './patch.ts';
import { rejections } from './rejection.ts';
import {
  cellProfileSchema,
  historySchema,
  intervalSchema,
  metricSchema,
  reasonSchema,
  runSchema,
  trialSchema,
} from './result.ts';
import { cellSchema } from './scenario.ts';

/** Reason why a commit cannot be measured: seen twice of it, or of it and of a neighbour; or once, where no more depended on it. */
const faultSchema = z.discriminatedUnion('kind', [
  ...rejections,
  /** No packet comes through, or less than a tenth of what the slower end forwards: another bug than the one looked for. */
  z.object({ kind: z.literal('forwards-nothing'), message: z.string() }),
]);

/** One that was built of a revision: its own, or with fix-ups on top. */
const formSchema = z.object({
  /** `base` of the good end, `patched` of the bad one, else the beginning of the commit's id; with fix-ups theirs too. */
  variant: z.string(),
  /** Commits that were applied on top, in their order. */
  fixUps: z.array(commitId),
  /** Rate of each boot, or of each run where several variants share a trial, in the metric's unit. */
  values: z.array(z.number().nonnegative()),
  fault: faultSchema.optional(),
});

/** A commit of the range, with those after it that make the same kernel, or lay the same files. */
const revisionSchema = z.object({
  /** Steps along the line of first parents: 0 is the good one. */
  place: z.int().nonnegative(),
  commit: commitId,
  subject: z.string(),
  author: z.string(),
  /** Number of following commits that change nothing of what is booted or installed. */
  alike: z.int().nonnegative(),
  isSkipped: z.boolean(),
  /** Lies between two that failed alike, and was taken for failed without a try. */
  isAssumedFailed: z.boolean(),
  /** Probability that it changed the rate, by all measurements. */
  probability: z.number(),
  /** Variants that were tried of it; none of most. */
  forms: z.array(formSchema),
});

/** Confidence of the intervals around a bisection's changes, two-sided. */
export const bisectConfidenceRatio = 0.95;

const changeSchema = z.object({
  ...intervalSchema.shape,
  /** Geometric means of all that was measured before and after it, as far as the next change, in the metric's unit. */
  before: z.number(),
  after: z.number(),
});

/** Indices are those of `revisions`. */
const foundSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('culprit'),
    revision: z.int().positive(),
    probability: z.number(),
    change: changeSchema,
    /** Fix-ups that were on top of it: a fault of its own could be theirs, too. */
    measuredWith: z.array(commitId),
  }),
  /** One of several in a row, of which none between could be measured: all after `after` up to `last`. */
  z.object({
    kind: z.literal('group'),
    after: z.int().nonnegative(),
    last: z.int().positive(),
    probability: z.number(),
    change: changeSchema,
    /** The commit that made the ones before it work again, as far as can be told: the fix-up that would tell more. */
    likelyFix: commitId.optional(),
  }),
]);

const bisectAnswerSchema = z.discriminatedUnion('kind', [
  ...foundSchema.options,
  /** More than one change, each found by itself; `open` are stretches without an answer. */
  z.object({
    kind: z.literal('several'),
    found: z.array(foundSchema).min(1),
    open: z.array(z.object({ after: z.int().nonnegative(), last: z.int().positive() })),
  }),
  /** Good and bad do not differ, as far as so many boots tell, or one of them cannot be measured. */
  z.object({
    kind: z.literal('not-reproduced'),
    /** Absent where an end could not be measured. */
    change: changeSchema.optional(),
    fault: z.object({ revision: z.int().nonnegative(), fault: faultSchema }).optional(),
  }),
  /** The speed was lost bit by bit, and no commit stands out. */
  z.object({ kind: z.literal('slide'), change: changeSchema, steps: z.array(z.int().positive()) }),
  z.object({
    kind: z.literal('inconclusive'),
    change: changeSchema,
    best: z.array(z.object({ revision: z.int().positive(), probability: z.number() })),
    /** Boots still needed for an answer, estimated. */
    bootsExpected: z.int().nonnegative(),
  }),
]);

export const bisectResultSchema = z.object({
  schemaVersion: z.literal(1),
  kind: z.literal('bisect'),
  generator: z.object({ name: z.literal('ppsgate'), version: z.string() }),
  /** Names of the commits as they were typed. */
  good: z.string(),
  bad: z.string(),
  fixUps: z.array(z.string()),
  testbed: z.object({
    name: z.string(),
    fingerprint: z.record(z.string(), z.string()),
    warnings: z.array(z.string()),
  }),
  cell: cellSchema,
  metric: metricSchema,
  traffic: z.object({
    flows: z.int(),
    frameBytes: z.int(),
    offeredPps: z.number().optional(),
    measureSeconds: z.number(),
  }),
  history: historySchema.optional(),
  /** Several variants share a trial; else each boot has one. */
  isShared: z.boolean(),
  seed: z.int(),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  revisions: z.array(revisionSchema).min(2),
  answer: bisectAnswerSchema,
  /** Boots, or shared trials, those that failed too. */
  boots: z.int().nonnegative(),
  /** The bad end without the culprit; absent where that was not asked for. */
  revert: z
    .discriminatedUnion('kind', [
      z.object({ kind: z.literal('measured'), values: z.array(z.number()), change: changeSchema }),
      z.object({ kind: z.literal('impossible'), why: z.string() }),
    ])
    .optional(),
  /** `base` is the culprit's parent in them, and `patched` the culprit. */
  profiles: z.array(cellProfileSchema),
  reason: reasonSchema.optional(),
  runs: z.array(runSchema),
  trials: z.array(trialSchema),
});

export type RevisionFault = z.infer<typeof faultSchema>;
export type BisectForm = z.infer<typeof formSchema>;
export type BisectRevision = z.infer<typeof revisionSchema>;
export type BisectChange = z.infer<typeof changeSchema>;
export type LocatedChange = z.infer<typeof foundSchema>;
export type BisectAnswer = z.infer<typeof bisectAnswerSchema>;
export type BisectResult = z.infer<typeof bisectResultSchema>;
