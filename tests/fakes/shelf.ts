// A data branch or directory in memory, published to like both.
import { expect } from 'vitest';
import { byCommit, seriesKey } from '../../src/analysis/trend/change-history.ts';
import { parseNightlyRuns, type Trend } from '../../src/analysis/trend/nightly-runs.ts';
import type { Result } from '../../src/model/result.ts';
import type { NightlyRun } from '../../src/model/trend.ts';
import {
  type DataRules,
  emptyIndex,
  nextFiles,
  type Publication,
  parseHistory,
  parseIndex,
  type StoredData,
} from '../../src/publish/data-branch/layout.ts';
import { nightlyRunsPath } from '../../src/publish/data-branch/paths.ts';
import { isNeeded, parseTrendIndex, type YearFilter } from '../../src/publish/data-branch/trend-files.ts';
import { aResult } from './result.ts';

/** Text by path. */
export type Shelf = Map<string, string>;

const day = 86_400;
export const keep = { results: 1000, seconds: 365 * day, bytes: 2 ** 30 };

export const rules: DataRules = {
  keep,
  staleSeconds: 30 * day,
  now: new Date('2026-11-21T12:00:00.000Z'),
  isSite: false,
};

export function storedIn(shelf: Shelf, isWanted: YearFilter = () => true): StoredData {
  const trend = trendIn(shelf, isWanted);
  return {
    index: parseIndex(shelf.get('index.json') ?? '') ?? emptyIndex,
    history: parseHistory(shelf.get('history.jsonl') ?? ''),
    paths: new Set(shelf.keys()),
    ...(trend && { trend }),
  };
}

function trendIn(shelf: Shelf, isWanted: YearFilter): Trend | undefined {
  const index = parseTrendIndex(shelf.get('trend/index.json') ?? '');
  if (index === undefined) return undefined;
  const nightlyRuns = index.cells.flatMap((series): [string, NightlyRun[]][] => {
    const years = series.years.filter((year) => isWanted(series, year));
    const all = years.flatMap((year) => parseNightlyRuns(shelf.get(nightlyRunsPath(series, year)) ?? ''));
    return years.length > 0 ? [[seriesKey(series), all.toSorted(byCommit)]] : [];
  });
  return { index, nightlyRuns: new Map(nightlyRuns) };
}

/** Returns the published paths; `written` receives the paths of new and changed files. */
export function publish(
  shelf: Shelf,
  publications: readonly Publication[],
  changes: Partial<DataRules> = {},
  written: string[] = [],
) {
  const stored = storedIn(shelf, isNeeded(publications));
  const { write, remove, published } = nextFiles(stored, publications, { ...rules, ...changes });
  for (const path of remove) expect(shelf.delete(path)).toBe(true);
  for (const [path, text] of write) {
    if (shelf.get(path) !== text) written.push(path);
    shelf.set(path, text);
  }
  return published;
}

export const publication = (changes: Partial<Result> = {}, more: Partial<Publication> = {}): Publication => ({
  result: aResult(changes),
  profiles: [],
  isDefaultBranch: false,
  isTrusted: false,
  ...more,
});
