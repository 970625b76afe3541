// Finds change points in a series of nightly runs, and ignores single bad ones.
//
// Optimal partitioning with a bounded loss: Fearnhead and Rigaill, "Changepoint Detection in the Presence of
// Outliers", 2019 (arXiv 1609.07363). One or two nightly runs can never pay for a change.
import { quantileSorted } from 'simple-statistics';
import { median } from './summary.ts';

/** Indexes count from 0; a change is at the first nightly run of its new level. */
export type ChangePoint = {
  index: number;
  /** The change is almost certainly between these two runs, inclusive. */
  earliest: number;
  latest: number;
};

/** Smaller changes are ignored, as a ratio; half the default margin of gates. */
export const minChangeRatio = 0.01;

/**
 * Finds changes up to the last nightly run, except those `known`. Values are above 0; only the last 120 are considered.
 */
export function changePoints(
  values: readonly number[],
  known: readonly number[] = [],
  minRatio: number = minChangeRatio,
): ChangePoint[] {
  const from = Math.max(0, values.length - nightlyRunsInSight);
  const logs = values.slice(from).map(Math.log);
  if (logs.length < minNightlyRuns) return [];
  const sigma = sigmaOf(logs) * correlationFactor(logs);
  const bounds = partition(logs, sigma);
  return bounds.slice(1, -1).flatMap((place, number) => {
    const [start = 0, end = logs.length] = [bounds[number], bounds[number + 2]];
    const index = from + place;
    const step = median(logs.slice(place, end)) - median(logs.slice(start, place));
    const isKnown = known.some((other) => Math.abs(other - index) <= nightlyRunsApart);
    if (isKnown || Math.abs(Math.expm1(step)) < minRatio) return [];
    const { earliest, latest } = placesOf(logs.slice(start, end), place - start, sigma);
    const offset = from + start;
    return [{ index, earliest: offset + earliest, latest: offset + latest }];
  });
}

type FoundChange = ChangePoint & { foundAt: number };

/** Runs `changePoints` after every nightly run; `foundAt` is the run that first showed a change. */
export function changesRunByRun(values: readonly number[], minRatio?: number): FoundChange[] {
  const found: FoundChange[] = [];
  for (let nightlyRun = 0; nightlyRun < values.length; nightlyRun += 1) {
    const known = found.map(({ index }) => index);
    const fresh = changePoints(values.slice(0, nightlyRun + 1), known, minRatio);
    found.push(...fresh.map((change) => ({ ...change, foundAt: nightlyRun })));
  }
  return found.toSorted((a, b) => a.index - b.index);
}

/** Level of the last eight or more values, and the scatter of single nightly runs around it; undefined for fewer. */
export function lastLevel(values: readonly number[]): { typical: number; sigmaRatio: number } | undefined {
  const logs = values.slice(-nightlyRunsInSight).map(Math.log);
  if (logs.length < minNightlyRuns) return undefined;
  const sigma = sigmaOf(logs);
  const start = partition(logs, sigma * correlationFactor(logs)).at(-2) ?? 0;
  return { typical: Math.exp(median(logs.slice(start))), sigmaRatio: sigma };
}

/** Scatter of single nightly runs around their level, as a ratio; `values` may hold changes and bad nightly runs. */
export const nightlySigmaRatio = (values: readonly number[]): number => sigmaOf(values.map(Math.log));

/** Enough for slow habits of a machine; the time grows with the cube. */
const nightlyRunsInSight = 120;
const minNightlyRuns = 8;
const minNightlyRunsOfLevel = 2;
/** A change that moves by no more than this, as nightly runs are added, is the known one. */
const nightlyRunsApart = 3;
/** Maximum cost of a nightly run, in squared deviations: beyond three deviations all are equally bad. */
const costliestNightlyRun = 9;
/** Cost of another level: more than two of the worst nightly runs. */
const costOfLevel = 22;
/** Excludes positions that are 20 times less likely than the best one: twice the logarithm of that. */
const costOfOtherPlace = 6;
/** Lower limit of the noise of real testbeds, as a ratio. */
const quietestSigma = 0.0003;

/**
 * Estimates the scatter of nightly runs around their level from differences of neighbours, in which a change of level
 * counts once.
 */
function sigmaOf(logs: readonly number[]): number {
  const scale = differenceScale(logs);
  const forFewNightlyRuns = 1 + 3 / (logs.length - 1);
  return Math.max(quietestSigma, (scale / Math.SQRT2) * forFewNightlyRuns);
}

