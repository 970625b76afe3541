// Defines the trend of a testbed's nightly runs: rates per commit, changes, and false alarms of A/A runs.
import { z } from 'zod';
import { commitId } from './patch.ts';
import { designNames, intervalSchema, metricSchema, verdictsWorstFirst } from './result.ts';
import { cellSchema } from './scenario.ts';

const resultPath = z.string().regex(/^results\/\d{4}\/\w[\w.-]*$/);
const rates = z.array(z.number().positive());

/** A line of `trend/TESTBED/CELL/YEAR.jsonl`: one commit of the default branch in one session. */
export const nightlySchema = z.object({
  at: z.iso.datetime(),
  commit: commitId,
  /** Orders commits; absent: unknown, `at` is used. */
  committedAt: z.iso.datetime().optional(),
  /** `again` repeats a session that was off. */
  occasion: z.enum(['nightly', 'push', 'again']),
  /** Numbers of the trials; empty if the DUT has none. */
  pps: rates,
  nsPerPacket: rates,
  /** Absent from older lines. */
  instructionsPerPacket: rates.default([]),
  /** Key in `fingerprints` of the index; empty in older lines. */
  fingerprint: z.string(),
  /** Folder of the result, which may be gone. */
  result: resultPath.optional(),
});

/** Identity of a testbed: another firmware, setting, or for Linux kernel makes another one. */
const fingerprintSchema = z.object({
  id: z.string().regex(/^[0-9a-f]{12}$/),
  testbed: z.string(),
  since: z.iso.datetime(),
  /** New facts as `name: value`, for people; empty for the first. */
  differs: z.array(z.string()),
  /** Kept for comparison with the next one; only the testbed's last one has them. */
  facts: z.record(z.string(), z.string()).optional(),
});

const levelSchema = z.object({
  cell: cellSchema,
  /** Medians of nightly runs, in the metric's unit. */
  before: z.number().positive(),
  after: z.number().positive(),
  /** `after` to `before`, minus one: −0.041 is 4.1 % less. */
  changeRatio: z.number(),
  /** Begin of the first nightly run at the new level, which identifies it. */
  firstAt: z.iso.datetime(),
});

export const changeStates = [
  /** Seen in nightly runs, not yet in a gate. */
  'candidate',
  /** A gate is requested, or was inconclusive. */
  'confirming',
  /** A gate of both commits on the same testbed confirms the loss. */
  'code',
  /** A gate of both commits finds no loss, or no commit is between: the machine, or chance. */
  'testbed',
  'accepted',
  'recovered',
] as const;

/** A lasting step of a testbed's level, in all cells that stepped between the same two commits. */
const changeSchema = z.object({
  /** Forty hex digits of the testbed and both commits, twelve in old files: the key of all that is written about it. */
  id: z.string().regex(/^[0-9a-f]{12}(?:[0-9a-f]{28})?$/),
  testbed: z.string(),
  metric: metricSchema,
  /** Last commit of the old level and first of the new one; equal if none came between. */
  good: commitId,
  bad: commitId,
  cells: z.array(levelSchema).min(1),
  state: z.enum(changeStates),
  foundAt: z.iso.datetime(),
  changedAt: z.iso.datetime(),
  gates: z.array(
    z.object({
      at: z.iso.datetime(),
      result: resultPath,
      verdict: z.enum(verdictsWorstFirst),
      cells: z.array(z.object({ cell: cellSchema, interval: intervalSchema.optional() })),
    }),
  ),
  /** Bisection of its range; with the commit if it named a single one. */
  bisection: z.object({ result: resultPath, culprit: commitId.optional() }).optional(),
  /** Notification of the change; `intended` is set before sending, and stays if the outcome is unknown. */
  alert: z
    .object({
      intended: z.iso.datetime().optional(),
      /** Random name of the updating process, with which two concurrent ones detect each other. */
      updates: z.string().optional(),
      issue: z.int().positive().optional(),
      /** Last posted text, as in `saidOf` of the alert. */
      postedText: z.string().optional(),
      /** The commit whose pull request and revision were looked up and commented. */
      commentedCommit: commitId.optional(),
      /** Commented pull requests and revisions, as `#12` and `D27401`. */
      told: z.array(z.string()).default([]),
    })
    .default({ told: [] }),
});

const changeSumsSchema = z.object({
  cell: cellSchema,
  /** Sums over log changes, and over their squared standard errors. */
  sumOfSquares: z.number().nonnegative(),
  runSumOfSquares: z.number().nonnegative(),
});

const gateSumsSchema = z.object({
  /** Gates with a judged cell, and those with a regression or an improvement. */
  gates: z.int().nonnegative(),
  alarms: z.int().nonnegative(),
  /** Cells likewise, and those that could not be judged. */
  cells: z.int().nonnegative(),
  cellAlarms: z.int().nonnegative(),
  inconclusive: z.int().nonnegative(),
  invalid: z.int().nonnegative(),
});

/** Counts false alarms of A/A runs, one count per method. */
const aaRunCountsSchema = z.object({
  /** Both variants are one build, or two layouts of one tree. */
  kind: z.enum(['same-build', 'layout-noise']),
  testbed: z.string(),
  fingerprint: z.string(),
  metric: metricSchema,
  marginRatio: z.number(),
  falseAlarmRatio: z.number(),
  design: z.enum(designNames),
  since: z.iso.datetime(),
  last: z.iso.datetime(),
  ...gateSumsSchema.shape,
  alarmed: z.array(
    z.object({ at: z.iso.datetime(), cells: z.array(cellSchema), result: resultPath }),
  ),
  /** Compares changes between two layouts with their runs. */
  scatter: z.array(changeSumsSchema.extend({ gates: z.int().positive() })),
  /** The newest gates, oldest first, so that a republished gate counts once; absent from old counts. */
  newest: z
    .array(
      z.object({
        at: z.iso.datetime(),
        ...gateSumsSchema.shape,
        scatter: z.array(changeSumsSchema),
      }),
    )
    .optional(),
});

/** `trend/index.json`. */
export const trendIndexSchema = z.object({
  schemaVersion: z.literal(1),
  /** Cells with nightly runs; years ascending. */
  cells: z.array(z.object({ testbed: z.string(), cell: cellSchema, years: z.array(z.int()) })),
  fingerprints: z.array(fingerprintSchema),
  /** Oldest first; never dropped. */
  changes: z.array(changeSchema),
  aaRuns: z.array(aaRunCountsSchema),
  /** Release tags measured since; newest last. */
  releases: z.array(z.object({ name: z.string(), commit: commitId, at: z.iso.datetime() })),
  /** Page of the commits between `{from}` and `{to}`. */
  compareUrl: z.url().optional(),
});

export type NightlyRun = z.infer<typeof nightlySchema>;
export type TrendChange = z.infer<typeof changeSchema>;
export type ChangeLevel = TrendChange['cells'][number];
export type AaRunCounts = z.infer<typeof aaRunCountsSchema>;
export type TrendIndex = z.infer<typeof trendIndexSchema>;
export type AaRun = NonNullable<AaRunCounts['newest']>[number];
