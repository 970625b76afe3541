// Stores results of gates of the default branch as nightly runs: one line per cell and session, in commit order.

import { jsonLines } from '../../model/json.ts';
import type { Metric } from '../../model/metric.ts';
import { byMetric, type CellResult, type Result } from '../../model/result.ts';
import type { Cell } from '../../model/scenario.ts';
import { type NightlyRun, nightlySchema, type TrendIndex } from '../../model/trend.ts';
import { isJudged } from '../../model/variant-name.ts';
import { trialNumbers } from '../stats/trial-numbers.ts';
import { measuresLayoutNoise } from './aa-runs.ts';
import { byCommit } from './change-history.ts';
import { fingerprintOf } from './fingerprint.ts';

/** Keyed by `seriesKey`. Each series is sorted by `byCommit`. */
export type Trend = {
  index: TrendIndex;
  nightlyRuns: ReadonlyMap<string, readonly NightlyRun[]>;
};

export const emptyTrend: Trend = {
  index: {
    schemaVersion: 1,
    cells: [],
    fingerprints: [],
    changes: [],
    aaRuns: [],
    releases: [],
  },
  nightlyRuns: new Map(),
};

/**
 * Returns a nightly run for each cell with forwarded packets. An A/A run measures its commit with both variants, unless
 * patched is another layout; any other gate measures its patched commit. `committedAt` is unverified if it is later
 * than the session.
 */
export function nightlyRunsOf(
  result: Result,
  occasion: NightlyRun['occasion'],
  committedAt: (commit: string) => string | undefined,
  path: string,
): { cell: Cell; nightlyRun: NightlyRun }[] {
  const { outcome, patch, startedAt } = result;
  if (outcome.kind !== 'judged') return [];
  const at = new Date(startedAt).toISOString();
  const commit = patch.headCommit;
  const made = timeBefore(at, committedAt(commit));
  const about = { at, commit, ...(made !== undefined && { committedAt: made }), occasion };
  const fingerprint = fingerprintOf(result).id;
  return outcome.cells.flatMap(({ cell, runs }) => {
    const numbers = numbersOf(runs.filter(isOfCommit(result)));
    if (numbers.pps.length === 0) return [];
    return { cell, nightlyRun: { ...about, ...numbers, fingerprint, result: path } };
  });
}

/** Replaces a session that was extended or published again. */
export const withNightlyRun = (nightlyRuns: readonly NightlyRun[], nightlyRun: NightlyRun): NightlyRun[] =>
  [...nightlyRuns.filter((other) => !isSameSession(other, nightlyRun)), nightlyRun].toSorted(byCommit);

const isSameSession = (a: NightlyRun, b: NightlyRun): boolean =>
  a.at === b.at && a.commit === b.commit && a.occasion === b.occasion;

/** Limit of lines per year: a nightly run every six minutes. */
const maxLines = 100_000;

/** Returns a year's readable lines: people can edit the branch, and a bad line must not stop a gate. */
export function parseNightlyRuns(text: string): NightlyRun[] {
  const nightlyRuns: NightlyRun[] = [];
  for (const line of jsonLines(text, maxLines)) {
    const { data } = nightlySchema.safeParse(line);
    if (data !== undefined) nightlyRuns.push(data);
  }
  return nightlyRuns;
}

function timeBefore(at: string, written: string | undefined): string | undefined {
  const time = new Date(written ?? Number.NaN);
  if (Number.isNaN(time.getTime()) || time > new Date(at)) return undefined;
  return time.toISOString();
}

function isOfCommit(result: Result): (run: Run) => boolean {
  const { baseCommit, headCommit } = result.patch;
  if (baseCommit !== headCommit) return ({ variant }) => variant === 'patched';
  if (measuresLayoutNoise(result)) return ({ variant }) => variant === 'base';
  return ({ variant }) => isJudged(variant);
}

type Run = CellResult['runs'][number];

const numbersOf = (runs: readonly Run[]): Pick<NightlyRun, Metric> =>
  byMetric((metric) => rounded(trialNumbers(runs, metric), metric));

const rounded = (values: readonly number[], metric: Metric): number[] =>
  values.map(roundings[metric]).filter((value) => value > 0);

/**
 * Rounds away digits of a rate, a time (10⁻⁴) or instructions (10⁻⁶) that are noise, as short lines keep the branch
 * small.
 */
const roundings: Record<Metric, (value: number) => number> = {
  pps: Math.round,
  nsPerPacket: (value) => Number(value.toPrecision(4)),
  instructionsPerPacket: (value) => Number(value.toPrecision(6)),
};
