// Reimplements FreeBSD's ministat(1): summaries of up to seven sets, comparisons with the first, identical text.
//
// Sums, medians and variances follow ministat's own order instead of simple-statistics, which compensates rounding:
// equal to fifteen digits, but three times 0.1 gets no plot there and one here.
import { UsageError } from '../../model/usage-error.ts';
import { type PlotOptions, plot, symbol } from './ministat-plot.ts';
import { formatGeneral } from './printf.ts';
import { type ConfidencePercent, studentT } from './student.ts';

export type MinistatSet = {
  readonly name: string;
  /** Finite, in file order; at least three. */
  readonly values: Float64Array;
};

type CompareOptions = {
  /** Confidence of the two-sided test, in percent; 95 by default. */
  readonly confidencePercent?: ConfidencePercent;
  /** `-P`: each set is a whole population, so its standard deviation is over n. */
  readonly population?: boolean;
};

export type MinistatOptions = CompareOptions &
  PlotOptions & {
    /** `-n`: neither plot nor test. */
    readonly summariesOnly?: boolean;
    /** `-A`: no plot. */
    readonly withoutPlot?: boolean;
    /** `-q`: no names and no column heads. */
    readonly quiet?: boolean;
  };

type Summary = {
  readonly name: string;
  readonly n: number;
  readonly min: number;
  readonly max: number;
  readonly median: number;
  readonly average: number;
  readonly stddev: number;
};

/** A set compared with the first, in the first's unit unless the name ends in percent (of the first's average). */
type Difference = {
  readonly name: string;
  readonly difference: number;
  readonly error: number;
  readonly relativeDifferencePercent: number;
  readonly relativeErrorPercent: number;
  readonly pooledStddev: number;
  readonly significant: boolean;
};

export type Comparison = {
  readonly confidencePercent: ConfidencePercent;
  readonly summaries: readonly Summary[];
  readonly differences: readonly Difference[];
};

/**
 * Computes the numbers, including those that ministat omits with `-n`, `-P` or an unproven difference.
 *
 * @throws UsageError for no sets, more than seven, or a set of fewer than three values.
 */
export function compare(sets: readonly MinistatSet[], options: CompareOptions = {}): Comparison {
  const { confidencePercent = 95, population = false } = options;
  refuseUnusable(sets);

  const samples = sets.map(measure);
  const [reference, ...others] = samples;
  return {
    confidencePercent,
    summaries: samples.map((sample) => summarize(sample, population)),
    differences: others.map((other) => differ(reference ?? other, other, confidencePercent)),
  };
}

/** Renders ministat's output; `renderMinistat(sets, { separateBars: true })` is the form common in mail. */
export function renderMinistat(sets: readonly MinistatSet[], options: MinistatOptions = {}): string {
  return [...ministatPieces(sets, options)].join('');
}

/** Yields the text in pieces of about a megabyte: the plot of ten million values exceeds the maximum string length. */
export function* ministatPieces(sets: readonly MinistatSet[], options: MinistatOptions = {}): Generator<string> {
  const { summariesOnly = false, withoutPlot = false, quiet = false, population = false } = options;
  const { summaries, differences, confidencePercent } = compare(sets, options);

  if (!quiet) yield sets.map(({ name }, index) => `${symbol(index + 1)} ${name}\n`).join('');
  if (!summariesOnly && !withoutPlot) yield* plot(sets, summaries, options);
  if (!quiet) yield heads;

  for (const [index, summary] of summaries.entries()) {
    yield summaryRow(summary, symbol(index + 1));
    const difference = differences[index - 1];
    if (difference === undefined || summariesOnly || population) continue;
    yield differenceLines(difference, confidencePercent);
  }
}

const maxSets = 7;
const minValues = 3;

function refuseUnusable(sets: readonly MinistatSet[]): void {
  if (sets.length === 0) {
    throw new UsageError('There is nothing to compare: name at least one file of numbers.');
  }
  if (sets.length > maxSets) {
    throw new UsageError(
      `There are ${sets.length} sets and symbols for ${maxSets} only: leave out ${sets.length - maxSets}.`,
    );
  }
  const short = sets.find(({ values }) => values.length < minValues);
  if (short === undefined) return;
  throw new UsageError(
    `${short.name} holds ${short.values.length} of the at least ${minValues} numbers that a standard deviation needs: measure more often.`,
  );
}

