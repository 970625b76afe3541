// Stores base's runs of earlier experiments as JSON lines, one per cell of an experiment.
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { mean, sum, sumNthPowerDeviations } from 'simple-statistics';
import { z } from 'zod';
import { type Noise, sumOf } from '../../analysis/stats/evidence.ts';
import { sessionDegreesOfFreedom } from '../../analysis/stats/sessions.ts';
import { isCounted, trialNumbers } from '../../analysis/stats/trial-numbers.ts';
import * as bounded from '../../model/bounds.ts';
import type { Metric } from '../../model/metric.ts';
import { byMetric, type History, type Result, type Run } from '../../model/result.ts';
import { cellName, cellSchema } from '../../model/scenario.ts';
import { type TestbedKind, testbedKindSchema } from '../../model/testbed-kind.ts';
import { isSameTraffic, offeredTraffic, offeredTrafficSchema } from '../../model/traffic.ts';
import { giveNew } from '../../system/give-to-caller.ts';
import { checkNotOpen, ExposedPlaceError } from '../../system/own-file.ts';
import { durationsOf, durationsSchema } from '../estimate/durations.ts';
import { gateOfLine, gateOfLineSchema } from './earlier-gates.ts';

const rates = bounded.list(bounded.measured);

export const historyEntrySchema = z.object({
  /** Start of the experiment. An extended one writes again, and its last line counts. */
  at: bounded.time,
  testbed: bounded.name,
  /** Absent in lines of imported results. */
  kind: testbedKindSchema.exactOptional(),
  cell: cellSchema,
  traffic: offeredTrafficSchema,
  commit: bounded.name,
  /** Holds one rate per trial, in order. */
  pps: rates,
  nsPerPacket: rates,
  instructionsPerPacket: rates,
  /** Numbers of patched; absent if none of its runs count. */
  patched: z.object({ pps: rates, nsPerPacket: rates, instructionsPerPacket: rates }).optional(),
  /** True if base had changed against the earlier history. */
  moved: z.boolean(),
  /** Layouts of base's kernel that were booted, if several: the spread then includes the noise of builds. */
  layouts: bounded.count.min(2).optional(),
  /** Equal for all cells of a gate; absent for fewer than two trials. */
  durations: durationsSchema.optional(),
  /** Absent in lines not written by a gate of two commits. */
  gate: gateOfLineSchema.optional(),
});

export type HistoryEntry = z.infer<typeof historyEntrySchema>;

export type HistoryFile = {
  read(): Promise<HistoryEntry[]>;
  append(entries: readonly HistoryEntry[]): Promise<void>;
};

/** Reports an unusable history; nothing is measured until it is fixed. */
export class HistoryError extends Error {
  override readonly name = 'HistoryError';
  readonly conclusion = 'usage';
}

/**
 * Opens the history at `path`, which need not exist yet. `read` throws a `HistoryError` that names the first bad line.
 */
export function historyFile(path: string): HistoryFile {
  return {
    async read() {
      const text = await readFile(path, 'utf8').catch(ifMissing(path));
      refuseIfOpen(path);
      return text.split('\n').flatMap((line, index) => (line ? parseLine(line, path, index) : []));
    },
    async append(entries) {
      if (entries.length === 0) return;
      const made = await mkdir(dirname(path), { recursive: true, mode: 0o755 });
      const lines = entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
      await appendFile(path, lines, { mode: 0o644 });
      await giveNew(made ?? path);
    },
  };
}

/** Refuses a file that any user may write, as it could give the gate any noise. */
function refuseIfOpen(path: string): void {
  try {
    checkNotOpen(path);
  } catch (error) {
    if (!(error instanceof ExposedPlaceError)) throw error;
    throw new HistoryError(`The history ${path} is refused: ${error.message}.`);
  }
}

const ifMissing = (path: string) => (error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return '';
  throw new HistoryError(
    `The history ${path} cannot be read (${error.code}): name a file by \`history\` in ppsgate.yml.`,
  );
};

function parseLine(line: string, path: string, index: number): HistoryEntry {
  try {
    return historyEntrySchema.parse(JSON.parse(line));
  } catch {
    throw new HistoryError(`${path}:${index + 1} is not a valid line of a history: remove it, or name another file.`);
  }
}

/** Drops entries from the future, which would stay the newest forever. */
export const earlierEntries = (entries: readonly HistoryEntry[], now: Date): HistoryEntry[] =>
  entries.filter(({ at }) => Date.parse(at) <= now.getTime());

/** Returns the lines of a testbed, except those from when its name stood for another kind. */
export function entriesOf(
  entries: readonly HistoryEntry[],
  { testbed, kind }: { testbed: string; kind: TestbedKind | undefined },
): HistoryEntry[] {
  const isOfKind = (entry: HistoryEntry) => [entry.kind, kind].includes(undefined) || entry.kind === kind;
  return entries.filter((entry) => entry.testbed === testbed && isOfKind(entry));
}

type HistoryQuery = Pick<HistoryEntry, 'testbed' | 'cell' | 'traffic'> & {
  metric: Metric;
  /** Runs rotate through layouts. The history of a single layout understates their noise. */
  hasLayouts?: boolean;
};

/**
 * Describes the latest sessions of a cell. Noise is the spread within sessions, so a moving base does not look noisy.
 */
