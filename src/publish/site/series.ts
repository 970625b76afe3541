// Collects a cell's series on a testbed: nightly runs in order, levels, and events.
import { median } from '../../analysis/stats/summary.ts';
import { type Level, levelsOf, seriesKey } from '../../analysis/trend/change-history.ts';
import { isCost, type Metric } from '../../model/metric.ts';
import { type Cell, cellName } from '../../model/scenario.ts';
import type { ChangeLevel, NightlyRun, TrendChange, TrendIndex } from '../../model/trend.ts';
import type { SiteSource } from './site-source.ts';

export type SeriesPoint = {
  nightlyRun: NightlyRun;
  /** Position on the time axis, in milliseconds since 1970. */
  time: number;
  value: number;
};

export type SeriesEvent = { time: number; text: string };

export type CellSeries = {
  testbed: string;
  cell: Cell;
  name: string;
  metric: Metric;
  points: readonly SeriesPoint[];
  levels: readonly Level[];
  changes: readonly { change: TrendChange; level: ChangeLevel }[];
  releases: readonly SeriesEvent[];
  fingerprints: readonly SeriesEvent[];
};

export const allSeries = (source: SiteSource): CellSeries[] =>
  source.index.cells.map(({ testbed, cell }) => seriesOf(source, { testbed, cell }));

function seriesOf({ index, nightlyRuns }: SiteSource, { testbed, cell }: { testbed: string; cell: Cell }) {
  const metric = metricOf(index, testbed);
  const counted = (nightlyRuns.get(seriesKey({ testbed, cell })) ?? []).filter(
    (nightlyRun) => nightlyRun[metric].length > 0,
  );
  const times = timesOf(counted);
  const points = counted.map((nightlyRun, place) => ({
    nightlyRun,
    time: times[place] ?? 0,
    value: median([...nightlyRun[metric]]),
  }));
  const name = cellName(cell);
  return {
    testbed,
    cell,
    name,
    metric,
    points,
    levels: levelsOf(index, { testbed, cell }, counted, metric),
    changes: index.changes
      .filter((change) => change.testbed === testbed && change.metric === metric)
      .flatMap((change) => {
        const level = change.cells.find((one) => cellName(one.cell) === name);
        return level === undefined ? [] : { change, level };
      }),
    releases: index.releases.map((release) => ({
      time: timeOfCommit(points, release.commit) ?? Date.parse(release.at),
      text: release.name,
    })),
    fingerprints: fingerprintsOf(index, points),
  };
}

/** Metric by which the testbed is judged; packets per second if there is none yet. */
function metricOf({ changes, aaRuns }: TrendIndex, testbed: string): Metric {
  const isOwn = (one: { testbed: string }) => one.testbed === testbed;
  return (changes.findLast(isOwn) ?? aaRuns.findLast(isOwn))?.metric ?? 'pps';
}

/**
 * Orders commits by times that never decrease: a session's start, but no later than the next measured commit's date. A
 * commit that was measured long afterwards is placed where it was the newest.
 */
function timesOf(nightlyRuns: readonly NightlyRun[]): number[] {
  let latest = Number.POSITIVE_INFINITY;
  let next: NightlyRun | undefined;
  const times = nightlyRuns.toReversed().map((nightlyRun) => {
    const isOther = next !== undefined && next.commit !== nightlyRun.commit;
    if (isOther && next?.committedAt !== undefined) {
      latest = Math.min(latest, Date.parse(next.committedAt));
    }
    latest = Math.min(latest, Date.parse(nightlyRun.at));
    next = nightlyRun;
    return latest;
  });
  return times.toReversed();
}

const timeOfCommit = (points: readonly SeriesPoint[], commit: string): number | undefined =>
  points.find(({ nightlyRun }) => nightlyRun.commit === commit)?.time;

/** Returns the first nightly run of each fingerprint except the first one. */
function fingerprintsOf({ fingerprints }: TrendIndex, points: readonly SeriesPoint[]): SeriesEvent[] {
  const texts = new Map(fingerprints.map(({ id, differs }) => [id, differs.join('; ')]));
  return points.flatMap(({ nightlyRun, time }, place) => {
    const before = points[place - 1]?.nightlyRun.fingerprint;
    if (before === undefined || before === nightlyRun.fingerprint) return [];
    return { time, text: texts.get(nightlyRun.fingerprint) || 'The testbed was replaced.' };
  });
}

/** Current level of a series, by medians of several nightly runs; ratios are now/then − 1. */
type SeriesSummary = {
  now: number;
  release?: { name: string; ratio: number };
  /** Best median of consecutive nightly runs in the last 90 days; shows a slow decline. */
  bestRatio: number;
};

const nightlyRunsTogether = 5;
const bestSeconds = 90 * 86_400;

export function seriesSummary({ points, metric, releases }: CellSeries): SeriesSummary | undefined {
  const last = points.at(-1);
  if (last === undefined) return undefined;
  const together = (end: number) =>
    median(points.slice(Math.max(end - nightlyRunsTogether, 0), end).map(({ value }) => value));
  const now = together(points.length);
  const first = points.findIndex(({ time }) => time >= last.time - bestSeconds * 1000);
  const recent = points.slice(first).map((_, place) => together(first + place + 1));
  const best = isCost(metric) ? Math.min(...recent) : Math.max(...recent);
  const release = releases.findLast(({ time }) => points.some((point) => point.time <= time));
  const released = release && points.filter(({ time }) => time <= release.time).length;
  return {
    now,
    bestRatio: now / best - 1,
    ...(release && released && { release: { name: release.text, ratio: now / together(released) - 1 } }),
  };
}

/** Start of the newest session, in milliseconds since 1970; undefined without a nightly run. */
export function lastBegun(series: readonly CellSeries[]): number | undefined {
  const times = series.flatMap(({ points }) => points.map(({ nightlyRun }) => Date.parse(nightlyRun.at)));
  return times.length === 0 ? undefined : times.reduce((a, b) => Math.max(a, b));
}

const day = 86_400_000;

/** Periods of more than three days without a nightly run, newest first. */
export function gapsOf(series: readonly CellSeries[]): { from: number; to: number }[] {
  const all = series.flatMap(({ points }) => points.map(({ nightlyRun }) => Date.parse(nightlyRun.at)));
  const times = [...new Set(all)].toSorted((a, b) => a - b);
  return times
    .flatMap((to, place) => {
      const from = times[place - 1];
      return from !== undefined && to - from > 3 * day ? { from, to } : [];
    })
    .toReversed();
}
