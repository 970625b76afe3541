// Wilcoxon's signed-rank test of numbers symmetric around an unknown centre: estimate and bounds (Hollander, Wolfe and
// Chicken, Nonparametric Statistical Methods, 3.2 and 3.3). Takes sorted numbers, at least one.
import { criticalT } from './student.ts';

/** Hodges' and Lehmann's estimate of the centre: the median of all pairwise averages. */
export function hodgesLehmann(sorted: Float64Array): number {
  const averages = averagesOf(sorted.length);
  const lower = walshAverage(sorted, Math.floor((averages + 1) / 2));
  const upper = walshAverage(sorted, Math.floor((averages + 2) / 2));
  return (lower + upper) / 2;
}

/** Each bound is beyond the centre with a probability of at most `level`; undefined with too few numbers for it. */
export function signedRankBounds(sorted: Float64Array, level: number): { low: number; high: number } | undefined {
  const outside = averagesOutside(sorted.length, level);
  if (outside < 0) return undefined;
  return {
    low: walshAverage(sorted, outside + 1),
    high: walshAverage(sorted, averagesOf(sorted.length) - outside),
  };
}

const averagesOf = (n: number): number => (n * (n + 1)) / 2;

/**
 * Number of the n (n + 1) / 2 averages outside the interval at each end: the greatest value that Wilcoxon's statistic
 * stays within with a probability of at most `level`; below 0 if n is too small.
 */
function averagesOutside(n: number, level: number): number {
  if (n > maxExactPairs) {
    const mean = (n * (n + 1)) / 4;
    const deviation = Math.sqrt((n * (n + 1) * (2 * n + 1)) / 24);
    return Math.floor(mean - 0.5 - criticalT(Infinity, level) * deviation);
  }
  let cumulated = 0;
  for (const [statistic, probability] of signedRankDistribution(n).entries()) {
    cumulated += probability;
    if (cumulated > level) return statistic - 1;
  }
  return 0;
}

/** Beyond this the normal approximation is as good, and the exact distribution costs n³. */
const maxExactPairs = 50;

/** Distribution of the sum of ranks if every rank from 1 to n counts by the flip of a coin. */
function signedRankDistribution(n: number): number[] {
  let probabilities = [1];
  for (let rank = 1; rank <= n; rank++) {
    const next = new Array<number>(probabilities.length + rank).fill(0);
    for (const [sum, probability] of probabilities.entries()) {
      next[sum] = (next[sum] ?? 0) + probability / 2;
      next[sum + rank] = (next[sum + rank] ?? 0) + probability / 2;
    }
    probabilities = next;
  }
  return probabilities;
}

/** The Walsh average (xᵢ + xⱼ) / 2, i ≤ j, of a rank from 1. Bisects: there are n², but counting takes n steps. */
function walshAverage(sorted: Float64Array, rank: number): number {
  let [low = 0] = sorted;
  let high = sorted.at(-1) ?? 0;
  for (;;) {
    const middle = (low + high) / 2;
    // Also reached if an end is not a number, or both are infinite.
    if (!(middle > low && middle < high)) return averagesUpTo(sorted, low) >= rank ? low : high;
    if (averagesUpTo(sorted, middle) >= rank) high = middle;
    else low = middle;
  }
}

function averagesUpTo(sorted: Float64Array, limit: number): number {
  let count = 0;
  let last = sorted.length - 1;
  for (let first = 0; first <= last; first++) {
    while (last >= first && ((sorted[first] ?? 0) + (sorted[last] ?? 0)) / 2 > limit) last--;
    count += Math.max(0, last - first + 1);
  }
  return count;
}
