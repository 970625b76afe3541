// Tests whether shares of a whole, for example of samples or packets, differ between base and patched beyond chance.
import { gammaln } from 'simple-statistics';

export type Pair = { base: number; patched: number };

/**
 * Two-sided chance of such a split of samples between base and patched, if a packet takes `slowdown` times as long in
 * patched with no change in this function. Poisson counts of a known sum are binomial (Przyborowski and Wilenski,
 * Biometrika 31, 1940), exactly so if one of them is 0; differing boots make them beta-binomial.
 */
export function chanceOf(
  samples: Pair,
  totals: Pair,
  slowdown: number,
  { bootDeviation }: { bootDeviation: number },
): number {
  const packets = { base: totals.base, patched: totals.patched / slowdown };
  const base = packets.base / (packets.base + packets.patched);
  const patched = 1 - base;
  // Variance of patched's part, if the log ratio of both costs has 2 bootDeviation².
  const variance = 2 * (bootDeviation * base * patched) ** 2;
  const weight = (base * patched) / variance - 1;
  const perCount = Math.max(samplesPerBurst, (samples.base + samples.patched) / maxCounted);
  const baseSide = { count: Math.round(samples.base / perCount), weight: weight * base };
  const patchedSide = { count: Math.round(samples.patched / perCount), weight: weight * patched };
  const isMore = patchedSide.count * base > baseSide.count * patched;
  const tail = isMore ? upperTail(patchedSide, baseSide) : upperTail(baseSide, patchedSide);
  return Math.min(1, 2 * tail);
}

/** Correlated samples count as one independent sample per this many. */
const samplesPerBurst = 2;

/** Beyond this the difference between boots dominates, and the sum is slow. */
const maxCounted = 100_000;

type Side = { count: number; weight: number };

/** Probability of a beta-binomial count of at least `own.count`; the weights are the distribution's α and β. */
function upperTail(own: Side, other: Side): number {
  const logBeta = (a: number, b: number) => gammaln(a) + gammaln(b) - gammaln(a + b);
  const all = own.count + other.count;
  const ways = gammaln(all + 1) - gammaln(own.count + 1) - gammaln(other.count + 1);
  const parting = logBeta(own.count + own.weight, other.count + other.weight);
  let term = Math.exp(ways + parting - logBeta(own.weight, other.weight));
  let tail = term;
  for (let count = own.count; count < all && term > tail * rounding; count += 1) {
    const left = all - count;
    term *= (left / (count + 1)) * ((count + own.weight) / (left - 1 + other.weight));
    tail += term;
  }
  return tail;
}

const rounding = 1e-16;

/** Holm's step-down: the least chance meets the strictest bound, until one exceeds its own. */
export function unlikely<One>(all: readonly One[], chances: readonly number[], falseAlarm: number): One[] {
  const inOrder = all
    .map((one, index) => ({ one, chance: chances[index] ?? 1 }))
    .toSorted((a, b) => a.chance - b.chance);
  const end = inOrder.findIndex(({ chance }, index) => chance > falseAlarm / (inOrder.length - index));
  return inOrder.slice(0, end < 0 ? inOrder.length : end).map(({ one }) => one);
}