export function historyOf(
  entries: readonly HistoryEntry[],
  { testbed, cell, traffic, metric, hasLayouts = false }: HistoryQuery,
): History | undefined {
  const own = entries.filter(
    (entry) =>
      entry.testbed === testbed &&
      cellName(entry.cell) === cellName(cell) &&
      isSameTraffic(entry.traffic, traffic) &&
      (entry.layouts !== undefined) === hasLayouts &&
      entry[metric].length > 0,
  );
  const sessions = lastLines(own)
    .toSorted((a, b) => a.at.localeCompare(b.at))
    .slice(-maxSessionsOfCell);
  const levels = levelsOf(sessions).map((level) => level.map((entry) => entry[metric].map(Math.log)));
  const last = levels.at(-1);
  if (last === undefined) return undefined;
  const latest = newest(sessions, metric);
  const ofSessions = sessionDegreesOfFreedom(sessionsOn(entries, testbed, metric));
  return {
    runs: latest.flatMap((entry) => entry[metric]).length,
    typical: Math.exp(mean(last.flat())),
    typicalRuns: last.flat().length,
    sessionMeans: {
      sinceMove: last.length,
      sumOfSquares: sum(levels.map((level) => sumNthPowerDeviations(level.map(mean), 2))),
      degreesOfFreedom: sum(levels.map((level) => level.length - 1)),
    },
    ...latest.map((entry) => noiseOf(entry, metric)).reduce(sumOf),
    ...(ofSessions !== undefined && { sessionDegreesOfFreedom: ofSessions }),
  };
}

/** Splits sessions where base changed. */
function levelsOf(sessions: readonly HistoryEntry[]): HistoryEntry[][] {
  const levels: HistoryEntry[][] = [];
  for (const entry of sessions) {
    const level = levels.at(-1);
    if (level === undefined || entry.moved) levels.push([entry]);
    else level.push(entry);
  }
  return levels;
}

/** An extended experiment has several lines. */
const lastLines = (entries: readonly HistoryEntry[]): HistoryEntry[] => [
  ...new Map(entries.map((entry) => [entry.at, entry])).values(),
];

/** Spread of the runs of base and patched within a session, each around its own mean. */
function noiseOf(entry: HistoryEntry, metric: Metric): Noise {
  const variants = [entry[metric], entry.patched?.[metric] ?? []].filter(({ length }) => length > 0);
  return {
    sumOfSquares: sum(variants.map((values) => sumNthPowerDeviations(values.map(Math.log), 2))),
    degreesOfFreedom: sum(variants.map(({ length }) => length - 1)),
  };
}

/** Lines used to find how far a testbed's sessions differ; older ones may be of another lab. */
const maxSessions = 500;

function sessionsOn(entries: readonly HistoryEntry[], testbed: string, metric: Metric): Noise[][] {
  const own = entries.filter((entry) => entry.testbed === testbed && entry[metric].length > 0).slice(-maxSessions);
  const cells = Map.groupBy(own, ({ cell, traffic, layouts }) =>
    JSON.stringify([cellName(cell), traffic, layouts !== undefined]),
  );
  return [...cells.values()].map((lines) => lastLines(lines).map((line) => noiseOf(line, metric)));
}

/** Exceeds what a prior keeps, so that the variance itself is well known. */
const enoughDegreesOfFreedom = 24;

/** Sessions with one number have no degree of freedom, and a possibly outdated level. */
const maxSessionsOfCell = 30;

/** Counts degrees of freedom instead of lines, as gates that end early have few runs. */
function newest(sessions: readonly HistoryEntry[], metric: Metric): HistoryEntry[] {
  let degreesOfFreedom = 0;
  const first = sessions.findLastIndex((entry) => {
    degreesOfFreedom += noiseOf(entry, metric).degreesOfFreedom;
    return degreesOfFreedom >= enoughDegreesOfFreedom;
  });
  return sessions.slice(Math.max(0, first));
}

export const baseNumbers = (runs: readonly Run[], metric: Metric): number[] => numbersOf('base', runs, metric);

/** Keeps a line that only counts its gate. */
export const withoutNumbers = ({ patched: _, durations: __, layouts: ___, ...entry }: HistoryEntry): HistoryEntry => ({
  ...entry,
  ...byMetric(() => []),
  moved: false,
});

/** Counts only the first boot of each layout, if there are several: repeats would understate the spread. */
function numbersOf(variant: string, runs: readonly Run[], metric: Metric): number[] {
  const counted = runs.filter((run) => run.variant === variant && isCounted(run));
  const firstOf = new Map(counted.toReversed().map((run) => [run.layout, run]));
  const kept = firstOf.size > 1 ? counted.filter((run) => firstOf.get(run.layout) === run) : counted;
  return trialNumbers(kept, metric);
}

export function historyEntries(experiment: Result): HistoryEntry[] {
  const { startedAt: at, testbed, variants, outcome } = experiment;
  if (outcome.kind !== 'judged') return [];
  const traffic = offeredTraffic(experiment.traffic);
  const durations = durationsOf(experiment);
  const commit = variants.find((variant) => variant.name === 'base')?.commit ?? '';
  return outcome.cells.flatMap((result) => {
    const { cell, runs, baseline } = result;
    const gate = gateOfLine(experiment, result);
    const numbers = byMetric((metric) => baseNumbers(runs, metric));
    const patched = byMetric((metric) => numbersOf('patched', runs, metric));
    if (numbers.pps.length === 0) return [];
    const layouts = new Set(runs.flatMap(({ variant, layout }) => (variant === 'base' ? (layout ?? 1) : [])));
    return {
      at,
      testbed: testbed.name,
      ...(testbed.kind !== undefined && { kind: testbed.kind }),
      cell,
      traffic,
      commit,
      ...numbers,
      ...(patched.pps.length > 0 && { patched }),
      moved: baseline.kind === 'moved',
      ...(layouts.size > 1 && { layouts: layouts.size }),
      ...(durations && { durations }),
      ...(gate && { gate }),
    };
  });
}
