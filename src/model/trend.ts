// Defines the trend of a testbed's nightly runs: rates of each commit, changes since, and false alarms of A/A runs.
import { z } from 'zod';
import { commitId } from './patch.ts';
import { designNames, intervalSchema, metricSchema, verdictsWorstFirst } from './result.ts';
import { cellSchema } from './scenario.ts';

const resultPath = z.string().regex(/^results\/\d{4}\/\w[\w.-]*$/);
const rates = z.array(z.number().positive());

/** A line of `trend/TESTBED/CELL/YEAR.jsonl`: what one commit of the default branch did in one session. */
export const nightlySchema = z.object({
  /** When the session began. */
  at: z.iso.datetime(),
  commit: commitId,
  /** Commit time, which orders commits; absent: not known, and `at` has to do. */
  committedAt: z.iso.datetime().optional(),
  /** Reason of the run: nightly, after a push, or once more as the session before was off. */
  occasion: z.enum(['nightly', 'push', 'again']),
  /** Numbers of each metric, one a trial; none where the DUT cannot tell. */
  pps: rates,
  nsPerPacket: rates,
  /** Absent from lines of before it was counted. */
  instructionsPerPacket: rates.default([]),
  /** Id among `fingerprints` of the index; empty where it was measured before they were kept. */
  fingerprint: z.string(),
  /** Folder of the result, which may be gone. */
  result: resultPath.optional(),
});

/** Identity of a testbed: another firmware, another setting, or for Linux another kernel makes another one. */
const fingerprintSchema = z.object({
  id: z.string().regex(/^[0-9a-f]{12}$/),
  testbed: z.string(),
  since: z.iso.datetime(),
  /** Facts that the one before had not, as `name: value`; sentences for people, none for the first. */
  differs: z.array(z.string()),
  /** Facts that the next one is compared with; only the testbed's last one has them. */
  facts: z.record(z.string(), z.string()).optional(),
});

const levelSchema = z.object({
  cell: cellSchema,
  /** Levels in the metric's unit: medians of nightly runs. */
  before: z.number().positive(),
  after: z.number().positive(),
  /** `after` to `before`, minus one: −0.041 is 4.1 % less of the metric. */
  changeRatio: z.number(),
  /** When the first nightly run of the new level began, by which it is found among the nightly runs. */
  firstAt: z.iso.datetime(),
});

export const changeStates = [
  /** Seen in the nightly runs; no gate has been asked. */
  'candidate',
  /** A gate is asked, and could not tell yet. */
  'confirming',
  /** A gate of both commits on the same testbed has lost it too. */
  'code',
  /** A gate of both commits finds no loss, or there was no commit between: the machine, or chance. */
  'testbed',
  /** A maintainer has accepted the new level. */
  'accepted',
  /** The old level came back. */
  'recovered',
] as const;

/** A lasting step of one testbed's level, in one cell or in several that stepped between the same two commits. */
export const changeSchema = z.object({
  /** Twelve hex digits of the testbed and both commits: the key of everything written about it. */
  id: z.string().regex(/^[0-9a-f]{12}$/),
  testbed: z.string(),
  metric: metricSchema,
  /** The last commit of the old level, and the first of the new one; the same where none came between. */
  good: commitId,
  bad: commitId,
  cells: z.array(levelSchema).min(1),
  state: z.enum(changeStates),
  /** When it was found, and when its state last changed. */
  foundAt: z.iso.datetime(),
  changedAt: z.iso.datetime(),
  /** The gates that were asked, the last one last. */
  gates: z.array(
    z.object({
      at: z.iso.datetime(),
      result: resultPath,
      verdict: z.enum(verdictsWorstFirst),
      cells: z.array(z.object({ cell: cellSchema, interval: intervalSchema.optional() })),
    }),
  ),
  /** The bisection of its range: the commit, where it named a single one. */
  bisection: z.object({ result: resultPath, culprit: commitId.optional() }).optional(),
  /** Notification of the change; `intended` is set before it is sent, and stays where it is not known whether it was. */
  alert: z
    .object({
      intended: z.iso.datetime().optional(),
      /** A random name of the process that began: of two that begin at once each sees whether it is the one. */
      updates: z.string().optional(),
      issue: z.int().positive().optional(),
      /** Text that was posted last, as `saidOf` of the alert has it. */
      postedText: z.string().optional(),
      /** The commit whose pull request and revision were looked for; where there are any they have their comment. */
      commentedCommit: commitId.optional(),
      /** Pull requests and revisions that have their comment, as `#12` and `D27401`. */
      told: z.array(z.string()).default([]),
    })
    .default({ told: [] }),
});

const changeSumsSchema = z.object({
  cell: cellSchema,
  /** Sum of squared changes, as natural logarithms, and of their squared standard errors. */
  sumOfSquares: z.number().nonnegative(),
  runSumOfSquares: z.number().nonnegative(),
});

const gateSumsSchema = z.object({
  /** Gates of which some cell was judged, and those that called any a regression or an improvement. */
  gates: z.int().nonnegative(),
  alarms: z.int().nonnegative(),
  /** The same of cells, and those that could not be judged. */
  cells: z.int().nonnegative(),
  cellAlarms: z.int().nonnegative(),
  inconclusive: z.int().nonnegative(),
  invalid: z.int().nonnegative(),
});

/** Counts false alarms of A/A runs; any other test has a count of its own. */
const aaRunCountsSchema = z.object({
  /** Both variants are one build, or two layouts of one tree. */
  kind: z.enum(['same-build', 'layout-noise']),
  testbed: z.string(),
  fingerprint: z.string(),
  metric: metricSchema,
  marginRatio: z.number(),
  /** Promised rate of false alarms, which the bound is compared with. */
  falseAlarmRatio: z.number(),
  design: z.enum(designNames),
  since: z.iso.datetime(),
  last: z.iso.datetime(),
  ...gateSumsSchema.shape,
  /** The newest alarms, oldest first. */
  alarmed: z.array(
    z.object({ at: z.iso.datetime(), cells: z.array(cellSchema), result: resultPath }),
  ),
  /** Scatter of the changes between two layouts, and of their runs alone. */
  scatter: z.array(changeSumsSchema.extend({ gates: z.int().positive() })),
  /** Counts of each of the newest gates, oldest first, so that a gate published again counts once; absent from old counts. */
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
  /** Cells that have nightly runs; years ascending. */
  cells: z.array(z.object({ testbed: z.string(), cell: cellSchema, years: z.array(z.int()) })),
  fingerprints: z.array(fingerprintSchema),
  /** Oldest first; none is ever dropped. */
  changes: z.array(changeSchema),
  aaRuns: z.array(aaRunCountsSchema),
  /** Tags that are releases, as far as nightly runs were measured since; the newest last. */
  releases: z.array(z.object({ name: z.string(), commit: commitId, at: z.iso.datetime() })),
  /** The page that shows the commits between two, with `{from}` and `{to}`; absent where there is none. */
  compareUrl: z.url().optional(),
});

export type NightlyRun = z.infer<typeof nightlySchema>;
export type TrendChange = z.infer<typeof changeSchema>;
export type ChangeLevel = TrendChange['cells'][number];
export type AaRunCounts = z.infer<typeof aaRunCountsSchema>;
export type TrendIndex = z.infer<typeof trendIndexSchema>;
/** Counts of one A/A run. */
export type AaRun = NonNullable<AaRunCounts['newest']>[number];
