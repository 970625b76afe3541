// Estimates the change between two variants from runs, with its uncertainty.
import { mean, sum, sumNthPowerDeviations } from 'simple-statistics';
import type { History } from '../../model/result.ts';
import { hodgesLehmann, signedRankBounds } from './signed-rank.ts';
import { criticalT } from './student.ts';
import { geometricMean, median } from './summary.ts';

export type Pair = { base: number; patched: number };

/** Noise of runs, on the natural logarithms of their numbers. */
export type Noise = { sumOfSquares: number; degreesOfFreedom: number };

export type Evidence = {
  /** The value of base, in the unit of the runs. */
  base: number;
  effect: number;
} & (
  | { method: 'paired'; ratios: Float64Array }
  | { method: 'pooled'; standardError: number; degreesOfFreedom: number }
);

/** On natural logarithms of patched over base. */
export type Bounds = { low: number; high: number };

/**
 * Evaluates pairs measured side by side: what slows both runs alike cancels. Hodges' and Lehmann's estimate with the
 * interval of Wilcoxon's signed-rank test, on the logarithms of the ratios. It requires only symmetry, which the random
 * order provides; a few outliers barely move it, where they would double Student's interval.
 *
 * Assumes that variant and trial do not interact: base and patched differ alike in every trial.
 *
 * Takes positive numbers, at least one pair.
 */
export function pairedEvidence(pairs: readonly Pair[]): Evidence {
  const ratios = Float64Array.from(pairs, ({ base, patched }) => Math.log(patched / base)).sort();
  const base = median(pairs.map((pair) => pair.base));
  return { method: 'paired', base, effect: hodgesLehmann(ratios), ratios };
}

/** A run's number. `trial` is its position in the order of measuring, if known; `layout` the booted one of several. */
export type Measurement = {
  value: number;
  trial?: number | undefined;
  layout?: number | undefined;
};

/**
 * Evaluates independent runs, like boots: least squares of the logarithms on the variant and, from three runs of each
 * variant on, on the trial, so that a drift costs one degree of freedom instead of the verdict. Earlier sessions moderate
 * the variance (Smyth, Statistical Applications in Genetics and Molecular Biology 3, 2004).
 *
 * Assumes that variant and trial do not interact: base and patched drift alike.
 *
 * Takes positive numbers, at least one of each variant and three in all (two where there is a prior).
 */
export function pooledEvidence(
  base: readonly Measurement[],
  patched: readonly Measurement[],
  prior: Noise = noNoise,
): Evidence {
  if (base.length === 0 || patched.length === 0) {
    throw new RangeError('Each variant needs at least one run.');
  }
  const { effect, sumOfSquares, degreesOfFreedom, factor } = fitOf(base, patched);
  const noise = sumOf({ sumOfSquares, degreesOfFreedom }, prior);
  return {
    method: 'pooled',
    base: Math.exp(mean(base.map(logOf))),
    effect,
    standardError: Math.sqrt((noise.sumOfSquares / noise.degreesOfFreedom) * factor),
    degreesOfFreedom: noise.degreesOfFreedom,
  };
}

const logOf = ({ value }: Measurement): number => Math.log(value);

/** `factor` is the variance of the effect, as a multiple of the variance of a run. */
type Fit = Noise & { effect: number; factor: number };

function fitOf(base: readonly Measurement[], patched: readonly Measurement[]): Fit {
  const [baseLogs, patchedLogs] = [base.map(logOf), patched.map(logOf)];
  const effect = mean(patchedLogs) - mean(baseLogs);
  const plain: Fit = {
    effect,
    sumOfSquares: sumNthPowerDeviations(baseLogs, 2) + sumNthPowerDeviations(patchedLogs, 2),
    degreesOfFreedom: base.length + patched.length - 2,
    factor: 1 / base.length + 1 / patched.length,
  };
  if (Math.min(base.length, patched.length) < 3) return plain;
  return adjusted(plain, [base, patched], [baseLogs, patchedLogs]) ?? plain;
}

