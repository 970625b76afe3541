// Reads a series, one value per nightly run or revision, from a file of lines or a folder of netbenches' columns.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { MinistatInputError, parseColumn } from '../../analysis/stats/columns.ts';
import { median } from '../../analysis/stats/summary.ts';
import { reasonOf } from '../../model/one-line.ts';
import { UsageError } from '../../model/usage-error.ts';
import { readForeignFile } from '../../system/foreign-files.ts';
import { natural } from './directory.ts';

/** In the order of measurement; `value` is the median of the nightly run's runs, above 0. */
export type Series = { name: string; nightlyRuns: { name: string; value: number }[] };

/**
 * Reads a file as one series, with one nightly run per line: a name and its values, separated by white space or commas;
 * empty lines, comments after `#` and lines without a value are skipped. A folder has one series per CONFIG of its
 * files `REV[.CONFIG].pps`, with the REVs in natural order. Throws a `UsageError` that names the first bad line.
 */
export async function readSeries(path: string): Promise<Series[]> {
  try {
    return (await stat(path)).isDirectory() ? await ofFolder(path) : [await ofFile(path)];
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (error instanceof MinistatInputError) throw new UsageError(error.message, { cause: error });
    throw new UsageError(
      `The series ${path} cannot be read (${reasonOf(error)}): name a file with a line a nightly run, or a folder of REV.CONFIG.pps files.`,
      { cause: error },
    );
  }
}

/** A nightly run has some numbers. */
const mostBytes = 64 * 1024 ** 2;

async function ofFile(path: string): Promise<Series> {
  const lines = (await readFile(path, 'utf8')).split('\n');
  const nightlyRuns = lines.flatMap((line, index) => {
    const [name = '', ...values] = line
      .replace(/(^|\s)#.*/, '')
      .split(/[\s,;]+/)
      .filter(Boolean);
    return values.length > 0
      ? [{ name, value: typical(values.map(Number), `${path}:${index + 1}`) }]
      : [];
  });
  return { name: path, nightlyRuns: someOf(nightlyRuns, path) };
}

async function ofFolder(path: string): Promise<Series[]> {
  const names = (await readdir(path)).filter((name) => /^[^.].*\.pps$/.test(name));
  const files = names.map((name) => {
    const [revision = '', ...config] = name.slice(0, -'.pps'.length).split('.');
    return { name, revision, config: config.join('.') };
  });
  const configs = Map.groupBy(someOf(files, path), ({ config }) => config);
  const series: Series[] = [];
  for (const [config, own] of [...configs].toSorted(([a], [b]) => natural.compare(a, b))) {
    const nightlyRuns: Series['nightlyRuns'] = [];
    for (const { name, revision } of own.toSorted((a, b) =>
      natural.compare(a.revision, b.revision),
    )) {
      const file = join(path, name);
      const bytes = (await readForeignFile(path, name, mostBytes)) ?? Buffer.alloc(0);
      const values = [...parseColumn(bytes, { name: file })];
      if (values.length > 0) nightlyRuns.push({ name: revision, value: typical(values, file) });
    }
    series.push({ name: config || path, nightlyRuns });
  }
  return series;
}

function typical(values: number[], where: string): number {
  const bad = values.find((value) => !(value > 0 && Number.isFinite(value)));
  if (bad === undefined) return median(values);
  throw new UsageError(
    `${where}: expected a name and values above 0, found ${Number.isNaN(bad) ? 'something else' : bad}.`,
  );
}

function someOf<T>(found: T[], path: string): T[] {
  if (found.length > 0) return found;
  throw new UsageError(
    `There is no nightly run in ${path}: expected lines with a name and its values, or files named REV.CONFIG.pps.`,
  );
}
