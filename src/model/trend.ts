// Defines the trend of a testbed's nightly runs: rates per commit, changes, and false alarms of A/A runs.
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
  /** Orders commits; absent: unknown, `at` is used. */
  committedAt: bounded.time.optional(),
  /** `again` repeats a session that was off. */
  occasion: z.enum(['nightly', 'push', 'again']),
  /** Numbers of the trials; empty if the DUT has none. */
  pps: rates,
  nsPerPacket: rates,
  /** Absent from older lines. */
  instructionsPerPacket: rates.default([]),
  /** Key in `fingerprints` of the index; empty in older lines. */
  fingerprint: bounded.name,
  /** Folder of the result, which may be gone. */
  result: resultPath.optional(),
});

/** Identity of a testbed: another firmware, setting, or for Linux kernel makes another one. */
const fingerprintSchema = z.object({
  id: z.string().regex(/^[0-9a-f]{12}$/),
  testbed: bounded.name,
  since: bounded.time,
  /** New facts as `name: value`, for people; empty for the first. */
  differs: bounded.list(bounded.line, 1000),
  /** Kept for comparison with the next one; only the testbed's last one has them. */
  facts: bounded.facts.optional(),
});

const levelSchema = z.object({
  cell: cellSchema,
  /** Medians of nightly runs, in the metric's unit. */
  before: bounded.measured,
  after: bounded.measured,
  /** `after` to `before`, minus one: −0.041 is 4.1 % less. */
  changeRatio: bounded.change,
  /** Begin of the first nightly run at the new level, which identifies it. */
  firstAt: bounded.time,
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
  testbed: bounded.name,
  metric: metricSchema,
  /** Last commit of the old level and first of the new one; equal if none came between. */
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
      cells: bounded.list(
        z.object({ cell: cellSchema, interval: intervalSchema.optional() }),
        1000,
      ),
    }),
  ),
  /** Bisection of its range; with the commit if it named a single one. */
  bisection: z.object({ result: resultPath, culprit: commitId.optional() }).optional(),
  /** Notification of the change; `intended` is set before sending, and stays if the outcome is unknown. */
  alert: z
    .object({
      intended: bounded.time.optional(),
      /** Random name of the updating process, with which two concurrent ones detect each other. */
      updates: bounded.name.optional(),
      issue: bounded.id.optional(),
      /** Last posted text, as in `saidOf` of the alert. */
      postedText: bounded.text(100_000).optional(),
      /** The commit whose pull request and revision were looked up and commented. */
      commentedCommit: commitId.optional(),
      /** Commented pull requests and revisions, as `#12` and `D27401`. */
      told: bounded.list(bounded.line).default([]),
    })
    .default({ told: [] }),
});

const changeSumsSchema = z.object({
  cell: cellSchema,
  /** Sums over log changes, and over their squared standard errors. */
  sumOfSquares: bounded.sumOfSquares,
  runSumOfSquares: bounded.sumOfSquares,
});

const gateSumsSchema = z.object({
  /** Gates with a judged cell, and those with a regression or an improvement. */
  gates: bounded.count,
  alarms: bounded.count,
  /** Cells likewise, and those that could not be judged. */
  cells: bounded.count,
  cellAlarms: bounded.count,
  inconclusive: bounded.count,
  invalid: bounded.count,
});

/** Counts false alarms of A/A runs, one count per method. */
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
  alarmed: bounded.list(
    z.object({ at: bounded.time, cells: bounded.list(cellSchema, 1000), result: resultPath }),
  ),
  /** Compares changes between two layouts with their runs. */
  scatter: bounded.list(changeSumsSchema.extend({ gates: bounded.ordinal }), 1000),
  /** The newest gates, oldest first, so that a republished gate counts once; absent from old counts. */
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
  /** Cells with nightly runs; years ascending. */
  cells: bounded.list(
    z.object({ testbed: bounded.name, cell: cellSchema, years: bounded.list(bounded.count, 1000) }),
  ),
  fingerprints: bounded.list(fingerprintSchema),
  /** Oldest first; never dropped. */
  changes: bounded.list(changeSchema),
  aaRuns: bounded.list(aaRunCountsSchema),
  /** Release tags measured since; newest last. */
  releases: bounded.list(z.object({ name: bounded.name, commit: commitId, at: bounded.time })),
  /** Page of the commits between `{from}` and `{to}`. */
  compareUrl: bounded.url.optional(),
});

export type NightlyRun = z.infer<typeof nightlySchema>;
export type TrendChange = z.infer<typeof changeSchema>;
export type ChangeLevel = TrendChange['cells'][number];
export type AaRunCounts = z.infer<typeof aaRunCountsSchema>;
export type TrendIndex = z.infer<typeof trendIndexSchema>;
export type AaRun = NonNullable<AaRunCounts['newest']>[number];