/** Analysis of covariance with the trial; undefined if the trial separates the variants, or is unknown. */
function adjusted(
  plain: Fit,
  variants: readonly (readonly Measurement[])[],
  logs: readonly number[][],
): Fit | undefined {
  const trials = variants.map((runs) => runs.map(({ trial = Number.NaN }) => trial));
  const square = sum(trials.map((own) => sumNthPowerDeviations(own, 2)));
  const product = sum(trials.map((own, index) => sumOfProducts(own, logs[index] ?? [])));
  const [baseTrial = 0, patchedTrial = 0] = trials.map((own) => mean(own));
  const apart = patchedTrial - baseTrial;
  // Adjusting costs more than a drift if the trial nearly separates the variants.
  if (!(square > apart ** 2)) return undefined;
  const slope = product / square;
  return {
    effect: plain.effect - slope * apart,
    sumOfSquares: Math.max(0, plain.sumOfSquares - slope * product),
    degreesOfFreedom: plain.degreesOfFreedom - 1,
    factor: plain.factor + apart ** 2 / square,
  };
}

function sumOfProducts(xs: number[], ys: number[]): number {
  const [x, y] = [mean(xs), mean(ys)];
  return sum(xs.map((value, index) => (value - x) * ((ys[index] ?? y) - y)));
}

/**
 * Reduces a variant with several layouts to one number per layout, the geometric mean of its runs: runs of one layout
 * share the effect of its section order, so they are one draw of it. With a single layout every run counts, and the
 * effect of other layouts stays unknown.
 *
 * Takes positive numbers.
 */
export function onePerLayout(runs: readonly Measurement[]): Measurement[] {
  const layouts = Map.groupBy(runs, ({ layout }) => layout);
  if (layouts.size === 1) return [...runs];
  return [...layouts.values()].map((group) => ({
    value: geometricMean(group.map(({ value }) => value)),
    trial: mean(group.map(({ trial = Number.NaN }) => trial)),
  }));
}

/**
 * Returns the changes under which data this far off have a probability of more than `level`, on each side. Both bounds
 * are infinite with too few pairs for the level, or without a degree of freedom.
 */
export function boundsOf(evidence: Evidence, level: number): Bounds {
  if (evidence.method === 'pooled') {
    const { effect, standardError, degreesOfFreedom } = evidence;
    if (degreesOfFreedom <= 0 || level === 0) return unbounded;
    const reach = criticalT(degreesOfFreedom, level) * standardError;
    return { low: effect - reach, high: effect + reach };
  }
  return signedRankBounds(evidence.ratios, level) ?? unbounded;
}

const unbounded: Bounds = { low: -Infinity, high: Infinity };

/** Applies until ten sessions of a testbed are known. */
const usualSessionDegreesOfFreedom = 4;

/** Noise of earlier sessions, and the extent to which the variance of a session may differ from it. */
export type EarlierNoise = Noise & Pick<History, 'sessionDegreesOfFreedom'>;

/** Prior noise of a session: the pooled variance of earlier ones, with as many degrees of freedom as they agree. */
export function moderated(earlier: EarlierNoise = noNoise): Noise {
  const { sumOfSquares, degreesOfFreedom } = earlier;
  const most = earlier.sessionDegreesOfFreedom ?? usualSessionDegreesOfFreedom;
  if (degreesOfFreedom <= most) return { sumOfSquares, degreesOfFreedom };
  return { sumOfSquares: (sumOfSquares * most) / degreesOfFreedom, degreesOfFreedom: most };
}

/** Prior noise of a test. Below four degrees of freedom, adds a tenth of the margin: four runs may agree by chance. */
export function priorNoise(earlier: EarlierNoise | undefined, marginRatio: number): Noise {
  const prior = moderated(earlier);
  if (prior.degreesOfFreedom >= 4) return prior;
  return { ...prior, sumOfSquares: prior.sumOfSquares + 2 * (marginRatio / 10) ** 2 };
}

export const noNoise: Noise = { sumOfSquares: 0, degreesOfFreedom: 0 };

export const sumOf = (a: Noise, b: Noise): Noise => ({
  sumOfSquares: a.sumOfSquares + b.sumOfSquares,
  degreesOfFreedom: a.degreesOfFreedom + b.degreesOfFreedom,
});
