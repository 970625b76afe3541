// Where a series of nightly runs changed its level for good, and where it only had bad nightly runs.
//
// Optimal partitioning with a bounded loss: Fearnhead and Rigaill, "Changepoint Detection in the Presence of
// Outliers", 2019 (arXiv 1609.07363). One nightly run alone can never pay for a change, nor can two.
import { quantileSorted } from 'simple-statistics';
import { median } from './summary.ts';

/** Places count from 0, a change being at the first nightly run of its new level. */
export type ChangePoint = {
  index: number;
  /** The change is as good as certainly between these two, both included. */
  earliest: number;
  latest: number;
};

/** A change smaller than this is of no concern, as a ratio; half the margin that gates have by default. */
export const leastChangeRatio = 0.01;

/**
 * The changes that a series shows on its last night, but for those that are `known` by their places. Values are above
 * 0 and one a nightly run; what came before the last 120 of them is no longer looked at.
 */
export function changePoints(
  values: readonly number[],
  known: readonly number[] = [],
  leastRatio: number = leastChangeRatio,
): ChangePoint[] {
  const from = Math.max(0, values.length - nightlyRunsInSight);
  const logs = values.slice(from).map(Math.log);
  if (logs.length < fewestNightlyRuns) return [];
  const sigma = sigmaOf(logs);
  const bounds = partition(logs, sigma);
  return bounds.slice(1, -1).flatMap((place, number) => {
    const [start = 0, end = logs.length] = [bounds[number], bounds[number + 2]];
    const index = from + place;
    const step = median(logs.slice(place, end)) - median(logs.slice(start, place));
    const isKnown = known.some((other) => Math.abs(other - index) <= nightlyRunsApart);
    if (isKnown || Math.abs(Math.expm1(step)) < leastRatio) return [];
    const { earliest, latest } = placesOf(logs.slice(start, end), place - start, sigma);
    const offset = from + start;
    return [{ index, earliest: offset + earliest, latest: offset + latest }];
  });
}

export type FoundChange = ChangePoint & { foundAt: number };

/** What `changePoints` finds in the course of the nightly runs, each found once; `foundAt` is the nightly run that showed it. */
export function changesRunByRun(values: readonly number[], leastRatio?: number): FoundChange[] {
  const found: FoundChange[] = [];
  for (let nightlyRun = 0; nightlyRun < values.length; nightlyRun += 1) {
    const known = found.map(({ index }) => index);
    const fresh = changePoints(values.slice(0, nightlyRun + 1), known, leastRatio);
    found.push(...fresh.map((change) => ({ ...change, foundAt: nightlyRun })));
  }
  return found.toSorted((a, b) => a.index - b.index);
}

/** The level that the last of at least eight values have, and how far single nightly runs lie from it; undefined for fewer. */
export function lastLevel(
  values: readonly number[],
): { typical: number; sigmaRatio: number } | undefined {
  const logs = values.slice(-nightlyRunsInSight).map(Math.log);
  if (logs.length < fewestNightlyRuns) return undefined;
  const sigma = sigmaOf(logs);
  const start = partition(logs, sigma).at(-2) ?? 0;
  return { typical: Math.exp(median(logs.slice(start))), sigmaRatio: sigma };
}

/** How far single nightly runs lie from their level, as a ratio; `values` may hold changes of level and bad nightly runs. */
export const nightlySigmaRatio = (values: readonly number[]): number =>
  sigmaOf(values.map(Math.log));

/** Enough for slow habits of a machine, few enough to be judged at once: its time grows with the cube. */
const nightlyRunsInSight = 120;
const fewestNightlyRuns = 8;
const fewestNightlyRunsOfLevel = 2;
/** A change that moves by so little as nightly runs are added is the one that was known. */
const nightlyRunsApart = 3;
/** The most that a nightly run can cost, in squares of a deviation: beyond three of them all nightly runs are equally bad. */
const costliestNightlyRun = 9;
/** What another level costs: more than two of the worst nightly runs. */
const costOfLevel = 22;
/** Places that are 20 times less likely than the best one are ruled out: twice the logarithm of that. */
const costOfOtherPlace = 6;
/** Nobody's testbed is quieter than this. */
const quietestSigma = 0.0003;

