// Runs `ppsgate changes`.
import { quantile } from 'simple-statistics';
import { changesRunByRun } from '../../analysis/stats/change-points.ts';
import { median } from '../../analysis/stats/summary.ts';
import { exitCodes } from '../../model/conclusion.ts';
import { formatChange, grouped } from '../../model/format.ts';
import { ratio, sentence } from '../../model/units.ts';
import { UsageError } from '../../model/usage-error.ts';
import { columns } from '../columns.ts';
import { readSeries, type Series } from '../netbenches/series.ts';
import { oneLine, print, printJson } from '../table.ts';

type ChangesOptions = { readonly least: string; readonly json?: true };

const minAllowed = {
  description: 'a percentage from 0.1% to 50%',
  holds: (value: number) => value >= 0.001 && value <= 0.5,
};

type FoundChange = {
  series: string;
  name: string;
  index: number;
  before: number;
  after: number;
  changeRatio: number;
};

export async function run(file: string, options: ChangesOptions): Promise<number> {
  const least = ratio(minAllowed).safeParse(options.least);
  if (!least.success) throw new UsageError(`--least: ${sentence(least.error.issues[0]?.message ?? '')}`);
  const minRatio = least.data;
  const all = await readSeries(file);
  const found = all.map((series) => ({ series, changes: changesOf(series, minRatio) }));
  if (options.json) printJson({ changes: found.flatMap(({ changes }) => changes) });
  else for (const one of found) printSeries(one);
  return exitCodes.pass;
}

function changesOf({ name: series, nightlyRuns }: Series, minRatio: number): FoundChange[] {
  const values = nightlyRuns.map(({ value }) => value);
  const indexes = changesRunByRun(values, minRatio).map(({ index }) => index);
  return lastingChanges(values, indexes, minRatio).map((change) => ({
    series,
    name: nightlyRuns[change.index]?.name ?? '',
    ...change,
  }));
}

type Change = Pick<FoundChange, 'index' | 'before' | 'after' | 'changeRatio'>;

/**
 * A change that was found early may shrink as runs are added: removes the smallest until each is at least `minRatio`.
 */
function lastingChanges(values: readonly number[], indexes: readonly number[], minRatio: number): Change[] {
  const changes = indexes.map((index, place) => {
    const before = median(values.slice(indexes[place - 1] ?? 0, index));
    const after = median(values.slice(index, indexes[place + 1]));
    return { index, before, after, changeRatio: after / before - 1 };
  });
  const sizes = changes.map(({ changeRatio }) => Math.abs(changeRatio));
  const smallest = Math.min(...sizes);
  if (!(smallest < minRatio)) return changes;
  const dropped = sizes.indexOf(smallest);
  return lastingChanges(
    values,
    indexes.filter((_, place) => place !== dropped),
    minRatio,
  );
}

function printSeries({ series, changes }: { series: Series; changes: FoundChange[] }): void {
  const { name, nightlyRuns, skipped } = series;
  const [first, last] = [nightlyRuns[0], nightlyRuns.at(-1)].map((nightlyRun) => oneLine(nightlyRun?.name ?? ''));
  print(`${oneLine(name)}: ${grouped(nightlyRuns.length)} nightly runs, ${first} to ${last}`);
  print(`  ${sparkline(nightlyRuns.map(({ value }) => value))}`);
  if (skipped.length > 0) {
    print(`  skipped without a value: ${grouped(skipped.length)}, the first ${oneLine(skipped[0] ?? '')}`);
  }
  if (changes.length === 0) print('  no lasting change');
  const rows = changes.map((change) => [
    `  ${oneLine(change.name)}`,
    formatChange(change.changeRatio),
    `${numberText(change.before)} → ${numberText(change.after)}`,
  ]);
  for (const row of columns(rows)) print(row);
}

const numberText = (value: number): string => grouped(Number(value.toPrecision(6)));

const steps = '▁▂▃▄▅▆▇█';
const maxBars = 72;

/** Draws medians of neighbours if there are too many values; single outliers do not flatten the others. */
function sparkline(values: readonly number[]): string {
  const nightlyRunsABar = Math.ceil(values.length / maxBars);
  const bars = Array.from({ length: Math.ceil(values.length / nightlyRunsABar) }, (_, bar) =>
    median(values.slice(bar * nightlyRunsABar, (bar + 1) * nightlyRunsABar)),
  );
  const [low = 0, high = 0] = [0.02, 0.98].map((share) => quantile(bars, share));
  const stepOf = (value: number): number =>
    high > low ? Math.floor(((value - low) / (high - low)) * steps.length) : steps.length / 2;
  return bars.map((value) => steps[Math.min(Math.max(stepOf(value), 0), steps.length - 1)]).join('');
}
