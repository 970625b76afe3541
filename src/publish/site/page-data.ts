// Writes the data of a page's charts as scripts, as pages on a disk cannot fetch files.
import { median } from '../../analysis/stats/summary.ts';
import { isOpen } from '../../analysis/trend/change-history.ts';
import { plainLine } from '../../model/escape.ts';
import type { Cost } from '../../model/metric.ts';
import { shortId } from '../../model/patch.ts';
import type { NightlyRun, TrendIndex } from '../../model/trend.ts';
import type { ChartEvent, Numbers, SeriesData, SmallData } from './chart-data.ts';
import { compareLink } from './page-paths.ts';
import type { CellSeries, SeriesEvent } from './series.ts';

export function seriesData(series: CellSeries, index: TrendIndex): SeriesData {
  const { points, testbed, name, metric, levels } = series;
  const nightlyRuns = points.map(({ nightlyRun }) => nightlyRun);
  const compare = compareLink(index, { good: placeholders.from, bad: placeholders.to });
  return {
    name,
    metric,
    testbed: plainLine(testbed),
    times: timesOf(series),
    at: nightlyRuns.map(({ at }) => Date.parse(at) / 1000),
    commits: nightlyRuns.map(({ commit }) => commit),
    occasions: nightlyRuns.map(({ occasion }) => occasion),
    pps: numbersOf(nightlyRuns.map(({ pps }) => pps)),
    ...costNumbers(nightlyRuns, 'nsPerPacket'),
    ...costNumbers(nightlyRuns, 'instructionsPerPacket'),
    levels: levels.map(({ from, to, typical, sigmaRatio }) => ({ from, to, typical, sigmaRatio })),
    changes: changesOf(series),
    releases: series.releases.map(momentOf),
    fingerprints: series.fingerprints.map(momentOf),
    ...(compare !== undefined && { compare }),
  };
}

/** Placeholders for two commits in a URL; no commit has such an id. */
const placeholders = { from: 'F'.repeat(40), to: 'T'.repeat(40) };

export function smallData(series: CellSeries): SmallData {
  return {
    metric: series.metric,
    times: timesOf(series),
    values: series.points.map(({ value }) => value),
    commits: series.points.map(({ nightlyRun }) => shortId(nightlyRun.commit)),
    levels: series.levels.map(({ from, to, typical }) => ({ from, to, typical })),
    changes: changesOf(series).map(({ place, ratio, isOpen }) => ({ place, ratio, isOpen })),
  };
}

const timesOf = ({ points }: CellSeries): number[] => points.map(({ time }) => time / 1000);

const changesOf = ({ changes, points }: CellSeries): SeriesData['changes'] =>
  changes.flatMap(({ change, level }) => {
    const place = points.findIndex(({ nightlyRun }) => nightlyRun.at === level.firstAt);
    if (place < 0) return [];
    return { place, ratio: level.changeRatio, state: change.state, isOpen: isOpen(change) };
  });

const momentOf = ({ time, text }: SeriesEvent): ChartEvent => ({
  time: time / 1000,
  text: plainLine(text, 300),
});

const costNumbers = (nightlyRuns: readonly NightlyRun[], cost: Cost): Pick<SeriesData, Cost> =>
  nightlyRuns.some((nightlyRun) => nightlyRun[cost].length > 0)
    ? { [cost]: numbersOf(nightlyRuns.map((nightlyRun) => nightlyRun[cost])) }
    : {};

const numbersOf = (nightlyRuns: readonly (readonly number[])[]): Numbers => ({
  typical: nightlyRuns.map((values) => (values.length === 0 ? null : median([...values]))),
  least: nightlyRuns.map((values) => (values.length === 0 ? null : Math.min(...values))),
  most: nightlyRuns.map((values) => (values.length === 0 ? null : Math.max(...values))),
});

/** Assigns data to a global name. JSON is JavaScript since ECMAScript 2019, and a script file needs no HTML escapes. */
export const dataScript = (name: 'ppsgateSeries' | 'ppsgateCells', data: unknown): string =>
  `globalThis.${name} = ${JSON.stringify(data)};\n`;
