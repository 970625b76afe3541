// What runs tell of the change between two variants, and how sure that is.
import { geometricMean, mean, sumNthPowerDeviations } from 'simple-statistics';
import { hodgesLehmann, signedRankBounds } from './signed-rank.ts';
import { criticalT } from './student.ts';
import { median } from './summary.ts';

export type Pair = { base: number; patched: number };

/** What earlier runs of the same cell told of its noise: of the natural logarithms of their numbers. */
export type Noise = { sumOfSquares: number; degreesOfFreedom: number };

export type Evidence = {
  /** What base does, in the unit of the runs. */
  base: number;
  /** The natural logarithm of patched over base. */
  effect: number;
} & (
  | { method: 'paired'; ratios: Float64Array }
  | { method: 'pooled'; standardError: number; degreesOfFreedom: number }
);

/** A change as natural logarithms of patched over base. */
export type Bounds = { low: number; high: number };

/**
 * Evidence of pairs measured side by side: what slows both runs of a pair alike cancels. Hodges' and Lehmann's estimate
 * with the interval of Wilcoxon's signed-rank test, on the logarithms of the ratios. It asks for nothing but symmetry,
 * which the order gives that chance drew for each; a few wild pairs hardly move it, where they would double Student's
 * interval.
 *
 * Takes positive numbers, at least one pair.
 */
export function pairedEvidence(pairs: readonly Pair[]): Evidence {
  const ratios = Float64Array.from(pairs, ({ base, patched }) => Math.log(patched / base)).sort();
  const base = median(pairs.map((pair) => pair.base));
  return { method: 'paired', base, effect: hodgesLehmann(ratios), ratios };
}

/**
 * Evidence of runs that have nothing in common, like boots: Student's test with a pooled variance, on the logarithms of
 * the numbers, to which earlier runs of the cell add what they told of it. Where the cell has become much noisier than
 * it was, they are left aside, or its noise would pass for a change.
 *
 * Takes positive numbers, at least one of each variant and three in all (two where there is earlier noise).
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

/** A number of a run, and the layout of its variant's kernel that was booted for it; absent: there is but one. */
export type LayoutNumber = { value: number; layout?: number | undefined };

/**
 * One number a layout, of a variant that has several: the geometric mean of its runs. Runs of one layout have in common what
 * its order of sections does to speed, so that they are one draw of that, and not as many. Of a single layout every run
 * counts, and nothing is known of what another layout would do.
 *
 * Takes positive numbers.
 */
export function onePerLayout(runs: readonly LayoutNumber[]): number[] {
  const layouts = Map.groupBy(runs, ({ layout }) => layout);
  if (layouts.size === 1) return runs.map(({ value }) => value);
  return [...layouts.values()].map((group) => geometricMean(group.map(({ value }) => value)));
}

/**
 * The changes that data so far from them would show with a probability of more than `level`, to each side. Of
 * fewer pairs than can be so sure, and of no degree of freedom, nothing is known: both bounds are infinite.
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

/**
 * What is taken for known of a cell's noise before its first run. Without five earlier runs a tenth of the margin is added
 * to the spread, as two deviations that count for no degree of freedom: four runs that happen to agree tell nothing.
 */
export function knownNoise(history: Noise | undefined, marginRatio: number): Noise {
  const known = history ?? { sumOfSquares: 0, degreesOfFreedom: 0 };
  if (known.degreesOfFreedom >= 4) return known;
  return { ...known, sumOfSquares: known.sumOfSquares + 2 * (marginRatio / 10) ** 2 };
}

/** What earlier runs tell of the noise of these: nothing where the cell has become much noisier than it was. */
export const relevantTo = (own: Noise, earlier: Noise): Noise =>
  isNoisier(own, earlier) ? { sumOfSquares: 0, degreesOfFreedom: 0 } : earlier;

/** What runs and earlier ones tell of the noise together. */
export const pooledNoise = (own: Noise, earlier: Noise): Noise =>
  sumOf(own, relevantTo(own, earlier));

/** More than three times the deviation that it had. */
function isNoisier(own: Noise, earlier: Noise): boolean {
  const varianceOf = ({ sumOfSquares, degreesOfFreedom }: Noise) => sumOfSquares / degreesOfFreedom;
  return varianceOf(own) > 9 * varianceOf(earlier);
}

export const sumOf = (a: Noise, b: Noise): Noise => ({
  sumOfSquares: a.sumOfSquares + b.sumOfSquares,
  degreesOfFreedom: a.degreesOfFreedom + b.degreesOfFreedom,
});
