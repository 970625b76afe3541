// Reads and writes the data branch's `trend` folder: nightly runs by cell and year, one per line, and their index.

import { median } from '../../analysis/stats/summary.ts';
import { isOfOneCommit, withSameGate } from '../../analysis/trend/aa-runs.ts';
import { byCommit, judgeTrend, seriesKey, withBisection, withGate } from '../../analysis/trend/change-history.ts';
import { withFingerprint } from '../../analysis/trend/fingerprint.ts';
import { nightlyRunsOf, parseNightlyRuns, type Trend, withNightlyRun } from '../../analysis/trend/nightly-runs.ts';
import type { BisectResult } from '../../model/bisect-result.ts';
import { parseJson } from '../../model/json.ts';
import type { Result } from '../../model/result.ts';
import { cellName } from '../../model/scenario.ts';
import { type NightlyRun, type TrendIndex, trendIndexSchema } from '../../model/trend.ts';
import { sparklineSheet } from '../../report/sparkline.ts';
import { nightlyRunsPath, sparklinesPath } from './paths.ts';

export const trendIndexPath = 'trend/index.json';

/** Undefined for another version's index. */
export const parseTrendIndex = (text: string): TrendIndex | undefined =>
  trendIndexSchema.safeParse(parseJson(text)).data;

const trendIndexText = (index: TrendIndex): string => `${JSON.stringify(index)}\n`;

type IndexedSeries = TrendIndex['cells'][number];

export type YearFilter = (series: IndexedSeries, year: number) => boolean;

/** Reads the nightly runs of the selected years; `read` returns an empty text for a missing file. */
export async function readNightlyRuns(
  read: (path: string) => Promise<string>,
  index: TrendIndex,
  isWanted: YearFilter,
): Promise<Map<string, NightlyRun[]>> {
  const nightlyRuns = new Map<string, NightlyRun[]>();
  for (const series of index.cells) {
    const years = series.years.filter((year) => isWanted(series, year));
    if (years.length === 0) continue;
    const all: NightlyRun[] = [];
    for (const year of years) all.push(...parseNightlyRuns(await read(nightlyRunsPath(series, year))));
    nightlyRuns.set(seriesKey(series), all.toSorted(byCommit));
  }
  return nightlyRuns;
}

/** Selects the newest two years of a series, enough for its level and for small charts. */
export const isRecent = ({ years }: IndexedSeries, year: number): boolean => year >= (years.at(-1) ?? year) - 1;

export type TrendUpdate = {
  /** Result of a gate or a bisection; a bisection changes no badges, nightly runs or history. */
  result: Result | BisectResult;
  /** Only the default branch has badges and nightly runs. */
  isDefaultBranch: boolean;
  /** True if its numbers may enter the history. */
  isTrusted: boolean;
  /** Reason for a gate on the default branch. Absent: a nightly run if both commits are equal, otherwise a push. */
  occasion?: NightlyRun['occasion'];
  /** Commit times by id; they order nightly runs. */
  commits?: Readonly<Record<string, string>>;
  /** Release tags; tags published earlier are kept. */
  releases?: TrendIndex['releases'];
  compareUrl?: string;
};

type PublishedUpdate = TrendUpdate & { path: string };

/** Selects the years to read before these updates can be published. */
export const isNeeded =
  (updates: readonly Pick<TrendUpdate, 'result'>[]): YearFilter =>
  (series, year) => {
    const own = updates.filter(({ result }) => result.testbed.name === series.testbed);
    const years = own.map(({ result }) => yearOf(result.startedAt));
    return years.includes(year) || (own.length > 0 && isRecent(series, year));
  };

/** Applies the updates in order. `trend` must include the years that `isNeeded` selects. */
export const nextTrend = (trend: Trend, updates: readonly PublishedUpdate[], now: Date): Trend =>
  updates.reduce((before, one) => (one.isTrusted ? withUpdate(before, one, now) : before), trend);

function withUpdate(trend: Trend, updates: PublishedUpdate, now: Date): Trend {
  const { result, path, isDefaultBranch, releases, compareUrl } = updates;
  // A result from the future would outlive all others.
  if (Date.parse(result.startedAt) > now.getTime()) return trend;
  if ('kind' in result) return { ...trend, index: withBisection(trend.index, result, path) };
  // A gate without a verdict counts as a try; a gate of two equal kernels is final.
  const index = withGate(trend.index, result, path);
  const isKept = isDefaultBranch || isOfOneCommit(result);
  if (result.outcome.kind !== 'judged' || !isKept) return { ...trend, index };
  const known = withSameGate(withFingerprint(index, result), result, path);
  if (!isDefaultBranch) return { ...trend, index: known };
  const next = withNightlyRuns(
    {
      index: {
        ...known,
        releases: withReleases(known.releases, releases ?? []),
        ...(compareUrl !== undefined && { compareUrl }),
      },
      nightlyRuns: trend.nightlyRuns,
    },
    nightlyRunsOfUpdate(updates, result),
  );
  const { name } = result.testbed;
  const own = next.index.cells.filter(({ testbed }) => testbed === name).map(seriesKey);
  const nightlyRuns = new Map(own.map((key) => [key, next.nightlyRuns.get(key) ?? []]));
  const { metric, marginRatio } = result.policy;
  return { ...next, index: judgeTrend(next.index, nightlyRuns, { metric, marginRatio }, now) };
}