/**
 * Deviation of differences of neighbours, 0 for fewer than two values. Their median is the usual noise; if one in five
 * differs, as on machines with two habits, the upper quantile is greater.
 */
function differenceScale(logs: readonly number[]): number {
  const differences = absoluteDifferences(logs, 1).toSorted((a, b) => a - b);
  if (differences.length === 0) return 0;
  return Math.max(...normalQuantiles.map(([share, deviations]) => quantileSorted(differences, share) / deviations));
}

/** Shares of a normal distribution's absolute values, and the deviations that contain them. */
const normalQuantiles = [
  [0.5, 0.6745],
  [0.8, 1.2816],
] as const;

/**
 * Corrects for nightly runs that resemble their neighbours, and so say less about their level. Multiplied by this
 * factor, the deviation of neighbours gives levels the scatter of a first-order autoregression: the variance of a
 * difference is 2 (1 − r) times that of a nightly run, and a level's is (1 + r)/(1 − r) times that of independent ones.
 */
function correlationFactor(logs: readonly number[]): number {
  const correlation = correlationOf(logs);
  return Math.sqrt(1 + correlation) / (1 - correlation);
}

/**
 * Lag-1 correlation within levels: differences over three nightly runs have 1 + r + r² times the variance of those over
 * one. Adds three quarters of a standard error, as too low an estimate finds false changes. Omits large differences,
 * which are changes of level and bad nightly runs.
 */
function correlationOf(logs: readonly number[]): number {
  const most = cutAt * differenceScale(logs);
  const [one, three] = [1, 3].map((lag) =>
    meanSquare(absoluteDifferences(logs, lag).filter((difference) => difference <= most)),
  );
  if (!one || !three) return 0;
  const estimate = (Math.sqrt(Math.max((4 * three) / one - 3, 1)) - 1) / 2;
  return Math.min(estimate + 0.75 / Math.sqrt(logs.length), maxCorrelation);
}

/** Measured in deviations of a difference of neighbours. */
const cutAt = 4;
/** A greater one would hide every change. */
const maxCorrelation = 0.9;

const absoluteDifferences = (values: readonly number[], lag: number): number[] =>
  values.slice(lag).map((value, index) => Math.abs(value - (values[index] ?? value)));

const meanSquare = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value ** 2, 0) / values.length;

/** Returns the bounds of the levels, from 0 to the number of values, that cost least in total. */
function partition(logs: readonly number[], sigma: number): number[] {
  const count = logs.length;
  const least = new Float64Array(count + 1).fill(Number.POSITIVE_INFINITY);
  least[0] = -costOfLevel;
  const startOf = new Int32Array(count + 1);
  const sorted = new Float64Array(count);
  for (let start = 0; start + minNightlyRunsOfLevel <= count; start += 1) {
    const before = (least[start] ?? 0) + costOfLevel;
    if (before === Number.POSITIVE_INFINITY) continue;
    for (let end = start + 1; end <= count; end += 1) {
      insert(sorted, end - start - 1, logs[end - 1] ?? 0);
      if (end - start < minNightlyRunsOfLevel) continue;
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

function insert(sorted: Float64Array, count: number, value: number): void {
  let place = count;
  for (; place > 0 && (sorted[place - 1] ?? 0) > value; place -= 1) {
    sorted[place] = sorted[place - 1] ?? 0;
  }
  sorted[place] = value;
}

/** Cost of the first `count` as one level; stops at `most`. */
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

/** Range of equally plausible steps between two consecutive levels; `best` costs least. */
function placesOf(logs: readonly number[], best: number, sigma: number): Omit<ChangePoint, 'index'> {
  const cost = (values: readonly number[]): number =>
    costOfSorted(Float64Array.from(values).toSorted(), values.length, sigma, Number.POSITIVE_INFINITY);
  const costAt = (place: number): number => cost(logs.slice(0, place)) + cost(logs.slice(place));
  const most = costAt(best) + costOfOtherPlace;
  const isLikely = (place: number): boolean =>
    place >= minNightlyRunsOfLevel && place <= logs.length - minNightlyRunsOfLevel && costAt(place) < most;
  let [earliest, latest] = [best, best];
  while (isLikely(earliest - 1)) earliest -= 1;
  while (isLikely(latest + 1)) latest += 1;
  return { earliest, latest };
}
