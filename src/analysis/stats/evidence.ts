// Estimates the change between two variants from runs, with its uncertainty.
import { geometricMean, mean, sumNthPowerDeviations } from 'simple-statistics';
import { hodgesLehmann, signedRankBounds } from './signed-rank.ts';
import { criticalT } from './student.ts';
import { median } from './summary.ts';

export type Pair = { base: number; patched: number };

/** Noise of earlier runs of the same cell, on natural logarithms. */
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
 * Takes positive numbers, at least one pair.
 */
export function pairedEvidence(pairs: readonly Pair[]): Evidence {
  const ratios = Float64Array.from(pairs, ({ base, patched }) => Math.log(patched / base)).sort();
  const base = median(pairs.map((pair) => pair.base));
  return { method: 'paired', base, effect: hodgesLehmann(ratios), ratios };
}

/**
 * Evaluates independent runs, like boots: Student's test with a pooled variance, on logarithms, with the noise of
 * earlier runs of the cell added. If the cell has become much noisier, earlier runs are ignored, or its noise would
 * pass for a change.
 *
 * Takes positive numbers, at least one of each variant and three in all (two with earlier noise).
 */
export function pooledEvidence(
  base: readonly number[],
  patched: readonly number[],
  earlier: Noise = { sumOfSquares: 0, degreesOfFreedom: 0 },
): Evidence {
  const [baseLogs, patchedLogs] = [base.map(Math.log), patched.map(Math.log)];
  const own = {
    sumOfSquares: sumNthPowerDeviations(baseLogs, 2) + sumNthPowerDeviations(patchedLogs, 2),
    degreesOfFreedom: base.length + patched.length - 2,
  };
  const noise = pooledNoise(own, earlier);
  const variance = noise.sumOfSquares / noise.degreesOfFreedom;
  return {
    method: 'pooled',
    base: Math.exp(mean(baseLogs)),
    effect: mean(patchedLogs) - mean(baseLogs),
    standardError: Math.sqrt(variance * (1 / base.length + 1 / patched.length)),
    degreesOfFreedom: noise.degreesOfFreedom,
  };
}

/** A number of a run, and the layout booted for it; absent: there is one layout only. */
export type LayoutNumber = { value: number; layout?: number | undefined };

/**
 * Reduces a variant with several layouts to one number per layout, the geometric mean of its runs: runs of one layout
 * share the effect of its section order, so they are one draw of it. With a single layout every run counts, and the
 * effect of other layouts stays unknown.
 *
 * Takes positive numbers.
 */
export function onePerLayout(runs: readonly LayoutNumber[]): number[] {
  const layouts = Map.groupBy(runs, ({ layout }) => layout);
  if (layouts.size === 1) return runs.map(({ value }) => value);
  return [...layouts.values()].map((group) => geometricMean(group.map(({ value }) => value)));
}

/**
 * Returns the changes under which data this far off have a probability of more than `level`, to each side. Both bounds
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

/** Prior noise. With fewer than five earlier runs, adds a tenth of the margin: four runs may agree by chance. */
export function knownNoise(history: Noise | undefined, marginRatio: number): Noise {
  const known = history ?? { sumOfSquares: 0, degreesOfFreedom: 0 };
  if (known.degreesOfFreedom >= 4) return known;
  return { ...known, sumOfSquares: known.sumOfSquares + 2 * (marginRatio / 10) ** 2 };
}

export const relevantTo = (own: Noise, earlier: Noise): Noise =>
  isNoisier(own, earlier) ? { sumOfSquares: 0, degreesOfFreedom: 0 } : earlier;

export const pooledNoise = (own: Noise, earlier: Noise): Noise =>
  sumOf(own, relevantTo(own, earlier));

/** More than three times the earlier deviation. */
function isNoisier(own: Noise, earlier: Noise): boolean {
  const varianceOf = ({ sumOfSquares, degreesOfFreedom }: Noise) => sumOfSquares / degreesOfFreedom;
  return varianceOf(own) > 9 * varianceOf(earlier);
}

export const sumOf = (a: Noise, b: Noise): Noise => ({
  sumOfSquares: a.sumOfSquares + b.sumOfSquares,
  degreesOfFreedom: a.degreesOfFreedom + b.degreesOfFreedom,
});
