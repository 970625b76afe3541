// Keeps the runs of base of earlier experiments: JSON lines, one per cell of an experiment.
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { mean, sumNthPowerDeviations } from 'simple-statistics';
import { z } from 'zod';
import { isCounted, trialNumbers } from '../../analysis/stats/trial-numbers.ts';
import { byMetric, type History, type Metric, type Result, type Run } from '../../model/result.ts';
import { cellName, cellSchema } from '../../model/scenario.ts';
import { durationsOf, durationsSchema } from '../estimate/durations.ts';

const rates = z.array(z.number().positive());

export const historyEntrySchema = z.object({
  /** Begin of the experiment. An extended one writes again, and its last line counts. */
  at: z.iso.datetime(),
  testbed: z.string(),
  cell: cellSchema,
  traffic: z.object({ flows: z.int(), frameBytes: z.int(), offeredPps: z.number().optional() }),
  commit: z.string(),
  /** Number of each trial, in order. */
  pps: rates,
  nsPerPacket: rates,
  /** Absent from older lines. */
  instructionsPerPacket: rates.default([]),
  /** Base had moved against the earlier history. */
  moved: z.boolean(),
  /** Booted layouts of base's kernel, if several: the spread then includes the noise of builds. */
  layouts: z.int().min(2).optional(),
  /** Equal for all cells of a gate; absent in older lines. */
  durations: durationsSchema.optional(),
});

export type HistoryEntry = z.infer<typeof historyEntrySchema>;

export type HistoryFile = {
  read(): Promise<HistoryEntry[]>;
  append(entries: readonly HistoryEntry[]): Promise<void>;
};

/** An unusable history: nothing is measured until it is fixed. */
export class HistoryError extends Error {
  override readonly name = 'HistoryError';
  readonly conclusion = 'usage';
}

/**
 * Opens the history at `path`, which may not exist yet; `read` throws a `HistoryError` that names the first bad line.
 */
export function historyFile(path: string): HistoryFile {
  return {
    async read() {
      const text = await readFile(path, 'utf8').catch(ifMissing(path));
      return text.split('\n').flatMap((line, index) => (line ? parseLine(line, path, index) : []));
    },
    async append(entries) {
      if (entries.length === 0) return;
      await mkdir(dirname(path), { recursive: true });
      await appendFile(path, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
    },
  };
}

const ifMissing = (path: string) => (error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return '';
  throw new HistoryError(`The history ${path} cannot be read (${error.code}).`);
};

function parseLine(line: string, path: string, index: number): HistoryEntry {
  try {
    return historyEntrySchema.parse(JSON.parse(line));
  } catch {
    throw new HistoryError(
      `${path}:${index + 1} is no line of a history of runs: remove the line, or name another file.`,
    );
  }
}

/** Drops entries of the future, which would remain the newest forever. */
export const earlierEntries = (entries: readonly HistoryEntry[], now: Date): HistoryEntry[] =>
  entries.filter(({ at }) => Date.parse(at) <= now.getTime());

type HistoryQuery = Pick<HistoryEntry, 'testbed' | 'cell' | 'traffic'> & {
  metric: Metric;
  /** Runs boot layouts in turn; the history of a single layout understates their noise. */
  hasLayouts?: boolean;
};

/** Pools about thirty runs of base. Noise is the spread within experiments, so a moving base does not look noisy. */
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
  const latest = newest([...new Map(own.map((entry) => [entry.at, entry])).values()], metric);
  const logs = latest.map((entry) => entry[metric].map(Math.log));
  const lastMove = latest.findLastIndex((entry) => entry.moved);
  const sinceMove = logs.slice(Math.max(0, lastMove)).flat();
  if (sinceMove.length === 0) return undefined;
  return {
    runs: logs.flat().length,
    typical: Math.exp(mean(sinceMove)),
    typicalRuns: sinceMove.length,
    sumOfSquares: logs.reduce((sum, set) => sum + sumNthPowerDeviations(set, 2), 0),
    degreesOfFreedom: logs.flat().length - logs.length,
  };
}

const enoughRuns = 30;

function newest(entries: readonly HistoryEntry[], metric: Metric): HistoryEntry[] {
  const byAge = entries.toSorted((a, b) => a.at.localeCompare(b.at));
  let runs = 0;
  const first = byAge.findLastIndex((entry) => {
    runs += entry[metric].length;
    return runs >= enoughRuns;
  });
  return byAge.slice(Math.max(0, first));
}

type HistoryTraffic = HistoryEntry['traffic'];

export const isSameTraffic = (a: HistoryTraffic, b: HistoryTraffic): boolean =>
  a.flows === b.flows && a.frameBytes === b.frameBytes && a.offeredPps === b.offeredPps;

/** Counts only the first boot of each of several layouts: repeats would understate the spread. */
export function baseNumbers(runs: readonly Run[], metric: Metric): number[] {
  const counted = runs.filter((run) => run.variant === 'base' && isCounted(run));
  const firstOf = new Map(counted.toReversed().map((run) => [run.layout, run]));
  const taken =
    firstOf.size > 1 ? counted.filter((run) => firstOf.get(run.layout) === run) : counted;
  return trialNumbers(taken, metric);
}

export function historyEntries(result: Result): HistoryEntry[] {
  const { startedAt: at, testbed, variants, outcome } = result;
  if (outcome.kind !== 'judged') return [];
  const { measureSeconds: _, ...traffic } = result.traffic;
  const durations = durationsOf(result);
  const commit = variants.find((variant) => variant.name === 'base')?.commit ?? '';
  return outcome.cells.flatMap(({ cell, runs, baseline }) => {
    const numbers = byMetric((metric) => baseNumbers(runs, metric));
    if (numbers.pps.length === 0) return [];
    const layouts = new Set(
      runs.flatMap(({ variant, layout }) => (variant === 'base' ? (layout ?? 1) : [])),
    );
    return {
      at,
      testbed: testbed.name,
      cell,
      traffic,
      commit,
      ...numbers,
      moved: baseline.kind === 'moved',
      ...(layouts.size > 1 && { layouts: layouts.size }),
      ...(durations && { durations }),
    };
  });
}
