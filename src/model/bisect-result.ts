// Defines the result file of a bisection: its answer, and everything that was tried.
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

/** Why a commit cannot be measured: seen twice, or on a neighbour too; or once, if nothing depended on it. */
const faultSchema = z.discriminatedUnion('kind', [
  ...rejections,
  /** Forwards less than a tenth of the slower end: a different bug. */
  z.object({ kind: z.literal('forwards-nothing'), message: z.string() }),
]);

/** A build of a revision: its own, or with fix-ups on top. */
const formSchema = z.object({
  /** `base` for the good end, `patched` for the bad one, else an abbreviated commit id, plus those of fix-ups. */
  variant: z.string(),
  fixUps: z.array(commitId),
  /** Rate of each boot, or of each run if variants share a trial, in the metric's unit. */
  values: z.array(z.number().nonnegative()),
  fault: faultSchema.optional(),
});

/** A commit of the range, with later ones that leave the kernel or the installed files unchanged. */
const revisionSchema = z.object({
  /** Steps along first parents; 0 is the good end. */
  place: z.int().nonnegative(),
  commit: commitId,
  subject: z.string(),
  author: z.string(),
  /** Number of following commits with the same kernel or files. */
  alike: z.int().nonnegative(),
  isSkipped: z.boolean(),
  /** Untried, between two similar failures. */
  isAssumedFailed: z.boolean(),
  /** Probability of being the change, given all measurements. */
  probability: z.number(),
  /** Tried variants; mostly empty. */
  forms: z.array(formSchema),
});

export const bisectConfidenceRatio = 0.95;

const changeSchema = z.object({
  ...intervalSchema.shape,
  /** Geometric means before and after it, up to the next change, in the metric's unit. */
  before: z.number(),
  after: z.number(),
});

/** Indices into `revisions`. */
const foundSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('culprit'),
    revision: z.int().positive(),
    probability: z.number(),
    change: changeSchema,
    /** Fix-ups on top of it, which could have caused the fault. */
    measuredWith: z.array(commitId),
  }),
  /** Several in a row, with none between measurable: all after `after` through `last`. */
  z.object({
    kind: z.literal('group'),
    after: z.int().nonnegative(),
    last: z.int().positive(),
    probability: z.number(),
    change: changeSchema,
    /** The commit that probably fixed the ones before it: a fix-up that would help. */
    likelyFix: commitId.optional(),
  }),
]);

const bisectAnswerSchema = z.discriminatedUnion('kind', [
  ...foundSchema.options,
  /** More than one change; `open` are stretches without an answer. */
  z.object({
    kind: z.literal('several'),
    found: z.array(foundSchema).min(1),
    open: z.array(z.object({ after: z.int().nonnegative(), last: z.int().positive() })),
  }),
  /** Good and bad do not differ within these boots, or one of them cannot be measured. */
  z.object({
    kind: z.literal('not-reproduced'),
    /** Absent if an end could not be measured. */
    change: changeSchema.optional(),
    fault: z.object({ revision: z.int().nonnegative(), fault: faultSchema }).optional(),
  }),
  /** The speed was lost gradually. */
  z.object({ kind: z.literal('slide'), change: changeSchema, steps: z.array(z.int().positive()) }),
  z.object({
    kind: z.literal('inconclusive'),
    change: changeSchema,
    best: z.array(z.object({ revision: z.int().positive(), probability: z.number() })),
    bootsExpected: z.int().nonnegative(),
  }),
]);

export const bisectResultSchema = z.object({
  schemaVersion: z.literal(1),
  kind: z.literal('bisect'),
  generator: z.object({ name: z.literal('ppsgate'), version: z.string() }),
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
  /** Several variants share a trial; otherwise each boot has one. */
  isShared: z.boolean(),
  seed: z.int(),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  revisions: z.array(revisionSchema).min(2),
  answer: bisectAnswerSchema,
  /** Boots, or shared trials, including failed ones. */
  boots: z.int().nonnegative(),
  /** The bad end without the culprit; absent if not requested. */
  revert: z
    .discriminatedUnion('kind', [
      z.object({ kind: z.literal('measured'), values: z.array(z.number()), change: changeSchema }),
      z.object({ kind: z.literal('impossible'), why: z.string() }),
    ])
    .optional(),
  /** `base` is the culprit's parent, `patched` the culprit. */
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