type RunOfSeries = { testbed: string; cell: IndexedSeries['cell']; nightlyRun: NightlyRun };

function nightlyRunsOfUpdate({ path, commits = {}, occasion }: PublishedUpdate, result: Result): RunOfSeries[] {
  const usual = isOfOneCommit(result) ? 'nightly' : 'push';
  const committedAt = (commit: string) => commits[commit];
  const nightlyRuns = nightlyRunsOf(result, occasion ?? usual, committedAt, path);
  return nightlyRuns.map((one) => ({ testbed: result.testbed.name, ...one }));
}

function withNightlyRuns(trend: Trend, added: readonly RunOfSeries[]): Trend {
  const cells = new Map(trend.index.cells.map((series) => [seriesKey(series), series]));
  const nightlyRuns = new Map(trend.nightlyRuns);
  for (const { testbed, cell, nightlyRun } of added) {
    const key = seriesKey({ testbed, cell });
    const years = new Set([...(cells.get(key)?.years ?? []), yearOf(nightlyRun.at)]);
    cells.set(key, { testbed, cell, years: [...years].toSorted((a, b) => a - b) });
    nightlyRuns.set(key, withNightlyRun(nightlyRuns.get(key) ?? [], nightlyRun));
  }
  const sorted = [...cells].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, series]) => series);
  return { index: { ...trend.index, cells: sorted }, nightlyRuns };
}

const withReleases = (known: TrendIndex['releases'], updates: TrendIndex['releases']): TrendIndex['releases'] => {
  const byName = new Map([...known, ...updates].map((release) => [release.name, release]));
  return [...byName.values()].toSorted((a, b) => (a.at < b.at ? -1 : 1));
};

/** Text by path: the index, and those years of nightly runs that differ from `before`. */
export function trendFiles(before: Trend | undefined, after: Trend): Map<string, string> {
  const files = new Map([[trendIndexPath, trendIndexText(after.index)]]);
  const drawn = new Set<string>();
  for (const series of after.index.cells) {
    const nightlyRuns = after.nightlyRuns.get(seriesKey(series));
    const known = before?.nightlyRuns.get(seriesKey(series));
    if (nightlyRuns === undefined || nightlyRuns === known) continue;
    const yearsBefore = yearFiles(series, known ?? []);
    for (const [path, text] of yearFiles(series, nightlyRuns)) {
      if (yearsBefore.get(path) !== text) files.set(path, text);
    }
    drawn.add(series.testbed);
  }
  for (const testbed of drawn) files.set(sparklinesPath(testbed), sheetOf(after, testbed));
  return files;
}

const yearFiles = (series: IndexedSeries, nightlyRuns: readonly NightlyRun[]): Map<string, string> =>
  new Map(
    [...Map.groupBy(nightlyRuns, ({ at }) => yearOf(at))].map(([year, own]) => [
      nightlyRunsPath(series, year),
      own.map((nightlyRun) => `${JSON.stringify(nightlyRun)}\n`).join(''),
    ]),
  );

/** Number of nightly runs that fit into a picture. */
const maxDrawn = 90;

function sheetOf({ index, nightlyRuns }: Trend, testbed: string): string {
  const own = index.cells.filter((series) => series.testbed === testbed);
  const rows = own.map((series) => {
    const newest = (nightlyRuns.get(seriesKey(series)) ?? []).slice(-maxDrawn);
    const firsts = changesOf(index, series);
    return {
      cell: series.cell,
      values: newest.map(({ pps }) => median(pps)),
      changes: newest.flatMap(({ at }, place) => (firsts.has(at) ? [place] : [])),
    };
  });
  return sparklineSheet(rows, 'pps');
}

const changesOf = ({ changes }: TrendIndex, series: Pick<IndexedSeries, 'testbed' | 'cell'>) =>
  new Set(
    changes
      .filter(({ testbed }) => testbed === series.testbed)
      .flatMap(({ cells }) => cells)
      .filter(({ cell }) => cellName(cell) === cellName(series.cell))
      .map(({ firstAt }) => firstAt),
  );

const yearOf = (time: string): number => new Date(time).getUTCFullYear();