type Sample = {
  readonly name: string;
  readonly sorted: Float64Array;
  readonly average: number;
  readonly variance: number;
};

function measure({ name, values }: MinistatSet): Sample {
  // Uses index loops, as `for … of` takes ten times as long on a typed array.
  let sum = 0;
  for (let index = 0; index < values.length; index += 1) sum += values[index] ?? NaN;
  const average = sum / values.length;

  const sorted = sortedCopy(values);
  let squares = 0;
  for (let index = 0; index < sorted.length; index += 1) {
    const deviation = (sorted[index] ?? NaN) - average;
    squares += deviation * deviation;
  }
  return { name, sorted, average, variance: squares / (values.length - 1) };
}

function sortedCopy(values: Float64Array): Float64Array {
  const copy = values.slice();
  if (!values.every((value) => value >= 0)) return copy.sort();

  // The bits of non-negative doubles order as integers do, and integers sort twice as fast.
  new BigInt64Array(copy.buffer).sort();
  return copy;
}

function summarize({ name, sorted, average, variance }: Sample, population: boolean): Summary {
  const n = sorted.length;
  const shrink = population ? Math.sqrt((n - 1) / n) : 1;
  return {
    name,
    n,
    min: sorted[0] ?? NaN,
    max: sorted[n - 1] ?? NaN,
    median: middle(sorted),
    average,
    stddev: Math.sqrt(variance) * shrink,
  };
}

function middle(sorted: Float64Array): number {
  const half = Math.floor(sorted.length / 2);
  const upper = sorted[half] ?? NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? NaN)) / 2;
}

/** Student's t with pooled variance. The relative error is that of a ratio, as in the current ministat. */
function differ(first: Sample, other: Sample, confidencePercent: ConfidencePercent): Difference {
  const [n1, n2] = [first.sorted.length, other.sorted.length];
  const degreesOfFreedom = n1 + n2 - 2;
  const t = studentT(degreesOfFreedom, confidencePercent);

  const squares1 = (n1 - 1) * first.variance;
  const squares2 = (n2 - 1) * other.variance;
  const pooledStddev = Math.sqrt((squares2 + squares1) / degreesOfFreedom);
  const difference = other.average - first.average;
  const error = t * (pooledStddev * Math.sqrt(1 / n2 + 1 / n1));

  const ratioSquares = squares2 + (squares1 * (other.average * other.average)) / (first.average * first.average);
  const ratioError = t * Math.sqrt(ratioSquares * ((n2 + n1) / (n2 * n1 * degreesOfFreedom)));
  return {
    name: other.name,
    difference,
    error,
    relativeDifferencePercent: (difference * 100) / first.average,
    relativeErrorPercent: (ratioError * 100) / first.average,
    pooledStddev,
    significant: Math.abs(difference) > error,
  };
}

const heads = '    N           Min           Max        Median           Avg        Stddev\n';

function summaryRow(summary: Summary, mark: string): string {
  const { n, min, max, median, average, stddev } = summary;
  const cells = [min, max, median, average, stddev].map((cell) => formatGeneral(cell, 8).padStart(13));
  return `${mark} ${[String(n).padStart(3), ...cells].join(' ')}\n`;
}

function differenceLines(difference: Difference, confidencePercent: ConfidencePercent): string {
  const confidence = `${confidencePercent.toFixed(1)}% confidence`;
  if (!difference.significant) return `No difference proven at ${confidence}\n`;

  const g = (value: number) => formatGeneral(value, 6);
  return [
    `Difference at ${confidence}\n`,
    `\t${g(difference.difference)} +/- ${g(difference.error)}\n`,
    `\t${g(difference.relativeDifferencePercent)}% +/- ${g(difference.relativeErrorPercent)}%\n`,
    `\t(Student's t, pooled s = ${g(difference.pooledStddev)})\n`,
  ].join('');
}
