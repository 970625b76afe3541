// Reads a series, one value per nightly run or revision, from a file of lines or a folder of netbenches' columns.
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseColumn } from '../../analysis/stats/columns.ts';
import { median } from '../../analysis/stats/summary.ts';
import { fileReasonOf, shortened } from '../../model/one-line.ts';
import { UsageError } from '../../model/usage-error.ts';
import { readForeignFile } from '../../system/foreign-files.ts';
import { natural } from './directory.ts';

export type Series = {
  name: string;
  /** In the order of measurement; `value` is the median of the nightly run's runs, above 0. */
  nightlyRuns: { name: string; value: number }[];
  /** Names, of lines or files, without a value. */
  skipped: string[];
};

/**
 * Reads a file as one series, with one nightly run per line: a name and its values, separated by white space or commas.
 * Skips empty lines, comments after `#` and, by name, lines without a value. A folder has one series per CONFIG of its
 * files `REV[.CONFIG].pps`, with the REVs in natural order. Throws a `UsageError` that names the first bad line.
 */
export async function readSeries(path: string): Promise<Series[]> {
  try {
    return (await stat(path)).isDirectory() ? await ofFolder(path) : [await ofFile(path)];
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `The series ${path} cannot be read (${fileReasonOf(error)}): name a file with a line a nightly run, or a folder of REV.CONFIG.pps files.`,
      { cause: error },
    );
  }
}

/** A nightly run has only a few numbers. */
const maxBytes = 64 * 1024 ** 2;

async function ofFile(path: string): Promise<Series> {
  const lines = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '').split('\n');
  const series: Series = { name: path, nightlyRuns: [], skipped: [] };
  for (const [index, line] of lines.entries()) {
    const text = line.replace(/(^|\s)#.*/, '').trim();
    const where = `${path}:${index + 1}`;
    refuseGrouped(text, where);
    const [name = '', ...words] = text.split(/[\s,;]+/).filter(Boolean);
    if (words.length > 0) series.nightlyRuns.push({ name, value: typical(words, where) });
    else if (name !== '') series.skipped.push(name);
  }
  someOf(series.nightlyRuns, path);
  return series;
}

/** A comma separates values, but `1,040,702` and `989,002 989,202` are numbers with thousands. */
function refuseGrouped(text: string, where: string): void {
  const grouped = text.match(/(?<=[\s;])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?=[\s;]|$)/g) ?? [];
  const [first = ''] = grouped;
  if (grouped.length < 2 && first.split(',').length < 3) return;
  throw new UsageError(
    `${where}: "${shortened(first)}" may be one number or several; write numbers without thousands separators, and blanks between them.`,
  );
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
    const skipped: string[] = [];
    for (const { name, revision } of own.toSorted((a, b) => natural.compare(a.revision, b.revision))) {
      const file = join(path, name);
      const bytes = (await readForeignFile(path, name, maxBytes)) ?? Buffer.alloc(0);
      const values = [...parseColumn(bytes, { name: file })].map(String);
      if (values.length > 0) nightlyRuns.push({ name: revision, value: typical(values, file) });
      else skipped.push(name);
    }
    series.push({ name: config || path, nightlyRuns, skipped });
  }
  return series;
}

function typical(words: string[], where: string): number {
  const values = words.map(Number);
  const bad = values.findIndex((value, at) => !isValue(value) || /^0\d/.test(words[at] ?? ''));
  if (bad === -1) return median(values);
  throw new UsageError(
    `${where}: expected a name and values above 0, found "${shortened(words[bad] ?? '')}"; remove a header, and write plain numbers without a unit.`,
  );
}

const isValue = (value: number): boolean => value > 0 && Number.isFinite(value);

function someOf<T>(found: T[], path: string): T[] {
  if (found.length > 0) return found;
  throw new UsageError(
    `There is no nightly run in ${path}: expected lines with a name and its values, or files named REV.CONFIG.pps.`,
  );
}
