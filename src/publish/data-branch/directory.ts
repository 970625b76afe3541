// Publishes the layout of the data branch to a plain directory, for sites without GitHub.
import { mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { emptyTrend, type Trend } from '../../analysis/trend/nightly-runs.ts';
import type { TrendIndex } from '../../model/trend.ts';
import { replaceFile } from '../../report/write-reports.ts';
import { placeBelow, readForeignText } from '../../system/foreign-files.ts';
import { lockIfFree } from '../../system/sqlite.ts';
import {
  type DataIndex,
  type DataRules,
  editedFiles,
  emptyIndex,
  historyPath,
  indexPath,
  nextFiles,
  type Publication,
  type PublishedPaths,
  parseHistory,
  parseIndex,
  type StoredData,
} from './layout.ts';
import { isNeeded, parseTrendIndex, readNightlyRuns, trendIndexPath, type YearFilter } from './trend-files.ts';

class DataDirectoryError extends Error {
  override readonly name = 'DataDirectoryError';
  readonly conclusion = 'usage';
}

/**
 * Adds results to the directory, or without results updates its badges; returns the paths of each. Creates the
 * directory. Writes files atomically, and indexes only files that exist. Waits up to a minute for other publishers.
 * Throws a DataDirectoryError if the path holds anything else, and a ForeignFileError for a link within it.
 */
export async function publishToDirectory(
  directory: string,
  publications: readonly Publication[],
  {
    pause = realPause,
    ...rules
  }: Omit<DataRules, 'isSite'> & {
    pause?: Pause;
  },
): Promise<PublishedPaths[]> {
  await mkdir(directory, { recursive: true });
  return inTurn(directory, pause, async () => {
    const stored = await readStored(directory, isNeeded(publications));
    const { write, remove, published } = nextFiles(stored, publications, {
      ...rules,
      isSite: true,
    });
    // Writes the index after the files that it names, and before it removes others.
    await writeFiles(directory, write);
    for (const path of remove) await removeFile(await placeBelow(directory, path));
    return published;
  });
}

export async function readDirectoryTrend(directory: string): Promise<Trend & { results: DataIndex }> {
  const { index, trend } = await readStored(directory, () => true);
  return { ...(trend ?? emptyTrend), results: index };
}

/** Lets no other publisher write during `edit`. Throws like `publishToDirectory`. */
export async function publishTrendToDirectory(
  directory: string,
  edit: (index: TrendIndex) => TrendIndex,
  pause: Pause = realPause,
): Promise<TrendIndex> {
  await mkdir(directory, { recursive: true });
  return inTurn(directory, pause, async () => {
    const stored = await readStored(directory, () => false);
    const { write, index } = editedFiles(stored, edit);
    await writeFiles(directory, write);
    return index;
  });
}

async function writeFiles(directory: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, text] of files) await replaceFile(await placeBelow(directory, path), text);
}

const realPause = (seconds: number) => sleep(seconds * 1000);

type Pause = (seconds: number) => Promise<unknown>;

const maxTries = 60;

async function inTurn<T>(directory: string, pause: Pause, work: () => Promise<T>): Promise<T> {
  for (let tries = 1; tries <= maxTries; tries++) {
    using lock = lockIfFree(join(directory, '.lock'));
    if (lock !== undefined) return await work();
    if (tries < maxTries) await pause(1);
  }
  throw new DataDirectoryError(
    `${directory} was locked by another publisher for a minute: publish the result again later.`,
  );
}

async function readStored(directory: string, isWanted: YearFilter): Promise<StoredData> {
  const text = await readText(directory, indexPath);
  // Without an index, none of the directory's files is ours.
  if (text === undefined) return { index: emptyIndex, history: [], paths: new Set() };
  const index = parseIndex(text);
  if (index === undefined) throw foreign(directory, indexPath);
  const history = parseHistory((await readText(directory, historyPath)) ?? '');
  const trend = await readTrend(directory, isWanted);
  return { index, history, paths: await pathsIn(directory), ...(trend && { trend }) };
}

async function readTrend(directory: string, isWanted: YearFilter): Promise<Trend | undefined> {
  const text = await readText(directory, trendIndexPath);
  if (text === undefined) return undefined;
  const index = parseTrendIndex(text);
  if (index === undefined) throw foreign(directory, trendIndexPath);
  const read = async (path: string) => (await readText(directory, path)) ?? '';
  return { index, nightlyRuns: await readNightlyRuns(read, index, isWanted) };
}

const foreign = (directory: string, path: string): DataDirectoryError =>
  new DataDirectoryError(
    `${join(directory, path)} is not an index of this version of ppsgate: name another directory, or remove this one.`,
  );

/** A cell's nightly run has about a kilobyte, and the index about one per result. */
const maxBytes = 128 * 1024 ** 2;

const readText = (directory: string, path: string): Promise<string | undefined> =>
  readForeignText(directory, path, maxBytes);

async function pathsIn(directory: string): Promise<Set<string>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory());
  return new Set(files.map(({ parentPath, name }) => relative(directory, join(parentPath, name)).replaceAll(sep, '/')));
}

/** Also removes its folder if that is then empty. */
async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true });
  await rmdir(dirname(path)).catch(() => {});
}
