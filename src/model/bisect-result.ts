// Defines the result file of a bisection: its conclusion, and every commit that was tried.
import { z } from 'zod';
import * as bounded from './bounds.ts';
import { commitId } from './patch.ts';
import { rejections } from './rejection.ts';
import {
  cellProfileSchema,
  historySchema,
  intervalSchema,
  maxRuns,
  maxTrials,
  maxVariants,
  metricSchema,
  reasonSchema,
  runSchema,
  trialSchema,
} from './result.ts';
import { cellSchema } from './scenario.ts';
import { testbedKindSchema } from './testbed-kind.ts';
import { offeredTrafficSchema } from './traffic.ts';

export const maxCommits = 20_000;
/** Includes the good end. */
const maxRevisions = maxCommits + 1;

/**
 * Reason why a commit cannot be measured. One failure is enough if nothing depended on it; otherwise it was seen twice,
 * or on a neighbour too.
 */
const faultSchema = z.discriminatedUnion('kind', [
  ...rejections,
  /** Forwards less than a tenth of the slower end: a different bug. */
  z.object({ kind: z.literal('forwards-nothing'), message: bounded.prose() }),
]);

/** A build of a revision: its own, or with fix-ups on top. */
const formSchema = z.object({
  /**
   * `base` for the good end, `patched` for the bad one; otherwise an abbreviated commit id, with those of its fix-ups.
   */
  variant: bounded.variant,
  fixUps: bounded.list(commitId, 100),
  /** Rate of each boot, or of each run if variants share a trial, in the metric's unit. */
  values: bounded.list(bounded.rate),
  fault: faultSchema.optional(),
});

/** A commit of the range, with later commits that leave the kernel or the installed files unchanged. */
const revisionSchema = z.object({
  /** Steps along first parents; 0 is the good end. */
  place: bounded.count,
  commit: commitId,
  /** Id of the Phabricator diff from which the commit was made, for a bisection of a revision's diffs. */
  diff: bounded.id.exactOptional(),
  subject: bounded.line,
  author: bounded.line,
  /** Number of following commits with the same kernel or files. */
  alike: bounded.count,
  isSkipped: z.boolean(),
  /** Between two similar failures, so it was not tried. */
  isAssumedFailed: z.boolean(),
  /** Posterior probability that this is the change. */
  probability: bounded.share,
  /** Tried variants; mostly empty. */
  forms: bounded.list(formSchema, 1000),
});

/** The commit named as bad. Its kernel or files may be those of an earlier commit. */
export const namedCommitSchema = revisionSchema.pick({
  commit: true,
  diff: true,
  subject: true,
  author: true,
});

export const bisectConfidenceRatio = 0.95;

const changeSchema = z.object({
  ...intervalSchema.shape,
  /** Geometric means before and after the change, up to the next one, in the metric's unit. */
  before: bounded.level,
  after: bounded.level,
});

/** Indices into `revisions`. */
const foundSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('culprit'),
    revision: bounded.ordinal,
    probability: bounded.share,
    change: changeSchema,
    /** Fix-ups on top of it, any of which could have caused the fault. */
    measuredWith: bounded.list(commitId, 100),
  }),
  /** Several commits in a row, none measurable between them: all after `after`, through `last`. */
  z.object({
    kind: z.literal('group'),
    after: bounded.count,
    last: bounded.ordinal,
    probability: bounded.share,
    change: changeSchema,
    /** Probably fixed the commits before it, so it would help as a fix-up. */
    likelyFix: commitId.optional(),
  }),
]);

const bisectAnswerSchema = z.discriminatedUnion('kind', [
  ...foundSchema.options,
  /** More than one change; `open` lists the stretches that remain undecided. */
  z.object({
    kind: z.literal('several'),
    found: bounded.list(foundSchema, 100).min(1),
    open: bounded.list(z.object({ after: bounded.count, last: bounded.ordinal }), 100),
  }),
  /** Good and bad do not differ within these boots, or an end cannot be measured. */
  z.object({
    kind: z.literal('not-reproduced'),
    /** Absent if an end could not be measured. */
    change: changeSchema.optional(),
    fault: z.object({ revision: bounded.count, fault: faultSchema }).optional(),
  }),
  /** The rate fell gradually. */
  z.object({
    kind: z.literal('slide'),
    change: changeSchema,
    steps: bounded.list(bounded.ordinal, maxRevisions),
  }),
  z.object({
    kind: z.literal('inconclusive'),
    change: changeSchema,
    best: bounded.list(z.object({ revision: bounded.ordinal, probability: bounded.share })),
    bootsExpected: bounded.count,
  }),
]);

export const bisectResultSchema = z.object({
  schemaVersion: z.literal(1),
  kind: z.literal('bisect'),
  generator: z.object({ name: z.literal('ppsgate'), version: bounded.name }),
  good: bounded.name,
  bad: bounded.name,
  /** Absent: the last revision. */
  badCommit: namedCommitSchema.exactOptional(),
  fixUps: bounded.list(bounded.name, 100),
  testbed: z.object({
    name: bounded.name,
    kind: testbedKindSchema.exactOptional(),
    fingerprint: bounded.facts,
    warnings: bounded.list(bounded.line, 1000),
  }),
  cell: cellSchema,
  metric: metricSchema,
  traffic: offeredTrafficSchema.extend({ measureSeconds: bounded.seconds }),
  history: historySchema.optional(),
  /** Several variants share a trial; otherwise each boot has one. */
  isShared: z.boolean(),
  seed: z.int(),
  startedAt: bounded.time,
  finishedAt: bounded.time,
  revisions: bounded.list(revisionSchema, maxRevisions).min(2),
  answer: bisectAnswerSchema,
  /** Boots, or shared trials, including failed ones. */
  boots: bounded.count,
  /** The bad end with the culprit reverted; absent if not requested. */
  revert: z
    .discriminatedUnion('kind', [
      z.object({
        kind: z.literal('measured'),
        values: bounded.list(bounded.rate),
        change: changeSchema,
      }),
      z.object({ kind: z.literal('impossible'), why: bounded.prose() }),
    ])
    .optional(),
  /** `base` is the culprit's parent, `patched` the culprit. */
  profiles: bounded.list(cellProfileSchema, maxVariants),
  reason: reasonSchema.optional(),
  runs: bounded.list(runSchema, maxRuns),
  trials: bounded.list(trialSchema, maxTrials),
});

export type RevisionFault = z.infer<typeof faultSchema>;
export type BisectForm = z.infer<typeof formSchema>;
export type BisectRevision = z.infer<typeof revisionSchema>;
export type BisectChange = z.infer<typeof changeSchema>;
export type LocatedChange = z.infer<typeof foundSchema>;
export type BisectAnswer = z.infer<typeof bisectAnswerSchema>;
export type BisectResult = z.infer<typeof bisectResultSchema>;