/**
 * From differences of neighbours, so that a change of level counts once. The median of these is what nightly runs mostly
 * do; where one in five does something else, as on machines with two habits, the upper quantile is greater.
 */
function sigmaOf(logs: readonly number[]): number {
  const differences = logs
    .slice(1)
    .map((value, index) => Math.abs(value - (logs[index] ?? value)))
    .toSorted((a, b) => a - b);
  if (differences.length === 0) return quietestSigma;
  const normal = Math.max(
    ...normalQuantiles.map(
      ([share, deviations]) => quantileSorted(differences, share) / deviations,
    ),
  );
  const forFewNightlyRuns = 1 + 3 / differences.length;
  return Math.max(quietestSigma, (normal / Math.SQRT2) * forFewNightlyRuns);
}

/** Shares of a normal distribution's absolute values, and the deviations that they lie within. */
const normalQuantiles = [
  [0.5, 0.6745],
  [0.8, 1.2816],
] as const;

/** Bounds of the levels, from 0 to the number of values: of all ways to divide them the one that costs least. */
function partition(logs: readonly number[], sigma: number): number[] {
  const count = logs.length;
  const least = new Float64Array(count + 1).fill(Number.POSITIVE_INFINITY);
  least[0] = -costOfLevel;
  const startOf = new Int32Array(count + 1);
  const sorted = new Float64Array(count);
  for (let start = 0; start + fewestNightlyRunsOfLevel <= count; start += 1) {
    const before = (least[start] ?? 0) + costOfLevel;
    if (before === Number.POSITIVE_INFINITY) continue;
    for (let end = start + 1; end <= count; end += 1) {
      insert(sorted, end - start - 1, logs[end - 1] ?? 0);
      if (end - start < fewestNightlyRunsOfLevel) continue;
      const most = (least[end] ?? 0) - before;
      const cost = costOfSorted(sorted, end - start, sigma, most);
      if (cost >= most) continue;
      least[end] = before + cost;
      startOf[end] = start;
    }
  }
  const bounds = [count];
  for (let end = count; end > 0; end = startOf[end] ?? 0) bounds.unshift(startOf[end] ?? 0);
  return bounds;
}

/** Puts a value to its place among the first `count`, which are sorted. */
function insert(sorted: Float64Array, count: number, value: number): void {
  let place = count;
  for (; place > 0 && (sorted[place - 1] ?? 0) > value; place -= 1) {
    sorted[place] = sorted[place - 1] ?? 0;
  }
  sorted[place] = value;
}

/** Cost of the first `count` as one level; given up where it is `most` or more. */
function costOfSorted(sorted: Float64Array, count: number, sigma: number, most: number): number {
  const half = count >> 1;
  const upper = sorted[half] ?? 0;
  const level = count % 2 === 1 ? upper : ((sorted[half - 1] ?? 0) + upper) / 2;
  let cost = 0;
  for (let place = 0; place < count && cost < most; place += 1) {
    const deviations = ((sorted[place] ?? 0) - level) / sigma;
    cost += Math.min(deviations * deviations, costliestNightlyRun);
  }
  return cost;
}

/** Where in two levels that follow each other the step may as well be, `best` being the place that costs least. */
function placesOf(
  logs: readonly number[],
  best: number,
  sigma: number,
): Omit<ChangePoint, 'index'> {
  const cost = (values: readonly number[]): number =>
    costOfSorted(
      Float64Array.from(values).toSorted(),
      values.length,
      sigma,
      Number.POSITIVE_INFINITY,
    );
  const costAt = (place: number): number => cost(logs.slice(0, place)) + cost(logs.slice(place));
  const most = costAt(best) + costOfOtherPlace;
  const isLikely = (place: number): boolean =>
    place >= fewestNightlyRunsOfLevel &&
    place <= logs.length - fewestNightlyRunsOfLevel &&
    costAt(place) < most;
  let [earliest, latest] = [best, best];
  while (isLikely(earliest - 1)) earliest -= 1;
  while (isLikely(latest + 1)) latest += 1;
  return { earliest, latest };
}
