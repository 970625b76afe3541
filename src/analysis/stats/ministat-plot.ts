// Draws the plot of ministat(1): a pile of symbols per set over one axis, and a bar for its average.

export type PlotOptions = {
  /** `-s`: each set draws its bar on its own line. */
  readonly separateBars?: boolean;
  /** `-w`: columns between the borders; 74 by default, at least 2. */
  readonly width?: number;
};

/** Finite numbers in any order. */
type Dots = { readonly values: Float64Array };

type Marks = {
  readonly min: number;
  readonly max: number;
  readonly median: number;
  readonly average: number;
  readonly stddev: number;
};

/** Yields lines in pieces of at most about a megabyte. Sets and summaries are in the same order, at most seven each. */
export function* plot(sets: readonly Dots[], summaries: readonly Marks[], options: PlotOptions): Generator<string> {
  const { width = 74, separateBars = false } = options;
  const axis = spanAxis(summaries, width);
  if (axis.span === 0) {
    yield '[no plot, span is zero width]\n';
    return;
  }

  const border = `+${'-'.repeat(width)}+\n`;
  yield border;
  yield* pileLines(sets, axis);
  yield barLines(summaries, axis, separateBars);
  yield border;
}

/** Sets that share a spot are or'ed to one symbol, as in ministat. */
export const symbol = (bits: number): string => ' x+*%#@O'.charAt(bits);

type PlotAxis = {
  readonly width: number;
  readonly span: number;
  /** Columns are centred, so the smallest value is in the middle of the first. */
  readonly columnOf: (value: number) => number;
};

function spanAxis(summaries: readonly Marks[], width: number): PlotAxis {
  // ministat's own start values: anything beyond ±9.99e101 does not widen the plot.
  let low = 9.99e101;
  let high = -9.99e101;
  for (const { min, max, average, stddev } of summaries) {
    for (const value of [min, max, average - stddev, average + stddev]) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }

  const span = high - low;
  const step = span / (width - 1);
  const origin = low - 0.5 * step;
  return { width, span, columnOf: (value) => Math.trunc((value - origin) / step) };
}

/**
 * Yields the dots, top line first. Merges equal lines into one piece: a pile may be millions high, but has few shapes.
 */
function* pileLines(sets: readonly Dots[], axis: PlotAxis): Generator<string> {
  const piles = sets.map(({ values }) => pileHeights(values, axis));
  const tops = piles.map((heights) => Math.max(1, ...heights));
  const cleared = sets.map((_, index) => clearedAbove(tops, index));

  const last = tops.at(-1) ?? 0;
  const changes = [...new Set([last, ...cleared, ...piles.flatMap((heights) => [...heights])])]
    .filter((level) => level > 0 && level <= last)
    .sort((a, b) => b - a);

  for (const [index, level] of changes.entries()) {
    const line = pileLine(piles, cleared, level, axis.width);
    yield* repeated(line, level - (changes[index + 1] ?? 0));
  }
}

function pileHeights(values: Float64Array, axis: PlotAxis): Uint32Array {
  const heights = new Uint32Array(axis.width);
  for (let index = 0; index < values.length; index += 1) {
    const column = axis.columnOf(values[index] ?? NaN);
    heights[column] = (heights[column] ?? 0) + 1;
  }
  return heights;
}

/**
 * Highest line that set `index` keeps. A quirk of published plots: the height is that of the last set drawn, and a set
 * higher than the one before it first wipes everything above that one's top.
 */
function clearedAbove(tops: readonly number[], index: number): number {
  const wiped = tops.slice(index, -1).filter((top, at) => (tops[index + at + 1] ?? 0) > top);
  return Math.min(...wiped, Infinity);
}

function pileLine(piles: readonly Uint32Array[], cleared: readonly number[], level: number, width: number): string {
  const bits = new Uint8Array(width);
  for (const [index, heights] of piles.entries()) {
    if (level > (cleared[index] ?? Infinity)) continue;
    for (const [column, height] of heights.entries()) {
      if (height >= level) bits[column] = (bits[column] ?? 0) | (index + 1);
    }
  }
  return framed(Array.from(bits, symbol));
}

function* repeated(line: string, times: number): Generator<string> {
  const together = Math.ceil(1_000_000 / line.length);
  for (let left = times; left > 0; left -= together) yield line.repeat(Math.min(left, together));
}

/** `|___A___|` spans the average ± the standard deviation; M is the median, and A, drawn last, the average. */
function barLines(summaries: readonly Marks[], axis: PlotAxis, separateBars: boolean): string {
  const bars = summaries.map(() => Array<string>(axis.width).fill(' '));
  const [shared = []] = bars;
  for (const [index, summary] of summaries.entries()) {
    drawBar(separateBars ? (bars[index] ?? shared) : shared, summary, axis);
  }
  return separateBars ? bars.map(framed).join('') : framed(shared);
}

function drawBar(bar: string[], { median, average, stddev }: Marks, axis: PlotAxis): void {
  const left = axis.columnOf(average - stddev);
  const right = axis.columnOf(average + stddev);
  for (let column = Math.max(0, left + 1); column < Math.min(right, axis.width); column += 1) {
    if (bar[column] === ' ') bar[column] = '_';
  }
  // Values beyond the start values of the axis have columns far outside it.
  const put = (column: number, mark: string) => {
    if (column >= 0 && column < axis.width) bar[column] = mark;
  };
  put(right, '|');
  put(left, '|');
  put(axis.columnOf(median), 'M');
  put(axis.columnOf(average), 'A');
}

const framed = (characters: readonly string[]): string => `|${characters.join('')}|\n`;
