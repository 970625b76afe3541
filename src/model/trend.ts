// Defines the trend of a testbed's nightly runs: rates per commit, change points, and false alarms of A/A runs.
import { z } from 'zod';
import * as bounded from './bounds.ts';
import { commitId } from './patch.ts';
import { designNames, intervalSchema, metricSchema, verdictsWorstFirst } from './result.ts';
import { cellSchema } from './scenario.ts';

const resultPath = bounded.name.regex(/^results\/\d{4}\/\w[\w.-]*$/);
const rates = bounded.list(bounded.measured);

/** A line of `trend/TESTBED/CELL/YEAR.jsonl`: one commit of the default branch in one session. */
export const nightlySchema = z.object({
  at: bounded.time,
  commit: commitId,
  /** Orders commits; if absent, `at` does. */
  committedAt: bounded.time.optional(),
  /** `again` repeats a session whose numbers deviated. */
  occasion: z.enum(['nightly', 'push', 'again']),
  /** Has a number for each trial; empty if the DUT measures none. */
  pps: rates,
  nsPerPacket: rates,
  instructionsPerPacket: rates,
  /** Key in `fingerprints` of the index. */
  fingerprint: bounded.name,
  /** Folder of the result, which may be gone. */
  result: resultPath.optional(),
});

/** Identity of a testbed. Other firmware, other settings or, on Linux, another kernel make a new one. */
const fingerprintSchema = z.object({
  id: z.string().regex(/^[0-9a-f]{12}$/),
  testbed: bounded.name,
  since: bounded.time,
  /** New facts as `name: value`, for people; empty for the first identity. */
  differs: bounded.list(bounded.line, 1000),
  /** Facts to compare with the next identity; only the testbed's last one has them. */
  facts: bounded.facts.optional(),
});

const levelSchema = z.object({
  cell: cellSchema,
  /** Medians of nightly runs, in the metric's unit. */
  before: bounded.measured,
  after: bounded.measured,
  /** `after` to `before`, minus one: −0.041 is 4.1 % less. */
  changeRatio: bounded.change,
  /** Beginning of the first nightly run at the new level; identifies the change. */
  firstAt: bounded.time,
});

export const changeStates = [
  /** Seen in nightly runs, not yet in a gate. */
  'candidate',
  /** A gate was requested, or was inconclusive. */
  'confirming',
  /** A gate of both commits on the same testbed confirms the loss. */
  'code',
  /** A gate of both commits finds no loss, or no commit is between them: the machine changed, or chance. */
  'testbed',
  'accepted',
  'recovered',
] as const;

/** A lasting step of a testbed's level, in all cells that stepped between the same two commits. */
const changeSchema = z.object({
  /**
   * Forty hex digits that identify the testbed and both commits (twelve in old files); key of every comment on the
   * change.
   */
  id: z.string().regex(/^[0-9a-f]{12}(?:[0-9a-f]{28})?$/),
  testbed: bounded.name,
  metric: metricSchema,
  /** Last commit of the old level, and first of the new one; equal if none is between. */
  good: commitId,
  bad: commitId,
  cells: bounded.list(levelSchema, 1000).min(1),
  state: z.enum(changeStates),
  foundAt: bounded.time,
  changedAt: bounded.time,
  gates: bounded.list(
    z.object({
      at: bounded.time,
      result: resultPath,
      verdict: z.enum(verdictsWorstFirst),
      cells: bounded.list(z.object({ cell: cellSchema, interval: intervalSchema.optional() }), 1000),
    }),
  ),
  /** Bisection of its range; has the commit if it named exactly one. */
  bisection: z.object({ result: resultPath, culprit: commitId.optional() }).optional(),
  /** Notifications about the change. */
  alert: z.object({
    issue: bounded.id.optional(),
    /** Text of the state that was posted last. */
    postedText: bounded.text(100_000).optional(),
    /** Commit whose pull request and revision were looked up and commented on. */
    commentedCommit: commitId.optional(),
    /** Pull requests and revisions that have a comment, like `#12` and `D27401`. */
    told: bounded.list(bounded.line),
  }),
});

const changeSumsSchema = z.object({
  cell: cellSchema,
  /** Sums over log changes, and over their squared standard errors. */
  sumOfSquares: bounded.sumOfSquares,
  runSumOfSquares: bounded.sumOfSquares,
});

const gateSumsSchema = z.object({
  /** Gates with a judged cell, and gates with a regression or an improvement. */
  gates: bounded.count,
  alarms: bounded.count,
  /** The same for cells, with those that could not be judged. */
  cells: bounded.count,
  cellAlarms: bounded.count,
  inconclusive: bounded.count,
  invalid: bounded.count,
});

/** Counts false alarms of A/A runs, once for each method. */
const aaRunCountsSchema = z.object({
  /** Both variants are one build, or two layouts of one tree. */
  kind: z.enum(['same-build', 'layout-noise']),
  testbed: bounded.name,
  fingerprint: bounded.name,
  metric: metricSchema,
  marginRatio: bounded.share,
  falseAlarmRatio: bounded.share,
  design: z.enum(designNames),
  since: bounded.time,
  last: bounded.time,
  ...gateSumsSchema.shape,
  alarmed: bounded.list(z.object({ at: bounded.time, cells: bounded.list(cellSchema, 1000), result: resultPath })),
  /** Compares the differences between two layouts with the noise of their runs. */
  scatter: bounded.list(changeSumsSchema.extend({ gates: bounded.ordinal }), 1000),
  /** Newest gates, oldest first, so that republishing a gate counts it once; absent in old counts. */
  newest: bounded
    .list(
      z.object({
        at: bounded.time,
        ...gateSumsSchema.shape,
        scatter: bounded.list(changeSumsSchema, 1000),
      }),
    )
    .optional(),
});

/** `trend/index.json`. */
export const trendIndexSchema = z.object({
  schemaVersion: z.literal(1),
  /** Cells that have nightly runs; years ascending. */
  cells: bounded.list(z.object({ testbed: bounded.name, cell: cellSchema, years: bounded.list(bounded.count, 1000) })),
  fingerprints: bounded.list(fingerprintSchema),
  /** Oldest first; none is ever removed. */
  changes: bounded.list(changeSchema),
  aaRuns: bounded.list(aaRunCountsSchema),
  /** Release tags measured since; newest last. */
  releases: bounded.list(z.object({ name: bounded.name, commit: commitId, at: bounded.time })),
  /** Page of the commits from `{from}` to `{to}`. */
  compareUrl: bounded.url.optional(),
});

export type NightlyRun = z.infer<typeof nightlySchema>;
export type TrendChange = z.infer<typeof changeSchema>;
export type ChangeLevel = TrendChange['cells'][number];
export type AaRunCounts = z.infer<typeof aaRunCountsSchema>;
export type TrendIndex = z.infer<typeof trendIndexSchema>;
export type AaRun = NonNullable<AaRunCounts['newest']>[number];
