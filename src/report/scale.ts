// Places numbers along the axes of all plots.

export type Extent = { low: number; high: number };

export function linearScale(extent: Extent, from: number, to: number): (value: number) => number {
  const { low, high } = extent;
  return (value) => from + ((clamped(value, extent) - low) / (high - low)) * (to - from);
}

export const clamped = (value: number, { low, high }: Extent): number =>
  Math.min(Math.max(value, low), high);

/** Pads rates of zero or more, so that noise of a thousandth does not look dramatic. */
export function extentOfRates(
  values: readonly number[],
  { spareRatio, leastRatio }: { spareRatio: number; leastRatio: number },
): Extent {
  const { low, high } = extentOf(values);
  const spare = Math.max((high - low) * spareRatio, high * leastRatio, Number.MIN_VALUE);
  return { low: Math.max(low - spare, 0), high: high + spare };
}

/** Spreading into Math.min has too many arguments for some plots. */
export const extentOf = (values: readonly number[]): Extent =>
  values.reduce(
    ({ low, high }, value) => ({ low: Math.min(low, value), high: Math.max(high, value) }),
    { low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY },
  );

/** About six round numbers within a non-empty axis, `most` at most. */
export function ticksOf({ low, high }: Extent, most = 8): number[] {
  const least = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * ([1, 2, 5].find((factor) => factor * power >= least) ?? 10);
  const [first, last] = [Math.ceil(low / step), Math.floor(high / step)];
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
}
