// Places numbers along the axes of all plots.

export type Extent = { low: number; high: number };

export function linearScale(extent: Extent, from: number, to: number): (value: number) => number {
  const { low, high } = extent;
  return (value) => from + ((clamped(value, extent) - low) / (high - low)) * (to - from);
}

export const clamped = (value: number, { low, high }: Extent): number => Math.min(Math.max(value, low), high);

/** Pads rates of zero or more, so that noise of a thousandth does not look dramatic. */
export function paddedRates(
  { low, high }: Extent,
  { spareRatio, minRatio }: { spareRatio: number; minRatio: number },
): Extent {
  const spare = Math.max((high - low) * spareRatio, high * minRatio, Number.MIN_VALUE);
  return { low: Math.max(low - spare, 0), high: high + spare };
}

/** Returns how many values may be outliers: a tenth, but one of four and two of twelve. */
function maxOutliers(count: number): number {
  if (count < 4) return 0;
  return count < 12 ? 1 : Math.max(2, Math.floor(count / 10));
}

/**
 * Excludes outliers, so that they do not flatten the plot: the middle of the values and `kept` take at least three
 * fifths.
 */
export function robustExtent(values: readonly number[], kept: readonly number[] = []): Extent {
  const { low, high } = extentOf([...middleOf(values), ...kept]);
  const reach = (high - low) / 3;
  const near = values.filter((value) => value >= low - reach && value <= high + reach);
  return extentOf([low, high, ...near]);
}

/** Returns the values in the shortest range that holds all but the outliers. */
function middleOf(values: readonly number[]): number[] {
  const sorted = values.toSorted((a, b) => a - b);
  const count = sorted.length - maxOutliers(sorted.length);
  const widthFrom = (first: number) => (sorted[first + count - 1] ?? 0) - (sorted[first] ?? 0);
  const firsts = Array.from({ length: sorted.length - count + 1 }, (_, first) => first);
  const first = firsts.reduce((best, one) => (widthFrom(one) < widthFrom(best) ? one : best), 0);
  return sorted.slice(first, first + count);
}

export const isWithin = (value: number, { low, high }: Extent): boolean => value >= low && value <= high;

/** Avoids spreading into Math.min, which has too many arguments for some plots. */
export const extentOf = (values: readonly number[]): Extent =>
  values.reduce(({ low, high }, value) => ({ low: Math.min(low, value), high: Math.max(high, value) }), {
    low: Number.POSITIVE_INFINITY,
    high: Number.NEGATIVE_INFINITY,
  });

/** Returns about six round numbers within a non-empty axis, at most `most`. */
export function ticksOf({ low, high }: Extent, most = 8): number[] {
  const least = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
  const [first, last] = [Math.ceil(low / step), Math.floor(high / step)];
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}
