// How much two variants differ, and how sure that is.

import { studentTExact } from './student.ts';
import { median } from './summary.ts';

export type Pair = { base: number; patched: number };

/** `change` −0.1 is 10 % less than base, surely between `low` and `high`; `patched` is `base` with the change. */
export type Change = { base: number; patched: number; change: number; low: number; high: number };

/**
 * The change of pairs measured side by side: what slows both runs of a pair alike cancels. Hodges' and
 * Lehmann's estimate with the interval of Wilcoxon's signed-rank test, on the logarithms of the ratios
 * (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 3.2 and 3.3). It asks for nothing but
 * symmetry, which the random order of a pair's runs gives; a few wild pairs hardly move it, where they
 * would double Student's interval. Logarithms make gain and loss mirror images.
 *
 * Takes positive numbers, at least `fewestPairs(confidence)` of them; `confidence` is a two-sided ratio.
 */
export function pairedChange(pairs: readonly Pair[], confidence: number): Change {
  const ratios = Float64Array.from(pairs, ({ base, patched }) => Math.log(patched / base)).sort();
  const averages = (ratios.length * (ratios.length + 1)) / 2;
  const outside = averagesOutside(ratios.length, confidence);
  const middle = [Math.floor((averages + 1) / 2), Math.floor((averages + 2) / 2)];
  const estimate = median(middle.map((rank) => walshAverage(ratios, rank)));

  const base = median(pairs.map((pair) => pair.base));
  return {
    base,
    patched: base * Math.exp(estimate),
    change: Math.expm1(estimate),
    low: Math.expm1(walshAverage(ratios, outside + 1)),
    high: Math.expm1(walshAverage(ratios, averages - outside)),
  };
}

/** With fewer pairs not even the widest interval is so sure: all n on one side happen by chance with 2⁻ⁿ. */
export const fewestPairs = (confidence: number): number =>
  Math.max(2, Math.ceil(-Math.log2((1 - confidence) / 2)));

/**
 * How many of the n (n + 1) / 2 averages lie outside the interval at each end: the greatest number that
 * Wilcoxon's statistic is at most with a probability of at most (1 − confidence) / 2.
 */
function averagesOutside(n: number, confidence: number): number {
  const tail = (1 - confidence) / 2;
  if (n > mostExact) {
    const mean = (n * (n + 1)) / 4;
    const deviation = Math.sqrt((n * (n + 1) * (2 * n + 1)) / 24);
    return Math.floor(mean - 0.5 - studentTExact(Infinity, confidence) * deviation);
  }
  let cumulated = 0;
  for (const [statistic, probability] of signedRankDistribution(n).entries()) {
    cumulated += probability;
    if (cumulated > tail) return statistic - 1;
  }
  return 0;
}

/** Beyond so many the normal approximation is as good, and the exact distribution costs n³. */
const mostExact = 50;

/** Probability of each sum of ranks when every rank from 1 to n counts or not by the flip of a coin. */
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

/**
 * The Walsh average, (xᵢ + xⱼ) / 2 with i ≤ j, of a rank counted from 1. Found by halving: there are n²
 * of them, but how many lie below a number is counted in n steps.
 */
function walshAverage(sorted: Float64Array, rank: number): number {
  let [low = 0] = sorted;
  let high = sorted.at(-1) ?? 0;
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return averagesUpTo(sorted, low) >= rank ? low : high;
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
